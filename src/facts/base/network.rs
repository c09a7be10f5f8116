//! Links from `/sys/class/net`, addresses from `ip -o addr`, the default route from
//! `/proc/net/route`.

use std::collections::BTreeMap;

use serde_json::{Value as Json, json};

#[derive(Default)]
struct Link<'a> {
    name: &'a str,
    fields: BTreeMap<&'a str, &'a str>,
}

impl Link<'_> {
    fn text(&self, key: &str) -> &str {
        self.fields.get(key).copied().unwrap_or("")
    }

    fn number(&self, key: &str) -> i64 {
        // -1 and nothing both mean that the driver does not know.
        self.text(key).parse().unwrap_or(0).max(0)
    }
}

/// ARPHRD numbers of `linux/if_arp.h`.
fn kind(number: i64) -> &'static str {
    match number {
        1 => "ether",
        32 => "infiniband",
        772 => "loopback",
        _ => "other",
    }
}

pub(super) fn network(output: &str) -> Result<Json, String> {
    let (text, addresses) = output
        .split_once("\naddresses")
        .or_else(|| Some(("", output.strip_prefix("addresses")?)))
        .ok_or("the list of links was cut")?;
    let mut links: Vec<Link<'_>> = Vec::new();
    let mut route: Option<(u64, &str)> = None;
    for line in text.lines() {
        match line.split_once('=') {
            Some(("link", name)) => links.push(Link { name, ..Link::default() }),
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
                "speed_mbps": link.number("speed"),
                "driver": link.text("driver"),
                "pci": link.text("device"),
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

/// The public halves of host keys, a line each: type, base64, comment.
pub(super) fn ssh(output: &str) -> Result<Json, String> {
    let text = output.strip_suffix("end\n").ok_or("the list of host keys was cut")?;
    let keys: Vec<Json> = text
        .lines()
        .filter_map(|line| {
            let mut words = line.split_whitespace();
            let (kind, key) = (words.next()?, words.next()?);
            key.starts_with("AAAA").then(|| json!({ "type": kind, "key": key }))
        })
        .collect();
    Ok(json!({ "host_keys": keys }))
}
