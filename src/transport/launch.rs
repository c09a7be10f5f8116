//! Hosts behind a launcher: a job of Slurm, a container, a pod.
//!
//! ```text
//!   place ── login ── sh -s ── exec srun ... sh ──> sh in the job: the host shell of that view
//! ```
//!
//! The shell of a plain login becomes the launcher, which hands its standard input on. From there on the wire is
//! the usual one, so questions, deadlines and parsers know nothing of it.

use std::collections::BTreeMap;
use std::time::Duration;

use async_trait::async_trait;

use super::shell::{HostShell, ShellError};
use super::{ByHost, ConnectKind, Remote, Transport, TransportError, classify};
use crate::inventory::Host;

/// Lines of a launcher that are told when it gives no shell.
const LINES: usize = 3;

/// Place where launchers are started.
#[derive(Debug, Clone)]
pub enum Place {
    /// On this machine.
    Here,
    /// On one host, over its login.
    At(Box<Host>),
    /// On each host itself, over its login.
    Each,
}

/// A command line that ends in a shell, and how long it may take to give it.
#[derive(Debug, Clone)]
pub(super) struct Launch {
    words: Vec<String>,
    deadline: Duration,
}

/// Reason why there is no shell behind a launcher.
#[derive(Debug)]
pub(super) enum NotLaunched {
    /// It ended.
    Ended,
    /// It is still at it.
    Late,
    /// Something that needs no word of it.
    Other(TransportError),
}

impl Launch {
    /// Has a plain host shell become the launcher, and waits for the shell behind it.
    pub(super) async fn enter(&self, shell: &mut HostShell) -> Result<(), NotLaunched> {
        match tokio::time::timeout(self.deadline, shell.launch(&self.words)).await {
            Ok(Ok(_)) => Ok(()),
            Ok(Err(ShellError::Ended)) => Err(NotLaunched::Ended),
            Ok(Err(ShellError::Other(error))) => Err(NotLaunched::Other(error)),
            Err(_) => Err(NotLaunched::Late),
        }
    }

    /// The error, with what the launcher said last.
    pub(super) fn error(&self, why: NotLaunched, said: &str) -> TransportError {
        let lines: Vec<&str> = said.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        let said = lines.get(lines.len().saturating_sub(LINES)..).unwrap_or_default().join("; ");
        let program = self.words.first().map_or("the launcher", String::as_str);
        let message = match (why, said.as_str()) {
            (NotLaunched::Other(error), _) => return error,
            (NotLaunched::Ended, "") => format!("`{program}` ended without a shell and without a word"),
            (NotLaunched::Ended, said) => said.to_owned(),
            (NotLaunched::Late, "") => format!("`{program}` gave no shell within {:?}", self.deadline),
            (NotLaunched::Late, said) => {
                format!("`{program}` gave no shell within {:?}; it last said: {said}", self.deadline)
            }
        };
        classify::connect(ConnectKind::Other, message)
    }
}

/// Returns the error for files, which cannot be sent through a launcher.
pub(super) fn no_streams() -> TransportError {
    TransportError::Protocol { message: "a launcher takes no files".to_owned() }
}

/// Opens each host through a launcher.
#[derive(Debug)]
pub struct Launched {
    ways: ByHost,
    place: Place,
    words: BTreeMap<String, Vec<String>>,
}

impl Launched {
    /// `ways` opens the places; `words` are the command line of each host, which ends in a shell.
    pub fn new(ways: ByHost, place: Place, words: BTreeMap<String, Vec<String>>) -> Self {
        Self { ways, place, words }
    }
}

#[async_trait]
impl Transport for Launched {
    /// `deadline` is that of the launcher; the login before it has its own.
    async fn open(&self, host: &Host, deadline: Duration) -> Result<Box<dyn Remote>, TransportError> {
        let Some(words) = self.words.get(&host.name) else {
            let message = format!("there is no command line of the launcher for {}", host.name);
            return Err(TransportError::Protocol { message });
        };
        let launch = Launch { words: words.clone(), deadline };
        match &self.place {
            Place::Here => self.ways.launch_here(launch).await,
            Place::Each => self.ways.launch(&host.as_login(), launch).await,
            Place::At(place) => self.ways.launch(&place.as_login(), launch).await,
        }
    }

    async fn close(&self) {
        self.ways.close().await;
    }
}
