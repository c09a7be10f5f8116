//! Network cards and their drivers.

use super::super::cause::{Apart, Cause, Counts, ROW, Remedy, Sure, When, Worse, seen};

const MLX5: Cause = Cause { check: "rdma.log", counts: Counts::Fail, ..ROW };
const CARD: Cause = Cause { check: "kernel.network", counts: Counts::Warn, ..ROW };
const HEALTH: &str = "Linux kernel: drivers/net/ethernet/mellanox/mlx5/core/health.c";
const EVENTS: &str = "Linux kernel: drivers/net/ethernet/mellanox/mlx5/core/events.c";

pub(in crate::causes) const ROWS: &[Cause] = &[
    Cause {
        id: "mlx5.compromised",
        sign: r"mlx5_core (?<device>{pci}): ({pci}:)?([a-z0-9_]+:[0-9]+:\(pid [0-9]+\): )?(device's health compromised|Fatal error [0-9]+ detected)",
        says: "its health is compromised",
        means: "The firmware of the card stopped answering.",
        act: "drain the host and reset the card (`mlxfwreset -d DEV reset`) or power-cycle the host, then update its firmware",
        remedy: Remedy::Reset,
        ended_by: &["mlx5.recovered"],
        sources: &[seen(HEALTH, "2026-11-29")],
        samples: &[
            "[ 1301.400102] mlx5_core 0000:5e:00.0: poll_health:800:(pid 0): device's health compromised - reached miss count",
            "[ 1301.4] mlx5_core 0000:5e:00.0: mlx5_health_check_fatal_sensors:260:(pid 0): Fatal error 3 detected",
        ],
        ..MLX5
    },
    Cause {
        id: "mlx5.not_recovered",
        sign: r"mlx5_core (?<device>{pci}): ({pci}:)?([a-z0-9_]+:[0-9]+:\(pid [0-9]+\): )?health re(c|v)overy (flow aborted|failed)",
        says: "it did not recover",
        means: "The driver could not bring the card back.",
        act: "power-cycle the host, then update the firmware of the card; when PCI reads do not work, look at its slot and riser",
        remedy: Remedy::Reset,
        ended_by: &["mlx5.recovered"],
        sources: &[seen(HEALTH, "2026-11-29")],
        samples: &[
            "mlx5_core 0001:01:00.0: mlx5_health_try_recover:313:(pid 3174): health recovery flow aborted, PCI reads still not working",
        ],
        ..MLX5
    },
    Cause {
        id: "mlx5.recovered",
        sign: r"mlx5_core (?<device>{pci}): ({pci}:)?([a-z0-9_]+:[0-9]+:\(pid [0-9]+\): )?health recovery succeeded",
        says: "it recovered",
        means: "The driver brought the card back.",
        counts: Counts::Note,
        sources: &[seen(HEALTH, "2026-11-29")],
        samples: &[
            "[ 1321.4] mlx5_core 0000:5e:00.0: mlx5_health_try_recover:343:(pid 312): health recovery succeeded",
        ],
        ..MLX5
    },
    Cause {
        id: "mlx5.health_hot",
        sign: r"mlx5_core (?<device>{pci}): ({pci}:)?([a-z0-9_]+:[0-9]+:\(pid [0-9]+\): )?(Health issue observed, High temp[a-z]*|synd 0x10: High temp)",
        says: "its firmware reports that it is too hot",
        means: "The card is about to switch itself off, or has done so.",
        act: "look at fans, blank panels and the temperature of the room, and at its optical modules; only when it stays silent after it has cooled down power-cycle the host",
        ended_by: &["mlx5.recovered"],
        sources: &[seen(HEALTH, "2026-11-29")],
        samples: &[
            "[ 1301.4] mlx5_core 0000:5e:00.0: print_health_info:427:(pid 0): Health issue observed, High temperature, severity(3) ERROR:",
        ],
        ..MLX5
    },
    Cause {
        id: "mlx5.health_pcie",
        sign: r"mlx5_core (?<device>{pci}): ({pci}:)?([a-z0-9_]+:[0-9]+:\(pid [0-9]+\): )?(Health issue observed, |synd 0x(a|12): )(ICM fetch PCI error|ICM fetch PCI data poisoned error|PCI data poisoned error)",
        says: "its firmware met an error of PCIe while it read memory of the host",
        means: "The PCIe link or the memory of the host gave wrong data; the card itself may be sound.",
        act: "look at AER lines and memory errors of the same time; drain the host, power-cycle it and update the firmware of the card; when it returns reseat the card or try another slot",
        remedy: Remedy::Reset,
        ended_by: &["mlx5.recovered"],
        sources: &[seen(HEALTH, "2026-11-29")],
        samples: &[
            "[ 1301.4] mlx5_core 0000:5e:00.0: print_health_info:427:(pid 0): Health issue observed, ICM fetch PCI error, severity(3) ERROR:",
        ],
        ..MLX5
    },
    Cause {
        id: "mlx5.health_grave",
        sign: r"mlx5_core (?<device>{pci}): ({pci}:)?([a-z0-9_]+:[0-9]+:\(pid [0-9]+\): )?Health issue observed, (?<what>[^,]+), severity\([0-3]\)",
        says: "its firmware reports {what}",
        means: "The firmware of the card met an error that it cannot mend.",
        act: "drain the host and reset the card (`mlxfwreset -d DEV reset`) or power-cycle the host, then update its firmware",
        remedy: Remedy::Reset,
        apart: &[Apart {
            beside: &["mlx5.hot"],
            act: "look at fans and air flow first: the card switches itself off when it is too hot; then power-cycle the host",
        }],
        ended_by: &["mlx5.recovered"],
        sources: &[seen(HEALTH, "2026-11-29")],
        samples: &[
            "[ 1301.4] mlx5_core 0000:5e:00.0: print_health_info:427:(pid 0): Health issue observed, firmware internal error, severity(3) ERROR:",
        ],
        ..MLX5
    },
    Cause {
        id: "mlx5.health",
        sign: r"mlx5_core (?<device>{pci}): ({pci}:)?([a-z0-9_]+:[0-9]+:\(pid [0-9]+\): )?Health issue observed, (?<what>[^,]+), severity\([4-7]\)",
        says: "its firmware reports {what}",
        means: "The firmware of the card reports something that it can live with.",
        counts: Counts::Warn,
        act: "when it returns, update the firmware of the card",
        remedy: Remedy::Install,
        ended_by: &["mlx5.recovered"],
        sources: &[seen(HEALTH, "2026-11-29")],
        samples: &[
            "[ 1301.4] mlx5_core 0000:5e:00.0: print_health_info:427:(pid 0): Health issue observed, FFSER error, severity(4) WARNING:",
        ],
        ..MLX5
    },
    Cause {
        id: "mlx5.start_refused",
        sign: r"mlx5_core (?<device>{pci}): ({pci}:)?([a-z0-9_]+:[0-9]+:\(pid [0-9]+\): )?(mlx5_(init_one|load_one|function_setup|function_enable|pci_init|probe_one)[a-z_]* failed with error code -(2|17|22|38|95|524)([^0-9]|$)|(handle|set)_hca_cap(_[a-z0-9_]+)? failed)",
        says: "its driver did not start, as driver and firmware do not agree",
        means: "The driver asked the firmware for something that it refused (an invalid argument), or modules of two releases are mixed. The card itself answers.",
        act: "look at the lines before it; bring the driver (kernel or OFED) and the firmware to releases that fit: where it began with a new kernel boot the one before, else update driver and firmware of the card",
        remedy: Remedy::Install,
        sources: &[
            seen("https://github.com/PeterSuh-Q3/tinycore-redpill/issues/9", "2023-12-07"),
            seen("Linux kernel: drivers/net/ethernet/mellanox/mlx5/core/main.c", "2026-11-30"),
        ],
        samples: &[
            "[   14.059052] mlx5_core 0000:03:00.0: mlx5_load_one failed with error code -22",
            "[   13.672173] mlx5_core 0000:03:00.0: handle_hca_cap failed",
            "mlx5_core 0000:06:00.0: probe_one:1465:(pid 70599): mlx5_init_one failed with error code -22",
        ],
        ..MLX5
    },
    Cause {
        id: "mlx5.start_resources",
        sign: r"mlx5_core (?<device>{pci}): ({pci}:)?([a-z0-9_]+:[0-9]+:\(pid [0-9]+\): )?(mlx5_(init_one|load_one|function_setup|function_enable|pci_init|probe_one)[a-z_]* failed with error code -(12|28)([^0-9]|$)|Failed to alloc IRQs|Failed initializing cmdif SW structs, aborting|Failed initializing command interface, aborting)",
        says: "its driver did not start, as the host gave it no memory, addresses or interrupts",
        means: "With -12 (ENOMEM) memory for DMA or addresses are missing, with -28 (ENOSPC) interrupts are. The IOMMU, the firmware setup or a virtual machine limits them; the card is not broken for that.",
        act: "look at the lines before it (IOMMU, BAR, MSI-X); of a virtual function or passed-through card at the hypervisor; switch Above 4G Decoding on in the firmware setup; very many functions that start at once may try again by `echo DEVICE > /sys/bus/pci/drivers/mlx5_core/bind`",
        remedy: Remedy::Settings,
        sources: &[seen(
            "Linux kernel: drivers/net/ethernet/mellanox/mlx5/core/main.c, pci_irq.c",
            "2026-11-30",
        )],
        samples: &[
            "[    3.189749] mlx5_core 111a:00:00.0: mlx5_mdev_init:1802:(pid 464): Failed initializing cmdif SW structs, aborting",
            "[  258.938315] mlx5_core 0000:81:00.2: init_one:1308:(pid 265): mlx5_load_one failed with error code -12",
            "[    5.278293] mlx5_core 0000:01:00.0: mlx5_load:1068:(pid 26): Failed to alloc IRQs",
        ],
        ..MLX5
    },
    Cause {
        id: "mlx5.start",
        sign: r"mlx5_core (?<device>{pci}): ({pci}:)?([a-z0-9_]+:[0-9]+:\(pid [0-9]+\): )?(Firmware over [0-9]+ MS in (pre-)?initializing state, aborting|mlx5_(init_one|load_one|function_setup|function_enable|pci_init)[a-z_]* failed with error code|enable hca failed|init_one failed)",
        says: "its driver did not start",
        means: "The card's firmware did not come up, so that the card is missing.",
        act: "power-cycle the host (a warm reboot does not reset the card), then update the firmware of the card; of a virtual function look at the host of the machine",
        remedy: Remedy::Reset,
        sources: &[seen("Linux kernel: drivers/net/ethernet/mellanox/mlx5/core/main.c", "2026-11-29")],
        samples: &[
            "[  183.178629] mlx5_core 468b:00:02.0: mlx5_function_setup:1130:(pid 17): Firmware over 120000 MS in pre-initializing state, aborting",
            "[  183.186289] mlx5_core 468b:00:02.0: probe_one:1764:(pid 17): mlx5_init_one failed with error code -16",
        ],
        ..MLX5
    },
    Cause {
        id: "mlx5.command",
        sign: r"mlx5_core (?<device>{pci}): ({pci}:)?([a-z0-9_]+:[0-9]+:\(pid [0-9]+\): )?(cmd ?\[[0-9]+\]: )?[A-Z0-9_]+\(0x[0-9a-f]+\) (.*[Ww]ill cause a leak of a command resource|canceled on out of queue timeout)",
        says: "its firmware does not answer commands",
        means: "A command to the firmware of the card timed out.",
        counts: Counts::Warn,
        worse: &[Worse { when: When::Times(3), counts: Counts::Fail }],
        act: "drain the host, reset the card (`mlxfwreset -d DEV reset`) or power-cycle the host, and update its firmware",
        remedy: Remedy::Reset,
        sources: &[seen("Linux kernel: drivers/net/ethernet/mellanox/mlx5/core/cmd.c", "2026-11-29")],
        samples: &[
            "mlx5_core 0000:01:00.0: wait_func_handle_exec_timeout:1108:(pid 2011): cmd[0]: DESTROY_EQ(0x302) No done completion, timeout. Will cause a leak of a command resource",
            "mlx5_core 0000:01:00.0: wait_func:969:(pid 2011): ENABLE_HCA(0x104) timeout. Will cause a leak of a command resource",
            "mlx5_core 0000:01:00.0: cb_timeout_handler:880:(pid 11): cmd[3]: CREATE_MKEY(0x200) Async, timeout. Will cause a leak of a command resource",
            "mlx5_core 0000:5e:00.0: wait_func:1151:(pid 812): CREATE_MKEY(0x200) canceled on out of queue timeout.",
        ],
        ..MLX5
    },
    Cause {
        id: "mlx5.cable_error",
        sign: r"mlx5_core (?<device>{pci}): ({pci}:)?([a-z0-9_]+:[0-9]+:\(pid [0-9]+\): )?Port module event\[error\]: module (?<module>[0-9]+), (?<what>[^\\]+)",
        says: "{what}",
        means: "The module of a cable cannot be used.",
        act: "look at `mlxlink -d DEV -m`, then reseat or replace the cable; for high temperature look at the airflow",
        ended_by: &["mlx5.cable_plugged", "mlx5.cable_unplugged", "mlx5.cable_error"],
        sources: &[seen(EVENTS, "2026-11-29")],
        samples: &[
            "[ 4712.000101] mlx5_core 0000:01:00.0: Port module event[error]: module 0, Cable error, High Temperature",
        ],
        ..MLX5
    },
    Cause {
        id: "mlx5.cable_unplugged",
        sign: r"mlx5_core (?<device>{pci}): ({pci}:)?([a-z0-9_]+:[0-9]+:\(pid [0-9]+\): )?Port module event: module (?<module>[0-9]+), Cable unplugged",
        says: "Cable unplugged",
        means: "A port has no cable.",
        counts: Counts::Warn,
        act: "plug the cable in again, or leave the port out by `expect.rdma.ignore`",
        remedy: Remedy::Settings,
        ended_by: &["mlx5.cable_plugged", "mlx5.cable_unplugged", "mlx5.cable_error"],
        sources: &[seen(EVENTS, "2026-11-29")],
        samples: &["[ 4711.000101] mlx5_core 0000:01:00.0: Port module event: module 0, Cable unplugged"],
        ..MLX5
    },
    Cause {
        id: "mlx5.cable_plugged",
        sign: r"mlx5_core (?<device>{pci}): ({pci}:)?([a-z0-9_]+:[0-9]+:\(pid [0-9]+\): )?Port module event: module (?<module>[0-9]+), Cable plugged",
        says: "Cable plugged",
        means: "A port has a cable.",
        counts: Counts::Note,
        sources: &[seen(EVENTS, "2026-11-29")],
        samples: &["[    8.881967] mlx5_core 0000:01:00.0: Port module event: module 0, Cable plugged"],
        ..MLX5
    },
    Cause {
        id: "mlx5.hot",
        sign: r"mlx5_core (?<device>{pci}): ({pci}:)?([a-z0-9_]+:[0-9]+:\(pid [0-9]+\): )?High temperature on sensors",
        says: "it is hot",
        means: "A sensor of the card is over its threshold.",
        counts: Counts::Warn,
        act: "look at fans and air flow, before the card switches itself off",
        sources: &[seen(EVENTS, "2026-11-29")],
        samples: &[
            "[ 4713.000101] mlx5_core 0000:01:00.0: temp_warn:167:(pid 0): High temperature on sensors with bit set 0 1",
        ],
        ..MLX5
    },
    Cause {
        id: "mlx5.little_power",
        check: "rdma.slot_power",
        sign: r"mlx5_core (?<device>{pci}): ({pci}:)?([a-z0-9_]+:[0-9]+:\(pid [0-9]+\): )?Detected insufficient power on the PCIe slot",
        says: "its slot gives too little power",
        means: "The slot offers less power than the card may need; some machines only fail to say what it gives.",
        counts: Counts::Warn,
        act: "look at the slot's power limit in the firmware setup and at the power cable of the riser; where `active.ib_write_bw` passes all the same, ignore it (`expect.ignore`)",
        ended_by: &["mlx5.enough_power", "mlx5.little_power"],
        sources: &[seen(EVENTS, "2026-11-29")],
        samples: &[
            "[    9.100101] mlx5_core 0000:01:00.0: mlx5_pcie_event:299:(pid 412): Detected insufficient power on the PCIe slot (27W).",
        ],
        ..MLX5
    },
    Cause {
        id: "mlx5.enough_power",
        check: "rdma.slot_power",
        sign: r"mlx5_core (?<device>{pci}): ({pci}:)?([a-z0-9_]+:[0-9]+:\(pid [0-9]+\): )?PCIe slot (advertised sufficient power|power capability was not advertised)",
        says: "its slot gives enough power, or does not tell",
        means: "The slot gives the power that the card needs.",
        counts: Counts::Note,
        sources: &[seen(EVENTS, "2026-11-29")],
        samples: &[
            "[   10.1] mlx5_core 0000:01:00.0: mlx5_pcie_event:304:(pid 412): PCIe slot advertised sufficient power (75W).",
        ],
        ..MLX5
    },
    Cause {
        id: "card.probe_refused",
        check: "kernel.network",
        sign: r"(?<driver>mlx5_core|mlx4_core|bnxt_en|bnxt_re|ice|i40e|irdma|ionic|efa|ena|erdma|hns3|qede|cxgb4|virtio_net|mana|gve)(: probe of| ) ?(?<device>[A-Za-z0-9_.:-]*[A-Za-z0-9_])(: probe with driver [a-z0-9_]+)? failed with error (?<error>-(2|22|38|95|524))([^0-9]|$)",
        says: "its driver {driver} did not start (error {error})",
        means: "The error says that driver and card do not agree (an argument or operation that one of them does not have), or that a file is missing. It is mostly a fault of a release of the kernel, driver or firmware, and seldom of the card.",
        counts: Counts::Fail,
        act: "the lines before it say why; with -2 install the firmware files or modules that they name; where it began with a new kernel or driver boot the one before, else update the driver and the firmware of the card",
        remedy: Remedy::Install,
        sources: &[seen("Linux kernel: really_probe() in drivers/base/dd.c of 4.18 and 6.18", "2026-11-29")],
        samples: &[
            "[   14.059582] mlx5_core: probe of 0000:03:00.0 failed with error -22",
            "[    2.622295] bnxt_en: probe of 0000:00:03.0 failed with error -95",
        ],
        ..CARD
    },
    Cause {
        id: "card.probe_resources",
        check: "kernel.network",
        sign: r"(?<driver>mlx5_core|mlx4_core|bnxt_en|bnxt_re|ice|i40e|irdma|ionic|efa|ena|erdma|hns3|qede|cxgb4|virtio_net|mana|gve)(: probe of| ) ?(?<device>[A-Za-z0-9_.:-]*[A-Za-z0-9_])(: probe with driver [a-z0-9_]+)? failed with error (?<error>-(12|28))([^0-9]|$)",
        says: "its driver {driver} did not start (error {error})",
        means: "The host gave it no memory or addresses (-12) or no interrupts or room (-28).",
        counts: Counts::Fail,
        act: "the lines before it say what was missing; look at BAR and IOMMU lines, Above 4G Decoding in the firmware setup, and of a virtual machine at its hypervisor",
        remedy: Remedy::Settings,
        sources: &[seen("Linux kernel: really_probe() in drivers/base/dd.c of 4.18 and 6.18", "2026-11-29")],
        samples: &[
            "[  258.938540] mlx5_core: probe of 0000:81:00.2 failed with error -12",
            "[    6.012981] mlx5_core: probe of 0000:01:00.0 failed with error -28",
        ],
        ..CARD
    },
    Cause {
        id: "card.probe",
        check: "kernel.network",
        sign: r"(?<driver>mlx5_core|mlx4_core|bnxt_en|bnxt_re|ice|i40e|irdma|ionic|efa|ena|erdma|hns3|qede|cxgb4|virtio_net|mana|gve)(: probe of| ) ?(?<device>[A-Za-z0-9_.:-]*[A-Za-z0-9_])(: probe with driver [a-z0-9_]+)? failed with error (?<error>-?[0-9]+)",
        says: "its driver {driver} did not start (error {error})",
        means: "The driver gave a card up, so that the card is missing.",
        counts: Counts::Fail,
        act: "the lines before it say why: a driver or firmware that does not fit (-22, -95), a firmware file that is missing (-2), memory or addresses (-12, -28); a card that does not answer (-110, -5) gets a power cycle of the drained host",
        remedy: Remedy::Reset,
        sources: &[seen("Linux kernel: really_probe() in drivers/base/dd.c of 4.18 and 6.18", "2026-11-29")],
        samples: &[
            "[  183.192623] mlx5_core: probe of 468b:00:02.0 failed with error -16",
            "[   11.1] bnxt_en 0000:ca:00.0: probe with driver bnxt_en failed with error -110",
        ],
        ..CARD
    },
    Cause {
        id: "net.watchdog",
        sign: r"(NETDEV WATCHDOG: (?<device>[^ ]+) \((?<driver>[^)]*)\): transmit queue|[A-Za-z0-9_-]+ [^ ]+ (?<link>[^ :]+): NETDEV WATCHDOG: (CPU: [0-9]+: )?transmit queue)",
        says: "sent nothing for long",
        means: "Packets waited in a queue of a card until the kernel gave up.",
        act: "look at the link and its partner; update driver and firmware of the card; when it returns, take the host out of service",
        remedy: Remedy::Install,
        sources: &[seen(
            "Linux kernel: dev_watchdog() in net/sched/sch_generic.c of 4.18 and 6.18",
            "2026-11-29",
        )],
        samples: &[
            "[  701.1] NETDEV WATCHDOG: ens801f0np0 (ice): transmit queue 14 timed out",
            "[  701.1] ice 0000:b1:00.0 ens801f0np0: NETDEV WATCHDOG: CPU: 38: transmit queue 14 timed out 5376 ms",
        ],
        ..CARD
    },
    Cause {
        id: "net.tx_timeout",
        sign: r"(?<driver>mlx5_core|mlx4_core|mlx4_en|bnxt_en|virtio_net|ionic) [^ ]+ (?<device>[^ :]+): TX timeout (detected|on queue)",
        says: "sent nothing for long",
        means: "Packets waited in a queue of a card until the driver gave up.",
        act: "look at the link and its partner; update driver and firmware of the card; when it returns, take the host out of service",
        remedy: Remedy::Install,
        sources: &[seen(
            "Linux kernel: mlx5e_tx_timeout() in drivers/net/ethernet/mellanox/mlx5/core/en_main.c; bnxt_tx_timeout(); virtnet_tx_timeout()",
            "2026-11-29",
        )],
        samples: &[
            "bnxt_en 0000:ca:00.0 eth0: TX timeout detected, starting reset task!",
            "[   68.145155] virtio_net virtio0 eth0: TX timeout on queue: 0, sq: output.0, vq: 0x1, name: output.0, 7560000 usecs ago",
        ],
        ..CARD
    },
    Cause {
        id: "bnxt.firmware",
        sign: r"bnxt_en (?<device>{pci})( [^ :]+)?: (Firmware not responding, status|Firmware reset aborted|FW reset (failed|aborted|in progress)|Abandoning msg|Error \(timeout: [0-9]+\) msg|QPLIB: (cmdq\[0x[0-9a-f]+\]=0x[0-9a-f]+ timedout|([a-z0-9_]+: )?FW STALL Detected))",
        says: "its firmware does not answer",
        means: "The firmware of a Broadcom card stopped answering commands.",
        counts: Counts::Fail,
        act: "drain the host, power-cycle it and update the firmware of the card",
        remedy: Remedy::Reset,
        sources: &[seen(
            "Linux kernel: drivers/net/ethernet/broadcom/bnxt/bnxt.c and bnxt_hwrm.c; drivers/infiniband/hw/bnxt_re/qplib_rcfw.c of 4.18 and 6.18",
            "2026-11-29",
        )],
        samples: &[
            "bnxt_en 0000:31:00.0 ens1np0: Firmware not responding, status: 0xf00d",
            "bnxt_en 0000:31:00.0 ens1np0: Error (timeout: 5015) msg {0x20 0x1c} len:0",
            "bnxt_en 0000:31:00.0: QPLIB: bnxt_re_is_fw_stalled: FW STALL Detected. cmdq[0xe]=0x3 waited (103641 > 100000) msec active 1",
            "bnxt_en 0000:31:00.0: QPLIB: cmdq[0x14c]=0x3 timedout (20000)msec",
        ],
        ..CARD
    },
    Cause {
        id: "ice.safe_mode",
        sign: r"ice (?<device>{pci})( [^ :]+)?: .*Entering [Ss]afe [Mm]ode",
        says: "runs in safe mode, without RDMA",
        means: "The driver found no package for the card (DDP), so that it has one queue and no RDMA.",
        counts: Counts::Fail,
        act: "install the firmware package that has /lib/firmware/intel/ice/ddp/ice.pkg (linux-firmware), rebuild the initramfs and load ice again",
        remedy: Remedy::Install,
        sources: &[seen(
            "Linux kernel: ice_request_fw() and ice_log_pkg_init() in drivers/net/ethernet/intel/ice/ice_main.c; Documentation/networking/device_drivers/ethernet/intel/ice.rst",
            "2026-11-29",
        )],
        samples: &[
            "[   11.1] ice 0000:18:00.0: The DDP package file was not found or could not be read. Entering Safe Mode",
        ],
        ..CARD
    },
    Cause {
        id: "ice.reset",
        sign: r"ice (?<device>{pci})( [^ :]+)?: (Rebuild failed, unload and reload driver|.*reset failed|tx_timeout recovery unsuccessful|Malicious Driver Detection event)",
        says: "its driver could not reset it",
        means: "The card met an error and did not come back.",
        counts: Counts::Fail,
        act: "reboot the host, then update the firmware of the card (NVM) and its driver",
        remedy: Remedy::Reset,
        sources: &[seen("Linux kernel: drivers/net/ethernet/intel/ice/ice_main.c", "2026-11-29")],
        samples: &[
            "[ 2811.1] ice 0000:18:00.0: Rebuild failed, unload and reload driver",
            "[ 2811.1] ice 0000:18:00.0 ens1: tx_timeout recovery unsuccessful, device is in unrecoverable state.",
        ],
        ..CARD
    },
    Cause {
        id: "net.neighbours",
        sign: r"neighbour: (?<table>arp_cache|ndisc_cache): neighbor table overflow!",
        says: "more hosts than the kernel keeps addresses of ({table})",
        means: "The host talks to more others than its table of neighbours holds, so that packets are lost.",
        act: "raise `net.ipv4.neigh.default.gc_thresh1` to `gc_thresh3` (and those of ipv6) above the number of hosts, by the resource `sysctl`",
        remedy: Remedy::Settings,
        sources: &[seen(
            "Linux kernel: neigh_alloc() in net/core/neighbour.c; Documentation/networking/ip-sysctl.rst",
            "2026-11-29",
        )],
        samples: &["[ 6011.1] neighbour: arp_cache: neighbor table overflow!"],
        ..CARD
    },
    Cause {
        id: "net.conntrack",
        sign: r"(nf_conntrack: )?nf_conntrack: table full(, | in netns [0-9]+, )dropping packet",
        says: "the firewall's table of connections was full",
        means: "The firewall follows more connections than its table holds, so that new ones are lost.",
        act: "raise `net.netfilter.nf_conntrack_max` by the resource `sysctl`, or leave the cluster's own network out of connection tracking",
        remedy: Remedy::Settings,
        sources: &[seen(
            "Linux kernel: __nf_conntrack_alloc() in net/netfilter/nf_conntrack_core.c of 4.18 and 6.18",
            "2026-11-29",
        )],
        samples: &[
            "[ 6011.1] nf_conntrack: nf_conntrack: table full, dropping packet",
            "[ 6011.1] nf_conntrack: nf_conntrack: table full in netns 4026531840, dropping packet",
        ],
        ..CARD
    },
    Cause {
        id: "ena.reset",
        sign: r"ena (?<device>{pci})( [^ :]+)?: (Trigger reset is on|Keep alive watchdog timeout|ENA admin queue is not in running state|.*Reset attempt failed|Device reset failed)",
        says: "the device of the cloud stopped answering",
        means: "The network device of an instance stopped and is started again by its driver.",
        act: "update the driver ena; when it returns, stop and start the instance, so that it moves to another machine",
        remedy: Remedy::Install,
        sources: &[seen("Linux kernel: drivers/net/ethernet/amazon/ena/ena_netdev.c", "2026-11-29")],
        samples: &["[ 7011.1] ena 0000:00:05.0 eth0: Keep alive watchdog timeout."],
        ..CARD
    },
    Cause {
        id: "ionic.firmware",
        sign: r"ionic (?<device>{pci})( [^ :]+)?: FW heartbeat stalled",
        says: "its firmware does not answer",
        means: "The firmware of a Pensando card stopped.",
        act: "drain the host, power-cycle it and update the firmware of the card",
        remedy: Remedy::Reset,
        sources: &[seen("Linux kernel: drivers/net/ethernet/pensando/ionic/ionic_dev.c", "2026-11-29")],
        samples: &["[ 7011.1] ionic 0000:24:00.0: FW heartbeat stalled at 2952797608"],
        ..CARD
    },
    Cause {
        id: "efa.resources",
        sign: r"infiniband (?<name>(efa_|rdmap)[^ :]*): Failed to (process command (?<command>[A-Z_]+) \(opcode [0-9]+\) comp_status 1 err -12|allocate pd\[-12\])",
        says: "the RDMA device of the cloud has none left[ ({command})]",
        means: "The device of this instance gives a fixed number of queues, domains and registered memory, and all are in use, often by a run before that still hangs.",
        act: "end what still holds the device (`fuser -v /dev/infiniband/uverbs*`); start fewer ranks on each device, or attach all EFA devices that the instance type has; then update the driver efa and libfabric",
        remedy: Remedy::Settings,
        sure: Sure::Guess,
        sources: &[
            seen("Linux kernel: drivers/infiniband/hw/efa/efa_admin_defs.h", "2026-11-30"),
            seen("https://github.com/aws/aws-ofi-nccl/issues/22", "2019-08-26"),
        ],
        samples: &[
            "[ 1632.420956] infiniband efa_0: Failed to process command ALLOC_PD (opcode 14) comp_status 1 err -12",
            "[ 1632.420957] infiniband efa_0: Failed to allocate pd[-12]",
        ],
        ..CARD
    },
    Cause {
        id: "efa.command",
        sign: r"(efa (?<device>{pci})( [^ :]+)?|infiniband (?<name>(efa_|rdmap)[^ :]*)): (Wait for completion \(polling\) timeout|Admin queue is closed|Reset indication didn't turn|The device (didn't send any completion|sent a completion but)|Failed to (process|submit) command)",
        says: "the device of the cloud does not answer commands",
        means: "The RDMA device of an instance did not answer its driver.",
        act: "update the driver efa; when it returns, stop and start the instance, so that it moves to another machine",
        remedy: Remedy::Install,
        sources: &[seen("Linux kernel: drivers/infiniband/hw/efa/efa_com.c", "2026-11-29")],
        samples: &[
            "[ 7011.1] efa 0000:00:1b.0 efa_0: The device didn't send any completion for admin cmd CREATE_QP(0x1) status 0 (ctx 0x0, sq producer: 1, sq consumer: 1, cq consumer: 0)",
        ],
        ..CARD
    },
];
