//! Facts of hosts: questions, the batched scripts that ask them, and their typed answers.
//!
//! A [`Question`] names one thing to know and has the type of its answer; a [`Query`] is a question of
//! any type. All queries of a host are grouped by [`Family`]: one script asks all of its queries at
//! once. The families become the parts of one frame, cheap ones first ([`batch`]). [`Facts`] has the
//! answers and gives back for a question the answer of its type.
//!
//! To add a question: a folder with its type, its parser and what touches it, its script and its cases; `docs/contributing/adding-a-fact.md`.

pub mod account;
mod as_user;
pub mod ask;
pub mod base;
pub mod block;
pub(crate) mod bounds;
pub mod build;
pub mod card_settings;
pub mod clock;
pub mod containers;
mod dkms;
pub mod driver;
pub mod driver_upkeep;
pub mod fabric;
pub mod file;
pub mod filesystem;
pub mod firewall;
pub mod log;
pub mod login;
pub mod module;
pub mod netdev;
pub mod next_boot;
pub mod nvidia;
pub mod object;
pub mod package;
pub mod probe;
mod qos;
mod question;
pub mod rdma;
pub mod reboot;
pub mod roce;
pub mod section;
pub mod setting;
pub mod software;
pub mod ssh_user;
pub mod sshd;
pub mod state;
mod store;
pub mod system;
pub mod unit;
pub mod view;

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

pub use ask::CommandQuery;
pub use base::{BaseQuery, base, specimens};
pub use object::{Object, Touches};
pub use question::{Answer, Cost, Family, OfAll, Query, Question, Value};
pub(crate) use question::{Answers, Told, answers, of_type};
pub use section::{Gap, GapKind, Seen};
pub use store::{Facts, Known};

use crate::transport::{Part, Script};

/// One part of a gather frame with the queries that it answers.
#[derive(Debug, Clone)]
pub struct BatchPart {
    /// The queries.
    pub queries: Vec<Query>,
    /// Part of the frame that is sent.
    pub part: Part,
}

impl BatchPart {
    /// Returns the name that people know it by: the command line of one that a playbook has, else the name of
    /// the part.
    pub fn title(&self) -> String {
        match self.queries.first().and_then(Query::get::<CommandQuery>) {
            Some(asked) => asked.command.display(),
            None => self.part.name.clone(),
        }
    }
}

/// Groups queries by family into the parts of one frame, cheap ones first. `deadline` is that of
/// one part. No query, no part.
pub fn batch(queries: &BTreeSet<Query>, deadline: Duration) -> Vec<BatchPart> {
    // One shell asks for one user.
    let mut asked: BTreeMap<(Cost, &str, Option<&str>), Vec<Query>> = BTreeMap::new();
    let in_frame = |query: &&Query| !query.is_of_all() && query.family().cost != Cost::Apart;
    for query in queries.iter().filter(in_frame) {
        let family = query.family();
        asked.entry((family.cost, family.name, query.user())).or_default().push(query.clone());
    }
    let mut parts = Vec::new();
    for ((_, _, user), queries) in &asked {
        let Some(family) = queries.first().map(Query::family) else { continue };
        for queries in queries.chunks(family.chunk) {
            let name = match queries {
                [fact] if fact.is::<BaseQuery>() => fact.label().replace(' ', "."),
                _ => family.name.to_owned(),
            };
            parts.push(part(family, name, *user, queries, deadline));
        }
    }
    parts
}

/// Shell line that closes the lock of the host and the pipe of a batch, so that what a question starts and
/// leaves behind, such as an agent, has neither.
const ALONE: &str = "exec 8>&- 9>&-\n";

fn part(
    family: &Family,
    name: String,
    user: Option<&str>,
    queries: &[Query],
    deadline: Duration,
) -> BatchPart {
    let limits = queries.iter().filter_map(Query::limit);
    BatchPart {
        queries: queries.to_vec(),
        part: Part {
            name,
            script: Script::new(ALONE).then(as_user::script(user, (family.script)(queries))),
            deadline: limits.fold(family.deadline.unwrap_or(deadline), Duration::min),
            limit: (64 << 10) + family.output.saturating_mul(queries.len()),
        },
    }
}

/// The part for what is not asked in the one exec of a host: see [`login`].
pub fn alone(question: impl Question, deadline: Duration) -> BatchPart {
    let query = Query::from(question);
    let family = query.family();
    part(family, family.name.to_owned(), None, &[query], deadline)
}

/// Lossy text of a host's output, line by line.
pub(crate) fn lines(output: &str) -> impl Iterator<Item = &str> {
    output.lines()
}

/// Returns what follows the first word of a label, when that is this word.
pub(crate) fn after<'a>(word: &str, label: &'a str) -> Option<&'a str> {
    label.strip_prefix(word)?.strip_prefix(' ')
}

/// Whether what a driver, a library or a service shows may be different now.
fn hardware_touched(touches: &Touches) -> bool {
    touches.modules() || touches.units()
}
