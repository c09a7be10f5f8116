//! Facts that all hosts of a run know of each other.
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

use super::hints::human;
use super::holders::Holders;
use super::writers::Writers;
use crate::facts::base::hostname::Hostname;
use crate::facts::base::ids::Ids;
use crate::facts::base::ssh::Ssh;
use crate::facts::base::{BaseValue, Fact};
use crate::facts::{Answer, BaseQuery, Facts, OfAll, Query};
use crate::hostlist::fold;
use crate::journal::FleetRecord;
use crate::project::{Fleet, Project, Step};
use crate::resources;

/// Facts known of all hosts so far, with the writers and holders of what they share.
#[derive(Debug, Default)]
pub struct SharedFacts {
    gathered: Mutex<Gathered>,
    writers: Writers,
    holders: Holders,
}

#[derive(Debug, Default)]
struct Gathered {
    /// By host index.
    facts: BTreeMap<usize, Json>,
    /// The same as templates see it, until it changes.
    fleet: Option<Arc<Fleet>>,
    /// Answers by question and name of the host.
    answers: BTreeMap<Query, OfAll>,
    /// Hosts of this run.
    seen: BTreeSet<String>,
    /// Ages of what earlier runs recorded.
    recorded: BTreeMap<String, Duration>,
    /// Messages already given about hosts that are away.
    warned: BTreeSet<String>,
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
            for (label, answer) in &entry.answers {
                let Some(query) = resources::question(label).filter(Query::recorded) else { continue };
                let Some(Answer::Known(value)) = query.read(answer) else { continue };
                if let Some(BaseQuery(name)) = query.get() {
                    view.insert((*name).to_owned(), value.json());
                }
                let answers = gathered.answers.entry(query).or_default();
                Arc::make_mut(answers).insert(host.clone(), value);
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
    pub(super) fn publish_answers(&self, host: &str, questions: &BTreeSet<Query>, facts: &Facts) {
        let mut shared = self.gathered.lock().unwrap_or_else(PoisonError::into_inner);
        shared.seen.insert(host.to_owned());
        for query in questions {
            let Some(Answer::Known(value)) = facts.find(query) else { continue };
            let answers = shared.answers.entry(query.clone()).or_default();
            if answers.get(host).is_none_or(|known| !known.same(&**value)) {
                Arc::make_mut(answers).insert(host.to_owned(), value.clone());
            }
        }
    }

    /// Returns the facts that are known by now, for templates.
    pub fn fleet(&self) -> Arc<Fleet> {
        let mut shared = self.gathered.lock().unwrap_or_else(PoisonError::into_inner);
        let Gathered { facts, fleet, .. } = &mut *shared;
        fleet.get_or_insert_with(|| Arc::new(Fleet::new(facts.clone()))).clone()
    }

    /// Returns the answers to one question that are known by now.
    pub(super) fn answers(&self, query: &Query) -> OfAll {
        let shared = self.gathered.lock().unwrap_or_else(PoisonError::into_inner);
        shared.answers.get(query).cloned().unwrap_or_default()
    }

    /// Records what this run learned, for later ones: only what some task asked of all hosts.
    pub fn record(&self, record: &mut FleetRecord, now: i64) {
        let shared = self.gathered.lock().unwrap_or_else(PoisonError::into_inner);
        for (query, answers) in &shared.answers {
            let label = query.label();
            for host in shared.seen.iter().filter(|_| query.recorded()) {
                if let Some(answer) = answers.get(host) {
                    record.put(host, now, &label, answer.json());
                }
            }
        }
    }

    /// Returns the writers of what several hosts see as one file.
    pub(super) fn writers(&self) -> &Writers {
        &self.writers
    }

    /// Returns the holders of what is given from host to host.
    pub(super) fn holders(&self) -> &Holders {
        &self.holders
    }

    /// Returns the messages to give before a stage: about hosts whose facts are those of an earlier run,
    /// hosts that were never seen, hosts of one image, hosts that call themselves by another name, and hosts
    /// whose facts of others may be out of date because they are not part of the run. Once for all stages.
    pub(super) fn absent(&self, project: &Project, range: Range<usize>) -> Vec<String> {
        let needed = project.steps.get(range).unwrap_or_default().iter().any(writes_of_others);
        if !needed {
            return Vec::new();
        }
        let mut messages = Vec::new();
        let mut say = |message: String| messages.push(message);
        let mut shared = self.gathered.lock().unwrap_or_else(PoisonError::into_inner);
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
            say(format!("nothing is known about {hosts}: what other hosts hold about it stays unchanged"));
        }
        for message in clones(&shared.answers).into_iter().chain(other_names(&shared.answers)) {
            say(message);
        }
        let left_out = project
            .hosts
            .iter()
            .filter(|host| host.offline.is_none() && !project.selected.contains(&host.index));
        let left_out: Vec<&str> = left_out.map(|host| host.name.as_str()).collect();
        if !left_out.is_empty() {
            let (holds, it) = if left_out.len() == 1 { ("it holds", "it") } else { ("they hold", "them") };
            let hosts = fold(left_out);
            say(format!(
                "{hosts}: not part of this run; what {holds} about other hosts may be out of date until a run includes {it}"
            ));
        }
        messages.retain(|message| shared.warned.insert(message.clone()));
        messages
    }
}

/// Whether hosts get something that is made of what others answer.
fn writes_of_others(step: &Step) -> bool {
    step.fleet && (step.seen_as.is_none() || step.reads_fleet())
}

/// Hosts that have in common what is one host's own: they were made from one image.
fn clones(answers: &BTreeMap<Query, OfAll>) -> Vec<String> {
    let mut messages = Vec::new();
    let ids = values(answers).map(|(host, ids): (_, &Ids)| (host, Some(ids.machine_id.as_str())));
    let keys = values(answers)
        .map(|(host, ssh): (_, &Ssh)| (host, ssh.host_keys.first().map(|key| key.key.as_str())));
    for (values, what) in [(ids.collect::<Vec<_>>(), "machine id"), (keys.collect(), "SSH host key")] {
        let mut by_value: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for (host, value) in values {
            if let Some(value) = value.filter(|value| !value.is_empty()) {
                by_value.entry(value).or_default().push(host);
            }
        }
        for hosts in by_value.into_values().filter(|hosts| hosts.len() > 1) {
            messages.push(format!(
                "{} have the same {what}: they come from one image that was not prepared with the playbook `image-seal`",
                fold(hosts)
            ));
        }
    }
    messages
}

/// A basic fact of those hosts of which it is known.
fn values<F: Fact>(answers: &BTreeMap<Query, OfAll>) -> impl Iterator<Item = (&str, &F)> {
    let of_hosts = answers.get(&BaseQuery(F::NAME).into()).into_iter().flat_map(|answers| answers.iter());
    of_hosts.filter_map(|(host, value)| Some((host.as_str(), value.known::<BaseValue>()?.get()?)))
}

/// Hosts that call themselves by another name than the inventory. No other host gets that name: a host may
/// take any, that of a mirror too.
fn other_names(answers: &BTreeMap<Query, OfAll>) -> Option<String> {
    let others = values(answers).filter_map(|(host, Hostname(name))| {
        let short = name.split('.').next().unwrap_or_default();
        let known = name.eq_ignore_ascii_case(host) || short.eq_ignore_ascii_case(host);
        (!known && !name.is_empty() && short != "localhost").then_some((host, name.as_str()))
    });
    let others: Vec<(&str, &str)> = others.collect();
    let (first, name) = others.first()?;
    let name: String = name.chars().take(64).flat_map(char::escape_debug).collect();
    let hosts = fold(others.iter().map(|(host, _)| *host));
    let known_as = if others.len() == 1 {
        format!("{hosts} calls itself {name}")
    } else {
        format!("{hosts} use other names for themselves, such as {name} for {first}")
    };
    Some(format!(
        "{known_as}: other hosts get only the name from the inventory; if jobs use `hostname`, set it with the resource `hostname`"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_hosts(fact: &'static str, values: [Json; 3]) -> BTreeMap<Query, OfAll> {
        let hosts = ["gpu0", "gpu1", "gpu2"].map(str::to_owned).into_iter();
        let values = values.map(|value| -> Arc<dyn crate::facts::Value> { Arc::new(BaseValue::from(value)) });
        BTreeMap::from([(BaseQuery(fact).into(), Arc::new(hosts.zip(values).collect()))])
    }

    #[test]
    fn names_that_the_inventory_does_not_have_are_told() {
        let of = |names: [&str; 3]| other_names(&of_hosts("hostname", names.map(Json::from)));
        assert_eq!(of(["gpu0", "GPU1", "gpu2.example.org"]), None);
        assert_eq!(of(["gpu0", "", "localhost.localdomain"]), None);
        let one = of(["gpu0", "archive.ubuntu.com", "gpu2"]).unwrap();
        assert!(one.starts_with("gpu1 calls itself archive.ubuntu.com: "), "{one}");
        let two = of(["gpu1", "gpu1", "x\ny"]).unwrap();
        assert!(two.starts_with("gpu[0,2] use other names for themselves, such as gpu1 for gpu0: "), "{two}");
        let odd = of(["x\n\u{202e}y", "gpu1", "gpu2"]).unwrap();
        assert!(odd.starts_with("gpu0 calls itself x\\n\\u{202e}y: "), "{odd}");
    }

    #[test]
    fn hosts_of_one_image_are_told() {
        let ids = |value: &str| serde_json::json!({ "machine_id": value });
        let of = |values: [&str; 3]| clones(&of_hosts("ids", values.map(ids)));
        assert!(of(["a", "b", "c"]).is_empty());
        assert!(of(["", "", ""]).is_empty());
        let warned = of(["a", "b", "a"]);
        assert!(
            warned.len() == 1 && warned[0].starts_with("gpu[0,2] have the same machine id"),
            "{warned:?}"
        );
    }
}
