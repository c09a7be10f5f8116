//! A plan for people and for files.

use std::collections::BTreeSet;

use base64::Engine as _;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::diff;
use super::planner::{TaskPlan, TaskVerdict};
use crate::events::{ChangeView, Failure, PlannedVerdict};
use crate::placeholder;
use crate::resources::Change;
use crate::transport::{Arg, Script};
use crate::words::hex;

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
            TaskVerdict::Unchanged => PlannedVerdict::Unchanged,
            TaskVerdict::Changes(changes) => PlannedVerdict::Changes(views(changes)),
            TaskVerdict::Runs(changes) => PlannedVerdict::Runs(views(changes)),
            TaskVerdict::Skipped(reason) => PlannedVerdict::Skipped(reason.clone()),
            TaskVerdict::Blocked(reason) => PlannedVerdict::Blocked(reason.clone()),
            TaskVerdict::KnownAfter(name) => PlannedVerdict::KnownAfter(name.clone()),
            TaskVerdict::Failed(message) => PlannedVerdict::Failed(Failure::new(message)),
        }
    }
}

/// Digest that a plan file keeps of one stage of a host.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct StageDigest {
    /// SHA-256 in hex over the exact commands and data.
    pub digest: String,
    /// Ids of tasks that are known only after others: the digest is not over these.
    pub known_after: BTreeSet<String>,
    /// Ids of tasks that begin with what an earlier stage leaves: the digest is not over the state before these.
    pub moves: BTreeSet<String>,
}

/// The digest of a host's plan for one stage: equal digests mean that the same would be done, and that the
/// same would be lost by it. Names of secrets count, their values do not.
///
/// What is not compared is that of an expected digest, else what this plan says.
pub fn digest(
    plans: &[(String, TaskPlan)],
    known_after: BTreeSet<String>,
    expected: Option<&StageDigest>,
) -> StageDigest {
    let known_after = expected.map_or(known_after, |stage| stage.known_after.clone());
    let moves = match expected {
        Some(stage) => stage.moves.clone(),
        None => plans.iter().filter(|(_, plan)| plan.before.moves).map(|(id, _)| id.clone()).collect(),
    };
    let mut hash = Sha256::new();
    for (id, plan) in plans {
        // The items of a loop may be what was not known.
        let step = id.rsplit_once('[').map_or(id.as_str(), |(step, _)| step);
        if known_after.contains(id) || known_after.contains(step) {
            continue;
        }
        hash.update(id.as_bytes());
        hash.update([0]);
        match &plan.verdict {
            TaskVerdict::Changes(changes) | TaskVerdict::Runs(changes) => {
                for change in changes {
                    hash.update(change.summary.as_bytes());
                    hash_script(&mut hash, &change.script);
                    if !moves.contains(id) {
                        hash.update(diff::before(&change.detail).as_bytes());
                    }
                }
                for unshown in plan.before.unshown.iter().filter(|_| !moves.contains(id)) {
                    hash.update(unshown.as_bytes());
                }
            }
            TaskVerdict::Unchanged => hash.update(b"unchanged"),
            TaskVerdict::Skipped(_) => hash.update(b"skipped"),
            TaskVerdict::Blocked(reason) => hash.update(reason.as_bytes()),
            TaskVerdict::KnownAfter(name) => hash.update(name.as_bytes()),
            TaskVerdict::Failed(message) => hash.update(message.as_bytes()),
        }
        if let Some(reason) = &plan.blocked {
            hash.update([0]);
            hash.update(reason.as_bytes());
        }
        hash.update([1]);
    }
    StageDigest { digest: hex(&hash.finalize()), known_after, moves }
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
            Arg::Scripts(inner) | Arg::Tasks(inner) => {
                for inner in inner {
                    hash_script(hash, inner);
                }
            }
        }
        hash.update([2]);
    }
}

/// A short stable key for the spool: the task and exactly what it runs.
pub fn spool_key(id: &str, item: Option<usize>, script: &Script) -> String {
    let mut hash = Sha256::new();
    hash.update(id.as_bytes());
    hash.update(format!("\0{item:?}\0"));
    hash_script(&mut hash, script);
    hex(&hash.finalize()).chars().take(16).collect()
}
