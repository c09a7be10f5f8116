//! Differences between hosts that fail and hosts that do not, and the clusters into which a fleet falls.

use std::collections::{BTreeMap, BTreeSet};

use super::answer::{Answer, Cluster, Finding, Unread, Value};
use super::fleet::{Fleet, Thing};
use super::kind::Kind;
use super::part::NAMELESS;
use super::weights::weigh;
use crate::hostlist::fold;

/// Least separation that is told, of 1: what one of two bad hosts has is a chance.
const LEAST: f64 = 0.6;
/// Least ratio of errors of the bad hosts to those of the good ones.
const TIMES: u64 = 3;
/// Difference in percent from which a file system's fill level counts.
const FULL: u64 = 20;
/// Clusters that are told at most.
const CLUSTERS: usize = 8;

/// The value of a thing on the hosts of a group on which it is known: nothing where it is not there.
struct Side<'f> {
    hosts: Vec<u32>,
    values: Vec<Option<&'f str>>,
}

impl<'f> Side<'f> {
    fn of(fleet: &Fleet, thing: &'f Thing, hosts: &[u32]) -> Self {
        let mut side = Self { hosts: Vec::new(), values: Vec::new() };
        for host in hosts {
            let value = thing.values.iter().find(|(_, have)| have.binary_search(host).is_ok());
            if value.is_none() && fleet.is_unknown(*host, thing.kind) {
                continue;
            }
            side.hosts.push(*host);
            side.values.push(value.map(|(value, _)| value.as_str()));
        }
        side
    }

    /// Its hosts with this value, or those with another.
    fn part(&self, value: Option<&str>, is: bool) -> Self {
        let picked = self.hosts.iter().zip(&self.values).filter(|(_, other)| (**other == value) == is);
        let (hosts, values) = picked.map(|(host, value)| (*host, *value)).unzip();
        Self { hosts, values }
    }

    /// Values with the share of its hosts.
    fn shares(&self) -> BTreeMap<Option<&'f str>, (usize, f64)> {
        let mut shares: BTreeMap<Option<&str>, (usize, f64)> = BTreeMap::new();
        for value in &self.values {
            shares.entry(*value).or_default().0 += 1;
        }
        #[expect(clippy::cast_precision_loss, reason = "numbers of hosts")]
        for (times, share) in shares.values_mut() {
            *share = *times as f64 / self.values.len() as f64;
        }
        shares
    }

    /// Whether all hosts of both sides have the same value.
    fn is_as(&self, other: &Self) -> bool {
        let first = self.values.first();
        self.values.iter().chain(&other.values).all(|value| Some(value) == first)
    }

    /// As numbers; what is not there counts as none.
    fn numbers(&self) -> Option<Vec<u64>> {
        self.values.iter().map(|value| value.map_or(Some(0), |value| value.parse().ok())).collect()
    }
}

impl Fleet {
    /// Whether a thing of this kind that a host does not show may be there nevertheless.
    fn is_unknown(&self, host: u32, kind: Kind) -> bool {
        self.unread.get(&host).is_some_and(|kinds| kinds.contains_key(&kind))
            || self.unasked.get(&host).is_some_and(|kinds| kinds.contains(&kind))
    }

    fn numbers_of(&self, names: &BTreeSet<String>) -> Vec<u32> {
        let numbers = self.hosts.iter().enumerate().filter(|(_, name)| names.contains(*name));
        numbers.filter_map(|(number, _)| u32::try_from(number).ok()).collect()
    }

    /// Ranks what separates the bad hosts from the good ones.
    pub fn compare(&self, bad: &BTreeSet<String>, good: &BTreeSet<String>) -> Answer {
        let (bad, good) = (self.numbers_of(bad), self.numbers_of(good));
        let mut differ = 0;
        let mut alike: BTreeMap<(Kind, String, Vec<u32>), Finding> = BTreeMap::new();
        for thing in self.things.iter().filter(|thing| !thing.key.ends_with(NAMELESS)) {
            let (bad_side, good_side) = (Side::of(self, thing, &bad), Side::of(self, thing, &good));
            if bad_side.hosts.is_empty() || good_side.hosts.is_empty() || bad_side.is_as(&good_side) {
                continue;
            }
            differ += 1;
            let Some(separation) = self.separation(thing, (&bad_side, &bad), (&good_side, &good)) else {
                continue;
            };
            if separation < LEAST {
                continue;
            }
            let (bad_values, good_values) = (self.values(&bad_side), self.values(&good_side));
            let (weight, playbook) = weigh(thing.kind, &thing.key, usual(&bad_values), usual(&good_values));
            let mut finding = Finding {
                kind: thing.kind,
                key: thing.key.clone(),
                bad: bad_values,
                good: good_values,
                separation,
                weight,
                playbook,
                more: Vec::new(),
            };
            // Things that change together: packages of one source, parameters of one module.
            let odd = odd_hosts(&bad_side, &good_side);
            let place = (thing.kind, family(thing.kind, &thing.key, &finding), odd);
            match alike.get_mut(&place) {
                None => {
                    alike.insert(place, finding);
                }
                Some(first) => {
                    if finding.score() > first.score() {
                        std::mem::swap(first, &mut finding);
                        first.more = std::mem::take(&mut finding.more);
                    }
                    first.more.push(finding.key);
                }
            }
        }
        let alike =
            alike.into_iter().map(|((kind, family, _), finding)| whole_object(kind, &family, finding));
        let mut findings: Vec<Finding> = alike.collect();
        findings.sort_by(|one, other| {
            other
                .score()
                .total_cmp(&one.score())
                .then_with(|| (one.kind, &one.key).cmp(&(other.kind, &other.key)))
        });
        Answer {
            bad: self.names_of(&bad),
            good: self.names_of(&good),
            compared: self.len(),
            differ,
            findings,
            clusters: Vec::new(),
            unread: self.unread_of(&[bad, good].concat()),
            left_out: BTreeMap::new(),
        }
    }

    /// Separation of the bad hosts from the good ones by a thing. A file that names its host may differ by that alone, and may
    /// hide by it what else is different.
    fn separation(
        &self,
        thing: &Thing,
        (bad_side, bad): (&Side<'_>, &[u32]),
        (good_side, good): (&Side<'_>, &[u32]),
    ) -> Option<f64> {
        let of_itself = separation(thing.kind, bad_side, good_side);
        let Some(nameless) = self.nameless(thing) else { return of_itself };
        let (bad, good) = (Side::of(self, nameless, bad), Side::of(self, nameless, good));
        if bad.is_as(&good) {
            return None;
        }
        of_itself.into_iter().chain(separation(thing.kind, &bad, &good)).max_by(f64::total_cmp)
    }

    /// A file without the name of its host.
    fn nameless(&self, thing: &Thing) -> Option<&Thing> {
        self.find(thing.kind, &format!("{}{NAMELESS}", thing.key))
    }

    /// Groups of hosts that differ from most others, without a word on which ones fail.
    pub fn clusters(&self, names: &BTreeSet<String>) -> Answer {
        let hosts = self.numbers_of(names);
        let mut differ = 0;
        let mut clusters: BTreeMap<Vec<u32>, Vec<Finding>> = BTreeMap::new();
        for thing in self.things.iter().filter(|thing| !thing.key.ends_with(NAMELESS)) {
            let side = Side::of(self, thing, &hosts);
            let shares = side.shares();
            let is_own = |nameless: &Thing| Side::of(self, nameless, &hosts).shares().len() < 2;
            if shares.len() < 2 || self.nameless(thing).is_some_and(is_own) {
                continue;
            }
            differ += 1;
            let Some((usual, (times, _))) = shares.iter().max_by_key(|(_, (times, _))| *times) else {
                continue;
            };
            // Where no value is that of half of the hosts, each has its own.
            if times * 2 < side.hosts.len() || (*times < 2 && side.hosts.len() > 2) {
                continue;
            }
            let (odd, rest) = (side.part(*usual, false), side.part(*usual, true));
            if thing.kind.is_number() && separation(thing.kind, &odd, &rest).is_none() {
                continue;
            }
            let (weight, playbook) = weigh(thing.kind, &thing.key, Some(""), Some(""));
            clusters.entry(odd.hosts.clone()).or_default().push(Finding {
                kind: thing.kind,
                key: thing.key.clone(),
                bad: self.values(&odd),
                good: self.values(&rest),
                separation: 1.0,
                weight,
                playbook,
                more: Vec::new(),
            });
        }
        let mut clusters: Vec<Cluster> = clusters
            .into_iter()
            .map(|(odd, mut findings)| {
                findings.sort_by(|one, other| {
                    other
                        .weight
                        .cmp(&one.weight)
                        .then_with(|| (one.kind, &one.key).cmp(&(other.kind, &other.key)))
                });
                Cluster { hosts: self.names_of(&odd), findings }
            })
            .collect();
        clusters.sort_by_key(|cluster| std::cmp::Reverse(cluster.weight()));
        clusters.truncate(CLUSTERS);
        Answer {
            bad: Vec::new(),
            good: self.names_of(&hosts),
            compared: self.len(),
            differ,
            findings: Vec::new(),
            clusters,
            unread: self.unread_of(&hosts),
            left_out: BTreeMap::new(),
        }
    }

    fn names_of(&self, numbers: &[u32]) -> Vec<String> {
        let mut names: Vec<String> =
            numbers.iter().filter_map(|number| self.hosts.get(*number as usize)).cloned().collect();
        names.sort_by(|one, other| crate::hostlist::order(one, other));
        names
    }

    /// Values of a side, the most usual first, with their hosts.
    fn values(&self, side: &Side<'_>) -> Vec<Value> {
        let mut values: BTreeMap<Option<&str>, Vec<u32>> = BTreeMap::new();
        for (value, host) in side.values.iter().zip(&side.hosts) {
            values.entry(*value).or_default().push(*host);
        }
        let mut values: Vec<Value> = values
            .into_iter()
            .map(|(value, hosts)| Value { value: value.map(str::to_owned), hosts: self.names_of(&hosts) })
            .collect();
        values.sort_by_key(|value| std::cmp::Reverse(value.hosts.len()));
        values
    }

    fn unread_of(&self, hosts: &[u32]) -> Vec<Unread> {
        let mut unread: BTreeMap<(Kind, &str), Vec<u32>> = BTreeMap::new();
        for host in hosts {
            for (kind, reason) in self.unread.get(host).into_iter().flatten() {
                unread.entry((*kind, reason)).or_default().push(*host);
            }
            // Of what no host has, nothing is missing.
            for kind in self.unasked.get(host).into_iter().flatten() {
                if hosts
                    .iter()
                    .any(|other| !self.unasked.get(other).is_some_and(|kinds| kinds.contains(kind)))
                {
                    unread.entry((*kind, "the program that shows it is not there")).or_default().push(*host);
                }
            }
        }
        let text = |hosts: &[u32]| fold(self.names_of(hosts).iter().map(String::as_str));
        unread
            .into_iter()
            .map(|((kind, reason), hosts)| Unread { kind, hosts: text(&hosts), reason: reason.to_owned() })
            .collect()
    }
}

/// Separation of two groups by a thing, of 1.
fn separation(kind: Kind, bad: &Side<'_>, good: &Side<'_>) -> Option<f64> {
    if kind.is_number() {
        return above(kind, &bad.numbers()?, &good.numbers()?);
    }
    let (in_bad, in_good) = (bad.shares(), good.shares());
    let share = |shares: &BTreeMap<Option<&str>, (usize, f64)>, value: Option<&str>| {
        shares.get(&value).map_or(0.0, |(_, share)| *share)
    };
    // A value that one host of several has says nothing of its group.
    let carries = |times: usize, side: &Side<'_>, other: &Side<'_>| {
        times > 1 || (side.values.len() == 1 && other.values.len() == 1)
    };
    let of_good = in_good
        .iter()
        .filter(|(_, (times, _))| carries(*times, good, bad))
        .map(|(value, (_, of_good))| of_good - share(&in_bad, *value));
    let of_bad = in_bad
        .iter()
        .filter(|(_, (times, _))| carries(*times, bad, good))
        .map(|(value, (_, of_bad))| of_bad - share(&in_good, *value));
    of_good.chain(of_bad).max_by(f64::total_cmp)
}

/// Share of the bad hosts that have clearly more than the good ones.
fn above(kind: Kind, bad: &[u64], good: &[u64]) -> Option<f64> {
    let mut sorted = good.to_vec();
    sorted.sort_unstable();
    // One good host in ten may have trouble of its own.
    let most = *sorted.get((sorted.len() * 9).div_ceil(10).saturating_sub(1))?;
    let least = if kind == Kind::Space {
        most.saturating_add(FULL)
    } else {
        // Of what the kernel reports once is enough.
        most.saturating_mul(TIMES).max(if kind == Kind::KernelLog { 1 } else { 2 })
    };
    #[expect(clippy::cast_precision_loss, reason = "numbers of hosts")]
    let share = bad.iter().filter(|number| **number >= least).count() as f64 / bad.len() as f64;
    Some(share)
}

/// Hosts that have not what most good hosts have: two things that split the hosts alike have the same ones.
fn odd_hosts(bad: &Side<'_>, good: &Side<'_>) -> Vec<u32> {
    let shares = good.shares();
    let usual = shares.iter().max_by_key(|(_, (times, _))| *times).and_then(|(value, _)| *value);
    let mut odd = [bad.part(usual, false).hosts, good.part(usual, false).hosts].concat();
    odd.sort_unstable();
    odd
}

/// The value that most hosts of a side have; nothing where they do not have the thing.
fn usual(values: &[Value]) -> Option<&str> {
    values.first()?.value.as_deref()
}

/// Before the name of a device that is on one side alone.
const GONE: &str = "gone: ";

/// The device that a thing belongs to.
fn object(kind: Kind, key: &str) -> Option<&str> {
    let is_of_devices =
        matches!(kind, Kind::Gpu | Kind::Pci | Kind::Ethtool | Kind::Link | Kind::Rdma | Kind::Disk);
    key.split_once(' ').map(|(device, _)| device).filter(|_| is_of_devices)
}

/// A device that one side does not have, in place of all its settings.
fn whole_object(kind: Kind, family: &str, mut finding: Finding) -> Finding {
    if let Some(device) = family.strip_prefix(GONE).filter(|_| finding.more.len() > 1) {
        device.clone_into(&mut finding.key);
        finding.more.clear();
        for value in finding.bad.iter_mut().chain(&mut finding.good) {
            value.value = value.value.take().map(|_| "there".to_owned());
        }
        let (weight, playbook) = weigh(kind, "pci", None, Some("there"));
        (finding.weight, finding.playbook) = (weight.max(finding.weight), playbook);
    }
    finding
}

/// Name that things share which change together: the pair of versions of packages, the module of parameters.
fn family(kind: Kind, key: &str, finding: &Finding) -> String {
    if let Some(object) =
        object(kind, key).filter(|_| usual(&finding.bad).is_none() || usual(&finding.good).is_none())
    {
        return format!("{GONE}{object}");
    }
    match kind {
        Kind::Package | Kind::Library | Kind::Python => {
            let (bad, good) =
                (usual(&finding.bad).unwrap_or_default(), usual(&finding.good).unwrap_or_default());
            // What is there on one side alone has no pair.
            if bad.is_empty() || good.is_empty() {
                format!("{bad}{good}{}", family_name(key))
            } else {
                format!("{bad} {good}")
            }
        }
        Kind::Processor | Kind::Module | Kind::Account => String::new(),
        // Of several devices, or of several links, the same setting.
        Kind::Gpu | Kind::Pci | Kind::Ethtool | Kind::Link | Kind::Rdma | Kind::Counter | Kind::Disk => {
            key.split_once(' ').map_or(key, |(_, rest)| rest).to_owned()
        }
        Kind::Firewall => key.split(' ').take(5).collect::<Vec<_>>().join(" "),
        Kind::Parameter => key.split('.').next().unwrap_or(key).to_owned(),
        Kind::Unit => key.split(['.', ' ']).next().unwrap_or(key).to_owned(),
        Kind::File | Kind::Local | Kind::Memory => {
            key.rsplit_once('/').map_or(key, |(directory, _)| directory).to_owned()
        }
        Kind::Sysctl if key.starts_with("net.ipv") => {
            key.rsplit_once('.').map_or(key, |(_, leaf)| leaf).to_owned()
        }
        Kind::CommandLine
        | Kind::Dkms
        | Kind::Environment
        | Kind::KernelLog
        | Kind::Limit
        | Kind::Mount
        | Kind::Process
        | Kind::Queue
        | Kind::Route
        | Kind::Space
        | Kind::Sysctl
        | Kind::System => key.to_owned(),
    }
}

/// The first word of a package's name.
fn family_name(key: &str) -> &str {
    key.split(['-', '.', ':', '_']).next().unwrap_or(key)
}

#[cfg(test)]
mod tests {
    use super::*;

    type Row<'r> = (&'r str, &'r [(Kind, &'r str, &'r str)]);

    fn fleet(rows: &[Row<'_>]) -> Fleet {
        let mut fleet = Fleet::new("salt".to_owned());
        for (host, entries) in rows {
            let number = fleet.number(host);
            for (kind, key, value) in *entries {
                fleet.put(*kind, (*key).to_owned(), (*value).to_owned(), number);
            }
        }
        fleet
    }

    fn names(names: &[&str]) -> BTreeSet<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn what_each_host_has_for_itself_separates_nothing() {
        let fleet = fleet(&[
            ("b0", &[(Kind::File, "/etc/own", "1"), (Kind::Sysctl, "vm.swappiness", "60")]),
            ("g0", &[(Kind::File, "/etc/own", "2"), (Kind::Sysctl, "vm.swappiness", "1")]),
            ("g1", &[(Kind::File, "/etc/own", "3"), (Kind::Sysctl, "vm.swappiness", "1")]),
            ("g2", &[(Kind::File, "/etc/own", "4"), (Kind::Sysctl, "vm.swappiness", "1")]),
        ]);
        let answer = fleet.compare(&names(&["b0"]), &names(&["g0", "g1", "g2"]));
        let keys: Vec<&str> = answer.findings.iter().map(|finding| finding.key.as_str()).collect();
        assert_eq!(keys, ["vm.swappiness"]);
        assert_eq!(answer.differ, 2);
    }

    #[test]
    fn more_errors_than_the_good_hosts_have_are_told_and_fewer_are_not() {
        let fleet = fleet(&[
            ("b0", &[(Kind::Counter, "eth0 rx_crc_errors", "9000"), (Kind::Counter, "eth0 tx_errors", "0")]),
            ("b1", &[(Kind::Counter, "eth0 rx_crc_errors", "7000"), (Kind::Counter, "eth0 tx_errors", "1")]),
            ("g0", &[(Kind::Counter, "eth0 rx_crc_errors", "3"), (Kind::Counter, "eth0 tx_errors", "70")]),
            ("g1", &[(Kind::Counter, "eth0 rx_crc_errors", "0"), (Kind::Counter, "eth0 tx_errors", "80")]),
        ]);
        let answer = fleet.compare(&names(&["b0", "b1"]), &names(&["g0", "g1"]));
        let keys: Vec<&str> = answer.findings.iter().map(|finding| finding.key.as_str()).collect();
        assert_eq!(keys, ["eth0 rx_crc_errors"]);
    }

    #[test]
    fn what_is_not_known_of_a_host_is_not_taken_for_absent() {
        let mut fleet = fleet(&[
            ("b0", &[]),
            ("b1", &[(Kind::Unit, "slurmd.service", "failed failed")]),
            ("g0", &[(Kind::Unit, "slurmd.service", "active running")]),
            ("g1", &[(Kind::Unit, "slurmd.service", "active running")]),
        ]);
        fleet.unread.entry(0).or_default().insert(Kind::Unit, "it cannot be read whole".to_owned());
        let answer = fleet.compare(&names(&["b0", "b1"]), &names(&["g0", "g1"]));
        let hosts: Vec<&String> = answer.findings[0].bad.iter().flat_map(|value| &value.hosts).collect();
        assert_eq!(hosts, ["b1"]);
        assert_eq!(answer.unread[0].hosts, "b0");
    }

    #[test]
    fn a_device_that_is_gone_is_one_finding() {
        let gpu = |number: usize| {
            ["ECC Mode, Current", "MIG Mode", "VBIOS Version"]
                .map(|name| (Kind::Gpu, format!("0{number}:00.0 {name}"), "x"))
        };
        let mut whole = Fleet::new("salt".to_owned());
        for (host, gpus) in [("b0", 1), ("g0", 2), ("g1", 2)] {
            let number = whole.number(host);
            for (kind, key, value) in (0..gpus).flat_map(gpu) {
                whole.put(kind, key, value.to_owned(), number);
            }
        }
        let answer = whole.compare(&names(&["b0"]), &names(&["g0", "g1"]));
        let keys: Vec<&str> = answer.findings.iter().map(|finding| finding.key.as_str()).collect();
        assert_eq!(keys, ["01:00.0"]);
        assert_eq!(answer.findings[0].good[0].value.as_deref(), Some("there"));
    }

    #[test]
    fn what_the_kernel_said_once_is_told() {
        let fleet = fleet(&[("b0", &[(Kind::KernelLog, "xid.memory", "1")]), ("g0", &[]), ("g1", &[])]);
        let answer = fleet.compare(&names(&["b0"]), &names(&["g0", "g1"]));
        assert_eq!(answer.findings.len(), 1);
    }

    #[test]
    fn a_file_that_names_its_host_is_compared_without_the_name() {
        let file = |own: &'static str, rest: &'static str| {
            [(Kind::File, "/etc/hosts", own), (Kind::File, "/etc/hosts without its own name", rest)]
        };
        let (b0, g0, g1, g2) = (file("1", "x"), file("2", "y"), file("3", "y"), file("4", "y"));
        let found =
            fleet(&[("b0", &b0), ("g0", &g0), ("g1", &g1)]).compare(&names(&["b0"]), &names(&["g0", "g1"]));
        assert_eq!(found.findings.len(), 1);
        let alike = fleet(&[("g0", &g0), ("g2", &g2)]).compare(&names(&["g0"]), &names(&["g2"]));
        assert_eq!(alike.findings.len(), 0);
    }

    #[test]
    fn packages_of_one_source_are_one_finding() {
        let new = [
            (Kind::Package, "nvidia-driver-580", "580.95"),
            (Kind::Package, "libnvidia-compute-580", "580.95"),
        ];
        let old = [
            (Kind::Package, "nvidia-driver-580", "580.82"),
            (Kind::Package, "libnvidia-compute-580", "580.82"),
        ];
        let fleet = fleet(&[("b0", &old), ("g0", &new), ("g1", &new)]);
        let answer = fleet.compare(&names(&["b0"]), &names(&["g0", "g1"]));
        assert_eq!(answer.findings.len(), 1);
        assert_eq!(answer.findings[0].more.len(), 1);
    }

    #[test]
    fn a_fleet_of_two_makes_falls_into_two_clusters() {
        let bios = |version| [(Kind::System, "bios_version", version), (Kind::System, "kernel", "6.12")];
        let (old, new) = (bios("1.0"), bios("2.0"));
        let fleet = fleet(&[("g0", &old), ("g1", &old), ("g2", &new), ("g3", &new), ("g4", &new)]);
        let answer = fleet.clusters(&names(&["g0", "g1", "g2", "g3", "g4"]));
        assert_eq!(answer.clusters.len(), 1);
        assert_eq!(answer.clusters[0].hosts, ["g0", "g1"]);
        assert_eq!(answer.clusters[0].findings[0].key, "bios_version");
    }
}
