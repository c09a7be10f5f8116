//! `playbooks/versions.yaml`: what the playbooks take their defaults from, and lifetimes of what users name.

use std::fmt::{self, Display, Formatter};
use std::sync::LazyLock;

use jiff::civil::Date;
use serde_json::{Map, Value as Json, json};

use super::builtin;
use crate::config::{Diagnostics, FromNode, Node, Sources, yaml};

crate::choice! {
    /// Meaning of the day until which a value is good.
    Until {
        /// The end of the thing it names.
        EndOfLife = "end-of-life",
        /// Somebody should look at its source again.
        LookAgain = "look-again",
    }
}

crate::choice! {
    /// Kind of a source.
    Evidence {
        /// A page of whoever makes it.
        Vendor = "vendor",
        /// A page that follows the lifetimes of others.
        Tracker = "tracker",
        /// Reports, code or packages of others.
        ThirdParty = "third-party",
        /// Calculated from a file of the vendor.
        Computed = "computed",
        /// Measured by this project; its source is a page of its own.
        Measured = "measured",
        /// None was found.
        Nothing = "none",
    }
}

/// A day, or that none is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Day(pub Option<Date>);

impl FromNode for Day {
    fn from_node(node: &Node, diagnostics: &mut Diagnostics) -> Option<Self> {
        match node.as_str() {
            Some("") => Some(Self(None)),
            Some(text) if let Ok(day) = text.parse() => Some(Self(Some(day))),
            _ => {
                crate::config::read::wrong_type(node, "a day such as \"2028-06-30\"", diagnostics);
                None
            }
        }
    }

    fn schema() -> Json {
        json!({ "type": "string" })
    }
}

/// End of a release.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// The day.
    On(Date),
    /// It is over; the day is not published.
    Over,
    /// Not published, or not found.
    Unknown,
}

impl Display for End {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::On(day) => write!(f, "{day}"),
            Self::Over => f.write_str("ended"),
            Self::Unknown => f.write_str("unknown"),
        }
    }
}

impl FromNode for End {
    fn from_node(node: &Node, diagnostics: &mut Diagnostics) -> Option<Self> {
        match node.as_str() {
            Some("ended") => Some(Self::Over),
            Some("unknown") => Some(Self::Unknown),
            Some(text) if let Ok(day) = text.parse() => Some(Self::On(day)),
            _ => {
                crate::config::read::wrong_type(node, "a day, `ended` or `unknown`", diagnostics);
                None
            }
        }
    }

    fn schema() -> Json {
        json!({ "type": "string" })
    }
}

crate::record! {
    /// A value.
    Value("a value") {
        /// Its name.
        req id: String,
        /// Names under which it stands in the map of those that belong together.
        def names("for"): Vec<String> = Vec::new(),
        /// The value; an empty text where it is unknown.
        req value: Node,
        /// Description, for people.
        req what: String,
        /// Address of its source.
        req source: String,
        /// A line of the source.
        req quote: String,
        /// Day on which somebody looked.
        req checked: Day,
        /// Day of the source.
        opt source_day: String,
        /// Last day on which it is good.
        req good_until: Day,
        /// Meaning of that day.
        req kind: Until,
        /// Its successor.
        opt follows: String,
        /// Kind of its source.
        req evidence: Evidence,
        /// The value in the code in place of an unknown one.
        opt shipped: String,
        /// Files that have it besides playbooks.
        def used_by: Vec<String> = Vec::new(),
        /// Anything else.
        opt note: String,
    }
}

impl Value {
    /// Whether nobody knows it.
    pub fn is_unknown(&self) -> bool {
        self.value.as_str() == Some("")
    }
}

crate::record! {
    /// The life of a release.
    Lifetime("a lifetime") {
        /// The product it is a release of.
        req product: String,
        /// The release.
        req release: String,
        /// Its end.
        req ends: End,
        /// The release that follows.
        opt follows: String,
        /// Description, for people.
        req what: String,
        /// Address of its source.
        req source: String,
        /// A line of the source.
        req quote: String,
        /// Day on which somebody looked.
        req checked: Day,
        /// Day of the source.
        opt source_day: String,
        /// Kind of its source.
        req evidence: Evidence,
        /// Anything else.
        opt note: String,
    }
}

impl Lifetime {
    /// Whether a version is one of this release: `550.163.01` of `550`, `ubuntu2204` of `ubuntu22.04`.
    pub fn has(&self, version: &str) -> bool {
        let plain = |text: &str| text.replace('.', "");
        plain(version) == plain(&self.release)
            || version.strip_prefix(self.release.as_str()).is_some_and(|rest| rest.starts_with(['.', '-']))
    }

    /// Whether it is over on a day.
    pub fn is_over(&self, on: Date) -> bool {
        match self.ends {
            End::On(day) => day < on,
            End::Over => true,
            End::Unknown => false,
        }
    }
}

crate::record! {
    /// The whole file.
    Versions("the versions") {
        /// Values in use.
        req values: Vec<Value>,
        /// Lifetimes of what users name.
        req lifetimes: Vec<Lifetime>,
    }
}

/// The content of the file; a test holds that all of it can be read.
pub static VERSIONS: LazyLock<Versions> = LazyLock::new(|| read(&mut Diagnostics::default()));

fn read(diagnostics: &mut Diagnostics) -> Versions {
    let mut sources = Sources::default();
    let text = builtin::file(builtin::VERSIONS_FILE)
        .and_then(|bytes| std::str::from_utf8(bytes).ok())
        .unwrap_or_default();
    let source = sources.add(builtin::VERSIONS_FILE, text);
    let node = yaml::read(&sources, source, diagnostics);
    let read = node.and_then(|node| Versions::from_node(&node, diagnostics));
    read.unwrap_or_else(|| Versions { values: Vec::new(), lifetimes: Vec::new() })
}

/// The entry of a table that a value is: the last part of its name.
fn row<'v>(value: &'v Value, table: &str) -> Option<&'v str> {
    value.id.strip_prefix(table)?.strip_prefix('.').filter(|rest| !rest.contains('.'))
}

impl Versions {
    /// Names that a default can be taken from: those of values that are known, and of their tables.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        let known = self.values.iter().filter(|value| !value.is_unknown());
        known.flat_map(|value| {
            let table = value.id.rsplit_once('.').map(|(table, _)| table);
            std::iter::once(value.id.as_str()).chain(table.filter(|table| table.contains('.')))
        })
    }

    /// The default under a name: a value, or the known values of a table as a map or as a list.
    pub fn default_of(&self, name: &str, list: bool) -> Option<Json> {
        let known = self.values.iter().filter(|value| !value.is_unknown());
        let mut rows = Vec::new();
        for value in known {
            if value.id == name {
                return Some(value.value.to_json());
            }
            rows.extend(row(value, name).map(|row| (row, value)));
        }
        if rows.is_empty() {
            return None;
        }
        if list {
            return Some(rows.into_iter().map(|(_, value)| value.value.to_json()).collect());
        }
        let mut map = Map::new();
        for (row, value) in rows {
            let names: Vec<&str> = if value.names.is_empty() {
                vec![row]
            } else {
                value.names.iter().map(String::as_str).collect()
            };
            map.extend(names.into_iter().map(|name| (name.to_owned(), value.value.to_json())));
        }
        Some(Json::Object(map))
    }

    /// The release that a version of a product belongs to; of several the narrowest.
    pub fn lifetime(&self, product: &str, version: &str) -> Option<&Lifetime> {
        let of =
            self.lifetimes.iter().filter(|lifetime| lifetime.product == product && lifetime.has(version));
        of.max_by_key(|lifetime| lifetime.release.len())
    }

    /// Products whose releases are known, once for each release.
    pub fn products(&self) -> impl Iterator<Item = &str> {
        self.lifetimes.iter().map(|lifetime| lifetime.product.as_str())
    }

    /// Values that somebody uses and that are past on a day, with their users, in the order of the file.
    pub fn outdated(&self, on: Date, takers: &[Taker]) -> Vec<(&Value, Vec<String>)> {
        let past = self.values.iter().filter(|value| value.good_until.0.is_some_and(|day| day < on));
        past.map(|value| (value, self.users(value, takers))).filter(|(_, users)| !users.is_empty()).collect()
    }

    /// Files that use a value.
    pub fn users(&self, value: &Value, takers: &[Taker]) -> Vec<String> {
        let is_value = |name: &str| self.values.iter().any(|value| value.id == name);
        let takes = |taker: &&Taker| {
            taker.name == value.id || !is_value(&taker.name) && row(value, &taker.name).is_some()
        };
        let mut users: Vec<String> = takers.iter().filter(takes).map(|taker| taker.file.clone()).collect();
        users.dedup();
        users.extend(value.used_by.iter().cloned());
        users
    }
}

/// A parameter that takes its default from here.
#[derive(Debug, Clone)]
pub struct Taker {
    /// File of its playbook.
    pub file: String,
    /// Name of the value or of the table.
    pub name: String,
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn the_file_is_whole() {
        let mut diagnostics = Diagnostics::default();
        let versions = read(&mut diagnostics);
        assert!(diagnostics.is_empty(), "{diagnostics:#?}");
        let ids: BTreeSet<&str> = versions.values.iter().map(|value| value.id.as_str()).collect();
        assert_eq!(ids.len(), versions.values.len(), "an id stands twice");
        for value in &versions.values {
            let id = &value.id;
            assert!(value.checked.0.is_some(), "{id}: when was it looked up?");
            assert_eq!(value.evidence == Evidence::Nothing, value.source.is_empty(), "{id}: its source");
            assert!(!value.source.is_empty() || value.quote.is_empty(), "{id}: a line of no source");
            assert!(
                !value.quote.is_empty() || value.note.is_some() || value.is_unknown(),
                "{id}: neither a line nor a note"
            );
            assert!(value.is_unknown() || value.shipped.is_none(), "{id}: `shipped` is for unknown ones");
            // What nobody found has no day until which it is good.
            let known = !value.is_unknown() && value.evidence != Evidence::Nothing;
            assert!(!known || value.good_until.0.is_some(), "{id}: until when is it good?");
        }
        for life in &versions.lifetimes {
            let name = format!("{} {}", life.product, life.release);
            let same = versions
                .lifetimes
                .iter()
                .filter(|other| other.product == life.product && other.release == life.release);
            assert_eq!(same.count(), 1, "{name} stands twice");
            assert!(life.checked.0.is_some(), "{name}: when was it looked up?");
            assert!(!life.quote.is_empty() || life.note.is_some(), "{name}: neither a line nor a note");
        }
    }

    #[test]
    fn versions_belong_to_releases() {
        let release =
            |product, version| VERSIONS.lifetime(product, version).map(|lifetime| lifetime.release.as_str());
        assert_eq!(release("driver", "550"), Some("550"));
        assert_eq!(release("driver", "550.163.01"), Some("550"));
        assert_eq!(release("driver", "5500"), None);
        assert_eq!(release("doca", "2.9.1"), Some("2.9"));
        assert_eq!(release("doca", "29"), Some("2.9"), "dots are left out, as in the names of distributions");
        assert_eq!(release("os", "ubuntu2004"), Some("ubuntu20.04"));
        assert_eq!(release("os", "debian12"), Some("debian12"));
        assert_eq!(release("slurm", "driver"), None);
    }

    #[test]
    fn a_table_is_a_map_or_a_list() {
        let keys = VERSIONS.default_of("epel.key", false).unwrap();
        assert_eq!(keys.as_object().unwrap().keys().collect::<Vec<_>>(), ["8", "9", "10"]);
        let keys = VERSIONS.default_of("cuda.key", false).unwrap();
        assert_eq!(keys["ubuntu2004"], keys["debian12"], "{keys}");
        assert!(keys.get("rhel10").is_none(), "what is unknown is no row: {keys}");
        let keys = VERSIONS.default_of("doca.key", true).unwrap();
        assert_eq!(keys.as_array().unwrap().len(), 1, "{keys}");
        assert!(VERSIONS.default_of("openmpi.sha256", false).is_none(), "it is unknown");
        assert!(VERSIONS.default_of("driver.least", false).is_none(), "a table is named by a whole part");
    }
}
