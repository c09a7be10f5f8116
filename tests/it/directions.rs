//! Modules import in one direction, and `docs/contributing/architecture.md` says which; so do the files of a module.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::expect_used, reason = "a test")]
#![allow(clippy::disallowed_methods, reason = "tests read the files that they compare")]

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};

use crate::accept::accepts;
use crate::pages::root;

/// The modules of `src/lib.rs`. Each imports only such as stand below it.
const ORDER: &[&str] = &[
    "cli",
    "init",
    "through",
    "launch",
    "trust",
    "settings",
    "reference",
    "schema",
    "lab",
    "watch",
    "report",
    "why",
    "compare",
    "accept",
    "relay",
    "engine",
    "journal",
    "bundle",
    "active",
    "plan",
    "project",
    "playbook",
    "resources",
    "checks",
    "facts",
    "events",
    "causes",
    "scheduler",
    "transport",
    "inventory",
    "sources",
    "secrets",
    "template",
    "hostlist",
    "config",
    "shell",
    "placeholder",
    "process",
    "backoff",
    "disk",
    "foreign",
    "words",
    "exit",
];

const PAGE: &str = "docs/contributing/architecture.md";

/// `from` imports `to` at `place`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Edge {
    from: String,
    to: String,
    place: String,
}

/// Reads the imports of all modules out of the tokens of their files, so that neither a comment nor a
/// string is taken for one.
#[derive(Default)]
struct Reader<'a> {
    modules: BTreeSet<&'a str>,
    /// Exported macros stand at the root, whichever module has them.
    macros: BTreeMap<String, &'a str>,
    /// Modules that are files of their own and only there for tests.
    tests: BTreeSet<String>,
    edges: Vec<Edge>,
    /// Names at the root that are nothing known.
    unknown: Vec<String>,
}

/// Where tokens stand.
#[derive(Clone)]
struct At<'a> {
    path: &'a str,
    /// Names of the modules from the root down to here.
    module: Vec<String>,
}

impl<'a> Reader<'a> {
    fn read(modules: impl IntoIterator<Item = &'a str>, files: &[(&'a str, TokenStream)]) -> Self {
        let mut reader = Self { modules: modules.into_iter().collect(), ..Self::default() };
        let files: Vec<(At<'a>, &TokenStream)> =
            files.iter().map(|(path, tokens)| (At { path, module: module_of(path) }, tokens)).collect();
        for (at, tokens) in &files {
            let owner = at.path.trim_end_matches(".rs").split('/').next().unwrap();
            reader.declarations(at, tokens, owner);
        }
        for (at, tokens) in &files {
            let test = (1..=at.module.len()).any(|end| reader.tests.contains(&at.module[..end].join("::")));
            if !at.module.is_empty() && !test {
                reader.stream(at, tokens);
            }
        }
        reader
    }

    /// Macros and modules for tests, which must be known before imports are read.
    fn declarations(&mut self, at: &At<'a>, tokens: &TokenStream, owner: &'a str) {
        let tokens: Vec<TokenTree> = tokens.clone().into_iter().collect();
        for (i, token) in tokens.iter().enumerate() {
            if word(token) == "macro_rules" {
                self.macros.insert(word(&tokens[i + 2]), owner);
            }
            if is_test(&tokens, i)
                && let Some(place) = tokens[i..].iter().position(|token| word(token) == "mod")
                && place < 8
            {
                let name = word(&tokens[i + place + 1]);
                let all: Vec<String> = at.module.iter().cloned().chain([name]).collect();
                self.tests.insert(all.join("::"));
            }
        }
    }

    fn stream(&mut self, at: &At<'a>, tokens: &TokenStream) {
        let tokens: Vec<TokenTree> = tokens.clone().into_iter().collect();
        let mut i = 0;
        while i < tokens.len() {
            if is_test(&tokens, i) {
                i = past_item(&tokens, i);
                continue;
            }
            if word(&tokens[i]) == "crate" && is_path(&tokens, i + 1) {
                self.names(at, &tokens, i + 3);
            }
            // `super::super::` may lead to the root as well.
            if word(&tokens[i]) == "super" && (i < 3 || word(&tokens[i - 3]) != "super") {
                let mut up = 1;
                while is_path(&tokens, i + 1) && word(&tokens[i + 3]) == "super" {
                    up += 1;
                    i += 3;
                }
                if up == at.module.len() && is_path(&tokens, i + 1) {
                    self.names(at, &tokens, i + 3);
                }
            }
            if let TokenTree::Group(group) = &tokens[i] {
                let mut inner = at.clone();
                if i >= 2 && word(&tokens[i - 2]) == "mod" {
                    inner.module.push(word(&tokens[i - 1]));
                }
                self.stream(&inner, &group.stream());
            }
            i += 1;
        }
    }

    /// What follows the root in a path: a name, or several in braces.
    fn names(&mut self, at: &At<'a>, tokens: &[TokenTree], i: usize) {
        match tokens.get(i) {
            Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Brace => {
                let inner: Vec<TokenTree> = group.stream().into_iter().collect();
                let first = |i: &usize| *i == 0 || inner[i - 1].to_string() == ",";
                (0..inner.len()).filter(first).for_each(|i| self.names(at, &inner, i));
            }
            Some(token) => {
                let name = word(token);
                let place = format!("src/{}", at.path);
                let to = self.modules.get(name.as_str()).or_else(|| self.macros.get(&name)).copied();
                match to {
                    // Macros of `lib.rs` itself.
                    Some("lib") => {}
                    Some(to) if to == at.module[0] => {}
                    Some(to) => {
                        self.edges.push(Edge { from: at.module[0].clone(), to: to.to_owned(), place });
                    }
                    None => self.unknown.push(format!("{place}: `crate::{token}`")),
                }
            }
            None => {}
        }
    }
}

/// `a/b.rs` and `a/b/mod.rs` are `a::b`; `lib.rs` and `main.rs` are the root.
fn module_of(path: &str) -> Vec<String> {
    let path = path.trim_end_matches(".rs").trim_end_matches("/mod");
    if matches!(path, "lib" | "main") { Vec::new() } else { path.split('/').map(str::to_owned).collect() }
}

/// The text of a word; of anything else nothing.
fn word(token: &TokenTree) -> String {
    if let TokenTree::Ident(word) = token { word.to_string() } else { String::new() }
}

/// Whether `::` stands here and something behind it.
fn is_path(tokens: &[TokenTree], i: usize) -> bool {
    tokens.len() > i + 2 && tokens[i].to_string() == ":" && tokens[i + 1].to_string() == ":"
}

/// Whether `#[cfg(test)]` stands here.
fn is_test(tokens: &[TokenTree], i: usize) -> bool {
    let attribute = |group: &Group| {
        group.delimiter() == Delimiter::Bracket && group.to_string().replace(' ', "") == "[cfg(test)]"
    };
    tokens[i].to_string() == "#"
        && matches!(tokens.get(i + 1), Some(TokenTree::Group(group)) if attribute(group))
}

/// The place behind the item that an attribute belongs to.
fn past_item(tokens: &[TokenTree], from: usize) -> usize {
    let is_body =
        |token: &TokenTree| matches!(token, TokenTree::Group(group) if group.delimiter() == Delimiter::Brace);
    let ends = |token: &TokenTree| is_body(token) || token.to_string() == ";";
    tokens[from..].iter().position(ends).map_or(tokens.len(), |end| from + end + 1)
}

/// Edges that lead to a module that does not stand below.
fn back<'e>(order: &[&str], edges: &'e [Edge]) -> Vec<&'e Edge> {
    let place = |name: &str| order.iter().position(|other| *other == name);
    edges.iter().filter(|edge| place(&edge.from) >= place(&edge.to)).collect()
}

/// All files of `src` by their path below it.
fn files() -> Vec<(String, String)> {
    fn collect(directory: &Path, found: &mut Vec<(String, String)>) {
        for entry in std::fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                collect(&path, found);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let name = path.strip_prefix(root().join("src")).unwrap().to_str().unwrap().to_owned();
                found.push((name, std::fs::read_to_string(&path).unwrap()));
            }
        }
    }
    let mut files = Vec::new();
    collect(&root().join("src"), &mut files);
    files.sort();
    files
}

/// All imports of `src`.
fn source() -> Vec<Edge> {
    let files = files();
    let files: Vec<(&str, TokenStream)> =
        files.iter().map(|(path, text)| (path.as_str(), text.parse().unwrap())).collect();
    let reader = Reader::read(ORDER.iter().copied(), &files);
    assert!(reader.unknown.is_empty(), "no module and no macro:\n{}", reader.unknown.join("\n"));
    reader.edges
}

/// Imports between files that are a circle still. Nothing is added here.
const IN_CIRCLES: &[(&str, &str)] =
    &[("transport::classify", "transport::sudo"), ("transport::sudo", "transport::classify")];

/// All paths that begin at a place in tokens, those in braces one by one.
fn paths(tokens: &[TokenTree], i: usize, before: &[String], found: &mut Vec<Vec<String>>) {
    match tokens.get(i) {
        Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Brace => {
            let inner: Vec<TokenTree> = group.stream().into_iter().collect();
            let first = |i: &usize| *i == 0 || inner[i - 1].to_string() == ",";
            (0..inner.len()).filter(first).for_each(|i| paths(&inner, i, before, found));
        }
        Some(token) if !word(token).is_empty() => {
            let path: Vec<String> = before.iter().cloned().chain([word(token)]).collect();
            if is_path(tokens, i + 1) { paths(tokens, i + 3, &path, found) } else { found.push(path) }
        }
        _ => found.push(before.to_vec()),
    }
}

/// The paths from the root that a file names outside of its tests, and those that it re-exports from modules below it.
fn named(tokens: &TokenStream, module: &[String], uses: &mut Vec<Vec<String>>, given: &mut Vec<Vec<String>>) {
    let tokens: Vec<TokenTree> = tokens.clone().into_iter().collect();
    let mut i = 0;
    while i < tokens.len() {
        if is_test(&tokens, i) {
            i = past_item(&tokens, i);
            continue;
        }
        match word(&tokens[i]).as_str() {
            "use" if i > 0 && (word(&tokens[i - 1]) == "pub" || i > 1 && word(&tokens[i - 2]) == "pub") => {
                paths(&tokens, i + 1, module, given);
            }
            "crate" if is_path(&tokens, i + 1) => paths(&tokens, i + 3, &[], uses),
            "super" if i < 3 || word(&tokens[i - 3]) != "super" => {
                let mut up = 1;
                while is_path(&tokens, i + 1) && word(&tokens[i + 3]) == "super" {
                    up += 1;
                    i += 3;
                }
                if up < module.len() && is_path(&tokens, i + 1) {
                    paths(&tokens, i + 3, &module[..module.len() - up], uses);
                }
            }
            _ => {}
        }
        if let TokenTree::Group(group) = &tokens[i] {
            named(&group.stream(), module, uses, given);
        }
        i += 1;
    }
}

/// Imports between the files of a module. What a `mod.rs` re-exports is of the file that has it; a `mod.rs` itself
/// lists what is below it.
fn inside(module: &str, files: &[(Vec<String>, bool, TokenStream)]) -> BTreeSet<(String, String)> {
    let own: Vec<_> = files.iter().filter(|(path, ..)| path.first().is_some_and(|it| it == module)).collect();
    let known: BTreeSet<&[String]> = own.iter().map(|(path, ..)| path.as_slice()).collect();
    let mut uses: Vec<(&[String], Vec<String>)> = Vec::new();
    let mut given: BTreeMap<(&[String], String), Vec<String>> = BTreeMap::new();
    for (path, is_list, tokens) in &own {
        let (mut of_file, mut gives) = (Vec::new(), Vec::new());
        named(tokens, path, &mut of_file, &mut gives);
        if *is_list {
            given
                .extend(gives.into_iter().filter_map(|it| Some(((path.as_slice(), it.last()?.clone()), it))));
        } else {
            uses.extend(of_file.into_iter().map(|it| (path.as_slice(), it)));
        }
    }
    let file_of = |path: &[String]| (1..=path.len()).rev().find(|end| known.contains(&path[..*end]));
    let mut edges = BTreeSet::new();
    for (from, to) in uses {
        let Some(mut end) = file_of(&to) else { continue };
        let mut to = &to;
        if let Some(real) = to.get(end).and_then(|name| given.get(&(&to[..end], name.clone())))
            && let Some(real_end) = file_of(real)
        {
            (to, end) = (real, real_end);
        }
        if from != &to[..end] {
            edges.insert((from.join("::"), to[..end].join("::")));
        }
    }
    edges
}

/// The edges that are part of a circle, or lie between two.
fn circles(mut edges: BTreeSet<(String, String)>) -> BTreeSet<(String, String)> {
    loop {
        let from: BTreeSet<String> = edges.iter().map(|(from, _)| from.clone()).collect();
        let to: BTreeSet<String> = edges.iter().map(|(_, to)| to.clone()).collect();
        let before = edges.len();
        edges.retain(|edge| to.contains(&edge.0) && from.contains(&edge.1));
        if edges.len() == before {
            return edges;
        }
    }
}

fn inner_circles() -> BTreeSet<(String, String)> {
    let files: Vec<_> = files()
        .iter()
        .filter(|(path, _)| !path.contains("/tests") && !path.contains("/testing"))
        .map(|(path, text)| {
            let module = module_of(path);
            // The file of a folder that is one thing has code.
            let is_list = path.ends_with("/mod.rs") && (module.len() == 1 || !text.contains("fn "));
            (module, is_list, text.parse().unwrap())
        })
        .collect();
    ORDER.iter().flat_map(|module| circles(inside(module, &files))).collect()
}

#[test]
fn files_of_a_module_import_in_one_direction() {
    let known = IN_CIRCLES.iter().map(|(from, to)| ((*from).to_owned(), (*to).to_owned())).collect();
    assert_eq!(inner_circles(), known, "files import each other (left), or one of the list does so no more");
}

#[test]
fn a_circle_of_files_is_seen_however_it_is_written() {
    for (planted, seen) in [
        ("use super::b::x;", true),
        ("use crate::m::{b::{x, y}, c};", true),
        ("fn f() { super::b::x() }", true),
        ("use super::X;", true),
        ("use super::c::x;", false),
        ("#[cfg(test)] mod tests { use super::super::b; }", false),
    ] {
        let file =
            |path: &str, text: &str| (module_of(path), path.ends_with("/mod.rs"), text.parse().unwrap());
        let files = [
            file("m/mod.rs", "mod a; mod b; mod c; pub use b::{X, Y};"),
            file("m/a.rs", planted),
            file("m/b.rs", "use super::a::z;"),
            file("m/c.rs", ""),
        ];
        assert_eq!(!circles(inside("m", &files)).is_empty(), seen, "{planted}");
    }
}

#[test]
fn every_module_has_its_place() {
    let lib = std::fs::read_to_string(root().join("src/lib.rs")).unwrap();
    let modules: BTreeSet<&str> =
        lib.lines().filter_map(|line| line.strip_prefix("pub mod ")?.strip_suffix(';')).collect();
    assert_eq!(modules, ORDER.iter().copied().collect::<BTreeSet<_>>());
    assert_eq!(modules.len(), ORDER.len());
}

#[test]
fn modules_import_only_what_stands_below_them() {
    let edges = source();
    assert!(edges.len() > 500, "{}", edges.len());
    let back: Vec<String> = back(ORDER, &edges)
        .iter()
        .map(|edge| {
            format!("{}: `{}` imports `{}`, which does not stand below it", edge.place, edge.from, edge.to)
        })
        .collect();
    assert!(back.is_empty(), "{}", back.join("\n"));
}

#[test]
fn some_names_have_few_homes() {
    for (name, homes) in [
        ("anyhow::", &["cli/", "lab/"][..]),
        ("serde_yaml::", &["config/yaml.rs"]),
        // What differs between transports is a question of `TransportKind` itself.
        ("= TransportKind::", &["cli/load.rs", "project/single_host.rs"]),
    ] {
        let at_home = |path: &str| homes.iter().any(|home| path.starts_with(home));
        let outside: Vec<String> = files()
            .into_iter()
            .filter(|(path, text)| text.contains(name) && !at_home(path))
            .map(|(path, _)| path)
            .collect();
        assert!(outside.is_empty(), "{name} is only for {homes:?}: {outside:?}");
    }
}

#[test]
fn an_edge_back_is_seen_however_it_is_written() {
    const ABOVE: &str = "#[macro_export] macro_rules! make { () => { $crate::below::x() } }";
    for (planted, seen) in [
        ("use crate::above::x;", true),
        ("use crate::{below, above::{x, y}};", true),
        ("fn f() { let g = || crate::above::x(1); }", true),
        ("crate::make!();", true),
        ("use super::above;", true),
        ("mod inner { use super::super::{above}; }", true),
        ("#[cfg(test)] use crate::above; fn f() { crate::above::x() }", true),
        ("macro_rules! own { () => { $crate::above::x() } }", true),
        ("// crate::above\n/// [`x`](crate::above::x)\nconst X: &str = \"crate::above\";", false),
        ("#[cfg(test)] mod tests { use crate::above; }", false),
        ("#[cfg(test)]\n#[path = \"x.rs\"]\nmod cases;", false),
        ("use self::above; mod above {}", false),
        ("mod inner { use super::above; } mod above {}", false),
    ] {
        let cases = "use crate::above;";
        let files = [
            ("lib.rs", "pub mod above; pub mod below;"),
            ("above.rs", ABOVE),
            ("below/mod.rs", planted),
            ("below/cases.rs", if planted.contains("mod cases") { cases } else { "" }),
        ]
        .map(|(path, text)| (path, text.parse().unwrap()));
        let reader = Reader::read(["above", "below"], &files);
        assert_eq!(reader.unknown, [""; 0], "{planted}");
        assert_eq!(!back(&["above", "below"], &reader.edges).is_empty(), seen, "{planted}");
    }
    for hidden in ["use crate::*;", "use super::*;", "use crate::nothing::x;"] {
        let files = [("below.rs", hidden.parse().unwrap())];
        assert_eq!(Reader::read(["above", "below"], &files).unknown.len(), 1, "{hidden}");
    }
}

#[test]
fn the_page_has_a_row_for_every_module_in_this_order() {
    let page = std::fs::read_to_string(root().join(PAGE)).unwrap();
    let rows: Vec<&str> = page
        .lines()
        .filter_map(|line| line.strip_prefix("| `")?.split_once('`'))
        .map(|(name, _)| name)
        .collect();
    assert_eq!(rows, ORDER, "{PAGE} and the list in tests/it/directions.rs");
}

/// Which modules each imports, without those that it would reach through another one anyway.
fn needed(edges: &[Edge]) -> Vec<Vec<usize>> {
    let place = |name: &str| ORDER.iter().position(|other| *other == name).unwrap();
    let mut direct = vec![BTreeSet::new(); ORDER.len()];
    for edge in edges {
        if place(&edge.from) < place(&edge.to) {
            direct[place(&edge.from)].insert(place(&edge.to));
        }
    }
    let mut all = direct.clone();
    for from in (0..ORDER.len()).rev() {
        for to in &direct[from] {
            let further = all[*to].clone();
            all[from].extend(further);
        }
    }
    let through = |from: usize, to: usize| direct[from].iter().any(|other| all[*other].contains(&to));
    (0..ORDER.len())
        .map(|from| direct[from].iter().copied().filter(|to| !through(from, *to)).collect())
        .collect()
}

/// The modules in their order, with a line from each down to those that it imports.
fn picture(needed: &[Vec<usize>]) -> String {
    // Each module has a lane for its line; short lines are near the names.
    let mut by_length: Vec<usize> = (0..needed.len()).filter(|from| !needed[*from].is_empty()).collect();
    by_length.sort_by_key(|from| needed[*from].last().unwrap() - from);
    let mut lanes: Vec<Vec<usize>> = Vec::new();
    for from in by_length {
        let free =
            |other: &usize| *needed[*other].last().unwrap() < from || *other > *needed[from].last().unwrap();
        match lanes.iter_mut().find(|lane| lane.iter().all(free)) {
            Some(lane) => lane.push(from),
            None => lanes.push(vec![from]),
        }
    }
    let mut text = String::new();
    for (row, name) in ORDER.iter().enumerate() {
        // The module whose line is here in each lane.
        let line = |lane: &[usize]| {
            lane.iter().copied().find(|from| (*from..=*needed[*from].last().unwrap()).contains(&row))
        };
        let here: Vec<Option<usize>> = lanes.iter().map(|lane| line(lane)).collect();
        let touches = |from: usize| from == row || needed[from].contains(&row);
        let end = here.iter().rposition(|from| from.is_some_and(touches)).map_or(0, |end| end + 1);
        let arrives = here.iter().flatten().any(|from| needed[*from].contains(&row));
        let mut drawn = format!(
            "{name:12}{}",
            if arrives {
                '◄'
            } else if end > 0 {
                '─'
            } else {
                ' '
            }
        );
        for (lane, from) in here.iter().enumerate() {
            drawn.push_str(if lane < end { "──" } else { "  " });
            let last = lane + 1 == end;
            drawn.push(match from {
                None if lane < end => '─',
                None => ' ',
                Some(from) if *from == row => {
                    if last {
                        '┐'
                    } else {
                        '┬'
                    }
                }
                Some(from) if !touches(*from) => '│',
                Some(from) if needed[*from].last() == Some(&row) => {
                    if last {
                        '┘'
                    } else {
                        '┴'
                    }
                }
                Some(_) => {
                    if last {
                        '┤'
                    } else {
                        '┼'
                    }
                }
            });
        }
        text.push_str(drawn.trim_end());
        text.push('\n');
    }
    text
}

#[test]
fn the_picture_is_that_of_the_source() {
    let path = root().join(PAGE);
    let page = std::fs::read_to_string(&path).unwrap();
    let (before, rest) = page.split_once("```text\n").unwrap();
    let (old, after) = rest.split_once("```\n").unwrap();
    assert!(before.trim_end().lines().last().unwrap().starts_with("<!-- picture"), "{PAGE}: {before}");
    let new = picture(&needed(&source()));
    if accepts() {
        std::fs::write(path, format!("{before}```text\n{new}```\n{after}")).unwrap();
    } else {
        assert_eq!(old, new, "{PAGE} is not what the source says: `make accept` draws it anew");
    }
}
