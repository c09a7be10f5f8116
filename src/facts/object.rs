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
pub(super) fn inside(outer: &str, path: &str) -> bool {
    let outer = outer.trim_end_matches('/');
    path.strip_prefix(outer).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// What a change may have changed.
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
}
