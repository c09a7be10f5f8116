//! One login: the `ssh` that is master and first session at once, and the sessions beside it.

use std::os::unix::process::ExitStatusExt as _;
use std::sync::Arc;
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use openssh::{Child, Session as Mux, Stdio};
use tokio::io::AsyncRead;
use tokio::time::Instant;
use tokio::time::error::Elapsed;

use super::classify::Words;
use super::escalation::Way;
use super::persistent::{Kept, Place};
use super::process::{Capture, Process, exit_master, kill_master};
use super::run_dir::{RunDir, Socket};
use super::shell::{HostShell, ShellError};
use super::wire::Expected;
use super::{ConnectKind, Frame, TransportError, classify, stream};

/// Time for which the end of a failed login is waited for, for its last words.
const GRACE: Duration = Duration::from_secs(1);
/// Time limit for a master of this machine to say that it is there.
const ANSWER: Duration = Duration::from_secs(3);
/// Time limit for a session over a master that has stayed; a new login has more time.
const SESSION: Duration = Duration::from_secs(5);
/// Interval between looks at whether a jump host's login is done.
const POLL: Duration = Duration::from_millis(10);

/// A login, or this run's part of one that stays. Dropping it ends what does not stay.
#[derive(Debug)]
pub(super) struct Login {
    /// Its `ssh`; `None` where another run made the login.
    process: Option<Process>,
    /// The socket of this run.
    socket: Socket,
    /// The socket of the master: the same, or that of a login that stays.
    master: Utf8PathBuf,
    kept: Option<Kept>,
    /// Whether a master was started that must not stay as things are.
    unkept: bool,
}

/// A host shell and what belongs to its session.
#[derive(Debug)]
pub(super) struct Session {
    pub(super) shell: HostShell,
    /// Its standard error, when it is not that of the login.
    pub(super) stderr: Option<Capture>,
    /// A session beside the first one ends with this.
    mux: Option<Channel>,
}

/// A session through the socket of a login.
struct Channel {
    child: Child<Arc<Mux>>,
}

impl std::fmt::Debug for Channel {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Channel").finish_non_exhaustive()
    }
}

impl Login {
    /// Starts `ssh`, with the variables by which it is `asking` for a password. Nothing is known of the host yet.
    pub(super) fn start(
        socket: Socket,
        mut arguments: Vec<String>,
        command: &str,
        place: Option<&Place>,
        asking: Option<&[(&'static str, String)]>,
    ) -> std::io::Result<(Self, Session)> {
        let master = place.map_or_else(|| socket.path().to_owned(), Place::socket);
        let mut own = ["-M", "-S", master.as_str(), "-E", socket.log().as_str()].map(str::to_owned).to_vec();
        if let Some(place) = place {
            // Once it is in, ssh puts the master into the background and is itself a client of it.
            own.extend(["-o".to_owned(), format!("ControlPersist {}", place.seconds())]);
            // If this run is killed, the next one ends its master as it does with any other.
            std::os::unix::fs::symlink(&master, socket.path())?;
        }
        arguments.splice(0..0, own);
        arguments.push(command.to_owned());
        tracing::trace!("ssh {}", arguments.join(" "));
        let (process, stdout, stdin) = match asking {
            Some(environment) => Process::start_asking(&arguments, environment)?,
            None => Process::start("ssh", &arguments)?,
        };
        let session = Session { shell: HostShell::new(stdout, stdin), stderr: None, mux: None };
        Ok((Self { process: Some(process), socket, master, kept: None, unkept: place.is_some() }, session))
    }

    /// A session over a master that has stayed. `Err` with the master where that gave none.
    pub(super) async fn resume(
        kept: Kept,
        socket: Socket,
        way: &Way,
        expected: Expected,
        deadline: Duration,
    ) -> Result<(Self, Session), NotResumed> {
        let mux = Mux::resume_mux(kept.socket().as_std_path().into(), None);
        if !matches!(within(deadline.min(ANSWER), mux.check()).await, Ok(Ok(()))) {
            // It answers that by itself, whatever the host does.
            return Err(NotResumed::Dead(kept));
        }
        let master = kept.socket().to_owned();
        let mut login = Self { process: None, socket, master, kept: None, unkept: false };
        // No frame rides along: it would run twice where the answer is too late.
        match login.session(way, expected, deadline.min(SESSION)).await {
            Ok(session) => {
                login.kept = Some(kept);
                Ok((login, session))
            }
            Err(None) => Err(NotResumed::Full),
            Err(Some(error)) => Err(NotResumed::Silent(kept, error)),
        }
    }

    /// Lets the master stay after the run.
    pub(super) fn stay(&mut self, place: &Place) {
        // What nobody can find again would only be in the way.
        self.kept = place.keep(&self.master).ok();
        self.unkept = self.kept.is_none();
    }

    /// Becomes root where asked for and waits for the host shell's answer.
    pub(super) async fn greet(
        mut self,
        mut session: Session,
        way: &Way,
        expected: Expected,
        deadline: Duration,
        ahead: Option<&Frame>,
        jump: bool,
    ) -> Result<(Self, Session), TransportError> {
        let shell = &mut session.shell;
        let greeted = within(deadline, async {
            way.pass(shell).await?;
            shell.start(expected, ahead).await
        });
        match greeted.await {
            Ok(Ok(_)) => Ok((self, session)),
            Ok(Err(ShellError::Other(error))) => Err(error),
            Ok(Err(ShellError::Ended)) => {
                let (status, stderr) = match &mut self.process {
                    Some(process) => {
                        let status = process.end(GRACE).await;
                        if let Some(signal) = status.and_then(|status| status.signal()) {
                            return Err(classify::killed(signal));
                        }
                        (status.and_then(|status| status.code()), process.stderr.last_words().await)
                    }
                    None => (None, String::new()),
                };
                Err(classify::classify(status, &self.words(&stderr, way, &session.shell.noise()), jump))
            }
            Err(_) => {
                let stderr = self.process.as_ref().map(|process| process.stderr.text()).unwrap_or_default();
                Err(classify::timed_out(deadline, &self.words(&stderr, way, &session.shell.noise())))
            }
        }
    }

    /// Returns the last words of ssh and the host.
    pub(super) async fn last_words(&mut self) -> String {
        match &mut self.process {
            Some(process) => format!("{}\n{}", process.stderr.last_words().await, self.socket.words()),
            None => String::new(),
        }
    }

    /// Whether this is a login that stays, and its master is not there any more.
    pub(super) async fn is_gone(&self) -> bool {
        let mux = Mux::resume_mux(self.master.as_std_path().into(), None);
        self.kept.is_some() && !matches!(within(ANSWER, mux.check()).await, Ok(Ok(())))
    }

    /// The signal that ended `ssh`, if one did.
    pub(super) async fn signal(&mut self) -> Option<i32> {
        self.process.as_mut()?.signal().await
    }

    fn words<'a>(&self, stderr: &'a str, way: &Way, noise: &'a str) -> Words<'a> {
        let (noise, sudo) = way.turn(noise);
        Words { ssh: self.socket.words(), stderr, noise, sudo }
    }

    /// Ends a login that nobody else uses: the host is told, and not waited for.
    pub(super) fn hang_up(&self, session: &Session) {
        if self.kept.is_none()
            && session.mux.is_none()
            && let Some(process) = &self.process
        {
            process.terminate();
        }
    }

    /// Waits for the end of the session, at most `grace`.
    pub(super) async fn end(&mut self, session: Session, grace: Duration) {
        if let Some(mut process) = self.process.take() {
            process.end(grace).await;
        }
        if let Some(Channel { child }) = session.mux {
            drop(tokio::time::timeout(grace, child.wait()).await);
        }
        if let Some(kept) = self.kept.take() {
            kept.release().await;
        }
    }

    #[expect(clippy::disallowed_methods, reason = "what every script of a host is sent through")]
    async fn exec(&self, command: &str) -> Result<Child<Arc<Mux>>, openssh::Error> {
        let mux = Arc::new(Mux::resume_mux(self.master.as_std_path().into(), None));
        mux.arc_raw_command(command)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .await
    }

    /// Another host shell over the same login. `Err(None)` where the server allows no second session.
    pub(super) async fn session(
        &self,
        way: &Way,
        expected: Expected,
        deadline: Duration,
    ) -> Result<Session, Option<TransportError>> {
        let opened = within(deadline, async {
            let mut child = self.exec(way.login()).await.map_err(|error| refused(&error))?;
            let (mut shell, mut capture) = wrap(&mut child).map_err(Some)?;
            let greeted = match way.pass(&mut shell).await {
                Ok(()) => shell.start(expected, None).await.map(|_| ()),
                Err(error) => Err(error),
            };
            match greeted {
                Ok(()) => Ok(Session { shell, stderr: Some(capture), mux: Some(Channel { child }) }),
                Err(ShellError::Other(error)) => Err(Some(error)),
                Err(ShellError::Ended) => {
                    let stderr = capture.last_words().await;
                    let noise = shell.noise();
                    let (noise, sudo) = way.turn(&noise);
                    let words = Words { ssh: String::new(), stderr: &stderr, noise, sudo };
                    Err(Some(classify::classify(Some(1), &words, false)))
                }
            }
        });
        opened.await.unwrap_or_else(|_| {
            Err(Some(TransportError::Lost { message: format!("no second session within {deadline:?}") }))
        })
    }

    /// A file by a shell of its own. `None` where the server allows no second session.
    pub(super) async fn stream(
        &self,
        way: &Way,
        expected: Expected,
        path: &str,
        content: &mut (dyn AsyncRead + Send + Unpin),
    ) -> Option<Result<(), TransportError>> {
        let mut session = match self.session(way, expected, stream::STALL).await {
            Ok(session) => session,
            Err(None) => return None,
            Err(Some(error)) => return Some(Err(error)),
        };
        let (copied, success) = session.shell.stream(path, content).await;
        let stderr = match &mut session.stderr {
            Some(stderr) => stderr.last_words().await,
            None => String::new(),
        };
        Some(stream::streamed(path, copied, success, &stderr))
    }
}

impl Drop for Login {
    fn drop(&mut self) {
        // What was given up before the host shell answered does not stay.
        if self.unkept {
            if let Some(process) = &mut self.process {
                process.kill();
            }
            kill_master(&self.master);
            drop(std::fs::remove_file(&self.master));
        }
    }
}

/// Reason why a master that has stayed gave no session.
#[derive(Debug)]
pub(super) enum NotResumed {
    /// It ended, or does not answer.
    Dead(Kept),
    /// The server allows no further session.
    Full,
    /// It answers, and the host behind it does not as it should.
    Silent(Kept, TransportError),
}

/// Waits for something, at most so long. A controller that is stopped meanwhile (SIGSTOP, a suspended laptop)
/// has not waited: each second counts only while it runs.
async fn within<T>(limit: Duration, future: impl Future<Output = T>) -> Result<T, Elapsed> {
    const SLICE: Duration = Duration::from_secs(1);
    const MOST: Duration = Duration::from_millis(1500);
    tokio::pin!(future);
    let mut left = limit;
    loop {
        let began = Instant::now();
        let ended = tokio::time::timeout(left.min(SLICE), &mut future).await;
        left = left.saturating_sub(began.elapsed().min(MOST));
        if ended.is_ok() || left.is_zero() {
            return ended;
        }
    }
}

/// The login of a jump host: nothing runs there.
#[derive(Debug)]
pub(super) struct Master(Process);

impl Master {
    /// Logs in and waits for the socket, which is there when the login is done.
    pub(super) async fn open(
        arguments: &[String],
        socket: &Socket,
        terminal: bool,
        deadline: Duration,
    ) -> Result<Self, TransportError> {
        drop(std::fs::remove_file(socket.path()));
        drop(std::fs::remove_file(socket.log()));
        let started =
            if terminal { Process::start_on_terminal(arguments) } else { Process::start_alone(arguments) };
        let mut process = started
            .map_err(|error| classify::connect(ConnectKind::Other, format!("cannot start `ssh`: {error}")))?;
        let until = Instant::now() + deadline;
        while !socket.path().exists() {
            if !process.is_alive() {
                let status = process.end(GRACE).await.and_then(|status| status.code());
                let stderr = process.stderr.last_words().await;
                return Err(classify::classify(status, &Words::of(socket, &stderr), false));
            }
            if Instant::now() > until {
                let stderr = process.stderr.text();
                return Err(classify::timed_out(deadline, &Words::of(socket, &stderr)));
            }
            tokio::time::sleep(POLL).await;
        }
        Ok(Self(process))
    }

    pub(super) fn is_alive(&mut self) -> bool {
        self.0.is_alive()
    }

    pub(super) async fn close(&mut self, socket: &Utf8Path) {
        end_master(socket).await;
        self.0.end(GRACE).await;
    }
}

async fn end_master(socket: &Utf8Path) {
    let mux = Mux::resume_mux(socket.as_std_path().into(), None);
    drop(tokio::time::timeout(GRACE, mux.close()).await);
}

/// Ends the masters that a killed run has left and removes its directory. What they run on the
/// hosts is in a spool and goes on.
pub(super) async fn end_leftovers(dir: &RunDir) {
    for (path, masters) in dir.stale() {
        futures::future::join_all(masters.iter().map(|socket| exit_master(socket))).await;
        drop(std::fs::remove_dir_all(path));
    }
}

/// `None` for a server that allows no (further) session, else the master is gone.
fn refused(error: &openssh::Error) -> Option<TransportError> {
    let mut text = error.to_string();
    let mut source = std::error::Error::source(error);
    while let Some(cause) = source {
        text.push_str(": ");
        text.push_str(&cause.to_string());
        source = cause.source();
    }
    if text.contains("refused by peer")
        || text.contains("RequestFailure")
        || text.contains("Session open refused")
    {
        return None;
    }
    Some(TransportError::Lost { message: text })
}

fn wrap(child: &mut Child<Arc<Mux>>) -> Result<(HostShell, Capture), TransportError> {
    match (child.stdin().take(), child.stdout().take(), child.stderr().take()) {
        (Some(stdin), Some(stdout), Some(stderr)) => {
            Ok((HostShell::new(stdout, stdin), Capture::new(stderr)))
        }
        _ => Err(TransportError::Protocol { message: "a session has no streams".to_owned() }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_controller_that_was_stopped_has_not_waited() {
        let (sender, receiver) = tokio::sync::oneshot::channel();
        let login = async { within(Duration::from_secs(15), receiver).await };
        let stopped = async {
            tokio::time::sleep(Duration::from_millis(500)).await;
            tokio::time::advance(Duration::from_secs(20)).await;
            // What came meanwhile is seen only now.
            tokio::time::sleep(Duration::from_millis(100)).await;
            sender.send(7).unwrap();
        };
        let (login, ()) = tokio::join!(login, stopped);
        assert_eq!(login, Ok(Ok(7)));
        let began = Instant::now();
        assert!(within(Duration::from_secs(15), std::future::pending::<()>()).await.is_err());
        assert_eq!(began.elapsed(), Duration::from_secs(15));
    }
}
