//! Types of fields that several resources share.

use std::fmt;

use serde_json::{Value as Json, json};
use sha2::{Digest as _, Sha256};

use crate::config::{Diagnostic, Diagnostics, FromNode, Node, Yaml};
use crate::facts::Object;

crate::choice! {
    /// Whether a thing must exist.
    Presence {
        /// It must exist.
        Present = "present",
        /// It must not exist.
        Absent = "absent",
    }
}

/// Permission bits, written as a string of octal digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileMode(pub u32);

impl fmt::Display for FileMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04o}", self.0)
    }
}

impl FromNode for FileMode {
    fn from_node(node: &Node, diagnostics: &mut Diagnostics) -> Option<Self> {
        let text = match &node.value {
            Yaml::Str(text) => text.as_str(),
            Yaml::Int(_) | Yaml::Float(_) => {
                // The YAML reader takes the digits as decimal: 0644 becomes a float, 644 an integer.
                let digits = match node.value {
                    Yaml::Float(number) => format!("{number:.0}"),
                    Yaml::Int(number) => number.to_string(),
                    Yaml::Null | Yaml::Bool(_) | Yaml::Str(_) | Yaml::List(_) | Yaml::Map(_) => String::new(),
                };
                diagnostics.push(
                    Diagnostic::error(
                        node.span,
                        "a mode must be a string of octal digits, but this is a number",
                    )
                    .label("YAML readers disagree about the value of this number")
                    .help(format!("write it in double quotes: `\"{digits:0>4}\"`")),
                );
                return None;
            }
            Yaml::Null | Yaml::Bool(_) | Yaml::List(_) | Yaml::Map(_) => {
                crate::config::read::wrong_type(node, "a mode such as \"0644\"", diagnostics);
                return None;
            }
        };
        let digits = (3..=4).contains(&text.len()) && text.bytes().all(|byte| (b'0'..=b'7').contains(&byte));
        let mode = u32::from_str_radix(text, 8).ok().filter(|_| digits);
        if mode.is_none() {
            diagnostics.push(
                Diagnostic::error(node.span, format!("`{text}` is not a mode"))
                    .help("a mode has three or four octal digits: `\"0644\"`"),
            );
        }
        mode.map(Self)
    }

    fn schema() -> Json {
        json!({ "type": "string", "pattern": "^[0-7]{3,4}$" })
    }
}

/// An absolute path on a host, without `.`, `..`, doubled or trailing slashes.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct HostPath(pub String);

impl HostPath {
    /// Takes a text when it is a path as we want it.
    ///
    /// # Errors
    /// A text for the user.
    pub fn new(text: &str) -> Result<Self, String> {
        if !text.starts_with('/') {
            return Err(format!("`{text}` is not an absolute path"));
        }
        if text.contains(['\n', '\0', '\r']) {
            return Err("a path cannot contain a line break".to_owned());
        }
        if text.ends_with([',', ';']) || text.trim_end() != text {
            return Err(format!("`{text}` ends with a sign that no path ends with"));
        }
        let parts: Vec<&str> = text.split('/').filter(|part| !part.is_empty()).collect();
        if parts.iter().any(|part| matches!(*part, "." | "..")) {
            return Err(format!("`{text}` contains `.` or `..`: write the path without them"));
        }
        Ok(Self(format!("/{}", parts.join("/"))))
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The directory that holds it.
    pub fn parent(&self) -> &str {
        parent(&self.0)
    }
}

/// Whether the path of a file names the file, and not with `/` at its end the directory that it is meant to be in.
pub(in crate::resources) fn names_a_file(node: &Node, diagnostics: &mut Diagnostics) -> bool {
    let path = node.get("path");
    let Some(path) = path.filter(|path| path.as_str().is_some_and(|text| text.ends_with('/'))) else {
        return true;
    };
    diagnostics.push(
        Diagnostic::error(path.span, "a path that ends with `/` names a directory")
            .help("write the name of the file behind it"),
    );
    false
}

/// The directory that holds a path.
pub(in crate::resources) fn parent(path: &str) -> &str {
    match path.rfind('/') {
        Some(0) | None => "/",
        Some(at) => path.get(..at).unwrap_or("/"),
    }
}

/// Programs that people name without their directory.
const SHELLS: [&str; 9] = ["sh", "bash", "dash", "zsh", "fish", "ksh", "csh", "tcsh", "false"];

impl FromNode for HostPath {
    fn from_node(node: &Node, diagnostics: &mut Diagnostics) -> Option<Self> {
        let text = String::from_node(node, diagnostics)?;
        match Self::new(&text) {
            Ok(path) => Some(path),
            Err(message) => {
                let inside = Self::new(&format!("/{text}")).ok();
                let inside = inside.filter(|_| text.starts_with(|first: char| first.is_ascii_alphanumeric()));
                let begins = |path: &str| format!("a path on a host begins at its root: `{path}`");
                let help = match text.as_str() {
                    shell if SHELLS.contains(&shell) => Some(begins(&format!("/bin/{shell}"))),
                    "nologin" => Some(begins("/usr/sbin/nologin")),
                    _ => inside.map(|path| begins(path.as_str())),
                };
                diagnostics.push(Diagnostic::error(node.span, message).maybe_help(help));
                None
            }
        }
    }

    fn schema() -> Json {
        json!({ "type": "string", "pattern": "^/" })
    }
}

/// A user or group, by name or number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Principal(pub String);

impl Principal {
    /// Whether it is the one with this name and number.
    pub fn is(&self, name: &str, number: u32) -> bool {
        match self.0.parse::<u32>() {
            Ok(wanted) => wanted == number,
            Err(_) => self.0 == name,
        }
    }
}

/// Whether a text is a name that user tools take: no leading dash, nothing a shell or a colon
/// separated file would trip over.
pub(in crate::resources) fn is_account_name(text: &str) -> bool {
    let mut bytes = text.bytes();
    bytes.next().is_some_and(|byte| byte.is_ascii_alphabetic() || byte == b'_')
        && text.len() <= 64
        && bytes.all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b'$' | b'@'))
}

impl FromNode for Principal {
    fn from_node(node: &Node, diagnostics: &mut Diagnostics) -> Option<Self> {
        if matches!(node.value, Yaml::Int(_)) {
            let number = u32::from_node(node, diagnostics)?;
            return Some(Self(number.to_string())).filter(|_| number != u32::MAX);
        }
        let text = String::from_node(node, diagnostics)?;
        if text.parse::<u32>().is_ok() || is_account_name(&text) {
            return Some(Self(text));
        }
        diagnostics.error(node.span, format!("`{text}` is not the name or number of a user or group"));
        None
    }

    fn schema() -> Json {
        json!({ "type": ["string", "integer"] })
    }
}

/// The name of a user or group that a task manages.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct AccountName(pub String);

impl FromNode for AccountName {
    fn from_node(node: &Node, diagnostics: &mut Diagnostics) -> Option<Self> {
        let text = String::from_node(node, diagnostics)?;
        if is_account_name(&text) {
            return Some(Self(text));
        }
        diagnostics.push(
            Diagnostic::error(node.span, format!("`{text}` is not the name of a user or group"))
                .help("start with a letter or `_`, then use letters, digits, `_`, `-` and `.`"),
        );
        None
    }

    fn schema() -> Json {
        json!({ "type": "string", "pattern": "^[A-Za-z_][A-Za-z0-9_.$@-]*$" })
    }
}

/// The value of a setting: a text or a whole number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scalar(pub String);

impl FromNode for Scalar {
    fn from_node(node: &Node, diagnostics: &mut Diagnostics) -> Option<Self> {
        if let Yaml::Int(number) = node.value {
            return Some(Self(number.to_string()));
        }
        if let Yaml::Bool(value) = node.value {
            diagnostics.push(
                Diagnostic::error(
                    node.span,
                    format!("a setting is a number or a text, and `{value}` is neither"),
                )
                .help(format!(
                    "write {}, whichever it takes",
                    if value { "`1` or `\"yes\"`" } else { "`0` or `\"no\"`" }
                )),
            );
            return None;
        }
        let text = String::from_node(node, diagnostics)?;
        if text.contains(['\n', '\r', '\0']) {
            diagnostics.error(node.span, "a value must be one line");
            return None;
        }
        Some(Self(text))
    }

    fn schema() -> Json {
        json!({ "type": ["string", "integer"] })
    }
}

/// Name of a file of ours, without directory and suffix.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileName(pub String);

impl FromNode for FileName {
    fn from_node(node: &Node, diagnostics: &mut Diagnostics) -> Option<Self> {
        let text = String::from_node(node, diagnostics)?;
        let good = text.starts_with(|c: char| c.is_ascii_alphanumeric())
            && text.len() <= 64
            && text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.'));
        if !good {
            diagnostics.push(
                Diagnostic::error(node.span, format!("`{text}` cannot be part of the name of a file"))
                    .help("use letters, digits, `_`, `-` and `.`; start with a letter or digit"),
            );
        }
        good.then_some(Self(text))
    }

    fn schema() -> Json {
        json!({ "type": "string", "pattern": "^[A-Za-z0-9][A-Za-z0-9_.-]*$" })
    }
}

/// A name of the kernel's, at most so long.
fn kernel_name(node: &Node, what: &str, longest: usize, diagnostics: &mut Diagnostics) -> Option<String> {
    let text = String::from_node(node, diagnostics)?;
    let good = text.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_')
        && text.len() <= longest
        && text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.'));
    if !good {
        diagnostics.push(Diagnostic::error(node.span, format!("`{text}` is not the name of {what}")).help(
            format!("use at most {longest} letters, digits, `_`, `-` and `.`; start with a letter or digit"),
        ));
    }
    good.then_some(text)
}

/// The name of a link: `eth0`, `ens6f0np0`, `bond0.100`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NetdevName(pub String);

impl FromNode for NetdevName {
    fn from_node(node: &Node, diagnostics: &mut Diagnostics) -> Option<Self> {
        kernel_name(node, "a network link", 15, diagnostics).map(Self)
    }

    fn schema() -> Json {
        json!({ "type": "string", "pattern": "^[A-Za-z0-9_][A-Za-z0-9_.-]{0,14}$" })
    }
}

/// The name of an RDMA device: `mlx5_0`, `rxe0`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RdmaName(pub String);

impl FromNode for RdmaName {
    fn from_node(node: &Node, diagnostics: &mut Diagnostics) -> Option<Self> {
        kernel_name(node, "an RDMA device", 63, diagnostics).map(Self)
    }

    fn schema() -> Json {
        json!({ "type": "string", "pattern": "^[A-Za-z0-9_][A-Za-z0-9_.-]{0,62}$" })
    }
}

/// `owner:group` as chown(1) takes it; empty when neither is wanted.
pub(in crate::resources) fn ownership(owner: Option<&Principal>, group: Option<&Principal>) -> String {
    match (owner, group) {
        (None, None) => String::new(),
        (Some(owner), None) => owner.0.clone(),
        (None, Some(group)) => format!(":{}", group.0),
        (Some(owner), Some(group)) => format!("{}:{}", owner.0, group.0),
    }
}

/// A SHA-256 as a user writes it: 64 hexadecimal digits, kept in small letters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Digest(pub String);

impl FromNode for Digest {
    fn from_node(node: &Node, diagnostics: &mut Diagnostics) -> Option<Self> {
        let text = String::from_node(node, diagnostics)?;
        if text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Some(Self(text.to_ascii_lowercase()));
        }
        diagnostics.push(
            Diagnostic::error(node.span, format!("`{text}` is not a SHA-256"))
                .help("it must have 64 hexadecimal digits: `sha256sum FILE` prints them"),
        );
        None
    }

    fn schema() -> Json {
        json!({ "type": "string", "pattern": "^[0-9A-Fa-f]{64}$" })
    }
}

/// SHA-256 in hex.
pub fn sha256(bytes: &[u8]) -> String {
    let digit = |nibble: u8| char::from(if nibble < 10 { b'0' + nibble } else { b'a' - 10 + nibble });
    Sha256::digest(bytes).iter().fold(String::with_capacity(64), |mut hex, byte| {
        hex.push(digit(byte >> 4));
        hex.push(digit(byte & 15));
        hex
    })
}

/// Returns what a resource wants of a thing, attribute by attribute: two tasks may each own some of them
/// (`enabled` here, `started` there) and are at odds only over one that both name.
pub(in crate::resources) fn claims<'a>(
    object: impl Fn(String) -> Object,
    name: &str,
    presence: impl Into<String>,
    attributes: impl IntoIterator<Item = (&'a str, Option<String>)>,
) -> Vec<(Object, String)> {
    let own = attributes
        .into_iter()
        .filter_map(|(attribute, want)| want.map(|want| (object(format!("{name} ({attribute})")), want)));
    std::iter::once((object(name.to_owned()), presence.into())).chain(own).collect()
}
