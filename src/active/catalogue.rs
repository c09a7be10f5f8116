//! The active checks, as `explain` and the reference show them.

use super::nccl;
use crate::checks::{Check, Checked, Kind, Subject, Verdict};
use crate::events::CheckStatus;

/// Id of the test with `rping`.
pub const RPING: &str = "active.rping";
/// Id of the test with `ib_write_bw`.
pub const BANDWIDTH: &str = "active.ib_write_bw";

/// The active checks. What they find is put in place of what `run` says.
pub const CHECKS: &[Check] = &[
    Check {
        id: RPING,
        title: "the host reaches its neighbours over RDMA",
        kind: Kind::Active,
        severity: CheckStatus::Fail,
        expects: "five pings of `rping` with the host before it and the host behind it, on each rail",
        why: "Ports that are up prove one cable each; that two hosts reach each other over RDMA nothing but traffic proves.",
        hint: "addresses and MTU of both ends on this rail, then flow control and access lists of the switches between them",
        source: "domain H6, N5, peers 4 (8)",
        run: skipped,
    },
    Check {
        id: BANDWIDTH,
        title: "the link to its neighbours carries what it should",
        kind: Kind::Active,
        severity: CheckStatus::Fail,
        expects: "90 % of the link rate with `ib_write_bw` for 64 KiB; software devices must only carry something",
        why: "Half a link, a starved slot or lost packets show in bandwidth long before anything fails.",
        hint: "`mlxlink` and error counters of both ports, PCIe width of both cards, then the path between them",
        source: "domain H4, H5, peers 2.12",
        run: skipped,
    },
];

#[expect(clippy::unnecessary_wraps, reason = "all checks have this form")]
fn skipped(_: &Subject<'_>) -> Checked {
    Ok(Verdict::Skip("only with --active".to_owned()))
}

/// What is expected of `all_reduce_perf` at its largest size in GB/s, as published for the GPU; of one host
/// or of several (domain H3).
pub fn expected_busbw(gpu: &str, gpus: usize, hosts: usize) -> Option<f64> {
    const TABLE: &[(&str, usize, f64, f64)] = &[
        // GPU, GPUs of a host, one host, two hosts and more.
        ("A100-SXM4", 8, 230.0, 185.0),
        ("H100 80GB HBM3", 8, 480.0, 450.0),
        ("H200", 8, 480.0, 450.0),
    ];
    let row = TABLE.iter().find(|(name, count, ..)| gpu.contains(name) && *count == gpus)?;
    Some(if hosts > 1 { row.3 } else { row.2 })
}

/// The gate of a run on so many hosts with so many GPUs each.
pub fn gate(gpu: &str, gpus: usize, hosts: usize, gdr: bool) -> nccl::Gate {
    nccl::Gate { ranks: gpus * hosts, busbw: expected_busbw(gpu, gpus, hosts), gdr, between_hosts: hosts > 1 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gates_follow_the_hardware() {
        let one = gate("NVIDIA H100 80GB HBM3", 8, 1, true);
        assert_eq!((one.ranks, one.busbw, one.between_hosts), (8, Some(480.0), false));
        let two = gate("NVIDIA A100-SXM4-80GB", 8, 2, true);
        assert_eq!((two.ranks, two.busbw, two.between_hosts), (16, Some(185.0), true));
        assert_eq!(gate("NVIDIA A100-SXM4-80GB", 4, 1, true).busbw, None);
    }
}
