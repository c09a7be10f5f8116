//! The distribution. Format: os-release(5).

use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};

use super::{BaseFact, Fact, field};

pub(super) const FACT: BaseFact = BaseFact {
    name: "os",
    doc: "distribution, its name for people, its version as `version_id`, family, release of RHEL that it is or is compatible with (`el`), package manager",
    script: crate::shell!("facts/base/os/os.sh"),
    parse,
    touched_by: |touches| touches.paths(&["/etc/os-release", "/usr/lib/os-release"]),
    specimen: |os| {
        let [id, name, version_id, codename, family, manager] = match os {
            "debian" => ["debian", "Debian GNU/Linux 12 (bookworm)", "12", "bookworm", "debian", "apt"],
            "rhel" => ["rocky", "Rocky Linux 9.4 (Blue Onyx)", "9.4", "", "rhel", "dnf"],
            "alinux" => ["alinux", "Alibaba Cloud Linux 3 (Soaring Falcon)", "3", "", "rhel", "dnf"],
            _ => ["ubuntu", "Ubuntu 22.04.5 LTS", "22.04", "jammy", "debian", "apt"],
        };
        let el = el(id, family, version_id);
        json!({ "id": id, "name": name, "version_id": version_id, "codename": codename, "family": family, "el": el, "package_manager": manager })
    },
};

/// The distribution.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Os {
    /// `ubuntu`, `rocky`.
    pub id: String,
    /// `22.04`; empty for what becomes a release.
    pub version_id: String,
    /// `jammy`.
    pub codename: String,
}

impl Fact for Os {
    const NAME: &'static str = "os";
}

impl Os {
    /// Its release: what becomes one has no number yet.
    pub fn release(&self) -> Option<&str> {
        [&self.version_id, &self.codename].into_iter().map(String::as_str).find(|word| !word.is_empty())
    }
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

/// Names of distributions: `ID` of os-release(5).
pub(super) const IDS: &[&str] = &[
    "almalinux",
    "alinux",
    "alpine",
    "amzn",
    "anolis",
    "arch",
    "centos",
    "debian",
    "fedora",
    "ol",
    "openEuler",
    "opensuse-leap",
    "rhel",
    "rocky",
    "sles",
    "tencentos",
    "ubuntu",
];

/// Families; what descends from none of them is `other`.
pub(super) const FAMILIES: &[&str] = &["alpine", "arch", "debian", "other", "rhel", "suse"];

/// Package managers, of which the first one that is there counts.
pub(super) const MANAGERS: &[&str] = &["", "apk", "apt", "dnf", "pacman", "yum", "zypper"];

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
    "other"
}

/// The release of RHEL whose packages fit, as its number; empty for what is none or goes its own way.
fn el<'a>(id: &str, family: &str, version_id: &'a str) -> &'a str {
    let major = version_id.split('.').next().unwrap_or_default();
    match (id, major) {
        // Alibaba Cloud Linux 3 and Tencent OS 3 say in their documentation that they are compatible with RHEL 8.
        ("alinux" | "tencentos", "3") => "8",
        ("alinux" | "tencentos" | "fedora" | "amzn" | "openEuler", _) => "",
        _ if family == "rhel" => major,
        _ => "",
    }
}

fn parse(output: &str) -> Result<Json, String> {
    let value = |key: &str| field(output, key).map(unquote).unwrap_or_default();
    let id = value("ID");
    if id.is_empty() {
        return Err("the host has no /etc/os-release".to_owned());
    }
    let manager = match field(output, "PROVISION_TOOL") {
        Some("apt-get") => "apt",
        Some(tool) => tool,
        None => "",
    };
    let (version_id, like) = (value("VERSION_ID"), value("ID_LIKE"));
    let family = family(&id, &like);
    Ok(json!({
        "id": id,
        "name": value("PRETTY_NAME"),
        "version_id": version_id,
        "codename": value("VERSION_CODENAME"),
        "family": family,
        "el": el(&id, family, &version_id),
        "package_manager": manager,
    }))
}
