//! A lab without a way out, and its mirror.

use super::support::{Lab, outcome};

const PLAYBOOK: &str = "
name: from vendors
tasks:
  - name: repository
    repository:
      name: cuda
      url: https://developer.download.nvidia.com/compute/cuda/repos/debian12/x86_64
      suites: [\"/\"]
      pin: release l=NVIDIA CUDA
      priority: 600
      key:
        url: https://developer.download.nvidia.com/compute/cuda/repos/debian12/x86_64/3bf863cc.pub
        fingerprint: EB69 3B30 35CD 5710 E231  E123 A4B4 6996 3BF8 63CC
  - name: packages
    package: { names: [libnccl-dev, nvidia-open-580, ethtool] }
  - name: archive
    archive:
      url: https://download.open-mpi.org/release/open-mpi/v5.0/openmpi-5.0.11.tar.gz
      path: /usr/local/src/openmpi-5.0.11
      sha256: \"0000000000000000000000000000000000000000000000000000000000000000\"
      strip: 1
  - name: source
    git: { url: \"https://github.com/NVIDIA/nccl.git\", path: /usr/local/src/nccl, tag: v2.26.2-1 }
  - name: script
    download:
      url: http://mirrors.cloud.aliyuncs.com/erdma/env_setup.sh
      path: /usr/local/src/env_setup.sh
      sha256: \"0000000000000000000000000000000000000000000000000000000000000000\"
  - name: mounted
    mount: { path: /shared, source: \"10.0.9.1:/export\", type: nfs4 }
    on_failure: continue
";

#[test]
fn a_site_without_a_way_out() {
    let Some(lab) = Lab::up(&["n0"], "{ mirror: true, offline: true, packages: [git, curl] }") else {
        return;
    };
    let node = lab.node("n0");
    // Nothing but the lab is there.
    node.sh("! timeout 3 bash -c 'exec 3<>/dev/tcp/1.1.1.1/80' 2>/dev/null");
    node.sh("! grep -q ^deb /etc/apt/sources.list");
    std::fs::write(lab.path("nothing.yaml"), PLAYBOOK).unwrap();
    let inventory = lab.text("lab.yaml");
    // What cannot be done in a container is blocked, with the reason; everything else is done.
    let apply = || lab.run(&["apply", &inventory, "--yes", "--json", "-"]).expect(7).json();
    let json = apply();
    for task in ["repository", "packages", "archive", "source", "script"] {
        assert_eq!(outcome(&json, "n0", task)["outcome"], "changed", "{task}: {json:#}");
    }
    let blocked = outcome(&json, "n0", "mounted");
    assert_eq!(blocked["outcome"], "blocked", "{blocked:#}");
    assert!(
        blocked.to_string().contains("in a container (docker)") || blocked.to_string().contains("podman"),
        "{blocked:#}"
    );
    let told = node.sh("dpkg-query -W -f '${Version} ${binary:Summary}\\n' libnccl2 nvidia-utils-580");
    assert_eq!(told, "2.27.7-1+cuda12.4 stand-in for libnccl2\n580.105.08-1 stand-in for nvidia-utils-580");
    // Debian's own packages come from the mirror too.
    node.sh("ethtool --version && apt-cache policy ethtool | grep -q http://lab-mirror/debian");
    assert_eq!(node.sh("cat /usr/local/src/openmpi-5.0.11/Makefile.in | head -n 1"), "prefix = @prefix@");
    assert_eq!(node.sh("git -C /usr/local/src/nccl describe --tags"), "v2.26.2-1");
    node.sh("sh /usr/local/src/env_setup.sh --egs | grep -q stand-in");
    let again = apply();
    assert_eq!(again["summary"]["tasks"]["changed"], 0, "{again:#}");

    // A file of somebody else about the same repository, with another file of its key: apt would read nothing any more. Without
    // gpg nobody can say whether it is the same key.
    node.sh(
        "cd /etc/apt && cp keyrings/cuda.asc keyrings/theirs.asc && \
         sed -n 's|^URIs: \\(.*\\)|deb [signed-by=/etc/apt/keyrings/theirs.asc] \\1 /|p' sources.list.d/cuda.sources >sources.list.d/theirs.list && \
         rm sources.list.d/cuda.sources",
    );
    let failed = lab.run(&["apply", &inventory, "--yes", "--json", "-"]).expect(5).json();
    let said = outcome(&failed, "n0", "repository").to_string();
    assert!(
        said.contains("theirs.list has this repository already") && said.contains("gpg is needed"),
        "{said}"
    );
    node.sh("apt-get -s install ethtool && ! ls /etc/apt/sources.list.d/cuda*");
    node.sh("rm /etc/apt/sources.list.d/theirs.list");
    assert_eq!(outcome(&apply(), "n0", "repository")["outcome"], "changed");
    assert_eq!(apply()["summary"]["tasks"]["changed"], 0);

    // A second `up` leaves what runs, with the same key.
    let key = |json: &serde_json::Value| json["mirror"]["key"].clone();
    let before =
        std::fs::read(key(&lab.run(&["lab", "status", &inventory, "--json", "-"]).json()).as_str().unwrap())
            .unwrap();
    lab.run(&["lab", "up", &inventory]).expect(0);
    let status = lab.run(&["lab", "status", &inventory, "--json", "-"]).json();
    assert_eq!(std::fs::read(key(&status).as_str().unwrap()).unwrap(), before);
    assert_eq!(apply()["summary"]["tasks"]["changed"], 0);
}
