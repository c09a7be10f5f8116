//! `hosts_file`: the names of all hosts of the inventory in `/etc/hosts`.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::sync::Arc;

use crate::config::{Diagnostics, FromNode as _, Node, Sp};
use crate::facts::file::{FileKind, PathQuery};
use crate::facts::{Facts, Object, Query, Touches};
use crate::resources::shared::content::{RegularFile, text_query};
use crate::resources::shared::known;
use crate::resources::shared::roster::{Network, Owners, Roster, address_of, fleet_base, fleet_facts};
use crate::resources::shared::value::{FileName, HostPath};
use crate::resources::{Built, Change, Context, Detail, Planned, Resource, Unplannable};
use crate::transport::{Arg, Script};

crate::record! {
    /// More addresses of hosts, under names of their own.
    AliasFields("an alias") {
        /// Suffix for the name of a host: `-ib0` makes `gpu0-ib0`.
        req suffix: Sp<String>,
        /// The network whose address gets that name. A host without an address in it does not get the name.
        req network: Network,
    }
}

crate::record! {
    /// All hosts of the inventory in `/etc/hosts`, as a marked block at its beginning.
    ///
    /// The inventory decides which hosts are listed, including offline ones; facts of the hosts decide
    /// under which address the others see each. For a host that cannot be reached now, the address that
    /// an earlier run saw is used; if no run ever saw it, its existing entry is kept. Entries of hosts
    /// that left the inventory are removed. Names of the inventory are removed from lines of `127.x`
    /// and `::1`: with them MPI and NCCL would tell other hosts to connect to themselves. Other forms of
    /// the host's own name that stand there, such as the one with its domain, go to its own entry: `hostname -f`
    /// needs them. The name that a host calls itself is not written otherwise, since it could be that of a
    /// mirror; the `hostname` task gives the host its name in the inventory. If the host has cloud-init, cloud-init is told to
    /// leave the file alone.
    HostsFileFields("a hosts file") {
        /// Addresses are taken from this network. Left out: the address in the inventory if the host
        /// itself has it, else that of the device of its default route.
        opt network: Network,
        /// Domain of the names. The name with the domain is written before the short one.
        opt domain: FileName,
        /// More names for more addresses.
        def aliases: Vec<AliasFields> = Vec::new(),
        /// Only hosts of these groups are listed. Left out: all.
        def groups: Vec<Sp<String>> = Vec::new(),
        /// Path of the file.
        def path: HostPath = HostPath("/etc/hosts".to_owned()),
    }
}

kind! { "hosts_file", HostsFileFields, fleet: true }

/// Directory of the drop-ins that cloud-init reads.
const CLOUD: &str = "/etc/cloud/cloud.cfg.d";
/// A file that is not there begins with this.
const LOCALHOST: &str = "127.0.0.1\tlocalhost\n::1\tlocalhost ip6-localhost ip6-loopback\n";

#[derive(Debug)]
struct HostsFile {
    roster: Roster,
    network: Option<Network>,
    domain: Option<String>,
    aliases: Vec<(String, Network)>,
    path: HostPath,
}

pub(in crate::resources) fn read(node: &Node, context: &dyn Context, diagnostics: &mut Diagnostics) -> Built {
    let fields = HostsFileFields::from_node(node, diagnostics)?;
    let mut good = true;
    let mut aliases = Vec::new();
    for alias in fields.aliases {
        let suffix = alias.suffix.value;
        if suffix.is_empty() || !suffix.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-') {
            good = false;
            let message = format!("`{suffix}` cannot be the suffix of a host name");
            diagnostics.error(alias.suffix.span, message);
        }
        aliases.push((suffix, alias.network));
    }
    let roster = context.roster().narrow(&fields.groups, diagnostics)?;
    good.then(|| {
        Arc::new(HostsFile {
            roster,
            network: fields.network,
            domain: fields.domain.map(|domain| domain.0),
            aliases,
            path: fields.path,
        }) as Arc<dyn Resource>
    })
}

fn cloud() -> RegularFile {
    RegularFile::drop_in(
        format!("{CLOUD}/90-provision-hosts.cfg"),
        "# The hosts come from the inventory.\nmanage_etc_hosts: false\n".to_owned(),
    )
}

/// The lines between two marks, and the text without them.
pub(in crate::resources) fn cut_block<'a>(
    text: &'a str,
    marks: &(String, String),
) -> (Vec<&'a str>, Vec<&'a str>) {
    let (mut block, mut rest) = (Vec::new(), Vec::new());
    let mut inside = false;
    for line in text.lines() {
        if line == marks.0 {
            inside = true;
        } else if inside && line == marks.1 {
            inside = false;
        } else if inside {
            block.push(line);
        } else {
            rest.push(line);
        }
    }
    if inside {
        // Its end is lost: what follows may be anybody's.
        rest.append(&mut block);
    }
    (block, rest)
}

/// Lines of the block, the hosts that are waited for, the names in the block, and whose the addresses are.
type Entries<'a> = (Vec<String>, Vec<&'a str>, BTreeSet<String>, Owners<'a>);

impl HostsFile {
    /// Lines of the block by host, and the hosts whose addresses are not known. `own`: more names of this host.
    fn entries<'a>(&'a self, facts: &Facts, old: &[&str], own: &[&str]) -> Result<Entries<'a>, Unplannable> {
        let networks = fleet_facts(facts)?;
        let of_names = self.owners();
        let said = self.roster.members.iter().flat_map(|member| {
            let network = networks.get(member.name.as_str()).copied();
            let plain = address_of(member, network, self.network.as_ref());
            let aliases = self
                .aliases
                .iter()
                .filter_map(move |(_, within)| address_of(member, Some(network?), Some(within)));
            plain.into_iter().chain(aliases).map(|address| (member.name.as_str(), address))
        });
        let owners = self.roster.owners(said);
        let (mut lines, mut waits, mut names) = (Vec::new(), Vec::new(), BTreeSet::new());
        for member in self.roster.members.iter() {
            let network = networks.get(member.name.as_str()).copied();
            let address = address_of(member, network, self.network.as_ref());
            let Some(address) = address.filter(|address| owners.is(&member.name, *address)) else {
                let kept = old.iter().filter(|line| {
                    line.split_whitespace()
                        .skip(1)
                        .any(|name| of_names.get(name).is_some_and(|owner| *owner == member.name))
                });
                let before = lines.len();
                lines.extend(kept.map(|line| (*line).to_owned()));
                if lines.len() == before && network.is_none() && !member.offline {
                    waits.push(member.name.as_str());
                }
                continue;
            };
            let mut line = address.to_string();
            let mut add = |line: &mut String, name: String| {
                let _ = write!(line, "{}{name}", if line.contains('\t') { ' ' } else { '\t' });
                names.insert(name.to_ascii_lowercase());
            };
            let own = if member.name == self.roster.own { own } else { &[] };
            // The first name of a line is the one that `hostname -f` says.
            for name in own.iter().filter(|name| name.contains('.')) {
                add(&mut line, (*name).to_owned());
            }
            if let Some(domain) = &self.domain {
                add(&mut line, format!("{}.{domain}", member.name));
            }
            add(&mut line, member.name.clone());
            for name in own.iter().filter(|name| !name.contains('.')) {
                add(&mut line, (*name).to_owned());
            }
            lines.push(line);
            for (suffix, within) in &self.aliases {
                if let Some(address) =
                    network.and_then(|network| address_of(member, Some(network), Some(within)))
                    && owners.is(&member.name, address)
                {
                    lines.push(format!("{address}\t{}{suffix}", member.name));
                }
            }
        }
        Ok((lines, waits, names, owners))
    }

    /// Other forms of this host's own name that lines of this machine have, or its entry had before: with a domain,
    /// without one, in other letters. Where the names have a domain by the task, that one is said.
    fn own_forms<'a>(&self, old: &[&'a str], rest: &[&'a str]) -> Vec<&'a str> {
        let own = self.roster.own.as_str();
        let is_form = |name: &str| {
            let same = short(name).eq_ignore_ascii_case(short(own));
            same && name != own && (self.domain.is_none() || !name.contains('.'))
        };
        let entry = old.iter().filter(|line| line.split_whitespace().skip(1).any(|name| name == own));
        let local = rest.iter().filter(|line| is_local(line));
        let mut forms = Vec::new();
        for line in entry.chain(local) {
            let text = line.split('#').next().unwrap_or_default();
            for name in text.split_whitespace().skip(1).filter(|name| is_form(name)) {
                if !forms.contains(&name) {
                    forms.push(name);
                }
            }
        }
        forms
    }

    /// Maps each name to its host: the name itself, with the domain, with each suffix.
    fn owners(&self) -> BTreeMap<String, &str> {
        let mut owners = BTreeMap::new();
        for member in self.roster.members.iter() {
            let name = member.name.as_str();
            owners.insert(member.name.clone(), name);
            if let Some(domain) = &self.domain {
                owners.insert(format!("{name}.{domain}"), name);
            }
            for (suffix, _) in &self.aliases {
                owners.insert(format!("{name}{suffix}"), name);
            }
        }
        owners
    }
}

/// A name without its domain.
fn short(name: &str) -> &str {
    name.split('.').next().unwrap_or(name)
}

/// Whether a line is about this machine itself.
fn is_local(line: &str) -> bool {
    line.split_whitespace().next().is_some_and(|address| address.starts_with("127.") || address == "::1")
}

/// A line without names that another line of the block has, when it is one of this machine itself.
fn without_own(line: &str, names: &BTreeSet<String>) -> Option<String> {
    let (text, comment) = line.split_once('#').map_or((line, ""), |(text, comment)| (text, comment));
    let mut words = text.split_whitespace();
    let local = is_local(text);
    words.next();
    // Names are the same in capitals.
    let taken = |name: &str| {
        let name = name.to_ascii_lowercase();
        names.contains(&name) || name.split_once('.').is_some_and(|(first, _)| names.contains(first))
    };
    if !local || !words.clone().any(taken) {
        return Some(line.to_owned());
    }
    let left: Vec<&str> = words.filter(|name| !taken(name)).collect();
    let address = text.split_whitespace().next().unwrap_or("");
    let comment = if comment.is_empty() { String::new() } else { format!(" #{comment}") };
    (!left.is_empty()).then(|| format!("{address}\t{}{comment}", left.join(" ")))
}

impl Resource for HostsFile {
    fn queries(&self) -> Vec<Query> {
        let mut queries = vec![PathQuery(self.path.0.clone()).into(), text_query(&self.path).into()];
        // The names that hosts have of themselves are for a warning.
        queries.extend(["hostname", "network"].iter().filter_map(|name| fleet_base(name)));
        queries.extend(cloud().queries());
        queries
    }

    fn plan(&self, facts: &Facts) -> Planned {
        let path = self.path.as_str();
        let mut changes = Vec::new();
        if known::path(facts, CLOUD)?.is_some() {
            changes.extend(cloud().plan(facts)?);
        }
        let found = known::path(facts, path)?;
        if let Some(found) = found.filter(|found| found.kind != FileKind::File) {
            return Err(Unplannable::Failed(format!(
                "{path} is {}, not a regular file",
                found.kind.as_str()
            )));
        }
        let content = known::content(facts, &text_query(&self.path))?;
        let before = match content {
            Some(content) => Some(content.text.as_deref().ok_or_else(|| {
                Unplannable::Failed(format!("{path} is not UTF-8 text or is larger than 64 KiB"))
            })?),
            None => None,
        };
        let marks = self.roster.marks("hosts");
        let (old, rest) = cut_block(before.unwrap_or(LOCALHOST), &marks);
        let own = self.own_forms(&old, &rest);
        let (lines, waits, names, owners) = self.entries(facts, &old, &own)?;
        let mut after = format!("{}\n", marks.0);
        for line in &lines {
            after.push_str(line);
            after.push('\n');
        }
        after.push_str(&marks.1);
        after.push('\n');
        for line in rest {
            if let Some(line) = without_own(line, &names) {
                after.push_str(&line);
                after.push('\n');
            }
        }
        if before == Some(after.as_str()) {
            return match Roster::waits("address", waits).or_else(|| owners.waits()) {
                Some(waits) if changes.is_empty() => Err(waits),
                _ => Ok(changes),
            };
        }
        let (new, old): (BTreeSet<&str>, BTreeSet<&str>) =
            (lines.iter().map(String::as_str).collect(), old.into_iter().collect());
        let mut parts = Vec::new();
        for (mark, number) in [("+", new.difference(&old).count()), ("-", old.difference(&new).count())] {
            if number > 0 {
                parts.push(format!("{mark}{number} of {} entries", lines.len()));
            }
        }
        if parts.is_empty() {
            parts.push("this machine's own addresses".to_owned());
        }
        let mark = if before.is_some() { '~' } else { '+' };
        changes.push(Change::new(
            Object::Path(self.path.0.clone()),
            format!("{mark} {path} ({})", parts.join(", ")),
            Detail::Text { before: before.map(str::to_owned), after: Some(after.clone()) },
            Script::new(crate::shell!(
                "shell/base64.sh",
                "shell/reach.sh",
                "resources/shared/after.sh",
                "resources/shared/put.sh",
                "resources/network/hosts_file/hosts_file.sh"
            ))
            .named("path", path)
            .named("content", Arg::Packed(after)),
        ));
        Ok(changes)
    }

    fn touches(&self) -> Touches {
        Touches::Objects(BTreeSet::from([Object::Path(self.path.0.clone()), Object::Path(cloud().path.0)]))
    }

    fn manages(&self) -> Vec<(Object, String)> {
        let what = format!("{} (hosts of {})", self.path.0, self.roster.cluster);
        let members = fold_names(&self.roster);
        let network = self.network.map_or_else(String::new, |network| network.to_string());
        vec![(Object::Path(what), format!("{members} {network} {:?} {:?}", self.domain, self.aliases))]
    }
}

fn fold_names(roster: &Roster) -> String {
    crate::hostlist::fold(roster.members.iter().map(|member| member.name.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_this_machine_lose_names() {
        let names = BTreeSet::from(["gpu0".to_owned(), "gpu1".to_owned()]);
        let without = |line: &str| without_own(line, &names);
        assert_eq!(without("127.0.1.1\tgpu0.example.org gpu0"), None);
        assert_eq!(without("127.0.0.1 localhost gpu0 # x").as_deref(), Some("127.0.0.1\tlocalhost # x"));
        assert_eq!(without("127.0.0.1 localhost").as_deref(), Some("127.0.0.1 localhost"));
        assert_eq!(without("10.0.0.1 gpu0").as_deref(), Some("10.0.0.1 gpu0"));
        assert_eq!(without("::1 gpu0"), None);
        assert_eq!(without("# 127.0.1.1 gpu0").as_deref(), Some("# 127.0.1.1 gpu0"));
        assert_eq!(without("").as_deref(), Some(""));
    }

    #[test]
    fn a_block_without_its_end_is_not_ours() {
        let marks = ("# B".to_owned(), "# E".to_owned());
        assert_eq!(cut_block("a\n# B\nb\n# E\nc\n", &marks), (vec!["b"], vec!["a", "c"]));
        assert_eq!(cut_block("a\n# B\nb\nc\n", &marks), (vec![], vec!["a", "b", "c"]));
    }
}
