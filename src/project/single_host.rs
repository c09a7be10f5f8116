//! The part of a project that one machine does by itself.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use camino::{Utf8Path, Utf8PathBuf};

use super::Project;
use super::step::{RunOnce, Step};
use crate::inventory::{Become, TransportKind};
use crate::playbook::{Origin, Playbook};

/// Files of this machine that a project was made of.
#[derive(Debug, Default)]
pub struct FilesRead {
    /// Files.
    pub files: Vec<Utf8PathBuf>,
    /// Directories whose files are among them.
    pub directories: Vec<Utf8PathBuf>,
}

impl Project {
    /// The inventory, playbooks and what tasks name, as far as they were read: all of it after
    /// [`validate`](Self::validate).
    pub fn files_read(&self) -> FilesRead {
        let (mut files, directories) = self.world.files.on_disk();
        files.push(self.path.clone());
        files.extend(self.playbooks.iter().filter_map(|playbook| match &playbook.origin {
            Origin::Disk(path) => Some(path.clone()),
            Origin::BuiltIn(_) => None,
        }));
        FilesRead { files, directories }
    }

    /// Returns the place that names a file or a directory which was read: that of a task's `src` or of a
    /// playbook.
    pub fn named_at(&self, path: &Utf8Path) -> Option<String> {
        let is_it =
            |playbook: &&Arc<Playbook>| matches!(&playbook.origin, Origin::Disk(file) if file == path);
        if let Some(playbook) = self.playbooks.iter().find(is_it) {
            return Some(self.sources.place(playbook.named));
        }
        let (src, from) = self.world.files.asked(path)?;
        let bodies = self.steps.iter().chain(&self.handlers).filter_map(|step| step.program.body.as_ref());
        let node = bodies
            .filter(|body| body.origin == from)
            .find_map(|body| body.node.get("src").filter(|node| node.as_str() == Some(&src)));
        Some(match (node, from) {
            (Some(node), _) => self.sources.place(node.span),
            (None, Origin::Disk(file)) => file.into_string(),
            (None, Origin::BuiltIn(file)) => file,
        })
    }

    /// Leaves one host, which is this machine. What is done on the controller for all hosts is left out: the
    /// titles of these tasks. `root` says whether this is root already.
    pub fn leave_alone(&mut self, index: usize, root: bool) -> Vec<String> {
        if let Some(host) = self.hosts.get_mut(index) {
            host.transport = TransportKind::Local;
            if root {
                host.ssh.become_method = Become::None;
            }
        }
        self.selected = BTreeSet::from([index]);
        self.controller = None;
        // A machine does not take itself out of service; one that is in use is refused.
        self.maintenance = None;
        let (steps, handlers) = (std::mem::take(&mut self.steps), std::mem::take(&mut self.handlers));
        let (central, steps): (Vec<Step>, Vec<Step>) =
            steps.into_iter().partition(|step| step.seen_as.is_some());
        let handlers = handlers.into_iter().filter(|step| step.seen_as.is_none());
        let own = |mut step: Step| {
            step.conduct.run_once = self.leader(&step).map(RunOnce::Host).or(step.conduct.run_once);
            step.hosts.retain(|host| *host == index);
            step
        };
        let handlers = handlers.map(own).collect();
        let steps = steps.into_iter().map(own).filter(|step| !step.hosts.is_empty());
        let steps = steps.enumerate().map(|(index, step)| Step { index, ..step }).collect();
        self.handlers = handlers;
        self.steps = steps;
        central.into_iter().map(|step| step.title).collect()
    }

    /// The host that a `run_once` step runs on where each host works alone.
    fn leader(&self, step: &Step) -> Option<usize> {
        let online = |index: &usize| self.hosts.get(*index).is_some_and(|host| host.offline.is_none());
        match step.conduct.run_once.as_ref()? {
            RunOnce::First => step.members.iter().copied().find(online),
            RunOnce::Host(index) => Some(*index),
        }
    }

    /// Names of the secrets that a host needs for its own part where each host works alone.
    pub fn secrets_alone(&self, index: usize) -> BTreeSet<String> {
        let steps = self.steps.iter().chain(&self.handlers);
        let own = steps.filter(|step| {
            step.seen_as.is_none()
                && step.hosts.contains(&index)
                && self.leader(step).is_none_or(|leader| leader == index)
        });
        own.flat_map(|step| step.secrets(index)).cloned().collect()
    }

    /// Files of the project that tasks put where only some accounts may read them, with the tasks.
    pub fn private_files(&self) -> BTreeMap<String, String> {
        let steps = self.steps.iter().chain(&self.handlers).filter(|step| step.seen_as.is_none());
        steps.filter_map(|step| Some((step.private_file()?, step.title.clone()))).collect()
    }

    /// The host that a `run_once` step runs on, where it is not part of this run.
    pub fn leads_elsewhere(&self, step: &Step) -> Option<&str> {
        match step.conduct.run_once {
            Some(RunOnce::Host(leader)) if !self.selected.contains(&leader) => {
                self.hosts.get(leader).map(|host| host.name.as_str())
            }
            _ => None,
        }
    }
}
