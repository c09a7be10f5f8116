//! The inventory as it is written: one record per mapping.

use std::num::NonZeroU32;

use serde_json::{Value as Json, json};

use super::expect::Expectations;
use super::host::TransportKind;
use super::maintenance::MaintenanceFile;
use super::nics::Nics;
use super::rollout::{Batch, Canary, Gate};
pub(crate) use super::values::unknown;
pub use super::values::{Busy, Nullable, Policy, PowerCycle, Reason, Reboot, SecretName, Share, Words};
use super::watch::WatchFile;
use crate::config::{Diagnostic, Diagnostics, Entries, FromNode, Node, Period, Sp, Span, Yaml};
use crate::secrets::SecretSource;
use crate::sources::SourcesFile;

/// Comment over the first playbook of an inventory that `init` or `import` makes.
pub const OVER_BASE: &str =
    "  # Also makes an account for jobs and keeps automatic upgrades off the driver: `provision playbook show base`.
";

crate::record! {
    /// An inventory: the hosts of one cluster and what is to be done on them.
    InventoryFile("an inventory") {
        /// Name of the cluster: `[a-z0-9][a-z0-9._-]*`.
        req cluster: Sp<String>,
        /// SSH settings of all hosts.
        opt ssh: SshFile,
        /// Transport by which hosts are reached.
        opt transport: TransportKind,
        /// The playbooks to carry out, in order.
        def playbooks: Vec<Use> = Vec::new(),
        /// Variables of all hosts.
        def vars: Entries<Node> = Entries::default(),
        /// Sources of secrets, by name: `ipmi: { env: IPMI_PASSWORD }`.
        def secrets: Entries<SecretSource> = Entries::default(),
        /// Sources of software: proxy and mirrors.
        opt sources: SourcesFile,
        /// Hosts that a program or a file lists. What `groups` and `hosts` say of them counts, too.
        def hosts_from: Vec<Sp<HostsFromFile>> = Vec::new(),
        /// Groups of hosts.
        opt groups: Sp<Entries<Nullable<GroupFile>>>,
        /// Hosts and what differs between them; a key is a name or a host list.
        opt hosts: Sp<Entries<Nullable<HostFile>>>,
        /// Limits on what a run may interrupt.
        opt policy: Sp<Policy>,
        /// Number of hosts that are worked on at once, and when to stop.
        opt rollout: RolloutFile,
        /// Settings for taking hosts out of service for changes that interrupt, and giving them back.
        opt maintenance: Sp<MaintenanceFile>,
        /// Values that `verify` expects of all hosts.
        def expect: Expectations = Expectations::default(),
        /// Settings of `provision watch`: how often it looks at the hosts, and whom it tells.
        opt watch: WatchFile,
        /// Makes this the inventory of a lab: its hosts exist only there.
        opt lab: Node,
    }
}

crate::record! {
    /// A group of hosts.
    GroupFile("a group" as Group) {
        /// Host lists of its members, written as in Slurm and `clush`: `gpu[000-127,130]` (a leading zero fixes the
        /// width), `r[1-4]n[0-10/2]` (every second number), `a,b`. What is printed is folded in the same way; names
        /// with several numbers may be put together in another order than `nodeset` does it.
        opt hosts: Words,
        /// Groups whose hosts are also members.
        def children: Vec<Sp<String>> = Vec::new(),
        /// Variables of its hosts.
        def vars: Entries<Node> = Entries::default(),
        /// Values that `verify` expects of its hosts.
        def expect: Expectations = Expectations::default(),
        /// Network cards of its hosts.
        opt nics: Sp<Nics>,
        /// SSH settings of its hosts.
        opt ssh: SshFile,
        /// Transport by which its hosts are reached.
        opt transport: TransportKind,
        /// Labels of its hosts.
        def labels: Entries<String> = Entries::default(),
        /// Priority of the group: of two unrelated groups the higher one wins.
        def priority: i64 = 0,
    }
}

crate::record! {
    /// A host, or several that a host list names.
    HostFile("a host" as Host) {
        /// Name or address to connect to; a template over `host`. Default: the name.
        opt address: Sp<String>,
        /// Labels for host expressions.
        def labels: Entries<String> = Entries::default(),
        /// Variables.
        def vars: Entries<Node> = Entries::default(),
        /// Reason why the host is out of service: then it is neither reached nor counted.
        opt offline: Sp<Reason>,
        /// SSH settings of the host.
        opt ssh: SshFile,
        /// Transport by which it is reached.
        opt transport: Sp<TransportKind>,
        /// Its network cards.
        opt nics: Sp<Nics>,
        /// Values that `verify` expects of it.
        def expect: Expectations = Expectations::default(),
        /// Settings of the host in a lab, where they differ from the inventory's `lab:`.
        opt lab: Sp<Node>,
    }
}

crate::record! {
    /// SSH settings of a host. What is left out is left to the user's `ssh_config`.
    SshFile("`ssh`" as Ssh) {
        /// Login name.
        opt user: Sp<String>,
        /// TCP port.
        opt port: Sp<u16>,
        /// Private key; relative to the inventory's file.
        opt identity_file: Sp<String>,
        /// Host keys to accept; relative to the inventory's file.
        opt known_hosts: Sp<String>,
        /// Jump hosts, the first one reached directly: `[user@]host[:port]`.
        opt jump: Sp<Vec<Sp<String>>>,
        /// Method to become root: `none`, `sudo`, or `{ method: sudo, password: { secret: NAME } }`.
        opt become_method("become"): Sp<BecomeFile>,
        /// Passed as `KexAlgorithms`.
        opt kex: Sp<String>,
        /// Longest time of a login: connection, key exchange, authentication, `become`, shell. `5s` to `10m`.
        /// Default: `15s`. The time in front of that, at jump hosts, does not count.
        opt login_timeout: Sp<Period>,
        /// Time that the login stays for the next run after its last use: `1m` to `8h`. Default: it ends with
        /// the run. `provision logins` lists and ends such logins.
        opt persist: Sp<Period>,
    }
}

crate::record! {
    /// Number of hosts that are worked on at once, and when to stop.
    RolloutFile("`rollout`") {
        /// The most hosts worked on at once.
        opt parallel: NonZeroU32,
        /// Hosts that `apply` changes first, alone: the first of the run that have tasks, in the
        /// order of the inventory, or with `per_group` the first of each group. When one of them fails, is
        /// unreachable or is lost, nothing else is started.
        opt canary: Canary,
        /// Hosts per batch after that: a number, or `{ by: rack, at_most: 8 }` for hosts that have one value of
        /// a label. The next batch starts when all of this one have ended.
        opt batch: Batch,
        /// Number of hosts that may fail: a number, or `"5%"` of the hosts of the run, rounded down.
        /// Unreachable and lost hosts count. It is looked at before each host: once more have failed, started
        /// hosts go on and no other host is started.
        opt max_failed: Share,
        /// Checks that hosts must pass after they were changed: with `verify` a host on which one of its
        /// checks fails counts as failed. Where hosts are drained each of them must pass before it is given
        /// back, whatever this says; one that does not stays drained, with the finding as its reason.
        opt gate: Gate,
    }
}

/// `become`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BecomeFile {
    /// `none`
    None,
    /// `sudo`, with the name of the secret that holds the password.
    Sudo(Option<Sp<String>>),
}

crate::choice! {
    /// Method by which the login becomes root.
    BecomeMethod {
        /// Not at all.
        None = "none",
        /// By `sudo`.
        Sudo = "sudo",
    }
}

crate::record! {
    /// Method by which the login becomes root, with a password.
    BecomeRecord("`become`") {
        /// The method.
        req method: BecomeMethod,
        /// The password.
        opt password: SecretName,
    }
}

impl FromNode for BecomeFile {
    fn from_node(node: &Node, diagnostics: &mut Diagnostics) -> Option<Self> {
        if matches!(node.value, Yaml::Bool(_)) || matches!(node.as_str(), Some("yes" | "no" | "on" | "off")) {
            let is_none = node.value == Yaml::Bool(false) || matches!(node.as_str(), Some("no" | "off"));
            let help = if is_none { "write `none`, or leave it out" } else { "write `sudo`" };
            diagnostics
                .push(Diagnostic::error(node.span, "`become` names the way to become root").help(help));
            return None;
        }
        let (method, password) = if matches!(node.value, Yaml::Map(_)) {
            let record = BecomeRecord::from_node(node, diagnostics)?;
            (record.method, record.password.map(|name| name.secret))
        } else {
            (BecomeMethod::from_node(node, diagnostics)?, None)
        };
        Some(match method {
            BecomeMethod::None => Self::None,
            BecomeMethod::Sudo => Self::Sudo(password),
        })
    }

    fn schema() -> Json {
        json!({ "anyOf": [BecomeMethod::schema(), BecomeRecord::schema()] })
    }
}

/// One entry of `playbooks:`.
#[derive(Debug, Clone)]
pub struct Use {
    /// The entry as it is written.
    pub entry: UseRecord,
    /// Place where it is written.
    pub span: Span,
}

crate::record! {
    /// A playbook and how it is used.
    UseRecord("a playbook entry" as PlaybookEntry) {
        /// Built-in name, or path relative to the inventory's file.
        req playbook("use"): Sp<String>,
        /// Host expression (`provision explain host-expressions`). Default: every host.
        opt hosts: Words,
        /// Values for its parameters.
        def with: Entries<Node> = Entries::default(),
        /// Tags of all its tasks.
        def tags: Vec<Sp<String>> = Vec::new(),
    }
}

impl FromNode for Use {
    fn from_node(node: &Node, diagnostics: &mut Diagnostics) -> Option<Self> {
        let entry = match node.as_str() {
            Some(name) => UseRecord {
                playbook: Sp::new(name.to_owned(), node.span),
                hosts: None,
                with: Entries::default(),
                tags: Vec::new(),
            },
            None => UseRecord::from_node(node, diagnostics)?,
        };
        Some(Self { entry, span: node.span })
    }

    fn schema() -> Json {
        json!({ "anyOf": [{ "type": "string" }, UseRecord::schema()] })
    }
}

crate::record! {
    /// A list of hosts that does not stand in the inventory: what a program prints, or a file. Every command that
    /// reads the inventory reads the list, `validate` too.
    ///
    /// The list is JSON or YAML of one of three kinds: `hosts` and `groups` (`{ "hosts": { "gpu0": { "address":
    /// "10.0.0.1" } }, "groups": { "gpu": ["gpu0"] } }`, where a host has the fields that it has in an inventory),
    /// a list of names, or what the API of NetBox answers (`results`): addresses without their mask, roles and tags
    /// as groups, site and rack as labels, and devices that are not active as `offline`.
    HostsFromFile("`hosts_from`" as HostsFrom) {
        /// A program of this machine and its words, no line of a shell. It runs in the directory of the inventory.
        opt run: Sp<Vec<Sp<String>>>,
        /// A file; relative to the inventory's file.
        opt file: Sp<String>,
        /// A group that all hosts of the list are in.
        opt group: Sp<String>,
        /// Time for which the answer of the program is used again. Left out: it is asked each time.
        opt cache: Sp<Period>,
        /// Time limit for the program. Default: `1m`.
        opt timeout: Period,
    }
}

/// A group about which nothing is said.
pub(super) fn empty_group() -> GroupFile {
    GroupFile {
        hosts: None,
        children: Vec::new(),
        vars: Entries::default(),
        expect: Expectations::default(),
        nics: None,
        ssh: None,
        transport: None,
        labels: Entries::default(),
        priority: 0,
    }
}

/// A host about which nothing is said.
pub(super) fn empty_host() -> HostFile {
    HostFile {
        address: None,
        labels: Entries::default(),
        vars: Entries::default(),
        offline: None,
        ssh: None,
        transport: None,
        nics: None,
        expect: Expectations::default(),
        lab: None,
    }
}
