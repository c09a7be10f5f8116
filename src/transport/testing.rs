//! Helpers of the unit tests of the wire: hosts, and real shells that are fed a script.

#![expect(clippy::disallowed_methods, reason = "tests start the shells that the wire must suit")]

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write as _;
use std::process::{Command, Output, Stdio};

use crate::config::Span;
use crate::inventory::{Host, Ssh, TransportKind};

/// The shells that a host may have as `sh`.
pub(super) const SHELLS: &[&[&str]] =
    &[&["sh", "-s"], &["dash", "-s"], &["bash", "--posix", "-s"], &["busybox", "sh", "-s"], &["mksh", "-s"]];

/// Whether the shell is on this machine; says so when it is not.
pub(super) fn runs(shell: &[&str]) -> bool {
    let found = Command::new(shell[0]).arg("-c").arg(":").stdin(Stdio::null()).output().is_ok();
    if !found {
        println!("skipped: no {} here", shell[0]);
    }
    found
}

/// Runs a shell with `input` and then the end of the file as its standard input.
pub(super) fn feed(shell: &[&str], input: &[u8]) -> Output {
    let mut child = Command::new(shell[0])
        .args(&shell[1..])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("a shell starts");
    let mut stdin = child.stdin.take().expect("it has a stdin");
    let input = input.to_vec();
    let writer = std::thread::spawn(move || drop(stdin.write_all(&input)));
    let output = child.wait_with_output().expect("it ends");
    writer.join().expect("the writer ends");
    output
}

/// The output of a program that succeeds.
pub(super) fn run(program: &str, arguments: &[&str]) -> String {
    let output = Command::new(program).args(arguments).stdin(Stdio::null()).output().expect("it starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// A host of that name, reached by it.
pub(super) fn host(name: &str) -> Host {
    Host {
        name: name.to_owned(),
        index: 0,
        number: None,
        groups: BTreeSet::new(),
        labels: BTreeMap::new(),
        offline: None,
        address: name.to_owned(),
        transport: TransportKind::Ssh,
        ssh: Ssh::default(),
        vars: crate::inventory::Vars::default(),
        nics: Vec::new(),
        expect: crate::inventory::Expect::default(),
        mesh_user: None,
        span: Span::NONE,
    }
}
