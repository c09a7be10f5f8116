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

/// Who manages the firewall.
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

/// What a tool says of packets that come in.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Policy {
    /// The line that says what becomes of packets that no rule takes.
    pub line: String,
    /// Whether they are dropped.
    pub drops: bool,
    /// Rules that accept something.
    pub accepts: u64,
}

/// The firewall of a host.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Firewall {
    /// Who manages it.
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
    /// What the tools that are there say: `nft`, `iptables`.
    #[serde(default)]
    pub tools: BTreeMap<String, Seen<Policy>>,
}

/// Who manages the firewall and what it lets in.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct FirewallQuery;

impl Question for FirewallQuery {
    type Answer = Firewall;
    const FAMILY: &'static Family = &FAMILY;

    fn label(&self) -> String {
        "firewall".to_owned()
    }

    fn touched_by(&self, touches: &Touches) -> bool {
        touches.units() || touches.paths(&["/etc/firewalld", "/etc/ufw", "/etc/nftables.conf"])
    }
}

pub(super) const FAMILY: Family = Family {
    output: 1 << 20,
    ..Family::new(
        "firewall",
        |_| Script::new(crate::shell!("probes/ask.sh", "facts/firewall.sh")),
        parse,
        |label| (label == "firewall").then(|| FirewallQuery.into()),
    )
};

/// `table inet filter {`, `chain input {`, `type filter hook input priority 0; policy drop;`,
/// `ip saddr 10.0.0.0/24 accept comment "provision"`.
fn read_rules(text: &str, firewall: &mut Firewall) {
    let (mut table, mut chain) = (["", ""], "");
    let mut refuses = false;
    for line in text.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words.as_slice() {
            ["table", family, name, "{"] => table = [*family, *name],
            ["chain", name, "{"] => {
                chain = *name;
                refuses = false;
            }
            _ if line.contains("hook input") && line.contains("policy drop") => {
                refuses = true;
                if firewall.chain.is_none() {
                    let [family, name] = table;
                    firewall.chain = Some([family.to_owned(), name.to_owned(), chain.to_owned()]);
                }
            }
            ["ip" | "ip6", "saddr", network, "accept", ..] if refuses => {
                firewall.now.insert((*network).to_owned());
            }
            _ => {}
        }
    }
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
    let drops = |section: Section<'_>| lines(section.stdout).any(|line| line.starts_with("-P INPUT DROP"));
    match (firewall.backend, rules) {
        (Backend::None, Some(rules)) => {
            read_rules(rules.stdout, &mut firewall);
            // Rules that refuse nothing that comes in are none.
            if firewall.chain.is_some() {
                firewall.backend = Backend::Nftables;
            }
            firewall.denied = false;
        }
        (Backend::None, None) if iptables_rules.is_some_and(drops) => firewall.backend = Backend::Iptables,
        _ => {}
    }
    firewall.denied &= firewall.backend == Backend::None;
    answers(queries, |FirewallQuery| Some(Ok(firewall.clone())))
}

/// `-P INPUT DROP`, then rules.
fn iptables(text: &str) -> Result<Policy, String> {
    let policy =
        text.lines().find(|line| line.starts_with("-P INPUT")).ok_or("it shows no policy for INPUT")?;
    let accepts = text.lines().filter(|line| line.contains("-j ACCEPT")).count() as u64;
    let rejects =
        text.lines().any(|line| line == "-A INPUT -j DROP" || line.starts_with("-A INPUT -j REJECT"));
    Ok(Policy { line: policy.to_owned(), drops: policy.ends_with("DROP") || rejects, accepts })
}

/// `type filter hook input priority filter; policy drop;`.
fn nft(text: &str) -> Policy {
    let mut policy = Policy::default();
    for line in text.lines().map(str::trim).filter(|line| line.contains("hook input")) {
        if policy.line.is_empty() || line.contains("policy drop") {
            line.clone_into(&mut policy.line);
        }
        policy.drops |= line.contains("policy drop");
    }
    policy
}
