//! `PCIe`, GPUs, RDMA devices and disks.

use std::collections::BTreeMap;

use super::super::kind::Kind;
use super::Found;
use super::settings::is_of_a_container;

impl Found<'_> {
    pub(super) fn pci(&mut self, lines: &[&str]) {
        let mut joined: BTreeMap<String, Vec<&str>> = BTreeMap::new();
        for line in lines {
            let Some((path, value)) = line
                .strip_prefix("/sys/bus/pci/devices/")
                .and_then(|rest| rest.match_indices(':').nth(2).map(|(at, _)| rest.split_at(at)))
            else {
                continue;
            };
            let value = value.get(1..).unwrap_or_default();
            let (address, name) = path.split_once('/').unwrap_or((path, ""));
            if name == "driver" {
                joined
                    .entry(format!("{address} driver"))
                    .or_default()
                    .push(value.rsplit('/').next().unwrap_or(value));
            } else if let Some(level) = name.strip_prefix("aer_dev_") {
                if let Some((error, times)) = value.rsplit_once(' ')
                    && error.starts_with("TOTAL")
                {
                    self.put(Kind::Counter, &format!("{address} {level} errors of PCIe"), times);
                }
            } else {
                joined.entry(format!("{address} {name}")).or_default().push(value);
            }
        }
        self.put_joined(Kind::Pci, joined);
    }

    pub(super) fn capabilities(&mut self, lines: &[&str]) {
        let mut address = "";
        let mut joined: BTreeMap<String, Vec<&str>> = BTreeMap::new();
        for line in lines {
            if !line.starts_with([' ', '\t']) {
                address = line.split(' ').next().unwrap_or_default();
                continue;
            }
            let line = line.trim();
            let (register, rest) = match line.split_once(':') {
                Some((register, rest)) if !register.contains(' ') => (register, rest),
                // The lines below DevCtl have no name of their own.
                _ => ("DevCtl", line),
            };
            for (name, value) in fields(rest) {
                joined.entry(format!("{address} {register} {name}")).or_default().push(value);
            }
        }
        self.put_joined(Kind::Pci, joined);
    }

    pub(super) fn disks(&mut self, lines: &[&str]) {
        for line in lines {
            if let Some(rest) = line.strip_prefix("df ") {
                let fields: Vec<&str> = rest.split_whitespace().collect();
                if let [.., used, place] = fields.as_slice()
                    && let Some(used) = used.strip_suffix('%')
                    && place.starts_with('/')
                    && !is_of_a_container(place)
                {
                    self.put(Kind::Space, &format!("{place} used %"), used);
                }
            } else if let Some((path, value)) =
                line.strip_prefix("/sys/block/").and_then(|rest| rest.split_once(':'))
                && !["loop", "ram", "zram", "dm-", "nbd", "md"].iter().any(|name| path.starts_with(name))
            {
                self.put(
                    Kind::Disk,
                    &path.replace("/queue/", " ").replace("/device/", " ").replace('/', " "),
                    value,
                );
            }
        }
    }

    pub(super) fn rdma(&mut self, lines: &[&str]) {
        let mut joined: BTreeMap<String, Vec<&str>> = BTreeMap::new();
        for line in lines {
            let (key, value) = if let Some(rest) = line.strip_prefix('/') {
                let Some((path, value)) = rest.split_once(':') else { continue };
                let path = path
                    .trim_start_matches("sys/class/infiniband/")
                    .trim_start_matches("sys/kernel/config/")
                    .trim_start_matches("sys/class/");
                let value =
                    if path.ends_with("/device") { value.rsplit('/').next().unwrap_or(value) } else { value };
                (path.replace('/', " "), value)
            } else if let Some(rest) = line.strip_prefix("mlnx_qos ").or_else(|| line.strip_prefix("dcb ")) {
                let tool = line.split(' ').next().unwrap_or_default();
                match rest.split_once(':') {
                    Some((name, value)) => {
                        (format!("{tool} {}", name.split_whitespace().collect::<Vec<_>>().join(" ")), value)
                    }
                    None => (format!("{tool} {}", rest.split(' ').next().unwrap_or_default()), rest),
                }
            } else if let Some(rest) = line.strip_prefix("system ") {
                ("namespaces".to_owned(), rest)
            } else {
                continue;
            };
            joined.entry(key).or_default().push(value);
        }
        self.put_joined(Kind::Rdma, joined);
    }

    /// The tree that `nvidia-smi -q` prints.
    pub(super) fn gpus(&mut self, lines: &[&str]) {
        let mut gpu = "";
        let mut headings: Vec<(usize, &str)> = Vec::new();
        let mut joined: BTreeMap<String, Vec<&str>> = BTreeMap::new();
        for line in lines {
            let text = line.trim();
            let indent = line.len() - line.trim_start().len();
            if let Some(address) = text.strip_prefix("GPU ").filter(|_| indent == 0) {
                gpu = address;
                headings.clear();
                continue;
            }
            while headings.last().is_some_and(|(deeper, _)| *deeper >= indent) {
                headings.pop();
            }
            match line.split_once(" : ") {
                Some((name, value)) => {
                    let path: Vec<&str> =
                        headings.iter().map(|(_, name)| *name).chain([name.trim()]).collect();
                    if !is_of_the_moment(&path) {
                        let place = [gpu, &path.join(", ")].join(" ");
                        joined.entry(place.trim().to_owned()).or_default().push(value.trim());
                    }
                }
                None if !text.is_empty() => headings.push((indent, text)),
                None => {}
            }
        }
        self.put_joined(Kind::Gpu, joined);
    }

    pub(super) fn gpu_links(&mut self, lines: &[&str]) {
        let mut gpu = "";
        for line in lines {
            if let Some(rest) = line.strip_prefix("topo ") {
                let mut fields = rest.split('\t').map(str::trim);
                let name = fields.next().unwrap_or_default();
                // The legend below it has colons.
                if (name.starts_with("GPU") || name.starts_with("NIC")) && !name.contains([':', ' ']) {
                    let row: Vec<&str> = fields.filter(|field| !field.is_empty()).collect();
                    self.put(Kind::Gpu, &format!("topology of {name}"), &row.join(" "));
                }
            } else if let Some(rest) = line.strip_prefix("nvlink ") {
                if rest.starts_with("GPU ") {
                    gpu = rest.split(':').next().unwrap_or_default();
                } else if let Some((name, value)) = rest.trim().split_once(':') {
                    self.put(Kind::Gpu, &format!("NVLink of {gpu} {name}"), value);
                }
            } else if let Some((name, value)) =
                line.strip_prefix("params ").and_then(|rest| rest.split_once(':'))
            {
                self.put(Kind::Parameter, &format!("nvidia.{name} (in force)"), value);
            }
        }
    }
}

/// The fields of a register as `lspci` prints them: `RlxdOrd+ NoSnoop-`, `MaxPayload 256 bytes, MaxReadReq 512 bytes`.
fn fields(text: &str) -> Vec<(&str, &str)> {
    let mut fields = Vec::new();
    for piece in text.split(',').map(str::trim).filter(|piece| !piece.is_empty()) {
        let is_flags = piece.split(' ').all(|word| word.ends_with(['+', '-']));
        if is_flags {
            let flags = piece.split(' ').filter_map(|word| word.split_at_checked(word.len() - 1));
            fields.extend(flags);
        } else {
            fields.push(piece.split_once(' ').unwrap_or((piece, "")));
        }
    }
    fields
}

/// Whether a field of `nvidia-smi -q` changes by itself, or is the card's own.
fn is_of_the_moment(path: &[&str]) -> bool {
    const FIELDS: &[&str] = &[
        "Timestamp",
        "Serial Number",
        "GPU UUID",
        "GPU PDI",
        "Board ID",
        "Bus Id",
        "Fan Speed",
        "Performance State",
        "Average Power Draw",
        "Instantaneous Power Draw",
        "Power Draw",
        "Tx Throughput",
        "Rx Throughput",
        "Used",
        "Free",
        "Reserved",
        "Chassis Serial Number",
        "Module ID",
        "CliqueId",
        "ClusterUUID",
        "Minor Number",
        "Idle",
        "Bus",
        "Device",
        "Domain",
        "GPU Current Temp",
        "Memory Current Temp",
        "Link Gen Current",
        "Current",
        "Device Current",
    ];
    const GROUPS: &[&str] =
        &["Utilization", "Temperature", "Processes", "Clocks", "Encoder Stats", "FBC Stats"];
    let Some((leaf, groups)) = path.split_last() else { return false };
    let is_mode = groups.last().is_some_and(|group| group.ends_with("Mode") || group.ends_with("Width"));
    groups.iter().any(|group| GROUPS.contains(group)) || (FIELDS.contains(leaf) && !is_mode)
}
