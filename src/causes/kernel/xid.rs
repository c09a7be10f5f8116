//! Errors that the NVIDIA driver numbers: Xids of GPUs, `SXids` of switches.

use super::super::cause::{Cause, Counts, ROW, Remedy, When, Worse, seen};

const CATALOG: &str = "https://docs.nvidia.com/deploy/xid-errors/analyzing-xid-catalog.html";
const RESET: &str = "nvswitch.probing";

/// A Xid, which a reset of all GPUs ends.
const XID: Cause = Cause {
    check: "gpu.xid",
    says: "Xid {number}",
    counts: Counts::Fail,
    ended_by: &[RESET],
    sources: &[seen(CATALOG, "2026-11-29")],
    ..ROW
};

pub(in crate::causes) const ROWS: &[Cause] = &[
    Cause {
        id: "xid.follows_grave",
        sign: r"NVRM: Xid \((PCI:)?(?<device>{bus})( GPU-I:[0-9]+)?\): (?<number>45), .* caused by previous Xid (?<cause>46|48|54|6[124]|74|79|95|109|110|119|120|136|14[03-9]|15[01568]|167|169|17[123])( |$)",
        says: "Xid {number} caused by Xid {cause}",
        follows: &[
            "xid.grave",
            "xid.gsp",
            "xid.memory",
            "xid.nvlink",
            "xid.nvlink5",
            "xid.nvlink5_fatal",
            "xid.nvlink5_here",
            "xid.nvlink5_peer",
            "xid.off_the_bus",
        ],
        means: "The driver ended the programs of a GPU because of an error before, which it names.",
        act: "look for the Xid that the line names: the GPU that reported it first is the one to drain; with NVLink errors (144 to 150) reset all GPUs of the board together, and look at the fabric manager",
        remedy: Remedy::Reset,
        sources: &[
            seen("https://github.com/NVIDIA/open-gpu-kernel-modules/issues/1150", "2026-05-18"),
            seen(CATALOG, "2026-11-29"),
        ],
        samples: &[
            "kernel: NVRM: Xid (PCI:0000:5c:00): 45, pid=1818, name=python3, Ch 00000001 caused by previous Xid 149",
        ],
        ..XID
    },
    Cause {
        id: "xid.follows",
        sign: r"NVRM: Xid \((PCI:)?(?<device>{bus})( GPU-I:[0-9]+)?\): (?<number>45), .* caused by previous Xid (?<cause>[0-9]+)",
        says: "Xid {number} caused by Xid {cause}",
        means: "The driver ended the programs of a GPU because of an error before, which it names.",
        counts: Counts::Warn,
        act: "look for the Xid that the line names; most often a program caused it",
        samples: &[
            "[ 731.2] NVRM: Xid (PCI:0000:5c:00): 45, pid=1818, name=python3, Ch 00000001 caused by previous Xid 31",
        ],
        ..XID
    },
    Cause {
        id: "xid.off_the_bus",
        sign: r"NVRM: Xid \((PCI:)?(?<device>{bus})( GPU-I:[0-9]+)?\): (?<number>79)(,|$)",
        means: "The GPU does not answer on the PCIe bus any more.",
        act: "drain the host and power-cycle it: a reset or a reboot does not bring the GPU back; if it falls off again, reseat it and look at its power cables and its slot, and replace it last",
        remedy: Remedy::Reset,
        samples: &[
            "NVRM: Xid (PCI:0000:4a:00): 79, pid=55182, name=python, GPU has fallen off the bus.",
            "[ 731.164520] NVRM: Xid (PCI:0000:01:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.",
        ],
        ..XID
    },
    Cause {
        id: "xid.memory",
        sign: r"NVRM: Xid \((PCI:)?(?<device>{bus})( GPU-I:[0-9]+)?\): (?<number>48|95|140|171|172)(,|$)",
        means: "The memory of the GPU lost data, and which program it belonged to is not sure.",
        act: "drain the host and reset the GPU (`nvidia-smi -r`); `nvidia-smi -q -d ROW_REMAPPER` says whether its memory could be repaired: replace the GPU when it says Remapping Failure",
        remedy: Remedy::Reset,
        samples: &[
            "[  812.000001] NVRM: Xid (PCI:0000:44:00): 48, pid=1896, An uncorrectable double bit error (DBE) has been detected on GPU in the framebuffer at partition 2.",
            "NVRM: Xid (PCI:0000:0f:00): 95, pid=2503, name=python3, Uncontained: LTC TAG (0x2,0x0). RST: Yes, D-RST: No",
        ],
        ..XID
    },
    Cause {
        id: "xid.repair_failed",
        sign: r"NVRM: Xid \((PCI:)?(?<device>{bus})( GPU-I:[0-9]+)?\): (?<number>64)(,|$)",
        means: "A bad row or page of the GPU's memory could not be replaced.",
        act: "drain the host, reset the GPU and run `dcgmi diag -r 3`; replace the GPU when `nvidia-smi -q -d ROW_REMAPPER` says Remapping Failure",
        remedy: Remedy::Reset,
        samples: &[
            "[2397166.923949] NVRM: Xid (PCI:0000:0f:00): 64, pid='<unknown>', name=<unknown>, Row Remapper Error: (0x00000002eebc4100) - All reserved rows for bank are remapped",
        ],
        ..XID
    },
    Cause {
        id: "xid.contained",
        sign: r"NVRM: Xid \((PCI:)?(?<device>{bus})( GPU-I:[0-9]+)?\): (?<number>94)(,|$)",
        means: "The memory of the GPU lost data of one program, which was ended.",
        counts: Counts::Warn,
        worse: &[Worse { when: When::Times(2), counts: Counts::Fail }],
        act: "reset the GPU when no job runs, so that the row is replaced; when it returns, drain the host and run `dcgmi diag -r 3`",
        remedy: Remedy::Reset,
        samples: &[
            "[2397166.983093] NVRM: Xid (PCI:0000:0f:00): 94, pid=2503421, name=python3, Ch 00000008",
            "NVRM: Xid (PCI:0000:01:00 GPU-I:05): 94, pid=7194, Contained: CE User Channel (0x9). RST: No, D-RST: No",
        ],
        ..XID
    },
    Cause {
        id: "xid.repaired",
        sign: r"NVRM: Xid \((PCI:)?(?<device>{bus})( GPU-I:[0-9]+)?\): (?<number>63|92)(,|$)",
        means: "A row or page of the GPU's memory is going to be replaced, or has many errors that were corrected.",
        counts: Counts::Warn,
        act: "reset the GPU when no job runs (`nvidia-smi -r`)",
        remedy: Remedy::Reset,
        samples: &[
            "NVRM: Xid (PCI:0000:10:1c): 63, pid=1896, Row Remapper: New row marked for remapping, reset gpu to activate.",
        ],
        ..XID
    },
    Cause {
        id: "xid.gsp",
        sign: r"NVRM: Xid \((PCI:)?(?<device>{bus})( GPU-I:[0-9]+)?\): (?<number>119|120)(,|$)",
        means: "The firmware of the GPU (GSP) does not answer or met an error.",
        act: "drain the host and reset the GPU (`nvidia-smi -r`); when that fails or it returns, power-cycle the host and update the driver",
        remedy: Remedy::Reset,
        samples: &[
            "[  113.669215] NVRM: Xid (PCI:0000:00:06): 119, pid='<unknown>', name=<unknown>, Timeout waiting for RPC from GSP! Expected function 76 (GSP_RM_CONTROL)",
        ],
        ..XID
    },
    Cause {
        id: "xid.nvlink",
        sign: r"NVRM: Xid \((PCI:)?(?<device>{bus})( GPU-I:[0-9]+)?\): (?<number>74|136|155)(,|$)",
        means: "A link of NVLink failed.",
        act: "drain the host and reset all GPUs of the board together (`nvidia-smi -r`); `nvidia-smi nvlink -e` names the link, and when the same one fails again, look at the GPU or switch at its other end too",
        remedy: Remedy::Reset,
        samples: &[
            "NVRM: Xid (PCI:0000:3b:00): 74, pid=1201, name=python, NVLink: fatal error detected on link 10(0x10000, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0)",
        ],
        ..XID
    },
    Cause {
        id: "xid.nvlink5_peer",
        // Bits 20 to 25 of the first number are the reason: 21 and 32 to 37 name the other end of the link.
        sign: r"NVRM: Xid \((PCI:)?(?<device>{bus})( GPU-I:[0-9]+)?\): (?<number>149), (pid=[^,]*, name={comm}, )?NETIR_LINK_EVT[A-Z_/]* Fatal XC[0-9]+ i[0-9]+ Link (?<link>-?[0-9]+) \(0x[0-9a-fA-F]([26aAeE][0-5]|[159dD]5)[0-9a-fA-F]{5} ",
        says: "Xid {number} on link {link}, caused at its other end",
        means: "A link of NVLink 5 failed, and the driver says that the cause is at its other end.",
        act: "look at the GPU or the switch at the other end of the link first, by its own Xid and the fabric manager's log; drain the host and reset all GPUs of the board together",
        remedy: Remedy::Reset,
        sources: &[
            seen("https://github.com/leptonai/gpud/pull/1174", "2025-12-01"),
            seen(CATALOG, "2026-11-29"),
        ],
        samples: &[
            "NVRM: Xid (PCI:0000:1b:00): 149, NETIR_LINK_EVT Fatal XC0 i0 Link 00 (0x025001c6 0x00000000 0x00000000 0x00000000 0x00000000 0x00000000)",
        ],
        ..XID
    },
    Cause {
        id: "xid.nvlink5_here",
        // 38: this side took the link down.
        sign: r"NVRM: Xid \((PCI:)?(?<device>{bus})( GPU-I:[0-9]+)?\): (?<number>149), (pid=[^,]*, name={comm}, )?NETIR_LINK_EVT[A-Z_/]* Fatal XC[0-9]+ i[0-9]+ Link (?<link>-?[0-9]+) \(0x[0-9a-fA-F][26aAeE]6[0-9a-fA-F]{5} ",
        says: "Xid {number} on link {link}, caused at this end",
        means: "A link of NVLink 5 went down because software on this side took it down, or this GPU did.",
        act: "look what else this GPU, its driver and the fabric manager logged at that time; drain the host and reset all GPUs of the board together",
        remedy: Remedy::Reset,
        sources: &[
            seen("https://github.com/leptonai/gpud/pull/1174", "2025-12-01"),
            seen(CATALOG, "2026-11-29"),
        ],
        samples: &[
            "NVRM: Xid (PCI:0000:1b:00): 149, NETIR_LINK_EVT Fatal XC0 i0 Link 03 (0x026001c6 0x00000000 0x00000000 0x00000000 0x00000000 0x00000000)",
        ],
        ..XID
    },
    Cause {
        id: "xid.nvlink5_fatal",
        sign: r"NVRM: Xid \((PCI:)?(?<device>{bus})( GPU-I:[0-9]+)?\): (?<number>14[4-9]|150), (pid=[^,]*, name={comm}, )?[A-Za-z0-9_/]+ Fatal (XC[0-9]+ i[0-9]+ Link (-1|(?<link>[0-9]+)))?",
        says: "Xid {number}[ on link {link}]",
        means: "A link of NVLink 5 failed, and the driver says that it is fatal.",
        act: "drain the host and reset all GPUs of the board together; when it returns, look at the fabric manager's log, and at the GPU and the switch at both ends of the link",
        remedy: Remedy::Reset,
        samples: &[
            "NVRM: Xid (PCI:0019:01:00): 149, NETIR Fatal XC0 i0 Link -1 (0x000fe406 0x00000000 0x00000000 0x00000000 0x00000000 0x00000000)",
            "NVRM: Xid (PCI:0000:07:00): 149, pid=7, name=python, NETIR_LINK_EVT Fatal XC0 i0 Link 04 (0x004505c6)",
        ],
        ..XID
    },
    Cause {
        id: "xid.nvlink5",
        sign: r"NVRM: Xid \((PCI:)?(?<device>{bus})( GPU-I:[0-9]+)?\): (?<number>14[4-9]|150)(, (pid=[^,]*, name={comm}, )?[A-Za-z0-9_/]+ Nonfatal XC[0-9]+ i[0-9]+ Link (-1|(?<link>[0-9]+))|,|$)",
        says: "Xid {number}[ on link {link}]",
        means: "A link of NVLink 5 met an error that it says is not fatal; with Xid 137 or 45 beside it jobs hang all the same.",
        follows: &["xid.nvlink5_fatal", "xid.nvlink5_peer", "xid.nvlink5_here"],
        counts: Counts::Warn,
        worse: &[Worse {
            when: When::Beside(&["xid.nvlink_privilege", "xid.follows_grave", "xid.ended"]),
            counts: Counts::Fail,
        }],
        act: "look at the fabric manager's log and `nvidia-smi nvlink -e` for the link that the line names; when jobs hang, drain the host and reset all GPUs of the board together",
        remedy: Remedy::Reset,
        sources: &[
            seen("https://github.com/NVIDIA/nccl/issues/2241", "2026-06-23"),
            seen("https://github.com/NVIDIA/open-gpu-kernel-modules/issues/1355", "2026-09-01"),
            seen(CATALOG, "2026-11-29"),
        ],
        samples: &[
            "NVRM: Xid (PCI:0018:01:00): 145, RLW_RXPIPE Nonfatal XC0 i0 Link 13 (0x0409a0c2 0x00000008 0x00000001 0x00000000 0x00100000 0x00000004)",
        ],
        ..XID
    },
    Cause {
        id: "xid.nvlink_privilege",
        sign: r"NVRM: Xid \((PCI:)?(?<device>{bus})( GPU-I:[0-9]+)?\): (?<number>137)(, (pid=[^,]*, name={comm}, )?[A-Za-z0-9_/]+ interrupt hit on link (?<link>-?[0-9]+)|,|$)",
        says: "Xid {number}[ on link {link}]",
        means: "A program reached for memory of another GPU that it may not use, or the other end of a link is gone.",
        counts: Counts::Warn,
        act: "look whether another Xid stands before it; alone it is most often an error of the program",
        samples: &[
            "kernel: NVRM: Xid (PCI:0000:1b:00): 137, RLW_RXPIPE interrupt hit on link 11 on GPU0: PRIV Error",
        ],
        ..XID
    },
    Cause {
        id: "xid.recovery",
        sign: r"NVRM: Xid \((PCI:)?(?<device>{bus})( GPU-I:[0-9]+)?\): (?<number>154), .* to 0x[0-9a-fA-F]+ \([^)]*(Reset|Reboot|Drain)",
        says: "Xid {number}",
        follows: &[
            "xid.grave",
            "xid.gsp",
            "xid.memory",
            "xid.nvlink",
            "xid.nvlink5_fatal",
            "xid.nvlink5_here",
            "xid.off_the_bus",
            "nvidia.heartbeat",
            "nvidia.gsp",
        ],
        means: "The driver says what the GPU needs to work again.",
        act: "do what the line says last: drain the host, then reset the GPU (`nvidia-smi -r`) or reboot",
        remedy: Remedy::Reset,
        ended_by: &[RESET, "xid.recovered"],
        samples: &[
            "[  731.164521] NVRM: Xid (PCI:0000:1b:00): 154, GPU recovery action changed from 0x0 (None) to 0x1 (GPU Reset Required)",
        ],
        ..XID
    },
    Cause {
        id: "xid.recovered",
        sign: r"NVRM: Xid \((PCI:)?(?<device>{bus})( GPU-I:[0-9]+)?\): (?<number>154)(,|$)",
        means: "The driver says that the GPU needs nothing any more.",
        counts: Counts::Note,
        samples: &[
            "NVRM: Xid (PCI:0000:1b:00): 154, GPU recovery action changed from 0x1 (GPU Reset Required) to 0x0 (None)",
        ],
        ..XID
    },
    Cause {
        id: "xid.power_cable",
        sign: r"NVRM: Xid \((PCI:)?(?<device>{bus})( GPU-I:[0-9]+)?\): (?<number>54)(,|$)",
        means: "The GPU gets no power from its cable.",
        act: "switch the host off and look at the power cables of the GPU",
        samples: &["NVRM: Xid (PCI:0000:0b:00): 54, Aux power is not connected to the GPU board."],
        ..XID
    },
    Cause {
        id: "xid.context_switch",
        sign: r"NVRM: Xid \((PCI:)?(?<device>{bus})( GPU-I:[0-9]+)?\): (?<number>109)(,|$)",
        follows: &["xid.program"],
        means: "A program did not leave the GPU in time. Behind an error of a program (Xid 13, 31) it is a consequence.",
        act: "drain the host and reset the GPU (`nvidia-smi -r`), or reboot; when the same Xid returns within a day, run `dcgmi diag -r 3`",
        remedy: Remedy::Reset,
        samples: &[
            "NVRM: Xid (PCI:0000:cb:00): 109, pid=1797828, name=pt_main_thread, Ch 00000008, errorString CTX SWITCH TIMEOUT, Info 0x58005",
        ],
        ..XID
    },
    Cause {
        id: "xid.grave",
        sign: r"NVRM: Xid \((PCI:)?(?<device>{bus})( GPU-I:[0-9]+)?\): (?<number>46|61|62|110|143|151|158|167|169|173)(,|$)",
        means: "The GPU stopped working in a way that a program cannot mend.",
        act: "drain the host and reset the GPU (`nvidia-smi -r`), or reboot; when the same Xid returns within a day, run `dcgmi diag -r 3`",
        remedy: Remedy::Reset,
        samples: &[
            "NVRM: Xid (PCI:0000:01:00): 62, 023f0f30 0b24c3c0 00000000",
            "[  812.000001] NVRM: Xid (0000:07:00): 62, 0a1b(2c3d) 00000000 00000000",
            "NVRM: Xid (PCI:0000:01:00): 158, pid=1, name=x, GPU Fatal Timeout",
        ],
        ..XID
    },
    Cause {
        id: "xid.retired",
        sign: r"NVRM: Xid \((PCI:)?(?<device>{bus})( GPU-I:[0-9]+)?\): (?<number>156)(,|$)",
        means: "A part of the GPU is to be taken out of use, which its next reset does.",
        act: "drain the host and reset the GPU (`nvidia-smi -r`)",
        remedy: Remedy::Reset,
        samples: &[
            "NVRM: Xid (PCI:0000:01:00): 156, pid='<unknown>', name=<unknown>, Resource Retirement Event",
        ],
        ..XID
    },
    Cause {
        id: "xid.ended",
        sign: r"NVRM: Xid \((PCI:)?(?<device>{bus})( GPU-I:[0-9]+)?\): (?<number>45)(,|$)",
        means: "The driver ended the work of a program on the GPU, because it was killed or because of an error before.",
        counts: Counts::Note,
        samples: &["NVRM: Xid (PCI:0000:34:00): 45, Ch 00000010"],
        ..XID
    },
    Cause {
        id: "xid.note",
        sign: r"NVRM: Xid \((PCI:)?(?<device>{bus})( GPU-I:[0-9]+)?\): (?<number>14|37|38|43|44|66|67|10[67]|16[2-5])(,|$)",
        means: "The driver notes something that needs no action.",
        counts: Counts::Note,
        samples: &["NVRM: Xid (PCI:0000:38:00): 43, pid=2924364, name=pt_main_thread, Ch 00000008"],
        ..XID
    },
    Cause {
        id: "xid.lived_with",
        sign: r"NVRM: Xid \((PCI:)?(?<device>{bus})( GPU-I:[0-9]+)?\): (?<number>108|121|141|15[237]|159|16[01])(,|$)",
        means: "The driver met an error that it could live with.",
        counts: Counts::Warn,
        act: "nothing is to be done at once; when the same Xid returns on this GPU, reset it when no job runs (`nvidia-smi -r`) and ask NVIDIA's support",
        samples: &[
            "NVRM: Xid (PCI:0009:01:00): 121, pid='<unknown>', name=<unknown>, C2C Link corrected error",
        ],
        ..XID
    },
    Cause {
        id: "xid.program",
        sign: r"NVRM: Xid \((PCI:)?(?<device>{bus})( GPU-I:[0-9]+)?\): (?<number>8|11|13|25|31|32|39|4[0-2]|6[89]|7[0-2]|7[5-7]|8[0-9]|9[6-9]|10[0-5]|12[6-9]|13[0-59])(,|$)",
        means: "A program made an error on the GPU; most often it is its own.",
        counts: Counts::Warn,
        follows: &["xid.contained", "xid.memory", "xid.off_the_bus", "xid.repair_failed"],
        act: "look at the program that the line names (`compute-sanitizer` finds what it does); only when many programs get it on this GPU alone, run `dcgmi diag -r 3`",
        samples: &[
            "[  731.164520] NVRM: Xid (PCI:0000:52:00): 13, pid=4711, name=python, Graphics SM Warp Exception on (GPC 1, TPC 2, SM 1): Out Of Range Address",
            "NVRM: Xid (PCI:0000:52:00): 31, pid=4711, name=python, Ch 00000008, intr 00000000. MMU Fault: ENGINE GRAPHICS GPCCLIENT_T1_0 faulted @ 0x7f_00000000",
        ],
        ..XID
    },
    Cause {
        id: "xid.other",
        sign: r"NVRM: Xid \((PCI:)?(?<device>{bus})( GPU-I:[0-9]+)?\): (?<number>[0-9]+)(,|$)",
        means: "The driver reports an error; the catalog of NVIDIA says what this number means.",
        counts: Counts::Warn,
        act: "look the number up in NVIDIA's Xid catalog; when it returns within a day, drain the host and run `dcgmi diag -r 3`",
        samples: &["[ 9.1] NVRM: Xid (0000:03:00): 175, Channel 00000001"],
        ..XID
    },
    Cause {
        id: "nvidia.off_the_bus",
        check: "gpu.xid",
        sign: r"NVRM: ((GPU at |GPU )(PCI:)?(?<device>{pci})[: ]+)?(GPU )?(has )?fallen off the bus",
        says: "fell off the bus",
        means: "The GPU does not answer on the PCIe bus any more; where nothing ran on it the driver gives it no Xid.",
        counts: Counts::Fail,
        act: "drain the host and power-cycle it: a reset or a reboot does not bring the GPU back; if it falls off again, reseat it and look at its power cables and its slot, and replace it last",
        remedy: Remedy::Reset,
        ended_by: &[RESET],
        sources: &[
            seen("https://github.com/NVIDIA/NVSentinel/issues/155", "2026-11-22"),
            seen("https://github.com/Bumblebee-Project/Bumblebee/issues/554", "2026-11-22"),
        ],
        samples: &[
            "[   49.261458] NVRM: GPU at 0000:01:00.0 has fallen off the bus.",
            "[  612.000131] NVRM: GPU 0000:41:00.0: GPU has fallen off the bus.",
            "NVRM: GPU fallen off the bus.",
            "[   18.3] NVRM: The NVIDIA GPU 0000:b3:00.0\\x0aNVRM: (PCI ID: 10de:26b5) installed in this system has\\x0aNVRM: fallen off the bus and is not responding to commands.",
        ],
        ..ROW
    },
    Cause {
        id: "sxid.fatal",
        check: "gpu.nvswitch_errors",
        sign: r"nvidia-nvswitch[0-9]*: SXid \(PCI:(?<device>{bus})( GPU-I:[0-9]+)?\): (?<number>[0-9]+), Fatal, ",
        says: "SXid {number}",
        means: "A switch of NVLink failed: no GPU of the board has NVLink until it is reset.",
        counts: Counts::Fail,
        act: "end all jobs, stop the fabric manager, run `nvidia-smi -r` and start the manager again; if the error returns, give its log to the vendor",
        remedy: Remedy::Reset,
        sources: &[seen(
            "https://docs.nvidia.com/datacenter/tesla/fabric-manager-user-guide/index.html",
            "2026-11-29",
        )],
        samples: &[
            "[  900.000001] nvidia-nvswitch3: SXid (PCI:0000:07:00.0): 24007, Fatal, Link 44 sourcetrack timeout error (First)",
        ],
        ..ROW
    },
    Cause {
        id: "sxid.nonfatal",
        check: "gpu.nvswitch_errors",
        sign: r"nvidia-nvswitch[0-9]*: SXid \(PCI:(?<device>{bus})( GPU-I:[0-9]+)?\): (?<number>[0-9]+), Non-fatal, ",
        says: "SXid {number}",
        means: "A switch of NVLink met an error that it could live with.",
        act: "look whether a GPU reported a Xid at the same time; when it returns, look at the link that the line names",
        sources: &[seen(
            "https://docs.nvidia.com/datacenter/tesla/fabric-manager-user-guide/index.html",
            "2026-11-29",
        )],
        samples: &[
            "nvidia-nvswitch3: SXid (PCI:0000:c1:00.0): 28006, Non-fatal, Link 46 MC TS crumbstore MCTO (First)",
        ],
        ..ROW
    },
    Cause {
        id: RESET,
        check: "gpu.nvswitch_errors",
        sign: r"nvidia-nvswitch[0-9]*: Probing device (?<switch>{pci})",
        says: "a switch was started",
        means: "The driver starts a switch, as it does after all GPUs were reset: errors before are of no matter.",
        counts: Counts::Note,
        sources: &[seen("https://github.com/oracle-quickstart/oci-hpc", "2026-11-22")],
        samples: &[
            "2026-11-21T02:00:00 gpu0 kernel: nvidia-nvswitch: Probing device 0000:05:00.0, Vendor Id = 0x10de, Device Id = 0x1af1",
        ],
        ..ROW
    },
];
