//! Docker, containerd, Podman and enroot: what the rows of `containers` do not have.

use super::super::cause::{Cause, Counts, Remedy, Role, Sure, TOOL, seen};

const DOCKER: Cause = Cause {
    remedy: Remedy::Settings,
    sources: &[seen("https://docs.docker.com/engine/daemon/troubleshoot/", "2026-11-30")],
    ..TOOL
};
const PODMAN: Cause = Cause {
    remedy: Remedy::Settings,
    sources: &[seen("https://github.com/containers/podman/blob/main/troubleshooting.md", "2026-11-30")],
    ..TOOL
};
const ENROOT: Cause = Cause {
    remedy: Remedy::Settings,
    sources: &[seen("https://github.com/NVIDIA/enroot (bin, src, conf)", "2026-11-30")],
    ..TOOL
};

pub(in crate::causes) const ROWS: &[Cause] = &[
    // The container toolkit and CDI.
    Cause {
        id: "mpi.container_hosts",
        sign: r"^\s*(?:Local|Remote) host:\s+(?<host>[0-9a-f]{12})\s*$",
        says: "the host {host} is a container",
        means: "A name of twelve hexadecimal digits is the id of a container.",
        counts: Counts::Note,
        sources: &[seen("https://github.com/open-mpi/ompi/issues/12103", "2023-11-20")],
        samples: &["  Local host:    3eed81735a60"],
        ..TOOL
    },
    Cause {
        id: "toolkit.old_driver_symbol",
        sign: r"(?<program>[^ :]*nvidia-(?:ctk|container|device-plugin|cdi)[^ :]*|dcgm-exporter|dcgmi|nv-hostengine|nvtop): symbol lookup error: .*undefined symbol: (?<symbol>nvml[A-Za-z0-9_]+|cu[A-Z]\w+)",
        says: "the driver is too old for {program}: it has no {symbol}",
        means: "The program calls a function that the library of this driver does not have yet.",
        act: "take a release of the program that knows this driver, or a newer driver where the card allows one; `nvidia-ctk cdi generate --mode=management` does without the calls for MIG",
        remedy: Remedy::Install,
        sure: Sure::Confirmed,
        sources: &[seen("https://github.com/NVIDIA/nvidia-container-toolkit/issues/63", "2023-05-22")],
        samples: &[
            "./nvidia-ctk: symbol lookup error: ./nvidia-ctk: undefined symbol: nvmlDeviceGetMaxMigDeviceCount",
        ],
        ..TOOL
    },
    Cause {
        id: "kube.gpu_share_none",
        sign: r"no-gpu-has-(?<memory>\d+\w*)-to-run",
        says: "no GPU of this node has {memory} left for the pod",
        means: "The scheduler's extender for shared GPUs (gpushare) writes this word in place of a device when none fits.",
        act: "look at what the extender gave out (`kubectl inspect gpushare`, the pod's annotations ALIYUN_COM_GPU_MEM_*): ask for less memory or another node; GPU, driver and toolkit are sound",
        remedy: Remedy::Settings,
        sources: &[
            seen("https://github.com/NVIDIA/nvidia-container-toolkit/issues/223", "2023-02-10"),
            seen(
                "https://github.com/AliyunContainerService/gpushare-device-plugin (pkg/gpu/nvidia/allocate.go)",
                "2026-12-01",
            ),
        ],
        samples: &["nvidia-container-cli: device error: no-gpu-has-128MiB-to-run: unknown device: unknown"],
        ..TOOL
    },
    Cause {
        id: "cuda.symbol_of_driver",
        sign: r"symbol lookup error: (?<program>[^ :]+): undefined symbol: (?<symbol>(?:cu[A-Z][A-Za-z]+|nvml[A-Z][A-Za-z]+)(?:_v\d)?)\b",
        says: "{program} wants {symbol} of the driver, which its libcuda or libnvidia-ml does not have",
        means: "The driver that it finds is older than the toolkit it was built with, or a stub or another copy of the library is found first.",
        act: "`nvidia-smi` for the driver's CUDA against the one that built it, and `ldd {program} | grep -E \"cuda|nvidia-ml\"`: take a build for this driver, a newer driver, or the right library first; in a container look that the host's driver is given in (`--nv`, `--gpus all`)",
        remedy: Remedy::Install,
        sure: Sure::Guess,
        sources: &[seen("https://github.com/NVIDIA/gdrcopy/issues/144", "2020-10-15")],
        samples: &[
            "/opt/tests/copybw: symbol lookup error: /opt/tests/copybw: undefined symbol: cuDevicePrimaryCtxRelease_v2",
        ],
        ..TOOL
    },
    Cause {
        id: "toolkit.stale_proc",
        sign: r"mount operation failed: \S*/proc/driver/nvidia/\S+: no such file or directory",
        says: "Docker still has mounts of the driver that was loaded before",
        means: "The driver was replaced while the daemon ran, and files below /proc/driver/nvidia of the old one are asked for.",
        act: "restart the daemon (`systemctl restart docker`, or containerd) and start the container again",
        remedy: Remedy::Settings,
        sure: Sure::Confirmed,
        sources: &[seen("https://github.com/NVIDIA/nvidia-container-toolkit/issues/169", "2022-05-04")],
        samples: &[
            "nvidia-container-cli: mount error: mount operation failed: /var/lib/docker/overlay2/307038625cd/merged/proc/driver/nvidia/params/version/registry: no such file or directory: unknown",
        ],
        ..TOOL
    },
    Cause {
        id: "toolkit.old_library_name",
        sign: "mount error: stat failed: /(?<what>[A-Z][A-Za-z]+): no such file",
        says: "libnvidia-container takes a word ({what}) of the driver for a path",
        means: "An old release of the library misreads what this driver answers.",
        act: "update libnvidia-container1 and libnvidia-container-tools (1.0.2 and newer), best the whole nvidia-container-toolkit; driver and GPU are sound",
        remedy: Remedy::Install,
        sure: Sure::Confirmed,
        sources: &[seen("https://github.com/NVIDIA/nvidia-docker/issues/957", "2019-04-28")],
        samples: &["nvidia-container-cli: mount error: stat failed: /GeForce: no such file or directory"],
        ..TOOL
    },
    Cause {
        id: "mpi.mpich_ucx_resources",
        sign: r"ucx function returned with failed status\(.*No resources are available",
        says: "MPICH's UCX got no resources",
        means: "Shared memory of a container is small by default (64 MB), and more ranks need more of it; limits of open files and locked memory are told in the same words.",
        act: "`df -h /dev/shm` in the container: `--shm-size=8g` or `--ipc=host`, on Kubernetes an emptyDir with `medium: Memory`; then `ulimit -n` and `ulimit -l`; UCX_LOG_LEVEL=info names the transport",
        remedy: Remedy::Settings,
        sure: Sure::Guess,
        sources: &[
            seen("https://github.com/pmodels/mpich/issues/7321", "2025-11-04"),
            seen("https://openucx.readthedocs.io/en/master/running.html", "2026-12-01"),
        ],
        samples: &[
            "init_worker(48)...............:  ucx function returned with failed status(ucx_init.c 48 init_worker No resources are available to initiate the operation)",
        ],
        ..TOOL
    },
    Cause {
        id: "mpi.bind_memory",
        sign: r"Error message:\s+failed to bind memory",
        says: "Open MPI could not bind memory to its NUMA node",
        means: "A container without the capability SYS_NICE may not; the job goes on and may be somewhat slower (`--cap-add SYS_NICE` allows it).",
        counts: Counts::Note,
        sources: &[seen("https://github.com/open-mpi/ompi/issues/7368", "2020-02-05")],
        samples: &["  Error message:     failed to bind memory"],
        ..TOOL
    },
    Cause {
        id: "apptainer.newidmap",
        sign: r"ERROR\s+: 'new(?<kind>[ug])idmap' execution failed",
        says: "new{kind}idmap may not map IDs, so the container cannot begin",
        means: "The program is not setuid root and has no capability: it was copied, its package was unpacked without capabilities (an image), or the outer container forbids it.",
        act: "`getcap /usr/bin/new{kind}idmap`: `setcap cap_setuid+eip /usr/bin/newuidmap` and `setcap cap_setgid+eip /usr/bin/newgidmap`, or install uidmap (shadow-utils) again; in a container of Docker it also needs `--security-opt seccomp=unconfined` and `systempaths=unconfined`",
        remedy: Remedy::Settings,
        sources: &[seen("https://github.com/apptainer/apptainer/issues/3725", "2026-08-27")],
        samples: &[
            "ERROR  : 'newgidmap' execution failed. Check that 'newgidmap' is setuid root or has setcap cap_setgid+eip.",
        ],
        ..TOOL
    },
    Cause {
        id: "toolkit.cdi_minor",
        sign: "failed to generate CDI spec.*minor number: Not Supported",
        says: "nvidia-ctk took the wrong mode for this kind of GPU",
        means: "A Jetson or WSL has no minor numbers of devices, and nvidia-ctk took it for an ordinary host.",
        act: "name the mode: `nvidia-ctk cdi generate --mode=csv` on a Jetson, `--mode=wsl` in WSL; or take a newer toolkit, which finds it by itself",
        remedy: Remedy::Settings,
        sources: &[
            seen("https://github.com/NVIDIA-ISAAC-ROS/isaac_ros_common/issues/163", "2024-12-20"),
            seen(
                "https://docs.nvidia.com/datacenter/cloud-native/container-toolkit/latest/cdi-support.html",
                "2026-12-01",
            ),
        ],
        samples: &[
            "ERRO[0000] failed to generate CDI spec: failed to create device CDI specs: failed to generate CDI edits for GPU devices: error visiting device: failed to get edits for device: failed to create device discoverer: error getting GPU device minor number: Not Supported",
        ],
        ..TOOL
    },
    Cause {
        id: "cdi.spec_too_new",
        sign: r#"failed to (?:load|parse|unmarshal) CDI Spec.*unknown field .?\\?"?(?<field>\w+)"#,
        says: "the CDI specification is newer than this runtime: it does not know {field}",
        means: "Podman, containerd or Docker was built with an older library of CDI than nvidia-ctk writes for.",
        act: "take a newer runtime of the distribution (Podman 4.3 and newer), or the newest nvidia-ctk and write the file again; as a makeshift the field can be taken out of it",
        remedy: Remedy::Install,
        sources: &[seen("https://github.com/NVIDIA/nvidia-container-toolkit/issues/38", "2022-12-02")],
        samples: &[
            r#"failed to parse CDI Spec "/etc/cdi/nvidia.yaml": failed to unmarshal CDI Spec: error unmarshaling JSON: while decoding JSON: json: unknown field "hostPath""#,
        ],
        ..TOOL
    },
    Cause {
        id: "toolkit.discovery_mode",
        sign: r"invalid discovery mode: (?<mode>\w+)",
        says: "nvidia-ctk cannot write a CDI specification in the mode {mode}",
        means: "That word is a mode of the runtime and none of discovery; nvidia-ctk reads it from its settings.",
        act: "`grep -n mode /etc/nvidia-container-runtime/config.toml` and the environment of the unit (NVIDIA_CTK_*): set it to auto, or call `nvidia-ctk cdi generate --mode=auto`; then `systemctl restart nvidia-cdi-refresh`",
        remedy: Remedy::Settings,
        sure: Sure::Guess,
        sources: &[seen("https://github.com/NVIDIA/nvidia-container-toolkit/issues/1376", "2025-10-23")],
        samples: &[r#"nvidia-ctk[64294]: level=error msg="invalid discovery mode: cdi""#],
        ..TOOL
    },
    Cause {
        id: "cdi.automatic_failed",
        sign: r"unresolvable CDI devices runtime\.nvidia\.com/gpu=",
        says: "the NVIDIA runtime could not make a CDI specification by itself",
        means: "In mode auto or jit-cdi it writes one when a container starts; that failed, and its own reason is only in its log.",
        act: "`nvidia-smi` on the host, then `nvidia-ctk --debug cdi generate --output=/dev/null`, which shows the reason; `debug` in /etc/nvidia-container-runtime/config.toml names a log",
        remedy: Remedy::Settings,
        sources: &[seen("https://github.com/NVIDIA/nvidia-container-toolkit/issues/1537", "2025-12-11")],
        samples: &[
            "error modifying OCI spec: failed to inject CDI devices: unresolvable CDI devices runtime.nvidia.com/gpu=all: unknown",
        ],
        ..TOOL
    },
    Cause {
        id: "toolkit.hook_killed",
        sign: r"error running hook.*exit status 137|nvidia-container-cli: line \d+: +\d+ Killed",
        says: "the hook of the NVIDIA toolkit was killed",
        means: "It runs within the memory limit of the container, and a very small limit ends it.",
        act: "give the container more memory (some ten MiB more than its own need), and look at `dmesg | grep -i oom` of that time",
        remedy: Remedy::Settings,
        sure: Sure::Guess,
        sources: &[seen("https://github.com/eclipse-che/che/issues/21765", "2022-10-13")],
        samples: &[
            "error running hook #0: error running hook: exit status 137, stdout: , stderr: Auto-detected mode as 'legacy'",
        ],
        ..TOOL
    },
    Cause {
        id: "toolkit.library_gone",
        sign: "detection error: open failed: (?<file>/[^ :]+): no such file",
        says: "the host's list of libraries names {file}, which is not there",
        means: "The container toolkit reads /etc/ld.so.cache, and it still lists a file of a driver that was removed or half replaced.",
        act: "`ldconfig` as root writes the list anew; look with `ldconfig -p | grep nvidia` for libraries of two versions, and make `nvidia-smi` work on the host first; then start the container again",
        remedy: Remedy::Settings,
        sure: Sure::Likely,
        sources: &[seen("https://github.com/NVIDIA/nvidia-docker/issues/1663", "2022-08-14")],
        samples: &[
            "nvidia-container-cli: detection error: open failed: /usr/lib/x86_64-linux-gnu/libnvidia-tls.so.470.129.06: no such file or directory: unknown.",
        ],
        ..TOOL
    },
    Cause {
        id: "toolkit.no_low_runtime",
        sign: r"find runc path: exec: .?\x22?(runc|docker-runc|crun)|error locating runtime: no runtime binary found from candidate list",
        says: "nvidia-container-runtime finds no runc",
        means: "It passes everything on to runc (or crun), which is not in the PATH of this account or service.",
        act: "install runc (or name crun in `runtimes` of /etc/nvidia-container-runtime/config.toml); with Podman leave `--runtime=nvidia` out and use `--device nvidia.com/gpu=all` (CDI)",
        sources: &[seen("https://github.com/podman-container-tools/podman/issues/5711", "2020-04-03")],
        samples: &[
            "2020/04/03 13:34:52 ERROR: /usr/bin/nvidia-container-runtime: find runc path: exec: \"runc\": executable file not found in $PATH",
        ],
        ..DOCKER
    },
    Cause {
        id: "cdi.stale_device",
        sign: r"failed to stat CDI host device .?(?<device>/dev/[^ \x22\\]+)",
        says: "the CDI specification names {device}, which is not on the host",
        means: "The specification was written on another boot or before a change of the driver or the cards: numbers of /dev/dri change, and some device files are made on first use.",
        act: "`nvidia-ctk cdi generate --output=/etc/cdi/nvidia.yaml` anew (at each boot nvidia-cdi-refresh.service of the toolkit from 1.18 on does it), then start the container again",
        sources: &[seen("https://github.com/NVIDIA/nvidia-container-toolkit/issues/885", "2025-01-30")],
        samples: &[
            "Error: setting up CDI devices: failed to inject devices: failed to stat CDI host device \"/dev/dri/controlD69\": no such file or directory",
        ],
        ..DOCKER
    },
    Cause {
        id: "toolkit.rootless_runtime",
        sign: r"nvidia-container-runtime: .*(permission denied|[Oo]peration not permitted)|error creating device nodes: .*permission denied",
        says: "a container without root may not make the device files",
        means: "Rootless Podman with nvidia-container-runtime in front makes device files itself, which an ordinary account may not.",
        act: "leave `--runtime nvidia-container-runtime` out and hand the GPU over by CDI alone (`--device nvidia.com/gpu=all`)",
        sources: &[seen("https://github.com/NVIDIA/nvidia-container-toolkit/issues/1151", "2025-06-16")],
        samples: &[
            "Error: /usr/bin/nvidia-container-runtime: time=\"2025-06-16T16:57:14-04:00\" level=error msg=\"runc create failed: unable to start container process: error during container init: error creating device nodes: open /home/alice/merged/dev/dri/card1: permission denied\": OCI permission denied",
        ],
        ..DOCKER
    },
    Cause {
        id: "toolkit.driver_error",
        sign: r"nvidia-container-cli(\.real)?: (initialization|detection) error: driver error: failed to process request",
        role: Role::Effect,
        says: "the driver of the host did not answer the container toolkit",
        means: "An old libnvidia-container prints so when NVML fails: no driver on the host, a version that changed without a reboot, or a GPU that hangs.",
        act: "`nvidia-smi` on the host and `dmesg | grep -iE 'xid|NVRM'`; where it works there, install the current nvidia-container-toolkit",
        sure: Sure::Guess,
        sources: &[
            seen("https://github.com/NVIDIA/nvidia-docker/issues/1137", "2019-11-27"),
            seen("https://github.com/NVIDIA/gpu-operator/issues/130", "2021-01-19"),
        ],
        samples: &[
            "nvidia-container-cli: initialization error: driver error: failed to process request: unknown",
        ],
        ..DOCKER
    },
    Cause {
        id: "image.no_driver_seen",
        sign: r"WARNING: The NVIDIA Driver was not detected\. +GPU functionality will not be available|WARNING: NVIDIA Driver was not detected",
        says: "the container was started without GPUs",
        means: "Images of NVIDIA print this where they see no /dev/nvidiactl or libcuda: `--gpus` or the NVIDIA runtime is missing, or the host has no driver.",
        act: "`docker run --gpus all` (Kubernetes: a limit of nvidia.com/gpu); `nvidia-smi` on the host; on a machine without GPUs it is right",
        counts: Counts::Warn,
        samples: &["WARNING: The NVIDIA Driver was not detected.  GPU functionality will not be available."],
        ..DOCKER
    },
    // Docker.
    // What runc says when it cannot start a container.
    Cause {
        id: "oci.apparmor",
        sign: r"apparmor failed to apply profile|apparmor: config provided but apparmor not supported|AppArmor enabled on system but the (?<profile>[^ ]+) profile could not be loaded|[Uu]nable to load apparmor_parser|apparmor_parser.{0,3}: executable file not found",
        says: "the container's AppArmor profile could not be set",
        means: "The kernel has AppArmor on and the program apparmor_parser is missing, so that the profile docker-default was never loaded; or the kernel and runc do not agree about AppArmor (a kernel that was updated, a container in a container).",
        act: "install the package apparmor and restart Docker or containerd; where it is installed `aa-status` and `dmesg | grep -i apparmor`, then a newer runc or the kernel before; `--security-opt apparmor=unconfined` only goes round it",
        remedy: Remedy::Install,
        sources: &[
            seen("https://github.com/containerd/containerd/issues/8123", "2023-02-16"),
            seen("https://github.com/moby/moby/issues/41993", "2021-02-06"),
            seen("https://github.com/docker/for-linux/issues/503", "2018-11-26"),
        ],
        samples: &[
            "error during container init: unable to apply apparmor profile: apparmor failed to apply profile: write /proc/self/attr/apparmor/exec: no such file or directory: unknown",
            "container init caused: apply apparmor profile: apparmor failed to apply profile: write /proc/self/attr/exec: invalid argument: unknown.",
            "apply apparmor profile: apparmor: config provided but apparmor not supported",
        ],
        ..DOCKER
    },
    Cause {
        id: "oci.kernel_option",
        sign: r"(?<what>(cgroup|user|pid|ipc|network|uts) namespaces?) aren't enabled in the kernel|unable to start container process: .*(function not implemented)",
        says: "the kernel lacks what containers need[: {what}]",
        means: "It was built without an option, which kernels of appliances and boards do.",
        act: "boot a kernel of the distribution, or one with the missing option; `docker/contrib/check-config.sh` of moby lists them; `--cgroupns=host` goes round a missing cgroup namespace",
        remedy: Remedy::Install,
        sources: &[seen("https://github.com/moby/moby/issues/46776", "2023-11-06")],
        samples: &["runc create failed: cgroup namespaces aren't enabled in the kernel: unknown."],
        ..DOCKER
    },
    Cause {
        id: "oci.cgroup_write",
        sign: r"(applying cgroup configuration for process caused|unable to apply cgroup configuration|error setting cgroup config for procHooks process): .*failed to write .*?(?<file>(cpu|memory|cpuset|io|pids|hugetlb|devices)\.[a-z_.0-9]+)[^:]*: (?<why>[a-z ]+)",
        says: "a limit of the container was refused by its cgroup ({file}: {why})",
        means: "The value does not fit what the group above has: cpusets that are not given out, a real-time share that the parent has not, more memory than its limit, or a kernel without that controller.",
        act: "`cat` the same file in the parent group; take the option away (`--cpuset-cpus`, `--cpu-rt-runtime`, `--memory`) or raise it in the parent (Slurm's, systemd's slice, daemon.json)",
        sources: &[seen("https://github.com/docker/cli/issues/4955", "2024-03-20")],
        samples: &[
            "applying cgroup configuration for process caused: failed to write \"800000\": write /dev/cpu/docker/ea7f/cpu.rt_runtime_us: invalid argument: unknown Error",
        ],
        ..DOCKER
    },
    Cause {
        id: "toolkit.runtime_gone",
        sign: r"(?:fork/exec |exec: \\?\x22|stat )(?<path>[^ :\x22\\]*nvidia-container-runtime(?:\.[a-z-]+)?)\\?\x22?: (?:stat [^ ]+: )?(?:no such file or directory|executable file not found)",
        says: "the runtime {path} is not on the host",
        means: "containerd's or Docker's configuration names it, and the file is missing: the toolkit's pod of the GPU operator has not put it there yet, or the operator or package is gone and its configuration stayed.",
        act: "`ls -l {path}`; where the toolkit is not installed, install nvidia-container-toolkit and restart the daemon; with the GPU operator look at the pod nvidia-container-toolkit-daemonset of this node; where it was taken away, take `nvidia` out of the runtime's configuration (daemon.json, default_runtime_name) and restart it",
        sure: Sure::Guess,
        sources: &[
            seen("https://github.com/NVIDIA/gpu-operator/issues/1982", "2026-11-30"),
            seen("https://github.com/NVIDIA/nvidia-container-toolkit/issues/1328", "2025-09-30"),
        ],
        samples: &[
            "OCI runtime create failed: unable to retrieve OCI runtime error (open /run/containerd/io.containerd.runtime.v2.task/k8s.io/abc/log.json: no such file or directory): fork/exec /usr/local/nvidia/toolkit/nvidia-container-runtime: no such file or directory: unknown",
        ],
        ..DOCKER
    },
    Cause {
        id: "toolkit.hook_failed",
        sign: r"error executing hook .(?<hook>[^ `'\x22]*(nvidia-ctk|nvidia-cdi-hook|nvidia-container-(toolkit|runtime-hook)))",
        says: "a hook of the container toolkit failed ({hook})",
        means: "crun tells only the exit code. It was seen with the whole of /dev mounted into the container, with `--userns keep-id`, and with a CDI specification of another version than the installed toolkit.",
        act: "leave `-v /dev:/dev` and `--userns keep-id` out once to see whether it is one of them; write the CDI specification anew (`nvidia-ctk cdi generate --output=/etc/cdi/nvidia.yaml`) with a current toolkit; `podman --log-level=debug run ...` shows more",
        sure: Sure::Guess,
        sources: &[
            seen("https://github.com/NVIDIA/nvidia-container-toolkit/issues/143", "2023-11-06"),
            seen("https://github.com/NVIDIA/nvidia-container-toolkit/issues/46", "2023-01-30"),
        ],
        samples: &[
            "Error: OCI runtime error: crun: {\"msg\":\"error executing hook `/usr/bin/nvidia-ctk` (exit code: 1)\",\"level\":\"error\",\"time\":\"2023-11-05T12:05:27.216981Z\"}",
        ],
        ..PODMAN
    },
    Cause {
        id: "oci.runc_unreadable",
        sign: r"you have no read access to (?<what>runc|crun) binary file",
        says: "{what} may not read its own program file",
        means: "runc copies itself before it starts a container, and needs to read /usr/bin/runc for that: its mode, an attribute or a label of SELinux forbids it to this account.",
        act: "`ls -lZ $(command -v {what})`: mode 0755; `restorecon -v` it; or run with the other runtime (`--runtime crun`)",
        sure: Sure::Guess,
        sources: &[seen("https://github.com/podman-container-tools/podman/issues/15442", "2022-08-25")],
        samples: &["Error: OCI runtime error: runc: you have no read access to runc binary file"],
        ..PODMAN
    },
    Cause {
        id: "docker.socket_activation",
        sign: "no sockets found via socket activation",
        says: "dockerd was told to take its socket from systemd (`-H fd://`), and systemd gave none",
        means: "docker.socket does not run, or the daemon was started by hand or by a unit that does not name the socket.",
        act: "`systemctl enable --now docker.socket`, then start docker.service; in a drop-in of your own leave `-H fd://` out or keep `Requires=docker.socket`",
        sure: Sure::Confirmed,
        sources: &[
            seen("https://github.com/moby/moby/issues/26076", "2016-08-22"),
            seen("https://docs.docker.com/engine/daemon/troubleshoot/", "2026-12-01"),
        ],
        samples: &[
            r#"level=fatal msg="no sockets found via socket activation: make sure the service was started by systemd""#,
        ],
        ..DOCKER
    },
    Cause {
        id: "docker.pid_file",
        sign: r#"pid file found, ensure docker is not running or delete (?<file>[^ "]+)|process with PID (?<pid>\d+) is still running"#,
        says: "a dockerd runs already, or one left its pid file behind[ ({pid})]",
        means: "Two ways of installation (snap and package) or a start by hand run at the same time; after a crash the number in the file belongs to another process.",
        act: "`ps -C dockerd -o pid,cmd`, `snap list docker`: stop the one that is too many; delete the pid file only when no dockerd runs",
        sources: &[seen("https://github.com/moby/moby/issues/39712", "2019-08-19")],
        samples: &[
            "dockerd[31419]: Error starting daemon: pid file found, ensure docker is not running or delete /var/run/docker.pid",
        ],
        ..DOCKER
    },
    Cause {
        id: "docker.log_driver",
        sign: r#"failed to initialize logging driver: (?<why>[^"]+)"#,
        says: "the container's logs have nowhere to go: {why}",
        means: "The driver of `--log-driver` or daemon.json (journald, syslog, fluentd, awslogs, gelf) does not answer or is not there on the daemon's host.",
        act: "start that service or correct its address; `log-driver: json-file` or `local` needs none",
        sources: &[
            seen("https://github.com/docker/desktop-linux/issues/68", "2022-08-21"),
            seen("https://docs.docker.com/engine/logging/configure/", "2026-12-01"),
        ],
        samples: &["failed to initialize logging driver: journald is not enabled on this host"],
        ..DOCKER
    },
    Cause {
        id: "oci.no_answer",
        sign: r"unable to retrieve OCI runtime error|did not terminate suc+essfully|can't get final child's PID from pipe: EOF|fork/exec /proc/self/exe: (?<why>[a-z ]+)",
        says: "runc ended before it could say why[ ({why})]",
        means: "runc crashed, is missing or is of another architecture or version than containerd expects, was killed for want of memory, or a limit of processes or namespaces is reached.",
        act: "`runc --version` by hand, `ldd $(command -v runc)`; `dmesg | tail` for a crash or an out-of-memory kill; `sysctl user.max_user_namespaces kernel.pid_max`; install containerd.io (which brings its runc) anew only when runc itself does not run",
        sure: Sure::Guess,
        sources: &[seen("https://github.com/moby/moby/issues/40287", "2019-12-05")],
        samples: &[
            "OCI runtime create failed: unable to retrieve OCI runtime error (open /run/containerd/io.containerd.runtime.v1.linux/moby/9c30/log.json: no such file or directory): runc did not terminate sucessfully: unknown.",
        ],
        ..DOCKER
    },
    Cause {
        id: "oci.namespace_gone",
        sign: r"(running lstat on namespace path|lstat) .?\x22?/proc/(?<pid>[0-9]+)/ns/(?<ns>[a-z]+).*: no such file|cannot join network of a non running container|cannot join (ipc|pid) namespace of a non running container",
        says: "the container whose namespace this one joins is not running",
        means: "`--network container:NAME`, `--ipc container:NAME` or a pod's sandbox names one that has ended.",
        act: "start that one first, then this one",
        sure: Sure::Confirmed,
        samples: &["Error response from daemon: cannot join network of a non running container: 3f2a"],
        ..DOCKER
    },
    Cause {
        id: "oci.systemd_scope",
        sign: r"unable to (start|apply cgroup configuration: unable to start) unit .{0,3}(?<unit>[a-z]+-[^ \x22\\]+\.scope).*: (?<why>.+)|error creating systemd unit `(?<crun>[^`]+)`: (?<reason>[^:]+)",
        says: "systemd did not make the container's scope ([{why}][{reason}])",
        means: "systemd (or its bus) does not answer or knows the name already: a daemon that was updated without daemon-reexec, a limit of units, or a container that was not cleaned up.",
        act: "`systemctl is-system-running`, `systemctl reset-failed`, `systemctl daemon-reexec`; then start the container again",
        sure: Sure::Guess,
        samples: &[
            "unable to apply cgroup configuration: unable to start unit \"docker-ea7f.scope\" (properties [...]): Message recipient disconnected from message bus without replying",
        ],
        ..DOCKER
    },
    Cause {
        id: "docker.mount_source",
        sign: r"bind source path does not exist: (?<path>[^ ]+)|error mounting .?\x22?(?<source>/[^ \x22\\]+).*(no such file or directory|not a directory)|Are you trying to mount a directory onto a file|Error: statfs (?<statfs>[^ ]+): no such file",
        says: "what should be mounted is not there, or is a folder in place of a file[: {path}][: {source}][: {statfs}]",
        means: "The path is missing on the host where the daemon runs. `-v` with a file that is missing makes an empty folder of that name, which then does not fit.",
        act: "`ls -ld` of the path on the host; create the file (remove the empty folder that Docker made in its place), then start again",
        samples: &[
            "docker: Error response from daemon: invalid mount config for type \"bind\": bind source path does not exist: /data/x.",
            "Are you trying to mount a directory onto a file (or vice-versa)? Check if the specified host path exists and is the expected type",
        ],
        ..DOCKER
    },
    Cause {
        id: "docker.pool_overlaps",
        sign: r"Pool overlaps with other one on this address space|invalid pool request",
        says: "the subnet of the network is in use by another one of Docker",
        means: "Two networks cannot have overlapping subnets.",
        act: "`docker network ls` and `docker network inspect`: remove the other one when nobody needs it, or take another subnet",
        sure: Sure::Confirmed,
        samples: &[
            "failed to create network: Error response from daemon: Pool overlaps with other one on this address space",
        ],
        ..DOCKER
    },
    Cause {
        id: "docker.no_network",
        sign: r"Error response from daemon: network (?<network>[^ ]+) not found|network (?<other>[^ ]+) declared as external, but could not be found",
        says: "there is no Docker network [{network}][{other}]",
        means: "It was removed or never made; a container keeps the id of its network.",
        act: "`docker network create NAME`, or make the container anew (`docker compose up --force-recreate`)",
        sure: Sure::Confirmed,
        samples: &["Error response from daemon: network train_default not found"],
        ..DOCKER
    },
    Cause {
        id: "docker.cannot_stop",
        sign: r"cannot (stop|kill) container: [^ ]+: .*permission denied|could not kill: permission denied|unable to (stop|kill) container.*permission denied",
        says: "Docker may not stop the container",
        means: "AppArmor forbids it: a profile of another Docker (the snap) or one that was loaded anew is in the way.",
        act: "`aa-status | grep docker`, `snap list docker`: use one Docker only; `aa-remove-unknown` takes profiles away that nobody owns, then stop it again",
        sure: Sure::Guess,
        samples: &["Error response from daemon: cannot stop container: 5b2: permission denied"],
        ..DOCKER
    },
    Cause {
        id: "registry.token_refused",
        sign: "denied: unauthenticated|User cannot be authenticated with the token provided",
        says: "the registry does not take the token that was sent",
        means: "The token has expired or is of another account; ghcr.io says so for public images too when an old login is stored.",
        act: "`docker logout REGISTRY` (or renew the imagePullSecret), then pull again; it passes by itself at times when the registry is in trouble",
        passing: true,
        sources: &[seen("https://github.com/kastenhq/kubestr/issues/66", "2021-04-07")],
        samples: &[
            "error pulling image configuration: denied: unauthenticated: User cannot be authenticated with the token provided.",
        ],
        ..DOCKER
    },
    Cause {
        id: "kube.pause_image",
        sign: r#"(?:failed pulling image|pull access denied for|failed to pull image|failed to get sandbox image) .{0,3}(?<image>\S*pause[^ ",\\:]*(?::[0-9.]+)?)"#,
        says: "the image of the sandbox ({image}) cannot be pulled, so no pod starts on this node",
        means: "Each pod needs it. It was removed for want of space, its name in the runtime is not one of a registry that this node reaches, or the login to that registry ran out.",
        act: "`crictl images | grep pause` and `sandbox_image` (or `sandbox`) in /etc/containerd/config.toml (kubelet: --pod-infra-container-image): name one that the node can pull (registry.k8s.io/pause:3.10 or a mirror), pull it by hand, and see `df -h` of the images",
        sources: &[
            seen("https://github.com/NixOS/nixpkgs/issues/39833", "2018-05-01"),
            seen("https://github.com/aws/amazon-vpc-cni-k8s/issues/2030", "2024-01-30"),
        ],
        samples: &[
            r#"failed: rpc error: code = Unknown desc = failed pulling image "pause": Error response from daemon: pull access denied for pause, repository does not exist or may require 'docker login'"#,
        ],
        ..DOCKER
    },
    Cause {
        id: "registry.cancelled",
        sign: r"failed to pull and unpack image .*: (?<why>context canceled|context deadline exceeded|unexpected EOF)\x22?$",
        says: "the pull of an image was broken off ({why})",
        means: "kubelet or the client stopped waiting, or the connection was cut in the middle of a layer: a large image over a slow link, a proxy that cuts long downloads, a disk that takes the layers slowly.",
        act: "pull it by hand on that node (`crictl pull IMAGE`) and look how long it takes; raise image_pull_progress_timeout of containerd (runtimeRequestTimeout of kubelet with other runtimes), or use a mirror nearby",
        sure: Sure::Guess,
        sources: &[seen("https://github.com/kubernetes/kubernetes/issues/131521", "2025-04-28")],
        samples: &[
            "Failed to pull image \"registry.example.com/x:1\": rpc error: code = Canceled desc = failed to pull and unpack image \"registry.example.com/x:1\": failed to copy: httpReadSeeker: failed open: failed to do request: Get \"https://registry.example.com/v2/csg/x/blobs/sha256:d0157ca575c7\": context canceled",
        ],
        ..DOCKER
    },
    Cause {
        id: "registry.answer",
        sign: r"unexpected status( code)? (?<url>https?://[^ ]+): (?<status>(400|404|5[0-9][0-9]) [A-Z][A-Za-z ]+)",
        says: "the registry or the proxy before it answered {status}",
        means: "400 and 5xx come mostly from a mirror or proxy in between that cannot pass the request on, 404 from an image or layer that is not there.",
        act: "ask the same address by `curl -I` on the node; leave the mirror out (hosts.toml of containerd, registry-mirrors of daemon.json) and try once more",
        passing: true,
        sure: Sure::Guess,
        sources: &[seen("https://github.com/ciiiii/cloudflare-docker-proxy/issues/98", "2025-02-18")],
        samples: &[
            "FATA[0037] pulling image: failed to pull and unpack image \"docker.io/library/nginx:latest\": failed to copy: httpReadSeeker: failed open: unexpected status code https://docker.xxxxxx.xxx/v2/library/nginx/blobs/sha256:566e42bcee1cd697dcab6098c082789af33bc8cbcbaa95c8adbad87283c85c75?ns=docker.io: 400 Bad Request",
        ],
        ..DOCKER
    },
    Cause {
        id: "containerd.mount_io",
        sign: r"failed to mount (?<path>/[^ :]+): input/output error",
        says: "containerd cannot read the layer that it mounts",
        means: "The device under the layer gave an error of input or output: a thin pool that is full or damaged, a disk error.",
        act: "`dmesg | tail` for errors of the disk or of `thin`; `lvs -a` for Data% and Meta% of the pool (devmapper snapshotter); then pull the image anew",
        sure: Sure::Guess,
        sources: &[seen("https://github.com/containerd/containerd/issues/5022", "2021-02-08")],
        samples: &["ctr: failed to mount /tmp/containerd-mount123: input/output error: unknown"],
        ..DOCKER
    },
    Cause {
        id: "podman.no_cdi",
        sign: r"Error: (error )?(stat|checking).{0,30}nvidia\.com/gpu=(?<device>[^ :]+): no such file or directory",
        says: "this Podman does not know CDI and takes the name of the GPU for a file",
        means: "Podman hands devices over by CDI from 4.1 on.",
        act: "install Podman 4.1 or later; with an older one set `mode = \"cdi\"` in /etc/nvidia-container-runtime/config.toml and run with `--runtime=nvidia`",
        remedy: Remedy::Install,
        sources: &[seen("https://github.com/NVIDIA/nvidia-container-toolkit/issues/63", "2023-05-23")],
        samples: &["Error: stat nvidia.com/gpu=0: no such file or directory"],
        ..PODMAN
    },
    Cause {
        id: "registry.plain_http",
        sign: r"server gave HTTP response to HTTPS client",
        says: "the registry speaks plain HTTP, and the client wants TLS",
        means: "Docker, containerd and Podman use TLS unless the registry is named as insecure.",
        act: "give the registry a certificate; inside a closed network name it in `insecure-registries` of daemon.json, in hosts.toml of containerd on every node, or `insecure = true` in registries.conf",
        sure: Sure::Confirmed,
        samples: &["Get \"https://192.0.2.5:5000/v2/\": http: server gave HTTP response to HTTPS client"],
        ..DOCKER
    },
    Cause {
        id: "registry.forbidden",
        sign: r"(failed to (authorize|fetch (anonymous|oauth) token)|unexpected status( code)?[^:]*:?) .*(?<status>401 Unauthorized|403 Forbidden)|unexpected status( code)? .*(?<other>401 Unauthorized|403 Forbidden)|returned error code: (?<enroot>401 Unauthorized|403 Forbidden)",
        says: "the registry wants a login, or does not let this account in[ ({status})][ ({other})][ ({enroot})]",
        means: "Credentials are missing for this puller (root, kubelet, enroot), ran out, or do not cover that image. A proxy can answer so too.",
        act: "Docker: `docker login`; Kubernetes: an imagePullSecret in the pod's namespace; enroot: a line `machine nvcr.io login $oauthtoken password KEY` in ~/.config/enroot/.credentials",
        samples: &[
            "failed to pull and unpack image \"nvcr.io/x\": failed to resolve reference \"nvcr.io/x\": failed to authorize: failed to fetch anonymous token: unexpected status: 401 Unauthorized",
        ],
        ..DOCKER
    },
    Cause {
        id: "docker.graphdriver",
        sign: r"error initializing graphdriver|prior storage driver [a-z0-9]+ failed|failed to mount overlay: (?<why>.+)|.overlay.? is not supported over|kernel does not support overlay fs",
        says: "the storage driver of containers does not work here[: {why}]",
        means: "The kernel has no module overlay (a kernel updated without a reboot), or the folder lies on a file system that overlay does not take: XFS without ftype=1, ZFS, NFS, or another overlay (a container in a container).",
        act: "`modprobe overlay` and `uname -r` against /lib/modules first; `xfs_info` for ftype; `findmnt -T /var/lib/docker`: move the data to ext4 or XFS, or take fuse-overlayfs or vfs where that is not possible",
        sure: Sure::Guess,
        samples: &[
            "failed to start daemon: error initializing graphdriver: driver not supported",
            "level=error msg=\"[graphdriver] prior storage driver overlay2 failed: driver not supported\"",
        ],
        ..DOCKER
    },
    Cause {
        id: "containerd.not_running",
        sign: r"(containerd|crio|docker|cri-dockerd)\.sock:? connect: (no such file or directory|connection refused)|failed to dial .*containerd\.sock",
        role: Role::Effect,
        says: "the container runtime does not run or listens elsewhere",
        means: "Its socket is not there.",
        act: "`systemctl status containerd` and `journalctl -u containerd -n 30`; k3s, rke2 and MicroK8s have sockets of their own",
        samples: &["dial unix /run/containerd/containerd.sock: connect: no such file or directory"],
        ..DOCKER
    },
    Cause {
        id: "docker.entrypoint",
        sign: r"exec (user process caused|/[^ :]+): ?.{0,3}(?<why>no such file or directory|permission denied)$|exec user process caused.{0,4}: (?<old>no such file or directory|permission denied)|exec: .?\x22?(?<file>/?[^ \x22\\]+)[\\\x22]*: (?<third>permission denied)",
        says: "the image's first program cannot be started ([{why}][{old}][{third}])",
        means: "`no such file` for a script that is there means that its interpreter is missing, or that it has line ends of Windows; `permission denied` that it may not be run.",
        act: "in the image `head -1 FILE | cat -A` (`\\r`, the interpreter) and `chmod +x`; a program of glibc does not run in Alpine",
        samples: &[
            "exec /entrypoint.sh: no such file or directory",
            "standard_init_linux.go:228: exec user process caused: no such file or directory",
            "exec /entrypoint.sh: permission denied",
        ],
        ..DOCKER
    },
    Cause {
        id: "docker.old_cgroup",
        sign: r"container could not join or create cgroup|the requested cgroup controller `?(?<controller>[a-z]+)`? is not available|unable to apply cgroup configuration",
        says: "the container could not be put into its cgroup[ (controller {controller})]",
        means: "Without root a controller must be handed to the account (systemd's Delegate), and limits need the unified cgroups.",
        act: "look at `cat /sys/fs/cgroup/user.slice/user-$UID.slice/cgroup.controllers`: a drop-in of user@.service with `Delegate=cpu cpuset io memory pids`; or leave the limit out, or log in by ssh in place of su",
        sources: &[seen("https://github.com/containers/podman/blob/main/troubleshooting.md", "2026-11-30")],
        samples: &["Error: OCI runtime error: crun: the requested cgroup controller `cpu` is not available"],
        ..DOCKER
    },
    Cause {
        id: "docker.fsopen",
        sign: r"crun: fsopen.*: Function not implemented|fsopen_mount .*Function not implemented",
        says: "crun uses a call that this kernel or sandbox does not have (fsopen)",
        means: "The kernel is older than the crun that is installed expects, or a seccomp filter of an outer sandbox hides the call.",
        act: "run it with `--runtime runc`, or take a crun of this distribution's release, or a newer kernel",
        remedy: Remedy::Install,
        sources: &[seen("https://github.com/mmartial/ComfyUI-Nvidia-Docker/issues/86", "2025-11-10")],
        samples: &[
            "Error: preparing container 3e41 for attach: crun: fsopen_mount `tmpfs`: Function not implemented: OCI runtime error",
        ],
        ..DOCKER
    },
    // Podman.
    Cause {
        id: "podman.uid_map",
        sign: r"newuidmap: (write to uid_map failed|open of uid_map failed|uid range .* -> .* not allowed)|newgidmap: (write to gid_map failed|gid range .* not allowed)|cannot set ?up namespace using|newuidmap.?: executable file not found|cannot find newuidmap",
        follows: &["apptainer.newidmap"],
        says: "the account's subordinate IDs could not be mapped",
        means: "newuidmap is missing or has lost its capability (a copied root file system), the range in /etc/subuid is outside of what an outer container has, or it changed after Podman made its first namespace.",
        act: "`getcap /usr/bin/newuidmap` (package uidmap or shadow-utils, install it again where it has none), `grep USER /etc/subuid /etc/subgid`, then `podman system migrate`",
        samples: &[
            "newuidmap: write to uid_map failed: Operation not permitted",
            "Error: cannot set up namespace using \"/usr/bin/newuidmap\": exit status 1",
        ],
        ..PODMAN
    },
    Cause {
        id: "podman.graph_driver",
        sign: r"database graph driver .?(?<old>[a-z]+).? does not match our graph driver .?(?<new>[a-z]+)|database configuration mismatch",
        says: "Podman's database was made with another storage driver[ ({old}, now {new})]",
        means: "The driver in storage.conf changed after the first use of this account.",
        act: "set the old driver in storage.conf again; `podman system reset` starts anew and removes all images and containers of the account",
        sure: Sure::Confirmed,
        samples: &[
            "Error: database graph driver \"overlay\" does not match our graph driver \"vfs\": database configuration mismatch",
        ],
        ..PODMAN
    },
    Cause {
        id: "podman.low_port",
        sign: r"rootlessport cannot expose privileged port (?<port>[0-9]+)|rootless containers cannot expose.*port",
        says: "an account without root may not open port {port}",
        means: "Ports below 1024 are for root.",
        act: "publish a port from 1024 on, or `sysctl net.ipv4.ip_unprivileged_port_start={port}`",
        sure: Sure::Confirmed,
        samples: &[
            "Error: rootlessport cannot expose privileged port 80, you can add 'net.ipv4.ip_unprivileged_port_start=80' to /etc/sysctl.conf",
        ],
        ..PODMAN
    },
    Cause {
        id: "podman.pause",
        sign: r"invalid internal status, try resetting the pause process",
        says: "Podman's helper process of this account is gone",
        means: "The session ended or the host was rebooted without clearing its run folder.",
        act: "`podman system migrate`; after a reboot XDG_RUNTIME_DIR has to be an empty tmpfs (`loginctl enable-linger`)",
        samples: &[
            "ERRO[0000] invalid internal status, try resetting the pause process with \"podman system migrate\": could not find any running process",
        ],
        ..PODMAN
    },
    Cause {
        id: "podman.netavark",
        sign: r"netavark: (?<why>.+)|aardvark-dns (failed|runtime)",
        role: Role::Effect,
        says: "Podman could not set the network of a container up: {why}",
        means: "The firewall of the host was written anew, a module of it is missing, or the port or subnet is taken.",
        act: "read the end of the line; `podman network reload --all` after a restart of the firewall; `modprobe nf_tables ip_tables`",
        sure: Sure::Guess,
        samples: &["Error: netavark: iptables: No such file or directory (os error 2)"],
        ..PODMAN
    },
    // enroot.
    Cause {
        id: "enroot.exists",
        sign: r"\[ERROR\] File already exists: (?<path>[^ ]+)",
        says: "enroot does not overwrite {path}",
        means: "An image or container of this name is there from an earlier run, or another task of the job makes it at the same time.",
        act: "remove it (`enroot remove -f NAME`, or the .sqsh file) or give each task its own name; with pyxis import once for each node",
        sure: Sure::Confirmed,
        samples: &["[ERROR] File already exists: /home/alice/train.sqsh"],
        ..ENROOT
    },
    Cause {
        id: "enroot.image_bad",
        sign: r"\[ERROR\] (Invalid image format|Checksum validation failed|Could not (parse digest information|retrieve digest|parse authentication realm))[: ]*(?<what>.*)",
        says: "enroot does not understand the image or its address[: {what}]",
        means: "The address is written for Docker and not for enroot (`docker://REGISTRY#IMAGE:TAG`), the registry answered with something else (a proxy, an error page), or the file is damaged.",
        act: "write `docker://nvcr.io#nvidia/pytorch:25.01-py3`; try `curl -I https://REGISTRY/v2/` from the node; for `Checksum` remove the cache (ENROOT_CACHE_PATH) and import again",
        sure: Sure::Guess,
        samples: &[
            "[ERROR] Checksum validation failed",
            "[ERROR] Could not retrieve digest from https://nvcr.io/v2/nvidia/pytorch/manifests/25.01-py3",
        ],
        ..ENROOT
    },
    Cause {
        id: "enroot.lock",
        sign: r"\[ERROR\] (Could not acquire rootfs lock|Could not find kernel configuration|ENROOT_NATIVE_OVERLAYFS=y is required|Process not found: .*|Missing directive .*)",
        says: "enroot cannot use this container or setting now",
        means: "Another process holds the container's folder, or a setting of enroot.conf is missing for what was asked.",
        act: "look for another start of the same container; mend the setting that the line names",
        sure: Sure::Guess,
        samples: &["[ERROR] Could not acquire rootfs lock"],
        ..ENROOT
    },
    Cause {
        id: "enroot.seccomp",
        sign: r"(pyxis: |enroot-nsenter: |: )seccomp filter failed(: (?<why>Function not implemented|Invalid argument|[A-Za-z ]+))?",
        says: "the kernel takes no filter of system calls (seccomp)[: {why}]",
        means: "enroot and pyxis set a seccomp filter when the container's user is root. The running kernel lacks it or a flag of it: another kernel than was built for, or a diskless image with an old one.",
        act: "`uname -r` against a node where it works; `grep SECCOMP /boot/config-$(uname -r)` has to have CONFIG_SECCOMP_FILTER=y; run enroot-check of enroot's requirements; `--no-container-remap-root` goes without the filter of pyxis",
        sure: Sure::Guess,
        sources: &[
            seen("https://github.com/NVIDIA/pyxis/issues/42", "2021-04-20"),
            seen("https://github.com/NVIDIA/enroot/issues/43", "2020-11-09"),
        ],
        samples: &["slurmstepd: error: pyxis: seccomp filter failed: Function not implemented"],
        ..ENROOT
    },
    Cause {
        id: "enroot.shadow_hook",
        sign: r"10-shadow\.sh: line \d+:.*(Broken pipe|Segmentation fault)|Segmentation fault .*\bpwck -R",
        says: "enroot's hook for the users of the container crashed (pwck)",
        means: "The hook runs the host's pwck over the image's passwd; it crashes for some images with the host's libraries.",
        act: "run the hook's command by hand for this image (`enroot-nsenter --user --mount --remap-root pwck -R ROOTFS /etc/passwd /etc/shadow`); update the host's shadow (passwd) package; try another tag of the image",
        sure: Sure::Guess,
        sources: &[seen("https://github.com/NVIDIA/enroot/issues/191", "2024-04-26")],
        samples: &[
            "/etc/enroot/hooks.d/10-shadow.sh: line 70: 2840366 Broken pipe             yes 2> /dev/null",
            "     2840367 Segmentation fault      (core dumped) | pwck -R \"${ENROOT_ROOTFS}\" \"${pwddb#${ENROOT_ROOTFS}}\" /etc/shadow > /dev/null 2>&1",
        ],
        ..ENROOT
    },
    Cause {
        id: "enroot.json",
        sign: r"\[ERROR\] Could not process JSON input",
        says: "enroot did not understand the answer of the registry or of Docker",
        means: "enroot 3.4.1 and older fail with manifests of newer kinds (AWS ECR and others), and `dockerd://` with newer Docker releases; a proxy or a login page that answers in place of the registry gives the same.",
        act: "install a current enroot on all nodes; for `dockerd://` push the image and import it by `docker://`; ask the registry by `curl -sI https://REGISTRY/v2/` from that node",
        remedy: Remedy::Install,
        sure: Sure::Guess,
        sources: &[
            seen("https://github.com/NVIDIA/enroot/issues/166", "2023-09-28"),
            seen("https://github.com/NVIDIA/enroot/issues/252", "2025-10-04"),
        ],
        samples: &["[ERROR] Could not process JSON input"],
        ..ENROOT
    },
    Cause {
        id: "enroot.whiteout",
        sign: r"failed to create opaque ovlfs whiteout: .*|enroot-aufs2ovlfs: failed to (set|create)",
        says: "enroot's folder lies on a file system without the attributes that it needs",
        means: "Converting layers writes extended attributes, which NFS and Lustre do not take.",
        act: "set ENROOT_TEMP_PATH, ENROOT_CACHE_PATH and ENROOT_DATA_PATH in enroot.conf to a local disk (ext4, XFS) with enough room",
        samples: &[
            "enroot-aufs2ovlfs: failed to create opaque ovlfs whiteout: /fsx/tmp/x: Operation not permitted",
        ],
        ..ENROOT
    },
];
