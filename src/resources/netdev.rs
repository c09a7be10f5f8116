//! `netdev`: MTU and addresses of a network link, now and at boot.

use std::collections::BTreeSet;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use super::login::{Login, Undo};
use super::netdev_file::{self as files, Managed};
use super::value::{NetdevName, claims};
use super::{Attribute, Change, Context, Detail, Disruption, Planned, Resource, Unplannable, known};
use crate::config::{Diagnostic, Diagnostics, FromNode as _, Node, Sp};
use crate::facts::netdev::{LinkMatch, Netdev};
use crate::facts::{Answer, Facts, Object, Query, Touches, base};
use crate::inventory::NicMatch;
use crate::transport::{Arg, Script};

crate::choice! {
    /// Who configures a link at boot.
    NetworkManager {
        /// Whoever the host uses for it.
        Auto = "auto",
        /// `/etc/netplan/90-provision-LINK.yaml`.
        Netplan = "netplan",
        /// The link's connection of NetworkManager.
        NetworkManager = "networkmanager",
        /// A file below `/etc/systemd/network`.
        Networkd = "networkd",
        /// `/etc/network/interfaces.d/provision-LINK`.
        Ifupdown = "ifupdown",
        /// A rule of udev, for the MTU only: where nobody else configures the link.
        Udev = "udev",
    }
}

crate::record! {
    /// MTU and addresses of network links, now and at boot.
    ///
    /// Kept by whoever configures the link on the host: netplan, NetworkManager, systemd-networkd or
    /// ifupdown, which is found out there. The MTU of a link that shares its file of
    /// systemd-networkd with others, or that nobody configures, is kept by a rule of udev. Other
    /// addresses of the link stay.
    ///
    /// A change that cuts the way to the host is undone by the host itself after a minute: only a new
    /// login confirms it. RoCE has an active MTU of 4096 from 4192 bytes on; switches need as
    /// much.
    NetdevFields("a network link") {
        /// Its name.
        opt name: NetdevName,
        /// How it is recognised instead, as in `nics:`; all links that match.
        opt matching("match"): NicMatch,
        /// MTU in bytes; what is there stays.
        opt mtu: u32,
        /// Addresses that it has besides others: `10.0.1.7/24`.
        def addresses: Vec<Sp<String>> = Vec::new(),
        /// Who keeps it at boot.
        def manager: NetworkManager = NetworkManager::Auto,
    }
}

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

pub(super) fn read(node: &Node, _: &dyn Context, diagnostics: &mut Diagnostics) -> Option<Arc<dyn Resource>> {
    let fields = NetdevFields::from_node(node, diagnostics)?;
    let which = match (fields.name, fields.matching) {
        (Some(name), None) => LinkMatch { netdev: name.0, ..LinkMatch::default() },
        (None, Some(nic)) => LinkMatch {
            netdev: nic.netdev.unwrap_or_default(),
            pci: nic.pci.unwrap_or_default(),
            guid: nic.guid.unwrap_or_default(),
            driver: nic.driver.unwrap_or_default(),
        },
        (Some(_), Some(_)) | (None, None) => {
            diagnostics.error(node.span, "a link has either a `name` or a `match`");
            return None;
        }
    };
    if which == LinkMatch::default() {
        diagnostics.error(node.span, "this `match` means every link");
        return None;
    }
    if fields.mtu.is_none() && fields.addresses.is_empty() {
        diagnostics.push(
            Diagnostic::error(node.span, "this task wants nothing of its link")
                .help("give `mtu` or `addresses`"),
        );
        return None;
    }
    let mut addresses = Vec::new();
    for text in &fields.addresses {
        if let Some(address) = address(text) {
            addresses.push(address);
        } else {
            diagnostics.push(
                Diagnostic::error(text.span, format!("`{}` is not an address with its prefix", **text))
                    .help("such as `10.0.1.7/24`"),
            );
            return None;
        }
    }
    Some(Arc::new(Link { which, mtu: fields.mtu, addresses, manager: fields.manager }))
}

/// What a link needs.
struct Due<'a> {
    link: &'a Netdev,
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
        let query = Query::Netdev(self.which.clone());
        let Answer::Netdev(links) = known::answer(facts, &query, &self.object())? else {
            return Err(known::strange(&self.object()));
        };
        if links.is_empty() {
            let text = format!("there is no link {}", self.which);
            return Err(Unplannable::Missing(self.object(), text));
        }
        if links.len() > 1 && !self.addresses.is_empty() {
            return Err(Unplannable::Failed(format!(
                "{} links are {}: they cannot all have the same addresses",
                links.len(),
                self.which
            )));
        }
        Ok(links)
    }

    fn due<'a>(&'a self, link: &'a Netdev) -> Result<Due<'a>, Unplannable> {
        if let (Some(mtu), Some(most)) = (self.mtu, link.max_mtu)
            && mtu > most
        {
            return Err(Unplannable::Failed(format!(
                "{} takes an MTU of at most {most} bytes, not {mtu}",
                link.name
            )));
        }
        let mut live = Vec::new();
        if let Some(mtu) = self.mtu.filter(|mtu| *mtu != link.mtu) {
            live.push(Attribute::new("mtu", Some(&link.mtu.to_string()), Some(&mtu.to_string())));
        }
        let has = |wanted: &str| link.addresses.iter().any(|has| address(has).as_deref() == Some(wanted));
        let new: Vec<&str> = self.addresses.iter().map(String::as_str).filter(|one| !has(one)).collect();
        live.extend(new.iter().map(|one| Attribute::new("address", None, Some(one))));
        let managed = files::managed(link, self.manager, self.mtu, &self.addresses)?;
        Ok(Due { link, managed, live, new })
    }

    fn all_due<'a>(&'a self, facts: &'a Facts) -> Result<Vec<Due<'a>>, Unplannable> {
        self.links(facts)?.iter().map(|link| self.due(link)).collect()
    }

    fn apply(&self, due: &Due<'_>) -> Script {
        Script::new(crate::shell!("resources/netdev.sh"))
            .arg(due.managed.manager.as_str())
            .arg(due.link.name.as_str())
            .arg(self.mtu.map(|mtu| mtu.to_string()).unwrap_or_default())
            .arg(due.link.connection.as_deref().unwrap_or(""))
            .args(self.addresses.iter().map(String::as_str))
    }

    fn restore(due: &Due<'_>) -> Script {
        let configured = due.link.settings.get("802-3-ethernet.mtu").map_or("", String::as_str);
        Script::new(crate::shell!("resources/netdev_restore.sh"))
            .arg(due.managed.manager.as_str())
            .arg(due.link.name.as_str())
            .arg(due.link.mtu.to_string())
            .arg(due.link.connection.as_deref().unwrap_or(""))
            .arg(configured)
            .args(due.new.iter().copied())
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
                "links of this container ({kind}) belong to the machine below: it has no CAP_NET_ADMIN"
            )));
        }
        let name = &due.link.name;
        let told: Vec<String> = attributes.iter().map(super::content::describe).collect();
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
        let mut queries = vec![Query::Netdev(self.which.clone())];
        queries.extend(base("virtualization"));
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

    fn settle(&self) -> Option<Duration> {
        Some(Duration::from_secs(15))
    }

    fn login(&self, facts: &Facts) -> Login {
        let Ok(all) = self.all_due(facts) else { return Login::Same };
        let mut undo = Undo::new("network");
        let mut restore = Vec::new();
        for due in &all {
            undo.paths.extend(due.managed.paths());
            restore.push(Arg::Script(Box::new(Self::restore(due))));
        }
        Login::Guarded(undo.restore(Script::new(crate::shell!("resources/each.sh")).args(restore)))
    }
}
