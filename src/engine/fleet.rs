//! What all hosts of a run know of each other.
//!
//! Tasks about the whole inventory (`hosts_file`, `ssh_mesh`) need facts of other hosts. Those of this
//! run are published at the end of each gather and stage; those of a host that is not reached now are
//! what an earlier run recorded; of a host never seen nothing is known, and such tasks leave what is
//! there of it alone.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde_json::{Map, Value as Json};

use super::context::Context;
use super::session::{Gone, Session, human};
use super::spread::Holders;
use super::stage::{Work, queries};
use super::writers::Writers;
use crate::events::EventKind;
use crate::facts::{Answer, Facts, Query};
use crate::inventory::hostlist::fold;
use crate::journal::FleetRecord;
use crate::project::Fleet;

/// What is known of all hosts so far, and who writes what they share.
#[derive(Debug, Default)]
pub struct SharedFacts {
    gathered: Mutex<Gathered>,
    pub(super) writers: Writers,
    pub(super) holders: Holders,
}

#[derive(Debug, Default)]
struct Gathered {
    /// By host index.
    facts: BTreeMap<usize, Json>,
    /// The same as templates see it, until it changes.
    fleet: Option<Arc<Fleet>>,
    /// Answers by question and name of the host.
    answers: BTreeMap<Query, Arc<BTreeMap<String, Answer>>>,
    /// Hosts of this run.
    seen: BTreeSet<String>,
    /// Ages of what earlier runs recorded.
    recorded: BTreeMap<String, Duration>,
    /// What was said about hosts that are away.
    told: BTreeSet<String>,
}

impl SharedFacts {
    /// Begins with what earlier runs recorded; `index` tells the place of a host in the inventory.
    pub fn recorded(record: &FleetRecord, now: i64, index: impl Fn(&str) -> Option<usize>) -> Self {
        let mut gathered = Gathered::default();
        for (host, entry) in &record.hosts {
            let Some(index) = index(host) else { continue };
            let age = Duration::from_secs(now.saturating_sub(entry.seen).try_into().unwrap_or(0));
            gathered.recorded.insert(host.clone(), age);
            let mut view = Map::new();
            for (name, answer) in &entry.answers {
                let Some(query) = Query::of_record(name) else { continue };
                if let (Query::Base(name), Answer::Base(value)) = (&query, answer) {
                    view.insert((*name).to_owned(), value.clone());
                }
                let answers = gathered.answers.entry(query).or_default();
                Arc::make_mut(answers).insert(host.clone(), answer.clone());
            }
            gathered.facts.insert(index, Json::Object(view));
        }
        Self { gathered: Mutex::new(gathered), ..Self::default() }
    }

    /// Makes a host's facts known to the others.
    pub fn publish(&self, host: usize, facts: Json) {
        let mut shared = self.gathered.lock().unwrap_or_else(PoisonError::into_inner);
        shared.facts.insert(host, facts);
        shared.fleet = None;
    }

    /// Makes a host's answers to some questions known to the others.
    fn publish_answers(&self, host: &str, questions: &BTreeSet<Query>, facts: &Facts) {
        let mut shared = self.gathered.lock().unwrap_or_else(PoisonError::into_inner);
        shared.seen.insert(host.to_owned());
        for query in questions {
            let Some(answer) = facts.get(query).filter(|answer| !matches!(answer, Answer::Unknown(_))) else {
                continue;
            };
            let answers = shared.answers.entry(query.clone()).or_default();
            if answers.get(host) != Some(answer) {
                Arc::make_mut(answers).insert(host.to_owned(), answer.clone());
            }
        }
    }

    /// What is known by now, for templates.
    pub fn fleet(&self) -> Arc<Fleet> {
        let mut shared = self.gathered.lock().unwrap_or_else(PoisonError::into_inner);
        let Gathered { facts, fleet, .. } = &mut *shared;
        fleet.get_or_insert_with(|| Arc::new(Fleet::new(facts.clone()))).clone()
    }

    /// What is known by now about one question.
    fn answers(&self, query: &Query) -> Arc<BTreeMap<String, Answer>> {
        let shared = self.gathered.lock().unwrap_or_else(PoisonError::into_inner);
        shared.answers.get(query).cloned().unwrap_or_default()
    }

    /// What this run learned, for later ones: only what some task asked of all hosts.
    pub fn record(&self, record: &mut FleetRecord, now: i64) {
        let shared = self.gathered.lock().unwrap_or_else(PoisonError::into_inner);
        for (query, answers) in &shared.answers {
            let Some(name) = query.record_name() else { continue };
            for host in &shared.seen {
                if let Some(answer) = answers.get(host) {
                    record.put(host, now, &name, answer);
                }
            }
        }
    }
}

impl Session {
    /// Asks again what the others read of this host where a change took it from the facts.
    pub(super) async fn ask_for_fleet(&mut self) -> Result<(), Gone> {
        let mut missing = self.asked_by_all.clone();
        missing.retain(|query| self.facts.get(query).is_none());
        self.ask(&missing).await
    }

    /// Tells the others what they may need of this host.
    pub(super) fn tell_fleet(&self) {
        let fleet = &self.context.fleet;
        fleet.publish(self.index(), self.facts().view());
        fleet.publish_answers(self.name(), &self.asked_by_all, self.facts());
    }

    /// Takes what is known of the others for the tasks that need it.
    pub(super) fn hear_fleet(&mut self, work: &[Work]) {
        let asked: BTreeSet<Query> = work.iter().flat_map(|item| queries(&item.instances)).collect();
        for query in asked {
            if let Query::Fleet(question) = &query {
                let answers = self.context.fleet.answers(question);
                self.facts.insert(query, Answer::Fleet(answers));
            }
        }
    }
}

/// Says before a stage whose facts are those of an earlier run, who was never seen, and to whom
/// something is owed because it is not part of the run.
pub(super) fn tell_absent(context: &Context, range: Range<usize>) {
    let project = &context.project;
    let needed = project.steps.get(range).unwrap_or_default().iter().any(|step| step.fleet);
    if !needed {
        return;
    }
    let mut messages = Vec::new();
    let mut say = |message: String| messages.push(message);
    let mut shared = context.fleet.gathered.lock().unwrap_or_else(PoisonError::into_inner);
    let absent = project.hosts.iter().filter(|host| !shared.seen.contains(&host.name));
    let (known, unknown): (Vec<_>, Vec<_>) =
        absent.partition(|host| shared.recorded.contains_key(&host.name));
    if !known.is_empty() {
        let oldest = known.iter().filter_map(|host| shared.recorded.get(&host.name)).max();
        let age = oldest.map_or_else(String::new, |age| human(*age));
        let hosts = fold(known.iter().map(|host| host.name.as_str()));
        say(format!("facts of {hosts} are those of an earlier run, up to {age} old"));
    }
    let never: Vec<&str> =
        unknown.iter().filter(|host| host.offline.is_none()).map(|host| host.name.as_str()).collect();
    if !never.is_empty() {
        let hosts = fold(never);
        say(format!("nothing is known of {hosts}: what hosts have about it stays as it is"));
    }
    for message in clones(&shared.answers).into_iter().chain(other_names(&shared.answers)) {
        say(message);
    }
    let left_out =
        project.hosts.iter().filter(|host| host.offline.is_none() && !project.selected.contains(&host.index));
    let left_out: Vec<&str> = left_out.map(|host| host.name.as_str()).collect();
    if !left_out.is_empty() {
        let hosts = fold(left_out);
        say(format!(
            "{hosts}: not part of this run; what they hold about other hosts may be out of date until a run includes them"
        ));
    }
    // Once for all stages.
    for message in messages {
        if shared.told.insert(message.clone()) {
            context.emitter.emit(EventKind::Warning { host: None, message });
        }
    }
}

/// Hosts that have in common what is one host's own: they were made from one image.
fn clones(answers: &BTreeMap<Query, Arc<BTreeMap<String, Answer>>>) -> Vec<String> {
    let mut messages = Vec::new();
    for (name, path, what) in
        [("ids", "/machine_id", "machine id"), ("ssh", "/host_keys/0/key", "SSH host key")]
    {
        let Some(answers) = crate::facts::base(name).and_then(|query| answers.get(&query)) else { continue };
        let mut by_value: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for (host, answer) in answers.iter() {
            let Answer::Base(fact) = answer else { continue };
            if let Some(value) = fact.pointer(path).and_then(Json::as_str).filter(|value| !value.is_empty()) {
                by_value.entry(value).or_default().push(host);
            }
        }
        for hosts in by_value.into_values().filter(|hosts| hosts.len() > 1) {
            messages.push(format!(
                "{} have the same {what}: made from one image that was not sealed (playbook `image-seal`)",
                fold(hosts)
            ));
        }
    }
    messages
}

/// Hosts that call themselves otherwise than the inventory does. Nobody is told that name: a host may
/// take any, that of a mirror too.
fn other_names(answers: &BTreeMap<Query, Arc<BTreeMap<String, Answer>>>) -> Option<String> {
    let names = answers.get(&crate::facts::base("hostname")?)?;
    let others = names.iter().filter_map(|(host, answer)| {
        let Answer::Base(Json::String(name)) = answer else { return None };
        let short = name.split('.').next().unwrap_or_default();
        let known = name.eq_ignore_ascii_case(host) || short.eq_ignore_ascii_case(host);
        (!known && !name.is_empty() && short != "localhost").then_some((host.as_str(), name.as_str()))
    });
    let others: Vec<(&str, &str)> = others.collect();
    let (first, name) = others.first()?;
    let name: String = name.chars().take(64).flat_map(char::escape_debug).collect();
    let hosts = fold(others.iter().map(|(host, _)| *host));
    let says = if others.len() == 1 {
        format!("{hosts} calls itself {name}")
    } else {
        format!("{hosts} call themselves otherwise, {first} {name}")
    };
    Some(format!(
        "{says}: the others get names of the inventory only; where jobs use `hostname`, set it with the resource \
         of that name"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_the_inventory_does_not_have_are_told() {
        let of = |names: [&str; 3]| {
            let names = names.map(|name| Answer::Base(Json::from(name)));
            let hosts = ["gpu0", "gpu1", "gpu2"].map(str::to_owned).into_iter();
            let answers: BTreeMap<String, Answer> = hosts.zip(names).collect();
            let query = crate::facts::base("hostname").unwrap();
            other_names(&BTreeMap::from([(query, Arc::new(answers))]))
        };
        assert_eq!(of(["gpu0", "GPU1", "gpu2.example.org"]), None);
        assert_eq!(of(["gpu0", "", "localhost.localdomain"]), None);
        let one = of(["gpu0", "archive.ubuntu.com", "gpu2"]).unwrap();
        assert!(one.starts_with("gpu1 calls itself archive.ubuntu.com: "), "{one}");
        let two = of(["gpu1", "gpu1", "x\ny"]).unwrap();
        assert!(two.starts_with("gpu[0,2] call themselves otherwise, gpu0 gpu1: "), "{two}");
        let odd = of(["x\n\u{202e}y", "gpu1", "gpu2"]).unwrap();
        assert!(odd.starts_with("gpu0 calls itself x\\n\\u{202e}y: "), "{odd}");
    }

    #[test]
    fn hosts_of_one_image_are_told() {
        let ids = |value: &str| Answer::Base(serde_json::json!({ "machine_id": value }));
        let of = |values: [&str; 3]| {
            let hosts = ["gpu0", "gpu1", "gpu2"].map(str::to_owned).into_iter();
            let answers: BTreeMap<String, Answer> = hosts.zip(values.map(ids)).collect();
            clones(&BTreeMap::from([(crate::facts::base("ids").unwrap(), Arc::new(answers))]))
        };
        assert!(of(["a", "b", "c"]).is_empty());
        assert!(of(["", "", ""]).is_empty());
        let told = of(["a", "b", "a"]);
        assert!(told.len() == 1 && told[0].starts_with("gpu[0,2] have the same machine id"), "{told:?}");
    }
}
