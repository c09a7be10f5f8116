//! One writer for what several hosts see as one file.
//!
//! The first host that has to change a place which others may see claims it, by a name that is the
//! same on all of them ([`Facts::location`](crate::facts::Facts::location)). Another host that comes
//! to the same task waits until the writer has ended it, asks again and finds nothing left to do.
//! `docs/design/0006-shared-file-systems.md`.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::Instant;

use super::cancel::Stop;
use super::session::{Gone, Session, human};
use super::stage::{Work, queries, task_id};
use crate::events::Outcome;
use crate::facts::{Object, Query, Touches};
use crate::playbook::{Instance, InstanceState};
use crate::resources::Change;

/// How long it may take until a host sees what another one wrote: NFS trusts its cache of
/// attributes for up to a minute.
const VISIBLE: Duration = Duration::from_secs(90);

/// A task at a place.
type Key = (String, String);
type Claims = Arc<Mutex<BTreeMap<Key, Writer>>>;

/// Who writes what, for one run.
#[derive(Debug, Default)]
pub(super) struct Writers(Claims);

#[derive(Debug, Clone)]
struct Writer {
    host: String,
    end: watch::Receiver<End>,
}

/// How a writer's task stands.
#[derive(Debug, Clone, PartialEq, Eq)]
enum End {
    Writing,
    Done,
    Failed(String),
}

enum Claim {
    Mine(Duty),
    Theirs(Writer),
}

/// The right to write. Dropped without an end (the host was lost) it passes on.
#[derive(Debug)]
pub(super) struct Duty {
    claims: Claims,
    keys: Vec<Key>,
    end: watch::Sender<End>,
}

impl Duty {
    /// Tells the hosts that wait how it went.
    pub(super) fn done(self, outcome: &Outcome) {
        self.end.send_replace(if let Outcome::Failed(failure) = outcome {
            End::Failed(failure.message.clone())
        } else {
            End::Done
        });
    }
}

impl Drop for Duty {
    fn drop(&mut self) {
        if *self.end.borrow() == End::Writing {
            let mut claims = self.claims.lock().unwrap_or_else(PoisonError::into_inner);
            for key in &self.keys {
                claims.remove(key);
            }
        }
    }
}

impl Writers {
    /// Claims all places for a task, or none and says who has one of them.
    fn claim(&self, task: &str, places: &[String], host: &str) -> Claim {
        let keys: Vec<Key> = places.iter().map(|place| (place.clone(), task.to_owned())).collect();
        let mut claims = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let other = keys.iter().filter_map(|key| claims.get(key)).find(|writer| writer.host != host);
        if let Some(writer) = other {
            return Claim::Theirs(writer.clone());
        }
        let (end, receiver) = watch::channel(End::Writing);
        for key in &keys {
            claims.insert(key.clone(), Writer { host: host.to_owned(), end: receiver.clone() });
        }
        Claim::Mine(Duty { claims: Arc::clone(&self.0), keys, end })
    }
}

/// What a host finds that comes to a task.
pub(super) enum Turn {
    /// It makes these changes; when they are made it says so.
    Write(Vec<Change>, Option<Duty>),
    /// Another host made them.
    Written,
    /// It cannot be so here, and why.
    Refused(String),
}

impl Session {
    /// Finds out whether these changes are this host's to make.
    pub(super) async fn turn(
        &mut self,
        item: &Work,
        instance: &Instance,
        mut changes: Vec<Change>,
        touches: &Touches,
        later: &(dyn Fn() -> std::collections::BTreeSet<Query> + Sync),
    ) -> Result<Turn, Gone> {
        let InstanceState::Ready { resource, .. } = &instance.state else {
            return Ok(Turn::Write(changes, None));
        };
        let id = task_id(&item.step, instance);
        let mut written: Option<Instant> = None;
        let mut pause = Duration::from_millis(200);
        loop {
            let places = self.places(&changes);
            let writer = match self.context.fleet.writers.claim(&id, &places, &self.host.name) {
                Claim::Mine(duty) => return Ok(Turn::Write(changes, Some(duty))),
                Claim::Theirs(writer) => writer,
            };
            let host = writer.host;
            let mut end = writer.end;
            let cancel = self.context.cancel.clone();
            let ended = tokio::select! {
                biased;
                ended = end.wait_for(|end| *end != End::Writing) => ended.map(|end| end.clone()).ok(),
                () = cancel.reached(Stop::Finish) => {
                    return Ok(Turn::Refused(format!("not started: the run was stopped while {host} wrote it")));
                }
            };
            match ended {
                // The writer was lost: the next one takes its place.
                None | Some(End::Writing) => continue,
                Some(End::Failed(why)) => {
                    return Ok(Turn::Refused(format!(
                        "{host} writes it on the file system that both see, and failed: {why}"
                    )));
                }
                Some(End::Done) => {}
            }
            let since = *written.get_or_insert_with(Instant::now);
            let own = queries(std::slice::from_ref(instance));
            let again = self.touched(touches, &own, &later());
            self.ask(&again).await?;
            match resource.plan(&self.facts) {
                Ok(rest) if rest.is_empty() => return Ok(Turn::Written),
                Ok(rest) => changes = rest,
                Err(error) => return Ok(Turn::Refused(super::execute::unplannable(error))),
            }
            if since.elapsed() > VISIBLE {
                let lines: Vec<&str> = changes.iter().map(|change| change.summary.as_str()).collect();
                return Ok(Turn::Refused(format!(
                    "{host} wrote it on the file system that both see, and after {} this host still wants: {}",
                    human(VISIBLE),
                    lines.join("; ")
                )));
            }
            if self.places(&changes).iter().any(|place| places.contains(place)) {
                tokio::time::sleep(pause).await;
                pause = (pause * 2).min(Duration::from_secs(5));
            }
        }
    }

    /// The places of some changes that other hosts may see too.
    fn places(&self, changes: &[Change]) -> Vec<String> {
        let path = |change: &Change| {
            let Object::Path(path) = &change.object else { return None };
            self.facts.location(path)
        };
        changes.iter().filter_map(path).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places() -> Vec<String> {
        vec!["nfs s:/x /a".to_owned()]
    }

    #[test]
    fn a_place_has_one_writer_for_each_task() {
        let writers = Writers::default();
        let Claim::Mine(duty) = writers.claim("t", &places(), "gpu0") else { panic!() };
        assert!(
            matches!(writers.claim("t", &places(), "gpu1"), Claim::Theirs(writer) if writer.host == "gpu0")
        );
        assert!(matches!(writers.claim("u", &places(), "gpu1"), Claim::Mine(_)));
        assert!(matches!(writers.claim("t", &[], "gpu1"), Claim::Mine(_)));
        duty.done(&Outcome::Unchanged);
        let Claim::Theirs(writer) = writers.claim("t", &places(), "gpu1") else { panic!() };
        assert_eq!(*writer.end.borrow(), End::Done);
    }

    #[test]
    fn the_claim_of_a_lost_host_passes_on() {
        let writers = Writers::default();
        let claim = writers.claim("t", &places(), "gpu0");
        drop(claim);
        assert!(matches!(writers.claim("t", &places(), "gpu1"), Claim::Mine(_)));
    }
}
