//! The active checks, as `explain` and the reference show them.

use super::nccl;
use crate::checks::{self, Check, Checked, Kind, Subject, Verdict};
use crate::events::CheckStatus;

/// Id of the test with `rping`.
pub const RPING: &str = "active.rping";
/// Id of the test with `ib_write_bw`.
pub const BANDWIDTH: &str = "active.ib_write_bw";

/// Id of the test of SSH between hosts.
pub const MESH: &str = "ssh.mesh";
/// Id of the test with `mpirun hostname`.
pub const MPIRUN: &str = "active.mpirun";
/// Id of the test with `all_reduce_perf`.
pub const ALL_REDUCE: &str = "active.all_reduce";

/// What to do when this check finds something.
pub(super) fn hint(id: &str) -> &'static str {
    checks::find(id).map_or("", |check| check.hint)
}

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
    Check {
        id: MESH,
        title: "the host reaches the others over SSH, as jobs need it",
        kind: Kind::Active,
        severity: CheckStatus::Fail,
        expects: "logins as `expect.software.mpi_user` without a question and with strict host keys: to every other host, of more than 16 to those 1, 2, 4, 8 ... places behind it",
        why: "mpirun starts its daemons as a tree: a node that is not the head logs in to others, and one lost key stops the job of all.",
        hint: "`provision apply` with the playbook ssh-mesh on all hosts of the inventory",
        source: "domain F",
        run: skipped,
    },
    Check {
        id: MPIRUN,
        title: "mpirun starts a process on every host",
        kind: Kind::Active,
        severity: CheckStatus::Fail,
        expects: "`mpirun hostname` of the first host as `expect.software.mpi_user` names each host once",
        why: "It proves what all jobs need: the tree of logins, the daemons of Open MPI and their way back.",
        hint: "`ssh.mesh` first; then one Open MPI at the same prefix everywhere, its ports open between hosts, and `expect.software.mpi_network` where hosts have bridges with equal addresses",
        source: "domain E3, F, H7",
        run: skipped,
    },
    Check {
        id: ALL_REDUCE,
        title: "all GPUs together reach the bandwidth that they should",
        kind: Kind::Active,
        severity: CheckStatus::Fail,
        expects: "`all_reduce_perf` over all hosts with GPUs, no wrong value, 95 % of the published bandwidth at the largest size, RDMA between hosts, and straight into GPU memory where `expect.rdma.gdr` is true",
        why: "It is the job in small: NCCL, GPUs, cards and switches at once, and it counts wrong values.",
        hint: "`software.nccl_tests` where the loader speaks, `active.ib_write_bw` for links, `gdr.*` and `pcie.acs` for the way into GPU memory; NCCL's log lines are in the evidence",
        source: "domain H1, H3, H7, H8",
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
