//! `rdma_link`: an RDMA device in software.

pub mod question;

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::config::{Diagnostic, Diagnostics, FromNode as _, Node};
use crate::facts::file::PathQuery;
use crate::facts::module::ModuleQuery;
use crate::facts::{Facts, Object, Query, Touches, base};
use crate::inventory::Promise;
use crate::inventory::expect::ExpectRdma;
use crate::resources::rdma::rdma_link::question::{RdmaLink, RdmaLinkQuery};
use crate::resources::services::boot_unit::BootUnit;
use crate::resources::shared::known;
use crate::resources::shared::value::{NetdevName, Presence, RdmaName, claims};
use crate::resources::{
    Attribute, Built, Change, Context, Detail, Disruption, Planned, Resource, Unplannable,
};
use crate::transport::Script;

crate::choice! {
    /// The software that makes the RDMA device.
    LinkType {
        /// Soft-RoCE: RoCE v2 over UDP port 4791.
        Rxe = "rxe",
        /// iWARP over TCP; programs must use `rdma_cm` (`ib_write_bw -R`).
        Siw = "siw",
    }
}

crate::record! {
    /// An RDMA device in software over any link: Soft-RoCE (`rxe`) or iWARP (`siw`), for tests and for
    /// hosts without RDMA hardware.
    ///
    /// The kernel loses it at each boot, so a systemd unit (`provision-rdma-link-NAME.service`) adds it
    /// again. Its active MTU follows that of the link: a link with 4192 bytes or more gives 4096, one
    /// with 1500 gives 1024. It cannot be made in a container.
    RdmaLinkFields("an RDMA link") {
        /// Name of the RDMA device: `rxe0`.
        req name: RdmaName,
        /// The link that it uses.
        opt netdev: NetdevName,
        /// The software that makes it.
        def kind("type"): LinkType = LinkType::Rxe,
        /// Whether it is added again at boot.
        def boot: bool = true,
        /// Whether it must exist (`present`) or must not (`absent`).
        def state: Presence = Presence::Present,
    }
}

kind! { "rdma_link", RdmaLinkFields, promises: &["rdma.devices"] }

#[derive(Debug)]
struct Link {
    name: String,
    /// Empty when it shall not be there.
    netdev: String,
    kind: LinkType,
    boot: bool,
    state: Presence,
    unit: BootUnit,
}

pub(in crate::resources) fn read(node: &Node, _: &dyn Context, diagnostics: &mut Diagnostics) -> Built {
    let fields = RdmaLinkFields::from_node(node, diagnostics)?;
    if fields.netdev.is_none() && fields.state == Presence::Present {
        diagnostics.push(
            Diagnostic::error(node.span, "this RDMA link has no `netdev`")
                .help("name the link that it uses: `netdev: eth0`"),
        );
        return None;
    }
    let name = fields.name.0;
    let netdev = fields.netdev.map(|netdev| netdev.0).unwrap_or_default();
    let kind = fields.kind;
    // Before the link is configured it has another MTU, and the device would keep the one of then.
    let wait = format!(
        "try=0; while read -r state </sys/class/net/{netdev}/operstate && [ $state = down ] && [ $try -lt 30 ]; do sleep 1; try=$((try + 1)); done"
    );
    let command = format!(
        "[ -d /sys/class/infiniband/{name} ] || [ ! -d /sys/class/net/{netdev} ] || {{ {wait}; modprobe {} && exec rdma link add {name} type {kind} netdev {netdev}; }}",
        module(kind)
    );
    let unit = BootUnit::new(
        format!("provision-rdma-link-{name}.service"),
        &format!("RDMA device {name} ({kind}) over {netdev}"),
        &netdev,
        &command,
    );
    Some(Arc::new(Link { name, netdev, kind, boot: fields.boot, state: fields.state, unit }))
}

fn module(kind: LinkType) -> &'static str {
    match kind {
        LinkType::Rxe => "rdma_rxe",
        LinkType::Siw => "siw",
    }
}

impl Link {
    fn object(&self) -> Object {
        Object::Path(format!("/sys/class/infiniband/{}", self.name))
    }

    fn unit_state(&self) -> Presence {
        if self.boot { self.state } else { Presence::Absent }
    }

    fn netdev_path(&self) -> String {
        format!("/sys/class/net/{}", self.netdev)
    }

    fn change(&self, summary: String, attributes: Vec<Attribute>, script: Script) -> Change {
        // Who uses a device loses it.
        let removes = attributes.iter().any(|attribute| attribute.before.is_some());
        let disruption = if removes { Disruption::Network } else { Disruption::None };
        let detail = Detail::Attributes(attributes);
        Change::new(self.object(), summary, detail, script).disrupting(disruption)
    }

    /// Reports what keeps it from being made now.
    fn possible(&self, facts: &Facts) -> Result<(), Unplannable> {
        if let Some(kind) = known::container(facts) {
            return Err(Unplannable::Blocked(format!(
                "RDMA devices cannot be made in a container ({kind}): make them on the machine that runs it"
            )));
        }
        let module = Object::Module(module(self.kind).to_owned());
        let found = known::answer(facts, &ModuleQuery(self.module()), &module)?;
        if !found.available {
            let text = format!("kernel {} has no {module}", found.kernel);
            return Err(Unplannable::Missing(module, text));
        }
        if known::path(facts, &self.netdev_path())?.is_none() {
            let text = format!("there is no network link {}", self.netdev);
            return Err(Unplannable::Missing(Object::Path(self.netdev_path()), text));
        }
        Ok(())
    }

    fn module(&self) -> String {
        module(self.kind).to_owned()
    }

    /// Lists what differs between the device that is there and the wanted one.
    fn drift(&self, link: &RdmaLink) -> Vec<Attribute> {
        let mut drift = Vec::new();
        if link.netdev.as_deref() != Some(self.netdev.as_str()) {
            let before = link.netdev.as_deref().unwrap_or("none");
            drift.push(Attribute::new("netdev", Some(before), Some(&self.netdev)));
        }
        if link.iwarp != (self.kind == LinkType::Siw) {
            let before = if link.iwarp { "iWARP" } else { "InfiniBand or RoCE" };
            drift.push(Attribute::new("type", Some(before), Some(self.kind.as_str())));
        }
        drift
    }
}

impl Resource for Link {
    fn queries(&self) -> Vec<Query> {
        let mut queries = self.unit.queries();
        queries.extend(base("virtualization"));
        queries.push(RdmaLinkQuery(self.name.clone()).into());
        if self.state == Presence::Present {
            queries.push(ModuleQuery(self.module()).into());
            queries.push(PathQuery(self.netdev_path()).into());
        }
        queries
    }

    fn plan(&self, facts: &Facts) -> Planned {
        let query = RdmaLinkQuery(self.name.clone());
        let found = known::answer(facts, &query, &self.object())?;
        let script = Script::new(crate::shell!("resources/rdma/rdma_link/rdma_link.sh"));
        let mut live = None;
        if self.state == Presence::Absent {
            if let Some(link) = found {
                let netdev = Attribute::new("netdev", Some(link.netdev.as_deref().unwrap_or("none")), None);
                let script = script.named("action", "del").named("name", self.name.as_str());
                live = Some(self.change(format!("- RDMA link {}", self.name), vec![netdev], script));
            }
        } else {
            let drift = match found {
                None => vec![Attribute::new("netdev", None, Some(&self.netdev))],
                Some(link) => self.drift(link),
            };
            if !drift.is_empty() {
                self.possible(facts)?;
                let summary = if found.is_none() {
                    format!("+ RDMA link {} ({} over {})", self.name, self.kind, self.netdev)
                } else {
                    let told: Vec<String> =
                        drift.iter().map(crate::resources::shared::content::describe).collect();
                    format!("~ RDMA link {} ({})", self.name, told.join(", "))
                };
                let unit = if self.boot { self.unit.name.as_str() } else { "" };
                let script = script
                    .named("action", "add")
                    .named("name", self.name.as_str())
                    .named("type", self.kind.as_str())
                    .named("netdev", self.netdev.as_str())
                    .named("module", module(self.kind))
                    .named("unit", unit);
                live = Some(self.change(summary, drift, script));
            }
        }
        let mut changes = self.unit.plan(self.unit_state(), facts)?;
        changes.extend(live);
        Ok(changes)
    }

    fn touches(&self) -> Touches {
        let mut objects = BTreeSet::from(self.unit.objects());
        objects.insert(self.object());
        objects.insert(Object::Module(self.module()));
        Touches::Objects(objects)
    }

    fn manages(&self) -> Vec<(Object, String)> {
        let device = match self.state {
            Presence::Absent => vec![(self.object(), "absent".to_owned())],
            Presence::Present => claims(
                Object::Path,
                &format!("/sys/class/infiniband/{}", self.name),
                "an RDMA link",
                [("type", Some(self.kind.to_string())), ("netdev", Some(self.netdev.clone()))],
            ),
        };
        self.unit.manages(self.unit_state()).into_iter().chain(device).collect()
    }

    fn promises(&self, _: &Facts) -> Vec<Promise> {
        if self.state == Presence::Absent {
            return Vec::new();
        }
        vec![Promise::new(ExpectRdma { devices: Some(vec![self.name.clone()]), ..ExpectRdma::default() })]
    }
}
