//! `authorized_key`: one key that may log in as a user.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;

use crate::config::{Diagnostic, Diagnostics, FromNode as _, Node, Sp};
use crate::facts::account::{AuthorizedKeys, AuthorizedKeysQuery};
use crate::facts::{Facts, Object, Query, Touches};
use crate::resources::shared::value::{AccountName, Presence};
use crate::resources::shared::{known, login};
use crate::resources::{Built, Change, Context, Detail, LoginEffect, Planned, Resource, Undo, Unplannable};
use crate::transport::{Arg, Script};

crate::record! {
    /// A public key in `~/.ssh/authorized_keys` of a user.
    ///
    /// Keys are compared by their type and their base64 part. If the options differ, they are changed
    /// to those given here; the comment is not compared.
    AuthorizedKeyFields("an authorized key") {
        /// The user that the key logs in as.
        req user: AccountName,
        /// The line of the public key file. Options may come before the key.
        req key: Sp<String>,
        /// Whether it must exist (`present`) or must not (`absent`).
        def state: Presence = Presence::Present,
    }
}

kind! { "authorized_key", AuthorizedKeyFields }

#[derive(Debug)]
struct AuthorizedKey {
    user: String,
    line: String,
    state: Presence,
}

/// A line of `authorized_keys`: options, type and base64.
#[derive(Debug, PartialEq)]
struct Entry<'a> {
    options: &'a str,
    kind: &'a str,
    blob: &'a str,
}

fn is_type(word: &str) -> bool {
    ["ssh-", "ecdsa-sha2-", "sk-ssh-", "sk-ecdsa-"].iter().any(|start| word.starts_with(start))
}

/// Options may hold white space within double quotes (sshd(8)).
fn entry(line: &str) -> Option<Entry<'_>> {
    let line = line.trim();
    if line.is_empty() || line.starts_with('#') {
        return None;
    }
    let (mut quoted, mut escaped, mut start) = (false, false, 0);
    let mut words: Vec<(usize, &str)> = Vec::new();
    for (at, c) in line.char_indices() {
        if c.is_whitespace() && !quoted {
            words.push((start, line.get(start..at)?));
            start = at + c.len_utf8();
        }
        quoted ^= c == '"' && !escaped;
        escaped = c == '\\' && !escaped;
    }
    words.push((start, line.get(start..)?));
    words.retain(|(_, word)| !word.is_empty());
    let index = words.iter().take(2).position(|(_, word)| is_type(word))?;
    let (at, kind) = words.get(index)?;
    let (_, blob) = words.get(index + 1)?;
    let sound =
        blob.starts_with("AAAA") && blob.bytes().all(|b| b.is_ascii_alphanumeric() || b"+/=".contains(&b));
    sound.then_some(Entry { options: line.get(..*at)?.trim(), kind, blob })
}

/// Whether all of a key is there: it is fields behind their lengths, and the first is its type (RFC 4253,
/// section 6.6). Some fields of a certificate have no length, so only its type is looked at.
fn is_whole(entry: &Entry<'_>) -> bool {
    let Ok(bytes) = STANDARD_NO_PAD.decode(entry.blob.trim_end_matches('=')) else { return false };
    let mut rest = bytes.as_slice();
    let mut fields = std::iter::from_fn(|| {
        let (length, after) = rest.split_first_chunk()?;
        let length = usize::try_from(u32::from_be_bytes(*length)).ok()?;
        let (field, after) = after.split_at_checked(length)?;
        rest = after;
        Some(field)
    });
    let kind = fields.next();
    let is_certificate = entry.kind.contains("-cert-");
    let others = if is_certificate { 1 } else { fields.by_ref().count() };
    kind == Some(entry.kind.as_bytes()) && others > 0 && (is_certificate || rest.is_empty())
}

pub(in crate::resources) fn read(node: &Node, _: &dyn Context, diagnostics: &mut Diagnostics) -> Built {
    let fields = AuthorizedKeyFields::from_node(node, diagnostics)?;
    let line = fields.key.trim().to_owned();
    let refusal = if line.contains("PRIVATE KEY") {
        Some("this is a private key: use the public one (`.pub`)")
    } else {
        match entry(&line).filter(|_| !line.contains('\n')) {
            None => Some("this is not the line of a public key file (`.pub`)"),
            Some(entry) if !is_whole(&entry) => {
                Some("this key is not whole: its base64 part is cut or changed")
            }
            Some(_) => None,
        }
    };
    if let Some(message) = refusal {
        // The text itself is not shown: it may be a private key.
        diagnostics.push(Diagnostic::error(node.span, message).label("`key` of this task"));
        return None;
    }
    Some(Arc::new(AuthorizedKey { user: fields.user.0, line, state: fields.state }))
}

impl AuthorizedKey {
    /// The text as it shall be.
    fn edit(&self, text: &str) -> String {
        let Some(wanted) = entry(&self.line) else { return text.to_owned() };
        let mut out = String::with_capacity(text.len() + self.line.len() + 1);
        let mut written = self.state == Presence::Absent;
        for line in text.split_inclusive('\n') {
            match entry(line) {
                Some(found) if found.kind == wanted.kind && found.blob == wanted.blob => {
                    if written {
                        continue;
                    }
                    written = true;
                    if found.options == wanted.options {
                        out.push_str(line);
                    } else {
                        out.push_str(&self.line);
                        out.push('\n');
                    }
                }
                Some(_) | None => out.push_str(line),
            }
        }
        if !written {
            if !out.is_empty() && !out.ends_with('\n') {
                out.push('\n');
            }
            out.push_str(&self.line);
            out.push('\n');
        }
        out
    }

    /// Whether the file and its directory pass `StrictModes` of sshd: the user or root owns them, and nobody
    /// else may write.
    fn modes_are_good(keys: &AuthorizedKeys) -> bool {
        let good = |found: Option<(u32, u32)>| {
            found.is_some_and(|(mode, owner)| mode & 0o022 == 0 && (owner == keys.uid || owner == 0))
        };
        good(keys.file) && good(keys.directory)
    }
}

impl Resource for AuthorizedKey {
    fn queries(&self) -> Vec<Query> {
        vec![AuthorizedKeysQuery(self.user.clone()).into()]
    }

    fn plan(&self, facts: &Facts) -> Planned {
        let object = Object::User(self.user.clone());
        let query = AuthorizedKeysQuery(self.user.clone());
        let found = known::answer(facts, &query, &object)?;
        let Some(keys) = found else {
            if self.state == Presence::Absent {
                return Ok(Vec::new());
            }
            return Err(Unplannable::Missing(object, format!("there is no user {}", self.user)));
        };
        let before = keys.text.clone().unwrap_or_default();
        let after = self.edit(&before);
        let there = keys.text.is_some();
        let good = !there || Self::modes_are_good(keys) || self.state == Presence::Absent;
        if before == after && good {
            return Ok(Vec::new());
        }
        known::home(keys.homeless, &self.user, keys.path.trim_end_matches("/.ssh/authorized_keys"))?;
        if keys.linked {
            return Err(Unplannable::Failed(format!(
                "{} or its directory is a symbolic link: replace it with a real one",
                keys.path
            )));
        }
        let name = entry(&self.line).map_or("key", |entry| entry.kind);
        let what = match (before == after, self.state) {
            (true, _) => "mode".to_owned(),
            (false, Presence::Present) => format!("+ {name} key"),
            (false, Presence::Absent) => format!("- {name} key"),
        };
        Ok(vec![Change::new(
            Object::Path(keys.path.clone()),
            format!("{} {} ({what})", if there { '~' } else { '+' }, keys.path),
            Detail::Text { before: keys.text.clone(), after: Some(after.clone()) },
            Script::new(crate::shell!(
                "shell/base64.sh",
                "shell/reach.sh",
                "resources/shared/put.sh",
                "resources/shared/ssh_directory.sh",
                "resources/shared/ssh_file.sh"
            ))
            .named("directory", crate::resources::shared::value::parent(&keys.path))
            .named("uid", keys.uid.to_string())
            .named("gid", keys.gid.to_string())
            .named("name", "authorized_keys")
            .named("content", Arg::Packed(after)),
        )])
    }

    fn touches(&self) -> Touches {
        // Where the file is only the host knows; its query is one of the user.
        Touches::one(Object::User(self.user.clone()))
    }

    /// The key that is taken away, or gets other options, may be the one that opened this login.
    fn login(&self, facts: &Facts) -> LoginEffect {
        let found = facts.get(&AuthorizedKeysQuery(self.user.clone())).answer();
        let loses = |keys: &AuthorizedKeys| {
            let before = keys.text.as_deref().unwrap_or_default();
            let after = self.edit(before);
            before.lines().any(|line| !after.lines().any(|kept| kept == line))
        };
        match found.and_then(Option::as_ref) {
            Some(keys) if loses(keys) => LoginEffect::Guarded(Undo::new("login").path(keys.path.as_str())),
            _ => login::of_touches(&self.touches(), facts),
        }
    }

    /// Not the user: many tasks may each own a key.
    fn manages(&self) -> Vec<(Object, String)> {
        let blob = entry(&self.line).map_or("", |entry| entry.blob);
        let options = entry(&self.line).map_or("", |entry| entry.options);
        vec![(Object::User(format!("{} (key {blob})", self.user)), format!("{} {options}", self.state))]
    }
}
