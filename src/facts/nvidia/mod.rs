//! GPUs as the driver shows them: `nvidia-smi -q -x`, `nvlink -s`, `topo -m`.
//!
//! The XML differs between drivers: fields come and go, and a field may say `N/A` or `Requested
//! functionality has been deprecated`. A field that is not a plain value is `None`.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::str::FromStr;
use std::time::Duration;

use quick_xml::Reader;
use quick_xml::events::Event;
use serde::{Deserialize, Serialize};

use super::Seen;
use super::bounds;
use super::probe::Probe;
use super::section::Sections;

/// Reason why `nvidia-smi` was not asked.
const NOT_ASKED: &str = "the nvidia module is not loaded, so nvidia-smi was not asked";
/// Reason why a later question was not asked.
const NOT_ASKED_AGAIN: &str = "nvidia-smi gave no answer before, so it was not asked again";
/// Text in place of each value of a GPU that the driver lost, in lower case.
const LOST: &str = "gpu is lost";
/// Deepest nesting that is followed.
const DEPTH: usize = 64;
/// More links than any GPU has.
const MOST_LINKS: usize = 256;

/// One GPU.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Gpu {
    /// PCI address as sysfs writes it: `0000:0f:00.0`.
    pub bus: String,
    /// Product name.
    pub name: String,
    /// Version of its BIOS.
    pub vbios: Option<String>,
    /// Total memory in MiB.
    pub memory_mib: Option<u64>,
    /// Persistence mode.
    pub persistence: Option<bool>,
    /// Multi-instance mode.
    pub mig: Option<bool>,
    /// Its compute instances, in that mode.
    #[serde(default)]
    pub instances: Option<u64>,
    /// Error correction, now.
    pub ecc: Option<bool>,
    /// Error correction after the next reset.
    pub ecc_pending: Option<bool>,
    /// The board has no error correction: `N/A` stands where its mode would be.
    pub ecc_absent: bool,
    /// Uncorrectable errors since the driver was loaded; `None` where none is counted.
    pub uncorrected: Option<u64>,
    /// Correctable errors of SRAM since the driver was loaded.
    pub sram_corrected: Option<u64>,
    /// The same of DRAM.
    pub dram_corrected: Option<u64>,
    /// More uncorrectable errors of SRAM over its life than its maker allows.
    pub sram_exceeded: bool,
    /// Repairs that wait for a reset, or cannot be made: `channel_repair_pending`; `None` where the driver says nothing
    /// of them.
    pub repairs: Option<Vec<String>>,
    /// A page waits to be retired (before Ampere).
    pub page_pending: Option<bool>,
    /// Rows remapped for uncorrectable errors.
    pub remapped: Option<u64>,
    /// A row waits for a reset to be remapped.
    pub remap_pending: Option<bool>,
    /// A row could not be remapped.
    pub remap_failure: Option<bool>,
    /// `PCIe` lanes in use and possible.
    pub width: Option<(u32, u32)>,
    /// It was passed through to a virtual machine.
    pub passed_through: bool,
    /// `PCIe` generation in use and possible.
    pub generation: Option<(u32, u32)>,
    /// Degrees Celsius.
    pub temperature: Option<i64>,
    /// Reasons that hold the clocks down, without `gpu_idle`; `None` where the driver does not tell.
    pub throttle: Option<Vec<String>>,
    /// Power limit now and by default, in watts.
    pub power_limit: Option<(f64, f64)>,
    /// `Completed`, `In Progress`; `None` without `NVSwitch`.
    pub fabric_state: Option<String>,
    /// `Success` or what went wrong.
    pub fabric_status: Option<String>,
    /// Parts of the fabric's health that are not as they should be, such as `route_unhealthy True`; `None`
    /// where the driver says nothing of it.
    pub fabric_troubles: Option<Vec<String>>,
    /// The driver lost it: `GPU is lost` stands where its values would be.
    #[serde(default)]
    pub lost: bool,
    /// Action that the driver wants: `Reset`, `Reboot` ...; `None` when nothing.
    pub recovery: Option<String>,
    /// Compute mode: `Default`.
    pub compute_mode: Option<String>,
    /// `PCIe` replays since reset.
    pub replays: Option<u64>,
    /// Processes that use it.
    pub processes: u64,
    /// The driver says that nothing runs on it (`gpu_idle`), whoever holds it open.
    pub at_rest: bool,
}

/// Values that `nvidia-smi -q -x` shows of the host.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Smi {
    /// Driver version.
    pub driver: String,
    /// Highest CUDA version that the driver takes.
    pub cuda: Option<String>,
    /// The GPUs.
    pub gpus: Vec<Gpu>,
}

/// The links of one GPU by their number: GB/s per link, `None` for one that is inactive or not listed.
pub type Links = Vec<Option<f64>>;

/// The matrix of `topo -m`: relation by row and column.
pub type Topology = BTreeMap<String, BTreeMap<String, String>>;

/// Output of `nvidia-smi`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Nvidia {
    /// `nvidia-smi -q -x`.
    pub smi: Seen<Smi>,
    /// `nvidia-smi nvlink -s`, by GPU index.
    pub links: Seen<BTreeMap<usize, Links>>,
    /// `nvidia-smi topo -m`.
    pub topology: Seen<Topology>,
}

/// State of the GPUs, as `nvidia-smi` shows it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct NvidiaQuery;

pub(crate) const FAMILY: &super::Family = <NvidiaQuery as super::Question>::FAMILY;

impl Probe for NvidiaQuery {
    type Shown = Nvidia;
    const NAME: &'static str = "nvidia";
    const SCRIPT: &'static str = crate::shell!("facts/probe/ask.sh", "facts/nvidia/nvidia.sh");
    const DEADLINE: Option<Duration> = Some(Duration::from_mins(1));

    fn read(sections: &Sections<'_>) -> Nvidia {
        parse(sections)
    }
}

/// Reads the sections.
pub fn parse(sections: &Sections<'_>) -> Nvidia {
    let later = if sections.get("nvidia-smi -q -x").is_some() { NOT_ASKED_AGAIN } else { NOT_ASKED };
    Nvidia {
        smi: sections.read("nvidia-smi -q -x", NOT_ASKED, smi),
        links: sections.read("nvidia-smi nvlink -s", later, nvlink),
        topology: sections.read("nvidia-smi topo -m", later, topology),
    }
}

#[derive(Debug, Default)]
struct Element {
    name: String,
    id: Option<String>,
    text: String,
    children: Vec<Element>,
}

impl Element {
    fn at(&self, path: &str) -> Option<&Self> {
        path.split('/').try_fold(self, |element, name| element.children.iter().find(|c| c.name == name))
    }

    /// The value at a path, unless it says that there is none.
    fn value(&self, path: &str) -> Option<&str> {
        let text = self.at(path)?.text.trim();
        // A value may have a note behind it that its field will go: `Enabled [Deprecated; use ...]`.
        let text = match text.find(" [") {
            Some(at) if text.to_ascii_lowercase().contains("[deprecated") => {
                text.get(..at).unwrap_or(text).trim()
            }
            _ => text,
        };
        let lower = text.to_ascii_lowercase();
        let none = ["", "n/a", "[n/a]", "not supported", "[not supported]", "unknown error", "err!", LOST]
            .contains(&lower.as_str())
            || lower.contains("deprecated");
        (!none).then_some(text)
    }

    /// The version that a text begins with: `610.57.04 [Deprecated; ... Use KMD Version instead]`.
    fn leading_version(&self, path: &str) -> Option<String> {
        let word = self.at(path)?.text.split_whitespace().next()?;
        word.starts_with(|c: char| c.is_ascii_digit()).then(|| word.to_owned())
    }

    fn flag(&self, path: &str) -> Option<bool> {
        match self.value(path)? {
            "Enabled" | "Yes" | "Active" | "1" => Some(true),
            "Disabled" | "No" | "Not Active" | "0" => Some(false),
            _ => None,
        }
    }

    fn number<T: FromStr + PartialOrd>(&self, path: &str, possible: &RangeInclusive<T>) -> Option<T> {
        leading(self.value(path)?).filter(|number| possible.contains(number))
    }

    /// Every element of this name below it.
    fn each<'a>(&'a self, path: &str, name: &'a str) -> impl Iterator<Item = &'a Self> {
        self.at(path).into_iter().flat_map(|list| &list.children).filter(move |child| child.name == name)
    }

    /// Whether it or anything below it says this.
    fn says(&self, text: &str) -> bool {
        self.text.trim().eq_ignore_ascii_case(text) || self.children.iter().any(|child| child.says(text))
    }

    /// The sum of the counters that are there.
    fn sum(&self, paths: &[&str]) -> Option<u64> {
        let found: Vec<u64> = paths.iter().filter_map(|path| self.number(path, &bounds::COUNT)).collect();
        (!found.is_empty()).then(|| found.iter().fold(0_u64, |sum, count| sum.saturating_add(*count)))
    }
}

/// The number that a value with a unit begins with: `81559 MiB`, `16x`, `700.00 W`.
fn leading<T: FromStr>(text: &str) -> Option<T> {
    let end = text.find(|c: char| !(c.is_ascii_digit() || c == '.' || c == '-')).unwrap_or(text.len());
    text.get(..end)?.parse().ok()
}

fn tree(text: &str) -> Result<Element, String> {
    let mut reader = Reader::from_str(text);
    let mut stack = vec![Element::default()];
    loop {
        match reader.read_event().map_err(|error| error.to_string())? {
            Event::Start(tag) => {
                if stack.len() > DEPTH {
                    return Err("nested too deeply".to_owned());
                }
                let id = tag.try_get_attribute("id").ok().flatten();
                stack.push(Element {
                    name: String::from_utf8_lossy(tag.name().as_ref()).into_owned(),
                    id: id.map(|id| String::from_utf8_lossy(&id.value).into_owned()),
                    ..Element::default()
                });
            }
            Event::End(_) => {
                let closed = stack.pop().unwrap_or_default();
                stack.last_mut().ok_or("an element ends that was never opened")?.children.push(closed);
            }
            Event::Text(text) => {
                if let Some(open) = stack.last_mut() {
                    open.text.push_str(&String::from_utf8_lossy(&text));
                }
            }
            Event::Eof => break,
            // An element without a text has no value; the rest is not data.
            Event::Empty(_)
            | Event::CData(_)
            | Event::Comment(_)
            | Event::Decl(_)
            | Event::PI(_)
            | Event::DocType(_)
            | Event::GeneralRef(_) => {}
        }
    }
    match <[Element; 1]>::try_from(stack) {
        Ok([root]) => Ok(root),
        Err(_) => Err("the output was cut short".to_owned()),
    }
}

/// `00000000:0F:00.0` as sysfs writes it.
pub fn bus(id: &str) -> String {
    let lower = id.trim().to_ascii_lowercase();
    match lower.split_once(':') {
        Some((domain, rest)) if domain.len() == 8 => {
            format!("{}:{rest}", domain.get(4..).unwrap_or(domain))
        }
        _ => lower,
    }
}

/// Reads `nvidia-smi -q -x`.
///
/// # Errors
/// When it is no whole log of it.
pub fn smi(text: &str) -> Result<Smi, String> {
    let root = tree(text)?;
    let log = root.at("nvidia_smi_log").ok_or("it has no <nvidia_smi_log>")?;
    // From branch 610 on the kernel's part and the libraries have a version each, and the old field says that it goes.
    let driver = ["driver_version", "kmd_version"].iter().find_map(|name| log.leading_version(name));
    let driver = driver.ok_or("it has neither <driver_version> nor <kmd_version>")?;
    let gpus: Vec<Gpu> = log.children.iter().filter(|child| child.name == "gpu").map(gpu).collect();
    if let Some(attached) = log.number("attached_gpus", &(0..=usize::MAX))
        && attached != gpus.len()
    {
        return Err(format!("{attached} GPUs attached, {} described", gpus.len()));
    }
    if gpus.len() > bounds::ACCELERATORS {
        return Err(format!("it describes {} GPUs, and no host has so many", gpus.len()));
    }
    let cuda = ["cuda_version", "cuda_umd_version"].iter().find_map(|name| log.leading_version(name));
    Ok(Smi { driver, cuda, gpus })
}

fn gpu(node: &Element) -> Gpu {
    let text = |path: &str| node.value(path).map(str::to_owned);
    let both =
        |now: &str, most: &str, possible| Some((node.number(now, possible)?, node.number(most, possible)?));
    let counted = |period: &str, names: &[&str]| {
        let paths: Vec<String> = names.iter().map(|name| format!("ecc_errors/{period}/{name}")).collect();
        node.sum(&paths.iter().map(String::as_str).collect::<Vec<_>>())
    };
    // Pascal and Volta count single and double bits, and have a total of them.
    let uncorrectable = [
        "sram_uncorrectable",
        "sram_uncorrectable_parity",
        "sram_uncorrectable_secded",
        "dram_uncorrectable",
        "double_bit/total",
    ];
    let power = |readings: &str, now: &str| {
        let watts = |name| node.number(&format!("{readings}/{name}"), &bounds::POWER);
        Some((watts(now)?, watts("default_power_limit")?))
    };
    let recovery = text("gpu_recovery_action").filter(|action| action != "None").or_else(|| {
        let path = ["gpu_reset_status/reset_required", "gpu_reset_status/drain_and_reset_recommended"];
        let asks = path.iter().any(|path| node.flag(path) == Some(true)) || node.says("GPU requires reset");
        asks.then(|| "Reset".to_owned())
    });
    let repairs = ["channel_repair_pending", "tpc_repair_pending", "unrepairable_memory"];
    let repairs = repairs.iter().filter_map(|name| Some((*name, node.flag(&format!("ecc_errors/{name}"))?)));
    let repairs: Vec<(&str, bool)> = repairs.collect();
    let pending = || repairs.iter().filter(|(_, is)| *is).map(|(name, _)| (*name).to_owned()).collect();
    // A GPU in instances counts its errors for each of them.
    let of_instances = || {
        let counts = node.each("mig_devices", "mig_device").filter_map(|instance| {
            instance.number("ecc_error_count/volatile_count/sram_uncorrectable", &bounds::COUNT)
        });
        counts.reduce(u64::saturating_add)
    };
    Gpu {
        bus: bus(node.value("pci/pci_bus_id").or(node.id.as_deref()).unwrap_or_default()),
        name: text("product_name").unwrap_or_default(),
        vbios: text("vbios_version"),
        memory_mib: node.number("fb_memory_usage/total", &bounds::MEMORY_MIB),
        persistence: node.flag("persistence_mode"),
        mig: node.flag("mig_mode/current_mig"),
        instances: (node.flag("mig_mode/current_mig") == Some(true))
            .then(|| node.each("mig_devices", "mig_device").take(bounds::INSTANCES).count() as u64),
        ecc: node.flag("ecc_mode/current_ecc"),
        ecc_pending: node.flag("ecc_mode/pending_ecc"),
        ecc_absent: node.at("ecc_mode/current_ecc").is_some_and(|mode| mode.text.trim() == "N/A"),
        uncorrected: counted("volatile", &uncorrectable).or_else(of_instances),
        sram_corrected: counted("volatile", &["sram_correctable"]),
        dram_corrected: counted("volatile", &["dram_correctable", "single_bit/device_memory"]),
        sram_exceeded: node.flag("ecc_errors/aggregate/sram_threshold_exceeded") == Some(true),
        repairs: (!repairs.is_empty()).then(pending),
        page_pending: node
            .flag("retired_pages/pending_retirement")
            .or_else(|| node.flag("retired_pages/pending_blacklist")),
        remapped: node.number("remapped_rows/remapped_row_unc", &bounds::COUNT),
        remap_pending: node.flag("remapped_rows/remapped_row_pending"),
        remap_failure: node.flag("remapped_rows/remapped_row_failure"),
        width: both(
            "pci/pci_gpu_link_info/link_widths/current_link_width",
            "pci/pci_gpu_link_info/link_widths/max_link_width",
            &bounds::LANES,
        ),
        passed_through: node.value("gpu_virtualization_mode/virtualization_mode") == Some("Pass-Through"),
        generation: both(
            "pci/pci_gpu_link_info/pcie_gen/current_link_gen",
            "pci/pci_gpu_link_info/pcie_gen/max_link_gen",
            &bounds::GENERATION,
        ),
        temperature: node.number("temperature/gpu_temp", &bounds::TEMPERATURE),
        throttle: throttle(node),
        power_limit: power("gpu_power_readings", "current_power_limit")
            .or_else(|| power("gpu_power_readings", "power_limit"))
            .or_else(|| power("power_readings", "power_limit")),
        fabric_state: text("fabric/state"),
        fabric_status: text("fabric/status"),
        fabric_troubles: fabric_troubles(node),
        lost: node.says(LOST),
        recovery,
        compute_mode: text("compute_mode"),
        replays: node.number("pci/replay_counter", &bounds::COUNT),
        processes: node.at("processes").map_or(0, |list| list.children.len() as u64),
        at_rest: reasons(node).any(|(reason, holds)| holds && reason == "gpu_idle"),
    }
}

/// The entries of `fabric/health` and what a healthy fabric says in each.
const FABRIC_HEALTH: &[(&str, &str)] = &[
    ("summary", "Healthy"),
    ("bandwidth", "Full"),
    ("route_recovery_in_progress", "False"),
    ("route_unhealthy", "False"),
    ("access_timeout_recovery", "False"),
    ("incorrect_configuration", "None"),
];

fn fabric_troubles(node: &Element) -> Option<Vec<String>> {
    let health = node.at("fabric/health")?;
    let told: Vec<_> = FABRIC_HEALTH
        .iter()
        .filter_map(|(name, healthy)| Some((*name, health.value(name)?, *healthy)))
        .collect();
    let wrong = told.iter().filter(|(_, seen, healthy)| seen != healthy);
    (!told.is_empty()).then(|| wrong.map(|(name, seen, _)| format!("{name} {seen}")).collect())
}

/// Lists the reasons that can hold its clocks down, each with whether it does.
fn reasons(node: &Element) -> impl Iterator<Item = (&str, bool)> {
    let lists = ["clocks_event_reasons", "clocks_throttle_reasons"];
    let reasons = lists.into_iter().filter_map(|name| node.at(name)).flat_map(|list| &list.children);
    reasons.filter_map(|reason| {
        let name = reason.name.as_str();
        let name = name.strip_prefix("clocks_event_reason_").unwrap_or(name);
        let name = name.strip_prefix("clocks_throttle_reason_").unwrap_or(name);
        match reason.text.trim() {
            "Active" => Some((name, true)),
            "Not Active" => Some((name, false)),
            _ => None,
        }
    })
}

fn throttle(node: &Element) -> Option<Vec<String>> {
    let holding = reasons(node).filter(|(name, holds)| *holds && *name != "gpu_idle");
    reasons(node).next().is_some().then(|| holding.map(|(name, _)| name.to_owned()).collect())
}

/// Reads `nvidia-smi nvlink -s`. Only a number is a link that is up.
///
/// # Errors
/// When it has neither GPUs nor links.
pub fn nvlink(text: &str) -> Result<BTreeMap<usize, Links>, String> {
    let mut gpus: BTreeMap<usize, Links> = BTreeMap::new();
    let mut open = None;
    for line in text.lines().map(str::trim) {
        let numbered = |word: &str| {
            let (number, value) = line.strip_prefix(word)?.split_once(':')?;
            Some((number.parse::<usize>().ok()?, value.trim()))
        };
        if let Some((number, _)) = numbered("GPU ") {
            open = (number < bounds::ACCELERATORS).then(|| gpus.entry(number).or_default());
        } else if let (Some(links), Some((number @ 0..MOST_LINKS, value))) = (&mut open, numbered("Link ")) {
            links.resize(links.len().max(number + 1), None);
            if let Some(link) = links.get_mut(number) {
                let rate = value.strip_suffix("GB/s");
                *link = rate.and_then(|number| bounds::number(number.trim(), &bounds::RATE));
            }
        }
    }
    if gpus.is_empty() { Err("it shows no GPU".to_owned()) } else { Ok(gpus) }
}

/// The relations, longest first where one begins another; `SOC` is what drivers before 390 called `SYS`.
const RELATIONS: [&str; 7] = ["NODE", "SYS", "SOC", "PHB", "PXB", "PIX", "X"];

/// One cell, or several that lost the tab between them (`PIXNODE`).
fn relations(cell: &str) -> Option<Vec<&str>> {
    let mut rest = cell.trim();
    let mut found = Vec::new();
    while !rest.is_empty() {
        let length = match rest.strip_prefix("NV") {
            Some(digits) => 2 + digits.len() - digits.trim_start_matches(|c: char| c.is_ascii_digit()).len(),
            None => RELATIONS.iter().find(|word| rest.starts_with(**word))?.len(),
        };
        let (word, left) = rest.split_at_checked(length)?;
        found.push(word);
        rest = left.trim_start();
    }
    Some(found)
}

/// Text without the escapes that a terminal would obey.
fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        if c != '\u{1b}' {
            out.push(c);
            continue;
        }
        for c in chars.by_ref() {
            if c.is_ascii_alphabetic() {
                break;
            }
        }
    }
    out
}

/// Reads `nvidia-smi topo -m`; columns after the matrix are left out, `NIC0` gets its name.
///
/// # Errors
/// When there is no matrix.
pub fn topology(text: &str) -> Result<Topology, String> {
    let text = plain(text);
    let mut lines = text.lines();
    let header = lines.find(|line| line.contains("GPU0")).ok_or("it has no line of columns")?;
    let columns: Vec<&str> =
        header.split('\t').map(str::trim).filter(|name| !name.is_empty() && !name.contains(' ')).collect();
    let legend: BTreeMap<&str, &str> = text
        .lines()
        .filter_map(|line| line.trim().strip_prefix("NIC")?.split_once(": "))
        .map(|(number, name)| (number, name.trim()))
        .collect();
    let name = |column: &str| {
        let known = column.strip_prefix("NIC").and_then(|number| legend.get(number));
        known.map_or_else(|| column.to_owned(), |name| (*name).to_owned())
    };
    let mut matrix = Topology::new();
    for line in lines {
        let mut cells = line.split('\t');
        let Some(row) = cells.next().map(str::trim).filter(|row| columns.contains(row)) else { continue };
        let values: Vec<&str> = cells.map_while(relations).flatten().take(columns.len()).collect();
        if values.len() < columns.len() {
            return Err(format!("the row of {row} has {} of {} cells", values.len(), columns.len()));
        }
        let relations = columns.iter().zip(values).map(|(column, value)| (name(column), value.to_owned()));
        matrix.insert(name(row), relations.collect());
    }
    if matrix.is_empty() { Err("it shows no row".to_owned()) } else { Ok(matrix) }
}

#[cfg(test)]
mod tests;
