//! Networks of a host: drivers of cards (in words that no check asks a host for), links and bonds, virtual functions, DNS
//! in Kubernetes, NetworkManager, ifupdown, networkd.

use super::super::cause::{Cause, Counts, Remedy, Role, Sure, TOOL, seen};

const MLX5: Cause = Cause {
    sources: &[seen("Linux kernel: drivers/net/ethernet/mellanox/mlx5/core/cmd.c", "2026-11-30")],
    ..TOOL
};
const LINK: Cause = Cause {
    remedy: Remedy::Settings,
    sources: &[seen("https://www.kernel.org/doc/html/latest/networking/bonding.html", "2026-11-30")],
    ..TOOL
};
const SRIOV: Cause = Cause {
    remedy: Remedy::Settings,
    sources: &[seen("Linux kernel: drivers/pci/iov.c", "2026-11-30")],
    ..TOOL
};
const COREDNS: Cause = Cause {
    remedy: Remedy::Settings,
    sources: &[seen(
        "https://kubernetes.io/docs/tasks/administer-cluster/dns-debugging-resolution/",
        "2026-11-30",
    )],
    ..TOOL
};
const SETUP: Cause = Cause {
    remedy: Remedy::Settings,
    sources: &[seen("https://manpages.debian.org/bookworm/ifupdown/interfaces.5.en.html", "2026-11-30")],
    ..TOOL
};

pub(in crate::causes) const ROWS: &[Cause] = &[
    // Drivers.
    Cause {
        id: "mlx5.limits",
        sign: r"(?<command>[A-Z0-9_]+)\(0x[0-9a-f]+\) op_mod\(0x[0-9a-f]+\) failed, status (limits exceeded\(0x8\)|no resources\(0xf\))",
        says: "the card has no room for more objects ({command})",
        means: "Programs hold as many objects of that kind as the card (or this virtual function) has: memory keys, queue pairs, flow tables. A process that leaks them or very many processes do it.",
        act: "`rdma resource show` counts them by process: end the one that holds most; where all are meant, look for the limits of the function (`mlxconfig query`, the hypervisor's settings of the VF)",
        remedy: Remedy::Settings,
        samples: &[
            "mlx5_core 0000:41:00.0: mlx5_cmd_check:816:(pid 2300450): CREATE_MKEY(0x200) op_mod(0x0) failed, status limits exceeded(0x8), syndrome (0x59c8a4)",
        ],
        ..MLX5
    },
    Cause {
        id: "ena.lost_packets",
        sign: r"Found a Tx that wasn't completed on time|number of lost tx completions is above the threshold|TX q [0-9]+ is paused for too long",
        says: "the cloud's network card (ENA) did not finish packets in time, and its driver resets it",
        means: "Mostly the processors did not come to serve the card's queues: soft lockups, memory that runs out, one processor that takes all interrupts. The device itself can be the cause too. The network is away for some seconds each time.",
        act: "look for `soft lockup`, out-of-memory kills and `blocked for more than` at the same time first; update the driver ena; spread its interrupts; when it returns without any of these, stop and start the instance, and give the lines to the cloud's support",
        counts: Counts::Warn,
        remedy: Remedy::Look,
        sure: Sure::Guess,
        sources: &[
            seen("https://github.com/amzn/amzn-drivers/issues/27", "2017-07-12"),
            seen("https://github.com/amzn/amzn-drivers/issues/336", "2025-02-25"),
        ],
        samples: &[
            "ena 0000:00:05.0 eth0: Found a Tx that wasn't completed on time, qid 2, index 961.",
            "ens5: The number of lost tx completions is above the threshold (361 > 128). Reset the device",
            "ena 0000:90:00.0 eth0: TX q 11 is paused for too long (threshold 5000000). Time since last napi 5 usec",
        ],
        ..SETUP
    },
    Cause {
        id: "mlx5.query_note",
        sign: r"(ACCESS_REG|QUERY_[A-Z_0-9]+|DESTROY_[A-Z_0-9]+|2RST_QP)\(0x[0-9a-f]+\) op_mod\(0x[0-9a-f]+\) failed, status [a-z ]+\(0x[0-9a-f]+\)",
        says: "the card refuses a query of its driver or of a tool",
        means: "Tools ask for counters or settings that this function or firmware does not have. It stops nothing by itself; where a program or set-up step fails at the same time, the lines after it name that.",
        counts: Counts::Note,
        act: "nothing where all works; else read the next lines, and compare the versions of driver and firmware",
        samples: &[
            "mlx5_core 0000:04:00.0: mlx5_cmd_check:756:(pid 12450): ACCESS_REG(0x805) op_mod(0x1) failed, status bad parameter(0x3), syndrome (0x1e5585)",
        ],
        ..MLX5
    },
    Cause {
        id: "mlx5.sriov",
        sign: r"(mlx5_device_enable_sriov|mlx5_sriov_enable|mlx5_core_sriov_configure)[^ ]* .*failed|failed to enable eswitch SRIOV \((?<error>-?[0-9]+)\)",
        says: "the driver could not switch SR-IOV on[ ({error})]",
        means: "The firmware's settings allow no or fewer virtual functions, or driver and firmware do not fit: a kernel update can do that too.",
        act: "`mlxconfig -d DEV query SRIOV_EN NUM_OF_VFS`; where both are right and it worked before an update, take the kernel or driver from before; then the newest firmware",
        remedy: Remedy::Install,
        sure: Sure::Guess,
        samples: &[
            "mlx5_core 0000:c1:00.0: mlx5_device_enable_sriov:82:(pid 1097): failed to enable eswitch SRIOV (-22)",
        ],
        ..MLX5
    },
    Cause {
        id: "mlx5.refused",
        sign: r"(?<command>[A-Z0-9_]+)\(0x[0-9a-f]+\) op_mod\(0x[0-9a-f]+\) failed, status (?<status>[a-z ]+)\(0x[0-9a-f]+\), syndrome \((?<syndrome>0x[0-9a-f]+)\)",
        role: Role::Effect,
        says: "the firmware of the card refused {command} ({status}, syndrome {syndrome})",
        means: "The driver or a program asked for something that this firmware, function or mode does not allow: mostly driver and firmware that do not fit each other, or a feature that the mode (bond, switchdev, virtual function) excludes. The card is not broken for that.",
        counts: Counts::Warn,
        act: "look for what was done at this time (a bond, SR-IOV, offloads); compare `ethtool -i` with the release notes of driver and firmware and bring both to one release",
        remedy: Remedy::Install,
        sure: Sure::Guess,
        samples: &[
            "mlx5_core 0000:08:00.0: mlx5_cmd_out_err:778:(pid 25543): CREATE_LAG(0x840) op_mod(0x0) failed, status bad parameter(0x3), syndrome (0x7d49cb), err(-22)",
        ],
        ..MLX5
    },
    Cause {
        id: "ice.channels",
        sign: "Cannot change channels when RDMA is active",
        says: "ice does not change the number of channels while RDMA is loaded",
        means: "The driver irdma uses the card, and ice then refuses `ethtool -L`.",
        act: "where RDMA of that card is not used: `modprobe -r irdma` and keep it from loading (a file in /etc/modprobe.d), then set the channels; else leave the channels as they are",
        remedy: Remedy::Settings,
        sure: Sure::Confirmed,
        sources: &[seen("Linux kernel: drivers/net/ethernet/intel/ice/ice_ethtool.c", "2026-11-30")],
        samples: &["ens2f0: Cannot change channels when RDMA is active."],
        ..MLX5
    },
    Cause {
        id: "mlx5.error_cqe",
        sign: r"(Requestor|Responder) error cqe on cqn 0x[0-9a-f]+|mlx5_poll_one:[0-9]+:\(pid [0-9]+\): syndrome 0x(?<syndrome>[0-9a-f]+), vendor syndrome 0x(?<vendor>[0-9a-f]+)",
        role: Role::Effect,
        says: "a request over RDMA in the kernel failed[ (syndrome 0x{syndrome}, vendor 0x{vendor})]",
        means: "The kernel's own users of RDMA (NVMe, NFS, Lustre, IPoIB) got an error for a request. Syndrome 0x5 only says that what was left in the queue was flushed after the connection had failed; 0x15 that the peer did not answer, 0x4 and 0x13 that memory was not allowed.",
        act: "look at the first line with another syndrome than 0x5 and at the log of the peer; then at the link of both cards",
        sure: Sure::Guess,
        sources: &[seen("https://github.com/linux-nvme/nvme-cli/issues/3268", "2026-04-23")],
        samples: &[
            "[15601.662156] infiniband rocep33s0f0: mlx5_poll_one:527:(pid 0): Responder error cqe on cqn 0x406:",
            "[15601.662158] infiniband rocep33s0f0: mlx5_poll_one:530:(pid 0): syndrome 0x5, vendor syndrome 0xf9",
        ],
        ..MLX5
    },
    Cause {
        id: "net.refcount",
        sign: r"unregister_netdevice: waiting for (?<device>\S+) to become free\. Usage count = -?[0-9]+",
        says: "the kernel waits for {device} to be let go",
        means: "A device of the network (often that of a container) was taken away and something in the kernel still counts it. It is a fault of the kernel or of a driver; commands for the network may hang until a reboot.",
        counts: Counts::Warn,
        act: "where it goes on for minutes and `ip` hangs: drain and reboot the host; then a newer kernel or driver",
        remedy: Remedy::Reset,
        sure: Sure::Likely,
        sources: &[seen("https://github.com/amzn/amzn-drivers/issues/125", "2020-04-21")],
        samples: &["[12620.189810] unregister_netdevice: waiting for eth1 to become free. Usage count = -1"],
        ..MLX5
    },
    Cause {
        id: "net.checksum",
        sign: r"(?<device>\S+): hw csum failure|\(NULL net_device\): hw csum failure",
        says: "the card and the kernel differ about a checksum of a packet",
        means: "The kernel computes it anew and goes on. It is mostly a fault of a driver or of a program that changes packets (eBPF, tunnels, bridges), and not of the card.",
        counts: Counts::Warn,
        act: "update kernel and driver; `ethtool -K DEV rx off` quiets it at some cost; look what changes packets on this host (eBPF, VLANs, tunnels)",
        remedy: Remedy::Install,
        sure: Sure::Guess,
        sources: &[seen("https://github.com/immortalwrt/immortalwrt/issues/2175", "2025-12-28")],
        samples: &["[21852.777689] (NULL net_device): hw csum failure", "eth0: hw csum failure"],
        ..MLX5
    },
    Cause {
        id: "nvmf.keep_alive",
        sign: r"nvme nvme[0-9]+: (failed nvme_keep_alive_end_io error=(?<error>-?[0-9]+)|starting error recovery|keep-alive failed)",
        role: Role::Effect,
        says: "an NVMe target over the network stopped answering[ (error {error})]",
        means: "The connection was lost or the target is stuck. The host tries again by itself.",
        act: "look at the target's log and at the network between; for RDMA at the link and the errors of the card just before",
        sure: Sure::Guess,
        sources: &[seen("Linux kernel: drivers/nvme/host/core.c, rdma.c", "2026-11-30")],
        samples: &[
            "nvme nvme0: failed nvme_keep_alive_end_io error=881",
            "nvme nvme0: starting error recovery",
        ],
        ..MLX5
    },
    Cause {
        id: "card.firmware_file",
        sign: r"(Can't|Failed to|can't|[Cc]ould not|[Uu]nable to) (load|open|find) firmware( file)? [\x22'`]?(?<file>[A-Za-z0-9_./-]+(\.fw|\.bin|\.pkg|\.pnvm|\.zst))|no suitable firmware found|Firmware [^ ]+ not found|[Rr]equest for firmware .* failed",
        says: "a driver finds no firmware file[: {file}]",
        means: "The file belongs to a package of firmware that is not installed, or is not in the initramfs.",
        act: "install the firmware package of the distribution that has it (linux-firmware, firmware-bnx2x, firmware-misc-nonfree), `update-initramfs -u` or `dracut -f`, then load the driver again",
        remedy: Remedy::Install,
        sources: &[seen("https://github.com/open-power-host-os/builds/issues/25", "2016-08-22")],
        samples: &[
            "bnx2x: [bnx2x_init_firmware:13444(net0)]Can't load firmware file bnx2x/bnx2x-e2-7.13.1.0.fw",
        ],
        ..MLX5
    },
    Cause {
        id: "card.other_probe",
        sign: r"(?<driver>bnx2x|tg3|igb|igc|ixgbe|ixgbevf|iavf|e1000e|qede|qed|be2net|sfc|atlantic|vmxnet3|hv_netvsc|r8169|enic|liquidio|nfp|octeon_ep|idpf|fm10k|mlx4_en)(: probe of| ) ?(?<device>[0-9a-f:.]+[0-9a-f])(: probe with driver [a-z0-9_]+)? failed with error (?<error>-?[0-9]+)",
        says: "the driver {driver} did not start for {device} (error {error})",
        means: "The driver gave the card up. With -22 (EINVAL) right after a new kernel it is mostly a fault of that kernel; with -2 a firmware file is missing; with -12 or -28 memory, addresses or interrupts are; with -110 or -5 the card does not answer.",
        act: "read the lines before it; where another kernel worked boot that one and hold it until it is mended; with -2 install the firmware package; a card that does not answer gets a power cycle of the host",
        remedy: Remedy::Install,
        sure: Sure::Guess,
        sources: &[seen("https://github.com/proxmox/pve-kernel/issues/6", "2021-09-09")],
        samples: &["bnx2x: probe of 0000:04:00.0 failed with error -22"],
        ..MLX5
    },
    // Virtual functions.
    Cause {
        id: "sriov.no_mmio",
        sign: r"not enough MMIO resources for SR-IOV|SR-IOV: bus number out of range|can't enable [0-9]+ VFs \(bus [0-9a-f]+ out of range",
        says: "the firmware of the host gives no addresses for virtual functions",
        means: "Virtual functions need address space and bus numbers that the BIOS did not give to this slot.",
        act: "switch SR-IOV and Above 4G Decoding (and ARI) on in the firmware setup; where that is not possible boot with `pci=realloc` (addresses) or `pci=assign-busses` (bus numbers); fewer functions may fit too",
        sure: Sure::Confirmed,
        samples: &["mlx5_core 0000:b0:00.0: not enough MMIO resources for SR-IOV"],
        ..SRIOV
    },
    Cause {
        id: "sriov.write",
        sign: r"sriov_numvfs: ?(write error: )?(?<why>[Cc]annot allocate memory|[Dd]evice or resource busy|[Nn]umerical result out of range|[Ii]nvalid argument|[Nn]o such file or directory|[Nn]o such device|[Ff]unction not implemented|[Ii]nput/output error)",
        says: "the number of virtual functions was not set ({why})",
        means: "`Cannot allocate memory` means that the BIOS gives no addresses for them; `Device or resource busy` that functions exist already (0 comes first); `Numerical result out of range` and `No such file` that the card's firmware allows fewer or none.",
        act: "`cat sriov_totalvfs` and `dmesg | tail`; write 0 first; for NVIDIA cards `mlxconfig -d DEV query SRIOV_EN NUM_OF_VFS`; SR-IOV and Above 4G Decoding in the firmware setup",
        samples: &["write /sys/bus/pci/devices/0000:b0:00.0/sriov_numvfs: cannot allocate memory"],
        ..SRIOV
    },
    // Links and bonds.
    Cause {
        id: "bond.no_lacp",
        sign: r"(?<bond>[A-Za-z0-9_.-]+): (\(slave [^)]*\): )?Warning: No 802\.3ad response from the link partner",
        says: "the switch gives no LACP for {bond}",
        means: "The ports of the switch are not in one LACP group (or in another mode), or they are down. The bond uses one link at most.",
        counts: Counts::Warn,
        act: "`cat /proc/net/bonding/{bond}` for the partner (00:00:00:00:00:00 means none); set the switch's ports to one LACP group with the same settings; a single line while links come up is harmless",
        samples: &["bond0: Warning: No 802.3ad response from the link partner for any adapters in the bond"],
        ..LINK
    },
    Cause {
        id: "bond.no_interface",
        sign: r"(?<bond>[A-Za-z0-9_.-]+): now running without any active interface",
        says: "{bond} has no link any more",
        means: "All its interfaces lost their link: cables, the switch, or somebody took them down.",
        act: "`ip -br link`, the kernel's lines before it for each interface, then both ends of the cables",
        samples: &["bond0: now running without any active interface!"],
        ..LINK
    },
    Cause {
        id: "bond.has_slaves",
        sign: r"option [a-z_]+: unable to set because the bond (device )?(has slaves|is up)",
        says: "an option of a bond was not set, as the bond is in use already",
        means: "Mode and some options are only taken while the bond has no interfaces and is down. With the right mode already, nothing is wrong.",
        counts: Counts::Warn,
        act: "`cat /proc/net/bonding/BOND` for the mode: where it is right leave it; else take the bond down, its interfaces out, and set it again (with netplan a reboot or `netplan apply` after `ip link del BOND`)",
        sources: &[seen("https://github.com/siderolabs/talos/issues/1638", "2019-12-09")],
        samples: &["[   82.567094] bond0: option mode: unable to set because the bond device has slaves"],
        ..LINK
    },
    Cause {
        id: "networkd.netdev",
        sign: r"systemd-networkd.*(?<device>[A-Za-z0-9_.-]+): netdev could not be created: (?<why>.+)",
        says: "networkd could not make {device} ({why})",
        means: "The kernel refused it: its module is missing (Operation not supported), another service made it already, or the parts of it do not exist yet.",
        act: "`networkctl status {device}` and `journalctl -b -u systemd-networkd`; `modprobe` the kind (bonding, 8021q, bridge); look for another manager of the same device",
        sure: Sure::Guess,
        sources: &[seen("https://github.com/systemd/systemd/issues/19999", "2021-06-23")],
        samples: &["systemd-networkd[279]: bond0: netdev could not be created: Operation timed out"],
        ..SETUP
    },
    Cause {
        id: "networkd.not_set",
        sign: r"systemd-networkd.*: (?<device>[A-Za-z0-9_.-]+): (Could not|Failed to) (?<what>(bring up|set|join|configure|enslave|create)[^:]*)[:,] ?(?<why>.+)",
        role: Role::Effect,
        says: "networkd could not {what} on {device}: {why}",
        means: "The kernel refused a setting of the .network file.",
        act: "compare the file with the device (`networkctl status {device}`, `ip -d link show {device}`): a gateway outside of its network, an MTU that is too large, a name that is taken",
        sure: Sure::Guess,
        samples: &["systemd-networkd[700]: eno1: Could not bring up interface: Invalid argument"],
        ..SETUP
    },
    Cause {
        id: "ifup.failed",
        sign: r"(?<file>/etc/network/interfaces[^: ]*):(?<line>[0-9]+): (?<why>.+)|ifup: (unknown interface|[Ii]gnoring unknown interface) (?<name>[^= ]+)|(ifup|ifdown): (couldn't read interfaces file|[^ ]+: [^ ]+ configuration|recursion detected)|[Ee]rror: Don't seem to have all the variables for (?<missing>[^/ ]+)",
        says: "ifupdown does not take its settings[: {file} line {line}, {why}][: unknown interface {name}]",
        means: "A line of /etc/network/interfaces is wrong, names an interface that is not defined, or an option is missing.",
        act: "mend that line; `ifquery --list` and `ifup --no-act -v IFACE` show what is read",
        samples: &["/etc/network/interfaces:24: misplaced option"],
        ..SETUP
    },
    Cause {
        id: "ifup.no_bring_up",
        sign: r"(ifup: )?[Ff]ailed to bring up (?<device>[A-Za-z0-9_.@:-]+)\.?( \[|$)|networking\.service: .*Failed with result|Failed to start (networking\.service|Raise network interfaces|LSB: Raise network)",
        role: Role::Effect,
        says: "an interface did not come up[: {device}]",
        means: "ifup says the reason in the line before: a device of another name, an address that exists already, no answer of DHCP.",
        act: "`ip -br link` against the names in /etc/network/interfaces, then `ifup -v IFACE`",
        sure: Sure::Guess,
        samples: &["Failed to bring up eno1.", "ifup: failed to bring up eth0"],
        ..SETUP
    },
    Cause {
        id: "nm.not_readied",
        sign: r"The device could not be readied for configuration|mtu: failure to set IPv6 MTU",
        says: "NetworkManager could not prepare the device",
        means: "The kernel refused a setting before any address was given: for InfiniBand mostly the mode (connected mode is not in this kernel or driver) or the MTU (more than 4092 in datagram mode), for others MTU, MAC address or a parent that is missing.",
        act: "`journalctl -u NetworkManager -b | grep DEV` and `dmesg | tail`; for IPoIB set `infiniband.transport-mode datagram` and an MTU that `ip -d link show DEV` allows (maxmtu)",
        sources: &[
            seen("https://github.com/clearlinux/distribution/issues/1095", "2022-12-08"),
            seen("https://github.com/clearlinux/distribution/issues/2770", "2022-11-21"),
        ],
        samples: &["Error: Connection activation failed: The device could not be readied for configuration"],
        ..SETUP
    },
    Cause {
        id: "nm.no_carrier",
        sign: r"is not available on device (?<device>[^ ]+) because device has no carrier|Device '(?<other>[^']+)' has no carrier",
        says: "NetworkManager sees no link on the port[ {device}][ {other}]",
        means: "No cable, no transceiver, a port that is switched off on the other side, or a device that is down.",
        act: "`ip -br link`, `ethtool DEV` (Link detected; `ethtool -m DEV` for the transceiver); `ip link set DEV up` once; then the cable and the switch's port",
        sources: &[seen("https://github.com/NetworkManager/NetworkManager/pull/325", "2019-03-28")],
        samples: &[
            "Error: Failed to add/activate new connection: Connection 'eth0' is not available on device eth0 because device has no carrier",
        ],
        ..SETUP
    },
    Cause {
        id: "nm.activation",
        sign: r"Error: Connection activation failed: (?<why>.+)",
        role: Role::Effect,
        says: "NetworkManager could not bring a connection up: {why}",
        means: "The device is missing or unmanaged, another part of it (a bond, a VLAN's parent) failed, or a secret is wanted.",
        act: "`journalctl -u NetworkManager -b | tail -50` has the reason; `nmcli device` shows states",
        sure: Sure::Guess,
        samples: &["Error: Connection activation failed: The base network connection was interrupted"],
        ..SETUP
    },
    Cause {
        id: "firewall.ufw_failed",
        sign: r"ERROR: (Could not load logging rules|problem running( ufw-init)?|initcaps|Couldn't determine iptables version|.*iptables-restore.*failed)|ufw-init.*(failed|error)|(ip6?tables-restore|ip6?tables-nft-restore)(: | v[^ ]+ [^:]*: )?.*(line (?<line>[0-9]+) failed|failed at: (?<at>[0-9]+)|Couldn't load (match|target))",
        says: "ufw or iptables-restore could not load its rules[ (line {line})][ (line {at})]",
        means: "A rule in /etc/ufw/*.rules (or the file that is restored) is refused: a chain that does not exist (of Docker, or one whose name ufw does not manage), a module of the kernel that is missing, or a mixture of iptables-nft and iptables-legacy. ufw may be off afterwards.",
        act: "`ufw status`; `ufw --force enable` shows the line; mend or take out own rules in after.rules; `update-alternatives --display iptables`; after an update of the kernel reboot",
        sure: Sure::Guess,
        sources: &[seen("https://github.com/moby/moby/issues/4737", "2019-01-23")],
        samples: &["ERROR: Could not load logging rules", "iptables-restore: line 12 failed"],
        ..SETUP
    },
    Cause {
        id: "nm.unknown_connection",
        sign: r"Error: unknown connection '(?<name>[^']+)'|Error: (?<other>[^ ]+) - no such connection profile|Error: cannot delete unknown connection",
        says: "NetworkManager has no connection [{name}][{other}]",
        means: "The profile has another name on this host than the script or playbook thinks.",
        act: "`nmcli -f NAME,DEVICE,UUID connection` lists them; name it as it is, or make it",
        sure: Sure::Confirmed,
        samples: &["Error: unknown connection 'eno1'."],
        ..SETUP
    },
    Cause {
        id: "ip.busy",
        sign: r"RTNETLINK answers: (Device or resource busy|Operation not supported|Cannot allocate memory|Invalid argument|Numerical result out of range)",
        role: Role::Effect,
        says: "the kernel refused a network setting",
        means: "The words are general: the device is up or part of a bond, the driver does not have this setting, or a value is out of its range.",
        act: "`dmesg | tail` mostly has the driver's own reason; take the device down first where the setting wants it",
        sure: Sure::Guess,
        sources: &[seen("https://man7.org/linux/man-pages/man7/rtnetlink.7.html", "2026-11-30")],
        samples: &[
            "RTNETLINK answers: Operation not supported",
            "RTNETLINK answers: Device or resource busy",
        ],
        ..SETUP
    },
    Cause {
        id: "ethtool.refused",
        sign: r"netlink error: (?<why>.+)|Cannot (set|get) (new settings|device [a-z-]+ settings|device ring settings|ring parameters|coalesce|channel parameters)[^:]*: (?<old>.+)",
        role: Role::Effect,
        says: "ethtool could not do it[: {why}][: {old}]",
        means: "The driver does not have this setting, or not in this state. A line of the driver in the kernel's log says more.",
        counts: Counts::Warn,
        act: "`dmesg | tail` for the driver's line; `ethtool -i`, and leave out what the card does not have",
        sure: Sure::Guess,
        sources: &[seen("https://man7.org/linux/man-pages/man8/ethtool.8.html", "2026-11-30")],
        samples: &["netlink error: Device or resource busy", "netlink error: Operation not supported"],
        ..SETUP
    },
    // DNS of a cluster, and other words of resolvers.
    Cause {
        id: "coredns.upstream",
        sign: r"plugin/errors: [0-9]+ .*: (read udp|dial (udp|tcp)|write udp|unreachable backend).*(i/o timeout|connection refused|network is unreachable|no route to host)|unreachable backend: read udp",
        near: &[r"->(?<server>[0-9a-f.:]+):53: "],
        says: "CoreDNS does not reach the DNS server behind it[ ({server})]",
        means: "CoreDNS runs and asks the servers of the node's /etc/resolv.conf, which do not answer from the pod network: a wrong or dead server there, a firewall for port 53, or a pod network that has no way out. A loop of 127.0.0.53 does it too.",
        act: "from the node and from a pod `dig @SERVER example.com`; set `forward . SERVER` in the ConfigMap coredns to one that answers; where only pods fail, look at masquerading and at the firewall of the nodes",
        sources: &[seen("https://github.com/coredns/coredns/issues/2693", "2019-03-15")],
        samples: &[
            "[ERROR] plugin/errors: 2 7994225720195620561.3842098355147683469. HINFO: unreachable backend: read udp 10.42.0.60:33887->213.186.33.99:53: i/o timeout",
            "[ERROR] plugin/errors: 2 example.com. A: read udp 10.244.0.3:40712->192.0.2.53:53: i/o timeout",
        ],
        ..COREDNS
    },
    Cause {
        id: "coredns.loop",
        sign: r"plugin/loop: Loop \((?<way>[^)]*)\) detected",
        says: "CoreDNS asks itself in a loop",
        means: "It forwards to a resolver of the node (127.0.0.53 of systemd-resolved) that in the end asks CoreDNS again.",
        act: "let kubelet use the real file: `resolvConf: /run/systemd/resolve/resolv.conf`, or set `forward . SERVER` in the ConfigMap coredns; then delete its pods",
        sure: Sure::Confirmed,
        sources: &[seen("https://coredns.io/plugins/loop/", "2026-11-30")],
        samples: &[
            "[FATAL] plugin/loop: Loop (127.0.0.1:55953 -> :1053) detected for zone \".\", see https://coredns.io/plugins/loop#troubleshooting.",
        ],
        ..COREDNS
    },
    Cause {
        id: "coredns.api",
        sign: r"plugin/(kubernetes|ready): (Still waiting on|.*(i/o timeout|no route to host|connection refused)).*|pkg/mod/k8s\.io/client-go.*Failed to (list|watch).*(i/o timeout|no route to host|connection refused)",
        role: Role::Effect,
        says: "a pod does not reach the API server of Kubernetes",
        means: "The service address (10.96.0.1) is not reached from the pod network: kube-proxy, the network plugin or a firewall of the node.",
        act: "`kubectl get pods -n kube-system -o wide` for kube-proxy and the network plugin on that node; `curl -k https://10.96.0.1` on the node; firewalld and ufw, then restart the pod",
        sure: Sure::Guess,
        samples: &["[INFO] plugin/ready: Still waiting on: \"kubernetes\""],
        ..COREDNS
    },
    Cause {
        id: "dns.busybox",
        sign: r"\*\*\* Can't find (?<name>[^ :]+): No answer|nslookup: can't resolve '(?<old>[^']+)'(: (?<why>.+))?",
        near: &[r"can't find (?<first>[^ :]+): NXDOMAIN"],
        role: Role::Effect,
        says: "nslookup of busybox has no address for [{name}][{old}]",
        means: "This nslookup (1.29 and newer) does not add search domains, asks for A and AAAA each, and tells `No answer` for the one that is missing. Names of services without their domain fail in it though DNS is well.",
        counts: Counts::Warn,
        act: "ask with the whole name (`kubernetes.default.svc.cluster.local`), or by `getent hosts`, or in an image with bind's nslookup; where that fails too, look at CoreDNS",
        sources: &[seen("https://github.com/docker-library/busybox/issues/75", "2020-01-02")],
        samples: &[
            "*** Can't find kubernetes.default: No answer",
            "nslookup: can't resolve 'kubernetes.default'",
        ],
        ..COREDNS
    },
    Cause {
        id: "dns.resolvectl",
        sign: r"resolve call failed: (?<why>.+)",
        says: "systemd-resolved could not answer: {why}",
        means: "`No appropriate name servers` means that no server is set for any link; `All attempts to contact name servers` that none answered; `not found` that the name does not exist.",
        act: "`resolvectl status`: set `DNS=` (resolved.conf, netplan, nmcli) where no server is listed, ask a listed one by `dig @SERVER NAME` where it does not answer",
        sources: &[seen(
            "https://www.freedesktop.org/software/systemd/man/latest/resolvectl.html",
            "2026-11-30",
        )],
        samples: &[
            "gpu0.example.com: resolve call failed: No appropriate name servers or networks for name found",
        ],
        ..COREDNS
    },
    Cause {
        id: "dns.refused_locally",
        sign: r"nslookup: write to '(?<server>[^']+)': (?<why>Connection refused|Operation not permitted|Network unreachable)|;; UDP setup with (?<other>[^ ]+)#53\([^)]*\) for [^ ]+ failed: (?<reason>.+)",
        role: Role::Effect,
        says: "the DNS server [{server}][{other}] is not reached ([{why}][{reason}])",
        means: "Nothing listens on port 53 there, or there is no way to it.",
        act: "`cat /etc/resolv.conf`; `ss -lunp 'sport = :53'` where the server is this host; in Kubernetes look at the pods of CoreDNS and the endpoints of kube-dns",
        samples: &["nslookup: write to '10.96.0.10': Connection refused"],
        ..COREDNS
    },
    Cause {
        id: "dns.apk",
        sign: r"(ERROR|WARNING).*alpinelinux\.org.*: (temporary error \(try again later\)|DNS (lookup error|: .*)|could not connect to server)",
        role: Role::Effect,
        says: "apk does not reach its repository",
        means: "Mostly names are not resolved in this image build: /etc/resolv.conf inside is empty or names 127.0.0.53 of the host; a proxy or a network that is away does it too.",
        act: "`cat /etc/resolv.conf` in a step of the build; give the daemon real servers (`dns` in daemon.json, `--dns`; for builds `--network host`), or the proxy as build arguments",
        passing: true,
        sources: &[seen("https://github.com/podman-container-tools/buildah/issues/3806", "2022-03-05")],
        samples: &[
            "ERROR: https://dl-cdn.alpinelinux.org/alpine/v3.15/main: temporary error (try again later)",
        ],
        ..COREDNS
    },
    Cause {
        id: "dns.musl",
        sign: r"(bad address '(?<name>[^']+)'|Name does not resolve)",
        role: Role::Effect,
        says: "a name was not resolved[: {name}]",
        means: "These are the words of musl and busybox (Alpine images): the name is unknown, or no DNS server answered.",
        act: "`cat /etc/resolv.conf` in the container and `nslookup NAME` there; then the same on the host",
        sure: Sure::Guess,
        samples: &["wget: bad address 'example.com'", "ping: bad address 'gpu0'"],
        ..COREDNS
    },
];
