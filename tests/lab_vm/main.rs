//! Virtual machines as lab hosts: real kernels, real modules, real reboots.
//!
//! Ignored unless asked for: emulated machines boot for a minute and more, and the first time
//! their disk is made for some minutes. Needs root and what `scripts/setup.sh --vm` installs:
//!
//!     cargo test --test lab_vm -- --ignored
#![expect(clippy::disallowed_methods, reason = "a test starts the program and looks at the lab from outside")]
#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a test that cannot go on says why and ends"
)]

mod counters;
mod kernel_log;
mod next_boot;

use std::path::PathBuf;
use std::process::{Command, Output};

use serde_json::Value as Json;

/// A lab of its own that is gone when the test ends, whatever its result.
struct Lab {
    folder: tempfile::TempDir,
}

impl Lab {
    fn new(inventory: &str) -> Self {
        let folder = tempfile::tempdir().expect("folder");
        std::fs::write(folder.path().join("lab.yaml"), inventory).expect("inventory");
        Self { folder }
    }

    fn inventory(&self) -> PathBuf {
        self.folder.path().join("lab.yaml")
    }

    /// Runs the program with the inventory behind `words`. The cache of disks is the user's own.
    fn run(&self, words: &[&str], rest: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_provision"))
            .args(words)
            .arg(self.inventory())
            .args(rest)
            .env("XDG_STATE_HOME", self.folder.path())
            .output()
            .expect("the program starts")
    }

    fn good(&self, words: &[&str], rest: &[&str]) -> String {
        let done = self.run(words, rest);
        let stderr = String::from_utf8_lossy(&done.stderr);
        assert!(done.status.success(), "{words:?} {rest:?}: {stderr}");
        String::from_utf8_lossy(&done.stdout).into_owned()
    }

    fn state(&self) -> Json {
        serde_json::from_str(&self.good(&["lab", "status"], &["--json", "-"])).expect("JSON")
    }

    fn ssh(&self, host: &str, command: &str) -> String {
        let state = self.state();
        let config = state["ssh_config"].as_str().expect("a path");
        let done = Command::new("ssh")
            .args(["-F", config, "-oBatchMode=yes", host, command])
            .output()
            .expect("ssh starts");
        let stderr = String::from_utf8_lossy(&done.stderr);
        assert!(done.status.success(), "{host}: {command}: {stderr}");
        String::from_utf8_lossy(&done.stdout).trim().to_owned()
    }
}

impl Lab {
    /// Runs the program and gives its exit status with what it told as JSON.
    fn told(&self, words: &[&str], rest: &[&str]) -> (i32, Json) {
        let file = self.folder.path().join("told.json");
        drop(std::fs::remove_file(&file));
        let name = file.to_str().expect("a path");
        let done = self.run(words, &[rest, &["--json", name]].concat());
        let text = std::fs::read_to_string(&file).unwrap_or_else(|error| panic!("{error}: {done:?}"));
        (done.status.code().expect("a status"), serde_json::from_str(&text).expect("JSON"))
    }
}

/// Everything that a look at a host must leave as it is, as text: files with their times and digests
/// (without logs, and what logins write), modules, devices, links, processes.
const STATE: &str = r"
cd /
find . -xdev \( -path ./var/log -o -path ./proc -o -path ./sys -o -path ./run -o -path ./tmp -o -path ./var/tmp \) -prune -o -printf '%p %y %m %U %G %s %T@\n' | sort
find /etc /usr/local /home /root /boot -xdev -type f -exec sha256sum {} + | sort -k 2
find /dev /sys/kernel/config /sys/class/infiniband /sys/class/net -printf '%p %y %m\n' 2>/dev/null | grep -v '^/dev/pts/' | sort
find /run/provision /var/lib/provision -printf '%p %y %m %T@\n' 2>/dev/null | sort
lsmod | cut -d ' ' -f 1 | sort
rdma link show; ip -o addr show | sed 's/ *valid_lft.*//'; ip -o link show; rdma system show
systemctl list-units --all --plain --no-legend --type=service,socket,mount | grep -v -e 'session-' -e 'user@' -e 'user-runtime' | awk '{ print $1, $3, $4 }' | sort
ps -eo comm= | grep -v -e ^kworker -e ^sshd -e ^sudo -e ^sh -e ^bash -e ^ps -e ^grep -e ^sort -e ^systemd$ -e ^.sd-pam | sort
";

impl Drop for Lab {
    fn drop(&mut self) {
        drop(self.run(&["lab", "down"], &[]));
    }
}

#[test]
#[ignore = "boots virtual machines, which takes minutes: cargo test --test lab_vm -- --ignored"]
fn machines_come_up_lose_their_power_and_go() {
    let lab = Lab::new("cluster: vm\ngroups: { node: { hosts: \"node[0-1]\" } }\n");
    lab.good(&["lab", "up", "--vm"], &[]);
    let state = lab.state();
    assert_eq!(state["engine"], "qemu");
    assert!(state["hosts"].as_array().expect("hosts").iter().all(|host| host["running"] == true));
    let kernel = std::fs::read_to_string("/proc/sys/kernel/osrelease").expect("this machine's kernel");
    assert_ne!(lab.ssh("node0", "uname -r"), kernel.trim());
    assert_eq!(lab.ssh("node0", "systemctl is-system-running; hostname; sudo -n id -u"), "running\nnode0\n0");
    assert_eq!(lab.ssh("node1", "ping -q -c 1 node0 >/dev/null && echo there"), "there");
    let ids = |command| ["node0", "node1"].map(|host| lab.ssh(host, command));
    for command in
        ["cat /etc/machine-id", "cat /etc/ssh/ssh_host_ed25519_key.pub", "cat /sys/class/net/ens4/address"]
    {
        let [one, other] = ids(command);
        assert_ne!(one, other, "{command}");
    }
    // Modules are really loaded.
    assert_eq!(
        lab.ssh("node0", "sudo modprobe rdma_rxe && test -d /sys/module/rdma_rxe && echo loaded"),
        "loaded"
    );

    // What was written is there when the power comes back, what was only remembered is not.
    let boots = ids("cat /proc/sys/kernel/random/boot_id");
    lab.ssh("node0", "echo kept >kept && sync kept && echo gone >/tmp/volatile; sudo mount -t tmpfs none /mnt && sudo touch /mnt/gone");
    lab.good(&["lab", "restart"], &["node0"]);
    assert_eq!(lab.ssh("node0", "cat kept; ls /mnt"), "kept");
    let again = ids("cat /proc/sys/kernel/random/boot_id");
    assert_ne!(again[0], boots[0]);
    assert_eq!(again[1], boots[1]);
    assert_eq!(lab.ssh("node0", "ping -q -c 1 node1 >/dev/null && echo there"), "there");

    // Up again changes nothing, and a run goes there.
    let before = lab.state();
    lab.good(&["lab", "up", "--vm"], &[]);
    assert_eq!(lab.state(), before);
    assert_eq!(ids("cat /proc/sys/kernel/random/boot_id"), again);
    let said = lab.good(&["exec", "--lab"], &["--", "uname", "-s"]);
    assert!(said.contains("Linux"), "{said}");

    // One that is off stays off when another one is started again, and comes up with all.
    let running = || {
        // It ends with another status where one is off.
        let said = lab.run(&["lab", "status"], &["--json", "-"]).stdout;
        let state: Json = serde_json::from_slice(&said).expect("JSON");
        let hosts = state["hosts"].as_array().expect("hosts").clone();
        hosts.iter().map(|host| host["running"] == true).collect::<Vec<_>>()
    };
    lab.ssh("node1", "sudo systemd-run --on-active=1 poweroff --force --force");
    let since = std::time::Instant::now();
    while running() != [true, false] {
        assert!(since.elapsed().as_secs() < 120, "node1 is still on");
        std::thread::sleep(std::time::Duration::from_secs(1));
    }
    lab.good(&["lab", "restart"], &["node0"]);
    assert_eq!(running(), [true, false]);
    lab.good(&["lab", "up", "--vm"], &[]);
    assert_eq!(running(), [true, true]);

    // The other kind is not put over it.
    let refused = lab.run(&["lab", "up"], &[]);
    assert!(String::from_utf8_lossy(&refused.stderr).contains("already runs as vm"), "{refused:?}");
    lab.good(&["lab", "down"], &[]);
    assert!(!lab.run(&["lab", "status"], &[]).status.success());
}

/// The demonstration that `make demo-vm` gives, with this build.
#[test]
#[ignore = "boots virtual machines, which takes minutes: cargo test --test lab_vm -- --ignored"]
fn rdma_from_nothing_through_a_reboot_and_a_loss_of_power() {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/");
    let text = std::fs::read_to_string(format!("{root}inventories/lab-vm.yaml")).expect("inventory");
    let lab = Lab::new(&text);
    let told = lab.folder.path().join("told.json");
    let done = Command::new(format!("{root}scripts/demo-vm.sh"))
        .arg(env!("CARGO_BIN_EXE_provision"))
        .arg(lab.inventory())
        .arg("--json")
        .arg(&told)
        .env("XDG_STATE_HOME", lab.folder.path())
        .status()
        .expect("the script starts");
    assert!(done.success());
    let told: Json = serde_json::from_str(&std::fs::read_to_string(&told).expect("figures")).expect("JSON");
    assert_eq!(told["active_mtu"], 4096, "{told}");
    for when in ["after_reboot", "after_power_cycle"] {
        assert!(told["bandwidth_gbps"][when].as_f64().expect("a number") > 0.01, "{told}");
        println!("{when}: {} Gb/s", told["bandwidth_gbps"][when]);
    }
}

/// Soft-RoCE on two machines, a service, quality of service, options of a module that need a boot.
const CLUSTER: &str = r#"cluster: vm
lab: { kind: vm }
policy: { reboot: allow }
playbooks:
  - { use: soft-roce, with: { netdev: ens4, netns: exclusive } }
  - ./worker.yaml
  - { use: rdma-netns, with: { mode: exclusive } }
groups:
  node:
    hosts: "node[0-1]"
    nics: [{ match: { netdev: ens4 }, mtu: 4200 }]
    expect: { rdma: { state: ACTIVE } }
"#;

const WORKER: &str = r#"name: worker
tasks:
  - name: unit
    file:
      path: /etc/systemd/system/worker.service
      content: "[Service]\nExecStart=/bin/sleep infinity\n[Install]\nWantedBy=multi-user.target\n"
  - name: worker runs
    service: { name: worker, enabled: true, state: started }
  - name: marked packets
    roce: { netdev: ens4, pfc: [3], tos: 106, unsupported: skip }
"#;

#[test]
#[ignore = "boots virtual machines, which takes minutes: cargo test --test lab_vm -- --ignored"]
fn what_breaks_is_found_and_mended() {
    let lab = Lab::new(CLUSTER);
    std::fs::write(lab.folder.path().join("worker.yaml"), WORKER).expect("playbook");
    lab.good(&["lab", "up"], &[]);
    let (status, first) = lab.told(&["apply"], &["--yes"]);
    assert_eq!(status, 0, "{first}");
    assert_eq!(lab.ssh("node0", "rdma system show"), "netns exclusive copy-on-fork on");
    assert_eq!(lab.ssh("node0", "sudo cat /sys/kernel/config/rdma_cm/rxe0/ports/1/default_roce_tos"), "106");
    let (status, again) = lab.told(&["apply"], &["--yes"]);
    assert_eq!((status, &again["summary"]["tasks"]["changed"]), (0, &0.into()), "{again}");
    let (status, healthy) = lab.told(&["verify"], &[]);
    assert_eq!(status, 0, "{healthy}");

    // Looking changes nothing.
    let state = |host| lab.ssh(host, &format!("sudo sh -s <<'END'\n{STATE}\nEND"));
    let before = ["node0", "node1"].map(state);
    let (status, _) = lab.told(&["verify"], &[]);
    assert_eq!(status, 0);
    for (host, before) in ["node0", "node1"].into_iter().zip(before) {
        let after = state(host);
        let lines = |text: &str| text.lines().map(str::to_owned).collect::<std::collections::BTreeSet<_>>();
        let (old, new) = (lines(&before), lines(&after));
        let differ: Vec<_> = old.symmetric_difference(&new).collect();
        assert!(differ.is_empty(), "{host}: {differ:#?}");
    }

    // What breaks on one machine is found there and only there, and apply mends it.
    for (what, breaks, told) in [
        ("mtu", "ip link set dev ens4 mtu 1500", "MTU of the link"),
        ("rdma link", "rdma link del rxe0", "rxe0 over ens4"),
        ("module options", "rm /etc/modprobe.d/provision-ib_core.conf", "RDMA devices"),
        ("memlock", "sed -i s/unlimited/64/ /etc/security/limits.d/90-provision-rdma.conf", "locked memory"),
        ("service", "systemctl stop worker", "worker runs"),
        ("ToS", "echo 0 >/sys/kernel/config/rdma_cm/rxe0/ports/1/default_roce_tos", "marked packets"),
    ] {
        lab.ssh("node1", &format!("sudo sh -c '{breaks}'"));
        let (status, found) = lab.told(&["verify"], &[]);
        assert_eq!(status, 6, "{what}: {found}");
        let drift = found["hosts"]["node1"]["plan"].as_array().expect("a plan");
        let named = |task: &Json| task["name"].as_str().is_some_and(|name| name.contains(told));
        assert!(drift.iter().any(named), "{what}: {found}");
        assert_eq!(found["hosts"]["node0"]["plan"], Json::Array(Vec::new()), "{what}: {found}");
        let (status, mended) = lab.told(&["apply"], &["--yes"]);
        assert_eq!(status, 0, "{what}: {mended}");
        let (status, after) = lab.told(&["verify"], &[]);
        assert_eq!(status, 0, "{what}: {after}");
        println!("{what}: found, mended");
    }

    // Another host key is not accepted, and says so.
    lab.ssh("node1", "sudo sh -c 'cd /etc/ssh; mkdir old; mv ssh_host_* old; ssh-keygen -q -t ed25519 -N \"\" -f ssh_host_ed25519_key; ssh-keygen -q -t ecdsa -N \"\" -f ssh_host_ecdsa_key; systemd-run --on-active=20 /bin/sh -c \"mv /etc/ssh/old/* /etc/ssh/; systemctl restart ssh\"; systemctl restart ssh'");
    let (status, found) = lab.told(&["verify"], &[]);
    assert!([4, 6].contains(&status), "{found}");
    assert!(found["hosts"]["node1"].to_string().contains("key"), "{found}");
    std::thread::sleep(std::time::Duration::from_secs(30));
    let (status, found) = lab.told(&["verify"], &[]);
    assert_eq!(status, 0, "{found}");
}

/// Arguments of the kernel go by way of a real boot loader and a real boot.
#[test]
#[ignore = "boots a virtual machine twice: cargo test --test lab_vm -- --ignored kernel_arguments"]
fn kernel_arguments_are_in_force_after_a_boot() {
    let lab = Lab::new(
        "cluster: cmdline\nplaybooks: [./play.yaml]\nhosts: { node0: {} }\npolicy: { reboot: allow }\n",
    );
    let play = |state: &str| {
        let text = format!(
            "name: cmdline\ntasks:\n  - name: arguments\n    kernel_cmdline: {{ name: lab, args: [iommu=pt, provision.lab=1], state: {state} }}\n  - name: boot\n    reboot: {{ system: false }}\n"
        );
        std::fs::write(lab.folder.path().join("play.yaml"), text).expect("playbook");
    };
    let apply = || -> Json {
        serde_json::from_str(&lab.good(&["apply"], &["--lab", "--yes", "--json", "-"])).expect("JSON")
    };
    play("present");
    lab.good(&["lab", "up", "--vm"], &[]);
    let first = apply();
    assert_eq!(first["summary"]["tasks"]["changed"], 2, "{first:#}");
    let line = lab.ssh("node0", "cat /proc/cmdline");
    assert!(line.contains("iommu=pt provision.lab=1"), "{line}");
    assert_eq!(apply()["summary"]["tasks"]["changed"], 0);
    play("absent");
    let gone = apply();
    assert_eq!(gone["summary"]["tasks"]["changed"], 2, "{gone:#}");
    let line = lab.ssh("node0", "cat /proc/cmdline; ls /etc/default/grub.d");
    assert!(!line.contains("provision.lab"), "{line}");
    assert_eq!(apply()["summary"]["tasks"]["changed"], 0);
}

const DISKS: &str = r#"
name: disks
tasks:
  - name: tools
    package: { names: [mdadm, xfsprogs] }
  - name: array
    raid: { name: scratch, level: raid0, devices: [/dev/loop10, /dev/loop11] }
  - name: file system
    filesystem: { device: /dev/md/scratch, type: xfs, label: scratch }
  - name: mounted
    mount: { path: /scratch, source: LABEL=scratch, type: xfs, options: "defaults,nofail" }
"#;

/// Two disks, here files, become one by the kernel's own md driver.
#[test]
#[ignore = "boots a virtual machine: cargo test --test lab_vm -- --ignored scratch"]
fn scratch_disks_become_one_and_nothing_is_overwritten() {
    let lab = Lab::new("cluster: disks\nplaybooks: [./play.yaml]\nhosts: { node0: {} }\n");
    std::fs::write(lab.folder.path().join("play.yaml"), DISKS).expect("playbook");
    lab.good(&["lab", "up", "--vm"], &[]);
    lab.ssh("node0", "sudo sh -c 'for n in 10 11 12; do truncate -s 400M /var/disk$n; losetup /dev/loop$n /var/disk$n; done'");
    let counts = |json: &Json| {
        let tasks = &json["summary"]["tasks"];
        (tasks["changed"].as_u64(), tasks["failed"].as_u64())
    };
    let (status, first) = lab.told(&["apply"], &["--lab", "--yes"]);
    assert_eq!((status, counts(&first)), (0, (Some(4), Some(0))), "{first:#}");
    let seen = lab.ssh("node0", "cat /proc/mdstat; df -h /scratch; sudo sh -c 'echo kept >/scratch/file'");
    assert!(
        seen.contains("raid0 loop11[1] loop10[0]") || seen.contains("raid0 loop10[0] loop11[1]"),
        "{seen}"
    );
    assert!(seen.contains("/dev/md"), "{seen}");
    let (status, again) = lab.told(&["apply"], &["--lab", "--yes"]);
    assert_eq!((status, counts(&again)), (0, (Some(0), Some(0))), "{again:#}");
    println!("{seen}");

    // Stopped, it is started again and holds what it held.
    lab.ssh("node0", "sudo sh -c 'umount /scratch && mdadm --stop /dev/md/scratch'");
    let (status, back) = lab.told(&["apply"], &["--lab", "--yes"]);
    assert_eq!((status, counts(&back)), (0, (Some(2), Some(0))), "{back:#}");
    assert_eq!(lab.ssh("node0", "cat /scratch/file"), "kept");

    // A disk with somebody's file system is refused, and so is a raid of other disks.
    lab.ssh("node0", "sudo mkfs.ext4 -q -L theirs /dev/loop12");
    for (name, task, told) in [
        ("filesystem", "{ device: /dev/loop12, type: xfs }", "holds ext4 (label theirs)"),
        (
            "raid",
            "{ name: other, level: raid1, devices: [/dev/loop12, /dev/loop11] }",
            "holds ext4 (label theirs)",
        ),
        ("raid", "{ name: scratch, level: raid0, devices: [/dev/loop12, /dev/loop11] }", "is there already"),
        ("filesystem", "{ device: /dev/loop10, type: xfs }", "is a part of md"),
    ] {
        let text = format!("name: refused\ntasks:\n  - name: task\n    {name}: {task}\n");
        std::fs::write(lab.folder.path().join("play.yaml"), text).expect("playbook");
        let (status, refused) = lab.told(&["apply"], &["--lab", "--yes"]);
        assert_eq!((status, counts(&refused)), (5, (Some(0), Some(1))), "{refused:#}");
        assert!(refused.to_string().contains(told), "{told}: {refused:#}");
    }
    assert_eq!(
        lab.ssh("node0", "sudo blkid -o value -s LABEL /dev/loop12; cat /scratch/file"),
        "theirs\nkept"
    );
}
