//! A password is tried on one host first: a wrong one that is sent to a hundred hosts locks a hundred
//! accounts.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::MutexGuard;

/// Knowledge of the passwords of a run, by the names of their secrets.
#[derive(Debug, Default)]
pub(super) struct Trials(Mutex<BTreeMap<String, Arc<Trial>>>);

impl Trials {
    /// The one of a secret.
    pub(super) fn of(&self, secret: &str) -> Arc<Trial> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(all.entry(secret.to_owned()).or_default())
    }
}

/// Knowledge of one password.
#[derive(Debug, Default)]
pub(super) struct Trial(tokio::sync::Mutex<Known>);

#[derive(Debug, Default)]
enum Known {
    #[default]
    Nothing,
    Accepted,
    /// By this host, before any other accepted it.
    Refused(String),
}

impl Trial {
    /// Waits until it may be sent: the first host has it alone, the others when one has accepted it.
    ///
    /// # Errors
    /// The host that refused it.
    pub(super) async fn turn(&self) -> Result<Turn<'_>, String> {
        let known = self.0.lock().await;
        match &*known {
            Known::Nothing => Ok(Turn(Some(known))),
            Known::Accepted => Ok(Turn(None)),
            Known::Refused(host) => Err(host.clone()),
        }
    }
}

/// The right to send it. Whoever drops it with nothing said leaves the trial to the next host.
#[derive(Debug)]
pub(super) struct Turn<'a>(Option<MutexGuard<'a, Known>>);

impl Turn<'_> {
    pub(super) fn accepted(&mut self) {
        self.settle(Known::Accepted);
    }

    pub(super) fn refused(&mut self, host: &str) {
        self.settle(Known::Refused(host.to_owned()));
    }

    /// Others need not wait any longer.
    pub(super) fn leave(&mut self) {
        self.0 = None;
    }

    fn settle(&mut self, result: Known) {
        if let Some(mut known) = self.0.take() {
            *known = result;
        }
    }
}
