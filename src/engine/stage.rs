//! One stage of one host: what its tasks are, what must be known, what the plan is.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::connection::Gone;
use super::context::Mode;
use super::session::Session;
use super::tasks::Tasks;
use super::work::{Leaders, Work, queries, task_id, task_ref};
use crate::events::{EventKind, HostStatus, Outcome, PlannedTask, PlannedVerdict};
use crate::facts::filesystem::FilesystemsQuery;
use crate::facts::state::StateQuery;
use crate::facts::{Answer, Query};
use crate::plan::{self, Planner, StageDigest, TaskPlan, TaskVerdict};
use crate::project::{Instance, InstanceState, Step};

impl Session {
    /// Carries one stage of the run as far as the mode says.
    pub async fn stage(&mut self, range: Range<usize>, leaders: &Leaders) {
        if self.is_over() || self.has_failed() {
            return;
        }
        if let Err(Gone(status)) = self.try_stage(range, leaders).await {
            self.progress.end(status);
        }
    }

    async fn try_stage(&mut self, range: Range<usize>, leaders: &Leaders) -> Result<(), Gone> {
        if self.context.mode == Mode::Gather {
            let queries = self.context.queries.clone();
            return self.gather(&queries).await;
        }
        if !self.known.is_gathered() {
            // Everything that any task of the run asks, whatever its `when` says: one exec.
            let steps = 0..self.context.project.steps.len();
            let work = self.tasks.work(self.known.facts(), steps);
            self.tasks.note_questions(self.known.facts(), &work);
            let wanted = self.first_questions(&work);
            // It is made anew from the answers; while they are awaited it would only take room.
            drop(work);
            self.gather(&wanted).await?;
        }
        let end = range.end;
        let work = self.complete(range).await?;
        self.take_fleet_answers(&work);
        let digest = self.show_plan(&work, end, leaders).await?;
        self.next_promise = end;
        self.progress.add_digest(digest);
        if self.context.mode == Mode::Apply {
            self.check_expected()?;
            self.execute(work, end, leaders).await?;
            // What the others read of this host, where a change took it from the facts.
            let missing = self.known.missing(self.tasks.asked_by_all().clone());
            self.ask(&missing).await?;
            self.tell_fleet();
        }
        Ok(())
    }

    /// Everything that any task of the run asks, and what every run wants to know.
    fn first_questions(&self, work: &[Work]) -> BTreeSet<Query> {
        let mut wanted = self.context.queries.clone();
        wanted.insert(StateQuery.into());
        if self.context.project.online().nth(1).is_some() {
            wanted.insert(FilesystemsQuery.into());
        }
        wanted.extend(self.tasks.asked_by_all().iter().cloned());
        wanted.extend(Tasks::wanted(work));
        wanted.extend(self.tasks.guesses(work));
        wanted
    }

    /// The tasks of a range with all that can be known: asks again where one answer led to
    /// another question.
    async fn complete(&mut self, range: Range<usize>) -> Result<Vec<Work>, Gone> {
        loop {
            let work = self.tasks.work(self.known.facts(), range.clone());
            let missing = self.known.missing(Tasks::wanted(&work));
            if missing.is_empty() {
                return Ok(work);
            }
            self.ask(&missing).await?;
            // A query without any answer now is a bug of its kind; it must not loop.
            let still = self.known.missing(missing);
            if !still.is_empty() {
                let reason =
                    format!("no answer and no reason for {} queries, first {:?}", still.len(), still.first());
                return Err(Gone::quarantined(reason));
            }
        }
    }

    /// Takes what is known of the others for the tasks that need it.
    fn take_fleet_answers(&mut self, work: &[Work]) {
        let asked: BTreeSet<Query> = work.iter().flat_map(|item| queries(&item.instances)).collect();
        for query in asked.into_iter().filter(Query::is_of_all) {
            let answers = self.context.fleet.answers(&query.own());
            self.known.tell(query, Answer::OfAll(answers));
        }
    }

    /// Plans a stage and says so. `end`: where the stage ends.
    async fn show_plan(&mut self, work: &[Work], end: usize, leaders: &Leaders) -> Result<StageDigest, Gone> {
        let reboot = self.context.project.policy.reboot;
        let mut planner = self.planner.take().unwrap_or_else(|| Planner::new(reboot));
        planner.next_stage();
        let mut plans = Vec::new();
        let mut known_after = BTreeSet::new();
        let mut shown = Vec::new();
        let mut to_notify = self.due_here(end);
        // Handlers of which it is sure that they run.
        let mut due = to_notify.clone();
        let mut notifiers: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for item in work {
            let unsure = planner.unsure(&item.step).next().is_some();
            let waits = unsure || item.step.registers.iter().any(|name| planner.is_pending(name));
            let fresh = waits.then(|| self.tasks.anew(self.known.facts(), item, &planner));
            let touches = if unsure { self.tasks.sure_touches(item) } else { None };
            let stays = waits && item.instances.iter().all(|instance| self.is_settled(instance));
            let item = fresh.as_ref().unwrap_or(item);
            for instance in &item.instances {
                let plan = if let Some(reason) = self.tasks.led_elsewhere(&item.step, leaders) {
                    TaskVerdict::Skipped(reason).into()
                } else {
                    let plan = self.plan_one(&mut planner, item, instance, &to_notify);
                    // What is due before it may change the answer.
                    if planner.is_first(&instance.name) {
                        self.look_last(&mut planner, item, instance, &to_notify, plan).await?
                    } else {
                        plan
                    }
                };
                if let Some(name) = &item.step.conduct.register {
                    planner.register(name, instance, &plan);
                }
                if matches!(
                    plan.verdict,
                    TaskVerdict::Changes(_) | TaskVerdict::Runs(_) | TaskVerdict::KnownAfter(_)
                ) {
                    for handler in &item.step.conduct.notify {
                        to_notify.insert(handler.clone());
                        if !matches!(plan.verdict, TaskVerdict::KnownAfter(_)) {
                            due.insert(handler.clone());
                        }
                        let names = notifiers.entry(handler.clone()).or_default();
                        // A loop is one task to a reader.
                        if names.last() != Some(&instance.name) {
                            names.push(instance.name.clone());
                        }
                    }
                }
                match &plan.verdict {
                    TaskVerdict::Changes(_) => self.progress.add_pending(),
                    TaskVerdict::KnownAfter(name) => {
                        known_after.insert(task_id(&item.step, instance));
                        let stays = stays && planner.may_stay(name);
                        planner.waits(touches.clone(), stays);
                        // Else a task that runs every time would be drift for ever.
                        if !stays {
                            self.progress.add_pending();
                        }
                    }
                    TaskVerdict::Unchanged
                    | TaskVerdict::Runs(_)
                    | TaskVerdict::Skipped(_)
                    | TaskVerdict::Blocked(_)
                    | TaskVerdict::Failed(_) => {}
                }
                self.take_promises(&item.step, instance, &plan);
                shown.push(PlannedTask {
                    task: task_ref(&item.step, instance),
                    verdict: plan.view(),
                    blocked: plan.blocked.clone(),
                    pending_since: None,
                    notified_by: Vec::new(),
                });
                plans.push((task_id(&item.step, instance), plan));
            }
        }
        let left_behind = self.notified.left_behind(&self.context.project.cluster);
        let handlers = self.tasks.handlers(self.known.facts(), &to_notify, &planner);
        self.know(&handlers).await?;
        for item in self.tasks.handlers(self.known.facts(), &to_notify, &planner) {
            for instance in &item.instances {
                let plan = self.plan_one(&mut planner, &item, instance, &to_notify);
                if matches!(plan.verdict, TaskVerdict::KnownAfter(_)) || !due.contains(&item.step.id) {
                    known_after.insert(task_id(&item.step, instance));
                }
                let left = left_behind.contains(&item.step.id);
                if left
                    && matches!(
                        plan.verdict,
                        TaskVerdict::Changes(_) | TaskVerdict::Runs(_) | TaskVerdict::KnownAfter(_)
                    )
                {
                    self.progress.add_pending();
                }
                let pending_since =
                    left.then(|| "an earlier run notified it and ended before it ran".to_owned());
                shown.push(PlannedTask {
                    task: task_ref(&item.step, instance),
                    verdict: plan.view(),
                    blocked: plan.blocked.clone(),
                    pending_since,
                    notified_by: notifiers.get(&item.step.id).cloned().unwrap_or_default(),
                });
                plans.push((task_id(&item.step, instance), plan));
            }
        }
        if self.context.mode == Mode::Plan {
            self.planner = Some(planner);
            self.notified.planned(self.due_here(end));
            for task in &shown {
                self.count_planned(task);
            }
        }
        // Forty tasks of a thousand hosts that need nothing would be most of the journal.
        shown.retain(|task| !matches!(task.verdict, PlannedVerdict::Unchanged | PlannedVerdict::Skipped(_)));
        self.emit(EventKind::HostPlanned { host: self.host.name.clone(), tasks: shown });
        let expected = self.context.expected.as_ref().and_then(|hosts| hosts.get(&self.host.name));
        let expected = expected.and_then(|stages| stages.get(self.progress.digests().len()));
        Ok(plan::digest(&plans, known_after, expected))
    }

    /// Whether a task has nothing to do by the facts of this moment.
    fn is_settled(&self, instance: &Instance) -> bool {
        match &instance.state {
            InstanceState::Skipped(_) | InstanceState::Ready { condition: Ok(false), .. } => true,
            InstanceState::Ready { resource, condition: Ok(true) } => {
                resource.plan(self.facts()).is_ok_and(|changes| changes.is_empty())
            }
            InstanceState::Ready { condition: Err(_), .. }
            | InstanceState::Waiting(_)
            | InstanceState::Failed(_) => false,
        }
    }

    /// Notes what a task promises. What cannot be done on this host promises nothing.
    fn take_promises(&mut self, step: &Step, instance: &Instance, plan: &TaskPlan) {
        let left = matches!(plan.verdict, TaskVerdict::Skipped(_) | TaskVerdict::Blocked(_));
        let holds = !left && plan.blocked.is_none();
        if holds && self.context.mode == Mode::Plan {
            step.add_promises(instance, self.known.facts(), &mut self.promises);
        }
    }

    /// The same of the stages that were not planned because a task before them failed.
    pub(super) fn take_rest_of_promises(&mut self) {
        let rest = self.next_promise..self.context.project.steps.len();
        if self.context.mode != Mode::Plan || !self.was_gathered() || rest.is_empty() {
            return;
        }
        let mut planner = Planner::new(self.context.project.policy.reboot);
        for item in self.tasks.work(self.known.facts(), rest) {
            for instance in &item.instances {
                let plan = planner.plan(instance, &item.step, self.known.facts());
                self.take_promises(&item.step, instance, &plan);
            }
        }
    }

    /// In a plan, what cannot be planned is a failure and everything else is left as it is.
    fn count_planned(&mut self, planned: &PlannedTask) {
        if let Some(reason) = &planned.blocked {
            self.progress.count(&Outcome::Blocked(reason.clone()));
        }
        match &planned.verdict {
            PlannedVerdict::Unchanged => self.progress.count(&Outcome::Unchanged),
            PlannedVerdict::Skipped(reason) => self.progress.count(&Outcome::Skipped(reason.clone())),
            PlannedVerdict::Blocked(reason) => self.progress.count(&Outcome::Blocked(reason.clone())),
            PlannedVerdict::Failed(failure) => {
                self.progress.fail();
                self.finish_task(planned.task.clone(), Outcome::Failed(failure.clone()), 0.0, false);
            }
            PlannedVerdict::Changes(_) | PlannedVerdict::Runs(_) | PlannedVerdict::KnownAfter(_) => {}
        }
    }

    /// Refuses a plan that is not the one of the plan file. Plans of later stages may depend on
    /// what earlier ones changed, so it is compared stage by stage, and what was known only after
    /// others is not compared.
    fn check_expected(&self) -> Result<(), Gone> {
        let Some(expected) = &self.context.expected else { return Ok(()) };
        match expected.get(&self.host.name) {
            Some(stages) if stages.starts_with(self.progress.digests()) => Ok(()),
            Some(_) => {
                let before = match self.progress.counts() {
                    counts if counts.changed + counts.ran > 0 => {
                        "earlier stages were carried out, nothing was changed since"
                    }
                    _ => "nothing was changed",
                };
                Err(Gone(HostStatus::NotStarted(format!(
                    "its plan is no longer the one in the plan file; {before}"
                ))))
            }
            None => Err(Gone(HostStatus::NotStarted(
                "it is not in the plan file; nothing was changed".to_owned(),
            ))),
        }
    }
}
