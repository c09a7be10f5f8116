//! One task on one host, from its plan to its proof.
//!
//! ```text
//!   carry_out                                       note, finish: what it registers, whom it notifies, its event
//!     └ task     plan_one ─ nothing to do ─────────> outcome
//!                   │     └ known after, blocked ──> outcome
//!                turn     another host wrote it ───> outcome
//!                permit   the host is in use, nobody agreed       disruption.rs
//!                   └ attempts (or spread, reboot)                attempt.rs
//!                        change  lock, guard of the way in, spool; asks again what it touched
//!                        prove   an empty plan is the proof
//! ```

use std::collections::BTreeSet;

use tokio::time::Instant;

use super::attempt::{command, done, is_content};
use super::batch::SentTask;
use super::connection::{Gone, Stuck};
use super::hints::{self, HOST_LOST, failure, unplannable};
use super::session::{Containers, Session};
use super::shared_write::{SharedWrite, claim_write};
use super::state::SpoolReport;
use super::work::{Later, Work, queries, task_id, task_ref};
use crate::events::{ChangeView, EventKind, Outcome, TaskRef};
use crate::facts::{Query, Touches};
use crate::plan::{Planner, TaskPlan, TaskVerdict, change_view, reboots};
use crate::project::{Instance, InstanceState};
use crate::resources::Disruption;

/// Result of one task, for the tasks after it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TaskEnd {
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
    ) -> Result<TaskEnd, Gone> {
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
        if went == TaskEnd::Unchanged && !item.handler {
            // Those of a stage are one event.
            self.progress.count(&outcome);
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
            match claim_write(connection, known, item, instance, changes, &touches, later).await? {
                SharedWrite::Write(changes, duty) => (changes, duty),
                SharedWrite::Written => {
                    planner.done(&instance.name);
                    return Ok(Outcome::Unchanged.into());
                }
                SharedWrite::Blocked(reason) => {
                    planner.done(&instance.name);
                    return Ok(Outcome::Blocked(reason).into());
                }
                SharedWrite::Refused(reason) => return Ok(failure(reason, None, "").into()),
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
        let _permit = match self.permit(&context, &task.name, worst).await {
            Ok(permit) => permit,
            Err(stuck) => return Ok(Outcome::Blocked(stuck.reason()?).into()),
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
            let sent = self.send_together(item, instance, &changes, later, planner).await;
            refused = sent.err().map(Stuck::reason).transpose()?;
            if let Some(sent) = self.ahead.take(&id) {
                let sent = SentTask { duty, ..sent };
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

    /// Proves a task that was sent with others.
    async fn sent(&mut self, item: &Work, sent: SentTask, planner: &mut Planner) -> Result<Ended, Gone> {
        let began = Instant::now();
        let SentTask { instance, changes, report, seconds, duty } = sent;
        let views: Vec<ChangeView> = changes.iter().map(change_view).collect();
        let own = queries(std::slice::from_ref(&instance));
        let outcome = match done(report, &item.step) {
            Ok(output) => match self.prove(&instance, &own).await {
                Ok(blocked) => Outcome::Changed { changes: views, output, blocked },
                Err(stuck) => failure(stuck.reason()?, command(&changes), &output),
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

    /// Keeps what a task registers, and notifies the handlers of one that changed something.
    fn note(&mut self, item: &Work, outcome: &Outcome) -> TaskEnd {
        let went = match outcome {
            Outcome::Unchanged => TaskEnd::Unchanged,
            Outcome::Changed { .. } | Outcome::Ran { .. } => TaskEnd::Changed,
            Outcome::Skipped(_) | Outcome::Blocked(_) => TaskEnd::Left,
            Outcome::Failed(_) => {
                self.progress.fail();
                TaskEnd::Failed
            }
        };
        if !item.handler {
            self.tasks.keep_answer(self.known.facts(), item, outcome);
            if went == TaskEnd::Changed {
                self.notified.add(&item.step.conduct.notify);
            }
        }
        went
    }

    pub(super) fn finish_task(&mut self, task: TaskRef, outcome: Outcome, seconds: f64, attached: bool) {
        self.progress.finish_task(&self.connection, task, outcome, seconds, attached);
    }
}
