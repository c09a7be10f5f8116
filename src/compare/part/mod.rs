//! The text of a look to entries: kind, key, value.

mod hardware;
mod network;
mod noise;
mod own;
mod settings;
mod software;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use super::kind::Kind;
use noise::is_noise;
use own::Own;

/// Most lines that are read of a host.
const LINES: usize = 100_000;
/// Most characters of a value that are kept.
const VALUE: usize = 400;
/// Status of `timeout` when it ended a program.
const OVERDUE: &str = "124";
/// Least time between two looks at counters for a rate, in seconds.
const SPAN: f64 = 0.5;

/// Behind the path of a file that names its host: the same without the name.
pub(super) const NAMELESS: &str = " without its own name";

/// One thing of a host.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Entry {
    pub kind: Kind,
    pub key: String,
    pub value: String,
}

/// A look at a host.
#[derive(Debug, Default)]
pub(super) struct Look {
    pub entries: Vec<Entry>,
    /// Kinds of which something may be missing, with the reason.
    pub unread: BTreeMap<Kind, String>,
    /// Kinds that were asked.
    pub asked: BTreeSet<Kind>,
}

/// Parts of a look with the kinds that they fill.
const PARTS: &[(&str, &[Kind])] = &[
    ("system", &[Kind::System]),
    ("packages", &[Kind::Package]),
    ("python", &[Kind::Python]),
    ("command_line", &[Kind::CommandLine]),
    ("processors", &[Kind::Processor]),
    ("memory", &[Kind::Memory]),
    ("modules", &[Kind::Module]),
    ("parameters", &[Kind::Parameter]),
    ("sysctl", &[Kind::Sysctl]),
    ("pci", &[Kind::Pci]),
    ("capabilities", &[Kind::Pci]),
    ("net", &[Kind::Link]),
    ("ethernet", &[Kind::Ethtool]),
    ("routes", &[Kind::Route]),
    ("queues", &[Kind::Queue]),
    ("rdma", &[Kind::Rdma]),
    ("disks", &[Kind::Disk, Kind::Space]),
    ("mounts", &[Kind::Mount]),
    ("limits", &[Kind::Limit]),
    ("services", &[Kind::Unit]),
    ("accounts", &[Kind::Account]),
    ("processes", &[Kind::Process]),
    ("processes_later", &[Kind::Process]),
    ("firewall", &[Kind::Firewall]),
    ("etc", &[Kind::File]),
    ("installed", &[Kind::Local, Kind::Library]),
    ("surroundings", &[Kind::Environment]),
    ("kernel_log", &[Kind::KernelLog]),
    ("gpus", &[Kind::Gpu]),
    ("gpu_links", &[Kind::Gpu]),
    ("dkms_state", &[Kind::Dkms]),
    ("secure_boot", &[Kind::System]),
    ("ofed", &[Kind::System]),
    ("later", &[Kind::Counter]),
];

/// Reads what a host printed.
///
/// # Errors
/// When its end is missing.
pub(super) fn read(text: &str) -> Result<Look, String> {
    let mut parts: Vec<(&str, Vec<&str>)> = Vec::new();
    let mut look = Look::default();
    let mut is_whole = false;
    for line in text.lines().take(LINES) {
        if let Some(name) = line.strip_prefix("=== ") {
            is_whole = name == "end";
            parts.push((name, Vec::new()));
            for kind in kinds(name) {
                look.asked.insert(*kind);
            }
        } else if let (Some((_, lines)), Some(line)) = (parts.last_mut(), line.strip_prefix('|')) {
            lines.push(line);
        }
    }
    for (name, lines) in &mut parts {
        // What a host prints inside of a part stands before its last line.
        let Some(status) = lines.last().and_then(|line| line.strip_prefix('!')) else { continue };
        let reason = if status == OVERDUE { "it took too long" } else { "it cannot be read whole" };
        for kind in kinds(name) {
            look.unread.insert(*kind, reason.to_owned());
        }
        lines.pop();
    }
    if !is_whole {
        let last = text.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("it printed nothing");
        return Err(format!("it did not come to its end: {last}"));
    }
    let own = Own::of(&parts);
    let mut found = Found { own: &own, entries: Vec::new() };
    let times: Vec<f64> = lines_of(&parts, "began").iter().filter_map(|up| up.trim().parse().ok()).collect();
    let span = times.last().zip(times.first()).map(|(last, first)| last - first);
    for (name, lines) in &parts {
        found.part(name, lines);
    }
    found.counters(&lines_of(&parts, "counters"), &lines_of(&parts, "later"), span);
    found.processes(&lines_of(&parts, "processes"), &lines_of(&parts, "processes_later"));
    look.entries = found.entries;
    Ok(look)
}

fn kinds(part: &str) -> &'static [Kind] {
    PARTS.iter().find(|(name, _)| *name == part).map_or(&[], |(_, kinds)| kinds)
}

fn lines_of<'t>(parts: &[(&str, Vec<&'t str>)], name: &str) -> Vec<&'t str> {
    parts.iter().filter(|(other, _)| *other == name).flat_map(|(_, lines)| lines.iter().copied()).collect()
}

struct Found<'o> {
    own: &'o Own,
    entries: Vec<Entry>,
}

impl Found<'_> {
    fn put(&mut self, kind: Kind, key: &str, value: &str) {
        let key = self.own.out_of(key.trim());
        if key.is_empty() || is_noise(kind, &key) {
            return;
        }
        let value = self.own.out_of(value.trim());
        let value = match value.char_indices().nth(VALUE) {
            Some((end, _)) => value.get(..end).unwrap_or_default().to_owned(),
            None => value.into_owned(),
        };
        self.entries.push(Entry { kind, key: key.into_owned(), value });
    }

    /// Puts values of which there are several of the same key as one, with how often each is there.
    fn put_counted(&mut self, kind: Kind, counted: &BTreeMap<String, BTreeMap<&str, usize>>) {
        for (key, values) in counted {
            let text = match values.iter().next() {
                Some((value, _)) if values.len() == 1 => (*value).to_owned(),
                _ => values
                    .iter()
                    .map(|(value, times)| format!("{value} \u{d7}{times}"))
                    .collect::<Vec<_>>()
                    .join(", "),
            };
            self.put(kind, key, &text);
        }
    }

    /// Puts the lines of each key as one value.
    fn put_joined(&mut self, kind: Kind, joined: BTreeMap<String, Vec<&str>>) {
        for (key, values) in joined {
            self.put(kind, &key, &values.join("; "));
        }
    }

    fn part(&mut self, name: &str, lines: &[&str]) {
        match name {
            "system" => self.files(Kind::System, lines, |path| {
                Some(path.rsplit("/sys/class/dmi/id/").next()?.trim_start_matches("/sys/").to_owned())
            }),
            "secure_boot" => self.whole(Kind::System, "Secure Boot", lines),
            "ofed" => self.whole(Kind::System, "OFED", lines),
            "packages" => self.packages(lines),
            "python" => self.python(lines),
            "command_line" => self.command_line(lines),
            "processors" => self.processors(lines),
            "memory" => self.files(Kind::Memory, lines, |path| {
                let path =
                    path.trim_start_matches("/sys/kernel/mm/").trim_start_matches("/sys/devices/system/");
                (!path.contains("/stats/")).then(|| path.to_owned())
            }),
            "modules" => self.modules(lines),
            "parameters" => self.files(Kind::Parameter, lines, |path| {
                let (module, parameter) = path.strip_prefix("/sys/module/")?.split_once("/parameters/")?;
                // It counts what it does there.
                (module != "page_reporting").then(|| format!("{module}.{parameter}"))
            }),
            "sysctl" => self
                .files(Kind::Sysctl, lines, |path| Some(path.strip_prefix("/proc/sys/")?.replace('/', "."))),
            "pci" => self.pci(lines),
            "capabilities" => self.capabilities(lines),
            "net" => self.links(lines),
            "ethernet" => self.ethtool(lines),
            "routes" => self.routes(lines),
            "queues" => self.queues(lines),
            "rdma" => self.rdma(lines),
            "disks" => self.disks(lines),
            "mounts" => self.mounts(lines),
            "limits" => self.limits(lines),
            "services" => self.units(lines),
            "accounts" => self.accounts(lines),
            "firewall" => self.firewall(lines),
            "etc" => self.etc(lines),
            "installed" => self.installed(lines),
            "surroundings" => self.surroundings(lines),
            "kernel_log" => self.kernel_log(lines),
            "gpus" => self.gpus(lines),
            "gpu_links" => self.gpu_links(lines),
            "dkms_state" => {
                for line in lines {
                    if let Some((module, state)) = line.rsplit_once(':') {
                        self.put(Kind::Dkms, module, state);
                    }
                }
            }
            _ => {}
        }
    }

    fn whole(&mut self, kind: Kind, key: &str, lines: &[&str]) {
        self.put(kind, key, &lines.join("; "));
    }

    /// Lines `PATH:VALUE`.
    fn files(&mut self, kind: Kind, lines: &[&str], key: impl Fn(&str) -> Option<String>) {
        let mut joined: BTreeMap<String, Vec<&str>> = BTreeMap::new();
        for line in lines {
            if let Some((path, value)) = line.split_once(':')
                && let Some(key) = key(path)
            {
                joined.entry(key).or_default().push(value);
            }
        }
        self.put_joined(kind, joined);
    }
}
