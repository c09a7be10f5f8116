//! Hosts by what became of them.

use std::collections::BTreeMap;

use indexmap::IndexMap;
use serde_json::{Value as Json, json};

use super::figures::{Group, weakest};
use super::numbers::percent;
use super::text::{NAME, SENTENCE, hosts_text, line, part_of};
use crate::accept::record::{Finding, HostRecord, Part, PartKind, Verdict};
use crate::report::html::budget::{Budget, ROWS as REASONS};
use crate::words::count;

/// Findings of one host that are shown, and of all hosts; each host has one in any case.
const FINDINGS: usize = 12;
const ALL_FINDINGS: usize = 1500;
/// Bytes of all findings.
const TEXT: usize = 600_000;
/// Bytes of a finding for which there is no room: it is there in any case.
const SHORT: usize = 120;
/// Rows of one table of hosts that passed: short enough to stand beside others, on paper as well.
const ROWS: usize = 20;

/// The number of hosts of each verdict.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Tally {
    pub(super) passed: u64,
    pub(super) failed: u64,
    pub(super) not_tested: u64,
}

impl Tally {
    pub(super) fn of(hosts: &[(&str, &HostRecord)]) -> Self {
        let mut tally = Self::default();
        for (_, host) in hosts {
            match host.verdict {
                Verdict::Passed => tally.passed += 1,
                Verdict::Failed => tally.failed += 1,
                Verdict::NotTested => tally.not_tested += 1,
            }
        }
        tally
    }

    /// The result in one sentence.
    pub(super) fn sentence(self) -> String {
        let all = self.passed + self.failed + self.not_tested;
        if all == 0 {
            return "There was no host to test".to_owned();
        }
        if self.passed == all {
            return if all == 1 { "The host passed".to_owned() } else { format!("All {all} hosts passed") };
        }
        let failed = (self.failed > 0).then(|| format!("{} failed", self.failed));
        let was = if self.not_tested == 1 { "was" } else { "were" };
        let not_tested = (self.not_tested > 0).then(|| format!("{} {was} not tested", self.not_tested));
        let others: Vec<String> = failed.into_iter().chain(not_tested).collect();
        format!("{} of {} passed; {}", self.passed, count(all, "host"), others.join(", "))
    }
}

/// Hosts that failed, each with what speaks against it: of each the worst, and more while there is room.
pub(super) fn failed(hosts: &[(&str, &HostRecord)]) -> Vec<Json> {
    let (mut budget, mut left) = (Budget(TEXT), ALL_FINDINGS);
    let mut rows = Vec::new();
    for (name, host) in hosts.iter().filter(|(_, host)| host.verdict == Verdict::Failed) {
        let most = FINDINGS.min(left.max(1));
        let findings: Vec<Json> =
            host.findings.iter().take(most).map(|it| finding(it, host, &mut budget)).collect();
        left = left.saturating_sub(findings.len());
        let more = host.findings.len().saturating_sub(most) as u64;
        rows.push(json!({
            "host": line(name, NAME),
            "findings": findings,
            "more": (more > 0).then(|| count(more, "other finding")),
        }));
    }
    rows
}

/// Findings of hosts that passed all the same, by their text.
pub(super) fn remarks(hosts: &[(&str, &HostRecord)]) -> Vec<Json> {
    let mut texts: IndexMap<&str, Vec<&str>> = IndexMap::new();
    for (name, host) in hosts.iter().filter(|(_, host)| host.verdict == Verdict::Passed) {
        for finding in &host.findings {
            let hosts = texts.entry(&finding.text).or_default();
            if hosts.last() != Some(name) {
                hosts.push(name);
            }
        }
    }
    let mut budget = Budget(TEXT / 4);
    let mut row = |(text, hosts): (&str, &Vec<&str>)| {
        let number = count(hosts.len() as u64, "host");
        let text = budget.try_take(&text.replace('\n', " "), SENTENCE)?;
        Some(json!({ "hosts": hosts_text(hosts), "count": number, "text": text }))
    };
    let mut rows: Vec<Json> =
        texts.iter().take(REASONS).map_while(|(text, hosts)| row((text, hosts))).collect();
    let more = texts.len().saturating_sub(rows.len()) as u64;
    if more > 0 {
        let text = format!("{}, see the JSON file", count(more, "other remark"));
        rows.push(json!({ "hosts": "", "count": "", "text": text }));
    }
    rows
}

fn finding(finding: &Finding, host: &HostRecord, budget: &mut Budget) -> Json {
    let text = budget.try_take(&finding.text.replace('\n', " "), SENTENCE);
    let part: Option<&Part> = host.parts.iter().find(|part| part.key == finding.part);
    let model = part.map(|part| part.model.as_str()).filter(|model| !model.is_empty());
    json!({
        "stage": finding.stage.name(),
        "part": part_of(host, &finding.part),
        "model": model.map(|model| line(model, NAME)),
        "text": text.unwrap_or_else(|| line(&finding.text, SHORT)),
        "action": (!finding.action.is_empty()).then(|| {
            let action = budget.try_take(&finding.action.replace('\n', " "), SENTENCE);
            action.unwrap_or_else(|| "(left out, see the JSON file)".to_owned())
        }),
    })
}

/// Hosts that were not tested, by the reason.
pub(super) fn not_tested(hosts: &[(&str, &HostRecord)]) -> Vec<Json> {
    let mut reasons: IndexMap<(String, String), Vec<&str>> = IndexMap::new();
    for (name, host) in hosts.iter().filter(|(_, host)| host.verdict == Verdict::NotTested) {
        let reason = host.findings.first().map_or_else(
            || ("no reason is on record".to_owned(), String::new()),
            |finding| (line(&finding.text, SENTENCE), line(&finding.action, SENTENCE)),
        );
        reasons.entry(reason).or_default().push(name);
    }
    let more = reasons.len().saturating_sub(REASONS);
    let mut rows: Vec<Json> = Vec::new();
    let mut rest: Vec<&str> = Vec::new();
    for (at, ((reason, action), hosts)) in reasons.into_iter().enumerate() {
        if at >= REASONS {
            rest.extend(hosts);
            continue;
        }
        let number = count(hosts.len() as u64, "host");
        rows.push(
            json!({ "hosts": hosts_text(&hosts), "count": number, "reason": reason, "action": action }),
        );
    }
    if !rest.is_empty() {
        let (hosts, number) = (hosts_text(&rest), count(rest.len() as u64, "host"));
        let reason = format!("{}, see the JSON file", count(more as u64, "other reason"));
        rows.push(json!({ "hosts": hosts, "count": number, "reason": reason, "action": "" }));
    }
    rows
}

/// Hosts that passed, in short tables, and all of them as a list.
pub(super) fn passed(hosts: &[(&str, &HostRecord)], groups: &[Group<'_>]) -> (Vec<Vec<Json>>, String) {
    let weakest: BTreeMap<&str, (f64, &str)> = weakest(groups);
    let passed: Vec<_> = hosts.iter().filter(|(_, host)| host.verdict == Verdict::Passed).collect();
    let row = |(name, host): &&(&str, &HostRecord)| {
        let gpus = host.parts.iter().filter(|part| part.kind == PartKind::Gpu).count();
        let (share, figure) = weakest.get(name).copied().unzip();
        json!({
            "host": line(name, NAME),
            "gpus": gpus,
            "figures": host.figures.len(),
            "share": share.map(percent),
            "figure": figure.map(|figure| line(figure, NAME)),
        })
    };
    let tables = passed.chunks(ROWS).map(|rows| rows.iter().map(row).collect()).collect();
    let names: Vec<&str> = passed.iter().map(|(name, _)| *name).collect();
    (tables, hosts_text(&names))
}
