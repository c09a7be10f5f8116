//! A host as the rest of the program sees it: every layer of the inventory resolved.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use camino::Utf8PathBuf;
use serde_json::{Value as Json, json};

use super::expect::Expect;
use super::nics::Nic;
use crate::config::{Sp, Span};

crate::choice! {
    /// Transport by which a host is reached.
    TransportKind {
        /// Over SSH.
        Ssh = "ssh",
        /// This machine.
        Local = "local",
    }
}

// Who asks more of a transport asks here, so that the compiler names what a new one has to answer.
impl TransportKind {
    /// Whether a host is the machine that this program runs on.
    pub fn is_this_machine(self) -> bool {
        match self {
            Self::Local => true,
            Self::Ssh => false,
        }
    }

    /// Whether a host has a key that ssh must know, and lines of its own in a configuration of ssh.
    pub fn is_ssh(self) -> bool {
        match self {
            Self::Ssh => true,
            Self::Local => false,
        }
    }
}

/// Method to become root on a host.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Become {
    /// Not at all: what the login may do is enough.
    #[default]
    None,
    /// By `sudo`.
    Sudo {
        /// Name of the secret in `secrets:` that holds the password, when one is needed.
        password: Option<String>,
    },
}

/// SSH settings of a host; paths are absolute. What is `None` is left to the user's own `ssh_config`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Ssh {
    /// Login name.
    pub user: Option<String>,
    /// TCP port.
    pub port: Option<u16>,
    /// Private key.
    pub identity_file: Option<Utf8PathBuf>,
    /// Host keys to accept, and no others.
    pub known_hosts: Option<Utf8PathBuf>,
    /// Jump hosts, the first one reached directly. `[user@]host[:port]`.
    pub jump: Vec<String>,
    /// Method to become root.
    pub become_method: Become,
    /// `KexAlgorithms`, when set.
    pub kex: Option<String>,
    /// Longest time of a login, until the host shell has spoken.
    pub login_timeout: Option<Duration>,
    /// Time that the login stays after its last use, and where that is said; `None` ends it with the run.
    pub persist: Option<Sp<Duration>>,
}

/// Layer that set the value of a variable, weakest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Layer {
    /// Default of a parameter of the playbook.
    Default,
    /// `vars:` of the cluster.
    Cluster,
    /// `vars:` of a group.
    Group,
    /// `vars:` of the host.
    Host,
    /// `with:` of a playbook entry or an include.
    With,
    /// `vars:` of the task.
    Task,
    /// `--set` on the command line.
    Set,
}

/// A variable with its origin.
#[derive(Debug, Clone, PartialEq)]
pub struct Var {
    /// The value.
    pub value: Json,
    /// The layer that won.
    pub layer: Layer,
    /// `group a100`, `host gpu3`, `--set` ... for people.
    pub origin: String,
    /// Place where it is written.
    pub span: Span,
}

/// Variables by name; hosts that have the same ones share them.
pub type Vars = Arc<BTreeMap<String, Var>>;

/// One host with everything that the inventory says of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Host {
    /// Its name in the inventory; unique.
    pub name: String,
    /// Its place in the inventory, from 0.
    pub index: usize,
    /// The last number in its name: 17 for `gpu017`.
    pub number: Option<u64>,
    /// Groups it is in, directly or through children.
    pub groups: BTreeSet<String>,
    /// `labels:`, such as `rack: r1`.
    pub labels: BTreeMap<String, String>,
    /// Reason why it is out of service: then it is neither reached nor counted.
    pub offline: Option<String>,
    /// Name or address that is connected to.
    pub address: String,
    /// Transport by which it is reached.
    pub transport: TransportKind,
    /// The SSH side of that.
    pub ssh: Ssh,
    /// Cluster, group and host variables, resolved.
    pub vars: Vars,
    /// `nics:` of its group or itself.
    pub nics: Vec<Nic>,
    /// `expect:` of cluster, groups and host.
    pub expect: Expect,
    /// User that starts jobs on it by what its tasks promise; filled in where somebody asks.
    pub mesh_user: Option<String>,
    /// Place where it was first named.
    pub span: Span,
}

impl Host {
    /// The host as its user logs in, in a login of its own: who starts jobs is not root, and limits are those of
    /// a new login.
    #[must_use]
    pub fn as_login(&self) -> Self {
        let ssh = Ssh { become_method: Become::None, persist: None, ..self.ssh.clone() };
        Self { ssh, ..self.clone() }
    }

    /// This machine in place of it, as who runs this program.
    #[must_use]
    pub fn here(&self) -> Self {
        let ssh = Ssh { become_method: Become::None, ..self.ssh.clone() };
        Self { name: "this machine".to_owned(), transport: TransportKind::Local, ssh, ..self.clone() }
    }

    /// Returns the user that starts jobs on it, where `expect:` or its tasks say so.
    pub fn mpi_user(&self) -> Option<&str> {
        let declared = self.expect.software.as_ref().and_then(|software| software.mpi_user.as_deref());
        declared.or(self.mesh_user.as_deref())
    }

    /// The fields of what templates see as `host`.
    const FIELDS: [&str; 7] = ["name", "index", "number", "address", "groups", "labels", "nics"];

    /// Returns what templates see as `host`.
    pub fn view(&self) -> Json {
        Self::FIELDS.into_iter().filter_map(|name| Some((name.to_owned(), self.field(name)?))).collect()
    }

    /// One field of what templates see as `host`; `None` where there is no such field.
    pub fn field(&self, name: &str) -> Option<Json> {
        Some(match name {
            "name" => json!(self.name),
            "index" => json!(self.index),
            "number" => json!(self.number),
            "address" => json!(self.address),
            "groups" => json!(self.groups),
            "labels" => json!(self.labels),
            "nics" => self.nics.iter().map(Nic::view).collect(),
            _ => return None,
        })
    }
}
