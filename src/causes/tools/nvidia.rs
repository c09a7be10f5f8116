//! NVIDIA's own tools: nvidia-smi and NVML, nvidia-persistenced, the fabric manager with nvlsm, IMEX, MIG, DCGM.

use super::super::cause::{Cause, Counts, Remedy, Role, Sure, TOOL, seen};

const SMI: Cause =
    Cause { sources: &[seen("https://docs.nvidia.com/deploy/nvidia-smi/index.html", "2026-11-30")], ..TOOL };
const FABRIC: Cause = Cause { check: "driver.fabric_manager", ..TOOL };
const MIG: Cause = Cause {
    remedy: Remedy::Settings,
    sources: &[seen("https://docs.nvidia.com/datacenter/tesla/mig-user-guide/", "2026-11-30")],
    ..TOOL
};
const DCGM: Cause = Cause {
    sources: &[seen("https://github.com/NVIDIA/DCGM (dcgmlib/dcgm_errors.h of 2026-07-06)", "2026-11-30")],
    ..TOOL
};
const PERSISTENCED: Cause = Cause {
    sources: &[seen("https://github.com/NVIDIA/nvidia-persistenced (nvidia-persistenced.c)", "2026-11-30")],
    ..TOOL
};
/// Signs of the kernel that tell why a GPU is lost.
const LOST: &[&str] = &["xid.off_the_bus", "nvidia.off_the_bus"];

pub(in crate::causes) const ROWS: &[Cause] = &[
    // The fabric manager.
    Cause {
        id: "fabric.other_driver",
        sign: "(fabric manager NVIDIA GPU driver interface|[Ff]abric [Mm]anager) version (?<manager>[0-9.]+) (don.t|doesn.t|do not|does not) match with (the )?driver version (?<driver>[0-9.]+[0-9])",
        says: "the fabric manager {manager} is not of the driver's version {driver}",
        means: "The fabric manager takes no driver but the one of exactly its own version, to the last digit.",
        act: "compare with `modinfo -F version nvidia`: where the driver on disk is {manager}, reboot; else install the fabric manager in version {driver} from the same repository as the driver (the playbook `fabric-manager` does it), then `systemctl restart nvidia-fabricmanager`",
        remedy: Remedy::Install,
        sure: Sure::Confirmed,
        sources: &[seen("https://github.com/NVIDIA/gpu-operator/issues/544", "2023-06-28")],
        samples: &[
            "nv-fabricmanager[3228]: fabric manager NVIDIA GPU driver interface version 530.30.02 don't match with driver version 530.41.03. Please update with matching NVIDIA driver package.",
        ],
        ..FABRIC
    },
    Cause {
        id: "fabric.nothing_to_do",
        sign: "NV_WARN_NOTHING_TO_DO",
        says: "the fabric manager found no NVSwitch in the driver",
        means: "The host has no NVSwitch that the driver knows. On HGX B200 and B300 the same words mean that nvlsm or the modules mlx5_ib and ib_umad are missing.",
        act: "`lspci -d 10de:` for bridges: without NVSwitch the host needs no fabric manager, so `systemctl disable --now nvidia-fabricmanager`, and no task that wants it there (`wanted: auto`); on HGX B200 and B300 look whether nvlsm is installed and load `ib_umad` and `mlx5_ib`, then restart it",
        remedy: Remedy::Settings,
        sure: Sure::Guess,
        sources: &[
            seen("https://github.com/data-infra/cube-studio/issues/29", "2025-09-18"),
            seen("https://github.com/siderolabs/extensions/pull/717", "2025-05-31"),
            seen("https://github.com/NVIDIA/gpu-operator/issues/2781", "2026-08-21"),
        ],
        samples: &[
            "Sep 18 03:19:01 gpu0 nvidia-fabricmanager-start.sh[4756]: request to query NVSwitch device information from NVSwitch driver failed with error:WARNING Nothing to do [NV_WARN_NOTHING_TO_DO]",
        ],
        ..FABRIC
    },
    Cause {
        id: "fabric.bad_setting",
        sign: "fabric manager config file item: (?<item>[A-Z_]+) has an invalid value",
        says: "{item} in fabricmanager.cfg has a value that the fabric manager does not take",
        means: "The file of settings is of another version of the fabric manager, or was edited.",
        act: "put the fabricmanager.cfg of the installed package in place (`/usr/share/nvidia/nvswitch/fabricmanager.cfg`) and restart nvidia-fabricmanager",
        remedy: Remedy::Settings,
        sources: &[seen("https://github.com/siderolabs/extensions/issues/511", "2024-11-03")],
        samples: &["fabric manager config file item: FABRIC_NODE_CONFIG_FILE has an invalid value"],
        ..FABRIC
    },
    Cause {
        id: "fabric.no_topology",
        sign: "failed to open fabric topology file",
        says: "the fabric manager finds no topology file",
        means: "The fabric manager reads a file of the platform's NVSwitches from the folder TOPOLOGY_FILE_PATH.",
        act: "look whether TOPOLOGY_FILE_PATH in fabricmanager.cfg is the folder of the installed package (`/usr/share/nvidia/nvswitch`), and install the package of the driver's version where a newer platform has no file there",
        remedy: Remedy::Install,
        sources: &[seen("https://github.com/NVIDIA/nvrc/issues/203", "2026-07-22")],
        samples: &["failed to open fabric topology file"],
        ..FABRIC
    },
    Cause {
        id: "fabric.switch_count",
        sign: "detected number of NVSwitches don't match with any supported system topology",
        says: "the fabric manager does not see as many NVSwitches as any known board has",
        means: "One or more NVSwitches are missing on the PCIe bus, are not passed through to this machine, or the board is newer than this fabric manager.",
        act: "`lspci -d 10de: | grep -i bridge` and `ls /dev/nvidia-nvswitch*` against the board (6 on A100, 4 on H100 and H200); look at SXid in `dmesg`. In a virtual machine all of them have to be passed through. When one is missing on the host itself, drain it and reboot; install the fabric manager of the driver's newer branch for a newer board",
        remedy: Remedy::Reset,
        sure: Sure::Guess,
        sources: &[seen(
            "https://github.com/leptonai/gpud (components/accelerator/nvidia/fabric-manager)",
            "2026-11-30",
        )],
        samples: &[
            "[Sep 08 2025 23:21:50] [ERROR] detected number of NVSwitches don't match with any supported system topology, aborting fabric manager",
        ],
        ..FABRIC
    },
    Cause {
        id: "fabric.nonfatal",
        sign: "detected NVSwitch non-fatal error (?<error>[0-9]+) on fid",
        says: "an NVSwitch told of an error that is not fatal ({error})",
        means: "The fabric manager passes SXids on. A few after a job that died are usual.",
        counts: Counts::Warn,
        act: "count them by NVSwitch and port: many on one port are a case for NVIDIA's field diagnostic; look at Xids of the same time",
        sources: &[seen(
            "https://github.com/leptonai/gpud (components/accelerator/nvidia/fabric-manager/testdata)",
            "2026-11-30",
        )],
        samples: &[
            "[ERROR] [tid 12727] detected NVSwitch non-fatal error 12028 on fid 0 on NVSwitch pci bus id 00000000:86:00.0 physical id 3 port 61",
        ],
        ..FABRIC
    },
    Cause {
        id: "fabric.bad_status",
        sign: r"^\s+Status\s+: (?<status>Insufficient Resources)\s*$",
        says: "a GPU is not in the NVLink fabric (Status: {status})",
        means: "The fabric manager did not give this GPU its place in the fabric. State can be Completed all the same; only Status Success counts.",
        act: "`nvidia-smi -q | grep -A6 Fabric` of all GPUs and a like host; where this one differs, look at /var/log/fabricmanager.log (on racks the fabric manager of the switches), keep jobs off the host, and give the lines to the provider",
        counts: Counts::Warn,
        sure: Sure::Guess,
        sources: &[seen("https://github.com/Azure/azhpc-images/pull/506", "2026-03-28")],
        samples: &["    Status                            : Insufficient Resources"],
        ..FABRIC
    },
    Cause {
        id: "fabric.in_progress",
        sign: r"^\s+State\s+: In Progress\s*$",
        role: Role::Effect,
        says: "a GPU waits for the NVLink fabric (State: In Progress)",
        means: "It is not registered with the fabric: the fabric manager does not run, has another version, or on B200 lacks nvlsm. CUDA fails with error 802 until then.",
        act: "`systemctl status nvidia-fabricmanager` and its journal; on GB200 look at the fabric manager of the switches",
        sources: &[seen("https://github.com/NVIDIA/gpu-operator/issues/2511", "2026-06-02")],
        samples: &["        State                                          : In Progress"],
        ..FABRIC
    },
    Cause {
        id: "nvlink.link_inactive",
        check: "gpu.nvlink",
        sign: r"^\s*Link (?<link>[0-9]+): <?[Ii]nactive>?\s*$",
        near: &[r"^\s*GPU (?<gpu>[0-9]+): (?<name>[A-Z][^(]*[^ (])"],
        says: "an NVLink is inactive: link {link}[ of GPU {gpu}][ ({name})]",
        means: "When other links of the same GPU run, this one is down, and the GPU, its partner and the board between are equally possible. A PCIe card without a bridge has inactive links, which is right.",
        counts: Counts::Warn,
        act: "compare with the other GPUs of this host and of a like one (`nvidia-smi nvlink -s`, `nvidia-smi topo -m`); where a link is missing, drain the host, look at `dmesg | grep -iE 'xid|nvlink'`, and reset all GPUs together or reboot once; if it stays away, give the list of links to the vendor",
        remedy: Remedy::Reset,
        sure: Sure::Guess,
        sources: &[seen("https://github.com/Azure/azhpc-diagnostics/issues/73", "2022-03-23")],
        samples: &["         Link 3: <inactive>"],
        ..TOOL
    },
    Cause {
        id: "nvlink.inactive",
        check: "gpu.nvlink",
        sign: "NVML: ?Unable to retrieve N[Vv][Ll]ink information as all links are in[Aa]ctive",
        role: Role::Effect,
        says: "all NVLinks of a GPU are inactive",
        means: "On a board with NVSwitches the fabric is not set up or the GPU waits for a reset. A PCIe card without a bridge has no links, which is right.",
        counts: Counts::Warn,
        act: "on HGX boards `dmesg | grep -iE 'xid|nvlink'` and `systemctl status nvidia-fabricmanager`: start it where it does not run, and reset all GPUs together only where these lines say so; nothing on a PCIe card without a bridge",
        remedy: Remedy::Reset,
        sure: Sure::Guess,
        sources: &[seen("https://github.com/NVIDIA/open-gpu-kernel-modules/issues/1150", "2026-05-18")],
        samples: &["NVML:Unable to retrieve Nvlink information as all links are inActive"],
        ..TOOL
    },
    Cause {
        id: "fabric.unit_failed",
        sign: r"(Failed to start (nvidia-fabricmanager\.service|NVIDIA fabric manager service)|nvidia-fabricmanager\.service: Failed with result|nv-fabricmanager -c [^ ]+. failed! Exit code)",
        role: Role::Summary,
        says: "the fabric manager did not start",
        means: "systemd or the start script only says that it failed; the reason stands before.",
        act: "`journalctl -b -u nvidia-fabricmanager` and /var/log/fabricmanager.log: the first error there is the reason; the usual one is another version than the driver's",
        sources: &[seen("https://github.com/data-infra/cube-studio/issues/29", "2025-09-18")],
        samples: &[
            "Nov 20 10:00:01 gpu0 systemd[1]: Failed to start nvidia-fabricmanager.service.",
            "Sep 18 03:19:01 gpu0 nvidia-fabricmanager-start.sh[4753]: \"/usr/bin/nv-fabricmanager -c /usr/share/nvidia/nvswitch/fabricmanager.cfg\" failed! Exit code: 1",
        ],
        ..FABRIC
    },
    // IMEX.
    Cause {
        id: "imex.channel_unsupported",
        sign: "error parsing IMEX info: unsupported IMEX channel value: (?<value>[^: ]+)",
        says: "the container toolkit does not take the IMEX channel {value}",
        means: "A device plugin or an image sets NVIDIA_IMEX_CHANNELS to a value that this version of libnvidia-container does not know.",
        act: "bring nvidia-container-toolkit and libnvidia-container to one current version; until then unset NVIDIA_IMEX_CHANNELS in the container",
        remedy: Remedy::Install,
        sources: &[seen("https://github.com/awslabs/amazon-eks-ami/issues/2062", "2024-11-19")],
        samples: &[
            "nvidia-container-cli: error parsing IMEX info: unsupported IMEX channel value: all: unknown",
        ],
        ..TOOL
    },
    Cause {
        id: "imex.not_permitted",
        sign: "(CUDA_ERROR_NOT_PERMITTED|operation not permitted).*cuMemCreate|cuMemCreate.*(operation not permitted|CUDA_ERROR_NOT_PERMITTED)",
        says: "a program may not make memory that the fabric shares (no IMEX channel)",
        means: "cuMemCreate with a fabric handle needs a channel of IMEX: /dev/nvidia-caps-imex-channels/channel0, readable for the user and there in the container.",
        act: "`ls -l /dev/nvidia-caps-imex-channels`; where it is missing, create it (the module's option NVreg_CreateImexChannel0=1, or mknod with the major number that /proc/devices has for nvidia-caps-imex-channels) and hand it to the container (`--device /dev/nvidia-caps-imex-channels/channel0`); with several hosts start nvidia-imex on each",
        remedy: Remedy::Settings,
        sources: &[
            seen("https://github.com/microsoft/mscclpp/issues/467", "2025-02-24"),
            seen("https://github.com/NVIDIA/nvbandwidth/issues/39", "2025-04-21"),
        ],
        samples: &[
            "mscclpp._mscclpp.CuError: (800, 'Call to cuMemCreate(&memHandle, nbytes, &prop, 0 ) failed./root/mscclpp/src/gpu_utils.cc:113 (Cu failure: operation not permitted)')",
            "[CUDA_ERROR_NOT_PERMITTED] operation not permitted in expression cuMemCreate(&handle, roundedUpAllocationSize, &prop, 0 ) on worker-0, rank = 0",
        ],
        ..TOOL
    },
    Cause {
        id: "imex.node_gone",
        sign: "Node disconnect event detected",
        role: Role::Effect,
        says: "IMEX lost the connection to another host",
        means: "The daemon of another host of the domain stopped, rebooted or is not reached. Memory that it exported is gone.",
        act: "`nvidia-imex-ctl -N` on any host shows which host is away; look there first",
        sources: &[seen("https://docs.nvidia.com/multi-node-nvlink-systems/imex-guide/", "2026-11-30")],
        samples: &["Node disconnect event detected"],
        ..TOOL
    },
    Cause {
        id: "imex.log_file",
        sign: "WARNING: failed to (open|chmod) IMEX log file",
        says: "IMEX writes its log to stderr",
        means: "No log file is set, and the daemon runs on without it.",
        counts: Counts::Note,
        sources: &[seen("https://github.com/kubernetes-sigs/dra-driver-nvidia-gpu/pull/1465", "2026-09-18")],
        samples: &["WARNING: failed to open IMEX log file  errno = No such file or directory"],
        ..TOOL
    },
    // NVML and nvidia-smi.
    Cause {
        id: "nvml.versions",
        check: "driver.coherence",
        sign: "(?i)(NVML|nvml error|nvmlInit[^:]*): ?.*Driver/library version mismatch|^ *Driver/library version mismatch|ERROR_LIB_RM_VERSION_MISMATCH",
        near: &[
            "NVML library version: (?<library>[0-9.]+)",
            r"NVRM version: .*Kernel Module( for [a-z0-9_]+)? +(?<module>[0-9]+\.[0-9.]+)",
        ],
        says: "the driver's libraries[ ({library})] are not of the version of the loaded kernel module[ ({module})]",
        means: "The driver was upgraded without a reboot, or libraries and modules came from two sources. The versions must agree to the last digit.",
        act: "compare `cat /proc/driver/nvidia/version` (loaded), `modinfo -F version nvidia` (on disk) and the library's version: where disk and library agree, reboot, or unload and load the modules while nothing uses the GPUs; where they differ, install modules and libraries in one version from one source; the playbook `no-upgrades` keeps it so",
        remedy: Remedy::Reset,
        sure: Sure::Confirmed,
        sources: &[
            seen("https://github.com/tinygrad/open-gpu-kernel-modules/issues/47", "2025-10-15"),
            seen("https://github.com/microsoft/pai/pull/5453", "2026-11-30"),
        ],
        samples: &[
            "Failed to initialize NVML: Driver/library version mismatch",
            "nvidia-container-cli: initialization error: nvml error: driver/library version mismatch: unknown",
        ],
        ..TOOL
    },
    Cause {
        id: "nvml.unknown_error",
        sign: "Failed to initialize NVML: Unknown Error",
        says: "the container has lost its GPU devices",
        means: "In a container the usual cause is a `systemctl daemon-reload` on the host (or kubelet's static CPU policy): the container's device rules are written anew, and devices that the legacy hook added are lost. GPUs and driver are well where nvidia-smi works on the host.",
        act: "start the container again; for good hand the devices over by CDI (`--device nvidia.com/gpu=all`) or `--device /dev/nvidia0 ...`, so that the runtime knows of them, or use the cgroupfs driver; where nvidia-smi fails on the host too, look at `dmesg`",
        remedy: Remedy::Settings,
        sources: &[
            seen("https://github.com/NVIDIA/nvidia-container-toolkit/issues/1227", "2025-08-07"),
            seen("https://github.com/NVIDIA/nvidia-docker/issues/1730", "2023-02-07"),
        ],
        samples: &["Failed to initialize NVML: Unknown Error"],
        ..TOOL
    },
    Cause {
        id: "nvml.no_permission",
        sign: "Failed to initialize NVML: Insufficient Permissions",
        says: "this account may not open the GPU's device files",
        means: "The files /dev/nvidia* are not open to the account, or a device cgroup of the job or container hides them.",
        act: "`ls -l /dev/nvidia*`: the driver makes them 0666 unless NVreg_DeviceFileMode in /etc/modprobe.d says otherwise; add the account to the group that is set there; in a job ask for a GPU (`--gres=gpu:1`), in a container for `--gpus`; in rootless Podman with SELinux run with `--security-opt label=disable`",
        remedy: Remedy::Settings,
        sure: Sure::Guess,
        samples: &["Failed to initialize NVML: Insufficient Permissions"],
        ..SMI
    },
    Cause {
        id: "nvml.blocked",
        sign: "(Failed to initialize NVML: |NVML: ?)?GPU access blocked by the operating system",
        says: "the operating system blocks the GPU",
        means: "In WSL the image or another package brought its own libcuda and libnvidia-ml in place of those of Windows; on a host without WSL a cgroup or a blocked module does it.",
        act: "in WSL remove the driver's Linux packages from the distribution or image and update the driver in Windows (`wsl --shutdown` after it); elsewhere look at the device cgroup of the job or container",
        remedy: Remedy::Settings,
        sure: Sure::Guess,
        sources: &[seen("https://github.com/NVIDIA/nvidia-container-toolkit/issues", "2026-11-30")],
        samples: &["Failed to initialize NVML: GPU access blocked by the operating system"],
        ..TOOL
    },
    Cause {
        id: "nvml.lost",
        check: "gpu.xid",
        sign: "Unable to determine the device handle for GPU ?(?<device>[0-9A-Fa-f:. ]*[0-9A-Fa-f]): (GPU is lost|Unknown Error|Not Found|GPU requires reset)",
        role: Role::Effect,
        follows: LOST,
        says: "GPU {device} does not answer",
        means: "The driver found this GPU at its start and cannot reach it now, or could not start it. The kernel's log has the reason. nvidia-smi answers for the others only.",
        act: "`dmesg | grep -iE 'xid|NVRM'` first: with Xid 79 (fallen off the bus) drain the host and reboot it, with the power off and on where the GPU stays away; with RmInitAdapter act by the NVRM lines before it; without either look at heat (`nvidia-smi -q -d TEMPERATURE` of the others, a passive card's airflow) and at the versions of module and firmware",
        remedy: Remedy::Reset,
        samples: &[
            "Unable to determine the device handle for GPU3: 0000:5F:00.0: Unknown Error",
            "Unable to determine the device handle for GPU 0000:01:00.0: GPU is lost.  Reboot the system to recover this GPU",
        ],
        ..SMI
    },
    Cause {
        id: "nvml.gpu_is_lost",
        check: "gpu.xid",
        sign: r"\bGPU is lost\b|NVML_ERROR_GPU_IS_LOST|ERROR_GPU_IS_LOST|GPU [0-9]+ has fallen off the bus",
        role: Role::Effect,
        follows: LOST,
        says: "a GPU is lost",
        means: "The GPU fell off the PCIe bus. The kernel's log has the Xid with its reason.",
        act: "`dmesg | grep -iE 'xid|NVRM|AER'` for the first line about it; drain the host and reboot it, with the power off and on where the GPU stays away; when the same GPU is lost again, check seating, power and temperature before anything is replaced",
        remedy: Remedy::Reset,
        samples: &["GPU is lost"],
        ..SMI
    },
    Cause {
        id: "nvml.reset_required",
        sign: "(GPU requires reset|NVML_ERROR_RESET_REQUIRED|GPU Reset Required *: *Yes|GPU Recovery Action *: *(Reset|Drain and Reset))",
        says: "a GPU wants a reset",
        means: "The driver stopped the GPU behind a fault and takes no work on it until it is reset.",
        act: "look at the Xid in `dmesg`, drain the host, then `nvidia-smi --gpu-reset -i N` while nothing uses it (all GPUs together where they are joined by NVLink), or reboot",
        remedy: Remedy::Reset,
        sure: Sure::Confirmed,
        samples: &["        GPU Recovery Action               : Reset"],
        ..SMI
    },
    Cause {
        id: "nvsmi.no_driver",
        sign: "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver",
        role: Role::Effect,
        says: "the NVIDIA driver is not loaded",
        means: "No nvidia module is loaded: it was not built for the running kernel, Secure Boot refused it, another driver holds the GPU, or there is no GPU.",
        act: "`lsmod | grep nvidia`, then `modprobe nvidia` and its own words, `dkms status` against `uname -r`, `mokutil --sb-state` and `lspci -k -d 10de:`; `driver.dkms`, `driver.nouveau` and `driver.log` look at these; the playbook `nvidia-driver` installs it",
        sure: Sure::Guess,
        samples: &[
            "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver. Make sure that the latest NVIDIA driver is installed and running.",
        ],
        ..SMI
    },
    Cause {
        id: "nvidia.udev_load_failed",
        sign: r"(?<module>nvidia[a-z_-]*)?:? ?Process '/sbin/modprobe (?<asked>nvidia[a-z_-]*)' failed with exit code",
        role: Role::Effect,
        says: "the module {asked} was not loaded at boot",
        means: "udev only says that modprobe failed. The kernel's lines beside it (NVRM) or modprobe by hand say why.",
        act: "`modprobe {asked}` as root and `dmesg | grep -iE 'nvrm|nvidia' | tail`",
        sure: Sure::Guess,
        sources: &[seen("https://github.com/ollama/ollama/issues/11932", "2025-08-16")],
        samples: &[
            "localhost (udev-worker)[106246]: nvidia: Process '/sbin/modprobe nvidia-drm' failed with exit code 1.",
        ],
        ..SMI
    },
    Cause {
        id: "nvsmi.no_library",
        sign: r"NVIDIA-SMI couldn't find libnvidia-ml\.so library",
        says: "nvidia-smi finds no libnvidia-ml.so",
        means: "The library is not on the path of this nvidia-smi: a shell or module cleared LD_LIBRARY_PATH, a container got none of the host's, or it is not installed.",
        act: "look for it first: `ls /.singularity.d/libs` in Apptainer or Singularity with `--nv`, `ldconfig -p | grep libnvidia-ml` elsewhere. When it is there, the library path was cleared: `export LD_LIBRARY_PATH=/.singularity.d/libs:$LD_LIBRARY_PATH` (or its own directory). When it is not, start the container with `--nv` or `--gpus all`; on a host without it install the driver's packages in one version (playbook `nvidia-driver`)",
        remedy: Remedy::Settings,
        samples: &[
            "NVIDIA-SMI couldn't find libnvidia-ml.so library in your system. Please make sure that the NVIDIA Display Driver is properly installed and present in your system.",
        ],
        ..SMI
    },
    Cause {
        id: "nvsmi.no_devices",
        sign: r"^ *No devices were found\.? *$|Failed to initialize NVML: no devices were found",
        role: Role::Effect,
        says: "the driver is loaded and has no GPU",
        means: "The GPUs were not initialised, are held by another driver, or are hidden from this job or container.",
        act: "`dmesg | grep NVRM` names the reason where the driver could not start a GPU; `lspci -k -d 10de:` which driver holds it; in a job or container look at NVIDIA_VISIBLE_DEVICES and the device cgroup",
        sure: Sure::Guess,
        samples: &["No devices were found"],
        ..SMI
    },
    Cause {
        id: "nvsmi.inforom",
        sign: "WARNING: infoROM is corrupted at gpu (?<device>[0-9A-Fa-f:.]+[0-9A-Fa-f])|corrupt InfoROM has been detected in GPU (?<number>[0-9]+)",
        says: "the infoROM of GPU [{device}][{number}] is damaged",
        means: "The GPU's small memory for its own data has a wrong checksum. Work goes on, while counts of ECC errors and retired rows may be lost.",
        counts: Counts::Warn,
        act: "when the host is idle, reboot it and look again; when the warning stays, let `dcgmi diag -r 3` run on this GPU and give its result to the vendor; jobs go on until then",
        remedy: Remedy::Reset,
        samples: &["WARNING: infoROM is corrupted at gpu 0000:3B:00.0"],
        ..SMI
    },
    Cause {
        id: "nvsmi.table_error",
        sign: r"^\|.*\bERR!",
        role: Role::Effect,
        follows: LOST,
        says: "nvidia-smi could not read a value of a GPU (ERR!)",
        means: "A sensor or the fan does not answer. With ERR! for power and fan together the GPU mostly fell off the bus or hangs.",
        counts: Counts::Warn,
        act: "`dmesg | grep -i xid` for this GPU; without a Xid look at the fan, then reboot once when the host is idle",
        sure: Sure::Guess,
        samples: &["|ERR!   48C    P2   ERR! / 300W |      0MiB / 40536MiB |      0%      Default |"],
        ..SMI
    },
    // MIG.
    Cause {
        id: "mig.pending_not_supported",
        sign: "MIG mode is in pending (?<to>enable|disable) state for GPU (?<device>[0-9A-Fa-f:.]+): ?Not Supported",
        says: "MIG of GPU {device} changes only with a reboot",
        means: "A reset of the GPU is not allowed here, mostly since it was passed through to a virtual machine.",
        act: "reboot this machine, then look at `nvidia-smi -q | grep -A2 'MIG Mode'`",
        remedy: Remedy::Reset,
        counts: Counts::Warn,
        samples: &["Warning: MIG mode is in pending enable state for GPU 00000000:00:03.0:Not Supported"],
        ..MIG
    },
    Cause {
        id: "mig.pending_in_use",
        sign: "MIG mode is in pending (?<to>enable|disable) state for GPU (?<device>[0-9A-Fa-f:.]+): ?In use by another client",
        says: "MIG of GPU {device} does not change, as something holds the GPU",
        means: "The GPU must be reset, and a process holds it: a job, nvidia-persistenced, DCGM, a monitoring agent, the display, or the module nvidia_drm.",
        act: "stop nvidia-dcgm, dcgm-exporter and the display, `fuser -v /dev/nvidia*` for the others, `rmmod nvidia_drm nvidia_modeset`, then `nvidia-smi --gpu-reset -i N`; a reboot does it too",
        remedy: Remedy::Reset,
        counts: Counts::Warn,
        samples: &[
            "Warning: MIG mode is in pending enable state for GPU 00000000:01:00.0:In use by another client",
        ],
        ..MIG
    },
    Cause {
        id: "mig.destroy_in_use",
        sign: "(?i)(unable|failed) to destroy (compute|gpu) instances?.*in use by another client",
        says: "a MIG instance is still held by a process",
        means: "A process holds a handle of the MIG device: a left-over of a job, or DCGM itself. nvidia-smi does not list all of them.",
        act: "`fuser -v /dev/nvidia* /dev/nvidia-caps/*` (or lsof) for the holder and end it, restart nvidia-dcgm, then destroy the instance again",
        sources: &[
            seen("https://github.com/NVIDIA/DCGM/issues/95", "2023-08-07"),
            seen("https://github.com/NVIDIA/DCGM/issues/276", "2026-01-28"),
        ],
        samples: &[
            "unable to destroy compute instance id  0 from gpu  0 gpu instance id  3: in use by another client",
            "failed to destroy compute instances: in use by another client",
        ],
        ..MIG
    },
    Cause {
        id: "mig.create_in_use",
        sign: "(Unable to create a (GPU|compute) instance|Failed to create (GPU|compute) instances).*: In use by another client",
        says: "no MIG instance can be made, as a process holds the GPU",
        means: "A process that started before, such as a display, a profiler or a monitoring agent, uses the whole GPU.",
        act: "`fuser -v /dev/nvidia*` for the holder, stop it, then create the instances again",
        samples: &[
            "Unable to create a GPU instance on GPU  0 using profile 14: In use by another client",
            "Failed to create GPU instances: In use by another client",
        ],
        ..MIG
    },
    Cause {
        id: "mig.no_room",
        sign: "(Unable to create a (GPU|compute) instance.*|Failed to create (GPU|compute) instances): Insufficient Resources",
        says: "the GPU has no room for this MIG instance",
        means: "The profiles that are there already take the slices, or the order leaves a hole: places of profiles are fixed.",
        act: "`nvidia-smi mig -lgi` and `nvidia-smi mig -lgipp` show what is there and possible places; create the largest profiles first, or destroy the old instances",
        sure: Sure::Confirmed,
        samples: &[
            "Unable to create a GPU instance on GPU  0 using profile 9: Insufficient Resources",
            "Failed to create GPU instances: Insufficient Resources",
        ],
        ..MIG
    },
    Cause {
        id: "mig.no_such_profile",
        sign: "(Unable to create a (GPU|compute) instance.*|Failed to create (GPU|compute) instances): (Invalid Argument|Not Supported)",
        says: "the GPU does not know this MIG profile, or MIG is off",
        means: "Profiles differ by GPU and by memory size (1g.5gb of a 40 GB card is 1g.10gb of an 80 GB card), and need MIG switched on.",
        act: "`nvidia-smi mig -lgip` lists the profiles of this GPU; use a name from it, and look whether MIG is on (`nvidia-smi -i N -mig 1`)",
        samples: &[
            "Unable to create a GPU instance on GPU  0 using profile 7g.40gb: Invalid Argument",
            "Failed to create GPU instances: Not Supported",
        ],
        ..MIG
    },
    Cause {
        id: "mig.not_capable",
        sign: "(Unable to enable MIG Mode for GPU [^ ]+: Not Supported|No MIG-supported devices found|cannot set MIG (config|mode) on non MIG-capable GPU)",
        says: "this GPU has no MIG",
        means: "MIG exists on data centre GPUs from A30 and A100 on, and needs a driver and a firmware of the host that allow it.",
        act: "leave this GPU out of the MIG configuration, or name a GPU that has MIG",
        sure: Sure::Confirmed,
        samples: &["No MIG-supported devices found.", "cannot set MIG mode on non MIG-capable GPU"],
        ..MIG
    },
    Cause {
        id: "mig.no_permission",
        sign: "(Unable to (enable|disable) MIG Mode|(GPU|compute) instances?|persistence mode).*: Insufficient Permissions",
        says: "nvidia-smi needs root for this",
        means: "MIG and persistence mode are changed by root only, or by an account with the capability device of MIG.",
        act: "run it again with sudo; in a container with the capability of MIG (`NVIDIA_MIG_CONFIG_DEVICES=all`)",
        samples: &[
            "Unable to disable MIG Mode for GPU 00000000:01:00.0: Insufficient Permissions",
            "Failed to create GPU instances: Insufficient Permissions",
        ],
        ..MIG
    },
    Cause {
        id: "mig.parted_failed",
        sign: "Error applying MIG configuration with hooks: (?<what>.*)",
        role: Role::Summary,
        says: "nvidia-mig-parted did not apply the MIG configuration: {what}",
        means: "The lines before say which step failed.",
        act: "look at the first error before this line",
        sources: &[seen("https://github.com/NVIDIA/mig-parted/issues/181", "2025-03-12")],
        samples: &[
            "FATA[0008] Error applying MIG configuration with hooks: error resetting all GPUs: exit status 255",
        ],
        ..MIG
    },
    Cause {
        id: "nvsmi.reset_in_use",
        sign: "([Dd]evices? (is|are) currently being used by one or more other processes|is currently (being used|in use) by (one|1) or more other processes|^ *GPU [0-9A-Fa-f:.]+: In use by another client|Unable to reset (?:this )?GPU.* because it's being used by some other process)",
        says: "GPUs cannot be reset while something holds them",
        means: "A process holds the GPUs, or the module nvidia_drm does, which no list of processes shows.",
        act: "stop jobs, nvidia-dcgm, dcgm-exporter and nvidia-persistenced, `fuser -v /dev/nvidia*` for the rest, `rmmod nvidia_drm nvidia_modeset` when no process is left, then reset again and `modprobe nvidia_drm`; a reboot does it too",
        remedy: Remedy::Reset,
        sources: &[seen("https://github.com/NVIDIA/mig-parted/issues/181", "2025-03-12")],
        samples: &[
            "  GPU 00000000:01:00.0: In use by another client",
            "4 devices are currently being used by one or more other processes (e.g., Fabric Manager, CUDA application, graphics application such as an X server, or a monitoring application such as another instance of nvidia-smi).",
        ],
        ..TOOL
    },
    Cause {
        id: "nvsmi.reset_primary",
        sign: "GPU Reset couldn't run because GPU (?<device>[0-9A-Fa-f:.]+) is the primary GPU",
        says: "GPU {device} is the primary GPU and cannot be reset",
        means: "The console of the host runs on this GPU.",
        act: "reboot the host in place of the reset, or let the firmware use the display of the BMC as the primary one",
        remedy: Remedy::Reset,
        sure: Sure::Confirmed,
        samples: &["GPU Reset couldn't run because GPU 00000000:02:00.0 is the primary GPU."],
        ..SMI
    },
    // nvidia-persistenced.
    Cause {
        id: "nvsmi.needs_root",
        sign: r"(Unable|Failed|not able)[^:]*: ?(?i:insufficient permissions)|Please run nvidia-bug-report\.sh as root",
        says: "this command of nvidia-smi needs root",
        means: "Settings of the GPU (power, clocks, ECC, persistence) are changed by root only.",
        act: "run it again with sudo",
        remedy: Remedy::Settings,
        counts: Counts::Warn,
        sure: Sure::Confirmed,
        samples: &["ERROR: Please run nvidia-bug-report.sh as root."],
        ..SMI
    },
    Cause {
        id: "vgpu.rm_client",
        sign: "vmiop_env_log: (?:Failed to initialize RM client|error: failed to initialize RM): ?(?<code>0x[0-9a-f]+)?",
        says: "the vGPU manager does not reach the driver[ ({code})]",
        means: "The driver of the host is not loaded, is not the one for vGPU (the host package), or started no GPU.",
        act: "`nvidia-smi` and `dmesg | grep NVRM` on the host first; the host needs the package of vGPU with the manager, of the same version",
        remedy: Remedy::Look,
        sources: &[seen("https://github.com/mrzenc/vgpu4nixos/issues/4", "2025-03-20")],
        samples: &["nvidia-vgpu-mgr[4816]: error: vmiop_env_log: Failed to initialize RM client: 0x26"],
        ..SMI
    },
    Cause {
        id: "persistenced.no_devices",
        sign: r"Failed to query NVIDIA devices\. Please ensure that the NVIDIA device files",
        role: Role::Effect,
        says: "nvidia-persistenced finds no GPU device",
        means: "The driver is not loaded, its device files are missing, or the daemon's account may not open them.",
        act: "`nvidia-smi` as root first: where that fails too, mend the driver (`dmesg | grep NVRM`); where it works, look at `ls -l /dev/nvidia*` for the account of nvidia-persistenced",
        samples: &[
            "nvidia-persistenced[1204]: Failed to query NVIDIA devices. Please ensure that the NVIDIA device files (/dev/nvidia*) exist, and that user 109 has read and write permissions for those files.",
        ],
        ..PERSISTENCED
    },
    Cause {
        id: "persistenced.twice",
        sign: "nvidia-persistenced.*Failed to lock PID file: Resource temporarily unavailable",
        says: "nvidia-persistenced runs already",
        means: "A second one was started beside it, by hand or by a container.",
        counts: Counts::Warn,
        act: "leave one of them: `systemctl status nvidia-persistenced` and `pgrep -a nvidia-persiste`",
        remedy: Remedy::Settings,
        sure: Sure::Confirmed,
        samples: &["nvidia-persistenced[2212]: Failed to lock PID file: Resource temporarily unavailable"],
        ..PERSISTENCED
    },
    Cause {
        id: "persistenced.no_library",
        sign: r"nvidia-persistenced.*Failed to open libnvidia-cfg\.so\.1",
        says: "nvidia-persistenced finds no libnvidia-cfg.so.1",
        means: "The package with libnvidia-cfg is missing or is of another version than the daemon.",
        act: "install libnvidia-cfg1 (or nvidia-driver-libs) in the driver's version; `driver.packages` compares them",
        remedy: Remedy::Install,
        sure: Sure::Confirmed,
        samples: &[
            "nvidia-persistenced[901]: Failed to open libnvidia-cfg.so.1: libnvidia-cfg.so.1: cannot open shared object file: No such file or directory",
        ],
        ..PERSISTENCED
    },
    Cause {
        id: "persistenced.directory",
        sign: "The daemon no longer has permission to remove its runtime data directory|Failed to remove runtime data directory",
        says: "nvidia-persistenced left its folder behind",
        means: "It gave its rights away after its start and leaves the folder to systemd.",
        counts: Counts::Note,
        samples: &[
            "nvidia-persistenced[1450]: The daemon no longer has permission to remove its runtime data directory /var/run/nvidia-persistenced",
        ],
        ..PERSISTENCED
    },
    Cause {
        id: "persistenced.failed",
        sign: r"nvidia-persistenced failed to initialize\. Check syslog|Failed to start (nvidia-persistenced\.service|NVIDIA Persistence Daemon)|nvidia-persistenced\.service: Failed with result",
        role: Role::Summary,
        says: "nvidia-persistenced did not start",
        means: "Its reason stands in the journal before this line. Mostly the driver is not loaded.",
        act: "`journalctl -b -u nvidia-persistenced` and `nvidia-smi`",
        samples: &[
            "nvidia-persistenced failed to initialize. Check syslog for more details.",
            "[FAILED] Failed to start NVIDIA Persistence Daemon.",
        ],
        ..PERSISTENCED
    },
    // DCGM.
    Cause {
        id: "nvsmi.remap_failed",
        sign: r"^\s*Remapping Failure Occurred\s*: Yes",
        says: "a GPU could not remap a bad row of its memory",
        means: "Its spare rows for that bank are used up. NVIDIA names that a reason to return it.",
        act: "drain the host, reset the GPU and run NVIDIA's field diagnostic; replace the GPU where `nvidia-smi -q -d ROW_REMAPPER` still says that remapping failed",
        remedy: Remedy::Replace,
        sure: Sure::Confirmed,
        sources: &[seen("https://docs.nvidia.com/deploy/a100-gpu-mem-error-mgmt/index.html", "2026-11-30")],
        samples: &["        Remapping Failure Occurred            : Yes"],
        ..SMI
    },
    Cause {
        id: "nvsmi.remap_pending",
        sign: r"^\s*Pending\s*: Yes\s*$",
        says: "a GPU has rows of memory to remap at its next reset",
        means: "An error was found and a spare row is set aside. The GPU works on; the remap takes place when it is reset.",
        counts: Counts::Warn,
        act: "reset the GPU when it is idle (`nvidia-smi -r -i N`, all GPUs together on boards with NVSwitches) or reboot; nothing is to be replaced for it",
        remedy: Remedy::Reset,
        sure: Sure::Confirmed,
        sources: &[seen("https://docs.nvidia.com/deploy/a100-gpu-mem-error-mgmt/index.html", "2026-11-30")],
        samples: &["        Pending                           : Yes"],
        ..SMI
    },
    Cause {
        id: "nvsmi.page_pending",
        sign: r"^\s*Pending (?:Page Blacklist|Retirement)\s*: Yes",
        says: "a GPU has pages of memory to retire at its next start",
        means: "An error was found; the page is left out once the driver is loaded anew.",
        counts: Counts::Warn,
        act: "reboot the host, or reset the GPU when it is idle; nothing is to be replaced for it",
        remedy: Remedy::Reset,
        sure: Sure::Confirmed,
        sources: &[seen("https://docs.nvidia.com/deploy/dynamic-page-retirement/index.html", "2026-11-30")],
        samples: &["        Pending Page Blacklist            : Yes"],
        ..SMI
    },
    Cause {
        id: "nvsmi.reset_wanted",
        sign: r"^\s*(?:Reset Required|Drain and Reset Recommended)\s*: Yes|^\s*GPU Recovery Action\s*: (?<action>Reset|Reboot|Drain P2P|Drain and Reset|GPU Reset|Node Reboot)\s*$",
        follows: &["xid.grave", "xid.off_the_bus", "xid.gsp", "xid.contained"],
        says: "a GPU wants a reset[: {action}]",
        means: "The driver met an error that only a reset or a reboot clears. The Xid before it says which one.",
        act: "drain the host, see `dmesg | grep -i xid` for the reason, then reset the GPU or reboot as the driver says",
        remedy: Remedy::Reset,
        sources: &[seen("https://docs.nvidia.com/deploy/nvidia-smi/index.html", "2026-11-30")],
        samples: &[
            "        Reset Required                    : Yes",
            "    GPU Recovery Action                   : Reboot",
        ],
        ..SMI
    },
    Cause {
        id: "nvsmi.thermal_slowdown",
        sign: r"^\s*(?:clocks_(?:event|throttle)_reasons\.hw_thermal_slowdown|HW Thermal Slowdown)\s*: Active",
        says: "a GPU is slowed down for heat",
        means: "The hardware lowers its clocks below those of the power limit, as it is too hot.",
        counts: Counts::Warn,
        act: "`nvidia-smi -q -d TEMPERATURE,PERFORMANCE`; look at fans, air flow, blanking panels and dust, the inlet temperature (`ipmitool sdr`), and its neighbours in the same chassis",
        sources: &[seen("https://docs.nvidia.com/deploy/nvidia-smi/index.html", "2026-11-30")],
        samples: &["            HW Thermal Slowdown           : Active"],
        ..SMI
    },
    Cause {
        id: "nvsmi.power_brake",
        sign: r"^\s*HW Power Brake Slowdown\s*: Active",
        says: "a GPU is slowed down from outside (power brake)",
        means: "The board or its power supply pulls the line that slows GPUs: a power supply failed or is not redundant, the limit of the chassis is reached, or a cable is missing.",
        counts: Counts::Warn,
        act: "look at the management controller's log and sensors (`ipmitool sel list`, `ipmitool sdr type 'Power Supply'`) and at the power limit of the chassis, before the GPU is suspected",
        sure: Sure::Likely,
        sources: &[seen("https://docs.nvidia.com/deploy/nvidia-smi/index.html", "2026-11-30")],
        samples: &["            HW Power Brake Slowdown       : Active"],
        ..SMI
    },
    Cause {
        id: "nvsmi.hw_slowdown",
        sign: r"^\s*HW Slowdown\s*: Active",
        role: Role::Effect,
        says: "a GPU is slowed down by its hardware",
        means: "Heat, the power brake, or a fault of power lowers its clocks; the lines below name which.",
        counts: Counts::Warn,
        act: "look at HW Thermal Slowdown and HW Power Brake Slowdown below it",
        sources: &[seen("https://docs.nvidia.com/deploy/nvidia-smi/index.html", "2026-11-30")],
        samples: &["        HW Slowdown                       : Active"],
        ..SMI
    },
    Cause {
        id: "nvsmi.sram_errors",
        sign: r"^\s*(?:SRAM Uncorrectable(?: Parity| SEC-DED)?|DRAM Uncorrectable)\s*: (?<count>[1-9]\d*)\s*$",
        says: "a GPU counts uncorrectable errors of memory ({count})",
        means: "Volatile counts are those since the last start of the driver, Aggregate ones those of its life. One program may have been hit; the row is remapped at the next reset.",
        counts: Counts::Warn,
        act: "`nvidia-smi -q -d ECC,ROW_REMAPPER`: see Remapped Rows: pending wants a reset when idle, a failure of remapping is a case for the maker; with neither watch the counts",
        remedy: Remedy::Look,
        sure: Sure::Guess,
        sources: &[seen("https://docs.nvidia.com/deploy/a100-gpu-mem-error-mgmt/index.html", "2026-11-30")],
        samples: &["            DRAM Uncorrectable                : 1"],
        ..SMI
    },
    Cause {
        id: "dcgm.mig_whole_gpu",
        sign: "GPU (?<gpu>[0-9]+)'s MIG configuration is incompa",
        says: "dcgmi diag does not run, as GPU {gpu} has MIG on",
        means: "The diagnostic needs whole GPUs, and refuses where any GPU of the host is cut. No GPU is bad.",
        act: "nothing to repair: run the diagnostic while MIG is off on the host, or leave it out there",
        sources: &[seen("https://github.com/NVIDIA/DCGM/issues/70", "2023-03-01")],
        sure: Sure::Confirmed,
        samples: &[
            "GPU 2's MIG configuration is incompatible with the diagnostic because it prevents access to the entire GPU.",
        ],
        ..DCGM
    },
    Cause {
        id: "dcgm.mig_diag",
        sign: "Cannot run diagnostic: (CUDA does not support enumerating GPUs|MIG is enabled, but no compute instances)",
        says: "dcgmi diag does not run with this MIG layout",
        means: "Some GPUs have MIG on and others off, or MIG is on without compute instances. No GPU is bad.",
        act: "switch MIG off for the diagnostic, or make one compute instance over the whole GPU",
        remedy: Remedy::Settings,
        sure: Sure::Confirmed,
        samples: &[
            "Cannot run diagnostic: MIG is enabled, but no compute instances are configured. CUDA needs to execute on a compute instance if MIG is enabled.",
        ],
        ..DCGM
    },
    Cause {
        id: "dcgm.dbe",
        check: "gpu.xid",
        sign: "Detected (?<count>[0-9]+) volatile double-bit ECC error|CUDA APIs have indicated that a double-bit ECC error|Pending page retirements together with a DBE were detected",
        says: "DCGM saw uncorrectable ECC errors of a GPU",
        means: "Data of a GPU's memory was lost. The driver remaps the row at the next reset.",
        act: "drain the host and reset the GPU (`nvidia-smi --gpu-reset`, or reboot); look at `nvidia-smi -q -d ROW_REMAPPER`: a failed remapping, or errors that come back, are a case for NVIDIA's field diagnostic and a replacement",
        remedy: Remedy::Reset,
        samples: &[
            "Detected 2 volatile double-bit ECC error(s) in GPU 3. Drain the GPU and reset it or reboot the node.",
        ],
        ..DCGM
    },
    Cause {
        id: "dcgm.remap_failed",
        check: "gpu.row_remap",
        sign: "GPU (?<gpu>[0-9]+) had uncorrectable memory errors and row remapping failed",
        says: "GPU {gpu} could not repair its memory",
        means: "Row remapping failed: no spare row was left, or the repair itself went wrong.",
        act: "drain the host, reset the GPU and run NVIDIA's field diagnostic; replace the GPU where `nvidia-smi -q -d ROW_REMAPPER` still says that remapping failed",
        remedy: Remedy::Replace,
        sure: Sure::Confirmed,
        samples: &[
            "GPU 3 had uncorrectable memory errors and row remapping failed. Run a field diagnostic on the GPU.",
        ],
        ..DCGM
    },
    Cause {
        id: "dcgm.remap_pending",
        sign: "GPU (?<gpu>[0-9]+) had memory errors and row remappings are pending|[Aa] pending retired page has been detected in GPU (?<page>[0-9]+)|ECC memory for GPU (?<ecc>[0-9]+) is in a pending state",
        says: "GPU [{gpu}][{page}][{ecc}] repairs its memory at the next reset",
        means: "The driver marked bad memory, and the repair takes effect with a reset of the GPU.",
        counts: Counts::Warn,
        act: "drain the host when it suits and reset the GPU (`nvidia-smi --gpu-reset`) or reboot; the GPU is sound when it comes back without new errors",
        remedy: Remedy::Reset,
        sure: Sure::Confirmed,
        samples: &[
            "GPU 5 had memory errors and row remappings are pending. Verify that the GPU works after a reset.",
        ],
        ..DCGM
    },
    Cause {
        id: "dcgm.thermal",
        sign: "[Dd]etected clocks event due to thermal violation in GPU (?<gpu>[0-9]+)|[Tt]here were thermal violations totaling [0-9.]+ seconds for GPU (?<second>[0-9]+)|Thermal violations totaling",
        says: "GPU [{gpu}][{second}] slowed down for its temperature",
        means: "The GPU or its memory reached a limit of temperature for a moment; a mean value of the temperature may hide it.",
        counts: Counts::Warn,
        act: "compare temperatures (memory too) and clock event counters of this GPU with its neighbours (`nvidia-smi -q -d TEMPERATURE,PERFORMANCE`), then fans, dust and the air or water in front of it; no part until that is known",
        sure: Sure::Guess,
        sources: &[seen("https://github.com/NVIDIA/DCGM/issues/270", "2025-12-22")],
        samples: &[
            "Detected clocks event due to thermal violation in GPU 2. Verify that the cooling on this machine is functional",
        ],
        ..DCGM
    },
    Cause {
        id: "dcgm.power",
        sign: "[Dd]etected clocks event due to power violation in GPU (?<gpu>[0-9]+)",
        says: "GPU {gpu} slowed down for its power limit",
        means: "The GPU reached its power limit, which is usual under full load unless the limit is low or the supply is short.",
        counts: Counts::Note,
        samples: &["Detected clocks event due to power violation in GPU 4."],
        ..DCGM
    },
    Cause {
        id: "dcgm.nvlink_down",
        check: "gpu.nvlink",
        sign: "GPU (?<gpu>[0-9]+)'s NvLink link (?<link>[0-9]+) is currently down|Only (?<up>[0-9]+) NvLinks are up out of the expected (?<all>[0-9]+)|NVSwitch [0-9]+'s NvLink [0-9]+ is down",
        says: "NVLinks are down[: link {link} of GPU {gpu}][: {up} of {all} are up]",
        means: "PCIe cards without a bridge have no links, and DCGM tells of them all the same. Else a link was not trained: the fabric manager does not run or stopped, the GPU waits for a reset, or the link is damaged.",
        act: "`nvidia-smi nvlink -s` and `nvidia-smi topo -m` first: where no GPU of the host has links nothing is wrong, and newer releases of DCGM are quieter; else `systemctl status nvidia-fabricmanager` and `dmesg | grep -iE 'xid|sxid|nvlink'`, then with the host drained reset all GPUs together; a link that stays down afterwards is a case for the field diagnostic",
        remedy: Remedy::Reset,
        sure: Sure::Guess,
        samples: &["GPU 3's NvLink link 7 is currently down Check DCGM and system logs for errors."],
        ..DCGM
    },
    Cause {
        id: "dcgm.nvlink_errors",
        check: "gpu.nvlink",
        sign: "Detected [0-9]+ (?<kind>.+) NvLink errors on GPU (?<gpu>[0-9]+)|NvLink errors found occuring per second on GPU|(effective|symbol) BER [0-9.e+-]+ exceeds minimum threshold on GPU",
        says: "NVLinks have errors[ ({kind} of GPU {gpu})]",
        means: "A link repeats or loses data. It may come from one bad start of the link.",
        counts: Counts::Warn,
        act: "reset all GPUs of the host together and measure again (`nvidia-smi nvlink -e`); run NVIDIA's field diagnostic when the same link has errors again",
        remedy: Remedy::Reset,
        sure: Sure::Guess,
        samples: &["Detected 12 CRC FLIT NvLink errors on GPU 1's NVLink (should be 0)"],
        ..DCGM
    },
    Cause {
        id: "dcgm.fabric_state",
        check: "driver.fabric_manager",
        sign: r"Fabric Manager \(Cluster UUID: [^)]*\): (?<what>.*)|GPU [0-9]+: Fabric State is (?<state>In Progress|Not Started|[A-Za-z ]*[Ff]ail[a-z]*)",
        role: Role::Effect,
        says: "a GPU is not registered with the NVLink fabric[: {what}][: {state}]",
        means: "The fabric manager (or that of the switches, on NVL72) has not set the fabric up.",
        act: "`systemctl status nvidia-fabricmanager` and /var/log/fabricmanager.log; on GB200 look at the fabric manager of the NVLink switches, as the compute tray has none",
        samples: &["GPU 0: Fabric State is In Progress (1)."],
        ..DCGM
    },
    Cause {
        id: "dcgm.imex",
        sign: "IMEX (?<what>domain|daemon) status is (?<status>[A-Z_]+)",
        says: "the IMEX {what} is {status}",
        means: "nvidia-imex does not run on this host, or one of the hosts in nodes_config.cfg is not reached.",
        act: "`nvidia-imex-ctl -N` shows which host is away; start nvidia-imex there, compare /etc/nvidia-imex/nodes_config.cfg on all, open port 50000 between them",
        remedy: Remedy::Settings,
        sources: &[
            seen("https://github.com/linux-system-roles/hpc/pull/85", "2026-02-27"),
            seen("https://docs.nvidia.com/multi-node-nvlink-systems/imex-guide/config.html", "2026-11-30"),
        ],
        samples: &[
            "IMEX domain status is DEGRADED (unhealthy) Check IMEX installation, configuration, domain and daemon status, and network connectivity.",
        ],
        ..DCGM
    },
    Cause {
        id: "dcgm.xid",
        sign: "Detected XID (?<xid>[0-9]+) for GPU (?<gpu>[0-9]+)",
        role: Role::Effect,
        says: "DCGM passes on Xid {xid} of GPU {gpu}",
        means: "DCGM knows the number only and makes every Xid fatal. Whether this one is grave stands in the kernel's own line (Fatal or Nonfatal, contained or not).",
        counts: Counts::Warn,
        act: "read the NVRM line of this Xid in `dmesg` and act by it; `gpu.xid` does that; nothing is replaced on DCGM's word alone",
        sources: &[seen("https://github.com/NVIDIA/NVSentinel/issues/1357", "2026-06-03")],
        samples: &["Detected XID 145 for GPU 0 Please consult the documentation for details of this XID."],
        ..DCGM
    },
    Cause {
        id: "dcgm.recovery",
        sign: r"Recovery action: [0-9]+ \((?<action>GPU_RESET|NODE_REBOOT|DRAIN_P2P|DRAIN_AND_RESET)\)",
        says: "the driver asks for {action}",
        means: "A fault of a GPU can only be cleared by this step.",
        act: "drain the host, then do what it names: GPU_RESET and DRAIN_AND_RESET by `nvidia-smi --gpu-reset`, NODE_REBOOT by a reboot, DRAIN_P2P by ending jobs that use peer-to-peer",
        remedy: Remedy::Reset,
        sure: Sure::Confirmed,
        samples: &["GPU 2 requires a reset to recover from a fault. Recovery action: 1 (GPU_RESET)."],
        ..DCGM
    },
    Cause {
        id: "dcgm.bad_memory",
        sign: "Found (?<count>[0-9]+) faulty memory elements on GPU (?<gpu>[0-9]+)|memory mismatch was detected on GPU (?<second>[0-9]+)|Detected a miscompare failure in the L1 cache|Found [0-9]+ NaN-value memory elements on GPU (?<third>[0-9]+)",
        says: "GPU [{gpu}][{second}][{third}] computed or kept wrong values in DCGM's test",
        means: "The diagnostic read back other data than it wrote. The GPU may give wrong results.",
        act: "drain the host, reset the GPU and run `dcgmi diag -r 3` on it alone; when it fails again, run NVIDIA's field diagnostic and have the GPU replaced by its result",
        remedy: Remedy::Reset,
        samples: &["Found 12 faulty memory elements on GPU 4"],
        ..DCGM
    },
    Cause {
        id: "dcgm.denylisted",
        sign: "Found driver on the denylist: (?<driver>.+)",
        says: "the driver {driver} is loaded beside NVIDIA's",
        means: "nouveau or another driver for the GPUs is loaded, which the diagnostic does not allow.",
        act: "blacklist it, rebuild the initramfs and reboot; `driver.nouveau` looks for it",
        remedy: Remedy::Reset,
        sure: Sure::Confirmed,
        samples: &["Found driver on the denylist: nouveau"],
        ..DCGM
    },
    Cause {
        id: "dcgm.pcie_slow",
        check: "gpu.pcie_width",
        sign: "GPU (?<gpu>[0-9]+) is running at PCI link (generation (?<generation>[0-9]+)|width (?<width>[0-9]+)X), which is below",
        says: "the PCIe link of GPU {gpu} is slower than expected[ (generation {generation})][ (x{width})]",
        means: "The link was trained down: seating, riser, a setting of the firmware, or power saving of an idle GPU.",
        counts: Counts::Warn,
        act: "look again under load, then at `lspci -vv` (LnkSta and LnkCap) of the GPU and the bridge before it; reseat the GPU or its riser when one of several is slow",
        sure: Sure::Guess,
        samples: &[
            "GPU 6 is running at PCI link width 8X, which is below the minimum allowed link generation of 16 (parameter 'min_pci_width')",
        ],
        ..DCGM
    },
    Cause {
        id: "dcgm.persistence",
        check: "gpu.persistence",
        sign: "Persistence mode for GPU (?<gpu>[0-9]+) is disabled",
        says: "persistence mode of GPU {gpu} is off",
        means: "The driver unloads the GPU's state when no program uses it, which makes starts slow.",
        counts: Counts::Warn,
        act: "`systemctl enable --now nvidia-persistenced` (the playbook `nvidia-driver` does it)",
        remedy: Remedy::Settings,
        sure: Sure::Confirmed,
        samples: &[
            "Persistence mode for GPU 0 is disabled. Enable persistence mode by running \"nvidia-smi -i <gpuId> -pm 1 \" as root.",
        ],
        ..DCGM
    },
    Cause {
        id: "dcgm.no_engine",
        sign: "(?i)unable to establish a connection to the specified host: (?<host>[^ ]+)|Unable to connect to host engine|Error connecting to nv-hostengine|Host engine connection invalid/disconnected",
        says: "nv-hostengine does not run or is not reached",
        means: "dcgmi and the exporter speak with the daemon nv-hostengine, on port 5555 unless it runs inside of them.",
        act: "`systemctl status nvidia-dcgm` (older versions: `dcgm`), `systemctl enable --now nvidia-dcgm`; for another host look at its address, port 5555 and the firewall",
        remedy: Remedy::Settings,
        samples: &[
            "Error: unable to establish a connection to the specified host: localhost",
            "Error: Unable to connect to host engine. Host engine connection invalid/disconnected.",
        ],
        ..DCGM
    },
    Cause {
        id: "dcgm.init_failed",
        sign: r"Error starting nv-hostengine: DCGM initialization error|CacheManager Init Failed\. Error: (?<code>-?[0-9]+)",
        role: Role::Effect,
        says: "nv-hostengine could not start[ (error {code})]",
        means: "NVML did not answer or refused: no driver, a library of another version, a GPU that fell off, or MIG without rights in the container.",
        act: "`nvidia-smi` in the same place (the container, the host) first; then start the exporter with `--cap-add SYS_ADMIN` where MIG is on",
        sure: Sure::Guess,
        sources: &[seen("https://github.com/NVIDIA/dcgm-exporter/issues/34", "2021-12-14")],
        samples: &[
            "CacheManager Init Failed. Error: -17",
            "time=\"2021-12-14T17:28:56Z\" level=fatal msg=\"Error starting nv-hostengine: DCGM initialization error\"",
        ],
        ..DCGM
    },
    Cause {
        id: "dcgm.profiling_shared",
        sign: "third-party Profiling module returned an unrecoverable error",
        says: "profiling metrics are taken by another program",
        means: "Only one program at a time may use the GPU's counters: a second nv-hostengine, dcgm-exporter, Nsight or CUPTI holds them. Profiling without root gives the same words, and so does a first start while another part of DCGM still comes up.",
        counts: Counts::Warn,
        act: "run one nv-hostengine per host, as root, and let dcgm-exporter and dcgmi connect to it (`-r localhost:5555`); `dcgmi profile --pause` while Nsight runs",
        remedy: Remedy::Settings,
        sure: Sure::Guess,
        sources: &[
            seen("https://github.com/NVIDIA/dcgm-exporter/issues/7", "2021-08-25"),
            seen("https://github.com/NVIDIA/DCGM/issues/62", "2023-01-10"),
        ],
        samples: &[
            "Error setting watches. Result: The third-party Profiling module returned an unrecoverable error",
        ],
        ..DCGM
    },
    Cause {
        id: "dcgm.module_not_loaded",
        sign: "level=fatal.*(serviced by a module of DCGM that is not currently loaded|Profiling is not supported for this group)",
        says: "dcgm-exporter wants metrics that this GPU or DCGM does not give",
        means: "Profiling metrics exist on data centre GPUs only, and need the package with DCGM's proprietary modules (from version 4: datacenter-gpu-manager-4-proprietary).",
        act: "take the DCGM_FI_PROF fields out of the exporter's list, or install the matching proprietary package of DCGM",
        remedy: Remedy::Settings,
        sure: Sure::Guess,
        sources: &[seen("https://github.com/NVIDIA/gpu-monitoring-tools/issues/141", "2020-12-15")],
        samples: &[
            "time=\"2020-12-15T11:28:40Z\" level=fatal msg=\"Error watching fields: This request is serviced by a module of DCGM that is not currently loaded\"",
        ],
        ..DCGM
    },
    Cause {
        id: "dcgm.no_profiling",
        sign: "Not collecting (DCP|GPU|NvSwitch|NvLink|CPU|CPU Core|switch|link|cpu)[A-Za-z ]* ?metrics[:;,]|doesn't have sufficient privileges to expose profiling metrics",
        says: "dcgm-exporter goes without some metrics",
        means: "The GPU, or the rights of the container, do not give these metrics. The others are exported.",
        counts: Counts::Note,
        sources: &[seen("https://github.com/NVIDIA/dcgm-exporter/issues/327", "2024-05-24")],
        samples: &[
            "time=\"2024-05-24T04:53:22Z\" level=info msg=\"Not collecting DCP metrics: Error getting supported metrics: Profiling is not supported for this group of GPUs or GPU\"",
            "Warning #2: dcgm-exporter doesn't have sufficient privileges to expose profiling metrics. To get profiling metrics with dcgm-exporter, use --cap-add SYS_ADMIN",
        ],
        ..DCGM
    },
    Cause {
        id: "dcgm.diag_running",
        sign: "A diag instance is already running",
        says: "another dcgmi diag runs on this host",
        means: "Only one diagnostic runs at a time, and a health check of the scheduler may have started it.",
        counts: Counts::Warn,
        act: "wait for it, or look who started it: `pgrep -a nvvs`",
        passing: true,
        sure: Sure::Confirmed,
        sources: &[seen("https://github.com/NVIDIA/DCGM (dcgmlib/src/dcgm_errors.c)", "2026-11-30")],
        samples: &[
            "Error: A diag instance is already running, cannot run a new diag until the current one finishes",
        ],
        ..DCGM
    },
    Cause {
        id: "dcgm.stress",
        sign: "Max stress level of (?<got>[0-9.]+) did not reach desired stress level of (?<wanted>[0-9.]+) for GPU (?<gpu>[0-9]+)|Max power of (?<power>[0-9.]+) did not reach desired power minimum",
        role: Role::Effect,
        says: "GPU [{gpu}] did not reach the load of DCGM's test",
        means: "The GPU was slowed down, another job ran beside the test, or the test has limits of another model.",
        counts: Counts::Warn,
        act: "look for other processes and clock events at the same time (`nvidia-smi -q -d PERFORMANCE`), run the test again on an idle host, and compare with its neighbours",
        sure: Sure::Guess,
        samples: &["Max stress level of 9120.1 did not reach desired stress level of 9500.0 for GPU 3"],
        ..DCGM
    },
    Cause {
        id: "dcgm.cuda_call",
        sign: "GPU (?<gpu>[0-9]+) (Error using CUDA API|API call (?<call>cu[A-Za-z0-9]+) failed)|There was an internal error during the test: '(?<what>[^']*)",
        role: Role::Effect,
        says: "a call of DCGM's test failed[ on GPU {gpu}][: {what}]",
        means: "CUDA's own words follow (busy or unavailable, out of memory, not initialised). Another job on the GPU is the usual reason of `busy or unavailable`, with an exclusive compute mode.",
        counts: Counts::Warn,
        act: "`nvidia-smi` for processes and the compute mode, `dmesg | grep -i xid`; run the test again on an idle, drained host",
        sure: Sure::Guess,
        sources: &[seen("https://github.com/NVIDIA/go-dcgm/issues/52", "2026-11-30")],
        samples: &["| Warning                   | GPU 0 Error using CUDA API cuCtxCreate Check   |"],
        ..DCGM
    },
    Cause {
        id: "dcgm.off_envelope",
        sign: "NVVS has detected processes with graphics contexts open|Unable to find a corresponding CUDA device for GPU|GPU [0-9]+ failed to create a CUDA context",
        role: Role::Effect,
        says: "dcgmi diag could not use a GPU",
        means: "Another process holds the GPU, CUDA_VISIBLE_DEVICES hides it, or the fabric manager is not ready.",
        act: "run the diagnostic on an idle host without CUDA_VISIBLE_DEVICES; look at `systemctl status nvidia-fabricmanager` and the words behind this line",
        sure: Sure::Guess,
        samples: &["Unable to find a corresponding CUDA device for GPU 0"],
        ..DCGM
    },
];
