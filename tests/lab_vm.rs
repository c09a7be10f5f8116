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

    // The other kind is not put over it.
    let refused = lab.run(&["lab", "up"], &[]);
    assert!(String::from_utf8_lossy(&refused.stderr).contains("is up as vm"), "{refused:?}");
    lab.good(&["lab", "down"], &[]);
    assert!(!lab.run(&["lab", "status"], &[]).status.success());
}
