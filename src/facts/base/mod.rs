//! Basic facts: what templates see as `facts.NAME`. Each is a file and a part of its own.

mod arch;
mod boot;
mod bounds;
pub mod busy;
mod cpu;
mod hostname;
mod ids;
mod init;
mod kernel;
mod memory;
mod modules;
mod mounts;
pub mod network;
mod numa;
mod nvlinks;
mod os;
mod pci;
mod selinux;
pub mod ssh;
mod users;
mod virtualization;

pub(super) use mounts::{PSEUDO, unescape};
use serde_json::{Map, Value as Json};

use super::{Family, Query, Question, Touches, after, answers, of_type};
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
    /// Its value as templates see it.
    type Answer = Json;
    const FAMILY: &'static Family = &FAMILY;
    const RECORDED: bool = true;

    fn label(&self) -> String {
        format!("base {}", self.0)
    }

    fn touched_by(&self, touches: &Touches) -> bool {
        self.fact().is_none_or(|fact| (fact.touched_by)(touches))
    }
}

pub(super) const FAMILY: Family = Family {
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
                if told.is_ok() && status != 0 { None } else { Some(told) }
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
    use std::path::Path;

    use super::*;

    /// Facts that the program itself reads by their path, as no compiler sees it.
    #[test]
    fn what_is_read_of_a_fact_is_there() {
        fn read(folder: &Path, text: &mut String) {
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    read(&path, text);
                } else if path.extension().is_some_and(|end| end == "rs") {
                    text.push_str(&std::fs::read_to_string(&path).unwrap());
                }
            }
        }
        let mut text = String::new();
        read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut text);
        let call = r#"(?:fact|pointer|text|word|list)\((?:&?[a-z_.]+, )?"/([a-z_]+)((?:/[a-z_]+)*)""#;
        let mut read = 0;
        for found in regex::Regex::new(call).unwrap().captures_iter(&text) {
            let (fact, path) = (&found[1], &found[2]);
            if BaseQuery::named(fact).is_some() {
                read += 1;
                let has = |(_, facts): &(_, Json)| facts[fact].pointer(path).is_some();
                assert!(specimens().iter().any(has), "/{fact}{path} is read, and no host has it");
            }
        }
        assert!(read > 20, "{read}");
    }
}
