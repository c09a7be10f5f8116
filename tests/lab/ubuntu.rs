//! Sites of the inventories on hosts that pass for Ubuntu, with a repository of stand-ins for what Debian does not have.

#![allow(clippy::indexing_slicing, reason = "these are tests, though not in functions that are marked so")]

use crate::rhel::Site;
use crate::support::{Lab, outcome};

/// The site ehpc-erdma, with this CUDA toolkit.
fn erdma(family: &str, cuda: &str) {
    let options = format!("--family {family} --profile erdma-x8 --mirror");
    let hosts = ("compute[000-001]", "compute000");
    let cuda = format!("cuda={cuda}");
    // The builds are of stand-ins, and the disk is that of the machine that runs the tests.
    let sets = ["torch=false", "space=1", &cuda];
    let gone = ["compute001:", "manager0", "login0"];
    let Some(site) = Site::up("ehpc-erdma", hosts, &gone, &options, &sets) else { return };
    let first = site.converges(&[
        "NVIDIA driver",
        "every program finds NCCL 2.27.7-1",
        "every program finds Open MPI 5.0.11",
        "modules at boot",
    ]);
    site.verify(&["software.nccl"]);
    // The links are those of netplan, and upgrades leave the driver alone.
    assert_eq!(outcome(&first, "compute000", "MTU of erdma0")["outcome"], "changed", "{first:#}");
    let node = site.lab.node("compute000");
    node.sh("netplan get ethernets.erdma0.mtu | grep -qx 1400");
    node.sh("test -e /etc/needrestart/conf.d/51provision.conf && test -e /etc/apt/apt.conf.d/51provision");
}

/// The site roce-v2.
fn roce(family: &str) {
    let options = format!("--family {family} --profile a100-x8-cx6 --mirror");
    let Some(site) = Site::up("roce-v2", ("gpu[0-1]", "gpu0"), &["gpu1:"], &options, &[]) else { return };
    site.converges(&["NVIDIA driver", "quality of service"]);
    site.verify(&[]);
    // The links have their MTU already, and netplan keeps it.
    site.lab.node("gpu0").sh("netplan get ethernets.rdma0.mtu | grep -qx 9000");
}

#[test]
#[ignore = "minutes for each site: make test-years"]
fn erdma_on_ubuntu_24() {
    erdma("ubuntu2404", "12.9");
}

#[test]
#[ignore = "minutes for each site: make test-years"]
fn erdma_on_ubuntu_26() {
    erdma("ubuntu2604", "13.3");
}

#[test]
#[ignore = "minutes for each site: make test-years"]
fn roce_on_ubuntu_24() {
    roce("ubuntu2404");
}

#[test]
#[ignore = "minutes for each site: make test-years"]
fn roce_on_ubuntu_26() {
    roce("ubuntu2604");
}

const TWO: &str = "cluster: ubuntu
lab: {}
playbooks: [play.yaml]
hosts:
  n24: { lab: { family: ubuntu2404 } }
  n26: { lab: { family: ubuntu2604 } }
";

fn driver(branch: u32) -> String {
    format!(
        "name: driver\ntasks:\n  - name: driver\n    nvidia_driver: {{ branch: \"{branch}\", load: false }}\n"
    )
}

/// A branch that Ubuntu gave up is refused before anything changes, with the one that it leads to: also where its packages
/// do not say that they are empty, and where the next one is empty as well.
#[test]
#[ignore = "images of two families: make test-years"]
fn branches_that_ubuntu_gave_up() {
    let Some(lab) = Lab::of(TWO, &[("play.yaml".to_owned(), driver(550))], &[]) else { return };
    let inventory = lab.text("lab.yaml");
    for branch in [535, 550, 570] {
        std::fs::write(lab.path("play.yaml"), driver(branch)).expect("written");
        let plan = lab.run(&["plan", &inventory]);
        let said = format!("{}{}", plan.out, plan.err);
        for host in ["n24", "n26"] {
            let refused =
                format!("Ubuntu has retired branch {branch}: its packages are empty and lead to branch 580");
            let told = said.lines().any(|line| line.contains(host) && line.contains(&refused));
            assert!(told, "{branch} on {host}\n{said}");
        }
    }
    // The next one comes with all its parts, and is held.
    std::fs::write(lab.path("play.yaml"), driver(580)).expect("written");
    let apply = || lab.run(&["apply", &inventory, "--yes", "--json", "-"]).expect(0).json();
    let (first, again) = (apply(), apply());
    assert_eq!(again["summary"]["tasks"]["changed"], 0, "{again:#}");
    let versions =
        "dpkg-query -W -f '${Version}\\n' 'nvidia-*-580-server*' 'libnvidia-*-580-server' | grep . | sort -u";
    for (host, release) in [("n24", "24.04"), ("n26", "26.04")] {
        assert_eq!(outcome(&first, host, "driver")["outcome"], "changed", "{first:#}");
        let node = lab.node(host);
        assert_eq!(node.sh(versions), format!("580.178.04-0ubuntu0.{release}.1"));
        node.sh("apt-mark showhold | grep -qx nvidia-utils-580-server");
    }
    // They are what they pass for: 26.04 has the programs of Rust.
    let told = ". /etc/os-release; echo $PRETTY_NAME; sudo --version 2>&1 | cut -d' ' -f1 | head -n 1; readlink /usr/bin/cat";
    assert_eq!(lab.node("n26").sh(told), "Ubuntu 26.04 LTS\nsudo-rs\n../lib/cargo/bin/coreutils/cat");
    lab.node("n24")
        .sh("apt-cache show linux-modules-extra-6.8.0-151-generic >/dev/null && netplan get >/dev/null");
}
