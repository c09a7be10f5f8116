//! All that keeps the NVIDIA driver as it is, replaces it or stands on it: peer memory, upgrades, who changed it, the
//! fabric manager, the CUDA toolkit, DKMS.
//!
//! Formats: `/var/log/apt/history.log` of apt 2.6 and 3.0.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::dkms::Dkms;
use super::driver::is_version;
use super::probe::Probe;
use super::section::{Section, Sections, pair};
use super::{Gap, GapKind, Seen};

/// Peer memory: what lets cards reach the memory of GPUs.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Peermem {
    /// Whether the old `nv_peer_mem` is loaded.
    pub legacy: bool,
    /// Whether `nvidia_peermem` is loaded.
    pub loaded: bool,
    /// Its version, where the kernel tells it.
    pub version: Option<String>,
    /// Version of the client that it registered (kernels with OFED).
    pub client: Option<String>,
}

/// Automatic upgrades that may replace the driver overnight.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Upgrades {
    /// Whether unattended-upgrades is installed.
    pub installed: bool,
    /// The last `APT::Periodic::Unattended-Upgrade`.
    pub period: Option<String>,
    /// Entries of its list of exceptions.
    pub exceptions: Vec<String>,
    /// Units that are masked.
    pub masked: Vec<String>,
    /// Whether `dnf-automatic.timer` is on.
    pub dnf_automatic: Option<String>,
}

impl Upgrades {
    /// Returns the program that upgrades packages by itself.
    pub fn armed(&self) -> Option<&'static str> {
        let on = self.period.as_deref().is_some_and(|period| period != "0");
        let timer = !self.masked.iter().any(|unit| unit == "apt-daily-upgrade.timer");
        if self.installed && on && timer {
            return Some("unattended-upgrades");
        }
        self.dnf_automatic.as_ref().map(|_| "dnf-automatic")
    }
}

/// A transaction of apt that changed packages of NVIDIA.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Transaction {
    /// Its beginning, in the host's own time: `2026-11-28  06:21:13`.
    pub date: String,
    /// The command: `/usr/bin/unattended-upgrade`.
    pub command: String,
    /// The account that asked for it by sudo.
    pub by: Option<String>,
    /// Versions that it installed.
    pub versions: Vec<String>,
}

impl Transaction {
    /// The program, and who asked for it: `unattended-upgrade`, `apt-get of ops`.
    pub fn who(&self) -> String {
        let program = self.command.split_whitespace().next().unwrap_or("apt");
        let program = program.rsplit('/').next().unwrap_or(program);
        match &self.by {
            Some(by) => format!("{program} of {by}"),
            None => program.to_owned(),
        }
    }
}

/// State of all that surrounds the driver.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Upkeep {
    /// Peer memory.
    pub peermem: Seen<Peermem>,
    /// Automatic upgrades that may replace the driver.
    pub upgrades: Seen<Upgrades>,
    /// Version of the fabric manager.
    pub fabric_version: Seen<String>,
    /// State of its unit: `active`.
    pub fabric_state: Seen<String>,
    /// Release of the CUDA toolkit in /usr/local/cuda: `12.4`.
    pub toolkit: Seen<String>,
    /// Modules that DKMS knows, built or only added.
    pub dkms: Seen<Vec<Dkms>>,
    /// Transactions that changed packages of NVIDIA, the last one last; of hosts with apt.
    #[serde(default)]
    pub changed: Vec<Transaction>,
}

/// All that keeps the driver as it is, replaces it or depends on it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct UpkeepQuery;

pub(crate) const FAMILY: &super::Family = <UpkeepQuery as super::Question>::FAMILY;

impl Probe for UpkeepQuery {
    type Shown = Upkeep;
    const NAME: &'static str = "driver_upkeep";
    const SCRIPT: &'static str = crate::shell!(
        "facts/probe/ask.sh",
        "shell/rooted.sh",
        "shell/held.sh",
        "facts/driver_upkeep/driver_upkeep.sh"
    );
    const DEADLINE: Option<Duration> = Some(Duration::from_secs(45));

    fn read(sections: &Sections<'_>) -> Upkeep {
        parse(sections)
    }
}

/// Reads the sections.
pub fn parse(sections: &Sections<'_>) -> Upkeep {
    Upkeep {
        peermem: sections.read("peermem", "the list was cut short", |text| Ok(peermem(text))),
        upgrades: sections.read("upgrades", "the host has no NVIDIA device", |text| Ok(upgrades(text))),
        fabric_version: sections.read(
            "nv-fabricmanager -v",
            "the host has no NVSwitch and no fabric manager",
            |text| {
                let version = text.split_whitespace().find(|word| is_version(word));
                version.map(str::to_owned).ok_or_else(|| "it shows no version".to_owned())
            },
        ),
        fabric_state: match sections.get("systemctl is-active nvidia-fabricmanager") {
            Some(section) => state(&section),
            None => Err(Gap::new(
                GapKind::Absent,
                "systemctl is-active",
                "the host has no NVSwitch and no fabric manager",
            )),
        },
        toolkit: sections.read(
            "/usr/local/cuda/bin/nvcc --version",
            "/usr/local/cuda does not exist",
            toolkit,
        ),
        dkms: sections.read("dkms status", "/var/lib/dkms does not exist", |text| {
            Ok(text.lines().filter_map(Dkms::line).collect())
        }),
        // It only adds a name to what is known without it.
        changed: sections.get("history.log").map(|section| changed(section.stdout)).unwrap_or_default(),
    }
}

/// `Start-Date: 2026-11-28  06:21:13`, then `libnvidia-compute-580:amd64 (580.82.07-1, 580.95.05-1)` for each package
/// that was upgraded, and `(580.95.05-1, automatic)` for one that was installed.
fn changed(text: &str) -> Vec<Transaction> {
    let mut all: Vec<Transaction> = Vec::new();
    for line in text.lines() {
        if let Some(date) = line.strip_prefix("Start-Date: ") {
            all.push(Transaction { date: date.trim().to_owned(), ..Transaction::default() });
            continue;
        }
        // The beginning of the file may be in the middle of one.
        let Some(last) = all.last_mut() else { continue };
        if let Some(command) = line.strip_prefix("Commandline: ") {
            command.trim().clone_into(&mut last.command);
        } else if let Some(by) = line.strip_prefix("Requested-By: ") {
            last.by = by.split_whitespace().next().map(str::to_owned);
        } else if let Some((_, inside)) = line.trim_end_matches(')').split_once(" (") {
            let versions = inside.split(", ").filter(|version| *version != "automatic");
            last.versions.extend(versions.last().map(str::to_owned));
        }
    }
    all.retain(|transaction| !transaction.versions.is_empty());
    all
}

/// `systemctl is-active` says its word whatever its status is.
pub(super) fn state(section: &Section<'_>) -> Seen<String> {
    const WORDS: [&str; 8] =
        ["active", "inactive", "failed", "activating", "deactivating", "reloading", "unknown", "maintenance"];
    let word = section.stdout.trim();
    if WORDS.contains(&word) {
        return Ok(word.to_owned());
    }
    section.read(|_| Err(format!("`{}` is not a state", word.chars().take(40).collect::<String>())))
}

fn peermem(text: &str) -> Peermem {
    let mut peermem = Peermem::default();
    for (key, value) in text.lines().filter_map(pair) {
        let some = || Some(value.to_owned()).filter(|value| !value.is_empty());
        match key {
            "nv_peer_mem" => peermem.legacy = true,
            "peermem" => peermem.loaded = true,
            "peermem_version" => peermem.version = some(),
            "client" => peermem.client = peermem.client.take().or_else(some),
            _ => {}
        }
    }
    peermem
}

fn upgrades(text: &str) -> Upgrades {
    let mut upgrades = Upgrades::default();
    // Other lists have quotes, too: those of origins.
    let mut is_blacklist = false;
    for (key, value) in text.lines().filter_map(pair) {
        match key {
            "unattended" => upgrades.installed = true,
            "dnf_automatic" => upgrades.dnf_automatic = Some(value.to_owned()),
            "masked" => upgrades.masked.push(value.to_owned()),
            "exclude" => {
                let names = value.split([' ', ',']).filter(|name| !name.is_empty());
                upgrades.exceptions.extend(names.map(str::to_owned));
            }
            "line" => {
                let value = value.trim();
                if value.starts_with("//") || value.starts_with('#') {
                    continue;
                }
                if value.contains('{') || value.contains("::") {
                    is_blacklist = value.contains("Package-Blacklist");
                }
                let mut quoted = value.split('"').skip(1).step_by(2).map(str::to_owned);
                if value.starts_with("APT::Periodic::Unattended-Upgrade") {
                    upgrades.period = quoted.next().or(upgrades.period.take());
                } else if is_blacklist {
                    upgrades.exceptions.extend(quoted);
                }
                is_blacklist &= !value.contains('}');
            }
            _ => {}
        }
    }
    upgrades
}

/// `Cuda compilation tools, release 12.4, V12.4.131`.
fn toolkit(text: &str) -> Result<String, String> {
    let release = text.lines().find_map(|line| line.split_once("release ")?.1.split(',').next());
    release.map(|release| release.trim().to_owned()).ok_or_else(|| "it shows no release".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\n\u{1e}ask peermem\npeermem=1\nclient=580.105.08\n\n\u{1e}end 0\n\n\u{1e}ask upgrades\nunattended=1\nline=APT::Periodic::Unattended-Upgrade \"1\";\nline=//  \"linux-\";\nline=Unattended-Upgrade::Package-Blacklist {\"nvidia-\";\"libnvidia-\";};\n\n\u{1e}end 0\n\n\u{1e}ask nv-fabricmanager -v\nFabric Manager version is : 580.105.08\n\n\u{1e}end 0\n\n\u{1e}ask systemctl is-active nvidia-fabricmanager\ninactive\n\n\u{1e}end 3\n\n\u{1e}ask dkms status\nnvidia/580.105.08, 5.15.0-113-generic, x86_64: installed\nnvidia, 535.129.03, 5.15.0-91-generic, x86_64: installed (WARNING! Diff between built and installed module!)\nmlnx-ofed-kernel/24.10: added\n\n\u{1e}end 0\n";

    /// As apt 2.6 wrote it on Debian 12 for an upgrade by hand, and one overnight; other names.
    #[test]
    fn who_changed_the_driver() {
        let text = "libnvidia-cfg1-580:amd64 (580.65.06-1, 580.82.07-1)\nStart-Date: 2026-11-20  10:00:00\nCommandline: apt-get install -y nvidia-driver-580\nRequested-By: ops (1000)\nInstall: \nlibnvidia-compute-580:amd64 (580.82.07-1, automatic)\nnvidia-driver-580:amd64 (580.82.07-1)\nStart-Date: 2026-11-25  03:00:00\nCommandline: apt-get install -y htop\nInstall: \nStart-Date: 2026-11-28  06:21:13\nCommandline: /usr/bin/unattended-upgrade\nUpgrade: \nlibnvidia-compute-580:amd64 (580.82.07-1, 580.95.05-1)\n";
        let changed = changed(text);
        let told: Vec<_> =
            changed.iter().map(|one| (one.who(), one.date.as_str(), &one.versions[..])).collect();
        let version = |text: &str| text.to_owned();
        assert_eq!(
            told,
            [
                (
                    "apt-get of ops".to_owned(),
                    "2026-11-20  10:00:00",
                    &[version("580.82.07-1"), version("580.82.07-1")][..]
                ),
                ("unattended-upgrade".to_owned(), "2026-11-28  06:21:13", &[version("580.95.05-1")][..]),
            ]
        );
    }

    #[test]
    fn all_layers() {
        let driver = parse(&Sections::split(TEXT));
        let peermem = driver.peermem.unwrap();
        assert_eq!(
            (peermem.loaded, peermem.legacy, peermem.client.as_deref()),
            (true, false, Some("580.105.08"))
        );
        let upgrades = driver.upgrades.unwrap();
        assert_eq!(upgrades.armed(), Some("unattended-upgrades"));
        assert_eq!(upgrades.exceptions, ["nvidia-", "libnvidia-"]);
        assert_eq!(driver.fabric_version.unwrap(), "580.105.08");
        assert_eq!(driver.fabric_state.unwrap(), "inactive");
        assert_eq!(driver.toolkit.unwrap_err().kind, GapKind::Absent);
        let dkms = driver.dkms.unwrap();
        assert_eq!(
            dkms.iter().map(|line| line.module.as_str()).collect::<Vec<_>>(),
            ["nvidia/580.105.08", "nvidia/535.129.03", "mlnx-ofed-kernel/24.10"]
        );
        assert_eq!(dkms[1].kernel.as_deref(), Some("5.15.0-91-generic"));
        assert_eq!(dkms[2].kernel, None);
    }

    #[test]
    fn a_unit_without_systemd_is_not_a_state() {
        let text = "\n\u{1e}ask systemctl is-active nvidia-fabricmanager\n\n\u{1e}end 1\nSystem has not been booted with systemd as init system (PID 1). Can't operate.\n";
        let driver = parse(&Sections::split(text));
        assert_eq!(driver.fabric_state.unwrap_err().kind, GapKind::Failed);
    }
}
