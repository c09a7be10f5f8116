//! `archive`: a packed tree from the network, unpacked.

use std::sync::Arc;

use camino::Utf8Path;

use crate::config::{Diagnostic, Diagnostics, FromNode as _, Node, Sp};
use crate::facts::file::{ContentQuery, FileKind, PathQuery};
use crate::facts::{Facts, Object, Query, Touches};
use crate::resources::files::download::fetched;
use crate::resources::shared::known;
use crate::resources::shared::value::{Digest, HostPath, claims, sha256};
use crate::resources::{Attribute, Built, Change, Context, Detail, Planned, Resource, Unplannable};
use crate::sources::Url;
use crate::transport::Script;

crate::record! {
    /// A packed tree from the network (tar, compressed or not, or zip), unpacked into a directory of
    /// its own.
    ///
    /// It is fetched like a `download`, within the same limit, and kept in the host's cache, `/var/cache/provision`. The tree
    /// appears in one step. A stamp in it records which archive it came from: another digest replaces
    /// the whole tree, and files that were added to it are lost. Nothing else is asked: what is changed in the tree
    /// by hand is not seen.
    ArchiveFields("an archive") {
        /// URL of the archive: `https`, `http` or `file`.
        req url: Sp<Url>,
        /// Directory that it is unpacked into. Nothing else may be in it.
        req path: HostPath,
        /// SHA-256 of the packed file, in hex.
        req sha256: Digest,
        /// Number of leading directories that are removed from the names in it: 1 for
        /// `openmpi-4.1.8/configure`.
        def strip: u32 = 0,
    }
}

kind! { "archive", ArchiveFields }

/// The file in the tree that says what it was unpacked from.
const STAMP: &str = ".provision-archive";

/// The ends of names that `tar` or `unzip` take.
const KINDS: &[&str] =
    &[".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tbz2", ".tar.xz", ".txz", ".tar.zst", ".tzst", ".zip"];

#[derive(Debug)]
struct Archive {
    url: String,
    path: HostPath,
    sha256: String,
    strip: u32,
}

pub(in crate::resources) fn read(node: &Node, context: &dyn Context, diagnostics: &mut Diagnostics) -> Built {
    let fields = ArchiveFields::from_node(node, diagnostics)?;
    let (url, sha256) = fetched(&fields.url, &fields.sha256, context, diagnostics)?;
    if !KINDS.iter().any(|end| url.ends_with(end)) {
        diagnostics.push(
            Diagnostic::error(fields.url.span, "the ending of the URL does not show the type of the archive")
                .help(format!(
                    "the URL must end with one of {}; for other files use `download`",
                    KINDS.join(", ")
                )),
        );
        return None;
    }
    if fields.strip > 0 && Utf8Path::new(&url).extension() == Some("zip") {
        diagnostics.error(node.span, "`strip` does not work for zip archives");
        return None;
    }
    if fields.path.as_str() == "/" {
        diagnostics.error(node.span, "an archive needs a directory of its own");
        return None;
    }
    Some(Arc::new(Archive { url, path: fields.path, sha256, strip: fields.strip }))
}

impl Archive {
    fn stamp_path(&self) -> String {
        format!("{}/{STAMP}", self.path.as_str())
    }

    fn stamp(&self) -> String {
        format!("sha256 {} strip {}", self.sha256, self.strip)
    }

    fn stamp_query(&self) -> ContentQuery {
        ContentQuery {
            path: self.stamp_path(),
            wanted: Some(sha256(format!("{}\n", self.stamp()).as_bytes())),
            text: true,
            stamp: false,
        }
    }

    fn unpack(&self, before: Option<&str>) -> Change {
        let path = self.path.as_str();
        let sign = if before.is_some() { '~' } else { '+' };
        Change::new(
            Object::Path(path.to_owned()),
            format!("{sign} {path} (unpacked from {})", self.url),
            Detail::Attributes(vec![Attribute::new("archive", before, Some(&self.stamp()))]),
            Script::new(crate::shell!(
                "shell/reach.sh",
                "resources/shared/get.sh",
                "resources/shared/fetch.sh",
                "resources/files/archive/archive.sh"
            ))
            .named("path", path)
            .named("digest", self.sha256.as_str())
            .named("url", self.url.as_str())
            .named("strip", self.strip.to_string())
            .named("stamp", self.stamp())
            .named("stamp_path", self.stamp_path()),
        )
    }
}

impl Resource for Archive {
    fn queries(&self) -> Vec<Query> {
        vec![
            PathQuery(self.path.0.clone()).into(),
            PathQuery(self.path.parent().to_owned()).into(),
            self.stamp_query().into(),
        ]
    }

    fn plan(&self, facts: &Facts) -> Planned {
        let path = self.path.as_str();
        match known::path(facts, path)?.map(|found| found.kind) {
            None => {
                known::parent(facts, self.path.parent())?;
                return Ok(vec![self.unpack(None)]);
            }
            Some(FileKind::Directory) => {}
            Some(other) => {
                return Err(Unplannable::Failed(format!(
                    "{path} is {}, not a directory: move it away first",
                    other.as_str()
                )));
            }
        }
        let query = self.stamp_query();
        let Some(found) = known::content(facts, &query)? else {
            return Err(Unplannable::Failed(format!(
                "{path} exists and was not unpacked from an archive: move it away, or choose another path"
            )));
        };
        if query.wanted.as_ref() == Some(&found.sha256) {
            return Ok(Vec::new());
        }
        let before = found.text.as_deref().map_or("another", str::trim_end);
        Ok(vec![self.unpack(Some(before))])
    }

    fn touches(&self) -> Touches {
        Touches::one(Object::Path(self.path.0.clone()))
    }

    fn manages(&self) -> Vec<(Object, String)> {
        let stamp = self.stamp();
        claims(Object::Path, &self.path.0, "an unpacked archive", [("archive", Some(stamp))])
    }
}
