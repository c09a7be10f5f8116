//! TAB in real shells: what `provision generate completions` writes makes them offer what can stand there.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::expect_used, reason = "a test")]
#![allow(clippy::disallowed_methods, reason = "tests start shells")]

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

const PROGRAM: &str = env!("CARGO_BIN_EXE_provision");

const INVENTORY: &str = "\
cluster: tab
playbooks: [base, { use: limits, tags: [quotas] }]
groups:
  gpu: { hosts: \"gpu[0-2]\" }
  login: { hosts: [login0] }
hosts:
  gpu1: { address: 192.0.2.11, labels: { rack: r7 } }
";

/// A home with an inventory, a recorded run, and the completions of each shell where it looks for them.
fn home() -> tempfile::TempDir {
    let home = tempfile::tempdir().unwrap();
    let at = home.path();
    std::fs::write(at.join("inventory.yaml"), INVENTORY).unwrap();
    let run = at.join("state/provision/tab/20260102-030405-1");
    std::fs::create_dir_all(&run).unwrap();
    std::fs::write(run.join("events.jsonl"), "").unwrap();
    for (shell, file) in [("bash", "bash"), ("fish", "fish"), ("zsh", "_provision")] {
        let text = Command::new(PROGRAM).args(["generate", "completions", shell]).output().unwrap();
        assert!(text.status.success());
        std::fs::write(at.join(file), text.stdout).unwrap();
    }
    home
}

fn there(shell: &str) -> bool {
    let found = Command::new(shell).args(["-c", "exit"]).status().is_ok_and(|status| status.success());
    assert!(found || shell != "bash", "bash is needed");
    found
}

fn in_home(program: &str, home: &Path) -> Command {
    let mut command = Command::new(program);
    let path =
        format!("{}:{}", Path::new(PROGRAM).parent().unwrap().display(), std::env::var("PATH").unwrap());
    command.current_dir(home).env("PATH", path).env("HOME", home).env("TERM", "dumb");
    command.env("XDG_STATE_HOME", home.join("state")).env_remove("XDG_CONFIG_HOME").env_remove("BASH_ENV");
    command
}

/// What bash offers for the last of these words, by the function that it was told to call.
fn bash(home: &Path, words: &[&str]) -> Vec<String> {
    let script = r#"source ./bash
        [[ $(complete -p provision) =~ -F\ ([^ ]+) ]] || exit
        COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMP_TYPE=9
        "${BASH_REMATCH[1]}" provision "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
        printf '%s\n' "${COMPREPLY[@]}""#;
    lines(in_home("bash", home).args(["--norc", "-c", script, "bash", "provision"]).args(words))
}

/// What fish offers, without what it says of each.
fn fish(home: &Path, words: &[&str]) -> Vec<String> {
    let line = format!("provision {}", words.join(" "));
    let offered = lines(in_home("fish", home).args(["-c", "source ./fish; complete -C $argv[1]", &line]));
    offered.iter().map(|line| line.split('\t').next().unwrap().to_owned()).collect()
}

fn lines(command: &mut Command) -> Vec<String> {
    let output = command.output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    text.lines().filter(|line| !line.is_empty()).map(str::to_owned).collect()
}

type Shell = fn(&Path, &[&str]) -> Vec<String>;

#[test]
fn each_place_offers_what_can_stand_there() {
    let home = home();
    let cases: &[(&[&str], &[&str])] = &[
        (&["appl"], &["apply"]),
        (&["inventory", "tr"], &["trust"]),
        (&["plan", "--exit"], &["--exit-code"]),
        (&["plan", "inv"], &["inventory.yaml"]),
        (&["plan", "inventory.yaml", "--hosts", "gpu"], &["gpu", "gpu0", "gpu1", "gpu2"]),
        (&["plan", "inventory.yaml", "--hosts", "gpu0,lo"], &["gpu0,login", "gpu0,login0"]),
        (&["plan", "inventory.yaml", "--hosts", "rac"], &["rack=r7"]),
        (&["plan", "~/inventory.yaml", "--hosts", "gpu1"], &["gpu1"]),
        (&["plan", "inventory.yaml", "--tags", "quo"], &["quotas"]),
        (&["lab", "restart", "inventory.yaml", "gpu0", "login"], &["login0"]),
        (&["lab", "up", "inventory.yaml", "--profile", "h200-x"], &["h200-x2"]),
        (&["lab", "fault", "inventory.yaml", "gpu0", "port-d"], &["port-down"]),
        (&["report", "show", "inventory.yaml", "2026"], &["20260102-030405-1"]),
        (&["playbook", "show", "rdma-c"], &["rdma-core"]),
        (&["explain", "packag"], &["package"]),
        (&["explain", "facts.kern"], &["facts.kernel"]),
        (&["facts", "inventory.yaml", "--only", "os,kern"], &["os,kernel"]),
        (&["generate", "completions", "ba"], &["bash"]),
    ];
    for (name, shell) in [("bash", bash as Shell), ("fish", fish)] {
        if !there(name) {
            continue;
        }
        for (words, offered) in cases {
            assert_eq!(shell(home.path(), words), *offered, "{name}: {words:?}");
        }
    }
}

#[test]
fn nothing_is_said_of_an_inventory_with_mistakes() {
    let home = home();
    std::fs::write(home.path().join("bad.yaml"), "cluster: [").unwrap();
    assert_eq!(bash(home.path(), &["plan", "bad.yaml", "--hosts", "g"]), [""; 0]);
}

/// What a person sees who types this into a shell with a terminal.
fn typed(home: &Path, shell: &str, keys: &str) -> String {
    let mut child = in_home("script", home)
        .args(["-qec", shell, "/dev/null"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    // Kept open until the shell ends: `script` would hang up.
    let mut input = child.stdin.take().unwrap();
    input.write_all(keys.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    drop(input);
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn a_person_at_a_terminal_gets_the_rest_of_a_word() {
    let home = home();
    let shells = [
        ("bash", "bash --norc -i", "source ./bash\n"),
        ("zsh", "zsh -f -i", "fpath=(~ $fpath); autoload -U compinit; compinit -u -D\n"),
    ];
    for (name, command, before) in shells {
        if !there(name) {
            continue;
        }
        let keys = format!(
            "{before}provision inventory list inventory.yaml --hosts gpu1\t\nprovision explain packag\t\nexit\n"
        );
        let seen = typed(home.path(), command, &keys);
        assert!(seen.contains("192.0.2.11"), "{name}: {seen}");
        assert!(seen.contains("# package"), "{name}: {seen}");
    }
}
