//! What is generated and checked in is what the code says now. `make docs` writes it.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::expect_used, reason = "a test")]
#![allow(clippy::disallowed_methods, reason = "tests read the files that they compare, and start groff")]

use std::path::Path;
use std::process::Command;

use clap::CommandFactory as _;

#[test]
fn reference_pages_and_schemas_are_those_of_the_code() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/reference");
    let pages = provision::reference::pages(provision::cli::Cli::command()).unwrap();
    let mut stale = Vec::new();
    for (name, text) in &pages {
        let path = directory.join(name);
        if std::fs::read_to_string(&path).unwrap_or_default() != *text {
            stale.push(*name);
        }
    }
    assert!(stale.is_empty(), "docs/reference/ is not what the code says: {stale:?}; run `make docs`");
    for entry in std::fs::read_dir(&directory).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        assert!(pages.iter().any(|(page, _)| *page == name), "docs/reference/{name} is written by nobody");
    }
}

/// Whoever formats these pages for `man` has nothing to complain about, and none lacks a section.
#[test]
fn pages_for_man_are_whole_and_clean() {
    let directory = tempfile::tempdir().unwrap();
    let pages = provision::reference::man_pages(provision::cli::Cli::command()).unwrap();
    assert!(pages.len() > 30, "{} pages", pages.len());
    for (name, page) in pages {
        let text = String::from_utf8(page).unwrap();
        let group = ["inventory", "playbook", "report", "lab", "generate", "expect"]
            .iter()
            .any(|group| name == format!("provision-{group}.1"));
        for section in ["NAME", "SYNOPSIS", "EXAMPLES", "FILES", "EXIT STATUS", "ENVIRONMENT"] {
            let heading = [format!(".SH {section}\n"), format!(".SH \"{section}\"\n")];
            let there = heading.iter().any(|heading| text.contains(heading));
            assert!(there || group && section == "EXAMPLES", "{name} has no {section}");
        }
        let path = directory.path().join(&name);
        std::fs::write(&path, text).unwrap();
        // Not everybody has groff.
        if let Ok(done) = Command::new("groff").args(["-man", "-Tutf8", "-ww"]).arg(&path).output() {
            let complaints = String::from_utf8_lossy(&done.stderr);
            assert!(done.status.success() && complaints.is_empty(), "{name}: {complaints}");
        }
    }
}
