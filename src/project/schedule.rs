//! Order of a rollout: the hosts that go first, and those that go together.

use std::collections::BTreeSet;

use indexmap::IndexMap;

use super::model::Project;
use super::step::RunOnce;
use crate::inventory::rollout::{Batch, Canary};

/// Hosts that are worked on at the same time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Slot {
    /// Name of the slot, where it does not hold all hosts.
    pub name: Option<String>,
    /// Indexes of its hosts.
    pub hosts: Vec<usize>,
    /// Whether nothing else is started when one of them fails.
    pub canary: bool,
}

impl Slot {
    fn new(name: Option<String>, hosts: &[usize]) -> Self {
        Self { name, hosts: hosts.to_vec(), canary: false }
    }
}

impl Project {
    /// The canaries among these hosts, which are all that have something to do; none where they would be everybody.
    pub fn canaries(&self, hosts: &[usize]) -> BTreeSet<usize> {
        let canaries: BTreeSet<usize> = match self.rollout.canary {
            None => BTreeSet::new(),
            Some(Canary::Hosts(number)) => {
                hosts.iter().copied().take(usize::try_from(number).unwrap_or(usize::MAX)).collect()
            }
            Some(Canary::PerGroup) => {
                let mut seen = BTreeSet::new();
                let mut alone = true;
                let mut first = |index: &usize| {
                    let groups = self.hosts.get(*index).map(|host| &host.groups)?;
                    if groups.is_empty() {
                        return std::mem::take(&mut alone).then_some(*index);
                    }
                    let new = groups.iter().filter(|group| seen.insert(group.as_str())).count();
                    (new > 0).then_some(*index)
                };
                hosts.iter().filter_map(&mut first).collect()
            }
        };
        if canaries.len() < hosts.len() { canaries } else { BTreeSet::new() }
    }

    /// The rollout where the plans of all hosts are known: those that have nothing to do come first, because nothing can
    /// go wrong there, then the canaries, then the batches. Who does for all what is done once comes before others.
    pub fn slots(&self, hosts: &[usize], work: &BTreeSet<usize>) -> Vec<Slot> {
        let (mut work, idle): (Vec<usize>, Vec<usize>) = hosts.iter().partition(|host| work.contains(host));
        let leads =
            |host: &usize| self.steps.iter().any(|step| step.conduct.run_once == Some(RunOnce::Host(*host)));
        work.sort_by_key(|host| !leads(host));
        let canaries = self.canaries(&work);
        let (first, rest): (Vec<usize>, Vec<usize>) = work.iter().partition(|host| canaries.contains(host));
        let canary = Slot { canary: true, ..Slot::new(Some("canary".to_owned()), &first) };
        let mut slots = vec![Slot::new(None, &idle), canary];
        slots.extend(self.batches(&rest));
        slots.retain(|slot| !slot.hosts.is_empty());
        slots
    }

    /// Hosts in the batches of the rollout, canaries left out.
    pub fn batches(&self, hosts: &[usize]) -> Vec<Slot> {
        let by = match &self.rollout.batch {
            None => return vec![Slot::new(None, hosts)],
            Some(Batch::Hosts(size)) => {
                let size = usize::try_from(*size).unwrap_or(usize::MAX);
                if !(1..hosts.len()).contains(&size) {
                    return vec![Slot::new(None, hosts)];
                }
                let slot = |(number, hosts)| Slot::new(Some(format!("batch {}", number + 1)), hosts);
                return hosts.chunks(size).enumerate().map(slot).collect();
            }
            Some(Batch::By(by)) => by,
        };
        let label = by.by.value.as_str();
        let mut groups: IndexMap<Option<&str>, Vec<usize>> = IndexMap::new();
        for index in hosts {
            let value = self.hosts.get(*index).and_then(|host| host.labels.get(label)).map(String::as_str);
            groups.entry(value).or_default().push(*index);
        }
        let most = by.at_most.and_then(|most| usize::try_from(most.get()).ok()).unwrap_or(usize::MAX);
        let mut slots = Vec::new();
        for (value, hosts) in groups {
            for hosts in hosts.chunks(most.max(1)) {
                let number = slots.len() + 1;
                let name = match value {
                    Some(value) => format!("batch {number} ({label} {value})"),
                    None => format!("batch {number} (no {label})"),
                };
                slots.push(Slot::new(Some(name), hosts));
            }
        }
        slots
    }
}
