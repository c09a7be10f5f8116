//! What `verify` found, on stdout: one line per finding with its hosts folded, then the hint.

use super::findings::{Finding, findings};
use super::fold::fold;
use super::style::{BAD, CHANGE, DIM, GOOD, HINT, paint, safe, safe_line};
use crate::events::{CheckStatus, Record};
use crate::exit;
use crate::put;
use crate::words::count;

/// Most different texts of one check that are shown.
const VARIANTS: usize = 3;

/// The findings as text.
pub fn text(record: &Record, verbose: bool) -> String {
    let mut text = String::new();
    for finding in findings(record) {
        lines(&mut text, &finding);
        if let Some(hint) = finding.hint {
            put!(text, "            {}\n", paint(HINT, &format!("hint: {}", safe_line(hint))));
        }
        if verbose && let Some(variant) = finding.variants.first() {
            for evidence in &variant.example.evidence {
                let line = safe(&evidence.line).replace('\n', "\n              ");
                put!(text, "            {}\n", paint(DIM, &format!("{}: {line}", safe_line(&evidence.from))));
            }
        }
    }
    super::seen::put(&mut text, record, verbose);
    summary(&mut text, record);
    text
}

/// A few ids by name, many by number.
fn checks_of(ids: &[&str]) -> String {
    if ids.len() <= 3 { ids.join(", ") } else { format!("{} checks", ids.len()) }
}

fn lines(text: &mut String, finding: &Finding<'_>) {
    let ids = checks_of(&finding.checks);
    let why = finding.because.map(|id| format!(" (see {id})")).unwrap_or_default();
    // The place of "1 other text" has room for that text.
    let most = if finding.variants.len() == VARIANTS + 1 { VARIANTS + 1 } else { VARIANTS };
    for variant in finding.variants.iter().take(most) {
        line(text, finding.status, &ids, &fold(&variant.hosts), &format!("{}{why}", variant.message));
    }
    let rest = finding.variants.get(most..).unwrap_or_default();
    let hosts: Vec<&str> = rest.iter().flat_map(|variant| variant.hosts.iter().copied()).collect();
    if !hosts.is_empty() {
        let other = count(rest.len() as u64, "other text");
        line(text, finding.status, &ids, &fold(&hosts), &format!("{other}, see --json or --html"));
    }
}

fn line(text: &mut String, status: CheckStatus, id: &str, hosts: &str, message: &str) {
    let style = match status {
        CheckStatus::Fail => BAD,
        CheckStatus::Unknown | CheckStatus::Warn => CHANGE,
        CheckStatus::Skip | CheckStatus::Pass => GOOD,
    };
    let word = paint(style, &format!("{:>10}", status.word()));
    put!(text, "{word}  {id}  {}  {}\n", paint(DIM, hosts), safe_line(message));
}

fn summary(text: &mut String, record: &Record) {
    let stats = record.stats.clone().unwrap_or_default();
    let counts = &stats.checks;
    let checked = record.hosts.values().filter(|host| !host.checks.is_empty()).count() as u64;
    if !counts.is_empty() {
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
    let code = record.exit_code.unwrap_or_default();
    if code == exit::OK {
        put!(text, "{}  {}\n", paint(GOOD, "  Verified"), count(stats.ok, "host"));
        return;
    }
    let parts = [
        (stats.pending, "task", "to change"),
        (counts.fail, "check", "failed"),
        (counts.unknown, "check", "without an answer"),
        (stats.tasks.blocked, "task", "blocked"),
        (stats.failed, "host", "failed"),
        (stats.unreachable, "host", "not reached"),
        (stats.not_started, "host", "not started"),
    ];
    let mut words: Vec<String> = parts
        .into_iter()
        .filter(|(number, ..)| *number > 0)
        .map(|(number, noun, rest)| format!("{} {rest}", count(number, noun)))
        .collect();
    words.push(format!("exit code {code}"));
    put!(text, "{}  {}\n", paint(BAD, "Unverified"), words.join(", "));
}
