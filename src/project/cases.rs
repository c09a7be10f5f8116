//! Bad files and what is said about them: `tests/cases/config/NAME.case` holds the files,
//! `NAME.stderr.snap` the diagnostics, a snapshot: docs/contributing/testing.md.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::testing::Case;
use super::{LoadOptions, load};

/// Files that are too large or too repetitive to be kept.
fn generated() -> Vec<(&'static str, String)> {
    let inventory = |text: &str| format!("--- inventory.yaml\n{text}");
    let bomb = {
        let mut text = String::from("cluster: c\na0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
        for i in 1..9 {
            let alias = format!("*a{}", i - 1);
            let list = vec![alias; 10].join(", ");
            writeln!(text, "a{i}: &a{i} [{list}]").unwrap();
        }
        text
    };
    let junk = "{]&*%@`junk: é ".repeat((10 << 20) / 16);
    vec![
        ("anchor_bomb", inventory(&bomb)),
        ("junk_10_mib", inventory(&junk)),
        ("junk_1_mib", inventory(&"{]&*%@`junk: \n".repeat((1 << 20) / 14))),
        (
            "mistakes_100_000",
            inventory(&format!("cluster: c\nvars:\n  a:\n{}", "  - 0644\n".repeat(100_000))),
        ),
        ("deep_nesting", inventory(&format!("cluster: {}", "[".repeat(5000)))),
    ]
}

#[test]
fn bad_files() {
    let directory = std::path::Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cases/config"));
    let mut cases = generated().into_iter().map(|(name, text)| (name.to_owned(), text)).collect::<Vec<_>>();
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "case") {
            let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
            cases.push((name, std::fs::read_to_string(&path).unwrap()));
        }
    }
    assert!(cases.len() > 30, "{}", cases.len());
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path(directory);
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    for (name, text) in cases {
        let case = Case::new(&text);
        let found = match case.load(&LoadOptions::default()) {
            Err(error) => error.render(false),
            Ok(project) => project.validate().render(&project.sources, false),
        };
        let found = format!("{}\n", case.relative(&found));
        settings.bind(|| insta::assert_snapshot!(format!("{name}.stderr"), found));
    }
}

/// Usual mistakes, each alone: `tests/cases/mistakes/NAME.txt` has them with a title, the snapshot beside it what each
/// answers. The words are those of the program, and files that a mistake does not name are as they should be.
/// The forty of `commonest.list`, by their titles, have a help.
#[test]
fn usual_mistakes() {
    let directory = std::path::Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cases/mistakes"));
    let rest = [
        ("inventory.yaml", "cluster: c\nplaybooks: [./p.yaml]\nhosts:\n  n0:\n"),
        ("p.yaml", "name: P\ntasks:\n  - name: t\n    package: { names: [jq] }\n"),
    ];
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path(directory);
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    let commonest = std::fs::read_to_string(directory.join("commonest.list")).unwrap();
    let mut commonest: BTreeSet<&str> = commonest.lines().collect();
    assert_eq!(commonest.len(), 40);
    for name in ["yaml", "ansible"] {
        let text = std::fs::read_to_string(directory.join(format!("{name}.txt"))).unwrap();
        let mut answers = String::new();
        let mistakes: Vec<&str> = text.split("=== ").skip(1).collect();
        assert!(mistakes.len() >= 15, "{}", mistakes.len());
        for mistake in mistakes {
            let (title, files) = mistake.split_once('\n').unwrap();
            let case = Case::new(files);
            for (file, content) in rest {
                if !case.path(file).exists() {
                    std::fs::write(case.path(file), content).unwrap();
                }
            }
            let found = match load(&case.path("inventory.yaml"), &LoadOptions::default()) {
                Err(error) => error.render(false),
                Ok(project) => project.validate().render(&project.sources, false),
            };
            let wrong = found.contains("error: ") || found.contains("warning: ");
            let found = if wrong { case.relative(&found) } else { "valid".to_owned() };
            if commonest.remove(title) {
                assert!(found.contains("= help: "), "{title}: {found}");
            }
            writeln!(answers, "=== {title}\n{found}\n").unwrap();
        }
        settings.bind(|| insta::assert_snapshot!(name, answers));
    }
    assert!(commonest.is_empty(), "there are no such mistakes: {commonest:?}");
}

/// A mirror must not be able to change anything without being found out.
#[test]
fn a_name_in_git_is_no_proof_through_a_mirror() {
    let said = |mirror: &str, git: &str| {
        let case = Case::new(&format!(
            "--- inventory.yaml\ncluster: c\nsources: {{ mirrors: {{ 'https://example.org': {mirror} }} }}\nplaybooks: [./p.yaml]\nhosts: {{ n0: }}\n--- p.yaml\nname: P\ntasks:\n- name: t\n  git: {{ url: https://example.org/x.git, path: /x, {git} }}\n"
        ));
        match load(&case.path("inventory.yaml"), &LoadOptions::default()) {
            Err(error) => error.render(false),
            Ok(project) => project.validate().render(&project.sources, false),
        }
    };
    let commit = format!("commit: {}", "a".repeat(40));
    for mirror in ["http://mirror", "git://mirror"] {
        for name in ["tag: v1", "branch: main"] {
            let told = said(mirror, name);
            assert!(told.contains("is no proof over") && told.contains("git ls-remote"), "{told}");
            assert!(told.contains("which stands in for https://example.org/x.git"), "{told}");
        }
        for name in [commit.clone(), format!("tag: v1, {commit}")] {
            assert_eq!(said(mirror, &name), "", "{mirror} {name}");
        }
    }
    let told = said("https://mirror", "tag: v1");
    assert!(told.contains("warning: the mirror decides which commit `v1` is"), "{told}");
    for mirror in ["https://example.org", "{ url: https://example.org }"] {
        assert_eq!(said(mirror, "tag: v1"), "");
    }
}
