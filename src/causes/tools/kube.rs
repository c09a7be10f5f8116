//! Kubernetes itself: kubeadm, kubelet, scheduling, volumes, rights, pod networks; and more of its plugins for GPUs and cards.

use super::super::cause::{Cause, Counts, Remedy, Role, Sure, TOOL, seen};

const KUBE: Cause = Cause {
    remedy: Remedy::Settings,
    sources: &[seen("https://kubernetes.io/docs/tasks/debug/debug-application/", "2026-11-30")],
    ..TOOL
};
const KUBEADM: Cause = Cause {
    remedy: Remedy::Settings,
    sources: &[seen(
        "https://kubernetes.io/docs/setup/production-environment/tools/kubeadm/troubleshooting-kubeadm/",
        "2026-11-30",
    )],
    ..TOOL
};
const NET: Cause = Cause {
    remedy: Remedy::Settings,
    sources: &[seen(
        "https://kubernetes.io/docs/tasks/administer-cluster/migrating-from-dockershim/troubleshooting-cni-plugin-related-errors/",
        "2026-11-30",
    )],
    ..TOOL
};
const PLUGIN: Cause = Cause {
    remedy: Remedy::Settings,
    sources: &[seen("https://github.com/NVIDIA/k8s-device-plugin (internal/rm)", "2026-11-30")],
    ..TOOL
};

pub(in crate::causes) const ROWS: &[Cause] = &[
    // GPUs.
    Cause {
        id: "cdi.management_class",
        sign: r"unresolvable CDI devices? (?<device>management\.nvidia\.com/gpu=[^ :,]+)",
        says: "the runtime looks for a GPU under the operator's own class ({device})",
        means: "The specification management.nvidia.com of the GPU operator has only `all` and is for its own pods. A pod of a user comes there by its runtimeClassName while the runtime hands devices over by CDI.",
        act: "leave runtimeClassName out of the pod (with native CDI it is not wanted); driver and GPU are well",
        samples: &[
            "failed to inject CDI devices: unresolvable CDI devices management.nvidia.com/gpu=GPU-00000000-0000-0000-0000-000000000000",
        ],
        ..PLUGIN
    },
    Cause {
        id: "operator.dev_char",
        sign: r"error creating symlink creator: failed to (load NVIDIA kernel modules|create NVIDIA device nodes)",
        says: "the validator of the GPU operator could not make links in /dev/char",
        means: "For these links it wants to load all modules of the driver, nvidia_modeset among them, which cannot be loaded on this host or in this driver. CUDA does not need that one.",
        act: "where `nvidia-smi` works on the node, set DISABLE_DEV_CHAR_SYMLINK_CREATION=true for the validator (validator.driver.env of ClusterPolicy), as the text itself says; the GPU is well",
        sources: &[seen(
            "https://github.com/NVIDIA/gpu-operator (cmd/nvidia-validator/main.go)",
            "2026-11-30",
        )],
        samples: &[
            "Error: error validating driver installation: error creating symlink creator: failed to load NVIDIA kernel modules: failed to load module nvidia-modeset: exit status 1; output=modprobe: ERROR: could not insert 'nvidia_modeset': No such device",
        ],
        ..PLUGIN
    },
    Cause {
        id: "kube.plugin_wsl",
        sign: r"error getting (GPU )?device (paths|minor number)[^:]*: .*Not Supported|error getting GPU device minor number: Not Supported",
        says: "the device plugin asks for a number that this kind of GPU does not have",
        means: "On WSL (and Tegra) NVML has no minor number, which older device plugins want.",
        act: "take a k8s-device-plugin from 0.14 on, which knows WSL, or hand the device over by CDI",
        remedy: Remedy::Install,
        samples: &[
            "error building Device: error getting device paths: error getting GPU device minor number: Not Supported",
        ],
        ..PLUGIN
    },
    Cause {
        id: "kube.mig_strategy",
        sign: r"Invalid configuration detected for mig-strategy=(?<strategy>[a-z]+): ?(?<why>.*)|at least one device with migEnabled=true was not configured correctly|[Mm]ore than one MIG device type present|devices? with MIG enabled and disabled",
        says: "the MIG devices of the node do not fit the strategy[ {strategy}][: {why}]",
        means: "The strategy `single` wants MIG on all GPUs of the node and devices of one kind; a GPU has MIG on and no instances, or they differ.",
        act: "`nvidia-smi -L` and `nvidia-smi mig -lgi`; make the same instances on all GPUs (the label nvidia.com/mig.config of the operator), or take the strategy `mixed` or none; then restart the plugin's pod",
        samples: &[
            "Invalid configuration detected for mig-strategy=single: at least one device with migEnabled=true was not configured correctly: device 0 has an invalid MIG configuration",
        ],
        ..PLUGIN
    },
    Cause {
        id: "kube.plugin_register",
        sign: r"Could not register device plugin: (?<why>.+)|GRPC server for '[^']+' crashed|Failed to start one or more (plugins|MPS dea?mons)\. Retrying",
        role: Role::Effect,
        says: "the device plugin is not registered with kubelet[ ({why})]",
        means: "kubelet does not answer on its socket: it restarts, has another folder (k3s, MicroK8s), or the plugin has no right to it.",
        act: "`ls /var/lib/kubelet/device-plugins/kubelet.sock` on the node and the plugin's hostPath; restart the plugin's pod after kubelet is up",
        passing: true,
        samples: &["Failed to start one or more plugins. Retrying in 30s..."],
        ..PLUGIN
    },
    Cause {
        id: "operator.entitlement",
        sign: r"RHEL entitlement may be improperly deployed|failed to reach RHEL package repositories|Unable to resolve RHEL version from kernel version|failed to update the dnf metadata cache after multiple attempts",
        says: "the driver container does not reach the packages of RHEL",
        means: "The node has no entitlement for RHEL's repositories, or is offline; on OpenShift the driver toolkit image should be used in place of it.",
        act: "on OpenShift look why the driver toolkit is not found (Node Feature Discovery, the image stream driver-toolkit); on RHEL subscribe the node or give the operator a repository (`driver.repoConfig`)",
        sources: &[seen(
            "https://github.com/NVIDIA/gpu-driver-container (rhel8, rhel9: nvidia-driver)",
            "2026-11-30",
        )],
        samples: &[
            "FATAL: failed to install elfutils-libel-devel. RHEL entitlement may be improperly deployed.",
        ],
        ..PLUGIN
    },
    Cause {
        id: "operator.driver_install",
        sign: r"ERROR: Failed to update (package cache|the NVIDIA driver)|Previous NVIDIA driver installation cannot be removed\. Exiting|Failed to load nvidia driver|failed to load nvidia-peermem module|Could not locate Linux kernel version string|invalid value for the KERNEL_MODULE_TYPE",
        role: Role::Effect,
        says: "the driver container of the GPU operator could not install the driver",
        means: "Its own lines before say why: no network to the packages, headers of the kernel that are missing, modules that are in use or not signed.",
        act: "`kubectl logs` of nvidia-driver-daemonset (container nvidia-driver-ctr) from the start, and `dmesg | tail` on the node",
        sure: Sure::Guess,
        sources: &[seen("https://github.com/NVIDIA/gpu-driver-container (nvidia-driver)", "2026-11-30")],
        samples: &["ERROR: Failed to update package cache. "],
        ..PLUGIN
    },
    Cause {
        id: "kube.plugin_nvml_library",
        sign: "nvml init failed: (?<why>ERROR_LIBRARY_NOT_FOUND|[A-Z_a-z ]+)|NVML not detected: (?<not>could not load NVML library.*)",
        says: "the device plugin sees no NVIDIA driver[: {why}][: {not}]",
        means: "Its container has no libnvidia-ml.so.1: it was not started by the NVIDIA runtime, may not see the devices, or the driver lies at another root.",
        act: "`nvidia-smi` on the node; then give the plugin `runtimeClassName: nvidia` (or make nvidia the default runtime of containerd); with deviceListStrategy volume-mounts and plugin 0.16 or newer it also needs the capability SYS_ADMIN; a driver below another root is named by `nvidiaDriverRoot`",
        sources: &[
            seen("https://github.com/NVIDIA/k8s-device-plugin/issues/856", "2024-08-01"),
            seen("https://github.com/NVIDIA/k8s-device-plugin/issues/1371", "2025-08-19"),
        ],
        samples: &[
            "unable to create plugin manager: nvml init failed: ERROR_LIBRARY_NOT_FOUND",
            "rm.go:109] NVML not detected: could not load NVML library: libnvidia-ml.so.1: cannot open shared object file: No such file or directory",
        ],
        ..PLUGIN
    },
    Cause {
        id: "kube.plugin_not_supported",
        sign: "(?:Fatal|panic): (?:Fatal: )?nvml: Not Supported",
        says: "the device plugin asks the driver for something that this GPU cannot tell",
        means: "Old releases of the plugin end there, as consumer and old cards do not answer each question of NVML.",
        act: "take a newer release of the plugin; the GPU and its driver are sound",
        remedy: Remedy::Install,
        sure: Sure::Guess,
        sources: &[seen("https://github.com/NVIDIA/k8s-device-plugin/issues/11", "2017-11-29")],
        samples: &["2017/11/29 06:41:10 Fatal: nvml: Not Supported"],
        ..PLUGIN
    },
    Cause {
        id: "kube.plugin_nvml",
        sign: r"(failed to construct (NVML )?resource managers?|error building (device|GPU device|MIG device) map|failed to create labels|error creating [a-zA-Z ]*labeler|error visiting (device|MIG)|failed to get device(s)?|error getting (MIG|mig|GPU|device|UUID|PCI|CUDA|cuda|driver)[a-zA-Z ]*|Could not determine device placement|Failed to determine uuid for event).*: (?<why>ERROR_[A-Z_]+|Unknown Error|[A-Z][A-Za-z ]+)$",
        role: Role::Effect,
        says: "the device plugin or feature discovery got an error of the driver ({why})",
        means: "NVML on this node fails for a GPU or a MIG device. The plugin only passes it on.",
        act: "`nvidia-smi` and `nvidia-smi -L` on the node, `dmesg | grep -iE 'xid|NVRM'`; after MIG was changed restart the plugin's pod",
        sure: Sure::Guess,
        samples: &[
            "failed to create labels: error creating NVML labeler: error creating mig capability labeler: error getting mig capability: error getting MIG mode: Unknown Error",
        ],
        ..PLUGIN
    },
    Cause {
        id: "kube.plugin_no_nvml",
        sign: r"Detected non-NVML platform: could not load NVML( library)?: (?<why>.+)|Failed to initialize NVML: (?<reason>ERROR_[A-Z_]+|Driver Not Loaded)",
        says: "the device plugin finds no driver in its container[ ({why})][ ({reason})]",
        means: "Its container does not run under the NVIDIA runtime, or the node has no driver (or its version changed under it).",
        act: "`nvidia-smi` on the node; then nvidia as the default runtime or `runtimeClassName: nvidia` for the plugin, restart containerd, delete its pod; on a node without GPUs it is right",
        samples: &[
            "I... Detected non-NVML platform: could not load NVML: libnvidia-ml.so.1: cannot open shared object file: No such file or directory",
            "E... Failed to initialize NVML: ERROR_LIBRARY_NOT_FOUND.",
        ],
        ..PLUGIN
    },
    Cause {
        id: "kube.plugin_xid",
        sign: r"XidCriticalError.*Xid ?= ?(?<xid>[0-9]+) on (Device|GPU) ?= ?(?<gpu>[^ ,;\x22]+)|[Mm]arking device as unhealthy: (?<other>[^ ]+)|health.*: device (?<third>GPU-[^ ]+) .*unhealthy",
        says: "the device plugin took a GPU out of service[ (Xid {xid}, {gpu})][ ({other})]",
        means: "The driver reported an error of the GPU. Pods on it may have failed.",
        act: "`dmesg | grep -i xid` on the node for the Xid and those before it: its number says whether the program, a reset or the GPU is the matter; the plugin's pod has to be restarted before the GPU is offered again",
        samples: &[
            "level=info msg=\"'XidCriticalError' Xid=79 on Device=GPU-8d042338, the device will go unhealthy.\"",
        ],
        ..PLUGIN
    },
    Cause {
        id: "operator.toolkit_config",
        sign: r"error running nvidia-toolkit: (?<why>.+)|unable to setup runtime: (unable|failed) to .*",
        says: "the toolkit of the GPU operator could not write the runtime's settings",
        means: "The file or socket of containerd is elsewhere (k3s, rke2, MicroK8s), is broken, or is read-only.",
        act: "set CONTAINERD_CONFIG and CONTAINERD_SOCKET in `toolkit.env` of the operator for this distribution (k3s: /var/lib/rancher/k3s/agent/etc/containerd/config.toml.tmpl and /run/k3s/containerd/containerd.sock), then look at its pod again",
        sources: &[seen(
            "https://docs.nvidia.com/datacenter/cloud-native/gpu-operator/latest/getting-started.html",
            "2026-11-30",
        )],
        samples: &[
            "time=\"2024-05-01T10:00:00Z\" level=error msg=\"error running nvidia-toolkit: unable to setup runtime: unable to load config: open /etc/containerd/config.toml: no such file or directory\"",
        ],
        ..PLUGIN
    },
    Cause {
        id: "kube.sriov_vf",
        sign: r"SRIOV-CNI failed to configure VF .?\x22?(?<why>.+?)\x22?$|failed to set up pod interface .* from the device|failed to set vf [0-9]+ (?<what>[a-z ]+)",
        says: "a virtual function could not be set up for the pod[: {why}]",
        means: "The physical function does not take the setting (VLAN, MAC, spoof check, trust), or the function was left in a bad state by a pod before.",
        act: "`ip link show PF` on the node and `dmesg | tail`; take the option out of the NetworkAttachmentDefinition that the card does not have; else set the number of VFs anew while no pod uses them",
        sure: Sure::Guess,
        sources: &[seen(
            "https://github.com/k8snetworkplumbingwg/sriov-cni (cmd/sriov/main.go)",
            "2026-11-30",
        )],
        samples: &["SRIOV-CNI failed to configure VF \"failed to set vf 3 vlan configuration - id 10\""],
        ..PLUGIN
    },
    // Scheduling, rights, objects.
    Cause {
        id: "kube.insufficient_other",
        sign: r"[0-9]+/[0-9]+ nodes are available: .*Insufficient (?<resource>cpu|memory|ephemeral-storage|pods|hugepages-[0-9A-Za-z]+)",
        role: Role::Effect,
        says: "no node has enough {resource} free for the pod",
        means: "Requests of all pods are summed up; what is really used does not count.",
        counts: Counts::Warn,
        act: "`kubectl describe node | grep -A8 'Allocated resources'`; lower the request, end other pods, or add a node",
        samples: &["0/3 nodes are available: 3 Insufficient memory."],
        ..KUBE
    },
    Cause {
        id: "kube.volume_unbound",
        sign: r"pod has unbound immediate PersistentVolumeClaims|persistentvolumeclaim .?(?<claim>[^ \x22]+).? not found|no persistent volumes available for this claim and no storage class is set|storageclass\.storage\.k8s\.io .?(?<class>[^ \x22]+).? not found|waiting for first consumer to be created",
        says: "a volume claim of the pod is not bound[: {claim} is not there][: no storage class {class}]",
        means: "No volume fits the claim, no storage class (default) makes one, or the claim has another name or namespace.",
        counts: Counts::Warn,
        act: "`kubectl get pvc,pv,storageclass` and `kubectl describe pvc`: create the class or volume, or name the right one",
        samples: &["0/4 nodes are available: pod has unbound immediate PersistentVolumeClaims."],
        ..KUBE
    },
    Cause {
        id: "kube.volume_elsewhere",
        sign: r"node\(s\) had volume node affinity conflict|Multi-Attach error for volume .*(already (exclusively attached|used)|Volume is already)",
        says: "a volume of the pod is bound to another node",
        means: "A local or zonal volume exists on one node only, or the pod that used it before is not gone from its node.",
        act: "look for the node of the volume (`kubectl get pv -o wide`, its nodeAffinity) and for the old pod; end that one, or let the pod run there; shared storage needs ReadWriteMany",
        samples: &[
            "0/4 nodes are available: 1 node(s) had volume node affinity conflict.",
            "Multi-Attach error for volume \"pvc-1\" Volume is already used by pod(s) train-0",
        ],
        ..KUBE
    },
    Cause {
        id: "kube.csi_missing",
        sign: r"driver name (?<driver>[^ ]+) not found in the list of registered CSI drivers",
        says: "the CSI driver {driver} does not run on this node",
        means: "Its node plugin (a DaemonSet) is missing, crashes, or has not registered yet after a start of the node.",
        act: "`kubectl get pods -A -o wide | grep csi` for its pod on that node and its log; `kubectl get csinode NODE -o yaml`; on distributions with another kubelet folder set its path",
        passing: true,
        sources: &[seen(
            "https://github.com/kubernetes/kubernetes (pkg/volume/csi/csi_client.go)",
            "2026-11-30",
        )],
        samples: &[
            "MountVolume.SetUp failed for volume \"x\" : kubernetes.io/csi: mounter.SetUpAt failed to get CSI client: driver name nfs.csi.k8s.io not found in the list of registered CSI drivers",
        ],
        ..KUBE
    },
    Cause {
        id: "kube.object_missing",
        sign: r"(Error: |: )(?<kind>secret|configmap) .(?<name>[^ \x22]+).? not found|couldn't find key (?<key>[^ ]+) in (?<where>Secret|ConfigMap) (?<object>[^ ]+)|references non-existent (secret|config) key: (?<other>[^ ]+)",
        says: "the pod asks for a secret, a configmap or a key that is not there[: {name}][: {key} in {object}]",
        means: "It has another name, lies in another namespace, or was not created.",
        act: "`kubectl get secret,configmap -n NAMESPACE`: create it there, or correct the name",
        sure: Sure::Confirmed,
        samples: &[
            "Error: secret \"hf-token\" not found",
            "Error: couldn't find key token in Secret default/hf",
        ],
        ..KUBE
    },
    Cause {
        id: "kube.forbidden",
        sign: r"is forbidden: User .?(?<user>[^ \x22]+).? cannot (?<verb>[a-z]+) resource .?(?<resource>[^ \x22]+)",
        says: "the account {user} may not {verb} {resource}",
        means: "No role of this account (or service account) allows it.",
        act: "`kubectl auth can-i {verb} {resource} --as {user}`; add a RoleBinding or ClusterRoleBinding",
        sure: Sure::Confirmed,
        samples: &[
            "Error from server (Forbidden): pods is forbidden: User \"alice\" cannot list resource \"pods\" in API group \"\" in the namespace \"default\"",
        ],
        ..KUBE
    },
    Cause {
        id: "kube.unauthorized",
        sign: r"You must be logged in to the server \(?([Uu]nauthorized|the server has asked for the client to provide credentials)|Unable to authenticate the request|getting credentials: exec: ",
        says: "the API server does not know this client",
        means: "The certificate or token in the kubeconfig ran out or is of another cluster, or the helper that makes it fails.",
        act: "`kubectl config current-context`, the end date of the certificate (`kubeadm certs check-expiration`), a new kubeconfig or login",
        samples: &["error: You must be logged in to the server (Unauthorized)"],
        ..KUBE
    },
    Cause {
        id: "kube.quota",
        sign: r"exceeded quota: (?<quota>[^,]+), requested: (?<requested>[^,]+), used: (?<used>[^,]+), limited: (?<limit>[^ ,]+)",
        says: "the quota {quota} of the namespace is used up ({requested}, limit {limit})",
        means: "The sum of the namespace would go over its ResourceQuota.",
        act: "`kubectl describe quota -n NAMESPACE`: end pods, ask for less, or raise it",
        sure: Sure::Confirmed,
        samples: &[
            "pods \"train-0\" is forbidden: exceeded quota: compute, requested: requests.nvidia.com/gpu=8, used: requests.nvidia.com/gpu=8, limited: requests.nvidia.com/gpu=8",
        ],
        ..KUBE
    },
    Cause {
        id: "kube.pod_security",
        sign: r"violates PodSecurity .?\x22?(?<level>[a-z]+):|unable to validate against any (pod security policy|security context constraint)",
        says: "the namespace does not allow what the pod asks for[ ({level})]",
        means: "Pod Security (or an SCC of OpenShift) forbids privileged pods, host paths or capabilities there.",
        act: "`kubectl label namespace NAMESPACE pod-security.kubernetes.io/enforce=privileged` for operators of drivers (OpenShift: an SCC for the service account), or take the right out of the pod",
        sure: Sure::Confirmed,
        samples: &[
            "pods \"x\" is forbidden: violates PodSecurity \"restricted:latest\": privileged (container \"x\" must not set securityContext.privileged=true)",
        ],
        ..KUBE
    },
    Cause {
        id: "kube.no_kind",
        sign: r"no matches for kind .?(?<kind>[^ \x22]+).? in version .?(?<version>[^ \x22]+)|the server doesn't have a resource type .?(?<type>[^ \x22]+)|[Cc]ould not find the requested resource",
        says: "the cluster does not know this kind of object[: {kind} of {version}][: {type}]",
        means: "Its definition (CRD) is not installed, or the version was removed from this Kubernetes.",
        act: "`kubectl api-resources | grep -i KIND`; install the operator or its CRDs first, or write the version that this cluster has",
        sure: Sure::Confirmed,
        samples: &[
            "resource mapping not found: no matches for kind \"ClusterPolicy\" in version \"nvidia.com/v1\"",
        ],
        ..KUBE
    },
    Cause {
        id: "kube.webhook",
        sign: r"failed calling webhook .?(?<hook>[^ \x22:]+).?: .*(?<why>context deadline exceeded|connection refused|no endpoints available|i/o timeout|no route to host|x509[^\x22]*|EOF)",
        role: Role::Effect,
        says: "the webhook {hook} did not answer ({why})",
        means: "The API server asks it before it takes an object. Its pod does not run or is not reached.",
        act: "`kubectl get pods,endpoints -A` for the service that the line names; a webhook left over of something that was removed is deleted (`kubectl get validatingwebhookconfigurations,mutatingwebhookconfigurations`)",
        samples: &[
            "Internal error occurred: failed calling webhook \"validate.nginx.ingress.kubernetes.io\": failed to call webhook: Post \"https://ingress.svc:443/\": context deadline exceeded",
        ],
        ..KUBE
    },
    Cause {
        id: "kube.drain",
        sign: r"error: unable to drain node|cannot delete (DaemonSet-managed Pods|Pods (declare no controller|with local storage|not managed by))|Cannot evict pod as it would violate the pod's disruption budget",
        says: "the node is not drained, as pods stand in the way",
        means: "kubectl drain leaves pods of DaemonSets, pods without a controller, and pods with local data alone, unless it is told to; a disruption budget holds others.",
        counts: Counts::Warn,
        act: "`--ignore-daemonsets` is usual; look at the pods that it names before `--delete-emptydir-data` or `--force`, as these lose their data; for a budget wait or scale up",
        samples: &[
            "error: unable to drain node \"gpu0\" due to error: cannot delete DaemonSet-managed Pods (use --ignore-daemonsets to ignore): kube-system/calico-node-x",
        ],
        ..KUBE
    },
    Cause {
        id: "kube.probe",
        sign: r"(?<probe>Readiness|Liveness|Startup) probe (failed|errored): ?(?<why>.*)",
        role: Role::Effect,
        says: "a probe of a container failed ({probe}: {why})",
        means: "The program in it does not answer yet, or not in time. A liveness probe that fails restarts it.",
        counts: Counts::Warn,
        act: "`kubectl logs` of the container (and `--previous`); a large model or driver that takes long wants a startupProbe with more time",
        remedy: Remedy::Look,
        sure: Sure::Guess,
        samples: &[
            "Warning  Unhealthy  3s (x12 over 1m)  kubelet  Readiness probe failed: HTTP probe failed with statuscode: 503",
        ],
        ..KUBE
    },
    Cause {
        id: "kube.cgroup_create",
        sign: r"Failed to start ContainerManager.*: (?<why>.+)",
        role: Role::Effect,
        says: "kubelet could not set up its control groups ({why})",
        means: "The driver of cgroups differs from that of the runtime, the kernel lacks a controller, or cgroup v1 is not taken by this version any more.",
        act: "`stat -fc %T /sys/fs/cgroup`; the same cgroupDriver in kubelet and containerd (systemd); boot with the unified cgroups for Kubernetes 1.35 and newer",
        sure: Sure::Guess,
        samples: &[
            "\"Failed to start ContainerManager\" err=\"failed to initialize top level QOS containers: root container [kubepods] doesn't exist\"",
        ],
        ..KUBE
    },
    // kubeadm.
    Cause {
        id: "kubeadm.cri",
        sign: r"unknown service (runtime\.v1(alpha2)?\.RuntimeService|api\.v1\.CRIPluginService)",
        says: "containerd runs without its CRI",
        means: "config.toml of containerd (of Docker's package) has `disabled_plugins = [\"cri\"]`, is broken, or containerd is too old for this Kubernetes.",
        act: "`containerd config default > /etc/containerd/config.toml` (keep the old file), `SystemdCgroup = true` in it, the NVIDIA runtime again by nvidia-ctk, `systemctl restart containerd`; then kubeadm again",
        sure: Sure::Confirmed,
        samples: &[
            "[ERROR CRI]: container runtime is not running: output: time=\"2024-01-01T10:00:00Z\" level=fatal msg=\"validate service connection: CRI v1 runtime API is not implemented for endpoint \\\"unix:///var/run/containerd/containerd.sock\\\": rpc error: code = Unimplemented desc = unknown service runtime.v1.RuntimeService\"",
        ],
        ..KUBEADM
    },
    Cause {
        id: "kubeadm.token",
        sign: r"could not find a JWS signature in the cluster-info ConfigMap for token ID .?(?<token>[a-z0-9]+)|invalid bootstrap token|token .* has expired",
        says: "the token for joining the cluster has expired",
        means: "A bootstrap token lives 24 hours. A clock that is wrong does the same.",
        act: "on the control plane `kubeadm token create --print-join-command`, and use that line; compare `date` of both hosts",
        samples: &[
            "error execution phase preflight: couldn't validate the identity of the API Server: could not find a JWS signature in the cluster-info ConfigMap for token ID \"xbzz28\"",
        ],
        ..KUBEADM
    },
    Cause {
        id: "kubeadm.preflight",
        sign: r"\[ERROR (?<check>[A-Za-z0-9_-]+)\]: (?<why>.+)",
        says: "kubeadm found something that is not ready: {why}",
        means: "The check {check} of kubeadm failed before anything was changed.",
        act: "mend what the line names: ip_forward and br_netfilter by sysctl and modules (playbook `sysctl`), a port or file of an older cluster by `kubeadm reset`, swap by `swapoff -a`",
        sure: Sure::Confirmed,
        samples: &[
            "[ERROR FileContent--proc-sys-net-ipv4-ip_forward]: /proc/sys/net/ipv4/ip_forward contents are not set to 1",
            "[ERROR Port-10250]: Port 10250 is in use",
        ],
        ..KUBEADM
    },
    Cause {
        id: "kubelet.no_config",
        sign: r"failed to load [Kk]ubelet config file[,:]? .?(?<file>/var/lib/kubelet/config\.yaml)|open /var/lib/kubelet/config\.yaml: no such file|open /etc/kubernetes/bootstrap-kubelet\.conf: no such file",
        says: "kubelet has no settings yet",
        means: "Before `kubeadm init` or `join` kubelet restarts every few seconds; that is right. On a node that was in a cluster its files are gone.",
        counts: Counts::Warn,
        act: "join the node (`kubeadm join`); a node that was joined before: `kubeadm reset`, then join it anew",
        samples: &[
            "\"command failed\" err=\"failed to load kubelet config file, path: /var/lib/kubelet/config.yaml, error: failed to load Kubelet config file /var/lib/kubelet/config.yaml, error failed to read kubelet config file\"",
        ],
        ..KUBEADM
    },
    Cause {
        id: "kubelet.not_running",
        sign: r"localhost:10248/healthz.*(connection refused|connect:)|The kubelet is not (running|healthy)|It seems like the kubelet isn't running or healthy",
        role: Role::Effect,
        says: "kubelet does not run or is not well",
        means: "kubeadm waits for it in vain.",
        act: "`systemctl status kubelet` and `journalctl -u kubelet -n 50`: swap, cgroup drivers and a missing runtime are usual",
        samples: &[
            "[kubelet-check] The HTTP call equal to 'curl -sSL http://localhost:10248/healthz' failed with error: Get \"http://localhost:10248/healthz\": dial tcp 127.0.0.1:10248: connect: connection refused.",
        ],
        ..KUBEADM
    },
    Cause {
        id: "kubelet.no_node",
        sign: r"(Error getting node|Unable to register node|error getting node).*node [\\\x22]*(?<node>[^ \x22\\]+)[\\\x22]* ?not found|nodes [\\\x22]*(?<other>[^ \x22\\]+)[\\\x22]* not found",
        role: Role::Effect,
        says: "kubelet's node is not known to the cluster[: {node}][: {other}]",
        means: "The API server was not reached when it registered, the node's name changed, or it was deleted.",
        act: "look at the lines about the API server first; `hostname` against `kubectl get nodes`; restart kubelet, or join the node anew",
        sure: Sure::Guess,
        samples: &["\"Error getting node\" err=\"node \\\"gpu0\\\" not found\""],
        ..KUBEADM
    },
    Cause {
        id: "etcd.space",
        sign: r"etcdserver: mvcc: database space exceeded|alarm:NOSPACE",
        says: "the database of etcd reached its size limit",
        means: "etcd takes no more writes until it is compacted and the alarm is taken back.",
        act: "`etcdctl endpoint status -w table`; compact, `etcdctl defrag`, `etcdctl alarm disarm`, as the page says; raise quota-backend-bytes where the data is meant",
        sure: Sure::Confirmed,
        sources: &[seen("https://etcd.io/docs/v3.5/op-guide/maintenance/", "2026-11-30")],
        samples: &["etcdserver: mvcc: database space exceeded"],
        ..KUBEADM
    },
    Cause {
        id: "etcd.slow",
        sign: r"etcdserver: (request timed out|leader changed|no leader|too many requests)|apply request took too long|slow fdatasync|failed to send out heartbeat on time",
        role: Role::Effect,
        says: "etcd is slow or lost its leader",
        means: "The disk of the control plane is too slow, mostly, or the network between its members.",
        counts: Counts::Warn,
        act: "`etcdctl endpoint status -w table`, `iostat -x 1` on the control plane; put etcd on an SSD of its own; where a member is down start it",
        sources: &[seen("https://etcd.io/docs/v3.5/faq/", "2026-11-30")],
        samples: &["etcdserver: request timed out", "etcdserver: leader changed"],
        ..KUBEADM
    },
    // Pod networks.
    Cause {
        id: "kube.cni_folder_removed",
        sign: r#"failed to reload cni configuration after receiving fs change event\([^)]*REMOVE[^)]*?(?:\\?")(?<dir>/[^"\\ )]*/net\.d)\\?""#,
        says: "the folder {dir} was removed while containerd ran",
        means: "containerd watches that very folder and no longer sees files in one that is made anew, so the node stays NotReady while the pod of its network runs.",
        act: "`systemctl restart containerd`, then look whether {dir} has the file of the network; nothing is to be installed anew",
        remedy: Remedy::Settings,
        sure: Sure::Confirmed,
        sources: &[
            seen("https://github.com/flannel-io/flannel/discussions/2039", "2024-08-28"),
            seen(
                "https://github.com/containerd/containerd (internal/cri/server/cni_conf_syncer.go)",
                "2026-12-01",
            ),
        ],
        samples: &[
            r#"level=error msg="failed to reload cni configuration after receiving fs change event(REMOVE        \"/etc/cni/net.d\")" error="cni config load failed: no network config found in /etc/cni/net.d: cni plugin not initialized: failed to load cni config""#,
        ],
        ..NET
    },
    Cause {
        id: "kube.cni_file_bad",
        sign: r#"(?:failed to (?:re)?load cni (?:configuration|during init).*|cni config load failed: )error parsing configuration(?: list)?(?: file)?:? ?(?<why>[^"]+)"#,
        says: "a file of the pod network in /etc/cni/net.d cannot be read: {why}",
        means: "The JSON of the file, or a key in it, is wrong. containerd takes the first file by name.",
        act: "`ls /etc/cni/net.d` and `jq . FILE` of each: mend or remove the wrong one (left over from another network), then look at `crictl info | grep -A5 lastCNILoadStatus`",
        remedy: Remedy::Settings,
        sure: Sure::Likely,
        sources: &[seen("https://github.com/containerd/go-cni (opts.go)", "2026-12-01")],
        samples: &[
            r#"failed to load cni during init, please check CRI plugin status before setting up network for pods" error="cni config load failed: error parsing configuration list: missing 'plugins' key"#,
        ],
        ..NET
    },
    Cause {
        id: "gke.driver_not_installed",
        sign: "GPU driver auto installation is disabled",
        says: "this node got no GPU driver: GKE was told not to install one",
        means: "The device plugin waits for a driver that nobody installs, so the node offers no nvidia.com/gpu.",
        act: "set `gpu-driver-version` (default or latest) of the node pool's accelerator, or apply the DaemonSet nvidia-driver-installer; a restart of the plugin does not help",
        remedy: Remedy::Install,
        sure: Sure::Confirmed,
        sources: &[
            seen(
                "https://github.com/GoogleCloudPlatform/container-engine-accelerators/issues/407",
                "2024-09-24",
            ),
            seen("https://cloud.google.com/kubernetes-engine/docs/how-to/gpus", "2026-12-01"),
        ],
        samples: &["GPU driver auto installation is disabled."],
        ..KUBE
    },
    Cause {
        id: "gke.waits_for_driver",
        sign: "Waiting for GPU driver libraries to be available",
        role: Role::Effect,
        says: "the device plugin waits for the GPU driver",
        means: "No driver is installed on the node yet.",
        act: "look at the log of the driver's installer on that node (container nvidia-driver-installer): GKE installs one by `gpu-driver-version` of the node pool or by its DaemonSet",
        sure: Sure::Guess,
        sources: &[seen(
            "https://github.com/GoogleCloudPlatform/container-engine-accelerators/issues/407",
            "2024-09-24",
        )],
        samples: &["Waiting for GPU driver libraries to be available."],
        ..KUBE
    },
    Cause {
        id: "kube.pod_resources",
        sign: r"unknown service v1(?:alpha1)?\.PodResourcesLister|error getting pod resources from client|getPodResources: failed to list pod resources",
        says: "multus cannot ask kubelet which devices the pod got",
        means: "kubelet and the plugin do not speak the same release of the PodResources API (v1alpha1 until 1.19, v1 since), or the socket /var/lib/kubelet/pod-resources/kubelet.sock is not mounted into the plugin's pod.",
        act: "take a release of multus (or of the device plugin) that fits this kubelet; `ls -l /var/lib/kubelet/pod-resources/kubelet.sock` and the mount in its DaemonSet",
        remedy: Remedy::Install,
        sources: &[
            seen(
                "https://github.com/k8snetworkplumbingwg/sriov-network-device-plugin/issues/388",
                "2021-10-20",
            ),
            seen(
                "https://kubernetes.io/docs/concepts/extend-kubernetes/compute-storage-net/device-plugins/",
                "2026-12-01",
            ),
        ],
        samples: &[
            "getPodResources: failed to list pod resources, &{0xc0}.Get(_) = _, rpc error: code = Unimplemented desc = unknown service v1.PodResourcesLister",
        ],
        ..NET
    },
    Cause {
        id: "kube.master_interface",
        sign: r#"error adding container to network [\\"]*(?<network>[^"\\: ]+)[\\"]*: (?:failed to lookup master [\\"]*(?<master>[^"\\ :]+)[\\"]*: )?Link not found"#,
        says: "the network {network} names an interface that this node does not have[: {master}]",
        means: "macvlan, ipvlan and host-device take the interface of `master` or `device` in the NetworkAttachmentDefinition from the host.",
        act: "`ip -br link` on that node and `kubectl get net-attach-def -A -o yaml`: write the right name, or make definitions for each kind of node",
        sources: &[
            seen("https://github.com/k8snetworkplumbingwg/multus-cni/issues/581", "2020-11-08"),
            seen("https://github.com/containernetworking/plugins (plugins/main/macvlan)", "2026-12-01"),
        ],
        samples: &[r#"error adding container to network "macvlan-conf": Link not found"#],
        ..NET
    },
    Cause {
        id: "kube.multus_no_network",
        sign: r#"(?:GetCNIConfig|[Mm]ultus|GetNetworkDelegates).*No networks found in (?<dir>/[^ \'".]*(?:\.d)?)"#,
        says: "multus finds no file of the cluster's own network in {dir}",
        means: "multus hands each pod to the network that was there before it. Its file is missing, or the folder that the pod of multus mounts is not the one that the runtime uses.",
        act: "`ls /etc/cni/net.d` on the node (k3s: /var/lib/rancher/k3s/agent/etc/cni/net.d): start the cluster's network (flannel, calico) there, or correct the host path in the DaemonSet of multus",
        sources: &[seen("https://github.com/k8snetworkplumbingwg/multus-cni/issues/1072", "2023-04-14")],
        samples: &["GetCNIConfig: err in GetCNIConfigFromFile: No networks found in /host/etc/cni/net.d"],
        ..NET
    },
    Cause {
        id: "kube.runtime_down",
        sign: "container runtime is down|container runtime status check may not have completed yet|Container runtime not ready|runtime service failed.*connection refused",
        role: Role::Effect,
        says: "kubelet gets no answer of the container runtime",
        means: "The runtime does not run, hangs, or is too slow to answer; the node is NotReady until then. For some seconds after a start it is normal.",
        counts: Counts::Warn,
        act: "`systemctl status containerd` (or docker, crio), its log, and `crictl info`; a disk that is slow or full does it too",
        sure: Sure::Likely,
        sources: &[seen("https://github.com/kubernetes/website/issues/8030", "2018-04-09")],
        samples: &["kubelet.go:1794] skipping pod synchronization - [container runtime is down]"],
        ..KUBE
    },
    Cause {
        id: "kube.macvlan",
        sign: r"failed to create (macvlan|ipvlan): (?<why>[^\x22]+)|failed to lookup master .?\x22?(?<master>[^\x22\\ ]+)[^:]*: Link not found",
        says: "a macvlan or ipvlan interface could not be made for the pod[ ({why})][: the node has no {master}]",
        means: "`invalid argument` for a master of InfiniBand means that macvlan does not exist on IPoIB; `device or resource busy` that the master is a bridge or bond member; `Link not found` that the interface has another name on this node.",
        act: "`ip -d link` on the node: for IPoIB use the ipoib CNI (IPoIBNetwork of the network operator) or SR-IOV in place of macvlan; correct `master` for this node else",
        sources: &[seen("https://github.com/Mellanox/network-operator/issues/1017", "2024-08-01")],
        samples: &[
            "failed to setup network for sandbox \"x\": plugin type=\"macvlan\" failed (add): failed to create macvlan: invalid argument",
            "failed to lookup master \"ens2f0\": Link not found",
        ],
        ..NET
    },
    Cause {
        id: "kube.calico_node",
        sign: r"stat /var/lib/calico/nodename: no such file",
        role: Role::Effect,
        says: "calico does not run on this node yet",
        means: "Its DaemonSet writes that file when it starts. Its pod on this node is missing, pulls its image, or crashes.",
        act: "`kubectl get pods -A -o wide | grep calico-node` and its log on this node",
        samples: &[
            "plugin type=\"calico\" failed (add): stat /var/lib/calico/nodename: no such file or directory: check that the calico/node container is running and has mounted /var/lib/calico/",
        ],
        ..NET
    },
    Cause {
        id: "kube.calico_bgp",
        sign: r"calico/node is not ready: (BIRD is not ready: (?<why>.+)|.*)|BGP not established with (?<peers>[0-9.,: ]+)",
        says: "calico has no session with other nodes[ ({why})]",
        means: "Port 179 (BGP) is blocked between the nodes, or calico took the address of a wrong interface.",
        act: "open TCP 179 (and IPIP or UDP 4789) between the nodes; `kubectl get node -o yaml | grep projectcalico.org/IPv4Address`: set IP_AUTODETECTION_METHOD=interface=NAME (or can-reach=) where it is the wrong one",
        sources: &[seen("https://docs.tigera.io/calico/latest/operations/troubleshoot/", "2026-11-30")],
        samples: &[
            "Readiness probe failed: calico/node is not ready: BIRD is not ready: BGP not established with 192.0.2.3",
        ],
        ..NET
    },
    Cause {
        id: "kube.flannel_env",
        sign: r"open /run/flannel/subnet\.env: no such file",
        role: Role::Effect,
        says: "flannel has not started on this node",
        means: "Its DaemonSet writes that file. Its pod on this node is missing or crashes.",
        act: "`kubectl logs -n kube-flannel` of its pod on this node: a pod network that differs from `--pod-network-cidr` is usual; do not write the file by hand",
        samples: &[
            "plugin type=\"flannel\" failed (add): loadFlannelSubnetEnv failed: open /run/flannel/subnet.env: no such file or directory",
        ],
        ..NET
    },
    Cause {
        id: "kube.flannel_cidr",
        sign: r"failed to acquire lease: node .?(?<node>[^ \x22]+).? pod cidr not assigned",
        says: "the node {node} has no range of pod addresses",
        means: "The cluster was made without `--pod-network-cidr`, or its range is used up.",
        act: "set podSubnet (kubeadm: `--pod-network-cidr=10.244.0.0/16`, of the controller manager `--allocate-node-cidrs=true --cluster-cidr=`), the same as in flannel's ConfigMap",
        sure: Sure::Confirmed,
        samples: &["Error registering network: failed to acquire lease: node \"gpu0\" pod cidr not assigned"],
        ..NET
    },
    Cause {
        id: "kube.sandbox_name",
        sign: r"failed to reserve (sandbox|container) name",
        role: Role::Effect,
        says: "the runtime still works on an earlier try for the same pod",
        means: "Making the sandbox took longer than kubelet waits: a slow or busy disk, a network plugin that does not answer, or a containerd that hangs.",
        act: "`iostat -x 1`, the load of the node and `journalctl -u containerd`; restart containerd where it hangs; it goes by itself when the node catches up",
        passing: true,
        sources: &[seen("https://github.com/containerd/containerd/issues/4604", "2026-11-30")],
        samples: &[
            "failed to reserve sandbox name \"train-0_default_1_0\": name \"train-0_default_1_0\" is reserved for \"abc\"",
        ],
        ..NET
    },
    // Device plugins of networks.
    Cause {
        id: "kube.sriov_pool_empty",
        sign: r"no devices in device pool, skipping creating resource server for (?<pool>[^ \x22]+)",
        says: "no device of this node fits the pool {pool} of the SR-IOV device plugin",
        means: "The selectors (vendors, devices, drivers, pfNames, isRdma) match no virtual function here, so the node offers none. On a node without such cards it is right.",
        act: "`lspci -nnk | grep -A3 -i 'virtual function'` on the node: create the functions (`sriov_numvfs`), then compare ids and `Kernel driver in use` with the selectors in the ConfigMap; restart the plugin's pod afterwards",
        counts: Counts::Warn,
        sure: Sure::Guess,
        sources: &[seen(
            "https://github.com/k8snetworkplumbingwg/sriov-network-device-plugin/issues/340",
            "2021-04-01",
        )],
        samples: &[
            "I0401 06:54:11.257448       1 manager.go:130] no devices in device pool, skipping creating resource server for intel_sriov_netdevice",
        ],
        ..KUBE
    },
    Cause {
        id: "kube.sriov_no_driver",
        sign: r"error getting driver info for device (?<device>[0-9a-f:.]+) readlink",
        says: "no driver holds {device}, so the device plugin leaves it out",
        means: "The function exists and is bound to no driver.",
        act: "`lspci -nnk -s {device}`; load and bind its driver (mlx5_core, iavf, vfio-pci), look at `dmesg` for why it did not take it, and restart the plugin's pod; for a device that no pool wants there is nothing to do",
        counts: Counts::Warn,
        sources: &[seen(
            "https://github.com/k8snetworkplumbingwg/sriov-network-device-plugin/issues/310",
            "2026-11-30",
        )],
        samples: &[
            "E0106 13:12:42.144204       1 netDeviceProvider.go:52] netdevice GetDevices(): error creating new device: \"error getting driver info for device 0000:7c:00.1 readlink /sys/bus/pci/devices/0000:7c:00.1/driver: no such file or directory\"",
        ],
        ..KUBE
    },
    Cause {
        id: "kube.rdma_not_rdma",
        sign: r"non-Rdma Device (?<name>[a-z0-9]+)",
        says: "the RDMA device plugin sees no RDMA on {name}",
        means: "The card's RDMA modules were not loaded when the plugin looked, as after a reboot before the driver's pod was ready, or the card has none.",
        act: "`rdma link` on the node; when {name} is there now, restart the plugin's pod (kubectl delete pod); otherwise load mlx5_ib or the card's own module",
        sources: &[seen("https://github.com/Mellanox/network-operator/issues/31", "2020-09-27")],
        samples: &["2020/09/27 10:00:00 Warning: non-Rdma Device ens2f0"],
        ..KUBE
    },
    Cause {
        id: "kube.plugin_inotify",
        sign: r"failed to create FS watcher.*too many open files",
        says: "the device plugin gets no inotify instance on this node",
        means: "Each watcher of files takes one of fs.inotify.max_user_instances (128 at first), and other programs hold them all.",
        act: "`sysctl fs.inotify` on the node; raise fs.inotify.max_user_instances (8192; the playbook `sysctl` keeps it) and delete the plugin's pod so that it is made anew",
        sure: Sure::Guess,
        sources: &[seen("https://github.com/open-edge-platform/geti_v2/issues/1501", "2025-11-20")],
        samples: &[
            "E1117 10:38:08.220642       1 main.go:149] failed to create FS watcher for /var/lib/kubelet/device-plugins/: too many open files",
        ],
        ..PLUGIN
    },
    Cause {
        id: "kube.plugin_no_folder",
        sign: r"[Ff]ailed to created? FS watcher(\.|:| for .*no such file or directory)",
        says: "the device plugin cannot watch kubelet's folder of device plugins",
        means: "/var/lib/kubelet/device-plugins is not in the pod: kubelet has its data elsewhere (`--root-dir`, k3s, microk8s), or the folder is not mounted.",
        act: "look for kubelet's own folder on the node (`ls /var/lib/kubelet/device-plugins`, kubelet's --root-dir) and mount that one into the plugin's DaemonSet; `sysctl fs.inotify` where it is mounted",
        sure: Sure::Guess,
        sources: &[seen("https://github.com/k3s-io/k3s/issues/988", "2019-10-30")],
        samples: &[
            "2018/08/07 18:05:29 Failed to created FS watcher.",
            "Error: failed to create FS watcher: no such file or directory",
        ],
        ..PLUGIN
    },
];
