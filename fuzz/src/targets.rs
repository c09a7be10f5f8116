//! What is fuzzed: one function per target, which must neither panic nor hang, whatever the bytes.
//!
//! `make fuzz` gives them what the fuzzer makes up, `tests/it/fuzz.rs` every file of `fuzz/corpus/`.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use camino::Utf8Path;
use provision::active::{gate, nccl, perftest, rping};
use provision::checks::{Subject, evaluate};
use provision::config::{Bases, Diagnostics, Sources, yaml};
use provision::events::{Event, Record};
use provision::facts::{Answer, Facts, Query, batch};
use provision::inventory::{Directory, Host, Inventory, Listed, Lists, Origin, ansible, load, select};
use provision::project::{LoadOptions, Project};
use provision::report::{checks, findings, html, json, junit, plan, prometheus, show};
use provision::resources::question as query;
use provision::template::lookup::descend;
use provision::template::text::Values;
use provision::template::{Condition, Lookup, Missing, Names, PathUse, Segment, Shape, Text};
use provision::transport::{Gap, PartEnd};
use provision::{cli, hostlist, journal, transport};
use serde_json::{Value as Json, json};

/// A target.
pub struct Target {
    /// As `TARGETS=` names it.
    pub name: &'static str,
    /// Input that it takes, for `docs/evidence/fuzz.md`.
    pub reads: &'static str,
    /// Takes the bytes; the folder is for files and has a named pipe `pipe`.
    pub run: fn(&[u8], &Utf8Path),
}

pub const TARGETS: &[Target] = &[
    Target { name: "inventory", reads: "an inventory, validated with its playbooks", run: inventory },
    Target { name: "playbook", reads: "a playbook, validated on hosts of four distributions", run: playbook },
    Target { name: "hosts", reads: "host lists and host expressions", run: hosts },
    Target { name: "conditions", reads: "conditions: parsed, typed, evaluated", run: conditions },
    Target { name: "templates", reads: "templates: parsed, typed, rendered", run: templates },
    Target { name: "plan-file", reads: "a file for `apply --plan`", run: plan_file },
    Target { name: "journal", reads: "the journal of a run, and every report of it", run: journal_of_a_run },
    Target { name: "wire", reads: "what a host shell answers, in pieces of any size", run: wire },
    Target { name: "facts", reads: "what the scripts of facts print, of every family", run: facts },
    Target { name: "probes", reads: "what the probes of `verify` print, and every check of it", run: probes },
    Target { name: "active", reads: "output of rping, perftest and nccl-tests", run: active },
    Target { name: "ansible", reads: "an Ansible inventory, and what is made of it", run: ansible_inventory },
];

fn text(bytes: &[u8]) -> Cow<'_, str> {
    String::from_utf8_lossy(bytes)
}

/// The one list of hosts that everything of `hosts_from` gives; nothing is run or read.
struct List<'a>(&'a str);

impl Lists for List<'_> {
    fn ask(&self, _: &Origin) -> Result<Listed, String> {
        Ok(Listed { text: self.0.to_owned(), fresh: true })
    }

    fn keep(&self, _: &Origin, _: &str) {}
}

/// Reads an inventory that is in no file, with the list that stands behind it; what is wrong with it is rendered.
fn read_inventory(text: &str) -> (Option<Inventory>, bool, String) {
    let (text, list) = text.split_once("\n--- list\n").unwrap_or((text, ""));
    let mut sources = Sources::default();
    let source = sources.add("inventory.yaml", text);
    let mut diagnostics = Diagnostics::default();
    let known: Vec<&str> = provision::checks::TABLE.iter().map(|check| check.id).collect();
    let bases = Bases { directory: Utf8Path::new("/nowhere"), home: None };
    let inventory = load::load(&mut sources, source, bases, &known, &List(list), &mut diagnostics);
    let told = diagnostics.render(&sources, false);
    drop(diagnostics.render(&sources, true));
    (inventory, diagnostics.has_errors(), told)
}

fn validate(path: &Utf8Path) -> Option<Project> {
    match provision::project::load(path, &LoadOptions::default()) {
        Ok(project) => {
            drop(project.validate().render(&project.sources, false));
            Some(project)
        }
        Err(error) => {
            drop(error.render(true));
            None
        }
    }
}

/// Whether a template may loop in a loop or double a text in one: it takes the time and memory that it
/// asks for, which `SECURITY.md` says.
fn asks_for_much(bytes: &[u8]) -> bool {
    bytes.windows(2).filter(|two| two == b"{%").count() > 2
}

fn inventory(bytes: &[u8], folder: &Utf8Path) {
    let (inventory, wrong, _) = read_inventory(&text(bytes));
    let Some(inventory) = inventory else { return };
    for host in &inventory.hosts {
        drop(host.view());
    }
    drop(select("all & !@failed", &inventory.directory));
    // All of it with what it names takes long: where that is much, the rest is for `playbook`.
    if !wrong && inventory.hosts.len() <= 16 && !asks_for_much(bytes) {
        let path = folder.join("inventory.yaml");
        fs::write(&path, bytes).expect("the folder can be written");
        validate(&path);
    }
}

fn playbook(bytes: &[u8], folder: &Utf8Path) {
    if asks_for_much(bytes) {
        return;
    }
    let path = folder.join("site.yaml");
    let hosts = "groups: { gpu: { hosts: \"gpu[0-1]\" } }\nsecrets: { token: { env: TOKEN } }\n";
    fs::write(&path, format!("cluster: fuzz\nplaybooks: [./playbook.yaml]\n{hosts}"))
        .and_then(|()| fs::write(folder.join("playbook.yaml"), bytes))
        .expect("the folder can be written");
    validate(&path);
}

fn hosts(bytes: &[u8], _: &Utf8Path) {
    let text = text(bytes);
    if let Ok(names) = hostlist::expand(&text) {
        let folded = hostlist::fold(names.iter().map(String::as_str));
        let mut again = hostlist::expand(&folded).expect("what we write can be read");
        let mut names = names;
        names.sort();
        names.dedup();
        again.sort();
        assert_eq!(names, again, "{folded}");
    }
    let directory = Directory {
        hosts: (0..8).map(|number| (format!("gpu{number}"), number)).collect(),
        groups: BTreeMap::from([("head".to_owned(), [0].into()), ("gpu".to_owned(), (1..8).collect())]),
        labels: BTreeMap::from([("rack".to_owned(), BTreeMap::from([("r1".to_owned(), [1, 2].into())]))]),
        recorded: BTreeMap::from([("failed".to_owned(), ["gpu3".to_owned()].into())]),
    };
    drop(select(&text, &directory));
}

/// What conditions and templates see.
struct World(BTreeMap<&'static str, Json>);

impl World {
    fn new() -> Self {
        Self(BTreeMap::from([
            (
                "facts",
                json!({ "os": { "id": "ubuntu", "version": "22.04" }, "memory": { "total_mb": 2048 } }),
            ),
            (
                "host",
                json!({ "name": "gpu0", "groups": ["gpu"], "nics": [{ "name": "rdma0", "mtu": 9000 }] }),
            ),
            ("n", json!(3)),
            ("f", json!(0.5)),
            ("s", json!("text 漢字")),
            ("yes", json!(true)),
            ("nothing", Json::Null),
            ("list", json!([1, "two", null, { "a": -1 }])),
        ]))
    }

    fn names(&self) -> Names {
        let known = self.0.iter().map(|(name, value)| ((*name).to_owned(), Shape::of(value))).collect();
        Names { known, others: false }
    }
}

impl Lookup for World {
    fn resolve(&self, root: &str, path: &[Segment]) -> Result<Cow<'_, Json>, Missing> {
        let value = self.0.get(root).ok_or_else(|| Missing::Failed(format!("no {root}")))?;
        descend(root, value, path)
    }
}

impl Values for World {
    fn variable(&self, root: &str, _: &[&PathUse]) -> Result<tera::Value, Missing> {
        let value = self.0.get(root).ok_or_else(|| Missing::Failed(format!("no {root}")))?;
        Ok(tera::Value::from_serializable(value))
    }
}

fn conditions(bytes: &[u8], _: &Utf8Path) {
    let Ok(condition) = Condition::parse(&text(bytes)) else { return };
    let world = World::new();
    drop(condition.paths());
    drop(condition.check_boolean(&world.names()));
    drop(condition.value(&world));
    drop(condition.holds(&world));
}

fn templates(bytes: &[u8], _: &Utf8Path) {
    let Ok(text) = Text::parse(&text(bytes)) else { return };
    let world = World::new();
    drop(text.shape(&world.names()));
    // As in a run: what has a mistake is not rendered.
    if text.check(&world.names()).is_empty() && !asks_for_much(bytes) {
        drop(text.render(&world));
    }
}

fn plan_file(bytes: &[u8], _: &Utf8Path) {
    cli::is_plan(bytes);
}

fn journal_of_a_run(bytes: &[u8], folder: &Utf8Path) {
    let run = folder.join("run");
    fs::create_dir_all(&run)
        .and_then(|()| fs::write(run.join("events.jsonl"), bytes))
        .and_then(|()| fs::write(folder.join("fleet.json"), bytes))
        .expect("the folder can be written");
    drop(journal::FleetRecord::read(folder));
    let Ok(events) = journal::read(folder, "run") else { return };
    for event in &events {
        let again: Event = serde_json::to_string(event)
            .and_then(|line| serde_json::from_str(&line))
            .expect("what we write can be read");
        drop(again);
    }
    let record = Record::of(&events);
    serde_json::to_string(&json::object(&record)).expect("a record can be written");
    junit::xml(&record).expect("a record can be written");
    html::page(&record).expect("a record can be written");
    drop(prometheus::text(&record));
    drop(show::text(&record, true, None));
    drop(plan::text(&record, None));
    drop(checks::text(&record, true, None));
    drop(findings::findings(&record));
    drop(record.again());
}

fn wire(bytes: &[u8], _: &Utf8Path) {
    let Some((piece, bytes)) = bytes.split_first() else { return };
    let nonce = "NONCE";
    let whole = transport::split(bytes, nonce, bytes.len().max(1));
    assert_eq!(whole, transport::split(bytes, nonce, usize::from(*piece).max(1)));
}

/// Stands between the outputs of several scripts: no script prints it.
const NEXT: u8 = 0x1d;

/// Labels of questions, one a line, an empty line, and what their script printed.
fn questions(bytes: &[u8]) -> Option<(Vec<Query>, &[u8])> {
    let end = bytes.windows(2).position(|two| two == b"\n\n")?;
    let (labels, output) = (text(bytes.get(..end)?), bytes.get(end + 2..)?);
    Some((labels.lines().take(16).filter_map(query).collect(), output))
}

fn absorb(facts: &mut Facts, queries: &[Query], output: &[u8]) {
    for part in batch(&queries.iter().cloned().collect(), Duration::from_secs(1)) {
        for (status, gap) in [(0, None), (137, None), (0, Some(Gap { at: output.len() / 2, bytes: 7 }))] {
            let mut facts = Facts::default();
            facts.absorb(&part, &PartEnd { index: 0, status, output: output.to_vec(), gap });
        }
        facts.absorb(&part, &PartEnd { index: 0, status: 0, output: output.to_vec(), gap: None });
    }
}

fn facts(bytes: &[u8], _: &Utf8Path) {
    let Some((queries, output)) = questions(bytes) else { return };
    let mut facts = Facts::default();
    absorb(&mut facts, &queries, output);
    for query in &queries {
        // The record of the fleet keeps answers as JSON.
        if let Some(Answer::Known(value)) = facts.find(query) {
            let json = value.json();
            if let Some(Answer::Known(again)) = query.read(&json) {
                assert_eq!(json, again.json(), "{}", query.label());
            }
        }
    }
    drop(facts.view());
}

fn probes(bytes: &[u8], _: &Utf8Path) {
    let mut facts = Facts::default();
    for (queries, output) in bytes.split(|byte| *byte == NEXT).filter_map(questions) {
        absorb(&mut facts, &queries, output);
    }
    let (inventory, _, told) = read_inventory(CLUSTER);
    let inventory = inventory.unwrap_or_else(|| panic!("{told}"));
    let mut subjects: Vec<Subject<'_>> =
        inventory.hosts.iter().map(|host: &Host| Subject::new(host, &facts, 0)).collect();
    drop(evaluate(&mut subjects));
}

/// Two hosts with everything that checks compare with.
const CLUSTER: &str = r#"
cluster: fuzz
groups:
  gpu:
    hosts: "gpu[0-1]"
    nics: [{ match: { netdev: rdma0 }, mtu: 9000 }]
    expect:
      gpu: { count: 8, model: H100, memory_mib: 81559, ecc: true, mig: false, power_limit: 700, nvlinks: 18, temperature: 80 }
      driver: { version: "570", open: true, cuda: "12.8" }
      rdma: { count: 1, link_layer: Ethernet, rate_gbps: 400, active_mtu: 4096, gdr: true }
      network: { mtu: 9000, pfc: [3], trust: dscp, ecn: [3] }
      system: { memlock: unlimited, nofile: 1048576, hugepages: 0, swap: false, governor: performance, time_sync: true, disk_free_gib: 10 }
      software: { nccl: "2.20", perftest_cuda: true }
"#;

fn active(bytes: &[u8], _: &Utf8Path) {
    let text = text(bytes);
    drop(rping::client(&text, 10));
    drop(perftest::bandwidth(&text));
    if let Ok(run) = nccl::parse(&text) {
        let _seen = (run.largest(), run.busbw(), run.wrong());
        drop(nccl::judge(&run, &gate::gate("H100 80GB HBM3", 8, 1, None, None, true)));
    }
}

fn ansible_inventory(bytes: &[u8], _: &Utf8Path) {
    for name in ["hosts", "hosts.yaml", "hosts.json"] {
        let mut sources = Sources::default();
        let source = sources.add(name, text(bytes));
        match ansible::import(&sources, source, &[], "imported") {
            // What Ansible allows and we do not (a group with the name of a host) is said when it is read.
            Ok(ours) => {
                let source = sources.add("ours.yaml", ours.text.as_str());
                assert!(yaml::parse(&sources, source).is_ok(), "{}", ours.text);
                drop(read_inventory(&ours.text));
            }
            Err(diagnostics) => drop(diagnostics.render(&sources, false)),
        }
    }
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut all: Vec<PathBuf> =
        fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    all.sort();
    all
}

/// What the repository has of the kind: the fuzzer begins with it.
pub fn seeds(target: &str, repository: &Path) -> Vec<Vec<u8>> {
    let below = |folder: &str| files(&repository.join(folder));
    let read = |path: &PathBuf| fs::read(path).unwrap_or_default();
    let lines = |of: &dyn Fn(&str) -> Option<Vec<u8>>| -> Vec<Vec<u8>> {
        let playbooks =
            below("playbooks").into_iter().map(|path| fs::read_to_string(path).unwrap_or_default());
        playbooks.flat_map(|text| text.lines().filter_map(of).collect::<Vec<_>>()).collect()
    };
    let mut seeds: Vec<Vec<u8>> = match target {
        "inventory" => below("inventories").iter().map(read).collect(),
        "playbook" => {
            let resources = below("src/resources").into_iter().flat_map(|group| files(&group));
            let examples = resources.map(|resource| {
                [b"name: example\ntasks:\n".to_vec(), read(&resource.join("example.yaml"))].concat()
            });
            below("playbooks").iter().map(read).chain(examples).collect()
        }
        "conditions" => lines(&|line| Some(line.trim().strip_prefix("when: ")?.trim_matches('"').into())),
        "templates" => lines(&|line| line.contains("{{").then(|| line.trim().into())),
        "journal" => below("tests/cases/report").iter().map(read).collect(),
        "active" => below("tests/cases/active").iter().map(read).collect(),
        "facts" => ["src/facts", "src/facts/base"]
            .iter()
            .flat_map(|folder| below(folder))
            .flat_map(|kind| files(&kind.join("cases")))
            .map(|case| {
                let kind = case.ancestors().nth(2).and_then(Path::file_name).and_then(|name| name.to_str());
                let labels = fs::read_to_string(case.join("queries"))
                    .unwrap_or_else(|_| format!("base {}", kind.unwrap_or_default()));
                [labels.trim().as_bytes(), b"\n\n", &read(&case.join("output"))].concat()
            })
            .collect(),
        "probes" => {
            let one = |path: &PathBuf| {
                let label = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
                [label.as_bytes(), b"\n\n", &read(path)].concat()
            };
            let mut seeds: Vec<Vec<u8>> = below("tests/cases/probes/h100-x1").iter().map(one).collect();
            seeds.push(seeds.join(&NEXT));
            seeds
        }
        _ => Vec::new(),
    };
    // Folders are among the files.
    seeds.retain(|seed| !seed.is_empty());
    seeds
}
