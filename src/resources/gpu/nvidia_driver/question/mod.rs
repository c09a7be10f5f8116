//! Packages of a driver as apt's lists have them.
//!
//! Ubuntu leads a branch that it gave up to the next one by packages of the old names, which are empty and depend on
//! those of the new one. Some say so ("Transitional package for nvidia-utils-580-server"), others have the description that
//! they always had, and in 24.04 550 leads to 570, and that to 580
//! (archive.ubuntu.com/ubuntu/dists/noble-updates/{multiverse,restricted}/binary-amd64/Packages.xz of 2026-11-29). Debian's
//! names have no branch.
//!
//! Format: apt-cache(8) `show`, deb-control(5).

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::facts::{Answers, Family, Query, Question, Told, Touches, after, answers, lines, of_type};
use crate::transport::Script;

/// The package that apt would install by a name.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Offered {
    /// Whether a package of that name is installed; then nothing else is asked.
    #[serde(default)]
    pub installed: bool,
    /// Its version; empty where the lists do not have the name.
    #[serde(default)]
    pub version: String,
    /// The first line of its description.
    #[serde(default)]
    pub description: String,
    /// Its dependencies.
    #[serde(default)]
    pub depends: String,
    /// The package of the same name in another branch that it leads to, at last; empty where it leads nowhere.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub leads_to: String,
}

impl Offered {
    /// The branch that an empty package of the old name leads to.
    pub(super) fn successor(&self, branch: &str) -> Option<&str> {
        if self.leads_to.is_empty() && !self.description.to_ascii_lowercase().contains("transitional") {
            return None;
        }
        let texts = [&self.leads_to, &self.depends, &self.description];
        let words = texts.into_iter().flat_map(|text| text.split([' ', ',', '-']));
        words
            .filter(|word| word.len() == 3 && word.bytes().all(|byte| byte.is_ascii_digit()))
            .find(|word| *word != branch)
    }
}

/// The entry of a package in apt's lists.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct OfferedQuery(pub String);

impl Question for OfferedQuery {
    type Answer = Offered;
    const FAMILY: &'static Family = FAMILY;

    fn label(&self) -> String {
        format!("offered {}", self.0)
    }

    fn touched_by(&self, touches: &Touches) -> bool {
        touches.packages() || touches.package_files()
    }
}

pub(crate) const FAMILY: &Family = &Family {
    tools: "`apt-cache`",
    chunk: 64,
    ..Family::new("offered", script, parse, |label| {
        Some(OfferedQuery(after("offered", label)?.to_owned()).into())
    })
};

fn script(queries: &[Query]) -> Script {
    let names = of_type(queries).map(|OfferedQuery(name)| name.as_str());
    Script::new(crate::shell!("resources/gpu/nvidia_driver/question/offered.sh")).args(names)
}

fn parse(queries: &[Query], output: &str, _: i32) -> Answers {
    let mut found: BTreeMap<&str, Offered> = BTreeMap::new();
    let mut name = "";
    for line in lines(output) {
        let (key, rest) = line.split_once(' ').unwrap_or((line, ""));
        if key == "name" {
            name = rest;
        }
        let package = found.entry(name).or_default();
        match key {
            "installed" => package.installed = true,
            "version" => rest.clone_into(&mut package.version),
            "description" => rest.clone_into(&mut package.description),
            "depends" => rest.clone_into(&mut package.depends),
            "leads" => rest.clone_into(&mut package.leads_to),
            _ => {}
        }
    }
    let end = lines(output).last();
    answers(queries, |OfferedQuery(name)| -> Option<Told<Offered>> {
        match end {
            Some("no apt") => Some(Err("`apt-cache` is not installed".to_owned())),
            Some("end") => found.get(name.as_str()).cloned().map(Ok),
            _ => None,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_package_leads_to_a_branch() {
        for (description, depends, successor) in [
            ("Transitional package for nvidia-utils-580-server", "nvidia-utils-580-server", Some("580")),
            ("transitional package for libnvidia-extra-580-server", "", Some("580")),
            ("NVIDIA Server Driver support binaries", "libnvidia-compute-550-server", None),
            ("Transitional package", "nvidia-utils-550-server (>= 1)", None),
        ] {
            let offered =
                Offered { description: description.into(), depends: depends.into(), ..Offered::default() };
            assert_eq!(offered.successor("550"), successor, "{description}");
        }
        let unsaid = Offered {
            description: "NVIDIA Server Driver support binaries".into(),
            depends: "nvidia-utils-570-server".into(),
            leads_to: "nvidia-utils-580-server".into(),
            ..Offered::default()
        };
        assert_eq!(unsaid.successor("550"), Some("580"));
    }
}
