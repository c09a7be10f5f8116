//! Results of commands: files that the user asked for, or stdout.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::os::unix::fs::MetadataExt as _;

use anyhow::Context as _;
use camino::Utf8Path;
use serde::Serialize;

use super::args::{Reports, STDOUT};
use crate::disk;
use crate::events::Record;
use crate::exit::{self, Exit};
use crate::report::style::{safe, safe_json};
use crate::report::{html, json, junit, output, prometheus};

/// Writes what `--json`, `--junit`, `--html` and `--prometheus` ask for.
///
/// # Errors
/// When a file cannot be written.
pub(super) fn write_reports(reports: &Reports, record: &Record) -> anyhow::Result<()> {
    let json = reports.json.as_ref().map(|file| write_json(file, &json::object(record)));
    let junit = reports.junit.as_ref().map(|file| write_result(file, &junit::xml(record)?));
    let html = reports.html.as_ref().map(|file| write_result(file, &html::page(record)?));
    let prometheus = reports.prometheus.as_ref().map(|file| {
        let text = prometheus::text(record);
        if file == STDOUT {
            return to_stdout(&safe(&text));
        }
        // The collector that reads it is another user.
        disk::replace_with_mode(file, text.as_bytes(), 0o644).with_context(|| format!("cannot write {file}"))
    });
    // One that cannot be written keeps none of the others from being written.
    let mut failed: Vec<anyhow::Error> =
        [json, junit, html, prometheus].into_iter().flatten().filter_map(Result::err).collect();
    let all = failed.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ");
    match failed.pop() {
        None => Ok(()),
        Some(only) if failed.is_empty() => Err(only),
        Some(last) => Err(last.context(all)),
    }
}

/// Writes a file that the user asked for, or to stdout for `-`.
///
/// # Errors
/// When it cannot be written.
pub(super) fn write_result(file: &Utf8Path, text: &str) -> anyhow::Result<()> {
    if file == STDOUT {
        return to_stdout(&safe(text));
    }
    is_of_its_kind(file, text.as_bytes().first())
        .and_then(|()| disk::create_result(file))
        .and_then(|mut out| out.write_all(text.as_bytes()))
        .with_context(|| format!("cannot write {file}"))
}

/// Writes something as JSON to a file, or to stdout for `-`.
///
/// # Errors
/// When it cannot be written.
pub(super) fn write_json(file: &str, value: &impl Serialize) -> anyhow::Result<()> {
    let text = serde_json::to_string_pretty(value)? + "\n";
    if file == STDOUT {
        return to_stdout(&safe_json(&text));
    }
    let file = Utf8Path::new(file);
    let write = || {
        is_of_its_kind(file, text.as_bytes().first())?;
        disk::create_result(file)?.write_all(text.as_bytes())
    };
    write().with_context(|| format!("cannot write {file}"))
}

/// Refuses a file that is there and begins with another byte than the result: `why --json LOG` names a file that is to be
/// read. Whose file it is, and where a link leads, is judged when it is opened for writing.
fn is_of_its_kind(file: &Utf8Path, begins: Option<&u8>) -> std::io::Result<()> {
    // The open of a FIFO would wait.
    match file.symlink_metadata() {
        Ok(found) if found.is_file() && found.nlink() == 1 => {}
        _ => return Ok(()),
    }
    let mut first = [0];
    if File::open(file)?.take(1).read(&mut first)? == 0 || first.first() == begins {
        return Ok(());
    }
    Err(std::io::Error::other("it is there and holds something else; name a new file"))
}

/// Refuses more than one text on stdout.
///
/// # Errors
/// When there would be more than one.
pub(super) fn one_on_stdout(number: usize) -> anyhow::Result<()> {
    if number < 2 {
        return Ok(());
    }
    Err(Exit::new(exit::USAGE, format!("{number} texts would be mixed on stdout: only one file can be `-`"))
        .into())
}

fn to_stdout(text: &str) -> anyhow::Result<()> {
    output::data(text).context("cannot write to stdout")
}
