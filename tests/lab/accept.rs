//! `accept` on real hosts with sshd. There are no GPUs: the driver's tools play what two H200 said, and the compiler makes
//! a program that plays what ours said on an H200. There is no RDMA either: what stands for perftest plays its tables.

use super::support::{Lab, Node, eventually, perftest, run};

const NOTHING: &str = "name: nothing\ntasks: []\n";

/// A stand-in of `nvcc`: the program that it writes takes its time, and says what ours said on an H200 (driver
/// 580.159.04, CUDA 13.0, 2026-12-01). What a file in /etc/stand-in says comes in place of it.
const NVCC: &str = r#"#!/bin/sh
while [ "$1" != -o ]; do shift; done
cat >"$2" <<'END'
#!/bin/sh
echo "about name NVIDIA H200"
echo "about cuda 13.0"
echo "about cublas 130100"
while [ -e /etc/stand-in/waits ]; do sleep 1; done
id -un >/tmp/loaded-by
if [ -f "/etc/stand-in/$1" ]; then
    cat "/etc/stand-in/$1"
else
    case $1 in
    matmul.fp32) echo "figure $1 50.34 TFLOP/s"; echo "digest $1 30b6b06d1eaf9ea2" ;;
    matmul.bf16) echo "figure $1 666.7 TFLOP/s"; echo "digest $1 7a3347099024648b" ;;
    matmul.fp8) echo "figure $1 1210 TFLOP/s"; echo "digest $1 d435140f906fbbca" ;;
    copy) echo "figure copy.to 55.47 GB/s"; echo "figure copy.from 55.34 GB/s"; echo "figure copy.inside 4294 GB/s" ;;
    memory) echo "figure memory.write 4181 GB/s"; echo "figure memory.read 3541 GB/s"; echo "about tested 125.4 GiB" ;;
    peers) echo "skip peers there is one GPU" ;;
    esac
fi
echo "end $1"
END
chmod 755 "$2"
"#;

fn compiler(node: &Node) {
    node.sh(&format!("mkdir -p /usr/local/cuda/bin /etc/stand-in; cat >/usr/local/cuda/bin/nvcc <<'NVCC'\n{NVCC}NVCC\nchmod 755 /usr/local/cuda/bin/nvcc"));
}

#[test]
fn hosts_are_tested_and_a_record_is_kept() {
    let Some(lab) = Lab::up(&["gpu0", "gpu1", "gpu2"], "{ profile: h200-x2 }") else { return };
    let site = lab.site("site", NOTHING);
    for name in ["gpu0", "gpu1"] {
        compiler(lab.node(name));
    }
    // No compiler is no fault of the host.
    let ran = site.run("accept", &["--quick", "--stage", "node"]).expect(6);
    let ran = ran.shows("gpu2 was not tested: there is no nvcc").shows("2 of 3 hosts passed: gpu[0-1]");
    ran.shows("matmul.bf16");
    assert_eq!(lab.node("gpu0").sh("cat /tmp/loaded-by").trim(), "nobody");

    // The record is signed, a changed byte is found, and no part of the hosts changed since.
    let (record, page) = (lab.path("record.json"), lab.path("record.html"));
    let (record, page) = (record.to_str().unwrap(), page.to_str().unwrap());
    let key = lab.path("signer");
    let key = key.to_str().unwrap();
    run("ssh-keygen", &["-q", "-t", "ed25519", "-N", "", "-f", key]).unwrap();
    let public = std::fs::read_to_string(format!("{key}.pub")).unwrap();
    let signers = lab.path("signers");
    std::fs::write(&signers, format!("ops@example.org namespaces=\"provision-acceptance\" {public}"))
        .unwrap();
    let words = ["--quick", "--stage", "node", "--hosts", "gpu[0-1]"];
    let ran = site.run("accept", &[&words[..], &["--json", record, "--html", page, "--sign", key]].concat());
    ran.expect(0).says("signed:").shows("2 of 2 hosts passed");
    assert!(std::fs::read_to_string(page).unwrap().contains("matmul.bf16"));
    let check =
        ["report", "signature", record, "--signers", signers.to_str().unwrap(), "--by", "ops@example.org"];
    lab.run(&check).expect(0).shows("Good");
    let text = std::fs::read_to_string(record).unwrap();
    std::fs::write(record, text.replacen("666.7", "766.7", 1)).unwrap();
    lab.run(&check).expect(6).says("no signature of");
    // Nobody's signature is written over, and that is said before anything is loaded.
    let ran = site.run("accept", &[&words[..], &["--json", record, "--sign", key]].concat());
    ran.expect(1).says("there is a signature already").lacks("under load");
    site.run("parts", &[]).expect(0).shows("No part changed");
    site.run("verify", &["--against", record]).says("No part changed since");

    // One that computes another result than the others, one that finds what its memory lost.
    compiler(lab.node("gpu2"));
    lab.node("gpu1").sh("printf 'figure matmul.bf16 660.1 TFLOP/s\ndigest matmul.bf16 00000000000000aa\n' >/etc/stand-in/matmul.bf16");
    lab.node("gpu2").sh("printf 'wrong memory 3 words differ from what was written, the first 4096 bytes in\n' >/etc/stand-in/memory");
    let json = site.run("accept", &["--quick", "--stage", "node", "--json", "-"]).expect(6).json();
    assert_eq!(json["hosts"]["gpu0"]["verdict"], "passed", "{json:#}");
    let said = |host: &str| json["hosts"][host]["findings"][0]["text"].as_str().unwrap().to_owned();
    assert!(
        said("gpu1").contains("its result of matmul.bf16 differs from that of 4 others"),
        "{}",
        said("gpu1")
    );
    assert!(said("gpu2").contains("3 words differ from what was written"), "{}", said("gpu2"));

    // A load is ended at once, and another run is told that one goes on.
    for name in ["gpu0", "gpu1", "gpu2"] {
        lab.node(name).sh("rm -f /etc/stand-in/m*; touch /etc/stand-in/waits");
    }
    let mut going = site.spawn("accept", &["--quick", "--stage", "node"]);
    going.until("matmul.fp32.1 on 3 hosts");
    going.signal("INT");
    let ran = going.wait();
    assert_eq!(ran.code, 130, "{}", ran.err);
    ran.says("stopped on gpu[0-2]: the GPUs are free");
    assert_eq!(lab.node("gpu0").sh("pgrep -f work/gpu || :"), "");

    // It goes on where the controller is killed, and is gone on with by the same command alone.
    let mut going = site.spawn("accept", &["--quick", "--stage", "node", "--hosts", "gpu[0-1]"]);
    going.until("matmul.fp32.1 on 2 hosts");
    going.kill();
    lab.node("gpu0").sh("rm /etc/stand-in/waits");
    site.run("accept", &["--quick"]).expect(2).says("on gpu[0-1] is not finished");
    let ran = site.run("accept", &["--quick", "--stage", "node", "--hosts", "gpu0"]).expect(2);
    ran.says("is not finished");
    lab.node("gpu1").sh("rm /etc/stand-in/waits");
    let ran = site.run("accept", &["--quick", "--stage", "node", "--hosts", "gpu[0-1]"]).expect(0);
    ran.says("going on with").shows("2 of 2 hosts passed");

    // A test whose shell was killed is not taken for somebody else's, and what was done is not done again.
    lab.node("gpu0").sh("touch /etc/stand-in/waits");
    let mut going = site.spawn("accept", &["--quick", "--stage", "node", "--hosts", "gpu0"]);
    going.until("matmul.fp32.1 on 1 host");
    going.kill();
    lab.node("gpu0").sh("rm /etc/stand-in/waits; kill -9 $(cat /var/lib/provision-accept/*/leader)");
    site.run("accept", &["--quick", "--stage", "node", "--hosts", "gpu0"])
        .expect(0)
        .shows("1 of 1 host passed");

    // Who holds the driver works there.
    lab.node("gpu0").sh("mknod /dev/nvidia-uvm c 1 3 2>/dev/null || :; sh -c 'exec 9</dev/nvidia-uvm; exec sleep 300' >/dev/null 2>&1 &");
    eventually("a process holds the driver", || {
        lab.node("gpu0").sh("ls -l /proc/[0-9]*/fd 2>/dev/null | grep -c nvidia-uvm || :").trim() != "0"
    });
    let ran = site.run("accept", &["--quick", "--stage", "node", "--hosts", "gpu0"]).expect(6);
    ran.shows("gpu0 was not tested: it is in use: process").shows("holds the driver");
    site.run("accept", &["--stop"]).expect(0).says("no tests go on");

    // A host that is away is no fault of its parts.
    lab.node("gpu2").engine("stop");
    let ran = site.run("accept", &["--quick", "--stage", "node", "--hosts", "gpu[1-2]"]).expect(6);
    ran.shows("gpu2 was not tested:").shows("1 of 2 hosts passed: gpu1");
}

/// One rail of each host takes part: seven more would show the same, seven times as slowly.
const ONE_RAIL: &str =
    "expect: { rdma: { ignore: [mlx5_1, mlx5_2, mlx5_3, mlx5_4, mlx5_5, mlx5_6, mlx5_7] } }\n";

/// The stand-in for perftest knows no partner: each host is told how tests with the slow one and the one that hangs go.
#[test]
fn a_slow_host_and_one_that_hangs_are_named_by_rounds_of_pairs() {
    let Some(lab) = Lab::up(&["gpu0", "gpu1", "gpu2", "gpu3"], "{ profile: a100-x8-cx6 }") else { return };
    let site = lab.site_with("site", NOTHING, ONE_RAIL, "become: sudo", "");
    let words = ["--stage", "pairs"];
    site.run("accept", &words).expect(6).shows("gpu[0-3] was not tested: ib_write_bw is not installed");
    perftest(&lab);
    let (record, page) = (lab.path("pairs.json"), lab.path("pairs.html"));
    let (record, page) = (record.to_str().unwrap(), page.to_str().unwrap());
    let ran = site.run("accept", &[&words[..], &["--json", record, "--html", page]].concat()).expect(0);
    let ran = ran.shows("4 of 4 hosts passed").says("4 hosts in 3 rounds of disjoint pairs, 1 rail");
    ran.says("about 1 min, at most 47 min").says("round 3 of 3: 2 pairs");
    let json: serde_json::Value = serde_json::from_slice(&std::fs::read(record).unwrap()).unwrap();
    let pairs = json["pairs"].as_array().unwrap();
    // Six pairs, both directions from the memory of GPUs, and the latency once.
    assert_eq!(pairs.len(), 18, "{json:#}");
    let writes = pairs.iter().filter(|pair| pair["name"] == "gpu_write");
    let ends: std::collections::BTreeSet<(&str, &str)> =
        writes.map(|pair| (pair["from"].as_str().unwrap(), pair["to"].as_str().unwrap())).collect();
    assert_eq!(ends.len(), 12, "{json:#}");
    assert!(pairs.iter().all(|pair| pair["from_port"] == "mlx5_0/1" && pair["holds"] == true), "{json:#}");
    let html = std::fs::read_to_string(page).unwrap();
    assert!(
        html.contains("<b>gpu_write</b>") && html.contains("gpu0 mlx5_0/1 to gpu1 mlx5_0/1: 189.4"),
        "{html}"
    );

    // gpu1 is slow with everybody, and everybody with it; gpu3 answers nobody.
    let others =
        "case \"$*\" in *--help*) ;; *10.0.0.4*) exec sleep 300 ;; *10.0.0.2*) one=92.10 gpu=92.10 ;; esac";
    for name in ["gpu0", "gpu2"] {
        lab.node(name).sh(&format!("echo '{others}' >/run/ib_write_bw"));
    }
    lab.node("gpu1").sh(&format!("echo 'one=92.10 gpu=92.10; {others}' >/run/ib_write_bw"));
    lab.node("gpu3").sh("echo 'case \"$*\" in *--help*) ;; *) exec sleep 300 ;; esac' >/run/ib_write_bw");
    let ran = site.run("accept", &[&words[..], &["--json", record]].concat()).expect(6);
    let ran = ran.shows("2 of 4 hosts passed: gpu[0,2]").shows("gpu1 failed").shows("gpu3 failed");
    let ran =
        ran.shows("reached 92.1 Gb/s in gpu_write.out: 180 is the least").shows("gave no figure with gpu");
    ran.says("gpu3 gave no figure with any partner and is left out from here on");
    let json: serde_json::Value = serde_json::from_slice(&std::fs::read(record).unwrap()).unwrap();
    assert_eq!(json["hosts"]["gpu0"]["findings"], serde_json::json!([]), "{json:#}");
    let text = json["hosts"]["gpu3"]["findings"][0]["text"].as_str().unwrap();
    assert!(text.starts_with("gpu3 mlx5_0 port 1 gave no figure with gpu"), "{text}");
    let silent = json["pairs"].as_array().unwrap().iter().filter(|pair| pair["said"].is_string()).count();
    assert_eq!(silent, 2, "after two partners nobody waits for it: {json:#}");
    let seconds = json["stages"][0]["seconds"].as_f64().unwrap();
    assert!(seconds < 47.0 * 60.0, "{seconds}");

    // A stop ends what hangs, on both of its sides.
    for (command, arguments) in [("accept", &words[..]), ("verify", &["--active"])] {
        let run = site.spawn(command, arguments);
        lab.node("gpu3").wait_for("pgrep -f '^sleep 300'");
        run.signal("INT");
        run.wait().expect(130);
        for node in &lab.nodes {
            assert_eq!(
                node.sh("pgrep -f '^sleep 300' || echo none"),
                "none",
                "{} after {command}",
                node.name
            );
        }
    }
    lab.assert_nothing_left();
}

const JOBS: &str = "
name: jobs
tasks:
  - name: account of jobs
    user: { name: mpi, shell: /bin/bash }
  - include: ssh-mesh
    with: { users: [mpi] }
";

/// There is neither a GPU nor NCCL: MPI's allreduce stands for it, built on each host. Containers share two processors, so two
/// hosts are all that have a figure of their own.
#[test]
fn mpi_reduces_where_nccl_is_missing() {
    let packages = "{ packages: [gcc, libc6-dev, libopenmpi-dev, openmpi-bin] }";
    let Some(lab) = Lab::up(&["n0", "n1"], packages) else { return };
    let site = lab.site_with("jobs", JOBS, "", "become: sudo", "");
    let words = ["--stage", "collectives"];
    let ran = site.run("accept", &words).expect(6);
    ran.shows("fewer than two hosts can reduce together");
    site.apply(0);
    let record = lab.path("together.json");
    let record = record.to_str().unwrap();
    let ran = site.run("accept", &[&words[..], &["--json", record]].concat()).expect(0);
    let ran = ran.says("MPI's allreduce over the memory of n[0-1], since NCCL is not there");
    ran.says("min in all").shows("2 of 2 hosts passed");
    let json: serde_json::Value = serde_json::from_slice(&std::fs::read(record).unwrap()).unwrap();
    let figure = &json["hosts"]["n1"]["figures"][0];
    assert_eq!(figure["name"], "all_reduce", "{json:#}");
    assert!(figure["value"].as_f64().unwrap() > 0.0, "{json:#}");
    assert!(json["pairs"][0]["holds"].is_null(), "one pair alone has nothing to be held against: {json:#}");
    assert!(json["notes"].to_string().contains("since NCCL is not there"), "{json:#}");

    // Nothing starts there any more; of two hosts nobody tells which one it is.
    lab.node("n1").sh("mv /usr/bin/orted /usr/bin/orted.away");
    let ran = site.run("accept", &words).expect(6);
    ran.shows("n0 and n1 are failing together").shows("0 of 2 hosts passed");
    lab.assert_nothing_left();
}
