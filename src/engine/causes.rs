//! The cause in the output of a failed program: the line that says why it failed is seldom the last one. The catalogue
//! (`causes`) knows the words; what it does not know is the first error of its kind.

use crate::causes::{Counts, Finding, Output, Reading, Role};

/// Cause of a program's failure.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Cause {
    /// In one line.
    pub(super) message: String,
    /// Remedy, where one is known.
    pub(super) hint: Option<String>,
    /// Whether it goes by itself in a moment.
    pub(super) passing: bool,
}

/// Longest message.
const SHOWN: usize = 300;

/// The cause that an output names, if it names one.
pub(super) fn find(output: &str) -> Option<Cause> {
    let lines: Vec<&str> = output.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let error = first_error(&lines);
    let Some((said, hint, passing)) = known(output) else {
        return error.map(|line| Cause { message: shown(line), hint: None, passing: false });
    };
    // An effect or a summary is a worse message than an error that nobody knows.
    let message = match said {
        Said::Cause(line) => line,
        Said::Effect(line) => error.map_or(line, str::to_owned),
        Said::Summary => error.or(lines.last().copied()).unwrap_or("").to_owned(),
    };
    Some(Cause { message: shown(&message), hint, passing })
}

/// The line that an output is known by, by its role.
enum Said {
    Cause(String),
    Effect(String),
    Summary,
}

/// Returns what the catalogue knows of an output: its line, the remedy, whether it passes.
fn known(output: &str) -> Option<(Said, Option<String>, bool)> {
    let reading = Reading::of(output);
    let ranked = reading.ranked();
    let grave: Vec<&Finding> = ranked.iter().filter(|one| one.counts > Counts::Note).collect();
    let is_tool = |one: &Finding| one.cause.output == Output::Tool && one.cause.role != Role::Summary;
    let tools: Vec<&Finding> = grave.iter().copied().filter(|one| is_tool(one)).collect();
    // The kernel's log behind a failed program tells of others as well.
    let belongs = |one: &&Finding| {
        one.cause.output == Output::Tool
            || tools.is_empty()
            || tools.iter().any(|tool| tool.cause.follows.contains(&one.cause.id))
    };
    let first = grave.iter().copied().find(belongs)?;
    let passing = grave.iter().any(|one| one.cause.passing);
    let line = own_words(&first.line);
    let of_kernel = tools.first().filter(|_| first.cause.output == Output::Kernel);
    let said = match (first.role, of_kernel) {
        (Role::Cause, Some(tool)) => Said::Cause(format!("{}; the kernel: {line}", own_words(&tool.line))),
        (Role::Cause, None) => Said::Cause(line.to_owned()),
        (Role::Effect, _) => Said::Effect(line.to_owned()),
        (Role::Summary, _) => Said::Summary,
    };
    let act = reading.act(first);
    let says = first.says();
    let hint = if act.is_empty() { says } else { format!("{says}: {act}") };
    Some((said, (first.role != Role::Summary).then_some(hint), passing))
}

/// A line of the journal without its time, its host and its program.
fn own_words(line: &str) -> &str {
    let text =
        line.split_once("]: ").filter(|(before, _)| before.contains('[')).map_or(line, |(_, text)| text);
    ["slurmd: ", "slurmctld: ", "slurmdbd: "]
        .iter()
        .fold(text, |text, name| text.strip_prefix(name).unwrap_or(text))
}

fn shown(message: &str) -> String {
    message.chars().take(SHOWN).collect()
}

/// Whether a line is an error by the word that it begins with.
fn is_error(line: &str) -> bool {
    let lower = line.to_ascii_lowercase();
    ["error:", "error!", "e: ", "fatal:", "fatal error:"].iter().any(|word| lower.starts_with(word))
        || [": error: ", ": fatal error: "].iter().any(|word| lower.contains(word))
}

/// Returns the first error, where the last line only counts up what went wrong before it.
fn first_error<'a>(lines: &[&'a str]) -> Option<&'a str> {
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
    before.iter().copied().find(|line| is_error(line) && !sums_up.iter().any(|word| line.contains(word)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Message and hint of an output, both with both.
    fn cause(output: &str) -> (String, String) {
        let cause = find(output).unwrap_or_else(|| panic!("no cause in {output}"));
        let all = format!("{} | {}", cause.message, cause.hint.unwrap_or_default());
        (all.clone(), all)
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
        assert!(message.contains("the DKMS module drbd 9.2.14-1 does not build for kernel 6.14.0-28-generic: see /var/lib/dkms/drbd/9.2.14-1/build/make.log there"), "{message}");
        assert!(hint.contains("remove its package"), "{hint}");
        // dkms 3 on the RHEL family keeps logs by kernel.
        let (message, _) = cause(
            "Error! Bad return status for module build on kernel: 5.14.0-1.el9.x86_64 (x86_64)\n\
             Consult /var/lib/dkms/nvidia/580.65.06/5.14.0-1.el9.x86_64/x86_64/log/make.log for more information.\n",
        );
        assert!(
            message.contains("the DKMS module nvidia 580.65.06 does not build for kernel 5.14.0-1.el9"),
            "{message}"
        );
        let (message, hint) = cause(
            "Error! Your kernel headers for kernel 6.1.0-37-amd64 cannot be found at /lib/modules/6.1.0-37-amd64/build or /lib/modules/6.1.0-37-amd64/source.\nPlease install the linux-headers-6.1.0-37-amd64 package\nE: Sub-process /usr/bin/dpkg returned an error code (1)\n",
        );
        assert!(
            message.contains("6.1.0-37-amd64 cannot be found")
                && hint.contains("6.1.0-37-amd64: install the headers"),
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
        assert!(message.contains("Munge encode failed: Failed to access"), "{message}");
        assert!(hint.contains("systemctl status munge"), "{hint}");
    }

    #[test]
    fn a_package_of_another_name_or_version_is_told() {
        let (message, hint) = cause(
            "Package nvidia-fabricmanager-590 is a virtual package provided by:\n nvidia-fabricmanager 590.48.01-1\n\nE: Version '590.48.01-*' for 'nvidia-fabricmanager-590' was not found\n",
        );
        assert!(message.contains("nvidia-fabricmanager-590"), "{message}");
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
        assert!(!message.contains("mlx5_core") && hint.contains("no GPU that it drives"), "{message} {hint}");
    }

    #[test]
    fn a_fabric_manager_that_does_not_start_says_why() {
        let (message, hint) = cause(
            "Nov 20 10:00:01 gpu0 nvidia-fabricmanager-start.sh[812]: request to query NVSwitch device information from NVSwitch driver failed with error:WARNING Nothing to do [NV_WARN_NOTHING_TO_DO]\nNov 20 10:00:01 gpu0 systemd[1]: Failed to start nvidia-fabricmanager.service.\n",
        );
        assert!(message.contains("request to query NVSwitch device information"), "{message}");
        assert!(hint.contains("disable --now nvidia-fabricmanager") && hint.contains("ib_umad"), "{hint}");
        let (message, hint) = cause(
            "Nov 20 10:00:01 gpu0 nv-fabricmanager[812]: fabric manager NVIDIA GPU driver interface version 580.95.05 don't match with driver version 580.82.07. Please update with matching NVIDIA driver package.\n",
        );
        assert!(
            message.contains("fabric manager NVIDIA GPU driver interface version 580.95.05"),
            "{message}"
        );
        assert!(hint.contains("install the fabric manager in version 580.82.07"), "{hint}");
    }

    #[test]
    fn munge_names_clocks_and_keys() {
        let (message, hint) = cause(
            "[2026-11-20T10:00:01.278] error: Munge decode failed: Expired credential\n[2026-11-20T10:00:01.279] auth/munge: _print_cred: ENCODED: Fri Nov 20 04:00:01 2026\n",
        );
        assert!(message.contains("Expired credential") && hint.contains("`fleet.clock`"), "{message} {hint}");
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
            ("dpkg: error: dpkg frontend lock was locked by <unknown> process with pid 39", "process 39"),
            (
                "error: can't create transaction lock on /var/lib/rpm/.rpm.lock (Resource temporarily unavailable)",
                "another program",
            ),
        ] {
            let (message, hint) = cause(&format!(
                "Reading package lists...\n{line}\nE: Unable to acquire the dpkg frontend lock (/var/lib/dpkg/lock-frontend), is another process using it?\n"
            ));
            assert!(message.contains(line), "{message}");
            assert!(hint.contains(holder), "{hint}");
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
        assert!(message.contains("apt refuses a key that is bound by SHA-1"), "{message}");
        assert!(hint.contains("sqv") && hint.contains("take the newer key of the repository"), "{hint}");
        // NVIDIA/cuda-repo-management#39 (2026-02-02): the directory of Debian 12 on Debian 13.
        let (message, hint) = cause(
            "Err:4 https://developer.download.nvidia.com/compute/cuda/repos/debian12/x86_64  InRelease\n  Sub-process /usr/bin/sqv returned an error code (1), error message is: \
             Signing key on EB693B3035CD5710E231E123A4B469963BF863CC is not bound:            No binding signature at time 2026-01-29T20:38:48Z   because: Policy rejected \
             non-revocation signature (PositiveCertification) requiring second pre-image resistance   because: SHA1 is not considered secure since 2026-02-01T00:00:00Z\n",
        );
        assert!(message.contains("EB693B3035CD5710E231E123A4B469963BF863CC"), "{message}");
        assert!(hint.contains("directory of the host's own release"), "{hint}");
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
            assert!(
                message.contains(why.split(' ').next_back().unwrap_or(why))
                    || message.contains("https://m.example"),
                "{message}"
            );
        }
    }

    #[test]
    fn a_module_that_is_not_taken_says_why() {
        let (message, hint) = cause("modprobe: ERROR: could not insert 'nvidia_peermem': Invalid argument\n");
        assert!(
            message.contains("modprobe: ERROR: could not insert 'nvidia_peermem': Invalid argument"),
            "{message}"
        );
        assert!(hint.contains("peermem"), "{hint}");
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
        assert!(message.contains("cannot find cgroup plugin for cgroup/v2"), "{message}");
        assert!(hint.contains("`cgroups: false`"), "{hint}");
        let (message, hint) = cause(
            "Feb 02 09:52:07 w1 slurmd[129]: slurmd: fatal: can't stat gres.conf file /dev/nvidia0: No such file or directory\n\
             Feb 02 09:52:07 w1 systemd[1]: Failed to start Slurm node daemon.\n",
        );
        assert!(
            message.contains("fatal: can't stat gres.conf file /dev/nvidia0: No such file or directory"),
            "{message}"
        );
        assert!(hint.contains("nvidia-persistenced"), "{hint}");
        let (message, _) =
            cause("w1 slurmctld[9]: slurmctld: fatal: Can not recover last_tres state\nFailed to start x\n");
        assert!(message.contains("fatal: Can not recover last_tres state"), "{message}");
    }

    #[test]
    fn the_first_error_counts_where_the_last_line_sums_up() {
        for (output, expected) in [
            (
                "Setting up x (1) ...\nerror: no space for the index\ndpkg: error processing package x (--configure):\n installed x package post-installation script subprocess returned error exit status 1\nErrors were encountered while processing:\n x\nE: Sub-process /usr/bin/dpkg returned an error code (1)\n",
                "error: no space for the index",
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
            assert!(cause(output).0.contains(expected), "{}", cause(output).0);
        }
        assert_eq!(find("one\nall is well\n"), None);
        assert_eq!(find("error: passed over\nno such host\n"), None);
        assert_eq!(find(""), None);
    }

    /// `why`, `explain` and the checks say the same: `tests/it/why.rs`.
    #[test]
    fn a_hint_has_the_words_of_the_catalogue() {
        let of_tools =
            crate::causes::TABLE.iter().filter(|row| row.output == Output::Tool && row.counts > Counts::Note);
        for row in of_tools.filter(|row| row.role == Role::Cause && row.follows.is_empty()).step_by(20) {
            let Some(sample) = row.samples.first() else { continue };
            let reading = Reading::of(sample);
            let ranked = reading.ranked();
            let Some(first) = ranked.first().filter(|first| first.cause.id == row.id) else { continue };
            let hint = find(sample).and_then(|cause| cause.hint).unwrap_or_default();
            assert_eq!(hint, format!("{}: {}", first.says(), reading.act(first)), "{sample}");
        }
    }
}
