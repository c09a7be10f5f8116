//! The kernel command line: of this boot and of the next.
//!
//! Formats: proc(5) `/proc/cmdline`; `linux` lines of `grub.cfg`; `grubby --info`.

use serde::{Deserialize, Serialize};

use crate::facts::{Answers, Family, Query, Question, Touches, answers, lines};
use crate::transport::Script;

/// The kernel command line.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Cmdline {
    /// Command line of the running kernel.
    pub running: Vec<String>,
    /// Tool that sets it: `grub` (Debian's update-grub), `grubby`, or nothing that is known.
    pub loader: Option<String>,
    /// Command line of the next boot; `None` when it cannot be told.
    pub next: Option<Vec<String>>,
}

/// The kernel command line of this boot and the next.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct CmdlineQuery;

impl Question for CmdlineQuery {
    type Answer = Cmdline;
    const FAMILY: &'static Family = FAMILY;

    fn label(&self) -> String {
        "cmdline".to_owned()
    }

    fn touched_by(&self, touches: &Touches) -> bool {
        touches.paths(&["/etc/default", "/boot", "/proc/cmdline"])
    }
}

pub(crate) const FAMILY: &Family = &Family::new(
    "cmdline",
    |_| {
        Script::new(crate::shell!(
            "facts/base/boot/next_kernel.sh",
            "resources/kernel/kernel_cmdline/question/cmdline.sh"
        ))
    },
    parse,
    |label| (label == "cmdline").then(|| CmdlineQuery.into()),
);

fn parse(queries: &[Query], output: &str, _: i32) -> Answers {
    let words = |text: &str| text.trim_matches('"').split_whitespace().map(str::to_owned).collect();
    let mut cmdline = Cmdline::default();
    let mut ended = false;
    for line in lines(output) {
        match line.split_once('=').unwrap_or((line, "")) {
            ("running", text) => cmdline.running = words(text),
            ("loader", name) => cmdline.loader = Some(name.to_owned()),
            ("next", text) => cmdline.next = Some(words(text)),
            ("end", "") => ended = true,
            _ => {}
        }
    }
    answers(queries, |CmdlineQuery| ended.then(|| Ok(cmdline.clone())))
}
