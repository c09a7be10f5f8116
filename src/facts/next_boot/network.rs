//! The way in: who configures its link when the host boots.

use super::{Aspect, Problem};
use crate::facts::section::{Sections, pair};
use crate::facts::{Gap, GapKind, Seen};

/// Values of the section `network`.
#[derive(Debug, Default)]
struct Way<'a> {
    link: &'a str,
    address: &'a str,
    networkd: &'a str,
    file: &'a str,
    file_is_there: bool,
    /// `yes:/path`: whether it comes up by itself, and its file.
    connections: Vec<&'a str>,
    stanzas: Vec<&'a str>,
    unit: &'a str,
    netplan: &'a str,
    unreadable: Option<&'a str>,
    yaml: Vec<&'a str>,
}

pub(super) fn way_in(sections: &Sections<'_>) -> Seen<Aspect> {
    let way = sections.read("network", "the list was cut short", |text| Ok(read(text)))?;
    if way.link.is_empty() {
        return Err(Gap::new(GapKind::Failed, "/proc/net/route", "no link has a default route"));
    }
    let mut wrong = Vec::new();
    let mut problem = |how: String, todo: &str, from: &str, line: &str| {
        wrong.push(Problem {
            of: way.link.to_owned(),
            how,
            todo: todo.to_owned(),
            from: from.to_owned(),
            line: line.to_owned(),
        });
    };
    let netplan = sections.get("netplan get");
    if let Some(section) = netplan
        && let Some(gap) = section.trouble().filter(|gap| gap.kind == GapKind::Failed)
        // Older ones cannot be asked.
        && !section.stdout.contains("invalid choice")
    {
        problem(
            "netplan cannot read its files, so that nothing configures it".to_owned(),
            "correct the file in /etc/netplan that `netplan get` names",
            "netplan get",
            gap.output.lines().find(|line| !line.trim().is_empty()).unwrap_or(&gap.reason),
        );
    }
    // What wrote the configuration that is in force.
    let by = match () {
        () if !way.netplan.is_empty() => {
            if let (true, Some(file)) = (way.yaml.is_empty(), way.unreadable) {
                return Err(Gap::new(GapKind::Failed, file, format!("only root may read {file}")));
            }
            if way.yaml.is_empty() {
                problem(
                    format!("no file of netplan configures `{}` any more", way.netplan),
                    "add it to a file in /etc/netplan, then `netplan generate`",
                    "/etc/netplan",
                    &format!("no `{}:`", way.netplan),
                );
            } else if !way.address.contains(':') // a router may give that one
                && netplan.is_some_and(|section| {
                    section.trouble().is_none() && has_no_address(section.stdout, way.netplan)
                })
            {
                problem(
                    format!("netplan gives `{}` no address any more", way.netplan),
                    "give it `dhcp4: true` or its `addresses` in /etc/netplan, then `netplan generate`",
                    "netplan get",
                    &format!("{}: neither dhcp4, dhcp6 nor addresses", way.netplan),
                );
            }
            "netplan"
        }
        () if matches!(way.networkd, "configured" | "configuring") => {
            if !way.file_is_there {
                problem(
                    "the file by which networkd configured it is gone".to_owned(),
                    "write a file for it in /etc/systemd/network",
                    "NETWORK_FILE",
                    way.file,
                );
            } else if way.file.starts_with("/run/") {
                problem(
                    "networkd has its file in /run, which a boot empties".to_owned(),
                    "write that file in /etc/systemd/network",
                    "NETWORK_FILE",
                    way.file,
                );
            }
            "networkd"
        }
        () if !way.connections.is_empty() => {
            for line in &way.connections {
                let (auto, file) = line.split_once(':').unwrap_or((line, ""));
                if auto == "no" {
                    problem(
                        "its connection does not come up by itself".to_owned(),
                        "`nmcli connection modify UUID connection.autoconnect yes`",
                        "nmcli connection show",
                        line,
                    );
                }
                if file.starts_with("/run/") {
                    problem(
                        "NetworkManager has its connection in /run, which a boot empties".to_owned(),
                        "`nmcli connection modify UUID connection.autoconnect yes` saves it in /etc",
                        "nmcli connection show",
                        line,
                    );
                }
            }
            "NetworkManager"
        }
        () if way.stanzas.iter().any(|line| line.starts_with("iface ")) => {
            if !way.stanzas.iter().any(|line| line.starts_with("auto") || line.starts_with("allow-")) {
                problem(
                    "ifupdown does not bring it up at boot".to_owned(),
                    &format!("add `auto {}` to /etc/network/interfaces", way.link),
                    "/etc/network/interfaces",
                    way.stanzas.first().unwrap_or(&""),
                );
            }
            "ifupdown"
        }
        () => {
            let reason = format!(
                "neither netplan, networkd, NetworkManager nor ifupdown configures {}: who does so at boot is not known",
                way.link
            );
            return Err(Gap::new(GapKind::Failed, "the network of the next boot", &reason));
        }
    };
    // netplan starts its renderer by itself.
    let off: &[&str] =
        if way.netplan.is_empty() { &["disabled", "masked", "not-found"] } else { &["masked", "not-found"] };
    let state = sections.get(&format!("systemctl is-enabled {}", way.unit));
    if let Some(state) = state.map(|section| section.stdout.trim()).filter(|state| off.contains(state)) {
        problem(
            format!("{} is {state}, so that nothing configures it", way.unit),
            &format!("`systemctl enable {}`", way.unit),
            &format!("systemctl is-enabled {}", way.unit),
            state,
        );
    }
    let address = if way.address.is_empty() { String::new() } else { format!(" ({})", way.address) };
    Ok(Aspect { wrong, seen: format!("{}{address} by {by}", way.link) })
}

/// Whether netplan has a link of this name, and nothing below it that leads to an address. The lines are the names of
/// links and, deeper, what gives them addresses; what NetworkManager alone knows says nothing.
fn has_no_address(text: &str, name: &str) -> bool {
    // One that nothing at all is said of is `rdma0: {}`.
    let of = |line: &str| line.trim().trim_end_matches(" {}").trim_end_matches(':').trim_matches('"') == name;
    let mut lines = text.lines().skip_while(|line| !of(line));
    lines.next().is_some()
        && lines.take_while(|line| line.starts_with("      ")).all(|line| {
            matches!(
                line.trim(),
                "dhcp4: false" | "dhcp6: false" | "dhcp4: no" | "dhcp6: no" | "addresses: []"
            )
        })
}

fn read(text: &str) -> Way<'_> {
    let mut way = Way::default();
    for (key, value) in text.lines().filter_map(pair) {
        match key {
            "link" => way.link = value,
            "address" => way.address = value,
            "networkd" => way.networkd = value,
            "network_file" => way.file = value,
            "network_file_is_there" => way.file_is_there = true,
            "connection" => way.connections.push(value),
            "stanza" => way.stanzas.push(value),
            "unit" => way.unit = value,
            "netplan" => way.netplan = value,
            "unreadable" => way.unreadable = Some(value),
            "yaml" => way.yaml.push(value),
            _ => {}
        }
    }
    way
}
