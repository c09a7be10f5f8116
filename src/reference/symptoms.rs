//! The catalogue of causes as a page, by the words that programs print, and one text of theirs explained.

use std::collections::BTreeMap;

use crate::causes::{Cause, Counts, Output, Reading, Remedy, Sure, TABLE};
use crate::put;

/// Words for each remedy.
fn remedy(remedy: Remedy) -> &'static str {
    match remedy {
        Remedy::Look => "a look",
        Remedy::Settings => "settings, files or services",
        Remedy::Install => "another version",
        Remedy::Reset => "a reset or a reboot",
        Remedy::Replace => "another part",
    }
}

fn sure(sure: Sure) -> &'static str {
    match sure {
        Sure::Guess => "one of several causes",
        Sure::Likely => "the usual cause",
        Sure::Confirmed => "the only cause that is known",
    }
}

/// The rows by the first part of their ids; those of the kernel's log first.
fn groups() -> BTreeMap<(bool, &'static str), Vec<&'static Cause>> {
    let mut groups: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for cause in TABLE.iter() {
        let group = cause.id.split_once('.').map_or(cause.id, |(group, _)| group);
        groups.entry((cause.output == Output::Tool, group)).or_default().push(*cause);
    }
    groups
}

/// The page.
pub(super) fn page(generated: &str) -> String {
    let mut text = format!("{generated}# By symptom\n\n");
    text.push_str(
        "All that the catalogue of causes knows, by the words that a program or the kernel prints. `provision why FILE` finds \
         them in logs, `provision explain \"TEXT\"` explains one line, failed tasks of `apply` and findings of `verify` say the \
         same words. A row that is harmless needs no action.\n",
    );
    for ((is_tool, group), causes) in groups() {
        let of = if is_tool { "" } else { ", in the kernel's log" };
        put!(text, "\n## {group}{of}\n");
        for cause in causes {
            entry(&mut text, cause);
        }
    }
    text
}

fn entry(text: &mut String, cause: &Cause) {
    put!(text, "\n### {}\n\n", cause.id);
    for sample in cause.samples {
        put!(text, "    {}\n", sample.trim());
    }
    put!(text, "\n{}\n", told(cause));
}

/// Meaning, remedy, certainty and sources of a row, in lines.
fn told(cause: &Cause) -> String {
    let mut lines = vec![cause.means.to_owned()];
    if cause.counts == Counts::Note {
        lines.push("It is harmless.".to_owned());
    }
    if !cause.act.is_empty() {
        let words = format!("{}; {}", remedy(cause.remedy), sure(cause.sure));
        lines.push(format!("- Remedy ({words}): {}", plain(cause.act)));
    }
    for apart in cause.apart {
        lines.push(format!("- With {}: {}", apart.beside.join(" or "), plain(apart.act)));
    }
    if !cause.check.is_empty() {
        lines.push(format!("- Check: `{}`", cause.check));
    }
    let sources: Vec<String> =
        cause.sources.iter().map(|source| format!("{} ({})", source.place, source.day)).collect();
    lines.push(format!("- Source: {}", sources.join("; ")));
    let list = lines.split_off(lines.iter().position(|line| line.starts_with("- ")).unwrap_or(lines.len()));
    format!("{}\n\n{}", lines.join(" "), list.join("\n"))
}

/// A text with the parts of a sign as words: `the kernel {kernel}` to `the kernel KERNEL`.
fn plain(text: &str) -> String {
    let mut words = String::new();
    for (at, piece) in text.split(['{', '}']).enumerate() {
        if at.is_multiple_of(2) { words.push_str(piece) } else { words.push_str(&piece.to_uppercase()) }
    }
    words.replace(['[', ']'], "")
}

/// What the catalogue says of a text that some program printed; `None` where it knows none of it.
pub fn symptom(text: &str) -> Option<String> {
    let reading = Reading::of(text);
    let findings = reading.ranked();
    let first = findings.first()?;
    let act = reading.act(first);
    let mut page = format!("# {}\n\n{}: {}\n\n", first.line, first.cause.id, first.says());
    page.push_str(&told(&Cause { act: "", ..*first.cause }));
    if !act.is_empty() {
        put!(page, "\n- Remedy ({}): {act}", remedy(first.cause.remedy));
    }
    page.push('\n');
    Some(page)
}
