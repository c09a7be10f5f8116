//! Entries in the cache of the dynamic loader for the libraries in a directory.
//!
//! Formats: ldconfig(8), `ldconfig -p`: `\tlibnccl.so.2 (libc6,x86-64) => /usr/local/nccl/lib/libnccl.so.2`.
//! Of several lines of one name the loader takes the first that fits the machine.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::facts::object::inside;
use crate::facts::{Answers, Family, Object, Query, Question, Touches, after, answers, lines, of_type};
use crate::transport::Script;

/// Libraries in a directory, and what the loader knows of them.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Loader {
    /// Whether there is an `ldconfig`.
    pub ldconfig: bool,
    /// Libraries in the directory, by the names that programs ask for.
    pub libraries: Vec<String>,
    /// Of these, the ones that the cache does not have from there.
    pub missing: Vec<String>,
    /// Of these, the ones that the loader finds elsewhere, with the file that it takes.
    pub elsewhere: BTreeMap<String, String>,
    /// Reason why others can change the directory, a library in it or where that leads, if anybody can.
    pub refused: Option<String>,
}

/// The libraries in a directory, as the dynamic loader knows them.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct LoaderQuery(pub String);

impl Question for LoaderQuery {
    type Answer = Loader;
    const FAMILY: &'static Family = FAMILY;

    fn label(&self) -> String {
        format!("loader {}", self.0)
    }

    fn touched_by(&self, touches: &Touches) -> bool {
        // A package runs ldconfig.
        touches.packages()
            || touches.meets(&Object::Path(self.0.clone()))
            || touches.paths(&["/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d"])
    }
}

pub(crate) const FAMILY: &Family = &Family {
    tools: "`ldconfig`",
    chunk: 64,
    ..Family::new("loader", script, parse, |label| {
        Some(LoaderQuery(after("loader", label)?.to_owned()).into())
    })
};

fn script(queries: &[Query]) -> Script {
    let directories = of_type(queries).map(|LoaderQuery(directory)| directory.as_str());
    Script::new(crate::shell!(
        "shell/rooted.sh",
        "shell/rooted_below.sh",
        "resources/builds/library_path/question/loader.sh"
    ))
    .args(directories)
}

fn parse(queries: &[Query], output: &str, _: i32) -> Answers {
    let mut found: Vec<(Loader, Vec<Entry<'_>>)> = Vec::new();
    let mut ended = false;
    for line in lines(output) {
        if line == "loader" {
            found.push(<_>::default());
        } else if line == "end" {
            ended = true;
        }
        let Some((loader, entries)) = found.last_mut() else { continue };
        match line.split_once(' ') {
            Some(("has", _)) => loader.ldconfig = true,
            Some(("refused", why)) => loader.refused = Some(why.to_owned()),
            Some(("library", name)) => loader.libraries.push(name.to_owned()),
            _ => entries.extend(Entry::of(line)),
        }
    }
    if !ended {
        return Vec::new();
    }
    let mut found = found.into_iter();
    answers(queries, |LoaderQuery(directory)| {
        let (mut loader, entries) = found.next()?;
        for name in loader.libraries.clone() {
            let of_name = || entries.iter().filter(|entry| entry.name == name);
            let Some(own) = of_name().find(|entry| inside(directory, entry.file)) else {
                loader.missing.push(name);
                continue;
            };
            let first = of_name().find(|entry| entry.machine == own.machine).unwrap_or(own);
            if !inside(directory, first.file) {
                loader.elsewhere.insert(name, first.file.to_owned());
            }
        }
        Some(Ok(loader))
    })
}

/// A line of the cache.
struct Entry<'a> {
    name: &'a str,
    /// `libc6,x86-64`, without what follows: `hwcap`, `OS ABI`.
    machine: &'a str,
    file: &'a str,
}

impl<'a> Entry<'a> {
    fn of(line: &'a str) -> Option<Self> {
        let (head, file) = line.strip_prefix('\t')?.split_once(" => ")?;
        let (name, kind) = head.split_once(" (")?;
        let kind = kind.trim_end_matches(')');
        Some(Self { name, machine: kind.split(", ").next().unwrap_or(kind), file })
    }
}
