//! Reboots: what asks for one, what is in the way, and how a host comes back.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use super::cancel::Stop;
use super::connection::{Connection, Gone, Stuck};
use super::context::Context;
use super::hints::{self, human};
use super::{lock, state};
use crate::facts::base::boot;
use crate::facts::{Facts, Query};
use crate::inventory::Host;
use crate::project::Project;
use crate::project::Step;
use crate::resources::Resource;
use crate::transport::{Frame, Part, Script, TransportError};

/// Between two tries to get a host back.
const PAUSE: Duration = Duration::from_secs(3);
/// Time limit for the command that turns a host off and on.
const CYCLE: Duration = Duration::from_mins(2);
/// Time limit for systemd to finish a boot; a unit that hangs is not waited for.
const SETTLE: Duration = Duration::from_mins(2);

/// A task whose effect waits for a boot.
#[derive(Debug)]
struct Waiting {
    reason: String,
    resource: Arc<dyn Resource>,
}

/// Reasons to reboot a host.
#[derive(Debug, Default)]
pub(super) struct Boot {
    /// Tasks of this run, by their id.
    waiting: BTreeMap<String, Waiting>,
    /// Reason why a `reboot` task may not be carried out.
    blocked: Option<String>,
}

impl Boot {
    /// Returns the reasons for a reboot that is still due at the end.
    pub(super) fn pending(&self) -> Vec<String> {
        let mut reasons: Vec<String> = self.waiting.values().map(|task| task.reason.clone()).collect();
        if reasons.is_empty() {
            reasons.extend(self.blocked.clone());
        }
        reasons.dedup();
        reasons
    }

    /// Notes why a task needs a reboot, or that it needs none.
    pub(super) fn note(&mut self, task: String, resource: &Arc<dyn Resource>, facts: &Facts) {
        match resource.reboot(facts) {
            Some(reason) => {
                self.waiting.insert(task, Waiting { reason, resource: resource.clone() });
            }
            None => {
                self.waiting.remove(&task);
            }
        }
    }

    /// Notes why a `reboot` task may not be carried out.
    pub(super) fn block(&mut self, reason: &str) {
        self.blocked = Some(reason.to_owned());
    }

    /// Returns the reasons why a reboot is due, for a `reboot` task.
    pub(super) fn reasons(&self, handlers: &[Step], notified: &BTreeSet<String>) -> Vec<String> {
        let mut reasons = BTreeSet::new();
        reasons.extend(self.waiting.values().map(|task| task.reason.clone()));
        let due = handlers.iter().filter(|handler| handler.reboots() && notified.contains(&handler.id));
        reasons.extend(due.map(|handler| format!("`{}` was notified", handler.title)));
        reasons.into_iter().collect()
    }

    /// Returns the queries of the tasks that wait for a boot.
    pub(super) fn queries(&self) -> BTreeSet<Query> {
        self.waiting.values().flat_map(|task| task.resource.queries()).collect()
    }

    /// Looks again, after a boot, at the tasks that waited for it.
    pub(super) fn look_again(&mut self, facts: &Facts) {
        self.blocked = None;
        self.waiting.retain(|_, task| match task.resource.reboot(facts) {
            Some(reason) => {
                task.reason = reason;
                true
            }
            None => false,
        });
    }
}

/// Returns the reason why this run cannot reboot this host, whatever asks for it.
pub(super) fn must_stay_up(project: &Project, host: &Host) -> Option<String> {
    if host.transport.is_this_machine() {
        return Some("it is the machine that provision runs on: reboot it yourself".to_owned());
    }
    let names = [host.name.as_str(), host.address.as_str()];
    let behind = project.online().find(|other| {
        other.name != host.name
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
            other.name, host.name
        )
    })
}

/// Returns the id of the host's boot; empty where it is not known.
pub(super) fn id(facts: &Facts) -> String {
    facts.base().map(|boot: &boot::Boot| boot.id.clone()).unwrap_or_default()
}

/// Reboots the host with this script and logs in until it has another boot id than `old`; that one.
pub(super) async fn carry_out(
    connection: &mut Connection,
    script: &Script,
    old: &str,
    timeout: Duration,
    cycle: &mut Option<Vec<String>>,
) -> Result<String, Stuck> {
    let mut end = Instant::now() + timeout;
    let mut asked = ask(connection, script).await.map_err(Stuck::Failed)?;
    connection.close().await;
    let mut last = String::new();
    let mut pause = PAUSE;
    let cancel = connection.context().cancel.clone();
    loop {
        tokio::select! {
            biased;
            () = cancel.reached(Stop::End) => {
                let reason = "stopped while it reboots".to_owned();
                return Err(Gone::quarantined(reason).into());
            }
            () = tokio::time::sleep(pause) => {}
        }
        pause = PAUSE;
        let mut now = String::new();
        match connection.log_in().await {
            Ok(()) => {
                if let Some((id, state)) = booted(connection).await {
                    let (boot, _) = id.split_once(' ').unwrap_or((&id, ""));
                    if boot != old && !boot.is_empty() {
                        connection.rebooted_to(&id);
                        let_settle(connection, state).await;
                        return Ok(boot.to_owned());
                    }
                    now = boot.to_owned();
                    // It never arrived. This ends the shell that it was sent to, so that it never will.
                    if !asked {
                        asked = ask(connection, script).await.map_err(Stuck::Failed)?;
                    }
                }
            }
            Err(error) => {
                pause = pause.max(error.spacing());
                last = error.to_string();
            }
        }
        if Instant::now() >= end {
            if now.is_empty() {
                let reason = format!("not back within {} after its reboot: {last}", human(timeout));
                if let Some(words) = cycle.take() {
                    connection.warn(format!("{reason}; it is turned off and on, once"));
                    let (context, host) = (connection.context().clone(), connection.host().clone());
                    match turn_off_and_on(&context, &host, words).await {
                        Ok(()) => {
                            end = Instant::now() + timeout;
                            connection.close().await;
                            continue;
                        }
                        Err(error) => {
                            return Err(Gone::quarantined(format!(
                                "{reason}; `power_cycle` failed: {error}"
                            ))
                            .into());
                        }
                    }
                }
                return Err(Gone::quarantined(reason).into());
            }
            return Err(Stuck::Failed(format!(
                "it did not reboot within {}: its boot id is still {now}",
                human(timeout)
            )));
        }
        connection.close().await;
    }
}

/// Runs the command of the inventory for it, on this machine.
async fn turn_off_and_on(context: &Context, host: &Host, words: Vec<String>) -> Result<(), String> {
    let here = host.here();
    let part = Part {
        name: "power-cycle".to_owned(),
        script: Script::new("\"$@\" 2>&1").args(words),
        deadline: CYCLE,
        limit: 4096,
    };
    let frame = Frame { parts: vec![part], secrets: context.secrets.clone(), ..Frame::default() };
    let mut ended = None;
    let mut remote =
        context.transport.open(&here, context.deadlines.connect).await.map_err(|e| e.to_string())?;
    let result = remote.run(&frame, &mut |end| ended = Some(end)).await;
    remote.close().await;
    result.map_err(|error| error.to_string())?;
    match ended {
        Some(end) if end.status == 0 => Ok(()),
        Some(end) => {
            let output = String::from_utf8_lossy(&end.output).into_owned();
            Err(format!("status {}: {}", end.status, hints::last_line(&output)))
        }
        None => Err("it gave no answer".to_owned()),
    }
}

/// Asks for the reboot, under the lock. Whether that arrived; it may be faster than its answer.
async fn ask(connection: &mut Connection, script: &Script) -> Result<bool, String> {
    let part = connection.short("reboot", script.clone());
    match lock::run_fenced(connection, part).await {
        Ok(end) if end.status != 0 => {
            let output = String::from_utf8_lossy(&end.output);
            Err(format!("it does not reboot (status {}): {}", end.status, output.trim()))
        }
        Ok(_) => Ok(true),
        Err(Stuck::Failed(reason)) => Err(format!("not rebooted: {reason}")),
        Err(Stuck::Gone(TransportError::Lost { .. })) => Ok(false),
        Err(Stuck::Gone(error)) => Err(format!("the reboot could not be started: {error}")),
    }
}

/// Boot id and state of systemd.
async fn booted(connection: &mut Connection) -> Option<(String, String)> {
    let end = connection.run_short("booted", state::booted()).await.ok()?;
    let output = String::from_utf8_lossy(&end.output).into_owned();
    let mut lines = output.lines().map(str::trim);
    Some((lines.next()?.to_owned(), lines.next().unwrap_or_default().to_owned()))
}

/// Waits until systemd has started what it starts at boot, or gives that up.
async fn let_settle(connection: &mut Connection, mut state: String) {
    let end = Instant::now() + SETTLE;
    while matches!(state.as_str(), "initializing" | "starting") && Instant::now() < end {
        tokio::time::sleep(PAUSE).await;
        match booted(connection).await {
            Some((_, now)) => state = now,
            None => return,
        }
    }
    if matches!(state.as_str(), "initializing" | "starting") {
        connection.warn(format!("systemd has not finished the boot after {}", human(SETTLE)));
    }
}
