//! Hosts by checks, as the script of the page takes it: every text and result once.

use indexmap::{IndexMap, IndexSet};
use serde_json::{Value as Json, json};

use super::budget::{Budget, LEFT_OUT};
use crate::checks;
use crate::events::{CheckResult, CheckStatus, HostStatus, Record};
use crate::report::fold::fold;
use crate::report::style::safe;

/// Bytes of all different texts together.
const TEXT: usize = 1_600_000;
/// Lines of evidence of all different results together.
const EVIDENCE: usize = 30_000;
/// Bytes of one text.
const LINE: usize = 1000;

/// Data that the page needs.
#[derive(Debug)]
pub(super) struct Matrix {
    /// Rows after folding; none when nothing was checked.
    pub(super) rows: usize,
    /// JSON that may stand inside of a script element.
    pub(super) json: String,
}

/// Texts by number; number 0 stands for what would not fit.
struct Texts {
    all: IndexMap<String, String>,
    budget: Budget,
    evidence: usize,
}

impl Texts {
    fn new() -> Self {
        let first = IndexMap::from([(LEFT_OUT.to_owned(), LEFT_OUT.to_owned())]);
        Self { all: first, budget: Budget(TEXT), evidence: EVIDENCE }
    }

    fn number(&mut self, text: &str) -> usize {
        if let Some(at) = self.all.get_index_of(text) {
            return at;
        }
        match self.budget.try_take(text, LINE) {
            Some(shown) => self.all.insert_full(text.to_owned(), shown).0,
            None => 0,
        }
    }

    /// Origin and line by turns.
    fn evidence(&mut self, result: &CheckResult) -> Vec<usize> {
        let mut numbers = Vec::new();
        for seen in &result.evidence {
            let Some(left) = self.evidence.checked_sub(1) else { break };
            self.evidence = left;
            numbers.extend([self.number(&seen.from), self.number(&seen.line)]);
        }
        numbers
    }
}

/// A cell as rows are told apart by: column, status and, where it is a finding, its text.
type Cell<'a> = (usize, u8, &'a str);

/// The matrix of a run.
pub(super) fn data(record: &Record) -> Matrix {
    let columns = columns(record);
    let mut texts = Texts::new();
    let mut results: IndexSet<&CheckResult> = IndexSet::new();
    let mut hosts = Vec::new();
    let mut rows: IndexMap<Vec<Cell<'_>>, Vec<usize>> = IndexMap::new();
    for (at, (name, host)) in record.hosts.iter().enumerate() {
        let mut cells: Vec<(usize, &CheckResult)> = host
            .checks
            .iter()
            .filter_map(|result| Some((columns.get_index_of(result.check.as_str())?, result)))
            .collect();
        cells.sort_by_key(|(column, _)| *column);
        let numbers: Vec<usize> = cells.iter().map(|(_, result)| results.insert_full(result).0).collect();
        let word = host.status.as_ref().map_or("did not end", HostStatus::word);
        hosts.push(json!([safe(name), word.replace('_', " "), numbers]));
        let key = cells.iter().map(|(column, result)| {
            (
                *column,
                number(result.status),
                if result.status.is_finding() { result.message.as_str() } else { "" },
            )
        });
        rows.entry(key.collect()).or_default().push(at);
    }
    let names: Vec<&String> = record.hosts.keys().collect();
    let mut rows: Vec<(Vec<Cell<'_>>, Vec<usize>)> = rows.into_iter().collect();
    rows.sort_by_cached_key(|(cells, hosts)| {
        let with = |status: u8| std::cmp::Reverse(cells.iter().filter(|(_, it, _)| *it == status).count());
        // Nothing known is worst, then what fails.
        (!cells.is_empty(), with(0), with(1), with(2), hosts.first().copied())
    });
    let row = |(_, hosts): &(Vec<Cell<'_>>, Vec<usize>)| {
        let hosts_of: Vec<&String> = hosts.iter().filter_map(|at| names.get(*at).copied()).collect();
        json!([safe(&fold(&hosts_of)), hosts])
    };
    let results: Vec<Json> = results
        .iter()
        .map(|result| {
            let evidence = if result.status.is_finding() { texts.evidence(result) } else { Vec::new() };
            json!([
                columns.get_index_of(result.check.as_str()),
                number(result.status),
                texts.number(&result.message),
                evidence,
                result.hint.as_ref().map(|hint| texts.number(hint)),
                result.because.as_deref().and_then(|id| columns.get_index_of(id)),
            ])
        })
        .collect();
    let object = json!({
        "checks": columns.iter().map(|id| column(id)).collect::<Vec<_>>(),
        "texts": texts.all.values().collect::<Vec<_>>(),
        "results": results,
        "hosts": hosts,
        "rows": rows.iter().map(row).collect::<Vec<_>>(),
    });
    // Nothing in it may end the element or begin a comment.
    let json = object.to_string().replace('<', "\\u003c").replace('>', "\\u003e").replace('&', "\\u0026");
    Matrix { rows: if columns.is_empty() { 0 } else { rows.len() }, json }
}

/// The checks that were made, in the order of the catalogue, others behind.
fn columns(record: &Record) -> IndexSet<&str> {
    let made: IndexSet<&str> = record
        .hosts
        .values()
        .flat_map(|host| host.checks.iter().map(|result| result.check.as_str()))
        .collect();
    let known = checks::TABLE.iter().map(|check| check.id).filter(|id| made.contains(id));
    known.chain(made.iter().copied()).collect()
}

fn column(id: &str) -> Json {
    match checks::find(id) {
        Some(check) => json!([id, check.title, check.expects, check.why]),
        None => json!([id, "", "", ""]),
    }
}

/// The number of a status in the page's data; the script and the style know it.
fn number(status: CheckStatus) -> u8 {
    match status {
        CheckStatus::Fail => 0,
        CheckStatus::Unknown => 1,
        CheckStatus::Warn => 2,
        CheckStatus::Skip => 3,
        CheckStatus::Pass => 4,
    }
}
