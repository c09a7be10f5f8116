//! `timezone`: the time zone of the host.
//!
//! Formats: localtime(5); `/etc/timezone` is Debian's, see tzdata's README.Debian.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::config::{Diagnostic, Diagnostics, FromNode as _, Node, Sp};
use crate::facts::file::{FileKind, PathQuery};
use crate::facts::{Facts, Object, Query, Touches};
use crate::resources::shared::content::RegularFile;
use crate::resources::shared::known;
use crate::resources::{Attribute, Built, Change, Context, Detail, Planned, Resource, Unplannable};
use crate::transport::Script;

crate::record! {
    /// The time zone of the host: `/etc/localtime`, and `/etc/timezone` where the host has that file.
    ///
    /// A service that runs keeps the zone that it started with until it is restarted.
    Timezone("a time zone") {
        /// Its name in the tz database, such as `Europe/Berlin`; `UTC` where logs of many sites are compared.
        req name: Sp<String>,
    }
}

kind! { "timezone", Timezone }

const LINK: &str = "/etc/localtime";
const NAME: &str = "/etc/timezone";
const ZONES: &str = "/usr/share/zoneinfo/";

/// Parts as tzselect(8) writes them: none may lead out of the database.
fn is_zone(name: &str) -> bool {
    name.split('/').all(|part| {
        part.starts_with(|c: char| c.is_ascii_alphanumeric())
            && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_+-".contains(&byte))
    })
}

pub(in crate::resources) fn read(node: &Node, _: &dyn Context, diagnostics: &mut Diagnostics) -> Built {
    let fields = Timezone::from_node(node, diagnostics)?;
    let name = &fields.name;
    if !is_zone(name) {
        diagnostics.push(
            Diagnostic::error(name.span, format!("`{}` is not the name of a time zone", **name))
                .help("a name such as `Europe/Berlin` or `UTC`; `timedatectl list-timezones` shows them"),
        );
        return None;
    }
    Some(Arc::new(fields))
}

impl Timezone {
    fn zone(&self) -> String {
        format!("{ZONES}{}", self.name)
    }

    fn file(&self) -> RegularFile {
        RegularFile::drop_in(NAME.to_owned(), format!("{}\n", self.name))
    }
}

impl Resource for Timezone {
    fn queries(&self) -> Vec<Query> {
        let mut queries = vec![PathQuery(self.zone()).into(), PathQuery(LINK.to_owned()).into()];
        queries.extend(self.file().queries());
        queries
    }

    fn plan(&self, facts: &Facts) -> Planned {
        let zone = self.zone();
        if known::path(facts, &zone)?.is_none() {
            return Err(Unplannable::Missing(
                Object::Path(zone),
                format!("the host has no time zone `{}`: its tz database is the package tzdata", self.name),
            ));
        }
        let before = match known::path(facts, LINK)? {
            None => None,
            Some(found) if found.kind == FileKind::Symlink => found.target.as_deref(),
            Some(found) => {
                return Err(Unplannable::Failed(format!(
                    "{LINK} is {}, not a symbolic link: take it away first",
                    found.kind.as_str()
                )));
            }
        };
        // timedatectl writes a relative link, the packages of Debian an absolute one.
        let before = before.map(|link| link.rsplit_once("zoneinfo/").map_or(link, |(_, name)| name));
        let mut changes = Vec::new();
        if before != Some(self.name.as_str()) {
            changes.push(Change::new(
                Object::Path(LINK.to_owned()),
                format!("~ time zone ({} -> {})", before.unwrap_or("none"), self.name),
                Detail::Attributes(vec![Attribute::new("name", before, Some(&self.name))]),
                Script::new(crate::shell!(
                    "shell/reach.sh",
                    "resources/shared/after.sh",
                    "resources/files/symlink/symlink.sh"
                ))
                .named("path", LINK)
                .named("target", zone),
            ));
        }
        if known::path(facts, NAME)?.is_some() {
            changes.extend(self.file().plan(facts)?);
        }
        Ok(changes)
    }

    fn touches(&self) -> Touches {
        Touches::Objects(BTreeSet::from([Object::Path(LINK.to_owned()), Object::Path(NAME.to_owned())]))
    }

    fn manages(&self) -> Vec<(Object, String)> {
        let mut manages = self.file().manages();
        manages.push((Object::Path(LINK.to_owned()), format!("the time zone {}", self.name)));
        manages
    }
}
