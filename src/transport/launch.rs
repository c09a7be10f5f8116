//! A host shell that becomes a launcher, and its end without a shell behind it.

use std::time::Duration;

use super::shell::{HostShell, ShellError};
use super::{ConnectKind, TransportError, classify};

/// Lines of a launcher that are told when it gives no shell.
const LINES: usize = 3;

/// A command line that ends in a shell, and how long it may take to give it.
#[derive(Debug, Clone)]
pub(super) struct Launch {
    pub(super) words: Vec<String>,
    pub(super) deadline: Duration,
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
