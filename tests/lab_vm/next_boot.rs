//! The next boot of a real kernel under Secure Boot: what would fail is refused before it happens.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::{Json, Lab};

const INVENTORY: &str = r"cluster: vm
lab: { kind: vm, secure_boot: true, packages: [dkms, linux-headers-amd64, netplan.io] }
policy: { reboot: allow }
playbooks: [./play.yaml]
hosts: { node0: {} }
";

/// A change that waits for a boot, and the boot.
const PLAY: &str = r"name: boot
tasks:
  - name: argument
    kernel_cmdline: { name: lab, args: [provision.lab=NUMBER] }
  - name: boot
    reboot: { system: false }
";

/// This program of `PyPI` writes a key into the firmware's variables.
const VIRT_FIRMWARE: &str = "virt-firmware==24.11";
/// Who brought the key; any will do.
const OWNER: &str = "11111111-2222-4333-8444-555555555555";

/// Files and inventory of one machine.
struct Machine {
    lab: Lab,
}

impl Machine {
    fn run(&self, script: &str) -> String {
        self.lab.ssh("node0", &format!("sudo sh -s <<'END_OF_SCRIPT'\n{script}\nEND_OF_SCRIPT"))
    }

    fn boot(&self) -> String {
        self.run("cat /proc/sys/kernel/random/boot_id")
    }

    fn apply(&self) -> (i32, Json) {
        self.lab.told(&["apply"], &["--yes"])
    }

    /// The machine is not rebooted, and each of these is said.
    fn is_refused(&self, reasons: &[&str]) {
        let before = self.boot();
        let (status, told) = self.apply();
        let text = told.to_string();
        assert_eq!(status, 5, "{text}");
        for reason in reasons {
            assert!(text.contains(reason), "`{reason}` is not in {text}");
        }
        assert_eq!(self.boot(), before, "{reasons:?}");
    }

    /// `modprobe` itself says no, and why.
    fn kernel_refuses(&self, module: &str, why: &str) {
        let said = self.run(&format!("modprobe {module} 2>&1; dmesg | tail -n 5; true"));
        assert!(said.contains(why), "`{why}` is not in {said}");
    }

    /// The variables of its firmware.
    fn variables(&self) -> PathBuf {
        let state = self.lab.state();
        let config = Path::new(state["ssh_config"].as_str().expect("a path"));
        config.parent().expect("the lab's folder").join("vm/node0/variables.fd")
    }

    fn file(&self, name: &str) -> PathBuf {
        self.lab.folder.path().join(name)
    }

    /// Has the firmware know the key with which DKMS signs.
    fn enrol(&self) {
        let key = self.run("openssl x509 -inform der -in /var/lib/dkms/mok.pub -outform pem");
        std::fs::write(self.file("mok.pem"), key + "\n").expect("a key");
        let venv = self.file("venv");
        good(Command::new("python3").args(["-m", "venv"]).arg(&venv));
        good(Command::new(venv.join("bin/pip")).args(["install", "--quiet", VIRT_FIRMWARE]));
        let mut enrol = Command::new(venv.join("bin/virt-fw-vars"));
        enrol.arg("--inplace").arg(self.variables()).args(["--add-mok", OWNER]).arg(self.file("mok.pem"));
        good(&mut enrol);
        // A restart is a loss of power.
        self.run("sync");
        self.lab.good(&["lab", "restart"], &["node0"]);
    }
}

fn good(command: &mut Command) {
    let done = command.output().expect("it starts");
    assert!(done.status.success(), "{command:?}: {}", String::from_utf8_lossy(&done.stderr));
}

#[test]
#[ignore = "boots a virtual machine four times: cargo test --test lab_vm -- --ignored next_boots"]
fn next_boots_that_would_fail_are_refused() {
    let machine = Machine { lab: Lab::new(INVENTORY) };
    let lab = &machine.lab;
    let play = |number: u32| {
        let text = PLAY.replace("NUMBER", &number.to_string());
        std::fs::write(machine.file("play.yaml"), text).expect("playbook");
    };
    play(1);
    lab.good(&["lab", "up"], &[]);
    assert_eq!(machine.run("mokutil --sb-state"), "SecureBoot enabled");
    let lockdown = machine.run("cat /sys/kernel/security/lockdown");
    assert!(lockdown.contains("[integrity]"), "{lockdown}");

    // DKMS builds a module and has nothing to sign it with.
    machine.run("echo sign_file=/nonexistent >/etc/dkms/framework.conf.d/lab.conf");
    machine.run(include_str!("hello.sh"));
    machine.run("dkms install hello/1.0 >/dev/null 2>&1; echo hello >/etc/modules-load.d/hello.conf");
    machine.kernel_refuses("hello", "Key was rejected by service");
    machine.is_refused(&["hello: not signed, and the kernel takes signed modules only"]);

    // It is signed by a key that the firmware does not know.
    machine
        .run("rm /etc/dkms/framework.conf.d/lab.conf; dkms remove hello/1.0 --all >/dev/null 2>&1 || true");
    machine.run(include_str!("hello.sh"));
    machine.run("dkms install hello/1.0 >/dev/null 2>&1");
    machine.kernel_refuses("hello", "Key was rejected by service");
    machine.is_refused(&["hello: signed by `DKMS module signing key`, a key that is not enrolled"]);

    // With its key enrolled it loads after the boot.
    machine.enrol();
    play(2);
    let before = machine.boot();
    let (status, told) = machine.apply();
    assert_eq!(status, 0, "{told}");
    assert_ne!(machine.boot(), before, "{told}");
    assert_eq!(
        machine.run("lsmod | grep -c ^hello; grep -o provision.lab=2 /proc/cmdline"),
        "1\nprovision.lab=2"
    );
    println!("enrolled, rebooted, loaded");

    // From here on each boot that is wanted would lose something.
    play(3);
    let kernel = machine.run("uname -r");
    let driver = machine.run("modinfo -n virtio_net");
    machine.run(&format!("mv {driver} /root/; depmod"));
    machine.is_refused(&["virtio_net: drives ens3 and is not on disk"]);
    machine.run(&format!(
        "mv /root/virtio_net.ko* {}; depmod",
        Path::new(&driver).parent().expect("a folder").display()
    ));

    let hello = format!("/lib/modules/{kernel}/updates/dkms/hello.ko");
    machine.run(&format!("cp {hello} /root/ && : >{hello}"));
    machine.is_refused(&["hello: its file is empty"]);
    machine.run(&format!("cp /root/hello.ko {hello}"));

    machine.run(include_str!("pair.sh"));
    machine.kernel_refuses("pair_two", "disagrees about version of symbol pair_value");
    machine.is_refused(&["pair_two: the modules on disk do not export pair_value as it was built with"]);
    machine.run(&format!("rm /etc/modules-load.d/pair.conf /lib/modules/{kernel}/updates/pair_*; depmod"));

    // netplan brings the way in, until its file no longer names it.
    machine.run(
        "cat >/etc/netplan/50-lab.yaml <<'END'
network:
  version: 2
  ethernets:
    ens3:
      dhcp4: true
END
chmod 600 /etc/netplan/50-lab.yaml
mv /etc/systemd/network/10-management.network /root/
netplan generate && networkctl reload && networkctl reconfigure ens3",
    );
    machine.run("networkctl status ens3 | grep -q netplan");
    machine.run("sed -i s/ens3:/ens9:/ /etc/netplan/50-lab.yaml");
    machine.is_refused(&["ens3: no file of netplan configures `ens3` any more"]);
    machine.run("sed -i 's/ens9:/ens3/' /etc/netplan/50-lab.yaml");
    machine.is_refused(&["ens3: netplan cannot read its files, so that nothing configures it"]);
    machine.run("sed -i 's/ens3$/ens3:/' /etc/netplan/50-lab.yaml");

    // Nothing is lost any more: it boots.
    let before = machine.boot();
    let (status, told) = machine.apply();
    assert_eq!(status, 0, "{told}");
    assert_ne!(machine.boot(), before, "{told}");
    assert_eq!(
        machine.run("grep -o provision.lab=3 /proc/cmdline; lsmod | grep -c ^hello"),
        "provision.lab=3\n1"
    );
}
