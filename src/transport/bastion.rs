//! Jump hosts: one login each, shared by all hosts behind it.
//!
//! ```text
//!   ssh -M -N -S RUN/j0 -F jump0 bastion                         opened first, may ask on a terminal
//!   ssh ... -o 'ProxyCommand ssh -F jump0 -S RUN/j0 -W ...' host   a channel, not a login
//! ```
//!
//! Measured with 30 hosts: `ProxyJump` makes 60 logins in 2.9 s, this 31 in 1.6 s. Each jump host
//! has a configuration file of its own, so that a chain needs no quoting inside quoting and a
//! jump host may also be a host of the inventory.

use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use tokio::sync::{Mutex, Semaphore};
use tokio::time::Instant;

use super::login::Master;
use super::quote::quote;
use super::run_dir::{RunDir, Socket};
use super::ssh_config::{self, Client, ConfigError, File, Line};
use super::ssh_settings::SshSettings;
use super::{ConnectKind, TransportError, classify};
use crate::disk;
use crate::inventory::{Endpoint, Host, Ssh};

/// Time limit for a person to answer a jump host.
const ANSWER: Duration = Duration::from_mins(3);
/// Time for which a failure holds for the hosts that come after.
const HOLD: Duration = Duration::from_secs(10);

/// All jump hosts of a run; a chain is known by the number of its last one.
#[derive(Debug, Default)]
pub(super) struct Bastions {
    list: Vec<Bastion>,
    /// One question at a time on the terminal.
    terminal: Mutex<()>,
}

#[derive(Debug)]
struct Bastion {
    key: Key,
    /// The jump host in front of it.
    via: Option<usize>,
    /// Its name here.
    name: String,
    /// Address that `ssh` is called with.
    address: String,
    config: Utf8PathBuf,
    socket: Socket,
    state: Mutex<State>,
    ramp: Semaphore,
}

/// Properties by which two hosts share a jump host.
#[derive(Debug, PartialEq, Eq)]
struct Key {
    via: Option<usize>,
    name: String,
    address: String,
    lines: Vec<Line>,
}

#[derive(Debug)]
enum State {
    Closed,
    Open(Master),
    Failed(TransportError, Instant),
}

/// A jump host as `jump:` has it.
#[derive(Debug, PartialEq, Eq)]
struct Jump<'a> {
    user: Option<&'a str>,
    host: &'a str,
    port: Option<u16>,
}

impl<'a> Jump<'a> {
    fn read(text: &'a str) -> Result<Self, ConfigError> {
        let wrong = |reason| ConfigError { key: "jump", value: text.to_owned(), reason };
        let Endpoint { user, host, port, .. } =
            Endpoint::jump(text).map_err(|_| wrong("`[address]:port` is wanted"))?;
        let port = port.map(str::parse).transpose().map_err(|_| wrong("its port is no port number"))?;
        ssh_config::name(host)?;
        Ok(Self { user, host, port })
    }
}

impl Bastions {
    /// The number of the jump host that `host` is reached through, with the files of the whole
    /// chain written to `dir`. `None` where it is reached directly.
    pub(super) fn plan(
        &mut self,
        host: &Host,
        hosts: &[Host],
        dir: &Utf8Path,
        run: &RunDir,
        settings: &SshSettings,
        client: Client,
    ) -> Result<Option<usize>, TransportError> {
        let local = |error: &dyn std::fmt::Display| classify::connect(ConnectKind::Other, error.to_string());
        let mut via = None;
        for text in &host.ssh.jump {
            let jump = Jump::read(text).map_err(|error| local(&error))?;
            if jump.host == host.name || jump.host == host.address {
                // It is the jump host: those in front of it are its way.
                break;
            }
            let known = hosts.iter().find(|known| known.name == jump.host);
            let lines = lines(&jump, known, &host.ssh, client).map_err(|error| local(&error))?;
            let address = known.map_or(jump.host, |known| &known.address);
            let address = ssh_config::name(address).map_err(|error| local(&error))?.to_owned();
            let key = Key { via, name: jump.host.to_owned(), address, lines };
            via = Some(match self.list.iter().position(|bastion| bastion.key == key) {
                Some(index) => index,
                None => self.add(key, dir, run, settings, client).map_err(|error| local(&error))?,
            });
        }
        Ok(via)
    }

    fn add(
        &mut self,
        key: Key,
        dir: &Utf8Path,
        run: &RunDir,
        settings: &SshSettings,
        client: Client,
    ) -> std::io::Result<usize> {
        let index = self.list.len();
        let config = dir.join(format!("jump{index}"));
        let mut lines = key.lines.clone();
        if let Some(proxy) = key.via.and_then(|via| self.proxy(via)) {
            lines.extend(ssh_config::proxied(&proxy));
        }
        let mut common = client.common();
        if settings.terminal {
            common.retain(|(key, _)| *key != "BatchMode");
        }
        lines.extend(common);
        let mut file = File::new(&format!("The way to the jump host {}.", key.name));
        file.block("*", &lines);
        for path in &settings.user_files {
            file.include(path).map_err(std::io::Error::other)?;
        }
        file.block("*", &ssh_config::last());
        disk::replace(&config, file.text().as_bytes())?;
        self.list.push(Bastion {
            via: key.via,
            name: key.name.clone(),
            address: key.address.clone(),
            key,
            config,
            socket: run.socket('j'),
            state: Mutex::new(State::Closed),
            ramp: Semaphore::new(settings.ramp.max(1)),
        });
        Ok(index)
    }

    /// The `ProxyCommand` of what is behind a jump host.
    pub(super) fn proxy(&self, index: usize) -> Option<String> {
        let bastion = self.list.get(index)?;
        let config = quote(bastion.config.as_str()).replace('%', "%%");
        let address = bastion.address.replace('%', "%%");
        Some(format!("ssh -F {config} -S {} -W '[%h]:%p' {address}", bastion.socket.path()))
    }

    /// The gate for logins through a jump host.
    pub(super) fn ramp(&self, index: usize) -> Option<&Semaphore> {
        self.list.get(index).map(|bastion| &bastion.ramp)
    }

    /// Sees to it that the jump host and those in front of it are open.
    pub(super) async fn open(&self, index: usize, settings: &SshSettings) -> Result<(), TransportError> {
        let mut chain = Vec::new();
        let mut next = Some(index);
        while let Some(bastion) = next.and_then(|index| self.list.get(index)) {
            chain.push(bastion);
            next = bastion.via;
        }
        for bastion in chain.into_iter().rev() {
            let mut state = bastion.state.lock().await;
            match &mut *state {
                State::Open(master) => {
                    if master.is_alive() {
                        continue;
                    }
                }
                State::Failed(error, at) if at.elapsed() < HOLD => return Err(error.clone()),
                State::Failed(..) | State::Closed => {}
            }
            *state = State::Closed;
            let opened = if settings.terminal {
                let _turn = self.terminal.lock().await;
                bastion.log_in(true, ANSWER).await
            } else {
                bastion.log_in(false, settings.connect_timeout + Duration::from_secs(5)).await
            };
            match opened {
                Ok(master) => *state = State::Open(master),
                Err(error) => {
                    *state = State::Failed(error.clone(), Instant::now());
                    return Err(error);
                }
            }
        }
        Ok(())
    }

    /// The error of a host behind a jump host, with what that one said.
    pub(super) async fn explain(&self, index: usize, error: TransportError) -> TransportError {
        let Some(bastion) = self.list.get(index) else { return error };
        match &*bastion.state.lock().await {
            State::Open(_) => classify::refused_channel(error, &bastion.name, &bastion.socket.words()),
            State::Closed | State::Failed(..) => error,
        }
    }

    /// Ends the logins, the last of each chain first.
    pub(super) async fn close(&self) {
        for bastion in self.list.iter().rev() {
            let mut state = bastion.state.lock().await;
            if let State::Open(mut master) = std::mem::replace(&mut *state, State::Closed) {
                master.close(bastion.socket.path()).await;
            }
        }
    }
}

impl Bastion {
    #[tracing::instrument(
        name = "login", level = "debug", skip_all, err(level = "debug"), fields(jump_host = self.name)
    )]
    async fn log_in(&self, terminal: bool, deadline: Duration) -> Result<Master, TransportError> {
        let (socket, log) = (self.socket.path(), self.socket.log());
        let arguments = [
            "-M",
            "-N",
            "-S",
            socket.as_str(),
            "-E",
            log.as_str(),
            "-F",
            self.config.as_str(),
            &self.address,
        ];
        let opened = Master::open(&arguments.map(str::to_owned), &self.socket, terminal, deadline).await;
        opened.map_err(|error| {
            classify::connect(
                ConnectKind::Jump,
                format!("the jump host {} was not reached: {error}", self.name),
            )
        })
    }
}

/// The file beside a host's where new keys of the jump hosts in front of it are written: by its
/// name alone a line does not say whose it is.
pub(crate) fn keys_of_jump_hosts(known_hosts: &Utf8Path) -> Utf8PathBuf {
    format!("{known_hosts}.jump").into()
}

/// Returns the lines for a jump host: those of the host of the inventory that it is, else the keys of the
/// hosts behind it, with user and port of the entry; the rest is the user's own configuration.
fn lines(
    jump: &Jump<'_>,
    known: Option<&Host>,
    behind: &Ssh,
    client: Client,
) -> Result<Vec<Line>, ConfigError> {
    let mut ssh = match known {
        Some(host) => host.ssh.clone(),
        None => Ssh { user: None, port: None, ..behind.clone() },
    };
    if client.accept_new && known.is_none() {
        ssh.known_hosts = ssh.known_hosts.as_deref().map(keys_of_jump_hosts);
    }
    if let Some(user) = jump.user {
        ssh.user = Some(user.to_owned());
    }
    ssh.port = jump.port.or(ssh.port);
    client.login(&ssh)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jumps_are_read() {
        let jump = |user, host, port| Jump { user, host, port };
        assert_eq!(Jump::read("bastion").unwrap(), jump(None, "bastion", None));
        assert_eq!(
            Jump::read("me@bastion.example.org:2222").unwrap(),
            jump(Some("me"), "bastion.example.org", Some(2222))
        );
        assert_eq!(Jump::read("[::1]:22").unwrap(), jump(None, "::1", Some(22)));
        assert_eq!(Jump::read("a@b@fe80::1").unwrap(), jump(Some("a@b"), "fe80::1", None));
        assert_eq!(Jump::read("ssh://me@bastion:22/").unwrap(), jump(Some("me"), "bastion", Some(22)));
        for wrong in ["", "-oProxyCommand=x", "a b", "host:port", "host:99999", "$(id)", "a@"] {
            assert!(Jump::read(wrong).is_err(), "{wrong}");
        }
    }
}
