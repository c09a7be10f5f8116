//! Runs scripts on this machine without a connection.
#![allow(dead_code, reason = "each test binary uses a part of it")]
#![allow(unreachable_pub, reason = "shared by test binaries")]
#![allow(clippy::disallowed_methods, reason = "tests start the shells that they test")]
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test")]

pub mod folders;
pub mod runs;

use std::io::Write as _;
use std::process::{Command, Stdio};
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use provision::config::{Diagnostics, Sources, Yaml, yaml};
use provision::facts::{Facts, Query, batch};
use provision::placeholder;
use provision::resources::{Context, Local, Resource, kinds};
use provision::secrets::Secrets;
use provision::transport::{PartEnd, Script};

/// The shells that every script must run under: those with the tools of GNU, of uutils and of busybox.
pub const SHELLS: &[&[&str]] = &[&["dash"], UUTILS, &["bash", "--posix"], &["bash"], &["busybox", "sh"]];

/// The shells of a test that takes seconds in each: the usual one and the one that differs most from it. All of them
/// where `EVERY_CASE` is set, as `make test-years` does each night.
pub fn some_shells() -> impl Iterator<Item = &'static [&'static str]> + Clone {
    let every = std::env::var_os("EVERY_CASE").is_some();
    SHELLS.iter().copied().filter(move |shell| every || ["dash", "busybox"].contains(&shell[0]))
}

/// A shell that finds the tools of uutils before all others.
pub const UUTILS: &[&str] = &[concat!(env!("CARGO_MANIFEST_DIR"), "/tests/support/uutils.sh")];

/// `{{provision-secret:NAME}}` in the text of a case becomes the placeholder of this run.
pub fn with_placeholders(text: &str) -> String {
    static SPELLED: LazyLock<regex::Regex> =
        LazyLock::new(|| regex::Regex::new(r"\{\{provision-secret:(\w+)\}\}").unwrap());
    SPELLED.replace_all(text, |found: &regex::Captures<'_>| placeholder::of(&found[1])).into_owned()
}

/// Neither files nor templates.
pub struct Nothing;

impl Context for Nothing {
    fn local(&self, src: &str) -> Result<Local, String> {
        Err(format!("there is no {src}"))
    }

    fn render(&self, _: &str, text: &str) -> Result<String, provision::config::TextError> {
        Ok(text.to_owned())
    }
}

/// The resource of a task: `KIND: { ... }`.
pub fn read(context: &dyn Context, text: &str) -> Arc<dyn Resource> {
    let mut sources = Sources::default();
    let id = sources.add("task.yaml", text);
    let node = yaml::parse(&sources, id).unwrap();
    let Yaml::Map(entries) = &node.value else { panic!("{text}") };
    let (key, value) = &entries[0];
    let kind = kinds().iter().find(|kind| kind.name == key.value).unwrap();
    let mut diagnostics = Diagnostics::default();
    kind.read(value, context, &mut diagnostics)
        .unwrap_or_else(|| panic!("{}", diagnostics.render(&sources, false)))
}

/// The shell text of a script, as the transport writes it.
pub fn render(script: &Script) -> String {
    script.render(&Secrets::default(), "part")
}

/// Runs a script; its status, standard output and standard error.
pub fn run(shell: &[&str], script: &Script, path: Option<&str>) -> (i32, Vec<u8>, String) {
    let mut command = Command::new(shell[0]);
    command.args(&shell[1..]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    if let Some(path) = path {
        command.env("PATH", path);
    }
    let mut child = command.spawn().unwrap();
    // A whole script is read before it runs, as in a frame.
    let text = format!("main() {{\n{}\n}}; main; exit $?\n", render(script));
    child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    (output.status.code().unwrap_or(-1), output.stdout, String::from_utf8_lossy(&output.stderr).into_owned())
}

/// Asks queries on this machine.
pub fn gather(shell: &[&str], queries: impl IntoIterator<Item = Query>) -> Facts {
    let mut facts = Facts::default();
    for part in batch(&queries.into_iter().collect(), Duration::from_secs(20)) {
        let (status, output, errors) = run(shell, &part.part.script, None);
        assert!(!errors.contains("syntax error"), "{shell:?} {}: {errors}", part.part.name);
        facts.absorb(&part, &PartEnd { index: 0, status, output, gap: None });
    }
    facts
}

/// Plans a resource with fresh facts, carries it out, and proves that nothing is left to do.
/// Returns the summaries of what was done.
pub fn converge(shell: &[&str], resource: &dyn Resource) -> Result<Vec<String>, String> {
    let facts = gather(shell, resource.queries());
    let changes = resource.plan(&facts).map_err(|error| format!("{error:?}"))?;
    for change in &changes {
        let mut script = change.script.clone();
        if let Some(upload) = &change.upload {
            let copy = format!("{}.uploaded", upload.local);
            std::fs::copy(&upload.local, &copy).unwrap();
            script = script.arg(copy);
        }
        let (status, output, errors) = run(shell, &script, None);
        if status != 0 {
            return Err(format!(
                "{shell:?} `{}` ended with {status}: {}{errors}",
                change.summary,
                String::from_utf8_lossy(&output)
            ));
        }
    }
    if resource.provable() {
        let again =
            resource.plan(&gather(shell, resource.queries())).map_err(|error| format!("{error:?}"))?;
        assert!(again.is_empty(), "{shell:?} did not converge: {again:#?}");
    }
    Ok(changes.into_iter().map(|change| change.summary).collect())
}
