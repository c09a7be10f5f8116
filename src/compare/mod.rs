//! Differences between hosts that fail and hosts that do not: everything that can matter, read once on each host, and
//! ranked by how well it separates the two groups and by how likely such a thing hurts.
//!
//! ```text
//!   look.sh ── text of a host ──> part ──> entries ──> fleet ──> groups ──┬──> answer
//!                                                        │     weights ───┘
//!                                                        └── looks.json.gz, kept with the run
//! ```

mod answer;
mod fleet;
mod groups;
mod kind;
mod part;
mod weights;

pub use answer::{Answer, Cluster, Finding, Unread, Value};
pub use fleet::{Fleet, FleetError};
pub use kind::Kind;

use crate::causes::{self, Output};

/// Returns the shell text that looks at a host: the words of a command. Of a file that not everybody may read, a
/// digest with `salt` before it is taken, so that nobody finds its content by trial.
pub fn look(salt: &str) -> Vec<String> {
    const LOOK: &str = crate::shell!("compare/look.sh");
    let signs = causes::sift(Output::Kernel, |_| true);
    ["sh", "-c", LOOK, "sh", salt, &signs].map(str::to_owned).into()
}
