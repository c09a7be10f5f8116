//! The result as one HTML file that needs nothing else: for people who were not there.
//!
//! ```text
//!   Record ─┬─ what failed, hosts that are away, findings, outliers, changes
//!           │                                        ─> page.html (tera), readable without scripts
//!           └─ matrix: equal results and texts once ─> JSON in the page ─> script.js
//! ```
//!
//! Everything is folded: hosts that say the same are one row, equal results and texts stand in the
//! file once. What would not fit a budget of text is left to `--json`, so that no fleet makes a file
//! that a browser cannot open. What went wrong is no part of that: it comes first, each host of it is
//! named, and so is the reason, if in short.

mod matrix;
mod pairs;

use anyhow::Context as _;
use indexmap::IndexMap;
use serde_json::{Value as Json, json};
use tera::{Context, Tera};

use super::findings::{Finding, findings};
use super::fold::fold;
use super::record::Record;
use super::style::{count, safe, seconds};
use super::wording::summary;
use crate::checks::{self, Kind};
use crate::events::{ChangeView, CheckStatus, HostStatus, Outcome, PlannedVerdict};
use crate::exit;

const PAGE: &str = include_str!("page.html");
const TASKS: &str = include_str!("tasks.html");
const STYLE: &str = include_str!("style.css");
const SCRIPT: &str = include_str!("script.js");

/// Bytes of text outside of the matrix.
const TEXT: usize = 400_000;
/// Bytes of one line of evidence or diff.
const LINE: usize = 2000;
/// Different texts of one finding that are shown outside of the matrix.
const VARIANTS: usize = 12;
/// Rows of a table outside of the matrix.
const ROWS: usize = 200;
/// Groups of hosts with changes that are shown of one task.
const GROUPS: usize = 12;
/// Bytes of a reason that is shown without a budget.
const SHORT: usize = 300;

/// How many bytes of text may still be written.
#[derive(Debug)]
struct Budget(usize);

/// Stands for a text that would not fit.
const LEFT_OUT: &str = "(left out, see --json)";

impl Budget {
    /// A text that is safe to show, cut where it is too long; `None` when it would not fit.
    fn try_take(&mut self, text: &str, most: usize) -> Option<String> {
        let kept = shortened(text, most);
        // What has a meaning in HTML is written as six bytes.
        let cost = kept.len() + 5 * kept.matches(['<', '>', '&', '"', '\'', '\\', '\n']).count();
        self.0 = self.0.checked_sub(cost)?;
        Some(kept)
    }

    /// A text that must not be missing: its beginning where all of it would not fit.
    fn keep(&mut self, text: &str, most: usize) -> String {
        self.try_take(text, most).unwrap_or_else(|| shortened(text, SHORT))
    }

    /// The same with a remark for what would not fit.
    fn take(&mut self, text: &str, most: usize) -> String {
        self.try_take(text, most).unwrap_or_else(|| LEFT_OUT.to_owned())
    }
}

/// A text that is safe to show, cut where it is too long.
fn shortened(text: &str, most: usize) -> String {
    let clean = safe(text);
    let mut end = clean.len().min(most);
    while !clean.is_char_boundary(end) {
        end -= 1;
    }
    let kept = clean.get(..end).unwrap_or_default();
    if end < clean.len() { format!("{kept} …") } else { clean }
}

/// The run as a page.
///
/// # Errors
/// When the template is broken, which a test looks for.
pub fn page(record: &Record) -> anyhow::Result<String> {
    let mut engine = Tera::default();
    let templates = [("page.html", PAGE), ("tasks.html", TASKS)];
    engine.add_raw_templates(templates).context("the templates of the page")?;
    let mut context = Context::new();
    let mut budget = Budget(TEXT);
    let is_outlier = |finding: &Finding<'_>| {
        finding.checks.iter().any(|id| checks::find(id).is_some_and(|check| check.kind == Kind::Fleet))
    };
    let (outliers, found): (Vec<_>, Vec<_>) = findings(record).into_iter().partition(is_outlier);
    context.insert("style", STYLE);
    context.insert("script", SCRIPT);
    context.insert("head", &head(record));
    context.insert("tiles", &tiles(record));
    let (bad, tasks) = tasks(record, &mut budget);
    context.insert("bad", &bad);
    context.insert("lost", &lost(record));
    context.insert("findings", &found.iter().map(|it| finding(it, &mut budget)).collect::<Vec<_>>());
    context.insert("outliers", &outliers.iter().map(|it| finding(it, &mut budget)).collect::<Vec<_>>());
    context.insert("pairs", &pairs::data(&record.pairs, &mut budget));
    context.insert("tasks", &tasks);
    context.insert("notes", &notes(record, &mut budget));
    let matrix = matrix::data(record);
    context.insert("rows", &matrix.rows);
    context.insert("data", &matrix.json);
    engine.render("page.html", &context).context("the page")
}

fn head(record: &Record) -> Json {
    let code = record.exit_code;
    let meaning = code.and_then(|code| exit::TABLE.iter().find(|row| row.code == code));
    json!({
        "cluster": record.cluster,
        "command": record.command,
        "inventory": record.inventory,
        "run": record.run,
        "at": record.at.map(|at| at.strftime("%Y-%m-%d %H:%M:%S UTC").to_string()),
        "took": seconds(record.seconds),
        "exit": code.map_or_else(String::new, |code| code.to_string()),
        "good": code == Some(exit::OK),
        "meaning": meaning.map_or("it did not end", |row| row.meaning),
        "version": env!("CARGO_PKG_VERSION"),
    })
}

fn tile(value: u64, label: &str, class: &str) -> Json {
    json!({ "value": value, "label": label, "class": if value == 0 { "none" } else { class } })
}

fn tiles(record: &Record) -> Vec<Json> {
    let stats = record.stats.clone().unwrap_or_default();
    let mut tiles = vec![tile(stats.hosts, "hosts", "plain")];
    if stats.unreachable > 0 {
        tiles.push(tile(stats.unreachable, "not reached", "fail"));
    }
    if stats.failed > 0 {
        tiles.push(tile(stats.failed, "hosts failed", "fail"));
    }
    let checks = stats.checks;
    if !checks.is_empty() {
        tiles.push(tile(checks.fail, "checks fail", "fail"));
        tiles.push(tile(checks.unknown, "unknown", "unknown"));
        tiles.push(tile(checks.warn, "warnings", "warn"));
        tiles.push(tile(checks.pass, "pass", "pass"));
        tiles.push(tile(checks.skip, "do not apply", "plain"));
    }
    // After `apply` they are changed or failed, and counted as that.
    if matches!(record.command.as_str(), "verify" | "plan") {
        tiles.push(tile(stats.pending, "tasks to change", "warn"));
    }
    let tasks = stats.tasks;
    if tasks.unchanged > 0 || tasks.changed > 0 || tasks.failed > 0 {
        tiles.push(tile(tasks.unchanged, "tasks unchanged", "pass"));
    }
    for (value, label, class) in [
        (tasks.changed, "changed", "warn"),
        (tasks.ran, "ran", "warn"),
        (tasks.blocked, "blocked", "unknown"),
        (tasks.failed, "tasks failed", "fail"),
    ] {
        if value > 0 {
            tiles.push(tile(value, label, class));
        }
    }
    tiles
}

/// Hosts with an equal text, folded; `most` of the texts.
fn grouped<'a>(pairs: impl Iterator<Item = (&'a str, (String, Option<String>))>, most: usize) -> Vec<Json> {
    let mut groups: IndexMap<(String, Option<String>), Vec<&str>> = IndexMap::new();
    for (host, text) in pairs {
        groups.entry(text).or_default().push(host);
    }
    let group = |((text, hint), hosts): ((String, Option<String>), Vec<&str>)| json!({ "hosts": fold(&hosts), "count": count(hosts.len() as u64, "host"), "text": text, "hint": hint });
    let more = groups.len().saturating_sub(most) as u64;
    let rest = (more > 0)
        .then(|| json!({ "hosts": "", "count": "", "text": count(more, "other text"), "hint": null }));
    groups.into_iter().take(most).map(group).chain(rest).collect()
}

/// Hosts of which nothing is known, and why.
fn lost(record: &Record) -> Vec<Json> {
    let here = record.hosts.iter().filter_map(|(name, host)| {
        let (reason, hint) = match host.status.as_ref()? {
            HostStatus::Unreachable { reason, hint, .. } => (reason, hint.clone()),
            HostStatus::Quarantined { reason }
            | HostStatus::NotStarted(reason)
            | HostStatus::Offline(reason) => (reason, None),
            HostStatus::Ok | HostStatus::Failed => return None,
        };
        let word = host.status.as_ref().map_or("", HostStatus::word).replace('_', " ");
        let text = shortened(&format!("{word}: {reason}"), LINE);
        Some((name.as_str(), (text, hint.map(|hint| shortened(&hint, LINE)))))
    });
    let offline = record
        .offline
        .iter()
        .map(|(name, reason)| (name.as_str(), (safe(&format!("offline: {reason}")), None)));
    grouped(here.chain(offline), usize::MAX)
}

/// Reboots that are pending, and warnings.
fn notes(record: &Record, budget: &mut Budget) -> Vec<Json> {
    let pairs: Vec<(&str, (String, Option<String>))> = record
        .hosts
        .iter()
        .flat_map(|(name, host)| {
            let reboot =
                (!host.reboot.is_empty()).then(|| format!("reboot pending: {}", host.reboot.join("; ")));
            let handlers = (!host.handlers.is_empty())
                .then(|| format!("handlers pending: {}", host.handlers.join("; ")));
            let texts = reboot.into_iter().chain(handlers).chain(host.warnings.iter().cloned());
            texts.map(|text| (name.as_str(), (budget.take(&text, LINE), None))).collect::<Vec<_>>()
        })
        .collect();
    grouped(pairs.into_iter(), ROWS)
}

fn finding(finding: &Finding<'_>, budget: &mut Budget) -> Json {
    let check = match finding.checks.as_slice() {
        [id] => checks::find(id),
        _ => None,
    };
    let variants: Vec<Json> = finding
        .variants
        .iter()
        .take(VARIANTS)
        .map(|variant| {
            let mut evidence = Vec::new();
            for seen in &variant.example.evidence {
                evidence.push(
                    json!({ "from": budget.take(&seen.from, LINE), "line": budget.take(&seen.line, LINE) }),
                );
            }
            json!({
                "message": budget.keep(variant.message, LINE),
                "hosts": safe(&fold(&variant.hosts)),
                "count": count(variant.hosts.len() as u64, "host"),
                "first": variant.hosts.first(),
                "evidence": evidence,
            })
        })
        .collect();
    let rest = finding.variants.get(VARIANTS..).unwrap_or_default();
    let more: Vec<&str> = rest.iter().flat_map(|variant| variant.hosts.iter().copied()).collect();
    let hosts: std::collections::BTreeSet<&str> =
        finding.variants.iter().flat_map(|variant| variant.hosts.iter().copied()).collect();
    json!({
        "status": finding.status.word(),
        "checks": finding.checks,
        "title": check.map(|check| check.title),
        "why": check.map(|check| check.why),
        "expects": check.map(|check| check.expects),
        "count": count(hosts.len() as u64, "host"),
        "hint": finding.hint.map(safe),
        "because": finding.because,
        "variants": variants,
        "more": (!more.is_empty()).then(|| count(rest.len() as u64, "other text")),
        "more_hosts": safe(&fold(&more)),
    })
}

/// What a task did or would do on some hosts.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Story {
    word: String,
    class: &'static str,
    text: String,
    detail: String,
}

impl Story {
    fn new(word: &str, class: &'static str, text: impl Into<String>, detail: impl Into<String>) -> Self {
        Self { word: word.to_owned(), class, text: text.into(), detail: detail.into() }
    }

    /// Whether it went wrong or could not be done.
    fn is_bad(&self) -> bool {
        self.class == "fail" || self.word == "blocked"
    }

    fn planned(verdict: &PlannedVerdict) -> Option<Self> {
        Some(match verdict {
            PlannedVerdict::Changes(changes) => {
                Self::new("differs", "warn", summary(changes), diffs(changes))
            }
            PlannedVerdict::Runs(changes) => Self::new("runs", "skip", summary(changes), diffs(changes)),
            PlannedVerdict::Blocked(reason) => Self::new("blocked", "unknown", reason, ""),
            PlannedVerdict::KnownAfter(task) => {
                Self::new("not known yet", "unknown", format!("known after task \"{task}\""), "")
            }
            PlannedVerdict::Failed(failure) => {
                Self::new("cannot be planned", "fail", &failure.message, &failure.output)
            }
            PlannedVerdict::Unchanged | PlannedVerdict::Skipped(_) => return None,
        })
    }

    fn ended(outcome: &Outcome) -> Option<Self> {
        Some(match outcome {
            Outcome::Changed { changes, .. } => {
                Self::new("changed", "pass", summary(changes), diffs(changes))
            }
            Outcome::Ran { changes, .. } => Self::new("ran", "skip", summary(changes), diffs(changes)),
            Outcome::Blocked(reason) => Self::new("blocked", "unknown", reason, ""),
            Outcome::Failed(failure) => Self::new("failed", "fail", &failure.message, &failure.output),
            Outcome::Unchanged | Outcome::Skipped(_) => return None,
        })
    }
}

fn diffs(changes: &[ChangeView]) -> String {
    changes
        .iter()
        .map(|change| change.diff.as_str())
        .filter(|diff| !diff.is_empty())
        .collect::<Vec<_>>()
        .join("\n")
}

/// A task and what is told of it, by hosts.
type Stories<'a> = IndexMap<(&'a str, Option<usize>), (&'a str, &'a str, IndexMap<Story, Vec<&'a str>>)>;

/// Tasks that failed or were blocked, of which nothing is left out; and what tasks would change, or did.
fn tasks(record: &Record, budget: &mut Budget) -> (Vec<Json>, Vec<Json>) {
    let mut tasks: Stories<'_> = IndexMap::new();
    for (name, host) in &record.hosts {
        let planned = host.plan.iter().map(|planned| (&planned.task, Story::planned(&planned.verdict)));
        let ended = host.tasks.iter().map(|ended| (&ended.task, Story::ended(&ended.outcome)));
        // What was carried out tells more than that it was planned.
        let told: Vec<_> =
            if record.command == "apply" { ended.collect() } else { planned.chain(ended).collect() };
        for (task, story) in told {
            let Some(story) = story else { continue };
            let (.., stories) = tasks
                .entry((&task.id, task.item))
                .or_insert_with(|| (&task.name, &task.resource, IndexMap::new()));
            stories.entry(story).or_default().push(name);
        }
    }
    let group = |(story, hosts): (&Story, &Vec<&str>), budget: &mut Budget| {
        json!({
            "word": story.word,
            "class": story.class,
            "text": if story.is_bad() { budget.keep(&story.text, LINE) } else { budget.take(&story.text, LINE) },
            "detail": budget.take(&story.detail, 2 * LINE),
            "hosts": safe(&fold(hosts)),
            "count": count(hosts.len() as u64, "host"),
        })
    };
    for (.., stories) in tasks.values_mut() {
        stories.sort_by_key(|story, _| story.class != "fail");
    }
    let mut part = |of: fn(&Story) -> bool, most: usize| -> Vec<Json> {
        let parts = tasks.values().filter_map(|(name, resource, stories)| {
            let these = || stories.iter().filter(|(story, _)| of(story));
            let groups: Vec<Json> = these().take(most).map(|it| group(it, budget)).collect();
            let more = these().count().saturating_sub(most) as u64;
            (!groups.is_empty()).then(|| {
                json!({
                    "name": safe(name),
                    "resource": resource,
                    "class": if these().any(|(story, _)| story.class == "fail") { "fail" } else { "" },
                    "groups": groups,
                    "more": (more > 0).then(|| count(more, "other change")),
                })
            })
        });
        parts.collect()
    };
    let mut bad = part(Story::is_bad, usize::MAX);
    bad.sort_by_key(|task| task["class"] != "fail");
    (bad, part(|story| !story.is_bad(), GROUPS))
}

/// The number of a status in the page's data; the script and the style know it.
fn number(status: CheckStatus) -> u8 {
    match status {
        CheckStatus::Fail => 0,
        CheckStatus::Unknown => 1,
        CheckStatus::Warn => 2,
        CheckStatus::Skip => 3,
        CheckStatus::Pass => 4,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_is_kept() {
        let mut budget = Budget(14);
        assert_eq!(budget.take("abc", 5), "abc");
        assert_eq!(budget.take("äöüx", 3), "ä …");
        assert_eq!(budget.take("<", 100), LEFT_OUT);
        assert_eq!(budget.keep("<<", 100), "<<");
        assert_eq!(budget.take("12345", 100), "12345");
    }
}
