//! Basic facts: what templates see as `facts.NAME`. Each is a file and a part of its own.

mod arch;
pub mod boot;
mod bounds;
pub mod busy;
pub mod cpu;
pub mod hostname;
pub mod ids;
mod init;
pub mod kernel;
pub mod memory;
mod mig;
pub mod modules;
pub mod mounts;
pub mod network;
mod numa;
mod nvlinks;
pub mod os;
pub mod pci;
mod selinux;
pub mod ssh;
pub mod users;
pub mod virtualization;

use std::any::Any;
use std::sync::{Arc, OnceLock};

pub(super) use mounts::{PSEUDO, unescape};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};

use super::{Cost, Family, Query, Question, Touches, after, answers, of_type};
use crate::transport::Script;

/// A basic fact.
#[derive(Debug, Clone, Copy)]
pub struct BaseFact {
    /// Its name in templates.
    pub name: &'static str,
    /// Its description, for references.
    pub doc: &'static str,
    script: &'static str,
    parse: fn(&str) -> Result<Json, String>,
    touched_by: fn(&Touches) -> bool,
    /// Returns a value that it may have on a host of this distribution; see [`specimens`].
    specimen: fn(&str) -> Json,
}

/// A basic fact with the fields that the program reads itself; templates read all of them.
pub trait Fact: DeserializeOwned + Send + Sync + 'static {
    /// Its name in templates.
    const NAME: &'static str;
}

/// Value of a basic fact: JSON for templates and records, a type for the program.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct BaseValue {
    json: Json,
    #[serde(skip)]
    typed: OnceLock<Option<Arc<dyn Any + Send + Sync>>>,
}

impl BaseValue {
    /// As templates see it.
    pub fn json(&self) -> &Json {
        &self.json
    }

    /// As the program reads it.
    pub fn get<F: Fact>(&self) -> Option<&F> {
        let read = || Some(Arc::new(F::deserialize(&self.json).ok()?) as Arc<dyn Any + Send + Sync>);
        self.typed.get_or_init(read).as_ref()?.downcast_ref()
    }
}

impl From<Json> for BaseValue {
    fn from(json: Json) -> Self {
        Self { json, ..Self::default() }
    }
}

impl PartialEq for BaseValue {
    fn eq(&self, other: &Self) -> bool {
        self.json == other.json
    }
}

/// All basic facts; the build script makes the table of the files that have one.
pub const TABLE: &[BaseFact] = include!(concat!(env!("OUT_DIR"), "/facts.rs"));

/// Facts that say what a host is: a plan that waited for every package and command to tell these would tell
/// nothing.
const LASTING: &[&str] = &["arch", "cpu", "ids", "numa", "os", "virtualization"];

/// Facts that are one of a few words, so that a condition with another word is a mistake.
pub const WORDS: &[(&[&str], &[&str])] = &[
    (&["arch"], arch::WORDS),
    (&["init", "state"], init::STATES),
    (&["kernel", "lockdown"], kernel::LOCKDOWNS),
    (&["os", "family"], os::FAMILIES),
    (&["os", "package_manager"], os::MANAGERS),
    (&["selinux"], selinux::MODES),
    (&["virtualization", "kind"], virtualization::KINDS),
];

/// Facts that are mostly one of these words: one in other letters is a mistake.
pub const SPELLED: &[(&[&str], &[&str])] = &[(&["os", "id"], os::IDS)];

/// A basic fact, by its name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct BaseQuery(pub &'static str);

impl BaseQuery {
    /// Returns the query of `facts.NAME`.
    pub fn named(name: &str) -> Option<Self> {
        TABLE.iter().find(|fact| fact.name == name).map(|fact| Self(fact.name))
    }

    fn fact(&self) -> Option<&'static BaseFact> {
        TABLE.iter().find(|fact| fact.name == self.0)
    }

    /// Whether a plan waits for a change of these things before it tells this fact.
    pub fn waits_for(&self, touches: &Touches) -> bool {
        let named = *touches != Touches::Everything || !LASTING.contains(&self.0);
        named && self.touched_by(touches)
    }
}

impl Question for BaseQuery {
    type Answer = BaseValue;
    const FAMILY: &'static Family = FAMILY;
    const RECORDED: bool = true;

    fn label(&self) -> String {
        format!("base {}", self.0)
    }

    fn touched_by(&self, touches: &Touches) -> bool {
        self.fact().is_none_or(|fact| (fact.touched_by)(touches))
    }
}

pub(crate) const FAMILY: &Family = &Family {
    cost: Cost::Files,
    chunk: 1,
    output: 1 << 20,
    ..Family::new(
        "base",
        |queries| Script::new(of_type(queries).find_map(BaseQuery::fact).map_or(":", |fact| fact.script)),
        // A script that fails in the middle has told a part at most.
        |queries, output, status| {
            answers(queries, |query: &BaseQuery| {
                let fact = query.fact()?;
                let told = (fact.parse)(output).and_then(|value| bounds::held(fact.name, value));
                if told.is_ok() && status != 0 { None } else { Some(told.map(BaseValue::from)) }
            })
        },
        |label| base(after("base", label)?),
    )
};

/// The query behind `facts.NAME` in templates and conditions; `None` when there is no such fact.
pub fn base(name: &str) -> Option<Query> {
    BaseQuery::named(name).map(Query::from)
}

/// Specimen facts (the whole `facts` object) for some supported distributions, by their names. Every
/// field that can exist is there, so they are also the schema that `validate` checks templates and
/// conditions against.
pub fn specimens() -> Vec<(&'static str, Json)> {
    let of = |os| -> Map<String, Json> {
        TABLE.iter().map(|fact| (fact.name.to_owned(), (fact.specimen)(os))).collect()
    };
    ["debian", "ubuntu", "rhel", "alinux"].map(|os| (os, Json::Object(of(os)))).to_vec()
}

/// Whether devices and links may have come, gone or changed.
fn bus_touched(touches: &Touches) -> bool {
    touches.units() || touches.modules() || touches.paths(&["/sys", "/etc/netplan", "/etc/systemd/network"])
}

/// `key=value` lines; the last one of a key counts.
fn field<'a>(output: &'a str, key: &str) -> Option<&'a str> {
    output
        .lines()
        .rev()
        .find_map(|line| line.strip_prefix(key)?.strip_prefix('='))
        .filter(|value| !value.is_empty())
}

/// A field that must be there.
fn need<'a>(output: &'a str, key: &str) -> Result<&'a str, String> {
    field(output, key).ok_or_else(|| format!("the host did not report its {key}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every field that the program reads is one that hosts have.
    fn agrees<F: Fact + Serialize>() {
        for (os, facts) in specimens() {
            let all = BaseValue::from(facts[F::NAME].clone());
            let read = serde_json::to_value(all.get::<F>().unwrap()).unwrap();
            assert!(is_within(&read, all.json()), "{} of {os}: {read}", F::NAME);
        }
    }

    fn is_within(part: &Json, all: &Json) -> bool {
        match (part, all) {
            (Json::Object(part), Json::Object(all)) => {
                part.iter().all(|(key, value)| all.get(key).is_some_and(|all| is_within(value, all)))
            }
            (Json::Array(part), Json::Array(all)) => {
                part.len() == all.len() && part.iter().zip(all).all(|(part, all)| is_within(part, all))
            }
            _ => part == all,
        }
    }

    #[test]
    fn what_is_read_of_a_fact_is_there() {
        agrees::<boot::Boot>();
        agrees::<busy::Busy>();
        agrees::<cpu::Cpu>();
        agrees::<hostname::Hostname>();
        agrees::<ids::Ids>();
        agrees::<kernel::Kernel>();
        agrees::<memory::Memory>();
        agrees::<modules::Modules>();
        agrees::<mounts::Mounts>();
        agrees::<network::Network>();
        agrees::<os::Os>();
        agrees::<pci::Pci>();
        agrees::<ssh::Ssh>();
        agrees::<users::Users>();
        agrees::<virtualization::Virtualization>();
    }
}
