//! The firewall of a host: who manages it, which networks it trusts, what it makes of all others. What a
//! `firewall` task changes and what `verify` looks at is this one answer.
//!
//! Formats: `firewall-cmd --list-sources` (words), `ufw show added` (`ufw allow from NETWORK`),
//! `nft list ruleset` (chains with `hook input` and their policy).

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::section::{Section, Sections};
use super::{Answers, Family, Query, Question, Seen, Touches, answers, lines};
use crate::transport::Script;

/// Manager of the firewall.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Backend {
    /// Nobody: everything is let in.
    None,
    /// firewalld.
    Firewalld,
    /// ufw.
    Ufw,
    /// Rules of nftables alone.
    Nftables,
    /// Rules of iptables alone.
    Iptables,
}

impl std::fmt::Display for Backend {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::None => "none",
            Self::Firewalld => "firewalld",
            Self::Ufw => "ufw",
            Self::Nftables => "nftables",
            Self::Iptables => "iptables",
        })
    }
}

/// Policy that a tool shows for incoming packets.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Policy {
    /// The line that says what becomes of packets that no rule takes.
    pub line: String,
    /// Whether they are dropped.
    pub drops: bool,
}

/// The firewall of a host.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Firewall {
    /// Its manager.
    pub backend: Backend,
    /// Whether we may not look at its rules, as only root may.
    #[serde(default)]
    pub denied: bool,
    /// Networks that are let in now.
    #[serde(default)]
    pub now: BTreeSet<String>,
    /// Networks that are let in after a boot as well.
    #[serde(default)]
    pub at_boot: BTreeSet<String>,
    /// Of nftables: family, table and chain that refuse what no rule lets in.
    #[serde(default)]
    pub chain: Option<[String; 3]>,
    /// Of nftables: the file that is read at boot.
    #[serde(default)]
    pub file: Option<String>,
    /// Of firewalld: the zone of a link, and under an empty name that of all others.
    #[serde(default)]
    pub zones: BTreeMap<String, String>,
    /// Policies by tool, of those that are there: `nft`, `iptables`.
    #[serde(default)]
    pub tools: BTreeMap<String, Seen<Policy>>,
}

impl Firewall {
    /// Whether firewalld lets in all that comes over a link.
    pub fn trusts(&self, link: &str) -> bool {
        let zone = self.zones.get(link).or_else(|| self.zones.get(""));
        self.backend == Backend::Firewalld && zone.is_some_and(|zone| zone == "trusted")
    }
}

/// The manager of the firewall, and what it lets in.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct FirewallQuery;

impl Question for FirewallQuery {
    type Answer = Firewall;
    const FAMILY: &'static Family = FAMILY;

    fn label(&self) -> String {
        "firewall".to_owned()
    }

    fn touched_by(&self, touches: &Touches) -> bool {
        touches.units() || touches.paths(&["/etc/firewalld", "/etc/ufw", "/etc/nftables.conf"])
    }
}

pub(crate) const FAMILY: &Family = &Family {
    tools: "`nft` and `firewall-cmd`",
    output: 1 << 20,
    ..Family::new(
        "firewall",
        |_| Script::new(crate::shell!("facts/probe/ask.sh", "facts/firewall/firewall.sh")),
        parse,
        |label| (label == "firewall").then(|| FirewallQuery.into()),
    )
};

/// A chain of nftables that is asked about what comes in.
#[derive(Debug)]
struct Chain<'a> {
    /// Family, table and chain.
    name: [&'a str; 3],
    /// Its policy, or the rule behind all others that takes everything.
    last: &'a str,
    refuses: bool,
    rules: Vec<&'a str>,
}

/// Whether a rule takes every packet and lets none in: `reject with icmpx admin-prohibited`,
/// `counter packets 1 bytes 60 drop`.
fn refuses_all(rule: &str) -> bool {
    let mut words = rule.split_whitespace();
    while let Some(word) = words.next() {
        let behind = match word {
            "drop" | "reject" => return true,
            "counter" => 4,
            _ => return false,
        };
        let _ = words.nth(behind - 1);
    }
    false
}

/// The chains with `hook input`: `table inet filter {`, `chain input {`,
/// `type filter hook input priority 0; policy drop;`, rules.
fn chains(text: &str) -> Vec<Chain<'_>> {
    let mut chains: Vec<Chain<'_>> = Vec::new();
    let (mut table, mut chain, mut open) = (["", ""], "", false);
    for line in text.lines().map(str::trim) {
        match line.split_whitespace().collect::<Vec<_>>().as_slice() {
            ["table", family, name, "{"] => table = [*family, *name],
            ["chain", name, "{"] => (chain, open) = (*name, false),
            _ if line.contains("hook input") => {
                open = true;
                let refuses = line.contains("policy drop");
                let name = [table[0], table[1], chain];
                chains.push(Chain { name, last: line, refuses, rules: Vec::new() });
            }
            _ if open => {
                let Some(chain) = chains.last_mut() else { continue };
                if refuses_all(line) && !chain.refuses {
                    (chain.refuses, chain.last) = (true, line);
                }
                chain.rules.push(line);
            }
            _ => {}
        }
    }
    chains
}

/// Whether the chain is one of iptables, which keeps its rules there as well: what is added to a file of nftables
/// would have no such table at the next boot.
fn is_of_iptables(chain: &Chain<'_>) -> bool {
    matches!(chain.name, ["ip" | "ip6", "filter", "INPUT"])
}

/// Reads what the chains that refuse the rest let in: `ip saddr 10.0.0.0/24 accept comment "provision"`.
fn read_rules(text: &str, firewall: &mut Firewall) {
    for chain in chains(text).into_iter().filter(|chain| chain.refuses && !is_of_iptables(chain)) {
        firewall.chain.get_or_insert_with(|| chain.name.map(str::to_owned));
        for rule in chain.rules {
            if let ["ip" | "ip6", "saddr", network, "accept", ..] =
                rule.split_whitespace().collect::<Vec<_>>().as_slice()
            {
                firewall.now.insert((*network).to_owned());
            }
        }
    }
}

/// Zones of firewalld: `iifname "eth1" goto filter_IN_trusted`, and last `goto filter_IN_public`. One that lets
/// everything in by its target, with `accept` as its last rule, is called `trusted`, too.
fn zones(text: &str) -> BTreeMap<String, String> {
    let (mut chain, mut open) = ("", BTreeSet::from(["trusted"]));
    for line in text.lines().map(str::trim) {
        if let Some(name) = line.strip_prefix("chain filter_IN_") {
            chain = name.trim_end_matches([' ', '{']);
        } else if line.starts_with("chain ") {
            chain = "";
        } else if line == "accept" && !chain.is_empty() {
            open.insert(chain);
        }
    }
    let rules = text.lines().filter_map(|line| line.split_once("goto filter_IN_"));
    let zones = rules.filter_map(|(of, zone)| {
        let link = match of.split_whitespace().collect::<Vec<_>>().as_slice() {
            [] => "",
            ["iifname", name] => name.trim_matches('"'),
            _ => return None,
        };
        let zone = zone.split_whitespace().next()?;
        Some((link.to_owned(), if open.contains(zone) { "trusted" } else { zone }.to_owned()))
    });
    zones.collect()
}

fn parse(queries: &[Query], output: &str, status: i32) -> Answers {
    let sections = Sections::split(output);
    // Who manages the firewall did not answer.
    if status != 0 {
        return Vec::new();
    }
    let Some(manager) = sections.get("firewall") else { return Vec::new() };
    let mut firewall = Firewall {
        backend: Backend::None,
        denied: false,
        now: BTreeSet::new(),
        at_boot: BTreeSet::new(),
        chain: None,
        file: None,
        zones: BTreeMap::new(),
        tools: BTreeMap::new(),
    };
    for line in lines(manager.stdout) {
        match line.split_once(' ').unwrap_or((line, "")) {
            ("denied", "") => firewall.denied = true,
            ("backend", "firewalld") => firewall.backend = Backend::Firewalld,
            ("backend", "ufw") => firewall.backend = Backend::Ufw,
            ("now", words) => firewall.now.extend(words.split_whitespace().map(str::to_owned)),
            ("boot", words) => firewall.at_boot.extend(words.split_whitespace().map(str::to_owned)),
            ("file", path) => firewall.file = Some(path.to_owned()),
            _ => {}
        }
    }
    let nft_rules = sections.get("nft list ruleset");
    let iptables_rules = sections.get("iptables -S INPUT");
    if let Some(section) = nft_rules {
        firewall.tools.insert("nft".to_owned(), section.read(|text| Ok(nft(text))));
    }
    if let Some(section) = iptables_rules {
        firewall.tools.insert("iptables".to_owned(), section.read(iptables));
    }
    let rules = nft_rules.filter(|section| section.trouble().is_none() && !section.stdout.trim().is_empty());
    match (firewall.backend, rules) {
        (Backend::Firewalld, Some(rules)) => firewall.zones = zones(rules.stdout),
        (Backend::None, Some(rules)) => {
            read_rules(rules.stdout, &mut firewall);
            // Rules that refuse nothing that comes in are none.
            if firewall.chain.is_some() {
                firewall.backend = Backend::Nftables;
            }
            firewall.denied = false;
        }
        _ => {}
    }
    let drops = |section: &Section<'_>| iptables(section.stdout).is_ok_and(|policy| policy.drops);
    if firewall.backend == Backend::None
        && let Some(rules) = iptables_rules.filter(drops)
    {
        firewall.backend = Backend::Iptables;
        firewall.now.extend(let_in_by_iptables(rules.stdout));
    }
    firewall.denied &= firewall.backend == Backend::None;
    answers(queries, |FirewallQuery| Some(Ok(firewall.clone())))
}

/// Networks that rules let in as a whole: `-A INPUT -s 10.0.0.0/16 -j ACCEPT`, with or without a comment.
fn let_in_by_iptables(text: &str) -> impl Iterator<Item = String> {
    text.lines().filter_map(|line| {
        let rest = line.strip_prefix("-A INPUT -s ")?.strip_suffix(" -j ACCEPT")?;
        let (network, rest) = rest.split_once(' ').unwrap_or((rest, ""));
        (rest.is_empty() || rest.starts_with("-m comment --comment ")).then(|| network.to_owned())
    })
}

/// `-P INPUT DROP`, then rules.
fn iptables(text: &str) -> Result<Policy, String> {
    let policy =
        text.lines().find(|line| line.starts_with("-P INPUT")).ok_or("it shows no policy for INPUT")?;
    let rejects =
        text.lines().any(|line| line == "-A INPUT -j DROP" || line.starts_with("-A INPUT -j REJECT"));
    Ok(Policy { line: policy.to_owned(), drops: policy.ends_with("DROP") || rejects })
}

/// Reads the policy for packets that no rule takes, from the first chain that refuses them.
fn nft(text: &str) -> Policy {
    let chains = chains(text);
    let chain = chains.iter().find(|chain| chain.refuses).or(chains.first());
    chain.map_or_else(Policy::default, |chain| Policy { line: chain.last.to_owned(), drops: chain.refuses })
}
