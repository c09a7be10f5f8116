//! Parts of a host, on a `/sys` that is made up and with tools that print what is recorded.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test")]
#![allow(clippy::disallowed_methods, reason = "tests start shells")]

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;
use std::process::Command;

use crate::support::SHELLS;
use provision::accept::parts::PARTS;

/// Sections of a recorded host.
type Sections<'t> = BTreeMap<&'t str, Vec<&'t str>>;

fn sections(text: &str) -> Sections<'_> {
    let mut sections = Sections::new();
    let mut name = "";
    for line in text.lines() {
        if let Some(begun) = line.strip_prefix("=== ") {
            name = begun;
            sections.insert(name, Vec::new());
        } else if let Some(line) = line.strip_prefix('|') {
            sections.get_mut(name).unwrap().push(line);
        }
    }
    sections
}

/// Lines of each device of a section.
fn devices<'t>(sections: &Sections<'t>, name: &str) -> Vec<(&'t str, Vec<&'t str>)> {
    let mut devices: Vec<(&str, Vec<&str>)> = Vec::new();
    for line in &sections[name] {
        match line.strip_prefix('@') {
            Some(device) => devices.push((device, Vec::new())),
            None => devices.last_mut().unwrap().1.push(line),
        }
    }
    devices
}

/// Files and links of `/sys` below a directory.
fn make_sysfs(root: &Path, sections: &Sections<'_>) {
    let write = |path: &str, value: &str| {
        let path = root.join(path.trim_start_matches('/'));
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, format!("{value}\n")).unwrap();
    };
    for line in &sections["cards"] {
        let Some((link, device)) = line.split_once("/device:").filter(|(_, device)| device.starts_with('/'))
        else {
            continue;
        };
        let (link, device) = (link.trim_start_matches('/'), device.trim_start_matches('/'));
        fs::create_dir_all(root.join(device)).unwrap();
        fs::create_dir_all(root.join(link)).unwrap();
        symlink(format!("../../../../{device}"), root.join(link).join("device")).unwrap();
        if devices(sections, "vpd").iter().any(|(address, _)| device.ends_with(address)) {
            write(&format!("/{device}/vpd"), "");
        }
    }
    for line in ["system", "memory_errors", "cards", "disks"].iter().flat_map(|name| &sections[name]) {
        let Some((path, value)) = line.split_once(':').filter(|_| line.starts_with("/sys/")) else {
            continue;
        };
        if !path.ends_with("/device") || !value.starts_with('/') {
            write(path, value);
        }
    }
    for line in &sections["bus_errors"] {
        let (path, value) = line.rsplit_once(':').unwrap();
        write(path, &format!("RxErr 0\n{value}"));
    }
}

/// Programs that print what is recorded, by their arguments.
fn make_tools(root: &Path, sections: &Sections<'_>) {
    let mut answers: Vec<(&str, String, Vec<&str>)> = vec![
        ("dmidecode", "-t 17".to_owned(), sections["memory"].clone()),
        ("nvidia-smi", "-q".to_owned(), sections["gpus"].clone()),
        ("nvidia-smi", "nvlink -e".to_owned(), sections["nvlink"].clone()),
        ("journalctl", "-k -b --no-pager -q -o short-monotonic".to_owned(), sections["events"].clone()),
    ];
    for (device, lines) in devices(sections, "addresses") {
        answers.push(("ethtool", format!("-P {device}"), lines));
    }
    for (device, lines) in devices(sections, "cables") {
        let is_rdma = sections["cards"]
            .iter()
            .any(|line| line.starts_with(&format!("/sys/class/infiniband/{device}/")));
        if is_rdma {
            answers.push(("mlxlink", format!("-d {device} -m"), lines));
        } else {
            answers.push(("ethtool", format!("-m {device}"), lines));
        }
    }
    for (address, mut lines) in devices(sections, "vpd") {
        lines.insert(0, "\tCapabilities: [48] Vital Product Data");
        answers.push(("lspci", format!("-D -vv -s {address}"), lines));
    }
    let bin = root.join("bin");
    fs::create_dir(&bin).unwrap();
    for name in ["dmidecode", "nvidia-smi", "journalctl", "ethtool", "mlxlink", "lspci"] {
        let mut text = "#!/bin/sh\ncase \"$*\" in\n".to_owned();
        for (number, (_, arguments, lines)) in answers.iter().filter(|(tool, _, _)| *tool == name).enumerate()
        {
            let said = bin.join(format!("{name}.{number}"));
            fs::write(&said, lines.iter().map(|line| format!("{line}\n")).collect::<Vec<_>>().concat())
                .unwrap();
            text += &["\"", arguments, "\") exec cat '", said.to_str().unwrap(), "' ;;\n"].concat();
        }
        text += "*) echo 'no such device' >&2; exit 1 ;;\nesac\n";
        fs::write(bin.join(name), text).unwrap();
        fs::set_permissions(bin.join(name), fs::Permissions::from_mode(0o755)).unwrap();
    }
}

/// Without the version of the kernel, which is this machine's where the shell has its own `uname`.
fn without_kernel(text: &str) -> String {
    let lines = text.lines().filter(|line| !line.starts_with('#') && !line.starts_with("|kernel:"));
    lines.map(|line| format!("{line}\n")).collect::<Vec<_>>().concat()
}

#[test]
fn every_shell_reads_the_same_parts_and_changes_nothing() {
    let text =
        fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cases/parts/hgx-a.txt")).unwrap();
    let sections = sections(&text);
    let root = tempfile::tempdir().unwrap();
    let root = root.path();
    make_sysfs(root, &sections);
    make_tools(root, &sections);
    let boot =
        sections["system"].iter().find_map(|line| line.strip_prefix("/proc/sys/kernel/random/boot_id:"));
    fs::write(root.join("boot"), format!("{}\n", boot.unwrap())).unwrap();
    let make = "mount --bind \"$0/sys\" /sys && mount --bind \"$0/boot\" /proc/sys/kernel/random/boot_id && \
        touch \"$0/now\" && PATH=$0/bin:$PATH && root=$0 && \"$@\" && find /sys -newer \"$root/now\" ! -type d";
    for shell in SHELLS {
        let output = Command::new("unshare")
            .args(["-m", "sh", "-c", make])
            .arg(root)
            .args(*shell)
            .args(["-c", PARTS])
            .output()
            .unwrap();
        if String::from_utf8_lossy(&output.stderr).contains("unshare") {
            return println!("skipped: no mounts may be made here");
        }
        assert!(output.status.success(), "{shell:?}: {output:?}");
        let printed = String::from_utf8_lossy(&output.stdout);
        assert_eq!(without_kernel(&printed), without_kernel(&text), "{shell:?}");
    }
}

#[test]
fn what_does_not_answer_is_marked() {
    let root = tempfile::tempdir().unwrap();
    let root = root.path();
    for tool in ["nvidia-smi", "dmidecode", "ethtool", "mlxlink", "journalctl", "dmesg", "lspci"] {
        fs::write(root.join(tool), "#!/bin/sh\necho broken\nexit 3\n").unwrap();
        fs::set_permissions(root.join(tool), fs::Permissions::from_mode(0o755)).unwrap();
    }
    for shell in SHELLS {
        let output = Command::new("sh")
            .args(["-c", "PATH=$0:$PATH exec \"$@\""])
            .arg(root)
            .args(*shell)
            .args(["-c", PARTS])
            .output()
            .unwrap();
        let printed = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && printed.ends_with("=== end\n"), "{shell:?}: {output:?}");
        for name in ["memory", "gpus", "nvlink"] {
            assert!(
                printed.contains(&format!("=== {name}\n|broken\n|\n|!3\n")),
                "{shell:?} {name}: {printed}"
            );
        }
        // That of busybox has a dmesg of its own.
        assert!(shell[0] == "busybox" || printed.contains("=== events\n|\n|!3\n"), "{shell:?}: {printed}");
    }
}
