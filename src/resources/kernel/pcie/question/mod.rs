//! `PCIe` settings of bridges and NICs, as `setpci` reads them from the configuration space.
//!
//! Format: our own (`src/resources/kernel/pcie/question/pcie.sh`); the values are four hexadecimal digits: the ACS control
//! register of a bridge, the device control register of a NIC.

use serde::{Deserialize, Serialize};

use crate::facts::{Answers, Family, Query, Question, Touches, answers, lines};
use crate::transport::Script;

/// Settings of bridges and NICs.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Pcie {
    /// Bridges with access control, and their control register: 0 is off.
    pub bridges: Vec<(String, u16)>,
    /// NICs.
    pub nics: Vec<Nic>,
}

/// A NIC.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Nic {
    /// Its address.
    pub address: String,
    /// Its vendor: `15b3`.
    pub vendor: String,
    /// Largest read request in bytes.
    pub max_read_request: u32,
}

/// `PCIe` settings of bridges and NICs.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct PcieQuery;

impl Question for PcieQuery {
    type Answer = Pcie;
    const FAMILY: &'static Family = FAMILY;

    fn label(&self) -> String {
        "pcie".to_owned()
    }

    fn touched_by(&self, touches: &Touches) -> bool {
        touches.units()
    }
}

pub(crate) const FAMILY: &Family = &Family::new(
    "pcie",
    |_| Script::new(crate::shell!("resources/kernel/pcie/question/pcie.sh")),
    parse,
    |label| (label == "pcie").then(|| PcieQuery.into()),
);

fn parse(queries: &[Query], output: &str, _: i32) -> Answers {
    let hex = |text: &str| u16::from_str_radix(text.trim(), 16).ok();
    let mut pcie = Pcie::default();
    let mut ended = false;
    for line in lines(output) {
        let words: Vec<&str> = line.split(' ').collect();
        match words.as_slice() {
            ["no", "setpci"] => {
                let reason = "setpci is not installed: install the package pciutils".to_owned();
                return answers(queries, |PcieQuery| Some(Err(reason.clone())));
            }
            ["not", "root"] => {
                let reason = "only root may read PCIe settings: set `become`".to_owned();
                return answers(queries, |PcieQuery| Some(Err(reason.clone())));
            }
            ["bridge", address, value] => {
                pcie.bridges.extend(hex(value).map(|value| ((*address).to_owned(), value)));
            }
            ["nic", address, vendor, value] => {
                pcie.nics.extend(hex(value).map(|value| Nic {
                    address: (*address).to_owned(),
                    vendor: vendor.trim_start_matches("0x").to_owned(),
                    max_read_request: 128 << ((value >> 12) & 7),
                }));
            }
            ["end"] => ended = true,
            _ => {}
        }
    }
    answers(queries, |PcieQuery| ended.then(|| Ok(pcie.clone())))
}
