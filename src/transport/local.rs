//! This machine as a host: a shell behind a pipe.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use tokio::io::AsyncRead;

use super::classify::Words;
use super::escalation::Way;
use super::launch::{self, Launch};
use super::password_trial::Trials;
use super::process::Process;
use super::shell::{HostShell, ShellError};
use super::wire::Expected;
use super::{ConnectKind, Frame, OnPart, Remote, Transport, TransportError, classify, rescue, stream};
use crate::inventory::Host;
use crate::secrets::Secrets;

/// Time for which the end of a shell is waited for.
const GRACE: Duration = Duration::from_secs(1);
/// Time limit for a new shell to answer when the old one hangs.
const REVIVE: Duration = Duration::from_secs(20);

/// Runs everything on this machine (image baking, a single node).
#[derive(Debug, Clone, Default)]
pub struct Local {
    secrets: Secrets,
    trials: Arc<Trials>,
}

impl Local {
    /// `secrets` hold the password of sudo, when the inventory names one.
    pub fn new(secrets: Secrets) -> Self {
        Self { secrets, trials: Arc::default() }
    }

    /// Starts a launcher.
    pub(super) async fn launch(
        &self,
        launch: Launch,
        deadline: Duration,
    ) -> Result<Box<dyn Remote>, TransportError> {
        let mut session = Session::open(&Way::None, Expected::Anyone, deadline).await?;
        session.enter(&launch).await?;
        let remote = LocalRemote {
            way: Way::None,
            expected: Expected::Anyone,
            launch: Some(launch),
            session: Some(session),
        };
        Ok(Box::new(remote))
    }
}

#[async_trait]
impl Transport for Local {
    async fn open(&self, host: &Host, deadline: Duration) -> Result<Box<dyn Remote>, TransportError> {
        let way = Way::new(host, &self.secrets, &self.trials);
        let expected = if way.becomes_root() { Expected::Root } else { Expected::Anyone };
        let session = Session::open(&way, expected, deadline).await?;
        let expected = match expected {
            Expected::Anyone => Expected::User(session.shell.identity().uid),
            known @ (Expected::User(_) | Expected::Root) => known,
        };
        Ok(Box::new(LocalRemote { way, expected, launch: None, session: Some(session) }))
    }
}

#[derive(Debug)]
struct Session {
    process: Process,
    shell: HostShell,
}

impl Session {
    async fn open(way: &Way, expected: Expected, deadline: Duration) -> Result<Self, TransportError> {
        let (mut process, mut shell) = start(way.shell())?;
        let login = async {
            way.pass(&mut shell).await?;
            shell.start(expected, None).await
        };
        match tokio::time::timeout(deadline, login).await {
            Ok(Ok(_)) => Ok(Self { process, shell }),
            Ok(Err(ShellError::Other(error))) => Err(error),
            Ok(Err(ShellError::Ended)) => {
                let status = process.end(GRACE).await.and_then(|status| status.code());
                let stderr = process.stderr.last_words().await;
                Err(classify::classify(status, &words(way, &stderr, &shell.noise()), false))
            }
            Err(_) => {
                let stderr = process.stderr.text();
                Err(classify::timed_out(deadline, &words(way, &stderr, &shell.noise())))
            }
        }
    }

    /// Goes through a launcher. Where that gives no shell, it is ended with the session.
    async fn enter(&mut self, launch: &Launch) -> Result<(), TransportError> {
        match launch.enter(&mut self.shell).await {
            Ok(()) => Ok(()),
            Err(why) => Err(launch.error(why, &self.process.stderr.last_words().await)),
        }
    }

    async fn close(mut self) {
        self.shell.end().await;
        self.process.end(GRACE).await;
    }
}

/// No ssh and no login shell is in between: what is started first is sudo.
fn words<'a>(way: &Way, stderr: &'a str, noise: &'a str) -> Words<'a> {
    Words { ssh: String::new(), stderr, noise, sudo: matches!(way, Way::Free) }
}

/// Starts one of the constant command lines without any shell in between. A session of its own
/// (`setsid`) has no terminal: neither Ctrl-C nor a question of sudo reaches it.
fn start(line: &str) -> Result<(Process, HostShell), TransportError> {
    let args: Vec<String> = line.split(' ').skip(1).map(str::to_owned).collect();
    let (process, stdout, stdin) = Process::start_session(&args)
        .map_err(|error| classify::connect(ConnectKind::Other, format!("cannot start `sh`: {error}")))?;
    Ok((process, HostShell::new(stdout, stdin)))
}

#[derive(Debug)]
struct LocalRemote {
    way: Way,
    expected: Expected,
    /// Launcher that the shell is behind.
    launch: Option<Launch>,
    session: Option<Session>,
}

fn closed() -> TransportError {
    TransportError::Lost { message: "the host shell is closed".to_owned() }
}

#[async_trait]
impl Remote for LocalRemote {
    #[tracing::instrument(
        name = "exec", level = "debug", skip_all, err(level = "debug"),
        fields(what = frame.name(), parts = frame.parts.len(), sent, received)
    )]
    async fn run(&mut self, frame: &Frame, on_part: OnPart<'_>) -> Result<(), TransportError> {
        let session = self.session.as_mut().ok_or_else(closed)?;
        match session.shell.run(frame, on_part).await {
            Ok(()) => Ok(()),
            Err(ShellError::Other(error)) => Err(error),
            Err(ShellError::Ended) => {
                Err(classify::ended(&session.process.stderr.last_words().await, classify::SHELL_ENDED))
            }
        }
    }

    async fn revive(&mut self) -> Result<(), TransportError> {
        // It stays until its processes are killed: whoever gives up meanwhile may try again.
        let stuck = self.session.as_ref().map(|session| session.shell.process());
        let mut fresh = Session::open(&self.way, self.expected, REVIVE).await?;
        if let Some(stuck) = stuck {
            match rescue::kill(&mut fresh.shell, stuck).await {
                Ok(()) => {}
                Err(ShellError::Other(error)) => return Err(error),
                Err(ShellError::Ended) => return Err(classify::ended("", classify::SHELL_ENDED)),
            }
        }
        drop(self.session.take());
        if let Some(launch) = &self.launch {
            fresh.enter(launch).await?;
        }
        self.session = Some(fresh);
        Ok(())
    }

    async fn stream(
        &mut self,
        path: &str,
        content: &mut (dyn AsyncRead + Send + Unpin),
    ) -> Result<(), TransportError> {
        if self.launch.is_some() {
            return Err(launch::no_streams());
        }
        stream::check_path(path)?;
        let mut session = Session::open(&self.way, self.expected, stream::STALL).await?;
        let (copied, success) = session.shell.stream(path, content).await;
        session.process.end(GRACE).await;
        stream::streamed(path, copied, success, &session.process.stderr.last_words().await)
    }

    async fn close(&mut self) {
        if let Some(session) = self.session.take() {
            session.close().await;
        }
    }
}
