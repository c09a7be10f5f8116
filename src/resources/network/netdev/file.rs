//! Tool that configures a link at boot, and its file or setting for the link.

use std::fmt::Write as _;

use super::routing::{Item, Routing};
use crate::facts::Object;
use crate::facts::netdev::Netdev;
use crate::resources::{Attribute, Change, Detail, Unplannable};
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

use self::NetworkManager as Manager;

/// First line of every file.
const OURS: &str = "# Written by provision.\n";
/// Line that `/etc/network/interfaces` needs to read our file.
const SOURCE: &str = "source /etc/network/interfaces.d/*";
const INTERFACES: &str = "/etc/network/interfaces";

/// What a link shall have.
pub(super) struct Wanted<'a> {
    pub(super) mtu: Option<u32>,
    pub(super) addresses: &'a [String],
    pub(super) routing: Option<&'a Routing>,
}

impl Wanted<'_> {
    /// Whether it is more than the MTU, which needs a configuration of this link alone.
    fn is_of_one_link(&self) -> bool {
        !self.addresses.is_empty() || self.routing.is_some()
    }
}

/// Configuration that keeps a link as it shall be.
#[derive(Debug)]
pub(in crate::resources) struct Managed {
    pub(in crate::resources) manager: Manager,
    /// The file with the text that it shall have, and what it has.
    file: Option<(String, String, Option<String>)>,
    /// Whether `/etc/network/interfaces` must be told to read it.
    source: bool,
    /// Settings of NetworkManager that are others.
    pub(in crate::resources) settings: Vec<Attribute>,
}

impl Managed {
    /// The changes that write what keeps the link.
    pub(in crate::resources) fn writes(&self) -> Vec<Change> {
        let Some((path, text, before)) = &self.file else { return Vec::new() };
        if before.as_ref() == Some(text) && !self.source {
            return Vec::new();
        }
        let source = if self.source { SOURCE } else { "" };
        // netplan warns of files that others can read.
        let mode = if self.manager == Manager::Netplan { "0600" } else { "0644" };
        let summary = match before {
            None => format!("+ {path}"),
            Some(_) => format!("~ {path} (content)"),
        };
        let script = Script::new(crate::shell!(
            "shell/base64.sh",
            "shell/reach.sh",
            "resources/shared/after.sh",
            "resources/shared/put.sh",
            "resources/network/netdev/netdev_write.sh"
        ));
        vec![Change::new(
            Object::Path(path.clone()),
            summary,
            Detail::Text { before: before.clone(), after: Some(text.clone()) },
            script
                .named("path", path.as_str())
                .named("mode", mode)
                .named("ownership", "")
                .named("digest", "")
                .named("content", Arg::Packed(text.clone()))
                .named("line", source),
        )]
    }

    /// Returns the files that are saved for a rollback.
    pub(in crate::resources) fn paths(&self) -> Vec<String> {
        let mut paths: Vec<String> = self.file.iter().map(|(path, _, _)| path.clone()).collect();
        if self.source {
            paths.push(INTERFACES.to_owned());
        }
        paths
    }
}

/// Whether NetworkManager has it.
fn is_connected(link: &Netdev) -> bool {
    !matches!(link.device_state.as_str(), "" | "unmanaged")
}

/// Finds who configures a link.
fn manager_of(link: &Netdev) -> Manager {
    let has = |name: &str| link.managers.iter().any(|manager| manager == name);
    let ours = link.files.keys().any(|path| !path.starts_with("/etc/udev/"));
    let others =
        link.network_file.is_some() || link.netplan_others || !link.stanzas.is_empty() || is_connected(link);
    if !link.addresses.is_empty() && !ours && !others {
        // Somebody else gave it its addresses; who takes the link over would drop them.
        Manager::Udev
    } else if has("netplan") {
        Manager::Netplan
    } else if has("networkd") && link.network_file.is_some() {
        Manager::Networkd
    } else if has("ifupdown") && !link.stanzas.is_empty() {
        Manager::Ifupdown
    } else if has("networkmanager") && is_connected(link) {
        Manager::NetworkManager
    } else if has("networkd") {
        Manager::Networkd
    } else if has("ifupdown") {
        Manager::Ifupdown
    } else {
        Manager::Udev
    }
}

/// Decides how a link is kept: by which tool, and what that needs.
pub(in crate::resources) fn managed(
    link: &Netdev,
    now: u32,
    wanted: Manager,
    due: &Wanted<'_>,
) -> Result<Managed, Unplannable> {
    let name = &link.name;
    let mut manager = if wanted == Manager::Auto { manager_of(link) } else { wanted };
    if due.mtu.is_none() && !due.is_of_one_link() {
        return Ok(Managed { manager, file: None, source: false, settings: Vec::new() });
    }
    // A file that configures other links too is not the place for what only this one shall have.
    let shared = manager == Manager::Networkd && link.network_file.is_some() && !link.network_file_alone;
    if shared || (manager == Manager::Udev && due.is_of_one_link()) {
        if due.is_of_one_link() {
            return Err(Unplannable::Failed(match &link.network_file {
                Some(file) => format!(
                    "{file} also configures other links than {name}: give {name} a file of its own first"
                ),
                None if !link.addresses.is_empty() => format!(
                    "nothing that we know configures {name} on this host: have its addresses set where they come from, or choose a `manager`"
                ),
                None => format!(
                    "nothing on this host configures {name}: configure the link first, or choose a `manager`"
                ),
            }));
        }
        manager = Manager::Udev;
    }
    if manager == Manager::NetworkManager {
        return settings(link, due);
    }
    // netplan gives NetworkManager the routes and leaves the rules out.
    if manager == Manager::Netplan && due.routing.is_some() && is_connected(link) {
        return Err(Unplannable::Failed(format!(
            "netplan leaves {name} to NetworkManager, to which it hands no rules: set `renderer: networkd` in \
             its netplan file"
        )));
    }
    let (path, text) = match manager {
        Manager::Netplan => (format!("/etc/netplan/90-provision-{name}.yaml"), netplan(link, due)),
        Manager::Ifupdown => (format!("/etc/network/interfaces.d/provision-{name}"), ifupdown(link, due)),
        Manager::Networkd => networkd(link, due),
        Manager::Udev | Manager::Auto | Manager::NetworkManager => {
            let mtu = due.mtu.unwrap_or(now);
            // When a card appears udev reads its rules first and renames the link then, with a `move` of its own.
            let rule = format!(
                "{OURS}ACTION==\"add|move\", SUBSYSTEM==\"net\", KERNEL==\"{name}\", ATTR{{mtu}}=\"{mtu}\"\n"
            );
            (format!("/etc/udev/rules.d/90-provision-mtu-{name}.rules"), rule)
        }
    };
    let before = link.files.get(&path).cloned();
    let source = manager == Manager::Ifupdown && !link.sourced;
    Ok(Managed { manager, file: Some((path, text, before)), source, settings: Vec::new() })
}

/// Adds to the section that others wrote, whatever its name is. A section of ours means the card, not
/// its name, and holds up no boot: see `match` and `optional` in netplan-yaml(5).
fn netplan(link: &Netdev, due: &Wanted<'_>) -> String {
    let Wanted { mtu, addresses, routing } = *due;
    let section = match link.class.as_str() {
        "bond" => "bonds",
        "bridge" => "bridges",
        "vlan" => "vlans",
        _ => "ethernets",
    };
    let id = link.netplan_id.as_ref().unwrap_or(&link.name);
    let mut text = format!("{OURS}network:\n  version: 2\n  {section}:\n    \"{id}\":\n");
    if !link.netplan_others {
        if let Some(mac) = link.mac.as_ref().filter(|_| section == "ethernets") {
            let _ = writeln!(text, "      match: {{ macaddress: \"{mac}\" }}");
        }
        text += "      optional: true\n";
    }
    if let Some(mtu) = mtu {
        let _ = writeln!(text, "      mtu: {mtu}");
    }
    if !addresses.is_empty() {
        text += "      addresses:\n";
    }
    for address in addresses {
        let _ = writeln!(text, "        - \"{address}\"");
    }
    let Some(Routing { table, items }) = routing else { return text };
    text += "      routing-policy:\n";
    for item in items {
        if let Item::From(address) = item {
            let _ = writeln!(text, "        - {{ from: \"{address}\", table: {table}, priority: {table} }}");
        }
    }
    text += "      routes:\n";
    for item in items {
        let Some(to) = item.destination() else { continue };
        let way =
            if let Item::Via(hop) = item { format!("via: \"{hop}\"") } else { "scope: link".to_owned() };
        let _ = writeln!(text, "        - {{ to: \"{to}\", {way}, table: {table} }}");
    }
    text
}

/// The sections of systemd.network(5) for a table.
fn sections(routing: &Routing) -> String {
    let table = routing.table;
    let section = |item: &Item| match item {
        Item::From(address) => {
            format!("[RoutingPolicyRule]\nFrom={address}\nTable={table}\nPriority={table}\n")
        }
        Item::To(network, prefix) => {
            // That of IPv6 has no scope.
            let scope = if item.is_v6() { "" } else { "Scope=link\n" };
            format!("[Route]\nDestination={network}/{prefix}\n{scope}Table={table}\n")
        }
        Item::Via(hop) => format!("[Route]\nGateway={hop}\nTable={table}\n"),
    };
    routing.items.iter().map(section).collect()
}

fn networkd(link: &Netdev, due: &Wanted<'_>) -> (String, String) {
    let Wanted { mtu, addresses, routing } = *due;
    let routes = routing.map(sections).unwrap_or_default();
    let name = &link.name;
    let own = format!("/etc/systemd/network/50-provision-{name}.network");
    let mtu = mtu.map(|mtu| format!("MTUBytes={mtu}\n")).unwrap_or_default();
    let list = addresses.iter().map(|address| format!("Address={address}\n")).collect::<Vec<_>>().concat();
    if let Some(file) = link.network_file.as_deref().filter(|file| *file != own) {
        let base = file.rsplit('/').next().unwrap_or(file);
        let mtu = if mtu.is_empty() { mtu } else { format!("[Link]\n{mtu}") };
        let list = if list.is_empty() { list } else { format!("[Network]\n{list}") };
        return (
            format!("/etc/systemd/network/{base}.d/90-provision-{name}.conf"),
            format!("{OURS}{mtu}{list}{routes}"),
        );
    }
    // A link that is unplugged holds up no boot, and what others gave it stays.
    let link = format!("[Link]\nRequiredForOnline=no\n{mtu}");
    (own, format!("{OURS}[Match]\nName={name}\n{link}[Network]\nKeepConfiguration=static\n{list}{routes}"))
}

fn ifupdown(link: &Netdev, due: &Wanted<'_>) -> String {
    let Wanted { mtu, addresses, routing } = *due;
    let name = &link.name;
    let mut text = OURS.to_owned();
    if link.stanzas.is_empty() {
        text = format!("{text}auto {name}\n");
    }
    if let Some(mtu) = mtu {
        text = format!("{text}iface {name} inet manual\n    up ip link set dev {name} mtu {mtu}\n");
    }
    for address in addresses {
        let family = if address.contains(':') { "inet6" } else { "inet" };
        text = format!("{text}iface {name} {family} static\n    address {address}\n");
    }
    let Some(Routing { table, items }) = routing else { return text };
    // The stanza that gives the link its address may come later.
    text = format!("{text}iface {name} inet manual\n    up ip link set dev {name} up\n");
    for item in items {
        let family = if item.is_v6() { 6 } else { 4 };
        text = match item {
            Item::From(address) => format!(
                "{text}    up ip -{family} rule add from {address} table {table} priority {table} || true\n    \
                 down ip -{family} rule del from {address} table {table} || true\n"
            ),
            Item::To(network, prefix) => {
                format!(
                    "{text}    up ip -{family} route replace {network}/{prefix} dev {name} table {table}\n"
                )
            }
            Item::Via(hop) => {
                format!(
                    "{text}    up ip -{family} route replace default via {hop} dev {name} table {table}\n"
                )
            }
        };
    }
    text
}

/// The setting of its connection of NetworkManager that holds the MTU (nm-settings-nmcli(5)).
pub(super) fn mtu_setting(link: &Netdev) -> &'static str {
    let infiniband = "infiniband.mtu";
    if link.settings.contains_key(infiniband) { infiniband } else { "802-3-ethernet.mtu" }
}

/// Returns the settings that its connection of NetworkManager must get.
fn settings(link: &Netdev, due: &Wanted<'_>) -> Result<Managed, Unplannable> {
    let Wanted { mtu, addresses, .. } = *due;
    if link.connection.is_none() {
        return Err(Unplannable::Failed(format!(
            "NetworkManager has no connection for {} ({}): activate one first",
            link.name, link.device_state
        )));
    }
    let setting = |key: &str| link.settings.get(key).map_or("", String::as_str);
    let mut settings = Vec::new();
    if let Some(mtu) = mtu.map(|mtu| mtu.to_string()) {
        let key = mtu_setting(link);
        let before = setting(key);
        if before != mtu {
            settings.push(Attribute::new(key, Some(before), Some(&mtu)));
        }
    }
    for address in addresses {
        let key = if address.contains(':') { "ipv6.addresses" } else { "ipv4.addresses" };
        if !setting(key).split(", ").any(|one| one == address) {
            settings.push(Attribute::new(key, None, Some(address)));
        }
    }
    Ok(Managed { manager: Manager::NetworkManager, file: None, source: false, settings })
}
