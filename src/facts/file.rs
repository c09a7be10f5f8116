//! Paths: type, mode, owner, digest, text. One `stat` and one `sha256sum` for all of a host.
//!
//! Formats: `stat -c` of coreutils and busybox (the same letters), `sha256sum`, RFC 4648 base64.

use std::collections::BTreeMap;

use base64::Engine as _;
use serde::{Deserialize, Serialize};

use super::{Answer, Answers, Query, lines};
use crate::transport::{Arg, Script};

/// The largest text that a host sends.
pub const TEXT_LIMIT: usize = 64 << 10;

/// What is at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FileKind {
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// A symbolic link.
    Symlink,
    /// A device, socket or pipe.
    Other,
}

impl FileKind {
    /// What a person calls it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::File => "a regular file",
            Self::Directory => "a directory",
            Self::Symlink => "a symbolic link",
            Self::Other => "a device, socket or pipe",
        }
    }
}

/// Attributes of a path, as `lstat` tells them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attributes {
    /// What it is.
    pub kind: FileKind,
    /// Permission bits with setuid, setgid and sticky.
    pub mode: u32,
    /// Number of the owner.
    pub uid: u32,
    /// Number of the group.
    pub gid: u32,
    /// Name of the owner; `UNKNOWN` when the number has none.
    pub owner: String,
    /// Name of the group.
    pub group: String,
    /// Size in bytes.
    pub size: u64,
    /// Where a symbolic link points.
    #[serde(default)]
    pub target: Option<String>,
}

/// What a regular file holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Content {
    /// SHA-256 in hex.
    pub sha256: String,
    /// Its text, when it was asked for, has at most 64 KiB and is UTF-8.
    #[serde(default)]
    pub text: Option<String>,
}

/// One `stat`, one `sha256sum`, links and texts where wanted.
pub(super) fn script(queries: &[Query]) -> Script {
    let mut script = Script::new(crate::shell!("facts/text.sh", "facts/file.sh"));
    for query in queries {
        if let Query::Path(path) = query {
            script = script.arg(path.as_str()).arg("").arg("a");
        } else if let Query::Content { path, wanted, text, stamp } = query {
            let what = if *stamp {
                "s"
            } else if *text {
                "t"
            } else {
                "d"
            };
            script = script.arg(path.as_str()).arg(wanted.as_deref().unwrap_or("")).arg(what);
        } else if let Query::Secret { path, text } = query {
            script = script.arg(path.as_str()).arg(Arg::Text(text.clone())).arg("x");
        }
    }
    script
}

#[derive(Default)]
struct Seen<'a> {
    stats: BTreeMap<&'a str, Attributes>,
    users: BTreeMap<u32, &'a str>,
    groups: BTreeMap<u32, &'a str>,
    digests: BTreeMap<&'a str, &'a str>,
    texts: BTreeMap<&'a str, Option<String>>,
    absent: BTreeMap<&'a str, bool>,
    unreadable: std::collections::BTreeSet<&'a str>,
    same: BTreeMap<&'a str, bool>,
    tools: Vec<&'a str>,
}

fn read(output: &str) -> Seen<'_> {
    let mut seen = Seen::default();
    let mut lines = lines(output);
    while let Some(line) = lines.next() {
        let Some((key, rest)) = line.split_once(' ') else { continue };
        match key {
            "absent" => drop(seen.absent.insert(rest, true)),
            "denied" => drop(seen.absent.insert(rest, false)),
            "unreadable" => drop(seen.unreadable.insert(rest)),
            "same" => drop(seen.same.insert(rest, true)),
            "differs" => drop(seen.same.insert(rest, false)),
            "no" => seen.tools.push(rest),
            "stat" => {
                if let Some((path, attributes)) = read_stat(rest) {
                    seen.stats.insert(path, attributes);
                }
            }
            "user" => read_name(rest, &mut seen.users),
            "group" => read_name(rest, &mut seen.groups),
            // As sha256sum writes it.
            digest if digest.len() == 64 && rest.starts_with(' ') => {
                seen.digests.insert(rest.trim_start_matches(' '), digest);
            }
            "digest" => {
                if let Some((digest, path)) = rest.split_once("  ") {
                    seen.digests.insert(path, digest);
                }
            }
            "text" => {
                let text = read_text(&mut lines).ok().filter(|bytes| bytes.len() <= TEXT_LIMIT);
                seen.texts.insert(rest, text.and_then(|bytes| String::from_utf8(bytes).ok()));
            }
            _ => {}
        }
    }
    seen
}

/// `NUMBER NAME`
fn read_name<'a>(line: &'a str, into: &mut BTreeMap<u32, &'a str>) {
    if let Some((number, name)) = line.split_once(' ')
        && let Ok(number) = number.parse()
    {
        into.entry(number).or_insert(name);
    }
}

/// What `text` of `facts/text.sh` prints, up to its full stop: lines behind `|`, or base64.
pub(super) fn read_text<'a>(
    lines: &mut impl Iterator<Item = &'a str>,
) -> Result<Vec<u8>, base64::DecodeError> {
    let (mut plain, mut encoded) = (String::new(), String::new());
    for line in lines.by_ref().take_while(|line| *line != ".") {
        match line.strip_prefix('|') {
            Some(line) => {
                plain.push_str(line);
                plain.push('\n');
            }
            None => encoded.push_str(line),
        }
    }
    if encoded.is_empty() {
        return Ok(plain.into_bytes());
    }
    base64::engine::general_purpose::STANDARD.decode(encoded)
}

/// `%u:%g:%f:%s:%i:%Y:%Z:%N`: numbers, raw mode in hex, and the path as the rest. Of a symbolic link
/// that is ` -> ` and its target as well, each in quotes where busybox writes it.
fn read_stat(line: &str) -> Option<(&str, Attributes)> {
    let mut fields = line.splitn(8, ':');
    let uid = fields.next()?.parse().ok()?;
    let gid = fields.next()?.parse().ok()?;
    let raw = u32::from_str_radix(fields.next()?, 16).ok()?;
    let size = fields.next()?.parse().ok()?;
    let path = fields.nth(3)?;
    let kind = match raw & 0o170_000 {
        0o100_000 => FileKind::File,
        0o040_000 => FileKind::Directory,
        0o120_000 => FileKind::Symlink,
        _ => FileKind::Other,
    };
    let (mut path, mut target) = (path, None);
    if kind == FileKind::Symlink {
        let quoted = path.strip_prefix('\'').and_then(|rest| rest.strip_suffix('\''));
        let (from, to) = match quoted {
            Some(quoted) => quoted.split_once("' -> '")?,
            None => path.split_once(" -> ")?,
        };
        (path, target) = (from, Some(to.to_owned()));
    }
    let (owner, group) = (String::new(), String::new());
    Some((path, Attributes { kind, mode: raw & 0o7777, uid, gid, owner, group, size, target }))
}

/// As `stat` and `ls` call a number: 0 is root everywhere, and one without a name is `UNKNOWN`.
fn name(number: u32, names: &BTreeMap<u32, &str>) -> String {
    let name = names.get(&number).copied();
    name.unwrap_or(if number == 0 { "root" } else { "UNKNOWN" }).to_owned()
}

impl Seen<'_> {
    fn denied(&self, path: &str) -> Option<Answer> {
        match self.absent.get(path) {
            Some(false) => Some(Answer::Unknown(format!("no permission to look at {path}"))),
            Some(true) | None => None,
        }
    }

    fn path(&self, path: &str) -> Option<Answer> {
        if let Some(attributes) = self.stats.get(path) {
            let mut attributes = attributes.clone();
            attributes.owner = name(attributes.uid, &self.users);
            attributes.group = name(attributes.gid, &self.groups);
            return Some(Answer::Path(Some(attributes)));
        }
        self.denied(path).or_else(|| {
            if self.absent.contains_key(path) {
                return Some(Answer::Path(None));
            }
            self.tools.contains(&"stat").then(|| Answer::Unknown("no `stat` on the host".to_owned()))
        })
    }

    fn secret(&self, path: &str) -> Option<Answer> {
        if let Some(same) = self.same.get(path) {
            return Some(Answer::Secret(*same));
        }
        let answer = self.content(path)?;
        Some(if answer == Answer::Content(None) { Answer::Secret(false) } else { answer })
    }

    fn content(&self, path: &str) -> Option<Answer> {
        if let Some(digest) = self.digests.get(path) {
            let text = self.texts.get(path).cloned().flatten();
            return Some(Answer::Content(Some(Content { sha256: (*digest).to_owned(), text })));
        }
        if self.unreadable.contains(path) {
            return Some(Answer::Unknown(format!("no permission to read {path}")));
        }
        if let Some(denied) = self.denied(path) {
            return Some(denied);
        }
        if self.absent.contains_key(path) || self.stats.get(path).is_some_and(|a| a.kind != FileKind::File) {
            return Some(Answer::Content(None));
        }
        self.tools.contains(&"sha256sum").then(|| Answer::Unknown("no `sha256sum` on the host".to_owned()))
    }
}

pub(super) fn parse(queries: &[Query], output: &[u8], _: i32) -> Answers {
    let output = String::from_utf8_lossy(output);
    let seen = read(&output);
    queries
        .iter()
        .filter_map(|query| {
            let answer = if let Query::Content { path, .. } = query {
                seen.content(path)
            } else if let Query::Path(path) = query {
                seen.path(path)
            } else if let Query::Secret { path, .. } = query {
                seen.secret(path)
            } else {
                None
            };
            answer.map(|answer| (query.clone(), answer))
        })
        .collect()
}
