//! Doubts about hosts: names that were meant as ranges, two that are one machine, one that no group has.

use std::collections::{BTreeMap, BTreeSet};

use super::file::InventoryFile;
use super::host::Host;
use crate::config::{Diagnostic, Diagnostics, Sp, Span, did_you_mean};
use crate::hostlist;
use crate::template::paths::is_template;

/// Addresses as they are written, by the index of their host.
type Addresses<'f> = BTreeMap<usize, &'f Sp<String>>;

/// Looks at all hosts.
pub(super) fn look(
    hosts: &[Host],
    addresses: &Addresses<'_>,
    file: &InventoryFile,
    diagnostics: &mut Diagnostics,
) {
    // A doubt about what is written wrongly may only follow from that.
    let sound = !diagnostics.has_errors();
    look_at_names(hosts, addresses, diagnostics);
    if sound {
        in_a_group(hosts, &named_alone(file), diagnostics);
        with_an_address(hosts, diagnostics);
    }
    one_host_for_each_address(hosts, addresses, diagnostics);
    ends_with_its_jump_host(hosts, diagnostics);
}

/// Names that were meant as ranges. Who writes an address out means one host.
fn look_at_names(hosts: &[Host], addresses: &Addresses<'_>, diagnostics: &mut Diagnostics) {
    // Two hosts of one rack, `r1-2` and `r1-3`: names are made like that here.
    let mut seen = BTreeSet::new();
    let dashes = hosts.iter().filter_map(|host| hostlist::dashed(&host.name));
    let usual: BTreeSet<&str> =
        dashes.filter(|range| !seen.insert((range.stem, range.first))).map(|range| range.stem).collect();
    let mut said = BTreeSet::new();
    for host in hosts {
        let name = host.name.as_str();
        let odd = if name.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-') {
            let what = if name.contains('-') { "a range" } else { "a number" };
            Some((format!("it is {what} alone"), "a range stands behind a name, as in `gpu[0-3]`"))
        } else if name == "all" {
            let help = "name the hosts, as in `gpu[0-3]`; what is for all of them stands at the top of the inventory";
            Some(("it stands for all hosts".to_owned(), help))
        } else if name.contains("..") {
            Some(("a part between two dots is empty".to_owned(), "a range is written `gpu[0-3]`"))
        } else {
            None
        };
        if let Some((why, help)) = odd {
            if said.insert(host.span) {
                let text = format!("`{name}` cannot be the name of a host: {why}");
                diagnostics.push(Diagnostic::error(host.span, text).help(help));
            }
        } else if let Some(range) = hostlist::dashed(name)
            && !usual.contains(range.stem)
            && addresses.get(&host.index).is_none_or(|address| is_template(&address.value))
        {
            let help = format!(
                "for {} hosts write `{range}`; for one host of that name give it an `address` of its own",
                range.count
            );
            let text = format!("`{name}` looks like a range without its brackets");
            diagnostics.push(Diagnostic::error(host.span, text).help(help));
        }
    }
}

/// Two hosts with one address would be changed as one, twice at a time. Behind different jump hosts an
/// address may be two machines, and another user is meant to be another login.
fn one_host_for_each_address(hosts: &[Host], addresses: &Addresses<'_>, diagnostics: &mut Diagnostics) {
    let mut here = hosts.iter().filter(|host| !host.transport.is_ssh() && host.offline.is_none());
    if let (Some(first), Some(second)) = (here.next(), here.next()) {
        let text =
            format!("`{}` and `{}` are both the machine that provision runs on", first.name, second.name);
        diagnostics.push(
            Diagnostic::error(second.span, text)
                .help("`transport: local` is for one host: take it from the others, or take them away"),
        );
    }
    let at = |host: &Host| addresses.get(&host.index).map_or(host.span, |address| address.span);
    let mut seen: BTreeMap<_, &Host> = BTreeMap::new();
    let mut said = BTreeSet::new();
    let is_one = |host: &&Host| super::address::address(&host.address).is_ok();
    for host in hosts.iter().filter(|host| host.transport.is_ssh() && host.offline.is_none()).filter(is_one) {
        let ssh = &host.ssh;
        let place = (host.address.as_str(), ssh.port.unwrap_or(22), ssh.jump.as_slice(), ssh.user.as_deref());
        if let Some(other) = seen.insert(place, host)
            && said.insert(at(host))
        {
            let text = format!(
                "`{}` and `{}` have the same address and port: {}:{}",
                other.name, host.name, place.0, place.1
            );
            let told = Diagnostic::error(at(host), text)
                .help("one machine is one host: give each its own address or port, or take one away");
            let first = format!("that of `{}`", other.name);
            // One template, or one range, gives both.
            diagnostics.push(if at(other) == at(host) { told } else { told.related(at(other), first) });
        }
    }
}

/// Hosts that the entries of `playbooks` or the scheduler name one by one.
fn named_alone(file: &InventoryFile) -> BTreeSet<String> {
    let words =
        file.playbooks.iter().filter_map(|entry| entry.entry.hosts.as_ref()).flat_map(|words| &words.0);
    let words = words.flat_map(|word| word.value.split([',', '&', '!', ' ']));
    let at = file.maintenance.iter().filter_map(|maintenance| maintenance.value.at());
    words.chain(at).filter_map(|word| hostlist::expand(word).ok()).flatten().collect()
}

/// Reports hosts that no group has, where there are groups: such a host may be a slip, since no play of a
/// group reaches it. It is refused when its name belongs to the range of another, or has a letter more or
/// less: with another letter it can be a name of its own.
fn in_a_group(hosts: &[Host], named: &BTreeSet<String>, diagnostics: &mut Diagnostics) {
    let (grouped, alone): (Vec<&Host>, Vec<&Host>) = hosts.iter().partition(|host| !host.groups.is_empty());
    if grouped.is_empty() {
        return;
    }
    let near = |host: &Host| did_you_mean(&host.name, grouped.iter().map(|host| host.name.as_str()));
    let same_stem = |host: &Host, near: &str| hostlist::stem(near) == hostlist::stem(&host.name);
    let alone = alone.into_iter().filter(|host| !named.contains(&host.name));
    let slip =
        |host: &Host| near(host).is_some_and(|near| same_stem(host, near) || near.len() != host.name.len());
    // Names of one range are alike, and each would be held against all others.
    let mut of_range: BTreeMap<(&str, usize), bool> = BTreeMap::new();
    let (slips, others): (Vec<&Host>, Vec<&Host>) = alone.partition(|host| {
        *of_range.entry((hostlist::stem(&host.name), host.name.len())).or_insert_with(|| slip(host))
    });
    let way = "name it in the `hosts:` of a group";
    let help = |host: &Host| {
        let Some(near) = near(host) else {
            return format!("{way}: playbooks and variables of groups are not for it");
        };
        let groups = grouped.iter().find(|host| host.name == near).map(|host| &host.groups);
        match groups.and_then(|groups| groups.first()).filter(|_| same_stem(host, near)) {
            Some(group) => format!(
                "`{near}` is in `{group}`: name `{}` there, or in the `hosts:` of another group",
                host.name
            ),
            None => format!("did you mean `{near}`? A host of its own: {way}"),
        }
    };
    let mut tell = |hosts: &[&Host], of: fn(Span, String) -> Diagnostic| {
        if let Some(first) = hosts.first() {
            let names = hostlist::fold(hosts.iter().map(|host| host.name.as_str()));
            diagnostics.push(of(first.span, format!("no group has `{names}`")).help(help(first)));
        }
    };
    tell(&slips, Diagnostic::error);
    tell(&others, Diagnostic::warning);
}

/// A few hosts without an address among twice as many that have one: a range that is too long, or a key that was mistyped.
fn with_an_address(hosts: &[Host], diagnostics: &mut Diagnostics) {
    let over_ssh = hosts.iter().filter(|host| host.transport.is_ssh() && host.offline.is_none());
    let (named, addressed): (Vec<&Host>, Vec<&Host>) = over_ssh.partition(|host| host.address == host.name);
    let Some(first) = named.first().filter(|_| named.len() * 2 <= addressed.len()) else { return };
    let names = hostlist::fold(named.iter().map(|host| host.name.as_str()));
    let text = format!("`{names}` has no `address`, unlike {} other hosts", addressed.len());
    diagnostics.push(
        Diagnostic::warning(first.span, text).help(
            "ssh looks it up by its name: give it an address under `hosts:`, or take it out of its group",
        ),
    );
}

/// The way through a jump host ends with the run, and a login behind it cannot stay.
fn ends_with_its_jump_host(hosts: &[Host], diagnostics: &mut Diagnostics) {
    let mut places: BTreeMap<Span, Vec<&str>> = BTreeMap::new();
    for host in hosts.iter().filter(|host| host.transport.is_ssh()) {
        // A jump host that is a host as well is reached directly.
        let is_it = |jump: &String| {
            let login = jump.rsplit('@').next().unwrap_or_default();
            [&host.name, &host.address].into_iter().any(|own| {
                login.strip_prefix(own.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with(':'))
            })
        };
        if host.ssh.jump.first().is_none_or(is_it) {
            continue;
        }
        if let Some(persist) = &host.ssh.persist {
            places.entry(persist.span).or_default().push(&host.name);
        }
    }
    for (span, names) in places {
        let names = hostlist::fold(names);
        diagnostics.push(
            Diagnostic::warning(span, format!("`persist` does nothing for {names}: a jump host is in front"))
                .help("the connection through a jump host ends with the run, and so do the logins behind it"),
        );
    }
}
