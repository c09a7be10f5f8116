//! Every example of README and of the guides, as a reader would try it: in a lab, applied twice.

use std::collections::BTreeMap;

use super::support::{CONTAINERS, Lab};

#[path = "../support/pages.rs"]
mod pages;

/// What a container cannot do is blocked with its reason; then `apply` says so with this code.
const BLOCKED: i32 = 7;

/// An inventory, the files beside it, and the options of its lab.
type Example = (String, Vec<(String, String)>, Vec<String>);

/// The examples by page and line.
fn examples() -> BTreeMap<String, Example> {
    let mut examples = BTreeMap::new();
    for (page, text) in pages::pages() {
        if !page.ends_with("README.md") && !page.starts_with("docs/guides") || page.starts_with("playbooks") {
            continue;
        }
        for block in pages::blocks(&text).iter().filter(|block| block.language == "yaml") {
            let Some((kind, options)) = block.check() else { continue };
            let mut files = Vec::new();
            let inventory = if kind == "inventory" {
                block.text.clone()
            } else {
                let head = if kind == "tasks" { "name: example\ntasks:\n" } else { "" };
                files.push(("play.yaml".to_owned(), format!("{head}{}", block.text)));
                "cluster: docs\nplaybooks: [play.yaml]\ngroups: { gpu: { hosts: \"gpu[0-1]\" }, login: { hosts: [login0] } }\n".to_owned()
            };
            for src in block.text.split("src: ").skip(1) {
                let name = src.split([',', ' ', '}', '\n']).next().unwrap_or_default();
                files.push((name.to_owned(), "a file\n".to_owned()));
            }
            let options = options.into_iter().map(str::to_owned).collect();
            examples.insert(format!("{}:{}", page.display(), block.line), (inventory, files, options));
        }
    }
    examples
}

#[test]
fn every_example_is_applied_twice() {
    let mut tried = 0;
    for (place, (inventory, files, options)) in examples() {
        // Nobody counted its hosts, so no other lab is brought up beside it.
        let Some(lab) = Lab::of(CONTAINERS, &inventory, &files, &options) else { return };
        let apply = || lab.run(&["apply", &lab.text("lab.yaml"), "--lab", "--yes", "--json", "-"]);
        let (first, second) = (apply(), apply());
        let json = second.json();
        assert!(
            [0, BLOCKED].contains(&first.code) && first.code == second.code,
            "{place}: {} and {}\n{}{}",
            first.code,
            second.code,
            first.err,
            second.err
        );
        assert_eq!(json["summary"]["tasks"]["changed"], 0, "{place}: {}", second.err);
        tried += 1;
    }
    assert!(tried >= 12, "{tried}");
}
