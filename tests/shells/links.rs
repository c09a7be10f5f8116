//! What another user can do while we write: links on the way and in the place of what is written,
//! names that are changed between any two of our commands. As root, with a second user.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test")]
#![allow(clippy::disallowed_methods, reason = "tests start shells and programs")]

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, lchown, symlink};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use crate::support::{SHELLS, converge, gather, run};
use camino::{Utf8Path, Utf8PathBuf};
use provision::config::{Diagnostics, Sources, Yaml, yaml};
use provision::resources::shared::value::sha256;
use provision::resources::{Context, Local, Resource, kinds};
use provision::shell;
use provision::transport::Script;

/// Every system has a user of this number, who owns nothing.
const OTHER: u32 = 65534;

const NOT_ROOT: &str = "skipped: this is not root, so nobody can play a second user";

struct Here(Utf8PathBuf);

impl Context for Here {
    fn local(&self, src: &str) -> Result<Local, String> {
        let path = self.0.join(src);
        if path.is_dir() {
            let file = Local::Bytes(Arc::from(&b"x"[..]));
            return Ok(Local::Tree(vec![("sub".to_owned(), None), ("sub/file".to_owned(), Some(file))]));
        }
        fs::read(&path).map(|bytes| Local::Bytes(bytes.into())).map_err(|error| error.to_string())
    }

    fn render(&self, _: &str, text: &str) -> Result<String, provision::config::TextError> {
        Ok(text.to_owned())
    }

    fn base(&self) -> &Utf8Path {
        &self.0
    }
}

/// A directory with `etc`, which is ours alone, `home` of another user and `scratch` of everybody.
struct Ground(tempfile::TempDir);

impl Ground {
    /// `None` where this is not run by root: there is nobody to guard against.
    fn new() -> Option<Self> {
        let directory = tempfile::tempdir().unwrap();
        if fs::metadata(directory.path()).unwrap().uid() != 0 {
            return None;
        }
        let ground = Self(directory);
        for (name, mode) in
            [("", 0o755), ("etc", 0o755), ("home", 0o755), ("scratch", 0o1777), ("src", 0o755)]
        {
            let path = ground.path(name);
            fs::create_dir_all(&path).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        }
        lchown(ground.path("home"), Some(OTHER), Some(OTHER)).unwrap();
        ground.write("etc/shadow", "root:secret\n", 0o600);
        fs::create_dir(ground.path("etc/conf")).unwrap();
        ground.write("etc/conf/file", "kept\n", 0o600);
        ground.write("src/file", "new\n", 0o644);
        Some(ground)
    }

    fn path(&self, name: &str) -> PathBuf {
        if name.is_empty() { self.0.path().to_owned() } else { self.0.path().join(name) }
    }

    fn write(&self, name: &str, text: &str, mode: u32) {
        fs::write(self.path(name), text).unwrap();
        fs::set_permissions(self.path(name), fs::Permissions::from_mode(mode)).unwrap();
    }

    /// What the other user does; DIR is the ground.
    fn other(&self, script: &str) {
        let script = script.replace("DIR", self.0.path().to_str().unwrap());
        let status = Command::new("sh")
            .args(["-ec", &script])
            .uid(OTHER)
            .gid(OTHER)
            .current_dir("/")
            .status()
            .unwrap();
        assert!(status.success(), "{script}");
    }

    fn read(&self, text: &str) -> Arc<dyn Resource> {
        let text = text.replace("DIR", self.0.path().to_str().unwrap());
        let mut sources = Sources::default();
        let id = sources.add("task.yaml", &text);
        let node = yaml::parse(&sources, id).unwrap();
        let Yaml::Map(entries) = &node.value else { panic!("{text}") };
        let kind = kinds().iter().find(|kind| kind.name == entries[0].0.value).unwrap();
        let mut diagnostics = Diagnostics::default();
        let context = Here(Utf8PathBuf::from_path_buf(self.path("")).unwrap());
        kind.read(&entries[0].1, &context, &mut diagnostics)
            .unwrap_or_else(|| panic!("{}", diagnostics.render(&sources, false)))
    }

    /// Everything in `etc`: names, kinds, owners, modes and contents.
    fn precious(&self) -> Vec<String> {
        let mut found = Vec::new();
        let mut left = vec![self.path("etc")];
        while let Some(path) = left.pop() {
            let metadata = fs::symlink_metadata(&path).unwrap();
            let text = if metadata.is_file() { fs::read(&path).unwrap() } else { Vec::new() };
            let (mode, uid, gid) = (metadata.mode(), metadata.uid(), metadata.gid());
            found.push(format!("{} {mode:o} {uid} {gid} {text:?}", path.display()));
            if metadata.is_dir() {
                left.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
            }
        }
        found.sort();
        found
    }
}

fn words(text: &str, arguments: &[&str], ground: &Ground) -> Script {
    let directory = ground.0.path().to_str().unwrap();
    Script::new(text.to_owned()).args(arguments.iter().map(|word| word.replace("DIR", directory)))
}

/// Every resource that writes by a path: a directory above it is a link that another user made.
#[test]
fn nothing_is_written_through_a_link_of_another_user() {
    for shell in SHELLS {
        let Some(ground) = Ground::new() else { return println!("{NOT_ROOT}") };
        ground.other("ln -s DIR/etc DIR/home/.config");
        let pack = format!("tar -C '{0}' -czf '{0}/src.tar.gz' src", ground.path("").display());
        assert_eq!(run(shell, &Script::new(pack), None).0, 0);
        let digest = sha256(&fs::read(ground.path("src.tar.gz")).unwrap());
        let before = ground.precious();
        let at = "DIR/home/.config";
        let refused = |what: &str, error: &str| {
            let said = error.contains("home/.config is a symbolic link of nobody")
                || error.contains("home belongs to nobody");
            assert!(said, "{shell:?} {what}: {error}");
            assert_eq!(ground.precious(), before, "{shell:?} {what}");
        };
        let mut tasks = vec![
            format!("file: {{ path: {at}/new, content: x, owner: \"{OTHER}\" }}"),
            format!("file: {{ path: {at}/new, content: x }}"),
            format!("file: {{ path: {at}/shadow, content: x, owner: \"{OTHER}\" }}"),
            format!("file: {{ path: {at}/shadow, mode: \"0644\" }}"),
            format!("file: {{ path: {at}/shadow, owner: \"{OTHER}\" }}"),
            format!("file: {{ path: {at}/shadow, state: absent }}"),
            format!("directory: {{ path: {at}/a/b, owner: \"{OTHER}\" }}"),
            format!("directory: {{ path: {at}/conf, mode: \"0777\" }}"),
            format!("directory: {{ path: {at}/conf, state: absent }}"),
            format!("symlink: {{ path: {at}/link, target: /x }}"),
            format!("template: {{ path: {at}/t, src: src/file, owner: \"{OTHER}\" }}"),
            format!("copy: {{ path: {at}/c, src: src/file, owner: \"{OTHER}\" }}"),
            format!("copy: {{ path: {at}/conf, src: src, owner: \"{OTHER}\" }}"),
            format!("line: {{ path: {at}/shadow, line: new }}"),
            format!(
                "download: {{ path: {at}/d, url: \"file://DIR/src.tar.gz\", sha256: \"{digest}\", owner: \"{OTHER}\" }}"
            ),
            format!("archive: {{ path: {at}/a, url: \"file://DIR/src.tar.gz\", sha256: \"{digest}\" }}"),
            format!("git: {{ path: {at}/g, url: \"file://DIR/none\", tag: v1 }}"),
            format!("nccl_env: {{ nic: none, path: {at}/nccl.conf, variables: {{ NCCL_DEBUG: WARN }} }}"),
            format!(
                "build: {{ system: make, source: DIR/src, prefix: {at}/b, directory: DIR/made, space: 1 }}"
            ),
            format!(
                "build: {{ system: make, source: DIR/src, prefix: DIR/opt, directory: {at}/b, space: 1 }}"
            ),
        ];
        if Command::new("python3").arg("--version").output().is_ok() {
            tasks.push(format!("pip: {{ venv: {at}/venv, packages: [none] }}"));
        }
        for task in tasks {
            refused(&task, &converge(shell, &*ground.read(&task)).expect_err(&task));
        }
        drop(fs::remove_file(format!("/var/cache/provision/{digest}")));
        // Those whose facts this machine does not have.
        for (text, arguments) in [
            (
                shell!(
                    "shell/reach.sh",
                    "resources/shared/after.sh",
                    "resources/shared/put.sh",
                    "resources/network/hosts_file/hosts_file.sh"
                ),
                &["DIR/home/.config/hosts", "=x"][..],
            ),
            (
                shell!(
                    "shell/reach.sh",
                    "resources/shared/after.sh",
                    "resources/shared/put.sh",
                    "resources/network/netdev/netdev_write.sh"
                ),
                &["DIR/home/.config/net/x", "0644", "", "", "=x", ""],
            ),
            (
                shell!(
                    "shell/reach.sh",
                    "resources/shared/after.sh",
                    "resources/shared/get.sh",
                    "resources/packages/repository/key.sh"
                ),
                &["DIR/home/.config/keys/x", "file:///dev/null", "x"],
            ),
            (
                shell!(
                    "shell/reach.sh",
                    "resources/shared/after.sh",
                    "resources/shared/put.sh",
                    "resources/builds/over_mesh.sh",
                    "resources/builds/distribute/distribute.sh"
                ),
                &["DIR/home/.config/x", "0644", "65534:65534", "", "9", "root", "none.invalid"],
            ),
            (
                shell!(
                    "shell/reach.sh",
                    "resources/builds/over_mesh.sh",
                    "resources/builds/prefix.sh",
                    "resources/builds/build_once/build_fetch.sh"
                ),
                &["x", "DIR/home/.config/x", "=x", "9", "root", "none.invalid"],
            ),
            (shell!("shell/reach.sh", "resources/files/mount/mount.sh"), &["mount", "DIR/home/.config/x"]),
            (
                shell!(
                    "shell/base64.sh",
                    "shell/reach.sh",
                    "resources/shared/put.sh",
                    "resources/shared/ssh_directory.sh",
                    "resources/shared/ssh_file.sh"
                ),
                &["DIR/home/.config/.ssh", "65534", "65534", "authorized_keys", "=x"],
            ),
            (
                shell!(
                    "shell/reach.sh",
                    "resources/shared/ssh_directory.sh",
                    "resources/ssh/ssh_key/ssh_key.sh"
                ),
                &["DIR/home/.config/.ssh", "65534", "65534", "id", "ed25519", "x"],
            ),
        ] {
            let (status, _, errors) = run(shell, &words(text, arguments, &ground), None);
            assert_ne!(status, 0, "{arguments:?}");
            refused(&format!("{arguments:?}"), &errors);
        }
    }
}

/// Keys of a user whose `.ssh` is a link to that of root.
#[test]
fn keys_are_not_written_through_a_linked_ssh_directory() {
    for shell in SHELLS {
        let Some(ground) = Ground::new() else { return println!("{NOT_ROOT}") };
        ground.other("ln -s DIR/etc DIR/home/.ssh");
        let before = ground.precious();
        for (text, more) in [
            (
                shell!(
                    "shell/base64.sh",
                    "shell/reach.sh",
                    "resources/shared/put.sh",
                    "resources/shared/ssh_directory.sh",
                    "resources/shared/ssh_file.sh"
                ),
                &["authorized_keys", "=x"][..],
            ),
            (
                shell!(
                    "shell/reach.sh",
                    "resources/shared/ssh_directory.sh",
                    "resources/ssh/ssh_key/ssh_key.sh"
                ),
                &["id", "ed25519", "x"],
            ),
        ] {
            let arguments = [&["DIR/home/.ssh", "65534", "65534"], more].concat();
            let (status, _, errors) = run(shell, &words(text, &arguments, &ground), None);
            assert!(status != 0 && errors.contains("symbolic link"), "{shell:?}: {errors}");
            assert_eq!(ground.precious(), before);
            // In a directory of theirs they are made.
            ground.other("mv DIR/home/.ssh DIR/home/away; mkdir DIR/home/.ssh");
            let (status, _, errors) = run(shell, &words(text, &arguments, &ground), None);
            assert_eq!(status, 0, "{shell:?}: {errors}");
            let made = ground.path("home/.ssh").join(more[0]);
            assert_eq!(fs::metadata(made).unwrap().uid(), OTHER);
            ground.other("rm -rf DIR/home/.ssh; mv DIR/home/away DIR/home/.ssh");
        }
    }
}

/// Names that another user changes before command `at` of ours, and puts back before command `until`; 0 is never.
#[derive(Debug, Default)]
struct Swaps {
    at: u32,
    until: u32,
}

impl Swaps {
    /// Makes tools of these names, which count themselves and let the other user work; the PATH that has them.
    fn tools(&self, ground: &Ground, names: &[&str], attack: &str, back: &str) -> String {
        let Self { at, until } = self;
        let directory = ground.0.path().display();
        let tools = ground.path("tools");
        fs::create_dir(&tools).unwrap();
        ground.write("tools/count", "0\n", 0o644);
        let as_other = |does: &str| {
            format!(
                "setpriv --reuid {OTHER} --regid {OTHER} --clear-groups sh -c 'cd {directory}; {does}' 2>/dev/null"
            )
        };
        for tool in names {
            let text = format!(
                "#!/bin/sh\nPATH=/usr/bin:/bin:/usr/sbin:/sbin\nread -r n <{0}/count\nn=$((n + 1))\necho $n >{0}/count\n\
                 [ $n != {at} ] || {1}\n[ $n != {until} ] || {2}\nexec {tool} \"$@\"\n",
                tools.display(),
                as_other(attack),
                as_other(back),
            );
            ground.write(&format!("tools/{tool}"), &text, 0o755);
        }
        format!("{}:/usr/bin:/bin:/usr/sbin:/sbin", tools.display())
    }

    /// Each command alone, then back before each of the three that follow it. False when all were had.
    fn next(&mut self, ground: &Ground) -> bool {
        let count = fs::read_to_string(ground.path("tools/count")).unwrap();
        let count: u32 = count.trim().parse().unwrap();
        assert!(count > 0, "none of our commands was seen");
        if self.at == 0 || self.until == self.at + 3 || (self.until >= count && self.until > 0) {
            (self.at, self.until) = (self.at + 1, 0);
        } else {
            self.until = self.until.max(self.at) + 1;
        }
        self.at <= count
    }
}

/// Before any one of our commands, and back before any later one, the other user changes what he may.
#[test]
fn whatever_changes_between_two_commands_nothing_is_led_away() {
    const TOOLS: &[&str] =
        &["stat", "readlink", "mkdir", "chown", "chmod", "mv", "ln", "rm", "cat", "find", "base64", "tar"];
    /// Its facts are of a user of the system, so its script is run.
    const SSH_KEY: &str = "ssh_key";
    /// What is there at first, the task, what the other does, and how it is put back.
    const ATTACKS: &[(&str, &str, &str, &str)] = &[
        (
            "mkdir -m 700 scratch/x; ln -s ../etc/shadow scratch/l",
            "directory: { path: DIR/scratch/x, mode: \"0755\", owner: root }",
            "mv -T scratch/x scratch/d; mv -T scratch/l scratch/x",
            "mv -T scratch/x scratch/l; mv -T scratch/d scratch/x",
        ),
        (
            "mkdir -m 700 scratch/x; ln -s ../etc/conf scratch/l",
            "directory: { path: DIR/scratch/x, mode: \"0777\" }",
            "mv -T scratch/x scratch/d; mv -T scratch/l scratch/x",
            "mv -T scratch/x scratch/l; mv -T scratch/d scratch/x",
        ),
        (
            "echo x >scratch/x; ln -s ../etc/shadow scratch/l",
            "file: { path: DIR/scratch/x, mode: \"0755\" }",
            "mv -T scratch/x scratch/d; mv -T scratch/l scratch/x",
            "mv -T scratch/x scratch/l; mv -T scratch/d scratch/x",
        ),
        (
            "echo x >scratch/x; ln -s ../etc scratch/l",
            "file: { path: DIR/scratch/x, content: new }",
            "mv -T scratch/x scratch/d; mv -T scratch/l scratch/x",
            "mv -T scratch/x scratch/l; mv -T scratch/d scratch/x",
        ),
        (
            "",
            "directory: { path: DIR/scratch/x, mode: \"0777\" }",
            "ln -s ../etc/conf scratch/x",
            "rm scratch/x",
        ),
        (
            "",
            "directory: { path: DIR/scratch/x/sub/deep, mode: \"0777\" }",
            "ln -s ../etc/conf scratch/x",
            "rm scratch/x",
        ),
        (
            "",
            "directory: { path: DIR/home/x, mode: \"1777\", owner: \"65534\" }",
            "mv -T home/x home/d; ln -s ../etc/conf home/x",
            "rm home/x",
        ),
        (
            "mkdir home/x",
            "file: { path: DIR/home/x/new, content: new, owner: \"65534\" }",
            "mv -T home/x home/d; ln -s ../etc home/x",
            "rm home/x; mv -T home/d home/x",
        ),
        (
            "mkdir -p home/x; echo x >home/x/shadow",
            "file: { path: DIR/home/x/shadow, mode: \"0755\" }",
            "mv -T home/x home/d; ln -s ../etc home/x",
            "rm home/x; mv -T home/d home/x",
        ),
        (
            "mkdir -p home/x; echo x >home/x/shadow",
            "file: { path: DIR/home/x/shadow, state: absent }",
            "mv -T home/x home/d; ln -s ../etc home/x",
            "rm home/x; mv -T home/d home/x",
        ),
        (
            "mkdir -p home/x",
            "symlink: { path: DIR/home/x/link, target: /x }",
            "mv -T home/x home/d; ln -s ../etc home/x",
            "rm home/x; mv -T home/d home/x",
        ),
        (
            "mkdir -p home/x/conf; echo x >home/x/conf/file",
            "directory: { path: DIR/home/x/conf, state: absent }",
            "mv -T home/x home/d; ln -s ../etc home/x",
            "rm home/x; mv -T home/d home/x",
        ),
        (
            "mkdir home/x",
            "copy: { path: DIR/home/x/conf, src: src, owner: \"65534\" }",
            "mv -T home/x home/d; ln -s ../etc home/x",
            "rm home/x; mv -T home/d home/x",
        ),
        (
            "mkdir -m 700 home/.ssh",
            SSH_KEY,
            "mv -T home/.ssh home/d; ln -s ../etc home/.ssh",
            "rm home/.ssh; mv -T home/d home/.ssh",
        ),
        (
            "mkdir -m 700 home/.ssh",
            SSH_KEY,
            "for beside in home/.ssh/.provision.*; do mv -T $beside home/d; mkdir $beside; ln -s ../../../etc/shadow $beside/key.pub; done",
            "rm -rf home/.ssh/.provision.*",
        ),
        (
            "",
            "archive: { path: DIR/scratch/x, url: \"file://DIR/src.tar.gz\", sha256: \"SHA256\" }",
            "ln -s ../etc scratch/x.provision-new; ln -s ../etc scratch/x.provision-old; ln -s ../etc scratch/x",
            "rm scratch/x.provision-new scratch/x.provision-old scratch/x",
        ),
    ];
    if Command::new("setpriv").arg("--version").output().is_err() {
        return println!("skipped: there is no setpriv here");
    }
    let shells: &[&[&str]] = &[&["dash"], &["bash"]];
    for (shell, (first, task, attack, back)) in
        shells.iter().flat_map(|shell| ATTACKS.iter().map(move |a| (shell, a)))
    {
        let mut swaps = Swaps::default();
        loop {
            let Some(ground) = Ground::new() else { return println!("{NOT_ROOT}") };
            let directory = ground.0.path().to_str().unwrap().to_owned();
            let done = Command::new("tar")
                .args(["-C", &directory, "-czf"])
                .arg(ground.path("src.tar.gz"))
                .arg("src")
                .status();
            assert!(done.unwrap().success());
            let digest = sha256(&fs::read(ground.path("src.tar.gz")).unwrap());
            ground.other(&format!("cd DIR; {first}"));
            let path = swaps.tools(&ground, TOOLS, attack, back);
            let before = ground.precious();
            let scripts: Vec<Script> = if *task == SSH_KEY {
                let text = shell!(
                    "shell/reach.sh",
                    "resources/shared/ssh_directory.sh",
                    "resources/ssh/ssh_key/ssh_key.sh"
                );
                let arguments = ["DIR/home/.ssh", "65534", "65534", "id", "ed25519", "x"];
                vec![words(text, &arguments, &ground)]
            } else {
                let resource = ground.read(&task.replace("SHA256", &digest));
                let changes = resource.plan(&gather(shell, resource.queries())).unwrap();
                changes.into_iter().map(|change| change.script).collect()
            };
            assert!(!scripts.is_empty(), "{task}");
            for script in &scripts {
                let (status, _, errors) = run(shell, script, Some(&path));
                assert!(swaps.at > 0 || status == 0, "{task}: {errors}");
            }
            drop(fs::remove_file(format!("/var/cache/provision/{digest}")));
            assert_eq!(ground.precious(), before, "{shell:?} {task}: {swaps:?}");
            if !swaps.next(&ground) {
                break;
            }
        }
    }
}

/// The same against a user who changes names as fast as he can; how often is bounded, not how long.
#[test]
fn a_user_who_swaps_names_all_the_time_wins_nothing() {
    let Some(ground) = Ground::new() else { return println!("{NOT_ROOT}") };
    ground.other("cd DIR/scratch; mkdir -m 700 x; ln -s ../etc/shadow l; echo x >y; ln -s ../etc/shadow m");
    let directory = ground.read("directory: { path: DIR/scratch/x, mode: \"0755\", owner: root }");
    let file = ground.read("file: { path: DIR/scratch/y, mode: \"0755\", owner: root }");
    let before = ground.precious();
    let scripts: Vec<Script> = [&directory, &file]
        .iter()
        .flat_map(|task| task.plan(&gather(SHELLS[0], task.queries())).unwrap())
        .map(|change| change.script)
        .collect();
    assert_eq!(scripts.len(), 2);
    let swap = "cd \"$1\"; while [ -e x ] || [ -e d ]; do for w in 'x d l' 'y e m'; do set -- $w; \
                mv -T $1 $2; mv -T $3 $1; mv -T $1 $3; mv -T $2 $1; done; done 2>/dev/null";
    let mut other = Command::new("sh")
        .args(["-c", swap, "sh"])
        .arg(ground.path("scratch"))
        .uid(OTHER)
        .gid(OTHER)
        .spawn()
        .unwrap();
    for try_ in 0..150 {
        for script in &scripts {
            drop(run(SHELLS[try_ % 2], script, None));
        }
        if ground.precious() != before {
            break;
        }
    }
    drop(other.kill());
    other.wait().unwrap();
    assert_eq!(ground.precious(), before);
}

/// What is legitimate goes on: links that root made, directories of the owner, what others may write to.
#[test]
fn links_of_root_are_followed_and_directories_must_be_of_the_owner() {
    for shell in SHELLS {
        let Some(ground) = Ground::new() else { return println!("{NOT_ROOT}") };
        symlink("etc/conf", ground.path("run")).unwrap();
        fs::create_dir(ground.path("var")).unwrap();
        symlink("../run", ground.path("var/run")).unwrap();
        converge(shell, &*ground.read("file: { path: DIR/var/run/pid, content: x }")).unwrap();
        assert!(ground.path("etc/conf/pid").exists());
        converge(shell, &*ground.read("directory: { path: DIR/var/run/made/deep, mode: \"0700\" }")).unwrap();
        // A link of root in a directory of everybody, which nobody else can change.
        symlink("../etc/conf", ground.path("scratch/ours")).unwrap();
        converge(shell, &*ground.read("file: { path: DIR/scratch/ours/more, content: x }")).unwrap();
        // Where a group may put another link in its place, the message says which directory that is.
        fs::create_dir(ground.path("staff")).unwrap();
        fs::set_permissions(ground.path("staff"), fs::Permissions::from_mode(0o2775)).unwrap();
        symlink("../etc/conf", ground.path("staff/cuda")).unwrap();
        let error =
            converge(shell, &*ground.read("file: { path: DIR/staff/cuda/x, content: x }")).unwrap_err();
        assert!(error.contains("staff (drwxrwsr-x, root:root)") && error.contains("chmod go-w"), "{error}");
        assert!(!error.contains("link of root"), "{error}");
        // Root's link into a home does not make a link there any better.
        ground.other("ln -s ../etc/conf DIR/home/data");
        symlink("home/data", ground.path("data")).unwrap();
        let error = converge(shell, &*ground.read("file: { path: DIR/data/x, content: x, owner: nobody }"));
        assert!(error.as_ref().unwrap_err().contains("home/data is a symbolic link of nobody"), "{error:?}");
        // In a home things are made for its user.
        let error = converge(shell, &*ground.read("file: { path: DIR/home/x, content: x }")).unwrap_err();
        assert!(error.contains("home belongs to nobody") && error.contains("owner: nobody"), "{error}");
        converge(shell, &*ground.read("file: { path: DIR/home/x, content: x, owner: nobody }")).unwrap();
        converge(shell, &*ground.read("line: { path: DIR/home/x, line: more }")).unwrap();
        converge(shell, &*ground.read("file: { path: DIR/home/x, mode: \"0600\" }")).unwrap();
        converge(shell, &*ground.read("directory: { path: DIR/home/a/b, owner: nobody, mode: \"2750\" }"))
            .unwrap();
        assert_eq!(fs::metadata(ground.path("home/a/b")).unwrap().mode() & 0o7777, 0o2750);
        // A name that somebody took first in a directory of everybody.
        ground.other("mkdir DIR/scratch/taken");
        let error =
            converge(shell, &*ground.read("file: { path: DIR/scratch/taken/x, content: x }")).unwrap_err();
        assert!(error.contains("scratch/taken belongs to nobody"), "{error}");
        // A second name of somebody's file.
        fs::hard_link(ground.path("etc/shadow"), ground.path("home/second")).unwrap();
        let error =
            converge(shell, &*ground.read("file: { path: DIR/home/second, mode: \"0644\", owner: nobody }"));
        assert!(error.as_ref().unwrap_err().contains("second name"), "{error:?}");
        // Programs that go by names are not started where others may rename.
        fs::create_dir(ground.path("group")).unwrap();
        fs::set_permissions(ground.path("group"), fs::Permissions::from_mode(0o2775)).unwrap();
        let task =
            "build: { system: make, source: DIR/src, prefix: DIR/group/b, directory: DIR/made, space: 1 }";
        let error = converge(shell, &*ground.read(task)).unwrap_err();
        assert!(error.contains("group (drwxrwsr-x, root:root)") && error.contains("chmod go-w"), "{error}");
        converge(shell, &*ground.read("file: { path: DIR/group/x, content: x }")).unwrap();
    }
}

/// Who is not root follows a link of their own, also where a group may write: with `umask 002` and a
/// group for each user, every directory in a home is such a one. Somebody else's link leads nowhere.
#[test]
fn a_user_follows_their_own_links() {
    for shell in SHELLS {
        let Some(ground) = Ground::new() else { return println!("{NOT_ROOT}") };
        ground.other("umask 002; mkdir DIR/home/work DIR/home/work/v1; ln -s v1 DIR/home/work/now");
        symlink("v1", ground.path("home/work/root")).unwrap();
        lchown(ground.path("home/work/root"), Some(OTHER - 1), Some(OTHER)).unwrap();
        let reach = |path: &str| {
            let text = shell!("shell/reach.sh").to_owned() + "reach \"$1\" '' && : >\"$spot\"";
            let path = ground.path(path);
            let (program, arguments) = shell.split_first().unwrap();
            Command::new(program)
                .args(arguments)
                .args(["-c", &text, "sh", path.to_str().unwrap()])
                .uid(OTHER)
                .gid(OTHER)
                .output()
                .unwrap()
        };
        let own = reach("home/work/now/x");
        assert!(own.status.success(), "{own:?}");
        assert!(ground.path("home/work/v1/x").exists());
        let other = reach("home/work/root/y");
        assert!(!other.status.success() && !ground.path("home/work/v1/y").exists(), "{other:?}");
        assert!(String::from_utf8_lossy(&other.stderr).contains("may lead anywhere"), "{other:?}");
    }
}

/// A copy of /etc, for a user of a test. A mount on /etc/passwd alone would not do: whoever adds a user to this machine
/// meanwhile renames a new file over it, which ends the mount.
struct Etc(tempfile::TempDir);

impl Etc {
    fn copy() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let copied = Command::new("cp").args(["-a", "/etc/."]).arg(directory.path()).status().unwrap();
        assert!(copied.success());
        Self(directory)
    }

    /// The words before a command that sees the user `plain` with a home in `ground`.
    fn words(&self, ground: &Ground) -> Vec<String> {
        let home = ground.path("home");
        let etc = self.0.path();
        let plain = format!("plain:x:{OTHER}:{OTHER}::{}:/bin/sh\n", home.display());
        fs::write(etc.join("passwd"), fs::read_to_string("/etc/passwd").unwrap() + &plain).unwrap();
        let inside = format!("mount --bind '{}' /etc && exec \"$0\" \"$@\"", etc.display());
        ["unshare", "-m", "sh", "-c", &inside].map(str::to_owned).into()
    }
}

/// Before any one of our commands, and back before any later one, the other user puts a link to a file of root in the place of
/// one that is read: what only root may read is in no answer, as it would be written back for them.
#[test]
fn what_only_root_may_read_is_in_no_answer() {
    const TOOLS: &[&str] =
        &["stat", "readlink", "ls", "id", "head", "cat", "grep", "base64", "sha256sum", "getent"];
    if Command::new("setpriv").arg("--version").output().is_err() {
        return println!("skipped: there is no setpriv here");
    }
    let shells: &[&[&str]] = &[&["dash"], &["bash"], &["busybox", "sh"]];
    let questions: &[(&str, &str)] = &[
        ("line: { path: DIR/home/x, line: new }", ""),
        ("", "fetch DIR/home/x"),
        ("", "authorized_keys plain"),
        ("", "ssh_key plain x"),
        ("", "ssh_files plain x"),
    ];
    let etc = Etc::copy();
    for (shell, (task, label)) in shells.iter().flat_map(|shell| questions.iter().map(move |it| (shell, it)))
    {
        let mut swaps = Swaps::default();
        loop {
            let Some(ground) = Ground::new() else { return println!("{NOT_ROOT}") };
            let directory = ground.0.path().to_str().unwrap().to_owned();
            ground.other(
                "cd DIR; mkdir home/.ssh; for f in x .ssh/x .ssh/x.pub .ssh/authorized_keys .ssh/config; do \
                 echo own >home/$f; done; ln -s DIR/etc/shadow home/l",
            );
            let swap = "cd home; for f in x .ssh/x .ssh/x.pub .ssh/authorized_keys .ssh/config; do mv -T $f $f.d; cp -P l $f; done";
            let back = "cd home; for f in x .ssh/x .ssh/x.pub .ssh/authorized_keys .ssh/config; do mv -fT $f.d $f; done";
            let path = swaps.tools(&ground, TOOLS, swap, back);
            let queries: std::collections::BTreeSet<_> = if label.is_empty() {
                ground.read(task).queries().into_iter().collect()
            } else {
                let label = label.replace("DIR", &directory);
                [provision::resources::question(&label).unwrap_or_else(|| panic!("{label}"))].into()
            };
            let user = etc.words(&ground);
            let words: Vec<&str> = user.iter().map(String::as_str).chain(shell.iter().copied()).collect();
            for part in provision::facts::batch(&queries, std::time::Duration::from_secs(20)) {
                let (_, output, errors) = run(&words, &part.part.script, Some(&path));
                let output = String::from_utf8_lossy(&output).into_owned();
                assert!(swaps.at > 0 || output.contains("own"), "{shell:?} {task}{label}: {output}{errors}");
                let secret = ["root:secret", "cm9vdDpzZWNyZXQ"].iter().any(|form| output.contains(form));
                assert!(!secret, "{shell:?} {task}{label}: {swaps:?}: {output}");
            }
            // busybox takes its own tools whatever the path says, so nobody gets between two of them.
            if shell[0] == "busybox" || !swaps.next(&ground) {
                break;
            }
        }
    }
}

/// A pipe in the place of what is read holds up no question.
#[test]
fn a_pipe_in_a_home_is_not_waited_for() {
    let etc = Etc::copy();
    for shell in SHELLS {
        let Some(ground) = Ground::new() else { return println!("{NOT_ROOT}") };
        let directory = ground.0.path().to_str().unwrap().to_owned();
        // What is larger than the disk is no better.
        ground.other("cd DIR/home; mkdir .ssh; truncate -s 1T .ssh/y.pub .ssh/y; mkfifo x .ssh/x .ssh/x.pub .ssh/authorized_keys .ssh/config");
        let user = etc.words(&ground);
        let words: Vec<&str> =
            user.iter().map(String::as_str).chain(["timeout", "10"]).chain(shell.iter().copied()).collect();
        for label in [
            "fetch DIR/home/x",
            "authorized_keys plain",
            "ssh_key plain x",
            "ssh_key plain y",
            "ssh_files plain x",
        ] {
            let query = provision::resources::question(&label.replace("DIR", &directory))
                .unwrap_or_else(|| panic!("{label}"));
            for part in provision::facts::batch(&[query].into(), std::time::Duration::from_secs(20)) {
                let (status, _, errors) = run(&words, &part.part.script, None);
                assert_ne!(status, 124, "{shell:?} {label}: {errors}");
            }
        }
    }
}

/// What is rendered stays below the inventory, whoever made the link: it may have come with the files.
#[test]
fn a_rendered_file_stays_below_the_inventory() {
    for shell in SHELLS {
        let elsewhere = tempfile::tempdir().unwrap();
        fs::write(elsewhere.path().join("there"), "kept\n").unwrap();
        let directory = tempfile::tempdir().unwrap();
        symlink(elsewhere.path(), directory.path().join("jobs")).unwrap();
        // The directory itself may well be reached by a link.
        let link = directory.path().join("link");
        fs::create_dir(directory.path().join("inventory")).unwrap();
        symlink("inventory", &link).unwrap();
        let read = |base: &Path, task: &str| {
            let mut sources = Sources::default();
            let id = sources.add("task.yaml", task);
            let node = yaml::parse(&sources, id).unwrap();
            let Yaml::Map(entries) = &node.value else { panic!("{task}") };
            let kind = kinds().iter().find(|kind| kind.name == "render").unwrap();
            let context = Here(Utf8PathBuf::from_path_buf(base.to_owned()).unwrap());
            kind.read(&entries[0].1, &context, &mut Diagnostics::default()).unwrap()
        };
        for task in [
            "render: { path: jobs/new, content: x }",
            "render: { path: jobs/deep/er/new, content: x }",
            "render: { path: jobs/there, content: x }",
            "render: { path: jobs/there, content: \"kept\\n\", mode: \"0777\" }",
            "render: { path: jobs/there, state: absent }",
        ] {
            let error = converge(shell, &*read(directory.path(), task)).unwrap_err();
            assert!(error.contains("jobs is a symbolic link"), "{shell:?} {task}: {error}");
            assert_eq!(fs::read_dir(elsewhere.path()).unwrap().count(), 1, "{task}");
            let there = elsewhere.path().join("there");
            assert_eq!(fs::read_to_string(&there).unwrap(), "kept\n", "{task}");
            assert_eq!(fs::metadata(&there).unwrap().mode() & 0o111, 0, "{task}");
        }
        converge(shell, &*read(&link, "render: { path: jobs/new, content: x }")).unwrap();
        assert_eq!(fs::read_to_string(directory.path().join("inventory/jobs/new")).unwrap(), "x");
    }
}
