//! Firewall, `PCIe`, modules and RDMA in namespaces: a network, an `/etc`, a `/run` and a sysfs of their own.
//!
//! nft, the files and the shells are real. What cannot be had without a daemon or hardware is played by
//! stand-ins that keep their state in files of the namespace, as each says. Needs root.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test")]
#![allow(clippy::disallowed_methods, reason = "tests start shells and programs")]
#![allow(clippy::print_stdout, reason = "a test says what it could not try")]

use std::io::BufRead as _;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;

use crate::support::{self, Nothing, SHELLS, converge, gather, run};
use provision::resources::rdma::rdma_link::question::RdmaLinkQuery;
use provision::resources::{LoginEffect, Resource};
use provision::transport::{Arg, Script};

fn read(text: &str) -> Arc<dyn Resource> {
    support::read(&Nothing, text)
}

/// What stands before the real programs in every namespace: no firewall of this machine answers, and
/// it is no container.
const STAND_INS: &str = r#"
stand_in() { { echo '#!/bin/sh'; echo '# A stand-in of a test.'; cat; } >"/stand-ins/$1"; chmod 755 "/stand-ins/$1"; }
stand_in firewall-cmd <<'END'
exit 252
END
stand_in ufw <<'END'
echo 'Status: inactive'
END
stand_in systemd-detect-virt <<'END'
echo none
exit 1
END
stand_in systemctl <<'END'
echo "no systemd is played here: $*" >&2
exit 1
END
"#;

/// A machine in namespaces.
struct Machine {
    child: Child,
    pid: String,
}

impl Machine {
    /// `setup` runs in it as root. `None` where no namespaces can be made. Files of `/etc` may go while they are copied, as
    /// other tests make accounts.
    fn new(setup: &str) -> Option<Self> {
        let make = format!(
            "set -e; exec 3>&1 >&2; PATH=$PATH:/usr/sbin:/sbin; etc=$(mktemp -d); mount -t tmpfs none \"$etc\"; \
             cp -a /etc/. \"$etc\" || test -s \"$etc/passwd\"; mount --move \"$etc\" /etc; rmdir \"$etc\"; mount -t tmpfs none /run; \
             mount -t tmpfs -o mode=755 none /usr/local; mount -t tmpfs -o mode=755 none /mnt; \
             mount -t sysfs sysfs /sys; mkdir /usr/local/sbin /mnt/stand-ins; \
             mkdir -p /etc/systemd/system /etc/modprobe.d; rm -f /etc/nftables.conf; \
             {}\n{setup}\necho ready >&3; exec cat",
            STAND_INS.replace("/stand-ins", "/mnt/stand-ins")
        );
        let mut child = Command::new("unshare")
            .args(["-n", "-m", "sh", "-c", &make])
            // It stands until it is dropped, however long that takes.
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .ok()?;
        let mut said = String::new();
        std::io::BufReader::new(child.stdout.take().unwrap()).read_line(&mut said).unwrap();
        let pid = child.id().to_string();
        if said.trim() == "ready" {
            return Some(Self { child, pid });
        }
        let output = child.wait_with_output().unwrap();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(errors.contains("unshare"), "the namespace was made and its machine was not: {errors}");
        println!("namespaces cannot be made here: {errors}");
        None
    }

    /// The words that run `shell` in it.
    fn inside<'a>(&'a self, shell: &[&'a str]) -> Vec<&'a str> {
        let path = "PATH=/mnt/stand-ins:/usr/sbin:/usr/bin:/sbin:/bin";
        [&["nsenter", "-t", &self.pid, "-n", "-m", "env", path][..], shell].concat()
    }

    /// Runs a command that must succeed; its output.
    fn sh(&self, text: &str) -> String {
        let words = self.inside(&["sh", "-c", text]);
        let output = Command::new(words[0]).args(&words[1..]).output().unwrap();
        assert!(output.status.success(), "{text}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// Each shell on a machine of its own.
fn each(setup: &str, test: impl Fn(&[&str], &Machine)) {
    for shell in SHELLS {
        let Some(machine) = Machine::new(setup) else { return };
        test(&machine.inside(shell), &machine);
    }
}

/// Puts a firewall back as a host does when nobody confirms its change, and leaves what was kept.
fn restored(shell: &[&str], machine: &Machine, task: &dyn Resource, between: &str) {
    let LoginEffect::Guarded(undo) = task.login(&gather(shell, task.queries())) else {
        panic!("not guarded")
    };
    let inside = |script: &Script| {
        let text = format!("cd /mnt/kept || exit\n{}", script.text);
        let script = Script { text: text.into(), ..script.clone() };
        let (status, _, errors) = run(shell, &script, None);
        assert_eq!(status, 0, "{errors}");
    };
    machine.sh("rm -rf /mnt/kept; mkdir /mnt/kept");
    for path in &undo.paths {
        machine.sh(&format!("cp -a {path} /mnt/kept/path"));
    }
    undo.save.iter().for_each(inside);
    machine.sh(between);
    for path in &undo.paths {
        machine.sh(&format!("rm -rf {path}; cp -a /mnt/kept/path {path}"));
    }
    undo.restore.iter().for_each(inside);
}

const NFTABLES: &str = "printf 'flush ruleset\\ntable inet filter {\\n chain input {\\n  type filter hook input priority 0; \
                        policy drop;\\n  tcp dport 22 accept\\n }\\n}' >/etc/nftables.conf; nft -f /etc/nftables.conf";

#[test]
fn nftables_lets_a_cluster_in_now_and_at_boot() {
    each(NFTABLES, |shell, machine| {
        let task = read("firewall: { trust: [10.1.0.0/24, \"fd00:1::/64\"] }");
        let rules = || machine.sh("nft list chain inet filter input");
        let done = converge(shell, &*task).unwrap();
        assert_eq!(done, ["+ nftables lets in 10.1.0.0/24", "+ nftables lets in fd00:1::/64"]);
        let now = rules();
        let place = |text: &str| now.find(text).unwrap_or_else(|| panic!("{text}: {now}"));
        // Before what may refuse it.
        assert!(place("ip saddr 10.1.0.0/24 accept comment \"provision\"") < place("tcp dport 22"));
        assert!(place("ip6 saddr fd00:1::/64 accept comment \"provision\"") < place("tcp dport 22"));
        // What a boot reads gives the same rules.
        machine.sh("nft -f /etc/nftables.conf");
        assert_eq!(rules(), now);
        assert!(converge(shell, &*task).unwrap().is_empty());
        // Either half alone is mended alone.
        machine.sh("sed -i '/10.1.0.0/d' /etc/nftables.conf");
        assert_eq!(converge(shell, &*task).unwrap(), ["+ nftables lets in 10.1.0.0/24 (at boot)"]);
        machine.sh("nft flush chain inet filter input");
        assert_eq!(converge(shell, &*task).unwrap().len(), 2);
        assert_eq!(machine.sh("grep -c provision /etc/nftables.conf"), "2");
        assert_eq!(machine.sh("ls /etc | grep -c nftables.conf"), "1", "nothing is left behind");
        // A file that nft does not take stays as it is.
        machine.sh("echo 'no rule at all' >>/etc/nftables.conf; cp /etc/nftables.conf /mnt/before");
        let more = read("firewall: { trust: [10.2.0.0/24] }");
        let error = converge(shell, &*more).unwrap_err();
        assert!(error.contains("nft refuses /etc/nftables.conf with the new rule"), "{error}");
        machine.sh("cmp /etc/nftables.conf /mnt/before && [ ! -e /etc/nftables.conf.provision-new ]");
    });
}

#[test]
fn nftables_are_put_back() {
    each(NFTABLES, |shell, machine| {
        let before = machine.sh("nft list ruleset; cat /etc/nftables.conf");
        let task = read("firewall: { trust: [10.1.0.0/24] }");
        restored(shell, machine, &*task, "nft flush ruleset; echo >/etc/nftables.conf");
        assert_eq!(machine.sh("nft list ruleset; cat /etc/nftables.conf"), before);
    });
}

/// ufw's words for its rules, in `/etc/ufw/rules`; it refuses to insert before the first of none.
const UFW: &str = r#"
mkdir -p /etc/ufw; : >/etc/ufw/rules; echo ENABLED=yes >/etc/ufw/ufw.conf
stand_in ufw <<'END'
rules=/etc/ufw/rules
case "$*" in
'show added') echo 'Added user rules (see "ufw status" for running firewall):'; cat "$rules" ;;
reload) cp "$rules" /run/ufw-in-force ;;
'insert 1 allow from '*)
    [ -s "$rules" ] || { echo "ERROR: Invalid position '1'" >&2; exit 1; }
    { echo "ufw allow from $5 comment 'provision'"; cat "$rules"; } >/run/new && cat /run/new >"$rules" ;;
'allow from '*' comment provision') echo "ufw allow from $3 comment 'provision'" >>"$rules" ;;
*) echo "ERROR: not played: $*" >&2; exit 1 ;;
esac
END
"#;

#[test]
fn ufw_gets_its_rules_and_gets_them_back() {
    each(UFW, |shell, machine| {
        let task = read("firewall: { trust: [10.1.0.0/24, \"fd00:1::/64\"] }");
        assert_eq!(converge(shell, &*task).unwrap().len(), 2);
        let more = read("firewall: { trust: [10.2.0.0/24] }");
        assert_eq!(converge(shell, &*more).unwrap(), ["+ ufw lets in 10.2.0.0/24"]);
        let rules = machine.sh("cut -d' ' -f4 /etc/ufw/rules");
        assert_eq!(rules, "10.2.0.0/24\n10.1.0.0/24\nfd00:1::/64", "the first that fits counts");
        restored(shell, machine, &*more, "echo 'ufw deny from any' >/etc/ufw/rules");
        assert_eq!(machine.sh("cut -d' ' -f4 /run/ufw-in-force"), rules);
    });
}

/// firewalld's sources of the zone `trusted`, one file each for now and for the next boot.
const FIREWALLD: &str = r#"
mkdir -p /etc/firewalld; : >/etc/firewalld/trusted; : >/run/trusted
stand_in firewall-cmd <<'END'
file=/run/trusted
for word; do
    case $word in
    --quiet | --zone=trusted) ;;
    --permanent) file=/etc/firewalld/trusted ;;
    --state) echo running ;;
    --reload) cp /etc/firewalld/trusted /run/trusted ;;
    --list-sources) paste -s -d' ' "$file" ;;
    --add-source=*) grep -qxF "${word#*=}" "$file" && exit 16; echo "${word#*=}" >>"$file" ;;
    *) echo "not played: $word" >&2; exit 2 ;;
    esac
done
END
"#;

#[test]
fn firewalld_trusts_a_network_now_and_at_boot() {
    each(FIREWALLD, |shell, machine| {
        let task = read("firewall: { trust: [10.1.0.0/24] }");
        assert_eq!(converge(shell, &*task).unwrap(), ["+ firewalld lets in 10.1.0.0/24"]);
        assert_eq!(machine.sh("cat /run/trusted /etc/firewalld/trusted"), "10.1.0.0/24\n10.1.0.0/24");
        machine.sh(": >/run/trusted");
        assert_eq!(converge(shell, &*task).unwrap(), ["+ firewalld lets in 10.1.0.0/24 (now)"]);
        machine.sh(": >/etc/firewalld/trusted");
        assert_eq!(converge(shell, &*task).unwrap(), ["+ firewalld lets in 10.1.0.0/24 (at boot)"]);
        restored(shell, machine, &*task, "echo 10.9.0.0/24 | tee /run/trusted >/etc/firewalld/trusted");
        assert_eq!(machine.sh("cat /run/trusted"), "10.1.0.0/24");
    });
}

/// Two bridges with ACS, one without, two NICs; setpci reads and writes files of their directories, and
/// systemctl knows the one unit.
const PCIE: &str = r#"
mount -t tmpfs none /sys/bus/pci/devices
device() { mkdir "/sys/bus/pci/devices/$1"; echo "$2" >"/sys/bus/pci/devices/$1/class"; echo "$3" >"/sys/bus/pci/devices/$1/vendor"; }
cd /sys/bus/pci/devices
device 0000:16:00.0 0x060400 0x8086; echo 001d >0000:16:00.0/ECAP_ACS+0x6.w
device 0000:17:00.0 0x060400 0x10b5; echo 0000 >0000:17:00.0/ECAP_ACS+0x6.w
device 0000:15:00.0 0x060400 0x8086
device 0000:18:00.0 0x020700 0x15b3; echo 2936 >0000:18:00.0/CAP_EXP+8.w
device 0000:03:00.0 0x020000 0x8086; echo 2810 >0000:03:00.0/CAP_EXP+8.w
cd /
mkdir -p /run/systemd/system /etc/systemd/system/multi-user.target.wants
stand_in systemctl <<'END'
unit=provision-pcie.service
link=/etc/systemd/system/multi-user.target.wants/$unit
case $1 in
show) printf 'Id=%s\nLoadState=loaded\nActiveState=inactive\nUnitFileState=%s\nNeedDaemonReload=no\n' "$unit" "$([ -e "$link" ] && echo enabled || echo disabled)" ;;
enable) [ "$3" = "$unit" ] && ln -s "../$unit" "$link" ;;
daemon-reload) ;;
*) echo "not played: $*" >&2; exit 1 ;;
esac
END
stand_in setpci <<'END'
[ "$1" = -s ] || exit 1
file=/sys/bus/pci/devices/$2/${3%=*}
[ -e "$file" ] || { echo "setpci: $2: Instance #0 of ${3%%+*} not found - there are no capabilities with that id." >&2; exit 1; }
case $3 in *=*) echo "$3" >>/run/written; echo "${3#*=}" >"$file" ;; *) cat "$file" ;; esac
END
"#;

/// Root runs it at each boot, so nobody else may put another program in its place.
#[test]
fn the_program_of_a_boot_goes_to_no_directory_of_others() {
    each(PCIE, |shell, machine| {
        machine.sh("mkdir -p /usr/local/sbin && chgrp 4711 /usr/local/sbin && chmod 775 /usr/local/sbin");
        let error = converge(shell, &*read("pcie: { max_read_request: 4096 }")).unwrap_err();
        assert!(error.contains("others than root may change what is in /usr/local/sbin"), "{error}");
        machine.sh(
            "[ ! -e /usr/local/sbin/provision-pcie ]; chgrp 0 /usr/local/sbin && chmod 755 /usr/local/sbin",
        );
        converge(shell, &*read("pcie: { max_read_request: 4096 }")).unwrap();
    });
}

#[test]
fn pcie_settings_are_set_now_and_by_the_program_of_a_boot() {
    each(PCIE, |shell, machine| {
        let task = read("pcie: { max_read_request: 4096 }");
        let done = converge(shell, &*task).unwrap();
        let summary =
            "~ PCIe (ACS of 0000:16:00.0 001d -> 0000, read request of 0000:18:00.0 512 -> 4096)".to_owned();
        assert!(done.contains(&summary), "{done:#?}");
        let values = "cd /sys/bus/pci/devices && cat 0000:16:00.0/ECAP* 0000:17:00.0/ECAP* 0000:18:00.0/CAP* 0000:03:00.0/CAP*";
        assert_eq!(machine.sh(values), "0000\n0000\n5936\n2810", "the other digits and devices stay");
        assert_eq!(machine.sh("cat /run/written"), "ECAP_ACS+0x6.w=0000\nCAP_EXP+8.w=5936");
        assert!(converge(shell, &*task).unwrap().is_empty());
        // A boot forgets, and the program of the unit sets them again; once they are, it writes nothing.
        machine.sh("cd /sys/bus/pci/devices && echo 001d >0000:16:00.0/ECAP_ACS+0x6.w && echo 2936 >0000:18:00.0/CAP_EXP+8.w && : >/run/written");
        let command = machine.sh("sed -n 's/^ExecStart=//p' /etc/systemd/system/provision-pcie.service");
        // It takes programs from the system's directories alone, where the stand-ins are not.
        machine.sh("sed -i 's#^PATH=#&/mnt/stand-ins:#' /usr/local/sbin/provision-pcie");
        machine.sh(&command);
        assert_eq!(machine.sh(values), "0000\n0000\n5936\n2810");
        machine.sh(&format!(": >/run/written; {command}; [ ! -s /run/written ]"));
        // What cannot be set is not passed over in silence.
        let command = format!("! {command} 0000:99:00.0=4096 2>/dev/null && ! {command} 0000:18:00.0=300");
        machine.sh(&command);
    });
}

/// The kernel's soft RDMA devices, as directories; a module that is not loaded lets none be made.
const RDMA: &str = r#"
mount -t tmpfs none /sys/class
mkdir -p /sys/class/infiniband /sys/class/net/eth0 /sys/class/net/eth1
stand_in modprobe <<'END'
[ "$1" != -- ] || shift
: >"/run/loaded-$1"
END
stand_in rdma <<'END'
case "$1 $2" in
'link show')
    for device in /sys/class/infiniband/*; do
        [ ! -e "$device/netdev" ] || echo "link ${device##*/}/1 state ACTIVE physical_state LINK_UP netdev $(cat "$device/netdev")"
    done ;;
'link del') [ ! -e "/sys/class/infiniband/$3/real" ] || { echo 'error: Invalid argument' >&2; exit 1; }; rm -r "/sys/class/infiniband/$3" ;;
'link add')
    case $5 in rxe) module=rdma_rxe kind='1: CA' ;; siw) module=siw kind='4: RNIC' ;; *) exit 1 ;; esac
    [ -e "/run/loaded-$module" ] && [ -d "/sys/class/net/$7" ] || { echo 'error: No such device' >&2; exit 1; }
    mkdir "/sys/class/infiniband/$3" && echo "$7" >"/sys/class/infiniband/$3/netdev" && echo "$kind" >"/sys/class/infiniband/$3/node_type" ;;
*) echo "not played: $*" >&2; exit 1 ;;
esac
END
"#;

/// The script with the arguments of the resource, which wants modules that this kernel may not have.
fn link(shell: &[&str], words: &[&str]) -> (i32, String) {
    let script = Script::new(provision::shell!("resources/rdma/rdma_link/rdma_link.sh"));
    let (status, _, errors) = run(shell, &script.args(words.iter().copied()), None);
    (status, errors)
}

#[test]
fn soft_rdma_links_are_made_anew_and_removed() {
    each(RDMA, |shell, machine| {
        // Its shell has a modprobe of its own, which it finds first.
        if shell.contains(&"busybox") {
            return;
        }
        let query = RdmaLinkQuery("rxe0".to_owned());
        let asked = || {
            let facts = gather(shell, [query.clone().into()]);
            let link = facts.get(&query).answer().unwrap_or_else(|| panic!("{:?}", facts.get(&query)));
            link.clone().map(|link| (link.netdev, link.iwarp))
        };
        assert_eq!(asked(), None);
        assert_eq!(link(shell, &["add", "rxe0", "rxe", "eth0", "rdma_rxe", ""]), (0, String::new()));
        assert_eq!(asked(), Some((Some("eth0".to_owned()), false)));
        // Another one of that name takes its place.
        assert_eq!(link(shell, &["add", "rxe0", "siw", "eth1", "siw", ""]), (0, String::new()));
        assert_eq!(asked(), Some((Some("eth1".to_owned()), true)));
        let (status, errors) = link(shell, &["add", "rxe1", "rxe", "eth9", "rdma_rxe", ""]);
        assert!(status != 0 && errors.contains("No such device"), "{errors}");
        // Hardware stays, which the kernel says.
        machine.sh("mkdir /sys/class/infiniband/mlx5_0; : >/sys/class/infiniband/mlx5_0/real");
        let (status, errors) = link(shell, &["add", "mlx5_0", "rxe", "eth0", "rdma_rxe", ""]);
        assert!(status != 0 && errors.contains("Invalid argument"), "{errors}");
        // Through its unit, where it shall be there at boot; what systemd says when that fails is shown.
        let (status, errors) = link(shell, &["add", "rxe0", "rxe", "eth0", "rdma_rxe", "x.service"]);
        assert!(status == 1 && errors.contains("status --no-pager --lines=20 -- x.service"), "{errors}");
        machine.sh(
            "printf '#!/bin/sh\\n[ \"$1 $3\" = \"restart x.service\" ] && exec rdma link add rxe0 type rxe netdev eth0\\n' \
             >/mnt/stand-ins/systemctl",
        );
        assert_eq!(link(shell, &["add", "rxe0", "rxe", "eth0", "rdma_rxe", "x.service"]), (0, String::new()));
        assert_eq!(asked(), Some((Some("eth0".to_owned()), false)));
        assert_eq!(link(shell, &["del", "rxe0"]), (0, String::new()));
        assert_eq!(asked(), None);
    });
}

#[test]
fn the_mode_of_rdma_namespaces_waits_for_a_boot() {
    let module = "mount -t tmpfs none /sys/module; mkdir -p /sys/module/ib_core/parameters; \
                  echo live >/sys/module/ib_core/initstate; echo Y >/sys/module/ib_core/parameters/netns_mode; \
                  mount -t tmpfs none /boot";
    each(module, |shell, machine| {
        let task = read("rdma_netns: { mode: exclusive }");
        let file = "/etc/modprobe.d/provision-ib_core.conf";
        let done = converge(shell, &*task).unwrap();
        assert_eq!(done, [format!("+ {file}"), "~ initramfs (rebuild, when ib_core is in it)".to_owned()]);
        assert_eq!(machine.sh(&format!("cat {file}")), "options ib_core netns_mode=0");
        assert!(converge(shell, &*task).unwrap().is_empty());
        let waits = task.reboot(&gather(shell, task.queries()));
        assert_eq!(waits.as_deref(), Some("ib_core is loaded with other options (netns_mode Y -> 0)"));
        machine.sh("echo N >/sys/module/ib_core/parameters/netns_mode");
        assert_eq!(task.reboot(&gather(shell, task.queries())), None);
        let shared = read("rdma_netns: { mode: shared }");
        assert_eq!(converge(shell, &*shared).unwrap()[0], format!("~ {file} (content)"));
    });
}

#[test]
fn changes_of_a_task_run_in_order_behind_the_proxy_of_the_site() {
    each("", |shell, machine| {
        let scripts = vec![
            Script::new("printf '%s\\n' \"$http_proxy $https_proxy $no_proxy $#\" >/mnt/said"),
            Script::new("printf '%s\\n' \"$1$2\" >>/mnt/said").args(["it's ", "é"]),
            Script::new("exit 7"),
            Script::new("echo never >>/mnt/said"),
        ];
        let script =
            Script::new(provision::shell!("shell/base64.sh", "engine/shell/proxy.sh", "shell/each.sh"))
                .args(["http://p.example:1", "10.0.0.0/8"])
                .arg(Arg::Scripts(scripts));
        let (status, _, errors) = run(shell, &script, None);
        assert_eq!(status, 7, "{errors}");
        let proxy = "http://p.example:1";
        assert_eq!(machine.sh("cat /mnt/said"), format!("{proxy} {proxy} 10.0.0.0/8 0\nit's é"));
    });
}

/// modprobe and the tools of an initramfs, which write down what they are told; `bad` is no module.
const MODULES: &str = r#"
mount -t tmpfs none /boot
stand_in modprobe <<'END'
case $* in *bad) echo "modprobe: FATAL: Module bad not found." >&2; exit 1 ;; esac
echo "modprobe $*" >>/run/said
END
stand_in dmesg <<'END'
echo 'bad: what the kernel says'
END
stand_in lsinitramfs <<'END'
echo usr/lib/modules/6.1.0/kernel/drivers/infiniband/core/ib-core.ko
END
stand_in update-initramfs <<'END'
echo "update-initramfs $*" >>/run/said
END
"#;

#[test]
fn modules_are_loaded_and_an_initramfs_with_them_is_rebuilt() {
    each(MODULES, |shell, machine| {
        // Its shell has tools of its own, which it finds first.
        if shell.contains(&"busybox") {
            return;
        }
        let done = |text: &'static str, words: &[&str]| {
            let (status, _, errors) = run(shell, &Script::new(text).args(words.iter().copied()), None);
            (status, errors)
        };
        let said = || machine.sh("cat /run/said; : >/run/said");
        let module = provision::shell!("resources/kernel/module.sh");
        machine.sh(": >/run/said");
        for act in ["load", "unload", "reload"] {
            assert_eq!(done(module, &[act, "ib_core"]), (0, String::new()));
        }
        let (load, unload) = ("modprobe -- ib_core", "modprobe -r -- ib_core");
        assert_eq!(said(), [load, unload, unload, load].join("\n"));
        let (status, errors) = done(module, &["load", "bad"]);
        assert!(
            status == 1 && errors.contains("not found") && errors.contains("the kernel says"),
            "{errors}"
        );

        let rebuild =
            provision::shell!("resources/shared/initramfs_module.sh", "resources/shared/initramfs.sh");
        let release = machine.sh("uname -r");
        assert_eq!(done(rebuild, &["ib_core", "/run/options"]), (0, String::new()));
        assert_eq!(said(), "", "there is no initramfs");
        machine.sh(&format!(": >/boot/initrd.img-{release}; : >/boot/initrd.img-6.1.0"));
        assert_eq!(done(rebuild, &["nvidia", "/run/options"]).0, 0);
        assert_eq!(said(), "", "it is not in it");
        assert_eq!(done(rebuild, &["ib_core", "/run/options"]).0, 0);
        assert_eq!(said(), format!("update-initramfs -u -k {release}"));
        // The file differs from what it should be until the rebuild is done.
        machine.sh("echo options >/run/options; printf '#!/bin/sh\\nexit 1\\n' >/run/bad; chmod +x /run/bad; tool=$(command -v update-initramfs); mount --bind /run/bad \"$tool\"");
        assert_eq!(done(rebuild, &["ib_core", "/run/options"]).0, 1);
        assert_eq!(machine.sh("cat /run/options"), "options\n# not yet in the initramfs");
        machine.sh("umount \"$(command -v update-initramfs)\"");
        assert_eq!(done(rebuild, &["ib_core", "/run/options"]).0, 0);
        assert_eq!(machine.sh("cat /run/options"), "options");
        machine.sh("rm /run/said");
        let of = provision::shell!("resources/kernel/reboot/initramfs_of.sh");
        assert_eq!(done(of, &["6.1.0"]).0, 0);
        assert_eq!(said(), "update-initramfs -u -k 6.1.0");
        // One that has none gets one.
        assert_eq!(done(of, &["6.2.0"]).0, 0);
        assert_eq!(said(), "update-initramfs -c -k 6.2.0");
    });
}

#[test]
fn the_time_zone() {
    let zones = "ln -sfn /usr/share/zoneinfo/Etc/UTC /etc/localtime; echo Etc/UTC >/etc/timezone; \
                 mount -t tmpfs -o mode=755 none /usr/share/zoneinfo; mkdir /usr/share/zoneinfo/Europe; \
                 : >/usr/share/zoneinfo/Europe/Berlin; : >/usr/share/zoneinfo/UTC";
    each(zones, |shell, machine| {
        let task = read("timezone: { name: Europe/Berlin }");
        let done = converge(shell, &*task).unwrap();
        assert_eq!(done, ["~ time zone (Etc/UTC -> Europe/Berlin)", "~ /etc/timezone (content)"]);
        assert_eq!(machine.sh("readlink /etc/localtime"), "/usr/share/zoneinfo/Europe/Berlin");
        assert_eq!(machine.sh("cat /etc/timezone"), "Europe/Berlin");
        // What timedatectl writes is the same zone, and no file is made that the host does not have.
        machine.sh("ln -sfn ../usr/share/zoneinfo/UTC /etc/localtime; rm /etc/timezone");
        assert!(converge(shell, &*read("timezone: { name: UTC }")).unwrap().is_empty());
        let unknown = converge(shell, &*read("timezone: { name: Mars/Olympus }")).unwrap_err();
        assert!(unknown.contains("no time zone `Mars/Olympus`"), "{unknown}");
    });
}
