//! Nothing that others can change runs as root: a plain account owns a program in every place that a script of ours
//! names, and each says as whom it ran. As root, in a mount namespace.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test")]
#![allow(clippy::disallowed_methods, reason = "tests start shells and programs")]
#![allow(clippy::print_stdout, reason = "a test says what it could not try")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Read as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use crate::support::{self, Nothing, SHELLS, converge, read, some_shells};
use provision::facts::base::TABLE;
use provision::facts::software::SoftwareQuery;
use provision::facts::{Answer, Facts, Query, base, batch};
use provision::resources::question as query;
use provision::transport::{Frame, Local, Part, PartEnd, Script, Transport as _};
use regex::Regex;

/// The plain account that owns what is planted.
const OTHER: u32 = 4711;
/// Says that the test runs in its namespace.
const INSIDE: &str = "PROVISION_TEST_INSIDE";
/// The file in which programs that ran say so.
const RAN: &str = "/mnt/ran";

/// Says who runs it, and looks like the tools that answer with a version.
const MARKER: &str = "#!/bin/sh
while read -r key real _; do
    [ \"$key\" != Uid: ] || printf '%s %s\\n' \"$real\" \"$0\" >>/mnt/ran
done </proc/self/status
echo 'mpirun (Open MPI) 4.1.3, release 12.4, V12.4.131'
";

/// Places in which nothing is planted, and why.
const NOT_PLANTED: &[(&str, &str)] = &[
    ("/sys", "the kernel's"),
    ("/proc", "the kernel's"),
    ("/dev", "devices are read and never run"),
    ("/boot", "files of the boot loader, which only root has; they are read"),
    ("/lib/modules", "modules, which the kernel loads and root alone installs"),
    ("/usr/lib/modules", "likewise"),
    ("/etc", "what tools of the system are told; below it, what shells run is planted one by one"),
    ("/run", "what runs is root's; no program is looked for in it"),
    ("/var", "data; no program is looked for in it"),
    ("/tmp", "names that nobody knows before"),
    ("/lib/systemd", "unit files, which systemd reads"),
    ("/usr/lib/systemd", "likewise"),
    ("/usr/local/lib/systemd", "likewise"),
    ("/usr/lib/netplan", "text that netplan reads"),
    ("/usr/lib/modprobe.d", "text that modprobe reads"),
    ("/lib/modprobe.d", "likewise"),
    ("/usr/lib/os-release", "text; /etc/os-release is planted"),
    ("/bin/sh", "the shell that runs the scripts: whoever can change that is root already"),
    ("/bin/bash", "likewise"),
    ("/var/cache", "files that are fetched"),
    ("/part", "a word of the kernel's"),
];

/// Directories at the top of hosts.
const TOPS: &[&str] = &[
    "bin", "boot", "data", "dev", "etc", "home", "lib", "lib64", "media", "mnt", "opt", "proc", "root",
    "run", "sbin", "scratch", "snap", "srv", "sys", "tmp", "usr", "var",
];

/// The scripts by their paths, without comments: these name places that nobody looks into.
fn scripts() -> Vec<(String, String)> {
    let code = |path: PathBuf| {
        let text = fs::read_to_string(&path).unwrap();
        let lines = text.lines().filter(|line| !line.trim_start().starts_with('#'));
        (path.display().to_string(), lines.collect::<Vec<_>>().join("\n"))
    };
    support::folders::scripts().into_iter().map(code).collect()
}

/// Every absolute path that a script names, a variable or pattern in it as `x`.
fn places() -> BTreeMap<String, String> {
    let path = Regex::new(r#"(?:^|[\s"'=(:;{])((?:/[A-Za-z0-9_.*?$"{}\[\]+-]+)+)"#).unwrap();
    let variable = Regex::new(r#""?\$\{?[A-Za-z0-9_]+[^/]*"#).unwrap();
    let mut found = BTreeMap::new();
    for (script, text) in scripts() {
        for place in path.captures_iter(&text) {
            let place = variable.replace_all(&place[1], "x").replace(['*', '?'], "x");
            let place =
                place.trim_end_matches(['"', '}', '{', '.', ']']).replace(['"', '[', ']', '{', '}'], "");
            // Others are what follows a variable.
            let top = place.split('/').nth(1).unwrap_or_default();
            if !TOPS.contains(&top) {
                continue;
            }
            found.entry(place).or_insert_with(|| script.clone());
        }
    }
    found
}

fn planted(place: &str) -> bool {
    let below =
        |root: &str| place == root || place.strip_prefix(root).is_some_and(|rest| rest.starts_with('/'));
    !NOT_PLANTED.iter().any(|(root, _)| below(root))
}

/// Roots of what is laid over, so that all of it is gone with the namespace.
const ROOTS: [&str; 4] = ["/usr", "/opt", "/etc", "/home"];

#[test]
fn every_place_that_a_script_names_is_planted_or_says_why_not() {
    let unknown: Vec<_> = places()
        .into_iter()
        .filter(|(place, _)| planted(place))
        .filter(|(place, _)| {
            let outer = ["/sbin", "/bin", "/lib", "/lib64"].iter().chain(&ROOTS);
            !outer.clone().any(|root| place == root || place.starts_with(&format!("{root}/")))
        })
        .collect();
    assert!(unknown.is_empty(), "add these to NOT_PLANTED with a reason, or to ROOTS: {unknown:#?}");
}

/// All words of the scripts: whatever is a command is one of them.
fn words() -> BTreeSet<String> {
    let word = Regex::new(r"[A-Za-z][A-Za-z0-9_.+-]+").unwrap();
    let texts = scripts();
    let words = texts.iter().flat_map(|(_, text)| word.find_iter(text)).map(|word| word.as_str().to_owned());
    words.filter(|word| !word.ends_with(['.', '-'])).collect()
}

/// Words that are commands for sure: somebody asks whether they are there, or they are here.
fn commands() -> BTreeSet<String> {
    let asked =
        Regex::new(r#"(?:command -v|ask [0-9]+|sift '[^']*' [0-9]+|for tool in) "?([a-z][A-Za-z0-9_.+-]+)"#)
            .unwrap();
    let texts = scripts();
    let asked = texts.iter().flat_map(|(_, text)| asked.captures_iter(text)).map(|found| found[1].to_owned());
    let here =
        |word: &String| ["/usr/bin", "/usr/sbin"].iter().any(|place| Path::new(place).join(word).is_file());
    asked.chain(words().into_iter().filter(here)).collect()
}

fn owned(path: &Path) {
    chown(path, Some(OTHER), Some(OTHER)).unwrap();
}

fn program(path: &Path, text: &str) {
    fs::write(path, text).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    owned(path);
}

/// Puts a program of the account at a place, and gives it the directories that are not there yet.
fn plant(place: &str) {
    let path = PathBuf::from(place);
    let missing: Vec<PathBuf> =
        path.ancestors().skip(1).take_while(|above| !above.exists()).map(Path::to_owned).collect();
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    for directory in &missing {
        owned(directory);
    }
    if !path.exists() {
        program(&path, MARKER);
    }
}

/// The users and programs since this was asked last.
fn ran() -> Vec<String> {
    let text = fs::read_to_string(RAN).unwrap();
    fs::write(RAN, "").unwrap();
    text.lines().map(str::to_owned).collect()
}

fn sh(text: &str) -> bool {
    let path = "/usr/sbin:/usr/bin:/sbin:/bin";
    Command::new("/bin/sh").args(["-ec", text]).env("PATH", path).status().unwrap().success()
}

/// Starts test `name` again in a mount namespace, where this is root. `false` in there.
fn outside(name: &str) -> bool {
    if !sh("[ \"$(id -u)\" = 0 ]") {
        println!("skipped: this is not root");
        return true;
    }
    if std::env::var_os(INSIDE).is_some() {
        assert!(sh("mount -t tmpfs -o mode=755 none /mnt; mount -t tmpfs -o mode=755 none /run
            for root in usr opt etc home; do
                mkdir -p /mnt/upper/$root /mnt/work/$root /$root
                mount -t overlay overlay -o lowerdir=/$root,upperdir=/mnt/upper/$root,workdir=/mnt/work/$root /$root
            done
            echo 'mallory:x:4711:4711::/home/mallory:/bin/sh' >>/etc/passwd
            echo 'mallory:x:4711:' >>/etc/group
            echo 'mallory:*:19000:0:99999:7:::' >>/etc/shadow
            mkdir /mnt/root
            install -d -o 4711 -g 4711 /home/mallory
            : >/mnt/ran; chmod 666 /mnt/ran"));
        return false;
    }
    let me = std::env::current_exe().unwrap();
    let output = Command::new("unshare")
        .arg("-m")
        .arg(me)
        .args(["--exact", &format!("rooted::{name}"), "--nocapture"])
        .env(INSIDE, "1")
        .env("HOME", "/mnt/root")
        .env("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin")
        .output();
    match output {
        Ok(output) => {
            let said = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
            if said.contains("unshare: ") {
                println!("skipped: {said}");
            } else {
                assert!(output.status.success(), "{said}");
            }
        }
        Err(error) => println!("skipped: {error}"),
    }
    true
}

/// Every question of the cases, every basic fact, and what stands in no case.
fn questions() -> Vec<Query> {
    let mut found: Vec<Query> = TABLE.iter().map(|fact| base(fact.name).unwrap()).collect();
    for kind in support::folders::question_cases().into_values() {
        for case in support::folders::children(&kind) {
            let text = fs::read_to_string(case.join("queries")).unwrap_or_default();
            found.extend(text.lines().filter_map(query));
        }
    }
    for name in [
        "log",
        "rdma",
        "system",
        "software",
        "containers",
        "fabric",
        "upkeep",
        "next_boot",
        "nvidia",
        "view",
        "login",
    ] {
        found.extend(query(name));
    }
    found.push(SoftwareQuery.into());
    found.push(query("checkout /home/mallory/repo").unwrap());
    found.push(
        provision::facts::build::BuildQuery {
            prefix: "/opt/x".to_owned(),
            name: "x".to_owned(),
            directory: String::new(),
            source: "/home/mallory/source".to_owned(),
            compiler: "/home/mallory/bin/gcc".to_owned(),
            cuda: "/usr/local/cuda".to_owned(),
            user: None,
        }
        .into(),
    );
    found.sort();
    found.dedup();
    found
}

/// Asks over a real host shell, as a run does.
fn ask(path: &str) -> Facts {
    let here = crate::sshd::host("here", provision::inventory::Ssh::default());
    let queries: BTreeSet<Query> = questions().into_iter().collect();
    let mut facts = Facts::default();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let mut remote = Local::default().open(&here, Duration::from_mins(2)).await.unwrap();
        for part in batch(&queries, Duration::from_mins(2)) {
            let mut end = None;
            let mut kept = |ended: PartEnd| end = Some(ended);
            let frame = Frame { parts: vec![part.part.clone()], ..Frame::default() };
            remote
                .run(&frame, &mut kept)
                .await
                .unwrap_or_else(|error| panic!("{path} {}: {error:?}", part.part.name));
            facts.absorb(&part, &end.unwrap());
        }
        remote.close().await;
    });
    facts
}

/// Looks at this host as `provision compare` does; what it printed.
fn look() -> String {
    let here = crate::sshd::host("here", provision::inventory::Ssh::default());
    let words = provision::compare::look("salt");
    let script = Script::new("\"$@\"").args(words.iter().map(String::as_str));
    let (deadline, limit) = (Duration::from_mins(2), 4 << 20);
    let part = Part { name: "look".to_owned(), script, deadline, limit };
    let mut end = None;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let mut remote = Local::default().open(&here, deadline).await.unwrap();
        let frame = Frame { parts: vec![part], ..Frame::default() };
        remote.run(&frame, &mut |ended: PartEnd| end = Some(ended)).await.unwrap();
        remote.close().await;
    });
    String::from_utf8_lossy(&end.unwrap().output).into_owned()
}

fn of_root(ran: &[String]) -> Vec<&String> {
    ran.iter().filter(|line| line.starts_with("0 ")).collect()
}

#[test]
fn programs_of_a_plain_account_run_as_root_nowhere() {
    if outside("programs_of_a_plain_account_run_as_root_nowhere") {
        return;
    }
    for place in [
        "/home/mallory/bin/gcc",
        "/home/mallory/source/configure",
        "/home/mallory/.profile",
        "/etc/profile.d/x.sh",
    ] {
        plant(place);
    }
    fs::remove_file("/etc/os-release").unwrap();
    program(Path::new("/etc/os-release"), MARKER);
    assert!(sh("cd /home/mallory && su -s /bin/sh mallory -c 'git init -q repo && cd repo && git config user.email a@b &&
        git config user.name a && echo a >a && git add a && git commit -qm a && git config core.fsmonitor /home/mallory/bin/gcc'
        git config --global --add safe.directory '*'"));
    for shell in SHELLS {
        for (task, why) in [
            ("git: { path: /home/mallory/repo, url: \"file:///nowhere\", tag: v1 }", "belongs to"),
            (
                "build: { system: autotools, source: /home/mallory/source, prefix: /srv/b, directory: /mnt/made, space: 1 }",
                "belongs to mallory",
            ),
        ] {
            let error = converge(shell, &*read(&Nothing, task)).unwrap_err();
            assert!(error.contains(why), "{shell:?}: {error}");
            let told = ran();
            assert_eq!(of_root(&told), Vec::<&String>::new(), "{shell:?} {task}");
        }
    }
    for place in places().keys().filter(|place| planted(place)) {
        plant(place);
    }
    for name in commands() {
        plant(&format!("/usr/local/bin/{name}"));
    }
    // The marker works, and each place is one that can be run.
    assert!(sh("/opt/x/bin/mpirun >/dev/null"));
    assert_eq!(ran(), ["0 /opt/x/bin/mpirun"]);
    let facts = ask("planted");
    let told = ran();
    assert_eq!(of_root(&told), Vec::<&String>::new());
    assert!(told.contains(&format!("{OTHER} /opt/x/bin/mpirun")), "nobody looked: {told:?}");
    let seen = look();
    assert!(seen.contains("=== end"), "{seen}");
    assert_eq!(of_root(&ran()), Vec::<&String>::new());
    // A program that was not run is never good.
    let Some(Answer::Known(software)) = facts.find(&SoftwareQuery.into()) else { panic!("no answer") };
    let software = software.json();
    assert!(software["files"].get("Err").is_some(), "{software:#}");
    let Some(Answer::Unknown(reason)) = facts.find(&query("checkout /home/mallory/repo").unwrap()) else {
        panic!()
    };
    assert!(reason.contains("git is not run here: /home/mallory belongs to mallory"), "{reason}");
    health("prolog");
}

/// The same by the whole program, as a prolog of Slurm runs it.
fn health(what: &str) {
    fs::create_dir_all("/mnt/site").unwrap();
    fs::write("/mnt/site/site.yaml", "cluster: c\nhosts: { here: {} }\n").unwrap();
    let run = |words: &[&str]| {
        Command::new(env!("CARGO_BIN_EXE_provision"))
            .args(words)
            .current_dir("/mnt/site")
            .env("SLURM_SCRIPT_CONTEXT", "prolog_slurmd")
            .env("PATH", "/usr/local/sbin:/usr/local/bin:/opt/x/bin:/usr/sbin:/usr/bin")
            .env("XDG_STATE_HOME", "/mnt/state")
            .env("XDG_CACHE_HOME", "/mnt/cache")
            .output()
            .unwrap()
    };
    let made = run(&["bundle", "site.yaml", "-o", "site.bundle"]);
    assert!(made.status.success(), "{made:?}");
    let ended = run(&["verify", "--bundle", "site.bundle", "--here", "--as", "here"]);
    assert!(String::from_utf8_lossy(&ended.stdout).contains("here"), "{ended:?}");
    let told = ran();
    assert_eq!(of_root(&told), Vec::<&String>::new(), "{what}");
    assert!(told.contains(&format!("{OTHER} /opt/x/bin/mpirun")), "{what}: nobody looked: {told:?}");
}

/// Directories of PATH that are the account's, or that a group may write.
#[test]
fn no_directory_of_others_is_in_the_path_of_root() {
    if outside("no_directory_of_others_is_in_the_path_of_root") {
        return;
    }
    for name in words() {
        plant(&format!("/usr/local/sbin/{name}"));
    }
    for name in commands() {
        plant(&format!("/usr/local/bin/{name}"));
    }
    plant("/opt/x/bin/mpirun");
    owned(Path::new("/usr/local/sbin"));
    assert!(sh("chgrp 4711 /usr/local/bin; chmod 2775 /usr/local/bin"));
    let old = std::env::var("PATH").unwrap();
    ask(&old);
    health("directories");
}

/// Files of root that an account can change all the same: by an access list, and by a directory on a link's way.
#[test]
fn links_and_access_lists_of_others_are_seen() {
    if outside("links_and_access_lists_of_others_are_seen") {
        return;
    }
    plant("/opt/v2/theirs");
    for (link, name) in [("/usr/bin/ib_write_bw", "a"), ("/usr/local/bin/chronyc", "b")] {
        let target = format!("/opt/v2/{name}");
        program(Path::new(&target), MARKER);
        chown(&target, Some(0), Some(0)).unwrap();
        assert!(sh(&format!("ln -sfn {target} {link}")));
    }
    program(Path::new("/usr/local/bin/getent"), MARKER);
    chown("/usr/local/bin/getent", Some(0), Some(0)).unwrap();
    let listed = sh("setfacl -m u:4711:rwx /usr/local/bin/getent");
    assert!(listed, "setfacl of the package acl is needed");
    assert!(sh(
        "ib_write_bw >/dev/null; /usr/local/bin/chronyc >/dev/null; /usr/local/bin/getent >/dev/null"
    ));
    assert_eq!(ran().len(), 3);
    ask("links");
    assert_eq!(of_root(&ran()), Vec::<&String>::new());
}

/// Scripts of root whose first line names a program of an account: by itself, by way of `env`, and of another script.
#[test]
fn scripts_of_root_are_not_run_by_interpreters_of_others() {
    if outside("scripts_of_root_are_not_run_by_interpreters_of_others") {
        return;
    }
    let script = |place: &str, first: &str| {
        fs::create_dir_all(Path::new(place).parent().unwrap()).unwrap();
        drop(fs::remove_file(place));
        program(Path::new(place), &format!("{first}\necho 4.1.3\n"));
        chown(place, Some(0), Some(0)).unwrap();
    };
    plant("/opt/py/bin/python");
    script("/usr/local/bin/inner", "#!/opt/py/bin/python");
    let places = [
        ("/usr/local/bin/getent", "#!/opt/py/bin/python"),
        ("/usr/local/sbin/chronyc", "#! /usr/bin/env -S /opt/py/bin/python -u"),
        ("/usr/bin/ib_write_bw", "#!/usr/local/bin/inner"),
        ("/opt/v4/bin/mpirun", "#!/opt/py/bin/python"),
    ];
    for (place, first) in places {
        script(place, first);
        // The place is one that runs, and the program is started for it.
        assert!(sh(&format!("{place} >/dev/null")));
        assert_eq!(ran(), ["0 /opt/py/bin/python"], "{place}");
    }
    // What a login of root reads names a file of an account, and the loader is asked in a login.
    plant("/home/mallory/env.sh");
    script("/etc/profile.d/zz.sh", ". /home/mallory/env.sh");
    script("/opt/v4/bin/all_reduce_perf", "#!/bin/sh");
    assert!(sh("su - root -s /bin/sh -c : >/dev/null"));
    assert_eq!(of_root(&ran()).len(), 1);
    ask("interpreters");
    let told = ran();
    assert_eq!(of_root(&told), Vec::<&String>::new());
    assert!(told.contains(&"65534 sh".to_owned()), "nobody asked the loader: {told:?}");
    assert!(told.contains(&format!("{OTHER} /opt/py/bin/python")), "nobody asked for the version: {told:?}");
}

/// Output and errors of shell text.
fn said_by(shell: &[&str], text: &str) -> String {
    let output = Command::new(shell[0]).args(&shell[1..]).args(["-c", text]).output().unwrap();
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

/// The same with the PATH that root uses here.
fn with_path_of_root(shell: &[&str], text: &str) -> String {
    let functions =
        concat!(include_str!("../../src/shell/rooted.sh"), include_str!("../../src/transport/root_path.sh"));
    said_by(shell, &format!("{functions}\nPATH=$(root_path 2>/dev/null); {text}"))
}

/// First lines that lead to an account's program in ways that a look at words with a slash at their beginning does not see,
/// and files whose text says of others what is not so.
#[test]
fn first_lines_are_not_believed() {
    if outside("first_lines_are_not_believed") {
        return;
    }
    plant("/opt/py/bin/python");
    let blanks = format!("#!/usr/bin/env -S{}/opt/py/bin/python", " ".repeat(150));
    let plain = "#!/opt/py/bin/python";
    let lines = [
        plain,
        "#!/usr/bin/env -S/opt/py/bin/python",
        "#!/usr/bin/env --split-string=/opt/py/bin/python",
        "#!/usr/bin/env -S PATH=/opt/py/bin:/bin python",
        "#!/usr/bin/env -S \"/opt/py/bin/python\"",
        "#!/usr/bin/env -S A=b:/opt /opt/py/bin/python",
        "#!/usr/bin/env -S -C/opt/py/bin ./python",
        &blanks,
    ];
    let file = |place: &str, text: &str, owner: u32| {
        program(Path::new(place), text);
        chown(place, Some(owner), Some(0)).unwrap();
    };
    for line in lines {
        file("/usr/local/bin/getent", &format!("{line}\n"), 0);
        assert!(sh("/usr/local/bin/getent >/dev/null"));
        assert_eq!(of_root(&ran()).len(), 1, "{line} is one that runs");
        for shell in some_shells() {
            let said = with_path_of_root(shell, "getent passwd root");
            assert_eq!(of_root(&ran()), Vec::<&String>::new(), "{shell:?} {line}: {said}");
            assert!(said.starts_with("root:"), "another of its name: {shell:?} {line}: {said}");
        }
    }
    // Links of root's that lead to an account's directory by way of others.
    assert!(sh(
        "mkdir -p /opt/m /opt/tools /usr/library /usr/local/lib /etc/alternatives; cp /bin/true /opt/m/getent; mkdir -m 1777 /opt/sticky
        ln -sfn /opt/py /usr/local/lib/nm; ln -sfn /opt/py /usr/lib/nm; ln -sfn /opt/m/none /opt/tools/none; chown 4711 /opt/m /usr/library"
    ));
    for links in [
        "ln -s step /usr/local/bin/getent; ln -s /opt/m/getent /usr/local/bin/step",
        "ln -s ../lib/nm/bin/python /usr/local/bin/getent",
        "ln -s /etc/alternatives/other /usr/local/bin/getent; ln -sfn /opt/m/getent /etc/alternatives/other",
        "ln -s /opt/m/later /usr/local/bin/getent",
        // By way of another directory of the PATH, of places that the system has, and of what is not there yet.
        "ln -s /usr/bin/step /usr/local/bin/getent; ln -sfn /opt/m/getent /usr/bin/step",
        "ln -s /usr/lib/nm/bin/python /usr/local/bin/getent",
        "ln -s /etc/alternatives/other /usr/local/bin/getent; ln -sfn /usr/lib/nm/bin/python /etc/alternatives/other",
        "ln -s /usr/library/later /usr/local/bin/getent",
        "ln -s /opt/sticky/later /usr/local/bin/getent",
        "ln -sfn /opt/m/later /opt/tools/step; ln -s /opt/tools/step /usr/local/bin/getent",
        "ln -s /opt/tools/none/getent /usr/local/bin/getent",
    ] {
        assert!(sh(&format!("rm -f /usr/local/bin/* /opt/m/later /usr/library/* /opt/sticky/*; {links}")));
        for shell in some_shells() {
            let said = with_path_of_root(
                shell,
                "cp /opt/py/bin/python /opt/m/later; cp /opt/py/bin/python /opt/m/getent; cp /opt/py/bin/python /usr/library/later
                cp /opt/py/bin/python /opt/sticky/later; mkdir /opt/m/none; cp /opt/py/bin/python /opt/m/none/getent; getent passwd root",
            );
            assert_eq!(of_root(&ran()), Vec::<&String>::new(), "{shell:?} {links}: {said}");
            assert!(said.starts_with("root:"), "{shell:?} {links}: {said}");
            assert!(sh(
                "rm -rf /opt/m/later /opt/m/none /usr/library/* /opt/sticky/*; cp /bin/true /opt/m/getent"
            ));
        }
    }
    assert!(sh("rm -f /usr/local/bin/*"));
    // Nobody waits for the end of an account's first line.
    file("/usr/local/bin/own", &format!("#!{}", "x".repeat(1 << 20)), OTHER);
    for shell in some_shells() {
        let limited = ["timeout", "20"].iter().chain(shell.iter()).copied().collect::<Vec<_>>();
        let said = with_path_of_root(&limited, "getent passwd root");
        assert!(said.starts_with("root:"), "{shell:?}: {said}");
    }
    assert!(sh("rm -f /usr/local/bin/*"));
    // Text of a file, of root's and of an account's: other first lines are not judged by it.
    for owner in [0, OTHER] {
        for text in [format!("#!/bin/sh\n{plain}\n"), format!("#!/bin/sh\n==> /usr/bin/ldd <==\n{plain}\n")] {
            file("/usr/local/bin/getent", &format!("{plain}\n"), 0);
            file("/usr/local/sbin/own", &text, owner);
            for shell in some_shells() {
                let said = with_path_of_root(shell, "getent passwd root");
                assert_eq!(of_root(&ran()), Vec::<&String>::new(), "{shell:?} {owner} {text}: {said}");
            }
        }
        // Nor is a program of root refused for it.
        file("/usr/local/bin/getent", "#!/bin/sh -e\necho root:\n", 0);
        file("/usr/local/sbin/own", &format!("{plain}\n#!/bin/sh -e\n"), owner);
        for shell in some_shells() {
            let said = with_path_of_root(shell, "getent");
            assert_eq!(said, "root:\n", "{shell:?} {owner}");
        }
    }
}

/// A login asks what an earlier one kept of the first lines, and is not led astray by what has changed since.
#[test]
fn first_lines_that_were_kept_are_those_of_the_same_files() {
    if outside("first_lines_that_were_kept_are_those_of_the_same_files") {
        return;
    }
    plant("/opt/py/bin/python");
    // A line is read from the first program that has it, which is not the one that changes.
    // A link in a circle makes find fail, and nothing is kept.
    let good = "rm -rf /usr/bin/X11 /usr/local/sbin/* /usr/local/bin/* /opt/tree* /opt/own; mkdir -p /opt/tree1 /opt/tree2 /opt/own; cp /bin/sh /opt/own/sh; printf '#!/bin/sh\\n' >/usr/local/sbin/first; chmod 755 /usr/local/sbin/first
        for at in /usr/local/bin/getent /opt/tree1/getent; do printf '#!/bin/sh\\n#xxxxxxxxxxxxxx\\necho root:\\n' >$at; chmod 755 $at; done
        printf '#!/opt/py/bin/python\\n#xxxx\\necho root:\\n' >/opt/bad; cp /opt/bad /opt/tree2/getent; chmod 755 /opt/bad /opt/tree2/getent; ln -sfn tree1 /opt/tree";
    for (first, then) in [
        (
            "",
            "touch -r /usr/local/bin/getent /opt/was; cat /opt/bad >/usr/local/bin/getent; touch -r /opt/was /usr/local/bin/getent",
        ),
        ("", "touch -r /usr/local/bin/getent /opt/bad; mv -f /opt/bad /usr/local/bin/getent"),
        ("", "touch -r /usr/local/bin/getent /opt/bad; mount --bind /opt/bad /usr/local/bin/getent"),
        (
            "ln -sfn /opt/tree/getent /usr/local/bin/getent",
            "touch -r /opt/tree1/getent /opt/tree2/getent; ln -sfn tree2 /opt/tree",
        ),
        (
            "",
            "cp -a /usr/local/bin /opt/other; cp /opt/bad /opt/other/getent; mount --bind /opt/other /usr/local/bin",
        ),
        (
            "printf '#!/opt/own/sh\\necho root:\\n' >/usr/local/bin/getent",
            "cp -f /opt/py/bin/python /opt/own/sh; chown 4711 /opt/own/sh",
        ),
        // Others can change what was kept, or the way to it.
        ("", "cat /opt/bad >/usr/local/bin/getent; keep; chown 4711 /run/provision"),
        ("", "cat /opt/bad >/usr/local/bin/getent; keep; chmod 777 /run/provision"),
        // What was kept is cut, or gone.
        ("", "cat /opt/bad >/usr/local/bin/getent; keep; sed -i 1q /run/provision/first-lines.1"),
        ("", "cat /opt/bad >/usr/local/bin/getent; keep; sed -i '$d' /run/provision/first-lines.1"),
        ("", "cat /opt/bad >/usr/local/bin/getent; : >/run/provision/first-lines.1"),
        ("", "cat /opt/bad >/usr/local/bin/getent; keep; mv /run/provision /run/x; ln -s x /run/provision"),
    ] {
        // The find of busybox prints no times, so nothing is kept there.
        for shell in [&["dash"], &["bash"]] {
            assert!(sh(&format!(
                "umount /usr/local/bin/getent 2>/dev/null || :; umount /usr/local/bin 2>/dev/null || :; rm -rf /run/* /opt/other; mkdir -m 700 /run/provision; {good}; {first}"
            )));
            for _ in 0..2 {
                let said = with_path_of_root(shell, "getent passwd root");
                assert_eq!(said, "root:\n", "{shell:?} {first}");
            }
            assert!(
                sh("grep -q '^ended 0$' /run/provision/first-lines.1"),
                "{shell:?} {first}: nothing was kept"
            );
            // As a look would have left it that found good what is there now.
            let keep = "keep() { sum=$(find -L /usr/local/sbin /usr/local/bin /usr/sbin /usr/bin -maxdepth 1 -type f -printf '%D %i %s %C@ %p\\n' 2>/dev/null | sha256sum)
                sed -i \"1s/.*/$sum/\" /run/provision/first-lines.1; }";
            assert!(sh(&format!("{keep}; {then}")), "{then}");
            assert!(sh("/usr/local/bin/getent >/dev/null"), "{then}");
            assert_eq!(of_root(&ran()).len(), 1, "{then} is one that runs");
            let said = with_path_of_root(shell, "getent passwd root");
            assert_eq!(of_root(&ran()), Vec::<&String>::new(), "{shell:?} {then}: {said}");
            assert!(said.starts_with("root:"), "another of its name: {shell:?} {then}: {said}");
        }
    }
}

/// Resources refuse files of root that lead to those of an account, and run nothing of them.
#[test]
fn nothing_of_an_account_is_run_by_way_of_what_root_has() {
    if outside("nothing_of_an_account_is_run_by_way_of_what_root_has") {
        return;
    }
    plant("/home/mallory/bin/monitor");
    assert!(sh("export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b
        export GIT_CONFIG_GLOBAL=/dev/null
        git init -q /opt/served; cd /opt/served; echo '* filter=f' >.gitattributes; mkdir data; echo a >data/a
        git add .; git commit -qm one; git tag v1; echo b >data/a; git commit -qam two; git tag v2
        echo '[core]
            fsmonitor = /home/mallory/bin/monitor' >/home/mallory/inc
        chown 4711 /home/mallory/inc
        install -d -o 4711 /opt/theirs"));
    let program = "/home/mallory/bin/monitor";
    let git = "git: { path: /opt/co, url: \"file:///opt/served\", tag: v2 }";
    let pip = "pip: { venv: /opt/venv, packages: [six] }";
    let wheels = "pip: { venv: /opt/venv, packages: [six], wheels: /opt/wheels }";
    let build =
        "build: { system: make, source: /opt/source, prefix: /opt/made, directory: /mnt/made, space: 1 }";
    let packed =
        "build: { system: make, source: /opt/source.tar, prefix: /opt/made, directory: /mnt/made, space: 1 }";
    let compiler = "build: { system: make, source: /opt/source, prefix: /opt/made, directory: /mnt/made, space: 1, compiler: /home/mallory/bin/monitor, cuda: /opt/cuda }";
    let new_pip = "pip: { venv: /opt/venv, packages: [six], python: /opt/py/bin/python3 }";
    let libraries = "library_path: { name: x, path: /opt/x/lib }";
    let hook = format!("ln -s {program} /opt/co/.git/hooks/post-checkout");
    let own_hook =
        format!("cp {program} /opt/co/.git/hooks/post-checkout; chown 4711 /opt/co/.git/hooks/post-checkout");
    let hooks = "git -C /opt/co config core.hooksPath /home/mallory/bin; cp /home/mallory/bin/monitor /home/mallory/bin/post-checkout";
    let filter = format!("git -C /opt/co config filter.f.smudge {program}");
    let common = "cd /opt/co/.git; mkdir /opt/theirs/c; cp -a objects refs HEAD config /opt/theirs/c; chown -R 4711 /opt/theirs/c
        git config -f /opt/theirs/c/config core.fsmonitor /home/mallory/bin/monitor; rm -rf objects refs config; echo /opt/theirs/c >commondir";
    let git_below = "git: { path: /opt/shared/co, url: \"file:///opt/served\", tag: v2 }";
    // A repository of mallory's in the directory that the checkout is in.
    let above_of = |cut: &str| {
        format!(
            "git config --global safe.directory '*'; rm -rf /opt/shared; mkdir -m 1777 /opt/shared; cd /opt/shared
            cp -r /opt/served/.git /opt/served/data /opt/served/.gitattributes .; git config filter.f.smudge {program}; git config filter.f.clean {program}
            echo other >data/a; chown -R 4711 .git data .gitattributes; mv /opt/co .; cd co; {cut}"
        )
    };
    let (above, above_empty) = (above_of("rm .git/HEAD"), above_of(": >.git/HEAD"));
    let cases = [
        ("a hook that is a link", git, hook.as_str(), "/home/mallory belongs to mallory"),
        ("a hook", git, &own_hook, "may change /opt/co/.git/hooks/post-checkout"),
        ("hooks elsewhere", git, hooks, ""),
        (
            "a file of settings",
            git,
            "git -C /opt/co config include.path /home/mallory/inc",
            "/home/mallory belongs to mallory",
        ),
        (
            "one of root's own settings",
            git,
            "git config --global include.path /home/mallory/inc",
            "/home/mallory belongs to mallory",
        ),
        (
            "one that is not there yet",
            git,
            "git config --global include.path /home/mallory/none",
            "/home/mallory belongs to mallory",
        ),
        ("a filter", git, &filter, "filter.f.smudge of git: /home/mallory belongs to mallory"),
        ("the repository of a worktree", git, common, "belongs to mallory"),
        ("a directory in the tree", git, "chown 4711 /opt/co/data", "may change /opt/co/data"),
        ("a new checkout", git, "rm -rf /opt/co; git config --global include.path /home/mallory/inc", "/home/mallory belongs to mallory"),
        ("a new one in a directory of a group", git, "rm -rf /opt/co; install -d -g 4711 -m 2775 /opt/co", "may change /opt/co"),
        ("a hook while it is made", git, "rm -rf /opt/co; git config --global core.hooksPath /home/mallory/bin; cp /home/mallory/bin/monitor /home/mallory/bin/reference-transaction", ""),
        ("a template", git, "rm -rf /opt/co; git config --global init.templateDir /opt/theirs/t; mkdir /opt/theirs/t; cp /home/mallory/inc /opt/theirs/t/config", ""),
        ("a helper in a home", git, "git config --global credential.helper '~mallory/bin/monitor'", "is not read here"),
        ("the second of two programs", git, "git config --global filter.f.smudge '/bin/true;/home/mallory/bin/monitor'", "/home/mallory belongs to mallory"),
        ("the second of two lines", git, "git config --global filter.f.smudge '/bin/true\n/home/mallory/bin/monitor'", "/home/mallory belongs to mallory"),
        ("another path", git, "git config --global filter.f.smudge 'PATH=/home/mallory/bin:$PATH monitor'", "is not read here"),
        ("a program for old objects", git, "git config --global gc.recentObjectsHook /home/mallory/bin/monitor", "/home/mallory belongs to mallory"),
        (
            "a file of settings in a home that is not there yet",
            git,
            "git config --global include.path '~mallory/none'",
            "is not read here",
        ),
        ("a tree elsewhere", git, "git -C /opt/co config core.worktree /opt/theirs", "core.worktree of git"),
        ("objects", git, "chown -R 4711 /opt/co/.git/objects", "may change /opt/co/.git/objects"),
        ("objects elsewhere", git, "echo /opt/theirs >/opt/co/.git/objects/info/alternates", "/opt/theirs belongs to mallory"),
        ("objects elsewhere by two turns", git, "mkdir -p /opt/x/info; echo /opt/theirs >/opt/x/info/alternates; echo /opt/x >/opt/co/.git/objects/info/alternates", "/opt/theirs belongs to mallory"),
        ("a repository of theirs above one that was cut", git_below, &above, ""),
        ("the same where a HEAD is empty", git_below, &above_empty, ""),
        ("a cut one with a link of settings", git, "rm /opt/co/.git/HEAD /opt/co/.git/config; ln -s /opt/theirs/config /opt/co/.git/config", "/opt/theirs belongs to mallory"),
        ("a pattern that is a program", git, "git config --global filter.f.smudge '/opt/thei*/monitor'", "is not read here"),
        ("words in braces", git, "git config --global filter.f.smudge '/opt/{x,theirs}/monitor'", "is not read here"),
        ("settings by the URL", git, "rm -rf /opt/co; printf '[include]\n\tpath = /home/mallory/inc\n' >/opt/x/inc; git config --global 'includeIf.hasconfig:remote.*.url:file:///opt/**.path' /opt/x/inc", "/home/mallory belongs to mallory"),
        ("attributes", git, "git config --global core.attributesFile /home/mallory/attributes", "/home/mallory belongs to mallory"),
        ("a program in a URL", git, "git config --global protocol.ext.allow always; git config --global 'url.ext::/home/mallory/bin/monitor %S /.insteadOf' file:///opt/; git -C /opt/co tag -d v2", "transport 'ext' not allowed"),
        ("a directory that goes away", git, "cd /opt/co; mkdir gone; echo >gone/a; git add gone; git -c user.name=a -c user.email=a@b commit -qm gone; chown 4711 gone", "may change /opt/co/gone"),
        ("one with a quote and a blank at the end", git, "cd /opt/co; mkdir 'a\" '; echo >'a\" /a'; git add .; git -c user.name=a -c user.email=a@b commit -qm gone; chown 4711 'a\" '", "may change /opt/co/a\" "),
        ("a sticky directory in the tree", git, "chmod 1777 /opt/co/data", "may change /opt/co/data"),
        ("a sticky one for a new checkout", git, "rm -rf /opt/co; mkdir -m 1777 /opt/co", "git is not run here"),
        // What people have.
        ("a clone that was cut", git, "rm /opt/co/.git/HEAD", ""),
        ("objects of root's elsewhere", git, "rm -rf /opt/co /opt/x; git clone -q --shared -n /opt/served /opt/x; git clone -q --shared /opt/x /opt/co; git -C /opt/co checkout -q v1", ""),
        ("attributes of root's", git, "echo '*.bin -text' >/mnt/root/attributes; git config --global core.attributesFile '~/attributes'", ""),
        ("directories of others with nothing of git", git, "install -d -o 4711 /opt/co/logs /opt/co/data/cache", ""),
        ("LFS and helpers", git, "git config --global filter.lfs.process 'git-lfs filter-process'; git config --global credential.helper 'store --file=/root/.cred'
            git config --global credential.https://example.com.helper '!/usr/bin/env true'; git config --global core.editor ~/bin/x", ""),
        ("a file of settings that is not there", git, "git config --global include.path '~/.gitconfig.local'", ""),
        ("a development install", pip, "echo /home/mallory/project >/opt/venv/lib/python3/site-packages/x.pth; mkdir -p /home/mallory/project", "/home/mallory belongs to mallory"),
        ("the Python of an environment", pip, "echo 'home = /home/mallory/py/bin' >/opt/venv/pyvenv.cfg", "/home/mallory belongs to mallory"),
        ("links that lead to what root has", build, "mkdir /opt/source/lib; ln -s lib /opt/source/lib64; ln -s lib/none /opt/source/none; ln -s ../lib /opt/source/lib/up; ln -s /usr/lib/os-release /opt/source/release", "the install put nothing"),
        (
            "a link with a line feed in its name",
            build,
            "ln -s /opt/theirs/inc.mk \"/opt/source/a\nb\"; echo >/opt/theirs/inc.mk",
            "and a build runs what is in its source",
        ),
        ("a link to what may come", build, "ln -s /opt/theirs/none.mk /opt/source/none.mk", "/opt/theirs belongs to mallory"),
        ("a link to a directory with a file of others", build, "rm -rf /opt/shared; mkdir /opt/shared; echo >/opt/shared/h; chown 4711 /opt/shared/h; ln -s /opt/shared /opt/source/inc", "may change /opt/shared/h"),
        ("a library for newer processors", libraries, "mkdir -p /opt/x/lib/glibc-hwcaps/x86-64-v2; cp /opt/x/lib/libzz.so.1 /opt/x/lib/glibc-hwcaps/x86-64-v2; chown 4711 /opt/x/lib/glibc-hwcaps/x86-64-v2/libzz.so.1", "x86-64-v2/libzz.so.1"),
        ("modules", pip, "chown -R 4711 /opt/venv/lib", "may change /opt/venv/lib"),
        ("wheels", wheels, "install -d -o 4711 /opt/wheels", "/opt/wheels belongs to mallory"),
        ("wheels in a directory for all", wheels, "install -d -m 1777 /opt/wheels", "/opt/wheels"),
        ("a packed module", pip, "touch /home/mallory/x.egg; echo /home/mallory/x.egg >/opt/venv/lib/python3/site-packages/x.pth", "/home/mallory belongs to mallory"),
        ("a module by way of dots", pip, "echo none/../../../../../../home/mallory >/opt/venv/lib/python3/site-packages/x.pth", "/home/mallory belongs to mallory"),
        ("a module with blanks behind it", pip, "printf '/home/mallory \\t\\r\\n' >/opt/venv/lib/python3/site-packages/.x.pth", "/home/mallory belongs to mallory"),
        ("a module that is not there yet", pip, "echo /home/mallory/none >/opt/venv/lib/python3/site-packages/x.pth", "/home/mallory belongs to mallory"),
        ("the Python of an environment without blanks", pip, "echo 'Home=/home/mallory/py/bin' >/opt/venv/pyvenv.cfg", "/home/mallory belongs to mallory"),
        ("modules of a Python of root's", pip, "mkdir -p /opt/py/bin /opt/py/lib/python3.9; cp /bin/true /opt/py/bin/python3; chown 4711 /opt/py/lib/python3.9; ln -sf /opt/py/bin/python3 /opt/venv/bin/python", "/opt/py/lib/python3.9 belongs to mallory"),
        ("modules of a Python that an environment names", pip, "echo 'home = /opt/py/bin' >/opt/venv/pyvenv.cfg", "/opt/py/lib/python3.9 belongs to mallory"),
        ("modules of a Python of root's for a new environment", new_pip, "rm -rf /opt/venv", "/opt/py/lib/python3.9 belongs to mallory"),
        ("modules of a group", pip, "install -d -g 4711 -m 2775 /usr/local/lib/python3.9/dist-packages; echo 'include-system-site-packages = true' >/opt/venv/pyvenv.cfg", "may change /usr/local/lib/python3.9/dist-packages"),
        ("what environments have", pip, "mkdir -p /opt/project; printf '%s\\n' /usr/lib/python3/dist-packages /opt/project 'import os' '# /home/mallory' '' ./x.egg x /opt/none >/opt/venv/lib/python3/site-packages/x.pth; printf 'home = /usr/bin\\ninclude-system-site-packages = false\\n' >/opt/venv/pyvenv.cfg
            printf '#!/bin/sh\\nmkdir -p /opt/venv/lib/python3/site-packages/six-1.0.dist-info\\n' >/opt/venv/bin/python", ""),
        ("a source in a directory for all", build, "chmod 1777 /opt/source", "and a build runs what is in its source"),
        ("modes in an archive", packed, "printf 'all:\\n\\tsetpriv --reuid 4711 --regid 4711 --clear-groups sh -c \"echo >>$(CURDIR)/Makefile\"\\ninstall:\\n' >/opt/source/Makefile; chmod 777 /opt/source /opt/source/Makefile; tar -cf /opt/source.tar -C /opt/source .", "`make` ended with status 2"),
        ("a compiler beside a CUDA of root's", compiler, "mkdir -p /opt/cuda/bin; cp /bin/true /opt/cuda/bin/nvcc", "/home/mallory/bin/monitor is not run"),
        (
            "a link in a source",
            build,
            "ln -s /opt/theirs/inc.mk /opt/source/inc.mk; echo >/opt/theirs/inc.mk",
            "/opt/theirs belongs to mallory",
        ),
        (
            "an access list in a source",
            build,
            "setfacl -m u:4711:rw /opt/source/Makefile",
            "may change /opt/source/Makefile",
        ),
        ("a directory above libraries", libraries, "chown 4711 /opt/x", "/opt/x belongs to mallory"),
        ("a library", libraries, "chown 4711 /opt/x/lib/libzz.so.1", "may change /opt/x/lib/libzz.so.1"),
        (
            "where a library leads",
            libraries,
            "mv /opt/x/lib/libzz.so.1 /opt/theirs; ln -s /opt/theirs/libzz.so.1 /opt/x/lib",
            "/opt/theirs belongs to mallory",
        ),
    ];
    for (name, task, spoil, why) in cases {
        for shell in some_shells() {
            // The ls of busybox shows no access list.
            if shell[0] == "busybox" && spoil.starts_with("setfacl") {
                continue;
            }
            assert!(sh("rm -rf /opt/co /opt/venv /opt/wheels /opt/source /opt/x /opt/theirs/* /mnt/root/.gitconfig /mnt/made
                git clone -q --no-hardlinks /opt/served /opt/co 2>/dev/null; git -C /opt/co checkout -q v1; rm -f /opt/co/.git/hooks/*
                mkdir -p /opt/venv/bin /opt/venv/lib/python3/site-packages /opt/source /opt/x/lib
                printf '#!/bin/sh\\n' >/opt/venv/bin/python; chmod +x /opt/venv/bin/python
                printf 'all:\\ninstall:\\n' >/opt/source/Makefile; cp /lib/x86_64-linux-gnu/libz.so.1 /opt/x/lib/libzz.so.1 2>/dev/null || cp /usr/lib64/libz.so.1 /opt/x/lib/libzz.so.1"));
            assert!(sh(spoil), "{name}");
            let ended = converge(shell, &*read(&Nothing, task));
            assert_eq!(of_root(&ran()), Vec::<&String>::new(), "{shell:?} {name}: {ended:?}");
            match ended {
                Ok(changes) => assert_eq!((why, changes.len()), ("", 1), "{shell:?} {name}"),
                Err(error) => assert!(!why.is_empty() && error.contains(why), "{shell:?} {name}: {error}"),
            }
        }
    }
}

/// An account's program is not run either where /run has no room for a stand-in.
#[test]
fn a_full_run_lets_no_program_of_others_through() {
    if outside("a_full_run_lets_no_program_of_others_through") {
        return;
    }
    plant("/usr/local/bin/getent");
    plant("/usr/local/sbin/getent");
    for full in ["size=64k", "nr_inodes=2", "nr_inodes=3", "nr_inodes=4"] {
        for shell in some_shells() {
            assert!(sh(&format!(
                "mount -t tmpfs -o mode=755,{full} none /run; head -c 100000 /dev/zero >/run/fill 2>/dev/null || :"
            )));
            let said = with_path_of_root(shell, "getent passwd root; echo $PATH");
            assert_eq!(of_root(&ran()), Vec::<&String>::new(), "{shell:?} {full}: {said}");
            assert!(said.contains("root:"), "that of the system is: {shell:?} {full}: {said}");
            // A directory of the system that is left out is not brought back by the first lines of scripts.
            let common = include_str!("../../src/shell/common.sh");
            assert!(sh("ln -s /usr/local/bin/getent /usr/bin/ib_write_bw"));
            let said = with_path_of_root(shell, &format!("{common}\nib_write_bw; echo $PATH"));
            assert_eq!(of_root(&ran()), Vec::<&String>::new(), "{shell:?} {full}: {said}");
            assert!(sh("rm /usr/bin/ib_write_bw; umount /run"));
        }
    }
}

/// A submodule may be a repository of an account, whose configuration names a program.
#[test]
fn git_is_kept_out_of_submodules() {
    if outside("git_is_kept_out_of_submodules") {
        return;
    }
    plant("/home/mallory/bin/monitor");
    assert!(sh("export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b
        export GIT_CONFIG_GLOBAL=/dev/null
        mkdir /opt/served; cd /opt/served; git init -q sub; git -C sub commit -q --allow-empty -m one
        git init -q whole; cd whole; git -c protocol.file.allow=always submodule --quiet add /opt/served/sub sub
        git commit -qm one; git tag v1; git commit -q --allow-empty -m two; git tag v2"));
    let task = |tag: &str| {
        let text = format!("git: {{ path: /opt/co, url: \"file:///opt/served/whole\", tag: {tag} }}");
        read(&Nothing, &text)
    };
    assert_eq!(converge(SHELLS[0], &*task("v1")).unwrap().len(), 1);
    assert!(sh("export GIT_CONFIG_GLOBAL=/dev/null; cd /opt/co/sub; git clone -q /opt/served/sub .
        git config core.fsmonitor /home/mallory/bin/monitor; chown -R 4711:4711 ."));
    // The place is one that runs: git with root's word for it does.
    assert!(sh("cd /opt/co; git -c safe.directory='*' -C sub status --porcelain >/dev/null"));
    assert!(!of_root(&ran()).is_empty());
    assert!(sh("git config --global --add safe.directory '*'"));
    for shell in SHELLS {
        for tag in ["v1", "v2"] {
            converge(shell, &*task(tag)).unwrap();
            assert_eq!(of_root(&ran()), Vec::<&String>::new(), "{shell:?} {tag}");
        }
    }
}

/// The real limits and jobs are those of daemons of root, whatever else has their names.
#[test]
fn a_name_makes_no_daemon() {
    if !sh("[ \"$(id -u)\" = 0 ]") {
        return println!("skipped: this is not root");
    }
    let there = tempfile::tempdir().unwrap();
    assert!(sh(&format!("chmod 755 {}", there.path().display())));
    let asked = || -> String {
        let queries = [base("busy").unwrap(), query("system").unwrap()];
        let parts = batch(&queries.into_iter().collect(), Duration::from_mins(1));
        let said = parts.into_iter().map(|part| support::run(SHELLS[0], &part.part.script, None).1);
        said.map(|output| String::from_utf8_lossy(&output).into_owned()).collect()
    };
    // Daemons of containers are seen from this machine.
    let before = asked();
    for (owner, believed) in [(OTHER, false), (0, true)] {
        let mut started = Vec::new();
        for (name, title) in [("slurmd", "slurmd"), ("slurmstepd", "slurmstepd: [4242.0] root")] {
            let path = there.path().join(format!("{owner}/{name}"));
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::copy("/usr/bin/sleep", &path).unwrap();
            started.push(Command::new(path).arg0(title).arg("60").uid(owner).spawn().unwrap());
        }
        let said = asked();
        for sign in ["4242.0", "process=slurmd", "slurmd_memlock="] {
            assert_eq!(said.contains(sign), believed || before.contains(sign), "{owner} {sign}: {said}");
        }
        for mut process in started {
            process.kill().unwrap();
            process.wait().unwrap();
        }
    }
}

/// Files of an account whose names or numbers are those of others: they hold no device and no lock, and nobody waits for them.
#[test]
fn names_of_an_account_say_nothing_of_others() {
    if outside("names_of_an_account_say_nothing_of_others") {
        return;
    }
    let busy = concat!(
        include_str!("../../src/facts/owner_of.sh"),
        include_str!("../../src/facts/base/busy/busy.sh")
    );
    // A process whose directory has what the question reads of processes.
    assert!(sh(
        "mkdir -p '/mnt/tree/x -> /dev/infiniband/uverbs7/fd'; cd /mnt/tree/x*/dev/infiniband/uverbs7; ln -s /dev/infiniband/uverbs7 fd/0; echo forged >comm; chown -R 4711 /mnt/tree"
    ));
    let stays = Command::new("sleep").arg("60").current_dir("/mnt/tree").uid(OTHER).spawn().unwrap();
    let line = "lrwx------ 1 root root 64 Nov 30 00:00 0 -> /dev/infiniband/uverbs7";
    let forged = format!("/mnt/names/c\n/proc/{}/cwd/x -> /dev/infiniband/uverbs7\n{line}", stays.id());
    let names = [
        &forged,
        "/mnt/names/a -> /dev/infiniband/uverbs7",
        "/mnt/names/b\n/proc/1/fd:\nlrwx------ 1 root root 64 Nov 30 00:00 0 -> /dev/infiniband/uverbs7",
    ];
    let mut holders = vec![stays];
    for name in names {
        fs::create_dir_all(Path::new(name).parent().unwrap()).unwrap();
        fs::write(name, "").unwrap();
        assert!(sh("chmod -R a+rwX /mnt/names"));
        let file = fs::File::open(name).unwrap();
        holders.push(Command::new("sleep").arg("60").stdin(file).uid(OTHER).spawn().unwrap());
    }
    for said in SHELLS.iter().map(|shell| said_by(shell, busy)) {
        assert!(!said.contains("rdma\t"), "{said}");
        assert!(said.ends_with("end\n"), "{said}");
    }
    for mut holder in holders {
        holder.kill().unwrap();
        holder.wait().unwrap();
    }
    // What is called like a service is one when it is not of an account of people; and a name is one field.
    assert!(sh("mkdir -p /mnt/dev/infiniband; cd /mnt/dev; mknod -m 666 null c 1 3; mknod -m 666 infiniband/uverbs7 c 1 3
        cp /bin/sleep ibacm; cp /bin/sleep \"$(printf '4242\tann')\"; mount --bind /mnt/dev /dev"));
    for (name, owner, wanted) in
        [("ibacm", 0, ""), ("ibacm", 412, ""), ("ibacm", OTHER, "ibacm"), ("4242\tann", OTHER, "4242")]
    {
        let file = fs::File::open("/dev/infiniband/uverbs7").unwrap();
        let mut process =
            Command::new(format!("/dev/{name}")).arg("60").stdin(file).uid(owner).spawn().unwrap();
        let line = format!("rdma\t{}\t{wanted}", process.id());
        for said in SHELLS.iter().map(|shell| said_by(shell, busy)) {
            let held: Vec<&str> = said.lines().filter(|line| line.starts_with("rdma")).collect();
            let right = if wanted.is_empty() { held.is_empty() } else { held == [&line] };
            assert!(right, "{name} {owner}: {said}");
        }
        process.kill().unwrap();
        process.wait().unwrap();
    }
    assert!(sh("umount -l /dev"));
    // Directories of an account, whose names are lines of ours; and a program that leaves its output open.
    let software = concat!(
        include_str!("../../src/facts/probe/ask.sh"),
        include_str!("../../src/shell/rooted.sh"),
        include_str!("../../src/shell/package_holder.sh"),
        include_str!("../../src/facts/software/software.sh")
    );
    let forged = "/opt/m/x\nnccl=.usr 9.9.9\n\n\u{1e}end 0\n\n\u{1e}ask packages\nbusy process 1 (apt-get)\n\n\u{1e}end 0\n";
    for path in ["bin/mpirun", "include/nccl.h", "lib/libnccl.so.2"] {
        plant(&format!("{forged}/{path}"));
    }
    fs::create_dir_all("/opt/m/lib").unwrap();
    std::os::unix::fs::symlink(format!("{forged}/lib/libnccl.so.2"), "/opt/m/lib/libnccl.so.2").unwrap();
    for said in SHELLS.iter().map(|shell| said_by(shell, software)) {
        assert!(said.contains("\u{1e}ask packages\n"), "{said}");
        assert!(!said.contains("9.9.9") && !said.contains("process 1 "), "{said}");
    }
    plant("/opt/m/bin/mpirun");
    fs::write("/opt/m/bin/mpirun", "#!/bin/sh\nsetsid sleep 60 &\n").unwrap();
    let began = std::time::Instant::now();
    let said = said_by(SHELLS[0], software);
    assert!(said.contains("\u{1e}ask packages\n") && began.elapsed() < Duration::from_secs(40), "{said}");
    // A lock on another file system, of a file with the same number.
    assert!(sh(
        "mkdir /mnt/b; mount -t tmpfs none /var/lib/dpkg; mount -t tmpfs -o mode=1777 none /mnt/b; : >/var/lib/dpkg/lock-frontend"
    ));
    let lock = "use Fcntl; open F, '+>', $ARGV[0] or die; my $l = pack('ssx4qqi', F_WRLCK, 0, 0, 0, 0); fcntl(F, F_SETLK, $l) or die; print qq(1\n); close STDOUT; sleep 60";
    let holder =
        include_str!("../../src/shell/package_holder.sh").to_owned() + "package_holder; echo ${holder:-none}";
    for (path, owner, wanted) in
        [("/mnt/b/x", OTHER, "none\n"), ("/var/lib/dpkg/lock-frontend", 0, "process N (perl)\n")]
    {
        let mut process = Command::new("perl")
            .args(["-e", lock, path])
            .uid(owner)
            .stdout(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        let mut said = String::new();
        process.stdout.take().unwrap().read_to_string(&mut said).unwrap();
        let number = |path: &str| fs::metadata(path).unwrap().ino();
        assert_eq!(number(path), number("/var/lib/dpkg/lock-frontend"), "the attack needs this");
        let wanted = wanted.replace('N', &process.id().to_string());
        for said in SHELLS.iter().map(|shell| said_by(shell, &holder)) {
            assert_eq!(said, wanted, "{path}");
        }
        process.kill().unwrap();
        process.wait().unwrap();
    }
    // Who starts root's program gives it both files.
    assert!(sh("ln -s /bin/su /mnt/b/dnf"));
    let both = "use Fcntl; use POSIX; $^F = 255; my $f = POSIX::open('/mnt/b/x', O_RDWR); POSIX::dup2($f, 1); POSIX::close($f); my $l = pack('ssx4qqi', F_WRLCK, 0, 0, 0, 0); open F, '>&=', 1; fcntl(F, F_SETLK, $l) or die; sysopen G, '/var/lib/dpkg/lock-frontend', 010000000 or die; POSIX::dup2(fileno(G), 2); exec {'/mnt/b/dnf'} 'dnf', 'root'";
    let mut command = Command::new("perl");
    let mut process =
        command.args(["-e", both]).uid(OTHER).stdin(std::process::Stdio::piped()).spawn().unwrap();
    let root = || {
        std::thread::sleep(Duration::from_millis(10));
        fs::metadata(format!("/proc/{}", process.id())).unwrap().uid() == 0
    };
    assert!((0..1000).any(|_| root()), "the attack needs this");
    assert!(fs::read_to_string("/proc/locks").unwrap().contains(&format!(" {} ", process.id())), "and this");
    for said in SHELLS.iter().map(|shell| said_by(shell, &holder)) {
        assert_eq!(said, "none\n");
    }
    process.kill().unwrap();
    process.wait().unwrap();
    // No program is asked about names of others in a directory of all: there may be any number.
    assert!(sh("mount -t tmpfs -o mode=1777 none /var/tmp; mkdir /mnt/crowd; touch /mnt/crowd/provision-script.99999999.a
        mkdir -m 700 /var/tmp/provision-upload-0.1; chown 4711 /mnt/crowd/* /var/tmp/*"));
    let tidy = include_str!("../../src/engine/shell/tidy.sh");
    let tidy = format!(
        "provision_dir() {{ d=/mnt/d; }}; provision_kept() {{ p=/mnt/d; }}; TMPDIR=/mnt/crowd; rm() {{ echo \"rm $*\"; }}\n{tidy}"
    );
    let shelf = include_str!("../../src/engine/shell/state_functions.sh");
    let shelf = format!("{shelf}\nstat() {{ echo \"stat $*\" >&2; }}; provision_shelf; printf %s \"$shelf\"");
    for shell in SHELLS {
        assert_eq!(
            (said_by(shell, &tidy), said_by(shell, &shelf)),
            (String::new(), String::new()),
            "{shell:?}"
        );
    }
}
