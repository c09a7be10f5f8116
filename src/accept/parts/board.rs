//! The machine, its board, memory and disks.

use std::collections::BTreeMap;

use super::gathered::{Gathered, MACHINE, number};
use super::text::{Sections, named, serial, word};
use crate::accept::record::PartKind;

/// Puts the machine, its board and its chassis, and returns the key of the machine.
pub(super) fn board(gathered: &mut Gathered<'_>, sections: &Sections<'_>) -> String {
    let values: BTreeMap<&str, &str> = sections
        .files("system", "/sys/class/dmi/id/")
        .into_iter()
        .map(|(_, name, value)| (name, value))
        .collect();
    let value = |name: &str| values.get(name).copied().unwrap_or_default();
    let model = |names: [&str; 2]| {
        names.into_iter().filter_map(|name| named(value(name))).collect::<Vec<_>>().join(" ")
    };
    for line in sections.lines("system") {
        if let Some(kernel) = line.strip_prefix("kernel:") {
            gathered.version("kernel", kernel);
        }
    }
    gathered.version("BIOS", value("bios_version"));
    let machine = serial(value("product_serial")).or_else(|| identity(value("product_uuid")));
    let number = serial(value("board_serial"));
    let chassis = serial(value("chassis_serial"));
    // Some makers write one number everywhere.
    let is_another =
        |other: &Option<String>| other.as_ref().is_some_and(|other| Some(other) != machine.as_ref());
    if is_another(&number) {
        gathered.put(PartKind::Board, number.clone(), &model(["board_vendor", "board_name"]), "mainboard");
    }
    if is_another(&chassis) && chassis != number {
        gathered.put(PartKind::Board, chassis, &model(["chassis_vendor", ""]), "chassis");
    }
    gathered.put(PartKind::Board, machine, &model(["sys_vendor", "product_name"]), MACHINE)
}

/// The identity that a maker gave to a machine. Some give all of a model the same.
fn identity(text: &str) -> Option<String> {
    let text = serial(text)?;
    let is_of_all = ["03000200-0400-0500-0006-000700080009", "00020003-0004-0005-0006-000700080009"]
        .iter()
        .any(|known| text.eq_ignore_ascii_case(known));
    let digits = || text.bytes().filter(u8::is_ascii_hexdigit);
    let first = digits().next()?;
    (!is_of_all && digits().any(|digit| digit != first)).then(|| text.clone())
}

/// One module of memory.
#[derive(Debug, Default)]
struct Module<'t>(BTreeMap<&'t str, &'t str>);

impl<'t> Module<'t> {
    fn value(&self, name: &str) -> &'t str {
        self.0.get(name).copied().unwrap_or_default()
    }
}

/// Puts modules of memory, and counts their errors.
pub(super) fn memory(gathered: &mut Gathered<'_>, sections: &Sections<'_>, machine: &str) {
    let mut modules: Vec<Module<'_>> = Vec::new();
    for line in sections.lines("memory") {
        if line.trim() == "Memory Device" {
            modules.push(Module::default());
        } else if let (Some(module), Some((name, value))) = (modules.last_mut(), line.split_once(':')) {
            module.0.entry(name.trim()).or_insert(value.trim());
        }
    }
    modules.retain(|module| {
        let size = module.value("Size");
        !size.is_empty() && !["No Module Installed", "Not Installed", "Unknown"].contains(&size)
    });
    // Some boards say `DIMM 0` for one of each channel.
    let mut names: BTreeMap<&str, usize> = BTreeMap::new();
    let mut numbers: BTreeMap<String, usize> = BTreeMap::new();
    for module in &modules {
        *names.entry(module.value("Locator")).or_default() += 1;
        *numbers.entry(number_of(module).unwrap_or_default()).or_default() += 1;
    }
    let mut known = BTreeMap::new();
    for module in &modules {
        let locator = module.value("Locator");
        let place = if names.get(locator) == Some(&1) {
            word(locator)
        } else {
            word(&format!("{} {locator}", module.value("Bank Locator")))
        };
        let own = number_of(module).filter(|number| numbers.get(number) == Some(&1));
        let model: Vec<String> = ["Size", "Type", "Part Number"]
            .into_iter()
            .filter_map(|name| named(module.value(name)))
            .collect();
        let key = gathered.put(PartKind::Memory, own, &model.join(" "), &place);
        known.insert(word(locator), key);
    }
    for (path, errors) in errors(sections) {
        // Drivers name modules after channels more often than after what is printed beside them.
        let key = known.get(&path).map_or(machine, String::as_str);
        let of = if key == machine { format!(" {path}") } else { String::new() };
        for (name, value) in errors {
            gathered.count(key, &format!("memory.{name}{of}"), value);
        }
    }
}

/// A serial number of memory has four bytes: makers give the same one.
fn number_of(module: &Module<'_>) -> Option<String> {
    let number = serial(module.value("Serial Number"))?;
    let of: Vec<String> =
        ["Manufacturer", "Part Number"].into_iter().filter_map(|name| named(module.value(name))).collect();
    Some(of.into_iter().chain([number]).collect::<Vec<_>>().join(" "))
}

/// Errors of modules by the name that the driver has for them.
fn errors(sections: &Sections<'_>) -> BTreeMap<String, Vec<(&'static str, u64)>> {
    let mut labels: BTreeMap<&str, String> = BTreeMap::new();
    let mut counts: Vec<(&str, &'static str, u64)> = Vec::new();
    for line in sections.lines("memory_errors") {
        let Some((path, value)) = line.split_once(':') else { continue };
        let Some((place, file)) = path.rsplit_once('/') else { continue };
        match file {
            "dimm_label" => drop(labels.insert(place, word(value))),
            "dimm_ce_count" => counts.extend(number(value).map(|count| (place, "corrected", count))),
            "dimm_ue_count" => counts.extend(number(value).map(|count| (place, "uncorrected", count))),
            _ => {}
        }
    }
    let mut errors: BTreeMap<String, Vec<(&'static str, u64)>> = BTreeMap::new();
    for (place, name, count) in counts {
        let label = labels.get(place).filter(|label| named(label).is_some()).cloned();
        let below = place.strip_prefix("/sys/devices/system/edac/mc/").unwrap_or(place);
        errors.entry(label.unwrap_or_else(|| word(below))).or_default().push((name, count));
    }
    errors
}

/// Puts disks, and returns their keys by address and by name.
pub(super) fn disks(gathered: &mut Gathered<'_>, sections: &Sections<'_>) -> BTreeMap<String, String> {
    let mut disks: BTreeMap<&str, BTreeMap<&str, &str>> = BTreeMap::new();
    for (name, file, value) in sections.files("disks", "/sys/class/nvme/") {
        // The address of a controller has colons in it.
        disks.entry(name).or_default().insert(file, value);
    }
    let mut known = BTreeMap::new();
    for (name, values) in disks {
        let value = |file: &str| values.get(file).copied().unwrap_or_default();
        // What comes over a network is part of another machine.
        if !["", "pcie"].contains(&value("transport").trim()) {
            continue;
        }
        let model = named(value("model")).unwrap_or_default();
        let place = super::text::address(value("address")).unwrap_or_else(|| word(name));
        let key = gathered.put(PartKind::Disk, serial(value("serial")), &model, &place);
        gathered.version(&format!("firmware {model}"), value("firmware_rev"));
        known.insert(place, key.clone());
        known.insert(word(name), key);
    }
    known
}
