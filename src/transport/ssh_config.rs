//! The `ssh_config` of a run: what we need, then the user's own files.
//!
//! `ssh` is called with the address that the inventory gives, as a person would type it, so that
//! the user's own files say of it what they say to `ssh`: aliases, patterns, `Match`. The program
//! passes the lines of the one host as `-o` options in front of the common part: ssh reads its
//! whole configuration for every login, and ten thousand blocks cost each of them 13 ms.
//! `ssh -F RUN/ssh_config ADDRESS` reproduces a login by hand.

use camino::Utf8Path;
use std::fmt::Write as _;
use std::time::Duration;

use crate::inventory::{Ssh, is_address, is_user};

/// A value that cannot stand in an `ssh_config`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{value}` cannot be used as {key} of an ssh_config: {reason}")]
pub(super) struct ConfigError {
    /// The key of `ssh_config`.
    pub(super) key: &'static str,
    /// The value.
    pub(super) value: String,
    /// Description of what is wrong with it.
    pub(super) reason: &'static str,
}

/// One line: key and its value as it must be written.
pub(super) type Line = (&'static str, String);

/// The `ssh` of a run and what holds for all its logins.
#[derive(Debug, Clone, Copy)]
pub(super) struct Client {
    /// For TCP, banner and key exchange together.
    pub(super) connect_timeout: Duration,
    /// It knows the keys of OpenSSH 8.7.
    pub(super) session_type: bool,
    /// Keys that a file of the inventory's lacks are written there: to look at them, never in a run.
    pub(super) accept_new: bool,
}

impl Client {
    /// The lines that are the same for all hosts; what a user's own file says of these does not count.
    pub(super) fn common(self) -> Vec<Line> {
        let mut lines: Vec<Line> = [
            // Nobody is there to answer; host keys are recorded before, never during a run.
            ("BatchMode", "yes"),
            ("StrictHostKeyChecking", "yes"),
            ("NoHostAuthenticationForLocalhost", "no"),
            ("HashKnownHosts", "no"),
            ("UpdateHostKeys", "no"),
            ("CheckHostIP", "no"),
            ("AddKeysToAgent", "no"),
            // A host that was taken over must not get the user's keys, screen or network.
            ("ForwardAgent", "no"),
            ("ForwardX11", "no"),
            ("ClearAllForwardings", "yes"),
            ("Tunnel", "no"),
            // What a user's own block may set and what would break a host shell.
            ("RemoteCommand", "none"),
            ("RequestTTY", "no"),
            ("PermitLocalCommand", "no"),
            ("EscapeChar", "none"),
            ("VisualHostKey", "no"),
            // Ours are on the command line.
            ("ControlMaster", "no"),
            ("ControlPath", "none"),
            ("ControlPersist", "no"),
            // A dead connection is seen after 15 s. Messages are read, so they must be there.
            ("ServerAliveInterval", "5"),
            ("ServerAliveCountMax", "3"),
            ("ConnectionAttempts", "1"),
            ("LogLevel", "INFO"),
        ]
        .map(|(key, value)| (key, value.to_owned()))
        .to_vec();
        lines.push(connect_timeout(self.connect_timeout));
        if self.session_type {
            let more = [("SessionType", "default"), ("StdinNull", "no"), ("ForkAfterAuthentication", "no")];
            lines.extend(more.map(|(key, value)| (key, value.to_owned())));
        }
        lines
    }

    /// The lines of one host. What is not set is left to the user's own files.
    ///
    /// # Errors
    /// When a value cannot be written.
    pub(super) fn host(self, ssh: &Ssh, proxy: Option<&str>) -> Result<Vec<Line>, ConfigError> {
        let mut lines = self.login(ssh)?;
        if let Some(timeout) = ssh.login_timeout {
            lines.push(connect_timeout(timeout));
        }
        lines.extend(proxy.into_iter().flat_map(proxied));
        Ok(lines)
    }

    /// Returns the lines that hold for a host and for the jump hosts in front of it: user, port and keys.
    pub(super) fn login(self, ssh: &Ssh) -> Result<Vec<Line>, ConfigError> {
        let mut lines = Vec::new();
        if let Some(user) = &ssh.user {
            if !is_user(user) {
                return Err(bad("User", user, "a shell would read more than a name there"));
            }
            lines.push(("User", word("User", user, Tokens::Refuse)?));
        }
        if let Some(port) = ssh.port {
            lines.push(("Port", port.to_string()));
        }
        if let Some(path) = &ssh.identity_file {
            lines.push(("IdentityFile", word("IdentityFile", path.as_str(), Tokens::Percent)?));
            // Else an agent with many keys uses up the server's tries before this one has its turn.
            lines.push(("IdentitiesOnly", "yes".to_owned()));
        }
        if let Some(path) = &ssh.known_hosts {
            lines.push(("UserKnownHostsFile", word("UserKnownHostsFile", path.as_str(), Tokens::Percent)?));
            lines.push(("GlobalKnownHostsFile", "/dev/null".to_owned()));
            lines.push(("VerifyHostKeyDNS", "no".to_owned()));
            if self.session_type {
                lines.push(("KnownHostsCommand", "none".to_owned()));
            }
            if self.accept_new {
                // Not in the common part: a jump host of the user's own file has that one only, and
                // its key would go into the user's own file.
                lines.push(("StrictHostKeyChecking", "accept-new".to_owned()));
            }
        }
        if let Some(kex) = &ssh.kex {
            let plain = |char: char| char.is_ascii_alphanumeric() || "-@.,+^*?_".contains(char);
            if kex.is_empty() || !kex.chars().all(plain) {
                return Err(bad("KexAlgorithms", kex, "a list of algorithm names"));
            }
            lines.push(("KexAlgorithms", kex.clone()));
        }
        Ok(lines)
    }
}

/// The lines after the user's own. Their `SetEnv` wins: sudo's refusals are told apart in English
/// where the host accepts that, and quoted as they are where it does not. Their `SendEnv` adds up,
/// so it is taken back here.
pub(super) fn last() -> [Line; 2] {
    [("SetEnv", "LC_ALL=C".to_owned()), ("SendEnv", "-*".to_owned())]
}

/// The limit of `ssh` for a login that has this much time. Ours comes first, on a busy machine too: it is told the same
/// way whatever a login hangs in.
fn connect_timeout(login: Duration) -> Line {
    ("ConnectTimeout", (login.as_secs() + 5).to_string())
}

/// The lines of what is reached by a command of ours.
pub(super) fn proxied(command: &str) -> [Line; 2] {
    // It carries the bytes, whatever a command of the user's would do.
    [("ProxyCommand", command.to_owned()), ("ProxyUseFdpass", "no".to_owned())]
}

/// The line with which a name stands for an address by hand.
pub(super) fn alias(address: &str) -> Result<Line, ConfigError> {
    Ok(("HostName", word("HostName", address, Tokens::Percent)?))
}

/// The name that `ssh` is called with: a word that is no option, no pattern and no URI.
pub(super) fn name(name: &str) -> Result<&str, ConfigError> {
    if !is_address(name) {
        return Err(bad("Host", name, "letters, digits, `.`, `_`, `-`, `:`, `%`, not `-` first"));
    }
    Ok(name)
}

/// A whole file of blocks.
#[derive(Debug, Default)]
pub(super) struct File(String);

impl File {
    pub(super) fn new(purpose: &str) -> Self {
        Self(format!("# {purpose}\n# Written by provision; overwritten by every run.\n"))
    }

    /// A block; `pattern` is a checked name or `*`.
    pub(super) fn block(&mut self, pattern: &str, lines: &[Line]) -> &mut Self {
        let _ = writeln!(self.0, "\nHost {pattern}");
        for (key, value) in lines {
            let _ = writeln!(self.0, "    {key} {value}");
        }
        self
    }

    /// Includes a file for the block above; a missing one is no error.
    pub(super) fn include(&mut self, path: &Utf8Path) -> Result<&mut Self, ConfigError> {
        if path.as_str().contains(['*', '?', '[', ']', '{', '}']) {
            return Err(bad("Include", path.as_str(), "a path without wildcards"));
        }
        let _ = writeln!(self.0, "    Include {}", word("Include", path.as_str(), Tokens::None)?);
        Ok(self)
    }

    pub(super) fn text(&self) -> &str {
        &self.0
    }
}

/// Treatment of a `%` in a value by ssh.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Tokens {
    /// Expands it: `%%` is one.
    Percent,
    /// Leaves it alone.
    None,
    /// Depends on the version.
    Refuse,
}

fn bad(key: &'static str, value: &str, reason: &'static str) -> ConfigError {
    ConfigError { key, value: value.to_owned(), reason }
}

/// A value as one word. Quotes cannot be escaped before OpenSSH 8.7, so they are refused.
fn word(key: &'static str, value: &str, tokens: Tokens) -> Result<String, ConfigError> {
    if value.is_empty() {
        return Err(bad(key, value, "it is empty"));
    }
    if value.chars().any(|char| char.is_control() || char == '"' || char == '\'') {
        return Err(bad(key, value, "quotes and control characters cannot be written there"));
    }
    if value.contains("${") {
        return Err(bad(key, value, "ssh would expand the `${`"));
    }
    if value.ends_with('\\') || value.contains("\\\\") || value.contains("\\ ") {
        return Err(bad(key, value, "ssh versions differ over this backslash"));
    }
    let value = match tokens {
        Tokens::Percent => value.replace('%', "%%"),
        Tokens::Refuse if value.contains('%') => {
            return Err(bad(key, value, "ssh versions differ over the `%`"));
        }
        Tokens::None | Tokens::Refuse => value.to_owned(),
    };
    let plain = |char: char| char.is_ascii_alphanumeric() || "/._-:%~@+\\".contains(char);
    Ok(if value.chars().all(plain) && !value.starts_with('#') { value } else { format!("\"{value}\"") })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transport::testing::run;

    const CLIENT: Client =
        Client { connect_timeout: crate::transport::CONNECT, session_type: true, accept_new: false };

    fn full() -> Ssh {
        Ssh {
            user: Some("DOM\\ubuntu".to_owned()),
            port: Some(2222),
            identity_file: Some("/home/me/my keys/100%/id".into()),
            known_hosts: Some("/home/me/known#hosts".into()),
            kex: Some("curve25519-sha256".to_owned()),
            login_timeout: Some(Duration::from_mins(1)),
            ..Ssh::default()
        }
    }

    #[test]
    fn ssh_reads_what_was_meant() {
        let dir = tempfile::tempdir().unwrap();
        let dir = Utf8Path::from_path(dir.path()).unwrap();
        let user = dir.join("user config");
        std::fs::write(
            &user,
            "Host *\n  RemoteCommand id\n  RequestTTY force\n  ControlPersist 10m\n  ControlMaster auto\n  \
             ControlPath /tmp/x\n  LocalForward 1234 localhost:80\n  SessionType none\n  LogLevel QUIET\n  \
             ConnectTimeout 999\n  Compression yes\n  StrictHostKeyChecking no\n  Port 7\n",
        )
        .unwrap();
        let mut file = File::new("test");
        let proxy = "ssh -F '/a b' -W '[%h]:%p' bastion";
        let named = |address, lines: Vec<Line>| [vec![alias(address).unwrap()], lines].concat();
        file.block("gpu0", &named("fe80::1%eth0", CLIENT.host(&full(), Some(proxy)).unwrap()));
        file.block("gpu1", &named("10.0.0.1", CLIENT.host(&Ssh::default(), None).unwrap()));
        file.block("*", &CLIENT.common()).include(&user).unwrap();
        let path = dir.join("ssh_config");
        std::fs::write(&path, file.text()).unwrap();
        let read = |host: &str| run("ssh", &["-G", "-F", path.as_str(), host]);
        let gpu0 = read("gpu0");
        for line in [
            "user DOM\\ubuntu",
            "hostname fe80::1%eth0",
            "port 2222",
            "identityfile /home/me/my keys/100%/id",
            "identitiesonly yes",
            "userknownhostsfile /home/me/known#hosts",
            "globalknownhostsfile /dev/null",
            "kexalgorithms curve25519-sha256",
            "connecttimeout 65",
            "proxycommand ssh -F '/a b' -W '[%h]:%p' bastion",
            "batchmode yes",
            "stricthostkeychecking true",
            "requesttty false",
            "controlmaster false",
            "controlpersist no",
            "clearallforwardings yes",
            "sessiontype default",
            "loglevel INFO",
            "serveraliveinterval 5",
            "compression yes",
        ] {
            let unescaped = line.replace("100%", "100%%");
            assert!(gpu0.lines().any(|seen| seen == line || seen == unescaped), "no `{line}` in\n{gpu0}");
        }
        assert!(!gpu0.contains("remotecommand") && !gpu0.contains("controlpath"), "{gpu0}");
        let gpu1 = read("gpu1");
        assert!(gpu1.contains("\nport 7\n") && gpu1.contains("hostname 10.0.0.1\n"), "{gpu1}");
        assert!(gpu1.contains("\nconnecttimeout 20\n"), "{gpu1}");
    }

    #[test]
    fn what_cannot_be_written_is_refused() {
        let with = |change: &dyn Fn(&mut Ssh)| {
            let mut ssh = full();
            change(&mut ssh);
            CLIENT.host(&ssh, None).err().map(|error| error.key)
        };
        assert_eq!(with(&|_| {}), None);
        assert_eq!(with(&|ssh| ssh.user = Some("a\nProxyCommand id".to_owned())), Some("User"));
        for user in ["%u", "-l", "x;id", "$(id)", "`id`", "a|b"] {
            assert_eq!(with(&|ssh| ssh.user = Some(user.to_owned())), Some("User"), "{user}");
        }
        for address in ["", "-oX", "x;id", "$(id)", "`id`", "a|b", "a b", "a\nb"] {
            assert!(name(address).is_err(), "{address:?}");
        }
        assert_eq!(with(&|ssh| ssh.user = Some(String::new())), Some("User"));
        assert_eq!(with(&|ssh| ssh.identity_file = Some("/a\"b".into())), Some("IdentityFile"));
        assert_eq!(with(&|ssh| ssh.identity_file = Some("/a/${HOME}".into())), Some("IdentityFile"));
        assert_eq!(with(&|ssh| ssh.known_hosts = Some("/a\\".into())), Some("UserKnownHostsFile"));
        assert_eq!(with(&|ssh| ssh.kex = Some("a b".to_owned())), Some("KexAlgorithms"));
        for wrong in ["", "-oProxyCommand=id", "a b", "gpu*", "a,b", "a\n", "user@host", "$(id)"] {
            assert!(name(wrong).is_err(), "{wrong:?}");
        }
        assert!(File::new("x").include(Utf8Path::new("/a/*")).is_err());
    }
}
