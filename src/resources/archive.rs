//! `archive`: a packed tree from the network, unpacked.

use std::sync::Arc;

use camino::Utf8Path;

use super::download::fetched;
use super::value::{Digest, HostPath, claims, sha256};
use super::{Attribute, Change, Context, Detail, Disruption, Planned, Resource, Unplannable, known};
use crate::config::{Diagnostic, Diagnostics, FromNode as _, Node, Sp};
use crate::facts::file::FileKind;
use crate::facts::{Facts, Object, Query, Touches};
use crate::sources::Url;
use crate::transport::Script;

crate::record! {
    /// A packed tree from the network (tar, packed or not, or zip), unpacked into a directory of its
    /// own.
    ///
    /// It is fetched as a `download` is and stays in the host's cache, `/var/cache/provision`. The
    /// tree appears as a whole, with a stamp in it that says which archive it is of: another digest
    /// replaces the whole tree, and what was added to it is lost then.
    ArchiveFields("an archive") {
        /// Where it comes from: `https`, `http` or `file`.
        req url: Sp<Url>,
        /// The directory that it is unpacked into; it belongs to the archive alone.
        req path: HostPath,
        /// SHA-256 of the packed file, in hex.
        req sha256: Digest,
        /// How many leading names are left out of the names in it: 1 for `openmpi-4.1.8/configure`.
        def strip: u32 = 0,
    }
}

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

pub(super) fn read(
    node: &Node,
    context: &dyn Context,
    diagnostics: &mut Diagnostics,
) -> Option<Arc<dyn Resource>> {
    let fields = ArchiveFields::from_node(node, diagnostics)?;
    let (url, sha256) = fetched(&fields.url, &fields.sha256, context, diagnostics)?;
    if !KINDS.iter().any(|end| url.ends_with(end)) {
        diagnostics.push(
            Diagnostic::error(fields.url.span, "the name does not say how the archive is packed")
                .help(format!("it ends with one of {}; `download` takes any file", KINDS.join(", "))),
        );
        return None;
    }
    if fields.strip > 0 && Utf8Path::new(&url).extension() == Some("zip") {
        diagnostics.error(node.span, "`strip` is for tar: unzip leaves nothing out of names");
        return None;
    }
    if fields.path.as_str() == "/" {
        diagnostics.error(node.span, "an archive is unpacked into a directory of its own");
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

    fn stamp_query(&self) -> Query {
        Query::Content {
            path: self.stamp_path(),
            wanted: Some(sha256(format!("{}\n", self.stamp()).as_bytes())),
            text: true,
            stamp: false,
        }
    }

    fn unpack(&self, before: Option<&str>) -> Change {
        let path = self.path.as_str();
        let sign = if before.is_some() { '~' } else { '+' };
        Change {
            object: Object::Path(path.to_owned()),
            summary: format!("{sign} {path} (unpacked from {})", self.url),
            detail: Detail::Attributes(vec![Attribute::new("archive", before, Some(&self.stamp()))]),
            script: Script::new(crate::shell!(
                "resources/reach.sh",
                "resources/get.sh",
                "resources/fetch.sh",
                "resources/archive.sh"
            ))
            .arg(path)
            .arg(self.sha256.as_str())
            .arg(self.url.as_str())
            .arg(self.strip.to_string())
            .arg(self.stamp())
            .arg(self.stamp_path()),
            upload: None,
            disruption: Disruption::None,
        }
    }
}

impl Resource for Archive {
    fn queries(&self) -> Vec<Query> {
        vec![Query::Path(self.path.0.clone()), Query::Path(self.path.parent().to_owned()), self.stamp_query()]
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
                    "{path} is {}, not a directory: it stands in the way",
                    other.as_str()
                )));
            }
        }
        let query = self.stamp_query();
        let Some(found) = known::content(facts, &query, &self.stamp_path())? else {
            return Err(Unplannable::Failed(format!(
                "{path} is there and no archive was unpacked into it: move it away, or unpack elsewhere"
            )));
        };
        if matches!(&query, Query::Content { wanted: Some(wanted), .. } if *wanted == found.sha256) {
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
