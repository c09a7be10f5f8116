//! Hosts and their shells.
//!
//! ```text
//!   engine ── Frame ──> Remote ──> host shell (`exec /bin/sh -s` behind one ssh login)
//!          <─ PartEnd ──           one frame after another on its stdin
//! ```
//!
//! A [`Transport`] opens one [`Remote`] per host. A remote takes [`Frame`]s: shell text in
//! named parts. Every part ends with a nonce and its status, so a cut frame runs nothing and a
//! missing trailer is a lost connection, never a failed command. It never decides what to run and never retries a command.

use std::time::Duration;

use async_trait::async_trait;

mod askpass;
mod bastion;
mod bounded;
mod by_host;
mod classify;
mod escalation;
mod launch;
mod launched;
mod local;
mod login;
mod parser;
mod password_trial;
mod persistent;
mod process;
mod quote;
mod rescue;
mod run_dir;
mod script;
mod scripted;
mod shell;
mod ssh;
mod ssh_config;
mod ssh_settings;
mod stream;
mod sudo;
#[cfg(test)]
mod testing;
mod wire;

pub use askpass::{ASKPASS, PasswordLogins, ask};
pub(crate) use bastion::keys_of_jump_hosts;
pub use by_host::ByHost;
pub use classify::{line_of_ssh, without_host};
pub use launched::{Launched, Place};
pub use local::Local;
#[doc(hidden)]
pub use parser::split;
pub use persistent::{Keep, WarmLogin};
pub(crate) use process::recorded_keys;
pub use process::ssh_home;
pub(crate) use quote::quote;
pub use run_dir::bases as socket_directories;
pub use script::{Arg, Script};
pub use scripted::{Reply, Scripted, Sent};
pub use ssh::Ssh;
pub use ssh_settings::SshSettings;

/// Time limit for a login: TCP, become and host shell.
pub const CONNECT: Duration = Duration::from_secs(15);

/// The time between logins that a server refuses. sshd of OpenSSH 9.8 and later counts 5 seconds for each of them and
/// shuts an address out from 15 on (`PerSourcePenalties` in `sshd_config(5)` as of 2024-06-11).
const REFUSED: Duration = Duration::from_secs(6);

/// One part of a frame: a script with its own deadline.
#[derive(Debug, Clone)]
pub struct Part {
    /// Name for messages and recordings: a query kind or a task. No white space.
    pub name: String,
    /// Script to run, in a subshell with standard input from /dev/null.
    pub script: Script,
    /// Time limit until its end is seen.
    pub deadline: Duration,
    /// Bytes of output that are kept; the rest is counted and dropped from the middle.
    pub limit: usize,
}

/// Parts that are sent in one piece and run in order.
#[derive(Debug, Clone, Default)]
pub struct Frame {
    /// Shell functions that the parts share. Defines, never acts.
    pub prelude: String,
    /// The parts.
    pub parts: Vec<Part>,
    /// Values of the placeholders in arguments; put in by the writer and nowhere else.
    pub secrets: crate::secrets::Secrets,
    /// Nothing follows it: the host shell is told so with it, and its end needs no round trip of its own.
    pub last: bool,
    /// The reader of what a task printed last, meanwhile.
    pub watch: Option<Watch>,
}

/// Takes what tasks of a host print, for somebody who looks on. What comes faster than it is read is lost.
#[derive(Debug, Clone)]
pub struct Watch {
    /// The host.
    pub host: String,
    /// Channel that it goes to: the host, and the last of what was printed so far.
    pub lines: tokio::sync::mpsc::Sender<(String, Vec<u8>)>,
}

impl Watch {
    fn said(&self, said: Vec<u8>) {
        drop(self.lines.try_send((self.host.clone(), said)));
    }
}

impl Frame {
    /// The name of its first part, for messages.
    fn name(&self) -> &str {
        self.parts.first().map_or("nothing", |part| &part.name)
    }
}

/// Result of one part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PartEnd {
    /// Its index in the frame.
    pub index: usize,
    /// Exit status of its subshell.
    pub status: i32,
    /// Its standard output (scripts that want standard error redirect it).
    pub output: Vec<u8>,
    /// Gap in it because of [`Part::limit`].
    pub gap: Option<Gap>,
}

/// Missing middle of an output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Gap {
    /// The place in what was kept.
    pub at: usize,
    /// Number of bytes that are missing there.
    pub bytes: u64,
}

impl PartEnd {
    /// The last line of its output that says something.
    pub fn last_line(&self) -> Option<String> {
        let text = String::from_utf8_lossy(&self.output);
        text.lines().rfind(|line| !line.trim().is_empty()).map(|line| line.trim().to_owned())
    }
}

/// Reason why a host could not be reached, by what mends it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ConnectKind {
    /// No `known_hosts` line for the host.
    HostKeyUnknown,
    /// The host shows another key than the known one.
    HostKeyChanged,
    /// No key or password was accepted.
    KeyRefused,
    /// The password of the login, or of sudo, was refused.
    PasswordRefused,
    /// The private key cannot be read.
    KeyUnreadable,
    /// The file that should be the private key is not one.
    KeyInvalid,
    /// The private key is not there.
    KeyMissing,
    /// The name has no address.
    NameUnknown,
    /// No route, network down.
    NoRoute,
    /// Nothing listens on the port.
    Refused,
    /// No answer in time: TCP, banner or login.
    TimedOut,
    /// The server closed before the login was done.
    Closed,
    /// The login shell does not take commands (nologin, a menu).
    NoShell,
    /// sudo wants a password and none was given.
    SudoPassword,
    /// sudo refused the user.
    SudoRefused,
    /// Another host refused the password, so it was not sent to this one.
    PasswordUntried,
    /// The host shell is not the user that it should be: not root, or another than before.
    WrongUser,
    /// The jump host could not be reached.
    Jump,
    /// Something else; see the text.
    Other,
}

/// Failure between a remote and its host.
#[derive(Debug, Clone, thiserror::Error)]
pub enum TransportError {
    /// The host was not reached.
    #[error("{message}")]
    Connect {
        /// By what mends it.
        kind: ConnectKind,
        /// Description of the failure, with ssh's own last line.
        message: String,
    },
    /// The connection was there and is lost: a part has no trailer.
    #[error("the connection was lost: {message}")]
    Lost {
        /// ssh's own last line, or what was seen.
        message: String,
    },
    /// A part missed its deadline; the host shell is stuck until [`Remote::revive`].
    #[error("no answer within {deadline:?} in `{part}`")]
    PartTimedOut {
        /// Index of the part.
        index: usize,
        /// Its name.
        part: String,
        /// The deadline it missed.
        deadline: Duration,
    },
    /// A bug or a broken host shell.
    #[error("{message}")]
    Protocol {
        /// Description of what was seen instead of what was due.
        message: String,
    },
}

impl TransportError {
    /// The least time that the next login waits, so that the server goes on taking some.
    pub fn spacing(&self) -> Duration {
        match self {
            Self::Connect { kind: ConnectKind::KeyRefused | ConnectKind::PasswordRefused, .. } => REFUSED,
            Self::Connect { .. } | Self::Lost { .. } | Self::PartTimedOut { .. } | Self::Protocol { .. } => {
                Duration::ZERO
            }
        }
    }
}

/// Callback that gets a frame's results while it runs.
pub type OnPart<'a> = &'a mut (dyn FnMut(PartEnd) + Send);

/// An open host.
#[async_trait]
pub trait Remote: Send {
    /// Runs a frame; calls `on_part` for each part as soon as its trailer is seen.
    ///
    /// # Errors
    /// [`TransportError::Lost`] and [`TransportError::PartTimedOut`]; parts seen before stay seen.
    async fn run(&mut self, frame: &Frame, on_part: OnPart<'_>) -> Result<(), TransportError>;

    /// After [`TransportError::PartTimedOut`]: ends the stuck process group over a second session
    /// and opens a new host shell on the same login.
    ///
    /// # Errors
    /// When the host does not answer the second session either.
    async fn revive(&mut self) -> Result<(), TransportError>;

    /// Appends bytes to a file on the host by an exec of its own; `path` is `[A-Za-z0-9/._-]`. Who
    /// drops the future ends the exec, and what has arrived stays.
    ///
    /// # Errors
    /// [`TransportError::Lost`] when the connection is; [`TransportError::Protocol`] with the words of
    /// the host when the file cannot be written.
    async fn stream(
        &mut self,
        path: &str,
        content: &mut (dyn tokio::io::AsyncRead + Send + Unpin),
    ) -> Result<(), TransportError>;

    /// Ends the host shell and the login; never takes longer than two seconds.
    async fn close(&mut self);

    /// The same for a host shell that holds nothing: its end need not be waited for, which saves a round trip.
    async fn leave(&mut self) {
        self.close().await;
    }
}

/// A way to open hosts.
#[async_trait]
pub trait Transport: Send + Sync {
    /// Opens a host: login, become, host shell. Bounded by `deadline`.
    ///
    /// # Errors
    /// [`TransportError::Connect`] with what mends it.
    async fn open(
        &self,
        host: &crate::inventory::Host,
        deadline: Duration,
    ) -> Result<Box<dyn Remote>, TransportError>;

    /// Opens a host and runs its first frame; transports that can send it along with the greeting
    /// save a round trip. It may run twice where the login is lost, so it only asks. The second result is that of
    /// the frame.
    ///
    /// # Errors
    /// Those of [`Transport::open`].
    async fn open_and_run(
        &self,
        host: &crate::inventory::Host,
        deadline: Duration,
        frame: &Frame,
        on_part: OnPart<'_>,
    ) -> Result<(Box<dyn Remote>, Result<(), TransportError>), TransportError> {
        let mut remote = self.open(host, deadline).await?;
        let result = remote.run(frame, on_part).await;
        Ok((remote, result))
    }

    /// Ends what hosts share (masters of jump hosts).
    async fn close(&self) {}
}
