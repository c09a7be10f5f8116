//! Context of a resource that is read from a task: all that it may ask.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::Arc;

use camino::Utf8PathBuf;
use serde_json::Value as Json;

use super::shared::roster::Roster;
use crate::config::TextError;
use crate::inventory::Nic;
use crate::sources::SiteSources;
use crate::template::{Awaited, Lookup, Missing, Refuted, Segment, Unresolved, refuted};

/// A file of this machine (or compiled in) that a task names as `src`.
#[derive(Debug, Clone)]
pub enum Local {
    /// Small enough to travel in a frame (1 MiB): its bytes.
    Bytes(Arc<[u8]>),
    /// Larger: its path, size in bytes and SHA-256 in hex; streamed.
    Large {
        /// Its path.
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

/// Context of a resource that is read from a task: all that it may ask.
pub trait Context {
    /// The file or tree that `src` names, relative to the playbook's file.
    ///
    /// # Errors
    /// A text for the user when it cannot be read.
    fn local(&self, src: &str) -> Result<Local, String>;

    /// Renders a template text with everything the task sees.
    ///
    /// # Errors
    /// The template engine's, with its place in the text.
    fn render(&self, name: &str, text: &str) -> Result<String, TextError>;

    /// Reports why a condition does not hold with everything the task sees; `None` when it holds.
    ///
    /// # Errors
    /// When it is wrong or waits for answers.
    fn refuted(&self, condition: &str) -> Result<Option<Refuted>, Unresolved> {
        refuted(condition, &Nothing)
    }

    /// Notes that the resource cannot be read before these answers are there.
    fn wait(&self, names: BTreeSet<Awaited>) {
        drop(names);
    }

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

    /// `nics:` of the host.
    fn nics(&self) -> &[Nic] {
        &[]
    }

    /// The user of the host that the task is for, where it is not the login's: `become_user`. What the
    /// task's questions run for it must run as that user too.
    fn user(&self) -> Option<&str> {
        None
    }

    /// Returns the time limit of the task; none where nobody waits for it.
    fn timeout(&self) -> Option<std::time::Duration> {
        None
    }

    /// All hosts of the inventory.
    fn roster(&self) -> Roster {
        Roster::default()
    }
}

/// No names at all.
struct Nothing;

impl Lookup for Nothing {
    fn resolve(&self, root: &str, _: &[Segment]) -> Result<Cow<'_, Json>, Missing> {
        Err(Missing::Failed(format!("`{root}` is not defined")))
    }
}
