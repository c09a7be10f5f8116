//! What a run of `all_reduce_perf` must reach.

use super::nccl;

/// What is expected of `all_reduce_perf` at its largest size in GB/s, of one host or of several: what
/// Azure/azurehpc-health-checks and public runs of nccl-tests show.
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
