//! Probes: what `verify` asks of a host beyond the facts, and the pure parsers of the answers.
//!
//! A probe is a shell text that runs the commands of one field under deadlines and frames what each
//! printed ([`section`]), and a parser that makes an [`Observation`] of it. All probes of a host are
//! parts of its one exec. What is missing, hung or not understood is a [`Gap`] with its output.
//! Formats: `nvidia-smi`, `ibv_devinfo`, sysfs and the others as their recordings show them.
//!
//! A new probe is one file here, one script in `src/shell/probes/`, one line in [`TABLE`].

pub mod nvidia;
pub mod rdma;
pub mod section;

use std::time::Duration;

use serde::{Deserialize, Serialize};

pub use section::{Gap, GapKind, Section, Sections, Seen};

use crate::facts::{Answer, Query};
use crate::shell;
use crate::transport::Script;

/// A probe.
#[derive(Debug, Clone, Copy)]
pub struct Probe {
    /// Its name.
    pub name: &'static str,
    /// Longest time for all its commands together.
    pub deadline: Duration,
    script: &'static str,
    parse: fn(&Sections<'_>) -> Observation,
}

/// What one probe saw.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Observation {
    /// GPUs as the driver shows them.
    Nvidia(nvidia::Nvidia),
    /// RDMA devices as the kernel shows them.
    Rdma(rdma::Rdma),
}

macro_rules! probe_script {
    ($file:literal) => {
        shell!("probes/ask.sh", $file)
    };
}

/// All probes, those that may hang last.
pub const TABLE: &[Probe] = &[
    Probe {
        name: "rdma",
        deadline: Duration::from_secs(20),
        script: probe_script!("probes/rdma.sh"),
        parse: |sections| Observation::Rdma(rdma::parse(sections)),
    },
    Probe {
        name: "nvidia",
        deadline: Duration::from_mins(1),
        script: probe_script!("probes/nvidia.sh"),
        parse: |sections| Observation::Nvidia(nvidia::parse(sections)),
    },
];

/// The probe of a query.
pub(crate) fn find(query: &Query) -> Option<&'static Probe> {
    let Query::Probe(name) = query else { return None };
    TABLE.iter().find(|probe| probe.name == *name)
}

/// Every probe as a query.
pub fn queries() -> impl Iterator<Item = Query> {
    TABLE.iter().map(|probe| Query::Probe(probe.name))
}

pub(crate) fn script(queries: &[Query]) -> Script {
    Script::new(queries.first().and_then(find).map_or(":", |probe| probe.script))
}

pub(crate) fn parse(queries: &[Query], output: &[u8], _: i32) -> Vec<(Query, Answer)> {
    let output = String::from_utf8_lossy(output);
    let sections = Sections::split(&output);
    queries
        .iter()
        .filter_map(|query| {
            let observation = (find(query)?.parse)(&sections);
            Some((query.clone(), Answer::Probe(Box::new(observation))))
        })
        .collect()
}
