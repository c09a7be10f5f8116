//! A table of routes for one link, and the rules that lead to it: what is sent from an address of the link leaves by
//! the link, whatever others are in the same network.

use std::net::IpAddr;

use crate::facts::netdev::Netdev;
use crate::inventory::with_prefix;
use crate::resources::{Attribute, Unplannable};
use crate::transport::Script;

/// A table of a link.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Routing {
    /// Its number, which is the priority of its rules as well.
    pub(super) table: u32,
    /// What stands in it and leads to it.
    pub(super) items: Vec<Item>,
}

/// One rule or route of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Item {
    /// The rule for what is sent from an address.
    From(IpAddr),
    /// The route to a network of the link.
    To(IpAddr, u8),
    /// The route to everything else.
    Via(IpAddr),
}

/// The network that an address is in.
fn network(address: IpAddr, prefix: u8) -> IpAddr {
    match address {
        IpAddr::V4(v4) => {
            let mask = u32::MAX.checked_shl(32 - u32::from(prefix)).unwrap_or(0);
            IpAddr::V4((u32::from(v4) & mask).into())
        }
        IpAddr::V6(v6) => {
            let mask = u128::MAX.checked_shl(128 - u32::from(prefix)).unwrap_or(0);
            IpAddr::V6((u128::from(v6) & mask).into())
        }
    }
}

impl Item {
    /// Whether it is about IPv6.
    pub(super) fn is_v6(&self) -> bool {
        let (Self::From(address) | Self::To(address, _) | Self::Via(address)) = self;
        address.is_ipv6()
    }

    /// The destination of a route, as files have it.
    pub(super) fn destination(&self) -> Option<String> {
        match self {
            Self::From(_) => None,
            Self::To(address, prefix) => Some(format!("{address}/{prefix}")),
            Self::Via(hop) => Some(if hop.is_ipv6() { "::/0" } else { "0.0.0.0/0" }.to_owned()),
        }
    }

    /// As the scripts take it.
    fn word(&self) -> String {
        match self {
            Self::From(address) => format!("from={address}"),
            Self::To(address, prefix) => format!("to={address}/{prefix}"),
            Self::Via(hop) => format!("via={hop}"),
        }
    }

    /// As people are told.
    fn told(&self, table: u32) -> Attribute {
        let text = match self {
            Self::From(address) => {
                return Attribute::new("rule", None, Some(&format!("from {address} table {table}")));
            }
            Self::To(address, prefix) => format!("{address}/{prefix} table {table}"),
            Self::Via(hop) => format!("default via {hop} table {table}"),
        };
        Attribute::new("route", None, Some(&text))
    }

    /// The setting of a connection of NetworkManager that holds it, and its value there (nm-settings-nmcli(5)).
    fn setting(&self, table: u32) -> (String, String) {
        let family = if self.is_v6() { "ipv6" } else { "ipv4" };
        match self {
            Self::From(address) => {
                (format!("{family}.routing-rules"), format!("priority {table} from {address} table {table}"))
            }
            Self::To(address, prefix) => {
                (format!("{family}.routes"), format!("{address}/{prefix} table={table}"))
            }
            Self::Via(hop) => {
                let any = self.destination().unwrap_or_default();
                (format!("{family}.routes"), format!("{any} {hop} table={table}"))
            }
        }
    }
}

/// A rule as `ip rule` tells it; none of one that asks for more than where a packet comes from.
fn rule(text: &str) -> Option<(IpAddr, u32)> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let [_, "from", address, "lookup", table, rest @ ..] = words.as_slice() else { return None };
    let plain = matches!(rest, [] | ["proto", _]);
    Some((address.parse().ok()?, table.parse().ok()?)).filter(|_| plain)
}

/// A route as `ip route` tells it: its destination, the next hop and its table.
fn route(text: &str) -> Option<(&str, Option<IpAddr>, u32)> {
    let after = |key: &str| {
        let mut words = text.split_whitespace();
        words.find(|word| *word == key)?;
        words.next()
    };
    let to = text.split_whitespace().next()?;
    Some((to, after("via").and_then(|hop| hop.parse().ok()), after("table")?.parse().ok()?))
}

impl Routing {
    /// What a link needs whose addresses are these; none where they have no IPv4 or IPv6 address, or where somebody
    /// else leads what is sent from each of them to this link already.
    pub(super) fn of(
        link: &Netdev,
        table: u32,
        addresses: &[String],
        gateways: &[IpAddr],
    ) -> Result<Option<Self>, Unplannable> {
        let own = if addresses.is_empty() { &link.addresses } else { addresses };
        let own: Vec<(IpAddr, u8)> = own.iter().filter_map(|text| with_prefix(text)).collect();
        let routing = Self::new(table, &own, gateways, &link.name)?;
        let foreign = !own.is_empty() && own.iter().all(|from| routing.is_led_elsewhere(link, *from));
        Ok((!own.is_empty() && !foreign).then_some(routing))
    }

    fn new(table: u32, own: &[(IpAddr, u8)], gateways: &[IpAddr], link: &str) -> Result<Self, Unplannable> {
        let mut items: Vec<Item> = own.iter().map(|(address, _)| Item::From(*address)).collect();
        for (address, prefix) in own {
            let most = if address.is_ipv4() { 32 } else { 128 };
            let to = Item::To(network(*address, *prefix), *prefix);
            if *prefix < most && !items.contains(&to) {
                items.push(to);
            }
        }
        for hop in gateways {
            let near = |(address, prefix): &(IpAddr, u8)| {
                address.is_ipv4() == hop.is_ipv4() && network(*address, *prefix) == network(*hop, *prefix)
            };
            if !own.is_empty() && !own.iter().any(near) {
                return Err(Unplannable::Failed(format!(
                    "the gateway {hop} is in no network of {link}: the two must share one"
                )));
            }
            items.push(Item::Via(*hop));
        }
        Ok(Self { table, items })
    }

    /// Whether a rule of others leads what is sent from an address to a table that has its network on this link.
    fn is_led_elsewhere(&self, link: &Netdev, (address, prefix): (IpAddr, u8)) -> bool {
        let to = format!("{}/{prefix}", network(address, prefix));
        let rules = link.rules.iter().flatten().filter_map(|text| rule(text));
        let tables = rules.filter(|(from, table)| *from == address && *table != self.table);
        let known = |table: u32| {
            link.routes
                .iter()
                .filter_map(|text| route(text))
                .any(|(seen, _, of)| of == table && (seen == to || seen == "default"))
        };
        tables.map(|(_, table)| table).any(known)
    }

    /// What of it is not in force.
    pub(super) fn missing(&self, link: &Netdev) -> Vec<&Item> {
        let rules: Vec<_> = link.rules.iter().flatten().filter_map(|text| rule(text)).collect();
        let routes: Vec<_> = link.routes.iter().filter_map(|text| route(text)).collect();
        let has = |item: &Item| match item {
            Item::From(address) => rules.contains(&(*address, self.table)),
            Item::To(..) => {
                let to = item.destination();
                routes.iter().any(|(seen, hop, table)| {
                    hop.is_none() && *table == self.table && to.as_deref() == Some(*seen)
                })
            }
            Item::Via(hop) => routes.contains(&("default", Some(*hop), self.table)),
        };
        self.items.iter().filter(|item| !has(item)).collect()
    }

    /// The settings that the link's connection of NetworkManager lacks.
    pub(super) fn settings(&self, link: &Netdev) -> Vec<Attribute> {
        let wanted = self.items.iter().map(|item| item.setting(self.table));
        let lacks = |(key, value): &(String, String)| {
            let known = link.settings.get(key).map_or("", String::as_str);
            !known.split(", ").any(|one| same_words(one, value))
        };
        wanted.filter(lacks).map(|(key, value)| Attribute::new(&key, None, Some(&value))).collect()
    }

    /// Puts these in force.
    pub(super) fn apply<'a>(
        &self,
        link: &Netdev,
        manager: &str,
        items: impl IntoIterator<Item = &'a Item>,
    ) -> Script {
        self.script(
            Script::new(crate::shell!("resources/network/netdev/netdev_routes.sh")),
            link,
            manager,
            items,
        )
    }

    /// Takes these away again.
    pub(super) fn restore<'a>(
        &self,
        link: &Netdev,
        manager: &str,
        items: impl IntoIterator<Item = &'a Item>,
    ) -> Script {
        let script = Script::new(crate::shell!("resources/network/netdev/netdev_routes_restore.sh"));
        self.script(script, link, manager, items)
    }

    fn script<'a>(
        &self,
        script: Script,
        link: &Netdev,
        manager: &str,
        items: impl IntoIterator<Item = &'a Item>,
    ) -> Script {
        script
            .named("manager", manager)
            .named("link", link.name.as_str())
            .named("connection", link.connection.as_deref().unwrap_or(""))
            .named("table", self.table.to_string())
            .list("item", items.into_iter().map(Item::word))
    }

    /// What is told of these.
    pub(super) fn told(&self, items: &[&Item]) -> Vec<Attribute> {
        items.iter().map(|item| item.told(self.table)).collect()
    }
}

/// Whether all words of a wanted rule or route stand in one that `nmcli` tells, which may have more of them.
fn same_words(seen: &str, wanted: &str) -> bool {
    let words: Vec<&str> = seen.split_whitespace().collect();
    wanted.split_whitespace().all(|word| words.contains(&word))
}
