//! Types of expressions, checked before any value is known.

use std::sync::Arc;

use serde_json::Value as Json;

use super::expression::{Expr, ExprKind, Op, Step, segments, wrong};
use super::shape::{Names, Shape};
use crate::config::{Code, TextError};

/// The error of two values that cannot be compared.
pub(super) fn different_types(
    expr: &Expr,
    op: &str,
    left: &Shape,
    right: &Shape,
    literal: Option<String>,
) -> TextError {
    let error = wrong(expr, format!("`{op}` compares {} with {}", left.name(), right.name()));
    match literal {
        Some(fix) => error.help(fix),
        None => error,
    }
}

/// For `8 == "8"`: the literal without its quotes, or with them.
fn literal_fix(left: &Expr, right: &Expr, left_shape: &Shape, right_shape: &Shape) -> Option<String> {
    let sides = [(left, right_shape), (right, left_shape)];
    let fix = |of_text: bool| {
        sides.iter().find_map(|(expr, other)| {
            let ExprKind::Literal(literal) = &expr.kind else { return None };
            fitting(literal, other).filter(|_| literal.is_string() == of_text)
        })
    };
    fix(true).or_else(|| fix(false))
}

/// Advises how to write a literal so that it can be compared with a value of this type.
pub(super) fn fitting(literal: &Json, other: &Shape) -> Option<String> {
    match (literal, other) {
        (Json::String(text), Shape::Number) if text.parse::<f64>().is_ok() => {
            Some(format!("write `{text}` without quotes"))
        }
        (Json::String(text), Shape::Bool) if matches!(text.as_str(), "true" | "false") => {
            Some(format!("write `{text}` without quotes"))
        }
        (Json::Number(number), Shape::Text) => Some(format!("write `\"{number}\"`")),
        _ => None,
    }
}

/// A literal that is none of the words that a value can be: the condition would lie.
fn never(literal: &Expr, other: &Shape, errors: &mut Vec<TextError>) {
    if let ExprKind::Literal(Json::String(text)) = &literal.kind {
        errors.extend(is_never(text, other, literal.start, literal.end));
    }
}

/// Reports a text that a value is compared with and never equals: the value is one of a few words, and the
/// text is none of them.
pub(super) fn is_never(text: &str, other: &Shape, start: usize, end: usize) -> Option<TextError> {
    let (Shape::Word(words) | Shape::Spelled(words)) = other else { return None };
    if words.contains(&text) {
        return None;
    }
    let near = words.iter().find(|word| word.eq_ignore_ascii_case(text));
    let help = match near {
        Some(word) => format!("write `\"{word}\"`"),
        None if matches!(other, Shape::Spelled(_)) => return None,
        None => one_of(words),
    };
    Some(TextError::new(start, end, format!("it is never `{text}`")).help(help))
}

fn one_of(words: &[&str]) -> String {
    let shown: Vec<&str> = words.iter().map(|word| if word.is_empty() { "\"\"" } else { word }).collect();
    format!("it is one of {}", shown.join(", "))
}

/// Reports a text that is looked for in a value and never found there: the value is one of a few words, and
/// none of them has the text.
pub(super) fn is_never_in(text: &str, other: &Shape, start: usize, end: usize) -> Option<TextError> {
    let Shape::Word(words) = other else { return None };
    let none = !words.iter().any(|word| word.contains(text));
    none.then(|| TextError::new(start, end, format!("`{text}` is never in it")).help(one_of(words)))
}

/// `facts.os.family == debian`: a name that nobody knows, beside a text.
fn unquoted(expr: &Expr, other: &Shape, errors: &mut [TextError]) {
    let ExprKind::Path(root, steps) = &expr.kind else { return };
    let of_this = |error: &&mut TextError| error.start == expr.start && error.end == expr.end;
    if steps.is_empty()
        && other.is_text()
        && let Some(error) = errors.iter_mut().find(of_this)
        && matches!(error.code, Code::Undefined { advised: false, .. })
    {
        error.help = Some(format!("a text stands in quotes: `\"{root}\"`"));
    }
}

pub(super) fn shape_of(expr: &Expr, names: &Names, errors: &mut Vec<TextError>) -> Shape {
    match &expr.kind {
        ExprKind::Literal(value) => {
            if value.as_str().is_some_and(|text| text.contains("{{")) {
                let told = wrong(expr, "a condition reads no template: this text stays as it is".to_owned());
                errors.push(
                    told.help("write the name itself, without braces and quotes, as in `host.name == login`"),
                );
            }
            Shape::of(value)
        }
        ExprKind::List(items) => {
            let shapes: Vec<Shape> = items.iter().map(|item| shape_of(item, names, errors)).collect();
            Shape::List(Arc::new(shapes.into_iter().reduce(Shape::merge).unwrap_or(Shape::Any)))
        }
        ExprKind::Path(root, steps) => {
            for step in steps {
                if let Step::Dynamic(inner) = step {
                    shape_of(inner, names, errors);
                }
            }
            match names.check(root, &segments(steps)) {
                Ok(shape) => shape,
                Err(error) => {
                    errors.push(error.within(expr.start, expr.end));
                    Shape::Any
                }
            }
        }
        ExprKind::Not(inner) => {
            needs_boolean(inner, names, errors);
            Shape::Bool
        }
        ExprKind::And(items) | ExprKind::Or(items) => {
            for item in items {
                needs_boolean(item, names, errors);
            }
            Shape::Bool
        }
        ExprKind::Compare(op, a, b) => {
            let (left, right) = (shape_of(a, names, errors), shape_of(b, names, errors));
            let ordered = |shape: &Shape| shape.is_text() || matches!(shape, Shape::Number | Shape::Any);
            never(a, &right, errors);
            never(b, &left, errors);
            unquoted(a, &right, errors);
            unquoted(b, &left, errors);
            if !left.comparable(&right) {
                errors.push(different_types(
                    expr,
                    op.as_str(),
                    &left,
                    &right,
                    literal_fix(a, b, &left, &right),
                ));
            } else if !(matches!(op, Op::Equal | Op::NotEqual) || ordered(&left) && ordered(&right)) {
                let odd = if ordered(&left) { &right } else { &left };
                errors.push(wrong(expr, format!("`{}` cannot order {}", op.as_str(), odd.name())));
            }
            Shape::Bool
        }
        ExprKind::In(a, b, _) => {
            let (item, list) = (shape_of(a, names, errors), shape_of(b, names, errors));
            match &list {
                Shape::List(element) if element.comparable(&item) => {
                    never(a, element, errors);
                    if let ExprKind::List(items) = &b.kind {
                        for literal in items {
                            never(literal, &item, errors);
                        }
                    }
                }
                Shape::List(element) => {
                    errors.push(different_types(expr, "in", &item, element, None));
                }
                Shape::Word(_) if let ExprKind::Literal(Json::String(text)) = &a.kind => {
                    errors.extend(is_never_in(text, &list, a.start, a.end));
                }
                Shape::Text | Shape::Word(_) | Shape::Spelled(_) | Shape::Map(_) | Shape::Dict(_)
                    if !item.comparable(&Shape::Text) =>
                {
                    errors.push(different_types(expr, "in", &item, &Shape::Text, None));
                }
                Shape::Bool | Shape::Number | Shape::Null => {
                    errors.push(wrong(b, format!("`in` cannot search {}", list.name())));
                }
                Shape::Any
                | Shape::Text
                | Shape::Word(_)
                | Shape::Spelled(_)
                | Shape::Map(_)
                | Shape::Dict(_) => {}
            }
            Shape::Bool
        }
        ExprKind::Defined(inner, _) | ExprKind::IsNone(inner, _) => {
            shape_of(inner, names, errors);
            Shape::Bool
        }
        ExprKind::Length(inner) => {
            let shape = shape_of(inner, names, errors);
            if matches!(shape, Shape::Bool | Shape::Number | Shape::Null) {
                errors.push(wrong(inner, format!("{} has no length", shape.name())));
            }
            Shape::Number
        }
    }
}

/// Advises how to ask for a value that is neither true nor false.
pub(super) fn to_ask(shape: &Shape) -> &'static str {
    match shape {
        Shape::List(_) | Shape::Map(_) | Shape::Dict(_) => "ask how many there are, as in `x | length > 0`",
        Shape::Text | Shape::Word(_) | Shape::Spelled(_) => {
            "compare it, as in `x == \"text\"` or `x != \"\"`"
        }
        Shape::Number | Shape::Bool | Shape::Null | Shape::Any => "compare it, as in `x == 1`",
    }
}

fn needs_boolean(expr: &Expr, names: &Names, errors: &mut Vec<TextError>) {
    let shape = shape_of(expr, names, errors);
    if !matches!(shape, Shape::Bool | Shape::Any | Shape::Null) {
        errors.push(
            wrong(expr, format!("expected true or false, this is {}", shape.name())).help(to_ask(&shape)),
        );
    }
}
