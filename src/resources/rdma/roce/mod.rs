//! `roce`: quality of service of a link for RoCE.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::config::read::Entries;
use crate::config::{Diagnostic, Diagnostics, FromNode as _, Node};
use crate::facts::roce::{Roce, RoceQuery, digits};
use crate::facts::{Facts, Object, Query, Touches, base};
use crate::inventory::Promise;
use crate::inventory::expect::{ExpectNetwork, Trust};
use crate::resources::services::boot_unit::BootUnit;
use crate::resources::shared::check::Check;
use crate::resources::shared::content::{RegularFile, describe};
use crate::resources::shared::known;
use crate::resources::shared::value::{FileMode, NetdevName, Presence, claims};
use crate::resources::{
    Attribute, Built, Change, Context, Detail, Disruption, Planned, Resource, Unplannable,
};
use crate::transport::Script;

crate::choice! {
    /// Treatment of a setting that the link, its driver or its tools do not support.
    Unsupported {
        /// The task is blocked, and the run says so.
        Block = "block",
        /// It is left out.
        Skip = "skip",
    }
}

crate::record! {
    /// Quality of service of a link for RoCE: trust, lossless priorities (PFC), ECN, priorities of
    /// DSCPs, ToS and traffic class. The values depend on the site: its switches must have the same.
    ///
    /// The task sets them with `mlnx_qos` if it is installed, else with `dcb`, sysfs, configfs and, for
    /// the notification packets of mlx5, debugfs. A boot and a reload of the driver reset them, so a
    /// systemd unit (`provision-roce-LINK.service`) sets them again with the same script each time
    /// that the link comes. What this host cannot set is told as blocked, and the rest is set all the same.
    /// NCCL does not use `rdma_cm` and therefore ignores `tos`: give `nccl_env` the
    /// same `tos`, or use `traffic_class`, which kernels with `MLNX_OFED` or `DOCA-OFED` support.
    RoceFields("quality of service for RoCE") {
        /// Name of the link.
        req netdev: NetdevName,
        /// The mark of a packet (PCP or DSCP) that decides its priority. Left out: unchanged.
        opt trust: Trust,
        /// Lossless priorities; all others become lossy. Left out: unchanged.
        opt pfc: Vec<u32>,
        /// Priorities with ECN. Others are unchanged.
        def ecn: Vec<u32> = Vec::new(),
        /// Priorities of DSCPs: `{ "26": 3 }`. Others are unchanged.
        def dscp: Entries<u32> = Entries::default(),
        /// ToS of connections that `rdma_cm` makes: four times the DSCP, plus 2 for ECN.
        opt tos: u32,
        /// Traffic class of all connections.
        opt traffic_class: u32,
        /// DSCP of the congestion notification packets (CNP) that the card sends (mlx5).
        opt cnp_dscp: u32,
        /// Priority of these packets (mlx5).
        opt cnp_priority: u32,
        /// Treatment of settings that the link does not support. The others are set either way.
        def unsupported: Unsupported = Unsupported::Block,
        /// `absent`: the settings are no longer made at boot; the current ones stay until then.
        def state: Presence = Presence::Present,
    }
}

kind! { "roce", RoceFields, promises: &["network.trust", "network.pfc", "network.ecn"] }

/// Path of the script on hosts.
const PROGRAM: &str = "/usr/local/lib/provision/roce";
const TEXT: &str = concat!(
    // systemd would look for programs below /usr/local first.
    "#!/bin/sh\n# Written by provision.\nPATH=/usr/sbin:/usr/bin:/sbin:/bin\n",
    include_str!("../../../shell/roce_device.sh"),
    include_str!("../../../shell/rooted.sh"),
    include_str!("roce.sh")
);

#[derive(Debug)]
struct Qos {
    netdev: String,
    trust: Option<Trust>,
    pfc: Option<Vec<u8>>,
    ecn: BTreeSet<u8>,
    dscp: BTreeMap<u8, u8>,
    tos: Option<u32>,
    traffic_class: Option<u32>,
    cnp_dscp: Option<u8>,
    cnp_priority: Option<u8>,
    unsupported: Unsupported,
    state: Presence,
    program: RegularFile,
    unit: BootUnit,
}

fn priority(number: u32) -> Option<u8> {
    u8::try_from(number).ok().filter(|number| *number < 8)
}

pub(in crate::resources) fn read(node: &Node, _: &dyn Context, diagnostics: &mut Diagnostics) -> Built {
    let fields = RoceFields::from_node(node, diagnostics)?;
    let mut wrong = |message: String, help: &str| {
        diagnostics.push(Diagnostic::error(node.span, message).help(help));
        None
    };
    let priorities = "priorities go from 0 to 7";
    let ecn: Option<BTreeSet<u8>> = fields.ecn.iter().map(|number| priority(*number)).collect();
    let lossless: Option<Vec<u8>> = fields.pfc.iter().flatten().map(|number| priority(*number)).collect();
    let (Some(ecn), Some(lossless)) = (ecn, lossless) else {
        return wrong("these are not priorities".to_owned(), priorities);
    };
    let mut dscp = BTreeMap::new();
    for (key, value) in &fields.dscp.0 {
        let code = key.value.parse::<u8>().ok().filter(|code| *code < 64);
        let (Some(code), Some(value)) = (code, priority(*value)) else {
            return wrong(
                format!("`{}: {value}` must map a DSCP to a priority", **key),
                "DSCPs go from 0 to 63, priorities from 0 to 7: `{ \"26\": 3 }`",
            );
        };
        dscp.insert(code, value);
    }
    if [fields.tos, fields.traffic_class].into_iter().flatten().any(|class| class > 255) {
        return wrong(
            "a ToS or traffic class must fit into one byte".to_owned(),
            "use 0 to 255; DSCP 26 with ECN is 106",
        );
    }
    let cnp_dscp = fields.cnp_dscp.map(|code| u8::try_from(code).ok().filter(|code| *code < 64));
    let cnp_priority = fields.cnp_priority.map(priority);
    if cnp_dscp == Some(None) || cnp_priority == Some(None) {
        return wrong(
            "`cnp_dscp` or `cnp_priority` is out of range".to_owned(),
            "DSCPs go from 0 to 63, priorities from 0 to 7",
        );
    }
    let (cnp_dscp, cnp_priority) = (cnp_dscp.flatten(), cnp_priority.flatten());
    let pfc = fields.pfc.map(|_| digits(&lossless));
    let nothing = fields.trust.is_none()
        && pfc.is_none()
        && ecn.is_empty()
        && dscp.is_empty()
        && fields.tos.is_none()
        && fields.traffic_class.is_none()
        && cnp_dscp.is_none()
        && cnp_priority.is_none();
    if nothing != (fields.state == Presence::Absent) {
        return wrong(
            if nothing { "this task sets nothing" } else { "`state: absent` cannot have settings" }
                .to_owned(),
            "write settings, such as `pfc: [3]`, `trust: dscp` or `tos: 106`, or `state: absent` alone",
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
        cnp_dscp.map(|code| code.to_string()),
        cnp_priority.map(|priority| priority.to_string()),
    ];
    let words: Vec<String> = words
        .into_iter()
        .map(|word| word.filter(|word| !word.is_empty()).unwrap_or_else(|| "-".to_owned()))
        .collect();
    let unit = BootUnit::new(
        format!("provision-roce-{netdev}.service"),
        &format!("quality of service for RoCE on {netdev}"),
        &netdev,
        // What nothing here can set is for plan and verify to say.
        &format!("{PROGRAM} {netdev} {} || [ $? = 3 ]", words.join(" ")),
    );
    let mut program = RegularFile::drop_in(PROGRAM.to_owned(), TEXT.to_owned());
    program.mode = Some(FileMode(0o755));
    program.check = Some(Check::of_boot_program());
    Some(Arc::new(Qos {
        netdev,
        trust: fields.trust,
        pfc,
        ecn,
        dscp,
        tos: fields.tos,
        traffic_class: fields.traffic_class,
        cnp_dscp,
        cnp_priority,
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

/// Settings that differ, and those that the link does not have.
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
        if let Some(code) = self.cnp_dscp {
            compared.setting("cnp_dscp", now.cnp_dscp.clone(), &code.to_string());
        }
        if let Some(priority) = self.cnp_priority {
            compared.setting("cnp_priority", now.cnp_priority.clone(), &priority.to_string());
        }
        compared
    }

    /// Plans the change of the link's settings that is due now.
    fn live(&self, facts: &Facts) -> Result<Option<Change>, Unplannable> {
        let now = known::answer(facts, &RoceQuery(self.netdev.clone()), &self.object())?;
        let Some(now) = now else {
            let text = format!("there is no network link {}", self.netdev);
            return Err(Unplannable::Missing(Object::Path(format!("/sys/class/net/{}", self.netdev)), text));
        };
        let Compared { drift, lacks } = self.compare(now);
        let change = self.change(drift, facts)?;
        if lacks.is_empty() || self.unsupported == Unsupported::Skip {
            return Ok(change);
        }
        let reason = now.refused.as_ref().map(|said| format!(" ({said})")).unwrap_or_default();
        let reason = format!(
            "no tool on this host reads and sets {} of {}{reason}: set `unsupported: skip` to leave it out",
            lacks.join(", "),
            self.netdev
        );
        Err(Unplannable::Partly(Vec::from_iter(change), reason))
    }

    /// Sets what differs.
    fn change(&self, drift: Vec<Attribute>, facts: &Facts) -> Result<Option<Change>, Unplannable> {
        if drift.is_empty() {
            return Ok(None);
        }
        if let Some(kind) = known::container(facts) {
            return Err(Unplannable::Blocked(format!(
                "quality of service cannot be set in a container ({kind}): set it on the machine that runs it"
            )));
        }
        let told: Vec<String> = drift.iter().map(describe).collect();
        let change = Change::new(
            self.object(),
            format!("~ RoCE on {} ({})", self.netdev, told.join(", ")),
            Detail::Attributes(drift),
            Script::new(crate::shell!("resources/shared/unit.sh"))
                .named("action", "restart")
                .named("unit", self.unit.name.as_str()),
        );
        // Buffers are made anew; packets that are under way may be lost.
        Ok(Some(change.disrupting(Disruption::Network)))
    }
}

impl Resource for Qos {
    fn queries(&self) -> Vec<Query> {
        let mut queries = self.unit.queries();
        queries.extend(base("virtualization"));
        if self.state == Presence::Present {
            queries.extend(self.program.queries());
            queries.push(RoceQuery(self.netdev.clone()).into());
        }
        queries
    }

    fn plan(&self, facts: &Facts) -> Planned {
        if self.state == Presence::Absent {
            return self.unit.plan(self.state, facts);
        }
        let mut changes = self.program.plan_with_directory(facts)?;
        changes.extend(self.unit.plan(self.state, facts)?);
        changes.extend(self.live(facts).map_err(|error| error.beside(&changes))?);
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
            ("CNP DSCP", self.cnp_dscp.map(|code| code.to_string())),
            ("CNP priority", self.cnp_priority.map(|priority| priority.to_string())),
        ];
        let link = claims(Object::Path, &name, self.state.to_string(), settings);
        self.unit.manages(self.state).into_iter().chain(link).collect()
    }

    /// Only what the tools of this host show: nobody could tell the rest.
    fn promises(&self, facts: &Facts) -> Vec<Promise> {
        let now = known::answer(facts, &RoceQuery(self.netdev.clone()), &self.object());
        let Ok(Some(now)) = now else { return Vec::new() };
        let on = |bits: &Vec<u8>| (0..).zip(bits).filter(|(_, bit)| **bit == 1).map(|(at, _)| at).collect();
        let ecn: Vec<u32> =
            self.ecn.iter().filter(|one| now.ecn.contains_key(one)).map(|one| u32::from(*one)).collect();
        let network = ExpectNetwork {
            trust: self.trust.filter(|_| now.trust.is_some()),
            pfc: self.pfc.as_ref().filter(|_| now.pfc.is_some()).map(on),
            ecn: (!ecn.is_empty()).then_some(ecn),
            ..ExpectNetwork::default()
        };
        vec![Promise::of_link(&self.netdev, network)]
    }
}
