//! What sshd does by now: `sshd -T`, its whole configuration after all files are read.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Answers, Family, Query, Question, Touches, answers, lines};
use crate::transport::Script;

/// sshd's configuration.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Sshd {
    /// Values by the names of options in small letters; an option that may stand more than once has a
    /// line for each.
    pub options: BTreeMap<String, String>,
    /// Why there are none.
    pub problem: String,
    /// Whether the main file reads `/etc/ssh/sshd_config.d/*.conf`.
    pub drop_ins: bool,
}

/// What sshd makes of its files.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct SshdQuery;

impl Question for SshdQuery {
    type Answer = Sshd;
    const FAMILY: &'static Family = &FAMILY;

    fn label(&self) -> String {
        "sshd".to_owned()
    }

    fn touched_by(&self, touches: &Touches) -> bool {
        touches.paths(&["/etc/ssh"])
    }
}

pub(super) const FAMILY: Family = Family::new(
    "sshd",
    |_| Script::new(crate::shell!("facts/sshd.sh")),
    parse,
    |label| (label == "sshd").then(|| SshdQuery.into()),
);

fn parse(queries: &[Query], output: &str, _: i32) -> Answers {
    let mut sshd = Sshd::default();
    let (mut missing, mut ended) = (false, false);
    for line in lines(output) {
        match line.split_once(' ').unwrap_or((line, "")) {
            ("missing", "") => missing = true,
            ("drop-ins", "") => sshd.drop_ins = true,
            ("end", "") => ended = true,
            ("problem", text) => text.clone_into(&mut sshd.problem),
            ("option", rest) => {
                let (key, value) = rest.split_once(' ').unwrap_or((rest, ""));
                let values = sshd.options.entry(key.to_owned()).or_default();
                if !values.is_empty() {
                    values.push('\n');
                }
                values.push_str(value);
            }
            _ => {}
        }
    }
    if !ended {
        return Vec::new();
    }
    answers(queries, |SshdQuery| {
        Some(if missing { Err("sshd is not installed".to_owned()) } else { Ok(sshd.clone()) })
    })
}
