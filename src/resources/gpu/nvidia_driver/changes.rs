//! The changes of `nvidia_driver`: what is taken away, installed, built and held.

use std::collections::BTreeSet;

use crate::facts::Facts;
use crate::facts::driver::{DriverPackage, OPEN_SINCE, is_tool};
use crate::resources::gpu::nvidia_driver::packages::{DriverSource, Modules, Naming};
use crate::resources::gpu::nvidia_driver::{Host, NvidiaDriver, change};
use crate::resources::packages::package::{Pin, preferences};
use crate::resources::shared::content::RegularFile;
use crate::resources::shared::value::Presence;
use crate::resources::{Attribute, Change, Detail, Disruption, Planned, Unplannable};
use crate::transport::Script;

/// Debian's libraries of the driver that have no `nvidia` in their name.
const PINNED: &str = "*nvidia* libcuda1 libcudadebugger1 libnvcuvid1 libnvoptix1 cuda-drivers*";

/// Whether the version of a package is that of the driver it is named for. Modules that Ubuntu built have that of
/// their kernel, and depend on the driver's.
fn follows_driver(name: &str) -> bool {
    !is_tool(name) && !name.starts_with("linux-modules-nvidia-")
}

impl NvidiaDriver {
    /// Plans the removal of what must not stay beside the wanted driver.
    pub(in crate::resources) fn clearing(
        &self,
        host: &Host<'_>,
        parts: &[&DriverPackage],
    ) -> Result<Vec<Change>, Unplannable> {
        let mut changes = Vec::new();
        if self.source == DriverSource::Runfile {
            if parts.is_empty() {
                return Ok(changes);
            }
            let names: Vec<&str> = parts.iter().map(|part| part.name.as_str()).collect();
            return Err(Unplannable::Failed(format!(
                "the driver is installed as packages, which a runfile must not overwrite: remove them first, with `package: {{ names: [{}], state: absent }}`",
                names.join(", ")
            )));
        }
        if let Some(uninstaller) = &host.driver.runfile {
            changes.push(change(
                format!("- NVIDIA driver of the runfile ({uninstaller})"),
                Detail::Command(format!("{uninstaller} --silent")),
                Script::new(crate::shell!(
                    "resources/gpu/nvidia_driver/driver_units.sh",
                    "resources/gpu/nvidia_driver/driver_uninstall.sh"
                ))
                .named("uninstaller", uninstaller.as_str()),
                Disruption::Gpu,
            ));
        }
        let naming = self.naming(host);
        let foreign: Vec<&&DriverPackage> = parts.iter().filter(|part| self.goes(&naming, part)).collect();
        if !foreign.is_empty() {
            let names = foreign.iter().map(|part| part.name.as_str());
            let attributes =
                foreign.iter().map(|part| Attribute::new(&part.name, Some(&part.version), None)).collect();
            changes.push(change(
                format!("- {}", names.clone().collect::<Vec<_>>().join(", ")),
                Detail::Attributes(attributes),
                self.package_script(host, "remove").list("word", names),
                Disruption::Gpu,
            ));
        }
        Ok(changes)
    }

    /// Whether a part that is here makes way. Where the task names its packages, nothing does.
    fn goes(&self, naming: &Naming<'_>, part: &DriverPackage) -> bool {
        self.packages.is_empty() && naming.is_foreign(part)
    }

    /// The script of the package manager, whose versions are the wanted ones in this transaction.
    pub(in crate::resources) fn package_script(&self, host: &Host<'_>, action: &'static str) -> Script {
        if host.manager.manager != "apt" {
            let tool = host.manager.manager.as_str();
            return Script::new(crate::shell!("facts/package/dnf_providers.sh", "resources/shared/dnf.sh"))
                .named("tool", tool)
                .named("action", action)
                .named("excluded", "");
        }
        let mut pins = Vec::new();
        let own = self.names(host).unwrap_or_default();
        // Those with versions of their own follow what they depend on.
        let never = own.iter().filter(|name| follows_driver(name)).cloned().collect::<Vec<_>>().join(" ");
        if action == "pin" {
            pins.push(self.pin());
            if !never.is_empty() {
                pins.push(Pin::never(&never));
            }
        }
        Script::new(crate::shell!("shell/package_holder.sh", "resources/shared/apt.sh"))
            .named("action", action)
            .named("preferences", preferences(&pins))
    }

    /// Returns the pin that makes apt take the wanted version.
    fn pin(&self) -> Pin<'static> {
        Pin { names: PINNED, to: format!("version {}", self.pattern()), priority: 1001 }
    }

    /// The file that keeps apt in the branch where the names of the packages do not. Of several pins for a
    /// package the first counts, so it comes before NVIDIA's `nvidia-driver-pinning-*`.
    pub(in crate::resources) fn pin_file(&self) -> RegularFile {
        let path = "/etc/apt/preferences.d/00-provision-nvidia-driver".to_owned();
        RegularFile::drop_in(path, preferences(&[self.pin()]))
    }

    /// Plans that file: there if the names of the packages need a pin, else gone. Hosts without apt have
    /// none.
    pub(in crate::resources) fn pinning(&self, host: &Host<'_>, facts: &Facts) -> Planned {
        if host.manager.manager != "apt" {
            return Ok(Vec::new());
        }
        let state = if self.naming(host).needs_pin() { Presence::Present } else { Presence::Absent };
        self.pin_file().plan_state(state, facts)
    }

    /// The wanted version as apt compares it.
    pub(in crate::resources) fn pattern(&self) -> String {
        self.version.as_ref().map_or_else(|| format!("{}.*", self.branch), |version| format!("{version}-*"))
    }

    pub(in crate::resources) fn names(&self, host: &Host<'_>) -> Result<Vec<String>, Unplannable> {
        if !self.packages.is_empty() {
            return Ok(self.packages.clone());
        }
        self.naming(host).wanted().map_err(Unplannable::Failed)
    }

    /// Whether the packages are there, in one version, which is a wanted one.
    pub(in crate::resources) fn is_installed(
        &self,
        host: &Host<'_>,
        names: &[String],
        parts: &[&DriverPackage],
    ) -> bool {
        let there = |name: &String| {
            host.driver.packages.iter().any(|package| package.name == *name && !package.broken)
        };
        let first = parts.first().map(|part| part.upstream());
        names.iter().all(there)
            && parts.iter().all(|part| !part.broken && first == Some(part.upstream()))
            && first.is_some_and(|version| self.is_wanted(version))
    }

    /// Fetches the lists of apt, which the packages of the driver and their headers come from.
    pub(in crate::resources) fn lists(&self, host: &Host<'_>) -> Option<Change> {
        (host.manager.manager == "apt").then(|| {
            change(
                "~ package lists (update)".to_owned(),
                Detail::Command("apt-get update".to_owned()),
                self.package_script(host, "update"),
                Disruption::None,
            )
        })
    }

    pub(in crate::resources) fn install(
        &self,
        host: &Host<'_>,
        names: &[String],
        parts: &[&DriverPackage],
    ) -> Vec<Change> {
        let mut changes = Vec::new();
        let naming = self.naming(host);
        let here: Vec<&&DriverPackage> = parts.iter().filter(|part| !self.goes(&naming, part)).collect();
        // All parts that are here come along, or they would stay in their old version.
        let mut all: Vec<String> = names.to_vec();
        all.extend(here.iter().map(|part| part.name.clone()).filter(|name| !names.contains(name)));
        let disruption = if host.driver.loaded.is_some() { Disruption::Gpu } else { Disruption::None };
        if host.manager.manager == "apt" {
            if let Some(summary) = host.manager.to_finish(parts.iter().any(|part| part.broken)) {
                changes.push(change(
                    summary,
                    Detail::Command("dpkg --configure -a".to_owned()),
                    self.package_script(host, "configure"),
                    disruption,
                ));
            }
        } else if let Some(stream) = naming.stream(host.version_id) {
            changes.push(change(
                format!("~ module stream {stream}"),
                Detail::Command(format!("dnf module reset nvidia-driver, then enable {stream}")),
                Script::new(crate::shell!("resources/gpu/nvidia_driver/driver_stream.sh"))
                    .named("tool", host.manager.manager.as_str())
                    .named("stream", stream),
                Disruption::None,
            ));
        }
        let told = self.wanted();
        let attribute = |name: &String| {
            let before = here.iter().find(|part| part.name == *name).map(|part| part.version.as_str());
            let tool = is_tool(name);
            Attribute::new(name, before, Some(if tool { "installed" } else { told.as_str() }))
        };
        let before: Vec<&str> = {
            let mut versions: Vec<&str> = parts.iter().map(|part| part.upstream()).collect();
            versions.sort_unstable();
            versions.dedup();
            versions
        };
        let summary = if before.is_empty() {
            format!("+ NVIDIA driver {told} ({})", all.join(", "))
        } else {
            format!("~ NVIDIA driver {} -> {told} ({})", before.join(" and "), all.join(", "))
        };
        let detail = Detail::Attributes(all.iter().map(attribute).collect());
        let locks = naming.needs_lock(host.version_id);
        if locks {
            changes.extend(self.locking(host, parts));
        }
        // In a stream dnf is told a whole version with the name.
        let by_name = host.manager.manager != "apt" && self.version.is_some() && !locks;
        // A stream or the locks decide alone which version the packages have, an older one too.
        let action = match (host.manager.manager == "apt" || by_name, locks) {
            (true, _) => "pin",
            (false, true) => "locked",
            (false, false) => "sync",
        };
        let version = self.wanted();
        let words: Vec<String> = all
            .iter()
            .map(|name| if by_name && !is_tool(name) { format!("{name}-{version}") } else { name.clone() })
            .collect();
        changes.push(change(
            summary,
            detail,
            self.package_script(host, action).list("word", words),
            disruption,
        ));
        changes
    }

    /// Headers and a compiler for the kernels that have none.
    pub(in crate::resources) fn headers(&self, host: &Host<'_>) -> Option<Change> {
        let lacking: Vec<&str> = host
            .kernels
            .iter()
            .filter(|kernel| !host.driver.kernel(kernel).is_some_and(|kernel| kernel.headers))
            .copied()
            .collect();
        if self.modules != Modules::Dkms || lacking.is_empty() {
            return None;
        }
        let names = self.naming(host).prerequisites(&lacking);
        let attributes = names.iter().map(|name| Attribute::new(name, None, Some("installed"))).collect();
        Some(change(
            format!("+ {}", names.join(", ")),
            Detail::Attributes(attributes),
            self.package_script(host, "install").list("word", names),
            Disruption::None,
        ))
    }

    /// Kernels whose module is absent, of another version than `version`, or of the other flavour.
    pub(in crate::resources) fn unbuilt<'a>(&self, host: &Host<'a>, version: Option<&str>) -> Vec<&'a str> {
        let good = |release: &&str| {
            host.driver.kernel(release).is_some_and(|kernel| {
                kernel.open == host.open
                    && kernel.version.as_deref().is_some_and(|disk| {
                        self.is_wanted(disk) && version.is_none_or(|version| version == disk)
                    })
            })
        };
        host.kernels.iter().filter(|release| !good(release)).copied().collect()
    }

    pub(in crate::resources) fn build(&self, kernels: &[&str]) -> Change {
        change(
            format!("~ NVIDIA module for {}", kernels.join(", ")),
            Detail::Command(
                kernels.iter().map(|k| format!("dkms autoinstall -k {k}")).collect::<Vec<_>>().join("; "),
            ),
            Script::new(crate::shell!(
                "facts/driver/nvidia_module.sh",
                "resources/gpu/nvidia_driver/driver_modules.sh"
            ))
            .named("version", self.pattern().trim_end_matches(['*', '-']))
            .list("kernel", kernels.iter().copied()),
            Disruption::None,
        )
    }

    pub(in crate::resources) fn run_installer(&self, host: &Host<'_>) -> Option<Change> {
        let (url, sha256) = self.runfile.as_ref()?;
        let kind = match (self.number() >= OPEN_SINCE, host.open) {
            (true, true) => "--kernel-module-type=open",
            (true, false) => "--kernel-module-type=proprietary",
            (false, true) => "-m=kernel-open",
            (false, false) => "",
        };
        let before = host.driver.kernel(&host.driver.running).and_then(|kernel| kernel.version.clone());
        Some(change(
            format!("~ NVIDIA driver {} -> {} (runfile)", before.as_deref().unwrap_or("none"), self.wanted()),
            Detail::Attributes(vec![Attribute::new("driver", before.as_deref(), self.version.as_deref())]),
            Script::new(crate::shell!(
                "resources/shared/get.sh",
                "resources/shared/fetch.sh",
                "resources/gpu/nvidia_driver/driver_units.sh",
                "resources/gpu/nvidia_driver/driver_runfile.sh"
            ))
            .named("url", url.as_str())
            .named("digest", sha256.as_str())
            .list("option", Some(kind).filter(|kind| !kind.is_empty()))
            .list("option", self.options.iter().map(String::as_str)),
            if host.driver.loaded.is_some() { Disruption::Gpu } else { Disruption::None },
        ))
    }

    /// Packages that upgrades must leave alone.
    pub(in crate::resources) fn holding(
        &self,
        host: &Host<'_>,
        parts: &[&DriverPackage],
        due: bool,
    ) -> Vec<Change> {
        if self.source == DriverSource::Runfile {
            return Vec::new();
        }
        if host.manager.manager == "apt" {
            let late = self.hold && (due || parts.iter().any(|part| !part.held));
            return late.then(|| self.hold_packages()).into_iter().collect();
        }
        let naming = self.naming(host);
        if naming.needs_lock(host.version_id) {
            // Locked before they were installed.
            return if due || self.is_locked(host, parts) { Vec::new() } else { self.locking(host, parts) };
        }
        if self.version.is_none() && naming.stream(host.version_id).is_some() {
            // An enabled stream holds the branch by itself, and locks to one version would keep updates of it out.
            let names = self.names_and_parts(host, parts);
            let stale = host.driver.locks.iter().any(|lock| names.contains(&lock.name));
            return stale.then(|| Self::unlocking(host, &names)).into_iter().collect();
        }
        if self.hold && (due || !self.is_locked(host, parts)) {
            return self.locking(host, parts);
        }
        Vec::new()
    }

    fn hold_packages(&self) -> Change {
        change(
            "~ packages of the NVIDIA driver (held)".to_owned(),
            Detail::Attributes(vec![Attribute::new("hold", Some("not held"), Some("held"))]),
            Script::new(crate::shell!("resources/gpu/nvidia_driver/driver_hold.sh"))
                .named("version", self.pattern().trim_end_matches(['*', '-'])),
            Disruption::None,
        )
    }

    /// Returns the names of the wanted packages, and of those on the host that do not make way; without
    /// tools.
    fn names_and_parts(&self, host: &Host<'_>, parts: &[&DriverPackage]) -> BTreeSet<String> {
        let naming = self.naming(host);
        let here = parts.iter().filter(|part| !self.goes(&naming, part)).map(|part| part.name.clone());
        here.chain(self.names(host).unwrap_or_default()).filter(|name| !is_tool(name)).collect()
    }

    /// Whether dnf sees only the wanted versions.
    fn is_locked(&self, host: &Host<'_>, parts: &[&DriverPackage]) -> bool {
        let names = self.names_and_parts(host, parts);
        let exact = |name: &String| {
            let mut of_it = host.driver.locks.iter().filter(|lock| lock.name == *name).peekable();
            of_it.peek().is_some() && of_it.all(|lock| self.is_wanted(&lock.version))
        };
        !names.is_empty() && names.iter().all(exact)
    }

    fn lock_plugin(&self, host: &Host<'_>) -> Option<Change> {
        let plugin = host.manager.lacks_for_holding()?;
        Some(change(
            format!("+ {plugin}"),
            Detail::Attributes(vec![Attribute::new(plugin, None, Some("installed"))]),
            self.package_script(host, "install").named("word", plugin),
            Disruption::None,
        ))
    }

    /// Lets dnf see only the wanted versions.
    fn locking(&self, host: &Host<'_>, parts: &[&DriverPackage]) -> Vec<Change> {
        let wanted = self.wanted();
        let lock = change(
            format!("~ versions of the NVIDIA driver (locked to {wanted})"),
            Detail::Command(format!("dnf versionlock add, of all packages `*nvidia*-{wanted}`")),
            Self::lock_script(host, &wanted, &self.names_and_parts(host, parts)),
            Disruption::None,
        );
        self.lock_plugin(host).into_iter().chain([lock]).collect()
    }

    /// Takes locks of single versions away.
    fn unlocking(host: &Host<'_>, names: &BTreeSet<String>) -> Change {
        change(
            "~ versions of the NVIDIA driver (no longer locked: the stream holds the branch)".to_owned(),
            Detail::Attributes(vec![Attribute::new("lock", Some("locked"), Some("not locked"))]),
            Self::lock_script(host, "", names),
            Disruption::None,
        )
    }

    fn lock_script(host: &Host<'_>, wanted: &str, names: &BTreeSet<String>) -> Script {
        Script::new(crate::shell!("resources/gpu/nvidia_driver/driver_lock.sh"))
            .named("tool", host.manager.manager.as_str())
            .named("version", wanted)
            .list("name", names.iter().map(String::as_str))
    }
}
