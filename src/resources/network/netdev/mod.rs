//! `netdev`: MTU, addresses and a table of routes of a network link, now and at boot.

mod file;
mod routing;

use std::collections::BTreeSet;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use crate::config::{Diagnostic, Diagnostics, FromNode as _, Node, Sp};
use crate::facts::base::network::Network;
use crate::facts::netdev::{Netdev, NetdevQuery, name_of};
use crate::facts::{Facts, Object, Query, Touches, base};
use crate::inventory::expect::ExpectNetwork;
use crate::inventory::{NicMatch, Promise, with_prefix};
pub use crate::resources::network::netdev::file::NetworkManager;
use crate::resources::network::netdev::file::{self as files, Managed, Wanted};
use crate::resources::network::netdev::routing::{Item, Routing};
use crate::resources::shared::known;
use crate::resources::shared::login::{LoginEffect, Undo};
use crate::resources::shared::value::{NetdevName, claims};
use crate::resources::{
    Attribute, Built, Change, Context, Detail, Disruption, Planned, Resource, Unplannable,
};
use crate::transport::{Arg, Script};

crate::record! {
    /// MTU, addresses and routes of network links, now and at boot.
    ///
    /// The settings are stored where the host already configures the link: netplan, NetworkManager,
    /// systemd-networkd or ifupdown. If a link shares its file of systemd-networkd with others, or if
    /// none of them configures it, a udev rule keeps its MTU. Other addresses of the link are kept.
    ///
    /// If a change cuts the connection, the host undoes it by itself after a minute; only a new login
    /// confirms it. RoCE can use an MTU of 4096 if the link's MTU is at least 4192 bytes; the switches
    /// must allow as much.
    ///
    /// With a `table`, what is sent from the addresses of the link leaves by this link, also where several links are in
    /// one network: each address gets a rule (`ip rule`), and the table gets a route to the network of the address.
    /// Where a rule of somebody else leads an address to its link already, nothing is added.
    NetdevFields("a network link") {
        /// Name of the link.
        opt name: NetdevName,
        /// Properties that the link is found by, as in `nics:`. All links that match are set.
        opt matching("match"): NicMatch,
        /// MTU in bytes. Left out: unchanged.
        opt mtu: u32,
        /// Addresses that the link gets in addition to others: `10.0.1.7/24`.
        def addresses: Vec<Sp<String>> = Vec::new(),
        /// Number of the table of routes that belongs to the link, 1 to 252 or 256 to 32765. It is the priority of its
        /// rules as well. The addresses are those of the task, else those that the link has.
        opt table: u32,
        /// Next hop of that table to all other networks.
        opt gateway: Sp<String>,
        /// Tool that configures the link at boot.
        def manager: NetworkManager = NetworkManager::Auto,
    }
}

kind! { "netdev", NetdevFields, own: &["addresses"], promises: &["network.mtu"] }

#[derive(Debug)]
struct Link {
    which: NicMatch,
    mtu: Option<u32>,
    addresses: Vec<String>,
    table: Option<u32>,
    gateway: Option<IpAddr>,
    manager: NetworkManager,
}

/// An address as `ip` tells it.
fn address(text: &str) -> Option<String> {
    with_prefix(text).map(|(address, prefix)| format!("{address}/{prefix}"))
}

/// Checks the table of a link, and returns its next hop. What is wrong is said.
fn table(fields: &NetdevFields, node: &Node, diagnostics: &mut Diagnostics) -> Result<Option<IpAddr>, ()> {
    if let Some(table) = fields.table
        && !matches!(table, 1..=252 | 256..=32765)
    {
        // 253 to 255 are the kernel's own; rules of 32766 and above come after those of all other traffic.
        diagnostics.error(node.span, "`table` is a number from 1 to 252 or from 256 to 32765");
        return Err(());
    }
    let Some(gateway) = &fields.gateway else { return Ok(None) };
    let Ok(hop) = gateway.parse() else {
        diagnostics.push(
            Diagnostic::error(gateway.span, format!("`{}` is not an address", **gateway))
                .help("write it without a prefix length: `10.0.1.1`"),
        );
        return Err(());
    };
    if fields.table.is_none() {
        diagnostics.push(
            Diagnostic::error(gateway.span, "a `gateway` stands in a table of its own")
                .help("add `table`, such as `table: 101`"),
        );
        return Err(());
    }
    Ok(Some(hop))
}

pub(in crate::resources) fn read(node: &Node, _: &dyn Context, diagnostics: &mut Diagnostics) -> Built {
    let fields = NetdevFields::from_node(node, diagnostics)?;
    let gateway = table(&fields, node, diagnostics).ok()?;
    let which = match (fields.name, fields.matching) {
        (Some(name), None) => NicMatch { netdev: Some(name.0), ..NicMatch::default() },
        (None, Some(which)) => which,
        (Some(_), Some(_)) | (None, None) => {
            diagnostics.error(node.span, "give either `name` or `match`");
            return None;
        }
    };
    if which.properties().all(|(_, value)| value.is_empty()) {
        diagnostics.error(node.span, "this `match` is empty and would match every link");
        return None;
    }
    if fields.mtu.is_none() && fields.addresses.is_empty() && fields.table.is_none() {
        diagnostics.push(
            Diagnostic::error(node.span, "this task sets nothing on its link")
                .help("add `mtu`, `addresses` or `table`"),
        );
        return None;
    }
    let mut addresses = Vec::new();
    for text in &fields.addresses {
        if let Some(address) = address(text) {
            addresses.push(address);
        } else {
            diagnostics.push(
                Diagnostic::error(text.span, format!("`{}` is not an address with a prefix length", **text))
                    .help("write it like `10.0.1.7/24`"),
            );
            return None;
        }
    }
    let (mtu, table, manager) = (fields.mtu, fields.table, fields.manager);
    Some(Arc::new(Link { which, mtu, addresses, table, gateway, manager }))
}

/// A link with what it needs.
struct Due<'a> {
    link: &'a Netdev,
    /// The MTU that it has.
    mtu: u32,
    managed: Managed,
    live: Vec<Attribute>,
    /// Addresses that it does not have yet.
    new: Vec<&'a str>,
    /// The table of the link, with the rules and routes that are not in force or not kept.
    routing: Option<(Routing, Vec<Item>)>,
}

impl Link {
    fn object(&self) -> Object {
        Object::Path(format!("/sys/class/net/{}", name_of(&self.which)))
    }

    fn links<'a>(&self, facts: &'a Facts) -> Result<&'a [Netdev], Unplannable> {
        let query = NetdevQuery(self.which.clone());
        let links = known::answer(facts, &query, &self.object())?;
        if links.is_empty() {
            let text = format!("there is no network link {}", name_of(&self.which));
            return Err(Unplannable::Missing(self.object(), text));
        }
        if links.len() > 1 && (!self.addresses.is_empty() || self.table.is_some()) {
            return Err(Unplannable::Failed(format!(
                "{} links match {}: they cannot all have the same addresses or one table",
                links.len(),
                name_of(&self.which)
            )));
        }
        Ok(links)
    }

    fn due<'a>(&'a self, link: &'a Netdev, now: u32) -> Result<Due<'a>, Unplannable> {
        if let (Some(mtu), Some(most)) = (self.mtu, link.max_mtu)
            && mtu > most
        {
            return Err(Unplannable::Failed(format!(
                "{} supports an MTU of at most {most} bytes, not {mtu}",
                link.name
            )));
        }
        let mut live = Vec::new();
        if let Some(mtu) = self.mtu.filter(|mtu| *mtu != now) {
            live.push(Attribute::new("mtu", Some(&now.to_string()), Some(&mtu.to_string())));
        }
        let has = |wanted: &str| link.addresses.iter().any(|has| address(has).as_deref() == Some(wanted));
        let new: Vec<&str> = self.addresses.iter().map(String::as_str).filter(|one| !has(one)).collect();
        live.extend(new.iter().map(|one| Attribute::new("address", None, Some(one))));
        let routing = self.routing(link)?;
        let wanted = Wanted { mtu: self.mtu, addresses: &self.addresses, routing: routing.as_ref() };
        let managed = files::managed(link, now, self.manager, &wanted)?;
        let routing = routing.map(|routing| {
            let kept = managed.manager != NetworkManager::NetworkManager || routing.settings(link).is_empty();
            let items = if kept { routing.missing(link) } else { routing.items.iter().collect() };
            let items = items.into_iter().cloned().collect();
            (routing, items)
        });
        Ok(Due { link, mtu: now, managed, live, new, routing })
    }

    /// What its own table needs; none where it has none, or needs nothing of us.
    fn routing(&self, link: &Netdev) -> Result<Option<Routing>, Unplannable> {
        let Some(table) = self.table else { return Ok(None) };
        if link.rules.is_none() {
            let reason = format!("the host did not report its rules for routes, which {} needs", link.name);
            return Err(Unplannable::Unknown(self.object(), reason));
        }
        Routing::of(link, table, &self.addresses, self.gateway.as_slice())
    }

    fn all_due<'a>(&'a self, facts: &'a Facts) -> Result<Vec<Due<'a>>, Unplannable> {
        let network: &Network = known::base(facts, &self.object())?;
        let due = |link: &'a Netdev| {
            let untold = || {
                let reason = format!("the host did not report the MTU of {}", link.name);
                Unplannable::Unknown(self.object(), reason)
            };
            self.due(link, network.mtu(&link.name).ok_or_else(untold)?)
        };
        self.links(facts)?.iter().map(due).collect()
    }

    fn apply(&self, due: &Due<'_>) -> Script {
        Script::new(crate::shell!("resources/network/netdev/netdev.sh"))
            .named("manager", due.managed.manager.as_str())
            .named("link", due.link.name.as_str())
            .named("mtu", self.mtu.map(|mtu| mtu.to_string()).unwrap_or_default())
            .named("connection", due.link.connection.as_deref().unwrap_or(""))
            .named("setting", files::mtu_setting(due.link))
            .list("address", self.addresses.iter().map(String::as_str))
    }

    fn restore(due: &Due<'_>) -> Script {
        let setting = files::mtu_setting(due.link);
        let configured = due.link.settings.get(setting).map_or("", String::as_str);
        Script::new(crate::shell!("resources/network/netdev/netdev_restore.sh"))
            .named("manager", due.managed.manager.as_str())
            .named("link", due.link.name.as_str())
            .named("mtu", due.mtu.to_string())
            .named("connection", due.link.connection.as_deref().unwrap_or(""))
            .named("setting", setting)
            .named("connection_mtu", configured)
            .list("address", due.new.iter().copied())
    }

    fn changes(&self, due: &Due<'_>, facts: &Facts) -> Planned {
        let mut changes: Vec<Change> = due.managed.writes();
        let mut attributes = due.live.clone();
        attributes.extend(due.managed.settings.clone());
        let routes = Self::routes(due);
        if changes.is_empty() && attributes.is_empty() && routes.is_none() {
            return Ok(changes);
        }
        let is_live = !due.live.is_empty() || routes.is_some();
        if let Some(kind) = known::container(facts).filter(|_| !due.link.may_change && is_live) {
            return Err(Unplannable::Blocked(format!(
                "this container ({kind}) has no CAP_NET_ADMIN: set its links on the machine that runs it"
            )));
        }
        if changes.is_empty() && attributes.is_empty() {
            changes.extend(routes);
            return Ok(changes);
        }
        let name = &due.link.name;
        let told: Vec<String> = attributes.iter().map(crate::resources::shared::content::describe).collect();
        let told = if told.is_empty() { "as configured".to_owned() } else { told.join(", ") };
        changes.push(
            Change::new(
                Object::Path(format!("/sys/class/net/{name}")),
                format!("~ link {name} ({told})"),
                Detail::Attributes(attributes),
                self.apply(due),
            )
            .disrupting(Disruption::Network),
        );
        changes.extend(routes);
        Ok(changes)
    }

    /// The change of its table, where something of it is missing.
    fn routes(due: &Due<'_>) -> Option<Change> {
        let (routing, items) = due.routing.as_ref().filter(|(_, items)| !items.is_empty())?;
        let missing = routing.missing(due.link);
        let mut attributes = routing.told(&missing);
        if due.managed.manager == NetworkManager::NetworkManager {
            attributes.extend(routing.settings(due.link));
        }
        let told: Vec<String> = attributes.iter().map(crate::resources::shared::content::describe).collect();
        let name = &due.link.name;
        Some(
            Change::new(
                Object::Path(format!("/sys/class/net/{name}")),
                format!("~ routes of link {name} ({})", told.join(", ")),
                Detail::Attributes(attributes),
                routing.apply(due.link, due.managed.manager.as_str(), items),
            )
            .disrupting(Disruption::Network),
        )
    }
}

impl Resource for Link {
    fn queries(&self) -> Vec<Query> {
        let mut queries = vec![NetdevQuery(self.which.clone()).into()];
        queries.extend(["network", "virtualization"].into_iter().filter_map(base));
        queries
    }

    fn plan(&self, facts: &Facts) -> Planned {
        let mut changes = Vec::new();
        for due in self.all_due(facts)? {
            changes.extend(self.changes(&due, facts)?);
        }
        Ok(changes)
    }

    fn touches(&self) -> Touches {
        let paths =
            ["/sys/class/net", "/etc/netplan", "/etc/systemd/network", "/etc/network", "/etc/udev/rules.d"];
        let paths = paths.into_iter().map(|path| Object::Path(path.to_owned()));
        Touches::Objects(paths.collect::<BTreeSet<_>>())
    }

    fn manages(&self) -> Vec<(Object, String)> {
        let name = format!("/sys/class/net/{}", name_of(&self.which));
        let mtu = ("mtu", self.mtu.map(|mtu| mtu.to_string()));
        claims(Object::Path, &name, "a network link", [mtu])
    }

    fn promises(&self, facts: &Facts) -> Vec<Promise> {
        let Some(mtu) = self.mtu else { return Vec::new() };
        let network = ExpectNetwork { mtu: Some(mtu), ..ExpectNetwork::default() };
        let links = self.links(facts).unwrap_or_default();
        links.iter().map(|link| Promise::of_link(&link.name, network.clone())).collect()
    }

    fn settle(&self) -> Option<Duration> {
        Some(Duration::from_secs(15))
    }

    fn login(&self, facts: &Facts) -> LoginEffect {
        let Ok(all) = self.all_due(facts) else { return LoginEffect::Same };
        let mut undo = Undo::new("network");
        let mut restore = Vec::new();
        for due in &all {
            undo.paths.extend(due.managed.paths());
            restore.push(Self::restore(due));
            if let Some((routing, items)) = due.routing.as_ref().filter(|(_, items)| !items.is_empty()) {
                restore.push(routing.restore(due.link, due.managed.manager.as_str(), items));
            }
        }
        LoginEffect::Guarded(
            undo.restore(
                Script::new(crate::shell!("shell/base64.sh", "shell/each.sh"))
                    .named("scripts", Arg::Scripts(restore)),
            ),
        )
    }
}
