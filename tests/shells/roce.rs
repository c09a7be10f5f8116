//! Quality of service of links on a `/sys` that is made up, as mlx5 shows it with and without OFED.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test")]

use crate::support::{gather, run};
use provision::facts::roce::{Roce, RoceQuery};
use provision::transport::Script;

/// Two functions of one card whose links are a bond: one RDMA device for both.
const BOND: &str = "set -e; mount -t tmpfs none /sys; \
    pci=/sys/devices/pci0000:00; mkdir -p /sys/class/net /sys/class/infiniband $pci; \
    for n in 0 1; do \
        mkdir -p $pci/0000:5e:00.$n/net/eth$n; ln -s $pci/0000:5e:00.$n/net/eth$n /sys/class/net/eth$n; \
        ln -s $pci/0000:5e:00.$n /sys/class/net/eth$n/device; ln -s /sys/class/net/bond0 /sys/class/net/eth$n/master; \
    done; \
    mkdir -p /sys/class/net/bond0 /sys/class/net/other /sys/class/infiniband/mlx5_bond_0/ports/1/gid_attrs/ndevs; \
    ln -s $pci/0000:5e:00.0 /sys/class/infiniband/mlx5_bond_0/device; \
    echo bond0 >/sys/class/infiniband/mlx5_bond_0/ports/1/gid_attrs/ndevs/0; ";
/// Parameters of congestion control as the kernel's own driver has them.
const INBOX: &str = "cc=/sys/kernel/debug/mlx5/0000:5e:00.1/cc_params; mkdir -p $cc; \
    echo 0 >$cc/np_cnp_dscp; echo 0 >$cc/np_cnp_prio; ";
/// The same with OFED, and ECN for each priority.
const OFED: &str = "for side in np rp; do mkdir -p /sys/class/net/eth1/ecn/roce_$side/enable; \
        echo 0 >/sys/class/net/eth1/ecn/roce_$side/enable/3; done; \
    echo 48 >/sys/class/net/eth1/ecn/roce_np/cnp_dscp; echo 6 >/sys/class/net/eth1/ecn/roce_np/cnp_802p_prio; ";

fn shell(make: &str) -> [String; 5] {
    // Neither tool of this machine is asked.
    let bin = "bin=$(mktemp -d); mount -t tmpfs none $bin; \
        for tool in sh dash mkdir cat sleep; do ln -s $(command -v $tool) $bin/$tool; done; PATH=$bin exec dash";
    [
        "unshare",
        "-m",
        "sh",
        "-c",
        &format!("{BOND}{make}mkdir /sys/class/net/eth1/qos; echo pcp >/sys/class/net/eth1/qos/trust; {bin}"),
    ]
    .map(str::to_owned)
}

#[test]
fn links_of_a_bond_have_its_device() {
    let shell = shell(INBOX);
    let shell: Vec<&str> = shell.iter().map(String::as_str).collect();
    let links = ["eth0", "eth1", "bond0", "other", "none"].map(|link| RoceQuery(link.to_owned()));
    let facts = gather(&shell, links.clone().map(Into::into));
    if facts.get(&links[4]).answer().is_none() {
        return println!("namespaces cannot be made here");
    }
    let device = |link: &RoceQuery| facts.get(link).answer().cloned().flatten().and_then(|roce| roce.device);
    assert_eq!(
        links.each_ref().map(device),
        [Some("mlx5_bond_0"), Some("mlx5_bond_0"), Some("mlx5_bond_0"), None, None]
            .map(|one| one.map(str::to_owned))
    );
    let eth1: Roce = facts.get(&links[1]).answer().cloned().flatten().unwrap();
    assert_eq!((eth1.cnp_dscp.as_deref(), eth1.cnp_priority.as_deref()), (Some("0"), Some("0")));
    assert_eq!(eth1.trust.as_deref(), Some("pcp"));
}

/// What the link has not is said, and the rest is set all the same.
#[test]
fn what_is_missing_stops_nothing() {
    let program = [
        include_str!("../../src/shell/roce_device.sh"),
        include_str!("../../src/shell/rooted.sh"),
        include_str!("../../src/resources/rdma/roce/roce.sh"),
    ]
    .concat();
    let tell = "status=$?; for file in /sys/class/net/eth1/qos/trust /sys/class/net/eth1/ecn/*/enable/3 \
        /sys/class/net/eth1/ecn/*/cnp* /sys/kernel/debug/mlx5/*/cc_params/*; do [ ! -e $file ] || cat $file; done; exit $status";
    let mut told = Vec::new();
    for (make, link) in [(INBOX, "eth1"), (OFED, "eth1"), (INBOX, "gone")] {
        let shell = shell(make);
        let shell: Vec<&str> = shell.iter().map(String::as_str).collect();
        let words = [link, "dscp", "0,0,0,1,0,0,0,0", "3", "26:3", "-", "106", "48", "6"];
        let whole = format!("( set -- {}\n{program}\n)\n{tell}", words.join(" "));
        let (status, output, errors) = run(&shell, &Script::new(whole), None);
        if errors.contains("Operation not permitted") {
            return println!("namespaces cannot be made here");
        }
        let files = String::from_utf8(output).unwrap().split_whitespace().collect::<Vec<_>>().join(" ");
        told.push(format!("{status}: {files}\n{errors}"));
    }
    assert!(told[0].starts_with("3: dscp 48 6\n"), "{}", told[0]);
    for lacking in ["neither mlnx_qos nor dcb can set PFC", "no ECN of priority 3", "no traffic class"] {
        assert!(told[0].contains(lacking), "{lacking}: {}", told[0]);
    }
    assert!(told[1].starts_with("3: dscp 1 1 6 48\n"), "{}", told[1]);
    assert!(!told[1].contains("no ECN"), "{}", told[1]);
    assert!(told[2].starts_with("0: pcp 0 0\nthere is no link gone now"), "{}", told[2]);
}
