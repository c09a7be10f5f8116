//! Reasons why tasks of this run need a reboot. The engine answers it; no host is asked.

use super::{Cost, Family, Question, Touches};
use crate::transport::Script;

/// Reasons why tasks of this run need a reboot, with the tasks' names.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct RebootQuery;

impl Question for RebootQuery {
    type Answer = Vec<String>;
    const FAMILY: &'static Family = FAMILY;

    fn label(&self) -> String {
        "reboot".to_owned()
    }

    fn touched_by(&self, _: &Touches) -> bool {
        // The engine knows itself when it changes.
        false
    }
}

const FAMILY: &Family = &Family {
    cost: Cost::Apart,
    ..Family::new("reboot", |_| Script::new(":"), |_, _, _| Vec::new(), |_| None)
};
