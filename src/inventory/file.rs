//! The inventory as it is written: one record per mapping.

use std::num::NonZeroU32;

use serde_json::{Value as Json, json};

use super::expect::Expectations;
use super::host::TransportKind;
use super::hosts_from::HostsFromFile;
use super::maintenance::MaintenanceFile;
use super::rollout::{Batch, Canary, Gate};
use super::watch::WatchFile;
use crate::config::{
    Diagnostic,
    read::{keys_in_brackets, wrong_type},
    yaml::scalar,
};
use crate::config::{Diagnostics, Entries, FromNode, Node, Period, Sp, Span, Yaml, did_you_mean_text};
use crate::secrets::SecretSource;
use crate::sources::SourcesFile;
use crate::template::paths::is_template;

/// Comment over the first playbook of an inventory that `init` or `import` makes.
pub const OVER_BASE: &str =
    "  # Also makes an account for jobs and turns automatic upgrades off: `provision playbook show base`.
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
    GroupFile("a group") {
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
    HostFile("a host") {
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
    SshFile("`ssh`") {
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
        /// Time that the login stays for the next run after its last use: `1m` to `8h`. Default: it ends with
        /// the run. `provision logins` lists and ends such logins.
        opt persist: Sp<Period>,
    }
}

crate::choice! {
    /// Whether a host may be rebooted.
    Reboot {
        /// Never; what needs one waits.
        Never = "never",
        /// When a change needs it.
        Allow = "allow",
    }
}

crate::choice! {
    /// Treatment of a host that is in use when a change would interrupt it.
    Busy {
        /// The change is refused.
        Refuse = "refuse",
        /// The host gets no new job, and the change waits until the last one has ended. It needs `maintenance:`.
        Drain = "drain",
    }
}

crate::record! {
    /// Limits on what a run may interrupt.
    #[derive(PartialEq, Eq)]
    Policy("`policy`") {
        /// Whether hosts may be rebooted.
        def reboot: Reboot = Reboot::Never,
        /// Treatment of hosts in use.
        def busy: Busy = Busy::Refuse,
        /// Number of hosts that may be down for a reboot at once. Default: 16.
        opt reboot_parallel: NonZeroU32,
        /// A command of the machine that runs `provision`, which turns a host off and on. It is run once when a
        /// host that is drained does not come back from a reboot in its time, and never twice in a run. It needs
        /// `maintenance:`.
        opt power_cycle: PowerCycle,
    }
}

crate::record! {
    /// Command that turns a host off and on.
    #[derive(PartialEq, Eq)]
    PowerCycle("`power_cycle`") {
        /// The command, word by word; a word may hold `{{ host.name }}` and what else an address may read.
        req run: Vec<Sp<String>>,
    }
}

impl Policy {
    /// Returns the number of hosts that may be down for a reboot at once.
    pub fn reboots(&self) -> usize {
        self.reboot_parallel.map_or(16, |number| usize::try_from(number.get()).unwrap_or(usize::MAX))
    }
}

impl Default for Policy {
    fn default() -> Self {
        Self { reboot: Reboot::Never, busy: Busy::Refuse, reboot_parallel: None, power_cycle: None }
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

crate::choice! {
    /// Purpose of a network card.
    NicRole {
        /// RDMA traffic of jobs.
        Compute = "compute",
        /// Storage traffic.
        Storage = "storage",
        /// Logins and management.
        Management = "management",
    }
}

crate::record! {
    /// Properties by which a network card is recognised: every key that is given must match.
    NicMatch("`match`") {
        /// PCI address, such as `0000:18:00.0`.
        opt pci: PciAddress,
        /// Name of the network device.
        opt netdev: String,
        /// GUID of the port.
        opt guid: String,
        /// Kernel driver, such as `mlx5_core`.
        opt driver: String,
    }
}

crate::record! {
    /// A network card.
    Nic("a network card") {
        /// Properties by which it is recognised.
        req matching("match"): NicMatch,
        /// Its purpose.
        opt role: NicRole,
        /// Its rail, from 0.
        opt rail: u32,
        /// MTU in bytes.
        opt mtu: u32,
        /// Link rate in Gb/s.
        opt rate_gbps: u32,
    }
}

/// Checked network cards, kept as they are written.
#[derive(Debug, Clone, PartialEq)]
pub struct Nics(pub Json);

impl FromNode for Nics {
    fn from_node(node: &Node, diagnostics: &mut Diagnostics) -> Option<Self> {
        let nics = Vec::<Nic>::from_node(node, diagnostics)?;
        let is_said = |by: &NicMatch| {
            by.pci.is_some() || by.netdev.is_some() || by.guid.is_some() || by.driver.is_some()
        };
        if !nics.iter().all(|nic| is_said(&nic.matching)) {
            diagnostics.push(
                Diagnostic::error(node.span, "a card here is recognised by nothing")
                    .help("write `match: { netdev: eth2 }`, or its `pci`, `guid` or `driver`"),
            );
            return None;
        }
        let mut cards = node.to_json();
        for (card, nic) in cards.as_array_mut().into_iter().flatten().zip(&nics) {
            if let (Some(pci), Some(read)) = (card.pointer_mut("/match/pci"), &nic.matching.pci) {
                *pci = json!(read.0);
            }
        }
        Some(Self(cards))
    }

    fn schema() -> Json {
        Vec::<Nic>::schema()
    }
}

/// Reason why a host is out of service.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reason(pub String);

impl FromNode for Reason {
    fn from_node(node: &Node, diagnostics: &mut Diagnostics) -> Option<Self> {
        let is_word = |text: &str| matches!(text.trim(), "" | "true" | "false" | "yes" | "no");
        if matches!(node.value, Yaml::Bool(_)) || node.as_str().is_some_and(is_word) {
            diagnostics.push(
                Diagnostic::error(node.span, "this is not why the host is out of service")
                    .help("write the reason, as in `offline: \"power supply, RMA 4711\"`; a host that is in service has no `offline`"),
            );
            return None;
        }
        String::from_node(node, diagnostics).map(Self)
    }

    fn schema() -> Json {
        json!({ "type": "string", "minLength": 1 })
    }
}

/// A PCI address with its domain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PciAddress(pub String);

impl FromNode for PciAddress {
    fn from_node(node: &Node, diagnostics: &mut Diagnostics) -> Option<Self> {
        let text = String::from_node(node, diagnostics)?;
        let is_whole = |text: &str| {
            let parts: Vec<&str> = text.split([':', '.']).collect();
            let lengths: Vec<usize> = parts.iter().map(|part| part.len()).collect();
            lengths == [4, 2, 2, 1]
                && parts.iter().all(|part| part.bytes().all(|byte| byte.is_ascii_hexdigit()))
        };
        if is_template(&text) {
            return Some(Self(text));
        }
        if is_whole(&text) {
            // As sysfs names it; devices are compared with that.
            return Some(Self(text.to_ascii_lowercase()));
        }
        let diagnostic = Diagnostic::error(node.span, format!("`{text}` is not a PCI address"));
        // As nvidia-smi prints it, or lspci.
        let with_domain = text
            .strip_prefix("0000")
            .filter(|rest| is_whole(rest))
            .map_or_else(|| format!("0000:{text}"), str::to_ascii_lowercase);
        diagnostics.push(if is_whole(&with_domain) {
            diagnostic.help(format!("write it with its domain, as `lspci -D` prints it: `\"{with_domain}\"`"))
        } else {
            diagnostic.help("it is written as `lspci -D` prints it: `\"0000:18:00.0\"`")
        });
        None
    }

    fn schema() -> Json {
        json!({ "type": "string" })
    }
}

/// A mapping that may be left empty.
#[derive(Debug, Clone)]
pub struct Nullable<T>(pub Option<T>);

impl<T: FromNode> FromNode for Nullable<T> {
    fn from_node(node: &Node, diagnostics: &mut Diagnostics) -> Option<Self> {
        if node.is_null() {
            Some(Self(None))
        } else {
            T::from_node(node, diagnostics).map(|it| Self(Some(it)))
        }
    }

    fn schema() -> Json {
        json!({ "anyOf": [T::schema(), { "type": "null" }] })
    }
}

/// One text or a list of them.
#[derive(Debug, Clone, PartialEq)]
pub struct Words(pub Vec<Sp<String>>);

impl FromNode for Words {
    fn from_node(node: &Node, diagnostics: &mut Diagnostics) -> Option<Self> {
        if matches!(node.value, Yaml::List(_)) {
            Vec::from_node(node, diagnostics).map(Self)
        } else if let Yaml::Map(entries) = &node.value {
            let text = format!("expected a text or a list of them, found {}", node.value.kind());
            diagnostics.push(Diagnostic::error(node.span, text).maybe_help(keys_in_brackets(entries)));
            None
        } else {
            Sp::from_node(node, diagnostics).map(|word| Self(vec![word]))
        }
    }

    fn schema() -> Json {
        json!({ "anyOf": [{ "type": "string" }, { "type": "array", "items": { "type": "string" } }] })
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

crate::record! {
    /// A reference to a secret.
    SecretName("a reference to a secret") {
        /// Its name in `secrets:`.
        req secret: Sp<String>,
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

/// A number of hosts, or a share of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Share {
    /// So many hosts.
    Hosts(u32),
    /// So many of a hundred hosts.
    Percent(u32),
}

impl FromNode for Share {
    fn from_node(node: &Node, diagnostics: &mut Diagnostics) -> Option<Self> {
        if let Some(text) = node.as_str() {
            let percent = text.strip_suffix('%').and_then(|number| number.trim().parse::<u32>().ok());
            if let Some(percent) = percent.filter(|percent| *percent <= 100) {
                return Some(Self::Percent(percent));
            }
            diagnostics.push(
                Diagnostic::error(node.span, format!("`{text}` is not a number of hosts"))
                    .help("write `3` or `\"5%\"`"),
            );
            return None;
        }
        if !matches!(node.value, Yaml::Int(_)) {
            wrong_type(node, "a number or a percentage", diagnostics);
            return None;
        }
        u32::from_node(node, diagnostics).map(Self::Hosts)
    }

    fn schema() -> Json {
        json!({ "anyOf": [{ "type": "integer", "minimum": 0 }, { "type": "string", "pattern": "^[0-9]{1,3}%$" }] })
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
    UseRecord("a playbook entry") {
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

/// Reports a name that is not known.
pub(crate) fn unknown<'a>(
    what: &str,
    name: &Sp<String>,
    known: impl IntoIterator<Item = &'a str>,
    diagnostics: &mut Diagnostics,
) {
    let name_of = &name.value;
    let define = || match what {
        "secret" => Some(format!(
            "`secrets: {{ {name_of}: {{ env: VARIABLE }} }}` in the inventory says where it comes from; see `provision explain secrets`"
        )),
        "handler" => Some(format!(
            "a handler stands under `handlers:` of the playbook, like a task, with `name: {}`",
            scalar(name_of)
        )),
        _ => None,
    };
    let help = did_you_mean_text(name_of, known).or_else(define);
    diagnostics
        .push(Diagnostic::error(name.span, format!("there is no {what} `{name_of}`")).maybe_help(help));
}
