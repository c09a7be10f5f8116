//! State of a build: its prefix, its source, and what it would be built with.
//!
//! Formats: `gcc -dumpfullversion`, `nvcc --version`, `df -Pk` (POSIX).

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::bounds;
use super::file::{UNREAD, read_text};
use super::{Answers, Family, Query, Question, Touches, after, answers, of_type};
use crate::transport::Script;

/// The build that is asked about.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct BuildQuery {
    /// Prefix of the software.
    pub prefix: String,
    /// Name of the build.
    pub name: String,
    /// Build directory; empty for the host's default.
    pub directory: String,
    /// Directory or archive with its source; empty when only the prefix is of interest.
    pub source: String,
    /// The compiler.
    pub compiler: String,
    /// Directory of the CUDA toolkit; empty when it needs none.
    pub cuda: String,
    /// User that asks, where it is not the login's user: the compiler is one of the playbook.
    pub user: Option<String>,
}

/// Content of the prefix.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Prefix {
    /// Nothing.
    #[default]
    Absent,
    /// An empty directory.
    Empty,
    /// Software that this program built or received.
    Ours,
    /// A symbolic link.
    Link,
    /// Something that this program did not put there.
    Foreign,
}

/// State of a build.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Build {
    /// Content of the prefix.
    pub prefix: Prefix,
    /// Inputs that it was built from, as `shell/resources/build.sh` wrote them.
    pub stamp: Option<String>,
    /// A file of it that is gone or has another size.
    pub damaged: Option<String>,
    /// Digest of the source; `None` when it is not there.
    pub source: Option<String>,
    /// `NAME VERSION MACHINE` of the compiler; `None` when it is not there.
    pub compiler: Option<String>,
    /// `DIRECTORY VERSION` of the CUDA toolkit; `None` when it is not there.
    pub cuda: Option<String>,
    /// System, version, machine and C library, which decide where a result runs.
    pub platform: String,
    /// Free space in KiB where it is built.
    pub free_kib: Option<u64>,
    /// Free space in KiB beside the prefix.
    pub prefix_free_kib: Option<u64>,
}

impl Question for BuildQuery {
    type Answer = Build;
    const FAMILY: &'static Family = FAMILY;

    fn label(&self) -> String {
        format!("build {}", self.prefix)
    }

    fn touched_by(&self, touches: &Touches) -> bool {
        // A package may be the compiler.
        touches.packages()
            || touches.paths(&[&self.prefix, &self.source])
            || touches.asker(self.user.as_deref())
    }

    /// The compiler and `nvcc` are run.
    fn user(&self) -> Option<&str> {
        self.user.as_deref()
    }
}

/// Its paths may be on file systems of a network, and a source is read when it is new.
pub(crate) const FAMILY: &Family = &Family {
    tools: "`stat`, `find` and the compiler",
    chunk: 16,
    output: 96 << 10,
    ..Family::new("build", script, parse, |label| {
        Some(BuildQuery { prefix: after("build", label)?.to_owned(), ..BuildQuery::default() }.into())
    })
};

fn script(queries: &[Query]) -> Script {
    let text = crate::shell!(
        "shell/base64.sh",
        "shell/state_directory.sh",
        "shell/text.sh",
        "shell/rooted.sh",
        "shell/build_directory.sh",
        "facts/build/build.sh"
    );
    Script::new(text).args(of_type(queries).flat_map(|build| {
        let BuildQuery { prefix, name, directory, source, compiler, cuda, user: _ } = build;
        [prefix, name, directory, source, compiler, cuda].map(String::as_str)
    }))
}

fn parse(queries: &[Query], output: &str, status: i32) -> Answers {
    // What stands there is not all, and what is missing would be taken for gone.
    if status != 0 {
        return Vec::new();
    }
    let mut lines = output.lines();
    let mut unread = false;
    let mut refused: BTreeMap<usize, String> = BTreeMap::new();
    let mut builds: Vec<Build> = Vec::new();
    while let Some(line) = lines.next() {
        let (key, rest) = line.split_once(' ').unwrap_or((line, ""));
        if key == "build" {
            builds.push(Build::default());
            continue;
        }
        let count = builds.len();
        let Some(build) = builds.last_mut() else { continue };
        match key {
            "prefix" => {
                build.prefix = match rest {
                    "absent" => Prefix::Absent,
                    "empty" => Prefix::Empty,
                    "ours" => Prefix::Ours,
                    "link" => Prefix::Link,
                    _ => Prefix::Foreign,
                };
            }
            "text" => {
                let text = read_text(&mut lines);
                unread |= text.is_err();
                build.stamp = text.ok().and_then(|bytes| String::from_utf8(bytes).ok());
            }
            "refused" => drop(refused.insert(count, rest.to_owned())),
            "damaged" => build.damaged = Some(rest.to_owned()),
            "source" => build.source = Some(rest.to_owned()),
            "compiler" => build.compiler = Some(rest.trim_end().to_owned()),
            "cuda" => build.cuda = Some(rest.to_owned()),
            "platform" => rest.trim_end().clone_into(&mut build.platform),
            "free" => {
                let mut numbers = rest.split(' ').map(|kib| bounds::number(kib, &bounds::KIB));
                build.free_kib = numbers.next().flatten();
                build.prefix_free_kib = numbers.next().flatten();
            }
            _ => {}
        }
    }
    let mut builds = (1..).zip(builds);
    answers(queries, |_: &BuildQuery| {
        let (count, build) = builds.next()?;
        Some(match refused.remove(&count) {
            _ if unread => Err(UNREAD.to_owned()),
            Some(reason) => Err(reason),
            None => Ok(build),
        })
    })
}
