//! File system of a path, by a name that is the same on all hosts that see it.
//!
//! Format: proc(5) `mountinfo`, with the escapes of fstab(5).

use serde::{Deserialize, Serialize};

use super::base::{PSEUDO, unescape};
use super::object::inside;
use super::{Answers, Cost, Family, Query, Question, Touches, answers};
use crate::transport::Script;

/// File systems of a network or a cluster: what their source names is the same thing everywhere.
/// A mount tag of a hypervisor (9p, virtiofs) is not.
const SHARED: &[&str] = &[
    "afs",
    "beegfs",
    "ceph",
    "cifs",
    "fuse.ceph",
    "fuse.glusterfs",
    "fuse.juicefs",
    "gfs2",
    "glusterfs",
    "gpfs",
    "lustre",
    "nfs",
    "nfs4",
    "ocfs2",
    "orangefs",
    "pvfs2",
    "smb3",
    "wekafs",
];

/// Mounted file systems.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Filesystems {
    /// The boot of the kernel: containers of one machine have one.
    pub boot: String,
    /// In the order of mounting; a later one of the same place hides an earlier one.
    pub mounts: Vec<Mount>,
}

/// One mount.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mount {
    /// `MAJOR:MINOR` of the device.
    pub device: String,
    /// The directory of the file system that is seen there.
    pub root: String,
    /// Mount point.
    pub point: String,
    /// Type of the file system.
    pub kind: String,
    /// Mounted source, such as `10.0.9.1:/export`.
    pub source: String,
}

impl Filesystems {
    /// Returns the location of a path, by a name that is the same on all hosts that see the same file there
    /// and on no other: for file systems of a network by type and source, for all others by the running
    /// kernel, device and directory. Links are not followed.
    pub fn location(&self, path: &str) -> Option<String> {
        let longest = |mount: &&Mount| inside(&mount.point, path);
        // Of several mounts at one place `max_by_key` takes the last.
        let mount = self.mounts.iter().filter(longest).max_by_key(|mount| mount.point.len())?;
        let below = path.strip_prefix(mount.point.trim_end_matches('/')).unwrap_or(path);
        let place = format!("{}{below}", mount.root.trim_end_matches('/'));
        let name = if SHARED.contains(&mount.kind.as_str()) {
            format!("{} {}", mount.kind.trim_end_matches('4'), mount.source)
        } else {
            format!("{} {}", self.boot, mount.device)
        };
        Some(format!("{name} {}", place.trim_end_matches('/')))
    }
}

/// Mounted file systems, for telling which paths several hosts share.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct FilesystemsQuery;

impl Question for FilesystemsQuery {
    type Answer = Filesystems;
    const FAMILY: &'static Family = FAMILY;

    fn label(&self) -> String {
        "filesystems".to_owned()
    }

    fn touched_by(&self, touches: &Touches) -> bool {
        touches.units() || touches.paths(&["/etc/fstab"])
    }
}

/// A mount of a container is 1 KiB.
pub(crate) const FAMILY: &Family = &Family {
    cost: Cost::Files,
    tools: "`/proc/self/mountinfo` and `stat`",
    output: 4 << 20,
    ..Family::new(
        "filesystem",
        |_| Script::new(crate::shell!("facts/filesystem/filesystems.sh")),
        parse,
        |label| (label == "filesystems").then(|| FilesystemsQuery.into()),
    )
};

fn parse(queries: &[Query], output: &str, _: i32) -> Answers {
    let mut boot = String::new();
    let mut mounts = Vec::new();
    let mut complete = false;
    for line in output.lines() {
        if line == "end" {
            complete = true;
        } else if let Some(id) = line.strip_prefix("boot ") {
            id.clone_into(&mut boot);
        } else {
            mounts.extend(mount(line));
        }
    }
    let told = Filesystems { boot, mounts };
    answers(queries, |FilesystemsQuery| {
        Some(if complete { Ok(told.clone()) } else { Err("the list of mounts was cut short".to_owned()) })
    })
}

/// A line of `mountinfo`: `ID PARENT DEVICE ROOT POINT OPTIONS [TAGS] - TYPE SOURCE SUPEROPTIONS`.
fn mount(line: &str) -> Option<Mount> {
    let (place, what) = line.split_once(" - ")?;
    let mut place = place.split(' ').skip(2);
    let mut what = what.split(' ');
    let (device, root, point) = (place.next()?, place.next()?, place.next()?);
    let (kind, source) = (what.next()?, what.next()?);
    (!PSEUDO.contains(&kind)).then(|| Mount {
        device: device.to_owned(),
        root: unescape(root),
        point: unescape(point),
        kind: kind.to_owned(),
        source: unescape(source),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A host with these mounts: DEVICE ROOT POINT TYPE SOURCE.
    fn host(mounts: &[&str]) -> Filesystems {
        let lines = mounts.iter().fold(String::new(), |lines, mount| {
            let at = mount.match_indices(' ').nth(2).map_or(0, |(at, _)| at);
            let (place, what) = mount.split_at(at);
            format!("{lines}26 1 {place} rw,relatime shared:1 -{what} rw\n")
        });
        let output = format!("boot b1\n{lines}end\n");
        let answers = parse(&[FilesystemsQuery.into()], &output, 0);
        answers[0].1.known::<Filesystems>().unwrap().clone()
    }

    #[test]
    fn one_file_has_one_name() {
        let local = "8:1 / / ext4 /dev/sda1";
        let one = host(&[local, "0:51 / /shared nfs4 10.0.9.1:/export"]);
        let two = host(&[local, "0:77 /opt /opt nfs 10.0.9.1:/export"]);
        assert_eq!(one.location("/shared/opt/x"), two.location("/opt/x"));
        assert_ne!(one.location("/shared/x"), two.location("/opt/x"));
        // Two machines each have their own /etc, though the devices have the same names.
        let other = Filesystems { boot: "b2".to_owned(), ..one.clone() };
        assert_ne!(one.location("/etc/x"), other.location("/etc/x"));
        assert_eq!(one.location("/shared"), other.location("/shared"));
    }

    #[test]
    fn a_volume_of_two_containers() {
        let volume = "254:1 /volumes/v/_data /opt ext4 /dev/vda1";
        let one = host(&["0:60 / / overlay overlay", volume]);
        let two = host(&["0:61 / / overlay overlay", volume]);
        assert_eq!(one.location("/opt/a"), two.location("/opt/a"));
        assert_ne!(one.location("/optional"), two.location("/optional"));
    }

    #[test]
    fn the_last_and_deepest_mount_counts() {
        let seen = host(&[
            "8:1 / / ext4 /dev/sda1",
            "0:5 / /a\\040b nfs s:/1",
            "0:6 / /a\\040b nfs s:/2",
            "0:7 / /a\\040b/c nfs s:/3",
            "0:8 / /a\\040b/c/d proc proc",
        ]);
        assert_eq!(seen.location("/a b/x").unwrap(), "nfs s:/2 /x");
        assert_eq!(seen.location("/a b/c/d").unwrap(), "nfs s:/3 /d");
        assert_eq!(seen.location("/a b/c").unwrap(), "nfs s:/3 ");
        assert_eq!(seen.location("/a").unwrap(), "b1 8:1 /a");
    }
}
