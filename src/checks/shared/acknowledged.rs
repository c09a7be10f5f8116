//! Findings that somebody knows of: they stay quiet until a day, and come back when they get worse.

use std::collections::BTreeSet;

use jiff::Timestamp;
use jiff::civil::Date;
use serde::{Deserialize, Serialize};

use crate::events::{Acknowledged, CheckResult, CheckStatus};

/// One finding of a host that somebody has taken on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Acknowledgement {
    /// The host.
    pub host: String,
    /// The check that found it.
    pub check: String,
    /// Its severity at that time.
    pub status: CheckStatus,
    /// Its text at that time.
    pub message: String,
    /// Whether it may say anything else, as long as it is no more severe.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub any_text: bool,
    /// The last day on which it stays quiet.
    pub until: Date,
    /// The reason.
    pub because: String,
    /// Name of who took it on.
    pub by: String,
    /// When that was.
    pub at: Timestamp,
}

/// All of a cluster, as they are kept.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Acknowledgements {
    /// In the order of hosts and checks.
    pub acknowledged: Vec<Acknowledgement>,
}

impl Acknowledgements {
    /// The one of a finding.
    pub fn find(&self, host: &str, check: &str) -> Option<&Acknowledgement> {
        self.acknowledged.iter().find(|known| known.host == host && known.check == check)
    }

    /// Adds one, in place of an earlier one of the same finding.
    pub fn put(&mut self, known: Acknowledgement) {
        self.acknowledged.retain(|other| other.host != known.host || other.check != known.check);
        self.acknowledged.push(known);
        self.acknowledged.sort_by(|a, b| (&a.host, &a.check).cmp(&(&b.host, &b.check)));
    }

    /// Quiets what is known, and says of the rest why it is told again.
    pub fn quiet(&self, host: &str, results: &mut [CheckResult], today: Date) {
        for result in results.iter_mut().filter(|result| result.status.is_finding()) {
            let Some(known) = self.find(host, &result.check) else { continue };
            match known.returns(result, today) {
                Some(why) => {
                    // The text stays as it is: it may be acknowledged once more.
                    let why = format!("{why} ({}, {})", known.because, known.by);
                    let hint = result.hint.take();
                    result.hint = Some(hint.map_or_else(|| why.clone(), |hint| format!("{why}; {hint}")));
                }
                None => known.quiet(result),
            }
        }
        quiet_consequences(results);
    }
}

/// Quiets what is unknown because of a finding that is quiet: nothing better can be known of it until that is mended.
fn quiet_consequences(results: &mut [CheckResult]) {
    let known = results.iter().filter(|result| result.acknowledged.is_some());
    let mut quiet: BTreeSet<String> = known.map(|result| result.check.clone()).collect();
    loop {
        let before = quiet.len();
        for result in results.iter_mut().filter(|result| result.status == CheckStatus::Unknown) {
            let Some(cause) = result.because.as_ref().filter(|cause| quiet.contains(*cause)) else {
                continue;
            };
            result.message =
                format!("not known, as follows from {cause}, which is acknowledged: {}", result.message);
            result.status = CheckStatus::Skip;
            quiet.insert(result.check.clone());
        }
        if quiet.len() == before {
            return;
        }
    }
}

impl Acknowledgement {
    /// The reason why a finding is told all the same.
    fn returns(&self, result: &CheckResult, today: Date) -> Option<String> {
        if today > self.until {
            return Some(format!("it was acknowledged until {}", self.until));
        }
        // The worst one stands first.
        if result.status < self.status {
            return Some(format!("it is worse than what was acknowledged as `{}`", self.status.word()));
        }
        let same = self.any_text || result.message == self.message;
        (!same).then(|| format!("it is not what was acknowledged, `{}`", self.message))
    }

    fn quiet(&self, result: &mut CheckResult) {
        result.acknowledged = Some(Acknowledged {
            status: result.status,
            message: std::mem::take(&mut result.message),
            until: self.until.to_string(),
            because: self.because.clone(),
            by: self.by.clone(),
        });
        result.message = format!("acknowledged until {}: {}", self.until, self.because);
        result.status = CheckStatus::Skip;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finding(status: CheckStatus, message: &str) -> CheckResult {
        CheckResult {
            check: "gpu.row_remap".to_owned(),
            status,
            message: message.to_owned(),
            evidence: Vec::new(),
            hint: None,
            because: None,
            acknowledged: None,
        }
    }

    fn known(any_text: bool) -> Acknowledgements {
        let mut all = Acknowledgements::default();
        all.put(Acknowledgement {
            host: "gpu3".to_owned(),
            check: "gpu.row_remap".to_owned(),
            status: CheckStatus::Warn,
            message: "GPU2: 3 rows".to_owned(),
            any_text,
            until: Date::constant(2026, 12, 31),
            because: "RMA 4711".to_owned(),
            by: "jo".to_owned(),
            at: Timestamp::UNIX_EPOCH,
        });
        all
    }

    fn told(any_text: bool, host: &str, (status, message): (CheckStatus, &str), day: i8) -> CheckResult {
        let mut results = [finding(status, message)];
        let today = Date::constant(2026, 12, 1).with().day(day).build().unwrap();
        let today = if day == 1 { Date::constant(2027, 1, 1) } else { today };
        known(any_text).quiet(host, &mut results, today);
        let [result] = results;
        result
    }

    #[test]
    fn an_acknowledged_finding_is_quiet_until_its_last_day() {
        for day in [2, 31] {
            let result = told(false, "gpu3", (CheckStatus::Warn, "GPU2: 3 rows"), day);
            assert_eq!(result.status, CheckStatus::Skip);
            assert_eq!(result.message, "acknowledged until 2026-12-31: RMA 4711");
            let known = result.acknowledged.unwrap();
            assert_eq!((known.status, known.message.as_str()), (CheckStatus::Warn, "GPU2: 3 rows"));
        }
        let result = told(false, "gpu3", (CheckStatus::Warn, "GPU2: 3 rows"), 1);
        assert_eq!(result.hint.as_deref(), Some("it was acknowledged until 2026-12-31 (RMA 4711, jo)"));
        assert_eq!((result.status, result.acknowledged), (CheckStatus::Warn, None));
    }

    #[test]
    fn what_is_worse_or_something_else_is_told() {
        let worse = told(true, "gpu3", (CheckStatus::Fail, "GPU2: 3 rows"), 2);
        assert_eq!(worse.status, CheckStatus::Fail);
        let hint = worse.hint.unwrap();
        assert_eq!(hint, "it is worse than what was acknowledged as `warn` (RMA 4711, jo)");
        // A fourth row and another GPU are not what somebody looked at.
        for text in ["GPU2: 4 rows", "GPU[2,5]: 3 rows"] {
            let other = told(false, "gpu3", (CheckStatus::Warn, text), 2);
            assert_eq!(other.message, text);
            let hint = other.hint.unwrap();
            assert_eq!(hint, "it is not what was acknowledged, `GPU2: 3 rows` (RMA 4711, jo)");
            assert_eq!(told(true, "gpu3", (CheckStatus::Warn, text), 2).status, CheckStatus::Skip);
        }
    }

    #[test]
    fn other_hosts_and_results_that_are_no_findings_stay_as_they_are() {
        assert_eq!(told(true, "gpu4", (CheckStatus::Warn, "GPU2: 3 rows"), 2).status, CheckStatus::Warn);
        assert_eq!(told(true, "gpu3", (CheckStatus::Pass, "no rows"), 2).message, "no rows");
    }

    #[test]
    fn what_follows_from_an_acknowledged_finding_is_quiet_with_it() {
        let unknown = |check: &str, because: Option<&str>| CheckResult {
            check: check.to_owned(),
            because: because.map(str::to_owned),
            ..finding(CheckStatus::Unknown, "nvidia-smi did not answer")
        };
        let mut results = [
            unknown("gpu.nvlink", Some("gpu.count")),
            unknown("gpu.count", Some("gpu.row_remap")),
            unknown("rdma.rate", Some("rdma.devices")),
            finding(CheckStatus::Warn, "GPU2: 3 rows"),
        ];
        known(false).quiet("gpu3", &mut results, Date::constant(2026, 12, 2));
        let status: Vec<CheckStatus> = results.iter().map(|result| result.status).collect();
        assert_eq!(
            status,
            [CheckStatus::Skip, CheckStatus::Skip, CheckStatus::Unknown, CheckStatus::Skip],
            "{results:?}"
        );
        assert!(
            results[1].message.starts_with("not known, as follows from gpu.row_remap, which is acknowledged")
        );
    }
}
