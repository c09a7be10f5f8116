//! Figures over all parts: for each name where they lie, what they are held against, and which stand out.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value as Json, json};

use super::histogram::{self, Dot, Mark};
use super::numbers::{Better, Summary, percent, written};
use super::text::{NAME, SENTENCE, UNIT, by_word, escaped, kind_word, line, part_text};
use crate::accept::record::{By, Figure, HostRecord, Part};
use crate::words::count;

/// Outliers that are named.
const WORST: usize = 10;
/// Names that are drawn; a run has about thirty.
const NAMES: usize = 60;

/// A figure with what it is of.
#[derive(Debug, Clone, Copy)]
pub(super) struct Point<'a> {
    host: &'a str,
    part: Option<&'a Part>,
    figure: &'a Figure,
}

/// Figures that can be compared: of one name and unit, and of one model.
#[derive(Debug)]
pub(super) struct Group<'a> {
    name: &'a str,
    unit: &'a str,
    model: &'a str,
    better: Better,
    points: Vec<Point<'a>>,
    summary: Summary,
}

/// All figures in groups, by name.
pub(super) fn groups<'a>(hosts: &[(&'a str, &'a HostRecord)]) -> Vec<Group<'a>> {
    let mut all: BTreeMap<(&str, &str, &str), Vec<Point<'a>>> = BTreeMap::new();
    for (name, host) in hosts {
        let parts: BTreeMap<&str, &Part> = host.parts.iter().map(|part| (part.key.as_str(), part)).collect();
        for figure in &host.figures {
            let part = parts.get(figure.part.as_str()).copied();
            let model = part.map_or("", |part| part.model.as_str());
            let point = Point { host: name, part, figure };
            all.entry((&figure.name, &figure.unit, model)).or_default().push(point);
        }
    }
    let group = |((name, unit, model), points): ((_, &'a str, _), Vec<Point<'a>>)| {
        let summary = Summary::of(points.iter().map(|point| point.figure.value))?;
        Some(Group { name, unit, model, better: Better::of(unit), points, summary })
    };
    all.into_iter().filter_map(group).collect()
}

/// The weakest figure of each host, as a share of the usual one.
pub(super) fn weakest<'a>(groups: &[Group<'a>]) -> BTreeMap<&'a str, (f64, &'a str)> {
    let mut weakest: BTreeMap<&str, (f64, &str)> = BTreeMap::new();
    for group in groups {
        for point in &group.points {
            let share = group.better.share(point.figure.value, group.summary.median);
            let least = weakest.entry(point.host).or_insert((f64::INFINITY, ""));
            if share < least.0 {
                *least = (share, group.name);
            }
        }
    }
    weakest
}

/// The cards of the page, and how many names have none.
pub(super) fn cards(groups: &[Group<'_>]) -> (Vec<Json>, usize) {
    (groups.iter().take(NAMES).map(card).collect(), groups.len().saturating_sub(NAMES))
}

fn card(group: &Group<'_>) -> Json {
    let (noun, unit) = (noun(group), group.unit);
    let decimals = group.summary.decimals();
    let fails = |point: &&Point<'_>| point.figure.holds == Some(false);
    let dot = |point: &Point<'_>| Dot { value: point.figure.value, fails: fails(&point) };
    let thresholds = thresholds(group);
    let marks: Vec<Mark> = thresholds.iter().map(|threshold| threshold.mark(decimals)).collect();
    let dots: Vec<Dot> = group.points.iter().map(dot).collect();
    let failing = group.points.iter().filter(fails).count() as u64;
    let judged = group.points.iter().filter(|point| point.figure.holds.is_some()).count() as u64;
    let (worst, more) = worst(group);
    json!({
        "name": line(group.name, NAME),
        "model": line(group.model, NAME),
        "unit": line(unit, UNIT),
        "fails": (failing > 0).then(|| format!("{failing} of {}", count(group.points.len() as u64, noun))),
        "judged": judged > 0,
        "stats": stats(&group.summary, unit, noun),
        "svg": histogram::svg(&dots, &marks, unit, noun),
        "thresholds": thresholds.iter().map(|threshold| threshold.row(decimals, unit)).collect::<Vec<_>>(),
        "worst": worst.iter().map(|point| row(group, point)).collect::<Vec<_>>(),
        "more": (more > 0).then(|| format!("and {more} more")),
    })
}

/// The word for what was measured.
fn noun(group: &Group<'_>) -> &'static str {
    let kinds: BTreeSet<_> = group.points.iter().map(|point| point.part.map(|part| part.kind)).collect();
    let mut kinds = kinds.into_iter();
    match (kinds.next(), kinds.next()) {
        (Some(Some(kind)), None) => kind_word(kind),
        // A key of a part that the host does not list is a part all the same.
        (Some(None), None) if group.points.iter().all(|point| point.figure.part.is_empty()) => "host",
        (_, _) => "part",
    }
}

/// The place of numbers, as names and values.
pub(super) fn stats(of: &Summary, unit: &str, noun: &str) -> Vec<[String; 2]> {
    let (digits, unit) = (of.decimals(), line(unit, UNIT));
    let with_unit = |value: f64| format!("{} {unit}", written(value, digits));
    let width = if of.median.abs() < f64::MIN_POSITIVE { 0.0 } else { (of.high - of.low) / of.median.abs() };
    [
        ("median", with_unit(of.median)),
        ("least", with_unit(of.least)),
        ("most", with_unit(of.most)),
        (
            "spread, p5 to p95",
            format!("{} to {} ({})", written(of.low, digits), with_unit(of.high), percent(width)),
        ),
        ("number", count(of.number as u64, noun)),
    ]
    .map(|(name, value)| [name.to_owned(), value])
    .to_vec()
}

/// The numbers that one of those who set thresholds asks of a group.
#[derive(Debug)]
struct Thresholds<'a> {
    by: By,
    least: f64,
    most: f64,
    sources: BTreeSet<&'a str>,
    first_source: &'a str,
    missed: u64,
    better: Better,
}

fn thresholds<'a>(group: &Group<'a>) -> Vec<Thresholds<'a>> {
    let mut all: BTreeMap<By, Thresholds<'a>> = BTreeMap::new();
    for point in &group.points {
        for threshold in &point.figure.thresholds {
            let of = all.entry(threshold.by).or_insert_with(|| Thresholds {
                by: threshold.by,
                least: threshold.least,
                most: threshold.least,
                sources: BTreeSet::new(),
                first_source: &threshold.source,
                missed: 0,
                better: group.better,
            });
            of.least = of.least.min(threshold.least);
            of.most = of.most.max(threshold.least);
            of.sources.insert(&threshold.source);
            of.missed += u64::from(group.better.worst_first(point.figure.value, threshold.least).is_lt());
        }
    }
    all.into_values().collect()
}

impl Thresholds<'_> {
    fn numbers(&self, decimals: usize) -> String {
        let (least, most) = (written(self.least, decimals), written(self.most, decimals));
        if least == most { least } else { format!("{least} to {most}") }
    }

    fn mark(&self, decimals: usize) -> Mark {
        let label = format!("{} {}", by_word(self.by), self.numbers(decimals));
        Mark { by: self.by, least: self.least, most: self.most, label: escaped(&label, NAME) }
    }

    fn row(&self, decimals: usize, unit: &str) -> Json {
        let others = self.sources.len().saturating_sub(1) as u64;
        let more =
            if others > 0 { format!(" (and {})", count(others, "other source")) } else { String::new() };
        let bound = match self.better {
            Better::More => "at least",
            Better::Less => "at most",
        };
        json!({
            "by": by_word(self.by),
            "least": format!("{bound} {} {}", self.numbers(decimals), line(unit, UNIT)),
            "missed": self.missed,
            "source": format!("{}{more}", line(self.first_source, SENTENCE)),
        })
    }
}

/// Figures that do not hold or stand out, the worst first, and how many more there are.
fn worst<'g, 'a>(group: &'g Group<'a>) -> (Vec<&'g Point<'a>>, usize) {
    let is_odd = |point: &&Point<'_>| {
        point.figure.holds == Some(false) || group.summary.stands_out(point.figure.value, group.better)
    };
    let mut odd: Vec<&Point<'a>> = group.points.iter().filter(is_odd).collect();
    odd.sort_by(|one, other| {
        let holds = |point: &Point<'_>| point.figure.holds != Some(false);
        let worse = group.better.worst_first(one.figure.value, other.figure.value);
        holds(one).cmp(&holds(other)).then(worse)
    });
    let more = odd.len().saturating_sub(WORST);
    odd.truncate(WORST);
    (odd, more)
}

fn row(group: &Group<'_>, point: &Point<'_>) -> Json {
    let (value, median) = (point.figure.value, group.summary.median);
    let part = point.part.map_or_else(|| point.figure.part.clone(), part_text);
    json!({
        "host": line(point.host, NAME),
        "part": line(&part, 2 * NAME),
        "value": format!("{} {}", written(value, group.summary.decimals()), line(group.unit, UNIT)),
        "share": percent(value / median),
        "fails": point.figure.holds == Some(false),
    })
}

#[cfg(test)]
mod tests {
    use super::super::test_record::record;
    use super::super::text::in_order;
    use super::*;
    use crate::accept::record::Record;

    fn card_of(fleet: &Record, name: &str) -> Json {
        let hosts = in_order(fleet);
        let (cards, more) = cards(&groups(&hosts));
        assert_eq!(more, 0);
        cards.into_iter().find(|card| card["name"] == name).unwrap()
    }

    #[test]
    fn outliers_are_named_with_the_worst_first() {
        let card = card_of(&record(1000, 1), "matmul.bf16");
        let worst = card["worst"].as_array().unwrap();
        assert_eq!(card["fails"], "9 of 7928 GPUs");
        let fails: Vec<bool> = worst.iter().map(|row| row["fails"] == true).collect();
        assert!(fails.iter().filter(|fails| **fails).count() == 9 && fails.is_sorted_by(|a, b| a >= b));
        let share =
            |row: &Json| row["share"].as_str().unwrap().trim_end_matches(" %").parse::<f64>().unwrap();
        assert!(worst[..9].is_sorted_by(|one, other| share(one) <= share(other)));
        assert_eq!(worst[0]["host"], "gpu0350");
        assert_eq!(worst[0]["part"], "GPU 1650223034903 at 0000:4b:00.0");
    }

    #[test]
    fn thresholds_stand_with_their_sources() {
        let card = card_of(&record(4, 1), "matmul.bf16");
        let rows = card["thresholds"].as_array().unwrap();
        let by: Vec<&str> = rows.iter().map(|row| row["by"].as_str().unwrap()).collect();
        assert_eq!(by, ["floor", "fleet", "history"]);
        assert_eq!((&rows[0]["least"], &rows[0]["missed"]), (&json!("at least 600.0 TFLOP/s"), &json!(1)));
        assert_eq!(rows[1]["source"], "95 % of the median 667 of 32 GPUs");
        assert!(rows[2]["least"].as_str().unwrap().contains(" to "), "each part has its own history");
    }

    #[test]
    fn a_figure_of_two_models_is_two_figures() {
        let mut fleet = record(4, 1);
        for part in &mut fleet.hosts.get_mut("gpu03").unwrap().parts {
            if part.kind == crate::accept::record::PartKind::Gpu {
                part.model = "NVIDIA H100".to_owned();
            }
        }
        let hosts = in_order(&fleet);
        let all = groups(&hosts);
        let models: Vec<&str> =
            all.iter().filter(|group| group.name == "copy.to").map(|group| group.model).collect();
        assert_eq!(models, ["NVIDIA H100", "NVIDIA H200"]);
    }

    #[test]
    fn the_weakest_figure_of_a_host_is_the_one_farthest_below() {
        let fleet = record(40, 1);
        let hosts = in_order(&fleet);
        let all = groups(&hosts);
        let weakest = weakest(&all);
        let (share, name) = weakest["gpu17"];
        assert!(share < 0.9 && !name.starts_with("copy"), "{share} {name}");
    }
}
