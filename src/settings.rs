//! Settings of the program: its directories, its user, its terminal. `cli` reads them once.

use camino::Utf8PathBuf;

use crate::report::screen::{TerminalSettings, Verbosity};

/// Settings of the whole program.
#[derive(Debug, Clone)]
pub struct Settings {
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
    /// The day, in UTC: what has ended by then is warned of. `$SOURCE_DATE_EPOCH` stands for another one.
    pub today: jiff::civil::Date,
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
    /// The directory of a cluster's runs and locks.
    pub fn cluster_dir(&self, cluster: &str) -> Utf8PathBuf {
        self.state.join(cluster)
    }

    /// Returns the limits of the display.
    pub fn terminal(&self) -> TerminalSettings {
        TerminalSettings { verbosity: self.verbosity, width: self.width, progress: self.progress }
    }
}
