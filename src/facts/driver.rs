//! The NVIDIA driver: its packages, its module on disk for each kernel, the module that is loaded.
//!
//! Formats: `modinfo -F`, `/sys/module/nvidia/version`, the first line of `/proc/driver/nvidia/version`
//! (`domain.md` B1, M16), `dpkg-query` and `rpm` as in [`installed`](super::installed).

use serde::{Deserialize, Serialize};

use super::{Answer, Answers, Query, lines};
use crate::transport::Script;

/// What is known of the driver.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Driver {
    /// Release of the running kernel.
    pub running: String,
    /// Every kernel that has modules.
    pub kernels: Vec<Kernel>,
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
    /// Whether dnf can lock versions.
    pub versionlock: bool,
    /// Whether versions of NVIDIA's packages are locked by dnf.
    pub locked: bool,
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
}

/// The module that is loaded.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Loaded {
    /// Its version.
    pub version: String,
    /// Whether it is the open one; `None` when the driver does not tell.
    pub open: Option<bool>,
    /// How often it is in use.
    pub users: u64,
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
        let version = self.version.split_once(':').map_or(self.version.as_str(), |(_, rest)| rest);
        version.split(['-', '~', '+']).next().unwrap_or(version)
    }
}

impl Driver {
    /// A kernel on disk.
    pub fn kernel(&self, release: &str) -> Option<&Kernel> {
        self.kernels.iter().find(|kernel| kernel.release == release)
    }
}

pub(super) fn script() -> Script {
    Script::new(crate::shell!("facts/driver.sh"))
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

pub(super) fn parse(_: &[Query], output: &[u8], _: i32) -> Answers {
    let output = String::from_utf8_lossy(output);
    let mut driver = Driver::default();
    let mut ended = false;
    for line in lines(&output) {
        let Some((key, value)) = line.split_once('=') else {
            ended |= line == "end";
            continue;
        };
        let text = || Some(value.to_owned()).filter(|value| !value.is_empty());
        match key {
            "running" => value.clone_into(&mut driver.running),
            "loaded" => driver.loaded = Some(Loaded { version: value.to_owned(), ..Loaded::default() }),
            "users" => {
                if let Some(loaded) = &mut driver.loaded {
                    loaded.users = value.parse().unwrap_or(0);
                }
            }
            "banner" => {
                if let Some(loaded) = &mut driver.loaded {
                    loaded.open = text().map(|banner| banner.contains("Open Kernel Module"));
                }
            }
            "nouveau" => driver.nouveau = true,
            "kernel" => {
                driver.kernels.push(Kernel { release: value.to_owned(), ..Kernel::default() });
            }
            "headers" | "version" | "license" => {
                let Some(kernel) = driver.kernels.last_mut() else { continue };
                match key {
                    "headers" => kernel.headers = true,
                    "version" => kernel.version = text(),
                    _ => kernel.open = value.contains("MIT"),
                }
            }
            "secure_boot" => driver.secure_boot = Some(value == "true"),
            "enrolled" => driver.enrolled = true,
            "runfile" => driver.runfile = text(),
            "package" => driver.packages.extend(read_package(value)),
            "versionlock" => driver.versionlock = true,
            "locked" => driver.locked = true,
            _ => {}
        }
    }
    if !ended {
        return Vec::new();
    }
    driver.packages.sort_by(|a, b| a.name.cmp(&b.name));
    driver.packages.dedup();
    vec![(Query::Driver, Answer::Driver(Box::new(driver)))]
}
