//! The firewall of a host, and which networks it trusts.
//!
//! Formats: `firewall-cmd --list-sources` (words), `ufw show added` (`ufw allow from NETWORK`),
//! `nft list ruleset` (chains with `hook input` and their policy).

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::{Answer, Answers, Query, lines};
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

/// The firewall of a host.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Firewall {
    /// Who manages it.
    pub backend: Backend,
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
}

pub(super) fn script(_: &[Query]) -> Script {
    Script::new(crate::shell!("facts/firewall.sh"))
}

/// `table inet filter {`, `chain input {`, `type filter hook input priority 0; policy drop;`,
/// `ip saddr 10.0.0.0/24 accept comment "provision"`.
fn read_rules(text: &[&str], firewall: &mut Firewall) {
    let (mut table, mut chain) = (["", ""], "");
    let mut refuses = false;
    for line in text {
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

pub(super) fn parse(queries: &[Query], output: &[u8], _: i32) -> Answers {
    let output = String::from_utf8_lossy(output);
    let mut firewall = Firewall {
        backend: Backend::None,
        now: BTreeSet::new(),
        at_boot: BTreeSet::new(),
        chain: None,
        file: None,
    };
    let (mut ended, mut denied) = (false, false);
    let mut rules = Vec::new();
    for line in lines(&output) {
        match line.split_once(' ').unwrap_or((line, "")) {
            ("end", "") => ended = true,
            ("denied", "") => denied = true,
            ("backend", name) => {
                if let Some(backend) =
                    [Backend::Firewalld, Backend::Ufw, Backend::Nftables, Backend::Iptables]
                        .into_iter()
                        .find(|backend| backend.to_string() == name)
                {
                    firewall.backend = backend;
                }
            }
            ("now", words) => firewall.now.extend(words.split_whitespace().map(str::to_owned)),
            ("boot", words) => firewall.at_boot.extend(words.split_whitespace().map(str::to_owned)),
            ("file", path) => firewall.file = Some(path.to_owned()),
            ("rule", rule) => rules.push(rule),
            _ => {}
        }
    }
    if !ended {
        return Vec::new();
    }
    read_rules(&rules, &mut firewall);
    if firewall.backend == Backend::Nftables && firewall.chain.is_none() {
        // Its rules refuse nothing that comes in.
        firewall.backend = Backend::None;
    }
    let answer = if denied {
        Answer::Unknown("only root may look at the firewall".to_owned())
    } else {
        Answer::Firewall(firewall)
    };
    queries.iter().map(|query| (query.clone(), answer.clone())).collect()
}
