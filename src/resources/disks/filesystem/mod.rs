//! `filesystem`: a file system on a disk that held nothing.

use std::sync::Arc;

use super::empty::{device, empty_by_hand, need, refuse_full, size};
use crate::config::{Diagnostic, Diagnostics, FromNode as _, Node, Sp};
use crate::facts::block::BlockQuery;
use crate::facts::{Facts, Object, Query, Touches, base};
use crate::resources::shared::known;
use crate::resources::shared::value::{HostPath, claims};
use crate::resources::{Attribute, Built, Change, Context, Detail, Planned, Resource, Unplannable};
use crate::transport::Script;

crate::choice! {
    /// Kinds of file systems.
    FilesystemKind {
        /// ext4, with `mkfs.ext4` of e2fsprogs.
        Ext4 = "ext4",
        /// XFS, with `mkfs.xfs` of xfsprogs.
        Xfs = "xfs",
    }
}

crate::record! {
    /// A file system on a block device, for scratch disks. `mount` mounts it, `raid` makes one device of several.
    ///
    /// It is made on a device that holds nothing: no file system, partition, array or volume that libblkid finds,
    /// nothing that uses it, and nothing but zeros in its first and last MiB. A device that holds something else is
    /// not touched: the task fails and says what is there. It is looked at again right before it is written.
    Filesystem("a file system") {
        /// The device. Numbers of disks change between boots: `/dev/disk/by-id/...` and `/dev/md/NAME` do not.
        req device: Sp<HostPath>,
        /// Its kind.
        req kind("type"): FilesystemKind,
        /// Its label, for `mount: { source: "LABEL=scratch", ... }`: at most 16 bytes, for XFS 12.
        opt label: Sp<String>,
        /// Options of `mkfs`, used when it is made: `[-m, "0"]`. Those that write elsewhere, or over something, are
        /// refused.
        def options: Vec<Sp<String>> = Vec::new(),
    }
}

kind! { "filesystem", Filesystem }

pub(in crate::resources) fn read(node: &Node, _: &dyn Context, diagnostics: &mut Diagnostics) -> Built {
    let fields = Filesystem::from_node(node, diagnostics)?;
    let mut wrong = |span, message: String, help: &str| {
        diagnostics.push(Diagnostic::error(span, message).help(help));
        None
    };
    if !fields.device.as_str().starts_with("/dev/") {
        return wrong(
            fields.device.span,
            format!("`{}` is no device", fields.device.as_str()),
            "write a path in /dev, such as `/dev/disk/by-id/nvme-...` or `/dev/md/scratch`",
        );
    }
    let longest = match fields.kind {
        FilesystemKind::Ext4 => 16,
        FilesystemKind::Xfs => 12,
    };
    if let Some(label) = &fields.label {
        let plain = label.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte));
        if label.is_empty() || label.len() > longest || label.starts_with('-') || !plain {
            return wrong(
                label.span,
                format!("`{}` is no label of {}", **label, fields.kind),
                &format!("1 to {longest} letters, digits, `-`, `_` or `.`"),
            );
        }
    }
    if let Some(option) = fields.options.iter().find(|option| is_dangerous(fields.kind, option)) {
        return wrong(
            option.span,
            format!("`{}` may write over something, or elsewhere than on the device", **option),
            "leave it out: a device that holds something is emptied by hand",
        );
    }
    Some(Arc::new(fields))
}

/// Whether an option of `mkfs` may do more than to make a file system on an empty device: it overwrites (`-F`, `-f`),
/// writes the superblocks alone (`-S`), nothing (`-n` of ext4, `-N` of XFS), at another place or on another device.
fn is_dangerous(kind: FilesystemKind, option: &str) -> bool {
    let letters = match kind {
        FilesystemKind::Ext4 => "FSnJd",
        FilesystemKind::Xfs => "fNp",
    };
    let short = option.strip_prefix('-').filter(|rest| !rest.starts_with('-'));
    let words = ["offset=", "dev=", "device=", "name=", "file=", "/dev/"];
    short.is_some_and(|rest| rest.contains(|letter| letters.contains(letter)))
        || words.iter().any(|word| option.contains(word))
        || !option.starts_with('-') && option.starts_with('/')
}

impl Filesystem {
    fn object(&self) -> Object {
        Object::Path(self.device.0.clone())
    }
}

impl Resource for Filesystem {
    fn queries(&self) -> Vec<Query> {
        let mut queries: Vec<Query> = base("virtualization").into_iter().collect();
        queries.push(BlockQuery(self.device.0.clone()).into());
        queries
    }

    fn plan(&self, facts: &Facts) -> Planned {
        let (path, kind) = (self.device.as_str(), self.kind.to_string());
        if let Some(container) = known::container(facts) {
            return Err(Unplannable::Blocked(format!(
                "{path} belongs to the machine below this container ({container}): do it there"
            )));
        }
        let block = device(facts, path)?;
        if block.unfinished {
            return Err(Unplannable::Failed(format!(
                "{path} holds an XFS whose mkfs did not come to its end{}",
                empty_by_hand(path)
            )));
        }
        if block.kind.as_ref() == Some(&kind) && block.table.is_none() && !block.mixed {
            let (is, wanted) = (block.label.as_deref().unwrap_or(""), self.label.as_ref());
            return match wanted {
                Some(wanted) if **wanted != is => Err(Unplannable::Failed(format!(
                    "{path} holds {kind} with the label `{is}`, not `{wanted}`: if it is the right one, change that by hand: `{}`",
                    match self.kind {
                        FilesystemKind::Ext4 => format!("e2label {path} {wanted}"),
                        FilesystemKind::Xfs => format!("xfs_admin -L {wanted} {path}"),
                    }
                ))),
                _ => Ok(Vec::new()),
            };
        }
        refuse_full(path, block)?;
        let package = match self.kind {
            FilesystemKind::Ext4 => "e2fsprogs",
            FilesystemKind::Xfs => "xfsprogs",
        };
        need(block, &format!("mkfs.{kind}"), package)?;
        let mut told = vec![
            Attribute::new("type", None, Some(&kind)),
            Attribute::new("size", None, Some(&size(block.bytes))),
        ];
        told.extend(self.label.as_ref().map(|label| Attribute::new("label", None, Some(label))));
        Ok(vec![Change::new(
            self.object(),
            format!("+ {kind} on {path} ({})", size(block.bytes)),
            Detail::Attributes(told),
            Script::new(crate::shell!(
                "shell/zeros.sh",
                "resources/disks/empty_device.sh",
                "resources/disks/filesystem/filesystem.sh"
            ))
            .named("kind", kind)
            .named("device", path)
            .named("label", self.label.as_ref().map_or("", |label| label.as_str()))
            .list("options", self.options.iter().map(|option| option.as_str())),
        )])
    }

    fn touches(&self) -> Touches {
        Touches::one(self.object())
    }

    fn manages(&self) -> Vec<(Object, String)> {
        let name = format!("{} (file system)", self.device.as_str());
        claims(Object::Path, &name, self.kind.to_string(), [("label", self.label.as_deref().cloned())])
    }

    /// Half of one would be taken for data.
    fn leave(&self) -> bool {
        true
    }
}
