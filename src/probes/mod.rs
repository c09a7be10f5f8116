//! Probes: what `verify` asks of a host beyond the facts, and the pure parsers of the answers.
//!
//! A probe is a shell text that runs the commands of one field under deadlines and frames what each
//! printed ([`section`]), and a parser that makes an [`Observation`] of it. All probes of a host are
//! parts of its one exec. What is missing, hung or not understood is a [`Gap`] with its output.
//! Formats: `nvidia-smi`, `ibv_devinfo`, sysfs and the others as their recordings show them.
//!
//! A new probe is one file here, one script in `src/shell/probes/`, one line in [`TABLE`].

pub mod driver;
pub mod fabric;
pub mod log;
pub mod nvidia;
pub mod rdma;
pub mod section;
pub mod software;
pub mod system;

use std::time::Duration;

use serde::{Deserialize, Serialize};

pub use section::{Gap, GapKind, Section, Sections, Seen};

use crate::facts::{Answer, BatchPart, Query};
use crate::inventory::Host;
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
    /// The driver in its layers.
    Driver(driver::Driver),
    /// What stands between GPUs, cards and the fabric.
    Fabric(fabric::Fabric),
    /// The kernel's log.
    Log(Seen<log::Log>),
    /// GPUs as the driver shows them.
    Nvidia(nvidia::Nvidia),
    /// What a new login gets.
    Login(Seen<system::Login>),
    /// RDMA devices as the kernel shows them.
    Rdma(rdma::Rdma),
    /// NCCL, Open MPI and their tests.
    Software(software::Software),
    /// The system around them.
    System(system::System),
}

macro_rules! probe_script {
    ($file:literal) => {
        shell!("probes/ask.sh", $file)
    };
}

/// All probes, those that may hang last.
pub const TABLE: &[Probe] = &[
    Probe {
        name: "log",
        deadline: Duration::from_secs(30),
        script: probe_script!("probes/log.sh"),
        parse: |sections| Observation::Log(log::parse(sections)),
    },
    Probe {
        name: "rdma",
        deadline: Duration::from_secs(20),
        script: probe_script!("probes/rdma.sh"),
        parse: |sections| Observation::Rdma(rdma::parse(sections)),
    },
    Probe {
        name: "system",
        deadline: Duration::from_secs(50),
        script: probe_script!("probes/system.sh"),
        parse: |sections| Observation::System(system::parse(sections)),
    },
    Probe {
        name: "software",
        deadline: Duration::from_secs(40),
        script: probe_script!("probes/software.sh"),
        parse: |sections| Observation::Software(software::parse(sections)),
    },
    Probe {
        name: "fabric",
        deadline: Duration::from_mins(1),
        script: probe_script!("probes/fabric.sh"),
        parse: |sections| Observation::Fabric(fabric::parse(sections)),
    },
    Probe {
        name: "driver",
        deadline: Duration::from_secs(45),
        script: probe_script!("probes/driver.sh"),
        parse: |sections| Observation::Driver(driver::parse(sections)),
    },
    Probe {
        name: "nvidia",
        deadline: Duration::from_mins(1),
        script: probe_script!("probes/nvidia.sh"),
        parse: |sections| Observation::Nvidia(nvidia::parse(sections)),
    },
];

/// The probe that is asked in a login of its own, beside the one exec.
pub const LOGIN: &str = "login";

/// What is asked in that login.
pub(crate) fn login_script() -> Script {
    Script::new(probe_script!("probes/login.sh"))
}

/// Reads what it answered.
pub(crate) fn login(output: &[u8]) -> Seen<system::Login> {
    system::login(&Sections::split(&String::from_utf8_lossy(output)))
}

/// The probe of a query.
pub(crate) fn find(query: &Query) -> Option<&'static Probe> {
    let Query::Probe(name) = query else { return None };
    TABLE.iter().find(|probe| probe.name == *name)
}

/// Tells the probe of software who starts jobs on its host: what the loader finds depends on the login.
pub(crate) fn in_jobs_of(mut parts: Vec<BatchPart>, host: &Host) -> Vec<BatchPart> {
    let user = host.expect.pointer("/software/mpi_user").and_then(serde_json::Value::as_str);
    for part in parts.iter_mut().filter(|part| part.queries == [Query::Probe("software")]) {
        part.part.script.args = vec![user.unwrap_or_default().into()];
    }
    parts
}

/// Every probe as a query.
pub fn queries() -> impl Iterator<Item = Query> {
    TABLE.iter().map(|probe| probe.name).chain([LOGIN]).map(Query::Probe)
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
