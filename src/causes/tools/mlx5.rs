//! Cards of NVIDIA (mlx5) by lines that no check asks a host for.

use super::super::cause::{Cause, Counts, Remedy, Role, Sure, TOOL, seen};

pub(in crate::causes) const ROWS: &[Cause] = &[
    Cause {
        id: "mlx5.cqe_dump",
        sign: r"dump_cqe:\d+:|dump error cqe|mlx5_handle_error_cqe|Error cqe on cqn",
        says: "the card ended a request of a program with an error",
        means: "A completion with its number follows. For RDMA it is mostly a peer that ended or a wrong address or key of the program; on a network interface the driver sends the queue anew.",
        role: Role::Effect,
        counts: Counts::Warn,
        act: "look at the program that used RDMA at that time, and at the peer; many of them on a network interface want newer firmware and driver of the card",
        remedy: Remedy::Look,
        sure: Sure::Guess,
        sources: &[seen(
            "Linux kernel: drivers/infiniband/hw/mlx5/cq.c, drivers/net/ethernet/mellanox/mlx5/core/en/txrx.h",
            "2026-12-01",
        )],
        samples: &[
            "infiniband mlx5_0: dump_cqe:278:(pid 0): dump error cqe",
            "mlx5_core 0000:3b:00.0 ens1f0: Error cqe on cqn 0x40, ci 0x1, sqn 0x1, opcode 0xd, syndrome 0x2, vendor syndrome 0x68",
        ],
        ..TOOL
    },
    Cause {
        id: "pci.no_vf_space",
        sign: r"BAR (7|8|9|10|11|12)(:| \[).*(no space for|failed to assign|can\'t assign)",
        says: "the firmware left no room for virtual functions of a card (SR-IOV)",
        means: "BARs from 7 on belong to virtual functions. The card itself works; only SR-IOV on it does not.",
        counts: Counts::Note,
        act: "nothing without SR-IOV; for it switch on SR-IOV and Above 4G Decoding in the firmware setup, or boot with `pci=realloc`",
        sources: &[seen("https://github.com/Mellanox/mstflint/issues/448", "2026-12-01")],
        samples: &[
            "[    0.710033] pci 0000:04:00.0: BAR 7: failed to assign [mem size 0x01000000 64bit pref]",
        ],
        ..TOOL
    },
    Cause {
        id: "pci.no_pin",
        sign: "can't derive routing for PCI INT|PCI INT [A-D]: not connected",
        says: "a device has no interrupt line of the old kind",
        means: "Devices of today send message interrupts (MSI), and need none.",
        counts: Counts::Note,
        act: "nothing",
        sources: &[
            seen("Linux kernel: drivers/acpi/pci_irq.c", "2026-12-01"),
            seen("https://ahmedalsawi.github.io/posts/2025/01/linux-kernel-debug-nvme-timeout", "2025-01-01"),
        ],
        samples: &["[    0.817353] pcieport 10000:e0:1c.4: can't derive routing for PCI INT A"],
        ..TOOL
    },
    Cause {
        id: "mft.locked_psid",
        sign: r"Image reactivation blocked: device PSID \((?<have>[^)]*)\) does not match locked PSID \((?<want>[^)]*)\)",
        says: "the image is for the card {have}, and this card is locked to {want}",
        means: "The image that was burnt last fixed the PSID, which names the exact kind of card. The older image is for another one and stays off.",
        act: "take an image whose PSID is {want} (`flint -d DEV query`)",
        remedy: Remedy::Install,
        sure: Sure::Confirmed,
        sources: &[seen("https://github.com/Mellanox/mstflint/pull/1719", "2026-05-19")],
        samples: &[
            "-E- Image reactivation blocked: device PSID (MT_0000001590) does not match locked PSID (MT_0002001590).",
        ],
        ..TOOL
    },
];
