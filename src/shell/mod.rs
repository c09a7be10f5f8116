//! Shell functions that several modules send to hosts, and the macro that puts texts together. A script of one thing
//! stands beside the Rust file that sends it.
//!
//! POSIX `sh` for dash, bash and busybox; each is `shellcheck -s sh` clean (a test sees to it).
//! Data arrives as positional parameters, never pasted. The head of a resource's script names them in
//! `# Parameters: `, in their order.

/// Shell text of files below `src`, with the lines that all of them start with.
#[macro_export]
macro_rules! shell {
    ($($file:literal),+) => {
        concat!(
            include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/shell/common.sh")),
            $(include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/", $file))),+
        )
    };
}
