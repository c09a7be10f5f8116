//! `fabric_manager`: NVIDIA's fabric manager, in the driver's version, where there are `NVSwitches`.

use std::sync::Arc;
use std::time::Duration;

use crate::config::{Diagnostics, FromNode as _, Node, Sp};
use crate::facts::base::pci::Pci;
use crate::facts::driver::{Driver, DriverPackage, DriverQuery};
use crate::facts::package::PackagesQuery;
use crate::facts::unit::UnitQuery;
use crate::facts::{Facts, Object, Query, Touches, base};
use crate::inventory::Promise;
use crate::inventory::expect::ExpectDriver;
use crate::resources::gpu::nvidia_driver::packages::DriverSource;
use crate::resources::kernel::kernel_module::KernelModule;
use crate::resources::services::service::{Service, ServiceState};
use crate::resources::shared::known;
use crate::resources::shared::value::claims;
use crate::resources::{
    Attribute, Built, Change, Context, Detail, Disruption, Planned, Resource, Unplannable,
};
use crate::transport::Script;

crate::choice! {
    /// Hosts that get the fabric manager.
    Wanted {
        /// Hosts whose PCI bus has `NVSwitches`, or GPUs that come with them (B100, B200, B300).
        Auto = "auto",
        /// Every host.
        Always = "always",
        /// No host; for virtual machines whose hypervisor owns the switches.
        Never = "never",
    }
}

crate::record! {
    /// NVIDIA's fabric manager: the package in exactly the version of the driver, with its service
    /// enabled and running. Without it CUDA returns error 802 on machines with `NVSwitches`.
    ///
    /// A host without `NVSwitches` is left alone. Where they are those of `NVLink` 5 (B200, B300), NVIDIA's subnet
    /// manager for them comes along, with the module `ib_umad` that it needs. The version is that of the driver's packages. The
    /// service is started only if that driver is loaded, since it refuses any other.
    FabricManager("a fabric manager") {
        /// Hosts that get the fabric manager.
        def wanted: Wanted = Wanted::Auto,
        /// Source of the package. NVIDIA's repository uses other package names.
        def source: DriverSource = DriverSource::Archive,
        /// The package, if its name is not the usual one.
        opt package: Sp<String>,
        /// Whether the package is held back from upgrades.
        def hold: bool = true,
    }
}

kind! { "fabric_manager", FabricManager, promises: &["driver.fabric_manager"] }

const UNIT: &str = "nvidia-fabricmanager.service";
/// GPUs whose baseboards have `NVSwitches` that are no PCI bridges of NVIDIA.
const FIFTH_GENERATION: &[&str] = &["B100", "B200", "B300"];
/// From this branch on NVIDIA's package has no branch in its name.
const PLAIN_NAME_SINCE: u32 = 580;

pub(in crate::resources) fn read(node: &Node, _: &dyn Context, diagnostics: &mut Diagnostics) -> Built {
    let mut fields = FabricManager::from_node(node, diagnostics)?;
    if fields.source == DriverSource::Runfile {
        diagnostics
            .error(node.span, "the runfile does not contain the fabric manager: use `source: repository`");
        return None;
    }
    fields.package = fields.package.filter(|name| !name.is_empty());
    if let Some(name) =
        fields.package.as_ref().filter(|name| !crate::resources::packages::package::is_name(name))
    {
        diagnostics.error(name.span, format!("`{}` is not the name of a package", **name));
        return None;
    }
    Some(Arc::new(fields))
}

fn object() -> Object {
    Object::Unit(UNIT.to_owned())
}

fn change(summary: String, detail: Detail, script: Script, disruption: Disruption) -> Change {
    Change::new(object(), summary, detail, script).disrupting(disruption)
}

fn is_fabric_manager(name: &str) -> bool {
    name.starts_with("nvidia-fabricmanager") || name.starts_with("nvidia-fabric-manager")
}

impl FabricManager {
    /// Whether this host has switches, and of which generation.
    fn switches(&self, facts: &Facts) -> Result<Option<bool>, Unplannable> {
        let pci: &Pci = known::base(facts, &object())?;
        let fifth =
            pci.gpus.iter().any(|gpu| FIFTH_GENERATION.iter().any(|start| gpu.model.starts_with(start)));
        let needed = match self.wanted {
            Wanted::Auto => fifth || !pci.nvswitches.is_empty(),
            Wanted::Always => true,
            Wanted::Never => false,
        };
        if let Some(device) = pci.newer_gpu().filter(|_| self.wanted == Wanted::Auto && !needed) {
            return Err(Unplannable::Failed(format!(
                "the GPU 10de:{device} is newer than all that are known here, so it is not known whether its board has \
                 NVSwitches: say `wanted: always` or `wanted: never`"
            )));
        }
        Ok(needed.then_some(fifth))
    }

    fn driver(facts: &Facts) -> Result<&Driver, Unplannable> {
        known::answer(facts, &DriverQuery { whole: true }, &object())
    }

    /// The driver's version: of its packages, else of the module on disk.
    fn version(driver: &Driver) -> Result<String, Unplannable> {
        let parts: Vec<_> = driver.parts().collect();
        if let Some(first) = parts.first() {
            let version = first.upstream();
            if let Some(other) = parts.iter().find(|part| part.upstream() != version) {
                return Err(Unplannable::Missing(
                    Object::Module("nvidia".to_owned()),
                    format!(
                        "the driver's packages have two versions, {version} and {}: install one version first",
                        other.upstream()
                    ),
                ));
            }
            return Ok(version.to_owned());
        }
        driver.kernel(&driver.running).and_then(|kernel| kernel.version.clone()).ok_or_else(|| {
            Unplannable::Missing(
                Object::Module("nvidia".to_owned()),
                "no NVIDIA driver is installed: install it first, the fabric manager must have its version"
                    .to_owned(),
            )
        })
    }

    fn name(&self, version: &str, apt: bool) -> String {
        if let Some(name) = &self.package {
            return name.value.clone();
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
            Script::new(crate::shell!("shell/package_holder.sh", "resources/shared/apt.sh"))
                .named("action", action)
                .named("preferences", "")
        } else {
            Script::new(crate::shell!("facts/package/dnf_providers.sh", "resources/shared/dnf.sh"))
                .named("tool", manager)
                .named("action", action)
                .named("excluded", "")
        }
    }

    /// Through it `nvlsm` reaches the switches of `NVLink` 5 (Fabric Manager User Guide, "Installing on NVIDIA HGX
    /// B200").
    fn ib_umad() -> KernelModule {
        KernelModule::always("ib_umad")
    }

    fn service(started: bool) -> Service {
        let state = started.then_some(ServiceState::Started);
        Service { unit: UNIT.to_owned(), enabled: Some(true), state, masked: None }
    }

    /// The package with what it needs, in the driver's version.
    fn install(
        &self,
        manager: &str,
        driver: &Driver,
        version: &str,
        fifth: bool,
    ) -> Result<Vec<Change>, Unplannable> {
        let apt = manager == "apt";
        let name = self.name(version, apt);
        let here: Option<&DriverPackage> = driver.packages.iter().find(|package| package.name == name);
        let others: Vec<&DriverPackage> = driver
            .packages
            .iter()
            .filter(|package| is_fabric_manager(&package.name) && package.name != name)
            .collect();
        let right = here.is_some_and(|package| package.upstream() == version && !package.broken);
        if !right && fifth && self.source == DriverSource::Archive && self.package.is_none() {
            return Err(Unplannable::Failed(
                "these GPUs need nvlsm beside the fabric manager, which only NVIDIA's repository has: use `source: repository`, for the driver as well".to_owned(),
            ));
        }
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
                Self::script(manager, "remove").list("word", names),
                Disruption::Gpu,
            ));
        }
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
                Self::script(manager, "pin").list("word", words),
                if here.is_some() { Disruption::Gpu } else { Disruption::None },
            ));
        }
        if self.hold && apt && (!right || here.is_some_and(|package| !package.held)) {
            changes.push(change(
                format!("~ {name} (held)"),
                Detail::Attributes(vec![Attribute::new("hold", Some("not held"), Some("held"))]),
                Self::script(manager, "hold").named("word", name.as_str()),
                Disruption::None,
            ));
        }
        Ok(changes)
    }
}

impl Resource for FabricManager {
    fn queries(&self) -> Vec<Query> {
        let facts = ["pci", "virtualization"].into_iter().filter_map(base);
        [DriverQuery { whole: true }.into(), PackagesQuery.into(), UnitQuery(UNIT.to_owned()).into()]
            .into_iter()
            .chain(facts)
            .chain(Self::ib_umad().queries())
            .collect()
    }

    fn plan(&self, facts: &Facts) -> Planned {
        let Some(fifth) = self.switches(facts)? else { return Ok(Vec::new()) };
        if let Some(kind) = known::container(facts) {
            return Err(Unplannable::Blocked(format!(
                "the fabric manager cannot run in a container ({kind}): install it on the machine that runs it"
            )));
        }
        let driver = Self::driver(facts)?;
        let manager = known::answer(facts, &PackagesQuery, &object())?;
        let version = Self::version(driver)?;
        let mut changes = self.install(&manager.manager, driver, &version, fifth)?;
        // It refuses every driver but its own.
        let fits = driver.loaded.as_ref().is_some_and(|loaded| loaded.version == version);
        let service = Self::service(fits);
        let replaced = changes.iter().any(|change| change.disruption == Disruption::Gpu);
        match service.plan(facts) {
            Ok(more) if !replaced => changes.extend(more),
            // Its unit comes with the package, and an old one goes on running.
            Ok(_) | Err(Unplannable::Missing(..)) if !changes.is_empty() => {
                let unit = |action: &'static str| {
                    Script::new(crate::shell!("resources/shared/unit.sh"))
                        .named("action", action)
                        .named("unit", UNIT)
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
        let mut all = if fifth { Self::ib_umad().plan(facts)? } else { Vec::new() };
        all.append(&mut changes);
        Ok(all)
    }

    fn touches(&self) -> Touches {
        Touches::Everything
    }

    fn manages(&self) -> Vec<(Object, String)> {
        claims(Object::Unit, UNIT, "a unit", [("wanted", Some(self.wanted.to_string()))])
    }

    fn promises(&self, facts: &Facts) -> Vec<Promise> {
        let runs = match (self.wanted, self.switches(facts)) {
            (Wanted::Never, _) => false,
            (Wanted::Always, _) | (Wanted::Auto, Ok(Some(_))) => true,
            (Wanted::Auto, Ok(None) | Err(_)) => return Vec::new(),
        };
        vec![Promise::new(ExpectDriver { fabric_manager: Some(runs), ..ExpectDriver::default() })]
    }

    fn settle(&self) -> Option<Duration> {
        Some(Duration::from_secs(30))
    }

    fn leave(&self) -> bool {
        true
    }
}
