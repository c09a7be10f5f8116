//! Queries and answers.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use super::account::{AuthorizedKeys, Group, User};
use super::ask::{Asked, Question};
use super::build::{Build, BuildQuery};
use super::cmdline::Cmdline;
use super::driver::Driver;
use super::file::{Attributes, Content};
use super::filesystem::Filesystems;
use super::firewall::Firewall;
use super::git::Checkout;
use super::installed::Installed;
use super::loader::Loader;
use super::module::Module;
use super::netdev::{LinkMatch, Netdev};
use super::object::{Object, Touches};
use super::package::{Package, Packages};
use super::pcie::Pcie;
use super::rdma_link::RdmaLink;
use super::roce::Roce;
use super::setting::Setting;
use super::ssh_user::{SshFiles, SshKey};
use super::sshd::Sshd;
use super::unit::Unit;
use crate::probes::Observation;

/// One thing to know about a host.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Query {
    /// A group of basic facts: `facts.os`, `facts.kernel` ... by its name in templates.
    Base(&'static str),
    /// What the host's state directory says of earlier runs (see `engine::state`).
    State,
    /// Why tasks of this run need a reboot; the engine answers it, no host is asked.
    Reboot,
    /// What is mounted, for telling which paths several hosts share.
    Filesystems,
    /// Type, mode and owner of a path; links are not followed.
    Path(String),
    /// Digest of a regular file, and its text when that is asked for.
    Content {
        /// The file.
        path: String,
        /// The digest that it should have, in hex.
        wanted: Option<String>,
        /// Whether the text (up to 64 KiB) is sent when the digest is not the wanted one.
        /// Never for content that holds a secret: the old text has the previous one.
        text: bool,
        /// Whether the host may remember the digest by inode, size and times: files over 16 MiB.
        stamp: bool,
    },
    /// Whether a file holds a text with secrets. The host compares; nothing comes back.
    Secret {
        /// The file.
        path: String,
        /// The text with placeholders.
        text: String,
    },
    /// The package manager: which one, its lists, an interrupted transaction.
    Packages,
    /// A package of the distribution.
    Package {
        /// Its name.
        name: String,
        /// The version that it should have; the repository is asked when it is another.
        version: Option<String>,
        /// Whether the repository is asked even when it is installed.
        latest: bool,
    },
    /// The installed packages of a family: a name with `*`.
    Installed(String),
    /// The NVIDIA driver: packages, modules on disk and the one loaded.
    Driver,
    /// `PCIe` settings of bridges and NICs.
    Pcie,
    /// The kernel command line of this boot and the next.
    Cmdline,
    /// A systemd unit, with its suffix.
    Unit(String),
    /// A property of systemd itself: `DefaultLimitMEMLOCK`.
    Manager(String),
    /// A kernel module, with underscores.
    Module(String),
    /// Network links.
    Netdev(LinkMatch),
    /// An RDMA device.
    RdmaLink(String),
    /// Quality of service of a network link.
    Roce(String),
    /// What the dynamic loader knows of the libraries in a directory.
    Loader(String),
    /// A setting of the kernel, by its path below `/proc/sys` or `/sys`.
    Setting(String),
    /// A user.
    User(String),
    /// A group.
    Group(String),
    /// The `authorized_keys` file of a user.
    AuthorizedKeys(String),
    /// A key in a user's `~/.ssh`.
    SshKey {
        /// The user.
        user: String,
        /// Name of the file with the private half.
        name: String,
    },
    /// The files of a mesh in a user's `~/.ssh`.
    SshFiles {
        /// The user.
        user: String,
        /// Name of the mesh.
        mesh: String,
    },
    /// What sshd makes of its files.
    Sshd,
    /// Who manages the firewall and what it lets in.
    Firewall,
    /// A checkout of git.
    Checkout {
        /// Where it is.
        path: String,
        /// Who asks, where it is not the login's user: git runs what the checkout tells it to, and
        /// tells nobody but the owner.
        user: Option<String>,
    },
    /// What was built into a prefix, and what it would be built from.
    Build(Box<BuildQuery>),
    /// What a command of the playbook answers.
    Ask(Box<Question>),
    /// What `verify` looks at, by the name of its probe (see [`probes`](crate::probes)).
    Probe(&'static str),
    /// The same question to every host of the inventory. The engine answers it with what it knows by
    /// then, of this run or an earlier one; of this host it is asked.
    Fleet(Box<Query>),
}

/// What is known about a query.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// Its value as templates see it.
    Base(Json),
    /// Text of the state directory.
    State(String),
    /// Why tasks of this run need a reboot, with their names.
    Reboot(Vec<String>),
    /// What is mounted.
    Filesystems(Filesystems),
    /// What is at a path; `None` when nothing is.
    Path(Option<Attributes>),
    /// What a file holds; `None` when there is no regular file.
    Content(Option<Content>),
    /// Whether a file holds a text with secrets.
    Secret(bool),
    /// The package manager.
    Packages(Packages),
    /// A package.
    Package(Package),
    /// Installed packages of a family.
    Installed(Vec<Installed>),
    /// The NVIDIA driver.
    Driver(Box<Driver>),
    /// `PCIe` settings.
    Pcie(Pcie),
    /// The kernel command line.
    Cmdline(Cmdline),
    /// A unit.
    Unit(Unit),
    /// A property of systemd.
    Manager(String),
    /// A kernel module.
    Module(Module),
    /// The network links that were meant; none when there are none.
    Netdev(Vec<Netdev>),
    /// The first port of an RDMA device; `None` when there is no device of that name.
    RdmaLink(Option<RdmaLink>),
    /// Quality of service of a network link; `None` when there is no link of that name.
    Roce(Option<Roce>),
    /// What the dynamic loader knows of a directory.
    Loader(Loader),
    /// A setting of the kernel; `None` when it has none of that name.
    Setting(Option<Setting>),
    /// A user; `None` when there is none of that name.
    User(Option<User>),
    /// A group; `None` when there is none of that name.
    Group(Option<Group>),
    /// The keys of a user; `None` when there is no such user.
    AuthorizedKeys(Option<AuthorizedKeys>),
    /// A key of a user; `None` when there is no such user.
    SshKey(Option<SshKey>),
    /// Files of a mesh; `None` when there is no such user.
    SshFiles(Option<SshFiles>),
    /// The configuration of sshd.
    Sshd(Sshd),
    /// The firewall.
    Firewall(Firewall),
    /// A checkout of git.
    Checkout(Checkout),
    /// What was built.
    Build(Box<Build>),
    /// What a command answered.
    Asked(Asked),
    /// Nothing was asked: the user who should ask is not on the host.
    NoUser(String),
    /// What a probe saw.
    Probe(Box<Observation>),
    /// Answers by the names of hosts; those of which nothing is known are left out.
    Fleet(Arc<BTreeMap<String, Answer>>),
    /// It was asked and there is no answer: why.
    Unknown(String),
}

/// Where unit files live: below these a change may touch any unit.
const UNIT_PATHS: &[&str] = &["/etc/systemd", "/run/systemd", "/usr/lib/systemd", "/lib/systemd"];
const MODULE_PATHS: &[&str] =
    &["/etc/modprobe.d", "/etc/modules-load.d", "/lib/modules", "/usr/lib/modules", "/run/modprobe.d"];
const NETWORK_PATHS: &[&str] = &[
    "/sys/class/net",
    "/etc/netplan",
    "/etc/systemd/network",
    "/etc/network",
    "/etc/NetworkManager",
    "/etc/udev/rules.d",
];
const ACCOUNT_PATHS: &[&str] =
    &["/etc/passwd", "/etc/group", "/etc/shadow", "/etc/gshadow", "/etc/nsswitch.conf"];
const PACKAGE_PATHS: &[&str] =
    &["/var/lib/dpkg", "/var/lib/apt", "/etc/apt", "/var/lib/rpm", "/etc/yum.repos.d", "/etc/dnf"];

fn path_meets(touches: &Touches, paths: &[&str]) -> bool {
    paths.iter().any(|path| touches.meets(&Object::Path((*path).to_owned())))
}

fn any(touches: &Touches, is: fn(&Object) -> bool) -> bool {
    match touches {
        Touches::Everything => true,
        Touches::Objects(objects) => objects.iter().any(is),
    }
}

impl Query {
    /// What is asked of this very host: a question to all is one to it, too.
    #[must_use]
    pub fn own(&self) -> &Self {
        if let Self::Fleet(query) = self { query } else { self }
    }

    /// Who asks on the host, where it is not the login's user: `become_user` of the task. What runs
    /// something that a playbook or a user of the host names is asked so.
    pub fn user(&self) -> Option<&str> {
        match self {
            // The command itself; the compiler and `nvcc`.
            Self::Ask(question) => question.user.as_deref(),
            Self::Build(build) => build.user.as_deref(),
            // git runs what the settings of the checkout say.
            Self::Checkout { user, .. } => user.as_deref(),
            Self::Fleet(query) => query.user(),
            // Scripts of our own that read files and attributes. All tasks share the answers.
            Self::Base(_)
            | Self::State
            | Self::Reboot
            | Self::Filesystems
            | Self::Path(_)
            | Self::Content { .. }
            | Self::Secret { .. }
            | Self::Setting(_)
            | Self::Module(_)
            | Self::Cmdline
            | Self::Pcie
            | Self::RdmaLink(_)
            // The same with a tool of the system, which gets no more than a name.
            | Self::Packages
            | Self::Package { .. }
            | Self::Installed(_)
            | Self::Driver
            | Self::Unit(_)
            | Self::Manager(_)
            | Self::Loader(_)
            | Self::Netdev(_)
            | Self::Roce(_)
            | Self::User(_)
            | Self::Group(_)
            | Self::Sshd
            | Self::Firewall
            | Self::Probe(_)
            // The same about the user whom the field names, whoever carries the task out.
            | Self::AuthorizedKeys(_)
            | Self::SshKey { .. }
            | Self::SshFiles { .. } => None,
        }
    }

    /// Its name in records of a fleet, for those that are recorded.
    pub fn record_name(&self) -> Option<String> {
        if let Self::Base(name) = self {
            Some(format!("base {name}"))
        } else if let Self::SshKey { user, name } = self {
            Some(format!("ssh_key {user} {name}"))
        } else {
            None
        }
    }

    /// The query of such a name.
    pub fn of_record(name: &str) -> Option<Self> {
        match name.split_once(' ')? {
            ("base", fact) => super::base(fact),
            ("ssh_key", rest) => {
                let (user, name) = rest.split_once(' ')?;
                Some(Self::SshKey { user: user.to_owned(), name: name.to_owned() })
            }
            _ => None,
        }
    }

    /// Whether a change of these things may change the answer.
    pub fn touched_by(&self, touches: &Touches) -> bool {
        match self {
            Self::Base(name) => base_touched(name, touches),
            // What a driver shows comes with its module, its unit or its package.
            Self::Probe(_) => any(touches, |object| matches!(object, Object::Module(_) | Object::Unit(_))),
            // The engine knows itself when they change.
            Self::State | Self::Reboot | Self::Fleet(_) => false,
            Self::Path(path) | Self::Content { path, .. } | Self::Secret { path, .. } => {
                touches.meets(&Object::Path(path.clone()))
            }
            Self::Checkout { path, user } => {
                touches.meets(&Object::Path(path.clone())) || account_touched(user.as_deref(), touches)
            }
            Self::Packages | Self::Installed(_) => {
                any(touches, |object| matches!(object, Object::Package(_)))
                    || path_meets(touches, PACKAGE_PATHS)
            }
            Self::Package { name, .. } => {
                touches.meets(&Object::Package(name.clone())) || path_meets(touches, PACKAGE_PATHS)
            }
            Self::Pcie => any(touches, |object| matches!(object, Object::Unit(_))),
            Self::Cmdline => path_meets(touches, &["/etc/default", "/boot", "/proc/cmdline"]),
            Self::Driver => {
                any(touches, |object| matches!(object, Object::Package(_) | Object::Module(_)))
                    || path_meets(touches, MODULE_PATHS)
            }
            Self::Unit(name) => touches.meets(&Object::Unit(name.clone())) || path_meets(touches, UNIT_PATHS),
            Self::Manager(_) => {
                any(touches, |object| matches!(object, Object::Unit(_))) || path_meets(touches, UNIT_PATHS)
            }
            // A package runs ldconfig.
            Self::Loader(directory) => {
                any(touches, |object| matches!(object, Object::Package(_)))
                    || touches.meets(&Object::Path(directory.clone()))
                    || path_meets(touches, &["/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d"])
            }
            // A module brings settings, and units such as systemd-sysctl write them.
            Self::Setting(path) => {
                touches.meets(&Object::Path(path.clone()))
                    || any(touches, |object| matches!(object, Object::Module(_) | Object::Unit(_)))
            }
            Self::Netdev(_) | Self::Roce(_) => {
                path_meets(touches, NETWORK_PATHS)
                    || any(touches, |object| {
                        matches!(object, Object::Module(_) | Object::Unit(_) | Object::Package(_))
                    })
            }
            Self::RdmaLink(name) => {
                touches.meets(&Object::Path(format!("/sys/class/infiniband/{name}")))
                    || any(touches, |object| {
                        matches!(object, Object::Module(_) | Object::Unit(_) | Object::Package(_))
                    })
            }
            Self::Module(name) => {
                touches.meets(&Object::Module(name.clone())) || path_meets(touches, MODULE_PATHS)
            }
            Self::User(name) => {
                touches.meets(&Object::User(name.clone()))
                    // A group is also a membership of its users.
                    || any(touches, |object| matches!(object, Object::Group(_)))
                    || path_meets(touches, ACCOUNT_PATHS)
            }
            Self::Group(name) => {
                touches.meets(&Object::Group(name.clone()))
                    || any(touches, |object| matches!(object, Object::User(_)))
                    || path_meets(touches, ACCOUNT_PATHS)
            }
            Self::AuthorizedKeys(user) | Self::SshKey { user, .. } | Self::SshFiles { user, .. } => {
                touches.meets(&Object::User(user.clone()))
                    || path_meets(touches, ACCOUNT_PATHS)
                    // The path is the host's to know; `Facts::forget` adds what it was.
                    || any(touches, |object| matches!(object, Object::Path(path) if path.contains("/.ssh")))
            }
            Self::Sshd => path_meets(touches, &["/etc/ssh"]),
            Self::Firewall => {
                any(touches, |object| matches!(object, Object::Unit(_)))
                    || path_meets(touches, &["/etc/firewalld", "/etc/ufw", "/etc/nftables.conf"])
            }
            Self::Filesystems => base_touched("mounts", touches),
            Self::Build(build) => {
                // A package may be the compiler.
                any(touches, |object| matches!(object, Object::Package(_)))
                    || path_meets(touches, &[&build.prefix, &build.source])
                    || account_touched(build.user.as_deref(), touches)
            }
            // A command may look at anything.
            Self::Ask(_) => match touches {
                Touches::Everything => true,
                Touches::Objects(objects) => !objects.is_empty(),
            },
        }
    }
}

/// Whether the user who asks may have come or become another.
fn account_touched(user: Option<&str>, touches: &Touches) -> bool {
    user.is_some_and(|user| {
        touches.meets(&Object::User(user.to_owned())) || path_meets(touches, ACCOUNT_PATHS)
    })
}

fn base_touched(name: &str, touches: &Touches) -> bool {
    let unit = || any(touches, |object| matches!(object, Object::Unit(_)));
    let module = || any(touches, |object| matches!(object, Object::Module(_)));
    match name {
        "os" => path_meets(touches, &["/etc/os-release", "/usr/lib/os-release"]),
        "kernel" => path_meets(touches, &["/lib/modules", "/usr/src"]),
        "arch" | "cpu" | "virtualization" => *touches == Touches::Everything,
        "memory" => path_meets(touches, &["/proc/sys", "/sys", "/etc/fstab"]) || unit(),
        "init" => unit() || path_meets(touches, UNIT_PATHS),
        "pci" | "network" => {
            unit() || module() || path_meets(touches, &["/sys", "/etc/netplan", "/etc/systemd/network"])
        }
        "modules" => unit() || module(),
        "mounts" => unit() || path_meets(touches, &["/etc/fstab"]),
        "users" => {
            any(touches, |object| matches!(object, Object::User(_))) || path_meets(touches, ACCOUNT_PATHS)
        }
        "hostname" => path_meets(touches, &["/etc/hostname"]) || unit(),
        "ids" => path_meets(touches, &["/etc/machine-id"]),
        "ssh" => path_meets(touches, &["/etc/ssh"]),
        _ => true,
    }
}
