//! `roce`: quality of service of a link for RoCE.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::boot_unit::BootUnit;
use super::content::{RegularFile, describe};
use super::value::{FileMode, NetdevName, Presence, claims};
use super::{Attribute, Change, Context, Detail, Disruption, Planned, Resource, Unplannable, known};
use crate::config::read::Entries;
use crate::config::{Diagnostic, Diagnostics, FromNode as _, Node};
use crate::facts::roce::Roce;
use crate::facts::{Answer, Facts, Object, Query, Touches, base};
use crate::transport::Script;

crate::choice! {
    /// What of a packet decides its priority.
    Trust {
        /// The DSCP of its IP header.
        Dscp = "dscp",
        /// The priority of its VLAN tag.
        Pcp = "pcp",
    }
}

crate::choice! {
    /// What becomes of a setting that the link, its driver or its tools do not have.
    Unsupported {
        /// The task cannot be done, which the run says.
        Block = "block",
        /// It is left out.
        Skip = "skip",
    }
}

crate::record! {
    /// Quality of service of a link for RoCE: trust, lossless priorities (PFC), ECN, priorities of DSCPs,
    /// ToS and traffic class. All are values of the site: its switches must have the same.
    ///
    /// Set by `mlnx_qos` where it is, else by `dcb`, sysfs and configfs. Nothing of it survives a boot, so a
    /// unit (`provision-roce-LINK.service`) sets it again with the same script. NCCL does not use `rdma_cm`
    /// and thus ignores `tos`: set `NCCL_IB_TC` to the same value, or `traffic_class`, which kernels with
    /// `MLNX_OFED` or `DOCA-OFED` have.
    RoceFields("quality of service for RoCE") {
        /// The link.
        req netdev: NetdevName,
        /// What decides a packet's priority; what is there stays.
        opt trust: Trust,
        /// Lossless priorities, all others are not; what is there stays.
        opt pfc: Vec<u32>,
        /// Priorities with ECN; others stay.
        def ecn: Vec<u32> = Vec::new(),
        /// Priorities of DSCPs: `{ "26": 3 }`; others stay.
        def dscp: Entries<u32> = Entries::default(),
        /// ToS of connections that `rdma_cm` makes: four times the DSCP, and 2 for ECN.
        opt tos: u32,
        /// Traffic class of all connections.
        opt traffic_class: u32,
        /// What becomes of settings that the link cannot have.
        def unsupported: Unsupported = Unsupported::Block,
        /// `absent`: no longer set at boot; what is set stays until then.
        def state: Presence = Presence::Present,
    }
}

/// Where the script is on hosts.
const PROGRAM: &str = "/usr/local/lib/provision/roce";

#[derive(Debug)]
struct Qos {
    netdev: String,
    trust: Option<Trust>,
    pfc: Option<Vec<u8>>,
    ecn: BTreeSet<u8>,
    dscp: BTreeMap<u8, u8>,
    tos: Option<u32>,
    traffic_class: Option<u32>,
    unsupported: Unsupported,
    state: Presence,
    program: RegularFile,
    unit: BootUnit,
}

fn priority(number: u32) -> Option<u8> {
    u8::try_from(number).ok().filter(|number| *number < 8)
}

pub(super) fn read(node: &Node, _: &dyn Context, diagnostics: &mut Diagnostics) -> Option<Arc<dyn Resource>> {
    let fields = RoceFields::from_node(node, diagnostics)?;
    let mut wrong = |message: String, help: &str| {
        diagnostics.push(Diagnostic::error(node.span, message).help(help));
        None
    };
    let priorities = "priorities are 0 to 7";
    let ecn: Option<BTreeSet<u8>> = fields.ecn.iter().map(|number| priority(*number)).collect();
    let lossless: Option<Vec<u8>> = fields.pfc.iter().flatten().map(|number| priority(*number)).collect();
    let (Some(ecn), Some(lossless)) = (ecn, lossless) else {
        return wrong("this is not a list of priorities".to_owned(), priorities);
    };
    let mut dscp = BTreeMap::new();
    for (key, value) in &fields.dscp.0 {
        let code = key.value.parse::<u8>().ok().filter(|code| *code < 64);
        let (Some(code), Some(value)) = (code, priority(*value)) else {
            return wrong(
                format!("`{}: {value}` does not map a DSCP to a priority", **key),
                "DSCPs are 0 to 63, priorities 0 to 7: `{ \"26\": 3 }`",
            );
        };
        dscp.insert(code, value);
    }
    if [fields.tos, fields.traffic_class].into_iter().flatten().any(|class| class > 255) {
        return wrong("a ToS or traffic class is one byte".to_owned(), "0 to 255; DSCP 26 with ECN is 106");
    }
    let pfc = fields.pfc.map(|_| (0..8).map(|one| u8::from(lossless.contains(&one))).collect::<Vec<u8>>());
    let nothing = fields.trust.is_none()
        && pfc.is_none()
        && ecn.is_empty()
        && dscp.is_empty()
        && fields.tos.is_none()
        && fields.traffic_class.is_none();
    if nothing != (fields.state == Presence::Absent) {
        return wrong(
            if nothing { "this task wants nothing" } else { "settings that shall be absent have no values" }
                .to_owned(),
            "`pfc: [3]`, `trust: dscp`, `tos: 106`, or `state: absent` alone",
        );
    }
    let netdev = fields.netdev.0;
    let words = [
        fields.trust.map(|trust| trust.to_string()),
        pfc.as_ref().map(join),
        Some(join(&ecn)),
        Some(join(dscp.iter().map(|(dscp, priority)| format!("{dscp}:{priority}")))),
        fields.tos.map(|tos| tos.to_string()),
        fields.traffic_class.map(|class| class.to_string()),
    ];
    let words: Vec<String> = words
        .into_iter()
        .map(|word| word.filter(|word| !word.is_empty()).unwrap_or_else(|| "-".to_owned()))
        .collect();
    let unit = BootUnit::new(
        format!("provision-roce-{netdev}.service"),
        &format!("quality of service for RoCE on {netdev}"),
        &[&netdev],
        &format!("exec {PROGRAM} {netdev} {}", words.join(" ")),
    );
    let mut program =
        RegularFile::drop_in(PROGRAM.to_owned(), include_str!("../shell/resources/roce.sh").to_owned());
    program.mode = Some(FileMode(0o755));
    Some(Arc::new(Qos {
        netdev,
        trust: fields.trust,
        pfc,
        ecn,
        dscp,
        tos: fields.tos,
        traffic_class: fields.traffic_class,
        unsupported: fields.unsupported,
        state: fields.state,
        program,
        unit,
    }))
}

fn join<T: ToString>(items: impl IntoIterator<Item = T>) -> String {
    items.into_iter().map(|item| item.to_string()).collect::<Vec<_>>().join(",")
}

/// Lossless priorities as people write them.
fn lossless(bits: &[u8]) -> String {
    let on: Vec<usize> = (0..).zip(bits).filter(|(_, bit)| **bit == 1).map(|(at, _)| at).collect();
    if on.is_empty() { "none".to_owned() } else { join(on) }
}

/// What differs, and what the link does not have.
#[derive(Default)]
struct Compared {
    drift: Vec<Attribute>,
    lacks: Vec<String>,
}

impl Compared {
    fn setting(&mut self, name: &str, now: Option<String>, wanted: &str) {
        match now {
            Some(now) if now == wanted => {}
            Some(now) => self.drift.push(Attribute::new(name, Some(&now), Some(wanted))),
            None => self.lacks.push(name.to_owned()),
        }
    }
}

impl Qos {
    fn object(&self) -> Object {
        Object::Path(format!("/sys/class/net/{}/qos", self.netdev))
    }

    fn compare(&self, now: &Roce) -> Compared {
        let mut compared = Compared::default();
        if let Some(trust) = self.trust {
            // dcb has no word for it: mlx5 trusts DSCP once one has a priority.
            let implied =
                now.trust.is_none() && trust == Trust::Dscp && !self.dscp.is_empty() && now.dscp.is_some();
            if !implied {
                compared.setting("trust", now.trust.clone(), trust.as_str());
            }
        }
        if let Some(pfc) = &self.pfc {
            compared.setting("pfc", now.pfc.as_deref().map(lossless), &lossless(pfc));
        }
        for (dscp, priority) in &self.dscp {
            let is = |map: &BTreeMap<u8, u8>| map.get(dscp).map_or_else(|| "none".to_owned(), u8::to_string);
            compared.setting(&format!("dscp {dscp}"), now.dscp.as_ref().map(is), &priority.to_string());
        }
        for priority in &self.ecn {
            let is = now.ecn.get(priority).map(|on| if *on { "on" } else { "off" }.to_owned());
            compared.setting(&format!("ecn {priority}"), is, "on");
        }
        if let Some(tos) = self.tos {
            compared.setting("tos", now.tos.clone(), &tos.to_string());
        }
        if let Some(class) = self.traffic_class {
            compared.setting("traffic_class", now.traffic_class.clone(), &class.to_string());
        }
        compared
    }

    /// What of the link must change now.
    fn live(&self, facts: &Facts) -> Result<Option<Change>, Unplannable> {
        let Answer::Roce(now) = known::answer(facts, &Query::Roce(self.netdev.clone()), &self.object())?
        else {
            return Err(known::strange(&self.object()));
        };
        let Some(now) = now else {
            let text = format!("there is no link {}", self.netdev);
            return Err(Unplannable::Missing(Object::Path(format!("/sys/class/net/{}", self.netdev)), text));
        };
        let Compared { drift, lacks } = self.compare(now);
        if !lacks.is_empty() && self.unsupported == Unsupported::Block {
            let reason = now.refused.as_ref().map(|said| format!(" ({said})")).unwrap_or_default();
            return Err(Unplannable::Blocked(format!(
                "nothing on this host tells or sets {} of {}{reason}; `unsupported: skip` leaves it out",
                lacks.join(", "),
                self.netdev
            )));
        }
        if drift.is_empty() {
            return Ok(None);
        }
        if let Some(kind) = known::container(facts) {
            return Err(Unplannable::Blocked(format!(
                "the link belongs to the machine below: its quality of service is not set in a container ({kind})"
            )));
        }
        let told: Vec<String> = drift.iter().map(describe).collect();
        Ok(Some(Change {
            object: self.object(),
            summary: format!("~ RoCE on {} ({})", self.netdev, told.join(", ")),
            detail: Detail::Attributes(drift),
            script: Script::new(crate::shell!("resources/unit.sh"))
                .arg("restart")
                .arg(self.unit.name.as_str()),
            upload: None,
            // Buffers are made anew; packets that are under way may be lost.
            disruption: Disruption::Network,
        }))
    }
}

impl Resource for Qos {
    fn queries(&self) -> Vec<Query> {
        let mut queries = self.unit.queries();
        queries.extend(base("virtualization"));
        if self.state == Presence::Present {
            queries.extend(self.program.queries());
            queries.push(Query::Roce(self.netdev.clone()));
        }
        queries
    }

    fn plan(&self, facts: &Facts) -> Planned {
        if self.state == Presence::Absent {
            return self.unit.plan(self.state, facts);
        }
        let live = self.live(facts)?;
        let mut changes = self.program.plan_with_directory(facts)?;
        changes.extend(self.unit.plan(self.state, facts)?);
        changes.extend(live);
        Ok(changes)
    }

    fn touches(&self) -> Touches {
        let mut objects = BTreeSet::from(self.unit.objects());
        objects.insert(Object::Path(PROGRAM.to_owned()));
        objects.insert(self.object());
        Touches::Objects(objects)
    }

    fn manages(&self) -> Vec<(Object, String)> {
        let name = format!("/sys/class/net/{}/qos", self.netdev);
        let settings = [
            ("trust", self.trust.map(|trust| trust.to_string())),
            ("pfc", self.pfc.as_deref().map(lossless)),
            ("tos", self.tos.map(|tos| tos.to_string())),
            ("traffic class", self.traffic_class.map(|class| class.to_string())),
        ];
        let link = claims(Object::Path, &name, self.state.to_string(), settings);
        self.unit.manages(self.state).into_iter().chain(link).collect()
    }
}
