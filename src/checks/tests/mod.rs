//! Hosts as probes show them, and what the checks make of them.

mod apart;
mod containers;
mod fleet;
mod gpu;
mod hardware;
mod learn;
mod network;
mod software;
mod system;

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use serde_json::{Value as Json, json};

use super::{Baseline, Subject, TABLE, evaluate};
use crate::config::{Diagnostics, FromNode as _, Node, Span};
use crate::events::CheckResult;
use crate::events::CheckStatus::{self, Fail, Pass, Skip, Unknown, Warn};
use crate::facts::{BaseQuery, Facts};
use crate::inventory::{Expect, Host, Nic};

const OTHER_NCCL: &str = "/lib/x86_64-linux-gnu/libnccl.so.2 (0x2)\nuser=ubuntu\nfile=libnccl.so.2 /usr/lib/x86_64-linux-gnu/libnccl.so.2.28.3";
const SMI: &str = include_str!("../../lab/profiles/recorded/h200-x2/nvidia-smi-q-x.xml");
const NVLINK: &str = include_str!("../../lab/profiles/recorded/h200-x2/nvidia-smi-nvlink-s.txt");
/// Output of `nvidia-smi topo -m` for two GPUs with a card each.
const TOPO: &str = "\tGPU0\tGPU1\tNIC0\tNIC1\tCPU Affinity\tNUMA Affinity\nGPU0\t X \tNV18\tPIX\tSYS\t0-47\t0\nGPU1\tNV18\t X \tSYS\tPIX\t48-95\t1\nNIC0\tPIX\tSYS\t X \tSYS\nNIC1\tSYS\tPIX\tSYS\t X \n\nNIC Legend:\n\n  NIC0: mlx5_0\n  NIC1: mlx5_1\n";

/// Formats a command's section in the output of a probe.
fn section(command: &str, output: &str, status: &str) -> String {
    format!("\n\u{1e}ask {command}\n{output}\n\u{1e}end {status}\n")
}

/// A text for each of two devices.
fn both(text: impl Fn(u32) -> String) -> String {
    text(0) + &text(1)
}

pub(super) fn expect(json: Json) -> Expect {
    serde_json::from_value(json).unwrap()
}

fn nics(json: &Json) -> Vec<Nic> {
    Vec::from_node(&Node::from_json(json, Span::NONE), &mut Diagnostics::default()).unwrap()
}

/// A host: what each probe printed, and its facts.
#[derive(Clone)]
pub(super) struct Site {
    pub(super) probes: BTreeMap<&'static str, String>,
    pub(super) facts: BTreeMap<&'static str, Json>,
    pub(super) expect: Expect,
    nics: Vec<Nic>,
}

/// Two H200 as recorded, with two ConnectX-7 in RoCE mode, and nothing wrong.
pub(super) fn healthy() -> Site {
    let devinfo = |n: u32| {
        format!(
            "hca_id:\tmlx5_{n}\n\ttransport:\t\t\tInfiniBand (0)\n\t\tport:\t1\n\t\t\tactive_mtu:\t\t4096 (5)\n"
        )
    };
    let sysfs = both(|n| {
        format!(
            "device=mlx5_{n}\nfw_ver=28.39.1002\nhca_type=MT4129\nboard_id=X\nnode_guid=1:{n}\npci=0000:0{n}:00.0\ndriver=mlx5_core\nnetdev=rdma{n}\nport=1\nstate=4: ACTIVE\nphys_state=5: LinkUp\nrate=400 Gb/sec (4X NDR)\nlink_layer=Ethernet\nlid=0x0\nsm_lid=0x0\npkey=0xffff\ngid=3 0000:0000:0000:0000:0000:ffff:0a00:0{n}01 rdma{n} RoCE v2\ncounter.link_downed=1\ncounter.symbol_error=0\nhw.out_of_sequence=5\n"
        )
    });
    let nets = both(|n| {
        format!("net=rdma{n}\noperstate=up\ncarrier_changes=2\nrx_errors=0\ntx_errors=0\necn.3=1\n")
    });
    let links = both(|n| {
        format!(
            "pci=0000:0{n}:00.0\ncurrent_link_width=16\nmax_link_width=16\ncurrent_link_speed=32.0 GT/s PCIe\nmax_link_speed=32.0 GT/s PCIe\niommu=identity\n"
        )
    });
    let qos = "Priority trust state: dscp\n\tenabled     0   0   0   1   0   0   0   0   \n";
    let probes = BTreeMap::from([
        ("firewall", section("firewall", "", "0") + &section("iptables -S INPUT", "-P INPUT ACCEPT", "0")),
        ("log", section("dmesg", "", "0")),
        ("rdma", section("sysfs", &(sysfs + &nets), "0")),
        (
            "system",
            section(
                "system",
                "governor=performance 8\nsystemd=1\nprocess=slurmd\nslurmd_memlock=unlimited",
                "0",
            ) + &section("getent hosts gpu0", "10.0.1.10 gpu0", "0")
                + &section(
                    "df -Pk / /var",
                    "Filesystem 1024-blocks Used Available Capacity Mounted on\n/dev/sda1 100000000 1 90000000 1% /\ntmpfs 64000000 0 64000000 0% /dev/shm",
                    "0",
                )
                + &section("chronyc tracking", "Leap status     : Normal", "0")
                + &section("systemctl list-units --state=failed", "", "0")
                + &section("sinfo -N -h -o %N %T %G %E", "gpu0 idle gpu:h200:2", "0"),
        ),
        (
            "fabric",
            section("pcie", &links, "0")
                + &section("settings", "arp_ignore=0\nnccl=/etc/nccl.conf NCCL_IB_HCA==mlx5_0,mlx5_1", "0")
                + &section("ibv_devinfo -v", &(devinfo(0) + &devinfo(1)), "0")
                + &section("rdma system show", "netns shared copy-on-fork on", "0")
                + &section("mlnx_qos -i rdma0", qos, "0")
                + &section("mlnx_qos -i rdma1", qos, "0")
                + &section(
                    "lspci -vvv",
                    "00:10.0 PCI bridge: X\n\t\tACSCtl:\tSrcValid- ReqRedir-\n00:00.0 Ethernet controller: X\n\t\tMaxPayload 256 bytes, MaxReadReq 4096 bytes\n01:00.0 Ethernet controller: X\n\t\tMaxPayload 256 bytes, MaxReadReq 4096 bytes",
                    "0",
                ),
        ),
        (
            "driver",
            section(
                "driver",
                "running=6.8.0-87-generic\nloaded=580.159.04\nbanner=NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.159.04  Release Build\nkernel=6.8.0-87-generic\nheaders=true\nimage=true\nmodule=/lib/modules/6.8.0-87-generic/updates/dkms/nvidia.ko",
                "0",
            ) + &section(
                "modinfo nvidia",
                "filename: /lib/modules/6.8.0-87-generic/updates/dkms/nvidia.ko\nversion:        580.159.04\nlicense:        Dual MIT/GPL",
                "0",
            ) + &section(
                "dpkg-query -W -f x",
                "ii  libnvidia-compute-580 580.159.04-0ubuntu1\nii  nvidia-utils-580 580.159.04-0ubuntu1",
                "1",
            ),
        ),
        (
            "driver_upkeep",
            section("peermem", "", "0")
                + &section("upgrades", "unattended=1\nline=APT::Periodic::Unattended-Upgrade \"0\";", "0")
                + &section("nv-fabricmanager -v", "Fabric Manager version is : 580.159.04", "0")
                + &section("systemctl is-active nvidia-fabricmanager", "active", "0")
                + &section("dkms status", "nvidia/580.159.04, 6.8.0-87-generic, x86_64: installed", "0"),
        ),
        (
            "nvidia",
            section("nvidia-smi -q -x", SMI, "0")
                + &section("nvidia-smi nvlink -s", NVLINK, "0")
                + &section("nvidia-smi topo -m", TOPO, "0"),
        ),
        (
            "software",
            section(
                "software",
                "nccl=/usr/local/nccl 2.27.7\nhome=/opt/nccl-tests/build/all_reduce_perf NCCL /usr/local/nccl /srv/nccl\nhome=/opt/nccl-tests/build/all_reduce_perf MPI /opt/openmpi /opt/openmpi\nlibrary=/usr/local/nccl/lib/libnccl.so.2 /usr/local/nccl/lib/libnccl.so.2.27.7\nperftest=1",
                "0",
            ) + &section("/opt/openmpi/bin/mpirun --version", "mpirun (Open MPI) 4.1.3", "0")
                + &section("packages", "", "0")
                + &section(
                    "ldd /opt/nccl-tests/build/all_reduce_perf",
                    "\tlibmpi.so.40 => /opt/openmpi/lib/libmpi.so.40 (0x1)\n\tlibnccl.so.2 => /usr/local/nccl/lib/libnccl.so.2 (0x2)\nuser=ubuntu\nfile=libnccl.so.2 /srv/nccl/lib/libnccl.so.2.27.7",
                    "0",
                ),
        ),
        (
            "containers",
            section(
                "containers",
                "program=dockerd\nprogram=runc\nprogram=nvidia-ctk\nprogram=apptainer\nsystemd=1\ncgroup=2\nsocket=/run/docker.sock 755 660 0 999\ngroup=docker:x:999:ann\ndocker=\"cdi\": true\ntoolkit=mode = \"cdi\ncdi=/run/cdi/nvidia.yaml\ncdi_driver=/run/cdi/nvidia.yaml 580.159.04\ncdi_device=/run/cdi/nvidia.yaml /dev/nvidia0\ncdi_device=/run/cdi/nvidia.yaml /dev/nvidia1\ndevice=/dev/nvidia0 linked\ndevice=/dev/nvidia1 linked\nuserns_most=63432",
                "0",
            ) + &section("nvidia-ctk --version", "NVIDIA Container Toolkit CLI version 1.19.1", "0")
                + &section("runc --version", "runc version 1.3.3", "0"),
        ),
        ("next_boot", include_str!("../../../tests/cases/probes/next_boot/whole.txt").to_owned()),
        ("login", section("login", "memlock=unlimited\nnofile=1048576\nuser=ubuntu\npath=/usr/bin", "0")),
    ]);
    let gpu =
        |address: &str| json!({ "address": address, "vendor": "10de", "device": "2335", "model": "H200" });
    let facts = BTreeMap::from([
        (
            "pci",
            json!({ "gpus": [gpu("0000:00:06.0"), gpu("0000:00:07.0")], "nvswitches": [gpu("0000:05:00.0")], "nics": [] }),
        ),
        (
            "network",
            json!({ "links": [
            { "name": "rdma0", "mtu": 9000, "state": "up", "pci": "0000:00:00.0", "addresses": ["10.0.0.1/24"] },
            { "name": "rdma1", "mtu": 9000, "state": "up", "pci": "0000:01:00.0", "addresses": ["10.0.1.1/24"] },
        ] }),
        ),
        ("kernel", json!({ "release": "6.8.0-87-generic", "headers": true })),
        ("boot", json!({ "next_kernel": "6.8.0-87-generic", "reasons": [] })),
        (
            "memory",
            json!({ "total_mib": 1000, "swap_mib": 0, "hugepages": { "total": 0, "free": 0, "size_kib": 2048 } }),
        ),
        ("hostname", json!("gpu0")),
        ("ids", json!({ "machine_id": "m", "product_uuid": "p", "boot_id": "b" })),
        ("os", json!({ "id": "ubuntu" })),
        ("modules", json!({ "loaded": ["nvidia"] })),
        ("virtualization", json!({ "kind": "none", "container": false })),
    ]);
    Site { probes, facts, expect: expect(json!({ "gpu": { "nvlinks": 18 } })), nics: Vec::new() }
}

/// A host with cards of one more kind, whose ports have these states and rates.
fn with_cards(cards: &[(&str, &str, &str)]) -> Site {
    let sysfs: Vec<String> = (2..)
        .zip(cards)
        .map(|(n, (kind, state, rate))| {
            format!(
                "device=mlx5_{n}\nfw_ver=1.0\nhca_type={kind}\npci=0000:0{n}:00.0\ndriver=mlx5_core\nport=1\nstate={state}\nrate={rate}\nlink_layer=Ethernet\n"
            )
        })
        .collect();
    healthy().with("rdma", "net=rdma0\n", &(sysfs.concat() + "net=rdma0\n"))
}

/// Two cards whose links are one bond, and what the bond finds of the second.
fn bonded(second: &str) -> Site {
    let link = |n: u32, bond_link: &str| {
        json!({
            "name": format!("rdma{n}"), "mtu": 9000, "state": "up", "pci": format!("0000:0{n}:00.0"),
            "driver": "mlx5_core", "bond": "bond0", "bond_link": bond_link, "addresses": []
        })
    };
    let bond = json!({ "name": "bond0", "mtu": 9000, "state": "up", "addresses": ["10.0.0.1/24"] });
    healthy().fact("network", json!({ "links": [bond, link(0, "up"), link(1, second)] }))
}

impl Site {
    /// The same with a text of a probe replaced.
    pub(super) fn with(mut self, probe: &str, old: &str, new: &str) -> Self {
        let text = self.probes.get_mut(probe).unwrap();
        assert!(text.contains(old), "{old} is not in {probe}");
        *text = text.replace(old, new);
        self
    }

    pub(super) fn fact(mut self, name: &'static str, value: Json) -> Self {
        self.facts.insert(name, value);
        self
    }

    pub(super) fn expect(mut self, value: Json) -> Self {
        self.expect = expect(value);
        self
    }

    pub(super) fn answers(&self) -> Facts {
        let mut answers = Facts::default();
        for (name, value) in &self.facts {
            answers.put(BaseQuery(name), value.clone().into());
        }
        for (name, text) in &self.probes {
            let query = super::queries().into_iter().find(|query| query.label() == *name).unwrap();
            for (query, answer) in (query.family().parse)(std::slice::from_ref(&query), text, 0) {
                answers.insert(query, answer);
            }
        }
        answers
    }

    /// Every check with its status and message.
    fn conclude(&self, baseline: Option<&Baseline>) -> Vec<CheckResult> {
        let answers = self.answers();
        let host = Host { expect: self.expect.clone(), nics: self.nics.clone(), ..host() };
        let mut subject = Subject::new(&host, &answers, 0);
        subject.baseline = baseline;
        let conclusion = evaluate(&mut [subject]).remove(0);
        for result in &conclusion.results {
            assert_eq!(result.status.is_finding(), !result.evidence.is_empty(), "{result:?}");
            let hinted = matches!(result.status, Fail | Warn);
            assert_eq!(hinted, result.hint.is_some(), "{result:?}");
        }
        conclusion.results
    }

    fn results(&self, baseline: Option<&Baseline>) -> BTreeMap<String, (CheckStatus, String)> {
        let results = self.conclude(baseline).into_iter();
        results.map(|result| (result.check, (result.status, result.message))).collect()
    }

    /// Returns the hint of a check.
    fn hint(&self, check: &str) -> String {
        let found = self.conclude(None).into_iter().find(|result| result.check == check);
        found.and_then(|result| result.hint).unwrap_or_default()
    }

    /// Ids of checks that a person should look at: `fail gpu.xid`.
    fn findings(&self, baseline: Option<&Baseline>) -> Vec<String> {
        let results = self.results(baseline);
        let found = results.iter().filter(|(_, (status, _))| status.is_finding());
        found.map(|(id, (status, _))| format!("{} {id}", status.word())).collect()
    }
}

pub(super) fn host() -> Host {
    let case = crate::project::testing::Case::new("--- inventory.yaml\ncluster: lab\nhosts:\n  gpu0: {}\n");
    case.load(&crate::project::LoadOptions::default()).unwrap().hosts.remove(0)
}

#[test]
fn ids_are_unique_and_every_check_tells_everything() {
    let ids: BTreeSet<&str> = TABLE.iter().map(|check| check.id).collect();
    assert_eq!(ids.len(), TABLE.len());
    assert!(TABLE.len() >= 60, "{}", TABLE.len());
    for check in TABLE.iter() {
        for text in [check.title, check.expects, check.why, check.hint] {
            assert!(text.len() > 6, "{}", check.id);
        }
        assert!(matches!(check.severity, Fail | Warn), "{}", check.id);
    }
}

#[test]
fn a_check_stands_in_the_file_of_its_prefix() {
    for (file, checks) in super::FILES {
        for check in *checks {
            let prefix = check.id.split('.').next().unwrap();
            assert_eq!(prefix, file[0], "{} is in src/checks/{}.rs", check.id, file.join("/"));
        }
    }
}

/// A source is a page, a manual or a repository that everybody can open.
#[test]
fn sources_are_real_references() {
    for check in TABLE.iter() {
        assert!(!check.source.is_empty(), "{} has no source", check.id);
        for word in ["domain", "design", "peers"] {
            assert!(!check.source.starts_with(word), "{}: {}", check.id, check.source);
        }
    }
}

#[test]
fn a_healthy_host_has_no_finding() {
    let site = healthy();
    assert_eq!(site.findings(None), Vec::<String>::new());
    let passed = site.results(None).values().filter(|(status, _)| *status == Pass).count();
    assert!(passed >= 50, "{passed}");
}

#[test]
fn a_host_without_any_tool_passes_nothing() {
    let mut site = healthy();
    for (name, text) in &mut site.probes {
        *text = match *name {
            "rdma" => continue,
            "nvidia" => ["nvidia-smi -q -x", "nvidia-smi nvlink -s", "nvidia-smi topo -m"]
                .map(|command| section(command, "", "missing"))
                .concat(),
            "log" => section("dmesg", "", "missing") + &section("journalctl -k", "", "missing"),
            "fabric" => ["ibv_devinfo -v", "rdma system show", "mlnx_qos -i rdma0", "lspci -vvv"]
                .map(|command| section(command, "", "missing"))
                .concat(),
            _ => String::new(),
        };
    }
    site.probes.insert("rdma", String::new());
    site.facts.retain(|name, _| ["pci", "virtualization"].contains(name));
    let results = site.results(None);
    let passed: Vec<&String> =
        results.iter().filter(|(_, (status, _))| *status == Pass).map(|(id, _)| id).collect();
    assert_eq!(passed, Vec::<&String>::new());
    let unknown = results.values().filter(|(status, _)| *status == Unknown).count();
    assert!(unknown >= 30, "{unknown}");
    assert!(results.values().all(|(status, _)| matches!(status, Unknown | Skip | Fail)), "{results:#?}");
    assert_eq!(
        site.findings(None).iter().filter(|line| line.starts_with("fail")).collect::<Vec<_>>(),
        ["fail host.proven"]
    );
}

/// A first `verify` of a plain host finds all tasks undone. That is said once, and not that tools are missing.
#[test]
fn a_host_whose_tasks_are_undone_lacks_no_tool() {
    let (host, answers) = (host(), Facts::default());
    let proven = |open_tasks| {
        let mut subject = Subject::new(&host, &answers, 0);
        subject.open_tasks = open_tasks;
        let results = evaluate(&mut [subject]).remove(0).results;
        results.into_iter().find(|result| result.check == "host.proven").unwrap()
    };
    assert_eq!(proven(0).status, Fail);
    assert_eq!(proven(2).status, Skip);
    assert_eq!(proven(2).message, "not as declared: 2 tasks, each told above");
}

#[test]
fn a_host_is_verified_when_nothing_failed_and_all_is_known() {
    let failed = healthy().with("driver", "headers=true", "headers=true\nnouveau=true");
    let dark = || healthy().with("log", &section("dmesg", "", "0"), &section("dmesg", "", "missing"));
    for (site, verified) in [
        (healthy(), true),
        (failed, false),
        (dark(), false),
        (dark().expect(json!({ "unknown": "warn", "gpu": { "nvlinks": 18 } })), true),
    ] {
        let answers = site.answers();
        let host = Host { expect: site.expect.clone(), ..host() };
        let mut subject = [Subject::new(&host, &answers, 0)];
        let conclusion = evaluate(&mut subject).remove(0);
        assert_eq!(conclusion.verified, verified, "{:?}", conclusion.results);
    }
}

#[test]
fn one_fault_is_one_finding() {
    let logged = |lines: &str| healthy().with("log", "ask dmesg\n", &format!("ask dmesg\n{lines}\n"));
    let cases: Vec<(&str, Site)> = vec![
        ("fail driver.coherence", healthy().with("driver", "version:        580.159.04", "version:        580.167.01")),
        ("fail driver.version", healthy().expect(json!({ "driver": { "version": "535" } }))),
        ("fail driver.flavour", healthy().expect(json!({ "driver": { "open": false } }))),
        ("fail driver.cuda", healthy().expect(json!({ "driver": { "cuda": "13.1" } }))),
        ("fail driver.dkms", healthy().with("driver_upkeep", "x86_64: installed", "x86_64: installed (WARNING! Diff between built and installed module!)")),
        ("fail driver.dkms", healthy().with("driver_upkeep", "x86_64: installed", "x86_64: installed (Module missing in /lib/modules)")),
        ("fail driver.next_kernel", healthy().with("driver", "module=/lib/modules/6.8.0-87-generic/updates/dkms/nvidia.ko\n", "")),
        ("warn driver.headers", healthy().fact("kernel", json!({ "release": "6.8.0-87-generic", "headers": false }))),
        ("fail driver.nouveau", healthy().with("driver", "headers=true", "headers=true\nnouveau=true")),
        ("fail boot.modules", healthy().with("next_boot", "insmod /lib/modules/6.1.0-50-amd64/kernel/drivers/net/ethernet/mellanox/mlx5/core/mlx5_core.ko", "modprobe: WARNING: Module mlx5_core not found in directory /lib/modules/6.1.0-50-amd64")),
        ("fail boot.symbols", healthy().with("next_boot", "ask depmod -n -e -E Module.symvers\n", "ask depmod -n -e -E Module.symvers\ndepmod: WARNING: /lib/modules/6.1.0-50-amd64/updates/dkms/mlx5_ib.ko disagrees about version of symbol ib_umem_release\n")),
        ("fail boot.signatures", healthy().with("next_boot", "            0f:6f:6b:", "            0f:6f:6c:")),
        ("fail boot.initramfs", healthy().with("next_boot", "\nusr/lib/modules/6.1.0-50-amd64/updates/dkms/mlx5_ib.ko", "\nusr/lib/modules/6.1.0-50-amd64/kernel/drivers/infiniband/hw/mlx5/mlx5_ib.ko")),
        ("fail boot.network", healthy().with("next_boot", "yaml=/etc/netplan/50-cloud-init.yaml\n", "")),
        ("fail boot.loader", healthy().with("next_boot", "ro iommu=pt quiet", "ro quiet")),
        ("fail driver.fabric_manager", healthy().with("driver_upkeep", "version is : 580.159.04", "version is : 580.159.03")),
        ("fail driver.fabric_manager", healthy().with("driver_upkeep", "\nactive\n", "\nfailed\n")),
        ("warn driver.upgrades", healthy().with("driver_upkeep", "Unattended-Upgrade \"0\"", "Unattended-Upgrade \"1\"")),
        ("warn driver.upgrades", healthy().with("driver_upkeep", "unattended=1", "dnf_automatic=dnf-automatic-install.timer")),
        // What a list of origins names is what it upgrades.
        ("warn driver.upgrades", healthy().with("driver_upkeep", "Unattended-Upgrade \"0\";", "Unattended-Upgrade \"1\";\nline=Unattended-Upgrade::Origins-Pattern {\nline=  \"site=developer.download.nvidia.com\";\nline=};")),
        ("fail peermem.legacy", healthy().with("driver_upkeep", "ask peermem\n", "ask peermem\nnv_peer_mem=1\n")),
        ("fail peermem.loaded", healthy().with("driver", "Open Kernel Module for x86_64", "x86_64 Kernel Module")),
        ("warn system.reboot", healthy().fact("boot", json!({ "next_kernel": "6.8.0-87-generic", "reasons": ["the system wants one"] }))),
        ("fail gpu.xid", healthy().with("log", "ask dmesg\n", "ask dmesg\nNVRM: Xid (PCI:0000:8a:00): 79, pid=55182, name=python, GPU has fallen off the bus.\n")),
        ("warn gpu.xid", healthy().with("log", "ask dmesg\n", "ask dmesg\nNVRM: Xid (PCI:0000:0f:00): 94, pid=2503421, name=python3, Ch 00000008\n")),
        ("fail gpu.xid", healthy().with("log", "ask dmesg\n", "ask dmesg\nNVRM: Xid (PCI:0000:0f:00): 94, Ch 8\nNVRM: Xid (PCI:0000:0f:00): 94, Ch 9\n")),
        ("fail gpu.xid", healthy().with("log", "ask dmesg\n", "ask dmesg\nNVRM: GPU at 0000:07:00.0 has fallen off the bus.\n")),
        ("fail gpu.xid", healthy().with("log", "ask dmesg\n", "ask dmesg\nNVRM: Xid (PCI:0000:07:00): 149, NETIR_LINK_EVT Fatal XC0 i0 Link 04 (0x004505c6)\n")),
        ("warn gpu.xid", healthy().with("log", "ask dmesg\n", "ask dmesg\nNVRM: Xid (PCI:0000:07:00): 145, pid=7, name=python, RLW_RXPIPE Nonfatal XC0 i0 Link 13 (0x0409a0c2)\n")),
        ("warn gpu.xid", healthy().with("log", "ask dmesg\n", "ask dmesg\nNVRM: Xid (0000:07:00): 175, Channel 00000001\n")),
        ("warn gpu.xid_before", {
            let mut site = healthy();
            let earlier = "2026-11-20T01:00:00+00:00 gpu0 kernel: NVRM: Xid (PCI:0000:07:00): 79, pid=7, GPU has fallen off the bus.\nNVRM: Xid (PCI:0000:07:00): 13, pid=7";
            *site.probes.get_mut("log").unwrap() += &section("journalctl -k -b -1 --since=-1d --no-pager -o short-iso", earlier, "0");
            site
        }),
        ("fail gpu.ecc_errors", healthy().with("nvidia", "<sram_threshold_exceeded>No", "<sram_threshold_exceeded>Yes")),
        ("warn gpu.repair", healthy().with("nvidia", "<tpc_repair_pending>No", "<tpc_repair_pending>Yes")),
        ("fail gpu.row_remap", healthy().with("nvidia", "<pending_retirement>N/A", "<pending_retirement>Yes")),
        ("fail rdma.log", healthy().with("log", "ask dmesg\n", "ask dmesg\nmlx5_core 0000:01:00.0: poll_health:800:(pid 0): device's health compromised - reached miss count\n")),
        ("fail rdma.log", healthy().with("log", "ask dmesg\n", "ask dmesg\nmlx5_core 0000:01:00.0: Port module event[error]: module 0, Cable error, High Temperature\n")),
        ("warn rdma.log", healthy().with("log", "ask dmesg\n", "ask dmesg\nmlx5_core 0000:01:00.0: Port module event: module 0, Cable unplugged\n")),
        ("warn rdma.slot_power", healthy().with("log", "ask dmesg\n", "ask dmesg\nmlx5_core 0000:01:00.0: mlx5_pcie_event:299:(pid 412): Detected insufficient power on the PCIe slot (27W).\n")),
        ("warn peermem.errors", healthy().with("log", "ask dmesg\n", "ask dmesg\nnvidia-peermem nv_get_p2p_free_callback:127 ERROR detected invalid context, skipping further processing\n")),
        ("warn gpu.nvswitch_errors", healthy().with("log", "ask dmesg\n", "ask dmesg\nnvidia-nvswitch3: SXid (PCI:0000:c1:00.0): 28006, Non-fatal, Link 46 MC TS crumbstore MCTO (First)\n")),
        ("fail driver.log", healthy().with("log", "ask dmesg\n", "ask dmesg\nNVRM: RmInitAdapter failed! (0x62:0xffffffff:1089)\n")),
        ("fail gpu.throttle", healthy().with("nvidia", "<clocks_event_reason_hw_slowdown>Not Active", "<clocks_event_reason_hw_slowdown>Active")),
        ("fail gpu.fabric_health", healthy().with("nvidia", "<route_unhealthy>N/A", "<route_unhealthy>True")),
        ("warn gpu.temperature", healthy().with("nvidia", "<gpu_temp>38 C", "<gpu_temp>91 C")),
        ("warn gpu.power_limit", healthy().with("nvidia", "<current_power_limit>700.00 W", "<current_power_limit>500.00 W")),
        ("warn gpu.mig", healthy().expect(json!({ "gpu": { "mig": true } }))),
        ("fail rdma.verbs", healthy().with("fabric", "mlx5_1\n\ttransport", "mlx5_9\n\ttransport")),
        ("warn rdma.active_mtu", healthy().with("fabric", "4096 (5)", "1024 (3)")),
        ("fail rdma.link_layer", healthy().expect(json!({ "rdma": { "link_layer": "InfiniBand" } }))),
        ("fail rdma.gid", healthy().with("rdma", "ffff:0a00:0101 rdma1 RoCE v2", "ffff:0a00:0101 rdma1 IB/RoCE v1")),
        ("warn rdma.gid_index", healthy().with("rdma", "gid=3 0000:0000:0000:0000:0000:ffff:0a00:0101", "gid=5 0000:0000:0000:0000:0000:ffff:0a00:0101")),
        ("warn rdma.firmware", healthy().expect(json!({ "rdma": { "firmware": "28.40.1000" } }))),
        ("warn rdma.netns", healthy().with("fabric", "netns shared", "netns exclusive")),
        ("fail rdma.nccl_hca", healthy().with("fabric", "NCCL_IB_HCA==mlx5_0,mlx5_1", "NCCL_IB_HCA=erdma")),
        ("fail rdma.pcie_width", healthy().with("fabric", "pci=0000:01:00.0\ncurrent_link_width=16", "pci=0000:01:00.0\ncurrent_link_width=8")),
        ("warn rdma.pcie_generation", healthy().with("fabric", "current_link_speed=32.0", "current_link_speed=16.0")),
        ("warn rdma.pcie_bandwidth", healthy().with("log", "ask dmesg\n", "ask dmesg\nmlx5_core 0000:9c:00.0: 252.056 Gb/s available PCIe bandwidth, limited by 32.0 GT/s PCIe x8 link at 0000:97:01.0 (capable of 504.112 Gb/s with 32.0 GT/s PCIe x16 link)\n")),
        ("fail pcie.acs", healthy().with("fabric", "SrcValid- ReqRedir-", "SrcValid+ ReqRedir+")),
        ("warn pcie.iommu", healthy().with("fabric", "iommu=identity", "iommu=DMA-FQ")),
        ("warn pcie.max_read_request", healthy().with("fabric", "MaxReadReq 4096", "MaxReadReq 512")),
        ("warn pcie.aer", healthy().with("log", "ask dmesg\n", "ask dmesg\npcieport 0000:97:01.0: AER: Corrected error received: 0000:98:00.0\n")),
        ("fail network.pfc", healthy().expect(json!({ "network": { "pfc": [5] } }))),
        ("fail network.trust", healthy().expect(json!({ "network": { "trust": "pcp" } }))),
        ("fail network.ecn", healthy().expect(json!({ "network": { "ecn": [3, 5] } }))),
        ("fail network.bond", bonded("down")),
        ("unknown network.bond", bonded("")),
        ("fail system.memlock", healthy().with("login", "memlock=unlimited", "memlock=8192")),
        ("warn system.nofile", healthy().with("login", "nofile=1048576", "nofile=1024").expect(json!({ "system": { "nofile": 65536 } }))),
        ("fail system.hugepages", healthy().expect(json!({ "system": { "hugepages": 8 } }))),
        ("warn system.swap", healthy().expect(json!({ "system": { "swap": true } }))),
        ("warn system.time_sync", healthy().with("system", ": Normal", ": Not synchronised")),
        ("warn system.disk", healthy().with("system", "90000000", "900000")),
        ("warn system.shm", healthy().with("system", "tmpfs 64000000 0 64000000", "tmpfs 65536 0 65536")),
        ("warn system.governor", healthy().with("system", "governor=performance 8", "governor=performance 6\ngovernor=powersave 2")),
        // It is also said of what was corrected.
        ("warn system.mce", logged("mce: [Hardware Error]: Machine check events logged")),
        ("fail system.mce", logged("mce: [Hardware Error]: CPU 12: Machine Check Exception: 5 Bank 7: be00000000800400")),
        ("warn system.mce", logged("EDAC MC3: 1 CE memory read error on CPU_SrcID#0_Channel#0_DIMM#0 (channel:0 slot:0)")),
        ("fail system.mce", logged("EDAC MC3: 1 UE memory read error on CPU_SrcID#0_Channel#0_DIMM#0 (channel:0 slot:0)")),
        ("warn kernel.stalls", logged("watchdog: BUG: soft lockup - CPU#29 stuck for 22s! [python:14352]")),
        ("fail kernel.stalls", logged("NMI watchdog: Watchdog detected hard LOCKUP on cpu 17")),
        ("warn kernel.processors", logged("mce: CPU7: Package temperature above threshold, cpu clock throttled (total events = 1)")),
        ("warn kernel.network", logged("ice 0000:b1:00.0 ens801f0np0: NETDEV WATCHDOG: CPU: 38: transmit queue 14 timed out 5376 ms")),
        ("fail kernel.network", logged("bnxt_en 0000:ca:00.0: probe with driver bnxt_en failed with error -110")),
        ("warn kernel.disks", logged("I/O error, dev nvme0n1, sector 1234 op 0x1:(WRITE) flags 0x800 phys_seg 1 prio class 2")),
        ("fail kernel.disks", logged("EXT4-fs (dm-0): Remounting filesystem read-only")),
        ("warn pcie.aer", logged("pcieport 0000:00:02.0: AER: Correctable error message received from 0000:01:00.0")),
        ("fail pcie.aer", logged("pcieport 0000:30:03.0: DPC: containment event, status:0x0005 source:0x3400")),
        ("warn rdma.log", logged("mlx5_core 0000:01:00.0: wait_func:969:(pid 2011): ENABLE_HCA(0x104) timeout. Will cause a leak of a command resource")),
        ("fail rdma.log", logged("mlx5_core 0000:01:00.0: probe_one:1764:(pid 17): mlx5_init_one failed with error code -16")),
        ("fail gpu.xid", logged("NVRM: Xid (PCI:0000:07:00): 45, pid=1818, name=python3, Ch 00000001 caused by previous Xid 149")),
        ("fail gpu.xid", logged("NVRM: Xid (PCI:0000:07:00): 145, RLW_RXPIPE Nonfatal XC0 i0 Link 11 (0x1)\nNVRM: Xid (PCI:0000:07:00): 137, RLW_RXPIPE interrupt hit on link 11 on GPU0: PRIV Error")),
        ("fail driver.log", logged("NVRM: GPU 0000:07:00.0 is already bound to NovaCore.")),
        ("warn system.oom", healthy().with("log", "ask dmesg\n", "ask dmesg\nOut of memory: Killed process 4711 (python3)\n")),
        ("warn system.file_max", healthy().with("log", "ask dmesg\n", "ask dmesg\n[ 912.4] VFS: file-max limit 1000000 reached\n")),
        ("fail system.kernel_faults", healthy().with("log", "ask dmesg\n", "ask dmesg\n[ 912.4] BUG: unable to handle page fault for address: ffffb2c0\n[ 912.4] Oops: 0002 [#1] SMP NOPTI\n")),
        ("fail system.kernel_faults", healthy().with("log", "ask dmesg\n", "ask dmesg\n[ 77.1] general protection fault, probably for non-canonical address 0xdead000000000108: 0000 [#1] SMP NOPTI\n")),
        ("warn system.firewall", healthy().with("firewall", "-P INPUT ACCEPT", "-P INPUT DROP")),
        ("fail system.own_name", healthy().with("system", "10.0.1.10 gpu0", "127.0.1.1 gpu0")),
        ("warn system.units", healthy().with("system", "--state=failed\n", "--state=failed\nnvidia-persistenced.service loaded failed failed X\n")),
        ("fail system.kernel", healthy().expect(json!({ "system": { "kernel": "6.8.0-90-generic" } }))),
        ("fail software.nccl", healthy().expect(json!({ "software": { "nccl": "2.23" } }))),
        ("fail software.nccl", healthy().expect(json!({ "software": { "nccl_prefix": "/opt/nccl" } }))),
        ("unknown software.nccl", healthy().expect(json!({ "software": { "nccl_prefix": "/home/nccl" } }))),
        ("fail software.openmpi", healthy().expect(json!({ "software": { "openmpi": "5.0" } }))),
        ("fail software.nccl_tests", healthy().with("software", "/opt/openmpi/lib/libmpi.so.40 (0x1)", "not found")),
        ("fail software.nccl_tests", healthy().with("software", "libmpi.so.40 =>", "libother.so =>")),
        ("fail software.nccl_tests", healthy().with("software", "/usr/local/nccl/lib/libnccl.so.2 (0x2)\nuser=ubuntu\nfile=libnccl.so.2 /srv/nccl/lib/libnccl.so.2.27.7", OTHER_NCCL)),
        ("fail software.nccl_tests", healthy().with("software", "=> /opt/openmpi/lib/libmpi.so.40", "=> /usr/lib/x86_64-linux-gnu/libmpi.so.40")),
        ("warn software.nccl_copies", healthy().with("software", "perftest=1", "library=/usr/lib64/libnccl.so.2 /usr/lib64/libnccl.so.2.18.5\nperftest=1")),
        ("fail software.half_done", healthy().with("software", "ask packages\n", "ask packages\nhalf-configured ok drbd-dkms\n")),
        ("warn software.perftest", healthy().expect(json!({ "software": { "perftest_cuda": true } }))),
        ("warn containers.gpus_kept", healthy().with("containers", "mode = \"cdi", "mode = \"legacy")),
        ("warn containers.gpus_kept", healthy().with("containers", "/dev/nvidia1 linked", "/dev/nvidia1 bare")),
        ("fail containers.cdi", healthy().with("containers", "580.159.04", "580.126.09")),
        ("fail containers.cdi", healthy().with("containers", "cdi_device=/run/cdi/nvidia.yaml /dev/nvidia1\n", "")),
        ("fail containers.access", healthy().with("containers", "755 660 0 999", "755 666 0 999")),
        ("fail containers.access", healthy().expect(json!({ "containers": { "members": ["bob"] } }))),
        ("fail containers.access", healthy().with("containers", "userns_most", "open=/etc/cdi: others than root may add to /etc/cdi\nuserns_most")),
        ("fail containers.engine", healthy().expect(json!({ "containers": { "engine": "podman" } }))),
        ("warn containers.user_namespaces", healthy().with("containers", "userns_most=63432", "userns_most=0")),
        ("fail slurm.gres", healthy().with("system", "gpu:h200:2", "gpu:h200:1")),
        ("fail slurm.memlock", healthy().with("system", "slurmd_memlock=unlimited", "slurmd_memlock=8388608")),
        ("warn slurm.node", healthy().with("system", "idle", "drained")),
    ];
    for (wanted, site) in cases {
        assert_eq!(site.findings(None), [wanted]);
    }
}

#[test]
fn a_finding_names_the_command_that_told() {
    let site = healthy().expect(json!({ "network": { "pfc": [5] } }));
    let (host, answers) = (Host { expect: site.expect.clone(), ..host() }, site.answers());
    let conclusion = evaluate(&mut [Subject::new(&host, &answers, 0)]).remove(0);
    let result = conclusion.results.into_iter().find(|result| result.check == "network.pfc").unwrap();
    let from: Vec<&str> = result.evidence.iter().map(|evidence| evidence.from.as_str()).collect();
    let asked = |net: &str| format!("mlnx_qos -i {net} (or dcb pfc show dev {net})");
    assert_eq!(from, [asked("rdma0"), asked("rdma1"), "expected".to_owned()]);
}

/// Output of the probes on a real host: a container with one H100 of a board (driver 580.159.04, CUDA 13.0)
/// and no RDMA device. Serial number, UUID and name are replaced.
#[test]
fn a_recorded_host() {
    let mut site = healthy();
    for (name, text) in [
        ("driver", include_str!("../../../tests/cases/probes/h100-x1/driver.txt")),
        ("driver_upkeep", include_str!("../../../tests/cases/probes/h100-x1/driver_upkeep.txt")),
        ("fabric", include_str!("../../../tests/cases/probes/h100-x1/fabric.txt")),
        ("firewall", include_str!("../../../tests/cases/probes/h100-x1/firewall.txt")),
        ("log", include_str!("../../../tests/cases/probes/h100-x1/log.txt")),
        ("login", include_str!("../../../tests/cases/probes/h100-x1/login.txt")),
        ("nvidia", include_str!("../../../tests/cases/probes/h100-x1/nvidia.txt")),
        ("rdma", include_str!("../../../tests/cases/probes/h100-x1/rdma.txt")),
        ("software", include_str!("../../../tests/cases/probes/h100-x1/software.txt")),
        ("system", include_str!("../../../tests/cases/probes/h100-x1/system.txt")),
        // Nobody asked it for its runtimes then.
        ("containers", "\n\u{1e}ask containers\n\n\u{1e}end 0\n"),
    ] {
        site.probes.insert(name, text.to_owned());
    }
    let gpu =
        json!({ "address": "0000:00:06.0", "vendor": "10de", "device": "2330", "model": "H100 80GB HBM3" });
    let site = site
        .fact("pci", json!({ "gpus": [gpu], "nvswitches": [], "nics": [] }))
        .fact("virtualization", json!({ "kind": "docker", "container": true }))
        .expect(json!({}));
    // It has no modinfo, and its name is a loopback address.
    assert_eq!(site.findings(None), ["unknown driver.coherence", "fail system.own_name"]);
    let results = site.results(None);
    for check in
        ["gpu.count", "gpu.memory", "gpu.ecc", "gpu.pcie_width", "driver.cuda", "software.nccl_copies"]
    {
        assert_eq!(results[check].0, Pass, "{check}: {}", results[check].1);
    }
    assert_eq!(results["gpu.nvlink"].0, Skip);
}

#[test]
fn two_findings_of_one_cause_name_it() {
    // Both versions of the library's complaint, and all that cannot be asked.
    let mut site = healthy();
    let text = "Failed to initialize NVML: Driver/library version mismatch\nNVML library version: 580.167";
    site.probes.insert("nvidia", section("nvidia-smi -q -x", text, "18"));
    let results = site.results(None);
    assert_eq!(results["driver.coherence"].0, Fail);
    assert_eq!(results["gpu.answers"].0, Fail);
    assert_eq!(results["gpu.ecc"].0, Unknown);
    let (host, answers) = (host(), site.answers());
    let results = evaluate(&mut [Subject::new(&host, &answers, 0)]).remove(0).results;
    let because = |id: &str| results.iter().find(|result| result.check == id).unwrap().because.clone();
    assert_eq!((because("gpu.ecc").as_deref(), because("gpu.answers")), (Some("gpu.answers"), None));
}

#[test]
fn containers_are_not_blamed_for_the_machine_around_them() {
    let site = healthy()
        .fact("virtualization", json!({ "kind": "docker", "container": true }))
        .with("login", "memlock=unlimited", "memlock=64")
        .with("system", ": Normal", ": Not synchronised");
    assert_eq!(site.findings(None), Vec::<String>::new());
    let declared = site.expect(json!({ "system": { "memlock": "unlimited" } }));
    assert_eq!(declared.findings(None), ["fail system.memlock"]);
}

/// Every `every`th number of a text replaced.
fn with_numbers(text: &str, number: &str, every: usize) -> String {
    let runs = text.split_inclusive(|c: char| !c.is_ascii_digit()).enumerate();
    runs.map(|(index, run)| {
        let rest = run.trim_start_matches(|c: char| c.is_ascii_digit());
        let replaced = rest.len() < run.len() && index.is_multiple_of(every);
        if replaced { format!("{number}{rest}") } else { run.to_owned() }
    })
    .collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    /// Whatever probes print, checks come to a result, and no check passes on nothing.
    #[test]
    fn no_output_panics(noise in "(\n\u{1e}(ask|end) )?[ -~\n\t\u{1e}]{0,400}", cut in 0_usize..6000, seed in 0_usize..8) {
        let mut site = healthy();
        for (index, text) in site.probes.values_mut().enumerate() {
            let at = (0..=cut.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap();
            match (index + seed) % 4 {
                0 => text.truncate(at),
                1 => text.insert_str(at, &noise),
                2 => *text = noise.clone(),
                _ => {}
            }
        }
        let results = site.results(None);
        prop_assert_eq!(results.is_empty(), false);
        for name in ["log", "rdma", "system", "firewall", "fabric", "driver", "driver_upkeep", "nvidia", "login"] {
            site.probes.insert(name, noise.clone());
        }
        drop(site.results(None));
    }

    /// Whatever numbers hosts tell, checks come to a result.
    #[test]
    fn no_number_panics(
        number in "0|-1|33|255|65536|4294967295|9223372036854775807|18446744073709551615|9{20}|1e400|NaN|漢|[0-9]{1,20}",
        every in 1_usize..9,
        probe in 0_usize..9,
    ) {
        let mut site = healthy();
        for text in site.probes.values_mut().skip(probe % 8).take(if probe == 8 { 9 } else { 1 }) {
            *text = with_numbers(text, &number, every);
        }
        for value in site.facts.values_mut() {
            let text = with_numbers(&value.to_string(), &number, every);
            *value = serde_json::from_str(&text).unwrap_or(value.clone());
        }
        drop(site.results(None));
        drop(fleet::compared(&[("gpu0", site.clone()), ("gpu1", healthy()), ("gpu2", site)]));
    }
}

/// Checks that the job's view is judged by the checks of its host, and that a problem of both is reported for
/// the host.
#[test]
fn a_job_is_held_against_its_host() {
    let down = |site: Site| site.with("nvidia", "<current_ecc>Enabled", "<current_ecc>Disabled");
    let of = |host: Site, job: Site| {
        let (host_answers, job_answers) = (host.answers(), job.answers());
        let inventory = Host { nics: host.nics.clone(), ..super::tests::host() };
        let mut view = crate::checks::JobView::new("srun".to_owned(), Ok(&host_answers), Ok(&job_answers));
        view.login = Ok(crate::facts::view::View::default());
        view.view = Ok(crate::facts::view::View::default());
        let mut subject = Subject::new(&inventory, &host_answers, 0);
        subject.job = Some(&view);
        let results = evaluate(&mut [subject]).remove(0).results;
        results.into_iter().find(|result| result.check == "job.checks").unwrap()
    };
    let found = of(healthy(), down(healthy()));
    assert_eq!(found.status, Fail, "{found:?}");
    assert!(found.message.contains("gpu.ecc"), "{found:?}");
    for (host, job) in [(healthy(), healthy()), (down(healthy()), down(healthy()))] {
        assert_eq!(of(host, job).status, Pass);
    }
}
