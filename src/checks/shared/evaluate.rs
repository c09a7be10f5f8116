//! All checks on all hosts.

use std::collections::BTreeSet;

use jiff::civil::Date;

use super::acknowledged::Acknowledgements;
use super::comparison::Comparison;
use super::subject::Subject;
use super::verdict::{Verdict, evidence};
use crate::checks::fleet::COMPARED;
use crate::checks::host::PROVEN;
use crate::checks::{Check, Needs, TABLE};
use crate::events::{CheckResult, CheckStatus};
use crate::facts::card_settings::CardSettingsQuery;
use crate::facts::containers::ContainersQuery;
use crate::facts::driver::DriverQuery;
use crate::facts::driver_upkeep::UpkeepQuery;
use crate::facts::fabric::FabricQuery;
use crate::facts::firewall::FirewallQuery;
use crate::facts::log::LogQuery;
use crate::facts::login::LoginQuery;
use crate::facts::next_boot::NextBootQuery;
use crate::facts::nvidia::NvidiaQuery;
use crate::facts::rdma::RdmaQuery;
use crate::facts::software::SoftwareQuery;
use crate::facts::system::SystemQuery;
use crate::facts::{self, Query};
use crate::inventory::expect::UnknownIs;

/// Message of a check that the inventory of a host leaves out.
pub const LEFT_OUT: &str = "left out by expect.ignore";
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

/// Returns the queries that the checks need.
pub fn queries() -> BTreeSet<Query> {
    let facts = FACTS.iter().filter_map(|name| facts::base(name));
    let probes: [Query; 13] = [
        LogQuery.into(),
        RdmaQuery.into(),
        FirewallQuery.into(),
        SystemQuery.into(),
        SoftwareQuery.into(),
        FabricQuery.into(),
        CardSettingsQuery.into(),
        DriverQuery { whole: false }.into(),
        UpkeepQuery.into(),
        NextBootQuery.into(),
        NvidiaQuery.into(),
        LoginQuery.into(),
        ContainersQuery.into(),
    ];
    facts.chain(probes).collect()
}

/// Results of all checks on one host.
#[derive(Debug, Clone)]
pub struct Conclusion {
    /// Name of the host.
    pub host: String,
    /// The results, in the order of the catalogue.
    pub results: Vec<CheckResult>,
    /// Whether the host is verified: nothing failed, and what is not known may be.
    pub verified: bool,
    /// Whether what is not known counts as failed.
    unknown_fails: bool,
}

impl Conclusion {
    /// Quiets findings that somebody knows of, and judges the host by the others.
    pub fn acknowledge(&mut self, known: &Acknowledgements, today: Date) {
        known.quiet(&self.host, &mut self.results, today);
        self.verified = is_verified(&self.results, self.unknown_fails);
    }
}

fn is_verified(results: &[CheckResult], unknown_fails: bool) -> bool {
    let has = |status: CheckStatus| results.iter().any(|result| result.status == status);
    !(has(CheckStatus::Fail) || unknown_fails && has(CheckStatus::Unknown))
}

/// Makes every check on every host.
pub fn evaluate(subjects: &mut [Subject<'_>]) -> Vec<Conclusion> {
    let fleet = Comparison::new(COMPARED, subjects);
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
                return result(check, Verdict::Skip(LEFT_OUT.to_owned()));
            }
            let (Ok(verdict) | Err(verdict)) = (check.run)(subject);
            told(subject, check, result(check, verdict))
        })
        .collect();
    // That hosts are alike proves nothing of any of them, nor that a job sees what a login sees.
    let of_others = |id: &str| {
        crate::checks::find(id).is_some_and(|check| matches!(check.needs, Needs::Fleet | Needs::Job))
    };
    if results.iter().any(|result| result.status == CheckStatus::Pass && !of_others(&result.check)) {
        // What passed is the proof.
        results.retain(|result| result.check != PROVEN);
    }
    let unknown_fails = subject.expect.unknown.unwrap_or(UnknownIs::Fail) == UnknownIs::Fail;
    let verified = is_verified(&results, unknown_fails);
    Conclusion { host: subject.host.name.clone(), results, verified, unknown_fails }
}

/// The same with where its expectation came from, or why there is none.
fn told(subject: &Subject<'_>, check: &Check, mut result: CheckResult) -> CheckResult {
    if result.status.is_finding() {
        let origins = subject.origins(&check.keys()).into_iter();
        result.evidence.extend(origins.map(|line| evidence("expected", line)));
    } else if result.status == CheckStatus::Skip
        && let Some(reason) = subject.at_odds(&check.keys())
    {
        result.message = reason;
    }
    result
}

fn result(check: &Check, verdict: Verdict) -> CheckResult {
    let plain = |status, message| CheckResult {
        check: check.id.to_owned(),
        status,
        message,
        evidence: Vec::new(),
        hint: None,
        because: None,
        acknowledged: None,
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
