//! Questions of `verify`: a script of several commands under deadlines of their own, whose output has a
//! section for each.

use std::fmt;
use std::time::Duration;

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::section::Sections;
use super::{Cost, Family, Question, Touches, answers, hardware_touched};
use crate::transport::Script;

/// A question without parameters, alone in its family.
pub trait Probe: Clone + Default + fmt::Debug + Ord + Send + Sync + 'static {
    /// Values of the sections, and the reason for each section that shows none.
    type Shown: Clone + PartialEq + fmt::Debug + Serialize + DeserializeOwned + Send + Sync + 'static;

    /// Its label, the name of its family too.
    const NAME: &'static str;

    /// Script that is sent; it begins with `facts/probe/ask.sh`.
    const SCRIPT: &'static str;

    /// Cost of its answer for the host.
    const COST: Cost = Cost::Commands;

    /// Longest time for all its commands together, where it is not the usual one.
    const DEADLINE: Option<Duration>;

    /// Bytes of output that it may cause.
    const OUTPUT: usize = 4 << 20;

    /// The script with its parameters.
    fn script() -> Script {
        Script::new(Self::SCRIPT)
    }

    /// Reads the sections.
    fn read(sections: &Sections<'_>) -> Self::Shown;

    /// Whether a change of these things may change what it shows.
    fn touched_by(touches: &Touches) -> bool {
        hardware_touched(touches)
    }
}

impl<P: Probe> Question for P {
    type Answer = P::Shown;
    const FAMILY: &'static Family = &Family {
        cost: P::COST,
        deadline: P::DEADLINE,
        output: P::OUTPUT,
        // Sections say themselves how each ended.
        partial: true,
        ..Family::new(
            P::NAME,
            |_| P::script(),
            |queries, output, _| answers(queries, |_: &P| Some(Ok(P::read(&Sections::split(output))))),
            |label| (label == P::NAME).then(|| P::default().into()),
        )
    };

    fn label(&self) -> String {
        P::NAME.to_owned()
    }

    fn touched_by(&self, touches: &Touches) -> bool {
        <P as Probe>::touched_by(touches)
    }
}
