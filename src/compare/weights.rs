//! Likelihood that a difference hurts, and the playbook that sets such a thing.

use super::kind::Kind;

/// Things that are weighed alike. The first row that fits counts.
struct Row {
    kind: Kind,
    /// Words between bars of which one stands in the key, in lower case; behind `^` it begins with it. None: all others of
    /// the kind.
    words: &'static str,
    /// Likelihood that a difference hurts, of 100.
    weight: u32,
    /// Playbook that sets it; empty where none does.
    playbook: &'static str,
}

const fn row(kind: Kind, words: &'static str, weight: u32, playbook: &'static str) -> Row {
    Row { kind, words, weight, playbook }
}

/// Words of what makes GPUs, their links and jobs work.
const OF_JOBS: &str = "gpu|nvidia|cuda|nccl|mellanox|mlx|ofed|rdma|ibverbs|infiniband|ucx|openmpi|pmix|slurm|munge|\
    fabricmanager|fabric-manager|gdrcopy|gdrdrv|peermem|doca|firmware|microcode|linux-image|kernel|\
    sharp|hcoll|libfabric|irdma|erdma|efa|bnxt|dcgm|nvlsm|imex|lustre|weka|beegfs";

const TABLE: &[Row] = &[
    row(
        Kind::Parameter,
        "^nvidia|^mlx|^ib_|^rdma|^irdma|^gdrdrv|^bnxt|^ice.|^efa|^erdma|^nvme",
        100,
        "nvidia-driver",
    ),
    row(
        Kind::Parameter,
        "^pcie_aspm|^intel_idle|^processor|^intel_iommu|^iommu|^kernel.|^module.|^sunrpc|^lnet|\
         ^ksocklnd|^ko2iblnd",
        90,
        "",
    ),
    row(Kind::Parameter, "", 60, ""),
    row(
        Kind::Module,
        "^nvidia|^nv_peer|^mlx|^ib_|^rdma|^gdrdrv|^nouveau|^nova|^irdma|^knem|^xpmem|^lustre|^lnet|^efa|\
         ^erdma",
        98,
        "nvidia-driver",
    ),
    row(Kind::Module, "", 50, ""),
    row(
        Kind::Gpu,
        "persistence|power limit|ecc mode|mig mode|applications clocks|compute mode",
        100,
        "gpu-prepare",
    ),
    row(
        Kind::Gpu,
        "driver version|vbios|firmware|ecc|remap|retired|mig|persistence|power limit|fabric|nvlink|\
         max customer|applications clocks|max clocks|slowdown|thermal|link width|addressing|\
         compute mode|topology|pcie generation|replay|product name|attached gpus",
        100,
        "",
    ),
    row(Kind::Gpu, "", 80, ""),
    row(
        Kind::Pci,
        "current_link_speed|current_link_width|maxreadreq|maxpayload|acsctl|lnksta|rlxdord|devctl|\
          driver|aer|enable|sriov|numa_node",
        98,
        "pcie",
    ),
    row(Kind::Pci, "", 85, ""),
    row(
        Kind::Rdma,
        "fw_ver|state|rate|link_layer|board_id|traffic_class|roce|pfc|trust|qos|ecn|prio|cap_mask|\
         hca_type",
        98,
        "roce-qos",
    ),
    row(Kind::Rdma, "", 85, ""),
    row(Kind::Ethtool, "firmware-version|driver version|driver driver", 96, ""),
    row(Kind::Ethtool, "pause|fec|rings|channels|flag", 92, "roce-qos"),
    row(Kind::Ethtool, "feature|coalescing", 85, ""),
    row(Kind::Ethtool, "", 70, ""),
    row(Kind::Link, "mtu|speed|duplex|operstate|driver|bonding|sriov", 97, "network"),
    row(Kind::Link, "", 85, ""),
    row(
        Kind::CommandLine,
        "iommu|pci|aspm|cstate|idle|mitigations|numa|isolcpus|nohz|hugepage|transparent_hugepage|\
         init_on|nvidia|cgroup|memmap|nosmt|clocksource|tsc",
        97,
        "kernel",
    ),
    row(Kind::CommandLine, "^root|^console|^quiet|^splash", 20, ""),
    row(Kind::CommandLine, "", 75, ""),
    row(
        Kind::System,
        "kernel|bios_version|bios_release|clocksource|lockdown|ofed|secure boot|iommu|cgroup",
        96,
        "kernel",
    ),
    row(Kind::System, "product_name|board_name|board_version|tainted", 88, ""),
    row(Kind::System, "", 70, ""),
    row(
        Kind::Processor,
        "scaling_governor|microcode|smt|no_turbo|boost|scaling_max_freq|online|isolated|node|model name|\
         current_driver|scaling_driver|status|disable|energy",
        95,
        "host-profile",
    ),
    row(Kind::Processor, "vulnerabilities", 80, ""),
    row(Kind::Processor, "", 70, ""),
    row(
        Kind::Memory,
        "transparent_hugepage/enabled|transparent_hugepage/defrag|memtotal|hugepages|swaptotal|ksm/run",
        93,
        "host-profile",
    ),
    row(Kind::Memory, "", 60, ""),
    row(
        Kind::Sysctl,
        "^kernel.numa_balancing|^vm.|^net.core.|^net.ipv4.tcp_|rp_filter|arp_|^kernel.panic|\
         ^kernel.sched_|^kernel.shm|^kernel.perf|^kernel.unprivileged|^kernel.apparmor|^user.|\
         ^fs.nr_open|^fs.file-max|^kernel.pid_max|ip_forward|.mtu|disable_ipv6|gc_thresh|\
         ip_local_port_range",
        92,
        "sysctl",
    ),
    row(Kind::Sysctl, "", 65, "sysctl"),
    row(Kind::Limit, "memlock|locked memory|nofile|open files|stack|processes|nproc|tasksmax", 95, "limits"),
    row(Kind::Limit, "", 75, "limits"),
    row(
        Kind::Environment,
        "^nccl_|^ucx_|^ompi_|^cuda|^nvidia_|^ld_|^fi_|^prte_|^pmix_|^torch|^slurm|^omp_|^pytorch|^gloo|\
         ^ib_|^mlx",
        97,
        "nccl-env",
    ),
    row(Kind::Environment, "path|proxy|^lang|^lc_", 78, ""),
    row(Kind::Environment, "", 50, ""),
    row(Kind::Library, "libnccl|libcuda|libnvidia|libibverbs|libmlx5|libucp|libuct|libmpi", 96, "nccl"),
    row(Kind::Library, "", 70, ""),
    row(Kind::Package, "-doc|^tzdata|^man-|^manpages|^bash-completion|^vim|^nano|locale|^fonts", 10, ""),
    row(Kind::Package, OF_JOBS, 95, ""),
    row(
        Kind::Package,
        "^libc6|^glibc|^systemd|^openssh|^chrony|^irqbalance|^tuned|^dkms|^gcc|^numactl|^docker|\
         ^containerd|^podman|^runc|^apparmor|^selinux|^nfs|^cpufreq|^power",
        80,
        "",
    ),
    row(Kind::Package, "", 60, ""),
    row(Kind::Python, "torch|nccl|nvidia|cuda|triton|jax|deepspeed|transformer", 85, "pytorch"),
    row(Kind::Python, "", 35, ""),
    row(Kind::Dkms, "", 94, "nvidia-driver"),
    row(Kind::Unit, OF_ALWAYS, 94, ""),
    row(Kind::Unit, ".timer", 70, ""),
    row(Kind::Unit, "enabled", 72, ""),
    row(Kind::Unit, "", 83, ""),
    row(Kind::Process, OF_JOBS, 80, ""),
    row(
        Kind::Process,
        "^sh |^sleep|^ps |^sed|^cat |^sudo|^su |^sshd|^systemd-udev|^(sd-pam)|^apt|^dpkg|^cron|^bash",
        5,
        "",
    ),
    row(Kind::Process, "", 76, ""),
    row(
        Kind::File,
        "/modprobe.d/|/modules-load.d/|/security/limits|/sysctl|/nccl.conf|/udev/rules.d/|/nvidia|\
         /slurm/|/munge/|/tuned/|/default/grub|/dkms/|/ld.so.conf|/infiniband|/rdma|/mlnx|/ucx|/openmpi|\
         /fabricmanager|/chrony|ld.so.preload|systemd/system.conf|systemd/user.conf|/lnet|/lustre|/cdi/",
        93,
        "",
    ),
    row(
        Kind::File,
        "/systemd/|/netplan/|/network/|/networkmanager/|/fstab|/hosts|/resolv.conf|/nsswitch|\
         /environment|/ssh/sshd|/ssh/ssh_|/pam.d/|/docker/|/containerd/|/irqbalance|/nftables|/nfs|\
         /idmapd|/exports|/crypto-policies|/selinux|/apparmor|/alternatives/|/default/|/initramfs|\
         /localtime|/timezone|/login.defs",
        82,
        "",
    ),
    row(
        Kind::File,
        "/passwd|/group|/shadow|/gshadow|/subuid|/subgid|/profile.d/|/sudoers|/profile|/bash.bashrc",
        58,
        "",
    ),
    row(
        Kind::File,
        "/motd|/issue|/update-motd.d|/bash_completion|/vim|/skel|/terminfo|/fonts|/dictionaries|/rc|\
         /init.d|/ssl/certs|/pki|/ca-certificates|/mailcap|/magic|/legal",
        12,
        "",
    ),
    row(Kind::File, "/apt/|/yum|/dnf|/cron|/logrotate|/rsyslog|/nanorc|/papersize", 35, ""),
    row(Kind::File, "", 45, ""),
    row(
        Kind::Mount,
        "/home|/data|/scratch|/shared|/mnt|/opt|/nfs|/dev/shm|/tmp|swap|/sys|/dev/hugepages",
        92,
        "",
    ),
    row(Kind::Mount, "", 80, ""),
    row(Kind::Space, "", 78, ""),
    row(
        Kind::Counter,
        "pcie|memory|symbol|crc|link_downed|rnr|out_of|retrans|sequence|timeout|local_ack|packet_seq|\
         discard|pause|each second|port_rcv_errors|ecn|cnp",
        94,
        "",
    ),
    row(Kind::Counter, "", 84, ""),
    row(Kind::KernelLog, "", 97, ""),
    row(Kind::Route, "^rule| table ", 84, "rails"),
    row(Kind::Route, "", 84, ""),
    row(Kind::Queue, "", 84, ""),
    row(Kind::Firewall, "", 84, "firewall"),
    row(Kind::Disk, "firmware_rev|model|scheduler|rotational", 84, ""),
    row(Kind::Disk, "", 72, ""),
    row(Kind::Account, "", 60, ""),
    row(Kind::Local, "nccl|cuda|mpi|ucx|nvidia|/lib/modules|/boot|libib", 88, ""),
    row(Kind::Local, "/man|/share/doc", 10, ""),
    row(Kind::Local, "^/opt", 78, ""),
    row(Kind::Local, "", 62, ""),
];

/// Of what runs always, a unit that does not hurts.
const OF_ALWAYS: &str = "nvidia|slurm|munge|fabricmanager|rdma|openibd|opensm|chrony|ntp|irqbalance|tuned|docker|\
    containerd|kubelet|nfs|lustre|dcgm|imex|nvlsm|ufw|nftables|firewalld|unattended-upgrades|\
    apt-daily|dnf-automatic|cpupower|power-profiles|thermald";

/// Least weight of a difference that says more than its name: an account with another number, a program or unit that bad hosts lack.
const CHANGED: u32 = 86;
/// Weight that a directory lacks beside the files in it.
const DIRECTORY: u32 = 40;

/// Likelihood that a difference of this thing hurts, of 100, by the usual values of both sides, and the playbook that sets it.
pub(super) fn weigh(kind: Kind, key: &str, bad: Option<&str>, good: Option<&str>) -> (u32, &'static str) {
    let (weight, playbook) = by_name(kind, key);
    let is_heavier = kind == Kind::Account && bad.is_some() && good.is_some()
        || kind == Kind::Process && bad.is_none() && weight > DIRECTORY;
    let is_directory = kind == Kind::File && bad.or(good).is_some_and(|value| value.starts_with('d'));
    let weight = if is_heavier { weight.max(CHANGED) } else { weight };
    (if is_directory { weight.saturating_sub(DIRECTORY) } else { weight }, playbook)
}

fn by_name(kind: Kind, key: &str) -> (u32, &'static str) {
    let key = key.to_lowercase();
    let fits = |word: &str| {
        word.strip_prefix('^').map_or_else(|| key.contains(word), |begin| key.starts_with(begin))
    };
    let row =
        TABLE.iter().find(|row| row.kind == kind && (row.words.is_empty() || row.words.split('|').any(fits)));
    row.map_or((50, ""), |row| (row.weight, row.playbook))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_has_a_row_for_all_others_and_it_is_its_last() {
        for kind in Kind::ALL {
            let rows: Vec<&Row> = TABLE.iter().filter(|row| row.kind == *kind).collect();
            let open: Vec<bool> = rows.iter().map(|row| row.words.is_empty()).collect();
            assert_eq!(open.iter().position(|open| *open), Some(rows.len() - 1), "{kind:?}");
        }
    }

    #[test]
    fn what_hurts_a_job_weighs_more_than_a_greeting() {
        for (kind, key, other, light) in [
            (Kind::Parameter, "nvidia.NVreg_EnableStreamMemOPs", Kind::File, "/etc/motd"),
            (Kind::Package, "nvidia-driver-580", Kind::Package, "tzdata"),
            (Kind::Environment, "NCCL_IB_HCA", Kind::Environment, "EDITOR"),
            (Kind::Unit, "slurmd.service", Kind::Unit, "man-db.timer"),
            (Kind::Sysctl, "vm.zone_reclaim_mode", Kind::Account, "user anna"),
        ] {
            assert!(by_name(kind, key).0 > by_name(other, light).0, "{key}");
        }
    }
}
