//! Names of packages: that of Debian on the left, that of the RHEL family on the right.
//!
//! A built-in playbook names packages as Debian does and has them translated by the filter `package_names`,
//! so that a package has its row here and nowhere else. Names are the same on EL 8, 9, 10 and Alibaba Cloud
//! Linux 3 where a row says nothing else.
//!
//! Sources: `redhat/rdma-core.spec` and `debian/control` of rdma-core, `packages.debian.org`,
//! `packages.fedoraproject.org`, `nvidia_peer_memory.spec` of `nv_peer_memory`, NVIDIA's CUDA repositories.

use std::collections::BTreeSet;

use serde_json::Value as Json;

/// Debian's name, and the names of the same thing on the RHEL family.
pub const TABLE: &[(&str, &[&str])] = &[
    // What builds packages of Debian.
    ("autotools-dev", &[]),
    ("build-essential", &["gcc", "gcc-c++", "make"]),
    ("chrony", &["chrony"]),
    ("cmake", &["cmake"]),
    ("containerd", &[]),
    ("debhelper", &[]),
    ("dkms", &["dkms"]),
    // The RHEL family has Podman in its place.
    ("docker.io", &[]),
    ("environment-modules", &["environment-modules"]),
    ("ethtool", &["ethtool"]),
    ("g++", &["gcc-c++"]),
    ("gcc", &["gcc"]),
    ("git", &["git"]),
    ("ibverbs-providers", &["libibverbs"]),
    ("ibverbs-utils", &["libibverbs-utils"]),
    ("infiniband-diags", &["infiniband-diags"]),
    ("iproute2", &["iproute"]),
    ("irqbalance", &["irqbalance"]),
    ("libibmad5", &["infiniband-diags"]),
    ("libibumad-dev", &["rdma-core-devel"]),
    ("libibumad3", &["libibumad"]),
    ("libibverbs-dev", &["rdma-core-devel"]),
    ("libibverbs1", &["libibverbs"]),
    ("libnccl-dev", &["libnccl-devel"]),
    ("libnccl2", &["libnccl"]),
    ("libnl-3-200", &["libnl3"]),
    ("libnl-3-dev", &["libnl3-devel"]),
    ("libnl-route-3-200", &["libnl3"]),
    ("libnl-route-3-dev", &["libnl3-devel"]),
    ("libnuma-dev", &["numactl-devel"]),
    ("libopenmpi-dev", &["openmpi-devel"]),
    ("libpam-slurm-adopt", &["slurm-pam_slurm"]),
    ("librdmacm-dev", &["rdma-core-devel"]),
    ("librdmacm1", &["librdmacm"]),
    ("linux-perf", &["perf"]),
    ("lmod", &["Lmod"]),
    ("make", &["make"]),
    ("mariadb-server", &["mariadb-server"]),
    ("mstflint", &["mstflint"]),
    ("munge", &["munge"]),
    ("nfs-common", &["nfs-utils"]),
    ("numactl", &["numactl"]),
    ("nvidia-peer-memory-dkms", &["nvidia_peer_memory"]),
    ("openmpi-bin", &["openmpi"]),
    ("opensm", &["opensm"]),
    ("openssh-client", &["openssh-clients"]),
    ("pciutils", &["pciutils"]),
    ("perftest", &["perftest"]),
    ("perl", &["perl"]),
    ("podman", &["podman"]),
    ("prometheus-node-exporter", &["golang-github-prometheus-node-exporter"]),
    // The module `venv` is a part of Python there.
    ("python3-venv", &["python3"]),
    ("rdma-core", &["rdma-core"]),
    ("rdmacm-utils", &["librdmacm-utils"]),
    ("slurm-client", &["slurm"]),
    ("slurmctld", &["slurm-slurmctld"]),
    ("slurmd", &["slurm-slurmd"]),
    ("slurmdbd", &["slurm-slurmdbd"]),
    ("srptools", &["srp_daemon"]),
];

/// Names as the distribution of `facts.os` has them. One that is not in the table stays what it is, and two that
/// become the same are one.
pub(super) fn translate(names: Vec<String>, os: &Json) -> Vec<String> {
    if os.get("family").and_then(Json::as_str) != Some("rhel") {
        return names;
    }
    let mut seen = BTreeSet::new();
    names
        .into_iter()
        .flat_map(|name| match TABLE.iter().find(|(debian, _)| *debian == name) {
            Some((_, here)) => here.iter().map(|name| (*name).to_owned()).collect(),
            None => vec![name],
        })
        .filter(|name| seen.insert(name.clone()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn on(family: &str, names: &[&str]) -> String {
        let names = names.iter().map(|name| (*name).to_owned()).collect();
        translate(names, &serde_json::json!({ "family": family })).join(" ")
    }

    #[test]
    fn names_by_family() {
        let names = ["ibverbs-providers", "libibverbs1", "g++", "tmux", "build-essential"];
        assert_eq!(on("rhel", &names), "libibverbs gcc-c++ tmux gcc make");
        assert_eq!(on("debian", &names), names.join(" "));
        assert_eq!(on("suse", &names), names.join(" "));
    }

    #[test]
    fn a_name_has_one_row() {
        assert!(TABLE.is_sorted_by(|a, b| a.0 < b.0));
    }
}
