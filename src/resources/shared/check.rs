//! `validate`: a tool of the host that says whether the draft of a file is right.

use serde_json::{Value as Json, json};

use crate::config::read::wrong_type;
use crate::config::{Diagnostic, Diagnostics, FromNode, Node, Yaml};
use crate::transport::Script;

/// Placeholder for the path of the draft.
const DRAFT: &str = "%s";

/// A tool with its arguments, of which one has `DRAFT` in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Check {
    words: Vec<String>,
    /// Whether a host without the tool fails.
    needed: bool,
}

impl FromNode for Check {
    fn from_node(node: &Node, diagnostics: &mut Diagnostics) -> Option<Self> {
        if !matches!(node.value, Yaml::List(_)) {
            wrong_type(
                node,
                "a program and its arguments in a list, as in `[visudo, -cf, \"%s\"]`",
                diagnostics,
            );
            return None;
        }
        let words = Vec::<String>::from_node(node, diagnostics)?;
        let arguments = words.get(1..).unwrap_or_default();
        let wrong = if words.first().is_none_or(String::is_empty) {
            "the command is empty"
        } else if words.iter().any(|word| word.contains(['\n', '\0'])) {
            "a word of this command must be one line of text"
        } else if arguments.iter().map(|word| word.matches(DRAFT).count()).sum::<usize>() != 1 {
            "one argument must have `%s` in it, and none twice"
        } else {
            return Some(Self { words, needed: true });
        };
        diagnostics.push(
            Diagnostic::error(node.span, wrong)
                .help("`\"%s\"` stands for the path of the draft: `validate: [visudo, -cf, \"%s\"]`"),
        );
        None
    }

    fn schema() -> Json {
        json!({ "type": "array", "items": { "type": "string" }, "minItems": 2 })
    }
}

impl Check {
    /// Returns the check of a program that root runs at each boot: the shell can read it, and nobody else can
    /// put another one in its place.
    pub(in crate::resources) fn of_boot_program() -> Self {
        Self { words: ["sh", "-n", DRAFT].map(str::to_owned).to_vec(), needed: true }
    }

    /// The one that a file needs at its path, whoever writes it: a rule that sudo does not take shuts out
    /// everybody (sudoers(5)). Where sudo is not installed nothing reads it.
    pub(in crate::resources) fn of(path: &str) -> Option<Self> {
        let words = ["visudo", "-cf", DRAFT].map(str::to_owned).to_vec();
        (path == "/etc/sudoers" || path.starts_with("/etc/sudoers.d/"))
            .then_some(Self { words, needed: false })
    }

    /// The same script, which puts nothing in place that does not pass.
    pub(in crate::resources) fn before(&self, script: Script) -> Script {
        Script::new(crate::shell!("resources/shared/validate.sh"))
            .named("missing", if self.needed { "fail" } else { "pass" })
            .named("words", self.words.join("\n"))
            .then(script)
    }
}
