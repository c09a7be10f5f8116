//! What the program leaves on the controller: who may read it, and what it says when it cannot.

#![allow(clippy::unwrap_used, reason = "a test")]
#![allow(clippy::disallowed_methods, reason = "tests start the program")]

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value as Json;

use crate::this_host;

/// A site of this machine with one task that writes a file.
struct Site(tempfile::TempDir);

impl Site {
    fn new() -> Self {
        let site = Self(tempfile::tempdir().unwrap());
        fs::write(
            site.path("site.yaml"),
            "cluster: c\ntransport: local\nplaybooks: [./p.yaml]\nhosts: { a: }\n",
        )
        .unwrap();
        let task =
            format!("file: {{ path: {}, content: hidden, mode: \"0600\" }}", site.path("made").display());
        fs::write(site.path("p.yaml"), format!("name: P\ntasks:\n- name: t\n  {task}\n")).unwrap();
        site
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Runs with the usual umask, which lets everybody read.
    fn run(&self, arguments: &str, home: &Path, state: &Path) -> Output {
        Command::new("sh")
            .args(["-c", &format!("umask 022; exec \"$0\" {arguments}"), env!("CARGO_BIN_EXE_provision")])
            .env("HOME", home)
            .env("XDG_STATE_HOME", state)
            .env_remove("XDG_RUNTIME_DIR")
            .current_dir(self.0.path())
            .output()
            .unwrap()
    }
}

fn told(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Everything below a directory that is not its owner's alone.
fn open_to_others(directory: &Path) -> Vec<String> {
    let mut open = Vec::new();
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        let metadata = path.symlink_metadata().unwrap();
        if metadata.mode() & 0o077 != 0 {
            open.push(format!("{:o} {}", metadata.mode() & 0o777, path.display()));
        }
        if metadata.is_dir() {
            open.extend(open_to_others(&path));
        }
    }
    open
}

#[test]
fn journals_and_reports_are_the_owners_alone() {
    let _alone = this_host::alone();
    let site = Site::new();
    let (home, state) = (site.path("home"), site.path("new/state"));
    fs::write(site.path("there.html"), "").unwrap();
    fs::set_permissions(site.path("there.html"), Permissions::from_mode(0o640)).unwrap();
    let planned = site.run("plan site.yaml --out plan.json", &home, &state);
    assert!(planned.status.success(), "{}", told(&planned));
    let reports = "--json out.json --junit out.xml --html there.html --prometheus out.prom";
    let applied = site.run(&format!("apply site.yaml --yes --plan plan.json {reports}"), &home, &state);
    assert!(applied.status.success(), "{}", told(&applied));
    assert_eq!(open_to_others(&site.path("new")), Vec::<String>::new());
    assert!(state.join("provision/c").read_dir().unwrap().count() >= 2);
    for (name, mode) in [
        ("plan.json", 0o600),
        ("out.json", 0o600),
        ("out.xml", 0o600),
        ("there.html", 0o640),
        ("out.prom", 0o644),
    ] {
        assert_eq!(site.path(name).metadata().unwrap().mode() & 0o777, mode, "{name}");
    }
}

#[test]
fn a_dash_is_stdout_for_every_file_that_a_command_writes() {
    let site = Site::new();
    let run = |arguments: &str| site.run(arguments, &site.path("home"), &site.path("state"));
    for (arguments, begins) in [
        ("plan site.yaml --json -", "{"),
        ("plan site.yaml --junit -", "<?xml"),
        ("plan site.yaml --html -", "<!doctype html>"),
        ("plan site.yaml --prometheus -", "# HELP"),
        ("plan site.yaml --out -", "{"),
        ("verify site.yaml --html -", "<!doctype html>"),
        ("report show site.yaml --junit -", "<?xml"),
    ] {
        let ran = run(arguments);
        let said = String::from_utf8_lossy(&ran.stdout).into_owned();
        assert!(
            said.to_lowercase().starts_with(&begins.to_lowercase()),
            "{arguments}: {said} {}",
            told(&ran)
        );
        // Nothing else is mixed with it.
        assert!(!said.contains("to change") || begins != "{", "{arguments}: {said}");
        assert!(!told(&ran).contains("wrote -"), "{arguments}: {}", told(&ran));
    }
    for (arguments, why) in [
        ("plan site.yaml --json - --html -", "2 texts would be mixed on stdout"),
        ("plan site.yaml --json - --out -", "2 texts would be mixed on stdout"),
        ("report show site.yaml --json - --junit -", "2 texts would be mixed on stdout"),
        ("bundle site.yaml --output -", "a bundle goes to a file"),
        ("init 127.0.0.1 --output -", "an inventory goes to a file"),
        ("inventory import site.yaml --output -", "an inventory goes to a file"),
    ] {
        let ran = run(arguments);
        assert_eq!(ran.status.code(), Some(2), "{arguments}: {}", told(&ran));
        assert!(told(&ran).contains(why), "{arguments}: {}", told(&ran));
    }
    assert!(!site.path("-").exists());
}

#[test]
fn inventories_of_one_cluster_share_what_is_kept_and_say_so() {
    let site = Site::new();
    fs::copy(site.path("site.yaml"), site.path("other.yaml")).unwrap();
    let run = |arguments: &str| told(&site.run(arguments, &site.path("home"), &site.path("state")));
    let shared = |text: &str| text.contains("runs, locks and facts of cluster `c` are also those of ");
    assert!(!shared(&run("apply site.yaml --yes")));
    assert!(!shared(&run("verify ./site.yaml")), "the same file");
    let said = run("verify other.yaml");
    assert!(shared(&said) && said.contains("/site.yaml: where that is another cluster"), "{said}");
    assert!(!shared(&run("verify other.yaml")), "it was said");
    fs::remove_file(site.path("other.yaml")).unwrap();
    assert!(!shared(&run("verify site.yaml")));
}

#[test]
fn a_state_directory_of_others_is_refused() {
    let site = Site::new();
    let state = site.path("state/provision");
    fs::create_dir_all(&state).unwrap();
    fs::set_permissions(&state, Permissions::from_mode(0o777)).unwrap();
    let applied = site.run("apply site.yaml --yes", &site.path("home"), &site.path("state"));
    assert_eq!(applied.status.code(), Some(3), "{}", told(&applied));
    assert!(told(&applied).contains("others may write in it"), "{}", told(&applied));
    assert!(told(&applied).contains("hint: set XDG_STATE_HOME"), "{}", told(&applied));
    assert!(!site.path("made").exists());
    // A plan needs none.
    let planned = site.run("plan site.yaml", &site.path("home"), &site.path("state"));
    assert!(planned.status.success(), "{}", told(&planned));
    assert_eq!(state.read_dir().unwrap().count(), 0);
}

#[test]
fn what_cannot_be_written_is_no_bug() {
    let site = Site::new();
    fs::write(site.path("file"), "").unwrap();
    // Not even root makes a directory in a file.
    let applied = site.run("apply site.yaml --yes", &site.path("file"), Path::new(""));
    assert_eq!(applied.status.code(), Some(3), "{}", told(&applied));
    assert!(told(&applied).contains("cannot keep runs in"), "{}", told(&applied));
    assert!(!site.path("made").exists());
    let state = site.path("state");
    let planned = site.run("plan site.yaml --html file/x.html", &site.path("home"), &state);
    assert_eq!(planned.status.code(), Some(3), "{}", told(&planned));
    assert!(told(&planned).contains("cannot write file/x.html"), "{}", told(&planned));
    let planned = site.run(
        "plan site.yaml --junit file/x.xml --html file/x.html --json x.json",
        &site.path("home"),
        &state,
    );
    assert_eq!(planned.status.code(), Some(3), "{}", told(&planned));
    assert!(
        told(&planned).contains("cannot write file/x.xml; cannot write file/x.html"),
        "{}",
        told(&planned)
    );
    assert!(site.path("x.json").exists());
    // A link that somebody put where a lock stands leads nowhere.
    let dear = site.path("dear");
    fs::write(&dear, "dear").unwrap();
    fs::create_dir_all(state.join("provision/c/locks")).unwrap();
    symlink(&dear, state.join("provision/c/locks/gate")).unwrap();
    let applied = site.run("apply site.yaml --yes", &site.path("home"), &state);
    assert_eq!(applied.status.code(), Some(3), "{}", told(&applied));
    assert_eq!(fs::read(&dear).unwrap(), b"dear");
}

#[test]
fn a_damaged_plan_is_no_bug() {
    let site = Site::new();
    let (home, state) = (site.path("home"), site.path("state"));
    assert!(site.run("plan site.yaml --out whole.json", &home, &state).status.success());
    let whole = fs::read(site.path("whole.json")).unwrap();
    fs::write(site.path("cut.json"), &whole[..whole.len() / 2]).unwrap();
    fs::write(site.path("other.json"), "漢字: [1").unwrap();
    for plan in ["cut.json", "other.json", "/dev/zero", "missing.json", "."] {
        let applied = site.run(&format!("apply site.yaml --yes --plan {plan}"), &home, &state);
        assert_eq!(applied.status.code(), Some(3), "{plan}: {}", told(&applied));
        assert!(told(&applied).contains("is not a plan of this inventory: it"), "{}", told(&applied));
        assert!(!site.path("made").exists());
    }
}

/// A limit on the size of files stands for a full disk: either ends the journal in the middle.
#[test]
fn an_apply_whose_journal_finds_no_room_stops_and_says_so() {
    let _alone = this_host::alone();
    let site = Site::new();
    let (home, state) = (site.path("home"), site.path("state"));
    let task = |number: u32| {
        let script = "seq 1 3000";
        format!(
            "- name: t{number}\n  command: {{ script: \"{script}; touch {}\", creates: {} }}\n",
            site.path(&format!("made{number}")).display(),
            site.path(&format!("made{number}")).display()
        )
    };
    let tasks: String = (0..20).map(task).collect();
    fs::write(site.path("p.yaml"), format!("name: P\ntasks:\n{tasks}")).unwrap();
    let limited = |arguments: &str| {
        let text = format!("trap '' XFSZ; ulimit -f 128; exec \"$0\" {arguments}");
        Command::new("sh")
            .args(["-c", &text, env!("CARGO_BIN_EXE_provision")])
            .env("HOME", &home)
            .env("XDG_STATE_HOME", &state)
            .current_dir(site.0.path())
            .output()
            .unwrap()
    };
    let made = || (0..20).filter(|number| site.path(&format!("made{number}")).exists()).count();
    // The report goes to a pipe, which has room.
    let cut = limited("apply site.yaml --yes --json -");
    let text = told(&cut);
    assert_eq!(cut.status.code(), Some(3), "{text}");
    assert!(text.contains("events.jsonl cannot be written any more: File too large"), "{text}");
    assert!(text.contains("Stopping") && text.contains("not finished"), "{text}");
    assert!((1..20).contains(&made()), "{} tasks were carried out", made());
    // What was done before and after the journal broke off.
    let report: Json = serde_json::from_slice(&cut.stdout).unwrap();
    let summary = &report["summary"];
    let counted = summary["tasks"]["changed"].as_u64().unwrap() + summary["tasks"]["ran"].as_u64().unwrap();
    assert_eq!((usize::try_from(counted).unwrap(), &report["exit_code"]), (made(), &3.into()), "{summary}");
    let whole = site.run("apply site.yaml --yes", &home, &state);
    assert!(whole.status.success(), "{}", told(&whole));
    assert_eq!(made(), 20);
}

#[test]
fn hosts_that_are_offline_are_told() {
    let site = Site::new();
    let (home, state) = (site.path("home"), site.path("state"));
    let hosts = "cluster: c\ntransport: local\nhosts: { a: , b: { offline: RMA 4711 } }\n";
    fs::write(site.path("site.yaml"), hosts).unwrap();
    let said = site.run("exec site.yaml -- echo hello", &home, &state);
    assert_eq!(
        String::from_utf8_lossy(&said.stdout),
        "--- a ---\n  hello\n--- b  (offline) ---\n  RMA 4711\n"
    );
    let said = site.run("exec site.yaml --json - -- true", &home, &state);
    let report: Json = serde_json::from_slice(&said.stdout).unwrap();
    assert_eq!(report["hosts"]["b"]["reason"], "RMA 4711", "{report}");
    // Nobody would be asked, and all would be well.
    for command in ["verify site.yaml", "plan site.yaml", "apply site.yaml --yes", "facts site.yaml"] {
        let said = site.run(&format!("{command} --hosts b"), &home, &state);
        assert_eq!(said.status.code(), Some(2), "{command}: {}", told(&said));
        assert!(
            told(&said).contains("b is marked offline (RMA 4711), and no other host is selected"),
            "{}",
            told(&said)
        );
    }
    // A task of this machine is work for a plan, and nothing for exec.
    let play = "name: p\ntasks:\n  - name: here\n    render: { src: ./x.tera, path: ./x.txt }\n";
    fs::write(site.path("p.yaml"), play).unwrap();
    fs::write(site.path("x.tera"), "x\n").unwrap();
    fs::write(site.path("site.yaml"), format!("{hosts}playbooks: [./p.yaml]\n")).unwrap();
    for command in ["exec site.yaml --hosts b -- true", "facts site.yaml --hosts b"] {
        let said = site.run(command, &home, &state);
        assert_eq!(said.status.code(), Some(2), "{command}: {}", told(&said));
    }
    // A plan takes no lock of this machine, which another test may hold.
    assert!(site.run("plan site.yaml --hosts b", &home, &state).status.success());
}

/// A core of the program would hold every secret of its run.
#[test]
fn the_program_leaves_no_core() {
    let site = Site::new();
    let sh = |script: &str| {
        let raised = "ulimit -S -c unlimited 2>/dev/null || ulimit -S -c \"$(ulimit -H -c)\"";
        let mut command = Command::new("sh");
        command
            .args(["-c", &format!("{raised}; {script}"), env!("CARGO_BIN_EXE_provision")])
            .env("XDG_STATE_HOME", site.path("state"))
            .env_remove("XDG_RUNTIME_DIR")
            .current_dir(site.0.path());
        command
    };
    if !sh("kill -ABRT $$").status().unwrap().core_dumped() {
        println!("skipped: no program of this machine leaves a core");
        return;
    }
    // It waits for a secret: nothing has been done to the host yet.
    fs::write(
        site.path("site.yaml"),
        "cluster: c\ntransport: local\nplaybooks: [./p.yaml]\nhosts: { a: }\nsecrets: { s: { command: [sh, -c, \"touch began; sleep 20\"] } }\n",
    )
    .unwrap();
    let task = "command: { script: \"true\", env: { S: \"{{ secrets.s }}\" } }";
    fs::write(site.path("p.yaml"), format!("name: P\ntasks:\n- name: t\n  {task}\n")).unwrap();
    for raise in [false, true] {
        drop(fs::remove_file(site.path("began")));
        let mut child = sh("exec \"$0\" apply site.yaml --yes").spawn().unwrap();
        while !site.path("began").exists() {
            assert!(child.try_wait().unwrap().is_none(), "it ended");
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
        let pid = child.id().to_string();
        let limits = fs::read_to_string(format!("/proc/{pid}/limits")).unwrap();
        let limit = limits.lines().find(|line| line.starts_with("Max core file size")).unwrap().to_owned();
        // Where cores go to a program, one is made whatever the limit says.
        if raise {
            let raise = ["--core=unlimited:unlimited", "--pid", &pid];
            assert!(Command::new("prlimit").args(raise).status().unwrap().success());
        }
        assert!(Command::new("kill").args(["-ABRT", &pid]).status().unwrap().success());
        let status = child.wait().unwrap();
        assert_eq!((status.signal(), status.core_dumped()), (Some(6), false), "raised: {raise}");
        assert_eq!(limit.split_whitespace().nth(4), Some("0"), "{limit}");
    }
}

/// `why --json LOG` names a file that is to be read.
#[test]
fn a_result_replaces_a_result_and_no_other_file() {
    let site = Site::new();
    let run = |arguments: &str| site.run(arguments, &site.path("home"), &site.path("state"));
    fs::write(site.path("log"), "[   12.3] NVRM: Xid (PCI:0000:1b:00): 79, GPU has fallen off the bus.\n")
        .unwrap();
    for arguments in [
        "why --json log",
        "plan site.yaml --json log",
        "plan site.yaml --junit log",
        "plan site.yaml --html log",
    ] {
        let before = fs::read(site.path("log")).unwrap();
        let ran = run(arguments);
        assert!(matches!(ran.status.code(), Some(2 | 3)), "{arguments}: {}", told(&ran));
        assert!(
            told(&ran).contains("it is there and holds something else; name a new file"),
            "{arguments}: {}",
            told(&ran)
        );
        assert_eq!(fs::read(site.path("log")).unwrap(), before, "{arguments}");
    }
    for arguments in ["why log --json result", "plan site.yaml --json result", "why log --json result"] {
        let ran = run(arguments);
        assert!(ran.status.success() || ran.status.code() == Some(6), "{arguments}: {}", told(&ran));
        assert!(fs::read(site.path("result")).unwrap().starts_with(b"{"), "{arguments}");
    }
}

/// Who makes a file first says who reads it, and a link says where it goes.
#[test]
fn a_result_is_written_to_nothing_of_another_user() {
    let site = Site::new();
    if site.path("site.yaml").metadata().unwrap().uid() != 0 {
        println!("skipped: only root makes files of others");
        return;
    }
    let (home, state, dear) = (site.path("home"), site.path("state"), site.path("dear"));
    let give = |path: &Path| std::os::unix::fs::lchown(path, Some(12345), None).unwrap();
    fs::write(&dear, "dear").unwrap();
    fs::write(site.path("theirs"), "").unwrap();
    fs::set_permissions(site.path("theirs"), Permissions::from_mode(0o666)).unwrap();
    symlink(&dear, site.path("link")).unwrap();
    fs::create_dir(site.path("below")).unwrap();
    symlink(site.path("below"), site.path("way")).unwrap();
    for name in ["theirs", "link", "way"] {
        give(&site.path(name));
    }
    // A second name for a file of ours.
    fs::hard_link(&dear, site.path("second")).unwrap();
    let commands = [
        "plan site.yaml --json",
        "plan site.yaml --junit",
        "plan site.yaml --html",
        "plan site.yaml --out",
        "verify site.yaml --json",
        "facts site.yaml --only os --json",
        "exec site.yaml --json",
        "import hosts.ini --output",
    ];
    fs::write(site.path("hosts.ini"), "a\n").unwrap();
    for command in commands {
        for place in ["theirs", "link", "way/x", "second"] {
            let end = if command.starts_with("exec") { "-- true" } else { "" };
            let command = command.strip_prefix("import").map_or(command.to_owned(), |rest| {
                format!("inventory import{rest}").replace("--output", "--force --output")
            });
            let said = site.run(&format!("{command} {place} {end}"), &home, &state);
            let told = told(&said);
            assert!(matches!(said.status.code(), Some(2 | 3)), "{command} {place}: {told}");
            assert!(
                told.contains("another user") || told.contains("hard links"),
                "{command} {place}: {told}"
            );
        }
    }
    // What replaces the name as a whole leaves the file of others alone, but follows no link of theirs either.
    for command in ["plan site.yaml --prometheus", "bundle site.yaml --output"] {
        let said = site.run(&format!("{command} way/x"), &home, &state);
        assert!(told(&said).contains("link of another user"), "{command}: {}", told(&said));
    }
    assert_eq!(
        (fs::read(&dear).unwrap(), fs::read(site.path("theirs")).unwrap()),
        (b"dear".to_vec(), vec![])
    );
    assert_eq!(site.path("below").read_dir().unwrap().count(), 0);
}

/// A timer sets no `HOME`. What anybody can make first in /var/tmp is no place for locks and journals.
#[test]
fn without_a_home_it_is_the_one_of_the_account() {
    let said = Command::new(env!("CARGO_BIN_EXE_provision")).arg("self-check").env_clear().output().unwrap();
    let rows = String::from_utf8_lossy(&said.stdout).into_owned();
    let user = fs::metadata("/proc/self").unwrap().uid().to_string();
    let accounts = fs::read_to_string("/etc/passwd").unwrap();
    let mut accounts = accounts.lines().map(|line| line.split(':').collect::<Vec<_>>());
    let home = accounts.find(|fields| fields.get(2) == Some(&&*user)).map(|fields| fields[5].to_owned());
    let Some(home) = home else { return println!("skipped: no account") };
    assert!(rows.contains(&format!("{home}/.local/state/provision")), "{rows}");
}
