//! This machine as a host of tests: a run that changes it takes its lock, as on any host.

#![allow(dead_code, unreachable_pub, reason = "shared by test binaries")]
#![allow(clippy::unwrap_used, reason = "these are tests, though not in functions that are marked so")]
#![allow(clippy::disallowed_methods, reason = "tests of other programs wait for this file")]

use std::fs::File;

/// Waits until no other test changes this machine. It is free again when the file is closed, however the test ends.
pub fn alone() -> File {
    let file = File::create(std::env::temp_dir().join("provision-tests-change-this-host")).unwrap();
    file.lock().unwrap();
    file
}
