//! Parts by their serials, and versions of software with the hosts that differ.

use std::collections::BTreeMap;

use serde_json::{Value as Json, json};

use super::text::{NAME, escaped, hosts_text, kind_word, line, serial};
use crate::accept::record::{HostRecord, Part, PartKind};
use crate::put;
use crate::words::count;

/// Bytes of all lists of parts.
const TEXT: usize = 2_600_000;
/// Hosts up to which the list of parts is printed.
pub(super) const PRINTED: usize = 16;
/// Bytes of all lists of hosts that differ; beyond them only their number is said.
const HOSTS: usize = 300_000;
/// Names of software, and versions of one.
const ROWS: usize = 200;
const VERSIONS: usize = 12;

/// The parts of each host as HTML, folded away; and how many hosts had no room.
pub(super) fn lists(hosts: &[(&str, &HostRecord)]) -> (String, usize) {
    let (mut out, mut left_out) = (String::new(), 0);
    for (name, host) in hosts.iter().filter(|(_, host)| !host.parts.is_empty()) {
        let list = list(name, host);
        if out.len() + list.len() > TEXT {
            left_out += 1;
        } else {
            out += &list;
        }
    }
    (out, left_out)
}

fn list(name: &str, host: &HostRecord) -> String {
    let mut kinds: BTreeMap<(PartKind, &str), Vec<&Part>> = BTreeMap::new();
    for part in &host.parts {
        kinds.entry((part.kind, &part.model)).or_default().push(part);
    }
    let mut out = String::new();
    let number = count(host.parts.len() as u64, "part");
    put!(
        out,
        r#"<details class="parts"><summary><b class="hosts">{}</b> {number}</summary><dl>"#,
        escaped(name, NAME)
    );
    for ((kind, model), parts) in kinds {
        let number = count(parts.len() as u64, kind_word(kind));
        put!(out, "<dt>{number} {}</dt><dd><ul>", escaped(model, NAME));
        for part in parts {
            put!(out, "<li><b>{}</b>", escaped(serial(part), NAME));
            if !part.place.is_empty() {
                put!(out, " {}", escaped(&part.place, NAME));
            }
        }
        out.push_str("</ul></dd>");
    }
    out.push_str("</dl></details>\n");
    out
}

/// The number of parts of each kind and model in all hosts.
pub(super) fn models(hosts: &[(&str, &HostRecord)]) -> Vec<Json> {
    let mut models: BTreeMap<(PartKind, &str), u64> = BTreeMap::new();
    for part in hosts.iter().flat_map(|(_, host)| &host.parts) {
        *models.entry((part.kind, &part.model)).or_default() += 1;
    }
    let row = |((kind, model), number): ((PartKind, &str), u64)| json!({ "number": count(number, kind_word(kind)), "model": line(model, NAME) });
    models.into_iter().map(row).take(ROWS).collect()
}

/// Versions by name of software, the one of most hosts first, the others with their hosts.
pub(super) fn software(hosts: &[(&str, &HostRecord)]) -> Vec<Json> {
    let mut names: BTreeMap<&str, BTreeMap<&str, Vec<&str>>> = BTreeMap::new();
    for (host, record) in hosts {
        for (name, version) in &record.software {
            names.entry(name).or_default().entry(version).or_default().push(host);
        }
    }
    let mut left = HOSTS;
    let mut list = |hosts: &[&str]| {
        let text = hosts_text(hosts);
        left = left.checked_sub(text.len())?;
        Some(text)
    };
    let mut row = |(name, versions): (&str, BTreeMap<&str, Vec<&str>>)| {
        let mut versions: Vec<(&str, Vec<&str>)> = versions.into_iter().collect();
        versions.sort_by_key(|(_, hosts)| std::cmp::Reverse(hosts.len()));
        let mut rest = versions.iter();
        let (most, hosts) = rest.next().map_or(("", 0), |(version, hosts)| (*version, hosts.len()));
        let others: Vec<Json> = rest
            .take(VERSIONS)
            .map(|(version, hosts)| {
                let number = count(hosts.len() as u64, "host");
                json!({ "version": line(version, NAME), "hosts": list(hosts).unwrap_or_default(), "count": number })
            })
            .collect();
        let more = versions.len().saturating_sub(VERSIONS + 1) as u64;
        json!({
            "name": line(name, NAME),
            "version": line(most, NAME),
            "count": count(hosts as u64, "host"),
            "others": others,
            "more": (more > 0).then(|| count(more, "other version")),
        })
    };
    names.into_iter().take(ROWS).map(&mut row).collect()
}

#[cfg(test)]
mod tests {
    use super::super::test_record::record;
    use super::super::text::in_order;
    use super::*;

    #[test]
    fn parts_stand_with_their_serials_and_places() {
        let fleet = record(4, 3);
        let (lists, left_out) = lists(&in_order(&fleet));
        assert_eq!((lists.matches("<details").count(), left_out), (3, 0));
        assert!(
            lists.contains("<dt>8 GPUs NVIDIA H200</dt><dd><ul><li><b>1650223000000</b> 0000:18:00.0<li>")
        );
        assert_eq!(models(&in_order(&fleet))[1]["number"], "24 GPUs");
    }

    #[test]
    fn who_differs_in_software_is_named() {
        let fleet = record(100, 1);
        let rows = software(&in_order(&fleet));
        let driver = rows.iter().find(|row| row["name"] == "driver").unwrap();
        assert_eq!((&driver["version"], &driver["count"]), (&json!("580.65.06"), &json!("99 hosts")));
        assert_eq!(
            driver["others"],
            json!([{ "version": "570.86.15", "hosts": "gpu003", "count": "1 host" }])
        );
    }

    #[test]
    fn what_has_no_room_is_counted() {
        let mut fleet = record(40, 1);
        for host in fleet.hosts.values_mut() {
            let many: Vec<Part> = std::iter::repeat_n(host.parts.clone(), 100).flatten().collect();
            host.parts = many;
        }
        let (lists, left_out) = lists(&in_order(&fleet));
        assert!(lists.len() <= TEXT && left_out > 0, "{} {left_out}", lists.len());
    }
}
