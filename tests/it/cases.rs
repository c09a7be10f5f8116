//! Data cases: recorded output to answers, and facts to changes.
//!
//! `cases/CASE/` in the folder of a question, below `src/facts`: `output` as a host wrote it, `queries` (one a line, not for
//! basic facts), `status` and `dropped` bytes where they are not 0, and `expected.json`.
//! `cases/CASE.yaml` in the folder of a resource, below `src/resources`: `task`, `facts` by query, and `changes` (summaries) or
//! `error`; `reboot` is why one is needed, `promises` what `verify` can expect. `runs` is what each change runs, `login` what they mean for
//! logins, `pull` how another host gives the thing, `shows` what a plan says of attributes. `make accept` writes what is expected of new
//! or changed facts, and what is run; then read the difference.

#![allow(clippy::disallowed_methods, reason = "tests read the environment")]
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use crate::accept::accepts;
use crate::support::folders::{children, question_cases, resource_cases};
use crate::support::runs::{done, files_in, shell_files, with_done};
use provision::config::{Diagnostics, FromNode, Sources, TextError, Yaml, yaml};
use provision::facts::build::BuildQuery;
use provision::facts::next_boot::NextBootQuery;
use provision::facts::{Answer, CommandQuery, Facts, Query, base, batch};
use provision::inventory::Nic;
use provision::placeholder;
use provision::resources::builds::git::question::CheckoutQuery;
use provision::resources::question as query;
use provision::resources::{
    Change, Context, Local, LoginEffect, Member, Planned, Resource, Roster, Unplannable, kinds,
};
use provision::secrets::Secrets;
use provision::transport::{Arg, Gap, PartEnd, Script};
use serde_json::{Map, Value as Json};

fn root(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases").join(name)
}

/// Hands out each recorded answer: its folder, what was asked, and what the host printed.
fn each_recorded(mut look: impl FnMut(&Path, &[Query], &str)) {
    for (kind_name, kind) in question_cases() {
        for case in children(&kind) {
            let output = fs::read(case.join("output")).unwrap();
            look(&case, &queries_of(&kind_name, &case), &String::from_utf8_lossy(&output));
        }
    }
}

/// The facts when a host prints this text and ends well.
fn answered(queries: &[Query], text: String) -> Facts {
    let parts = batch(&queries.iter().cloned().collect(), Duration::from_secs(1));
    let mut facts = Facts::default();
    facts.absorb(&parts[0], &PartEnd { index: 0, status: 0, output: text.into_bytes(), gap: None });
    facts
}

/// The queries of a case of facts.
fn queries_of(kind: &str, case: &Path) -> Vec<Query> {
    match kind.strip_prefix("facts/base/") {
        Some(name) => vec![base(name).unwrap()],
        None => fs::read_to_string(case.join("queries")).unwrap().lines().map(query_of).collect(),
    }
}

fn query_of(label: &str) -> Query {
    query(label).unwrap_or_else(|| panic!("no question is written `{label}`"))
}

/// What is known, below the first word of the label.
fn answer_of(facts: &Facts, query: &Query) -> Json {
    match facts.find(query).unwrap() {
        Answer::Known(value) => {
            serde_json::json!({ query.label().split(' ').next().unwrap(): value.json() })
        }
        Answer::Unknown(reason) | Answer::Silent(reason) => serde_json::json!({ "unknown": reason }),
        Answer::Unreadable(reason) => serde_json::json!({ "unreadable": reason }),
        other @ (Answer::OfAll(_) | Answer::NoUser(_)) => panic!("{other:?}"),
    }
}

#[test]
fn facts() {
    let mut count = 0;
    for (kind_name, kind) in question_cases() {
        for name in ["killed", "no-command", "too-long"] {
            assert!(kind.join(name).exists(), "{kind_name} has no case `{name}`");
        }
        for case in children(&kind) {
            count += 1;
            let queries = queries_of(&kind_name, &case);
            let output = fs::read(case.join("output")).unwrap();
            let mut facts = Facts::default();
            let parts = batch(&queries.iter().cloned().collect(), Duration::from_secs(1));
            assert_eq!(parts.len(), 1, "{}", case.display());
            if let Some(fact) = kind_name.strip_prefix("facts/base/") {
                assert_eq!(parts[0].part.name, format!("base.{fact}"));
            }
            let number = |name: &str| {
                fs::read_to_string(case.join(name)).map_or(0, |text| text.trim().parse::<i32>().unwrap())
            };
            let (status, dropped) = (number("status"), number("dropped").unsigned_abs().into());
            let gap = (dropped > 0).then_some(Gap { at: output.len(), bytes: dropped });
            facts.absorb(&parts[0], &PartEnd { index: 0, status, output, gap });
            let answers: Map<String, Json> =
                queries.iter().map(|query| (query.label(), answer_of(&facts, query))).collect();
            if status > 126 || dropped > 0 {
                let value = answers.values().find(|answer| answer.get("unknown").is_none());
                assert_eq!(value, None, "{}: what was cut is no answer", case.display());
            }
            let expected_path = case.join("expected.json");
            if accepts() {
                fs::write(&expected_path, format!("{:#}\n", Json::Object(answers.clone()))).unwrap();
            }
            let expected: Json = serde_json::from_str(&fs::read_to_string(&expected_path).unwrap()).unwrap();
            assert_eq!(expected, Json::Object(answers), "{}", case.display());
        }
    }
    assert!(count >= 200, "{count} cases");
}

/// What hosts printed of their next boot, and what is made of it. The modules are those of Debian's linux-image-6.1.0-47,
/// 6.1.0-50, 6.1.0-50-rt and 6.12.111, asked with kmod 30; grub.cfg is that of grub-mkconfig. Of long lists of symbols
/// the first lines are kept.
#[test]
fn next_boots() {
    let part = batch(&BTreeSet::from([NextBootQuery.into()]), Duration::from_secs(1)).remove(0);
    let files = children(&root("probes/next_boot"));
    let texts: Vec<_> =
        files.iter().filter(|path| path.extension().is_some_and(|end| end == "txt")).collect();
    assert!(texts.len() >= 15, "{}", texts.len());
    for path in texts {
        let mut facts = Facts::default();
        let output = fs::read(path).unwrap();
        facts.absorb(&part, &PartEnd { index: 0, status: 0, output, gap: None });
        let seen = format!("{:#}\n", answer_of(&facts, &NextBootQuery.into()));
        let expected = path.with_extension("json");
        if accepts() {
            fs::write(&expected, &seen).unwrap();
        }
        assert_eq!(seen, fs::read_to_string(&expected).unwrap(), "{}", path.display());
    }
}

/// A text with every number from `first` on, in steps of `every`, replaced.
fn with_numbers(text: &str, number: &str, first: usize, every: usize) -> String {
    let (mut out, mut seen, mut inside) = (String::new(), 0, false);
    for c in text.chars() {
        if !c.is_ascii_digit() {
            inside = false;
            out.push(c);
            continue;
        }
        seen += usize::from(!inside);
        let replaced = seen > first && (seen - 1 - first).is_multiple_of(every);
        if !replaced {
            out.push(c);
        } else if !inside {
            out.push_str(number);
        }
        inside = true;
    }
    out
}

/// What a host prints is a host's text: any number may stand in it, and any letter.
#[test]
fn no_number_of_a_host_panics() {
    let odd = [
        "0",
        "-1",
        "255",
        "65536",
        "2147483648",
        "4294967295",
        "4294967296",
        "9223372036854775807",
        "18446744073709551615",
        "99999999999999999999",
        "1e400",
        "NaN",
        "漢",
    ];
    each_recorded(|_, queries, text| {
        for number in odd {
            for (first, every) in [(0, 1), (0, 2), (1, 2), (0, 3), (1, 3), (2, 3)] {
                answered(queries, with_numbers(text, number, first, every));
            }
        }
    });
    for case in children(&root("active")) {
        let text = String::from_utf8_lossy(&fs::read(case).unwrap()).into_owned();
        for number in odd {
            for (first, every) in [(0, 1), (0, 2), (1, 2), (0, 3), (1, 3), (2, 3)] {
                let text = with_numbers(&text, number, first, every);
                drop(provision::active::rping::client(&text, 10));
                drop(provision::active::perftest::bandwidth(&text));
                drop(
                    provision::active::nccl::parse(&text)
                        .map(|run| (run.largest().cloned(), run.busbw(), run.wrong())),
                );
            }
        }
    }
}

/// Every number in an answer is one that some machine may have, whatever the host prints.
#[test]
fn no_number_of_a_host_is_more_than_a_machine_has() {
    fn largest(json: &Json) -> f64 {
        match json {
            Json::Number(number) => number.as_f64().unwrap().abs(),
            Json::Array(items) => items.iter().map(largest).fold(0.0, f64::max),
            Json::Object(map) => map.values().map(largest).fold(0.0, f64::max),
            Json::Null | Json::Bool(_) | Json::String(_) => 0.0,
        }
    }
    // An exbibyte.
    let most = 1_152_921_504_606_846_976.0;
    let mut looked_at = 0;
    each_recorded(|case, queries, text| {
        for number in ["18446744073709551615", "9223372036854775807", "2305843009213693953"] {
            for (first, every) in [(0, 1), (0, 2), (1, 2), (0, 3), (1, 3), (2, 3), (3, 7), (5, 7)] {
                let facts = answered(queries, with_numbers(text, number, first, every));
                for query in queries {
                    let answer = answer_of(&facts, query);
                    looked_at += 1;
                    assert!(largest(&answer) <= most, "{}: {number}: {answer:#}", case.display());
                }
            }
        }
    });
    assert!(looked_at > 5000, "{looked_at}");
}

/// Two files: `small` and the tree `tree`; network cards as the case says; a user for the task.
struct Files(Vec<Nic>, Option<&'static str>);

impl Context for Files {
    fn local(&self, src: &str) -> Result<Local, String> {
        let bytes = |text: &str| Local::Bytes(Arc::from(text.as_bytes()));
        match src {
            "small" => Ok(bytes("small\n")),
            "large" => Ok(Local::Large { path: "large".into(), size: 20 << 20, sha256: "ab".repeat(32) }),
            "tree" => {
                Ok(Local::Tree(vec![("sub".to_owned(), None), ("sub/a".to_owned(), Some(bytes("a\n")))]))
            }
            "template" => Ok(bytes("host {{ name }}\n")),
            _ => Err(format!("`{src}` cannot be read: no such file")),
        }
    }

    fn roster(&self) -> Roster {
        let member = |number: u64| Member {
            place: usize::try_from(number).unwrap_or_default(),
            name: format!("gpu{number}"),
            address: format!("10.0.0.1{number}"),
            offline: number == 3,
            groups: [if number == 0 { "head" } else { "gpu" }.to_owned()].into(),
            gpus: (number > 0).then_some(8),
        };
        let members = (0..4).map(member).collect();
        let targets = Arc::new((0..4).collect());
        Roster { cluster: "c".to_owned(), own: "gpu0".to_owned(), members, targets }
    }

    fn render(&self, name: &str, text: &str) -> Result<String, TextError> {
        if name == "template" {
            Ok(text.replace("{{ name }}", "gpu0"))
        } else {
            Err(TextError::new(0, 0, "no"))
        }
    }

    fn base(&self) -> &camino::Utf8Path {
        camino::Utf8Path::new("/srv/site")
    }

    fn nics(&self) -> &[Nic] {
        &self.0
    }

    fn user(&self) -> Option<&str> {
        self.1
    }
}

fn read(text: &str) -> Result<Arc<dyn Resource>, String> {
    read_for(None, text)
}

/// Reads the task of a case with `become_user`.
fn read_for(user: Option<&'static str>, text: &str) -> Result<Arc<dyn Resource>, String> {
    let mut sources = Sources::default();
    let id = sources.add("case.yaml", crate::support::with_placeholders(text));
    let node = yaml::parse(&sources, id).map_err(|diagnostic| diagnostic.render(&sources, false))?;
    let Yaml::Map(entries) = &node.get("task").unwrap().value else { panic!("{text}") };
    let (key, value) = &entries[0];
    let kind = kinds().iter().find(|kind| kind.name == key.value).unwrap();
    let mut diagnostics = Diagnostics::default();
    let nics = node.get("nics").and_then(|nics| Vec::from_node(nics, &mut diagnostics)).unwrap_or_default();
    let resource = kind.read(value, &Files(nics, user), &mut diagnostics);
    resource.ok_or_else(|| diagnostics.render(&sources, false))
}

fn facts_for(resource: &dyn Resource, given: &BTreeMap<String, Json>) -> Facts {
    try_facts_for(resource, given).unwrap_or_else(|| panic!("no answers: {given:?}"))
}

/// `None` where something given is no answer.
fn try_facts_for(resource: &dyn Resource, given: &BTreeMap<String, Json>) -> Option<Facts> {
    let mut facts = Facts::default();
    // What is asked last may not be asked yet.
    let last = resource.last_questions().into_iter().filter(|query| given.contains_key(&query.label()));
    for query in resource.queries().into_iter().chain(last) {
        let label = query.label();
        let value = given.get(&label).unwrap_or_else(|| panic!("the case has no fact `{label}`"));
        let answer = match value.get("unknown") {
            Some(reason) => Answer::Unknown(reason.as_str().unwrap().to_owned()),
            None => query.read(value)?,
        };
        facts.insert(query, answer);
    }
    Some(facts)
}

/// The changes of a plan, and why there are none or not all.
fn told(planned: Planned) -> (Option<Vec<Change>>, Option<String>) {
    match planned {
        Ok(changes) => (Some(changes), None),
        Err(Unplannable::Unknown(object, reason)) => (None, Some(format!("unknown: {object}: {reason}"))),
        Err(Unplannable::Missing(object, reason)) => (None, Some(format!("missing: {object}: {reason}"))),
        Err(Unplannable::Unneeded(object)) => (None, Some(format!("unneeded: {object}"))),
        Err(Unplannable::Partly(changes, reason)) if !changes.is_empty() => {
            (Some(changes), Some(format!("blocked: {reason}")))
        }
        Err(Unplannable::Blocked(reason) | Unplannable::Partly(_, reason)) => {
            (None, Some(format!("blocked: {reason}")))
        }
        Err(Unplannable::Failed(reason)) => (None, Some(format!("failed: {reason}"))),
    }
}

fn summaries(changes: &[Change]) -> Vec<String> {
    changes.iter().map(|change| change.summary.clone()).collect()
}

/// What a resource promises, a line for each key.
fn promises_of(resource: &dyn Resource, facts: &Facts, seen: &mut dyn FnMut(&str)) -> Vec<String> {
    let mut lines = Vec::new();
    for promise in resource.promises(facts) {
        let of = promise.link.as_ref().map(|link| format!(" of {link}")).unwrap_or_default();
        for (key, value) in promise.values() {
            seen(&key);
            lines.push(format!("{key}{of}: {value}"));
        }
    }
    lines
}

#[test]
fn resources() {
    let mut failures = Vec::new();
    let mut run = BTreeSet::new();
    let mut promised = BTreeSet::new();
    for kind in kinds() {
        let cases = resource_cases(kind.name);
        assert!(cases.len() >= 4, "{} has {} cases", kind.name, cases.len());
        for case in cases {
            let text = fs::read_to_string(&case).unwrap();
            let mut data: Json = serde_yaml::from_str(&text).unwrap();
            let given: BTreeMap<String, Json> = data
                .get("facts")
                .and_then(Json::as_object)
                .map(|map| map.iter().map(|(key, value)| (key.clone(), value.clone())).collect())
                .unwrap_or_default();
            let mut reboot = None;
            let mut texts = Vec::new();
            let mut does = Json::Object(Map::new());
            let result = match read(&text) {
                Err(error) => (None, Some(error)),
                Ok(resource) => {
                    let facts = facts_for(&*resource, &given);
                    reboot = resource.reboot(&facts);
                    let (changes, error) = told(resource.plan(&facts));
                    for change in changes.iter().flatten() {
                        if let provision::resources::Detail::Text { after: Some(after), .. } = &change.detail
                        {
                            texts.push(after.clone());
                        }
                    }
                    if let Some(changes) = &changes {
                        does = done(&*resource, &facts, changes);
                        let promises = promises_of(&*resource, &facts, &mut |key| {
                            assert!(kind.promises.contains(&key), "{}: {key}", case.display());
                            promised.insert(format!("{} {key}", kind.name));
                        });
                        if !promises.is_empty() {
                            does["promises"] = promises.into();
                        }
                        files_in(changes.iter().map(|change| &change.script), &mut run);
                        if let LoginEffect::Guarded(undo) = resource.login(&facts) {
                            files_in(undo.save.iter().chain(&undo.restore), &mut run);
                        }
                        files_in(resource.spread(&facts).iter().map(|spread| &spread.pull), &mut run);
                    }
                    (changes.as_deref().map(summaries), error)
                }
            };
            if accepts() {
                let updated = with_done(&text, &does);
                if updated != text {
                    fs::write(&case, &updated).unwrap();
                }
                data = serde_yaml::from_str(&updated).unwrap();
            }
            if let Some(wanted) = data.get("reboot") {
                assert_eq!(serde_json::json!(reboot), *wanted, "{}", case.display());
            }
            if let Some(wanted) = data.get("text") {
                assert_eq!(serde_json::json!(texts), *wanted, "{}", case.display());
            }
            let good = match (&result, data.get("changes"), data.get("error").and_then(Json::as_str)) {
                ((Some(changes), None), Some(wanted), None) => serde_json::json!(changes) == *wanted,
                ((None, Some(error)), None, Some(wanted)) => !wanted.is_empty() && error.contains(wanted),
                ((Some(changes), Some(error)), Some(made), Some(wanted)) => {
                    serde_json::json!(changes) == *made && !wanted.is_empty() && error.contains(wanted)
                }
                _ => false,
            };
            if !good {
                failures.push(format!(
                    "{}:\n{result:#?}\nbut wanted {:?} {:?}",
                    case.display(),
                    data.get("changes"),
                    data.get("error")
                ));
            }
            for key in ["runs", "login", "promises", "pull", "shows"] {
                if data.get(key) != does.get(key) {
                    let [wanted, found] = [data.get(key), does.get(key)]
                        .map(|value| format!("{:#}", value.unwrap_or(&Json::Null)));
                    failures.push(format!("{}: {key} is\n{found}\nbut wanted\n{wanted}", case.display()));
                }
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
    let all: BTreeSet<String> = kinds()
        .iter()
        // It promises what its build does.
        .filter(|kind| kind.name != "build_once")
        .flat_map(|kind| kind.promises.iter().map(|key| format!("{} {key}", kind.name)))
        .collect();
    let missing: Vec<&String> = all.difference(&promised).collect();
    assert_eq!(missing, Vec::<&String>::new(), "each key that a resource may promise is promised by a case");
    // What no case runs has parameters that nobody compared.
    let declares = |text: &str| text.lines().any(|line| line.starts_with("# Parameters: "));
    let declared = shell_files().iter().filter(|(_, text)| declares(text)).map(|(name, _)| name.as_str());
    let missing: Vec<&str> = declared.filter(|name| !name.contains('/') && !run.contains(name)).collect();
    assert_eq!(
        missing,
        ["upload", "asked", "proxy"],
        "scripts of resources that no case runs; these are the engine's"
    );
}

/// Puts `text` behind every text of an answer, or into the place of it.
fn spoil(value: &mut Json, spoiled: &dyn Fn(&str) -> String) {
    match value {
        Json::String(text) => *text = spoiled(text),
        Json::Array(list) => list.iter_mut().for_each(|entry| spoil(entry, spoiled)),
        Json::Object(map) => map.values_mut().for_each(|entry| spoil(entry, spoiled)),
        Json::Null | Json::Bool(_) | Json::Number(_) => {}
    }
}

/// Every text that a script gets, as the wire would send it.
fn revealed(script: &Script, secrets: &Secrets, texts: &mut Vec<String>) {
    for arg in &script.args {
        match arg {
            Arg::Word(text) | Arg::Text(text) | Arg::Packed(text) => {
                texts.push(secrets.reveal(text).into_owned());
            }
            Arg::Bytes(bytes) => texts.push(secrets.reveal(&String::from_utf8_lossy(bytes)).into_owned()),
            Arg::Script(inner) => revealed(inner, secrets, texts),
            Arg::Scripts(inner) | Arg::Tasks(inner) => {
                for inner in inner {
                    revealed(inner, secrets, texts);
                }
            }
        }
    }
}

/// Whatever a host says, it does not get a secret that its task does not write: the placeholder as
/// an account on the host may guess it stands in every fact of every case.
#[test]
fn no_host_speaks_a_placeholder() {
    let secrets = Secrets::new(BTreeMap::from([("pw".to_owned(), "hunter2".to_owned().into())]));
    let foreign =
        ["{{provision-secret:pw}}".to_owned(), format!("{{{{provision-secret:{}:pw}}}}", "0".repeat(32))];
    let mut spoken = BTreeMap::<&str, usize>::new();
    for kind in kinds() {
        for case in resource_cases(kind.name) {
            let text = fs::read_to_string(&case).unwrap();
            let data: Json = serde_yaml::from_str(&text).unwrap();
            let Ok(resource) = read(&text) else { continue };
            let Some(given) = data.get("facts").and_then(Json::as_object) else { continue };
            for foreign in &foreign {
                let ways: [&dyn Fn(&str) -> String; 3] = [
                    &|text: &str| format!("{text}{foreign}"),
                    &|text: &str| format!("{text}\n{foreign}\n"),
                    &|_: &str| foreign.clone(),
                ];
                // All facts at once, and each alone: one that is spoiled may hide the others.
                let each = given.keys().map(|name| vec![name.as_str()]);
                for names in each.chain([given.keys().map(String::as_str).collect()]) {
                    for way in ways {
                        let mut given = given.clone();
                        for name in &names {
                            spoil(&mut given[*name], way);
                        }
                        let given: BTreeMap<String, Json> = given.into_iter().collect();
                        // What is no answer any more is refused before it gets here.
                        let Some(facts) = try_facts_for(&*resource, &given) else { continue };
                        let Ok(changes) = resource.plan(&facts) else { continue };
                        let mut texts = Vec::new();
                        for change in &changes {
                            revealed(&change.script, &secrets, &mut texts);
                            assert!(!placeholder::is_in(&change.summary), "{}", case.display());
                        }
                        for text in texts {
                            assert!(!text.contains("hunter2"), "{}: {text}", case.display());
                            *spoken.entry(kind.name).or_default() += usize::from(text.contains(foreign));
                        }
                    }
                }
            }
        }
    }
    // Those that write back what a host said; without them nothing would have been tried.
    for kind in ["authorized_key", "hosts_file", "kernel_cmdline", "line", "mount", "ssh_mesh", "time_sync"] {
        assert!(spoken.contains_key(kind), "{kind} did not write what its host said: {spoken:?}");
    }
}

#[test]
fn what_a_playbook_lets_a_host_run_is_run_as_the_user_of_the_task() {
    let condition = <provision::resources::commands::command::Condition as FromNode>::schema();
    let mut conditions = 0;
    let mut asking = BTreeSet::new();
    for kind in kinds() {
        let mut texts: Vec<String> =
            resource_cases(kind.name).into_iter().map(|case| fs::read_to_string(case).unwrap()).collect();
        let example: Json = serde_yaml::from_str(kind.example).unwrap();
        for task in example.as_array().unwrap() {
            texts.push(serde_json::json!({ "task": { kind.name: task[kind.name] } }).to_string());
        }
        // A field with a command that only looks is in one of them.
        let mut unseen: Vec<&str> = (kind.fields)()
            .iter()
            // One name or a list of them is written like a command, and is none.
            .filter(|field| field.schema == condition && field.name != "names")
            // Nor is a condition of the playbook.
            .filter(|field| !kind.conditions.contains(&field.name))
            .map(|field| field.name)
            .collect();
        conditions += unseen.len();
        for text in texts {
            let Ok(resource) = read_for(Some("rider"), &text) else { continue };
            let data: Json = serde_yaml::from_str(&text).unwrap();
            unseen.retain(|field| data["task"][kind.name].get(field).is_none());
            for query in resource.queries() {
                let own = query.own();
                if own.is::<CommandQuery>() || own.is::<BuildQuery>() || own.is::<CheckoutQuery>() {
                    assert_eq!(query.user(), Some("rider"), "{}: {query:?}", kind.name);
                    asking.insert(kind.name);
                } else {
                    assert_eq!(query.user(), None, "{}: {query:?}", kind.name);
                }
            }
            for query in read(&text).unwrap().queries() {
                assert_eq!(query.user(), None, "{}: {query:?}", kind.name);
            }
        }
        assert!(unseen.is_empty(), "no case of {} has {unseen:?}", kind.name);
    }
    assert_eq!(conditions, 3, "`unless`, `check` and that of `wait_for`");
    let all: Vec<&str> = asking.into_iter().collect();
    assert_eq!(all, ["build", "build_once", "command", "git", "pip", "wait_for"]);
}

#[test]
fn two_users_ask_the_same_in_two_shells() {
    let task = "task: { command: { run: [\"true\"], unless: [test, -w, /srv] } }";
    let users = [None, Some("rider"), Some("walker")];
    let queries: BTreeSet<Query> =
        users.iter().flat_map(|user| read_for(*user, task).unwrap().queries()).collect();
    assert_eq!(queries.len(), 3);
    let git = "task: { git: { url: https://x/y.git, path: /srv/y, tag: v1 } }";
    let queries = users.iter().flat_map(|user| read_for(*user, git).unwrap().queries()).collect();
    let parts = batch(&queries, Duration::from_secs(1));
    let asked: Vec<_> = parts.iter().map(|part| (part.queries.len(), part.queries[0].user())).collect();
    assert_eq!(asked, [(1, None), (1, Some("rider")), (1, Some("walker"))]);
}

#[test]
fn a_user_who_is_not_there_is_missing() {
    let task = "task: { command: { run: [\"true\"], unless: [\"true\"] } }";
    let resource = read_for(Some("rider"), task).unwrap();
    let answered = |output: &[u8]| {
        let parts = batch(&resource.queries().into_iter().collect(), Duration::from_secs(1));
        let mut facts = Facts::default();
        facts.absorb(&parts[0], &PartEnd { index: 0, status: 0, output: output.to_vec(), gap: None });
        told(resource.plan(&facts))
    };
    assert_eq!(answered(b"\nasked\n"), (Some(Vec::new()), None));
    let error = answered(b"no user\n").1.unwrap();
    assert!(error.starts_with("missing: ") && error.contains("there is no such user on the host"), "{error}");
    let error = answered(b"su: Authentication failure\n").1.unwrap();
    assert!(error.starts_with("unknown: ") && error.contains("su: Authentication failure"), "{error}");
}

#[test]
fn resource_kinds_are_documented_and_sorted() {
    let names: Vec<&str> = kinds().iter().map(|kind| kind.name).collect();
    assert!(names.is_sorted());
    let folders: Vec<String> = crate::support::folders::resources().into_keys().collect();
    assert_eq!(folders, names);
    for kind in kinds() {
        assert!(!(kind.doc)().is_empty(), "{}", kind.name);
        assert!((kind.fields)().iter().all(|field| !field.doc.is_empty()), "{}", kind.name);
    }
}

/// Two tasks are at odds over a thing when both name one attribute and want different things.
#[test]
fn claims_are_by_attribute() {
    let odds = |a: &str, b: &str| {
        let claims = |text: &str| read(&format!("task: {{ {text} }}\n")).unwrap().manages();
        let (a, b) = (claims(a), claims(b));
        a.iter().any(|(object, want)| b.iter().any(|(other, wants)| object == other && want != wants))
    };
    for (a, b, want) in [
        ("service: { name: ssh, enabled: true }", "service: { name: ssh, state: started }", false),
        ("service: { name: ssh, state: stopped }", "service: { name: ssh.service, state: started }", true),
        ("service: { name: ssh, state: restarted }", "service: { name: ssh, state: started }", false),
        ("file: { path: /x, content: a }", "file: { path: /x, mode: \"0600\" }", false),
        ("file: { path: /x, content: a }", "file: { path: /x, content: b }", true),
        ("file: { path: /x, content: a }", "directory: { path: /x }", true),
        ("file: { path: /x, content: a }", "symlink: { path: /x, target: b }", true),
        ("package: { names: [a] }", "package: { names: [a], hold: true }", false),
        ("package: { names: [a] }", "package: { names: [a], state: latest }", false),
        ("package: { names: [a], version: \"1\" }", "package: { names: [a], state: latest }", true),
        ("package: { names: [a] }", "package: { names: [b, a], state: absent }", true),
        ("user: { name: u, groups: [a] }", "user: { name: u, groups: [b] }", false),
        ("user: { name: u, uid: 1 }", "user: { name: u, uid: 2 }", true),
        ("copy: { src: tree, path: /x }", "file: { path: /x/sub/a, content: b }", true),
        ("copy: { src: tree, path: /x }", "file: { path: /x/sub/b, content: b }", false),
        ("copy: { src: tree, path: /x, owner: u }", "directory: { path: /x/sub, owner: v }", true),
        ("line: { path: /x, line: a }", "line: { path: /x, line: b }", false),
        ("line: { path: /x, line: a 1, match: ^a }", "line: { path: /x, line: a 2, match: ^a }", true),
        ("kernel_module: { name: a-b }", "kernel_module: { name: a_b, persist: true }", false),
        ("kernel_module: { name: a-b }", "kernel_module: { name: a_b, state: blacklisted }", true),
    ] {
        assert_eq!(odds(a, b), want, "{a} / {b}");
    }
}

#[test]
fn a_change_forgets_what_it_may_have_touched() {
    use provision::facts::{Object, Touches};
    let queries = [
        "path /etc/systemd/system/x.service",
        "path /etc",
        "path /srv/a",
        "unit x.service",
        "module nvidia",
        "user mpi",
        "group rdma",
        "authorized_keys mpi",
        "packages",
        "package a",
        "package b",
    ];
    let touched = |touches: Touches| -> Vec<String> {
        let mut facts = Facts::default();
        for query in queries {
            facts.insert(query_of(query), Answer::Unknown(String::new()));
        }
        facts.forget(&touches).iter().map(Query::label).collect()
    };
    let one = |object| touched(Touches::one(object));
    assert_eq!(
        one(Object::Path("/etc/systemd/system/x.service".to_owned())),
        ["path /etc", "path /etc/systemd/system/x.service", "unit x.service"]
    );
    assert_eq!(one(Object::Path("/srv".to_owned())), ["path /srv/a"]);
    assert_eq!(one(Object::Path("/etc/modprobe.d/x.conf".to_owned())), ["path /etc", "module nvidia"]);
    assert_eq!(one(Object::Module("nvidia".to_owned())), ["module nvidia"]);
    assert_eq!(one(Object::User("mpi".to_owned())), ["authorized_keys mpi", "group rdma", "user mpi"]);
    assert_eq!(one(Object::Group("rdma".to_owned())), ["group rdma", "user mpi"]);
    assert_eq!(one(Object::Package("a".to_owned())), ["package a", "packages"]);
    assert_eq!(one(Object::Path("/home/mpi/.ssh/authorized_keys".to_owned())), ["authorized_keys mpi"]);
    assert_eq!(touched(Touches::Everything).len(), queries.len());
}

/// The sections of an output, as `probes/ask.sh` prints them.
fn sections(of: &[(&str, &str)]) -> String {
    of.iter().fold(String::new(), |text, (command, output)| {
        text + &format!("\n\u{1e}ask {command}\n{output}\n\u{1e}end 0\n")
    })
}

/// What is drift for a task is what `verify` finds: on a host whose driver, MTU and firewall are not as
/// they should be, both name the same values.
#[test]
fn plan_and_verify_name_the_same_values() {
    let driver = sections(&[
        (
            "driver",
            "running=5.15.0-113-generic\nloaded=535.161.08\nbanner=NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.161.08\nkernel=5.15.0-113-generic\nheaders=true\nimage=true",
        ),
        ("modinfo nvidia", "version:        535.183.01\nlicense:        NVIDIA"),
        ("dpkg-query -W -f x", "ii  libnvidia-compute-535-server 535.183.01-0ubuntu0.22.04.1"),
    ]);
    let rules =
        "table inet filter {\n\tchain input {\n\t\ttype filter hook input priority filter; policy drop;";
    let firewall = sections(&[("firewall", "file /etc/nftables.conf"), ("nft list ruleset", rules)]);
    let rdma = sections(&[(
        "sysfs",
        "device=mlx5_0\npci=0000:18:00.0\ndriver=mlx5_core\nnetdev=rdma0\nport=1\nstate=4: ACTIVE\nlink_layer=Ethernet\nnet=rdma0\noperstate=up",
    )]);
    let netdev = "capabilities 000001ffffffffff\nquestion 0\nlink rdma0\nflags 0x1003\nend\n";
    let network = "link=rdma0\nmtu=1500\nstate=up\ntype=1\naddresses\n";
    let tasks = [
        "nvidia_driver: { branch: \"535\" }",
        "netdev: { name: rdma0, mtu: 9000 }",
        "firewall: { trust: [10.0.0.0/24] }",
    ]
    .map(|task| read(&format!("task: {{ {task} }}\n")).unwrap());
    let asked = tasks.iter().flat_map(|task| task.queries()).chain(provision::checks::queries());
    let mut facts = Facts::default();
    let parts = batch(&asked.collect(), Duration::from_secs(1));
    for part in &parts {
        let text = match part.part.name.as_str() {
            "driver" => driver.as_str(),
            "firewall" => firewall.as_str(),
            "rdma" => rdma.as_str(),
            "netdev" => netdev,
            "base.network" => network,
            "package" => "manager apt\nend\n",
            name => {
                let value = match name {
                    "base.pci" => {
                        serde_json::json!({ "gpus": [{ "vendor": "10de", "model": "A100-SXM4-80GB" }] })
                    }
                    "base.os" => serde_json::json!({ "id": "ubuntu", "version_id": "22.04" }),
                    "base.boot" => serde_json::json!({ "next_kernel": "5.15.0-113-generic", "reasons": [] }),
                    "base.virtualization" => serde_json::json!({ "kind": "none", "container": false }),
                    _ => continue,
                };
                facts.insert(part.queries[0].clone(), part.queries[0].read(&value).unwrap());
                continue;
            }
        };
        facts.absorb(part, &PartEnd { index: 0, status: 0, output: text.as_bytes().to_vec(), gap: None });
    }
    // One part each, whoever asks.
    for name in ["driver", "firewall", "base.network"] {
        assert_eq!(parts.iter().filter(|part| part.part.name == name).count(), 1, "{name}");
    }
    let directory = tempfile::tempdir().unwrap();
    let path = camino::Utf8Path::from_path(directory.path()).unwrap().join("inventory.yaml");
    fs::write(&path, "cluster: lab\nhosts:\n  gpu0: { expect: { network: { mtu: 9000 } } }\n").unwrap();
    let project = provision::project::load(&path, &provision::project::LoadOptions::default()).unwrap();
    let mut subject = [provision::checks::Subject::new(&project.hosts[0], &facts, 0)];
    let verified = provision::checks::evaluate(&mut subject).remove(0);
    let told_by =
        |id: &str| verified.results.iter().find(|result| result.check == id).unwrap().message.clone();
    let planned = |at: usize| summaries(&told(tasks[at].plan(&facts)).0.unwrap()).join("; ");

    let reboot = tasks[0].reboot(&facts).unwrap();
    assert_eq!(reboot, "the loaded NVIDIA module is 535.161.08, but 535.183.01 is installed");
    assert!(
        told_by("driver.coherence").contains("version 535.183.01, but 535.161.08 is loaded"),
        "{verified:#?}"
    );
    assert!(planned(1).contains("mtu 1500 -> 9000"), "{}", planned(1));
    assert_eq!(told_by("network.mtu"), "rdma0: 1500, expected 9000");
    assert_eq!(planned(2), "+ nftables lets in 10.0.0.0/24");
    assert_eq!(told_by("system.firewall"), "nft: drops what its rules do not allow");
}
