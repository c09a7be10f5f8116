//! One virtual machine: its folder, what its first boot makes of it, its qemu.

use std::fmt::Write as _;

use anyhow::{Context as _, Result};
use camino::{Utf8Path, Utf8PathBuf};

use super::firmware;
use super::qemu::{self, Accel, Process};
use crate::lab::engine;
use crate::lab::files;
use crate::lab::spec::SudoKind;
use crate::process::heard;

/// The private network; machines have the addresses from [`FIRST`] on.
pub(super) const NETWORK: &str = "192.168.77.0/24";
/// Last number of the first machine's address.
const FIRST: usize = 11;
/// Host keys that a machine has.
const KEYS: [&str; 2] = ["ed25519", "ecdsa"];

/// Login of its user.
#[derive(Debug, Clone, Copy)]
pub(super) struct MachineUser<'a> {
    pub(super) user: &'a str,
    pub(super) sudo: SudoKind,
    pub(super) shell: &'a str,
    pub(super) public_key: &'a str,
    pub(super) password: &'a str,
}

impl MachineUser<'_> {
    /// Returns the text that `seed.sh` reads.
    pub(super) fn text(&self) -> String {
        let Self { user, sudo, shell, public_key, password } = self;
        format!("{user}\n{}\n{shell}\n{public_key}\n{password}\n", sudo.as_str())
    }
}

/// One machine of a lab.
#[derive(Debug, Clone)]
pub(super) struct Machine {
    pub(super) name: String,
    pub(super) process: Process,
    /// Its place in the inventory: port of the hub, address, hardware addresses.
    index: usize,
    /// Digits of its lab.
    hash: String,
    /// Whether it starts by UEFI with Secure Boot, not by a BIOS.
    secure_boot: bool,
}

impl Machine {
    pub(super) fn new(place: &Utf8Path, hash: &str, name: &str, index: usize, secure_boot: bool) -> Self {
        let process = Process::new(place, name);
        Self { name: name.to_owned(), process, index, hash: hash.to_owned(), secure_boot }
    }

    fn file(&self, name: &str) -> Utf8PathBuf {
        self.process.folder().join(name)
    }

    /// Everything that its console showed since it was made.
    pub(super) fn console(&self) -> Utf8PathBuf {
        self.file("console.log")
    }

    /// Returns the message about what its first boot could not do, if there is one.
    pub(super) fn complaint(&self) -> Option<String> {
        let text = std::fs::read(self.console()).ok()?;
        let text = String::from_utf8_lossy(&text);
        text.lines().find_map(|line| line.split_once("lab-seed: ")).map(|(_, said)| said.trim().to_owned())
    }

    fn address(&self) -> String {
        NETWORK.replace("0/24", &(FIRST + self.index).to_string())
    }

    /// A hardware address of its own: 52:54:00 is qemu's, then the lab, the NIC and the machine.
    fn mac(&self, nic: u8) -> String {
        let lab = self.hash.get(..2).unwrap_or("00");
        format!("52:54:00:{lab}:{nic:02x}:{:02x}", self.index)
    }

    /// Makes disk and keys; what is there stays.
    pub(super) fn create(&self, image: &Utf8Path, login: &MachineUser<'_>, all: &[Self]) -> Result<()> {
        let disk = self.file("disk.qcow2");
        if disk.exists() {
            return Ok(());
        }
        let seed = self.file("seed");
        files::private_folder(&seed)?;
        for kind in KEYS {
            let key = seed.join(format!("ssh_host_{kind}_key"));
            for path in [key.clone(), Utf8PathBuf::from(format!("{key}.pub"))] {
                drop(std::fs::remove_file(path));
            }
            let mut keygen = heard("ssh-keygen");
            keygen.args(["-q", "-t", kind, "-N", "", "-C", &self.name, "-f", key.as_str()]);
            engine::text(&mut keygen, b"", engine::USUAL).context("cannot make host keys")?;
        }
        let mut hosts = "127.0.0.1 localhost\n::1 localhost ip6-localhost\n".to_owned();
        for machine in all {
            // Infallible for a String.
            let _ = writeln!(hosts, "{} {}", machine.address(), machine.name);
        }
        let network = format!(
            "# The network between the machines of the lab.\n[Match]\nName=ens4\n\n[Network]\nAddress={}/24\n\
             LinkLocalAddressing=ipv6\n",
            self.address()
        );
        let texts = [
            ("name", format!("{}\n", self.name)),
            ("hosts", hosts),
            ("network", network),
            ("login", login.text()),
        ];
        for (name, text) in texts {
            files::write(&seed.join(name), &text, 0o600)?;
        }
        if self.secure_boot {
            firmware::create(&self.file("variables.fd"))?;
        }
        let draft = self.file("disk.new");
        let mut create = heard("qemu-img");
        create.args(["create", "-q", "-f", "qcow2", "-F", "raw", "-b", image.join("disk.img").as_str()]);
        create.arg(&draft);
        engine::text(&mut create, b"", engine::USUAL).context("cannot make a disk")?;
        std::fs::rename(&draft, &disk).with_context(|| format!("cannot make {disk}"))
    }

    /// `type key` lines of its host keys, made here and given to it: nothing is trusted over a
    /// network.
    pub(super) fn host_keys(&self) -> Result<String> {
        let mut lines = String::new();
        for kind in KEYS {
            let path = self.file(&format!("seed/ssh_host_{kind}_key.pub"));
            let text = std::fs::read_to_string(&path).with_context(|| format!("cannot read {path}"))?;
            let words: Vec<&str> = text.split_whitespace().take(2).collect();
            let _ = writeln!(lines, "{}", words.join(" "));
        }
        Ok(lines)
    }

    /// Switches it on.
    pub(super) fn start(&self, accel: &Accel, port: u16) -> Result<()> {
        self.process.start(&self.arguments(accel, port))
    }

    fn arguments(&self, accel: &Accel, port: u16) -> Vec<String> {
        let Self { name, index, .. } = self;
        let mut arguments: Vec<String> = accel.arguments().map(str::to_owned).to_vec();
        let mut add = |option: &str, value: String| arguments.extend([option.to_owned(), value]);
        add("-name", name.clone());
        if self.secure_boot {
            for (option, value) in firmware::arguments(&format!("{name}/variables.fd")) {
                add(option, value);
            }
        } else {
            add("-machine", "pc".to_owned());
        }
        add("-m", "1024".to_owned());
        add(
            "-uuid",
            format!("{}-0000-4000-8000-{:012x}", self.hash.get(..8).unwrap_or("00000000"), index + 1),
        );
        add("-chardev", format!("file,id=console,append=on,path={name}/console.log"));
        add("-serial", "chardev:console".to_owned());
        // What the machine has flushed is in this machine's page cache: that survives its qemu.
        add(
            "-drive",
            format!("id=disk,if=none,file={name}/disk.qcow2,format=qcow2,cache=unsafe,discard=unmap"),
        );
        // Without an index UEFI asks the network first.
        add("-device", "virtio-blk-pci,drive=disk,addr=2,bootindex=0".to_owned());
        // The slots decide the names, by files of the image: ens3 and ens4.
        // Each machine has a network of its own here; equal addresses would be found by `verify`.
        let address = 15 + index % 200;
        add(
            "-netdev",
            format!("user,id=management,dhcpstart=10.0.2.{address},hostfwd=tcp:127.0.0.1:{port}-:22"),
        );
        add("-device", format!("virtio-net-pci,netdev=management,addr=3,mac={}", self.mac(0)));
        let [theirs, ours] = qemu::plug(&self.process.place, *index);
        add("-netdev", qemu::socket("lan", &ours, &theirs));
        add("-device", format!("virtio-net-pci,netdev=lan,addr=4,mac={}", self.mac(1)));
        add("-device", "virtio-rng-pci,addr=5".to_owned());
        let keys =
            KEYS.iter().flat_map(|kind| [format!("ssh_host_{kind}_key"), format!("ssh_host_{kind}_key.pub")]);
        for seed in ["name", "hosts", "network", "login"].map(str::to_owned).into_iter().chain(keys) {
            add("-fw_cfg", format!("name=opt/org.provision/{seed},file={name}/seed/{seed}"));
        }
        arguments
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn machines_differ_in_all_that_tells_machines_apart() {
        let place = Utf8Path::new("/state/lab/0123456789ab/vm");
        let machines =
            [0, 1].map(|index| Machine::new(place, "0123456789ab", &format!("node{index}"), index, true));
        let words = machines.clone().map(|machine| machine.arguments(&Accel::Kvm, 20_000));
        assert!(words[0].contains(&"virtio-net-pci,netdev=lan,addr=4,mac=52:54:00:01:01:00".to_owned()));
        for (one, other) in words[0].iter().zip(&words[1]) {
            let own =
                ["mac=", "-0000-4000-", "net/", "node", "dhcpstart="].iter().any(|part| one.contains(part));
            assert_eq!(own, one != other, "{one} {other}");
        }
        assert_eq!(machines[1].address(), "192.168.77.12");
        // qemu has left its folder when it sends.
        let hub = format!("remote.path={place}/net/hub1");
        assert!(words[1].iter().any(|word| word.starts_with("dgram,id=lan") && word.ends_with(&hub)));
    }
}
