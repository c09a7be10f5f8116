//! Host lists as in Slurm and `ClusterShell`: `gpu[000-127,130]`, `r[1-4]n[0-10/2]`, `a,b`.
//!
//! Bounded: the number of hosts is computed before the first name is made, so that a range of a
//! billion is an error at once. [`fold`] is the way back, for output.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use indexmap::IndexSet;

use crate::config::TextError;

/// The most hosts that one expression may name.
pub const MAX_HOSTS: usize = 65_536;
/// The most names that all expressions of an inventory may make.
pub const MAX_NAMED: usize = 16 * MAX_HOSTS;
/// The longest name.
pub const MAX_NAME: usize = 253;
/// The most brackets of one name.
pub const MAX_BRACKETS: usize = 8;

/// Returns the message about an inventory with more hosts or names than that.
pub fn too_many() -> String {
    format!("these are too many: an inventory has at most {MAX_HOSTS} hosts, named at most {MAX_NAMED} times")
}

/// Whether a text may be the name of a host, a group or a label.
pub fn is_name(text: &str) -> bool {
    text.len() <= MAX_NAME
        && text.starts_with(|c: char| c.is_ascii_alphanumeric())
        && text.chars().all(is_name_char)
}

fn is_name_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-')
}

/// A range of one bracket: `first`, `first - step`, ... up to `last`, padded with zeros.
#[derive(Debug, Clone, Copy)]
struct Range {
    first: u64,
    last: u64,
    step: u64,
    width: usize,
}

impl Range {
    fn count(self) -> u64 {
        (self.last - self.first) / self.step + 1
    }
}

#[derive(Debug)]
enum Piece<'a> {
    Text(&'a str),
    Ranges(Vec<Range>),
}

/// All names of a host list, in order, each once.
///
/// # Errors
/// Where the text is not a host list or names more than [`MAX_HOSTS`].
pub fn expand(text: &str) -> Result<Vec<String>, TextError> {
    let mut names = IndexSet::new();
    let mut total = 0_u64;
    for (start, element) in split(text, 0, text.len()) {
        let pieces = pieces(text, start, element)?;
        let plain = |piece: &Piece<'_>| if let Piece::Text(text) = piece { text.len() } else { 0 };
        let brackets = pieces.iter().filter(|piece| matches!(piece, Piece::Ranges(_))).count();
        if pieces.iter().map(plain).sum::<usize>() > MAX_NAME || brackets > MAX_BRACKETS {
            let most = format!("a host name has at most {MAX_NAME} characters and {MAX_BRACKETS} ranges");
            return Err(TextError::new(start, start + element.len(), most));
        }
        let mut count = 1_u64;
        for piece in &pieces {
            if let Piece::Ranges(ranges) = piece {
                let sum = ranges.iter().fold(0_u64, |sum, range| sum.saturating_add(range.count()));
                count = count.saturating_mul(sum);
            }
        }
        total = total.saturating_add(count);
        if total > MAX_HOSTS as u64 {
            return Err(TextError::new(
                start,
                start + element.len(),
                format!("this names {total} hosts; one expression may name {MAX_HOSTS}"),
            ));
        }
        let mut made = vec![String::new()];
        for piece in &pieces {
            match piece {
                Piece::Text(text) => made.iter_mut().for_each(|name| name.push_str(text)),
                Piece::Ranges(ranges) => {
                    made = made
                        .iter()
                        .flat_map(|name| ranges.iter().flat_map(move |range| numbered(name, *range)))
                        .collect();
                }
            }
        }
        for name in made {
            if !is_name(&name) {
                return Err(TextError::new(
                    start,
                    start + element.len(),
                    format!("`{name}` is not a host name"),
                )
                .help("names begin with a letter or a digit and hold letters, digits, `.`, `_` and `-`"));
            }
            names.insert(name);
        }
    }
    Ok(names.into_iter().collect())
}

fn numbered(name: &str, range: Range) -> impl Iterator<Item = String> {
    let steps = range.count();
    (0..steps).map(move |i| {
        let number = range.first + i * range.step;
        format!("{name}{number:0width$}", width = range.width)
    })
}

/// Elements between commas that stand outside of brackets, with their place, trimmed.
fn split(text: &str, from: usize, to: usize) -> Vec<(usize, &str)> {
    let mut parts = Vec::new();
    let mut depth = 0_usize;
    let mut start = from;
    let inner = text.get(from..to).unwrap_or("");
    let mut cut = |start: usize, end: usize| {
        let part = text.get(start..end).unwrap_or("");
        let trimmed = part.trim_start();
        parts.push((start + part.len() - trimmed.len(), trimmed.trim_end()));
    };
    for (i, c) in inner.char_indices() {
        match c {
            '[' => depth += 1,
            ']' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                cut(start, from + i);
                start = from + i + 1;
            }
            _ => {}
        }
    }
    cut(start, to);
    parts
}

fn pieces<'a>(text: &'a str, start: usize, element: &'a str) -> Result<Vec<Piece<'a>>, TextError> {
    if element.is_empty() {
        return Err(TextError::new(start, start, "a host name is missing here"));
    }
    let mut pieces = Vec::new();
    let mut rest = element;
    let mut at = start;
    while !rest.is_empty() {
        if let Some(after) = rest.strip_prefix('[') {
            let Some(close) = after.find(']') else {
                return Err(TextError::new(at, at + rest.len(), "this bracket is not closed"));
            };
            let mut ranges = Vec::new();
            for (place, item) in split(text, at + 1, at + 1 + close) {
                ranges.push(range(place, item)?);
            }
            pieces.push(Piece::Ranges(ranges));
            rest = after.get(close + 1..).unwrap_or("");
            at += close + 2;
        } else {
            let len = rest.find('[').unwrap_or(rest.len());
            let (piece, after) = rest.split_at(len);
            if let Some((i, c)) = piece.char_indices().find(|(_, c)| !is_name_char(*c)) {
                let message = if c == ']' {
                    "this bracket was not opened".to_owned()
                } else {
                    format!("`{}` cannot be part of a host name", c.escape_default())
                };
                let error = TextError::new(at + i, at + i + c.len_utf8(), message);
                return Err(if c == '{' {
                    error.help("a range stands in brackets: `gpu[0-7]`")
                } else {
                    error
                });
            }
            pieces.push(Piece::Text(piece));
            rest = after;
            at += len;
        }
    }
    Ok(pieces)
}

fn range(at: usize, item: &str) -> Result<Range, TextError> {
    let bad = |message: String| TextError::new(at, at + item.len(), message);
    let number = |text: &str| -> Result<u64, TextError> {
        if text.is_empty() || !text.bytes().all(|b| b.is_ascii_digit()) {
            return Err(bad(format!("`{item}` is not a number or a range"))
                .help("write `7`, `0-15` or `0-15/2` between the brackets"));
        }
        if text.len() > 18 {
            return Err(bad(format!("`{text}` is too large")));
        }
        text.parse().map_err(|_| bad(format!("`{text}` is too large")))
    };
    let (body, step) = match item.split_once('/') {
        Some((body, step)) => (body, number(step)?),
        None => (item, 1),
    };
    let (first_text, last_text) = body.split_once('-').unwrap_or((body, body));
    let (first, last) = (number(first_text)?, number(last_text)?);
    if step == 0 {
        return Err(bad("a step of 0 never ends".to_owned()));
    }
    if last < first {
        return Err(
            bad(format!("{first} comes after {last}")).help(format!("write `{last_text}-{first_text}`"))
        );
    }
    let width = if first_text.len() > 1 && first_text.starts_with('0') { first_text.len() } else { 0 };
    Ok(Range { first, last, step, width })
}

/// The last run of digits in a name before its domain as a number: 17 for `gpu017` and for
/// `gpu017.dc1.example`.
pub fn number_of(name: &str) -> Option<u64> {
    let label = name.split('.').next().filter(|label| label.contains(|c: char| c.is_ascii_digit()));
    let label = label.filter(|_| name.parse::<std::net::IpAddr>().is_err()).unwrap_or(name);
    last_number(label).and_then(|(_, digits, _)| digits.parse().ok())
}

fn last_number(name: &str) -> Option<(&str, &str, &str)> {
    let end = name.rfind(|c: char| c.is_ascii_digit())? + 1;
    let head = name.get(..end)?;
    let start = head.rfind(|c: char| !c.is_ascii_digit()).map_or(0, |i| i + 1);
    let digits = head.get(start..)?;
    (digits.len() <= 18).then_some((head.get(..start)?, digits, name.get(end..)?))
}

/// The order of names where numbers count as numbers: `gpu2` comes before `gpu10`.
pub fn order(one: &str, other: &str) -> Ordering {
    let (mut left, mut right) = (one, other);
    loop {
        let text = head(&mut left, |c| !c.is_ascii_digit()).cmp(head(&mut right, |c| !c.is_ascii_digit()));
        let (first, second) =
            (head(&mut left, |c| c.is_ascii_digit()), head(&mut right, |c| c.is_ascii_digit()));
        let value = |digits: &'_ str| digits.trim_start_matches('0').len();
        let number = value(first)
            .cmp(&value(second))
            .then_with(|| first.trim_start_matches('0').cmp(second.trim_start_matches('0')));
        let order = text.then(number);
        if order.is_ne() {
            return order;
        }
        if first.is_empty() && second.is_empty() {
            return one.cmp(other);
        }
    }
}

/// Takes the characters at the beginning of a text that are of a kind.
fn head<'a>(text: &mut &'a str, of_kind: impl Fn(char) -> bool) -> &'a str {
    let end = text.find(|c| !of_kind(c)).unwrap_or(text.len());
    let (head, rest) = text.split_at(end);
    *text = rest;
    head
}

/// Most runs of digits of a name that are looked at: a host list may have as many ranges.
const COLUMNS: usize = 8;

/// A name as what its runs of digits stand between, and the runs.
fn columns(name: &str) -> (Vec<&str>, Vec<&str>) {
    let (mut between, mut runs) = (Vec::new(), Vec::new());
    let mut rest = name;
    // No host: of the address of a PCI device, in hexadecimal, only the function counts.
    let most = if name.contains(':') { 1 } else { COLUMNS };
    // From the end: the last ones are those that differ.
    while runs.len() < most
        && let Some((head, digits, tail)) = last_number(rest)
    {
        between.push(tail);
        runs.push(digits);
        rest = head;
    }
    between.push(rest);
    between.reverse();
    runs.reverse();
    (between, runs)
}

/// Numbers of a column with the width that they are written with; 0 for those as they are.
type Column = BTreeSet<(usize, u64)>;

/// A short host list that names exactly these hosts: `gpu[000-126],login0`, `node[1-12]-ib[0-1]`.
pub fn fold<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    let mut families: BTreeMap<Vec<&str>, BTreeSet<Vec<&str>>> = BTreeMap::new();
    for name in names {
        let (between, runs) = columns(name);
        families.entry(between).or_default().insert(runs);
    }
    let mut out = Vec::new();
    for (between, names) in families {
        match &between[..] {
            [name] => out.push((*name).to_owned()),
            _ => out.extend(shortest(&between, &rows(&names))),
        }
    }
    out.join(",")
}

/// Columns up to which all their orders are tried, and names.
const ORDERED: (usize, usize) = (3, 2000);

/// The texts of a family. Which columns are put together first decides how many rows are left, so the orders are
/// tried where that is not much work.
fn shortest(between: &[&str], rows: &[Vec<Column>]) -> Vec<String> {
    let wide = rows.first().map_or(0, Vec::len);
    let few = wide <= ORDERED.0 && rows.len() <= ORDERED.1;
    let orders = if few { orders(wide) } else { vec![(0..wide).rev().collect()] };
    let texts = orders.iter().map(|order| {
        merged(rows.to_vec(), order).iter().map(|row| row_text(between, row)).collect::<Vec<_>>()
    });
    texts.min_by_key(|texts| texts.iter().map(|text| text.len() + 1).sum::<usize>()).unwrap_or_default()
}

/// All orders of so many columns, first the one that begins with the last.
fn orders(wide: usize) -> Vec<Vec<usize>> {
    let Some(last) = wide.checked_sub(1) else { return vec![Vec::new()] };
    let fewer = orders(last);
    let with = |place: usize| {
        fewer.iter().map(move |order| {
            let mut order = order.clone();
            order.insert(place, last);
            order
        })
    };
    (0..wide).flat_map(with).collect()
}

/// The names of a family, each a row.
fn rows(names: &BTreeSet<Vec<&str>>) -> Vec<Vec<Column>> {
    let wide = names.first().map_or(0, Vec::len);
    // Numbers with leading zeros fix a width; others of at least that width join them.
    let mut padded = vec![BTreeSet::new(); wide];
    for name in names {
        for (digits, padded) in name.iter().zip(&mut padded) {
            if digits.len() > 1 && digits.starts_with('0') {
                padded.insert(digits.len());
            }
        }
    }
    let number = |digits: &str, padded: &BTreeSet<usize>| {
        let width = padded.range(..=digits.len()).next_back().copied().unwrap_or(0);
        (width, digits.parse().unwrap_or_default())
    };
    names
        .iter()
        .map(|name| {
            name.iter().zip(&padded).map(|(digits, padded)| Column::from([number(digits, padded)])).collect()
        })
        .collect()
}

/// Rows that differ in one column alone become one, column by column.
fn merged(mut rows: Vec<Vec<Column>>, order: &[usize]) -> Vec<Vec<Column>> {
    for &column in order {
        let mut merged: BTreeMap<Vec<Column>, Column> = BTreeMap::new();
        for mut row in rows {
            let own = row.get_mut(column).map(std::mem::take).unwrap_or_default();
            merged.entry(row).or_default().extend(own);
        }
        rows = merged
            .into_iter()
            .map(|(mut row, own)| {
                if let Some(place) = row.get_mut(column) {
                    *place = own;
                }
                row
            })
            .collect();
    }
    rows.sort();
    rows
}

fn row_text(between: &[&str], row: &[Column]) -> String {
    let mut text = between.first().copied().unwrap_or_default().to_owned();
    for (column, after) in row.iter().zip(between.iter().skip(1)) {
        let mut by_width: BTreeMap<usize, Vec<u64>> = BTreeMap::new();
        for (width, number) in column {
            by_width.entry(*width).or_default().push(*number);
        }
        let ranges: Vec<String> =
            by_width.iter().map(|(width, numbers)| ranges_text(*width, numbers)).collect();
        let ranges = ranges.join(",");
        let (open, close) = if column.len() > 1 { ("[", "]") } else { ("", "") };
        text.extend([open, &ranges, close, after]);
    }
    text
}

/// Sorted numbers as ranges, `0-3,8`, with zeros in front up to a width.
pub fn ranges_text(width: usize, numbers: &[u64]) -> String {
    let mut runs: Vec<(u64, u64)> = Vec::new();
    for number in numbers {
        match runs.last_mut() {
            Some((_, last)) if *last + 1 == *number => *last = *number,
            _ => runs.push((*number, *number)),
        }
    }
    let mut text = String::new();
    for (i, (first, last)) in runs.iter().enumerate() {
        if i > 0 {
            text.push(',');
        }
        let _ = write!(text, "{first:0width$}");
        if last > first {
            let _ = write!(text, "-{last:0width$}");
        }
    }
    text
}

/// A name without the number at its end: `gpu` of `gpu7`.
pub fn stem(name: &str) -> &str {
    name.trim_end_matches(|c: char| c.is_ascii_digit())
}

/// `gpu0-3`: a range that lost its brackets, most likely. Shown as it should be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Dashed<'a> {
    /// `gpu`.
    pub stem: &'a str,
    /// `0`.
    pub first: &'a str,
    last: &'a str,
    domain: &'a str,
    /// Number of hosts that it would be.
    pub count: u64,
}

impl std::fmt::Display for Dashed<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}[{}-{}]{}", self.stem, self.first, self.last, self.domain)
    }
}

/// A name such as `gpu0-3` or `gpu00-03.example.com`; `ip-10-0-0-4` is an address.
pub fn dashed(name: &str) -> Option<Dashed<'_>> {
    let (label, domain) = name.split_at(name.find('.').unwrap_or(name.len()));
    let (head, last) = label.rsplit_once('-')?;
    let (stem, first) = head.split_at(stem(head).len());
    let hosts = last.parse::<u64>().ok()?.checked_sub(first.parse().ok()?)?;
    let name = stem.trim_end_matches('-');
    let named = !name.is_empty() && !name.ends_with(|c: char| c.is_ascii_digit());
    (named && hosts > 0).then_some(Dashed { stem, first, last, domain, count: hosts.saturating_add(1) })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_range_without_brackets() {
        for (name, want) in [
            ("gpu0-3", Some("gpu[0-3]")),
            ("gpu-00-15.dc1.example.com", Some("gpu-[00-15].dc1.example.com")),
            ("gpu3-0", None),
            ("0-3", None),
            ("rack-b", None),
            ("ip-10-0-0-4.ec2.internal", None),
        ] {
            assert_eq!(dashed(name).map(|range| range.to_string()).as_deref(), want, "{name}");
        }
    }

    #[test]
    fn expansion() {
        for (text, want) in [
            ("gpu0", "gpu0"),
            ("gpu[0-2]", "gpu0 gpu1 gpu2"),
            ("gpu[08-11]", "gpu08 gpu09 gpu10 gpu11"),
            ("gpu[000-001,130]", "gpu000 gpu001 gpu130"),
            ("n[0-10/4]", "n0 n4 n8"),
            ("r[1-2]n[0-1]", "r1n0 r1n1 r2n0 r2n1"),
            ("a, b,a", "a b"),
            ("gpu[0, 2-3 , 5]", "gpu0 gpu2 gpu3 gpu5"),
            ("gpu[1].example", "gpu1.example"),
        ] {
            assert_eq!(expand(text).unwrap().join(" "), want, "{text}");
        }
    }

    /// Compares with the results that `ClusterShell` gave for the same lists; `scripts/hostlists.py` recorded
    /// them.
    #[test]
    fn lists_are_those_of_clustershell() {
        #[derive(serde::Deserialize)]
        struct Case {
            list: String,
            hosts: Vec<String>,
            #[serde(default)]
            plane: bool,
        }
        #[derive(serde::Deserialize)]
        struct Recorded {
            expand: Vec<Case>,
            fold: Vec<Case>,
        }
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cases/hostlists/clustershell.json");
        let recorded: Recorded = serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap();
        assert_eq!((recorded.expand.len(), recorded.fold.len()), (1000, 1000));
        let hosts = |list: &str| expand(list).unwrap().into_iter().collect::<BTreeSet<_>>();
        let mut wrong = Vec::new();
        let limits = recorded.expand.into_iter().map(|case| (case, usize::MAX));
        // Some lists of names with two numbers are longer by a little; the page of host lists says so.
        let limits = limits.chain(recorded.fold.into_iter().map(|case| {
            let most = if case.plane { case.list.len() * 21 / 20 } else { case.list.len() };
            (case, most)
        }));
        for (Case { list, hosts: wanted, .. }, most) in limits {
            let wanted: BTreeSet<String> = wanted.into_iter().collect();
            let folded = fold(wanted.iter().map(String::as_str));
            if hosts(&list) != wanted {
                wrong.push(format!("{list} is {:?}", hosts(&list)));
            } else if hosts(&folded) != wanted {
                wrong.push(format!("{folded} is {:?}", hosts(&folded)));
            } else if folded.len() > most {
                wrong.push(format!("{folded} is longer than {list}"));
            }
        }
        assert!(wrong.is_empty(), "{} lists\n{}", wrong.len(), wrong.join("\n"));
    }

    #[test]
    fn errors_have_a_place() {
        for (text, start, end, message) in [
            ("gpu[0-", 3, 6, "not closed"),
            ("gpu0]", 4, 5, "not opened"),
            ("gpu[3-1]", 4, 7, "3 comes after 1"),
            ("gpu[a]", 4, 5, "not a number"),
            ("gpu[0 - 2]", 4, 9, "not a number"),
            ("a,,b", 2, 2, "missing"),
            ("-x", 0, 2, "not a host name"),
            ("a b", 1, 2, "cannot be part"),
            ("n[1-999999999]", 0, 14, "999999999 hosts"),
            ("n[0-999]x[0-999]", 0, 16, "1000000 hosts"),
            ("n[0-4/0]", 2, 7, "never ends"),
            ("n[1][1][1][1][1][1][1][1][1]", 0, 28, "at most 253 characters and 8 ranges"),
        ] {
            let error = expand(text).unwrap_err();
            assert_eq!((error.start, error.end), (start, end), "{text}: {error:?}");
            assert!(error.message.contains(message), "{text}: {error:?}");
        }
    }

    #[test]
    fn what_would_be_too_much_is_refused_before_it_is_made() {
        for text in [
            format!("n[0-65535]{}", "[1]".repeat(80_000)),
            format!("n[0-65535]{}", "x".repeat(1 << 20)),
            format!("n{}", "[0-9]".repeat(8)),
            "n[0-65535],".repeat(80_000),
        ] {
            assert!(expand(&text).is_err());
        }
    }

    #[test]
    fn numbers_in_names_count() {
        let mut names = ["gpu10", "gpu2", "gpu02", "ctl", "gpu2-ib1", "gpu", "a1b10", "a1b9", "W1", "gpu2.x"];
        names.sort_by(|one, other| order(one, other));
        assert_eq!(
            names,
            ["W1", "a1b9", "a1b10", "ctl", "gpu", "gpu02", "gpu2", "gpu2-ib1", "gpu2.x", "gpu10"]
        );
    }

    #[test]
    fn folding() {
        for (names, want) in [
            ("gpu1 gpu0 gpu2", "gpu[0-2]"),
            ("gpu099 gpu100 gpu098 x", "gpu[098-100],x"),
            ("a1 a01", "a[1,01]"),
            ("r1n1 r1n2 r2n1", "r1n[1-2],r2n1"),
            ("node1-ib0 node2-ib0 node3-ib0", "node[1-3]-ib0"),
            ("r1n1 r1n2 r2n1 r2n2 r4n1 r4n2", "r[1-2,4]n[1-2]"),
            ("gpu0.dc1.example gpu1.dc1.example gpu0.dc2.example", "gpu0.dc[1-2].example,gpu1.dc1.example"),
            ("a9-1 a09-1 a10-1", "a[9,09-10]-1"),
            // A product of both columns would leave more rows.
            ("n1-ib0 n2-ib0 n4-ib0 n2-ib1 n3-ib1 n5-ib1", "n[1-2,4]-ib0,n[2-3,5]-ib1"),
            ("", ""),
        ] {
            assert_eq!(fold(names.split_whitespace()), want);
        }
        assert_eq!(number_of("gpu017"), Some(17));
        assert_eq!(number_of("login"), None);
    }

    proptest! {
        #[test]
        fn no_text_panics(text in "[a-c0-9\\[\\],/ -]{0,24}|\\PC{0,16}") {
            drop(expand(&text));
        }

        #[test]
        fn fold_is_the_way_back(names in proptest::collection::btree_set("[ab]{1,2}[0-9]{0,3}(c[0-9]{0,2}(-[0-2])?)?", 0..24)) {
            let folded = fold(names.iter().map(String::as_str));
            let back: BTreeSet<String> =
                if folded.is_empty() { BTreeSet::new() } else { expand(&folded).unwrap().into_iter().collect() };
            prop_assert_eq!(back, names, "{}", folded);
        }
    }
}
