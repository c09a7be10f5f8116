//! What the system runs in. Format: systemd-detect-virt(1).

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

/// What systemd-detect-virt(1) calls everything that it knows.
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

/// What systemd-detect-virt(1) counts as containers.
const CONTAINERS: &[&str] = &[
    "openvz",
    "lxc",
    "lxc-libvirt",
    "systemd-nspawn",
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
    Ok(json!({ "kind": kind, "container": CONTAINERS.contains(&kind) }))
}
