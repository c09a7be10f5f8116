//! What a resource would do to its host, as its cases have it.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::sync::LazyLock;

use provision::facts::Facts;
use provision::placeholder;
use provision::plan::diff;
use provision::resources::{Change, Detail, Disruption, LoginEffect, Resource};
use provision::transport::{Arg, Script};
use serde_json::{Map, Value as Json};
use sha2::Digest as _;

use super::folders::below;

/// The shell files with their texts, the longest first, called by their stems. Those that ask stand behind `facts/`.
pub fn shell_files() -> &'static [(String, String)] {
    static FILES: LazyLock<Vec<(String, String)>> = LazyLock::new(|| {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
        let mut files = Vec::new();
        for folder in ["shell", "engine", "facts", "resources"] {
            for path in below(&root.join(folder), "sh") {
                let stem = path.file_stem().unwrap().to_str().unwrap();
                let asks = folder == "facts" && !path.starts_with(root.join("facts/ask"));
                let name = if asks { format!("facts/{stem}") } else { stem.to_owned() };
                files.push((name, fs::read_to_string(path).unwrap()));
            }
        }
        files.sort_by_key(|(_, text)| std::cmp::Reverse(text.len()));
        files
    });
    &FILES
}

/// The files that a script is made of; `None` where it is no file.
fn files_of(text: &str) -> Option<Vec<&'static (String, String)>> {
    let (mut files, mut rest) = (Vec::new(), text);
    while !rest.is_empty() {
        let file = shell_files().iter().find(|(_, text)| rest.starts_with(text.as_str()))?;
        rest = &rest[file.1.len()..];
        if file.0 != "common" {
            files.push(file);
        }
    }
    Some(files)
}

/// Whether a script has the parameters that the heads of its files declare, in their order. `late` is how
/// many of the last ones the engine adds.
///
/// A head says `# Parameters: NAME NAME ...`: `[NAME]` may be left out, `NAME...` is a list, `...` alone
/// begins again. `none` is none.
fn check_parameters(script: &Script, late: usize) -> Result<(), String> {
    let Some(files) = files_of(&script.text) else {
        return if script.args.is_empty() {
            Ok(())
        } else {
            Err("a text of no file has parameters".to_owned())
        };
    };
    let lines = files.iter().flat_map(|(_, text)| text.lines());
    let mut heads: Vec<&str> = lines.filter_map(|line| line.strip_prefix("# Parameters: ")).collect();
    if names_of(&files) == "pcie" {
        // It is also a file on hosts, which would drift for a comment.
        heads.push("word...");
    }
    if heads.is_empty() {
        return Err("no file declares its `# Parameters: `".to_owned());
    }
    let words: Vec<&str> =
        heads.iter().flat_map(|head| head.split(' ')).filter(|word| *word != "none").collect();
    let words = &words[..words.len() - late];
    assert_eq!(script.names.len(), script.args.len());
    let mut given = &script.names[..];
    loop {
        let before = given.len();
        for word in words.iter().filter(|word| **word != "...") {
            if let Some(list) = word.strip_suffix("...") {
                let other = given.iter().position(|name| *name != list).unwrap_or(given.len());
                given = &given[other..];
            } else if let Some(name) = word.strip_prefix('[').and_then(|word| word.strip_suffix(']')) {
                given = given.strip_prefix(&[name]).unwrap_or(given);
            } else {
                given = given
                    .strip_prefix(&[*word])
                    .ok_or_else(|| format!("declared {words:?}, given {:?}", script.names))?;
            }
        }
        if given.is_empty() {
            return Ok(());
        }
        if words.last() != Some(&"...") || given.len() == before {
            return Err(format!("declared {words:?}, given {:?}", script.names));
        }
    }
}

/// The names of files.
fn names_of(files: &[&(String, String)]) -> String {
    files.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>().join("+")
}

/// A text as a case shows it: files and secrets by name, a long one by its beginning and its digest.
fn shown_text(text: &str) -> String {
    if let Some(files) = files_of(text).filter(|files| !files.is_empty()) {
        return names_of(&files);
    }
    let text = placeholder::shown(text).into_owned();
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:@%+,=*".contains(c);
    if !text.is_empty() && text.len() <= 120 && text.chars().all(plain) {
        return text;
    }
    if text.chars().count() <= 120 {
        return format!("{text:?}");
    }
    let digest = sha2::Sha256::digest(text.as_bytes());
    let digest = digest.iter().take(6).fold(String::new(), |digest, byte| format!("{digest}{byte:02x}"));
    let start: String = text.chars().take(80).collect();
    format!("{start:?}...{} sha256:{digest}", text.len())
}

/// A script as a case shows it: its files, then its parameters with their names.
fn shown(script: &Script, late: usize) -> String {
    let mut out = shown_text(&script.text);
    if let Err(error) = check_parameters(script, late) {
        panic!("{out}: {error}");
    }
    let all =
        |scripts: &[Script]| scripts.iter().map(|script| shown(script, 0)).collect::<Vec<_>>().join("; ");
    for (name, arg) in script.names.iter().zip(&script.args) {
        let value = match arg {
            Arg::Word(text) => shown_text(text),
            Arg::Text(text) => format!("text({})", shown_text(text)),
            Arg::Packed(text) => format!("packed({})", shown_text(text)),
            Arg::Bytes(bytes) => format!("bytes({})", shown_text(&String::from_utf8_lossy(bytes))),
            Arg::Script(script) => format!("{{{}}}", shown(script, 0)),
            Arg::Scripts(scripts) | Arg::Tasks(scripts) => format!("{{{}}}", all(scripts)),
        };
        out = format!("{out} {name}={value}");
    }
    out
}

/// What a plan would do to its host, as a case has it: `runs`, `login`, `pull`, and what a reader of the plan sees of
/// attributes, `shows`.
pub fn done(resource: &dyn Resource, facts: &Facts, changes: &[Change]) -> Json {
    let mut done = Map::new();
    if changes.is_empty() {
        return done.into();
    }
    let runs = changes.iter().map(|change| {
        let run = shown(&change.script, usize::from(change.upload.is_some()));
        let disruption = Some(change.disruption).filter(|disruption| *disruption != Disruption::None);
        let disruption = disruption.map(|disruption| format!("[{disruption}] ")).unwrap_or_default();
        let upload = change.upload.as_ref().map(|upload| format!(" <- {}", upload.local)).unwrap_or_default();
        format!("{disruption}{run}{upload}")
    });
    done.insert("runs".to_owned(), runs.collect());
    let shows: Vec<Json> = changes
        .iter()
        .filter(|change| matches!(change.detail, Detail::Attributes(_)))
        .flat_map(|change| {
            let text = diff::render("", &change.detail);
            text.lines().map(|line| line.trim().into()).collect::<Vec<Json>>()
        })
        .collect();
    if !shows.is_empty() {
        done.insert("shows".to_owned(), shows.into());
    }
    match resource.login(facts) {
        LoginEffect::Same => {}
        LoginEffect::Fresh => drop(done.insert("login".to_owned(), "fresh".into())),
        LoginEffect::Guarded(undo) => {
            let when = if undo.in_force { "" } else { " later" };
            let mut text = format!("undo {}{when}", undo.name);
            for path in &undo.paths {
                text = format!("{text} keep={}", shown_text(path));
            }
            for (what, script) in [("save", &undo.save), ("restore", &undo.restore)] {
                if let Some(script) = script {
                    text = format!("{text} {what}={{{}}}", shown(script, 0));
                }
            }
            done.insert("login".to_owned(), text.into());
        }
    }
    if let Some(spread) = resource.spread(facts) {
        let key = shown_text(&spread.key);
        let text = format!("{key} from {:?}: {}", spread.holders, shown(&spread.pull, 1));
        done.insert("pull".to_owned(), text.into());
    }
    done.into()
}

/// The text of a case with what is done at its end.
pub fn with_done(text: &str, done: &Json) -> String {
    let (mut out, mut ours) = (String::new(), false);
    for line in text.lines() {
        if !line.starts_with([' ', '-']) {
            ours =
                ["runs:", "login:", "promises:", "pull:", "shows:"].iter().any(|key| line.starts_with(key));
        }
        if !ours {
            out.push_str(line);
            out.push('\n');
        }
    }
    let quoted = |value: &Json| format!("'{}'\n", value.as_str().unwrap().replace('\'', "''"));
    for (key, value) in done.as_object().unwrap() {
        match value.as_array() {
            Some(lines) => {
                let lines = lines.iter().map(|line| format!("  - {}", quoted(line)));
                out = format!("{out}{key}:\n{}", lines.collect::<Vec<_>>().concat());
            }
            None => out = format!("{out}{key}: {}", quoted(value)),
        }
    }
    out
}

/// The names of the files that scripts are made of, and the scripts in their parameters.
pub fn files_in<'a>(scripts: impl IntoIterator<Item = &'a Script>, names: &mut BTreeSet<&'static str>) {
    for script in scripts {
        names.extend(files_of(&script.text).iter().flatten().map(|(name, _)| name.as_str()));
        for arg in &script.args {
            match arg {
                Arg::Script(script) => files_in([&**script], names),
                Arg::Scripts(scripts) | Arg::Tasks(scripts) => files_in(scripts, names),
                Arg::Word(_) | Arg::Text(_) | Arg::Packed(_) | Arg::Bytes(_) => {}
            }
        }
    }
}
