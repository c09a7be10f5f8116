//! Handlers that were notified and did not run yet: whose they are, how long they wait, and that the end of
//! a run tells of them.

use std::collections::BTreeSet;

use super::connection::Connection;
use super::spool::Spool;
use super::state::{Notification, notify_key};
use crate::events::EventKind;

/// The notified handlers of one host.
#[derive(Debug, Default)]
pub(super) struct Handlers {
    /// Handlers that this run notified or an earlier one left.
    due: BTreeSet<String>,
    /// Handlers that this run notified.
    own: BTreeSet<String>,
    /// Handlers that a plan has shown in their place.
    planned: BTreeSet<String>,
    /// Notifications on the host, of all clusters.
    noted: BTreeSet<Notification>,
    /// Files of notifications that a boot has served: they are removed with the next ones.
    served: BTreeSet<String>,
}

impl Handlers {
    /// Takes what was found on the host. `boots`: handlers that reboot, which a boot since then has served.
    pub(super) fn found(&mut self, noted: BTreeSet<Notification>, cluster: &str, boots: &BTreeSet<String>) {
        let served = |it: &Notification| it.before && it.is_of(cluster) && boots.contains(&it.handler);
        self.served.extend(noted.iter().filter(|it| served(it)).map(|it| it.key.clone()));
        self.noted = noted.into_iter().filter(|it| !served(it)).collect();
        self.due.extend(self.left_behind(cluster));
    }

    /// Handlers that are due.
    pub(super) fn due(&self) -> &BTreeSet<String> {
        &self.due
    }

    /// Handlers that earlier runs of this cluster notified.
    pub(super) fn left_behind(&self, cluster: &str) -> BTreeSet<String> {
        let own = self.noted.iter().filter(|it| it.is_of(cluster));
        own.map(|it| it.handler.clone()).collect()
    }

    /// Whether a handler is due only because an earlier run left it.
    pub(super) fn is_only_left(&self, handler: &str) -> bool {
        self.due.contains(handler) && !self.own.contains(handler)
    }

    /// A plan has shown these in their place; an apply runs them there.
    pub(super) fn planned(&mut self, handlers: BTreeSet<String>) {
        self.planned.extend(handlers);
    }

    /// Whether a plan has shown a handler.
    pub(super) fn is_planned(&self, handler: &str) -> bool {
        self.planned.contains(handler)
    }

    /// A task notifies these.
    pub(super) fn add(&mut self, handlers: &[String]) {
        self.due.extend(handlers.iter().cloned());
        self.own.extend(handlers.iter().cloned());
    }

    /// The host was rebooted by this run: that is all that these wanted.
    pub(super) fn after_boot(&mut self, boots: &BTreeSet<String>, cluster: &str) {
        let served = |it: &Notification| it.is_of(cluster) && boots.contains(&it.handler);
        self.served.extend(self.noted.iter().filter(|it| served(it)).map(|it| it.key.clone()));
        self.served.extend(self.due.intersection(boots).map(|id| notify_key(cluster, id)));
        self.noted.retain(|it| !served(it));
        self.due.retain(|handler| !boots.contains(handler));
    }

    /// Forgets what nobody waits for any more: what a boot has served, and a handler that no playbook of this inventory has, for more than a
    /// week. Another inventory of the cluster may have it, so until then it is kept.
    pub(super) async fn forget_old(&mut self, connection: &mut Connection, spool: &mut Spool) {
        let project = connection.context().project.clone();
        let known = |id: &str| project.handlers.iter().any(|handler| handler.id == id);
        let old = self.noted.iter().filter(|it| it.old);
        let forgotten: Vec<_> =
            old.filter(|it| !(it.is_of(&project.cluster) && known(&it.handler))).cloned().collect();
        let mut keys: Vec<String> = std::mem::take(&mut self.served).into_iter().collect();
        keys.extend(forgotten.iter().map(|it| it.key.clone()));
        if keys.is_empty() {
            return;
        }
        for it in &forgotten {
            connection.warn(format!(
                "more than a week ago a run{} notified `{}`, a handler that no playbook here has; the notification is dropped",
                of(&it.cluster),
                it.handler
            ));
            self.noted.remove(it);
            if it.is_of(&project.cluster) {
                self.due.remove(&it.handler);
            }
        }
        tidy(connection, spool, keys).await;
    }

    /// Forgets here and on the host that these handlers were notified.
    pub(super) async fn clear(
        &mut self,
        connection: &mut Connection,
        spool: &mut Spool,
        handlers: &[String],
    ) {
        let cluster = connection.context().project.cluster.clone();
        let mut keys: BTreeSet<String> = handlers.iter().map(|id| notify_key(&cluster, id)).collect();
        let cleared = |id: &String| handlers.contains(id);
        let noted = self.noted.iter().filter(|it| it.is_of(&cluster) && cleared(&it.handler));
        keys.extend(noted.map(|it| it.key.clone()).filter(|key| !key.is_empty()));
        self.noted.retain(|it| !(it.is_of(&cluster) && cleared(&it.handler)));
        self.due.retain(|id| !cleared(id));
        tidy(connection, spool, keys.into_iter().collect()).await;
    }

    /// Says which handlers still wait when the run ends for the host. `boot`: whether it needs a reboot.
    pub(super) fn tell(&self, connection: &Connection, boot: bool) {
        let project = &connection.context().project;
        let handlers = &project.handlers;
        let waiting = self.due.iter().filter_map(|id| match handlers.iter().find(|it| it.id == *id) {
            // That is told as a reboot.
            Some(handler) if boot && handler.reboots() => None,
            Some(handler) => Some(handler.title.clone()),
            None => Some(id.clone()),
        });
        let waiting: Vec<String> = waiting.collect();
        if !waiting.is_empty() {
            let host = connection.host().name.clone();
            connection.emit(EventKind::HandlersPending { host, handlers: waiting });
        }
        for it in self.noted.iter().filter(|it| !it.is_of(&project.cluster)) {
            connection.warn(format!(
                "the handler `{}` was notified by a run{} and waits for the next such run",
                it.handler,
                of(&it.cluster)
            ));
        }
    }
}

async fn tidy(connection: &mut Connection, spool: &mut Spool, keys: Vec<String>) {
    if let Err(error) = spool.tidy(connection, &keys, false).await {
        connection.warn(format!(
            "its notifications could not be cleared, so the next run repeats these handlers: {error}"
        ));
    }
}

fn of(cluster: &str) -> String {
    if cluster.is_empty() { String::new() } else { format!(" of cluster {cluster}") }
}
