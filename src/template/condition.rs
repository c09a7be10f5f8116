//! Conditions and loops: strict, typed, and never silently false.
//!
//! Every undefined path is an error that names it; comparing two types is an error. What is not
//! known yet (facts before they are gathered) is *waiting*, which `and` and `or` respect.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::Value as Json;

use super::expression::{self, Expr, ExprKind, Op, Step};
use super::paths::PathUse;
use super::shape::{Names, PathError, Segment, Shape};
use crate::config::TextError;

/// Reason why a path has no value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Missing {
    /// There is no such path.
    Undefined(PathError),
    /// It waits for answers: names of facts, `register NAME` or `hosts`.
    Waiting(BTreeSet<String>),
    /// A value on the way to it is wrong.
    Failed(String),
}

/// Source of the values of an expression.
pub trait Lookup {
    /// The value at a path without unknown steps; not copied where it stands somewhere, which
    /// for a list of all hosts counts.
    ///
    /// # Errors
    /// When there is none.
    fn resolve(&self, root: &str, path: &[Segment]) -> Result<Cow<'_, Json>, Missing>;
}

/// Reason why an expression has no value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unresolved {
    /// It waits for answers.
    Waiting(BTreeSet<String>),
    /// It is wrong.
    Wrong(TextError),
}

type Value<'a> = Result<Cow<'a, Json>, Unresolved>;

/// A parsed expression.
#[derive(Debug, Clone, PartialEq)]
pub struct Condition {
    pub(super) expr: Expr,
}

impl Condition {
    /// Reads an expression.
    ///
    /// # Errors
    /// Where the text is not one.
    pub fn parse(text: &str) -> Result<Self, TextError> {
        expression::parse(text).map(|expr| Self { expr })
    }

    /// Every path that it reads, with its place.
    pub fn paths(&self) -> Vec<PathUse> {
        let mut paths = Vec::new();
        collect(&self.expr, &mut paths);
        paths
    }

    /// Texts that are looked for in `root.key`, each with its place.
    pub fn looked_for(&self, root: &str, key: &str) -> Vec<(&str, usize, usize)> {
        let mut found = Vec::new();
        looked_for(&self.expr, (root, key), &mut found);
        found
    }

    /// Whether it is nothing but a path or a literal.
    pub fn is_plain(&self) -> bool {
        matches!(self.expr.kind, ExprKind::Path(..) | ExprKind::Literal(_))
    }

    /// The type of its value.
    ///
    /// # Errors
    /// Everything that is wrong with names and types.
    pub fn check(&self, names: &Names) -> Result<Shape, Vec<TextError>> {
        let mut errors = Vec::new();
        let shape = shape_of(&self.expr, names, &mut errors);
        if errors.is_empty() { Ok(shape) } else { Err(errors) }
    }

    /// Checks it as a condition, whose value is true or false.
    ///
    /// # Errors
    /// Everything that is wrong with names and types.
    pub fn check_boolean(&self, names: &Names) -> Result<(), Vec<TextError>> {
        let shape = self.check(names)?;
        if matches!(shape, Shape::Bool | Shape::Any | Shape::Null) {
            return Ok(());
        }
        Err(vec![self.not_boolean(&shape)])
    }

    fn not_boolean(&self, found: &Shape) -> TextError {
        TextError::new(
            self.expr.start,
            self.expr.end,
            format!("a condition is true or false, this is {}", found.name()),
        )
        .help(to_ask(found))
    }

    /// Its value.
    ///
    /// # Errors
    /// When it waits or is wrong.
    pub fn value<'a>(&'a self, lookup: &'a dyn Lookup) -> Result<Cow<'a, Json>, Unresolved> {
        value(&self.expr, lookup)
    }

    /// Its value as a condition.
    ///
    /// # Errors
    /// When it waits or is wrong, or is neither true nor false.
    pub fn holds(&self, lookup: &dyn Lookup) -> Result<bool, Unresolved> {
        let value = self.value(lookup)?;
        value.as_bool().ok_or_else(|| Unresolved::Wrong(self.not_boolean(&Shape::of(&value))))
    }
}

fn collect(expr: &Expr, paths: &mut Vec<PathUse>) {
    match &expr.kind {
        ExprKind::Literal(_) => {}
        ExprKind::List(items) | ExprKind::And(items) | ExprKind::Or(items) => {
            for item in items {
                collect(item, paths);
            }
        }
        ExprKind::Path(root, steps) => {
            paths.push(PathUse {
                root: root.clone(),
                segments: segments(steps),
                start: expr.start,
                end: expr.end,
                bare: false,
            });
            for step in steps {
                if let Step::Dynamic(inner) = step {
                    collect(inner, paths);
                }
            }
        }
        ExprKind::Not(inner)
        | ExprKind::Defined(inner, _)
        | ExprKind::IsNone(inner, _)
        | ExprKind::Length(inner) => collect(inner, paths),
        ExprKind::Compare(_, a, b) | ExprKind::In(a, b, _) => {
            collect(a, paths);
            collect(b, paths);
        }
    }
}

fn looked_for<'e>(expr: &'e Expr, list: (&str, &str), found: &mut Vec<(&'e str, usize, usize)>) {
    match &expr.kind {
        ExprKind::And(items) | ExprKind::Or(items) => {
            for item in items {
                looked_for(item, list, found);
            }
        }
        ExprKind::Not(inner) => looked_for(inner, list, found),
        ExprKind::In(text, place, _) => {
            if let ExprKind::Literal(Json::String(word)) = &text.kind
                && let ExprKind::Path(root, steps) = &place.kind
                && root == list.0
                && matches!(steps.as_slice(), [Step::Key(key)] if key == list.1)
            {
                found.push((word, text.start, text.end));
            }
        }
        ExprKind::Literal(_)
        | ExprKind::List(_)
        | ExprKind::Path(..)
        | ExprKind::Defined(..)
        | ExprKind::IsNone(..)
        | ExprKind::Length(_)
        | ExprKind::Compare(..) => {}
    }
}

fn segments(steps: &[Step]) -> Vec<Segment> {
    steps
        .iter()
        .map(|step| match step {
            Step::Key(key) => Segment::Key(key.clone()),
            Step::Index(index) => Segment::Index(*index),
            Step::Dynamic(_) => Segment::Any,
        })
        .collect()
}

fn wrong(expr: &Expr, message: impl Into<String>) -> TextError {
    TextError::new(expr.start, expr.end, message)
}

fn different_types(expr: &Expr, op: &str, left: &Shape, right: &Shape, literal: Option<String>) -> TextError {
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
        && error.help.as_ref().is_none_or(|help| help.starts_with("known here"))
    {
        error.help = Some(format!("a text stands in quotes: `\"{root}\"`"));
    }
}

fn shape_of(expr: &Expr, names: &Names, errors: &mut Vec<TextError>) -> Shape {
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
                    errors.push(TextError { help: error.help, ..wrong(expr, error.message) });
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
fn to_ask(shape: &Shape) -> &'static str {
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

fn path<'a>(
    root: &str,
    steps: &[Step],
    expr: &Expr,
    lookup: &'a dyn Lookup,
) -> Result<Cow<'a, Json>, Result<TextError, BTreeSet<String>>> {
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
        Missing::Undefined(error) => Ok(TextError { help: error.help, ..wrong(expr, error.message) }),
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

/// The value below a value.
///
/// # Errors
/// When a step is not there.
pub fn descend<'a>(root: &str, value: &'a Json, path: &[Segment]) -> Result<Cow<'a, Json>, Missing> {
    let mut here = value;
    for segment in path {
        let next = match (segment, here) {
            (Segment::Key(key), Json::Object(map)) => map.get(key),
            (Segment::Index(index), Json::Array(items)) => items.get(*index),
            _ => None,
        };
        let Some(next) = next else {
            let known: Vec<&str> =
                here.as_object().map(|map| map.keys().map(String::as_str).collect()).unwrap_or_default();
            let name = match segment {
                Segment::Key(key) => key.as_str(),
                Segment::Index(_) | Segment::Any => "",
            };
            return Err(Missing::Undefined(PathError {
                message: format!("`{}` is not defined", super::shape::path_text(root, path)),
                help: crate::config::did_you_mean_text(name, known),
            }));
        };
        here = next;
    }
    Ok(Cow::Borrowed(here))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    struct World(Json);

    impl Lookup for World {
        fn resolve(&self, root: &str, path: &[Segment]) -> Result<Cow<'_, Json>, Missing> {
            if root == "later" {
                return Err(Missing::Waiting(BTreeSet::from(["later".to_owned()])));
            }
            let mut full = vec![Segment::Key(root.to_owned())];
            full.extend_from_slice(path);
            descend("", &self.0, &full)
        }
    }

    fn world() -> World {
        World(json!({
            "mtu": 9000, "mode": "fast", "on_": true, "list": ["a", "b"], "map": {"x-y": {"z": 1}},
            "host": {"name": "gpu1"}, "empty": null, "by": {"gpu1": 7},
            "version": "22.04", "family": "debian"
        }))
    }

    fn names() -> Names {
        let Json::Object(map) = world().0 else { panic!() };
        let mut names: std::collections::BTreeMap<_, _> =
            map.iter().map(|(key, value)| (key.clone(), Shape::of(value))).collect();
        names.insert("later".to_owned(), Shape::Number);
        names.insert("family".to_owned(), Shape::Word(&["debian", "rhel"]));
        names.insert("id".to_owned(), Shape::Spelled(&["debian", "openEuler"]));
        Names { known: names, others: false }
    }

    #[test]
    fn values() {
        for (text, want) in [
            ("mtu == 9000", true),
            ("mtu > 1500 and mode == 'fast'", true),
            ("not on_", false),
            ("not not on_", true),
            ("not not not on_", false),
            ("mode in ['slow', \"fast\"]", true),
            ("'a' not in list", false),
            ("'fa' in mode", true),
            ("map[\"x-y\"].z == 1", true),
            ("map['x-y']['z'] < 2.5", true),
            ("by[host.name] == 7", true),
            ("list | length == 2", true),
            ("list[1] == 'b'", true),
            ("empty is none", true),
            ("empty == 'x'", false),
            ("mtu is defined", true),
            ("mtu is not none", true),
            ("list == ['a', 'b']", true),
            ("(mtu == 1 or mtu == 9000) and true", true),
            ("later == 1 and false", false),
            ("true or later == 1", true),
            ("later == 1 or true", true),
            ("version >= '9'", true),
            ("version < '24.04'", true),
            ("'12' >= '9'", true),
            ("version < '22.4.1'", true),
            ("version == '22.04'", true),
            ("version > '22.04-rc1'", false),
            ("'6.8.0-87-generic' < '6.10'", true),
            ("'1.0' <= '1.0'", true),
            ("'10.5.0' > '9.13.2'", true),
            ("'a' < 'b'", true),
            ("family == 'debian' and family in ['rhel', 'debian']", true),
            ("family != 'rhel' and family != mode", true),
        ] {
            let condition = Condition::parse(text).unwrap();
            assert_eq!(condition.holds(&world()), Ok(want), "{text}");
            condition.check_boolean(&names()).unwrap();
        }
    }

    #[test]
    fn what_waits() {
        for text in ["later == 1", "later == 1 and on_", "later == 1 or false", "not (later == 2)"] {
            let held = Condition::parse(text).unwrap().holds(&world());
            assert!(matches!(held, Err(Unresolved::Waiting(_))), "{text}: {held:?}");
        }
    }

    #[test]
    fn mistakes() {
        for (text, start, end, message) in [
            ("mtuu == 9000", 0, 4, "`mtuu` is not defined"),
            ("8 == \"8\"", 0, 8, "a number with a string"),
            ("mtu == '9000'", 0, 13, "a number with a string"),
            ("mtu > 'a'", 0, 9, "a number with a string"),
            ("on_ == 1", 0, 8, "a boolean with a number"),
            ("host.nme == 'x'", 0, 8, "`host.nme` is not defined"),
            ("mtu", 0, 3, "true or false"),
            ("mtu and on_", 0, 3, "true or false"),
            ("list > 1", 0, 8, "compares"),
            ("list > list", 0, 11, "cannot order"),
            ("1 in list", 0, 9, "a number with a string"),
            ("1 in mtu", 5, 8, "cannot search"),
            ("mtu | length == 1", 0, 3, "no length"),
            ("nope is defined", 0, 4, "`nope` is not defined"),
            ("list.x == 1", 0, 6, "is a list"),
        ] {
            let errors = Condition::parse(text).unwrap().check_boolean(&names()).unwrap_err();
            assert_eq!((errors[0].start, errors[0].end), (start, end), "{text}: {errors:?}");
            assert!(errors[0].message.contains(message), "{text}: {errors:?}");
            let held = Condition::parse(text).unwrap().holds(&world());
            if !text.contains("defined") {
                assert!(matches!(held, Err(Unresolved::Wrong(_))), "{text}: {held:?}");
            }
        }
        for (text, start) in [
            ("mtu = 1", 4),
            ("mtu ==", 6),
            ("{{ mtu }}", 0),
            ("(mtu == 1", 0),
            ("mtu == 1)", 8),
            ("'abc", 0),
            ("mtu && on_", 4),
            ("mtu | upper == 'x'", 4),
            ("mtu == 010", 7),
            ("", 0),
            ("mtu is empty", 7),
            ("!on_", 0),
        ] {
            let error = Condition::parse(text).unwrap_err();
            assert_eq!(error.start, start, "{text}: {error:?}");
        }
    }

    #[test]
    fn words_of_other_languages_are_told_what_they_are_here() {
        for (text, help) in [
            ("mtu && on_", "write `and`"),
            ("on_ || on_", "write `or`"),
            ("list | count == 1", "write `length`"),
            ("mtu is undefined", "write `is not defined`"),
            ("mtu is changed", "what is done after a change is a handler, which the task notifies"),
            ("mtu is odd", "after `is` comes `defined`, `not defined` or `none`"),
        ] {
            assert_eq!(Condition::parse(text).unwrap_err().help.as_deref(), Some(help), "{text}");
        }
    }

    #[test]
    fn a_word_that_can_never_be_is_a_mistake() {
        for (text, start, end, help) in [
            ("family == 'Debian'", 10, 18, "write `\"debian\"`"),
            ("'suse' != family", 0, 6, "it is one of debian, rhel"),
            ("family in ['rhel', 'redhat']", 19, 27, "it is one of debian, rhel"),
            ("'Debian' in family", 0, 8, "it is one of debian, rhel"),
            ("version >= 9", 0, 12, "write `\"9\"`"),
            ("id == 'Debian'", 6, 14, "write `\"debian\"`"),
            ("id in ['pureos', 'openeuler']", 17, 28, "write `\"openEuler\"`"),
        ] {
            let errors = Condition::parse(text).unwrap().check_boolean(&names()).unwrap_err();
            assert_eq!(errors.len(), 1, "{errors:?}");
            assert_eq!((errors[0].start, errors[0].end), (start, end), "{text}");
            assert_eq!(errors[0].help.as_deref(), Some(help), "{text}");
        }
        let other = Condition::parse("id == 'pureos' or 'bian' in id").unwrap();
        assert_eq!(other.check_boolean(&names()), Ok(()));
    }

    #[test]
    fn texts_that_are_looked_for_in_a_list() {
        let condition = Condition::parse(
            "not ('a' in host.groups or mtu == 1 and 'b' not in host.groups) and 'c' in list",
        )
        .unwrap();
        let found: Vec<_> =
            condition.looked_for("host", "groups").into_iter().map(|(text, ..)| text).collect();
        assert_eq!(found, ["a", "b"]);
    }

    #[test]
    fn long_and_deep_ones_need_little_stack() {
        let deep = || {
            for (start, part, end, close) in [
                ("true", " and true", "", ""),
                ("on_", " or true", "", ""),
                ("list", " | length", "", ""),
                ("true", " and not (true or false)", "", ""),
                ("", "(true and ", "true", ")"),
                ("", "[", "1", "]"),
                ("", "by[", "'gpu1'", "]"),
                ("", "not ", "on_", ""),
                ("mode in ['x'", ", 'fast'", "]", ""),
            ] {
                let text = |n: usize| format!("{start}{}{end}{}", part.repeat(n), close.repeat(n));
                let error = Condition::parse(&text(100_000)).unwrap_err();
                let refused = ["words", "too deep", "no length"];
                assert!(refused.iter().any(|why| error.message.contains(why)), "{part}: {error:?}");
                for n in [1, 2, 40, 1000, 4000] {
                    let Ok(condition) = Condition::parse(&text(n)) else { continue };
                    drop(condition.check(&names()));
                    drop(condition.value(&world()));
                    drop(condition.paths());
                }
            }
        };
        // As much as the threads of a run have.
        std::thread::Builder::new().stack_size(2 << 20).spawn(deep).unwrap().join().unwrap();
    }

    #[test]
    fn what_waits_guards_what_follows() {
        for (text, want) in [
            ("later == 1 and mtu == 'x' and false", Some(false)),
            ("later == 1 and mtu == 'x' and true", None),
            ("false or later == 1 or mtu == 'x' or true", Some(true)),
        ] {
            let held = Condition::parse(text).unwrap().holds(&world());
            match want {
                Some(want) => assert_eq!(held, Ok(want), "{text}"),
                None => assert!(matches!(held, Err(Unresolved::Waiting(_))), "{text}: {held:?}"),
            }
        }
        let held = Condition::parse("true and mtu == 'x' and later == 1").unwrap().holds(&world());
        assert!(matches!(held, Err(Unresolved::Wrong(_))), "{held:?}");
    }

    proptest! {
        #[test]
        fn no_text_panics(text in "[a-c0-9()\\[\\].'\" =<>!|-]{0,24}|\\PC{0,16}|(not |\\(|a and |1 in ){0,60}a") {
            if let Ok(condition) = Condition::parse(&text) {
                drop(condition.check_boolean(&names()));
                drop(condition.holds(&world()));
                drop(condition.paths());
            }
        }
    }
}
