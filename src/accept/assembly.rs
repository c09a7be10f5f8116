//! What stages said, put together to a record.

use std::collections::{BTreeMap, BTreeSet};

use super::fabric::{FabricFault, FabricFinding, Severity};
use super::judge::{self, Better, Floor, Judged, Limit, Measured, Past};
use super::links;
use super::node::{Gpu, Load, Report, Sample, State};
use super::parts::{self, HostParts};
use super::record::{
    FORMAT, Figure, Finding, HostRecord, Pair, Part, PartKind, Record, Samples, Stage, StageRecord, Verdict,
};
use crate::causes::{self, Counts, Reading};
use crate::events::{CheckResult, CheckStatus, PairTest};

/// Reasons to hold a clock back, by their bits, and whether a GPU that has one is in trouble. That its power is at the
/// limit is what a load is for.
const REASONS: [(u64, &str, bool); 7] = [
    (0x4, "power limit", false),
    (0x8, "hardware slowdown", true),
    (0x20, "thermal, by the driver", true),
    (0x40, "thermal, by the hardware", true),
    (0x80, "power brake", true),
    (0x2, "clocks that were set", false),
    (0x10, "sync boost", false),
];
/// Counters that must not rise under load; the others are told.
const HURTS: [&str; 9] = [
    "ecc.uncorrected",
    "ecc.threshold",
    "remap.",
    "repair.",
    "retired.double",
    "nvlink.Recovery",
    "link.link_downed",
    "pcie.fatal",
    "memory.uncorrected",
];
/// Advice for a GPU that computes wrong.
const WRONG: &str = "take it out of use, run `dcgmi diag -r 3` on it, and show both to the vendor";
/// Share of its time under load that a GPU in trouble is held back for at least.
const TROUBLE: f64 = 0.02;

/// A record in the making.
#[derive(Debug)]
pub struct Assembly {
    record: Record,
}

impl Assembly {
    /// Begins a record of these hosts.
    pub fn new(
        id: &str,
        cluster: &str,
        began: jiff::Timestamp,
        hosts: impl IntoIterator<Item = String>,
    ) -> Self {
        let hosts = hosts.into_iter().map(|host| (host, HostRecord::default())).collect();
        Self {
            record: Record {
                format: FORMAT,
                id: id.to_owned(),
                cluster: cluster.to_owned(),
                version: env!("CARGO_PKG_VERSION").to_owned(),
                began,
                seconds: 0.0,
                stages: Vec::new(),
                hosts,
                pairs: Vec::new(),
                notes: Vec::new(),
            },
        }
    }

    /// Hosts that no stage left out.
    pub fn left(&self) -> BTreeSet<String> {
        self.record
            .hosts
            .iter()
            .filter(|(_, host)| host.findings.is_empty())
            .map(|(name, _)| name.clone())
            .collect()
    }

    /// Adds how a stage went. `failed` are those that it left out; `skipped` says why it tested nothing.
    pub fn stage(&mut self, stage: Stage, hosts: usize, seconds: f64, skipped: &str) {
        let failed = self.record.hosts.iter();
        let failed =
            failed.filter(|(_, host)| host.findings.first().is_some_and(|first| first.stage == stage));
        let failed = failed.map(|(name, _)| name.clone()).collect();
        self.record.stages.push(StageRecord { stage, hosts, seconds, failed, skipped: skipped.to_owned() });
    }

    /// Adds something that speaks against a host.
    pub fn finding(&mut self, host: &str, finding: Finding) {
        let host = self.host(host);
        host.verdict = Verdict::Failed;
        host.findings.push(finding);
    }

    /// A host that cannot be tested, and why: that is no fault of its parts.
    pub fn untested(&mut self, stage: Stage, host: &str, reason: &str) {
        let host = self.host(host);
        host.findings.push(Finding {
            stage,
            part: String::new(),
            text: reason.to_owned(),
            action: String::new(),
        });
    }

    /// The key of a GPU: that of the part in its place, else its UUID.
    fn key(&self, host: &str, gpu: &Gpu) -> String {
        let place = place(&gpu.pci);
        let parts = self.record.hosts.get(host).into_iter().flat_map(|host| &host.parts);
        let mut known = parts.filter(|part| part.kind == PartKind::Gpu && part.place == place);
        known.next().map_or_else(|| format!("gpu {}", gpu.uuid), |part| part.key.clone())
    }

    /// Adds the parts of a host; before what they did, so that this has their keys.
    pub fn parts(&mut self, parts: &HostParts) {
        let host = self.host(&parts.host);
        host.parts.clone_from(&parts.parts);
        host.software.extend(parts.versions.clone());
    }

    /// Adds what the parts of a host counted under load.
    pub fn counted(&mut self, stage: Stage, before: &HostParts, after: &HostParts) {
        for grown in parts::grown(before, after) {
            let said = format!(
                "{} of {} rose from {} to {} under load",
                grown.name, grown.part, grown.before, grown.now
            );
            if HURTS.iter().any(|name| grown.name.starts_with(name)) {
                let action = "take it out of use and ask its vendor: `provision parts rma` makes what they want to see";
                let (part, action) = (grown.part, action.to_owned());
                self.finding(&after.host, Finding { stage, part, text: said, action });
            } else {
                self.record.notes.push(format!("{}: {said}", after.host));
            }
        }
    }

    /// Holds all figures against floors, the fleet and the past; `limits` are those of the inventory, by host.
    pub fn judge(&mut self, floors: &[Floor], limits: &BTreeMap<String, Vec<Limit>>, past: &Past) {
        // Hosts of which other things are asked are no fleet with the others.
        let mut groups: Vec<(Vec<Limit>, Vec<Measured>)> = Vec::new();
        for (name, host) in &mut self.record.hosts {
            let own = limits.get(name).cloned().unwrap_or_default();
            let figures = std::mem::take(&mut host.figures);
            let measured = measured(name, host, figures);
            match groups.iter_mut().find(|(limits, _)| *limits == own) {
                Some((_, all)) => all.extend(measured),
                None => groups.push((own, measured)),
            }
        }
        for (limits, measured) in groups {
            let judgement = judge::judge(&measured, floors, &limits, past);
            self.record
                .notes
                .extend(judgement.notes.into_iter().map(|note| format!("{}: {}", note.name, note.text)));
            self.judged(judgement.judged);
        }
    }

    /// Adds figures with what speaks against them.
    fn judged(&mut self, judged: Vec<Judged>) {
        for judged in judged {
            if let Some(finding) = judged.finding {
                self.finding(&judged.host, finding);
            }
            self.host(&judged.host).figures.push(judged.figure);
        }
    }

    /// Adds what tests of pairs said; `first` are those that were suspect before they were tested once more. Whether
    /// something is wrong that is no host's: what lies between two of them.
    pub fn links(&mut self, verdict: links::Verdict, first: &[links::Suspect]) -> bool {
        self.judged(verdict.judged);
        for (host, finding) in verdict.silent {
            self.finding(&host, finding);
        }
        self.record.pairs.extend(verdict.pairs);
        self.record.notes.extend(verdict.notes.into_iter().map(|note| format!("pairs: {note}")));
        for last in &verdict.suspects {
            self.record.notes.push(format!(
                "pairs: {}; each of the two is good with others: look at what is between them, such as cables of switches, \
                 a route or a rail",
                last.text
            ));
        }
        let is_same =
            |one: &links::Suspect, other: &links::Suspect| one.hosts == other.hosts && one.rail == other.rail;
        for once in first.iter().filter(|once| !verdict.suspects.iter().any(|last| is_same(once, last))) {
            self.record.notes.push(format!("pairs: once and not again: {}", once.text));
        }
        !verdict.suspects.is_empty()
    }

    /// Adds what collectives reached.
    pub fn reduced(&mut self, pairs: Vec<Pair>, figures: Vec<(String, Figure)>) {
        self.record.pairs.extend(pairs);
        for (host, figure) in figures {
            self.host(&host).figures.push(figure);
        }
    }

    fn host(&mut self, name: &str) -> &mut HostRecord {
        self.record.hosts.entry(name.to_owned()).or_default()
    }

    /// Adds what the checks of a stage said of a host.
    pub fn checks(&mut self, stage: Stage, host: &str, checks: &[CheckResult]) {
        for check in checks.iter().filter(|check| check.status == CheckStatus::Unknown) {
            self.record.notes.push(format!("{host}: {} is not known: {}", check.check, check.message));
        }
        for check in checks.iter().filter(|check| check.status == CheckStatus::Fail) {
            self.finding(
                host,
                Finding {
                    stage,
                    part: String::new(),
                    text: format!("{}: {}", check.check, check.message),
                    action: check.hint.clone().unwrap_or_default(),
                },
            );
        }
    }

    /// Adds what checks of traffic said of a host, each in its stage.
    pub fn traffic(&mut self, host: &str, checks: &[CheckResult]) {
        for check in checks {
            if check.status == CheckStatus::Unknown && check.check.starts_with("active.") {
                self.untested(stage_of(&check.check), host, &format!("{}: {}", check.check, check.message));
                continue;
            }
            self.checks(stage_of(&check.check), host, std::slice::from_ref(check));
        }
    }

    /// Adds a sentence that speaks against no part.
    pub fn note(&mut self, text: String) {
        self.record.notes.push(text);
    }

    /// Adds what speaks against a fabric; what is between switches, or a warning, is told as a note. Whether something
    /// keeps hosts out that is no host's.
    pub fn fabric(&mut self, hosts: &BTreeSet<String>, findings: &[FabricFinding]) -> bool {
        let mut lasts = false;
        for found in findings {
            // What could not be read is no fault of a cable.
            if found.fault == FabricFault::Unread {
                for host in hosts {
                    self.untested(Stage::Fabric, host, &found.text);
                }
                continue;
            }
            if found.severity == Severity::Fail && !found.hosts.is_empty() {
                for (host, finding) in found.of_hosts() {
                    self.finding(host, finding);
                }
                continue;
            }
            lasts |= found.severity == Severity::Fail;
            self.record.notes.push(format!("fabric: {}", found.text));
        }
        lasts
    }

    /// Adds the bandwidth of pairs.
    pub fn pairs(&mut self, pairs: &[PairTest]) {
        self.record.pairs.extend(pairs.iter().filter_map(|pair| {
            let [from, to] = &pair.hosts;
            Some(Pair {
                from: from.clone(),
                to: to.clone(),
                name: pair.rail.clone(),
                value: pair.gbps?,
                unit: "Gb/s".to_owned(),
                holds: Some(pair.error.is_none()),
                from_port: String::new(),
                to_port: String::new(),
                said: String::new(),
            })
        }));
    }

    /// Adds what a host did under load.
    pub fn node(&mut self, stage: Stage, name: &str, (report, load): (&Report, &Load)) {
        let keys: BTreeMap<&str, String> =
            report.gpus.iter().map(|gpu| (gpu.uuid.as_str(), self.key(name, gpu))).collect();
        let key = |uuid: &str| keys.get(uuid).cloned().unwrap_or_else(|| format!("gpu {uuid}"));
        let of = |uuid: &str| {
            report.gpus.iter().find(|gpu| gpu.uuid == uuid).map_or("a GPU", |gpu| gpu.index.as_str())
        };
        let host = self.host(name);
        for gpu in &report.gpus {
            let key = key(&gpu.uuid);
            if !host.parts.iter().any(|part| part.key == key) {
                host.parts.push(Part {
                    kind: PartKind::Gpu,
                    key,
                    model: gpu.name.clone(),
                    place: place(&gpu.pci),
                });
            }
        }
        for (uuid, about) in &report.about {
            for (key, value) in about.iter().filter(|(key, _)| ["cuda", "cublas"].contains(&key.as_str())) {
                host.software.insert(key.clone(), value.clone());
            }
            tracing::debug!(uuid, "about");
        }
        for (uuid, name, value, unit) in &report.figures {
            host.figures.push(Figure {
                name: name.clone(),
                part: key(uuid),
                value: *value,
                unit: unit.clone(),
                thresholds: Vec::new(),
                holds: None,
            });
        }
        for (uuid, samples) in &report.samples {
            host.samples.push(sampled(key(uuid), samples));
        }
        let mut findings = Vec::new();
        let mut found = |uuid: &str, text: String, action: &str| {
            findings.push(Finding { stage, part: key(uuid), text, action: action.to_owned() });
        };
        for (uuid, text) in &report.wrong {
            found(uuid, format!("GPU {} computes wrong: {text}", of(uuid)), WRONG);
        }
        for (uuid, test) in unsteady(report) {
            found(
                uuid,
                format!("GPU {} computes wrong: its results of {test} differ from round to round", of(uuid)),
                WRONG,
            );
        }
        for (uuid, text) in &report.failed {
            let reading = Reading::of(text);
            let act = reading.ranked().first().map(|first| reading.act(first));
            found(uuid, format!("GPU {}: {text}", of(uuid)), act.as_deref().unwrap_or(""));
        }
        for (uuid, samples) in &report.samples {
            let held = held(samples);
            for (bit, name, trouble) in REASONS {
                let share = held.get(&bit).copied().unwrap_or(0.0);
                if trouble && share > TROUBLE {
                    found(
                        uuid,
                        format!(
                            "GPU {} was held back for {:.0} % of its time under load: {name}",
                            of(uuid),
                            share * 100.0
                        ),
                        "look at its cooling and power: fans, airflow, power supplies",
                    );
                }
            }
        }
        findings.extend(of_kernel(stage, report, key));
        for finding in findings {
            self.finding(name, finding);
        }
        for (uuid, who) in &report.busy {
            let index = of(uuid).to_owned();
            self.untested(stage, name, &format!("GPU {index} ({}) is in use by {who}", key(uuid)));
        }
        for reason in &report.skipped {
            self.untested(stage, name, reason);
        }
        let (tests, rounds) = load.wanted();
        let tests: Vec<&str> = tests.collect();
        let is_over = matches!(report.state, State::Ended(_));
        for gpu in report.gpus.iter().filter(|gpu| !report.busy.contains_key(&gpu.uuid)) {
            let ended = |test: &&&str| {
                report.ends.get(&(gpu.uuid.clone(), (**test).to_owned())).copied().unwrap_or(0) < rounds
            };
            let missing: Vec<&str> = tests.iter().filter(ended).copied().collect();
            if is_over && report.skipped.is_empty() && !missing.is_empty() {
                let text = format!("GPU {} did not come to the end of {}", gpu.index, missing.join(", "));
                self.untested(stage, name, &text);
            }
            if is_over && !report.samples.contains_key(&gpu.uuid) {
                self.record.notes.push(format!("{name}: the clock of GPU {} was not seen", gpu.index));
            }
        }
        for (uuid, text) in report.unable.iter().filter(|(_, text)| !text.starts_with("peers")) {
            self.record.notes.push(format!("{name}: GPU {}: {text}", of(uuid)));
        }
        for (uuid, text) in &report.strange {
            self.untested(stage, name, &format!("GPU {}: {text}", of(uuid)));
        }
        if is_over && report.skipped.is_empty() {
            if report.gpus.is_empty() {
                self.untested(stage, name, "the driver has no GPU");
            }
            if !report.whole {
                self.untested(stage, name, "not all was read of what its tests wrote");
            }
        }
        if report.rebooted {
            let text = "it was started anew while its tests ran".to_owned();
            let action =
                "look for the cause: `provision why` with its journal, power and temperature".to_owned();
            self.finding(name, Finding { stage, part: String::new(), text, action });
        }
        match &report.state {
            State::Ended(status) if status == "0" => {}
            State::Ended(status) if report.skipped.is_empty() => {
                let said = report.errors.last().map_or(status.as_str(), String::as_str);
                self.untested(stage, name, &format!("the tests did not come to their end: {said}"));
            }
            State::Ended(_) => {}
            State::Going => self.untested(stage, name, "the tests did not end in their time"),
            State::Died => self.untested(stage, name, "the tests ended before their time"),
            State::Gone => self.untested(stage, name, "the host has lost its tests"),
        }
    }

    /// Compares the digests of results over all GPUs: of a model with the same libraries, the few that differ from the
    /// many compute wrong.
    pub fn digests(&mut self, stage: Stage, reports: &BTreeMap<String, Report>) {
        type Kind<'a> = (&'a str, &'a str, Option<&'a String>);
        /// GPUs with their hosts, by the digest of their result.
        type Sums<'a> = BTreeMap<&'a str, Vec<(&'a str, &'a Gpu)>>;
        let mut kinds: BTreeMap<Kind<'_>, Sums<'_>> = BTreeMap::new();
        for (host, report) in reports {
            for (uuid, name, sum) in &report.digests {
                let Some(gpu) = report.gpus.iter().find(|gpu| &gpu.uuid == uuid) else { continue };
                if unsteady(report).contains(&(uuid, name)) {
                    continue;
                }
                let cublas = report.about.get(uuid).and_then(|about| about.get("cublas"));
                let kind = (name.as_str(), gpu.name.as_str(), cublas);
                let of = kinds.entry(kind).or_default().entry(sum).or_default();
                if !of.iter().any(|(at, known)| at == host && known.uuid == gpu.uuid) {
                    of.push((host, gpu));
                }
            }
        }
        let mut odd = Vec::new();
        let mut unknown = Vec::new();
        for ((name, _, _), sums) in &kinds {
            let all: usize = sums.values().map(Vec::len).sum();
            for gpus in sums.values() {
                let (few, others) = (gpus.len(), all - gpus.len());
                if few * 2 > all || all < 2 || sums.len() < 2 {
                    continue;
                }
                if few * 2 == all {
                    for (host, gpu) in gpus {
                        let text = format!(
                            "GPU {} and {others} more compute two results of {name}, and nobody knows which one is right",
                            gpu.index
                        );
                        unknown.push(((*host).to_owned(), text));
                    }
                    continue;
                }
                for (host, gpu) in gpus {
                    let text = format!(
                        "GPU {} computes wrong: its result of {name} differs from that of {others} others",
                        gpu.index
                    );
                    odd.push(((*host).to_owned(), self.key(host, gpu), text));
                }
            }
        }
        for (host, text) in unknown {
            self.untested(stage, &host, &text);
        }
        for (host, part, text) in odd {
            self.finding(&host, Finding { stage, part, text, action: WRONG.to_owned() });
        }
    }

    /// Ends the record: who has nothing against it, and was tested to the end, passes.
    pub fn finish(mut self, seconds: f64, tested: &BTreeSet<String>) -> Record {
        for (name, host) in &mut self.record.hosts {
            if host.findings.is_empty() {
                host.verdict = if tested.contains(name) { Verdict::Passed } else { Verdict::NotTested };
            }
        }
        self.record.seconds = seconds;
        self.record
    }

    /// The figures of a host, as they were judged.
    pub fn figures(&self, host: &str) -> &[Figure] {
        self.record.hosts.get(host).map_or(&[], |host| &host.figures)
    }
}

/// The stage of a check of traffic.
fn stage_of(check: &str) -> Stage {
    // The others are looked at again.
    let is_traffic = check.starts_with("active.") || check == crate::checks::ssh::MESH;
    if is_traffic { Stage::Links } else { Stage::Sanity }
}

/// Figures of a host, one of each part and name: the median of its rounds.
fn measured(name: &str, host: &HostRecord, figures: Vec<Figure>) -> Vec<Measured> {
    let mut all: BTreeMap<(String, String), Vec<Figure>> = BTreeMap::new();
    for figure in figures {
        all.entry((figure.part.clone(), figure.name.clone())).or_default().push(figure);
    }
    let mut measured = Vec::new();
    for mut rounds in all.into_values() {
        rounds.sort_by(|one, other| one.value.total_cmp(&other.value));
        let Some(median) = rounds.get(rounds.len() / 2) else { continue };
        let part = host.parts.iter().find(|part| part.key == median.part);
        let number = host
            .parts
            .iter()
            .filter(|part| part.kind == PartKind::Gpu)
            .position(|part| part.key == median.part);
        measured.push(Measured {
            host: name.to_owned(),
            stage: Stage::Node,
            part: median.part.clone(),
            model: part.map(|part| part.model.clone()).unwrap_or_default(),
            label: number.map_or_else(|| median.part.clone(), |number| format!("GPU {number}")),
            place: part.map(|part| part.place.clone()).unwrap_or_default(),
            name: median.name.clone(),
            value: median.value,
            unit: median.unit.clone(),
            better: Better::Higher,
        });
    }
    measured
}

/// The PCI address as the kernel writes it; the text itself where it is none.
fn place(pci: &str) -> String {
    parts::address(pci).unwrap_or_else(|| pci.to_owned())
}

/// GPUs with tests of which they had more than one result.
fn unsteady(report: &Report) -> BTreeSet<(&String, &String)> {
    let mut sums: BTreeMap<(&String, &String), BTreeSet<&String>> = BTreeMap::new();
    for (uuid, name, sum) in &report.digests {
        sums.entry((uuid, name)).or_default().insert(sum);
    }
    sums.into_iter().filter(|(_, sums)| sums.len() > 1).map(|(of, _)| of).collect()
}

/// What the kernel said meanwhile that is no note, each once.
fn of_kernel(stage: Stage, report: &Report, key: impl Fn(&str) -> String) -> Vec<Finding> {
    let all = causes::read(report.kernel.iter().map(String::as_str));
    let mut seen = BTreeSet::new();
    let mut findings = Vec::new();
    for said in all.iter().filter(|said| said.counts(&all) > Counts::Note) {
        if seen.insert((said.cause.id, said.device().to_owned())) {
            // The kernel says `PCI:0000:18:00`, the driver `00000000:18:00.0`.
            let device = said.device().trim_start_matches("PCI:");
            let gpu =
                report.gpus.iter().find(|gpu| !device.is_empty() && place(&gpu.pci).starts_with(device));
            findings.push(Finding {
                stage,
                part: gpu.map(|gpu| key(&gpu.uuid)).unwrap_or_default(),
                text: format!("under load the kernel said: {}", said.says()),
                action: said.act(&all).to_owned(),
            });
        }
    }
    findings
}

/// Shares of the time, by the bit of the reason. Moments without load do not count.
fn held(samples: &[Sample]) -> BTreeMap<u64, f64> {
    let loaded: Vec<&Sample> = samples.iter().filter(|sample| sample.reasons & 1 == 0).collect();
    let all = f64::from(u32::try_from(loaded.len()).unwrap_or(u32::MAX)).max(1.0);
    REASONS
        .iter()
        .map(|(bit, _, _)| {
            let with = loaded.iter().filter(|sample| sample.reasons & bit != 0).count();
            (*bit, f64::from(u32::try_from(with).unwrap_or(u32::MAX)) / all)
        })
        .collect()
}

fn sampled(part: String, samples: &[Sample]) -> Samples {
    let first = samples.first().map_or(0.0, |sample| sample.at);
    let mut all = Samples { part, ..Samples::default() };
    for (number, sample) in samples.iter().enumerate() {
        all.at.push(sample.at - first);
        all.mhz.push(sample.mhz.unwrap_or(0.0));
        all.watts.push(sample.watts.unwrap_or(0.0));
        all.celsius.push(sample.celsius.unwrap_or(0.0));
        let next = samples.get(number + 1).map_or(0.0, |next| (next.at - sample.at).max(0.0));
        for (bit, name, _) in REASONS {
            if sample.reasons & bit != 0 && next > 0.0 {
                *all.held.entry(name.to_owned()).or_default() += next;
            }
        }
    }
    all
}
