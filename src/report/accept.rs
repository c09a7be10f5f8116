//! What came out of `provision accept`, for a terminal: who passed, who did not and why, and the figures.

use std::collections::BTreeMap;

use super::rows::hanging;
use super::style::{BAD, CALM, DIM, GOOD, HINT, paint, safe_line, seconds};
use crate::accept::judge;
use crate::accept::record::{Figure, HostRecord, Record, Threshold, Verdict};
use crate::hostlist::fold;
use crate::put;
use crate::words::count;

/// Notes that are shown.
const NOTES: usize = 20;

/// The record as a page for a terminal this wide.
pub fn text(record: &Record, width: Option<usize>) -> String {
    let mut page = Page { text: String::new(), width };
    for stage in &record.stages {
        let mut line = format!(
            "{:<11} {:>10}  {}",
            stage.stage.name(),
            count(stage.hosts as u64, "host"),
            seconds(stage.seconds)
        );
        if !stage.skipped.is_empty() {
            put!(line, "  {}", stage.skipped);
        }
        page.put(0, &safe_line(&line));
    }
    if !record.notes.is_empty() {
        page.gap();
    }
    for note in record.notes.iter().take(NOTES) {
        page.put(0, &paint(HINT, &safe_line(note)));
    }
    if record.notes.len() > NOTES {
        page.put(0, &paint(DIM, &format!("and {} more: --json", record.notes.len() - NOTES)));
    }
    for (host, found) in of(record, Verdict::Failed) {
        page.gap();
        page.put(0, &paint(BAD, &safe_line(&format!("{host} failed"))));
        page.findings(found);
    }
    let mut reasons: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for (host, found) in of(record, Verdict::NotTested) {
        let said: Vec<&str> = found.findings.iter().map(|finding| finding.text.as_str()).collect();
        let said = if said.is_empty() { "no stage tested it".to_owned() } else { said.join("; ") };
        reasons.entry(said).or_default().push(host);
    }
    if !reasons.is_empty() {
        page.gap();
    }
    for (reason, hosts) in &reasons {
        let names = fold(hosts.iter().copied());
        page.put(
            0,
            &format!(
                "{} {}",
                paint(HINT, &safe_line(&format!("{names} was not tested:"))),
                safe_line(reason)
            ),
        );
    }
    page.figures(record);
    page.gap();
    let passed: Vec<&str> = of(record, Verdict::Passed).map(|(host, _)| host).collect();
    let all = record.hosts.len();
    let style = if passed.len() == all { GOOD } else { BAD };
    let names = if passed.is_empty() { String::new() } else { format!(": {}", fold(passed.iter().copied())) };
    page.put(
        0,
        &paint(
            style,
            &safe_line(&format!("{} of {} passed{names}", passed.len(), count(all as u64, "host"))),
        ),
    );
    page.text
}

fn of(record: &Record, verdict: Verdict) -> impl Iterator<Item = (&str, &HostRecord)> {
    record
        .hosts
        .iter()
        .filter(move |(_, host)| host.verdict == verdict)
        .map(|(name, host)| (name.as_str(), host))
}

struct Page {
    text: String,
    width: Option<usize>,
}

impl Page {
    fn put(&mut self, indent: usize, line: &str) {
        let line = " ".repeat(indent) + line;
        put!(self.text, "{}\n", hanging(&line, indent + 2, self.width));
    }

    fn gap(&mut self) {
        if !self.text.is_empty() {
            self.text.push('\n');
        }
    }

    fn findings(&mut self, host: &HostRecord) {
        for finding in &host.findings {
            let place = host.parts.iter().find(|part| part.key == finding.part);
            let part = match place {
                // The sentence may have it already.
                Some(part) if !finding.text.contains(&part.key) => {
                    format!(" ({} at {})", part.key, part.place)
                }
                _ => String::new(),
            };
            self.put(2, &safe_line(&format!("{}: {}{part}", finding.stage.name(), finding.text)));
            if !finding.action.is_empty() {
                self.put(4, &paint(HINT, &safe_line(&finding.action)));
            }
        }
    }

    /// A line for each figure: its median, the least and the most with who had it, and what it was held against.
    fn figures(&mut self, record: &Record) {
        let mut all: BTreeMap<(&str, &str), Vec<(&str, &Figure)>> = BTreeMap::new();
        for (host, found) in &record.hosts {
            // Means of several figures are for the judgement.
            for figure in found.figures.iter().filter(|figure| figure.unit != judge::OF_MEDIAN) {
                all.entry((&figure.name, &figure.unit)).or_default().push((host, figure));
            }
        }
        if all.is_empty() {
            return;
        }
        self.gap();
        self.put(
            0,
            &paint(
                DIM,
                &format!(
                    "{:<16} {:>9}  {:<8}  least to most, and what it must reach",
                    "figure", "median", ""
                ),
            ),
        );
        for ((name, unit), mut figures) in all {
            figures.sort_by(|(_, one), (_, other)| one.value.total_cmp(&other.value));
            let (Some((_, least)), Some((_, most))) = (figures.first(), figures.last()) else { continue };
            let median = figures.get(figures.len() / 2).map_or(0.0, |(_, figure)| figure.value);
            let mut line = format!("{name:<16} {:>9}  {unit:<8}", short(median));
            if figures.len() > 1 {
                put!(line, "  {} to {} of {}", short(least.value), short(most.value), figures.len());
            }
            let asked = figures.iter().flat_map(|(_, figure)| &figure.thresholds);
            let by_least = |one: &&Threshold, other: &&Threshold| one.least.total_cmp(&other.least);
            // A time is the better the shorter it is.
            let (word, hardest) = if unit == "µs" {
                ("at most", asked.min_by(by_least))
            } else {
                ("at least", asked.max_by(by_least))
            };
            if let Some(threshold) = hardest {
                put!(line, "  {word} {} ({})", short(threshold.least), threshold.source);
            }
            let holds = figures.iter().all(|(_, figure)| figure.holds != Some(false));
            self.put(0, &paint(if holds { CALM } else { BAD }, &safe_line(&line)));
        }
    }
}

/// A number with four digits that count.
fn short(value: f64) -> String {
    if value.abs() >= 1000.0 {
        format!("{value:.0}")
    } else if value.abs() >= 100.0 {
        format!("{value:.1}")
    } else {
        format!("{value:.2}")
    }
}
