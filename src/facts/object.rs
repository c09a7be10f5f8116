//! The things on a host that tasks manage and queries ask about.

use std::collections::BTreeSet;
use std::fmt;

/// One thing on a host.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
#[serde(tag = "kind", content = "name", rename_all = "lowercase")]
pub enum Object {
    /// A path in the file system.
    Path(String),
    /// A package of the distribution.
    Package(String),
    /// A systemd unit, with its suffix.
    Unit(String),
    /// A kernel module, with underscores.
    Module(String),
    /// A user.
    User(String),
    /// A group.
    Group(String),
    /// The host as a whole: its boot.
    Host,
}

impl fmt::Display for Object {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Path(path) => f.write_str(path),
            Self::Package(name) => write!(f, "package {name}"),
            Self::Unit(name) => write!(f, "unit {name}"),
            Self::Module(name) => write!(f, "module {name}"),
            Self::User(name) => write!(f, "user {name}"),
            Self::Group(name) => write!(f, "group {name}"),
            Self::Host => f.write_str("the host"),
        }
    }
}

impl Object {
    /// Whether a change of one may change the other: equal, or one path inside the other.
    pub fn meets(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Path(a), Self::Path(b)) => inside(a, b) || inside(b, a),
            _ => self == other,
        }
    }
}

/// Whether a path is another one or below it.
pub(crate) fn inside(outer: &str, path: &str) -> bool {
    let outer = outer.trim_end_matches('/');
    path.strip_prefix(outer).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Objects that a change may have changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Touches {
    /// These things.
    Objects(BTreeSet<Object>),
    /// Anything: a package or a command.
    Everything,
}

impl Touches {
    /// Just one thing.
    pub fn one(object: Object) -> Self {
        Self::Objects(BTreeSet::from([object]))
    }

    /// Whether a thing may be among them.
    pub fn meets(&self, object: &Object) -> bool {
        match self {
            Self::Everything => true,
            Self::Objects(objects) => objects.iter().any(|touched| touched.meets(object)),
        }
    }

    /// Whether some thing of this sort may be among them.
    pub(crate) fn any(&self, is: fn(&Object) -> bool) -> bool {
        match self {
            Self::Everything => true,
            Self::Objects(objects) => objects.iter().any(is),
        }
    }

    /// Whether something in one of these places may be among them.
    pub(crate) fn paths(&self, paths: &[&str]) -> bool {
        paths.iter().any(|path| self.meets(&Object::Path((*path).to_owned())))
    }

    pub(crate) fn units(&self) -> bool {
        self.any(|object| matches!(object, Object::Unit(_)))
    }

    pub(crate) fn modules(&self) -> bool {
        self.any(|object| matches!(object, Object::Module(_)))
    }

    pub(crate) fn packages(&self) -> bool {
        self.any(|object| matches!(object, Object::Package(_)))
    }

    /// Whether a thing may be made by them: it may be among them, or is a unit and a file in a directory of units
    /// (systemd.unit(5)) is.
    pub fn may_bring(&self, object: &Object) -> bool {
        self.meets(object) || matches!(object, Object::Unit(_)) && self.unit_files()
    }

    /// Whether a change meets a directory of unit files: below these it may touch any unit.
    pub(crate) fn unit_files(&self) -> bool {
        self.paths(&[
            "/etc/systemd",
            "/run/systemd",
            "/usr/local/lib/systemd",
            "/usr/lib/systemd",
            "/lib/systemd",
        ])
    }

    pub(crate) fn module_files(&self) -> bool {
        self.paths(&[
            "/etc/modprobe.d",
            "/etc/modules-load.d",
            "/lib/modules",
            "/usr/lib/modules",
            "/run/modprobe.d",
        ])
    }

    /// Whether links of the network may be others or be configured otherwise.
    pub(crate) fn links(&self) -> bool {
        self.modules()
            || self.units()
            || self.packages()
            || self.paths(&[
                "/sys/class/net",
                "/etc/netplan",
                "/etc/systemd/network",
                "/etc/network",
                "/etc/NetworkManager",
                "/etc/udev/rules.d",
            ])
    }

    pub(crate) fn account_files(&self) -> bool {
        self.paths(&["/etc/passwd", "/etc/group", "/etc/shadow", "/etc/gshadow", "/etc/nsswitch.conf"])
    }

    pub(crate) fn package_files(&self) -> bool {
        self.paths(&[
            "/var/lib/dpkg",
            "/var/lib/apt",
            "/etc/apt",
            "/var/lib/rpm",
            "/etc/yum.repos.d",
            "/etc/dnf",
        ])
    }

    /// Whether the user who asks may have come or become another.
    pub(crate) fn asker(&self, user: Option<&str>) -> bool {
        user.is_some_and(|user| self.meets(&Object::User(user.to_owned())) || self.account_files())
    }
}
