//! The answer of `provision compare`: what separates the hosts that fail from the others, the best first.

use super::rows::hanging;
use super::style::{BAD, CALM, DIM, GOOD, HINT, paint, safe_line};
use crate::compare::{Answer, Cluster, Finding, Value};
use crate::hostlist::fold;
use crate::put;
use crate::words::count;

/// Findings that are shown without `--all`.
const SHOWN: usize = 10;
/// Findings of a cluster that are shown without `--all`.
const OF_CLUSTER: usize = 4;
/// Values of one side that are shown.
const VALUES: usize = 3;
/// Characters of a value that are shown without `--all`.
const VALUE: usize = 100;

/// The answer as a page for a terminal this wide; all of it, or the first of each part.
pub fn text(answer: &Answer, width: Option<usize>, all: bool) -> String {
    let mut page = Page { text: String::new(), width, all };
    page.head(answer);
    let most = if all { usize::MAX } else { SHOWN };
    for (number, finding) in answer.findings.iter().take(most).enumerate() {
        page.gap();
        page.finding(&format!("{}. ", number + 1), finding, ("bad", "good"));
    }
    if answer.findings.len() > most {
        page.gap();
        page.put(0, &paint(DIM, &format!("and {} more: --all", answer.findings.len() - most)));
    }
    for cluster in &answer.clusters {
        page.cluster(cluster);
    }
    page.foot(answer);
    page.text
}

struct Page {
    text: String,
    width: Option<usize>,
    all: bool,
}

impl Page {
    fn put(&mut self, indent: usize, line: &str) {
        let line = " ".repeat(indent) + line;
        put!(self.text, "{}\n", hanging(&line, indent + 4, self.width));
    }

    fn gap(&mut self) {
        self.text.push('\n');
    }

    fn head(&mut self, answer: &Answer) {
        let things = format!(
            "{} compared, {} differ somewhere",
            count(answer.compared as u64, "thing"),
            answer.differ
        );
        let names = |hosts: &[String]| fold(hosts.iter().map(String::as_str));
        if answer.bad.is_empty() {
            self.put(0, &safe_line(&format!("{}: {things}.", names(&answer.good))));
            if answer.clusters.is_empty() {
                self.put(0, &paint(GOOD, "No host differs from most others in anything that matters."));
            }
            return;
        }
        self.put(
            0,
            &safe_line(&format!("Bad {}, good {}: {things}.", names(&answer.bad), names(&answer.good))),
        );
        if answer.findings.is_empty() {
            self.put(0, &paint(GOOD, "Nothing separates the two groups."));
        }
    }

    fn finding(&mut self, number: &str, finding: &Finding, (bad, good): (&str, &str)) {
        let name = format!("{} {}", finding.kind.name(), finding.key);
        let partly =
            if finding.separation < 0.995 { format!(" ({})", shares(finding)) } else { String::new() };
        self.put(0, &format!("{number}{}{partly}", paint(BAD, &safe_line(&name))));
        self.side(bad, &finding.bad);
        self.side(good, &finding.good);
        if !finding.more.is_empty() {
            let most = if self.all { usize::MAX } else { VALUES };
            let shown: Vec<&str> = finding.more.iter().take(most).map(String::as_str).collect();
            let rest = match finding.more.len().saturating_sub(shown.len()) {
                0 => String::new(),
                rest => format!(" and {rest} more"),
            };
            self.put(4, &safe_line(&format!("so do {}{rest}", shown.join(", "))));
        }
        if !finding.playbook.is_empty() {
            self.put(4, &paint(HINT, &format!("set by the playbook {}", finding.playbook)));
        }
    }

    fn side(&mut self, name: &str, values: &[Value]) {
        let most = if self.all { usize::MAX } else { VALUES };
        for value in values.iter().take(most) {
            let shown = match &value.value {
                None => "not there".to_owned(),
                Some(text) if text.is_empty() => "empty".to_owned(),
                Some(text) if !self.all && text.chars().count() > VALUE => {
                    text.chars().take(VALUE).collect::<String>() + "..."
                }
                Some(text) => text.clone(),
            };
            let hosts = fold(value.hosts.iter().map(String::as_str));
            self.put(
                4,
                &format!(
                    "{} {}  {}",
                    paint(CALM, &format!("{name:<4}")),
                    safe_line(&shown),
                    paint(DIM, &safe_line(&hosts))
                ),
            );
        }
        if let Some(rest) = values.len().checked_sub(most).filter(|rest| *rest > 0) {
            self.put(4, &paint(DIM, &format!("{name:<4} and {} more", count(rest as u64, "value"))));
        }
    }

    fn cluster(&mut self, cluster: &Cluster) {
        self.gap();
        let names = fold(cluster.hosts.iter().map(String::as_str));
        let things = count(cluster.findings.len() as u64, "thing");
        let verb = if cluster.hosts.len() == 1 { "differs" } else { "differ" };
        self.put(0, &format!("{} {verb} from the others in {things}:", paint(BAD, &safe_line(&names))));
        let most = if self.all { usize::MAX } else { OF_CLUSTER };
        for finding in cluster.findings.iter().take(most) {
            self.finding("  ", finding, ("here", "else"));
        }
        if let Some(rest) = cluster.findings.len().checked_sub(most).filter(|rest| *rest > 0) {
            self.put(2, &paint(DIM, &format!("and {rest} more: --all")));
        }
    }

    fn foot(&mut self, answer: &Answer) {
        if !answer.unread.is_empty() || !answer.left_out.is_empty() {
            self.gap();
        }
        for unread in &answer.unread {
            self.put(
                0,
                &safe_line(&format!(
                    "not compared on {}: {} ({})",
                    unread.hosts,
                    unread.kind.name(),
                    unread.reason
                )),
            );
        }
        for (host, reason) in &answer.left_out {
            self.put(0, &paint(BAD, &safe_line(&format!("{host} was not looked at: {reason}"))));
        }
    }
}

/// On how many hosts of each side it is not as most good ones have it.
fn shares(finding: &Finding) -> String {
    let usual = finding.good.first().map(|value| &value.value);
    let hosts = |values: &[Value], odd: bool| -> usize {
        values.iter().filter(|value| !odd || Some(&value.value) != usual).map(|value| value.hosts.len()).sum()
    };
    let side = |values: &[Value]| format!("{} of {}", hosts(values, true), hosts(values, false));
    format!("other on {} bad and {} good hosts", side(&finding.bad), side(&finding.good))
}
