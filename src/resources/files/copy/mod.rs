//! `copy`: a file or a directory tree of this machine.

use std::sync::Arc;

use crate::config::{Diagnostic, Diagnostics, FromNode as _, Node, Sp};
use crate::facts::{Facts, Object, Query, Touches};
use crate::resources::files::directory::Directory;
use crate::resources::shared::check::Check;
use crate::resources::shared::content::{RegularFile, Want, want_of};
use crate::resources::shared::value::{FileMode, HostPath, Presence, Principal, names_a_file};
use crate::resources::{Built, Context, Local, Planned, Resource};

crate::record! {
    /// A file or a directory tree of this machine, compared by digest.
    ///
    /// Files on the host that are not in the tree are kept. `mode`, `owner` and `group` apply to the
    /// files; links are followed. Directories of the tree are created with mode 0755 and get `owner` and `group`.
    CopyFields("a copy") {
        /// The file or directory, relative to the playbook's file.
        req src: Sp<String>,
        /// Its path on the host.
        req path: HostPath,
        /// Permission bits of the files as a string. Left out: an existing file keeps its bits, a new
        /// one gets "0644", whatever it has here. Give them for programs and for what is private.
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

kind! { "copy", CopyFields }

#[derive(Debug)]
struct Copy {
    path: HostPath,
    directories: Vec<Directory>,
    files: Vec<RegularFile>,
}

pub(in crate::resources) fn read(node: &Node, context: &dyn Context, diagnostics: &mut Diagnostics) -> Built {
    let fields = CopyFields::from_node(node, diagnostics)?;
    let mut copy = Copy { path: fields.path.clone(), directories: Vec::new(), files: Vec::new() };
    let file = |path: HostPath, want: Want| RegularFile {
        path,
        want,
        mode: fields.mode,
        owner: fields.owner.clone(),
        group: fields.group.clone(),
        check: fields.validate.clone(),
    };
    let directory = |path: HostPath| Directory {
        path,
        mode: None,
        owner: fields.owner.clone(),
        group: fields.group.clone(),
        state: Presence::Present,
    };
    let local = match context.local(&fields.src) {
        Ok(local) => local,
        Err(message) => {
            diagnostics.push(Diagnostic::error(fields.src.span, message));
            return None;
        }
    };
    let entries = match local {
        Local::Tree(entries) => entries,
        other @ (Local::Bytes(_) | Local::Large { .. }) => {
            if !names_a_file(node, diagnostics) {
                return None;
            }
            copy.files.push(file(fields.path.clone(), want_of(other)?));
            return Some(Arc::new(copy));
        }
    };
    copy.directories.push(directory(fields.path.clone()));
    for (name, local) in entries {
        let path = match HostPath::new(&format!("{}/{name}", fields.path.as_str())) {
            Ok(path) => path,
            Err(message) => {
                diagnostics.push(Diagnostic::error(fields.src.span, format!("`{name}`: {message}")));
                return None;
            }
        };
        match local.map(want_of) {
            Some(Some(want)) => copy.files.push(file(path, want)),
            Some(None) | None => copy.directories.push(directory(path)),
        }
    }
    Some(Arc::new(copy))
}

impl Resource for Copy {
    fn queries(&self) -> Vec<Query> {
        let files = self.files.iter().flat_map(RegularFile::queries);
        self.directories.iter().flat_map(Resource::queries).chain(files).collect()
    }

    fn plan(&self, facts: &Facts) -> Planned {
        let mut changes = Vec::new();
        for directory in &self.directories {
            changes.extend(directory.plan(facts)?);
        }
        // Files below a directory that is made here need not find it there.
        let made: Vec<&str> =
            self.directories.iter().filter_map(|directory| directory.makes_directory(facts)).collect();
        for file in &self.files {
            if made.contains(&file.path.parent()) {
                changes.push(file.create_in_new_directory(facts)?);
            } else {
                changes.extend(file.plan(facts)?);
            }
        }
        Ok(changes)
    }

    fn touches(&self) -> Touches {
        Touches::one(Object::Path(self.path.0.clone()))
    }

    fn brief(&self) -> bool {
        self.directories.is_empty() && self.files.iter().all(Resource::brief)
    }

    fn manages(&self) -> Vec<(Object, String)> {
        let files = self.files.iter().flat_map(RegularFile::manages);
        self.directories.iter().flat_map(Resource::manages).chain(files).collect()
    }
}
