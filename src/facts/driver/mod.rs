//! The NVIDIA driver: its packages, its module on disk for each kernel, the module that is loaded.
//!
//! Formats: `modinfo -F`, `/sys/module/nvidia/version`, the first line of `/proc/driver/nvidia/version`,
//! `dpkg-query` and `rpm`.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::section::{Section, Sections};
use super::{Answers, Family, Gap, GapKind, Query, Question, Touches, answers, lines, of_type};
use crate::transport::Script;

/// State of the driver.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Driver {
    /// Release of the running kernel.
    pub running: String,
    /// Every kernel that has modules.
    pub kernels: Vec<Kernel>,
    /// The module on disk of the running kernel.
    pub disk: Option<Disk>,
    /// Reason why that is not known.
    pub disk_gap: Option<Gap>,
    /// The module that is loaded.
    pub loaded: Option<Loaded>,
    /// Whether nouveau is loaded, which holds the GPUs.
    pub nouveau: bool,
    /// Whether Secure Boot is on; `None` where there is no such thing.
    pub secure_boot: Option<bool>,
    /// Whether the key that DKMS signs with is one that the firmware knows.
    pub enrolled: bool,
    /// The uninstaller that the runfile left: the driver came from it.
    pub runfile: Option<String>,
    /// Packages with NVIDIA in their name, whatever they are.
    pub packages: Vec<DriverPackage>,
    /// Reason why they are not known.
    pub packages_gap: Option<Gap>,
    /// Versions of NVIDIA's packages that dnf is locked to.
    pub locks: Vec<Lock>,
}

/// A version that dnf is locked to: a line of `versionlock.list`, such as `nvidia-open-3:580.105.08-1.el10.*`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Lock {
    /// Name of the package.
    pub name: String,
    /// Its version without epoch and release.
    pub version: String,
}

impl Lock {
    fn parse(line: &str) -> Option<Self> {
        let (left, right) = line.split_once(':')?;
        let (name, _epoch) = left.rsplit_once('-')?;
        let (version, _release) = right.split_once('-')?;
        Some(Self { name: name.to_owned(), version: version.to_owned() })
    }
}

/// A kernel on disk.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Kernel {
    /// Its release.
    pub release: String,
    /// Whether its headers are there.
    pub headers: bool,
    /// Version of the NVIDIA module for it.
    pub version: Option<String>,
    /// Whether that is the open module.
    pub open: bool,
    /// Whether it has an image in `/boot`.
    pub image: bool,
    /// Files of the NVIDIA module in its tree, where they were asked for.
    pub modules: Vec<String>,
}

/// The module on disk of the running kernel.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Disk {
    /// Its version.
    pub version: String,
    /// `NVIDIA`, or `Dual MIT/GPL` for the open one.
    pub license: String,
    /// Its path.
    pub file: String,
}

/// The module that is loaded.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Loaded {
    /// Its version.
    pub version: String,
    /// Whether it is the open one; `None` when the driver does not tell.
    pub open: Option<bool>,
    /// The first line of `/proc/driver/nvidia/version`.
    pub banner: Option<String>,
}

impl Loaded {
    /// The version in its banner: the first word that looks like one.
    pub fn banner_version(&self) -> Option<&str> {
        self.banner.as_deref()?.split_whitespace().find(|word| is_version(word))
    }
}

/// Whether a word is a version of the driver: `535.129.03`.
pub(super) fn is_version(word: &str) -> bool {
    let mut parts = word.split('.');
    let number = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    parts.next().is_some_and(number) && word.contains('.') && parts.all(number)
}

/// A package that has to do with the driver.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct DriverPackage {
    /// Its name.
    pub name: String,
    /// Its version, as the package manager writes it.
    pub version: String,
    /// Whether its version is held (dpkg only).
    pub held: bool,
    /// Whether it is unpacked and its configuration failed or was cut, as when DKMS cannot build.
    pub broken: bool,
}

impl DriverPackage {
    /// The version as NVIDIA writes it: `535.261.03` of `535.261.03-1~deb12u1` or `3:535.261.03-1.el9`.
    pub fn upstream(&self) -> &str {
        upstream(&self.version)
    }
}

/// The version as NVIDIA writes it, of the one of a package.
pub fn upstream(version: &str) -> &str {
    let version = version.split_once(':').map_or(version, |(_, rest)| rest);
    version.split(['-', '~', '+']).next().unwrap_or(version)
}

/// From this branch on the open modules are what NVIDIA installs where nobody chooses.
pub const OPEN_SINCE: u32 = 560;

/// Packages whose version only looks like the driver's, or is the business of another resource.
const TOOLS: &[&str] = &[
    "nvidia-settings",
    "nvidia-xconfig",
    "nvidia-modprobe",
    "nvidia-persistenced",
    "nvidia-fabricmanager",
    "nvidia-fabric-manager",
    "cuda-drivers-fabricmanager",
    "nvidia-imex",
    "libnvidia-nscq",
    "nvidia-container",
    "libnvidia-container",
    "nvidia-driver-pinning",
];

/// Whether a name is that of a part of the driver whose version is its own.
pub fn is_tool(package: &str) -> bool {
    TOOLS.iter().any(|tool| package.starts_with(tool))
}

/// `535.261.03`: three digits, then one or two more numbers.
fn is_driver_version(text: &str) -> bool {
    let numbers: Vec<&str> = text.split('.').collect();
    let digits = |text: &&str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    (2..=3).contains(&numbers.len())
        && numbers.iter().all(digits)
        && numbers.first().is_some_and(|branch| branch.len() == 3)
}

impl Driver {
    /// The packages of the driver proper: they carry its version and must have one in common. Ubuntu keeps the firmware
    /// of earlier versions beside that of this one.
    pub fn parts(&self) -> impl Iterator<Item = &DriverPackage> {
        self.packages
            .iter()
            .filter(|DriverPackage { name, .. }| !is_tool(name) && !name.starts_with("nvidia-firmware"))
            .filter(|package| is_driver_version(package.upstream()))
    }

    /// Whether the version of a package is kept: dpkg holds it, or dnf is locked to it.
    pub fn keeps(&self, package: &DriverPackage) -> bool {
        let locked = |lock: &Lock| lock.name == package.name && lock.version == package.upstream();
        package.held || self.locks.iter().any(locked)
    }

    /// A kernel on disk.
    pub fn kernel(&self, release: &str) -> Option<&Kernel> {
        self.kernels.iter().find(|kernel| kernel.release == release)
    }
}

/// The NVIDIA driver: packages, modules on disk and the one loaded. What `nvidia_driver` changes and what
/// `verify` looks at is this one answer.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct DriverQuery {
    /// Whether it is asked for an installation: on a host without a device of NVIDIA too, the modules of other
    /// kernels, and what stands in the way. Else the files of the modules are asked for.
    pub whole: bool,
}

impl Question for DriverQuery {
    type Answer = Driver;
    const FAMILY: &'static Family = FAMILY;

    fn label(&self) -> String {
        "driver".to_owned()
    }

    fn touched_by(&self, touches: &Touches) -> bool {
        touches.packages() || touches.modules() || touches.units() || touches.module_files()
    }
}

pub(crate) const FAMILY: &Family = &Family {
    tools: "`modinfo`, `dpkg-query`, `rpm` and `dkms`",
    deadline: Some(Duration::from_secs(45)),
    output: 1 << 20,
    ..Family::new("driver", script, parse, |label| {
        (label == "driver").then(|| DriverQuery { whole: true }.into())
    })
};

fn script(queries: &[Query]) -> Script {
    let asks = |whole: bool| of_type(queries).any(|query: &DriverQuery| query.whole == whole);
    Script::new(crate::shell!(
        "facts/probe/ask.sh",
        "facts/driver/nvidia_module.sh",
        "facts/base/boot/secure_boot.sh",
        "facts/driver/driver.sh"
    ))
    .arg(if asks(true) { "whole" } else { "" })
    .arg(if asks(false) { "files" } else { "" })
}

/// `status name version` of dpkg (three letters: wanted, status, error) or of rpm (`ii `).
fn read_package(record: &str) -> Option<DriverPackage> {
    let (status, rest) = record.split_at_checked(3)?;
    let (name, version) = rest.trim().split_once(' ')?;
    let mut letters = status.chars();
    let held = letters.next() == Some('h');
    let is = letters.next();
    matches!(is, Some('i' | 't' | 'W' | 'U' | 'F' | 'H')).then(|| DriverPackage {
        name: name.to_owned(),
        version: version.to_owned(),
        held,
        broken: matches!(is, Some('U' | 'F' | 'H')),
    })
}

/// Reads the output of `modinfo` for a module.
fn modinfo(text: &str) -> Result<Disk, String> {
    let field = |name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
        line.map(|value| value.trim().to_owned())
    };
    Ok(Disk {
        version: field("version").ok_or("it shows no version")?,
        license: field("license").unwrap_or_default(),
        file: field("filename").unwrap_or_default(),
    })
}

fn parse(queries: &[Query], output: &str, _: i32) -> Answers {
    let sections = Sections::split(output);
    let Some(files) = sections.get("driver") else { return Vec::new() };
    let mut driver = read_files(files.stdout);
    let of_kernel = |how: &str| {
        let names = ["nvidia", "nvidia-current", "nvidia-current-open"];
        let found = names.map(|name| sections.get(&format!("modinfo {how}{name}")));
        found.into_iter().flatten().map(|section| section.read(modinfo))
    };
    // The first that has a module, else why the first has none.
    let mut of_running: Vec<_> = of_kernel("").collect();
    of_running.sort_by_key(Result::is_err);
    match of_running.into_iter().next() {
        Some(Ok(disk)) => driver.disk = Some(disk),
        Some(Err(gap)) => driver.disk_gap = Some(gap),
        None => driver.disk_gap = Some(absent("modinfo nvidia")),
    }
    for kernel in &mut driver.kernels {
        let found = if kernel.release == driver.running {
            driver.disk.clone()
        } else {
            of_kernel(&format!("-k {} ", kernel.release)).find_map(Result::ok)
        };
        kernel.open = found.as_ref().is_some_and(|found| found.license.contains("MIT"));
        kernel.version = found.map(|found| found.version);
    }
    let listed = ["dpkg-query -W", "rpm -qa"].iter().find_map(|tool| sections.starting(tool).next());
    match listed.map(|(_, section)| packages(&section)) {
        Some(Ok(packages)) => driver.packages = packages,
        Some(Err(gap)) => driver.packages_gap = Some(gap),
        None => driver.packages_gap = Some(absent("dpkg-query -W")),
    }
    answers(queries, |_: &DriverQuery| Some(Ok(driver.clone())))
}

fn absent(command: &str) -> Gap {
    let reason = match command {
        "dpkg-query -W" => "no package manager was asked",
        _ => "the host has no NVIDIA device",
    };
    Gap::new(GapKind::Absent, command, reason)
}

/// dpkg-query ends with 1 when one of the patterns fits nothing.
fn packages(section: &Section<'_>) -> Result<Vec<DriverPackage>, Gap> {
    if section.status != Some(1) {
        section.read(|_| Ok(()))?;
    }
    let mut packages: Vec<DriverPackage> = lines(section.stdout).filter_map(read_package).collect();
    packages.sort_by(|a, b| a.name.cmp(&b.name));
    packages.dedup();
    Ok(packages)
}

fn read_files(text: &str) -> Driver {
    let mut driver = Driver::default();
    for (key, value) in lines(text).filter_map(|line| line.split_once('=')) {
        let text = || Some(value.to_owned()).filter(|value| !value.is_empty());
        match key {
            "running" => value.clone_into(&mut driver.running),
            "loaded" => driver.loaded = Some(Loaded { version: value.to_owned(), ..Loaded::default() }),
            "banner" => {
                let Some(loaded) = &mut driver.loaded else { continue };
                loaded.open = text().map(|banner| banner.contains("Open Kernel Module"));
                loaded.banner = text();
            }
            "nouveau" => driver.nouveau = true,
            "kernel" => {
                driver.kernels.push(Kernel { release: value.to_owned(), ..Kernel::default() });
            }
            "headers" | "image" | "module" => {
                let Some(kernel) = driver.kernels.last_mut() else { continue };
                match key {
                    "headers" => kernel.headers = true,
                    "image" => kernel.image = true,
                    _ => kernel.modules.push(value.to_owned()),
                }
            }
            "secure_boot" => driver.secure_boot = Some(value == "true"),
            "enrolled" => driver.enrolled = true,
            "runfile" => driver.runfile = text(),
            "lock" => driver.locks.extend(Lock::parse(value)),
            _ => {}
        }
    }
    driver
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_looks_like_a_version_of_the_driver() {
        for (text, is) in [
            ("535.261.03", true),
            ("580.95", true),
            ("11.8.89", false),
            ("20220217", false),
            ("1.17.4", false),
            ("535.x", false),
        ] {
            assert_eq!(is_driver_version(text), is, "{text}");
        }
    }

    /// Ubuntu 22.04 after an upgrade within a branch.
    #[test]
    fn firmware_of_earlier_versions_is_no_part() {
        let package = |name: &str, version: &str| DriverPackage {
            name: name.to_owned(),
            version: version.to_owned(),
            ..DriverPackage::default()
        };
        let packages = vec![
            package("libnvidia-compute-535", "535.216.01-0ubuntu0.22.04.1"),
            package("nvidia-firmware-535-535.183.01", "535.183.01-0ubuntu0.22.04.1"),
            package("nvidia-settings", "510.47.03-0ubuntu1"),
        ];
        let driver = Driver { packages, ..Driver::default() };
        let parts: Vec<&str> = driver.parts().map(|part| part.name.as_str()).collect();
        assert_eq!(parts, ["libnvidia-compute-535"]);
    }
}
