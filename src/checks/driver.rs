//! The driver stack across its layers (domain B11 to B15).

use super::verdict::{Checked, Findings, Verdict};
use super::{Check, Kind, Subject};
use crate::events::CheckStatus::{Fail, Warn};
use crate::probes::GapKind;
use crate::probes::driver::Kernel;

const SYSFS: &str = "/sys/module/nvidia/version";
const PROC: &str = "/proc/driver/nvidia/version";
const MODINFO: &str = "modinfo nvidia";
const SMI: &str = "nvidia-smi -q -x";

pub(super) const CHECKS: &[Check] = &[
    Check {
        id: "driver.coherence",
        title: "the driver is of one version in all its layers",
        kind: Kind::Idle,
        severity: Fail,
        expects: "the same version for the loaded module, the module on disk, its packages and the libraries",
        why: "An upgrade replaces libraries and files under a loaded module: every new CUDA program fails with \"Driver/library version mismatch\".",
        hint: "reboot, or end all users of the GPUs and load the modules anew; then keep upgrades away (driver.upgrades)",
        source: "domain B12, B15, L1",
        run: coherence,
    },
    Check {
        id: "driver.version",
        title: "the driver has the declared version",
        kind: Kind::Idle,
        severity: Fail,
        expects: "`expect.driver.version`, whole or its branch; skipped when it is not declared",
        why: "Jobs, containers and fabric managers are built and tested for one branch.",
        hint: "apply the playbook that installs the driver, then reboot",
        source: "domain B2, B15",
        run: version,
    },
    Check {
        id: "driver.flavour",
        title: "the kernel module is of the declared flavour",
        kind: Kind::Idle,
        severity: Fail,
        expects: "`expect.driver.open`; skipped when it is not declared",
        why: "DMA-BUF and Blackwell need the open module; GPUs before Turing need the proprietary one.",
        hint: "install the packages of the other flavour, build the module anew and reboot",
        source: "domain B1, B2, C12",
        run: flavour,
    },
    Check {
        id: "driver.cuda",
        title: "the driver takes the CUDA that is used",
        kind: Kind::Idle,
        severity: Fail,
        expects: "at least the major version of the toolkit in /usr/local/cuda, and `expect.driver.cuda`",
        why: "Programs of a newer CUDA than the driver takes fail at start.",
        hint: "a newer driver, or an older toolkit: `nvidia-smi -q` shows the highest CUDA that the driver takes",
        source: "domain B2, B14",
        run: cuda,
    },
    Check {
        id: "driver.packages",
        title: "all driver packages are of one version",
        kind: Kind::Idle,
        severity: Warn,
        expects: "one version for libnvidia-*, nvidia-utils-*, nvidia-dkms-* and their kin",
        why: "Packages of two families or branches replace each other's files; the next upgrade breaks the driver.",
        hint: "`dpkg -l '*nvidia*'`: purge what is of another branch, then hold the rest",
        source: "domain B3, B15",
        run: packages,
    },
    Check {
        id: "driver.headers",
        title: "the kernels have their headers, where DKMS builds the driver",
        kind: Kind::Idle,
        severity: Warn,
        expects: "headers of the running kernel and of the one that boots next",
        why: "Without them DKMS builds nothing for a new kernel, and the host comes back without GPUs.",
        hint: "install linux-headers-$(uname -r), or kernel-devel-$(uname -r)",
        source: "domain B1, B3, L4",
        run: headers,
    },
    Check {
        id: "driver.dkms",
        title: "DKMS built its modules for the kernel that boots next",
        kind: Kind::Idle,
        severity: Fail,
        expects: "`installed` for the next kernel, for each module that any kernel has, and no difference to what was built",
        why: "After the next reboot the GPUs or the cards of the fabric have no driver.",
        hint: "`dkms autoinstall -k KERNEL`; the log of a failure is /var/lib/dkms/NAME/VERSION/build/make.log",
        source: "domain B12, L4",
        run: dkms,
    },
    Check {
        id: "driver.next_kernel",
        title: "the kernel that boots next has an nvidia module",
        kind: Kind::Idle,
        severity: Fail,
        expects: "nvidia.ko below /lib/modules of the next kernel",
        why: "After the next reboot there is no driver, whoever built the present one.",
        hint: "install the modules for that kernel (linux-modules-nvidia-*, or headers and `dkms autoinstall -k KERNEL`)",
        source: "domain B12, L4",
        run: next_kernel,
    },
    Check {
        id: "driver.nouveau",
        title: "nouveau is not loaded",
        kind: Kind::Idle,
        severity: Fail,
        expects: "no /sys/module/nouveau on a host with NVIDIA GPUs",
        why: "nouveau holds the GPUs, so that the NVIDIA module finds none.",
        hint: "blacklist nouveau, rebuild the initramfs and reboot",
        source: "domain B9",
        run: nouveau,
    },
    Check {
        id: "driver.fabric_manager",
        title: "the fabric manager runs and is of the driver's version",
        kind: Kind::Idle,
        severity: Fail,
        expects: "on hosts with NVSwitches: nvidia-fabricmanager active, its version exactly that of the driver",
        why: "Without it, or with another patch level, CUDA fails with error 802 though nvidia-smi looks well.",
        hint: "install the fabric manager of exactly the driver's version, `systemctl enable --now nvidia-fabricmanager`",
        source: "domain B14, L5",
        run: fabric_manager,
    },
    Check {
        id: "driver.upgrades",
        title: "nothing upgrades the driver by itself",
        kind: Kind::Idle,
        severity: Warn,
        expects: "unattended-upgrades and dnf-automatic off, or the packages of the driver held or excepted",
        why: "Upgrades overnight are the usual cause of \"Driver/library version mismatch\".",
        hint: "set `APT::Periodic::Unattended-Upgrade \"0\";`, and hold the packages of the driver",
        source: "domain B13, L1",
        run: upgrades,
    },
    Check {
        id: "system.reboot",
        title: "no reboot is due",
        kind: Kind::Idle,
        severity: Warn,
        expects: "no sign of one: reboot-required, a newer kernel, a newer driver on disk",
        why: "What was installed is not what runs, and the next reboot changes it at a bad time.",
        hint: "drain the host and reboot it, or let `provision apply` do it with `policy.reboot: allow`",
        source: "domain B11",
        run: reboot,
    },
];

fn coherence(subject: &Subject<'_>) -> Checked {
    subject.has_gpus()?;
    let loaded = subject.loaded()?;
    let driver = subject.driver().map_err(|gap| Verdict::gap(&gap, None))?;
    let mut findings = Findings::default();
    // The library says so itself, whatever the files say.
    if let Ok(nvidia) = subject.nvidia()
        && let Err(gap) = &nvidia.smi
        && gap.output.contains("version mismatch")
    {
        findings.wrong("libraries", "not of the loaded module's version", SMI, &gap.output);
    }
    let Some(version) = loaded.version.as_deref() else {
        if findings.is_well() {
            let text = "the nvidia module is not loaded";
            return Err(Verdict::follows(text, SYSFS, "no such file", "gpu.answers"));
        }
        return Ok(findings.verdict(""));
    };
    if let Some(seen) = loaded.proc_version().filter(|seen| *seen != version) {
        let how = format!("{seen}, the loaded module is {version}");
        findings.wrong(PROC, how, PROC, loaded.proc.as_deref().unwrap_or(""));
    }
    match &driver.disk {
        Ok(disk) if disk.version != version => {
            let how = format!("{}, {version} is loaded", disk.version);
            findings.wrong("module on disk", how, MODINFO, format!("version: {}", disk.version));
        }
        Ok(_) => {}
        Err(gap) => findings.unknown("module on disk", gap.reason.clone(), MODINFO),
    }
    for package in driver.packages.iter().flatten().filter(|package| is_of_release(&package.name)) {
        if package.version != version {
            let how = format!("{}, {version} is loaded", package.version);
            findings.wrong(&package.name, how, "packages", format!("{} {}", package.name, package.version));
        }
    }
    Ok(findings.verdict(version))
}

/// Packages that carry the libraries and the module, and so the version of the driver.
fn is_of_release(name: &str) -> bool {
    ["libnvidia-compute", "nvidia-utils", "nvidia-dkms", "nvidia-kernel-source", "nvidia-compute-utils"]
        .iter()
        .any(|stem| name.starts_with(stem))
}

/// Whether a version is the wanted one: whole, or its first parts.
pub(super) fn fits(seen: &str, wanted: &str) -> bool {
    let rest = seen.strip_prefix(wanted);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

fn version(subject: &Subject<'_>) -> Checked {
    subject.has_gpus()?;
    let Some(wanted) = subject.expect_driver().version else {
        return Err(Verdict::Skip("expect.driver.version is not declared".to_owned()));
    };
    match subject.loaded()?.version.as_deref() {
        Some(seen) if fits(seen, &wanted) => Ok(Verdict::Pass(seen.to_owned())),
        Some(seen) => Ok(Verdict::finding(format!("{seen}, expected {wanted}"), SYSFS, seen)),
        None => Ok(Verdict::finding("the nvidia module is not loaded", SYSFS, "no such file")),
    }
}

fn flavour(subject: &Subject<'_>) -> Checked {
    subject.has_gpus()?;
    let Some(wanted) = subject.expect_driver().open else {
        return Err(Verdict::Skip("expect.driver.open is not declared".to_owned()));
    };
    let loaded = subject.loaded()?;
    let word = |open: bool| if open { "open" } else { "proprietary" };
    let line = loaded.proc.as_deref().unwrap_or("no such file");
    match loaded.is_open() {
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
    let driver = subject.driver().map_err(|gap| Verdict::gap(&gap, None))?;
    let Some((takes, text)) = smi.cuda.as_deref().and_then(|text| Some((release(text)?, text))) else {
        return Err(Verdict::unknown("the driver does not tell its CUDA version", SMI, "no cuda_version"));
    };
    let mut findings = Findings::default();
    let line = format!("cuda_version {text}");
    if let Some(wanted) = subject.expect_driver().cuda
        && release(&wanted).is_none_or(|wanted| takes < wanted)
    {
        findings.wrong("the driver", format!("takes CUDA {text}, expected {wanted}"), SMI, &line);
    }
    match &driver.toolkit {
        // Within a major version older drivers take newer toolkits.
        Ok(toolkit) if release(toolkit).is_some_and(|toolkit| toolkit.0 > takes.0) => {
            let how = format!("is CUDA {toolkit}, the driver takes {text}");
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
    let driver = subject.driver().map_err(|gap| Verdict::gap(&gap, None))?;
    let all = match &driver.packages {
        Err(gap) if gap.kind == GapKind::Absent => return Err(Verdict::Skip(gap.reason.clone())),
        seen => subject.seen(Ok(seen), None)?,
    };
    let of_release: Vec<_> = all.iter().filter(|package| is_of_release(&package.name)).collect();
    let Some(usual) = super::gpu::majority(of_release.iter().map(|package| package.version.clone()))
        .or_else(|| of_release.first().map(|package| package.version.clone()))
    else {
        return Err(Verdict::Skip("the driver is not from packages".to_owned()));
    };
    let mut findings = Findings::default();
    for package in of_release.iter().filter(|package| package.version != usual) {
        let how = format!("{}, the others are {usual}", package.version);
        findings.wrong(&package.name, how, "packages", format!("{} {}", package.name, package.version));
    }
    Ok(findings.verdict(format!("{} packages of {usual}", of_release.len())))
}

/// Whether DKMS builds the nvidia module on this host.
fn is_dkms(subject: &Subject<'_>) -> bool {
    let Ok(driver) = subject.driver() else { return false };
    driver.dkms.iter().flatten().any(|line| line.module.starts_with("nvidia"))
        || driver.disk.as_ref().is_ok_and(|disk| disk.file.contains("/dkms/"))
}

/// The kernel that boots next, when that is known and not somebody else's.
fn next<'s>(subject: &'s Subject<'_>) -> Result<(&'s str, Option<&'s Kernel>), Verdict> {
    subject.has_own_kernel()?;
    let release = subject.fact("/boot/next_kernel")?;
    Ok((release, subject.loaded()?.kernels.iter().find(|kernel| kernel.release == release)))
}

fn headers(subject: &Subject<'_>) -> Checked {
    subject.has_gpus()?;
    let (next, kernel) = next(subject)?;
    if !is_dkms(subject) {
        return Err(Verdict::Skip("DKMS does not build the driver".to_owned()));
    }
    let running = subject.fact("/kernel/release")?;
    let mut findings = Findings::default();
    match subject.facts.pointer("/kernel/headers").and_then(serde_json::Value::as_bool) {
        Some(true) => {}
        Some(false) => {
            let file = format!("/lib/modules/{running}/build/Makefile");
            findings.wrong(running, "no headers of the running kernel", file, "no such file");
        }
        None => findings.unknown(running, "the host did not tell", "facts.kernel"),
    }
    if let Some(kernel) = kernel.filter(|kernel| kernel.release != running && !kernel.headers) {
        let file = format!("/lib/modules/{next}/build/Makefile");
        findings.wrong(&kernel.release, "no headers of the next kernel", file, "no such file");
    }
    Ok(findings.verdict(next))
}

fn dkms(subject: &Subject<'_>) -> Checked {
    let (next, _) = next(subject)?;
    let driver = subject.driver().map_err(|gap| Verdict::gap(&gap, None))?;
    let lines = match &driver.dkms {
        Err(gap) if gap.kind == GapKind::Absent || !is_dkms(subject) => {
            return Err(Verdict::Skip(gap.reason.clone()));
        }
        seen => subject.seen(Ok(seen), None)?,
    };
    let installed: std::collections::BTreeSet<&str> = lines
        .iter()
        .filter(|line| line.state.starts_with("installed"))
        .map(|line| line.module.as_str())
        .collect();
    let mut findings = Findings::default();
    for module in &installed {
        let of_next = lines
            .iter()
            .find(|line| line.module == **module && line.kernel.as_deref() == Some(next))
            .map_or("not built", |line| line.state.as_str());
        if of_next != "installed" {
            findings.wrong(module, format!("{of_next} for kernel {next}"), "dkms status", of_next);
        }
    }
    if installed.is_empty() {
        return Err(Verdict::Skip("DKMS built nothing".to_owned()));
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
    if subject.loaded()?.nouveau {
        return Ok(Verdict::finding("nouveau is loaded", "/sys/module/nouveau", "is there"));
    }
    Ok(Verdict::Pass("not loaded".to_owned()))
}

fn fabric_manager(subject: &Subject<'_>) -> Checked {
    const UNIT: &str = "systemctl is-active nvidia-fabricmanager";
    subject.has_gpus()?;
    let switches = subject.facts.pointer("/pci/nvswitches").and_then(serde_json::Value::as_array);
    if switches.is_none_or(Vec::is_empty) {
        return Err(Verdict::Skip("no NVSwitch".to_owned()));
    }
    let driver = subject.driver().map_err(|gap| Verdict::gap(&gap, None))?;
    let state = match &driver.fabric_state {
        // A container is no place for units; its version is still to be looked at.
        Err(_) if subject.is_container() => "active",
        seen => subject.seen(Ok(seen), None)?.as_str(),
    };
    let mut findings = Findings::default();
    if state != "active" {
        findings.wrong("nvidia-fabricmanager", state, UNIT, state);
    }
    let loaded = subject.loaded()?.version.as_deref();
    match (&driver.fabric_version, loaded) {
        (Ok(seen), Some(loaded)) if seen != loaded => {
            let how = format!("{seen}, the driver is {loaded}");
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
    let driver = subject.driver().map_err(|gap| Verdict::gap(&gap, None))?;
    let upgrades = subject.seen(Ok(&driver.upgrades), None)?;
    let Some(tool) = upgrades.armed() else {
        return Ok(Verdict::Pass("nothing upgrades by itself".to_owned()));
    };
    if upgrades.exceptions.iter().any(|entry| entry.contains("nvidia")) {
        return Ok(Verdict::Pass(format!("{tool} leaves out nvidia")));
    }
    let mut of_release = driver.packages.iter().flatten().filter(|package| is_of_release(&package.name));
    let held = of_release.clone().next().is_some() && of_release.all(|package| package.held);
    if held {
        return Ok(Verdict::Pass(format!("{tool} is on, the packages of the driver are held")));
    }
    let line = match &upgrades.period {
        Some(period) => format!("APT::Periodic::Unattended-Upgrade \"{period}\""),
        None => "dnf-automatic.timer is enabled".to_owned(),
    };
    Ok(Verdict::finding(format!("{tool} may replace the driver"), "upgrades", line))
}

fn reboot(subject: &Subject<'_>) -> Checked {
    subject.has_own_kernel()?;
    subject.is_of_cluster()?;
    let texts = |path: &str| -> Option<Vec<&str>> {
        Some(subject.facts.pointer(path)?.as_array()?.iter().filter_map(serde_json::Value::as_str).collect())
    };
    let Some(reasons) = texts("/boot/reasons") else {
        return Err(Verdict::unknown("the host did not tell", "facts.boot", "no answer"));
    };
    if reasons.is_empty() {
        return Ok(Verdict::Pass("none is due".to_owned()));
    }
    Ok(Verdict::finding(
        format!("a reboot is due: {}", reasons.join("; ")),
        "facts.boot.reasons",
        reasons.join("; "),
    ))
}
