//! From the nodes that Slurm has to the end of the last of them.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use super::job::{Alike, Job, Place, Standing, sort};
use super::lines::{Assembly, Line};
use super::nodes::{Nodes, unreachable};
use crate::engine::{Context, Report, Stop, started};
use crate::events::HostStatus;
use crate::exit;
use crate::scheduler::slurm::ask_slurm;
use crate::transport::TransportError;

/// Pause between two looks at the job.
const PAUSE: Duration = Duration::from_millis(500);
/// Time limit for Slurm to clear away a job that has ended.
const CLEARED: Duration = Duration::from_secs(30);
/// Pause between two questions to Slurm about the nodes that have not ended.
const LOOK: Duration = Duration::from_secs(30);
/// Number of answers in a row that must report a node as lost.
const LOST: u32 = 2;
/// Time that a job may go on after its last node has ended.
const LINGERS: Duration = Duration::from_secs(10);
/// Number of times that a lost login is tried anew.
const LOGINS: u32 = 10;
/// Time that all nodes may be silent beyond the limit of their longest task.
const QUIET: Duration = Duration::from_hours(1);
/// Time that a node may be silent at the beginning, once another one speaks: its slurmd hangs.
const SILENT: Duration = Duration::from_mins(1);

/// Has Slurm carry a run to the selected hosts. Its second result are exit codes that the sums do not give.
pub async fn run(context: Arc<Context>, command: &str, job: &Job) -> (Report, Vec<u8>) {
    let project = &context.project;
    let hosts: Vec<String> = project.online().map(|host| host.name.clone()).collect();
    let offline = project.selected_offline();
    let offline: BTreeMap<String, String> =
        offline.map(|(host, why)| (host.name.clone(), why.to_owned())).collect();
    let selected = project.online().map(|host| (host.index, host.name.clone())).collect();
    started(&context, command, selected, offline.clone(), 1);
    let mut nodes = Nodes::new(&hosts);
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

/// Returns the hosts that Slurm can start a job on now; the others end. Waits for a job that has just ended.
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
    let alike = |host: String| {
        let secrets = job.needs.get(&host).cloned().unwrap_or_default();
        known.get(&host).map(|known| Alike::of(known, secrets)).map(|alike| (host, alike))
    };
    Ok(reached.into_iter().filter_map(alike).collect())
}

/// Takes what a job on some nodes says until it has ended.
async fn follow(
    context: &Context,
    job: &Job,
    place: &mut Place,
    (nodes, own): (&mut Nodes, &[String]),
) -> Result<Standing, TransportError> {
    // Tasks have the order of the nodes.
    let mut assembly = Assembly::new(own.len());
    let (mut looked, mut lost) = (Instant::now(), BTreeMap::new());
    let mut alone = None;
    let mut asked = Stop::No;
    let mut logins = 0;
    let mut spoke = None;
    let mut heard = Instant::now();
    let patience = QUIET + longest(context);
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
            let node = |task: usize| own.get(task).map(String::as_str).unwrap_or_default();
            match line {
                Line::Said(text) => tracing::debug!("{text}"),
                Line::Node(task, text) => nodes.hear(node(task), text),
                Line::Event(task, event) => {
                    heard = Instant::now();
                    nodes.take(context, node(task), event.kind);
                }
                Line::Broken(task, reason) => nodes.distrust(context, node(task), reason),
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
        let over = silent || lingers || heard.elapsed() > patience;
        let signal = if stop > asked { Some("TERM") } else { over.then_some("KILL") };
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

/// Returns the longest time that a task may take with all its tries.
fn longest(context: &Context) -> Duration {
    let steps = context.project.steps.iter().chain(&context.project.handlers);
    let all =
        steps.map(|step| (step.conduct.timeout + step.conduct.retries.delay) * step.conduct.retries.attempts);
    all.max().unwrap_or_default()
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

/// Describes the end of the job by the last error that Slurm printed, or else by its last line.
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
