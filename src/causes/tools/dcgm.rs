//! Programs that watch GPUs and their links beside `nvidia-smi`: DCGM and its exporter, the fabric manager, switches of NVLink,
//! IMEX.

use super::super::cause::{Cause, Counts, Remedy, Role, Sure, TOOL, seen};

const DCGM: Cause = Cause {
    remedy: Remedy::Settings,
    sources: &[seen("https://github.com/NVIDIA/DCGM (dcgmlib, modules)", "2026-11-30")],
    ..TOOL
};
const FABRIC: Cause = Cause {
    remedy: Remedy::Settings,
    sources: &[seen(
        "https://docs.nvidia.com/datacenter/tesla/fabric-manager-user-guide/index.html",
        "2026-11-30",
    )],
    ..TOOL
};

pub(in crate::causes) const ROWS: &[Cause] = &[
    Cause {
        id: "sxid.details",
        sign: r"SXid \(PCI:(?<device>[0-9a-fA-F:.]+)\): (?<number>[0-9]+), (Data \{|Severity [0-9]+ )",
        role: Role::Effect,
        says: "SXid {number} of a switch of NVLink",
        means: "A switch of NVLink reports an error; this line has only its data, the line before it says whether it is fatal. Traffic of the GPU behind that link may stall, and jobs end with a Xid later.",
        act: "look for the line with `Fatal` or `Non-fatal` and for Xids of the same time; where jobs hang or end, drain the host and restart it, so that GPUs and switches are reset together; give it to support when it comes again",
        remedy: Remedy::Reset,
        sure: Sure::Guess,
        samples: &[
            "nvidia-nvswitch1: SXid (PCI:0000:84:00.0): 12028, Data {0x000001c0, 0x00bd5c8a, 0x00000500, 0x00000064, 0x00000000, 0x40008000}",
        ],
        ..FABRIC
    },
    Cause {
        id: "nvlink.post_detect",
        sign: r"NVRM: .*(Getting peer[0-9]+'s postRxDetLinkMask failed|knvlink(Discover|Get|Update)PostRxDet[A-Za-z]*_[A-Z0-9]+:.*fail)",
        says: "the driver could not learn which links of NVLink are up at a peer",
        means: "The links of the fabric were not set up between these GPUs: the fabric manager had not finished, or a GPU or switch did not answer. The line names the trouble and not its cause.",
        act: "drain the host; look at `nvidia-smi nvlink -s`, at `systemctl status nvidia-fabricmanager` and at Xids and SXids of the same time; reset all GPUs together or reboot; a part is suspected only when it comes again on the same GPU",
        remedy: Remedy::Reset,
        sure: Sure::Guess,
        sources: &[seen(
            "https://github.com/NVIDIA/open-gpu-kernel-modules (src/nvidia/src/kernel/gpu/nvlink)",
            "2026-11-30",
        )],
        samples: &[
            "Jul 09 10:42:47 gpu0 kernel: NVRM: knvlinkDiscoverPostRxDetLinks_GH100: Getting peer0's postRxDetLinkMask failed!",
        ],
        ..FABRIC
    },
    Cause {
        id: "fabric.start_option",
        sign: r"Unknown option: (?<option>\S*(?:nvswitch|fabricmanager|nvlsm)\S*)|Usage: \S*nvidia-fabricmanager-start\.sh \[script options\]",
        says: "the fabric manager was not started: its start script does not know an option that it was called with[ ({option})]",
        means: "The program that calls nvidia-fabricmanager-start.sh (a driver container, a unit of its own) is of another release than the script, and nothing else tells that the fabric manager does not run.",
        act: "take a driver image, or a unit, whose call fits the fabric manager in it (`nvidia-fabricmanager-start.sh --help`; newer scripts want `--fm-config-file`); then `nvidia-smi -q | grep -A3 Fabric` has to say Completed; GPUs and switches are sound",
        remedy: Remedy::Settings,
        sure: Sure::Likely,
        sources: &[seen("https://github.com/NVIDIA/gpu-operator/issues/1595", "2025-08-12")],
        samples: &[
            "Unknown option: /usr/share/nvidia/nvswitch/fabricmanager.cfg",
            "Usage: /usr/bin/nvidia-fabricmanager-start.sh [script options] --args [arguments to run fabric manager]",
        ],
        ..FABRIC
    },
    Cause {
        id: "fabric.module_missing",
        sign: r#"Kernel module "(?<module>[a-z0-9_]+)" has not been loaded, fabric manager cannot be started"#,
        says: "the fabric manager does not start, as the kernel module {module} is not loaded",
        means: "With NVLink 5 the fabric manager talks to the switches through the InfiniBand devices of the board and wants ib_umad.",
        act: "`modprobe {module}`, and its name in a file of /etc/modules-load.d for each boot; then `systemctl restart nvidia-fabricmanager`",
        remedy: Remedy::Settings,
        sure: Sure::Confirmed,
        sources: &[seen("https://github.com/spectrocloud/CanvOS/pull/700", "2026-07-20")],
        samples: &[r#"Kernel module "ib_umad" has not been loaded, fabric manager cannot be started"#],
        ..FABRIC
    },
    Cause {
        id: "dcgm.imex_idle",
        sign: r"DCGM_FR_IMEX_UNHEALTHY|IMEX daemon status is -[0-9]+|DCGMHealthCode122|health check system with error code 122",
        says: "DCGM sees no IMEX daemon on this host",
        means: "The daemon does not run. With ComputeDomains of Kubernetes it runs only while a job needs it, so an idle host tells this too and is well; it is no fault of a link or switch.",
        counts: Counts::Warn,
        act: "look whether a job over several hosts should run now: only then `nvidia-imex-ctl -N` and the log of the daemon; leave the GPU as it is",
        remedy: Remedy::Look,
        sources: &[
            seen("https://github.com/NVIDIA/aicr/issues/2641", "2026-09-08"),
            seen("https://github.com/aws/eks-node-monitoring-agent/pull/63", "2026-02-27"),
        ],
        samples: &[
            "ErrorCode:DCGM_FR_IMEX_UNHEALTHY GPU:0 PCI:0000:9d:00.0 GPU_UUID:GPU-bb3e1419 IMEX daemon status is -3 (not READY)",
        ],
        ..DCGM
    },
    Cause {
        id: "dcgm.profiling_failed",
        sign: r"DcgmModuleProfiling failed to initialize|Failed to load module 8\b|DCGM_PROFILING_SR_[A-Z_]+ failed with -[0-9]+|Profiling module could not be initialized",
        says: "DCGM's module for profiling does not start",
        means: "It needs root (or SYS_ADMIN in a container), a GPU that DCGM of this version knows, and the counters for itself. Other metrics go on.",
        counts: Counts::Warn,
        act: "run nv-hostengine as root, of a container with `--cap-add SYS_ADMIN`; for a new GPU take a newer DCGM; end other programs that profile (another hostengine, Nsight, MIG without instances)",
        sure: Sure::Guess,
        sources: &[
            seen("https://github.com/NVIDIA/dcgm-exporter/issues/22", "2024-02-16"),
            seen("https://github.com/NVIDIA/dcgm-exporter/issues/68", "2022-06-07"),
        ],
        samples: &[
            "2024-02-16 08:59:03.773 ERROR [91:93] [[Profiling]] DcgmModuleProfiling failed to initialize. See the logs.",
            "2024-02-16 08:59:03.773 ERROR [91:93] DCGM_PROFILING_SR_WATCH_FIELDS failed with -33",
        ],
        ..DCGM
    },
    Cause {
        id: "dcgm.metric_off",
        sign: r"Skipping line [0-9]+ \('DCGM_FI_[A-Z0-9_]+'\): (metric|DCP metrics|.*) not enabled",
        says: "dcgm-exporter leaves out metrics of profiling",
        means: "Profiling is not available to it on this GPU: an older DCGM than the GPU needs, no right to it, or another program that holds the counters. The line before says which.",
        counts: Counts::Warn,
        act: "compare the version of dcgm-exporter with the GPU (a new generation needs a new DCGM); give the pod SYS_ADMIN; run one hostengine per host",
        remedy: Remedy::Install,
        sure: Sure::Guess,
        sources: &[seen("https://github.com/NVIDIA/dcgm-exporter/issues/707", "2026-07-02")],
        samples: &[
            "time=\"2026-07-01T16:29:57Z\" level=warning msg=\"Skipping line 20 ('DCGM_FI_PROF_GR_ENGINE_ACTIVE'): metric not enabled\"",
        ],
        ..DCGM
    },
    Cause {
        id: "dcgm.exporter_no_nvml",
        sign: r#"Cannot init NVML library; err: (?<why>[^"]+)|Cannot initialize the hostengine: Error: (?<engine>Failed to initialize NVML)"#,
        says: "DCGM cannot use the driver of NVIDIA: [{why}][{engine}]",
        means: "ERROR_LIBRARY_NOT_FOUND means that the container has no libnvidia-ml.so.1, as it was not started by the NVIDIA runtime; other words that it has the library and may not use the driver.",
        act: "`nvidia-smi` on the node; with a library that is not found give the pod `runtimeClassName: nvidia` (or make nvidia the default runtime); with Unknown Error give it its securityContext back (privileged or SYS_ADMIN) and start the pod again; with a driver that was not loaded mend that first",
        sources: &[
            seen("https://github.com/NVIDIA/dcgm-exporter/issues/612", "2026-09-19"),
            seen("https://github.com/NVIDIA/go-nvml/issues/164", "2025-09-09"),
        ],
        samples: &[
            r#"level=ERROR msg="Cannot init NVML library; err: ERROR_LIBRARY_NOT_FOUND""#,
            "[76:76] Cannot initialize the hostengine: Error: Failed to initialize NVML [/workspaces/dcgm-rel_dcgm_2_3-postmerge/dcgmlib/src/DcgmHostEngineHandler.cpp:3647] [DcgmHostEngineHandler::Init]",
        ],
        ..DCGM
    },
    Cause {
        id: "dcgm.no_nvml",
        sign: r"^(Error: )?Failed to initialize NVML$|Error: Failed to initialize NVML$|DCGM Failed to find any GPUs on the node|(level=fatal|FATA|panic).*(libnvidia-ml\.so|Failed to initialize NVML|NVML doesn't exist on this system|error getting (supported|the) devices)",
        says: "DCGM finds no driver of NVIDIA in its place",
        means: "A container was started without GPUs (no `--gpus`, no NVIDIA runtime), or the driver of the host fails.",
        act: "`nvidia-smi` on the host first; where it works give the container the GPUs (`--gpus all`, `runtimeClassName: nvidia`) and look at it again inside; where it fails, mend the driver",
        sources: &[seen("https://github.com/NVIDIA/dcgm-exporter/issues/46", "2022-03-02")],
        samples: &["Error: Failed to initialize NVML"],
        ..DCGM
    },
];
