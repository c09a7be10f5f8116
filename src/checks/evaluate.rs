//! All checks on all hosts.

use std::collections::BTreeSet;

use super::{Check, Fleet, Kind, Subject, TABLE, Verdict};
use crate::events::{CheckResult, CheckStatus};
use crate::facts::{self, Query};
use crate::inventory::expect::UnknownIs;
use crate::probes;

/// Basic facts that checks look at.
const FACTS: &[&str] = &[
    "pci",
    "network",
    "kernel",
    "boot",
    "memory",
    "hostname",
    "ids",
    "os",
    "modules",
    "virtualization",
    "cpu",
    "mounts",
    "users",
];

pub(super) const CHECKS: &[Check] = &[Check {
    id: PROVEN,
    title: "something was proven about the host",
    kind: Kind::Idle,
    severity: CheckStatus::Fail,
    expects: "at least one check that passes, or one task of the inventory that needs no change",
    why: "A host on which everything is unknown or does not apply was not verified, whatever its exit code.",
    hint: "install the tools that are missing (`-v` names them), declare what the host has in `expect:`, or mark it `offline`",
    source: "domain G (result states)",
    run: |subject| {
        if subject.proven_tasks > 0 {
            let tasks = crate::report::style::count(subject.proven_tasks, "task");
            return Ok(Verdict::Skip(format!("{tasks} as the inventory says")));
        }
        Ok(Verdict::finding(
            "nothing could be proven",
            "provision verify",
            "no check passed, and no task was planned",
        ))
    },
}];

/// Id of the check that is about the other checks.
const PROVEN: &str = "host.proven";

/// What has to be asked for the checks.
pub fn queries() -> BTreeSet<Query> {
    FACTS.iter().filter_map(|name| facts::base(name)).chain(probes::queries()).collect()
}

/// What came out on one host.
#[derive(Debug, Clone)]
pub struct Conclusion {
    /// Name of the host.
    pub host: String,
    /// The results, in the order of the catalogue.
    pub results: Vec<CheckResult>,
    /// Whether the host is verified: nothing failed, and what is not known may be.
    pub verified: bool,
}

/// Makes every check on every host.
pub fn evaluate(subjects: &mut [Subject<'_>]) -> Vec<Conclusion> {
    let fleet = Fleet::new(subjects);
    for subject in subjects.iter_mut() {
        subject.fleet = Some(fleet.clone());
    }
    subjects.iter().map(conclude).collect()
}

fn conclude(subject: &Subject<'_>) -> Conclusion {
    let ignored = subject.expect.ignore.clone().unwrap_or_default();
    let mut results: Vec<CheckResult> = TABLE
        .iter()
        .map(|check| {
            if ignored.iter().any(|id| id == check.id) {
                return result(check, Verdict::Skip("expect.ignore has it".to_owned()));
            }
            let (Ok(verdict) | Err(verdict)) = (check.run)(subject);
            result(check, verdict)
        })
        .collect();
    // That hosts are alike proves nothing of any of them.
    let of_fleet = |id: &str| super::find(id).is_some_and(|check| check.kind == Kind::Fleet);
    if results.iter().any(|result| result.status == CheckStatus::Pass && !of_fleet(&result.check)) {
        // What passed is the proof.
        results.retain(|result| result.check != PROVEN);
    }
    let has = |status: CheckStatus| results.iter().any(|result| result.status == status);
    let unknown_fails = subject.expect.unknown.unwrap_or(UnknownIs::Fail) == UnknownIs::Fail;
    let verified = !(has(CheckStatus::Fail) || unknown_fails && has(CheckStatus::Unknown));
    Conclusion { host: subject.host.name.clone(), results, verified }
}

fn result(check: &Check, verdict: Verdict) -> CheckResult {
    let plain = |status, message| CheckResult {
        check: check.id.to_owned(),
        status,
        message,
        evidence: Vec::new(),
        hint: None,
        because: None,
    };
    match verdict {
        Verdict::Pass(message) => plain(CheckStatus::Pass, message),
        Verdict::Skip(message) => plain(CheckStatus::Skip, message),
        Verdict::Unknown { message, evidence, because } => CheckResult {
            evidence,
            because: because.filter(|id| *id != check.id).map(str::to_owned),
            ..plain(CheckStatus::Unknown, message)
        },
        Verdict::Finding { message, evidence, hint, severity } => CheckResult {
            evidence,
            hint: Some(hint.unwrap_or_else(|| check.hint.to_owned())),
            ..plain(severity.unwrap_or(check.severity), message)
        },
    }
}
