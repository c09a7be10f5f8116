//! Results of `verify` on one host.

use serde::{Deserialize, Serialize};

/// Status of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CheckStatus {
    /// It is wrong.
    Fail,
    /// There is no answer: a tool is missing, hung or not understood. Never a pass.
    Unknown,
    /// It is not what it should be, and the host works.
    Warn,
    /// It does not apply to the host.
    Skip,
    /// It is as it should be.
    Pass,
}

impl CheckStatus {
    /// The word used in reports.
    pub fn word(self) -> &'static str {
        match self {
            Self::Fail => "fail",
            Self::Unknown => "unknown",
            Self::Warn => "warn",
            Self::Skip => "skip",
            Self::Pass => "pass",
        }
    }

    /// Whether a person should look at it.
    pub fn is_finding(self) -> bool {
        matches!(self, Self::Fail | Self::Unknown | Self::Warn)
    }
}

/// The bandwidth between two hosts, from `verify --active`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PairTest {
    /// The RDMA device on both.
    pub rail: String,
    /// The two hosts.
    pub hosts: [String; 2],
    /// Gb/s; none when nothing was measured.
    pub gbps: Option<f64>,
    /// Reason why it is not good.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// Something that differs between a new login and what a launcher starts, from `verify --through`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Difference {
    /// Name of the difference: `memlock`, `/dev/nvidia3`, `libnccl.so.2`.
    pub what: String,
    /// As a new login sees it.
    pub login: String,
    /// As the job sees it.
    pub job: String,
    /// The check that finds it wrong; none where it is meant to be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub check: Option<String>,
}

/// View of a host behind a launcher.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SeenThrough {
    /// Its command line.
    pub launcher: String,
    /// Differences from the view of a new login.
    pub differences: Vec<Difference>,
}

/// An observation, and its source.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Evidence {
    /// The command or file.
    pub from: String,
    /// The line that it printed or held.
    pub line: String,
}

/// A finding that somebody knows of, as it would have been told.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Acknowledged {
    /// Severity of the finding.
    pub status: CheckStatus,
    /// Description of the finding.
    pub message: String,
    /// The last day on which it stays quiet: `2026-12-31`.
    pub until: String,
    /// The reason.
    pub because: String,
    /// Name of who took it on.
    pub by: String,
}

/// One check on one host.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct CheckResult {
    /// Its id: `rdma.port_active`.
    pub check: String,
    /// Status of the check.
    pub status: CheckStatus,
    /// Description of the result, in one line.
    pub message: String,
    /// Evidence for the result; always there when it is not a pass or skip.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub evidence: Vec<Evidence>,
    /// Advice about the finding.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// The check that tells the cause, when this one is unknown as a consequence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub because: Option<String>,
    /// The finding that is quiet here, since `provision acknowledge` says that somebody knows of it. The status is a
    /// skip then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub acknowledged: Option<Acknowledged>,
}

/// Checks by how they ended, summed over hosts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckCounts {
    /// As it should be.
    pub pass: u64,
    /// Not what it should be, and the host works.
    pub warn: u64,
    /// Wrong.
    pub fail: u64,
    /// No answer.
    pub unknown: u64,
    /// Does not apply.
    pub skip: u64,
}

impl CheckCounts {
    /// Counts one.
    pub fn count(&mut self, status: CheckStatus) {
        match status {
            CheckStatus::Pass => self.pass += 1,
            CheckStatus::Warn => self.warn += 1,
            CheckStatus::Fail => self.fail += 1,
            CheckStatus::Unknown => self.unknown += 1,
            CheckStatus::Skip => self.skip += 1,
        }
    }

    /// Adds those of another.
    pub fn add(&mut self, other: &Self) {
        self.pass = self.pass.saturating_add(other.pass);
        self.warn = self.warn.saturating_add(other.warn);
        self.fail = self.fail.saturating_add(other.fail);
        self.unknown = self.unknown.saturating_add(other.unknown);
        self.skip = self.skip.saturating_add(other.skip);
    }

    /// Whether nothing was checked.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}
