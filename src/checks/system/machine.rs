//! The clock, space and the speed of processors.

use crate::checks::shared::verdict::{Checked, Findings, Verdict};
use crate::checks::{Check, Needs, Subject};
use crate::events::CheckStatus::Warn;
use crate::facts::clock::{self, Kept};
use crate::facts::{Gap, GapKind};

const CLOCK: &str = "the clock";
/// Free space in GiB that is enough where nothing is declared.
const FREE_GIB: u64 = 5;
/// The same of /boot in MiB: an initramfs is rebuilt there.
const BOOT_MIB: u64 = 100;

pub(in crate::checks) const CHECKS: &[Check] = &[
    Check {
        id: "system.time_sync",
        title: "the clock is synchronised",
        needs: Needs::Idle,
        severity: Warn,
        expects: "chrony, systemd-timesyncd, an ntpd or PTP (phc2sys) says that it keeps the clock; `expect.system.time_sync: false` skips it. In a container the clock is that of the machine around it",
        why: "With different clocks munge and Kerberos fail, and logs of two hosts cannot be compared.",
        hint: "`chronyc sources`: are the servers reached? The `time_sync` resource sets up chrony",
        source: "chronyc(1); ntpq(1); ntpctl(8); phc2sys(8); pmc(8)",
        run: time_sync,
    },
    Check {
        id: "system.disk",
        title: "the file systems have free space",
        needs: Needs::Idle,
        severity: Warn,
        expects: "5 GiB free on /, /var and /tmp and 100 MiB on /boot; `expect.system.disk_free_gib` for all when it is declared",
        why: "A full disk stops upgrades half-way: the kernel has no initramfs, or the driver no module.",
        hint: "`du -xhd1 / | sort -h`; old kernels, logs and container images are the usual cause",
        source: "df(1)",
        run: disk,
    },
    Check {
        id: "system.shm",
        title: "/dev/shm is large enough for the GPUs",
        needs: Needs::Idle,
        severity: Warn,
        expects: "1 GiB for each GPU",
        why: "NCCL and data loaders share memory there; with the 64 MiB of a container they fail.",
        hint: "containers: `--shm-size=1g --ipc=host`; hosts: `mount -o remount,size=50% /dev/shm`",
        source: "NCCL User Guide: Troubleshooting; shm_overview(7)",
        run: shm,
    },
    Check {
        id: "system.governor",
        title: "CPUs run at full speed",
        needs: Needs::Idle,
        severity: Warn,
        expects: "governor performance on all CPUs; `expect.system.governor` when it is declared; skipped where the kernel has no governors",
        why: "A CPU that first has to speed up adds latency to every small message.",
        hint: "`cpupower frequency-set -g performance`, and a unit that does it at boot",
        source: "Linux kernel: Documentation/admin-guide/pm/cpufreq.rst",
        run: governor,
    },
];

fn time_sync(subject: &Subject<'_>) -> Checked {
    if subject.expect_system().time_sync == Some(false) {
        return Err(Verdict::Skip("expect.system.time_sync is false".to_owned()));
    }
    if subject.is_container() {
        return Err(Verdict::Skip("in a container the clock belongs to the machine that runs it".to_owned()));
    }
    let system = subject.system()?;
    let files = subject.seen(Ok(&system.files), None)?;
    let told = || system.clock.told().flatten();
    let of = |kept: Kept| told().find(move |told| told.kept == kept);
    // One program is enough, whatever others that are installed say.
    if let Some(told) = of(Kept::Well) {
        return Ok(Verdict::Pass(told.line.clone()));
    }
    if let Some(told) = of(Kept::Alone) {
        let text = format!("it follows no server and serves its own time ({})", told.line);
        return Err(Verdict::Skip(format!("{text}; fleet.clock compares it")));
    }
    if let Some(told) = of(Kept::Not) {
        let how = told.trouble.as_deref().unwrap_or("not synchronised");
        return Ok(Verdict::finding(how, CLOCK, &told.line));
    }
    let runs = |name: &str| files.processes.iter().any(|process| process == name);
    let Some(keeper) = clock::KEEPERS.iter().find(|name| runs(name)) else {
        if runs("ptp4l") && !files.ptp_software {
            let how =
                "ptp4l runs and phc2sys does not: it keeps the clock of its card, not that of the system";
            return Ok(Verdict::finding(how, CLOCK, "ptp4l without phc2sys")
                .hint("start phc2sys: `systemctl enable --now phc2sys`"));
        }
        if runs("ptp4l") {
            return Err(Verdict::Skip("ptp4l keeps the clock and does not say how well".to_owned()));
        }
        let gap = first_gap(&system.clock);
        let line = gap.map_or("no such process", |gap| gap.reason.as_str());
        return Ok(Verdict::finding("no program synchronises the clock", CLOCK, line));
    };
    let gap = first_gap(&system.clock);
    match gap {
        Some(gap) if gap.kind == GapKind::Hung || *keeper == "chronyd" => Err(Verdict::gap(gap, None)),
        // It comes with its tool.
        None if *keeper == "chronyd" => {
            Err(Verdict::unknown("chronyd runs, and chronyc is not installed", CLOCK, "no chronyc"))
        }
        _ => Err(Verdict::Skip(format!("{keeper} keeps the clock; no tool that it has says how well"))),
    }
}

/// The reason of the first tool that was asked and says nothing.
fn first_gap(clock: &clock::Clock) -> Option<&Gap> {
    clock.told().filter_map(|told| told.as_ref().err()).find(|gap| gap.kind != GapKind::Absent)
}

fn disk(subject: &Subject<'_>) -> Checked {
    let declared = subject.expect_system().disk_free_gib.map(u64::from);
    let space = subject.seen(Ok(&subject.system()?.space), None)?;
    let mut findings = Findings::default();
    for row in space.iter().filter(|row| row.mount != "/dev/shm") {
        let wanted_mib = match (declared, row.mount.as_str()) {
            (Some(gib), _) => gib << 10,
            (None, "/boot") => BOOT_MIB,
            (None, _) => FREE_GIB << 10,
        };
        let free_mib = row.free_kib >> 10;
        if free_mib < wanted_mib {
            let line = format!("{} of {} KiB free", row.free_kib, row.total_kib);
            let how = format!("{free_mib} MiB free, expected {wanted_mib}");
            findings.wrong(&row.mount, how, "df -Pk", line);
        }
    }
    let least = space.iter().filter(|row| row.mount != "/dev/shm").map(|row| row.free_kib >> 20).min();
    Ok(findings.verdict(format!("at least {} GiB free", least.unwrap_or_default())))
}

fn shm(subject: &Subject<'_>) -> Checked {
    subject.has_gpus()?;
    if subject.is_container() && subject.host.expect.system.is_none() {
        return Err(Verdict::Skip("in a container its engine sets the limit".to_owned()));
    }
    let gpus = subject.pci_gpus().unwrap_or_default().len() as u64;
    let space = subject.seen(Ok(&subject.system()?.space), None)?;
    let Some(row) = space.iter().find(|row| row.mount == "/dev/shm") else {
        return Ok(Verdict::unknown("/dev/shm is not in the list", "df -Pk", "no such row"));
    };
    if row.total_kib >> 20 < gpus {
        let how = format!("{} MiB for {gpus} GPUs", row.total_kib >> 10);
        return Ok(Verdict::finding(how, "df -Pk /dev/shm", format!("{} KiB", row.total_kib)));
    }
    Ok(Verdict::Pass(format!("{} GiB", row.total_kib >> 20)))
}

fn governor(subject: &Subject<'_>) -> Checked {
    let declared = subject.expect_system().governor;
    if declared.is_none() {
        subject.is_of_cluster()?;
        if subject.is_container() {
            return Err(Verdict::Skip("in a container the machine that runs it sets the CPUs".to_owned()));
        }
    }
    let files = subject.seen(Ok(&subject.system()?.files), None)?;
    if files.governors.is_empty() {
        return Err(Verdict::Skip("the kernel has no governors, as in a virtual machine".to_owned()));
    }
    let wanted = declared.unwrap_or_else(|| "performance".to_owned());
    let mut findings = Findings::default();
    for (name, count) in files.governors.iter().filter(|(name, _)| **name != wanted) {
        let cpus = crate::words::count(*count, "CPU");
        let from = "/sys/devices/system/cpu/cpu*/cpufreq/scaling_governor";
        findings.wrong(&cpus, format!("{name}, expected {wanted}"), from, name);
    }
    Ok(findings.verdict(wanted))
}
