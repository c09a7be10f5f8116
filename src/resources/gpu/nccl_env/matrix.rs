//! Settings that NCCL needs for each kind of RDMA card: the table behind `nccl_env`.
//!
//! Variables and defaults: NCCL's own documentation and sources up to 2.30; values per kind of card: the
//! guides of the sites that run them. Settings that are left out here are best left to NCCL, or to the job that they
//! make faster: what is here holds for every job of a host.

crate::choice! {
    /// Kinds of RDMA cards with their own set of variables.
    NicType {
        /// None: only `variables` are written.
        None = "none",
        /// `InfiniBand` cards of NVIDIA.
        Infiniband = "infiniband",
        /// `RoCE` v2 on cards of NVIDIA.
        Roce = "roce",
        /// Intel E810.
        Irdma = "irdma",
        /// Alibaba Cloud's elastic RDMA.
        Erdma = "erdma",
        /// Container Compute Service, RDMA NIC type 1.
        AcsType1 = "acs-type-1",
        /// Container Compute Service, RDMA NIC type 2.
        AcsType2 = "acs-type-2",
    }
}

/// A value of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::resources) enum Cell {
    /// This text; empty is a value too.
    Text(&'static str),
    /// This network device where the host has it, else the one of the default route.
    Link(&'static str),
    /// The network device of the management card, else the one of the default route.
    Management,
    /// Exactly these RDMA devices: those of compute cards.
    Devices,
    /// Index of the `RoCE` v2 GID of IPv4 for NCCL before 2.21; newer ones find it.
    GidOfOld,
    /// The ToS that the site's lossless class has.
    Tos,
    /// `SYS` in a virtual machine, where the distance of `PCIe` devices is not seen.
    SysInMachine,
}

use Cell::{Devices, GidOfOld, Link, Management, SysInMachine, Text, Tos};

/// Warnings: with `INFO` each rank of each job writes pages. What proves the way of the traffic asks for that itself.
const WARN: (&str, Cell) = ("NCCL_DEBUG", Text("WARN"));

/// The variables of a kind of card, in the order they are written.
pub(in crate::resources) fn matrix(nic: NicType) -> &'static [(&'static str, Cell)] {
    match nic {
        NicType::None => &[],
        NicType::Infiniband => &[("NCCL_SOCKET_IFNAME", Management), ("NCCL_IB_HCA", Devices), WARN],
        NicType::Roce => &[
            ("NCCL_SOCKET_IFNAME", Management),
            ("NCCL_IB_HCA", Devices),
            ("NCCL_IB_GID_INDEX", GidOfOld),
            ("NCCL_IB_TC", Tos),
            ("NCCL_NET_GDR_LEVEL", SysInMachine),
            WARN,
        ],
        NicType::Irdma => &[
            ("NCCL_SOCKET_IFNAME", Link("net1")),
            ("NCCL_SOCKET_FAMILY", Text("AF_INET")),
            ("NCCL_IB_HCA", Devices),
            ("NCCL_IB_GID_INDEX", GidOfOld),
            WARN,
        ],
        NicType::Erdma => &[
            ("NCCL_SOCKET_IFNAME", Link("eth0")),
            ("NCCL_IB_DISABLE", Text("0")),
            ("NCCL_IB_HCA", Devices),
            ("NCCL_IB_GID_INDEX", GidOfOld),
            ("NCCL_IB_ADDR_FAMILY", Text("AF_INET")),
            ("NCCL_IB_ROCE_VERSION_NUM", Text("2")),
            ("NCCL_NET_GDR_LEVEL", Text("SYS")),
            WARN,
        ],
        NicType::AcsType1 => &[("NCCL_SOCKET_IFNAME", Link("eth0")), ("NCCL_IB_HCA", Text("mlx5")), WARN],
        NicType::AcsType2 => &[
            ("NCCL_IB_DISABLE", Text("1")),
            ("NCCL_SOCKET_IFNAME", Link("eth0")),
            // Set and empty: another thing than not set.
            ("NCCL_IB_HCA", Text("")),
            WARN,
        ],
    }
}

/// Variables that NCCL does not read any more.
const DEAD: &[&str] = &[
    "NCCL_IB_CUDA_SUPPORT",
    "NCCL_IB_GDR_LEVEL",
    "NCCL_LL_THRESHOLD",
    "NCCL_TREE_THRESHOLD",
    "NCCL_SINGLE_RING_THRESHOLD",
    "NCCL_CHECKS_DISABLE",
];

/// Algorithms that NCCL knows.
const ALGORITHMS: &[&str] = &["Ring", "Tree", "CollnetDirect", "CollnetChain", "NVLS", "NVLSTree", "PAT"];

/// Reports what is doubtful about a variable that somebody sets; `version` is NCCL's where it is known.
pub(in crate::resources) fn doubt(name: &str, value: &str, version: Option<(u32, u32)>) -> Option<String> {
    // Who does not say a version has a current one.
    let since = |wanted: (u32, u32)| version.is_none_or(|version| version >= wanted);
    if DEAD.contains(&name) {
        return Some(format!("NCCL does not read {name} any more"));
    }
    match name {
        "NCCL_NET_GDR_LEVEL" | "NCCL_P2P_LEVEL" if value.parse::<u32>().is_ok() => {
            Some(format!("{name} as a number is an old form: 5 means SYS"))
        }
        "NCCL_MIN_NCHANNELS" | "NCCL_MAX_NCHANNELS" if since((2, 17)) => {
            Some(format!("{name} is deprecated since NCCL 2.17: use NCCL_MIN_CTAS and NCCL_MAX_CTAS"))
        }
        "NCCL_IB_GID_INDEX" if since((2, 21)) && value != "-1" && !value.is_empty() => {
            Some("since 2.21 NCCL finds the GID itself: leave NCCL_IB_GID_INDEX unset".to_owned())
        }
        "NCCL_IB_HCA" if value == "mlx5" => {
            Some("`mlx5` is a prefix and also matches storage cards: write `=mlx5_0,...`".to_owned())
        }
        "NCCL_ALGO" if since((2, 24)) && !value.is_empty() => {
            let mut words = value.trim_start_matches('^').split(',');
            let wrong =
                words.find(|word| !ALGORITHMS.iter().any(|known| known.eq_ignore_ascii_case(word)))?;
            // Newer ones take a function too: `allreduce:ring`.
            (!wrong.contains([':', ';']))
                .then(|| format!("NCCL has no algorithm `{wrong}`, and since 2.24 it refuses unknown ones"))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::doubt;

    #[test]
    fn doubts_are_about_what_is_doubtful() {
        let told = |name, value, version| doubt(name, value, version).is_some();
        for (name, value, old, new) in [
            ("NCCL_IB_CUDA_SUPPORT", "1", true, true),
            ("NCCL_NET_GDR_LEVEL", "5", true, true),
            ("NCCL_P2P_LEVEL", "SYS", false, false),
            ("NCCL_MIN_NCHANNELS", "4", false, true),
            ("NCCL_IB_GID_INDEX", "3", false, true),
            ("NCCL_IB_GID_INDEX", "-1", false, false),
            ("NCCL_IB_GID_INDEX", "", false, false),
            ("NCCL_IB_HCA", "mlx5", true, true),
            ("NCCL_IB_HCA", "=mlx5_0", false, false),
            ("NCCL_ALGO", "Rings", false, true),
            ("NCCL_ALGO", "^Tree,ring", false, false),
            ("NCCL_ALGO", "allreduce:ring", false, false),
            ("NCCL_DEBUG", "INFO", false, false),
        ] {
            let seen = (told(name, value, Some((2, 16))), told(name, value, Some((2, 27))));
            assert_eq!(seen, (old, new), "{name}={value}");
            assert_eq!(told(name, value, None), new, "{name}={value}");
        }
    }
}
