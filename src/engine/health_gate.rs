//! Findings of `verify` on hosts that were looked at.

use std::collections::BTreeMap;

use super::session::Session;
use crate::checks::{self, Subject};
use crate::events::{CheckResult, CheckStatus, HostStatus};

impl Session {
    /// The host as checks see it, after a look at its plan.
    pub fn subject(&self) -> Subject<'_> {
        let (_, tasks, to_change) = self.result();
        let mut subject = Subject::new(&self.host, self.facts(), tasks.unchanged).promised(self.promises());
        subject.open_tasks = to_change + tasks.failed + tasks.blocked;
        subject
    }
}

/// Returns the problems of hosts, by their index; those that are well are left out.
pub(super) fn judge(sessions: &[Session]) -> BTreeMap<usize, Vec<String>> {
    let mut wrong: BTreeMap<usize, Vec<String>> = BTreeMap::new();
    let mut subjects = Vec::new();
    for session in sessions {
        let why = match session.result().0 {
            _ if session.was_gathered() => {
                subjects.push(session.subject());
                continue;
            }
            HostStatus::Unreachable { reason, .. }
            | HostStatus::Quarantined { reason }
            | HostStatus::NotStarted(reason)
            | HostStatus::Offline(reason) => format!("it cannot be looked at: {reason}"),
            HostStatus::Ok | HostStatus::Failed => "it cannot be looked at".to_owned(),
        };
        wrong.entry(session.index()).or_default().push(why);
    }
    let places: BTreeMap<&str, usize> =
        sessions.iter().map(|session| (session.name(), session.index())).collect();
    for conclusion in checks::evaluate(&mut subjects) {
        let Some(place) = places.get(conclusion.host.as_str()) else { continue };
        let findings =
            findings(conclusion.results.iter().filter(|result| result.status == CheckStatus::Fail));
        if !findings.is_empty() {
            wrong.entry(*place).or_default().extend(findings);
        }
    }
    wrong
}

/// Results as the reasons of a failure.
pub(super) fn findings<'a>(results: impl Iterator<Item = &'a CheckResult>) -> Vec<String> {
    results.map(|result| format!("{}: {}", result.check, result.message)).collect()
}
