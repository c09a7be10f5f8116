//! `fetch`: a file of each host, on the controller.

pub mod question;

use std::sync::Arc;

use crate::config::{Diagnostic, Diagnostics, FromNode as _, Node, Sp};
use crate::facts::{Facts, Object, Query, Touches};
use crate::hostlist::fold;
use crate::resources::files::directory::Directory;
use crate::resources::files::fetch::question::{FETCH_LIMIT, FetchQuery, Fetched};
use crate::resources::files::render::{below, beside};
use crate::resources::shared::content::{RegularFile, Want, computed_queries, plan_found, text_query};
use crate::resources::shared::known;
use crate::resources::shared::roster::fleet;
use crate::resources::shared::value::{FileMode, HostPath, Presence};
use crate::resources::{Built, Change, Context, Detail, Planned, Resource, Unplannable};
use crate::words::bytes;

crate::record! {
    /// A file of each host, copied to this machine: a log, a key that was made there, settings to compare.
    ///
    /// The copy of `gpu0` is `TO/gpu0/NAME`, where `NAME` is the last part of `path`. Only the account
    /// that runs provision can read copies and their directories. A copy that is like its file is not
    /// written again. The run shows the copies under a host called `controller`, by name only: what is in
    /// them is in no diff and no log. Symbolic links on the host are followed, below the inventory's
    /// directory they are not. A host that is not part of the run keeps the copy that is there. A file
    /// may have up to 1 MiB.
    FetchFields("a fetched file") {
        /// Path of the file on the hosts: the same for all.
        req path: HostPath,
        /// Directory for the copies, below the directory of the inventory's file.
        req to: Sp<String>,
        /// Whether a host without the file is a failure. Otherwise it has no copy, and one that is there
        /// stays.
        def required: bool = true,
    }
}

kind! { "fetch", FetchFields, central: true, fleet: true }

#[derive(Debug)]
struct Fetch {
    /// The inventory's directory.
    base: String,
    path: String,
    /// Directory of the copies.
    to: HostPath,
    /// The hosts that the task is for, with their directory and their copy.
    copies: Vec<(String, HostPath, HostPath)>,
    required: bool,
}

pub(in crate::resources) fn read(node: &Node, context: &dyn Context, diagnostics: &mut Diagnostics) -> Built {
    let fields = FetchFields::from_node(node, diagnostics)?;
    let to = beside(&fields.to, "directory", context, diagnostics)?;
    let name = fields.path.as_str().rsplit('/').next().unwrap_or_default();
    let below = |path: &str| HostPath::new(path);
    let mut copies = Vec::new();
    for member in context.roster().targeted().members.iter().filter(|member| !member.offline) {
        let directory = format!("{}/{}", to.as_str(), member.name);
        match (below(&directory), below(&format!("{directory}/{name}"))) {
            (Ok(directory), Ok(copy)) if !member.name.contains('/') && !name.is_empty() => {
                copies.push((member.name.clone(), directory, copy));
            }
            _ => {
                let text = format!("`{directory}/{name}` is no path for a copy");
                diagnostics.push(Diagnostic::error(fields.to.span, text));
                return None;
            }
        }
    }
    let base = context.base().as_str().trim_end_matches('/').to_owned();
    Some(Arc::new(Fetch { base, path: fields.path.0, to, copies, required: fields.required }))
}

/// Only for the account that runs provision.
fn private(path: &HostPath) -> Directory {
    Directory {
        path: path.clone(),
        mode: Some(FileMode(0o700)),
        owner: None,
        group: None,
        state: Presence::Present,
    }
}

/// The content is nobody's business but the reader's of the copy.
fn unshown(change: Change) -> Change {
    match change.detail {
        Detail::Text { .. } => Change { detail: Detail::Text { before: None, after: None }, ..change },
        Detail::Attributes(_) | Detail::Command(_) => change,
    }
}

impl Fetch {
    /// Reports why some hosts have no file to copy, with one reason for all that share it.
    fn refusal(&self, found: &[(&str, &Fetched)]) -> Option<String> {
        let mut reasons: Vec<(String, Vec<&str>)> = Vec::new();
        for (host, fetched) in found {
            let reason = match fetched {
                Fetched::File(_) => continue,
                Fetched::Absent if !self.required => continue,
                Fetched::Absent => "does not exist (`required: false` leaves such hosts out)".to_owned(),
                Fetched::Other => "is no regular file".to_owned(),
                Fetched::Large(size) => {
                    format!("has {}, more than {}", bytes(*size), bytes(FETCH_LIMIT))
                }
                Fetched::Unreadable(why) => why.clone(),
            };
            match reasons.iter_mut().find(|(known, _)| *known == reason) {
                Some((_, hosts)) => hosts.push(host),
                None => reasons.push((reason, vec![host])),
            }
        }
        let texts =
            reasons.into_iter().map(|(reason, hosts)| format!("{} of {}: {reason}", self.path, fold(hosts)));
        let texts: Vec<String> = texts.collect();
        (!texts.is_empty()).then(|| texts.join("; "))
    }

    /// Plans one host's copy; `made` are directories that an earlier change makes.
    fn copy(
        &self,
        host: &(String, HostPath, HostPath),
        bytes: &[u8],
        facts: &Facts,
        made: &mut Vec<String>,
    ) -> Planned {
        let (_, directory, path) = host;
        let mut changes = Vec::new();
        for directory in [&self.to, directory] {
            if !made.iter().any(|known| known == directory.as_str()) {
                // The directory of all copies may have been there before, for other things as well.
                let shared = *directory == self.to && known::path(facts, directory.as_str())?.is_some();
                let private = private(directory);
                let wanted = if shared { Directory { mode: None, ..private } } else { private };
                made.extend(wanted.makes_directory(facts).map(str::to_owned));
                changes.extend(wanted.plan(facts)?);
            }
        }
        let file = RegularFile {
            path: path.clone(),
            want: Want::Bytes(bytes.into()),
            mode: Some(FileMode(0o600)),
            owner: None,
            group: None,
            check: None,
        };
        if made.iter().any(|known| known == directory.as_str()) {
            changes.push(file.create_in_new_directory(facts)?);
        } else {
            changes.extend(plan_found(&file, facts, known::content(facts, &text_query(path))?)?);
        }
        Ok(changes)
    }
}

impl Resource for Fetch {
    fn queries(&self) -> Vec<Query> {
        let mut queries = vec![Query::of_all(FetchQuery(self.path.clone()))];
        queries.extend(private(&self.to).queries());
        for (_, directory, copy) in &self.copies {
            queries.extend(private(directory).queries());
            queries.extend(computed_queries(copy));
        }
        queries
    }

    fn plan(&self, facts: &Facts) -> Planned {
        let all: std::collections::BTreeMap<&str, &Fetched> =
            fleet(facts, &FetchQuery(self.path.clone()))?.collect();
        let found: Vec<(&str, &Fetched)> = self
            .copies
            .iter()
            .filter_map(|(host, _, _)| Some((host.as_str(), *all.get(host.as_str())?)))
            .collect();
        if let Some(refusal) = self.refusal(&found) {
            return Err(Unplannable::Failed(refusal));
        }
        let (mut changes, mut made) = (Vec::new(), Vec::new());
        for host in &self.copies {
            if let Some(Fetched::File(bytes)) = all.get(host.0.as_str()) {
                changes.extend(self.copy(host, &bytes.0, facts, &mut made)?);
            }
        }
        Ok(changes.into_iter().map(|change| unshown(below(&self.base, change))).collect())
    }

    fn touches(&self) -> Touches {
        Touches::one(Object::Path(self.to.0.clone()))
    }

    fn manages(&self) -> Vec<(Object, String)> {
        let claim = |copy: &HostPath| (Object::Path(copy.0.clone()), format!("a copy of {}", self.path));
        self.copies.iter().map(|(_, _, copy)| claim(copy)).collect()
    }
}
