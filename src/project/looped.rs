//! The lists of a loop.

use std::sync::Arc;

use super::expand::Expander;
use super::program::Items;
use super::world::Scope;
use crate::config::{Diagnostic, Diagnostics, FromNode as _, Node, Yaml, did_you_mean, locate};
use crate::playbook::file::{LoopRecord, Task};
use crate::template::Shape;
use crate::template::paths::sole_expression;

/// What the items of a loop are.
pub(super) fn item_shape(node: &Node) -> Shape {
    match node.get("product").map(|product| &product.value) {
        Some(Yaml::Map(lists)) => {
            let names = lists.iter().map(|(name, _)| (name.value.clone(), Shape::Any));
            Shape::Map(Arc::new(names.collect()))
        }
        _ => Shape::Any,
    }
}

impl Expander<'_> {
    /// The lists of a task's loop.
    pub(super) fn items(
        &self,
        task: &Task,
        scope: &Arc<Scope>,
        diagnostics: &mut Diagnostics,
    ) -> Option<Items> {
        let node = task.record.looped.as_ref()?;
        // The list itself does not see its items.
        let outside = Scope {
            playbook: scope.playbook.clone(),
            with: Arc::clone(&scope.with),
            outer: scope.outer.clone(),
            vars: scope.vars.clone(),
            item: None,
        };
        let Yaml::Map(keys) = &node.value else { return self.list(node, &outside, diagnostics) };
        if keys.iter().all(|(key, _)| did_you_mean(&key.value, ["product"]).is_none()) {
            diagnostics.push(
                Diagnostic::error(node.span, "a loop goes over a list, and this is a map")
                    .help("write a list of maps: `[{ key: a, value: 1 }, ...]`, of which `{{ item }}` is one; `product: { NAME: LIST, ... }` combines lists"),
            );
            return None;
        }
        let product = LoopRecord::from_node(node, diagnostics)?.product;
        if product.value.0.is_empty() {
            diagnostics.push(
                Diagnostic::error(product.span, "a product needs lists")
                    .help("name them, as in `product: { user: [alice, bob], share: [/home, /scratch] }`"),
            );
        }
        let mut lists = Vec::new();
        for (name, list) in &product.value.0 {
            lists.push((name.value.clone(), self.list(list, &outside, diagnostics)?));
        }
        Some(Items::Product(lists))
    }

    /// One list of a loop, written out or an expression.
    fn list(&self, node: &Node, scope: &Scope, diagnostics: &mut Diagnostics) -> Option<Items> {
        let checker = self.checker();
        let names = checker.names(scope);
        match &node.value {
            Yaml::List(_) => {
                checker.node(node, scope, &names, diagnostics);
                Some(Items::List(node.clone()))
            }
            Yaml::Str(text) => {
                let range = sole_expression(text).unwrap_or(0..text.len());
                let span = locate(&self.sources, node.span, text, range.start, range.end);
                let inner = text.get(range).unwrap_or("").to_owned();
                let inner = Node { value: Yaml::Str(inner), span };
                let condition = checker.expression(&inner, scope, &names, false, diagnostics)?;
                Some(Items::Expression(Arc::new(condition), inner))
            }
            Yaml::Null | Yaml::Bool(_) | Yaml::Int(_) | Yaml::Float(_) | Yaml::Map(_) => {
                crate::config::read::wrong_type(node, "a list", diagnostics);
                None
            }
        }
    }
}
