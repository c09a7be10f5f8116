//! What schedulers are asked and told, in the real shells of this machine. There is no cluster of Kubernetes: a stand-in for
//! kubectl plays its documented columns and messages, and keeps what it was told.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test")]
#![allow(clippy::disallowed_methods, reason = "tests start shells and programs")]

use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::support::{SHELLS, render};
use provision::config::{Sp, Span};
use provision::inventory::{CommandLine, Commands, Host, Kubernetes, SchedulerSettings, Until};
use provision::scheduler::{self, Drain, Load, Scheduler};
use provision::transport::Part;

/// The hosts of an inventory.
fn hosts() -> Vec<Host> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("inventory.yaml");
    std::fs::write(&path, "cluster: t\ngroups: { nodes: { hosts: [login0, gpu0, gpu1, gpu2] } }\n").unwrap();
    let path = camino::Utf8PathBuf::from_path_buf(path).unwrap();
    provision::project::load(&path, &provision::project::LoadOptions::default()).unwrap().hosts
}

/// Status and output of a part, in a shell that finds the stand-ins of a folder and keeps its files there.
fn run(shell: &[&str], folder: &Path, part: &Part) -> (i32, String) {
    let text = render(&part.script).replace("/var/lib", &folder.join("lib").display().to_string());
    let path = format!("{}:{}", folder.join("bin").display(), std::env::var("PATH").unwrap());
    let mut command = Command::new(shell[0]);
    command
        .args(&shell[1..])
        .env("PATH", path)
        .env("STAND_IN", folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    (output.status.code().unwrap(), String::from_utf8(output.stdout).unwrap())
}

fn texts(shell: &[&str], folder: &Path, parts: &[Part]) -> Vec<String> {
    parts.iter().map(|part| run(shell, folder, part).1).collect()
}

fn stand_in(folder: &Path, name: &str, script: &str) {
    let bin = folder.join("bin");
    std::fs::create_dir_all(&bin).unwrap();
    std::fs::create_dir_all(folder.join("lib")).unwrap();
    let path = bin.join(name);
    std::fs::write(&path, format!("#!/bin/sh\n{script}")).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

/// What it is asked is in `told`, word by word. A node `gpu2` is unknown, gpu1 has a pod that a budget protects.
const KUBECTL: &str = r#"
printf '%s\n' "${KUBECONFIG:-none} $*" >>"$STAND_IN/told"
case "$*" in
"get nodes --no-headers -o custom-columns="*)
	echo 'Warning: v1 ComponentStatus is deprecated in v1.19+' >&2
	printf '%s\n' 'cp0    <none>   True      <none>' 'gpu0   true     True      provision: r1: is to be changed' \
		'gpu1   true     Unknown   <none>' 'gpu3   <none>   False     provision: r0: is over'
	;;
"get nodes --no-headers -l gpu=yes -o name") printf '%s\n' node/gpu0 node/gpu1 ;;
"get pods"*spec.nodeName=gpu0*)
	printf '%s\n' 'gpu0   Running     DaemonSet         kube-system   proxy-1' \
		'gpu0   Running     Node              kube-system   static-gpu0' \
		'gpu0   Running     <none>            default       shell' \
		'gpu0   Pending     PyTorchJob        train         bert-worker-0' \
		'gpu0   Succeeded   Job               train         old' \
		'gpu0   Running     StatefulSet,Foo   db            db-0'
	;;
"get pods"*spec.nodeName=gpu1*) echo 'No resources found' >&2 ;;
"patch node gpu2"*)
	echo 'Error from server (NotFound): nodes "gpu2" not found' >&2
	exit 1
	;;
"patch node"*) echo 'node/x patched' ;;
"drain gpu1"*)
	printf '%s\n' 'node/gpu1 already cordoned' 'evicting pod web/front-1' \
		"error when evicting pods/\"front-1\" -n \"web\" (will retry after 5s): Cannot evict pod as it would violate the pod's disruption budget." \
		'There are pending nodes to be drained:' ' gpu1' >&2
	exit 1
	;;
"drain gpu0"*) echo 'node/gpu0 drained' ;;
*) exit 64 ;;
esac
"#;

#[test]
fn kubernetes_by_its_columns() {
    let hosts = hosts();
    let host = |name: &str| hosts.iter().find(|host| host.name == name).unwrap();
    for shell in SHELLS {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        stand_in(folder, "kubectl", KUBECTL);
        let settings = Kubernetes {
            kubeconfig: Some("/etc/k u.conf".to_owned()),
            selector: Some("gpu=yes".to_owned()),
            evict: std::time::Duration::from_mins(10),
        };
        let kind = scheduler::of(&SchedulerSettings::Kubernetes(settings), "login0", &hosts);
        let (status, text) = run(shell, folder, &kind.ask_nodes());
        let nodes = kind.nodes(&text);
        assert_eq!((status, nodes.len()), (0, 4), "{shell:?} {text}");
        assert_eq!(nodes["gpu0"].drain(), Drain::Ours("r1", "is to be changed"));
        assert_eq!(nodes["gpu1"].drain(), Drain::Others(""));
        assert_eq!(nodes["gpu1"].told, "Kubernetes has the node as NotReady,SchedulingDisabled");
        // Somebody has uncordoned it: the reason alone is no drain.
        assert_eq!(nodes["gpu3"].drain(), Drain::No);
        assert!(nodes["gpu3"].silent && !nodes["gpu3"].usable && nodes["cp0"].usable);
        assert_eq!([nodes["gpu0"].counted, nodes["gpu1"].counted, nodes["cp0"].counted], [true, true, false]);

        let both = [host("gpu0"), host("gpu1")];
        let load = kind.load(&both, &texts(shell, folder, &kind.ask_load(&both)));
        let on = Load {
            jobs: Some("pod default/shell, pod train/bert-worker-0".to_owned()),
            movable: Some("pod db/db-0".to_owned()),
        };
        assert_eq!(load.get("gpu0"), Some(&on), "{shell:?}");
        assert_eq!(load.get("gpu1"), None);

        let kept = kind.kept(&run(shell, folder, &kind.evict(&both).unwrap()).1);
        assert_eq!(kept.len(), 1, "{shell:?} {kept:?}");
        assert!(kept["gpu1"].ends_with("it would violate the pod's disruption budget."), "{kept:?}");

        std::fs::remove_file(folder.join("told")).unwrap();
        let parts = kind.drain(&both, "provision: r1: it's \"new\"");
        assert_eq!(run(shell, folder, &parts[0]).0, 0);
        let resume = run(shell, folder, &kind.resume(host("gpu0")));
        assert_eq!(resume.0, 0);
        let (status, text) = run(shell, folder, &kind.say(host("gpu2"), "provision: r1: bad"));
        assert_eq!((status, text.as_str()), (1, "Error from server (NotFound): nodes \"gpu2\" not found\n"));
        let held = r#"{"metadata":{"annotations":{"provision":"provision: r1: it's \"new\""}},"spec":{"unschedulable":true}}"#;
        let free = r#"{"metadata":{"annotations":{"provision":null}},"spec":{"unschedulable":null}}"#;
        let bad = r#"{"metadata":{"annotations":{"provision":"provision: r1: bad"}}}"#;
        let told = |node: &str, patch: &str| format!("/etc/k u.conf patch node {node} -p {patch}\n");
        // Several nodes are told at once.
        let mut wanted = [told("gpu0", held), told("gpu1", held), told("gpu0", free), told("gpu2", bad)];
        let seen = std::fs::read_to_string(folder.join("told")).unwrap();
        let mut seen: Vec<String> = seen.lines().map(|line| format!("{line}\n")).collect();
        seen[..2].sort();
        wanted[..2].sort();
        assert_eq!(seen, wanted, "{shell:?}");
    }
}

#[test]
fn a_scheduler_of_ones_own_by_files_and_commands() {
    let hosts = hosts();
    let host = |name: &str| hosts.iter().find(|host| host.name == name).unwrap();
    let line = |words: &[&str]| {
        CommandLine(words.iter().map(|word| Sp { value: (*word).to_owned(), span: Span::NONE }).collect())
    };
    for shell in SHELLS {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        stand_in(
            folder,
            "hold",
            "printf '%s|' \"$@\" >>\"$STAND_IN/told\"\n[ \"$1\" != gpu2 ] || { echo no; exit 3; }\n",
        );
        stand_in(folder, "jobs", "case $1 in gpu0) echo '17 ann' ;; gpu1) ;; *) exit 1 ;; esac\n");
        stand_in(
            folder,
            "fails",
            "case $1 in gpu0) echo '17 ann'; exit 1 ;; gpu1) exit 1 ;; esac\necho 'no server' >&2\nexit 3\n",
        );
        let of = |until: Until, idle: &str| {
            scheduler::of(
                &SchedulerSettings::Commands(Commands {
                    begin: line(&["hold", "{{ host.name }}", "a b"]),
                    idle: line(&[idle, "{{ host.name }}"]),
                    until,
                    end: line(&["hold", "back", "{{ host.name }}"]),
                }),
                "login0",
                &hosts,
            )
        };
        let kind: Box<dyn Scheduler> = of(Until::Empty, "jobs");
        let nodes = || kind.nodes(&run(shell, folder, &kind.ask_nodes()).1);
        assert_eq!(nodes().keys().collect::<Vec<_>>(), ["gpu0", "gpu1", "gpu2"], "{shell:?}");
        assert!(nodes().values().all(|node| node.usable && node.drain() == Drain::No));

        let parts = kind.drain(&[host("gpu0"), host("gpu2")], "provision: r1: is $(to) be changed");
        let ended: Vec<(i32, String)> = parts.iter().map(|part| run(shell, folder, part)).collect();
        assert_eq!(ended, [(0, String::new()), (3, "no\n".to_owned())], "{shell:?}");
        // One that refused is left alone; where an earlier try was cut off, it may have done half of it.
        assert_eq!(nodes()["gpu0"].drain(), Drain::Ours("r1", "is $(to) be changed"), "{shell:?}");
        assert_eq!(nodes()["gpu2"].drain(), Drain::No, "{shell:?}");
        run(shell, folder, &kind.say(host("gpu2"), "provision: r1: cut off"));
        assert_eq!(run(shell, folder, &parts[1]).0, 3, "{shell:?}");
        assert_eq!(nodes()["gpu2"].drain(), Drain::Ours("r1", "is $(to) be changed"), "{shell:?}");
        let (status, _) = run(shell, folder, &kind.say(host("gpu0"), "provision: r1: `boot`: bad"));
        assert_eq!((status, nodes()["gpu0"].drain()), (0, Drain::Ours("r1", "`boot`: bad")));
        for name in ["gpu0", "gpu2"] {
            assert_eq!(run(shell, folder, &kind.resume(host(name))), (0, String::new()));
        }
        assert!(nodes().values().all(|node| node.drain() == Drain::No), "{shell:?}");
        let told = std::fs::read_to_string(folder.join("told")).unwrap();
        assert_eq!(told, "gpu0|a b|gpu2|a b|gpu2|a b|back|gpu0|back|gpu2|", "{shell:?}");

        let both = [host("gpu0"), host("gpu1")];
        let jobs = |kind: &dyn Scheduler| {
            let load = kind.load(&both, &texts(shell, folder, &kind.ask_load(&both)));
            (load["gpu0"].jobs.clone(), load["gpu1"].jobs.clone())
        };
        assert_eq!(jobs(kind.as_ref()), (Some("17 ann".to_owned()), None), "{shell:?}");
        // Who fails does not know that the host is idle, and keeps that host alone.
        let fails = of(Until::Empty, "fails");
        for (name, said) in [("gpu0", "17 ann\n"), ("gpu1", "status 1\n"), ("gpu2", "no server\n")] {
            let part = &fails.ask_load(&[host(name)])[0];
            assert_eq!(run(shell, folder, part), (0, said.to_owned()), "{shell:?}");
        }
        let by_status = of(Until::Success, "jobs");
        let part = &by_status.ask_load(&[host("gpu2")])[0];
        assert_eq!(run(shell, folder, part), (0, "status 1\n".to_owned()), "{shell:?}");
        assert_eq!(run(shell, folder, &by_status.ask_load(&[host("gpu1")])[0]), (0, String::new()));
        // A program that is missing is no idle host, and no busy one.
        for until in [Until::Empty, Until::Success] {
            let part = &of(until, "no-such-program").ask_load(&[host("gpu1")])[0];
            let (status, text) = run(shell, folder, part);
            assert!(status == 127 && text.contains("no-such-program"), "{shell:?} {status} {text}");
        }
    }
}
