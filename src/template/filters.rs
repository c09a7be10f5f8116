//! Filters of our own, and the engine that every text shares.

use std::sync::LazyLock;

use serde_json::Value as Json;
use tera::{Error, Kwargs, State, Tera, TeraResult, Value};

use super::package_names::translate;
use crate::hostlist;

/// Names and meanings of our filters, for the reference.
pub const FILTERS: &[(&str, &str)] = &[
    ("json", "the value as JSON"),
    ("sq", "the text as one word of a POSIX shell"),
    ("hostlist", "a list of host names folded: `gpu[0-7]`"),
    ("expand", "a folded host list as a list of names"),
    ("basename", "the last part of a path"),
    ("dirname", "a path without its last part"),
    (
        "package_names",
        "a list of Debian's package names as the distribution has them: `package_names(os=facts.os)`",
    ),
];

/// An engine with all filters and no template.
pub(super) fn engine() -> Tera {
    static ENGINE: LazyLock<Tera> = LazyLock::new(|| {
        let mut tera = Tera::new();
        tera.autoescape_on(Vec::<&'static str>::new());
        tera.register_filter("json", json);
        tera.register_filter("sq", sq);
        tera.register_filter("hostlist", fold);
        tera.register_filter("expand", expand);
        tera.register_filter("basename", basename);
        tera.register_filter("dirname", dirname);
        tera.register_filter("package_names", package_names);
        tera
    });
    ENGINE.clone()
}

/// A value of the template engine as JSON; map keys are in order.
pub(super) fn to_json(value: &Value) -> TeraResult<Json> {
    if value.is_undefined() {
        return Err(Error::message("this value is not defined"));
    }
    serde_json::to_value(value).map_err(Error::message)
}

#[expect(clippy::needless_pass_by_value, reason = "the signature of a filter")]
fn json(value: &Value, arguments: Kwargs, _: &State<'_>) -> TeraResult<String> {
    let value = to_json(value)?;
    let pretty = arguments.get::<bool>("pretty")?.unwrap_or(false);
    let text = if pretty { serde_json::to_string_pretty(&value) } else { serde_json::to_string(&value) };
    text.map_err(Error::message)
}

/// Single quotes take every byte but themselves; NUL has no place in a shell word.
fn sq(value: &str, _: Kwargs, _: &State<'_>) -> TeraResult<String> {
    shlex::try_quote(value).map(std::borrow::Cow::into_owned).map_err(Error::message)
}

#[expect(clippy::needless_pass_by_value, reason = "the signature of a filter")]
fn fold(names: Vec<String>, _: Kwargs, _: &State<'_>) -> String {
    hostlist::fold(names.iter().map(String::as_str))
}

fn expand(list: &str, _: Kwargs, _: &State<'_>) -> TeraResult<Vec<String>> {
    hostlist::expand(list).map_err(|error| Error::message(error.message))
}

fn basename(path: &str, _: Kwargs, _: &State<'_>) -> String {
    path.trim_end_matches('/').rsplit('/').next().unwrap_or(path).to_owned()
}

fn dirname(path: &str, _: Kwargs, _: &State<'_>) -> String {
    match path.trim_end_matches('/').rsplit_once('/') {
        Some(("", _)) => "/".to_owned(),
        Some((parent, _)) => parent.to_owned(),
        None => ".".to_owned(),
    }
}

#[expect(clippy::needless_pass_by_value, reason = "the signature of a filter")]
fn package_names(names: Vec<String>, arguments: Kwargs, _: &State<'_>) -> TeraResult<Vec<String>> {
    let os = to_json(&arguments.must_get::<Value>("os")?)?;
    Ok(translate(names, &os))
}
