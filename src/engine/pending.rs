//! Handlers that were notified and did not run yet: whose they are, how long they wait, and that the end of
//! a run tells of them.

use std::collections::BTreeSet;

use super::context::Mode;
use super::session::{Gone, Session};
use super::state::{self, notify_key};
use crate::events::EventKind;
use crate::transport::Part;

impl Session {
    /// Handlers that earlier runs of this cluster notified.
    pub(super) fn left_behind(&self) -> BTreeSet<String> {
        let cluster = &self.context.project.cluster;
        let own = self.state.notified.iter().filter(|it| it.is_of(cluster));
        own.map(|it| it.handler.clone()).collect()
    }

    /// Forgets what nobody waits for any more: a handler that no playbook of this inventory has, for more than a
    /// week. Another inventory of the cluster may have it, so until then it is kept.
    pub(super) async fn forget_old(&mut self) -> Result<(), Gone> {
        let project = self.context.project.clone();
        let known = |id: &str| project.handlers.iter().any(|handler| handler.id == id);
        let old = self.state.notified.iter().filter(|it| it.old);
        let forgotten: Vec<_> =
            old.filter(|it| !(it.is_of(&project.cluster) && known(&it.handler))).cloned().collect();
        if forgotten.is_empty() {
            return Ok(());
        }
        for it in &forgotten {
            self.warn(format!(
                "more than a week ago a run{} notified `{}`, which no playbook here has; it is forgotten",
                of(&it.cluster),
                it.handler
            ));
            self.state.notified.remove(it);
            if it.is_of(&project.cluster) {
                self.notified.remove(&it.handler);
            }
        }
        self.tidy_notifications(forgotten.into_iter().map(|it| it.key).collect()).await
    }

    /// Forgets on the host that these handlers were notified.
    pub(super) async fn clear_notifications(&mut self, handlers: &[String]) -> Result<(), Gone> {
        let cluster = self.context.project.cluster.clone();
        let mut keys: BTreeSet<String> = handlers.iter().map(|id| notify_key(&cluster, id)).collect();
        let cleared = |id: &String| handlers.contains(id);
        let noted = self.state.notified.iter().filter(|it| it.is_of(&cluster) && cleared(&it.handler));
        keys.extend(noted.map(|it| it.key.clone()).filter(|key| !key.is_empty()));
        self.state.notified.retain(|it| !(it.is_of(&cluster) && cleared(&it.handler)));
        self.notified.retain(|id| !cleared(id));
        self.tidy_notifications(keys.into_iter().collect()).await
    }

    async fn tidy_notifications(&mut self, keys: Vec<String>) -> Result<(), Gone> {
        let part = Part {
            name: "tidy".to_owned(),
            script: state::tidy(&keys, &std::mem::take(&mut self.seen)),
            deadline: self.context.deadlines.query,
            limit: 4096,
        };
        if let Err(error) = self.run_part(part, state::FUNCTIONS.to_owned()).await {
            self.warn(format!(
                "its notifications could not be cleared, so these handlers run once more next time: {error}"
            ));
        }
        Ok(())
    }

    /// Says which handlers still wait when the run ends for the host.
    pub(super) fn tell_handlers(&mut self) {
        if self.context.mode != Mode::Apply {
            return;
        }
        let handlers = &self.context.project.handlers;
        let boot = !self.boot.pending().is_empty();
        let waiting = self.notified.iter().filter_map(|id| match handlers.iter().find(|it| it.id == *id) {
            // That is told as a reboot.
            Some(handler) if boot && handler.kind == "reboot" => None,
            Some(handler) => Some(handler.title.clone()),
            None => Some(id.clone()),
        });
        let waiting: Vec<String> = waiting.collect();
        if !waiting.is_empty() {
            self.emit(EventKind::HandlersPending { host: self.host.name.clone(), handlers: waiting });
        }
        let cluster = &self.context.project.cluster;
        let others: Vec<_> = self.state.notified.iter().filter(|it| !it.is_of(cluster)).cloned().collect();
        for it in others {
            self.warn(format!(
                "the handler `{}` was notified by a run{} and waits for the next such run",
                it.handler,
                of(&it.cluster)
            ));
        }
    }
}

fn of(cluster: &str) -> String {
    if cluster.is_empty() { String::new() } else { format!(" of cluster {cluster}") }
}
