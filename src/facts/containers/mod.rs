//! Containers: their runtimes, how these give GPUs to them, and who may start them.
//!
//! Formats: `daemon.json(5)` of Docker, the files of containerd 1.6 to 2.1, CRI-O and containers-common, and what
//! NVIDIA's container toolkit 1.17 to 1.20 writes.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::probe::Probe;
use super::section::{Section, Sections, pair};
use super::{Gap, GapKind, Seen};

/// A socket through which containers of root are started.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Socket {
    /// Its path.
    pub path: String,
    /// Permissions of its directory.
    pub way: u32,
    /// Its own.
    pub mode: u32,
    /// Number of its owner.
    pub owner: u32,
    /// Number of its group.
    pub group: u32,
}

/// A specification of CDI with GPUs in it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Specification {
    /// Versions of the driver whose libraries it names.
    pub drivers: BTreeSet<String>,
    /// GPUs that it names: `/dev/nvidia0`.
    pub devices: BTreeSet<String>,
}

/// Values that the shell read from files.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Files {
    /// Programs of runtimes that are there.
    pub programs: BTreeSet<String>,
    /// Whether systemd runs the system.
    pub systemd: bool,
    /// Whether cgroups are unified.
    pub cgroup2: bool,
    /// Sockets of root's runtimes.
    pub sockets: Vec<Socket>,
    /// Accounts of groups that own one, by the number of the group: its name and its members.
    pub groups: BTreeMap<u32, (String, Vec<String>)>,
    /// Settings of each engine in the order of its files, without spaces and quotation marks: `cgroup_manager=systemd`.
    pub settings: BTreeMap<String, Vec<String>>,
    /// Specifications of CDI by their files.
    pub specifications: BTreeMap<String, Specification>,
    /// Device files of GPUs, and whether each is found below `/dev/char`.
    pub devices: BTreeMap<String, bool>,
    /// Files and directories of runtimes that others than root can change, with the reason.
    pub open: Vec<String>,
    /// Whether accounts may make user namespaces, by Debian's own setting.
    pub userns_clone: Option<String>,
    /// Whether `AppArmor` keeps them from it.
    pub userns_apparmor: Option<String>,
    /// Most user namespaces.
    pub userns_most: Option<String>,
    /// Profiles of `AppArmor` of runtimes.
    pub profiles: BTreeSet<String>,
}

impl Files {
    /// Whether a program is there.
    pub fn has(&self, program: &str) -> bool {
        self.programs.contains(program)
    }

    /// Whether NVIDIA's toolkit is there.
    pub fn has_toolkit(&self) -> bool {
        self.programs.iter().any(|program| program.starts_with("nvidia-"))
    }

    /// The last value of a setting of an engine.
    pub fn setting(&self, engine: &str, key: &str) -> Option<&str> {
        let all = self.settings.get(engine)?;
        all.iter().rev().find_map(|setting| setting.strip_prefix(key)?.strip_prefix('='))
    }
}

/// Containers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Containers {
    /// From files.
    pub files: Seen<Files>,
    /// Version of NVIDIA's toolkit.
    pub toolkit: Seen<String>,
    /// Version of runc.
    pub runc: Seen<String>,
}

/// Runtimes of containers.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct ContainersQuery;

pub(crate) const FAMILY: &super::Family = <ContainersQuery as super::Question>::FAMILY;

impl Probe for ContainersQuery {
    type Shown = Containers;
    const NAME: &'static str = "containers";
    const SCRIPT: &'static str = crate::shell!(
        "facts/probe/ask.sh",
        "shell/rooted.sh",
        "shell/held.sh",
        "facts/containers/containers.sh"
    );
    const DEADLINE: Option<Duration> = Some(Duration::from_secs(25));

    fn read(sections: &Sections<'_>) -> Containers {
        parse(sections)
    }

    fn touched_by(_touches: &super::Touches) -> bool {
        // Files, packages, accounts and units of any kind belong to a runtime.
        true
    }
}

/// Reads the sections.
pub fn parse(sections: &Sections<'_>) -> Containers {
    let tool = |command: &str, words: &str| match sections.get(command) {
        Some(section) => version(&section, words),
        None => Err(Gap::new(GapKind::Absent, command, "it is not installed")),
    };
    Containers {
        files: sections.read("containers", "the list was cut short", |text| Ok(files(text))),
        toolkit: tool("nvidia-ctk --version", "version "),
        runc: tool("runc --version", "runc version "),
    }
}

/// `NVIDIA Container Toolkit CLI version 1.17.8`, `runc version 1.1.5+ds1`; other lines follow.
fn version(section: &Section<'_>, words: &str) -> Seen<String> {
    section.read(|text| {
        let found = text.lines().find_map(|line| line.split_once(words)?.1.split_whitespace().next());
        let found = found.filter(|version| version.starts_with(|c: char| c.is_ascii_digit()));
        found.map(str::to_owned).ok_or_else(|| "it shows no version".to_owned())
    })
}

fn files(text: &str) -> Files {
    let mut files = Files::default();
    for (key, value) in text.lines().filter_map(pair) {
        match key {
            "program" => drop(files.programs.insert(value.to_owned())),
            "systemd" => files.systemd = true,
            "cgroup" => files.cgroup2 = value == "2",
            "socket" => files.sockets.extend(socket(value)),
            "group" => {
                let fields: Vec<&str> = value.split(':').collect();
                if let [name, _, number, members] = fields.as_slice()
                    && let Ok(number) = number.parse()
                {
                    let members = members.split(',').filter(|name| !name.is_empty());
                    files.groups.insert(number, ((*name).to_owned(), members.map(str::to_owned).collect()));
                }
            }
            "docker" | "containerd" | "crio" | "podman" | "toolkit" => {
                let plain = |c: &char| !c.is_whitespace() && !matches!(c, '"' | '\'');
                let setting: String = value.chars().filter(plain).collect();
                files.settings.entry(key.to_owned()).or_default().push(setting.replace(':', "="));
            }
            "cdi" => drop(files.specifications.entry(value.to_owned()).or_default()),
            "cdi_driver" | "cdi_device" => {
                let Some((file, what)) = value.rsplit_once(' ') else { continue };
                let Some(specification) = files.specifications.get_mut(file) else { continue };
                let list =
                    if key == "cdi_driver" { &mut specification.drivers } else { &mut specification.devices };
                list.insert(what.to_owned());
            }
            "device" => {
                if let Some((device, state)) = value.rsplit_once(' ') {
                    files.devices.insert(device.to_owned(), state == "linked");
                }
            }
            "open" => files.open.push(value.to_owned()),
            "userns_clone" => files.userns_clone = Some(value.to_owned()),
            "userns_apparmor" => files.userns_apparmor = Some(value.to_owned()),
            "userns_most" => files.userns_most = Some(value.to_owned()),
            "profile" => drop(files.profiles.insert(value.to_owned())),
            _ => {}
        }
    }
    files
}

/// `/run/docker.sock 755 660 0 999`: permissions of the directory, its own, owner and group.
fn socket(line: &str) -> Option<Socket> {
    let words: Vec<&str> = line.split(' ').collect();
    let [path, way, mode, owner, group] = words.as_slice() else { return None };
    let octal = |text: &str| u32::from_str_radix(text, 8).ok();
    Some(Socket {
        path: (*path).to_owned(),
        way: octal(way)?,
        mode: octal(mode)?,
        owner: owner.parse().ok()?,
        group: group.parse().ok()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Files as docker.io 26.1 on Debian 13 has them, the lines of a specification as `nvidia-ctk cdi generate` of 1.17
    /// writes them, with other versions.
    const TEXT: &str = "\n\u{1e}ask containers\nprogram=dockerd\nprogram=runc\nprogram=nvidia-ctk\nsystemd=1\ncgroup=2\nsocket=/run/docker.sock 755 660 0 999\nsocket=odd\ngroup=docker:x:999:ann,bob\ngroup=odd\ndocker=native.cgroupdriver=systemd\ndocker=\"cdi\": true\ncontainerd=  SystemdCgroup = true\ntoolkit=mode = \"auto\ncdi=/run/cdi/nvidia.yaml\ncdi_driver=/run/cdi/nvidia.yaml 580.95.05\ncdi_device=/run/cdi/nvidia.yaml /dev/nvidia0\ncdi_driver=/etc/cdi/other.yaml 1.2\ndevice=/dev/nvidia0 linked\ndevice=/dev/nvidiactl bare\nopen=/etc/cdi: others may write\nuserns_apparmor=1\nprofile=apptainer\n\n\u{1e}end 0\n\n\u{1e}ask nvidia-ctk --version\nNVIDIA Container Toolkit CLI version 1.17.8\ncommit: f202b80a9b9d0db00d9b1d73c0128c8962c55f4d\n\n\u{1e}end 0\n\n\u{1e}ask runc --version\nrunc version 1.1.5+ds1\ncommit: 1.1.5+ds1-1+deb12u1\nspec: 1.0.2-dev\n\n\u{1e}end 0\n";

    #[test]
    fn a_whole_host() {
        let seen = parse(&Sections::split(TEXT));
        let files = seen.files.unwrap();
        assert!(files.has("dockerd") && files.has_toolkit() && files.cgroup2 && files.systemd);
        let [socket] = files.sockets.as_slice() else { panic!("{:?}", files.sockets) };
        assert_eq!((socket.way, socket.mode, socket.owner, socket.group), (0o755, 0o660, 0, 999));
        assert_eq!(files.groups[&999], ("docker".to_owned(), vec!["ann".to_owned(), "bob".to_owned()]));
        assert_eq!(files.setting("docker", "native.cgroupdriver"), Some("systemd"));
        assert_eq!(files.setting("docker", "cdi"), Some("true"));
        assert_eq!(files.setting("containerd", "SystemdCgroup"), Some("true"));
        assert_eq!(files.setting("toolkit", "mode"), Some("auto"));
        assert_eq!(files.setting("crio", "cgroup_manager"), None);
        let specification = &files.specifications["/run/cdi/nvidia.yaml"];
        assert!(
            specification.drivers.contains("580.95.05") && specification.devices.contains("/dev/nvidia0")
        );
        assert_eq!(files.specifications.len(), 1, "what names no file before it is nobody's");
        assert_eq!(files.devices.values().copied().collect::<Vec<_>>(), [true, false]);
        assert_eq!(seen.toolkit.unwrap(), "1.17.8");
        assert_eq!(seen.runc.unwrap(), "1.1.5+ds1");
    }

    #[test]
    fn a_host_without_runtimes() {
        let seen = parse(&Sections::split("\n\u{1e}ask containers\n\n\u{1e}end 0\n"));
        assert!(!seen.files.unwrap().has_toolkit());
        assert_eq!(seen.runc.unwrap_err().kind, GapKind::Absent);
        assert!(parse(&Sections::split("")).files.is_err());
    }
}
