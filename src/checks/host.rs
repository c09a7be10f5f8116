//! The check that anything at all is proven about a host.

use super::shared::verdict::Verdict;
use super::{Check, Needs};
use crate::events::CheckStatus::Fail;

pub(in crate::checks) const CHECKS: &[Check] = &[Check {
    id: PROVEN,
    title: "at least one check proved something about the host",
    needs: Needs::Idle,
    severity: Fail,
    expects: "at least one check that passes, or one task of the inventory that needs no change",
    why: "A host on which every check is unknown or does not apply was not verified.",
    hint: "install the tools that are missing (`-v` names them), declare in `expect:` what the host has, or mark it `offline`",
    source: "the results of the other checks",
    run: |subject| {
        if subject.proven_tasks > 0 {
            let tasks = crate::words::count(subject.proven_tasks, "task");
            return Ok(Verdict::Skip(format!("{tasks} already match the inventory")));
        }
        if subject.open_tasks > 0 {
            let tasks = crate::words::count(subject.open_tasks, "task");
            return Ok(Verdict::Skip(format!("not as declared: {tasks}, each told above")));
        }
        Ok(Verdict::finding(
            "nothing could be proven",
            "provision verify",
            "no check passed, and no task of the inventory is for the host",
        ))
    },
}];

/// Id of the check that is about the other checks.
pub(in crate::checks) const PROVEN: &str = "host.proven";
