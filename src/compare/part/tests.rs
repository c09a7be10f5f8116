use super::*;

fn value(text: &str, kind: Kind, key: &str) -> Option<String> {
    let look = read(&format!("{text}=== end\n")).unwrap();
    look.entries.into_iter().find(|entry| entry.kind == kind && entry.key == key).map(|entry| entry.value)
}

#[test]
fn each_part_is_read_by_its_form() {
    for (text, kind, key, said) in [
        ("=== system\n|kernel:6.12.48\n", Kind::System, "kernel", "6.12.48"),
        ("=== system\n|/sys/class/dmi/id/bios_version:2.4\n", Kind::System, "bios_version", "2.4"),
        ("=== packages\n|bash\tii \t5.2-3\n", Kind::Package, "bash", "5.2-3"),
        ("=== packages\n|nccl\thi \t2.28\n", Kind::Package, "nccl (state)", "held"),
        (
            "=== python\n|/usr/local/lib/python3.11/dist-packages/torch-2.9.1.dist-info\n",
            Kind::Python,
            "torch",
            "2.9.1",
        ),
        ("=== command_line\n|/proc/cmdline:ro iommu=pt quiet\n", Kind::CommandLine, "iommu", "pt"),
        (
            "=== processors\n|/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor:powersave\n\
             |/sys/devices/system/cpu/cpu1/cpufreq/scaling_governor:performance\n",
            Kind::Processor,
            "scaling_governor",
            "performance \u{d7}1, powersave \u{d7}1",
        ),
        (
            "=== modules\n|loaded nvidia\n|/sys/module/nvidia/version:580.95.05\n",
            Kind::Module,
            "nvidia",
            "580.95.05",
        ),
        (
            "=== parameters\n|/sys/module/mlx5_core/parameters/prof_sel:2\n",
            Kind::Parameter,
            "mlx5_core.prof_sel",
            "2",
        ),
        ("=== sysctl\n|/proc/sys/vm/swappiness:60\n", Kind::Sysctl, "vm.swappiness", "60"),
        (
            "=== pci\n|/sys/bus/pci/devices/0000:18:00.0/current_link_width:8\n",
            Kind::Pci,
            "0000:18:00.0 current_link_width",
            "8",
        ),
        (
            "=== pci\n|/sys/bus/pci/devices/0000:18:00.0/aer_dev_correctable:TOTAL_ERR_COR 17\n",
            Kind::Counter,
            "0000:18:00.0 correctable errors of PCIe",
            "17",
        ),
        (
            "=== capabilities\n|0000:18:00.0 Infiniband controller\n|\t\t\tMaxPayload 256 bytes, MaxReadReq 512 bytes\n",
            Kind::Pci,
            "0000:18:00.0 DevCtl MaxReadReq",
            "512 bytes",
        ),
        ("=== net\n|/sys/class/net/eth0/mtu:1500\n", Kind::Link, "eth0 mtu", "1500"),
        (
            "=== ethernet\n|eth0 -i firmware-version: 28.39\n",
            Kind::Ethtool,
            "eth0 driver firmware-version",
            "28.39",
        ),
        (
            "=== ethernet\n|eth0 -g Current hardware settings:\n|eth0 -g RX:\t\t1024\n",
            Kind::Ethtool,
            "eth0 rings Current hardware settings RX",
            "1024",
        ),
        (
            "=== rdma\n|/sys/class/infiniband/mlx5_0/ports/1/rate:400 Gb/sec\n",
            Kind::Rdma,
            "mlx5_0 ports 1 rate",
            "400 Gb/sec",
        ),
        ("=== disks\n|df /dev/sda1 100 90 10 90% /\n", Kind::Space, "/ used %", "90"),
        (
            "=== mounts\n|/proc/mounts:nas:/home /home nfs4 rw,addr=10.0.0.1 0 0\n",
            Kind::Mount,
            "/home",
            "nas:/home nfs4 rw",
        ),
        (
            "=== limits\n|session Max locked memory         65536                65536                bytes     \n",
            Kind::Limit,
            "session Max locked memory",
            "65536 65536",
        ),
        (
            "=== services\n|unit slurmd.service loaded failed failed Slurm\n",
            Kind::Unit,
            "slurmd.service",
            "failed failed",
        ),
        (
            "=== services\n|file slurmd.service disabled enabled\n",
            Kind::Unit,
            "slurmd.service enabled",
            "disabled",
        ),
        (
            "=== accounts\n|passwd anna:1001:1001::/home/anna:/bin/sh\n",
            Kind::Account,
            "user anna",
            "1001:1001::/home/anna:/bin/sh",
        ),
        (
            "=== processes\n|  7   1 root     miner\n=== processes_later\n|  7   1 root     miner\n",
            Kind::Process,
            "miner of root",
            "runs",
        ),
        // It ran for a moment, and so did one of the same name later.
        (
            "=== processes\n|  7   1 root     sed\n=== processes_later\n|  9   1 root     sed\n",
            Kind::Process,
            "sed of root",
            "",
        ),
        (
            "=== processes\n|  7   2 root     kworker/0:1\n=== processes_later\n|  7   2 root     kworker/0:1\n",
            Kind::Process,
            "kworker/0:1 of root",
            "",
        ),
        (
            "=== firewall\n|table inet filter {\n|\tchain input {\n|\t\ttcp dport 22 drop\n|\t}\n|}\n",
            Kind::Firewall,
            "table inet filter chain input tcp dport 22 drop",
            "set",
        ),
        (
            "=== etc\n|ls -rw-r--r-- 1 0 0 12 Nov 30 10:00 /etc/motd\n|sha 0123456789abcdef  /etc/motd\n",
            Kind::File,
            "/etc/motd",
            "-rw-r--r-- 0:0 content 0123456789ab",
        ),
        (
            "=== etc\n|ls lrwxrwxrwx 1 0 0 12 Nov 30 10:00 /etc/localtime -> /usr/share/zoneinfo/UTC\n",
            Kind::File,
            "/etc/localtime",
            "lrwxrwxrwx 0:0 -> /usr/share/zoneinfo/UTC",
        ),
        (
            "=== installed\n|library libnccl.so.2:/opt/nccl/libnccl.so.2\n",
            Kind::Library,
            "libnccl.so.2",
            "/opt/nccl/libnccl.so.2",
        ),
        (
            "=== surroundings\n|hello\n|asked\n|NCCL_IB_HCA=mlx5_0\n",
            Kind::Environment,
            "NCCL_IB_HCA",
            "mlx5_0",
        ),
        ("=== surroundings\n|asked\n|HF_TOKEN=abc\n", Kind::Environment, "HF_TOKEN", "set"),
        (
            "=== gpus\n|GPU 00000000:18:00.0\n|    ECC Mode\n|        Current                           : Disabled\n",
            Kind::Gpu,
            "00000000:18:00.0 ECC Mode, Current",
            "Disabled",
        ),
        (
            "=== dkms_state\n|nvidia/580.95.05, 6.12.48, x86_64: installed\n",
            Kind::Dkms,
            "nvidia/580.95.05, 6.12.48, x86_64",
            "installed",
        ),
        (
            "=== began\n|10.0\n=== counters\n|/sys/class/net/eth0/statistics/rx_errors:10\n=== later\n\
             |/sys/class/net/eth0/statistics/rx_errors:30\n=== began\n|12.0\n",
            Kind::Counter,
            "eth0 rx_errors each second",
            "10",
        ),
        // Every host sends some segments again.
        (
            "=== began\n|10.0\n=== counters\n=== later\n|1 200 120000 -1 10 10 0 0 5 1000 1000 99 0 0 0\n=== began\n|12.0\n",
            Kind::Counter,
            "TCP segments sent again",
            "0",
        ),
        (
            "=== began\n|10.0\n=== counters\n=== later\n|1 200 120000 -1 10 10 0 0 5 1000 1000 4000 0 0 0\n=== began\n|12.0\n",
            Kind::Counter,
            "TCP segments sent again",
            "4000",
        ),
    ] {
        let wanted = (!said.is_empty()).then(|| said.to_owned());
        assert_eq!(value(text, kind, key), wanted, "{text}");
    }
}

#[test]
fn the_own_name_and_address_of_a_host_are_left_out() {
    let text = "=== sysctl\n|/proc/sys/kernel/hostname:gpu3.site\n|/proc/sys/kernel/x:at gpu3, not gpu31\n\
                === routes\n|local 10.0.0.3 dev eth0 table local\n|10.0.0.0/24 dev eth0 src 10.0.0.3\n";
    assert_eq!(value(text, Kind::Sysctl, "kernel.x").as_deref(), Some("at NAME, not gpu31"));
    assert_eq!(value(text, Kind::Route, "10.0.0.0/24 dev eth0 src ADDRESS").as_deref(), Some("set"));
}

#[test]
fn what_failed_is_told_and_is_no_value() {
    for (status, reason) in [("1", "it cannot be read whole"), ("124", "it took too long")] {
        let look =
            read(&format!("=== gpus\n|GPU 0\n|    MIG Mode : Disabled\n|\n|!{status}\n=== end\n")).unwrap();
        assert_eq!(look.unread.get(&Kind::Gpu).map(String::as_str), Some(reason));
        assert_eq!(look.entries.len(), 1);
    }
}

#[test]
fn a_look_without_its_end_is_none() {
    for text in ["", "=== system\n|kernel:6.12\n", "sh: not found\n"] {
        assert!(read(text).is_err(), "{text}");
    }
    assert_eq!(
        read("grep is not installed\n").unwrap_err(),
        "it did not come to its end: grep is not installed"
    );
}

proptest::proptest! {
    #[test]
    fn what_no_host_prints_is_read_without_harm(lines in proptest::collection::vec("(=== [a-z_]{1,12}|[|!]?.{0,60})", 0..40)) {
        drop(read(&(lines.join("\n") + "\n=== end\n")));
    }

    #[test]
    fn each_form_takes_any_line(lines in proptest::collection::vec("[ -~\t\u{e9}:/=]{0,50}", 0..20)) {
        for (name, _) in PARTS {
            let body = lines.join("\n|");
            let whole = read(&format!("=== {name}\n|{body}\n=== end\n")).is_ok();
            proptest::prop_assert!(whole);
        }
    }
}
