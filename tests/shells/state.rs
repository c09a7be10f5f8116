//! The state directory against the real shells of this machine: the lock, the spool, notifications.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test")]
#![allow(clippy::disallowed_methods, reason = "tests start shells and programs")]

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::time::Duration;

use crate::support::{self, render, some_shells};
use provision::engine::state::{self, HostState, SpoolReport, SpoolRequest, SpoolState, Way};
use provision::facts::{self, CommandQuery};
use provision::resources::Undo;
use provision::shell;
use provision::transport::Script;
use sha2::Digest as _;

/// A host shell whose state directory is in a directory of the test, root or not.
fn shell(shell: &[&str], home: &Path) -> Command {
    let mut command = Command::new(shell[0]);
    command.args(&shell[1..]).env("XDG_CACHE_HOME", home).stdin(Stdio::piped()).stdout(Stdio::piped());
    command
}

fn functions(home: &Path) -> String {
    state::FUNCTIONS
        .replace("/run/provision", &home.join("provision").display().to_string())
        .replace("/var/lib/provision", &home.join("kept").display().to_string())
}

/// What a script prints as a frame of a run, of one that takes the lock first, or of none.
fn frame(words: &[&str], home: &Path, run: Option<&str>, script: &Script) -> String {
    let lock = run.map_or_else(String::new, |run| format!("provision_lock {run} me@here/1"));
    frame_behind(words, home, &lock, script)
}

/// The same behind this line.
fn frame_behind(words: &[&str], home: &Path, lock: &str, script: &Script) -> String {
    let child = sent(words, home, lock, script);
    String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap()
}

/// A host shell that was sent this frame.
fn sent(words: &[&str], home: &Path, lock: &str, script: &Script) -> Child {
    let text = format!("main() {{\n{}\n{lock}\n{}\n}}; main; exit $?\n", functions(home), render(script));
    let mut child = shell(words, home).spawn().unwrap();
    child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    child
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
        HostState::parse(&self.run(
            words,
            home,
            "",
            &Script::new(include_str!("../../src/facts/state/state.sh")),
        ))
        .unwrap()
    }
}

#[test]
fn hosts_with_one_home_do_not_know_of_each_other() {
    let copies = [Host { name: "a", machine: "0011" }, Host { name: "b", machine: "0011" }];
    for words in some_shells() {
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
        two.run(words, home, "run3", &state::tidy(&[], &[KEY.to_owned()]));
        assert_eq!([one, two].map(|host| host.look(words, home).spool.len()), [1, 0], "{words:?}");
    }
}

#[test]
fn what_a_host_left_where_all_hosts_of_a_home_had_one_directory_is_found() {
    let [one, two] = [Host { name: "a", machine: "0011" }, Host { name: "b", machine: "0022" }];
    for words in some_shells() {
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
    for words in some_shells() {
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
    for words in some_shells() {
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
    let command = facts::ask::Command::Script(text);
    let query = CommandQuery { command, env: Vec::new(), chdir: None, user: None, limit: None };
    for words in some_shells() {
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

/// Output of a frame that somebody watches. `told` gets what they are told: the end of what was printed, lines parted by `\r`.
fn watched(words: &[&str], home: &Path, script: &Script, mut told: impl FnMut(&str)) -> String {
    let lock = "provision_nonce=NONCE provision_watched=1; provision_lock run1 me@here/1";
    let mut child = sent(words, home, lock, script);
    let mut said = BufReader::new(child.stdout.take().unwrap());
    let (mut rest, mut line) = (String::new(), String::new());
    while said.read_line(&mut line).unwrap() > 0 {
        match line.strip_prefix("NONCE said ") {
            Some(end) => {
                // It stands on a line of its own.
                assert_eq!(rest.pop(), Some('\n'), "{words:?}: {rest}");
                told(end.trim_end_matches('\n'));
            }
            None => rest.push_str(&line),
        }
        line.clear();
    }
    child.wait().unwrap();
    rest
}

/// A task goes on when who watches was told the line that it printed last, also where the next one takes long; what is kept is
/// the same.
#[test]
fn who_watches_is_told_what_a_task_printed_last() {
    for words in some_shells() {
        let home = tempfile::tempdir().unwrap();
        let home = home.path();
        let go = format!(
            "go() {{ tries=0; while [ ! -e {}/go$1 ] && [ $tries -lt 300 ]; do tries=$((tries + 1)); sleep 0.1; done; }}",
            home.display()
        );
        let text = "echo first; go 1; printf '40%%\\r'; go 2; printf 'a\\nb\\0c'; go 3; seq 1 70000; go 4";
        let mut wanted = ["first", "40%", "b c", "70000"].iter().enumerate();
        let mut next = wanted.next();
        let mut told = Vec::new();
        let ran = watched(words, home, &spool(format!("{go}\n{text}").leak()), |end| {
            let end = end.trim_end_matches('\r').rsplit('\r').next().unwrap();
            if let Some((step, _)) = next.filter(|(_, text)| end == **text) {
                next = wanted.next();
                fs::write(home.join(format!("go{}", step + 1)), "").unwrap();
            }
            told.push(end.to_owned());
        });
        assert_eq!(next, None, "{words:?}: {told:?}");
        let before = told.len();
        told.dedup();
        assert_eq!(told.len(), before, "{words:?}: told twice: {told:?}");
        let SpoolReport::Ended(0, output) = SpoolReport::parse(ran.as_bytes()) else {
            panic!("{words:?}: {ran}")
        };
        assert!(output.starts_with("first\n40%\ra\nbc"), "{words:?}: {}", output.len());
        assert!(output.ends_with(&format!("c{}", numbers(70_000))), "{words:?}: {} bytes", output.len());
        // Nothing of it stays.
        let entry = home.join("provision/spool").join(KEY);
        for name in ["live", "lived", "watch", "flow"] {
            assert!(!entry.join(name).exists(), "{words:?}: {name}");
        }
    }
}

fn look(words: &[&str], home: &Path) -> HostState {
    HostState::parse(&frame(words, home, None, &Script::new(include_str!("../../src/facts/state/state.sh"))))
        .unwrap()
}

#[test]
fn a_change_is_in_the_spool_before_it_runs_and_until_its_end_was_seen() {
    for words in some_shells() {
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
        frame(words, home, Some("run1"), &state::tidy(&[], &[KEY.to_owned()]));
        let seen = look(words, home);
        assert_eq!((seen.spool.len(), seen.notified.len()), (0, 1), "{words:?}");
        frame(words, home, Some("run1"), &state::tidy(&[key], &[]));
        assert!(look(words, home).notified.is_empty(), "{words:?}");
    }
}

/// Other users read nothing of a change while it runs and after it, whatever umask the login has.
#[test]
fn the_spool_is_for_its_owner_alone() {
    for words in some_shells() {
        let home = tempfile::tempdir().unwrap();
        let home = home.path();
        let state = home.join("provision");
        // Behind a directory that others may not enter nothing is theirs to read.
        let open = format!("find {} -type d ! -perm /077 -prune -o ! -type l -print", state.display());
        let text: &'static str = Box::leak(format!("echo said; {open}").into_boxed_str());
        let careless = [&["sh", "-c", "umask 0; exec \"$@\"", "sh"][..], words].concat();
        let ran = frame(&careless, home, Some("run1"), &spool(text));
        assert_eq!(
            SpoolReport::parse(ran.as_bytes()),
            SpoolReport::Ended(0, "said\n".to_owned()),
            "{words:?}"
        );
        let left = Command::new("sh").args(["-c", &open]).output().unwrap();
        assert_eq!(String::from_utf8(left.stdout).unwrap(), "", "{words:?}");
        assert_eq!(look(words, home).spool.len(), 1, "{words:?}");
    }
}

/// The connection was cut before the runner of a change had begun, and the next one asks for the change again.
#[test]
fn a_runner_that_is_slow_to_start_runs_nothing_twice() {
    let path = std::env::var("PATH").unwrap();
    // The next one waits for the first and follows it, or asks again; or it gives it up before it begins, and the
    // first begins in what was made for the second.
    for begins in ["sleep 1", "sleep 3", "until test -e second; do sleep 0.1; done"] {
        let home = tempfile::tempdir().unwrap();
        let home = home.path();
        let (tools, made, slow) = (home.join("tools"), home.join("made"), home.join("first"));
        fs::create_dir(&tools).unwrap();
        let setsid = format!(
            "#!/bin/sh\nPATH={path}\ncd {0}\nif mkdir first 2>/dev/null; then {begins}; else touch second; sleep 1; fi\n\
             exec setsid \"$@\"\n",
            home.display()
        );
        fs::write(tools.join("setsid"), setsid).unwrap();
        fs::set_permissions(tools.join("setsid"), fs::Permissions::from_mode(0o755)).unwrap();
        let change = spool(leak(format!("echo once >>{}; sleep 2; echo done", made.display())));
        let lock = format!("PATH={}:$PATH\nprovision_lock run1 me@here/1", tools.display());
        let mut first = sent(&["sh"], home, &lock, &change);
        wait(|| slow.exists());
        first.kill().unwrap();
        first.wait().unwrap();
        let next = |script: &Script| frame_behind(&["sh"], home, &lock, script);
        if begins.starts_with("until") {
            assert_eq!(next(&state::follow(KEY)), "lost 0\n");
        }
        let asked = if begins == "sleep 1" { &state::follow(KEY) } else { &change };
        assert_eq!(next(asked), "ended 0\ndone\n", "{begins}");
        assert_eq!(fs::read_to_string(&made).unwrap(), "once\n", "{begins}");
    }
}

/// A shell that was killed while it ran a script with an interpreter of its own could not take its directory away.
#[test]
fn directories_of_scripts_that_were_killed_go() {
    for words in some_shells() {
        let home = tempfile::tempdir().unwrap();
        let home = home.path();
        let of = |pid: u32| format!("provision-script.{pid}.abcdef");
        let (dead, alive) = (of(4_000_000_000), of(std::process::id()));
        for name in [&dead, &alive] {
            fs::create_dir(home.join(name)).unwrap();
            fs::write(home.join(name).join("script"), "").unwrap();
        }
        frame_behind(
            words,
            home,
            &format!("TMPDIR={}\nprovision_lock run1 me@here/1", home.display()),
            &state::tidy(&[], &[KEY.to_owned()]),
        );
        assert_eq!((home.join(&dead).exists(), home.join(&alive).exists()), (false, true), "{words:?}");
    }
}

#[test]
fn a_boot_has_the_same_name_wherever_it_is_asked() {
    let id = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap();
    for words in some_shells() {
        let home = tempfile::tempdir().unwrap();
        let home = home.path();
        let seen = look(words, home).boot;
        let (boot, first) = seen.split_once(' ').unwrap();
        assert_eq!(boot, id.trim(), "{words:?}");
        assert!(first.parse::<u64>().is_ok(), "start of the first process: {words:?} {seen}");
        assert_eq!(frame(words, home, None, &state::which_boot()).trim(), seen, "{words:?}");
        let booted = frame(words, home, None, &state::booted());
        assert_eq!(booted.lines().next(), Some(seen.as_str()), "{words:?}");
    }
}

#[test]
fn a_change_that_runs_already_is_followed() {
    // The second waits until it is sure that the first still works, in each shell at the same time.
    std::thread::scope(|scope| {
        for words in some_shells() {
            scope.spawn(move || followed(words));
        }
    });
}

fn followed(words: &[&str]) {
    let home = tempfile::tempdir().unwrap();
    let home = home.path();
    let (made, go) = (home.join("made"), home.join("go"));
    let text: &'static str = Box::leak(
        format!("echo once >>{}; until [ -e {} ]; do sleep 0.1; done", made.display(), go.display())
            .into_boxed_str(),
    );
    let report = std::thread::scope(|scope| {
        let first = scope.spawn(|| frame(words, home, Some("run1"), &spool(text)));
        wait(|| made.exists());
        assert_eq!(look(words, home).spool[0].state, SpoolState::Running, "{words:?}");
        // The same run comes with a second connection, whose shell has the lock open, too.
        let before = holding(home, "").len();
        let second = scope.spawn(|| frame(words, home, Some("run1"), &spool(text)));
        wait(|| holding(home, "").len() > before);
        std::thread::sleep(Duration::from_millis(500));
        fs::write(&go, "").unwrap();
        [first.join().unwrap(), second.join().unwrap()]
    });
    assert_eq!(report, ["ended 0\n", "ended 0\n"], "{words:?}");
    assert_eq!(fs::read_to_string(&made).unwrap(), "once\n", "{words:?}");
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

/// A change is confirmed within the second in which its timer sleeps, and the next of that name is armed.
#[test]
fn a_timer_that_wakes_late_leaves_the_next_change_alone() {
    for words in some_shells() {
        let home = tempfile::tempdir().unwrap();
        let home = home.path();
        let undo = Undo { paths: vec![home.join("file").display().to_string()], ..Undo::new("network") };
        let keep = state::undo_keep(&undo, Some(Duration::from_mins(1)));
        for _ in 0..4 {
            assert_eq!(frame(words, home, Some("run1"), &keep), "armed\n", "{words:?}");
            let said = frame(words, home, Some("run1"), &state::undo_end("confirm", "network"));
            assert_eq!(said, "confirmed\n", "{words:?}");
        }
        assert_eq!(frame(words, home, Some("run1"), &keep), "armed\n", "{words:?}");
        let timer = home.join("provision/undo/network/timer").display().to_string();
        let timers = || running(&timer);
        wait(|| timers().len() <= 1);
        assert_eq!(timers().len(), 1, "{words:?}: those of earlier changes are gone: {:#?}", timers());
        let said = frame(words, home, Some("run1"), &state::undo_end("confirm", "network"));
        assert_eq!(said, "confirmed\n", "{words:?}");
    }
}

/// Waits for what takes a moment, at most twenty seconds; what follows says whether it came.
fn wait(mut is_so: impl FnMut() -> bool) {
    let until = std::time::Instant::now() + Duration::from_secs(20);
    while !is_so() && std::time::Instant::now() < until {
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// What `seq 1 LAST` prints.
fn numbers(last: u32) -> String {
    (1..=last).map(|number| number.to_string() + "\n").collect()
}

/// How many bytes of output the spool has in the directory of a host.
fn stored(home: &Path) -> u64 {
    let entry = home.join("provision/spool").join(KEY);
    ["out", "tail", "kept"]
        .iter()
        .filter_map(|name| fs::metadata(entry.join(name)).ok())
        .map(|file| file.len())
        .sum()
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
        for (words, is_watched) in some_shells().flat_map(|words| [(words, false), (words, true)]) {
            let home = tempfile::tempdir().unwrap();
            let ran = if is_watched {
                watched(words, home.path(), &spool(text), |_| ())
            } else {
                frame(words, home.path(), Some("run1"), &spool(text))
            };
            let SpoolReport::Ended(status, output) = SpoolReport::parse(ran.as_bytes()) else {
                panic!("{words:?} {text}: {ran}")
            };
            assert_eq!(status, if text.ends_with("exit 3") { 3 } else { 0 }, "{words:?} {text}");
            let output = output.replace("\n[... output left out ...]\n", "");
            assert!(output == expected, "{words:?} {text}: {} bytes", output.len());
            let expected_size = output.len() as u64;
            // A shell that was forked has not become it at once.
            let expected = text.matches("sleep").count();
            wait(|| running(seconds).len() == expected);
            assert_eq!(running(seconds).len(), expected, "{words:?}");
            assert_eq!(holding(home.path(), seconds), Vec::<String>::new(), "{words:?} {text}");
            assert_eq!(stored(home.path()), expected_size, "{words:?} {text}");
            drop(Ended(seconds));
        }
    }
}

#[test]
fn the_begin_and_the_end_of_much_output_are_kept() {
    let _ended = Ended("7021");
    for (background, words) in some_shells().flat_map(|words| [("", words), ("sleep 7021 & ", words)]) {
        let home = tempfile::tempdir().unwrap();
        let text: &'static str = Box::leak(format!("{background}seq 1 1000000; echo end").into_boxed_str());
        // With a background process as somebody watches, too.
        let ran = match background {
            "" => frame(words, home.path(), Some("run1"), &spool(text)),
            _ => watched(words, home.path(), &spool(text), |_| ()),
        };
        let SpoolReport::Ended(0, output) = SpoolReport::parse(ran.as_bytes()) else {
            panic!("{words:?}: {}", &ran[..100])
        };
        let all = numbers(1_000_000) + "end\n";
        let (first, last) = output
            .split_once("\n[... output left out ...]\n")
            .unwrap_or_else(|| panic!("{words:?} {background}: {} bytes", output.len()));
        assert_eq!((first.len(), last.len()), (524_288, 65_536), "{words:?}");
        assert!(all.starts_with(first) && all.ends_with(last), "{words:?}");
        assert_eq!(stored(home.path()), 524_288 + 65_536 + 1, "{words:?}");
    }
}

#[test]
fn a_daemon_that_writes_later_lives_and_fills_nothing() {
    for words in some_shells() {
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
            std::thread::sleep(Duration::from_millis(50));
        }
        let followed = frame(words, home, None, &state::follow(KEY));
        assert_eq!(SpoolReport::parse(followed.as_bytes()), SpoolReport::Ended(0, "up\n".to_owned()));
    }
}

#[test]
fn everything_that_a_task_started_is_ended() {
    for (number, words) in some_shells().enumerate() {
        let home = tempfile::tempdir().unwrap();
        let home = home.path();
        let up = home.join("up");
        // No other process has it, whatever an earlier run of this test has left.
        let seconds = 7_000_000 + u64::from(std::process::id()) * 10 + number as u64;
        let seconds: &'static str = Box::leak(seconds.to_string().into_boxed_str());
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
            // Ended before the scope waits for what it started, should something be wrong.
            let _ended = Ended(seconds);
            let ran = scope.spawn(|| frame(words, home, Some("run1"), &spool(text)));
            // The shell that starts one of them in the background has the word, too, for a moment.
            let mut started = Vec::new();
            wait(|| {
                started = running(seconds);
                up.exists() && started.len() == 4
            });
            assert_eq!(started.len(), 4, "{words:?} {started:#?}");
            let said = frame(words, home, None, &state::end_task(KEY));
            assert_eq!(running(seconds), Vec::<String>::new(), "{words:?} {said}");
            assert_eq!(said, "unit no\n", "{words:?}");
            assert!(ran.join().unwrap().starts_with("lost "), "{words:?}");
        });
    }
}

/// What the parts of one frame say that sends changes together: `(key, script)`, and who waits for them.
fn together(
    words: &[&str],
    home: &Path,
    changes: &[(&str, &'static str)],
    wait: &[&str],
) -> Vec<SpoolReport> {
    together_behind(words, home, LOCK, changes, wait)
}

/// The same behind this line.
fn together_behind(
    words: &[&str],
    home: &Path,
    lock: &str,
    changes: &[(&str, &'static str)],
    wait: &[&str],
) -> Vec<SpoolReport> {
    let notify = ["base/reload sshd".to_owned()];
    let row = state::Together {
        entries: changes.iter().map(|(key, _)| (*key, "base/edit", &notify[..])).collect(),
        scripts: changes.iter().map(|(_, text)| Script::new(*text)).collect(),
        run: "run1",
        cluster: "t",
        directories: Vec::new(),
        ways: Vec::new(),
    };
    row_behind(words, home, lock, row, wait)
}

/// The same of this row.
fn row_behind(
    words: &[&str],
    home: &Path,
    lock: &str,
    row: state::Together<'_>,
    wait: &[&str],
) -> Vec<SpoolReport> {
    let script = state::batch(row);
    let scripts = [script].into_iter().chain(wait.iter().map(|key| state::batch_next(key)));
    let parts: Vec<String> = scripts.map(|script| render(&script)).collect();
    let parts = parts.join("\nprintf '<end>'\n") + "\nprintf '<end>'\n";
    let functions = functions(home);
    let text = format!("main() {{\n{functions}\n{lock}\nprovision_pipe\n{parts}\n}}; main; exit $?\n");
    let mut child = shell(words, home).spawn().unwrap();
    child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    let said = String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap();
    let said: Vec<&str> = said.split("<end>").collect();
    assert_eq!(said[0], "", "{words:?}");
    said[1..=wait.len()].iter().map(|said| SpoolReport::parse(said.as_bytes())).collect()
}

/// Takes the lock for a run.
const LOCK: &str = "provision_lock run1 me@here/1";

const KEYS: [&str; 3] = ["0000000000000001", "0000000000000002", "0000000000000003"];

fn leak(text: String) -> &'static str {
    Box::leak(text.into_boxed_str())
}

#[test]
fn changes_that_are_sent_together_end_each_by_itself() {
    for words in some_shells() {
        let home = tempfile::tempdir().unwrap();
        let home = home.path();
        let made = home.join("made").display().to_string();
        // Each sees what the one before it did and nothing of its shell, and reads nothing of the others.
        let first = leak(format!("cat; pwd; umask; kept=1; echo one >>{made}; echo out; exit 0"));
        let second = leak(format!("cat {made}; echo \"[${{kept-}}$#]\"; echo two >>{made}"));
        let ended = |text: &str| SpoolReport::Ended(0, text.to_owned());
        let said = together(words, home, &[(KEYS[0], first), (KEYS[1], second)], &KEYS[..2]);
        assert_eq!(said, [ended("/\n0022\nout\n"), ended("one\n[0]\n")], "{words:?}");
        let seen = look(words, home);
        assert_eq!((seen.spool.len(), seen.notified.len()), (2, 1), "{words:?}");
        assert!(seen.spool.iter().all(|entry| entry.state == SpoolState::Ended(0)), "{words:?} {seen:?}");
        // They have one entry, and nothing else is left of them.
        let left: Vec<_> = fs::read_dir(home.join("provision/spool")).unwrap().collect();
        assert_eq!(left.len(), 1, "{words:?} {left:?}");
        // What is in the spool is not started again, and nothing that was to come with it.
        let again = leak(format!("echo again >>{made}"));
        let said = together(words, home, &[(KEYS[2], again), (KEYS[0], again)], &[KEYS[2]]);
        assert_eq!(said, [SpoolReport::Unstarted], "{words:?}");
        assert_eq!(fs::read_to_string(&made).unwrap(), "one\ntwo\n", "{words:?}");
    }
}

#[test]
fn a_row_has_few_files_and_each_change_its_own_output() {
    for words in some_shells() {
        let home = tempfile::tempdir().unwrap();
        let home = home.path();
        let keys: Vec<String> = (1..=40).map(|number| format!("{number:016}")).collect();
        let changes: Vec<(&str, &'static str)> = keys
            .iter()
            .enumerate()
            .map(|(number, key)| {
                (key.as_str(), if number % 20 == 3 { leak(format!("echo {number}")) } else { ":" })
            })
            .collect();
        let wait: Vec<&str> = keys.iter().map(String::as_str).collect();
        let said = together(words, home, &changes, &wait);
        let spool = home.join("provision/spool");
        let row = spool.join(state::row_key(&keys[0]));
        // Each notifies here, and has a file for that.
        let files =
            fs::read_dir(&row).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let files: BTreeSet<String> = files.filter(|name| !name.starts_with("notify.")).collect();
        let wanted = ["out.1", "out.25", "out.5", "pid", "status", "tasks"];
        assert_eq!(files.iter().map(String::as_str).collect::<Vec<_>>(), wanted, "{words:?}");
        // As it is told at once, and as it is found later.
        let later = |key: &String| {
            let said = frame(words, home, Some("run1"), &state::follow(key));
            SpoolReport::parse(said.as_bytes())
        };
        for (number, said) in said.into_iter().enumerate() {
            let text = if number % 20 == 3 { format!("{number}\n") } else { String::new() };
            assert_eq!(said, SpoolReport::Ended(0, text), "{words:?} {number}");
            if number < 6 {
                assert_eq!(later(&keys[number]), said, "{words:?} {number}");
            }
        }
        // They are forgotten one by one, or all at once by the name of the row.
        frame(words, home, Some("run1"), &state::tidy(&[], &keys[..2]));
        let left: Vec<String> = look(words, home).spool.into_iter().map(|entry| entry.key).collect();
        assert_eq!(left, keys[2..], "{words:?}");
        assert_eq!(later(&keys[3]), SpoolReport::Ended(0, "3\n".to_owned()), "{words:?}");
        frame(words, home, Some("run1"), &state::tidy(&[], &keys[2..]));
        assert!(look(words, home).spool.is_empty() && !row.exists(), "{words:?}");
        together(words, home, &changes, &wait);
        frame(words, home, Some("run1"), &state::tidy(&[], &[state::row_key(&keys[0])]));
        assert!(look(words, home).spool.is_empty() && !row.exists(), "{words:?}");
    }
}

/// What a row knows of directories is true for each of its changes, whatever those before it did.
#[test]
fn a_row_looks_again_where_a_way_may_have_changed() {
    if !is_root() {
        return;
    }
    let make = || {
        Script::new(shell!(
            "shell/reach.sh",
            "resources/shared/after.sh",
            "resources/files/directory/directory.sh"
        ))
    };
    let write = || {
        Script::new(shell!(
            "shell/base64.sh",
            "shell/reach.sh",
            "resources/shared/after.sh",
            "resources/shared/put.sh",
            "resources/shared/write.sh"
        ))
    };
    for words in some_shells() {
        let home = tempfile::tempdir().unwrap();
        let home = home.path();
        let ground = home.join("ground");
        let path = |name: &str| ground.join(name).display().to_string();
        let file = |name: &str| write().arg(path(name)).arg("0640").arg("root:root").arg("").arg("=text");
        let directory = |name: &str| make().arg(path(name)).arg("0755").arg("root:root");
        let run = |scripts: Vec<Script>, ways: Vec<Way>| {
            let keys: Vec<String> = (1..=scripts.len()).map(|number| format!("{number:016}")).collect();
            let ground = ground.join("x");
            let mut directories: Vec<String> =
                ground.ancestors().skip(1).map(|path| path.display().to_string()).collect();
            directories.reverse();
            let row = state::Together {
                entries: keys.iter().map(|key| (key.as_str(), "base/edit", &[][..])).collect(),
                scripts,
                run: "run1",
                cluster: "t",
                directories,
                ways,
            };
            let said =
                row_behind(words, home, LOCK, row, &keys.iter().map(String::as_str).collect::<Vec<_>>());
            frame(words, home, Some("run1"), &state::tidy(&[], &[state::row_key(&keys[0])]));
            said
        };
        fs::create_dir(&ground).unwrap();
        fs::create_dir(ground.join("theirs")).unwrap();
        std::os::unix::fs::chown(ground.join("theirs"), Some(65534), Some(65534)).unwrap();
        let done = SpoolReport::Ended(0, String::new());
        let refused =
            |said: &SpoolReport| matches!(said, SpoolReport::Ended(1, text) if text.contains("belongs to"));
        // Given away by a change of the row.
        let give = Script::new("chown 65534 \"$1\"").arg(path("d"));
        let said = run(
            vec![directory("d"), file("d/f"), give, file("d/g")],
            vec![Way::Made(path("d")), Way::Kept, Way::Unknown, Way::Kept],
        );
        assert_eq!(said[..3], [done.clone(), done.clone(), done.clone()], "{words:?}");
        assert!(refused(&said[3]) && !ground.join("d/g").exists(), "{words:?} {said:?}");
        let made = fs::metadata(ground.join("d/f")).unwrap();
        assert_eq!((made.permissions().mode() & 0o7777, made.uid(), made.gid()), (0o640, 0, 0), "{words:?}");
        assert_eq!(fs::read_to_string(ground.join("d/f")).unwrap(), "text", "{words:?}");
        // A link that comes from elsewhere while the row is under way.
        let lead = Script::new("rmdir \"$1\" && ln -s theirs \"$1\"").arg(path("e"));
        let said =
            run(vec![directory("e"), lead, file("e/f")], vec![Way::Made(path("e")), Way::Kept, Way::Kept]);
        assert_eq!(said[..2], [done.clone(), done.clone()], "{words:?}");
        assert!(refused(&said[2]) && !ground.join("theirs/f").exists(), "{words:?} {said:?}");
        // Of somebody else from the beginning, and one that everybody may write in.
        let said = run(vec![file("theirs/f")], vec![Way::Kept]);
        assert!(refused(&said[0]), "{words:?} {said:?}");
        // The group of a directory goes to what is made there, and is not what was wanted.
        let group = Script::new("mkdir \"$1\" && chgrp 65534 \"$1\" && chmod 2755 \"$1\"").arg(path("s"));
        let said = run(
            vec![group, file("s/f"), directory("s/d")],
            vec![Way::Made(path("s")), Way::Kept, Way::Made(path("s/d"))],
        );
        assert_eq!(said, [done.clone(), done.clone(), done.clone()], "{words:?}");
        for name in ["s/f", "s/d"] {
            assert_eq!(fs::metadata(ground.join(name)).unwrap().gid(), 0, "{words:?} {name}");
        }
    }
}

#[test]
fn what_a_row_did_not_begin_is_started_by_itself_and_what_runs_is_not() {
    for words in some_shells() {
        let home = tempfile::tempdir().unwrap();
        let home = home.path();
        let made = home.join("made");
        let third = leak(format!("echo third >>{}", made.display()));
        let changes = [(KEYS[0], "echo first"), (KEYS[1], "echo why; exit 3"), (KEYS[2], third)];
        together(words, home, &changes, &KEYS);
        let alone = |key: &'static str| {
            state::spool(SpoolRequest {
                key,
                name: "base/edit",
                run: "run1",
                detach: false,
                user: None,
                cluster: "t",
                script: Script::new(third),
                notify: &[],
            })
        };
        let said = frame(words, home, Some("run1"), &alone(KEYS[2]));
        assert!(said.starts_with("ended 0"), "{words:?} {said}");
        assert_eq!(fs::read_to_string(&made).unwrap(), "third\n", "{words:?}");
        // Each is there once, and the others are as they were.
        let seen = look(words, home).spool;
        let mut states: Vec<_> = seen.iter().map(|entry| (entry.key.as_str(), entry.state)).collect();
        states.sort_by_key(|(key, _)| *key);
        let ended = SpoolState::Ended;
        assert_eq!(states, [(KEYS[0], ended(0)), (KEYS[1], ended(3)), (KEYS[2], ended(0))], "{words:?}");
        // What a row that runs will do is followed.
        let go = home.join("go");
        let first = leak(format!("until [ -e {} ]; do sleep 0.1; done", go.display()));
        let keys = ["0000000000000004", "0000000000000005"];
        together(words, home, &[(keys[0], first), (keys[1], third)], &[]);
        wait(|| look(words, home).spool.iter().any(|entry| entry.state == SpoolState::Running));
        let lock = format!("{LOCK}; {{ sleep 0.5; : >{}; }} &", go.display());
        let said = frame_behind(words, home, &lock, &alone(keys[1]));
        assert!(said.starts_with("ended 0"), "{words:?} {said}");
        assert_eq!(fs::read_to_string(&made).unwrap(), "third\nthird\n", "{words:?}");
    }
}

#[test]
fn a_row_whose_runner_is_slow_is_taken_by_nobody_twice() {
    for words in some_shells() {
        let home = tempfile::tempdir().unwrap();
        let home = home.path();
        let made = home.join("made");
        let one = leak(format!("echo one >>{}", made.display()));
        let changes = [(KEYS[0], one), (KEYS[1], ":")];
        together(words, home, &changes, &KEYS[..2]);
        // As it is before its runner came: no pid, nothing begun.
        let row = home.join("provision/spool").join(state::row_key(KEYS[0]));
        fs::remove_file(row.join("pid")).unwrap();
        fs::write(row.join("status"), "- -   -   -\n- -   -   -\n").unwrap();
        let said = together(words, home, &[(KEYS[1], ":")], &KEYS[1..2]);
        assert_eq!(said, [SpoolReport::Ended(0, String::new())], "{words:?}");
        // The runner finds that it is not its own any more.
        assert_eq!(fs::read_to_string(row.join("pid")).unwrap(), "0 0\n", "{words:?}");
        // What was not made to its end is in nobody's way.
        fs::remove_dir_all(&row).unwrap();
        fs::create_dir(&row).unwrap();
        let said = together(words, home, &changes[..1], &KEYS[..1]);
        assert_eq!(said, [SpoolReport::Ended(0, String::new())], "{words:?}");
    }
}

/// A change that fills the file system of the state, or meets it full, has its end all the same.
#[test]
fn an_end_needs_no_room() {
    if !is_root() {
        return;
    }
    for words in some_shells() {
        let home = tempfile::tempdir().unwrap();
        let small = Small::at(home.path().join("small"), "512k");
        let fill = leak(format!("dd if=/dev/zero of={}/full bs=4k 2>/dev/null; exit 7", small.0.display()));
        let ran = frame(words, &small.0, Some("run1"), &spool(fill));
        assert_eq!(
            SpoolReport::parse(ran.as_bytes()),
            SpoolReport::Ended(7, String::new()),
            "{words:?} {ran}"
        );
        fs::remove_file(small.0.join("full")).unwrap();
        let said = together(words, &small.0, &[(KEYS[0], fill)], &KEYS[..1]);
        assert_eq!(said, [SpoolReport::Ended(7, String::new())], "{words:?}");
    }
}

#[test]
fn what_stands_behind_a_failed_change_is_not_started() {
    for words in some_shells() {
        let home = tempfile::tempdir().unwrap();
        let home = home.path();
        let made = home.join("made");
        let third = leak(format!("echo third >>{}", made.display()));
        let changes = [(KEYS[0], ":"), (KEYS[1], "echo why >&2; exit 3"), (KEYS[2], third)];
        let said = together(words, home, &changes, &KEYS);
        let failed = SpoolReport::Ended(3, "why\n".to_owned());
        assert_eq!(said, [SpoolReport::Ended(0, String::new()), failed, SpoolReport::Unstarted], "{words:?}");
        assert!(!made.exists(), "{words:?}");
        // It may be sent again.
        let said = together(words, home, &changes[2..], &KEYS[2..]);
        assert_eq!(said, [SpoolReport::Ended(0, String::new())], "{words:?}");
        assert_eq!(fs::read_to_string(&made).unwrap(), "third\n", "{words:?}");
    }
}

#[test]
fn changes_that_are_sent_together_outlive_their_connection() {
    for words in some_shells() {
        let home = tempfile::tempdir().unwrap();
        let home = home.path();
        let (made, go) = (home.join("made"), home.join("go"));
        let first = leak(format!(
            "until [ -e {} ]; do sleep 0.1; done; echo one >>{1}; echo lots",
            go.display(),
            made.display()
        ));
        let second = leak(format!("echo two >>{}", made.display()));
        // The frame ends before its changes do, and so does its shell.
        together(words, home, &[(KEYS[0], first), (KEYS[1], second)], &[]);
        let states: Vec<_> = look(words, home).spool.into_iter().map(|entry| entry.state).collect();
        // It may not have come to its own name yet.
        assert!(!states.contains(&SpoolState::Ended(0)), "{words:?} {states:?}");
        fs::write(&go, "").unwrap();
        let follow = |key: &str| {
            let said = frame(words, home, Some("run1"), &state::batch_next(key));
            SpoolReport::parse(said.as_bytes())
        };
        let mut said = SpoolReport::Unstarted;
        wait(|| {
            said = follow(KEYS[1]);
            said != SpoolReport::Unstarted
        });
        assert_eq!(said, SpoolReport::Ended(0, String::new()), "{words:?}");
        assert_eq!(follow(KEYS[0]), SpoolReport::Ended(0, "lots\n".to_owned()), "{words:?}");
        assert_eq!(fs::read_to_string(&made).unwrap(), "one\ntwo\n", "{words:?}");
    }
}

#[test]
fn changes_that_are_sent_together_end_together() {
    for words in some_shells() {
        let home = tempfile::tempdir().unwrap();
        let home = home.path();
        let made = home.join("made");
        let second = leak(format!("echo two >>{}", made.display()));
        together(words, home, &[(KEYS[0], "sleep 600"), (KEYS[1], second)], &[]);
        wait(|| look(words, home).spool.iter().all(|entry| entry.state == SpoolState::Running));
        frame(words, home, Some("run1"), &state::end_task(KEYS[1]));
        let lost = frame(words, home, Some("run1"), &state::batch_next(KEYS[1]));
        assert_eq!(SpoolReport::parse(lost.as_bytes()), SpoolReport::Unstarted, "{words:?}");
        let ended = frame(words, home, Some("run1"), &state::batch_next(KEYS[0]));
        assert!(!ended.starts_with("running"), "{words:?} {ended}");
        assert!(!made.exists(), "{words:?}");
    }
}

#[test]
fn one_run_has_the_lock() {
    for words in some_shells() {
        let home = tempfile::tempdir().unwrap();
        let home = home.path();
        let (mut child, input, said) = holder(words, home, "run1");
        assert_eq!(said, "held", "{words:?}");
        let said = |run: &str| frame(words, home, Some(run), &state::report_lock());
        let busy = said("run2");
        let owner = busy.lines().next().and_then(|line| line.strip_prefix("busy ")).unwrap_or_default();
        let owner = state::LockOwner::parse(owner).unwrap_or_else(|| panic!("{words:?} {busy}"));
        assert_eq!((owner.run.as_str(), owner.controller.as_str()), ("run1", "me@here/1"), "{words:?}");
        assert!(owner.since.starts_with("20") && owner.since.ends_with('Z'), "{words:?} {owner:?}");
        assert!(busy.trim_end().ends_with("/provision"), "where uploads go: {busy}");
        // Who only looks is told as well.
        assert_eq!(look(words, home).holder.as_ref(), Some(&owner), "{words:?}");
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
        // That of a shell that is gone is nobody's, whatever of its run goes on.
        assert_eq!(look(words, home).holder, None, "{words:?}");
        // Nowhere to write.
        let blocked = home.join("file");
        fs::write(&blocked, "").unwrap();
        let said = frame(words, &blocked, Some("run1"), &state::report_lock());
        assert!(said.starts_with("unwritable "), "{words:?} {said}");
    }
}

/// What a script about large files prints: /var/tmp is a directory of the test as well.
/// An agent that a question starts lives on, and would keep everybody out. What it prints is nobody's answer.
#[test]
fn what_a_question_leaves_behind_has_no_lock_and_says_nothing() {
    let agent = "4242.17";
    let _ended = Ended(agent);
    for words in some_shells() {
        let home = tempfile::tempdir().unwrap();
        let over = home.path().join("over").display().to_string();
        // What it says before the question ends is a part of the answer.
        let script = format!(
            "setsid sleep {agent} >/dev/null 2>&1 &
             (for i in $(seq 999); do [ -e {over} ] && break; sleep 0.02; done; while sleep 0.02; do echo junk; done) &
             printf asked; exit 3"
        );
        let command = facts::ask::Command::Script(script);
        let query = CommandQuery { command, env: Vec::new(), chdir: None, user: None, limit: None };
        let parts = facts::batch(&[query.into()].into(), Duration::from_secs(20));
        let (mut child, mut input, said) = holder(words, home.path(), "run1");
        assert_eq!(said, "held", "{words:?}");
        let question = render(&parts[0].part.script);
        writeln!(input, "{question}\necho \" $?\"\n: >{over}\nsleep 0.3\necho next").unwrap();
        drop(input);
        let mut said = String::new();
        child.stdout.as_mut().unwrap().read_to_string(&mut said).unwrap();
        child.wait().unwrap();
        assert!(said.ends_with("asked\n 3\nnext\n"), "{words:?} {said}");
        assert!(!running(agent).is_empty(), "{words:?}");
        let next = frame(words, home.path(), Some("run2"), &state::report_lock());
        assert!(next.starts_with("held\n"), "{words:?} {next}");
    }
}

fn large(words: &[&str], home: &Path, script: &Script) -> String {
    large_behind(words, home, LOCK, script)
}

/// The same behind this line.
fn large_behind(words: &[&str], home: &Path, lock: &str, script: &Script) -> String {
    let var = home.join("var").display().to_string();
    let text = format!("main() {{\n{}\n{lock}\n{}\n}}; main; exit $?\n", functions(home), render(script));
    let mut child = shell(words, home).spawn().unwrap();
    child.stdin.take().unwrap().write_all(text.replace("/var/tmp", &var).as_bytes()).unwrap();
    String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap()
}

/// A directory of the test with a `var` in it.
fn large_home() -> tempfile::TempDir {
    let home = tempfile::tempdir().unwrap();
    fs::create_dir(home.path().join("var")).unwrap();
    home
}

fn is_root() -> bool {
    Command::new("id").arg("-u").output().unwrap().stdout == b"0\n"
}

/// A small file system of the test; gone when this is dropped.
struct Small(std::path::PathBuf);

impl Small {
    fn at(path: std::path::PathBuf, size: &str) -> Self {
        fs::create_dir_all(&path).unwrap();
        let size = format!("size={size}");
        let mounted = Command::new("mount").args(["-t", "tmpfs", "-o", &size, "none"]).arg(&path).status();
        assert!(mounted.unwrap().success());
        Self(path)
    }
}

impl Drop for Small {
    fn drop(&mut self) {
        drop(Command::new("umount").arg("-l").arg(&self.0).status());
    }
}

#[test]
fn output_that_found_no_room_is_said() {
    if !is_root() {
        return;
    }
    let much: &'static str = leak(format!(
        "i=0; while [ $i -lt 9300 ]; do echo {}; i=$((i + 1)); done; echo the last line; exit 3",
        "0123456789".repeat(6)
    ));
    for words in some_shells() {
        // Neither the beginning, nor the end, nor all of 567 KB has room; the last has it.
        for size in ["200k", "560k", "600k", "900k"] {
            let home = tempfile::tempdir().unwrap();
            let _small = Small::at(home.path().join("provision"), size);
            let said = frame(words, home.path(), Some("run1"), &spool(much));
            assert!(said.starts_with("ended 3\n"), "{words:?} {size} {}", &said[..said.len().min(300)]);
            let (whole, cut) =
                (said.ends_with("the last line\n"), said.contains("[... output left out ...]"));
            assert!(whole || cut, "{words:?} {size}: lost in silence");
            assert!(size != "900k" || whole && !cut, "{words:?}: {}", &said[said.len() - 300..]);
        }
        // What comes behind the output of the command may be cut off.
        let home = tempfile::tempdir().unwrap();
        let _small = Small::at(home.path().join("provision"), "300k");
        let said = frame(words, home.path(), Some("run1"), &spool("echo said; sleep 3 & echo more"));
        assert_eq!(said, "ended 0\nsaid\nmore\n", "{words:?}");
    }
}

const TEN: &str = "84d89877f0d4041efb6bf91a16f0248f2fd573e6af05c19f96bedb9f882f7882";

#[test]
fn a_large_file_is_gone_on_with_and_proven() {
    for words in some_shells() {
        let home = large_home();
        let home = home.path();
        let target = home.join("target");
        let place = |key: &str| large(words, home, &state::upload(key, TEN, 10, target.to_str().unwrap()));
        let file = home.join("provision/upload/aa.11");
        let says = |offset: u64| format!("at\t{offset}\t{0}\t{0}\n", file.display());
        assert_eq!(place("aa.11"), says(0), "{words:?}");
        fs::write(&file, "01234").unwrap();
        assert_eq!(place("aa.11"), says(5), "{words:?}");
        assert_eq!(look(words, home).uploads, ["aa.11"], "{words:?}");
        fs::write(&file, "0123456789").unwrap();
        assert_eq!(place("aa.11"), says(10), "{words:?}");
        // All of it, but not the right bytes; and too much.
        for wrong in ["012345678x", "0123456789 and more"] {
            fs::write(&file, wrong).unwrap();
            assert_eq!(place("aa.11"), says(0), "{words:?}");
            assert_eq!(fs::read(&file).unwrap(), b"", "{words:?}");
        }
        // Nobody else may read it on its way.
        let mode = std::os::unix::fs::PermissionsExt::mode(&fs::metadata(&file).unwrap().permissions());
        assert_eq!(mode & 0o777, 0o600, "{words:?}");
        // Another content of the same file of the same task takes its place; other files stay.
        fs::write(home.join("provision/upload/bb.11"), "").unwrap();
        place("aa.22");
        let mut left = look(words, home).uploads;
        left.sort();
        assert_eq!(left, ["aa.22", "bb.11"], "{words:?}");
        large(words, home, &state::upload_drop(&left));
        assert!(look(words, home).uploads.is_empty(), "{words:?}");
        assert_eq!(fs::read_dir(home.join("var")).unwrap().count(), 0, "{words:?}");
    }
}

#[test]
fn who_still_writes_a_large_file_is_ended_first() {
    for words in some_shells() {
        let home = large_home();
        let home = home.path();
        let file = home.join("provision/upload/aa.11");
        let place = || large(words, home, &state::upload("aa.11", TEN, 10, "/opt/target"));
        place();
        // As the transport writes it.
        let mut writer = Command::new("sleep").arg("1000").spawn().unwrap();
        let stat = fs::read_to_string(format!("/proc/{}/stat", writer.id())).unwrap();
        let birth = stat.rsplit(") ").next().unwrap().split(' ').nth(19).unwrap().to_owned();
        let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap();
        let record = |birth: &str, boot: &str| {
            fs::write(&file, "01234").unwrap();
            fs::write(
                home.join("provision/upload/aa.11.writer"),
                format!("{} {birth} {boot}\n", writer.id()),
            )
            .unwrap();
        };
        record("1", boot.trim());
        place();
        record(&birth, "another-boot");
        place();
        record(&birth, boot.trim());
        assert!(writer.try_wait().unwrap().is_none(), "{words:?}: another process was ended");
        assert!(place().starts_with("at\t5\t"), "{words:?}");
        assert!(!writer.wait().unwrap().success(), "{words:?}");
    }
}

#[test]
fn a_large_file_that_does_not_fit_goes_beside_its_target() {
    if !is_root() {
        println!("not run: only root can mount small file systems");
        return;
    }
    for words in some_shells() {
        let home = large_home();
        let home = home.path();
        let _state = Small::at(home.join("provision"), "4m");
        fs::create_dir(home.join("a b")).unwrap();
        let target = home.join("a b/target");
        let size = 3 << 20;
        let content: Vec<u8> = (0..=250).cycle().take(size).collect();
        let digest = provision::words::hex(&sha2::Sha256::digest(&content));
        let place = |target: &Path| {
            large(words, home, &state::upload("aa.11", &digest, size as u64, target.to_str().unwrap()))
        };
        let put = |target: &Path, copy: &Path| {
            let text = provision::shell!(
                "shell/reach.sh",
                "resources/shared/after.sh",
                "resources/shared/put.sh",
                "resources/shared/write.sh"
            );
            let script = Script::new(text.replace("/var/tmp", home.join("var").to_str().unwrap()));
            let path = |path: &Path| path.to_str().unwrap().to_owned();
            support::run(
                words,
                &script.args([path(target), "0640".into(), String::new(), digest.clone(), path(copy)]),
                None,
            )
        };
        let link = home.join("var/provision-upload-0/aa.11");
        let beside = home.join("a b/.provision.upload.aa.11");
        let says = |offset: usize| format!("at\t{offset}\t{}\t{}\n", link.display(), beside.display());
        assert_eq!(place(&target), says(0), "{words:?}");
        fs::write(&link, &content[..1000]).unwrap();
        assert_eq!(fs::metadata(&beside).unwrap().len(), 1000, "{words:?}");
        assert_eq!(place(&target), says(1000), "{words:?}");
        // It is renamed: no second copy is made, and nothing stays.
        fs::write(&link, &content).unwrap();
        let inode = std::os::unix::fs::MetadataExt::ino(&fs::metadata(&beside).unwrap());
        assert_eq!(place(&target), says(size), "{words:?}");
        assert_eq!(put(&target, &link), (0, Vec::new(), String::new()), "{words:?}");
        let metadata = fs::metadata(&target).unwrap();
        assert_eq!(std::os::unix::fs::MetadataExt::ino(&metadata), inode, "{words:?}");
        assert_eq!(std::os::unix::fs::PermissionsExt::mode(&metadata.permissions()) & 0o777, 0o640);
        assert!(fs::read(&target).unwrap() == content);
        assert_eq!(fs::read_dir(home.join("a b")).unwrap().count(), 1, "{words:?}");
        assert_eq!(fs::read_dir(home.join("var")).unwrap().count(), 0, "{words:?}");

        // Another digest: nothing of it stays either, and the target is as it was.
        place(&target);
        fs::write(&link, vec![0; size]).unwrap();
        let (status, _, errors) = put(&target, &link);
        assert!(status != 0 && errors.contains("another digest"), "{words:?} {errors}");
        assert!(!beside.exists() && !link.is_symlink() && fs::read(&target).unwrap() == content, "{words:?}");

        // Others may write beside it: then in a directory of our own.
        let open = home.join("open");
        fs::create_dir(&open).unwrap();
        fs::set_permissions(&open, std::os::unix::fs::PermissionsExt::from_mode(0o777)).unwrap();
        assert_eq!(place(&open.join("target")), format!("at\t0\t{0}\t{0}\n", link.display()), "{words:?}");
        assert_eq!(
            std::os::unix::fs::PermissionsExt::mode(
                &fs::metadata(home.join("var/provision-upload-0")).unwrap().permissions()
            ) & 0o777,
            0o700
        );
        fs::write(&link, &content).unwrap();
        assert_eq!(put(&open.join("target"), &link).0, 0, "{words:?}");
        assert_eq!(fs::read_dir(home.join("var")).unwrap().count(), 0, "{words:?}");

        // No room where it belongs.
        let _full = Small::at(home.join("small"), "1m");
        let said = place(&home.join("small/below/target"));
        let mount = home.join("small");
        let words_of = format!(
            "full\tNo space left on device: {0}/below/target needs 4 MiB, and {0} has 1 MiB\n",
            mount.display()
        );
        assert_eq!(said, words_of, "{words:?}");
        // Or it went while the file was written.
        let copy = home.join("provision/upload/copy");
        fs::write(&copy, &content).unwrap();
        let (status, _, errors) = put(&mount.join("target"), &copy);
        assert!(status != 0, "{words:?}");
        let expected = format!("cannot write {}/target: No space left on device", mount.display());
        assert_eq!(errors.lines().next_back(), Some(expected.as_str()), "{words:?}");
        assert!(!copy.exists() && fs::read_dir(&mount).unwrap().count() == 0, "{words:?}");

        // What was left beside a target is taken away as well.
        place(&target);
        assert!(beside.exists(), "{words:?}");
        large(words, home, &state::upload_drop(&["aa.11".to_owned()]));
        assert!(!beside.exists() && fs::read_dir(home.join("var")).unwrap().count() == 0, "{words:?}");
    }
}

#[test]
fn a_directory_of_another_user_takes_no_large_file() {
    if !is_root() {
        println!("not run: only root can mount small file systems");
        return;
    }
    for words in some_shells() {
        let home = large_home();
        let home = home.path();
        let _state = Small::at(home.join("provision"), "4m");
        // Somebody was there first: with a directory, and with a link.
        let theirs = home.join("var/provision-upload-0");
        fs::create_dir(&theirs).unwrap();
        std::os::unix::fs::chown(&theirs, Some(65534), Some(65534)).unwrap();
        std::os::unix::fs::symlink(home.join("a"), home.join("var/provision-upload-0.link")).unwrap();
        let target = home.join("target");
        let said = large(words, home, &state::upload("aa.11", TEN, 5 << 20, target.to_str().unwrap()));
        let path = said.split('\t').nth(2).unwrap_or_default().to_owned();
        assert!(path.contains("/var/provision-upload-0.") && path.ends_with("/aa.11"), "{words:?} {said}");
        assert_eq!(fs::read_dir(&theirs).unwrap().count(), 0, "{words:?}");
        let again = large(words, home, &state::upload("aa.11", TEN, 5 << 20, target.to_str().unwrap()));
        assert_eq!(again, said, "{words:?}");
    }
}

/// A shell of a lost connection: nothing ends it but sshd, much later.
#[test]
fn a_newer_shell_of_the_run_ends_the_older_one_and_what_was_sent_to_it_is_refused() {
    for words in some_shells() {
        let home = tempfile::tempdir().unwrap();
        let home = home.path();
        let (mut old, mut input, said) = holder(words, home, "run1");
        assert_eq!(said, "held", "{words:?}");
        // It is busy, and what it waits for holds the lock as well.
        writeln!(input, "sleep 1000").unwrap();
        let newer =
            frame_behind(words, home, "provision_lock run1 me@here/1 0 1 again", &state::report_lock());
        assert!(newer.starts_with("held\n"), "{words:?} {newer}");
        assert!(!old.wait().unwrap().success(), "{words:?}: it was ended");
        // A frame of the older one that is still under way, and arrives at whatever shell.
        let late = frame_behind(words, home, "provision_lock run1 me@here/1 0 0 again", &spool("echo never"));
        assert!(late.starts_with("refused late run1 "), "{words:?} {late}");
        assert!(look(words, home).spool.is_empty(), "{words:?}");
        // Nor does it keep, take back or reboot anything.
        let made = home.join("made");
        let touch = state::fenced(Script::new(": >\"$1\"").arg(made.to_str().unwrap()));
        let late = frame_behind(words, home, "provision_lock run1 me@here/1 0 0 again", &touch);
        assert!(late.starts_with("refused late run1 ") && !made.exists(), "{words:?} {late}");
        assert_eq!(frame_behind(words, home, "provision_lock run1 me@here/1 0 1 again", &touch), "");
        assert!(made.exists(), "{words:?}");
    }
}

#[test]
fn changes_that_are_sent_together_need_the_lock() {
    for words in some_shells() {
        let home = tempfile::tempdir().unwrap();
        let home = home.path();
        let made = home.join("made");
        let change = leak(format!(": >{}", made.display()));
        let sent = |lock: &str| together_behind(words, home, lock, &[(KEYS[0], change)], &KEYS[..1]);
        // Those of an older shell of the run, that are still under way when a newer one has the lock.
        frame_behind(words, home, "provision_lock run1 me@here/1 0 1 again", &state::report_lock());
        assert_eq!(sent("provision_lock run1 me@here/1 0 0 again"), [SpoolReport::Unstarted], "{words:?}");
        // Those of another run, and those of nobody.
        let (mut child, input, _) = holder(words, home, "run1");
        assert_eq!(sent("provision_lock run2 me@here/1"), [SpoolReport::Unstarted], "{words:?}");
        assert_eq!(sent(""), [SpoolReport::Unstarted], "{words:?}");
        assert!(look(words, home).spool.is_empty() && !made.exists(), "{words:?}");
        drop(input);
        child.wait().unwrap();
    }
}

#[test]
fn large_files_need_the_lock() {
    for words in some_shells() {
        let home = large_home();
        let home = home.path();
        let place = state::upload("aa.11", TEN, 10, "/opt/target");
        let left = large(words, home, &place);
        assert!(left.starts_with("at\t0\t"), "{words:?} {left}");
        let file = Path::new(left.trim_end().rsplit('\t').next().unwrap()).to_owned();
        let (mut child, input, _) = holder(words, home, "run1");
        for (lock, why) in [("provision_lock run2 me@here/1", "busy run1 "), ("", "\n")] {
            let said = large_behind(words, home, lock, &place);
            assert!(said.starts_with(&format!("refused\t{why}")), "{words:?} {said}");
            large_behind(words, home, lock, &state::upload_drop(&["aa.11".to_owned()]));
            assert!(file.exists(), "{words:?}");
        }
        drop(input);
        child.wait().unwrap();
        large(words, home, &state::upload_drop(&["aa.11".to_owned()]));
        assert!(!file.exists(), "{words:?}");
    }
}

/// An inventory may have one machine under two names.
#[test]
fn another_name_of_the_same_machine_is_no_older_shell() {
    for words in some_shells() {
        let home = tempfile::tempdir().unwrap();
        let home = home.path();
        let (mut child, input, _) = holder(words, home, "run1");
        let other = frame_behind(words, home, "provision_lock run1 me@here/1 4 3", &state::report_lock());
        assert!(other.starts_with("shared\n"), "{words:?} {other}");
        let first =
            frame_behind(words, home, "provision_lock run1 me@here/1 0 0 again", &state::report_lock());
        assert!(first.starts_with("shared\n"), "{words:?} {first}");
        drop(input);
        assert!(child.wait().unwrap().success(), "{words:?}: nobody ended it");
    }
}

#[test]
fn a_shell_that_keeps_the_lock_notices_that_a_newer_one_took_over() {
    for words in some_shells() {
        let home = tempfile::tempdir().unwrap();
        let home = home.path();
        let (mut child, mut input, _) = holder(words, home, "run1");
        let owner = home.join("provision/owner");
        for (by, told) in
            [("run1 me@here/1 1 1 0 7", "late run1 "), ("run2 you@there/2 1 1 0 0", "busy run2 ")]
        {
            fs::write(&owner, format!("{by}\n")).unwrap();
            writeln!(
                input,
                "provision_locked=held; provision_lock run1 me@here/1 0 0 again; echo \"now $provision_locked.\""
            )
            .unwrap();
            let mut said = String::new();
            // One byte at a time: what a reader holds back would be lost between the turns.
            let output = child.stdout.as_mut().unwrap();
            while !said.ends_with(".\n") {
                let mut byte = [0];
                output.read_exact(&mut byte).unwrap();
                said.push(char::from(byte[0]));
            }
            assert!(said.contains(&format!("now {told}")), "{words:?} {said}");
        }
        drop(input);
        child.wait().unwrap();
    }
}

#[test]
fn only_the_owner_of_the_lock_tidies_and_goes_on() {
    for words in some_shells() {
        let home = tempfile::tempdir().unwrap();
        let home = home.path();
        frame(words, home, Some("run1"), &spool("exit 7"));
        let tidy = state::tidy(&[], &[KEY.to_owned()]);
        // The run is at work on its next task.
        let (mut child, input, _) = holder(words, home, "run1");
        let refused = frame(words, home, Some("run2"), &tidy);
        assert!(refused.starts_with("refused busy run1 "), "{words:?} {refused}");
        assert!(frame(words, home, None, &tidy).starts_with("refused "), "{words:?}");
        assert_eq!(look(words, home).spool.len(), 1, "{words:?}");
        drop(input);
        child.wait().unwrap();
        // Its connection is gone, and another run takes the host and what it left.
        assert_eq!(frame(words, home, Some("run2"), &tidy), "", "{words:?}");
        assert!(look(words, home).spool.is_empty(), "{words:?}");
        // Back again, the first one does not take the missing entry for one that never was.
        let back = frame_behind(words, home, "provision_lock run1 me@here/1 0 1 again", &spool("echo twice"));
        assert!(back.starts_with("refused lost run2 me@here/1 "), "{words:?} {back}");
        fs::remove_dir_all(home.join("provision")).unwrap();
        let back = frame_behind(words, home, "provision_lock run1 me@here/1 0 1 again", &spool("echo twice"));
        assert!(back.trim_end().ends_with("refused lost"), "{words:?} {back}");
        assert!(look(words, home).spool.is_empty(), "{words:?}");
        // Its own shell before is no other run.
        frame_behind(words, home, "provision_lock run3 me@here/1 0 0", &state::report_lock());
        let on = frame_behind(words, home, "provision_lock run3 me@here/1 0 1 again", &state::report_lock());
        assert!(on.starts_with("held\n"), "{words:?} {on}");
    }
}

/// Where notifications and detached tasks are kept: for root not where a boot clears everything.
fn kept(home: &Path) -> std::path::PathBuf {
    home.join(if rustix::process::geteuid().is_root() { "kept" } else { "provision" })
}

/// What a boot leaves of the state directory.
fn reboot(home: &Path) {
    let kept = kept(home);
    if kept.ends_with("kept") {
        fs::remove_dir_all(home.join("provision")).unwrap();
    }
    for kind in ["notify", "detached"] {
        for entry in fs::read_dir(kept.join(kind)).unwrap() {
            let path = entry.unwrap().path();
            let text = fs::read_to_string(&path).unwrap();
            let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap();
            assert!(text.contains(boot.trim()), "{text}");
            fs::write(path, text.replace(boot.trim(), "another-boot")).unwrap();
        }
    }
    let identity = home.join("provision/identity");
    if let Ok(text) = fs::read_to_string(&identity) {
        let mut words: Vec<&str> = text.split_whitespace().collect();
        words[1] = "another-boot";
        fs::write(identity, words.join(" ") + "\n").unwrap();
    }
}

#[test]
fn what_was_notified_and_what_ran_apart_outlives_a_boot() {
    for words in some_shells() {
        let home = tempfile::tempdir().unwrap();
        let home = home.path();
        let notify = ["base/reload sshd".to_owned()];
        let detached = state::spool(SpoolRequest {
            key: KEY,
            name: "base/build",
            run: "run1",
            // Not by systemd: it would see this machine's own directory.
            detach: true,
            user: None,
            cluster: "t",
            script: Script::new("exit 0"),
            notify: &notify,
        });
        let text = "command() { return 1; }; provision_locked=none; provision_dir; mkdir -p \"$d\"/spool; provision_identity; echo \"$current\" >\"$d/identity\"";
        assert_eq!(frame_behind(words, home, text, &detached), "ended 0\n", "{words:?}");
        let now = look(words, home);
        assert!(now.interrupted.is_empty() && now.notified.iter().all(|it| !it.before), "{words:?} {now:?}");
        assert_eq!(now.notified.len(), 1, "{words:?}");
        reboot(home);
        let then = look(words, home);
        assert_eq!(then.notified.len(), 1, "{words:?} {then:?}");
        assert!(then.notified.iter().all(|it| it.before && it.handler == "base/reload sshd"), "{words:?}");
        let interrupted: Vec<_> =
            then.interrupted.iter().map(|(key, name)| (key.as_str(), name.as_str())).collect();
        assert_eq!(interrupted, [(KEY, "base/build")], "{words:?} {then:?}");
        assert!(then.spool.is_empty(), "{words:?} {then:?}");
        // Told and served, nothing of it stays.
        let keys: Vec<String> = then.notified.into_iter().map(|it| it.key).collect();
        let tidy = state::tidy(&keys, &[KEY.to_owned()]);
        assert_eq!(frame(words, home, Some("run2"), &tidy), "", "{words:?}");
        let last = look(words, home);
        assert!(last.notified.is_empty() && last.interrupted.is_empty(), "{words:?} {last:?}");
        assert!(!kept(home).join("notify").exists() || !kept(home).ends_with("kept"), "{words:?}");
    }
}

#[test]
fn what_a_cloned_image_brings_along_is_nobodys() {
    for words in some_shells() {
        let home = tempfile::tempdir().unwrap();
        let home = home.path();
        frame(words, home, Some("run1"), &spool("exit 7"));
        let notes = kept(home).join("notify");
        let note = fs::read_dir(&notes).unwrap().next().unwrap().unwrap().path();
        fs::write(&note, "base/reload sshd\nt\nanother-machine another-boot none\n").unwrap();
        assert!(look(words, home).notified.is_empty(), "{words:?}");
        // Half of a note is none.
        fs::write(&note, "").unwrap();
        assert!(look(words, home).notified.is_empty(), "{words:?}");
    }
}

#[test]
fn a_lock_is_taken_from_a_run_that_is_cut_off() {
    for words in some_shells() {
        let home = tempfile::tempdir().unwrap();
        let home = home.path();
        let held = || state::HeldLock::parse(&frame(words, home, None, &state::lock_owner()));
        assert_eq!(held(), None, "{words:?}: nobody was here");
        let (mut child, mut input, _) = holder(words, home, "run1");
        writeln!(input, "sleep 1000").unwrap();
        let lock = held().unwrap();
        let owner = state::LockOwner::parse(&lock.owner).unwrap();
        assert_eq!((owner.run.as_str(), owner.controller.as_str()), ("run1", "me@here/1"), "{words:?}");
        assert!(
            lock.since.starts_with("20") && lock.since.ends_with('Z') && lock.tasks.is_empty(),
            "{words:?} {lock:?}"
        );
        // Another one than was shown is left alone.
        frame(words, home, None, &state::unlock("run0 me@here/1 1 1 0", "you@there/2"));
        assert!(held().is_some(), "{words:?}");
        // Nor is one that could not be told: it would go on.
        fs::create_dir(home.join("provision/owner.new")).unwrap();
        frame(words, home, None, &state::unlock(&lock.owner, "you@there/2"));
        assert_eq!(held().as_ref(), Some(&lock), "{words:?}");
        fs::remove_dir(home.join("provision/owner.new")).unwrap();
        frame(words, home, None, &state::unlock(&lock.owner, "you@there/2"));
        assert!(!child.wait().unwrap().success(), "{words:?}: it was ended");
        assert_eq!(held(), None, "{words:?}");
        // Back again, the run does not go on.
        let back =
            frame_behind(words, home, "provision_lock run1 me@here/1 0 1 again", &state::report_lock());
        assert!(back.starts_with("lost unlock you@there/2 "), "{words:?} {back}");
        assert!(frame(words, home, Some("run2"), &state::report_lock()).starts_with("held\n"), "{words:?}");
    }
}

#[test]
fn a_task_outlives_the_lock_that_is_taken() {
    for words in some_shells() {
        let home = tempfile::tempdir().unwrap();
        let home = home.path();
        let (made, go) = (home.join("made"), home.join("go"));
        let text: &'static str = Box::leak(
            format!("echo once >>{}; until [ -e {} ]; do sleep 0.1; done", made.display(), go.display())
                .into_boxed_str(),
        );
        std::thread::scope(|scope| {
            let cut = scope.spawn(|| frame(words, home, Some("run1"), &spool(text)));
            wait(|| made.exists());
            let held = || state::HeldLock::parse(&frame(words, home, None, &state::lock_owner()));
            let lock = held().unwrap();
            assert_eq!(lock.tasks, ["base/edit"], "{words:?}");
            frame(words, home, None, &state::unlock(&lock.owner, "you@there/2"));
            assert_eq!(cut.join().unwrap(), "", "{words:?}: its shell was ended");
            let lock = held().unwrap();
            assert!(lock.owner.starts_with("unlock you@there/2 "), "{words:?} {lock:?}");
            assert_eq!(lock.tasks, ["base/edit"], "{words:?}");
            // The run learns that its lock was taken, another one what is in its way.
            for (lock, told) in [("run1 me@here/1 0 1 again", "lost"), ("run2 me@here/1 0 0", "busy")] {
                let lock = format!("provision_lock {lock}");
                let report = frame_behind(words, home, &lock, &state::report_lock());
                assert!(report.starts_with(&format!("{told} unlock you@there/2 ")), "{words:?} {report}");
            }
            fs::write(&go, "").unwrap();
            let followed = frame(words, home, None, &state::follow(KEY));
            assert_eq!(followed, "ended 0\n", "{words:?}");
        });
    }
}
