//! Containers: runc by its own words, devices that a toolkit may not open, the operator and the device plugin of Kubernetes.

use super::super::cause::{Cause, Counts, Remedy, Role, Sure, TOOL, seen};

pub(in crate::causes) const ROWS: &[Cause] = &[
    Cause {
        id: "containerd.cleanup",
        sign: r#"msg="cleanup warnings "#,
        says: "containerd cleaned up behind a container that ended",
        means: "The shim of the container was gone already, and runc is asked once more. Each container that ends so leaves the line.",
        counts: Counts::Note,
        act: "nothing",
        sources: &[seen(
            "https://github.com/containerd/containerd (1.6 and 1.7: runtime/v2/binary.go)",
            "2026-12-01",
        )],
        samples: &[
            r#"time="2026-12-01T11:53:38.239573634Z" level=warning msg="cleanup warnings time=\"2026-12-01T11:53:38Z\" level=info msg=\"starting signal loop\" namespace=moby pid=16825 runtime=io.containerd.runc.v2"#,
        ],
        ..TOOL
    },
    Cause {
        id: "oci.memory_limit",
        sign: r"container init was OOM-killed|memory\.limit_in_bytes: device or resource busy|unable to set memory limit to \d+ \(current usage|rejecting memory limit \d+ <= usage",
        says: "the limit of memory is too small for the container to start",
        means: "runc itself needs some megabytes within the limit before the program starts, or the limit was set below what the container already uses.",
        act: "give the container a larger limit (`--memory`, `resources.limits.memory`); mind the unit: `512m` of Kubernetes is half a byte, `512Mi` is meant",
        remedy: Remedy::Settings,
        sure: Sure::Confirmed,
        sources: &[
            seen("https://github.com/opencontainers/runc (libcontainer)", "2026-12-01"),
            seen("https://github.com/opencontainers/runc/issues/2736", "2021-02-19"),
        ],
        samples: &[
            "OCI runtime create failed: runc create failed: unable to start container process: container init was OOM-killed (memory limit too low?): unknown",
            r#"container init caused: process_linux.go:458: setting cgroup config for procHooks process caused: failed to write "1000": write /sys/fs/cgroup/memory/user.slice/xe3/memory.limit_in_bytes: device or resource busy"#,
        ],
        ..TOOL
    },
    Cause {
        id: "oci.procfs_guard",
        sign: r"open sysctl \S+ file: reopen fd \d+: permission denied",
        says: "AppArmor of the container around it stops this runc at /proc/sys",
        means: "runc since CVE-2025-52881 opens files of /proc in another way, which AppArmor takes for /sys. The profile of the outer container (LXC, Proxmox, Incus) forbids that.",
        act: "update the host of the outer container (lxc-pve 6.0.5-2 of Proxmox, Incus 6.19); for plain LXC take the rules for /sys out of /etc/apparmor.d/abstractions/lxc/container-base; or run the containers in a virtual machine",
        remedy: Remedy::Install,
        sure: Sure::Likely,
        sources: &[
            seen("https://github.com/opencontainers/runc/issues/4968", "2025-11-17"),
            seen("https://github.com/opencontainers/runc/issues/4972", "2025-11-06"),
        ],
        samples: &[
            "error during container init: open sysctl net.ipv4.ip_unprivileged_port_start file: reopen fd 8: permission denied: unknown",
        ],
        ..TOOL
    },
    Cause {
        id: "oci.cgroup_driver",
        sign: "expected cgroupsPath to be of format",
        says: "the kubelet and the runtime use different drivers of cgroups",
        means: "The runtime wants names of systemd (slice:prefix:name), and the kubelet gives paths of cgroupfs.",
        act: "set both to systemd: `cgroupDriver: systemd` of the kubelet and `SystemdCgroup = true` of the runtime (of the runtime nvidia as well), then restart both",
        remedy: Remedy::Settings,
        sure: Sure::Confirmed,
        sources: &[seen("https://github.com/opencontainers/runc (libcontainer)", "2026-12-01")],
        samples: &[
            r#"runc create failed: expected cgroupsPath to be of format "slice:prefix:name" for systemd cgroups, got "/kubepods/besteffort/pod1" instead: unknown"#,
        ],
        ..TOOL
    },
    Cause {
        id: "oci.frozen",
        sign: r"timeout of \S+ reached waiting for the cgroup to freeze|unable to freeze",
        says: "the processes of a container could not be stopped for a moment",
        means: "One of them hangs in the kernel (storage, a GPU), and the whole container waits for it.",
        role: Role::Effect,
        act: "look for processes in state D on the host (`ps -eo state,pid,wchan:30,cmd | grep ^D`) and at `dmesg`; mend what they wait for",
        sure: Sure::Guess,
        sources: &[seen("https://github.com/opencontainers/runc (libcontainer)", "2026-12-01")],
        samples: &["OCI runtime pause failed: timeout of 10s reached waiting for the cgroup to freeze"],
        ..TOOL
    },
    Cause {
        id: "oci.rootless_dbus",
        sign: r"failed to connect to dbus \(hint: for rootless containers",
        says: "a container without root finds no dbus of its user",
        means: "With cgroups of version 2 the runtime asks the systemd of the user, and this login has none.",
        act: "install dbus-user-session, log in by ssh or the console and not by `su`, `loginctl enable-linger USER`; or `--cgroup-manager=cgroupfs` of Podman",
        remedy: Remedy::Settings,
        sources: &[seen("https://github.com/opencontainers/runc (libcontainer)", "2026-12-01")],
        samples: &[
            "failed to connect to dbus (hint: for rootless containers, maybe you need to install dbus-user-session package, see https://github.com/opencontainers/runc/blob/master/docs/cgroup-v2.md): dial unix /run/user/1000/bus: connect: no such file or directory",
        ],
        ..TOOL
    },
    Cause {
        id: "toolkit.devices_denied",
        sign: r"nvidia-container-cli:.*devices\.allow: operation not permitted",
        says: "the container toolkit may not set which devices a container sees",
        means: "It runs without the rights for that: in a container (LXC, Docker in Docker), or rootless. Driver and GPU are sound.",
        act: "set `no-cgroups = true` in /etc/nvidia-container-runtime/config.toml and hand the devices over by the outer container; or use CDI; or run the outer container privileged",
        remedy: Remedy::Settings,
        sources: &[seen("https://github.com/NVIDIA/nvidia-docker/issues/1441", "2020-12-31")],
        samples: &[
            "nvidia-container-cli: mount error: write error: /sys/fs/cgroup/devices/docker/fc84e2a6/devices.allow: operation not permitted: unknown",
        ],
        ..TOOL
    },
    Cause {
        id: "toolkit.no_driver_files",
        sign: r"failed to locate (libcuda\.so|driver libraries|versioned driver libraries)|failed to determine driver version",
        says: "nvidia-ctk finds no driver libraries on this host",
        means: "A CDI specification names the libraries of the driver, and libcuda.so is not where the toolkit looks.",
        act: "`nvidia-smi` and `ldconfig -p | grep libcuda` on the host: install the libraries of the running driver; where they lie elsewhere (a driver container) give `--driver-root`, then generate the specification again",
        remedy: Remedy::Install,
        sources: &[seen(
            "https://github.com/NVIDIA/nvidia-container-toolkit (pkg/nvcdi, internal/discover)",
            "2026-12-01",
        )],
        samples: &[
            "ERRO[0000] failed to generate CDI spec: failed to create discoverer for driver files: failed to determine driver version: failed to locate libcuda.so",
        ],
        ..TOOL
    },
    Cause {
        id: "toolkit.cdi_spec",
        sign: "failed to (generate|save|load|transform) CDI spec(ification)?|failed to create device CDI specs",
        says: "nvidia-ctk could not write the CDI specification",
        means: "The words behind it name what it did not find: NVML, a device node, a library, or a folder that it may not write.",
        role: Role::Effect,
        act: "look at the rest of the line: `nvidia-smi` on the host has to work, and the command needs root; then `nvidia-ctk cdi generate --output=/etc/cdi/nvidia.yaml`",
        remedy: Remedy::Settings,
        sure: Sure::Guess,
        sources: &[seen(
            "https://github.com/NVIDIA/nvidia-container-toolkit (pkg/nvcdi, cmd/nvidia-ctk)",
            "2026-12-01",
        )],
        samples: &[
            r#"level=error msg="failed to save CDI spec for management containers: open /var/run/cdi/nvidia.yaml: permission denied""#,
        ],
        ..TOOL
    },
    Cause {
        id: "kube.plugin_nvml_init",
        sign: r"error calling nvml\.Init: (?<reason>Unknown Error|[A-Z][A-Za-z /]+)|Failed to start nvml with error|Failed to initialize NVML: could not load NVML",
        says: "the device plugin of this node cannot open NVML[ ({reason})]",
        means: r#"With "could not load" its container does not run under the NVIDIA runtime. With "Unknown Error" the container lost its GPUs: systemd was reloaded, and the rules for devices went with it. With a mismatch the driver was updated below it."#,
        act: r#"`nvidia-smi` on the node; where that works delete the pod of the plugin. When it returns let the runtime hand devices over by CDI, or make the links below /dev/char (`nvidia-ctk system create-dev-char-symlinks --create-all`); for "could not load" make nvidia the default runtime or give the pod `runtimeClassName: nvidia`"#,
        remedy: Remedy::Settings,
        sure: Sure::Likely,
        sources: &[
            seen("https://github.com/NVIDIA/k8s-device-plugin/issues/1397", "2025-08-28"),
            seen("https://github.com/NVIDIA/k8s-device-plugin/issues/23", "2018-01-25"),
        ],
        samples: &[
            "Allocate failed due to device plugin GetPreferredAllocation rpc failed with err: rpc error: code = Unknown desc = unable to get device link information: error calling nvml.Init: Unknown Error, which is unexpected",
            "2018/01/19 06:26:32 Failed to start nvml with error: could not load NVML library.",
        ],
        ..TOOL
    },
    Cause {
        id: "operator.daemons",
        sign: "Could not stop (NVIDIA|NVLink) [A-Za-z ]*(daemon|Manager)",
        says: "the driver container could not stop a daemon of the driver",
        means: "A program still uses it. The modules cannot be unloaded while it runs.",
        role: Role::Effect,
        act: "look for programs and pods that use GPUs on the node (`fuser -v /dev/nvidia*`), end them, then let the pod start again",
        remedy: Remedy::Settings,
        sure: Sure::Guess,
        sources: &[seen(
            "https://github.com/NVIDIA/gpu-driver-container (ubuntu22.04/nvidia-driver)",
            "2026-12-01",
        )],
        samples: &["Could not stop NVIDIA fabric manager daemon"],
        ..TOOL
    },
    Cause {
        id: "dcgm.exporter_pods",
        sign: r"failed to connect to \S*/pod-resources/kubelet\.sock",
        says: "dcgm-exporter does not reach the kubelet for the names of pods",
        means: "The socket is not mounted into its pod, or the kubelet does not run. Metrics of GPUs come without pods.",
        act: "mount /var/lib/kubelet/pod-resources into the pod, or set `DCGM_EXPORTER_KUBERNETES=false` where names of pods are not wanted",
        remedy: Remedy::Settings,
        sure: Sure::Likely,
        sources: &[seen(
            "https://github.com/NVIDIA/dcgm-exporter (internal/pkg/transformation)",
            "2026-12-01",
        )],
        samples: &[
            "failed to transform metrics for transform 'podMapper'; err: failed to connect to /var/lib/kubelet/pod-resources/kubelet.sock",
        ],
        ..TOOL
    },
];
