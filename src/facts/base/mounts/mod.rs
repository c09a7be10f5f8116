//! Mounts. Formats: proc(5) `mounts` (fstab(5) escapes), `stat -f -c '%S %b %f %a %n'`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};

use super::{BaseFact, Fact};

pub(super) const FACT: BaseFact = BaseFact {
    name: "mounts",
    doc: "mounted file systems that hold data; sizes of the local ones",
    script: crate::shell!("facts/base/mounts/mounts.sh"),
    parse,
    touched_by: |touches| touches.units() || touches.paths(&["/etc/fstab"]),
    specimen: |_| {
        json!([
            {
                "path": "/",
                "source": "/dev/sda1",
                "type": "ext4",
                "read_only": false,
                "local": true,
                "total_bytes": 1_000_204_886_016_u64,
                "free_bytes": 812_345_671_680_u64
            },
            {
                "path": "/shared",
                "source": "10.0.9.1:/export",
                "type": "nfs4",
                "read_only": false,
                "local": false
            }
        ])
    },
};

/// Mounted file systems.
#[derive(Debug, Serialize, Deserialize)]
pub struct Mounts(pub Vec<Mount>);

/// A mounted file system.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Mount {
    /// Its place.
    pub path: String,
    /// Its source.
    pub source: String,
    /// Its type.
    #[serde(rename = "type")]
    pub kind: String,
    /// Whether nothing can be written there.
    pub read_only: bool,
    /// Whether it is on a disk of the host or in its memory.
    pub local: bool,
}

impl Fact for Mounts {
    const NAME: &'static str = "mounts";
}

/// File systems of the kernel that hold no data of anybody.
pub(in crate::facts) const PSEUDO: &[&str] = &[
    "proc",
    "sysfs",
    "devtmpfs",
    "devpts",
    "mqueue",
    "hugetlbfs",
    "cgroup",
    "cgroup2",
    "bpf",
    "debugfs",
    "tracefs",
    "securityfs",
    "pstore",
    "configfs",
    "efivarfs",
    "ramfs",
    "binfmt_misc",
    "rpc_pipefs",
    "nsfs",
    "fusectl",
    "autofs",
];

/// File systems on disks of the host or in its memory.
const LOCAL: &[&str] = &[
    "ext2", "ext3", "ext4", "xfs", "btrfs", "zfs", "overlay", "tmpfs", "vfat", "f2fs", "bcachefs", "erofs",
    "squashfs", "jfs", "ntfs3", "exfat",
];

/// `\040` and its like of fstab(5).
pub(in crate::facts) fn unescape(text: &str) -> String {
    ["\\040", "\\011", "\\012", "\\134"]
        .iter()
        .zip([" ", "\t", "\n", "\\"])
        .fold(text.to_owned(), |text, (from, to)| text.replace(from, to))
}

fn parse(output: &str) -> Result<Json, String> {
    let (table, sizes) = output.split_once("sizes\n").ok_or("the list of mounts was cut short")?;
    let sizes: BTreeMap<&str, (u64, u64)> = sizes
        .lines()
        .filter_map(|line| {
            let mut words = line.splitn(5, ' ');
            let block: u64 = words.next()?.parse().ok()?;
            let total: u64 = words.next()?.parse().ok()?;
            let free: u64 = words.nth(1)?.parse().ok()?;
            Some((words.next()?, (block.saturating_mul(total), block.saturating_mul(free))))
        })
        .collect();
    // A later mount hides an earlier one of the same place.
    let mut by_point: BTreeMap<String, Json> = BTreeMap::new();
    for line in table.lines() {
        let mut words = line.split(' ');
        let (Some(source), Some(point), Some(kind)) = (words.next(), words.next(), words.next()) else {
            continue;
        };
        if PSEUDO.contains(&kind) {
            continue;
        }
        let size = sizes.get(point);
        let read_only = words.next().is_some_and(|options| options.split(',').any(|option| option == "ro"));
        let mut mount = json!({
            "path": unescape(point),
            "source": unescape(source),
            "type": kind,
            "read_only": read_only,
            "local": LOCAL.contains(&kind),
        });
        if let (Some(object), Some((total, free))) = (mount.as_object_mut(), size) {
            object.insert("total_bytes".to_owned(), json!(total));
            object.insert("free_bytes".to_owned(), json!(free));
        }
        by_point.insert(unescape(point), mount);
    }
    Ok(Json::Array(by_point.into_values().collect()))
}
