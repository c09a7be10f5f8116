//! Links, routes, the firewall and counters.

use std::collections::BTreeMap;

use super::super::kind::Kind;
use super::{Found, SPAN};

impl Found<'_> {
    pub(super) fn links(&mut self, lines: &[&str]) {
        for line in lines {
            let Some((path, value)) =
                line.strip_prefix("/sys/class/net/").and_then(|rest| rest.split_once(':'))
            else {
                continue;
            };
            let Some((link, name)) = path.split_once('/') else { continue };
            if is_of_containers(link) {
                continue;
            }
            let value = match name {
                "device/driver" | "master" => value.rsplit('/').next().unwrap_or(value),
                _ => value,
            };
            self.put(Kind::Link, &format!("{link} {}", name.trim_start_matches("device/")), value);
        }
    }

    pub(super) fn ethtool(&mut self, lines: &[&str]) {
        let mut heading = String::new();
        for line in lines {
            let mut words = line.splitn(3, ' ');
            let (Some(link), Some(way), Some(rest)) = (words.next(), words.next(), words.next()) else {
                continue;
            };
            if is_of_containers(link) {
                continue;
            }
            let Some((name, value)) = rest.split_once(':') else { continue };
            if value.trim().is_empty() {
                name.trim().clone_into(&mut heading);
                continue;
            }
            let heading = match way {
                "-g" | "-l" if !heading.is_empty() => format!("{heading} "),
                _ => String::new(),
            };
            let way = match way {
                "-i" => "driver",
                "-k" => "feature",
                "-g" => "rings",
                "-a" => "pause",
                "-c" => "coalescing",
                "-l" => "channels",
                "--show-fec" => "FEC",
                _ => "flag",
            };
            if name.trim() != "bus-info" {
                self.put(Kind::Ethtool, &format!("{link} {way} {heading}{}", name.trim()), value);
            }
        }
    }

    pub(super) fn routes(&mut self, lines: &[&str]) {
        for line in lines {
            let line = line.trim();
            let is_of_all = !line.starts_with("local ")
                && !line.starts_with("broadcast ")
                && !line.starts_with("multicast ")
                && !line.starts_with("anycast ");
            let link = line.split_once(" dev ").and_then(|(_, rest)| rest.split(' ').next());
            if is_of_all && !link.is_some_and(is_of_containers) {
                let line = line.replace('\t', " ");
                // What a router or DHCP lends has the seconds that are left.
                let line = line.split(" expires ").next().unwrap_or(&line);
                let is_rule =
                    line.split(':').next().is_some_and(|number| number.bytes().all(|c| c.is_ascii_digit()));
                let line = if is_rule { format!("rule {line}") } else { line.to_owned() };
                self.put(Kind::Route, &line, "set");
            }
        }
    }

    pub(super) fn queues(&mut self, lines: &[&str]) {
        let mut counted: BTreeMap<String, Vec<&str>> = BTreeMap::new();
        for line in lines {
            let Some((kind, rest)) = line.split_once(" dev ") else { continue };
            let link = rest.split(' ').next().unwrap_or_default();
            if !is_of_containers(link) {
                let kind = kind.trim_start_matches("qdisc ").split(' ').next().unwrap_or_default();
                counted.entry(link.to_owned()).or_default().push(kind);
                if let Some((_, options)) = rest.split_once("refcnt ") {
                    counted
                        .entry(format!("{link} options"))
                        .or_default()
                        .push(options.split_once(' ').map_or("", |(_, rest)| rest));
                }
            }
        }
        self.put_joined(Kind::Queue, counted);
    }

    pub(super) fn firewall(&mut self, lines: &[&str]) {
        let mut table = "";
        let mut chain = "";
        let mut counted: BTreeMap<String, BTreeMap<&str, usize>> = BTreeMap::new();
        for line in lines {
            let line = line.trim();
            match line.strip_suffix(" {") {
                Some(name) if name.starts_with("table ") => (table, chain) = (name, ""),
                Some(name) => chain = name,
                None if line == "}" || line.is_empty() || line.starts_with('#') => {}
                // Rules that come and go with containers name their links.
                // The resolver of Docker has another port on each host.
                None if line.contains("127.0.0.11") => {}
                None if line.split('"').any(|word| is_of_containers(word) && word != "lo") => {}
                None => {
                    let key = format!("{table} {chain} {line}");
                    *counted.entry(key).or_default().entry("set").or_default() += 1;
                }
            }
        }
        self.put_counted(Kind::Firewall, &counted);
    }

    /// Counts of errors: as they stand, and what came while it was looked at.
    pub(super) fn counters(&mut self, before: &[&str], after: &[&str], span: Option<f64>) {
        let before = counts(before);
        for (key, count) in counts(after) {
            // Every host sends some segments again: a busy peer is enough.
            let (total, each) = if key == SENT_AGAIN { (100, 10.0) } else { (0, 0.0) };
            self.put(Kind::Counter, &key, &(if count < total { 0 } else { count }).to_string());
            if let (Some(earlier), Some(span)) = (before.get(&key), span.filter(|span| *span >= SPAN)) {
                let new = count.saturating_sub(*earlier);
                #[expect(clippy::cast_precision_loss, reason = "a rate for people")]
                let rate = new as f64 / span;
                let rate = if rate < each { 0.0 } else { rate };
                self.put(Kind::Counter, &format!("{key} each second"), &format!("{rate:.0}"));
            }
        }
    }
}

/// Name of the counter of segments that TCP sent more than once.
const SENT_AGAIN: &str = "TCP segments sent again";

/// Counters by a name that tells the device.
fn counts(lines: &[&str]) -> BTreeMap<String, u64> {
    const TCP: usize = 11;
    let mut counts = BTreeMap::new();
    for line in lines {
        let (key, value) = if let Some(rest) = line.strip_prefix("/sys/class/net/") {
            let Some((path, value)) = rest.split_once(':') else { continue };
            (path.replace("/statistics/", " "), value)
        } else if let Some(rest) = line.strip_prefix("/sys/class/infiniband/") {
            let Some((path, value)) = rest.split_once(':') else { continue };
            (
                path.replace("/hw_counters/", " ").replace("/counters/", " ").replace("/ports/", " port "),
                value,
            )
        } else if let Some(rest) = line.strip_prefix("/sys/devices/system/edac/mc/") {
            let Some((path, value)) = rest.split_once(':') else { continue };
            (format!("memory {}", path.replace('/', " ")), value)
        } else if line.starts_with('/') {
            continue;
        } else if line.starts_with(|c: char| c.is_ascii_digit()) {
            // The twelfth number of TCP in /proc/net/snmp is that of segments sent again.
            let Some(again) = line.split_whitespace().nth(TCP) else { continue };
            (SENT_AGAIN.to_owned(), again)
        } else {
            let Some((name, value)) = line.rsplit_once(':') else { continue };
            (name.split_whitespace().collect::<Vec<_>>().join(" "), value)
        };
        let link = key.split(' ').next().unwrap_or_default();
        if let Ok(value) = value.trim().parse()
            && !is_of_containers(link)
        {
            counts.insert(key, value);
        }
    }
    counts
}

/// Whether a link comes and goes with containers.
pub(super) fn is_of_containers(link: &str) -> bool {
    link == "lo"
        || [
            "veth", "br-", "cali", "docker", "lxc", "cni", "flannel", "virbr", "tap", "tun", "ifb", "dummy",
            "kube-",
        ]
        .iter()
        .any(|prefix| link.starts_with(prefix))
}
