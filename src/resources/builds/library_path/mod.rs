//! `library_path`: a directory whose libraries every program finds.

pub mod question;

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::config::{Diagnostics, FromNode as _, Node};
use crate::facts::file::{FileKind, PathQuery};
use crate::facts::{Facts, Object, Query, Touches};
use crate::resources::builds::library_path::question::{Loader, LoaderQuery};
use crate::resources::shared::content::RegularFile;
use crate::resources::shared::known;
use crate::resources::shared::value::{FileName, HostPath, Presence};
use crate::resources::{Built, Change, Context, Detail, Planned, Resource, Unplannable};
use crate::transport::Script;

/// Cache that `ldconfig` writes.
const CACHE: &str = "/etc/ld.so.cache";

crate::record! {
    /// A directory of libraries that every program, login and job finds: it writes
    /// `/etc/ld.so.conf.d/00-provision-NAME.conf` and runs `ldconfig`.
    ///
    /// The file is read before those of the distribution, so its libraries win over others of the same
    /// name. A program's own setting (RPATH, as in the wheels of `PyTorch`) and `LD_LIBRARY_PATH` are
    /// still stronger. If another file is read first, the task fails and names it. Whoever can write to
    /// the directory can put code into programs of root, so only root may be able to write there.
    LibraryPathFields("a library path") {
        /// Name of the file: `00-provision-NAME.conf`.
        req name: FileName,
        /// The directory with the libraries.
        req path: HostPath,
        /// Whether it must exist (`present`) or must not (`absent`).
        def state: Presence = Presence::Present,
    }
}

kind! { "library_path", LibraryPathFields }

#[derive(Debug)]
struct LibraryPath {
    directory: String,
    file: RegularFile,
    state: Presence,
}

pub(in crate::resources) fn read(node: &Node, _: &dyn Context, diagnostics: &mut Diagnostics) -> Built {
    let fields = LibraryPathFields::from_node(node, diagnostics)?;
    let directory = fields.path.0;
    let path = format!("/etc/ld.so.conf.d/00-provision-{}.conf", fields.name.0);
    let file = RegularFile::drop_in(path, format!("{directory}\n"));
    Some(Arc::new(LibraryPath { directory, file, state: fields.state }))
}

impl LibraryPath {
    fn loader<'a>(&self, facts: &'a Facts) -> Result<&'a Loader, Unplannable> {
        let object = Object::Path(self.directory.clone());
        let query = LoaderQuery(self.directory.clone());
        let loader = known::answer(facts, &query, &object)?;
        if loader.ldconfig {
            return Ok(loader);
        }
        Err(Unplannable::Failed("ldconfig is not installed".to_owned()))
    }

    /// Refuses a directory that is not there yet, or that somebody else can change.
    fn check(&self, loader: &Loader, facts: &Facts) -> Result<(), Unplannable> {
        let directory = &self.directory;
        let missing = |text| Err(Unplannable::Missing(Object::Path(directory.clone()), text));
        let Some(found) = known::path(facts, directory)? else {
            return missing(format!("{directory} does not exist"));
        };
        if found.kind == FileKind::Symlink {
            return Err(Unplannable::Failed(format!(
                "{directory} is a symbolic link: name the directory itself"
            )));
        }
        if loader.libraries.is_empty() {
            return missing(format!("{directory} holds no shared library"));
        }
        if let Some(why) = &loader.refused {
            return Err(Unplannable::Failed(format!(
                "{why}: only root may be able to, because every program loads these libraries"
            )));
        }
        Ok(())
    }

    fn refresh(path: &str, why: &str, elsewhere: BTreeSet<&str>) -> Change {
        Change::new(
            Object::Path(CACHE.to_owned()),
            format!("~ {CACHE} ({why})"),
            Detail::Command("ldconfig".to_owned()),
            Script::new(crate::shell!(
                "shell/rooted.sh",
                "shell/rooted_below.sh",
                "resources/builds/library_path/library_path.sh"
            ))
            .named("path", path)
            .list("directory", elsewhere),
        )
    }
}

impl Resource for LibraryPath {
    fn queries(&self) -> Vec<Query> {
        let mut queries = self.file.queries();
        queries.push(PathQuery(self.directory.clone()).into());
        queries.push(LoaderQuery(self.directory.clone()).into());
        queries
    }

    fn plan(&self, facts: &Facts) -> Planned {
        let mut changes = self.file.plan_state(self.state, facts)?;
        if self.state == Presence::Absent {
            if !changes.is_empty() {
                changes.push(Self::refresh("", &format!("without {}", self.directory), BTreeSet::new()));
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
            changes.push(Self::refresh(&self.directory, &told.join("; "), elsewhere.collect()));
        } else if !changes.is_empty() {
            changes.push(Self::refresh(
                &self.directory,
                &format!("with {}", self.directory),
                BTreeSet::new(),
            ));
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
