//! Resources against the real shells of this machine: gather, plan, run, gather, nothing left.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test")]
#![allow(clippy::disallowed_methods, reason = "tests start shells and programs")]

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use crate::support::{SHELLS, converge, gather, read, run, with_placeholders};
use camino::Utf8PathBuf;
use provision::facts::file::{Attributes, PathQuery};
use provision::resources::{Context, Local, Resource};

/// `src` names files below a directory; a template knows one variable.
struct Here(Utf8PathBuf);

/// The same for a task with `become_user`.
struct As(Here, &'static str);

impl Context for As {
    fn local(&self, src: &str) -> Result<Local, String> {
        self.0.local(src)
    }

    fn render(&self, name: &str, text: &str) -> Result<String, provision::config::TextError> {
        self.0.render(name, text)
    }

    fn user(&self) -> Option<&str> {
        Some(self.1)
    }
}

impl Context for Here {
    fn local(&self, src: &str) -> Result<Local, String> {
        let path = self.0.join(src);
        if src == "large" {
            let bytes = fs::read(&path).unwrap();
            let sha256 = provision::resources::shared::value::sha256(&bytes);
            return Ok(Local::Large { path, size: bytes.len() as u64, sha256 });
        }
        if path.is_dir() {
            return Ok(Local::Tree(vec![
                ("bin".to_owned(), None),
                ("bin/run me".to_owned(), Some(Local::Bytes(Arc::from(&b"#!/bin/sh\n"[..])))),
                ("empty".to_owned(), None),
                ("top".to_owned(), Some(Local::Bytes(Arc::from(&b"\x00\xff"[..])))),
            ]));
        }
        fs::read(&path).map(|bytes| Local::Bytes(bytes.into())).map_err(|error| error.to_string())
    }

    fn render(&self, _: &str, text: &str) -> Result<String, provision::config::TextError> {
        Ok(text.replace("{{ name }}", "gpu0"))
    }

    fn base(&self) -> &camino::Utf8Path {
        &self.0
    }
}

fn each(test: impl Fn(&[&str], &dyn Fn(&str) -> Arc<dyn Resource>, &Path)) {
    for shell in SHELLS {
        let directory = tempfile::tempdir().unwrap();
        let context = Here(Utf8PathBuf::from_path_buf(directory.path().to_owned()).unwrap());
        test(shell, &|text| read(&context, &text.replace("DIR", context.0.as_str())), directory.path());
    }
}

fn mode(path: &Path) -> u32 {
    fs::symlink_metadata(path).unwrap().permissions().mode() & 0o7777
}

#[test]
fn file() {
    each(|shell, read, directory| {
        let path = directory.join("it's \\ \"$(x)\" é.conf");
        let task = read(
            "file: { path: \"DIR/it's \\\\ \\\"$(x)\\\" é.conf\", content: \"a\\n'b' $HOME `c` \\\\ EOF\\nEND\\n\", mode: \"0640\" }",
        );
        assert_eq!(converge(shell, &*task).unwrap(), [format!("+ {}", path.display())]);
        assert_eq!(fs::read_to_string(&path).unwrap(), "a\n'b' $HOME `c` \\ EOF\nEND\n");
        assert_eq!(mode(&path), 0o640);
        assert!(converge(shell, &*task).unwrap().is_empty());
        // Mode drifts, then content, then both; what is not named is kept.
        fs::set_permissions(&path, fs::Permissions::from_mode(0o4600)).unwrap();
        assert_eq!(converge(shell, &*task).unwrap(), [format!("~ {} (mode 4600 -> 0640)", path.display())]);
        fs::write(&path, "other").unwrap();
        assert_eq!(converge(shell, &*task).unwrap(), [format!("~ {} (content)", path.display())]);
        let loose = read("file: { path: DIR/loose, content: x }");
        fs::write(directory.join("loose"), "y").unwrap();
        fs::set_permissions(directory.join("loose"), fs::Permissions::from_mode(0o751)).unwrap();
        converge(shell, &*loose).unwrap();
        assert_eq!(mode(&directory.join("loose")), 0o751);
        // A write that was killed before its rename left this; a name that is like it was not ours.
        fs::write(directory.join(".provision.0131a79a-9035-43e7-956e-40ac172ae4a8"), "half").unwrap();
        fs::write(directory.join(".provision.upload.a-b-c-d-e"), "one that goes on").unwrap();
        fs::write(&path, "drift").unwrap();
        converge(shell, &*task).unwrap();
        fs::remove_file(directory.join(".provision.upload.a-b-c-d-e")).unwrap();
        assert_eq!(fs::read_dir(directory).unwrap().count(), 2, "nothing is left behind");
        // The diff has the old text.
        fs::write(&path, "old\n").unwrap();
        let changes = task.plan(&gather(shell, task.queries())).unwrap();
        let detail = format!("{:?}", changes[0].detail);
        assert!(detail.contains("old\\n") && detail.contains("EOF"), "{detail}");
        // Absent.
        let absent = read("file: { path: DIR/loose, state: absent }");
        assert_eq!(converge(shell, &*absent).unwrap().len(), 1);
        assert!(converge(shell, &*absent).unwrap().is_empty());
    });
}

#[test]
fn file_owner_by_number() {
    each(|shell, read, directory| {
        let task = read("file: { path: DIR/owned, content: x, owner: 65534, group: \"65534\" }");
        if fs::metadata(directory).unwrap().uid() == 0 {
            converge(shell, &*task).unwrap();
            assert_eq!(fs::metadata(directory.join("owned")).unwrap().uid(), 65534);
            let kept = read("file: { path: DIR/owned, content: y }");
            converge(shell, &*kept).unwrap();
            assert_eq!(fs::metadata(directory.join("owned")).unwrap().uid(), 65534);
            let root = read("file: { path: DIR/owned, content: y, owner: root }");
            assert_eq!(converge(shell, &*root).unwrap().len(), 1);
        }
    });
}

#[test]
fn things_in_the_way() {
    each(|shell, read, directory| {
        symlink("/nowhere", directory.join("link")).unwrap();
        fs::create_dir(directory.join("dir")).unwrap();
        for (task, want) in [
            ("file: { path: DIR/link, content: x }", "symbolic link to /nowhere"),
            ("file: { path: DIR/dir, content: x }", "a directory, not a regular file"),
            ("file: { path: DIR/dir, state: absent }", "use `directory`"),
            ("file: { path: DIR/none/x, content: x }", "Missing"),
            ("file: { path: DIR/nothing, mode: \"0600\" }", "neither `content` nor `src`"),
            ("directory: { path: DIR/link }", "symbolic link to /nowhere"),
            ("symlink: { path: DIR/dir, target: x }", "not a symbolic link"),
        ] {
            let error = converge(shell, &*read(task)).unwrap_err();
            assert!(error.contains(want), "{task}: {error}");
        }
    });
}

#[test]
fn secrets_are_compared_and_not_fetched() {
    each(|shell, read, directory| {
        let path = directory.join("secret");
        let task = read(&with_placeholders(
            "file: { path: DIR/secret, content: \"token={{provision-secret:t}}\\n\", mode: \"0600\" }",
        ));
        converge(shell, &*task).unwrap();
        fs::write(&path, "token=previous\n").unwrap();
        let facts = gather(shell, task.queries());
        let changes = task.plan(&facts).unwrap();
        assert_eq!(changes.len(), 1);
        assert!(!format!("{facts:?}{:?}", changes[0].detail).contains("previous"));
        assert!(!format!("{:?}", changes[0].detail).contains("token"));
        converge(shell, &*task).unwrap();
    });
}

#[test]
fn directory() {
    each(|shell, read, directory| {
        let task = read("directory: { path: DIR/a/b, mode: \"1777\" }");
        assert_eq!(converge(shell, &*task).unwrap().len(), 1);
        assert_eq!((mode(&directory.join("a")), mode(&directory.join("a/b"))), (0o755, 0o1777));
        fs::set_permissions(directory.join("a/b"), fs::Permissions::from_mode(0o700)).unwrap();
        assert!(converge(shell, &*task).unwrap()[0].ends_with("(mode 0700 -> 1777)"));
        fs::write(directory.join("a/b/file"), "x").unwrap();
        let absent = read("directory: { path: DIR/a, state: absent }");
        assert_eq!(converge(shell, &*absent).unwrap().len(), 1);
        assert!(!directory.join("a").exists());
    });
}

/// As that of uutils 0.12, which is in sid of 2026-11-29: of the mode it takes what `chmod` takes with three digits.
const MKDIR: &str = "#!/bin/sh
[ \"$1\" != -m ] || { mode=0${2#?}; shift 2; set -- -m \"$mode\" \"$@\"; }
exec /bin/mkdir \"$@\"
";

#[test]
fn directories_for_a_group() {
    let programs = tempfile::tempdir().unwrap();
    fs::write(programs.path().join("mkdir"), MKDIR).unwrap();
    fs::set_permissions(programs.path().join("mkdir"), fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("PATH={}:{}", programs.path().display(), std::env::var("PATH").unwrap());
    each(|shell, read, directory| {
        let sparing: Vec<&str> = ["env", &path].iter().chain(shell).copied().collect();
        for (name, shell) in [("a", shell), ("b", &sparing)] {
            for bits in ["2775", "3770", "4755"] {
                let task = read(&format!("directory: {{ path: DIR/{name}{bits}, mode: \"{bits}\" }}"));
                assert_eq!(converge(shell, &*task).unwrap().len(), 1);
                let made = directory.join(format!("{name}{bits}"));
                assert_eq!(format!("{:o}", mode(&made)), bits, "{shell:?}");
            }
        }
    });
}

#[test]
fn symlinks() {
    each(|shell, read, directory| {
        let task = read("symlink: { path: \"DIR/a link\", target: \"some where\" }");
        converge(shell, &*task).unwrap();
        fs::remove_file(directory.join("a link")).unwrap();
        fs::create_dir(directory.join("real")).unwrap();
        // A link to a directory is turned, not filled.
        symlink("real", directory.join("a link")).unwrap();
        assert!(converge(shell, &*task).unwrap()[0].contains("target real -> some where"));
        assert_eq!(fs::read_dir(directory.join("real")).unwrap().count(), 0);
        let absent = read("symlink: { path: \"DIR/a link\", target: x, state: absent }");
        converge(shell, &*absent).unwrap();
    });
}

/// Its target is any text, and looks like nothing else that the host says.
#[test]
fn a_link_of_another_user_cannot_speak_for_other_paths() {
    each(|shell, read, directory| {
        let (link, precious) = (directory.join("link -> x"), directory.join("precious"));
        fs::write(&precious, "text").unwrap();
        fs::set_permissions(&precious, fs::Permissions::from_mode(0o600)).unwrap();
        let forged = format!("a\nstat 0:0:81ff:4:1:1:1:{}\n|b\n.\n\n", precious.display());
        symlink(&forged, &link).unwrap();
        let task = read("file: { path: DIR/precious, mode: \"0600\" }");
        let mut queries = task.queries();
        queries.push(PathQuery(link.to_str().unwrap().to_owned()).into());
        let facts = gather(shell, queries.clone());
        assert!(task.plan(&facts).unwrap().is_empty(), "{shell:?}");
        let answer = facts.find(queries.last().unwrap()).unwrap();
        let answer = answer.known::<Option<Attributes>>().unwrap().as_ref().unwrap();
        assert_eq!(answer.target.as_deref(), Some(&*forged), "{shell:?}");
    });
}

/// Not every tool says that its output found no room; a file that is there stays as it was.
#[test]
fn a_file_that_finds_no_room_is_not_put_in_place() {
    if Command::new("id").arg("-u").output().unwrap().stdout != b"0\n" {
        return;
    }
    each(|shell, read, directory| {
        let small = directory.join("small");
        fs::create_dir(&small).unwrap();
        let mount = |words: &[&str]| Command::new(words[0]).args(&words[1..]).arg(&small).status().unwrap();
        assert!(mount(&["mount", "-t", "tmpfs", "-o", "size=64k", "none"]).success());
        fs::write(small.join("a"), "old\n").unwrap();
        // The `base64` of uutils 0.0.30 tells what it could not write of 5000 bytes, and nothing of 1000.
        for (fill, text) in [
            (8192, "x".repeat(70_000)),
            (8192, "ü".repeat(35_000)),
            (8192, format!("{}ü", "x".repeat(58_000))),
            (61_440, "ü".to_owned()),
        ] {
            fs::write(small.join("fill"), "x".repeat(fill)).unwrap();
            let task = read(&format!("file: {{ path: DIR/small/a, content: \"{text}\" }}"));
            let said = converge(shell, &*task).expect_err("no room");
            assert!(said.contains("write") || said.contains("No space"), "{shell:?}: {said}");
            assert_eq!(fs::read_to_string(small.join("a")).unwrap(), "old\n", "{shell:?}");
            assert_eq!(fs::read_dir(&small).unwrap().count(), 2, "{shell:?}");
        }
        assert!(mount(&["umount"]).success());
    });
}

/// A file that is a mount, as /etc/hostname in containers, cannot be renamed over.
#[test]
fn a_file_that_is_a_mount_is_told_as_one() {
    if Command::new("id").arg("-u").output().unwrap().stdout != b"0\n" {
        return;
    }
    each(|shell, read, directory| {
        let (source, point) = (directory.join("source"), directory.join("point"));
        fs::write(&source, "old\n").unwrap();
        fs::write(&point, "").unwrap();
        let bound = Command::new("mount").arg("--bind").args([&source, &point]).status().unwrap();
        assert!(bound.success());
        for task in [
            "line: { path: DIR/point, line: new }",
            "file: { path: DIR/point, content: \"new\\n\" }",
            "file: { path: DIR/point, state: absent }",
        ] {
            let said = converge(shell, &*read(task)).expect_err(task);
            let told = format!("{} is a mount of its own, so nothing can take its place", point.display());
            assert!(said.contains(&told) && !said.contains("resource busy"), "{shell:?}: {said}");
            assert_eq!(fs::read_to_string(&source).unwrap(), "old\n", "{shell:?}");
        }
        assert!(Command::new("umount").arg(&point).status().unwrap().success());
        converge(shell, &*read("line: { path: DIR/point, line: new }")).unwrap();
    });
}

#[test]
fn templates_and_copies() {
    each(|shell, read, directory| {
        fs::write(directory.join("t.tera"), "host {{ name }}\n").unwrap();
        converge(shell, &*read("template: { src: t.tera, path: DIR/t }")).unwrap();
        assert_eq!(fs::read_to_string(directory.join("t")).unwrap(), "host gpu0\n");
        fs::create_dir(directory.join("tree")).unwrap();
        let tree = read("copy: { src: tree, path: DIR/copied, mode: \"0755\" }");
        assert_eq!(converge(shell, &*tree).unwrap().len(), 5);
        assert_eq!(fs::read(directory.join("copied/top")).unwrap(), b"\x00\xff");
        assert_eq!(mode(&directory.join("copied/bin/run me")), 0o755);
        fs::write(directory.join("copied/top"), "z").unwrap();
        fs::remove_dir_all(directory.join("copied/bin")).unwrap();
        assert_eq!(converge(shell, &*tree).unwrap().len(), 3);
    });
}

/// A `configure` of our own stands for that of autoconf, which the lab's tests have: it takes the same
/// arguments and writes a makefile that knows DESTDIR.
const CONFIGURE: &str = r#"#!/bin/sh
for argument; do
    case $argument in
    --prefix=*) prefix=${argument#*=} ;;
    --word=*) word=${argument#*=} ;;
    esac
done
cat >Makefile <<END
all: tool
tool: tool.in
	sed "s/WORD/$word \$(SIGN)/" tool.in >tool && chmod 755 tool
install: all
	mkdir -p \$(DESTDIR)$prefix/bin \$(DESTDIR)$prefix/etc
	cp tool \$(DESTDIR)$prefix/bin/tool && ln -sf tool \$(DESTDIR)$prefix/bin/alias
	echo default >\$(DESTDIR)$prefix/etc/conf
END
"#;

#[test]
fn builds() {
    each(|shell, read, directory| {
        let source = directory.join("src/tool");
        fs::create_dir_all(&source).unwrap();
        fs::write(source.join("configure"), CONFIGURE).unwrap();
        fs::set_permissions(source.join("configure"), fs::Permissions::from_mode(0o755)).unwrap();
        fs::write(source.join("tool.in"), "#!/bin/sh\necho WORD\n").unwrap();
        let task = |word: &str, sign: &str| {
            read(&format!(
                "build: {{ source: DIR/src/tool, prefix: DIR/opt/tool, directory: DIR/made, space: 1, options: [\"--word={word}\"], variables: {{ SIGN: \"{sign}\" }} }}"
            ))
        };
        let prefix = directory.join("opt/tool");
        let says = |want: &str| {
            let text = fs::read_to_string(prefix.join("bin/tool")).unwrap();
            assert_eq!(text, format!("#!/bin/sh\necho {want}\n"));
        };
        let first = converge(shell, &*task("it's two", "!")).unwrap();
        assert_eq!(first, [format!("+ {} (build of tool)", prefix.display())]);
        says("it's two !");
        assert!(converge(shell, &*task("it's two", "!")).unwrap().is_empty());
        // What somebody writes into its `etc`, or adds, is no reason to build again.
        fs::write(prefix.join("etc/conf"), "changed by hand\n").unwrap();
        fs::write(prefix.join("added"), "x\n").unwrap();
        assert!(converge(shell, &*task("it's two", "!")).unwrap().is_empty());
        let again = |why: &str| vec![format!("~ {} (build again: {why})", prefix.display())];
        assert_eq!(converge(shell, &*task("three", "!")).unwrap(), again("option"));
        says("three !");
        assert_eq!(converge(shell, &*task("three", "?")).unwrap(), again("make, install"));
        fs::write(source.join("tool.in"), "#!/bin/sh\necho WORD, new\n").unwrap();
        assert_eq!(converge(shell, &*task("three", "?")).unwrap(), again("source"));
        says("three ?, new");
        fs::remove_file(prefix.join("bin/tool")).unwrap();
        assert_eq!(converge(shell, &*task("three", "?")).unwrap(), again("bin/tool is missing or changed"));
        // A build that fails leaves what is there, and shows its last lines.
        fs::write(source.join("tool.in"), "new\n").unwrap();
        fs::rename(source.join("configure"), source.join("away")).unwrap();
        let error = converge(shell, &*task("three", "?")).unwrap_err();
        assert!(error.contains("there is no `configure`") && error.contains("made/log"), "{error}");
        says("three ?, new");
        fs::remove_file(source.join("tool.in")).unwrap();
        fs::rename(source.join("away"), source.join("configure")).unwrap();
        let error = converge(shell, &*task("three", "?")).unwrap_err();
        assert!(error.contains("`make` ended with status") && error.contains("tool.in"), "{error}");
        says("three ?, new");
    });
}

#[test]
fn builds_with_make_alone() {
    each(|shell, read, directory| {
        fs::create_dir(directory.join("src")).unwrap();
        fs::write(
            directory.join("src/Makefile"),
            "PREFIX ?= /nowhere\nall:\n\tmkdir -p build\n\techo $(PREFIX) >build/made\ninstall: \n\tmkdir -p $(PREFIX)/lib\n\tcp build/made $(PREFIX)/lib\n",
        )
        .unwrap();
        let pack = format!("tar -C '{0}' -czf '{0}/src.tar.gz' src", directory.display());
        assert_eq!(run(shell, &provision::transport::Script::new(pack), None).0, 0);
        // `staging` takes the place of the prefix; the archive has one directory in it.
        let task = read(
            "build: { system: make, source: DIR/src.tar.gz, prefix: DIR/opt/a, directory: DIR/a, space: 1, variables: { PREFIX: DIR/opt/a }, targets: [all], staging: PREFIX }",
        );
        converge(shell, &*task).unwrap();
        let made = fs::read_to_string(directory.join("opt/a/lib/made")).unwrap();
        assert!(made.ends_with("/opt/a\n") && !made.contains(".provision"), "{made}");
        // Without its source the result stands.
        fs::rename(directory.join("src.tar.gz"), directory.join("away")).unwrap();
        assert!(converge(shell, &*task).unwrap().is_empty());
        fs::rename(directory.join("away"), directory.join("src.tar.gz")).unwrap();
        let results = read(
            "build: { system: make, source: DIR/src.tar.gz, prefix: DIR/opt/b, directory: DIR/b, space: 1, results: [build] }",
        );
        converge(shell, &*results).unwrap();
        assert!(directory.join("opt/b/build/made").exists());
        // A makefile that does not know DESTDIR.
        let wrong = read(
            "build: { system: make, source: DIR/src.tar.gz, prefix: DIR/opt/c, directory: DIR/c, space: 1, variables: { PREFIX: DIR/elsewhere } }",
        );
        assert!(converge(shell, &*wrong).unwrap_err().contains("`staging` names the variable"));
        assert!(!directory.join("opt/c").exists());
    });
}

/// Jobs of a build in a virtual machine whose balloon holds most of its memory, on files of the kernel that are
/// made up.
#[test]
fn a_balloon_that_is_given_back_counts_as_memory() {
    each(|_, read, directory| {
        fs::create_dir(directory.join("src")).unwrap();
        fs::write(directory.join("src/Makefile"), "all:\n\ntouch:\n\tmkdir out\n").unwrap();
        let jobs = |name: &str, features: &str| -> Option<String> {
            let sys = "/sys/bus/virtio/drivers/virtio_balloon/virtio0";
            let make = format!(
                "set -e; mount -t tmpfs none /sys; mkdir -p {sys}; echo {features} >{sys}/features; \
                 printf 'MemAvailable: 700000 kB\\nBalloon: 9000000 kB\\n' >/sys/meminfo; \
                 mount --bind /sys/meminfo /proc/meminfo; exec dash"
            );
            let shell = ["unshare", "-m", "sh", "-c", &make];
            let able = provision::transport::Script::new("exit 7");
            if run(&shell, &able, None).0 != 7 {
                return None;
            }
            let task = read(&format!(
                "build: {{ system: make, source: DIR/src, prefix: DIR/opt/{name}, directory: DIR/{name}, space: 1, targets: [touch], results: [out], jobs: 2 }}"
            ));
            converge(&shell, &*task).unwrap();
            let log = fs::read_to_string(directory.join(name).join("log")).unwrap();
            Some(log.lines().find(|line| line.starts_with("+ make")).unwrap().to_owned())
        };
        let Some(given_back) = jobs("a", "0010010000") else {
            return println!("namespaces cannot be made here");
        };
        assert!(given_back.contains("-j2"), "{given_back}");
        let kept = jobs("b", "0100010000").unwrap();
        assert!(kept.contains("-j1"), "{kept}");
    });
}

#[test]
fn commands() {
    each(|shell, read, directory| {
        let made = read("command: { run: [touch, made], creates: DIR/made, chdir: DIR }");
        assert_eq!(converge(shell, &*made).unwrap(), ["! touch made"]);
        assert!(converge(shell, &*made).unwrap().is_empty());
        let script = read(
            "command: { script: \"printf '%s' \\\"$WHAT\\\" >DIR/out\\n\", unless: 'test \"$(cat DIR/out 2>/dev/null)\" = \"$WHAT\"', env: { WHAT: \"it's $(x) \\\"y\\\"\" } }",
        );
        converge(shell, &*script).unwrap();
        assert_eq!(fs::read_to_string(directory.join("out")).unwrap(), "it's $(x) \"y\"");
        assert!(converge(shell, &*script).unwrap().is_empty());
        let bash = read(
            "command: { script: \"#!/bin/bash -e\\na=(1 2)\\nfalse\\ntouch DIR/never\\n\", check: [test, -e, DIR/never] }",
        );
        assert!(converge(shell, &*bash).unwrap_err().contains("ended with 1"));
        // Python looks for modules beside its script.
        let alone = read(
            "command: { script: \"#!/bin/sh -e\\ncd \\\"${0%/*}\\\"; { stat -c %a .; ls -A; } >DIR/alone\\n\", check: [test, -e, DIR/alone] }",
        );
        converge(shell, &*alone).unwrap();
        assert_eq!(fs::read_to_string(directory.join("alone")).unwrap(), "700\nscript\n");
        let question = read("command: { run: [printf, \"%s\", \"two words\"], changes: false }");
        let facts = gather(shell, question.queries());
        assert!(question.plan(&facts).unwrap().is_empty());
        assert!(format!("{facts:?}").contains("stdout: \"two words\""));
        let bare = read("command: { run: [\"true\"] }");
        assert!(!bare.provable());
        assert_eq!(converge(shell, &*bare).unwrap().len(), 1);
    });
}

#[test]
fn lines() {
    each(|shell, read, directory| {
        let path = directory.join("sshd_config");
        let task =
            read("line: { path: DIR/sshd_config, line: PermitRootLogin no, match: '^#?PermitRootLogin ' }");
        assert!(converge(shell, &*task).unwrap_err().contains("Missing"));
        fs::write(&path, "a\n#PermitRootLogin yes\nb\nPermitRootLogin yes\nlast").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        assert_eq!(converge(shell, &*task).unwrap(), [format!("~ {} (content)", path.display())]);
        assert_eq!(fs::read_to_string(&path).unwrap(), "a\nPermitRootLogin no\nb\nlast");
        assert_eq!(mode(&path), 0o600);
        converge(shell, &*read("line: { path: DIR/sshd_config, line: new }")).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "a\nPermitRootLogin no\nb\nlast\nnew\n");
        converge(shell, &*read("line: { path: DIR/sshd_config, line: b, state: absent }")).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "a\nPermitRootLogin no\nlast\nnew\n");
        fs::write(&path, "").unwrap();
        converge(shell, &*task).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "PermitRootLogin no\n");
    });
}

#[test]
fn what_a_tool_refuses_is_not_put_in_place() {
    each(|shell, read, directory| {
        let tool = directory.join("it's a tool");
        // It sees the draft with its mode and the end of its name, and says where it is.
        fs::write(
            &tool,
            "#!/bin/sh\n[ \"$1\" = --strict ] || exit 9\nfile=${2#--file=}\ncase $file in /*conf) ;; *) exit 8 ;; esac\n[ \"$(stat -c %a \"$file\")\" = 640 ] || exit 7\ngrep -q good \"$file\" && exit\nseq 9\necho \"$file:1: not good\" >&2\nexit 3\n",
        )
        .unwrap();
        fs::set_permissions(&tool, fs::Permissions::from_mode(0o755)).unwrap();
        let path = directory.join("a b.conf");
        let file = |content: &str| {
            read(&format!(
                "file: {{ path: \"DIR/a b.conf\", content: \"{content}\\n\", mode: \"0640\", validate: [\"DIR/it's a tool\", --strict, \"--file=%s\"] }}"
            ))
        };
        let left = || fs::read_dir(directory).unwrap().count();
        let error = converge(shell, &*file("bad")).unwrap_err();
        assert!(!path.exists(), "{error}");
        assert_eq!(left(), 1, "no draft is left");
        converge(shell, &*file("good")).unwrap();
        assert!(converge(shell, &*file("good")).unwrap().is_empty());
        let error = converge(shell, &*file("bad")).unwrap_err();
        assert_eq!(fs::read_to_string(&path).unwrap(), "good\n");
        let said = format!(
            "{}:1: not good\n{} refuses what {0} would be (status 3)",
            path.display(),
            tool.display()
        );
        assert!(error.contains(&said) && error.contains("9\n") && !error.contains("5\n"), "{error}");
        // A part of a file, and one that is streamed.
        let line = "line: { path: \"DIR/a b.conf\", match: good, line: LINE, validate: [\"DIR/it's a tool\", --strict, \"--file=%s\"] }";
        assert!(converge(shell, &*read(&line.replace("LINE", "worse"))).is_err());
        assert_eq!(fs::read_to_string(&path).unwrap(), "good\n");
        converge(shell, &*read(&line.replace("LINE", "still good"))).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "still good\n");
        fs::write(directory.join("large"), "x\n".repeat(1 << 20)).unwrap();
        let large = read("copy: { src: large, path: DIR/copied, validate: [grep, -q, good, \"%s\"] }");
        assert!(converge(shell, &*large).unwrap_err().contains("grep refuses what"));
        assert_eq!(left(), 3, "no draft is left");
        let missing = read("file: { path: DIR/x, content: x, validate: [no-such-tool, \"%s\"] }");
        let error = converge(shell, &*missing).unwrap_err();
        assert!(error.contains("no-such-tool is not on the host, and nothing else can check"), "{error}");
        assert_eq!(left(), 3);
    });
}

#[test]
fn large_files_are_streamed_and_stamped() {
    each(|shell, read, directory| {
        let bytes: Vec<u8> = (0..17_u32 << 20).map(|i| (i % 251) as u8).collect();
        fs::write(directory.join("large"), &bytes).unwrap();
        let task = read("copy: { src: large, path: DIR/there, mode: \"0600\" }");
        assert_eq!(converge(shell, &*task).unwrap(), [format!("+ {}", directory.join("there").display())]);
        assert_eq!(fs::read(directory.join("there")).unwrap(), bytes);
        assert!(converge(shell, &*task).unwrap().is_empty());
        // One byte changes, and the size does not.
        let mut other = bytes.clone();
        other[1] ^= 1;
        fs::write(directory.join("there"), &other).unwrap();
        assert_eq!(converge(shell, &*task).unwrap().len(), 1);
    });
}

#[test]
fn nccl_env() {
    each(|shell, read, directory| {
        let task = read(
            "nccl_env: { nic: none, path: DIR/nccl.conf, profile: DIR/profile.d/nccl.sh, variables: { NCCL_IB_HCA: \"\", NCCL_SOCKET_IFNAME: \"=eth0\", NCCL_DEBUG: null, NCCL_DEBUG_FILE: \"/tmp/it's %h\" } }",
        );
        assert_eq!(converge(shell, &*task).unwrap().len(), 3, "two files and a directory");
        let conf = fs::read_to_string(directory.join("nccl.conf")).unwrap();
        assert!(
            conf.ends_with("NCCL_IB_HCA=\nNCCL_SOCKET_IFNAME==eth0\nNCCL_DEBUG_FILE=/tmp/it's %h\n"),
            "{conf}"
        );
        // What a login then has: empty is set, null is not.
        let profile = directory.join("profile.d/nccl.sh");
        let script = "unset NCCL_DEBUG; . \"$1\"; printf '<%s>' \"${NCCL_IB_HCA-unset}\" \"${NCCL_DEBUG-unset}\" \"$NCCL_SOCKET_IFNAME\" \"$NCCL_DEBUG_FILE\"";
        let output = Command::new(shell[0])
            .args(&shell[1..])
            .args(["-c", script, "sh", profile.to_str().unwrap()])
            .output()
            .unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stdout), "<><unset><=eth0></tmp/it's %h>");
        fs::write(&profile, "export NCCL_DEBUG=TRACE\n").unwrap();
        assert_eq!(converge(shell, &*task).unwrap(), [format!("~ {} (content)", profile.display())]);
    });
}

#[test]
fn render() {
    each(|shell, read, directory| {
        fs::write(directory.join("job.tera"), "host {{ name }}\n").unwrap();
        let task = read("render: { path: jobs/deep/a.sh, src: job.tera, mode: \"0755\" }");
        assert_eq!(converge(shell, &*task).unwrap().len(), 2);
        let path = directory.join("jobs/deep/a.sh");
        assert_eq!((fs::read_to_string(&path).unwrap().as_str(), mode(&path)), ("host gpu0\n", 0o755));
        assert!(converge(shell, &*task).unwrap().is_empty());
    });
}

#[test]
fn wait_for() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let unused = {
        let other = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        other.local_addr().unwrap().port()
    };
    each(|shell, read, directory| {
        // What is there is unchanged, a port on this host and the same over the network.
        assert!(converge(shell, &*read(&format!("wait_for: {{ port: {port} }}"))).unwrap().is_empty());
        assert!(
            converge(shell, &*read(&format!("wait_for: {{ port: {port}, host: 127.0.0.1 }}")))
                .unwrap()
                .is_empty()
        );
        assert!(converge(shell, &*read("wait_for: { file: DIR }")).unwrap().is_empty());
        // What comes is waited for. It is asked for before it can come.
        let task = read("wait_for: { file: \"DIR/it's soon\", within: 60s }");
        let change = task.plan(&gather(shell, task.queries())).unwrap().remove(0);
        let soon = directory.join("it's soon");
        let made = soon.clone();
        let maker = std::thread::spawn(move || {
            std::thread::sleep(std::time::Duration::from_millis(600));
            fs::write(made, "").unwrap();
        });
        let (status, _, errors) = run(shell, &change.script, None);
        assert_eq!(status, 0, "{errors}");
        assert!(converge(shell, &*task).unwrap().is_empty());
        maker.join().unwrap();
        // What does not come fails at its time and says what it was.
        for task in [
            format!("wait_for: {{ port: {unused}, within: 1s }}"),
            "wait_for: { command: \"echo no; false\", within: 1s }".to_owned(),
        ] {
            let error = converge(shell, &*read(&task)).unwrap_err();
            assert!(error.contains("not there after 1 seconds"), "{error}");
        }
    });
}

/// Two wheels made here, so that no index is needed.
fn wheel(directory: &Path, version: &str) {
    let tree = directory.join(format!("tree-{version}"));
    let metadata = tree.join(format!("stand_in-{version}.dist-info"));
    fs::create_dir_all(&metadata).unwrap();
    fs::create_dir_all(tree.join("stand_in")).unwrap();
    fs::write(tree.join("stand_in/__init__.py"), format!("version = '{version}'\n")).unwrap();
    fs::write(
        metadata.join("METADATA"),
        format!("Metadata-Version: 2.1\nName: stand-in\nVersion: {version}\n"),
    )
    .unwrap();
    fs::write(
        metadata.join("WHEEL"),
        "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    )
    .unwrap();
    fs::write(metadata.join("RECORD"), "").unwrap();
    fs::create_dir_all(directory.join("wheels")).unwrap();
    let file = directory.join(format!("wheels/stand_in-{version}-py3-none-any.whl"));
    let status = Command::new("python3")
        .args(["-m", "zipfile", "-c"])
        .arg(file)
        .args(["stand_in".into(), metadata.file_name().unwrap().to_owned()])
        .current_dir(&tree)
        .status()
        .unwrap();
    assert!(status.success());
}

#[test]
fn pip() {
    let able = Command::new("python3").args(["-c", "import venv, ensurepip"]).output();
    if !able.is_ok_and(|output| output.status.success()) {
        return println!("python3 with venv is not installed");
    }
    // Each environment takes seconds; the scripts are short: one shell stands for all.
    let shell = SHELLS[1];
    let directory = tempfile::tempdir().unwrap();
    let directory = directory.path();
    let context = Here(Utf8PathBuf::from_path_buf(directory.to_owned()).unwrap());
    let read = |text: &str| read(&context, &text.replace("DIR", context.0.as_str()));
    wheel(directory, "1.0");
    wheel(directory, "1.1+cu121");
    let says = || {
        let python = directory.join("venv/bin/python");
        let output =
            Command::new(python).args(["-c", "import stand_in; print(stand_in.version)"]).output().unwrap();
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    };
    let one = read("pip: { venv: DIR/venv, wheels: DIR/wheels, packages: [Stand.In==1.0] }");
    assert_eq!(
        converge(shell, &*one).unwrap(),
        [format!("+ {}/venv (+ Stand.In==1.0)", directory.display())]
    );
    assert_eq!(says(), "1.0");
    assert!(converge(shell, &*one).unwrap().is_empty());
    let two = read("pip: { venv: DIR/venv, wheels: DIR/wheels, packages: [stand-in==1.1] }");
    assert_eq!(
        converge(shell, &*two).unwrap(),
        [format!("~ {}/venv (stand-in 1.0 -> 1.1)", directory.display())]
    );
    assert_eq!(says(), "1.1+cu121");
    let nothing = read("pip: { venv: DIR/venv, wheels: DIR/wheels, packages: [not-there] }");
    assert!(converge(shell, &*nothing).is_err());
    // A Python that is gone makes the environment worthless: it is made anew.
    fs::remove_file(directory.join("venv/bin/python")).unwrap();
    symlink("/nowhere/python3", directory.join("venv/bin/python")).unwrap();
    assert_eq!(converge(shell, &*two).unwrap().len(), 1);
    assert_eq!(says(), "1.1+cu121");
    let away = read("pip: { venv: DIR/venv, packages: [stand-in], state: absent }");
    assert_eq!(converge(shell, &*away).unwrap().len(), 1);
    assert!(converge(shell, &*away).unwrap().is_empty());
    let whole = read("pip: { venv: DIR/venv, state: absent }");
    assert_eq!(converge(shell, &*whole).unwrap().len(), 1);
    assert!(!directory.join("venv").exists());
}

/// A link of a network namespace of its own: the kernel's own words, and nothing of this machine is touched.
#[test]
fn netdev_in_a_namespace() {
    use std::io::BufRead as _;
    use std::process::Stdio;
    // Its own sysfs shows its own links; what is written below /etc is seen by it alone.
    let make = "mount -t sysfs sysfs /sys && mkdir -p /etc/udev/rules.d && mount -t tmpfs none /etc/udev/rules.d \
                && PATH=$PATH:/sbin:/usr/sbin && ip link add rail0 type veth peer name switch0 && ip link set rail0 up \
                && echo ready && exec cat";
    let child = Command::new("unshare")
        .args(["-n", "-m", "sh", "-c", make])
        // It stands until the test lets go of its input, however long that takes.
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn();
    let Ok(mut child) = child else { return println!("there is no unshare here") };
    let mut said = String::new();
    std::io::BufReader::new(child.stdout.take().unwrap()).read_line(&mut said).unwrap();
    if said.trim() != "ready" {
        drop(child.kill());
        child.wait().unwrap();
        return println!("namespaces of a network cannot be made here");
    }
    let pid = child.id().to_string();
    each(|shell, read, _| {
        let inside = [&["nsenter", "-t", &pid, "-n", "-m"], shell].concat();
        let small = read("netdev: { name: rail0, mtu: 1500 }");
        converge(&inside, &*small).unwrap();
        let task = read("netdev: { name: rail0, mtu: 4200 }");
        let done = converge(&inside, &*task).unwrap();
        assert_eq!(done.last().unwrap(), "~ link rail0 (mtu 1500 -> 4200)");
        assert!(converge(&inside, &*task).unwrap().is_empty());
        let driver = converge(
            &inside,
            &*read("netdev: { match: { netdev: rail0, pci: \"0000:00:00.0\" }, mtu: 9000 }"),
        );
        assert!(driver.unwrap_err().contains("there is no network link"));
        let huge = converge(&inside, &*read("netdev: { name: rail0, mtu: 70000 }"));
        assert!(huge.unwrap_err().contains("at most 65535 bytes") || shell.contains(&"busybox"));
    });
    drop(child.kill());
    child.wait().unwrap();
}

/// Two rails in one subnet, on the kernel's own tables: each leaves by its own link.
#[test]
fn rails_in_a_namespace() {
    use std::io::BufRead as _;
    use std::process::Stdio;
    let make = "mount -t sysfs sysfs /sys && mkdir -p /etc/network /usr/local/sbin && mount -t tmpfs none /etc/network \
                && mount -t tmpfs none /usr/local/sbin && printf '#!/bin/sh\\n' >/usr/local/sbin/ifup && chmod +x /usr/local/sbin/ifup \
                && : >/etc/network/interfaces && PATH=$PATH:/sbin:/usr/sbin && ip link set lo up && for n in 0 1; do ip link add rail$n type veth peer name switch$n \
                && ip link set rail$n up && ip link set switch$n up && ip addr add 10.1.0.1$n/24 dev rail$n || exit; done \
                && echo ready && exec cat";
    let child = Command::new("unshare")
        .args(["-n", "-m", "sh", "-c", make])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn();
    let Ok(mut child) = child else { return println!("there is no unshare here") };
    let mut said = String::new();
    std::io::BufReader::new(child.stdout.take().unwrap()).read_line(&mut said).unwrap();
    if said.trim() != "ready" {
        drop(child.kill());
        child.wait().unwrap();
        return println!("namespaces of a network cannot be made here");
    }
    let pid = child.id().to_string();
    let sh = |shell: &[&str], text: &str| {
        let inside = [&["nsenter", "-t", &pid, "-n", "-m"], shell, &["-c", text]].concat();
        let output = Command::new(inside[0]).args(&inside[1..]).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    let way = |from: &str| {
        let told = sh(&["sh"], &format!("PATH=$PATH:/sbin ip route get 10.1.0.99 from {from}"));
        told.split_whitespace().skip_while(|word| *word != "dev").nth(1).unwrap_or("").to_owned()
    };
    assert_eq!(way("10.1.0.11"), "rail0", "without rules the first link has all");
    each(|shell, read, _| {
        // Without -N nothing tells which table is meant.
        if sh(shell, "ip -N rule show >/dev/null 2>&1 && echo yes").trim() != "yes" {
            return;
        }
        let inside = [&["nsenter", "-t", &pid, "-n", "-m"], shell].concat();
        let rail = |rail: usize| {
            read(&format!(
                "netdev: {{ name: rail{rail}, table: 10{rail}, gateway: 10.1.0.1, manager: ifupdown }}"
            ))
        };
        for number in [0, 1] {
            let done = converge(&inside, &*rail(number)).unwrap();
            let wanted = format!(
                "~ routes of link rail{number} (rule none -> from 10.1.0.1{number} table 10{number}, route none -> 10.1.0.0/24 \
                 table 10{number}, route none -> default via 10.1.0.1 table 10{number})"
            );
            assert_eq!(done.last().unwrap(), &wanted);
            assert!(converge(&inside, &*rail(number)).unwrap().is_empty());
        }
        assert_eq!([way("10.1.0.10"), way("10.1.0.11")], ["rail0", "rail1"]);
        let kept = sh(&["sh"], "cat /etc/network/interfaces.d/provision-rail1");
        assert!(kept.contains("up ip -4 rule add from 10.1.0.11 table 101 priority 101"), "{kept}");
        let restore = include_str!("../../src/resources/network/netdev/netdev_routes_restore.sh");
        for number in [0, 1] {
            let items = format!("from=10.1.0.1{number} to=10.1.0.0/24 via=10.1.0.1");
            sh(shell, &format!("set -- ifupdown rail{number} '' 10{number} {items}\n{restore}"));
        }
        assert_eq!(
            sh(&["sh"], "PATH=$PATH:/sbin; ip rule; ip route show table 101 2>/dev/null").lines().count(),
            3
        );
        sh(&["sh"], "rm -r /etc/network/*; : >/etc/network/interfaces");
    });
    drop(child.kill());
    child.wait().unwrap();
}

/// Every way in which a playbook makes a host run something to look, each leaving who ran it.
#[test]
fn what_a_task_asks_runs_as_its_user() {
    for shell in SHELLS {
        let directory = tempfile::tempdir().unwrap();
        let root = Utf8PathBuf::from_path_buf(directory.path().to_owned()).unwrap();
        if fs::metadata(&root).unwrap().uid() != 0 {
            println!("skipped: only root becomes somebody else");
            return;
        }
        fs::set_permissions(&root, fs::Permissions::from_mode(0o777)).unwrap();
        let note = |name: &str| {
            let path = root.join(name);
            let text = format!("#!/bin/sh\nid -un >>{root}/$1.{name}\numask >>{root}/$1.{name}\necho 1.0\n");
            fs::write(&path, text).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
            path
        };
        let program = note("program");
        // As the compiler and `nvcc` it gets arguments of its own.
        for name in ["gcc", "nvcc"] {
            let path = root.join("bin").join(name);
            fs::create_dir_all(root.join("bin")).unwrap();
            fs::write(&path, format!("#!/bin/sh\nid -un >>{root}/{name}.program\necho 1.0\n")).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        }
        fs::create_dir(root.join("src")).unwrap();
        // A checkout of nobody's that runs a command for `git status`.
        let init = "git init -q \"$1\" && cd \"$1\" && echo a >a && echo 'a filter=f' >.gitattributes && git add . && git -c user.name=n -c user.email=n@x commit -q -m m && git config filter.f.clean \"$2\" && echo b >a && chown -R nobody .";
        let tree = root.join("tree");
        let monitor = root.join("monitor");
        fs::write(&monitor, format!("#!/bin/sh\nid -un >>{root}/git.program\ncat\n")).unwrap();
        fs::set_permissions(&monitor, fs::Permissions::from_mode(0o755)).unwrap();
        let script = provision::transport::Script::new(init).args([tree.as_str(), monitor.as_str()]);
        assert_eq!(run(&["sh"], &script, None).0, 0);
        let tasks = [
            ("run", format!("command: {{ run: [{program}, run], changes: false }}")),
            ("script", format!("command: {{ script: \"{program} script\", changes: false }}")),
            (
                "lines",
                format!("command: {{ script: \"#!/bin/sh -e\\n{program} lines\\n\", changes: false }}"),
            ),
            ("unless", format!("command: {{ run: [\"true\"], unless: [{program}, unless] }}")),
            ("check", format!("command: {{ run: [\"true\"], check: \"{program} check\" }}")),
            ("wait", format!("wait_for: {{ command: [{program}, wait] }}")),
            (
                "gcc",
                format!(
                    "build: {{ source: {root}/src, prefix: {root}/opt/x, compiler: {root}/bin/gcc, cuda: {root} }}"
                ),
            ),
            ("git", format!("git: {{ url: https://x/y.git, path: {tree}, commit: {} }}", "a1".repeat(20))),
        ];
        for (marker, task) in &tasks {
            let task = read(&As(Here(root.clone()), "nobody"), task);
            let facts = gather(shell, task.queries());
            let said = fs::read_to_string(root.join(format!("{marker}.program")))
                .unwrap_or_else(|error| panic!("{shell:?} {marker}: {error}: {facts:?}"));
            assert!(
                said.lines().all(|line| line == "nobody" || line == "0022"),
                "{shell:?} {marker}: {said}"
            );
            if marker == &"unless" {
                assert!(task.plan(&facts).unwrap().is_empty(), "its status is that of the command");
            }
        }
        assert_eq!(fs::read_to_string(root.join("nvcc.program")).unwrap(), "nobody\n");
    }
}

#[test]
fn a_question_has_the_surroundings_of_the_change() {
    for shell in SHELLS {
        let directory = tempfile::tempdir().unwrap();
        let root = Utf8PathBuf::from_path_buf(directory.path().to_owned()).unwrap();
        if fs::metadata(&root).unwrap().uid() != 0 {
            println!("skipped: only root becomes somebody else");
            return;
        }
        let context = As(Here(root), "nobody");
        let asked = |task: &str| {
            let task = read(&context, task);
            let facts = gather(shell, task.queries());
            let query = task.queries().remove(0);
            match facts.find(&query).and_then(|answer| answer.known::<provision::facts::ask::Asked>()) {
                Some(asked) => (asked.status, asked.stdout.clone()),
                other => panic!("{shell:?}: {other:?}"),
            }
        };
        let home =
            "command: { script: 'pwd; umask; echo \"$HOME $USER $LC_ALL\"; cat; exit 7', changes: false }";
        let (status, stdout) = asked(home);
        let mut lines = stdout.lines();
        assert_eq!((status, lines.next(), lines.next()), (7, Some("/"), Some("0022")), "{shell:?}: {stdout}");
        assert!(lines.next().unwrap().ends_with(" nobody C"), "{shell:?}: {stdout}");
        // Data stay data, and a value with a secret is in no argument list.
        let data = "command: { script: 'printf \"%s\" \"$WHAT\"', changes: false, chdir: /tmp, env: { WHAT: \"it's $(x) `y`\\n\\\"z\\\" é\" } }";
        assert_eq!(asked(data), (0, "it's $(x) `y`\n\"z\" é".to_owned()), "{shell:?}");
        assert_eq!(asked("command: { run: [pwd], changes: false, chdir: /tmp }"), (0, "/tmp\n".to_owned()));
        assert_eq!(asked("command: { run: [sh, -c, \"kill -9 $$\"], changes: false }").0, 137, "{shell:?}");
    }
}

#[test]
fn a_user_who_is_not_there_asks_nothing() {
    each(|shell, _, directory| {
        let root = Utf8PathBuf::from_path_buf(directory.to_owned()).unwrap();
        let text = format!("command: {{ run: [\"true\"], unless: [touch, {root}/marker] }}");
        let task = read(&As(Here(root.clone()), "no-such-user"), &text);
        let error = format!("{:?}", task.plan(&gather(shell, task.queries())).unwrap_err());
        assert!(error.starts_with("Missing(User(\"no-such-user\")"), "{shell:?}: {error}");
        assert!(error.contains("names `no-such-user`, but there is no such user on the host"), "{error}");
        assert!(!root.join("marker").exists());
    });
}

/// A machine of its own below /etc, /opt and /usr/local, so that the real ldconfig and the real loader work and
/// nothing of this one is touched. `None` where none can be made.
fn machine() -> Option<(std::process::Child, String)> {
    use std::io::BufRead as _;
    use std::process::Stdio;
    let make = "etc=$(mktemp -d) && mount -t tmpfs none \"$etc\" && cp -a /etc/. \"$etc\" && mount --move \"$etc\" /etc \
                && rmdir \"$etc\" && mount -t tmpfs -o mode=755 none /opt && mount -t tmpfs -o mode=755 none /usr/local \
                && echo ready && exec cat";
    let mut child = Command::new("unshare")
        .args(["-m", "sh", "-c", make])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    let mut said = String::new();
    std::io::BufReader::new(child.stdout.take().unwrap()).read_line(&mut said).unwrap();
    if said.trim() == "ready" {
        let pid = child.id().to_string();
        return Some((child, pid));
    }
    drop(child.kill());
    child.wait().unwrap();
    None
}

/// Two copies of a small libnccl and libmpi, and a program in the place of nccl-tests that says which it got.
const COPIES: &str = r#"
set -eu
cd "$(mktemp -d)"
for copy in nccl:2.30.7 other:2.28.3; do
    version=${copy#*:} prefix=/opt/${copy%:*}
    [ "$prefix" != /opt/nccl ] || prefix=/usr/local/nccl
    mkdir -p "$prefix/lib"
    echo "const char *nccl(void) { return \"$version\"; }" >nccl.c
    gcc -shared -fPIC -Wl,-soname,libnccl.so.2 -o "$prefix/lib/libnccl.so.$version" nccl.c
    ln -s "libnccl.so.$version" "$prefix/lib/libnccl.so.2"
    ln -s libnccl.so.2 "$prefix/lib/libnccl.so"
done
mkdir -p /opt/openmpi/lib /opt/nccl-tests/build /opt/nccl-tests/.provision
echo 'int mpi(void) { return 0; }' >mpi.c
gcc -shared -fPIC -Wl,-soname,libmpi.so.40 -o /opt/openmpi/lib/libmpi.so.40.30.3 mpi.c
ln -s libmpi.so.40.30.3 /opt/openmpi/lib/libmpi.so.40
ln -s libmpi.so.40 /opt/openmpi/lib/libmpi.so
cat >main.c <<'END'
#include <stdio.h>
const char *nccl(void);
int mpi(void);
int main(void) { puts(nccl()); return mpi(); }
END
gcc -o /opt/nccl-tests/build/all_reduce_perf main.c -L/usr/local/nccl/lib -lnccl -L/opt/openmpi/lib -lmpi
printf 'build nccl-tests\nmake MPI=1\nmake MPI_HOME=/opt/openmpi\nmake NCCL_HOME=/usr/local/nccl\n' >/opt/nccl-tests/.provision/stamp
"#;

/// What was built is what every program loads, until something else comes first.
#[test]
fn library_path() {
    use provision::facts::software::SoftwareQuery;
    use provision::facts::{Facts, batch};
    use provision::transport::PartEnd;
    const TESTS: &str = "/opt/nccl-tests/build/all_reduce_perf";
    each(|shell, read, _| {
        let Some((mut child, pid)) = machine() else { return println!("namespaces cannot be made here") };
        let enter = ["nsenter", "-t", &pid, "-m"];
        let inside = [&enter[..], shell].concat();
        let sh = |text: &str| {
            let output = Command::new(enter[0]).args(&enter[1..]).args(["sh", "-c", text]).output().unwrap();
            (output.status.success(), String::from_utf8_lossy(&output.stdout).trim().to_owned())
        };
        let linked_for = |user: &str| {
            let mut part =
                batch(&[SoftwareQuery.into()].into(), std::time::Duration::from_secs(20)).remove(0);
            part.part.script.args = vec![user.into()];
            let (status, output, _) = run(&inside, &part.part.script, None);
            let mut facts = Facts::default();
            facts.absorb(&part, &PartEnd { index: 0, status, output, gap: None });
            let software = facts.get(&SoftwareQuery).answer().unwrap();
            let homes = &software.files.as_ref().unwrap().homes[TESTS];
            assert_eq!(homes.nccl.as_ref().unwrap().0, "/usr/local/nccl");
            software.tests[TESTS].clone().unwrap()
        };
        let linked = || linked_for("");
        let nccl = read("library_path: { name: nccl, path: /usr/local/nccl/lib }");
        let mpi = read("library_path: { name: openmpi, path: /opt/openmpi/lib }");
        assert!(converge(&inside, &*nccl).unwrap_err().contains("/usr/local/nccl/lib does not exist"));
        assert!(sh(COPIES).0);
        assert!(!sh(TESTS).0, "nobody told the loader");
        assert_eq!(linked().missing, ["libnccl.so.2", "libmpi.so.40"]);

        let file = "/etc/ld.so.conf.d/00-provision-nccl.conf";
        let done = converge(&inside, &*nccl).unwrap();
        let cache = "~ /etc/ld.so.cache (without libnccl.so.2 of /usr/local/nccl/lib)";
        assert_eq!(done, [format!("+ {file}"), cache.to_owned()]);
        assert_eq!(converge(&inside, &*mpi).unwrap().len(), 2);
        assert!(converge(&inside, &*nccl).unwrap().is_empty());
        assert_eq!(sh(TESTS), (true, "2.30.7".to_owned()));
        assert_eq!(linked().files["libnccl.so.2"], "/usr/local/nccl/lib/libnccl.so.2.30.7");
        assert_eq!(linked().files["libmpi.so.40"], "/opt/openmpi/lib/libmpi.so.40.30.3");

        // A package brings its copy and runs ldconfig: ours stays first.
        sh("echo /opt/other/lib >/etc/ld.so.conf.d/000_other.conf; ldconfig");
        assert_eq!(sh(TESTS).1, "2.30.7");
        assert!(converge(&inside, &*nccl).unwrap().is_empty());
        // A cache that somebody else made is made anew.
        sh(
            "mkdir /etc/away; mv /etc/ld.so.conf.d/*.conf /etc/away; ldconfig; mv /etc/away/* /etc/ld.so.conf.d",
        );
        assert_eq!(converge(&inside, &*nccl).unwrap(), [cache]);

        // What comes first is named, by the resource and by the probe.
        sh("sed -i '1i /opt/other/lib' /etc/ld.so.conf; ldconfig");
        assert_eq!(sh(TESTS).1, "2.28.3");
        assert_eq!(linked().files["libnccl.so.2"], "/opt/other/lib/libnccl.so.2.28.3");
        let facts = gather(&inside, nccl.queries());
        let changes = nccl.plan(&facts).unwrap();
        assert_eq!(changes[0].summary, "~ /etc/ld.so.cache (libnccl.so.2 is /opt/other/lib/libnccl.so.2)");
        let (status, output, _) = run(&inside, &changes[0].script, None);
        let said = String::from_utf8_lossy(&output).into_owned();
        assert!(status == 0 && said.contains("/opt/other/lib is named by /etc/ld.so.conf\n"), "{said}");
        assert!(!nccl.plan(&gather(&inside, nccl.queries())).unwrap().is_empty());
        sh("sed -i 1d /etc/ld.so.conf; ldconfig");
        // The login's own path is stronger than the cache: the probe sees it, the resource has no say.
        sh(
            "echo '[ \"$(id -un)\" != daemon ] || export LD_LIBRARY_PATH=/opt/other/lib' >/etc/profile.d/zz.sh",
        );
        assert_eq!(linked().files["libnccl.so.2"], "/usr/local/nccl/lib/libnccl.so.2.30.7");
        assert_eq!(linked().user, "root", "the owner of the program, where nobody is named");
        let (daemon, file) = (linked_for("daemon"), "/opt/other/lib/libnccl.so.2.28.3");
        assert_eq!((daemon.files["libnccl.so.2"].as_str(), daemon.user.as_str()), (file, "daemon"));
        assert!(converge(&inside, &*nccl).unwrap().is_empty());
        sh("rm /etc/profile.d/zz.sh");

        sh("chmod 777 /usr/local/nccl/lib");
        assert!(
            converge(&inside, &*nccl)
                .unwrap_err()
                .contains("others than root may change /usr/local/nccl/lib")
        );
        sh("rm /etc/ld.so.conf.d/000_other.conf; ldconfig");
        let away = read("library_path: { name: nccl, path: /usr/local/nccl/lib, state: absent }");
        assert_eq!(converge(&inside, &*away).unwrap().len(), 2);
        assert!(converge(&inside, &*away).unwrap().is_empty());
        assert!(!sh(TESTS).0, "it is forgotten");
        drop(child.kill());
        child.wait().unwrap();
    });
}

/// A script of this repository under a shell and no other tools than these.
fn bare(script: &str, tools: &[&str], variables: &[(&str, &str)]) -> i32 {
    let directory = tempfile::tempdir().unwrap();
    for tool in tools {
        let found = ["/usr/bin", "/bin", "/usr/sbin"].map(|place| Path::new(place).join(tool));
        let found = found.iter().find(|path| path.exists()).unwrap();
        symlink(found, directory.path().join(tool)).unwrap();
    }
    let mut shell = Command::new("/bin/dash");
    shell.args(["-c", script]).env_clear().env("PATH", directory.path()).envs(variables.iter().copied());
    shell.stdout(std::process::Stdio::null()).status().unwrap().code().unwrap()
}

/// Runs `apt.sh` with stand-ins for its programs: who holds the packages is the first line of `holders` each time that
/// it is asked, which takes the line away, and `dpkg` and `apt-get` write what they were called with to `log`.
fn apt(
    shell: &[&str],
    directory: &Path,
    holders: &str,
    dpkg: &str,
    apt: &str,
    words: &[&str],
) -> (i32, String) {
    let stands = r#"
package_holder() {
    holder=$(sed -n 1p holders)
    [ "$(wc -l <holders)" -lt 2 ] || sed -i 1d holders
}
sleep() { echo "sleep $1" >>log; }
dpkg() { echo dpkg >>log; DPKG; }
dpkg-query() { :; }
apt-get() { echo "apt-get $*" >>log; APT; }
"#;
    let script = include_str!("../../src/resources/shared/apt.sh").replace("dpkg-query -W", "dpkg_query -W");
    let stands = stands.replace("dpkg-query()", "dpkg_query()").replace("DPKG", dpkg);
    // A function's name has no dash in every shell.
    let script = script.replace("    apt-get $", "    apt_get $");
    let stands = stands.replace("apt-get()", "apt_get()").replace("APT", apt);
    fs::write(directory.join("holders"), holders).unwrap();
    fs::write(directory.join("log"), "").unwrap();
    let output = Command::new(shell[0])
        .args(&shell[1..])
        .args(["-c", &format!("{stands}{script}"), "sh"])
        .args(words)
        .current_dir(directory)
        .output()
        .unwrap();
    let said = String::from_utf8(output.stdout).unwrap() + &String::from_utf8(output.stderr).unwrap();
    (output.status.code().unwrap(), said)
}

/// Another program in the middle of its transaction is left to end it, and who waits for whom is said.
#[test]
fn a_transaction_of_another_program_is_waited_for() {
    for shell in SHELLS {
        let directory = tempfile::tempdir().unwrap();
        let place = directory.path();
        let log = || fs::read_to_string(place.join("log")).unwrap();
        let waits = "waits for process 4711 (apt-get), which changes packages here\n";
        for action in [&["configure", ""][..], &["install", "", "tool"], &["remove", "", "tool"]] {
            let (status, said) = apt(shell, place, "process 4711 (apt-get)\n\n", ":", ":", action);
            assert_eq!((status, said.matches(waits).count()), (0, 1), "{shell:?} {action:?}: {said}");
            assert!(
                log().starts_with("sleep 2\n") && log().matches("sleep").count() == 1,
                "{shell:?}: {}",
                log()
            );
            // Nobody is there: nothing is said, and nothing waits.
            let (status, said) = apt(shell, place, "\n", ":", ":", action);
            assert_eq!((status, said.as_str()), (0, ""), "{shell:?} {action:?}");
            assert!(!log().contains("sleep"), "{shell:?}: {}", log());
        }
        // It takes the lock after the look: dpkg does not wait for it.
        let refused = "[ -e done ] || { : >done; echo 'dpkg: error: dpkg frontend lock was locked by another process' >&2; return 2; }";
        let (status, said) = apt(
            shell,
            place,
            "\n\nprocess 4711 (apt-get)\nprocess 4711 (apt-get)\n\n",
            refused,
            ":",
            &["configure", ""],
        );
        assert_eq!((status, said.matches(waits).count()), (0, 1), "{shell:?}: {said}");
        assert!(log().starts_with("dpkg\nsleep 2\ndpkg\napt-get "), "{shell:?}: {}", log());
        // What fails with nobody there has failed.
        let (status, said) = apt(shell, place, "\n", "return 1", ":", &["configure", ""]);
        assert!(status != 0 && !log().contains("sleep"), "{shell:?}: {said} {}", log());
    }
}

/// Else each later `apt-get update` on the host would end with its error.
#[test]
fn a_new_source_that_apt_cannot_read_is_gone_again() {
    for shell in SHELLS {
        for (action, fails, stays) in
            [("new-source", true, false), ("source", true, true), ("new-source", false, true)]
        {
            let directory = tempfile::tempdir().unwrap();
            let source = directory.path().join("x.sources");
            fs::write(&source, "URIs: https://m.example\n").unwrap();
            let updates = if fails {
                "case $* in *update*) echo 'E: The repository is not signed.'; return 100 ;; esac"
            } else {
                ":"
            };
            let words = [action, "", source.to_str().unwrap(), "lists"];
            let (status, said) = apt(shell, directory.path(), "\n", ":", updates, &words);
            assert_eq!((status != 0, source.exists()), (fails, stays), "{shell:?} {action}: {said}");
            assert_eq!(
                said.contains("is gone again, or every apt-get update here"),
                !stays,
                "{shell:?}: {said}"
            );
            assert_eq!(said.contains("E: The repository is not signed."), fails, "{shell:?}: {said}");
        }
    }
}

/// README promises that a host needs sshd and a POSIX shell. Each Debian has perl; python3 and the ssh client are
/// often there.
#[test]
fn a_port_of_another_host_is_asked_for_with_what_is_there() {
    let script = include_str!("../../src/resources/commands/wait_for/wait_for.sh");
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port().to_string();
    let unused = {
        let other = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        other.local_addr().unwrap().port().to_string()
    };
    let ask = |tools: &[&str], place, port| {
        bare(script, tools, &[("WANT", "port"), ("WHERE", place), ("WHAT", port)])
    };
    for tool in ["perl", "python3", "ssh"] {
        if !["/usr/bin", "/bin"].iter().any(|place| Path::new(place).join(tool).exists()) {
            continue;
        }
        assert_eq!(ask(&[tool], "127.0.0.1", &port), 0, "{tool}");
        assert!(![0, 9].contains(&ask(&[tool], "127.0.0.1", &unused)), "{tool}");
        assert!(![0, 9].contains(&ask(&[tool], "no-such-host.invalid", &port)), "{tool}");
    }
    // Where nothing can ask, that is said; a port of the host itself needs nothing.
    assert_eq!(ask(&[], "127.0.0.1", &port), 9);
    assert_eq!(ask(&[], "", &port), 0);
    assert_eq!(ask(&[], "", &unused), 1);
}

/// A text of a playbook behind a key, as `sh` gets it.
fn text_of(playbook: &str, task: &str, key: &str) -> String {
    let (_, task) = playbook.split_once(&format!("- name: {task}\n")).unwrap();
    let (_, text) = task.split_once(&format!("{key}: |\n")).unwrap();
    let indent = text.len() - text.trim_start_matches(' ').len();
    let lines = text.lines().take_while(|line| line.len() - line.trim_start_matches(' ').len() >= indent);
    lines.fold(String::new(), |text, line| text + &line[indent..] + "\n")
}

#[test]
fn new_home_directories_are_never_more_open_than_they_were() {
    let playbook = include_str!("../../playbooks/base.yaml");
    let task = "new home directories are closed to others";
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("login.defs");
    let part = |key| text_of(playbook, task, key).replace("/etc/login.defs", file.to_str().unwrap());
    let (script, check) = (part("script"), part("check"));
    let tools = ["sed", "grep", "tail"];
    for (before, mode) in [
        ("HOME_MODE\t0700\n", None),
        ("UMASK\t\t022\n#HOME_MODE\t0700\n", Some("HOME_MODE\t0750")),
        ("UMASK 077\n", None),
        ("HOME_MODE 0755\n", Some("HOME_MODE\t0750")),
        ("HOME_MODE\t711\n", Some("HOME_MODE\t0710")),
        ("", Some("HOME_MODE\t0750")),
    ] {
        fs::write(&file, before).unwrap();
        let due = bare(&check, &tools, &[]) != 0;
        assert_eq!(due, mode.is_some(), "{before}");
        if due {
            assert_eq!(bare(&script, &tools, &[]), 0, "{before}");
            assert_eq!(bare(&check, &tools, &[]), 0, "{before}");
        }
        let after = fs::read_to_string(&file).unwrap();
        assert!(mode.map_or(after == before, |mode| after.lines().any(|line| line == mode)), "{after}");
    }
}
