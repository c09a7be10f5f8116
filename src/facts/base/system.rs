//! Distribution, kernel, processors, memory, init, identity.
//!
//! Formats: os-release(5), proc(5), systemd-detect-virt(1), systemctl(1) `is-system-running`.

use serde_json::{Value as Json, json};

use super::{field, need};

pub(super) fn arch(output: &str) -> Result<Json, String> {
    let arch = output.trim();
    if arch.is_empty() {
        return Err("no `uname` on the host".to_owned());
    }
    Ok(json!(arch))
}

/// `0-63,128-191` of `/sys/devices/system/cpu/online`.
fn count_cpus(online: &str) -> Option<u64> {
    online.split(',').try_fold(0_u64, |sum, range| {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let (first, last): (u64, u64) = (first.trim().parse().ok()?, last.trim().parse().ok()?);
        sum.checked_add(last.checked_sub(first)?)?.checked_add(1)
    })
}

pub(super) fn cpu(output: &str) -> Result<Json, String> {
    let count = field(output, "online").and_then(count_cpus).ok_or("the host does not tell its CPUs")?;
    let sockets = output.lines().filter(|line| line.starts_with("socket=")).count().max(1);
    Ok(json!({ "count": count, "model": field(output, "model").unwrap_or("unknown"), "sockets": sockets }))
}

pub(super) fn hostname(output: &str) -> Result<Json, String> {
    let name = output.trim();
    if name.is_empty() { Err("the host has no name".to_owned()) } else { Ok(json!(name)) }
}

pub(super) fn ids(output: &str) -> Result<Json, String> {
    Ok(json!({
        "machine_id": field(output, "machine").unwrap_or(""),
        "product_uuid": field(output, "product").unwrap_or("").to_ascii_lowercase(),
        "boot_id": need(output, "boot")?,
    }))
}

pub(super) fn init(output: &str) -> Result<Json, String> {
    Ok(json!({ "name": need(output, "name")?, "state": field(output, "state").unwrap_or("") }))
}

pub(super) fn kernel(output: &str) -> Result<Json, String> {
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

pub(super) fn memory(output: &str) -> Result<Json, String> {
    let number = |key: &str| -> Option<u64> {
        output.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(':')?.trim().parse().ok())
    };
    let total = number("MemTotal").ok_or("the host does not tell its memory")?;
    Ok(json!({
        "total_mib": total / 1024,
        "swap_mib": number("SwapTotal").unwrap_or(0) / 1024,
        "hugepages": {
            "total": number("HugePages_Total").unwrap_or(0),
            "free": number("HugePages_Free").unwrap_or(0),
            "size_kib": number("Hugepagesize").unwrap_or(0),
        },
    }))
}

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

pub(super) fn virtualization(output: &str) -> Result<Json, String> {
    let kind = output.trim();
    if kind.is_empty() {
        return Err("the host does not tell what it runs in".to_owned());
    }
    Ok(json!({ "kind": kind, "container": CONTAINERS.contains(&kind) }))
}

/// A value of os-release(5): shell quoting, of which only quotes and backslashes occur.
fn unquote(value: &str) -> String {
    let value = value.trim();
    for quote in ['"', '\''] {
        if let Some(inner) = value.strip_prefix(quote).and_then(|rest| rest.strip_suffix(quote)) {
            return inner.replace("\\\"", "\"").replace("\\$", "$").replace("\\\\", "\\");
        }
    }
    value.to_owned()
}

fn family<'a>(id: &'a str, like: &'a str) -> &'a str {
    for word in std::iter::once(id).chain(like.split_whitespace()) {
        match word {
            "debian" | "ubuntu" => return "debian",
            // Alibaba Cloud Linux and openEuler-like systems descend from RHEL 8.
            "rhel" | "fedora" | "centos" | "rocky" | "almalinux" | "ol" | "alinux" | "anolis" | "amzn"
            | "tencentos" | "openEuler" => return "rhel",
            "suse" | "opensuse" | "sles" => return "suse",
            "alpine" => return "alpine",
            "arch" => return "arch",
            _ => {}
        }
    }
    id
}

pub(super) fn os(output: &str) -> Result<Json, String> {
    let value = |key: &str| field(output, key).map(unquote).unwrap_or_default();
    let id = value("ID");
    if id.is_empty() {
        return Err("no /etc/os-release on the host".to_owned());
    }
    let manager = match field(output, "PROVISION_TOOL") {
        Some("apt-get") => "apt",
        Some(tool) => tool,
        None => "",
    };
    Ok(json!({
        "id": id,
        "name": value("PRETTY_NAME"),
        "version": value("VERSION"),
        "version_id": value("VERSION_ID"),
        "codename": value("VERSION_CODENAME"),
        "family": family(&id, &value("ID_LIKE")),
        "package_manager": manager,
    }))
}
