//! Verdicts of checks, and the folding of findings on many devices into one line.

use std::fmt::Display;

use indexmap::IndexMap;

use crate::events::{CheckStatus, Evidence};
use crate::facts::{Gap, GapKind};
use crate::hostlist;

/// Most lines of evidence that a finding carries.
const EVIDENCE: usize = 8;

/// Result of a check on one host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// As it should be: what was seen.
    Pass(String),
    /// Does not apply: why.
    Skip(String),
    /// Cannot be told.
    Unknown {
        /// Reason.
        message: String,
        /// Output that was seen instead.
        evidence: Vec<Evidence>,
        /// The check that tells the cause.
        because: Option<&'static str>,
    },
    /// Not as it should be.
    Finding {
        /// Description of the problem.
        message: String,
        /// Evidence for it.
        evidence: Vec<Evidence>,
        /// Advice, when the check's own hint does not fit.
        hint: Option<String>,
        /// Severity, when it is not that of the check.
        severity: Option<CheckStatus>,
    },
}

/// A verdict; `Err` is one that was reached before the check could look.
pub type Checked = Result<Verdict, Verdict>;

/// A line of evidence.
pub(in crate::checks) fn evidence(from: impl Into<String>, line: impl Display) -> Evidence {
    Evidence { from: from.into(), line: line.to_string() }
}

impl Verdict {
    /// Something that cannot be told.
    pub(in crate::checks) fn unknown(message: impl Into<String>, from: &str, line: impl Display) -> Self {
        Self::Unknown { message: message.into(), evidence: vec![evidence(from, line)], because: None }
    }

    /// A finding with one line of evidence.
    pub(in crate::checks) fn finding(message: impl Into<String>, from: &str, line: impl Display) -> Self {
        Self::Finding {
            message: message.into(),
            evidence: vec![evidence(from, line)],
            hint: None,
            severity: None,
        }
    }

    /// The same with another hint.
    #[must_use]
    pub(in crate::checks) fn hint(mut self, text: impl Into<String>) -> Self {
        if let Self::Finding { hint, .. } = &mut self {
            *hint = Some(text.into());
        }
        self
    }

    /// The same, counted as something else.
    #[must_use]
    pub(in crate::checks) fn counted_as(mut self, status: CheckStatus) -> Self {
        if let Self::Finding { severity, .. } = &mut self {
            *severity = Some(status);
        }
        self
    }

    /// Something that cannot be told because of what another check tells.
    pub(in crate::checks) fn follows(
        message: impl Into<String>,
        from: &str,
        line: impl Display,
        because: &'static str,
    ) -> Self {
        Self::Unknown {
            message: message.into(),
            evidence: vec![evidence(from, line)],
            because: Some(because),
        }
    }

    /// Returns the verdict for a gap in the answers, with the check that tells why it is there.
    pub(in crate::checks) fn gap(gap: &Gap, because: Option<&'static str>) -> Self {
        let line = if gap.output.is_empty() { gap.reason.as_str() } else { gap.output.as_str() };
        Self::Unknown {
            message: gap.reason.clone(),
            evidence: vec![evidence(gap.command.as_str(), line)],
            because: because.filter(|_| gap.kind != GapKind::Garbled),
        }
    }
}

/// Problems and unknowns of the devices of a host.
#[derive(Debug, Default)]
pub struct Findings {
    wrong: IndexMap<String, Vec<String>>,
    unknown: IndexMap<String, Vec<String>>,
    evidence: Vec<Evidence>,
    unknown_evidence: Vec<Evidence>,
}

impl Findings {
    /// A device is not as it should be: how, and what says so.
    pub(in crate::checks) fn wrong(
        &mut self,
        device: &str,
        how: impl Into<String>,
        from: impl Into<String>,
        line: impl Display,
    ) {
        self.wrong.entry(how.into()).or_default().push(device.to_owned());
        self.evidence.push(evidence(from, line));
    }

    /// Nothing is known about a device: why.
    pub(in crate::checks) fn unknown(
        &mut self,
        device: &str,
        why: impl Into<String>,
        from: impl Into<String>,
    ) {
        let why = why.into();
        self.unknown_evidence.push(evidence(from, &why));
        self.unknown.entry(why).or_default().push(device.to_owned());
    }

    /// Whether nothing is wrong so far.
    pub(in crate::checks) fn is_well(&self) -> bool {
        self.wrong.is_empty()
    }

    /// Folds the findings into a verdict; a problem takes precedence over an unknown.
    pub(in crate::checks) fn verdict(self, pass: impl Into<String>) -> Verdict {
        let Self { wrong, unknown, mut evidence, mut unknown_evidence } = self;
        evidence.truncate(EVIDENCE);
        unknown_evidence.truncate(EVIDENCE);
        if !wrong.is_empty() {
            return Verdict::Finding { message: lines(&wrong), evidence, hint: None, severity: None };
        }
        if !unknown.is_empty() {
            return Verdict::Unknown { message: lines(&unknown), evidence: unknown_evidence, because: None };
        }
        Verdict::Pass(pass.into())
    }
}

/// `mlx5_[0-3]: DOWN; mlx5_5: half rate`.
fn lines(by_text: &IndexMap<String, Vec<String>>) -> String {
    let lines: Vec<String> = by_text
        .iter()
        .map(|(text, devices)| format!("{}: {text}", hostlist::fold(devices.iter().map(String::as_str))))
        .collect();
    lines.join("; ")
}
