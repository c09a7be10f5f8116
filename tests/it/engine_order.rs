//! The files of `src/engine` stand in one order: each knows only what stands below it.

#![expect(clippy::unwrap_used, reason = "a test stops at the first thing that is not as it should be")]

use std::collections::{BTreeMap, BTreeSet};

const ENGINE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/src/engine");

/// The order, as the head of `mod.rs` has it: from the top down.
fn order() -> Vec<String> {
    let text = std::fs::read_to_string(format!("{ENGINE}/mod.rs")).unwrap();
    let (_, list) = text.split_once("//! ```text\n").unwrap();
    let (list, _) = list.split_once("//! ```\n").unwrap();
    list.lines().filter_map(|line| line.split_whitespace().nth(1)).map(str::to_owned).collect()
}

/// The code of each file without comments and tests.
fn files() -> BTreeMap<String, String> {
    let paths = std::fs::read_dir(ENGINE).unwrap().map(|entry| entry.unwrap().path());
    let paths = paths.filter(|path| path.extension().is_some_and(|extension| extension == "rs"));
    let name = |path: &std::path::Path| path.file_stem().unwrap().to_str().unwrap().to_owned();
    let code = |path: &std::path::Path| {
        let text = std::fs::read_to_string(path).unwrap();
        let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap();
        let lines = code.lines().filter(|line| !line.trim_start().starts_with("//"));
        lines.flat_map(|line| [line, "\n"]).collect()
    };
    paths.map(|path| (name(&path), code(&path))).filter(|(name, _): &(_, String)| name != "mod").collect()
}

/// Words that follow one of some prefixes; those in braces after it, too.
fn named(code: &str, prefixes: &[&str]) -> BTreeSet<String> {
    let word = |text: &str| text.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect::<String>();
    let behind = prefixes.iter().flat_map(|prefix| code.split(prefix).skip(1));
    behind
        .flat_map(|rest| match rest.strip_prefix('{') {
            // Of `{a, b::{C, D}}` the names inside are words, too, and no files.
            Some(list) => list
                .split(';')
                .next()
                .unwrap_or(list)
                .split([',', '{', '}'])
                .map(|it| word(it.trim()))
                .collect(),
            None => vec![word(rest)],
        })
        .collect()
}

/// Edges that do not lead down, as sentences.
fn against(order: &[String], files: &BTreeMap<String, String>) -> Vec<String> {
    let place = |name: &str| order.iter().position(|it| it == name);
    // A method of `Session` is an edge to the file that has it, whoever calls it.
    let mut methods: BTreeMap<String, &str> = BTreeMap::new();
    for (name, code) in files.iter().filter(|(_, code)| code.contains("\nimpl Session {")) {
        methods.extend(
            named(code, &["    async fn ", "    fn ", ") fn ", ") async fn "])
                .into_iter()
                .map(|it| (it, name.as_str())),
        );
    }
    let mut found = Vec::new();
    for (name, code) in files {
        let mut edges = named(code, &["super::", "crate::engine::"]);
        // What `mod.rs` gives away hides which file it is of.
        found.extend(
            edges
                .iter()
                .filter(|it| it.starts_with(char::is_uppercase) && code.contains(&format!("super::{it}")))
                .map(|it| format!("{name} names {it} without its file")),
        );
        if code.contains("\nimpl Session {") {
            let called =
                named(code, &["self."]).into_iter().filter(|it| code.contains(&format!("self.{it}(")));
            edges.extend(called.filter_map(|it| methods.get(&it).map(|file| (*file).to_owned())));
        }
        let up =
            edges.iter().filter(|edge| *edge != name && place(edge) < place(name) && place(edge).is_some());
        found.extend(up.map(|edge| format!("{name} -> {edge}")));
    }
    found
}

#[test]
fn every_file_of_the_engine_knows_only_what_stands_below_it() {
    let (order, files) = (order(), files());
    let listed: BTreeSet<&String> = order.iter().collect();
    assert_eq!(listed, files.keys().collect(), "the head of engine/mod.rs lists every file once");
    assert_eq!(against(&order, &files), Vec::<String>::new());
}

#[test]
fn an_edge_back_is_seen() {
    let (order, mut files) = (order(), files());
    files.get_mut("known").unwrap().push_str("use super::session::Session;\n");
    files.get_mut("hints").unwrap().push_str("fn f() { crate::engine::{run, work}; }\n");
    files.get_mut("session").unwrap().push_str("fn f() { self.carry_out(); }\n");
    assert_eq!(
        against(&order, &files),
        ["hints -> run", "hints -> work", "known -> session", "session -> task"]
    );
}
