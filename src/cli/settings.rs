//! Settings from the environment and the terminal; the only place that reads them.

use std::io::IsTerminal as _;

use camino::Utf8PathBuf;

use super::args::Global;
use crate::events;
use crate::journal::{cache_home, state_home};
use crate::report::screen::Verbosity;
use crate::settings::Settings;
use crate::transport::ASKPASS;

/// Reads environment and terminal.
#[expect(clippy::disallowed_methods, reason = "this is the one place that reads the environment")]
pub(super) fn read(global: &Global) -> Settings {
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
    Settings {
        state: state_home(home.as_deref(), variable("XDG_STATE_HOME").as_deref(), user),
        cache: cache_home(home.as_deref(), variable("XDG_CACHE_HOME").as_deref(), user),
        home: home.map(Utf8PathBuf::from),
        sudo_user: variable("SUDO_UID").and_then(|number| number.parse().ok()).filter(|_| user == 0),
        user: variable("USER").or_else(|| variable("LOGNAME")).unwrap_or(name),
        locale: variable("LC_ALL").or_else(|| variable("LC_CTYPE")).or_else(|| variable("LANG")),
        runtime_dir: variable("XDG_RUNTIME_DIR").map(Utf8PathBuf::from),
        today: today(),
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

/// The day of `SOURCE_DATE_EPOCH` where it is set, else of now: a program that goes on for days asks again.
#[expect(clippy::disallowed_methods, reason = "this is the one place that reads the environment")]
pub(super) fn today() -> jiff::civil::Date {
    std::env::var("SOURCE_DATE_EPOCH")
        .ok()
        .and_then(|seconds| jiff::Timestamp::from_second(seconds.parse().ok()?).ok())
        .map_or_else(events::today, events::day)
}

/// The socket that has the answer, where `ssh` has started this program to ask for a password.
#[expect(clippy::disallowed_methods, reason = "this is the one place that reads the environment")]
pub(super) fn askpass() -> Option<String> {
    std::env::var(ASKPASS).ok()
}

/// Columns of stderr as the terminal says.
pub(crate) fn console_width() -> Option<usize> {
    columns(&console::Term::stderr())
}

fn columns(terminal: &console::Term) -> Option<usize> {
    terminal.size_checked().map(|(_, columns)| usize::from(columns)).filter(|width| *width > 0)
}
