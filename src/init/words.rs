//! The hosts of the command line: `gpu[0-7]`, `gpu0=10.0.1.10`, `ubuntu@10.0.0.1:2222`, `[::1]:22`.

use std::collections::{BTreeMap, BTreeSet};
use std::net::Ipv6Addr;

use super::inventory::{GPU, NODES};
use crate::config::{Span, TextError};
use crate::exit::Exit;
use crate::inventory::{Endpoint, Expect, Host, Ssh, TransportKind, is_user};
use crate::{exit, hostlist};

/// A host and what was typed for it, for messages.
#[derive(Debug)]
pub struct Typed {
    /// The host.
    pub host: Host,
    /// Text that was typed for it.
    pub shown: String,
}

/// `[NAME=][USER@]HOST[:PORT]` taken apart, with its ranges expanded.
#[derive(Debug)]
struct Word {
    names: Option<Vec<String>>,
    user: Option<String>,
    addresses: Vec<String>,
    port: Option<u16>,
}

impl Word {
    fn read(word: &str) -> Result<Self, String> {
        let said = |error: TextError| error.message;
        let (names, login) = match word.split_once('=') {
            Some((names, login)) if !names.contains('@') => {
                (Some(hostlist::expand(names).map_err(said)?), login)
            }
            Some(_) | None => (None, word),
        };
        let no_port = |port: &str| format!("`{port}` behind the address is not a port");
        let Endpoint { user, host, is_literal, port } = Endpoint::split(login).map_err(no_port)?;
        if let Some(user) = user.filter(|user| !is_user(user)) {
            return Err(format!("`{user}` is not a user name"));
        }
        let addresses = if is_literal { vec![ipv6(host)?] } else { hostlist::expand(host).map_err(said)? };
        let port = match port.map(|port| (port, port.parse())) {
            None => None,
            Some((_, Ok(port))) if port > 0 => Some(port),
            Some((port, _)) => return Err(format!("`{port}` is not a port")),
        };
        if let Some(names) = names.as_ref().filter(|names| names.len() != addresses.len()) {
            let count = |list: &[String], what| crate::words::count(list.len() as u64, what);
            return Err(format!("{} for {}", count(names, "name"), count(&addresses, "host")));
        }
        Ok(Self { names, user: user.map(str::to_owned), addresses, port })
    }

    /// Returns the text that was typed for one of its hosts.
    fn shown(&self, index: usize) -> String {
        let name = self.names.as_ref().and_then(|names| names.get(index));
        let name = name.map(|name| format!("{name}=")).unwrap_or_default();
        let user = self.user.as_ref().map(|user| format!("{user}@")).unwrap_or_default();
        let address = self.addresses.get(index).map_or("", String::as_str);
        let place = match self.port {
            Some(port) if address.contains(':') => format!("[{address}]:{port}"),
            Some(port) => format!("{address}:{port}"),
            None => address.to_owned(),
        };
        format!("{name}{user}{place}")
    }
}

/// An IPv6 address; a zone may follow it.
fn ipv6(text: &str) -> Result<String, String> {
    let (address, zone) = text.split_once('%').map_or((text, None), |(address, zone)| (address, Some(zone)));
    let good = address.parse::<Ipv6Addr>().is_ok() && zone.is_none_or(hostlist::is_name);
    good.then(|| text.to_owned()).ok_or_else(|| format!("`{text}` is not an IPv6 address"))
}

/// The hosts as the inventory will have them; `login` is what is said of none of them alone.
///
/// # Errors
/// When a word is no host, or two have one name.
pub fn hosts(typed: &[String], login: &Ssh) -> Result<Vec<Typed>, Exit> {
    let usage = |word: &str, why: String| Exit::new(exit::USAGE, format!("`{word}` is not a host: {why}"));
    let mut words = Vec::new();
    let mut names = BTreeSet::new();
    for text in typed {
        let word = Word::read(text).map_err(|why| usage(text, why))?;
        // Who gives a name gets it.
        for name in word.names.iter().flatten() {
            if [GPU, NODES].contains(&name.as_str()) {
                return Err(usage(text, format!("init makes a group that is called `{name}`")));
            }
            if !names.insert(name.clone()) {
                return Err(usage(text, format!("two hosts are called `{name}`")));
            }
        }
        words.push(word);
    }
    let mut hosts: Vec<Typed> = Vec::new();
    for word in words {
        for (number, address) in word.addresses.iter().enumerate() {
            let index = hosts.len();
            let given = word.names.as_ref().and_then(|names| names.get(number));
            let mut name = given.cloned().unwrap_or_else(|| plain_name(address, index));
            // Hosts of two domains, or two ports of one address. A dash before a number looks like a range.
            let whole = Some(address).filter(|address| !is_ip(address) && hostlist::is_name(address));
            let whole = whole.filter(|address| ![GPU, NODES].contains(&address.as_str()));
            let others = whole.cloned().into_iter().chain((index..).map(|n| format!("{name}_{n}")));
            if given.is_none() && !names.insert(name.clone()) {
                name = others.into_iter().find(|name| names.insert(name.clone())).unwrap_or(name);
            }
            let ssh = Ssh {
                user: word.user.clone().or_else(|| login.user.clone()),
                port: word.port.or(login.port),
                ..login.clone()
            };
            let same = |known: &&Typed| {
                let other = &known.host.ssh;
                known.host.address == *address && (other.port, &other.user) == (ssh.port, &ssh.user)
            };
            if let Some(known) = hosts.iter().find(same) {
                let why = format!("it is where `{}` is: one machine is one host", known.shown);
                return Err(usage(&word.shown(number), why));
            }
            let host = Host {
                number: hostlist::number_of(&name),
                name,
                index,
                groups: BTreeSet::new(),
                labels: BTreeMap::new(),
                offline: None,
                address: address.clone(),
                transport: TransportKind::Ssh,
                ssh,
                vars: crate::inventory::Vars::default(),
                nics: Vec::new(),
                expect: Expect::default(),
                mesh_user: None,
                span: Span::NONE,
            };
            hosts.push(Typed { host, shown: word.shown(number) });
        }
    }
    Ok(hosts)
}

/// A name for the inventory: an address becomes `node0`, a domain name its first label. What is the name of
/// a group cannot be that of a host.
fn plain_name(address: &str, index: usize) -> String {
    match address.split('.').next() {
        Some(first) if !is_ip(address) && hostlist::is_name(first) && ![GPU, NODES].contains(&first) => {
            first.to_owned()
        }
        _ => format!("node{index}"),
    }
}

fn is_ip(text: &str) -> bool {
    text.contains(':') || text.chars().all(|c| c.is_ascii_digit() || c == '.')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(words: &[&str]) -> Result<Vec<String>, String> {
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        let login = Ssh { port: Some(23), ..Ssh::default() };
        let hosts = hosts(&words, &login).map_err(|error| error.to_string())?;
        let line = |typed: &Typed| {
            let Host { name, address, ssh, .. } = &typed.host;
            let user = ssh.user.as_deref().unwrap_or("-");
            format!("{name} {address} {user} {} {}", ssh.port.unwrap(), typed.shown)
        };
        Ok(hosts.iter().map(line).collect())
    }

    #[test]
    fn a_host_is_what_was_typed() {
        for (word, wanted) in [
            ("gpu0", "gpu0 gpu0 - 23 gpu0"),
            ("gpu0.example.org", "gpu0 gpu0.example.org - 23 gpu0.example.org"),
            ("me@10.0.0.1:22", "node0 10.0.0.1 me 22 me@10.0.0.1:22"),
            ("gpu0=10.0.1.10", "gpu0 10.0.1.10 - 23 gpu0=10.0.1.10"),
            ("gpu0=me@realm@10.0.1.10:22", "gpu0 10.0.1.10 me@realm 22 gpu0=me@realm@10.0.1.10:22"),
            ("[::1]:22", "node0 ::1 - 22 [::1]:22"),
            ("[::1]", "node0 ::1 - 23 ::1"),
            ("fe80::1%eth0", "node0 fe80::1%eth0 - 23 fe80::1%eth0"),
            ("gpu0=me@[::1]:22", "gpu0 ::1 me 22 gpu0=me@[::1]:22"),
            // No name of a group.
            ("gpu", "node0 gpu - 23 gpu"),
            ("nodes.example.org", "node0 nodes.example.org - 23 nodes.example.org"),
        ] {
            assert_eq!(read(&[word]).unwrap(), [wanted], "{word}");
        }
        let two = read(&["gpu[0-1]=10.0.1.[10-11]:22"]).unwrap();
        assert_eq!(two, ["gpu0 10.0.1.10 - 22 gpu0=10.0.1.10:22", "gpu1 10.0.1.11 - 22 gpu1=10.0.1.11:22"]);
        let three = read(&["node1", "10.0.0.1", "10.0.0.1:22", "node2=h"]).unwrap();
        let names: Vec<_> = three.iter().filter_map(|line| line.split(' ').next()).collect();
        assert_eq!(names, ["node1", "node1_1", "node2_2", "node2"]);
        let domains = read(&["gpu[0-1].dc1.x", "gpu0.dc2.x", "gpu0.dc2.x:22"]).unwrap();
        let names: Vec<_> = domains.iter().filter_map(|line| line.split(' ').next()).collect();
        assert_eq!(names, ["gpu0", "gpu1", "gpu0.dc2.x", "gpu0_3"]);
    }

    #[test]
    fn what_is_no_host_is_said() {
        for (words, wanted) in [
            (&["10.0.0.1:x"][..], "`x` is not a port"),
            (&["10.0.0.1:0"], "`0` is not a port"),
            (&["[::1]x"], "`x` behind the address"),
            (&["[::g]:22"], "`::g` is not an IPv6 address"),
            (&["a b@h"], "is not a user name"),
            (&["@h"], "is not a user name"),
            (&["gpu[0-2]=10.0.0.1"], "3 names for 1 host"),
            (&["=h"], "is not a host"),
            (&["h="], "is not a host"),
            (&["gpu=10.0.0.1"], "init makes a group that is called `gpu`"),
            (&["a=10.0.0.1", "a=10.0.0.2"], "two hosts are called `a`"),
            (&["a=10.0.0.1", "b=10.0.0.1"], "it is where `a=10.0.0.1` is"),
        ] {
            let error = read(words).unwrap_err();
            assert!(error.contains(wanted), "{words:?}: {error}");
        }
    }
}
