//! `nics:`: the network cards of a host, and how they are recognised.

use std::net::IpAddr;

use serde_json::{Value as Json, json};

use super::values::PciAddress;
use crate::config::{Diagnostic, Diagnostics, FromNode, Node, Sp};

crate::choice! {
    /// Purpose of a network card.
    NicRole {
        /// RDMA traffic of jobs.
        Compute = "compute",
        /// Storage traffic.
        Storage = "storage",
        /// Logins and management.
        Management = "management",
    }
}

crate::record! {
    /// Properties by which a network card is recognised: every key that is given must match.
    #[derive(PartialEq, Eq, PartialOrd, Ord, Default)]
    NicMatch("`match`") {
        /// PCI address, such as `0000:18:00.0`.
        opt pci: PciAddress,
        /// Name of the network device.
        opt netdev: String,
        /// GUID of the port.
        opt guid: String,
        /// Kernel driver, such as `mlx5_core`.
        opt driver: String,
    }
}

crate::record! {
    /// A network card.
    #[derive(PartialEq)]
    Nic("a network card") {
        /// Properties by which it is recognised.
        req matching("match"): NicMatch,
        /// Its purpose.
        opt role: NicRole,
        /// Its rail, from 0.
        opt rail: u32,
        /// MTU in bytes.
        opt mtu: u32,
        /// Link rate in Gb/s.
        opt rate_gbps: u32,
        /// Address with the length of its prefix, which the playbook `rails` sets: `10.1.0.{{ host.number }}/24`.
        opt address: Sp<String>,
        /// Next hop to networks beyond that of the address, for what is sent from it.
        opt gateway: Sp<String>,
    }
}

/// An address with the length of its prefix: `10.1.0.7/24`.
pub fn with_prefix(text: &str) -> Option<(IpAddr, u8)> {
    let (address, prefix) = text.split_once('/')?;
    let address: IpAddr = address.parse().ok()?;
    let most = if address.is_ipv4() { 32 } else { 128 };
    Some((address, prefix.parse().ok().filter(|prefix| *prefix <= most)?))
}

impl NicMatch {
    /// The properties that it names, with their values.
    pub fn properties(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let properties = [
            ("netdev", self.netdev.as_deref()),
            ("pci", self.pci.as_ref().map(|pci| pci.0.as_str())),
            ("guid", self.guid.as_deref()),
            ("driver", self.driver.as_deref()),
        ];
        properties.into_iter().filter_map(|(key, value)| Some((key, value?)))
    }

    /// Whether a device has all properties that it names: `has` looks at one of them.
    pub fn fits(&self, has: impl Fn(&str, &str) -> bool) -> bool {
        self.properties().all(|(key, value)| has(key, value))
    }
}

impl std::fmt::Display for NicMatch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let properties: Vec<String> =
            self.properties().map(|(key, value)| format!("{key} {value}")).collect();
        f.write_str(&properties.join(", "))
    }
}

impl Nic {
    /// Whether it is for RDMA traffic of jobs: not for storage and not for management.
    pub fn is_compute(&self) -> bool {
        !matches!(self.role, Some(NicRole::Storage | NicRole::Management))
    }

    /// Returns what templates see of it: the fields that are written.
    pub(super) fn view(&self) -> Json {
        let properties = self.matching.properties().map(|(key, value)| (key.to_owned(), json!(value)));
        let fields = [
            ("match", Some(Json::Object(properties.collect()))),
            ("role", self.role.map(|role| json!(role))),
            ("rail", self.rail.map(|rail| json!(rail))),
            ("mtu", self.mtu.map(|mtu| json!(mtu))),
            ("rate_gbps", self.rate_gbps.map(|rate| json!(rate))),
            ("address", self.address.as_ref().map(|address| json!(address.value))),
            ("gateway", self.gateway.as_ref().map(|gateway| json!(gateway.value))),
        ];
        fields.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?))).collect()
    }
}

/// Checked network cards.
#[derive(Debug, Clone)]
pub struct Nics(pub Vec<Nic>);

impl FromNode for Nics {
    fn from_node(node: &Node, diagnostics: &mut Diagnostics) -> Option<Self> {
        let nics = Vec::<Nic>::from_node(node, diagnostics)?;
        if nics.iter().any(|nic| nic.matching.properties().next().is_none()) {
            diagnostics.push(
                Diagnostic::error(node.span, "a card here is recognised by nothing")
                    .help("write `match: { netdev: eth2 }`, or its `pci`, `guid` or `driver`"),
            );
            return None;
        }
        Some(Self(nics))
    }

    fn schema() -> Json {
        Vec::<Nic>::schema()
    }
}
