//! Answers that are near each other and mean something else.

use super::*;

/// Verdicts of checks that must tell a problem from one that looks like it.
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
    let toolkit = |release: &str| {
        let mut site = healthy();
        let told = format!("Cuda compilation tools, release {release}, V{release}.1");
        let asked = section("/usr/local/cuda/bin/nvcc --version", &told, "0");
        site.probes.entry("driver_upkeep").and_modify(|text| *text += &asked);
        site
    };
    let no_clock = |runs: &str| {
        let asked = section("chronyc tracking", "Leap status     : Normal", "0");
        healthy().with("system", &asked, "").with(
            "system",
            "process=slurmd\n",
            &format!("process=slurmd\n{runs}"),
        )
    };
    // Only a bridge of containers has an address.
    let bridge = |site: Site| {
        let links = json!([
            { "name": "rdma0", "mtu": 9000, "state": "up", "pci": "0000:00:00.0", "addresses": [] },
            { "name": "rdma1", "mtu": 9000, "state": "up", "pci": "0000:01:00.0", "addresses": [] },
            { "name": "docker0", "mtu": 1500, "state": "up", "addresses": ["172.17.0.1/16"] },
        ]);
        site.fact("network", json!({ "links": links }))
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
    let upgraded = |versions: &str| {
        let told = format!(
            "Start-Date: 2026-11-28  06:21:13\nCommandline: /usr/bin/unattended-upgrade\nUpgrade: \nlibnvidia-compute-580:amd64 ({versions})"
        );
        let mut site = healthy().with(
            "driver",
            "libnvidia-compute-580 580.159.04-0ubuntu1",
            "libnvidia-compute-580 580.167.01-0ubuntu1",
        );
        let asked = section("history.log", &told, "0");
        site.probes.entry("driver_upkeep").and_modify(|text| *text += &asked);
        site
    };
    let cases = vec![
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
        (
            "driver.headers",
            Warn,
            "6.8.0-99-generic: no headers of the next kernel",
            healthy()
                .fact("boot", json!({ "next_kernel": "6.8.0-99-generic", "reasons": [] }))
                .with("driver", "running=6.8.0-87-generic\n", "running=6.8.0-87-generic\nkernel=6.8.0-99-generic\nimage=true\n"),
        ),
        ("driver.cuda", Fail, "/usr/local/cuda: is CUDA 14.0, the driver supports 13.0", toolkit("14.0")),
        ("driver.cuda", Pass, "up to CUDA 13.0", toolkit("13.9")),
        ("driver.cuda", Pass, "up to CUDA 13.0", toolkit("12.4")),
        ("rdma.rate", Pass, "400 Gb/sec (4X NDR)", healthy().expect(json!({ "rdma": { "rate_gbps": 400 } }))),
        ("rdma.rate", Fail, "mlx5_[0-1]: 400 Gb/sec (4X NDR), expected 800 Gb/s", healthy().expect(json!({ "rdma": { "rate_gbps": 800 } }))),
        ("pcie.acs", Pass, "off on 0 bridges", healthy().with("fabric", "\t\tACSCtl:\tSrcValid- ReqRedir-\n", "")),
        (
            "pcie.acs",
            Unknown,
            "only root can read it",
            healthy().with("fabric", "\t\tACSCtl:\tSrcValid- ReqRedir-\n", "\t\tCapabilities: <access denied>\n"),
        ),
        ("system.firewall", Warn, "firewalld: on: it rejects what the zones of the links do not allow", bridge(firewalld("trusted"))),
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
        // Who changed the packages is named where one of them is the version that does not fit.
        (
            "driver.coherence",
            Fail,
            "libnvidia-compute-580: version 580.167.01, but 580.159.04 is loaded; unattended-upgrade: changed the packages (2026-11-28  06:21:13)",
            upgraded("580.159.04-0ubuntu1, 580.167.01-0ubuntu1"),
        ),
        (
            "driver.coherence",
            Fail,
            "libnvidia-compute-580: version 580.167.01, but 580.159.04 is loaded",
            upgraded("570.1-1, 570.2-1"),
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
        (
            "driver.upgrades",
            Pass,
            "dnf-automatic leaves the nvidia packages alone",
            healthy().with("driver_upkeep", "unattended=1", "dnf_automatic=dnf-automatic-install.timer\nexclude= kernel* nvidia*"),
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
    let of_system = [
        ("system.time_sync", Warn, "no program synchronises the clock", no_clock("")),
        (
            "system.time_sync",
            Unknown,
            "chronyd runs, and chronyc is not installed",
            no_clock("process=chronyd\n"),
        ),
        (
            "system.disk",
            Pass,
            "at least 5 GiB free",
            healthy().with("system", "90000000 1% /\n", "5242880 1% /\n"),
        ),
        (
            "system.disk",
            Warn,
            "/: 5119 MiB free, expected 5120",
            healthy().with("system", "90000000 1% /\n", "5242879 1% /\n"),
        ),
    ];
    for (check, status, message, site) in cases.into_iter().chain(of_system) {
        assert_eq!(site.results(None)[check], (status, message.to_owned()), "{check}");
    }
}
