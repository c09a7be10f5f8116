//! The distribution. Format: os-release(5).

use serde_json::{Value as Json, json};

use super::{BaseFact, field};

pub(super) const FACT: BaseFact = BaseFact {
    name: "os",
    doc: "distribution, version, family and package manager",
    script: crate::shell!("facts/os.sh"),
    parse,
    touched_by: |touches| touches.paths(&["/etc/os-release", "/usr/lib/os-release"]),
    specimen: |os| {
        let [id, name, version, version_id, codename, family, manager] = match os {
            "debian" => [
                "debian",
                "Debian GNU/Linux 12 (bookworm)",
                "12 (bookworm)",
                "12",
                "bookworm",
                "debian",
                "apt",
            ],
            "rhel" => ["rocky", "Rocky Linux 9.4 (Blue Onyx)", "9.4 (Blue Onyx)", "9.4", "", "rhel", "dnf"],
            "alinux" => [
                "alinux",
                "Alibaba Cloud Linux 3 (Soaring Falcon)",
                "3 (Soaring Falcon)",
                "3",
                "",
                "rhel",
                "dnf",
            ],
            _ => [
                "ubuntu",
                "Ubuntu 22.04.5 LTS",
                "22.04.5 LTS (Jammy Jellyfish)",
                "22.04",
                "jammy",
                "debian",
                "apt",
            ],
        };
        json!({ "id": id, "name": name, "version": version, "version_id": version_id, "codename": codename, "family": family, "package_manager": manager })
    },
};

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
