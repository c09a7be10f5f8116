//! A loaded project.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Arc;

use camino::Utf8PathBuf;
use serde_json::Value as Json;

use super::step::Step;
use super::world::{Fleet, Inputs, World};
use crate::config::{Diagnostics, Node, Sources};
use crate::facts::Facts;
use crate::inventory::rollout::{Batch, Canary, Gate};
use crate::inventory::{Become, Directory, Host, Maintenance, Origin, Policy, Promises, Share, Watch};
use crate::playbook::Playbook;
use crate::secrets::{SecretSource, Secrets};
use crate::sources::SiteSources;

/// Limits of a rollout: the number of hosts at once, and the number of failures that stops it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rollout {
    /// The most hosts worked on at once.
    pub parallel: usize,
    /// Hosts that go first, alone; when one fails nothing else is started.
    pub canary: Option<Canary>,
    /// Batches in which the others go after that.
    pub batch: Option<Batch>,
    /// Number of hosts that may fail before no more are started; `None`: any number.
    pub max_failed: Option<Share>,
    /// Gate that hosts must pass after they were changed.
    pub gate: Option<Gate>,
}

impl Rollout {
    /// Whether some hosts wait for what comes of others.
    pub fn is_stepwise(&self) -> bool {
        self.canary.is_some() || self.batch.is_some() || self.max_failed.is_some() || self.gate.is_some()
    }
}

impl Default for Rollout {
    fn default() -> Self {
        Self { parallel: 128, canary: None, batch: None, max_failed: None, gate: None }
    }
}

impl Rollout {
    /// Returns how many of `hosts` may fail; `None`: any number.
    pub fn may_fail(&self, hosts: usize) -> Option<usize> {
        self.max_failed.map(|limit| match limit {
            Share::Hosts(number) => usize::try_from(number).unwrap_or(usize::MAX),
            Share::Percent(percent) => hosts.saturating_mul(usize::try_from(percent).unwrap_or(100)) / 100,
        })
    }
}

/// Everything that an inventory and its playbooks say, resolved and checked.
#[derive(Debug)]
pub struct Project {
    /// Name of the cluster.
    pub cluster: String,
    /// The inventory's file as the user named it.
    pub path: Utf8PathBuf,
    /// Options of the command line that a run which continues this one needs as well.
    pub options: Vec<String>,
    /// All files read.
    pub sources: Sources,
    /// The budget for looking at it.
    pub budget: super::Budget,
    /// All hosts of the inventory in order of their index.
    pub hosts: Vec<Host>,
    /// This machine, where a step is done on it for all hosts. Its index comes after theirs; it is no
    /// host of the inventory, and nothing but its steps concerns it.
    pub controller: Option<Host>,
    /// Hosts of `--hosts`, offline ones included.
    pub selected: BTreeSet<usize>,
    /// Names that host expressions can use.
    pub directory: Directory,
    /// Steps for the selected hosts and tags, in order.
    pub steps: Vec<Step>,
    /// Handlers that steps may notify, in order.
    pub handlers: Vec<Step>,
    /// `policy:`.
    pub policy: Policy,
    /// `rollout:`.
    pub rollout: Rollout,
    /// `maintenance:`.
    pub maintenance: Option<Maintenance>,
    /// Sources of the secrets, by name.
    pub secrets: BTreeMap<String, SecretSource>,
    /// `watch:`.
    pub watch: Watch,
    /// `lab:`, as written.
    pub lab: Option<Node>,
    /// The same of hosts, by their names.
    pub host_labs: BTreeMap<String, Node>,
    /// Playbooks in use, includes too.
    pub playbooks: Vec<Arc<Playbook>>,
    /// The lists of `hosts_from` that were had.
    pub lists: Vec<(Origin, String)>,
    /// Values of secrets that were handed over with the project.
    pub given: Secrets,
    /// Problems that do not keep anybody from going on.
    pub warnings: Diagnostics,
    pub(super) world: World,
    pub(super) language: super::Language,
}

impl Project {
    /// Ranges of step indexes between barriers. A barrier stands before a step that reads other
    /// hosts' facts, and on both sides of one that runs once.
    pub fn stages(&self) -> Vec<Range<usize>> {
        let mut cuts = BTreeSet::new();
        for (index, step) in self.steps.iter().enumerate() {
            if step.fleet || step.conduct.run_once.is_some() {
                cuts.insert(index);
            }
            if step.conduct.run_once.is_some() {
                cuts.insert(index + 1);
            }
        }
        let mut stages = Vec::new();
        // All hosts are gathered before the first task that needs others' facts, even when nothing
        // else comes before it, and before any that may notify such a handler.
        let first = cuts.remove(&0) && self.steps.first().is_some_and(|step| step.fleet);
        if first || self.handlers.iter().any(Step::reads_fleet) {
            stages.push(0..0);
        }
        cuts.insert(self.steps.len());
        let mut start = 0;
        for end in cuts {
            if end > start {
                stages.push(start..end);
            }
            start = end;
        }
        stages
    }

    /// The facts of all hosts, by host index, for [`Inputs::fleet`](super::Inputs::fleet).
    pub fn fleet(&self, facts: BTreeMap<usize, Json>) -> Fleet {
        Fleet::new(facts)
    }

    /// The selected hosts, in the order of the inventory.
    pub fn chosen(&self) -> impl Iterator<Item = &Host> {
        self.selected.iter().filter_map(|index| self.hosts.get(*index))
    }

    /// Returns the selected hosts that are not offline.
    pub fn online(&self) -> impl Iterator<Item = &Host> {
        self.chosen().filter(|host| host.offline.is_none())
    }

    /// Selected hosts that are marked offline, and why.
    pub fn selected_offline(&self) -> impl Iterator<Item = (&Host, &str)> {
        self.chosen().filter_map(|host| Some((host, host.offline.as_deref()?)))
    }

    /// The host that has the commands of the scheduler, where it is no part of the run itself.
    pub fn scheduler(&self) -> Option<&Host> {
        let host = self.host(&self.maintenance.as_ref()?.at)?;
        (!self.selected.contains(&host.index)).then_some(host)
    }

    /// Whether a run works on this machine as well.
    pub fn is_local(&self) -> bool {
        self.controller.is_some() || self.hosts.iter().any(|host| host.transport.is_this_machine())
    }

    /// Whether a rollout looks at the plans of all hosts first and goes through all stages batch by batch.
    pub fn is_live(&self) -> bool {
        self.maintenance.is_some() || self.rollout.gate.is_some()
    }

    /// The host at a place of a step: one of the inventory, or the controller.
    pub fn at(&self, index: usize) -> Option<&Host> {
        self.hosts.get(index).or_else(|| self.controller.as_ref().filter(|host| host.index == index))
    }

    /// The host whose variables a step sees at one of its places.
    pub(super) fn seen_by(&self, step: &Step, index: usize) -> Option<&Host> {
        self.hosts.get(step.seen_as.unwrap_or(index))
    }

    /// A host by its name.
    pub fn host(&self, name: &str) -> Option<&Host> {
        self.directory.hosts.get(name).and_then(|index| self.hosts.get(*index))
    }

    /// Proxy and mirrors.
    pub fn site_sources(&self) -> &SiteSources {
        &self.world.site_sources
    }

    /// Puts other sources in place of the inventory's: those of the lab.
    pub fn set_site_sources(&mut self, sources: SiteSources) {
        self.world.site_sources = sources;
    }

    /// Returns the sources of the secrets that are needed: those of the logins and, where tasks are planned,
    /// theirs. The user is asked for no other.
    pub fn needed_secrets(&self, tasks: bool) -> BTreeMap<String, SecretSource> {
        let passwords = self.online().chain(&self.controller).chain(self.scheduler()).filter_map(|host| {
            match &host.ssh.become_method {
                Become::Sudo { password } => password.as_ref(),
                Become::None => None,
            }
        });
        let steps = self.steps.iter().chain(&self.handlers).filter(|_| tasks);
        let own = steps.filter(|step| self.leads_elsewhere(step).is_none());
        let own = own.flat_map(|step| step.hosts.iter().flat_map(|host| step.secrets(*host)));
        let names: BTreeSet<&String> = passwords.chain(own).collect();
        self.secrets
            .iter()
            .filter(|(name, _)| names.contains(name))
            .map(|(name, source)| (name.clone(), source.clone()))
            .collect()
    }

    /// Collects the promises of a host's tasks, as far as `inputs` and `facts` tell, from tasks that may
    /// promise one of these keys.
    pub fn promises(&self, host: &Host, inputs: &Inputs<'_>, facts: &Facts, keys: &[&str]) -> Promises {
        let mut promises = Promises::default();
        let tells = |step: &&Step| {
            let kind = step.resource().filter(|_| step.hosts.contains(&host.index) && step.seen_as.is_none());
            kind.is_some_and(|kind| kind.promises.iter().any(|key| keys.contains(key)))
        };
        for step in self.steps.iter().filter(tells) {
            for instance in self.instantiate(step, host, inputs) {
                step.add_promises(&instance, facts, &mut promises);
            }
        }
        promises
    }

    /// A handler by its id.
    pub fn handler(&self, id: &str) -> Option<&Step> {
        self.handlers.iter().find(|handler| handler.id == id)
    }
}
