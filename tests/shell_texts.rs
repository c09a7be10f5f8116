//! The shell texts of `src/shell`, as they are sent to hosts: each as it is put together in the source.

#![allow(clippy::disallowed_methods, reason = "tests start shellcheck")]
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test")]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use provision::facts::base::TABLE;
use regex::Regex;

/// The functions that every script of the engine finds in its frame.
const PRELUDE: [&str; 3] = ["base64.sh", "state_directory.sh", "state_functions.sh"];

fn below(directory: &Path, ending: &str, into: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            below(&path, ending, into);
        } else if path.to_str().unwrap().ends_with(ending) {
            into.push(path);
        }
    }
}

fn root(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

/// All files below `src/shell`, by their names there.
fn scripts() -> BTreeSet<String> {
    let shell = root("src/shell");
    let mut files = Vec::new();
    below(&shell, ".sh", &mut files);
    files.iter().map(|path| path.strip_prefix(&shell).unwrap().to_str().unwrap().to_owned()).collect()
}

/// Every way in which the source puts files of `src/shell` together: the macro `shell!`, and
/// single files by `include_str!`.
fn composed() -> BTreeSet<Vec<String>> {
    let macros = Regex::new(r#"\bshell!\(\s*("[^)$]*?")\s*,?\s*\)"#).unwrap();
    let single = Regex::new(r#"include_str!\(\s*"[./]*/shell/([^"]+\.sh)"\s*\)"#).unwrap();
    let word = Regex::new(r#""([^"]+)""#).unwrap();
    let mut sources = Vec::new();
    below(&root("src"), ".rs", &mut sources);
    let mut found = BTreeSet::new();
    for path in sources {
        let text = fs::read_to_string(&path).unwrap();
        for call in macros.captures_iter(&text) {
            let mut files = vec!["common.sh".to_owned()];
            files.extend(word.captures_iter(&call[1]).map(|file| file[1].to_owned()));
            // It stands before the texts of files, whichever is due.
            if ["resources/below.sh", "resources/validate.sh"]
                .iter()
                .any(|prefix| files.ends_with(&[(*prefix).to_owned()]))
            {
                let write = ["common.sh", "base64.sh", "resources/reach.sh", "resources/after.sh"];
                let put = ["resources/put.sh", "resources/write.sh"];
                files.extend(write.into_iter().chain(put).map(str::to_owned));
            }
            found.insert(files);
        }
        for file in single.captures_iter(&text) {
            let prelude = if file[1].contains('/') { &[] } else { &PRELUDE[..] };
            let own = Some(&file[1]).filter(|file| !PRELUDE.contains(file));
            found.insert(prelude.iter().copied().chain(own).map(str::to_owned).collect());
        }
    }
    found
}

/// The tests that run each text, on real files, in namespaces, on lab hosts or on virtual machines: names of
/// binaries in `tests/`. What is sent by the prelude or with all others stands with one of them; basic facts
/// need no row.
const RUN_BY: &[(&str, &str)] = &[
    (
        "facts_real",
        "common.sh facts/installed.sh facts/next_kernel.sh facts/nvidia_module.sh facts/secure_boot.sh facts/setting.sh probes/ask.sh \
         probes/driver_upkeep.sh probes/fabric.sh probes/log.sh probes/next_boot.sh probes/nvidia.sh probes/rdma.sh \
         probes/software.sh probes/system.sh owner_of.sh",
    ),
    (
        "resources_real",
        "as_user.sh ask.sh base64.sh facts/build.sh facts/file.sh facts/loader.sh facts/netdev.sh facts/text.sh \
         resources/after.sh resources/attributes.sh resources/below.sh resources/build.sh \
         resources/build_directory.sh resources/directory.sh resources/directory_remove.sh \
         resources/library_path.sh resources/netdev.sh resources/netdev_write.sh resources/pip.sh \
         resources/pip_list.sh resources/prefix.sh resources/put.sh resources/reach.sh resources/remove.sh \
         resources/symlink.sh resources/validate.sh resources/wait.sh resources/wait_for.sh resources/write.sh",
    ),
    (
        "fetch_real",
        "facts/git.sh resources/archive.sh resources/download.sh resources/fetch.sh resources/get.sh \
         resources/git.sh",
    ),
    (
        "links_real",
        "facts/held.sh resources/build_fetch.sh resources/distribute.sh resources/hosts_file.sh resources/key.sh \
         resources/mount.sh resources/over_mesh.sh resources/ssh_directory.sh resources/ssh_file.sh \
         resources/ssh_key.sh",
    ),
    (
        "devices_real",
        "facts/firewall.sh facts/pcie.sh facts/rdma_link.sh resources/each.sh resources/firewall.sh \
         resources/firewall_restore.sh resources/initramfs.sh resources/initramfs_module.sh \
         resources/initramfs_of.sh resources/module.sh resources/pcie.sh resources/proxy.sh \
         resources/rdma_link.sh",
    ),
    (
        "lab_runs",
        "relay/directory.sh relay/poll.sh relay/start.sh active/as_user.sh active/mesh.sh active/tools.sh package_holder.sh end_task.sh facts/account.sh facts/cmdline.sh \
         facts/dnf_providers.sh facts/driver.sh facts/fetch.sh facts/filesystems.sh facts/module.sh facts/package.sh facts/ssh_user.sh facts/sshd.sh \
         facts/unit.sh follow.sh probes/login.sh probes/view.sh resources/account.sh resources/apt.sh resources/dnf.sh resources/driver_lock.sh resources/driver_stream.sh \
         resources/driver_hold.sh resources/hostname.sh resources/netdev_restore.sh resources/sshd.sh \
         resources/sshd_reload.sh resources/sysctl.sh resources/unit.sh resources/unit_restore.sh spool.sh \
         state.sh state_directory.sh state_functions.sh take_over.sh tidy.sh undo_end.sh undo_keep.sh",
    ),
    ("state_real", "asked.sh batch.sh fence.sh lock_owner.sh unlock.sh upload.sh upload_drop.sh"),
    ("disks_real", "facts/block.sh resources/empty_device.sh resources/filesystem.sh zeros.sh"),
    ("lab_vm", "booted.sh resources/cmdline.sh resources/raid.sh resources/reboot.sh"),
    (
        "scheduler_real",
        "scheduler/begin.sh scheduler/end.sh scheduler/idle.sh scheduler/kubectl.sh scheduler/kubectl_drain.sh \
         scheduler/kubectl_nodes.sh scheduler/kubectl_patch.sh scheduler/kubectl_pods.sh scheduler/marks.sh \
         scheduler/marks_directory.sh",
    ),
    ("rooted_real", "git_rooted.sh root_path.sh rooted.sh rooted_below.sh"),
    ("roce_real", "facts/roce.sh resources/roce.sh roce_device.sh"),
];

/// Texts that no test runs, and why.
const NOT_RUN: &[(&str, &str)] = &[
    (
        "active/perftest.sh",
        "ib_write_bw between two hosts needs RDMA devices; what it prints is in tests/cases/active",
    ),
    (
        "active/rping_client.sh",
        "rping needs RDMA devices on two hosts; what it prints is in tests/cases/active",
    ),
    (
        "active/rping_server.sh",
        "rping needs RDMA devices on two hosts; what it prints is in tests/cases/active",
    ),
    ("resources/driver_load.sh", "unloads and loads the modules of a GPU, which no machine of the tests has"),
    (
        "resources/driver_modules.sh",
        "DKMS builds for ten minutes: lab_runs nvidia_module_is_built does, when asked",
    ),
    ("resources/driver_runfile.sh", "an installer of NVIDIA of 400 MB that wants a GPU"),
    ("resources/driver_uninstall.sh", "nvidia-uninstall is brought by that installer"),
    ("resources/driver_units.sh", "stops what uses a GPU around the changes above"),
];

#[test]
fn every_file_is_run_by_a_test_or_says_why_not() {
    let mut named = BTreeSet::new();
    for (binary, files) in RUN_BY {
        let test = root("tests").join(format!("{binary}.rs"));
        assert!(test.exists(), "there is no {}", test.display());
        named.extend(files.split_whitespace().map(|file| (*binary, file.to_owned())));
    }
    // It asks every basic fact in every shell; the script of one has its name.
    named.extend(TABLE.iter().map(|fact| ("facts_real", format!("facts/{}.sh", fact.name))));
    named.extend(NOT_RUN.iter().map(|(file, _)| ("not run", (*file).to_owned())));
    let mut files: Vec<String> = named.into_iter().map(|(_, file)| file).collect();
    files.sort();
    let all: Vec<String> = scripts().into_iter().collect();
    assert_eq!(all, files, "left: below src/shell; right: RUN_BY and NOT_RUN of this file, each once");
}

#[test]
fn every_file_is_sent_in_some_text() {
    let sent: BTreeSet<String> = composed().into_iter().flatten().collect();
    assert_eq!(scripts(), sent, "left: below src/shell; right: what the source puts together");
}

#[test]
fn what_is_sent_is_clean() {
    let directory = tempfile::tempdir().unwrap();
    let texts = composed();
    assert!(texts.len() > 80, "{} texts", texts.len());
    let mut paths = Vec::new();
    for files in &texts {
        let text: String =
            files.iter().map(|file| fs::read_to_string(root("src/shell").join(file)).unwrap()).collect();
        let path = directory.path().join(files.join("+").replace('/', "."));
        fs::write(&path, text).unwrap();
        paths.push(path);
    }
    let checks: Vec<_> = paths
        .chunks(paths.len().div_ceil(4))
        .map(|paths| {
            // Functions of a part that this text does not call, and what only a trap calls.
            let mut check = Command::new("shellcheck");
            check.args(["-s", "sh", "-e", "SC2317,SC2329"]).args(paths).stdout(std::process::Stdio::piped());
            check.spawn().unwrap_or_else(|error| {
                panic!("shellcheck cannot be started ({error}): scripts/setup.sh installs it")
            })
        })
        .collect();
    for check in checks {
        let done = check.wait_with_output().unwrap();
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stdout));
    }
}
