//! New expected text, accepted the way insta accepts it.

#![allow(dead_code, unreachable_pub, reason = "shared by test binaries")]
#![allow(clippy::disallowed_methods, reason = "tests read the environment")]

/// Returns whether a test writes what it found into the file of what it expects: `make accept` says so to insta and to
/// the cases that are no snapshots.
pub fn accepts() -> bool {
    std::env::var_os("INSTA_UPDATE").is_some_and(|how| how == "always")
}
