//! Requests to stop a run.

use tokio::sync::watch;

/// Extent of the stop that was asked for; ordered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stop {
    /// Not at all.
    No,
    /// Start nothing new; what runs on hosts may end (first Ctrl-C, SIGTERM).
    Finish,
    /// End the tasks on the hosts too (second Ctrl-C).
    End,
}

/// Asks a run to stop.
#[derive(Debug, Clone)]
pub struct Stopper(watch::Sender<Stop>);

/// Sees whether a run is asked to stop.
#[derive(Debug, Clone)]
pub struct Cancel(watch::Receiver<Stop>);

/// A stopper and what it controls.
pub fn channel() -> (Stopper, Cancel) {
    let (sender, receiver) = watch::channel(Stop::No);
    (Stopper(sender), Cancel(receiver))
}

impl Stopper {
    /// Asks for at least this much.
    pub fn ask(&self, stop: Stop) {
        self.0.send_modify(|now| *now = stop.max(*now));
    }
}

impl Cancel {
    /// Returns the extent of the stop that was asked for so far.
    pub fn now(&self) -> Stop {
        *self.0.borrow()
    }

    /// Returns when at least this much is asked for; never, when nobody can ask any more.
    pub async fn reached(&self, stop: Stop) {
        let mut receiver = self.0.clone();
        if receiver.wait_for(|now| *now >= stop).await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}
