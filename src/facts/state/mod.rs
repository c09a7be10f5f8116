//! Record of earlier runs in the host's state directory. The engine owns its format (`engine::state`), and
//! the frames that ask carry its shell functions.

use super::{Cost, Family, Question, Touches, answers};
use crate::transport::Script;

/// Content of the state directory, as text.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct StateQuery;

impl Question for StateQuery {
    type Answer = String;
    const FAMILY: &'static Family = FAMILY;

    fn label(&self) -> String {
        "state".to_owned()
    }

    fn touched_by(&self, _: &Touches) -> bool {
        // The engine knows itself when it changes.
        false
    }
}

pub(crate) const FAMILY: &Family = &Family {
    cost: Cost::Files,
    output: 1 << 20,
    ..Family::new(
        "state",
        |_| Script::new(include_str!("state.sh")),
        |queries, output, _| answers(queries, |StateQuery| Some(Ok(output.to_owned()))),
        |label| (label == "state").then(|| StateQuery.into()),
    )
};
