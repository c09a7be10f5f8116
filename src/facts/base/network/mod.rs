//! Links from `/sys/class/net`, addresses from `ip -o addr`, the default route from
//! `/proc/net/route`. A member of a bond shows `bonding_slave/mii_status`: `up`, `going down`, `down` or
//! `going back` (`bond_slave_link_status` of the kernel's `net/bonding.h`).

use std::collections::BTreeMap;
use std::net::IpAddr;

use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};

use super::{BaseFact, Fact};
use crate::inventory::NicMatch;

pub(super) const FACT: BaseFact = BaseFact {
    name: "network",
    doc: "links, addresses and the device of the default route",
    script: crate::shell!("facts/base/network/network.sh"),
    parse,
    touched_by: |touches| touches.links() || touches.paths(&["/sys"]),
    specimen: |_| {
        json!({
            "default_device": "eth0",
            "links": [
                {
                    "name": "eth0",
                    "kind": "ether",
                    "mac": "0c:42:a1:00:00:01",
                    "mtu": 1500,
                    "state": "up",
                    "speed_mbps": 25000,
                    "driver": "ice",
                    "pci": "0000:3b:00.0",
                    "bond": "",
                    "bond_link": "",
                    "addresses": ["10.0.1.10/24"]
                },
                {
                    "name": "ens18f0np0",
                    "kind": "ether",
                    "mac": "b8:3f:d2:00:00:01",
                    "mtu": 9000,
                    "state": "up",
                    "speed_mbps": 200_000,
                    "driver": "mlx5_core",
                    "pci": "0000:18:00.0",
                    "bond": "",
                    "bond_link": "",
                    "addresses": ["192.168.1.10/24"]
                },
                {
                    "name": "lo",
                    "kind": "loopback",
                    "mac": "00:00:00:00:00:00",
                    "mtu": 65536,
                    "state": "unknown",
                    "speed_mbps": 0,
                    "driver": "",
                    "pci": "",
                    "bond": "",
                    "bond_link": "",
                    "addresses": ["127.0.0.1/8", "::1/128"]
                }
            ]
        })
    },
};

/// Links and the way out.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Network {
    /// The device of the default route; empty where there is none.
    pub default_device: String,
    /// The links.
    pub links: Vec<Link>,
}

/// A link.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Link {
    /// Its name.
    pub name: String,
    /// `ether`, `infiniband`, `loopback` or `other`.
    pub kind: String,
    /// MTU in bytes.
    pub mtu: Option<u32>,
    /// `up`, `down`, `unknown`.
    pub state: String,
    /// Kernel driver.
    pub driver: String,
    /// PCI address.
    pub pci: String,
    /// The bond that it belongs to; empty where it belongs to none.
    pub bond: String,
    /// Its state in that bond.
    pub bond_link: String,
    /// Its addresses with the lengths of their prefixes.
    pub addresses: Vec<String>,
}

impl Fact for Network {
    const NAME: &'static str = "network";
}

impl Network {
    /// The link of this name.
    pub fn link(&self, name: &str) -> Option<&Link> {
        self.links.iter().find(|link| link.name == name)
    }

    /// The MTU of a link: the one that is changed where it is not the wanted one, and the one that is
    /// checked.
    pub fn mtu(&self, link: &str) -> Option<u32> {
        self.link(link)?.mtu
    }
}

impl Link {
    /// Whether it is the card that an entry of `nics:` describes. A GUID is one of RDMA devices.
    pub fn is(&self, card: &NicMatch) -> bool {
        card.fits(|property, value| match property {
            "netdev" => self.name == value,
            "pci" => self.pci == value,
            "driver" => self.driver == value,
            _ => false,
        })
    }
}

#[derive(Default)]
struct Seen<'a> {
    name: &'a str,
    fields: BTreeMap<&'a str, &'a str>,
}

impl Seen<'_> {
    fn text(&self, key: &str) -> &str {
        self.fields.get(key).copied().unwrap_or("")
    }

    fn number(&self, key: &str) -> i64 {
        // -1 and nothing both mean that the driver does not know.
        self.text(key).parse().unwrap_or(0).max(0)
    }
}

/// Whether other hosts can reach one host by an address: one of loopback, of the link or of many hosts leads them to
/// themselves, or to somebody else.
pub fn is_of_one_host(address: IpAddr) -> bool {
    let other = match address.to_canonical() {
        IpAddr::V4(address) => {
            address.is_loopback()
                || address.is_link_local()
                || address.is_multicast()
                || address.is_broadcast()
                || address.octets().first() == Some(&0)
        }
        IpAddr::V6(address) => {
            address.is_loopback()
                || address.is_unicast_link_local()
                || address.is_multicast()
                || address.is_unspecified()
        }
    };
    !other
}

/// Highest speed of a link in Mb/s that is believed; a higher one is shown as 0.
const FASTEST_MBPS: i64 = 10_000_000;

/// ARPHRD numbers of `linux/if_arp.h`.
fn kind(number: i64) -> &'static str {
    match number {
        1 => "ether",
        32 => "infiniband",
        772 => "loopback",
        _ => "other",
    }
}

fn parse(output: &str) -> Result<Json, String> {
    let (text, addresses) = output
        .split_once("\naddresses")
        .or_else(|| Some(("", output.strip_prefix("addresses")?)))
        .ok_or("the list of links was cut short")?;
    let mut links: Vec<Seen<'_>> = Vec::new();
    let mut route: Option<(u64, &str)> = None;
    for line in text.lines() {
        match line.split_once('=') {
            Some(("link", name)) => links.push(Seen { name, ..Seen::default() }),
            Some(("route", rest)) => {
                // The lowest metric wins.
                if let Some((metric, device)) = rest.split_once(' ') {
                    let metric = metric.parse().unwrap_or(u64::MAX);
                    if route.is_none_or(|(best, _)| metric < best) {
                        route = Some((metric, device));
                    }
                }
            }
            Some((key, value)) => {
                if let Some(link) = links.last_mut() {
                    link.fields.insert(key, value);
                }
            }
            None => {}
        }
    }
    let by_name = addresses_by_name(addresses.trim());
    let links: Vec<Json> = links
        .iter()
        .map(|link| {
            json!({
                "name": link.name,
                "kind": kind(link.number("type")),
                "mac": link.text("mac"),
                "mtu": link.number("mtu"),
                "state": link.text("state"),
                // Some drivers say -1 as a number without a sign.
                "speed_mbps": Some(link.number("speed")).filter(|speed| *speed <= FASTEST_MBPS).unwrap_or(0),
                "driver": link.text("driver"),
                "pci": link.text("device"),
                "bond": link.text("bond"),
                "bond_link": link.text("bond_link"),
                "addresses": by_name.get(link.name).cloned().unwrap_or_default(),
            })
        })
        .collect();
    Ok(json!({ "default_device": route.map_or("", |(_, device)| device), "links": links }))
}

/// `ip -o addr` of iproute2 and busybox: `2: eth0    inet 10.0.0.1/24 brd ...`.
fn addresses_by_name(text: &str) -> BTreeMap<&str, Vec<&str>> {
    let mut by_name: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for line in text.lines() {
        let mut words = line.split_whitespace().skip(1);
        if let (Some(name), Some("inet" | "inet6"), Some(address)) =
            (words.next(), words.next(), words.next())
        {
            by_name.entry(name).or_default().push(address);
        }
    }
    by_name
}
