//! The page from top to bottom.

use indexmap::IndexMap;
use serde_json::{Value as Json, json};
use tera::{Context, Tera};

use super::budget::{Budget, LINE, ROWS, shortened};
use super::tasks::tasks;
use super::{matrix, pairs};
use crate::checks::{self, Needs};
use crate::events::Record;
use crate::exit;
use crate::report::findings::{Finding, acknowledged, findings};
use crate::report::fold::fold;
use crate::report::style::{safe, seconds};
use crate::report::unreachable::{Away, Group};
use crate::words::count;

const PAGE: &str = include_str!("page.html");
const TASKS: &str = include_str!("tasks.html");
const HOSTS: &str = include_str!("hosts.html");
const STYLE: &str = include_str!("style.css");
const SCRIPT: &str = include_str!("script.js");

/// Bytes of text outside of the matrix.
const TEXT: usize = 400_000;
/// Different texts of one finding that are shown outside of the matrix.
const VARIANTS: usize = 12;

/// The run as a page.
///
/// # Errors
/// When the template is broken, which a test looks for.
pub fn page(record: &Record) -> Result<String, tera::Error> {
    let mut engine = Tera::default();
    let templates = [("page.html", PAGE), ("tasks.html", TASKS), ("hosts.html", HOSTS)];
    engine.add_raw_templates(templates)?;
    let mut context = Context::new();
    let mut budget = Budget(TEXT);
    let is_outlier = |finding: &Finding<'_>| {
        finding.checks.iter().any(|id| checks::find(id).is_some_and(|check| check.needs == Needs::Fleet))
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
    let known = acknowledged(record);
    let more = known.len().saturating_sub(ROWS) as u64;
    let known: Vec<Json> = known
        .into_iter()
        .take(ROWS)
        .map(|(known, check, hosts)| {
            json!({
                "hosts": fold(&hosts),
                "count": count(hosts.len() as u64, "host"),
                "check": check,
                "status": known.status.word(),
                "message": budget.take(&known.message, LINE),
                "until": safe(&known.until),
                "because": budget.take(&known.because, LINE),
                "by": budget.take(&known.by, LINE),
            })
        })
        .collect();
    context.insert("acknowledged_more", &(more > 0).then(|| count(more, "other finding")));
    context.insert("acknowledged", &known);
    context.insert("pairs", &pairs::data(&record.pairs, &mut budget));
    context.insert("tasks", &tasks);
    context.insert("notes", &notes(record, &mut budget));
    let matrix = matrix::data(record);
    context.insert("rows", &matrix.rows);
    context.insert("data", &matrix.json);
    engine.render("page.html", &context)
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
        "meaning": match (code, record.command.as_str()) {
            (Some(exit::OK), "apply" | "verify") => "every selected host is as declared",
            (Some(exit::OK), _) => "nothing went wrong",
            _ => meaning.map_or("it did not end", |row| row.meaning),
        },
        "version": env!("CARGO_PKG_VERSION"),
    })
}

fn tile(value: u64, label: &str, class: &str) -> Json {
    json!({ "value": value, "label": label, "class": if value == 0 { "none" } else { class } })
}

/// The word for one, or for several.
fn either(number: u64, one: &'static str, several: &'static str) -> &'static str {
    if number == 1 { one } else { several }
}

fn tiles(record: &Record) -> Vec<Json> {
    let stats = record.stats.clone().unwrap_or_default();
    let mut tiles = vec![tile(stats.hosts, either(stats.hosts, "host", "hosts"), "plain")];
    let quarantined = Away::of(record).quarantined();
    for (value, label, class) in [
        (stats.unreachable.saturating_sub(quarantined), "unreachable", "fail"),
        (quarantined, "quarantined", "fail"),
        (stats.failed, either(stats.failed, "host failed", "hosts failed"), "fail"),
        (stats.not_started, "not finished", "warn"),
    ] {
        if value > 0 {
            tiles.push(tile(value, label, class));
        }
    }
    let checks = stats.checks;
    if !checks.is_empty() {
        tiles.push(tile(checks.fail, either(checks.fail, "check fails", "checks fail"), "fail"));
        tiles.push(tile(checks.unknown, "unknown", "unknown"));
        tiles.push(tile(checks.warn, either(checks.warn, "warning", "warnings"), "warn"));
        tiles.push(tile(checks.pass, either(checks.pass, "passes", "pass"), "pass"));
        tiles.push(tile(checks.skip, either(checks.skip, "does not apply", "do not apply"), "plain"));
    }
    // After `apply` they are changed or failed, and counted as that.
    if matches!(record.command.as_str(), "verify" | "plan") {
        tiles.push(tile(stats.pending, either(stats.pending, "task to change", "tasks to change"), "warn"));
    }
    let tasks = stats.tasks;
    if tasks.unchanged > 0 || tasks.changed > 0 || tasks.failed > 0 {
        tiles.push(tile(
            tasks.unchanged,
            either(tasks.unchanged, "task unchanged", "tasks unchanged"),
            "pass",
        ));
    }
    for (value, label, class) in [
        (tasks.changed, "changed", "warn"),
        (tasks.ran, "ran", "warn"),
        (tasks.blocked, "blocked", "unknown"),
        (tasks.failed, either(tasks.failed, "task failed", "tasks failed"), "fail"),
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
    let group = |group: Group| {
        let text = format!("{}: {}", group.word.replace('_', " "), group.reason);
        json!({
            "hosts": group.hosts,
            "count": count(group.count as u64, "host"),
            "text": shortened(&text, LINE),
            "hint": group.hint.map(|hint| shortened(&hint, LINE)),
        })
    };
    let offline = record
        .offline
        .iter()
        .map(|(name, reason)| (name.as_str(), (safe(&format!("offline: {reason}")), None)));
    Away::of(record).groups().into_iter().map(group).chain(grouped(offline, usize::MAX)).collect()
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
