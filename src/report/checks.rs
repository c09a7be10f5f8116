//! Findings of `verify` on stdout: one line per finding with its hosts folded, then the hint.

use indexmap::IndexMap;

use super::findings::{Finding, findings};
use super::fold::fold;
use super::rows::hanging;
use super::style::{BAD, CALM, CHANGE, DIM, GOOD, HINT, VERB, paint, safe, safe_line};
use crate::checks;
use crate::events::{CheckCounts, CheckResult, CheckStatus, HostRecord, Record};
use crate::exit;
use crate::put;
use crate::transport::quote;
use crate::words::count;

/// Most different texts of one check that are shown.
const VARIANTS: usize = 3;

/// Columns before the text of a line.
const INDENT: usize = VERB + 2;

/// The findings as text, for a terminal this wide.
pub fn text(record: &Record, verbose: bool, width: Option<usize>) -> String {
    let mut text = String::new();
    for finding in findings(record) {
        lines(&mut text, &finding, width);
        if let Some(hint) = finding.hint {
            let hint =
                paint(HINT, &format!("hint: {}", safe_line(&filled(hint, &finding, &record.inventory))));
            put!(text, "{}\n", hanging(&format!("            {hint}"), INDENT + 6, width));
        }
        if verbose && let Some(variant) = finding.variants.first() {
            for evidence in &variant.example.evidence {
                let line = safe(&evidence.line).replace('\n', "\n              ");
                put!(text, "            {}\n", paint(DIM, &format!("{}: {line}", safe_line(&evidence.from))));
            }
        }
    }
    acknowledged(&mut text, record, width);
    if verbose {
        passed(&mut text, record, width);
        skipped(&mut text, record, width);
    }
    super::differences::put(&mut text, record, verbose);
    summary(&mut text, record, verbose, width);
    text
}

/// The hint with the names of this run in its command: the inventory, and of each group of hosts all but the first.
fn filled(hint: &str, finding: &Finding<'_>, inventory: &str) -> String {
    let others: Vec<&str> =
        finding.variants.iter().flat_map(|variant| variant.hosts.iter().skip(1)).copied().collect();
    let hosts = format!("--hosts {}", quote(&fold(&others)));
    hint.replace("--hosts HOSTS", &hosts).replace("exec INVENTORY", &format!("exec {}", quote(inventory)))
}

/// A few ids by name, many by number.
fn checks_of(ids: &[&str]) -> String {
    if ids.len() <= 3 { ids.join(", ") } else { format!("{} checks", ids.len()) }
}

fn lines(text: &mut String, finding: &Finding<'_>, width: Option<usize>) {
    let ids = checks_of(&finding.checks);
    let why = finding.because.map(|id| format!(" (see {id})")).unwrap_or_default();
    // The place of "1 other text" has room for that text.
    let most = if finding.variants.len() == VARIANTS + 1 { VARIANTS + 1 } else { VARIANTS };
    for variant in finding.variants.iter().take(most) {
        let message = format!("{}{why}", variant.message);
        line(text, finding.status, &ids, &fold(&variant.hosts), &message, width);
    }
    let rest = finding.variants.get(most..).unwrap_or_default();
    let hosts: Vec<&str> = rest.iter().flat_map(|variant| variant.hosts.iter().copied()).collect();
    if !hosts.is_empty() {
        let other = count(rest.len() as u64, "other text");
        let message = format!("{other}, see --json or --html");
        line(text, finding.status, &ids, &fold(&hosts), &message, width);
    }
}

/// Prints the checks that passed, with their messages: a line for each check, or for each of a few texts of
/// it.
fn passed(text: &mut String, record: &Record, width: Option<usize>) {
    let mut each: IndexMap<&str, IndexMap<&str, Vec<&str>>> = IndexMap::new();
    for (name, host) in &record.hosts {
        for check in host.checks.iter().filter(|check| check.status == CheckStatus::Pass) {
            each.entry(&check.check).or_default().entry(&check.message).or_default().push(name);
        }
    }
    for (check, messages) in each {
        if messages.len() > VARIANTS {
            let hosts: Vec<&str> = messages.values().flatten().copied().collect();
            let message = format!("{}, see --json or --html", count(messages.len() as u64, "text"));
            line(text, CheckStatus::Pass, check, &fold(&hosts), &message, width);
            continue;
        }
        for (message, hosts) in messages {
            line(text, CheckStatus::Pass, check, &fold(&hosts), message, width);
        }
    }
}

/// Prints findings that somebody knows of: they are in every report, whatever is quiet.
fn acknowledged(text: &mut String, record: &Record, width: Option<usize>) {
    for (known, check, hosts) in super::findings::acknowledged(record) {
        let line = format!(
            "{}  {check}  {}  {}, until {}: {} ({})",
            paint(CALM, &format!("{:>10}", "known")),
            paint(DIM, &fold(&hosts)),
            safe_line(&known.message),
            safe_line(&known.until),
            safe_line(&known.because),
            safe_line(&known.by),
        );
        put!(text, "{}\n", hanging(&line, INDENT, width));
    }
}

/// Prints the reasons for skipped checks: each with the checks and hosts that it holds for.
fn skipped(text: &mut String, record: &Record, width: Option<usize>) {
    let mut each: IndexMap<(&str, &str), Vec<&str>> = IndexMap::new();
    for (name, host) in &record.hosts {
        for check in host.checks.iter().filter(|check| is_skipped(check)) {
            each.entry((&check.message, &check.check)).or_default().push(name);
        }
    }
    let mut reasons: IndexMap<(&str, String), Vec<&str>> = IndexMap::new();
    for ((message, check), hosts) in each {
        reasons.entry((message, fold(&hosts))).or_default().push(check);
    }
    for ((message, hosts), checks) in reasons {
        line(text, CheckStatus::Skip, &checks.join(", "), &hosts, message, width);
    }
}

/// Whether it does not apply: what is quiet has a line of its own.
fn is_skipped(check: &CheckResult) -> bool {
    check.status == CheckStatus::Skip && check.acknowledged.is_none()
}

fn line(text: &mut String, status: CheckStatus, id: &str, hosts: &str, message: &str, width: Option<usize>) {
    let style = match status {
        CheckStatus::Fail => BAD,
        CheckStatus::Unknown | CheckStatus::Warn => CHANGE,
        CheckStatus::Skip | CheckStatus::Pass => GOOD,
    };
    let word = paint(style, &format!("{:>10}", status.word()));
    let line = format!("{word}  {id}  {}  {}", paint(DIM, hosts), safe_line(message));
    put!(text, "{}\n", hanging(&line, INDENT, width));
}

/// Hosts that are well and that Slurm gives no job all the same.
fn without_jobs(record: &Record) -> String {
    let away = |host: &HostRecord| {
        host.checks.iter().any(|check| {
            check.check == checks::NODE && matches!(check.status, CheckStatus::Warn | CheckStatus::Fail)
        })
    };
    let hosts: Vec<&str> =
        record.hosts.iter().filter(|(_, host)| away(host)).map(|(name, _)| name.as_str()).collect();
    if hosts.is_empty() { String::new() } else { format!("; Slurm gives no job to {}", fold(&hosts)) }
}

fn summary(text: &mut String, record: &Record, verbose: bool, width: Option<usize>) {
    let stats = record.stats.clone().unwrap_or_default();
    // Of the hosts that are shown, which may be fewer than the run had.
    let mut shown = CheckCounts::default();
    record.hosts.values().flat_map(|host| &host.checks).for_each(|check| shown.count(check.status));
    let checked = record.hosts.values().filter(|host| !host.checks.is_empty()).count() as u64;
    if !shown.is_empty() {
        let line = format!(
            "{}  {}: {} pass, {} warn, {} fail, {} unknown, {} skipped{}",
            paint(if shown.fail + shown.unknown == 0 { GOOD } else { BAD }, "   Checked"),
            count(checked, "host"),
            shown.pass,
            shown.warn,
            shown.fail,
            shown.unknown,
            shown.skip,
            if verbose || shown.skip == 0 { "" } else { " (-v says why)" },
        );
        put!(text, "{}\n", hanging(&line, INDENT, width));
    }
    let counts = &stats.checks;
    let code = record.exit_code.unwrap_or_default();
    if code == exit::OK {
        let line =
            format!("{}  {}{}", paint(GOOD, "  Verified"), count(stats.ok, "host"), without_jobs(record));
        put!(text, "{}\n", hanging(&line, INDENT, width));
        return;
    }
    let parts = [
        (stats.pending, "task", "to change"),
        (counts.fail, "check", "failed"),
        (counts.unknown, "check", "without an answer"),
        (stats.tasks.blocked, "task", "blocked"),
        (stats.failed, "host", "failed"),
        (stats.unreachable, "host", "not reached"),
        (stats.not_started, "host", "not finished"),
    ];
    let mut words: Vec<String> = parts
        .into_iter()
        .filter(|(number, ..)| *number > 0)
        .map(|(number, noun, rest)| format!("{} {rest}", count(number, noun)))
        .collect();
    words.push(format!("exit code {code}"));
    let line = format!("{}  {}", paint(BAD, "Unverified"), words.join(", "));
    put!(text, "{}\n", hanging(&line, INDENT, width));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::events::RunStats;

    #[test]
    fn the_last_line_names_nodes_without_jobs() {
        let host = |status: CheckStatus, message: &str| HostRecord {
            checks: vec![CheckResult {
                check: checks::NODE.to_owned(),
                status,
                message: message.to_owned(),
                evidence: Vec::new(),
                hint: None,
                because: None,
                acknowledged: None,
            }],
            ..HostRecord::default()
        };
        let mut record = Record::default();
        record.exit_code = Some(exit::OK);
        record.stats = Some(RunStats { ok: 3, ..RunStats::default() });
        let last = |record: &Record| text(record, false, None).lines().last().unwrap_or_default().to_owned();
        record.hosts.insert("w1".to_owned(), host(CheckStatus::Pass, "idle"));
        assert!(last(&record).ends_with("  3 hosts"), "{}", last(&record));
        for name in ["w2", "w3"] {
            record.hosts.insert(name.to_owned(), host(CheckStatus::Warn, "drained: bad cable"));
        }
        let line = last(&record);
        assert!(line.ends_with("  3 hosts; Slurm gives no job to w[2-3]"), "{line}");
    }
}
