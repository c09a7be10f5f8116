//! The system around GPUs and cards: clock, space, names, units, Slurm.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::bounds;
use super::clock::{self, Clock};
use super::probe::Probe;
use super::section::{Section, Sections, pair};
use super::{Gap, GapKind, Seen};
use crate::scheduler::slurm::{Known, Node};

/// A mounted directory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Space {
    /// Mount point.
    pub mount: String,
    /// Size in KiB.
    pub total_kib: u64,
    /// Space that is free for users, in KiB.
    pub free_kib: u64,
}

/// Values that the shell read from files.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Files {
    /// Number of CPUs by governor.
    pub governors: BTreeMap<String, u64>,
    /// Whether systemd runs the system.
    pub systemd: bool,
    /// Daemons of interest that run.
    pub processes: Vec<String>,
    /// Whether ptp4l sets the clock of the system itself, by software time stamps.
    pub ptp_software: bool,
    /// Errors that memory controllers counted: name, corrected ones, uncorrected ones.
    pub memory_errors: Vec<(String, u64, u64)>,
    /// Units that somebody made for this machine.
    pub own_units: Vec<String>,
    /// The time, in seconds since 1970.
    pub now: Option<i64>,
    /// Locked memory of slurmd in bytes, or `unlimited`: what job steps get.
    pub slurmd_memlock: Option<String>,
    /// Public host keys of SSH: kind and key.
    pub host_keys: Vec<String>,
}

/// The system.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct System {
    /// From files.
    pub files: Seen<Files>,
    /// Addresses that the host's own name resolves to.
    pub own_name: Seen<Vec<String>>,
    /// Space of directories.
    pub space: Seen<Vec<Space>>,
    /// Report on the clock of each tool that was asked.
    pub clock: Clock,
    /// Units that failed.
    pub failed_units: Seen<Vec<String>>,
    /// This host as Slurm knows it.
    pub node: Seen<Known>,
}

/// The system around GPUs and cards.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct SystemQuery;

pub(crate) const FAMILY: &super::Family = <SystemQuery as super::Question>::FAMILY;

impl Probe for SystemQuery {
    type Shown = System;
    const NAME: &'static str = "system";
    const SCRIPT: &'static str =
        crate::shell!("facts/probe/ask.sh", "facts/owner_of.sh", "facts/system/system.sh");
    const DEADLINE: Option<Duration> = Some(Duration::from_secs(50));

    fn read(sections: &Sections<'_>) -> System {
        parse(sections)
    }
}

/// Reads the sections.
pub fn parse(sections: &Sections<'_>) -> System {
    let first = |words: &str| sections.starting(words).next().map(|(_, section)| section);
    let absent = |command: &str, why: &str| Gap::new(GapKind::Absent, command, why);
    System {
        files: sections.read("system", "the list was cut short", |text| Ok(files(text))),
        own_name: match first("getent hosts") {
            // It ends with 2 when the name is not known.
            Some(section) if section.status == Some(2) => Ok(Vec::new()),
            Some(section) => section.read(|text| Ok(names(text))),
            None => Err(absent("getent hosts", "it was not asked")),
        },
        space: match first("df -Pk") {
            Some(section) => space(&section),
            None => Err(absent("df -Pk", "it was not asked")),
        },
        clock: clock::read(sections),
        failed_units: match first("systemctl list-units") {
            Some(section) => section.read(|text| Ok(units(text))),
            None => Err(absent("systemctl list-units", "systemd is not running")),
        },
        node: match first("sinfo ") {
            Some(section) => section.read(node),
            None => Err(absent("sinfo", "Slurm is not installed")),
        },
    }
}

fn files(text: &str) -> Files {
    let mut files = Files::default();
    for (key, value) in text.lines().filter_map(pair) {
        match key {
            "governor" => {
                if let Some((name, count)) = value.rsplit_once(' ') {
                    // CPUs one behind the other that have the same are on one line.
                    let count = bounds::number(count, &bounds::CPUS).unwrap_or(0);
                    let sum = files.governors.entry(name.to_owned()).or_default();
                    *sum = (*sum + count).min(*bounds::CPUS.end());
                }
            }
            "systemd" => files.systemd = true,
            "process" if !value.is_empty() => files.processes.push(value.to_owned()),
            "ptp_software" => files.ptp_software = true,
            "edac" => {
                let words: Vec<&str> = value.split(' ').collect();
                if let [name, corrected, not] = words.as_slice()
                    && let Some(corrected) = bounds::number(corrected, &bounds::COUNT)
                    && let Some(not) = bounds::number(not, &bounds::COUNT)
                {
                    files.memory_errors.push(((*name).to_owned(), corrected, not));
                }
            }
            "own_unit" => files.own_units.push(value.to_owned()),
            "now" => files.now = bounds::number(value, &bounds::TIME),
            "slurmd_memlock" => files.slurmd_memlock = Some(value.to_owned()),
            "host_key" => files.host_keys.extend(host_key(value)),
            _ => {}
        }
    }
    files
}

/// Kind and the end of the key, which is what tells keys apart.
fn host_key(line: &str) -> Option<String> {
    let mut words = line.split_whitespace();
    let (kind, key) = (words.next()?, words.next()?);
    let start = key.char_indices().rev().nth(15).map_or(0, |(start, _)| start);
    Some(format!("{kind} ...{}", key.get(start..)?))
}

/// `127.0.1.1       gpu0.example gpu0`.
fn names(text: &str) -> Vec<String> {
    text.lines().filter_map(|line| line.split_whitespace().next()).map(str::to_owned).collect()
}

/// Rows of `df -Pk`; it ends with 1 when one of the directories is not there.
fn space(section: &Section<'_>) -> Seen<Vec<Space>> {
    let mut rows: Vec<Space> = Vec::new();
    for line in section.stdout.lines().skip(1) {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [_, total, _, free, _, mount] = words.as_slice() else { continue };
        let kib = |text| bounds::number(text, &bounds::KIB);
        let (Some(total_kib), Some(free_kib)) = (kib(total), kib(free)) else { continue };
        if !rows.iter().any(|row| row.mount == *mount) {
            rows.push(Space { mount: (*mount).to_owned(), total_kib, free_kib });
        }
    }
    match section.trouble() {
        Some(gap) if section.status != Some(1) || rows.is_empty() => Err(gap),
        _ if rows.is_empty() => section.read(|_| Err("it shows no row".to_owned())),
        _ => Ok(rows),
    }
}

/// First words of the rows; systemd may put a dot before a failed one.
fn units(text: &str) -> Vec<String> {
    let word = |line: &str| line.split_whitespace().find(|word| word.contains('.')).map(str::to_owned);
    text.lines().filter_map(word).collect()
}

/// `gpu0 idle gpu:8 none`; a node of several partitions has a row for each. The reason is last and may have spaces.
fn node(text: &str) -> Result<Known, String> {
    let line = text.lines().find(|line| !line.trim().is_empty()).ok_or("Slurm does not know this host")?;
    let mut words = line.split_whitespace().skip(1);
    let state = words.next().ok_or("it shows no state")?.to_owned();
    let gres = words.next().unwrap_or("").to_owned();
    let reason = words.collect::<Vec<_>>().join(" ");
    let reason = if reason == "none" { String::new() } else { reason };
    Ok(Known { node: Node { state, gres }, reason, ..Known::default() })
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\n\u{1e}ask system\ngovernor=performance 126\ngovernor=powersave 2\nsystemd=1\nprocess=slurmd\nslurmd_memlock=unlimited\n\n\u{1e}end 0\n\n\u{1e}ask getent hosts gpu0\n127.0.1.1       gpu0.example gpu0\n\n\u{1e}end 0\n\n\u{1e}ask df -Pk / /var /tmp /boot /dev/shm\nFilesystem     1024-blocks      Used Available Capacity Mounted on\n/dev/sda1        100000000  90000000   5000000      95% /\ntmpfs                65536         0     65536       0% /dev/shm\n\n\u{1e}end 1\ndf: /boot: No such file or directory\n\n\u{1e}ask chronyc tracking\nReference ID    : 00000000 ()\nLeap status     : Not synchronised\n\n\u{1e}end 0\n\n\u{1e}ask systemctl list-units --state=failed --no-legend --plain --no-pager\nnvidia-persistenced.service loaded failed failed NVIDIA Persistence Daemon\n\n\u{1e}end 0\n\n\u{1e}ask sinfo -N -h -o %N %T %G %E\ngpu0 drained* gpu:a100:8(S:0-1) bad cable, see 4711\n\n\u{1e}end 0\n";

    #[test]
    fn a_whole_system() {
        let system = parse(&Sections::split(TEXT));
        let files = system.files.unwrap();
        assert_eq!(
            files.governors,
            BTreeMap::from([("performance".to_owned(), 126), ("powersave".to_owned(), 2)])
        );
        assert_eq!((files.systemd, files.slurmd_memlock.as_deref()), (true, Some("unlimited")));
        assert_eq!(system.own_name.unwrap(), ["127.0.1.1"]);
        let space = system.space.unwrap();
        assert_eq!((space.len(), space[0].free_kib, space[1].mount.as_str()), (2, 5_000_000, "/dev/shm"));
        let clock = system.clock.chrony.unwrap();
        assert_eq!((clock.kept, clock.line.as_str()), (clock::Kept::Not, "Leap status : Not synchronised"));
        assert_eq!(system.failed_units.unwrap(), ["nvidia-persistenced.service"]);
        let node = system.node.unwrap();
        assert_eq!((node.node.state.as_str(), node.node.gpus()), ("drained*", 8));
        assert_eq!(node.reason, "bad cable, see 4711");
    }

    #[test]
    fn what_no_host_has_is_not_taken() {
        let text = "\n\u{1e}ask system\ngovernor=performance 8192\ngovernor=performance 8192\ngovernor=powersave 18446744073709551615\nedac=mc0 18446744073709551615 0\nnow=9223372036854775807\n\n\u{1e}end 0\n\n\u{1e}ask df -Pk /\nFilesystem     1024-blocks      Used Available Capacity Mounted on\n/dev/sda1        18446744073709551615  0   18446744073709551615      95% /\n\n\u{1e}end 0\n";
        let system = parse(&Sections::split(text));
        let files = system.files.unwrap();
        assert_eq!(
            files.governors,
            BTreeMap::from([("performance".to_owned(), 8192), ("powersave".to_owned(), 0)])
        );
        assert_eq!((files.memory_errors, files.now), (Vec::new(), None));
        assert!(system.space.is_err());
    }

    #[test]
    fn a_login() {
        let text =
            "\n\u{1e}ask login\nmemlock=8192\nnofile=1024\nuser=ubuntu\npath=/usr/bin\n\n\u{1e}end 0\n";
        assert_eq!(super::super::login::parse(&Sections::split(text)).unwrap().memlock, "8192");
    }
}
