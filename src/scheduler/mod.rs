//! Schedulers, which give hosts to jobs: the questions and orders to them, and their answers. Words and
//! parsers; nothing is decided here.
//!
//! Each scheduler has a file. All of them say who drained a node by a reason that begins with `provision: RUN: `.

pub mod commands;
pub mod kubernetes;
pub mod slurm;

use std::collections::BTreeMap;
use std::time::Duration;

use crate::inventory::{Host, SchedulerSettings};
use crate::transport::{Part, Script};

/// Beginning of the reason of a drain of ours. Only such a node is ever resumed.
const OURS: &str = "provision: ";
/// Bytes of a reason that are kept: it is one line of `sinfo -R`.
const LONGEST: usize = 200;
/// Time limit of an answer.
const DEADLINE: Duration = Duration::from_secs(30);

/// A node as it stands.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Node {
    /// Whether somebody has said that it gets no new job.
    pub held: bool,
    /// Reason why it is held or down.
    pub reason: String,
    /// Whether it carries jobs or could.
    pub usable: bool,
    /// Whether it would be in service if it answered.
    pub silent: bool,
    /// Whether it starts no job there, for whatever reason.
    pub away: bool,
    /// Whether the scheduler itself says that a held node has no job. Some never say it.
    pub emptied: bool,
    /// Whether it is one of those of which `keep_up` speaks.
    pub counted: bool,
    /// The state with its reason, for people.
    pub told: String,
}

/// Owner of a node's drain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Drain<'a> {
    /// Nobody.
    No,
    /// A run of this program: which, and why.
    Ours(&'a str, &'a str),
    /// Somebody else, with the reason.
    Others(&'a str),
}

/// Work that is on a node.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Load {
    /// Jobs that end by themselves and are waited for, for people.
    pub jobs: Option<String>,
    /// Work that the scheduler starts elsewhere when it is asked to, for people.
    pub movable: Option<String>,
}

/// Questions and orders to a scheduler. All of them may be sent twice.
pub trait Scheduler: Send + Sync {
    /// Returns its name in a sentence.
    fn name(&self) -> &'static str;

    /// Describes the mistake where `keep_up` counts no node at all; `None` where that cannot be.
    fn none_counted(&self) -> Option<String>;

    /// Asks for all nodes.
    fn ask_nodes(&self) -> Part;

    /// Reads that answer.
    fn nodes(&self, text: &str) -> BTreeMap<String, Node>;

    /// Asks what is on some nodes, all of which it has.
    fn ask_load(&self, hosts: &[&Host]) -> Vec<Part>;

    /// Reads these answers. Nodes that nothing is on may be left out.
    fn load(&self, hosts: &[&Host], texts: &[String]) -> BTreeMap<String, Load>;

    /// Lets no new job start on some nodes, for a reason of [`reason`].
    fn drain(&self, hosts: &[&Host], reason: &str) -> Vec<Part>;

    /// Gives a node that is drained another reason.
    fn say(&self, host: &Host, reason: &str) -> Part;

    /// Lets jobs start on a node again.
    fn resume(&self, host: &Host) -> Part;

    /// Asks what can be moved to leave some nodes; `None` where there is no such thing.
    fn evict(&self, _hosts: &[&Host]) -> Option<Part> {
        None
    }

    /// Reads the answer to that: the reasons why some of it did not leave, by node.
    fn kept(&self, _text: &str) -> BTreeMap<String, String> {
        BTreeMap::new()
    }

    /// Returns the time limit for it to leave.
    fn leaves_within(&self) -> Duration {
        Duration::MAX
    }

    /// The command that gives a node back, for people.
    fn by_hand(&self, host: &Host) -> String;
}

/// The scheduler of an inventory with these hosts.
pub fn of(settings: &SchedulerSettings, at: &str, hosts: &[Host]) -> Box<dyn Scheduler> {
    match settings {
        SchedulerSettings::Slurm { partition } => Box::new(slurm::Slurm { partition: partition.clone() }),
        SchedulerSettings::Kubernetes(settings) => Box::new(kubernetes::Kubernetes(settings.clone())),
        SchedulerSettings::Commands(settings) => {
            let nodes = hosts.iter().filter(|host| host.name != at).map(|host| host.name.clone());
            Box::new(commands::Commands { settings: settings.clone(), nodes: nodes.collect() })
        }
    }
}

impl Node {
    /// Returns the owner of its drain. A reason outlives its drain, so both must be there.
    pub fn drain(&self) -> Drain<'_> {
        if !self.held {
            return Drain::No;
        }
        match self.reason.strip_prefix(OURS).map(|rest| rest.split_once(": ").unwrap_or((rest, ""))) {
            Some((run, why)) => Drain::Ours(run, why),
            None => Drain::Others(&self.reason),
        }
    }
}

/// The reason of a drain: one line, as long as is useful.
pub fn reason(run: &str, why: &str) -> String {
    let mut text: String = why
        .split(|c: char| c.is_control() || c.is_whitespace())
        .filter(|word| !word.is_empty())
        .fold(format!("{OURS}{run}:"), |mut text, word| {
            text.push(' ');
            text.push_str(word);
            text
        });
    if text.len() > LONGEST {
        let end = text.char_indices().map(|(at, _)| at).take_while(|at| *at <= LONGEST - 3).last();
        text.truncate(end.unwrap_or(0));
        text.push_str("...");
    }
    text
}

fn part(name: &str, script: Script) -> Part {
    Part { name: name.to_owned(), script, deadline: DEADLINE, limit: 16 << 20 }
}

/// Some things for people, the first few by name; `None` without any.
fn few(things: &[String]) -> Option<String> {
    Some(match things {
        [] => return None,
        [first, second, third, _, ..] => format!("{first}, {second}, {third} and {} more", things.len() - 3),
        few => few.join(", "),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_drain_with_our_reason_is_ours() {
        let known = |held: bool, reason: &str| Node { held, reason: reason.to_owned(), ..Node::default() };
        let ours = reason("20261125-070824-123ab", "`driver` failed:\n E: no\tspace");
        assert_eq!(ours, "provision: 20261125-070824-123ab: `driver` failed: E: no space");
        let why = Drain::Ours("20261125-070824-123ab", "`driver` failed: E: no space");
        assert_eq!(known(true, &ours).drain(), why);
        // Somebody resumed it, or it went down for another reason: the text is what is left.
        assert_eq!(known(false, &ours).drain(), Drain::No);
        assert_eq!(known(true, "provision it later").drain(), Drain::Others("provision it later"));
        assert_eq!(known(true, "").drain(), Drain::Others(""));
        let long = reason("r", &"ü ".repeat(200));
        assert!(long.len() <= LONGEST && long.ends_with("..."), "{long}");
    }
}
