//! The driver in its layers: module, packages, kernels.

use std::collections::BTreeSet;

use super::shared::log::judge;
use super::shared::values::{fits, majority};
use super::shared::verdict::{Checked, Findings, Verdict};
use super::{Check, Needs, Subject};
use crate::events::CheckStatus::{Fail, Warn};
use crate::facts::GapKind;
use crate::facts::base::boot::Boot;
use crate::facts::base::kernel;
use crate::facts::base::pci::Pci;
use crate::facts::driver::{Driver, DriverPackage, Kernel, upstream};
use crate::facts::driver_upkeep::{Transaction, Upkeep};

const SYSFS: &str = "/sys/module/nvidia/version";
const PROC: &str = "/proc/driver/nvidia/version";
const MODINFO: &str = "modinfo nvidia";
const SMI: &str = "nvidia-smi -q -x";

pub(in crate::checks) const CHECKS: &[Check] = &[
    Check {
        id: "driver.coherence",
        title: "module, libraries and packages of the driver have one version",
        needs: Needs::Idle,
        severity: Fail,
        expects: "the loaded module, the module on disk, the packages and the libraries have the same version; where they have not, the log of apt says who changed them",
        why: "An upgrade replaces libraries and files under a loaded module: every new CUDA program fails with \"Driver/library version mismatch\".",
        hint: "reboot, or stop all programs that use the GPUs and reload the modules; then stop unattended upgrades (driver.upgrades)",
        source: "NVIDIA Driver Installation Guide; modinfo(8); Linux kernel: Documentation/ABI/stable/sysfs-module",
        run: coherence,
    },
    Check {
        id: "driver.version",
        title: "the driver has the declared version",
        needs: Needs::Idle,
        severity: Fail,
        expects: "`expect.driver.version`, a full version or a branch; skipped when it is not declared",
        why: "Jobs, containers and fabric managers are built and tested for one branch.",
        hint: "apply the playbook that installs the driver, then reboot",
        source: "Linux kernel: Documentation/ABI/stable/sysfs-module",
        run: version,
    },
    Check {
        id: "driver.flavour",
        title: "the kernel module is the declared one, open or proprietary",
        needs: Needs::Idle,
        severity: Fail,
        expects: "`expect.driver.open`; skipped when it is not declared",
        why: "DMA-BUF and Blackwell need the open module; GPUs before Turing need the proprietary one.",
        hint: "install the packages of the other module, rebuild it and reboot",
        source: "NVIDIA Driver Installation Guide",
        run: flavour,
    },
    Check {
        id: "driver.cuda",
        title: "the driver supports the CUDA version in use",
        needs: Needs::Idle,
        severity: Fail,
        expects: "the driver supports the major version of the toolkit in /usr/local/cuda, and `expect.driver.cuda`",
        why: "Programs built with a newer CUDA than the driver supports fail when they start.",
        hint: "install a newer driver or an older toolkit; `nvidia-smi -q` shows the highest CUDA that the driver supports",
        source: "CUDA Compatibility (NVIDIA); nvidia-smi(1)",
        run: cuda,
    },
    Check {
        id: "driver.packages",
        title: "all packages of the driver have one version",
        needs: Needs::Idle,
        severity: Warn,
        expects: "libnvidia-*, nvidia-utils-*, nvidia-dkms-* and related packages have one version",
        why: "Packages of two families or branches replace each other's files; the next upgrade breaks the driver.",
        hint: "`dpkg -l '*nvidia*'` lists them: purge those of another branch, then hold the rest",
        source: "NVIDIA Driver Installation Guide; dpkg-query(1); rpm(8)",
        run: packages,
    },
    Check {
        id: "driver.headers",
        title: "where DKMS builds the driver, the headers of the kernels are installed",
        needs: Needs::Idle,
        severity: Warn,
        expects: "headers of the running kernel and of the one that boots next",
        why: "Without them DKMS builds nothing for a new kernel, and the host comes back without GPUs.",
        hint: "install linux-headers-$(uname -r), or kernel-devel-$(uname -r)",
        source: "dkms(8); NVIDIA Driver Installation Guide",
        run: headers,
    },
    Check {
        id: "driver.dkms",
        title: "DKMS built its modules for the kernel that boots next",
        needs: Needs::Idle,
        severity: Fail,
        expects: "`dkms status` says `installed` for the next kernel, for each module that is installed for any kernel",
        why: "After the next reboot the GPUs or the cards of the fabric have no driver.",
        hint: "`dkms autoinstall -k KERNEL`; the log of a failure is /var/lib/dkms/NAME/VERSION/build/make.log",
        source: "dkms(8)",
        run: dkms,
    },
    Check {
        id: "driver.next_kernel",
        title: "the kernel that boots next has an nvidia module",
        needs: Needs::Idle,
        severity: Fail,
        expects: "nvidia.ko below /lib/modules of the next kernel",
        why: "Without it the host comes back from its next reboot without a driver.",
        hint: "install the modules for that kernel (linux-modules-nvidia-*, or headers and `dkms autoinstall -k KERNEL`)",
        source: "dkms(8); depmod(8)",
        run: next_kernel,
    },
    Check {
        id: "driver.nouveau",
        title: "no other driver holds the GPUs: nouveau, nova, VFIO",
        needs: Needs::Idle,
        severity: Fail,
        expects: "no /sys/module/nouveau on a host with NVIDIA GPUs, and no GPU whose PCI device has another driver than NVIDIA's; one that is passed through to a virtual machine (vfio-pci) is a warning",
        why: "A driver of the kernel's own holds the GPUs, so that the NVIDIA module finds none.",
        hint: "blacklist it (nouveau; nova_core, nova_drm and nova from kernel 6.15 on), rebuild the initramfs and reboot",
        source: "NVIDIA Driver Installation Guide; modprobe.d(5)",
        run: nouveau,
    },
    Check {
        id: "driver.fabric_manager",
        title: "the fabric manager runs and has the driver's version",
        needs: Needs::Idle,
        severity: Fail,
        expects: "on hosts with NVSwitches or with a board of NVLink 5 (HGX B200, B300: ib_umad is loaded there as well), or where `expect.driver.fabric_manager` is true: nvidia-fabricmanager active, its version exactly that of the driver; `expect.driver.fabric_manager: false` skips it",
        why: "Without it, or with another patch level, CUDA fails with error 802 although nvidia-smi reports no problem.",
        hint: "install the fabric manager of exactly the driver's version (and nvlsm on boards of NVLink 5), `systemctl enable --now nvidia-fabricmanager`",
        source: "Fabric Manager for NVIDIA NVSwitch Systems (user guide)",
        run: fabric_manager,
    },
    Check {
        id: "driver.upgrades",
        title: "nothing upgrades the driver by itself",
        needs: Needs::Idle,
        severity: Warn,
        expects: "unattended-upgrades and dnf-automatic are off, or they leave the packages of the driver alone",
        why: "Upgrades overnight are the usual cause of \"Driver/library version mismatch\".",
        hint: "the playbook `no-upgrades` takes kernel, driver and RDMA out of them, by name; or hold the packages of the driver",
        source: "unattended-upgrade(8); apt.conf(5); apt-mark(8); dnf-automatic(8)",
        run: upgrades,
    },
    Check {
        id: "driver.log",
        title: "the driver logged no error when it started",
        needs: Needs::Idle,
        severity: Fail,
        expects: "no RmInitAdapter failure, no GPU that the driver could not take, no API mismatch, no module that does not fit the others",
        why: "The kernel's log has the reason before any tool shows the effect.",
        hint: "the finding says what to do by what stands beside the line: wrong flavour of the modules, no room on the PCIe bus, the GPU's firmware, its power, another driver; a GPU is replaced last",
        source: "NVIDIA/open-gpu-kernel-modules, its kernel messages; Linux kernel: Documentation/admin-guide/sysctl/kernel.rst",
        run: complaints,
    },
];

fn coherence(subject: &Subject<'_>) -> Checked {
    subject.has_gpus()?;
    let driver = subject.driver()?;
    let mut findings = Findings::default();
    // The library says so itself, whatever the files say.
    if let Ok(nvidia) = subject.nvidia()
        && let Err(gap) = &nvidia.smi
        && gap.output.contains("version mismatch")
    {
        findings.wrong("libraries", "their version differs from the loaded module's", SMI, &gap.output);
    }
    let Some(loaded) = &driver.loaded else {
        if findings.is_well() {
            let text = "the nvidia module is not loaded";
            return Err(Verdict::follows(text, SYSFS, "no such file", "gpu.answers"));
        }
        return Ok(findings.verdict(""));
    };
    let version = loaded.version.as_str();
    if let Some(seen) = loaded.banner_version().filter(|seen| *seen != version) {
        let how = format!("version {seen}, but {version} is loaded");
        findings.wrong(PROC, how, PROC, loaded.banner.as_deref().unwrap_or(""));
    }
    match (&driver.disk, &driver.disk_gap) {
        (Some(disk), _) if disk.version != version => {
            let how = format!("version {}, but {version} is loaded", disk.version);
            findings.wrong("module on disk", how, MODINFO, format!("version: {}", disk.version));
        }
        (Some(_), _) | (None, None) => {}
        (None, Some(gap)) => findings.unknown("module on disk", gap.reason.clone(), MODINFO),
    }
    let mut others: BTreeSet<&str> = driver.disk.iter().map(|disk| disk.version.as_str()).collect();
    for package in of_release(driver).filter(|package| package.upstream() != version) {
        let seen = package.upstream();
        let how = format!("version {seen}, but {version} is loaded");
        findings.wrong(&package.name, how, "packages", format!("{} {seen}", package.name));
        others.insert(seen);
    }
    others.remove(version);
    let changed = subject.upkeep().map(|upkeep| upkeep.changed.as_slice()).unwrap_or_default();
    let brought = |one: &&Transaction| one.versions.iter().any(|new| others.contains(upstream(new)));
    if let Some(change) = changed.iter().rfind(brought) {
        let how = format!("changed the packages ({})", change.date);
        let line = format!("{} Commandline: {}", change.date, change.command);
        findings.wrong(&change.who(), how, "/var/log/apt/history.log", line);
    }
    Ok(findings.verdict(version))
}

/// Installed packages that carry the version of the driver.
fn of_release(driver: &Driver) -> impl Iterator<Item = &DriverPackage> {
    driver.parts().filter(|package| !package.broken)
}

fn version(subject: &Subject<'_>) -> Checked {
    subject.has_gpus()?;
    let Some(wanted) = subject.expect_driver().version else {
        return Err(Verdict::Skip("neither a task nor expect.driver.version declares it".to_owned()));
    };
    match subject.loaded()?.map(|loaded| loaded.version.as_str()) {
        Some(seen) if fits(seen, &wanted) => Ok(Verdict::Pass(seen.to_owned())),
        Some(seen) => Ok(Verdict::finding(format!("{seen}, expected {wanted}"), SYSFS, seen)),
        None => Ok(Verdict::finding("the nvidia module is not loaded", SYSFS, "no such file")),
    }
}

fn flavour(subject: &Subject<'_>) -> Checked {
    subject.has_gpus()?;
    let Some(wanted) = subject.expect_driver().open else {
        return Err(Verdict::Skip("neither a task nor expect.driver.open declares it".to_owned()));
    };
    let loaded = subject.loaded()?;
    let word = |open: bool| if open { "open" } else { "proprietary" };
    let line = loaded.and_then(|loaded| loaded.banner.as_deref()).unwrap_or("no such file");
    match loaded.and_then(|loaded| loaded.open) {
        Some(open) if open == wanted => Ok(Verdict::Pass(word(open).to_owned())),
        Some(open) => Ok(Verdict::finding(format!("{}, expected {}", word(open), word(wanted)), PROC, line)),
        None => Err(Verdict::follows("the module is not loaded", PROC, line, "gpu.answers")),
    }
}

/// `12.4` as numbers.
fn release(text: &str) -> Option<(u32, u32)> {
    let mut parts = text.split('.').map(|part| part.parse().ok());
    Some((parts.next()??, parts.next().flatten().unwrap_or(0)))
}

fn cuda(subject: &Subject<'_>) -> Checked {
    let smi = subject.smi()?;
    let upkeep = subject.upkeep()?;
    let Some((takes, text)) = smi.cuda.as_deref().and_then(|text| Some((release(text)?, text))) else {
        return Err(Verdict::unknown("the driver does not show its CUDA version", SMI, "no cuda_version"));
    };
    let mut findings = Findings::default();
    let line = format!("cuda_version {text}");
    if let Some(wanted) = subject.expect_driver().cuda
        && release(&wanted).is_none_or(|wanted| takes < wanted)
    {
        findings.wrong("the driver", format!("supports CUDA {text}, expected {wanted}"), SMI, &line);
    }
    match &upkeep.toolkit {
        // Within a major version older drivers take newer toolkits.
        Ok(toolkit) if release(toolkit).is_some_and(|toolkit| toolkit.0 > takes.0) => {
            let how = format!("is CUDA {toolkit}, the driver supports {text}");
            findings.wrong("/usr/local/cuda", how, SMI, &line);
        }
        Ok(_) => {}
        Err(gap) if gap.kind == GapKind::Absent => {}
        Err(gap) => findings.unknown("/usr/local/cuda", gap.reason.clone(), gap.command.clone()),
    }
    Ok(findings.verdict(format!("up to CUDA {text}")))
}

fn packages(subject: &Subject<'_>) -> Checked {
    subject.has_gpus()?;
    let driver = subject.driver()?;
    match &driver.packages_gap {
        Some(gap) if gap.kind == GapKind::Absent => return Err(Verdict::Skip(gap.reason.clone())),
        Some(gap) => return Err(Verdict::gap(gap, None)),
        None => {}
    }
    let of_release: Vec<_> = of_release(driver).collect();
    let Some(usual) = majority(of_release.iter().map(|package| package.upstream().to_owned()))
        .or_else(|| of_release.first().map(|package| package.upstream().to_owned()))
    else {
        return Err(Verdict::Skip("the driver was not installed from packages".to_owned()));
    };
    let mut findings = Findings::default();
    for package in of_release.iter().filter(|package| package.upstream() != usual) {
        let how = format!("version {}, the others have {usual}", package.upstream());
        findings.wrong(&package.name, how, "packages", format!("{} {}", package.name, package.upstream()));
    }
    Ok(findings.verdict(format!("{} packages of {usual}", of_release.len())))
}

/// Whether DKMS builds the nvidia module on this host.
fn is_dkms(subject: &Subject<'_>) -> bool {
    let built = |upkeep: &Upkeep| upkeep.dkms.iter().flatten().any(|line| line.module.starts_with("nvidia"));
    let file = |driver: &Driver| driver.disk.as_ref().is_some_and(|disk| disk.file.contains("/dkms/"));
    subject.upkeep().is_ok_and(built) || subject.driver().is_ok_and(file)
}

/// The kernel that boots next, when that is known and not somebody else's.
fn next<'s>(subject: &'s Subject<'_>) -> Result<(&'s str, Option<&'s Kernel>), Verdict> {
    subject.has_own_kernel()?;
    let release = subject.fact("facts.boot.next_kernel", |boot: &Boot| &boot.next_kernel)?;
    Ok((release, subject.driver()?.kernels.iter().find(|kernel| kernel.image && kernel.release == release)))
}

fn headers(subject: &Subject<'_>) -> Checked {
    subject.has_gpus()?;
    let (next, kernel) = next(subject)?;
    if !is_dkms(subject) {
        return Err(Verdict::Skip("DKMS does not build the driver".to_owned()));
    }
    let running = subject.kernel()?;
    let mut findings = Findings::default();
    match subject.base().map(|kernel: &kernel::Kernel| kernel.headers) {
        Some(true) => {}
        Some(false) => {
            let file = format!("/lib/modules/{running}/build/Makefile");
            findings.wrong(running, "no headers of the running kernel", file, "no such file");
        }
        None => findings.unknown(running, "the host gave no answer", "facts.kernel"),
    }
    if let Some(kernel) = kernel.filter(|kernel| kernel.release != running && !kernel.headers) {
        let file = format!("/lib/modules/{next}/build/Makefile");
        findings.wrong(&kernel.release, "no headers of the next kernel", file, "no such file");
    }
    Ok(findings.verdict(next))
}

fn dkms(subject: &Subject<'_>) -> Checked {
    let (next, _) = next(subject)?;
    let lines = match &subject.upkeep()?.dkms {
        Err(gap) if gap.kind == GapKind::Absent || !is_dkms(subject) => {
            return Err(Verdict::Skip(gap.reason.clone()));
        }
        seen => subject.seen(Ok(seen), None)?,
    };
    let installed: BTreeSet<&str> =
        lines.iter().filter(|line| line.is_installed()).map(|line| line.module.as_str()).collect();
    let mut findings = Findings::default();
    for module in &installed {
        let of_next = lines
            .iter()
            .find(|line| line.module == **module && line.kernel.as_deref() == Some(next))
            .map_or("not built", |line| line.state.as_str());
        // What follows may be well: `(Original modules exist)`, `-weak from KERNEL`.
        let wrong = ["WARNING", "Diff", "issing"].iter().any(|word| of_next.contains(word));
        if !of_next.starts_with("installed") || wrong {
            findings.wrong(module, format!("{of_next} for kernel {next}"), "dkms status", of_next);
        }
    }
    if installed.is_empty() {
        return Err(Verdict::Skip("DKMS installed no module".to_owned()));
    }
    Ok(findings.verdict(format!("{} modules for {next}", installed.len())))
}

fn next_kernel(subject: &Subject<'_>) -> Checked {
    subject.has_gpus()?;
    let (next, kernel) = next(subject)?;
    let Some(kernel) = kernel else {
        return Err(Verdict::Skip(format!("kernel {next} is not in /boot")));
    };
    let directory = format!("/lib/modules/{next}");
    match kernel.modules.first() {
        Some(file) => Ok(Verdict::Pass(file.clone())),
        None => {
            Ok(Verdict::finding(format!("kernel {next} has no nvidia module"), &directory, "no nvidia.ko"))
        }
    }
}

fn nouveau(subject: &Subject<'_>) -> Checked {
    subject.has_gpus()?;
    let drivers = holders(subject);
    if subject.driver()?.nouveau {
        return Ok(Verdict::finding("nouveau is loaded", "/sys/module/nouveau", "is there"));
    }
    let mut findings = Findings::default();
    for (address, driver) in subject.gpu_drivers().filter(|(_, driver)| drivers.iter().any(|of| of == driver))
    {
        let from = format!("/sys/bus/pci/devices/{address}/driver");
        findings.wrong(address, format!("{driver} holds it"), from, driver);
    }
    let verdict = findings.verdict("none does");
    Ok(match drivers.as_slice() {
        [] => verdict,
        drivers if drivers.iter().all(|driver| driver == "vfio-pci") => verdict
            .hint("it is kept for a virtual machine; if it is not, remove its id from the options of vfio-pci and reboot")
            .counted_as(Warn),
        drivers if drivers.iter().any(|driver| driver.starts_with("nova")) => verdict.hint(
            "blacklist nova_core, nova_drm and nova in /etc/modprobe.d, not only nouveau; rebuild the initramfs and reboot",
        ),
        _ => verdict,
    })
}

/// Drivers of GPUs that are not NVIDIA's: `nova_core`, `nouveau`, `vfio-pci`.
pub(in crate::checks) fn holders(subject: &Subject<'_>) -> Vec<String> {
    let others = subject.gpu_drivers().map(|(_, driver)| driver);
    let others: BTreeSet<&str> = others.filter(|driver| *driver != "nvidia").collect();
    // sysfs writes the name that a driver gives itself, such as NovaCore.
    others.into_iter().map(str::to_owned).collect()
}

fn fabric_manager(subject: &Subject<'_>) -> Checked {
    const UNIT: &str = "systemctl is-active nvidia-fabricmanager";
    subject.has_gpus()?;
    let pci = subject.base::<Pci>();
    match subject.expect_driver().fabric_manager {
        Some(false) => return Err(Verdict::Skip("no fabric manager is wanted on this host".to_owned())),
        None if subject.is_guest() && pci.is_none_or(|pci| pci.nvswitches.is_empty()) => {
            return Err(Verdict::Skip("the machine around this guest has the NVSwitches".to_owned()));
        }
        None if !subject.needs_fabric_manager() => {
            // The GPUs of a rack's NVLink have none on their host, so this is not known of what comes.
            return Err(match subject.newer_gpu() {
                Some(device) => Verdict::unknown(
                    "a GPU is newer than all that are known here: say `expect.driver.fabric_manager`",
                    "/sys/bus/pci/devices",
                    format!("10de:{device}"),
                ),
                None => Verdict::Skip("no NVSwitch".to_owned()),
            });
        }
        Some(true) | None => {}
    }
    let upkeep = subject.upkeep()?;
    let state = match &upkeep.fabric_state {
        // It is not asked of where the bus shows no switch and no such program is there.
        Err(gap) if gap.kind == GapKind::Absent && upkeep.peermem.is_ok() => {
            return Ok(Verdict::finding("nvidia-fabricmanager is not installed", UNIT, &gap.reason));
        }
        // A container is no place for units; its version is still to be looked at.
        Err(_) if subject.is_container() => "active",
        seen => subject.seen(Ok(seen), None)?.as_str(),
    };
    let mut findings = Findings::default();
    if state != "active" {
        findings.wrong("nvidia-fabricmanager", state, UNIT, state);
    }
    // On NVLink 5 it reaches the switches through InfiniBand management datagrams.
    if subject.is_nvlink5_board() && !subject.is_container() && subject.lacks_module("ib_umad") {
        let how = "not loaded: without it the fabric manager does not reach the switches of NVLink 5";
        findings.wrong("ib_umad", how, "/proc/modules", "no ib_umad");
        return Ok(findings.verdict("").hint(
            "`modprobe ib_umad` and a line ib_umad in /etc/modules-load.d (on Ubuntu's cloud kernels it is in linux-modules-extra-$(uname -r)); nvlsm and a driver of the cards with it must be installed; then `systemctl restart nvidia-fabricmanager`",
        ));
    }
    let loaded = subject.loaded()?.map(|loaded| loaded.version.as_str());
    match (&upkeep.fabric_version, loaded) {
        (Ok(seen), Some(loaded)) if seen != loaded => {
            let how = format!("version {seen}, the driver is {loaded}");
            findings.wrong("nv-fabricmanager", how, "nv-fabricmanager -v", seen);
        }
        (Err(gap), _) if gap.kind == GapKind::Missing => {
            findings.wrong("nv-fabricmanager", "not installed", "nv-fabricmanager -v", &gap.reason);
        }
        (Err(gap), _) => findings.unknown("nv-fabricmanager", gap.reason.clone(), "nv-fabricmanager -v"),
        (Ok(_), _) => {}
    }
    Ok(findings.verdict(format!("{state}, {}", loaded.unwrap_or("the module is not loaded"))))
}

fn upgrades(subject: &Subject<'_>) -> Checked {
    subject.has_gpus()?;
    let upgrades = subject.seen(Ok(&subject.upkeep()?.upgrades), None)?;
    let Some(tool) = upgrades.armed() else {
        return Ok(Verdict::Pass("no upgrade runs unattended".to_owned()));
    };
    if upgrades.exceptions.iter().any(|entry| entry.contains("nvidia")) {
        return Ok(Verdict::Pass(format!("{tool} leaves the nvidia packages alone")));
    }
    let driver = subject.driver()?;
    let of_release: Vec<_> = of_release(driver).collect();
    let held = !of_release.is_empty() && of_release.iter().all(|package| driver.keeps(package));
    if held {
        return Ok(Verdict::Pass(format!("{tool} is on, the packages of the driver are held")));
    }
    let line = match &upgrades.period {
        Some(period) => format!("APT::Periodic::Unattended-Upgrade \"{period}\""),
        None => format!("{} is enabled", upgrades.dnf_automatic.as_deref().unwrap_or(tool)),
    };
    Ok(Verdict::finding(format!("{tool} may replace the driver"), "upgrades", line))
}

fn complaints(subject: &Subject<'_>) -> Checked {
    subject.has_gpus()?;
    let log = subject.log()?;
    Ok(judge("driver.log", log, &log.said(), "none"))
}
