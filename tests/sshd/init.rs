//! `init` against real `sshd`s.

#![expect(clippy::unwrap_used, reason = "these are tests, though not in functions that are marked so")]

use std::io::Write as _;
use std::process::Stdio;

use crate::context::program;
use crate::sshd::{Server, User, free_port, processes, run};

/// Exit code and words of `provision` with this on its standard input, in the server's directory.
fn provision(server: &Server, words: &[&str], input: &str) -> (i32, String) {
    let mut child = program(words)
        .current_dir(server.path(""))
        .env("XDG_STATE_HOME", server.path("state"))
        .env("HOME", server.path("home"))
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // It may have ended without reading.
    drop(child.stdin.take().unwrap().write_all(input.as_bytes()));
    let output = child.wait_with_output().unwrap();
    (output.status.code().unwrap(), String::from_utf8(output.stderr).unwrap())
}

/// The inventory that was written and the keys that were recorded beside it.
fn written(server: &Server) -> (String, String) {
    let read = |name: &str| std::fs::read_to_string(server.path("new").join(name)).unwrap_or_default();
    (read("inventory.yaml"), read("known_hosts"))
}

/// `init --trust` into a directory of its own.
fn init(server: &Server, words: &[&str], input: &str) -> (i32, String) {
    drop(std::fs::create_dir(server.path("new")));
    provision(server, &[&["init", "--output", "new/inventory.yaml", "--trust"], words].concat(), input)
}

#[test]
fn hosts_are_called_what_was_typed_and_keep_their_address() {
    let server = Server::start();
    let (good, bad) = (format!("gpu0=127.0.0.1:{}", server.port), format!("127.0.0.1:{}", free_port()));
    let (code, said) = init(&server, &[&good, &bad, "--identity-file", "id"], "");
    assert_eq!(code, 4, "{said}");
    assert!(said.contains(&format!("{good}  ED25519 SHA256:")), "{said}");
    assert!(said.contains(&format!("no login  {bad}  ")), "{said}");
    // What each kind of host has is said, not only written.
    assert!(said.contains("\n  gpu0  debian ") && said.contains("; GPUs: 0; RDMA-capable NICs: "), "{said}");
    // The way back stands before the way on, and accepts no key that was not seen.
    let back = said.find("\n  provision init 'gpu0=").unwrap();
    assert!(
        said[..back].ends_with("1 host could not be looked at, which is told above. When that is mended:"),
        "{said}"
    );
    assert!(said[back..].lines().nth(1).unwrap().ends_with(" --force"), "it is one line: {said}");
    assert!(
        back < said.find("next: provision apply").unwrap() && !said[back..].contains("--trust"),
        "{said}"
    );
    let (inventory, known) = written(&server);
    let port = server.port;
    assert!(known.starts_with(&format!("[127.0.0.1]:{port} ssh-ed25519 ")), "{known}");
    assert!(inventory.contains(&format!("  gpu0: {{ address: \"127.0.0.1\", ssh: {{ port: {port} }} }}\n")));
    let kept =
        format!("  # node1: {{ address: \"127.0.0.1\", ssh: {{ port: {} }} }}\n", &bad["127.0.0.1:".len()..]);
    assert!(inventory.contains(&kept), "{inventory}");
}

#[test]
fn commands_to_go_on_with_can_be_pasted() {
    let server = Server::start();
    std::fs::create_dir(server.path("my site")).unwrap();
    let (good, bad) = (format!("gpu0=127.0.0.1:{}", server.port), format!("127.0.0.1:{}", free_port()));
    let words = ["init", "--output", "my site/a.yaml", "--identity-file", "id", "--trust", &good, &bad];
    let (_, said) = provision(&server, &words, "");
    for command in ["apply", "plan", "verify"] {
        assert!(said.contains(&format!("provision {command} 'my site/a.yaml'")), "{said}");
    }
    // The way back may be broken into lines.
    let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains("--output 'my site/a.yaml'"), "{said}");
}

#[test]
fn a_cluster_that_cannot_be_called_so_is_refused_before_anything_is_asked() {
    let server = Server::start();
    let host = format!("127.0.0.1:{}", server.port);
    let (code, said) = init(&server, &[&host, "--identity-file", "id", "--cluster", "Mine"], "");
    assert_eq!((code, written(&server)), (2, <(String, String)>::default()), "{said}");
    assert!(said.contains("it begins with a small letter or a digit"), "{said}");
}

/// Also the group of its host file, where no host has a GPU.
#[test]
fn what_was_written_is_valid() {
    let server = Server::start();
    let host = format!("gpu0=127.0.0.1:{}", server.port);
    let (code, said) = init(&server, &[&host, "--identity-file", "id"], "");
    assert_eq!(code, 0, "{said}");
    let (code, said) = provision(&server, &["validate", "new/inventory.yaml"], "");
    assert_eq!(code, 0, "{said}");
}

#[test]
fn a_key_file_that_is_not_there_is_told_before_any_login() {
    let server = Server::start();
    let host = format!("127.0.0.1:{}", server.port);
    let (code, said) = init(&server, &[&host, "--identity-file", "no-such"], "");
    assert_eq!(code, 2, "{said}");
    assert!(said.contains("there is no file no-such"), "{said}");
    std::fs::write(server.path("id.pub"), "ssh-ed25519 AAAA me").unwrap();
    let (code, said) = init(&server, &[&host, "--identity-file", "id.pub", "--ask-pass"], "");
    assert_eq!(code, 2, "{said}");
    assert!(
        said.contains("id.pub is the public key") && said.contains("names the private one: -i id"),
        "{said}"
    );
    assert!(!server.log().contains("Connection from"), "{}", server.log());
}

#[test]
fn a_place_that_cannot_be_written_is_told_before_any_login() {
    let server = Server::start();
    let host = format!("127.0.0.1:{}", server.port);
    std::fs::write(server.path("file"), "").unwrap();
    let words = ["init", "--output", "file/inventory.yaml", "--identity-file", "id", "--trust", &host];
    let (code, said) = provision(&server, &words, "");
    assert_eq!(code, 2, "{said}");
    assert!(said.contains("cannot write file/inventory.yaml: "), "{said}");
    assert!(!server.log().contains("Connection from"), "{}", server.log());
}

#[test]
fn an_address_of_ipv6_is_one() {
    let port = free_port();
    if std::net::TcpListener::bind(("::1", port)).is_err() {
        println!("skipped: no IPv6 here");
        return;
    }
    let server = Server::with(&format!("ListenAddress [::1]:{port}"));
    let host = format!("[::1]:{port}");
    let (code, said) = init(&server, &[&host, "--identity-file", "id"], "");
    assert_eq!(code, 0, "{said}");
    assert!(said.contains(&format!("{host}  ED25519 SHA256:")), "{said}");
    let (inventory, known) = written(&server);
    assert!(
        inventory.contains(&format!("node0: {{ address: \"::1\", ssh: {{ port: {port} }} }}")),
        "{inventory}"
    );
    assert!(known.starts_with(&format!("[::1]:{port} ssh-ed25519 ")), "{known}");
}

#[test]
fn what_was_written_is_said_when_nobody_could_log_in() {
    let server = Server::start();
    let host = format!("127.0.0.1:{}", server.port);
    for recorded in [true, false] {
        let (code, said) = init(&server, &[&host, "--identity-file", "host_key"], "");
        assert_eq!(code, 4, "{said}");
        let (inventory, known) = written(&server);
        assert!(inventory.is_empty() && !known.is_empty(), "{inventory}{known}");
        assert!(said.contains("new/inventory.yaml was not written") && !said.contains("nothing"), "{said}");
        // The second time they are known.
        assert_eq!(said.contains("are recorded in "), recorded, "{said}");
    }
}

/// A server that takes passwords, and keys where users have them.
fn with_passwords(more: &str) -> Server {
    Server::with(&format!(
        "{more}\nUsePAM yes\nPasswordAuthentication yes\nAuthorizedKeysFile .ssh/authorized_keys"
    ))
}

const PASSWORD: &str = "p'4$s\"w0rd-0815";

#[test]
fn one_login_by_password_leaves_a_key() {
    let Some(user) = User::new("key", "/bin/bash") else { return };
    // Not that of the other tests, which is in arguments of `openssl`.
    let password = "p'4$s\"w0rd-poison";
    user.password(password);
    let server = with_passwords("");
    let host = format!("{}@127.0.0.1:{}", user.name, server.port);
    let words = [host.as_str(), "--identity-file", "id", "--ask-pass", "--force", "-vvv"];
    let (stop, stopped) = std::sync::mpsc::channel::<()>();
    let watch = std::thread::spawn(move || {
        let (mut seen, mut asked) = (Vec::new(), 0);
        while stopped.try_recv() == Err(std::sync::mpsc::TryRecvError::Empty) {
            let all: Vec<String> = processes().into_iter().chain(environments()).collect();
            asked += all.iter().filter(|text| text.contains("PROVISION_ASKPASS=")).count();
            seen.extend(all.into_iter().filter(|text| text.contains("w0rd-poison")));
        }
        (seen, asked)
    });
    let (code, said) = init(&server, &words, &format!("{password}\n"));
    drop(stop);
    assert_eq!(code, 0, "{said}\n{}", server.log());
    assert!(said.contains("each host gets this public key: id.pub") && !said.contains("w0rd"), "{said}");
    let (seen, asked) = watch.join().unwrap();
    assert_eq!(seen, Vec::<String>::new());
    assert!(asked > 0, "nobody looked while it was asked for");
    let keys = std::fs::read_to_string(format!("/home/{}/.ssh/authorized_keys", user.name)).unwrap();
    let public = std::fs::read_to_string(server.path("id.pub")).unwrap();
    assert!(public.starts_with(keys.trim().trim_end_matches(" provision")), "{keys}");
    assert!(written(&server).0.contains(&format!("  user: {}\n", user.name)));
    assert_eq!(server.log().matches("Accepted password").count(), 1, "{}", server.log());
    assert_eq!(server.log().matches("Failed password").count(), 0, "{}", server.log());
    // The second time the key is enough, and nobody is asked.
    let (code, said) = init(&server, &words, "");
    assert_eq!(code, 0, "{said}");
    assert_eq!(server.log().matches("Accepted password").count(), 1, "{}", server.log());
    let left = std::fs::read_dir(server.path("state")).unwrap().count();
    assert!(left > 0 && run("grep", &["-rqF", "w0rd-poison", server.path("").as_str()]).is_err());
}

/// Some servers take passwords by questions of PAM alone.
#[test]
fn a_server_asks_in_its_own_words() {
    let Some(user) = User::new("ask", "/bin/sh") else { return };
    user.password(PASSWORD);
    let server = with_passwords("PasswordAuthentication no\nKbdInteractiveAuthentication yes");
    let host = format!("{}@127.0.0.1:{}", user.name, server.port);
    let words = [host.as_str(), "--identity-file", "id", "--ask-pass"];
    let (code, said) = init(&server, &words, "wrong\n");
    assert!(code == 4 && said.contains("the password was refused"), "{said}\n{}", server.log());
    let (code, said) = init(&server, &words, &format!("{PASSWORD}\n"));
    assert_eq!(code, 0, "{said}\n{}", server.log());
    assert_eq!(server.log().matches("Accepted keyboard-interactive").count(), 1, "{}", server.log());
}

/// Environments of all processes.
fn environments() -> Vec<String> {
    let all = std::fs::read_dir("/proc").unwrap().flatten();
    all.filter_map(|entry| std::fs::read(entry.path().join("environ")).ok())
        .map(|text| String::from_utf8_lossy(&text).into_owned())
        .collect()
}

/// An account that goes with the test, also if nobody made it.
struct Account(String);

impl Drop for Account {
    fn drop(&mut self) {
        drop(std::fs::remove_file(format!("/etc/sudoers.d/provision-{}", self.0)));
        drop(run("userdel", &["-r", "-f", &self.0]));
    }
}

#[test]
fn an_account_for_all_later_logins_is_made() {
    let Some(user) = User::new("admin", "/bin/bash") else { return };
    if !user.sudo(PASSWORD, "USER ALL=(ALL) ALL\nDefaults:USER timestamp_timeout=0\n") {
        return;
    }
    let account = Account(format!("{}-ops", user.name));
    let name = &account.0;
    let server = with_passwords("");
    let host = format!("{}@127.0.0.1:{}", user.name, server.port);
    let words = [host.as_str(), "--identity-file", "id", "--ask-pass", "--account", name, "--force"];
    let (code, said) = init(&server, &words, &format!("{PASSWORD}\n"));
    assert_eq!(code, 0, "{said}\n{}", server.log());
    let sudoers = format!("/etc/sudoers.d/provision-{name}");
    assert_eq!(std::fs::read_to_string(&sudoers).unwrap(), format!("{name} ALL=(ALL:ALL) NOPASSWD: ALL\n"));
    assert_eq!(run("stat", &["-c", "%a %U %G", &sudoers]).unwrap().trim(), "440 root root");
    let (inventory, _) = written(&server);
    assert!(inventory.contains(&format!("  user: {name}\n")), "{inventory}");
    assert!(inventory.contains("  become: sudo\n"), "{inventory}");
    let (code, said) =
        provision(&server, &["exec", "new/inventory.yaml", "--", "test", "-r", "/etc/shadow"], "");
    assert_eq!(code, 0, "{said}");
    // Again: nothing is changed.
    let (code, said) = init(&server, &words, &format!("{PASSWORD}\n"));
    assert!(code == 0 && said.contains("0 tasks changed"), "{said}");
    // The last rule counts, and the account has no password to give.
    assert!(user.sudo(PASSWORD, "USER ALL=(ALL) ALL\nUSER-ops ALL=(ALL) ALL\n"));
    let (code, said) = init(&server, &words, &format!("{PASSWORD}\n"));
    assert!(code == 4 && said.contains("-ops logs in, and sudo there wants a password"), "{said}");
}

#[test]
fn a_wrong_password_is_tried_on_one_host() {
    let Some(user) = User::new("wrong", "/bin/bash") else { return };
    user.password(PASSWORD);
    let port = free_port();
    let listen: Vec<String> = (2..6).map(|n| format!("ListenAddress 127.0.0.{n}:{port}")).collect();
    let server = with_passwords(&listen.join("\n"));
    let hosts: Vec<String> = (2..6).map(|n| format!("gpu{n}={}@127.0.0.{n}:{port}", user.name)).collect();
    let mut words: Vec<&str> = hosts.iter().map(String::as_str).collect();
    words.extend(["--identity-file", "id", "--ask-pass"]);
    let (code, said) = init(&server, &words, "wrong\n");
    assert_eq!(code, 4, "{said}");
    assert_eq!(server.log().matches("Failed password").count(), 1, "{}", server.log());
    assert!(said.contains("the password was refused") && said.contains("so it is not tried here"), "{said}");
    assert!(written(&server).0.is_empty() && !said.contains("continue with"), "{said}");
    assert!(said.matches("the password was refused").count() == 1 && !said.contains("no login"), "{said}");
    // What copies the key by the same password is no help.
    assert!(said.contains("give the right password") && !said.contains("ssh-copy-id"), "{said}");
    let (code, said) = init(&server, &words, "\n");
    assert!(
        code == 3 && said.contains("the password of all these logins is empty; nothing was sent"),
        "{said}"
    );
    assert_eq!(server.log().matches("Failed password").count(), 1, "{}", server.log());
}

#[test]
fn a_server_that_takes_no_password_gets_none() {
    let server = Server::start();
    let host = format!("127.0.0.1:{}", server.port);
    let (code, said) = init(&server, &[&host, "--identity-file", "host_key", "--ask-pass"], "");
    assert!(code == 4 && said.contains("its sshd takes no password"), "{said}");
}
