//! All hosts of the inventory, for resources that are about all of them: who they are and what is
//! known of each, of this run or an earlier one.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;
use std::sync::Arc;

use serde_json::{Value as Json, json};

use crate::config::{Diagnostic, Diagnostics, FromNode, Node, Sp, did_you_mean_text};
use crate::facts::base::Fact;
use crate::facts::base::network::{Network as NetworkFact, is_of_one_host};
use crate::facts::{BaseQuery, Facts, Object, Query, Question, base};
use crate::hostlist::fold;
use crate::resources::Unplannable;

/// A host of the inventory.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Member {
    /// Its place in the inventory.
    pub place: usize,
    /// Its name.
    pub name: String,
    /// Address that the controller connects to.
    pub address: String,
    /// Whether the inventory marks it as offline.
    pub offline: bool,
    /// Groups that it is in.
    pub groups: BTreeSet<String>,
    /// Number of GPUs that are expected in it.
    pub gpus: Option<u64>,
}

impl Member {
    /// Its address in the inventory, where that is one that others can reach.
    pub(in crate::resources) fn written(&self) -> Option<IpAddr> {
        let address: IpAddr = self.address.parse().ok()?;
        is_of_one_host(address).then(|| address.to_canonical())
    }
}

/// Owner of each address.
#[derive(Debug, Default)]
pub(in crate::resources) struct Owners<'a> {
    of: BTreeMap<IpAddr, &'a str>,
    /// Addresses that more than one host says it has, or that the inventory writes for another one.
    contested: BTreeMap<IpAddr, BTreeSet<&'a str>>,
}

impl Owners<'_> {
    /// Whether an address is this host's.
    pub(in crate::resources) fn is(&self, host: &str, address: IpAddr) -> bool {
        self.of.get(&address).is_some_and(|owner| *owner == host)
    }

    /// Whether an address is another host's, or nobody's because two have it.
    pub(in crate::resources) fn is_taken(&self, host: &str, address: IpAddr) -> bool {
        self.contested.contains_key(&address) && !self.is(host, address)
    }

    /// Reports why some addresses are left out, when there are some and all else is done.
    pub(in crate::resources) fn waits(&self) -> Option<Unplannable> {
        let addresses: Vec<String> = self
            .contested
            .iter()
            .map(|(address, hosts)| format!("{address} of {}", fold(hosts.iter().copied())))
            .collect();
        (!addresses.is_empty()).then(|| {
            let reason = format!(
                "more than one host has {}: write the address of each into the inventory, and look at the others",
                addresses.join(", ")
            );
            Unplannable::Partly(Vec::new(), reason)
        })
    }
}

/// All hosts of the inventory, and which one a task is for.
#[derive(Debug, Clone, Default)]
pub struct Roster {
    /// Name of the cluster.
    pub cluster: String,
    /// Name of the host that the task is for.
    pub own: String,
    /// All hosts in the order of their names: what is written of them does not change when the inventory is put in
    /// another order.
    pub members: Arc<[Member]>,
    /// Places in the inventory of the hosts that the task is for, whatever `--hosts` says.
    pub targets: Arc<BTreeSet<usize>>,
}

impl Roster {
    /// Leaves only hosts of some groups; all of them when none is named.
    pub(in crate::resources) fn narrow(
        mut self,
        groups: &[Sp<String>],
        diagnostics: &mut Diagnostics,
    ) -> Option<Self> {
        if groups.is_empty() {
            return Some(self);
        }
        let known: BTreeSet<&str> =
            self.members.iter().flat_map(|member| member.groups.iter().map(String::as_str)).collect();
        let mut good = true;
        for group in groups.iter().filter(|group| !known.contains(group.as_str())) {
            good = false;
            diagnostics.push(
                Diagnostic::error(group.span, format!("group `{}` has no hosts", **group))
                    .maybe_help(did_you_mean_text(group, known.iter().copied())),
            );
        }
        let among = |member: &&Member| groups.iter().any(|group| member.groups.contains(&group.value));
        let members: Vec<Member> = self.members.iter().filter(among).cloned().collect();
        self.members = members.into();
        good.then_some(self)
    }

    /// Leaves only hosts that the task is for.
    pub(in crate::resources) fn targeted(mut self) -> Self {
        if self.targets.len() < self.members.len() {
            let targeted = self.members.iter().filter(|member| self.targets.contains(&member.place));
            self.members = targeted.cloned().collect();
        }
        self
    }

    /// Returns the lines that begin and end our part of a file.
    pub(in crate::resources) fn marks(&self, what: &str) -> (String, String) {
        let name = format!("provision {} {what}", self.cluster);
        (format!("# BEGIN {name}"), format!("# END {name}"))
    }

    /// Finds the owners of the addresses that hosts say they have: each is of the host that the inventory
    /// writes it for, else of the only one that says so. With the address of another a host would be taken
    /// for that one.
    pub(in crate::resources) fn owners<'a>(
        &'a self,
        said: impl IntoIterator<Item = (&'a str, IpAddr)>,
    ) -> Owners<'a> {
        let mut written: BTreeMap<IpAddr, BTreeSet<&str>> = BTreeMap::new();
        for member in self.members.iter() {
            if let Some(address) = member.written() {
                written.entry(address).or_default().insert(&member.name);
            }
        }
        let mut claims: BTreeMap<IpAddr, BTreeSet<&str>> = BTreeMap::new();
        for (host, address) in said {
            claims.entry(address).or_default().insert(host);
        }
        let mut owners = Owners::default();
        for (address, mut hosts) in claims {
            let of = written.get(&address).unwrap_or(&hosts);
            if let (Some(host), 1) = (of.first(), of.len()) {
                owners.of.insert(address, host);
            }
            hosts.extend(written.get(&address).into_iter().flatten());
            if hosts.len() > 1 {
                owners.contested.insert(address, hosts);
            }
        }
        owners
    }

    /// Reports why some hosts cannot be served yet, when there are some and all else is done.
    pub(in crate::resources) fn waits<'a>(
        what: &str,
        hosts: impl IntoIterator<Item = &'a str>,
    ) -> Option<Unplannable> {
        let hosts = fold(hosts);
        (!hosts.is_empty()).then(|| {
            let reason = format!("not known yet: the {what} of {hosts}, which no run has reached");
            Unplannable::Partly(Vec::new(), reason)
        })
    }
}

/// Returns what is known of all hosts about one question.
pub(in crate::resources) fn fleet<'a, Q: Question>(
    facts: &'a Facts,
    question: &Q,
) -> Result<impl Iterator<Item = (&'a str, &'a Q::Answer)> + use<'a, Q>, Unplannable> {
    facts.of_all(question).ok_or_else(|| {
        Unplannable::Unknown(
            Object::Host,
            format!("the other hosts were not asked about {}", question.label()),
        )
    })
}

/// The question for a basic fact of all hosts.
pub(in crate::resources) fn fleet_base(name: &str) -> Option<Query> {
    base(name).map(Query::of_all)
}

/// A basic fact of all hosts, by their names.
pub(in crate::resources) fn fleet_facts<F: Fact>(facts: &Facts) -> Result<BTreeMap<&str, &F>, Unplannable> {
    let known = fleet(facts, &BaseQuery(F::NAME))?;
    Ok(known.filter_map(|(host, value)| Some((host, value.get()?))).collect())
}

/// A network: `10.0.0.0/24`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Network {
    address: IpAddr,
    prefix: u32,
}

impl Network {
    fn parse(text: &str) -> Option<Self> {
        let (address, prefix) = text.split_once('/')?;
        let address: IpAddr = address.parse().ok()?;
        let prefix: u32 = prefix.parse().ok()?;
        let bits = if address.is_ipv4() { 32 } else { 128 };
        (prefix <= bits).then_some(Self { address, prefix })
    }

    /// Whether every address is in it.
    pub fn is_everything(&self) -> bool {
        self.prefix == 0
    }

    /// The network as firewalls write it: no bits behind the prefix.
    pub fn canonical(&self) -> String {
        let address = match self.address {
            IpAddr::V4(address) => {
                let mask = u32::MAX.checked_shl(32 - self.prefix).unwrap_or(0);
                IpAddr::from(std::net::Ipv4Addr::from_bits(address.to_bits() & mask))
            }
            IpAddr::V6(address) => {
                let mask = u128::MAX.checked_shl(128 - self.prefix).unwrap_or(0);
                IpAddr::from(std::net::Ipv6Addr::from_bits(address.to_bits() & mask))
            }
        };
        format!("{address}/{}", self.prefix)
    }

    /// Whether an address is in it.
    pub fn contains(&self, address: IpAddr) -> bool {
        match (self.address, address) {
            (IpAddr::V4(own), IpAddr::V4(other)) => {
                let shift = 32 - self.prefix;
                own.to_bits().checked_shr(shift).unwrap_or(0)
                    == other.to_bits().checked_shr(shift).unwrap_or(0)
            }
            (IpAddr::V6(own), IpAddr::V6(other)) => {
                let shift = 128 - self.prefix;
                own.to_bits().checked_shr(shift).unwrap_or(0)
                    == other.to_bits().checked_shr(shift).unwrap_or(0)
            }
            _ => false,
        }
    }
}

impl std::fmt::Display for Network {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}", self.address, self.prefix)
    }
}

impl FromNode for Network {
    fn from_node(node: &Node, diagnostics: &mut Diagnostics) -> Option<Self> {
        let text = String::from_node(node, diagnostics)?;
        let network = Self::parse(&text);
        if network.is_none() {
            diagnostics.push(
                Diagnostic::error(node.span, format!("`{text}` is not a network"))
                    .help("write an address and its prefix length: `10.0.0.0/24`"),
            );
        }
        network
    }

    fn schema() -> Json {
        json!({ "type": "string", "pattern": "/[0-9]+$" })
    }
}

/// The addresses of a host by its `network` fact, each with its device.
fn addresses(network: &NetworkFact) -> impl Iterator<Item = (&str, IpAddr)> {
    network.links.iter().flat_map(|link| {
        link.addresses.iter().filter_map(|text| {
            let address: IpAddr = text.split('/').next()?.parse().ok()?;
            is_of_one_host(address).then_some((link.name.as_str(), address.to_canonical()))
        })
    })
}

/// The address that other hosts reach a host by: that in `within` when it is given; else the one of
/// the inventory, unless it is one that only the controller sees; else that of the default route.
pub(in crate::resources) fn address_of(
    member: &Member,
    network: Option<&NetworkFact>,
    within: Option<&Network>,
) -> Option<IpAddr> {
    let written = member.written();
    let Some(facts) = network else {
        return written.filter(|address| within.is_none_or(|within| within.contains(*address)));
    };
    if let Some(within) = within {
        return addresses(facts).map(|(_, address)| address).find(|address| within.contains(*address));
    }
    if let Some(written) = written.filter(|written| addresses(facts).any(|(_, found)| found == *written)) {
        return Some(written);
    }
    let of_device = |v4: bool| {
        addresses(facts)
            .find(|(name, address)| *name == facts.default_device && address.is_ipv4() == v4)
            .map(|(_, a)| a)
    };
    of_device(true).or_else(|| of_device(false)).or(written)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn networks_hold_addresses() {
        let network = |text: &str| Network::parse(text).unwrap();
        for (text, address, held) in [
            ("10.0.0.0/24", "10.0.0.255", true),
            ("10.0.0.7/24", "10.0.1.0", false),
            ("0.0.0.0/0", "192.168.0.1", true),
            ("10.0.0.1/32", "10.0.0.1", true),
            ("fd00::/64", "fd00::1:2", true),
            ("::/0", "fd00::1", true),
            ("fd00::/64", "10.0.0.1", false),
        ] {
            assert_eq!(network(text).contains(address.parse().unwrap()), held, "{text} {address}");
        }
        for text in ["10.0.0.0", "10.0.0.0/33", "x/8", "fd00::/129"] {
            assert!(Network::parse(text).is_none(), "{text}");
        }
    }

    #[test]
    fn the_address_that_others_see() {
        let facts = json!({ "default_device": "eth0", "links": [
            { "name": "lo", "addresses": ["127.0.0.1/8"] },
            { "name": "docker0", "addresses": ["172.17.0.1/16"] },
            { "name": "eth0", "addresses": ["fe80::1/64", "10.0.0.5/24"] },
            { "name": "ib0", "addresses": ["10.9.0.5/24"] },
        ]});
        let facts: NetworkFact = serde_json::from_value(facts).unwrap();
        let member = |address: &str| Member { address: address.to_owned(), ..Member::default() };
        let of = |address: &str, known: bool, within: Option<&str>| {
            let within = within.and_then(Network::parse);
            address_of(&member(address), known.then_some(&facts), within.as_ref())
                .map_or_else(String::new, |address| address.to_string())
        };
        assert_eq!(of("127.0.0.1", true, None), "10.0.0.5");
        assert_eq!(of("203.0.113.9", true, None), "10.0.0.5");
        assert_eq!(of("10.9.0.5", true, None), "10.9.0.5");
        assert_eq!(of("gpu0.example.org", true, None), "10.0.0.5");
        assert_eq!(of("10.0.0.5", true, Some("10.9.0.0/16")), "10.9.0.5");
        assert_eq!(of("10.0.0.5", true, Some("10.8.0.0/16")), "");
        assert_eq!(of("10.0.0.7", false, None), "10.0.0.7");
        assert_eq!(of("127.0.0.1", false, None), "");
        assert_eq!(of("gpu7", false, None), "");
    }
}
