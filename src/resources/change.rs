//! Contents of a plan: changes, or the reason why there can be none.

use camino::Utf8PathBuf;

use crate::facts::Object;
use crate::transport::Script;

crate::choice! {
    /// Interruption that a change causes. From `gpu` on, a change is made only with consent and on a host
    /// that is idle.
    Disruption {
        /// Nothing.
        None = "none",
        /// systemd reads its units again. A running container loses its GPUs by that when systemd does not know
        /// that it has them (NVIDIA/nvidia-container-toolkit 48), so it is not done beside such a container.
        Reload = "reload",
        /// A service.
        Service = "service",
        /// The GPUs: no compute process may run.
        Gpu = "gpu",
        /// The network or its drivers.
        Network = "network",
        /// Everything: the change is the reboot itself. What only *needs* one says so with
        /// [`Resource::reboot`](super::Resource::reboot).
        Reboot = "reboot",
    }
}

/// Details of a change, in the form in which they are shown.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Detail {
    /// Old and new text of a file; shown as a unified diff.
    Text {
        /// The text before the change; `None` when there is nothing, or when it may not be shown.
        before: Option<String>,
        /// The text after the change.
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
    /// Value before the change; `None` when the thing is absent.
    pub before: Option<String>,
    /// Value after the change; `None` when it is taken away.
    pub after: Option<String>,
}

impl Attribute {
    /// An attribute that changes; what was empty before was not there.
    pub fn new(name: &str, before: Option<&str>, after: Option<&str>) -> Self {
        let before = before.filter(|text| !text.is_empty()).map(str::to_owned);
        Self { name: name.to_owned(), before, after: after.map(str::to_owned) }
    }
}

/// One change that a plan holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// Object that changes.
    pub object: Object,
    /// One short line: `+ perftest 4.5`, `+ /etc/x`, `~ /etc/x (mode 0600 -> 0644)`, `- /etc/x`.
    pub summary: String,
    /// Old and new.
    pub detail: Detail,
    /// The command that does it; exit status 0 means done.
    pub script: Script,
    /// A large file of this machine that is streamed to the host first; the path of its copy
    /// there becomes the last parameter of the script, which moves it into place.
    pub upload: Option<Upload>,
    /// Interruption that it causes.
    pub disruption: Disruption,
}

impl Change {
    /// A change that interrupts nothing.
    pub fn new(object: Object, summary: String, detail: Detail, script: Script) -> Self {
        Self { object, summary, detail, script, upload: None, disruption: Disruption::None }
    }

    /// The same with what it interrupts.
    #[must_use]
    pub fn disrupting(self, disruption: Disruption) -> Self {
        Self { disruption, ..self }
    }
}

/// A file of this machine as it was when the plan was made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Upload {
    /// Its path here.
    pub local: Utf8PathBuf,
    /// Its size in bytes.
    pub size: u64,
    /// Its SHA-256 in hex.
    pub sha256: String,
}

/// Reason why a resource cannot be planned with these facts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unplannable {
    /// A query has no answer (missed deadline, missing tool); the text says which and why.
    Unknown(Object, String),
    /// The thing is not there yet and this resource does not bring it: a unit without its
    /// package. Known after an earlier pending change, else a failure with this text.
    Missing(Object, String),
    /// The thing is not there, as is wanted: a unit that shall not run. Known after an earlier pending change
    /// that may bring it, else nothing to do.
    Unneeded(Object),
    /// Cannot be done now though nothing is wrong: a kernel module in a container.
    Blocked(String),
    /// Only these changes can be made now, none where all of them are made; why the rest is blocked.
    Partly(Vec<Change>, String),
    /// The facts contradict what is wanted; the text says what to do.
    Failed(String),
}

impl Unplannable {
    /// The same for a resource that plans these changes first.
    #[must_use]
    pub fn beside(self, changes: &[Change]) -> Self {
        let (more, reason) = match self {
            Self::Blocked(reason) => (Vec::new(), reason),
            Self::Partly(more, reason) => (more, reason),
            other @ (Self::Unknown(..) | Self::Missing(..) | Self::Unneeded(_) | Self::Failed(_)) => {
                return other;
            }
        };
        Self::Partly([changes, &more].concat(), reason)
    }
}

/// The outcome of planning one resource.
pub type Planned = Result<Vec<Change>, Unplannable>;
