//! A regular file with content, mode and owner: the common part of `file`, `template`, `copy`,
//! `line` and what other resources write.

use std::sync::Arc;

use crate::config::{Diagnostic, Diagnostics, Node, Sp};
use crate::facts::file::{Attributes, Content, ContentQuery, FileKind, PathQuery, SecretQuery, TEXT_LIMIT};
use crate::facts::{Facts, Object, Query, Touches};
use crate::placeholder;
use crate::resources::files::directory::Directory;
pub(in crate::resources) use crate::resources::shared::attributes::{
    attribute_changes, attributes_change, describe,
};
use crate::resources::shared::check::Check;
use crate::resources::shared::known;
use crate::resources::shared::value::{FileMode, HostPath, Presence, Principal, claims, ownership, sha256};
use crate::resources::{Change, Context, Detail, Disruption, Local, Planned, Resource, Unplannable, Upload};
use crate::transport::{Arg, Script};
use camino::Utf8PathBuf;

/// Directories in which systemd finds units: `after.sh` lets it read them again.
const SYSTEMD: [&str; 6] = [
    "/etc/systemd/system/",
    "/etc/systemd/user/",
    "/run/systemd/system/",
    "/usr/lib/systemd/system/",
    "/lib/systemd/system/",
    "/usr/local/lib/systemd/system/",
];
/// Files from this size on keep a stamp on the host.
const STAMP_SIZE: u64 = 16 << 20;

/// Content that a file shall have.
#[derive(Debug, Clone)]
pub(in crate::resources) enum Want {
    /// Whatever it holds.
    Anything,
    /// Text; may hold placeholders of secrets.
    Text(String),
    /// Bytes.
    Bytes(Arc<[u8]>),
    /// A file of this machine that is streamed.
    Large { path: Utf8PathBuf, size: u64, sha256: String },
    /// A file that the host fetches.
    Remote { url: String, sha256: String },
}

/// A regular file as it shall be.
#[derive(Debug, Clone)]
pub(in crate::resources) struct RegularFile {
    pub(in crate::resources) path: HostPath,
    pub(in crate::resources) want: Want,
    pub(in crate::resources) mode: Option<FileMode>,
    pub(in crate::resources) owner: Option<Principal>,
    pub(in crate::resources) group: Option<Principal>,
    /// Tool that checks the file before it is put in place.
    pub(in crate::resources) check: Option<Check>,
}

impl Want {
    fn secret(&self) -> Option<&str> {
        match self {
            Self::Text(text) if placeholder::is_in(text) => Some(text),
            Self::Anything | Self::Text(_) | Self::Bytes(_) | Self::Large { .. } | Self::Remote { .. } => {
                None
            }
        }
    }

    fn digest(&self) -> Option<String> {
        match self {
            Self::Anything => None,
            // With names of secrets in the place of values: only for telling two tasks apart.
            Self::Text(text) => Some(sha256(placeholder::lasting(text).as_bytes())),
            Self::Bytes(bytes) => Some(sha256(bytes)),
            Self::Large { sha256, .. } | Self::Remote { sha256, .. } => Some(sha256.clone()),
        }
    }

    /// The text as a diff shows it.
    fn shown(&self) -> Option<String> {
        let bytes: &[u8] = match self {
            Self::Text(text) if !placeholder::is_in(text) => text.as_bytes(),
            Self::Bytes(bytes) => bytes,
            Self::Anything | Self::Text(_) | Self::Large { .. } | Self::Remote { .. } => return None,
        };
        std::str::from_utf8(bytes)
            .ok()
            .filter(|text| text.len() <= TEXT_LIMIT && !text.contains('\0'))
            .map(str::to_owned)
    }
}

impl Resource for RegularFile {
    fn queries(&self) -> Vec<Query> {
        let mut queries =
            vec![PathQuery(self.path.0.clone()).into(), PathQuery(self.path.parent().to_owned()).into()];
        queries.extend(self.secret_query().map(Query::from));
        queries.extend(self.content_query().map(Query::from));
        queries
    }

    fn plan(&self, facts: &Facts) -> Planned {
        let Some(found) = known::path(facts, &self.path.0)? else {
            return self.create(facts).map(|change| vec![change]);
        };
        self.refuse_other(found)?;
        let (same, before) = self.compare(facts)?;
        let attributes = attribute_changes(found, self.mode(), self.owner.as_ref(), self.group.as_ref());
        if same {
            return Ok(attributes_change(
                &self.path.0,
                found,
                self.mode(),
                self.owner.as_ref(),
                self.group.as_ref(),
            )
            .into_iter()
            .collect());
        }
        let mut parts = vec!["content".to_owned()];
        parts.extend(attributes.iter().map(describe));
        let shown = self.want.shown();
        let detail = match (&before, &shown) {
            (Some(_), Some(_)) => Detail::Text { before, after: shown },
            _ => Detail::Text { before: None, after: None },
        };
        let mode = self.mode().unwrap_or(FileMode(found.mode));
        let owner = self.owner.clone().unwrap_or_else(|| Principal(found.uid.to_string()));
        let group = self.group.clone().unwrap_or_else(|| Principal(found.gid.to_string()));
        Ok(vec![Change {
            summary: format!("~ {} ({})", self.path.0, parts.join(", ")),
            detail,
            ..self.write(mode, &ownership(Some(&owner), Some(&group)))
        }])
    }

    fn touches(&self) -> Touches {
        Touches::one(self.object())
    }

    fn brief(&self) -> bool {
        // How long another program looks at it nobody knows, and a first Ctrl-C waits for all that was sent.
        self.check.is_none() && !matches!(self.want, Want::Large { .. } | Want::Remote { .. })
    }

    fn manages(&self) -> Vec<(Object, String)> {
        let digest = |digest: String| digest.chars().take(12).collect();
        claims(
            Object::Path,
            &self.path.0,
            "a file",
            [
                ("content", self.want.digest().map(digest)),
                ("mode", self.mode().map(|mode| mode.to_string())),
                ("owner", self.owner.as_ref().map(|owner| owner.0.clone())),
                ("group", self.group.as_ref().map(|group| group.0.clone())),
            ],
        )
    }
}

impl RegularFile {
    /// The wanted mode; a file that holds a secret is its owner's alone unless its task gives it to a group.
    fn mode(&self) -> Option<FileMode> {
        self.mode.or_else(|| self.want.secret().map(|_| FileMode(0o600)))
    }

    /// Whether it keeps its secret, if it has one, from others than its owner and its group.
    pub(in crate::resources) fn is_closed(&self, node: &Node, diagnostics: &mut Diagnostics) -> bool {
        let open = self.mode.filter(|mode| self.want.secret().is_some() && mode.0 & 0o006 != 0);
        let Some(mode) = open else { return true };
        let place = node.get("mode").map_or(node.span, |mode| mode.span);
        diagnostics.push(
            Diagnostic::error(place, format!("everybody could read the secret in a file of mode {mode}"))
                .help("leave `mode` out, which then is 0600, or give the file to a group with `\"0640\"`"),
        );
        false
    }

    /// A file of ours in a directory for such files: everyone may read it.
    pub(in crate::resources) fn drop_in(path: String, text: String) -> Self {
        Self {
            path: HostPath(path),
            want: Want::Text(text),
            mode: Some(FileMode(0o644)),
            owner: None,
            group: None,
            check: None,
        }
    }

    /// Like [`plan`](Self::plan); a directory that is not there is made.
    pub(in crate::resources) fn plan_with_directory(&self, facts: &Facts) -> Planned {
        let parent = self.path.parent();
        if known::path(facts, parent)?.is_some() {
            return self.plan(facts);
        }
        let directory = Directory {
            path: HostPath(parent.to_owned()),
            mode: None,
            owner: None,
            group: None,
            state: Presence::Present,
        };
        let mut changes = directory.plan(facts)?;
        changes.push(self.create_in_new_directory(facts)?);
        Ok(changes)
    }

    /// Plans what is due when the file shall be there or shall not.
    pub(in crate::resources) fn plan_state(&self, state: Presence, facts: &Facts) -> Planned {
        match state {
            Presence::Present => self.plan_with_directory(facts),
            Presence::Absent => {
                let path = self.path.as_str();
                Ok(known::path(facts, path)?.map(|_| removal(path, None)).into_iter().collect())
            }
        }
    }

    /// Returns what is claimed when the file shall be there or shall not.
    pub(in crate::resources) fn manages_state(&self, state: Presence) -> Vec<(Object, String)> {
        match state {
            Presence::Present => self.manages(),
            Presence::Absent => vec![(self.object(), "absent".to_owned())],
        }
    }

    fn object(&self) -> Object {
        Object::Path(self.path.0.clone())
    }

    fn secret_query(&self) -> Option<SecretQuery> {
        let text = self.want.secret()?.to_owned();
        Some(SecretQuery { path: self.path.0.clone(), text })
    }

    pub(in crate::resources) fn content_query(&self) -> Option<ContentQuery> {
        if self.want.secret().is_some() {
            return None;
        }
        let path = self.path.0.clone();
        let stamp = match self.want {
            Want::Large { size, .. } => size > STAMP_SIZE,
            // Nobody said how large it is.
            Want::Remote { .. } => true,
            Want::Anything | Want::Text(_) | Want::Bytes(_) => false,
        };
        let text = self.want.shown().is_some();
        Some(ContentQuery { path, wanted: Some(self.want.digest()?), text, stamp })
    }

    /// Whether the content is the wanted one, and the old text when it may be shown.
    fn compare(&self, facts: &Facts) -> Result<(bool, Option<String>), Unplannable> {
        if let Some(query) = self.secret_query() {
            return Ok((*known::answer(facts, &query, &self.object())?, None));
        }
        let Some(query) = self.content_query() else { return Ok((true, None)) };
        let found = known::content(facts, &query)?;
        let same = found.map(|content| content.sha256.as_str()) == self.want.digest().as_deref();
        Ok((same, found.and_then(|content| content.text.clone())))
    }

    fn refuse_other(&self, found: &Attributes) -> Result<(), Unplannable> {
        let path = &self.path.0;
        match found.kind {
            FileKind::File => Ok(()),
            FileKind::Symlink => {
                let target = found.target.as_deref().unwrap_or("another place");
                Err(Unplannable::Failed(format!(
                    "{path} is a symbolic link to {target}: name that file, or remove the link first"
                )))
            }
            FileKind::Directory | FileKind::Other => Err(Unplannable::Failed(format!(
                "{path} is {}, not a regular file: move it away first",
                found.kind.as_str()
            ))),
        }
    }

    fn create(&self, facts: &Facts) -> Result<Change, Unplannable> {
        if matches!(self.want, Want::Anything) {
            return Err(Unplannable::Missing(
                self.object(),
                format!("{} does not exist, and the task has neither `content` nor `src`", self.path.0),
            ));
        }
        known::parent(facts, self.path.parent())?;
        Ok(self.write_new())
    }

    fn write_new(&self) -> Change {
        self.write(
            self.mode().unwrap_or(FileMode(0o644)),
            &ownership(self.owner.as_ref(), self.group.as_ref()),
        )
    }

    /// Like [`plan`](Self::plan) where the directory is made by an earlier change of the same plan.
    pub(in crate::resources) fn create_in_new_directory(&self, facts: &Facts) -> Result<Change, Unplannable> {
        match known::path(facts, &self.path.0)? {
            None => Ok(self.write_new()),
            Some(_) => Err(Unplannable::Failed(format!("{} exists but its directory does not", self.path.0))),
        }
    }

    /// The change that writes it, told as a new file.
    fn write(&self, mode: FileMode, ownership: &str) -> Change {
        let mut script = Script::new(crate::shell!(
            "shell/base64.sh",
            "shell/reach.sh",
            "resources/shared/after.sh",
            "resources/shared/put.sh",
            "resources/shared/write.sh"
        ))
        .named("path", self.path.0.as_str())
        .named("mode", mode.to_string())
        .named("ownership", ownership);
        let mut upload = None;
        match &self.want {
            Want::Anything => script = script.named("digest", "").named("content", Arg::Bytes(Vec::new())),
            Want::Text(text) => {
                script = script.named("digest", "").named("content", Arg::Packed(text.clone()));
            }
            Want::Bytes(bytes) => {
                script = script.named("digest", "").named("content", Arg::Bytes(bytes.to_vec()));
            }
            // The transport adds the path of the copy as the last parameter.
            Want::Large { path, size, sha256 } => {
                script = script.named("digest", sha256.as_str());
                upload = Some(Upload { local: path.clone(), size: *size, sha256: sha256.clone() });
            }
            Want::Remote { url, sha256 } => {
                script.text = crate::shell!(
                    "shell/base64.sh",
                    "shell/reach.sh",
                    "resources/shared/after.sh",
                    "resources/shared/put.sh",
                    "resources/shared/get.sh",
                    "resources/shared/fetch.sh",
                    "resources/shared/download.sh"
                )
                .into();
                script = script.named("digest", sha256.as_str()).named("url", url.as_str());
            }
        }
        if let Some(check) = self.check.clone().or_else(|| Check::of(self.path.as_str())) {
            script = check.before(script);
        }
        let detail = Detail::Text { before: None, after: self.want.shown() };
        let change = Change::new(self.object(), format!("+ {}", self.path.0), detail, script);
        Change { upload, ..change.disrupting(interrupts(&self.path.0)) }
    }
}

/// Returns the content that a file of this machine gives to its copy; `None` for a tree.
pub(in crate::resources) fn want_of(local: Local) -> Option<Want> {
    match local {
        Local::Bytes(bytes) => Some(Want::Bytes(bytes)),
        Local::Large { path, size, sha256 } => Some(Want::Large { path, size, sha256 }),
        Local::Tree(_) => None,
    }
}

/// Reads `src` where one file is meant.
pub(in crate::resources) fn local_want(
    src: &Sp<String>,
    context: &dyn Context,
    diagnostics: &mut Diagnostics,
) -> Option<Want> {
    let refusal = match context.local(src) {
        Ok(local) => match want_of(local) {
            Some(want) => return Some(want),
            None => Diagnostic::error(src.span, format!("`{}` is a directory", **src))
                .help("name one file; a directory tree is sent as it is by `copy`"),
        },
        Err(message) => Diagnostic::error(src.span, message),
    };
    diagnostics.push(refusal);
    None
}

/// Returns the interruption by `after.sh` when a file or a link changes.
pub(in crate::resources) fn interrupts(path: &str) -> Disruption {
    let read_again = SYSTEMD.iter().any(|folder| path.starts_with(folder));
    if read_again { Disruption::Reload } else { Disruption::None }
}

/// The change that takes a file or a link away.
pub(in crate::resources) fn removal(path: &str, before: Option<String>) -> Change {
    Change::new(
        Object::Path(path.to_owned()),
        format!("- {path}"),
        Detail::Text { before, after: None },
        Script::new(crate::shell!(
            "shell/reach.sh",
            "resources/shared/after.sh",
            "resources/shared/remove.sh"
        ))
        .named("path", path),
    )
    .disrupting(interrupts(path))
}

/// The question behind [`edit`].
pub(in crate::resources) fn text_query(path: &HostPath) -> ContentQuery {
    ContentQuery { path: path.0.clone(), wanted: None, text: true, stamp: false }
}

/// Edits a text file that is there and has at most 64 KiB. Asks [`text_query`] and the path.
pub(in crate::resources) fn edit(
    path: &HostPath,
    facts: &Facts,
    check: Option<&Check>,
    edited: impl FnOnce(&str) -> String,
) -> Planned {
    if known::path(facts, path.as_str())?.is_none() {
        return Err(Unplannable::Missing(
            Object::Path(path.0.clone()),
            format!("{} does not exist", path.as_str()),
        ));
    }
    let content = known::content(facts, &text_query(path))?.cloned();
    let after = match content.as_ref().and_then(|content| content.text.as_deref()) {
        Some(text) => edited(text),
        None if content.is_none() => String::new(),
        None => {
            return Err(Unplannable::Failed(format!(
                "{} is not UTF-8 text or is larger than 64 KiB: use `template` or `file`",
                path.as_str()
            )));
        }
    };
    let file = RegularFile {
        path: path.clone(),
        want: Want::Text(after),
        mode: None,
        owner: None,
        group: None,
        check: check.cloned(),
    };
    file.plan(&fetched(&file, facts, content.as_ref()))
}

/// The questions behind [`plan_computed`].
pub(in crate::resources) fn computed_queries(path: &HostPath) -> Vec<Query> {
    vec![
        PathQuery(path.0.clone()).into(),
        PathQuery(path.parent().to_owned()).into(),
        text_query(path).into(),
    ]
}

/// Plans a file whose content was worked out from facts: what is there was fetched by
/// [`computed_queries`], because its digest could not be asked for.
pub(in crate::resources) fn plan_computed(file: &RegularFile, facts: &Facts) -> Planned {
    let content = known::content(facts, &text_query(&file.path))?;
    file.plan_with_directory(&fetched(file, facts, content))
}

/// Plans a file of which what is there was fetched already.
pub(in crate::resources) fn plan_found(
    file: &RegularFile,
    facts: &Facts,
    content: Option<&Content>,
) -> Planned {
    file.plan(&fetched(file, facts, content))
}

/// Facts in which what was fetched of a file answers what the file asks.
fn fetched(file: &RegularFile, facts: &Facts, content: Option<&Content>) -> Facts {
    let mut facts = facts.clone();
    if let Some(query) = file.content_query() {
        facts.put(query, content.cloned());
    }
    facts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_lets_systemd_read_its_units_again() {
        let after = crate::shell!("resources/shared/after.sh");
        let folders = SYSTEMD.map(|folder| format!("{folder}*")).join(" | ");
        assert!(after.contains(&format!("    {folders})\n")), "{folders}\n{after}");
        assert_eq!(interrupts("/etc/systemd/system/a.service.d/b.conf"), Disruption::Reload);
        assert_eq!(interrupts("/etc/systemd/system.conf"), Disruption::None);
    }

    #[test]
    fn only_text_that_may_be_read_is_shown() {
        let text = |text: String| Want::Text(text);
        let bytes = |bytes: &[u8]| Want::Bytes(Arc::from(bytes));
        let large = Want::Large { path: "x".into(), size: 1, sha256: String::new() };
        for (want, shown) in [
            (text("a\n".to_owned()), true),
            (bytes(b"a\n"), true),
            (text("x".repeat(TEXT_LIMIT)), true),
            (text("x".repeat(TEXT_LIMIT + 1)), false),
            (text(format!("key {}", placeholder::of("key"))), false),
            (bytes(b"a\0b"), false),
            (bytes(b"\xff"), false),
            (large, false),
            (Want::Anything, false),
        ] {
            assert_eq!(want.shown().is_some(), shown, "{want:?}");
        }
        assert_eq!(bytes(b"a\n").shown().as_deref(), Some("a\n"));
    }
}
