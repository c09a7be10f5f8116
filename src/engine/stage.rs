//! One stage of one host: what its tasks are, what must be known, what the plan is.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::context::Mode;
use super::session::{Gone, Session};
use crate::events::{EventKind, HostStatus, Outcome, PlannedTask, PlannedVerdict, TaskRef};
use crate::facts::{self, Query};
use crate::plan::{self, Planner, TaskPlan, Verdict};
use crate::playbook::{Instance, InstanceState, Step};
use crate::project::{Inputs, Registers};

/// Which host a `run_once` step runs on, by step index.
pub type Leaders = BTreeMap<usize, usize>;

/// The tasks of one step on one host.
#[derive(Debug, Clone)]
pub(super) struct Work {
    pub step: Step,
    pub instances: Vec<Instance>,
    pub handler: bool,
}

impl Session {
    /// Carries one stage of the run as far as the mode says.
    pub async fn stage(&mut self, range: Range<usize>, leaders: &Leaders) {
        if self.is_over() || self.failed {
            return;
        }
        if let Err(Gone(status)) = self.try_stage(range, leaders).await {
            self.status = Some(status);
        }
    }

    async fn try_stage(&mut self, range: Range<usize>, leaders: &Leaders) -> Result<(), Gone> {
        if self.context.mode == Mode::Gather {
            let queries = self.context.queries.clone();
            return self.gather(&queries).await;
        }
        if !self.gathered {
            // Everything that any task of the run asks, whatever its `when` says: one exec.
            let steps = 0..self.context.project.steps.len();
            let work = self.work(steps);
            self.asked_by_all = self.questions(&work);
            let mut wanted = self.wanted(&work, true);
            wanted.extend(self.guesses(&work));
            self.gather(&wanted).await?;
        }
        let work = self.complete(range).await?;
        self.hear_fleet(&work);
        let plans = self.show_plan(&work, leaders).await?;
        self.digests.push(plan::digest(plans.iter().map(|(id, plan)| (id.as_str(), plan))));
        if self.context.mode == Mode::Apply {
            self.check_expected()?;
            self.execute(work, leaders).await?;
            self.ask_for_fleet().await?;
            self.tell_fleet();
        }
        Ok(())
    }

    /// The tasks of some steps with what is known so far.
    fn work(&self, range: Range<usize>) -> Vec<Work> {
        let mut registers = self.registers(range.start);
        let project = self.context.project.clone();
        let mut work = Vec::new();
        for step in project.steps.get(range).unwrap_or_default() {
            if step.hosts.contains(&self.host.index) {
                let instances = self.instantiate(step, &registers);
                self.register(step, &instances, &mut registers);
                work.push(Work { step: step.clone(), instances, handler: false });
            }
        }
        work
    }

    pub(super) fn instantiate(&self, step: &Step, registers: &Registers) -> Vec<Instance> {
        let view = self.facts.view();
        let fleet = step.reads_fleet().then(|| self.context.fleet.fleet());
        let inputs = Inputs { facts: Some(&view), registers: Some(registers), fleet: fleet.as_deref() };
        self.context.project.instantiate(step, &self.host, &inputs)
    }

    fn wanted(&self, work: &[Work], first: bool) -> BTreeSet<Query> {
        let mut wanted = if first { self.context.queries.clone() } else { BTreeSet::new() };
        if first {
            wanted.insert(Query::State);
            if self.context.project.online().nth(1).is_some() {
                wanted.insert(Query::Filesystems);
            }
            wanted.extend(self.asked_by_all.iter().cloned());
        }
        for item in work {
            wanted.extend(item.step.facts.iter().filter_map(|name| facts::base(name)));
            wanted.extend(queries(&item.instances).iter().map(|query| query.own().clone()));
        }
        wanted
    }

    /// What tasks that wait for facts will probably ask, which mostly spares a second exec. Only
    /// what costs next to nothing where the guess is wrong.
    fn guesses(&self, work: &[Work]) -> BTreeSet<Query> {
        let waits = |item: &&Work| {
            item.instances.iter().any(|instance| matches!(instance.state, InstanceState::Waiting(_)))
        };
        let guessed = work
            .iter()
            .filter(waits)
            .flat_map(|item| queries(&self.context.project.guess(&item.step, &self.host)));
        guessed.filter(|query| matches!(query, Query::Path(_) | Query::Content { .. })).collect()
    }

    /// What tasks ask of all hosts, this one included, also where they are not for this host.
    fn questions(&self, work: &[Work]) -> BTreeSet<Query> {
        let project = self.context.project.clone();
        // Templates of other hosts read these of this one.
        let facts = project.steps.iter().chain(&project.handlers).flat_map(Step::fleet_facts);
        let mut questions: BTreeSet<Query> = facts.filter_map(|name| facts::base(name)).collect();
        let registers = Registers::new();
        let mut take = |instances: &[Instance]| {
            for query in queries(instances) {
                if let Query::Fleet(question) = query {
                    questions.insert(*question);
                }
            }
        };
        for item in work {
            take(&item.instances);
        }
        let others = project.steps.iter().filter(|step| step.fleet && !step.hosts.contains(&self.host.index));
        for step in others {
            take(&self.instantiate(step, &registers));
        }
        questions
    }

    /// The tasks of a range with all that can be known: asks again where one answer led to
    /// another question.
    async fn complete(&mut self, range: Range<usize>) -> Result<Vec<Work>, Gone> {
        loop {
            let work = self.work(range.clone());
            let mut missing = self.wanted(&work, false);
            missing.retain(|query| self.facts.get(query).is_none());
            if missing.is_empty() {
                return Ok(work);
            }
            self.ask(&missing).await?;
            // A query without any answer now is a bug of its kind; it must not loop.
            let still: Vec<_> = missing.iter().filter(|query| self.facts.get(query).is_none()).collect();
            if !still.is_empty() {
                let reason =
                    format!("no answer and no reason for {} queries, first {:?}", still.len(), still.first());
                return Err(Gone(HostStatus::Quarantined { reason }));
            }
        }
    }

    /// Handlers of this host among some ids, in the order of the playbooks.
    pub(super) fn handlers(&self, ids: &BTreeSet<String>, planner: &Planner) -> Vec<Work> {
        if ids.is_empty() {
            return Vec::new();
        }
        let project = self.context.project.clone();
        let registers = self.known_by(project.steps.len(), planner);
        project
            .handlers
            .iter()
            .filter(|handler| ids.contains(&handler.id) && handler.hosts.contains(&self.host.index))
            .map(|handler| Work {
                step: handler.clone(),
                instances: self.instantiate(handler, &registers),
                handler: true,
            })
            .collect()
    }

    /// Asks what is not known yet of some tasks.
    pub(super) async fn know(&mut self, work: &[Work]) -> Result<(), Gone> {
        let mut missing = self.wanted(work, false);
        missing.retain(|query| self.facts.get(query).is_none());
        self.ask(&missing).await
    }

    /// Plans a stage and says so.
    async fn show_plan(&mut self, work: &[Work], leaders: &Leaders) -> Result<Vec<(String, TaskPlan)>, Gone> {
        let reboot = self.context.project.policy.reboot;
        let mut planner = self.planner.take().unwrap_or_else(|| Planner::new(reboot));
        let mut plans = Vec::new();
        let mut shown = Vec::new();
        let mut to_notify = self.notified.clone();
        let mut notifiers: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for item in work {
            let fresh = item.step.registers.iter().any(|name| planner.is_pending(name)).then(|| {
                let registers = self.known_by(item.step.index, &planner);
                Work { instances: self.instantiate(&item.step, &registers), ..item.clone() }
            });
            let item = fresh.as_ref().unwrap_or(item);
            for instance in &item.instances {
                let plan = match self.led_elsewhere(&item.step, leaders) {
                    Some(reason) => TaskPlan { verdict: Verdict::Skipped(reason), touches: None },
                    None => self.plan_one(&mut planner, item, instance, &to_notify),
                };
                if let Some(name) = &item.step.conduct.register {
                    planner.register(name, instance, &plan);
                }
                if matches!(plan.verdict, Verdict::Changes(_) | Verdict::Runs(_) | Verdict::KnownAfter(_)) {
                    for handler in &item.step.conduct.notify {
                        to_notify.insert(handler.clone());
                        let names = notifiers.entry(handler.clone()).or_default();
                        // A loop is one task to a reader.
                        if names.last() != Some(&instance.name) {
                            names.push(instance.name.clone());
                        }
                    }
                }
                self.count_pending(&plan.verdict);
                shown.push(PlannedTask {
                    task: task_ref(&item.step, instance),
                    verdict: plan.view(),
                    pending_since: None,
                    notified_by: Vec::new(),
                });
                plans.push((task_id(&item.step, instance), plan));
            }
        }
        let left_behind = self.left_behind();
        let handlers = self.handlers(&to_notify, &planner);
        self.know(&handlers).await?;
        for item in self.handlers(&to_notify, &planner) {
            for instance in &item.instances {
                let plan = self.plan_one(&mut planner, &item, instance, &to_notify);
                let left = left_behind.contains(&item.step.id);
                if left && matches!(plan.verdict, Verdict::Changes(_) | Verdict::Runs(_)) {
                    self.pending += 1;
                    self.drift = true;
                }
                let pending_since =
                    left.then(|| "an earlier run notified it and ended before it ran".to_owned());
                shown.push(PlannedTask {
                    task: task_ref(&item.step, instance),
                    verdict: plan.view(),
                    pending_since,
                    notified_by: notifiers.get(&item.step.id).cloned().unwrap_or_default(),
                });
                plans.push((task_id(&item.step, instance), plan));
            }
        }
        if self.context.mode == Mode::Plan {
            self.planner = Some(planner);
            for task in &shown {
                self.count_planned(task);
            }
        }
        // Forty tasks of a thousand hosts that need nothing would be most of the journal.
        shown.retain(|task| !matches!(task.verdict, PlannedVerdict::Unchanged | PlannedVerdict::Skipped(_)));
        self.emit(EventKind::HostPlanned { host: self.host.name.clone(), tasks: shown });
        Ok(plans)
    }

    fn count_pending(&mut self, verdict: &Verdict) {
        if matches!(verdict, Verdict::Changes(_) | Verdict::KnownAfter(_)) {
            self.pending += 1;
            self.drift = true;
        }
    }

    /// In a plan, what cannot be planned is a failure and everything else is left as it is.
    fn count_planned(&mut self, planned: &PlannedTask) {
        match &planned.verdict {
            PlannedVerdict::Unchanged => self.counts.unchanged += 1,
            PlannedVerdict::Skipped(_) => self.counts.skipped += 1,
            PlannedVerdict::Blocked(_) => self.counts.blocked += 1,
            PlannedVerdict::Failed(failure) => {
                self.failed = true;
                self.finish_task(planned.task.clone(), Outcome::Failed(failure.clone()), 0.0, false);
            }
            PlannedVerdict::Changes(_) | PlannedVerdict::Runs(_) | PlannedVerdict::KnownAfter(_) => {}
        }
    }

    /// Why a `run_once` step is not for this host, when it is not.
    pub(super) fn led_elsewhere(&self, step: &Step, leaders: &Leaders) -> Option<String> {
        step.conduct.run_once.as_ref()?;
        match leaders.get(&step.index) {
            Some(leader) if *leader == self.host.index => None,
            Some(leader) => {
                let name = self.context.project.at(*leader).map_or("another host", |host| host.name.as_str());
                Some(format!("runs once, on {name}"))
            }
            None => Some("no healthy host was left to run it".to_owned()),
        }
    }

    /// Refuses a plan that is not the one of the plan file. Plans of later stages may depend on
    /// what earlier ones changed, so the file's digest is compared stage by stage.
    fn check_expected(&self) -> Result<(), Gone> {
        let Some(expected) = &self.context.expected else { return Ok(()) };
        let now = self.digests.join("-");
        match expected.get(&self.host.name) {
            Some(digest) if *digest == now || digest.starts_with(&format!("{now}-")) => Ok(()),
            Some(_) => Err(Gone(HostStatus::Quarantined {
                reason: "its plan is no longer the one in the plan file; nothing was changed".to_owned(),
            })),
            None => Err(Gone(HostStatus::Quarantined {
                reason: "it is not in the plan file; nothing was changed".to_owned(),
            })),
        }
    }

    pub(super) fn finish_task(&mut self, task: TaskRef, outcome: Outcome, seconds: f64, attached: bool) {
        self.counts.count(&outcome);
        self.emit(EventKind::TaskFinished { host: self.host.name.clone(), task, outcome, seconds, attached });
    }
}

/// Queries of some instances, whatever their conditions say.
pub(super) fn queries(instances: &[Instance]) -> BTreeSet<Query> {
    instances
        .iter()
        .filter_map(|instance| match &instance.state {
            InstanceState::Ready { resource, .. } => Some(resource.queries()),
            InstanceState::Skipped(_) | InstanceState::Waiting(_) | InstanceState::Failed(_) => None,
        })
        .flatten()
        .collect()
}

pub(super) fn task_ref(step: &Step, instance: &Instance) -> TaskRef {
    TaskRef {
        id: step.id.clone(),
        item: instance.item,
        name: instance.name.clone(),
        resource: step.kind.to_owned(),
    }
}

/// One name for a step and its loop item: `base/users[2]`.
pub(super) fn task_id(step: &Step, instance: &Instance) -> String {
    match instance.item {
        Some(item) => format!("{}[{item}]", step.id),
        None => step.id.clone(),
    }
}
