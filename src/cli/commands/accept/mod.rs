//! `provision accept`: which hosts may be given to users, by what they did under load.

mod between;
mod together;

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use anyhow::Context as _;
use camino::Utf8Path;
use futures::FutureExt as _;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::verify::{self, Active, Kept, Look};
use crate::accept::fabric::{self, Fabric, Wanted};
use crate::accept::judge::{Limit, Past};
use crate::accept::node::{self, Load, Report, State};
use crate::accept::parts::{HostParts, Ledger};
use crate::accept::record::{Record, Stage, Verdict};
use crate::accept::{Assembly, floors, signature};
use crate::cli::args::{AcceptArgs, AcceptStage, Reports, ThisMachine};
use crate::cli::load::{load, some_online};
use crate::cli::on_hosts::{DEADLINE, OnHosts, Stopped, last_line};
use crate::cli::parts::{ledger, parts_of, remember};
use crate::cli::results;
use crate::events;
use crate::exit::{self, Exit};
use crate::hostlist::fold;
use crate::inventory::Host;
use crate::inventory::expect::ExpectAccept;
use crate::journal;
use crate::launch::Signals;
use crate::playbook::versions::VERSIONS;
use crate::report::style::safe_line;
use crate::report::{self, output};
use crate::settings::Settings;
use crate::words::count;

/// Fabrics that are looked for, of hosts that do not see each other.
const FABRICS: usize = 8;
/// Seconds between the two readings of the counters of a fabric.
const WINDOW: &str = "10";
/// Seconds that a program which reads a fabric may take.
const PROGRAM: &str = "120";
/// Longest time that reading a fabric may take.
const FABRIC_DEADLINE: Duration = Duration::from_mins(15);
/// Seconds that a look at the tests of a host waits for their end.
const WAIT: u32 = 15;
/// Pause where no host answers.
const PAUSE: Duration = Duration::from_secs(10);

/// A run that has not come to its end, kept so that another process goes on with it.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Unfinished {
    id: String,
    began: Timestamp,
    hosts: BTreeSet<String>,
    load: Option<Load>,
}

/// What keeps all stages of one command together.
struct Run<'a> {
    settings: &'a Settings,
    args: &'a AcceptArgs,
    on: OnHosts<'a>,
    id: String,
    began: Timestamp,
    load: Load,
    limits: &'a BTreeMap<String, Vec<Limit>>,
    ledger: &'a Ledger,
    assembly: Assembly,
    /// Parts of hosts after their load.
    parts: BTreeMap<String, HostParts>,
    signals: Signals,
    /// Whether something is wrong that is no host's: a cable between switches.
    is_broken: bool,
    /// Hosts that some stage tested.
    tested: BTreeSet<String>,
}

/// Runs the command; its exit code.
///
/// # Errors
/// What keeps the run from starting.
pub(crate) async fn run(settings: &Settings, args: AcceptArgs) -> anyhow::Result<u8> {
    // From the first moment on: an end that is asked for between two commands on the hosts counts as well.
    let signals = Signals::new().map_err(|error| Exit::caused("cannot take signals", error))?;
    let project = load(settings, &args.target)?;
    some_online(&project, false)?;
    let cluster = settings.cluster_dir(&project.cluster);
    let kept = cluster.join("acceptance-unfinished.json");
    let hosts: BTreeSet<String> = project.online().map(|host| host.name.clone()).collect();
    let on = OnHosts { settings, target: &args.target, connect: &args.connect };
    if args.stop {
        return stop(on, &hosts, &kept).await;
    }
    checked(&args)?;
    let load = match args.time {
        Some(time) => Load::lasting(time.0, &args.user),
        None if args.quick => Load::new(Load::QUICK, &args.user),
        None => Load::new(Load::USUAL, &args.user),
    };
    let limits = project.online().map(|host| (host.name.clone(), limits(host))).collect();
    let name = project.cluster.clone();
    drop(project);
    let ledger = ledger(&cluster)?;
    let now = events::now();
    let before = resumed(&kept, &hosts, &load)?;
    let is_resumed = before.is_some();
    let (id, began) = before.unwrap_or_else(|| (journal::new_run_id(now), now));
    let assembly = Assembly::new(&id, &name, began, hosts.iter().cloned());
    let mut run = Run {
        settings,
        args: &args,
        on,
        id,
        began,
        load,
        limits: &limits,
        ledger: &ledger,
        assembly,
        parts: BTreeMap::new(),
        signals,
        is_broken: false,
        tested: BTreeSet::new(),
    };
    let since = Instant::now();
    if is_resumed {
        run.assembly
            .note("the run was interrupted and gone on with: counters are compared from then on".to_owned());
    }
    run.say_what();
    if let Err(Stopped(code)) = run.stages(&kept, &hosts).await? {
        if kept.exists() {
            run.say("Node", "ending the tests on the hosts");
            stop(on, &hosts, &kept).await?;
        }
        return Ok(code);
    }
    let _gone = std::fs::remove_file(&kept);
    remember(&cluster, &ledger, &run.id, &run.parts, |host| run.assembly.figures(host))?;
    let is_broken = run.is_broken;
    let record = run.assembly.finish(since.elapsed().as_secs_f64(), &run.tested);
    match journal::keep_acceptance(&cluster, &record.id, &serde_json::to_vec(&record)?) {
        Ok(path) => output::say(&format!("kept as {path}")),
        Err(error) => output::say(&format!("this record is not kept: {error}")),
    }
    tell(settings, &args, &record)?;
    let all = record.hosts.values().all(|host| host.verdict == Verdict::Passed);
    Ok(if all && !is_broken { exit::OK } else { exit::DRIFT })
}

/// Refuses what would be found out after days.
fn checked(args: &AcceptArgs) -> anyhow::Result<()> {
    let usage = |text: &str| Err(Exit::new(exit::USAGE, text.to_owned()).into());
    if args.user == "root" {
        return usage("root loads no GPU: name an account without rights");
    }
    if args.json.as_deref() == Some("-")
        && (args.sign.is_some() || args.html.as_deref() == Some(Utf8Path::new("-")))
    {
        return usage("stdout has room for one result, and a signature needs a file");
    }
    if let (Some(key), Some(file)) = (&args.sign, &args.json) {
        signature::may_sign(Utf8Path::new(file))?;
        std::fs::File::open(key).with_context(|| format!("cannot read {key}"))?;
    }
    Ok(())
}

/// Figures of parts from earlier runs.
fn past(ledger: &Ledger) -> Past {
    let mut past = Past::new();
    for (key, history) in &ledger.parts {
        for (name, points) in &history.figures {
            let values = points.iter().map(|point| point.value).collect();
            past.insert((key.clone(), name.clone()), values);
        }
    }
    past
}

/// Thresholds of the inventory for a host.
fn limits(host: &Host) -> Vec<Limit> {
    let Some(expect) = &host.expect.accept else { return Vec::new() };
    let share = |percent: Option<u32>| percent.map(|percent| f64::from(percent) / 100.0);
    let limit = |name: &str, least: Option<u32>| Limit {
        model: String::new(),
        name: name.to_owned(),
        least: least.map(f64::from),
        behind_fleet: share(expect.behind_fleet),
        behind_past: share(expect.behind_past),
    };
    let declared: BTreeMap<&str, u32> = expect.least().collect();
    ExpectAccept::NAMES.iter().map(|name| limit(name, declared.get(name).copied())).collect()
}

/// Returns the run that was left unfinished, where it is the same.
fn resumed(
    kept: &Utf8Path,
    hosts: &BTreeSet<String>,
    load: &Load,
) -> Result<Option<(String, Timestamp)>, Exit> {
    let before: Unfinished = journal::read_state(kept);
    if before.id.is_empty() {
        return Ok(None);
    }
    if before.hosts == *hosts && before.load.as_ref() == Some(load) {
        output::say(&format!("going on with {}, which was not finished", before.id));
        return Ok(Some((before.id, before.began)));
    }
    let names = fold(before.hosts.iter().map(String::as_str));
    let error = Exit::new(exit::USAGE, format!("the run {} on {names} is not finished", before.id));
    Err(error.hint(
        "say the same hosts and options again to go on with it, or end it: provision accept INVENTORY --stop",
    ))
}

/// Ends what goes on.
async fn stop(on: OnHosts<'_>, hosts: &BTreeSet<String>, kept: &Utf8Path) -> anyhow::Result<u8> {
    let mut said = BTreeMap::new();
    let ended = on
        .run(hosts, &node::stop(), DEADLINE, |host, status, text| {
            said.insert(host.to_owned(), (status, text));
        })
        .await?;
    let stopped = said.iter().filter(|(_, (_, text))| text.starts_with("stopped "));
    let stopped: Vec<&str> = stopped.map(|(host, _)| host.as_str()).collect();
    let left: Vec<(&String, &(i32, String))> = said.iter().filter(|(_, (status, _))| *status != 0).collect();
    for (host, (_, text)) in &left {
        output::say(&safe_line(&format!("{host}: {}", last_line(text))));
    }
    if !stopped.is_empty() {
        output::say(&format!("stopped on {}: the GPUs are free", fold(stopped.into_iter())));
    } else if left.is_empty() && ended.as_ref().is_ok_and(BTreeMap::is_empty) {
        output::say("no tests go on");
    }
    for (host, reason) in ended.iter().flatten() {
        output::say(&safe_line(&format!("{host} was not reached, and its tests may go on: {reason}")));
    }
    let before: Unfinished = journal::read_state(kept);
    // Those that were not asked may go on.
    if left.is_empty() && ended.as_ref().is_ok_and(BTreeMap::is_empty) && before.hosts.is_subset(hosts) {
        let _gone = std::fs::remove_file(kept);
    }
    Ok(match ended {
        Err(Stopped(code)) => code,
        Ok(_) if !left.is_empty() => exit::FAILED,
        Ok(away) if !away.is_empty() => exit::UNREACHABLE,
        Ok(_) => exit::OK,
    })
}

impl Run<'_> {
    /// Makes the stages that were asked for, one behind the other.
    async fn stages(
        &mut self,
        kept: &Utf8Path,
        hosts: &BTreeSet<String>,
    ) -> anyhow::Result<Result<(), Stopped>> {
        let wanted = |stage| self.args.stages.is_empty() || self.args.stages.contains(&stage);
        let [sanity, node, fabric, links, pairs, together] = [
            AcceptStage::Sanity,
            AcceptStage::Node,
            AcceptStage::Fabric,
            AcceptStage::Links,
            AcceptStage::Pairs,
            AcceptStage::Collectives,
        ]
        .map(wanted);
        if sanity && let Err(stopped) = self.looked(Stage::Sanity, Active::No).await? {
            return Ok(Err(stopped));
        }
        let left = self.assembly.left();
        if node && !left.is_empty() {
            let unfinished = Unfinished {
                id: self.id.clone(),
                began: self.began,
                hosts: hosts.clone(),
                load: Some(self.load.clone()),
            };
            if let Err(error) = journal::write_state(kept, &unfinished) {
                output::say(&format!("this run cannot be gone on with by another: {error}"));
            }
            if let Err(stopped) = self.node(&left).await? {
                return Ok(Err(stopped));
            }
        }
        if fabric && let Err(stopped) = self.fabric().await? {
            return Ok(Err(stopped));
        }
        if links && self.assembly.left().len() < 2 {
            self.assembly.stage(Stage::Links, 0, 0.0, "fewer than two hosts are left");
        } else if links && let Err(stopped) = self.looked(Stage::Links, Active::Yes).await? {
            return Ok(Err(stopped));
        }
        if pairs && let Err(stopped) = self.pairs().await? {
            return Ok(Err(stopped));
        }
        if together { self.collectives().await } else { Ok(Ok(())) }
    }

    /// Puts into the record what was asked.
    fn say_what(&mut self) {
        let stages: Vec<String> =
            self.args.stages.iter().map(|stage| format!("{stage:?}").to_lowercase()).collect();
        if !stages.is_empty() {
            self.assembly.note(format!("only these stages were asked for: {}", stages.join(", ")));
        }
        let (load, user) = (&self.load, &self.load.user);
        let long = match load.total {
            0 => format!("{} of each test for {} s", count(u64::from(load.rounds), "round"), load.seconds),
            total => format!("rounds of each test for {} s, for {total} s at least", load.seconds),
        };
        self.assembly.note(format!("load of the stage node: {long}, as {user}"));
    }

    /// Tells what a stage does.
    fn say(&self, stage: &str, text: &str) {
        between::say(self.settings, stage, text);
    }

    /// The end that somebody has asked for meanwhile.
    fn asked(&mut self) -> Result<(), Stopped> {
        self.signals.any().now_or_never().map_or(Ok(()), |code| Err(Stopped(code)))
    }

    /// Looks at the hosts that are left as `verify` does.
    async fn looked(&mut self, stage: Stage, active: Active) -> anyhow::Result<Result<(), Stopped>> {
        let left = self.assembly.left();
        let since = Instant::now();
        let target = self.on.only(&left);
        let here = ThisMachine::default();
        let (finished, code) = Box::pin(verify::once(
            self.settings,
            (&target, &here),
            &self.args.connect,
            &Reports::default(),
            Look { active, ..Look::NOTHING },
            Kept::Watched,
        ))
        .await?;
        if code >= exit::INTERRUPTED {
            return Ok(Err(Stopped(code)));
        }
        for (name, host) in &finished.record.hosts {
            match host.status.as_ref().and_then(report::unreachable_reason) {
                Some(reason) => self.assembly.untested(stage, name, reason),
                None if host.checks.is_empty() => self.assembly.untested(stage, name, "it was not looked at"),
                None if active == Active::Yes => self.assembly.traffic(name, &host.checks),
                None => self.assembly.checks(stage, name, &host.checks),
            }
        }
        // Hosts that the run never came to.
        for name in left.iter().filter(|name| !finished.record.hosts.contains_key(*name)) {
            self.assembly.untested(stage, name, "it was not looked at");
        }
        self.tested.extend(left.iter().cloned());
        self.assembly.pairs(&finished.record.pairs);
        self.assembly.stage(stage, left.len(), since.elapsed().as_secs_f64(), "");
        Ok(self.asked())
    }

    /// Looks at the InfiniBand fabrics of the hosts that are left, from one host of each.
    async fn fabric(&mut self) -> anyhow::Result<Result<(), Stopped>> {
        let left = self.assembly.left();
        let since = Instant::now();
        if left.is_empty() {
            self.assembly.stage(Stage::Fabric, 0, 0.0, "no host is left");
            return Ok(Ok(()));
        }
        let words = ["sh", "-c", fabric::ADAPTERS, "sh"].map(str::to_owned);
        let mut adapters: BTreeMap<u64, (String, String)> = BTreeMap::new();
        let mut silent: BTreeMap<String, String> = BTreeMap::new();
        let mut claimed: BTreeSet<u64> = BTreeSet::new();
        let take = |host: &str, status, text: String| {
            if status != 0 {
                silent.insert(host.to_owned(), last_line(&text).to_owned());
            }
            for (guid, name) in fabric::adapters(&text) {
                if adapters.insert(guid, (host.to_owned(), name)).is_some() {
                    claimed.insert(guid);
                }
            }
        };
        match self.on.run(&left, &words, DEADLINE, take).await? {
            Ok(away) => silent.extend(away),
            Err(stopped) => return Ok(Err(stopped)),
        }
        for (host, reason) in &silent {
            self.assembly.untested(Stage::Fabric, host, reason);
        }
        for guid in claimed {
            adapters.remove(&guid);
            self.assembly.note(format!("fabric: two hosts say that they have the adapter {guid:#018x}"));
        }
        let mut unseen: BTreeSet<String> = adapters.values().map(|(host, _)| host.clone()).collect();
        let without = left.iter().filter(|host| !unseen.contains(*host) && !silent.contains_key(*host));
        let without: Vec<&str> = without.map(String::as_str).collect();
        if !unseen.is_empty() && !without.is_empty() {
            self.assembly.note(format!(
                "fabric: without InfiniBand, unlike the others: {}",
                fold(without.into_iter())
            ));
        }
        let all = unseen.len();
        if all == 0 {
            self.assembly.stage(Stage::Fabric, 0, since.elapsed().as_secs_f64(), "no host has InfiniBand");
            return Ok(Ok(()));
        }
        self.say("Fabric", &format!("cables, switches and managers of {}", count(all as u64, "host")));
        let mut fabrics: Vec<(Fabric, BTreeSet<String>)> = Vec::new();
        for _ in 0..FABRICS {
            let Some(first) = unseen.pop_first() else { break };
            let mut text = String::new();
            let words = ["sh", "-c", fabric::SCRIPT, "sh", WINDOW, PROGRAM, ""].map(str::to_owned);
            let only = BTreeSet::from([first.clone()]);
            let take = |_: &str, _status, said: String| text = said;
            if let Err(stopped) = self.on.run(&only, &words, FABRIC_DEADLINE, take).await? {
                return Ok(Err(stopped));
            }
            let fabric = fabric::read(&text);
            let in_it = adapters.iter().filter(|(guid, _)| fabric.nodes.contains_key(guid));
            let mut hosts: BTreeSet<String> = in_it.map(|(_, (host, _))| host.clone()).collect();
            hosts.insert(first);
            unseen.retain(|host| !hosts.contains(host));
            fabrics.push((fabric, hosts));
        }
        // A host that sees nobody but itself is missing in the fabric of the others, and so is one that nobody came to.
        fabrics.sort_by_key(|(_, hosts)| std::cmp::Reverse(hosts.len()));
        if let Some(((_, most), others)) = fabrics.split_first_mut()
            && most.len() > 1
        {
            most.extend(unseen);
            for (_, host) in others.iter().filter(|(_, hosts)| hosts.len() < 2) {
                most.extend(host.iter().cloned());
            }
            fabrics = fabrics
                .into_iter()
                .enumerate()
                .filter(|(at, (_, hosts))| *at == 0 || hosts.len() > 1)
                .map(|(_, of)| of)
                .collect();
        }
        for (fabric, hosts) in &fabrics {
            let own = adapters.iter().filter(|(_, (host, _))| hosts.contains(host));
            let wanted = Wanted {
                hosts: hosts.iter().cloned().collect(),
                adapters: own.map(|(guid, of)| (*guid, of.clone())).collect(),
                ..Wanted::default()
            };
            self.tested.extend(hosts.iter().cloned());
            self.is_broken |= self.assembly.fabric(hosts, &fabric::judge(fabric, &wanted));
        }
        self.assembly.stage(Stage::Fabric, all, since.elapsed().as_secs_f64(), "");
        Ok(self.asked())
    }

    /// Loads each host by itself.
    async fn node(&mut self, hosts: &BTreeSet<String>) -> anyhow::Result<Result<(), Stopped>> {
        let since = Instant::now();
        self.say(
            "Node",
            &format!(
                "{} under load: every GPU, its memory and its way to the processors; {}",
                count(hosts.len() as u64, "host"),
                at_most(self.load.most(1), self.load.most(8))
            ),
        );
        let (before, silent) = match parts_of(self.on, hosts).await? {
            Ok(found) => found,
            Err(stopped) => return Ok(Err(stopped)),
        };
        let mut going = hosts.clone();
        for (host, reason) in silent {
            going.remove(&host);
            self.assembly.untested(Stage::Node, &host, &reason);
        }
        for parts in before.values() {
            self.assembly.parts(parts);
        }
        let reports = match self.loaded(going, since).await? {
            Ok(reports) => reports,
            Err(stopped) => return Ok(Err(stopped)),
        };
        for (host, report) in &reports {
            self.assembly.node(Stage::Node, host, (report, &self.load));
        }
        self.assembly.digests(Stage::Node, &reports);
        let loaded: BTreeSet<String> = reports.into_keys().collect();
        self.tested.extend(loaded.iter().cloned());
        if !loaded.is_empty() {
            self.parts = match parts_of(self.on, &loaded).await? {
                Ok((after, silent)) => {
                    for (host, reason) in silent {
                        let text = format!("what its parts counted under load is not known: {reason}");
                        self.assembly.untested(Stage::Node, &host, &text);
                    }
                    after
                }
                Err(stopped) => return Ok(Err(stopped)),
            };
        }
        for (host, after) in &self.parts {
            if let Some(before) = before.get(host) {
                self.assembly.counted(Stage::Node, before, after);
            }
        }
        self.assembly.judge(&floors::floors(&VERSIONS), self.limits, &past(self.ledger));
        self.assembly.stage(Stage::Node, hosts.len(), since.elapsed().as_secs_f64(), "");
        Ok(self.asked())
    }

    /// Starts the tests of hosts and follows them to their end.
    async fn loaded(
        &mut self,
        mut going: BTreeSet<String>,
        since: Instant,
    ) -> anyhow::Result<Result<BTreeMap<String, Report>, Stopped>> {
        let mut reports: BTreeMap<String, Report> = BTreeMap::new();
        let mut refused: BTreeMap<String, String> = BTreeMap::new();
        if going.is_empty() {
            return Ok(Ok(reports));
        }
        let start = node::start(&self.id, &self.load);
        let take = |host: &str, status, text: String| {
            if status != 0 {
                refused.insert(host.to_owned(), refusal(&text));
            }
        };
        match self.on.run(&going, &start, DEADLINE, take).await? {
            Ok(away) => refused.extend(away),
            Err(stopped) => return Ok(Err(stopped)),
        }
        for (host, reason) in refused {
            going.remove(&host);
            self.assembly.untested(Stage::Node, &host, &reason);
        }
        let patience = Duration::from_secs(self.load.patience());
        let mut told = String::new();
        while !going.is_empty() && since.elapsed() < patience {
            if let Err(stopped) = self.asked() {
                return Ok(Err(stopped));
            }
            let follow = node::follow(&self.id, WAIT);
            let take = |host: &str, _status, text: String| {
                reports.insert(host.to_owned(), Report::read(&text));
            };
            let away = match self.on.run(&going, &follow, DEADLINE, take).await? {
                Ok(away) => away,
                Err(stopped) => return Ok(Err(stopped)),
            };
            going.retain(|host| reports.get(host).is_none_or(|report| report.state == State::Going));
            let steps = going.iter().filter_map(|host| reports.get(host)).map(|report| report.step.as_str());
            if let Some(step) = steps.filter(|step| !step.is_empty()).min() {
                let text = format!("{step} on {}", count(going.len() as u64, "host"));
                if text != told {
                    self.say("Node", &text);
                    told = text;
                }
            }
            if !going.is_empty() && away.len() == going.len() {
                tokio::select! {
                    () = tokio::time::sleep(PAUSE) => {}
                    code = self.signals.any() => return Ok(Err(Stopped(code))),
                }
            }
        }
        for host in going.iter().filter(|host| !reports.contains_key(*host)) {
            self.assembly.untested(Stage::Node, host, "it was not reached again");
        }
        Ok(Ok(reports))
    }
}

/// Why a host did not start its tests.
fn refusal(text: &str) -> String {
    let busy: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("busy ")).collect();
    if !busy.is_empty() {
        return format!("it is in use: {}", busy.join("; "));
    }
    let last = last_line(text);
    last.strip_prefix("other ").map_or_else(
        || last.to_owned(),
        |other| format!("the tests of run {other} go on there: `--stop` ends them"),
    )
}

/// The time that hosts with one and with eight GPUs take.
fn at_most(one: u32, eight: u32) -> String {
    let minutes = |seconds: u32| seconds.div_ceil(60);
    format!("at most {} min with one GPU, {} min with eight", minutes(one), minutes(eight))
}

fn tell(settings: &Settings, args: &AcceptArgs, record: &Record) -> anyhow::Result<()> {
    if let Some(file) = &args.json {
        results::write_json(file, record)?;
    }
    if let Some(file) = &args.html {
        results::write_result(file, &report::acceptance::page(record)?)?;
    }
    if let (Some(key), Some(file)) = (&args.sign, &args.json) {
        let signature = signature::sign(Utf8Path::new(file), key)?;
        output::say(&format!("signed: {signature}"));
    }
    if args.json.as_deref() == Some("-") || args.html.as_deref() == Some(Utf8Path::new("-")) {
        return Ok(());
    }
    output::data(&report::accept::text(record, settings.page)).context("cannot write to stdout")
}
