//! The documentation is true: its inventories and playbooks are valid, its commands exist, its
//! links lead somewhere.
//!
//! `<!-- check: inventory -->`, `<!-- check: playbook -->` and `<!-- check: tasks -->` in front of
//! a block say what it is. Every other `yaml` block says `<!-- part -->`: a part of a file.
//! `tests/lab/examples.rs` applies what is checked here, in a lab with the options that stand
//! behind `lab:`, as in `<!-- check: inventory, lab: --profile h200-x2 -->`.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::expect_used, reason = "a test")]
#![allow(clippy::disallowed_methods, reason = "tests read files and start the program")]

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use clap::CommandFactory as _;
use clap::error::ErrorKind;

use crate::context::program;
use crate::pages::{blocks, pages, root};

/// Runs `validate`; what it complains about.
fn validate(inventory: &Path) -> Result<(), String> {
    let output = program(&["validate", inventory.to_str().unwrap()]).output().unwrap();
    if output.status.success() { Ok(()) } else { Err(String::from_utf8_lossy(&output.stderr).into_owned()) }
}

/// Validates a playbook with an inventory of its own; files that it names as `src` are there.
fn validate_playbook(text: &str) -> Result<(), String> {
    let directory = tempfile::tempdir().unwrap();
    for word in text.split_whitespace().collect::<Vec<_>>().windows(2) {
        if word[0].ends_with("src:") {
            let path = directory.path().join(word[1].trim_end_matches([',', '}']));
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "a file\n").unwrap();
        }
    }
    fs::write(directory.path().join("playbook.yaml"), text).unwrap();
    let inventory = directory.path().join("inventory.yaml");
    let hosts = "groups: { gpu: { hosts: \"gpu[0-1]\" }, login: { hosts: [login0] } }";
    fs::write(&inventory, format!("cluster: docs\nplaybooks: [playbook.yaml]\n{hosts}\n")).unwrap();
    validate(&inventory)
}

#[test]
fn yaml_blocks_are_valid() {
    let mut checked = 0;
    for (page, text) in pages() {
        // The examples of the reference are compiled in and have a test of their own.
        if page.starts_with("docs/reference") {
            continue;
        }
        for block in blocks(&text).iter().filter(|block| block.language == "yaml") {
            let at = format!("{}:{}", page.display(), block.line);
            let result = match block.check() {
                Some(("inventory", _)) => {
                    let directory = tempfile::tempdir().unwrap();
                    let inventory = directory.path().join("inventory.yaml");
                    fs::write(&inventory, &block.text).unwrap();
                    validate(&inventory)
                }
                Some(("playbook", _)) => validate_playbook(&block.text),
                Some(("tasks", _)) => validate_playbook(&format!("name: docs\ntasks:\n{}", block.text)),
                None if block.before == "<!-- part -->" => continue,
                _ => panic!("{at}: say `<!-- check: ... -->` or `<!-- part -->` in front of it"),
            };
            result.unwrap_or_else(|error| panic!("{at}:\n{error}"));
            checked += 1;
        }
    }
    assert!(checked >= 4, "{checked} blocks");
}

#[test]
fn the_example_of_each_resource_is_valid() {
    for kind in provision::resources::kinds() {
        assert!(kind.example.contains(&format!("{}:", kind.name)), "{}", kind.name);
        let text = format!("name: example\ntasks:\n{}", kind.example);
        validate_playbook(&text).unwrap_or_else(|error| panic!("{}:\n{error}", kind.name));
    }
}

#[test]
fn the_inventories_of_the_repository_are_valid() {
    for entry in fs::read_dir(root().join("inventories")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "yaml") {
            validate(&path).unwrap_or_else(|error| panic!("{}:\n{error}", path.display()));
        }
    }
}

/// Commands on lines of their own and in inline code.
fn commands(page: &str) -> Vec<String> {
    let mut found = Vec::new();
    for line in page.lines() {
        let bare = line.trim_start().trim_start_matches("$ ");
        if bare.starts_with("provision ") && bare.trim_start().len() + 12 > bare.len() && line != bare
            || line.starts_with("provision ")
        {
            // An explanation may stand behind, with space between.
            let command = bare.split("   ").next().unwrap_or(bare);
            found.push(command.trim_end_matches("...").trim().to_owned());
        }
        for span in line.split('`').skip(1).step_by(2) {
            if span.starts_with("provision ") {
                found.push(span.trim_end_matches("...").trim().to_owned());
            }
        }
    }
    found
}

#[test]
fn commands_exist() {
    let mut seen = BTreeSet::new();
    for (page, text) in pages() {
        if page.ends_with("reference/cli.md") {
            continue;
        }
        for command in commands(&text) {
            let words = shlex::split(command.split(" #").next().unwrap().split(" > ").next().unwrap())
                .unwrap_or_else(|| panic!("{}: {command}", page.display()));
            // Words in capitals stand for something.
            if words.get(1).is_some_and(|word| word.chars().all(char::is_uppercase)) {
                continue;
            }
            if let Err(error) = provision::cli::Cli::command().try_get_matches_from(&words) {
                let wrong = matches!(
                    error.kind(),
                    ErrorKind::UnknownArgument | ErrorKind::InvalidSubcommand | ErrorKind::ArgumentConflict
                );
                assert!(!wrong, "{}: `{command}`: {error}", page.display());
            }
            seen.insert(words.get(1).cloned());
        }
    }
    assert!(seen.len() > 10, "{seen:?}");
}

/// The name by which a heading is linked to.
fn anchor(heading: &str) -> String {
    heading
        .trim_start_matches('#')
        .trim()
        .to_lowercase()
        .chars()
        .filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'))
        .map(|c| if c == ' ' { '-' } else { c })
        .collect()
}

#[test]
fn links_resolve() {
    for (page, text) in pages() {
        for link in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            if link.starts_with("http") {
                continue;
            }
            let (path, wanted) = link.split_once('#').unwrap_or((link, ""));
            let target = if path.is_empty() {
                root().join(&page)
            } else {
                root().join(page.parent().unwrap()).join(path)
            };
            assert!(target.exists(), "{}: {link} leads nowhere", page.display());
            if !wanted.is_empty() {
                let text = fs::read_to_string(&target).unwrap();
                let found =
                    text.lines().filter(|line| line.starts_with('#')).any(|line| anchor(line) == wanted);
                assert!(found, "{}: {link}: there is no such heading", page.display());
            }
        }
    }
}

#[test]
fn every_page_is_in_the_site_once() {
    let summary = fs::read_to_string(root().join("docs/SUMMARY.md")).unwrap();
    let mut listed: Vec<String> = summary
        .split("](")
        .skip(1)
        .filter_map(|rest| rest.split(')').next())
        .map(|link| link.strip_prefix("../").map_or_else(|| format!("docs/{link}"), str::to_owned))
        .collect();
    listed.sort();
    let mut there: Vec<String> = pages().iter().map(|(page, _)| page.display().to_string()).collect();
    there.retain(|page| page != "docs/SUMMARY.md");
    there.sort();
    assert_eq!(listed, there, "docs/SUMMARY.md is the list of pages of the site");
}

#[test]
fn the_comparison_has_the_figures_of_the_benchmark() {
    let read = |page: &str| fs::read_to_string(root().join(page)).unwrap();
    let (benchmark, comparison) = (read("docs/evidence/benchmarks.md"), read("docs/comparison.md"));
    let figures = comparison.split("\n## ").find(|part| part.starts_with("Nothing to do")).unwrap();
    let rows: Vec<&str> = figures.lines().filter(|line| line.starts_with('|')).collect();
    assert!(rows.len() > 6, "{rows:?}");
    for row in rows {
        assert!(benchmark.contains(row), "docs/evidence/benchmarks.md has other figures now: {row}");
    }
}

#[test]
fn messages_that_are_explained_are_said() {
    let mut source = String::new();
    texts(&root().join("src"), &mut source);
    let page = fs::read_to_string(root().join("docs/guides/when-something-fails.md")).unwrap();
    let messages: Vec<&str> =
        page.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next()).collect();
    assert!(messages.len() > 25, "{messages:?}");
    for message in messages {
        assert!(source.contains(message), "nothing in src says: {message}");
    }
}

/// The texts and names of all programs below a folder of the repository.
fn texts(directory: &Path, into: &mut String) {
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            texts(&path, into);
        } else if path.extension().is_some_and(|extension| extension == "rs" || extension == "sh") {
            into.push_str(&fs::read_to_string(&path).unwrap());
            into.push_str(path.file_name().unwrap().to_str().unwrap());
            into.push('\n');
        }
    }
}

/// A word in capitals stands for something, and what is behind it is not looked for.
fn stands_for_something(part: &str) -> bool {
    part.split(|c: char| !c.is_ascii_alphabetic())
        .any(|word| word.len() > 2 && word.chars().all(char::is_uppercase))
}

#[test]
fn what_pages_for_contributors_name_is_there() {
    let mut source = String::new();
    for folder in ["src", "tests", "scripts"] {
        texts(&root().join(folder), &mut source);
    }
    for file in ["build.rs", "clippy.toml", "Cargo.toml", "Makefile"] {
        source.push_str(&fs::read_to_string(root().join(file)).unwrap());
    }
    let words: BTreeSet<&str> = source.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).collect();
    let known = |part: &str| {
        part.is_empty() || part.ends_with('_') || stands_for_something(part) || words.contains(part)
    };
    let (mut seen, mut missing) = (0, Vec::new());
    for (page, text) in pages().iter().filter(|(page, _)| page.starts_with("docs/contributing")) {
        for code in text.lines().flat_map(|line| line.split('`').skip(1).step_by(2)) {
            if code.is_empty() || code.starts_with('/') || code.contains(' ') {
                continue;
            }
            seen += 1;
            let there = if code.contains('/') {
                let parts = code.split('/').take_while(|part| !stands_for_something(part));
                root().join(parts.collect::<std::path::PathBuf>()).exists()
            } else {
                let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | ':' | '!');
                !code.chars().all(is_name) || code.trim_end_matches('!').split(':').all(known)
            };
            if !there {
                missing.push(format!("{}: `{code}`", page.display()));
            }
        }
    }
    assert!(seen > 150, "{seen} names");
    assert!(missing.is_empty(), "pages name what is not there:\n{}", missing.join("\n"));
}

/// Every promise of `SECURITY.md` names tests, and they exist.
#[test]
fn what_is_promised_is_held_by_a_test() {
    let page = fs::read_to_string(root().join("SECURITY.md")).unwrap();
    let mut seen = 0;
    for row in page.lines().filter(|line| line.starts_with('|') && !line.starts_with("|---")) {
        let cells: Vec<&str> = row.trim_matches('|').split(" | ").collect();
        let (promise, held) = (cells[0], cells[cells.len() - 1]);
        assert!(matches!(cells.len(), 2 | 6), "{promise}: a cell is missing");
        if held.trim() == "held by" {
            continue;
        }
        let tests: Vec<(&str, &str)> =
            held.split('`').skip(1).step_by(2).filter_map(|code| code.split_once("::")).collect();
        assert!(!tests.is_empty(), "no test holds: {promise}");
        for (file, function) in tests {
            let text = fs::read_to_string(root().join(file)).unwrap_or_else(|_| panic!("no {file}"));
            let (before, _) = text
                .split_once(&format!("fn {function}("))
                .unwrap_or_else(|| panic!("{file} has no {function}"));
            // Its attributes stand after the end of what is before it.
            let attributes = before.rsplit("}\n").next().unwrap();
            assert!(
                attributes.contains("test]") || attributes.contains("test("),
                "{file}: {function} is no test"
            );
            assert!(!attributes.contains("#[ignore"), "{file}: {function} is not run");
            seen += 1;
        }
    }
    assert!(seen > 20, "{seen} tests");
}

/// First words of a comment that is read twice. scripts/counts.py lists such comments.
const RELATIVE: &[&str] = &["What", "Who", "Whose", "Where", "Why", "How", "Which", "Those", "That"];

/// Doc comments say what a thing is or does, in sentences that begin with their subject.
#[test]
fn doc_comments_begin_with_their_subject() {
    let mut source = String::new();
    texts(&root().join("src"), &mut source);
    let (mut all, mut relative, mut before) = (0, Vec::new(), false);
    for line in source.lines().map(str::trim_start) {
        let comment = line.strip_prefix("///").or_else(|| line.strip_prefix("//!"));
        let first = comment.filter(|text| !before && !text.trim().is_empty());
        before = comment.is_some();
        let Some(first) = first else { continue };
        all += 1;
        if first.split_whitespace().next().is_some_and(|word| RELATIVE.contains(&word)) {
            relative.push(first);
        }
    }
    assert!(relative.len() * 100 < all * 3, "{} of {all}: {relative:#?}", relative.len());
}
