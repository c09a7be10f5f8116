//! Block devices: what they hold, and who uses them.
//!
//! Formats: `blkid -p -o export` (blkid(8): exit status 0 found, 2 nothing or no device, 8 ambivalent), sysfs
//! (`/sys/class/block/NAME`: sizes in sectors of 512 bytes, `holders`, `slaves`, `md/level`), proc(5) `mountinfo`.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::base::unescape;
use super::bounds;
use super::{Answers, Family, Object, Query, Question, Touches, after, answers, lines, of_type};
use crate::transport::Script;

/// A block device.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Block {
    /// Its name in the kernel, such as `nvme1n1`.
    pub name: String,
    /// Its size in bytes.
    pub bytes: u64,
    /// Type of its content, as libblkid finds it: `ext4`, `xfs`, `LVM2_member`, `linux_raid_member` ...
    pub kind: Option<String>,
    /// The label of that.
    pub label: Option<String>,
    /// Its id.
    pub uuid: Option<String>,
    /// The kind of partition table: `gpt`, `dos`.
    pub table: Option<String>,
    /// Whether libblkid finds several things at once.
    pub mixed: bool,
    /// Names of its partitions.
    pub partitions: Vec<String>,
    /// Devices that are made of it.
    pub holders: Vec<String>,
    /// Devices that it is made of.
    pub members: Vec<String>,
    /// Level of an array: `raid0`.
    pub level: Option<String>,
    /// Mount points.
    pub mounts: Vec<String>,
    /// Whether it is swapped to.
    pub swap: bool,
    /// Whether its first and its last MiB are nothing but zeros.
    pub blank: bool,
    /// Whether a `mkfs.xfs` did not come to its end.
    pub unfinished: bool,
    /// Tools that the host has, of `mkfs.ext4`, `mkfs.xfs` and `mdadm`.
    pub tools: BTreeSet<String>,
}

impl Block {
    /// Describes its content or its use, for people; `None` where it is free.
    pub fn content(&self) -> Option<String> {
        let listed = |what: &str, names: &[String]| {
            (!names.is_empty()).then(|| format!("{what} {}", names.join(", ")))
        };
        let signature = self.kind.as_ref().map(|kind| match &self.label {
            Some(label) => format!("{kind} (label {label})"),
            None => kind.clone(),
        });
        let parts = [
            listed("is mounted at", &self.mounts),
            self.swap.then(|| "is swapped to".to_owned()),
            listed("is a part of", &self.holders),
            listed("has the partitions", &self.partitions),
            signature.map(|found| format!("holds {found}")),
            self.table.as_ref().map(|table| format!("holds a partition table ({table})")),
            self.mixed.then(|| "holds several things at once".to_owned()),
        ];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        match parts.as_slice() {
            [] if !self.blank => Some("begins or ends with data that blkid does not know".to_owned()),
            [] => None,
            parts => Some(parts.join(", ")),
        }
    }
}

/// The block device at a path; no answer where something else is there.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct BlockQuery(pub String);

impl Question for BlockQuery {
    /// `None` where there is no such device.
    type Answer = Option<Block>;
    const FAMILY: &'static Family = FAMILY;

    fn label(&self) -> String {
        format!("block {}", self.0)
    }

    fn touched_by(&self, touches: &Touches) -> bool {
        // A disk has many names below /dev; mounts come and go with fstab and with units.
        let device = |object: &Object| matches!(object, Object::Path(path) if path.starts_with("/dev/"));
        touches.any(device) || touches.units() || touches.paths(&["/dev", "/etc/fstab"])
    }
}

pub(crate) const FAMILY: &Family = &Family {
    tools: "`blkid` and `dd`",
    output: 8 << 10,
    ..Family::new("block", script, parse, |label| Some(BlockQuery(after("block", label)?.to_owned()).into()))
};

fn script(queries: &[Query]) -> Script {
    let paths = of_type(queries).map(|BlockQuery(path)| path.as_str());
    Script::new(crate::shell!("shell/zeros.sh", "facts/block/block.sh")).args(paths)
}

fn parse(queries: &[Query], output: &str, _: i32) -> Answers {
    let heads = lines(output).take_while(|line| !line.starts_with("device "));
    let tools: BTreeSet<String> =
        heads.filter_map(|line| line.strip_prefix("tool ").map(str::to_owned)).collect();
    answers(queries, |BlockQuery(path)| {
        let head = format!("device {path}");
        let mut rest = lines(output).skip_while(|line| *line != head);
        rest.next()?;
        let mut ended = false;
        let section: Vec<&str> = rest
            .take_while(|line| {
                ended = *line == "end" || line.starts_with("device ");
                !ended
            })
            .collect();
        if !ended {
            return None;
        }
        Some(device(&section, &tools))
    })
}

/// One device of the list.
fn device(section: &[&str], tools: &BTreeSet<String>) -> Result<Option<Block>, String> {
    let mut block = Block { tools: tools.clone(), ..Block::default() };
    let (mut looked, mut read) = (false, false);
    for line in section {
        match line.split_once(' ').unwrap_or((line, "")) {
            ("absent", "") => return Ok(None),
            ("other", "") => return Err("it is no block device".to_owned()),
            ("unreadable", "") => return Err("only root can read it".to_owned()),
            ("name", name) => name.clone_into(&mut block.name),
            ("sectors", sectors) => block.bytes = bytes(sectors),
            ("level", level) => block.level = Some(level.to_owned()),
            ("partition", name) => block.partitions.push(name.to_owned()),
            ("holder", name) => block.holders.push(name.to_owned()),
            ("member", name) => block.members.push(name.to_owned()),
            ("mounted", place) => block.mounts.push(unescape(place)),
            ("swap", "") => block.swap = true,
            ("unfinished", "") => block.unfinished = true,
            ("zeros", status) => (read, block.blank) = (matches!(status, "0" | "1"), status == "0"),
            ("blkid", status) => {
                looked = matches!(status, "0" | "2" | "8");
                block.mixed = status == "8";
            }
            _ => {
                let Some((key, value)) = line.split_once('=') else { continue };
                let value = Some(value.replace('\\', ""));
                match key {
                    "TYPE" => block.kind = value,
                    "LABEL" => block.label = value,
                    "UUID" => block.uuid = value,
                    "PTTYPE" => block.table = value,
                    _ => {}
                }
            }
        }
    }
    if !looked {
        return Err("blkid of util-linux could not look at it".to_owned());
    }
    if !read || block.bytes == 0 {
        return Err("it cannot be read: is there a medium in it, and does the host have cmp?".to_owned());
    }
    Ok(Some(block))
}

/// Bytes of so many sectors, zero where no disk has them.
fn bytes(sectors: &str) -> u64 {
    let bytes = sectors.parse::<u64>().ok().and_then(|sectors| sectors.checked_mul(512));
    bytes.filter(|bytes| bounds::BYTES.contains(bytes)).unwrap_or(0)
}
