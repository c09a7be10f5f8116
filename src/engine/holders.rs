//! From host to host: who has a thing gives it to those who do not have it.
//!
//! Every host that has it serves one other at a time, so holders double in each round. The controller
//! sends it only while no host has it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::Instant;

use super::cancel::{Cancel, Stop};
use super::hints::human;

/// Hosts that hold each thing, for one run.
#[derive(Debug, Clone, Default)]
pub(super) struct Holders(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    things: Mutex<BTreeMap<String, Thing>>,
    moved: Notify,
}

#[derive(Debug, Default)]
struct Thing {
    /// Hosts that have it or had it at the start.
    known: BTreeSet<String>,
    /// Hosts that have it and serve nobody.
    free: BTreeSet<String>,
    /// Hosts that serve somebody.
    busy: usize,
    /// Whether the controller sends it to somebody.
    sending: bool,
}

/// Source that a host gets a thing from; given back when it is dropped.
#[derive(Debug)]
pub(super) struct Source {
    holders: Holders,
    key: String,
    /// `None`: the controller.
    host: Option<String>,
    /// Whether it gives anything.
    good: bool,
}

impl Source {
    /// The host that gives it; none: the controller sends it.
    pub(super) fn host(&self) -> Option<&str> {
        self.host.as_deref()
    }

    /// Gives it back; it is not asked again.
    pub(super) fn gave_nothing(mut self) {
        self.good = false;
    }
}

impl Drop for Source {
    fn drop(&mut self) {
        self.holders.with(&self.key, |thing| match self.host.take() {
            Some(host) => {
                thing.busy = thing.busy.saturating_sub(1);
                if self.good {
                    thing.free.insert(host);
                }
            }
            None => thing.sending = false,
        });
    }
}

impl Holders {
    fn with<T>(&self, key: &str, act: impl FnOnce(&mut Thing) -> T) -> T {
        let mut things = self.0.things.lock().unwrap_or_else(PoisonError::into_inner);
        let done = act(things.entry(key.to_owned()).or_default());
        drop(things);
        self.0.moved.notify_waiters();
        done
    }

    /// A host has it.
    pub(super) fn has(&self, key: &str, host: &str) {
        self.with(key, |thing| {
            thing.known.insert(host.to_owned());
            thing.free.insert(host.to_owned());
        });
    }

    /// Hosts had it when they were gathered.
    pub(super) fn had(&self, key: &str, hosts: &[String]) {
        self.with(key, |thing| {
            for host in hosts {
                if thing.known.insert(host.clone()) {
                    thing.free.insert(host.clone());
                }
            }
        });
    }

    /// Waits until somebody is free to give it.
    pub(super) async fn source(&self, cancel: &Cancel, limit: Duration, key: &str) -> Result<Source, String> {
        let end = Instant::now() + limit;
        loop {
            let moved = self.0.moved.notified();
            tokio::pin!(moved);
            // From here on nothing is missed.
            moved.as_mut().enable();
            if let Some(source) = self.take(key) {
                return Ok(source);
            }
            tokio::select! {
                biased;
                () = cancel.reached(Stop::Finish) => {
                    return Err("not started: the run was stopped while it waited for a copy".to_owned());
                }
                () = &mut moved => {}
                () = tokio::time::sleep_until(end) => {
                    return Err(format!("no host was free to serve its copy within {}", human(limit)));
                }
            }
        }
    }

    /// Takes a source of the thing, if one is free now.
    fn take(&self, key: &str) -> Option<Source> {
        let mut things = self.0.things.lock().unwrap_or_else(PoisonError::into_inner);
        let thing = things.entry(key.to_owned()).or_default();
        let host = thing.free.pop_first();
        if host.is_some() {
            thing.busy += 1;
        } else if thing.busy == 0 && !thing.sending {
            thing.sending = true;
        } else {
            return None;
        }
        Some(Source { holders: self.clone(), key: key.to_owned(), host, good: true })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn holders_serve_one_at_a_time_and_the_controller_sends_once() {
        let holders = Holders::default();
        let root = holders.take("x").unwrap();
        assert!(root.host.is_none());
        assert!(holders.take("x").is_none());
        holders.has("x", "a");
        drop(root);
        let first = holders.take("x").unwrap();
        assert_eq!(first.host.as_deref(), Some("a"));
        assert!(holders.take("x").is_none());
        holders.has("x", "b");
        let mut second = holders.take("x").unwrap();
        assert_eq!(second.host.as_deref(), Some("b"));
        // One that gives nothing is not asked again.
        second.good = false;
        drop(second);
        drop(first);
        assert_eq!(holders.take("x").unwrap().host.as_deref(), Some("a"));
        // One that had it is not free again while it serves.
        holders.had("x", &["a".to_owned()]);
        // Another thing is another matter.
        assert!(holders.take("y").unwrap().host.is_none());
    }
}
