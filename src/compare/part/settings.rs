//! Mounts, limits, units, accounts, processes and files.

use std::collections::{BTreeMap, BTreeSet};

use super::super::kind::Kind;
use super::{Found, NAMELESS};

impl Found<'_> {
    pub(super) fn mounts(&mut self, lines: &[&str]) {
        const PSEUDO: &[&str] = &[
            "proc",
            "sysfs",
            "devpts",
            "cgroup",
            "mqueue",
            "securityfs",
            "pstore",
            "bpf",
            "nsfs",
            "autofs",
            "fusectl",
            "squashfs",
        ];
        let mut joined: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for line in lines {
            if let Some(rest) = line.strip_prefix("/proc/mounts:") {
                let fields: Vec<&str> = rest.split(' ').collect();
                if let [source, place, kind, options, ..] = fields.as_slice()
                    && !PSEUDO.contains(kind)
                    && !is_of_a_container(place)
                    && !place.starts_with("/run/user/")
                    && !place.starts_with("/run/credentials/")
                {
                    // A memory's size differs with it by a few pages.
                    let options: Vec<&str> = options
                        .split(',')
                        .filter(|option| {
                            ![
                                "size=",
                                "nr_inodes=",
                                "addr=",
                                "clientaddr=",
                                "lowerdir=",
                                "upperdir=",
                                "workdir=",
                            ]
                            .iter()
                            .any(|own| option.starts_with(own))
                        })
                        .collect();
                    let source = if *kind == "overlay" { "overlay" } else { source };
                    joined
                        .entry((*place).to_owned())
                        .or_default()
                        .push(format!("{source} {kind} {}", options.join(",")));
                }
            } else if let Some(rest) = line.strip_prefix("/proc/swaps:") {
                let fields: Vec<&str> = rest.split_whitespace().collect();
                if let [place, kind, _, _, priority] = fields.as_slice()
                    && place.starts_with('/')
                {
                    joined.entry(format!("swap {place}")).or_default().push(format!("{kind} {priority}"));
                }
            }
        }
        for (place, ways) in joined {
            self.put(Kind::Mount, &place, &ways.join("; "));
        }
    }

    pub(super) fn limits(&mut self, lines: &[&str]) {
        for line in lines {
            if let Some(rest) = line.strip_prefix("session ") {
                if let (Some(name), Some(limits)) = (rest.get(..26), rest.get(26..))
                    && name.starts_with("Max ")
                {
                    let limits: Vec<&str> = limits.split_whitespace().take(2).collect();
                    self.put(Kind::Limit, &format!("session {}", name.trim()), &limits.join(" "));
                }
            } else if let Some((name, value)) = line.split_once('=') {
                self.put(Kind::Limit, &format!("services {name}"), value);
            }
        }
    }

    pub(super) fn units(&mut self, lines: &[&str]) {
        for line in lines {
            let fields: Vec<&str> = line.split_whitespace().collect();
            match fields.as_slice() {
                ["file", name, state, ..] => self.put(Kind::Unit, &format!("{name} enabled"), state),
                ["unit", name, load, active, sub, ..] if *load != "not-found" => {
                    self.put(Kind::Unit, name, &format!("{active} {sub}"));
                }
                _ => {}
            }
        }
    }

    pub(super) fn accounts(&mut self, lines: &[&str]) {
        for line in lines {
            let mut words = line.splitn(2, ' ');
            if let (Some(what), Some((name, rest))) =
                (words.next(), words.next().and_then(|rest| rest.split_once(':')))
            {
                let what = if what == "group" { "group" } else { "user" };
                self.put(Kind::Account, &format!("{what} {name}"), rest);
            }
        }
    }

    /// Processes that ran at both moments: one that is seen once, such as a program of the look itself, says nothing
    /// of the host.
    pub(super) fn processes(&mut self, before: &[&str], after: &[&str]) {
        let lasted: BTreeSet<(u32, String)> = processes(after).collect();
        let names: BTreeSet<String> =
            processes(before).filter(|one| lasted.contains(one)).map(|one| one.1).collect();
        for name in names {
            self.put(Kind::Process, &name, "runs");
        }
    }

    pub(super) fn etc(&mut self, lines: &[&str]) {
        let mut sums: BTreeMap<&str, &str> = BTreeMap::new();
        for line in lines {
            let mut words = line.splitn(3, ' ');
            let what = words.next();
            let (Some(sum), Some(path)) = (words.next(), words.next()) else { continue };
            let (sum, path) = (sum.get(..12).unwrap_or(sum), path.trim_start());
            match what {
                Some("sha" | "salted") => {
                    sums.insert(path, sum);
                }
                Some("named") => self.put(Kind::File, &format!("{path}{NAMELESS}"), sum),
                _ => {}
            }
        }
        for line in lines {
            let Some(listed) = line.strip_prefix("ls ").and_then(|line| Listed::read(line, "/etc")) else {
                continue;
            };
            let content = match (listed.target, sums.get(listed.path)) {
                (Some(target), _) => format!("-> {target}"),
                (None, Some(sum)) => format!("content {sum}"),
                (None, None) => String::new(),
            };
            self.put(Kind::File, listed.path, &format!("{} {} {content}", listed.mode, listed.owner));
        }
    }

    pub(super) fn installed(&mut self, lines: &[&str]) {
        for line in lines {
            if let Some(rest) = line.strip_prefix("library ") {
                if let Some((name, path)) = rest.split_once(':') {
                    self.put(Kind::Library, name, path);
                }
                continue;
            }
            let Some(listed) = ["/usr/local", "/opt", "/lib/modules", "/boot"]
                .iter()
                .find_map(|root| Listed::read(line, root))
            else {
                continue;
            };
            let content = match listed.target {
                Some(target) => format!("-> {target}"),
                None if listed.mode.starts_with('d') => String::new(),
                None => format!("{} bytes", listed.size),
            };
            self.put(Kind::Local, listed.path, &format!("{} {} {content}", listed.mode, listed.owner));
        }
    }
}

/// A line of `ls -ldn`.
struct Listed<'t> {
    mode: &'t str,
    owner: String,
    size: &'t str,
    path: &'t str,
    target: Option<&'t str>,
}

impl<'t> Listed<'t> {
    fn read(line: &'t str, root: &str) -> Option<Self> {
        let at = line.find(&format!(" {root}"))?;
        let (fields, path) = (line.get(..at)?, line.get(at + 1..)?);
        let fields: Vec<&str> = fields.split_whitespace().collect();
        let [mode, _, user, group, size, ..] = fields.as_slice() else { return None };
        let (path, target) = match path.split_once(" -> ") {
            Some((path, target)) if mode.starts_with('l') => (path, Some(target)),
            _ => (path, None),
        };
        // A mark behind the mode tells of other rules than the nine letters have.
        Some(Self { mode, owner: format!("{user}:{group}"), size, path, target })
    }
}

/// Whether a file system is that of a container.
pub(super) fn is_of_a_container(place: &str) -> bool {
    [
        "/var/lib/docker/",
        "/var/lib/containers/",
        "/run/containerd/",
        "/var/lib/kubelet/",
        "/run/docker/",
        "/snap/",
    ]
    .iter()
    .any(|prefix| place.starts_with(prefix))
}

/// The processes of lines `PID PARENT USER NAME`, as number and `NAME of USER`, without the kernel's threads, which
/// come and go.
fn processes<'a>(lines: &'a [&str]) -> impl Iterator<Item = (u32, String)> + 'a {
    lines.iter().filter_map(|line| {
        let mut words = line.split_whitespace();
        let id = words.next()?.parse().ok()?;
        let (parent, user) = (words.next()?, words.next()?);
        let name = words.collect::<Vec<_>>().join(" ");
        (parent != "2" && name != "kthreadd" && !name.is_empty()).then(|| (id, format!("{name} of {user}")))
    })
}
