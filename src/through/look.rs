//! Each host once more, behind a launcher, and in a new login to hold that against.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::launcher::{Launcher, START};
use crate::checks::{self, JobView};
use crate::engine;
use crate::events::HostStatus;
use crate::exit::{self, Exit};
use crate::facts::login::LoginQuery;
use crate::facts::view::ViewQuery;
use crate::facts::{Facts, Query};
use crate::inventory::Host;
use crate::launch;
use crate::project::Project;
use crate::scheduler::slurm::{Known, ask_slurm};
use crate::secrets::Secrets;
use crate::settings::Settings;
use crate::transport::{CONNECT, Launched, Place};
use crate::words::count;

/// A launcher, and who starts it.
#[derive(Debug)]
pub struct Through {
    text: String,
    launcher: Launcher,
    at: Option<String>,
}

fn wrong(what: impl Into<String>) -> Exit {
    Exit::new(exit::USAGE, what)
}

impl Through {
    /// Reads what was typed.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn read(text: &str, at: Option<&str>) -> Result<Self, Exit> {
        let launcher = Launcher::read(text).map_err(|why| wrong(format!("--through: {why}")))?;
        if at.is_some() && !launcher.names_hosts() {
            return Err(wrong(
                "--through-at is for a launcher with `{host}` in it: one without is started on each host",
            ));
        }
        Ok(Self { text: text.to_owned(), launcher, at: at.map(str::to_owned) })
    }

    /// The options that a run on the rest of the hosts needs as well.
    pub fn lasting(&self) -> Vec<String> {
        let mut options = vec!["--through".to_owned(), self.text.clone()];
        if let Some(at) = &self.at {
            options.extend(["--through-at".to_owned(), at.clone()]);
        }
        options
    }

    /// Looks at all hosts of the project in both ways, at once, on `parallel` hosts at a time. `load` loads the
    /// project anew, with what is to be kept until its run has ended; `say` tells what is done.
    ///
    /// # Errors
    /// When it cannot be started.
    pub async fn look<Kept, Error: From<Exit>>(
        &self,
        settings: &Settings,
        (project, secrets): (&Project, &Secrets),
        parallel: usize,
        load: impl Fn() -> Result<(Project, Kept), Error>,
        say: &dyn Fn(&str),
    ) -> Result<BTreeMap<usize, JobView>, Error> {
        let hosts: Vec<Host> = project.online().cloned().collect();
        let Some(first) = hosts.first() else { return Ok(BTreeMap::new()) };
        let at = match &self.at {
            Some(name) => {
                let found = project.hosts.iter().find(|host| host.name == *name);
                Some(found.ok_or_else(|| wrong(format!("--through-at: no host `{name}` in the inventory")))?)
            }
            None => None,
        };
        say(&format!("{} behind `{}`", count(hosts.len() as u64, "host"), self.text));
        let every: Vec<Host> = hosts.iter().chain(at).cloned().collect();
        let ways = launch::ways(settings, &project.cluster, &every, secrets, parallel).await?;
        let known = match self.launcher {
            Launcher::Slurm => {
                let place = at.map_or_else(|| first.here(), Host::as_login);
                let hint = "name the host that has Slurm's commands: --through-at HOST";
                ask_slurm(&ways, &place).await.map_err(|why| Exit::new(exit::CONFIG, why).hint(hint))?
            }
            Launcher::Words(_) => BTreeMap::new(),
        };
        let words: BTreeMap<String, Vec<String>> = hosts
            .iter()
            .map(|host| (host.name.clone(), self.launcher.words(&host.name, known.get(&host.name))))
            .collect();
        let place = match (self.launcher.names_hosts(), at) {
            (true, Some(at)) => Place::At(Box::new(at.clone())),
            (true, None) => Place::Here,
            (false, _) => Place::Each,
        };
        let refused: BTreeMap<usize, String> = hosts
            .iter()
            .filter_map(|host| Some((host.index, self.refusal(known.get(&host.name))?)))
            .collect();
        // Each run has its project to itself.
        let (mut jobs, _kept) = load()?;
        jobs.selected.retain(|index| !refused.contains_key(index));
        let (mut logins, _kept_too) = load()?;
        for host in &mut logins.hosts {
            *host = host.as_login();
        }
        let view = BTreeSet::from([Query::from(ViewQuery)]);
        let mut all = checks::queries();
        all.retain(|query| !query.is::<LoginQuery>());
        all.extend(view.iter().cloned());
        let login = launch::open_transport(settings, &project.cluster, &hosts, secrets, parallel).await?;
        let launched = Arc::new(Launched::new(ways, place, words.clone()));
        let (login, job) = tokio::join!(
            launch::look(settings, logins, login, view, secrets, CONNECT),
            launch::look(settings, jobs, launched, all, secrets, START),
        );
        let mut seen = BTreeMap::new();
        for host in &hosts {
            let job = match refused.get(&host.index) {
                Some(reason) => Err(reason.clone()),
                None => answers(&job, host).map_err(|reason| told(reason, known.get(&host.name))),
            };
            let login = answers(&login, host);
            let line = words.get(&host.name).ok_or_else(|| Exit::new(exit::BUG, "a host has no launcher"))?;
            let line = shlex::try_join(line.iter().map(String::as_str)).unwrap_or_else(|_| self.text.clone());
            let job = job.as_ref().copied().map_err(String::as_str);
            seen.insert(host.index, JobView::new(line, login.as_ref().copied().map_err(String::as_str), job));
        }
        Ok(seen)
    }

    /// Returns the reason why no job is tried on a host.
    fn refusal(&self, known: Option<&Known>) -> Option<String> {
        match (&self.launcher, known) {
            (Launcher::Words(_), _) => None,
            (Launcher::Slurm, None) => Some("Slurm has no node of this name".to_owned()),
            (Launcher::Slurm, Some(known)) => known.refusal(),
        }
    }
}

/// Adds the state of the node to a launcher's message.
fn told(reason: String, known: Option<&Known>) -> String {
    match known {
        Some(known) => format!("{reason} (Slurm has the node as {})", known.node.state),
        None => reason,
    }
}

/// Returns the answers of a host, or the reason why there are none.
fn answers<'a>(report: &'a engine::Report, host: &Host) -> Result<&'a Facts, String> {
    let session = report.sessions.iter().find(|session| session.index() == host.index);
    let session = session.ok_or("the host was not asked")?;
    match session.result().0 {
        _ if session.was_gathered() => Ok(session.facts()),
        HostStatus::Unreachable { reason, .. }
        | HostStatus::Quarantined { reason }
        | HostStatus::NotStarted(reason)
        | HostStatus::Offline(reason) => Err(reason),
        HostStatus::Ok | HostStatus::Failed => Err("it was not asked".to_owned()),
    }
}
