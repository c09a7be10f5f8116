//! This boot and the next: which kernel will run, whether it has what it needs, and what asks for a
//! reboot.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};

use super::{BaseFact, Fact, field, need};
use crate::facts::dkms::Dkms;

pub(super) const FACT: BaseFact = BaseFact {
    name: "boot",
    doc: "this boot and the next: kernels, reasons for a reboot, problems that the next boot would have",
    script: crate::shell!(
        "facts/driver/nvidia_module.sh",
        "facts/base/boot/next_kernel.sh",
        "facts/base/boot/secure_boot.sh",
        "facts/base/boot/boot.sh"
    ),
    parse,
    touched_by: |_| true,
    specimen: |os| {
        let (kernel, _) = super::kernel::specimen_of(os);
        json!({
            "id": "0d1f7a3e-5b0c-4b5a-9d52-3a6c1f0e9b77",
            "kernel": kernel,
            "next_kernel": kernel,
            "reasons": ["the system asks for a reboot because of linux-image"],
            "problems": [format!("kernel {kernel} has no initramfs: build it")],
            "stale_modules": ["ib_core"],
            "stale_initramfs": "",
            "secure_boot": false,
            "dkms_key_enrolled": false
        })
    },
};

/// This boot and the next.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Boot {
    /// Id of this boot.
    pub id: String,
    /// The kernel that runs.
    pub kernel: String,
    /// The kernel of the next boot.
    pub next_kernel: String,
    /// Reasons for a reboot.
    pub reasons: Vec<String>,
    /// Reasons why the host would not come back as it should.
    pub problems: Vec<String>,
    /// The module that is newer than the initramfs; empty where none is.
    pub stale_initramfs: String,
}

impl Fact for Boot {
    const NAME: &'static str = "boot";
}

/// Free space on /boot below which an initramfs cannot be rebuilt.
const LEAST_FREE_KIB: u64 = 100 << 10;

fn parse(output: &str) -> Result<Json, String> {
    let running = need(output, "running")?;
    let chosen = field(output, "next");
    let kernel = chosen.unwrap_or(running);
    // Where there is no kernel image, the machine is booted by somebody else.
    let own = field(output, "image").is_some();
    Ok(json!({
        "id": need(output, "id")?,
        "kernel": running,
        "next_kernel": kernel,
        "reasons": reasons(output, running, chosen.filter(|_| own)),
        "problems": if own { problems(output, kernel) } else { Vec::new() },
        "stale_modules": stale_modules(output),
        "stale_initramfs": field(output, "stale").unwrap_or("").to_owned(),
        "secure_boot": field(output, "secure_boot") == Some("true"),
        "dkms_key_enrolled": field(output, "enrolled").is_some(),
    }))
}

/// Modules that are loaded though others are installed.
fn stale_modules(output: &str) -> Vec<&str> {
    output.lines().filter_map(|line| line.strip_prefix("stale_module=")).collect()
}

/// Lists the reasons for a reboot.
fn reasons(output: &str, running: &str, next: Option<&str>) -> Vec<String> {
    let mut reasons = Vec::new();
    if output.lines().any(|line| line.starts_with("required=")) {
        reasons.push(match field(output, "required") {
            Some(packages) => format!("the system asks for a reboot because of {packages}"),
            None => "the system asks for a reboot".to_owned(),
        });
    }
    if field(output, "nouveau").is_some() {
        reasons.push("nouveau is loaded, although it is blacklisted".to_owned());
    }
    if let (Some(loaded), Some(disk)) = (field(output, "nvidia_loaded"), field(output, "nvidia_disk"))
        && loaded != disk
    {
        reasons.push(format!("the NVIDIA module {loaded} is loaded, but {disk} is installed"));
    }
    let stale = stale_modules(output);
    if !stale.is_empty() {
        reasons.push(format!("other versions of modules are loaded than installed: {}", stale.join(", ")));
    }
    if let Some(next) = next.filter(|next| *next != running) {
        reasons.push(format!("kernel {running} is running, but {next} is installed"));
    }
    reasons
}

/// Lists the reasons why the host would not come back as it should.
fn problems(output: &str, kernel: &str) -> Vec<String> {
    let has = |key: &str| field(output, key).is_some();
    let mut problems = Vec::new();
    if !has("modules") {
        problems.push(format!("kernel {kernel} has no modules in /lib/modules: reinstall its package"));
    }
    if has("initramfs_used") && (!has("initramfs") || has("initramfs_empty")) {
        problems.push(format!("kernel {kernel} has no initramfs: build it"));
    }
    let free: Option<u64> = field(output, "free_kib").and_then(|free| free.parse().ok());
    let rebuild = has("stale");
    if let Some(free) = free.filter(|free| *free == 0 || (rebuild && *free < LEAST_FREE_KIB)) {
        problems.push(format!(
            "/boot has {} MiB free, too little for an initramfs: remove old kernels",
            free >> 10
        ));
    }
    for module in unbuilt(output, kernel) {
        problems.push(if has("headers") {
            format!("DKMS did not build {module} for kernel {kernel}: run `dkms autoinstall -k {kernel}`")
        } else {
            format!("DKMS cannot build {module} for kernel {kernel}: install the headers of that kernel")
        });
    }
    problems
}

/// `NAME/VERSION` of the DKMS modules that another kernel has and this one lacks: a boot would lose
/// them. One that no kernel has is not the boot's affair.
fn unbuilt(output: &str, kernel: &str) -> Vec<String> {
    let mut installed: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let told = output.lines().filter_map(|line| Dkms::line(line.strip_prefix("dkms=")?));
    for line in told.filter(Dkms::is_installed) {
        installed.entry(line.module).or_default().extend(line.kernel);
    }
    installed
        .into_iter()
        .filter(|(_, kernels)| !kernels.iter().any(|built| built == kernel))
        .map(|(name, _)| name)
        .collect()
}
