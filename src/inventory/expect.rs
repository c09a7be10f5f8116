//! `expect:`: what `verify` holds hosts against, beyond what it detects.

use crate::config::{Diagnostic, Diagnostics, Entries, FromNode, Node, Sp, Yaml};

crate::choice! {
    /// Effect of a check without an answer.
    UnknownIs {
        /// The verification fails.
        Fail = "fail",
        /// It is shown, and the verification does not fail.
        Warn = "warn",
    }
}

/// Settings of the firmware that are read (NVIDIA's MFT documentation: mlxconfig, supported configurations).
pub const CARD_SETTINGS: [&str; 34] = [
    "ADVANCED_PCI_SETTINGS",
    "ATS_ENABLED",
    "CNP_802P_PRIO_P1",
    "CNP_802P_PRIO_P2",
    "CNP_DSCP_P1",
    "CNP_DSCP_P2",
    "CQE_COMPRESSION",
    "DCBX_CEE_P1",
    "DCBX_CEE_P2",
    "DCBX_IEEE_P1",
    "DCBX_IEEE_P2",
    "DCBX_WILLING_P1",
    "DCBX_WILLING_P2",
    "INTERNAL_CPU_MODEL",
    "INTERNAL_CPU_OFFLOAD_ENGINE",
    "KEEP_ETH_LINK_UP_P1",
    "KEEP_ETH_LINK_UP_P2",
    "KEEP_IB_LINK_UP_P1",
    "KEEP_IB_LINK_UP_P2",
    "LINK_TYPE_P1",
    "LINK_TYPE_P2",
    "LLDP_NB_DCBX_P1",
    "LLDP_NB_DCBX_P2",
    "LLDP_NB_RX_MODE_P1",
    "LLDP_NB_TX_MODE_P1",
    "MAX_ACC_OUT_READ",
    "NUM_OF_VFS",
    "P2P_ORDERING_MODE",
    "PCI_ATOMIC_MODE",
    "PCI_WR_ORDERING",
    "ROCE_CC_PRIO_MASK_P1",
    "ROCE_CC_PRIO_MASK_P2",
    "ROCE_CONTROL",
    "SRIOV_EN",
];

/// A setting of a card with its value: `PCI_WR_ORDERING=1`.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(transparent)]
pub struct CardSetting(pub String);

impl CardSetting {
    /// Its name and its value.
    pub fn parts(&self) -> (&str, &str) {
        self.0.split_once('=').unwrap_or((&self.0, ""))
    }
}

impl FromNode for CardSetting {
    fn from_node(node: &Node, diagnostics: &mut Diagnostics) -> Option<Self> {
        let text = String::from_node(node, diagnostics)?;
        let setting = Self(text);
        let (name, value) = setting.parts();
        if value.is_empty() {
            diagnostics.push(
                Diagnostic::error(node.span, format!("`{name}` has no value"))
                    .help("write it as for `mlxconfig set`: `PCI_WR_ORDERING=1`"),
            );
            return None;
        }
        if !CARD_SETTINGS.contains(&name) {
            diagnostics.push(
                Diagnostic::error(node.span, format!("the setting `{name}` of a card is not read"))
                    .help(format!("those that are: {}", CARD_SETTINGS.join(", "))),
            );
            return None;
        }
        Some(setting)
    }

    fn schema() -> serde_json::Value {
        String::schema()
    }
}

crate::choice! {
    /// Link layer that carries RDMA.
    LinkLayer {
        /// RoCE, eRDMA, iWARP.
        Ethernet = "Ethernet",
        /// InfiniBand.
        InfiniBand = "InfiniBand",
    }
}

crate::choice! {
    /// Whether the cards of different rails reach each other.
    Rails {
        /// They do: by one network, or by routes between several.
        Together = "together",
        /// They do not: each rail is a network of its own.
        Apart = "apart",
    }
}

crate::choice! {
    /// Part of a packet that decides its priority.
    Trust {
        /// The DSCP of its IP header.
        Dscp = "dscp",
        /// The priority of its VLAN tag.
        Pcp = "pcp",
    }
}

crate::record! {
    /// Values that `verify` expects of GPUs.
    #[derive(serde::Serialize, serde::Deserialize, Default, PartialEq)]
    ExpectGpu("`expect.gpu`") {
        /// Number of GPUs that the host has.
        opt count: u32,
        /// Product name, as `nvidia-smi` shows it.
        opt model: String,
        /// Total memory of each in MiB; a deviation of 1 % is allowed.
        opt memory_mib: u64,
        /// Error correction.
        opt ecc: bool,
        /// Multi-instance mode.
        opt mig: bool,
        /// Persistence mode.
        opt persistence: bool,
        /// Power limit of each in watts.
        opt power_limit: u32,
        /// Active `NVLink`s of each.
        opt nvlinks: u32,
        /// `PCIe` lanes of each, where slots have fewer than the GPU can use.
        opt pcie_width: u32,
        /// The highest temperature in degrees Celsius that counts as healthy.
        opt temperature: u32,
    }
}

crate::record! {
    /// Values that `verify` expects of the driver stack.
    #[derive(serde::Serialize, serde::Deserialize, Default, PartialEq)]
    ExpectDriver("`expect.driver`") {
        /// Version, whole (`"580.105.08"`) or its branch (`"580"`).
        opt version: String,
        /// Whether the kernel module is the open one.
        opt open: bool,
        /// Lowest CUDA version that it must take: `"12.4"`.
        opt cuda: String,
        /// Whether the fabric manager must run. Left out: on hosts with `NVSwitches` on the PCI bus.
        opt fabric_manager: bool,
    }
}

crate::record! {
    /// Values that `verify` expects of RDMA devices.
    #[derive(serde::Serialize, serde::Deserialize, Default, PartialEq)]
    ExpectRdma("`expect.rdma`") {
        /// Number of devices that the host has.
        opt count: u32,
        /// Their names.
        opt devices: Vec<String>,
        /// Devices that no check looks at: management, `NVLink` bridges.
        opt ignore: Vec<String>,
        /// State of each port: `ACTIVE`.
        opt state: String,
        /// Link layer that carries the traffic.
        opt link_layer: LinkLayer,
        /// Link rate in Gb/s.
        opt rate_gbps: u32,
        /// Path MTU that ports must have.
        opt active_mtu: u32,
        /// Firmware version.
        opt firmware: String,
        /// Settings in the firmware of `ConnectX` and `BlueField` cards, as `mlxconfig set` takes them:
        /// `[PCI_WR_ORDERING=1, ATS_ENABLED=False]`.
        opt card_settings: Vec<CardSetting>,
        /// Whether GPUs must be reachable for the cards (`GPUDirect` RDMA).
        opt gdr: bool,
        /// Least read request of `ConnectX` cards in bytes. Left out: 4096.
        opt max_read_request: u32,
        /// Whether connections over eRDMA work without `rdma_cm`. Left out: they must.
        opt erdma_compat: bool,
    }
}

crate::record! {
    /// Values that `verify` expects of networks.
    #[derive(serde::Serialize, serde::Deserialize, Default, PartialEq)]
    ExpectNetwork("`expect.network`") {
        /// MTU of the network devices behind RDMA devices.
        opt mtu: u32,
        /// Priorities with flow control, such as `[3]`.
        opt pfc: Vec<u32>,
        /// Part of a packet that gives its priority.
        opt trust: Trust,
        /// Priorities with congestion notification, such as `[3]`.
        opt ecn: Vec<u32>,
    }
}

crate::record! {
    /// Values that `verify` expects of the system.
    #[derive(serde::Serialize, serde::Deserialize, Default, PartialEq)]
    ExpectSystem("`expect.system`") {
        /// Locked memory of a fresh login: `unlimited`, or KiB.
        opt memlock: String,
        /// Open files of a fresh login.
        opt nofile: u64,
        /// Huge pages of the default size.
        opt hugepages: u64,
        /// Whether there may be swap.
        opt swap: bool,
        /// CPU frequency governor.
        opt governor: String,
        /// Whether the clock must be synchronised.
        opt time_sync: bool,
        /// Free space in GiB that `/`, `/var`, `/tmp` and `/boot` must have.
        opt disk_free_gib: u32,
        /// Kernel release.
        opt kernel: String,
    }
}

crate::record! {
    /// Values that `verify` expects of software.
    #[derive(serde::Serialize, serde::Deserialize, Default, PartialEq)]
    ExpectSoftware("`expect.software`") {
        /// NCCL version: `"2.23.4"`, or its beginning.
        opt nccl: String,
        /// Prefix that NCCL is installed in.
        opt nccl_prefix: String,
        /// Open MPI version, or its beginning.
        opt openmpi: String,
        /// Prefix that Open MPI is installed in.
        opt openmpi_prefix: String,
        /// Directory with the programs of nccl-tests.
        opt nccl_tests: String,
        /// Whether perftest must be built with CUDA.
        opt perftest_cuda: bool,
        /// The user who starts jobs, for tests with `--active`: reaches every host over SSH.
        opt mpi_user: String,
        /// Network that Open MPI uses between hosts, such as `10.0.0.0/24`. Left out: all.
        opt mpi_network: String,
    }
}

crate::choice! {
    /// Engine that starts containers.
    Engine {
        /// Docker.
        Docker = "docker",
        /// containerd, as Kubernetes uses it.
        Containerd = "containerd",
        /// CRI-O.
        Crio = "crio",
        /// Podman.
        Podman = "podman",
    }
}

impl Engine {
    /// Its program.
    pub fn program(self) -> &'static str {
        match self {
            Self::Docker => "dockerd",
            Self::Containerd => "containerd",
            Self::Crio => "crio",
            Self::Podman => "podman",
        }
    }
}

crate::record! {
    /// Values that `verify` expects of containers.
    #[derive(serde::Serialize, serde::Deserialize, Default, PartialEq)]
    ExpectContainers("`expect.containers`") {
        /// Engine that must be there, with NVIDIA's container toolkit where the host has GPUs.
        opt engine: Engine,
        /// Accounts that may start containers as root, beside root: members of the group `docker` and the like.
        opt members: Vec<String>,
        /// Whether accounts may make user namespaces, as enroot, apptainer and rootless Podman need.
        opt user_namespaces: bool,
    }
}

crate::record! {
    /// Values that `verify --active` expects of traffic, in place of what is known of the hardware.
    #[derive(serde::Serialize, serde::Deserialize, Default, PartialEq)]
    ExpectActive("`expect.active`") {
        /// GB/s of the bus that `all_reduce_perf` shows at its largest size: 95 % of it pass, below 85 % fail.
        /// That of the first host counts for a run of several.
        opt all_reduce: u32,
        /// Gb/s that `ib_write_bw` must reach. Of two hosts the lower one counts.
        opt ib_write_bw: u32,
        /// Gb/s that `ib_write_bw -b` must reach, both directions together. Of two hosts the lower one counts.
        opt ib_write_bw_both: u32,
        /// Gb/s that `ib_write_bw --use_cuda` must reach. Of two hosts the lower one counts.
        opt gpu_write_bw: u32,
        /// Microseconds that `ib_read_lat` may take for two bytes. Of two hosts the higher one counts.
        opt ib_read_lat: u32,
        /// Whether cards of different rails reach each other. Left out: that they do not is a warning.
        opt rails: Rails,
    }
}

crate::record! {
    /// Values that `accept` expects of each part, in place of what is known of its model.
    #[derive(serde::Serialize, serde::Deserialize, Default, PartialEq)]
    ExpectAccept("`expect.accept`") {
        /// TFLOP/s that matrix products in fp32 must reach.
        opt matmul_fp32: u32,
        /// TFLOP/s that matrix products in bf16 must reach.
        opt matmul_bf16: u32,
        /// TFLOP/s that matrix products in fp8 must reach.
        opt matmul_fp8: u32,
        /// GB/s that a pattern must be written to the memory of a GPU with.
        opt memory_write: u32,
        /// GB/s that a pattern must be read from the memory of a GPU with.
        opt memory_read: u32,
        /// GB/s that copies to a GPU must reach.
        opt copy_to: u32,
        /// GB/s that copies from a GPU must reach.
        opt copy_from: u32,
        /// GB/s that copies inside a GPU must reach, read and written together.
        opt copy_inside: u32,
        /// Percent by which a part may stay behind the median of its fleet; with 100 the fleet says nothing.
        opt behind_fleet: u32,
        /// Percent by which a part may stay behind its own past; with 100 the past says nothing.
        opt behind_past: u32,
    }
}

impl ExpectAccept {
    /// Names of the figures.
    pub const NAMES: [&str; 8] = [
        "matmul.fp32",
        "matmul.bf16",
        "matmul.fp8",
        "memory.write",
        "memory.read",
        "copy.to",
        "copy.from",
        "copy.inside",
    ];

    /// The least values, by the names of figures.
    pub fn least(&self) -> impl Iterator<Item = (&'static str, u32)> + use<> {
        let least = [
            self.matmul_fp32,
            self.matmul_bf16,
            self.matmul_fp8,
            self.memory_write,
            self.memory_read,
            self.copy_to,
            self.copy_from,
            self.copy_inside,
        ];
        Self::NAMES.into_iter().zip(least).filter_map(|(name, least)| Some((name, least?)))
    }
}

crate::record! {
    /// Values that `verify` expects. What is left out is detected, or compared over the hosts of a group.
    #[derive(serde::Serialize, serde::Deserialize, Default, PartialEq)]
    Expect("`expect`") {
        /// GPUs.
        opt gpu: ExpectGpu,
        /// The driver stack.
        opt driver: ExpectDriver,
        /// RDMA devices.
        opt rdma: ExpectRdma,
        /// Networks.
        opt network: ExpectNetwork,
        /// The system.
        opt system: ExpectSystem,
        /// Software.
        opt software: ExpectSoftware,
        /// Containers.
        opt containers: ExpectContainers,
        /// Traffic between hosts.
        opt active: ExpectActive,
        /// Figures of parts under load.
        opt accept: ExpectAccept,
        /// Effect of a check without an answer: `fail` unless it says `warn`.
        opt unknown: UnknownIs,
        /// Checks that are not made, such as `gpu.nvlink`.
        opt ignore: Vec<String>,
    }
}

/// Reports values that no host has.
fn can_be(node: &Node, diagnostics: &mut Diagnostics) {
    let at = |part: &str, key: &str| node.get(part).and_then(|part| part.get(key));
    if let Some(mtu) = at("rdma", "active_mtu")
        && !matches!(mtu.value, Yaml::Int(256 | 512 | 1024 | 2048 | 4096))
    {
        diagnostics
            .push(Diagnostic::error(mtu.span, "no port of RDMA has this MTU").help(
                "it is 256, 512, 1024, 2048 or 4096; that of the link is `mtu` of a card under `nics`",
            ));
    }
    if let Some(state) = at("rdma", "state").and_then(|state| Some((state, state.as_str()?)))
        && !["ACTIVE", "ARMED", "INIT", "DOWN"].contains(&state.1)
    {
        diagnostics.push(
            Diagnostic::error(state.0.span, "no port of RDMA has this state")
                .help("it is `ACTIVE` on a good one"),
        );
    }
    for key in ["pfc", "ecn"] {
        let Some(Yaml::List(list)) = at("network", key).map(|list| &list.value) else { continue };
        for priority in list.iter().filter(|one| !matches!(one.value, Yaml::Int(0..=7))) {
            diagnostics.push(Diagnostic::error(priority.span, "a priority is a number from 0 to 7"));
        }
    }
}

impl Expect {
    /// Takes one key of another layer: layers replace each other key by key.
    pub(super) fn replace(&mut self, key: &str, by: &Self) {
        match key {
            "gpu" => self.gpu.clone_from(&by.gpu),
            "driver" => self.driver.clone_from(&by.driver),
            "rdma" => self.rdma.clone_from(&by.rdma),
            "network" => self.network.clone_from(&by.network),
            "system" => self.system.clone_from(&by.system),
            "software" => self.software.clone_from(&by.software),
            "containers" => self.containers.clone_from(&by.containers),
            "active" => self.active.clone_from(&by.active),
            "accept" => self.accept.clone_from(&by.accept),
            "unknown" => self.unknown = by.unknown,
            "ignore" => self.ignore.clone_from(&by.ignore),
            _ => {}
        }
    }
}

/// Checked expectations, and where they are written.
#[derive(Debug, Clone, Default)]
pub struct Expectations {
    /// The values.
    pub read: Expect,
    /// The keys with their places.
    pub entries: Entries<Node>,
}

impl FromNode for Expectations {
    fn from_node(node: &Node, diagnostics: &mut Diagnostics) -> Option<Self> {
        let read = Expect::from_node(node, diagnostics)?;
        let errors = diagnostics.errors();
        can_be(node, diagnostics);
        if diagnostics.errors() > errors {
            return None;
        }
        Some(Self { read, entries: Entries::from_node(node, diagnostics)? })
    }

    fn schema() -> serde_json::Value {
        Expect::schema()
    }
}

impl Expectations {
    /// Reports ids under `ignore` that no check has.
    pub(super) fn check_ids(&self, known: &[&str], diagnostics: &mut Diagnostics) {
        for (_, list) in self.entries.0.iter().filter(|(key, _)| key.value == "ignore") {
            let Yaml::List(ids) = &list.value else { continue };
            for id in ids.iter().filter_map(Node::as_str).filter(|id| !known.contains(id)) {
                let id = Sp::new(id.to_owned(), list.span);
                super::values::unknown("check", &id, known.iter().copied(), diagnostics);
            }
        }
    }
}
