//! `nvidia_driver`: the NVIDIA driver, its kernel modules and its user space, of one version.
//!
//! The decision (`domain.md` B15) is over three versions: that of the packages, of the module on disk for
//! each kernel that matters, and of the module that is loaded.

use std::sync::Arc;

use serde_json::Value as Json;

use super::content::RegularFile;
use super::driver_changes::move_update_first;
use super::driver_packages::{DriverSource, Flavour, Modules, Naming, core};
use super::value::{Digest, claims};
use super::{Change, Context, Detail, Disruption, Planned, Resource, Unplannable, known};
use crate::config::{Diagnostic, Diagnostics, FromNode as _, Node, Sp};
use crate::facts::driver::Driver;
use crate::facts::package::Packages;
use crate::facts::{Answer, Facts, Object, Query, Touches, base};
use crate::sources::Url;
use crate::transport::Script;

crate::record! {
    /// The NVIDIA driver: kernel modules and user space of one version.
    ///
    /// Packages, the module on disk for the running and the next kernel, and the module that is loaded
    /// must agree; what does not is brought in line. Before: headers for both kernels, no leftovers of
    /// another branch, family or of the runfile, nouveau kept away, with Secure Boot a key that the firmware knows.
    /// After: DKMS built the module for both kernels. A module of another version that is loaded is replaced
    /// with `reload: true`, else at the next boot, which a `reboot` task does. In a container only
    /// `modules: none` or `load: false` can be had: the kernel is the machine's below.
    NvidiaDriverFields("the NVIDIA driver") {
        /// The branch, such as "535". Left out: that of `version`.
        opt branch: Sp<String>,
        /// The whole version, such as "535.261.03"; left out: the newest of the branch.
        opt version: Sp<String>,
        /// Which kernel modules.
        def flavour: Flavour = Flavour::Auto,
        /// Where it comes from.
        def source: DriverSource = DriverSource::Archive,
        /// How the kernel modules come to the host.
        def modules: Modules = Modules::Dkms,
        /// Packages, where the usual names are not the right ones.
        def packages: Vec<Sp<String>> = Vec::new(),
        /// runfile: where it is.
        opt url: Sp<Url>,
        /// runfile: its SHA-256.
        opt sha256: Digest,
        /// runfile: more arguments of the installer.
        def options: Vec<Sp<String>> = Vec::new(),
        /// Whether the packages are held against upgrades.
        def hold: bool = true,
        /// Whether the module is loaded when none is.
        def load: bool = true,
        /// Whether another version that is loaded is unloaded for this one; nobody may use the GPUs then.
        def reload: bool = false,
    }
}

#[derive(Debug)]
pub(super) struct NvidiaDriver {
    pub(super) branch: String,
    pub(super) version: Option<String>,
    pub(super) flavour: Flavour,
    pub(super) source: DriverSource,
    pub(super) modules: Modules,
    pub(super) packages: Vec<String>,
    /// URL and digest.
    pub(super) runfile: Option<(String, String)>,
    pub(super) options: Vec<String>,
    pub(super) hold: bool,
    pub(super) load: bool,
    pub(super) reload: bool,
}

/// The oldest branch that drives a GPU, by the start of the model's name (`domain.md` B2).
const LEAST_BRANCH: &[(&str, u32)] =
    &[("A100", 450), ("H100 PCIe", 515), ("H100 80GB", 525), ("H20", 535), ("B200", 570)];
/// GPUs that only the open modules drive.
const OPEN_ONLY: &[&str] = &["B200", "GB200", "B300"];
/// GPUs that the open modules do not drive.
const PROPRIETARY_ONLY: &[&str] = &["Tesla V100"];
/// From this branch on the open modules are NVIDIA's default.
pub(super) const OPEN_SINCE: u32 = 560;

fn is_version(text: &str) -> bool {
    text.len() <= 32
        && text.split('.').all(|part| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit()))
}

pub(super) fn read(
    node: &Node,
    context: &dyn Context,
    diagnostics: &mut Diagnostics,
) -> Option<Arc<dyn Resource>> {
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
    if let Some(branch) = &branch
        && branch.contains('.')
    {
        diagnostics.push(
            Diagnostic::error(branch.span, format!("`{}` is a version, not a branch", **branch))
                .help("give it as `version`; a branch is the first number, such as \"535\""),
        );
    }
    let of_version = version.as_ref().and_then(|version| version.split('.').next()).map(str::to_owned);
    let Some(number) = branch.as_ref().map(|branch| branch.value.clone()).or_else(|| of_version.clone())
    else {
        diagnostics.push(
            Diagnostic::error(node.span, "which driver is not said")
                .help("give a `branch`, such as \"535\", or a `version`"),
        );
        return None;
    };
    if let (Some(version), Some(of_version)) = (&version, &of_version)
        && *of_version != number
    {
        diagnostics.error(version.span, format!("`{}` is not a version of branch {number}", **version));
    }
    let runfile = match (&fields.url, &fields.sha256) {
        (Some(url), Some(digest)) => super::download::fetched(url, digest, context, diagnostics),
        _ => None,
    };
    let is_runfile = fields.source == DriverSource::Runfile;
    if is_runfile && (runfile.is_none() || version.is_none()) {
        diagnostics.push(
            Diagnostic::error(node.span, "`source: runfile` needs `version`, `url` and `sha256`")
                .help("nothing from the network is run without its digest"),
        );
    }
    if !is_runfile && (fields.url.is_some() || fields.sha256.is_some() || !fields.options.is_empty()) {
        diagnostics.error(node.span, "`url`, `sha256` and `options` belong to `source: runfile`");
    }
    if is_runfile && (fields.modules != Modules::Dkms || !fields.packages.is_empty()) {
        diagnostics.error(node.span, "a runfile builds its own modules and has no packages");
    }
    for name in &fields.packages {
        if !super::package::is_name(name) {
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

/// The file that keeps nouveau away (`domain.md` B9).
fn nouveau_file() -> RegularFile {
    let text = "blacklist nouveau\noptions nouveau modeset=0\n".to_owned();
    RegularFile::drop_in("/etc/modprobe.d/blacklist-nouveau.conf".to_owned(), text)
}

fn object() -> Object {
    Object::Module("nvidia".to_owned())
}

pub(super) fn change(summary: String, detail: Detail, script: Script, disruption: Disruption) -> Change {
    Change { object: object(), summary, detail, script, upload: None, disruption }
}

fn text<'a>(value: Option<&'a Json>, key: &str) -> &'a str {
    value.and_then(|value| value.get(key)).and_then(Json::as_str).unwrap_or("")
}

/// What one host is and has, as far as the driver goes.
pub(super) struct Host<'a> {
    pub(super) driver: &'a Driver,
    pub(super) manager: &'a Packages,
    pub(super) id: &'a str,
    pub(super) version_id: &'a str,
    pub(super) container: Option<String>,
    pub(super) models: Vec<&'a str>,
    /// Kernels that must have the module.
    pub(super) kernels: Vec<&'a str>,
    pub(super) open: bool,
}

impl NvidiaDriver {
    fn driver(facts: &Facts) -> Result<&Driver, Unplannable> {
        let Answer::Driver(driver) = known::answer(facts, &Query::Driver, &object())? else {
            return Err(known::strange(&object()));
        };
        Ok(driver)
    }

    pub(super) fn number(&self) -> u32 {
        self.branch.parse().unwrap_or(0)
    }

    /// Whether a version is a wanted one.
    pub(super) fn is_wanted(&self, version: &str) -> bool {
        match &self.version {
            Some(exact) => version == exact,
            None => version.split('.').next() == Some(self.branch.as_str()),
        }
    }

    pub(super) fn wanted(&self) -> String {
        self.version.clone().unwrap_or_else(|| format!("{}.*", self.branch))
    }

    fn is_open(&self, models: &[&str]) -> bool {
        let any =
            |list: &[&str]| models.iter().any(|model| list.iter().any(|start| model.starts_with(start)));
        match self.flavour {
            Flavour::Open => true,
            Flavour::Proprietary => false,
            Flavour::Auto if any(PROPRIETARY_ONLY) => false,
            Flavour::Auto => any(OPEN_ONLY) || self.number() >= OPEN_SINCE,
        }
    }

    fn host<'a>(&self, facts: &'a Facts) -> Result<Host<'a>, Unplannable> {
        let driver = Self::driver(facts)?;
        let Answer::Packages(manager) = known::answer(facts, &Query::Packages, &object())? else {
            return Err(known::strange(&object()));
        };
        for name in ["os", "pci", "virtualization", "boot"] {
            if let Some(query) = base(name) {
                known::answer(facts, &query, &object())?;
            }
        }
        let models: Vec<&str> = facts
            .base("pci")
            .and_then(|pci| pci.get("gpus"))
            .and_then(Json::as_array)
            .into_iter()
            .flatten()
            .filter(|gpu| text(Some(gpu), "vendor") == "10de")
            .map(|gpu| text(Some(gpu), "model"))
            .collect();
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
            let next = text(facts.base("boot"), "next_kernel");
            let mut kernels = vec![driver.running.as_str()];
            kernels.extend(Some(next).filter(|next| !next.is_empty() && *next != driver.running));
            kernels
        };
        Ok(Host {
            driver,
            manager,
            id: text(facts.base("os"), "id"),
            version_id: text(facts.base("os"), "version_id"),
            container,
            open: self.is_open(&models),
            models,
            kernels: if self.modules == Modules::None { Vec::new() } else { kernels },
        })
    }

    pub(super) fn naming<'a>(&'a self, host: &'a Host<'_>) -> Naming<'a> {
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
                "the NVIDIA module is loaded on the machine below, not in a container ({kind}); `modules: none` is the user-space part alone"
            )));
        }
        for model in &host.models {
            let only = |list: &[&str]| list.iter().any(|start| model.starts_with(start));
            if only(OPEN_ONLY) && !host.open || only(PROPRIETARY_ONLY) && host.open {
                let flavour = if host.open { "open" } else { "proprietary" };
                return Err(Unplannable::Failed(format!(
                    "the {flavour} modules do not drive {model}: change `flavour`"
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

    /// With Secure Boot a module that nobody signed is built for nothing.
    fn refuse_unsigned(&self, host: &Host<'_>) -> Result<(), Unplannable> {
        if host.driver.secure_boot != Some(true) || self.modules != Modules::Dkms || host.driver.enrolled {
            return Ok(());
        }
        Err(Unplannable::Failed(
            "Secure Boot is on and the module is built on the host: enrol the key of DKMS at the console (`mokutil --import`), switch Secure Boot off, or take `modules: signed` on Ubuntu".to_owned(),
        ))
    }

    /// Why the module that is loaded is not the one of the packages.
    fn stale(&self, host: &Host<'_>) -> Option<String> {
        let loaded = host.driver.loaded.as_ref()?;
        let disk = host.driver.kernel(&host.driver.running).and_then(|kernel| kernel.version.as_deref());
        let is = loaded.version.as_str();
        if !self.is_wanted(is) {
            return Some(format!("the NVIDIA module {is} is loaded, {} is wanted", self.wanted()));
        }
        if disk.is_some_and(|disk| disk != is) {
            return Some(format!(
                "the NVIDIA module {is} is loaded, {} is installed",
                disk.unwrap_or_default()
            ));
        }
        let word = |open: bool| if open { "open" } else { "proprietary" };
        let other = loaded.open.filter(|open| *open != host.open)?;
        Some(format!("the {} NVIDIA module is loaded, the {} one is wanted", word(other), word(host.open)))
    }

    fn loading(&self, host: &Host<'_>) -> Option<Change> {
        if self.modules == Modules::None || !self.load || host.models.is_empty() || host.driver.nouveau {
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
            Script::new(crate::shell!("resources/driver_units.sh", "resources/driver_load.sh")).arg(action),
            disruption,
        ))
    }

    /// nouveau must not be there first at the next boot.
    fn keeping_nouveau_out(&self, host: &Host<'_>, facts: &Facts) -> Planned {
        if self.modules == Modules::None || host.container.is_some() {
            return Ok(Vec::new());
        }
        let mut changes = nouveau_file().plan_with_directory(facts)?;
        if !changes.is_empty() {
            changes.push(change(
                "~ initramfs (rebuild, when nouveau is in it)".to_owned(),
                Detail::Command("update-initramfs -u, or dracut -f".to_owned()),
                Script::new(crate::shell!("resources/initramfs_module.sh", "resources/initramfs.sh"))
                    .arg("nouveau"),
                Disruption::None,
            ));
        }
        Ok(changes)
    }
}

impl Resource for NvidiaDriver {
    fn queries(&self) -> Vec<Query> {
        let facts = ["os", "pci", "virtualization", "boot"].into_iter().filter_map(base);
        let mut queries = vec![Query::Driver, Query::Packages];
        queries.extend(facts);
        queries.extend(nouveau_file().queries());
        queries
    }

    fn plan(&self, facts: &Facts) -> Planned {
        let host = self.host(facts)?;
        self.refuse(&host)?;
        let parts = core(host.driver);
        let mut changes = self.keeping_nouveau_out(&host, facts)?;
        let kept = changes.len();
        let clearing = self.clearing(&host, &parts)?;
        if self.source == DriverSource::Runfile {
            let due = !self.unbuilt(&host, None).is_empty() || host.driver.runfile.is_none();
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
            let version = parts.first().map(|part| part.upstream()).filter(|_| !due);
            let unbuilt = self.unbuilt(&host, version);
            let build = due && !host.kernels.is_empty() || !unbuilt.is_empty();
            if build {
                self.refuse_unsigned(&host)?;
            }
            changes.extend(clearing);
            let lists = changes.len();
            changes.extend(self.headers(&host));
            if due {
                changes.extend(self.install(&host, &names, &parts));
            }
            move_update_first(&mut changes, lists);
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

    fn reboot(&self, facts: &Facts) -> Option<String> {
        let host = self.host(facts).ok()?;
        if self.modules == Modules::None || host.container.is_some() || !self.load {
            return None;
        }
        if host.driver.nouveau {
            return Some("nouveau is loaded and holds the GPUs".to_owned());
        }
        self.stale(&host).filter(|_| !self.reload)
    }

    /// A package manager and a DKMS build.
    fn leave(&self) -> bool {
        true
    }
}
