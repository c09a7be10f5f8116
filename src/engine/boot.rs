//! Reboots: what asks for one, the boot itself, and what must be true afterwards.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use super::cancel::Stop;
use super::execute::failure;
use super::session::{Gone, Lock, Session, human};
use super::stage::{Work, queries, task_id};
use super::state::{self, HostState};
use crate::events::{EventKind, HostStatus, Outcome};
use crate::facts::{Answer, Query, Touches};
use crate::inventory::TransportKind;
use crate::plan::{Planner, TaskPlan, Verdict, change_view, reboots};
use crate::playbook::{Instance, InstanceState};
use crate::resources::{Change, Disruption, Resource};
use crate::transport::{Part, TransportError};

/// Between two tries to get a host back.
const PAUSE: Duration = Duration::from_secs(3);
/// How long systemd may take until it is done with a boot; a unit that hangs is not waited for.
const SETTLE: Duration = Duration::from_mins(2);

/// A task whose effect waits for a boot.
#[derive(Debug)]
pub(super) struct Waiting {
    reason: String,
    resource: Arc<dyn Resource>,
}

/// What asks for a reboot of a host.
#[derive(Debug, Default)]
pub(super) struct Boot {
    /// Tasks of this run, by their id.
    waiting: BTreeMap<String, Waiting>,
    /// What a `reboot` task said that may not be carried out.
    blocked: Option<String>,
}

impl Boot {
    /// What is left undone at the end.
    pub(super) fn pending(&self) -> Vec<String> {
        let mut reasons: Vec<String> = self.waiting.values().map(|task| task.reason.clone()).collect();
        if reasons.is_empty() {
            reasons.extend(self.blocked.clone());
        }
        reasons.dedup();
        reasons
    }
}

impl Session {
    /// Plans one instance. `notified` are the handlers that are due; what earlier tasks and they say of
    /// a reboot is known to it.
    pub(super) fn plan_one(
        &mut self,
        planner: &mut Planner,
        item: &Work,
        instance: &Instance,
        notified: &BTreeSet<String>,
    ) -> TaskPlan {
        let reboot = item.step.kind == "reboot";
        if reboot {
            self.answer_reboot(notified);
        }
        let plan = planner.plan(instance, &item.step.registers, &self.facts);
        match (&plan.verdict, &instance.state) {
            (Verdict::Blocked(reason), _) if reboot => self.boot.blocked = Some(reason.clone()),
            (
                Verdict::Unchanged | Verdict::Changes(_) | Verdict::Runs(_),
                InstanceState::Ready { resource, .. },
            ) => self.note_reboot(task_id(&item.step, instance), resource),
            _ => {}
        }
        plan
    }

    /// Notes why a task needs a reboot, or that it needs none.
    pub(super) fn note_reboot(&mut self, task: String, resource: &Arc<dyn Resource>) {
        match resource.reboot(&self.facts) {
            Some(reason) => {
                self.boot.waiting.insert(task, Waiting { reason, resource: resource.clone() });
            }
            None => {
                self.boot.waiting.remove(&task);
            }
        }
    }

    /// Makes known to `reboot` tasks why one is due.
    fn answer_reboot(&mut self, notified: &BTreeSet<String>) {
        let mut reasons = BTreeSet::new();
        reasons.extend(self.boot.waiting.values().map(|task| task.reason.clone()));
        let handlers = &self.context.project.handlers;
        let due =
            handlers.iter().filter(|handler| handler.kind == "reboot" && notified.contains(&handler.id));
        reasons.extend(due.map(|handler| format!("`{}` was notified", handler.title)));
        self.facts.insert(Query::Reboot, Answer::Reboot(reasons.into_iter().collect()));
    }

    /// Whether carrying out an instance now would reboot the host.
    pub(super) fn is_due(&mut self, item: &Work, instance: &Instance) -> bool {
        if item.step.kind != "reboot" {
            return false;
        }
        self.answer_reboot(&self.notified.clone());
        let mut planner = Planner::new(self.context.project.policy.reboot);
        matches!(planner.plan(instance, &item.step.registers, &self.facts).verdict, Verdict::Changes(changes) if reboots(&changes))
    }

    /// Why this host cannot be rebooted by this run, whatever asks for it.
    fn must_stay_up(&self) -> Option<String> {
        if self.host.transport == TransportKind::Local {
            return Some("it is the machine that provision runs on: reboot it yourself".to_owned());
        }
        let names = [self.host.name.as_str(), self.host.address.as_str()];
        let behind = self.context.project.online().find(|other| {
            other.name != self.host.name
                && other.ssh.jump.iter().any(|jump| {
                    let jump = jump.rsplit('@').next().unwrap_or(jump);
                    names.iter().any(|name| {
                        jump == *name || jump.strip_prefix(name).is_some_and(|rest| rest.starts_with(':'))
                    })
                })
        });
        behind.map(|other| {
            format!(
                "{} is reached through it: reboot it in a run of its own, with `--hosts {}`",
                other.name, self.host.name
            )
        })
    }

    /// Reboots the host and goes on when it is back and nothing asks for a reboot any more.
    pub(super) async fn reboot(
        &mut self,
        item: &Work,
        instance: &Instance,
        changes: &[Change],
        later: &BTreeSet<Query>,
    ) -> Result<Outcome, Gone> {
        if let Some(reason) = self.must_stay_up() {
            return Ok(Outcome::Blocked(format!("reboot pending: {reason}")));
        }
        let own = queries(std::slice::from_ref(instance));
        let failed = |message: String, output: &str| failure(&item.step, message, None, output);
        let before: Vec<Change> =
            changes.iter().filter(|change| change.disruption != Disruption::Reboot).cloned().collect();
        let Some(boot) = changes.iter().find(|change| change.disruption == Disruption::Reboot) else {
            return Ok(failed("there is no reboot in its plan".to_owned(), ""));
        };
        if before.is_empty() {
            if let Err(reason) = self.take_lock(instance, &own, changes).await? {
                return Ok(failed(reason, ""));
            }
        } else if let Err((reason, output)) =
            self.change(item, instance, &before, changes, &Touches::Everything, later).await?
        {
            return Ok(failed(format!("not rebooted: {reason}"), &output));
        }
        let old = self.boot_id();
        let began = Instant::now();
        let part = Part {
            name: "reboot".to_owned(),
            script: boot.script.clone(),
            deadline: self.context.deadlines.query,
            limit: 4096,
        };
        match self.run_part(part, state::FUNCTIONS.to_owned()).await {
            Ok(end) if end.status != 0 => {
                let output = String::from_utf8_lossy(&end.output).into_owned();
                return Ok(failed(format!("it does not reboot (status {})", end.status), &output));
            }
            // It may be faster than its answer.
            Ok(_) | Err(TransportError::Lost { .. }) => {}
            Err(error) => return Ok(failed(format!("it was not told to reboot: {error}"), "")),
        }
        self.drop_remote().await;
        let new = match self.wait_for_boot(&old, item.step.conduct.timeout).await? {
            Ok(new) => new,
            Err(reason) => return Ok(failed(reason, "")),
        };
        let output = format!("boot id {old} -> {new}, back after {}\n", human(began.elapsed()));
        self.after_boot(&own, later).await?;
        let InstanceState::Ready { resource, .. } = &instance.state else {
            return Ok(failed("it has no plan".to_owned(), &output));
        };
        Ok(match resource.plan(&self.facts) {
            Ok(rest) if rest.is_empty() => {
                let mut views: Vec<_> = changes.iter().map(change_view).collect();
                if let Some(view) = views.last_mut() {
                    view.diff = format!("{}  boot id: {old} -> {new}\n", view.diff);
                }
                Outcome::Changed { changes: views, output }
            }
            Ok(rest) => {
                let rest: Vec<_> = rest.into_iter().map(|change| change.summary).collect();
                failed(
                    format!("did not converge: after the reboot it still needs {}", rest.join(", ")),
                    &output,
                )
            }
            Err(error) => {
                failed(format!("after the reboot: {}", super::execute::unplannable(error)), &output)
            }
        })
    }

    fn boot_id(&self) -> String {
        let id = self.facts.base("boot").and_then(|boot| boot.get("id")?.as_str());
        id.unwrap_or_default().to_owned()
    }

    /// Logs in until the host has another boot id than `old`; that one.
    async fn wait_for_boot(&mut self, old: &str, timeout: Duration) -> Result<Result<String, String>, Gone> {
        let end = Instant::now() + timeout;
        let mut last = String::new();
        let cancel = self.context.cancel.clone();
        loop {
            tokio::select! {
                biased;
                () = cancel.reached(Stop::End) => {
                    let reason = "stopped while it reboots".to_owned();
                    return Err(Gone(HostStatus::Quarantined { reason }));
                }
                () = tokio::time::sleep(PAUSE) => {}
            }
            let mut now = String::new();
            match self.context.transport.open(&self.host, self.context.deadlines.connect).await {
                Ok(remote) => {
                    self.remote = Some(remote);
                    if let Some((id, state)) = self.booted().await {
                        if id != old && !id.is_empty() {
                            self.let_settle(state).await;
                            return Ok(Ok(id));
                        }
                        now = id;
                    }
                }
                Err(error) => last = error.to_string(),
            }
            if Instant::now() >= end {
                if now.is_empty() {
                    let reason = format!("not back within {} after its reboot: {last}", human(timeout));
                    return Err(Gone(HostStatus::Quarantined { reason }));
                }
                return Ok(Err(format!(
                    "it did not reboot within {}: its boot id is still {now}",
                    human(timeout)
                )));
            }
            self.drop_remote().await;
        }
    }

    /// Boot id and state of systemd.
    async fn booted(&mut self) -> Option<(String, String)> {
        let part = Part {
            name: "booted".to_owned(),
            script: state::booted(),
            deadline: self.context.deadlines.query,
            limit: 4096,
        };
        let end = self.run_part(part, state::FUNCTIONS.to_owned()).await.ok()?;
        let output = String::from_utf8_lossy(&end.output).into_owned();
        let mut lines = output.lines().map(str::trim);
        Some((lines.next()?.to_owned(), lines.next().unwrap_or_default().to_owned()))
    }

    /// Waits until systemd has started what it starts at boot, or gives that up.
    async fn let_settle(&mut self, mut state: String) {
        let end = Instant::now() + SETTLE;
        while matches!(state.as_str(), "initializing" | "starting") && Instant::now() < end {
            tokio::time::sleep(PAUSE).await;
            match self.booted().await {
                Some((_, now)) => state = now,
                None => return,
            }
        }
        if matches!(state.as_str(), "initializing" | "starting") {
            self.warn(format!("systemd is not done with the boot after {}", human(SETTLE)));
        }
    }

    /// Everything may be different now: what is needed is asked anew, and tasks that waited for the
    /// boot are looked at again.
    async fn after_boot(&mut self, own: &BTreeSet<Query>, later: &BTreeSet<Query>) -> Result<(), Gone> {
        self.lock = Lock::Free;
        self.state = HostState::default();
        self.seen.clear();
        self.inherited.clear();
        let boots: BTreeSet<String> = {
            let handlers = self.context.project.handlers.iter();
            handlers.filter(|handler| handler.kind == "reboot").map(|handler| handler.id.clone()).collect()
        };
        self.notified.retain(|handler| !boots.contains(handler));
        self.boot.blocked = None;
        self.facts.forget(&Touches::Everything);
        let mut wanted: BTreeSet<Query> = own.union(later).cloned().collect();
        wanted.extend(self.boot.waiting.values().flat_map(|task| task.resource.queries()));
        wanted.remove(&Query::Reboot);
        self.ask(&wanted).await?;
        let facts = &self.facts;
        self.boot.waiting.retain(|_, task| match task.resource.reboot(facts) {
            Some(reason) => {
                task.reason = reason;
                true
            }
            None => false,
        });
        self.answer_reboot(&self.notified.clone());
        Ok(())
    }

    /// Says that the host still needs a reboot.
    pub(super) fn tell_reboot(&mut self) {
        let reasons = self.boot.pending();
        if !reasons.is_empty() && !self.is_gone() {
            self.drift = true;
            self.emit(EventKind::RebootPending { host: self.host.name.clone(), reasons });
        }
    }
}
