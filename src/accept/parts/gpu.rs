//! GPUs of `nvidia-smi -q` and `nvidia-smi nvlink -e`.

use std::collections::BTreeMap;

use super::gathered::{Gathered, number};
use super::text::{Sections, address, named, serial};
use crate::accept::record::PartKind;

/// One GPU: its address, and values by the headings above them: `ECC Errors/Aggregate/DRAM Correctable`.
struct Gpu<'t> {
    address: String,
    values: Vec<(String, &'t str)>,
}

impl<'t> Gpu<'t> {
    fn value(&self, path: &str) -> &'t str {
        self.values.iter().find(|(other, _)| other == path).map_or("", |(_, value)| value)
    }
}

/// Puts GPUs, and returns their keys by address.
pub(super) fn gpus(gathered: &mut Gathered<'_>, sections: &Sections<'_>) -> BTreeMap<String, String> {
    let (all, gpus) = tree(sections.lines("gpus"));
    for (name, value) in all {
        match name.as_str() {
            "Driver Version" => gathered.version("driver", value),
            "CUDA Version" => gathered.version("CUDA", value),
            _ => {}
        }
    }
    // GPUs of one board have the number of the board.
    let mut boards: BTreeMap<String, usize> = BTreeMap::new();
    for gpu in &gpus {
        if let Some(serial) = serial(gpu.value("Serial Number")) {
            *boards.entry(serial).or_default() += 1;
        }
    }
    let mut known = BTreeMap::new();
    let mut by_uuid: Vec<(Option<String>, String)> = Vec::new();
    for gpu in &gpus {
        let uuid = serial(gpu.value("GPU UUID"));
        let own = serial(gpu.value("Serial Number")).filter(|serial| boards.get(serial) == Some(&1));
        if let (None, Some(uuid)) = (&own, &uuid) {
            gathered.notes.push(format!(
                "the GPU at {} has no serial number of its own: it is followed by its UUID {uuid}",
                gpu.address
            ));
        }
        let model = named(gpu.value("Product Name")).unwrap_or_default();
        let key = gathered.put(PartKind::Gpu, own.or_else(|| uuid.clone()), &model, &gpu.address);
        gathered.version("VBIOS", gpu.value("VBIOS Version"));
        count(gathered, gpu, &key);
        known.insert(gpu.address.clone(), key.clone());
        by_uuid.push((uuid, key));
    }
    links(gathered, sections, &by_uuid);
    known
}

/// The tree that `nvidia-smi -q` prints: what stands before the first GPU, and the GPUs.
fn tree<'t>(lines: &[&'t str]) -> (Vec<(String, &'t str)>, Vec<Gpu<'t>>) {
    let mut all = Vec::new();
    let mut gpus: Vec<Gpu<'_>> = Vec::new();
    let mut headings: Vec<(usize, &str)> = Vec::new();
    for line in lines {
        let text = line.trim();
        let indent = line.len() - line.trim_start().len();
        if let Some(address) = text.strip_prefix("GPU ").filter(|_| indent == 0).and_then(address) {
            gpus.push(Gpu { address, values: Vec::new() });
            headings.clear();
            continue;
        }
        while headings.last().is_some_and(|(deeper, _)| *deeper >= indent) {
            headings.pop();
        }
        let Some((name, value)) = line.split_once(" : ") else {
            if !text.is_empty() && headings.len() < 8 {
                headings.push((indent, text));
            }
            continue;
        };
        let path: Vec<&str> = headings.iter().map(|(_, name)| *name).chain([name.trim()]).collect();
        let value = (path.join("/"), value.trim());
        match gpus.last_mut() {
            Some(gpu) => gpu.values.push(value),
            None => all.push(value),
        }
    }
    (all, gpus)
}

fn count(gathered: &mut Gathered<'_>, gpu: &Gpu<'_>, key: &str) {
    for (path, value) in &gpu.values {
        let value = match *value {
            "Yes" => Some(1),
            "No" => Some(0),
            value => number(value),
        };
        let Some(value) = value else { continue };
        let name = match path.as_str() {
            "PCI/Replays Since Reset" => "pcie.replays",
            "PCI/Replay Number Rollovers" => "pcie.replay_rollovers",
            "Remapped Rows/Correctable Error" => "remap.correctable",
            "Remapped Rows/Uncorrectable Error" => "remap.uncorrectable",
            "Remapped Rows/Pending" => "remap.pending",
            "Remapped Rows/Remapping Failure Occurred" => "remap.failure",
            "Retired Pages/Single Bit ECC" => "retired.single",
            "Retired Pages/Double Bit ECC" => "retired.double",
            "ECC Errors/Channel Repair Pending" => "repair.channel",
            "ECC Errors/TPC Repair Pending" => "repair.tpc",
            "ECC Errors/Unrepairable Memory" => "repair.impossible",
            "ECC Errors/Aggregate/SRAM Threshold Exceeded" => "ecc.threshold",
            path => match path.strip_prefix("ECC Errors/").and_then(|rest| rest.split_once('/')) {
                Some(("Aggregate", name)) => errors(name, "ecc.corrected", "ecc.uncorrected"),
                Some(("Volatile", name)) => errors(name, "ecc.corrected_now", "ecc.uncorrected_now"),
                _ => continue,
            },
        };
        if !name.is_empty() {
            gathered.count(key, name, value);
        }
    }
}

/// The counter that errors of a name belong to; empty where they do not.
fn errors(name: &str, corrected: &'static str, uncorrected: &'static str) -> &'static str {
    if name.contains("Uncorrectable") || name == "Double Bit/Total" {
        uncorrected
    } else if name.contains("Correctable") || name == "Single Bit/Total" {
        corrected
    } else {
        ""
    }
}

/// Counts errors of NVLink, over all links of a GPU: `Link 0: Replay Errors: 0`, and on newer GPUs `Link 0: Rx Errors: 0`.
fn links(gathered: &mut Gathered<'_>, sections: &Sections<'_>, gpus: &[(Option<String>, String)]) {
    let mut key: Option<&str> = None;
    for line in sections.lines("nvlink") {
        let text = line.trim();
        if let Some(rest) = text.strip_prefix("GPU ").filter(|_| !line.starts_with([' ', '\t'])) {
            // Some drivers leave the UUID out; GPUs are in the order of `nvidia-smi -q`.
            let uuid = rest.split_once("(UUID: ").and_then(|(_, rest)| serial(rest.trim_end_matches(')')));
            let index = rest.split_once(':').and_then(|(index, _)| index.parse::<usize>().ok());
            let gpu = match uuid {
                Some(uuid) => gpus.iter().find(|(other, _)| other.as_ref() == Some(&uuid)),
                None => index.and_then(|index| gpus.get(index)),
            };
            key = gpu.map(|(_, key)| key.as_str());
            continue;
        }
        let Some((_, rest)) = text.strip_prefix("Link ").and_then(|rest| rest.split_once(": ")) else {
            continue;
        };
        let Some((name, value)) = rest.rsplit_once(": ") else { continue };
        // `FEC Errors - 0` counts what was well, in billions.
        let is_error = name.ends_with("Errors")
            || ["Link recovery successful events", "Link recovery failed events", "Tx discards"]
                .contains(&name);
        if let (Some(key), Some(value), true) = (key, number(value), is_error) {
            let name = name.to_ascii_lowercase().replace(|c: char| !c.is_ascii_alphanumeric(), "_");
            gathered.count(key, &format!("nvlink.{name}"), value);
        }
    }
}
