//! Values that several mappings of an inventory have.

use std::num::NonZeroU32;

use serde_json::{Value as Json, json};

use crate::config::read::{keys_in_brackets, wrong_type};
use crate::config::yaml::scalar;
use crate::config::{Diagnostic, Diagnostics, FromNode, Node, Sp, Yaml, did_you_mean_text};
use crate::template::paths::is_template;

crate::choice! {
    /// Whether a host may be rebooted.
    Reboot {
        /// Never; what needs one waits.
        Never = "never",
        /// When a change needs it.
        Allow = "allow",
    }
}

crate::choice! {
    /// Treatment of a host that is in use when a change would interrupt it.
    Busy {
        /// The change is refused.
        Refuse = "refuse",
        /// The host gets no new job, and the change waits until the last one has ended. It needs `maintenance:`.
        Drain = "drain",
    }
}

crate::record! {
    /// Limits on what a run may interrupt.
    #[derive(PartialEq, Eq)]
    Policy("`policy`") {
        /// Whether hosts may be rebooted.
        def reboot: Reboot = Reboot::Never,
        /// Treatment of hosts in use.
        def busy: Busy = Busy::Refuse,
        /// Number of hosts that may be down for a reboot at once. Default: 16.
        opt reboot_parallel: NonZeroU32,
        /// A command of the machine that runs `provision`, which turns a host off and on. It is run once when a
        /// host that is drained does not come back from a reboot in its time, and never twice in a run. It needs
        /// `maintenance:`.
        opt power_cycle: PowerCycle,
    }
}

crate::record! {
    /// Command that turns a host off and on.
    #[derive(PartialEq, Eq)]
    PowerCycle("`power_cycle`") {
        /// The command, word by word; a word may hold `{{ host.name }}` and what else an address may read.
        req run: Vec<Sp<String>>,
    }
}

impl Policy {
    /// Returns the number of hosts that may be down for a reboot at once.
    pub fn reboots(&self) -> usize {
        self.reboot_parallel.map_or(16, |number| usize::try_from(number.get()).unwrap_or(usize::MAX))
    }
}

impl Default for Policy {
    fn default() -> Self {
        Self { reboot: Reboot::Never, busy: Busy::Refuse, reboot_parallel: None, power_cycle: None }
    }
}

/// Reason why a host is out of service.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reason(pub String);

impl FromNode for Reason {
    fn from_node(node: &Node, diagnostics: &mut Diagnostics) -> Option<Self> {
        let is_word = |text: &str| matches!(text.trim(), "" | "true" | "false" | "yes" | "no");
        if matches!(node.value, Yaml::Bool(_)) || node.as_str().is_some_and(is_word) {
            diagnostics.push(
                Diagnostic::error(node.span, "this is not why the host is out of service")
                    .help("write the reason, as in `offline: \"power supply, RMA 4711\"`; a host that is in service has no `offline`"),
            );
            return None;
        }
        String::from_node(node, diagnostics).map(Self)
    }

    fn schema() -> Json {
        json!({ "type": "string", "minLength": 1 })
    }
}

/// A PCI address with its domain.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct PciAddress(pub String);

impl FromNode for PciAddress {
    fn from_node(node: &Node, diagnostics: &mut Diagnostics) -> Option<Self> {
        let text = String::from_node(node, diagnostics)?;
        let is_whole = |text: &str| {
            let parts: Vec<&str> = text.split([':', '.']).collect();
            let lengths: Vec<usize> = parts.iter().map(|part| part.len()).collect();
            lengths == [4, 2, 2, 1]
                && parts.iter().all(|part| part.bytes().all(|byte| byte.is_ascii_hexdigit()))
        };
        if is_template(&text) {
            return Some(Self(text));
        }
        if is_whole(&text) {
            // As sysfs names it; devices are compared with that.
            return Some(Self(text.to_ascii_lowercase()));
        }
        let diagnostic = Diagnostic::error(node.span, format!("`{text}` is not a PCI address"));
        // As nvidia-smi prints it, or lspci.
        let with_domain = text
            .strip_prefix("0000")
            .filter(|rest| is_whole(rest))
            .map_or_else(|| format!("0000:{text}"), str::to_ascii_lowercase);
        diagnostics.push(if is_whole(&with_domain) {
            diagnostic.help(format!("write it with its domain, as `lspci -D` prints it: `\"{with_domain}\"`"))
        } else {
            diagnostic.help("it is written as `lspci -D` prints it: `\"0000:18:00.0\"`")
        });
        None
    }

    fn schema() -> Json {
        json!({ "type": "string" })
    }
}

/// A mapping that may be left empty.
#[derive(Debug, Clone)]
pub struct Nullable<T>(pub Option<T>);

impl<T: FromNode> FromNode for Nullable<T> {
    fn from_node(node: &Node, diagnostics: &mut Diagnostics) -> Option<Self> {
        if node.is_null() {
            Some(Self(None))
        } else {
            T::from_node(node, diagnostics).map(|it| Self(Some(it)))
        }
    }

    fn schema() -> Json {
        json!({ "anyOf": [T::schema(), { "type": "null" }] })
    }
}

/// One text or a list of them.
#[derive(Debug, Clone, PartialEq)]
pub struct Words(pub Vec<Sp<String>>);

impl FromNode for Words {
    fn from_node(node: &Node, diagnostics: &mut Diagnostics) -> Option<Self> {
        if matches!(node.value, Yaml::List(_)) {
            Vec::from_node(node, diagnostics).map(Self)
        } else if let Yaml::Map(entries) = &node.value {
            let text = format!("expected a text or a list of them, found {}", node.value.kind());
            diagnostics.push(Diagnostic::error(node.span, text).maybe_help(keys_in_brackets(entries)));
            None
        } else {
            Sp::from_node(node, diagnostics).map(|word| Self(vec![word]))
        }
    }

    fn schema() -> Json {
        json!({ "anyOf": [{ "type": "string" }, { "type": "array", "items": { "type": "string" } }] })
    }
}

crate::record! {
    /// A reference to a secret.
    SecretName("a reference to a secret" as SecretReference) {
        /// Its name in `secrets:`.
        req secret: Sp<String>,
    }
}

/// A number of hosts, or a share of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Share {
    /// So many hosts.
    Hosts(u32),
    /// So many of a hundred hosts.
    Percent(u32),
}

impl FromNode for Share {
    fn from_node(node: &Node, diagnostics: &mut Diagnostics) -> Option<Self> {
        if let Some(text) = node.as_str() {
            let percent = text.strip_suffix('%').and_then(|number| number.trim().parse::<u32>().ok());
            if let Some(percent) = percent.filter(|percent| *percent <= 100) {
                return Some(Self::Percent(percent));
            }
            diagnostics.push(
                Diagnostic::error(node.span, format!("`{text}` is not a number of hosts"))
                    .help("write `3` or `\"5%\"`"),
            );
            return None;
        }
        if !matches!(node.value, Yaml::Int(_)) {
            wrong_type(node, "a number or a percentage", diagnostics);
            return None;
        }
        u32::from_node(node, diagnostics).map(Self::Hosts)
    }

    fn schema() -> Json {
        json!({ "anyOf": [{ "type": "integer", "minimum": 0 }, { "type": "string", "pattern": "^[0-9]{1,3}%$" }] })
    }
}

/// Reports a name that is not known.
pub(crate) fn unknown<'a>(
    what: &str,
    name: &Sp<String>,
    known: impl IntoIterator<Item = &'a str>,
    diagnostics: &mut Diagnostics,
) {
    let name_of = &name.value;
    let define = || match what {
        "secret" => Some(format!(
            "`secrets: {{ {name_of}: {{ env: VARIABLE }} }}` in the inventory says where it comes from; see `provision explain secrets`"
        )),
        "handler" => Some(format!(
            "a handler stands under `handlers:` of the playbook, like a task, with `name: {}`",
            scalar(name_of)
        )),
        _ => None,
    };
    let help = did_you_mean_text(name_of, known).or_else(define);
    diagnostics
        .push(Diagnostic::error(name.span, format!("there is no {what} `{name_of}`")).maybe_help(help));
}
