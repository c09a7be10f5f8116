//! A small language for tests: a few resources that do nothing, and two specimens.

#![expect(
    dead_code,
    unreachable_pub,
    clippy::unnecessary_wraps,
    reason = "records of tests: their fields are read by Debug alone"
)]

use std::fmt::Write as _;
use std::sync::Arc;

use camino::Utf8PathBuf;
use serde_json::json;

use super::{Language, LoadError, LoadOptions, Project, load_with};
use crate::config::{Diagnostic, Diagnostics, Entries, FromNode as _, Node, Record, Sp};
use crate::facts::{Facts, Object, Query, Touches};
use crate::resources::{Context, Kind, Planned, Resource};

/// Any resource: what it manages and its fields as text.
#[derive(Debug)]
pub(crate) struct Thing {
    pub(crate) object: Object,
    pub(crate) wants: String,
}

impl Resource for Thing {
    fn queries(&self) -> Vec<Query> {
        Vec::new()
    }
    fn plan(&self, _: &Facts) -> Planned {
        Ok(Vec::new())
    }
    fn touches(&self) -> Touches {
        Touches::one(self.object.clone())
    }
    fn manages(&self) -> Vec<(Object, String)> {
        vec![(self.object.clone(), self.wants.clone())]
    }
}

crate::record! {
    /// Packages.
    Package("a package" as Package) { req names: Vec<String>, opt version: String, opt state: String }
}
crate::record! {
    /// A file.
    File("a file") { req path: String, opt content: String, opt src: Sp<String>, opt mode: String }
}
crate::record! {
    /// A file from a template.
    Template("a template") { req src: Sp<String>, req path: String, opt mode: String }
}
crate::record! {
    /// A service.
    Service("a service") { req name: String, opt state: String, opt enabled: bool }
}
crate::record! {
    /// A kernel module.
    KernelModule("a kernel module") { req name: String, opt persist: bool }
}
crate::record! {
    /// A command.
    Command("a command" as Command) {
        opt run: Vec<String>, opt script: String, opt changes: bool, opt parse: String, opt env: Entries<String>,
        opt mtu: u32,
    }
}

fn thing(object: Object, wants: &impl std::fmt::Debug) -> Option<Arc<dyn Resource>> {
    Some(Arc::new(Thing { object, wants: format!("{wants:?}") }))
}

fn package(node: &Node, _: &dyn Context, diagnostics: &mut Diagnostics) -> Option<Arc<dyn Resource>> {
    let read = Package::from_node(node, diagnostics)?;
    thing(Object::Package(read.names.join(" ")), &(&read.version, &read.state))
}

fn file(node: &Node, context: &dyn Context, diagnostics: &mut Diagnostics) -> Option<Arc<dyn Resource>> {
    let read = File::from_node(node, diagnostics)?;
    if let Some(src) = &read.src
        && let Err(error) = context.local(src)
    {
        diagnostics.error(src.span, error);
        return None;
    }
    thing(Object::Path(read.path), &(&read.content, &read.mode))
}

fn template(node: &Node, context: &dyn Context, diagnostics: &mut Diagnostics) -> Option<Arc<dyn Resource>> {
    let read = Template::from_node(node, diagnostics)?;
    let text = match context.local(&read.src) {
        Ok(local) => crate::playbook::files::text(&local)?,
        Err(error) => {
            diagnostics.error(read.src.span, error);
            return None;
        }
    };
    match context.render(&read.src, &text) {
        Ok(text) => thing(Object::Path(read.path), &text),
        Err(error) => {
            diagnostics.push(Diagnostic::at(read.src.span, error));
            None
        }
    }
}

fn service(node: &Node, _: &dyn Context, diagnostics: &mut Diagnostics) -> Option<Arc<dyn Resource>> {
    let read = Service::from_node(node, diagnostics)?;
    thing(Object::Unit(read.name), &(&read.state, &read.enabled))
}

fn kernel_module(node: &Node, _: &dyn Context, diagnostics: &mut Diagnostics) -> Option<Arc<dyn Resource>> {
    let read = KernelModule::from_node(node, diagnostics)?;
    thing(Object::Module(read.name), &read.persist)
}

fn command(node: &Node, _: &dyn Context, diagnostics: &mut Diagnostics) -> Option<Arc<dyn Resource>> {
    let read = Command::from_node(node, diagnostics)?;
    thing(
        Object::User("command".to_owned()),
        &(read.run, read.script, read.env.map(|env| env.0.len()), read.mtu),
    )
}

macro_rules! kind {
    ($name:literal, $read:ident, $record:ident $(, $field:ident: $value:expr)*) => {
        Kind {
            $($field: $value,)*
            ..Kind::new($name, $read, <$record as Record>::doc, <$record as Record>::fields, "")
        }
    };
}

/// The language of the tests.
pub(crate) fn language() -> Language {
    let debian = json!({
        "os": { "family": "debian", "id": "ubuntu", "version_id": "22.04" },
        "kernel": { "release": "6.8.0", "arch": "x86_64" },
        "gpus": [{ "model": "NVIDIA A100-SXM4-80GB", "uuid": "GPU-1" }],
        "net": [{ "name": "eth0", "address": "10.0.0.1", "mtu": 1500 }],
    });
    let mut rhel = debian.clone();
    rhel["os"] = json!({ "family": "rhel", "id": "rocky", "version_id": "9.4" });
    Language {
        kinds: vec![
            kind!("package", package, Package),
            kind!("file", file, File, secrets: &["content"]),
            kind!("template", template, Template, rendered: true),
            kind!("service", service, Service),
            kind!("kernel_module", kernel_module, KernelModule),
            kind!("command", command, Command, runs_anything: true, secrets: &["env"]),
            *crate::resources::kind("assert").unwrap(),
        ],
        checks: vec!["gpu.nvlink", "gpu.ecc_volatile"],
        specimens: vec![("debian", debian), ("rhel", rhel)],
    }
}

/// Files in a directory of their own: `--- NAME` lines part the text.
pub(crate) struct Case {
    pub(crate) directory: tempfile::TempDir,
}

impl Case {
    pub(crate) fn new(text: &str) -> Self {
        let directory = tempfile::tempdir().unwrap();
        for file in text.split("--- ").skip(1) {
            let (name, content) = file.split_once('\n').unwrap();
            let path = directory.path().join(name.trim());
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, content).unwrap();
        }
        Self { directory }
    }

    pub(crate) fn path(&self, name: &str) -> Utf8PathBuf {
        Utf8PathBuf::from_path_buf(self.directory.path().join(name)).unwrap()
    }

    pub(crate) fn load(&self, options: &LoadOptions) -> Result<Project, Box<LoadError>> {
        load_with(&self.path("inventory.yaml"), options, language())
    }

    /// A text without the directory's name.
    pub(crate) fn relative(&self, text: &str) -> String {
        text.replace(&format!("{}/", self.directory.path().display()), "")
    }
}

/// Loads files and shows what is wrong.
pub(crate) fn load(text: &str) -> Result<Project, String> {
    let case = Case::new(text);
    case.load(&LoadOptions::default()).map_err(|error| case.relative(&error.render(false)))
}

/// All instances of a step on a host, one a line.
pub(crate) fn show(project: &Project, step: usize, host: &str, inputs: &super::Inputs<'_>) -> String {
    let mut text = String::new();
    for instance in project.instantiate(&project.steps[step], project.host(host).unwrap(), inputs) {
        writeln!(text, "{}: {:?}", instance.name, instance.state).unwrap();
    }
    text
}
