//! `nvidia_driver`: the NVIDIA driver, its kernel modules and its user space, of one version.
//!
//! The decision is over three versions: that of the packages, of the module on disk for
//! each kernel that matters, and of the module that is loaded.

mod changes;
pub(in crate::resources) mod packages;
pub mod question;

use std::sync::Arc;
use std::time::Duration;

use crate::config::{Diagnostic, Diagnostics, FromNode as _, Node, Sp};
use crate::facts::base::boot::Boot;
use crate::facts::base::os::Os;
use crate::facts::base::pci::Pci;
use crate::facts::base::virtualization::Virtualization;
use crate::facts::driver::{Driver, DriverQuery, OPEN_SINCE};
use crate::facts::package::{Packages, PackagesQuery};
use crate::facts::{Facts, Object, Query, Touches, base};
use crate::inventory::Promise;
use crate::inventory::expect::ExpectDriver;
use crate::resources::gpu::nvidia_driver::packages::{DriverSource, Flavour, Modules, Naming};
use crate::resources::gpu::nvidia_driver::question::OfferedQuery;
use crate::resources::shared::content::RegularFile;
use crate::resources::shared::known;
use crate::resources::shared::value::{Digest, claims};
use crate::resources::{Built, Change, Context, Detail, Disruption, Planned, Resource, Unplannable};
use crate::sources::Url;
use crate::transport::Script;

crate::record! {
    /// The NVIDIA driver: kernel modules and user space of one version.
    ///
    /// The packages, the module on disk for the running and the next kernel, and the loaded module must
    /// have the same version; the task corrects what differs. Before the installation it installs
    /// headers for both kernels, removes leftovers of another branch, package family or of the runfile,
    /// and blocks nouveau; with Secure Boot it also needs a signing key that the firmware knows. After
    /// the installation DKMS must have built the module for both kernels. If a module of another
    /// version is loaded, it is replaced at once with `reload: true`, else at the next boot, which a
    /// `reboot` task does. A container shares the kernel of the machine that runs it, so only `modules:
    /// none` or `load: false` works there.
    NvidiaDriverFields("the NVIDIA driver") {
        /// The branch, such as "535". Left out: that of `version`.
        opt branch: Sp<String>,
        /// The whole version, such as "535.261.03". Left out: the newest of the branch.
        opt version: Sp<String>,
        /// Kind of kernel modules to install.
        def flavour: Flavour = Flavour::Auto,
        /// Source of the driver.
        def source: DriverSource = DriverSource::Archive,
        /// Way in which the kernel modules are installed.
        def modules: Modules = Modules::Dkms,
        /// Names of the packages, if the usual ones are not right.
        def packages: Vec<Sp<String>> = Vec::new(),
        /// runfile: its URL.
        opt url: Sp<Url>,
        /// runfile: its SHA-256.
        opt sha256: Digest,
        /// runfile: further arguments of the installer.
        def options: Vec<Sp<String>> = Vec::new(),
        /// Whether the packages are held back from upgrades.
        def hold: bool = true,
        /// Whether the module is loaded if none is.
        def load: bool = true,
        /// Whether a loaded module of another version is replaced at once. Nobody may use the GPUs
        /// then.
        def reload: bool = false,
    }
}

kind! { "nvidia_driver", NvidiaDriverFields, timeout: Duration::from_hours(2), detached: true, promises: &["driver.version", "driver.open"] }

#[derive(Debug)]
pub(in crate::resources) struct NvidiaDriver {
    pub(in crate::resources) branch: String,
    pub(in crate::resources) version: Option<String>,
    pub(in crate::resources) flavour: Flavour,
    pub(in crate::resources) source: DriverSource,
    pub(in crate::resources) modules: Modules,
    pub(in crate::resources) packages: Vec<String>,
    /// URL and digest.
    pub(in crate::resources) runfile: Option<(String, String)>,
    pub(in crate::resources) options: Vec<String>,
    pub(in crate::resources) hold: bool,
    pub(in crate::resources) load: bool,
    pub(in crate::resources) reload: bool,
}

/// The oldest branch that drives a GPU, by the start of the model's name. 570 is the first for Blackwell; some of its
/// GPUs may need a newer one.
const LEAST_BRANCH: &[(&str, u32)] = &[
    ("A100", 450),
    ("H100 PCIe", 515),
    ("H100 80GB", 525),
    ("H20", 535),
    ("GH200", 535),
    ("B200", 570),
    ("GB200", 570),
    ("B300", 570),
    ("GB300", 570),
    // The README of the open modules has it since 580.119.02.
    ("GB10", 580),
    ("RTX PRO 6000 Blackwell", 570),
    ("RTX PRO 5000 Blackwell", 570),
];
/// GPUs that only the open modules drive: Grace Hopper and Blackwell.
const OPEN_ONLY: &[&str] =
    &["GH200", "B200", "GB200", "B300", "GB300", "GB10", "RTX PRO 6000 Blackwell", "RTX PRO 5000 Blackwell"];
/// GPUs that the open modules do not drive.
const PROPRIETARY_ONLY: &[&str] = &["Tesla V100"];

fn is_version(text: &str) -> bool {
    text.len() <= 32
        && text.split('.').all(|part| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit()))
}

pub(in crate::resources) fn read(node: &Node, context: &dyn Context, diagnostics: &mut Diagnostics) -> Built {
    let fields = NvidiaDriverFields::from_node(node, diagnostics)?;
    let errors = diagnostics.errors();
    // A playbook passes an empty text where its user gave none.
    let given = |field: &Option<Sp<String>>| field.clone().filter(|text| !text.is_empty());
    let (branch, version) = (given(&fields.branch), given(&fields.version));
    for text in version.iter().chain(&branch) {
        if !is_version(text) {
            diagnostics.error(text.span, format!("`{}` is not a version of the driver", **text));
        }
    }
    if let Some(version) = version.as_ref().filter(|version| !version.contains('.')) {
        diagnostics.push(
            Diagnostic::error(version.span, format!("`{}` is a branch, not a version", **version))
                .help("put it into `branch`; a version is whole, such as \"535.183.01\""),
        );
    }
    if let Some(branch) = &branch
        && branch.contains('.')
    {
        diagnostics.push(
            Diagnostic::error(branch.span, format!("`{}` is a version, not a branch", **branch))
                .help("put it into `version`; a branch is the first number, such as \"535\""),
        );
    }
    let of_version = version.as_ref().and_then(|version| version.split('.').next()).map(str::to_owned);
    let Some(number) = branch.as_ref().map(|branch| branch.value.clone()).or_else(|| of_version.clone())
    else {
        diagnostics.push(
            Diagnostic::error(node.span, "no driver version is given")
                .help("add a `branch`, such as \"535\", or a `version`"),
        );
        return None;
    };
    if let (Some(version), Some(of_version)) = (&version, &of_version)
        && *of_version != number
    {
        diagnostics.error(version.span, format!("`{}` does not belong to branch {number}", **version));
    }
    let runfile = match (&fields.url, &fields.sha256) {
        (Some(url), Some(digest)) => {
            crate::resources::files::download::fetched(url, digest, context, diagnostics)
        }
        _ => None,
    };
    let is_runfile = fields.source == DriverSource::Runfile;
    if is_runfile && (runfile.is_none() || version.is_none()) {
        diagnostics.push(
            Diagnostic::error(node.span, "`source: runfile` needs `version`, `url` and `sha256`")
                .help("a program from the network is run only if its digest is known"),
        );
    }
    if !is_runfile && (fields.url.is_some() || fields.sha256.is_some() || !fields.options.is_empty()) {
        diagnostics.error(node.span, "`url`, `sha256` and `options` need `source: runfile`");
    }
    if is_runfile && (fields.modules != Modules::Dkms || !fields.packages.is_empty()) {
        diagnostics.error(node.span, "`source: runfile` cannot be combined with `modules` or `packages`");
    }
    for name in &fields.packages {
        if !crate::resources::packages::package::is_name(name) {
            diagnostics.error(name.span, format!("`{}` is not the name of a package", **name));
        }
    }
    if diagnostics.errors() != errors {
        return None;
    }
    let texts = |list: Vec<Sp<String>>| list.into_iter().map(|text| text.value).collect();
    Some(Arc::new(NvidiaDriver {
        branch: number,
        version: version.map(|version| version.value),
        flavour: fields.flavour,
        source: fields.source,
        modules: fields.modules,
        packages: texts(fields.packages),
        runfile,
        options: texts(fields.options),
        hold: fields.hold,
        load: fields.load,
        reload: fields.reload,
    }))
}

/// The file that keeps the kernel's own drivers away. `nova_core` takes each GPU from Turing to Ada where the kernel has it,
/// such as the first 7.0 of Ubuntu 26.04 (beclab/Olares#3963, 2026-08-17); its other halves were called nova and `nova_drm`.
fn nouveau_file() -> RegularFile {
    let text = "blacklist nouveau\noptions nouveau modeset=0\nblacklist nova_core\nblacklist nova_drm\nblacklist nova\n".to_owned();
    RegularFile::drop_in("/etc/modprobe.d/blacklist-nouveau.conf".to_owned(), text)
}

fn object() -> Object {
    Object::Module("nvidia".to_owned())
}

pub(in crate::resources) fn change(
    summary: String,
    detail: Detail,
    script: Script,
    disruption: Disruption,
) -> Change {
    Change::new(object(), summary, detail, script).disrupting(disruption)
}

/// One host and all that it has, as far as the driver goes.
pub(in crate::resources) struct Host<'a> {
    pub(in crate::resources) driver: &'a Driver,
    pub(in crate::resources) manager: &'a Packages,
    pub(in crate::resources) id: &'a str,
    pub(in crate::resources) version_id: &'a str,
    pub(in crate::resources) container: Option<String>,
    pub(in crate::resources) models: Vec<&'a str>,
    /// Device of a GPU that is newer than all that are known here.
    pub(in crate::resources) newer: Option<&'a str>,
    /// The driver of the kernel that holds the GPUs.
    pub(in crate::resources) intruder: Option<&'static str>,
    /// Kernels that must have the module.
    pub(in crate::resources) kernels: Vec<&'a str>,
    pub(in crate::resources) open: bool,
}

impl NvidiaDriver {
    fn driver(facts: &Facts) -> Result<&Driver, Unplannable> {
        known::answer(facts, &DriverQuery { whole: true }, &object())
    }

    pub(in crate::resources) fn number(&self) -> u32 {
        self.branch.parse().unwrap_or(0)
    }

    /// Whether a version is a wanted one.
    pub(in crate::resources) fn is_wanted(&self, version: &str) -> bool {
        match &self.version {
            Some(exact) => version == exact,
            None => version.split('.').next() == Some(self.branch.as_str()),
        }
    }

    pub(in crate::resources) fn wanted(&self) -> String {
        self.version.clone().unwrap_or_else(|| format!("{}.*", self.branch))
    }

    fn is_open(&self, models: &[&str], newer: bool) -> bool {
        let any =
            |list: &[&str]| models.iter().any(|model| list.iter().any(|start| model.starts_with(start)));
        match self.flavour {
            Flavour::Open => true,
            Flavour::Proprietary => false,
            Flavour::Auto if any(PROPRIETARY_ONLY) => false,
            // What is newer than Blackwell has no other ones.
            Flavour::Auto => any(OPEN_ONLY) || newer || self.number() >= OPEN_SINCE,
        }
    }

    fn host<'a>(&self, facts: &'a Facts) -> Result<Host<'a>, Unplannable> {
        let driver = Self::driver(facts)?;
        let manager = known::answer(facts, &PackagesQuery, &object())?;
        let os: &Os = known::base(facts, &object())?;
        let pci: &Pci = known::base(facts, &object())?;
        let _: &Virtualization = known::base(facts, &object())?;
        let boot: &Boot = known::base(facts, &object())?;
        let gpus = pci.gpus.iter().filter(|gpu| gpu.is_nvidia());
        // sysfs has the name that nova gives itself, NovaCore.
        let nova = gpus.clone().any(|gpu| gpu.driver.to_ascii_lowercase().starts_with("nova"));
        let newer = pci.newer_gpu();
        let models: Vec<&str> = gpus.map(|gpu| gpu.model.as_str()).collect();
        let container = known::container(facts);
        let kernels = if container.is_some() {
            // Whichever this image is for.
            driver
                .kernels
                .iter()
                .filter(|kernel| kernel.headers)
                .map(|kernel| kernel.release.as_str())
                .collect()
        } else {
            let next = boot.next_kernel.as_str();
            let mut kernels = vec![driver.running.as_str()];
            kernels.extend(Some(next).filter(|next| !next.is_empty() && *next != driver.running));
            kernels
        };
        Ok(Host {
            driver,
            manager,
            id: &os.id,
            version_id: &os.version_id,
            container,
            open: self.is_open(&models, newer.is_some()),
            models,
            newer,
            intruder: if driver.nouveau { Some("nouveau") } else { nova.then_some("nova") },
            kernels: if self.modules == Modules::None { Vec::new() } else { kernels },
        })
    }

    pub(in crate::resources) fn naming<'a>(&'a self, host: &'a Host<'_>) -> Naming<'a> {
        Naming {
            id: host.id,
            apt: host.manager.manager == "apt",
            source: self.source,
            branch: &self.branch,
            open: host.open,
            modules: self.modules,
            kernels: &host.kernels,
        }
    }

    /// Refuses what cannot work on this host, before anything is changed.
    fn refuse(&self, host: &Host<'_>) -> Result<(), Unplannable> {
        if let Some(kind) = &host.container
            && self.modules != Modules::None
            && self.load
        {
            return Err(Unplannable::Blocked(format!(
                "the NVIDIA module cannot be loaded in a container ({kind}): load it on the machine that runs it, and use `modules: none` here"
            )));
        }
        if let Some(device) = host.newer.filter(|_| !host.open) {
            return Err(Unplannable::Failed(format!(
                "the GPU 10de:{device} is newer than all that are known here, and those since Grace Hopper take the open modules alone: change `flavour`"
            )));
        }
        for model in &host.models {
            let only = |list: &[&str]| list.iter().any(|start| model.starts_with(start));
            if only(OPEN_ONLY) && !host.open || only(PROPRIETARY_ONLY) && host.open {
                let flavour = if host.open { "open" } else { "proprietary" };
                return Err(Unplannable::Failed(format!(
                    "the {flavour} modules do not support {model}: change `flavour`"
                )));
            }
            let least = LEAST_BRANCH.iter().find(|(start, _)| model.starts_with(start));
            if let Some((_, least)) = least.filter(|(_, least)| self.number() < *least) {
                return Err(Unplannable::Failed(format!(
                    "{model} needs a driver of branch {least} or newer, not {}",
                    self.branch
                )));
            }
        }
        Ok(())
    }

    /// The package whose entry in the archive's lists shows which branch is there: on Ubuntu and on Debian.
    fn told_by(&self) -> [OfferedQuery; 2] {
        [OfferedQuery(format!("nvidia-utils-{}-server", self.branch)), OfferedQuery("libcuda1".to_owned())]
    }

    /// Refuses a branch that the distribution's archive does not have, or leads to another one.
    fn refuse_retired(&self, host: &Host<'_>, facts: &Facts) -> Result<(), Unplannable> {
        if self.source != DriverSource::Archive || host.manager.manager != "apt" || !self.packages.is_empty()
        {
            return Ok(());
        }
        let [ubuntu, debian] = self.told_by();
        let (id, branch) = (host.id, &self.branch);
        // Lists that were never fetched say nothing.
        let offered =
            |query: &OfferedQuery| facts.get(query).answer().filter(|offered| !offered.version.is_empty());
        let refused = if id == "ubuntu" {
            offered(&ubuntu).and_then(|offered| offered.successor(branch)).map(|successor| {
                format!(
                    "Ubuntu has retired branch {branch}: its packages are empty and lead to branch {successor}. Set `branch: \"{successor}\"`, or take {branch} from NVIDIA's repository with `source: repository`"
                )
            })
        } else if id == "debian" {
            offered(&debian)
                .map(|offered| offered.version.split_once(':').map_or(offered.version.as_str(), |(_, rest)| rest))
                .filter(|version| version.split('.').next() != Some(branch.as_str()))
                .map(|version| {
                    format!(
                        "Debian's archive has the NVIDIA driver {version}, not branch {branch}: take that branch from NVIDIA's repository with `source: repository`, or set `branch` to the one of the archive"
                    )
                })
        } else {
            None
        };
        refused.map_or(Ok(()), |text| Err(Unplannable::Failed(text)))
    }

    /// With Secure Boot a module that nobody signed is built for nothing.
    fn refuse_unsigned(&self, host: &Host<'_>) -> Result<(), Unplannable> {
        if host.driver.secure_boot != Some(true) || self.modules != Modules::Dkms || host.driver.enrolled {
            return Ok(());
        }
        Err(Unplannable::Failed(
            "Secure Boot rejects a module that is built on the host: enrol the key of DKMS at the console (`mokutil --import`), switch Secure Boot off, or use `modules: signed` on Ubuntu".to_owned(),
        ))
    }

    /// Reports why the module that is loaded is not the one of the packages.
    fn stale(&self, host: &Host<'_>) -> Option<String> {
        let loaded = host.driver.loaded.as_ref()?;
        let disk = host.driver.kernel(&host.driver.running).and_then(|kernel| kernel.version.as_deref());
        let is = loaded.version.as_str();
        if !self.is_wanted(is) {
            return Some(format!("the loaded NVIDIA module is {is}, but {} is wanted", self.wanted()));
        }
        if disk.is_some_and(|disk| disk != is) {
            return Some(format!(
                "the loaded NVIDIA module is {is}, but {} is installed",
                disk.unwrap_or_default()
            ));
        }
        let word = |open: bool| if open { "open" } else { "proprietary" };
        let other = loaded.open.filter(|open| *open != host.open)?;
        Some(format!(
            "the {} NVIDIA module is loaded, but the {} one is wanted",
            word(other),
            word(host.open)
        ))
    }

    fn loading(&self, host: &Host<'_>) -> Option<Change> {
        if self.modules == Modules::None || !self.load || host.models.is_empty() || host.intruder.is_some() {
            return None;
        }
        let (action, summary) = match (&host.driver.loaded, self.stale(host)) {
            (None, _) => ("load", "~ module nvidia (not loaded -> loaded)".to_owned()),
            (Some(_), Some(reason)) if self.reload => {
                ("reload", format!("~ module nvidia (reload: {reason})"))
            }
            (Some(_), _) => return None,
        };
        let disruption = if action == "load" { Disruption::None } else { Disruption::Gpu };
        Some(change(
            summary,
            Detail::Command("modprobe nvidia".to_owned()),
            Script::new(crate::shell!(
                "resources/gpu/nvidia_driver/driver_units.sh",
                "resources/gpu/nvidia_driver/driver_load.sh"
            ))
            .named("action", action),
            disruption,
        ))
    }

    /// No driver of the kernel must be there first at the next boot.
    fn keeping_others_out(&self, host: &Host<'_>, facts: &Facts) -> Planned {
        if self.modules == Modules::None || host.container.is_some() {
            return Ok(Vec::new());
        }
        let file = nouveau_file();
        let mut changes = file.plan_with_directory(facts)?;
        if !changes.is_empty() {
            changes.push(change(
                "~ initramfs (rebuild, when nouveau or nova is in it)".to_owned(),
                Detail::Command("update-initramfs -u, or dracut -f".to_owned()),
                Script::new(crate::shell!(
                    "resources/shared/initramfs_module.sh",
                    "resources/shared/initramfs.sh"
                ))
                .named("modules", "nouveau nova_core nova_drm nova")
                .named("file", file.path.0.as_str()),
                Disruption::None,
            ));
        }
        Ok(changes)
    }
}

impl Resource for NvidiaDriver {
    fn queries(&self) -> Vec<Query> {
        let facts = ["os", "pci", "virtualization", "boot"].into_iter().filter_map(base);
        let mut queries = vec![DriverQuery { whole: true }.into(), PackagesQuery.into()];
        queries.extend(facts);
        queries.extend(nouveau_file().queries());
        if self.source != DriverSource::Runfile {
            queries.extend(self.pin_file().queries());
        }
        if self.source == DriverSource::Archive && self.packages.is_empty() {
            queries.extend(self.told_by().map(Query::from));
        }
        queries
    }

    fn plan(&self, facts: &Facts) -> Planned {
        let host = self.host(facts)?;
        self.refuse(&host)?;
        let parts: Vec<_> = host.driver.parts().collect();
        let mut changes = self.keeping_others_out(&host, facts)?;
        let kept = changes.len();
        let clearing = self.clearing(&host, &parts)?;
        if self.source == DriverSource::Runfile {
            let due = !self.unbuilt(&host, None).is_empty() || host.driver.runfile.is_none();
            if let Some(intruder) = host.intruder.filter(|_| due && host.container.is_none()) {
                // What keeps it out of the next boot is written first.
                if !changes.is_empty() {
                    return Ok(changes);
                }
                return Err(Unplannable::Partly(
                    Vec::new(),
                    format!(
                        "{intruder} is loaded and uses the GPUs, so NVIDIA's installer would stop: it is blocked from the next boot on; reboot the host, then apply again"
                    ),
                ));
            }
            if due {
                self.refuse_unsigned(&host)?;
                changes.extend(self.headers(&host));
                changes.extend(self.run_installer(&host));
                changes.extend(
                    host.kernels
                        .split_first()
                        .filter(|(_, rest)| !rest.is_empty())
                        .map(|(_, rest)| self.build(rest)),
                );
            }
        } else {
            let names = self.names(&host)?;
            let due = !clearing.is_empty() || !self.is_installed(&host, &names, &parts);
            if due {
                self.refuse_retired(&host, facts)?;
            }
            let version = parts.first().map(|part| part.upstream()).filter(|_| !due);
            let unbuilt = self.unbuilt(&host, version);
            let build = due && !host.kernels.is_empty() || !unbuilt.is_empty();
            if build {
                self.refuse_unsigned(&host)?;
            }
            changes.extend(self.pinning(&host, facts)?);
            changes.extend(clearing);
            if due {
                changes.extend(self.lists(&host));
            }
            changes.extend(self.headers(&host));
            if due {
                changes.extend(self.install(&host, &names, &parts));
            }
            if build {
                changes.push(self.build(if due { &host.kernels } else { &unbuilt }));
            }
            changes.extend(self.holding(&host, &parts, due));
        }
        if let Some(load) = self.loading(&host) {
            if changes.len() == kept {
                self.refuse_unsigned(&host)?;
            }
            changes.push(load);
        }
        Ok(changes)
    }

    fn touches(&self) -> Touches {
        Touches::Everything
    }

    fn manages(&self) -> Vec<(Object, String)> {
        let attributes = [
            ("version", Some(self.wanted())),
            ("flavour", Some(self.flavour.to_string())),
            ("source", Some(self.source.to_string())),
        ];
        claims(Object::Package, "the NVIDIA driver", "present", attributes)
    }

    /// The module that is loaded is held only where this task loads it.
    fn promises(&self, facts: &Facts) -> Vec<Promise> {
        let loads = self.modules != Modules::None && self.load;
        let Some(host) = self.host(facts).ok().filter(|host| loads && host.container.is_none()) else {
            return Vec::new();
        };
        let version = self.version.clone().unwrap_or_else(|| self.branch.clone());
        vec![Promise::new(ExpectDriver {
            version: Some(version),
            open: Some(host.open),
            ..ExpectDriver::default()
        })]
    }

    fn reboot(&self, facts: &Facts) -> Option<String> {
        let host = self.host(facts).ok()?;
        if self.modules == Modules::None || host.container.is_some() || !self.load {
            return None;
        }
        if let Some(intruder) = host.intruder {
            return Some(format!("{intruder} is loaded and uses the GPUs"));
        }
        self.stale(&host).filter(|_| !self.reload)
    }

    /// A package manager and a DKMS build.
    fn leave(&self) -> bool {
        true
    }
}
