//! The NVIDIA driver in its layers: the module that is loaded, the one on disk, packages, what is built
//! for which kernel (domain B1, B12, B13, B14, C12).

use serde::{Deserialize, Serialize};

use super::section::pair;
use super::{Gap, GapKind, Section, Sections, Seen};

/// An installed kernel.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Kernel {
    /// Its release.
    pub release: String,
    /// Whether its headers are there.
    pub headers: bool,
    /// Files of the nvidia module in its tree.
    pub modules: Vec<String>,
}

/// What is loaded and lies around, from sysfs and `/boot`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Loaded {
    /// Whether the host has a device of NVIDIA, or its module.
    pub present: bool,
    /// `/sys/module/nvidia/version`.
    pub version: Option<String>,
    /// The first line of `/proc/driver/nvidia/version`.
    pub proc: Option<String>,
    /// Whether nouveau is loaded.
    pub nouveau: bool,
    /// Whether the old `nv_peer_mem` is loaded.
    pub nv_peer_mem: bool,
    /// Whether `nvidia_peermem` is loaded.
    pub peermem: bool,
    /// Its version, where the kernel tells it.
    pub peermem_version: Option<String>,
    /// Version of the client that it registered (kernels with OFED).
    pub client: Option<String>,
    /// Installed kernels.
    pub kernels: Vec<Kernel>,
}

impl Loaded {
    /// Version in `/proc/driver/nvidia/version`: the first word that looks like one.
    pub fn proc_version(&self) -> Option<&str> {
        self.proc.as_deref()?.split_whitespace().find(|word| is_version(word))
    }

    /// Whether the loaded module is the open one.
    pub fn is_open(&self) -> Option<bool> {
        Some(self.proc.as_deref()?.contains("Open Kernel Module"))
    }
}

/// The module on disk.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Disk {
    /// Its version.
    pub version: String,
    /// `NVIDIA`, or `Dual MIT/GPL` for the open one.
    pub license: String,
    /// Where it is.
    pub file: String,
}

/// An installed package.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Package {
    /// Its name.
    pub name: String,
    /// Version without epoch and revision of the package.
    pub version: String,
    /// Whether upgrades leave it alone.
    pub held: bool,
}

/// One line of `dkms status`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Dkms {
    /// `nvidia/580.105.08`.
    pub module: String,
    /// The kernel that it is built for; none when only added.
    pub kernel: Option<String>,
    /// `installed`, `built`, `added`, with what follows.
    pub state: String,
}

/// What may replace the driver overnight.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Upgrades {
    /// Whether unattended-upgrades is installed.
    pub installed: bool,
    /// The last `APT::Periodic::Unattended-Upgrade`.
    pub period: Option<String>,
    /// What its list of exceptions has.
    pub exceptions: Vec<String>,
    /// Units that are masked.
    pub masked: Vec<String>,
    /// Whether `dnf-automatic.timer` is on.
    pub dnf_automatic: bool,
}

impl Upgrades {
    /// What upgrades packages by itself.
    pub fn armed(&self) -> Option<&'static str> {
        let on = self.period.as_deref().is_some_and(|period| period != "0");
        let timer = !self.masked.iter().any(|unit| unit == "apt-daily-upgrade.timer");
        if self.installed && on && timer {
            return Some("unattended-upgrades");
        }
        self.dnf_automatic.then_some("dnf-automatic")
    }
}

/// Everything of the driver but what `nvidia-smi` says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Driver {
    /// What is loaded.
    pub loaded: Seen<Loaded>,
    /// What is on disk.
    pub disk: Seen<Disk>,
    /// Its packages.
    pub packages: Seen<Vec<Package>>,
    /// What may replace it.
    pub upgrades: Seen<Upgrades>,
    /// Version of the fabric manager.
    pub fabric_version: Seen<String>,
    /// State of its unit: `active`.
    pub fabric_state: Seen<String>,
    /// Release of the CUDA toolkit in /usr/local/cuda: `12.4`.
    pub toolkit: Seen<String>,
    /// What DKMS built.
    pub dkms: Seen<Vec<Dkms>>,
}

/// Whether a word is a version of the driver: `535.129.03`.
fn is_version(word: &str) -> bool {
    let mut parts = word.split('.');
    let number = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    parts.next().is_some_and(number) && word.contains('.') && parts.all(number)
}

/// Reads what the probe printed.
pub fn parse(sections: &Sections<'_>) -> Driver {
    let loaded = match sections.get("driver") {
        Some(section) => section.read(|text| Ok(loaded(text))),
        None => Err(Gap::new(GapKind::Failed, "/sys/module/nvidia", "the list was cut")),
    };
    let lists = ["dpkg-query -W", "rpm -qa"];
    let listed = lists.iter().find_map(|tool| sections.starting(tool).next());
    let packages = match listed {
        // dpkg-query ends with 1 when one of the patterns fits nothing.
        Some((_, section)) if matches!(section.status, Some(0 | 1)) => Ok(packages(section.stdout)),
        Some((_, section)) => section.read(|text| Ok(packages(text))),
        None => Err(Gap::new(GapKind::Absent, "dpkg-query -W", "no package manager was asked")),
    };
    Driver {
        loaded,
        disk: sections.read("modinfo nvidia", "the host has no NVIDIA device", disk),
        packages,
        upgrades: sections.read("upgrades", "the host has no NVIDIA device", |text| Ok(upgrades(text))),
        fabric_version: sections.read("nv-fabricmanager -v", "no NVSwitch, no fabric manager", |text| {
            let version = text.split_whitespace().find(|word| is_version(word));
            version.map(str::to_owned).ok_or_else(|| "there is no version in it".to_owned())
        }),
        fabric_state: match sections.get("systemctl is-active nvidia-fabricmanager") {
            Some(section) => state(&section),
            None => Err(Gap::new(GapKind::Absent, "systemctl is-active", "no NVSwitch, no fabric manager")),
        },
        toolkit: sections.read("/usr/local/cuda/bin/nvcc --version", "no /usr/local/cuda", toolkit),
        dkms: sections.read("dkms status", "no /var/lib/dkms", |text| Ok(dkms(text))),
    }
}

/// `systemctl is-active` says its word whatever its status is.
pub(super) fn state(section: &Section<'_>) -> Seen<String> {
    const WORDS: [&str; 8] =
        ["active", "inactive", "failed", "activating", "deactivating", "reloading", "unknown", "maintenance"];
    let word = section.stdout.trim();
    if WORDS.contains(&word) {
        return Ok(word.to_owned());
    }
    section.read(|_| Err(format!("`{}` is no state", word.chars().take(40).collect::<String>())))
}

fn loaded(text: &str) -> Loaded {
    let mut loaded = Loaded::default();
    for (key, value) in text.lines().filter_map(pair) {
        let some = || Some(value.to_owned()).filter(|value| !value.is_empty());
        match key {
            "present" => loaded.present = true,
            "loaded" => loaded.version = some(),
            "proc" => loaded.proc = some(),
            "nouveau" => loaded.nouveau = true,
            "nv_peer_mem" => loaded.nv_peer_mem = true,
            "peermem" => loaded.peermem = true,
            "peermem_version" => loaded.peermem_version = some(),
            "client" => loaded.client = loaded.client.take().or_else(some),
            "kernel" => {
                loaded.kernels.push(Kernel { release: value.to_owned(), ..Kernel::default() });
            }
            _ => {
                let Some(kernel) = loaded.kernels.last_mut() else { continue };
                match key {
                    "headers" => kernel.headers = true,
                    "module" => kernel.modules.push(value.to_owned()),
                    _ => {}
                }
            }
        }
    }
    loaded
}

fn disk(text: &str) -> Result<Disk, String> {
    let field = |name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
        line.map(|value| value.trim().to_owned())
    };
    Ok(Disk {
        version: field("version").ok_or("there is no version in it")?,
        license: field("license").unwrap_or_default(),
        file: field("filename").unwrap_or_default(),
    })
}

/// `1:535.129.03-0ubuntu1` is `535.129.03`.
fn upstream(version: &str) -> &str {
    let version = version.split_once(':').map_or(version, |(_, rest)| rest);
    let end = version.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(version.len());
    version.get(..end).unwrap_or(version).trim_end_matches('.')
}

fn packages(text: &str) -> Vec<Package> {
    text.lines()
        .filter_map(|line| {
            let mut words = line.split_whitespace();
            // Second letter: what is; first letter: what is wanted, `h` for hold.
            let state = words.next().filter(|state| state.chars().nth(1) == Some('i'))?;
            let name = words.next()?.to_owned();
            let version = upstream(words.next()?).to_owned();
            Some(Package { name, version, held: state.starts_with('h') })
        })
        .collect()
}

fn upgrades(text: &str) -> Upgrades {
    let mut upgrades = Upgrades::default();
    for (key, value) in text.lines().filter_map(pair) {
        match key {
            "unattended" => upgrades.installed = true,
            "dnf_automatic" => upgrades.dnf_automatic = true,
            "masked" => upgrades.masked.push(value.to_owned()),
            "line" => {
                if value.starts_with("//") || value.starts_with('#') {
                    continue;
                }
                let mut quoted = value.split('"').skip(1).step_by(2).map(str::to_owned);
                if value.starts_with("APT::Periodic::Unattended-Upgrade") {
                    upgrades.period = quoted.next().or(upgrades.period.take());
                } else {
                    upgrades.exceptions.extend(quoted);
                }
            }
            _ => {}
        }
    }
    upgrades
}

/// `Cuda compilation tools, release 12.4, V12.4.131`.
fn toolkit(text: &str) -> Result<String, String> {
    let release = text.lines().find_map(|line| line.split_once("release ")?.1.split(',').next());
    release.map(|release| release.trim().to_owned()).ok_or_else(|| "there is no release in it".to_owned())
}

/// `nvidia/580.105.08, 5.15.0-113-generic, x86_64: installed`, or with commas only (dkms 2).
fn dkms(text: &str) -> Vec<Dkms> {
    text.lines()
        .filter_map(|line| {
            let (left, state) = line.split_once(": ")?;
            let mut words = left.split(',').map(str::trim);
            let first = words.next()?;
            let module =
                if first.contains('/') { first.to_owned() } else { format!("{first}/{}", words.next()?) };
            Some(Dkms { module, kernel: words.next().map(str::to_owned), state: state.trim().to_owned() })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\n\u{1e}ask driver\npresent=1\nloaded=580.105.08\nproc=NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.105.08  Release Build\npeermem=1\nclient=580.105.08\nkernel=5.15.0-113-generic\nheaders=1\nmodule=/lib/modules/5.15.0-113-generic/updates/dkms/nvidia.ko\nkernel=5.15.0-119-generic\n\n\u{1e}end 0\n\n\u{1e}ask modinfo nvidia\nfilename:       /lib/modules/x/updates/dkms/nvidia.ko\nversion:        580.105.08\nlicense:        Dual MIT/GPL\n\n\u{1e}end 0\n\n\u{1e}ask dpkg-query -W -f x\nhi  libnvidia-compute-580 580.105.08-0ubuntu1\nun  nvidia-340 \nii  nvidia-utils-580 1:580.105.08-1\n\n\u{1e}end 1\ndpkg-query: no packages found matching cuda-drivers*\n\n\u{1e}ask upgrades\nunattended=1\nline=APT::Periodic::Unattended-Upgrade \"1\";\nline=//  \"linux-\";\nline=Unattended-Upgrade::Package-Blacklist {\"nvidia-\";\"libnvidia-\";};\n\n\u{1e}end 0\n\n\u{1e}ask nv-fabricmanager -v\nFabric Manager version is : 580.105.08\n\n\u{1e}end 0\n\n\u{1e}ask systemctl is-active nvidia-fabricmanager\ninactive\n\n\u{1e}end 3\n\n\u{1e}ask dkms status\nnvidia/580.105.08, 5.15.0-113-generic, x86_64: installed\nnvidia, 535.129.03, 5.15.0-91-generic, x86_64: installed (WARNING! Diff between built and installed module!)\nmlnx-ofed-kernel/24.10: added\n\n\u{1e}end 0\n";

    #[test]
    fn all_layers() {
        let driver = parse(&Sections::split(TEXT));
        let loaded = driver.loaded.unwrap();
        assert_eq!(
            (loaded.version.as_deref(), loaded.proc_version()),
            (Some("580.105.08"), Some("580.105.08"))
        );
        assert_eq!((loaded.is_open(), loaded.kernels.len()), (Some(true), 2));
        assert!(loaded.kernels[0].headers && !loaded.kernels[1].headers);
        assert_eq!(driver.disk.unwrap().license, "Dual MIT/GPL");
        let packages = driver.packages.unwrap();
        assert_eq!(packages.len(), 2);
        assert!(packages.iter().all(|package| package.version == "580.105.08"));
        assert!(packages[0].held && !packages[1].held);
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
