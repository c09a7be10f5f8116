//! Messages of the watch: one for all changes, with one line for all hosts of which the same is true.

use indexmap::IndexMap;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::events::CheckStatus;
use crate::hostlist;
use crate::words::count;

/// Most lines of a message; the others are counted.
const MOST: usize = 200;

/// Kind of change of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChangeKind {
    /// It was not there.
    New,
    /// It was there and is worse now.
    Worse,
    /// It is not there any more.
    Recovered,
}

/// A change of one host that is to be told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// Kind of change.
    pub kind: ChangeKind,
    /// The host; empty for the round itself.
    pub host: String,
    /// The check, or the task that is not as it should be.
    pub what: String,
    /// Severity, or the last one where it has recovered.
    pub status: CheckStatus,
    /// Description of the finding.
    pub message: String,
    /// Advice about the finding.
    pub hint: Option<String>,
    /// Number of times that it came back within a day.
    pub returns: u32,
}

/// The same change of some hosts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Line {
    /// Kind of change.
    pub change: ChangeKind,
    /// Severity, or the last one where it has recovered.
    pub status: CheckStatus,
    /// The check, or the task that is not as it should be.
    pub what: String,
    /// The hosts, folded; empty for the watch itself.
    pub hosts: String,
    /// Number of hosts.
    pub number: usize,
    /// Description of the finding on the first of them.
    pub message: String,
    /// Number of other texts.
    pub others: usize,
    /// Advice about the finding.
    pub hint: Option<String>,
    /// Number of times that it came back within a day.
    pub returns: u32,
}

/// One message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message {
    /// By this a receiver knows a message that comes twice.
    pub id: String,
    /// The cluster.
    pub cluster: String,
    /// When it was found.
    pub at: Timestamp,
    /// One line that says it all.
    pub title: String,
    /// Lines about the changes.
    pub changes: Vec<Line>,
    /// Last line: where to look further.
    pub footer: String,
}

impl Message {
    /// The message that tells these changes.
    pub fn of(cluster: &str, inventory: &str, changes: &[Change], at: Timestamp) -> Self {
        let mut groups: IndexMap<(ChangeKind, CheckStatus, &str), Vec<&Change>> = IndexMap::new();
        for change in changes {
            groups.entry((change.kind, change.status, &change.what)).or_default().push(change);
        }
        let counts =
            [(ChangeKind::New, "new"), (ChangeKind::Worse, "worse"), (ChangeKind::Recovered, "recovered")]
                .map(|(kind, word)| (groups.keys().filter(|group| group.0 == kind).count(), word));
        let counts: Vec<String> = counts
            .into_iter()
            .filter(|(number, _)| *number > 0)
            .map(|(number, word)| format!("{number} {word}"))
            .collect();
        let left = groups.len().saturating_sub(MOST);
        let changes = groups.into_values().take(MOST).filter_map(|changes| Line::of(&changes)).collect();
        let more = if left > 0 { format!("{left} more; ") } else { String::new() };
        Self {
            id: uuid::Uuid::now_v7().to_string(),
            cluster: cluster.to_owned(),
            at,
            title: format!("provision {cluster}: {}", counts.join(", ")),
            changes,
            footer: format!(
                "{more}found {}; all of it: provision verify {inventory}",
                at.strftime("%Y-%m-%d %H:%M UTC")
            ),
        }
    }

    /// A message that only says that messages arrive.
    pub fn test(cluster: &str, at: Timestamp) -> Self {
        Self {
            id: uuid::Uuid::now_v7().to_string(),
            cluster: cluster.to_owned(),
            at,
            title: format!("provision {cluster}: messages of `provision watch` arrive here"),
            changes: Vec::new(),
            footer: format!("sent {}", at.strftime("%Y-%m-%d %H:%M UTC")),
        }
    }

    /// Its lines below the title, as far as they fit into some bytes with the title.
    pub fn lines(&self, most: usize) -> Vec<String> {
        let mut room = most.saturating_sub(self.title.len() + self.footer.len() + 32);
        let mut lines = Vec::new();
        for (at, change) in self.changes.iter().enumerate() {
            let text = change.text();
            if text.len() + 1 > room {
                lines.push(format!("... and {} more", self.changes.len() - at));
                break;
            }
            room -= text.len() + 1;
            lines.push(text);
        }
        lines.push(self.footer.clone());
        lines
    }

    /// All of it as one text.
    pub fn text(&self, most: usize) -> String {
        format!("{}\n{}", self.title, self.lines(most).join("\n"))
    }
}

impl Line {
    fn of(changes: &[&Change]) -> Option<Self> {
        let first = changes.first()?;
        let mut texts: Vec<&str> = changes.iter().map(|change| change.message.as_str()).collect();
        texts.sort_unstable();
        texts.dedup();
        Some(Self {
            change: first.kind,
            status: first.status,
            what: first.what.clone(),
            hosts: hostlist::fold(
                changes.iter().map(|change| change.host.as_str()).filter(|host| !host.is_empty()),
            ),
            number: changes.len(),
            message: first.message.clone(),
            others: texts.len().saturating_sub(1),
            hint: first.hint.clone(),
            returns: changes.iter().map(|change| change.returns).max().unwrap_or(0),
        })
    }

    fn text(&self) -> String {
        let word = match self.change {
            ChangeKind::New => "new",
            ChangeKind::Worse => "worse",
            ChangeKind::Recovered => "recovered",
        };
        let hosts = if self.hosts.is_empty() { String::new() } else { format!(" on {}", self.hosts) };
        if self.change == ChangeKind::Recovered {
            return format!("[{word}] {}{hosts}", self.what);
        }
        let some = |number: u64, text: String| if number > 0 { text } else { String::new() };
        let (others, returns) = (self.others as u64, u64::from(self.returns));
        let others = some(others, format!(" (and {})", count(others, "other text")));
        let again = some(returns, format!(" (came back {} within a day)", count(returns, "time")));
        let hint = self.hint.as_ref().map(|hint| format!("\n    {hint}")).unwrap_or_default();
        format!("[{word} {}] {}{hosts}: {}{others}{again}{hint}", self.status.word(), self.what, self.message)
    }
}
