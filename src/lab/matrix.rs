//! Faults of the lab that `verify` finds, and those that it misses: the rows of the verify matrix.
//!
//! Every profile is verified healthy, with each of its faults on one host while other hosts have
//! others, and mended. A fault is found when each check that it names speaks on that host, with a
//! hint, and no check speaks that has nothing to do with it. Pure; `cli` runs the lab.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value as Json, json};

use super::fault::{Excuse, Fault};
use super::profile::Profile;
use crate::checks;
use crate::events::{CheckResult, CheckStatus};
use crate::put;

/// Result of one host in one verify.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// The hardware profile.
    pub profile: String,
    /// The fault; none on a healthy host.
    pub fault: Option<String>,
    /// The host.
    pub host: String,
    /// Findings: status and check of each.
    pub found: Vec<(CheckStatus, String)>,
    /// Entries of the fault's `finds` that were not found.
    pub missing: Vec<String>,
    /// Findings that have nothing to do with it.
    pub unrelated: Vec<String>,
    /// Checks that found it without saying what to do.
    pub no_hint: Vec<String>,
    /// Checks that passed.
    pub passed: usize,
    /// Origins of the records that were broken: recorded, quoted, composed.
    pub kinds: BTreeSet<&'static str>,
}

impl Row {
    /// Whether all was as it should be.
    pub fn is_right(&self) -> bool {
        self.missing.is_empty() && self.unrelated.is_empty() && self.no_hint.is_empty() && self.passed > 0
    }
}

/// The check of an entry of `finds`, and whether it can only be unknown.
fn wanted(entry: &str) -> (&str, bool) {
    entry.strip_prefix("unknown ").map_or((entry, false), |check| (check, true))
}

/// Holds what a host showed against what its fault says.
pub fn judge(profile: &str, host: &str, fault: Option<&Fault>, results: &[CheckResult]) -> Row {
    let spoke: Vec<&CheckResult> = results.iter().filter(|result| result.status.is_finding()).collect();
    let finds = fault.map(|fault| fault.finds.as_slice()).unwrap_or_default();
    let mut missing = Vec::new();
    let mut no_hint = Vec::new();
    let mut related: BTreeSet<&str> = BTreeSet::new();
    for entry in finds {
        let (check, unknown) = wanted(entry);
        related.insert(check);
        let hit = spoke
            .iter()
            .find(|result| result.check == check && (result.status == CheckStatus::Unknown) == unknown);
        match hit {
            None => missing.push(entry.clone()),
            Some(result) if !unknown && result.hint.as_deref().unwrap_or("").is_empty() => {
                no_hint.push(check.to_owned());
            }
            Some(_) => {}
        }
    }
    let follows = fault.map(|fault| fault.because.as_slice()).unwrap_or_default();
    related.extend(follows.iter().map(String::as_str));
    // What is not known because of a check that speaks belongs to that check.
    let follows_from_cause = |result: &CheckResult| {
        result.status == CheckStatus::Unknown
            && result.because.as_deref().is_some_and(|because| related.contains(because))
    };
    let unrelated = spoke
        .iter()
        .filter(|result| !related.contains(result.check.as_str()) && !follows_from_cause(result))
        .map(|result| format!("{} {}: {}", result.status.word(), result.check, result.message))
        .collect();
    Row {
        profile: profile.to_owned(),
        fault: fault.map(|fault| fault.name.clone()),
        host: host.to_owned(),
        found: spoke.iter().map(|result| (result.status, result.check.clone())).collect(),
        missing,
        unrelated,
        no_hint,
        passed: results.iter().filter(|result| result.status == CheckStatus::Pass).count(),
        kinds: BTreeSet::new(),
    }
}

/// Groups faults that are set at once on this many hosts, one on each. Two that one check finds are kept
/// apart, because hosts are compared with each other; what never answers goes together, because it takes its
/// deadline.
pub fn rounds(faults: &[Fault], hosts: usize) -> Vec<Vec<&Fault>> {
    let mut rounds: Vec<Vec<&Fault>> = Vec::new();
    for fault in faults {
        let shares = |other: &&Fault| {
            let checks = |fault: &Fault| -> BTreeSet<String> {
                fault.finds.iter().map(|entry| wanted(entry).0.to_owned()).collect()
            };
            !fault.hangs() && !checks(fault).is_disjoint(&checks(other))
        };
        let fits = |round: &&mut Vec<&Fault>| {
            round.len() < hosts
                && round.iter().all(|other| other.hangs() == fault.hangs())
                && !round.iter().any(&shares)
        };
        match rounds.iter_mut().find(fits) {
            Some(round) => round.push(fault),
            None => rounds.push(vec![fault]),
        }
    }
    rounds
}

/// The sums of a matrix.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Sums {
    /// Faults on profiles.
    pub faults: usize,
    /// Of these, found by every check that they name, with a hint.
    pub found: usize,
    /// Findings that have nothing to do with a fault.
    pub unrelated: usize,
    /// Healthy hosts without a finding.
    pub healthy: usize,
    /// Healthy hosts.
    pub without: usize,
}

impl Sums {
    /// Counts rows.
    pub fn of(rows: &[Row]) -> Self {
        let mut sums = Self::default();
        for row in rows {
            sums.unrelated += row.unrelated.len();
            if row.fault.is_some() {
                sums.faults += 1;
                sums.found += usize::from(row.missing.is_empty() && row.no_hint.is_empty());
            } else {
                sums.without += 1;
                sums.healthy += usize::from(row.is_right());
            }
        }
        sums
    }

    /// Whether everything was found and nothing else.
    pub fn is_right(&self) -> bool {
        self.found == self.faults && self.unrelated == 0 && self.healthy == self.without
    }
}

fn row_json(row: &Row) -> Json {
    let found: Vec<Json> =
        row.found.iter().map(|(status, check)| json!({ "check": check, "status": status })).collect();
    json!({
        "profile": row.profile,
        "fault": row.fault,
        "host": row.host,
        "right": row.is_right(),
        "found": found,
        "missing": row.missing,
        "unrelated": row.unrelated,
        "no_hint": row.no_hint,
        "passed": row.passed,
        "source_kinds": row.kinds,
    })
}

/// The matrix as one object.
pub fn object(rows: &[Row]) -> Json {
    let sums = Sums::of(rows);
    json!({
        "version": 1,
        "right": sums.is_right(),
        "summary": {
            "faults": sums.faults,
            "found": sums.found,
            "unrelated": sums.unrelated,
            "healthy_hosts": sums.without,
            "healthy_hosts_without_finding": sums.healthy,
        },
        "rows": rows.iter().map(row_json).collect::<Vec<_>>(),
    })
}

/// A text that may stand in a cell of a table.
fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ").replace('<', "&lt;")
}

fn code(texts: &[String]) -> String {
    texts.iter().map(|text| format!("`{text}`")).collect::<Vec<_>>().join(", ")
}

/// The page of the matrix.
pub fn page(rows: &[Row], profiles: &[Profile], faults: &[Fault], excuses: &[Excuse]) -> String {
    let sums = Sums::of(rows);
    let mut text = String::from(
        "<!-- Written by `make verify-matrix`. -->\n# Faults that verify finds and misses\n\nEvery hardware \
         profile of the lab is verified healthy, then with each of its faults on one host while other hosts \
         have others or none, then mended. A fault is found when each check that it names speaks on that \
         host, with a hint, and no other check speaks anywhere. Hardware is played from records: *recorded* is \
         real output, *quoted* a real sample that others published, *composed* written after a documented \
         format. So this proves the checks and their parsers, not the hardware.\n\n",
    );
    put!(
        text,
        "{} of {} faults found on {} profiles; {} unrelated findings; {} of {} healthy hosts without a finding; \
         {} checks in the catalogue.\n\n",
        sums.found,
        sums.faults,
        profiles.len(),
        sums.unrelated,
        sums.healthy,
        sums.without,
        checks::TABLE.len(),
    );
    text.push_str("## Profiles\n\n| profile | what it is | entries | checks that pass when healthy |\n|---|---|---|---|\n");
    for profile in profiles {
        let sources: Vec<String> =
            profile.sources.iter().map(|(kind, count)| format!("{count} {kind}")).collect();
        let passed = rows
            .iter()
            .filter(|row| row.profile == profile.name && row.fault.is_none())
            .map(|row| row.passed)
            .min();
        let (name, doc) = (&profile.name, cell(&profile.doc));
        put!(text, "| `{name}` | {doc} | {} | {} |\n", sources.join(", "), passed.unwrap_or(0));
    }
    text.push_str(
        "\n## Faults\n\n| fault | what is broken | found by | follows | profile: result | played from | known from |\n\
         |---|---|---|---|---|---|---|\n",
    );
    for fault in faults {
        let these: Vec<&Row> = rows.iter().filter(|row| row.fault.as_ref() == Some(&fault.name)).collect();
        if these.is_empty() {
            continue;
        }
        let results: Vec<String> =
            these.iter().map(|row| format!("`{}`: {}", row.profile, result(row))).collect();
        let found = fault.finds.iter().filter_map(|entry| checks::find(wanted(entry).0));
        let known: BTreeSet<&str> = found.map(|check| check.source).collect();
        let kinds: BTreeSet<&str> = these.iter().flat_map(|row| row.kinds.iter().copied()).collect();
        put!(
            text,
            "| `{}` | {} | {} | {} | {} | {} | {} |\n",
            fault.name,
            cell(&fault.doc),
            code(&fault.finds),
            code(&fault.because),
            results.join("<br>"),
            kinds.into_iter().collect::<Vec<_>>().join(", "),
            cell(&known.into_iter().collect::<Vec<_>>().join("; ")),
        );
    }
    let wrong: Vec<&Row> =
        rows.iter().filter(|row| row.fault.is_none() && !row.unrelated.is_empty()).collect();
    if !wrong.is_empty() {
        text.push_str("\n## Findings on healthy hosts\n\n");
        for row in wrong {
            put!(text, "- `{}` {}: {}\n", row.profile, row.host, cell(&row.unrelated.join("; ")));
        }
    }
    uncovered(&mut text, faults);
    text.push_str("\n## What no fault plays\n\n| what | why |\n|---|---|\n");
    for excuse in excuses {
        put!(text, "| {} | {} |\n", cell(&excuse.what), cell(&excuse.why));
    }
    text
}

fn result(row: &Row) -> String {
    if row.is_right() {
        return "found".to_owned();
    }
    let mut parts = Vec::new();
    for (word, what) in
        [("missed", &row.missing), ("besides", &row.unrelated), ("without a hint", &row.no_hint)]
    {
        if !what.is_empty() {
            parts.push(format!("**{word}** {}", cell(&what.join("; "))));
        }
    }
    parts.join(", ")
}

/// Checks that no fault makes speak.
fn uncovered(text: &mut String, faults: &[Fault]) {
    let mut by_check: BTreeMap<&str, usize> = BTreeMap::new();
    for entry in faults.iter().flat_map(|fault| &fault.finds) {
        *by_check.entry(wanted(entry).0).or_default() += 1;
    }
    let without: Vec<String> = checks::TABLE
        .iter()
        .filter(|check| !by_check.contains_key(check.id))
        .map(|check| check.id.to_owned())
        .collect();
    put!(
        text,
        "\n## Checks\n\n{} of {} checks are found speaking by a fault. Without one: {}.\n",
        checks::TABLE.len() - without.len(),
        checks::TABLE.len(),
        if without.is_empty() { "none".to_owned() } else { code(&without) },
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault(name: &str, finds: &[&str], hangs: bool) -> Fault {
        serde_json::from_value(json!({
            "name": name, "doc": "d", "profiles": ["p"], "finds": finds,
            "because": ["rdma.rate"], "edits": [{ "run": "t", "hang": hangs }],
        }))
        .expect("a fault")
    }

    fn result(check: &str, status: CheckStatus, hint: Option<&str>, because: Option<&str>) -> CheckResult {
        CheckResult {
            check: check.to_owned(),
            status,
            message: "m".to_owned(),
            evidence: Vec::new(),
            hint: hint.map(str::to_owned),
            because: because.map(str::to_owned),
            acknowledged: None,
        }
    }

    #[test]
    fn a_fault_is_found_by_what_it_names_and_nothing_else() {
        let fault = fault("f", &["gpu.ecc", "unknown gpu.count"], false);
        let pass = result("gpu.model", CheckStatus::Pass, None, None);
        let ecc = result("gpu.ecc", CheckStatus::Fail, Some("h"), None);
        let count = result("gpu.count", CheckStatus::Unknown, None, None);
        let row = judge("p", "gpu0", Some(&fault), &[pass.clone(), ecc.clone(), count.clone()]);
        assert!(row.is_right(), "{row:?}");
        // What follows, and what is not known because of it, may speak as well.
        let rate = result("rdma.rate", CheckStatus::Fail, Some("h"), None);
        let blind = result("gpu.nvlink", CheckStatus::Unknown, None, Some("gpu.ecc"));
        let all = [pass.clone(), ecc.clone(), count.clone(), rate, blind];
        assert!(judge("p", "gpu0", Some(&fault), &all).is_right());

        let other = result("gpu.xid", CheckStatus::Warn, Some("h"), None);
        let row = judge("p", "gpu0", Some(&fault), &[pass.clone(), ecc.clone(), count, other.clone()]);
        assert_eq!(row.unrelated, ["warn gpu.xid: m"]);
        let row = judge(
            "p",
            "gpu0",
            Some(&fault),
            &[pass.clone(), result("gpu.ecc", CheckStatus::Fail, None, None)],
        );
        assert_eq!(row.missing, ["unknown gpu.count"]);
        assert_eq!(row.no_hint, ["gpu.ecc"]);
        let row = judge("p", "gpu0", None, &[pass, other]);
        assert!(!row.is_right());
        // A host on which nothing passed proves nothing.
        assert!(!judge("p", "gpu0", None, &[]).is_right());
    }

    #[test]
    fn rounds_keep_apart_what_would_hide_each_other() {
        let faults = [
            fault("a", &["x.a"], false),
            fault("b", &["x.a"], false),
            fault("hangs", &["x.b"], true),
            fault("c", &["x.c"], false),
            fault("hangs too", &["x.b"], true),
            fault("d", &["x.d"], false),
        ];
        let rounds = rounds(&faults, 3);
        let names: Vec<Vec<&str>> =
            rounds.iter().map(|round| round.iter().map(|fault| fault.name.as_str()).collect()).collect();
        assert_eq!(names, [vec!["a", "c", "d"], vec!["b"], vec!["hangs", "hangs too"]]);
    }

    #[test]
    fn the_page_says_what_is_missed() {
        let fault = fault("f", &["gpu.ecc"], false);
        let rows =
            [judge("p", "gpu0", Some(&fault), &[result("gpu.xid", CheckStatus::Fail, Some("h"), None)])];
        let sums = Sums::of(&rows);
        assert_eq!((sums.faults, sums.found, sums.unrelated, sums.is_right()), (1, 0, 1, false));
        let page = page(&rows, &[], &[fault], &[]);
        assert!(page.contains("**missed** gpu.ecc, **besides** fail gpu.xid: m"), "{page}");
    }
}
