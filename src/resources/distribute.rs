//! `distribute`: a file of this machine on all hosts, sent by the controller once.

use std::sync::Arc;

use super::content::{RegularFile, Want};
use super::roster::fleet;
use super::value::{AccountName, FileMode, HostPath, Principal, ownership, sha256};
use super::{Context, Local, Planned, Resource, Spread, known};
use crate::config::{Diagnostic, Diagnostics, FromNode as _, Node, Sp, Span};
use crate::facts::{Answer, Facts, Object, Query, Touches};
use crate::transport::Script;

crate::record! {
    /// A file of this machine on all hosts, from host to host.
    ///
    /// The controller sends it to one host; every host that has it gives it to others, so n hosts have
    /// it after about log2 n rounds. Hosts fetch it from each other over the SSH mesh (`ssh_mesh`, in a task
    /// before this one); its digest is checked on each. A directory tree: distribute its archive, and
    /// unpack that with `archive` and a `file://` URL.
    DistributeFields("a file for all hosts") {
        /// The file, relative to the playbook's file.
        req src: Sp<String>,
        /// Where it is on the hosts; letters, digits and `/._+-` only.
        req path: HostPath,
        /// The user of the mesh.
        def user: AccountName = AccountName("root".to_owned()),
        /// Permission bits as a string; what is there stays, a new file gets "0644".
        opt mode: FileMode,
        /// Owner by name or number; what is there stays.
        opt owner: Principal,
        /// Group by name or number; what is there stays.
        opt group: Principal,
    }
}

#[derive(Debug)]
struct Distribute {
    file: RegularFile,
    digest: String,
    user: String,
}

pub(super) fn read(
    node: &Node,
    context: &dyn Context,
    diagnostics: &mut Diagnostics,
) -> Option<Arc<dyn Resource>> {
    let fields = DistributeFields::from_node(node, diagnostics)?;
    plain(fields.path.as_str(), node.span, diagnostics)?;
    let refusal = match context.local(&fields.src) {
        Ok(local @ (Local::Bytes(_) | Local::Large { .. })) => {
            let digest = match &local {
                Local::Bytes(bytes) => sha256(bytes),
                Local::Large { sha256, .. } => sha256.clone(),
                Local::Tree(_) => String::new(),
            };
            let want = super::copy::want_of(local).unwrap_or(Want::Anything);
            let file = RegularFile {
                path: fields.path,
                want,
                mode: fields.mode,
                owner: fields.owner,
                group: fields.group,
            };
            return Some(Arc::new(Distribute { file, digest, user: fields.user.0 }));
        }
        Ok(Local::Tree(_)) => Diagnostic::error(fields.src.span, format!("`{}` is a directory", *fields.src))
            .help("distribute its archive, and unpack it with `archive`"),
        Err(message) => Diagnostic::error(fields.src.span, message),
    };
    diagnostics.push(refusal);
    None
}

/// Sees to it that a path can stand in a command that the login shell of another host reads.
pub(super) fn plain(path: &str, span: Span, diagnostics: &mut Diagnostics) -> Option<()> {
    if path.chars().all(|c| c.is_ascii_alphanumeric() || "/._+-".contains(c)) {
        return Some(());
    }
    let error = Diagnostic::error(span, format!("`{path}` has characters that no shell takes plainly"));
    diagnostics.push(error.help("letters, digits and `/._+-`"));
    None
}

impl Resource for Distribute {
    fn queries(&self) -> Vec<Query> {
        let mut queries = self.file.queries();
        queries.extend(self.file.content_query().map(|query| Query::Fleet(Box::new(query))));
        queries
    }

    fn plan(&self, facts: &Facts) -> Planned {
        self.file.plan(facts)
    }

    fn touches(&self) -> Touches {
        Touches::one(Object::Path(self.file.path.0.clone()))
    }

    fn manages(&self) -> Vec<(Object, String)> {
        self.file.manages()
    }

    fn spread(&self, facts: &Facts) -> Option<Spread> {
        // What is there keeps what is not named.
        let found = known::path(facts, self.file.path.as_str()).ok().flatten();
        let mode = self.file.mode.or_else(|| found.map(|found| FileMode(found.mode)));
        let mode = mode.unwrap_or(FileMode(0o644));
        let number = |number: u32| Principal(number.to_string());
        let owner = self.file.owner.clone().or_else(|| found.map(|found| number(found.uid)));
        let group = self.file.group.clone().or_else(|| found.map(|found| number(found.gid)));
        let owners = ownership(owner.as_ref(), group.as_ref());
        let pull = Script::new(crate::shell!(
            "resources/reach.sh",
            "resources/after.sh",
            "resources/put.sh",
            "resources/over_mesh.sh",
            "resources/distribute.sh"
        ))
        .arg(self.file.path.as_str())
        .arg(mode.to_string())
        .arg(owners)
        .arg(self.digest.as_str())
        .arg(self.user.as_str());
        let fleet = self.file.content_query().and_then(|query| fleet(facts, query).ok());
        let has = |answer: &Answer| matches!(answer, Answer::Content(Some(content)) if content.sha256 == self.digest);
        let holders = fleet.into_iter().flatten().filter(|(_, answer)| has(answer));
        let holders = holders.map(|(host, _)| host.clone()).collect();
        Some(Spread { holders, key: format!("{} {}", self.file.path.as_str(), self.digest), pull })
    }
}
