//! The stage of `accept` in which all hosts reduce together.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;

use super::Run;
use super::between::{Logins, say};
use crate::accept::collectives::{self, Collectives, Next};
use crate::accept::placed::Placed;
use crate::accept::record::Stage;
use crate::active::{self, By, Fleet, Meeting, Reducers};
use crate::cli::on_hosts::Stopped;
use crate::hostlist::fold;
use crate::settings::Settings;
use crate::words::count;

impl Run<'_> {
    /// Reduces over groups that grow, and finds what makes one of them bad.
    pub(super) async fn collectives(&mut self) -> anyhow::Result<Result<(), Stopped>> {
        let stage = Stage::Collectives;
        let left = self.assembly.left();
        let since = Instant::now();
        if left.len() < 2 {
            self.assembly.stage(stage, 0, 0.0, "fewer than two hosts are left");
            return Ok(Ok(()));
        }
        let (logins, free) = self.logins(stage, &left).await?;
        let names = logins.fleet.names();
        let places: BTreeMap<String, usize> =
            names.iter().enumerate().map(|(place, name)| (name.clone(), place)).collect();
        let free: BTreeSet<usize> = free.iter().filter_map(|name| places.get(name)).copied().collect();
        let reducers = logins.fleet.reducers(&free).await;
        if reducers.programs.len() < 2 {
            logins.close().await;
            let why: BTreeSet<&String> = reducers.without.values().collect();
            let why = why.first().map_or("nobody is free", |why| why.as_str());
            let why = format!("fewer than two hosts can reduce together: {why}");
            self.assembly.stage(stage, 0, since.elapsed().as_secs_f64(), &why);
            return Ok(Ok(()));
        }
        for (place, why) in &reducers.without {
            if let Some(name) = names.get(*place) {
                self.assembly.untested(stage, name, &format!("it can reduce with nobody: {why}"));
            }
        }
        let mut passed_over: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for (place, why) in &reducers.passed_over {
            passed_over.entry(why).or_default().extend(names.get(*place).map(String::as_str));
        }
        for (why, hosts) in passed_over {
            let hosts = fold(hosts);
            self.assembly.note(format!("collectives: the GPUs of {hosts} are not reduced: {why}"));
        }
        let hosts: Vec<Placed> = reducers
            .programs
            .keys()
            .filter_map(|place| names.get(*place))
            .map(|name| logins.placed(name))
            .collect();
        let of_pairs = match reducers.by {
            By::Nccl => collectives::BY_NCCL,
            By::Mpi => collectives::BY_MPI,
        };
        let mut groups = Collectives::new(hosts.clone(), reducers.floor.clone(), of_pairs);
        let text = before(&groups, &reducers, &logins);
        self.say("Together", &text);
        self.assembly.note(format!("load of the stage collectives: {text}"));
        let (settings, fleet) = (self.settings, &logins.fleet);
        let rails = tokio::select! {
            rails = reduced(settings, fleet, &reducers, &places, &mut groups) => rails,
            code = self.signals.any() => {
                logins.stop(&mut self.signals).await;
                return Ok(Err(Stopped(code)));
            }
        };
        logins.close().await;
        self.tested.extend(hosts.iter().map(|host| host.host.clone()));
        for (group, run) in groups.runs() {
            self.assembly.note(format!("collectives: {}", groups.told(group, run)));
        }
        let (findings, between) = groups.blamed();
        self.is_broken |= !between.is_empty();
        for (host, mut finding) in findings {
            if let Some(said) = rails.get(&host) {
                finding.text = format!("{}; {said}", finding.text);
            }
            self.assembly.finding(&host, finding);
        }
        for text in between {
            self.assembly.note(format!("collectives: {text}"));
        }
        self.assembly.reduced(groups.pairs(), groups.figures());
        self.assembly.stage(stage, hosts.len(), since.elapsed().as_secs_f64(), "");
        Ok(self.asked())
    }
}

/// Says what the stage loads, and for how long at most.
fn before(groups: &Collectives, reducers: &Reducers, logins: &Logins) -> String {
    let (usual, most) = groups.bound();
    let names = logins.fleet.names();
    let hosts = fold(reducers.programs.keys().filter_map(|place| names.get(*place)).map(String::as_str));
    let each = active::reduce_seconds();
    let rails =
        reducers.programs.keys().map(|place| logins.fleet.ports(*place).map_or(0, |ports| ports.len()));
    let (_, look) = active::seconds(rails.max().unwrap_or(0));
    // Each culprit is looked at once more, rail by rail.
    let longest = most as u64 * each + 3 * look;
    let what = match reducers.by {
        By::Nccl => {
            format!("all_reduce of NCCL over {} of each of {hosts}", count(reducers.each as u64, "GPU"))
        }
        By::Mpi => format!("MPI's allreduce over the memory of {hosts}, since NCCL is not there"),
    };
    format!(
        "{what}: pairs, then groups that grow, {} of at most {each} s; where one is bad, at \
         most {} to find what makes it so, at most {} min in all",
        count(usual as u64, "run"),
        count(most as u64, "run"),
        longest.div_ceil(60)
    )
}

/// Makes all runs; what the rails of culprits do, by host.
async fn reduced(
    settings: &Settings,
    fleet: &Fleet,
    reducers: &Reducers,
    places: &BTreeMap<String, usize>,
    groups: &mut Collectives,
) -> BTreeMap<String, String> {
    while let Next::Groups(next) = groups.next() {
        if let [group] = next.as_slice() {
            let names = fold(group.iter().map(String::as_str));
            say(settings, "Together", &format!("all_reduce on {names}"));
        } else {
            say(
                settings,
                "Together",
                &format!("all_reduce on {} at the same time", count(next.len() as u64, "pair")),
            );
        }
        let runs = next.iter().map(|group| async move {
            let group: Vec<usize> = group.iter().filter_map(|name| places.get(name)).copied().collect();
            fleet.reduce(reducers, &group).await
        });
        let runs = futures::future::join_all(runs).await;
        groups.take(runs);
    }
    let mut said = BTreeMap::new();
    for (host, other) in groups.suspects() {
        let (Some(one), Some(two)) = (places.get(&host), places.get(&other)) else { continue };
        let own = fleet.ports(*one).unwrap_or_default();
        let theirs = fleet.ports(*two).unwrap_or_default();
        let common = own.iter().filter(|port| theirs.iter().any(|their| their.device == port.device));
        let rails: Vec<String> = common.map(|port| port.device.clone()).collect();
        if rails.is_empty() {
            continue;
        }
        say(settings, "Together", &format!("the rails of {host} with {other}"));
        let met = fleet.meet(&[Meeting { hosts: (*one, *two), rails }]).await;
        let odd = collectives::odd_rails(&own, &met.trials);
        let text = if odd.is_empty() {
            format!("its cards are good with {other}: look at its GPUs and at what runs there")
        } else {
            format!("with {other} {}", odd.join(", "))
        };
        said.insert(host, text);
    }
    said
}
