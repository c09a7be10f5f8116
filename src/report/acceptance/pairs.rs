//! Traffic between hosts: for each name a map, hosts that send by hosts that receive, and the worst pairs by name.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value as Json, json};

use super::draw::place;
use super::figures::stats;
use super::numbers::{Better, Summary, float, percent, written};
use super::text::{NAME, UNIT, escaped, line};
use crate::accept::record::Pair;
use crate::hostlist;
use crate::put;
use crate::words::count;

/// Rows and columns of a map at most; with more hosts a cell stands for a block of pairs.
const BLOCKS: usize = 32;
/// Hosts up to which each cell has its number.
const FEW: usize = 12;
/// Pairs that are named.
const WORST: usize = 20;
/// Names that have a map.
const NAMES: usize = 12;
/// Shares of the usual pair at which the shade changes.
const STEPS: [f64; 4] = [0.5, 0.8, 0.9, 0.97];
/// The sign of each shade, beside its colour.
const SIGNS: [&str; 5] = ["■", "●", "○", "·", ""];

/// Pairs of one name.
#[derive(Debug)]
struct Group<'a> {
    name: &'a str,
    unit: &'a str,
    better: Better,
    pairs: Vec<&'a Pair>,
    summary: Summary,
}

impl Group<'_> {
    fn share(&self, pair: &Pair) -> f64 {
        self.better.share(pair.value, self.summary.median)
    }
}

/// The pairs as the page shows them.
#[derive(Debug)]
pub(super) struct Shown {
    /// A map for each name.
    pub(super) maps: Vec<Json>,
    /// Names that have none.
    pub(super) more: usize,
    /// The worst pairs of all.
    pub(super) worst: Vec<Json>,
    /// Pairs that do not hold and are not among them.
    pub(super) more_fail: usize,
    /// Hosts that most of the failing pairs have in common.
    pub(super) common: Vec<Json>,
}

/// Maps and the worst pairs.
pub(super) fn data(pairs: &[Pair]) -> Shown {
    let mut all: BTreeMap<(&str, &str), Vec<&Pair>> = BTreeMap::new();
    for pair in pairs {
        all.entry((&pair.name, &pair.unit)).or_default().push(pair);
    }
    let group = |((name, unit), pairs): ((_, _), Vec<_>)| {
        let summary = Summary::of(pairs.iter().map(|pair: &&Pair| pair.value))?;
        Some(Group { name, unit, better: Better::of(unit), pairs, summary })
    };
    let groups: Vec<Group<'_>> = all.into_iter().filter_map(group).collect();
    let (worst, fail) = worst(&groups);
    let named = worst.iter().filter(|row| row["fails"] == true).count();
    Shown {
        maps: groups.iter().take(NAMES).map(map).collect(),
        more: groups.len().saturating_sub(NAMES),
        worst,
        more_fail: fail.saturating_sub(named),
        common: common(pairs),
    }
}

/// The worst pairs, those that do not hold first, and how many do not.
fn worst(groups: &[Group<'_>]) -> (Vec<Json>, usize) {
    let mut all: Vec<(bool, f64, &Pair, &Group<'_>)> = Vec::new();
    let mut fail = 0;
    for group in groups {
        let rank = |pair: &&Pair| (pair.holds != Some(false), group.share(pair));
        let mut ranked: Vec<(bool, f64, &Pair, &Group<'_>)> =
            group.pairs.iter().map(|pair| (rank(pair).0, rank(pair).1, *pair, group)).collect();
        fail += ranked.iter().filter(|(holds, ..)| !holds).count();
        ranked.retain(|(holds, share, ..)| !holds || *share < 1.0);
        // Of a million pairs only those that may be named are put in order.
        if ranked.len() > WORST {
            ranked.select_nth_unstable_by(WORST, |one, other| {
                one.0
                    .cmp(&other.0)
                    .then(one.1.total_cmp(&other.1))
                    .then_with(|| names(one.2).cmp(&names(other.2)))
            });
            ranked.truncate(WORST);
        }
        all.extend(ranked);
    }
    all.sort_by(|one, other| {
        one.0.cmp(&other.0).then(one.1.total_cmp(&other.1)).then_with(|| names(one.2).cmp(&names(other.2)))
    });
    let row = |(holds, _, pair, group): &(bool, f64, &Pair, &Group<'_>)| {
        json!({
            "from": line(&end(&pair.from, &pair.from_port), NAME),
            "to": line(&end(&pair.to, &pair.to_port), NAME),
            "name": line(&pair.name, NAME),
            "value": if pair.said.is_empty() {
                format!("{} {}", written(pair.value, group.summary.decimals()), line(&pair.unit, UNIT))
            } else {
                line(&pair.said, 4 * NAME)
            },
            "share": percent(pair.value / group.summary.median),
            "fails": !holds,
            "judged": pair.holds.is_some(),
        })
    };
    (all.iter().take(WORST).map(row).collect(), fail)
}

/// Hosts whose pairs fail, those with the largest share of theirs first: of two that fail together, it is the one that
/// fails with others as well.
fn common(pairs: &[Pair]) -> Vec<Json> {
    let mut hosts: BTreeMap<&str, (u64, u64)> = BTreeMap::new();
    for pair in pairs {
        for host in [&pair.from, &pair.to] {
            let of = hosts.entry(host).or_default();
            of.0 += u64::from(pair.holds == Some(false));
            of.1 += u64::from(pair.holds.is_some());
        }
    }
    // One that has more partners which fail than which hold.
    let mut hosts: Vec<(&str, (u64, u64))> = hosts.into_iter().filter(|(_, of)| 2 * of.0 > of.1).collect();
    hosts.sort_by(|(one, a), (other, b)| {
        (b.0 * a.1).cmp(&(a.0 * b.1)).then(b.0.cmp(&a.0)).then_with(|| hostlist::order(one, other))
    });
    let row = |(host, (fails, all)): &(&str, (u64, u64))| json!({ "host": line(host, NAME), "text": format!("{fails} of {}", count(*all, "pair")) });
    hosts.iter().take(WORST).map(row).collect()
}

/// A host with its port, where the figure is of one.
fn end(host: &str, port: &str) -> String {
    if port.is_empty() { host.to_owned() } else { format!("{host} {port}") }
}

fn names(pair: &Pair) -> (&str, &str, &str) {
    (&pair.from, &pair.to, &pair.name)
}

/// A cell: the worst of its pairs, how many they are, and how many of them do not hold.
#[derive(Debug, Clone, Copy)]
struct Cell<'a> {
    worst: &'a Pair,
    share: f64,
    number: u64,
    fails: u64,
}

impl Cell<'_> {
    /// 0 is bad, 4 is as good as the usual pair; what does not hold is never better than 1.
    fn shade(&self) -> usize {
        let steps = STEPS.iter().filter(|step| self.share >= **step).count();
        if self.fails > 0 { steps.min(1) } else { steps }
    }

    fn sign(&self) -> &'static str {
        if self.fails > 0 { "✕" } else { SIGNS.get(self.shade()).copied().unwrap_or_default() }
    }
}

fn map(group: &Group<'_>) -> Json {
    let names: BTreeSet<&str> =
        group.pairs.iter().flat_map(|pair| [pair.from.as_str(), pair.to.as_str()]).collect();
    let mut names: Vec<&str> = names.into_iter().collect();
    names.sort_by(|one, other| hostlist::order(one, other));
    let size = names.len().div_ceil(BLOCKS).max(1);
    let places: BTreeMap<&str, usize> =
        names.iter().enumerate().map(|(at, name)| (*name, at / size)).collect();
    let mut cells: BTreeMap<(usize, usize), Cell<'_>> = BTreeMap::new();
    for pair in &group.pairs {
        let (Some(row), Some(column)) = (places.get(pair.from.as_str()), places.get(pair.to.as_str())) else {
            continue;
        };
        let (share, fails) = (group.share(pair), u64::from(pair.holds == Some(false)));
        let new = Cell { worst: pair, share, number: 0, fails: 0 };
        let cell = cells.entry((*row, *column)).or_insert(new);
        if share < cell.share {
            (cell.worst, cell.share) = (pair, share);
        }
        cell.number += 1;
        cell.fails += fails;
    }
    let blocks: Vec<&[&str]> = names.chunks(size).collect();
    let failing: u64 = cells.values().map(|cell| cell.fails).sum();
    json!({
        "name": line(group.name, NAME),
        "unit": line(group.unit, UNIT),
        "fails": (failing > 0).then(|| format!("{failing} of {}", count(group.pairs.len() as u64, "pair"))),
        "judged": group.pairs.iter().any(|pair| pair.holds.is_some()),
        "stats": stats(&group.summary, group.unit, "pair"),
        "blocks": (size > 1).then(|| format!("{size} × {size} pairs")),
        "many": blocks.len() > FEW,
        "svg": svg(group, &blocks, &cells),
    })
}

/// The size of a cell, and of the text beside it.
struct Size {
    wide: f64,
    tall: f64,
    left: f64,
    top: f64,
}

fn svg(group: &Group<'_>, blocks: &[&[&str]], cells: &BTreeMap<(usize, usize), Cell<'_>>) -> String {
    let few = blocks.len() <= FEW;
    let labels: Vec<String> = blocks.iter().map(|hosts| label(hosts)).collect();
    let longest = labels.iter().map(|label| label.chars().count()).max().unwrap_or(0);
    let left = 7.4 * float(longest) + 12.0;
    let size = if few {
        Size { wide: 46.0, tall: 26.0, left, top: left }
    } else {
        Size { wide: 24.0, tall: 24.0, left, top: left }
    };
    let number = float(blocks.len());
    let (width, height) = (size.left + size.wide * number + 2.0, size.top + size.tall * number + 2.0);
    let mut out = String::new();
    let class = if few { "map few" } else { "map" };
    put!(
        out,
        r#"<svg class="{class}" viewBox="0 0 {} {}" width="{}" role="img">"#,
        place(width),
        place(height),
        place(width)
    );
    put!(out, "<title>{}: senders by receivers</title>", escaped(group.name, NAME));
    for (at, label) in labels.iter().enumerate() {
        let label = escaped(label, NAME);
        let y = size.top + size.tall * (float(at) + 0.5) + 4.0;
        put!(out, r#"<text class="end" x="{}" y="{}">{label}</text>"#, place(size.left - 6.0), place(y));
        let x = size.left + size.wide * (float(at) + 0.5) + 4.0;
        let (x, y) = (place(x), place(size.top - 6.0));
        put!(out, r#"<text transform="translate({x} {y})rotate(-90)">{label}</text>"#);
    }
    let mut paths = vec![String::new(); SIGNS.len()];
    let mut texts = String::new();
    for ((row, column), cell) in cells {
        let (x, y) = (size.left + size.wide * float(*column), size.top + size.tall * float(*row));
        let (wide, tall) = (place(size.wide - 1.0), place(size.tall - 1.0));
        let shade = cell.shade();
        if let Some(path) = paths.get_mut(shade) {
            put!(path, "M{} {}h{wide}v{tall}h-{wide}z", place(x), place(y));
        }
        let text = if few { in_cell(group, cell) } else { cell.sign().to_owned() };
        if !text.is_empty() {
            let (x, y) = (place(x + size.wide / 2.0 - 0.5), place(y + size.tall / 2.0 + 3.5));
            put!(
                texts,
                r#"<text class="t{shade}" x="{x}" y="{y}">{text}<title>{}</title></text>"#,
                title(group, cell)
            );
        }
    }
    for (shade, path) in paths.iter().enumerate().filter(|(_, path)| !path.is_empty()) {
        put!(out, r#"<path class="f{shade}" d="{path}"/>"#);
    }
    put!(out, "{texts}</svg>");
    out
}

fn in_cell(group: &Group<'_>, cell: &Cell<'_>) -> String {
    let digits = group.summary.decimals().min(1);
    format!("{}{}", written(cell.worst.value, digits), if cell.fails > 0 { "✕" } else { "" })
}

fn title(group: &Group<'_>, cell: &Cell<'_>) -> String {
    let value = format!("{} {}", written(cell.worst.value, group.summary.decimals()), group.unit);
    let of = if cell.number > 1 {
        format!(", the worst of {}", count(cell.number, "pair"))
    } else {
        String::new()
    };
    let (from, to) = (end(&cell.worst.from, &cell.worst.from_port), end(&cell.worst.to, &cell.worst.to_port));
    let value = if cell.worst.said.is_empty() { value } else { cell.worst.said.clone() };
    escaped(&format!("{from} to {to}: {value}{of}"), 4 * NAME)
}

/// The first host of a block, and the last one.
fn label(hosts: &[&str]) -> String {
    let short = |name: &str| line(name, 24);
    match hosts {
        [] => String::new(),
        [only] => short(only),
        [first, .., last] => {
            let end = hostlist::stem(last).len();
            let is_like = hostlist::stem(first) == hostlist::stem(last) && end > 0;
            let tail = if is_like { last.get(end..).unwrap_or(last) } else { last };
            format!("{}–{}", short(first), short(tail))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each host with each other one; `bad` gets half.
    fn pairs(number: usize, bad: usize) -> Vec<Pair> {
        let pair = |from: usize, to: usize| {
            let value = if from == bad || to == bad { 190.0 } else { 388.0 + float((from + 3 * to) % 4) };
            let (from, to) = (format!("n{from}"), format!("n{to}"));
            let (name, unit) = ("write.gpu".to_owned(), "Gb/s".to_owned());
            let port = || "mlx5_2/1".to_owned();
            let (from_port, to_port, said) = (port(), port(), String::new());
            Pair { from, to, name, value, unit, holds: Some(value > 350.0), from_port, to_port, said }
        };
        let all = (0..number).flat_map(|from| (0..number).map(move |to| (from, to)));
        all.filter(|(from, to)| from != to).map(|(from, to)| pair(from, to)).collect()
    }

    #[test]
    fn the_host_behind_the_worst_pairs_is_named() {
        let shown = data(&pairs(6, 2));
        assert_eq!(shown.common, [json!({ "host": "n2", "text": "10 of 10 pairs" })]);
        assert!(
            shown.worst[..10].iter().all(|row| row["from"].as_str().unwrap().starts_with("n2 ")
                || row["to"].as_str().unwrap().starts_with("n2 ")),
            "{:?}",
            shown.worst
        );
        assert_eq!(
            (&shown.worst[0]["fails"], &shown.worst[0]["value"]),
            (&json!(true), &json!("190.0 Gb/s"))
        );
        assert_eq!(shown.more_fail, 0);
        let svg = shown.maps[0]["svg"].as_str().unwrap();
        assert_eq!(svg.matches("190.0✕").count(), 10);
        assert!(svg.contains("n2 mlx5_2/1 to n0 mlx5_2/1: 190.0 Gb/s"));
    }

    #[test]
    fn many_hosts_are_blocks_and_the_worst_pair_of_each_is_seen() {
        let shown = data(&pairs(100, 50));
        let map = &shown.maps[0];
        assert_eq!(map["blocks"], "4 × 4 pairs");
        let svg = map["svg"].as_str().unwrap();
        // A row and a column of 25 blocks.
        assert_eq!(svg.matches('✕').count(), 49);
        assert!(svg.contains(">n48–51<") && svg.contains(", the worst of 16 pairs"), "{svg}");
        assert_eq!((shown.worst.len(), shown.more_fail), (WORST, 198 - WORST));
    }

    #[test]
    fn slow_is_worse_where_it_is_a_time() {
        let mut times = pairs(3, 9);
        for (pair, value) in times.iter_mut().zip([2.0, 2.0, 2.0, 2.0, 9.0, 1.0]) {
            (pair.value, pair.unit, pair.holds) = (value, "µs".to_owned(), None);
        }
        let shown = data(&times);
        assert_eq!(shown.worst[0]["value"], "9.000 µs");
        assert_eq!(shown.worst[0]["share"], "450.0 %");
        assert_eq!((shown.worst.len(), shown.common.len()), (1, 0));
    }
}
