//! One host's tasks against its facts.

use crate::facts::{Facts, Object, Touches};
use crate::inventory::Reboot;
use crate::inventory::hostlist::fold;
use crate::playbook::{Instance, InstanceState};
use crate::resources::{Change, Disruption, Unplannable};

/// What is to be done for one task.
#[derive(Debug, Clone, PartialEq)]
pub enum Verdict {
    /// Nothing.
    Unchanged,
    /// These changes; a second plan will prove them.
    Changes(Vec<Change>),
    /// A command that cannot be proven.
    Runs(Vec<Change>),
    /// Not for this host.
    Skipped(String),
    /// Cannot be done now.
    Blocked(String),
    /// An earlier pending change must come first; its name.
    KnownAfter(String),
    /// The facts do not allow a plan, or the task is wrong with them.
    Failed(String),
}

/// The plan of one instance.
#[derive(Debug, Clone, PartialEq)]
pub struct TaskPlan {
    /// What is to be done.
    pub verdict: Verdict,
    /// What that may touch.
    pub touches: Option<Touches>,
}

/// Plans the tasks of one host in order; remembers what earlier ones will touch.
#[derive(Debug)]
pub struct Planner {
    reboot: Reboot,
    pending: Vec<(Touches, String)>,
    blocked: Vec<(Touches, String)>,
}

impl Planner {
    /// For a host that may be rebooted or not.
    pub fn new(reboot: Reboot) -> Self {
        Self { reboot, pending: Vec::new(), blocked: Vec::new() }
    }

    /// Plans the next task.
    pub fn plan(&mut self, instance: &Instance, facts: &Facts) -> TaskPlan {
        let resource = match &instance.state {
            InstanceState::Ready { condition: Some(false), .. } => {
                return TaskPlan {
                    verdict: Verdict::Skipped("its condition is false".to_owned()),
                    touches: None,
                };
            }
            InstanceState::Skipped(reason) => {
                return TaskPlan { verdict: Verdict::Skipped(reason.clone()), touches: None };
            }
            InstanceState::Failed(message) => {
                return TaskPlan { verdict: Verdict::Failed(message.clone()), touches: None };
            }
            InstanceState::Waiting(names) => {
                let names: Vec<_> = names.iter().map(String::as_str).collect();
                let unreached = names.iter().filter_map(|name| name.strip_prefix("facts of "));
                let unreached = fold(unreached);
                let verdict = match self.pending.last() {
                    _ if !unreached.is_empty() => {
                        Verdict::Blocked(format!("waits for the facts of {unreached}: not reached yet"))
                    }
                    Some((_, name)) => Verdict::KnownAfter(name.clone()),
                    None => Verdict::Failed(format!("no answer for {}", names.join(", "))),
                };
                return TaskPlan { verdict, touches: None };
            }
            InstanceState::Ready { condition: None, .. } => {
                let verdict = Verdict::Failed("its condition has no answer".to_owned());
                return TaskPlan { verdict, touches: None };
            }
            InstanceState::Ready { resource, condition: Some(true) } => resource,
        };
        let touches = resource.touches();
        let verdict = match resource.plan(facts) {
            Ok(changes) if changes.is_empty() => Verdict::Unchanged,
            Ok(changes) if self.reboot == Reboot::Never && reboots(&changes) => {
                let what = changes.last().map_or("", |change| change.summary.as_str());
                let reasons = what.trim_start_matches("~ reboot ");
                Verdict::Blocked(format!("reboot pending {reasons}: `policy.reboot` is never"))
            }
            Ok(changes) if resource.provable() => Verdict::Changes(changes),
            Ok(changes) => Verdict::Runs(changes),
            Err(Unplannable::Missing(object, text)) => self.missing(&object, text),
            Err(Unplannable::Unknown(object, text)) => match self.meeting(&object) {
                Some(name) => Verdict::KnownAfter(name),
                None => Verdict::Failed(text),
            },
            Err(Unplannable::Blocked(reason)) => Verdict::Blocked(reason),
            Err(Unplannable::Failed(text)) => Verdict::Failed(text),
        };
        match &verdict {
            Verdict::Changes(_) | Verdict::Runs(_) | Verdict::KnownAfter(_) => {
                self.pending.push((touches.clone(), instance.name.clone()));
            }
            Verdict::Blocked(_) => self.blocked.push((touches.clone(), instance.name.clone())),
            Verdict::Unchanged | Verdict::Skipped(_) | Verdict::Failed(_) => {}
        }
        TaskPlan { verdict, touches: Some(touches) }
    }

    /// Notes that a planned task was carried out: it is no longer pending.
    pub fn done(&mut self, name: &str) {
        self.pending.retain(|(_, pending)| pending != name);
    }

    fn meeting(&self, object: &Object) -> Option<String> {
        self.pending.iter().rev().find(|(touches, _)| touches.meets(object)).map(|(_, name)| name.clone())
    }

    fn missing(&self, object: &Object, text: String) -> Verdict {
        if let Some(name) = self.meeting(object) {
            return Verdict::KnownAfter(name);
        }
        let blocked = self.blocked.iter().rev().find(|(touches, _)| touches.meets(object));
        match blocked {
            Some((_, name)) => Verdict::Blocked(format!("waits for `{name}`, which is blocked")),
            None => Verdict::Failed(text),
        }
    }
}

/// Whether one of these changes is a reboot.
pub fn reboots(changes: &[Change]) -> bool {
    changes.iter().any(|change| change.disruption == Disruption::Reboot)
}
