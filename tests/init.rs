//! `init` against real `sshd`s.

#![expect(clippy::disallowed_methods, reason = "tests run the program")]
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "these are tests, though not in functions that are marked so"
)]

mod transport_support;

use std::io::Write as _;
use std::process::{Command, Stdio};

use transport_support::{Server, free_port};

/// Exit code and words of `provision` with this on its standard input, in the server's directory.
fn provision(server: &Server, words: &[&str], input: &str) -> (i32, String) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_provision"))
        .args(words)
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
    let (inventory, known) = written(&server);
    let port = server.port;
    assert!(known.starts_with(&format!("[127.0.0.1]:{port} ssh-ed25519 ")), "{known}");
    assert!(inventory.contains(&format!("  gpu0: {{ address: \"127.0.0.1\", ssh: {{ port: {port} }} }}\n")));
    let kept =
        format!("  # node1: {{ address: \"127.0.0.1\", ssh: {{ port: {} }} }}\n", &bad["127.0.0.1:".len()..]);
    assert!(inventory.contains(&kept), "{inventory}");
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
