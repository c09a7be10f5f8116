//! Switches of NVLink by the log of the fabric manager, and what DCGM says of them.

use super::super::cause::{Cause, Counts, Remedy, Sure, TOOL, seen};

pub(in crate::causes) const ROWS: &[Cause] = &[
    Cause {
        id: "fabric.switch_fatal",
        sign: r"detected NVSwitch fatal error (?<number>\d+)( on fid \d+ on NVSwitch pci bus id (?<bus>[0-9a-fA-F:.]+) physical id \d+ port (?<port>\d+))?",
        says: "the fabric manager tells of a fatal error {number} of an NVSwitch[ ({bus}, port {port})]",
        means: "The number is an SXid of the switch. Traffic over that port stops, and jobs of the GPUs behind it end.",
        follows: &["sxid.fatal"],
        act: r#"look the number up in the guide of the fabric manager, and at `dmesg | grep -iE "sxid|xid"` of the same time; drain the host and restart it, so that GPUs and switches are reset together; when the same port comes again give it to support"#,
        remedy: Remedy::Reset,
        sources: &[
            seen(
                "https://github.com/leptonai/gpud (components/accelerator/nvidia/fabric-manager)",
                "2026-12-01",
            ),
            seen(
                "https://docs.nvidia.com/datacenter/tesla/fabric-manager-user-guide/index.html",
                "2026-12-01",
            ),
        ],
        samples: &[
            "[Jul 23 2024 07:53:55] [ERROR] [tid 841] detected NVSwitch fatal error 20034 on fid 0 on NVSwitch pci bus id 00000000:86:00.0 physical id 3 port 33",
        ],
        ..TOOL
    },
    Cause {
        id: "fabric.multicast_team",
        sign: r"failed to find the GPU handle \d+ in the multicast team",
        says: "the fabric manager does not know a GPU of a multicast group",
        means: "The fabric manager lost the state of the GPUs: it was started again, or a GPU was reset alone, while the others kept theirs.",
        act: "stop the jobs of the host, then reset all GPUs together with the fabric manager running (`nvidia-smi -r`), or reboot; NCCL_NVLS_ENABLE=0 lets jobs run until then",
        remedy: Remedy::Reset,
        sure: Sure::Guess,
        sources: &[
            seen(
                "https://github.com/leptonai/gpud (components/accelerator/nvidia/fabric-manager)",
                "2024-09-17",
            ),
            seen("https://github.com/NVIDIA/nccl/issues/1488", "2024-10-21"),
        ],
        samples: &[
            "[Sep 17 2024 06:01:46] [ERROR] [tid 1230079] failed to find the GPU handle 5410063385821516767 in the multicast team request setup 6130285411925746235.",
        ],
        ..TOOL
    },
    Cause {
        id: "fabric.modules_missing",
        sign: "waiting for the mlx5_core and ib_umad kernel modules to be loaded|No Mellanox devices were found",
        says: "the driver container waits for the modules of the NVLink fabric (mlx5_core, ib_umad)",
        means: "From NVLink 5 on the NVSwitches are reached over the InfiniBand modules of the kernel, and this host has not loaded them.",
        act: "`modprobe ib_umad mlx5_ib` on the node; where the kernel lacks them install its extra modules (`linux-modules-extra-$(uname -r)` on Ubuntu), then restart the pod of the driver",
        remedy: Remedy::Install,
        sources: &[
            seen("https://github.com/NVIDIA/gpu-operator/issues/2781", "2026-08-21"),
            seen("https://github.com/NVIDIA/gpu-driver-container (ubuntu22.04/nvidia-driver)", "2026-12-01"),
        ],
        samples: &["waiting for the mlx5_core and ib_umad kernel modules to be loaded"],
        ..TOOL
    },
    Cause {
        id: "dcgm.no_nvswitch",
        sign: r"\[\[NvSwitch\]\] Not attached to NvSwitches",
        says: "DCGM reads no NVSwitches",
        means: "The host has none, or the library libnvidia-nscq is missing. GPUs are read all the same.",
        counts: Counts::Note,
        act: "on a host with NVSwitches install libnvidia-nscq of exactly the version of the driver and restart nvidia-dcgm; elsewhere nothing",
        sources: &[seen("https://github.com/NVIDIA/DCGM/issues/159", "2024-04-04")],
        samples: &[
            "2024-04-02 12:54:06.828 ERROR [1264985:1264994] [[NvSwitch]] Not attached to NvSwitches. Aborting [/workspaces/dcgm-rel_dcgm_3_1-postmerge/modules/nvswitch/DcgmNvSwitchManager.cpp:967]",
        ],
        ..TOOL
    },
    Cause {
        id: "dcgm.no_sysmon",
        sign: r"\[\[SysMon\]\] (Couldn't open CPU Vendor|A runtime exception)|Failed to load module 9 ",
        says: "DCGM leaves out the module for processors",
        means: "It knows those of NVIDIA (Grace) alone. GPUs are read all the same.",
        counts: Counts::Note,
        act: "nothing",
        sure: Sure::Confirmed,
        sources: &[seen("https://github.com/NVIDIA/DCGM/issues/149", "2024-02-01")],
        samples: &[
            "2024-02-01 14:12:01.207 ERROR [9596:9598] [[SysMon]] A runtime exception occured when creating module. Ex: Incompatible hardware vendor for sysmon. [/workspaces/dcgm/modules/DcgmModule.h:146]",
        ],
        ..TOOL
    },
];
