//! Traffic between hosts, as `explain` and the reference show it; `crate::active` makes it.

use super::shared::verdict::{Checked, Verdict};
use super::{Check, Needs, Subject};
use crate::events::CheckStatus::{Fail, Warn};

/// Id of the test with `rping`.
pub const RPING: &str = "active.rping";
/// Id of the test with `ib_write_bw`.
pub const BANDWIDTH: &str = "active.ib_write_bw";
/// Id of the test with `ib_write_bw` in both directions.
pub const BOTH_WAYS: &str = "active.ib_write_bw_both";
/// Id of the test with `ib_write_bw` from GPU to GPU.
pub const GPU_BANDWIDTH: &str = "active.gpu_write_bw";
/// Id of the test with `ib_read_lat`.
pub const LATENCY: &str = "active.ib_read_lat";
/// Id of the test of rails with each other.
pub const RAILS: &str = "active.rails";
/// Id of the test with `mpirun hostname`.
pub const MPIRUN: &str = "active.mpirun";
/// Id of the test with `all_reduce_perf`.
pub const ALL_REDUCE: &str = "active.all_reduce";

/// The active checks. What they find is put in place of what `run` says.
pub(in crate::checks) const CHECKS: &[Check] = &[
    Check {
        id: RPING,
        title: "the host reaches its neighbours over RDMA",
        needs: Needs::Active,
        severity: Fail,
        expects: "five pings of `rping` with the previous and the next host, on each rail",
        why: "A port that is up proves its cable. Only traffic proves that two hosts reach each other over RDMA.",
        hint: "look at addresses and MTU of both ends of this rail, then at flow control and access lists of the switches between them",
        source: "rping(1)",
        run: skipped,
    },
    Check {
        id: BANDWIDTH,
        title: "the link to its neighbours has the expected bandwidth",
        needs: Needs::Active,
        severity: Fail,
        expects: "90 % of the link rate with `ib_write_bw` for 64 KiB; `expect.active.ib_write_bw` when it is declared; for devices in software any bandwidth will do",
        why: "A link with half its lanes, a slow PCIe slot or lost packets lower the bandwidth long before anything fails.",
        hint: "look at `mlxlink` and error counters of both ports, at the PCIe width of both cards, then at the path between them",
        source: "linux-rdma/perftest, README",
        run: skipped,
    },
    Check {
        id: BOTH_WAYS,
        title: "the link to its neighbours carries the expected bandwidth in both directions at once",
        needs: Needs::Active,
        severity: Warn,
        expects: "180 % of the link rate with `ib_write_bw -b` for 64 KiB; `expect.active.ib_write_bw_both` when it is declared: less than that fails",
        why: "Collectives send and receive at the same time. A PCIe slot with half its lanes, or flow control that stops one direction for the other, is seen only then.",
        hint: "look at the PCIe width and generation of both cards, then at counters of pauses (`rx_prio3_pause`) and of lost packets of both ports",
        source: "linux-rdma/perftest, README",
        run: skipped,
    },
    Check {
        id: GPU_BANDWIDTH,
        title: "GPUs reach those of the neighbours at the expected bandwidth",
        needs: Needs::Active,
        severity: Warn,
        expects: "90 % of the link rate with `ib_write_bw --use_cuda`, for each card with a GPU at PIX or PXB; `expect.active.gpu_write_bw` when it is declared: less than that fails",
        why: "NCCL writes from GPU memory. Where access control (ACS) or an IOMMU sends that through the CPU, the host's own memory is as fast as ever and GPUs are not.",
        hint: "look at `rdma.gdr_ready`, `pcie.acs` and `gpu.nic_affinity`",
        source: "linux-rdma/perftest, README; gates of Azure's node health checks are at 90 %",
        run: skipped,
    },
    Check {
        id: LATENCY,
        title: "a read from its neighbours takes no longer than expected",
        needs: Needs::Active,
        severity: Warn,
        expects: "at most 10 µs for two bytes with `ib_read_lat`, there and back, between ConnectX or BlueField ports of 100 Gb/s or more; `expect.active.ib_read_lat` when it is declared: more than that fails; of other devices the time is only told",
        why: "Sleeping cores, a port that corrects many errors or a detour through more switches leave the bandwidth as it is, and every small message takes longer.",
        hint: "look at `system.governor` and the C-states of both hosts, at the symbol errors of both ports, and whether both are on the same rail",
        source: "linux-rdma/perftest, README; oracle-quickstart/oci-hpc takes a write one way for slow above 5 µs",
        run: skipped,
    },
    Check {
        id: RAILS,
        title: "cards of different rails reach each other",
        needs: Needs::Active,
        severity: Warn,
        expects: "a read with `ib_read_lat` from each rail to the next one of the neighbours. Where `expect.active.rails` is declared, together or apart, what differs from it fails; where it is not, the check is skipped on hosts that set NCCL_CROSS_NIC=0",
        why: "Rings stay on their rail and pass. Where rails are networks of their own, the first gather or all-to-all ends in `ibv_modify_qp failed with 110 Connection timed out`.",
        hint: "rails that are meant to be apart: NCCL_CROSS_NIC=0 for all jobs (`nccl_env`), and `expect.active.rails: apart`; rails that should meet: give each card a route to the networks of the others, then look at the switches between them. Rails that meet and should not: look for a cable in the wrong switch",
        source: "NCCL User Guide: Environment Variables (NCCL_CROSS_NIC); NVIDIA/nccl, issue 2013",
        run: skipped,
    },
    Check {
        id: MPIRUN,
        title: "one mpirun starts a process on every host",
        needs: Needs::Active,
        severity: Fail,
        expects: "`mpirun hostname` of the first host as `expect.software.mpi_user`, over `expect.software.mpi_network` where it is declared, names each host once",
        why: "It proves what all jobs need: the logins between hosts, the daemons of Open MPI and their connections back.",
        hint: "mend `ssh.mesh` first; then install the same Open MPI at the same prefix everywhere, open ports between hosts, and set `expect.software.mpi_network` where hosts have bridges with equal addresses",
        source: "mpirun(1)",
        run: skipped,
    },
    Check {
        id: ALL_REDUCE,
        title: "all GPUs together reach the expected bandwidth",
        needs: Needs::Active,
        severity: Fail,
        expects: "`all_reduce_perf` over all hosts with GPUs, no wrong value, 95 % of the published bandwidth at the largest size, between hosts in proportion to their cards (`expect.active.all_reduce` when it is declared), and RDMA between hosts, directly into GPU memory where `expect.rdma.gdr` is true",
        why: "It is a small job that uses NCCL, GPUs, cards and switches at once, and it counts wrong values.",
        hint: "look at `software.nccl_tests` for libraries, `active.ib_write_bw` for links, `rdma.gdr_ready` and `pcie.acs` for the way into GPU memory; the evidence has NCCL's log lines",
        source: "NVIDIA/nccl-tests, README.md and doc/PERFORMANCE.md",
        run: skipped,
    },
];

#[expect(clippy::unnecessary_wraps, reason = "all checks have this form")]
pub(in crate::checks) fn skipped(_: &Subject<'_>) -> Checked {
    Ok(Verdict::Skip("needs verify --active".to_owned()))
}
