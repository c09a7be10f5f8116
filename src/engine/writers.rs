//! One writer for what several hosts see as one file.
//!
//! The first host that has to change a place which others may see claims it, by a name that is the
//! same on all of them ([`Facts::location`](crate::facts::Facts::location)). Another host that comes
//! to the same task waits until the writer has ended it, asks again and finds nothing left to do.
//! `docs/design/0006-shared-file-systems.md`.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::watch;

use crate::events::Outcome;

/// A task at a place.
type Key = (String, String);
type Claims = Arc<Mutex<BTreeMap<Key, Writer>>>;

/// Writers of each task at each place, for one run.
#[derive(Debug, Default)]
pub(super) struct Writers(Claims);

#[derive(Debug, Clone)]
pub(super) struct Writer {
    pub host: String,
    end: watch::Receiver<End>,
}

/// State of a writer's task.
#[derive(Debug, Clone, PartialEq, Eq)]
enum End {
    Writing,
    Done,
    Failed(String),
}

pub(super) enum Claim {
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

impl Writer {
    /// Waits until its task ended: whether that went well, or why not; none when the writer was lost.
    pub(super) async fn ended(&mut self) -> Option<Result<(), String>> {
        match self.end.wait_for(|end| *end != End::Writing).await.map(|end| end.clone()) {
            Err(_) | Ok(End::Writing) => None,
            Ok(End::Done) => Some(Ok(())),
            Ok(End::Failed(why)) => Some(Err(why)),
        }
    }
}

impl Writers {
    /// Claims all places for a task, or none and says who has one of them.
    pub(super) fn claim(&self, task: &str, places: &[String], host: &str) -> Claim {
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
