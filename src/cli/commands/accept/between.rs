//! Stages of `accept` in which hosts are tested with each other.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Instant;

use super::{Run, past};
use crate::accept::judge::Past;
use crate::accept::links::{self, Entrant, Suspect, Tour, Verdict};
use crate::accept::placed::Placed;
use crate::accept::record::{Finding, Stage};
use crate::active::{self, Fleet, Grown, Meeting, Trial};
use crate::cli::commands::verify;
use crate::cli::load::{load_quietly, reachable};
use crate::cli::on_hosts::{self, Stopped};
use crate::cli::parts::parts_of;
use crate::hostlist::fold;
use crate::inventory::Host;
use crate::launch::{self, Signals};
use crate::project::Project;
use crate::report::output;
use crate::report::screen::Verbosity;
use crate::report::style::{CALM, paint, seconds};
use crate::settings::Settings;
use crate::transport::Transport;
use crate::words::count;

/// Hosts that are logged in to, with what is declared of them.
pub(super) struct Logins {
    pub(super) fleet: Fleet,
    pub(super) project: Project,
    transport: Arc<dyn Transport>,
}

impl Logins {
    pub(super) async fn close(&self) {
        self.fleet.close().await;
        self.transport.close().await;
    }

    /// Ends the tests that are under way, and closes the logins.
    pub(super) async fn stop(&self, signals: &mut Signals) {
        let left = on_hosts::stop(self.fleet.stop(), signals).await;
        output::say(&format!("stopped: the tests are ended{left}"));
        self.transport.close().await;
    }

    /// A host as the inventory has it.
    fn host(&self, name: &str) -> Option<&Host> {
        self.project.hosts.iter().find(|host| host.name == name)
    }

    /// A host with its labels.
    pub(super) fn placed(&self, name: &str) -> Placed {
        let host = self.host(name);
        Placed { host: name.to_owned(), labels: host.map(|host| host.labels.clone()).unwrap_or_default() }
    }
}

/// Results of tests of pairs.
struct Tested {
    verdict: Verdict,
    /// Pairs that were suspect before they were tested once more.
    first: Vec<Suspect>,
    counted: (Vec<(String, Finding)>, Vec<String>),
    /// Rounds around which the counters of a host could not be read.
    uncounted: BTreeMap<usize, u64>,
    rounds: usize,
}

/// Tells what a stage does.
pub(super) fn say(settings: &Settings, stage: &str, text: &str) {
    if settings.verbosity != Verbosity::Quiet {
        output::say(&format!("{}  {text}", paint(CALM, &format!("{stage:>10}"))));
    }
}

impl Run<'_> {
    /// Logs in to hosts for tests between them; those that cannot be asked, or that somebody uses, are left out.
    pub(super) async fn logins(
        &mut self,
        stage: Stage,
        hosts: &BTreeSet<String>,
    ) -> anyhow::Result<(Logins, BTreeSet<String>)> {
        let target = self.on.only(hosts);
        let mut project = reachable(self.settings, &target, load_quietly(self.settings, &target)?)?;
        let secrets = launch::secrets(&mut project, self.on.connect.ask_become_pass, true, self.settings)?;
        verify::name_starters(&mut project);
        let members = active::members(&project, project.online());
        let only: Vec<_> = members.iter().map(|(host, _)| host.clone()).collect();
        let parallel = self.on.connect.parallel.unwrap_or(project.rollout.parallel).max(1);
        let transport =
            launch::open_transport(self.settings, &project.cluster, &only, &secrets, parallel).await?;
        let (fleet, silent) = Fleet::open(transport.as_ref(), &members, &secrets, parallel).await;
        for (host, reason) in &silent {
            self.assembly.untested(stage, host, reason);
        }
        let names = fleet.names();
        let mut free: BTreeSet<String> = names.iter().cloned().collect();
        for (place, reason) in fleet.busy().await {
            if let Some(name) = names.get(place) {
                self.assembly.untested(stage, name, &reason);
                free.remove(name);
            }
        }
        Ok((Logins { fleet, project, transport }, free))
    }

    /// Asks hosts for their parts, as far as no earlier stage did.
    async fn know_parts(&mut self, hosts: &BTreeSet<String>) -> anyhow::Result<Result<(), Stopped>> {
        let unknown: BTreeSet<String> =
            hosts.iter().filter(|host| !self.parts.contains_key(*host)).cloned().collect();
        if unknown.is_empty() {
            return Ok(Ok(()));
        }
        let (found, silent) = match parts_of(self.on, &unknown).await? {
            Ok(found) => found,
            Err(stopped) => return Ok(Err(stopped)),
        };
        for (host, reason) in silent {
            self.assembly.note(format!("{host}: its cards are not known by their serial numbers: {reason}"));
        }
        for parts in found.values() {
            self.assembly.parts(parts);
        }
        self.parts.extend(found);
        Ok(Ok(()))
    }

    /// Tests pairs of hosts, each with many others.
    pub(super) async fn pairs(&mut self) -> anyhow::Result<Result<(), Stopped>> {
        let left = self.assembly.left();
        let since = Instant::now();
        if left.len() < 2 {
            self.assembly.stage(Stage::Pairs, 0, 0.0, "fewer than two hosts are left");
            return Ok(Ok(()));
        }
        if let Err(stopped) = self.know_parts(&left).await? {
            return Ok(Err(stopped));
        }
        let (logins, free) = self.logins(Stage::Pairs, &left).await?;
        let entrants = self.entrants(&logins, &free);
        let mut tour = Tour::new(&entrants, self.args.quick);
        if tour.hosts() < 2 {
            logins.close().await;
            let why = if entrants.iter().all(|host| host.ports.is_empty()) {
                "no host has an RDMA device that can be tested"
            } else {
                "one host alone has an RDMA device that can be tested"
            };
            self.assembly.stage(Stage::Pairs, 0, since.elapsed().as_secs_f64(), why);
            return Ok(Ok(()));
        }
        let text = before(&tour);
        self.say("Pairs", &text);
        self.assembly.note(format!("load of the stage pairs: {text}"));
        let past = past(self.ledger);
        let (settings, fleet) = (self.settings, &logins.fleet);
        let tested = tokio::select! {
            tested = tested(settings, fleet, &entrants, &mut tour, &past) => tested,
            code = self.signals.any() => {
                logins.stop(&mut self.signals).await;
                return Ok(Err(Stopped(code)));
            }
        };
        logins.close().await;
        let unmet = tour.unmet();
        let on: Vec<&str> = entrants
            .iter()
            .enumerate()
            .filter(|(place, host)| {
                !host.ports.is_empty() && !unmet.get(place).is_some_and(|unmet| unmet.is_all)
            })
            .map(|(_, host)| host.placed.host.as_str())
            .collect();
        for (place, unmet) in &unmet {
            let Some(name) = entrants.get(*place).map(|host| &host.placed.host) else { continue };
            let text = unmet.text();
            if unmet.is_all {
                self.assembly.untested(Stage::Pairs, name, &text);
            } else {
                self.assembly.note(format!("pairs: {name}: {text}"));
            }
        }
        self.tested.extend(on.iter().map(|host| (*host).to_owned()));
        let is_good = tested.verdict.judged.iter().all(|judged| judged.finding.is_none());
        self.is_broken |= self.assembly.links(tested.verdict, &tested.first);
        for (host, finding) in tested.counted.0 {
            self.assembly.finding(&host, finding);
        }
        for note in tested.counted.1 {
            self.assembly.note(format!("pairs: {note}"));
        }
        for (place, rounds) in tested.uncounted {
            let host = entrants.get(place).map_or("", |host| host.placed.host.as_str());
            let rounds = count(rounds, "round");
            self.assembly.note(format!("pairs: the counters of {host} could not be read around {rounds}"));
        }
        if on.len() == 2 && !is_good {
            self.assembly.note("pairs: of two hosts nobody tells which one makes both slow".to_owned());
        }
        self.say(
            "Pairs",
            &format!(
                "{} in {}",
                count(tested.rounds as u64, "round"),
                seconds(since.elapsed().as_secs_f64())
            ),
        );
        self.assembly.stage(Stage::Pairs, on.len(), since.elapsed().as_secs_f64(), "");
        Ok(self.asked())
    }

    /// Hosts with the ports that are tested.
    fn entrants(&mut self, logins: &Logins, free: &BTreeSet<String>) -> Vec<Entrant> {
        let mut entrants = Vec::new();
        let mut without = Vec::new();
        for (place, name) in logins.fleet.names().into_iter().enumerate() {
            let ports = match logins.fleet.ports(place) {
                _ if !free.contains(&name) => Vec::new(),
                Ok(ports) => {
                    if ports.is_empty() {
                        without.push(name.clone());
                    }
                    ports
                }
                Err(reason) => {
                    self.assembly.untested(Stage::Pairs, &name, &reason);
                    Vec::new()
                }
            };
            let expect = logins.host(&name).map(|host| &host.expect);
            let limits = links::limits(
                expect.and_then(|expect| expect.active.as_ref()),
                expect.and_then(|expect| expect.accept.as_ref()),
            );
            entrants.push(Entrant::new(logins.placed(&name), ports, self.parts.get(&name), limits));
        }
        if !without.is_empty() && without.len() < entrants.len() {
            let names = fold(without.iter().map(String::as_str));
            self.assembly
                .note(format!("pairs: without an RDMA device that is up, unlike the others: {names}"));
        }
        entrants
    }
}

/// Says what the stage of pairs loads, and for how long.
fn before(tour: &Tour) -> String {
    let (rounds, most) = tour.rounds();
    let (usual, longest) = active::seconds(tour.rails());
    let minutes = |seconds: u64| seconds.div_ceil(60);
    format!(
        "{} in {} of disjoint pairs, {}: bandwidth in both directions and latency; about {} min, at most {} min",
        count(tour.hosts() as u64, "host"),
        count(rounds as u64, "round"),
        count(tour.rails() as u64, "rail"),
        minutes(rounds as u64 * usual),
        minutes(most as u64 * longest),
    )
}

/// Makes all rounds.
async fn tested(
    settings: &Settings,
    fleet: &Fleet,
    entrants: &[Entrant],
    tour: &mut Tour,
    past: &Past,
) -> Tested {
    let mut trials: Vec<Trial> = Vec::new();
    let mut rounds: Vec<(Vec<Meeting>, Vec<Grown>)> = Vec::new();
    let mut uncounted: BTreeMap<usize, u64> = BTreeMap::new();
    let mut out: BTreeSet<usize> = BTreeSet::new();
    let (all, _) = tour.rounds();
    let mut made = 0;
    while let Some(meetings) = tour.next_round() {
        made += 1;
        say(settings, "Pairs", &format!("round {made} of {all}: {}", count(meetings.len() as u64, "pair")));
        let met = fleet.meet(&meetings).await;
        tour.take(&met.trials);
        let silent = tour.out();
        for host in silent.difference(&out).filter_map(|host| entrants.get(*host)) {
            let host = &host.placed.host;
            say(
                settings,
                "Pairs",
                &format!("{host} gave no figure with any partner and is left out from here on"),
            );
        }
        out = silent;
        for host in met.uncounted {
            *uncounted.entry(host).or_default() += 1;
        }
        trials.extend(met.trials);
        rounds.push((meetings, met.grown));
    }
    let mut verdict = links::verdict(entrants, &trials, &[], past);
    let mut first = Vec::new();
    let suspects = verdict.suspects.iter().map(|suspect| (suspect.hosts, suspect.rail.as_str()));
    let more = tour.again(suspects);
    if !more.is_empty() {
        let mut again = Vec::new();
        for meetings in more {
            made += 1;
            let pairs = count(meetings.len() as u64, "pair");
            say(settings, "Pairs", &format!("once more, since no port explains it: {pairs}"));
            let met = fleet.meet(&meetings).await;
            again.extend(met.trials);
            rounds.push((meetings, met.grown));
        }
        first = verdict.suspects;
        verdict = links::verdict(entrants, &trials, &again, past);
    }
    let counted = links::counted(entrants, &rounds);
    Tested { verdict, first, counted, uncounted, rounds: made }
}
