//! Every example of README and of the guides, as a reader would try it: in a lab, applied twice.

#![expect(clippy::indexing_slicing, reason = "these are tests, though not in functions that are marked so")]

use std::collections::BTreeMap;
use std::sync::Mutex;

use crate::pages::{blocks, pages};
use crate::support::Lab;

/// What a container cannot do is blocked with its reason; then `apply` says so with this code.
const BLOCKED: i32 = 7;

/// An inventory, the files beside it, and the options of its lab.
type Example = (String, Vec<(String, String)>, Vec<String>);

/// The examples by page and line.
fn examples() -> BTreeMap<String, Example> {
    let mut examples = BTreeMap::new();
    for (page, text) in pages() {
        if !page.ends_with("README.md") && !page.starts_with("docs/guides") || page.starts_with("playbooks") {
            continue;
        }
        for block in blocks(&text).iter().filter(|block| block.language == "yaml") {
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
    let examples = examples();
    assert!(examples.len() >= 12, "{}", examples.len());
    let left = Mutex::new(examples.into_iter());
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                loop {
                    let next = left.lock().unwrap().next();
                    let Some((place, example)) = next else { break };
                    is_applied_twice(&place, &example);
                }
            });
        }
    });
}

fn is_applied_twice(place: &str, (inventory, files, options): &Example) {
    let Some(lab) = Lab::of(inventory, files, options) else { return };
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
}
