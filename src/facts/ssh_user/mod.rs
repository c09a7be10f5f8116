//! A user's own SSH key, and the files of `~/.ssh` that a mesh of hosts is made of.
//!
//! Formats: passwd(5); the `.pub` file of ssh-keygen(1). Of a private key only the host reads
//! anything, and all that it tells is whether the key is encrypted.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::account::user_touched;
use super::base::ssh::public_key;
use super::file::{UNREAD, read_text};
use super::{
    Answers, Cost, Family, Object, Query, Question, Told as Answered, Touches, answers, lines, of_type,
};
use crate::transport::Script;

/// The largest file that is read: keys of some thousand hosts.
pub const LIMIT: usize = 4 << 20;

/// A user and a key in `~/.ssh`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct SshKey {
    /// Home directory.
    pub home: String,
    /// Number of the user.
    pub uid: u32,
    /// Number of the user's first group.
    pub gid: u32,
    /// Type and base64 of the public half.
    pub public: Option<String>,
    /// Whether the private half is there.
    pub private: bool,
    /// Whether it has a passphrase.
    pub encrypted: bool,
    /// Whether `~/.ssh` or the key is a symbolic link.
    pub linked: bool,
    /// Whether the home directory is not there.
    pub homeless: bool,
    /// Whether `ssh-keygen` is there.
    pub keygen: bool,
}

/// The files of a mesh in a user's `~/.ssh`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct SshFiles {
    /// Home directory.
    pub home: String,
    /// Number of the user.
    pub uid: u32,
    /// Number of the user's first group.
    pub gid: u32,
    /// Texts by name; those that are not there are left out.
    pub files: BTreeMap<String, String>,
    /// Whether `~/.ssh` or one of them is a symbolic link.
    pub linked: bool,
    /// Whether the home directory is not there.
    pub homeless: bool,
    /// Permission bits of `~/.ssh` and of `authorized_keys`, where they are there.
    pub modes: Vec<u32>,
}

/// Names of the files of a mesh: its configuration and its host keys.
pub fn files(mesh: &str) -> [String; 2] {
    [format!("provision-{mesh}.conf"), format!("provision-{mesh}.known_hosts")]
}

/// A key in a user's `~/.ssh`; `None` when there is no such user.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct SshKeyQuery {
    /// The user.
    pub user: String,
    /// Name of the file with the private half.
    pub name: String,
}

impl Question for SshKeyQuery {
    type Answer = Option<SshKey>;
    const FAMILY: &'static Family = FAMILY;
    const RECORDED: bool = true;

    fn label(&self) -> String {
        format!("ssh_key {} {}", self.user, self.name)
    }

    fn answer_touched(answer: &Self::Answer, touches: &Touches) -> bool {
        answer
            .as_ref()
            .is_some_and(|found| found.homeless && touches.meets(&Object::Path(found.home.clone())))
    }

    fn touched_by(&self, touches: &Touches) -> bool {
        user_touched(&self.user, touches)
    }
}

/// The files of a mesh in a user's `~/.ssh`; `None` when there is no such user.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct SshFilesQuery {
    /// The user.
    pub user: String,
    /// Name of the mesh.
    pub mesh: String,
}

impl Question for SshFilesQuery {
    type Answer = Option<SshFiles>;
    const FAMILY: &'static Family = FAMILY;

    fn label(&self) -> String {
        format!("ssh_files {} {}", self.user, self.mesh)
    }

    fn answer_touched(answer: &Self::Answer, touches: &Touches) -> bool {
        answer
            .as_ref()
            .is_some_and(|found| found.homeless && touches.meets(&Object::Path(found.home.clone())))
    }

    fn touched_by(&self, touches: &Touches) -> bool {
        user_touched(&self.user, touches)
    }
}

/// Four files as base64.
pub(crate) const FAMILY: &Family = &Family {
    cost: Cost::Files,
    chunk: 64,
    output: 24 << 20,
    tools: "`stat`, `getent` and `ssh-keygen`",
    ..Family::new("ssh_user", script, parse, read_label)
};

fn read_label(label: &str) -> Option<Query> {
    let mut words = label.splitn(3, ' ').map(str::to_owned);
    let (kind, user, name) = (words.next()?, words.next()?, words.next()?);
    match kind.as_str() {
        "ssh_key" => Some(SshKeyQuery { user, name }.into()),
        "ssh_files" => Some(SshFilesQuery { user, mesh: name }.into()),
        _ => None,
    }
}

fn script(queries: &[Query]) -> Script {
    let keys = of_type(queries).flat_map(|SshKeyQuery { user, name }| ["key", user, name]);
    let files = of_type(queries).flat_map(|SshFilesQuery { user, mesh }| ["files", user, mesh]);
    Script::new(crate::shell!(
        "shell/base64.sh",
        "shell/text.sh",
        "shell/rooted.sh",
        "shell/held.sh",
        "facts/ssh_user/ssh_user.sh"
    ))
    .args(keys.chain(files))
}

/// Output for one question.
#[derive(Default)]
struct Told<'a> {
    found: bool,
    fields: BTreeMap<&'a str, &'a str>,
    files: BTreeMap<String, String>,
    modes: Vec<u32>,
    wrong: Option<String>,
}

impl Told<'_> {
    fn number(&self, key: &str) -> u32 {
        self.fields.get(key).and_then(|text| text.parse().ok()).unwrap_or_default()
    }

    fn has(&self, key: &str) -> bool {
        self.fields.contains_key(key)
    }

    fn key(self) -> Answered<Option<SshKey>> {
        if let Some(reason) = self.wrong {
            return Err(reason);
        }
        Ok(self.found.then(|| SshKey {
            home: self.fields.get("home").copied().unwrap_or_default().to_owned(),
            uid: self.number("uid"),
            gid: self.number("gid"),
            public: self
                .fields
                .get("public")
                .and_then(|line| public_key(line).map(|(kind, key)| format!("{kind} {key}"))),
            private: self.has("private"),
            encrypted: self.has("encrypted"),
            linked: self.has("linked"),
            homeless: self.has("homeless"),
            keygen: self.has("keygen"),
        }))
    }

    fn files(self) -> Answered<Option<SshFiles>> {
        if let Some(reason) = self.wrong {
            return Err(reason);
        }
        let (uid, gid) = (self.number("uid"), self.number("gid"));
        let (linked, homeless) = (self.has("linked"), self.has("homeless"));
        let home = self.fields.get("home").copied().unwrap_or_default().to_owned();
        let (files, modes) = (self.files, self.modes);
        Ok(self.found.then_some(SshFiles { home, uid, gid, files, linked, homeless, modes }))
    }
}

fn read(output: &str) -> Option<Vec<Told<'_>>> {
    let mut told: Vec<Told<'_>> = Vec::new();
    let mut file = String::new();
    let mut lines = lines(output);
    while let Some(line) = lines.next() {
        let (key, rest) = line.split_once(' ').unwrap_or((line, ""));
        if key == "end" {
            return Some(told);
        }
        if key == "ask" {
            told.push(Told::default());
            continue;
        }
        let Some(last) = told.last_mut() else { continue };
        match key {
            "found" => last.found = true,
            "file" => rest.clone_into(&mut file),
            "denied" => last.wrong = Some(format!("no permission to read {rest}")),
            "mode" => last.modes.extend(u32::from_str_radix(rest, 8)),
            "text" => match read_text(&mut lines).map(String::from_utf8) {
                Ok(Ok(text)) if text.len() <= LIMIT => {
                    last.files.insert(std::mem::take(&mut file), text);
                }
                Ok(Ok(_)) => last.wrong = Some(format!("~/.ssh/{file} is larger than 4 MiB")),
                Ok(Err(_)) => last.wrong = Some(format!("~/.ssh/{file} is not UTF-8")),
                Err(_) => last.wrong = Some(format!("~/.ssh/{file} {UNREAD}")),
            },
            _ => drop(last.fields.insert(key, rest)),
        }
    }
    None
}

fn parse(queries: &[Query], output: &str, _: i32) -> Answers {
    // In the order in which the script asks.
    let Some(mut told) = read(output).map(Vec::into_iter) else { return Vec::new() };
    let mut all = answers(queries, |_: &SshKeyQuery| told.next().map(Told::key));
    all.extend(answers(queries, |_: &SshFilesQuery| told.next().map(Told::files)));
    all
}
