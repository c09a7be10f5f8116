//! A task at its place in a run.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value as Json;

use super::program::Program;
use crate::config::{Span, Yaml};
use crate::facts::Facts;
use crate::inventory::Promises;
use crate::playbook::{OnDeadline, OnFailure, Origin};
use crate::resources::{Kind, Resource, kind};
use crate::template::Awaited;

/// `run_once`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RunOnce {
    /// On the first healthy host.
    First,
    /// On the host with this index.
    Host(usize),
}

/// `retries`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retries {
    /// Number of tries in all.
    pub attempts: u32,
    /// Between two tries.
    pub delay: Duration,
}

/// Settings by which a task is carried out, whatever it does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conduct {
    /// Time limit of one try.
    pub timeout: Duration,
    /// Handling of its processes when the time is up; `None` leaves it to the resource.
    pub on_deadline: Option<OnDeadline>,
    /// Tries.
    pub retries: Retries,
    /// The user who carries it out instead of root.
    pub become_user: Option<String>,
    /// Only on one host.
    pub run_once: Option<RunOnce>,
    /// Ids of the handlers it notifies when it changed something.
    pub notify: Vec<String>,
    /// Effect of its failure.
    pub on_failure: OnFailure,
    /// Runs in a unit of its own.
    pub detach: bool,
    /// Name under which its answer is known to later tasks.
    pub register: Option<String>,
}

/// A part of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// Its tasks.
    Tasks,
    /// Its tasks that are done in any case.
    Always,
}

/// A block around a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unit {
    /// Tells blocks of a run apart.
    pub id: usize,
    /// The part that the task is in.
    pub part: Part,
    /// Effect of its failure.
    pub on_failure: OnFailure,
}

/// A task or handler at its place in the run, the same for all its hosts: entries of the
/// inventory and includes are expanded, hosts and tags selected.
#[derive(Debug, Clone)]
pub struct Step {
    /// Its place among [`Project::steps`](super::Project::steps) (or the handlers).
    pub index: usize,
    /// Stable name across runs: `PLAYBOOK/TASK`, with `~2` when that is there twice.
    pub id: String,
    /// Its name as written; may hold templates.
    pub title: String,
    /// The playbook that holds it, as a user names it.
    pub playbook: String,
    /// Its resource key.
    pub kind: &'static str,
    /// Indexes of the hosts it is for.
    pub hosts: BTreeSet<usize>,
    /// The host whose variables it sees, where it is done on the controller for all its hosts.
    pub seen_as: Option<usize>,
    /// The same by the inventory and its playbooks alone: whatever `--hosts` says, offline or not.
    pub members: Arc<BTreeSet<usize>>,
    /// Its tags and those of the entries and includes around it.
    pub tags: BTreeSet<String>,
    /// The blocks around it, the outermost first.
    pub units: Vec<Unit>,
    /// Settings by which it is carried out.
    pub conduct: Conduct,
    /// Names of `facts.X` that its condition, loop, name or fields read.
    pub facts: BTreeSet<String>,
    /// Names of registered answers that it reads.
    pub registers: BTreeSet<String>,
    /// Whether it needs other hosts' facts (`hosts[...].facts`, `hosts_file`): a barrier stands before it.
    pub fleet: bool,
    /// Place of the task in the file.
    pub span: Span,
    /// Program that fills it in.
    pub(super) program: Arc<Program>,
}

impl Step {
    /// Returns its kind of resource; `None` where a test has resources of its own.
    pub fn resource(&self) -> Option<&'static Kind> {
        kind(self.kind)
    }

    /// Whether it runs programs of others.
    pub fn runs_anything(&self) -> bool {
        self.resource().is_some_and(|kind| kind.runs_anything)
    }

    /// Adds what an instance of it promises on a host with these facts, where all of it is known.
    pub fn add_promises(&self, instance: &Instance, facts: &Facts, promises: &mut Promises) {
        let InstanceState::Ready { resource, condition: Ok(true) } = &instance.state else { return };
        for promise in resource.promises(facts) {
            promises.add(&format!("task `{}` of playbook {}", instance.name, self.playbook), &promise);
        }
    }

    /// Whether it reboots its host.
    pub fn reboots(&self) -> bool {
        self.resource().is_some_and(|kind| kind.reboots)
    }

    /// Whether its resource asks all hosts.
    pub fn asks_all(&self) -> bool {
        self.resource().is_some_and(|kind| kind.fleet)
    }

    /// Names of `hosts[...].facts.X` that it reads: what must be known of all hosts before it.
    pub fn fleet_facts(&self) -> &BTreeSet<String> {
        &self.program.reads.fleet_facts
    }

    /// Whether its texts read other hosts' facts.
    pub fn reads_fleet(&self) -> bool {
        self.program.reads.fleet
    }

    /// The file of the project that it puts where not all accounts may read it.
    pub(super) fn private_file(&self) -> Option<String> {
        let body = self.program.body.as_ref().filter(|body| matches!(body.origin, Origin::Disk(_)))?;
        let Yaml::Map(fields) = &body.node.value else { return None };
        let field =
            |name: &str| fields.iter().find(|(key, _)| key.value == name).map(|(_, value)| value.to_json());
        let open = match field("mode")? {
            // One that a template gives is not known here.
            Json::String(mode) => u32::from_str_radix(&mode, 8).is_ok_and(|mode| mode & 0o004 != 0),
            Json::Null | Json::Bool(_) | Json::Number(_) | Json::Array(_) | Json::Object(_) => false,
        };
        field("src")?.as_str().map(str::to_owned).filter(|_| !open)
    }

    /// Names of the secrets that it reads on one of its hosts, directly or through a variable.
    pub fn secrets(&self, host: usize) -> &BTreeSet<String> {
        self.program.secrets.get(&host).unwrap_or(&self.program.reads.secrets)
    }
}

/// A step on one host, one per item of its loop.
#[derive(Debug, Clone)]
pub struct Instance {
    /// Index of its step.
    pub step: usize,
    /// Place in the loop, when it has one.
    pub item: Option<usize>,
    /// Name with everything filled in.
    pub name: String,
    /// State of the instance.
    pub state: InstanceState,
}

/// State of an instance: what is known of it so far.
#[derive(Debug, Clone)]
pub enum InstanceState {
    /// All fields are known.
    Ready {
        /// The resource.
        resource: Arc<dyn Resource>,
        /// Value of `when`, or the answers that it waits for: its queries are asked all the same.
        condition: Result<bool, BTreeSet<Awaited>>,
    },
    /// `when` says no, and the fields were not needed.
    Skipped(String),
    /// Waits for answers.
    Waiting(BTreeSet<Awaited>),
    /// Its templates or fields are wrong with the facts of this host: a text for the user.
    Failed(String),
}
