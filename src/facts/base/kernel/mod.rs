//! The kernel that runs.

use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};

use super::{BaseFact, Fact, field, need};

pub(super) const FACT: BaseFact = BaseFact {
    name: "kernel",
    doc: "release, version, command line, lockdown, and whether its headers are installed",
    script: crate::shell!("facts/base/kernel/kernel.sh"),
    parse,
    touched_by: |touches| touches.paths(&["/lib/modules", "/usr/src"]),
    specimen: |os| {
        let (release, version) = specimen_of(os);
        json!({
            "release": release,
            "version": version,
            "cmdline": "BOOT_IMAGE=/vmlinuz root=/dev/sda1 ro iommu=pt",
            "lockdown": "none",
            "headers": true
        })
    },
};

/// The kernel that runs.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Kernel {
    /// Its release.
    pub release: String,
    /// The mode of `kernel_lockdown(7)`; `none` where none is in force.
    pub lockdown: String,
    /// Whether its headers are installed.
    pub headers: bool,
}

impl Fact for Kernel {
    const NAME: &'static str = "kernel";
}

/// The words of /sys/kernel/security/lockdown.
pub(super) const LOCKDOWNS: &[&str] = &["confidentiality", "integrity", "none"];

/// Release and version of a kernel of this distribution.
pub(super) fn specimen_of(os: &str) -> (&'static str, &'static str) {
    match os {
        "debian" => ("6.1.0-37-amd64", "#1 SMP PREEMPT_DYNAMIC Debian 6.1.140-1 (2025-05-22)"),
        "rhel" => ("5.14.0-427.13.1.el9_4.x86_64", "#1 SMP PREEMPT_DYNAMIC Wed May 1 19:11:28 UTC 2024"),
        "alinux" => ("5.10.134-16.1.al8.x86_64", "#1 SMP Thu Dec 7 14:11:24 UTC 2023"),
        _ => ("5.15.0-113-generic", "#123-Ubuntu SMP Mon Jun 10 08:16:17 UTC 2024"),
    }
}

fn parse(output: &str) -> Result<Json, String> {
    let lockdown = field(output, "lockdown").unwrap_or("");
    // `none [integrity] confidentiality`: the one in brackets is in force.
    let lockdown =
        lockdown.split_once('[').and_then(|(_, rest)| rest.split_once(']')).map_or("none", |(word, _)| word);
    Ok(json!({
        "release": need(output, "release")?,
        "version": field(output, "version").unwrap_or(""),
        "cmdline": field(output, "cmdline").unwrap_or(""),
        "lockdown": lockdown,
        "headers": field(output, "headers") == Some("true"),
    }))
}
