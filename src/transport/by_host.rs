//! Each host the way its inventory says.

use std::time::Duration;

use async_trait::async_trait;

use super::launch::Launch;
use super::{CONNECT, Frame, Local, OnPart, Remote, Ssh, SshSettings, Transport, TransportError};
use crate::inventory::{Host, TransportKind};
use crate::secrets::Secrets;

/// Opens hosts over SSH or on this machine, as [`Host::transport`] says.
#[derive(Debug)]
pub struct ByHost {
    /// `None` where no host needs it: a machine that bakes images may have no `ssh`.
    ssh: Option<Ssh>,
    local: Local,
}

impl ByHost {
    /// Prepares a run over these hosts.
    ///
    /// # Errors
    /// Those of [`Ssh::start`].
    pub async fn start(
        settings: SshSettings,
        hosts: &[Host],
        secrets: Secrets,
    ) -> Result<Self, TransportError> {
        let ssh = if hosts.iter().any(|host| host.transport.is_ssh()) {
            Some(Ssh::start(settings, hosts, secrets.clone()).await?)
        } else {
            None
        };
        Ok(Self { ssh, local: Local::new(secrets) })
    }

    /// The file that reproduces a login by hand, when there are any.
    pub fn ssh_config(&self) -> Option<&camino::Utf8Path> {
        self.ssh.as_ref().map(Ssh::config)
    }

    /// Starts a launcher on this machine.
    pub(super) async fn launch_here(&self, launch: Launch) -> Result<Box<dyn Remote>, TransportError> {
        self.local.launch(launch, CONNECT).await
    }

    /// Starts a launcher on a host, as who logs in there.
    pub(super) async fn launch(
        &self,
        place: &Host,
        launch: Launch,
    ) -> Result<Box<dyn Remote>, TransportError> {
        match (place.transport, &self.ssh) {
            (TransportKind::Local, _) => self.launch_here(launch).await,
            (TransportKind::Ssh, Some(ssh)) => ssh.launch(place, launch, CONNECT).await,
            (TransportKind::Ssh, None) => Err(unknown(place)),
        }
    }

    fn of(&self, host: &Host) -> Result<&dyn Transport, TransportError> {
        match (host.transport, &self.ssh) {
            (TransportKind::Local, _) => Ok(&self.local),
            (TransportKind::Ssh, Some(ssh)) => Ok(ssh),
            // Never on this machine instead.
            (TransportKind::Ssh, None) => Err(unknown(host)),
        }
    }
}

fn unknown(host: &Host) -> TransportError {
    TransportError::Protocol { message: format!("{} is not one of the run's hosts", host.name) }
}

#[async_trait]
impl Transport for ByHost {
    async fn open(&self, host: &Host, deadline: Duration) -> Result<Box<dyn Remote>, TransportError> {
        self.of(host)?.open(host, deadline).await
    }

    async fn open_and_run(
        &self,
        host: &Host,
        deadline: Duration,
        frame: &Frame,
        on_part: OnPart<'_>,
    ) -> Result<(Box<dyn Remote>, Result<(), TransportError>), TransportError> {
        self.of(host)?.open_and_run(host, deadline, frame, on_part).await
    }

    async fn close(&self) {
        if let Some(ssh) = &self.ssh {
            ssh.close().await;
        }
    }
}
