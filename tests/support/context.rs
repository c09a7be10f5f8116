//! The program in a directory of its own: its state, its cache and its home are below it, beside the files of the test.

#![allow(dead_code, unreachable_pub, missing_debug_implementations, reason = "shared by test binaries")]
#![allow(clippy::unwrap_used, reason = "these are tests, though not in functions that are marked so")]
#![allow(clippy::disallowed_methods, reason = "tests start the program")]

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// A directory for one test, which goes with it.
pub struct Context(tempfile::TempDir);

impl Context {
    pub fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub fn root(&self) -> &Path {
        self.0.path()
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.root().join(name)
    }

    /// Writes a file, and makes the directories above it.
    pub fn write(&self, name: &str, text: impl AsRef<[u8]>) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// Writes a script that can be started.
    pub fn script(&self, name: &str, text: &str) {
        self.write(name, format!("#!/bin/sh\n{text}\n"));
        fs::set_permissions(self.path(name), Permissions::from_mode(0o755)).unwrap();
    }

    pub fn text(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    /// The program with these words, ready to start: the directory is where it works.
    pub fn command(&self, words: &[&str]) -> Command {
        let mut command = program(words);
        command
            .current_dir(self.root())
            .env("HOME", self.root())
            .env("XDG_STATE_HOME", self.path("state"))
            .env("XDG_CACHE_HOME", self.path("cache"));
        command
    }

    /// Runs the program to its end.
    pub fn run(&self, words: &[&str]) -> Output {
        self.command(words).output().unwrap()
    }

    /// Runs the program; its exit status, and its standard output with its standard error behind it.
    pub fn said(&self, words: &[&str]) -> (i32, String) {
        let done = self.run(words);
        (done.status.code().unwrap(), said(&done))
    }

    /// Runs the program and gives all that it said; panics unless it ends with this code.
    #[track_caller]
    pub fn ends(&self, code: i32, words: &[&str]) -> String {
        let (status, said) = self.said(words);
        assert_eq!(status, code, "{words:?}\n{said}");
        said
    }
}

/// The program of this build with nothing to read, in the directory and the environment of the test.
pub fn program(words: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_provision"));
    command.args(words).stdin(Stdio::null());
    // What ends on a day makes no test fail from that day on.
    command.env("SOURCE_DATE_EPOCH", "1796000000");
    command
}

/// Standard output, and standard error behind it.
pub fn said(done: &Output) -> String {
    String::from_utf8_lossy(&done.stdout).into_owned() + &String::from_utf8_lossy(&done.stderr)
}
