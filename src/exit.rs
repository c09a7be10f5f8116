//! The exit codes of `provision`: one table for `main`, `explain` and the reference; and the error that has one.

use std::error::Error;
use std::fmt;
use std::io;

/// Every selected host that is not offline converged or was verified.
pub const OK: u8 = 0;
/// A bug in provision.
pub const BUG: u8 = 1;
/// The command line is wrong, selects no host or only hosts that are marked offline, or a question was answered with no.
pub const USAGE: u8 = 2;
/// Inventory, playbook, template or secret is wrong and nothing was touched, or a file of this machine
/// cannot be used.
pub const CONFIG: u8 = 3;
/// A host was unreachable or quarantined.
pub const UNREACHABLE: u8 = 4;
/// A task failed on a host.
pub const FAILED: u8 = 5;
/// Verification failed, or there is drift.
pub const DRIFT: u8 = 6;
/// Changes are pending (`plan --exit-code`), tasks are blocked, or hosts were not started.
pub const PENDING: u8 = 7;
/// Another run holds the lock.
pub const LOCKED: u8 = 8;
/// Stopped by Ctrl-C after an orderly end.
pub const INTERRUPTED: u8 = 130;
/// Stopped by SIGTERM, or by the loss of the terminal, after an orderly end.
pub const TERMINATED: u8 = 143;

/// One row of the table.
#[derive(Debug, Clone, Copy)]
pub struct ExitCode {
    /// The number.
    pub code: u8,
    /// Its name for `explain`.
    pub name: &'static str,
    /// Meaning of the code.
    pub meaning: &'static str,
    /// Advice for the user.
    pub cure: &'static str,
}

/// All exit codes, in the order of their numbers.
pub const TABLE: &[ExitCode] = &[
    ExitCode {
        code: OK,
        name: "ok",
        meaning: "every selected host is as declared, or was only looked at; hosts marked `offline` are left out",
        cure: "nothing to do",
    },
    ExitCode {
        code: BUG,
        name: "bug",
        meaning: "there is a bug in provision",
        cure: "run again with -v and report what it says",
    },
    ExitCode {
        code: USAGE,
        name: "usage",
        meaning: "the command line is wrong, selects no host or only hosts that are marked offline, or a question was answered with no",
        cure: "see `provision help`; `provision inventory list INVENTORY` shows the hosts and groups that can be named",
    },
    ExitCode {
        code: CONFIG,
        name: "config",
        meaning: "the inventory, a playbook, a template or a secret is wrong and nothing was touched, or a file or directory of this machine cannot be used",
        cure: "mend the places shown, then run `provision validate INVENTORY`",
    },
    ExitCode {
        code: UNREACHABLE,
        name: "unreachable",
        meaning: "a host could not be reached, or missed a deadline and was quarantined; the other hosts were finished, or not started because this stopped the rollout",
        cure: "each such host is listed with what mends it or shows its cause; then run the same command with `--hosts @unreachable`, or `--hosts '@unreachable,@not-finished'`",
    },
    ExitCode {
        code: FAILED,
        name: "failed",
        meaning: "a task failed on at least one host",
        cure: "mend the cause: the failure shows the command, its output and the likely cause. Then run the command behind `continue with`, where the run ends: it selects `@failed`, and the hosts that were not started",
    },
    ExitCode {
        code: DRIFT,
        name: "drift",
        meaning: "`verify` found that a host differs from the inventory",
        cure: "`provision plan INVENTORY` shows the differences, `provision apply INVENTORY` mends them",
    },
    ExitCode {
        code: PENDING,
        name: "pending",
        meaning: "changes are pending (`plan --exit-code`), or a task was blocked or a host not started: it could not be done now though nothing failed there",
        cure: "what is pending: `provision apply INVENTORY`. Each blocked task says what it waits for, such as a reboot, the end of a job, or a host that is no container; run `apply` again after that",
    },
    ExitCode {
        code: LOCKED,
        name: "locked",
        meaning: "another run works on one of the hosts",
        cure: "wait for it; the message names the run. A lock is free the moment its run ends, however it ended. Where the connection of the run is dead and the host has not noticed, `provision unlock INVENTORY --hosts HOST` says who has the lock, since when, and takes it",
    },
    ExitCode {
        code: INTERRUPTED,
        name: "interrupted",
        meaning: "stopped by Ctrl-C after an orderly end",
        cure: "run the same command again: what is done stays done",
    },
    ExitCode {
        code: TERMINATED,
        name: "terminated",
        meaning: "stopped by SIGTERM, or by the loss of the terminal, after an orderly end",
        cure: "run the same command again: what is done stays done",
    },
];

/// Codes in order of precedence: where several apply, the first of them is given.
pub const PRECEDENCE: &[u8] =
    &[BUG, INTERRUPTED, TERMINATED, LOCKED, CONFIG, FAILED, UNREACHABLE, DRIFT, PENDING];

/// The code that wins.
pub fn choose(codes: &[u8]) -> u8 {
    PRECEDENCE.iter().copied().find(|code| codes.contains(code)).unwrap_or(OK)
}

/// Error that ends a command with an exit code of its own.
#[derive(Debug)]
pub struct Exit {
    /// The exit code.
    pub code: u8,
    /// Description of the problem; may be empty when it was reported already.
    pub message: String,
    /// Advice for the user.
    pub hint: Option<String>,
    cause: Option<Cause>,
}

/// Error behind an [`Exit`].
#[derive(Debug)]
enum Cause {
    /// The message is its text.
    Itself(Box<dyn Error + Send + Sync>),
    /// The message says what was attempted.
    Below(Box<dyn Error + Send + Sync>),
}

impl Exit {
    /// An error with this code.
    pub fn new(code: u8, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), hint: None, cause: None }
    }

    /// An error of something that was attempted. An error of the system has the code [`CONFIG`], any other
    /// is a bug.
    pub fn caused(message: impl Into<String>, error: impl Error + Send + Sync + 'static) -> Self {
        let code = code_of(&error);
        Self { cause: Some(Cause::Below(Box::new(error))), ..Self::new(code, message) }
    }

    /// An error that says itself what was attempted; its code is that of [`Exit::caused`].
    pub fn of(error: impl Error + Send + Sync + 'static) -> Self {
        let (code, message) = (code_of(&error), error.to_string());
        Self { cause: Some(Cause::Itself(Box::new(error))), ..Self::new(code, message) }
    }

    /// Adds what to do.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

/// The code of an error that has none: the system's errors are no bugs.
fn code_of(error: &(dyn Error + 'static)) -> u8 {
    let mut cause = Some(error);
    while let Some(error) = cause {
        if error.is::<io::Error>() {
            return CONFIG;
        }
        cause = error.source();
    }
    BUG
}

impl fmt::Display for Exit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl Error for Exit {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self.cause.as_ref()? {
            Cause::Itself(error) => error.source(),
            Cause::Below(error) => Some(error.as_ref()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn error_of_the_system_is_no_bug() {
        let refused = || io::Error::other("refused");
        let caused = Exit::caused("cannot write f", refused());
        assert_eq!((caused.code, caused.to_string().as_str()), (CONFIG, "cannot write f"));
        assert_eq!(caused.source().map(ToString::to_string).as_deref(), Some("refused"));
        let itself = Exit::of(refused());
        assert_eq!((itself.code, itself.to_string().as_str()), (CONFIG, "refused"));
        assert!(itself.source().is_none());
        assert_eq!(Exit::of(fmt::Error).code, BUG);
    }

    #[test]
    fn precedence() {
        assert_eq!(choose(&[]), OK);
        assert_eq!(choose(&[UNREACHABLE, FAILED]), FAILED);
        assert_eq!(choose(&[PENDING, DRIFT]), DRIFT);
        assert_eq!(choose(&[FAILED, INTERRUPTED]), INTERRUPTED);
    }

    #[test]
    fn every_code_is_explained_once() {
        for code in PRECEDENCE {
            assert_eq!(TABLE.iter().filter(|row| row.code == *code).count(), 1, "{code}");
        }
    }
}
