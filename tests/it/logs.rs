//! What the program says of itself: on stderr with `-v`, and in the log of each run.

#![allow(clippy::unwrap_used, reason = "a test")]
#![allow(clippy::disallowed_methods, reason = "tests start the program")]

use std::fs::{self, Permissions};
use std::ops::Deref;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Output;

use crate::context::Context;
use crate::this_host;

const SECRET: &str = "p01son-w1th-'quote";

/// A host with one task that prints a secret and fails, and a directory of programs that go first.
struct Site(Context);

impl Deref for Site {
    type Target = Context;

    fn deref(&self) -> &Context {
        &self.0
    }
}

impl Site {
    fn new(transport: &str) -> Self {
        let site = Self(Context::new());
        let inventory = format!(
            "cluster: c\ntransport: {transport}\nssh: {{ known_hosts: ./known_hosts }}\nplaybooks: [./p.yaml]\nsecrets: {{ token: {{ env: TOKEN }} }}\nhosts: {{ a: {{ address: 127.0.0.1 }} }}\n"
        );
        let task = r#"command: { script: "echo the disk is on fire; echo $TOKEN >&2; exit 3", env: { TOKEN: "{{ secrets.token }}" } }"#;
        fs::write(site.path("site.yaml"), inventory).unwrap();
        fs::write(site.path("p.yaml"), format!("name: P\ntasks:\n- name: fails\n  {task}\n")).unwrap();
        fs::write(site.path("known_hosts"), "").unwrap();
        fs::create_dir(site.path("bin")).unwrap();
        site
    }

    fn run(&self, arguments: &str, rust_log: &str) -> Output {
        let path = format!("{}:{}", self.path("bin").display(), std::env::var("PATH").unwrap());
        self.command(&arguments.split_whitespace().collect::<Vec<_>>())
            .env("PATH", path)
            .env("HOME", self.path("home"))
            .env("TOKEN", SECRET)
            .env("RUST_LOG", rust_log)
            .output()
            .unwrap()
    }

    /// The log that a failed run names.
    fn log(failed: &Output) -> String {
        let said = text(&failed.stderr);
        let mut words = said.split_whitespace().skip_while(|word| *word != "log:").skip(1);
        let text =
            fs::read_to_string(words.next().unwrap_or_else(|| panic!("no log is named: {said}"))).unwrap();
        hides(&text);
        text
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn hides(text: &str) {
    assert!(!text.contains("p01son") && !text.contains("provision-secret"), "{text}");
}

#[test]
fn the_log_of_a_failed_task_leads_to_the_cause() {
    let _alone = this_host::alone();
    let site = Site::new("local");
    let failed = site.run("apply site.yaml --yes", "");
    assert_eq!(failed.status.code(), Some(5));
    let log = Site::log(&failed);
    for part in ["a stage 1 ./p.yaml/fails exec what=task", "failed: (secret token)", "the disk is on fire"] {
        assert!(log.contains(part), "no `{part}` in {log}");
    }
    // Neither what is run nor what it is given.
    assert!(!log.contains("echo"), "{log}");
}

#[test]
fn the_log_of_a_failed_login_leads_to_the_cause() {
    let site = Site::new("ssh");
    // A banner of a server, or a ProxyCommand, may say anything.
    let ssh = "#!/bin/sh\ncase \" $* \" in *' -G '*) exit 0 ;; esac\necho \"first line with $TOKEN\" >&2\necho 'the last line' >&2\nexit 255\n";
    fs::write(site.path("bin/ssh"), ssh).unwrap();
    fs::set_permissions(site.path("bin/ssh"), Permissions::from_mode(0o755)).unwrap();
    let failed = site.run("apply site.yaml --yes", "");
    assert_eq!(failed.status.code(), Some(4), "{}", text(&failed.stderr));
    let log = Site::log(&failed);
    assert!(
        log.contains("stderr said: first line with (secret token)\n") && log.contains("the last line"),
        "{log}"
    );
    assert!(log.contains("a stage 1 login took="), "{log}");
}

#[test]
fn each_v_says_more_and_only_on_stderr() {
    let site = Site::new("local");
    let shows = |options: &str, rust_log: &str| {
        let planned = site.run(&format!("plan site.yaml --json - {options}"), rust_log);
        assert_eq!(planned.status.code(), Some(0), "{}", text(&planned.stderr));
        serde_json::from_slice::<serde_json::Value>(&planned.stdout).unwrap();
        let said = text(&planned.stderr);
        hides(&said);
        [" a stage 1 took=", "a stage 1 exec what=state", "part=state"].map(|part| said.contains(part))
    };
    assert_eq!(shows("", ""), [false, false, false]);
    assert_eq!(shows("-v", ""), [true, false, false]);
    assert_eq!(shows("-vv", ""), [true, true, false]);
    assert_eq!(shows("-vvv", ""), [true, true, true]);
    assert_eq!(shows("", "trace"), [true, true, true]);
}

#[test]
fn a_terminal_is_sent_nothing_that_it_obeys() {
    let _alone = this_host::alone();
    let site = Site::new("local");
    // Title, bell, cursor, the eight-bit forms of the same, and what hides what stands before it.
    let evil = r"x\033]0;title\007\033[2J\010\r\302\2332J\302\2350;y\302\234z";
    let file = site.path("held");
    let tasks = format!(
        "name: P\ntasks:\n- name: held\n  file: {{ path: {file}, content: calm }}\n- name: fails\n  command: {{ script: \"printf '{evil}\\\\n'; printf '{evil}\\\\n' >&2; exit 3\" }}\n",
        evil = evil.replace('\\', "\\\\"),
        file = file.display()
    );
    fs::write(site.path("p.yaml"), tasks).unwrap();
    let old = b"x\x1b]0;title\x07\x1b[2J\x08\r\xc2\x9b2Jz\n";
    fs::write(&file, old).unwrap();
    let all = [
        "plan site.yaml -v",
        "verify site.yaml -vv",
        "apply site.yaml --yes -vvv",
        "report show site.yaml --output",
        "report replay site.yaml -vv",
        "exec site.yaml -- cat held.old",
    ];
    fs::write(site.path("held.old"), old).unwrap();
    for arguments in all {
        let arguments = arguments.replace("held.old", &site.path("held.old").display().to_string());
        let ran = site.run(&arguments, "");
        let text = text(&ran.stdout) + &text(&ran.stderr);
        assert!(text.contains("title"), "{arguments}: it shows nothing of it: {text}");
        let obeyed = text.chars().find(|char| char.is_control() && !matches!(char, '\n' | '\t'));
        assert_eq!(obeyed, None, "{arguments}: {text:?}");
    }
}

#[test]
fn what_comes_next_is_named() {
    let _alone = this_host::alone();
    let site = Site::new("local");
    let file = site.path("held");
    let tasks =
        format!("name: P\ntasks:\n- name: held\n  file: {{ path: {}, content: calm }}\n", file.display());
    fs::write(site.path("p.yaml"), tasks).unwrap();
    let next = "next: provision apply ";
    let says = |arguments: &str, code| {
        let ran = site.run(arguments, "");
        assert_eq!(ran.status.code(), Some(code), "{arguments}: {ran:?}");
        text(&ran.stderr)
    };
    assert!(says("plan site.yaml", 0).contains(next));
    assert!(says("verify site.yaml", 6).contains(next));
    says("apply site.yaml --yes", 0);
    assert!(!says("plan site.yaml", 0).contains(next));
    let page = site.path("page.html");
    assert_eq!(
        says(&format!("report show site.yaml --html {}", page.display()), 0),
        format!("wrote {}\n", page.display())
    );
}

#[test]
fn hosts_that_are_away_for_one_reason_are_told_once() {
    let site = Site::new("ssh");
    let hosts = "\"a[1-5]\": { address: \"127.0.0.{{ host.number }}\", ssh: { port: 1 } }";
    let inventory = fs::read_to_string(site.path("site.yaml")).unwrap();
    let inventory = inventory.replace("a: { address: 127.0.0.1 }", hosts);
    fs::write(site.path("site.yaml"), inventory).unwrap();
    let ran = site.run("exec site.yaml -- true", "");
    assert_eq!(ran.status.code(), Some(4));
    assert_eq!(
        text(&ran.stdout),
        "--- a[1-5]  (unreached) ---\n  ssh: connect to port 1: Connection refused\n  hint: no sshd on that port: start it, or set ssh.port for a[1-5] in site.yaml\n"
    );
    // Nothing is known of them, and nothing is printed as if it were.
    let ran = site.run("facts site.yaml", "");
    assert_eq!((ran.status.code(), text(&ran.stdout)), (Some(4), String::new()));
}

/// JSON goes to terminals as well, and `\uXXXX` says the same to every reader.
#[test]
fn json_on_a_terminal_holds_nothing_that_it_obeys() {
    let _alone = this_host::alone();
    let site = Site::new("local");
    // The eight-bit form of an escape, what turns text around, DEL, and a tag that nobody sees.
    let evil = "x\u{9b}2J\u{202e}\u{7f}\u{e0041}title";
    let in_yaml = r"x\x9b2J\u202e\x7f\U000e0041title";
    let inventory = fs::read_to_string(site.path("site.yaml")).unwrap();
    let inventory = inventory.replace("hosts: {", &format!("vars: {{ evil: \"{in_yaml}\" }}\nhosts: {{"));
    fs::write(site.path("site.yaml"), inventory).unwrap();
    let held = site.path("held");
    fs::write(&held, format!("{evil}\n")).unwrap();
    let script = format!("cat {}; cat {} >&2; exit 3", held.display(), held.display());
    let tasks = format!(
        "name: P\nparams: {{ evil: {{ type: string }} }}\ntasks:\n- name: held {{{{ evil }}}}\n  file: {{ path: {}, content: calm }}\n- name: fails\n  command: {{ script: \"{script}\" }}\n",
        held.display()
    );
    fs::write(site.path("p.yaml"), tasks).unwrap();
    let virt = site.path("bin/systemd-detect-virt");
    fs::write(&virt, format!("#!/bin/sh\necho '{evil}'\n")).unwrap();
    fs::set_permissions(&virt, Permissions::from_mode(0o755)).unwrap();
    let bad = format!("cluster: c\nhosts: {{ a: }}\nplaybooks: [\"./{in_yaml}.yaml\"]\n");
    fs::write(site.path("bad.yaml"), bad).unwrap();
    let exec = format!("exec site.yaml --json - -- cat {}", held.display());
    let apply = "apply site.yaml --yes --json -";
    let log = site.path("log");
    fs::write(&log, format!("error: {evil}\n")).unwrap();
    let why = format!("why {} --json -", log.display());
    // Those that show nothing of a host or a file but numbers and names that were checked.
    let calm = [
        "logins --json -",
        "acknowledge site.yaml --json -",
        "self-check --json -",
        "inventory list site.yaml --json -",
        "lab status site.yaml --json -",
    ];
    let all = [
        "plan site.yaml --json -",
        "verify site.yaml --json -",
        &exec,
        "facts site.yaml --json -",
        "inventory show site.yaml --json -",
        "validate site.yaml --json -",
        apply,
        "report show site.yaml --json -",
        &why,
        "compare site.yaml --json -",
        "parts site.yaml --json -",
        "expect learn site.yaml a --json -",
        "accept site.yaml --stage fabric --json -",
    ];
    for arguments in all.iter().chain(&calm) {
        let ran = site.run(arguments, "");
        let text = text(&ran.stdout);
        if *arguments != "lab status site.yaml --json -" {
            serde_json::from_str::<serde_json::Value>(&text)
                .unwrap_or_else(|error| panic!("{arguments}: {error}: {ran:?}"));
        }
        if ["plan", "exec", "inventory show", "apply", "why"].iter().any(|name| arguments.starts_with(name)) {
            assert!(text.contains("x\\u009b2J\\u202e\\u007f\\udb40\\udc41title"), "{arguments}: {text}");
        }
        let obeyed = text.chars().find(|c| c.is_control() && *c != '\n' || "\u{202e}\u{e0041}".contains(*c));
        assert_eq!(obeyed, None, "{arguments}: {text:?}");
    }
    // A name in a file of somebody else, in what is said of it.
    let said = text(&site.run("validate bad.yaml", "").stderr);
    assert!(said.contains("title.yaml") && !said.contains(['\u{9b}', '\u{202e}', '\u{e0041}']), "{said:?}");
    // The commands of the reference that take `--json`; a table of the project's own containers is the last one.
    let reference = include_str!("../../docs/reference/cli.md");
    let listed = reference.matches("--json <FILE>").count();
    assert_eq!(listed, all.len() + calm.len() + 1, "a new command with --json belongs here");
}
