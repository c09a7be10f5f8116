//! The host that has the scheduler's commands: one connection, over which nodes are looked at, drained and resumed.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::cancel::Stop;
use super::context::Context;
use crate::inventory::{Host, Maintenance as Settings};
use crate::scheduler::{self, Load, Node, Scheduler};
use crate::transport::{Frame, Part, PartEnd, Remote, TransportError};

/// All nodes, by name.
pub(super) type Nodes = BTreeMap<String, Node>;

/// State of the scheduler at one moment.
#[derive(Debug, Default)]
pub(super) struct Snapshot {
    pub nodes: Nodes,
    load: BTreeMap<String, Load>,
}

impl Snapshot {
    /// Returns the load of a node that was looked at.
    pub(super) fn load(&self, name: &str) -> Load {
        self.load.get(name).cloned().unwrap_or_default()
    }
}

/// The host, and what is asked there.
pub(super) struct SchedulerHost {
    context: Arc<Context>,
    host: Host,
    kind: Box<dyn Scheduler>,
    remote: tokio::sync::Mutex<Option<Box<dyn Remote>>>,
}

impl SchedulerHost {
    /// `None` where the inventory does not have it.
    pub(super) fn new(context: &Arc<Context>, settings: &Settings) -> Option<Self> {
        let project = &context.project;
        Some(Self {
            context: context.clone(),
            host: project.host(&settings.at)?.clone(),
            kind: scheduler::of(&settings.scheduler, &settings.at, &project.hosts),
            remote: tokio::sync::Mutex::new(None),
        })
    }

    pub(super) fn kind(&self) -> &dyn Scheduler {
        self.kind.as_ref()
    }

    /// All nodes.
    pub(super) async fn nodes(&self) -> Result<Nodes, String> {
        let texts = self.ask(vec![self.kind.ask_nodes()]).await?;
        Ok(self.kind.nodes(texts.first().map_or("", String::as_str)))
    }

    /// All nodes, and what is on some of them.
    pub(super) async fn look(&self, names: &BTreeSet<String>) -> Result<Snapshot, String> {
        let nodes = self.nodes().await?;
        let hosts = self.hosts(names.iter().filter(|name| nodes.contains_key(*name)));
        if hosts.is_empty() {
            return Ok(Snapshot { nodes, load: BTreeMap::new() });
        }
        let texts = self.ask(self.kind.ask_load(&hosts)).await?;
        Ok(Snapshot { load: self.kind.load(&hosts, &texts), nodes })
    }

    /// Lets no new job start on some nodes; what came of it for each.
    pub(super) async fn drain(&self, names: &BTreeSet<String>) -> BTreeMap<String, Result<(), String>> {
        let reason = scheduler::reason(self.context.emitter.run(), "is to be changed");
        let hosts = self.hosts(names);
        let parts = self.kind.drain(&hosts, &reason);
        let mut answers = BTreeMap::new();
        if let [part] = parts.as_slice() {
            let answer = self.ask(vec![part.clone()]).await.map(drop);
            return names.iter().map(|name| (name.clone(), answer.clone())).collect();
        }
        for (host, part) in hosts.iter().zip(parts) {
            // A run that stops gives back what it drained, and looks only once.
            let answer = match self.context.cancel.now() {
                Stop::No => self.ask(vec![part]).await.map(drop),
                Stop::Finish | Stop::End => Err("the run was stopped before that".to_owned()),
            };
            answers.insert(host.name.clone(), answer);
        }
        answers
    }

    /// Gives a node that is drained another reason.
    pub(super) async fn say(&self, name: &str, why: &str) -> Result<(), String> {
        let reason = scheduler::reason(self.context.emitter.run(), why);
        let parts = self.hosts([name]).into_iter().map(|host| self.kind.say(host, &reason));
        self.ask(parts.collect()).await.map(drop)
    }

    /// Lets jobs start on a node again.
    pub(super) async fn resume(&self, name: &str) -> Result<(), String> {
        let parts = self.hosts([name]).into_iter().map(|host| self.kind.resume(host));
        self.ask(parts.collect()).await.map(drop)
    }

    /// Asks what can be moved to leave; why some of it did not.
    pub(super) async fn evict(&self, names: &BTreeSet<String>) -> BTreeMap<String, String> {
        let Some(part) = self.kind.evict(&self.hosts(names)) else { return BTreeMap::new() };
        match self.ask(vec![part]).await {
            Ok(texts) => self.kind.kept(texts.first().map_or("", String::as_str)),
            Err(why) => names.iter().map(|name| (name.clone(), why.clone())).collect(),
        }
    }

    /// The command that gives a node back, for people.
    pub(super) fn by_hand(&self, name: &str) -> Option<String> {
        self.hosts([name]).first().map(|host| self.kind.by_hand(host))
    }

    /// Ends the connection.
    pub(super) async fn close(&self) {
        if let Some(mut remote) = self.remote.lock().await.take() {
            remote.close().await;
        }
    }

    fn hosts<N: AsRef<str>>(&self, names: impl IntoIterator<Item = N>) -> Vec<&Host> {
        names.into_iter().filter_map(|name| self.context.project.host(name.as_ref())).collect()
    }

    /// Runs the parts and returns what they print. All of them may be sent twice.
    async fn ask(&self, parts: Vec<Part>) -> Result<Vec<String>, String> {
        let at = &self.host.name;
        let frame = Frame { parts, secrets: self.context.secrets.clone(), ..Frame::default() };
        let mut remote = self.remote.lock().await;
        let mut ends: Vec<PartEnd> = Vec::new();
        let mut again = remote.is_some();
        loop {
            ends.clear();
            let result: Result<(), TransportError> = async {
                if remote.is_none() {
                    let deadline = self.context.deadlines.connect;
                    *remote = Some(self.context.transport.open(&self.host, deadline).await?);
                }
                match remote.as_mut() {
                    Some(open) => open.run(&frame, &mut |end| ends.push(end)).await,
                    None => Ok(()),
                }
            }
            .await;
            let Err(error) = result else { break };
            if let Some(mut lost) = remote.take() {
                lost.close().await;
            }
            if !std::mem::take(&mut again) {
                return Err(format!("{at} does not answer: {error}"));
            }
        }
        let mut texts = Vec::new();
        for (part, end) in frame.parts.iter().zip(&ends) {
            if end.status != 0 {
                let said = end.last_line().unwrap_or_else(|| format!("{} failed", part.name));
                let missing =
                    said.strip_suffix(": command not found").or_else(|| said.strip_suffix(": not found"));
                return Err(match missing.and_then(|before| before.rsplit(": ").next()) {
                    Some(program) => format!("{at} has no `{program}`"),
                    None => format!("{at}: {said}"),
                });
            }
            texts.push(String::from_utf8_lossy(&end.output).into_owned());
        }
        Ok(texts)
    }
}
