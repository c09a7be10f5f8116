//! Findings of one look at the hosts.

use std::collections::{BTreeMap, BTreeSet};

use crate::checks::{self, Needs};
use crate::events::{CheckStatus, HostRecord, HostStatus, PlannedTask, PlannedVerdict, Record};
use crate::report::style::safe_line;

/// Check that a host fails which is not reached.
pub(super) const REACHABLE: &str = "host.reachable";
/// Prefix of the name of a task that is not as the inventory says.
pub(super) const DRIFT: &str = "drift: ";
/// Check that a round fails which cannot be made.
pub(super) const ROUND: &str = "watch.round";
/// Longest text of one finding.
const LONGEST: usize = 300;

/// One finding of a host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// Severity of the finding.
    pub status: CheckStatus,
    /// Description of the finding.
    pub message: String,
    /// Advice about the finding.
    pub hint: Option<String>,
    /// It is about what happened since the last round, so the next one does not see it again.
    pub once: bool,
}

/// Answers and findings of one host.
#[derive(Debug, Clone, Default)]
pub(super) struct Heard {
    reach: bool,
    plan: bool,
    checks: bool,
    /// Checks that something else keeps from being made.
    hidden: BTreeSet<String>,
    /// Findings that somebody knows of: neither gone nor there, and new when they come back.
    pub(super) acknowledged: BTreeSet<String>,
    pub(super) found: BTreeMap<String, Found>,
}

impl Heard {
    /// Whether this round says anything of a finding: what is not looked at is neither new nor gone.
    pub(super) fn knows(&self, what: &str) -> bool {
        match what {
            REACHABLE => self.reach,
            _ if what.starts_with(DRIFT) => self.plan,
            _ => self.checks && !self.hidden.contains(what),
        }
    }

    fn add(&mut self, what: impl Into<String>, status: CheckStatus, message: &str, hint: Option<&str>) {
        let cut = |text: &str| safe_line(text).chars().take(LONGEST).collect::<String>();
        let what = what.into();
        let grew = checks::find(&what).is_some_and(|check| check.needs == Needs::Delta);
        let once = grew && status == CheckStatus::Fail;
        self.found.insert(what, Found { status, message: cut(message), hint: hint.map(cut), once });
    }
}

/// Findings of one look at the hosts.
#[derive(Debug, Clone, Default)]
pub struct Round {
    /// The hosts that it was about; `None`: it could not be made.
    pub(super) hosts: Option<BTreeMap<String, Heard>>,
    /// Of the round itself.
    pub(super) own: Heard,
}

impl Round {
    /// The round that made this record.
    pub fn of(record: &Record) -> Self {
        let hosts = record.hosts.iter().map(|(name, host)| (name.clone(), heard(host))).collect();
        let own = Heard { checks: true, ..Heard::default() };
        Self { hosts: Some(hosts), own }
    }

    /// A round that could not be made: nothing is known of any host.
    pub fn broken(reason: &str) -> Self {
        let mut own = Heard { checks: true, ..Heard::default() };
        own.add(ROUND, CheckStatus::Fail, &format!("no host can be looked at: {reason}"), None);
        Self { hosts: None, own }
    }
}

fn heard(host: &HostRecord) -> Heard {
    let mut heard = Heard::default();
    match &host.status {
        Some(HostStatus::Unreachable { reason, hint, .. }) => {
            heard.reach = true;
            heard.add(REACHABLE, CheckStatus::Fail, reason, hint.as_deref());
            return heard;
        }
        Some(HostStatus::Quarantined { reason }) => {
            heard.reach = true;
            heard.add(REACHABLE, CheckStatus::Fail, reason, None);
            return heard;
        }
        Some(HostStatus::Ok | HostStatus::Failed) => {}
        Some(HostStatus::NotStarted(_) | HostStatus::Offline(_)) | None => return heard,
    }
    (heard.reach, heard.plan, heard.checks) = (true, true, !host.checks.is_empty());
    for planned in &host.plan {
        drift(&mut heard, planned);
    }
    let known = host.checks.iter().filter(|check| check.acknowledged.is_some());
    heard.acknowledged = known.map(|check| check.check.clone()).collect();
    for check in host.checks.iter().filter(|check| check.status.is_finding()) {
        // What is unknown because of something else is told there.
        if check.because.is_some() {
            heard.hidden.insert(check.check.clone());
        } else {
            heard.add(check.check.clone(), check.status, &check.message, check.hint.as_deref());
        }
    }
    heard
}

fn drift(heard: &mut Heard, planned: &PlannedTask) {
    let what = format!("{DRIFT}{}", safe_line(&planned.task.name));
    match &planned.verdict {
        PlannedVerdict::Changes(changes) => {
            heard.add(what, CheckStatus::Fail, &planned.drift(changes), None);
        }
        PlannedVerdict::Failed(failure) => {
            let message = format!("cannot be planned: {}", failure.message);
            heard.add(what, CheckStatus::Unknown, &message, failure.hint.as_deref());
        }
        PlannedVerdict::Unchanged
        | PlannedVerdict::Runs(_)
        | PlannedVerdict::Skipped(_)
        | PlannedVerdict::Blocked(_)
        | PlannedVerdict::KnownAfter(_) => {}
    }
}
