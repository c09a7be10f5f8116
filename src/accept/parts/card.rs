//! Network cards, their cables, and what counted on their links.

use std::collections::{BTreeMap, BTreeSet};

use super::gathered::{Gathered, number};
use super::text::{Sections, address, named, serial, word};
use crate::accept::record::PartKind;

const RDMA: &str = "/sys/class/infiniband/";
const NET: &str = "/sys/class/net/";
/// Bytes of vital product data that are read.
const VPD: usize = 1024;

/// One function of a card.
#[derive(Debug, Default)]
struct Function {
    /// Names of RDMA devices and of network links, in this order.
    rdma: BTreeSet<String>,
    links: BTreeSet<String>,
    guid: Option<String>,
    own_address: Option<String>,
    /// Vendor and device, type, and number of the board.
    ids: BTreeMap<&'static str, String>,
    firmware: Option<String>,
    vpd: Vpd,
    counters: BTreeMap<String, u64>,
}

impl Function {
    /// Returns the name by which people know it.
    fn name(&self) -> Option<&String> {
        self.rdma.first().or_else(|| self.links.first())
    }

    fn model(&self) -> String {
        let known = |name| self.ids.get(name).filter(|id| named(id).is_some()).cloned();
        if let Some(number) = &self.vpd.number {
            return number.clone();
        }
        let named: Vec<String> = ["hca_type", "board_id"].into_iter().filter_map(known).collect();
        let numbered = || ["vendor", "device"].into_iter().filter_map(known).collect::<Vec<_>>().join(":");
        if named.is_empty() { numbered() } else { named.join(" ") }
    }
}

/// Vital product data of a card.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
struct Vpd {
    number: Option<String>,
    serial: Option<String>,
}

/// Puts cards and cables, and returns the keys of cards by address and by name.
pub(super) fn cards(gathered: &mut Gathered<'_>, sections: &Sections<'_>) -> BTreeMap<String, String> {
    let mut functions = functions(sections);
    details(sections, &mut functions);
    // A card with two ports shows two functions with one serial number.
    let mut by_serial: BTreeMap<String, String> = BTreeMap::new();
    let mut known = BTreeMap::new();
    for (address, function) in &functions {
        let place = match &function.vpd.serial {
            Some(serial) => by_serial.entry(serial.clone()).or_insert_with(|| address.clone()).clone(),
            None => address.clone(),
        };
        let own = function.vpd.serial.clone();
        let key = own.or_else(|| function.guid.clone()).or_else(|| function.own_address.clone());
        if let (None, Some(key)) = (&function.vpd.serial, &key) {
            gathered.notes.push(format!(
                "the card at {address} has no serial number: it is followed by its address {key}"
            ));
        }
        let first = functions.get(&place).unwrap_or(function);
        let key = gathered.put(PartKind::Nic, key, &first.model(), &place);
        if let Some(firmware) = &function.firmware {
            gathered.version(&format!("firmware {}", function.model()), firmware);
        }
        for (name, value) in &function.counters {
            gathered.count(&key, name, *value);
        }
        known.insert(address.clone(), key.clone());
        for name in function.rdma.iter().chain(&function.links) {
            known.insert(name.clone(), key.clone());
        }
    }
    cables(gathered, sections, &functions);
    known
}

/// Functions of cards by address, with their names.
fn functions(sections: &Sections<'_>) -> BTreeMap<String, Function> {
    let mut functions: BTreeMap<String, Function> = BTreeMap::new();
    for (class, is_rdma) in [(RDMA, true), (NET, false)] {
        for (name, path, value) in sections.files("cards", class) {
            if path != "device" {
                continue;
            }
            // What a management controller shows over USB is no card.
            let Some(address) = value.rsplit('/').find_map(address).filter(|_| !value.contains("/usb"))
            else {
                continue;
            };
            let function = functions.entry(address).or_default();
            let names = if is_rdma { &mut function.rdma } else { &mut function.links };
            names.insert(word(name));
        }
    }
    functions
}

/// Returns the function that has a name.
fn function_of<'f>(functions: &'f mut BTreeMap<String, Function>, name: &str) -> Option<&'f mut Function> {
    let name = word(name);
    functions.values_mut().find(|function| function.rdma.contains(&name) || function.links.contains(&name))
}

fn details(sections: &Sections<'_>, functions: &mut BTreeMap<String, Function>) {
    for class in [RDMA, NET] {
        for (name, path, value) in sections.files("cards", class) {
            let Some(function) = function_of(functions, name) else { continue };
            let value = word(value);
            match path {
                "board_id" => drop(function.ids.insert("board_id", value)),
                "hca_type" => drop(function.ids.insert("hca_type", value)),
                "device/vendor" => drop(function.ids.insert("vendor", value)),
                "device/device" => drop(function.ids.insert("device", value)),
                "fw_ver" => function.firmware = named(&value),
                "node_guid" => function.guid = own(&value),
                "address" => function.own_address = function.own_address.take().or_else(|| own(&value)),
                _ => {
                    let counter = match path.rsplit_once('/') {
                        None if path == "carrier_changes" => path,
                        Some(("statistics", counter)) => counter,
                        Some((ports, counter)) if ports.starts_with("ports/") => counter,
                        _ => continue,
                    };
                    if let Some(value) = number(&value) {
                        let sum = function.counters.entry(format!("link.{counter}")).or_default();
                        *sum = sum.saturating_add(value);
                    }
                }
            }
        }
    }
    // In a bond all links show the address of one.
    for (name, lines) in sections.devices("addresses") {
        let told = lines.iter().find_map(|line| line.trim().strip_prefix("Permanent address: "));
        if let (Some(function), Some(told)) = (function_of(functions, name), told.and_then(own)) {
            function.own_address = Some(told);
        }
    }
    for (name, lines) in sections.devices("vpd") {
        if let Some(function) = address(name).and_then(|address| functions.get_mut(&address)) {
            function.vpd = vpd(&lines);
        }
    }
}

/// A GUID or an address of a link that is one.
fn own(text: &str) -> Option<String> {
    let text = serial(text)?;
    text.bytes().any(|byte| byte.is_ascii_hexdigit() && byte != b'0').then_some(text)
}

/// Vital product data as `lspci` prints it, or as bytes.
fn vpd(lines: &[&str]) -> Vpd {
    let mut found = Vpd::default();
    for line in lines {
        let line = line.trim();
        if let Some((_, value)) = line.strip_prefix("[SN]").and_then(|rest| rest.split_once(':')) {
            found.serial = found.serial.or_else(|| serial(value));
        } else if let Some((_, value)) = line.strip_prefix("[PN]").and_then(|rest| rest.split_once(':')) {
            found.number = found.number.or_else(|| named(value));
        }
    }
    if found == Vpd::default() { vpd_of_bytes(lines).unwrap_or_default() } else { found }
}

/// The same of two hexadecimal digits for each byte. It is a list of resources: PCI Local Bus Specification 3.0, appendix I.
fn vpd_of_bytes(lines: &[&str]) -> Option<Vpd> {
    let bytes: Vec<u8> = lines
        .iter()
        .flat_map(|line| line.split_whitespace())
        .map_while(|word| u8::from_str_radix(word, 16).ok())
        .take(VPD)
        .collect();
    let mut found = Vpd::default();
    let mut rest = bytes.as_slice();
    loop {
        let (tag, behind) = rest.split_first()?;
        // A small resource, of which the end is one, has its length in its first byte.
        let (length, behind) = if tag & 0x80 == 0 {
            (usize::from(tag & 7), behind)
        } else {
            let (length, behind) = behind.split_first_chunk::<2>()?;
            (usize::from(u16::from_le_bytes(*length)), behind)
        };
        if tag & 0xf8 == 0x78 {
            return Some(found);
        }
        let (data, behind) = behind.split_at_checked(length)?;
        if *tag == 0x90 {
            fields(data, &mut found);
        }
        rest = behind;
    }
}

/// Fields of the read-only resource: two letters, a length, and text.
fn fields(mut data: &[u8], found: &mut Vpd) {
    while let Some(([first, second, length], behind)) = data.split_first_chunk::<3>() {
        let Some((value, behind)) = behind.split_at_checked(usize::from(*length)) else { return };
        let value = String::from_utf8_lossy(value);
        match (first, second) {
            (b'S', b'N') => found.serial = serial(&value),
            (b'P', b'N') => found.number = named(&value),
            _ => {}
        }
        data = behind;
    }
}

/// Puts cables, at the name of the device that they are in.
fn cables(gathered: &mut Gathered<'_>, sections: &Sections<'_>, functions: &BTreeMap<String, Function>) {
    let mut told = BTreeSet::new();
    for (device, lines) in sections.devices("cables") {
        let device = word(device);
        let function = functions.values().find(|of| of.rdma.contains(&device) || of.links.contains(&device));
        let Some((function, place)) = function.and_then(|function| Some((function, function.name()?))) else {
            continue;
        };
        let mut values: BTreeMap<&str, &str> = BTreeMap::new();
        for line in lines {
            if let Some((name, value)) = line.split_once(':') {
                values.entry(name.trim()).or_insert(value.trim());
            }
        }
        let value =
            |names: &[&str]| names.iter().find_map(|name| values.get(name)).copied().unwrap_or_default();
        let number = serial(value(&["Vendor SN", "Vendor Serial Number"]));
        let model: Vec<String> = [
            named(value(&["Vendor name", "Vendor Name"])),
            named(value(&["Vendor PN", "Vendor Part Number"])),
            length(&values),
        ]
        .into_iter()
        .flatten()
        .collect();
        // Nothing is in the cage, or it tells nothing of itself.
        if number.is_none() && model.is_empty() || !told.insert(place.clone()) {
            continue;
        }
        let key = gathered.put(PartKind::Cable, number, &model.join(" "), place);
        for (name, value) in &function.counters {
            gathered.count(&key, name, *value);
        }
    }
}

/// Length of a cable, where it has one.
fn length(values: &BTreeMap<&str, &str>) -> Option<String> {
    let names = [
        "Length (Copper or Active cable)",
        "Length (Copper)",
        "Cable assembly length",
        "Transfer Distance [m]",
    ];
    let text = word(names.iter().find_map(|name| values.get(name))?);
    let (number, unit) =
        text.split_at(text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len()));
    let metres = number.parse::<f64>().ok().filter(|metres| *metres > 0.0)?;
    match unit.trim() {
        "" | "m" => Some(format!("{metres}m")),
        "km" => Some(format!("{metres}km")),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bytes as `od -A n -v -t x1` prints them.
    fn od(bytes: &[u8]) -> String {
        bytes.iter().map(|byte| format!(" {byte:02x}")).collect::<Vec<_>>().concat()
    }

    fn resource(tag: u8, data: &[u8]) -> Vec<u8> {
        let length = u16::try_from(data.len()).unwrap().to_le_bytes();
        [&[tag], &length[..], data].concat()
    }

    #[test]
    fn vital_product_data_is_read_of_text_and_of_bytes() {
        let text = [
            "\t\tProduct Name: NVIDIA ConnectX-7",
            "\t\t\t[PN] Part number: MCX713106AC-VEAT   ",
            "\t\t\t[SN] Serial number: MT2304XZ02VD",
        ];
        let of_text = vpd(&text);
        assert_eq!(of_text.serial.as_deref(), Some("MT2304XZ02VD"));
        assert_eq!(of_text.number.as_deref(), Some("MCX713106AC-VEAT"));
        let fields = b"PN\x10MCX713106AC-VEATEC\x02A5SN\x0eMT2304XZ02VD  RV\x01\x00";
        let bytes = [resource(0x82, b"NVIDIA ConnectX-7"), resource(0x90, fields), vec![0x78]].concat();
        assert_eq!(vpd(&[&od(&bytes)]), of_text);
        // A part of it, and what is none.
        for end in 0..bytes.len() {
            assert_eq!(vpd(&[&od(&bytes[..end])]), Vpd::default(), "{end}");
        }
        for odd in ["", "zz", "90 ff ff 53 4e", "78", "90 03 00 53 4e ff 78", "82"] {
            assert_eq!(vpd(&[odd]), Vpd::default(), "{odd}");
        }
    }

    #[test]
    fn lengths() {
        for (name, text, is) in [
            ("Length (Copper or Active cable)", "1m", Some("1m")),
            ("Cable assembly length", "2.00m", Some("2m")),
            ("Cable assembly length", "0.50km", Some("0.5km")),
            ("Transfer Distance [m]", "3", Some("3m")),
            ("Cable assembly length", "0.00m", None),
            ("Cable assembly length", "> 6.3km", None),
            ("Length (Copper)", "N/A", None),
            ("Length (SMF)", "2.00km", None),
        ] {
            assert_eq!(length(&BTreeMap::from([(name, text)])).as_deref(), is, "{text}");
        }
    }
}
