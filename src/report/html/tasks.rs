//! Tasks on the page: what they did or would do.

use indexmap::IndexMap;
use serde_json::{Value as Json, json};

use super::budget::{Budget, LINE};
use crate::events::Record;
use crate::events::{ChangeView, Outcome, PlannedVerdict, TaskRef};
use crate::report::fold::fold;
use crate::report::style::safe;
use crate::report::wording::summary;
use crate::words::count;

/// Groups of hosts with changes that are shown of one task.
const GROUPS: usize = 12;

/// Result of a task on some hosts: what it did or would do.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Story {
    word: String,
    class: &'static str,
    text: String,
    detail: String,
}

impl Story {
    fn new(word: &str, class: &'static str, text: impl Into<String>, detail: impl Into<String>) -> Self {
        Self { word: word.to_owned(), class, text: text.into(), detail: detail.into() }
    }

    fn blocked(reason: &str) -> Self {
        Self::new("blocked", "unknown", reason, "")
    }

    /// Whether it went wrong or could not be done.
    fn is_bad(&self) -> bool {
        self.class == "fail" || self.word == "blocked"
    }

    fn planned(verdict: &PlannedVerdict) -> Option<Self> {
        Some(match verdict {
            PlannedVerdict::Changes(changes) => {
                Self::new("differs", "warn", summary(changes), diffs(changes))
            }
            PlannedVerdict::Runs(changes) => Self::new("runs", "skip", summary(changes), diffs(changes)),
            PlannedVerdict::Blocked(reason) => Self::blocked(reason),
            PlannedVerdict::KnownAfter(task) => {
                Self::new("not known yet", "unknown", format!("known after task \"{task}\""), "")
            }
            PlannedVerdict::Failed(failure) => {
                Self::new("cannot be planned", "fail", &failure.message, &failure.output)
            }
            PlannedVerdict::Unchanged | PlannedVerdict::Skipped(_) => return None,
        })
    }

    fn ended(outcome: &Outcome) -> Option<Self> {
        Some(match outcome {
            Outcome::Changed { changes, .. } => {
                Self::new("changed", "pass", summary(changes), diffs(changes))
            }
            Outcome::Ran { changes, .. } => Self::new("ran", "skip", summary(changes), diffs(changes)),
            Outcome::Failed(failure) => Self::new("failed", "fail", &failure.message, &failure.output),
            // Why something is blocked is a story of its own.
            Outcome::Unchanged | Outcome::Skipped(_) | Outcome::Blocked(_) => return None,
        })
    }
}

fn diffs(changes: &[ChangeView]) -> String {
    changes
        .iter()
        .map(|change| change.diff.as_str())
        .filter(|diff| !diff.is_empty())
        .collect::<Vec<_>>()
        .join("\n")
}

/// A task and what became of it, by hosts.
type Stories<'a> = IndexMap<(&'a str, Option<usize>), (&'a str, &'a str, IndexMap<Story, Vec<&'a str>>)>;

/// Tasks that failed or were blocked, of which nothing is left out; and what tasks would change, or did.
pub(super) fn tasks(record: &Record, budget: &mut Budget) -> (Vec<Json>, Vec<Json>) {
    let mut tasks: Stories<'_> = IndexMap::new();
    for (name, host) in &record.hosts {
        let planned = host.plan.iter().flat_map(|planned| {
            let stories = [Story::planned(&planned.verdict), planned.blocked.as_deref().map(Story::blocked)];
            stories.map(|story| (&planned.task, story))
        });
        let ended = host.tasks.iter().flat_map(|ended| {
            let stories = [Story::ended(&ended.outcome), ended.outcome.blocked().map(Story::blocked)];
            stories.map(|story| (&*ended.task, story))
        });
        // What was carried out tells more than that it was planned; what was not, tells the same again.
        let is_planned = |task: &TaskRef| host.plan.iter().any(|planned| planned.task == *task);
        let stories: Vec<_> = if record.command == "apply" {
            ended.collect()
        } else {
            planned.chain(ended.filter(|(task, story)| story.is_some() && !is_planned(task))).collect()
        };
        for (task, story) in stories {
            let Some(story) = story else { continue };
            let (.., stories) = tasks
                .entry((&task.id, task.item))
                .or_insert_with(|| (&task.name, &task.resource, IndexMap::new()));
            stories.entry(story).or_default().push(name);
        }
    }
    let group = |(story, hosts): (&Story, &Vec<&str>), budget: &mut Budget| {
        json!({
            "word": story.word,
            "class": story.class,
            "text": if story.is_bad() { budget.keep(&story.text, LINE) } else { budget.take(&story.text, LINE) },
            "detail": budget.take(&story.detail, 2 * LINE),
            "hosts": safe(&fold(hosts)),
            "count": count(hosts.len() as u64, "host"),
        })
    };
    for (.., stories) in tasks.values_mut() {
        stories.sort_by_key(|story, _| story.class != "fail");
    }
    let mut part = |of: fn(&Story) -> bool, most: usize| -> Vec<Json> {
        let parts = tasks.values().filter_map(|(name, resource, stories)| {
            let these = || stories.iter().filter(|(story, _)| of(story));
            let groups: Vec<Json> = these().take(most).map(|it| group(it, budget)).collect();
            let more = these().count().saturating_sub(most) as u64;
            (!groups.is_empty()).then(|| {
                json!({
                    "name": safe(name),
                    "resource": resource,
                    "class": if these().any(|(story, _)| story.class == "fail") { "fail" } else { "" },
                    "groups": groups,
                    "more": (more > 0).then(|| count(more, "other change")),
                })
            })
        });
        parts.collect()
    };
    let mut bad = part(Story::is_bad, usize::MAX);
    bad.sort_by_key(|task| task["class"] != "fail");
    (bad, part(|story| !story.is_bad(), GROUPS))
}
