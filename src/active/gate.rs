//! Thresholds that a run of `all_reduce_perf` must reach.

use super::nccl::{Busbw, Gate};

/// The network that carries traffic between hosts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Network {
    /// Switches that can add up on their way.
    InfiniBand,
    /// Ethernet, where each byte goes through the cards of each host.
    Roce,
}

/// The cards of a host that carry the traffic of jobs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Fabric {
    /// Kind of network that they are connected to.
    pub network: Network,
    /// Gb/s of all together.
    pub gbps: f64,
}

/// The network of several hosts, which is as slow as that of the slowest; none where one is not known.
pub(super) fn slowest(fabrics: impl Iterator<Item = Option<Fabric>>) -> Option<Fabric> {
    let all: Option<Vec<Fabric>> = fabrics.collect();
    all.and_then(|all| all.into_iter().min_by(|one, other| one.gbps.total_cmp(&other.gbps)))
}

/// GPUs, how many of them a host has at least and at most, and GB/s of the bus at the largest size: on one
/// host, on several over InfiniBand, and over RoCE.
type Row = (&'static [&'static str], usize, usize, Busbw, Option<Busbw>, Option<Busbw>);

/// Gb/s of the cards of the hosts of which the table tells: eight of 200 Gb/s with A100, of 400 Gb/s with the others.
fn usual_gbps(gpu: &str) -> f64 {
    if A100.contains(&gpu) { 1600.0 } else { 3200.0 }
}

use Busbw::{Expected, Floor};

/// Measurements of Azure/azurehpc-health-checks, oracle-quickstart/oci-hpc and public runs of nccl-tests.
/// Unpublished combinations have a floor far below what links allow, and missing it is only a warning.
const TABLE: &[Row] = &[
    (A100, 8, 8, Expected(230.0), Some(Expected(185.0)), Some(Expected(185.0))),
    (A100, 2, 7, Floor(150.0), None, None),
    (HOPPER, 8, 8, Expected(480.0), Some(Expected(450.0)), Some(Expected(320.0))),
    // Measured: 343 to 347 with two H200. With fewer than eight GPUs the switches add up less.
    (HOPPER, 2, 7, Expected(320.0), None, None),
    (&["H20", "H20-3e"], 2, 8, Floor(300.0), None, None),
    (&["B200"], 8, 8, Floor(600.0), Some(Floor(400.0)), Some(Floor(400.0))),
    (&["B200"], 2, 7, Floor(440.0), None, None),
    (&["H100 NVL"], 2, 2, Floor(208.0), None, None),
    (&["A100 80GB PCIe", "A100-PCIE-40GB"], 4, 4, Floor(25.0), None, None),
];
const A100: &[&str] = &["A100-SXM4-40GB", "A100-SXM4-80GB"];
const HOPPER: &[&str] = &["H100 80GB HBM3", "H200"];

/// Returns the bandwidth that `all_reduce_perf` should reach at its largest size; `None` when nothing is
/// known of the hardware, or of the cards between several hosts. Fewer or slower cards lower it in
/// proportion.
pub fn expected_busbw(gpu: &str, gpus: usize, hosts: usize, fabric: Option<Fabric>) -> Option<Busbw> {
    let name = gpu.strip_prefix("NVIDIA ").unwrap_or(gpu);
    let (.., one, infiniband, roce) = TABLE
        .iter()
        .find(|(names, least, most, ..)| names.contains(&name) && (*least..=*most).contains(&gpus))?;
    if hosts < 2 {
        return Some(*one);
    }
    let fabric = fabric?;
    let part = (fabric.gbps / usual_gbps(name)).min(1.0);
    Some(match (*if fabric.network == Network::Roce { roce } else { infiniband })? {
        Expected(busbw) => Expected(busbw * part),
        Floor(busbw) => Floor(busbw * part),
    })
}

/// The gate of a run on so many hosts with so many GPUs each; what the inventory declares is stronger than
/// what is known.
pub fn gate(
    gpu: &str,
    gpus: usize,
    hosts: usize,
    fabric: Option<Fabric>,
    declared: Option<u32>,
    gdr: bool,
) -> Gate {
    let known = || expected_busbw(gpu, gpus, hosts, fabric);
    let busbw = declared.map(|wanted| Expected(f64::from(wanted))).or_else(known);
    Gate { ranks: gpus * hosts, busbw, gdr, between_hosts: hosts > 1 }
}

#[cfg(test)]
mod tests {
    use super::Network::{InfiniBand, Roce};
    use super::*;

    #[test]
    fn gates_follow_the_hardware() {
        let of = |network, gbps| Some(Fabric { network, gbps });
        let one = gate("NVIDIA H100 80GB HBM3", 8, 1, None, None, true);
        assert_eq!((one.ranks, one.busbw, one.between_hosts), (8, Some(Expected(480.0)), false));
        let two = gate("NVIDIA A100-SXM4-80GB", 8, 2, of(InfiniBand, 1600.0), None, true);
        assert_eq!((two.ranks, two.busbw, two.between_hosts), (16, Some(Expected(185.0)), true));
        let known = |gpu, gpus, hosts, network| gate(gpu, gpus, hosts, of(network, 3200.0), None, true).busbw;
        assert_eq!(known("NVIDIA H100 80GB HBM3", 8, 2, InfiniBand), Some(Expected(450.0)));
        assert_eq!(known("NVIDIA H100 80GB HBM3", 8, 4, Roce), Some(Expected(320.0)));
        assert_eq!(known("NVIDIA H200", 2, 1, Roce), Some(Expected(320.0)));
        assert_eq!(known("NVIDIA H20", 8, 1, InfiniBand), Some(Floor(300.0)));
        assert_eq!(known("NVIDIA B200", 4, 1, InfiniBand), Some(Floor(440.0)));
        // Other boards with the same letters, and one GPU by itself.
        assert_eq!(known("NVIDIA H200 NVL", 8, 1, InfiniBand), None);
        assert_eq!(known("NVIDIA GB200", 4, 1, InfiniBand), None);
        assert_eq!(known("NVIDIA H200", 1, 1, InfiniBand), None);
        // Four cards of 200 Gb/s carry a quarter, and of cards that are not known nothing is expected.
        assert_eq!(gate("NVIDIA H200", 8, 2, of(Roce, 800.0), None, true).busbw, Some(Expected(80.0)));
        assert_eq!(gate("NVIDIA H200", 8, 2, None, None, true).busbw, None);
    }

    #[test]
    fn what_is_declared_is_stronger() {
        let declared = |gpu| gate(gpu, 8, 2, None, Some(150), true).busbw;
        assert_eq!(declared("NVIDIA H100 80GB HBM3"), Some(Expected(150.0)));
        assert_eq!(declared("NVIDIA L40S"), Some(Expected(150.0)));
    }
}
