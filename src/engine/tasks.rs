//! Tasks that a host has, by what is known of it so far, and what they register.
//!
//! An answer is what the task was told at its place in the run: an apply keeps it when the task ended.
//! Before that, and in a plan, it is what the facts say now.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Arc;

use serde_json::Value as Json;

use super::context::Context;
use super::work::{Leaders, Work, queries};
use crate::events::Outcome;
use crate::facts::file::{ContentQuery, PathQuery};
use crate::facts::{self, Facts, Object, Query, Touches};
use crate::inventory::Host;
use crate::plan::Planner;
use crate::project::{Inputs, Registered, Registers};
use crate::project::{Instance, InstanceState, Step};
use crate::secrets::Secrets;

/// The tasks of one host.
#[derive(Debug)]
pub(super) struct Tasks {
    context: Arc<Context>,
    host: Arc<Host>,
    /// Registered answers of tasks that ended, by the index of their step; none where it was skipped.
    answers: BTreeMap<usize, Option<Registered>>,
    /// Questions that some task of the run asks all hosts.
    asked_by_all: BTreeSet<Query>,
}

impl Tasks {
    /// None of them ended yet.
    pub(super) fn new(context: Arc<Context>, host: Arc<Host>) -> Self {
        Self { context, host, answers: BTreeMap::new(), asked_by_all: BTreeSet::new() }
    }

    /// The tasks of some steps with what is known so far.
    pub(super) fn work(&self, facts: &Facts, range: Range<usize>) -> Vec<Work> {
        let mut registers = self.registers(facts, range.start);
        let project = self.context.project.clone();
        let mut work = Vec::new();
        for step in project.steps.get(range).unwrap_or_default() {
            if step.hosts.contains(&self.host.index) {
                let instances = self.instantiate(facts, step, &registers);
                self.register(facts, step, &instances, &mut registers);
                work.push(Work { step: step.clone(), instances, handler: false });
            }
        }
        work
    }

    /// The same task by what is known now, also of answers and facts that earlier changes may still make.
    pub(super) fn anew(&self, facts: &Facts, item: &Work, planner: &Planner) -> Work {
        let registers = self.known_by(facts, item.step.index, planner);
        Work { instances: self.instantiate_sure(facts, &item.step, &registers, planner), ..item.clone() }
    }

    /// Returns what a task touches, where facts that are not sure make no difference to that.
    pub(super) fn sure_touches(&self, item: &Work) -> Option<Touches> {
        let touched = objects(&item.instances)?;
        (objects(&self.context.project.guess(&item.step, &self.host))? == touched)
            .then_some(Touches::Objects(touched))
    }

    /// Handlers of this host among some ids, in the order of the playbooks.
    pub(super) fn handlers(&self, facts: &Facts, ids: &BTreeSet<String>, planner: &Planner) -> Vec<Work> {
        if ids.is_empty() {
            return Vec::new();
        }
        let project = self.context.project.clone();
        let registers = self.known_by(facts, project.steps.len(), planner);
        project
            .handlers
            .iter()
            .filter(|handler| ids.contains(&handler.id) && handler.hosts.contains(&self.host.index))
            .map(|handler| Work {
                step: handler.clone(),
                instances: self.instantiate_sure(facts, handler, &registers, planner),
                handler: true,
            })
            .collect()
    }

    /// Returns the queries of some tasks, with the facts that their fields read.
    pub(super) fn wanted(work: &[Work]) -> BTreeSet<Query> {
        let mut wanted = BTreeSet::new();
        for item in work {
            wanted.extend(item.step.facts.iter().filter_map(|name| facts::base(name)));
            wanted.extend(queries(&item.instances).iter().map(|query| query.own().clone()));
        }
        wanted
    }

    /// Guesses the queries of tasks that wait for facts, which mostly spares a second exec. Returns only
    /// those that cost next to nothing where the guess is wrong.
    pub(super) fn guesses(&self, work: &[Work]) -> BTreeSet<Query> {
        let waits = |item: &&Work| {
            item.instances.iter().any(|instance| matches!(instance.state, InstanceState::Waiting(_)))
        };
        let guessed = work
            .iter()
            .filter(waits)
            .flat_map(|item| queries(&self.context.project.guess(&item.step, &self.host)));
        guessed.filter(|query| query.is::<PathQuery>() || query.is::<ContentQuery>()).collect()
    }

    /// Questions that some task of the run asks all hosts.
    pub(super) fn asked_by_all(&self) -> &BTreeSet<Query> {
        &self.asked_by_all
    }

    /// Notes what tasks ask of all hosts, this one included, also where they are not for this host.
    pub(super) fn note_questions(&mut self, facts: &Facts, work: &[Work]) {
        let project = self.context.project.clone();
        // Templates of other hosts read these of this one.
        let read = project.steps.iter().chain(&project.handlers).flat_map(Step::fleet_facts);
        let mut questions: BTreeSet<Query> = read.filter_map(|name| facts::base(name)).collect();
        let registers = Registers::new();
        let mut take = |instances: &[Instance]| {
            for query in queries(instances) {
                if query.is_of_all() {
                    questions.insert(query.own());
                }
            }
        };
        for item in work {
            take(&item.instances);
        }
        let asks = |step: &&Step| {
            let own = step.seen_as.is_none() || step.members.contains(&self.host.index);
            step.fleet && own && !step.hosts.contains(&self.host.index)
        };
        let others = project.steps.iter().filter(asks);
        for step in others {
            take(&self.instantiate(facts, step, &registers));
        }
        self.asked_by_all = questions;
    }

    /// Returns the reason why a `run_once` step is not for this host, when it is not.
    pub(super) fn led_elsewhere(&self, step: &Step, leaders: &Leaders) -> Option<String> {
        step.conduct.run_once.as_ref()?;
        match leaders.get(&step.index) {
            Some(leader) if *leader == self.host.index => None,
            Some(leader) => {
                let name = self.context.project.at(*leader).map_or("another host", |host| host.name.as_str());
                Some(format!("runs once, on {name}"))
            }
            None if let Some(leader) = self.context.project.leads_elsewhere(step) => {
                Some(format!("runs once, on {leader}, which is no part of this run"))
            }
            None => Some("no healthy host was left to run it".to_owned()),
        }
    }

    /// Keeps the answer of a task that ended.
    pub(super) fn keep_answer(&mut self, facts: &Facts, item: &Work, outcome: &Outcome) {
        if item.step.conduct.register.is_none() {
            return;
        }
        let never = |what: &str| Some(Registered::Never(format!("`{}` {what}", item.step.title)));
        let registered = match outcome {
            Outcome::Failed(_) => never("failed"),
            Outcome::Blocked(_) => never("is blocked"),
            Outcome::Skipped(_) => None,
            Outcome::Unchanged | Outcome::Changed { .. } | Outcome::Ran { .. } => {
                self.registered(facts, &item.instances)
            }
        };
        self.answers.insert(item.step.index, registered);
    }

    /// Without the facts that earlier changes may still make others.
    fn instantiate_sure(
        &self,
        facts: &Facts,
        step: &Step,
        registers: &Registers,
        planner: &Planner,
    ) -> Vec<Instance> {
        let mut view = facts.view();
        if let Some(view) = view.as_object_mut() {
            for fact in planner.unsure(step) {
                view.remove(fact.0);
            }
        }
        self.fill_in(&view, step, registers)
    }

    fn instantiate(&self, facts: &Facts, step: &Step, registers: &Registers) -> Vec<Instance> {
        self.fill_in(&facts.view(), step, registers)
    }

    fn fill_in(&self, view: &Json, step: &Step, registers: &Registers) -> Vec<Instance> {
        let fleet = step.reads_fleet().then(|| self.context.fleet.fleet());
        let inputs = Inputs { facts: Some(view), registers: Some(registers), fleet: fleet.as_deref() };
        self.context.project.instantiate(step, &self.host, &inputs)
    }

    /// Answers that the steps before this one register.
    fn registers(&self, facts: &Facts, end: usize) -> Registers {
        let mut registers = Registers::new();
        for step in self.context.project.steps.get(..end).unwrap_or_default() {
            if step.conduct.register.is_some() && step.hosts.contains(&self.host.index) {
                let instances = self.instantiate(facts, step, &registers);
                self.register(facts, step, &instances, &mut registers);
            }
        }
        registers
    }

    /// The same as a plan knows them: what an earlier pending change may make another one is not known.
    fn known_by(&self, facts: &Facts, end: usize, planner: &Planner) -> Registers {
        let mut registers = self.registers(facts, end);
        for (name, registered) in &mut registers {
            if planner.is_pending(name) {
                *registered = Registered::Waits;
            }
        }
        registers
    }

    /// Puts in what a step registers.
    fn register(&self, facts: &Facts, step: &Step, instances: &[Instance], registers: &mut Registers) {
        let Some(name) = &step.conduct.register else { return };
        let kept = self.answers.get(&step.index).cloned();
        if let Some(registered) = kept.unwrap_or_else(|| self.registered(facts, instances)) {
            registers.insert(name.clone(), registered);
        } else if !registers.contains_key(name) {
            // Of two tasks with one name, the one that is skipped takes nothing away.
            let why = format!("`{}` was skipped", step.title);
            registers.insert(name.clone(), Registered::Never(why));
        }
    }

    /// Returns what a task registers by the facts of this moment; `None` when it is skipped.
    fn registered(&self, facts: &Facts, instances: &[Instance]) -> Option<Registered> {
        let [instance] = instances else { return Some(Registered::Waits) };
        Some(match &instance.state {
            InstanceState::Skipped(_) | InstanceState::Ready { condition: Ok(false), .. } => return None,
            InstanceState::Ready { resource, condition: Ok(true) } => match resource.registered(facts) {
                Some(value) if tells(&self.context.secrets, &value) => {
                    Registered::Never(format!("the answer of `{}` holds a secret", instance.name))
                }
                Some(value) => Registered::Known(value),
                None => Registered::Waits,
            },
            InstanceState::Ready { condition: Err(_), .. }
            | InstanceState::Waiting(_)
            | InstanceState::Failed(_) => Registered::Waits,
        })
    }
}

/// Returns the objects that some instances touch; `None` where one of them is not known, or may touch
/// anything.
fn objects(instances: &[Instance]) -> Option<BTreeSet<Object>> {
    let mut all = BTreeSet::new();
    for instance in instances {
        let InstanceState::Ready { resource, .. } = &instance.state else { return None };
        let Touches::Objects(objects) = resource.touches() else { return None };
        all.extend(objects);
    }
    Some(all)
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
