//! `firewall`: the hosts of a cluster are let in by each other.

use std::sync::Arc;

use super::roster::Network;
use super::{
    Attribute, Change, Context, Detail, Disruption, Login, Planned, Resource, Undo, Unplannable, known,
};
use crate::config::{Diagnostics, FromNode as _, Node};
use crate::facts::firewall::{Backend, Firewall as Found};
use crate::facts::{Answer, Facts, Object, Query, Touches};
use crate::transport::Script;

crate::record! {
    /// Networks of a cluster that the firewall lets in, whatever the port.
    ///
    /// MPI and NCCL meet each other on ports that the kernel picks, RoCE on UDP 4791, perftest on
    /// 18515, torchrun on 29500: a firewall that lets in single ports breaks them, so the networks between the
    /// hosts are trusted as a whole. Whichever of firewalld, ufw and nftables is at work gets what it
    /// lacks, now and for the next boot, and nothing else; where nothing refuses anything, nothing is
    /// done. The host takes a change back by itself unless a new login confirms it.
    FirewallFields("rules of a firewall") {
        /// The networks: those of MPI's sockets and of RDMA.
        req trust: Vec<Network>,
    }
}

#[derive(Debug)]
struct Firewall {
    trust: Vec<Network>,
}

pub(super) fn read(node: &Node, _: &dyn Context, diagnostics: &mut Diagnostics) -> Option<Arc<dyn Resource>> {
    let fields = FirewallFields::from_node(node, diagnostics)?;
    if fields.trust.is_empty() {
        diagnostics.error(node.span, "no network is named");
        return None;
    }
    if let Some(all) = fields.trust.iter().find(|network| network.is_everything()) {
        diagnostics.error(node.span, format!("{all} is everybody: that is no firewall any more"));
        return None;
    }
    Some(Arc::new(Firewall { trust: fields.trust }))
}

/// The script for one backend.
fn script(backend: Backend) -> Script {
    Script::new(crate::shell!("resources/firewall.sh")).arg(backend.to_string())
}

fn object() -> Object {
    Object::Unit("firewall".to_owned())
}

impl Firewall {
    fn found(facts: &Facts) -> Result<&Found, Unplannable> {
        let answer = known::answer(facts, &Query::Firewall, &object())?;
        let Answer::Firewall(found) = answer else { return Err(known::strange(&object())) };
        Ok(found)
    }
}

impl Resource for Firewall {
    fn queries(&self) -> Vec<Query> {
        vec![Query::Firewall]
    }

    fn plan(&self, facts: &Facts) -> Planned {
        let found = Self::found(facts)?;
        let mut place = ["", "", ""].map(str::to_owned);
        match found.backend {
            Backend::None => return Ok(Vec::new()),
            Backend::Iptables => {
                return Err(Unplannable::Failed(
                    "the firewall is rules of iptables that nobody manages: let the cluster's networks in where \
                     they are made"
                        .to_owned(),
                ));
            }
            Backend::Nftables => {
                let Some(chain) = &found.chain else { return Ok(Vec::new()) };
                place.clone_from(chain);
                if found.file.is_none() {
                    return Err(Unplannable::Failed(
                        "nftables refuses what comes in, and there is no file of rules for the next boot"
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
            changes.push(Change {
                object: object(),
                summary: format!("+ {} lets in {text}{what}", found.backend),
                detail: Detail::Attributes(vec![Attribute::new("trusted", None, Some(&text))]),
                script: script(found.backend)
                    .arg(text)
                    .arg(word(now))
                    .arg(word(boot))
                    .arg(family.as_str())
                    .arg(table.as_str())
                    .arg(chain.as_str())
                    .arg(found.file.as_deref().unwrap_or("")),
                upload: None,
                disruption: Disruption::None,
            });
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

    fn login(&self, facts: &Facts) -> Login {
        let undo = Undo::new("firewall");
        let restore = |name: &str| Script::new(crate::shell!("resources/firewall_restore.sh")).arg(name);
        match Self::found(facts) {
            Ok(Found { backend: Backend::Firewalld, .. }) => {
                Login::Guarded(undo.path("/etc/firewalld").restore(restore("firewalld")))
            }
            Ok(Found { backend: Backend::Ufw, .. }) => {
                Login::Guarded(undo.path("/etc/ufw").restore(restore("ufw")))
            }
            Ok(Found { backend: Backend::Nftables, file: Some(file), .. }) => Login::Guarded(
                undo.path(file.as_str())
                    .save(Script::new("nft list ruleset >ruleset"))
                    .restore(restore("nftables")),
            ),
            _ => Login::Same,
        }
    }
}
