//! Services, the kernel that runs, and whether a reboot is due.

use crate::checks::shared::verdict::{Checked, Findings, Verdict};
use crate::checks::{Check, Needs, Subject};
use crate::events::CheckStatus::{Fail, Warn};
use crate::facts::GapKind;
use crate::facts::base::boot::Boot;

pub(in crate::checks) const CHECKS: &[Check] = &[
    Check {
        id: "system.units",
        title: "no systemd unit that the cluster needs failed",
        needs: Needs::Idle,
        severity: Warn,
        expects: "no failed unit of NVIDIA, RDMA, Slurm and its database, containers, names and users, shared file systems or the clock, and none that somebody made for this machine in /etc/systemd/system",
        why: "Otherwise the first job is the one that notices a service that failed at boot.",
        hint: "`systemctl status UNIT`, `journalctl -u UNIT -b`",
        source: "systemctl(1)",
        run: units,
    },
    Check {
        id: "system.kernel",
        title: "the declared kernel runs",
        needs: Needs::Idle,
        severity: Fail,
        expects: "`expect.system.kernel`; skipped when it is not declared",
        why: "Drivers are built for one kernel; under another kernel they may be missing.",
        hint: "install it, make it the boot loader's default and reboot",
        source: "Linux kernel: Documentation/admin-guide/sysctl/kernel.rst",
        run: kernel,
    },
    Check {
        id: "system.reboot",
        title: "no reboot is due",
        needs: Needs::Idle,
        severity: Warn,
        expects: "no sign of one: reboot-required, a newer kernel, a newer driver on disk",
        why: "Until a reboot the host runs other versions than are installed, and an unplanned reboot switches them at a bad time.",
        hint: "drain the host and reboot it, or let `provision apply` do it with `policy.reboot: allow`",
        source: "unattended-upgrade(8); needs-restarting(1)",
        run: reboot,
    },
];

/// Beginnings of units that a cluster needs.
const UNITS: &[&str] = &[
    "nvidia",
    "openibd",
    "rdma",
    "opensm",
    "slurm",
    "munge",
    "mariadb",
    "mysql",
    "chrony",
    "ntp",
    "openntpd",
    "ptp4l",
    "phc2sys",
    "timemaster",
    "systemd-timesyncd",
    "docker",
    "containerd",
    "crio",
    "kubelet",
    "k3s",
    "rke2",
    "ibacm",
    "lldpad",
    "dcgm",
    "ssh",
    "erdma",
    "nfs",
    "rpcbind",
    "rpc-",
    "autofs",
    "lustre",
    "lnet",
    "beegfs",
    "sssd",
    "nslcd",
    "named",
    "bind9",
    "dnsmasq",
    "systemd-resolved",
];

fn units(subject: &Subject<'_>) -> Checked {
    let system = subject.system()?;
    let failed = match &system.failed_units {
        Err(gap) if gap.kind == GapKind::Absent => return Err(Verdict::Skip(gap.reason.clone())),
        seen => subject.seen(Ok(seen), None)?,
    };
    let mut findings = Findings::default();
    let own = system.files.as_ref().map_or(&[][..], |files| files.own_units.as_slice());
    for unit in failed.iter().filter(|unit| is_missed(unit, own)) {
        findings.wrong(unit, "failed", "systemctl list-units --state=failed", unit);
    }
    let verdict = findings.verdict("none failed");
    let fabric = failed.iter().any(|unit| unit.starts_with("nvidia-fabricmanager"));
    if fabric && !subject.needs_fabric_manager() {
        return Ok(verdict.hint(
            "no NVSwitch is on this host, so it needs no fabric manager: `systemctl disable --now nvidia-fabricmanager`, then `systemctl reset-failed`; of other units `journalctl -u UNIT -b`",
        ));
    }
    Ok(verdict)
}

/// Whether a cluster misses a unit that failed.
fn is_missed(unit: &str, own: &[String]) -> bool {
    // Mounts of the kernel's own file systems fail in containers; others are where jobs read and write.
    const KERNEL: &[&str] = &["dev-", "sys-", "proc-", "run-", "tmp."];
    // `backup@nightly.service` is of `backup@.service`.
    let is_own = |file: &String| {
        let template = file.split_once("@.");
        file == unit
            || template.is_some_and(|(name, _)| unit.split_once('@').is_some_and(|(of, _)| of == name))
    };
    let is_mount = unit.rsplit_once('.').is_some_and(|(_, kind)| kind == "mount")
        && !KERNEL.iter().any(|stem| unit.starts_with(stem));
    UNITS.iter().any(|stem| unit.starts_with(stem)) || is_mount || own.iter().any(is_own)
}

fn kernel(subject: &Subject<'_>) -> Checked {
    let Some(wanted) = subject.expect_system().kernel else {
        return Err(Verdict::Skip("expect.system.kernel is not declared".to_owned()));
    };
    let seen = subject.kernel()?;
    if seen == wanted {
        return Ok(Verdict::Pass(seen.to_owned()));
    }
    Ok(Verdict::finding(format!("{seen}, expected {wanted}"), "/proc/sys/kernel/osrelease", seen))
}

fn reboot(subject: &Subject<'_>) -> Checked {
    subject.has_own_kernel()?;
    subject.has_own_system()?;
    let Some(Boot { reasons, .. }) = subject.base() else {
        return Err(Verdict::unknown("the host gave no answer", "facts.boot", "no answer"));
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
