//! Containers: Docker, containerd, Podman, enroot, NVIDIA's container toolkit with CDI, Kubernetes and its plugins for
//! devices and networks.

use super::super::cause::{Cause, Counts, Remedy, Role, Sure, TOOL, seen};

const TOOLKIT: Cause = Cause {
    sources: &[seen(
        "https://docs.nvidia.com/datacenter/cloud-native/container-toolkit/latest/troubleshooting.html",
        "2026-11-30",
    )],
    ..TOOL
};
const DOCKER: Cause =
    Cause { sources: &[seen("https://docs.docker.com/engine/daemon/troubleshoot/", "2026-11-30")], ..TOOL };
const PODMAN: Cause = Cause {
    sources: &[seen("https://github.com/containers/podman/blob/main/troubleshooting.md", "2026-11-30")],
    ..TOOL
};
const ENROOT: Cause = Cause {
    sources: &[seen("https://github.com/NVIDIA/enroot/blob/master/doc/requirements.md", "2026-11-30")],
    ..TOOL
};
const KUBE: Cause =
    Cause { sources: &[seen("https://kubernetes.io/docs/tasks/debug/debug-cluster/", "2026-11-30")], ..TOOL };
const PLUGIN: Cause = Cause {
    sources: &[seen("https://github.com/NVIDIA/k8s-device-plugin (README.md)", "2026-11-30")],
    ..TOOL
};
const OPERATOR: Cause = Cause {
    sources: &[seen(
        "https://docs.nvidia.com/datacenter/cloud-native/gpu-operator/latest/troubleshooting.html",
        "2026-11-30",
    )],
    ..TOOL
};

pub(in crate::causes) const ROWS: &[Cause] = &[
    // NVIDIA's container toolkit.
    Cause {
        id: "toolkit.driver_too_old",
        sign: "requirement error: unsatisfied condition: (?<need>cuda ?>=? ?[0-9.]+)",
        says: "the host's driver is too old for this image ({need})",
        means: "The image says by NVIDIA_REQUIRE_CUDA which CUDA the driver must know, and this driver knows an older one.",
        act: "take an image for the CUDA that `nvidia-smi` names at its top right, or install a newer driver (playbook `nvidia-driver`); NVIDIA_DISABLE_REQUIRE=1 only skips the question",
        remedy: Remedy::Install,
        sure: Sure::Confirmed,
        samples: &[
            "nvidia-container-cli: requirement error: unsatisfied condition: cuda>=12.6, please update your driver to a newer version, or use an earlier cuda container: unknown",
        ],
        ..TOOLKIT
    },
    Cause {
        id: "toolkit.requirement",
        sign: r"requirement error: unsatisfied condition: (?<need>.+?)(\\|, please|: unknown|$)",
        says: "the host does not fulfil a condition of this image ({need})",
        means: "The image demands a brand of GPU, an architecture or a driver by NVIDIA_REQUIRE_...",
        act: "take an image for this GPU and driver; NVIDIA_DISABLE_REQUIRE=1 skips the question where the image works anyhow",
        remedy: Remedy::Settings,
        samples: &["nvidia-container-cli: requirement error: unsatisfied condition: brand = tesla"],
        ..TOOLKIT
    },
    Cause {
        id: "toolkit.no_driver_libraries",
        sign: r"initialization error: load library failed: (?<library>libnvidia-ml\.so\.1|libcuda\.so\.1)",
        says: "the container toolkit finds no {library} on the host",
        means: "The driver's libraries are not installed on the host, or the Docker in use comes as a snap or from Docker Desktop and does not see the host's files.",
        act: "`nvidia-smi` on the host first: where it fails install the driver (playbook `nvidia-driver`); where it works, use Docker's own packages in place of the snap (`snap list docker`) or set `root` in /etc/nvidia-container-runtime/config.toml to where the driver is",
        remedy: Remedy::Install,
        sure: Sure::Guess,
        samples: &[
            "nvidia-container-cli: initialization error: load library failed: libnvidia-ml.so.1: cannot open shared object file: no such file or directory: unknown",
        ],
        ..TOOLKIT
    },
    Cause {
        id: "toolkit.driver_not_loaded",
        sign: "initialization error: nvml error: driver not loaded",
        role: Role::Effect,
        says: "the NVIDIA driver is not loaded on the host",
        means: "The container toolkit only passes this on. The reason is on the host.",
        act: "`nvidia-smi` and `modprobe nvidia` on the host, then their words; `driver.dkms` and `driver.log` look at it",
        samples: &["nvidia-container-cli: initialization error: nvml error: driver not loaded: unknown"],
        ..TOOLKIT
    },
    Cause {
        id: "toolkit.rpc_timeout",
        sign: "(initialization|detection|container) error: driver rpc error(: (?<why>timed out|failed to process request))?",
        role: Role::Effect,
        says: "the driver did not answer the container toolkit in time",
        means: "The driver starts slowly without persistence mode, or a GPU hangs.",
        act: "time `nvidia-smi` on the host: where it takes seconds, `systemctl enable --now nvidia-persistenced`; where it hangs, look at `dmesg | grep -iE 'xid|NVRM'`; then start the container again",
        passing: true,
        sure: Sure::Guess,
        samples: &["nvidia-container-cli: initialization error: driver rpc error: timed out: unknown"],
        ..TOOLKIT
    },
    Cause {
        id: "toolkit.mnt_namespace",
        sign: "initialization error: open failed: /proc/self/ns/mnt: [Pp]ermission denied",
        says: "nvidia-container-cli may not look at its own namespace",
        means: "A hidden or filtered /proc (hidepid, a security module, another ptrace rule) refuses it without root.",
        act: "look at the options of /proc (`findmnt /proc`) and at the denials of AppArmor or SELinux; load the driver's modules before the job (`nvidia-modprobe -u -c 0` at boot), so that the hook needs no more rights",
        remedy: Remedy::Settings,
        sure: Sure::Guess,
        samples: &[
            "slurmstepd: error: pyxis:     nvidia-container-cli: initialization error: open failed: /proc/self/ns/mnt: permission denied",
        ],
        ..TOOLKIT
    },
    Cause {
        id: "toolkit.unknown_device",
        sign: r"nvidia-container-cli(\.real)?: device error: (?<device>[^:]+): unknown device",
        says: "the container asks for GPU {device}, which the host does not have",
        means: "NVIDIA_VISIBLE_DEVICES or the device of the request names an index or UUID of another host, a MIG device that is gone, or a GPU that fell off.",
        act: "compare with `nvidia-smi -L` on the host; correct `--gpus`, CUDA_VISIBLE_DEVICES or the image's NVIDIA_VISIBLE_DEVICES; a GPU that is missing there is a case for `gpu.count`",
        remedy: Remedy::Settings,
        samples: &["nvidia-container-cli: device error: 1: unknown device: unknown"],
        ..TOOLKIT
    },
    Cause {
        id: "toolkit.cgroup_in_lxc",
        sign: r"bpf_prog_query\(BPF_CGROUP_DEVICE\) failed: [Oo]peration not permitted|failed to add device rules: open[^:]*: [Pp]ermission denied|devices\.allow: [Pp]ermission denied",
        says: "the container toolkit may not change the device rules of this cgroup",
        means: "The container runs without root: in LXC, by enroot or rootless Docker. The toolkit must leave cgroups alone there.",
        act: "`nvidia-ctk config --set nvidia-container-cli.no-cgroups=true --in-place` on that host, then start the container again; the rules of the outer cgroup hold anyhow",
        remedy: Remedy::Settings,
        sources: &[
            seen("https://github.com/NVIDIA/libnvidia-container/issues/313", "2025-05-20"),
            seen("https://github.com/NVIDIA/enroot/issues/54", "2021-01-18"),
        ],
        samples: &[
            "nvidia-container-cli: mount error: failed to add device rules: unable to find any existing device filters attached to the cgroup: bpf_prog_query(BPF_CGROUP_DEVICE) failed: operation not permitted: unknown",
            "error: pyxis:     nvidia-container-cli: mount error: failed to add device rules: open /sys/fs/cgroup/devices/slurm/uid_28788/job_85/step_0/task_0/devices.allow: permission denied",
        ],
        ..TOOLKIT
    },
    Cause {
        id: "toolkit.cgroup_v2",
        sign: r"container error: cgroup subsystem devices not found|mount error: open failed: /sys/fs/cgroup/devices/.*devices\.allow: no such file",
        says: "this libnvidia-container does not know the cgroups of the host (v2)",
        means: "The host has the unified cgroups, which libnvidia-container knows from version 1.8 on; on WSL and some kernels the devices controller is missing.",
        act: "install the current nvidia-container-toolkit with libnvidia-container1 and libnvidia-container-tools from NVIDIA's repository, in one version, and restart Docker or containerd",
        remedy: Remedy::Install,
        sources: &[
            seen("https://github.com/NVIDIA/nvidia-docker/issues/1447", "2021-01-07"),
            seen("https://github.com/NVIDIA/nvidia-docker/issues/1660", "2022-08-04"),
        ],
        samples: &["nvidia-container-cli: container error: cgroup subsystem devices not found: unknown."],
        ..TOOLKIT
    },
    Cause {
        id: "toolkit.device_filter",
        sign: "failed to add device rules: unable to generate new device filter program",
        says: "this libnvidia-container cannot write the device filter for this kernel",
        means: "The kernel checks the program that guards devices more strictly than this version knows.",
        act: "install a newer nvidia-container-toolkit with libnvidia-container1, or hand GPUs over by CDI, which does not need it",
        remedy: Remedy::Install,
        samples: &[
            "nvidia-container-cli: mount error: failed to add device rules: unable to generate new device filter program from existing programs: unable to create new device filters program: load program: invalid argument:",
        ],
        ..TOOLKIT
    },
    Cause {
        id: "toolkit.image_has_driver",
        sign: "mount error: file creation failed: (?<file>[^ ]+): file exists",
        says: "the image brings libraries of a driver, which stand in the way ({file})",
        means: "The image was made in a container with a GPU, or has the driver installed; the toolkit wants to put the host's files there.",
        act: "take the driver's packages (libnvidia-*, libcuda1) out of the image and build it again without a GPU runtime",
        remedy: Remedy::Install,
        samples: &[
            "nvidia-container-cli: mount error: file creation failed: /var/lib/docker/overlay2/00eb3e/merged/usr/lib/aarch64-linux-gnu/libnvidia-fatbinaryloader.so.440.18: file exists",
        ],
        ..TOOLKIT
    },
    Cause {
        id: "toolkit.ldconfig_missing",
        sign: "ldcache error: open failed: (?<path>[^:]+): [Nn]o such file",
        says: "the container toolkit finds no {path}",
        means: "config.toml of the toolkit names the ldconfig of another distribution (Ubuntu has ldconfig.real).",
        act: "set `ldconfig = \"@/sbin/ldconfig\"` (Ubuntu: `@/sbin/ldconfig.real`) in /etc/nvidia-container-runtime/config.toml",
        remedy: Remedy::Settings,
        sure: Sure::Confirmed,
        samples: &[
            "nvidia-container-cli: ldcache error: open failed: /sbin/ldconfig.real: no such file or directory",
        ],
        ..TOOLKIT
    },
    Cause {
        id: "toolkit.ldconfig_failed",
        sign: "ldcache error: process (?<path>[^ ]+) (failed with error code: (?<code>[0-9]+)|terminated with signal (?<signal>[0-9]+))",
        says: "ldconfig failed inside the container[ (code {code})][ (signal {signal})]",
        means: "The image is read-only or of another architecture, memory ran out, the host was too busy for its time limit (signal 9), or a seccomp filter stops it.",
        act: "try it once more; then try another image on this host and this image on another host, and look at the memory limit and at `dmesg`; CDI goes round this step",
        remedy: Remedy::Settings,
        sure: Sure::Guess,
        sources: &[seen("https://github.com/SlinkyProject/containers/pull/2", "2025-08-05")],
        samples: &[
            "error: pyxis:     nvidia-container-cli: ldcache error: process /usr/sbin/ldconfig.real failed with error code: 1",
            "nvidia-container-cli: ldcache error: process /sbin/ldconfig terminated with signal 9",
        ],
        ..TOOLKIT
    },
    Cause {
        id: "toolkit.not_with_gpus_flag",
        sign: "invoking the NVIDIA Container Runtime Hook directly .* is not supported",
        says: "`docker run --gpus` does not work with this setting of the toolkit",
        means: "The toolkit is set to CDI or CSV mode, and the old hook is called beside it.",
        act: "use `--runtime=nvidia -e NVIDIA_VISIBLE_DEVICES=all` or `--device nvidia.com/gpu=all` in place of `--gpus`",
        remedy: Remedy::Settings,
        sure: Sure::Confirmed,
        samples: &[
            "invoking the NVIDIA Container Runtime Hook directly (e.g. specifying the docker --gpus flag) is not supported. Please use the NVIDIA Container Runtime (e.g. specify the --runtime=nvidia flag) instead.: unknown",
        ],
        ..TOOLKIT
    },
    Cause {
        id: "toolkit.cdi_node_missing",
        sign: "Could not locate (?<path>/dev/nvidia-caps/nvidia-cap[0-9]+)",
        says: "the device file {path} of a MIG device is missing on the host",
        means: "The CDI specification leaves the MIG device out, as its capability file exists only inside the container that made it, or nowhere.",
        act: "make the files on the host before the specification is written: `nvidia-modprobe -f /proc/driver/nvidia/capabilities/...` for each file, then `nvidia-ctk cdi generate` again; the GPU is well",
        remedy: Remedy::Settings,
        sources: &[seen("https://github.com/kubernetes-sigs/dra-driver-nvidia-gpu/issues/787", "2025-12-10")],
        samples: &[
            "time=\"2025-11-02T21:38:00Z\" level=warning msg=\"Could not locate /dev/nvidia-caps/nvidia-cap66: pattern",
        ],
        ..TOOLKIT
    },
    Cause {
        id: "toolkit.not_located",
        sign: "level=warning msg=.Could not locate ",
        says: "the container toolkit did not find a file that not every driver has",
        means: "nvidia-ctk looks for all files that some version or product has: nvidia-imex, MPS, firmware, X11. It leaves out the ones that are missing.",
        counts: Counts::Note,
        sources: &[seen(
            "https://github.com/NVIDIA/nvidia-container-toolkit (internal/discover/mounts.go)",
            "2026-11-30",
        )],
        samples: &[
            "time=\"2025-11-02T21:38:00Z\" level=warning msg=\"Could not locate nvidia-imex: pattern nvidia-imex not found\"",
        ],
        ..TOOLKIT
    },
    Cause {
        id: "toolkit.spec_of_old_driver",
        sign: r"(failed to fulfil mount request: open|error mounting|error stat.ing file|stat|lstat)[ `:\\\x22]+(?<file>/[^ `\\\x22]*(nvidia|cuda)[^ `\\\x22]*\.so[.0-9]*)[`\\\x22]?.*[Nn]o such file or directory",
        says: "a file of another driver version is asked for ({file})",
        means: "The CDI specification, or the container itself, was made before the driver was changed.",
        act: "`nvidia-ctk cdi generate --output=/var/run/cdi/nvidia.yaml` (where it lies in /etc/cdi, there), then create the container anew in place of starting the old one",
        remedy: Remedy::Settings,
        samples: &[
            "error during container init: failed to fulfil mount request: open /usr/lib/x86_64-linux-gnu/libcuda.so.550.54.15: no such file or directory",
        ],
        ..TOOLKIT
    },
    Cause {
        id: "toolkit.socket_missing",
        sign: "failed to fulfil mount request: open (?<file>/run/nvidia-persistenced/socket): no such file",
        says: "nvidia-persistenced does not run, and the container wants its socket",
        means: "The CDI specification or the toolkit found the socket once, and the daemon has stopped since.",
        act: "`systemctl start nvidia-persistenced` (enable it), or generate the CDI specification again",
        remedy: Remedy::Settings,
        samples: &[
            "failed to fulfil mount request: open /run/nvidia-persistenced/socket: no such file or directory",
        ],
        ..TOOLKIT
    },
    Cause {
        id: "toolkit.device_file_missing",
        sign: r"(error stat.ing file|error gathering device information while adding custom device|lstat|stat)[ `:\\\x22]+(?<file>/dev/nvidia[a-z0-9-]*)[`\\\x22]*: [Nn]o such file or directory",
        says: "the host has no {file}",
        means: "The driver's device files are made on first use, by nvidia-modprobe or nvidia-persistenced; nothing has used the driver since boot, or it is not loaded.",
        act: "run `nvidia-smi` and `nvidia-modprobe -u -c 0` on the host, and `systemctl enable --now nvidia-persistenced` for the next boot; where nvidia-smi fails, mend the driver first",
        remedy: Remedy::Settings,
        samples: &[
            "Error: crun: error stat'ing file `/dev/nvidia0`: No such file or directory: OCI runtime attempted to invoke a command that was not found",
            "docker: Error response from daemon: error gathering device information while adding custom device \"/dev/nvidia-uvm\": no such file or directory.",
        ],
        ..TOOLKIT
    },
    Cause {
        id: "cdi.unresolvable",
        sign: "unresolvable CDI devices? (?<device>[^ :]+)",
        says: "no CDI specification knows {device}",
        means: "There is no specification for it, it is of a newer version than this runtime reads (Podman before 5 with toolkit 1.17), or it was made before the GPUs changed.",
        act: "`nvidia-ctk cdi list` shows the names, also as the account that starts the container: a file that root alone may read is not seen by a rootless Podman (`chmod 644 /etc/cdi/nvidia.yaml`); `nvidia-ctk cdi generate --output=/etc/cdi/nvidia.yaml` makes them; where the name is listed and still not found, install a newer Podman or containerd",
        remedy: Remedy::Settings,
        samples: &["Error: setting up CDI devices: unresolvable CDI devices nvidia.com/gpu=all"],
        ..TOOLKIT
    },
    Cause {
        id: "cdi.unresolvable_any",
        sign: "failed to inject CDI devices|CDI device injection failed",
        says: "the runtime could not hand over a CDI device",
        means: "No CDI specification in /etc/cdi or /var/run/cdi has this device, or the runtime has CDI switched off.",
        act: "`nvidia-ctk cdi list` on this host, then `nvidia-ctk cdi generate`; for containerd `enable_cdi = true`, for Docker 25 to 27 the feature `cdi` in daemon.json",
        remedy: Remedy::Settings,
        samples: &["failed to inject CDI devices: unresolvable CDI devices: unknown"],
        ..TOOLKIT
    },
    Cause {
        id: "toolkit.nvml_error",
        sign: r"nvidia-container-cli(\.real)?: (initialization|detection) error: (?<what>(nvml|cuda) error: .+)",
        role: Role::Effect,
        says: "the driver of the host answers the container toolkit with an error ({what})",
        means: "NVML or CUDA fails on the host too. The container is not the cause.",
        act: "`nvidia-smi` on the host and `dmesg | grep -iE 'xid|NVRM'`; a driver that was upgraded without a reboot, a GPU that wants a reset, or an image's own libcuda are usual",
        sure: Sure::Guess,
        samples: &["nvidia-container-cli: initialization error: cuda error: unknown error"],
        ..TOOLKIT
    },
    Cause {
        id: "toolkit.mount_failed",
        sign: r"nvidia-container-cli(\.real)?: mount error: (?<what>.+)",
        role: Role::Effect,
        says: "the container toolkit could not bring the driver into the container ({what})",
        means: "A file of the driver is missing on the host, or this kind of container may not mount it (enroot, LXC, an NFS root, root_squash).",
        act: "look for the path that it names on the host; without root keep images on a local disk and set `no-cgroups = true`; after a change of the driver create the container anew",
        sure: Sure::Guess,
        sources: &[seen("https://github.com/NVIDIA/enroot/issues/111", "2021-11-17")],
        samples: &[
            "nvidia-container-cli: mount error: mount operation failed: /tmp/enroot/data/usr/lib/firmware/nvidia/470.57.02: operation not permitted",
        ],
        ..TOOLKIT
    },
    Cause {
        id: "docker.no_gpu_vendor",
        sign: "failed to discover GPU vendor from CDI: no known GPU vendor found",
        says: "Docker knows no GPU: the NVIDIA Container Toolkit is missing or has no CDI specification",
        means: "Docker 29 asks CDI for `--gpus` and found no specification.",
        act: "install nvidia-container-toolkit, `nvidia-ctk runtime configure --runtime=docker`, `nvidia-ctk cdi generate --output=/etc/cdi/nvidia.yaml`, then restart Docker; `nvidia-smi` must work on the host first",
        remedy: Remedy::Install,
        samples: &[
            "docker: Error response from daemon: failed to discover GPU vendor from CDI: no known GPU vendor found",
        ],
        ..TOOLKIT
    },
    Cause {
        id: "docker.no_gpu_driver",
        sign: r"could not select device driver .{0,12} with capabilities: \[\[.*gpu",
        says: "Docker knows no GPU: the NVIDIA Container Toolkit is not installed or not configured",
        means: "Docker found no nvidia-container-runtime-hook when it started. It says nothing of the driver.",
        act: "install nvidia-container-toolkit, `nvidia-ctk runtime configure --runtime=docker`, restart Docker",
        remedy: Remedy::Install,
        sure: Sure::Confirmed,
        samples: &[
            "docker: Error response from daemon: could not select device driver \"\" with capabilities: [[gpu]].",
        ],
        ..TOOLKIT
    },
    Cause {
        id: "docker.no_runtime",
        sign: r"([Uu]nknown or invalid runtime name|Unknown runtime specified|no runtime for|RuntimeHandler)[: \\\x22]+(?<runtime>nvidia[a-z-]*)",
        says: "the runtime {runtime} is not configured on this host",
        means: "Docker or containerd has no entry for it; on Kubernetes the RuntimeClass is there and the node's containerd was not configured or not restarted.",
        act: "`nvidia-ctk runtime configure --runtime=docker` (or `containerd`, `crio`), then restart it; with the GPU operator look at the pod nvidia-container-toolkit-daemonset of this node, and on k3s or rke2 at their own containerd configuration",
        remedy: Remedy::Settings,
        samples: &[
            "docker: Error response from daemon: unknown or invalid runtime name: nvidia.",
            "Failed to create pod sandbox: rpc error: code = Unknown desc = failed to get sandbox runtime: no runtime for \"nvidia\" is configured",
        ],
        ..TOOLKIT
    },
    Cause {
        id: "toolkit.not_installed",
        sign: r"(nvidia-container-runtime(-hook)?|nvidia-container-cli|nvidia-ctk|nvidia-cdi-hook)[\\\x22]*: (executable file not found|no such file or directory|command not found|not found)|Command not found: (?<program>nvidia-container-cli)|exec: \\?\x22(?<exec>nvidia-container[a-z-]*)\\?\x22: executable file not found",
        says: "the NVIDIA Container Toolkit is configured and not installed",
        means: "The configuration of the runtime or a hook names a program of the toolkit that is not there.",
        act: "install nvidia-container-toolkit (enroot's hook needs libnvidia-container-tools), or take the runtime out of the configuration on hosts without GPUs",
        remedy: Remedy::Install,
        samples: &[
            "exec: \"nvidia-container-runtime-hook\": executable file not found in $PATH",
            "error: pyxis:     [ERROR] Command not found: nvidia-container-cli, see https://github.com/NVIDIA/libnvidia-container",
        ],
        ..TOOLKIT
    },
    // enroot.
    Cause {
        id: "enroot.user_namespace",
        sign: "enroot-(nsenter|unshare): failed to create (user|mount|[a-z]+) namespace: (?<why>Permission denied|Operation not permitted|Invalid argument|No space left on device)",
        says: "enroot may not make a user namespace ({why})",
        means: "User namespaces without root are off: by AppArmor (Ubuntu 23.10 and newer), by a sysctl, or by their limit, which is told as no space.",
        act: "`sysctl kernel.apparmor_restrict_unprivileged_userns kernel.unprivileged_userns_clone user.max_user_namespaces user.max_mnt_namespaces`: load enroot's AppArmor profile or set the first to 0, the second to 1, the limits well above 0; inside another container it does not work at all",
        remedy: Remedy::Settings,
        sources: &[
            seen("https://github.com/NVIDIA/enroot/issues/247", "2025-09-16"),
            seen("https://github.com/NVIDIA/deepops/pull/1392", "2026-09-03"),
            seen("https://github.com/NVIDIA/pyxis/issues/36", "2021-02-24"),
        ],
        samples: &[
            "slurmstepd: error: pyxis:     enroot-nsenter: failed to create user namespace: Permission denied",
        ],
        ..ENROOT
    },
    Cause {
        id: "enroot.apparmor_abi",
        sign: r"AppArmor parser error for .*enroot.*Could not open 'abi/4\.0'",
        says: "enroot's AppArmor profile is for a newer Ubuntu",
        means: "The profile needs AppArmor 4, which Ubuntu 22.04 has not. This Ubuntu does not need the profile.",
        counts: Counts::Warn,
        act: "`ln -s /etc/apparmor.d/enroot /etc/apparmor.d/disable/enroot`, then reload AppArmor",
        remedy: Remedy::Settings,
        sure: Sure::Confirmed,
        sources: &[seen("https://github.com/NVIDIA/enroot/issues/201", "2024-07-23")],
        samples: &[
            "AppArmor parser error for /etc/apparmor.d/enroot in profile /etc/apparmor.d/enroot at line 1: Could not open 'abi/4.0': No such file or directory",
        ],
        ..ENROOT
    },
    Cause {
        id: "enroot.capabilities",
        sign: "enroot-aufs2ovlfs: (failed to set capabilities|command not found)|enroot-mksquashovlfs: failed to set capabilities",
        says: "enroot's helpers have no capabilities or are not found",
        means: "The package enroot+caps is missing, or the file system does not keep file capabilities (NFS, nosuid).",
        act: "install enroot+caps on each node, or run `enroot import` as root once; keep enroot on a local file system without nosuid",
        remedy: Remedy::Install,
        sources: &[seen("https://github.com/NVIDIA/pyxis/issues/8", "2019-11-19")],
        samples: &["/bin/bash: enroot-aufs2ovlfs: command not found"],
        ..ENROOT
    },
    Cause {
        id: "enroot.hook_failed",
        sign: r"\[ERROR\] (?<hook>/[^ ]*hooks\.d/[^ ]+) exited with return code (?<code>[0-9]+)",
        role: Role::Summary,
        says: "a hook of enroot failed: {hook}",
        means: "The hook's own words stand before this line.",
        act: "look at the line before it, mostly one of nvidia-container-cli",
        samples: &["error: pyxis:     [ERROR] /etc/enroot/hooks.d/98-nvidia.sh exited with return code 1"],
        ..ENROOT
    },
    // Docker and Podman.
    Cause {
        id: "docker.no_permission",
        sign: "permission denied while trying to connect to the (Docker|docker) (daemon socket|API)|Got permission denied while trying to connect to the Docker daemon",
        says: "this account may not use Docker",
        means: "The socket is open to root and the group docker.",
        act: "`usermod -aG docker USER` and log in again (the group is as good as root), or use sudo or rootless Podman",
        remedy: Remedy::Settings,
        sure: Sure::Confirmed,
        samples: &[
            "permission denied while trying to connect to the Docker daemon socket at unix:///var/run/docker.sock: Get \"http://%2Fvar%2Frun%2Fdocker.sock/v1.24/containers/json\": dial unix /var/run/docker.sock: connect: permission denied",
        ],
        ..DOCKER
    },
    Cause {
        id: "docker.daemon_json",
        sign: "unable to configure the Docker daemon with file (?<file>[^ :]+): (?<why>.+)",
        says: "dockerd does not take {file}: {why}",
        means: "The file is no valid JSON, or says what the command line of the unit says too.",
        act: "correct the file (`dockerd --validate --config-file {file}`); of a setting that stands twice take one away (a drop-in of docker.service for `hosts`), then start Docker",
        remedy: Remedy::Settings,
        sure: Sure::Confirmed,
        samples: &[
            "unable to configure the Docker daemon with file /etc/docker/daemon.json: invalid character '}' looking for beginning of object key string",
        ],
        ..DOCKER
    },
    Cause {
        id: "docker.not_running",
        sign: r"Cannot connect to the Docker daemon at (?<socket>[^ ]+)\. Is the docker daemon running|failed to connect to the docker API at (?<api>[^ ;]+)",
        role: Role::Effect,
        says: "dockerd does not run or listens elsewhere",
        means: "No daemon answers at this socket.",
        act: "`systemctl status docker` and `journalctl -u docker`; look at DOCKER_HOST and `docker context ls` too",
        samples: &[
            "Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?",
        ],
        ..DOCKER
    },
    Cause {
        id: "docker.address_pools",
        sign: "could not find an available, non-overlapping IPv[46] address pool|all predefined address pools have been fully subnetted",
        says: "Docker has no free subnet for another network",
        means: "All subnets of its pools are in use, or overlap with routes of the host such as a VPN.",
        act: "`docker network prune`, or set `default-address-pools` in daemon.json to a range that is free on this site",
        remedy: Remedy::Settings,
        sure: Sure::Confirmed,
        samples: &[
            "ERROR: could not find an available, non-overlapping IPv4 address pool among the defaults to assign to the network",
        ],
        ..DOCKER
    },
    Cause {
        id: "docker.iptables_lost",
        sign: "iptables.*No chain/target/match by that name|Chain 'DOCKER[A-Z-]*' does not exist|DOCKER-ISOLATION-STAGE-[0-9].*(does not exist|No chain)",
        says: "Docker's chains in the firewall are gone",
        means: "firewalld, ufw or an iptables-restore wrote the rules anew while Docker ran.",
        act: "restart Docker, which writes them again; order docker.service after the firewall's unit",
        remedy: Remedy::Settings,
        samples: &[
            "(iptables failed: iptables --wait -t nat -A DOCKER -p tcp -d 0/0 --dport 8080 -j DNAT --to-destination 172.17.0.2:80 ! -i docker0: iptables: No chain/target/match by that name.",
        ],
        ..DOCKER
    },
    Cause {
        id: "docker.port_taken",
        sign: "Bind for (?<address>[^ ]+) failed: port is already allocated|failed to (bind host port|listen on TCP socket).*address already in use|exposing port TCP (?<port>[^ ]+) -> .*address already in use",
        says: "the port is taken[: {address}][: {port}]",
        means: "Another container or a program of the host listens on it.",
        act: "`docker ps` and `ss -ltnp` show who has it; stop that or publish another port",
        remedy: Remedy::Settings,
        sure: Sure::Confirmed,
        samples: &["Bind for 127.0.0.1:15130 failed: port is already allocated"],
        ..DOCKER
    },
    Cause {
        id: "docker.name_taken",
        sign: r"Conflict\. The container name .?/?(?<name>[^ \x22\\]+).? is already in use",
        says: "a container {name} exists already",
        means: "A container keeps its name until it is removed, also when it has ended.",
        act: "`docker rm {name}` when nobody needs it, or take another name, or run with `--rm`",
        remedy: Remedy::Settings,
        sure: Sure::Confirmed,
        samples: &[
            "docker: Error response from daemon: Conflict. The container name \"/train\" is already in use by container \"f1c2\". You have to remove (or rename) that container to be able to reuse that name.",
        ],
        ..DOCKER
    },
    Cause {
        id: "registry.rate_limit",
        sign: "toomanyrequests: |You have reached your (unauthenticated |)pull rate limit",
        says: "the registry limits pulls of this address",
        means: "Docker Hub counts pulls by account or by address, and all hosts behind one NAT share it.",
        act: "log in to the registry (`docker login`, an imagePullSecret), use a mirror or a pull-through cache, or wait",
        remedy: Remedy::Settings,
        passing: true,
        sure: Sure::Confirmed,
        samples: &[
            "toomanyrequests: You have reached your pull rate limit. You may increase the limit by authenticating and upgrading: https://www.docker.com/increase-rate-limit",
        ],
        ..DOCKER
    },
    Cause {
        id: "registry.no_such_image",
        sign: "manifest for (?<image>[^ ]+) not found: manifest unknown|manifest unknown(: |$)|pull access denied for (?<denied>[^, ]+)|repository (?<repository>[^ ]+) not found: (does not exist|name unknown)",
        says: "there is no such image, or this account may not see it[: {image}][: {denied}][: {repository}]",
        means: "The tag is misspelt or was removed (CUDA images lose old tags), or the registry wants a login first.",
        act: "look at the tags in the registry; `docker login nvcr.io` (user `$oauthtoken`) for NGC; on Kubernetes an imagePullSecret",
        remedy: Remedy::Settings,
        samples: &[
            "Error response from daemon: manifest for nvidia/cuda:11.0-base not found: manifest unknown: manifest unknown",
            "docker: Error response from daemon: pull access denied for alice/train, repository does not exist or may require 'docker login'",
        ],
        ..DOCKER
    },
    Cause {
        id: "registry.login",
        sign: "unauthorized: (authentication required|incorrect username or password|access to the requested resource)|no basic auth credentials|denied: requested access to the resource is denied|insufficient_scope: authorization failed",
        says: "the registry wants a login, or does not take this one",
        means: "No credentials were sent, or the token ran out.",
        act: "`docker login REGISTRY` as the account that runs the pull (root for a service), a fresh token; on Kubernetes look at imagePullSecrets",
        remedy: Remedy::Settings,
        samples: &[
            "Error response from daemon: unauthorized: authentication required",
            "Failed to pull image \"nvcr.io/nim/meta/llama3-8b-instruct:1.0.0\": failed to pull and unpack image \"nvcr.io/nim/meta/llama3-8b-instruct:1.0.0\": failed to copy: httpReadSeeker: failed open: server message: insufficient_scope: authorization failed",
        ],
        ..DOCKER
    },
    Cause {
        id: "image.other_architecture",
        sign: r"exec (/[^ :]+|user process caused).{0,40}: exec format error|no matching manifest for (?<platform>[a-z0-9/]+)|requested image's platform \((?<image>[^)]+)\) does not match the detected host platform",
        says: "the image is for another architecture[ than {platform}][ ({image})]",
        means: "An image of amd64 was started on arm64 (Grace, GH200, GB200) or the other way round.",
        act: "take an image with this architecture (`docker buildx imagetools inspect IMAGE`), or build it with `--platform`",
        remedy: Remedy::Install,
        sure: Sure::Confirmed,
        samples: &[
            "exec /bin/sh: exec format error",
            "no matching manifest for linux/arm64/v8 in the manifest list entries",
        ],
        ..DOCKER
    },
    Cause {
        id: "docker.no_space",
        sign: "(failed to register layer|ApplyLayer|write /var/lib/(docker|containerd)[^:]*|mkdir /var/lib/(docker|containerd)[^:]*|failed to (extract|copy) layer|/var/lib/containers[^:]*): .*[Nn]o space left on device",
        says: "the disk of the container images is full",
        means: "Images, layers and logs of containers fill /var/lib/docker, /var/lib/containerd or /var/lib/containers; inodes count too.",
        act: "`df -h` and `df -i` of that folder, `docker system df`, then `docker system prune` (it removes what no container uses), limit log sizes, or move the data root to a larger disk",
        remedy: Remedy::Settings,
        sure: Sure::Confirmed,
        samples: &[
            "failed to register layer: write /usr/lib/x86_64-linux-gnu/libcudnn.so.9: no space left on device",
        ],
        ..DOCKER
    },
    Cause {
        id: "docker.rlimit",
        sign: "error setting rlimits? (for ready process|type (?<type>[0-9]+)).*[Oo]peration not permitted",
        says: "the runtime may not raise a limit for the container",
        means: "Without root a limit cannot go above that of the account that starts the container.",
        act: "raise the hard limit of that account or of the service (`LimitMEMLOCK=infinity` in a drop-in, the playbook `limits`), or leave `--ulimit` away",
        remedy: Remedy::Settings,
        samples: &[
            "runc create failed: unable to start container process: error during container init: error setting rlimits for ready process: error setting rlimit type 8: operation not permitted",
        ],
        ..DOCKER
    },
    Cause {
        id: "docker.cgroup_driver",
        sign: "(kubelet cgroup driver: [^a-z]{0,3}(?<kubelet>[a-z]+)[^a-z]{0,3} is different from docker cgroup driver: [^a-z]{0,3}(?<docker>[a-z]+)|cgroup driver .{0,3}systemd.{0,3} .*no such|cgroups: cgroup mountpoint does not exist)",
        says: "kubelet and the runtime do not agree about cgroups, or the host has none",
        means: "One uses systemd and the other cgroupfs, or Docker is too old for the unified cgroups.",
        act: "set the same driver on both (systemd: `SystemdCgroup = true` in containerd, `cgroupDriver: systemd` in kubelet), and take a Docker from version 20.10 on",
        remedy: Remedy::Settings,
        samples: &[
            "misconfiguration: kubelet cgroup driver: \"cgroupfs\" is different from docker cgroup driver: \"systemd\"",
        ],
        ..DOCKER
    },
    Cause {
        id: "podman.no_subuids",
        sign: r"cannot find UID/GID for user (?<user>[^:]+): [Nn]o subuid ranges found|potentially insufficient UIDs or GIDs available in user namespace|no subuid ranges found for user .?(?<other>[^ \x22]+)",
        says: "the account[ {user}][ {other}] has no subordinate IDs",
        means: "Rootless containers map many IDs, which /etc/subuid and /etc/subgid must give to the account; accounts of LDAP have none there.",
        act: "`usermod --add-subuids 100000-165535 --add-subgids 100000-165535 USER` with a range of its own, then `podman system migrate`",
        remedy: Remedy::Settings,
        sure: Sure::Confirmed,
        samples: &[
            "Error: writing blob: adding layer with blob: processing tar file(potentially insufficient UIDs or GIDs available in user namespace (requested 0:42 for /etc/gshadow): Check /etc/subuid and /etc/subgid if configured locally and run \"podman system migrate\": lchown /etc/gshadow: invalid argument): exit status 1",
        ],
        ..PODMAN
    },
    Cause {
        id: "podman.short_name",
        sign: r"short-name .?(?<image>[^ \x22\\]+).? did not resolve to an alias and no unqualified-search registries",
        says: "Podman does not know the registry of {image}",
        means: "The name has no registry, and none is set to be searched.",
        act: "write the full name (`docker.io/library/...`), or set unqualified-search-registries in /etc/containers/registries.conf",
        remedy: Remedy::Settings,
        sure: Sure::Confirmed,
        samples: &[
            "Error: short-name \"ubuntu:24.04\" did not resolve to an alias and no unqualified-search registries are defined in \"/etc/containers/registries.conf\"",
        ],
        ..PODMAN
    },
    Cause {
        id: "podman.shared_mount",
        sign: ".{0,3}/.{0,3} is not a shared mount, this could cause issues",
        says: "Podman notes that / is no shared mount",
        means: "It matters only where mounts should pass between host and container.",
        counts: Counts::Note,
        samples: &[
            "WARN[0000] \"/\" is not a shared mount, this could cause issues or missing mounts with rootless containers",
        ],
        ..PODMAN
    },
    Cause {
        id: "podman.linger",
        sign: "cgroupv2 manager is set to systemd but there is no systemd user session|sd-bus call: .*(Interactive authentication required|Permission denied)",
        says: "Podman has no systemd session of this account",
        means: "After su or sudo, or by a service, there is no user session that could hold the container's cgroup.",
        counts: Counts::Warn,
        act: "log in as that account by ssh in place of su, or `loginctl enable-linger USER`, or run Podman with `--cgroup-manager=cgroupfs`",
        remedy: Remedy::Settings,
        samples: &[
            "WARN[0000] The cgroupv2 manager is set to systemd but there is no systemd user session available",
            "Error: OCI runtime error: crun: sd-bus call: Interactive authentication required.: Permission denied",
        ],
        ..PODMAN
    },
    // Kubernetes: GPUs.
    Cause {
        id: "kube.plugin_sees_no_driver",
        sign: "Incompatible (strategy|platform) detected|If this is a GPU node, did you configure the NVIDIA Container Toolkit|Failed to initialize NVML: could not load NVML library|failed to initialize NVML: ERROR_LIBRARY_NOT_FOUND",
        says: "the device plugin sees no NVIDIA driver",
        means: "The plugin's container got no libraries of the driver: it does not run under the NVIDIA runtime, or the node has no driver. On a node without GPUs the words are right and harmless.",
        act: "`nvidia-smi` on the node; then make nvidia the default runtime (`nvidia-ctk runtime configure --runtime=containerd --set-as-default`, restart containerd) or give the plugin `runtimeClassName: nvidia`, and delete its pod so that it is made anew",
        remedy: Remedy::Settings,
        sources: &[seen(
            "https://github.com/NVIDIA/k8s-device-plugin (cmd/nvidia-device-plugin; internal/rm)",
            "2026-11-30",
        )],
        samples: &[
            "E0925 19:53:51.423171 factory.go:135] Incompatible strategy detected auto",
            "E... If this is a GPU node, did you configure the NVIDIA Container Toolkit?",
        ],
        ..PLUGIN
    },
    Cause {
        id: "kube.plugin_waits",
        sign: r"No devices found\. Waiting indefinitely",
        role: Role::Effect,
        says: "the device plugin offers no GPU on this node",
        means: "It found none, or could not load NVML.",
        act: "look at the plugin's lines before it and at `nvidia-smi` on the node; on nodes without GPUs let a nodeSelector keep the plugin away",
        samples: &["I... No devices found. Waiting indefinitely."],
        ..PLUGIN
    },
    Cause {
        id: "kube.gpu_unhealthy",
        sign: r"(requested number of devices unavailable for (?<resource>[a-z0-9./-]+)\. Requested: (?<wanted>[0-9]+), Available: (?<have>[0-9]+)|no healthy devices present; cannot allocate unhealthy devices (?<unhealthy>[a-z0-9./-]+))",
        role: Role::Effect,
        says: "the node has fewer healthy devices than the pod asks for[ ({resource}: {have} of {wanted})][ ({unhealthy})]",
        means: "The scheduler counted devices that the plugin has withdrawn since: a GPU with a Xid, a plugin or kubelet that restarts, or a pod that still holds them.",
        act: "`kubectl describe node` for Allocatable, the plugin's log for devices that it marked unhealthy, `dmesg | grep -i xid` on the node; the pod must be made anew, as it stays failed",
        sure: Sure::Guess,
        samples: &[
            "Warning UnexpectedAdmissionError 11s kubelet Allocate failed due to requested number of devices unavailable for nvidia.com/gpu. Requested: 1, Available: 0, which is unexpected",
        ],
        ..PLUGIN
    },
    Cause {
        id: "kube.insufficient",
        sign: r"[0-9]+/[0-9]+ nodes are available: .*Insufficient (?<resource>nvidia\.com/[a-z0-9.-]+|amd\.com/gpu|rdma/[a-z0-9_.-]+|[a-z0-9.-]+/[A-Za-z0-9_.-]*(rdma|ib|vf|sriov)[A-Za-z0-9_.-]*)",
        role: Role::Effect,
        says: "no node has enough {resource} free",
        means: "All are in use, the request is larger than any node, or the device plugin offers none (0 in Allocatable).",
        act: "`kubectl get nodes -o custom-columns=NAME:.metadata.name,GPU:.status.allocatable.nvidia\\.com/gpu`: where it is empty or 0 look at the device plugin of that node; else wait or ask for less",
        counts: Counts::Warn,
        samples: &[
            "Warning  FailedScheduling  12s  default-scheduler  0/3 nodes are available: 3 Insufficient nvidia.com/gpu. preemption: 0/3 nodes are available: 3 No preemption victims found for incoming pod.",
        ],
        ..PLUGIN
    },
    Cause {
        id: "kube.taint",
        sign: r"[0-9]+/[0-9]+ nodes are available: .*untolerated taint \{(?<taint>[^}]*)\}",
        says: "nodes are kept from this pod by a taint: {taint}",
        means: "The pod does not tolerate it. Taints of node.kubernetes.io (not-ready, disk-pressure, unschedulable) come from the state of the node.",
        counts: Counts::Warn,
        act: "add the toleration to the pod where it should run there; for a taint of node.kubernetes.io mend the node (`kubectl describe node`), or `kubectl uncordon` it",
        remedy: Remedy::Settings,
        samples: &[
            "0/4 nodes are available: 4 node(s) had untolerated taint {nvidia.com/gpu: present}. preemption: 0/4 nodes are available",
        ],
        ..KUBE
    },
    Cause {
        id: "operator.driver_in_use",
        sign: "Could not unload NVIDIA driver kernel modules, driver is in use",
        says: "the driver cannot be replaced, as something uses it",
        means: "Pods, a monitoring agent or a driver that is installed on the host itself hold the modules, so that the operator's container cannot load its own.",
        act: "drain the node; look for a driver of the host (`dpkg -l 'nvidia-driver*'`, `lsmod | grep nvidia`): where there is one, set `driver.enabled=false` in the operator; a reboot of the drained node frees the modules else",
        remedy: Remedy::Reset,
        sure: Sure::Guess,
        samples: &["Could not unload NVIDIA driver kernel modules, driver is in use"],
        ..OPERATOR
    },
    Cause {
        id: "operator.no_headers",
        sign: "Could not resolve Linux kernel version|Unable to find the kernel source tree for the currently running kernel|(Unable to find a match|No package|E: Unable to locate package).*(kernel-headers|linux-headers|kernel-devel)-(?<kernel>[^ ]+)",
        says: "the driver container finds no headers for the node's kernel[ {kernel}]",
        means: "The repositories that the container asks have no package for this kernel: the node is offline, unsubscribed, or runs a kernel that was taken out of the mirror.",
        act: "update the node to a kernel that the repository has (playbook `kernel`), give the operator a repository (`driver.repoConfig`), or use precompiled drivers",
        remedy: Remedy::Install,
        samples: &["Could not resolve Linux kernel version"],
        ..OPERATOR
    },
    Cause {
        id: "operator.validator_waits",
        sign: "failed to validate the driver, retrying after [0-9]+ seconds|driver is not ready: |waiting for nvidia container stack to be setup",
        role: Role::Effect,
        says: "the GPU operator waits for the driver of this node",
        means: "The validation asks nvidia-smi of the driver container or the host, or a CUDA container, which does not work yet. Other pods of the operator wait in Init for it.",
        act: "look at the pods nvidia-driver-daemonset and nvidia-container-toolkit-daemonset of this node, at `nvidia-smi` on it, and whether containerd was restarted with the NVIDIA runtime",
        counts: Counts::Warn,
        sources: &[seen(
            "https://github.com/NVIDIA/gpu-operator (cmd/nvidia-validator/main.go)",
            "2026-11-30",
        )],
        samples: &[
            "level=warning msg=\"failed to validate the driver, retrying after 5 seconds\"",
            "waiting for nvidia container stack to be setup",
        ],
        ..OPERATOR
    },
    // Kubernetes: networks of cards.
    Cause {
        id: "kube.rdma_cm_missing",
        sign: "missing RDMA device spec for device (?<device>[0-9a-f:.]+), RDMA device .{1,3}rdma_cm.{1,3} not found",
        says: "the node has no /dev/infiniband/rdma_cm",
        means: "The module rdma_ucm is not loaded, so that the RDMA device plugin offers no card.",
        act: "`modprobe rdma_ucm` on the node and a file in /etc/modules-load.d for the next boot (the playbook `rdma-core` loads it); the plugin looks again by itself",
        remedy: Remedy::Settings,
        sources: &[seen("https://github.com/Mellanox/k8s-rdma-shared-dev-plugin/issues/192", "2025-08-07")],
        samples: &[
            "2025/07/26 20:29:31 error creating new device: \"missing RDMA device spec for device 0000:16:00.0, RDMA device \\\"rdma_cm\\\" not found\"",
        ],
        ..TOOL
    },
    Cause {
        id: "kube.rdma_other_cards",
        sign: "missing RDMA device spec for device (?<device>[0-9a-f:.]+), RDMA device .{0,3}?(?<what>issm|umad|uverbs)[0-9]*.{0,3} not found",
        says: "the RDMA device plugin tries a card without InfiniBand devices ({device})",
        means: "Its selectors do not leave out other cards of the node, for which the line is noise; for the RDMA card itself the module ib_umad is missing.",
        counts: Counts::Warn,
        act: "`lspci -s {device}`: for another maker's card name the RDMA cards in the plugin's configuration (`vendors` with 15b3, `deviceIDs` or `ifNames`) and restart its pods; for an NVIDIA card `modprobe ib_umad`",
        remedy: Remedy::Settings,
        sources: &[
            seen("https://github.com/Mellanox/k8s-rdma-shared-dev-plugin/issues/103", "2024-04-03"),
            seen("https://github.com/Mellanox/k8s-rdma-shared-dev-plugin/issues/94", "2024-06-20"),
        ],
        samples: &[
            "2024/04/03 18:59:23 error creating new device: \"missing RDMA device spec for device 0000:3b:00.0, RDMA device \\\"issm\\\" not found\"",
        ],
        ..TOOL
    },
    Cause {
        id: "kube.rdma_none",
        sign: "Warning: no Rdma Devices were found for resource (?<resource>[^ ]+)|no devices in device pool, creating empty resource server for (?<pool>[^ ]+)",
        role: Role::Effect,
        says: "the RDMA device plugin found no card for [{resource}][{pool}]",
        means: "No card of the node fits the selectors, or its RDMA devices are missing.",
        act: "compare the selectors with `lspci -nn` and `rdma link`, and look at the plugin's lines before it",
        counts: Counts::Warn,
        sources: &[seen(
            "https://github.com/Mellanox/k8s-rdma-shared-dev-plugin (pkg/resources)",
            "2026-11-30",
        )],
        samples: &[
            "2025/07/26 20:29:31 Warning: no Rdma Devices were found for resource hca_shared_devices_a",
        ],
        ..TOOL
    },
    Cause {
        id: "kube.ib_vf_guid",
        sign: "infiniBand SRI-OV CNI failed to configure VF .?VF (?<vf>[^ ]+) GUID is not valid",
        says: "the virtual function {vf} has no valid GUID",
        means: "The GUIDs of the virtual functions are zero, and nothing set new ones.",
        act: "set them on the node (`ip link set dev PF vf N port_guid GUID` and `node_guid GUID`), or mend what configures the VFs (SR-IOV network operator, ib-kubernetes), then make the pod anew",
        remedy: Remedy::Settings,
        sources: &[
            seen("https://github.com/Mellanox/network-operator/issues/1825", "2025-11-06"),
            seen("https://github.com/k8snetworkplumbingwg/sriov-network-operator/issues/307", "2022-05-20"),
        ],
        samples: &[
            "error adding container to network \"ibp192s0\": infiniBand SRI-OV CNI failed to configure VF \"VF ibp192s0v10 GUID is not valid\"",
        ],
        ..TOOL
    },
    Cause {
        id: "kube.vf_not_given",
        sign: "VF pci addr is required",
        says: "the pod has a network of SR-IOV and no virtual function",
        means: "The pod does not ask for the resource of the network, or the network attachment names none, so that no card was allocated.",
        act: "add `k8s.v1.cni.cncf.io/resourceName` to the NetworkAttachmentDefinition and the same resource to the pod's requests and limits",
        remedy: Remedy::Settings,
        sure: Sure::Confirmed,
        sources: &[seen(
            "https://github.com/k8snetworkplumbingwg/sriov-cni (pkg/config/config.go)",
            "2026-11-30",
        )],
        samples: &[
            "error adding container to network \"sriov\": SRIOV-CNI failed to load netconf: LoadConf(): VF pci addr is required",
        ],
        ..TOOL
    },
    Cause {
        id: "kube.no_network_definition",
        sign: r"cannot find a network-attachment-definition \(?(?<name>[^ )]+)\)? in namespace \(?(?<space>[^ ):]+)",
        says: "there is no network {name} in the namespace {space}",
        means: "Multus was asked for a network that does not exist in this namespace.",
        act: "`kubectl get network-attachment-definitions -A`; write the namespace into the annotation (`NAMESPACE/{name}`), or create it",
        remedy: Remedy::Settings,
        sure: Sure::Confirmed,
        sources: &[seen("https://github.com/k8snetworkplumbingwg/multus-cni (pkg/k8sclient)", "2026-11-30")],
        samples: &[
            "cannot find a network-attachment-definition (rail0) in namespace (train): network-attachment-definitions.k8s.cni.cncf.io \"rail0\" not found",
        ],
        ..TOOL
    },
    Cause {
        id: "kube.cni_plugin_missing",
        sign: r"failed to find plugin [\\\x22'`]{0,3}(?<plugin>[a-z0-9_.-]+)[\\\x22'`]{0,3} in path",
        says: "the CNI plugin {plugin} is not installed on this node",
        near: &[r"in path \[(?<folder>[^\]]+)\]"],
        means: "The network's configuration names a program that is not in the folder that the runtime reads. Multus and operators bring their own program only, and to /opt/cni/bin; some distributions (GKE, k3s, OpenShift) read another folder.",
        act: "`ls` of that folder on the node: for a standard plugin (macvlan, ipvlan, static, host-local) install containernetworking-plugins there; for one of a DaemonSet (multus, {plugin}) set its host path to the folder that the line names, or bin_dir of the runtime",
        remedy: Remedy::Install,
        sure: Sure::Confirmed,
        sources: &[seen("https://github.com/containernetworking/cni (pkg/invoke/find.go)", "2026-11-30")],
        samples: &["failed to find plugin \"rdma\" in path [/opt/cni/bin]"],
        ..TOOL
    },
    Cause {
        id: "kube.no_addresses",
        sign: "no IP addresses available in range set|Could not allocate IP in range: ip: (?<range>[^ ]+)",
        says: "the range of addresses of a pod network is used up",
        means: "All addresses are given out, or those of pods that are gone were not given back.",
        act: "look for leftovers (`/var/lib/cni/networks/NAME` for host-local, `kubectl get ippools -A` for whereabouts and nv-ipam) of pods that do not exist any more; make the range larger else",
        remedy: Remedy::Settings,
        sources: &[seen(
            "https://github.com/containernetworking/plugins (plugins/ipam/host-local)",
            "2026-11-30",
        )],
        samples: &[
            "failed to allocate for range 0: no IP addresses available in range set: 10.244.1.1-10.244.1.254",
        ],
        ..TOOL
    },
    Cause {
        id: "kube.cni_not_ready",
        sign: "cni plugin not initialized|container runtime network not ready: NetworkReady=false|cni config uninitialized|Unable to update cni config|Has your network provider started",
        role: Role::Effect,
        says: "the node has no pod network yet",
        means: "No configuration of a CNI lies in /etc/cni/net.d: the network's DaemonSet does not run on this node.",
        act: "`kubectl get pods -A -o wide` for the network's pod on this node (calico, cilium, flannel) and its log; a cluster that has none yet wants one installed, and where the pod runs and /etc/cni/net.d has its file, restart the runtime",
        sources: &[seen(
            "https://kubernetes.io/docs/tasks/administer-cluster/migrating-from-dockershim/troubleshooting-cni-plugin-related-errors/",
            "2026-11-30",
        )],
        samples: &[
            "container runtime network not ready: NetworkReady=false reason:NetworkPluginNotReady message:Network plugin returns error: cni plugin not initialized",
        ],
        ..KUBE
    },
    // Kubernetes itself.
    Cause {
        id: "kube.swap",
        sign: "running with swap on is not supported",
        says: "kubelet does not start with swap",
        means: "Swap is on, and kubelet is not told to live with it.",
        act: "`swapoff -a` and take swap out of /etc/fstab, or set failSwapOn: false",
        remedy: Remedy::Settings,
        sure: Sure::Confirmed,
        samples: &[
            "failed to run Kubelet: running with swap on is not supported, please disable swap! or set --fail-swap-on flag to false",
        ],
        ..KUBE
    },
    Cause {
        id: "kube.no_config",
        sign: r"The connection to the server (?<server>localhost:8080|127\.0\.0\.1:8080) was refused - did you specify the right host or port",
        says: "kubectl has no configuration",
        means: "Without a kubeconfig kubectl asks localhost:8080. The cluster may be well.",
        act: "set KUBECONFIG (`/etc/kubernetes/admin.conf`, `/etc/rancher/k3s/k3s.yaml`) or copy it to ~/.kube/config",
        remedy: Remedy::Settings,
        sure: Sure::Confirmed,
        samples: &[
            "The connection to the server localhost:8080 was refused - did you specify the right host or port?",
        ],
        ..KUBE
    },
    Cause {
        id: "kube.certificate_expired",
        sign: "x509: certificate has expired or is not yet valid: current time (?<now>[^ ]+) is (?<side>after|before) (?<date>[^ ]+)",
        says: "a certificate is not valid now ({now} is {side} {date})",
        means: "The certificate ran out, or the clock of this host is wrong; with `before` it is mostly the clock.",
        act: "`date` and `chronyc tracking` first (playbook `chrony`); then `kubeadm certs check-expiration` and `kubeadm certs renew all` (k3s: restart it), or renew the server's certificate",
        remedy: Remedy::Settings,
        samples: &[
            "tls: failed to verify certificate: x509: certificate has expired or is not yet valid: current time 2026-03-02T09:14:41Z is after 2026-03-01T00:00:00Z",
        ],
        ..KUBE
    },
    Cause {
        id: "registry.unknown_authority",
        sign: "x509: certificate signed by unknown authority",
        says: "the server's certificate is signed by an authority that this host does not know",
        means: "The server has a certificate of the company or of itself, or a proxy signs anew.",
        act: "add the authority's certificate to the host (`update-ca-certificates`, `update-ca-trust`) and restart Docker or containerd; for one registry /etc/docker/certs.d/HOST/ca.crt",
        remedy: Remedy::Settings,
        sure: Sure::Confirmed,
        samples: &["tls: failed to verify certificate: x509: certificate signed by unknown authority"],
        ..DOCKER
    },
    Cause {
        id: "kube.evicted",
        sign: r"[Tt]he node was low on resource: (?<resource>[a-z-]+)|The node had condition: \[(?<condition>[A-Za-z]+)\]",
        says: "the node was short of [{resource}][{condition}] and evicted pods",
        means: "kubelet ends pods when the disk or memory of the node runs short.",
        act: "`kubectl describe node` for its conditions, `df -h /var/lib/kubelet /var/lib/containerd` on it; set requests for ephemeral-storage and memory, or write to a volume",
        remedy: Remedy::Settings,
        sure: Sure::Confirmed,
        samples: &[
            "The node was low on resource: ephemeral-storage. Threshold quantity: 48Gi, available: 41Gi.",
        ],
        ..KUBE
    },
    Cause {
        id: "kube.oom_killed",
        sign: r"(Reason|reason):? +.?OOMKilled|^ *OOMKilled\b|\bOOMKilled \(exit code 137\)|\s0/[0-9]+ +OOMKilled",
        says: "the container reached its memory limit and was killed",
        means: "The kernel ended it at the limit of its cgroup. The node itself may have memory left.",
        act: "raise the memory limit of the pod or lower what it uses (data loader workers, pinned buffers, tmpfs in /dev/shm counts too)",
        remedy: Remedy::Settings,
        sure: Sure::Confirmed,
        samples: &["      Reason:       OOMKilled"],
        ..KUBE
    },
    Cause {
        id: "kube.pull_failed",
        sign: r"(Warning +Failed .*(Error: (ErrImagePull|ImagePullBackOff)|Failed to pull image(?:.*: )?(?<why>[^:]+: [^:]+$)?)|Back-off pulling image|\s0/[0-9]+ +(ErrImagePull|ImagePullBackOff)\b)",
        role: Role::Summary,
        says: "the image could not be pulled[: {why}]",
        means: "The reason is in the same event: name, login, network or architecture.",
        act: "`kubectl describe pod` for the words behind `Failed to pull image`",
        samples: &["  Warning  Failed     14s (x3 over 58s)  kubelet            Error: ErrImagePull"],
        ..KUBE
    },
    Cause {
        id: "kube.crash_loop",
        sign: r"Back-off restarting failed container|\s[0-9]+/[0-9]+ +(Init:)?CrashLoopBackOff\b",
        role: Role::Summary,
        says: "a container of the pod ends again and again",
        means: "The reason is in the log of the run before.",
        act: "`kubectl logs --previous POD -c CONTAINER` and `kubectl describe pod` for exit code and reason",
        samples: &[
            "  Warning  BackOff    3s (x4 over 41s)   kubelet            Back-off restarting failed container",
        ],
        ..KUBE
    },
    Cause {
        id: "kube.mount_failed",
        sign: r"(MountVolume\.(SetUp|MountDevice) failed for volume|Unable to attach or mount volumes)[^:]*: (?<why>.+)",
        role: Role::Summary,
        says: "a volume of the pod was not mounted: {why}",
        means: "The words of mount or of the CSI driver stand behind it.",
        act: "read on in the same event; a secret or configMap that is not found must be created, a mount that failed says its own reason",
        samples: &[
            "  Warning  FailedMount  8s  kubelet  MountVolume.SetUp failed for volume \"data\" : hostPath type check failed: /data is not a directory",
        ],
        ..KUBE
    },
    Cause {
        id: "kube.sandbox",
        sign: r"Failed to create pod sandbox: rpc error(?:.*: )?(?<why>[^:]+: [^:]+)?$|Failed to create pod sandbox: rpc error",
        role: Role::Summary,
        says: "the sandbox of a pod could not be made[: {why}]",
        means: "The runtime or a network plugin failed. Its own words stand at the end of the same line.",
        act: "read the end of the line: the network plugin, the runtime or the device that it names is the place to look",
        samples: &[
            "Failed to create pod sandbox: rpc error: code = Unknown desc = failed to create containerd task: context deadline exceeded",
        ],
        ..KUBE
    },
    Cause {
        id: "docker.command_not_found",
        sign: r"exec: [\\\x22'`]{0,3}(?<command>[^ \x22\\'`]+)[\\\x22'`]{0,3}: (executable file not found in \$PATH|stat [^ ]+: no such file)",
        says: "the image has no program {command}",
        means: "The command of the container is misspelt, stands where an option should, or is not in this image.",
        act: "look at the order of arguments (options before the image's name) and for the program in the image: `docker run --rm -it --entrypoint sh IMAGE`",
        remedy: Remedy::Settings,
        samples: &[
            "runc create failed: unable to start container process: exec: \"nvidia-smi\": executable file not found in $PATH: unknown",
        ],
        ..DOCKER
    },
    Cause {
        id: "docker.modules_gone",
        sign: r"failed to add the host \([^)]*\) <=> sandbox \([^)]*\) pair interfaces: operation not supported",
        says: "the kernel cannot make the container's network device (veth)",
        means: "The modules of the running kernel are gone from the disk: the kernel was updated and the host was not rebooted.",
        act: "`ls /lib/modules/$(uname -r)`: where it is missing, reboot the host; else `modprobe veth` and its words",
        remedy: Remedy::Reset,
        samples: &[
            "failed to create endpoint train on network bridge: failed to add the host (veth1a2b3c4) <=> sandbox (veth5d6e7f8) pair interfaces: operation not supported",
        ],
        ..DOCKER
    },
    Cause {
        id: "docker.network_controller",
        sign: "[Ee]rror initializing network controller: (?<why>.+)",
        role: Role::Effect,
        says: "dockerd does not start, as it cannot set its network up ({why})",
        means: "Mostly iptables: its modules are missing (a kernel updated without a reboot), or the rules are of the other of iptables-nft and iptables-legacy.",
        act: "read the end of the line; `iptables -L -n -t nat`, `update-alternatives --display iptables`, and a reboot where the modules of the running kernel are gone",
        sure: Sure::Guess,
        samples: &[
            "failed to start daemon: Error initializing network controller: error obtaining controller instance: failed to register \"bridge\" driver: failed to create NAT chain DOCKER: iptables failed",
        ],
        ..DOCKER
    },
    Cause {
        id: "registry.unreachable",
        sign: r"(https?://[^ \x22]+/(v2/|token)|registry-1\.docker\.io|nvcr\.io|ghcr\.io|quay\.io)[^ ]*: .*(dial tcp|i/o timeout|TLS handshake timeout|request canceled|server misbehaving|connection refused|connection reset by peer|EOF)",
        role: Role::Effect,
        says: "the registry is not reached from this host",
        means: "DNS, a firewall, or a proxy that Docker or containerd does not know: they do not read the environment of the shell.",
        act: "`curl -v https://REGISTRY/v2/` on the host; set HTTPS_PROXY in a drop-in of docker.service or containerd.service, or a mirror; `resolvectl query REGISTRY`",
        passing: true,
        samples: &[
            "docker: Error response from daemon: Get \"https://registry-1.docker.io/v2/\": dial tcp: lookup registry-1.docker.io on 127.0.0.53:53: server misbehaving.",
        ],
        ..DOCKER
    },
    Cause {
        id: "kube.affinity",
        sign: "[0-9]+/[0-9]+ nodes are available: .*didn't match (Pod's|pod) (node affinity|affinity|anti-affinity)",
        says: "no node has the labels that the pod asks for",
        means: "nodeSelector or affinity names a label that no node has, or that only full ones have.",
        counts: Counts::Warn,
        act: "`kubectl get nodes --show-labels` against the pod's nodeSelector; GPU labels come from gpu-feature-discovery, which must run",
        remedy: Remedy::Settings,
        samples: &[
            "Warning  FailedScheduling  12s  default-scheduler  0/4 nodes are available: 4 node(s) didn't match Pod's node affinity/selector.",
        ],
        ..KUBE
    },
    Cause {
        id: "kube.api_unreachable",
        sign: "Unable to connect to the server: (?<why>.+)|The connection to the server (?<server>[^ ]+) was refused - did you specify",
        role: Role::Effect,
        says: "the API server of Kubernetes is not reached[ ({why})][: {server}]",
        means: "The control plane is down, the address in the kubeconfig is old, or the way is blocked.",
        act: "on the control plane `crictl ps -a | grep -E 'apiserver|etcd'` and `journalctl -u kubelet`; a full disk and expired certificates are usual",
        samples: &[
            "The connection to the server 192.0.2.1:6443 was refused - did you specify the right host or port?",
        ],
        ..KUBE
    },
    Cause {
        id: "kube.pleg",
        sign: "PLEG is not healthy: ",
        role: Role::Effect,
        says: "kubelet waits too long for the container runtime (PLEG)",
        means: "containerd or Docker answers slowly: a busy disk, very many containers, or a hung one. The node becomes NotReady.",
        act: "`crictl ps` by hand for how long it takes, `iostat -x 1`, `dmesg | tail`; restart containerd where it hangs",
        samples: &["PLEG is not healthy: pleg was last seen active 3m10.5s ago; threshold is 3m0s"],
        ..KUBE
    },
    Cause {
        id: "docker.hook_failed",
        sign: "error running (prestart )?hook #?[0-9]+|error running createContainer hook",
        role: Role::Summary,
        says: "a hook of the container runtime failed",
        means: "Its own words stand at the end of the line, mostly of nvidia-container-cli.",
        act: "read the line on, and the next ones",
        samples: &[
            "error running prestart hook #0: exit status 1, stdout: , stderr: Auto-detected mode as 'legacy'",
        ],
        ..DOCKER
    },
    Cause {
        id: "docker.create_failed",
        sign: "OCI runtime (create failed|error|exec failed)|failed to create (shim task|containerd task)",
        role: Role::Summary,
        says: "the container was not started",
        means: "The runtime failed. The reason is at the end of the line or in the next ones.",
        act: "read the end of the line",
        samples: &[
            "failed to create task for container: failed to create shim task: OCI runtime create failed: unknown",
        ],
        ..DOCKER
    },
];
