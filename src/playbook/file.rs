//! A playbook as it is written.

use std::time::Duration;

use serde_json::{Value as Json, json};

use super::versions::VERSIONS;
use crate::config::{
    Diagnostic, Diagnostics, Entries, FromNode, Node, Period, Sp, Span, Yaml, did_you_mean_text,
    read::wrong_type,
};
use crate::inventory::file::Words;
use crate::resources::Kind;

crate::choice! {
    /// Handling of a task's processes on the host when its time is up.
    OnDeadline {
        /// They are ended.
        Kill = "kill",
        /// They go on; the next run attaches to them.
        Leave = "leave",
    }
}

crate::choice! {
    /// Effect of a failed task on the rest of its host.
    OnFailure {
        /// The host stops here.
        Stop = "stop",
        /// The next task runs.
        Continue = "continue",
    }
}

crate::choice! {
    /// Type of a parameter.
    ParamType {
        /// Text.
        String = "string",
        /// Name of a group of the inventory.
        Group = "group",
        /// A whole number.
        Int = "int",
        /// `true` or `false`.
        Bool = "bool",
        /// A list.
        List = "list",
        /// A map.
        Map = "map",
    }
}

impl ParamType {
    /// Whether a value is of this type; `none` is of every type.
    pub fn takes(self, value: &Json) -> bool {
        match self {
            _ if value.is_null() => true,
            Self::String | Self::Group => value.is_string(),
            Self::Int => value.is_i64() || value.is_u64(),
            Self::Bool => value.is_boolean(),
            Self::List => value.is_array(),
            Self::Map => value.is_object(),
        }
    }

    /// With its article, for messages.
    pub fn article(self) -> &'static str {
        match self {
            Self::String => "a string",
            Self::Group => "the name of a group",
            Self::Int => "an integer",
            Self::Bool => "a boolean",
            Self::List => "a list",
            Self::Map => "a map",
        }
    }
}

crate::record! {
    /// A parameter of a playbook.
    ParamRecord("a parameter" as Parameter) {
        /// Type of its value.
        req kind("type"): ParamType,
        /// Value when nobody sets it. Without a default it must be set; `null` makes it optional.
        opt default: Node,
        /// In place of `default`: a value or a table of the program's own versions, such as `nccl.version`
        /// (docs/reference/versions.md).
        opt from: Sp<String>,
        /// The product that the value is a release of, such as `driver`: `validate` warns of one that has ended.
        opt product: Sp<String>,
        /// Meaning of the parameter, for people.
        opt doc: String,
    }
}

/// A parameter of a playbook.
#[derive(Debug, Clone)]
pub struct Param {
    /// Type of its value.
    pub kind: ParamType,
    /// Value when nobody sets it.
    pub default: Option<Node>,
    /// Name of the value or the table that the default is taken from.
    pub from: Option<Sp<String>>,
    /// The product that the value is a release of.
    pub product: Option<Sp<String>>,
    /// Meaning of the parameter, for people.
    pub doc: String,
}

impl FromNode for Param {
    fn from_node(node: &Node, diagnostics: &mut Diagnostics) -> Option<Self> {
        let record = ParamRecord::from_node(node, diagnostics)?;
        // `default: null` is a default, and not a missing one.
        let mut default = node.get("default").cloned();
        if let Some(from) = &record.from {
            if let Some(default) = &default {
                diagnostics.push(
                    Diagnostic::error(from.span, "a parameter has either `default` or `from`")
                        .related(default.span, "its default"),
                );
                return None;
            }
            default = Some(known_version(from, record.kind, diagnostics)?);
        }
        if let Some(product) =
            record.product.as_ref().filter(|product| VERSIONS.products().all(|known| known != product.value))
        {
            diagnostics.push(
                Diagnostic::error(
                    product.span,
                    format!("nothing is known of the releases of `{}`", **product),
                )
                .maybe_help(did_you_mean_text(product, VERSIONS.products())),
            );
            return None;
        }
        let doc = record.doc.unwrap_or_default();
        Some(Self { kind: record.kind, default, from: record.from, product: record.product, doc })
    }

    fn schema() -> Json {
        ParamRecord::schema()
    }
}

/// The default that a parameter takes from the program's own versions.
fn known_version(from: &Sp<String>, kind: ParamType, diagnostics: &mut Diagnostics) -> Option<Node> {
    let value = VERSIONS.default_of(from, kind == ParamType::List);
    if value.is_none() {
        let unknown = VERSIONS.values.iter().any(|value| value.id == **from);
        let message = if unknown {
            format!("the value of `{}` is not known", **from)
        } else {
            format!("there is no `{}` among the versions", **from)
        };
        let near = || did_you_mean_text(from, VERSIONS.names());
        diagnostics.push(Diagnostic::error(from.span, message).maybe_help(if unknown {
            None
        } else {
            near()
        }));
    }
    Some(Node::from_json(&value?, from.span))
}

crate::record! {
    /// A playbook: tasks that make a host what it should be.
    PlaybookRecord("a playbook" as Playbook) {
        /// Title, for people.
        req name: Sp<String>,
        /// Purpose of the playbook, and what its users should know.
        opt doc: String,
        /// Parameters that its users may set.
        def params: Entries<Param> = Entries::default(),
        /// Tasks of the playbook, in the order in which they are done.
        def tasks: Vec<Node> = Vec::new(),
        /// Tasks that run once after all others, when a task that changed something notified them. A run with several
        /// stages runs them at the end of each.
        def handlers: Vec<Node> = Vec::new(),
    }
}

crate::record! {
    /// Number of tries of a task, and the pause between them.
    RetriesFile("`retries`" as Retries) {
        /// Tries in all.
        req attempts: Sp<u32>,
        /// Between two tries.
        def delay: Period = Period(Duration::from_secs(5)),
    }
}

/// A word by which tasks are picked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tag(pub String);

impl FromNode for Tag {
    fn from_node(node: &Node, diagnostics: &mut Diagnostics) -> Option<Self> {
        let text = String::from_node(node, diagnostics)?;
        // In Ansible these decide, not the command line: a task that is never meant to run would run.
        if matches!(text.as_str(), "never" | "always") {
            diagnostics.push(
                Diagnostic::error(node.span, format!("`{text}` is a tag like any other here"))
                    .help("a word of Ansible; here `--tags` and `--skip-tags` decide; a task that is for some cases alone has a `when`"),
            );
            return None;
        }
        Some(Self(text))
    }

    fn schema() -> Json {
        json!({ "type": "string" })
    }
}

crate::record! {
    /// A loop over several lists.
    LoopRecord("`loop`") {
        /// Lists by name: the task is done for each combination of their elements, the first list slowest.
        req product: Sp<Entries<Node>>,
    }
}

/// `run_once`.
#[derive(Debug, Clone)]
pub enum RunOnceFile {
    /// `false`
    No,
    /// `true`: on the first healthy host.
    First,
    /// `{ host: NAME }`
    Host(Sp<String>),
}

crate::record! {
    /// The host that a task runs on.
    RunOnceRecord("`run_once`") {
        /// Name of the host.
        req host: Sp<String>,
    }
}

impl FromNode for RunOnceFile {
    fn from_node(node: &Node, diagnostics: &mut Diagnostics) -> Option<Self> {
        match &node.value {
            Yaml::Bool(true) => Some(Self::First),
            Yaml::Bool(false) => Some(Self::No),
            Yaml::Map(_) => RunOnceRecord::from_node(node, diagnostics).map(|record| Self::Host(record.host)),
            Yaml::Null | Yaml::Int(_) | Yaml::Float(_) | Yaml::Str(_) | Yaml::List(_) => {
                wrong_type(node, "`true` or `{ host: NAME }`", diagnostics);
                None
            }
        }
    }

    fn schema() -> Json {
        json!({ "anyOf": [{ "type": "boolean" }, RunOnceRecord::schema()] })
    }
}

crate::record! {
    /// Keys that say how a task is carried out, whatever it does.
    TaskRecord("a task") {
        /// Title of the task, for people. Required where there is a resource.
        opt name: Sp<String>,
        /// Host expression (`provision explain host-expressions`) that narrows the playbook's hosts.
        opt hosts: Words,
        /// Condition: the task is for hosts where it holds.
        opt when: Node,
        /// A list: the task is done for each element, bound to `item`. Or `product` with several lists by
        /// name: the task is done for each combination, bound to `item.NAME`.
        opt looped("loop"): Node,
        /// Variables of this task.
        def vars: Entries<Node> = Entries::default(),
        /// Tags, for `--tags` and `--skip-tags`.
        def tags: Vec<Sp<Tag>> = Vec::new(),
        /// Time limit of one try.
        opt timeout: Period,
        /// Handling of its processes when the time is up.
        opt on_deadline: OnDeadline,
        /// Number of tries, and the pause between them.
        opt retries: RetriesFile,
        /// The user who carries it out instead of root: its changes, and all that it has run to look
        /// (`unless`, `check`, compilers, git).
        opt become_user: Sp<String>,
        /// Only on one host.
        opt run_once: RunOnceFile,
        /// Handlers that run at the end when it changed something.
        opt notify: Words,
        /// Effect of its failure on the rest of its host.
        opt on_failure: OnFailure,
        /// Name under which later tasks of the host know its answer; only for `command` with
        /// `changes: false`. It cannot be the name of a parameter. A parameter or a variable of the same
        /// name hides it in the task that reads it.
        opt register: Sp<String>,
        /// No templates in this task.
        def raw: bool = false,
        /// Runs in a unit of its own on the host.
        def detach: bool = false,
        /// Carries out the tasks of another playbook here.
        opt include: Sp<String>,
        /// Values for the included playbook's parameters.
        opt with: Sp<Entries<Node>>,
        /// Tasks that are one unit: `hosts`, `when`, `tags` and `vars` are for all of them, and when one
        /// fails those that are left are not started. With `on_failure: continue` the host then goes on
        /// behind the block.
        opt block: Sp<Vec<Node>>,
        /// Tasks behind those of `block`, which are done also when one of these failed.
        opt always: Sp<Vec<Node>>,
    }
}

/// Action of a task.
#[derive(Debug, Clone)]
pub enum Action {
    /// The tasks of another playbook.
    Include(Sp<String>),
    /// Several tasks as one unit.
    Block(Block),
    /// One resource.
    Resource {
        /// The resource key.
        kind: Kind,
        /// Place of the resource in the file.
        span: Span,
        /// Its fields.
        body: Node,
    },
    /// An action that could not be read; the mistake was reported.
    Broken,
}

/// Several tasks as one unit.
#[derive(Debug, Clone)]
pub struct Block {
    /// Place of the block in the file.
    pub span: Span,
    /// Its tasks.
    pub tasks: Vec<Task>,
    /// Tasks that are done in any case.
    pub always: Vec<Task>,
}

/// A task.
#[derive(Debug, Clone)]
pub struct Task {
    /// Keys that say how it is carried out.
    pub record: TaskRecord,
    /// Action of the task.
    pub action: Action,
    /// Place of the task in the file: its name, else its first key.
    pub span: Span,
}

impl Task {
    /// Its name, for people.
    pub fn title(&self) -> &str {
        match (&self.record.name, &self.action) {
            (Some(name), _) => &name.value,
            (None, Action::Include(playbook)) => &playbook.value,
            (None, Action::Resource { .. } | Action::Block(_) | Action::Broken) => "",
        }
    }
}
