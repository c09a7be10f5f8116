//! One change on a host: lock, spool, deadline, lost connection.

use std::collections::BTreeSet;
use std::time::Duration;

use super::cancel::Stop;
use super::session::{Gone, Lock, Session, human};
use super::stage::{Work, task_id};
use super::state::{self, LockOwner, SpoolReport, SpoolRequest, SpoolState};
use crate::events::{EventKind, HostStatus};
use crate::facts::{self, Answer, BatchPart, Query, Touches};
use crate::plan::spool_key;
use crate::playbook::{Instance, InstanceState, OnDeadline};
use crate::resources::{Change, Login};
use crate::transport::{Arg, Frame, Part, Script, TransportError};

/// What of a command's output travels: what the spool keeps, and a little.
const OUTPUT_LIMIT: usize = 640 << 10;

/// How long work of an earlier run is followed before the host is given up.
const FOLLOW: Duration = Duration::from_hours(2);

/// What a change came to: its output, or what is wrong and its output.
pub(super) type Done = Result<String, (String, String)>;

impl Session {
    /// Carries out changes of one task and asks again what they touched. `planned` is all that the
    /// task plans.
    pub(super) async fn change(
        &mut self,
        item: &Work,
        instance: &Instance,
        changes: &[Change],
        planned: &[Change],
        touches: &Touches,
        later: &BTreeSet<Query>,
    ) -> Result<Done, Gone> {
        let own = super::stage::queries(std::slice::from_ref(instance));
        if let Err(reason) = self.take_lock(instance, &own, planned).await? {
            return Ok(Err((reason, String::new())));
        }
        let script = match self.script(changes).await {
            Ok(script) => script,
            Err(reason) => return Ok(Err((reason, String::new()))),
        };
        let (leave, detach, login) = match &instance.state {
            InstanceState::Ready { resource, .. } => {
                (resource.leave(), item.step.conduct.detach, resource.login(&self.facts))
            }
            InstanceState::Skipped(_) | InstanceState::Waiting(_) | InstanceState::Failed(_) => {
                (false, false, Login::Same)
            }
        };
        if let Login::Guarded(undo) = &login
            && let Err(reason) = self.arm(undo).await?
        {
            return Ok(Err((reason, String::new())));
        }
        let armed = tokio::time::Instant::now();
        let leave = item.step.conduct.on_deadline.map_or(leave, |word| word == OnDeadline::Leave);
        let id = task_id(&item.step, instance);
        let key = spool_key(&item.step.id, instance.item, &script);
        let run = self.context.emitter.run().to_owned();
        let spool = state::spool(SpoolRequest {
            key: &key,
            name: &id,
            run: &run,
            detach,
            user: item.step.conduct.become_user.as_deref(),
            cluster: &self.context.project.cluster,
            script,
            notify: &item.step.conduct.notify,
        });
        let part = Part {
            name: "task".to_owned(),
            script: spool,
            deadline: item.step.conduct.timeout,
            limit: OUTPUT_LIMIT,
        };
        let again = self.touched(touches, &own, later);
        let report = self.run_spooled(part, &key, leave, &again).await?;
        if !matches!(report, SpoolReport::Left(_)) {
            self.seen.push(key);
        }
        let done = match report {
            SpoolReport::Ended(0, output) => Ok(output),
            SpoolReport::Ended(status, output) => {
                let last = super::hints::last_line(&output);
                let message = if last.is_empty() { format!("ended with status {status}") } else { last };
                Err((message, output))
            }
            SpoolReport::Lost(output) => {
                Err(("its process is gone without a status: it was killed".to_owned(), output))
            }
            SpoolReport::Refused(reason) => Err((lock_text(&reason), String::new())),
            SpoolReport::Left(reason) | SpoolReport::Failed(reason) => Err((reason, String::new())),
        };
        match login {
            Login::Guarded(undo) if undo.in_force => self.confirm(&undo, done, armed, &again).await,
            Login::Same => Ok(done),
            Login::Fresh | Login::Guarded(_) => {
                self.stale |= done.is_ok();
                Ok(done)
            }
        }
    }

    /// Takes what a change may have touched from the facts; of that, what is still of use is to be
    /// asked again, with the task's own queries.
    pub(super) fn touched(
        &mut self,
        touches: &Touches,
        own: &BTreeSet<Query>,
        later: &BTreeSet<Query>,
    ) -> BTreeSet<Query> {
        let mut again = self.facts.forget(touches);
        again.retain(|query| own.contains(query) || later.contains(query) || *query == Query::Filesystems);
        again.extend(own.iter().cloned());
        again
    }

    /// Large files go to the host first; then all changes are one script.
    async fn script(&mut self, changes: &[Change]) -> Result<Script, String> {
        let mut scripts = Vec::new();
        for change in changes {
            let mut script = change.script.clone();
            if let Some(local) = &change.upload {
                let Lock::Held { uploads } = &self.lock else {
                    return Err("the lock is not held".to_owned());
                };
                let name = uuid::Uuid::now_v7().simple().to_string();
                let remote = format!("{uploads}/{name}");
                let mut file = tokio::fs::File::open(local)
                    .await
                    .map_err(|error| format!("cannot read {local}: {error}"))?;
                let Some(connection) = self.remote.as_mut() else {
                    return Err("there is no connection".to_owned());
                };
                connection
                    .stream(&remote, &mut file)
                    .await
                    .map_err(|error| format!("cannot send {local}: {error}"))?;
                script = script.arg(remote);
            }
            scripts.push(script);
        }
        let proxy = self.context.project.site_sources().environment();
        if scripts.len() == 1 && proxy.is_none() {
            return scripts.pop().ok_or_else(|| "nothing to run".to_owned());
        }
        let script = match proxy {
            Some((proxy, direct)) => {
                Script::new(crate::shell!("resources/proxy.sh", "resources/each.sh")).arg(proxy).arg(direct)
            }
            None => Script::new(crate::shell!("resources/each.sh")),
        };
        Ok(script.arg(Arg::Scripts(scripts)))
    }

    /// Runs the spool part with the re-asked queries behind it, through deadlines and lost
    /// connections.
    async fn run_spooled(
        &mut self,
        part: Part,
        key: &str,
        leave: bool,
        again: &BTreeSet<Query>,
    ) -> Result<SpoolReport, Gone> {
        let name = part.name.clone();
        let timeout = part.deadline;
        let deadline = tokio::time::Instant::now() + timeout;
        let batch = facts::batch(again, self.context.deadlines.query);
        let mut first = part;
        let mut losses = 0;
        loop {
            let frame = self.frame_with(first.clone(), &batch);
            let cancel = self.context.cancel.clone();
            let (result, ends) = tokio::select! {
                biased;
                ran = self.run_frame(&frame) => ran,
                () = cancel.reached(Stop::End) => {
                    self.revive("stopped").await?;
                    self.end_task(key).await;
                    return Ok(SpoolReport::Failed("stopped by the second Ctrl-C; its processes on the host were ended".to_owned()));
                }
            };
            let mut report = None;
            let mut answered = BTreeSet::new();
            for end in &ends {
                if end.index == 0 {
                    report = Some(SpoolReport::parse_redacted(&end.output, &self.context.secrets));
                } else if let Some(part) = batch.get(end.index - 1) {
                    self.facts.absorb(part, end);
                    answered.extend(part.queries.iter().cloned());
                }
            }
            let rest =
                |answered: &BTreeSet<Query>| again.difference(answered).cloned().collect::<BTreeSet<_>>();
            match (result, report) {
                (Ok(()), Some(report)) => return Ok(report),
                (Ok(()), None) => return Ok(SpoolReport::Failed(format!("`{name}` gave no result"))),
                // A re-asked query hangs: the change itself ended well.
                (Err(TransportError::PartTimedOut { index, .. }), Some(report)) => {
                    if let Some(hung) = index.checked_sub(1).and_then(|index| batch.get(index)) {
                        self.facts.unknown(hung, "gave no answer within its deadline");
                        answered.extend(hung.queries.iter().cloned());
                    }
                    self.revive("a query hangs").await?;
                    self.ask(&rest(&answered)).await?;
                    return Ok(report);
                }
                (Err(TransportError::PartTimedOut { .. }), None) => {
                    self.revive("a task missed its deadline").await?;
                    if leave {
                        let text = format!(
                            "still running after {}: ending it half-way would break the host, so it goes on; the next run attaches to it",
                            human(timeout)
                        );
                        return Ok(SpoolReport::Left(text));
                    }
                    self.end_task(key).await;
                    self.ask(again).await?;
                    return Ok(SpoolReport::Failed(format!(
                        "no end within its deadline of {}; its processes were ended",
                        human(timeout)
                    )));
                }
                (Err(TransportError::Lost { message }), report) => {
                    losses += 1;
                    self.reconnect(&message).await?;
                    if let Some(report) = report {
                        self.ask(&rest(&answered)).await?;
                        return Ok(report);
                    }
                    // Either the frame came through, and the spool has the task; or it did not,
                    // and nothing was run.
                    let left = deadline.saturating_duration_since(tokio::time::Instant::now());
                    self.ask(&BTreeSet::from([Query::State])).await?;
                    let started = self.in_spool(key);
                    if losses < 6 && !started && first.name == name {
                        // A cut frame runs nothing: it is sent again.
                        first.deadline = left.max(Duration::from_secs(5));
                        continue;
                    }
                    if losses < 6 && started {
                        self.emit(EventKind::Attached { host: self.host.name.clone(), task: name.clone() });
                        first = Part {
                            name: "follow".to_owned(),
                            script: state::follow(key),
                            deadline: left.max(Duration::from_secs(5)),
                            limit: OUTPUT_LIMIT,
                        };
                        continue;
                    }
                    self.ask(again).await?;
                    return Ok(SpoolReport::Failed(format!(
                        "the connection was lost again and again, and its state is gone from the host: {message}"
                    )));
                }
                (Err(error), _) => return Ok(SpoolReport::Failed(error.to_string())),
            }
        }
    }

    fn in_spool(&self, key: &str) -> bool {
        match self.facts.get(&Query::State) {
            Some(Answer::State(text)) => state::HostState::parse(text)
                .is_ok_and(|state| state.spool.iter().any(|entry| entry.key == key)),
            _ => false,
        }
    }

    fn frame_with(&self, first: Part, batch: &[BatchPart]) -> Frame {
        let mut parts = vec![first];
        parts.extend(batch.iter().map(|part| part.part.clone()));
        Frame { prelude: self.locked_prelude(), parts, secrets: self.context.secrets.clone() }
    }

    /// Functions and the lock: taken by the first frame with a change, a no-op afterwards.
    fn locked_prelude(&self) -> String {
        format!(
            "{}\nprovision_lock {} {}\n",
            state::FUNCTIONS,
            self.context.emitter.run(),
            self.context.controller
        )
    }

    async fn revive(&mut self, why: &str) -> Result<(), Gone> {
        self.lock = Lock::Free;
        let Some(remote) = self.remote.as_mut() else { return Ok(()) };
        match remote.revive().await {
            Ok(()) => Ok(()),
            Err(TransportError::Lost { message }) => self.reconnect(&message).await,
            Err(error) => {
                let reason = format!("{why}, and the host does not take a second session: {error}");
                Err(Gone(HostStatus::Quarantined { reason }))
            }
        }
    }

    async fn end_task(&mut self, key: &str) {
        let part = Part {
            name: "end-task".to_owned(),
            script: state::end_task(key),
            deadline: self.context.deadlines.query,
            limit: 4096,
        };
        if let Err(error) = self.run_part(part, state::FUNCTIONS.to_owned()).await {
            self.warn(format!("its processes on the host could not be ended: {error}"));
        }
    }

    /// Takes the host's lock before the first change, asks again what that change was planned on
    /// and refuses when it moved.
    pub(super) async fn take_lock(
        &mut self,
        instance: &Instance,
        own: &BTreeSet<Query>,
        planned: &[Change],
    ) -> Result<Result<(), String>, Gone> {
        if matches!(self.lock, Lock::Held { .. }) {
            return Ok(Ok(()));
        }
        let mut taken_over = false;
        // Runs of other clusters write on the same controller; each is short.
        let mut patience = if self.host.index >= self.context.project.hosts.len() { 60 } else { 0 };
        loop {
            let part = Part {
                name: "lock".to_owned(),
                script: state::report_lock(),
                deadline: self.context.deadlines.query,
                limit: 4096,
            };
            let batch = facts::batch(own, self.context.deadlines.query);
            let frame = self.frame_with(part, &batch);
            let (result, ends) = self.run_frame(&frame).await;
            let mut report = String::new();
            for end in &ends {
                if end.index == 0 {
                    report = String::from_utf8_lossy(&end.output).into_owned();
                } else if let Some(part) = batch.get(end.index - 1) {
                    self.facts.absorb(part, end);
                }
            }
            match result {
                Ok(()) => {}
                Err(TransportError::Lost { message }) => {
                    self.reconnect(&message).await?;
                    continue;
                }
                Err(error) => {
                    return Err(Gone(HostStatus::Quarantined {
                        reason: format!("its lock could not be taken: {error}"),
                    }));
                }
            }
            let mut lines = report.lines();
            let state = lines.next().unwrap_or("").to_owned();
            let uploads = format!("{}/upload", lines.next().unwrap_or("/run/provision"));
            match state.as_str() {
                "held" | "shared" => self.lock = Lock::Held { uploads },
                "none" => {
                    self.warn("there is no `flock` on this host: two runs at once are not kept apart here");
                    self.lock = Lock::Held { uploads };
                }
                other => {
                    if patience > 0 && other.starts_with("busy") {
                        patience -= 1;
                        tokio::time::sleep(Duration::from_secs(1)).await;
                        continue;
                    }
                    let owner = other.strip_prefix("busy ").and_then(LockOwner::parse);
                    match owner {
                        Some(owner)
                            if !taken_over
                                && owner.controller == self.context.controller
                                && !(self.context.alive)(&owner.run) =>
                        {
                            taken_over = true;
                            self.warn(format!(
                                "its lock was still held by run {}, whose controller is dead; taken over",
                                owner.run
                            ));
                            self.take_over(&owner).await;
                            continue;
                        }
                        _ => {
                            self.locked = other.starts_with("busy");
                            return Ok(Err(lock_text(other)));
                        }
                    }
                }
            }
            if let InstanceState::Ready { resource, .. } = &instance.state
                && resource.plan(&self.facts).is_ok_and(|now| now != planned)
            {
                return Ok(Err(
                    "the host changed between plan and apply: something else works on it; run apply again"
                        .to_owned(),
                ));
            }
            return Ok(Ok(()));
        }
    }

    async fn take_over(&mut self, owner: &LockOwner) {
        let part = Part {
            name: "take-over".to_owned(),
            script: state::take_over(owner),
            deadline: self.context.deadlines.query,
            limit: 4096,
        };
        if let Err(error) = self.run_part(part, state::FUNCTIONS.to_owned()).await {
            tracing::debug!(host = %self.host.name, %error, "take over");
        }
    }

    /// Follows what earlier connections or runs started until it ends.
    pub(super) async fn attach(&mut self) -> Result<(), Gone> {
        for entry in std::mem::take(&mut self.state.spool) {
            if entry.state == SpoolState::Running {
                self.emit(EventKind::Attached { host: self.host.name.clone(), task: entry.name.clone() });
            }
            let mut losses = 0;
            let report = loop {
                let part = Part {
                    name: "follow".to_owned(),
                    script: state::follow(&entry.key),
                    deadline: FOLLOW,
                    limit: OUTPUT_LIMIT,
                };
                let cancel = self.context.cancel.clone();
                let ran = tokio::select! {
                    biased;
                    ran = self.run_part(part, state::FUNCTIONS.to_owned()) => ran,
                    () = cancel.reached(Stop::Finish) => {
                        return Err(Gone(HostStatus::NotStarted(format!("stopped while `{}` of an earlier run goes on", entry.name))));
                    }
                };
                match ran {
                    Ok(end) => break SpoolReport::parse_redacted(&end.output, &self.context.secrets),
                    Err(TransportError::Lost { message }) if losses < 5 => {
                        losses += 1;
                        self.reconnect(&message).await?;
                    }
                    Err(error) => {
                        let reason =
                            format!("`{}` of an earlier run could not be followed: {error}", entry.name);
                        return Err(Gone(HostStatus::Quarantined { reason }));
                    }
                }
            };
            self.seen.push(entry.key);
            self.inherited.insert(entry.name, report);
        }
        Ok(())
    }
}

/// What stands in the way of the lock, for people.
fn lock_text(state: &str) -> String {
    if let Some(directory) = state.strip_prefix("unwritable ") {
        return format!(
            "cannot write the state directory {directory}: No space left, or a read-only file system"
        );
    }
    match state.strip_prefix("busy ").and_then(LockOwner::parse) {
        Some(owner) => {
            format!("another run works on this host: run {} of controller {}", owner.run, owner.controller)
        }
        None if state.starts_with("busy") => "another run works on this host".to_owned(),
        None => format!("its lock could not be taken: {state}"),
    }
}
