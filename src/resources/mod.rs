//! What should be: one file per resource.
//!
//! A resource is read from a task's mapping with [`record!`](crate::record), names the queries it
//! needs and is a pure function from its fields and the facts to [`Change`]s. It opens no
//! connection, reads no clock and no file of this machine (the loader did that).
//!
//! To add a resource: one file with its record, its `plan` and its cases, an example in
//! `examples/`, one line in the table of [`kinds`]; `docs/contributing/adding-a-resource.md`.

pub mod archive;
pub mod authorized_key;
mod boot_unit;
pub mod build;
pub mod build_once;
pub mod command;
mod content;
pub mod copy;
pub mod directory;
pub mod distribute;
pub mod download;
mod driver_changes;
mod driver_packages;
pub mod fabric_manager;
pub mod file;
pub mod firewall;
pub mod git;
pub mod group;
pub mod hostfile;
pub mod hostname;
pub mod hosts_file;
pub mod kernel_cmdline;
pub mod kernel_module;
mod known;
pub mod library_path;
pub mod limits;
pub mod line;
pub mod login;
pub mod modprobe_options;
pub mod mount;
pub mod nccl_env;
mod nccl_matrix;
pub mod netdev;
mod netdev_file;
pub mod nvidia_driver;
pub mod package;
pub mod pcie;
pub mod pip;
pub mod rdma_link;
pub mod rdma_netns;
pub mod reboot;
pub mod render;
pub mod repository;
pub mod roce;
pub mod roster;
pub mod service;
pub mod ssh_key;
pub mod ssh_mesh;
pub mod sshd;
pub mod symlink;
pub mod sysctl;
pub mod template;
pub mod time_sync;
pub mod user;
pub mod value;
pub mod wait_for;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use camino::Utf8PathBuf;

use crate::config::{Diagnostic, Diagnostics, FieldDoc, Node, Record as _, Sp};
use crate::facts::{Facts, Object, Query, Touches};
use crate::sources::SiteSources;
use crate::transport::Script;

pub use login::{Login, Undo};
pub use roster::{Member, Roster};

crate::choice! {
    /// What a change interrupts. From `gpu` on, a change is made only with consent and on a host that
    /// is idle.
    Disruption {
        /// Nothing.
        None = "none",
        /// A service.
        Service = "service",
        /// The GPUs: no compute process may run.
        Gpu = "gpu",
        /// The network or its drivers.
        Network = "network",
        /// Everything: the change is the reboot itself. What only *needs* one says so with
        /// [`Resource::reboot`].
        Reboot = "reboot",
    }
}

/// How a change is shown.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Detail {
    /// Old and new text of a file; shown as a unified diff.
    Text {
        /// What is there; `None` when nothing is, or when it may not be shown.
        before: Option<String>,
        /// What will be there.
        after: Option<String>,
    },
    /// Attributes with old and new value.
    Attributes(Vec<Attribute>),
    /// A command that is run; what it changes is not known.
    Command(String),
}

/// One attribute of a change.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Attribute {
    /// Its name: `mode`, `owner`, `version`, `enabled` ...
    pub name: String,
    /// What is; `None` when the thing is absent.
    pub before: Option<String>,
    /// What will be; `None` when it is taken away.
    pub after: Option<String>,
}

impl Attribute {
    /// An attribute that changes.
    pub fn new(name: &str, before: Option<&str>, after: Option<&str>) -> Self {
        Self { name: name.to_owned(), before: before.map(str::to_owned), after: after.map(str::to_owned) }
    }
}

/// One change that a plan holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// What changes.
    pub object: Object,
    /// One short line: `+ perftest 4.5`, `+ /etc/x`, `~ /etc/x (mode 0600 -> 0644)`, `- /etc/x`.
    pub summary: String,
    /// Old and new.
    pub detail: Detail,
    /// The command that does it; exit status 0 means done.
    pub script: Script,
    /// A large file of this machine that is streamed to the host first; the path of its copy
    /// there becomes the last parameter of the script, which moves it into place.
    pub upload: Option<Utf8PathBuf>,
    /// What it interrupts.
    pub disruption: Disruption,
}

/// Why a resource cannot be planned with these facts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unplannable {
    /// A query has no answer (missed deadline, missing tool); the text says which and why.
    Unknown(Object, String),
    /// The thing is not there yet and this resource does not bring it: a unit without its
    /// package. Known after an earlier pending change, else a failure with this text.
    Missing(Object, String),
    /// Cannot be done now though nothing is wrong: a kernel module in a container.
    Blocked(String),
    /// The facts contradict what is wanted; the text says what to do.
    Failed(String),
}

/// The outcome of planning one resource.
pub type Planned = Result<Vec<Change>, Unplannable>;

/// A thing that hosts give to each other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spread {
    /// What it is, by place and content: the same on all hosts that have it.
    pub key: String,
    /// Hosts that had it when they were gathered.
    pub holders: Vec<String>,
    /// Gets it from another host, whose name becomes the last parameter.
    pub pull: Script,
}

/// A resource with all its fields known.
pub trait Resource: fmt::Debug + Send + Sync {
    /// What must be known.
    fn queries(&self) -> Vec<Query>;

    /// What must be done; empty when all is as it should be. Pure.
    ///
    /// # Errors
    /// When the facts do not allow a plan.
    fn plan(&self, facts: &Facts) -> Planned;

    /// What its changes may touch.
    fn touches(&self) -> Touches;

    /// The things it owns, each with what it wants of them, for finding two tasks at odds.
    fn manages(&self) -> Vec<(Object, String)>;

    /// How long its effect may take to show after the change (link up, clock sync).
    fn settle(&self) -> Option<Duration> {
        None
    }

    /// Whether a second plan can prove it (a bare `command` cannot: its outcome is `ran`).
    fn provable(&self) -> bool {
        true
    }

    /// The answer that `register` makes known to later tasks; `None` until it was asked.
    fn registered(&self, facts: &Facts) -> Option<serde_json::Value> {
        let _ = facts;
        None
    }

    /// Why the host must be rebooted before all that is wanted is in force: true now, or once the
    /// changes are made. `None` when no reboot is needed. A `reboot` task that comes later is due
    /// while any task says so, and the reason must be gone afterwards. Pure.
    fn reboot(&self, facts: &Facts) -> Option<String> {
        let _ = facts;
        None
    }

    /// What its changes mean for logins: by default what the paths, units and users that it touches
    /// are known to mean. Pure.
    fn login(&self, facts: &Facts) -> Login {
        login::of_touches(&self.touches(), facts)
    }

    /// How hosts that have it give it to others; `None` where each host gets it by itself.
    fn spread(&self, facts: &Facts) -> Option<Spread> {
        let _ = facts;
        None
    }

    /// Whether ending it half-way breaks the host (package managers): left running at a deadline.
    fn leave(&self) -> bool {
        false
    }
}

/// A file of this machine (or compiled in) that a task names as `src`.
#[derive(Debug, Clone)]
pub enum Local {
    /// Small enough to travel in a frame (1 MiB): its bytes.
    Bytes(Arc<[u8]>),
    /// Larger: its path, size in bytes and SHA-256 in hex; streamed.
    Large {
        /// Where it is.
        path: Utf8PathBuf,
        /// Its size in bytes.
        size: u64,
        /// SHA-256 in lower-case hex.
        sha256: String,
    },
    /// A directory: relative paths of everything below, in order, with their files
    /// (`None` for directories).
    Tree(Vec<(String, Option<Local>)>),
}

/// What a resource may ask while it is read from a task.
pub trait Context {
    /// The file or tree that `src` names, relative to the playbook's file.
    ///
    /// # Errors
    /// A text for the user when it cannot be read.
    fn local(&self, src: &str) -> Result<Local, String>;

    /// Renders a template text with everything the task sees.
    ///
    /// # Errors
    /// The template engine's text.
    fn render(&self, name: &str, text: &str) -> Result<String, String>;

    /// Proxy and mirrors of the site: a URL is fetched from its
    /// [`rewrite`](SiteSources::rewrite) and nowhere else.
    fn sources(&self) -> &SiteSources {
        static NONE: std::sync::LazyLock<SiteSources> = std::sync::LazyLock::new(SiteSources::default);
        &NONE
    }

    /// Absolute directory of the inventory's file on this machine.
    fn base(&self) -> &camino::Utf8Path {
        camino::Utf8Path::new("/")
    }

    /// `nics:` of the host as the inventory has it; null when it has none.
    fn nics(&self) -> &serde_json::Value {
        &serde_json::Value::Null
    }

    /// The user of the host that the task is for, where it is not the login's: `become_user`. What the
    /// task's questions run for it must run as that user too.
    fn user(&self) -> Option<&str> {
        None
    }

    /// All hosts of the inventory.
    fn roster(&self) -> Roster {
        Roster::default()
    }
}

/// Reads a resource from a task's mapping.
pub type Read = fn(&Node, &dyn Context, &mut Diagnostics) -> Option<Arc<dyn Resource>>;

/// One resource key of the language.
#[derive(Clone, Copy)]
pub struct Kind {
    /// The key of a task.
    pub name: &'static str,
    /// Reads it from a task's mapping whose templates are rendered.
    pub read: Read,
    /// What it is for: the first lines of its page in `explain`.
    pub doc: fn() -> &'static str,
    /// Its fields.
    pub fields: fn() -> Vec<FieldDoc>,
    /// Whether it needs facts of other hosts: all are gathered before it.
    pub fleet: bool,
    /// One or two tasks that use it; a test reads them.
    pub example: &'static str,
}

impl fmt::Debug for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Kind").field("name", &self.name).finish_non_exhaustive()
    }
}

/// A line of the table of [`kinds`]; `fleet` marks those that need facts of other hosts.
macro_rules! kind {
    ($name:literal, $module:ident, $fields:ident, fleet) => {
        Kind { fleet: true, ..kind!($name, $module, $fields) }
    };
    ($name:literal, $module:ident, $fields:ident) => {
        Kind {
            fleet: false,
            name: $name,
            read: $module::read,
            doc: $module::$fields::doc,
            fields: $module::$fields::fields,
            example: include_str!(concat!("examples/", $name, ".yaml")),
        }
    };
}

/// All resource keys.
pub fn kinds() -> &'static [Kind] {
    &[
        kind!("archive", archive, ArchiveFields),
        kind!("authorized_key", authorized_key, AuthorizedKeyFields),
        kind!("build", build, BuildFields),
        kind!("build_once", build_once, BuildOnceFields, fleet),
        kind!("command", command, CommandFields),
        kind!("copy", copy, CopyFields),
        kind!("directory", directory, DirectoryFields),
        kind!("distribute", distribute, DistributeFields, fleet),
        kind!("download", download, DownloadFields),
        kind!("fabric_manager", fabric_manager, FabricManagerFields),
        kind!("file", file, FileFields),
        kind!("firewall", firewall, FirewallFields),
        kind!("git", git, GitFields),
        kind!("group", group, GroupFields),
        kind!("hostfile", hostfile, HostfileFields),
        kind!("hostname", hostname, HostnameFields),
        kind!("hosts_file", hosts_file, HostsFileFields, fleet),
        kind!("kernel_cmdline", kernel_cmdline, KernelCmdlineFields),
        kind!("kernel_module", kernel_module, KernelModuleFields),
        kind!("library_path", library_path, LibraryPathFields),
        kind!("limits", limits, LimitsFields),
        kind!("line", line, LineFields),
        kind!("modprobe_options", modprobe_options, ModprobeOptionsFields),
        kind!("mount", mount, MountFields),
        kind!("nccl_env", nccl_env, NcclEnvFields),
        kind!("netdev", netdev, NetdevFields),
        kind!("nvidia_driver", nvidia_driver, NvidiaDriverFields),
        kind!("package", package, PackageFields),
        kind!("pcie", pcie, PcieFields),
        kind!("pip", pip, PipFields),
        kind!("rdma_link", rdma_link, RdmaLinkFields),
        kind!("rdma_netns", rdma_netns, RdmaNetnsFields),
        kind!("reboot", reboot, RebootFields),
        kind!("render", render, RenderFields),
        kind!("repository", repository, RepositoryFields),
        kind!("roce", roce, RoceFields),
        kind!("service", service, ServiceFields),
        kind!("ssh_key", ssh_key, SshKeyFields),
        kind!("ssh_mesh", ssh_mesh, SshMeshFields, fleet),
        kind!("sshd", sshd, SshdFields),
        kind!("symlink", symlink, SymlinkFields),
        kind!("sysctl", sysctl, SysctlFields),
        kind!("template", template, TemplateFields),
        kind!("time_sync", time_sync, TimeSyncFields),
        kind!("user", user, UserFields),
        kind!("wait_for", wait_for, WaitForFields),
    ]
}

/// Reads `src` where one file is meant.
fn local_want(
    src: &Sp<String>,
    context: &dyn Context,
    diagnostics: &mut Diagnostics,
) -> Option<content::Want> {
    let refusal = match context.local(src) {
        Ok(local) => match copy::want_of(local) {
            Some(want) => return Some(want),
            None => Diagnostic::error(src.span, format!("`{}` is a directory", **src))
                .help("use `copy` for a directory tree"),
        },
        Err(message) => Diagnostic::error(src.span, message),
    };
    diagnostics.push(refusal);
    None
}
