//! Users, groups and authorized keys: the local files, and one `getent` per
//! database for what is not in them.
//!
//! Formats: passwd(5), group(5), `AUTHORIZED_KEYS FILE FORMAT` in sshd(8).

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::file::{TEXT_LIMIT, UNREAD, read_text};
use super::{Answers, Cost, Family, Object, Query, Question, Told, Touches, answers, lines, of_type};
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
pub struct GroupEntry {
    /// Its number.
    pub gid: u32,
}

/// The `authorized_keys` file of a user.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuthorizedKeys {
    /// Path of the file, whether or not it is there.
    pub path: String,
    /// Number of the user.
    pub uid: u32,
    /// Number of the user's first group.
    pub gid: u32,
    /// Its text; `None` when the file is not there.
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
    /// Whether the home directory is not there.
    #[serde(default)]
    pub homeless: bool,
    /// Reason why the file could not be read, when it is there.
    #[serde(default)]
    pub unreadable: Option<String>,
}

/// A user; `None` when there is none of that name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct UserQuery(pub String);

impl Question for UserQuery {
    type Answer = Option<User>;
    const FAMILY: &'static Family = FAMILY;

    fn label(&self) -> String {
        format!("user {}", self.0)
    }

    fn touched_by(&self, touches: &Touches) -> bool {
        touches.meets(&Object::User(self.0.clone()))
            // A group is also a membership of its users.
            || touches.any(|object| matches!(object, Object::Group(_)))
            || touches.account_files()
    }
}

/// A group; `None` when there is none of that name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct GroupQuery(pub String);

impl Question for GroupQuery {
    type Answer = Option<GroupEntry>;
    const FAMILY: &'static Family = FAMILY;

    fn label(&self) -> String {
        format!("group {}", self.0)
    }

    fn touched_by(&self, touches: &Touches) -> bool {
        touches.meets(&Object::Group(self.0.clone()))
            || touches.any(|object| matches!(object, Object::User(_)))
            || touches.account_files()
    }
}

/// The `authorized_keys` file of a user; `None` when there is no such user.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct AuthorizedKeysQuery(pub String);

impl Question for AuthorizedKeysQuery {
    type Answer = Option<AuthorizedKeys>;
    const FAMILY: &'static Family = FAMILY;

    fn label(&self) -> String {
        format!("authorized_keys {}", self.0)
    }

    fn answer_touched(answer: &Self::Answer, touches: &Touches) -> bool {
        answer.as_ref().is_some_and(|keys| touches.meets(&Object::Path(keys.path.clone())))
    }

    fn touched_by(&self, touches: &Touches) -> bool {
        user_touched(&self.0, touches)
    }
}

/// Whether a user or something in `~/.ssh` may be another. Where that is, only the host knows.
pub(super) fn user_touched(user: &str, touches: &Touches) -> bool {
    touches.meets(&Object::User(user.to_owned()))
        || touches.account_files()
        || touches.any(|object| matches!(object, Object::Path(path) if path.contains("/.ssh")))
}

pub(crate) const FAMILY: &Family = &Family {
    cost: Cost::Files,
    output: 96 << 10,
    tools: "`getent`, `id` and `stat`",
    ..Family::new("account", script, parse, read_label)
};

fn read_label(label: &str) -> Option<Query> {
    let (kind, name) = label.split_once(' ')?;
    let name = name.to_owned();
    match kind {
        "user" => Some(UserQuery(name).into()),
        "group" => Some(GroupQuery(name).into()),
        "authorized_keys" => Some(AuthorizedKeysQuery(name).into()),
        _ => None,
    }
}

fn script(queries: &[Query]) -> Script {
    let users = of_type(queries).flat_map(|UserQuery(name)| ["user", name]);
    let groups = of_type(queries).flat_map(|GroupQuery(name)| ["group", name]);
    let keys = of_type(queries).flat_map(|AuthorizedKeysQuery(name)| ["keys", name]);
    Script::new(crate::shell!(
        "shell/base64.sh",
        "shell/text.sh",
        "shell/rooted.sh",
        "shell/held.sh",
        "facts/account/account.sh"
    ))
    .args(users.chain(groups).chain(keys))
}

#[derive(Default)]
struct AccountLines<'a> {
    users: BTreeMap<&'a str, User>,
    groups: BTreeMap<&'a str, GroupEntry>,
    keys: BTreeMap<&'a str, AuthorizedKeys>,
    missing: BTreeSet<&'a str>,
    ended: bool,
}

fn read(output: &str) -> AccountLines<'_> {
    let mut seen = AccountLines::default();
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
fn read_user<'a>(line: &'a str, seen: &mut AccountLines<'a>) {
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
fn read_members<'a>(line: &'a str, seen: &mut AccountLines<'a>) {
    let fields: Vec<&str> = line.split(':').collect();
    let [name, _, _, members] = fields.as_slice() else { return };
    for member in members.split(',') {
        if let Some(user) = seen.users.get_mut(member) {
            user.groups.insert((*name).to_owned());
        }
    }
}

fn read_group<'a>(line: &'a str, seen: &mut AccountLines<'a>) {
    let mut fields = line.split(':');
    if let (Some(name), Some(_), Some(Ok(gid))) =
        (fields.next(), fields.next(), fields.next().map(str::parse))
    {
        seen.groups.insert(name, GroupEntry { gid });
    }
}

fn read_keys<'a>(
    user: &'a str,
    key: &str,
    rest: &'a str,
    lines: &mut impl Iterator<Item = &'a str>,
    seen: &mut AccountLines<'a>,
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
                homeless: false,
                unreadable: None,
            },
        );
        return;
    }
    let Some(keys) = seen.keys.get_mut(user) else { return };
    match key {
        "linked" => keys.linked = true,
        "homeless" => keys.homeless = true,
        "directory" => keys.directory = mode_and_owner(rest),
        "file" => keys.file = mode_and_owner(rest),
        "denied" => keys.unreadable = Some(format!("no permission to read {}", keys.path)),
        "text" => {
            let wrong = match read_text(lines).map(String::from_utf8) {
                Ok(Ok(text)) if text.len() <= TEXT_LIMIT => {
                    keys.text = Some(text);
                    return;
                }
                Ok(Ok(_)) => "is larger than 64 KiB",
                Ok(Err(error)) if error.as_bytes().len() > TEXT_LIMIT => "is larger than 64 KiB",
                Ok(Err(_)) => "is not UTF-8",
                Err(_) => UNREAD,
            };
            keys.unreadable = Some(format!("{} {wrong}", keys.path));
        }
        _ => {}
    }
}

fn mode_and_owner(text: &str) -> Option<(u32, u32)> {
    let (mode, owner) = text.split_once(' ')?;
    Some((u32::from_str_radix(mode, 8).ok()?, owner.parse().ok()?))
}

fn parse(queries: &[Query], output: &str, _: i32) -> Answers {
    let seen = read(output);
    if !seen.ended {
        return Vec::new();
    }
    let tools = |kind: &str| -> Told<()> {
        let tools = [format!("{kind}add"), format!("{kind}mod"), format!("{kind}del")];
        let missing = tools.iter().find(|tool| seen.missing.contains(tool.as_str()));
        missing.map_or(Ok(()), |missing| Err(format!("{missing} is not installed")))
    };
    let users = answers(queries, |UserQuery(name)| {
        Some(tools("user").map(|()| seen.users.get(name.as_str()).cloned()))
    });
    let groups = answers(queries, |GroupQuery(name)| {
        Some(tools("group").map(|()| seen.groups.get(name.as_str()).cloned()))
    });
    let keys = answers(queries, |AuthorizedKeysQuery(name)| {
        Some(match seen.keys.get(name.as_str()) {
            Some(AuthorizedKeys { unreadable: Some(reason), .. }) => Err(reason.clone()),
            keys => Ok(keys.cloned()),
        })
    });
    [users, groups, keys].concat()
}
