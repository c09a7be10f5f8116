//! What `verify` found, on stdout: one line per finding with its hosts folded, then the hint.

use indexmap::IndexMap;

use super::fold::fold;
use super::record::Record;
use super::style::{BAD, CHANGE, DIM, GOOD, HINT, count, paint, safe};
use crate::events::{CheckResult, CheckStatus};
use crate::put;

/// Most different texts of one check that are shown.
const VARIANTS: usize = 3;

/// The hosts that say the same.
type ByMessage<'a> = IndexMap<&'a str, Vec<&'a str>>;

/// A check and its hint.
type Key<'a> = (&'a str, Option<&'a str>);

/// What cannot be told for one reason.
#[derive(Default)]
struct Untold<'a> {
    hosts: Vec<&'a str>,
    checks: Vec<&'a str>,
}

/// The findings as text.
pub fn text(record: &Record, verbose: bool) -> String {
    let mut text = String::new();
    for status in [CheckStatus::Fail, CheckStatus::Unknown, CheckStatus::Warn] {
        let mut checks: IndexMap<Key<'_>, (ByMessage<'_>, &CheckResult)> = IndexMap::new();
        let mut untold: IndexMap<Key<'_>, Untold<'_>> = IndexMap::new();
        for (host, entry) in &record.hosts {
            for result in entry.checks.iter().filter(|result| result.status == status) {
                if status == CheckStatus::Unknown {
                    // One cause, many checks: one line.
                    let key = (result.message.as_str(), result.because.as_deref());
                    let Untold { hosts, checks } = untold.entry(key).or_default();
                    if hosts.last() != Some(&host.as_str()) {
                        hosts.push(host);
                    }
                    if !checks.contains(&result.check.as_str()) {
                        checks.push(&result.check);
                    }
                    continue;
                }
                let key = (result.check.as_str(), result.hint.as_deref());
                let (messages, _) = checks.entry(key).or_insert_with(|| (ByMessage::new(), result));
                messages.entry(&result.message).or_default().push(host);
            }
        }
        for ((id, hint), (messages, example)) in &checks {
            finding(&mut text, status, id, messages);
            if let Some(hint) = hint {
                put!(text, "            {}\n", paint(HINT, &format!("hint: {}", safe(hint))));
            }
            if verbose {
                for evidence in &example.evidence {
                    let line = safe(&evidence.line).replace('\n', "\n              ");
                    put!(text, "            {}\n", paint(DIM, &format!("{}: {line}", safe(&evidence.from))));
                }
            }
        }
        for ((message, because), Untold { hosts, checks }) in &untold {
            let why = because.map(|id| format!(" (see {id})")).unwrap_or_default();
            line(&mut text, status, &checks_of(checks), &fold(hosts), &format!("{message}{why}"));
        }
    }
    summary(&mut text, record);
    text
}

/// A few ids by name, many by number.
fn checks_of(ids: &[&str]) -> String {
    if ids.len() <= 3 { ids.join(", ") } else { format!("{} checks", ids.len()) }
}

fn finding(text: &mut String, status: CheckStatus, id: &str, messages: &ByMessage<'_>) {
    let mut sorted: Vec<(&&str, &Vec<&str>)> = messages.iter().collect();
    sorted.sort_by_key(|(_, hosts)| std::cmp::Reverse(hosts.len()));
    for (message, hosts) in sorted.iter().take(VARIANTS) {
        line(text, status, id, &fold(hosts), message);
    }
    let rest: Vec<&str> = sorted.iter().skip(VARIANTS).flat_map(|(_, hosts)| hosts.iter().copied()).collect();
    if !rest.is_empty() {
        let other = count((sorted.len() - VARIANTS) as u64, "other text");
        line(text, status, id, &fold(&rest), &format!("{other}, see --json or --html"));
    }
}

fn line(text: &mut String, status: CheckStatus, id: &str, hosts: &str, message: &str) {
    let style = match status {
        CheckStatus::Fail => BAD,
        CheckStatus::Unknown | CheckStatus::Warn => CHANGE,
        CheckStatus::Skip | CheckStatus::Pass => GOOD,
    };
    let word = paint(style, &format!("{:>10}", status.word()));
    put!(text, "{word}  {id}  {}  {}\n", paint(DIM, hosts), safe(message));
}

fn summary(text: &mut String, record: &Record) {
    let counts = record.stats.clone().unwrap_or_default().checks;
    let checked = record.hosts.values().filter(|host| !host.checks.is_empty()).count() as u64;
    if counts.is_empty() {
        return;
    }
    put!(
        text,
        "{}  {}: {} pass, {} warn, {} fail, {} unknown, {} skipped\n",
        paint(if counts.fail + counts.unknown == 0 { GOOD } else { BAD }, "   Checked"),
        count(checked, "host"),
        counts.pass,
        counts.warn,
        counts.fail,
        counts.unknown,
        counts.skip,
    );
}
