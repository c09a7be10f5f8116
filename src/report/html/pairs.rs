//! Bandwidths between pairs of hosts, as a heat map: a row for each pair, a column for each rail, worst
//! first.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value as Json, json};

use super::budget::{Budget, LINE, ROWS, shortened};
use crate::events::PairTest;
use crate::words::count;

/// The shade of a cell: 0 is bad, 4 is as good as the usual pair of its rail.
fn shade(test: &PairTest, usual: f64) -> u8 {
    let share = test.gbps.unwrap_or(0.0) / usual.max(f64::MIN_POSITIVE);
    let steps = [0.5, 0.8, 0.9, 0.97].iter().filter(|step| share >= **step).count();
    let shade = u8::try_from(steps).unwrap_or(4);
    if test.error.is_some() { shade.min(1) } else { shade }
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(0.0)
}

/// The table of the page; nothing when no pair was tested.
pub(super) fn data(pairs: &[PairTest], budget: &mut Budget) -> Json {
    let rails: BTreeSet<&str> = pairs.iter().map(|test| test.rail.as_str()).collect();
    let usual: BTreeMap<&str, f64> = rails
        .iter()
        .map(|rail| {
            let of_rail = pairs.iter().filter(|test| test.rail == *rail);
            (*rail, median(of_rail.filter_map(|test| test.gbps).collect()))
        })
        .collect();
    let mut rows: BTreeMap<[&str; 2], BTreeMap<&str, (u8, &PairTest)>> = BTreeMap::new();
    for test in pairs {
        let [one, other] = &test.hosts;
        let of_rail = usual.get(test.rail.as_str()).copied().unwrap_or(0.0);
        rows.entry([one, other]).or_default().insert(&test.rail, (shade(test, of_rail), test));
    }
    let mut rows: Vec<_> = rows.into_iter().collect();
    // However many pairs carry nothing or half of the usual, none of them is left out.
    let worst = |cells: &BTreeMap<&str, (u8, &PairTest)>| cells.values().map(|(shade, _)| *shade).min();
    rows.sort_by_key(|(_, cells)| worst(cells));
    let bad = rows.iter().take_while(|(_, cells)| worst(cells) <= Some(1)).count();
    let most = ROWS.max(bad);
    let more = rows.len().saturating_sub(most) as u64;
    let mut table = Vec::new();
    for ([one, other], cells) in rows.iter().take(most) {
        let mut cell = |rail: &&str| {
            let Some((shade, test)) = cells.get(rail) else { return json!(null) };
            let text = test.gbps.map_or_else(|| "✕".to_owned(), |gbps| format!("{gbps:.0}"));
            let title = test.error.as_ref().map_or_else(
                || test.gbps.map_or_else(String::new, |gbps| format!("{gbps:.1} Gb/s")),
                |error| budget.keep(error, LINE),
            );
            json!({ "shade": shade, "text": text, "title": title })
        };
        let cells: Vec<Json> = rails.iter().map(&mut cell).collect();
        table.push(json!({ "hosts": shortened(&format!("{one} – {other}"), LINE), "cells": cells }));
    }
    json!({
        "rails": rails,
        "rows": table,
        "more": (more > 0).then(|| format!("{} that are no worse", count(more, "pair"))),
    })
}
