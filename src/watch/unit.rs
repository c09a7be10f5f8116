//! The systemd unit of a watch.

use camino::Utf8Path;

use crate::put;

/// Settings of a unit; paths are absolute.
#[derive(Debug, Clone)]
pub struct Unit<'a> {
    /// Name of the cluster.
    pub cluster: &'a str,
    /// This program.
    pub program: &'a Utf8Path,
    /// The inventory.
    pub inventory: &'a Utf8Path,
    /// Further arguments.
    pub arguments: &'a [String],
    /// User that the unit runs as.
    pub user: &'a str,
    /// Directory of that user's state.
    pub state: &'a Utf8Path,
    /// Whether this machine is one of the hosts: then the watch becomes root here.
    pub local: bool,
}

/// The text of the unit.
///
/// What `systemd.exec(5)` offers and a watch does not need is taken away: it opens connections, starts `ssh` and
/// the commands of secrets, and writes its state.
pub fn unit(unit: &Unit<'_>) -> String {
    let Unit { cluster, program, inventory, arguments, user, state, local } = unit;
    let words = [program.as_str(), "watch", inventory.as_str()].into_iter();
    // Variables are filled in there alone.
    let command: Vec<String> =
        words.chain(arguments.iter().map(String::as_str)).map(|text| word(text).replace('$', "$$")).collect();
    let mut text = format!("# /etc/systemd/system/provision-watch-{cluster}.service\n");
    put!(text, "[Unit]\nDescription=provision watch of the cluster {cluster}\n");
    put!(text, "Wants=network-online.target\nAfter=network-online.target\n\n");
    put!(text, "[Service]\nType=exec\nUser={user}\nExecStart={}\n", command.join(" "));
    put!(text, "Restart=always\nRestartSec=30\nSuccessExitStatus=143\n");
    if let (Some("provision"), Some(home)) = (state.file_name(), state.parent()) {
        put!(text, "Environment={}\n", word(&format!("XDG_STATE_HOME={home}")));
    }
    put!(text, "# Sockets of ssh.\nRuntimeDirectory=provision-watch-{cluster}\nRuntimeDirectoryMode=0700\n");
    put!(text, "Environment=XDG_RUNTIME_DIR=%t/provision-watch-{cluster}\n\n");
    put!(text, "# The state is all that it writes.\nProtectSystem=strict\nProtectHome=read-only\n");
    put!(text, "ReadWritePaths={}\nPrivateTmp=yes\nUMask=0077\n", word(state.as_str()));
    // Each of these forbids sudo.
    let narrow = if *local { &[][..] } else { NARROW };
    for setting in narrow {
        put!(text, "{setting}\n");
    }
    put!(text, "LimitCORE=0\nTimeoutStopSec=2min\n\n[Install]\nWantedBy=multi-user.target\n");
    text
}

/// Settings that take away what a program which only talks to other machines does not need.
const NARROW: &[&str] = &[
    "NoNewPrivileges=yes",
    "PrivateDevices=yes",
    "ProtectClock=yes",
    "ProtectControlGroups=yes",
    "ProtectHostname=yes",
    "ProtectKernelLogs=yes",
    "ProtectKernelModules=yes",
    "ProtectKernelTunables=yes",
    "RestrictNamespaces=yes",
    "RestrictRealtime=yes",
    "RestrictSUIDSGID=yes",
    "LockPersonality=yes",
    "RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6 AF_NETLINK",
    "SystemCallArchitectures=native",
    "CapabilityBoundingSet=",
];

/// One word as `systemd.syntax(7)` reads it: quoted where it must be, without specifiers.
fn word(text: &str) -> String {
    let text = text.replace('\\', "\\\\").replace('"', "\\\"").replace('%', "%%");
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-=:,@%+$".contains(c);
    if text.chars().all(plain) { text } else { format!("\"{text}\"") }
}
