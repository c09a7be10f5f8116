//! Values of expressions.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::collections::BTreeSet;

use serde_json::Value as Json;

use super::expression::{Expr, ExprKind, Op, Step, wrong};
use super::lookup::{Awaited, Lookup, Missing, Unresolved, Value};
use super::shape::{Segment, Shape};
use super::type_check::different_types;
use crate::config::TextError;

fn path<'a>(
    root: &str,
    steps: &[Step],
    expr: &Expr,
    lookup: &'a dyn Lookup,
) -> Result<Cow<'a, Json>, Result<TextError, BTreeSet<Awaited>>> {
    let mut keys = Vec::new();
    for step in steps {
        keys.push(match step {
            Step::Key(key) => Segment::Key(key.clone()),
            Step::Index(index) => Segment::Index(*index),
            Step::Dynamic(inner) => match value(inner, lookup).map(Cow::into_owned) {
                Ok(Json::String(key)) => Segment::Key(key),
                Ok(Json::Number(number)) => {
                    match number.as_u64().and_then(|number| usize::try_from(number).ok()) {
                        Some(index) => Segment::Index(index),
                        None => return Err(Ok(wrong(inner, format!("{number} is not the index of a list")))),
                    }
                }
                Ok(other) => {
                    let found = Shape::of(&other).name();
                    return Err(Ok(wrong(inner, format!("a key is a string or a number, this is {found}"))));
                }
                Err(Unresolved::Waiting(names)) => return Err(Err(names)),
                Err(Unresolved::Wrong(error)) => return Err(Ok(error)),
            },
        });
    }
    lookup.resolve(root, &keys).map_err(|missing| match missing {
        Missing::Undefined(error) => Ok(error.within(expr.start, expr.end)),
        Missing::Waiting(names) => Err(names),
        Missing::Failed(message) => Ok(wrong(expr, message)),
    })
}

fn boolean(expr: &Expr, lookup: &dyn Lookup) -> Result<bool, Unresolved> {
    let value = value(expr, lookup)?;
    value.as_bool().ok_or_else(|| {
        let found = Shape::of(&value).name();
        Unresolved::Wrong(wrong(expr, format!("expected true or false, this is {found}")))
    })
}

/// `and` (`decisive` is false) and `or` (`decisive` is true), from left to right; a side that
/// waits does not hide that another one decides.
fn junction(items: &[Expr], decisive: bool, lookup: &dyn Lookup) -> Result<bool, Unresolved> {
    let mut waiting = BTreeSet::new();
    for item in items {
        match boolean(item, lookup) {
            Ok(value) if value == decisive => return Ok(decisive),
            Err(Unresolved::Waiting(names)) => waiting.extend(names),
            Err(error) if waiting.is_empty() => return Err(error),
            // An error may be what something that waits guards against.
            Ok(_) | Err(Unresolved::Wrong(_)) => {}
        }
    }
    if waiting.is_empty() { Ok(!decisive) } else { Err(Unresolved::Waiting(waiting)) }
}

pub(super) fn value<'a>(expr: &'a Expr, lookup: &'a dyn Lookup) -> Value<'a> {
    let known = |value: Json| Ok(Cow::Owned(value));
    match &expr.kind {
        ExprKind::Literal(value) => Ok(Cow::Borrowed(value)),
        ExprKind::List(items) => {
            let items = items.iter().map(|item| value(item, lookup).map(Cow::into_owned));
            known(Json::Array(items.collect::<Result<_, _>>()?))
        }
        ExprKind::Path(root, steps) => path(root, steps, expr, lookup).map_err(|error| match error {
            Ok(error) => Unresolved::Wrong(error),
            Err(names) => Unresolved::Waiting(names),
        }),
        ExprKind::Not(inner) => known(Json::Bool(!boolean(inner, lookup)?)),
        ExprKind::And(items) => known(Json::Bool(junction(items, false, lookup)?)),
        ExprKind::Or(items) => known(Json::Bool(junction(items, true, lookup)?)),
        ExprKind::Compare(op, a, b) => {
            let (left, right) = (value(a, lookup)?, value(b, lookup)?);
            known(Json::Bool(compare(expr, *op, &left, &right).map_err(Unresolved::Wrong)?))
        }
        ExprKind::In(a, b, negated) => {
            let (item, list) = (value(a, lookup)?, value(b, lookup)?);
            known(Json::Bool(contains(expr, &item, &list).map_err(Unresolved::Wrong)? != *negated))
        }
        ExprKind::Defined(inner, negated) => {
            let ExprKind::Path(root, steps) = &inner.kind else { return known(Json::Bool(!negated)) };
            match path(root, steps, inner, lookup) {
                Ok(_) => known(Json::Bool(!negated)),
                Err(Ok(_)) => known(Json::Bool(*negated)),
                Err(Err(names)) => Err(Unresolved::Waiting(names)),
            }
        }
        ExprKind::IsNone(inner, negated) => known(Json::Bool(value(inner, lookup)?.is_null() != *negated)),
        ExprKind::Length(inner) => match value(inner, lookup)?.as_ref() {
            Json::String(text) => known(Json::from(text.chars().count())),
            Json::Array(items) => known(Json::from(items.len())),
            Json::Object(map) => known(Json::from(map.len())),
            other @ (Json::Null | Json::Bool(_) | Json::Number(_)) => {
                Err(Unresolved::Wrong(wrong(inner, format!("{} has no length", Shape::of(other).name()))))
            }
        },
    }
}

/// Equality by value: 1 and 1.0 are one number.
fn equal(left: &Json, right: &Json) -> bool {
    match (left, right) {
        (Json::Number(a), Json::Number(b)) => order_numbers(a, b) == Some(Ordering::Equal),
        (Json::Array(a), Json::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| equal(a, b)),
        (Json::Object(a), Json::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(key, a)| b.get(key).is_some_and(|b| equal(a, b)))
        }
        (a, b) => a == b,
    }
}

fn order_numbers(a: &serde_json::Number, b: &serde_json::Number) -> Option<Ordering> {
    match (a.as_i64(), b.as_i64()) {
        (Some(a), Some(b)) => Some(a.cmp(&b)),
        _ => a.as_f64()?.partial_cmp(&b.as_f64()?),
    }
}

/// Texts that are ordered are versions: runs of digits count as numbers, so 9 comes before 22.04.
fn order_texts(a: &str, b: &str) -> Ordering {
    let (mut a, mut b) = (a, b);
    loop {
        let digits = |text: &str| text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
        let (of_a, of_b) = (digits(a), digits(b));
        let order = if of_a > 0 && of_b > 0 {
            let number = |text: &str, end: usize| -> String {
                text.get(..end).unwrap_or_default().trim_start_matches('0').to_owned()
            };
            let (x, y) = (number(a, of_a), number(b, of_b));
            (a, b) = (a.get(of_a..).unwrap_or_default(), b.get(of_b..).unwrap_or_default());
            x.len().cmp(&y.len()).then_with(|| x.cmp(&y))
        } else {
            let (mut of_a, mut of_b) = (a.chars(), b.chars());
            let order = of_a.next().cmp(&of_b.next());
            (a, b) = (of_a.as_str(), of_b.as_str());
            order
        };
        if order.is_ne() || a.is_empty() && b.is_empty() {
            return order;
        }
    }
}

fn compare(expr: &Expr, op: Op, left: &Json, right: &Json) -> Result<bool, TextError> {
    let (left_shape, right_shape) = (Shape::of(left), Shape::of(right));
    if !left_shape.comparable(&right_shape) {
        return Err(different_types(expr, op.as_str(), &left_shape, &right_shape, None));
    }
    match op {
        Op::Equal => return Ok(equal(left, right)),
        Op::NotEqual => return Ok(!equal(left, right)),
        Op::Less | Op::LessEqual | Op::Greater | Op::GreaterEqual => {}
    }
    let ordering = match (left, right) {
        (Json::Number(a), Json::Number(b)) => order_numbers(a, b),
        (Json::String(a), Json::String(b)) => Some(order_texts(a, b)),
        _ => None,
    };
    let Some(ordering) = ordering else {
        let odd = if matches!(left_shape, Shape::Number | Shape::Text) { right_shape } else { left_shape };
        return Err(wrong(expr, format!("`{}` cannot order {}", op.as_str(), odd.name())));
    };
    Ok(match op {
        Op::Less => ordering.is_lt(),
        Op::LessEqual => ordering.is_le(),
        Op::Greater => ordering.is_gt(),
        Op::GreaterEqual => ordering.is_ge(),
        Op::Equal | Op::NotEqual => false,
    })
}

fn contains(expr: &Expr, item: &Json, list: &Json) -> Result<bool, TextError> {
    let shape = Shape::of(item);
    let part = item.as_str();
    let not_text = || different_types(expr, "in", &shape, &Shape::Text, None);
    match list {
        Json::Array(items) => {
            let mut found = false;
            for element in items {
                // Nearly all lists: those of names, as long as there are hosts.
                if let (Some(part), Json::String(element)) = (part, element) {
                    found |= element == part;
                    continue;
                }
                let other = Shape::of(element);
                if !other.comparable(&shape) {
                    return Err(different_types(expr, "in", &shape, &other, None));
                }
                found |= equal(element, item);
            }
            Ok(found)
        }
        Json::String(text) => part.map(|part| text.contains(part)).ok_or_else(not_text),
        Json::Object(map) => part.map(|key| map.contains_key(key)).ok_or_else(not_text),
        Json::Null | Json::Bool(_) | Json::Number(_) => {
            Err(wrong(expr, format!("`in` cannot search {}", Shape::of(list).name())))
        }
    }
}
