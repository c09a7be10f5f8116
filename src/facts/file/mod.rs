//! Paths: type, mode, owner, digest, text. One `stat` and one `sha256sum` for all of a host.
//!
//! Formats: `stat -c` of coreutils, busybox and uutils (the same letters), `readlink`, `sha256sum`, RFC 4648 base64.

use std::collections::BTreeMap;

use base64::Engine as _;
use serde::{Deserialize, Serialize};

use super::bounds;
use super::object::inside;
use super::{Answers, Cost, Family, Object, Query, Question, Told, Touches, after, answers, lines, of_type};
use crate::transport::{Arg, Script};

/// The largest text that a host sends.
pub const TEXT_LIMIT: usize = 64 << 10;

/// Type of a file.
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
    /// Returns its name for people.
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
    /// Its type.
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
    /// When it was last written, in seconds since 1970. Only for telling whether it was written since.
    #[serde(skip)]
    pub written: i64,
    /// Target of a symbolic link.
    #[serde(default)]
    pub target: Option<String>,
}

/// Content of a regular file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Content {
    /// SHA-256 in hex.
    pub sha256: String,
    /// Its text, when it was asked for, has at most 64 KiB and is UTF-8.
    #[serde(default)]
    pub text: Option<String>,
}

/// Type, mode and owner of a path, `None` when nothing is there; links are not followed.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct PathQuery(pub String);

impl Question for PathQuery {
    type Answer = Option<Attributes>;
    const FAMILY: &'static Family = FAMILY;

    fn label(&self) -> String {
        format!("path {}", self.0)
    }

    fn touched_by(&self, touches: &Touches) -> bool {
        touches.meets(&Object::Path(self.0.clone()))
    }
}

/// Digest of a regular file, and its text when that is asked for; `None` when there is no regular file.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct ContentQuery {
    /// The file.
    pub path: String,
    /// The digest that it should have, in hex.
    pub wanted: Option<String>,
    /// Whether the text (up to 64 KiB) is sent when the digest is not the wanted one.
    /// Never for content that holds a secret: the old text has the previous one.
    pub text: bool,
    /// Whether the host may remember the digest by inode, size and times: files over 16 MiB.
    pub stamp: bool,
}

impl Question for ContentQuery {
    type Answer = Option<Content>;
    const FAMILY: &'static Family = FAMILY;

    fn label(&self) -> String {
        format!("content {}", self.path)
    }

    fn touched_by(&self, touches: &Touches) -> bool {
        touches.meets(&Object::Path(self.path.clone()))
    }
}

/// Whether a file holds a text with secrets. The host compares; nothing comes back.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct SecretQuery {
    /// The file.
    pub path: String,
    /// The text with placeholders.
    pub text: String,
}

impl Question for SecretQuery {
    type Answer = bool;
    const FAMILY: &'static Family = FAMILY;

    fn label(&self) -> String {
        format!("secret {}", self.path)
    }

    fn touched_by(&self, touches: &Touches) -> bool {
        touches.meets(&Object::Path(self.path.clone()))
    }
}

impl Query {
    /// Whether it is about a path below a directory. Where that directory is not there, it is answered
    /// the same before the directory is made and after.
    pub fn is_below(&self, directory: &str) -> bool {
        let path = self
            .get::<PathQuery>()
            .map(|query| &query.0)
            .or_else(|| self.get::<ContentQuery>().map(|query| &query.path))
            .or_else(|| self.get::<SecretQuery>().map(|query| &query.path));
        path.is_some_and(|path| path != directory && inside(directory, path))
    }
}

/// One text has 64 KiB as base64, and the lines around it.
pub(crate) const FAMILY: &Family = &Family {
    cost: Cost::Files,
    chunk: 256,
    output: 96 << 10,
    tools: "`stat`, `readlink` and `sha256sum`",
    ..Family::new("file", script, parse, read_label)
};

/// `path /a file`, `content /etc/x`, `content /etc/x text`.
fn read_label(label: &str) -> Option<Query> {
    if let Some(path) = after("path", label) {
        return Some(PathQuery(path.to_owned()).into());
    }
    if let Some(path) = after("secret", label) {
        return Some(SecretQuery { path: path.to_owned(), text: String::new() }.into());
    }
    let rest = after("content", label)?;
    let path = rest.strip_suffix(" text").unwrap_or(rest).to_owned();
    Some(ContentQuery { path, wanted: None, text: rest.ends_with(" text"), stamp: false }.into())
}

/// One `stat`, one `sha256sum`, links and texts where wanted.
fn script(queries: &[Query]) -> Script {
    let mut script = Script::new(crate::shell!(
        "shell/base64.sh",
        "shell/state_directory.sh",
        "shell/text.sh",
        "shell/rooted.sh",
        "shell/held.sh",
        "facts/file/file.sh"
    ));
    for PathQuery(path) in of_type(queries) {
        script = script.args([path, "", "a"]);
    }
    for ContentQuery { path, wanted, text, stamp } in of_type(queries) {
        let what = if *stamp {
            "s"
        } else if *text {
            "t"
        } else {
            "d"
        };
        script = script.args([path, wanted.as_deref().unwrap_or(""), what]);
    }
    for SecretQuery { path, text } in of_type(queries) {
        script = script.arg(path.as_str()).arg(Arg::Text(text.clone())).arg("x");
    }
    script
}

#[derive(Default)]
struct FileLines<'a> {
    stats: BTreeMap<&'a str, Attributes>,
    targets: BTreeMap<&'a str, String>,
    users: BTreeMap<u32, &'a str>,
    groups: BTreeMap<u32, &'a str>,
    digests: BTreeMap<&'a str, &'a str>,
    texts: BTreeMap<&'a str, Option<String>>,
    absent: BTreeMap<&'a str, bool>,
    unreadable: std::collections::BTreeSet<&'a str>,
    refused: BTreeMap<&'a str, &'a str>,
    same: BTreeMap<&'a str, bool>,
    tools: Vec<&'a str>,
}

fn read(output: &str) -> FileLines<'_> {
    let mut seen = FileLines::default();
    let mut lines = lines(output);
    while let Some(line) = lines.next() {
        let Some((key, rest)) = line.split_once(' ') else { continue };
        match key {
            "absent" => drop(seen.absent.insert(rest, true)),
            "denied" => drop(seen.absent.insert(rest, false)),
            "refused" => drop(seen.refused.insert(rest, lines.next().unwrap_or_default())),
            "unreadable" => drop(seen.unreadable.insert(rest)),
            "same" => drop(seen.same.insert(rest, true)),
            "differs" => drop(seen.same.insert(rest, false)),
            "no" => seen.tools.push(rest),
            "stat" => {
                if let Some((path, attributes)) = read_stat(rest) {
                    seen.stats.insert(path, attributes);
                }
            }
            "target" => {
                if let Some(target) = read_target(&mut lines) {
                    seen.targets.insert(rest, target);
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

/// Reads the target of a link: a text without the line feed at its end.
fn read_target<'a>(lines: &mut impl Iterator<Item = &'a str>) -> Option<String> {
    let mut target = String::from_utf8(read_text(lines).ok()?).ok()?;
    (target.pop() == Some('\n')).then_some(target)
}

/// Reason why the text of a file did not come, which follows the file's name.
pub(crate) const UNREAD: &str = "was not read: the host has no base64, openssl, python3 or perl, or it fails";

/// Reads what `text` of `facts/text.sh` prints, up to its full stop: lines behind `|`, or base64; `!` where
/// the host could not make it, which is no empty text.
pub(crate) fn read_text<'a>(
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

/// `%u:%g:%f:%s:%i:%Y:%Z:%n`: numbers, raw mode in hex, and the path as the rest.
fn read_stat(line: &str) -> Option<(&str, Attributes)> {
    let mut fields = line.splitn(8, ':');
    let uid = fields.next()?.parse().ok()?;
    let gid = fields.next()?.parse().ok()?;
    let raw = u32::from_str_radix(fields.next()?, 16).ok()?;
    let size = bounds::number(fields.next()?, &bounds::BYTES)?;
    let written = bounds::number(fields.nth(1)?, &bounds::FILE_TIME)?;
    let path = fields.nth(1)?;
    let kind = match raw & 0o170_000 {
        0o100_000 => FileKind::File,
        0o040_000 => FileKind::Directory,
        0o120_000 => FileKind::Symlink,
        _ => FileKind::Other,
    };
    let (owner, group) = (String::new(), String::new());
    let target = None;
    Some((path, Attributes { kind, mode: raw & 0o7777, uid, gid, owner, group, size, written, target }))
}

/// As `stat` and `ls` call a number: 0 is root everywhere, and one without a name is `UNKNOWN`.
fn name(number: u32, names: &BTreeMap<u32, &str>) -> String {
    let name = names.get(&number).copied();
    name.unwrap_or(if number == 0 { "root" } else { "UNKNOWN" }).to_owned()
}

impl FileLines<'_> {
    fn denied(&self, path: &str) -> Option<String> {
        (self.absent.get(path) == Some(&false)).then(|| format!("no permission to inspect {path}"))
    }

    fn path(&self, path: &str) -> Option<Told<Option<Attributes>>> {
        if let Some(attributes) = self.stats.get(path) {
            let mut attributes = attributes.clone();
            attributes.owner = name(attributes.uid, &self.users);
            attributes.group = name(attributes.gid, &self.groups);
            attributes.target = self.targets.get(path).cloned();
            if attributes.kind == FileKind::Symlink && attributes.target.is_none() {
                return Some(Err(format!("`readlink {path}` told nothing")));
            }
            return Some(Ok(Some(attributes)));
        }
        if let Some(denied) = self.denied(path) {
            return Some(Err(denied));
        }
        if self.absent.contains_key(path) {
            return Some(Ok(None));
        }
        self.tools.contains(&"stat").then(|| Err("`stat` is not installed".to_owned()))
    }

    fn secret(&self, path: &str) -> Option<Told<bool>> {
        match self.same.get(path) {
            Some(same) => Some(Ok(*same)),
            // Where there is a file, the host compares or says why not.
            None => match self.content(path)? {
                Ok(None) => Some(Ok(false)),
                Ok(Some(_)) => None,
                Err(reason) => Some(Err(reason)),
            },
        }
    }

    fn content(&self, path: &str) -> Option<Told<Option<Content>>> {
        if let Some(why) = self.refused.get(path) {
            return Some(Err((*why).to_owned()));
        }
        if let Some(digest) = self.digests.get(path) {
            let text = self.texts.get(path).cloned().flatten();
            return Some(Ok(Some(Content { sha256: (*digest).to_owned(), text })));
        }
        if self.unreadable.contains(path) {
            return Some(Err(format!("no permission to read {path}")));
        }
        if let Some(denied) = self.denied(path) {
            return Some(Err(denied));
        }
        if self.absent.contains_key(path) || self.stats.get(path).is_some_and(|a| a.kind != FileKind::File) {
            return Some(Ok(None));
        }
        let reasons = [
            ("sha256sum", "`sha256sum` is not installed"),
            ("base64", "the host has no base64, openssl, python3 or perl, or it fails"),
        ];
        let (_, reason) = reasons.into_iter().find(|(tool, _)| self.tools.contains(tool))?;
        Some(Err(reason.to_owned()))
    }
}

fn parse(queries: &[Query], output: &str, _: i32) -> Answers {
    let seen = read(output);
    let mut all = answers(queries, |PathQuery(path)| seen.path(path));
    all.extend(answers(queries, |query: &ContentQuery| seen.content(&query.path)));
    all.extend(answers(queries, |query: &SecretQuery| seen.secret(&query.path)));
    all
}
