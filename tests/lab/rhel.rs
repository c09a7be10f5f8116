//! Sites of the inventories on hosts that pass for the RHEL family, with repositories of stand-ins.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "these are tests, though not in functions that are marked so"
)]

use std::collections::BTreeSet;

use super::support::{Lab, outcome};

/// What a container cannot do is blocked with its reason; then `apply` says so with this code.
const BLOCKED: i32 = 7;

/// One host of a site's inventory in a lab of this family.
pub(crate) struct Site {
    pub(crate) lab: Lab,
    host: &'static str,
    sets: Vec<String>,
}

impl Site {
    pub(crate) fn up(
        inventory: &str,
        hosts: (&str, &'static str),
        gone: &[&str],
        options: &str,
        sets: &[&str],
    ) -> Option<Self> {
        let text =
            std::fs::read_to_string(format!("{}/inventories/{inventory}.yaml", env!("CARGO_MANIFEST_DIR")));
        let lines = text.unwrap().replace(hosts.0, hosts.1);
        let kept = lines.lines().filter(|line| !gone.iter().any(|gone| line.contains(gone)));
        let text = kept.collect::<Vec<_>>().join("\n");
        let options: Vec<String> = options.split_whitespace().map(str::to_owned).collect();
        let lab = Lab::of(&text, &[], &options)?;
        let sets = sets.iter().flat_map(|set| ["--set".to_owned(), (*set).to_owned()]).collect();
        Some(Self { lab, host: hosts.1, sets })
    }

    pub(crate) fn apply(&self) -> serde_json::Value {
        let inventory = self.lab.text("lab.yaml");
        let mut arguments = vec!["apply", &inventory, "--lab", "--yes", "--json", "-"];
        arguments.extend(self.sets.iter().map(String::as_str));
        self.lab.run(&arguments).expect(BLOCKED).json()
    }

    /// Nothing has drifted, and only these checks fail, besides that of a limit which not every machine lets a
    /// container raise.
    #[track_caller]
    pub(crate) fn verify(&self, failing: &[&str]) {
        let inventory = self.lab.text("lab.yaml");
        let mut arguments = vec!["verify", &inventory, "--lab", "--json", "-"];
        arguments.extend(self.sets.iter().map(String::as_str));
        let json = self.lab.run(&arguments).json();
        assert_eq!(json["summary"]["tasks"]["changed"], 0, "{json:#}");
        let checks = json["hosts"][self.host]["checks"].as_array().unwrap();
        let failed = checks.iter().filter(|check| check["status"] == "fail");
        let names: Vec<&str> = failed.map(|check| check["check"].as_str().unwrap()).collect();
        let names: Vec<&str> = names.into_iter().filter(|name| *name != "system.memlock").collect();
        assert_eq!(names, failing, "{json:#}");
        assert!(checks.iter().filter(|check| check["status"] == "pass").count() > 30, "{json:#}");
    }

    /// Applies twice: both times only these tasks are blocked, whole or in part, none fails, and the second time
    /// nothing changes.
    #[track_caller]
    pub(crate) fn converges(&self, blocked: &[&str]) -> serde_json::Value {
        let of = |json: &serde_json::Value, is: &dyn Fn(&serde_json::Value) -> bool| {
            let tasks = json["hosts"][self.host]["tasks"].as_array().unwrap();
            let those = tasks.iter().filter(|task| is(task));
            let names = those.map(|task| task["name"].as_str().unwrap().to_owned());
            names.collect::<BTreeSet<String>>().into_iter().collect::<Vec<_>>()
        };
        let (first, again) = (self.apply(), self.apply());
        for json in [&first, &again] {
            let left = of(json, &|task| task["outcome"] == "blocked" || task["blocked"].is_string());
            assert_eq!(left, blocked, "{json:#}");
            assert_eq!(of(json, &|task| task["outcome"] == "failed"), [""; 0], "{json:#}");
        }
        assert_eq!(again["summary"]["tasks"]["changed"], 0, "{again:#}");
        first
    }
}

const REPOSITORY: [&str; 1] = ["driver_source=repository"];

#[test]
fn infiniband_on_release_9() {
    let Some(site) =
        Site::up("infiniband", ("gpu[0-1]", "gpu0"), &["gpu1:"], "--family el9 --profile h100-x8-ib", &[])
    else {
        return;
    };
    site.converges(&["ib_umad, which ibstat needs"]);
    site.verify(&[]);
    let node = site.lab.node("gpu0");
    let installed = node.sh("rpm -qa --qf '%{NAME}\\n' | grep -e ibv -e infiniband -e rdma -e perf | sort");
    assert_eq!(installed, "infiniband-diags\nlibibverbs\nlibibverbs-utils\nlibrdmacm\nperftest\nrdma-core");
}

#[test]
fn roce_on_release_9() {
    let Some(site) = Site::up(
        "roce-v2",
        ("gpu[0-1]", "gpu0"),
        &["gpu1:"],
        "--family el9 --profile a100-x8-cx6 --mirror",
        &REPOSITORY,
    ) else {
        return;
    };
    let first = site.converges(&["NVIDIA driver", "quality of service"]);
    site.verify(&[]);
    for id in ["epel/CRB is on~2", "epel/EPEL~2", "cuda-repository/NVIDIA's repository for dnf"] {
        let tasks = first["hosts"]["gpu0"]["tasks"].as_array().unwrap();
        let done = tasks.iter().any(|task| task["id"] == id && task["outcome"] == "changed");
        assert!(done, "{id} in {first:#}");
    }
    let enabled = site.lab.node("gpu0").sh("dnf -q repolist --enabled | cut -d ' ' -f 1 | sort");
    assert_eq!(enabled, "appstream\nbaseos\ncrb\ncuda\nprovision-epel\nrepo");
}

/// Packages of the driver by dnf.
const INSTALLED: &str = "rpm -qa --qf '%{NAME} %{VERSION}\\n' | grep -e nvidia -e cuda | grep -v persistenced | sort | tr '\\n' ' '";

fn driver_playbook(wanted: &str) -> String {
    format!(
        "
name: driver
tasks:
  - include: cuda-repository
    with: {{ key_url: \"https://developer.download.nvidia.com/KEY\", key_fingerprint: \"{zeros}\" }}
  - include: epel
  - name: driver
    nvidia_driver: {{ {wanted}, source: repository, load: false }}
",
        zeros = "0".repeat(40)
    )
}

/// A lab of one host whose playbook changes.
fn changing(options: &str) -> Option<Lab> {
    let inventory = format!(
        "cluster: el\nlab: {{ {options}, mirror: true }}\nplaybooks: [play.yaml]\nhosts: {{ n0: {{}} }}\n"
    );
    let nothing = ("play.yaml".to_owned(), "name: nothing\ntasks: []\n".to_owned());
    Lab::of(&inventory, &[nothing], &[])
}

/// Applies twice: these tasks change something, and the second time none does.
#[track_caller]
fn twice(lab: &Lab, playbook: &str, tasks: &[&str]) {
    let inventory = lab.text("lab.yaml");
    std::fs::write(lab.path("play.yaml"), playbook).unwrap();
    let apply = || lab.run(&["apply", &inventory, "--yes", "--json", "-"]).expect(0).json();
    let json = apply();
    for task in tasks {
        assert_eq!(outcome(&json, "n0", task)["outcome"], "changed", "{json:#}");
    }
    let again = apply();
    assert_eq!(again["summary"]["tasks"]["changed"], 0, "{again:#}");
}

/// Release 10 has no streams, and its packages do not insist on their own version: locks hold the branch.
#[test]
fn branches_on_release_10() {
    let Some(lab) = changing("family: el10") else { return };
    let node = lab.node("n0");
    let driver = |wanted: &str| {
        twice(&lab, &driver_playbook(wanted), &["driver"]);
        node.sh(INSTALLED)
    };
    let all = |version: &str| {
        format!("kmod-nvidia-open-dkms {version} nvidia-driver-cuda {version} nvidia-open {version}")
    };
    assert_eq!(driver("branch: \"590\""), all("590.44.01"));
    // An upgrade stays in the branch, though a newer one is there.
    assert_eq!(node.sh(&format!("dnf -q -y upgrade >/dev/null 2>&1; {INSTALLED}")), all("590.44.01"));
    // Nobody else's lock goes with those of the driver.
    node.sh("dnf -q -y install nvidia-container-toolkit >/dev/null && dnf -q versionlock add nvidia-container-toolkit");
    let installed = |version: &str| {
        all(version).replace(" nvidia-driver", " nvidia-container-toolkit 1.17.4 nvidia-driver")
    };
    assert_eq!(driver("branch: \"580\""), installed("580.105.08"));
    // A part that is there in the branch is no reason to take the others from another one.
    node.sh("rpm -e --nodeps nvidia-open kmod-nvidia-open-dkms");
    assert_eq!(driver("branch: \"580\""), installed("580.105.08"));
    std::fs::write(lab.path("play.yaml"), driver_playbook("branch: \"570\"")).unwrap();
    let refused = lab.run(&["apply", &lab.text("lab.yaml"), "--yes"]).expect(5);
    refused.says("the repositories have no NVIDIA driver in version 570.*");
    assert_eq!(node.sh(INSTALLED), installed("580.105.08"));
    assert_eq!(driver("version: \"595.71.05\""), installed("595.71.05"));
    node.sh("dnf -q versionlock list | grep -q nvidia-container-toolkit");
    lab.assert_nothing_left();
}

/// From 590 on the names for apt hold no branch: a pin does.
#[test]
fn branches_without_names_for_apt() {
    let Some(lab) = changing("shell: /bin/bash") else { return };
    let node = lab.node("n0");
    let driver = |wanted: &str| {
        twice(&lab, &driver_playbook(wanted), &["driver"]);
        node.sh("dpkg-query -W -f '${Package} ${Version}\\n' '*nvidia*' | grep -v ' $' | tr '\\n' ' '")
    };
    let all = |version: &str| {
        format!(
            "libnvidia-compute {version}-1 nvidia-dkms-open {version}-1 nvidia-open {version}-1 nvidia-utils {version}-1"
        )
    };
    assert_eq!(driver("branch: \"590\""), all("590.44.01"));
    let candidate = "apt-cache policy nvidia-utils | sed -n 's/ *Candidate: //p'";
    assert_eq!(node.sh(candidate), "590.44.01-1");
    assert_eq!(driver("branch: \"595\""), all("595.71.05"));
    assert_eq!(driver("version: \"590.44.01\""), all("590.44.01"));
    // What Ubuntu built for its kernel has the kernel's version, and is no reason to have no candidate.
    let signed = "linux-modules-nvidia-590-open-6.8.0-31-generic";
    driver(&format!("branch: \"590\", packages: [nvidia-utils, {signed}]"));
    assert_eq!(node.sh(&format!("dpkg-query -W -f '${{Version}}' {signed}")), "6.8.0-31.31+1");
    lab.assert_nothing_left();
}

/// The driver goes between streams in both directions, and to a version that is locked; DOCA's packages replace the
/// distribution's; a version of dnf's may be a pattern, and stand beside another one.
#[test]
fn streams_locks_and_repositories() {
    let Some(lab) = changing("family: el9") else { return };
    let node = lab.node("n0");
    let twice = |playbook: &str, tasks: &[&str]| twice(&lab, playbook, tasks);
    let driver = |wanted: &str| {
        twice(&driver_playbook(wanted), &["driver"]);
        node.sh(INSTALLED)
    };
    let open = |version: &str| {
        format!("kmod-nvidia-open-dkms {version} nvidia-driver-cuda {version} nvidia-open {version}")
    };
    assert_eq!(driver("branch: \"590\""), open("590.44.01"));
    assert_eq!(driver("branch: \"580\""), open("580.105.08"));
    assert_eq!(
        driver("branch: \"535\""),
        "cuda-drivers 535.129.03 kmod-nvidia-latest-dkms 535.129.03 nvidia-driver-cuda 535.129.03"
    );
    assert_eq!(driver("version: \"580.105.08\""), open("580.105.08"));
    assert_eq!(driver("version: \"590.44.01\""), open("590.44.01"));
    let locks = node.sh("dnf -q versionlock list");
    assert!(locks.contains("nvidia-open-3:590.44.01") && !locks.contains("nvidia-open-3:580"), "{locks}");

    let playbook = "
name: rdma
tasks:
  - name: inbox
    package: { names: \"{{ ['ibverbs-utils', 'rdma-core', 'rdmacm-utils'] | package_names(os=facts.os) }}\" }
  - include: doca-ofed
  - name: headers
    package: { names: [kernel-devel], version: \"5.14.0-427.13.1.el9\" }
  - name: pattern
    package: { names: [numactl], version: \"2.*\", hold: true }
";
    twice(playbook, &["inbox", "DOCA-OFED", "headers", "pattern"]);
    let rdma = node.sh("rpm -q --qf '%{VERSION} ' libibverbs librdmacm rdma-core");
    assert_eq!(rdma, "2510.0.8 2510.0.8 2510.0.8");
    // DKMS came with the newest.
    assert_eq!(node.sh("rpm -q kernel-devel | wc -l"), "2");
    let locks = node.sh("dnf -q versionlock list");
    assert!(locks.contains("doca-ofed-0:3.2.3") && locks.contains("numactl-0:2.0.16"), "{locks}");
    lab.assert_nothing_left();
}

#[test]
fn erdma_on_alibaba_cloud_linux() {
    let mut sets = REPOSITORY.to_vec();
    sets.push("torch=false");
    // The builds are of stand-ins, and the disk is that of the machine that runs the tests.
    sets.push("space=1");
    sets.push("erdma_env_setup=https://mirrors.cloud.aliyuncs.com/erdma/env_setup.sh");
    sets.push("erdma_env_setup_sha256=0000000000000000000000000000000000000000000000000000000000000000");
    let Some(site) = Site::up(
        "ehpc-erdma",
        ("compute[000-001]", "compute000"),
        &["compute001:", "manager0", "login0"],
        "--family alinux3 --profile erdma-x8 --mirror",
        &sets,
    ) else {
        return;
    };
    // What the mirror has of NCCL and Open MPI is built, and is no library.
    let first = site.converges(&[
        "NVIDIA driver",
        "every program finds NCCL 2.27.7-1",
        "every program finds Open MPI 5.0.11",
        "modules at boot",
    ]);
    site.verify(&["software.nccl"]);
    let node = site.lab.node("compute000");
    node.sh("rpm -q cuda-toolkit-12-9 gcc-c++ libibverbs-utils >/dev/null && ! rpm -q ibverbs-utils");
    node.sh("grep -q /repos/rhel8/ /etc/yum.repos.d/cuda.repo");
    node.sh("test -e /usr/local/src/erdma-env_setup-*.done");
    assert_eq!(outcome(&first, node.name.as_str(), "eRDMA driver and OFED")["outcome"], "changed");
}
