//! Interface of every resource.

use std::fmt;
use std::time::Duration;

use super::change::Planned;
use super::shared::login::{self, LoginEffect};
use crate::facts::{Facts, Object, Query, Touches};
use crate::inventory::Promise;
use crate::transport::Script;

/// A thing that hosts give to each other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spread {
    /// Its identity, by place and content: the same on all hosts that have it.
    pub key: String,
    /// Hosts that had it when they were gathered.
    pub holders: Vec<String>,
    /// Gets it from another host, whose name becomes the last parameter.
    pub pull: Script,
}

/// A resource with all its fields known.
pub trait Resource: fmt::Debug + Send + Sync {
    /// Returns the questions whose answers its plan needs.
    fn queries(&self) -> Vec<Query>;

    /// Returns the changes that must be made; empty when all is as it should be. Pure.
    ///
    /// # Errors
    /// When the facts do not allow a plan.
    fn plan(&self, facts: &Facts) -> Planned;

    /// Returns the questions that cost too much to be asked at first with those of all tasks. They are asked
    /// right before its changes are made, unless its plan is that nothing is to be done. It is planned again
    /// with the answers, and may refuse then.
    fn last_questions(&self) -> Vec<Query> {
        Vec::new()
    }

    /// Returns the objects that its changes may touch.
    fn touches(&self) -> Touches;

    /// The things it owns, each with what it wants of them, for finding two tasks at odds.
    fn manages(&self) -> Vec<(Object, String)>;

    /// Returns how long its effect may take to show after the change (link up, clock sync).
    fn settle(&self) -> Option<Duration> {
        None
    }

    /// Reports why waiting longer is no use: what is seen after the change says that its effect will not
    /// show.
    fn hopeless(&self, _: &Facts) -> Option<String> {
        None
    }

    /// Whether a second plan can prove it (a bare `command` cannot: its outcome is `ran`).
    fn provable(&self) -> bool {
        true
    }

    /// The answer that `register` makes known to later tasks; `None` until it was asked.
    fn registered(&self, facts: &Facts) -> Option<serde_json::Value> {
        let _ = facts;
        None
    }

    /// Reports why the host must be rebooted before all that is wanted is in force: true now, or once the
    /// changes are made. `None` when no reboot is needed. A `reboot` task that comes later is due while any
    /// task says so, and the reason must be gone afterwards. Pure.
    fn reboot(&self, facts: &Facts) -> Option<String> {
        let _ = facts;
        None
    }

    /// Returns the effect of its changes on logins: by default the known one of the paths, units and users
    /// that it touches. Pure.
    fn login(&self, facts: &Facts) -> LoginEffect {
        login::of_touches(&self.touches(), facts)
    }

    /// Returns what `verify` can expect of the host once it is in force, and nothing that it does not hold
    /// itself: the keys that its [`Kind`](super::Kind) lists. Pure.
    fn promises(&self, facts: &Facts) -> Vec<Promise> {
        let _ = facts;
        Vec::new()
    }

    /// Returns the way in which hosts that have it give it to others; `None` where each host gets it by
    /// itself.
    fn spread(&self, facts: &Facts) -> Option<Spread> {
        let _ = facts;
        None
    }

    /// Whether its changes are over at once, say next to nothing and stand on the answers to its questions
    /// alone: such changes of several tasks are sent together, and then asked about together.
    fn brief(&self) -> bool {
        false
    }

    /// The directory that is not there yet and that its changes make, and nothing else.
    fn makes_directory(&self, facts: &Facts) -> Option<&str> {
        let _ = facts;
        None
    }

    /// Whether ending it half-way breaks the host (package managers): left running at a deadline.
    fn leave(&self) -> bool {
        false
    }
}
