//! Hosts as probes show them, and what the checks make of them.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use serde_json::{Value as Json, json};

use super::{Baseline, Subject, TABLE, evaluate};
use crate::events::CheckStatus::{self, Fail, Pass, Skip, Unknown, Warn};
use crate::facts::{BaseQuery, Facts};
use crate::inventory::Host;

const SMI: &str = include_str!("../lab/profiles/recorded/h200-x2/nvidia-smi-q-x.xml");
const NVLINK: &str = include_str!("../lab/profiles/recorded/h200-x2/nvidia-smi-nvlink-s.txt");
/// What `nvidia-smi topo -m` prints for two GPUs with a card each.
const TOPO: &str = "\tGPU0\tGPU1\tNIC0\tNIC1\tCPU Affinity\tNUMA Affinity\nGPU0\t X \tNV18\tPIX\tSYS\t0-47\t0\nGPU1\tNV18\t X \tSYS\tPIX\t48-95\t1\nNIC0\tPIX\tSYS\t X \tSYS\nNIC1\tSYS\tPIX\tSYS\t X \n\nNIC Legend:\n\n  NIC0: mlx5_0\n  NIC1: mlx5_1\n";

/// What a probe prints for a command.
fn section(command: &str, output: &str, status: &str) -> String {
    format!("\n\u{1e}ask {command}\n{output}\n\u{1e}end {status}\n")
}

/// A text for each of two devices.
fn both(text: impl Fn(u32) -> String) -> String {
    text(0) + &text(1)
}

/// A host: what each probe printed, and its facts.
#[derive(Clone)]
pub(super) struct Site {
    pub(super) probes: BTreeMap<&'static str, String>,
    pub(super) facts: BTreeMap<&'static str, Json>,
    pub(super) expect: Json,
    nics: Json,
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
                + &section("sinfo -N -h -o %N %T %G", "gpu0 idle gpu:h200:2", "0"),
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
                + &section(
                    "ldd /opt/nccl-tests/build/all_reduce_perf",
                    "\tlibmpi.so.40 => /opt/openmpi/lib/libmpi.so.40 (0x1)\n\tlibnccl.so.2 => /usr/local/nccl/lib/libnccl.so.2 (0x2)\nuser=ubuntu\nfile=libnccl.so.2 /srv/nccl/lib/libnccl.so.2.27.7",
                    "0",
                ),
        ),
        ("next_boot", include_str!("../../tests/cases/probes/next_boot/whole.txt").to_owned()),
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
    Site { probes, facts, expect: json!({ "gpu": { "nvlinks": 18 } }), nics: Json::Null }
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

/// One RDMA device sends over both links of a bond: the second has no device of its own.
#[test]
fn all_links_of_a_bond_are_looked_at() {
    let mut site = bonded("up").expect(json!({ "network": { "pfc": [3], "ecn": [3] } }));
    site.probes.entry("rdma").and_modify(|text| {
        let (start, end) = (text.find("device=mlx5_1").unwrap(), text.find("net=rdma0").unwrap());
        text.replace_range(start..end, "");
    });
    let of = |site: &Site, check: &str| site.results(None).remove(check).unwrap();
    let last = |text: &mut String, old: &str, new: &str| {
        let at = text.rfind(old).unwrap();
        text.replace_range(at..at + old.len(), new);
    };
    assert_eq!((of(&site, "network.pfc").0, of(&site, "network.ecn").0), (Pass, Pass));
    site.probes.entry("fabric").and_modify(|text| last(text, "0   0   0   1", "0   0   0   0"));
    site.probes.entry("rdma").and_modify(|text| last(text, "ecn.3=1", "ecn.3=0"));
    assert_eq!(of(&site, "network.pfc"), (Fail, "rdma1: no priority, expected priority 3".to_owned()));
    assert_eq!(of(&site, "network.ecn"), (Fail, "rdma1: off for priority 3".to_owned()));
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
        self.expect = value;
        self
    }

    pub(super) fn answers(&self) -> Facts {
        let mut answers = Facts::default();
        for (name, value) in &self.facts {
            answers.put(BaseQuery(name), value.clone());
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
    fn results(&self, baseline: Option<&Baseline>) -> BTreeMap<String, (CheckStatus, String)> {
        let answers = self.answers();
        let host = Host { expect: self.expect.clone(), nics: self.nics.clone(), ..host() };
        let mut subject = Subject::new(&host, &answers, 0).unwrap();
        subject.baseline = baseline;
        let conclusion = evaluate(&mut [subject]).remove(0);
        for result in &conclusion.results {
            assert_eq!(result.status.is_finding(), !result.evidence.is_empty(), "{result:?}");
            let hinted = matches!(result.status, Fail | Warn);
            assert_eq!(hinted, result.hint.is_some(), "{result:?}");
        }
        conclusion.results.into_iter().map(|result| (result.check, (result.status, result.message))).collect()
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
        let mut subject = Subject::new(&host, &answers, 0).unwrap();
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
        let mut subject = [Subject::new(&host, &answers, 0).unwrap()];
        let conclusion = evaluate(&mut subject).remove(0);
        assert_eq!(conclusion.verified, verified, "{:?}", conclusion.results);
    }
}

#[test]
fn one_fault_is_one_finding() {
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
        ("warn gpu.xid", healthy().with("log", "ask dmesg\n", "ask dmesg\nNVRM: Xid (0000:07:00): 14, Channel 00000001\n")),
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
        ("fail system.mce", healthy().with("log", "ask dmesg\n", "ask dmesg\nmce: [Hardware Error]: Machine check events logged\n")),
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
        ("warn software.perftest", healthy().expect(json!({ "software": { "perftest_cuda": true } }))),
        ("fail slurm.gres", healthy().with("system", "gpu:h200:2", "gpu:h200:1")),
        ("fail slurm.memlock", healthy().with("system", "slurmd_memlock=unlimited", "slurmd_memlock=8388608")),
        ("warn slurm.node", healthy().with("system", "idle", "drained")),
    ];
    for (wanted, site) in cases {
        assert_eq!(site.findings(None), [wanted]);
    }
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

/// A function through which the fabric manager reaches the switches of NVLink is no card of the host.
#[test]
fn functions_that_manage_switches_are_no_cards() {
    let mut site = with_cards(&[("MT4129", "1: DOWN", "2.5 Gb/sec (1X SDR)")]);
    let findings = site.findings(None);
    assert!(findings.iter().any(|finding| finding.contains("rdma.")), "{findings:?}");
    site.probes.entry("rdma").and_modify(|text| {
        *text = text.replace("hca_type=MT4129\n", "hca_type=MT4129\nmanages_switch=1\n");
    });
    assert_eq!(site.findings(None), [""; 0]);
}

/// The two GPUs of a healthy host as boards of another kind, which `nvidia-smi` describes with less; the names
/// and forms are those of recorded ones, the numbers are made up.
fn boards(name: &str, edits: &[(&str, &str)]) -> Site {
    let name = format!("<product_name>{name}<");
    let mut site = healthy().expect(json!({})).with("nvidia", "<product_name>NVIDIA H200<", &name);
    for (old, new) in [("<state>Completed<", "<state>N/A<"), ("<status>Success<", "<status>N/A<")] {
        site.probes.entry("nvidia").and_modify(|text| *text = text.replace(old, new));
    }
    edits.iter().fold(site, |site, (old, new)| site.with("nvidia", old, new))
}

/// Recorded boards that were told to be at fault and are not.
#[test]
fn boards_of_other_kinds_are_well() {
    let whole = |site: &Site, begin: &str, end: &str| -> String {
        let text = &site.probes["nvidia"];
        let at = text.find(begin).unwrap();
        let length = text[at..].find(end).unwrap() + end.len();
        text[at..at + length].to_owned()
    };
    let of = |site: Site, check: &str| site.results(None).remove(check).unwrap();
    let counters = whole(&healthy(), "<volatile>", "</aggregate>");
    let zeros = |text: &str| text.replace(">0<", ">N/A<");
    // A board without error correction: everything about it is N/A.
    let no_ecc = [
        ("<current_ecc>Enabled", "<current_ecc>N/A"),
        ("<pending_ecc>Enabled", "<pending_ecc>N/A"),
        (counters.as_str(), &zeros(&counters)),
    ];
    let text = "these GPUs have no error correction";
    assert_eq!(of(boards("NVIDIA GeForce RTX 3080", &no_ecc), "gpu.ecc_errors"), (Skip, text.to_owned()));
    assert_eq!(of(boards("NVIDIA GeForce RTX 3080", &no_ecc), "gpu.ecc").0, Skip);
    // One whose model has it is not excused.
    assert_eq!(of(boards("NVIDIA H200", &no_ecc), "gpu.ecc_errors").0, Unknown);
    // Pascal and Volta count bits.
    let old = |double: &str| {
        format!(
            "<volatile><single_bit><device_memory>2</device_memory><total>2</total></single_bit><double_bit><device_memory>{double}</device_memory><total>{double}</total></double_bit></volatile><aggregate></aggregate>"
        )
    };
    let pascal = |double| boards("Tesla P100-PCIE-16GB", &[(counters.as_str(), &old(double))]);
    assert_eq!(of(pascal("0"), "gpu.ecc_errors"), (Pass, "none".to_owned()));
    assert_eq!(of(pascal("3"), "gpu.ecc_errors").0, Fail);
    // In multi-instance mode the instances count, and rows are not shown.
    let rows = whole(&healthy(), "<remapped_rows>", "</remapped_rows>");
    let instance = |count: &str| {
        format!(
            "<mig_devices><mig_device><ecc_error_count><volatile_count><sram_uncorrectable>{count}</sram_uncorrectable></volatile_count></ecc_error_count></mig_device></mig_devices>"
        )
    };
    let none = whole(&healthy(), "<mig_devices>", "</mig_devices>");
    let split = |count: &str| {
        let edits = [
            ("<current_mig>Disabled", "<current_mig>Enabled"),
            (none.as_str(), &instance(count)),
            (counters.as_str(), &zeros(&counters)),
            (rows.as_str(), "<remapped_rows>N/A</remapped_rows>"),
        ];
        boards("NVIDIA A100-SXM4-40GB", &edits)
    };
    assert_eq!(of(split("0"), "gpu.ecc_errors"), (Pass, "none".to_owned()));
    assert_eq!(of(split("1"), "gpu.ecc_errors").0, Fail);
    assert_eq!(of(split("0"), "gpu.row_remap").0, Skip);
    // Workstation boards are delivered with it off; two of them are still alike.
    let off = [
        ("<current_ecc>Enabled", "<current_ecc>Disabled"),
        ("<pending_ecc>Enabled", "<pending_ecc>Disabled"),
    ];
    assert_eq!(of(boards("NVIDIA RTX A6000", &off), "gpu.ecc").0, Skip);
    assert_eq!(
        of(boards("NVIDIA RTX A6000", &off).expect(json!({ "gpu": { "ecc": true } })), "gpu.ecc").0,
        Fail
    );
    assert_eq!(of(boards("NVIDIA A40", &off), "gpu.ecc").0, Fail);
    let mut mixed = boards("NVIDIA RTX A6000", &[]);
    let text = mixed.probes["nvidia"].replacen(off[0].0, off[0].1, 1);
    mixed.probes.insert("nvidia", text);
    assert_eq!(of(mixed, "gpu.ecc").0, Fail);
}

#[test]
fn lanes_that_a_cloud_gives() {
    let half = ("<current_link_width>16x", "<current_link_width>8x");
    let bare = ("<virtualization_mode>Pass-Through", "<virtualization_mode>None");
    let of = |site: Site| site.results(None).remove("gpu.pcie_width").unwrap();
    for name in ["NVIDIA A10G", "Tesla T4", "NVIDIA L40S"] {
        let seen = of(boards(name, &[half]));
        assert_eq!(seen, (Pass, "x8 of x16, as clouds give this model".to_owned()), "{name}");
        assert_eq!(of(boards(name, &[half, bare])).0, Fail, "{name}");
        assert_eq!(of(boards(name, &[(half.0, "<current_link_width>4x")])).0, Fail, "{name}");
    }
    assert_eq!(of(boards("NVIDIA A100 80GB PCIe", &[half])).0, Fail);
    let declared = |width: u32| json!({ "gpu": { "pcie_width": width } });
    assert_eq!(of(boards("NVIDIA L4", &[half]).expect(declared(8))).0, Pass);
    assert_eq!(of(boards("NVIDIA L40S", &[half]).expect(declared(16))).0, Fail);
}

/// A display that only holds a GPU open leaves it at rest, and a GPU at rest lowers its link: nvidia-smi(1) says so of
/// the current generation.
#[test]
fn a_link_that_rests_is_not_slow() {
    let slow = ("<current_link_gen>5", "<current_link_gen>1");
    let held = (
        "<processes>",
        "<processes><process_info><pid>725</pid><type>G</type><process_name>/usr/lib/xorg/Xorg</process_name></process_info>",
    );
    let works = ("<clocks_event_reason_gpu_idle>Active", "<clocks_event_reason_gpu_idle>Not Active");
    let of = |name: &str, edits: &[(&str, &str)]| {
        boards(name, edits).results(None).remove("gpu.pcie_generation").unwrap()
    };
    // What holds the clocks of one at rest says nothing of how it is under load.
    let held_back = |edits: &[(&str, &str)]| boards("NVIDIA A10G", edits).results(None)["gpu.throttle"].0;
    assert_eq!((held_back(&[held]), held_back(&[held, works])), (Skip, Pass));
    let silent = |name: &str| {
        let mut site = boards(name, &[held, works]);
        site.probes.entry("nvidia").and_modify(|text| *text = text.replace("clocks_event_reason", "other"));
        site.results(None)["gpu.throttle"].0
    };
    assert_eq!((silent("NVIDIA A10G"), silent("NVIDIA H200")), (Skip, Unknown));
    let rests = (Skip, "the GPUs are idle and save power".to_owned());
    assert_eq!(of("NVIDIA A10G", &[slow]), rests);
    assert_eq!(of("NVIDIA A10G", &[slow, held]), rests);
    assert_eq!(of("NVIDIA A10G", &[slow, held, works]).0, Warn);
    // Boards of SXM keep theirs up.
    assert_eq!(of("NVIDIA H200", &[slow, held]).0, Warn);
}

/// Older drivers do not say whether a part waits for a repair; what nobody told is no pass.
#[test]
fn repairs_that_the_driver_does_not_tell() {
    let names = [("channel_repair_pending", "a"), ("tpc_repair_pending", "b"), ("unrepairable_memory", "c")];
    let mut site = healthy();
    for (old, new) in names {
        site.probes.entry("nvidia").and_modify(|text| *text = text.replace(old, new));
    }
    let seen = site.results(None).remove("gpu.repair").unwrap();
    assert_eq!(seen, (Skip, "these GPUs do not report repairs".to_owned()));
}

#[test]
fn boards_without_nvlink_print_nothing_of_it() {
    let of = |name: &str, edits: &[(&str, &str)]| {
        let mut site = boards(name, edits);
        site.probes.entry("nvidia").and_modify(|text| *text = text.replace(NVLINK, ""));
        site.results(None).remove("gpu.nvlink").unwrap()
    };
    assert_eq!(of("NVIDIA A10G", &[]), (Skip, "these GPUs report no NVLink".to_owned()));
    // Those that have it are not excused.
    assert_eq!(of("NVIDIA H200", &[]).0, Unknown);
    assert_eq!(of("Tesla V100-SXM2-32GB", &[]).0, Unknown);
    assert_eq!(of("NVIDIA B200", &[("<state>N/A<", "<state>Completed<")]).0, Unknown);
}

/// A GPU that the driver lost keeps its place in the list of nvidia-smi, and nothing else of it may be known.
#[test]
fn a_gpu_that_the_driver_lost() {
    let memory = ("<total>143771 MiB</total>", "<total>GPU is lost</total>");
    let mut site = boards("NVIDIA H200", &[]);
    let at = site.probes["nvidia"].rfind("<gpu id").unwrap();
    site.probes.entry("nvidia").and_modify(|text| {
        let second = text.split_off(at);
        text.push_str(&second.replace(memory.0, memory.1));
    });
    let results = site.results(None);
    assert_eq!(results["gpu.answers"], (Fail, "GPU1: the driver lost it".to_owned()));
    assert_eq!(results["gpu.memory"].0, Unknown);
    // A fabric that a lost GPU would tell of is no finding of its own.
    let state = ("<state>N/A<", "<state>GPU is lost<");
    let results = boards("NVIDIA B200", &[state, memory]).results(None);
    assert_eq!((results["gpu.answers"].0, results["gpu.fabric"].0), (Fail, Skip));
}

/// All links of all GPUs are down: of a model that is not in the table as well.
#[test]
fn a_board_whose_links_are_all_down() {
    let dark = |second: &str| {
        format!(
            "GPU 0: X (UUID: Y)\nNVML: Unable to retrieve NVLink information as all links are inActive\nGPU 1: X (UUID: Z)\n{second}"
        )
    };
    let none = dark("NVML: Unable to retrieve NVLink information as all links are inActive\n");
    let one = dark("\t Link 0: 50 GB/s\n");
    let of = |name: &str, state: &str, links: &str, expect: Json| {
        let mut site = boards(name, &[("<state>N/A<", state)]).expect(expect);
        site.probes.entry("nvidia").and_modify(|text| *text = text.replace(NVLINK, links));
        site.results(None).remove("gpu.nvlink").unwrap()
    };
    let ready = "<state>Completed<";
    let both = (Fail, "GPU[0-1]: no link is up".to_owned());
    assert_eq!(of("NVIDIA B200", ready, &none, json!({})), both);
    assert_eq!(of("Tesla V100-SXM2-32GB", "<state>N/A<", &none, json!({})), both);
    assert_eq!(of("NVIDIA B200", ready, &one, json!({})), (Fail, "GPU0: no link is up".to_owned()));
    // The number of the line counts, not its place.
    let (_, second) = none.split_once("GPU 1").unwrap();
    let late = (Fail, "GPU1: 0 of 18 links up".to_owned());
    assert_eq!(of("NVIDIA H200", ready, &format!("GPU 1{second}"), json!({})), late);
    // Boards without links, and those of which none is expected.
    assert_eq!(of("NVIDIA L40S", "<state>N/A<", &none, json!({})).0, Skip);
    assert_eq!(of("NVIDIA B200", ready, &none, json!({ "gpu": { "nvlinks": 0 } })).0, Pass);
}

/// In multi-instance mode nvidia-smi refuses the question: what nobody saw is not up.
#[test]
fn instances_use_no_nvlink() {
    let refused = "GPU 0: X (UUID: Y)\nNvlink queries are not supported for Devices in MIG mode\nGPU 1: X (UUID: Z)\nNvlink queries are not supported for Devices in MIG mode\n";
    let of = |split: usize| {
        let mut site = boards("NVIDIA H200", &[]);
        site.probes.entry("nvidia").and_modify(|text| {
            *text = text.replace(NVLINK, refused).replacen(
                "<current_mig>Disabled",
                "<current_mig>Enabled",
                split,
            );
        });
        site.results(None).remove("gpu.nvlink").unwrap()
    };
    assert_eq!(of(2), (Skip, "GPUs in multi-instance mode do not use NVLink".to_owned()));
    // The one that is whole is not excused.
    assert_eq!(of(1), (Fail, "GPU1: 0 of 18 links up".to_owned()));
}

#[test]
fn what_cards_say_of_their_cables() {
    let of = |lines: &str, expect: Json| {
        let log = format!("ask dmesg\n{}", lines.replace("mlx5_core ", "[ 4711.1] mlx5_core "));
        healthy().expect(expect).with("log", "ask dmesg\n", &log).results(None).remove("rdma.log").unwrap()
    };
    let unplugged = "mlx5_core 0000:01:00.0: Port module event: module 0, Cable unplugged\n";
    let plugged = "mlx5_core 0000:01:00.0: Port module event: module 0, Cable plugged\n";
    assert_eq!(of(unplugged, json!({})), (Warn, "0000:01:00.0: Cable unplugged".to_owned()));
    assert_eq!(of(&format!("{unplugged}{plugged}"), json!({})).0, Pass);
    assert_eq!(of(unplugged, json!({ "rdma": { "ignore": ["mlx5_1"] } })).0, Pass);
    // A second port that never had a cable, and one that lost it.
    let second = unplugged.replace("01:00.0", "01:00.1");
    assert_eq!(of(&second, json!({})).0, Pass);
    let lost = plugged.replace("01:00.0", "01:00.1") + &second;
    assert_eq!(of(&lost, json!({})).0, Warn);
    let hot = "mlx5_core 0000:01:00.0: temp_warn:167:(pid 0): High temperature on sensors with bit set 0 1\n";
    assert_eq!(of(hot, json!({})), (Warn, "0000:01:00.0: it is hot".to_owned()));
}

#[test]
fn a_slot_that_gives_enough_power_again() {
    let few = "mlx5_core 0000:01:00.0: mlx5_pcie_event:299:(pid 412): Detected insufficient power on the PCIe slot (27W).\n";
    let enough = "mlx5_core 0000:01:00.0: mlx5_pcie_event:304:(pid 412): PCIe slot advertised sufficient power (75W).\n";
    let site = healthy().with("log", "ask dmesg\n", &format!("ask dmesg\n{few}{enough}"));
    assert_eq!(site.results(None)["rdma.slot_power"].0, Pass);
}

#[test]
fn a_gpu_that_fell_off_the_bus_is_told_once() {
    let lines = "NVRM: Xid (PCI:0000:8a:00): 79, pid=7, GPU has fallen off the bus.\nNVRM: GPU 0000:8a:00.0: GPU has fallen off the bus.\n";
    let site = healthy().with("log", "ask dmesg\n", &format!("ask dmesg\n{lines}"));
    assert_eq!(site.results(None)["gpu.xid"], (Fail, "0000:8a:00: Xid 79".to_owned()));
}

/// What a check says of a host, where it is told from something that looks like it.
#[test]
fn what_is_told_apart() {
    let active = "4: ACTIVE";
    let (fast, usual, slow) = ("800 Gb/sec (4X XDR)", "400 Gb/sec (4X NDR)", "200 Gb/sec (4X HDR)");
    let no_gpu = || healthy().fact("pci", json!({ "gpus": [], "nvswitches": [], "nics": [] }));
    let logged = |site: Site| {
        let lines = "NVRM: Xid (PCI:0000:8a:00): 79, pid=7, GPU has fallen off the bus.\nnvidia-nvswitch3: SXid (PCI:0000:c1:00.0): 20034, Fatal, Link 30 LTSSM Fault Up\n";
        site.with("log", "ask dmesg\n", &format!("ask dmesg\n{lines}"))
    };
    let in_container =
        |site: Site| site.fact("virtualization", json!({ "kind": "docker", "container": true }));
    let not_listed =
        || healthy().with("driver_upkeep", "nvidia/580.159.04, 6.8.0-87-generic, x86_64: installed", "");
    let elsewhere =
        |site: Site| site.with("driver", "updates/dkms/nvidia.ko\nversion", "extra/nvidia.ko\nversion");
    let no_headers =
        |site: Site| site.fact("kernel", json!({ "release": "6.8.0-87-generic", "headers": false }));
    let firewall = |tell: &str| {
        let mut site = healthy();
        site.probes.insert("firewall", section("firewall", tell, "0"));
        site
    };
    let proprietary = |site: Site| {
        let peermem = "ask peermem\npeermem=1\npeermem_version=580.159.04\nclient=580.159.04\n";
        site.with("driver", "Open Kernel Module for x86_64", "x86_64 Kernel Module").with(
            "driver_upkeep",
            "ask peermem\n",
            peermem,
        )
    };
    let limit = |now: &str| {
        healthy().with("nvidia", "<current_power_limit>700.00 W", &format!("<current_power_limit>{now} W"))
    };
    let link = |name: &str, mtu: u32| json!({ "name": name, "mtu": mtu, "state": "up", "addresses": [] });
    let nftables = |rule: &str| {
        let rules = format!(
            "table inet filter {{\n\tchain input {{\n\t\ttype filter hook input priority 0; policy drop;\n\t\t{rule}\n\t}}\n}}"
        );
        let mut site = healthy();
        site.probes
            .insert("firewall", section("firewall", "", "0") + &section("nft list ruleset", &rules, "0"));
        site
    };
    let renamed = |site: Site| site.with("rdma", "device=mlx5_", "device=roce");
    let ruled = |tell: &str, rules: &str| {
        let mut site = healthy();
        let asked = section("firewall", tell, "0") + &section("nft list ruleset", rules, "0");
        site.probes.insert("firewall", asked);
        site
    };
    let closed = |last: &str| {
        ruled(
            "",
            &format!(
                "table inet filter {{\n\tchain input {{\n\t\ttype filter hook input priority filter; policy accept;\n\t\tct state established accept\n\t\t{last}\n\tchain forward {{\n\t\tdrop"
            ),
        )
    };
    let tabled = |rules: &str| {
        let listed = "table ip filter {\n\tchain INPUT {\n\t\ttype filter hook input priority filter; policy accept;\n\t\tip saddr 10.0.0.0/16 counter packets 0 bytes 0 accept\n\t\tcounter packets 0 bytes 0 reject with icmp host-prohibited";
        let mut site = ruled("", listed);
        let asked = section("iptables -S INPUT", rules, "0");
        site.probes.entry("firewall").and_modify(|text| *text += &asked);
        site
    };
    let firewalld = |zone: &str| {
        ruled(
            "backend firewalld\nnow \nboot ",
            &format!(
                "table inet firewalld {{\n\tchain filter_INPUT {{\n\t\ttype filter hook input priority filter + 10; policy accept;\n\t\treject with icmpx admin-prohibited\n\tchain filter_INPUT_ZONES {{\n\t\tiifname \"eth9\" goto filter_IN_public\n\t\tgoto filter_IN_{zone}"
            ),
        )
    };
    let wanted_limit = |site: Site| site.expect(json!({ "gpu": { "nvlinks": 18, "power_limit": 700 } }));
    let nccl = |version: &str| {
        healthy().expect(json!({ "software": { "nccl": version, "nccl_prefix": "/usr/local/nccl" } }))
    };
    let state =
        |output: &str, status: &str| section("systemctl is-active nvidia-fabricmanager", output, status);
    let no_systemctl = healthy().with("driver_upkeep", &state("active", "0"), &state("", "missing"));
    // A model that is in no table.
    let other_model = |memory: &str, other: &str| {
        let mut site = healthy().with("nvidia", "NVIDIA H200", "NVIDIA X1");
        let text = site.probes.get_mut("nvidia").unwrap();
        *text = text.replacen(memory, other, 1);
        site
    };
    let cases = [
        ("driver.flavour", Pass, "open", healthy().expect(json!({ "driver": { "open": true } }))),
        (
            "driver.flavour",
            Fail,
            "open, expected proprietary",
            healthy().expect(json!({ "driver": { "open": false } })),
        ),
        // Either the list of DKMS or the place of the module says who builds it.
        (
            "driver.headers",
            Warn,
            "6.8.0-87-generic: no headers of the running kernel",
            no_headers(not_listed()),
        ),
        (
            "driver.headers",
            Warn,
            "6.8.0-87-generic: no headers of the running kernel",
            no_headers(elsewhere(healthy())),
        ),
        ("driver.headers", Skip, "DKMS does not build the driver", no_headers(elsewhere(not_listed()))),
        ("gpu.count", Skip, "no NVIDIA GPU", no_gpu().expect(json!({}))),
        (
            "gpu.count",
            Fail,
            "0000:00:06.0,0000:00:07.0: listed by the driver, gone from the PCI bus",
            no_gpu().expect(json!({ "gpu": { "count": 2 } })),
        ),
        ("gpu.xid", Skip, "no NVIDIA GPU", no_gpu().expect(json!({}))),
        ("gpu.xid", Fail, "0000:8a:00: Xid 79", logged(no_gpu().expect(json!({})))),
        ("gpu.nvswitch_errors", Fail, "0000:c1:00.0: SXid 20034", logged(no_gpu().expect(json!({})))),
        ("gpu.xid", Skip, "no NVIDIA GPU", logged(in_container(no_gpu().expect(json!({}))))),
        ("gpu.power_limit", Pass, "700 W", wanted_limit(healthy())),
        ("gpu.power_limit", Pass, "700.5 W", wanted_limit(limit("700.50"))),
        ("gpu.power_limit", Warn, "GPU[0-1]: 699 W, expected 700 W", wanted_limit(limit("699.00"))),
        ("gpu.power_limit", Pass, "699.5 W", limit("699.50")),
        // Only ports of the same kind that are up are its like.
        (
            "rdma.rate",
            Pass,
            "400 Gb/sec (4X NDR), 800 Gb/sec (4X XDR)",
            with_cards(&[("X", active, fast), ("X", active, fast), ("X", active, fast)]),
        ),
        (
            "rdma.rate",
            Pass,
            usual,
            with_cards(&[("MT4129", "1: DOWN", fast); 3]),
        ),
        (
            "rdma.rate",
            Fail,
            "mlx5_2: 200 Gb/sec (4X HDR), the others of its kind have 400 Gb/sec (4X NDR)",
            with_cards(&[("MT4129", active, slow)]).with(
                "rdma",
                "\npci=0000:02",
                "\nboard_id=X\npci=0000:02",
            ),
        ),
        ("rdma.gdr_ready", Pass, "DMA-BUF", healthy()),
        // The open module of branches from 560 on offers DMA-BUF; older branches are installed without it.
        (
            "rdma.gdr_ready",
            Warn,
            "only through nvidia_peermem; the open kernel module of this driver offers DMA-BUF",
            proprietary(healthy()),
        ),
        (
            "rdma.gdr_ready",
            Pass,
            "nvidia_peermem, client nv_mem 580.159.04; no DMA-BUF, because the kernel module is the proprietary one",
            proprietary(healthy()).with("driver", "loaded=580.159.04", "loaded=535.183.06"),
        ),
        (
            "rdma.gdr_ready",
            Pass,
            "nvidia_peermem, client nv_mem 580.159.04; no DMA-BUF, because the kernel module is the proprietary one",
            proprietary(healthy()).with("nvidia", "<product_name>NVIDIA H200<", "<product_name>Tesla V100<"),
        ),
        (
            "rdma.rate",
            Fail,
            "mlx5_[0-1]: 400 Gb/sec (4X NDR), expected 800 Gb/s",
            healthy().expect(json!({ "rdma": { "rate_gbps": 800 } })),
        ),
        ("rdma.rate", Pass, usual, healthy().expect(json!({ "rdma": { "rate_gbps": 200 } }))),
        ("rdma.active_mtu", Pass, "4096", healthy().expect(json!({ "rdma": { "active_mtu": 4096 } }))),
        (
            "rdma.active_mtu",
            Warn,
            "mlx5_[0-1]: 4096, expected 1024",
            healthy().expect(json!({ "rdma": { "active_mtu": 1024 } })),
        ),
        // Another board of the same chip has other firmware.
        (
            "rdma.firmware",
            Pass,
            "1.0, 28.39.1002",
            with_cards(&[("MT4129", "1: DOWN", fast); 3]),
        ),
        (
            "network.mtu",
            Fail,
            "rdma2: 4200, the others of this host have 9000",
            healthy()
                .with(
                    "rdma",
                    "net=rdma0\n",
                    "device=mlx5_2\nfw_ver=1.0\nhca_type=X\npci=0000:02:00.0\ndriver=mlx5_core\nnetdev=rdma2\nport=1\nstate=4: ACTIVE\nrate=400 Gb/sec (4X NDR)\nlink_layer=Ethernet\nnet=rdma0\n",
                )
                .fact(
                    "network",
                    json!({ "links": [link("rdma0", 9000), link("rdma1", 9000), link("rdma2", 4200)] }),
                ),
        ),
        (
            "peermem.loaded",
            Pass,
            "580.159.04",
            healthy().with("driver_upkeep", "ask peermem\n", "ask peermem\npeermem=1\npeermem_version=580.159.04\n"),
        ),
        ("rdma.netns", Pass, "shared", healthy()),
        (
            "rdma.netns",
            Pass,
            "exclusive",
            healthy().with("fabric", "netns shared", "netns exclusive").with(
                "fabric",
                "arp_ignore=0",
                "arp_ignore=0\nib_core=options ib_core netns_mode=0",
            ),
        ),
        (
            "rdma.netns",
            Warn,
            "shared, although modprobe.d sets netns_mode=0, which takes effect at the next boot",
            healthy().with("fabric", "arp_ignore=0", "arp_ignore=0\nib_core=options ib_core netns_mode=0"),
        ),
        ("driver.fabric_manager", Unknown, "systemctl is not installed", no_systemctl),
        (
            "gpu.memory",
            Skip,
            "how much memory a NVIDIA X1 has is not known",
            other_model("143771", "80000").expect(json!({})),
        ),
        ("gpu.nvlink", Pass, "all links up", other_model("143771", "143771").expect(json!({}))),
        ("network.trust", Pass, "dscp", healthy()),
        // dcb has no word for it; the driver of OFED has.
        (
            "network.trust",
            Fail,
            "rdma1: pcp, expected dscp",
            healthy()
                .with("fabric", "mlnx_qos -i", "dcb pfc show dev")
                .with(
                    "fabric",
                    "Priority trust state: dscp\n\tenabled     0   0   0   1   0   0   0   0   \n",
                    "prio-pfc 0:off 1:off 2:off 3:on 4:off 5:off 6:off 7:off",
                )
                .with("fabric", "\u{1e}ask settings", &(section("trust", "rdma0=dscp\nrdma1=pcp", "0") + "\u{1e}ask settings"))
                .expect(json!({ "network": { "trust": "dscp" } })),
        ),
        (
            "system.nofile",
            Pass,
            "unlimited",
            healthy()
                .with("login", "nofile=1048576", "nofile=unlimited")
                .expect(json!({ "system": { "nofile": 65536 } })),
        ),
        ("software.nccl", Pass, "2.27.7 in /usr/local/nccl", nccl("2.27")),
        ("software.nccl", Fail, "NCCL 2.27.7 in /usr/local/nccl, expected 2.23", nccl("2.23")),
        ("system.firewall", Skip, "neither nft nor iptables is installed", firewall("")),
        ("system.firewall", Warn, "ufw: on: it drops what no rule allows", firewall("backend ufw")),
        // Its own chain accepts by its policy and rejects by its last rule.
        ("system.firewall", Warn, "firewalld: on: it rejects what the zones of the links do not allow", firewalld("public")),
        ("system.firewall", Pass, "firewalld lets in rdma0, rdma1", firewalld("trusted")),
        ("system.firewall", Warn, "nft: drops what its rules do not allow", closed("counter packets 1 bytes 60 reject with icmpx admin-prohibited")),
        ("system.firewall", Pass, "nothing is dropped", closed("tcp dport 22 reject")),
        // A zone of the site's own whose target is ACCEPT.
        ("system.firewall", Pass, "firewalld lets in rdma0, rdma1", firewalld("site\n\tchain filter_IN_site {\n\t\tjump filter_IN_site_log\n\t\taccept")),
        // The rules of iptables, as nft lists them.
        (
            "system.firewall",
            Pass,
            "iptables lets in 10.0.0.0/16",
            tabled("-P INPUT ACCEPT\n-A INPUT -s 10.0.0.0/16 -j ACCEPT\n-A INPUT -j REJECT --reject-with icmp-host-prohibited"),
        ),
        (
            "system.firewall",
            Warn,
            "iptables,nft: drops what its rules do not allow",
            tabled("-P INPUT ACCEPT\n-A INPUT -i lo -j ACCEPT\n-A INPUT -j REJECT --reject-with icmp-host-prohibited"),
        ),
        (
            "driver.dkms",
            Pass,
            "1 modules for 6.8.0-87-generic",
            healthy().with("driver_upkeep", "x86_64: installed", "x86_64: installed (Original modules exist)"),
        ),
        (
            "driver.upgrades",
            Pass,
            "unattended-upgrades leaves the nvidia packages alone",
            healthy().with("driver_upkeep", "Unattended-Upgrade \"0\";", "Unattended-Upgrade \"1\";\nline=Unattended-Upgrade::Package-Blacklist {\nline=  \"nvidia-\";\nline=};"),
        ),
        // The GPUs of GB200 hang on its processor.
        (
            "gpu.nic_affinity",
            Skip,
            "no card shares a PCIe switch with a GPU on this machine",
            healthy().with("nvidia", "PIX", "NODE"),
        ),
        // A card of the same chip for storage, of another board or on another network.
        ("rdma.rate", Pass, "200 Gb/sec (4X HDR), 400 Gb/sec (4X NDR)", with_cards(&[("MT4129", active, slow)]).with("rdma", "\npci=0000:02", "\nboard_id=Y\npci=0000:02")),
        // rdma-core's own names.
        ("pcie.max_read_request", Warn, "roce[0-1]: 512 bytes", renamed(healthy()).with("fabric", "MaxReadReq 4096", "MaxReadReq 512")),
        ("rdma.pcie_bandwidth", Pass, "none", renamed(healthy())),
        // The rails of this host are 10.0.0.1 and 10.0.1.1.
        (
            "system.firewall",
            Warn,
            "ufw: on: it drops what no rule allows",
            firewall("backend ufw\nnow 10.9.0.0/16\nboot 10.9.0.0/16"),
        ),
        (
            "system.firewall",
            Warn,
            "ufw: on: it drops what no rule allows",
            firewall("backend ufw\nnow 10.0.1.0/24\nboot 10.0.1.0/24"),
        ),
        (
            "system.firewall",
            Pass,
            "ufw lets in 10.0.0.0/16",
            firewall("backend ufw\nnow 10.0.0.0/16 10.9.0.0/16\nboot 10.0.0.0/16"),
        ),
        (
            "system.firewall",
            Warn,
            "10.0.0.0/16: let in until the next boot only; ufw: on: it drops what no rule allows",
            firewall("backend ufw\nnow 10.0.0.0/16"),
        ),
        ("system.firewall", Pass, "nftables lets in 10.0.0.0/16", nftables("ip saddr 10.0.0.0/16 accept")),
        ("system.firewall", Warn, "nft: drops what its rules do not allow", nftables("ct state established accept")),
    ];
    for (check, status, message, site) in cases {
        assert_eq!(site.results(None)[check], (status, message.to_owned()), "{check}");
    }
}

#[test]
fn a_finding_names_the_command_that_told() {
    let site = healthy().expect(json!({ "network": { "pfc": [5] } }));
    let (host, answers) = (Host { expect: site.expect.clone(), ..host() }, site.answers());
    let conclusion = evaluate(&mut [Subject::new(&host, &answers, 0).unwrap()]).remove(0);
    let result = conclusion.results.into_iter().find(|result| result.check == "network.pfc").unwrap();
    let from: Vec<&str> = result.evidence.iter().map(|evidence| evidence.from.as_str()).collect();
    let asked = |net: &str| format!("mlnx_qos -i {net} (or dcb pfc show dev {net})");
    assert_eq!(from, [asked("rdma0"), asked("rdma1"), "expected".to_owned()]);
}

/// What the probes printed on a real host: a container with one H100 of a board (driver 580.159.04, CUDA
/// 13.0) and no RDMA device. Serial number, UUID and name are replaced.
#[test]
fn a_recorded_host() {
    let mut site = healthy();
    for (name, text) in [
        ("driver", include_str!("../../tests/cases/probes/h100-x1/driver.txt")),
        ("driver_upkeep", include_str!("../../tests/cases/probes/h100-x1/driver_upkeep.txt")),
        ("fabric", include_str!("../../tests/cases/probes/h100-x1/fabric.txt")),
        ("firewall", include_str!("../../tests/cases/probes/h100-x1/firewall.txt")),
        ("log", include_str!("../../tests/cases/probes/h100-x1/log.txt")),
        ("login", include_str!("../../tests/cases/probes/h100-x1/login.txt")),
        ("nvidia", include_str!("../../tests/cases/probes/h100-x1/nvidia.txt")),
        ("rdma", include_str!("../../tests/cases/probes/h100-x1/rdma.txt")),
        ("software", include_str!("../../tests/cases/probes/h100-x1/software.txt")),
        ("system", include_str!("../../tests/cases/probes/h100-x1/system.txt")),
    ] {
        site.probes.insert(name, text.to_owned());
    }
    let gpu =
        json!({ "address": "0000:00:06.0", "vendor": "10de", "device": "2330", "model": "H100 80GB HBM3" });
    let site = site
        .fact("pci", json!({ "gpus": [gpu], "nvswitches": [], "nics": [] }))
        .fact("virtualization", json!({ "kind": "docker", "container": true }))
        .expect(Json::Null);
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
}

#[test]
fn cards_of_other_networks() {
    let mut site = healthy().with("fabric", "NCCL_IB_HCA==mlx5_0,mlx5_1", "NCCL_IB_HCA=mlx5");
    site.nics = json!([
        { "match": { "pci": "0000:00:00.0" }, "role": "compute" },
        { "match": { "netdev": "rdma1" }, "role": "storage" },
        { "match": { "netdev": "eno1" }, "role": "management" },
    ]);
    assert_eq!(site.findings(None), ["fail network.nics", "fail rdma.nccl_hca"]);
    let results = site.results(None);
    assert_eq!(results["rdma.nccl_hca"].1, "mlx5_1: selected, although it is for storage");
    site.nics = json!([{ "match": { "pci": "0000:00:00.0" }, "role": "compute" }]);
    let of = |site: &Site| site.results(None)["rdma.nccl_hca"].1.clone();
    assert_eq!(of(&site), "mlx5_1: selected, although `nics:` does not name it");
    assert_eq!(results["network.nics"].1, "netdev eno1: no such network device");
}

#[test]
fn ipoib_that_nobody_uses_is_down() {
    let link = |kind: &str| json!({ "links": [{ "name": "ibp1s0", "pci": "0000:00:00.0", "kind": kind, "state": "down", "addresses": [] }] });
    let mut site = healthy();
    site.nics = json!([{ "match": { "pci": "0000:00:00.0" }, "role": "compute" }]);
    let of = |kind| site.clone().fact("network", link(kind)).results(None)["network.nics"].0;
    assert_eq!((of("infiniband"), of("ether")), (Pass, Fail));
}

#[test]
fn a_bond_whose_members_have_their_link_is_well() {
    let results = bonded("up").results(None);
    assert_eq!(results["network.bond"], (Pass, "2 members of 1 bond".to_owned()));
    assert_eq!(bonded("going down").results(None)["network.bond"].1, "rdma1: going down in bond0");
    assert_eq!(healthy().results(None)["network.bond"].0, Skip);
}

#[test]
fn one_subnet_for_all_rails() {
    let links = json!({ "links": [
        { "name": "rdma0", "mtu": 9000, "state": "up", "addresses": ["10.0.0.1/16"] },
        { "name": "rdma1", "mtu": 9000, "state": "up", "addresses": ["10.0.1.1/16"] },
        { "name": "docker0", "state": "up", "addresses": ["10.0.1.1/32"] },
    ] });
    let site = healthy().fact("network", links);
    assert_eq!(site.findings(None), ["warn network.address_twice", "warn network.subnets"]);
    let site = site.with("fabric", "arp_ignore=0", "arp_ignore=1\narp_announce=2");
    assert_eq!(site.findings(None), ["warn network.address_twice"]);
}

#[test]
fn infiniband_needs_a_manager() {
    let site = healthy().with("rdma", "link_layer=Ethernet", "link_layer=InfiniBand");
    assert_eq!(site.findings(None), ["fail rdma.subnet"]);
    let site = site.with("rdma", "sm_lid=0x0", "sm_lid=0x1").with("rdma", "\nlid=0x0", "\nlid=0x2a");
    assert_eq!(site.findings(None), Vec::<String>::new());
    let site = site.with("rdma", "pkey=0xffff", "pkey=0x7fff");
    assert_eq!(site.findings(None), ["fail rdma.pkey"]);
}

#[test]
fn counters_are_held_against_the_last_verify() {
    let before = healthy();
    let answers = before.answers();
    let host = host();
    let subject = Subject::new(&host, &answers, 0).unwrap();
    let baseline = Baseline::of(&subject, "2026-11-20T08:00:00Z").unwrap();
    assert_eq!(before.results(None)["rdma.flaps"].0, Skip);
    assert_eq!(before.results(Some(&baseline))["rdma.flaps"].0, Pass);
    let later = before.clone().with("rdma", "link_downed=1", "link_downed=3");
    assert_eq!(later.findings(Some(&baseline)), ["fail rdma.flaps"]);
    assert_eq!(later.results(Some(&baseline))["rdma.flaps"].1, "mlx5_[0-1]: link_downed +2");
    let later = before.clone().with("rdma", "out_of_sequence=5", "out_of_sequence=6").with(
        "rdma",
        "rx_errors=0",
        "rx_errors=9",
    );
    assert_eq!(later.findings(Some(&baseline)), ["warn network.errors", "warn rdma.errors"]);
    let later = before.clone().with("rdma", "carrier_changes=2", "carrier_changes=4");
    assert_eq!(later.results(Some(&baseline))["rdma.flaps"].1, "rdma[0-1]: carrier_changes +2");
    // A counter of 8 bits stays at its highest number.
    let full = before.clone().with("rdma", "link_downed=1", "link_downed=255");
    let answers = full.answers();
    let since = Baseline::of(&Subject::new(&host, &answers, 0).unwrap(), "2026-11-20T08:00:00Z").unwrap();
    assert_eq!(full.results(Some(&since))["rdma.flaps"].0, Pass, "changes of the carrier tell");
    let full = full.with("rdma", "link_layer=Ethernet", "link_layer=InfiniBand");
    let (status, message) = &full.results(Some(&since))["rdma.flaps"];
    assert!(*status == Warn && message.contains("link_downed is full and cannot grow"), "{message}");
    // A reboot begins at nothing, and links come up once in it.
    let ids = json!({ "machine_id": "m", "product_uuid": "p", "boot_id": "another" });
    let rebooted = before
        .with("rdma", "link_downed=1", "link_downed=0")
        .with("rdma", "out_of_sequence=5", "out_of_sequence=0")
        .fact("ids", ids);
    assert_eq!(rebooted.findings(Some(&baseline)), Vec::<String>::new());
    let more = rebooted.clone().with("rdma", "carrier_changes=2", "carrier_changes=3");
    assert_eq!(more.results(Some(&baseline))["rdma.flaps"].1, "rdma[0-1]: carrier_changes +3");
    let more = rebooted.with("rdma", "link_downed=0", "link_downed=2");
    assert_eq!(more.results(Some(&baseline))["rdma.flaps"].1, "mlx5_[0-1]: link_downed +2");
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

/// Several hosts of one group, each with its name.
fn fleet(sites: &[(&str, Site)]) -> BTreeMap<String, Vec<(String, CheckStatus, String)>> {
    let hosts: Vec<(Host, Facts)> = sites
        .iter()
        .map(|(name, site)| {
            let id = |what: &str| format!("{what} of {name}");
            let ids = json!({ "machine_id": id("m"), "product_uuid": id("p"), "boot_id": "b" });
            let mut site = site.clone();
            site.facts.entry("hostname").and_modify(|own| *own = json!(*name));
            if site.facts["ids"]["machine_id"] == "m" {
                site.facts.insert("ids", ids);
            }
            // Two hosts with one address are none.
            if site.facts["network"] == healthy().facts["network"] {
                site.facts.insert("network", json!({ "links": [] }));
            }
            (Host { name: (*name).to_owned(), expect: site.expect.clone(), ..host() }, site.answers())
        })
        .collect();
    let mut subjects: Vec<Subject<'_>> =
        hosts.iter().map(|(host, answers)| Subject::new(host, answers, 0).unwrap()).collect();
    let conclusions = evaluate(&mut subjects);
    let of_fleet = |check: &str| super::find(check).unwrap().needs == super::Needs::Fleet;
    conclusions
        .into_iter()
        .map(|conclusion| {
            let found =
                conclusion.results.into_iter().filter(|r| of_fleet(&r.check) && r.status.is_finding());
            (conclusion.host, found.map(|r| (r.check, r.status, r.message)).collect())
        })
        .collect()
}

#[test]
fn outliers_have_names_and_ties_are_told() {
    let usual = healthy();
    let old = healthy().fact("kernel", json!({ "release": "6.8.0-50-generic", "headers": true }));
    let found = fleet(&[("gpu0", usual.clone()), ("gpu1", usual.clone()), ("gpu2", old.clone())]);
    assert_eq!(found["gpu0"], []);
    let message = "6.8.0-50-generic; 2 of 3 hosts have 6.8.0-87-generic".to_owned();
    assert_eq!(found["gpu2"], [("fleet.kernel".to_owned(), Warn, message)]);
    // Nobody can say who is right.
    let tie =
        fleet(&[("gpu0", usual.clone()), ("gpu1", usual.clone()), ("gpu2", old.clone()), ("gpu3", old)]);
    let message = "no majority: gpu[2-3] 6.8.0-50-generic; gpu[0-1] 6.8.0-87-generic";
    for host in ["gpu0", "gpu1", "gpu2", "gpu3"] {
        assert_eq!(tie[host], [("fleet.kernel".to_owned(), Warn, message.to_owned())], "{host}");
    }
    let kernels = ["5.10", "5.15", "6.1", "6.8", "6.12"]
        .map(|release| healthy().fact("kernel", json!({ "release": release, "headers": true })));
    let five: Vec<(&str, Site)> = ["a", "b", "c", "d", "e"].into_iter().zip(kernels).collect();
    let four = "no majority: a 5.10; b 5.15; c 6.1; d 6.8";
    assert_eq!(fleet(&five[..4])["a"][0].2, four);
    assert_eq!(fleet(&five)["a"][0].2, "no majority: a 5.10; b 5.15; c 6.1; e 6.12; and 1 other value");
    // One host by itself is compared with nobody.
    assert_eq!(fleet(&[("gpu0", usual.clone())])["gpu0"], []);
    // What a host has wrong by itself is told once, and its neighbour is not blamed.
    let mut lost = healthy();
    lost.facts.get_mut("network").unwrap()["links"][1]["mtu"] = json!(1500);
    let found = fleet(&[("gpu0", usual.clone()), ("gpu1", lost)]);
    assert!(found.values().all(Vec::is_empty), "{found:?}");
    // Sizes that differ by a little are one size.
    let memory = |mib: u64| json!({ "total_mib": mib, "swap_mib": 0, "hugepages": { "total": 0 } });
    let sizes = [2_063_872, 2_063_100, 1_998_336].map(|mib| healthy().fact("memory", memory(mib)));
    let [a, b, c] = sizes;
    let found = fleet(&[("gpu0", a), ("gpu1", b), ("gpu2", c)]);
    assert_eq!(found["gpu1"], []);
    assert_eq!(found["gpu2"][0].2, "1951 GiB; 2 of 3 hosts have 2014 GiB");
}

#[test]
fn what_hosts_of_a_group_have_in_common() {
    let told = |odd: Site, check: &str| {
        let found = fleet(&[("gpu0", healthy()), ("gpu1", healthy()), ("gpu2", odd)]);
        let found = found["gpu2"].iter().find(|(id, _, _)| id == check);
        found.map(|(_, _, message)| message.clone())
    };
    let os = |version: &str| json!({ "id": "ubuntu", "version_id": version });
    let usual = healthy().fact("os", os("24.04"));
    let found = fleet(&[("a", usual.clone()), ("b", usual), ("c", healthy().fact("os", os("22.04")))]);
    assert_eq!(found["c"][0].2, "ubuntu 22.04; 2 of 3 hosts have ubuntu 24.04");
    let newer = healthy().with("rdma", "fw_ver=28.39.1002", "fw_ver=28.40.1000");
    assert_eq!(told(newer, "fleet.firmware").unwrap(), "MT4129 X: 28.40.1000; 2 of 3 hosts have 28.39.1002");
    let gpu =
        |address: &str| json!({ "address": address, "vendor": "10de", "device": "2330", "model": "H100" });
    let gpus = json!({ "gpus": [gpu("0000:00:06.0"), gpu("0000:00:07.0")], "nvswitches": [], "nics": [] });
    assert_eq!(
        told(healthy().fact("pci", gpus), "fleet.gpus").unwrap(),
        "2 x H100; 2 of 3 hosts have 2 x H200"
    );
    // What a host has of no kind is no value.
    let jumbo = |mtu: u64| {
        let link = |n: u64| json!({ "name": format!("rdma{n}"), "mtu": mtu, "addresses": [] });
        healthy().fact("network", json!({ "links": [link(0), link(1)] }))
    };
    let found = fleet(&[("a", jumbo(9000)), ("b", jumbo(9000)), ("c", jumbo(4200))]);
    assert_eq!(
        found["c"].iter().find(|(id, _, _)| id == "fleet.mtu").unwrap().2,
        "4200; 2 of 3 hosts have 9000"
    );
    let cool = healthy().with("nvidia", "<vbios_version>", "<vbios_version>1");
    assert_eq!(told(cool, "fleet.vbios").unwrap(), "196.00.A5.00.1A; 2 of 3 hosts have 96.00.A5.00.1A");
    // A card that does not tell, and a device that is none.
    let silent = healthy().with("rdma", "device=mlx5_1\nfw_ver=28.39.1002\n", "device=mlx5_1\n");
    assert_eq!(told(silent, "fleet.firmware"), None);
    let soft = "device=rxe0\nfw_ver=0.0\nhca_type=MT4129\nboard_id=X\nnet=rdma0\n";
    assert_eq!(told(healthy().with("rdma", "net=rdma0\n", soft), "fleet.firmware"), None);
    // The usual size is that of the one in the middle.
    let sizes = [1_900_000, 1_900_000, 2_063_100, 2_063_872, 2_063_872].map(|mib: u64| {
        let memory = json!({ "total_mib": mib, "swap_mib": 0, "hugepages": { "total": 0 } });
        healthy().fact("memory", memory)
    });
    let names = ["gpu0", "gpu1", "gpu2", "gpu3", "gpu4"];
    let sites: Vec<(&str, Site)> = names.into_iter().zip(sizes).collect();
    let found = fleet(&sites);
    assert_eq!(found["gpu0"][0].2, "1855 GiB; 3 of 5 hosts have 2014 GiB");
    assert_eq!(found["gpu4"], []);
}

#[test]
fn what_only_one_host_may_have() {
    let cloned = healthy().fact("ids", json!({ "machine_id": "same", "product_uuid": "", "boot_id": "b" }));
    let found = fleet(&[("gpu0", cloned.clone()), ("gpu1", healthy()), ("gpu2", cloned)]);
    let message = "gpu[0,2] have the same: same".to_owned();
    for host in ["gpu0", "gpu2"] {
        assert_eq!(found[host], [("fleet.machine_id".to_owned(), Fail, message.clone())]);
    }
    assert_eq!(found["gpu1"], []);
    let key = "ask system\nhost_key=ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIKq0 root@image";
    let cloned = healthy().with("system", "ask system", key);
    let found = fleet(&[("gpu0", cloned.clone()), ("gpu1", cloned)]);
    assert_eq!(found["gpu0"][0].0, "fleet.host_keys");
    let at = |address: &str| {
        let links = json!([{ "name": "eth0", "mtu": 1500, "addresses": [address] }]);
        healthy().fact("network", json!({ "links": links }))
    };
    for (address, found) in [
        ("10.9.0.1/24", 1),
        ("fd00::1/64", 1),
        ("127.0.0.1/8", 0),
        ("169.254.1.1/16", 0),
        ("::1/128", 0),
        ("fe80::1/64", 0),
    ] {
        let told = fleet(&[("gpu0", at(address)), ("gpu1", at(address))]);
        assert_eq!(told["gpu0"].len(), found, "{address}: {told:?}");
    }
    let user = |uid: u64| json!({ "list": [{ "name": "alice", "uid": uid, "gid": uid }] });
    let sites = [1001, 1001, 1002].map(|uid| healthy().fact("users", user(uid)));
    let [a, b, c] = sites;
    let found = fleet(&[("gpu0", a), ("gpu1", b), ("gpu2", c)]);
    assert_eq!(found["gpu2"][0].2, "alice: uid 1002, gid 1002; 2 of 3 hosts have uid 1001, gid 1001");
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
        drop(fleet(&[("gpu0", site.clone()), ("gpu1", healthy()), ("gpu2", site)]));
    }
}

/// The distribution's NCCL is found before the one that was built.
const OTHER_NCCL: &str = "/lib/x86_64-linux-gnu/libnccl.so.2 (0x2)\nuser=ubuntu\nfile=libnccl.so.2 /usr/lib/x86_64-linux-gnu/libnccl.so.2.28.3";

#[test]
fn the_library_that_wins_is_held_against_the_build_and_the_declaration() {
    let told = |site: Site| site.results(None).remove("software.nccl_tests").unwrap();
    let own = "/usr/local/nccl/lib/libnccl.so.2 (0x2)\nuser=ubuntu\nfile=libnccl.so.2 /srv/nccl/lib/libnccl.so.2.27.7";
    let other = told(healthy().with("software", own, OTHER_NCCL));
    assert_eq!(
        other.1,
        "/opt/nccl-tests/build/all_reduce_perf: libnccl.so.2 is /usr/lib/x86_64-linux-gnu/libnccl.so.2.28.3 as ubuntu, not the one in /usr/local/nccl"
    );
    // What is declared is stronger than what the build was given.
    let usr = |site: Site| {
        let site = site.with("software", "perftest=1", "nccl=/usr 2.28.3\nperftest=1");
        told(site.expect(json!({ "software": { "nccl_prefix": "/usr/" } })))
    };
    assert_eq!(usr(healthy().with("software", own, OTHER_NCCL)).0, Pass);
    let local = usr(healthy().with("software", "/srv/nccl/lib", "/usr/local/nccl/lib"));
    assert_eq!(local.0, Fail, "/usr/local is not of the distribution: {local:?}");
    // Neither known: any NCCL will do.
    let built = healthy().with("software", "home=/opt/nccl-tests", "none=/opt/nccl-tests");
    assert_eq!(told(built.with("software", own, OTHER_NCCL)).0, Pass);
}
