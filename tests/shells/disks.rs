//! File systems on real block devices of this machine: loop devices over files, real blkid, real mkfs. Needs root.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test")]
#![allow(clippy::disallowed_methods, reason = "tests start programs")]
#![allow(clippy::print_stdout, reason = "a test says what it could not try")]

use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use crate::support::{self, Nothing, SHELLS, gather, run};
use provision::facts::block::BlockQuery;
use provision::facts::{Facts, Query};
use provision::resources::question as query;
use provision::resources::{Resource, Unplannable};

fn read(text: &str) -> Arc<dyn Resource> {
    support::read(&Nothing, text)
}

fn tool(program: &str, words: &[&str]) -> String {
    let done = Command::new(program).args(words).output().unwrap();
    assert!(done.status.success(), "{program} {words:?}: {done:?}");
    String::from_utf8(done.stdout).unwrap().trim().to_owned()
}

/// A loop device that goes with its test.
struct Disk(String);

impl Disk {
    /// `None` where this machine has no loop devices for us.
    fn new(file: &Path) -> Option<Self> {
        std::fs::File::create(file).unwrap().set_len(64 << 20).unwrap();
        let done = Command::new("losetup").args(["--find", "--show"]).arg(file).output().unwrap();
        if !done.status.success() {
            println!("skipped: {}", String::from_utf8_lossy(&done.stderr));
            return None;
        }
        Some(Self(String::from_utf8(done.stdout).unwrap().trim().to_owned()))
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        drop(Command::new("losetup").args(["--detach", &self.0]).status());
    }
}

/// What is known of this machine, which is no container for this test.
fn known(shell: &[&str], task: &dyn Resource) -> Facts {
    let is_machine = query("base virtualization").unwrap();
    let asked = task.queries().into_iter().filter(|query| *query != is_machine);
    let mut facts = gather(shell, asked.collect::<Vec<Query>>());
    let no = serde_json::json!({ "kind": "none", "container": false });
    let answer = is_machine.read(&no).unwrap();
    facts.insert(is_machine, answer);
    facts
}

/// Plans and carries out; what was done, or why not.
fn apply(shell: &[&str], task: &dyn Resource) -> Result<Vec<String>, Unplannable> {
    let changes = task.plan(&known(shell, task))?;
    for change in &changes {
        let (status, output, errors) = run(shell, &change.script, None);
        assert_eq!(status, 0, "{shell:?} {}: {}{errors}", change.summary, String::from_utf8_lossy(&output));
    }
    Ok(changes.into_iter().map(|change| change.summary).collect())
}

#[test]
fn a_file_system_is_made_where_nothing_is_and_nowhere_else() {
    for shell in SHELLS {
        let folder = tempfile::tempdir().unwrap();
        let Some(disk) = Disk::new(&folder.path().join("disk")) else { return };
        let device = disk.0.as_str();
        let task =
            |label: &str| read(&format!("filesystem: {{ device: {device}, type: ext4, label: {label} }}"));
        assert_eq!(apply(shell, &*task("scratch")).unwrap(), [format!("+ ext4 on {device} (67.10 MB)")]);
        assert_eq!(apply(shell, &*task("scratch")).unwrap(), [""; 0], "{shell:?}");
        assert_eq!(tool("blkid", &["-p", "-o", "value", "-s", "LABEL", device]), "scratch");
        let uuid = || tool("blkid", &["-p", "-o", "value", "-s", "UUID", device]);
        let before = uuid();

        // It is told where it is mounted: out of sight of all others, since who copies the list of mounts meanwhile
        // (a container that starts) keeps the device busy.
        let place = folder.path().join("a place");
        std::fs::create_dir(&place).unwrap();
        let mounted = ["unshare", "--mount", "sh", "-c", r#"mount "$0" "$1" && shift && exec "$@""#, device];
        let mounted = [&mounted[..], &[place.to_str().unwrap()], *shell].concat();
        let facts = gather(&mounted, [Query::from(BlockQuery(device.to_owned()))]);
        let seen = facts.get(&BlockQuery(device.to_owned()));
        assert!(format!("{seen:?}").contains("a place"), "{shell:?} {seen:?}");

        // Another label, another type: refused, and nothing is written.
        let refused = |task: &dyn Resource| match apply(shell, task) {
            Err(Unplannable::Failed(text)) => text,
            other => panic!("{shell:?} {other:?}"),
        };
        assert!(refused(&*task("other")).contains("e2label"), "{shell:?}");
        let raid = read(&format!("raid: {{ name: x, level: raid1, devices: [{device}, {device}p1] }}"));
        assert!(apply(shell, &*raid).is_err());
        assert_eq!(uuid(), before);

        // What blkid does not know any more is data still.
        tool("wipefs", &["--all", "--quiet", device]);
        let text = refused(&*task("scratch"));
        assert!(text.contains("begins or ends with data that blkid does not know"), "{shell:?} {text}");
        // Neither does it know a file system behind zeros, of which the end of the disk tells.
        let end = (64 << 20) - 512;
        tool("dd", &["if=/dev/zero", &format!("of={device}"), "bs=1M", "count=64"]);
        tool("sh", &["-c", &format!("printf 'EFI PART' | dd of={device} bs=1 seek={end}")]);
        let text = refused(&*task("scratch"));
        assert!(text.contains("begins or ends with data that blkid does not know"), "{shell:?} {text}");
    }
}

/// Between the plan and the change somebody else was faster.
#[test]
fn a_device_is_looked_at_again_before_it_is_written() {
    for shell in SHELLS {
        let folder = tempfile::tempdir().unwrap();
        let Some(disk) = Disk::new(&folder.path().join("disk")) else { return };
        let device = disk.0.as_str();
        let task = read(&format!("filesystem: {{ device: {device}, type: ext4 }}"));
        let changes = task.plan(&known(shell, &*task)).unwrap();
        tool("mkfs.ext4", &["-q", "-L", "theirs", device]);
        let (status, _, errors) = run(shell, &changes[0].script, None);
        assert!(status != 0 && errors.contains("holds something by now"), "{shell:?} {status} {errors}");
        assert!(errors.contains("LABEL=theirs"), "{shell:?} {errors}");
        assert_eq!(tool("blkid", &["-p", "-o", "value", "-s", "LABEL", device]), "theirs");
    }
}
