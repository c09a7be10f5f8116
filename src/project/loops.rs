//! The lists of a loop.

use std::sync::Arc;

use super::check::Checker;
use super::program::{Items, apart};
use super::world::Scope;
use crate::config::{Diagnostic, Diagnostics, FromNode as _, Node, Sources, Yaml, did_you_mean, locate};
use crate::playbook::file::{Action, LoopRecord, Task};
use crate::template::Shape;
use crate::template::paths::sole_expression;

/// Returns the shape of a loop's items.
pub(super) fn item_shape(node: &Node) -> Shape {
    match node.get("product").map(|product| &product.value) {
        Some(Yaml::Map(lists)) => {
            let names = lists.iter().map(|(name, _)| (name.value.clone(), Shape::Any));
            Shape::Map(Arc::new(names.collect()))
        }
        _ => Shape::Any,
    }
}

/// Reports a loop whose items the task does not use: it would do the same again and again. `template` is the
/// file that the task fills in, as far as it is known.
pub(super) fn unused(task: &Task, template: Option<&str>) -> Option<Diagnostic> {
    let Action::Resource { kind, body, .. } = &task.action else { return None };
    let list = task.record.looped.as_ref().filter(|_| !task.record.raw)?;
    // One that is no list is told of anyway.
    if list.as_str().is_some() {
        return None;
    }
    let waits = kind.rendered && body.get("src").is_some() && template.is_none();
    let (conditions, _) = apart(kind, body);
    let mut conditions =
        conditions.into_iter().chain(&task.record.when).map(|node| node.to_json().to_string());
    if waits || conditions.any(|text| text.contains("item")) {
        return None;
    }
    let vars = task.record.vars.0.iter().map(|(_, value)| value.to_json().to_string());
    let name = task.record.name.iter().map(|name| name.value.clone());
    let texts: Vec<String> =
        vars.chain(name).chain([body.to_json().to_string()]).chain(template.map(str::to_owned)).collect();
    let fills = |text: &String, open: &str, close: &str| {
        text.split(open)
            .skip(1)
            .any(|part| part.split(close).next().is_some_and(|inner| inner.contains("item")))
    };
    if texts.iter().any(|text| fills(text, "{{", "}}") || fills(text, "{%", "%}")) {
        return None;
    }
    let error = Diagnostic::error(list.span, "the task does not use the items of its loop");
    Some(error.help("an item is written `{{ item }}`"))
}

/// The lists of a task's loop.
pub(super) fn items(
    checker: &Checker<'_>,
    sources: &Sources,
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
    let Yaml::Map(keys) = &node.value else { return list(checker, sources, node, &outside, diagnostics) };
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
    for (name, node) in &product.value.0 {
        lists.push((name.value.clone(), list(checker, sources, node, &outside, diagnostics)?));
    }
    Some(Items::Product(lists))
}

/// One list of a loop, written out or an expression.
fn list(
    checker: &Checker<'_>,
    sources: &Sources,
    node: &Node,
    scope: &Scope,
    diagnostics: &mut Diagnostics,
) -> Option<Items> {
    let names = checker.names(scope);
    match &node.value {
        Yaml::List(_) => {
            checker.node(node, scope, &names, diagnostics);
            Some(Items::List(node.clone()))
        }
        Yaml::Str(text) => {
            let range = sole_expression(text).unwrap_or(0..text.len());
            let span = locate(sources, node.span, text, range.start, range.end);
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
