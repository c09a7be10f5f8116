//! `assert`: conditions that must hold before the host goes on.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::config::{Diagnostic, Diagnostics, FromNode as _, Node};
use crate::facts::{Facts, Object, Query, Touches};
use crate::inventory::file::Words;
use crate::resources::{Built, Context, Planned, Resource, Unplannable};
use crate::template::Unresolved;

crate::record! {
    /// Conditions that must hold; else the task fails and its host stops there.
    ///
    /// It changes nothing. `plan` and `verify` evaluate it as well, as soon as what it reads is known:
    /// one that fails is shown with the values that decided it.
    AssertFields("an assertion") {
        /// A condition, or a list of them that must all hold: `provision explain conditions`. They are no
        /// templates: write names without braces.
        req that: Words,
        /// Text for a failure: what it means and what to do about it.
        opt message: String,
    }
}

kind! { "assert", AssertFields, conditions: &["that"] }

#[derive(Debug)]
struct Assert {
    /// Reason of the failure; `None` when all conditions hold.
    failure: Option<String>,
}

pub(in crate::resources) fn read(node: &Node, context: &dyn Context, diagnostics: &mut Diagnostics) -> Built {
    let fields = AssertFields::from_node(node, diagnostics)?;
    if fields.that.0.is_empty() {
        diagnostics.error(node.span, "`that` has no condition");
        return None;
    }
    let (mut reasons, mut waiting, mut good) = (Vec::new(), BTreeSet::new(), true);
    for condition in &fields.that.0 {
        match context.refuted(condition) {
            Ok(refuted) => reasons.extend(refuted.map(|refuted| refuted.to_string())),
            Err(Unresolved::Waiting(names)) => waiting.extend(names),
            Err(Unresolved::Wrong(error)) => {
                good = false;
                diagnostics.push(Diagnostic::at(condition.span, error));
            }
        }
    }
    // One that is false decides, whatever the others say.
    if reasons.is_empty() && !waiting.is_empty() {
        context.wait(waiting);
        return None;
    }
    if !good {
        return None;
    }
    let reasons = reasons.join("; ");
    let failure = match fields.message {
        _ if reasons.is_empty() => None,
        Some(message) => Some(format!("{message} ({reasons})")),
        None => Some(reasons),
    };
    Some(Arc::new(Assert { failure }))
}

impl Resource for Assert {
    fn queries(&self) -> Vec<Query> {
        Vec::new()
    }

    fn plan(&self, _: &Facts) -> Planned {
        self.failure.clone().map_or(Ok(Vec::new()), |failure| Err(Unplannable::Failed(failure)))
    }

    fn touches(&self) -> Touches {
        Touches::Objects(BTreeSet::new())
    }

    fn manages(&self) -> Vec<(Object, String)> {
        Vec::new()
    }
}
