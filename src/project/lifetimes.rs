//! Releases that inventories and playbooks name and that have ended.

use jiff::civil::Date;

use super::world::World;
use crate::config::{Code, Diagnostic, Diagnostics, Entries, Node, Span, Yaml};
use crate::inventory::Inventory;
use crate::playbook::file::{Action, Param, Task};
use crate::playbook::library::origin;
use crate::playbook::versions::{End, VERSIONS};
use crate::playbook::{Library, Origin, Playbook};
use crate::template::paths::is_template;

/// Fields of resources that are releases of a product.
const FIELDS: &[(&str, &str, &str)] =
    &[("nvidia_driver", "branch", "driver"), ("nvidia_driver", "version", "driver")];

/// Keys below `expect:` that are.
const EXPECTED: &[(&str, &str, &str)] =
    &[("driver", "version", "driver"), ("software", "openmpi", "openmpi")];

/// Looks for what has ended on a day.
pub(super) struct Look<'a> {
    pub(super) on: Date,
    pub(super) library: &'a Library,
    pub(super) world: &'a World,
    /// Directory of the inventory's file as the user named it.
    pub(super) base: &'a camino::Utf8Path,
}

impl Look<'_> {
    /// Warns of all that the inventory, the command line and playbooks of the user name. `written` is the inventory's
    /// file.
    pub(super) fn at_all(
        &self,
        inventory: &Inventory,
        written: Option<&Node>,
        diagnostics: &mut Diagnostics,
    ) {
        for entry in &inventory.uses {
            let origin = origin(&entry.entry.playbook.value, None, self.base);
            self.with(&origin, &entry.entry.with, diagnostics);
        }
        let params = || self.library.iter().flat_map(|playbook| &playbook.params);
        for (name, (_, param)) in params() {
            for (node, _) in inventory.set_vars.get(name).into_iter().flatten() {
                self.value(param, node, diagnostics);
            }
            if let Some((text, _)) = self.world.set.get(name)
                && let Some(product) = &param.product
            {
                diagnostics.extend(ended(self.on, product, text, Span::NONE, &format!("`--set {name}`: ")));
            }
        }
        for playbook in self.library.iter() {
            if matches!(playbook.origin, Origin::Disk(_)) {
                for (_, param) in playbook.params.values() {
                    if let Some(default) = &param.default {
                        self.value(param, default, diagnostics);
                    }
                }
            }
            self.tasks(&playbook.tasks, playbook, diagnostics);
        }
        if let Some(written) = written {
            self.expected(written, diagnostics);
        }
    }

    fn with(&self, origin: &Origin, with: &Entries<Node>, diagnostics: &mut Diagnostics) {
        let Some(playbook) = self.library.iter().find(|playbook| playbook.origin == *origin) else { return };
        for (name, node) in &with.0 {
            if let Some((_, param)) = playbook.params.get(&name.value) {
                self.value(param, node, diagnostics);
            }
        }
    }

    fn value(&self, param: &Param, node: &Node, diagnostics: &mut Diagnostics) {
        if let Some(product) = &param.product {
            self.node(product, node, diagnostics);
        }
    }

    fn node(&self, product: &str, node: &Node, diagnostics: &mut Diagnostics) {
        if let Some(text) = node.as_str().filter(|text| !is_template(text)) {
            diagnostics.extend(ended(self.on, product, text, node.span, ""));
        }
    }

    fn tasks(&self, tasks: &[Task], playbook: &Playbook, diagnostics: &mut Diagnostics) {
        for task in tasks {
            match &task.action {
                Action::Include(name) => {
                    if let Some(with) = &task.record.with {
                        self.with(&origin(&name.value, Some(&playbook.origin), self.base), with, diagnostics);
                    }
                }
                Action::Block(block) => {
                    self.tasks(&block.tasks, playbook, diagnostics);
                    self.tasks(&block.always, playbook, diagnostics);
                }
                Action::Resource { kind, body, .. } => {
                    for (_, field, product) in FIELDS.iter().filter(|(name, _, _)| *name == kind.name) {
                        if let Some(node) = body.get(field) {
                            self.node(product, node, diagnostics);
                        }
                    }
                }
                Action::Broken => {}
            }
        }
    }

    /// Looks at each `expect:` of a file, wherever it stands.
    fn expected(&self, node: &Node, diagnostics: &mut Diagnostics) {
        let Yaml::Map(entries) = &node.value else { return };
        for (key, value) in entries {
            if key.value == "expect" {
                for (part, field, product) in EXPECTED {
                    if let Some(node) = value.get(part).and_then(|part| part.get(field)) {
                        self.node(product, node, diagnostics);
                    }
                }
            } else {
                self.expected(value, diagnostics);
            }
        }
    }
}

/// The warning about a version whose release has ended.
fn ended(on: Date, product: &str, version: &str, span: Span, place: &str) -> Option<Diagnostic> {
    let life = VERSIONS.lifetime(product, version).filter(|life| life.is_over(on))?;
    let when = match life.ends {
        End::On(day) => format!("ended on {day}"),
        End::Over | End::Unknown => "has ended".to_owned(),
    };
    let code = Code::Ended { product: life.product.clone(), release: life.release.clone() };
    let message = format!("{place}{product} {} {when}", life.release);
    let next = life.follows.as_ref().map(|next| format!("{next} follows"));
    let warning = Diagnostic { code, ..Diagnostic::warning(span, message) };
    Some(warning.note(format!("source: {}", life.source)).maybe_help(next))
}
