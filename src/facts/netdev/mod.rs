//! Network links: addresses, and who configures them. Their MTU is in `facts.network`.
//!
//! Formats: our own (`src/facts/netdev/netdev.sh`) around lines of ip-link(8) and ip-address(8) with `-o`,
//! `networkctl status` (`Network File:`), systemd.network(5) `[Match]`, and `nmcli -t`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Answers, Family, Query, Question, Touches, after, answers, lines, of_type};
use crate::inventory::{NicMatch, PciAddress};
use crate::transport::Script;

/// A network link.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Netdev {
    /// Its name.
    pub name: String,
    /// The largest that it takes.
    pub max_mtu: Option<u32>,
    /// Whether it is up.
    pub up: bool,
    /// Whether we may change links here: a container often may not.
    pub may_change: bool,
    /// `bond`, `bridge`, `vlan`, or empty.
    pub class: String,
    /// Its hardware address as it was made: that of a member of a bond differs from the one it uses.
    pub mac: Option<String>,
    /// Rules of the host that choose a table of routes, as `ip rule` tells them; none where it cannot tell.
    pub rules: Option<Vec<String>>,
    /// Routes over the link in tables with a number, as `ip route` tells them.
    pub routes: Vec<String>,
    /// Its addresses that others can reach, with the length of their prefix.
    pub addresses: Vec<String>,
    /// Network managers that may configure links here: `netplan`, `networkd`, `networkmanager`, `ifupdown`.
    pub managers: Vec<String>,
    /// The file by which systemd-networkd configures it.
    pub network_file: Option<String>,
    /// Whether that file is for this link alone.
    pub network_file_alone: bool,
    /// Its name in the files of netplan, where that is another.
    pub netplan_id: Option<String>,
    /// Whether files of netplan besides ours have a section of that name.
    pub netplan_others: bool,
    /// Its state in NetworkManager: `connected`, `unmanaged` ...
    pub device_state: String,
    /// Its connection of NetworkManager.
    pub connection: Option<String>,
    /// Settings of that connection.
    pub settings: BTreeMap<String, String>,
    /// Files with a stanza of ifupdown for it, without ours.
    pub stanzas: Vec<String>,
    /// Whether `/etc/network/interfaces` reads `interfaces.d`.
    pub sourced: bool,
    /// Files of ours for it, with their texts.
    pub files: BTreeMap<String, String>,
}

/// Network links; none when there are none.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct NetdevQuery(pub NicMatch);

impl Question for NetdevQuery {
    type Answer = Vec<Netdev>;
    const FAMILY: &'static Family = FAMILY;

    fn label(&self) -> String {
        format!("netdev {}", name_of(&self.0))
    }

    fn touched_by(&self, touches: &Touches) -> bool {
        touches.links()
    }
}

pub(crate) const FAMILY: &Family = &Family {
    chunk: 64,
    tools: "`ip`, `ethtool` and `nmcli`",
    ..Family::new("netdev", script, parse, read_label)
};

/// Name of the links that are meant, for people: `rdma0`, `pci 0000:18:00.0, driver mlx5_core`.
pub fn name_of(which: &NicMatch) -> String {
    let name = which.to_string();
    name.strip_prefix("netdev ").map(str::to_owned).unwrap_or(name)
}

fn read_label(label: &str) -> Option<Query> {
    let mut which = NicMatch::default();
    for words in after("netdev", label)?.split(", ") {
        match words.split_once(' ') {
            None => which.netdev = Some(words.to_owned()),
            Some(("pci", value)) => which.pci = Some(PciAddress(value.to_owned())),
            Some(("guid", value)) => which.guid = Some(value.to_owned()),
            Some(("driver", value)) => which.driver = Some(value.to_owned()),
            Some(_) => return None,
        }
    }
    Some(NetdevQuery(which).into())
}

fn script(queries: &[Query]) -> Script {
    let mut script = Script::new(crate::shell!("facts/netdev/netdev.sh"));
    for (number, NetdevQuery(which)) in of_type(queries).enumerate() {
        let NicMatch { pci, netdev, guid, driver } = which;
        let pci = pci.as_ref().map(|pci| &pci.0);
        let properties = [netdev.as_ref(), pci, guid.as_ref(), driver.as_ref()];
        script =
            script.arg(number.to_string()).args(properties.map(|value| value.map_or("", String::as_str)));
    }
    script
}

/// The word after another one in a line.
fn word_after<'a>(line: &'a str, key: &str) -> Option<&'a str> {
    let mut words = line.split_whitespace();
    words.find(|word| *word == key)?;
    words.next()
}

/// Whether a condition of `[Match]` can hold for this link only.
fn alone(condition: &str, link: &str) -> bool {
    let Some((key, value)) = condition.split_once(' ') else { return false };
    let value = value.trim();
    let single = !value.is_empty() && !value.contains([' ', '*', '?', '[', '!']);
    match key {
        "Name" => value == link,
        "MACAddress" | "PermanentMACAddress" | "Path" => single,
        _ => false,
    }
}

impl Netdev {
    fn line(&mut self, key: &str, value: &str, file: &mut String) {
        match key {
            // IFF_UP is bit 0.
            "flags" => self.up = value.ends_with(['1', '3', '5', '7', '9', 'b', 'd', 'f']),
            "class" => value.clone_into(&mut self.class),
            "details" => {
                let most = word_after(value, "maxmtu").and_then(|most| most.parse().ok());
                // None is told as zero.
                self.max_mtu = most.filter(|most| *most > 0);
                // That of InfiniBand has 20 bytes; nobody matches by those.
                let mac = word_after(value, "permaddr").or_else(|| word_after(value, "link/ether"));
                self.mac = mac.map(str::to_owned);
            }
            "address" => {
                let address = word_after(value, "inet").or_else(|| word_after(value, "inet6"));
                self.addresses.extend(address.map(str::to_owned));
            }
            "route" => self.routes.push(value.to_owned()),
            "network-file" => self.network_file = Some(value.to_owned()),
            "netplan-id" => self.netplan_id = Some(value.to_owned()),
            "netplan-others" => self.netplan_others = true,
            "match" => self.network_file_alone |= alone(value, &self.name),
            "device" => {
                let (state, uuid) = value.split_once(' ').unwrap_or((value, ""));
                state.clone_into(&mut self.device_state);
                self.connection = Some(uuid.to_owned()).filter(|uuid| !uuid.is_empty());
            }
            "connection" => {
                if let Some((key, value)) = value.split_once(':') {
                    // `nmcli -t` puts a backslash before colons of values.
                    self.settings.insert(key.to_owned(), value.replace("\\:", ":"));
                }
            }
            "stanza" => self.stanzas.push(value.to_owned()),
            "file" => {
                value.clone_into(file);
                self.files.insert(value.to_owned(), String::new());
            }
            "text" => {
                if let Some(text) = self.files.get_mut(file.as_str()) {
                    text.push_str(value);
                    text.push('\n');
                }
            }
            _ => {}
        }
    }
}

fn parse(queries: &[Query], output: &str, _: i32) -> Answers {
    if lines(output).last() != Some("end") {
        return Vec::new();
    }
    let mut managers: Vec<String> = Vec::new();
    let mut rules: Option<Vec<String>> = None;
    let (mut sourced, mut may_change) = (false, false);
    let mut found: BTreeMap<usize, Vec<Netdev>> = BTreeMap::new();
    let mut number = None;
    let mut file = String::new();
    for line in lines(output) {
        let (key, value) = line.split_once(' ').unwrap_or((line, ""));
        match (key, number) {
            ("manager", _) => managers.push(value.to_owned()),
            ("rules", _) => rules = Some(Vec::new()),
            ("rule", _) => rules.iter_mut().for_each(|rules| rules.push(value.to_owned())),
            ("sources", _) => sourced |= value.contains("/interfaces.d") || value.contains(" interfaces.d"),
            // CAP_NET_ADMIN is bit 12.
            ("capabilities", _) => {
                may_change = u64::from_str_radix(value, 16).is_ok_and(|bits| bits & (1 << 12) != 0);
            }
            ("question", _) => {
                number = value.parse().ok();
                found.extend(number.map(|number| (number, Vec::new())));
            }
            ("link", Some(number)) => {
                let link = Netdev {
                    name: value.to_owned(),
                    managers: managers.clone(),
                    rules: rules.clone(),
                    sourced,
                    may_change,
                    ..Netdev::default()
                };
                found.entry(number).or_default().push(link);
            }
            (_, Some(number)) => {
                if let Some(link) = found.get_mut(&number).and_then(|links| links.last_mut()) {
                    link.line(key, value, &mut file);
                }
            }
            (_, None) => {}
        }
    }
    let mut number = 0..;
    answers(queries, |_: &NetdevQuery| found.remove(&number.next()?).map(Ok))
}
