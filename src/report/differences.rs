//! Differences behind a launcher, as a table: equal rows of several hosts are one.

use indexmap::IndexMap;

use super::fold::fold;
use super::style::{BAD, CALM, DIM, paint, safe_line};
use crate::events::{Difference, Record};
use crate::put;
use crate::words::count;

/// Longest text of a cell; `--json` has all of it.
const WIDTH: usize = 44;

/// Puts the table below the findings; what is meant to differ is shown where more is asked for.
pub(super) fn put(text: &mut String, record: &Record, verbose: bool) {
    let mut rows: IndexMap<&Difference, Vec<&str>> = IndexMap::new();
    let mut launchers = 0_u64;
    let mut meant = 0_u64;
    for (name, host) in &record.hosts {
        let Some(through) = &host.through else { continue };
        launchers += 1;
        for difference in &through.differences {
            if difference.check.is_none() {
                meant += 1;
            }
            if verbose || difference.check.is_some() {
                rows.entry(difference).or_default().push(name.as_str());
            }
        }
    }
    if launchers == 0 {
        return;
    }
    let head = if rows.is_empty() {
        "nothing differs that matters".to_owned()
    } else {
        format!("{}: over SSH, and in the job", count(rows.len() as u64, "difference"))
    };
    put!(text, "{}  {} seen in a job: {head}\n", paint(CALM, "   Through"), count(launchers, "host"));
    let cell = |value: &str| {
        let line = safe_line(value);
        if line.chars().count() > WIDTH {
            line.chars().take(WIDTH - 3).chain("...".chars()).collect()
        } else {
            line
        }
    };
    let cells: Vec<[String; 3]> =
        rows.keys().map(|row| [cell(&row.what), cell(&row.login), cell(&row.job)]).collect();
    let width =
        |at: usize| cells.iter().filter_map(|row| Some(row.get(at)?.chars().count())).max().unwrap_or(0);
    let (what, login, job) = (width(0), width(1), width(2));
    for ((difference, hosts), [one, two, three]) in rows.iter().zip(&cells) {
        let check = difference.check.as_deref();
        let mark = paint(if check.is_some() { BAD } else { DIM }, &format!("{three:job$}"));
        let hosts = paint(DIM, &fold(hosts));
        let check = check.map_or("meant to be", |check| check);
        put!(text, "            {one:what$}  {two:login$}  {mark}  {check}  {hosts}\n");
    }
    if !verbose && meant > 0 {
        put!(
            text,
            "            {}\n",
            paint(DIM, "what is meant to differ, such as the cgroup: -v or --json")
        );
    }
}
