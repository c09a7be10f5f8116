//! What playbooks write on the controller: it parses, it is clean, it says what it should, and no
//! host is touched.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::expect_used, reason = "a test")]
#![allow(clippy::disallowed_methods, reason = "tests start the program, shells and shellcheck")]

use std::fs;
use std::ops::Deref;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value as Json;

use crate::context::Context;
use crate::this_host;

struct Site(Context);

impl Deref for Site {
    type Target = Context;

    fn deref(&self) -> &Context {
        &self.0
    }
}

impl Site {
    fn new(inventory: &str) -> Self {
        let site = Self(Context::new());
        site.write("site.yaml", inventory);
        site
    }

    /// Applies, and the sums.
    fn apply(&self) -> Json {
        let _alone = this_host::alone();
        let output = self.0.run(&["apply", "site.yaml", "--yes", "--json", "-"]);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        serde_json::from_slice(&output.stdout).unwrap()
    }

    /// Runs a script that was rendered, with the programs that stand in for those of a cluster.
    fn run(&self, script: &str, variables: &[(&str, &str)]) -> Output {
        let path = format!("{}:/usr/bin:/bin", self.path("bin").display());
        Command::new(self.path(script))
            .env("PATH", path)
            .envs(variables.iter().copied())
            .current_dir(self.root())
            .output()
            .unwrap()
    }
}

/// Addresses that nobody has: an attempt to connect would be seen.
const HOSTS: &str = "ssh: { user: nobody }\ngroups: { gpu: { hosts: \"gpu[0-1]\" } }\nhosts: { \"gpu[0-1]\": { address: \"192.0.2.{{ host.number + 1 }}\" } }\n";

fn shellcheck(files: &[PathBuf]) {
    match Command::new("shellcheck").args(files).output() {
        Ok(output) => assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout)),
        Err(error) => panic!("shellcheck, which scripts/setup.sh installs: {error}"),
    }
}

fn files(directory: &Path) -> Vec<PathBuf> {
    let mut list = Vec::new();
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { list.extend(files(&path)) } else { list.push(path) }
    }
    list.sort();
    list
}

fn words(output: &Output) -> String {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout.clone()).unwrap()
}

#[test]
fn job_scripts_of_slurm() {
    let site = Site::new(&format!(
        "cluster: jobs\n{HOSTS}playbooks:\n  - {{ use: slurm-job, hosts: gpu, with: {{ cpus_per_gpu: 24, mpi: DIR/mpi, torchrun: /opt/pytorch/bin/torchrun }} }}\n"
    ));
    let inventory = site.text("site.yaml").replace("DIR", site.root().to_str().unwrap());
    site.write("site.yaml", inventory);
    let first = site.apply();
    assert_eq!(first["summary"]["tasks"]["changed"], 4, "{first:#}");
    assert_eq!(first["summary"]["hosts"], 1, "the controller and nobody else");
    let again = site.apply();
    assert_eq!(
        (&again["summary"]["tasks"]["changed"], &again["summary"]["tasks"]["unchanged"]),
        (&0.into(), &4.into())
    );
    let scripts = files(&site.path("jobs"));
    assert_eq!(scripts.len(), 4);
    shellcheck(&scripts);

    // Drift is seen, with its lines.
    let multi = site.text("jobs/nccl-multi.sbatch");
    fs::write(site.path("jobs/nccl-multi.sbatch"), multi.replace("slots=8", "slots=1")).unwrap();
    let plan = site.0.run(&["plan", "site.yaml", "--exit-code"]);
    assert_eq!(plan.status.code(), Some(7));
    let shown = String::from_utf8(plan.stdout).unwrap();
    assert!(shown.contains("slots=1") && shown.contains("controller"), "{shown}");
    site.apply();
    assert_eq!(site.text("jobs/nccl-multi.sbatch"), multi);

    // They start what they should, on stand-ins of Slurm and Open MPI.
    let mpirun = |version: &str| {
        let words = "printf '%s ' \"$@\"; echo; env | grep ^NCCL_ | sort; cat hostfile.* 2>/dev/null || true";
        let version = format!("case $1 in --version) echo 'mpirun (Open MPI) {version}'; exit ;; esac\n");
        site.script("mpi/bin/mpirun", &(version + words));
    };
    mpirun("5.0.11");
    site.script("bin/scontrol", "echo gpu0; echo gpu1");
    site.script("bin/srun", "export SLURM_NODEID=1; exec \"$@\"");
    let job = [
        ("SLURM_NNODES", "2"),
        ("SLURM_NTASKS", "16"),
        ("SLURM_JOB_ID", "7"),
        ("SLURM_JOB_NODELIST", "gpu[0-1]"),
        ("SLURM_GPUS_ON_NODE", "8"),
    ];
    let single = words(&site.run("jobs/nccl-single.sbatch", &job));
    assert!(single.contains(" -np 1 ") && single.contains(" -g 8 "), "{single}");
    for name in ["nccl-multi", "deepnccl"] {
        let run = words(&site.run(&format!("jobs/{name}.sbatch"), &job));
        assert!(run.contains("-np 16 --hostfile hostfile.7 --map-by ppr:8:node"), "{run}");
        assert!(run.contains(" -x NCCL_P2P_LEVEL ") && run.contains(" -g 1 "), "{run}");
        assert!(run.contains("\nNCCL_NET_GDR_LEVEL=SYS\n") && !run.contains("GID_INDEX"), "{run}");
        // The choice of algorithm is NCCL's, in every job that nobody chose it for.
        assert!(!run.contains("NCCL_ALGO"), "{run}");
        assert!(run.ends_with("gpu0 slots=8\ngpu1 slots=8\n"), "{run}");
        assert!(!site.path("hostfile.7").exists());
    }
    // The daemons of mpirun keep to the network of the job, in the words of each version.
    for (version, option) in [
        ("4.1.8", "--mca oob_tcp_if_include eth0 "),
        ("5.0.11", "--prtemca prte_if_include eth0 "),
        ("6.0.0", "--prtemca prte_if_include eth0 "),
    ] {
        mpirun(version);
        let run = words(&site.run("jobs/nccl-multi.sbatch", &job));
        assert!(run.contains(&format!("{option}--mca btl_tcp_if_include eth0 ")), "{version}: {run}");
    }
    // Fewer tasks than GPUs would leave GPUs out.
    let short: Vec<_> =
        job.iter().map(|(key, value)| (*key, if *key == "SLURM_NTASKS" { "2" } else { value })).collect();
    let refused = site.run("jobs/nccl-multi.sbatch", &short);
    assert!(!refused.status.success() && String::from_utf8_lossy(&refused.stderr).contains("want 16"));
    site.script("bin/torchrun", "printf '%s ' \"$@\"; env | grep ^MASTER | sort");
    let pytorch = site.text("jobs/pytorch.sbatch");
    fs::write(site.path("jobs/here.sh"), pytorch.replace("/opt/pytorch/bin/torchrun", "torchrun")).unwrap();
    fs::set_permissions(site.path("jobs/here.sh"), fs::Permissions::from_mode(0o755)).unwrap();
    let run = words(&site.run("jobs/here.sh", &job));
    for part in [
        "Node ID: 1,",
        "--nproc_per_node=8 --nnodes=2 --node_rank=1 --master_addr=gpu0 --master_port=9901 /opt/benchmark.py --world-size=16",
        "--model=resnet50",
        "MASTER_PORT=9901",
    ] {
        assert!(run.contains(part), "{part}: {run}");
    }
}

#[test]
fn manifests_of_kubernetes() {
    let site = Site::new(&format!("cluster: pods\n{HOSTS}playbooks: [k8s-manifests]\n"));
    assert_eq!(site.apply()["summary"]["tasks"]["changed"], 12);
    let mut all = files(&site.path("k8s"));
    all.retain(|path| !path.ends_with("Containerfile"));
    let (manifests, scripts): (Vec<_>, Vec<_>) =
        all.into_iter().partition(|path| path.extension().is_some_and(|extension| extension == "yaml"));
    shellcheck(&scripts);
    let mut kinds = Vec::new();
    for path in &manifests {
        let text = fs::read_to_string(path).unwrap();
        for part in text.split("\n---\n") {
            let value: Json = serde_yaml::from_str(part).unwrap_or_else(|error| panic!("{error}\n{text}"));
            kinds.push(value["kind"].as_str().unwrap().to_owned());
        }
    }
    assert_eq!(kinds, ["Deployment", "Deployment", "NetworkAttachmentDefinition", "Pod", "Pod"]);
    let deployment = |name: &str| -> Json {
        let value: Json = serde_yaml::from_str(&site.text(&format!("k8s/acs/{name}.yaml"))).unwrap();
        value["spec"]["template"].clone()
    };
    let variables = |template: &Json| -> Vec<(String, String)> {
        let list = template["spec"]["containers"][0]["env"].as_array().unwrap().clone();
        let text = |value: &Json| value.as_str().unwrap().to_owned();
        list.iter().map(|entry| (text(&entry["name"]), text(&entry["value"]))).collect()
    };
    let pairs = |list: &[(&str, &str)]| -> Vec<(String, String)> {
        list.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    };
    let one = deployment("dep-demo-hpn-gpu");
    assert_eq!(one["metadata"]["labels"]["alibabacloud.com/hpn-type"], "rdma");
    assert_eq!(one["spec"]["containers"][0]["resources"]["limits"]["nvidia.com/gpu"], 8);
    assert_eq!(
        variables(&one),
        pairs(&[("NCCL_SOCKET_IFNAME", "eth0"), ("NCCL_IB_HCA", "mlx5"), ("NCCL_DEBUG", "WARN")])
    );
    let two = deployment("dep-demo-hpn-gpu-type-2");
    assert_eq!(two["metadata"]["labels"]["alibabacloud.com/gpu-model-series"], "P16EN");
    assert_eq!(two["spec"]["containers"][0]["resources"]["requests"]["nvidia.com/gpu"], 16);
    assert_eq!(
        variables(&two),
        pairs(&[
            ("NCCL_IB_DISABLE", "1"),
            ("NCCL_SOCKET_IFNAME", "eth0"),
            ("NCCL_IB_HCA", ""),
            ("NCCL_DEBUG", "WARN")
        ])
    );
    let network: Json = serde_yaml::from_str(&site.text("k8s/multus/nad.yaml")).unwrap();
    let config: Json = serde_json::from_str(network["spec"]["config"].as_str().unwrap()).unwrap();
    assert_eq!((&config["device"], &config["ipam"]["range"]), (&"ens192".into(), &"10.100.100.0/30".into()));
    let launch = site.text("k8s/torchrun/launch.sh");
    assert!(
        launch.contains("MASTER_ADDR=${VC_TASK1_HOSTS%%,*}") && !launch.contains("NCCL_IB_HCA"),
        "{launch}"
    );

    // The scripts that check them, on a kubectl that plays a cluster.
    site.script(
        "bin/kubectl",
        "case \"$*\" in 'rollout status deployment/'*) ;; *'-- sh -c '*) shift 3; \"$@\" ;; *'-- env') echo NCCL_IB_HCA= ;; *nvidia-smi) echo asked ;; esac",
    );
    let script = site.path("k8s/acs/run-and-check.sh");
    let check = |kind: &str| {
        let path = format!("{}:/usr/bin:/bin", site.path("bin").display());
        Command::new(&script).arg(kind).env("PATH", path).output().unwrap()
    };
    site.script("bin/ip", "echo '3: hpn0: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500'");
    let good = words(&check("2"));
    assert!(good.contains("ok: hpn0 is up") && good.contains("ok: NCCL_IB_HCA=\n"), "{good}");
    // An image that has ifconfig alone, as the guide's; and none of both, where the kernel's files tell.
    let without = |programs: &[(&str, &str)]| {
        let bin = site.path("other");
        fs::create_dir_all(&bin).unwrap();
        for tool in ["sh", "dirname", "env", "grep", "cat"] {
            let place = bin.join(tool);
            if !place.exists() {
                std::os::unix::fs::symlink(format!("/usr/bin/{tool}"), place).unwrap();
            }
        }
        fs::copy(site.path("bin/kubectl"), bin.join("kubectl")).unwrap();
        for (name, text) in programs {
            site.script(&format!("other/{name}"), text);
        }
        Command::new(&script).arg("2").env("PATH", &bin).output().unwrap()
    };
    let bare = without(&[]);
    assert!(String::from_utf8_lossy(&bare.stderr).contains("the pod has no hpn0"), "{bare:?}");
    let old =
        words(&without(&[("ifconfig", "echo 'hpn0: flags=4163<UP,BROADCAST,RUNNING,MULTICAST>  mtu 1500'")]));
    assert!(old.contains("ok: hpn0 is up"), "{old}");
    // The same pod is not what type 1 needs.
    let bad = check("1");
    assert_eq!(bad.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&bad.stderr).contains("exactly NCCL_IB_HCA=mlx5"));
}

/// The image of the pods: the guide's garbled line is two variables, its source is a commit, and pods can log in to each other.
#[test]
fn the_image_of_the_pods_is_a_file() {
    let site = Site::new(&format!("cluster: pods\n{HOSTS}playbooks: [k8s-manifests]\n"));
    site.apply();
    let text = site.text("k8s/multus/Containerfile");
    for part in [
        "FROM nvcr.io/nvidia/pytorch:23.09-py3\n",
        "make -j \"$(nproc)\" MPI=1 MPI_HOME=/usr/local/mpi CUDA_HOME=/usr/local/cuda NCCL_HOME=/usr\n",
        "/workspace/nccl-tests && \\\n    cd /workspace/nccl-tests && \\\n    [ \"$(git rev-parse HEAD)\" = a0b82b2260cf5152b9f8c061bbf7eaf0ba096432 ]",
        "COPY ssh/ /root/.ssh/\n",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
    site.script("bin/docker", "echo \"$@\"; ls ssh");
    let built = words(&site.run("k8s/multus/build.sh", &[]));
    assert!(built.starts_with("build -t pytorch-23.09-py3-custom -f Containerfile .\n"), "{built}");
    assert!(built.ends_with("authorized_keys\nid_ed25519\nid_ed25519.pub\n"), "{built}");
    let key = site.text("k8s/multus/ssh/id_ed25519");
    site.run("k8s/multus/build.sh", &[]);
    assert_eq!(site.text("k8s/multus/ssh/id_ed25519"), key, "keys that are there are kept");
}

/// The site says which resource a pod asks for, and where it runs.
#[test]
fn pods_of_another_accelerator_ask_for_their_own_resource() {
    let with = "{ class_type_2: gpu-hpn, gpus_type_2: 8, resource_type_2: alibabacloud.com/ppu, node_selector_type_2: { reserved: ppu } }";
    let site = Site::new(&format!(
        "cluster: acs\ntransport: local\nhosts: {{ console0: {{}} }}\nplaybooks: [{{ use: acs-rdma, with: {with} }}]\n"
    ));
    site.apply();
    let two: Json = serde_yaml::from_str(&site.text("k8s/acs/dep-demo-hpn-gpu-type-2.yaml")).unwrap();
    let pod = &two["spec"]["template"];
    assert_eq!(pod["spec"]["nodeSelector"]["reserved"], "ppu", "{pod:#}");
    assert_eq!(pod["spec"]["containers"][0]["resources"]["limits"]["alibabacloud.com/ppu"], 8, "{pod:#}");
    assert!(pod["metadata"]["labels"].get("alibabacloud.com/gpu-model-series").is_none(), "{pod:#}");
    let one: Json = serde_yaml::from_str(&site.text("k8s/acs/dep-demo-hpn-gpu.yaml")).unwrap();
    assert!(one["spec"]["template"]["spec"].get("nodeSelector").is_none(), "{one:#}");
    assert!(site.text("k8s/acs/run-and-check.sh").contains("resource=alibabacloud.com/ppu"));
}

#[test]
fn sizes_that_a_series_does_not_have_are_refused() {
    for (with, told) in [
        ("{ series: P16EN }", "GU8TF, GU8TEF and GX8SF"),
        ("{ gpus_type_2: 3, class_type_2: gpu-hpn }", "1, 2, 4, 8 or 16"),
        ("{ gpus_type_2: 8 }", "1, 2, 4, 8 or 16"),
        ("{ gpus_type_2: 8, class_type_2: gpu-hpn }", "spec.nodeSelector"),
    ] {
        let playbook = format!("playbooks: [{{ use: acs-rdma, with: {with} }}]");
        let site =
            Site::new(&format!("cluster: acs\ntransport: local\nhosts: {{ console0: {{}} }}\n{playbook}\n"));
        let output = site.0.run(&["apply", "site.yaml", "--yes"]);
        assert_eq!(output.status.code(), Some(3), "{with}");
        let said = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
        assert!(said.contains(told), "{said}");
        assert!(!site.path("k8s").exists(), "{with}");
    }
}

/// A cluster of two pods, whose processes run here in network namespaces of their own.
#[test]
fn pods_get_their_rdma_device() {
    const KUBECTL: &str = r#"echo "$*" >>"$SITE/asked"
case "$*" in
'get pod '*) echo 192.0.2.1 ;;
*'ibv_devinfo'*) cat "$SITE/moved-$2" ;;
*'gpu-pod0 -- ip -o -4 addr show dev net1'*) echo '5: net1    inet 10.100.100.2/30 brd 10.100.100.3 scope global net1' ;;
*'gpu-pod1 -- ip -o -4 addr show dev net1'*) echo '5: net1    inet 10.100.100.1/30 brd 10.100.100.3 scope global net1' ;;
*mpirun*) echo 'gpu-pod0:1:1 [0] NCCL INFO NET/IB : Using [0]irdma0:1/RoCE [RO]; OOB net1:10.100.100.1<0>' ;;
*'sh -s '*) echo "$*" >>"$SITE/trained"; cat >/dev/null ;;
esac"#;
    const RDMA: &str = r#"case "$*" in
'system show') cat "$SITE/mode" ;;
'dev set irdma0 netns '*) readlink "$(readlink "/var/run/netns/$5")" >>"$SITE/spaces" ;;
esac"#;
    let site = Site::new(&format!("cluster: pods\n{HOSTS}playbooks: [k8s-manifests]\n"));
    site.apply();
    site.script("bin/kubectl", KUBECTL);
    site.script("bin/rdma", RDMA);
    site.script("bin/login", "shift; \"$@\" && echo PORT_ACTIVE >\"$SITE/moved-$3\"");
    let pods = ["gpu-pod0", "gpu-pod1"].map(|pod| {
        let mut process = Command::new("unshare");
        process.args(["-n", "sleep", "120"]).env("HOSTNAME", pod).spawn().unwrap()
    });
    let here = fs::read_link("/proc/self/ns/net").unwrap();
    let space = |process: &std::process::Child| -> PathBuf {
        // Its namespace is made after it has started.
        loop {
            let seen = fs::read_link(format!("/proc/{}/ns/net", process.id())).unwrap();
            if seen != here {
                return seen;
            }
        }
    };
    let spaces = pods.each_ref().map(space);

    let folder = site.path("").display().to_string();
    let check = |what: &[&str]| {
        let path = format!("{}:/usr/sbin:/usr/bin:/sbin:/bin", site.path("bin").display());
        let mut script = Command::new(site.path("k8s/multus/run-and-check.sh"));
        script.args(what).env("PATH", path).env("SITE", &folder).env("NODE_LOGIN", "login").output().unwrap()
    };
    fs::write(site.path("mode"), "netns shared copy-on-fork on\n").unwrap();
    let shared = check(&[]);
    assert_eq!(shared.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&shared.stderr).contains("RDMA devices are shared by all namespaces"));
    fs::write(site.path("mode"), "netns exclusive copy-on-fork on\n").unwrap();
    let said = words(&check(&["mpi"]));
    for part in [
        "gpu-pod0 has an active",
        "gpu-pod1 has an active",
        "ok: rping",
        "ok: ib_write_bw",
        "ok: all_reduce_perf over irdma0",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
    let moved: Vec<PathBuf> = site.text("spaces").lines().map(PathBuf::from).collect();
    assert_eq!(moved, spaces);
    // The address that the first pod got, which need not be the first of the range.
    assert!(site.text("asked").contains("rping -sdvVa 10.100.100.2 -C 3"));
    assert!(
        site.text("asked").contains("mpirun --allow-run-as-root -H 10.100.100.2:1,10.100.100.1:1 -x PATH")
    );

    // A device that is there already is not moved again.
    words(&check(&["train"]));
    assert_eq!(site.text("spaces").lines().count(), 2);
    let trained: std::collections::BTreeSet<String> =
        site.text("trained").lines().map(str::to_owned).collect();
    assert_eq!(
        trained.into_iter().collect::<Vec<_>>(),
        ["exec -i gpu-pod0 -- sh -s 0 10.100.100.2", "exec -i gpu-pod1 -- sh -s 1 10.100.100.2"]
    );

    // Where the pod does not run, it says so.
    for mut pod in pods {
        pod.kill().unwrap();
        pod.wait().unwrap();
    }
    fs::remove_file(site.path("moved-gpu-pod0")).unwrap();
    let gone = check(&[]);
    assert_eq!(gone.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&gone.stderr).contains("no process of gpu-pod0 runs on this node"));
}
