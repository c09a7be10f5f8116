//! Settings of a run for its logins.

use std::time::Duration;

use camino::Utf8PathBuf;

use super::CONNECT;
use super::askpass::PasswordLogins;
use super::persistent::Keep;

/// Settings of a run for its logins.
#[derive(Debug, Clone)]
pub struct SshSettings {
    /// `$XDG_RUNTIME_DIR`; sockets go below it, else below /tmp.
    pub runtime_dir: Option<Utf8PathBuf>,
    /// Directory to which the `ssh_config` of the run is written, to be kept with its journal; else it goes
    /// with the sockets when the run ends.
    pub config_dir: Option<Utf8PathBuf>,
    /// The user's and the system's own `ssh_config`, read after ours: with `-F` ssh reads neither by itself.
    pub user_files: Vec<Utf8PathBuf>,
    /// For TCP, banner and key exchange together.
    pub connect_timeout: Duration,
    /// Logins that are under way at once; the controller's cores are the limit.
    pub logins: usize,
    /// Logins that are under way at once through one jump host: its `MaxStartups` is 10:30:100.
    pub ramp: usize,
    /// Whether somebody is there to be asked for the passphrase or code of a jump host.
    pub terminal: bool,
    /// Whether the key of a host that `known_hosts` does not have is taken and written there: only
    /// for looking at keys into a throw-away file, never for a run.
    pub accept_new: bool,
    /// Logs in by password where a host has no key yet.
    pub passwords: Option<PasswordLogins>,
    /// Lets logins stay where `ssh.persist` says so; without it none does.
    pub keep: Option<Keep>,
}

impl Default for SshSettings {
    fn default() -> Self {
        Self {
            runtime_dir: None,
            config_dir: None,
            user_files: vec!["~/.ssh/config".into(), "/etc/ssh/ssh_config".into()],
            connect_timeout: CONNECT,
            logins: 64,
            ramp: 8,
            terminal: false,
            accept_new: false,
            passwords: None,
            keep: None,
        }
    }
}
