//! The changes of one task, carried out and proven: as often as the task may be tried, from host to host, or by a
//! reboot.

use std::collections::BTreeSet;
use std::time::Duration;

use tokio::time::Instant;

use super::boot;
use super::cancel::Stop;
use super::causes;
use super::connection::{Gone, Stuck};
use super::deadline::Deadline;
use super::hints::{self, failure, human, unplannable};
use super::lock;
use super::rollback::{Done, RollbackTimer};
use super::session::{Service, Session};
use super::spool::Spooled;
use super::state::{self, SpoolReport, SpoolRequest};
use super::work::{Work, queries, task_id};
use crate::backoff::Backoff;
use crate::events::{Attempt, ChangeView, Outcome};
use crate::facts::reboot::RebootQuery;
use crate::facts::{Query, Touches};
use crate::plan::{change_view, spool_key};
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

impl Session {
    /// Changes and proves, as often as the task may be tried.
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
            let outcome = match self.in_parts(item, instance, &changes, touches, later).await? {
                Ok(output) if !provable => Outcome::Ran { changes: views.clone(), output },
                Ok(output) => match self.prove(instance, &own).await {
                    Ok(blocked) => Outcome::Changed { changes: views.clone(), output, blocked },
                    Err(stuck) => failure(stuck.reason()?, command(&changes), &output),
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
        if let Err(stuck) = self.take_lock(instance, &own, changes).await {
            let reason = stuck.reason()?;
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
        let script = match self.script(item, instance, part).await {
            Ok(script) => script,
            Err(stuck) => return Ok(Err((stuck.reason()?, String::new()))),
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
            LoginEffect::Guarded(undo) => match RollbackTimer::arm(&mut self.connection, undo).await {
                Ok(guard) => Some(guard).filter(|_| undo.in_force),
                Err(stuck) => return Ok(Err((stuck.reason()?, String::new()))),
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
    ) -> Result<(), Stuck> {
        self.lock.take(&mut self.connection, &mut self.known, instance, own, planned).await
    }

    /// Large files go to the host first; then all changes are one script.
    async fn script(&mut self, item: &Work, instance: &Instance, part: Part<'_>) -> Result<Script, Stuck> {
        let task = task_id(&item.step, instance);
        let mut scripts = Vec::new();
        for change in part.changes {
            let mut script = change.script.clone();
            if let Some(upload) = &change.upload {
                let connection = &mut self.connection;
                script =
                    script.arg(self.uploads.send(connection, &task, change, upload, part.deadline).await?);
            }
            scripts.push(script);
        }
        let environment = self.context.project.site_sources().environment();
        state::one_script(scripts, environment).map_err(Stuck::Failed)
    }

    /// Plans again: an empty plan proves the change, and may say why the rest cannot be done now. What takes time
    /// to show is asked again.
    pub(super) async fn prove(
        &mut self,
        instance: &Instance,
        own: &BTreeSet<Query>,
    ) -> Result<Option<String>, Stuck> {
        let InstanceState::Ready { resource, .. } = &instance.state else { return Ok(None) };
        let began = Instant::now();
        let mut backoff = Backoff::new(Duration::from_millis(200), Duration::from_secs(2));
        loop {
            let rest = match resource.plan(self.facts()) {
                Ok(rest) if rest.is_empty() => return Ok(None),
                Err(Unplannable::Unneeded(_)) => return Ok(None),
                Err(Unplannable::Partly(rest, reason)) if rest.is_empty() => return Ok(Some(reason)),
                Ok(rest) | Err(Unplannable::Partly(rest, _)) => hints::not_converged(&rest),
                Err(Unplannable::Blocked(reason)) => format!("cannot be proven: {reason}"),
                Err(error) => {
                    format!("did not converge: after the change it cannot be planned: {}", unplannable(error))
                }
            };
            if let Some(why) = resource.hopeless(self.facts()) {
                return Err(Stuck::Failed(why));
            }
            match resource.settle() {
                Some(limit) if began.elapsed() < limit => {
                    tokio::time::sleep(backoff.pause()).await;
                    self.ask(own).await?;
                }
                _ => return Err(Stuck::Failed(rest)),
            }
        }
    }

    /// Returns the way in which the thing is given from host to host, when it is.
    pub(super) fn spread_of(&self, instance: &Instance) -> Option<Spread> {
        let InstanceState::Ready { resource, .. } = &instance.state else { return None };
        resource.spread(self.facts())
    }

    /// Carries out a change whose content may come from any host that has it.
    pub(super) async fn spread(
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
        if let Err(stuck) = self.take_lock(instance, &own, &changes).await {
            let reason = stuck.reason()?;
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
    pub(super) async fn reboot(
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
        if let Err(stuck) = self.take_lock(instance, &own, changes).await {
            let reason = stuck.reason()?;
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
        let cycle = policy.power_cycle.as_ref().filter(|_| self.service == Service::Drained && !self.cycled);
        let mut cycle = cycle.and_then(|cycle| cycle.line().words(&self.host).ok());
        let may_cycle = cycle.is_some();
        let new = boot::carry_out(&mut self.connection, &last.script, &old, timeout, &mut cycle).await;
        // Never twice in a run.
        self.cycled |= may_cycle && cycle.is_none();
        let new = match new {
            Ok(new) => new,
            Err(stuck) => return Ok(failed(stuck.reason()?, "")),
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

    /// Makes known to `reboot` tasks why one is due.
    pub(super) fn answer_reboot(&mut self, notified: &BTreeSet<String>) {
        let reasons = self.boot.reasons(&self.context.project.handlers, notified);
        self.known.tell_reboot(reasons);
    }
}

/// Converts the report of a change to its result, for people.
pub(super) fn done(report: SpoolReport, step: &Step) -> Done {
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
pub(super) fn is_content(change: &Change) -> bool {
    matches!(change.detail, Detail::Text { .. })
}

/// Describes what is run, for people: a command as it stands, else the changes in their own words. Their script does
/// not say which of several failed.
pub(super) fn command(changes: &[Change]) -> Option<hints::Attempted> {
    match changes {
        [Change { detail: Detail::Command(text), .. }] => Some((Attempt::Command, text.clone())),
        [] => None,
        _ => {
            let summaries: Vec<&str> = changes.iter().map(|change| change.summary.as_str()).collect();
            Some((Attempt::Changes, summaries.join(", ")))
        }
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
