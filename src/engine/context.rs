//! The context that all hosts of a run share.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use tokio::sync::mpsc;

use super::cancel::Cancel;
use super::fleet::SharedFacts;
use crate::events::Emitter;
use crate::facts::Query;
use crate::plan::StageDigest;
use crate::project::Project;
use crate::secrets::Secrets;
use crate::transport::{CONNECT, Transport};

/// Extent of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Gathers what [`Context::queries`] names, and nothing else.
    Gather,
    /// Plans and touches nothing.
    Plan,
    /// Makes it so.
    Apply,
}

/// Deadlines: nothing is waited for without one.
#[derive(Debug, Clone, Copy)]
pub struct Deadlines {
    /// TCP, login, become and host shell.
    pub connect: Duration,
    /// One kind of queries.
    pub query: Duration,
    /// All queries of one exec.
    pub gather: Duration,
    /// Getting a lost host back.
    pub reconnect: Duration,
}

impl Default for Deadlines {
    fn default() -> Self {
        Self {
            connect: CONNECT,
            query: Duration::from_secs(20),
            gather: Duration::from_mins(1),
            reconnect: Duration::from_mins(2),
        }
    }
}

/// Whether changes that interrupt GPUs, networks or everything may be made.
pub struct Consent {
    asked: tokio::sync::OnceCell<bool>,
    ask: Option<Question>,
}

/// Asks a person about what is due.
type Question = Box<dyn Fn(String) -> BoxFuture<'static, bool> + Send + Sync>;

impl std::fmt::Debug for Consent {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Consent").field("asked", &self.asked).finish_non_exhaustive()
    }
}

impl Consent {
    /// It was given beforehand (`--yes`).
    pub fn given() -> Self {
        Self { asked: tokio::sync::OnceCell::new_with(Some(true)), ask: None }
    }

    /// Nobody can be asked.
    pub fn refused() -> Self {
        Self { asked: tokio::sync::OnceCell::new_with(Some(false)), ask: None }
    }

    /// Somebody is asked, once for the whole run, when the first such change is due.
    pub fn ask<F>(question: impl Fn(String) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = bool> + Send + 'static,
    {
        let ask: Question = Box::new(move |what| Box::pin(question(what)));
        Self { asked: tokio::sync::OnceCell::new(), ask: Some(ask) }
    }

    /// The answer; `what` is what is due.
    pub(super) async fn has(&self, what: &str) -> bool {
        let ask = || async {
            match &self.ask {
                Some(ask) => ask(what.to_owned()).await,
                None => false,
            }
        };
        *self.asked.get_or_init(ask).await
    }
}

/// Takes a host out of service for a change that its plan did not show.
pub(super) trait Drains: Send + Sync {
    /// Returns when it is drained and idle; else why it is not.
    fn drain<'a>(&'a self, host: &'a str) -> BoxFuture<'a, Result<(), String>>;
}

/// The context that all hosts of a run share.
pub struct Context {
    /// The project: all that is to be done.
    pub project: Arc<Project>,
    /// Transport that opens hosts.
    pub transport: Arc<dyn Transport>,
    /// Emitter of the run's events.
    pub emitter: Arc<Emitter>,
    /// Extent of the run.
    pub mode: Mode,
    /// Time limits.
    pub deadlines: Deadlines,
    /// Whether the run is to stop.
    pub cancel: Cancel,
    /// Values behind the placeholders of secrets.
    pub secrets: Secrets,
    /// Name of this controller for lock owners; no white space.
    pub controller: String,
    /// Whether a run of this controller is still alive.
    pub alive: Box<dyn Fn(&str) -> bool + Send + Sync>,
    /// Queries beyond those of the tasks.
    pub queries: BTreeSet<Query>,
    /// Digests that the plans must have (`apply --plan FILE`), by host.
    pub expected: Option<BTreeMap<String, Vec<StageDigest>>>,
    /// Whether changes that interrupt something may be made.
    pub consent: Consent,
    /// Permits for reboots: one for each further host that may reboot now.
    pub reboots: tokio::sync::Semaphore,
    /// Facts known of the hosts, for templates of others.
    pub fleet: Arc<SharedFacts>,
    /// The place to tell what tasks print while they run, if somebody looks on.
    pub watch: Option<mpsc::Sender<(String, Vec<u8>)>>,
}

impl std::fmt::Debug for Context {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Context").field("mode", &self.mode).finish_non_exhaustive()
    }
}
