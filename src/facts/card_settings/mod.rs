//! Settings in the firmware of `ConnectX` and `BlueField` cards: `mlxconfig -e query`, or `mstconfig` of mstflint, which
//! prints the same.
//!
//! Formats: a header that names the columns, then a line for each setting. With `-e` there are `Default`, `Current` and
//! `Next Boot`, and a star stands before what differs; old firmware has `Next Boot` alone.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::Seen;
use super::probe::Probe;
use super::section::Sections;
use crate::inventory::expect::CARD_SETTINGS;
use crate::transport::Script;

/// A setting of a card.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Setting {
    /// Its value now, such as `per_mkey(0)`; none where the firmware does not tell it.
    pub now: Option<String>,
    /// Its value after the next boot.
    pub next: String,
}

/// Settings of all cards.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CardSettings {
    /// By the PCI address of the card's first function, then by name.
    pub cards: BTreeMap<String, Seen<BTreeMap<String, Setting>>>,
}

/// Settings in the firmware of `ConnectX` and `BlueField` cards.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct CardSettingsQuery;

pub(crate) const FAMILY: &super::Family = <CardSettingsQuery as super::Question>::FAMILY;

impl Probe for CardSettingsQuery {
    type Shown = CardSettings;
    const NAME: &'static str = "card_settings";
    const SCRIPT: &'static str = crate::shell!("facts/probe/ask.sh", "facts/card_settings/card_settings.sh");
    const DEADLINE: Option<Duration> = Some(Duration::from_mins(1));

    fn script() -> Script {
        Script::new(Self::SCRIPT).list("name", CARD_SETTINGS.iter().copied())
    }

    fn read(sections: &Sections<'_>) -> CardSettings {
        let tools = ["mlxconfig -d", "mstconfig -d"];
        let seen = tools.into_iter().flat_map(|tool| sections.starting(tool));
        let card = |words: &str| words.split(' ').next().unwrap_or_default().to_owned();
        CardSettings { cards: seen.map(|(words, section)| (card(words), section.read(settings))).collect() }
    }
}

/// Reads the lines of one card.
///
/// # Errors
/// Where no header says which columns there are.
pub fn settings(text: &str) -> Result<BTreeMap<String, Setting>, String> {
    let mut settings = BTreeMap::new();
    let mut columns: Option<usize> = None;
    for line in text.lines() {
        if let Some(titles) = line.strip_prefix("Configurations:") {
            if !titles.contains("Next Boot") {
                return Err("its table has no column `Next Boot`".to_owned());
            }
            columns =
                Some(["Default", "Current", "Next Boot"].iter().filter(|one| titles.contains(*one)).count());
            continue;
        }
        if line.starts_with("The '*'") {
            continue;
        }
        let mut words = line.trim_start_matches(['*', ' ', '\t']).split_whitespace();
        let (Some(columns), Some(name)) = (columns, words.next()) else { continue };
        let values: Vec<&str> = words.collect();
        let Some(next) = values.last().filter(|_| values.len() == columns) else {
            return Err(format!("its line of {name} has not {columns} values"));
        };
        let now = if columns == 3 { values.get(1).map(|now| (*now).to_owned()) } else { None };
        settings.insert(name.to_owned(), Setting { now, next: (*next).to_owned() });
    }
    if columns.is_none() { Err("it shows no table of settings".to_owned()) } else { Ok(settings) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_of_several_firmwares() {
        // Lines of what the tests of k8snetworkplumbingwg/sriov-network-operator keep (package mlxutils), looked at on
        // 2026-11-30.
        let three = settings(include_str!("../../../tests/cases/active/mstconfig-e-query.txt")).unwrap();
        let of = |now: &str, next: &str| Setting { now: Some(now.to_owned()), next: next.to_owned() };
        assert_eq!(three["ROCE_CONTROL"], of("DEVICE_DEFAULT(0)", "ROCE_ENABLE(2)"));
        assert_eq!(three["PCI_WR_ORDERING"], of("per_mkey(0)", "per_mkey(0)"));
        // k8snetworkplumbingwg/sriov-network-device-plugin, issue 601, looked at on 2026-11-30.
        let one = settings("Configurations:                                          Next Boot\n        MEMIC_BAR_SIZE                              0                   \n        ATS_ENABLED                                 False(0)            \n").unwrap();
        assert_eq!(one["ATS_ENABLED"], Setting { now: None, next: "False(0)".to_owned() });
        assert!(settings("-E- Failed to open the device\n").is_err());
        assert!(settings("Configurations: Default Current Next Boot\n NUM_OF_VFS 0\n").is_err());
    }
}
