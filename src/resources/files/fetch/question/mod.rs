//! A whole file of a host, for a copy of it on the controller.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};

use crate::facts::bounds::{BYTES, number};
use crate::facts::file::{UNREAD, read_text};
use crate::facts::{Answers, Cost, Family, Object, Query, Question, Touches, after, answers, lines, of_type};
use crate::transport::Script;

/// The most bytes that a file may have.
pub const FETCH_LIMIT: u64 = 1 << 20;

/// Answer of a host that is asked for a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fetched {
    /// Its bytes.
    File(Bytes),
    /// There is nothing.
    Absent,
    /// There is something else than a regular file.
    Other,
    /// It has so many bytes, more than [`FETCH_LIMIT`].
    Large(u64),
    /// The host cannot read or send it: why.
    Unreadable(String),
}

/// The bytes of a file of a host, which may hold anything: nothing shows them.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Bytes(pub Vec<u8>);

impl fmt::Debug for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes", self.0.len())
    }
}

impl From<Bytes> for String {
    fn from(bytes: Bytes) -> Self {
        STANDARD.encode(bytes.0)
    }
}

impl TryFrom<String> for Bytes {
    type Error = base64::DecodeError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        STANDARD.decode(text).map(Self)
    }
}

/// A whole file of the host; a link is followed.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct FetchQuery(pub String);

impl Question for FetchQuery {
    type Answer = Fetched;
    const FAMILY: &'static Family = FAMILY;

    fn label(&self) -> String {
        format!("fetch {}", self.0)
    }

    /// A link may lead to what a change touches.
    fn touched_by(&self, touches: &Touches) -> bool {
        touches.any(|object| matches!(object, Object::Path(_)))
    }
}

/// One file as base64 with its lines, and what is told of it.
pub(crate) const FAMILY: &Family = &Family {
    cost: Cost::Commands,
    tools: "`stat` and `sha256sum`",
    chunk: 1,
    output: 1_500_000,
    ..Family::new("fetch", script, parse, |label| Some(FetchQuery(after("fetch", label)?.to_owned()).into()))
};

fn script(queries: &[Query]) -> Script {
    Script::new(crate::shell!(
        "shell/base64.sh",
        "shell/text.sh",
        "shell/rooted.sh",
        "shell/held.sh",
        "resources/files/fetch/question/fetch.sh"
    ))
    .arg(FETCH_LIMIT.to_string())
    .args(of_type(queries).map(|FetchQuery(path)| path.as_str()))
}

fn parse(queries: &[Query], output: &str, _: i32) -> Answers {
    let mut found = std::collections::BTreeMap::new();
    let mut lines = lines(output);
    while let Some(line) = lines.next() {
        let Some((key, rest)) = line.split_once(' ') else { continue };
        let (path, fetched) = match key {
            "absent" => (rest, Fetched::Absent),
            "other" => (rest, Fetched::Other),
            "unreadable" => (rest, Fetched::Unreadable("no permission to read it".to_owned())),
            "refused" => (rest, Fetched::Unreadable(lines.next().unwrap_or_default().to_owned())),
            "large" => match rest.split_once(' ') {
                Some((size, path)) => (path, Fetched::Large(number(size, &BYTES).unwrap_or(*BYTES.end()))),
                None => continue,
            },
            "text" => (
                rest,
                match read_text(&mut lines) {
                    Ok(bytes) if bytes.len() as u64 > FETCH_LIMIT => Fetched::Large(bytes.len() as u64),
                    Ok(bytes) => Fetched::File(Bytes(bytes)),
                    Err(_) => Fetched::Unreadable(UNREAD.to_owned()),
                },
            ),
            _ => continue,
        };
        found.insert(path, fetched);
    }
    answers(queries, |FetchQuery(path)| found.get(path.as_str()).cloned().map(Ok))
}
