//! Settings from the environment and the terminal; the only place that reads them.

use std::io::IsTerminal as _;

use camino::Utf8PathBuf;

use super::args::Global;
use crate::journal::{cache_home, state_home};
use crate::report::terminal::{self, Verbosity};
use crate::transport::ASKPASS;

/// Settings of the whole program.
#[derive(Debug, Clone)]
pub(super) struct Settings {
    /// Directory of this user's state.
    pub state: Utf8PathBuf,
    /// Directory for data of this user that can be made again.
    pub cache: Utf8PathBuf,
    /// `$HOME`, or what `/etc/passwd` says.
    pub home: Option<Utf8PathBuf>,
    /// The number of the user who became root by sudo.
    pub sudo_user: Option<u32>,
    /// Name of the user, for messages and for the locks of hosts.
    pub user: String,
    /// Locale that decides which letters are shown: the first of `LC_ALL`, `LC_CTYPE` and `LANG` that is set.
    pub locale: Option<String>,
    /// `$XDG_RUNTIME_DIR`.
    pub runtime_dir: Option<Utf8PathBuf>,
    /// Verbosity of the output.
    pub verbosity: Verbosity,
    /// `$RUST_LOG`.
    pub log_filter: Option<String>,
    /// Columns of stderr, when it is a terminal.
    pub width: Option<usize>,
    /// Whether a bar may be drawn.
    pub progress: bool,
    /// Whether somebody can be asked: stdin and stderr are terminals.
    pub interactive: bool,
    /// Columns of stdout, where it is a terminal.
    pub page: Option<usize>,
    /// Whether what is read from stdin is typed, so that the terminal would show it.
    pub typed: bool,
}

impl Settings {
    /// Reads environment and terminal.
    #[expect(clippy::disallowed_methods, reason = "this is the one place that reads the environment")]
    pub(super) fn new(global: &Global) -> Self {
        let variable = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
        // Without /proc nothing of a run works; what belongs to nobody is refused there.
        let user = crate::disk::user().unwrap_or(u32::MAX);
        let (stderr, typed) = (std::io::stderr().is_terminal(), std::io::stdin().is_terminal());
        let verbosity = match (global.quiet, global.verbose) {
            (true, _) => Verbosity::Quiet,
            (false, 0) => Verbosity::Normal,
            (false, _) => Verbosity::Verbose,
        };
        // A timer or a job sets none; the next run by hand must find the same locks.
        let (name, account_home) = account_of(user);
        let home = variable("HOME").or(account_home);
        let width = stderr.then(|| {
            let columns =
                console_width().or_else(|| variable("COLUMNS").and_then(|columns| columns.parse().ok()));
            columns.unwrap_or(80).max(40)
        });
        Self {
            state: state_home(home.as_deref(), variable("XDG_STATE_HOME").as_deref(), user),
            cache: cache_home(home.as_deref(), variable("XDG_CACHE_HOME").as_deref(), user),
            home: home.map(Utf8PathBuf::from),
            sudo_user: variable("SUDO_UID").and_then(|number| number.parse().ok()).filter(|_| user == 0),
            user: variable("USER").or_else(|| variable("LOGNAME")).unwrap_or(name),
            locale: variable("LC_ALL").or_else(|| variable("LC_CTYPE")).or_else(|| variable("LANG")),
            runtime_dir: variable("XDG_RUNTIME_DIR").map(Utf8PathBuf::from),
            verbosity,
            log_filter: variable("RUST_LOG"),
            width,
            progress: stderr
                && !global.no_progress
                && verbosity != Verbosity::Verbose
                && variable("CI").is_none()
                && variable("TERM").is_none_or(|term| term != "dumb"),
            page: columns(&console::Term::stdout()),
            interactive: stderr && typed,
            typed,
        }
    }

    /// Returns the limits of the display.
    pub(super) fn terminal(&self) -> terminal::TerminalSettings {
        terminal::TerminalSettings { verbosity: self.verbosity, width: self.width, progress: self.progress }
    }
}

/// Name and home of a user of this machine; the number, where it has no name.
fn account_of(user: u32) -> (String, Option<String>) {
    let accounts = crate::disk::read("/etc/passwd".into(), 16 << 20).unwrap_or_default();
    let accounts = String::from_utf8_lossy(&accounts);
    let account = accounts.lines().find_map(|line| {
        // name, password, user, group, comment, home
        let fields: Vec<&str> = line.split(':').collect();
        let (name, number) = (fields.first()?, fields.get(2)?);
        let home = fields.get(5).filter(|home| home.starts_with('/'));
        (number.parse() == Ok(user)).then(|| ((*name).to_owned(), home.map(|home| (*home).to_owned())))
    });
    account.unwrap_or_else(|| (user.to_string(), None))
}

/// The socket that has the answer, where `ssh` has started this program to ask for a password.
#[expect(clippy::disallowed_methods, reason = "this is the one place that reads the environment")]
pub(super) fn askpass() -> Option<String> {
    std::env::var(ASKPASS).ok()
}

/// This program, for `ssh` to start.
///
/// # Errors
/// When the system does not say where it is.
pub(super) fn program() -> std::io::Result<Utf8PathBuf> {
    Utf8PathBuf::from_path_buf(std::env::current_exe()?)
        .map_err(|path| std::io::Error::other(format!("{} is not UTF-8", path.display())))
}

/// Columns of stderr as the terminal says.
pub(crate) fn console_width() -> Option<usize> {
    columns(&console::Term::stderr())
}

fn columns(terminal: &console::Term) -> Option<usize> {
    terminal.size_checked().map(|(_, columns)| usize::from(columns)).filter(|width| *width > 0)
}
