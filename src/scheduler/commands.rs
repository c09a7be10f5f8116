//! Any other scheduler, by commands of the inventory. It cannot say who drained a node, so a file on its host does.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use super::{Load, Node, Scheduler, part};
use crate::inventory::{CommandLine, Commands as Settings, Host};
use crate::transport::{Part, Script};

/// Time limit of a command.
const DEADLINE: Duration = Duration::from_mins(5);
/// Lines of what is on a host that are told.
const LINES: usize = 3;

/// A scheduler that is driven by commands.
#[derive(Debug)]
pub struct Commands {
    /// The commands.
    pub settings: Settings,
    /// The hosts that it has.
    pub nodes: BTreeSet<String>,
}

/// The words for a host: validation has seen that they can be made.
fn words(line: &CommandLine, host: &Host) -> Vec<String> {
    line.words(host).unwrap_or_default()
}

fn with(script: Script, words: Vec<String>) -> Script {
    words.into_iter().fold(script, Script::arg)
}

fn long(name: &str, script: Script) -> Part {
    Part { deadline: DEADLINE, ..part(name, script) }
}

fn begin(host: &Host, reason: &str, words: Vec<String>) -> Part {
    let script = Script::new(crate::shell!("scheduler/marks_directory.sh", "scheduler/begin.sh"));
    long("drain", with(script.arg(host.name.as_str()).arg(reason), words))
}

impl Scheduler for Commands {
    fn name(&self) -> &'static str {
        "the inventory"
    }

    fn none_counted(&self) -> Option<String> {
        None
    }

    fn ask_nodes(&self) -> Part {
        part("marks", Script::new(crate::shell!("scheduler/marks_directory.sh", "scheduler/marks.sh")))
    }

    fn nodes(&self, text: &str) -> BTreeMap<String, Node> {
        let marks: BTreeMap<&str, &str> = text.lines().filter_map(|line| line.split_once('|')).collect();
        let node = |name: &String| {
            let reason = marks.get(name.as_str());
            Node {
                held: reason.is_some(),
                reason: reason.copied().unwrap_or_default().to_owned(),
                usable: reason.is_none(),
                emptied: true,
                counted: true,
                told: reason.map_or_else(|| "in service".to_owned(), |why| format!("out of service: {why}")),
                ..Node::default()
            }
        };
        self.nodes.iter().map(|name| (name.clone(), node(name))).collect()
    }

    fn ask_load(&self, hosts: &[&Host]) -> Vec<Part> {
        let ask = |host: &&Host| {
            let script = Script::new(crate::shell!("scheduler/idle.sh")).arg(self.settings.until.as_str());
            long("idle", with(script, words(&self.settings.idle, host)))
        };
        hosts.iter().map(ask).collect()
    }

    fn load(&self, hosts: &[&Host], texts: &[String]) -> BTreeMap<String, Load> {
        let load = |text: &String| {
            let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
            let few = lines.iter().take(LINES).copied().collect::<Vec<_>>().join("; ");
            Load { jobs: (!lines.is_empty()).then_some(few), movable: None }
        };
        hosts.iter().zip(texts).map(|(host, text)| (host.name.clone(), load(text))).collect()
    }

    fn drain(&self, hosts: &[&Host], reason: &str) -> Vec<Part> {
        hosts.iter().map(|host| begin(host, reason, words(&self.settings.begin, host))).collect()
    }

    fn say(&self, host: &Host, reason: &str) -> Part {
        begin(host, reason, Vec::new())
    }

    fn resume(&self, host: &Host) -> Part {
        let script = Script::new(crate::shell!("scheduler/marks_directory.sh", "scheduler/end.sh"));
        long("resume", with(script.arg(host.name.as_str()), words(&self.settings.end, host)))
    }

    fn by_hand(&self, host: &Host) -> String {
        let words = words(&self.settings.end, host);
        let end = shlex::try_join(words.iter().map(String::as_str)).unwrap_or_default();
        format!("{end}; rm /var/lib/provision/maintenance/{}", host.name)
    }
}
