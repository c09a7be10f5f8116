//! `netdev`: MTU and addresses of a network link, now and at boot.

use std::collections::BTreeSet;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use crate::config::{Diagnostic, Diagnostics, FromNode as _, Node, Sp};
use crate::facts::BaseQuery;
use crate::facts::base::network::mtu;
use crate::facts::netdev::{LinkMatch, Netdev, NetdevQuery};
use crate::facts::{Facts, Object, Query, Touches, base};
use crate::inventory::expect::ExpectNetwork;
use crate::inventory::{NicMatch, Promise};
use crate::resources::network::netdev_file::{self as files, Managed};
use crate::resources::shared::known;
use crate::resources::shared::login::{LoginEffect, Undo};
use crate::resources::shared::value::{NetdevName, claims};
use crate::resources::{Attribute, Change, Context, Detail, Disruption, Planned, Resource, Unplannable};
use crate::transport::{Arg, Script};

crate::choice! {
    /// Tool that configures a link at boot.
    NetworkManager {
        /// Whatever the host already uses.
        Auto = "auto",
        /// `/etc/netplan/90-provision-LINK.yaml`.
        Netplan = "netplan",
        /// The link's connection in NetworkManager.
        NetworkManager = "networkmanager",
        /// A file below `/etc/systemd/network`.
        Networkd = "networkd",
        /// `/etc/network/interfaces.d/provision-LINK`.
        Ifupdown = "ifupdown",
        /// A udev rule, for the MTU only, if nothing else configures the link.
        Udev = "udev",
    }
}

crate::record! {
    /// MTU and addresses of network links, now and at boot.
    ///
    /// The settings are stored where the host already configures the link: netplan, NetworkManager,
    /// systemd-networkd or ifupdown. If a link shares its file of systemd-networkd with others, or if
    /// none of them configures it, a udev rule keeps its MTU. Other addresses of the link are kept.
    ///
    /// If a change cuts the connection, the host undoes it by itself after a minute; only a new login
    /// confirms it. RoCE can use an MTU of 4096 if the link's MTU is at least 4192 bytes; the switches
    /// must allow as much.
    NetdevFields("a network link") {
        /// Name of the link.
        opt name: NetdevName,
        /// Properties that the link is found by, as in `nics:`. All links that match are set.
        opt matching("match"): NicMatch,
        /// MTU in bytes. Left out: unchanged.
        opt mtu: u32,
        /// Addresses that the link gets in addition to others: `10.0.1.7/24`.
        def addresses: Vec<Sp<String>> = Vec::new(),
        /// Tool that configures the link at boot.
        def manager: NetworkManager = NetworkManager::Auto,
    }
}

kind! { "netdev", NetdevFields, own: &["addresses"], promises: &["network.mtu"] }

#[derive(Debug)]
struct Link {
    which: LinkMatch,
    mtu: Option<u32>,
    addresses: Vec<String>,
    manager: NetworkManager,
}

/// An address as `ip` tells it.
fn address(text: &str) -> Option<String> {
    let (address, prefix) = text.split_once('/')?;
    let address: IpAddr = address.parse().ok()?;
    let most = if address.is_ipv4() { 32 } else { 128 };
    let prefix: u8 = prefix.parse().ok().filter(|prefix| *prefix <= most)?;
    Some(format!("{address}/{prefix}"))
}

pub(in crate::resources) fn read(
    node: &Node,
    _: &dyn Context,
    diagnostics: &mut Diagnostics,
) -> Option<Arc<dyn Resource>> {
    let fields = NetdevFields::from_node(node, diagnostics)?;
    let which = match (fields.name, fields.matching) {
        (Some(name), None) => LinkMatch { netdev: name.0, ..LinkMatch::default() },
        (None, Some(nic)) => LinkMatch {
            netdev: nic.netdev.unwrap_or_default(),
            pci: nic.pci.map(|pci| pci.0).unwrap_or_default(),
            guid: nic.guid.unwrap_or_default(),
            driver: nic.driver.unwrap_or_default(),
        },
        (Some(_), Some(_)) | (None, None) => {
            diagnostics.error(node.span, "give either `name` or `match`");
            return None;
        }
    };
    if which == LinkMatch::default() {
        diagnostics.error(node.span, "this `match` is empty and would match every link");
        return None;
    }
    if fields.mtu.is_none() && fields.addresses.is_empty() {
        diagnostics.push(
            Diagnostic::error(node.span, "this task sets nothing on its link")
                .help("add `mtu` or `addresses`"),
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
    Some(Arc::new(Link { which, mtu: fields.mtu, addresses, manager: fields.manager }))
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
}

impl Link {
    fn object(&self) -> Object {
        Object::Path(format!("/sys/class/net/{}", self.which))
    }

    fn links<'a>(&self, facts: &'a Facts) -> Result<&'a [Netdev], Unplannable> {
        let query = NetdevQuery(self.which.clone());
        let links = known::answer(facts, &query, &self.object())?;
        if links.is_empty() {
            let text = format!("there is no network link {}", self.which);
            return Err(Unplannable::Missing(self.object(), text));
        }
        if links.len() > 1 && !self.addresses.is_empty() {
            return Err(Unplannable::Failed(format!(
                "{} links match {}: they cannot all have the same addresses",
                links.len(),
                self.which
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
        let managed = files::managed(link, now, self.manager, self.mtu, &self.addresses)?;
        Ok(Due { link, mtu: now, managed, live, new })
    }

    fn all_due<'a>(&'a self, facts: &'a Facts) -> Result<Vec<Due<'a>>, Unplannable> {
        let network = known::answer(facts, &BaseQuery("network"), &self.object())?;
        let due = |link: &'a Netdev| {
            let untold = || {
                let reason = format!("the host did not report the MTU of {}", link.name);
                Unplannable::Unknown(self.object(), reason)
            };
            self.due(link, mtu(network, &link.name).ok_or_else(untold)?)
        };
        self.links(facts)?.iter().map(due).collect()
    }

    fn apply(&self, due: &Due<'_>) -> Script {
        Script::new(crate::shell!("resources/netdev.sh"))
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
        Script::new(crate::shell!("resources/netdev_restore.sh"))
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
        if changes.is_empty() && attributes.is_empty() {
            return Ok(changes);
        }
        if let Some(kind) = known::container(facts).filter(|_| !due.link.may_change && !due.live.is_empty()) {
            return Err(Unplannable::Blocked(format!(
                "this container ({kind}) has no CAP_NET_ADMIN: set its links on the machine that runs it"
            )));
        }
        let name = &due.link.name;
        let told: Vec<String> = attributes.iter().map(crate::resources::shared::content::describe).collect();
        let told = if told.is_empty() { "as configured".to_owned() } else { told.join(", ") };
        changes.push(Change {
            object: Object::Path(format!("/sys/class/net/{name}")),
            summary: format!("~ link {name} ({told})"),
            detail: Detail::Attributes(attributes),
            script: self.apply(due),
            upload: None,
            disruption: Disruption::Network,
        });
        Ok(changes)
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
        let name = format!("/sys/class/net/{}", self.which);
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
        }
        LoginEffect::Guarded(
            undo.restore(
                Script::new(crate::shell!("base64.sh", "resources/each.sh"))
                    .named("scripts", Arg::Scripts(restore)),
            ),
        )
    }
}
