//! Users, groups and authorized keys: the local files, and one `getent` per
//! database for what is not in them.
//!
//! Formats: passwd(5), group(5), `AUTHORIZED_KEYS FILE FORMAT` in sshd(8).

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::file::{TEXT_LIMIT, read_text};
use super::{Answer, Answers, Query, lines};
use crate::transport::Script;

/// A user.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct User {
    /// Its number.
    pub uid: u32,
    /// Number of its first group.
    pub gid: u32,
    /// Home directory.
    pub home: String,
    /// Login shell.
    pub shell: String,
    /// Groups of the local group file that list it.
    #[serde(default)]
    pub groups: BTreeSet<String>,
}

/// A group.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Group {
    /// Its number.
    pub gid: u32,
}

/// The `authorized_keys` file of a user.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuthorizedKeys {
    /// Where it is or would be.
    pub path: String,
    /// Number of the user.
    pub uid: u32,
    /// Number of the user's first group.
    pub gid: u32,
    /// What is in it; `None` when it is not there.
    #[serde(default)]
    pub text: Option<String>,
    /// Permission bits and owner of the file.
    #[serde(default)]
    pub file: Option<(u32, u32)>,
    /// Permission bits and owner of `.ssh`.
    #[serde(default)]
    pub directory: Option<(u32, u32)>,
    /// Whether the file or `.ssh` is a symbolic link.
    #[serde(default)]
    pub linked: bool,
    /// Why it could not be read, when it is there.
    #[serde(default)]
    pub unreadable: Option<String>,
}

pub(super) fn script(queries: &[Query]) -> Script {
    let mut script = Script::new(crate::shell!("facts/text.sh", "facts/account.sh"));
    for query in queries {
        if let Query::User(name) = query {
            script = script.arg("user").arg(name.as_str());
        } else if let Query::Group(name) = query {
            script = script.arg("group").arg(name.as_str());
        } else if let Query::AuthorizedKeys(name) = query {
            script = script.arg("keys").arg(name.as_str());
        }
    }
    script
}

#[derive(Default)]
struct Seen<'a> {
    users: BTreeMap<&'a str, User>,
    groups: BTreeMap<&'a str, Group>,
    keys: BTreeMap<&'a str, AuthorizedKeys>,
    missing: BTreeSet<&'a str>,
    ended: bool,
}

fn read(output: &str) -> Seen<'_> {
    let mut seen = Seen::default();
    let mut section = "";
    let mut current = "";
    let mut lines = lines(output);
    while let Some(line) = lines.next() {
        match line.split_once(' ').unwrap_or((line, "")) {
            ("no", tool) => drop(seen.missing.insert(tool)),
            ("end", "") => seen.ended = true,
            ("passwd" | "members" | "group", "") => section = line,
            ("keys", name) if !line.contains(':') => {
                section = "keys";
                current = name;
            }
            (key, rest) => match section {
                "passwd" => read_user(line, &mut seen),
                "members" => read_members(line, &mut seen),
                "group" => read_group(line, &mut seen),
                _ => read_keys(current, key, rest, &mut lines, &mut seen),
            },
        }
    }
    seen
}

/// `name:password:uid:gid:comment:home:shell`
fn read_user<'a>(line: &'a str, seen: &mut Seen<'a>) {
    let fields: Vec<&str> = line.split(':').collect();
    if let [name, _, uid, gid, _, home, shell, ..] = fields.as_slice()
        && let (Ok(uid), Ok(gid)) = (uid.parse(), gid.parse())
    {
        seen.users.insert(
            name,
            User { uid, gid, home: (*home).to_owned(), shell: (*shell).to_owned(), groups: BTreeSet::new() },
        );
    }
}

/// `name:password:gid:member,member`
fn read_members<'a>(line: &'a str, seen: &mut Seen<'a>) {
    let fields: Vec<&str> = line.split(':').collect();
    let [name, _, _, members] = fields.as_slice() else { return };
    for member in members.split(',') {
        if let Some(user) = seen.users.get_mut(member) {
            user.groups.insert((*name).to_owned());
        }
    }
}

fn read_group<'a>(line: &'a str, seen: &mut Seen<'a>) {
    let mut fields = line.split(':');
    if let (Some(name), Some(_), Some(Ok(gid))) =
        (fields.next(), fields.next(), fields.next().map(str::parse))
    {
        seen.groups.insert(name, Group { gid });
    }
}

fn read_keys<'a>(
    user: &'a str,
    key: &str,
    rest: &'a str,
    lines: &mut impl Iterator<Item = &'a str>,
    seen: &mut Seen<'a>,
) {
    if key == "home" {
        let (uid, gid) = seen.users.get(user).map_or((0, 0), |user| (user.uid, user.gid));
        let home = rest.trim_end_matches('/');
        seen.keys.insert(
            user,
            AuthorizedKeys {
                path: format!("{home}/.ssh/authorized_keys"),
                uid,
                gid,
                text: None,
                file: None,
                directory: None,
                linked: false,
                unreadable: None,
            },
        );
        return;
    }
    let Some(keys) = seen.keys.get_mut(user) else { return };
    match key {
        "linked" => keys.linked = true,
        "directory" => keys.directory = mode_and_owner(rest),
        "file" => keys.file = mode_and_owner(rest),
        "denied" => keys.unreadable = Some(format!("no permission to read {}", keys.path)),
        "text" => {
            let bytes = read_text(lines).unwrap_or_default();
            if bytes.len() > TEXT_LIMIT {
                keys.unreadable = Some(format!("{} has more than 64 KiB", keys.path));
            } else {
                match String::from_utf8(bytes) {
                    Ok(text) => keys.text = Some(text),
                    Err(_) => keys.unreadable = Some(format!("{} is not UTF-8", keys.path)),
                }
            }
        }
        _ => {}
    }
}

fn mode_and_owner(text: &str) -> Option<(u32, u32)> {
    let (mode, owner) = text.split_once(' ')?;
    Some((u32::from_str_radix(mode, 8).ok()?, owner.parse().ok()?))
}

pub(super) fn parse(queries: &[Query], output: &[u8], _: i32) -> Answers {
    let output = String::from_utf8_lossy(output);
    let seen = read(&output);
    if !seen.ended {
        return Vec::new();
    }
    let tool = |kind: &str| {
        let tools = [format!("{kind}add"), format!("{kind}mod"), format!("{kind}del")];
        let missing = tools.iter().find(|tool| seen.missing.contains(tool.as_str()))?;
        Some(Answer::Unknown(format!("no {missing} on the host")))
    };
    queries
        .iter()
        .filter_map(|query| {
            let answer = if let Query::User(name) = query {
                tool("user").unwrap_or_else(|| Answer::User(seen.users.get(name.as_str()).cloned()))
            } else if let Query::Group(name) = query {
                tool("group").unwrap_or_else(|| Answer::Group(seen.groups.get(name.as_str()).cloned()))
            } else if let Query::AuthorizedKeys(name) = query {
                match seen.keys.get(name.as_str()) {
                    Some(AuthorizedKeys { unreadable: Some(reason), .. }) => Answer::Unknown(reason.clone()),
                    keys => Answer::AuthorizedKeys(keys.cloned()),
                }
            } else {
                return None;
            };
            Some((query.clone(), answer))
        })
        .collect()
}
