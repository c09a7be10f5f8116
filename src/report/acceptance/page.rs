//! The page from top to bottom.

use serde_json::{Value as Json, json};
use tera::{Context, Tera};

use super::hosts::{Tally, failed, not_tested, passed, remarks};
use super::text::{NAME, SENTENCE, hosts_text, in_order, line};
use super::{figures, pairs, parts, samples};
use crate::accept::record::{HostRecord, PartKind, Record};
use crate::accept::signature;
use crate::report::style::seconds;
use crate::words::count;

const PAGE: &str = include_str!("page.html");
const FIGURES: &str = include_str!("figures.html");
const TABLES: &str = include_str!("tables.html");
const HOSTS: &str = include_str!("../html/hosts.html");
/// The colours and tables of all pages, and what this one has beside them.
const STYLE: &str = concat!(include_str!("../html/style.css"), include_str!("style.css"));

/// Notes of the run that are shown.
const NOTES: usize = 50;
/// Hosts up to which those that passed are unfolded at once.
const UNFOLDED: usize = 100;

/// The record as a page.
///
/// # Errors
/// When a template is broken, which a test looks for.
pub fn page(record: &Record) -> Result<String, tera::Error> {
    let mut engine = Tera::default();
    let templates =
        [("page.html", PAGE), ("figures.html", FIGURES), ("tables.html", TABLES), ("hosts.html", HOSTS)];
    engine.add_raw_templates(templates)?;
    let hosts = in_order(record);
    let groups = figures::groups(&hosts);
    let tally = Tally::of(&hosts);
    let mut context = Context::new();
    context.insert("style", STYLE);
    context.insert("head", &head(record, tally));
    context.insert("tiles", &tiles(record, &hosts, tally));
    context.insert("stages", &stages(record));
    let notes: Vec<String> = record.notes.iter().take(NOTES).map(|note| line(note, SENTENCE)).collect();
    let more = record.notes.len().saturating_sub(NOTES);
    context.insert("notes", &notes);
    context.insert("more_notes", &(more > 0).then(|| count(more as u64, "other note")));
    context.insert("failed", &failed(&hosts));
    context.insert("not_tested", &not_tested(&hosts));
    let (cards, more_names) = figures::cards(&groups);
    context.insert("figures", &cards);
    context.insert("more_figures", &(more_names > 0).then(|| count(more_names as u64, "other name")));
    let pairs = pairs::data(&record.pairs);
    context.insert("maps", &pairs.maps);
    context.insert("more_maps", &(pairs.more > 0).then(|| count(pairs.more as u64, "other name")));
    context.insert("worst_pairs", &pairs.worst);
    context.insert("common", &pairs.common);
    context.insert("more_pairs", &(pairs.more_fail > 0).then(|| count(pairs.more_fail as u64, "other pair")));
    context.insert("samples", &samples::data(&hosts));
    let (lists, left_out) = parts::lists(&hosts);
    context.insert("models", &parts::models(&hosts));
    context.insert("parts", &lists);
    context.insert("parts_left_out", &(left_out > 0).then(|| count(left_out as u64, "host")));
    context.insert("parts_printed", &(hosts.len() <= parts::PRINTED));
    context.insert("software", &parts::software(&hosts));
    let (tables, list) = passed(&hosts, &groups);
    context.insert("remarks", &remarks(&hosts));
    context.insert("passed", &tables);
    context.insert("passed_list", &list);
    context.insert("passed_count", &count(tally.passed, "host"));
    context.insert("passed_unfolded", &(hosts.len() <= UNFOLDED));
    context.insert("namespace", signature::NAMESPACE);
    engine.render("page.html", &context)
}

fn head(record: &Record, tally: Tally) -> Json {
    let all = tally.passed + tally.failed + tally.not_tested;
    let (class, sign) = if tally.failed > 0 || all == 0 {
        ("bad", "✕")
    } else if tally.not_tested > 0 {
        ("part", "!")
    } else {
        ("good", "✓")
    };
    json!({
        "cluster": line(&record.cluster, NAME),
        "run": line(&record.id, NAME),
        "version": line(&record.version, NAME),
        "began": record.began.strftime("%Y-%m-%d %H:%M:%S UTC").to_string(),
        "took": seconds(record.seconds),
        "class": class,
        "sign": sign,
        "sentence": tally.sentence(),
    })
}

fn tiles(record: &Record, hosts: &[(&str, &HostRecord)], tally: Tally) -> Vec<Json> {
    let parts = |kind: PartKind| {
        let all = hosts.iter().flat_map(|(_, host)| &host.parts);
        all.filter(|part| part.kind == kind).count() as u64
    };
    let figures: usize = hosts.iter().map(|(_, host)| host.figures.len()).sum();
    let tile = |value: u64, one: &'static str, several: &'static str, class: &'static str| {
        let class = if value == 0 { "none" } else { class };
        json!({ "value": value, "label": if value == 1 { one } else { several }, "class": class })
    };
    vec![
        tile(tally.passed, "host passed", "hosts passed", "pass"),
        tile(tally.failed, "failed", "failed", "fail"),
        tile(tally.not_tested, "not tested", "not tested", "warn"),
        tile(parts(PartKind::Gpu), "GPU", "GPUs", "plain"),
        tile(figures as u64, "figure", "figures", "plain"),
        tile(record.pairs.len() as u64, "figure of two hosts", "figures of two hosts", "plain"),
    ]
}

fn stages(record: &Record) -> Vec<Json> {
    let stage = |stage: &crate::accept::record::StageRecord| {
        json!({
            "stage": stage.stage.name(),
            "hosts": stage.hosts,
            "took": if stage.skipped.is_empty() { seconds(stage.seconds) } else { "–".to_owned() },
            "failed": hosts_text(&stage.failed),
            "count": count(stage.failed.len() as u64, "host"),
            "skipped": line(&stage.skipped, SENTENCE),
        })
    };
    record.stages.iter().map(stage).collect()
}
