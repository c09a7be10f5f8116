//! A plan for people and for files.

use base64::Engine as _;
use sha2::{Digest as _, Sha256};

use super::diff;
use super::planner::{TaskPlan, Verdict};
use crate::events::{ChangeView, Failure, PlannedVerdict};
use crate::placeholder;
use crate::resources::Change;
use crate::transport::{Arg, Script};

/// A change as people see it.
pub fn change_view(change: &Change) -> ChangeView {
    ChangeView {
        object: change.object.to_string(),
        summary: change.summary.clone(),
        diff: diff::render(&change.object.to_string(), &change.detail),
        disruption: change.disruption.to_string(),
    }
}

impl TaskPlan {
    /// The plan of a task as people see it.
    pub fn view(&self) -> PlannedVerdict {
        let views = |changes: &[Change]| changes.iter().map(change_view).collect();
        match &self.verdict {
            Verdict::Unchanged => PlannedVerdict::Unchanged,
            Verdict::Changes(changes) => PlannedVerdict::Changes(views(changes)),
            Verdict::Runs(changes) => PlannedVerdict::Runs(views(changes)),
            Verdict::Skipped(reason) => PlannedVerdict::Skipped(reason.clone()),
            Verdict::Blocked(reason) => PlannedVerdict::Blocked(reason.clone()),
            Verdict::KnownAfter(name) => PlannedVerdict::KnownAfter(name.clone()),
            Verdict::Failed(message) => PlannedVerdict::Failed(Failure {
                message: message.clone(),
                command: None,
                output: String::new(),
                hint: None,
            }),
        }
    }
}

/// SHA-256 in hex over the exact commands and data of a host's plan: equal digests mean that the
/// same would be done. Names of secrets count, their values do not.
pub fn digest<'a>(plans: impl IntoIterator<Item = (&'a str, &'a TaskPlan)>) -> String {
    let mut hash = Sha256::new();
    for (id, plan) in plans {
        hash.update(id.as_bytes());
        hash.update([0]);
        match &plan.verdict {
            Verdict::Changes(changes) | Verdict::Runs(changes) => {
                for change in changes {
                    hash.update(change.summary.as_bytes());
                    hash_script(&mut hash, &change.script);
                }
            }
            Verdict::Unchanged => hash.update(b"unchanged"),
            Verdict::Skipped(_) => hash.update(b"skipped"),
            Verdict::Blocked(reason) => hash.update(reason.as_bytes()),
            Verdict::KnownAfter(name) => hash.update(name.as_bytes()),
            Verdict::Failed(message) => hash.update(message.as_bytes()),
        }
        hash.update([1]);
    }
    hex(&hash.finalize())
}

fn hash_script(hash: &mut Sha256, script: &Script) {
    hash.update(script.text.as_bytes());
    for arg in &script.args {
        match arg {
            Arg::Word(text) | Arg::Text(text) | Arg::Packed(text) => {
                hash.update(placeholder::lasting(text).as_bytes());
            }
            Arg::Bytes(bytes) => hash.update(base64::engine::general_purpose::STANDARD.encode(bytes)),
            Arg::Script(inner) => hash_script(hash, inner),
            Arg::Scripts(inner) => inner.iter().for_each(|inner| hash_script(hash, inner)),
        }
        hash.update([2]);
    }
}

/// Lower-case hex of some bytes.
pub fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    let mut text = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        // Writing to a string cannot fail.
        let _written = write!(text, "{byte:02x}");
    }
    text
}

/// A short stable key for the spool: the task and exactly what it runs.
pub fn spool_key(id: &str, item: Option<usize>, script: &Script) -> String {
    let mut hash = Sha256::new();
    hash.update(id.as_bytes());
    hash.update(format!("\0{item:?}\0"));
    hash_script(&mut hash, script);
    hex(&hash.finalize()).chars().take(16).collect()
}
