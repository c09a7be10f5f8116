//! `nccl_env`: what NCCL takes from the environment, for every job on a host.

mod matrix;

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::{Value as Json, json};

use crate::config::read::Entries;
use crate::config::{Diagnostic, Diagnostics, FromNode, Node, Sp, Yaml};
use crate::facts::base::Fact;
use crate::facts::base::network::Network;
use crate::facts::base::virtualization::Virtualization;
use crate::facts::file::PathQuery;
use crate::facts::rdma::{Device, RdmaQuery};
use crate::facts::{Facts, Object, Query, Touches, base};
use crate::inventory::{Nic, NicRole};
use crate::resources::gpu::nccl_env::matrix::{Cell, NicType, doubt, matrix};
use crate::resources::shared::content::{RegularFile, computed_queries, plan_computed};
use crate::resources::shared::known;
use crate::resources::shared::value::{HostPath, Presence, claims};
use crate::resources::{Built, Context, Planned, Resource, Unplannable};
use crate::transport::quote;

/// The value of a variable: a text, or nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Variable(pub Option<String>);

impl FromNode for Variable {
    fn from_node(node: &Node, diagnostics: &mut Diagnostics) -> Option<Self> {
        let text = match &node.value {
            Yaml::Null => return Some(Self(None)),
            Yaml::Int(number) => number.to_string(),
            Yaml::Str(text) => text.clone(),
            Yaml::Bool(_) | Yaml::Float(_) | Yaml::List(_) | Yaml::Map(_) => {
                crate::config::read::wrong_type(node, "a text, a whole number, or null", diagnostics);
                return None;
            }
        };
        if text.chars().any(char::is_control) {
            diagnostics.error(node.span, "the value of a variable must be one line");
            return None;
        }
        Some(Self(Some(text)))
    }

    fn schema() -> Json {
        json!({ "type": ["string", "integer", "null"] })
    }
}

crate::record! {
    /// The environment of NCCL: `/etc/nccl.conf`, and a file of `/etc/profile.d` for logins.
    ///
    /// `nic` selects the variables that this kind of card needs. `NCCL_IB_HCA` is an exact list
    /// (`=mlx5_0,mlx5_3`) of the RDMA devices of this host's compute cards; entries of `nics:` with
    /// another role are never in it. With `irdma` and `erdma` and without `nics:` it lists every device
    /// of that kind. The interface for TCP is that of the management card of `nics:`, else that of the
    /// default route. `NCCL_IB_GID_INDEX` is written only for NCCL before 2.21; the task fails if two
    /// cards have their `RoCE` v2 address at different indexes.
    ///
    /// `variables` overrides the table: null removes a variable, `""` sets it to an empty value, which
    /// is not the same. If a variable is in the environment and in `/etc/nccl.conf`, NCCL uses the
    /// environment.
    NcclEnvFields("an NCCL environment") {
        /// The kind of card that jobs use; with `none` only `variables` are written.
        req nic: NicType,
        /// Version of the NCCL that jobs use. Left out: a current one.
        opt nccl: Sp<String>,
        /// `NCCL_SOCKET_IFNAME` in the syntax of NCCL: `=eth0` is exactly that device, `eth` is a
        /// prefix.
        opt socket_ifname: Variable,
        /// Names of RDMA devices, instead of those of `nics:`.
        opt hca: Vec<Sp<String>>,
        /// `NCCL_IB_GID_INDEX`, for NCCL before 2.21.
        opt gid_index: Sp<u32>,
        /// ToS of the lossless class, as `tos` of `roce`: four times the DSCP, plus 2 for ECN. With `roce` it
        /// is `NCCL_IB_TC`, because NCCL makes its connections without `rdma_cm`.
        def tos: u32 = 106,
        /// Further variables; null removes one, `""` sets it to an empty value.
        def variables: Entries<Variable> = Entries::default(),
        /// The file that NCCL reads.
        opt path: HostPath,
        /// The file that logins read; `none` for no file.
        opt profile: Sp<String>,
        /// Whether the files must exist (`present`) or must not (`absent`).
        def state: Presence = Presence::Present,
    }
}

kind! { "nccl_env", NcclEnvFields }

const CONF: &str = "/etc/nccl.conf";
const PROFILE: &str = "/etc/profile.d/provision-nccl.sh";

#[derive(Debug)]
struct NcclEnv {
    nic: NicType,
    version: Option<(u32, u32)>,
    /// Values that replace what the table says.
    given: Vec<(String, Option<String>)>,
    tos: u32,
    nics: Vec<Nic>,
    path: HostPath,
    profile: Option<HostPath>,
    state: Presence,
}

/// `2.18.5`, `2.26.2-1`: major and minor.
fn version(text: &str) -> Option<(u32, u32)> {
    let mut parts = text.trim_start_matches('v').split('.');
    let number = |part: Option<&str>| {
        let part = part?;
        let digits = part.split('-').next().unwrap_or(part);
        digits.parse().ok()
    };
    Some((number(parts.next())?, number(parts.next())?))
}

fn is_variable(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_uppercase())
        && name.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_')
}

fn is_device(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | ':'))
}

pub(in crate::resources) fn read(node: &Node, context: &dyn Context, diagnostics: &mut Diagnostics) -> Built {
    let fields = NcclEnvFields::from_node(node, diagnostics)?;
    let version = match &fields.nccl {
        None => None,
        Some(text) => {
            let Some(version) = version(text) else {
                diagnostics.push(
                    Diagnostic::error(text.span, format!("`{}` is not a version of NCCL", **text))
                        .help("write it like \"2.27.7\""),
                );
                return None;
            };
            Some(version)
        }
    };
    if fields.tos > 255 {
        diagnostics.error(node.span, format!("the ToS {} is more than 255", fields.tos));
        return None;
    }
    let mut given = Vec::new();
    if let Some(value) = fields.socket_ifname {
        given.push(("NCCL_SOCKET_IFNAME".to_owned(), value.0));
    }
    if let Some(devices) = &fields.hca {
        if let Some(wrong) = devices.iter().find(|device| !is_device(device)) {
            diagnostics.error(wrong.span, format!("`{}` is not the name of an RDMA device", **wrong));
            return None;
        }
        let names: Vec<&str> = devices.iter().map(|device| device.value.as_str()).collect();
        given.push(("NCCL_IB_HCA".to_owned(), Some(exactly(&names))));
    }
    if let Some(index) = &fields.gid_index {
        given.push(("NCCL_IB_GID_INDEX".to_owned(), Some(index.to_string())));
        warn("NCCL_IB_GID_INDEX", &index.to_string(), index.span, version, diagnostics);
    }
    for (name, value) in &fields.variables.0 {
        if !is_variable(name) {
            diagnostics.push(
                Diagnostic::error(name.span, format!("`{}` is not the name of a variable", **name))
                    .help("use capital letters, digits and `_`, as in NCCL_DEBUG"),
            );
            return None;
        }
        if given.iter().any(|(other, _)| *other == name.value) {
            diagnostics
                .error(name.span, format!("`{}` is given twice: here and in a field of its own", **name));
            return None;
        }
        if let Some(value) = &value.0 {
            warn(name, value, name.span, version, diagnostics);
        }
        given.push((name.value.clone(), value.0.clone()));
    }
    let profile = match fields.profile {
        None => Some(HostPath(PROFILE.to_owned())),
        Some(text) if *text == "none" => None,
        Some(text) => match HostPath::new(&text) {
            Ok(path) => Some(path),
            Err(message) => {
                diagnostics.error(text.span, message);
                return None;
            }
        },
    };
    Some(Arc::new(NcclEnv {
        nic: fields.nic,
        version,
        given,
        tos: fields.tos,
        nics: context.nics().to_vec(),
        path: fields.path.unwrap_or_else(|| HostPath(CONF.to_owned())),
        profile,
        state: fields.state,
    }))
}

fn warn(
    name: &str,
    value: &str,
    span: crate::config::Span,
    version: Option<(u32, u32)>,
    diagnostics: &mut Diagnostics,
) {
    if let Some(doubt) = doubt(name, value, version) {
        diagnostics.push(Diagnostic::warning(span, doubt));
    }
}

/// A list that NCCL matches exactly: `mlx5_1` alone would also mean `mlx5_10`.
fn exactly(names: &[&str]) -> String {
    format!("={}", names.join(","))
}

/// Values that are worked out from a host's facts.
struct Derived<'a> {
    task: &'a NcclEnv,
    facts: &'a Facts,
}

impl Derived<'_> {
    fn base<F: Fact>(&self) -> Result<&F, Unplannable> {
        known::base(self.facts, &Object::Path(format!("facts.{}", F::NAME)))
    }

    /// Returns the module that brings RDMA devices: where they are missing, a task before this may load it.
    fn module(&self) -> Object {
        Object::Module(
            match self.task.nic {
                NicType::Irdma => "irdma",
                NicType::Erdma => "erdma",
                NicType::None
                | NicType::Infiniband
                | NicType::Roce
                | NicType::AcsType1
                | NicType::AcsType2 => "mlx5_ib",
            }
            .to_owned(),
        )
    }

    fn rdma(&self) -> Result<&[Device], Unplannable> {
        let object = Object::Path("/sys/class/infiniband".to_owned());
        let rdma = known::answer(self.facts, &RdmaQuery, &object)?;
        rdma.devices.as_deref().map_err(|gap| Unplannable::Unknown(object, gap.reason.clone()))
    }

    /// The RDMA devices of jobs, in the order of rails, then of `nics:`.
    fn devices(&self) -> Result<Vec<&Device>, Unplannable> {
        let all = self.rdma()?;
        let nics = &self.task.nics;
        // Through a function that manages NVLink's switches goes no traffic of jobs.
        let foreign = |device: &Device| {
            device.manages_switch || nics.iter().any(|nic| !nic.is_compute() && device.is(&nic.matching))
        };
        let mut entries: Vec<&Nic> = nics.iter().filter(|nic| nic.is_compute()).collect();
        entries.sort_by_key(|nic| nic.rail.unwrap_or(u32::MAX));
        let mut devices: Vec<&Device> = Vec::new();
        for nic in &entries {
            let found: Vec<&Device> =
                all.iter().filter(|device| device.is(&nic.matching) && !foreign(device)).collect();
            if found.is_empty() {
                return Err(Unplannable::Missing(
                    self.module(),
                    format!(
                        "no RDMA device belongs to the card {}: load its driver, or correct `nics:`",
                        nic.matching
                    ),
                ));
            }
            for device in found {
                if devices.iter().all(|known| known.name != device.name) {
                    devices.push(device);
                }
            }
        }
        if !entries.is_empty() {
            return Ok(devices);
        }
        let drivers: &[&str] = match self.task.nic {
            NicType::Irdma => &["ice", "i40e", "irdma"],
            NicType::Erdma => &["erdma"],
            NicType::None | NicType::Infiniband | NicType::Roce | NicType::AcsType1 | NicType::AcsType2 => {
                return Err(Unplannable::Failed(
                    "`nics:` of this host names no card for jobs, and its storage cards look the same: \
                     list the compute cards in `nics:`, or their devices in `hca`"
                        .to_owned(),
                ));
            }
        };
        devices = all
            .iter()
            .filter(|device| drivers.contains(&device.driver.as_str()) && !foreign(device))
            .collect();
        if devices.is_empty() {
            return Err(Unplannable::Missing(
                self.module(),
                format!("the host has no RDMA device of driver {}: load the driver", drivers.join(" or ")),
            ));
        }
        Ok(devices)
    }

    /// Refuses cards of the other link layer: their variables are others.
    fn right_layer(&self, devices: &[&Device]) -> Result<(), Unplannable> {
        let (wanted, other) = match self.task.nic {
            NicType::Infiniband => ("InfiniBand", "roce"),
            NicType::Roce => ("Ethernet", "infiniband"),
            NicType::None | NicType::Irdma | NicType::Erdma | NicType::AcsType1 | NicType::AcsType2 => {
                return Ok(());
            }
        };
        for device in devices {
            let mut layers = device.ports.iter().map(|port| port.link_layer.as_str());
            if let Some(layer) = layers.find(|layer| !layer.is_empty() && *layer != wanted) {
                return Err(Unplannable::Failed(format!(
                    "{} has link layer {layer}: use `nic: {other}`, or correct `nics:`",
                    device.name
                )));
            }
        }
        Ok(())
    }

    /// Finds the index at which every device has its RoCE v2 address of IPv4.
    fn gid_index(&self, devices: &[&Device]) -> Result<u32, Unplannable> {
        let mut indexes: Vec<(&str, u32)> = Vec::new();
        for device in devices {
            for port in device.ports.iter().filter(|port| port.link_layer == "Ethernet") {
                let gid = port.gids.iter().find(|gid| gid.kind == "RoCE v2" && gid.ipv4().is_some());
                let Some(gid) = gid else {
                    return Err(Unplannable::Missing(
                        self.module(),
                        format!(
                            "port {} of {} has no IPv4 RoCE v2 address: give its network device an IPv4 address, or set `gid_index`",
                            port.number, device.name
                        ),
                    ));
                };
                indexes.push((device.name.as_str(), gid.index));
            }
        }
        let Some((first, index)) = indexes.first() else {
            return Err(Unplannable::Failed("no RDMA device has an Ethernet port".to_owned()));
        };
        match indexes.iter().find(|(_, other)| other != index) {
            None => Ok(*index),
            Some((name, other)) => Err(Unplannable::Failed(format!(
                "the RoCE v2 GID is {index} on {first} and {other} on {name}: \
                 one NCCL_IB_GID_INDEX cannot be right, use NCCL 2.21 or newer"
            ))),
        }
    }

    /// The network device for TCP.
    fn management(&self) -> Result<String, Unplannable> {
        let network: &Network = self.base()?;
        if let Some(nic) = self.task.nics.iter().find(|nic| nic.role == Some(NicRole::Management)) {
            return match network.links.iter().find(|link| link.is(&nic.matching)) {
                Some(link) => Ok(format!("={}", link.name)),
                None => Err(Unplannable::Failed(
                    "no network device matches the management card of `nics:`: correct `nics:`, or set `socket_ifname`"
                        .to_owned(),
                )),
            };
        }
        match network.default_device.as_str() {
            "" => Err(Unplannable::Failed(
                "the host has no default route: set `socket_ifname`, or add a management card to `nics:`"
                    .to_owned(),
            )),
            name => Ok(format!("={name}")),
        }
    }

    /// `name` where the host has such a device.
    fn link(&self, name: &str) -> Result<String, Unplannable> {
        if self.base::<Network>()?.link(name).is_some() { Ok(name.to_owned()) } else { self.management() }
    }

    fn is_machine(&self) -> Result<bool, Unplannable> {
        self.base().map(Virtualization::is_guest)
    }

    /// The variables in the order they are written.
    fn variables(&self) -> Result<Vec<(String, String)>, Unplannable> {
        let given = |name: &str| self.task.given.iter().find(|(given, _)| given == name);
        let old = |wanted: (u32, u32)| self.task.version.is_some_and(|version| version < wanted);
        let mut variables = Vec::new();
        for &(name, ref cell) in matrix(self.task.nic) {
            if let Some((_, value)) = given(name) {
                variables.extend(value.clone().map(|value| (name.to_owned(), value)));
                continue;
            }
            let value = match cell {
                Cell::Text(text) => (*text).to_owned(),
                Cell::Tos => self.task.tos.to_string(),
                Cell::Link(link) => self.link(link)?,
                Cell::Management => self.management()?,
                Cell::Devices => {
                    let devices = self.devices()?;
                    self.right_layer(&devices)?;
                    exactly(&devices.iter().map(|device| device.name.as_str()).collect::<Vec<_>>())
                }
                Cell::GidOfOld if old((2, 21)) => self.gid_index(&self.devices()?)?.to_string(),
                Cell::SysInMachine if self.is_machine()? => "SYS".to_owned(),
                Cell::GidOfOld | Cell::SysInMachine => continue,
            };
            variables.push((name.to_owned(), value));
        }
        for (name, value) in &self.task.given {
            if let Some(value) = value
                && variables.iter().all(|(other, _)| other != name)
            {
                variables.push((name.clone(), value.clone()));
            }
        }
        Ok(variables)
    }
}

impl NcclEnv {
    fn paths(&self) -> impl Iterator<Item = &HostPath> {
        std::iter::once(&self.path).chain(&self.profile)
    }

    /// Describes the wish of a task: tasks with different wishes are at odds.
    fn wish(&self) -> String {
        let given: Vec<String> = self
            .given
            .iter()
            .map(|(name, value)| {
                value.as_ref().map_or_else(|| format!("no {name}"), |it| format!("{name}={it}"))
            })
            .collect();
        format!("NCCL for {} {}", self.nic, given.join(" "))
    }
}

impl Resource for NcclEnv {
    fn queries(&self) -> Vec<Query> {
        if self.state == Presence::Absent {
            return self.paths().map(|path| PathQuery(path.0.clone()).into()).collect();
        }
        let mut queries: Vec<Query> = self.paths().flat_map(computed_queries).collect();
        if self.nic != NicType::None {
            queries.push(RdmaQuery.into());
            queries.extend(["network", "virtualization"].iter().filter_map(|name| base(name)));
        }
        queries
    }

    fn plan(&self, facts: &Facts) -> Planned {
        let mut changes = Vec::new();
        if self.state == Presence::Absent {
            for path in self.paths() {
                changes.extend(
                    RegularFile::drop_in(path.0.clone(), String::new()).plan_state(self.state, facts)?,
                );
            }
            return Ok(changes);
        }
        let variables = Derived { task: self, facts }.variables()?;
        let head = "# Written by provision for NCCL.\n";
        let (mut conf, mut exports) = (head.to_owned(), head.to_owned());
        for (name, value) in &variables {
            crate::put!(conf, "{name}={value}\n");
            crate::put!(exports, "export {name}={}\n", quote(value));
        }
        changes.extend(plan_computed(&RegularFile::drop_in(self.path.0.clone(), conf), facts)?);
        if let Some(profile) = &self.profile {
            changes.extend(plan_computed(&RegularFile::drop_in(profile.0.clone(), exports), facts)?);
        }
        Ok(changes)
    }

    fn touches(&self) -> Touches {
        Touches::Objects(self.paths().map(|path| Object::Path(path.0.clone())).collect::<BTreeSet<_>>())
    }

    fn manages(&self) -> Vec<(Object, String)> {
        self.paths()
            .flat_map(|path| match self.state {
                Presence::Present => {
                    claims(Object::Path, &path.0, "a file", [("content", Some(self.wish()))])
                }
                Presence::Absent => vec![(Object::Path(path.0.clone()), "absent".to_owned())],
            })
            .collect()
    }
}
