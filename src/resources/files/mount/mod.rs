//! `mount`: a file system at its place, now and after every boot.

use std::sync::Arc;

use crate::config::{Diagnostic, Diagnostics, FromNode as _, Node, Sp};
use crate::facts::base::mounts::Mounts;
use crate::facts::block::{Block, BlockQuery};
use crate::facts::file::PathQuery;
use crate::facts::{Facts, Object, Query, Touches, base};
use crate::resources::shared::content::{RegularFile, computed_queries, describe, edit, plan_computed};
use crate::resources::shared::known;
use crate::resources::shared::value::{HostPath, Presence, claims};
use crate::resources::{
    Attribute, Built, Change, Context, Detail, Disruption, Planned, Resource, Unplannable,
};
use crate::transport::Script;

crate::record! {
    /// A file system that is mounted at a place: its line in `/etc/fstab`, and the mount itself.
    ///
    /// An existing line for the same place is replaced; all others are kept. If something else is
    /// mounted there, it is not unmounted: the task fails and says so. A container cannot mount: there
    /// the task is blocked.
    MountFields("a mount") {
        /// Mount point: the directory where it is mounted.
        req path: HostPath,
        /// Source of the mount: `server:/export`, a device (`/dev/md/scratch`, `LABEL=scratch`), `tmpfs`.
        opt source: Sp<String>,
        /// Its type: `nfs4`, `ext4`, `xfs`, `tmpfs` ...
        opt kind("type"): Sp<String>,
        /// Mount options. `_netdev` and `nofail` let a node boot without the server.
        opt options: Sp<String>,
        /// Whether it must be mounted (`present`), or unmounted and removed from `/etc/fstab`
        /// (`absent`).
        def state: Presence = Presence::Present,
    }
}

kind! { "mount", MountFields }

const FSTAB: &str = "/etc/fstab";
const NFS: &str = "/sbin/mount.nfs";

#[derive(Debug)]
struct Mount {
    path: HostPath,
    source: String,
    kind: String,
    options: String,
    state: Presence,
}

/// White space and backslashes as fstab(5) has them.
fn escape(text: &str) -> String {
    text.replace('\\', "\\134").replace(' ', "\\040").replace('\t', "\\011")
}

pub(in crate::resources) fn read(node: &Node, _: &dyn Context, diagnostics: &mut Diagnostics) -> Built {
    let fields = MountFields::from_node(node, diagnostics)?;
    if fields.path.as_str() == "/" {
        diagnostics.error(node.span, "/ is mounted at boot and cannot be managed here");
        return None;
    }
    let (source, kind) = match (fields.source, fields.kind, fields.state) {
        (Some(source), Some(kind), _) => (source, kind),
        (None, None, Presence::Absent) => {
            (Sp::new("none".to_owned(), node.span), Sp::new("none".to_owned(), node.span))
        }
        _ => {
            diagnostics.push(
                Diagnostic::error(node.span, "a mount needs `source` and `type`")
                    .help("such as `source: server:/export, type: nfs4`"),
            );
            return None;
        }
    };
    let options = fields.options.unwrap_or_else(|| Sp::new("defaults".to_owned(), node.span));
    for (text, what) in [(&kind, "a type of file system"), (&options, "mount options")] {
        if text.is_empty() || text.contains(char::is_whitespace) || text.starts_with(['#', '-']) {
            diagnostics.error(text.span, format!("`{}` is not {what}", **text));
            return None;
        }
    }
    if source.is_empty() || source.starts_with(['#', '-']) || source.contains(['\n', '\r', '\0']) {
        diagnostics.error(source.span, format!("`{}` cannot be mounted", *source));
        return None;
    }
    Some(Arc::new(Mount {
        path: fields.path,
        source: source.value,
        kind: kind.value,
        options: options.value,
        state: fields.state,
    }))
}

impl Mount {
    fn object(&self) -> Object {
        Object::Path(self.path.0.clone())
    }

    fn line(&self) -> String {
        format!("{} {} {} {} 0 0", escape(&self.source), escape(&self.path.0), self.kind, self.options)
    }

    /// The table as it shall be: our line at the place of the old one, else at the end.
    fn table(&self, text: &str) -> String {
        let place = escape(&self.path.0);
        let is_ours = |line: &str| {
            let mut words = line.split_whitespace();
            !line.trim_start().starts_with('#') && words.nth(1) == Some(place.as_str())
        };
        // The same words with other blanks are the same line.
        let same = |line: &str| line.split_whitespace().eq(self.line().split_whitespace());
        let mut lines: Vec<String> = Vec::new();
        let mut written = self.state == Presence::Absent;
        for line in text.lines() {
            if !is_ours(line) {
                lines.push(line.to_owned());
            } else if !written {
                lines.push(if same(line) { line.to_owned() } else { self.line() });
                written = true;
            }
        }
        if !written {
            lines.push(self.line());
        }
        let mut text = lines.join("\n");
        if !text.is_empty() {
            text.push('\n');
        }
        text
    }

    /// Source and type of what is mounted at the place, and whether it is read-only.
    fn mounted(&self, facts: &Facts) -> Result<Option<(String, String, bool)>, Unplannable> {
        let object = Object::Path("/proc/mounts".to_owned());
        let Mounts(mounts) = known::base(facts, &object)?;
        let found = mounts.iter().find(|mount| mount.path == self.path.0);
        Ok(found.map(|mount| (mount.source.clone(), mount.kind.clone(), mount.read_only)))
    }

    /// Whether the options say that nothing is written there.
    fn is_read_only(&self) -> bool {
        let last = self.options.split(',').rfind(|option| matches!(*option, "ro" | "rw"));
        last == Some("ro")
    }

    /// The device that is mounted, where it is one of this host.
    fn device(&self) -> Option<BlockQuery> {
        if self.source.starts_with("/dev/") {
            return Some(BlockQuery(self.source.clone()));
        }
        let (tag, name) = self.source.split_once('=')?;
        let tags = ["LABEL", "UUID", "PARTLABEL", "PARTUUID"];
        tags.contains(&tag).then(|| BlockQuery(format!("/dev/disk/by-{}/{name}", tag.to_lowercase())))
    }

    /// Whether what the kernel calls `source` is the device that is wanted, by another of its names.
    fn is_other_name(&self, source: &str, facts: &Facts) -> Result<bool, Unplannable> {
        let Some(device) = self.device() else { return Ok(false) };
        let block: &Option<Block> = known::answer(facts, &device, &self.object())?;
        let Some(block) = block else { return Ok(false) };
        // Of device mapper the kernel tells a name that is not its own.
        if source.starts_with("/dev/mapper/") {
            return Ok(block.mounts.contains(&self.path.0));
        }
        Ok(source.strip_prefix("/dev/") == Some(&block.name))
    }

    /// NFS 4 is shown as `nfs4`, whichever of the two it was mounted as.
    fn is_kind(&self, kind: &str) -> bool {
        kind == self.kind || (kind == "nfs4" && self.kind == "nfs")
    }

    fn change(
        &self,
        action: &'static str,
        summary: String,
        attributes: Vec<Attribute>,
        disruption: Disruption,
    ) -> Change {
        Change::new(
            self.object(),
            summary,
            Detail::Attributes(attributes),
            Script::new(crate::shell!("shell/reach.sh", "resources/files/mount/mount.sh"))
                .named("action", action)
                .named("path", self.path.as_str()),
        )
        .disrupting(disruption)
    }

    fn needs_helper(&self) -> bool {
        self.state == Presence::Present && matches!(self.kind.as_str(), "nfs" | "nfs4")
    }
}

impl Resource for Mount {
    fn queries(&self) -> Vec<Query> {
        let mut queries: Vec<Query> =
            ["mounts", "virtualization"].iter().filter_map(|name| base(name)).collect();
        queries.extend(computed_queries(&HostPath(FSTAB.to_owned())));
        if self.needs_helper() {
            queries.push(PathQuery(NFS.to_owned()).into());
        }
        if self.state == Presence::Present {
            queries.extend(self.device().map(Query::from));
        }
        queries
    }

    fn plan(&self, facts: &Facts) -> Planned {
        let path = self.path.as_str();
        let mounted = self.mounted(facts)?;
        let due = match (&mounted, self.state) {
            (None, Presence::Present) => Some("mounted"),
            (Some(_), Presence::Absent) => Some("unmounted"),
            (None, Presence::Absent) => None,
            (Some((source, kind, _)), Presence::Present) => {
                let same = *source == self.source || self.is_other_name(source, facts)?;
                if !same || !self.is_kind(kind) {
                    let told = [
                        Attribute::new("source", Some(source), Some(&self.source)),
                        Attribute::new("type", Some(kind), Some(&self.kind)),
                    ];
                    let told: Vec<String> =
                        told.iter().filter(|told| told.before != told.after).map(describe).collect();
                    return Err(Unplannable::Failed(format!(
                        "something else is mounted at {path} ({}): unmount it first, when nobody uses it",
                        told.join(", ")
                    )));
                }
                None
            }
        };
        if let (Some(due), Some(kind)) = (due, known::container(facts)) {
            return Err(Unplannable::Blocked(format!(
                "{path} cannot be {due} in a container ({kind}): do it on the machine that runs it"
            )));
        }
        if due.is_some() && self.needs_helper() && known::path(facts, NFS)?.is_none() {
            return Err(Unplannable::Missing(
                Object::Path(NFS.to_owned()),
                format!("{NFS} is missing: install nfs-common, or nfs-utils on RHEL"),
            ));
        }
        let fstab = HostPath(FSTAB.to_owned());
        let mut changes = if known::path(facts, FSTAB)?.is_none() && self.state == Presence::Present {
            plan_computed(&RegularFile::drop_in(fstab.0, self.table("")), facts)?
        } else if known::path(facts, FSTAB)?.is_none() {
            Vec::new()
        } else {
            edit(&fstab, facts, None, |text| self.table(text))?
        };
        if due.is_none() {
            // These are read-only by nature.
            let images = ["iso9660", "squashfs", "erofs", "cramfs", "udf", "romfs"];
            let image = images.contains(&self.kind.as_str()) || self.kind.starts_with("fuse");
            let (is, wanted) = match (mounted.filter(|_| !image), self.is_read_only()) {
                (Some((.., true)), false) => ("read-only", "rw"),
                (Some((.., false)), true) => ("to be written", "ro"),
                _ => return Ok(changes),
            };
            // The kernel does this too, after errors of the disk.
            return Err(Unplannable::Blocked(format!(
                "{path} is mounted {is}: when it is known why, `mount -o remount,{wanted} {path}`"
            ))
            .beside(&changes));
        }
        if self.state == Presence::Present {
            let attributes = vec![
                Attribute::new("source", None, Some(&self.source)),
                Attribute::new("type", None, Some(&self.kind)),
            ];
            let summary = format!("~ {path} (mount {}, {})", self.source, self.kind);
            changes.push(self.change("mount", summary, attributes, Disruption::Reload));
        } else {
            changes.push(self.change(
                "umount",
                format!("~ {path} (umount)"),
                Vec::new(),
                Disruption::Service,
            ));
        }
        Ok(changes)
    }

    fn touches(&self) -> Touches {
        // What is below changes with it.
        Touches::Objects([self.object(), Object::Path(FSTAB.to_owned())].into())
    }

    fn manages(&self) -> Vec<(Object, String)> {
        let name = format!("{} (mount)", self.path.as_str());
        match self.state {
            Presence::Present => claims(Object::Path, &name, "mounted", [("line", Some(self.line()))]),
            Presence::Absent => vec![(Object::Path(name), "not mounted".to_owned())],
        }
    }
}
