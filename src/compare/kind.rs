//! Kinds of things that hosts are compared by.

use serde::{Deserialize, Serialize};

/// Kind of a compared thing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Account or group of the host.
    Account,
    /// Word of the kernel's command line.
    CommandLine,
    /// Count of errors: more is worse.
    Counter,
    /// State of a module of DKMS.
    Dkms,
    /// Block device and its queue.
    Disk,
    /// Variable of a new login.
    Environment,
    /// Setting or feature of a network link, as `ethtool` has it.
    Ethtool,
    /// File or directory below `/etc`.
    File,
    /// Rule of the firewall.
    Firewall,
    /// Field of `nvidia-smi`.
    Gpu,
    /// Message of the kernel, by its cause in the catalogue; its number.
    KernelLog,
    /// Library that a program finds.
    Library,
    /// Limit of a session or of services.
    Limit,
    /// Network link.
    Link,
    /// File outside of packages: `/usr/local`, `/opt`, `/boot`.
    Local,
    /// Memory and its settings.
    Memory,
    /// Loaded module with its version.
    Module,
    /// Mounted file system.
    Mount,
    /// Package with its version.
    Package,
    /// Parameter of a module.
    Parameter,
    /// Function of PCI: width, speed, settings.
    Pci,
    /// Program that runs.
    Process,
    /// Processors and their settings.
    Processor,
    /// Package of Python.
    Python,
    /// Queue of a network link.
    Queue,
    /// RDMA device and its quality of service.
    Rdma,
    /// Route or rule of routing.
    Route,
    /// Part of a file system that is used, in percent.
    Space,
    /// Kernel, board, firmware, distribution.
    System,
    /// Sysctl.
    Sysctl,
    /// Unit of systemd.
    Unit,
}

impl Kind {
    /// All of them.
    pub const ALL: &[Self] = &[
        Self::Account,
        Self::CommandLine,
        Self::Counter,
        Self::Dkms,
        Self::Disk,
        Self::Environment,
        Self::Ethtool,
        Self::File,
        Self::Firewall,
        Self::Gpu,
        Self::KernelLog,
        Self::Library,
        Self::Limit,
        Self::Link,
        Self::Local,
        Self::Memory,
        Self::Module,
        Self::Mount,
        Self::Package,
        Self::Parameter,
        Self::Pci,
        Self::Process,
        Self::Processor,
        Self::Python,
        Self::Queue,
        Self::Rdma,
        Self::Route,
        Self::Space,
        Self::System,
        Self::Sysctl,
        Self::Unit,
    ];

    /// Its name before a key.
    pub fn name(self) -> &'static str {
        match self {
            Self::Account => "account",
            Self::CommandLine => "kernel command line",
            Self::Counter => "count of errors",
            Self::Dkms => "DKMS",
            Self::Disk => "disk",
            Self::Environment => "environment of a login",
            Self::Ethtool => "ethtool",
            Self::File => "file",
            Self::Firewall => "firewall",
            Self::Gpu => "GPU",
            Self::KernelLog => "kernel's log",
            Self::Library => "library",
            Self::Limit => "limit",
            Self::Link => "network link",
            Self::Local => "local file",
            Self::Memory => "memory",
            Self::Module => "module",
            Self::Mount => "mount",
            Self::Package => "package",
            Self::Parameter => "module parameter",
            Self::Pci => "PCIe",
            Self::Process => "process",
            Self::Processor => "processor",
            Self::Python => "Python package",
            Self::Queue => "queue",
            Self::Rdma => "RDMA",
            Self::Route => "route",
            Self::Space => "space",
            Self::System => "system",
            Self::Sysctl => "sysctl",
            Self::Unit => "unit",
        }
    }

    /// Whether its values are numbers of which more is worse.
    pub fn is_number(self) -> bool {
        matches!(self, Self::Counter | Self::KernelLog | Self::Space)
    }
}
