//! Hosts behind a launcher: a job of Slurm, a container, a pod.
//!
//! ```text
//!   place ── login ── sh -s ── exec srun ... sh ──> sh in the job: the host shell of that view
//! ```
//!
//! The shell of a plain login becomes the launcher, which hands its standard input on. From there on the wire is
//! the usual one, so questions, deadlines and parsers know nothing of it.

use std::collections::BTreeMap;
use std::time::Duration;

use async_trait::async_trait;

use super::launch::Launch;
use super::{ByHost, Remote, Transport, TransportError};
use crate::inventory::Host;

/// Place where launchers are started.
#[derive(Debug, Clone)]
pub enum Place {
    /// On this machine.
    Here,
    /// On one host, over its login.
    At(Box<Host>),
    /// On each host itself, over its login.
    Each,
}

/// Opens each host through a launcher.
#[derive(Debug)]
pub struct Launched {
    ways: ByHost,
    place: Place,
    words: BTreeMap<String, Vec<String>>,
}

impl Launched {
    /// `ways` opens the places; `words` are the command line of each host, which ends in a shell.
    pub fn new(ways: ByHost, place: Place, words: BTreeMap<String, Vec<String>>) -> Self {
        Self { ways, place, words }
    }
}

#[async_trait]
impl Transport for Launched {
    /// `deadline` is that of the launcher; the login before it has its own.
    async fn open(&self, host: &Host, deadline: Duration) -> Result<Box<dyn Remote>, TransportError> {
        let Some(words) = self.words.get(&host.name) else {
            let message = format!("there is no command line of the launcher for {}", host.name);
            return Err(TransportError::Protocol { message });
        };
        let launch = Launch { words: words.clone(), deadline };
        match &self.place {
            Place::Here => self.ways.launch_here(launch).await,
            Place::Each => self.ways.launch(&host.as_login(), launch).await,
            Place::At(place) => self.ways.launch(&place.as_login(), launch).await,
        }
    }

    async fn close(&self) {
        self.ways.close().await;
    }
}
