//! `PCIe` settings of bridges and NICs, as `setpci` reads them from the configuration space.
//!
//! Format: our own (`src/shell/facts/pcie.sh`); the values are four hexadecimal digits: the ACS control
//! register of a bridge, the device control register of a NIC (`domain.md` D6).

use serde::{Deserialize, Serialize};

use super::{Answer, Answers, Query, lines};
use crate::transport::Script;

/// What was read.
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

pub(super) fn script() -> Script {
    Script::new(crate::shell!("facts/pcie.sh"))
}

pub(super) fn parse(_: &[Query], output: &[u8], _: i32) -> Answers {
    let output = String::from_utf8_lossy(output);
    let hex = |text: &str| u16::from_str_radix(text.trim(), 16).ok();
    let mut pcie = Pcie::default();
    let mut ended = false;
    for line in lines(&output) {
        let words: Vec<&str> = line.split(' ').collect();
        match words.as_slice() {
            ["no", "setpci"] => {
                let reason = "no setpci on the host: install the package pciutils".to_owned();
                return vec![(Query::Pcie, Answer::Unknown(reason))];
            }
            ["not", "root"] => {
                let reason = "only root may read these settings".to_owned();
                return vec![(Query::Pcie, Answer::Unknown(reason))];
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
    if ended { vec![(Query::Pcie, Answer::Pcie(pcie))] } else { Vec::new() }
}
