//! Reports of others in `tests/cases/reports`: each has its source and its answer. README.md there says what the lines are.

#![allow(clippy::unwrap_used, reason = "a test")]

use std::fs;

use crate::support::folders::children;

const FIELDS: [&str; 8] = ["tool", "source", "setting", "cause", "do", "part", "sure", "spare"];

#[test]
fn each_report_has_a_source_and_an_answer() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/reports");
    let files = children(&root);
    let reports: Vec<_> =
        files.iter().filter(|file| file.extension().is_some_and(|end| end == "txt")).collect();
    for file in &reports {
        let text = fs::read_to_string(file).unwrap();
        let (head, body) = text.split_once("\n\n").unwrap_or_else(|| panic!("{}", file.display()));
        let lines: Vec<(&str, &str)> = head
            .lines()
            .map(|line| line.strip_prefix("# ").and_then(|line| line.split_once(':')).unwrap_or((line, "")))
            .collect();
        let names: Vec<&str> = lines.iter().map(|(name, _)| *name).collect();
        assert_eq!(names, FIELDS, "{}", file.display());
        let of =
            |name: &str| lines.iter().find(|(other, _)| *other == name).map_or("", |(_, text)| text.trim());
        for name in ["tool", "source", "setting", "cause", "do"] {
            assert!(!of(name).is_empty(), "{}: {name}", file.display());
        }
        assert!(["confirmed", "likely", "guess"].contains(&of("sure")), "{}", file.display());
        assert!(!body.trim().is_empty() && body.lines().count() < 60, "{}", file.display());
    }
    assert!(reports.len() > 250, "{}", reports.len());
}
