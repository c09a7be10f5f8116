//! Virtual machine or container that the system runs in. Format: systemd-detect-virt(1).

use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};

use super::{BaseFact, Fact};
use crate::facts::Touches;

pub(super) const FACT: BaseFact = BaseFact {
    name: "virtualization",
    doc: "the virtual machine or container that the system runs in, named as by systemd-detect-virt",
    script: crate::shell!("facts/base/virtualization/virtualization.sh"),
    parse,
    touched_by: |touches| *touches == Touches::Everything,
    specimen: |os| json!({ "kind": if os == "alinux" { "kvm" } else { "none" }, "container": false }),
};

/// The machine that the system runs in.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Virtualization {
    /// Its kind, as systemd-detect-virt(1) names it; `none` on hardware.
    pub kind: String,
    /// Whether it is a container.
    pub container: bool,
}

impl Fact for Virtualization {
    const NAME: &'static str = "virtualization";
}

impl Virtualization {
    /// Whether it is a virtual machine.
    pub fn is_guest(&self) -> bool {
        !self.container && !matches!(self.kind.as_str(), "" | "none")
    }
}

/// Number of `KINDS` that are no containers.
const MACHINES: usize = 20;
/// Names that systemd-detect-virt(1) prints: `none` and virtual machines first, then all that it counts as
/// containers.
pub(super) const KINDS: &[&str] = &[
    "none",
    "kvm",
    "amazon",
    "qemu",
    "bochs",
    "xen",
    "uml",
    "vmware",
    "oracle",
    "microsoft",
    "zvm",
    "parallels",
    "bhyve",
    "qnx",
    "acrn",
    "powervm",
    "apple",
    "sre",
    "google",
    "vm-other",
    "systemd-nspawn",
    "lxc-libvirt",
    "lxc",
    "openvz",
    "docker",
    "podman",
    "rkt",
    "wsl",
    "proot",
    "pouch",
    "container-other",
];

fn parse(output: &str) -> Result<Json, String> {
    let kind = output.trim();
    if kind.is_empty() {
        return Err("the host did not report its virtualization".to_owned());
    }
    Ok(json!({ "kind": kind, "container": KINDS.split_at(MACHINES).1.contains(&kind) }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn containers_begin_behind_the_last_virtual_machine() {
        let container = |kind: &str| parse(kind).unwrap()["container"] == json!(true);
        assert!(!container("none") && !container("vm-other") && !container("what-comes-next"));
        assert!(container("systemd-nspawn") && container("docker") && container("container-other"));
    }
}
