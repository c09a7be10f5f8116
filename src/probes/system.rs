//! The system around GPUs and cards: clock, space, names, firewall, units, Slurm, and what a new login
//! gets (domain C10, G16, J1, L12, L24 to L27).

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::section::pair;
use super::{Gap, GapKind, Section, Sections, Seen};

/// A mounted directory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Space {
    /// Where it is mounted.
    pub mount: String,
    /// Size in KiB.
    pub total_kib: u64,
    /// What is free for users, in KiB.
    pub free_kib: u64,
}

/// What the shell read from files.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Files {
    /// How many CPUs have which governor.
    pub governors: BTreeMap<String, u64>,
    /// Whether systemd runs the system.
    pub systemd: bool,
    /// Daemons of interest that run.
    pub processes: Vec<String>,
    /// Locked memory of slurmd in bytes, or `unlimited`: what job steps get.
    pub slurmd_memlock: Option<String>,
    /// Whether ufw is switched on.
    pub ufw: bool,
    /// Public host keys of SSH: kind and key.
    pub host_keys: Vec<String>,
}

/// The answer of a firewall tool.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Firewall {
    /// The line that says what becomes of packets that no rule takes.
    pub policy: String,
    /// Whether they are dropped.
    pub drops: bool,
    /// Rules that accept something.
    pub accepts: u64,
}

/// A node as Slurm knows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Node {
    /// `idle`, `mixed`, `drained*` ...
    pub state: String,
    /// `gpu:8`, `gpu:a100:8(S:0-1)`, `(null)`.
    pub gres: String,
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
    /// Whether the clock is synchronised, and the line that says so.
    pub clock: Seen<(bool, String)>,
    /// Firewalls by tool.
    pub firewalls: BTreeMap<String, Seen<Firewall>>,
    /// Units that failed.
    pub failed_units: Seen<Vec<String>>,
    /// This host as Slurm knows it.
    pub node: Seen<Node>,
}

/// What a new login of the user gets.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Login {
    /// Locked memory: `unlimited`, or KiB.
    pub memlock: String,
    /// Open files.
    pub nofile: String,
    /// Who it is.
    pub user: String,
    /// Where its commands are looked for.
    pub path: String,
}

/// Reads what the probe printed.
pub fn parse(sections: &Sections<'_>) -> System {
    let first = |words: &str| sections.starting(words).next().map(|(_, section)| section);
    let absent = |command: &str, why: &str| Gap::new(GapKind::Absent, command, why);
    let mut firewalls = BTreeMap::new();
    if let Some(section) = first("nft ") {
        firewalls.insert("nft".to_owned(), section.read(|text| Ok(nft(text))));
    }
    if let Some(section) = first("iptables ") {
        firewalls.insert("iptables".to_owned(), section.read(iptables));
    }
    System {
        files: sections.read("system", "the list was cut", |text| Ok(files(text))),
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
        clock: clock(sections),
        firewalls,
        failed_units: match first("systemctl list-units") {
            Some(section) => section.read(|text| Ok(units(text))),
            None => Err(absent("systemctl list-units", "systemd does not run the system")),
        },
        node: match first("sinfo ") {
            Some(section) => section.read(node),
            None => Err(absent("sinfo", "no Slurm")),
        },
    }
}

/// Reads what a new login printed.
///
/// # Errors
/// When it was cut.
pub fn login(sections: &Sections<'_>) -> Seen<Login> {
    sections.read("login", "it was not asked", |text| {
        let field = |name: &str| {
            text.lines().filter_map(pair).find(|(key, _)| *key == name).map(|(_, value)| value.to_owned())
        };
        Ok(Login {
            memlock: field("memlock").filter(|value| !value.is_empty()).ok_or("it tells no memlock")?,
            nofile: field("nofile").unwrap_or_default(),
            user: field("user").unwrap_or_default(),
            path: field("path").unwrap_or_default(),
        })
    })
}

fn files(text: &str) -> Files {
    let mut files = Files::default();
    for (key, value) in text.lines().filter_map(pair) {
        match key {
            "governor" => {
                if let Some((name, count)) = value.rsplit_once(' ') {
                    files.governors.insert(name.to_owned(), count.parse().unwrap_or(0));
                }
            }
            "systemd" => files.systemd = true,
            "process" if !value.is_empty() => files.processes.push(value.to_owned()),
            "slurmd_memlock" => files.slurmd_memlock = Some(value.to_owned()),
            "ufw" => files.ufw = true,
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
        let (Ok(total_kib), Ok(free_kib)) = (total.parse(), free.parse()) else { continue };
        if !rows.iter().any(|row| row.mount == *mount) {
            rows.push(Space { mount: (*mount).to_owned(), total_kib, free_kib });
        }
    }
    match section.trouble() {
        Some(gap) if section.status != Some(1) || rows.is_empty() => Err(gap),
        _ if rows.is_empty() => section.read(|_| Err("there is no row".to_owned())),
        _ => Ok(rows),
    }
}

fn clock(sections: &Sections<'_>) -> Seen<(bool, String)> {
    if let Some(section) = sections.get("chronyc tracking") {
        return section.read(|text| {
            let line =
                text.lines().find(|line| line.starts_with("Leap status")).ok_or("it has no leap status")?;
            Ok((!line.contains("Not synchronised"), line.split_whitespace().collect::<Vec<_>>().join(" ")))
        });
    }
    // systemd-timesyncd makes that file when it has set the clock.
    sections.read("ls /run/systemd/timesync", "neither chronyc nor systemd-timesyncd is there", |text| {
        let synchronized = text.lines().any(|line| line == "synchronized");
        let told = if synchronized {
            "systemd-timesyncd has set the clock"
        } else {
            "never set by systemd-timesyncd"
        };
        Ok((synchronized, told.to_owned()))
    })
}

/// `-P INPUT DROP`, then rules.
fn iptables(text: &str) -> Result<Firewall, String> {
    let policy =
        text.lines().find(|line| line.starts_with("-P INPUT")).ok_or("there is no policy of INPUT")?;
    let accepts = text.lines().filter(|line| line.contains("-j ACCEPT")).count() as u64;
    let rejects =
        text.lines().any(|line| line == "-A INPUT -j DROP" || line.starts_with("-A INPUT -j REJECT"));
    Ok(Firewall { policy: policy.to_owned(), drops: policy.ends_with("DROP") || rejects, accepts })
}

/// `type filter hook input priority filter; policy drop;`.
fn nft(text: &str) -> Firewall {
    let mut firewall = Firewall::default();
    for line in text.lines().map(str::trim).filter(|line| line.contains("hook input")) {
        if firewall.policy.is_empty() || line.contains("policy drop") {
            line.clone_into(&mut firewall.policy);
        }
        firewall.drops |= line.contains("policy drop");
    }
    firewall
}

/// First words of the rows; systemd may put a dot before a failed one.
fn units(text: &str) -> Vec<String> {
    let word = |line: &str| line.split_whitespace().find(|word| word.contains('.')).map(str::to_owned);
    text.lines().filter_map(word).collect()
}

/// `gpu0 idle gpu:8`; a node of several partitions has a row for each.
fn node(text: &str) -> Result<Node, String> {
    let line = text.lines().find(|line| !line.trim().is_empty()).ok_or("Slurm does not know this host")?;
    let mut words = line.split_whitespace().skip(1);
    let state = words.next().ok_or("it tells no state")?.to_owned();
    Ok(Node { state, gres: words.next().unwrap_or("").to_owned() })
}

impl Node {
    /// How many GPUs Slurm gives out: the numbers of all `gpu` entries.
    pub fn gpus(&self) -> u64 {
        let count = |entry: &str| {
            let entry = entry.split('(').next().unwrap_or("");
            let mut parts = entry.split(':');
            if parts.next() != Some("gpu") {
                return 0;
            }
            parts.next_back().map_or(1, |number| number.parse().unwrap_or(1))
        };
        self.gres.split(',').map(count).fold(0, u64::saturating_add)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\n\u{1e}ask system\ngovernor=performance 126\ngovernor=powersave 2\nsystemd=1\nprocess=slurmd\nslurmd_memlock=unlimited\n\n\u{1e}end 0\n\n\u{1e}ask getent hosts gpu0\n127.0.1.1       gpu0.example gpu0\n\n\u{1e}end 0\n\n\u{1e}ask df -Pk / /var /tmp /boot /dev/shm\nFilesystem     1024-blocks      Used Available Capacity Mounted on\n/dev/sda1        100000000  90000000   5000000      95% /\ntmpfs                65536         0     65536       0% /dev/shm\n\n\u{1e}end 1\ndf: /boot: No such file or directory\n\n\u{1e}ask chronyc tracking\nReference ID    : 00000000 ()\nLeap status     : Not synchronised\n\n\u{1e}end 0\n\n\u{1e}ask iptables -S INPUT\n-P INPUT DROP\n-A INPUT -i lo -j ACCEPT\n\n\u{1e}end 0\n\n\u{1e}ask systemctl list-units --state=failed --no-legend --plain --no-pager\nnvidia-persistenced.service loaded failed failed NVIDIA Persistence Daemon\n\n\u{1e}end 0\n\n\u{1e}ask sinfo -N -h -o %N %T %G\ngpu0 drained* gpu:a100:8(S:0-1)\n\n\u{1e}end 0\n";

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
        assert_eq!(system.clock.unwrap(), (false, "Leap status : Not synchronised".to_owned()));
        assert!(system.firewalls["iptables"].as_ref().unwrap().drops);
        assert_eq!(system.failed_units.unwrap(), ["nvidia-persistenced.service"]);
        let node = system.node.unwrap();
        assert_eq!((node.state.as_str(), node.gpus()), ("drained*", 8));
    }

    #[test]
    fn generic_resources() {
        for (gres, count) in [("gpu:8", 8), ("gpu", 1), ("(null)", 0), ("gpu:h100:4,gpu:a100:4,nvme:1", 8)] {
            assert_eq!(Node { state: String::new(), gres: gres.to_owned() }.gpus(), count, "{gres}");
        }
        assert!(nft("table inet filter {\n\tchain input {\n\t\ttype filter hook input priority filter; policy drop;\n").drops);
        assert!(!nft("").drops);
        let text =
            "\n\u{1e}ask login\nmemlock=8192\nnofile=1024\nuser=ubuntu\npath=/usr/bin\n\n\u{1e}end 0\n";
        assert_eq!(login(&Sections::split(text)).unwrap().memlock, "8192");
    }
}
