//! Ways to hosts, and what this controller is called there.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use sha2::{Digest as _, Sha256};

use crate::engine::{self, Cancel, Consent, Context, Deadlines, Mode};
use crate::events::{self, Emitter};
use crate::exit::{self, Exit};
use crate::facts::Query;
use crate::inventory::Host;
use crate::journal;
use crate::project::Project;
use crate::secrets::Secrets;
use crate::settings::Settings;
use crate::transport::{ByHost, Keep, SshSettings, Transport};

/// This controller as it is called in the locks of hosts. Only who sees the same locks can tell
/// whether a run is dead, so the state directory is a part of it.
pub fn controller(settings: &Settings) -> String {
    let machine = std::fs::read_to_string("/etc/machine-id").unwrap_or_default();
    let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let machine = Sha256::digest(format!("{}\n{}", machine.trim(), settings.state));
    let machine = crate::words::hex(&machine);
    let text = format!("{}@{}/{}", settings.user.trim(), host.trim(), machine.get(..8).unwrap_or(""));
    text.chars().filter(|c| c.is_ascii_alphanumeric() || "@/._-".contains(*c)).collect()
}

/// The transport for some hosts, beside a run.
///
/// # Errors
/// When `ssh` or its configuration cannot be used.
pub async fn open_transport(
    settings: &Settings,
    cluster: &str,
    hosts: &[Host],
    secrets: &Secrets,
    parallel: usize,
) -> Result<Arc<dyn Transport>, Exit> {
    start_transport(ssh_settings(settings, cluster, parallel), hosts, secrets).await
}

/// Asks hosts beside a run, quietly: what came out is in the report. `start` is how long a host may take to
/// give a shell.
pub async fn look(
    settings: &Settings,
    project: Project,
    transport: Arc<dyn Transport>,
    queries: BTreeSet<Query>,
    secrets: &Secrets,
    start: Duration,
) -> engine::Report {
    let (emitter, events) = Emitter::new(journal::new_run_id(events::now()), None);
    // Nobody listens.
    drop(events);
    let (stopper, cancel) = engine::channel();
    let context = Context {
        deadlines: Deadlines { connect: start, reconnect: Duration::ZERO, ..Deadlines::default() },
        queries,
        ..beside(settings, project, transport, secrets, emitter, cancel)
    };
    let report = engine::run(Arc::new(context), "verify").await;
    drop(stopper);
    report
}

/// The context of hosts beside a run, which are asked and not changed.
pub(super) fn beside(
    settings: &Settings,
    project: Project,
    transport: Arc<dyn Transport>,
    secrets: &Secrets,
    emitter: Emitter,
    cancel: Cancel,
) -> Context {
    let state = settings.state.clone();
    let fleet = engine::SharedFacts::recorded(&journal::FleetRecord::default(), 0, |_| None);
    Context {
        reboots: tokio::sync::Semaphore::new(1),
        project: Arc::new(project),
        transport,
        emitter: Arc::new(emitter.hiding(secrets.clone())),
        mode: Mode::Gather,
        deadlines: Deadlines::default(),
        cancel,
        secrets: secrets.clone(),
        controller: controller(settings),
        alive: Box::new(move |run| journal::is_alive_anywhere(&state, run)),
        queries: BTreeSet::new(),
        expected: None,
        consent: Consent::refused(),
        fleet: Arc::new(fleet),
        watch: None,
    }
}

/// Ways to some hosts, beside a run.
///
/// # Errors
/// When `ssh` or its configuration cannot be used.
pub async fn ways(
    settings: &Settings,
    cluster: &str,
    hosts: &[Host],
    secrets: &Secrets,
    parallel: usize,
) -> Result<ByHost, Exit> {
    let ways = ByHost::start(ssh_settings(settings, cluster, parallel), hosts, secrets.clone()).await;
    ways.map_err(|error| Exit::new(exit::CONFIG, error.to_string()))
}

pub(super) fn ssh_settings(settings: &Settings, cluster: &str, parallel: usize) -> SshSettings {
    SshSettings {
        runtime_dir: settings.runtime_dir.clone(),
        logins: parallel.min(64),
        terminal: settings.interactive,
        keep: Some(Keep { cluster: cluster.to_owned(), home: settings.home.clone() }),
        ..SshSettings::default()
    }
}

pub(super) async fn start_transport(
    ssh: SshSettings,
    hosts: &[Host],
    secrets: &Secrets,
) -> Result<Arc<dyn Transport>, Exit> {
    let transport = ByHost::start(ssh, hosts, secrets.clone()).await;
    Ok(Arc::new(transport.map_err(|error| Exit::new(exit::CONFIG, error.to_string()))?))
}
