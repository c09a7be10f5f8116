//! The tasks of one host, as the engine carries them out.

use std::collections::{BTreeMap, BTreeSet};

use crate::events::TaskRef;
use crate::facts::{self, Query};
use crate::project::{Instance, InstanceState, Step};

/// Host that a `run_once` step runs on, by step index.
pub type Leaders = BTreeMap<usize, usize>;

/// The tasks of one step on one host.
#[derive(Debug, Clone)]
pub(super) struct Work {
    pub step: Step,
    pub instances: Vec<Instance>,
    pub handler: bool,
}

/// Queries of some instances, whatever their conditions say.
pub(super) fn queries(instances: &[Instance]) -> BTreeSet<Query> {
    instances
        .iter()
        .filter_map(|instance| match &instance.state {
            InstanceState::Ready { resource, .. } => Some(resource.queries()),
            InstanceState::Skipped(_) | InstanceState::Waiting(_) | InstanceState::Failed(_) => None,
        })
        .flatten()
        .collect()
}

pub(super) fn task_ref(step: &Step, instance: &Instance) -> TaskRef {
    TaskRef {
        id: step.id.clone(),
        item: instance.item,
        name: instance.name.clone(),
        resource: step.kind.to_owned(),
    }
}

/// One name for a step and its loop item: `base/users[2]`.
pub(super) fn task_id(step: &Step, instance: &Instance) -> String {
    match instance.item {
        Some(item) => format!("{}[{item}]", step.id),
        None => step.id.clone(),
    }
}

/// Returns the queries of a task, with the facts that its fields read.
pub(super) fn needs(work: &Work) -> BTreeSet<Query> {
    let mut needs = queries(&work.instances);
    needs.extend(work.step.facts.iter().filter_map(|name| facts::base(name)));
    needs
}

/// Whether a change of an earlier task can change what this step is.
pub(super) fn depends(step: &Step) -> bool {
    !step.facts.is_empty() || !step.registers.is_empty() || step.fleet
}

/// Work that comes after one instance of a task.
#[derive(Debug, Clone, Copy)]
pub(super) struct Later<'a> {
    /// The others of that task.
    pub instances: &'a [Instance],
    /// The tasks after it.
    pub work: &'a [Work],
}

impl Later<'_> {
    /// Returns their queries. Only a change wants to know: on a converged host this is never collected.
    pub(super) fn queries(self) -> BTreeSet<Query> {
        self.work.iter().flat_map(needs).chain(queries(self.instances)).collect()
    }
}
