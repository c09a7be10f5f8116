//! Names of the packages of the NVIDIA driver, by distribution, source, flavour and branch. They are those of
//! NVIDIA's and the distributions' repositories; `packages` of the task replaces them.
//!
//! NVIDIA's repositories have three generations (Driver Installation Guide, "Recent Updates" and "Version
//! Locking"). For apt the names hold the branch until 580 and none from 590 on, where a pin chooses it. For
//! dnf a module stream holds it on EL 8 and 9; EL 10 has no streams, so the versions are locked.

use crate::facts::driver::DriverPackage;

crate::choice! {
    /// Kind of kernel modules that the driver has.
    Flavour {
        /// The open ones, for Turing and newer.
        Open = "open",
        /// The proprietary ones.
        Proprietary = "proprietary",
        /// Open from branch 560 on, or if the GPUs need them; else proprietary.
        Auto = "auto",
    }
}

crate::choice! {
    /// Source of the driver.
    DriverSource {
        /// The distribution's own archive: Ubuntu's restricted, Debian's non-free.
        Archive = "archive",
        /// NVIDIA's CUDA repository, which an earlier task sets up.
        Repository = "repository",
        /// NVIDIA's installer, from `url`.
        Runfile = "runfile",
    }
}

crate::choice! {
    /// Way in which the kernel modules are installed.
    Modules {
        /// Built on the host for each kernel.
        Dkms = "dkms",
        /// Built and signed by Ubuntu for its kernels; works with Secure Boot.
        Signed = "signed",
        /// Not at all: only the user-space part, for containers.
        None = "none",
    }
}

/// Properties that the names depend on.
#[derive(Debug, Clone, Copy)]
pub(in crate::resources) struct Naming<'a> {
    /// `ID` of os-release.
    pub(in crate::resources) id: &'a str,
    pub(in crate::resources) apt: bool,
    pub(in crate::resources) source: DriverSource,
    pub(in crate::resources) branch: &'a str,
    pub(in crate::resources) open: bool,
    pub(in crate::resources) modules: Modules,
    /// Kernels that need the module.
    pub(in crate::resources) kernels: &'a [&'a str],
}

/// From this branch on the packages of NVIDIA's repositories for apt have no branch in their names.
const UNBRANCHED_SINCE: u32 = 590;

fn branch_of(version: &str) -> u32 {
    version.split('.').next().and_then(|branch| branch.parse().ok()).unwrap_or(0)
}

impl Naming<'_> {
    fn ubuntu(&self) -> bool {
        self.id == "ubuntu"
    }

    fn unbranched(&self) -> bool {
        self.source == DriverSource::Repository && branch_of(self.branch) >= UNBRANCHED_SINCE
    }

    /// Whether the names leave open which branch apt installs and upgrades to. For Debian those of the parts
    /// always did, and `cuda-drivers-580` takes any newer ones.
    pub(in crate::resources) fn needs_pin(&self) -> bool {
        self.apt && self.source == DriverSource::Repository && (!self.ubuntu() || self.unbranched())
    }

    /// Whether only locked versions keep dnf in the branch.
    pub(in crate::resources) fn needs_lock(&self, version_id: &str) -> bool {
        !self.apt && self.source == DriverSource::Repository && self.stream(version_id).is_none()
    }

    /// Names to install; a text for the user where there are none.
    pub(in crate::resources) fn wanted(&self) -> Result<Vec<String>, String> {
        let branch = self.branch;
        let open = if self.open { "-open" } else { "" };
        let of_branch = if self.unbranched() { String::new() } else { format!("-{branch}") };
        if self.modules == Modules::Signed && !(self.ubuntu() && self.source == DriverSource::Archive) {
            return Err(
                "`modules: signed` needs `source: archive` on Ubuntu: only Ubuntu signs modules".to_owned()
            );
        }
        Ok(match (self.apt, self.source) {
            (_, DriverSource::Runfile) => Vec::new(),
            (true, DriverSource::Archive) if self.ubuntu() => self.ubuntu_archive(),
            (true, DriverSource::Archive) if self.id == "debian" => {
                let mut names = vec!["libcuda1".to_owned(), "nvidia-smi".to_owned()];
                if self.modules == Modules::Dkms {
                    let kernel = if self.open { "nvidia-open-kernel-dkms" } else { "nvidia-kernel-dkms" };
                    names.extend([kernel.to_owned(), "nvidia-persistenced".to_owned()]);
                }
                names
            }
            (_, DriverSource::Archive) => {
                return Err(format!(
                    "{} has no NVIDIA driver of its own: use `source: repository` or `source: runfile`",
                    self.id
                ));
            }
            (true, DriverSource::Repository) if self.modules == Modules::None => {
                vec![format!("libnvidia-compute{of_branch}"), format!("nvidia-utils{of_branch}")]
            }
            (true, DriverSource::Repository) if self.open => vec![format!("nvidia-open{of_branch}")],
            (true, DriverSource::Repository) => vec![format!("cuda-drivers{of_branch}")],
            (false, DriverSource::Repository) if self.modules == Modules::None => {
                return Err(
                    "the names of the user-space packages are not known for dnf: list them in `packages`"
                        .to_owned(),
                );
            }
            (false, DriverSource::Repository) => {
                vec![if open.is_empty() { "cuda-drivers" } else { "nvidia-open" }.to_owned()]
            }
        })
    }

    fn ubuntu_archive(&self) -> Vec<String> {
        let branch = self.branch;
        let open = if self.open { "-open" } else { "" };
        let utils = format!("nvidia-utils-{branch}-server");
        let tools = [utils.clone(), format!("nvidia-compute-utils-{branch}-server")];
        match self.modules {
            Modules::None => vec![format!("libnvidia-compute-{branch}-server"), utils],
            Modules::Dkms => {
                [format!("nvidia-headless-{branch}-server{open}")].into_iter().chain(tools).collect()
            }
            Modules::Signed => {
                let modules =
                    self.kernels.iter().map(|k| format!("linux-modules-nvidia-{branch}-server{open}-{k}"));
                [format!("nvidia-headless-no-dkms-{branch}-server{open}")]
                    .into_iter()
                    .chain(modules)
                    .chain(tools)
                    .collect()
            }
        }
    }

    /// Whether an installed package of the driver belongs to another branch, family or flavour and has to
    /// go before this one comes: never two on one host.
    pub(in crate::resources) fn is_foreign(&self, package: &DriverPackage) -> bool {
        let name = package.name.as_str();
        let words: Vec<&str> = name.split('-').collect();
        let number = words.iter().find(|word| word.len() == 3 && word.bytes().all(|b| b.is_ascii_digit()));
        if self.apt && self.ubuntu() {
            let server = words.contains(&"server");
            let other = match number {
                // From 590 on none of NVIDIA's has one, so it is Ubuntu's.
                Some(number) => {
                    self.unbranched()
                        || *number != self.branch
                        || server != (self.source == DriverSource::Archive)
                }
                // Those without a branch and those with one hold the same files.
                None => !self.unbranched() && branch_of(package.upstream()) >= UNBRANCHED_SINCE,
            };
            if other {
                return true;
            }
        } else if self.apt
            && (words.contains(&"tesla") || words.contains(&"legacy") && name.ends_with("dkms"))
        {
            // Debian has older branches under names of their own.
            return true;
        } else if self.apt
            && self.source == DriverSource::Repository
            && number.is_some_and(|number| self.unbranched() || *number != self.branch)
        {
            return true;
        }
        if !self.apt && self.modules == Modules::Dkms {
            // Each flavour has a metapackage, which the stream of the other one does not.
            match name {
                "nvidia-open" => return !self.open,
                "cuda-drivers" => return self.open,
                _ => {}
            }
        }
        self.modules == Modules::Dkms && self.is_kernel_part(&words) && words.contains(&"open") != self.open
    }

    fn is_kernel_part(&self, words: &[&str]) -> bool {
        if self.apt {
            ["dkms", "headless"].iter().any(|part| words.contains(part))
                || words.starts_with(&["nvidia", "kernel", "source"])
                || words.starts_with(&["nvidia", "open", "kernel"])
        } else {
            words.first() == Some(&"kmod")
        }
    }

    /// The module stream of dnf that holds the branch; EL 10 has none.
    pub(in crate::resources) fn stream(&self, version_id: &str) -> Option<String> {
        let major = version_id.split('.').next().and_then(|major| major.parse::<u32>().ok());
        let streams = !self.apt && major.is_none_or(|major| major < 10);
        let kind = if self.open { "open" } else { "dkms" };
        streams.then(|| format!("nvidia-driver:{}-{kind}", self.branch))
    }

    /// Returns the packages that a build of the module for these kernels needs.
    pub(in crate::resources) fn prerequisites(&self, kernels: &[&str]) -> Vec<String> {
        let (headers, tools): (_, &[&str]) = if self.apt {
            ("linux-headers", &["build-essential", "dkms"])
        } else {
            ("kernel-devel", &["gcc", "make"])
        };
        let headers = kernels.iter().map(|kernel| format!("{headers}-{kernel}"));
        headers.chain(tools.iter().map(|tool| (*tool).to_owned())).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn naming(id: &'static str, source: DriverSource, open: bool, modules: Modules) -> Naming<'static> {
        let apt = matches!(id, "ubuntu" | "debian");
        Naming { id, apt, source, branch: "535", open, modules, kernels: &["5.15.0-91-generic"] }
    }

    fn package(name: &str, version: &str) -> DriverPackage {
        DriverPackage { name: name.to_owned(), version: version.to_owned(), ..DriverPackage::default() }
    }

    #[test]
    fn from_branch_590_on_names_hold_no_branch() {
        let new = Naming { branch: "590", ..naming("ubuntu", DriverSource::Repository, true, Modules::Dkms) };
        assert_eq!(new.wanted().unwrap(), ["nvidia-open"]);
        assert!(new.needs_pin());
        let old = Naming { branch: "580", ..new };
        assert_eq!(old.wanted().unwrap(), ["nvidia-open-580"]);
        assert!(!old.needs_pin());
        assert!(naming("debian", DriverSource::Repository, true, Modules::Dkms).needs_pin());
        // Each takes the other's place.
        assert!(new.is_foreign(&package("nvidia-dkms-580-open", "580.105.08-1")));
        assert!(!new.is_foreign(&package("nvidia-dkms-open", "595.10-1")));
        assert!(old.is_foreign(&package("nvidia-dkms-open", "590.44.01-1")));
        assert!(!old.is_foreign(&package("nvidia-open", "580.105.08-1")));
        let debian = naming("debian", DriverSource::Repository, true, Modules::Dkms);
        for (branch, name, foreign) in [
            ("580", "nvidia-open-570", true),
            ("580", "nvidia-open-580", false),
            ("590", "nvidia-open-580", true),
            ("590", "nvidia-kernel-open-dkms", false),
        ] {
            let debian = Naming { branch, ..debian };
            assert_eq!(debian.is_foreign(&package(name, "570.86.15-1")), foreign, "{branch} {name}");
        }
        // Ubuntu's own packages keep theirs.
        let archive = Naming { source: DriverSource::Archive, ..new };
        assert_eq!(archive.wanted().unwrap()[0], "nvidia-headless-590-server-open");
    }

    #[test]
    fn names_by_distribution() {
        use DriverSource::{Archive, Repository};
        for (id, source, open, modules, want) in [
            (
                "ubuntu",
                Archive,
                false,
                Modules::Dkms,
                "nvidia-headless-535-server nvidia-utils-535-server nvidia-compute-utils-535-server",
            ),
            (
                "ubuntu",
                Archive,
                true,
                Modules::Signed,
                "nvidia-headless-no-dkms-535-server-open linux-modules-nvidia-535-server-open-5.15.0-91-generic nvidia-utils-535-server nvidia-compute-utils-535-server",
            ),
            ("ubuntu", Repository, true, Modules::Dkms, "nvidia-open-535"),
            ("ubuntu", Repository, false, Modules::Dkms, "cuda-drivers-535"),
            (
                "debian",
                Archive,
                false,
                Modules::Dkms,
                "libcuda1 nvidia-smi nvidia-kernel-dkms nvidia-persistenced",
            ),
            ("debian", Archive, true, Modules::None, "libcuda1 nvidia-smi"),
            ("rhel", Repository, true, Modules::Dkms, "nvidia-open"),
        ] {
            assert_eq!(naming(id, source, open, modules).wanted().unwrap().join(" "), want);
        }
        assert!(naming("rocky", Archive, true, Modules::Dkms).wanted().is_err());
        assert!(naming("debian", Archive, true, Modules::Signed).wanted().is_err());
    }

    #[test]
    fn other_branches_families_and_flavours_are_foreign() {
        let ubuntu = naming("ubuntu", DriverSource::Archive, false, Modules::Dkms);
        for (name, foreign) in [
            ("nvidia-utils-535-server", false),
            ("libnvidia-compute-535-server", false),
            ("nvidia-firmware-535-server-535.183.01", false),
            ("nvidia-utils-535", true),
            ("nvidia-utils-550-server", true),
            ("nvidia-dkms-535-server", false),
            ("nvidia-dkms-535-server-open", true),
        ] {
            assert_eq!(ubuntu.is_foreign(&package(name, "535.183.01")), foreign, "{name}");
        }
        let debian = naming("debian", DriverSource::Archive, true, Modules::Dkms);
        for (name, foreign) in [
            ("nvidia-kernel-dkms", true),
            ("nvidia-open-kernel-dkms", false),
            ("nvidia-kernel-support", false),
            ("nvidia-tesla-470-smi", true),
            ("libcuda1", false),
        ] {
            assert_eq!(debian.is_foreign(&package(name, "535.183.01")), foreign, "{name}");
        }
        let rhel = naming("rhel", DriverSource::Repository, true, Modules::Dkms);
        for (name, foreign) in [
            ("kmod-nvidia-latest-dkms", true),
            ("kmod-nvidia-open-dkms", false),
            ("cuda-drivers", true),
            ("nvidia-open", false),
        ] {
            assert_eq!(rhel.is_foreign(&package(name, "535.183.01")), foreign, "{name}");
        }
        assert_eq!(rhel.stream("9.4").as_deref(), Some("nvidia-driver:535-open"));
        assert_eq!(rhel.stream("10.0"), None);
        assert!(rhel.needs_lock("10.0") && !rhel.needs_lock("9.4"));
    }
}
