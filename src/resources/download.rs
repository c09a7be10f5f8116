//! `download`: a file from the network, known by its digest.

use std::sync::Arc;

use super::content::{RegularFile, Want};
use super::value::{Digest, FileMode, HostPath, Principal};
use super::{Context, Resource};
use crate::config::{Diagnostics, FromNode as _, Node, Sp};
use crate::sources::Url;

crate::record! {
    /// A file from the network, known by its digest.
    ///
    /// The host fetches it, with curl, wget or apt's own helper, whichever is there, from the site's
    /// mirror when `sources:` names one. A transfer that was cut is continued, and nothing appears
    /// under its name before its digest is right.
    DownloadFields("a download") {
        /// Where it comes from: `https`, `http` or `file`.
        req url: Sp<Url>,
        /// Where it is on the host.
        req path: HostPath,
        /// SHA-256 of the file, in hex.
        req sha256: Digest,
        /// Permission bits as a string; what is there stays, a new file gets "0644".
        opt mode: FileMode,
        /// Owner by name or number; what is there stays.
        opt owner: Principal,
        /// Group by name or number; what is there stays.
        opt group: Principal,
    }
}

/// Where a file comes from at this site, and its digest; reports what only git can reach.
pub(super) fn fetched(
    url: &Sp<Url>,
    digest: &Digest,
    context: &dyn Context,
    diagnostics: &mut Diagnostics,
) -> Option<(String, String)> {
    if url.as_str().starts_with("ssh:") || url.as_str().starts_with("git:") {
        diagnostics.error(url.span, "a file is fetched by `https`, `http` or `file`");
        return None;
    }
    let sources = context.sources();
    Some((sources.rewrite(url.as_str()), sources.digest(url.as_str(), &digest.0).to_owned()))
}

pub(super) fn read(
    node: &Node,
    context: &dyn Context,
    diagnostics: &mut Diagnostics,
) -> Option<Arc<dyn Resource>> {
    let fields = DownloadFields::from_node(node, diagnostics)?;
    let (url, sha256) = fetched(&fields.url, &fields.sha256, context, diagnostics)?;
    let want = Want::Remote { url, sha256 };
    let (path, mode, owner, group) = (fields.path, fields.mode, fields.owner, fields.group);
    Some(Arc::new(RegularFile { path, want, mode, owner, group }))
}
