//! `download`: a file from the network, known by its digest.

use std::sync::Arc;

use crate::config::{Diagnostics, FromNode as _, Node, Sp};
use crate::resources::shared::check::Check;
use crate::resources::shared::content::{RegularFile, Want};
use crate::resources::shared::value::{Digest, FileMode, HostPath, Principal, names_a_file};
use crate::resources::{Built, Context};
use crate::sources::Url;

crate::record! {
    /// A file from the network, checked against its digest.
    ///
    /// The host fetches it with curl, wget or apt's own helper, whichever is installed; if `sources:`
    /// names a mirror, from there. An interrupted transfer is continued. The file appears under its
    /// name only after its digest was checked. It may take nine tenths of what is free on the host: a server that
    /// sends more, or without end, is left, and what it sent is removed.
    DownloadFields("a download") {
        /// URL of the file: `https`, `http` or `file`.
        req url: Sp<Url>,
        /// Its path on the host.
        req path: HostPath,
        /// SHA-256 of the file, in hex.
        req sha256: Digest,
        /// Permission bits as a string. Left out: an existing file keeps its bits, a new one gets
        /// "0644".
        opt mode: FileMode,
        /// Owner by name or number. Left out: unchanged.
        opt owner: Principal,
        /// Group by name or number. Left out: unchanged.
        opt group: Principal,
        /// A program of the host with its arguments that looks at the new file before it is put in place;
        /// `"%s"` stands for the path of the draft. When it ends with a status other than 0, or is not there, the
        /// task fails and the old file stays.
        opt validate: Check,
    }
}

kind! { "download", DownloadFields }

/// Returns the URL from which a file comes at this site, and its digest; reports what only git can reach.
pub(in crate::resources) fn fetched(
    url: &Sp<Url>,
    digest: &Digest,
    context: &dyn Context,
    diagnostics: &mut Diagnostics,
) -> Option<(String, String)> {
    if url.as_str().starts_with("ssh:") || url.as_str().starts_with("git:") {
        diagnostics.error(url.span, "the URL of a file must begin with `https`, `http` or `file`");
        return None;
    }
    let sources = context.sources();
    Some((sources.rewrite(url.as_str()), sources.digest(url.as_str(), &digest.0).to_owned()))
}

pub(in crate::resources) fn read(node: &Node, context: &dyn Context, diagnostics: &mut Diagnostics) -> Built {
    let fields = DownloadFields::from_node(node, diagnostics)?;
    if !names_a_file(node, diagnostics) {
        return None;
    }
    let (url, sha256) = fetched(&fields.url, &fields.sha256, context, diagnostics)?;
    let want = Want::Remote { url, sha256 };
    let (path, mode, owner, group) = (fields.path, fields.mode, fields.owner, fields.group);
    Some(Arc::new(RegularFile { path, want, mode, owner, group, check: fields.validate }))
}
