//! Hosts and groups of Ansible as an inventory of ours.

use std::collections::{BTreeMap, BTreeSet};

use indexmap::IndexSet;

use super::losses::Losses;
use super::model::{Group, Layers, Model, Related};
use super::reach::{Alike, DEFAULTS, DIRECT, FIELDS, Reach, Reader, loss_of};
use super::text::quoted;
use crate::config::yaml::{in_quotes, is_odd};
use crate::hostlist;
use crate::put;

pub(super) fn comment(text: &mut String, indent: &str, lines: &[String]) {
    // A comment ends at whatever YAML takes for the end of a line.
    for line in lines {
        put!(text, "{indent}# {}\n", line.replace(is_odd, " "));
    }
}

/// Settings of all hosts and of groups, and for each host those that it is given by them.
struct Shared {
    all: Reach,
    groups: Vec<Reach>,
    given: Vec<Reach>,
}

impl Model {
    /// The inventory without its first lines; adds what it leaves out.
    pub(super) fn write(&self, related: &Related, losses: &mut Losses) -> (String, String) {
        let layers = self.groups.values().map(|group| &group.vars).chain(self.hosts.values());
        for (key, var) in layers.flat_map(Layers::iter) {
            if let Some(loss) = loss_of(key) {
                losses.add(var.span, loss);
            }
        }
        let reaches: Vec<Reach> = self
            .hosts
            .keys()
            .enumerate()
            .map(|(at, host)| {
                let get = |key: &str| self.find(related, at, key);
                Reader { get: &get, host: Some(host) }.reach(losses)
            })
            .collect();
        let shared = self.shared(related, &reaches);
        let mut head = String::new();
        for (field, value) in FIELDS.iter().zip(&shared.all.ssh) {
            if let Some(value) = value {
                put!(head, "  {field}: {value}\n");
            }
        }
        if shared.all.transport == Some("local") {
            head.push_str("transport: local\n");
        }
        let mut text = String::from("groups:\n");
        let names = self.names(losses);
        for (((name, group), reach), hosts) in self.groups.iter().zip(&shared.groups).zip(&related.hosts_of) {
            if let Some(ours) = names.get(name.as_str()) {
                write_group(&mut text, ours, group, reach, !hosts.is_empty(), &names);
            }
        }
        let named: IndexSet<&String> = self
            .groups
            .iter()
            .filter(|(name, _)| names.contains_key(name.as_str()))
            .flat_map(|(_, group)| &group.hosts)
            .collect();
        let rest: Vec<&str> =
            self.hosts.keys().filter(|host| !named.contains(host)).map(String::as_str).collect();
        if !rest.is_empty() {
            let taken: BTreeSet<&str> = names.values().map(String::as_str).collect();
            let name = self.free("nodes", &taken);
            let hosts = in_quotes(&hostlist::fold(rest));
            put!(text, "  {name}:    # those without a group\n    hosts: {hosts}\n");
        }
        self.write_hosts(&mut text, &reaches, &shared);
        (head, text)
    }

    /// Returns the settings that can be written for a group: its own, as long as they hold for all of its
    /// hosts, but for those that say something else themselves.
    fn shared(&self, related: &Related, reaches: &[Reach]) -> Shared {
        let mut quiet = Losses::default();
        let mut own = |layers: &Layers| {
            let get = |key: &str| layers.get(key);
            Reader { get: &get, host: None }.reach(&mut quiet)
        };
        let mut all = self.groups.get("all").map(|group| own(&group.vars)).unwrap_or_default();
        // What is not known of a host must not come from its group: that would be another login.
        for (at, value) in all.ssh.iter_mut().enumerate() {
            let says = |reach: &Reach| reach.ssh.get(at).is_some_and(Option::is_some);
            if !reaches.iter().all(says) || value.as_deref() == Some(DIRECT) {
                *value = None;
            }
        }
        let mut given = vec![Reach::default(); self.hosts.len()];
        let mut groups = Vec::with_capacity(self.groups.len());
        for ((name, group), hosts) in self.groups.iter().zip(&related.hosts_of) {
            let mut said = own(&group.vars);
            if ["all", "ungrouped"].contains(&name.as_str()) {
                said = Reach::default();
            }
            // It fits when no other group says something else to one of its hosts, and most have it in the
            // end. Those that have not say so themselves.
            let fits = |clear: &dyn Fn(&Reach) -> bool, has: &dyn Fn(&Reach) -> bool| {
                let all = || hosts.iter().filter_map(|host| reaches.get(*host).zip(given.get(*host)));
                all().all(|(_, given)| clear(given))
                    && all().filter(|(reach, _)| has(reach)).count() * 2 >= hosts.len()
            };
            let transport = said.transport;
            if !fits(&|given| given.transport.is_none() || given.transport == transport, &|reach| {
                reach.transport == transport
            }) {
                said.transport = None;
            }
            for (at, value) in said.ssh.iter_mut().enumerate() {
                let of = |reach: &Reach| reach.ssh.get(at).cloned().flatten();
                let clear = |given: &Reach| of(given).is_none() || of(given) == *value;
                let says = |host: &usize| reaches.get(*host).and_then(of).is_some();
                let given_one = |host: &usize| given.get(*host).and_then(of).or_else(|| of(&all)).is_some();
                if !fits(&clear, &|reach| of(reach) == *value)
                    || !hosts.iter().all(says)
                    || (value.as_deref() == Some(DIRECT) && !hosts.iter().any(given_one))
                {
                    *value = None;
                }
            }
            for host in hosts {
                let Some(given) = given.get_mut(*host) else { continue };
                given.transport = said.transport.or(given.transport);
                for (given, said) in given.ssh.iter_mut().zip(&said.ssh) {
                    *given = said.clone().or_else(|| given.take());
                }
            }
            groups.push(said);
        }
        Shared { all, groups, given }
    }

    /// Names of groups as they are here. Ansible allows more.
    fn names(&self, losses: &mut Losses) -> BTreeMap<&str, String> {
        let theirs = || self.groups.keys().filter(|name| !["all", "ungrouped"].contains(&name.as_str()));
        let fine = |name: &str| hostlist::is_name(name) && !self.hosts.contains_key(name);
        let mut names: BTreeMap<&str, String> =
            theirs().filter(|name| fine(name)).map(|name| (name.as_str(), name.clone())).collect();
        let mut taken: BTreeSet<String> = names.values().cloned().collect();
        for name in theirs().filter(|name| !fine(name)) {
            let plain = |c: char| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '_' };
            let mut ours: String = name.chars().take(200).map(plain).collect();
            if !hostlist::is_name(&ours) {
                ours.insert(0, 'g');
            }
            let refs: BTreeSet<&str> = taken.iter().map(String::as_str).collect();
            let ours = self.free(&ours, &refs);
            let why = if self.hosts.contains_key(name) { "a host has the same name" } else { "no name here" };
            let span =
                self.groups.get(name).and_then(|group| group.span).unwrap_or(crate::config::Span::NONE);
            losses.add(span, format!("the group `{name}` is `{ours}` here: {why}"));
            taken.insert(ours.clone());
            names.insert(name, ours);
        }
        names
    }

    /// A name that neither a group nor a host has.
    fn free(&self, name: &str, taken: &BTreeSet<&str>) -> String {
        let is_free = |name: &str| !taken.contains(name) && !self.hosts.contains_key(name);
        let others = (1..).map(|n| if n == 1 { format!("{name}_group") } else { format!("{name}_group{n}") });
        std::iter::once(name.to_owned()).chain(others).find(|name| is_free(name)).unwrap_or_default()
    }

    /// Writes what the hosts have that groups do not give them; those that are alike on one line.
    fn write_hosts(&self, text: &mut String, reaches: &[Reach], shared: &Shared) {
        let mut alike = Alike::new();
        for ((host, reach), given) in self.hosts.keys().zip(reaches).zip(&shared.given) {
            let mut own = reach.clone();
            let given_transport = given.transport.or(shared.all.transport).unwrap_or("ssh");
            own.transport = Some(reach.transport.unwrap_or("ssh"));
            if reach.offline.is_some() || own.transport == Some(given_transport) {
                own.transport = None;
            }
            for (at, own) in own.ssh.iter_mut().enumerate() {
                let of = |reach: &Reach| reach.ssh.get(at).cloned().flatten();
                let default = DEFAULTS.get(at).copied().flatten().map(str::to_owned);
                if *own == of(given).or_else(|| of(&shared.all)).or(default) {
                    *own = None;
                }
            }
            if own != Reach::default() {
                alike.entry(own).or_default().push(host);
            }
        }
        if !alike.is_empty() {
            text.push_str("\nhosts:\n");
        }
        for (reach, hosts) in alike {
            let mut fields = Vec::new();
            fields.extend(reach.address.map(|address| format!("address: {address}")));
            fields.extend(reach.offline.map(|why| format!("offline: {}", in_quotes(&why))));
            fields.extend(reach.transport.map(|transport| format!("transport: {transport}")));
            let ssh = ssh_fields(FIELDS.iter().zip(&reach.ssh));
            if !ssh.is_empty() {
                fields.push(format!("ssh: {{ {ssh} }}"));
            }
            put!(text, "  {}: {{ {} }}\n", quoted(&hostlist::fold(hosts)), fields.join(", "));
        }
    }
}

fn ssh_fields<'a>(fields: impl Iterator<Item = (&'a &'a str, &'a Option<String>)>) -> String {
    let fields = fields.filter_map(|(field, value)| Some(format!("{field}: {}", value.as_ref()?)));
    fields.collect::<Vec<_>>().join(", ")
}

fn write_group(
    text: &mut String,
    name: &str,
    group: &Group,
    reach: &Reach,
    has_hosts: bool,
    names: &BTreeMap<&str, String>,
) {
    put!(text, "  {}:\n", quoted(name));
    let empty = text.len();
    if !group.hosts.is_empty() {
        let hosts = in_quotes(&hostlist::fold(group.hosts.iter().map(String::as_str)));
        put!(text, "    hosts: {hosts}\n");
    }
    let children: Vec<String> = group
        .children
        .iter()
        .filter_map(|child| names.get(child.as_str()))
        .map(|name| quoted(name))
        .collect();
    if !children.is_empty() {
        put!(text, "    children: [{}]\n", children.join(", "));
    }
    if has_hosts {
        let fields = ssh_fields(FIELDS.iter().zip(&reach.ssh));
        if !fields.is_empty() {
            put!(text, "    ssh: {{ {fields} }}\n");
        }
        if let Some(transport) = reach.transport {
            put!(text, "    transport: {transport}\n");
        }
    }
    if text.len() == empty {
        text.push_str("    hosts: []\n");
    }
}
