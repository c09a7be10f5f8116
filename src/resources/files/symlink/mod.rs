//! `symlink`: a symbolic link.

use std::sync::Arc;

use crate::config::{Diagnostics, FromNode as _, Node, Sp};
use crate::facts::file::{FileKind, PathQuery};
use crate::facts::{Facts, Object, Query, Touches};
use crate::resources::shared::content::{interrupts, removal};
use crate::resources::shared::known;
use crate::resources::shared::value::{HostPath, Presence};
use crate::resources::{Attribute, Built, Change, Context, Detail, Planned, Resource, Unplannable};
use crate::transport::Script;

crate::record! {
    /// A symbolic link. If a file or directory has its path, the task fails.
    Symlink("a symbolic link") {
        /// Its path on the host.
        req path: HostPath,
        /// Path that the link points to. A relative target is written as given.
        req target: Sp<String>,
        /// Whether it must exist (`present`) or must not (`absent`).
        def state: Presence = Presence::Present,
    }
}

kind! { "symlink", Symlink }

pub(in crate::resources) fn read(node: &Node, _: &dyn Context, diagnostics: &mut Diagnostics) -> Built {
    let fields = Symlink::from_node(node, diagnostics)?;
    let target = &fields.target;
    if target.is_empty() || target.contains(['\n', '\0']) {
        diagnostics.error(target.span, "this cannot be the target of a symbolic link");
        return None;
    }
    Some(Arc::new(fields))
}

impl Resource for Symlink {
    fn queries(&self) -> Vec<Query> {
        vec![PathQuery(self.path.0.clone()).into(), PathQuery(self.path.parent().to_owned()).into()]
    }

    fn plan(&self, facts: &Facts) -> Planned {
        let path = self.path.as_str();
        let found = known::path(facts, path)?;
        let before = match found {
            None if self.state == Presence::Absent => return Ok(Vec::new()),
            None => {
                known::parent(facts, self.path.parent())?;
                None
            }
            Some(found) if found.kind == FileKind::Symlink => found.target.as_deref(),
            Some(found) => {
                return Err(Unplannable::Failed(format!(
                    "{path} is {}, not a symbolic link: move it away first",
                    found.kind.as_str()
                )));
            }
        };
        if self.state == Presence::Absent {
            return Ok(vec![removal(path, None)]);
        }
        if before == Some(self.target.as_str()) {
            return Ok(Vec::new());
        }
        let summary = match before {
            None => format!("+ {path} -> {}", self.target),
            Some(before) => format!("~ {path} (target {before} -> {})", self.target),
        };
        Ok(vec![
            Change::new(
                Object::Path(path.to_owned()),
                summary,
                Detail::Attributes(vec![Attribute::new("target", before, Some(&self.target))]),
                Script::new(crate::shell!(
                    "shell/reach.sh",
                    "resources/shared/after.sh",
                    "resources/files/symlink/symlink.sh"
                ))
                .named("path", path)
                .named("target", self.target.as_str()),
            )
            .disrupting(interrupts(path)),
        ])
    }

    fn touches(&self) -> Touches {
        Touches::one(Object::Path(self.path.0.clone()))
    }

    fn brief(&self) -> bool {
        true
    }

    fn manages(&self) -> Vec<(Object, String)> {
        let want = match self.state {
            Presence::Present => format!("a symbolic link to {}", self.target),
            Presence::Absent => "absent".to_owned(),
        };
        vec![(Object::Path(self.path.0.clone()), want)]
    }
}
