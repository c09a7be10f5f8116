//! `raid`: one device of several disks, by the kernel's md driver.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::empty::{device, need, refuse_full, size};
use crate::config::{Diagnostic, Diagnostics, FromNode as _, Node, Sp};
use crate::facts::block::{Block, BlockQuery};
use crate::facts::{Facts, Object, Query, Touches, base};
use crate::resources::shared::known;
use crate::resources::shared::value::{HostPath, claims};
use crate::resources::{Attribute, Built, Change, Context, Detail, Planned, Resource, Unplannable};
use crate::transport::Script;

crate::choice! {
    /// Way in which the disks work together.
    RaidLevel {
        /// Striped: the sum of all sizes and speeds; one broken disk loses everything.
        Striped = "raid0",
        /// Mirrored.
        Mirrored = "raid1",
        /// One disk of parity.
        Parity = "raid5",
        /// Two disks of parity.
        DoubleParity = "raid6",
        /// Striped over mirrors.
        StripedMirrors = "raid10",
    }
}

crate::record! {
    /// One device of several disks (software RAID of Linux, mdadm): `/dev/md/NAME`, on which `filesystem` makes a
    /// file system.
    ///
    /// The array is made of disks that hold nothing, as `filesystem` says, and is never changed: where it is there
    /// with other disks or another level, the task fails and says so. Each boot finds it by what stands on the disks,
    /// under the same name, without a line in `mdadm.conf`.
    Raid("a software RAID") {
        /// The name of the array: `scratch` is `/dev/md/scratch`.
        req name: Sp<String>,
        /// RAID level: the way in which the disks work together.
        req level: RaidLevel,
        /// The disks: paths in `/dev/disk/by-id`, since `/dev/nvme1n1` may be another disk after a boot.
        req devices: Sp<Vec<Sp<HostPath>>>,
    }
}

kind! { "raid", Raid }

/// Type that libblkid shows for a disk of an array.
const MEMBER: &str = "linux_raid_member";

impl RaidLevel {
    /// Disks that it needs at least.
    fn least(self) -> usize {
        match self {
            Self::Striped | Self::Mirrored => 2,
            Self::Parity => 3,
            Self::DoubleParity | Self::StripedMirrors => 4,
        }
    }
}

pub(in crate::resources) fn read(node: &Node, _: &dyn Context, diagnostics: &mut Diagnostics) -> Built {
    let fields = Raid::from_node(node, diagnostics)?;
    let mut wrong = |span, message: String, help: &str| {
        diagnostics.push(Diagnostic::error(span, message).help(help));
        None
    };
    // Longer ones are written without their home host, and are another's array after a boot.
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    if fields.name.is_empty()
        || fields.name.len() > 27
        || !fields.name.bytes().all(plain)
        || fields.name.starts_with('-')
    {
        return wrong(
            fields.name.span,
            format!("`{}` is no name of an array", *fields.name),
            "1 to 27 letters, digits, `-` or `_`, without `/dev/md/`",
        );
    }
    if let Some(path) = fields.devices.iter().find(|path| !path.as_str().starts_with("/dev/")) {
        return wrong(path.span, format!("`{}` is no device", path.as_str()), "write paths in /dev");
    }
    let distinct: BTreeSet<&str> = fields.devices.iter().map(|path| path.as_str()).collect();
    if distinct.len() < fields.devices.len() {
        return wrong(fields.devices.span, "a disk is named twice".to_owned(), "name each disk once");
    }
    let least = fields.level.least();
    if fields.devices.len() < least {
        return wrong(
            fields.devices.span,
            format!("{} needs {least} disks at least", fields.level),
            "name more disks, or choose another level",
        );
    }
    Some(Arc::new(fields))
}

impl Raid {
    fn path(&self) -> String {
        format!("/dev/md/{}", self.name)
    }

    fn change(&self, action: &'static str, summary: String, told: Vec<Attribute>) -> Change {
        Change::new(
            Object::Path(self.path()),
            summary,
            Detail::Attributes(told),
            Script::new(crate::shell!(
                "shell/zeros.sh",
                "resources/disks/empty_device.sh",
                "resources/disks/raid/raid.sh"
            ))
            .named("action", action)
            .named("name", self.name.as_str())
            .named("level", self.level.to_string())
            .list("devices", self.devices.iter().map(|path| path.as_str())),
        )
    }

    /// Refuses an array that is not the one that is wanted.
    fn compare(&self, array: &Block, disks: &[&Block]) -> Planned {
        let wanted: BTreeSet<&str> = disks.iter().map(|disk| disk.name.as_str()).collect();
        let is: BTreeSet<&str> = array.members.iter().map(String::as_str).collect();
        let level = self.level.to_string();
        let mut differs = Vec::new();
        if array.level.as_deref() != Some(&level) {
            differs.push(format!("it is {}, not {level}", array.level.as_deref().unwrap_or("no array")));
        }
        if is != wanted {
            let list = |names: &BTreeSet<&str>| names.iter().copied().collect::<Vec<_>>().join(", ");
            differs.push(format!("it is made of {}, not of {}", list(&is), list(&wanted)));
        }
        if differs.is_empty() {
            return Ok(Vec::new());
        }
        Err(Unplannable::Failed(format!(
            "{} is there already: {}; an array that may hold data is never changed",
            self.path(),
            differs.join(", ")
        )))
    }
}

impl Resource for Raid {
    fn queries(&self) -> Vec<Query> {
        let mut queries: Vec<Query> = base("virtualization").into_iter().collect();
        queries.push(BlockQuery(self.path()).into());
        queries.extend(self.devices.iter().map(|path| BlockQuery(path.0.clone()).into()));
        queries
    }

    fn plan(&self, facts: &Facts) -> Planned {
        let path = self.path();
        if let Some(container) = known::container(facts) {
            return Err(Unplannable::Blocked(format!(
                "disks belong to the machine below this container ({container}): do it there"
            )));
        }
        let disks = self.devices.iter().map(|path| device(facts, path.as_str()));
        let disks: Vec<&Block> = disks.collect::<Result<_, _>>()?;
        let names: BTreeSet<&str> = disks.iter().map(|disk| disk.name.as_str()).collect();
        if names.len() < disks.len() {
            return Err(Unplannable::Failed(
                "two of the paths are the same disk: name each disk once".to_owned(),
            ));
        }
        let object = Object::Path(path.clone());
        if let Some(array) = known::answer(facts, &BlockQuery(path.clone()), &object)? {
            return self.compare(array, &disks);
        }
        let total = size(disks.iter().fold(0, |total, disk| total.saturating_add(disk.bytes)));
        let told = vec![
            Attribute::new("level", None, Some(&self.level.to_string())),
            Attribute::new("disks", None, Some(&format!("{} ({total})", disks.len()))),
        ];
        let level = format!("{} of {} disks, together {total}", self.level, disks.len());
        // All of one array of this name, which nobody started.
        let ours = |disk: &Block| {
            let label = disk.label.as_deref().unwrap_or("");
            let name = label.rsplit_once(':').map_or(label, |(_, name)| name);
            disk.kind.as_deref() == Some(MEMBER) && name == self.name.as_str() && disk.holders.is_empty()
        };
        let ids: BTreeSet<&Option<String>> = disks.iter().map(|disk| &disk.uuid).collect();
        let first = disks.first().copied();
        if disks.iter().all(|disk| ours(disk)) && ids.len() == 1 {
            first.map_or(Ok(()), |disk| need(disk, "mdadm", "mdadm"))?;
            return Ok(vec![self.change("assemble", format!("~ {path} (start, {level})"), told)]);
        }
        for (path, disk) in self.devices.iter().zip(&disks) {
            refuse_full(path.as_str(), disk)?;
        }
        first.map_or(Ok(()), |disk| need(disk, "mdadm", "mdadm"))?;
        Ok(vec![self.change("create", format!("+ {path} ({level})"), told)])
    }

    fn touches(&self) -> Touches {
        let disks = self.devices.iter().map(|path| Object::Path(path.0.clone()));
        Touches::Objects(disks.chain([Object::Path(self.path())]).collect())
    }

    fn manages(&self) -> Vec<(Object, String)> {
        let disks: Vec<&str> = self.devices.iter().map(|path| path.as_str()).collect();
        let name = format!("{} (array)", self.path());
        claims(Object::Path, &name, self.level.to_string(), [("disks", Some(disks.join(" ")))])
    }

    /// Half of one would be taken for data.
    fn leave(&self) -> bool {
        true
    }
}
