//! `pcie`: access control off and the read request size of NICs, now and at every boot.

pub mod question;

use std::sync::Arc;

use crate::config::{Diagnostics, FromNode as _, Node};
use crate::facts::base::kernel::Kernel;
use crate::facts::file::PathQuery;
use crate::facts::unit::UnitQuery;
use crate::facts::{Facts, Object, Query, Touches, base};
use crate::inventory::PciAddress;
use crate::inventory::Promise;
use crate::inventory::expect::ExpectRdma;
use crate::resources::kernel::pcie::question::{Nic, Pcie, PcieQuery};
use crate::resources::services::service::Service;
use crate::resources::shared::check::Check;
use crate::resources::shared::content::{RegularFile, Want, removal};
use crate::resources::shared::known;
use crate::resources::shared::value::{FileMode, HostPath, Presence, claims};
use crate::resources::{
    Attribute, Built, Change, Context, Detail, Disruption, Planned, Resource, Unplannable,
};
use crate::transport::Script;

crate::choice! {
    /// The wanted state of access control.
    Acs {
        /// Off on every bridge, so that GPUs and NICs reach each other without the root complex.
        Disabled = "disabled",
        /// As the firmware left it: for machines that give devices to VMs.
        Keep = "keep",
    }
}

crate::record! {
    /// `PCIe` settings that a boot resets: access control (ACS) off on all bridges, and the largest
    /// read request of NICs. They are set now, and at every boot by `provision-pcie.service`.
    ///
    /// With ACS, traffic between a GPU and a NIC goes up to the root complex and back, and GPUDirect is
    /// slow or hangs. Machines that pass devices through to VMs need ACS: set `acs: keep`. The package
    /// pciutils must be installed.
    PcieSettings("PCIe settings") {
        /// Access control (ACS) of the bridges.
        def acs: Acs = Acs::Disabled,
        /// Largest read request of NICs in bytes, 128 to 4096. Left out: unchanged.
        opt max_read_request: u32,
        /// PCI addresses of these NICs. Left out: all of NVIDIA (`ConnectX`, `BlueField`).
        def nics: Vec<PciAddress> = Vec::new(),
        /// Whether the service must exist (`present`) or must not (`absent`). After it is removed, the
        /// settings stay until the next boot.
        def state: Presence = Presence::Present,
    }
}

kind! { "pcie", PcieSettings, promises: &["rdma.max_read_request"] }

const UNIT: &str = "provision-pcie.service";
const UNIT_PATH: &str = "/etc/systemd/system/provision-pcie.service";
const PROGRAM: &str = "/usr/local/sbin/provision-pcie";
const CONNECTX: &str = "15b3";

pub(in crate::resources) fn read(node: &Node, _: &dyn Context, diagnostics: &mut Diagnostics) -> Built {
    let fields = PcieSettings::from_node(node, diagnostics)?;
    let errors = diagnostics.errors();
    if let Some(bytes) = fields.max_read_request
        && !(bytes.is_power_of_two() && (128..=4096).contains(&bytes))
    {
        diagnostics.error(
            node.span,
            format!("{bytes} is not a read request size: use 128, 256, 512, 1024, 2048 or 4096"),
        );
    }
    if fields.state == Presence::Present && fields.acs == Acs::Keep && fields.max_read_request.is_none() {
        diagnostics.error(node.span, "this task sets nothing");
    }
    if diagnostics.errors() != errors {
        return None;
    }
    Some(Arc::new(fields))
}

fn change(summary: String, attributes: Vec<Attribute>, script: Script, disruption: Disruption) -> Change {
    let object = Object::Unit(UNIT.to_owned());
    Change::new(object, summary, Detail::Attributes(attributes), script).disrupting(disruption)
}

fn program() -> RegularFile {
    RegularFile {
        path: HostPath(PROGRAM.to_owned()),
        // At boot, systemd would look for programs below /usr/local first.
        want: Want::Text(format!(
            "#!/bin/sh\nPATH=/usr/sbin:/usr/bin:/sbin:/bin\n{}",
            crate::shell!("resources/kernel/pcie/pcie.sh")
        )),
        mode: Some(FileMode(0o755)),
        owner: None,
        group: None,
        check: Some(Check::of_boot_program()),
    }
}

impl PcieSettings {
    fn pcie(facts: &Facts) -> Result<&Pcie, Unplannable> {
        let object = Object::Unit(UNIT.to_owned());
        let pcie = known::answer(facts, &PcieQuery, &object)?;
        Ok(pcie)
    }

    /// The NICs that are meant.
    fn meant<'a>(&self, pcie: &'a Pcie) -> Result<Vec<&'a Nic>, Unplannable> {
        if self.max_read_request.is_none() {
            return Ok(Vec::new());
        }
        if self.nics.is_empty() {
            return Ok(pcie.nics.iter().filter(|nic| nic.vendor == CONNECTX).collect());
        }
        self.nics
            .iter()
            .map(|address| {
                pcie.nics
                    .iter()
                    .find(|nic| nic.address == address.0)
                    .ok_or_else(|| Unplannable::Failed(format!("the PCI address {} has no NIC", address.0)))
            })
            .collect()
    }

    /// Returns the arguments of the program, now and at boot.
    fn words(&self, nics: &[&Nic]) -> Vec<String> {
        let acs = (self.acs == Acs::Disabled).then(|| "acs=off".to_owned());
        let sizes = self
            .max_read_request
            .iter()
            .flat_map(|bytes| nics.iter().map(move |nic| format!("{}={bytes}", nic.address)));
        acs.into_iter().chain(sizes).collect()
    }

    fn unit(words: &[String]) -> RegularFile {
        let text = format!(
            "[Unit]\nDescription=PCIe settings for GPUs and NICs (provision)\nAfter=sysinit.target\nConditionPathExists={PROGRAM}\n\n[Service]\nType=oneshot\nRemainAfterExit=yes\nExecStart={PROGRAM} {}\n\n[Install]\nWantedBy=multi-user.target\n",
            words.join(" ")
        );
        RegularFile::drop_in(UNIT_PATH.to_owned(), text)
    }

    /// Settings that are otherwise now.
    fn drifted(&self, pcie: &Pcie, nics: &[&Nic]) -> Vec<Attribute> {
        let on = pcie.bridges.iter().filter(|(_, control)| self.acs == Acs::Disabled && *control != 0);
        let acs = on.map(|(address, control)| {
            Attribute::new(&format!("ACS of {address}"), Some(&format!("{control:04x}")), Some("0000"))
        });
        let sizes = nics.iter().filter_map(|nic| {
            let wanted = self.max_read_request.filter(|bytes| *bytes != nic.max_read_request)?;
            Some(Attribute::new(
                &format!("read request of {}", nic.address),
                Some(&nic.max_read_request.to_string()),
                Some(&wanted.to_string()),
            ))
        });
        acs.chain(sizes).collect()
    }

    /// The mode of `kernel_lockdown(7)`, if one is in force.
    fn lockdown(facts: &Facts) -> Result<Option<&str>, Unplannable> {
        let object = Object::Unit(UNIT.to_owned());
        let kernel: &Kernel = known::base(facts, &object)?;
        Ok(Some(kernel.lockdown.as_str()).filter(|mode| !matches!(*mode, "" | "none")))
    }

    fn enabling(facts: &Facts, written: bool) -> Planned {
        let service = Service { unit: UNIT.to_owned(), enabled: Some(true), state: None, masked: None };
        match service.plan(facts) {
            Err(Unplannable::Missing(..)) if written => Ok(vec![change(
                format!("~ {UNIT} (enabled)"),
                vec![Attribute::new("enabled", None, Some("enabled"))],
                Script::new(crate::shell!("resources/shared/unit.sh"))
                    .named("action", "enable")
                    .named("unit", UNIT),
                Disruption::None,
            )]),
            planned => planned,
        }
    }
}

impl Resource for PcieSettings {
    fn queries(&self) -> Vec<Query> {
        let mut queries = vec![PcieQuery.into(), UnitQuery(UNIT.to_owned()).into()];
        queries.extend(["virtualization", "kernel"].into_iter().filter_map(base));
        queries.extend(program().queries());
        // What it holds depends on the NICs, so the text is asked for whatever it is.
        queries.push(PathQuery(UNIT_PATH.to_owned()).into());
        queries.push(PathQuery("/etc/systemd/system".to_owned()).into());
        queries.push(crate::resources::shared::content::text_query(&HostPath(UNIT_PATH.to_owned())).into());
        queries
    }

    fn plan(&self, facts: &Facts) -> Planned {
        if self.state == Presence::Absent {
            let mut changes = Vec::new();
            if known::path(facts, UNIT_PATH)?.is_some() {
                changes.push(change(
                    format!("~ {UNIT} (disabled)"),
                    vec![Attribute::new("enabled", Some("enabled"), Some("disabled"))],
                    Script::new(crate::shell!("resources/shared/unit.sh"))
                        .named("action", "disable")
                        .named("unit", UNIT),
                    Disruption::None,
                ));
                changes.push(removal(UNIT_PATH, None));
            }
            if known::path(facts, PROGRAM)?.is_some() {
                changes.push(removal(PROGRAM, None));
            }
            return Ok(changes);
        }
        let pcie = Self::pcie(facts)?;
        let nics = self.meant(pcie)?;
        let words = self.words(&nics);
        let drifted = self.drifted(pcie, &nics);
        if let (Some(kind), false) = (known::container(facts), drifted.is_empty()) {
            return Err(Unplannable::Blocked(format!(
                "PCIe settings cannot be changed in a container ({kind}): change them on the machine that runs it"
            )));
        }
        if let (Some(mode), false) = (Self::lockdown(facts)?, drifted.is_empty()) {
            return Err(Unplannable::Blocked(format!(
                "the kernel is locked down ({mode}, as Secure Boot makes it) and refuses every write to PCI settings: switch ACS off in the firmware or with the kernel's argument `pci=disable_acs_redir=`, or switch Secure Boot off"
            )));
        }
        let mut changes = program().plan_with_directory(facts)?;
        let unit = Self::unit(&words);
        let path = HostPath(UNIT_PATH.to_owned());
        // Its text was asked for without a digest.
        let mut known_text = facts.clone();
        let content = known::content(facts, &crate::resources::shared::content::text_query(&path))?.cloned();
        if let Some(query) = unit.content_query() {
            known_text.put(query, content);
        }
        let written = unit.plan(&known_text)?;
        let new = !written.is_empty();
        changes.extend(written);
        changes.extend(Self::enabling(facts, new)?);
        if !drifted.is_empty() {
            let told: Vec<String> =
                drifted.iter().take(3).map(crate::resources::shared::content::describe).collect();
            let more = drifted.len() - told.len();
            let more = if more > 0 { format!(", and {more} more") } else { String::new() };
            changes.push(change(
                format!("~ PCIe ({}{more})", told.join(", ")),
                drifted,
                Script::new(crate::shell!("resources/kernel/pcie/pcie.sh")).list("word", words),
                Disruption::Gpu,
            ));
        }
        Ok(changes)
    }

    fn touches(&self) -> Touches {
        let paths = [PROGRAM, UNIT_PATH].map(|path| Object::Path(path.to_owned()));
        Touches::Objects(paths.into_iter().chain([Object::Unit(UNIT.to_owned())]).collect())
    }

    fn promises(&self, _: &Facts) -> Vec<Promise> {
        // The check looks at all cards of NVIDIA.
        let all = self.state == Presence::Present && self.nics.is_empty();
        let promise = |bytes| ExpectRdma { max_read_request: Some(bytes), ..ExpectRdma::default() };
        self.max_read_request.filter(|_| all).map(promise).map(Promise::new).into_iter().collect()
    }

    fn manages(&self) -> Vec<(Object, String)> {
        let attributes = [
            ("acs", (self.state == Presence::Present).then(|| self.acs.to_string())),
            ("max_read_request", self.max_read_request.map(|bytes| bytes.to_string())),
        ];
        claims(Object::Unit, UNIT, self.state.to_string(), attributes)
    }
}
