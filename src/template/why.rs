//! Reasons why a condition does not hold: the values that it compared.

use serde_json::Value as Json;

use super::condition::Condition;
use super::evaluate::value;
use super::expression::{Expr, ExprKind};
use crate::config::TextError;
use crate::template::{Lookup, Unresolved};

/// Longer values are cut here.
const SHOWN: usize = 80;

/// A condition that does not hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refuted {
    /// As it is written.
    pub condition: String,
    /// Values that decided it, with their names, each once, in the order of the text.
    pub values: Vec<(String, String)>,
}

impl std::fmt::Display for Refuted {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "`{}` is false", self.condition)?;
        for (place, (name, value)) in self.values.iter().enumerate() {
            write!(f, "{} `{name}` is {value}", if place == 0 { ":" } else { "," })?;
        }
        Ok(())
    }
}

/// Whether a condition holds; if not, what decided that.
///
/// # Errors
/// When it waits or is wrong, or is no condition at all.
pub fn refuted(text: &str, lookup: &dyn Lookup) -> Result<Option<Refuted>, Unresolved> {
    let condition = Condition::parse(text).map_err(|error: TextError| Unresolved::Wrong(error))?;
    if condition.holds(lookup)? {
        return Ok(None);
    }
    let mut values = Vec::new();
    collect(&condition.expr, text, lookup, &mut values);
    Ok(Some(Refuted { condition: text.trim().to_owned(), values }))
}

/// Takes the names below an expression. Of an `and` only what is false decided.
fn collect(expr: &Expr, text: &str, lookup: &dyn Lookup, values: &mut Vec<(String, String)>) {
    match &expr.kind {
        ExprKind::Literal(_) => {}
        ExprKind::And(items) => {
            let holds = |item: &&Expr| value(item, lookup).is_ok_and(|value| *value == Json::Bool(true));
            for item in items.iter().filter(|item| !holds(item)) {
                collect(item, text, lookup, values);
            }
        }
        ExprKind::List(items) | ExprKind::Or(items) => {
            for item in items {
                collect(item, text, lookup, values);
            }
        }
        ExprKind::Path(..) | ExprKind::Length(_) => {
            let name = text.get(expr.start..expr.end).unwrap_or_default().to_owned();
            let shown = match value(expr, lookup) {
                Ok(value) => cut(&value.to_string()),
                Err(_) => "not defined".to_owned(),
            };
            if !values.iter().any(|(known, _)| *known == name) {
                values.push((name, shown));
            }
        }
        ExprKind::Not(inner) | ExprKind::Defined(inner, _) | ExprKind::IsNone(inner, _) => {
            collect(inner, text, lookup, values);
        }
        ExprKind::Compare(_, a, b) | ExprKind::In(a, b, _) => {
            collect(a, text, lookup, values);
            collect(b, text, lookup, values);
        }
    }
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}...", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use serde_json::json;

    use super::*;
    use crate::template::{Awaited, Missing, Segment, lookup::descend};

    struct Values(Json);

    impl Lookup for Values {
        fn resolve(&self, root: &str, path: &[Segment]) -> Result<Cow<'_, Json>, Missing> {
            match self.0.get(root) {
                Some(value) => descend(root, value, path),
                None => Err(Missing::Waiting([Awaited::Fact(root.to_owned())].into())),
            }
        }
    }

    #[test]
    fn the_values_that_decided_are_told() {
        let values = Values(json!({
            "facts": { "gpus": [1, 2], "os": { "id": "debian" }, "cores": 8 },
            "limit": 16,
            "long": "x".repeat(200),
        }));
        let told = |text: &str| refuted(text, &values).unwrap().map(|refuted| refuted.to_string());
        for (text, wanted) in [
            ("facts.cores == 8", None),
            (
                "facts.cores >= limit",
                Some("`facts.cores >= limit` is false: `facts.cores` is 8, `limit` is 16"),
            ),
            (
                "facts.gpus | length == 8",
                Some("`facts.gpus | length == 8` is false: `facts.gpus | length` is 2"),
            ),
            // What holds did not decide.
            (
                "facts.cores == 8 and facts.os.id == \"ubuntu\"",
                Some(
                    "`facts.cores == 8 and facts.os.id == \"ubuntu\"` is false: `facts.os.id` is \"debian\"",
                ),
            ),
            (
                "facts.cores == 1 or facts.cores == 2",
                Some("`facts.cores == 1 or facts.cores == 2` is false: `facts.cores` is 8"),
            ),
            ("facts.rack is defined", Some("`facts.rack is defined` is false: `facts.rack` is not defined")),
            (" 4 > 8 ", Some("`4 > 8` is false")),
        ] {
            assert_eq!(told(text).as_deref(), wanted, "{text}");
        }
        let long = told("long == \"y\"").unwrap();
        assert!(long.ends_with("xxx...") && long.len() < 130, "{long}");
        assert!(matches!(refuted("absent == 1", &values), Err(Unresolved::Waiting(_))));
        assert!(matches!(refuted("facts.cores == \"8\"", &values), Err(Unresolved::Wrong(_))));
    }
}
