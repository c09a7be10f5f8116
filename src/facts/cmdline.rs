//! The kernel command line: of this boot and of the next.
//!
//! Formats: proc(5) `/proc/cmdline`; `linux` lines of `grub.cfg`; `grubby --info`.

use serde::{Deserialize, Serialize};

use super::{Answer, Answers, Query, lines};
use crate::transport::Script;

/// The kernel command line.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Cmdline {
    /// What the running kernel was given.
    pub running: Vec<String>,
    /// Who gives it: `grub` (Debian's update-grub), `grubby`, or nothing that is known.
    pub loader: Option<String>,
    /// What the next boot gives; `None` when it cannot be told.
    pub next: Option<Vec<String>>,
}

pub(super) fn script() -> Script {
    Script::new(crate::shell!("facts/cmdline.sh"))
}

pub(super) fn parse(_: &[Query], output: &[u8], _: i32) -> Answers {
    let output = String::from_utf8_lossy(output);
    let words = |text: &str| text.trim_matches('"').split_whitespace().map(str::to_owned).collect();
    let mut cmdline = Cmdline::default();
    let mut ended = false;
    for line in lines(&output) {
        match line.split_once('=').unwrap_or((line, "")) {
            ("running", text) => cmdline.running = words(text),
            ("loader", name) => cmdline.loader = Some(name.to_owned()),
            ("next", text) => cmdline.next = Some(words(text)),
            ("end", "") => ended = true,
            _ => {}
        }
    }
    if ended { vec![(Query::Cmdline, Answer::Cmdline(cmdline))] } else { Vec::new() }
}
