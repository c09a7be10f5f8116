//! Limits, user and path of a new login: limits are given to a session when it begins, and root has others
//! than the user of the jobs. It is asked in a login of its own, beside the one exec.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::probe::Probe;
use super::section::{Sections, pair};
use super::{Cost, Seen};

/// Limits, user and path of a new login.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LoginFacts {
    /// Locked memory: `unlimited`, or KiB.
    pub memlock: String,
    /// Open files.
    pub nofile: String,
    /// Name of the user.
    pub user: String,
    /// Search path of its commands.
    pub path: String,
}

/// Limits, user and path of a new login.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct LoginQuery;

impl Probe for LoginQuery {
    type Shown = Seen<LoginFacts>;
    const NAME: &'static str = "login";
    const SCRIPT: &'static str = crate::shell!("facts/probe/ask.sh", "facts/login/login.sh");
    const COST: Cost = Cost::Apart;
    const DEADLINE: Option<Duration> = None;
    const OUTPUT: usize = 64 << 10;

    fn read(sections: &Sections<'_>) -> Seen<LoginFacts> {
        parse(sections)
    }
}

/// Reads what a new login printed.
///
/// # Errors
/// When it was cut.
pub(super) fn parse(sections: &Sections<'_>) -> Seen<LoginFacts> {
    sections.read("login", "it was not asked", |text| {
        let field = |name: &str| {
            text.lines().filter_map(pair).find(|(key, _)| *key == name).map(|(_, value)| value.to_owned())
        };
        Ok(LoginFacts {
            memlock: field("memlock").filter(|value| !value.is_empty()).ok_or("it shows no memlock")?,
            nofile: field("nofile").unwrap_or_default(),
            user: field("user").unwrap_or_default(),
            path: field("path").unwrap_or_default(),
        })
    })
}
