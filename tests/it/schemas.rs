//! The schemas for editors, by a validator that is not ours: what the program takes they take, what an
//! editor shall underline they refuse.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test")]

use std::path::Path;

use jsonschema::Validator;
use provision::config::{Sources, yaml};
use provision::schema;
use serde_json::Value as Json;

use crate::pages::{blocks, pages, root};

/// A text as the program reads it.
fn parsed(text: &str) -> Json {
    let mut sources = Sources::default();
    let id = sources.add("text.yaml", text);
    yaml::parse(&sources, id).unwrap().to_json()
}

fn validator(schema: &Json) -> Validator {
    jsonschema::meta::validate(schema).unwrap();
    jsonschema::validator_for(schema).unwrap()
}

fn inventories() -> Validator {
    validator(&schema::inventory())
}

fn playbooks() -> Validator {
    validator(&schema::playbook())
}

fn check(validator: &Validator, name: &str, text: &str) {
    let errors: Vec<String> = validator
        .iter_errors(&parsed(text))
        .map(|error| format!("{}: {error}", error.instance_path()))
        .collect();
    assert!(errors.is_empty(), "{name}:\n{}", errors.join("\n"));
}

/// The YAML files of a folder of the repository.
fn files(folder: &str) -> Vec<(String, String)> {
    let read = |entry: std::io::Result<std::fs::DirEntry>| {
        let path = entry.unwrap().path();
        let yaml = path.extension().is_some_and(|extension| extension == "yaml");
        // The versions of the playbooks are read by the program alone.
        let yaml = yaml && !path.ends_with("playbooks/versions.yaml");
        yaml.then(|| (path.display().to_string(), std::fs::read_to_string(&path).unwrap()))
    };
    let files: Vec<_> =
        std::fs::read_dir(Path::new(&root()).join(folder)).unwrap().filter_map(read).collect();
    assert!(files.len() > 5, "{} files in {folder}", files.len());
    files
}

fn tasks(text: &str) -> String {
    format!("name: some tasks\ntasks:\n{text}")
}

#[test]
fn files_of_the_repository_are_valid() {
    let (inventories, playbooks) = (inventories(), playbooks());
    for (name, text) in files("inventories") {
        check(&inventories, &name, &text);
    }
    for (name, text) in files("playbooks") {
        check(&playbooks, &name, &text);
    }
    for kind in provision::resources::kinds() {
        check(&playbooks, kind.name, &tasks(kind.example));
    }
}

#[test]
fn blocks_of_the_pages_are_valid() {
    let (inventories, playbooks) = (inventories(), playbooks());
    let mut checked = 0;
    for (page, text) in pages() {
        for block in blocks(&text).iter().filter(|block| block.language == "yaml") {
            let at = format!("{}:{}", page.display(), block.line);
            match block.check() {
                Some(("inventory", _)) => check(&inventories, &at, &block.text),
                Some(("playbook", _)) => check(&playbooks, &at, &block.text),
                Some(("tasks", _)) => check(&playbooks, &at, &tasks(&block.text)),
                _ => continue,
            }
            checked += 1;
        }
    }
    assert!(checked >= 4, "{checked} blocks");
}

#[test]
fn mistakes_are_not_valid() {
    let (inventories, playbooks) = (inventories(), playbooks());
    for text in [
        "groups: { gpu: { hosts: a } }",
        "cluster: [a]",
        "cluster: a\ngroups: [gpu]",
        "cluster: a\ngropus: {}",
        "cluster: a\nssh: { prot: 22 }",
        "cluster: a\nssh: { port: ssh }",
    ] {
        assert!(!inventories.is_valid(&parsed(text)), "{text}");
    }
    for text in [
        "- { name: a, command: { run: [x] } }",
        "tasks: []",
        "name: x\ntask: []",
        "name: x\ntasks: { file: {} }",
    ] {
        assert!(!playbooks.is_valid(&parsed(text)), "{text}");
    }
    for text in [
        "- { name: a }",
        "- { name: a, file: { pth: /a } }",
        "- { name: a, file: { content: x } }",
        "- { name: a, file: { path: /a, state: there } }",
        "- { name: a, netdev: { name: eth0, mtu: [9000] } }",
        "- { name: a, nothing: { path: /a } }",
        "- { name: a, file: { path: /a }, directory: { path: /b } }",
        "- { name: a, file: { path: /a }, whne: x }",
    ] {
        assert!(!playbooks.is_valid(&parsed(&tasks(text))), "{text}");
    }
    // Any value may be a template.
    assert!(playbooks.is_valid(&parsed(&tasks("- { name: a, netdev: { name: eth0, mtu: \"{{ mtu }}\" } }"))));
}

/// A key that nobody knows is refused wherever a key stands in a file.
#[test]
fn unknown_keys_are_not_valid() {
    let playbooks = playbooks();
    for (name, text) in files("playbooks") {
        let mut whole = parsed(&text);
        let Some(list) = whole.get_mut("tasks").and_then(Json::as_array_mut) else { continue };
        for at in 0..list.len() {
            let mut spoiled = parsed(&text);
            let task = spoiled["tasks"][at].as_object_mut().unwrap();
            task.insert("no_such_key".to_owned(), Json::Null);
            assert!(!playbooks.is_valid(&spoiled), "{name}: task {at}");
        }
    }
}
