//! What hints name exists: checks, playbooks, resources, keys of the inventory, and commands of
//! `provision`.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test")]
#![allow(clippy::disallowed_methods, reason = "tests read files")]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use clap::CommandFactory as _;
use clap::error::ErrorKind;
use provision::template::filters::FILTERS;
use provision::{checks, facts, resources, schema};
use regex::Regex;
use serde_json::Value as Json;

use crate::context::Context;

/// Programs that hints name by a bare word, their settings, and words that they print.
const TOOLS: &[&str] = &[
    "all_reduce_perf",
    "chown",
    "date",
    "dmesg",
    "exclusive",
    "exec",
    "ib_write_bw",
    "ibv_devinfo",
    "installed",
    "lscpu",
    "mlxlink",
    "newgrp",
    "oob_tcp_if_include",
    "rping",
    "runas_default",
    "show_gids",
    "sminfo",
    "su",
];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn pattern(text: &str) -> Regex {
    Regex::new(text).unwrap()
}

/// Rust files below a path, without tests.
fn sources(path: PathBuf, found: &mut Vec<PathBuf>) {
    if path.is_dir() && !path.ends_with("tests") {
        for entry in std::fs::read_dir(path).unwrap() {
            sources(entry.unwrap().path(), found);
        }
    } else if path.extension().is_some_and(|kind| kind == "rs") && !path.ends_with("tests.rs") {
        found.push(path);
    }
}

/// The text literals of these parts of `src`, with `X` for what is filled in.
fn texts(parts: &[&str]) -> Vec<(String, String)> {
    let literal = pattern(r##"(?s)//[^\n]*|'\\?"'|\bb?r#*".*?"#*|"((?:\\.|[^"\\])*)""##);
    let (next_line, filled) = (pattern(r"\\\n\s*"), pattern(r"\{[^{} ]*\}"));
    let mut files = Vec::new();
    for part in parts {
        sources(root().join("src").join(part), &mut files);
    }
    let mut found = Vec::new();
    for file in files {
        let text = std::fs::read_to_string(&file).unwrap();
        let text = text.split("#[cfg(test)]").next().unwrap();
        for literal in literal.captures_iter(text).filter_map(|found| found.get(1)) {
            let text = next_line.replace_all(literal.as_str(), "").replace("\\n", "\n").replace("\\\"", "\"");
            let text = filled.replace_all(&text, "X").into_owned();
            found.push((file.strip_prefix(root()).unwrap().display().to_string(), text));
        }
    }
    found
}

/// Keys of a schema with the key that they stand under.
fn keys(schema: &Json, above: &str, found: &mut BTreeSet<(String, String)>) {
    match schema {
        Json::Object(map) => {
            for (word, value) in map {
                if let ("properties", Json::Object(fields)) = (word.as_str(), value) {
                    for (key, field) in fields {
                        found.insert((above.to_owned(), key.clone()));
                        keys(field, key, found);
                    }
                } else {
                    keys(value, above, found);
                }
            }
        }
        Json::Array(list) => list.iter().for_each(|entry| keys(entry, above, found)),
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => {}
    }
}

static KEYS: LazyLock<BTreeSet<(String, String)>> = LazyLock::new(|| {
    let mut found = BTreeSet::new();
    keys(&schema::inventory(), "", &mut found);
    keys(&schema::playbook(), "", &mut found);
    found
});

static PLAYBOOKS: LazyLock<Vec<(String, String)>> = LazyLock::new(|| {
    let files = std::fs::read_dir(root().join("playbooks")).unwrap().map(|entry| entry.unwrap().path());
    files
        .filter(|file| file.extension().is_some_and(|kind| kind == "yaml"))
        .map(|file| {
            let name = file.file_stem().unwrap().to_string_lossy().into_owned();
            (name, std::fs::read_to_string(file).unwrap())
        })
        .collect()
});

fn is_check(name: &str) -> bool {
    checks::find(name).is_some()
}

fn is_playbook(name: &str) -> bool {
    PLAYBOOKS.iter().any(|(known, _)| known == name)
}

fn is_resource(name: &str) -> bool {
    resources::kinds().iter().any(|kind| kind.name == name)
}

/// Whether a word is a key of an inventory, of a task, or a variable of a playbook.
fn is_key(name: &str) -> bool {
    KEYS.iter().any(|(_, key)| key == name)
        || PLAYBOOKS.iter().any(|(_, text)| text.contains(&format!("\n  {name}:")))
}

/// Whether the facts of some distribution have this path; of a list, its first entry.
fn is_fact(path: &[&str]) -> bool {
    let inside = |value: Json, field: &&str| match value {
        Json::Array(list) => list.first()?.get(field).cloned(),
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) | Json::Object(_) => {
            value.get(field).cloned()
        }
    };
    let has = |(_, facts): (_, Json)| path.iter().try_fold(facts, inside).is_some();
    facts::specimens().into_iter().any(has)
}

/// Whether `a.b.c` is a check, a path of the inventory or of a fact, a file, or a setting of the kernel.
fn is_dotted(name: &str) -> bool {
    const FILES: &[&str] = &[
        "c", "conf", "cu", "d", "exec", "h", "in", "json", "ko", "list", "log", "md", "rst", "service", "so",
        "timer", "txt",
    ];
    let parts: Vec<&str> = name.split('.').collect();
    let pairs = || parts.windows(2).map(|pair| (pair[0].to_owned(), pair[1].to_owned()));
    is_check(name)
        || pairs().all(|pair| KEYS.contains(&pair))
        || parts[0] == "facts" && is_fact(&parts[1..])
        || ["net", "vm", "kernel"].contains(&parts[0])
        || FILES.contains(parts.last().unwrap())
}

/// What is wrong with the names in a text.
fn wrong(text: &str) -> Vec<String> {
    static DOTTED: LazyLock<Regex> =
        LazyLock::new(|| pattern(r"(?:^|[\s`(=])([a-z][a-z_0-9]*(?:\.[a-z_*][a-z_0-9]*)+)"));
    static WORD: LazyLock<Regex> = LazyLock::new(|| pattern(r"`([a-z][a-z_]*)(?:: ?[a-z]*)?`"));
    static PLAYBOOK: LazyLock<Regex> =
        LazyLock::new(|| pattern(r"playbooks? ([^\s,;.]+)(?: and (`[^\s,;.]+`))?"));
    let mut found = Vec::new();
    for name in DOTTED.captures_iter(text).map(|found| found[1].to_owned()).filter(|name| !is_dotted(name)) {
        found.push(format!("`{name}` is no check and no key of an inventory"));
    }
    for found_here in PLAYBOOK.captures_iter(text) {
        for name in found_here.iter().skip(1).flatten().map(|name| name.as_str()) {
            let bare = name.trim_matches('`');
            if bare == name && !name.contains('-') && !is_playbook(bare) {
                continue; // "the playbook that ..."
            }
            if !is_playbook(bare) {
                found.push(format!("there is no playbook {name}"));
            }
        }
    }
    for name in WORD.captures_iter(text).map(|found| found[1].to_owned()) {
        let filter = FILTERS.iter().any(|(known, _)| *known == name);
        let known = filter || is_key(&name) || is_resource(&name) || is_playbook(&name);
        if !known && !TOOLS.contains(&name.as_str()) {
            found.push(format!("`{name}` is no key, no resource and no playbook"));
        }
    }
    found
}

#[test]
fn hints_name_only_what_exists() {
    let mut found = Vec::new();
    for check in checks::TABLE.iter() {
        for text in [check.hint, check.expects] {
            found.extend(wrong(text).into_iter().map(|what| format!("{}: {what}", check.id)));
        }
    }
    for (file, text) in texts(&["causes", "checks", "active", "engine/hints.rs", "foreign.rs"]) {
        // Rows of tools name programs, files and settings of others; their playbooks are looked at below.
        if text.contains(' ') && !file.starts_with("src/causes/tools/") {
            found.extend(wrong(&text).into_iter().map(|what| format!("{file}: {what}")));
        }
    }
    let prefix = |id: &'static str| id.split('.').next().unwrap();
    // `host.name` is a variable of templates.
    let prefixes: BTreeSet<&str> =
        checks::TABLE.iter().map(|check| prefix(check.id)).filter(|prefix| *prefix != "host").collect();
    let dotted = pattern(r"`([a-z]+)\.[a-z_]+`");
    let kinds = pattern(r"`([a-z_]+)` resource|resource `([a-z_]+)`");
    let playbooks = pattern(r"playbooks? `([^`X]+)`");
    for (file, text) in texts(&[""]) {
        for name in dotted.captures_iter(&text) {
            if prefixes.contains(&name[1]) && !is_dotted(name[0].trim_matches('`')) {
                found.push(format!("{file}: there is no check {}", &name[0]));
            }
        }
        let named = |pattern: &Regex| -> Vec<String> {
            let all = pattern.captures_iter(&text);
            all.map(|name| name.iter().skip(1).flatten().next().unwrap().as_str().to_owned()).collect()
        };
        for name in named(&kinds).iter().filter(|name| !is_resource(name)) {
            found.push(format!("{file}: there is no resource `{name}`"));
        }
        for name in named(&playbooks).iter().filter(|name| !is_playbook(name)) {
            found.push(format!("{file}: there is no playbook `{name}`"));
        }
    }
    found.sort();
    found.dedup();
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn commands_in_texts_exist() {
    let command = pattern(r"(?m)(`|: |^)(provision [a-z][^`;,>\n(]*)");
    let mut seen = 0;
    let mut found = Vec::new();
    for (file, text) in texts(&[""]) {
        for part in command.captures_iter(&text) {
            seen += 1;
            let words = part[2].split_whitespace();
            let Err(error) = provision::cli::Cli::command().try_get_matches_from(words) else { continue };
            let fits = [
                ErrorKind::MissingRequiredArgument,
                ErrorKind::DisplayHelp,
                ErrorKind::MissingSubcommand,
                ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand,
                ErrorKind::ValueValidation,
            ];
            if !fits.contains(&error.kind()) {
                found.push(format!("{file}: {}: {error}", &part[2]));
            }
        }
    }
    assert!(seen > 10, "{seen} commands");
    assert!(found.is_empty(), "{}", found.join("\n"));
}

/// Who left the inventory out is told what to type, where one has the usual name.
#[test]
fn an_inventory_that_was_left_out_is_suggested() {
    let folder = Context::new();
    let said = || {
        let output = folder.run(&["verify", "--hosts", "a b"]);
        assert_eq!(output.status.code(), Some(2));
        String::from_utf8(output.stderr).unwrap()
    };
    assert!(!said().contains("hint"));
    folder.write("inventory.yaml", "");
    assert!(said().ends_with("hint: provision verify --hosts 'a b' inventory.yaml\n"), "{}", said());
}
