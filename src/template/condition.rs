//! Conditions and loops: strict, typed, and never silently false.
//!
//! Every undefined path is an error that names it; comparing two types is an error. What is not
//! known yet (facts before they are gathered) is *waiting*, which `and` and `or` respect.

use std::borrow::Cow;

use serde_json::Value as Json;

use super::evaluate::value;
use super::expression::{self, Expr, ExprKind, Step, segments};
use super::lookup::{Lookup, Unresolved};
use super::paths::PathUse;
use super::shape::{Names, Shape};
use super::type_check::{shape_of, to_ask};
use crate::config::TextError;

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

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;
    use serde_json::json;

    use super::super::lookup::{Awaited, Missing, descend};
    use super::super::shape::Segment;
    use super::*;

    struct World(Json);

    impl Lookup for World {
        fn resolve(&self, root: &str, path: &[Segment]) -> Result<Cow<'_, Json>, Missing> {
            if root == "later" {
                return Err(Missing::Waiting(BTreeSet::from([Awaited::Fact("later".to_owned())])));
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
