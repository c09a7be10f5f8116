//! Registered answers of one host.
//!
//! An answer is what the task was told at its place in the run: an apply keeps it when the task ended.
//! Before that, and in a plan, it is what the facts say now.

use serde_json::Value as Json;

use super::session::Session;
use super::stage::Work;
use crate::events::Outcome;
use crate::plan::Planner;
use crate::playbook::{Instance, InstanceState, Step};
use crate::project::{Registered, Registers};
use crate::secrets::Secrets;

impl Session {
    /// Answers that the steps before this one register.
    pub(super) fn registers(&self, end: usize) -> Registers {
        let mut registers = Registers::new();
        for step in self.context.project.steps.get(..end).unwrap_or_default() {
            if step.conduct.register.is_some() && step.hosts.contains(&self.host.index) {
                let instances = self.instantiate(step, &registers);
                self.register(step, &instances, &mut registers);
            }
        }
        registers
    }

    /// The same as a plan knows them: what an earlier pending change may make another one is not known.
    pub(super) fn known_by(&self, end: usize, planner: &Planner) -> Registers {
        let mut registers = self.registers(end);
        for (name, registered) in &mut registers {
            if planner.is_pending(name) {
                *registered = Registered::Waits;
            }
        }
        registers
    }

    /// Puts in what a step registers.
    pub(super) fn register(&self, step: &Step, instances: &[Instance], registers: &mut Registers) {
        let Some(name) = &step.conduct.register else { return };
        let kept = self.answers.get(&step.index).cloned();
        if let Some(registered) = kept.unwrap_or_else(|| self.registered(instances)) {
            registers.insert(name.clone(), registered);
        } else if !registers.contains_key(name) {
            // Of two tasks with one name, the one that is skipped takes nothing away.
            let why = format!("`{}` was skipped", step.title);
            registers.insert(name.clone(), Registered::Never(why));
        }
    }

    /// Keeps the answer of a task that ended.
    pub(super) fn keep_answer(&mut self, item: &Work, outcome: &Outcome) {
        if item.step.conduct.register.is_none() {
            return;
        }
        let never = |what: &str| Some(Registered::Never(format!("`{}` {what}", item.step.title)));
        let registered = match outcome {
            Outcome::Failed(_) => never("failed"),
            Outcome::Blocked(_) => never("is blocked"),
            Outcome::Skipped(_) => None,
            Outcome::Unchanged | Outcome::Changed { .. } | Outcome::Ran { .. } => {
                self.registered(&item.instances)
            }
        };
        self.answers.insert(item.step.index, registered);
    }

    /// What a task registers by the facts of this moment; `None` when it is skipped.
    fn registered(&self, instances: &[Instance]) -> Option<Registered> {
        let [instance] = instances else { return Some(Registered::Waits) };
        Some(match &instance.state {
            InstanceState::Skipped(_) | InstanceState::Ready { condition: Some(false), .. } => return None,
            InstanceState::Ready { resource, condition: Some(true) } => {
                match resource.registered(&self.facts) {
                    Some(value) if tells(&self.context.secrets, &value) => {
                        Registered::Never(format!("the answer of `{}` holds a secret", instance.name))
                    }
                    Some(value) => Registered::Known(value),
                    None => Registered::Waits,
                }
            }
            InstanceState::Ready { condition: None, .. }
            | InstanceState::Waiting(_)
            | InstanceState::Failed(_) => Registered::Waits,
        })
    }
}

/// Whether a value holds a secret.
fn tells(secrets: &Secrets, value: &Json) -> bool {
    let text = |text: &str| secrets.redact(text) != text;
    match value {
        Json::String(value) => text(value),
        Json::Array(items) => items.iter().any(|item| tells(secrets, item)),
        Json::Object(map) => map.iter().any(|(key, value)| text(key) || tells(secrets, value)),
        Json::Number(number) => text(&number.to_string()),
        Json::Null | Json::Bool(_) => false,
    }
}
