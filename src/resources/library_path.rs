//! `library_path`: a directory whose libraries every program finds.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::content::RegularFile;
use super::value::{FileName, HostPath, Presence};
use super::{Change, Context, Detail, Disruption, Planned, Resource, Unplannable, known};
use crate::config::{Diagnostics, FromNode as _, Node};
use crate::facts::file::FileKind;
use crate::facts::loader::Loader;
use crate::facts::{Answer, Facts, Object, Query, Touches};
use crate::transport::Script;

/// What `ldconfig` writes.
const CACHE: &str = "/etc/ld.so.cache";

crate::record! {
    /// A directory whose libraries every program, login and job finds:
    /// `/etc/ld.so.conf.d/00-provision-NAME.conf`, and `ldconfig`.
    ///
    /// Its name comes before those of the distribution, so its libraries win over others of the same name. What
    /// a program names itself (RPATH, as the wheels of `PyTorch` do) and `LD_LIBRARY_PATH` stay stronger. Where
    /// another file comes first the task fails and names it. Whoever can write to the directory gets into
    /// programs of root, so it must be root's alone.
    LibraryPathFields("a library path") {
        /// Names the file: `00-provision-NAME.conf`.
        req name: FileName,
        /// The directory with the libraries.
        req path: HostPath,
        /// Whether it shall be there.
        def state: Presence = Presence::Present,
    }
}

#[derive(Debug)]
struct LibraryPath {
    directory: String,
    file: RegularFile,
    state: Presence,
}

pub(super) fn read(node: &Node, _: &dyn Context, diagnostics: &mut Diagnostics) -> Option<Arc<dyn Resource>> {
    let fields = LibraryPathFields::from_node(node, diagnostics)?;
    let directory = fields.path.0;
    let path = format!("/etc/ld.so.conf.d/00-provision-{}.conf", fields.name.0);
    let file = RegularFile::drop_in(path, format!("{directory}\n"));
    Some(Arc::new(LibraryPath { directory, file, state: fields.state }))
}

impl LibraryPath {
    fn loader<'a>(&self, facts: &'a Facts) -> Result<&'a Loader, Unplannable> {
        let object = Object::Path(self.directory.clone());
        let query = Query::Loader(self.directory.clone());
        let Answer::Loader(loader) = known::answer(facts, &query, &object)? else {
            return Err(known::strange(&object));
        };
        if loader.ldconfig {
            return Ok(loader);
        }
        Err(Unplannable::Failed("there is no ldconfig on the host".to_owned()))
    }

    /// Refuses a directory that is not there yet, or that somebody else can write to.
    fn check(&self, loader: &Loader, facts: &Facts) -> Result<(), Unplannable> {
        let directory = &self.directory;
        let missing = |text| Err(Unplannable::Missing(Object::Path(directory.clone()), text));
        let Some(found) = known::path(facts, directory)? else {
            return missing(format!("there is no {directory}"));
        };
        if found.kind == FileKind::Symlink {
            return Err(Unplannable::Failed(format!(
                "{directory} is a symbolic link: name the directory itself"
            )));
        }
        if loader.libraries.is_empty() {
            return missing(format!("there is no shared library in {directory}"));
        }
        if found.uid != 0 || found.mode & 0o022 != 0 {
            return Err(Unplannable::Failed(format!(
                "{directory} is {}'s with mode {:o}: whoever can write there gets into programs of root",
                found.owner, found.mode
            )));
        }
        Ok(())
    }

    fn refresh(why: &str, elsewhere: BTreeSet<&str>) -> Change {
        Change {
            object: Object::Path(CACHE.to_owned()),
            summary: format!("~ {CACHE} ({why})"),
            detail: Detail::Command("ldconfig".to_owned()),
            script: Script::new(crate::shell!("resources/library_path.sh")).args(elsewhere),
            upload: None,
            disruption: Disruption::None,
        }
    }
}

impl Resource for LibraryPath {
    fn queries(&self) -> Vec<Query> {
        let mut queries = self.file.queries();
        queries.push(Query::Path(self.directory.clone()));
        queries.push(Query::Loader(self.directory.clone()));
        queries
    }

    fn plan(&self, facts: &Facts) -> Planned {
        let mut changes = self.file.plan_state(self.state, facts)?;
        if self.state == Presence::Absent {
            if !changes.is_empty() {
                changes.push(Self::refresh(&format!("without {}", self.directory), BTreeSet::new()));
            }
            return Ok(changes);
        }
        let loader = self.loader(facts)?;
        self.check(loader, facts)?;
        let mut told: Vec<String> =
            loader.elsewhere.iter().map(|(name, file)| format!("{name} is {file}")).collect();
        if !loader.missing.is_empty() {
            told.push(format!("without {} of {}", loader.missing.join(", "), self.directory));
        }
        if !told.is_empty() {
            let elsewhere = loader.elsewhere.values().filter_map(|file| Some(file.rsplit_once('/')?.0));
            changes.push(Self::refresh(&told.join("; "), elsewhere.collect()));
        } else if !changes.is_empty() {
            changes.push(Self::refresh(&format!("with {}", self.directory), BTreeSet::new()));
        }
        Ok(changes)
    }

    fn touches(&self) -> Touches {
        Touches::Objects(BTreeSet::from([
            Object::Path(self.file.path.0.clone()),
            Object::Path(CACHE.to_owned()),
        ]))
    }

    fn manages(&self) -> Vec<(Object, String)> {
        self.file.manages_state(self.state)
    }
}
