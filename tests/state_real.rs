//! The state directory against the real shells of this machine: the lock, the spool, notifications.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test")]
#![allow(clippy::disallowed_methods, reason = "tests start shells and programs")]

mod support;

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};

use provision::engine::state::{self, HostState, SpoolReport, SpoolRequest, SpoolState};
use provision::transport::Script;
use support::{SHELLS, render};

/// A host shell whose state directory is in a directory of the test, root or not.
fn shell(shell: &[&str], home: &Path) -> Command {
    let mut command = Command::new(shell[0]);
    command.args(&shell[1..]).env("XDG_CACHE_HOME", home).stdin(Stdio::piped()).stdout(Stdio::piped());
    command
}

fn functions(home: &Path) -> String {
    state::FUNCTIONS.replace("/run/provision", &home.join("provision").display().to_string())
}

/// What a script prints as a frame of a run, of one that takes the lock first, or of none.
fn frame(words: &[&str], home: &Path, run: Option<&str>, script: &Script) -> String {
    let lock = run.map_or_else(String::new, |run| format!("provision_lock {run} me@here/1"));
    let text = format!("main() {{\n{}\n{lock}\n{}\n}}; main; exit $?\n", functions(home), render(script));
    let mut child = shell(words, home).spawn().unwrap();
    child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap()
}

/// A host shell that keeps the lock until its input ends; and what it said of it.
fn holder(words: &[&str], home: &Path, run: &str) -> (Child, ChildStdin, String) {
    let mut child = shell(words, home).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    let script = render(&state::report_lock());
    writeln!(input, "{}\nprovision_lock {run} me@here/1\n{script}", functions(home)).unwrap();
    let mut said = String::new();
    BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut said).unwrap();
    (child, input, said.trim().to_owned())
}

/// What a host is called of which the test has only a directory: its machine id, boot id and name are in
/// files, and nobody is root there.
struct Host<'a> {
    name: &'a str,
    machine: &'a str,
}

impl Host<'_> {
    /// The text of a frame there.
    fn frame(&self, home: &Path, run: &str, script: &Script) -> String {
        let at = home.join(format!("host-{}", self.name));
        fs::create_dir_all(&at).unwrap();
        let mut functions = state::FUNCTIONS.replace("[ -w /run ]", "false");
        for (file, text) in [
            ("/etc/machine-id", self.machine.to_owned()),
            ("/proc/sys/kernel/random/boot_id", format!("boot-of-{}", self.name)),
            ("/proc/sys/kernel/hostname", self.name.to_owned()),
        ] {
            let put = at.join(Path::new(file).file_name().unwrap());
            fs::write(&put, text + "\n").unwrap();
            functions = functions.replace(file, &put.display().to_string());
        }
        let lock = if run.is_empty() { String::new() } else { format!("provision_lock {run} me@here/1") };
        format!("main() {{\n{functions}\n{lock}\n{}\n}}; main", render(script))
    }

    fn run(&self, words: &[&str], home: &Path, run: &str, script: &Script) -> String {
        let mut child = shell(words, home).spawn().unwrap();
        child.stdin.take().unwrap().write_all(self.frame(home, run, script).as_bytes()).unwrap();
        String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap()
    }

    fn look(&self, words: &[&str], home: &Path) -> HostState {
        HostState::parse(&self.run(words, home, "", &Script::new(include_str!("../src/shell/state.sh"))))
            .unwrap()
    }
}

#[test]
fn hosts_with_one_home_do_not_know_of_each_other() {
    let copies = [Host { name: "a", machine: "0011" }, Host { name: "b", machine: "0011" }];
    for words in SHELLS {
        let home = tempfile::tempdir().unwrap();
        let home = home.path();
        let [one, two] = &copies;
        assert!(one.run(words, home, "run1", &spool("echo one")).starts_with("ended 0\none\n"), "{words:?}");
        // A run holds one host all the time.
        let mut child = shell(words, home).spawn().unwrap();
        let mut input = child.stdin.take().unwrap();
        writeln!(input, "{}", one.frame(home, "run1", &state::report_lock())).unwrap();
        let mut said = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut said).unwrap();
        assert_eq!(said, "held\n", "{words:?}");
        assert!(one.run(words, home, "run2", &state::report_lock()).starts_with("busy run1 "), "{words:?}");
        let ran = two.run(words, home, "run2", &spool("echo two"));
        assert!(ran.starts_with("ended 0\ntwo\n"), "{words:?} {ran}");
        drop(input);
        child.wait().unwrap();
        for host in &copies {
            let seen = host.look(words, home);
            assert_eq!((seen.spool.len(), seen.notified.len()), (1, 1), "{words:?} {seen:?}");
        }
        two.run(words, home, "", &state::tidy(&[], &[KEY.to_owned()]));
        assert_eq!([one, two].map(|host| host.look(words, home).spool.len()), [1, 0], "{words:?}");
    }
}

#[test]
fn what_a_host_left_where_all_hosts_of_a_home_had_one_directory_is_found() {
    let [one, two] = [Host { name: "a", machine: "0011" }, Host { name: "b", machine: "0022" }];
    for words in SHELLS {
        let home = tempfile::tempdir().unwrap();
        let home = home.path();
        let before = home.join("provision");
        fs::create_dir_all(before.join("notify")).unwrap();
        fs::write(before.join("identity"), "0011 boot-of-a none\n").unwrap();
        fs::write(before.join("version"), "1\n").unwrap();
        fs::write(before.join("notify/k"), "base/reload sshd\nt\n").unwrap();
        // Where this machine tells its product, it is in the identity.
        if let Ok(product) = fs::read_to_string("/sys/class/dmi/id/product_uuid") {
            fs::write(before.join("identity"), format!("0011 boot-of-a {}\n", product.trim())).unwrap();
        }
        assert!(two.run(words, home, "run1", &spool("echo two")).starts_with("ended 0\n"), "{words:?}");
        assert_eq!(one.look(words, home).notified.len(), 1, "{words:?}");
        assert!(one.run(words, home, "run1", &spool("echo one")).starts_with("ended 0\n"), "{words:?}");
        let seen = one.look(words, home);
        assert_eq!((seen.spool.len(), seen.notified.len()), (1, 2), "{words:?} {seen:?}");
        assert_eq!(two.look(words, home).notified.len(), 1, "{words:?}");
    }
}

#[test]
fn what_keeps_the_state_from_being_written_is_said() {
    for words in SHELLS {
        let home = tempfile::tempdir().unwrap();
        let home = home.path();
        assert!(frame(words, home, Some("run1"), &state::report_lock()).starts_with("held\n"), "{words:?}");
        let full = home.join("provision/version");
        fs::remove_file(&full).unwrap();
        std::os::unix::fs::symlink("/dev/full", &full).unwrap();
        let said = frame(words, home, Some("run1"), &state::report_lock());
        let path = home.join("provision").display().to_string();
        let reason = said.lines().next().unwrap().strip_prefix(&format!("unwritable {path}: "));
        let reason = reason.unwrap_or_else(|| panic!("{words:?} {said}"));
        assert!(reason.contains("No space left on device"), "{words:?} {said}");
        fs::remove_file(&full).unwrap();
        // No room for the pipe is not what keeps it from being made here.
        let bin = home.join("bin");
        fs::create_dir(&bin).unwrap();
        fs::write(
            bin.join("mkfifo"),
            "#!/bin/sh\necho \"mkfifo: $1: Operation not supported\" >&2\nexit 1\n",
        )
        .unwrap();
        fs::write(bin.join("flock"), "#!/bin/sh\necho 'flock: 9: No locks available' >&2\nexit 71\n")
            .unwrap();
        for tool in ["mkfifo", "flock"] {
            let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
            fs::set_permissions(bin.join(tool), mode).unwrap();
        }
        if words[0] != "busybox" {
            // It has both in itself.
            let text = format!(
                "main() {{\nPATH={}:$PATH\n{}\nprovision_lock run1 me@here/1\n{}\n{}\n}}; main\n",
                bin.display(),
                functions(home),
                render(&state::report_lock()),
                render(&spool("echo never"))
            );
            let mut child = shell(words, home).spawn().unwrap();
            child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
            let said = String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap();
            let lines: Vec<&str> = said.lines().collect();
            assert_eq!(lines[0], "none", "{words:?} {said}");
            assert!(lines[2].ends_with("/lock cannot be locked: flock: 9: No locks available"), "{said}");
            let spool = SpoolReport::parse(lines[3..].join("\n").as_bytes());
            let SpoolReport::Failed(reason) = spool else { panic!("{words:?} {said}") };
            assert!(reason.ends_with("/pipe: Operation not supported"), "{words:?} {reason}");
        }
    }
}

#[test]
fn a_login_without_a_home_works() {
    for words in SHELLS {
        for home in [None, Some("/nonexistent")] {
            let text = format!(
                "unset XDG_CACHE_HOME; {}\nprovision_dir\nprintf '%s\\n' \"$d\"\n",
                state::FUNCTIONS.replace("[ -w /run ]", "false")
            );
            let mut command = shell(words, Path::new("/"));
            command.env_remove("HOME");
            if let Some(home) = home {
                command.env("HOME", home);
            }
            let mut child = command.spawn().unwrap();
            child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
            let said = String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap();
            assert!(said.starts_with("/var/tmp/provision-"), "{words:?} {home:?} {said}");
        }
    }
}

#[test]
fn a_script_of_300_kib_runs() {
    let text = format!(
        "printf 'first '\n{}printf '%s last' \"$#\"\ncat\nexit 3\n",
        ": comment, it's ü\n".repeat(18_000)
    );
    assert!(text.len() > 300 << 10);
    let command = provision::facts::ask::Command::Script(text);
    let query = provision::facts::CommandQuery { command, env: Vec::new(), chdir: None, user: None };
    for words in SHELLS {
        let home = tempfile::tempdir().unwrap();
        // Asked.
        assert_eq!(frame(words, home.path(), None, &query.script()), "first 0 last", "{words:?}");
        // Done.
        let spool = state::spool(SpoolRequest {
            key: KEY,
            name: "base/edit",
            run: "run1",
            detach: false,
            user: None,
            cluster: "t",
            script: query.script(),
            notify: &[],
        });
        assert_eq!(frame(words, home.path(), Some("run1"), &spool), "ended 3\nfirst 0 last", "{words:?}");
    }
}

const KEY: &str = "0123456789abcdef";

fn spool(text: &'static str) -> Script {
    let notify = ["base/reload sshd".to_owned()];
    state::spool(SpoolRequest {
        key: KEY,
        name: "base/edit",
        run: "run1",
        detach: false,
        user: None,
        cluster: "t",
        script: Script::new(text),
        notify: &notify,
    })
}

fn look(words: &[&str], home: &Path) -> HostState {
    HostState::parse(&frame(words, home, None, &Script::new(include_str!("../src/shell/state.sh")))).unwrap()
}

#[test]
fn a_change_is_in_the_spool_before_it_runs_and_until_its_end_was_seen() {
    for words in SHELLS {
        let home = tempfile::tempdir().unwrap();
        let home = home.path();
        let made = home.join("made");
        let entry = home.join("provision/spool").join(KEY);
        // It sees its own entry.
        let text: &'static str = Box::leak(
            format!(
                "cat {0}/name {0}/run; echo once >>{1}; echo out; exit 7",
                entry.display(),
                made.display()
            )
            .into_boxed_str(),
        );
        // Without the lock nothing runs and nothing is written.
        let refused = frame(words, home, None, &spool(text));
        assert!(
            matches!(SpoolReport::parse(refused.as_bytes()), SpoolReport::Refused(_)),
            "{words:?} {refused}"
        );
        assert!(!made.exists() && !entry.exists(), "{words:?}");
        let ran = frame(words, home, Some("run1"), &spool(text));
        let ended = SpoolReport::Ended(7, "base/edit\nrun1\nout\n".to_owned());
        assert_eq!(SpoolReport::parse(ran.as_bytes()), ended, "{words:?}");
        // Its end, its output and whom it notifies stay for whoever comes next.
        let seen = look(words, home);
        assert_eq!(seen.version, Some(state::VERSION), "{words:?}");
        let [left] = &seen.spool[..] else { panic!("{words:?} {seen:?}") };
        assert_eq!((left.key.as_str(), left.state), (KEY, SpoolState::Ended(7)));
        assert_eq!((left.run.as_str(), left.name.as_str()), ("run1", "base/edit"));
        let notified: Vec<_> = seen.notified.into_iter().collect();
        let key = state::notify_key("t", "base/reload sshd");
        assert_eq!(notified.len(), 1, "{words:?}");
        assert_eq!((notified[0].handler.as_str(), notified[0].cluster.as_str()), ("base/reload sshd", "t"));
        assert_eq!((notified[0].key.as_str(), notified[0].old), (key.as_str(), false));
        let followed = frame(words, home, None, &state::follow(KEY));
        assert_eq!(SpoolReport::parse(followed.as_bytes()), ended, "{words:?}");
        assert_eq!(fs::read_to_string(&made).unwrap(), "once\n", "{words:?}");
        // Each is forgotten by itself.
        frame(words, home, None, &state::tidy(&[], &[KEY.to_owned()]));
        let seen = look(words, home);
        assert_eq!((seen.spool.len(), seen.notified.len()), (0, 1), "{words:?}");
        frame(words, home, None, &state::tidy(&[key], &[]));
        assert!(look(words, home).notified.is_empty(), "{words:?}");
    }
}

#[test]
fn a_change_that_runs_already_is_followed() {
    for words in SHELLS {
        let home = tempfile::tempdir().unwrap();
        let home = home.path();
        let (made, go) = (home.join("made"), home.join("go"));
        let text: &'static str = Box::leak(
            format!("echo once >>{}; until [ -e {} ]; do sleep 0.1; done", made.display(), go.display())
                .into_boxed_str(),
        );
        let report = std::thread::scope(|scope| {
            let first = scope.spawn(|| frame(words, home, Some("run1"), &spool(text)));
            while !made.exists() {
                std::thread::sleep(std::time::Duration::from_millis(20));
            }
            assert_eq!(look(words, home).spool[0].state, SpoolState::Running, "{words:?}");
            // The same run comes with a second connection.
            let second = scope.spawn(|| frame(words, home, Some("run1"), &spool(text)));
            std::thread::sleep(std::time::Duration::from_millis(300));
            fs::write(&go, "").unwrap();
            [first.join().unwrap(), second.join().unwrap()]
        });
        assert_eq!(report, ["ended 0\n", "ended 0\n"], "{words:?}");
        assert_eq!(fs::read_to_string(&made).unwrap(), "once\n", "{words:?}");
    }
}

/// Processes that have this word among their arguments, with these.
fn running(word: &str) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc").unwrap().flatten() {
        let words = fs::read(entry.path().join("cmdline")).unwrap_or_default();
        let words = String::from_utf8_lossy(&words).replace('\0', " ");
        if words.split_whitespace().any(|it| it == word) {
            found.push(format!("{} {words}", entry.file_name().display()));
        }
    }
    found
}

/// Processes that hold a file below a directory, or one that was there, other than one with this word.
fn holding(directory: &Path, but: &str) -> Vec<String> {
    let directory = directory.display().to_string();
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc").unwrap().flatten() {
        let words = fs::read(entry.path().join("cmdline")).unwrap_or_default();
        let words = String::from_utf8_lossy(&words).replace('\0', " ");
        let mut files = fs::read_dir(entry.path().join("fd")).into_iter().flatten().flatten();
        let held = |file: fs::DirEntry| {
            fs::read_link(file.path()).is_ok_and(|path| path.display().to_string().starts_with(&directory))
        };
        if files.any(held) && !words.split_whitespace().any(|it| it == but) {
            found.push(words);
        }
    }
    found
}

/// What `seq 1 LAST` prints.
fn numbers(last: u32) -> String {
    (1..=last).map(|number| number.to_string() + "\n").collect()
}

/// Ends processes when a test is over, whichever way.
struct Ended(&'static str);

impl Drop for Ended {
    fn drop(&mut self) {
        for process in running(self.0) {
            let pid = process.split(' ').next().unwrap_or_default().to_owned();
            let _gone = Command::new("kill").args(["-9", &pid]).status();
        }
    }
}

#[test]
fn what_a_command_wrote_is_kept_whatever_it_leaves_behind() {
    // Each test has a number of seconds of its own, to find its processes by.
    let numbers = numbers(100_000);
    for (text, seconds, expected) in [
        ("echo a; sleep 7011 & echo b; seq 1 100000", "7011", format!("a\nb\n{numbers}")),
        ("sleep 7012 & printf 'no line feed'", "7012", "no line feed".to_owned()),
        ("sleep 7013 >/dev/null & sleep 7013 & echo out; exit 3", "7013", "out\n".to_owned()),
    ] {
        let _ended = Ended(seconds);
        for words in SHELLS {
            let home = tempfile::tempdir().unwrap();
            let ran = frame(words, home.path(), Some("run1"), &spool(text));
            let SpoolReport::Ended(status, output) = SpoolReport::parse(ran.as_bytes()) else {
                panic!("{words:?} {text}: {ran}")
            };
            assert_eq!(status, if text.ends_with("exit 3") { 3 } else { 0 }, "{words:?} {text}");
            let output = output.replace("\n[... output left out ...]\n", "");
            assert!(output == expected, "{words:?} {text}: {} bytes", output.len());
            assert_eq!(running(seconds).len(), text.matches("sleep").count(), "{words:?}");
            assert_eq!(holding(home.path(), seconds), Vec::<String>::new(), "{words:?} {text}");
            drop(Ended(seconds));
        }
    }
}

#[test]
fn the_begin_and_the_end_of_much_output_are_kept() {
    let _ended = Ended("7021");
    for (background, words) in SHELLS.iter().flat_map(|words| [("", words), ("sleep 7021 & ", words)]) {
        let home = tempfile::tempdir().unwrap();
        let text: &'static str = Box::leak(format!("{background}seq 1 1000000; echo end").into_boxed_str());
        let ran = frame(words, home.path(), Some("run1"), &spool(text));
        let SpoolReport::Ended(0, output) = SpoolReport::parse(ran.as_bytes()) else {
            panic!("{words:?}: {}", &ran[..100])
        };
        let all = numbers(1_000_000) + "end\n";
        let (first, last) = output
            .split_once("\n[... output left out ...]\n")
            .unwrap_or_else(|| panic!("{words:?} {background}: {} bytes", output.len()));
        assert_eq!((first.len(), last.len()), (524_288, 65_536), "{words:?}");
        assert!(all.starts_with(first) && all.ends_with(last), "{words:?}");
    }
}

#[test]
fn a_daemon_that_writes_later_lives_and_fills_nothing() {
    for words in SHELLS {
        let home = tempfile::tempdir().unwrap();
        let home = home.path();
        let (go, wrote) = (home.join("go"), home.join("wrote"));
        // It says how its writing went.
        let text: &'static str = Box::leak(
            format!(
                "(until [ -e {} ]; do sleep 0.1; done; for n in 1 2 3; do echo later || exit; done; echo good >{}) &\necho up",
                go.display(),
                wrote.display()
            )
            .into_boxed_str(),
        );
        let ran = frame(words, home, Some("run1"), &spool(text));
        assert_eq!(SpoolReport::parse(ran.as_bytes()), SpoolReport::Ended(0, "up\n".to_owned()), "{words:?}");
        fs::write(&go, "").unwrap();
        let mut tries = 0;
        while fs::read_to_string(&wrote).unwrap_or_default() != "good\n" {
            tries += 1;
            assert!(tries < 200, "{words:?}: it was ended by its first line");
            std::thread::sleep(std::time::Duration::from_millis(50));
        }
        let followed = frame(words, home, None, &state::follow(KEY));
        assert_eq!(SpoolReport::parse(followed.as_bytes()), SpoolReport::Ended(0, "up\n".to_owned()));
    }
}

#[test]
fn everything_that_a_task_started_is_ended() {
    for (number, words) in SHELLS.iter().enumerate() {
        let home = tempfile::tempdir().unwrap();
        let home = home.path();
        let up = home.join("up");
        let seconds: &'static str = Box::leak(format!("704{number}").into_boxed_str());
        let _ended = Ended(seconds);
        // A session of its own, a parent that is gone, a process that ignores the polite signal.
        let text: &'static str = Box::leak(
            format!(
                "setsid sleep {seconds} >/dev/null 2>&1 &\n(setsid sh -c 'sleep {seconds} & :' &) >/dev/null 2>&1\n\
                 (trap '' TERM; sleep {seconds}; sleep {seconds}) &\n\
                 sleep 0.5; : >{}; sleep {seconds}",
                up.display()
            )
            .into_boxed_str(),
        );
        std::thread::scope(|scope| {
            let ran = scope.spawn(|| frame(words, home, Some("run1"), &spool(text)));
            while !up.exists() {
                std::thread::sleep(std::time::Duration::from_millis(20));
            }
            assert_eq!(running(seconds).len(), 4, "{words:?}");
            let said = frame(words, home, None, &state::end_task(KEY));
            assert_eq!(running(seconds), Vec::<String>::new(), "{words:?} {said}");
            assert_eq!(said, "unit no\n", "{words:?}");
            assert!(ran.join().unwrap().starts_with("lost "), "{words:?}");
        });
    }
}

#[test]
fn one_run_has_the_lock() {
    for words in SHELLS {
        let home = tempfile::tempdir().unwrap();
        let home = home.path();
        let (mut child, input, said) = holder(words, home, "run1");
        assert_eq!(said, "held", "{words:?}");
        let said = |run: &str| frame(words, home, Some(run), &state::report_lock());
        let busy = said("run2");
        let owner = busy.lines().next().and_then(|line| line.strip_prefix("busy ")).unwrap_or_default();
        let owner = state::LockOwner::parse(owner).unwrap_or_else(|| panic!("{words:?} {busy}"));
        assert_eq!((owner.run.as_str(), owner.controller.as_str()), ("run1", "me@here/1"), "{words:?}");
        assert!(busy.trim_end().ends_with("/provision"), "where uploads go: {busy}");
        assert!(said("run1").starts_with("shared\n"), "{words:?}");
        // Its change is refused, too.
        let refused = frame(words, home, Some("run2"), &spool("echo never"));
        assert!(refused.starts_with("refused busy run1 me@here/1 "), "{words:?} {refused}");
        // Whoever is dead is ended by its number and its birth, and by no other.
        let other = state::LockOwner { start: "1".to_owned(), ..owner.clone() };
        frame(words, home, None, &state::take_over(&other));
        assert!(said("run2").starts_with("busy "), "{words:?}");
        frame(words, home, None, &state::take_over(&owner));
        assert!(said("run2").starts_with("held\n"), "{words:?}");
        drop(input);
        child.wait().unwrap();
        // Nowhere to write.
        let blocked = home.join("file");
        fs::write(&blocked, "").unwrap();
        let said = frame(words, &blocked, Some("run1"), &state::report_lock());
        assert!(said.starts_with("unwritable "), "{words:?} {said}");
    }
}
