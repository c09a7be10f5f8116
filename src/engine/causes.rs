//! Finds the cause in the output of a failed program: the line that says why it failed is seldom the last
//! one.
//!
//! Sources: outputs of apt 2.6 and 3.0 with gpgv and sqv (<https://github.com/kismetwireless/kismet-packages/issues/18>,
//! 2026-02-02), dpkg 1.22, dkms 3.0 (<https://github.com/LINBIT/drbd/issues/123>, 2025-08-18), kmod 31,
//! slurmd 23.11 and 24.11, munge 0.5, dnf 4, GNU make 4; the fabric manager of branches 550 to 595
//! (<https://github.com/data-infra/cube-studio/issues/29>, 2025-09-18); NVIDIA's repository since branch 580
//! (<https://github.com/NVIDIA/gpu-driver-container/issues/451>, 2025-09-24).

use crate::causes::{self, Counts, Said};

/// Cause of a program's failure.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Cause {
    /// In one line.
    pub(super) message: String,
    /// Remedy, where one is known.
    pub(super) hint: Option<String>,
}

impl Cause {
    fn new(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { message: message.into(), hint: Some(hint.into()) }
    }

    fn bare(message: impl Into<String>) -> Self {
        Self { message: message.into(), hint: None }
    }
}

/// Finds a cause in the lines of an output.
type Finder = fn(&[&str]) -> Option<Cause>;

/// Longest message.
const SHOWN: usize = 300;

/// The cause that an output names, if it names one.
pub(super) fn find(output: &str) -> Option<Cause> {
    let lines: Vec<&str> = output.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let finders: &[Finder] = &[
        dkms,
        locked,
        signature,
        sources,
        version,
        module,
        fabric_manager,
        slurmd,
        munge,
        package,
        first_error,
    ];
    let mut cause = finders.iter().find_map(|find| find(&lines))?;
    cause.message = cause.message.chars().take(SHOWN).collect();
    Some(cause)
}

/// The first line with one of these in it, and its place.
fn first<'a>(lines: &[&'a str], needles: &[&str]) -> Option<(usize, &'a str)> {
    let found = lines.iter().position(|line| needles.iter().any(|needle| line.contains(needle)))?;
    Some((found, *lines.get(found)?))
}

/// Returns the text between two others.
fn between<'a>(text: &'a str, before: &str, after: &str) -> Option<&'a str> {
    let (_, rest) = text.split_once(before)?;
    Some(rest.split_once(after)?.0)
}

/// A module that does not build leaves its package half-configured, and each later transaction ends with it.
fn dkms(lines: &[&str]) -> Option<Cause> {
    if let Some((_, line)) = first(lines, &["Error! Your kernel headers for kernel "]) {
        let kernel = between(line, "for kernel ", " ").unwrap_or("the kernel");
        return Some(Cause::new(
            line,
            format!(
                "DKMS builds a module against the headers of {kernel}: install their package on the host; where the mirror has them no more, install a newer kernel"
            ),
        ));
    }
    let (at, line) = first(lines, &["Error! Bad return status for module build on kernel"])?;
    let kernel = between(line, "on kernel: ", " ").unwrap_or("this kernel");
    let log = lines.iter().skip(at).find_map(|line| {
        line.split_whitespace().find(|word| word.starts_with('/') && word.ends_with("/make.log"))
    });
    let mut path = log.unwrap_or_default().split('/').skip_while(|part| *part != "dkms").skip(1);
    let Some((log, module)) = log.zip(path.next()) else { return Some(Cause::bare(line)) };
    let version = path.next().unwrap_or_default();
    Some(Cause::new(
        format!("the DKMS module {module} {version} does not build for kernel {kernel}: see {log} there"),
        format!(
            "its package stays half-configured, and every transaction ends with it: take a version of {module} that builds for {kernel}, or boot the kernel before and hold its packages; where nobody needs {module}, remove its package"
        ),
    ))
}

/// Another program has the packages.
fn locked(lines: &[&str]) -> Option<Cause> {
    let (_, line) = first(
        lines,
        &[
            "Could not get lock",
            "Waiting for cache lock",
            "lock was locked by ",
            "Unable to acquire the dpkg frontend lock",
            "can't create transaction lock",
            "Failed to obtain the transaction lock",
            "Another app is currently holding the yum lock",
        ],
    )?;
    let holder = between(line, "process ", ")").map(|holder| format!("process {holder})"));
    let holder = holder
        .or_else(|| Some(format!("process {}", line.split_once("with pid ")?.1.split_whitespace().next()?)))
        .unwrap_or_else(|| "another package manager".to_owned());
    Some(Cause::new(
        line,
        format!(
            "{holder} works on the packages of the host: run apply again when it is done; timers of upgrades do that by themselves (`no-upgrades` puts them off)"
        ),
    ))
}

/// Words of gpgv and sqv before a key that does not prove a repository.
const KEY_ERRORS: &[&str] = &["NO_PUBKEY", "Missing key ", "EXPKEYSIG", "KEYEXPIRED", "BADSIG", "REVKEYSIG"];

/// A repository whose signature does not count.
fn signature(lines: &[&str]) -> Option<Cause> {
    let place = || {
        let (_, line) = first(lines, &["InRelease", "Release.gpg", "is not signed"])?;
        line.split(['\'', ' '])
            .find(|word| word.contains("://"))
            .map(|url| url.trim_end_matches(':').to_owned())
    };
    let place = place().unwrap_or_else(|| "a repository".to_owned());
    if let Some((_, line)) = first(lines, &["is not considered secure since"]) {
        let because = line.rsplit_once("because: ").map_or(line, |(_, because)| because);
        let key = lines.iter().find_map(|line| between(line, "Signing key on ", " ")).unwrap_or("its key");
        return Some(Cause::new(
            format!("apt refuses the key of {place}: {because} (key {key})"),
            "neither the network nor the fingerprint is wrong: apt 3 asks sqv, whose policy takes no key that is bound by SHA-1 any more. Take the newer key of the repository, or a mirror that your site signs; /usr/share/apt/default-sequoia.config on the host has the policy",
        ));
    }
    let (_, line) = first(lines, KEY_ERRORS)?;
    let why = KEY_ERRORS
        .iter()
        .find_map(|word| Some(line.get(line.find(word)?..)?.trim_end_matches(')')))
        .unwrap_or(line);
    let hint = if line.contains("EXP") {
        "the key of the repository has expired: take its newer one (`key` of the `repository` task)"
    } else {
        "the key that the task gives does not fit this repository: look at `key` and the fingerprint of the `repository` task"
    };
    Some(Cause::new(format!("apt cannot verify {place}: {why}"), hint))
}

/// A file of sources that apt cannot read.
fn sources(lines: &[&str]) -> Option<Cause> {
    let (_, line) = first(
        lines,
        &[
            "E: Malformed ",
            "Error: Malformed ",
            "Conflicting values set for option",
            "E: Type '",
            "E: Unable to parse",
        ],
    )?;
    let file =
        line.split_whitespace().find(|word| word.contains("/etc/apt/")).unwrap_or("/etc/apt/sources.list.d");
    Some(Cause::new(
        line,
        format!("apt reads no source at all until {file} is mended or removed on the host"),
    ))
}

/// A package that is there under another name only, or not in this version.
fn version(lines: &[&str]) -> Option<Cause> {
    let (at, line) =
        first(lines, &["' was not found", "has no installation candidate", "No match for argument: "])?;
    let name = between(line, "for '", "' was not found")
        .or_else(|| between(line, "Package '", "' has no installation candidate"))
        .or_else(|| between(line, "Package ", " has no installation candidate"))
        .or_else(|| Some(line.split_once("No match for argument: ")?.1.trim()))?;
    // NVIDIA's repository has the fabric manager under its plain name from branch 580 on.
    if name.starts_with("nvidia-fabricmanager-") || name.starts_with("nvidia-fabric-manager") {
        return Some(Cause::new(
            line,
            "NVIDIA's repository has it as nvidia-fabricmanager from branch 580 on: `source: repository` of the task takes that name; `source: archive` is for packages of the distribution, which must then offer the driver's version",
        ));
    }
    let before = lines.get(..at).unwrap_or_default();
    let provided = ["is a virtual package provided by:", "However the following packages replace it:"];
    let listed = before.iter().position(|line| provided.iter().any(|words| line.contains(words)));
    let provider = listed.and_then(|at| before.get(at + 1)?.split_whitespace().next());
    if let Some(provider) = provider {
        return Some(Cause::new(
            line,
            format!(
                "the repositories of this host have {name} only as another name of {provider}: ask for {provider}"
            ),
        ));
    }
    line.contains("Version '").then(|| {
        Cause::new(
            line,
            format!("the repositories of this host do not offer that version, or no longer: `apt-cache madison {name}` there lists those that they offer"),
        )
    })
}

/// The kernel's words about a module that it did not take, or about its devices, by the catalogue.
fn kernel<'a>(lines: &[&'a str], name: &str) -> Option<(&'a str, &'static str)> {
    const CHECKS: &[&str] = &["driver.log", "gpu.xid", "rdma.log", "kernel.network"];
    let said = causes::read(lines.iter().copied());
    let is_nvidia = name.starts_with("nvidia") && !name.contains("peermem");
    let of_it = |one: &&Said<'_>| {
        let text = one.text.replace('-', "_");
        !name.is_empty() && text.contains(name) || is_nvidia && text.starts_with("NVRM: ")
    };
    let mut grave =
        said.iter().filter(|one| CHECKS.contains(&one.cause.check) && one.counts(&said) == Counts::Fail);
    let found = grave.find(of_it)?;
    Some((found.line, found.act(&said)))
}

/// A module that the kernel does not take. modprobe says little, and the kernel's log why.
fn module(lines: &[&str]) -> Option<Cause> {
    let signs =
        ["could not insert '", "modprobe: FATAL: ", "insmod: ERROR: ", "Unable to load the kernel module '"];
    let (_, line) = first(lines, &signs)?;
    let name = between(line, "could not insert '", "'").or_else(|| between(line, "kernel module '", "'"));
    let name = name.unwrap_or_default().trim_end_matches(".ko");
    if let Some((said, act)) = kernel(lines, &name.replace('-', "_")) {
        return Some(Cause::new(format!("{line}; the kernel: {said}"), act));
    }
    let log = lines.iter().rev().find(|line| {
        let plain = line.replace('-', "_");
        !name.is_empty()
            && plain.contains(&name.replace('-', "_"))
            && [
                "Unknown symbol",
                "disagrees about version",
                "version magic",
                "module verification failed",
                "taint",
            ]
            .iter()
            .any(|word| line.contains(word))
            && !line.contains("taint")
    });
    let message = log.map_or_else(|| line.to_owned(), |log| format!("{line}; the kernel: {log}"));
    let text = lines.join("\n");
    let hint = if line.contains("Key was rejected by service") || line.contains("Required key not available")
    {
        "Secure Boot is on and nobody enrolled the key that signed this module: `mokutil --import` with it and a reboot at the console, or modules that the distribution signs (playbook `secure-boot`)".to_owned()
    } else if name.contains("peermem")
        && (line.contains("Invalid argument") || text.contains("Unknown symbol"))
    {
        "the driver was built without the symbols of peer memory: before DOCA-OFED or MLNX_OFED was there, or for another one. Build it again behind that (`dkms install --force`), or leave the module out where DMA-BUF does the same".to_owned()
    } else if text.contains("Unknown symbol") || text.contains("disagrees about version") {
        format!(
            "{name} was built for other modules than those that are loaded: build it again for this kernel, or reboot where newer ones are installed"
        )
    } else if text.contains("version magic") || line.contains("Exec format error") {
        format!(
            "{name} was built for another kernel: install its package for the running one, or reboot into the kernel that it was built for"
        )
    } else if line.contains("No such device") {
        format!(
            "{name} found no device that it drives: `lspci -nnk` on the host shows devices and who drives them"
        )
    } else {
        return log.map(|_| Cause::bare(message));
    };
    Some(Cause::new(message, hint))
}

/// A fabric manager that does not start, by its log.
fn fabric_manager(lines: &[&str]) -> Option<Cause> {
    let said = |line: &str| line.split_once("]: ").map_or(line, |(_, text)| text).to_owned();
    if let Some((_, line)) = first(lines, &["NV_WARN_NOTHING_TO_DO"]) {
        return Some(Cause::new(
            said(line),
            "the host has no NVSwitch that the driver knows, so it needs no fabric manager: `systemctl disable --now nvidia-fabricmanager`, and no task that wants it there (`wanted: auto`). On HGX B200 and B300 it means that nvlsm or the module ib_umad is missing",
        ));
    }
    let (_, line) = first(lines, &[" don't match with driver version "])?;
    Some(Cause::new(
        said(line),
        "the fabric manager takes no driver but the one of its own version: install it in the version of the loaded driver, or reboot where the driver on disk is the newer one",
    ))
}

/// Credentials of munge that another host does not take.
fn munge(lines: &[&str]) -> Option<Cause> {
    if let Some((_, line)) = first(lines, &["Expired credential", "Rewound credential"]) {
        return Some(Cause::new(
            line,
            "the clocks of the two hosts differ by more than five minutes: `provision verify` compares them (`fleet.clock`); the playbook `chrony` keeps them",
        ));
    }
    let (_, line) = first(lines, &["Invalid credential"])?;
    Some(Cause::new(
        line,
        "the two hosts have different keys of munge: /etc/munge/munge.key must be the same on all, and munged restarted behind a change",
    ))
}

/// A slurmd that does not start, by its log.
fn slurmd(lines: &[&str]) -> Option<Cause> {
    let said = |line: &str| {
        let text = line.split_once("slurmd: ").map_or(line, |(_, text)| text);
        text.trim_start_matches("slurmd: ").to_owned()
    };
    if let Some((_, line)) = first(lines, &["Munge encode failed: "]) {
        let text = line.split_once("error: ").map_or(line, |(_, text)| text);
        return Some(Cause::new(
            text,
            "each program of Slurm needs munge on its host: `systemctl status munge` there; the playbook `slurm` starts it",
        ));
    }
    if let Some((_, line)) = first(lines, &["cannot find cgroup plugin for cgroup/v2"]) {
        return Some(Cause::new(
            said(line),
            "this Slurm was built without the plugin cgroup/v2 (its build had no dbus), and the host has no other cgroups: take a build with it, or `cgroups: false` of the playbook `slurm`",
        ));
    }
    if let Some((_, line)) = first(lines, &["can't stat gres.conf file /dev/nvidia"]) {
        return Some(Cause::new(
            said(line),
            "slurmd looked before the driver made its devices, or there is no such GPU: `nvidia-smi` on the host tells; a drop-in with `After=nvidia-persistenced.service` orders slurmd behind it",
        ));
    }
    let (_, line) = first(lines, &["slurmd: fatal: ", "slurmctld: fatal: ", "slurmdbd: fatal: "])?;
    Some(Cause::bare(said(line)))
}

/// A package whose scripts failed.
fn package(lines: &[&str]) -> Option<Cause> {
    let (at, line) = first(lines, &["dpkg: error processing "])?;
    let why =
        lines.get(at + 1).filter(|next| next.contains("subprocess") || next.contains("dependency problems"));
    let name = between(line, "processing package ", " ")
        .or_else(|| between(line, "processing archive ", " "))
        .unwrap_or("a package");
    let mut message = line.to_owned();
    if let Some(why) = why {
        message = format!("{name}: {why}");
    }
    // Its own words stand before what dpkg says of it.
    let own = lines
        .get(..at)
        .unwrap_or_default()
        .iter()
        .rev()
        .take(15)
        .take_while(|line| !line.starts_with("Setting up "));
    let own = own.filter(|line| is_error(line)).last();
    if let Some(own) = own {
        message = format!("{message}: {own}");
    }
    Some(Cause::bare(message))
}

/// Whether a line is an error by the word that it begins with.
fn is_error(line: &str) -> bool {
    let lower = line.to_ascii_lowercase();
    ["error:", "error!", "e: ", "fatal:", "fatal error:"].iter().any(|word| lower.starts_with(word))
        || [": error: ", ": fatal error: "].iter().any(|word| lower.contains(word))
}

/// Returns the first error, where the last line only counts up what went wrong before it.
fn first_error(lines: &[&str]) -> Option<Cause> {
    let last = lines.last()?;
    let sums_up = [
        "Sub-process /usr/bin/dpkg returned an error code",
        "*** [",
        "ninja: build stopped",
        "Some index files failed to download",
        "The list of sources could not be read",
        "is not signed.",
        "Errors were encountered while processing",
        "metadata-generation-failed",
        "Failed to start ",
    ];
    if !sums_up.iter().any(|word| last.contains(word)) {
        return None;
    }
    let before = lines.get(..lines.len() - 1)?;
    let error =
        before.iter().find(|line| is_error(line) && !sums_up.iter().any(|word| line.contains(word)))?;
    Some(Cause::bare((*error).to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cause(output: &str) -> (String, String) {
        let cause = find(output).unwrap_or_else(|| panic!("no cause in {output}"));
        (cause.message, cause.hint.unwrap_or_default())
    }

    #[test]
    fn a_module_that_does_not_build_is_named_with_its_log() {
        let (message, hint) = cause(
            "Setting up drbd-dkms (9.2.14-1) ...\nBuilding for 6.14.0-28-generic\n\
             Error! Bad return status for module build on kernel: 6.14.0-28-generic (x86_64)\n\
             Consult /var/lib/dkms/drbd/9.2.14-1/build/make.log for more information.\n\
             dpkg: error processing package drbd-dkms (--configure):\n \
             installed drbd-dkms package post-installation script subprocess returned error exit status 10\n\
             Errors were encountered while processing:\n drbd-dkms\n\
             E: Sub-process /usr/bin/dpkg returned an error code (1)\n",
        );
        assert_eq!(
            message,
            "the DKMS module drbd 9.2.14-1 does not build for kernel 6.14.0-28-generic: see /var/lib/dkms/drbd/9.2.14-1/build/make.log there"
        );
        assert!(hint.contains("half-configured"), "{hint}");
        // dkms 3 on the RHEL family keeps logs by kernel.
        let (message, _) = cause(
            "Error! Bad return status for module build on kernel: 5.14.0-1.el9.x86_64 (x86_64)\n\
             Consult /var/lib/dkms/nvidia/580.65.06/5.14.0-1.el9.x86_64/x86_64/log/make.log for more information.\n",
        );
        assert!(
            message.starts_with("the DKMS module nvidia 580.65.06 does not build for kernel 5.14.0-1.el9"),
            "{message}"
        );
        let (message, hint) = cause(
            "Error! Your kernel headers for kernel 6.1.0-37-amd64 cannot be found at /lib/modules/6.1.0-37-amd64/build or /lib/modules/6.1.0-37-amd64/source.\nPlease install the linux-headers-6.1.0-37-amd64 package\nE: Sub-process /usr/bin/dpkg returned an error code (1)\n",
        );
        assert!(
            message.contains("6.1.0-37-amd64 cannot be found") && hint.contains("headers of 6.1.0-37-amd64"),
            "{message} {hint}"
        );
    }

    /// Lines of Slurm 26.05 without munged.
    #[test]
    fn slurm_without_munge_says_so() {
        let (message, hint) = cause(
            "scontrol: error: If munged is up, restart with --num-threads=10\n\
             scontrol: error: Munge encode failed: Failed to access \"/run/munge/munge.socket.2\": No such file or directory (Did you start munged?)\n\
             slurm_load_ctl_conf error: Protocol authentication error\n",
        );
        assert!(message.starts_with("Munge encode failed: Failed to access"), "{message}");
        assert!(hint.contains("systemctl status munge"), "{hint}");
    }

    #[test]
    fn a_package_of_another_name_or_version_is_told() {
        let (message, hint) = cause(
            "Package nvidia-fabricmanager-590 is a virtual package provided by:\n nvidia-fabricmanager 590.48.01-1\n\nE: Version '590.48.01-*' for 'nvidia-fabricmanager-590' was not found\n",
        );
        assert_eq!(message, "E: Version '590.48.01-*' for 'nvidia-fabricmanager-590' was not found");
        assert!(hint.contains("`source: repository`"), "{hint}");
        let (_, hint) = cause(
            "Error: Unable to find a match: nvidia-fabric-manager-590.48.01\nNo match for argument: nvidia-fabric-manager-590.48.01\n",
        );
        assert!(hint.contains("`source: repository`"), "{hint}");
        let (_, hint) = cause(
            "Package libibverbs-utils is not available, but is referred to by another package.\nHowever the following packages replace it:\n  ibverbs-utils\n\nE: Package 'libibverbs-utils' has no installation candidate\n",
        );
        assert!(hint.contains("ask for ibverbs-utils"), "{hint}");
        let (_, hint) = cause("E: Version '2.27.7-1+cuda12.9' for 'libnccl2' was not found\n");
        assert!(hint.contains("`apt-cache madison libnccl2`"), "{hint}");
        // Of what is in no repository, the usual words are enough.
        assert_eq!(find("No match for argument: htop\n"), None);
    }

    /// The kernel's own words are behind the last line of modprobe.
    #[test]
    fn a_module_is_refused_for_what_the_kernel_says() {
        for (output, says, does) in [
            (
                "modprobe: ERROR: could not insert 'nvidia': No such device\n[  88.1] NVRM: GPU 0000:17:00.0 is already bound to NovaCore.\n[  88.2] NVRM: No NVIDIA devices probed.\n",
                "already bound to NovaCore",
                "blacklist nova_core",
            ),
            (
                "ERROR: Unable to load the kernel module 'nvidia.ko'.\n-> Kernel module load error: No such device\n[  88.1] NVRM: GPU 0000:17:00.0 is already bound to nouveau.\n",
                "already bound to nouveau",
                "which driver holds the GPU",
            ),
            (
                "modprobe: ERROR: could not insert 'nvidia': No such device\n[  88.1] NVRM: The NVIDIA GPU 0000:17:00.0 (PCI ID: 10de:2bb5)\nNVRM: installed in this system requires use of the NVIDIA open kernel modules.\n[  88.2] NVRM: GPU 0000:17:00.0: RmInitAdapter failed! (0x22:0x56:884)\n",
                "NVIDIA open kernel modules",
                "`flavour: open`",
            ),
            (
                "modprobe: ERROR: could not insert 'mlx5_ib': Invalid argument\n[  11.0] mlx5_ib: disagrees about version of symbol ib_umem_release\n",
                "disagrees about version",
                "build it again",
            ),
        ] {
            let (message, hint) = cause(output);
            assert!(message.contains(says), "{message}");
            assert!(hint.contains(does), "{hint}");
        }
        // What it says of others is no reason.
        let other = "modprobe: ERROR: could not insert 'nvidia': No such device\n[  3.1] mlx5_core: probe of 0000:82:00.1 failed with error -17\n";
        let (message, hint) = cause(other);
        assert!(
            !message.contains("mlx5_core") && hint.contains("no device that it drives"),
            "{message} {hint}"
        );
    }

    #[test]
    fn a_fabric_manager_that_does_not_start_says_why() {
        let (message, hint) = cause(
            "Nov 20 10:00:01 gpu0 nvidia-fabricmanager-start.sh[812]: request to query NVSwitch device information from NVSwitch driver failed with error:WARNING Nothing to do [NV_WARN_NOTHING_TO_DO]\nNov 20 10:00:01 gpu0 systemd[1]: Failed to start nvidia-fabricmanager.service.\n",
        );
        assert!(message.starts_with("request to query NVSwitch device information"), "{message}");
        assert!(hint.contains("disable --now nvidia-fabricmanager") && hint.contains("ib_umad"), "{hint}");
        let (message, hint) = cause(
            "Nov 20 10:00:01 gpu0 nv-fabricmanager[812]: fabric manager NVIDIA GPU driver interface version 580.95.05 don't match with driver version 580.82.07. Please update with matching NVIDIA driver package.\n",
        );
        assert!(
            message.starts_with("fabric manager NVIDIA GPU driver interface version 580.95.05"),
            "{message}"
        );
        assert!(hint.contains("version of the loaded driver"), "{hint}");
    }

    #[test]
    fn munge_names_clocks_and_keys() {
        let (message, hint) = cause(
            "[2026-11-20T10:00:01.278] error: Munge decode failed: Expired credential\n[2026-11-20T10:00:01.279] auth/munge: _print_cred: ENCODED: Fri Nov 20 04:00:01 2026\n",
        );
        assert!(
            message.ends_with("Expired credential") && hint.contains("`fleet.clock`"),
            "{message} {hint}"
        );
        let (_, hint) = cause("error: Munge decode failed: Invalid credential\n");
        assert!(hint.contains("munge.key"), "{hint}");
    }

    #[test]
    fn who_holds_the_packages_is_named() {
        for (line, holder) in [
            (
                "E: Could not get lock /var/lib/dpkg/lock-frontend. It is held by process 4711 (unattended-upgr)",
                "process 4711 (unattended-upgr)",
            ),
            ("dpkg: error: dpkg frontend lock was locked by another process with pid 4711", "process 4711"),
            ("dpkg: error: dpkg frontend lock was locked by <unknown> process with pid 39", "process 39 "),
            (
                "error: can't create transaction lock on /var/lib/rpm/.rpm.lock (Resource temporarily unavailable)",
                "another package manager",
            ),
        ] {
            let (message, hint) = cause(&format!(
                "Reading package lists...\n{line}\nE: Unable to acquire the dpkg frontend lock (/var/lib/dpkg/lock-frontend), is another process using it?\n"
            ));
            assert_eq!(message, line);
            assert!(hint.starts_with(holder), "{hint}");
        }
    }

    #[test]
    fn a_key_that_apt_3_refuses_is_told_from_a_wrong_one() {
        let (message, hint) = cause(
            "Err:1 https://mirror.example/debian12 InRelease\n  Sub-process /usr/bin/sqv returned an error code (1), error message is: \
             Signing key on AB12 is not bound:            No binding signature at time 2025-10-21T23:11:23Z   because: Policy rejected \
             non-revocation signature (PositiveCertification) requiring second pre-image resistance   because: SHA1 is not considered \
             secure since 2026-02-01T00:00:00Z\nE: The repository 'https://mirror.example/debian12 InRelease' is not signed.\n",
        );
        assert_eq!(
            message,
            "apt refuses the key of https://mirror.example/debian12: SHA1 is not considered secure since 2026-02-01T00:00:00Z (key AB12)"
        );
        assert!(hint.contains("sqv"), "{hint}");
        for (said, why) in [
            (
                "W: GPG error: https://m.example stable InRelease: The following signatures couldn't be verified because the public key is not available: NO_PUBKEY 871920D1991BC93C",
                "NO_PUBKEY 871920D1991BC93C",
            ),
            (
                "W: OpenPGP signature verification failed: https://m.example stable InRelease: Sub-process /usr/bin/sqv returned an error code (1), error message is: Missing key 3BF8, which is needed to verify signature.",
                "Missing key 3BF8, which is needed to verify signature.",
            ),
            (
                "W: GPG error: https://m.example stable InRelease: The following signatures were invalid: EXPKEYSIG 42D5A192B819C5DA Vendor",
                "EXPKEYSIG 42D5A192B819C5DA Vendor",
            ),
        ] {
            let (message, _) = cause(&format!(
                "{said}\nE: The repository 'https://m.example stable InRelease' is not signed.\n"
            ));
            assert_eq!(message, format!("apt cannot verify https://m.example: {why}"));
        }
    }

    #[test]
    fn a_module_that_is_not_taken_says_why() {
        let (message, hint) = cause("modprobe: ERROR: could not insert 'nvidia_peermem': Invalid argument\n");
        assert_eq!(message, "modprobe: ERROR: could not insert 'nvidia_peermem': Invalid argument");
        assert!(hint.contains("peer memory"), "{hint}");
        let (message, hint) = cause(
            "modprobe: ERROR: could not insert 'nvidia_peermem': Unknown symbol in module, or unknown parameter (see dmesg)\n\
             [  12.0] nvidia_peermem: Unknown symbol ib_register_peer_memory_client (err -2)\n[ 13.0] eth0: link up\n",
        );
        assert!(
            message.contains("the kernel: [  12.0] nvidia_peermem: Unknown symbol ib_register_peer"),
            "{message}"
        );
        assert!(hint.contains("DMA-BUF"), "{hint}");
        let (_, hint) = cause(
            "modprobe: ERROR: could not insert 'mlx5_core': Key was rejected by service\n[ 1.0] eth0: up\n",
        );
        assert!(hint.contains("mokutil"), "{hint}");
        let (_, hint) = cause("modprobe: ERROR: could not insert 'nvidia': No such device\n");
        assert!(hint.contains("lspci"), "{hint}");
    }

    #[test]
    fn a_slurmd_that_does_not_start_says_why() {
        let (message, hint) = cause(
            "slurmd.service - Slurm node daemon\n   Active: failed (Result: exit-code)\n\
             [2025-04-21T10:57:14.247] error: cannot find cgroup plugin for cgroup/v2\n\
             [2025-04-21T10:57:14.247] error: slurmd initialization failed\nslurmd.service ended right after its start (exit-code, status 1)\n",
        );
        assert!(message.ends_with("cannot find cgroup plugin for cgroup/v2"), "{message}");
        assert!(hint.contains("`cgroups: false`"), "{hint}");
        let (message, hint) = cause(
            "Feb 02 09:52:07 w1 slurmd[129]: slurmd: fatal: can't stat gres.conf file /dev/nvidia0: No such file or directory\n\
             Feb 02 09:52:07 w1 systemd[1]: Failed to start Slurm node daemon.\n",
        );
        assert_eq!(message, "fatal: can't stat gres.conf file /dev/nvidia0: No such file or directory");
        assert!(hint.contains("nvidia-persistenced"), "{hint}");
        let (message, _) =
            cause("w1 slurmctld[9]: slurmctld: fatal: Can not recover last_tres state\nFailed to start x\n");
        assert!(message.ends_with("fatal: Can not recover last_tres state"), "{message}");
    }

    #[test]
    fn the_first_error_counts_where_the_last_line_sums_up() {
        for (output, expected) in [
            (
                "Setting up x (1) ...\nerror: no space for the index\ndpkg: error processing package x (--configure):\n installed x package post-installation script subprocess returned error exit status 1\nErrors were encountered while processing:\n x\nE: Sub-process /usr/bin/dpkg returned an error code (1)\n",
                "x: installed x package post-installation script subprocess returned error exit status 1: error: no space for the index",
            ),
            (
                "cc -c a.c\na.c:3:10: fatal error: verbs.h: No such file or directory\ncompilation terminated.\nmake[1]: *** [Makefile:3: a.o] Error 1\nmake: *** [Makefile:9: all] Error 2\n",
                "a.c:3:10: fatal error: verbs.h: No such file or directory",
            ),
            (
                "E: Malformed entry 1 in list file /etc/apt/sources.list.d/x.list (Component)\nE: The list of sources could not be read.\n",
                "E: Malformed entry 1 in list file /etc/apt/sources.list.d/x.list (Component)",
            ),
        ] {
            assert_eq!(cause(output).0, expected);
        }
        assert_eq!(find("one\nall is well\n"), None);
        assert_eq!(find("error: passed over\nno such host\n"), None);
        assert_eq!(find(""), None);
    }
}
