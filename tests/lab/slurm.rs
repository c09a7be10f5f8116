//! The playbook `slurm` makes a cluster that runs jobs, and `verify --through slurm` sees what only its jobs see.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "these are tests, though not in functions that are marked so"
)]

use base64::Engine as _;
use serde_json::Value as Json;

use crate::support::{Lab, Ran, run};

const INVENTORY: &str = r#"
cluster: jobs
lab: { profile: h200-x2, shared: [/srv/state] }
playbooks:
  - ssh-mesh
  - { use: slurm, with: { controller: login0, settings: { TaskProlog: /etc/slurm-task-prolog } } }
  - { use: ./note.yaml, hosts: gpu }
secrets:
  token: { env: NOTE_TOKEN }
  munge: { command: [printf, "%s", "a key that is known to everybody who reads this"] }
groups:
  gpu: { hosts: "gpu[0-2]" }
  login: { hosts: [login0] }
"#;

const NOTE: &str = r#"
name: note
params: { word: { type: string, default: old }, slow: { type: bool, default: false } }
tasks:
  - name: a slow one
    when: slow
    command: { run: [sh, -c, "until test -e /run/go; do sleep 0.2; done; echo once >>/run/slow"], creates: /run/slow }
  - name: a note
    file: { path: /etc/note, content: "{{ word }}\n", mode: "0644" }
  - name: a token
    file: { path: /etc/token, content: "{{ secrets.token }}" }
  - name: no cgroup keeps the GPUs away
    command:
      script: "for device in /dev/nvidia[0-9]; do case $( (: <$device) 2>&1) in *'not permitted'*) exit 1 ;; esac; done"
      changes: false
"#;

/// A live cluster, whose nodes are drained for a change of class network.
const LIVE: &str = "
policy: { busy: drain }
rollout: { batch: 1, max_failed: 0 }
maintenance:
  slurm: { controller: login0, partition: comp, wait: 5m }
  keep_up: 1
";

const FABRIC: &str = r#"
name: fabric
params: { mtu: { type: int } }
tasks:
  - name: MTU of the fabric
    netdev: { name: fabric0, mtu: "{{ mtu }}" }
"#;

/// What is found of a host through Slurm: `fail job.devices`.
fn findings(json: &Json, host: &str) -> Vec<String> {
    let checks = json["hosts"][host]["checks"].as_array().unwrap();
    let word = |check: &Json, key: &str| check[key].as_str().unwrap().to_owned();
    checks
        .iter()
        .filter(|check| ["fail", "warn", "unknown"].contains(&check["status"].as_str().unwrap()))
        .map(|check| format!("{} {}", word(check, "status"), word(check, "check")))
        .collect()
}

/// A library that the loader takes for NCCL, as base64.
fn nccl() -> String {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    std::fs::write(path("nccl.c"), "int ncclGetVersion(int *v) { *v = 22703; return 0; }\n").unwrap();
    let library = path("libnccl.so.2");
    run("cc", &["-shared", "-fPIC", "-Wl,-soname,libnccl.so.2", "-o", &library, &path("nccl.c")]).unwrap();
    base64::engine::general_purpose::STANDARD.encode(std::fs::read(library).unwrap())
}

/// Runs a command with the inventory of the lab and its token.
fn started(lab: &Lab, words: &[&str]) -> Ran {
    let inventory = lab.text("lab.yaml");
    let all = [&words[..1], &[&inventory, "--json", "-"], &words[1..]].concat();
    lab.spawn_with(&all, &[("NOTE_TOKEN", "s3cret-\"token\"")], "").wait()
}

#[test]
fn a_small_cluster_runs_jobs_and_shows_what_only_they_see() {
    let Some(lab) = Lab::of(INVENTORY, &[("note.yaml".to_owned(), NOTE.to_owned())], &[]) else { return };
    let started = |words: &[&str]| started(&lab, words);
    let apply = || started(&["apply", "--yes"]).expect(0).json();
    let login = lab.node("login0");
    for name in ["gpu0", "gpu1", "gpu2"] {
        let library = nccl();
        lab.node(name).sh(&format!(
            "mkdir -p /opt/other && base64 -d >/usr/local/lib/libnccl.so.2 <<'END'\n{library}\nEND\n\
             cp /usr/local/lib/libnccl.so.2 /opt/other && ldconfig\n\
             printf '#!/bin/sh\\n' >/etc/slurm-task-prolog && chmod 755 /etc/slurm-task-prolog"
        ));
    }
    apply();
    assert_eq!(apply()["summary"]["tasks"]["changed"], 0);
    // Every node, its GPUs by cgroup: one of two can be opened as far as nothing stands behind it.
    assert_eq!(login.sh("srun -N3 hostname | sort | tr '\\n' ' '"), "gpu0 gpu1 gpu2");
    let opened = "srun --gres=gpu:1 sh -c '(: </dev/nvidia0) 2>&1; (: </dev/nvidia1) 2>&1' | sed 's/.*: //'";
    assert_eq!(login.sh(opened), "No such device or address\nOperation not permitted");
    login.wait_for("sacct -a -X -n -o JobName,State | grep -q 'hostname.*COMPLETED'");
    // The NUMA node of these GPUs is not known, so there are no cores beside them; their NVLinks are.
    assert_eq!(
        login.sh("sed -n 's/^NodeName=gpu0 Name=gpu //p' /etc/slurm/gres.conf"),
        "File=/dev/nvidia0 Links=-1,18\nFile=/dev/nvidia1 Links=18,-1"
    );

    carried_by_slurm(&lab, &started);

    nodes_that_lie(&lab, &started);

    let through =
        || started(&["verify", "--hosts", "gpu", "--through", "slurm", "--through-at", "login0"]).json();
    let json = through();
    for host in ["gpu0", "gpu1", "gpu2"] {
        assert_eq!(findings(&json, host), Vec::<String>::new(), "{json:#}");
    }

    // What a login does not see: a limit of slurmd alone, a GPU that gres.conf lacks, another NCCL.
    lab.node("gpu0").sh(
        "printf '[Service]\\nLimitMEMLOCK=65536\\n' >/etc/systemd/system/slurmd.service.d/60-test.conf\n\
         systemctl daemon-reload && systemctl restart slurmd",
    );
    login.sh("sed -i '/^NodeName=gpu1 .*nvidia1/d' /etc/slurm/gres.conf\n\
         sed -i 's/^\\(NodeName=gpu1 .*\\)gpu:2/\\1gpu:1/' /etc/slurm/slurm.conf\n\
         systemctl restart slurmctld");
    login.wait_for("scontrol ping | grep -q 'is UP'");
    login.sh("scontrol reconfigure");
    lab.node("gpu1").sh("systemctl restart slurmd");
    lab.node("gpu2")
        .sh("printf '#!/bin/sh\\necho export LD_LIBRARY_PATH=/opt/other\\n' >/etc/slurm-task-prolog");
    login.wait_for("[ \"$(sinfo -h -N -t idle -o %N | wc -l)\" = 3 ]");
    let json = through();
    assert_eq!(findings(&json, "gpu0"), ["warn job.memlock"], "{json:#}");
    assert_eq!(findings(&json, "gpu1"), ["fail slurm.gres", "fail job.devices"], "{json:#}");
    assert_eq!(findings(&json, "gpu2"), ["fail job.libraries"], "{json:#}");

    // An apply mends what is its own, and nodes take it without a restart of slurmd.
    apply();
    login.wait_for("[ \"$(sinfo -h -n gpu1 -o %G)\" = gpu:2 ]");
    assert_eq!(apply()["summary"]["tasks"]["changed"], 0);

    health_before_jobs(&lab, &apply);

    a_change_rolls_through(&lab, &started);

    for name in ["login0", "gpu0", "gpu1", "gpu2"] {
        lab.node(name).sh("useradd -m -u 2000 alice");
    }
    logins_need_a_job(&lab, &started);

    // A node that an operator took out is not tried, and the reason is theirs.
    login.sh("scontrol update nodename=gpu2 state=drain reason='cable of rail 3'");
    let json = through();
    assert_eq!(findings(&json, "gpu2"), ["warn slurm.node", "fail job.started"], "{json:#}");
    assert!(json.to_string().contains("Slurm has the node as drained: cable of rail 3"), "{json:#}");
}

/// Slurm carries a run to the nodes: the same is done and told, and a node that is lost keeps nobody.
fn carried_by_slurm(lab: &Lab, started: &dyn Fn(&[&str]) -> Ran) {
    let slurm = |words: &[&str]| {
        let way = ["--hosts", "gpu", "--engine", "slurm", "--engine-at", "login0", "--secrets-in-clear"];
        started(&[words, &way[..]].concat())
    };
    started(&["apply", "--yes", "--hosts", "gpu", "--engine", "slurm", "--engine-at", "login0"])
        .expect(2)
        .says("in clear text: the secret `munge`, the secret `token`")
        .says("--secrets-in-clear");
    let json = slurm(&["apply", "--yes", "--set", "word=new"]).expect(0).json();
    assert_eq!(json["summary"]["tasks"]["changed"], 3, "{json:#}");
    for name in ["gpu0", "gpu1", "gpu2"] {
        let node = lab.node(name);
        assert_eq!(node.sh("cat /etc/note /etc/token"), "new\ns3cret-\"token\"", "{json:#}");
        assert_eq!(node.sh("ls -d /var/lib/.provision* /var/tmp/provision* 2>/dev/null || true"), "");
    }
    assert_eq!(lab.node("login0").sh("ls -d /var/tmp/provision* 2>/dev/null || true"), "");
    let again = slurm(&["apply", "--yes", "--set", "word=new"]).expect(0).json();
    assert_eq!(again["summary"]["tasks"]["changed"], 0, "{again:#}");
    let direct = started(&["apply", "--yes", "--hosts", "gpu", "--set", "word=new"]).expect(0).json();
    assert_eq!(plain(&again["hosts"]), plain(&direct["hosts"]));
    let json = slurm(&["plan", "--set", "word=other"]).expect(0).json();
    assert_eq!(json["summary"]["pending"], 3, "{json:#}");
    let verified = slurm(&["verify", "--set", "word=new"]).json();
    let direct = started(&["verify", "--hosts", "gpu", "--set", "word=new"]).json();
    assert_eq!(verified["summary"]["pending"], 0, "{verified:#}");
    assert_eq!(
        verified["hosts"]["gpu0"]["checks"].as_array().unwrap().len(),
        direct["hosts"]["gpu0"]["checks"].as_array().unwrap().len()
    );

    let facts = ["facts", "--only", "os,cpu"];
    let direct = started(&[&facts[..], &["--hosts", "gpu"]].concat()).expect(0).json();
    assert_eq!(slurm(&facts).expect(0).json(), direct);

    // What a killed run has left is taken away once its job has ended; what goes on is not.
    let old = "cd /var/tmp && mkdir provision.overoverov provision.goesongoes && touch provision.goesongoes/out && \
               touch -d '-2 hours' provision.overoverov/ended";
    lab.node("login0").sh(old);
    lab.node("gpu2").sh("systemctl stop slurmd");
    let json = slurm(&["apply", "--yes"]).expect(4).json();
    assert_eq!(json["hosts"]["gpu2"]["status"], "unreachable", "{json:#}");
    assert_eq!(json["summary"]["tasks"]["changed"], 2, "{json:#}");
    assert_eq!(lab.node("login0").sh("ls -d /var/tmp/provision.*"), "/var/tmp/provision.goesongoes");
    lab.node("login0").sh("rm -rf /var/tmp/provision.*");
    lab.node("gpu2").sh("systemctl start slurmd");
    // Slurm would take a minute or two to clear away what it could not end there.
    let cleared =
        "scontrol update nodename=gpu2 state=down reason=test; scontrol update nodename=gpu2 state=resume";
    lab.node("login0").sh(cleared);
    lab.node("login0").wait_for("[ \"$(sinfo -h -N -o %T | grep -c '^idle$')\" = 3 ]");
    let json = slurm(&["apply", "--yes"]).expect(0).json();
    assert_eq!(json["summary"]["tasks"]["changed"], 1, "{json:#}");

    // One that hangs keeps nobody either.
    lab.node("gpu2").sh("pkill -STOP -x slurmd");
    let json = slurm(&["apply", "--yes", "--set", "word=hung"]).expect(4).json();
    assert_eq!(json["hosts"]["gpu2"]["status"], "unreachable", "{json:#}");
    assert_eq!(json["summary"]["tasks"]["changed"], 2, "{json:#}");
    lab.node("gpu2").sh("pkill -CONT -x slurmd");
    lab.node("login0").sh(cleared);
    lab.node("login0").wait_for("[ \"$(sinfo -h -N -o %T | grep -c '^idle$')\" = 3 ]");

    // srun is killed in the middle of a task, which goes on: the next run follows it.
    std::thread::scope(|scope| {
        scope.spawn(|| {
            lab.node("gpu0").wait_for("pgrep -f '[u]ntil test -e /run/go'");
            lab.node("login0").sh("pkill -9 -x srun");
            for name in ["gpu0", "gpu1", "gpu2"] {
                lab.node(name).sh("touch /run/go");
            }
        });
        let json = slurm(&["apply", "--yes", "--set", "slow=true"]).expect(4).json();
        assert_eq!(json["hosts"]["gpu0"]["status"], "quarantined", "{json:#}");
    });
    lab.node("login0").wait_for("[ \"$(sinfo -h -N -o %T | grep -c '^idle$')\" = 3 ]");
    slurm(&["apply", "--yes", "--set", "slow=true"]).expect(0);
    for name in ["gpu0", "gpu1", "gpu2"] {
        assert_eq!(lab.node(name).sh("cat /run/slow /etc/note"), "once\nold");
    }
}

/// The shell of a node: it says what it is told to, and keeps what the program would be given.
const LIAR: &str = r#"#!/bin/bash
case "$*" in *.program*) cat >/root/loot; exec </root/loot; . /root/lies ;; esac
exec /bin/dash "$@"
"#;

/// An account that takes every name beside a file that comes.
const TAKES: &str = "for file in /var/tmp/provision-* /var/lib/.provision-*; do \
                     for name in bundle said; do : >\"${file%.*}.$name\"; done; done 2>/dev/null";

/// A node that speaks for others, keeps what it is given and says more than anybody can, and an account on another:
/// nobody else sees or believes anything of it.
fn nodes_that_lie(lab: &Lab, started: &dyn Fn(&[&str]) -> Ran) {
    let path = lab.path("lab.yaml");
    let honest = std::fs::read_to_string(&path).unwrap();
    let text = honest
        .replace("hosts: gpu }\n", "hosts: gpu }\n  - { use: ./db.yaml, hosts: gpu1 }\n")
        .replace("secrets:\n", "secrets:\n  db: { command: [printf, \"%s\", \"of one node alone\"] }\n");
    std::fs::write(&path, text).unwrap();
    let db = "name: db\ntasks:\n  - name: db\n    file: { path: /etc/db, content: \"{{ secrets.db }}\" }\n  \
              - name: a file\n    copy: { src: of-gpu1, path: /etc/of-gpu1 }\n  \
              - name: a text\n    template: { src: text-of-gpu1, path: /etc/text-of-gpu1 }\n";
    std::fs::write(lab.path("db.yaml"), db).unwrap();
    std::fs::write(lab.path("of-gpu1"), "for no other eyes\n").unwrap();
    std::fs::write(lab.path("text-of-gpu1"), "a text for {{ host.name }}\n").unwrap();
    let apply = |word: &str| {
        let word = format!("word={word}");
        let way = ["--hosts", "gpu", "--engine", "slurm", "--engine-at", "login0", "--secrets-in-clear"];
        started(&[&["apply", "--yes", "--set", &word], &way[..]].concat())
    };
    let of = |json: &Json, host: &str| json["hosts"][host]["status"].as_str().unwrap().to_owned();
    let liar = lab.node("gpu0");
    liar.sh(&format!("cat >/root/liar.sh <<'END'\n{LIAR}END\nchmod 755 /root/liar.sh"));
    liar.sh("ln -s /root/liar.sh /usr/bin/sh.new && mv /usr/bin/sh.new /usr/bin/sh");
    let lies = |text: &str| liar.sh(&format!("cat >/root/lies <<'END'\n{text}\nEND"));

    // Files of tasks for hosts that were not chosen stay here; templates are read with their playbooks.
    lies("cat /var/lib/.provision-*.bundle >/root/bundle");
    let way = ["--hosts", "gpu0", "--engine", "slurm", "--engine-at", "login0", "--secrets-in-clear"];
    started(&[&["apply", "--yes"], &way[..]].concat()).expect(0);
    assert_eq!(
        liar.sh("grep -c 'provision bundle' /root/bundle; grep -c 'other eyes' /root/bundle || true"),
        "1\n0"
    );

    // The other one's end, in its name, while a task of the other one fails.
    let tasks = r#"{"unchanged":1,"changed":0,"ran":0,"skipped":0,"blocked":0,"failed":0}"#;
    let event = format!(
        r#"{{"run":"x","seq":0,"at":"2026-01-01T00:00:00Z","elapsed":0.1,"kind":{{"host_finished":{{"host":"gpu1","status":"ok","tasks":{tasks},"seconds":1.0}}}}}}"#
    );
    lies(&format!(r"printf '\n1: \036%s\037\n' '{event}'"));
    lab.node("gpu1").sh("rm -f /etc/note && mkdir -p /etc/note/x");
    let json = apply("forged").expect(5).json();
    let ends = ["gpu0", "gpu1", "gpu2"].map(|host| of(&json, host));
    assert_eq!(ends, ["quarantined", "failed", "ok"], "{json:#}");
    let loot = liar.sh("cat /root/loot");
    assert!(loot.contains("s3cret") && !loot.contains("of one node alone"), "{loot}");
    lab.node("gpu1").sh("rm -rf /etc/note");

    // More than anybody has to say.
    lies(r#"yes "$(head -c 900 /dev/zero | tr '\0' x)" | head -c 40000000"#);
    let json = apply("flood").expect(4).json();
    let ends = ["gpu0", "gpu1", "gpu2"].map(|host| of(&json, host));
    assert_eq!(ends, ["quarantined", "ok", "ok"], "{json:#}");
    assert!(json["hosts"]["gpu0"].to_string().contains("more than 16 MiB"), "{json:#}");
    assert_eq!(lab.node("gpu1").sh("cat /etc/note /etc/db"), "flood\nof one node alone");

    // Who may not be root takes the names of files that come.
    liar.sh("ln -s dash /usr/bin/sh.new && mv /usr/bin/sh.new /usr/bin/sh");
    let other = lab.node("gpu2");
    other.sh(&format!("cat >/run/takes <<'END'\nwhile :; do {TAKES}; done\nEND\nchmod 644 /run/takes"));
    other.sh("setsid su nobody -s /bin/bash -c '. /run/takes' >/dev/null 2>&1 &");
    let json = apply("taken").expect(0).json();
    assert_eq!(of(&json, "gpu2"), "ok", "{json:#}");
    other.sh("pkill -u nobody; rm -f /run/takes /var/tmp/provision-*");
    std::fs::write(&path, honest).unwrap();
    for name in ["gpu0", "gpu1", "gpu2"] {
        lab.node(name).sh("rm -f /etc/db /etc/*of-gpu1 /root/lies /root/loot /root/bundle");
    }
    apply("old").expect(0);
}

/// A node that fails a check before a job is drained with the finding, and the job starts elsewhere.
fn health_before_jobs(lab: &Lab, apply: &dyn Fn() -> Json) {
    let expected = "cluster: health\nexpect: { gpu: { count: 2 } }\ngroups: { gpu: { hosts: \"gpu[0-2]\" } }\n\
                    hosts: { \"gpu[0-2]\": { address: \"10.0.0.{{ host.number }}\" } }\n";
    std::fs::write(lab.path("health.yaml"), expected).unwrap();
    let (health, bundle) = (lab.text("health.yaml"), lab.text("health.bundle"));
    lab.run(&["bundle", &health, "-o", &bundle]).expect(0);
    // What a debugger reads is most of it.
    let program = lab.text("provision");
    let built = assert_cmd::cargo::cargo_bin!("provision").to_str().unwrap();
    run("strip", &["-o", &program, built]).unwrap();
    let files = format!(
        "name: files\ntasks:\n  - name: program\n    copy: {{ src: {program}, path: /usr/local/bin/provision, mode: \"0755\" }}\n  \
         - name: bundle\n    copy: {{ src: {bundle}, path: /etc/health.bundle }}\n"
    );
    std::fs::write(lab.path("files.yaml"), files).unwrap();
    let inventory = std::fs::read_to_string(lab.path("lab.yaml")).unwrap();
    let inventory = inventory
        .replace("controller: login0,", "controller: login0, health: /etc/health.bundle,")
        .replace("  - ssh-mesh", "  - { use: ./files.yaml, hosts: gpu }\n  - ssh-mesh");
    std::fs::write(lab.path("lab.yaml"), inventory).unwrap();
    apply();
    let login = lab.node("login0");
    login.wait_for("[ \"$(srun -N3 hostname | wc -l)\" = 3 ]");
    // The epilog looks at the node too: it has to be over before the fault is there.
    login.wait_for("[ \"$(sinfo -h -N -o %T | grep -c '^idle$')\" = 3 ]");
    lab.run(&["lab", "fault", &lab.text("lab.yaml"), "gpu1", "gpu-off-the-bus"]).expect(0);
    assert_eq!(login.sh("srun -N1 -w gpu1 hostname 2>&1 | head -1"), "srun: Prolog failure on node gpu1");
    assert_eq!(
        login.sh("sinfo -h -n gpu1 -o %E"),
        "provision: health: gpu.count: 0000:00:07.0: listed by the driver, gone from the PCI bus"
    );
    assert_eq!(login.sh("srun -N2 hostname | sort | tr '\\n' ' '"), "gpu0 gpu2");
    lab.run(&["lab", "fault", &lab.text("lab.yaml"), "gpu1", "none"]).expect(0);
    login.sh("scontrol update nodename=gpu1 state=resume");
    login.wait_for("[ \"$(srun -N3 hostname | wc -l)\" = 3 ]");
    // The epilog finds a fault on a node that an operator has drained: what that one said stays.
    login.wait_for("[ \"$(sinfo -h -N -o %T | grep -c '^idle$')\" = 3 ]");
    login.sh("sbatch -Q -w gpu1 -o /dev/null --wrap 'touch /run/began; sleep 4'");
    // The prolog, which looks at the node too, is over then.
    lab.node("gpu1").wait_for("[ -e /run/began ]");
    login.sh("scontrol update nodename=gpu1 state=drain reason='bad fan'");
    lab.run(&["lab", "fault", &lab.text("lab.yaml"), "gpu1", "gpu-off-the-bus"]).expect(0);
    login.wait_for("[ -z \"$(squeue -h)\" ] && sinfo -h -n gpu1 -o %T | grep -qx drained");
    assert_eq!(login.sh("sinfo -h -n gpu1 -o %E"), "bad fan");
    lab.run(&["lab", "fault", &lab.text("lab.yaml"), "gpu1", "none"]).expect(0);
    login.sh("scontrol update nodename=gpu1 state=resume");
    // A check that cannot be made keeps no job away, and says so.
    lab.node("gpu2").sh("mv /etc/health.bundle /etc/health.bundle.gone");
    assert_eq!(login.sh("srun -N1 -w gpu2 hostname"), "gpu2");
    lab.node("gpu2")
        .wait_for("journalctl --no-pager -t slurm-health | grep -q 'no check was made: .*health.bundle'");
    lab.node("gpu2").sh("mv /etc/health.bundle.gone /etc/health.bundle");
    login.wait_for("[ \"$(srun -N3 hostname | wc -l)\" = 3 ]");
}

/// A change that interrupts waits for the job of a node; each node is drained, looked at and given back, and what the
/// health check has drained stays so until it is well.
fn a_change_rolls_through(lab: &Lab, started: &dyn Fn(&[&str]) -> Ran) {
    let (login, path) = (lab.node("login0"), lab.path("lab.yaml"));
    let plain = std::fs::read_to_string(&path).unwrap();
    for name in ["gpu0", "gpu1", "gpu2"] {
        lab.node(name).sh("ip link add fabric0 type bridge && ip link set fabric0 mtu 1500");
    }
    std::fs::write(lab.path("fabric.yaml"), FABRIC).unwrap();
    let used = "  - { use: ./fabric.yaml, hosts: gpu, with: { mtu: 8000 } }\nsecrets:";
    std::fs::write(&path, plain.replacen("secrets:", used, 1) + LIVE).unwrap();
    let words = ["apply", "--yes", "--hosts", "gpu"];
    login.sh("sbatch -Q -w gpu1 --exclusive -o /dev/null --job-name=long --wrap 'sleep 15'");
    login.wait_for("[ \"$(squeue -h -n long -o %T)\" = RUNNING ]");
    let json = started(&words).expect(0).json();
    for name in ["gpu0", "gpu1", "gpu2"] {
        assert_eq!(json["hosts"][name]["maintenance"]["phase"], "back", "{json:#}");
        assert_eq!(lab.node(name).sh("cat /sys/class/net/fabric0/mtu"), "8000");
    }
    assert_eq!(login.sh("sacct -n -X --name=long --format=State | tr -d ' '"), "COMPLETED");
    assert_eq!(login.sh("sinfo -h -N -t drain,drng -o %N"), "");
    assert_eq!(started(&words).expect(0).json()["summary"]["tasks"]["changed"], 0);
    // The health check finds a fault before a job. Nothing that an apply would do is about it.
    login.wait_for("[ \"$(sinfo -h -N -o %T | grep -c '^idle$')\" = 3 ]");
    lab.run(&["lab", "fault", &lab.text("lab.yaml"), "gpu1", "gpu-off-the-bus"]).expect(0);
    login.sh("srun -N1 -w gpu1 true || true");
    let json = started(&words).expect(5).json();
    assert_eq!(json["hosts"]["gpu1"]["maintenance"]["phase"], "left_drained", "{json:#}");
    assert!(login.sh("sinfo -h -n gpu1 -o '%T %E'").starts_with("drained provision: "), "{json:#}");
    lab.run(&["lab", "fault", &lab.text("lab.yaml"), "gpu1", "none"]).expect(0);
    let json = started(&words).expect(0).json();
    assert_eq!(json["hosts"]["gpu1"]["maintenance"]["phase"], "back", "{json:#}");
    std::fs::write(&path, plain).unwrap();
    started(&words).expect(0);
}

/// Jobs by `PMIx`, switches from labels, shares of a GPU, accounts, a check beside jobs, a reboot that Slurm asks for, and a
/// controller that is lost under a job.
#[test]
#[ignore = "a cluster of its own, for many minutes: make test-years"]
fn a_cluster_has_what_its_users_expect() {
    let Some(lab) = Lab::of(INVENTORY, &[("note.yaml".to_owned(), NOTE.to_owned())], &[]) else { return };
    let started = |words: &[&str]| started(&lab, words);
    for name in ["gpu0", "gpu1", "gpu2"] {
        lab.node(name)
            .sh("printf '#!/bin/sh\\n' >/etc/slurm-task-prolog && chmod 755 /etc/slurm-task-prolog");
    }
    let apply = || started(&["apply", "--yes"]).expect(0).json();
    apply();
    health_before_jobs(&lab, &apply);
    let (login, path) = (lab.node("login0"), lab.path("lab.yaml"));
    let plain = std::fs::read_to_string(&path).unwrap();
    for name in ["login0", "gpu0", "gpu1", "gpu2"] {
        let mark = "printf '#!/bin/sh\\necho again >>/run/again\\n' >/usr/local/sbin/again && chmod 755 /usr/local/sbin/again";
        lab.node(name).sh(&format!("useradd -m -u 2000 alice && {mark}"));
    }
    let more = "controller: login0, backup: gpu2, state: /srv/state/slurmctld, topology: rack, share: true, \
        reboot: /usr/local/sbin/again, health_jobs: false, health_interval: 5, \
        partition_settings: { MaxTime: 1-00:00:00 }, partitions: [{ name: debug, Nodes: \"gpu[0-1]\", MaxTime: '30' }], \
        qos: [{ name: high, Priority: '100', MaxTRESPerUser: gres/gpu=1 }], \
        accounts: [{ name: research, users: [alice], qos: [high, normal] }], ";
    let text = plain
        .replace("controller: login0, ", more)
        .replace("settings: { TaskProlog", "settings: { SlurmctldTimeout: 10, TaskProlog");
    std::fs::write(&path, text.clone() + "hosts: { \"gpu[0-1]\": { labels: { rack: r1 } } }\n").unwrap();
    started(&["plan"]).expect(3).says("gpu2 has no label rack");
    std::fs::write(
        &path,
        text + "hosts: { \"gpu[0-1]\": { labels: { rack: r1 } }, gpu2: { labels: { rack: r2 } } }\n",
    )
    .unwrap();
    started(&["apply", "--yes"]).expect(0);
    assert_eq!(started(&["apply", "--yes"]).expect(0).json()["summary"]["tasks"]["changed"], 0);
    let idle = "[ \"$(sinfo -h -p comp -N -o %T | grep -c '^idle$')\" = 3 ]";
    login.wait_for(idle);

    assert_eq!(login.sh("srun -N3 --mpi=pmix sh -c 'echo $PMIX_RANK' | sort | tr '\\n' ' '"), "0 1 2");
    assert_eq!(
        login.sh("scontrol show topology | grep -o 'SwitchName=[a-z0-9]*\\|Nodes=.*' | tr '\\n' ' '"),
        "SwitchName=r1 Nodes=gpu[0-1] SwitchName=r2 Nodes=gpu2 SwitchName=spine Nodes=gpu[0-2] Switches=r1,r2"
    );
    // Half of the memory, so that two jobs with a GPU each run beside each other.
    login.sh("for i in 1 2; do sbatch -Q -w gpu0 --gres=gpu:1 -o /dev/null --wrap 'sleep 60'; done");
    login.wait_for("[ \"$(squeue -h -t R | wc -l)\" = 2 ]");
    login.sh("scancel -u root");
    assert_eq!(login.sh("sinfo -h -p debug -o '%N %l'"), "gpu[0-1] 30:00");

    let as_alice = |command: &str| login.sh(&format!("cd /tmp && su alice -c \"{command}\" 2>&1"));
    assert_eq!(as_alice("srun --qos=high --gres=gpu:1 id -un"), "alice");
    as_alice("sbatch -Q --qos=high --gres=gpu:2 -o /dev/null --wrap true");
    login.wait_for("[ \"$(squeue -h -u alice -o %r)\" = QOSMaxGRESPerUser ]");
    login.sh("scancel -u alice");
    let refused = login.sh("cd /tmp && su nobody -s /bin/sh -c 'srun true' 2>&1 || true");
    assert!(refused.contains("Invalid account"), "{refused}");

    // No job is there to look.
    login.wait_for(idle);
    lab.run(&["lab", "fault", &lab.text("lab.yaml"), "gpu1", "gpu-off-the-bus"]).expect(0);
    login.wait_for("sinfo -h -n gpu1 -o '%T %E' | grep -q '^drained provision: health: gpu.count'");
    lab.run(&["lab", "fault", &lab.text("lab.yaml"), "gpu1", "none"]).expect(0);
    login.sh("scontrol update nodename=gpu1 state=resume");

    login.sh("scontrol reboot nextstate=resume gpu0");
    lab.node("gpu0").wait_for("grep -qx again /run/again");
    login.sh(
        "scontrol update nodename=gpu0 state=down reason=test; scontrol update nodename=gpu0 state=resume",
    );
    login.wait_for(idle);

    // The controller is killed once its state has the job, and comes back later.
    as_alice("sbatch -Q -w gpu1 -J stays -o /dev/null --wrap 'sleep 600'");
    login.wait_for("[ \"$(squeue -h -n stays -o %T)\" = RUNNING ] && touch /run/submitted");
    login.wait_for("[ /srv/state/slurmctld/job_state -nt /run/submitted ]");
    login.sh("systemctl kill -s KILL slurmctld");
    login.wait_for("timeout 10 srun -w gpu0 hostname | grep -qx gpu0");
    assert_eq!(login.sh("scontrol ping | grep -o 'at .*'"), "at login0 is DOWN\nat gpu2 is UP");
    assert_eq!(login.sh("squeue -h -n stays -o '%T %N'"), "RUNNING gpu1");
    login.sh("systemctl start slurmctld");
    login.wait_for(
        "scontrol ping | grep -q 'primary.*UP' && timeout 10 srun -w gpu0 hostname | grep -qx gpu0",
    );
    assert_eq!(login.sh("squeue -h -n stays -o '%T %N'"), "RUNNING gpu1");
    login.sh("scancel -n stays");

    std::fs::write(&path, plain).unwrap();
    started(&["apply", "--yes"]).expect(0);
    assert_eq!(
        lab.node("gpu2")
            .sh("systemctl is-active slurmctld || ls /etc/slurm/slurm.conf 2>&1 | grep -c cannot"),
        "inactive\n1"
    );
    login.wait_for(idle);
}

/// A login to a node needs a job there, and is a part of it; an account that provision would lose is not locked out.
fn logins_need_a_job(lab: &Lab, started: &dyn Fn(&[&str]) -> Ran) {
    let login = lab.node("login0");
    let key = login.sh("cat /root/.ssh/id_ed25519.pub");
    let node = lab.node("gpu0");
    node.sh(&format!(
        "install -d -m 700 -o alice /home/alice/.ssh && echo '{key}' >/home/alice/.ssh/authorized_keys"
    ));
    let path = lab.path("lab.yaml");
    let plain = std::fs::read_to_string(&path).unwrap();
    let with = |exempt: &str| {
        let more = format!("controller: login0, adopt: true, adopt_exempt: [{exempt}], ");
        let text = plain.replace("controller: login0, ", &more);
        let text = text.replace("settings: { TaskProlog", "settings: { PrologFlags: X11, TaskProlog");
        std::fs::write(&path, text).unwrap();
        started(&["apply", "--yes", "--hosts", "gpu0,login0"])
    };
    let json = with("root").expect(5).json();
    assert!(json.to_string().contains("no new login was possible after the change"), "{json:#}");
    assert_eq!(node.sh("grep pam_slurm_adopt /etc/pam.d/sshd || true"), "");
    with("root, provision").expect(0);
    assert_eq!(with("root, provision").expect(0).json()["summary"]["tasks"]["changed"], 0);
    // Flags of the site's own stand in the same line: Slurm takes only one.
    assert_eq!(login.sh("grep PrologFlags /etc/slurm/slurm.conf"), "PrologFlags=Alloc,Contain,X11");
    let ssh = "ssh -oBatchMode=yes alice@gpu0 cat /proc/self/cgroup 2>&1";
    assert_eq!(login.sh(&format!("{ssh} || echo refused")), "refused");
    // The journal has it a moment later, and other logins around it.
    node.wait_for(
        "journalctl --no-pager -u ssh | grep -q 'pam_slurm_adopt: you have no active jobs on this node'",
    );
    login.sh("cd /tmp && su alice -c \"sbatch -Q -w gpu0 -o /dev/null --wrap 'sleep 600'\"");
    // The step that takes logins begins after the prolog.
    login.wait_for("ssh -oBatchMode=yes alice@gpu0 true");
    let job = login.sh("squeue -h -u alice -o %A");
    let cgroup = login.sh(ssh);
    assert!(cgroup.contains(&format!("/job_{job}/")), "{cgroup}");
    login.sh("scancel -u alice");
}

/// Without times, and without what a node alone does not know of the others.
fn plain(json: &Json) -> Json {
    match json {
        Json::Object(map) => map
            .iter()
            .filter(|(key, _)| !["seconds", "warnings"].contains(&key.as_str()))
            .map(|(key, value)| (key.clone(), plain(value)))
            .collect(),
        Json::Array(items) => items.iter().map(plain).collect(),
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => json.clone(),
    }
}
