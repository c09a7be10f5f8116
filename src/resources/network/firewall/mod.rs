//! `firewall`: the hosts of a cluster are let in by each other.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::config::{Diagnostics, FromNode as _, Node};
use crate::facts::firewall::{Backend, Firewall as Found, FirewallQuery};
use crate::facts::{Facts, GapKind, Object, Query, Touches};
use crate::resources::shared::known;
use crate::resources::shared::roster::Network;
use crate::resources::{
    Attribute, Built, Change, Context, Detail, LoginEffect, Planned, Resource, Undo, Unplannable,
};
use crate::transport::Script;

crate::record! {
    /// Networks of the cluster that the firewall lets in on every port.
    ///
    /// MPI and NCCL use ports that the kernel picks, RoCE uses UDP 4791, perftest 18515 and torchrun
    /// 29500. A firewall that opens single ports breaks them, so the networks between the hosts are
    /// trusted as a whole. The task adds only the missing rules to the firewall that is active
    /// (firewalld, ufw or nftables), now and for the next boot. If nothing is blocked, nothing is
    /// changed. The host undoes a change by itself unless a new login confirms it.
    Firewall("rules of a firewall") {
        /// The networks of MPI's sockets and of RDMA.
        req trust: Vec<Network>,
    }
}

kind! { "firewall", Firewall }

pub(in crate::resources) fn read(node: &Node, _: &dyn Context, diagnostics: &mut Diagnostics) -> Built {
    let mut fields = Firewall::from_node(node, diagnostics)?;
    if fields.trust.is_empty() {
        diagnostics.error(node.span, "no network is given");
        return None;
    }
    if let Some(all) = fields.trust.iter().find(|network| network.is_everything()) {
        diagnostics
            .error(node.span, format!("{all} would let everybody in: name the networks of the cluster"));
        return None;
    }
    // Each host tells its own address and the same network.
    let mut seen = BTreeSet::new();
    fields.trust.retain(|network| seen.insert(network.canonical()));
    Some(Arc::new(fields))
}

/// The script for one backend.
fn script(backend: Backend) -> Script {
    Script::new(crate::shell!("resources/network/firewall/firewall.sh")).named("manager", backend.to_string())
}

fn object() -> Object {
    Object::Unit("firewall".to_owned())
}

impl Firewall {
    fn found(facts: &Facts) -> Result<&Found, Unplannable> {
        let found = known::answer(facts, &FirewallQuery, &object())?;
        if found.denied {
            return Err(Unplannable::Unknown(
                object(),
                "only root may read the firewall: set `become`".to_owned(),
            ));
        }
        // A tool that is there and fails may hide rules.
        let mut failed = found.tools.values().filter_map(|seen| seen.as_ref().err());
        match failed.find(|gap| !matches!(gap.kind, GapKind::Missing | GapKind::Absent)) {
            Some(gap) if found.backend == Backend::None => {
                Err(Unplannable::Unknown(object(), gap.reason.clone()))
            }
            _ => Ok(found),
        }
    }
}

impl Resource for Firewall {
    fn queries(&self) -> Vec<Query> {
        vec![FirewallQuery.into()]
    }

    fn plan(&self, facts: &Facts) -> Planned {
        let found = Self::found(facts)?;
        let mut place = ["", "", ""].map(str::to_owned);
        match found.backend {
            Backend::None => return Ok(Vec::new()),
            Backend::Iptables => {
                if self.trust.iter().all(|network| found.now.contains(&network.canonical())) {
                    return Ok(Vec::new());
                }
                return Err(Unplannable::Failed(
                    "the firewall consists of iptables rules that no service manages: allow the cluster's \
                     networks where these rules are made"
                        .to_owned(),
                ));
            }
            Backend::Nftables => {
                let Some(chain) = &found.chain else { return Ok(Vec::new()) };
                place.clone_from(chain);
                if found.file.is_none() {
                    return Err(Unplannable::Failed(
                        "nftables blocks incoming traffic, but has no file of rules for the next boot: save the rules first"
                            .to_owned(),
                    ));
                }
            }
            Backend::Firewalld | Backend::Ufw => {}
        }
        let mut changes = Vec::new();
        for network in &self.trust {
            let text = network.canonical();
            let (now, boot) = (found.now.contains(&text), found.at_boot.contains(&text));
            if now && boot {
                continue;
            }
            let what = match (now, boot) {
                (false, false) => "",
                (false, true) => " (now)",
                (true, _) => " (at boot)",
            };
            let word = |is: bool| if is { "there" } else { "missing" };
            let [family, table, chain] = &place;
            changes.push(Change::new(
                object(),
                format!("+ {} lets in {text}{what}", found.backend),
                Detail::Attributes(vec![Attribute::new("trusted", None, Some(&text))]),
                script(found.backend)
                    .named("network", text)
                    .named("now", word(now))
                    .named("boot", word(boot))
                    .named("family", family.as_str())
                    .named("table", table.as_str())
                    .named("chain", chain.as_str())
                    .named("file", found.file.as_deref().unwrap_or("")),
            ));
        }
        Ok(changes)
    }

    fn touches(&self) -> Touches {
        Touches::one(object())
    }

    fn manages(&self) -> Vec<(Object, String)> {
        self.trust
            .iter()
            .map(|network| (Object::Unit(format!("firewall ({network})")), "trusted".to_owned()))
            .collect()
    }

    fn login(&self, facts: &Facts) -> LoginEffect {
        let undo = Undo::new("firewall");
        let restore = |name: &str| {
            Script::new(crate::shell!("resources/network/firewall/firewall_restore.sh"))
                .named("manager", name)
        };
        match Self::found(facts) {
            Ok(Found { backend: Backend::Firewalld, .. }) => {
                LoginEffect::Guarded(undo.path("/etc/firewalld").restore(restore("firewalld")))
            }
            Ok(Found { backend: Backend::Ufw, .. }) => {
                LoginEffect::Guarded(undo.path("/etc/ufw").restore(restore("ufw")))
            }
            Ok(Found { backend: Backend::Nftables, file: Some(file), .. }) => LoginEffect::Guarded(
                undo.path(file.as_str())
                    .save(Script::new("nft list ruleset >ruleset"))
                    .restore(restore("nftables")),
            ),
            _ => LoginEffect::Same,
        }
    }
}
