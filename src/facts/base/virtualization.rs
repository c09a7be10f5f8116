//! Virtual machine or container that the system runs in. Format: systemd-detect-virt(1).

use serde_json::{Value as Json, json};

use super::BaseFact;
use crate::facts::Touches;

pub(super) const FACT: BaseFact = BaseFact {
    name: "virtualization",
    doc: "the virtual machine or container that the system runs in, named as by systemd-detect-virt",
    script: crate::shell!("facts/virtualization.sh"),
    parse,
    touched_by: |touches| *touches == Touches::Everything,
    specimen: |os| json!({ "kind": if os == "alinux" { "kvm" } else { "none" }, "container": false }),
};

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
