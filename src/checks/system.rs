//! The system around GPUs and cards (domain C10, D6, L24 to L27).

use serde_json::Value as Json;

use super::verdict::{Checked, Findings, Verdict};
use super::{Check, Kind, Subject};
use crate::events::CheckStatus::{Fail, Warn};
use crate::probes::GapKind;

/// Free space in GiB that is enough where nothing is declared.
const FREE_GIB: u64 = 5;
/// The same of /boot in MiB: an initramfs is rebuilt there (domain B1).
const BOOT_MIB: u64 = 100;

pub(super) const CHECKS: &[Check] = &[
    Check {
        id: "system.memlock",
        title: "a new login may lock all memory",
        kind: Kind::Idle,
        severity: Fail,
        expects: "unlimited on hosts with RDMA devices; `expect.system.memlock` when it is declared. In a container it is its engine's, and looked at only when declared",
        why: "RDMA pins its buffers: with the usual 64 or 8192 KiB ibv_reg_mr fails, and a job with it.",
        hint: "`* soft memlock unlimited` and `* hard memlock unlimited` in /etc/security/limits.d, the same for root; then log in anew",
        source: "domain C10, L12",
        run: memlock,
    },
    Check {
        id: "system.nofile",
        title: "a new login may open enough files",
        kind: Kind::Idle,
        severity: Warn,
        expects: "`expect.system.nofile`; skipped when it is not declared",
        why: "Large jobs open a socket to each peer: with 1024 files they die at scale only.",
        hint: "`* soft nofile 1048576` and the same for hard in /etc/security/limits.d; then log in anew",
        source: "domain C10",
        run: nofile,
    },
    Check {
        id: "system.hugepages",
        title: "as many huge pages as declared",
        kind: Kind::Idle,
        severity: Fail,
        expects: "`expect.system.hugepages`; skipped when it is not declared",
        why: "Programs that were set up for huge pages fail without them, and pages that nobody uses are lost memory.",
        hint: "`sysctl vm.nr_hugepages=N` early after a boot, and a file in /etc/sysctl.d",
        source: "domain L26",
        run: hugepages,
    },
    Check {
        id: "system.swap",
        title: "swap is as declared",
        kind: Kind::Idle,
        severity: Warn,
        expects: "`expect.system.swap`; skipped when it is not declared",
        why: "Kubernetes refuses hosts with swap, and a swapping rank holds all others up.",
        hint: "`swapoff -a`, and its line out of /etc/fstab",
        source: "design section 8 (expect.system)",
        run: swap,
    },
    Check {
        id: "system.time_sync",
        title: "the clock is synchronised",
        kind: Kind::Idle,
        severity: Warn,
        expects: "chrony or systemd says so, on hosts with GPUs or RDMA devices; `expect.system.time_sync: false` skips it",
        why: "Clocks apart break munge and Kerberos, and nobody can put logs of two hosts side by side.",
        hint: "`chronyc sources`: are the servers reached? The `time_sync` resource sets one up",
        source: "domain L25",
        run: time_sync,
    },
    Check {
        id: "system.disk",
        title: "there is space left",
        kind: Kind::Idle,
        severity: Warn,
        expects: "5 GiB free on /, /var and /tmp and 100 MiB on /boot; `expect.system.disk_free_gib` for all when it is declared",
        why: "A full disk breaks upgrades half-way: a kernel without its initramfs, a driver without its module.",
        hint: "`du -xhd1 / | sort -h`; old kernels, logs and container images are the usual cause",
        source: "domain B1",
        run: disk,
    },
    Check {
        id: "system.shm",
        title: "/dev/shm is large enough for the GPUs",
        kind: Kind::Idle,
        severity: Warn,
        expects: "1 GiB for each GPU",
        why: "NCCL and data loaders share memory there; with the 64 MiB of a container they fail.",
        hint: "containers: `--shm-size=1g --ipc=host`; hosts: `mount -o remount,size=50% /dev/shm`",
        source: "domain C10, L26",
        run: shm,
    },
    Check {
        id: "system.governor",
        title: "CPUs run at full speed",
        kind: Kind::Idle,
        severity: Warn,
        expects: "governor performance on all CPUs; `expect.system.governor` when it is declared; skipped where the kernel has none",
        why: "A CPU that is still waking up adds latency to every small message.",
        hint: "`cpupower frequency-set -g performance`, and a unit that does it at boot",
        source: "domain D6",
        run: governor,
    },
    Check {
        id: "system.mce",
        title: "the processors and memory reported no error",
        kind: Kind::Idle,
        severity: Fail,
        expects: "no machine check in the kernel's log since the boot",
        why: "Bad memory ends in crashes, or in wrong numbers.",
        hint: "the line names bank and address: `ras-mc-ctl --errors` or the management controller says which module",
        source: "domain G15",
        run: mce,
    },
    Check {
        id: "system.oom",
        title: "the kernel killed nothing for memory",
        kind: Kind::Idle,
        severity: Warn,
        expects: "no `Out of memory` in the kernel's log since the boot",
        why: "The job that was killed looks like a hang from its other ranks.",
        hint: "look which process it was; give jobs a memory limit in Slurm or their container",
        source: "domain G15",
        run: oom,
    },
    Check {
        id: "system.blocked_tasks",
        title: "no process was blocked in the kernel",
        kind: Kind::Idle,
        severity: Warn,
        expects: "no `blocked for more than` in the kernel's log since the boot",
        why: "A process that the kernel holds cannot be ended: a sick GPU, a dead NFS server, a driver's bug.",
        hint: "the line names it; only a reboot frees it when its cause does not end",
        source: "domain G15",
        run: blocked,
    },
    Check {
        id: "system.firewall",
        title: "no firewall stands between the hosts",
        kind: Kind::Idle,
        severity: Warn,
        expects: "no policy that drops what comes in, on hosts with GPUs or RDMA devices",
        why: "NCCL and MPI listen on ports that nobody knows beforehand: bootstraps hang for a minute and fail.",
        hint: "let the cluster's subnets in: `ufw allow from SUBNET`, `firewall-cmd --zone=trusted --add-source=SUBNET`",
        source: "domain D7, L24",
        run: firewall,
    },
    Check {
        id: "system.own_name",
        title: "the host's own name is not a loopback address",
        kind: Kind::Idle,
        severity: Fail,
        expects: "`getent hosts NAME` gives no address of 127.0.0.0/8 or ::1, on hosts with GPUs or RDMA devices",
        why: "MPI, NCCL and torch advertise what the name resolves to: with 127.0.1.1 the others connect to themselves.",
        hint: "put the host's real address before its name in /etc/hosts, and take the line with 127.0.1.1 out",
        source: "domain L27",
        run: own_name,
    },
    Check {
        id: "system.units",
        title: "no unit of the stack failed",
        kind: Kind::Idle,
        severity: Warn,
        expects: "no failed unit of NVIDIA, RDMA, Slurm, containers or the clock",
        why: "A service that gave up at boot is noticed by the first job.",
        hint: "`systemctl status UNIT`, `journalctl -u UNIT -b`",
        source: "domain B14, G16",
        run: units,
    },
    Check {
        id: "system.kernel",
        title: "the declared kernel runs",
        kind: Kind::Idle,
        severity: Fail,
        expects: "`expect.system.kernel`; skipped when it is not declared",
        why: "Drivers are built for one kernel; another one is another host.",
        hint: "install it, make it the boot loader's default and reboot",
        source: "domain B11",
        run: kernel,
    },
    Check {
        id: "slurm.gres",
        title: "Slurm gives out as many GPUs as there are",
        kind: Kind::Idle,
        severity: Fail,
        expects: "`gpu:N` of the node equal to the GPUs on its PCI bus, where Slurm has gpu among its resources",
        why: "With fewer, GPUs stand idle; with more, jobs get GPUs that are not there.",
        hint: "`Gres=gpu:N` of the node in slurm.conf, gres.conf with AutoDetect=nvml or all device files; then restart slurmd",
        source: "domain J1",
        run: gres,
    },
    Check {
        id: "slurm.memlock",
        title: "job steps of Slurm may lock all memory",
        kind: Kind::Idle,
        severity: Fail,
        expects: "slurmd itself has no limit, on hosts with RDMA devices: its steps inherit it. No job is started to look",
        why: "Over SSH all is well, and only jobs fail in ibv_reg_mr.",
        hint: "`LimitMEMLOCK=infinity` in a drop-in of slurmd.service, `PropagateResourceLimitsExcept=MEMLOCK` in slurm.conf",
        source: "domain C10, J1, L12",
        run: slurm_memlock,
    },
    Check {
        id: "slurm.node",
        title: "Slurm takes jobs for this host",
        kind: Kind::Idle,
        severity: Warn,
        expects: "a state that is neither down, drained, failing nor without an answer",
        why: "A node that was drained for a repair and forgotten is a node less.",
        hint: "`scontrol show node NAME` has the reason; `scontrol update nodename=NAME state=resume`",
        source: "domain J1",
        run: slurm_node,
    },
];

fn memlock(subject: &Subject<'_>) -> Checked {
    const FROM: &str = "ulimit -l";
    let declared = subject.expect_system().memlock;
    if declared.is_none() {
        subject.devices()?;
        if subject.is_container() {
            return Err(Verdict::Skip("in a container: its engine sets it".to_owned()));
        }
    }
    let login = subject.login()?;
    let wanted = declared.unwrap_or_else(|| "unlimited".to_owned());
    let number = |text: &str| text.parse::<u64>().ok();
    let enough = login.memlock == wanted
        || login.memlock == "unlimited"
        || matches!((number(&login.memlock), number(&wanted)), (Some(seen), Some(wanted)) if seen >= wanted);
    if enough {
        return Ok(Verdict::Pass(login.memlock.clone()));
    }
    let unit = if number(&login.memlock).is_some() { " KiB" } else { "" };
    let how = format!("a new login of {} has {}{unit}, expected {wanted}", login.user, login.memlock);
    Ok(Verdict::finding(how, FROM, &login.memlock))
}

fn nofile(subject: &Subject<'_>) -> Checked {
    let Some(wanted) = subject.expect_system().nofile else {
        return Err(Verdict::Skip("expect.system.nofile is not declared".to_owned()));
    };
    let login = subject.login()?;
    match login.nofile.parse::<u64>() {
        Ok(seen) if seen < wanted => {
            Ok(Verdict::finding(format!("{seen}, expected {wanted}"), "ulimit -n", &login.nofile))
        }
        Ok(seen) => Ok(Verdict::Pass(seen.to_string())),
        Err(_) if login.nofile == "unlimited" => Ok(Verdict::Pass("unlimited".to_owned())),
        Err(_) => Ok(Verdict::unknown("the shell did not tell", "ulimit -n", &login.nofile)),
    }
}

fn number(subject: &Subject<'_>, path: &str) -> Result<u64, Verdict> {
    let number = subject.facts.pointer(path).and_then(Json::as_u64);
    number.ok_or_else(|| Verdict::unknown("the host did not tell", "/proc/meminfo", "no answer"))
}

fn hugepages(subject: &Subject<'_>) -> Checked {
    let Some(wanted) = subject.expect_system().hugepages else {
        return Err(Verdict::Skip("expect.system.hugepages is not declared".to_owned()));
    };
    let seen = number(subject, "/memory/hugepages/total")?;
    if seen == wanted {
        return Ok(Verdict::Pass(seen.to_string()));
    }
    let line = format!("HugePages_Total: {seen}");
    Ok(Verdict::finding(format!("{seen}, expected {wanted}"), "/proc/meminfo", line))
}

fn swap(subject: &Subject<'_>) -> Checked {
    let Some(wanted) = subject.expect_system().swap else {
        return Err(Verdict::Skip("expect.system.swap is not declared".to_owned()));
    };
    let seen = number(subject, "/memory/swap_mib")?;
    if (seen > 0) == wanted {
        return Ok(Verdict::Pass(format!("{seen} MiB")));
    }
    let how = if wanted { "no swap, expected some".to_owned() } else { format!("{seen} MiB, expected none") };
    Ok(Verdict::finding(how, "/proc/meminfo", format!("SwapTotal: {seen} MiB")))
}

fn time_sync(subject: &Subject<'_>) -> Checked {
    if subject.expect_system().time_sync == Some(false) {
        return Err(Verdict::Skip("expect.system.time_sync is false".to_owned()));
    }
    if subject.expect_system().time_sync.is_none() {
        subject.is_of_cluster()?;
    }
    if subject.is_container() {
        return Err(Verdict::Skip("in a container: the clock is that of the machine around it".to_owned()));
    }
    let system = subject.system()?;
    match &system.clock {
        Ok((true, line)) => Ok(Verdict::Pass(line.clone())),
        Ok((false, line)) => Ok(Verdict::finding("not synchronised", "the clock", line)),
        // Without one of these tools it cannot be asked; without a daemon there is nothing to ask.
        Err(gap) => {
            let keeps = |name: &String| ["chronyd", "ntpd", "systemd-timesyn"].contains(&name.as_str());
            let nobody = system.files.as_ref().is_ok_and(|files| !files.processes.iter().any(keeps));
            if gap.kind == GapKind::Absent && nobody {
                return Ok(Verdict::finding("nothing keeps the clock", "the clock", &gap.reason));
            }
            Err(Verdict::gap(gap, None))
        }
    }
}

fn disk(subject: &Subject<'_>) -> Checked {
    let declared = subject.expect_system().disk_free_gib.map(u64::from);
    if declared.is_none() {
        subject.is_of_cluster()?;
    }
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
    if subject.is_container() && subject.expect.system.is_none() {
        return Err(Verdict::Skip("in a container: its engine sets it".to_owned()));
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
            return Err(Verdict::Skip(
                "in a container: the CPUs are set by the machine around it".to_owned(),
            ));
        }
    }
    let files = subject.seen(Ok(&subject.system()?.files), None)?;
    if files.governors.is_empty() {
        return Err(Verdict::Skip("the kernel has no governors, as in a guest".to_owned()));
    }
    let wanted = declared.unwrap_or_else(|| "performance".to_owned());
    let mut findings = Findings::default();
    for (name, count) in files.governors.iter().filter(|(name, _)| **name != wanted) {
        let cpus = crate::report::style::count(*count, "CPU");
        let from = "/sys/devices/system/cpu/cpu*/cpufreq/scaling_governor";
        findings.wrong(&cpus, format!("{name}, expected {wanted}"), from, name);
    }
    Ok(findings.verdict(wanted))
}

/// Lines of the kernel's log that must not be there.
fn no_line(subject: &Subject<'_>, words: &[&str], how: &str) -> Checked {
    subject.is_of_cluster()?;
    let log = subject.log()?;
    let lines = log.with(words);
    let mut findings = Findings::default();
    for line in &lines {
        findings.wrong("the kernel", how, log.command.clone(), line);
    }
    Ok(match findings.verdict("none") {
        Verdict::Finding { evidence, hint, severity, .. } => Verdict::Finding {
            message: format!("{how}: {}", crate::report::style::count(lines.len() as u64, "line")),
            evidence,
            hint,
            severity,
        },
        verdict @ (Verdict::Pass(_) | Verdict::Skip(_) | Verdict::Unknown { .. }) => verdict,
    })
}

fn mce(subject: &Subject<'_>) -> Checked {
    no_line(
        subject,
        &["[Hardware Error]", "Machine check events logged", "Machine Check Exception"],
        "a machine check",
    )
}

fn oom(subject: &Subject<'_>) -> Checked {
    no_line(subject, &["Out of memory"], "processes were killed for memory")
}

fn blocked(subject: &Subject<'_>) -> Checked {
    no_line(subject, &["blocked for more than"], "processes were blocked")
}

fn firewall(subject: &Subject<'_>) -> Checked {
    subject.is_of_cluster()?;
    let system = subject.system()?;
    let files = subject.seen(Ok(&system.files), None)?;
    let mut findings = Findings::default();
    if files.ufw {
        findings.wrong("ufw", "on: it drops what no rule lets in", "/etc/ufw/ufw.conf", "ENABLED=yes");
    }
    for (tool, answer) in &system.firewalls {
        match answer {
            Ok(firewall) if firewall.drops => {
                let rules = crate::report::style::count(firewall.accepts, "rule");
                let how = if *tool == "iptables" {
                    format!("drops what its {rules} do not let in")
                } else {
                    "drops what its rules do not let in".to_owned()
                };
                findings.wrong(tool, how, tool.clone(), &firewall.policy);
            }
            Ok(_) => {}
            // Only root may ask, and a kernel without it says so.
            Err(gap) => findings.unknown(tool, gap.reason.clone(), gap.command.clone()),
        }
    }
    if system.firewalls.is_empty() && !files.ufw {
        return Err(Verdict::Skip("neither nft nor iptables is installed".to_owned()));
    }
    let verdict = findings.verdict("nothing is dropped");
    if subject.is_container() && matches!(verdict, Verdict::Unknown { .. }) {
        return Err(Verdict::Skip("in a container: its rules are not to be read".to_owned()));
    }
    Ok(verdict)
}

fn own_name(subject: &Subject<'_>) -> Checked {
    subject.is_of_cluster()?;
    let name = subject.fact("/hostname")?.to_owned();
    let addresses = subject.seen(Ok(&subject.system()?.own_name), None)?;
    let from = format!("getent hosts {name}");
    if addresses.is_empty() {
        return Ok(Verdict::finding(format!("{name} has no address"), &from, "no answer").counted_as(Warn));
    }
    let loopback = addresses
        .iter()
        .find(|address| address.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback()));
    match loopback {
        Some(address) => Ok(Verdict::finding(format!("{name} is {address}"), &from, address)),
        None => Ok(Verdict::Pass(addresses.join(", "))),
    }
}

/// Beginnings of units that a cluster needs.
const UNITS: &[&str] = &[
    "nvidia",
    "openibd",
    "rdma",
    "opensm",
    "slurm",
    "munge",
    "chrony",
    "ntp",
    "docker",
    "containerd",
    "kubelet",
    "ibacm",
    "lldpad",
    "dcgm",
    "ssh",
    "erdma",
    "systemd-timesyncd",
];

fn units(subject: &Subject<'_>) -> Checked {
    subject.is_of_cluster()?;
    let system = subject.system()?;
    let failed = match &system.failed_units {
        Err(gap) if gap.kind == GapKind::Absent => return Err(Verdict::Skip(gap.reason.clone())),
        seen => subject.seen(Ok(seen), None)?,
    };
    let mut findings = Findings::default();
    for unit in failed.iter().filter(|unit| UNITS.iter().any(|stem| unit.starts_with(stem))) {
        findings.wrong(unit, "failed", "systemctl list-units --state=failed", unit);
    }
    Ok(findings.verdict("none failed"))
}

fn kernel(subject: &Subject<'_>) -> Checked {
    let Some(wanted) = subject.expect_system().kernel else {
        return Err(Verdict::Skip("expect.system.kernel is not declared".to_owned()));
    };
    let seen = subject.fact("/kernel/release")?;
    if seen == wanted {
        return Ok(Verdict::Pass(seen.to_owned()));
    }
    Ok(Verdict::finding(format!("{seen}, expected {wanted}"), "/proc/sys/kernel/osrelease", seen))
}

/// This host as Slurm knows it.
///
/// # Errors
/// The verdict without Slurm.
fn node<'a>(subject: &Subject<'a>) -> Result<&'a crate::probes::system::Node, Verdict> {
    let system = subject.system()?;
    match &system.node {
        Err(gap) if gap.kind == GapKind::Absent => Err(Verdict::Skip("no Slurm".to_owned())),
        // A login host is no node.
        Err(gap) if gap.kind == GapKind::Garbled && subject.is_of_cluster().is_err() => {
            Err(Verdict::Skip("Slurm does not know this host".to_owned()))
        }
        seen => subject.seen(Ok(seen), None),
    }
}

fn gres(subject: &Subject<'_>) -> Checked {
    subject.has_gpus()?;
    let node = node(subject)?;
    let Some(gpus) = subject.pci_gpus().map(|gpus| gpus.len() as u64) else {
        return Err(Verdict::unknown(
            "the PCI bus could not be read",
            "/sys/bus/pci/devices",
            "no list of devices",
        ));
    };
    let from = "sinfo -N -h -o '%N %T %G'";
    match node.gpus() {
        seen if seen == gpus => Ok(Verdict::Pass(node.gres.clone())),
        seen => Ok(Verdict::finding(format!("{seen} in Slurm, {gpus} on the PCI bus"), from, &node.gres)),
    }
}

fn slurm_memlock(subject: &Subject<'_>) -> Checked {
    subject.devices()?;
    let files = subject.seen(Ok(&subject.system()?.files), None)?;
    if !files.processes.iter().any(|name| name == "slurmd") {
        return Err(Verdict::Skip("slurmd does not run".to_owned()));
    }
    let from = "/proc/PID of slurmd/limits";
    match files.slurmd_memlock.as_deref() {
        Some("unlimited") => Ok(Verdict::Pass("unlimited".to_owned())),
        Some(bytes) => Ok(Verdict::finding(format!("slurmd has {bytes} bytes"), from, bytes)),
        None => Ok(Verdict::unknown("the limits of slurmd cannot be read", from, "no answer")),
    }
}

fn slurm_node(subject: &Subject<'_>) -> Checked {
    let node = node(subject)?;
    let bad = ["down", "drain", "fail", "unknown", "not_responding", "inval"];
    if bad.iter().any(|word| node.state.starts_with(word)) || node.state.ends_with('*') {
        return Ok(Verdict::finding(node.state.clone(), "sinfo -N -h -o '%N %T %G'", &node.state));
    }
    Ok(Verdict::Pass(node.state.clone()))
}
