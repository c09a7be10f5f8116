//! What a real kernel shows of faults: its log, and the members of a bond.

use super::{Json, Lab};

/// One rail of two links: an RDMA device over a bond.
const INVENTORY: &str = r"cluster: vm
lab: { kind: vm }
playbooks:
  - { use: soft-roce, with: { netdev: bond0 } }
groups:
  node:
    hosts: node0
    nics: [{ match: { netdev: bond0 }, mtu: 4200 }]
    expect: { rdma: { state: ACTIVE }, system: { time_sync: false } }
";

const BOND: &str = "sudo sh -ec 'modprobe bonding; modprobe dummy numdummies=0
ip link add bond0 type bond mode active-backup miimon 100
for link in rail0 rail1; do ip link add $link type dummy; ip link set $link master bond0; done
ip link set bond0 mtu 4200 up; ip addr add 192.168.78.11/24 dev bond0'";

/// Lines in the forms of the drivers, the check that each is for, and what that says.
const LINES: [(&str, &str, &str, &str); 6] = [
    (
        "NVRM: Xid (PCI:0000:05:00): 79, pid=1234, name=python, GPU has fallen off the bus.",
        "gpu.xid",
        "fail",
        "0000:05:00: Xid 79",
    ),
    (
        "nvidia-nvswitch3: SXid (PCI:0000:c1:00.0): 20034, Fatal, Link 30 LTSSM Fault Up",
        "gpu.nvswitch_errors",
        "fail",
        "0000:c1:00.0: SXid 20034",
    ),
    (
        "mlx5_core 0000:5e:00.0: poll_health:835:(pid 0): device's health compromised - reached miss count",
        "rdma.log",
        "fail",
        "0000:5e:00.0: its health is compromised",
    ),
    (
        "mlx5_core 0000:5e:00.0: mlx5_pcie_event:299:(pid 412): Detected insufficient power on the PCIe slot (27W).",
        "rdma.slot_power",
        "warn",
        "0000:5e:00.0: its slot gives too little power",
    ),
    (
        "pcieport 0000:97:01.0: AER: Uncorrected (Fatal) error received: 0000:98:00.0",
        "pcie.aer",
        "fail",
        "the PCIe bus: uncorrected errors",
    ),
    ("mce: [Hardware Error]: Machine check events logged", "system.mce", "fail", "a machine check: 1 line"),
];

/// `fail gpu.xid`: what was found, with what is said.
fn findings(lab: &Lab) -> (i32, Vec<(String, String)>) {
    let (status, told) = lab.told(&["verify"], &[]);
    let checks = told["hosts"]["node0"]["checks"].as_array().expect("checks").clone();
    let text = |check: &Json, key: &str| check[key].as_str().expect("a text").to_owned();
    let found = checks.iter().filter(|check| ["fail", "warn"].contains(&text(check, "status").as_str()));
    let found = found
        .map(|check| (format!("{} {}", text(check, "status"), text(check, "check")), text(check, "message")));
    (status, found.collect())
}

#[test]
#[ignore = "boots a virtual machine: cargo test --test lab_vm -- --ignored what_a_kernel"]
fn what_a_kernel_logs_and_bonds_is_told() {
    let lab = Lab::new(INVENTORY);
    lab.good(&["lab", "up"], &[]);
    lab.ssh("node0", BOND);
    let (status, applied) = lab.told(&["apply"], &["--yes"]);
    assert_eq!(status, 0, "{applied}");
    assert_eq!(findings(&lab), (0, Vec::new()));

    // A cable of the bond is pulled: its RDMA device goes on.
    lab.ssh("node0", "sudo ip link set rail1 carrier off; sleep 1; cat /proc/net/bonding/bond0");
    let lost = ("fail network.bond".to_owned(), "rail1: down in bond0".to_owned());
    assert_eq!(findings(&lab), (6, vec![lost]));
    lab.ssh("node0", "sudo ip link set rail1 carrier on; sleep 1");
    assert_eq!(findings(&lab), (0, Vec::new()));

    for (number, (line, check, status, message)) in LINES.iter().enumerate() {
        lab.ssh("node0", &format!("echo \"<3>{line}\" | sudo tee /dev/kmsg"));
        let (_, found) = findings(&lab);
        assert_eq!(found.len(), number + 1, "{found:?}");
        let wanted = (format!("{status} {check}"), (*message).to_owned());
        assert!(found.contains(&wanted), "{wanted:?} is not in {found:?}");
        println!("{line}: {status} {check}");
    }
}
