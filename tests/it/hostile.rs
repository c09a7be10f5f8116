//! Projects of somebody else: looking at them ends soon, takes little memory, runs nothing and reaches nobody.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test")]
#![allow(clippy::disallowed_methods, reason = "tests start the program")]

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

/// So much memory a command may ask for, in KiB. The kernel refuses more.
const MEMORY: u32 = 300 << 10;
/// It takes a second or two; this is for a machine that does much else.
const DEADLINE: &str = "90";

/// The programs that a command may start on this machine, as SECURITY.md has them. `secret` stands for commands of
/// `secrets:`, `list` for those of `hosts_from: { run: ... }`.
const ALLOWED: &[(&str, &[&str])] = &[
    ("validate site.yaml", &["list"]),
    ("bundle site.yaml -o out", &["list"]),
    ("inventory list site.yaml", &["list"]),
    ("inventory show site.yaml", &["list"]),
    ("watch --systemd site.yaml", &["list"]),
    ("report list site.yaml", &[]),
    ("logins", &[]),
    ("playbook list", &[]),
    ("inventory trust site.yaml --yes", &["list", "ssh", "ssh-keygen"]),
    ("unlock site.yaml --yes", &["list", "ssh", "secret"]),
    ("facts site.yaml", &["list", "ssh", "secret"]),
    ("verify site.yaml", &["list", "ssh", "secret"]),
    ("plan site.yaml", &["list", "ssh", "secret"]),
    ("exec site.yaml -- true", &["list", "ssh", "secret"]),
    ("apply site.yaml --yes", &["list", "ssh", "secret"]),
];

struct Project(tempfile::TempDir);

impl Project {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn put(&self, name: &str, text: impl AsRef<[u8]>) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn inventory(&self, more: &str) {
        self.put("site.yaml", format!("cluster: c\nplaybooks: [./p.yaml]\n{more}\n"));
    }

    fn task(&self, head: &str, task: &str) {
        self.put("p.yaml", format!("name: P\n{head}\ntasks:\n- name: t\n  {task}\n"));
    }

    /// The programs that a command starts are in the file `trace`, where `strace` is there.
    fn run(&self, words: &str, limits: &str) -> (Output, f64) {
        let started = Instant::now();
        let script = format!("{limits} exec timeout {DEADLINE} \"$@\"");
        let mut command = Command::new("sh");
        command.args(["-c", &script, "sh"]);
        if limits.is_empty() {
            let trace = self.path("trace");
            command.args(["strace", "-f", "-qq", "-e", "trace=execve", "-s", "4096", "-o"]).arg(trace);
        }
        let output = command
            .arg(env!("CARGO_BIN_EXE_provision"))
            .args(words.split(' '))
            .current_dir(self.0.path())
            .env("HOME", self.path("home"))
            .env("XDG_STATE_HOME", self.path("state"))
            .env("XDG_CACHE_HOME", self.path("cache"))
            .env("PATH", format!("{}:{}", self.path("bin").display(), std::env::var("PATH").unwrap()))
            .output()
            .unwrap();
        (output, started.elapsed().as_secs_f64())
    }

    /// What a command says, the seconds of processors that it took, and the most MiB that it had.
    fn spent(&self, words: &str) -> (Output, f64, u64) {
        let log = || fs::File::create(self.path("log")).unwrap();
        let mut child = Command::new(env!("CARGO_BIN_EXE_provision"))
            .args(words.split(' '))
            .current_dir(self.0.path())
            .env("HOME", self.path("home"))
            .env("XDG_STATE_HOME", self.path("state"))
            .env("XDG_CACHE_HOME", self.path("cache"))
            .stdout(Stdio::null())
            .stderr(log())
            .spawn()
            .unwrap();
        let (mut seconds, mut memory) = (0.0_f64, 0);
        let status = loop {
            let of =
                |name: &str| fs::read_to_string(format!("/proc/{}/{name}", child.id())).unwrap_or_default();
            let text = of("stat");
            let fields: Vec<&str> = text.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
            // Fields 14 and 15 of proc(5), in hundredths of a second.
            let ticks: Vec<f64> =
                fields.iter().skip(11).take(2).filter_map(|field| field.parse().ok()).collect();
            seconds = seconds.max(ticks.iter().sum::<f64>() / 100.0);
            let text = of("status");
            let most = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
            let most = most.and_then(|most| most.trim().trim_end_matches(" kB").parse::<u64>().ok());
            memory = memory.max(most.unwrap_or(0) >> 10);
            if seconds > 60.0 || memory > 2000 {
                child.kill().unwrap();
            }
            match child.try_wait().unwrap() {
                Some(status) => break status,
                None => std::thread::sleep(Duration::from_millis(5)),
            }
        };
        (Output { status, stdout: Vec::new(), stderr: fs::read(self.path("log")).unwrap() }, seconds, memory)
    }

    /// Names of the programs that the last command started.
    fn started(&self) -> BTreeSet<String> {
        let trace = fs::read_to_string(self.path("trace")).unwrap();
        // Of one that another process interrupted the end stands in another line.
        let done = trace.lines().filter(|line| line.ends_with("= 0") || line.ends_with("<unfinished ...>"));
        let path = done.filter_map(|line| line.split("execve(\"").nth(1)?.split('"').next());
        let names = path.map(|path| Path::new(path).file_name().unwrap().to_str().unwrap().to_owned());
        names.filter(|name| name != "provision").collect()
    }
}

fn told(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn words(number: usize) -> String {
    (0..number).map(|number| format!("a{number}")).collect::<Vec<_>>().join(",")
}

const MANY: &str = "groups: { g: { hosts: \"n[0-9999]\" } }";
const ONE: &str = "hosts: { n0: { address: 127.0.0.1, ssh: { port: 1 } } }";

/// The projects: what they are, and a part of what is said of them.
fn projects() -> Vec<(&'static str, &'static str, Project)> {
    let mut all = Vec::new();
    let mut add = |name, says, make: &dyn Fn(&Project)| {
        let project = Project::new();
        make(&project);
        all.push((name, says, project));
    };
    add("each playbook includes the next one twice", "come to more than 10000 tasks", &|project| {
        project.put("site.yaml", format!("cluster: c\nplaybooks: [./p0.yaml]\n{ONE}\n"));
        for number in 0..41 {
            let include = format!("- include: ./p{}.yaml\n", number + 1).repeat(2);
            project.put(&format!("p{number}.yaml"), format!("name: P\ntasks:\n{include}"));
        }
        project.put("p41.yaml", "name: P\ntasks: []\n");
    });
    add("one large task is included again and again", "come to more than", &|project| {
        project.inventory("groups: { g: { hosts: \"n[0-999]\" } }");
        project.put("p.yaml", format!("name: P\ntasks:\n{}", "- include: ./q.yaml\n".repeat(5000)));
        let text = "x".repeat(100_000);
        project
            .put("q.yaml", format!("name: Q\ntasks:\n- name: t\n  file: {{ path: /x, content: {text} }}\n"));
    });
    add("a folder that leads to itself", "p.yaml", &|project| {
        project.inventory(ONE);
        symlink(".", project.path("d")).unwrap();
        project.put("p.yaml", "name: P\ntasks:\n- include: ./d/p.yaml\n- include: ./d/d/p.yaml\n");
    });
    add("a loop over 100 000 items on 10 000 hosts", "tasks on all hosts", &|project| {
        project.inventory(MANY);
        let list = format!("params: {{ l: {{ type: list, default: [{}] }} }}", words(100_000));
        project
            .task(&list, "loop: \"{{ l }}\"\n  file: { path: \"/{{ item }}/{{ host.name }}\", content: x }");
    });
    add("a product of lists", "items, and 100000 are the most", &|project| {
        project.inventory(ONE);
        let lists: Vec<String> = (0..8).map(|number| format!("l{number}: [{}]", words(100))).collect();
        let task = format!(
            "loop: {{ product: {{ {} }} }}\n  file: {{ path: \"/{{{{ item.l0 }}}}\", content: x }}",
            lists.join(", ")
        );
        project.task("", &task);
    });
    for (name, key) in [("labels", "labels"), ("variables", "vars")] {
        add(name, "of all hosts come to more than", &|project| {
            let entries: Vec<String> = (0..10_000).map(|number| format!("v{number}: x")).collect();
            let host = format!("{{ {key}: {{ {} }} }}", entries.join(", "));
            project.inventory(&format!("hosts: {{ \"n[0-65535]\": {host} }}"));
            project.task("", "file: { path: /x, content: x }");
        });
    }
    for (name, brackets) in [("texts that grow", ["\"", "\""]), ("lists that grow", ["[", "]"])] {
        add(name, "8 MiB", &|project| {
            let mut vars = String::new();
            for number in 0..15 {
                let next = format!("{{{{ v{} }}}}", number + 1);
                let value = if brackets[0] == "[" {
                    vec![format!("\"{next}\""); 20].join(", ")
                } else {
                    next.repeat(20)
                };
                writeln!(vars, "  v{number}: {}{value}{}", brackets[0], brackets[1]).unwrap();
            }
            project.inventory(&format!("{ONE}\nvars:\n{vars}  v15: abcdefghij"));
            let params: Vec<String> = (0..16).map(|number| format!("v{number}: {{ type: any }}")).collect();
            let kind = if brackets[0] == "[" { "list" } else { "string" };
            let params = params.join(", ").replace("any", kind).replacen(
                &format!("v15: {{ type: {kind} }}"),
                "v15: { type: string }",
                1,
            );
            project.task(&format!("params: {{ {params} }}"), "file: { path: /x, content: \"{{ v0 }}\" }");
        });
    }
    add("a template that loops in loops", "longer than 8 MiB", &|project| {
        project.inventory(ONE);
        let list = format!("params: {{ l: {{ type: list, default: [{}] }} }}", words(10_000));
        project.task(&list, "template: { path: /x, src: ./t.tera }");
        let (begin, end) = ("{% for a in l %}", "{% endfor %}");
        project.put("t.tera", format!("{}x{}", begin.repeat(3), end.repeat(3)));
    });
    add("devices and pipes", "it is a", &|project| {
        project.put("site.yaml", format!("cluster: c\nplaybooks: [./p.yaml, ./pipe, /dev/zero]\n{ONE}\n"));
        project.task("", "copy: { src: /dev/zero, path: /x }");
        assert!(Command::new("mkfifo").arg(project.path("pipe")).status().unwrap().success());
    });
    add("names that a shell or ssh would obey", "cannot be an address", &|project| {
        let odd = ["-oProxyCommand=touch${IFS}made", "$(touch made)", "`touch made`", "a;touch made", "a b"];
        let hosts: Vec<String> = odd
            .iter()
            .enumerate()
            .map(|(number, name)| format!("n{number}: {{ address: '{name}' }}"))
            .collect();
        project.inventory(&format!(
            "ssh: {{ user: '-x', jump: ['-oProxyCommand=x'] }}\nhosts: {{ {} }}",
            hosts.join(", ")
        ));
        project.task("", "git: { url: \"ext::sh -c touch% made\", path: /x, tag: --upload-pack=x }");
    });
    for (name, file) in
        [("keys of logins", "home/.ssh/authorized_keys"), ("a pipe", "pipe"), ("text", "text")]
    {
        add(name, "is no file of host keys", &|project| {
            project.put("home/.ssh/authorized_keys", "no-pty ssh-ed25519 AAAA\n");
            project.put("text", "alias ll='ls -l'\n");
            assert!(Command::new("mkfifo").arg(project.path("pipe")).status().unwrap().success());
            symlink(project.path(file), project.path("known_hosts")).unwrap();
            project.inventory(&format!("ssh: {{ known_hosts: ./known_hosts }}\n{ONE}"));
            project.task("", "file: { path: /x, content: x }");
        });
    }
    all
}

#[test]
fn a_hostile_project_ends_soon_in_little_memory_and_reaches_nobody() {
    let limits = format!("ulimit -d {MEMORY};");
    let traced = Command::new("strace").arg("-V").output().is_ok();
    let commands = [
        "plan site.yaml",
        "inventory trust site.yaml --yes",
        "validate site.yaml",
        "bundle site.yaml -o out",
    ];
    let every = std::env::var_os("EVERY_CASE").is_some();
    for (place, (name, says, project)) in projects().into_iter().enumerate() {
        // All commands check a project by one function, but for host keys: each takes a second or two.
        let some = if every || place == 0 { &commands[..] } else { &commands[..2] };
        for command in some {
            let (output, seconds) = project.run(command, &limits);
            println!("{seconds:6.2} s  {command}: {name}");
            let text = told(&output);
            let text = text.get(..text.floor_char_boundary(2000)).unwrap();
            assert_eq!(output.status.code(), Some(3), "{name}: {command}: {text}");
            assert!(text.contains(says), "{name}: {command}: {text}");
            assert!(!project.path("out").exists() && !project.path("made").exists(), "{name}: {command}");
        }
        if traced {
            for command in ["plan site.yaml", "inventory trust site.yaml --yes"] {
                project.run(command, "");
                assert_eq!(project.started(), BTreeSet::new(), "{name}: {command}");
            }
        }
    }
}

/// Templates that ask for time or memory without end and need not write anything for it. `l` is a list of 10 000 words.
const ENDLESS: &[(&str, &str)] = &[
    ("empty loops", "{% for a in l %}{% for a in l %}{% for a in l %}{% endfor %}{% endfor %}{% endfor %}"),
    ("ranges", "{% for a in range(end=100000) %}{% for a in range(end=100000) %}{% endfor %}{% endfor %}"),
    ("filters in a loop", "{% for a in l %}{% set y = l | sort | unique | join(sep=\"x\") %}{% endfor %}"),
    (
        "searches in a loop",
        "{% for a in l %}{% for b in l %}{% if \"z\" in l %}x{% endif %}{% endfor %}{% endfor %}",
    ),
    ("texts that double", "{% set x = \"abcdefgh\" %}DOUBLE{% set x = x ~ x %}DOUBLE{{ x | length }}"),
    (
        "blocks that double",
        "{% set x = \"abcdefgh\" %}DOUBLE{% set x %}{{ x }}{{ x }}{% endset %}DOUBLE{{ x | length }}",
    ),
    (
        "texts in texts",
        "{% set x = \"aaaaaaaaaa\" %}DOUBLE{% set x = x | replace(from=\"a\", to=x) %}DOUBLE{{ x | length }}",
    ),
    ("lists in lists", "{% set x = [1] %}DOUBLE{% set x = [x, x, x, x] %}DOUBLE{{ x | json | length }}"),
    (
        "lists that are joined",
        "{% set x = l | join(sep=\"aaaaaaaaaa\") %}DOUBLE{% set x = l | join(sep=x) %}DOUBLE{{ x | length }}",
    ),
];

/// Tasks that ask for it in other places than a template.
fn other_endless() -> Vec<(&'static str, Project)> {
    let mut all = Vec::new();
    let mut add = |name, make: &dyn Fn(&Project)| {
        let project = Project::new();
        make(&project);
        all.push((name, project));
    };
    let list = format!("params: {{ l: {{ type: list, default: [{}] }} }}", words(10_000));
    add("the name of a task", &|project| {
        project.inventory(ONE);
        let name = ENDLESS[0].1;
        project.put(
            "p.yaml",
            format!("name: P\n{list}\ntasks:\n- name: \"{name}\"\n  file: {{ path: /x, content: x }}\n"),
        );
    });
    add("a condition", &|project| {
        project.inventory(ONE);
        let condition = vec!["'zz' in l"; 2000].join(" or ");
        project.task(&list, &format!("when: \"{condition}\"\n  file: {{ path: /x, content: x }}"));
    });
    add("large items of a loop", &|project| {
        project.inventory(ONE);
        let params = format!(
            "params: {{ l: {{ type: list, default: [{}] }}, big: {{ type: string, default: {} }} }}",
            words(3000),
            "x".repeat(1_000_000)
        );
        project.task(
            &params,
            "loop: \"{{ l }}\"\n  file: { path: \"/{{ item }}\", content: \"{{ big }}{{ item }}\" }",
        );
    });
    add("many tasks that take their time", &|project| {
        project.inventory(ONE);
        let mut tasks = String::new();
        for number in 0..1000 {
            writeln!(tasks, "- name: t{number}\n  template: {{ path: /x{number}, src: ./t.tera }}").unwrap();
        }
        project.put("p.yaml", format!("name: P\n{list}\ntasks:\n{tasks}"));
        project.put("t.tera", "{% for a in l %}{% for b in range(end=100) %}{% endfor %}{% endfor %}");
    });
    add("variables of many hosts", &|project| {
        let mut vars = String::new();
        for number in 0..5 {
            let next = format!("{{{{ v{} }}}}", number + 1).repeat(10);
            writeln!(vars, "  v{number}: \"{next}\"").unwrap();
        }
        project.inventory(&format!("{MANY}\nvars:\n{vars}  v5: \"{{{{ host.name }}}}\""));
        project.task("params: { v0: { type: string } }", "file: { path: /x, content: \"{{ v0 }}\" }");
    });
    add("addresses of hosts", &|project| {
        let empty = "{% for a in range(end=100000) %}{% endfor %}";
        project.inventory(&format!("hosts: {{ \"n[0-999]\": {{ address: \"{}x\" }} }}", empty.repeat(10)));
        project.task("", "file: { path: /x, content: x }");
    });
    all
}

/// The kernel refuses nothing here: what is taken is measured. The program is not optimised.
#[test]
fn what_asks_for_time_or_memory_without_end_is_refused() {
    let of_template = |text: &str| {
        let project = Project::new();
        project.inventory(ONE);
        let list = format!("params: {{ l: {{ type: list, default: [{}] }} }}", words(10_000));
        project.task(&list, "template: { path: /x, src: ./t.tera }");
        let parts: Vec<&str> = text.split("DOUBLE").collect();
        let text = match parts.as_slice() {
            [before, again, after] => format!("{before}{}{after}", again.repeat(40)),
            _ => text.to_owned(),
        };
        project.put("t.tera", text);
        project
    };
    let mut all: Vec<(&str, Project)> =
        ENDLESS.iter().map(|(name, text)| (*name, of_template(text))).collect();
    all.extend(other_endless());
    for (place, (name, project)) in all.iter().enumerate() {
        // All commands check a project by one function.
        let commands = ["validate site.yaml", "bundle site.yaml -o out", "plan site.yaml"];
        let some = if place == 0 { &commands[..] } else { &commands[..1] };
        for command in some {
            let (output, seconds, memory) = project.spent(command);
            println!("{seconds:6.2} s {memory:5} MiB  {command}: {name}");
            let text = told(&output);
            assert_eq!(output.status.code(), Some(3), "{name}: {command}: {text}");
            let says = ["this project takes more than", "longer than 8 MiB"];
            assert!(says.iter().any(|says| text.contains(says)), "{name}: {command}: {text}");
            assert!(seconds < 5.0 && memory < 300, "{name}: {command}: {seconds} s, {memory} MiB");
            assert!(!project.path("out").exists());
        }
    }
}

/// Many small files that are one: only so many bytes are kept of them.
#[test]
fn a_tree_of_many_files_takes_little_memory() {
    let project = Project::new();
    project.inventory(ONE);
    project.task("", "copy: { src: ./tree, path: /x }");
    project.put("tree/0", vec![b'x'; 1 << 20]);
    for number in 1..2000 {
        fs::hard_link(project.path("tree/0"), project.path(&format!("tree/{number}"))).unwrap();
    }
    let (output, seconds) = project.run("validate site.yaml", &format!("ulimit -d {MEMORY};"));
    println!("{seconds:6.2} s");
    assert!(output.status.success(), "{}", told(&output));
}

/// Each word that names a program is in it, and the hosts answer to nobody.
#[test]
fn a_command_starts_no_program_but_those_that_it_may() {
    if Command::new("strace").arg("-V").output().is_err() {
        return println!("skipped: no strace");
    }
    let project = Project::new();
    let list = r#"{"hosts": {"n1": {"address": "127.0.0.2"}}}"#;
    for (name, says) in [("secret", "word"), ("list", list)] {
        let text = format!("#!/bin/sh\necho '{says}'\n");
        project.put(&format!("bin/{name}"), text);
        assert!(
            Command::new("chmod")
                .arg("755")
                .arg(project.path(&format!("bin/{name}")))
                .status()
                .unwrap()
                .success()
        );
    }
    project.inventory(&format!(
        "secrets: {{ s: {{ command: [secret] }} }}\nhosts_from: [{{ run: [list] }}]\n\
         ssh: {{ known_hosts: ./known_hosts, port: 1, become: {{ method: sudo, password: {{ secret: s }} }} }}\n{ONE}"
    ));
    project.task("", "command: { script: \"touch made\", env: { A: \"{{ secrets.s }}\" } }");
    project.put("known_hosts", "");
    for (command, allowed) in ALLOWED {
        let (output, _) = project.run(command, "");
        let started = project.started();
        // The stand-ins are scripts, and `timeout` is the test's.
        let shells = ["sh", "dash", "bash", "timeout"];
        let own: Vec<&String> = started.iter().filter(|name| !shells.contains(&name.as_str())).collect();
        println!("{command}: {own:?}");
        for name in &own {
            assert!(allowed.contains(&name.as_str()), "{command} starts {name}: {}", told(&output));
        }
        // Nobody shows a key that would be looked for.
        let usual = allowed.iter().filter(|name| **name != "ssh-keygen");
        for name in usual {
            assert!(started.contains(*name), "{command} does not start {name}: {}", told(&output));
        }
        assert!(!project.path("made").exists(), "{command}");
    }
}
