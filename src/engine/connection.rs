//! The connection to one host: opened, lost and opened anew, and what is said of it.

use std::io::SeekFrom;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::AsyncSeekExt as _;
use tokio::time::Instant;

use super::cancel::{Cancel, Stop};
use super::context::Context;
use super::hints::{self, human};
use super::state;
use crate::backoff::Backoff;
use crate::events::{EventKind, HostStatus};
use crate::inventory::Host;
use crate::resources::Upload;
use crate::transport::{Frame, OnPart, Part, PartEnd, Remote, Script, TransportError, Watch};

/// Reason given for a host that rebooted on its own.
const REBOOTED: &str =
    "it rebooted during the run, and what was done may be gone with it: run the same command again";

/// Status of a host on which nothing more can be done.
#[derive(Debug)]
pub(super) struct Gone(pub HostStatus);

impl Gone {
    /// Whether tasks that ran on the host ended with its boot.
    pub(super) fn with_its_boot(&self) -> bool {
        matches!(&self.0, HostStatus::Quarantined { reason } if reason == REBOOTED)
    }

    pub(super) fn quarantined(reason: String) -> Self {
        Self(HostStatus::Quarantined { reason })
    }
}

/// Reason why a step did not come to its goal.
#[derive(Debug)]
pub(super) enum Stuck<E = String, G = Gone> {
    /// It failed, and the host is still there.
    Failed(E),
    /// Nothing more can be done on the host.
    Gone(G),
}

impl<E> Stuck<E> {
    /// The failure.
    ///
    /// # Errors
    /// When nothing more can be done on the host.
    pub(super) fn reason(self) -> Result<E, Gone> {
        match self {
            Self::Failed(reason) => Ok(reason),
            Self::Gone(gone) => Err(gone),
        }
    }
}

impl<E> From<Gone> for Stuck<E> {
    fn from(gone: Gone) -> Self {
        Self::Gone(gone)
    }
}

/// A frame's end and what its parts gave.
pub(super) type Ran = (Result<(), TransportError>, Vec<PartEnd>);

/// Reason given for a host that did not answer in its [`LAST_TRY`].
const SILENT: &str = "the run was stopped, and the host did not answer";

/// Time that a host has to answer after a run was told to end what it does: somebody waits at the terminal.
const LAST_TRY: Duration = Duration::from_secs(5);

/// Number of lost connections that are tolerated for queries and other steps that may be repeated.
pub(super) const LOSSES: u32 = 3;

/// Number of lost connections after which a change or an upload is given up.
pub(super) const CHANGE_LOSSES: u32 = 6;

/// The connection to one host.
pub(super) struct Connection {
    context: Arc<Context>,
    host: Arc<Host>,
    remote: Option<Box<dyn Remote>>,
    /// Counts the shells on the host: what one of them holds goes with it.
    shell: u64,
    /// Whether the run had the lock of the host: what it left there is its own only while nobody else has it.
    locked: bool,
    /// Boot of the host that the run works on, as `provision_boot` reports it; empty until it is known.
    boot: String,
    /// Whether only a new session sees what was changed.
    stale: bool,
    execs: u64,
}

impl Connection {
    /// To a host that was not touched yet.
    pub(super) fn new(context: Arc<Context>, host: Arc<Host>) -> Self {
        Self {
            context,
            host,
            remote: None,
            shell: 0,
            locked: false,
            boot: String::new(),
            stale: false,
            execs: 0,
        }
    }

    pub(super) fn context(&self) -> &Arc<Context> {
        &self.context
    }

    pub(super) fn host(&self) -> &Host {
        &self.host
    }

    pub(super) fn is_open(&self) -> bool {
        self.remote.is_some()
    }

    /// Number of the shell that frames go to now.
    pub(super) fn shell(&self) -> u64 {
        self.shell
    }

    /// The run has the lock of the host.
    pub(super) fn has_lock(&mut self) {
        self.locked = true;
    }

    /// Whether the run had the lock of the host, in this shell or another.
    pub(super) fn had_lock(&self) -> bool {
        self.locked
    }

    /// The host was rebooted by this run, and the lock went with the boot before.
    pub(super) fn rebooted_to(&mut self, boot: &str) {
        self.works_on(boot);
        self.locked = false;
    }

    /// The run works on this boot of the host: another one ends it.
    pub(super) fn works_on(&mut self, boot: &str) {
        boot.clone_into(&mut self.boot);
    }

    /// Returns the number of frames that were sent.
    pub(super) fn execs(&self) -> u64 {
        self.execs
    }

    pub(super) fn is_stale(&self) -> bool {
        self.stale
    }

    /// Notes that only new sessions see what was changed.
    pub(super) fn outdate(&mut self) {
        self.stale = true;
    }

    pub(super) fn emit(&self, kind: EventKind) {
        self.context.emitter.emit(kind);
    }

    pub(super) fn warn(&self, message: impl Into<String>) {
        self.emit(EventKind::Warning { host: Some(self.host.name.clone()), message: message.into() });
    }

    /// Opens it and runs a frame in the same round trip.
    pub(super) async fn open(&mut self, frame: &Frame) -> Result<Ran, Gone> {
        let host = self.host.name.clone();
        self.emit(EventKind::HostConnecting { host: host.clone() });
        let began = Instant::now();
        let mut ends = Vec::new();
        let deadline = self.context.deadlines.connect;
        let transport = self.context.transport.clone();
        let cancel = self.context.cancel.clone();
        let mut on_part = |end| ends.push(end);
        let opened = tokio::select! {
            biased;
            // A host that was not reached yet has nothing to finish.
            () = cancel.reached(Stop::Finish) => {
                return Err(Gone(HostStatus::NotStarted("the run was stopped before it was reached".to_owned())));
            }
            opened = transport.open_and_run(&self.host, deadline, frame, &mut on_part) => opened,
        };
        let (remote, result) = opened.map_err(|error| self.unreachable(&error))?;
        self.execs += 1;
        self.remote = Some(remote);
        self.emit(EventKind::HostConnected { host, seconds: began.elapsed().as_secs_f64() });
        Ok((result, ends))
    }

    pub(super) fn unreachable(&self, error: &TransportError) -> Gone {
        match error {
            TransportError::Connect { kind, message } => Gone(HostStatus::Unreachable {
                kind: *kind,
                reason: message.clone(),
                hint: hints::connect(*kind, &self.host, &self.context.project),
            }),
            TransportError::Lost { .. }
            | TransportError::PartTimedOut { .. }
            | TransportError::Protocol { .. } => Gone::quarantined(error.to_string()),
        }
    }

    /// Logs in where nothing is open.
    pub(super) async fn log_in(&mut self) -> Result<(), TransportError> {
        let remote = self.context.transport.open(&self.host, self.context.deadlines.connect).await?;
        self.remote = Some(remote);
        Ok(())
    }

    /// Logs in anew and goes on there, if it is still the same boot. Else what keeps the new login from working; the
    /// old one is still there.
    pub(super) async fn log_in_anew(&mut self) -> Result<(), Stuck<TransportError>> {
        let fresh = self.context.transport.open(&self.host, self.context.deadlines.connect).await;
        let fresh = fresh.map_err(Stuck::Failed)?;
        let old = self.remote.replace(fresh);
        let boot = self.which_boot().await;
        let left = if boot.is_ok() { old } else { std::mem::replace(&mut self.remote, old) };
        if let Some(mut left) = left {
            left.close().await;
        }
        match boot {
            Ok(boot) if self.is_of(&boot) => {
                self.shell += 1;
                self.stale = false;
                Ok(())
            }
            Ok(boot) => Err(self.rebooted(boot).await.into()),
            Err(error) => Err(Stuck::Failed(error)),
        }
    }

    /// Gets a lost host back within the budget, if it is still the same boot. What another boot would make of
    /// what was learned and done so far nobody knows, so the run ends for such a host.
    pub(super) async fn reconnect(&mut self, reason: &str) -> Result<(), Gone> {
        let budget = self.context.deadlines.reconnect;
        self.emit(EventKind::HostLost {
            host: self.host.name.clone(),
            reason: reason.to_owned(),
            within: budget.as_secs_f64(),
        });
        self.close().await;
        let end = Instant::now() + budget;
        let mut backoff = Backoff::new(Duration::from_millis(500), Duration::from_secs(8));
        loop {
            let mut pause = backoff.pause();
            let cancel = self.context.cancel.clone();
            let attempt = async {
                self.log_in().await?;
                self.which_boot().await
            };
            let Some(back) = unless_stopped(&cancel, attempt).await else {
                return Err(Gone::quarantined(format!("{reason}; stopped while it was not back")));
            };
            if let Err(error) = &back {
                pause = pause.max(error.spacing());
            }
            match back {
                Ok(boot) if self.is_of(&boot) => return Ok(()),
                Ok(boot) => return Err(self.rebooted(boot).await),
                Err(error) if Instant::now() + pause < end => {
                    tracing::debug!(host = %self.host.name, %error, "reconnect");
                    self.close().await;
                    tokio::select! {
                        biased;
                        () = cancel.reached(Stop::End) => {
                            return Err(Gone::quarantined(format!("{reason}; stopped while it was not back")));
                        }
                        () = tokio::time::sleep(pause) => {}
                    }
                }
                Err(error) => {
                    let reason = reason.trim_end_matches('.');
                    let reason = format!("{reason}; not back within {}: {error}", human(budget));
                    return Err(Gone::quarantined(reason));
                }
            }
        }
    }

    /// Whether this may be the boot that the run works on.
    fn is_of(&self, boot: &str) -> bool {
        self.boot.is_empty() || boot.is_empty() || boot == self.boot
    }

    /// Returns the id of the host's boot; empty where it cannot be told.
    async fn which_boot(&mut self) -> Result<String, TransportError> {
        let end = self.run_short("boot", state::which_boot()).await?;
        Ok(String::from_utf8_lossy(&end.output).trim().to_owned())
    }

    async fn rebooted(&mut self, after: String) -> Gone {
        self.close().await;
        let before = std::mem::replace(&mut self.boot, after.clone());
        self.emit(EventKind::HostRebooted { host: self.host.name.clone(), before, after });
        Gone::quarantined(REBOOTED.to_owned())
    }

    /// Gets a shell beside one that hangs; `why` it is needed.
    pub(super) async fn revive(&mut self, why: &str) -> Result<(), Gone> {
        let Err(stuck) = self.second_session().await else { return Ok(()) };
        let error = stuck.reason()?;
        if let TransportError::Lost { message } = &error
            && self.context.cancel.now() < Stop::End
        {
            return self.reconnect(message).await;
        }
        Err(Gone::quarantined(no_second_session(why, &error)))
    }

    /// The same, but a host that is lost over it is not tried again.
    pub(super) async fn revive_once(&mut self, why: &str) -> Result<(), Gone> {
        let Err(stuck) = self.second_session().await else { return Ok(()) };
        Err(Gone::quarantined(no_second_session(why, &stuck.reason()?)))
    }

    async fn second_session(&mut self) -> Result<(), Stuck<TransportError>> {
        let Some(remote) = self.remote.as_mut() else { return Ok(()) };
        self.shell += 1;
        let revived = unless_stopped(&self.context.cancel, remote.revive()).await;
        revived.ok_or_else(|| Gone::quarantined(SILENT.to_owned()))?.map_err(Stuck::Failed)
    }

    pub(super) async fn close(&mut self) {
        if let Some(mut remote) = self.remote.take() {
            remote.close().await;
        }
        self.shell += 1;
    }

    /// Closes it for good. Without the lock nothing of the run is on the host.
    pub(super) async fn leave(&mut self) {
        match self.remote.take() {
            Some(mut remote) if !self.locked => remote.leave().await,
            remote => self.remote = remote,
        }
        self.close().await;
    }

    /// Runs a frame and collects its parts.
    pub(super) async fn run_frame(&mut self, frame: &Frame) -> Ran {
        let mut ends = Vec::new();
        let result = self.watch_frame(frame, &mut |end| ends.push(end)).await;
        (result, ends)
    }

    /// Runs a frame and hands over each of its parts as soon as it ends.
    pub(super) async fn watch_frame(
        &mut self,
        frame: &Frame,
        on_part: OnPart<'_>,
    ) -> Result<(), TransportError> {
        self.execs += 1;
        let Some(remote) = self.remote.as_mut() else {
            let message = "there is no connection".to_owned();
            return Err(TransportError::Protocol { message });
        };
        remote.run(frame, on_part).await
    }

    /// Runs one part as a frame of its own; its output.
    pub(super) async fn run_part(&mut self, part: Part, prelude: String) -> Result<PartEnd, TransportError> {
        let frame =
            Frame { prelude, parts: vec![part], secrets: self.context.secrets.clone(), ..Frame::default() };
        self.run_one(&frame).await
    }

    /// Follows a task by this part, and tells what it prints.
    pub(super) async fn run_watched(&mut self, part: Part) -> Result<PartEnd, TransportError> {
        let (prelude, secrets) = (state::FUNCTIONS.to_owned(), self.context.secrets.clone());
        let frame = Frame { prelude, parts: vec![part], secrets, watch: self.watch(), ..Frame::default() };
        self.run_one(&frame).await
    }

    /// The reader of what tasks of the host print.
    pub(super) fn watch(&self) -> Option<Watch> {
        let lines = self.context.watch.clone()?;
        Some(Watch { host: self.host.name.clone(), lines })
    }

    async fn run_one(&mut self, frame: &Frame) -> Result<PartEnd, TransportError> {
        let (result, ends) = self.run_frame(frame).await;
        result?;
        ends.into_iter().next().ok_or_else(|| TransportError::Protocol {
            message: "a part of the script did not report its end".to_owned(),
        })
    }

    /// Runs a script of the state directory that is done at once and says little.
    pub(super) async fn run_short(
        &mut self,
        name: &'static str,
        script: Script,
    ) -> Result<PartEnd, TransportError> {
        let part = self.short(name, script);
        self.run_part(part, state::FUNCTIONS.to_owned()).await
    }

    /// The part for it.
    pub(super) fn short(&self, name: &'static str, script: Script) -> Part {
        Part { name: name.to_owned(), script, deadline: self.context.deadlines.query, limit: 4096 }
    }

    /// Appends a file of this machine, from `offset` on, to a path of the host.
    pub(super) async fn send(
        &mut self,
        upload: &Upload,
        offset: u64,
        path: &str,
    ) -> Result<(), TransportError> {
        let Some(remote) = self.remote.as_mut() else {
            return Err(TransportError::Lost { message: "there is no connection".to_owned() });
        };
        let failed = |error: std::io::Error| TransportError::Protocol {
            message: format!("it cannot be read: {error}"),
        };
        let mut file = tokio::fs::File::open(&upload.local).await.map_err(failed)?;
        let now = file.metadata().await.map_err(failed)?.len();
        if now != upload.size {
            let message = format!("it has {now} bytes, and had {} when it was planned", upload.size);
            return Err(TransportError::Protocol { message });
        }
        file.seek(SeekFrom::Start(offset)).await.map_err(failed)?;
        remote.stream(path, &mut file).await
    }
}

/// Returns the result of an attempt to reach a host; `None` where the run was stopped and [`LAST_TRY`] is
/// over.
async fn unless_stopped<T>(cancel: &Cancel, attempt: impl Future<Output = T>) -> Option<T> {
    let stopped = async {
        cancel.reached(Stop::End).await;
        tokio::time::sleep(LAST_TRY).await;
    };
    tokio::select! {
        biased;
        done = attempt => Some(done),
        () = stopped => None,
    }
}

fn no_second_session(why: &str, error: &TransportError) -> String {
    format!("{why}, and the host refuses a second session: {error}")
}
