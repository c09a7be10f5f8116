//! The tasks of one stage on one host, one after another.

use std::collections::BTreeSet;

use tokio::time::Instant;

use super::cancel::Stop;
use super::hints;
use super::session::{Gone, Session};
use super::stage::{Leaders, Work, queries, task_id, task_ref};
use super::state::SpoolReport;
use super::writers::Turn;
use crate::events::{ChangeView, EventKind, Failure, Outcome};
use crate::facts::base::busy::told;
use crate::facts::{self, Query, Touches};
use crate::inventory::Busy;
use crate::plan::{Planner, Verdict, change_view, diff};
use crate::playbook::{Instance, InstanceState, OnFailure, Step};
use crate::resources::{Change, Detail, Disruption, Spread, Unplannable};

/// How one task went.
pub(super) struct Ended {
    pub outcome: Outcome,
    pub attached: bool,
}

impl From<Outcome> for Ended {
    fn from(outcome: Outcome) -> Self {
        Self { outcome, attached: false }
    }
}

/// Which of the notified handlers run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Handlers {
    /// All, reboots last.
    All,
    /// All but reboots: one is due.
    BeforeReboot,
}

/// Collects what the tasks after this one ask.
type Later<'a> = &'a (dyn Fn() -> BTreeSet<Query> + Sync);

impl Session {
    /// Carries out a stage: tasks in order, then the handlers that were notified.
    pub(super) async fn execute(&mut self, work: Vec<Work>, leaders: &Leaders) -> Result<(), Gone> {
        let mut planner = Planner::new(self.context.project.policy.reboot);
        let mut unchanged = Vec::new();
        let mut changed_anything = false;
        let mut stopped: Option<String> = None;
        // What a stop of the run left, if it did.
        let mut left: Option<String> = None;
        for (position, item) in work.iter().enumerate() {
            let after = work.get(position + 1..).unwrap_or_default();
            let mut fresh = None;
            let moved = changed_anything || !item.step.registers.is_empty();
            if moved && depends(&item.step) && stopped.is_none() {
                let registers = self.known_by(item.step.index, &planner);
                fresh = Some(Work { instances: self.instantiate(&item.step, &registers), ..item.clone() });
            }
            let item = fresh.as_ref().unwrap_or(item);
            if stopped.is_none() {
                self.refresh(item).await;
                self.know(std::slice::from_ref(item)).await?;
            }
            for (number, instance) in item.instances.iter().enumerate() {
                let task = task_ref(&item.step, instance);
                // Only a change asks: on a converged host this is never collected.
                let later = || -> BTreeSet<Query> {
                    let items = queries(item.instances.get(number + 1..).unwrap_or_default());
                    after.iter().flat_map(needs).chain(items).collect()
                };
                let reason =
                    stopped.clone().or_else(|| self.led_elsewhere(&item.step, leaders)).or_else(|| {
                        (self.context.cancel.now() > Stop::No).then(|| {
                            left.get_or_insert_with(|| format!("`{}`", task.name));
                            "not started: the run was stopped".to_owned()
                        })
                    });
                if let Some(reason) = reason {
                    self.finish_task(task, Outcome::Skipped(reason), 0.0, false);
                    continue;
                }
                if self.is_due(item, instance) {
                    // What they do may matter to the boot, and what is notified does not outlive it.
                    self.run_handlers(&mut planner, Handlers::BeforeReboot).await?;
                    // It is planned on what they left.
                    self.know(std::slice::from_ref(item)).await?;
                }
                let began = Instant::now();
                let ended = self.bounded_task(item, instance, &later, &mut planner).await?;
                self.keep_answer(item, &ended.outcome);
                match &ended.outcome {
                    Outcome::Unchanged => {
                        self.counts.unchanged += 1;
                        unchanged.push(task);
                        continue;
                    }
                    Outcome::Changed { .. } | Outcome::Ran { .. } => {
                        changed_anything = true;
                        self.notified.extend(item.step.conduct.notify.iter().cloned());
                    }
                    Outcome::Failed(_) => {
                        changed_anything = true;
                        self.failed = true;
                        if item.step.conduct.on_failure == OnFailure::Stop {
                            stopped = Some(format!("not reached: `{}` failed", task.name));
                        }
                    }
                    Outcome::Skipped(_) | Outcome::Blocked(_) => {}
                }
                self.finish_task(task, ended.outcome, began.elapsed().as_secs_f64(), ended.attached);
            }
        }
        if !unchanged.is_empty() {
            self.emit(EventKind::TasksUnchanged { host: self.host.name.clone(), tasks: unchanged });
        }
        if stopped.is_none() && self.context.cancel.now() == Stop::No {
            self.run_handlers(&mut planner, Handlers::All).await?;
        } else if stopped.is_none() && !self.notified.is_empty() {
            left.get_or_insert_with(|| "its handlers".to_owned());
        }
        if let Some(left) = left.filter(|_| !self.failed) {
            self.not_started(&format!("the run was stopped before {left}"));
        }
        Ok(())
    }

    /// Runs the notified handlers; a notification is cleared when its handler succeeded.
    async fn run_handlers(&mut self, planner: &mut Planner, which: Handlers) -> Result<(), Gone> {
        self.forget_old().await?;
        let ids = self.notified.clone();
        let mut cleared: Vec<String> = Vec::new();
        let handlers = self.handlers(&ids, planner);
        self.know(&handlers).await?;
        let mut handlers = self.handlers(&ids, planner);
        if which == Handlers::BeforeReboot {
            handlers.retain(|item| item.step.kind != "reboot");
        }
        // What the others do may matter to the boot.
        handlers.sort_by_key(|item| item.step.kind == "reboot");
        for (position, item) in handlers.iter().enumerate() {
            let mut good = true;
            let later = || handlers.get(position..).unwrap_or_default().iter().flat_map(needs).collect();
            for instance in &item.instances {
                let task = task_ref(&item.step, instance);
                let began = Instant::now();
                let ended = self.bounded_task(item, instance, &later, planner).await?;
                if matches!(ended.outcome, Outcome::Failed(_)) {
                    self.failed = true;
                    good = false;
                }
                good &= !matches!(ended.outcome, Outcome::Blocked(_));
                self.finish_task(task, ended.outcome, began.elapsed().as_secs_f64(), ended.attached);
            }
            if good {
                cleared.push(item.step.id.clone());
            }
        }
        if !cleared.is_empty() {
            self.clear_notifications(&cleared).await?;
        }
        Ok(())
    }

    /// A task that was started ends, even when its host does not come back.
    async fn bounded_task(
        &mut self,
        item: &Work,
        instance: &Instance,
        later: Later<'_>,
        planner: &mut Planner,
    ) -> Result<Ended, Gone> {
        let began = Instant::now();
        let result = self.task(item, instance, later, planner).await;
        if result.is_err() {
            let message =
                "its host was lost; what runs there goes on, and the next run attaches to it".to_owned();
            let outcome = failure(&item.step, message, None, "");
            self.finish_task(task_ref(&item.step, instance), outcome, began.elapsed().as_secs_f64(), false);
        }
        result
    }

    /// Plans one task with the facts of this moment and carries the plan out.
    async fn task(
        &mut self,
        item: &Work,
        instance: &Instance,
        later: Later<'_>,
        planner: &mut Planner,
    ) -> Result<Ended, Gone> {
        let plan = self.plan_one(planner, item, instance, &self.notified.clone());
        let id = task_id(&item.step, instance);
        let (changes, provable) = match plan.verdict {
            Verdict::Unchanged => {
                if let Some(spread) = self.spread_of(instance) {
                    self.context.fleet.holders.has(&spread.key, &self.host.name);
                }
                return Ok(match self.inherited.remove(&id) {
                    Some(SpoolReport::Ended(0, output)) => {
                        Ended { outcome: Outcome::Changed { changes: Vec::new(), output }, attached: true }
                    }
                    _ => Outcome::Unchanged.into(),
                });
            }
            Verdict::Skipped(reason) => return Ok(Outcome::Skipped(reason).into()),
            Verdict::Blocked(reason) => return Ok(Outcome::Blocked(reason).into()),
            Verdict::Failed(message) => return Ok(failure(&item.step, message, None, "").into()),
            Verdict::KnownAfter(name) => {
                let message = format!("what it needs is still not there after `{name}`");
                return Ok(failure(&item.step, message, None, "").into());
            }
            Verdict::Changes(changes) => (changes, true),
            Verdict::Runs(changes) => (changes, false),
        };
        let touches = plan.touches.unwrap_or(Touches::Everything);
        let (changes, duty) = if provable {
            match self.turn(item, instance, changes, &touches, later).await? {
                Turn::Write(changes, duty) => (changes, duty),
                Turn::Written => {
                    planner.done(&instance.name);
                    return Ok(Outcome::Unchanged.into());
                }
                Turn::Refused(reason) => return Ok(failure(&item.step, reason, None, "").into()),
            }
        } else {
            (changes, None)
        };
        let views: Vec<ChangeView> = changes.iter().map(change_view).collect();
        match self.inherited.remove(&id) {
            Some(SpoolReport::Ended(0, output)) if !provable && !item.handler => {
                planner.done(&instance.name);
                return Ok(Ended { outcome: Outcome::Ran { changes: views, output }, attached: true });
            }
            Some(SpoolReport::Ended(status, output)) if status != 0 => {
                let last = hints::last_line(&output);
                self.warn(format!(
                    "an earlier attempt of `{}` ended with status {status}: {last}",
                    instance.name
                ));
            }
            _ => {}
        }
        let task = task_ref(&item.step, instance);
        let worst = changes.iter().map(|change| change.disruption).max().unwrap_or(Disruption::None);
        let context = self.context.clone();
        // Not longer than the host is down.
        let _turn = if worst == Disruption::Reboot { context.reboots.acquire().await.ok() } else { None };
        if worst >= Disruption::Gpu
            && let Some(reason) = self.refusal(&task.name, worst).await?
        {
            return Ok(Outcome::Blocked(reason).into());
        }
        self.emit(EventKind::TaskStarted { host: self.host.name.clone(), task, changes: views.clone() });
        let outcome = if worst == Disruption::Reboot {
            self.reboot(item, instance, &changes, &later()).await?
        } else if let Some(spread) = self.spread_of(instance).filter(|_| changes.iter().any(is_content)) {
            self.spread(item, instance, changes, &spread, &touches, &later()).await?
        } else {
            self.attempts(item, instance, changes, provable, &touches, &later()).await?
        };
        if let Some(duty) = duty {
            duty.done(&outcome);
        }
        match (&outcome, &instance.state) {
            (Outcome::Failed(_), _) => {}
            (_, InstanceState::Ready { resource, .. }) => {
                planner.done(&instance.name);
                self.note_reboot(id, resource);
            }
            _ => planner.done(&instance.name),
        }
        Ok(outcome.into())
    }

    /// Why a change that interrupts may not be made now: the host is in use, or nobody agreed.
    async fn refusal(&mut self, task: &str, worst: Disruption) -> Result<Option<String>, Gone> {
        self.ask(&facts::base("busy").into_iter().collect()).await?;
        let users = match self.facts.base("busy") {
            Some(busy) => told(busy),
            None => Some("whether it is cannot be told".to_owned()),
        };
        if let Some(users) = users {
            let drain = match self.context.project.policy.busy {
                Busy::Refuse => "",
                Busy::Drain => "; provision cannot drain it yet",
            };
            return Ok(Some(format!("the host is in use: {users}; the change interrupts: {worst}{drain}")));
        }
        let what = format!("`{task}` on {} interrupts: {worst}", self.host.name);
        if self.context.consent.has(&what).await {
            return Ok(None);
        }
        Ok(Some(format!("it interrupts: {worst}; agree with --yes")))
    }

    /// A task that may do anything runs in a session that sees what was changed for sessions.
    async fn refresh(&mut self, item: &Work) {
        if !self.stale || !item.instances.iter().any(does_anything) {
            return;
        }
        if let Err(error) = self.log_in_anew().await {
            self.warn(format!("no fresh login, the old session goes on: {error}"));
        }
    }

    /// How the thing is given from host to host, when it is.
    fn spread_of(&self, instance: &Instance) -> Option<Spread> {
        let InstanceState::Ready { resource, .. } = &instance.state else { return None };
        resource.spread(&self.facts)
    }

    pub(super) async fn attempts(
        &mut self,
        item: &Work,
        instance: &Instance,
        mut changes: Vec<Change>,
        provable: bool,
        touches: &Touches,
        later: &BTreeSet<Query>,
    ) -> Result<Outcome, Gone> {
        let views: Vec<ChangeView> = changes.iter().map(change_view).collect();
        let own = queries(std::slice::from_ref(instance));
        let mut attempt = 1;
        loop {
            let outcome = match self.change(item, instance, &changes, &changes, touches, later).await? {
                Ok(output) if !provable => Outcome::Ran { changes: views.clone(), output },
                Ok(output) => match self.prove(instance, &own).await? {
                    Ok(()) => Outcome::Changed { changes: views.clone(), output },
                    Err(rest) => failure(&item.step, rest, command(&changes), &output),
                },
                Err((message, output)) => failure(&item.step, message, command(&changes), &output),
            };
            let Outcome::Failed(failure) = &outcome else { return Ok(outcome) };
            let (allowed, delay) = hints::tries(&item.step, failure, attempt);
            if attempt >= allowed || self.context.cancel.now() > Stop::No {
                return Ok(outcome);
            }
            self.warn(format!(
                "`{}` failed ({}); trying again, {} of {allowed}",
                instance.name,
                failure.message,
                attempt + 1
            ));
            attempt += 1;
            tokio::time::sleep(delay).await;
            // What the failed try left may need another plan.
            self.ask(&own).await?;
            if let InstanceState::Ready { resource, .. } = &instance.state {
                match resource.plan(&self.facts) {
                    Ok(rest) if rest.is_empty() && provable => {
                        return Ok(Outcome::Changed { changes: views, output: String::new() });
                    }
                    Ok(rest) if !rest.is_empty() => changes = rest,
                    Ok(_) | Err(_) => {}
                }
            }
        }
    }

    /// Plans again: an empty plan proves the change. What takes time to show is asked again.
    async fn prove(
        &mut self,
        instance: &Instance,
        own: &BTreeSet<Query>,
    ) -> Result<Result<(), String>, Gone> {
        let InstanceState::Ready { resource, .. } = &instance.state else { return Ok(Ok(())) };
        let began = Instant::now();
        let mut pause = std::time::Duration::from_millis(200);
        loop {
            let rest = match resource.plan(&self.facts) {
                Ok(rest) if rest.is_empty() => return Ok(Ok(())),
                // All that can be done now is done.
                Err(Unplannable::Blocked(reason)) => {
                    self.warn(format!("`{}` is not all done: {reason}", instance.name));
                    return Ok(Ok(()));
                }
                Ok(rest) => {
                    let lines: Vec<_> = rest
                        .iter()
                        .map(|change| {
                            format!(
                                "{}\n{}",
                                change.summary,
                                diff::render(&change.object.to_string(), &change.detail)
                            )
                        })
                        .collect();
                    format!(
                        "did not converge: after the change the plan is still\n{}",
                        lines.join("\n").trim_end()
                    )
                }
                Err(error) => {
                    format!("did not converge: after the change it cannot be planned: {}", unplannable(error))
                }
            };
            match resource.settle() {
                Some(limit) if began.elapsed() < limit => {
                    tokio::time::sleep(pause).await;
                    pause = (pause * 2).min(std::time::Duration::from_secs(2));
                    self.ask(own).await?;
                }
                _ => return Ok(Err(rest)),
            }
        }
    }
}

/// Whether it writes what a file holds.
fn is_content(change: &Change) -> bool {
    matches!(change.detail, Detail::Text { .. })
}

/// Whether it may do anything, so that what its session gets matters.
fn does_anything(instance: &Instance) -> bool {
    matches!(&instance.state, InstanceState::Ready { resource, .. } if resource.touches() == Touches::Everything)
}

pub(super) fn failure(step: &Step, message: String, command: Option<String>, output: &str) -> Outcome {
    let output = hints::tail(output);
    let hint = hints::task(step.kind, &message, &output);
    Outcome::Failed(Failure { message, command, output, hint })
}

pub(super) fn unplannable(error: Unplannable) -> String {
    match error {
        Unplannable::Unknown(object, text) | Unplannable::Missing(object, text) => {
            format!("{object}: {text}")
        }
        Unplannable::Blocked(text) | Unplannable::Failed(text) => text,
    }
}

fn needs(work: &Work) -> BTreeSet<Query> {
    let mut needs = queries(&work.instances);
    needs.extend(work.step.facts.iter().filter_map(|name| facts::base(name)));
    needs
}

/// Whether a change of an earlier task can change what this step is.
fn depends(step: &Step) -> bool {
    !step.facts.is_empty() || !step.registers.is_empty() || step.fleet
}

/// What is run, for people: a short script as it stands, else what the change says of itself.
fn command(changes: &[Change]) -> Option<String> {
    let change = changes.first()?;
    match &change.detail {
        Detail::Command(text) => Some(text.clone()),
        Detail::Text { .. } | Detail::Attributes(_) => Some(change.summary.clone()),
    }
}
