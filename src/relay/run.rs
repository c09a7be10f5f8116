//! From the nodes that Slurm has to the end of the last of them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use super::job::{Alike, Job, NO_NODE, Place, Standing, sort};
use super::lines::{Assembly, Line};
use crate::engine::{Context, Report, Stop, started};
use crate::events::{EventKind, HostStatus, RunStats, TaskCounts};
use crate::exit;
use crate::through::ask_slurm;
use crate::transport::{ConnectKind, TransportError};

/// How often the job is looked at.
const PAUSE: Duration = Duration::from_millis(500);
/// How long Slurm may take to clear away a job that has ended.
const CLEARED: Duration = Duration::from_secs(30);
/// How often Slurm is asked about the nodes that have not ended.
const LOOK: Duration = Duration::from_secs(30);
/// How often in a row it must say that a node is lost.
const LOST: u32 = 2;
/// How long a job may go on that no node is in any more.
const LINGERS: Duration = Duration::from_secs(10);
/// How often a lost login is tried anew.
const LOGINS: u32 = 10;
/// How long a node may be silent at the beginning, once another one speaks: its slurmd hangs.
const SILENT: Duration = Duration::from_mins(1);

/// What is known of the nodes.
#[derive(Debug, Default)]
struct Nodes {
    /// Those that have not ended.
    open: BTreeSet<String>,
    /// Those that have said something.
    spoke: BTreeSet<String>,
    /// How those ended whose program told it.
    told: BTreeMap<String, HostStatus>,
    /// What their programs said last.
    said: BTreeMap<String, String>,
    stats: RunStats,
    codes: BTreeSet<u8>,
}

/// Has Slurm carry a run to the selected hosts. The exit codes of the nodes are its second result.
pub async fn run(context: Arc<Context>, command: &str, job: &Job) -> (Report, Vec<u8>) {
    let project = &context.project;
    let hosts: Vec<String> = project.online().map(|host| host.name.clone()).collect();
    let offline = project.selected_offline();
    let offline: BTreeMap<String, String> =
        offline.map(|(host, why)| (host.name.clone(), why.to_owned())).collect();
    let selected = project.online().map(|host| (host.index, host.name.clone())).collect();
    started(&context, command, selected, offline.clone(), 1);
    let mut nodes = Nodes { open: hosts.iter().cloned().collect(), ..Nodes::default() };
    nodes.stats.offline = offline.len() as u64;
    let ended = carry(&context, job, &hosts, &mut nodes).await;
    let stopped = context.cancel.now() > Stop::No;
    let reason = match ended {
        Ok(reason) => reason,
        Err(error) => error.to_string(),
    };
    nodes.leave(&context, &hosts, &reason);
    context.transport.close().await;
    let locked = nodes.codes.contains(&exit::LOCKED);
    (
        Report { stats: nodes.stats, sessions: Vec::new(), locked, stopped, left_drained: 0 },
        nodes.codes.into_iter().collect(),
    )
}

/// Starts jobs until every node that Slurm reaches has had its turn; why the rest has none.
async fn carry(
    context: &Context,
    job: &Job,
    hosts: &[String],
    nodes: &mut Nodes,
) -> Result<String, TransportError> {
    let mut groups: BTreeMap<Alike, Vec<String>> = BTreeMap::new();
    for (host, alike) in reachable(context, job, nodes, hosts).await? {
        groups.entry(alike).or_default().push(host);
    }
    let mut place = Place::open(context.transport.clone(), job).await?;
    let mut reason = "Slurm reaches none of them".to_owned();
    let mut tries = 0;
    for (number, (alike, own)) in groups.into_iter().rev().enumerate() {
        let mut reached = own.clone();
        if number > 0 {
            // The job before may have taken long.
            reached = reachable(context, job, nodes, &own).await?.into_keys().collect();
        }
        while !reached.is_empty() && context.cancel.now() == Stop::No {
            tries += 1;
            let target = format!("{}.{tries}", context.emitter.run());
            place.start(job, (&reached, &alike), &target).await?;
            let standing = follow(context, job, &mut place, (nodes, &reached)).await?;
            reason = told(&standing);
            // One node that does not answer ends the job of all.
            let bad: Vec<(String, String)> =
                reached.iter().filter_map(|node| Some((node.clone(), names(&standing, node)?))).collect();
            reached.retain(|node| nodes.open.contains(node) && !nodes.spoke.contains(node));
            let before = reached.len();
            for (node, said) in bad.iter().filter(|(node, _)| reached.contains(node)) {
                nodes.end(context, node, unreachable(said));
            }
            reached.retain(|node| nodes.open.contains(node));
            if reached.len() == before && before > 0 {
                // It may have named none: of a node that another job took meanwhile, or whose prolog failed.
                reached = reachable(context, job, nodes, &reached).await?.into_keys().collect();
                if reached.len() == before {
                    break;
                }
            }
        }
        nodes.leave(context, &own, &reason);
    }
    place.close().await;
    Ok(reason)
}

/// Those of these hosts that Slurm can start something on now; the others end. A job that has just ended is waited for.
async fn reachable(
    context: &Context,
    job: &Job,
    nodes: &mut Nodes,
    hosts: &[String],
) -> Result<BTreeMap<String, Alike>, TransportError> {
    let until = Instant::now() + CLEARED;
    let known = loop {
        let known = ask_slurm(context.transport.as_ref(), &job.at)
            .await
            .map_err(|message| TransportError::Protocol { message })?;
        let clears = |host: &String| known.get(host).is_some_and(|known| known.node.is("completing"));
        if !hosts.iter().any(clears) || Instant::now() >= until || context.cancel.now() > Stop::No {
            break known;
        }
        tokio::time::sleep(PAUSE * 4).await;
    };
    let (reached, refused) = sort(hosts.iter().map(String::as_str), &known, job.exclusive);
    for (host, reason) in refused {
        nodes.end(context, &host, unreachable(&reason));
    }
    let alike = |host: String| known.get(&host).map(Alike::of).map(|alike| (host, alike));
    Ok(reached.into_iter().filter_map(alike).collect())
}

/// Takes what a job on some nodes says until it has ended.
async fn follow(
    context: &Context,
    job: &Job,
    place: &mut Place,
    (nodes, own): (&mut Nodes, &[String]),
) -> Result<Standing, TransportError> {
    let mut assembly = Assembly::default();
    let (mut looked, mut lost) = (Instant::now(), BTreeMap::new());
    let mut alone = None;
    let mut asked = Stop::No;
    let mut logins = 0;
    let mut spoke = None;
    loop {
        let (standing, output) = match place.poll().await {
            Ok(answer) => answer,
            Err(TransportError::Lost { .. } | TransportError::PartTimedOut { .. }) if logins < LOGINS => {
                logins += 1;
                tokio::time::sleep(PAUSE * 4).await;
                // What was lost stays lost when this fails too: the next poll says so.
                if let Err(error) = place.again().await {
                    tracing::debug!(%error, "login to the host with Slurm");
                }
                continue;
            }
            Err(error) => return Err(error),
        };
        logins = 0;
        let more = !output.is_empty();
        for line in assembly.take(&output) {
            match line {
                Line::Part => {}
                Line::Said(text) => tracing::debug!("{text}"),
                Line::Node(node, text) => {
                    nodes.spoke.insert(node.clone());
                    nodes.said.insert(node, text);
                }
                Line::Event(node, event) => nodes.take(context, &node, event.kind),
                Line::Broken(node, reason) => {
                    nodes.end(context, &node, HostStatus::Quarantined { reason });
                }
            }
        }
        if spoke.is_none() && own.iter().any(|node| nodes.spoke.contains(node)) {
            spoke = Some(Instant::now());
        }
        if standing.ended.is_some() && !more {
            return Ok(standing);
        }
        if looked.elapsed() > LOOK {
            look(context, job, (nodes, own), &mut lost).await;
            looked = Instant::now();
        }
        let open: Vec<&String> = own.iter().filter(|node| nodes.open.contains(*node)).collect();
        alone = open.is_empty().then(|| alone.unwrap_or_else(Instant::now));
        let lingers = alone.is_some_and(|since: Instant| since.elapsed() > LINGERS);
        let stop = context.cancel.now();
        // What is left are nodes whose slurmd does not answer: nobody waits for them.
        let silent = spoke.is_some_and(|since| since.elapsed() > SILENT)
            && !open.is_empty()
            && open.iter().all(|node| !nodes.spoke.contains(*node));
        let signal = if stop > asked { Some("TERM") } else { (silent || lingers).then_some("KILL") };
        if let (Some(number), Some(signal)) = (&standing.number, signal) {
            match place.signal(number, signal).await {
                Ok(()) => asked = stop,
                // A job that is just ending takes none, and a lost login is for the next look.
                Err(error) => tracing::debug!(%error, signal, "signal to the job"),
            }
        }
        if !more {
            tokio::time::sleep(PAUSE).await;
        }
    }
}

/// Asks Slurm about the nodes that have not ended: one that it lost says nothing any more.
async fn look(
    context: &Context,
    job: &Job,
    (nodes, own): (&mut Nodes, &[String]),
    lost: &mut BTreeMap<String, u32>,
) {
    let Ok(known) = ask_slurm(context.transport.as_ref(), &job.at).await else { return };
    for host in own.iter().filter(|host| nodes.open.contains(*host)).cloned().collect::<Vec<_>>() {
        let state = known.get(&host).map_or("gone", |known| known.node.state.as_str());
        let is_lost = ["gone", "idle"].contains(&state) || state.starts_with("down") || state.ends_with('*');
        let times = lost.entry(host.clone()).or_default();
        *times = if is_lost { *times + 1 } else { 0 };
        if *times >= LOST {
            let reason = format!("Slurm has the node as {state}: its part of the job is lost");
            nodes.end(context, &host, HostStatus::Quarantined { reason });
        }
    }
}

impl Nodes {
    /// Takes an event of a node. It speaks for itself alone.
    fn take(&mut self, context: &Context, node: &str, kind: EventKind) {
        if !self.open.contains(node) {
            return;
        }
        self.spoke.insert(node.to_owned());
        if let EventKind::RunFinished { stats, exit_code, .. } = &kind {
            if self.told.contains_key(node) {
                self.open.remove(node);
                self.stats.add(stats);
                self.codes.insert(*exit_code);
            } else {
                let said = format!("its program ended with {exit_code} and did not tell how the host ended");
                self.said.insert(node.to_owned(), said);
            }
        } else if let EventKind::Warning { host: None, message } = kind {
            context.emitter.emit(EventKind::Warning { host: Some(node.to_owned()), message });
        } else if kind.host() == Some(node) {
            let again = if let EventKind::HostFinished { status, .. } = &kind {
                self.told.insert(node.to_owned(), status.clone()).is_some()
            } else {
                false
            };
            if !again {
                context.emitter.emit(kind);
            }
        } else {
            tracing::debug!(node, ?kind, "not passed on");
        }
    }

    /// Those of these hosts that have not ended do so now.
    fn leave(&mut self, context: &Context, hosts: &[String], reason: &str) {
        for host in hosts.iter().filter(|host| self.open.contains(*host)).cloned().collect::<Vec<_>>() {
            let reason = self.said.get(&host).map_or(reason, String::as_str).to_owned();
            let status = if self.spoke.contains(&host) {
                HostStatus::Quarantined { reason }
            } else if context.cancel.now() > Stop::No {
                HostStatus::NotStarted("the run was stopped before it".to_owned())
            } else {
                unreachable(&reason)
            };
            self.end(context, &host, status);
        }
    }

    /// A host ends without a word of its own.
    fn end(&mut self, context: &Context, host: &str, status: HostStatus) {
        if !self.open.remove(host) {
            return;
        }
        let told = self.told.get(host);
        self.stats.count(told.unwrap_or(&status));
        if told.is_some() {
            return;
        }
        let tasks = TaskCounts::default();
        context.emitter.emit(EventKind::HostFinished { host: host.to_owned(), status, tasks, seconds: 0.0 });
    }
}

fn unreachable(reason: &str) -> HostStatus {
    let hint = if reason == NO_NODE {
        "leave it out with `--hosts`, and reach it over ssh"
    } else {
        "`scontrol show node NAME` has its state and the reason, `squeue -w NAME` the jobs there: one called `provision` is an earlier run that goes on"
    };
    HostStatus::Unreachable {
        kind: ConnectKind::Other,
        reason: reason.to_owned(),
        hint: Some(hint.to_owned()),
    }
}

/// What Slurm said last, and what of that is an error.
fn told(standing: &Standing) -> String {
    let status = standing.ended.unwrap_or_default();
    let wrong = standing.said.iter().rfind(|line| line.contains("error:"));
    match wrong.or(standing.said.last()) {
        Some(line) => format!("the job of Slurm ended with {status}: {line}"),
        None => format!("the job of Slurm ended with {status} before the host was done"),
    }
}

/// The line of an error in which Slurm names a node.
fn names(standing: &Standing, node: &str) -> Option<String> {
    let inside = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_' || c == '.';
    let named = |line: &&String| {
        line.match_indices(node).any(|(at, _)| {
            let before = line.get(..at).and_then(|text| text.chars().next_back());
            let after = line.get(at + node.len()..).and_then(|text| text.chars().next());
            !before.is_some_and(inside) && !after.is_some_and(inside)
        })
    };
    standing.said.iter().filter(|line| line.contains("error:")).find(named).cloned()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lines of Slurm 22.05.
    #[test]
    fn a_node_is_named_whole() {
        let said =
            "salloc: Granted job allocation 6 on gpu1\nsbcast: error: REQUEST_FILE_BCAST(gpu12): File exists";
        let said = said.lines().map(str::to_owned).collect();
        let standing = Standing { ended: Some(1), number: None, said };
        assert_eq!(names(&standing, "gpu1"), None);
        let named = names(&standing, "gpu12").unwrap_or_default();
        assert_eq!(named, "sbcast: error: REQUEST_FILE_BCAST(gpu12): File exists");
        let told = told(&standing);
        assert!(told.starts_with("the job of Slurm ended with 1: sbcast: error:"), "{told}");
    }
}
