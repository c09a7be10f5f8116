//! One task on one host, from its plan to its proof.
//!
//! ```text
//!   carry_out                                       note, finish: what it registers, whom it notifies, its event
//!     └ task     plan_one ─ nothing to do ─────────> outcome
//!                   │     └ known after, blocked ──> outcome
//!                turn     another host wrote it ───> outcome
//!                refusal  the host is in use, nobody agreed
//!                   └ attempts (or spread, reboot)
//!                        change  lock, guard of the way in, spool; asks again what it touched
//!                        prove   an empty plan is the proof
//! ```

use std::collections::BTreeSet;
use std::time::Duration;

use tokio::sync::SemaphorePermit;
use tokio::time::Instant;

use super::batch::Sent;
use super::boot;
use super::cancel::Stop;
use super::causes;
use super::connection::Gone;
use super::context::Context;
use super::deadline::Deadline;
use super::guard::{Done, Guard};
use super::hints::{self, HOST_LOST, failure, human, unplannable};
use super::lock;
use super::session::{Containers, Service, Session};
use super::spool::Spooled;
use super::state::{self, SpoolReport, SpoolRequest};
use super::turn::{Turn, turn};
use super::work::{Later, Work, queries, task_id, task_ref};
use crate::backoff::Backoff;
use crate::events::{ChangeView, EventKind, Outcome, TaskRef};
use crate::facts::base::busy::{endangered, told};
use crate::facts::reboot::RebootQuery;
use crate::facts::{self, Query, Touches};
use crate::plan::{Planner, TaskPlan, TaskVerdict, change_view, reboots, spool_key};
use crate::playbook::OnDeadline;
use crate::project::{Instance, InstanceState, Step};
use crate::resources::{Change, Detail, Disruption, LoginEffect, Spread, Unplannable};
use crate::transport::{Arg, Script};

/// Number of hosts that are asked for a copy before a host gives up.
const COPIES: u32 = 3;

/// Bytes that the changes of one task carry to the host at once.
const PART: usize = 1 << 20;

/// Changes of one task that are carried out at once.
#[derive(Clone, Copy)]
struct Part<'a> {
    changes: &'a [Change],
    /// Whether it is the last part: then what all of them touched is asked again.
    last: bool,
    deadline: Deadline,
}

/// Result of one task, for the tasks after it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Went {
    Unchanged,
    Changed,
    Failed,
    /// It was skipped or is blocked.
    Left,
}

/// Outcome of one task, and whether an earlier connection or run had started it.
struct Ended {
    outcome: Outcome,
    attached: bool,
    /// Duration in seconds, where it was sent with others.
    seconds: Option<f64>,
}

impl From<Outcome> for Ended {
    fn from(outcome: Outcome) -> Self {
        Self { outcome, attached: false, seconds: None }
    }
}

impl Ended {
    fn attached(outcome: Outcome) -> Self {
        Self { attached: true, ..outcome.into() }
    }
}

impl Session {
    /// Carries a task out and says how it ended. One that was started ends, even when its host does not
    /// come back.
    #[tracing::instrument(name = "task", level = "debug", skip_all, fields(task = task_id(&item.step, instance)))]
    pub(super) async fn carry_out(
        &mut self,
        item: &Work,
        instance: &Instance,
        later: Later<'_>,
        planner: &mut Planner,
    ) -> Result<Went, Gone> {
        let began = Instant::now();
        let result = self.task(item, instance, later, planner).await;
        let seconds = began.elapsed().as_secs_f64();
        let task = task_ref(&item.step, instance);
        let Ended { outcome, attached, seconds: own } = match result {
            Ok(ended) => ended,
            Err(gone) => {
                let message = if gone.with_its_boot() {
                    "its host rebooted before it was done; the next plan shows what is left of it"
                } else {
                    HOST_LOST
                };
                let message = message.to_owned();
                self.finish_task(task, failure(message, None, ""), seconds, false);
                return Err(gone);
            }
        };
        let seconds = own.unwrap_or(seconds);
        let went = self.note(item, &outcome);
        if went == Went::Unchanged && !item.handler {
            // Those of a stage are one event.
            self.standing.count(&outcome);
        } else {
            self.finish_task(task, outcome, seconds, attached);
        }
        Ok(went)
    }

    /// Plans one task with the facts of this moment and carries the plan out.
    async fn task(
        &mut self,
        item: &Work,
        instance: &Instance,
        later: Later<'_>,
        planner: &mut Planner,
    ) -> Result<Ended, Gone> {
        let id = task_id(&item.step, instance);
        if let Some(sent) = self.ahead.take(&id) {
            return self.sent(item, sent, planner).await;
        }
        let begun = self.ahead.take_begun(&id);
        // What hung before is asked once more only now. So is what the host said nothing of: one that goes down
        // is lost over it, which is the true reason.
        let own = queries(std::slice::from_ref(instance)).iter().map(Query::own).collect();
        let missing = self.known.unanswered(own);
        self.ask(&missing).await?;
        let notified = self.notified.due().clone();
        let plan = self.plan_one(planner, item, instance, &notified);
        let plan = self.look_last(planner, item, instance, &notified, plan).await?;
        let (changes, provable) = match plan.verdict {
            TaskVerdict::Unchanged => {
                if let Some(spread) = self.spread_of(instance) {
                    self.context.fleet.holders().has(&spread.key, &self.host.name);
                }
                return Ok(match (self.spool.take_inherited(&id), begun) {
                    (Some(SpoolReport::Ended(0, output)), _) => {
                        Ended::attached(Outcome::Changed { changes: Vec::new(), output, blocked: None })
                    }
                    // Nobody saw it end, but it did what it should.
                    (_, Some(changes)) => {
                        Ended::attached(Outcome::Changed { changes, output: String::new(), blocked: None })
                    }
                    _ => Outcome::Unchanged.into(),
                });
            }
            TaskVerdict::Skipped(reason) => return Ok(Outcome::Skipped(reason).into()),
            TaskVerdict::Blocked(reason) => {
                let blocked = Some(reason.clone());
                return Ok(match (self.spool.take_inherited(&id), begun) {
                    (Some(SpoolReport::Ended(0, output)), _) => {
                        Ended::attached(Outcome::Changed { changes: Vec::new(), output, blocked })
                    }
                    (_, Some(changes)) => {
                        Ended::attached(Outcome::Changed { changes, output: String::new(), blocked })
                    }
                    _ => Outcome::Blocked(reason).into(),
                });
            }
            TaskVerdict::Failed(message) => return Ok(failure(message, None, "").into()),
            TaskVerdict::KnownAfter(name) => {
                let still = match &instance.state {
                    InstanceState::Ready { resource, .. } => resource.plan(self.facts()).err(),
                    InstanceState::Skipped(_) | InstanceState::Waiting(_) | InstanceState::Failed(_) => None,
                };
                let message = match still {
                    Some(why) => format!("{}, also after `{name}`", unplannable(why)),
                    None => format!("what it needs is still missing after `{name}`"),
                };
                return Ok(failure(message, None, "").into());
            }
            TaskVerdict::Changes(changes) => (changes, true),
            TaskVerdict::Runs(changes) => (changes, false),
        };
        let touches = plan.touches.unwrap_or(Touches::Everything);
        let (changes, duty) = if provable {
            let (connection, known) = (&mut self.connection, &mut self.known);
            match turn(connection, known, item, instance, changes, &touches, later).await? {
                Turn::Write(changes, duty) => (changes, duty),
                Turn::Written => {
                    planner.done(&instance.name);
                    return Ok(Outcome::Unchanged.into());
                }
                Turn::Blocked(reason) => {
                    planner.done(&instance.name);
                    return Ok(Outcome::Blocked(reason).into());
                }
                Turn::Refused(reason) => return Ok(failure(reason, None, "").into()),
            }
        } else {
            (changes, None)
        };
        let views: Vec<ChangeView> = changes.iter().map(change_view).collect();
        let inherited = self.spool.take_inherited(&id);
        let anew = inherited.is_none();
        match inherited {
            Some(SpoolReport::Ended(0, output)) if !provable && !item.handler => {
                planner.done(&instance.name);
                return Ok(Ended::attached(Outcome::Ran { changes: views, output }));
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
        let _permit = match self.permit(&context, &task.name, worst).await? {
            Ok(permit) => permit,
            Err(reason) => return Ok(Outcome::Blocked(reason).into()),
        };
        if changes.iter().any(|change| change.disruption == Disruption::Reload)
            && let Containers::LoseGpus(containers) = self.containers().await?
        {
            let reason = format!(
                "this change makes systemd read its units again, which takes the GPUs away from running containers: \
                 {containers}; end them first, or start them with CDI, so that systemd knows of their GPUs"
            );
            return Ok(Outcome::Blocked(reason).into());
        }
        let mut refused = None;
        // With others it would find what the earlier one left, and take that for its own end.
        if provable && begun.is_none() && anew {
            refused = self.send_together(item, instance, &changes, later, planner).await?.err();
            if let Some(sent) = self.ahead.take(&id) {
                let sent = Sent { duty, ..sent };
                return self.sent(item, sent, planner).await;
            }
        }
        if begun.is_none() && self.ahead.take_begun(&id).is_none() {
            self.emit(EventKind::TaskStarted { host: self.host.name.clone(), task, changes: views.clone() });
        }
        let outcome = if let Some(reason) = refused {
            failure(reason, command(&changes), "")
        } else if worst == Disruption::Reboot {
            self.reboot(item, instance, &changes, &later.queries()).await?
        } else if let Some(spread) = self.spread_of(instance).filter(|_| changes.iter().any(is_content)) {
            self.spread(item, instance, changes, &spread, &touches, &later.queries()).await?
        } else {
            self.attempts(item, instance, changes, provable, &touches, &later.queries()).await?
        };
        if let Some(duty) = duty {
            duty.done(&outcome);
        }
        match (&outcome, &instance.state) {
            (Outcome::Failed(_), _) => {}
            (_, InstanceState::Ready { resource, .. }) => {
                planner.done(&instance.name);
                self.boot.note(id, resource, self.known.facts());
            }
            _ => planner.done(&instance.name),
        }
        Ok(outcome.into())
    }

    /// The permit of a change that interrupts, or why it is not made now. Jobs are waited for before that: a permit to
    /// reboot is held no longer than the host is down.
    async fn permit<'a>(
        &mut self,
        context: &'a Context,
        task: &str,
        worst: Disruption,
    ) -> Result<Result<Option<SemaphorePermit<'a>>, String>, Gone> {
        if worst < Disruption::Gpu {
            return Ok(Ok(None));
        }
        loop {
            // Who is on a drained host beside its jobs is waited for.
            if let Some(reason) = self.refusal(task, worst).await? {
                return Ok(Err(reason));
            }
            if worst < Disruption::Reboot {
                return Ok(Ok(None));
            }
            if let Ok(permit) = context.reboots.try_acquire() {
                return Ok(Ok(Some(permit)));
            }
            let permit = context.reboots.acquire().await.ok();
            // Who has come meanwhile is seen, and waited for without a permit.
            if self.in_use(worst, Duration::ZERO).await?.is_none() {
                return Ok(Ok(permit));
            }
        }
    }

    /// Proves a task that was sent with others.
    async fn sent(&mut self, item: &Work, sent: Sent, planner: &mut Planner) -> Result<Ended, Gone> {
        let began = Instant::now();
        let Sent { instance, changes, report, seconds, duty } = sent;
        let views: Vec<ChangeView> = changes.iter().map(change_view).collect();
        let own = queries(std::slice::from_ref(&instance));
        let outcome = match done(report, &item.step) {
            Ok(output) => match self.prove(&instance, &own).await? {
                Ok(blocked) => Outcome::Changed { changes: views, output, blocked },
                Err(rest) => failure(rest, command(&changes), &output),
            },
            Err((message, output)) => failure(message, command(&changes), &output),
        };
        if let Some(duty) = duty {
            duty.done(&outcome);
        }
        // What failed is still to be done, for those that wait for it.
        self.plan_one(planner, item, &instance, &self.notified.due().clone());
        if !matches!(outcome, Outcome::Failed(_)) {
            planner.done(&instance.name);
        }
        let seconds = Some(seconds + began.elapsed().as_secs_f64());
        Ok(Ended { outcome, attached: false, seconds })
    }

    /// Plans one instance. `notified` are the handlers that are due; what earlier tasks and they say of
    /// a reboot is known to it.
    pub(super) fn plan_one(
        &mut self,
        planner: &mut Planner,
        item: &Work,
        instance: &Instance,
        notified: &BTreeSet<String>,
    ) -> TaskPlan {
        let reboot = item.step.reboots();
        if reboot {
            self.answer_reboot(notified);
        }
        let plan = planner.plan(instance, &item.step, self.known.facts());
        match (&plan.verdict, &instance.state) {
            (TaskVerdict::Blocked(reason), _) if reboot => self.boot.block(reason),
            (
                TaskVerdict::Unchanged | TaskVerdict::Changes(_) | TaskVerdict::Runs(_),
                InstanceState::Ready { resource, .. },
            ) => self.boot.note(task_id(&item.step, instance), resource, self.known.facts()),
            _ => {}
        }
        plan
    }

    /// Plans one instance again with what is asked only when something is to be done.
    pub(super) async fn look_last(
        &mut self,
        planner: &mut Planner,
        item: &Work,
        instance: &Instance,
        notified: &BTreeSet<String>,
        plan: TaskPlan,
    ) -> Result<TaskPlan, Gone> {
        let InstanceState::Ready { resource, .. } = &instance.state else { return Ok(plan) };
        let nothing = matches!(
            plan.verdict,
            TaskVerdict::Unchanged | TaskVerdict::Skipped(_) | TaskVerdict::Blocked(_)
        );
        let missing = self.known.missing(resource.last_questions().into_iter().collect());
        if nothing || missing.is_empty() {
            return Ok(plan);
        }
        self.ask(&missing).await?;
        planner.done(&instance.name);
        Ok(self.plan_one(planner, item, instance, notified))
    }

    /// Makes known to `reboot` tasks why one is due.
    fn answer_reboot(&mut self, notified: &BTreeSet<String>) {
        let reasons = self.boot.reasons(&self.context.project.handlers, notified);
        self.known.tell_reboot(reasons);
    }

    /// Whether carrying out an instance now would reboot the host.
    pub(super) fn is_due(&mut self, item: &Work, instance: &Instance) -> bool {
        if !item.step.reboots() {
            return false;
        }
        self.answer_reboot(&self.notified.due().clone());
        let mut planner = Planner::new(self.context.project.policy.reboot);
        let plan = planner.plan(instance, &item.step, self.known.facts());
        matches!(plan.verdict, TaskVerdict::Changes(changes) if reboots(&changes))
    }

    /// Returns the reason why a change that interrupts may not be made now: the host is in use, or nobody
    /// agreed.
    async fn refusal(&mut self, task: &str, worst: Disruption) -> Result<Option<String>, Gone> {
        if let Service::Carries(why) = &self.service {
            let text = format!("it interrupts: {worst}, and the host takes jobs and is not drained");
            return Ok(Some(format!("{text}: {why}")));
        }
        let what = format!("`{task}` on {} interrupts: {worst}", self.host.name);
        if self.service == Service::Working
            && let Some(drains) = self.drains.clone()
        {
            if !self.context.consent.has(&what).await {
                return Ok(Some(format!("it interrupts: {worst}; agree with --yes")));
            }
            if let Err(why) = drains.drain(&self.host.name).await {
                return Ok(Some(format!("it interrupts: {worst}, and the host is not drained: {why}")));
            }
            self.service = Service::Held;
        }
        let wait = self.context.project.maintenance.as_ref().map(|maintenance| maintenance.wait);
        let wait = wait.filter(|_| self.service == Service::Held).unwrap_or_default();
        if let Some(reason) = self.in_use(worst, wait).await? {
            return Ok(Some(reason));
        }
        if self.context.consent.has(&what).await {
            return Ok(None);
        }
        Ok(Some(format!("it interrupts: {worst}; agree with --yes")))
    }

    /// Waits until nobody uses the host; returns a message where somebody still does when the wait is over,
    /// or where that is unknown.
    async fn in_use(&mut self, worst: Disruption, wait: Duration) -> Result<Option<String>, Gone> {
        let end = Instant::now() + wait;
        let mut backoff = Backoff::new(Duration::from_secs(5), Duration::from_secs(30));
        let mut said = String::new();
        loop {
            self.ask(&facts::base("busy").into_iter().collect()).await?;
            let Some(busy) = self.facts().base("busy") else {
                return Ok(Some(format!(
                    "whether jobs use this host is unknown, and the change interrupts: {worst}"
                )));
            };
            let Some(users) = told(busy) else { return Ok(None) };
            let stopped = self.context.cancel.now() > Stop::No;
            if stopped || Instant::now() >= end {
                return Ok(Some(format!("the host is in use: {users}; the change interrupts: {worst}")));
            }
            if said != users {
                let message = format!("it is drained and still in use, which is waited for: {users}");
                self.warn(message);
                said = users;
            }
            tokio::select! {
                () = self.context.cancel.reached(Stop::Finish) => {}
                () = tokio::time::sleep(backoff.pause()) => {}
            }
        }
    }

    /// Whether containers lose their GPUs when systemd reads its units again. Asked once: who starts one while its host
    /// is being changed is not seen.
    async fn containers(&mut self) -> Result<Containers, Gone> {
        if self.containers != Containers::Unasked {
            return Ok(self.containers.clone());
        }
        self.ask(&facts::base("busy").into_iter().collect()).await?;
        let busy = self.facts().base("busy");
        if busy.is_none() {
            self.warn(
                "it is unknown whether containers use the GPUs; systemd reads its units again all the same",
            );
        }
        self.containers = busy.and_then(endangered).map_or(Containers::Safe, Containers::LoseGpus);
        Ok(self.containers.clone())
    }

    /// Changes and proves, as often as the task may be tried.
    async fn attempts(
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
            let outcome = match self.in_parts(item, instance, &changes, touches, later).await? {
                Ok(output) if !provable => Outcome::Ran { changes: views.clone(), output },
                Ok(output) => match self.prove(instance, &own).await? {
                    Ok(blocked) => Outcome::Changed { changes: views.clone(), output, blocked },
                    Err(rest) => failure(rest, command(&changes), &output),
                },
                Err((message, output)) => failure(message, command(&changes), &output),
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
                match resource.plan(self.facts()) {
                    Ok(rest) if rest.is_empty() && provable => {
                        return Ok(Outcome::Changed { changes: views, output: String::new(), blocked: None });
                    }
                    Err(Unplannable::Partly(rest, reason)) if rest.is_empty() && provable => {
                        let blocked = Some(reason);
                        return Ok(Outcome::Changed { changes: views, output: String::new(), blocked });
                    }
                    Ok(rest) | Err(Unplannable::Partly(rest, _)) if !rest.is_empty() => changes = rest,
                    Ok(_) | Err(_) => {}
                }
            }
        }
    }

    /// Carries out all changes of one task, and asks again what they touched. What carries much is sent part by part,
    /// since the state directory of a host may be small, and a connection that is lost over it goes on with the
    /// next part.
    async fn in_parts(
        &mut self,
        item: &Work,
        instance: &Instance,
        changes: &[Change],
        touches: &Touches,
        later: &BTreeSet<Query>,
    ) -> Result<Done, Gone> {
        let own = queries(std::slice::from_ref(instance));
        if let Err(reason) = self.take_lock(instance, &own, changes).await? {
            return Ok(Err((reason, String::new())));
        }
        let deadline = Deadline::new(item.step.conduct.timeout, Instant::now());
        let mut printed = String::new();
        let guarded = match &instance.state {
            InstanceState::Ready { resource, .. } => resource.login(self.facts()) != LoginEffect::Same,
            InstanceState::Skipped(_) | InstanceState::Waiting(_) | InstanceState::Failed(_) => false,
        };
        // What is taken back is taken back as a whole.
        let mut parts = parts(changes, if guarded { usize::MAX } else { PART }).peekable();
        let mut begun = false;
        while let Some(changes) = parts.next() {
            let last = parts.peek().is_none();
            let done = if deadline.is_over() {
                Err((deadline.missed(), String::new()))
            } else {
                self.change(item, instance, Part { changes, last, deadline }, touches, later).await?
            };
            match done {
                Ok(output) => {
                    begun = true;
                    printed.push_str(&output);
                }
                Err((message, output)) => {
                    if begun || !last {
                        let again = self.known.touched(touches, &own, later);
                        self.ask(&again).await?;
                    }
                    return Ok(Err((message, printed + &output)));
                }
            }
        }
        Ok(Ok(printed))
    }

    /// Carries out changes of one task, under the lock. What they touched is known again after the last part.
    async fn change(
        &mut self,
        item: &Work,
        instance: &Instance,
        part: Part<'_>,
        touches: &Touches,
        later: &BTreeSet<Query>,
    ) -> Result<Done, Gone> {
        let script = match self.script(item, instance, part).await? {
            Ok(script) => script,
            Err(reason) => return Ok(Err((reason, String::new()))),
        };
        let (leave, detach, login) = match &instance.state {
            InstanceState::Ready { resource, .. } => {
                (resource.leave(), item.step.conduct.detach, resource.login(self.facts()))
            }
            InstanceState::Skipped(_) | InstanceState::Waiting(_) | InstanceState::Failed(_) => {
                (false, false, LoginEffect::Same)
            }
        };
        let guard = match &login {
            LoginEffect::Guarded(undo) => match Guard::arm(&mut self.connection, undo).await? {
                Ok(guard) => Some(guard).filter(|_| undo.in_force),
                Err(reason) => return Ok(Err((reason, String::new()))),
            },
            LoginEffect::Same | LoginEffect::Fresh => None,
        };
        let key = spool_key(&item.step.id, instance.item, &script);
        let name = task_id(&item.step, instance);
        let script = state::spool(SpoolRequest {
            key: &key,
            name: &name,
            run: self.context.emitter.run(),
            detach,
            user: item.step.conduct.become_user.as_deref(),
            cluster: &self.context.project.cluster,
            script,
            notify: &item.step.conduct.notify,
        });
        let leave = item.step.conduct.on_deadline.map_or(leave, |word| word == OnDeadline::Leave);
        let again = if part.last {
            self.known.touched(touches, &queries(std::slice::from_ref(instance)), later)
        } else {
            BTreeSet::new()
        };
        let spooled = Spooled { key, name, script, deadline: part.deadline, leave };
        let (connection, known) = (&mut self.connection, &mut self.known);
        let done = done(self.spool.run(connection, known, spooled, &again).await?, &item.step);
        if let Some(guard) = guard {
            return guard.confirm(connection, known, done, &again).await;
        }
        if done.is_ok() && !matches!(login, LoginEffect::Same) {
            connection.outdate();
        }
        Ok(done)
    }

    /// Takes the host's lock before the first change.
    async fn take_lock(
        &mut self,
        instance: &Instance,
        own: &BTreeSet<Query>,
        planned: &[Change],
    ) -> Result<Result<(), String>, Gone> {
        self.lock.take(&mut self.connection, &mut self.known, instance, own, planned).await
    }

    /// Large files go to the host first; then all changes are one script.
    async fn script(
        &mut self,
        item: &Work,
        instance: &Instance,
        part: Part<'_>,
    ) -> Result<Result<Script, String>, Gone> {
        let task = task_id(&item.step, instance);
        let mut scripts = Vec::new();
        for change in part.changes {
            let mut script = change.script.clone();
            if let Some(upload) = &change.upload {
                match self.uploads.send(&mut self.connection, &task, change, upload, part.deadline).await? {
                    Ok(path) => script = script.arg(path),
                    Err(reason) => return Ok(Err(reason)),
                }
            }
            scripts.push(script);
        }
        Ok(state::one_script(scripts, self.context.project.site_sources().environment()))
    }

    /// Plans again: an empty plan proves the change, and may say why the rest cannot be done now. What takes time
    /// to show is asked again.
    async fn prove(
        &mut self,
        instance: &Instance,
        own: &BTreeSet<Query>,
    ) -> Result<Result<Option<String>, String>, Gone> {
        let InstanceState::Ready { resource, .. } = &instance.state else { return Ok(Ok(None)) };
        let began = Instant::now();
        let mut backoff = Backoff::new(Duration::from_millis(200), Duration::from_secs(2));
        loop {
            let rest = match resource.plan(self.facts()) {
                Ok(rest) if rest.is_empty() => return Ok(Ok(None)),
                Err(Unplannable::Unneeded(_)) => return Ok(Ok(None)),
                Err(Unplannable::Partly(rest, reason)) if rest.is_empty() => return Ok(Ok(Some(reason))),
                Ok(rest) | Err(Unplannable::Partly(rest, _)) => hints::not_converged(&rest),
                Err(Unplannable::Blocked(reason)) => format!("cannot be proven: {reason}"),
                Err(error) => {
                    format!("did not converge: after the change it cannot be planned: {}", unplannable(error))
                }
            };
            if let Some(why) = resource.hopeless(self.facts()) {
                return Ok(Err(why));
            }
            match resource.settle() {
                Some(limit) if began.elapsed() < limit => {
                    tokio::time::sleep(backoff.pause()).await;
                    self.ask(own).await?;
                }
                _ => return Ok(Err(rest)),
            }
        }
    }

    /// Keeps what a task registers, and notifies the handlers of one that changed something.
    fn note(&mut self, item: &Work, outcome: &Outcome) -> Went {
        let went = match outcome {
            Outcome::Unchanged => Went::Unchanged,
            Outcome::Changed { .. } | Outcome::Ran { .. } => Went::Changed,
            Outcome::Skipped(_) | Outcome::Blocked(_) => Went::Left,
            Outcome::Failed(_) => {
                self.standing.fail();
                Went::Failed
            }
        };
        if !item.handler {
            self.tasks.keep_answer(self.known.facts(), item, outcome);
            if went == Went::Changed {
                self.notified.add(&item.step.conduct.notify);
            }
        }
        went
    }

    pub(super) fn finish_task(&mut self, task: TaskRef, outcome: Outcome, seconds: f64, attached: bool) {
        self.standing.finish_task(&self.connection, task, outcome, seconds, attached);
    }

    /// Returns the way in which the thing is given from host to host, when it is.
    fn spread_of(&self, instance: &Instance) -> Option<Spread> {
        let InstanceState::Ready { resource, .. } = &instance.state else { return None };
        resource.spread(self.facts())
    }

    /// Carries out a change whose content may come from any host that has it.
    async fn spread(
        &mut self,
        item: &Work,
        instance: &Instance,
        changes: Vec<Change>,
        spread: &Spread,
        touches: &Touches,
        later: &BTreeSet<Query>,
    ) -> Result<Outcome, Gone> {
        let context = self.context.clone();
        let holders = context.fleet.holders();
        holders.had(&spread.key, &spread.holders);
        // What is fetched is not what was planned: the plan is held against the host now.
        let own = queries(std::slice::from_ref(instance));
        if let Err(reason) = self.take_lock(instance, &own, &changes).await? {
            return Ok(failure(reason, None, ""));
        }
        let mut tries = 0;
        loop {
            let source = match holders.source(&context.cancel, item.step.conduct.timeout, &spread.key).await {
                Ok(source) => source,
                Err(reason) => return Ok(failure(reason, None, "")),
            };
            let host = source.host().map(str::to_owned);
            let changes = match &host {
                None => changes.clone(),
                Some(host) => changes
                    .iter()
                    .map(|change| Change {
                        summary: format!("{} (from {host})", change.summary),
                        script: spread.pull.clone().arg(host.as_str()),
                        upload: None,
                        ..change.clone()
                    })
                    .collect(),
            };
            let outcome = self.attempts(item, instance, changes, true, touches, later).await?;
            let Outcome::Failed(failed) = &outcome else {
                holders.has(&spread.key, &self.host.name);
                return Ok(outcome);
            };
            source.gave_nothing();
            tries += 1;
            let Some(host) = host else { return Ok(outcome) };
            if tries >= COPIES || context.cancel.now() > Stop::No {
                return Ok(outcome);
            }
            self.warn(format!(
                "`{}`: no copy from {host}, another host is tried: {}",
                instance.name, failed.message
            ));
        }
    }

    /// Reboots the host and goes on when it is back and nothing asks for a reboot any more.
    async fn reboot(
        &mut self,
        item: &Work,
        instance: &Instance,
        changes: &[Change],
        later: &BTreeSet<Query>,
    ) -> Result<Outcome, Gone> {
        if let Some(reason) = boot::must_stay_up(&self.context.project, &self.host) {
            return Ok(Outcome::Blocked(format!("reboot pending: {reason}")));
        }
        let own = queries(std::slice::from_ref(instance));
        let failed = |message: String, output: &str| failure(message, None, output);
        let before: Vec<Change> =
            changes.iter().filter(|change| change.disruption != Disruption::Reboot).cloned().collect();
        let Some(last) = changes.iter().find(|change| change.disruption == Disruption::Reboot) else {
            return Ok(failed("there is no reboot in its plan".to_owned(), ""));
        };
        if let Err(reason) = self.take_lock(instance, &own, changes).await? {
            return Ok(failed(reason, ""));
        }
        let deadline = Deadline::new(item.step.conduct.timeout, Instant::now());
        let part = Part { changes: &before, last: true, deadline };
        if !before.is_empty()
            && let Err((reason, output)) =
                self.change(item, instance, part, &Touches::Everything, later).await?
        {
            return Ok(failed(format!("not rebooted: {reason}"), &output));
        }
        let old = boot::id(self.facts());
        let began = Instant::now();
        let timeout = item.step.conduct.timeout;
        let policy = &self.context.project.policy;
        let cycle = policy.power_cycle.as_ref().filter(|_| self.service == Service::Held && !self.cycled);
        let mut cycle = cycle.and_then(|cycle| cycle.line().words(&self.host).ok());
        let may_cycle = cycle.is_some();
        let new = boot::carry_out(&mut self.connection, &last.script, &old, timeout, &mut cycle).await?;
        // Never twice in a run.
        self.cycled |= may_cycle && cycle.is_none();
        let new = match new {
            Ok(new) => new,
            Err(reason) => return Ok(failed(reason, "")),
        };
        let output = format!("boot id {old} -> {new}, back after {}\n", human(began.elapsed()));
        self.after_boot(&own, later).await?;
        let InstanceState::Ready { resource, .. } = &instance.state else {
            return Ok(failed("it has no plan".to_owned(), &output));
        };
        Ok(match resource.plan(self.facts()) {
            Ok(rest) if rest.is_empty() => {
                let mut views: Vec<_> = changes.iter().map(change_view).collect();
                if let Some(view) = views.last_mut() {
                    view.diff = format!("{}  boot id: {old} -> {new}\n", view.diff);
                }
                Outcome::Changed { changes: views, output, blocked: None }
            }
            Ok(rest) => {
                let rest: Vec<_> = rest.into_iter().map(|change| change.summary).collect();
                failed(
                    format!("did not converge: after the reboot it still needs {}", rest.join(", ")),
                    &output,
                )
            }
            Err(error) => failed(format!("after the reboot: {}", unplannable(error)), &output),
        })
    }

    /// Everything may be different now: what is needed is asked anew, and tasks that waited for the
    /// boot are looked at again.
    async fn after_boot(&mut self, own: &BTreeSet<Query>, later: &BTreeSet<Query>) -> Result<(), Gone> {
        self.spool.after_boot();
        self.notified.after_boot(&self.boots(), &self.context.project.cluster);
        self.known.forget(&Touches::Everything);
        let mut wanted: BTreeSet<Query> = own.union(later).cloned().collect();
        wanted.extend(self.boot.queries());
        wanted.remove(&RebootQuery.into());
        self.ask(&wanted).await?;
        self.boot.look_again(self.known.facts());
        self.answer_reboot(&self.notified.due().clone());
        Ok(())
    }
}

/// Converts the report of a change to its result, for people.
fn done(report: SpoolReport, step: &Step) -> Done {
    match report {
        SpoolReport::Ended(0, output) => Ok(output),
        SpoolReport::Ended(status, output) => {
            let cause = causes::find(&output).map(|cause| cause.message);
            let last = cause.unwrap_or_else(|| hints::last_line(&output));
            let message = if last.is_empty() {
                format!("ended with status {status}")
            } else if step.runs_anything() {
                // The last line of a program of others may say that all is well.
                format!("{last} (status {status})")
            } else {
                last
            };
            Err((message, output))
        }
        SpoolReport::Lost(output) => {
            Err(("its process is gone without a status: it was killed".to_owned(), output))
        }
        SpoolReport::Refused(reason) => Err((lock::text(&reason), String::new())),
        SpoolReport::Left(reason) | SpoolReport::Failed(reason) => Err((reason, String::new())),
        SpoolReport::Unstarted => Err(("it was not started".to_owned(), String::new())),
    }
}

/// Whether it writes what a file holds.
fn is_content(change: &Change) -> bool {
    matches!(change.detail, Detail::Text { .. })
}

/// Describes what is run, for people: a command as it stands, else what the changes say of themselves. Their
/// script does not say which of several failed.
fn command(changes: &[Change]) -> Option<String> {
    match changes {
        [Change { detail: Detail::Command(text), .. }] => Some(text.clone()),
        [] => None,
        _ => Some(changes.iter().map(|change| change.summary.as_str()).collect::<Vec<_>>().join(", ")),
    }
}

/// Changes in their order, in parts that carry so many bytes at most, or one change.
fn parts(changes: &[Change], most: usize) -> impl Iterator<Item = &[Change]> {
    let mut sum = changes.first().map_or(0, |change| carried(&change.script));
    changes.chunk_by(move |_, next| {
        let next = carried(&next.script);
        let fits = sum.saturating_add(next) <= most;
        sum = if fits { sum + next } else { next };
        fits
    })
}

/// Bytes of data that a script carries.
fn carried(script: &Script) -> usize {
    let of = |arg: &Arg| match arg {
        Arg::Word(text) | Arg::Text(text) | Arg::Packed(text) => text.len(),
        Arg::Bytes(bytes) => bytes.len(),
        Arg::Script(script) => carried(script),
        Arg::Scripts(scripts) | Arg::Tasks(scripts) => scripts.iter().map(carried).sum(),
    };
    script.args.iter().map(of).sum()
}
