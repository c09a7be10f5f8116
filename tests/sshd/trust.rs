//! Host keys as a person records them: `inventory trust` and `init` against a real sshd.

#![expect(clippy::unwrap_used, reason = "these are tests, though not in functions that are marked so")]

use crate::context::program;
use crate::sshd::{Server, run};
use camino::Utf8PathBuf;

const CONFIG: i32 = 3;

/// A server with two host keys, of which it shows the first one unless asked for the other.
struct Site {
    server: Server,
    keys: tempfile::TempDir,
}

impl Site {
    fn new() -> Self {
        let keys = tempfile::tempdir().unwrap();
        for name in ["ecdsa", "stranger"] {
            let path = keys.path().join(name);
            run("ssh-keygen", &["-q", "-t", "ecdsa", "-N", "", "-f", path.to_str().unwrap()]).unwrap();
        }
        let server = Server::with(&format!("HostKey {}/ecdsa", keys.path().display()));
        let site = Self { server, keys };
        let inventory = format!(
            "cluster: c\nssh: {{ port: {}, identity_file: ./id, known_hosts: ./known }}\n\
             hosts:\n  gpu0: {{ address: 127.0.0.1 }}\n",
            site.server.port
        );
        std::fs::write(site.path("inventory.yaml"), inventory).unwrap();
        site
    }

    fn path(&self, name: &str) -> Utf8PathBuf {
        self.server.path(name)
    }

    /// Type and base64 of a public key: `host_key`, `ecdsa`, `stranger`, `id`.
    fn key(&self, name: &str) -> String {
        let path = match name {
            "host_key" | "id" => self.path(&format!("{name}.pub")).into_std_path_buf(),
            _ => self.keys.path().join(format!("{name}.pub")),
        };
        let text = std::fs::read_to_string(path).unwrap();
        text.split(' ').take(2).collect::<Vec<_>>().join(" ")
    }

    fn known(&self) -> String {
        std::fs::read_to_string(self.path("known")).unwrap_or_default()
    }

    fn provision(&self, words: &[&str]) -> (i32, String) {
        let output = program(words)
            .current_dir(self.path(""))
            .env("XDG_STATE_HOME", self.path("state"))
            .env("HOME", self.path("home"))
            .output()
            .unwrap();
        (output.status.code().unwrap(), String::from_utf8(output.stderr).unwrap())
    }

    /// `inventory trust --yes` with what is recorded; exit code and words.
    fn trust(&self, recorded: &str, more: &[&str]) -> (i32, String) {
        std::fs::write(self.path("known"), recorded).unwrap();
        self.provision(&[&["inventory", "trust", "inventory.yaml", "--yes"], more].concat())
    }

    fn hashed(&self, recorded: &str) -> String {
        let path = self.path("to_hash");
        std::fs::write(&path, recorded).unwrap();
        run("ssh-keygen", &["-H", "-f", path.as_str()]).unwrap();
        std::fs::read_to_string(path).unwrap()
    }
}

#[test]
fn a_host_with_a_recorded_key_is_never_new() {
    let site = Site::new();
    let name = format!("[127.0.0.1]:{}", site.server.port);
    let (other, same_type) = (site.key("stranger"), site.key("id"));
    for recorded in [
        format!("{name} {same_type}\n"),
        format!("{name} {other}\n"),
        site.hashed(&format!("{name} {other}\n")),
        format!("x,{name} {other} a comment\n"),
        format!("[127.0.0.?]:* {other}\n"),
        format!("[gpu0]:{} {other}\n", site.server.port),
        format!("@cert-authority {name} {other}\n"),
        format!("@revoked {name} {other}\n"),
    ] {
        let (code, said) = site.trust(&recorded, &[]);
        assert_eq!(code, CONFIG, "{recorded}{said}");
        assert!(said.contains("changed") && said.contains("--replace"), "{recorded}{said}");
        assert_eq!(site.known(), recorded, "{said}");
    }
}

#[test]
fn what_a_run_accepts_is_known() {
    let site = Site::new();
    let name = format!("[127.0.0.1]:{}", site.server.port);
    for recorded in [
        format!("{name} {}\n", site.key("host_key")),
        site.hashed(&format!("{name} {}\n", site.key("host_key"))),
        // ssh asks for the type that is recorded.
        format!("{name} {}\n", site.key("ecdsa")),
    ] {
        let (code, said) = site.trust(&recorded, &[]);
        assert!(code == 0 && said.contains("known") && !said.contains("recorded;"), "{recorded}{said}");
        assert_eq!(site.known(), recorded);
    }
}

/// What is wrong with sudo there says nothing of the key.
#[test]
fn the_key_of_a_host_where_nobody_becomes_root_is_known() {
    let site = Site::new();
    let sudo = site.path("bin/sudo");
    std::fs::create_dir(site.path("bin")).unwrap();
    let text = "#!/bin/sh\nshift\n[ \"$(id -u)\" != 0 ] || set -- setpriv --regid 1 --clear-groups \"$@\"\nexec \"$@\"\n";
    std::fs::write(&sudo, text).unwrap();
    run("chmod", &["755", sudo.as_str()]).unwrap();
    let shell = format!("PATH={}:$PATH; export PATH; eval \"$SSH_ORIGINAL_COMMAND\"", site.path("bin"));
    let keys = std::fs::read_to_string(site.path("authorized_keys")).unwrap();
    let forced = format!("command=\"{}\" {}", shell.replace('"', "\\\""), keys.trim_start());
    std::fs::write(site.path("authorized_keys"), forced).unwrap();
    let inventory = std::fs::read_to_string(site.path("inventory.yaml")).unwrap();
    std::fs::write(site.path("inventory.yaml"), inventory.replace("ssh: {", "ssh: { become: sudo,")).unwrap();

    let recorded = format!("[127.0.0.1]:{} {}\n", site.server.port, site.key("ecdsa"));
    std::fs::write(site.path("known"), &recorded).unwrap();
    let (_, said) = site.provision(&["facts", "inventory.yaml"]);
    assert!(said.contains("not root"), "{said}");
    let (code, said) = site.trust(&recorded, &[]);
    assert!(code == 0 && said.contains("known"), "{said}");
    assert_eq!(site.known(), recorded);
}

#[test]
fn a_line_for_many_names_is_shown_once() {
    let site = Site::new();
    let (code, said) = site.trust(&format!("@cert-authority * {}\n", site.key("stranger")), &[]);
    assert_eq!((code, said.matches("recorded before in").count()), (CONFIG, 1), "{said}");
}

#[test]
fn new_keys_are_recorded_and_others_replaced_when_told_so() {
    let site = Site::new();
    let port = site.server.port;
    let name = format!("[127.0.0.1]:{port}");
    // What is recorded of another name or port, or revoked for all, says nothing of this host.
    let others =
        format!("# mine\n127.0.0.1 {0}\n[127.0.0.2]:{port} {0}\n@revoked * {0}\n", site.key("stranger"));
    let (code, said) = site.trust(&others, &[]);
    let good = format!("{name} {}\n", site.key("host_key"));
    assert_eq!((code, site.known()), (0, others.clone() + &good), "{said}");

    let stale = site.hashed(&format!("{name} {}\n", site.key("stranger")));
    let (code, said) = site.trust(&(others.clone() + &stale), &["--replace"]);
    assert_eq!((code, site.known()), (0, others + &good), "{said}");

    let revoked = format!("@revoked * {}\n", site.key("host_key"));
    let (code, said) = site.trust(&revoked, &["--replace"]);
    assert_eq!((code, site.known()), (CONFIG, revoked.clone()), "{said}");
    // What would be refused again is not suggested.
    let (_, said) = site.trust(&revoked, &[]);
    assert!(said.contains("`@revoked` says") && !said.contains("--replace"), "{said}");
}

#[test]
fn a_jump_host_is_judged_like_a_host() {
    let site = Site::new();
    let port = site.server.port;
    let inventory = format!(
        "cluster: c\nssh: {{ port: {port}, identity_file: ./id, known_hosts: ./known, jump: [\"127.0.0.1:{port}\"] }}\n\
         hosts:\n  gpu0: {{ address: localhost }}\n"
    );
    std::fs::write(site.path("inventory.yaml"), inventory).unwrap();
    let recorded = format!("[127.0.0.1]:{port} {}\n", site.key("stranger"));
    let (code, said) = site.trust(&recorded, &[]);
    assert!(code == CONFIG && said.contains(&format!("[127.0.0.1]:{port} shows another key")), "{said}");
    assert_eq!(site.known(), recorded);
    let (code, said) = site.trust("", &[]);
    let key = site.key("host_key");
    let both = format!("[127.0.0.1]:{port} {key}\n[localhost]:{port} {key}\n");
    assert_eq!((code, site.known()), (0, both), "{said}");
}

#[test]
fn init_takes_no_other_key_than_the_recorded_one() {
    let site = Site::new();
    let host = format!("127.0.0.1:{}", site.server.port);
    let words = ["init", &host, "--identity-file", "id", "--output", "new/inventory.yaml", "--trust"];
    std::fs::create_dir(site.path("new")).unwrap();
    let recorded = site.hashed(&format!("[127.0.0.1]:{} {}\n", site.server.port, site.key("stranger")));
    std::fs::write(site.path("new/known_hosts"), &recorded).unwrap();
    let (code, said) = site.provision(&words);
    assert!(
        code == CONFIG && said.contains("changed") && said.contains("xargs -n 1 ssh-keygen -f"),
        "{said}"
    );
    assert_eq!(std::fs::read_to_string(site.path("new/known_hosts")).unwrap(), recorded);
    assert!(!site.path("new/inventory.yaml").exists(), "{said}");

    std::fs::write(site.path("new/known_hosts"), "").unwrap();
    let (code, said) = site.provision(&words);
    assert_eq!(code, 0, "{said}");
    let known = std::fs::read_to_string(site.path("new/known_hosts")).unwrap();
    assert_eq!(known, format!("[127.0.0.1]:{} {}\n", site.server.port, site.key("host_key")));
}
