//! `fabric_manager`: NVIDIA's fabric manager, in the driver's version, where there are `NVSwitches`.

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value as Json;

use super::driver_packages::{DriverSource, core};
use super::service::{Service, ServiceState};
use super::value::claims;
use super::{Attribute, Change, Context, Detail, Disruption, Planned, Resource, Unplannable, known};
use crate::config::{Diagnostics, FromNode as _, Node, Sp};
use crate::facts::driver::{Driver, DriverPackage};
use crate::facts::{Answer, Facts, Object, Query, Touches, base};
use crate::transport::Script;

crate::choice! {
    /// Where the fabric manager is wanted.
    Wanted {
        /// Where the PCI bus has `NVSwitches`, or GPUs that come with them (B100, B200, B300).
        Auto = "auto",
        /// On every host.
        Always = "always",
        /// On no host: the machine below owns the switches.
        Never = "never",
    }
}

crate::record! {
    /// NVIDIA's fabric manager: the package in exactly the version of the driver, its service enabled and
    /// running. Without it CUDA answers 802 on machines with `NVSwitches`.
    ///
    /// A host without `NVSwitches` needs none and is left alone. The version is that of the driver's
    /// packages; the service is started only where that driver is loaded, since it refuses any other.
    FabricManagerFields("a fabric manager") {
        /// Where it is wanted.
        def wanted: Wanted = Wanted::Auto,
        /// Where it comes from; the packages have other names in NVIDIA's repository.
        def source: DriverSource = DriverSource::Archive,
        /// The package, where the usual name is not the right one.
        opt package: Sp<String>,
        /// Whether the package is held against upgrades.
        def hold: bool = true,
    }
}

const UNIT: &str = "nvidia-fabricmanager.service";
/// GPUs whose baseboards have `NVSwitches` that are no PCI bridges of NVIDIA.
const FIFTH_GENERATION: &[&str] = &["B100", "B200", "B300"];
/// From this branch on NVIDIA's package has no branch in its name.
const PLAIN_NAME_SINCE: u32 = 580;

#[derive(Debug)]
struct FabricManager {
    wanted: Wanted,
    source: DriverSource,
    package: Option<String>,
    hold: bool,
}

pub(super) fn read(node: &Node, _: &dyn Context, diagnostics: &mut Diagnostics) -> Option<Arc<dyn Resource>> {
    let fields = FabricManagerFields::from_node(node, diagnostics)?;
    if fields.source == DriverSource::Runfile {
        diagnostics.error(node.span, "the runfile has no fabric manager: take it from `repository`");
        return None;
    }
    let package = fields.package.filter(|name| !name.is_empty());
    if let Some(name) = package.as_ref().filter(|name| !super::package::is_name(name)) {
        diagnostics.error(name.span, format!("`{}` is not the name of a package", **name));
        return None;
    }
    Some(Arc::new(FabricManager {
        wanted: fields.wanted,
        source: fields.source,
        package: package.map(|name| name.value),
        hold: fields.hold,
    }))
}

fn object() -> Object {
    Object::Unit(UNIT.to_owned())
}

fn change(summary: String, detail: Detail, script: Script, disruption: Disruption) -> Change {
    Change { object: object(), summary, detail, script, upload: None, disruption }
}

fn is_fabric_manager(name: &str) -> bool {
    name.starts_with("nvidia-fabricmanager") || name.starts_with("nvidia-fabric-manager")
}

impl FabricManager {
    /// Whether this host has switches, and of which generation.
    fn switches(&self, facts: &Facts) -> Result<Option<bool>, Unplannable> {
        let Some(query) = base("pci") else { return Err(known::strange(&object())) };
        let Answer::Base(pci) = known::answer(facts, &query, &object())? else {
            return Err(known::strange(&object()));
        };
        let list = |key: &str| pci.get(key).and_then(Json::as_array).map_or(&[][..], Vec::as_slice);
        let fifth = list("gpus").iter().any(|gpu| {
            let model = gpu.get("model").and_then(Json::as_str).unwrap_or("");
            FIFTH_GENERATION.iter().any(|start| model.starts_with(start))
        });
        let needed = match self.wanted {
            Wanted::Auto => fifth || !list("nvswitches").is_empty(),
            Wanted::Always => true,
            Wanted::Never => false,
        };
        Ok(needed.then_some(fifth))
    }

    fn driver(facts: &Facts) -> Result<&Driver, Unplannable> {
        let Answer::Driver(driver) = known::answer(facts, &Query::Driver, &object())? else {
            return Err(known::strange(&object()));
        };
        Ok(driver)
    }

    /// The driver's version: of its packages, else of the module on disk.
    fn version(driver: &Driver) -> Result<String, Unplannable> {
        let parts = core(driver);
        if let Some(first) = parts.first() {
            let version = first.upstream();
            if let Some(other) = parts.iter().find(|part| part.upstream() != version) {
                return Err(Unplannable::Missing(
                    Object::Module("nvidia".to_owned()),
                    format!("the driver's packages are of two versions, {version} and {}", other.upstream()),
                ));
            }
            return Ok(version.to_owned());
        }
        driver.kernel(&driver.running).and_then(|kernel| kernel.version.clone()).ok_or_else(|| {
            Unplannable::Missing(
                Object::Module("nvidia".to_owned()),
                "no NVIDIA driver is here, whose version the fabric manager must have".to_owned(),
            )
        })
    }

    fn name(&self, version: &str, apt: bool) -> String {
        if let Some(name) = &self.package {
            return name.clone();
        }
        let branch = version.split('.').next().unwrap_or_default();
        let plain = self.source == DriverSource::Repository
            && branch.parse::<u32>().is_ok_and(|branch| branch >= PLAIN_NAME_SINCE);
        match (apt, plain) {
            (_, true) => "nvidia-fabricmanager".to_owned(),
            (true, false) => format!("nvidia-fabricmanager-{branch}"),
            (false, false) => "nvidia-fabric-manager".to_owned(),
        }
    }

    fn script(manager: &str, action: &'static str) -> Script {
        if manager == "apt" {
            Script::new(crate::shell!("resources/apt.sh")).arg(action).arg("")
        } else {
            Script::new(crate::shell!("resources/dnf.sh")).arg(manager).arg(action).arg("")
        }
    }

    fn service(started: bool) -> Service {
        let state = started.then_some(ServiceState::Started);
        Service { unit: UNIT.to_owned(), enabled: Some(true), state, masked: None }
    }

    /// The package with what it needs, in the driver's version.
    fn install(&self, manager: &str, driver: &Driver, version: &str, fifth: bool) -> Vec<Change> {
        let apt = manager == "apt";
        let name = self.name(version, apt);
        let here: Option<&DriverPackage> = driver.packages.iter().find(|package| package.name == name);
        let others: Vec<&DriverPackage> = driver
            .packages
            .iter()
            .filter(|package| is_fabric_manager(&package.name) && package.name != name)
            .collect();
        let mut changes = Vec::new();
        if !others.is_empty() {
            let names = others.iter().map(|package| package.name.as_str());
            let attributes = others
                .iter()
                .map(|package| Attribute::new(&package.name, Some(&package.version), None))
                .collect();
            changes.push(change(
                format!("- {}", names.clone().collect::<Vec<_>>().join(", ")),
                Detail::Attributes(attributes),
                Self::script(manager, "remove").args(names),
                Disruption::Gpu,
            ));
        }
        let right = here.is_some_and(|package| package.upstream() == version && !package.broken);
        if !right {
            if apt {
                changes.push(change(
                    "~ package lists (update)".to_owned(),
                    Detail::Command("apt-get update".to_owned()),
                    Self::script(manager, "update"),
                    Disruption::None,
                ));
            }
            let word = if apt { format!("{name}={version}-*") } else { format!("{name}-{version}") };
            let more: &[&str] = match (fifth, apt) {
                (true, true) => &["nvlsm", "libibumad3", "infiniband-diags"],
                (true, false) => &["nvlsm", "infiniband-diags"],
                (false, _) => &[],
            };
            let before = here.map(|package| package.version.as_str());
            let summary = before.map_or_else(
                || format!("+ {name} {version}"),
                |before| format!("~ {name} {before} -> {version}"),
            );
            let words = std::iter::once(word).chain(more.iter().map(|name| (*name).to_owned()));
            changes.push(change(
                summary,
                Detail::Attributes(vec![Attribute::new(&name, before, Some(version))]),
                Self::script(manager, "pin").args(words),
                if here.is_some() { Disruption::Gpu } else { Disruption::None },
            ));
        }
        if self.hold && apt && (!right || here.is_some_and(|package| !package.held)) {
            changes.push(change(
                format!("~ {name} (held)"),
                Detail::Attributes(vec![Attribute::new("hold", Some("not held"), Some("held"))]),
                Self::script(manager, "hold").arg(name.as_str()),
                Disruption::None,
            ));
        }
        changes
    }
}

impl Resource for FabricManager {
    fn queries(&self) -> Vec<Query> {
        let facts = ["pci", "virtualization"].into_iter().filter_map(base);
        [Query::Driver, Query::Packages, Query::Unit(UNIT.to_owned())].into_iter().chain(facts).collect()
    }

    fn plan(&self, facts: &Facts) -> Planned {
        let Some(fifth) = self.switches(facts)? else { return Ok(Vec::new()) };
        if let Some(kind) = known::container(facts) {
            return Err(Unplannable::Blocked(format!(
                "the NVSwitches belong to the machine below, not to a container ({kind})"
            )));
        }
        let driver = Self::driver(facts)?;
        let Answer::Packages(manager) = known::answer(facts, &Query::Packages, &object())? else {
            return Err(known::strange(&object()));
        };
        let version = Self::version(driver)?;
        let mut changes = self.install(&manager.manager, driver, &version, fifth);
        // It refuses every driver but its own.
        let fits = driver.loaded.as_ref().is_some_and(|loaded| loaded.version == version);
        let service = Self::service(fits);
        let replaced = changes.iter().any(|change| change.disruption == Disruption::Gpu);
        match service.plan(facts) {
            Ok(more) if !replaced => changes.extend(more),
            // Its unit comes with the package, and an old one goes on running.
            Ok(_) | Err(Unplannable::Missing(..)) if !changes.is_empty() => {
                let unit = |action: &'static str| {
                    Script::new(crate::shell!("resources/unit.sh")).arg(action).arg(UNIT)
                };
                let attribute = |name: &str, after: &str| {
                    Detail::Attributes(vec![Attribute::new(name, None, Some(after))])
                };
                changes.push(change(
                    format!("~ {UNIT} (enabled)"),
                    attribute("enabled", "enabled"),
                    unit("enable"),
                    Disruption::None,
                ));
                if fits {
                    changes.push(change(
                        format!("~ {UNIT} (restarted)"),
                        attribute("state", "started"),
                        unit("restart"),
                        if replaced { Disruption::Gpu } else { Disruption::None },
                    ));
                }
            }
            Ok(more) => changes.extend(more),
            Err(error) => return Err(error),
        }
        Ok(changes)
    }

    fn touches(&self) -> Touches {
        Touches::Everything
    }

    fn manages(&self) -> Vec<(Object, String)> {
        claims(Object::Unit, UNIT, "a unit", [("wanted", Some(self.wanted.to_string()))])
    }

    fn settle(&self) -> Option<Duration> {
        Some(Duration::from_secs(30))
    }

    fn leave(&self) -> bool {
        true
    }
}
