//! Other people's code in the program: where it comes from, under which licence, and nothing twice. The
//! rules are those of `deny.toml`, which `cargo deny` reads; this needs no tool and no network.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test")]
#![allow(clippy::disallowed_methods, reason = "tests start cargo")]

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;
use std::sync::LazyLock;

use serde_json::Value as Json;

const RULES: &str = include_str!("../../deny.toml");

fn packages() -> &'static [Json] {
    static ALL: LazyLock<Vec<Json>> = LazyLock::new(|| {
        let output = Command::new(env!("CARGO"))
            .args(["metadata", "--format-version", "1", "--locked", "--offline"])
            .args(["--filter-platform", "x86_64-unknown-linux-gnu"])
            .current_dir(env!("CARGO_MANIFEST_DIR"))
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let all: Json = serde_json::from_slice(&output.stdout).unwrap();
        all["packages"].as_array().unwrap().clone()
    });
    &ALL
}

fn name(package: &Json) -> String {
    format!("{}@{}", package["name"].as_str().unwrap(), package["version"].as_str().unwrap())
}

/// The texts in quotes of a list of `deny.toml`; of tables in it only `crate`.
fn rule(key: &str) -> BTreeSet<&'static str> {
    let list = RULES.split_once(&format!("\n{key} = [")).unwrap().1.split_once("\n]").unwrap().0;
    list.lines().filter_map(|line| line.split('"').nth(1)).collect()
}

/// Whether an SPDX expression lets us choose allowed licences alone.
fn allowed(expression: &str, known: &BTreeSet<&str>) -> bool {
    fn any(words: &mut &[&str], known: &BTreeSet<&str>) -> bool {
        let mut good = all(words, known);
        while words.first() == Some(&"OR") {
            *words = &words[1..];
            good |= all(words, known);
        }
        good
    }
    fn all(words: &mut &[&str], known: &BTreeSet<&str>) -> bool {
        let mut good = one(words, known);
        while words.first() == Some(&"AND") {
            *words = &words[1..];
            good &= one(words, known);
        }
        good
    }
    fn one(words: &mut &[&str], known: &BTreeSet<&str>) -> bool {
        let (word, rest) = words.split_first().unwrap();
        *words = rest;
        if *word == "(" {
            let good = any(words, known);
            *words = &words[1..];
            return good;
        }
        if words.first() == Some(&"WITH") {
            *words = &words[2..];
            return false;
        }
        known.contains(word)
    }
    let spaced = expression.replace('(', " ( ").replace(')', " ) ").replace('/', " OR ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    any(&mut words.as_slice(), known)
}

#[test]
fn every_licence_is_allowed() {
    let known = rule("allow");
    assert!(allowed("(A OR MIT) AND BSD-3-Clause", &known) && allowed("GPL-3.0/MIT", &known));
    assert!(!allowed("GPL-3.0 AND MIT", &known) && !allowed("Apache-2.0 WITH X", &known));
    for package in packages() {
        let licence = package["license"].as_str().unwrap_or("none told");
        assert!(allowed(licence, &known), "{}: {licence}", name(package));
    }
}

#[test]
fn everything_comes_from_crates_io() {
    for package in packages().iter().filter(|package| package["name"] != "provision") {
        let source = package["source"].as_str().unwrap_or("a path");
        assert_eq!(source, "registry+https://github.com/rust-lang/crates.io-index", "{}", name(package));
    }
}

#[test]
fn nothing_is_there_twice_without_a_reason() {
    let mut versions: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for package in packages() {
        versions.entry(package["name"].as_str().unwrap()).or_default().push(name(package));
    }
    let skipped: BTreeSet<String> = rule("skip").into_iter().map(str::to_owned).collect();
    let there: BTreeSet<String> = packages().iter().map(name).collect();
    let gone: Vec<_> = skipped.difference(&there).collect();
    assert!(gone.is_empty(), "deny.toml still skips {gone:?}");
    for (package, mut all) in versions {
        all.retain(|version| !skipped.contains(version));
        assert_eq!(all.len(), 1, "{package}: {all:?}");
    }
}

/// What needs the network is asked where there is one: by the workflow of a public forge.
#[test]
fn the_forge_asks_for_known_advisories() {
    assert!(include_str!("../../.github/workflows/ci.yml").contains("- run: make deny\n"));
    let makefile = include_str!("../../Makefile");
    let deny = makefile.split("\ndeny:").nth(1).unwrap().split("\n\n").next().unwrap();
    assert!(deny.contains("cargo deny --locked check advisories"), "{deny}");
    assert!(deny.contains("check bans licenses sources"), "{deny}");
}
