//! Findings of `verify` over all hosts: equal findings are one, with their hosts.

use std::collections::{BTreeMap, BTreeSet};

use indexmap::IndexMap;

use crate::events::{Acknowledged, CheckResult, CheckStatus, Record};

/// One finding, however many hosts have it.
#[derive(Debug, Clone)]
pub struct Finding<'a> {
    /// Status of the checks.
    pub status: CheckStatus,
    /// The check; several when they are unknown for one reason.
    pub checks: Vec<&'a str>,
    /// Advice about the finding.
    pub hint: Option<&'a str>,
    /// The check that tells the cause.
    pub because: Option<&'a str>,
    /// The different texts, that of most hosts first.
    pub variants: Vec<Variant<'a>>,
}

/// The hosts that say the same.
#[derive(Debug, Clone)]
pub struct Variant<'a> {
    /// Their message.
    pub message: &'a str,
    /// The hosts, in the order of the inventory.
    pub hosts: Vec<&'a str>,
    /// The result of the first of them.
    pub example: &'a CheckResult,
}

/// Different hints of one check that are told apart.
const HINTS: usize = 3;
/// Most causes of unknown results that are shown apart.
const CAUSES: usize = 12;

/// The hosts that say the same, as they are met.
type ByMessage<'a> = IndexMap<&'a str, (Vec<&'a str>, &'a CheckResult)>;

/// The findings of a run: what is wrong, then what is unknown, then warnings.
pub fn findings(record: &Record) -> Vec<Finding<'_>> {
    let mut all = Vec::new();
    for status in [CheckStatus::Fail, CheckStatus::Unknown, CheckStatus::Warn] {
        all.extend(if status == CheckStatus::Unknown { unknowns(record) } else { wrong(record, status) });
    }
    all
}

/// Findings that somebody knows of, each with its check and its hosts.
pub fn acknowledged(record: &Record) -> Vec<(&Acknowledged, &str, Vec<&str>)> {
    let mut all: IndexMap<(&str, &Acknowledged), Vec<&str>> = IndexMap::new();
    for (host, entry) in &record.hosts {
        for result in &entry.checks {
            if let Some(known) = &result.acknowledged {
                all.entry((&result.check, known)).or_default().push(host);
            }
        }
    }
    all.into_iter().map(|((check, known), hosts)| (known, check, hosts)).collect()
}

fn results(record: &Record, status: CheckStatus) -> impl Iterator<Item = (&str, &CheckResult)> {
    record.hosts.iter().flat_map(move |(host, entry)| {
        let these = entry.checks.iter().filter(move |result| result.status == status);
        these.map(|result| (host.as_str(), result))
    })
}

fn wrong<'a>(record: &'a Record, status: CheckStatus) -> Vec<Finding<'a>> {
    let mut checks: IndexMap<(&'a str, Option<&'a str>), ByMessage<'a>> = IndexMap::new();
    let mut hints: BTreeMap<&'a str, BTreeSet<&'a str>> = BTreeMap::new();
    for (host, result) in results(record, status) {
        let hint = result.hint.as_deref().filter(|hint| {
            let known = hints.entry(&result.check).or_default();
            known.contains(hint) || known.len() < HINTS && known.insert(hint)
        });
        let messages = checks.entry((&result.check, hint)).or_default();
        messages.entry(&result.message).or_insert_with(|| (Vec::new(), result)).0.push(host);
    }
    let mut found = Vec::new();
    for ((id, hint), messages) in checks {
        let variants = variants(messages);
        found.push(Finding { status, checks: vec![id], hint, because: None, variants });
    }
    found
}

/// One cause, many checks: one finding.
fn unknowns<'a>(record: &'a Record) -> Vec<Finding<'a>> {
    let mut causes: IndexMap<(&'a str, Option<&'a str>), Finding<'a>> = IndexMap::new();
    let mut others: IndexMap<&'a str, ByMessage<'a>> = IndexMap::new();
    for (host, result) in results(record, CheckStatus::Unknown) {
        let key = (result.message.as_str(), result.because.as_deref());
        if causes.len() >= CAUSES && !causes.contains_key(&key) {
            let messages = others.entry(&result.check).or_default();
            messages.entry(&result.message).or_insert_with(|| (Vec::new(), result)).0.push(host);
            continue;
        }
        let finding = causes.entry(key).or_insert_with(|| Finding {
            status: CheckStatus::Unknown,
            checks: Vec::new(),
            hint: result.hint.as_deref(),
            because: result.because.as_deref(),
            variants: vec![Variant { message: &result.message, hosts: Vec::new(), example: result }],
        });
        if !finding.checks.contains(&result.check.as_str()) {
            finding.checks.push(&result.check);
        }
        for variant in &mut finding.variants {
            if variant.hosts.last() != Some(&host) {
                variant.hosts.push(host);
            }
        }
    }
    let mut found: Vec<Finding<'a>> = causes.into_values().collect();
    for (check, messages) in others {
        let variants = variants(messages);
        let status = CheckStatus::Unknown;
        found.push(Finding { status, checks: vec![check], hint: None, because: None, variants });
    }
    found
}

fn variants<'a>(messages: ByMessage<'a>) -> Vec<Variant<'a>> {
    let variant = |(message, (hosts, example))| Variant { message, hosts, example };
    let mut all: Vec<Variant<'a>> = messages.into_iter().map(variant).collect();
    all.sort_by_key(|variant| std::cmp::Reverse(variant.hosts.len()));
    all
}
