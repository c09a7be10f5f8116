//! A secret in each field of each resource: it is refused, or only its owner and what it is for can read it.
//!
//! The fields are those of the table of resources, so a new one is tried as well. What is told of a case is where the
//! field stands in it.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test")]
#![allow(clippy::disallowed_methods, reason = "tests start shells and programs")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use provision::config::{Diagnostics, Sources, TextError, yaml};
use provision::facts::{Facts, batch};
use provision::placeholder;
use provision::resources::{Change, Context, Detail, Kind, Local, Resource, kinds};
use provision::secrets::Secrets;
use provision::transport::{Arg, PartEnd, Script};
use serde_json::{Value as Json, json};

const SECRET: &str = "sweep-of-secrets-4711";

/// A template that has the secret, and a directory for what is rendered here.
struct Site(camino::Utf8PathBuf);

impl Context for Site {
    fn local(&self, src: &str) -> Result<Local, String> {
        match src {
            "small" | "template" => Ok(Local::Bytes(Arc::from(src.as_bytes()))),
            _ => Err(format!("there is no {src}")),
        }
    }

    fn render(&self, name: &str, _: &str) -> Result<String, TextError> {
        Ok(if name == "template" { format!("key = {}\n", placeholder::of("s")) } else { String::new() })
    }

    fn base(&self) -> &camino::Utf8Path {
        &self.0
    }
}

/// The resource of a kind with these fields, or all that is said of them.
fn read(kind: &Kind, fields: &Json, context: &dyn Context) -> Result<Arc<dyn Resource>, String> {
    let mut sources = Sources::default();
    let id = sources.add("task.yaml", serde_json::to_string(fields).unwrap());
    let node = yaml::parse(&sources, id).unwrap();
    let mut diagnostics = Diagnostics::default();
    let resource = kind.read(&node, context, &mut diagnostics);
    resource.ok_or_else(|| diagnostics.render(&sources, false))
}

/// The value with a secret in it, in each way that may be read: in the place of each text, behind each, and as what
/// the schema of a field knows.
fn poisoned(value: Option<&Json>) -> Vec<Json> {
    let secret = placeholder::of("s");
    let mut all =
        vec![json!(secret), json!([secret]), json!({ "A": secret }), json!({ secret.clone(): "a" })];
    match value {
        Some(Json::String(text)) => all.push(json!(format!("{text}{secret}"))),
        Some(Json::Array(items)) => {
            for (place, item) in items.iter().enumerate() {
                all.extend(poisoned(Some(item)).into_iter().map(|item| {
                    let mut items = items.clone();
                    items[place] = item;
                    Json::Array(items)
                }));
            }
        }
        Some(Json::Object(map)) => {
            for (key, value) in map {
                all.extend(poisoned(Some(value)).into_iter().map(|value| {
                    let mut map = map.clone();
                    map.insert(key.clone(), value);
                    Json::Object(map)
                }));
            }
        }
        _ => {}
    }
    all
}

/// Fields of the tasks that a kind has: of its cases and its example.
fn tasks(kind: &Kind) -> Vec<Json> {
    let mut tasks: Vec<Json> = crate::support::folders::resource_cases(kind.name)
        .into_iter()
        .map(|case| {
            let text = fs::read_to_string(case).unwrap();
            let case: Json = serde_yaml::from_str(&text).unwrap();
            case["task"][kind.name].clone()
        })
        .collect();
    let example: Json = serde_yaml::from_str(kind.example).unwrap();
    tasks.extend(example.as_array().unwrap().iter().map(|task| task[kind.name].clone()));
    tasks
}

/// Where a script has the secret: the names of the parameters.
fn holders<'a>(script: &'a Script, found: &mut Vec<(&'static str, &'a Arg)>) {
    for (name, arg) in script.names.iter().zip(&script.args) {
        match arg {
            Arg::Script(inner) => holders(inner, found),
            Arg::Scripts(all) | Arg::Tasks(all) => all.iter().for_each(|inner| holders(inner, found)),
            Arg::Word(text) | Arg::Text(text) | Arg::Packed(text) if placeholder::is_in(text) => {
                found.push((name, arg));
            }
            Arg::Bytes(bytes) => assert!(!placeholder::is_in(&String::from_utf8_lossy(bytes)), "{name}"),
            Arg::Word(_) | Arg::Text(_) | Arg::Packed(_) => {}
        }
    }
}

#[test]
fn each_field_refuses_a_secret_or_says_that_it_takes_one() {
    let site = Site("/srv/site".into());
    let (mut tried, mut taken, mut open) = (0, BTreeSet::new(), BTreeSet::new());
    for kind in kinds() {
        let fields = (kind.fields)();
        for task in tasks(kind) {
            for field in &fields {
                // A condition is no template.
                if kind.conditions.contains(&field.name) {
                    continue;
                }
                for value in poisoned(task.get(field.name)) {
                    let mut task = task.clone();
                    let Some(map) = task.as_object_mut() else { continue };
                    map.insert(field.name.to_owned(), value.clone());
                    tried += 1;
                    let place = format!("{}.{}", kind.name, field.name);
                    match read(kind, &task, &site) {
                        Ok(_) if kind.secrets.contains(&field.name) => drop(taken.insert(place)),
                        Ok(_) => drop(open.insert(format!("{place}: {value}"))),
                        // What may hold one may be wrong for another reason.
                        Err(_) if kind.secrets.contains(&field.name) => {}
                        Err(said) => {
                            assert!(said.contains("cannot hold a secret"), "{place}: {said}");
                            assert!(said.contains("put it into `"), "{place}: {said}");
                        }
                    }
                }
            }
        }
    }
    assert!(tried > 3000, "{tried}");
    assert!(open.is_empty(), "these took a secret:\n{open:#?}");
    let declared: BTreeSet<String> = kinds()
        .iter()
        .flat_map(|kind| kind.secrets.iter().map(|field| format!("{}.{field}", kind.name)))
        .collect();
    assert_eq!(taken, declared, "each field that may hold a secret does in a case");
}

/// A task for each field that may hold a secret, with the directory that it may write in, and a template with one.
fn keepers(root: &str) -> BTreeMap<&'static str, Json> {
    let secret = placeholder::of("s");
    let env = json!({ "TOKEN": secret });
    let script = format!("umask 077; printf %s \"$TOKEN\" >{root}/command; test -n \"$TOKEN\"");
    let check = format!("test \"$(cat {root}/command)\" = \"$TOKEN\"");
    BTreeMap::from([
        ("file.content", json!({ "path": format!("{root}/file"), "content": secret })),
        ("render.content", json!({ "path": "render", "content": secret })),
        ("command.env", json!({ "script": script, "env": env, "check": check })),
        ("template", json!({ "src": "template", "path": format!("{root}/template") })),
    ])
}

/// Runs a script with tools that write down their words before they run.
fn run(script: &Script, tools: &Path, secrets: &Secrets) -> (i32, Vec<u8>) {
    let text = format!("main() {{\n{}\n}}; main; exit $?\n", script.render(secrets, "part"));
    let mut child = Command::new("/bin/sh")
        .env("PATH", tools)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), text.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    (output.status.code().unwrap_or(-1), output.stdout)
}

/// Tools of this machine, each behind a program that writes down its words.
fn watched_tools(tools: &Path, log: &Path) {
    fs::create_dir(tools).unwrap();
    let mut names = BTreeSet::new();
    for folder in ["/usr/bin", "/bin", "/usr/sbin", "/sbin"] {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            let plain = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
            if plain && names.insert(name.clone()) {
                let text = format!(
                    "#!/bin/sh\nprintf '%s\\n' \"{name} $*\" >>{}\nexec {folder}/{name} \"$@\"\n",
                    log.display()
                );
                let path = tools.join(name);
                fs::write(&path, text).unwrap();
                fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
            }
        }
    }
}

/// Files with the secret below a directory, each with its mode.
fn files_with_it(directory: &Path, found: &mut BTreeMap<String, u32>) {
    for entry in fs::read_dir(directory).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            files_with_it(&path, found);
        } else if fs::read(&path).is_ok_and(|bytes| String::from_utf8_lossy(&bytes).contains(SECRET)) {
            let mode = entry.metadata().unwrap().permissions().mode() & 0o777;
            found.insert(path.file_name().unwrap().to_string_lossy().into_owned(), mode);
        }
    }
}

#[test]
fn what_takes_a_secret_keeps_it_from_others() {
    let directory = tempfile::tempdir().unwrap();
    let (work, log) = (directory.path().join("work"), directory.path().join("log"));
    fs::create_dir(&work).unwrap();
    watched_tools(&directory.path().join("tools"), &log);
    let site = Site(work.to_str().unwrap().into());
    let secrets = Secrets::new(BTreeMap::from([("s".to_owned(), SECRET.to_owned().into())]));
    let keepers = keepers(work.to_str().unwrap());
    let declared =
        kinds().iter().flat_map(|kind| kind.secrets.iter().map(|field| format!("{}.{field}", kind.name)));
    for place in declared {
        assert!(keepers.contains_key(place.as_str()), "{place} may hold a secret, and is not tried here");
    }
    let tools = directory.path().join("tools");
    for (place, task) in &keepers {
        let kind = kinds().iter().find(|kind| place.split('.').next() == Some(kind.name)).unwrap();
        let resource = read(kind, task, &site).unwrap_or_else(|said| panic!("{place}: {said}"));
        let mut changes = 0;
        for _ in 0..2 {
            let mut facts = Facts::default();
            for part in batch(&resource.queries().into_iter().collect(), Duration::from_secs(20)) {
                let (status, output) = run(&part.part.script, &tools, &secrets);
                facts.absorb(&part, &PartEnd { index: 0, status, output, gap: None });
            }
            for change in resource.plan(&facts).unwrap() {
                changes += 1;
                check_shown(place, &change);
                assert_eq!(run(&change.script, &tools, &secrets).0, 0, "{place}");
            }
        }
        assert_eq!(changes, 1, "{place}: it was done once and is proven then");
    }
    let words = fs::read_to_string(&log).unwrap();
    assert!(words.lines().count() > 10, "the tools wrote down nothing: {words}");
    assert!(!words.contains(SECRET), "{words}");
    let mut found = BTreeMap::new();
    files_with_it(directory.path(), &mut found);
    let wanted = ["command", "file", "render", "template"].map(|name| (name.to_owned(), 0o600));
    assert_eq!(found, wanted.into());
    // Who finds nothing has to be able to find something.
    run(&Script::new("ls -d \"$1\"").arg(placeholder::of("s")), &tools, &secrets);
    assert!(fs::read_to_string(&log).unwrap().contains(SECRET));
}

/// What people see of a change does not have the secret, and of its script only what a file or a variable gets.
fn check_shown(place: &str, change: &Change) {
    assert!(!placeholder::is_in(&change.summary), "{place}: {}", change.summary);
    if let Detail::Text { before, after } = &change.detail {
        assert!(before.iter().chain(after).all(|text| !placeholder::is_in(text)), "{place}");
    }
    let mut found = Vec::new();
    holders(&change.script, &mut found);
    for (name, arg) in found {
        assert!(
            matches!((name, arg), ("content", Arg::Packed(_)) | ("variable", Arg::Word(_))),
            "{place}: {name}"
        );
    }
}

#[test]
fn a_file_with_a_secret_is_not_for_everybody() {
    let site = Site("/srv/site".into());
    let content = placeholder::of("s");
    let path = "/etc/token";
    for (kind, task) in [
        ("file", json!({ "path": path, "content": content })),
        ("template", json!({ "path": path, "src": "template" })),
        ("render", json!({ "path": "token", "content": content })),
        ("render", json!({ "path": "token", "src": "template" })),
    ] {
        let kind = kinds().iter().find(|known| known.name == kind).unwrap();
        let with = |mode: &str| {
            let mut task = task.clone();
            task["mode"] = json!(mode);
            read(kind, &task, &site).map(drop)
        };
        for mode in ["0644", "0604", "0666", "0602", "1644"] {
            let said = with(mode).unwrap_err();
            assert!(said.contains("everybody could read the secret"), "{} {mode}: {said}", kind.name);
        }
        for mode in ["0600", "0400", "0640"] {
            assert_eq!(with(mode), Ok(()), "{} {mode}", kind.name);
        }
    }
    // One without a secret is for whom its mode says.
    let kind = kinds().iter().find(|known| known.name == "file").unwrap();
    assert!(read(kind, &json!({ "path": path, "content": "x", "mode": "0644" }), &site).is_ok());
}
