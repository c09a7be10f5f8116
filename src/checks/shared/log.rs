//! Messages of the kernel's log, as findings of the checks that own their causes.

use std::collections::BTreeMap;

use indexmap::IndexMap;

use super::verdict::{Checked, Verdict, evidence};
use crate::causes::{Counts, Said};
use crate::checks::Subject;
use crate::events::CheckStatus::{Fail, Warn};
use crate::facts::log::Log;
use crate::hostlist;
use crate::words::count;

/// Most lines of evidence, and most pieces of advice that differ.
const EVIDENCE: usize = 8;
const ADVICE: usize = 3;

/// Judges all messages of the log for one check.
pub(in crate::checks) fn judge(check: &str, log: &Log, all: &[Said<'_>], nothing: &str) -> Verdict {
    judge_those(log, all, all.iter().filter(|said| said.cause.check == check), nothing)
}

/// Judges some of the messages. What counts most is told; what counts less is told where nothing else is.
pub(in crate::checks) fn judge_those<'s, 'l: 's>(
    log: &Log,
    all: &[Said<'l>],
    those: impl Iterator<Item = &'s Said<'l>>,
    nothing: &str,
) -> Verdict {
    let mut by_weight: BTreeMap<Counts, Vec<&Said<'l>>> = BTreeMap::new();
    for said in those {
        by_weight.entry(said.counts(all)).or_default().push(said);
    }
    let notes = by_weight.remove(&Counts::Note).map_or(0, |notes| notes.len());
    let Some((counts, worst)) = by_weight.pop_last() else {
        let text = match notes {
            0 => nothing.to_owned(),
            _ => format!("{} that need no action", count(notes as u64, "message")),
        };
        return Verdict::Pass(text);
    };
    // How, of which devices, how often.
    let mut how: IndexMap<String, (Vec<&str>, u64)> = IndexMap::new();
    let mut acts: IndexMap<&str, String> = IndexMap::new();
    for said in &worst {
        let (devices, times) = how.entry(said.says()).or_default();
        *times += 1;
        if !said.device().is_empty() && !devices.contains(&said.device()) {
            devices.push(said.device());
        }
        acts.entry(said.act(all)).or_insert_with(|| said.says());
    }
    let told = how.iter().map(|(says, (devices, times))| match devices.as_slice() {
        [] => format!("{says}: {}", count(*times, "line")),
        devices => format!("{}: {says}", hostlist::fold(devices.iter().copied())),
    });
    let hint = if acts.len() == 1 {
        acts.keys().copied().collect()
    } else {
        let each = acts.iter().take(ADVICE).map(|(act, says)| format!("{says}: {act}"));
        each.collect::<Vec<String>>().join("; ")
    };
    // The first line of each kind before a second of any.
    let mut kinds: Vec<String> = Vec::new();
    let (first, more): (Vec<&&Said<'l>>, Vec<_>) = worst.iter().partition(|said| {
        let is_new = !kinds.contains(&said.says());
        kinds.push(said.says());
        is_new
    });
    let lines = first.into_iter().chain(more).take(EVIDENCE);
    Verdict::Finding {
        message: told.collect::<Vec<String>>().join("; "),
        evidence: lines.map(|said| evidence(log.command.clone(), said.line)).collect(),
        hint: Some(hint),
        severity: Some(if counts == Counts::Fail { Fail } else { Warn }),
    }
}

/// Judges the log for one check, on a host whose kernel is its own.
pub(in crate::checks) fn of_kernel(subject: &Subject<'_>, check: &str) -> Checked {
    subject.has_own_system()?;
    let log = subject.log()?;
    Ok(judge(check, log, &log.said(), "none"))
}
