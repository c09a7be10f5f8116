//! What fetches, against a real server on this machine, with each shell and each tool: whole files,
//! continued ones, wrong ones, archives, repositories of git.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "a test")]
#![allow(clippy::disallowed_methods, reason = "the test makes its own repositories and archives")]

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::support::{SHELLS, converge, gather, run};
use provision::config::{Diagnostics, Sources, TextError, Yaml, yaml};
use provision::resources::{Context, Local, Resource, kinds, shared::value::sha256};
use provision::sources::SiteSources;
use provision::transport::Script;

/// A server of the files below a directory.
struct Server {
    port: u16,
    sent: Arc<AtomicUsize>,
}

impl Server {
    /// With `ranges` it continues files where it is asked to.
    fn new(root: PathBuf, ranges: bool) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let sent = Arc::new(AtomicUsize::new(0));
        let count = sent.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                drop(answer(stream, &root, ranges, &count));
            }
        });
        Self { port, sent }
    }

    fn url(&self, name: &str) -> String {
        format!("http://127.0.0.1:{}/{name}", self.port)
    }

    /// Bytes of files sent since the last call.
    fn sent(&self) -> usize {
        self.sent.swap(0, Ordering::Relaxed)
    }
}

fn answer(mut stream: TcpStream, root: &Path, ranges: bool, sent: &AtomicUsize) -> std::io::Result<()> {
    let mut lines = BufReader::new(stream.try_clone()?).lines();
    let request = lines.next().transpose()?.unwrap_or_default();
    let mut from = 0;
    for line in lines.by_ref() {
        let line = line?.to_ascii_lowercase();
        if line.is_empty() {
            break;
        }
        if let Some(range) = line.strip_prefix("range: bytes=").filter(|_| ranges) {
            from = range.trim_end_matches('-').parse().unwrap_or(0);
        }
    }
    let path = request.split(' ').nth(1).unwrap_or("/").trim_start_matches('/');
    let path = path.split('?').next().unwrap_or_default();
    if path == "endless" && !request.starts_with("HEAD") {
        stream.write_all(b"HTTP/1.0 200 OK\r\nConnection: close\r\n\r\n")?;
        loop {
            stream.write_all(&vec![b'x'; 1 << 16])?;
            sent.fetch_add(1 << 16, Ordering::Relaxed);
        }
    }
    let Ok(body) = fs::read(root.join(path)) else {
        return stream.write_all(b"HTTP/1.0 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
    };
    if from > 0 && from >= body.len() {
        return stream.write_all(b"HTTP/1.0 416 Range Not Satisfiable\r\nContent-Length: 0\r\n\r\n");
    }
    let (status, range) = if from > 0 {
        ("206 Partial Content", format!("Content-Range: bytes {from}-{}/{}\r\n", body.len() - 1, body.len()))
    } else {
        ("200 OK", String::new())
    };
    let rest = &body[from..];
    let head =
        format!("HTTP/1.0 {status}\r\nContent-Length: {}\r\n{range}Connection: close\r\n\r\n", rest.len());
    stream.write_all(head.as_bytes())?;
    if !request.starts_with("HEAD") {
        sent.fetch_add(rest.len(), Ordering::Relaxed);
        stream.write_all(rest)?;
    }
    Ok(())
}

/// Sends everything that begins as `https://vendor.example` to the server.
struct Site(SiteSources);

impl Context for Site {
    fn local(&self, _: &str) -> Result<Local, String> {
        Err("none".to_owned())
    }

    fn render(&self, _: &str, text: &str) -> Result<String, TextError> {
        Ok(text.to_owned())
    }

    fn sources(&self) -> &SiteSources {
        &self.0
    }
}

fn read(server: &Server, text: &str) -> Arc<dyn Resource> {
    let mut site = Site(SiteSources::default());
    site.0.add("https://vendor.example/", &server.url(""), None);
    let mut sources = Sources::default();
    let id = sources.add("task.yaml", text);
    let node = yaml::parse(&sources, id).unwrap();
    let Yaml::Map(entries) = &node.value else { panic!("{text}") };
    let kind = kinds().iter().find(|kind| kind.name == entries[0].0.value).unwrap();
    let mut diagnostics = Diagnostics::default();
    kind.read(&entries[0].1, &site, &mut diagnostics)
        .unwrap_or_else(|| panic!("{}", diagnostics.render(&sources, false)))
}

fn sh(directory: &Path, script: &str) {
    let done = Command::new("sh").args(["-ec", script]).current_dir(directory).output().unwrap();
    assert!(done.status.success(), "{script}: {}", String::from_utf8_lossy(&done.stderr));
}

/// Where the host keeps what it fetched.
fn cached(digest: &str, end: &str) -> PathBuf {
    let root = if fs::metadata("/var/cache").is_ok_and(|_| is_writable("/var/cache")) {
        PathBuf::from("/var/cache/provision")
    } else {
        PathBuf::from(std::env::var("HOME").unwrap()).join(".cache/provision/fetched")
    };
    root.join(format!("{digest}{end}"))
}

fn is_writable(path: &str) -> bool {
    Command::new("test").args(["-w", path]).status().unwrap().success()
}

/// Text that differs from test to test, so that the cache of one does not help another.
fn content(name: &str, shell: &[&str], size: usize) -> Vec<u8> {
    let seed = format!("{name} {shell:?} {}\n", std::process::id());
    seed.into_bytes().into_iter().cycle().take(size).collect()
}

#[test]
fn a_download_is_checked_and_continued() {
    for (ranges, shell) in SHELLS.iter().flat_map(|shell| [(true, shell), (false, shell)]) {
        let served = tempfile::tempdir().unwrap();
        let host = tempfile::tempdir().unwrap();
        let server = Server::new(served.path().to_owned(), ranges);
        let body = content(&format!("download {ranges}"), shell, 300_000);
        let digest = sha256(&body);
        fs::write(served.path().join("big"), &body).unwrap();
        let target = host.path().join("big file");
        let task = |digest: &str| {
            let text = format!(
                "download: {{ url: https://vendor.example/big, path: \"{}\", sha256: \"{digest}\", mode: \"0640\" }}",
                target.display()
            );
            read(&server, &text)
        };
        // A part that an earlier run left.
        let part = cached(&digest, ".part");
        fs::create_dir_all(part.parent().unwrap()).unwrap();
        fs::write(&part, &body[..100_000]).unwrap();
        assert_eq!(converge(shell, &*task(&digest)).unwrap().len(), 1, "{shell:?}");
        assert_eq!(fs::read(&target).unwrap(), body);
        let sent = server.sent();
        assert!(if ranges { sent == 200_000 } else { sent >= 300_000 }, "{shell:?} {ranges} {sent}");
        assert!(converge(shell, &*task(&digest)).unwrap().is_empty());
        assert_eq!(server.sent(), 0);
        assert!(!part.exists() && !cached(&digest, "").exists(), "nothing is left in the cache");

        // A part of something else is no help and no harm.
        fs::write(&part, vec![b'?'; 1000]).unwrap();
        fs::write(&target, "drifted").unwrap();
        assert_eq!(converge(shell, &*task(&digest)).unwrap().len(), 1, "{shell:?}");
        assert_eq!(fs::read(&target).unwrap(), body);

        // What the server has is something else: the file stays what it was.
        let wrong = "0".repeat(64);
        let error = converge(shell, &*task(&wrong)).unwrap_err();
        assert!(error.contains(&digest) && error.contains("not 000"), "{error}");
        assert_eq!(fs::read(&target).unwrap(), body);
        assert!(!cached(&wrong, ".part").exists());
        fs::remove_file(served.path().join("big")).unwrap();
        fs::remove_file(&target).unwrap();
        let error = converge(shell, &*task(&digest)).unwrap_err();
        assert!(error.contains("cannot get http://127.0.0.1"), "{error}");
        assert!(!target.exists());
    }
}

/// `get` with one tool as if the others were not there.
fn get(without: &str) -> String {
    let hide =
        "command() { case $2 in WITHOUT) return 1 ;; esac; which \"$2\"; }\n".replace("WITHOUT", without);
    let text: &str = provision::shell!("resources/shared/get.sh");
    format!("{hide}{text}\nget \"$1\" \"$2\"\n")
}

#[test]
fn wget_and_the_helper_of_apt_do_as_well_as_curl() {
    for shell in [&["dash"][..], &["bash"]] {
        let served = tempfile::tempdir().unwrap();
        let server = Server::new(served.path().to_owned(), true);
        let body = content("tools", shell, 50_000);
        fs::write(served.path().join("it"), &body).unwrap();
        let mut tools = vec!["curl", "curl | wget"];
        if !Path::new("/usr/lib/apt/apt-helper").exists() {
            println!("skipped: there is no apt-helper here");
            tools.pop();
        }
        for hidden in tools {
            let target = served.path().join("target");
            let script =
                |name: &str| Script::new(get(hidden)).arg(server.url(name)).arg(target.to_str().unwrap());
            let (status, _, errors) = run(shell, &script("it"), None);
            assert_eq!((status, errors.contains("syntax")), (0, false), "without {hidden}: {errors}");
            assert_eq!(fs::read(&target).unwrap(), body, "without {hidden}");
            if hidden == "curl" {
                fs::write(&target, &body[..20_000]).unwrap();
                server.sent();
                assert_eq!(run(shell, &script("it"), None).0, 0);
                assert_eq!((fs::read(&target).unwrap() == body, server.sent()), (true, 30_000));
            }
            fs::remove_file(&target).unwrap();
            let (status, _, errors) = run(shell, &script("nowhere"), None);
            assert!(status != 0 && errors.contains("404"), "without {hidden}: {errors}");
        }
    }
}

/// A server need not say how much it sends, and need not end.
#[test]
fn an_endless_file_ends_at_its_limit_and_leaves_nothing() {
    for shell in SHELLS {
        let served = tempfile::tempdir().unwrap();
        let server = Server::new(served.path().to_owned(), true);
        let target = served.path().join("target");
        for hidden in ["none", "curl"] {
            // The wget of busybox says the same in other words.
            if hidden == "curl" && shell[0] == "busybox" {
                continue;
            }
            let text = get(hidden).replace("get \"$1\" \"$2\"\n", "get \"$1\" \"$2\" \"$3\"\n");
            let script = |name: &str, most: &str| {
                Script::new(text.clone()).arg(server.url(name)).arg(target.to_str().unwrap()).arg(most)
            };
            let (status, _, errors) = run(shell, &script("endless", "4096"), None);
            assert_eq!(status, 92, "{shell:?} without {hidden}: {errors}");
            assert!(errors.contains("there is more of it than 4 MiB"), "{errors}");
            assert!(!target.exists(), "{shell:?} without {hidden}");
            // What the buffers of the system take is on its way still.
            assert!(server.sent() < 64 << 20);
            let body = content("bounded", shell, 3 << 20);
            fs::write(served.path().join("it"), &body).unwrap();
            assert_eq!(run(shell, &script("it", "4096"), None).0, 0);
            assert_eq!(fs::read(&target).unwrap(), body);
            fs::remove_file(&target).unwrap();
        }
    }
}

/// Nobody names a limit: a download may have nine tenths of what is free.
/// A file with several keys is taken where each of them is expected. rpm reads a key as text alone.
#[test]
fn a_file_with_several_keys_is_taken_where_each_is_expected() {
    if Command::new("gpg").arg("--version").output().is_err() {
        return println!("gpg is not installed");
    }
    let directory = tempfile::tempdir().unwrap();
    let directory = directory.path();
    sh(
        directory,
        "mkdir -m 700 home && export GNUPGHOME=$PWD/home && \
         for name in one two; do gpg -q --batch --pinentry-mode loopback --passphrase '' --quick-gen-key $name ed25519 sign never; done && \
         gpg -q --export >both.gpg && gpg -q --armor --export one >one.asc && \
         gpg -q --list-keys --with-colons | awk -F: '$1 == \"fpr\" { print $10 }' >fingerprints; gpgconf --kill all",
    );
    let fingerprints = fs::read_to_string(directory.join("fingerprints")).unwrap();
    let [one, two] = fingerprints.lines().collect::<Vec<_>>()[..] else { panic!("{fingerprints}") };
    let text = provision::shell!(
        "shell/reach.sh",
        "resources/shared/after.sh",
        "resources/shared/get.sh",
        "resources/packages/repository/key.sh"
    );
    for shell in SHELLS {
        let fetched = |name: &str, from: &str, expected: &[&str]| {
            let target = directory.join(name);
            drop(fs::remove_file(&target));
            let script = Script::new(text)
                .arg(target.to_str().unwrap())
                .arg(format!("file://{}/{from}", directory.display()))
                .args(expected.iter().copied());
            let (status, _, said) = run(shell, &script, None);
            assert_eq!(status == 0, target.exists(), "{said}");
            if status == 0 { Ok(fs::read(target).unwrap()) } else { Err(said) }
        };
        let both = fs::read(directory.join("both.gpg")).unwrap();
        assert_eq!(fetched("x.gpg", "both.gpg", &[two, one]).unwrap(), both);
        assert!(
            fetched("x.gpg", "both.gpg", &[one])
                .unwrap_err()
                .contains(&format!("holds the key {two}, not {one}"))
        );
        assert!(fetched("x.asc", "one.asc", &[one, two]).is_ok(), "not all of them have to be there");
        assert!(fetched("x.asc", "one.asc", &[two]).unwrap_err().contains(one));
        assert!(fetched("x.asc", "fingerprints", &[one]).unwrap_err().contains("holds the key of nobody"));
        let text = String::from_utf8(fetched("RPM-GPG-KEY-x", "both.gpg", &[one, two]).unwrap()).unwrap();
        assert!(text.starts_with("-----BEGIN PGP PUBLIC KEY BLOCK-----\n"), "{text}");
        let armored = fs::read(directory.join("one.asc")).unwrap();
        assert_eq!(fetched("RPM-GPG-KEY-x", "one.asc", &[one]).unwrap(), armored);
    }
}

#[test]
fn a_download_leaves_room_on_the_disk() {
    for shell in SHELLS {
        let there = tempfile::tempdir().unwrap();
        let part = there.path().join("part");
        fs::write(&part, vec![0; 1 << 20]).unwrap();
        let text: &str = provision::shell!("resources/shared/get.sh");
        let script = Script::new(format!("{text}\nget_room \"$1\"\ndf -Pk \"$1\" | tail -n 1\n"));
        let (status, output, errors) = run(shell, &script.arg(part.to_str().unwrap()), None);
        assert_eq!(status, 0, "{errors}");
        let output = String::from_utf8(output).unwrap();
        let mut lines = output.lines();
        let room: f64 = lines.next().unwrap().parse().unwrap();
        let free: f64 = lines.next().unwrap().split_whitespace().nth(3).unwrap().parse().unwrap();
        assert!((room / (free * 0.9 + 1024.0) - 1.0).abs() < 0.05, "{shell:?}: {output}");
    }
}

#[test]
fn an_archive_appears_as_a_whole_and_is_replaced_as_a_whole() {
    for shell in SHELLS {
        let served = tempfile::tempdir().unwrap();
        let host = tempfile::tempdir().unwrap();
        let server = Server::new(served.path().to_owned(), true);
        let make = |version: &str| {
            fs::write(served.path().join("seed"), content(version, shell, 100)).unwrap();
            sh(
                served.path(),
                &format!(
                    "rm -rf a-{version}; mkdir -p a-{version}/sub; cp seed a-{version}/sub/it; echo {version} >a-{version}/version
                     chmod 750 a-{version}/version; tar -czf a-{version}.tar.gz a-{version}"
                ),
            );
            sha256(&fs::read(served.path().join(format!("a-{version}.tar.gz"))).unwrap())
        };
        let path = host.path().join("tree of it");
        let task = |version: &str, digest: &str| {
            let text = format!(
                "archive: {{ url: https://vendor.example/a-{version}.tar.gz, path: \"{}\", sha256: \"{digest}\", strip: 1 }}",
                path.display()
            );
            read(&server, &text)
        };
        let (one, two) = (make("1"), make("2"));
        assert_eq!(converge(shell, &*task("1", &one)).unwrap().len(), 1, "{shell:?}");
        assert_eq!(fs::read_to_string(path.join("version")).unwrap(), "1\n");
        assert!(path.join("sub/it").exists());
        assert!(converge(shell, &*task("1", &one)).unwrap().is_empty());
        // Another version replaces it; what was added is gone.
        fs::write(path.join("added"), "x").unwrap();
        assert_eq!(converge(shell, &*task("2", &two)).unwrap().len(), 1);
        assert_eq!(fs::read_to_string(path.join("version")).unwrap(), "2\n");
        assert!(!path.join("added").exists());
        assert_eq!(fs::read_dir(host.path()).unwrap().count(), 1, "nothing is left beside it");
        // The first one is still in the cache: the server is not asked.
        server.sent();
        assert_eq!(converge(shell, &*task("1", &one)).unwrap().len(), 1);
        assert_eq!(server.sent(), 0);
        // One that cannot be unpacked leaves what is there.
        fs::write(served.path().join("a-3.tar.gz"), content("no archive", shell, 50)).unwrap();
        let bad = sha256(&fs::read(served.path().join("a-3.tar.gz")).unwrap());
        converge(shell, &*task("3", &bad)).unwrap_err();
        assert_eq!(fs::read_to_string(path.join("version")).unwrap(), "1\n");
        assert_eq!(fs::read_dir(host.path()).unwrap().count(), 1);
        for digest in [one, two, bad] {
            fs::remove_file(cached(&digest, "")).unwrap();
        }
        // Somebody's directory is not taken.
        fs::remove_file(path.join(".provision-archive")).unwrap();
        let task = task("1", &sha256(b"x"));
        assert!(task.plan(&gather(shell, task.queries())).is_err());
    }
}

#[test]
fn a_checkout_is_at_its_revision() {
    let served = tempfile::tempdir().unwrap();
    sh(
        served.path(),
        "export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b GIT_CONFIG_GLOBAL=/dev/null
         git init -q -b master work; cd work
         echo 1 >file; echo 'build/' >.gitignore; git add .; git commit -qm one; git tag -a -m one v1; git rev-parse HEAD >../one
         echo 2 >file; git commit -qam two; git tag v2; git rev-parse HEAD >../two
         git checkout -q -b side; echo 3 >file; git commit -qam three; git rev-parse HEAD >../three; git checkout -q master
         cd ..; git clone -q --bare work it.git; git -C it.git update-server-info",
    );
    let commit =
        |name: &str| format!("commit: \"{}\"", fs::read_to_string(served.path().join(name)).unwrap().trim());
    let at_two = commit("two");
    let server = Server::new(served.path().to_owned(), true);
    for shell in SHELLS {
        let host = tempfile::tempdir().unwrap();
        let path = host.path().join("check out");
        let file = || fs::read_to_string(path.join("file")).unwrap();
        // Plain files over http, which know nothing of a single revision, and a real repository.
        for url in
            ["https://vendor.example/it.git".to_owned(), format!("file://{}/it.git", served.path().display())]
        {
            let task = |more: &str| {
                read(&server, &format!("git: {{ url: \"{url}\", path: \"{}\", {more} }}", path.display()))
            };
            // Over http a name alone proves nothing, and is refused.
            let named = |name: &str, at: &str| {
                if url.starts_with("file:") { name.to_owned() } else { format!("{name}, {}", commit(at)) }
            };
            let one = named("tag: v1", "one");
            assert_eq!(converge(shell, &*task(&one)).unwrap().len(), 1, "{shell:?} {url}");
            assert_eq!(file(), "1\n");
            assert!(converge(shell, &*task(&one)).unwrap().is_empty());
            // What a build leaves is no drift; a changed file is in the way of another revision only.
            fs::create_dir(path.join("build")).unwrap();
            fs::write(path.join("file"), "mine\n").unwrap();
            assert!(converge(shell, &*task(&one)).unwrap().is_empty());
            assert!(converge(shell, &*task(&at_two)).unwrap_err().contains("force"));
            assert_eq!(file(), "mine\n");
            assert_eq!(converge(shell, &*task(&format!("{at_two}, force: true"))).unwrap().len(), 1);
            assert_eq!(file(), "2\n");
            assert!(path.join("build").exists());
            assert!(converge(shell, &*task(&at_two)).unwrap().is_empty());
            let side = if url.starts_with("file:") { "branch: side".to_owned() } else { commit("three") };
            assert_eq!(converge(shell, &*task(&side)).unwrap().len(), 1);
            assert_eq!(file(), "3\n");
            // A tag that is not the commit that it must be.
            let error = converge(shell, &*task(&format!("tag: v1, {at_two}"))).unwrap_err();
            assert!(error.contains("the tag v1 is commit"), "{error}");
            let error = converge(shell, &*task(&named("tag: v9", "one"))).unwrap_err();
            assert!(error.contains("v9"), "{error}");
            assert_eq!(file(), "3\n");
            fs::remove_dir_all(&path).unwrap();
        }
        // A clone that was cut is finished.
        sh(host.path(), "git init -q 'check out'");
        let task = read(
            &server,
            &format!(
                "git: {{ url: https://vendor.example/it.git, path: \"{}\", tag: v2, {at_two} }}",
                path.display()
            ),
        );
        assert_eq!(converge(shell, &*task).unwrap().len(), 1);
        assert_eq!(file(), "2\n");
        let other = read(
            &server,
            &format!(
                "git: {{ url: https://vendor.example/it.git, path: \"{}\", tag: v2, {at_two} }}",
                served.path().display()
            ),
        );
        assert!(other.plan(&gather(shell, other.queries())).is_err());
    }
}
