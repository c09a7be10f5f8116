//! `distribute`: a file of this machine on all hosts, sent by the controller once.

use std::sync::Arc;

use crate::config::{Diagnostic, Diagnostics, FromNode as _, Node, Sp, Span};
use crate::facts::file::Content;
use crate::facts::{Facts, Object, Query, Touches};
use crate::resources::shared::content::{RegularFile, Want, want_of};
use crate::resources::shared::known;
use crate::resources::shared::value::{AccountName, FileMode, HostPath, Principal, ownership, sha256};
use crate::resources::{Built, Context, Local, Planned, Resource, Spread};
use crate::transport::Script;

crate::record! {
    /// A file of this machine on all hosts, passed on from host to host.
    ///
    /// The controller sends it to one host; every host that has it passes it on, so n hosts have it
    /// after about log2 n rounds. Hosts fetch it from each other over the SSH mesh (`ssh_mesh`, in an
    /// earlier task), and each checks its digest. For a directory tree, distribute an archive of it and
    /// unpack that with `archive` and a `file://` URL.
    DistributeFields("a file for all hosts") {
        /// The file, relative to the playbook's file.
        req src: Sp<String>,
        /// Path on the hosts: letters, digits and `/._+-` only.
        req path: HostPath,
        /// User whose SSH mesh is used.
        def user: AccountName = AccountName("root".to_owned()),
        /// Permission bits as a string. Left out: an existing file keeps its bits, a new one gets
        /// "0644".
        opt mode: FileMode,
        /// Owner by name or number. Left out: unchanged.
        opt owner: Principal,
        /// Group by name or number. Left out: unchanged.
        opt group: Principal,
    }
}

kind! { "distribute", DistributeFields, fleet: true }

#[derive(Debug)]
struct Distribute {
    file: RegularFile,
    digest: String,
    size: u64,
    user: String,
}

pub(in crate::resources) fn read(node: &Node, context: &dyn Context, diagnostics: &mut Diagnostics) -> Built {
    let fields = DistributeFields::from_node(node, diagnostics)?;
    plain(fields.path.as_str(), node.span, diagnostics)?;
    let refusal = match context.local(&fields.src) {
        Ok(local @ (Local::Bytes(_) | Local::Large { .. })) => {
            let (digest, size) = match &local {
                Local::Bytes(bytes) => (sha256(bytes), u64::try_from(bytes.len()).unwrap_or(u64::MAX)),
                Local::Large { sha256, size, .. } => (sha256.clone(), *size),
                Local::Tree(_) => (String::new(), 0),
            };
            let want = want_of(local).unwrap_or(Want::Anything);
            let file = RegularFile {
                path: fields.path,
                want,
                mode: fields.mode,
                owner: fields.owner,
                group: fields.group,
                check: None,
            };
            return Some(Arc::new(Distribute { file, digest, size, user: fields.user.0 }));
        }
        Ok(Local::Tree(_)) => Diagnostic::error(fields.src.span, format!("`{}` is a directory", *fields.src))
            .help("distribute its archive, and unpack it with `archive`"),
        Err(message) => Diagnostic::error(fields.src.span, message),
    };
    diagnostics.push(refusal);
    None
}

/// Sees to it that a path can stand in a command that the login shell of another host reads.
pub(in crate::resources) fn plain(path: &str, span: Span, diagnostics: &mut Diagnostics) -> Option<()> {
    if path.chars().all(|c| c.is_ascii_alphanumeric() || "/._+-".contains(c)) {
        return Some(());
    }
    let error = Diagnostic::error(span, format!("`{path}` has characters that a shell would interpret"));
    diagnostics.push(error.help("use only letters, digits and `/._+-`"));
    None
}

impl Resource for Distribute {
    fn queries(&self) -> Vec<Query> {
        let mut queries = self.file.queries();
        queries.extend(self.file.content_query().map(Query::of_all));
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
            "shell/base64.sh",
            "shell/reach.sh",
            "resources/shared/after.sh",
            "resources/shared/put.sh",
            "resources/builds/over_mesh.sh",
            "resources/builds/distribute/distribute.sh"
        ))
        .named("path", self.file.path.as_str())
        .named("mode", mode.to_string())
        .named("ownership", owners)
        .named("digest", self.digest.as_str())
        .named("size", self.size.to_string())
        .named("user", self.user.as_str());
        let fleet =
            self.file.content_query().and_then(|query| Some(facts.of_all(&query)?.collect::<Vec<_>>()));
        let has =
            |found: &Option<Content>| found.as_ref().is_some_and(|content| content.sha256 == self.digest);
        let holders = fleet.into_iter().flatten().filter(|(_, found)| has(found));
        let holders = holders.map(|(host, _)| host.to_owned()).collect();
        Some(Spread { holders, key: format!("{} {}", self.file.path.as_str(), self.digest), pull })
    }
}
