//! A host that lies to the others: what they take of it, and what of it they write down.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test")]
#![allow(clippy::disallowed_methods, reason = "tests start shells and programs")]

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use crate::support::{SHELLS, run};
use camino::Utf8PathBuf;
use provision::facts::specimens;
use provision::project::{self, Fleet, Inputs, InstanceState, LoadOptions};
use provision::shell;
use provision::transport::Script;
use serde_json::{Value as Json, json};
use tempfile::TempDir;

/// A directory with an `ssh` of ours in it, which is all that is seen of another host.
struct Other {
    directory: TempDir,
    path: String,
}

impl Other {
    /// `sends` is what the other host does with the command; `tool` is one of busybox, or none.
    fn new(sends: &str, tool: Option<&str>) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let tools = directory.path().join("tools");
        fs::create_dir(&tools).unwrap();
        let program = |name: &str, text: &str| {
            let path = tools.join(name);
            fs::write(&path, format!("#!/bin/sh\n{text}\n")).unwrap();
            fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
        };
        program("ssh", &format!("cd {} || exit\n{sends}", directory.path().display()));
        program("sudo", "while [ \"$1\" != ssh ]; do shift; done; exec \"$@\"");
        if let Some(tool) = tool {
            program(tool, &format!("exec busybox {tool} \"$@\""));
        }
        let path = format!("{}:{}", tools.display(), std::env::var("PATH").unwrap());
        Self { directory, path }
    }

    fn place(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    fn text(&self, name: &str) -> String {
        self.place(name).display().to_string()
    }

    /// Names of what is left in the directory of the prefix, or of the file.
    fn left(&self) -> Vec<String> {
        let mut left: Vec<String> = fs::read_dir(self.place("to"))
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        left.sort();
        left
    }
}

/// Makes a shell that lets no file grow beyond a number of blocks of 512 bytes, as a disk that is full does.
fn with_room(blocks: u32, shell: &[&str], script: Script) -> Script {
    // bash counts blocks of 1024 bytes where it is not as POSIX wants it.
    let blocks = if shell == ["bash"] { blocks / 2 } else { blocks };
    Script { text: format!("ulimit -f {blocks}\n{}", script.text).into(), ..script }
}

fn distribute(other: &Other, size: &str) -> Script {
    let text = shell!(
        "shell/base64.sh",
        "shell/reach.sh",
        "resources/shared/after.sh",
        "resources/shared/put.sh",
        "resources/builds/over_mesh.sh",
        "resources/builds/distribute/distribute.sh"
    );
    let digest = "3a6eb0790f39ac87c94f3856b2dd2c5d110e6811602261a9a923d3bb23adc8b7";
    let file = other.text("to/file");
    Script::new(text).args([file.as_str(), "0640", "", digest, size, "root", "n1"])
}

#[test]
fn no_more_is_taken_of_a_file_than_it_has() {
    for shell in SHELLS {
        for tool in [None, Some("head")] {
            for (sends, said) in [
                ("cat /dev/zero", "n1 sends more than the 4 bytes"),
                ("printf '12345'", "n1 sends more than the 4 bytes"),
                ("printf 'dat'", "no whole copy from n1"),
                ("exit 255", "no whole copy from n1"),
                ("printf 'DATA'", "another digest"),
            ] {
                let other = Other::new(sends, tool);
                fs::create_dir(other.place("to")).unwrap();
                let script = with_room(64, shell, distribute(&other, "4"));
                let (status, _, errors) = run(shell, &script, Some(&other.path));
                assert!(
                    status != 0 && errors.contains(said),
                    "{shell:?} {tool:?} {sends}: {status} {errors}"
                );
                assert!(other.left().is_empty(), "{shell:?} {sends}: {:?}", other.left());
            }
            let other = Other::new("printf data", tool);
            fs::create_dir(other.place("to")).unwrap();
            let (status, _, errors) = run(shell, &distribute(&other, "4"), Some(&other.path));
            assert_eq!((status, errors.as_str()), (0, ""), "{shell:?} {tool:?}");
            assert_eq!(fs::read_to_string(other.place("to/file")).unwrap(), "data");
        }
    }
}

/// What another host has built, as it sends it: `make` puts it into `t`, and may change what `ssh` sends.
fn built(make: &str, sends: &str, tool: Option<&str>) -> Other {
    let other = Other::new(sends, tool);
    fs::create_dir(other.place("to")).unwrap();
    let text = format!(
        "set -e; cd \"$1\"; mkdir -p t/.provision; echo x >t/x; ln -s x t/y; printf 'from x\\nresult 1\\n' >t/.provision/stamp\n\
         {make}\n\
         cd t; find . -path ./.provision -prune -o -type f -exec sha256sum {{}} + | sort -k 2 >.provision/sha256\n\
         echo './y -> x' >.provision/links; tar -cf ../sent ."
    );
    let directory = other.directory.path().display().to_string();
    let (status, _, errors) = run(&["sh"], &Script::new(text).arg(directory), None);
    assert_eq!(status, 0, "{errors}");
    other
}

fn build_fetch(other: &Other) -> Script {
    let text = shell!(
        "shell/base64.sh",
        "shell/reach.sh",
        "resources/builds/over_mesh.sh",
        "resources/builds/prefix.sh",
        "resources/builds/build_once/build_fetch.sh"
    );
    let prefix = other.text("to/prefix");
    Script::new(text).args(["it", prefix.as_str(), "=from x", "1", "root", "n1"])
}

#[test]
fn no_more_is_taken_of_a_build_than_was_declared() {
    let flood = "{ cat sent; cat /dev/zero; }";
    let large = "head -c 3000000 /dev/zero >t/large";
    for shell in SHELLS {
        for tool in [None, Some("head")] {
            for (make, sends, said) in [
                (
                    large,
                    "cat sent",
                    "no whole copy from n1: does the mesh of root stand, and are the 1 MiB of `space` enough?",
                ),
                ("", "exit 255", "no whole copy from n1"),
                ("echo y >>t/x; echo z >t/z; mkfifo t/pipe", "cat sent", "has devices or pipes"),
            ] {
                let other = built(make, sends, tool);
                let script = with_room(4096, shell, build_fetch(&other));
                let (status, _, errors) = run(shell, &script, Some(&other.path));
                assert!(status != 0 && errors.contains(said), "{shell:?} {tool:?} {make}: {status} {errors}");
                assert!(other.left().is_empty(), "{shell:?} {make}: {:?}", other.left());
            }
            // What comes behind the end of an archive is nobody's.
            for sends in ["cat sent", flood] {
                let other = built("", sends, tool);
                let (status, _, errors) = run(shell, &build_fetch(&other), Some(&other.path));
                // The tools of uutils say that tar has read enough.
                let said = errors.lines().filter(|line| !line.contains("Broken pipe")).count();
                assert_eq!((status, said), (0, 0), "{shell:?} {tool:?} {sends}: {errors}");
                assert_eq!(other.left(), ["prefix"]);
                assert!(Path::new(&other.text("to/prefix/x")).exists());
            }
        }
    }
}

/// `slurm.conf` and `gres.conf` of a cluster of two nodes of which one says `lie` of itself, or why there is none.
fn slurm(lie: &dyn Fn(&mut Json)) -> Result<String, String> {
    let directory = tempfile::tempdir().unwrap();
    let path = Utf8PathBuf::from_path_buf(directory.path().join("inventory.yaml")).unwrap();
    let inventory = "cluster: c\nsecrets: { munge: { env: MUNGE } }\nplaybooks: [{ use: slurm, with: { controller: a } }]\n\
                     hosts: { a: , b: , \"c\": }\ngroups: { gpu: { hosts: [b, c] } }\n";
    fs::write(&path, inventory).unwrap();
    let project = project::load(&path, &LoadOptions::default()).unwrap_or_else(|error| panic!("{error}"));
    let (_, honest) = specimens().into_iter().find(|(name, _)| *name == "debian").unwrap();
    let mut liar = honest.clone();
    lie(&mut liar);
    let fleet = Fleet::new(BTreeMap::from([(0, honest.clone()), (1, honest.clone()), (2, liar)]));
    let inputs = Inputs { facts: Some(&honest), fleet: Some(&fleet), ..Inputs::none() };
    let mut text = String::new();
    for step in project.steps.iter().filter(|step| {
        ["configuration of Slurm", "GPUs of the nodes"].iter().any(|title| step.title.contains(title))
    }) {
        for instance in project.instantiate(step, project.host("a").unwrap(), &inputs) {
            match instance.state {
                InstanceState::Ready { resource, .. } => text += format!("{resource:?}").as_str(),
                InstanceState::Failed(said) => return Err(said),
                other @ (InstanceState::Skipped(_) | InstanceState::Waiting(_)) => panic!("{other:?}"),
            }
        }
    }
    Ok(text)
}

#[test]
fn no_number_of_a_node_gets_into_slurm_conf_that_slurm_does_not_take() {
    let written = slurm(&|_| {}).unwrap();
    assert!(written.contains("NodeName=b ") && written.contains("NodeName=c "), "{written}");
    for (field, value) in [
        ("/cpu/count", json!(100_000_000)),
        ("/cpu/sockets", json!(65_536)),
        ("/cpu/threads_per_core", json!(99_999)),
        ("/memory/total_mib", json!(u64::MAX / 200)),
    ] {
        let said = slurm(&|facts| *facts.pointer_mut(field).unwrap() = value.clone()).unwrap_err();
        assert!(said.contains("c has ") && said.contains("which Slurm does not take"), "{field}: {said}");
    }
    // What the bounds of facts refuse is not known.
    for fact in ["cpu", "memory", "pci"] {
        let said = slurm(&|facts| drop(facts.as_object_mut().unwrap().remove(fact))).unwrap_err();
        assert!(said.contains("of c are not known"), "{fact}: {said}");
    }
    let written = slurm(&|facts| facts["numa"][0]["cores"] = json!("")).unwrap();
    assert!(!written.contains("Cores= ") && !written.contains("Cores=\\n"), "{written}");
}

/// Facts of other hosts that templates of ours write are numbers and words: they need no quotes.
#[test]
fn our_templates_write_no_line_of_another_host() {
    let facts = regex::Regex::new(r"(?:hosts\[[^\]]*\]|\bnode)\.facts\.[a-z_.]+").unwrap();
    let mut found = Vec::new();
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("playbooks")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let text = fs::read_to_string(&path).unwrap();
                found.extend(facts.find_iter(&text).map(|fact| {
                    let fact = fact.as_str();
                    fact.split(".facts.").nth(1).unwrap().trim_end_matches('.').to_owned()
                }));
            }
        }
    }
    found.sort();
    found.dedup();
    let lines = [
        "cpu.model",
        "kernel.version",
        "kernel.cmdline",
        "os.name",
        "mounts",
        "boot.reasons",
        "busy",
        "users",
    ];
    for fact in &found {
        assert!(
            !lines.iter().any(|line| fact.starts_with(line)),
            "{fact} is a line for people: write it with `| json`"
        );
    }
    assert!(found.iter().any(|fact| fact == "cpu"), "{found:?}");
}
