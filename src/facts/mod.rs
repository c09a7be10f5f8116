//! What is: queries, the batched script that asks them, and their typed answers.
//!
//! A [`Query`] names one thing to know. All queries of a host are grouped by kind; each kind has
//! one file here with the shell text that asks all its queries at once and a pure parser. The
//! kinds become the parts of one frame, cheap ones first ([`batch`]). Answers live in [`Facts`].
//!
//! To add a fact: one file with a script, a parser and its cases, one variant in [`Query`] and
//! [`Answer`], one line in [`KINDS`]. A basic fact (`facts.NAME`) needs only its line in
//! [`base::TABLE`] and its place in the specimens.

pub mod account;
mod as_user;
pub mod ask;
pub mod base;
pub mod build;
pub mod cmdline;
pub mod driver;
pub mod file;
pub mod filesystem;
pub mod firewall;
pub mod git;
pub mod installed;
pub mod loader;
pub mod module;
pub mod netdev;
pub mod object;
pub mod package;
pub mod pcie;
mod query;
pub mod rdma_link;
pub mod roce;
pub mod setting;
mod specimen;
pub mod ssh_user;
pub mod sshd;
mod state;
mod store;
pub mod unit;

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

pub use object::{Object, Touches};
pub use query::{Answer, Query};
pub use specimen::specimens;
pub use store::Facts;

use crate::probes;
use crate::transport::{Part, Script};

/// One part of a gather frame with the queries that it answers.
#[derive(Debug, Clone)]
pub struct BatchPart {
    /// The queries.
    pub queries: Vec<Query>,
    /// What is sent.
    pub part: Part,
}

/// Queries with what is known about them.
type Answers = Vec<(Query, Answer)>;

/// A kind of query: what is sent for many at once and how the output is read.
struct Kind {
    name: &'static str,
    /// How many queries one part takes.
    chunk: usize,
    /// Bytes of output that one query may cause.
    output: usize,
    /// The deadline of one part, where it is not the usual one.
    deadline: fn(&[Query]) -> Option<Duration>,
    matches: fn(&Query) -> bool,
    script: fn(&[Query]) -> Script,
    /// Answers in any order; what it leaves out becomes unknown.
    parse: fn(&[Query], &[u8], i32) -> Answers,
}

/// All kinds, cheap ones first: the order of the parts of a frame.
const KINDS: &[Kind] = &[
    Kind {
        name: "base",
        chunk: 1,
        output: 1 << 20,
        deadline: |_| None,
        matches: |query| matches!(query, Query::Base(_)),
        script: base::script,
        parse: base::parse,
    },
    Kind {
        name: "state",
        chunk: usize::MAX,
        output: 1 << 20,
        deadline: |_| None,
        matches: |query| matches!(query, Query::State),
        script: |_| state::script(),
        parse: state::parse,
    },
    Kind {
        name: "filesystem",
        chunk: usize::MAX,
        // A mount of a container is 1 KiB.
        output: 4 << 20,
        deadline: |_| None,
        matches: |query| matches!(query, Query::Filesystems),
        script: |_| filesystem::script(),
        parse: filesystem::parse,
    },
    Kind {
        name: "file",
        chunk: 256,
        // 64 KiB of text as base64, and the lines around it.
        output: 96 << 10,
        deadline: |_| None,
        matches: |query| matches!(query, Query::Path(_) | Query::Content { .. } | Query::Secret { .. }),
        script: file::script,
        parse: file::parse,
    },
    Kind {
        name: "loader",
        chunk: 64,
        output: 64 << 10,
        deadline: |_| None,
        matches: |query| matches!(query, Query::Loader(_)),
        script: loader::script,
        parse: loader::parse,
    },
    Kind {
        name: "setting",
        chunk: 1024,
        output: 8 << 10,
        deadline: |_| None,
        matches: |query| matches!(query, Query::Setting(_)),
        script: setting::script,
        parse: setting::parse,
    },
    Kind {
        name: "module",
        chunk: 1024,
        output: 4 << 10,
        deadline: |_| None,
        matches: |query| matches!(query, Query::Module(_)),
        script: module::script,
        parse: module::parse,
    },
    Kind {
        name: "account",
        chunk: 1024,
        output: 96 << 10,
        deadline: |_| None,
        matches: |query| matches!(query, Query::User(_) | Query::Group(_) | Query::AuthorizedKeys(_)),
        script: account::script,
        parse: account::parse,
    },
    Kind {
        name: "ssh_user",
        chunk: 64,
        // Four files as base64.
        output: 24 << 20,
        deadline: |_| None,
        matches: |query| matches!(query, Query::SshKey { .. } | Query::SshFiles { .. }),
        script: ssh_user::script,
        parse: ssh_user::parse,
    },
    Kind {
        name: "firewall",
        chunk: usize::MAX,
        output: 1 << 20,
        deadline: |_| None,
        matches: |query| matches!(query, Query::Firewall),
        script: firewall::script,
        parse: firewall::parse,
    },
    Kind {
        name: "sshd",
        chunk: usize::MAX,
        output: 64 << 10,
        deadline: |_| None,
        matches: |query| matches!(query, Query::Sshd),
        script: sshd::script,
        parse: sshd::parse,
    },
    Kind {
        name: "package",
        chunk: 1024,
        output: 4 << 10,
        deadline: |_| None,
        matches: |query| matches!(query, Query::Packages | Query::Package { .. }),
        script: package::script,
        parse: package::parse,
    },
    Kind {
        name: "installed",
        chunk: 256,
        output: 64 << 10,
        deadline: |_| None,
        matches: |query| matches!(query, Query::Installed(_)),
        script: installed::script,
        parse: installed::parse,
    },
    Kind {
        name: "driver",
        chunk: 1,
        output: 64 << 10,
        deadline: |_| None,
        matches: |query| matches!(query, Query::Driver),
        script: |_| driver::script(),
        parse: driver::parse,
    },
    Kind {
        name: "cmdline",
        chunk: 1,
        output: 64 << 10,
        deadline: |_| None,
        matches: |query| matches!(query, Query::Cmdline),
        script: |_| cmdline::script(),
        parse: cmdline::parse,
    },
    Kind {
        name: "pcie",
        chunk: 1,
        output: 64 << 10,
        deadline: |_| None,
        matches: |query| matches!(query, Query::Pcie),
        script: |_| pcie::script(),
        parse: pcie::parse,
    },
    Kind {
        name: "git",
        chunk: 256,
        output: 64 << 10,
        deadline: |_| None,
        matches: |query| matches!(query, Query::Checkout { .. }),
        script: git::script,
        parse: git::parse,
    },
    Kind {
        name: "unit",
        chunk: 512,
        output: 16 << 10,
        deadline: |_| None,
        matches: |query| matches!(query, Query::Unit(_) | Query::Manager(_)),
        script: unit::script,
        parse: unit::parse,
    },
    Kind {
        name: "netdev",
        chunk: 64,
        output: 64 << 10,
        deadline: |_| None,
        matches: |query| matches!(query, Query::Netdev(_)),
        script: netdev::script,
        parse: netdev::parse,
    },
    Kind {
        name: "rdma_link",
        chunk: 256,
        output: 4 << 10,
        deadline: |_| None,
        matches: |query| matches!(query, Query::RdmaLink(_)),
        script: rdma_link::script,
        parse: rdma_link::parse,
    },
    Kind {
        name: "roce",
        chunk: 64,
        output: 64 << 10,
        deadline: |_| None,
        matches: |query| matches!(query, Query::Roce(_)),
        script: roce::script,
        parse: roce::parse,
    },
    Kind {
        // Its paths may be on file systems of a network, and a source is read when it is new.
        name: "build",
        chunk: 16,
        output: 96 << 10,
        deadline: |_| None,
        matches: |query| matches!(query, Query::Build(_)),
        script: build::script,
        parse: build::parse,
    },
    Kind {
        name: "ask",
        chunk: 1,
        output: 1 << 20,
        deadline: |_| None,
        matches: |query| matches!(query, Query::Ask(_)),
        script: ask::script,
        parse: ask::parse,
    },
    Kind {
        name: "probe",
        chunk: 1,
        output: 4 << 20,
        deadline: |queries| queries.first().and_then(probes::find).map(|probe| probe.deadline),
        // One is asked in a login of its own.
        matches: |query| matches!(query, Query::Probe(name) if *name != probes::LOGIN),
        script: probes::script,
        parse: probes::parse,
    },
];

fn kind_of(query: &Query) -> Option<&'static Kind> {
    KINDS.iter().find(|kind| (kind.matches)(query))
}

/// Groups queries by kind into the parts of one frame, cheap kinds first. `deadline` is that of
/// one kind. No query, no part.
pub fn batch(queries: &BTreeSet<Query>, deadline: Duration) -> Vec<BatchPart> {
    let mut parts = Vec::new();
    for kind in KINDS {
        // One shell asks for one user.
        let mut users: BTreeMap<Option<&str>, Vec<Query>> = BTreeMap::new();
        for query in queries.iter().filter(|query| (kind.matches)(query)) {
            users.entry(query.user()).or_default().push(query.clone());
        }
        let chunks =
            users.iter().flat_map(|(user, queries)| queries.chunks(kind.chunk).map(|chunk| (*user, chunk)));
        for (user, chunk) in chunks {
            let name = match chunk {
                [Query::Base(name)] => format!("base.{name}"),
                [Query::Probe(name)] => format!("probe.{name}"),
                _ => kind.name.to_owned(),
            };
            parts.push(BatchPart {
                queries: chunk.to_vec(),
                part: Part {
                    name,
                    script: as_user::script(user, (kind.script)(chunk)),
                    deadline: (kind.deadline)(chunk).unwrap_or(deadline),
                    limit: (64 << 10) + kind.output.saturating_mul(chunk.len()),
                },
            });
        }
    }
    parts
}

/// The query behind `facts.NAME` in templates and conditions; `None` when there is no such fact.
pub fn base(name: &str) -> Option<Query> {
    base::TABLE.iter().find(|fact| fact.name == name).map(|fact| Query::Base(fact.name))
}

/// Lossy text of a host's output, line by line.
fn lines(output: &str) -> impl Iterator<Item = &str> {
    output.lines()
}
