//! Hosts and groups as Ansible has them, and which variable of a host wins.

use std::collections::BTreeSet;

use indexmap::{IndexMap, IndexSet};

use crate::config::Span;
use crate::hostlist::{self, MAX_BRACKETS, MAX_HOSTS, MAX_NAME, MAX_NAMED};

/// A variable and where it is set.
#[derive(Debug, Clone)]
pub(super) struct Var {
    /// Its text; `None` for lists and maps.
    pub(super) text: Option<String>,
    pub(super) span: Span,
}

pub(super) type Vars = IndexMap<String, Var>;

/// Variables of a host or a group: those beside its name, and those of its files, which are stronger.
#[derive(Debug, Default)]
pub(super) struct Layers {
    pub(super) inline: Vars,
    pub(super) files: Vars,
}

impl Layers {
    /// All of them, the strongest of a name first.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&str, &Var)> {
        self.files.iter().chain(&self.inline).map(|(key, var)| (key.as_str(), var))
    }

    pub(super) fn get(&self, key: &str) -> Option<&Var> {
        self.files.get(key).or_else(|| self.inline.get(key))
    }
}

#[derive(Debug, Default)]
pub(super) struct Group {
    /// Place where it is named first.
    pub(super) span: Option<Span>,
    pub(super) hosts: IndexSet<String>,
    pub(super) children: IndexSet<String>,
    pub(super) vars: Layers,
}

/// Hosts and groups as Ansible has them.
#[derive(Debug, Default)]
pub(super) struct Model {
    /// Number of names that its patterns made, each counted as often as it was named.
    named: usize,
    pub(super) hosts: IndexMap<String, Layers>,
    pub(super) groups: IndexMap<String, Group>,
}

/// The groups of each host, the weakest first, and the hosts of each group.
#[derive(Debug)]
pub(super) struct Related {
    pub(super) groups_of: Vec<Vec<usize>>,
    pub(super) hosts_of: Vec<BTreeSet<usize>>,
}

impl Model {
    pub(super) fn group(&mut self, name: &str) -> &mut Group {
        self.groups.entry(name.to_owned()).or_default()
    }

    /// Adds the hosts of a pattern such as `gpu[0:3]:2222` to a group.
    pub(super) fn host(
        &mut self,
        group: &str,
        pattern: &str,
        span: Span,
        mut vars: Vars,
    ) -> Result<(), String> {
        // `host:2222` is a port; an IPv6 address has several colons.
        let pattern = match pattern.rsplit_once(':') {
            Some((name, port))
                if port.parse::<u16>().is_ok() && (!name.contains(':') || name.ends_with(']')) =>
            {
                let of_its_own = Var { text: Some(port.to_owned()), span };
                vars.entry("ansible_port".to_owned()).or_insert(of_its_own);
                name
            }
            _ => pattern,
        };
        let address = pattern.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
        let address = address.filter(|address| address.parse::<std::net::Ipv6Addr>().is_ok());
        for name in self.expand(address.unwrap_or(pattern))? {
            self.hosts.entry(name.clone()).or_default().inline.extend(vars.clone());
            self.group(group).hosts.insert(name);
        }
        Ok(())
    }

    /// Names of a pattern, as long as all patterns together do not make too many.
    fn expand(&mut self, pattern: &str) -> Result<Vec<String>, String> {
        let names = if self.named < MAX_NAMED { expand(pattern)? } else { Vec::new() };
        self.named += names.len();
        if self.hosts.len() > MAX_HOSTS || self.named >= MAX_NAMED {
            return Err(hostlist::too_many());
        }
        Ok(names)
    }

    /// Relates hosts and groups, through children as well. `all` is left out, and `ungrouped` has those that
    /// no other group has.
    ///
    /// # Errors
    /// Groups in a circle; far too many memberships.
    pub(super) fn relate(&self) -> Result<Related, String> {
        let index = |name: &String| self.groups.get_index_of(name);
        let all = self.groups.get_index_of("all");
        let ungrouped = self.groups.get_index_of("ungrouped");
        let count = self.groups.len();
        let mut parents = vec![0_usize; count];
        let children: Vec<Vec<usize>> =
            self.groups
                .iter()
                .map(|(name, group)| {
                    if name == "all" { Vec::new() } else { group.children.iter().filter_map(index).collect() }
                })
                .collect();
        for child in children.iter().flatten() {
            parents.get_mut(*child).into_iter().for_each(|parents| *parents += 1);
        }
        // From the top down, with the longest way to each.
        let mut depth = vec![1_usize; count];
        let mut order: Vec<usize> = (0..count).filter(|at| parents.get(*at) == Some(&0)).collect();
        let mut next = 0;
        while let Some(at) = order.get(next).copied() {
            next += 1;
            let below = depth.get(at).map_or(2, |depth| depth + 1);
            for child in children.get(at).into_iter().flatten().copied() {
                depth.get_mut(child).into_iter().for_each(|depth| *depth = (*depth).max(below));
                if let Some(left) = parents.get_mut(child) {
                    *left -= 1;
                    if *left == 0 {
                        order.push(child);
                    }
                }
            }
        }
        if order.len() < count {
            let seen: BTreeSet<usize> = order.into_iter().collect();
            let names = self.groups.keys().enumerate().filter(|(at, _)| !seen.contains(at));
            let names: Vec<String> = names.take(4).map(|(_, name)| format!("`{name}`")).collect();
            return Err(format!("groups are below themselves: {}", names.join(", ")));
        }
        let mut hosts_of: Vec<BTreeSet<usize>> = vec![BTreeSet::new(); count];
        let mut named = 0;
        for at in order.into_iter().rev().filter(|at| Some(*at) != all && Some(*at) != ungrouped) {
            let own = self.groups.get_index(at).map(|(_, group)| &group.hosts);
            let mut hosts: BTreeSet<usize> =
                own.into_iter().flatten().filter_map(|host| self.hosts.get_index_of(host)).collect();
            for child in children.get(at).into_iter().flatten() {
                hosts.extend(hosts_of.get(*child).into_iter().flatten());
            }
            named += hosts.len();
            if named > MAX_NAMED {
                return Err(hostlist::too_many());
            }
            if let Some(place) = hosts_of.get_mut(at) {
                *place = hosts;
            }
        }
        let mut groups_of = vec![Vec::new(); self.hosts.len()];
        for (at, hosts) in hosts_of.iter().enumerate() {
            for host in hosts {
                groups_of.get_mut(*host).into_iter().for_each(|groups| groups.push(at));
            }
        }
        if let Some(ungrouped) = ungrouped {
            let free = groups_of.iter_mut().enumerate().filter(|(_, groups)| groups.is_empty());
            let free: BTreeSet<usize> = free.map(|(host, groups)| (groups.push(ungrouped), host).1).collect();
            hosts_of.get_mut(ungrouped).into_iter().for_each(|hosts| hosts.clone_from(&free));
        }
        let rank = |at: usize| {
            let (name, group) = self.groups.get_index(at).unzip();
            let said = group.and_then(|group| group.vars.inline.get("ansible_group_priority"));
            let priority = said.and_then(|var| var.text.as_deref()).and_then(|text| text.parse::<i64>().ok());
            (depth.get(at).copied().unwrap_or_default(), priority.unwrap_or(1), name)
        };
        for groups in &mut groups_of {
            groups.sort_by_cached_key(|at| rank(*at));
        }
        Ok(Related { groups_of, hosts_of })
    }

    /// Finds a variable of a host, as `ansible-inventory` does: the host's own is stronger than what its
    /// groups say, files are stronger than the inventory, even those of `all`.
    pub(super) fn find<'a>(&'a self, related: &Related, host: usize, key: &str) -> Option<&'a Var> {
        if let Some(var) = self.hosts.get_index(host).and_then(|(_, layers)| layers.get(key)) {
            return Some(var);
        }
        let groups = || {
            let of = related.groups_of.get(host).into_iter().flatten().rev();
            of.filter_map(|at| self.groups.get_index(*at)).map(|(_, group)| &group.vars)
        };
        let all = self.groups.get("all").map(|group| &group.vars);
        groups()
            .find_map(|vars| vars.files.get(key))
            .or_else(|| all?.files.get(key))
            .or_else(|| groups().find_map(|vars| vars.inline.get(key)))
            .or_else(|| all?.inline.get(key))
    }
}

/// Ansible's `node[01:50:2]` and `db-[a:f]` as names.
pub(super) fn expand(pattern: &str) -> Result<Vec<String>, String> {
    if !pattern.contains('[') && !hostlist::is_name(pattern) {
        return Err(format!(
            "`{pattern}` cannot be a name; give the host one: `node0 ansible_host={pattern}`"
        ));
    }
    // Each bracket may make many names, and each letter stands in all of them.
    let plain: usize = pattern.split('[').map(|part| part.rsplit(']').next().unwrap_or("").len()).sum();
    if plain > MAX_NAME || pattern.matches('[').count() > MAX_BRACKETS {
        return Err(format!("a host name has at most {MAX_NAME} characters and {MAX_BRACKETS} ranges"));
    }
    let mut names = vec![String::new()];
    let mut rest = pattern;
    while let Some((head, after)) = rest.split_once('[') {
        let (range, tail) = after.split_once(']').ok_or("the bracket is not closed")?;
        let middles = middles(range)?;
        if names.len() * middles.len() > MAX_HOSTS {
            return Err(format!("this names more than {MAX_HOSTS} hosts"));
        }
        names = names
            .iter()
            .flat_map(|name| middles.iter().map(move |middle| format!("{name}{head}{middle}")))
            .collect();
        rest = tail;
    }
    for name in &mut names {
        name.push_str(rest);
    }
    match names.iter().find(|name| !hostlist::is_name(name)) {
        Some(name) => Err(format!("`{name}` is not a host name")),
        None => Ok(names),
    }
}

/// Returns the texts that one bracket stands for.
fn middles(range: &str) -> Result<Vec<String>, String> {
    let bounds: Vec<&str> = range.split(':').collect();
    let (first, last, step) = match bounds.as_slice() {
        [first, last] => (*first, *last, "1"),
        [first, last, step] => (*first, *last, *step),
        _ => return Err(format!("`[{range}]` is not a range; Ansible writes `[0:15]`")),
    };
    let step: usize = step.parse().ok().filter(|step| *step > 0).ok_or("the step is not a number")?;
    let letter = |text: &str| match text.as_bytes() {
        [byte] if byte.is_ascii_alphabetic() => Some(*byte),
        _ => None,
    };
    let middles: Vec<String> = if let (Some(first), Some(last)) = (letter(first), letter(last)) {
        (first..=last).step_by(step).map(|byte| char::from(byte).to_string()).collect()
    } else {
        let number = |text: &str| {
            // More digits are no number of a host, however many zeros they begin with.
            let short = text.len() <= 18;
            text.parse::<usize>().ok().filter(|_| short).ok_or_else(|| format!("`{text}` is not a number"))
        };
        let (from, to) = (number(first)?, number(last)?);
        if to.saturating_sub(from) / step >= MAX_HOSTS {
            return Err(format!("this names more than {MAX_HOSTS} hosts"));
        }
        let width = if first.starts_with('0') { first.len() } else { 0 };
        (from..=to).step_by(step).map(|number| format!("{number:0width$}")).collect()
    };
    if middles.is_empty() { Err(format!("`[{range}]` is empty")) } else { Ok(middles) }
}
