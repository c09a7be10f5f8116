//! Settings of a lab, as its inventory asks for them.

use camino::Utf8PathBuf;

crate::choice! {
    /// Requirement for the login of a lab host to become root.
    SudoKind {
        /// Nothing.
        Nopasswd = "nopasswd",
        /// Give the lab's password, which lies in the lab's folder.
        Password = "password",
    }
}

crate::choice! {
    /// User that logs in to the hosts of a lab.
    LabUser {
        /// A user with sudo, as on most clouds.
        Provision = "provision",
        /// root, without sudo.
        Root = "root",
    }
}

crate::choice! {
    /// Kind of the hosts of a lab.
    LabKind {
        /// Containers: up in seconds, with this machine's kernel.
        Container = "container",
        /// Virtual machines: a kernel of their own, which loads modules and reboots.
        Vm = "vm",
    }
}

crate::choice! {
    /// Distribution that the hosts of a lab pass for.
    LabFamily {
        /// Debian, which they are.
        Debian = "debian",
        /// Rocky Linux 8, with repositories of stand-ins.
        El8 = "el8",
        /// Rocky Linux 9, with repositories of stand-ins.
        El9 = "el9",
        /// Rocky Linux 10, with repositories of stand-ins.
        El10 = "el10",
        /// Alibaba Cloud Linux 3, with repositories of stand-ins.
        Alinux3 = "alinux3",
        /// Ubuntu 24.04, with a repository of stand-ins.
        Ubuntu2404 = "ubuntu2404",
        /// Ubuntu 26.04, with a repository of stand-ins, and with the `sudo` and the programs of Rust that it has.
        Ubuntu2604 = "ubuntu2604",
    }
}

impl LabFamily {
    /// Whether its hosts pass for Ubuntu.
    pub(crate) fn is_ubuntu(self) -> bool {
        matches!(self, Self::Ubuntu2404 | Self::Ubuntu2604)
    }

    /// Release of Debian that stands in for its own where none is said: the packages that these two releases of Ubuntu
    /// took from Debian have the names of Debian 13 (`libglib2.0-0t64`), and Debian 12 has no programs of Rust.
    fn release(self) -> Option<LabRelease> {
        self.is_ubuntu().then_some(LabRelease::Trixie)
    }
}

crate::choice! {
    /// Release of Debian that hosts are.
    LabRelease {
        /// Debian 12.
        Bookworm = "bookworm",
        /// Debian 13.
        Trixie = "trixie",
        /// The release that comes next, as it is today.
        Sid = "sid",
    }
}

crate::choice! {
    /// The program that is `sudo` on a host.
    SudoProgram {
        /// The one of Todd Miller.
        Sudo = "sudo",
        /// The one of Ubuntu since 25.10.
        SudoRs = "sudo-rs",
    }
}

crate::choice! {
    /// Project whose `ls`, `stat`, `cp` and so on a host has.
    Coreutils {
        /// The programs of GNU.
        Gnu = "coreutils",
        /// The programs of uutils, as Ubuntu has them since 25.10.
        Uutils = "rust-coreutils",
    }
}

crate::record! {
    /// `lab:` of an inventory: it exists only in the lab, with these defaults for its hosts. `lab:` of a host has
    /// what differs there.
    #[derive(PartialEq, Eq, Default)]
    LabSettings ("lab settings") {
        /// `container` (default), or `vm`: virtual machines with kernels of their own.
        opt kind: LabKind,
        /// Whether virtual machines start by UEFI with Secure Boot on.
        opt secure_boot: bool,
        /// Base image of containers, such as `debian:bookworm`. Left out: built from this machine's Debian mirror.
        opt image: String,
        /// Release of Debian that hosts are: `bookworm`, `trixie` or `sid`. Left out: that of this machine.
        opt release: LabRelease,
        /// The distribution that containers pass for: `debian` (default), `el8`, `el9`, `el10`, `alinux3`, `ubuntu2404` or
        /// `ubuntu2604`.
        opt family: LabFamily,
        /// `nopasswd` (default) or `password`.
        opt sudo: SudoKind,
        /// The program that is `sudo`: `sudo` (default) or `sudo-rs`. Debian has the latter since 13.
        opt sudo_program: SudoProgram,
        /// Project of `ls`, `stat`, `cp` and so on: `coreutils` (default) or `rust-coreutils`, which Debian
        /// has since 13.
        opt coreutils: Coreutils,
        /// Login name on all hosts: `provision` (default) or `root`.
        opt user: LabUser,
        /// Login shell, such as `/bin/sh`.
        opt shell: String,
        /// Debian packages that the image has besides its own.
        opt packages: Vec<String>,
        /// Programs that are taken away, such as `bash`.
        opt without: Vec<String>,
        /// Hardware that is played from recorded output, such as `h200-x2`; `provision lab profiles`
        /// lists them.
        opt profile: String,
        /// Whether the lab has a mirror: a container that serves stand-ins for what vendors publish, in
        /// place of the real URLs.
        opt mirror: bool,
        /// Whether the lab has no way out: its network ends at this machine, and Debian's packages are
        /// those of the image and of the mirror.
        opt offline: bool,
        /// Directories that all hosts of the lab see as one file system, such as `/opt`.
        opt shared: Vec<String>,
    }
}

impl LabSettings {
    /// The distribution that a host with these settings passes for, where that is not Debian.
    pub(crate) fn passes_for(&self) -> Option<LabFamily> {
        self.family.filter(|family| *family != LabFamily::Debian)
    }

    /// Whether a host with these settings passes for one of the RHEL family.
    pub(crate) fn is_rhel(&self) -> bool {
        self.passes_for().is_some_and(|family| !family.is_ubuntu())
    }

    /// These settings with what a family has where nothing else is said.
    #[must_use]
    pub(crate) fn of_family(self) -> Self {
        let Some(family) = self.passes_for().filter(|family| family.is_ubuntu()) else { return self };
        let rust = family == LabFamily::Ubuntu2604;
        let usual = Self {
            release: if self.image.is_none() { family.release() } else { None },
            sudo_program: rust.then_some(SudoProgram::SudoRs),
            coreutils: rust.then_some(Coreutils::Uutils),
            ..Self::default()
        };
        self.or(&usual)
    }

    /// The first key here that is said of a whole lab, not of a host.
    pub fn of_all(&self) -> Option<&'static str> {
        let said = [
            (self.kind.is_some(), "kind"),
            (self.secure_boot.is_some(), "secure_boot"),
            (self.user.is_some(), "user"),
            (self.mirror.is_some(), "mirror"),
            (self.offline.is_some(), "offline"),
            (self.shared.is_some(), "shared"),
        ];
        said.into_iter().find_map(|(said, key)| said.then_some(key))
    }

    /// The first key here that only containers know.
    pub(crate) fn of_containers(&self) -> Option<&'static str> {
        let said = [
            (self.passes_for().is_some(), "family"),
            (self.sudo_program.is_some(), "sudo_program"),
            (self.coreutils.is_some(), "coreutils"),
            (self.without.is_some(), "without"),
            (self.mirror == Some(true), "mirror"),
            (self.offline == Some(true), "offline"),
        ];
        said.into_iter().find_map(|(said, key)| said.then_some(key))
    }

    /// The login shell.
    pub(crate) fn login_shell(&self) -> String {
        let bash = !self.without.iter().flatten().any(|program| program == "bash");
        let usual = if bash { "/bin/bash" } else { "/bin/sh" };
        self.shell.clone().unwrap_or_else(|| usual.to_owned())
    }

    /// These settings, and what they leave open from `weaker`.
    #[must_use]
    pub fn or(self, weaker: &Self) -> Self {
        Self {
            kind: self.kind.or(weaker.kind),
            secure_boot: self.secure_boot.or(weaker.secure_boot),
            image: self.image.or_else(|| weaker.image.clone()),
            release: self.release.or(weaker.release),
            family: self.family.or(weaker.family),
            sudo: self.sudo.or(weaker.sudo),
            sudo_program: self.sudo_program.or(weaker.sudo_program),
            coreutils: self.coreutils.or(weaker.coreutils),
            user: self.user.or(weaker.user),
            shell: self.shell.or_else(|| weaker.shell.clone()),
            packages: self.packages.or_else(|| weaker.packages.clone()),
            without: self.without.or_else(|| weaker.without.clone()),
            profile: self.profile.or_else(|| weaker.profile.clone()),
            mirror: self.mirror.or(weaker.mirror),
            offline: self.offline.or(weaker.offline),
            shared: self.shared.or_else(|| weaker.shared.clone()),
        }
    }
}

/// One host of a lab.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LabHost {
    /// Its name in the inventory, which the other hosts resolve.
    pub name: String,
    /// Its groups; they become labels of the container.
    pub groups: Vec<String>,
    /// Settings that differ from [`LabSpec::settings`].
    pub settings: LabSettings,
}

/// A lab as its inventory wants it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LabSpec {
    /// Root of all state, `$XDG_STATE_HOME/provision`.
    pub state_root: Utf8PathBuf,
    /// Root of what can be made again, `$XDG_CACHE_HOME/provision`: disks of virtual machines.
    pub cache_root: Utf8PathBuf,
    /// The inventory. Its canonical path is the lab's identity.
    pub inventory: Utf8PathBuf,
    /// Whether the inventory exists in the lab only: it has a block `lab:`.
    pub only: bool,
    /// Name of the cluster.
    pub cluster: String,
    /// Defaults for all hosts.
    pub settings: LabSettings,
    /// Its hosts.
    pub hosts: Vec<LabHost>,
}

impl LabSpec {
    /// Whether any host passes for one of the RHEL family.
    pub(crate) fn has_rhel(&self) -> bool {
        self.hosts.iter().any(|host| self.settings_of(host).is_rhel())
    }

    /// The first key of the lab or of a host that only containers know.
    pub(crate) fn of_containers(&self) -> Option<&'static str> {
        let mut all = std::iter::once(&self.settings).chain(self.hosts.iter().map(|host| &host.settings));
        all.find_map(LabSettings::of_containers)
    }

    /// A host's settings with the defaults filled in.
    pub(crate) fn settings_of(&self, host: &LabHost) -> LabSettings {
        host.settings.clone().or(&self.settings).of_family()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_is_stronger_than_the_lab() {
        let lab = LabSettings {
            image: Some("debian:bookworm".into()),
            shell: Some("/bin/sh".into()),
            ..LabSettings::default()
        };
        let host = LabSettings { shell: Some("/bin/bash".into()), ..LabSettings::default() };
        let both = host.or(&lab);
        assert_eq!(both.shell.as_deref(), Some("/bin/bash"));
        assert_eq!(both.image.as_deref(), Some("debian:bookworm"));
        assert_eq!(both.sudo, None);
    }

    #[test]
    fn a_family_has_what_its_distribution_has() {
        let of = |family, coreutils| {
            LabSettings { family: Some(family), coreutils, ..LabSettings::default() }.of_family()
        };
        let old = of(LabFamily::Ubuntu2404, None);
        assert_eq!((old.release, old.sudo_program, old.coreutils), (Some(LabRelease::Trixie), None, None));
        let new = of(LabFamily::Ubuntu2604, None);
        assert_eq!((new.sudo_program, new.coreutils), (Some(SudoProgram::SudoRs), Some(Coreutils::Uutils)));
        assert_eq!(of(LabFamily::Ubuntu2604, Some(Coreutils::Gnu)).coreutils, Some(Coreutils::Gnu));
        let el = of(LabFamily::El9, None);
        assert!(el.is_rhel() && !new.is_rhel() && el.release.is_none());
        // What a registry has is what it is.
        let image = LabSettings { image: Some("ubuntu:24.04".to_owned()), ..old };
        assert_eq!(LabSettings { release: None, ..image }.of_family().release, None);
    }
}
