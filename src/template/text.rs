//! A text with templates, parsed once and rendered often.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde_json::Value as Json;
use tera::{Context, ErrorKind, Tera, Value};

use super::condition::Condition;
use super::filters;
use super::lookup::{Lookup, Missing, Unresolved};
use super::paths::{self, Comparison, ComparisonKind, PathUse};
use super::shape::{Names, PathError, Segment, Shape, path_text};
use super::type_check::{fitting, is_never, is_never_in};
use crate::config::TextError;

/// Source of a text's variables.
pub trait Values: Lookup {
    /// A whole variable as the template engine takes it.
    ///
    /// # Errors
    /// When it has no value.
    fn variable(&self, root: &str, uses: &[&PathUse]) -> Result<Value, Missing>;
}

/// A parsed text.
#[derive(Debug)]
pub struct Text {
    source: String,
    paths: Vec<PathUse>,
    comparisons: Vec<Comparison>,
    body: Body,
}

#[derive(Debug)]
enum Body {
    /// No template at all.
    Plain,
    /// `{{ path }}` and nothing else: no engine is needed and the type is kept.
    Path(Condition),
    /// For the engine. A sole expression is rendered as JSON, so that its type is kept.
    Tera { engine: Box<Tera>, sole: bool },
}

/// Text before a sole expression when it is handed to the engine.
const SOLE_PREFIX: &str = "{{ (";
const NAME: &str = "text";

impl Text {
    /// Parses a text.
    ///
    /// # Errors
    /// Where tera does not understand it.
    pub fn parse(source: &str) -> Result<Self, TextError> {
        let new = |(paths, comparisons), body| Self { source: source.to_owned(), paths, comparisons, body };
        if !paths::is_template(source) {
            return Ok(new((Vec::new(), Vec::new()), Body::Plain));
        }
        let sole = paths::sole_expression(source);
        if let Some(condition) = sole.clone().and_then(|range| plain_path(source, range)) {
            return Ok(new(paths::variables(source), Body::Path(condition)));
        }
        let mut engine = filters::engine();
        let (content, shift) = match sole.clone() {
            Some(range) => {
                let inner = source.get(range.clone()).unwrap_or("");
                (format!("{SOLE_PREFIX}{inner}) | json }}}}"), SOLE_PREFIX.len() - range.start)
            }
            None => (source.to_owned(), 0),
        };
        if let Err(error) = engine.add_raw_template(NAME, &content) {
            // The wrapped form may fail differently from what the user wrote.
            let plain =
                sole.is_some().then(|| filters::engine().add_raw_template(NAME, source).err()).flatten();
            let (error, shift) = plain.map_or((error, shift), |error| (error, 0));
            return Err(text_error(&error, source, shift));
        }
        Ok(new(paths::variables(source), Body::Tera { engine: Box::new(engine), sole: sole.is_some() }))
    }

    /// As written.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Every variable path, with its place.
    pub fn paths(&self) -> &[PathUse] {
        &self.paths
    }

    /// Whether nothing is filled in.
    pub fn is_plain(&self) -> bool {
        matches!(self.body, Body::Plain)
    }

    /// The type of its value, when it is exactly one path; text otherwise.
    pub fn shape(&self, names: &Names) -> Shape {
        match &self.body {
            Body::Plain | Body::Tera { sole: false, .. } => Shape::Text,
            Body::Path(condition) => condition.check(names).unwrap_or(Shape::Any),
            Body::Tera { sole: true, .. } => Shape::Any,
        }
    }

    /// Everything that is wrong with the names that it reads.
    pub fn check(&self, names: &Names) -> Vec<TextError> {
        let mut errors: Vec<TextError> = Vec::new();
        let mut bad: Vec<&PathUse> = Vec::new();
        for path in &self.paths {
            // What a loop takes from an undefined list has been said already.
            let below = |bad: &&PathUse| bad.root == path.root && path.segments.starts_with(&bad.segments);
            if bad.iter().any(|known| below(known) && known.segments.len() < path.segments.len()) {
                continue;
            }
            if let Err(error) = names.check(&path.root, &path.segments) {
                let error = error.within(path.start, path.end);
                bad.push(path);
                if !errors.contains(&error) {
                    errors.push(error);
                }
            }
        }
        for Comparison { root, segments, kind, named, literal, start, end } in &self.comparisons {
            let Ok(shape) = names.check(root, segments) else { continue };
            if let Json::String(text) = literal {
                errors.extend(match kind {
                    ComparisonKind::Within => is_never_in(text, &shape, *start, *end),
                    ComparisonKind::Equal | ComparisonKind::Ordered => is_never(text, &shape, *start, *end),
                });
            }
            let of_literal = Shape::of(literal);
            // Facts; what an inventory declares may be a date.
            if *kind == ComparisonKind::Ordered && root == "facts" && shape.is_text() {
                let error = TextError::new(
                    *start,
                    *end,
                    "a template orders texts letter by letter, and `10` before `9`",
                )
                .help("`when` compares them as versions: say it there");
                errors.push(error);
            } else if *named
                && *kind != ComparisonKind::Within
                // Elements of a list may be of many types.
                && segments.iter().all(|segment| matches!(segment, Segment::Key(_)))
                && !shape.comparable(&of_literal)
            {
                // Tera takes them for different, and says nothing.
                let path = path_text(root, segments);
                let (is, other) = (shape.name(), of_literal.name());
                let error =
                    TextError::new(*start, *end, format!("`{path}` is {is} and is compared with {other}"));
                errors.push(TextError { help: fitting(literal, &shape), ..error });
            }
        }
        errors
    }

    /// Fills it in.
    ///
    /// # Errors
    /// When a value is missing or the engine refuses.
    pub fn render(&self, values: &dyn Values) -> Result<Json, Unresolved> {
        match &self.body {
            Body::Plain => Ok(Json::String(self.source.clone())),
            Body::Path(condition) => {
                condition.value(values).map(Cow::into_owned).map_err(|error| match error {
                    // The expression begins after the braces.
                    Unresolved::Wrong(error) => Unresolved::Wrong(error.shift(2)),
                    waiting @ Unresolved::Waiting(_) => waiting,
                })
            }
            Body::Tera { engine, sole } => {
                let (context, mut undefined) = self.context(values)?;
                let mut text = Limited::default();
                let rendered = engine.render_to(NAME, &context, &mut text);
                if text.full {
                    return Err(Unresolved::Wrong(too_long(self.source.len())));
                }
                rendered.map_err(|error| {
                    let shift = if *sole { SOLE_PREFIX.len() - 2 } else { 0 };
                    let mut error = text_error(&error, &self.source, shift);
                    if let Some(why) = undefined.remove(&error.message) {
                        (error.message, error.code) = (why.message, why.code);
                    }
                    Unresolved::Wrong(error)
                })?;
                // The engine writes text.
                let text = String::from_utf8(text.bytes).unwrap_or_default();
                if !sole {
                    return Ok(Json::String(text));
                }
                serde_json::from_str(&text).map_err(|error| {
                    Unresolved::Wrong(TextError::new(0, self.source.len(), error.to_string()))
                })
            }
        }
    }

    /// Returns the variables that the engine sees, and the reasons why others have no value, by the engine's
    /// message about them.
    fn context(&self, values: &dyn Values) -> Result<(Context, BTreeMap<String, PathError>), Unresolved> {
        let mut context = Context::new();
        let mut undefined = BTreeMap::new();
        let mut waiting = std::collections::BTreeSet::new();
        let mut roots: Vec<&str> = self.paths.iter().map(|path| path.root.as_str()).collect();
        roots.sort_unstable();
        roots.dedup();
        for root in roots {
            let uses: Vec<&PathUse> = self.paths.iter().filter(|path| path.root == root).collect();
            match values.variable(root, &uses) {
                Ok(value) => context.insert_value(root.to_owned(), value),
                // The engine says so where it is used, unless `default` or a test handles it.
                Err(Missing::Undefined(error)) => {
                    undefined.insert(format!("variable `{root}` is not defined"), error);
                }
                Err(Missing::Waiting(names)) => waiting.extend(names),
                Err(Missing::Failed(message)) => {
                    let (start, end) = uses.first().map_or((0, 0), |path| (path.start, path.end));
                    return Err(Unresolved::Wrong(TextError::new(start, end, message)));
                }
            }
        }
        if waiting.is_empty() { Ok((context, undefined)) } else { Err(Unresolved::Waiting(waiting)) }
    }
}

/// The most bytes of a text that is filled in, as many as a file of the project may have.
pub(crate) const MOST_TEXT: usize = 8 << 20;

/// Returns the error about a text that would be longer.
fn too_long(end: usize) -> TextError {
    TextError::new(0, end, format!("what this comes to is longer than {} MiB", MOST_TEXT >> 20)).help(
        "variables that name each other several times grow with each of them, and so does a loop in a loop",
    )
}

/// Takes a text up to a limit.
#[derive(Default)]
struct Limited {
    bytes: Vec<u8>,
    full: bool,
}

impl std::io::Write for Limited {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        if self.bytes.len() + bytes.len() > MOST_TEXT {
            self.full = true;
            return Err(std::io::Error::other("too long"));
        }
        self.bytes.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

fn plain_path(source: &str, range: std::ops::Range<usize>) -> Option<Condition> {
    let condition = Condition::parse(source.get(range)?).ok()?;
    condition.is_plain().then_some(condition)
}

/// Tera's error with its place in our text, which begins `shift` bytes earlier.
fn text_error(error: &tera::Error, source: &str, shift: usize) -> TextError {
    if let ErrorKind::SyntaxError(report) | ErrorKind::RenderingError(report) = error.kind() {
        let range = &report.span().range;
        let start = range.start.saturating_sub(shift).min(source.len());
        let end = range.end.saturating_sub(shift).clamp(start, source.len());
        if report.message().contains("expected identifier")
            && let Some((message, help)) = unnamed_argument(source, start, end)
        {
            return TextError::new(start, end, message).help(help);
        }
        // `default(omit)`: a name stands where the name of an argument is read.
        let before = source.get(..start).unwrap_or("").trim_end();
        let name = before.rsplit(|c: char| !c.is_ascii_alphanumeric() && c != '_').next().unwrap_or("");
        if report.message().contains("but expected =")
            && let Some((message, help)) = unnamed_argument(source, before.len() - name.len(), before.len())
        {
            let help = crate::foreign::help(name, &[crate::foreign::Place::Name]).unwrap_or(help);
            return TextError::new(before.len() - name.len(), before.len(), message).help(help);
        }
        if let Some((message, help)) = plainer(&sentence(report.message()), source, start, end) {
            return TextError::new(start, end, message).help(help);
        }
        return TextError::new(start, end, sentence(report.message()));
    }
    let text = error.to_string();
    let message = text.lines().next().unwrap_or(&text).trim_start_matches("error: ");
    let (start, end) = named_place(message, source).unwrap_or((0, source.len()));
    let error = TextError::new(start, end, sentence(message));
    if !message.starts_with("Unknown filter") {
        return error;
    }
    let name = source.get(start..end).unwrap_or("");
    let foreign = crate::foreign::help(name, &[crate::foreign::Place::Filter]);
    error.help(foreign.unwrap_or_else(|| like_a_filter(name)))
}

fn filter_names() -> impl Iterator<Item = &'static str> {
    filters::FILTERS.iter().map(|(name, _)| *name).chain(TERA_FILTERS.iter().copied())
}

/// Suggests the filter that may be meant by one that is not there.
fn like_a_filter(name: &str) -> String {
    let near = crate::config::did_you_mean_text(name, filter_names());
    near.unwrap_or_else(|| "`provision explain templates` lists the filters".to_owned())
}

/// The usual mistakes in plainer words than those of the engine, with what to write.
fn plainer(message: &str, source: &str, start: usize, end: usize) -> Option<(String, String)> {
    const RAW: &str = "`raw: true` of the task leaves all braces in it as they are";
    const ENDS: &str = "`{% if %}` ends with `{% endif %}`, `{% for %}` with `{% endfor %}`";
    let found = source.get(start..end).unwrap_or("");
    let is_open = |open: &str, close: &str| {
        source.rfind(open).is_some_and(|at| source.rfind(close).is_none_or(|end| end < at))
    };
    Some(match message {
        "unexpected end of input" if is_open("{{", "}}") => {
            ("`{{` is not closed".to_owned(), "write `}}` behind the value".to_owned())
        }
        "unexpected end of input" if is_open("{%", "%}") => {
            ("`{%` is not closed".to_owned(), "write `%}` behind it".to_owned())
        }
        "unexpected end of input" => ("a block of this text has no end".to_owned(), ENDS.to_owned()),
        _ if found.starts_with('.') && message.starts_with("found `.` but expected one of") => (
            "no name begins with a dot: this looks like a template of another program".to_owned(),
            RAW.to_owned(),
        ),
        _ if message.starts_with("closing comment tag") => {
            ("`{#` begins a comment of a template, and this one has no end".to_owned(), RAW.to_owned())
        }
        "unknown tag" if ["else", "elseif"].contains(&found) => (
            "`{% if %}` goes on with `{% elif %}` or `{% else %}`".to_owned(),
            "write `{% elif CONDITION %}`".to_owned(),
        ),
        "unknown tag" if found.starts_with("end") => {
            (format!("`{{% {found} %}}` ends nothing here"), ENDS.to_owned())
        }
        "found `}` but expected }}" => {
            ("one brace is missing".to_owned(), "what begins with `{{` ends with `}}`".to_owned())
        }
        "unknown tag" => (format!("there is no tag `{found}`"), RAW.to_owned()),
        _ if message.starts_with("function calls are only allowed at the first") => {
            let before = source.get(..start).unwrap_or("");
            let name =
                before.trim_end_matches('(').rsplit(|c: char| !c.is_ascii_alphanumeric() && c != '_').next();
            let name = name.filter(|name| !name.is_empty()).unwrap_or("upper");
            ("a value has no functions of its own".to_owned(), format!("write a filter: `VALUE | {name}`"))
        }
        _ => return None,
    })
}

/// Returns the error about `default('x')` and the like, and the right spelling; `None` where this is no
/// argument.
fn unnamed_argument(source: &str, start: usize, end: usize) -> Option<(String, String)> {
    let unnamed = |help| Some(("an argument has a name here".to_owned(), help));
    let before = source.get(..start)?.trim_end();
    let open = before.ends_with(['(', ',']).then(|| before.rfind('(')).flatten()?;
    let head = before.get(..open)?.trim_end();
    let name = head.rsplit(|c: char| !c.is_ascii_alphanumeric() && c != '_').next()?;
    let places = [crate::foreign::Place::Filter, crate::foreign::Place::Name];
    if let Some(help) = crate::foreign::help(name, &places) {
        return unnamed(help);
    }
    let Some((_, arguments)) = ARGUMENTS.iter().find(|(known, _)| *known == name) else {
        let is_filter = head.trim_end_matches(name).trim_end().ends_with('|');
        let unknown = is_filter && filter_names().all(|known| known != name);
        return unknown.then(|| (format!("there is no filter `{name}`"), like_a_filter(name)));
    };
    let given = source.get(start..end)?;
    let arguments: Vec<String> = match *arguments {
        [one] => vec![format!("{one}={given}")],
        several => several.iter().map(|argument| format!("{argument}=...")).collect(),
    };
    unnamed(format!("write `{name}({})`", arguments.join(", ")))
}

/// Finds the place in the text of the name in a message's backticks.
fn named_place(message: &str, source: &str) -> Option<(usize, usize)> {
    let name = message.split('`').nth(1).filter(|name| !name.is_empty())?;
    let start = source.find(name)?;
    Some((start, start + name.len()))
}

/// Tera's messages are sentences; ours begin small and have no full stop.
fn sentence(message: &str) -> String {
    let line = message.lines().next().unwrap_or(message).trim_end_matches('.');
    let mut chars = line.chars();
    chars.next().map_or_else(String::new, |c| c.to_lowercase().chain(chars).collect())
}

/// The arguments of filters that Jinja takes without their names.
const ARGUMENTS: &[(&str, &[&str])] = &[
    ("default", &["value"]),
    ("get", &["key", "default"]),
    ("group_by", &["attribute"]),
    ("indent", &["width"]),
    ("int", &["base"]),
    ("join", &["sep"]),
    ("nth", &["n"]),
    ("range", &["start", "end"]),
    ("replace", &["from", "to"]),
    ("round", &["method", "precision"]),
    ("split", &["pat"]),
    ("trim", &["pat"]),
    ("truncate", &["length"]),
];

/// Tera's own filters.
pub const TERA_FILTERS: &[&str] = &[
    "default",
    "upper",
    "lower",
    "trim",
    "trim_start",
    "trim_end",
    "replace",
    "capitalize",
    "title",
    "truncate",
    "indent",
    "str",
    "int",
    "float",
    "length",
    "reverse",
    "split",
    "abs",
    "round",
    "first",
    "last",
    "nth",
    "join",
    "sort",
    "unique",
    "get",
    "values",
    "keys",
    "pairs",
    "group_by",
    "pluralize",
    "wordcount",
];

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::super::lookup::descend;
    use super::*;

    struct World(Json);

    impl Lookup for World {
        fn resolve(&self, root: &str, path: &[Segment]) -> Result<Cow<'_, Json>, Missing> {
            let mut full = vec![Segment::Key(root.to_owned())];
            full.extend_from_slice(path);
            descend("", &self.0, &full)
        }
    }

    impl Values for World {
        fn variable(&self, root: &str, _: &[&PathUse]) -> Result<Value, Missing> {
            self.resolve(root, &[]).map(|value| Value::from_serializable(&value))
        }
    }

    fn render(text: &str) -> Result<Json, Unresolved> {
        let world = World(json!({
            "mtu": 9000, "name": "it's <b>", "list": ["gpu2", "gpu1"], "map": {"b": 1, "a": 2}, "no": null
        }));
        Text::parse(text).unwrap().render(&world)
    }

    #[test]
    fn what_slurm_knows_of_gpus() {
        let gpu = |node: i32| json!({ "vendor": "10de", "numa_node": node });
        let numa = json!([{ "node": 0, "cores": "0-31" }, { "node": 1, "cores": "32-63" }]);
        let world =
            World(json!({ "gpus": true, "nodes": "gpu", "groups": { "gpu": ["a", "b", "c"] }, "hosts": {
            "a": { "facts": {
                "pci": { "gpus": [{ "vendor": "102b", "numa_node": 0 }, gpu(0), gpu(1)] }, "numa": numa,
                "nvlinks": [{ "gpu": 0, "links": [-1, 18] }, { "gpu": 1, "links": [18, -1] }], "mig": []
            } },
            "b": { "facts": { "pci": { "gpus": [gpu(-1), gpu(0)] }, "numa": numa, "nvlinks": [], "mig": [
                { "gpu": 1, "instance": 1, "compute": 0, "devices": [147, 148] },
                { "gpu": 1, "instance": 2, "compute": 0, "devices": [156, 157] }
            ] } },
            "c": { "facts": { "pci": { "gpus": [] }, "numa": numa, "nvlinks": [], "mig": [] } }
        } }));
        let template = include_str!("../../playbooks/templates/slurm/gres.tera");
        let Ok(Json::String(text)) = Text::parse(template).unwrap().render(&world) else { panic!() };
        let lines: Vec<_> = text.lines().skip(1).filter(|line| !line.is_empty()).collect();
        let wanted = [
            "NodeName=a Name=gpu File=/dev/nvidia0 Cores=0-31 Links=-1,18",
            "NodeName=a Name=gpu File=/dev/nvidia1 Cores=32-63 Links=18,-1",
            "NodeName=b Name=gpu File=/dev/nvidia0",
            "NodeName=b Name=gpu MultipleFiles=/dev/nvidia1,/dev/nvidia-caps/nvidia-cap147,/dev/nvidia-caps/nvidia-cap148 Cores=0-31",
            "NodeName=b Name=gpu MultipleFiles=/dev/nvidia1,/dev/nvidia-caps/nvidia-cap156,/dev/nvidia-caps/nvidia-cap157 Cores=0-31",
        ];
        assert_eq!(lines, wanted);
    }

    #[test]
    fn typed_and_text() {
        for (text, want) in [
            ("plain", json!("plain")),
            ("{{ mtu }}", json!(9000)),
            ("{{ mtu }} ", json!("9000 ")),
            ("{{ list }}", json!(["gpu2", "gpu1"])),
            ("{{ list | sort }}", json!(["gpu1", "gpu2"])),
            ("{{ mtu + 14 }}", json!(9014)),
            ("{{ list | hostlist }}", json!("gpu[1-2]")),
            ("{{ name | sq }}!", json!("\"it's <b>\"!")),
            ("{{ map | json }}", json!("{\"b\":1,\"a\":2}")),
            ("x {{ name }}\n", json!("x it's <b>\n")),
            ("{% for k, v in map %}{{ k }}={{ v }} {% endfor %}", json!("b=1 a=2 ")),
            ("{{ no }}", json!(null)),
            ("{% raw %}{{ x }}{% endraw %}", json!("{{ x }}")),
            ("{{ \"gpu[1-2]\" | expand }}", json!(["gpu1", "gpu2"])),
            ("{{ '/a/b' | dirname }}/{{ '/a/b' | basename }}", json!("/a/b")),
        ] {
            let got = render(text).unwrap();
            assert_eq!(got, want, "{text}");
        }
    }

    #[test]
    fn mistakes_have_a_place() {
        for (text, start, end, message) in [
            ("a {{ mtu | uper }}", 11, 15, "unknown filter `uper`"),
            ("a {{ mtu", 5, 8, "`{{` is not closed"),
            ("{% if mtu %}x", 12, 13, "has no end"),
            ("{{ mtu | uper }}", 9, 13, "unknown filter `uper`"),
        ] {
            let error = Text::parse(text).unwrap_err();
            assert!(error.message.contains(message), "{text}: {error:?}");
            assert_eq!((error.start, error.end), (start, end), "{text}: {error:?}");
        }
        let Err(Unresolved::Wrong(error)) = render("ab {{ mtu | sq }}") else { panic!() };
        assert!(error.start >= 3, "{error:?}");
        assert!(matches!(render("{{ nope.x }} "), Err(Unresolved::Wrong(_))));
        assert!(matches!(render("{{ nope | json }}"), Err(Unresolved::Wrong(_))));
    }

    proptest! {
        #[test]
        fn no_text_panics(text in "([{]{2}|[}]{2}|[{]%|%[}]|[{]#|for |in |set |if |end(if|for) |mtu|name|list|map| [|] |json|sq|[0-9]{1,20}|[-+*/~.,()'\" é漢]|\\[|\\]|\n){0,24}|\\PC{0,24}") {
            let rendered = |text: &str| Text::parse(text).map(|_| render(text));
            for text in [text.clone(), format!("{{{{ {text} }}}}"), format!("é{{% if {text} %}}漢{{% endif %}}")] {
                match rendered(&text) {
                    Err(error) | Ok(Err(Unresolved::Wrong(error))) => {
                        prop_assert!(error.start <= error.end && error.end <= text.len() + 16, "{error:?}");
                    }
                    Ok(_) => {}
                }
            }
        }
    }
}
