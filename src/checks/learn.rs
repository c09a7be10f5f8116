//! Expectations taken from a host that is as it should be. Each one holds there: what its own checks find fault with is
//! left out, with the reason.

use std::fmt::Display;

use serde::Serialize;
use serde_json::{Value as Json, json};

use super::network::classes;
use super::shared::subject::Subject;
use super::shared::verdict::Verdict;
use super::{Check, TABLE};
use crate::facts::base::memory::Memory;
use crate::facts::nvidia::Gpu;
use crate::inventory::Expect;

/// Expectations as a host fulfils them.
#[derive(Debug, Clone, Default)]
pub struct Learned {
    /// Values by section and key: `gpu.count`.
    pub values: Vec<(&'static str, Json)>,
    /// Keys or sections for which no value was taken, with the reason.
    pub left_out: Vec<(&'static str, String)>,
    /// The sections as the inventory has them. A section replaces that of a group, so its other keys stand in it as well.
    declared: serde_json::Map<String, Json>,
}

/// A value that was seen, or why there is none to take; `None` where the host has nothing of the kind.
type Seen = Option<Result<Json, String>>;

/// The expectations that a host is like. What a check finds fault with, with the value or without any, is left out: a
/// fault must not become what is expected of others.
pub fn learn(subject: &Subject<'_>) -> Learned {
    let mut learned = Learned { declared: declared(&subject.host.expect), ..Learned::default() };
    for (key, seen) in seen(subject) {
        match seen {
            None => {}
            Some(Err(reason)) => learned.left_out.push((key, reason)),
            Some(Ok(value)) => {
                if let Some(reason) = objection(subject, key, value, &mut learned) {
                    learned.left_out.push((key, reason));
                }
            }
        }
    }
    learned
}

/// The sections that the inventory has.
fn declared(expect: &Expect) -> serde_json::Map<String, Json> {
    let Ok(Json::Object(sections)) = serde_json::to_value(expect) else { return serde_json::Map::new() };
    let said = |(name, section): (String, Json)| {
        let Json::Object(mut section) = section else { return None };
        section.retain(|_, value| !value.is_null());
        Some((name, Json::Object(section)))
    };
    sections.into_iter().filter_map(said).collect()
}

impl Learned {
    /// The values below their sections.
    pub fn to_json(&self) -> Json {
        let mut all = serde_json::Map::new();
        for (key, value) in &self.values {
            let Some((name, key)) = key.split_once('.') else { continue };
            let own = || self.declared.get(name).cloned().unwrap_or_else(|| json!({}));
            if let Some(section) = all.entry(name).or_insert_with(own).as_object_mut() {
                section.insert(key.to_owned(), value.clone());
            }
        }
        Json::Object(all)
    }
}

/// Takes a value, unless a check that reads its key has a finding: with it, or with nothing in its place.
fn objection(subject: &Subject<'_>, key: &'static str, value: Json, learned: &mut Learned) -> Option<String> {
    let without = finding(subject, key, &without(learned, key));
    if without.is_some() {
        return without;
    }
    learned.values.push((key, value));
    let with = finding(subject, key, &learned.to_json());
    if with.is_some() {
        learned.values.pop();
    }
    with
}

/// All that was learned so far, and nothing of the key.
fn without(learned: &Learned, key: &str) -> Json {
    let mut all = learned.to_json();
    if let Some((section, name)) = key.split_once('.')
        && let Some(section) = all.get_mut(section).and_then(Json::as_object_mut)
    {
        section.remove(name);
    }
    all
}

/// The first finding of a check that reads the key, were this expected.
fn finding(subject: &Subject<'_>, key: &str, expect: &Json) -> Option<String> {
    let expect: Expect = match serde_json::from_value(expect.clone()) {
        Ok(expect) => expect,
        Err(error) => return Some(error.to_string()),
    };
    let expecting = subject.expecting(expect);
    let mut readers = TABLE.iter().filter(|check| check.keys().contains(&key));
    readers.find_map(|check| against(check, &expecting))
}

fn against(check: &Check, subject: &Subject<'_>) -> Option<String> {
    let (Ok(verdict) | Err(verdict)) = (check.run)(subject);
    match verdict {
        Verdict::Pass(_) | Verdict::Skip(_) => None,
        Verdict::Unknown { message, .. } | Verdict::Finding { message, .. } => {
            Some(format!("{}: {message}", check.id))
        }
    }
}

/// The reason why nothing of a section is known; nothing where the host has none of it.
fn unknown(section: &'static str, verdict: Verdict) -> Vec<(&'static str, Seen)> {
    match verdict {
        Verdict::Pass(_) | Verdict::Skip(_) => Vec::new(),
        Verdict::Unknown { message, .. } | Verdict::Finding { message, .. } => {
            vec![(section, Some(Err(message)))]
        }
    }
}

/// The value that all have; the reason where they differ, or where one does not tell; `None` where none tells.
fn alike<T: PartialEq + Serialize + Display>(values: &[(&str, Option<T>)]) -> Seen {
    let (one, first) = values.iter().find_map(|(name, value)| Some((*name, value.as_ref()?)))?;
    for (name, value) in values {
        match value {
            None => return Some(Err(format!("{name} does not tell"))),
            Some(other) if other != first => {
                return Some(Err(format!("{one} has {first}, {name} {other}")));
            }
            Some(_) => {}
        }
    }
    serde_json::to_value(first).ok().map(Ok)
}

/// The only value there is; the reason where there are several.
fn only<T: Serialize + Display>(mut values: impl Iterator<Item = T>, several: &str) -> Seen {
    let first = values.next()?;
    match values.next() {
        Some(other) => Some(Err(format!("{several}: {first}, {other}"))),
        None => serde_json::to_value(first).ok().map(Ok),
    }
}

/// All that can be expected and was seen, in the order of the sections.
fn seen(subject: &Subject<'_>) -> Vec<(&'static str, Seen)> {
    let mut all = gpus(subject);
    all.extend(driver(subject));
    all.extend(rdma(subject));
    all.extend(network(subject));
    all.extend(system(subject));
    all.extend(software(subject));
    all
}

/// The value that all GPUs have.
fn of_gpus<T: PartialEq + Serialize + Display>(
    gpus: &[(String, &Gpu)],
    value: impl Fn(&Gpu) -> Option<T>,
) -> Seen {
    let values: Vec<(&str, Option<T>)> = gpus.iter().map(|(name, gpu)| (name.as_str(), value(gpu))).collect();
    alike(&values)
}

fn gpus(subject: &Subject<'_>) -> Vec<(&'static str, Seen)> {
    let gpus = match subject.gpus() {
        Ok(gpus) => gpus,
        Err(verdict) => return unknown("gpu", verdict),
    };
    // Fewer lanes than the GPU can use are of the slot, and of nothing else on a good host.
    let narrow = |gpu: &Gpu| gpu.width.filter(|(now, most)| now < most).map(|(now, _)| now);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "watts of a board")]
    let watts = |gpu: &Gpu| gpu.power_limit.map(|(now, _)| now.round() as u32);
    let links = subject.nvidia().ok().and_then(|nvidia| nvidia.links.as_ref().ok());
    let active = |index: usize| {
        let links = links?.get(&index)?;
        Some(links.iter().flatten().count()).filter(|active| *active > 0)
    };
    let active: Vec<(&str, Option<usize>)> =
        gpus.iter().enumerate().map(|(index, (name, _))| (name.as_str(), active(index))).collect();
    vec![
        ("gpu.count", Some(Ok(json!(gpus.len())))),
        ("gpu.model", of_gpus(&gpus, |gpu| Some(gpu.name.clone()))),
        ("gpu.memory_mib", of_gpus(&gpus, |gpu| gpu.memory_mib)),
        ("gpu.ecc", of_gpus(&gpus, |gpu| gpu.ecc)),
        ("gpu.mig", of_gpus(&gpus, |gpu| gpu.mig)),
        ("gpu.persistence", of_gpus(&gpus, |gpu| gpu.persistence)),
        ("gpu.power_limit", of_gpus(&gpus, watts)),
        ("gpu.nvlinks", alike(&active)),
        ("gpu.pcie_width", of_gpus(&gpus, narrow)),
    ]
}

fn driver(subject: &Subject<'_>) -> Vec<(&'static str, Seen)> {
    let loaded = match subject.has_gpus().and_then(|()| subject.loaded()) {
        Ok(Some(loaded)) => loaded,
        Ok(None) => return vec![("driver", Some(Err("the module is not loaded".to_owned())))],
        Err(verdict) => return unknown("driver", verdict),
    };
    let smi = subject.smi().ok();
    vec![
        ("driver.version", Some(Ok(json!(loaded.version)))),
        ("driver.open", loaded.open.map(|open| Ok(json!(open)))),
        ("driver.cuda", smi.and_then(|smi| smi.cuda.as_ref()).map(|cuda| Ok(json!(cuda)))),
    ]
}

fn rdma(subject: &Subject<'_>) -> Vec<(&'static str, Seen)> {
    let devices = match subject.devices() {
        Ok(devices) => devices,
        Err(verdict) => return unknown("rdma", verdict),
    };
    let names: Vec<&str> = devices.iter().map(|device| device.name.as_str()).collect();
    let ports = || devices.iter().flat_map(|device| device.ports.iter().map(move |port| (*device, port)));
    let up = || ports().filter(|(device, port)| port.state == "ACTIVE" && !device.pci.is_empty());
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "Gb/s of a port")]
    let rates: Vec<(&str, Option<u32>)> =
        up().map(|(device, port)| (device.name.as_str(), port.rate_gbps.map(|rate| rate as u32))).collect();
    let layers: Vec<(&str, Option<&str>)> = ports()
        .map(|(device, port)| {
            (device.name.as_str(), Some(port.link_layer.as_str()).filter(|layer| !layer.is_empty()))
        })
        .collect();
    let verbs = subject.fabric().ok().and_then(|fabric| fabric.verbs.as_ref().ok());
    let mtus: Vec<(&str, Option<u32>)> = up()
        .map(|(device, port)| {
            let verbs = verbs.and_then(|all| all.iter().find(|verbs| verbs.name == device.name));
            let mtu = verbs.and_then(|verbs| verbs.active_mtu.get(&port.number)).copied();
            (device.name.as_str(), mtu)
        })
        .collect();
    let firmware: Vec<(&str, Option<&str>)> = devices
        .iter()
        .filter(|device| !device.pci.is_empty())
        .map(|device| {
            (device.name.as_str(), Some(device.firmware.as_str()).filter(|version| !version.is_empty()))
        })
        .collect();
    vec![
        ("rdma.count", Some(Ok(json!(devices.len())))),
        ("rdma.devices", Some(Ok(json!(names)))),
        ("rdma.link_layer", alike(&layers)),
        ("rdma.rate_gbps", alike(&rates)),
        ("rdma.active_mtu", alike(&mtus)),
        ("rdma.firmware", alike(&firmware)),
    ]
}

fn network(subject: &Subject<'_>) -> Vec<(&'static str, Seen)> {
    let classes = match classes(subject) {
        Ok(classes) => classes,
        Err(verdict) => return unknown("network", verdict),
    };
    let mtus: Vec<(&str, Option<u32>)> = classes.keys().map(|net| (net.as_str(), subject.mtu(net))).collect();
    let told = |net: &str| classes.get(net).and_then(|class| class.as_ref().ok());
    let trust: Vec<(&str, Option<String>)> =
        classes.keys().map(|net| (net.as_str(), told(net).and_then(|class| class.trust.clone()))).collect();
    let lists: Vec<Option<&Vec<u32>>> = classes.keys().map(|net| told(net).map(|class| &class.pfc)).collect();
    let pfc = match lists.as_slice() {
        [Some(first), rest @ ..] if rest.iter().all(|other| *other == Some(*first)) => Some(Ok(json!(first))),
        [Some(_), rest @ ..] if rest.iter().all(Option::is_some) => Some(Err("the cards differ".to_owned())),
        _ => None,
    };
    vec![("network.mtu", alike(&mtus)), ("network.pfc", pfc), ("network.trust", alike(&trust))]
}

fn system(subject: &Subject<'_>) -> Vec<(&'static str, Seen)> {
    let mut all = Vec::new();
    match subject.login() {
        Ok(login) => {
            all.push(("system.memlock", Some(Ok(json!(login.memlock)))));
            let nofile = login.nofile.parse::<u64>().ok();
            all.push(("system.nofile", nofile.map(|number| Ok(json!(number)))));
        }
        Err(verdict) => all.extend(unknown("system.memlock", verdict)),
    }
    if subject.has_own_kernel().is_err() {
        return all;
    }
    if let Some(memory) = subject.base::<Memory>() {
        all.push(("system.hugepages", Some(Ok(json!(memory.hugepages.total)))));
        // Swap that is there is no demand for swap.
        all.push(("system.swap", (memory.swap_mib == 0).then(|| Ok(json!(false)))));
    }
    if let Some(files) = subject.system().ok().and_then(|system| system.files.as_ref().ok()) {
        all.push(("system.governor", only(files.governors.keys(), "CPUs have several")));
    }
    all.push(("system.kernel", subject.kernel().ok().map(|release| Ok(json!(release)))));
    all
}

fn software(subject: &Subject<'_>) -> Vec<(&'static str, Seen)> {
    let software = match subject.software() {
        Ok(software) => software,
        Err(gap) => return unknown("software", Verdict::gap(&gap, None)),
    };
    let mut all = Vec::new();
    if let Ok(files) = &software.files {
        // The prefix comes first: a version alone may be that of any prefix.
        all.push(("software.nccl_prefix", only(files.nccl.keys(), "there are several")));
        all.push(("software.nccl", only(files.nccl.values(), "there are several")));
    }
    let openmpi =
        || software.openmpi.iter().filter_map(|(prefix, version)| Some((prefix, version.as_ref().ok()?)));
    all.push(("software.openmpi_prefix", only(openmpi().map(|(prefix, _)| prefix), "there are several")));
    all.push(("software.openmpi", only(openmpi().map(|(_, version)| version), "there are several")));
    let directories = software.tests.keys().filter_map(|program| program.strip_suffix("/all_reduce_perf"));
    all.push(("software.nccl_tests", only(directories, "there are several")));
    all
}
