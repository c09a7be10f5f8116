//! The shell texts of `src`, as they are sent to hosts: each as it is put together in the source.

#![allow(clippy::disallowed_methods, reason = "tests start shellcheck")]
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test")]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::folders;
use provision::facts::base::TABLE;
use regex::Regex;

/// The functions that every script of the engine finds in its frame.
const PRELUDE: [&str; 3] = ["shell/base64.sh", "shell/state_directory.sh", "engine/shell/state_functions.sh"];

fn root(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

/// All shell files below `src`, by their names there, but those that make the lab.
fn scripts() -> BTreeSet<String> {
    let source = root("src");
    let name = |path: PathBuf| path.strip_prefix(&source).unwrap().to_str().unwrap().to_owned();
    folders::scripts().into_iter().map(name).collect()
}

/// The name below `src` of what `include_str!` in a Rust file names.
fn beside(rust: &Path, name: &str) -> String {
    let path = rust.parent().unwrap().join(name).canonicalize().unwrap();
    path.strip_prefix(root("src").canonicalize().unwrap()).unwrap().to_str().unwrap().to_owned()
}

/// Every way in which the source puts shell files together: the macro `shell!`, and
/// single files by `include_str!`.
fn composed() -> BTreeSet<Vec<String>> {
    let macros = Regex::new(r#"\bshell!\(\s*("[^)$]*?")\s*,?\s*\)"#).unwrap();
    let single = Regex::new(r#"include_str!\(\s*"([^"]+\.sh)"\s*\)"#).unwrap();
    let word = Regex::new(r#""([^"]+)""#).unwrap();
    let mut found = BTreeSet::new();
    for path in folders::below(&root("src"), "rs") {
        let text = fs::read_to_string(&path).unwrap();
        for call in macros.captures_iter(&text) {
            let mut files = vec!["shell/common.sh".to_owned()];
            files.extend(word.captures_iter(&call[1]).map(|file| file[1].to_owned()));
            // It stands before the texts of files, whichever is due.
            if ["resources/files/render/below.sh", "resources/shared/validate.sh"]
                .iter()
                .any(|prefix| files.ends_with(&[(*prefix).to_owned()]))
            {
                let write =
                    ["shell/common.sh", "shell/base64.sh", "shell/reach.sh", "resources/shared/after.sh"];
                let put = ["resources/shared/put.sh", "resources/shared/write.sh"];
                files.extend(write.into_iter().chain(put).map(str::to_owned));
            }
            found.insert(files);
        }
        for file in single.captures_iter(&text).filter(|_| !path.starts_with(root("src/lab"))) {
            let file = beside(&path, &file[1]);
            let functions = ["engine/", "facts/state/", "facts/ask/", "shell/"];
            let prelude = if functions.iter().any(|of| file.starts_with(of)) { &PRELUDE[..] } else { &[] };
            let own = Some(file.as_str()).filter(|file| !PRELUDE.contains(file));
            found.insert(prelude.iter().copied().chain(own).map(str::to_owned).collect());
        }
    }
    found
}

/// The tests that run each text, on real files, in namespaces, on lab hosts or on virtual machines: files
/// in `tests/`. What is sent by the prelude or with all others stands with one of them; basic facts
/// need no row.
const RUN_BY: &[(&str, &str)] = &[
    (
        "shells/facts.rs",
        "shell/common.sh resources/packages/package/question/installed.sh resources/packages/repository/question/sources.sh resources/gpu/nvidia_driver/question/offered.sh facts/base/boot/next_kernel.sh facts/driver/nvidia_module.sh facts/base/boot/secure_boot.sh facts/setting/setting.sh facts/probe/ask.sh \
         facts/driver_upkeep/driver_upkeep.sh facts/containers/containers.sh facts/card_settings/card_settings.sh facts/fabric/fabric.sh facts/log/log.sh facts/next_boot/next_boot.sh facts/nvidia/nvidia.sh facts/rdma/rdma.sh \
         facts/software/software.sh facts/system/system.sh facts/owner_of.sh why/logs.sh compare/look.sh",
    ),
    (
        "shells/resources.rs",
        "facts/as_user.sh facts/ask/ask.sh shell/base64.sh facts/build/build.sh facts/file/file.sh resources/builds/library_path/question/loader.sh facts/netdev/netdev.sh shell/text.sh \
         resources/shared/after.sh resources/shared/attributes.sh resources/files/render/below.sh resources/builds/build/build.sh \
         shell/build_directory.sh resources/files/directory/directory.sh resources/files/directory/directory_remove.sh \
         resources/builds/library_path/library_path.sh resources/network/netdev/netdev.sh resources/network/netdev/netdev_routes.sh resources/network/netdev/netdev_routes_restore.sh resources/network/netdev/netdev_write.sh resources/packages/pip/pip.sh \
         resources/packages/pip/pip_list.sh resources/builds/prefix.sh resources/shared/put.sh shell/reach.sh resources/shared/remove.sh \
         resources/files/symlink/symlink.sh resources/shared/validate.sh resources/commands/wait_for/wait.sh resources/commands/wait_for/wait_for.sh resources/shared/write.sh",
    ),
    (
        "shells/fetch.rs",
        "resources/builds/git/question/git.sh resources/files/archive/archive.sh resources/shared/download.sh resources/shared/fetch.sh resources/shared/get.sh \
         resources/builds/git/git.sh",
    ),
    (
        "shells/links.rs",
        "shell/held.sh resources/builds/build_once/build_fetch.sh resources/builds/distribute/distribute.sh resources/network/hosts_file/hosts_file.sh resources/packages/repository/key.sh \
         resources/files/mount/mount.sh resources/builds/over_mesh.sh resources/shared/ssh_directory.sh resources/shared/ssh_file.sh \
         resources/ssh/ssh_key/ssh_key.sh",
    ),
    (
        "shells/devices.rs",
        "facts/firewall/firewall.sh resources/kernel/pcie/question/pcie.sh resources/rdma/rdma_link/question/rdma_link.sh shell/each.sh resources/network/firewall/firewall.sh \
         resources/network/firewall/firewall_restore.sh resources/shared/initramfs.sh resources/shared/initramfs_module.sh \
         resources/kernel/reboot/initramfs_of.sh resources/kernel/module.sh resources/kernel/pcie/pcie.sh engine/shell/proxy.sh \
         resources/rdma/rdma_link/rdma_link.sh",
    ),
    (
        "lab/main.rs",
        "accept/node/start.sh accept/node/tests.sh accept/node/follow.sh accept/node/stop.sh relay/directory.sh relay/poll.sh relay/start.sh active/allreduce.sh active/as_user.sh active/mesh.sh active/tools.sh shell/package_holder.sh engine/shell/end_task.sh facts/account/account.sh resources/kernel/kernel_cmdline/question/cmdline.sh \
         facts/package/dnf_providers.sh facts/driver/driver.sh resources/files/fetch/question/fetch.sh facts/filesystem/filesystems.sh facts/module/module.sh facts/package/package.sh facts/ssh_user/ssh_user.sh facts/sshd/sshd.sh \
         facts/unit/unit.sh engine/shell/follow.sh facts/login/login.sh facts/view/view.sh resources/accounts/account.sh resources/shared/apt.sh resources/shared/dnf.sh resources/gpu/nvidia_driver/driver_lock.sh resources/gpu/nvidia_driver/driver_stream.sh \
         resources/gpu/nvidia_driver/driver_hold.sh resources/network/hostname/hostname.sh resources/network/netdev/netdev_restore.sh resources/ssh/sshd/sshd.sh \
         resources/shared/sshd_reload.sh resources/kernel/sysctl/sysctl.sh resources/shared/unit.sh resources/shared/unit_restore.sh engine/shell/spool.sh \
         facts/state/state.sh shell/state_directory.sh engine/shell/state_functions.sh engine/shell/take_over.sh engine/shell/tidy.sh engine/shell/undo_end.sh engine/shell/undo_keep.sh",
    ),
    (
        "shells/state.rs",
        "facts/ask/asked.sh engine/shell/batch.sh engine/shell/fence.sh engine/shell/lock_owner.sh engine/shell/unlock.sh engine/shell/upload.sh engine/shell/upload_drop.sh",
    ),
    (
        "shells/disks.rs",
        "facts/block/block.sh resources/disks/empty_device.sh resources/disks/filesystem/filesystem.sh shell/zeros.sh",
    ),
    (
        "lab_vm/main.rs",
        "engine/shell/booted.sh resources/kernel/kernel_cmdline/cmdline.sh resources/disks/raid/raid.sh resources/kernel/reboot/reboot.sh",
    ),
    (
        "shells/scheduler.rs",
        "scheduler/begin.sh scheduler/end.sh scheduler/idle.sh scheduler/kubectl.sh scheduler/kubectl_drain.sh \
         scheduler/kubectl_nodes.sh scheduler/kubectl_patch.sh scheduler/kubectl_pods.sh scheduler/marks.sh \
         scheduler/marks_directory.sh",
    ),
    (
        "shells/rooted.rs",
        "resources/builds/git/git_rooted.sh transport/root_path.sh shell/rooted.sh shell/rooted_below.sh",
    ),
    ("shells/parts.rs", "accept/parts/parts.sh"),
    ("it/fabric.rs", "accept/fabric/fabric.sh"),
    ("shells/roce.rs", "facts/roce/roce.sh resources/rdma/roce/roce.sh shell/roce_device.sh"),
];

/// Texts that no test runs, and why.
const NOT_RUN: &[(&str, &str)] = &[
    (
        "accept/fabric/adapters.sh",
        "it reads files of InfiniBand adapters; what it prints is in src/accept/fabric/mod.rs",
    ),
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
    (
        "resources/gpu/nvidia_driver/driver_load.sh",
        "unloads and loads the modules of a GPU, which no machine of the tests has",
    ),
    (
        "resources/gpu/nvidia_driver/driver_modules.sh",
        "DKMS builds for ten minutes: `--test lab` nvidia_module_is_built does, when asked",
    ),
    ("resources/gpu/nvidia_driver/driver_runfile.sh", "an installer of NVIDIA of 400 MB that wants a GPU"),
    ("resources/gpu/nvidia_driver/driver_uninstall.sh", "nvidia-uninstall is brought by that installer"),
    ("resources/gpu/nvidia_driver/driver_units.sh", "stops what uses a GPU around the changes above"),
];

#[test]
fn every_file_is_run_by_a_test_or_says_why_not() {
    let mut named = BTreeSet::new();
    for (file, files) in RUN_BY {
        let test = root("tests").join(file);
        assert!(test.exists(), "there is no {}", test.display());
        named.extend(files.split_whitespace().map(|script| (*file, script.to_owned())));
    }
    // It asks every basic fact in every shell; the script of one has its name.
    named.extend(TABLE.iter().map(|fact| ("shells/facts.rs", format!("facts/base/{0}/{0}.sh", fact.name))));
    named.extend(NOT_RUN.iter().map(|(file, _)| ("not run", (*file).to_owned())));
    let mut files: Vec<String> = named.into_iter().map(|(_, file)| file).collect();
    files.sort();
    let all: Vec<String> = scripts().into_iter().collect();
    assert_eq!(all, files, "left: below src; right: RUN_BY and NOT_RUN of this file, each once");
}

#[test]
fn every_file_is_sent_in_some_text() {
    let sent: BTreeSet<String> = composed().into_iter().flatten().collect();
    assert_eq!(scripts(), sent, "left: below src; right: what the source puts together");
}

#[test]
fn what_is_sent_is_clean() {
    let directory = tempfile::tempdir().unwrap();
    let texts = composed();
    assert!(texts.len() > 80, "{} texts", texts.len());
    let mut paths = Vec::new();
    for files in &texts {
        let text: String =
            files.iter().map(|file| fs::read_to_string(root("src").join(file)).unwrap()).collect();
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
