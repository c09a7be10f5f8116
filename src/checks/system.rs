//! The system around GPUs and cards.

use std::collections::BTreeSet;
use std::net::Ipv4Addr;

use serde_json::Value as Json;

use super::shared::log::of_kernel;
use super::shared::verdict::{Checked, Findings, Verdict};
use super::{Check, Needs, Subject, network};
use crate::events::CheckStatus::{Fail, Warn};
use crate::facts::clock::{self, Kept};
use crate::facts::firewall::Backend;
use crate::facts::rdma::Gid;
use crate::facts::{Gap, GapKind};

/// Corrected errors of memory from which on a module is told.
const CORRECTED: u64 = 1000;
const CLOCK: &str = "the clock";
/// Free space in GiB that is enough where nothing is declared.
const FREE_GIB: u64 = 5;
/// The same of /boot in MiB: an initramfs is rebuilt there.
const BOOT_MIB: u64 = 100;

pub(in crate::checks) const CHECKS: &[Check] = &[
    Check {
        id: "system.memlock",
        title: "a new login may lock all memory",
        needs: Needs::Idle,
        severity: Fail,
        expects: "unlimited on hosts with RDMA devices; `expect.system.memlock` when it is declared. In a container, where its engine sets the limit, it is checked only when declared",
        why: "RDMA locks its buffers in memory: with the usual limit of 64 or 8192 KiB ibv_reg_mr fails, and with it the job.",
        hint: "`* soft memlock unlimited` and `* hard memlock unlimited` in /etc/security/limits.d, and the same for root; then log in again",
        source: "limits.conf(5); getrlimit(2)",
        run: memlock,
    },
    Check {
        id: "system.nofile",
        title: "a new login may open enough files",
        needs: Needs::Idle,
        severity: Warn,
        expects: "`expect.system.nofile`; skipped when it is not declared",
        why: "Large jobs open a socket to each peer: with a limit of 1024 they work on a few hosts and die on many.",
        hint: "`* soft nofile 1048576` and the same for hard in /etc/security/limits.d; then log in again",
        source: "limits.conf(5); getrlimit(2)",
        run: nofile,
    },
    Check {
        id: "system.hugepages",
        title: "there are as many huge pages as declared",
        needs: Needs::Idle,
        severity: Fail,
        expects: "`expect.system.hugepages`; skipped when it is not declared",
        why: "Programs that need huge pages fail without them, and unused huge pages are lost memory.",
        hint: "run `sysctl vm.nr_hugepages=N` soon after a boot, and write it to a file in /etc/sysctl.d",
        source: "Linux kernel: Documentation/admin-guide/mm/hugetlbpage.rst",
        run: hugepages,
    },
    Check {
        id: "system.swap",
        title: "swap is as declared",
        needs: Needs::Idle,
        severity: Warn,
        expects: "`expect.system.swap`; skipped when it is not declared",
        why: "Kubernetes refuses hosts with swap, and one rank that swaps slows all others down.",
        hint: "run `swapoff -a`, and remove the swap line from /etc/fstab",
        source: "proc(5); swapon(8)",
        run: swap,
    },
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
    Check {
        id: "system.mce",
        title: "the processors and memory reported no error",
        needs: Needs::Idle,
        severity: Fail,
        expects: "no machine check, no error of memory (EDAC, APEI) and no page of memory taken out of use in the kernel's log since the boot; what was corrected is a warning",
        why: "Bad memory ends in crashes, or in wrong numbers.",
        hint: "the line names bank and address: `ras-mc-ctl --errors` or the management controller says which module",
        source: "Linux kernel: Documentation/admin-guide/RAS/main.rst; ras-mc-ctl(8)",
        run: mce,
    },
    Check {
        id: "system.memory_errors",
        title: "memory controllers counted no errors",
        needs: Needs::Idle,
        severity: Fail,
        expects: "no uncorrected error and fewer than 1000 corrected ones since the driver of the controllers (EDAC) was loaded; corrected ones are a warning",
        why: "A memory module that needs many corrections is slow and about to give wrong data.",
        hint: "`ras-mc-ctl --error-count` or the management controller says which module: replace it at the next maintenance, at once where errors were not corrected",
        source: "Linux kernel: Documentation/admin-guide/ras.rst",
        run: memory_errors,
    },
    Check {
        id: "system.oom",
        title: "the kernel killed no process for lack of memory",
        needs: Needs::Idle,
        severity: Warn,
        expects: "no `Out of memory` in the kernel's log since the boot; that a job reached its own limit is none",
        why: "To the other ranks of a job a killed rank looks like a hang.",
        hint: "look which process was killed; give jobs a memory limit in Slurm or in their container",
        source: "Linux kernel: Documentation/admin-guide/mm/concepts.rst",
        run: oom,
    },
    Check {
        id: "system.blocked_tasks",
        title: "no process was blocked in the kernel",
        needs: Needs::Idle,
        severity: Warn,
        expects: "no `blocked for more than` in the kernel's log since the boot",
        why: "A process that waits in the kernel cannot be killed. Causes are a broken GPU, a dead NFS server or a bug of a driver.",
        hint: "the line in the evidence names the process; unless its cause goes away, only a reboot ends it",
        source: "Linux kernel: Documentation/admin-guide/sysctl/kernel.rst",
        run: blocked,
    },
    Check {
        id: "system.file_max",
        title: "the host never ran out of open files",
        needs: Needs::Idle,
        severity: Warn,
        expects: "no `VFS: file-max limit` in the kernel's log since the boot",
        why: "At that limit every program of the host fails to open files and sockets, the daemons that jobs need among them.",
        hint: "`cat /proc/sys/fs/file-nr` says how many are open; mend the program that does not close them, or raise the limit by the resource `sysctl`",
        source: "Linux kernel: Documentation/admin-guide/sysctl/fs.rst",
        run: file_max,
    },
    Check {
        id: "system.kernel_faults",
        title: "the kernel met no fault of its own",
        needs: Needs::Idle,
        severity: Fail,
        expects: "no oops, no `kernel BUG at`, no damaged page and no panic of the kernel in its log since the boot; that a program crashed is none",
        why: "A kernel that goes on after such a fault keeps locks and memory that nobody gives back: jobs hang later, and on this host only.",
        hint: "drain the host and reboot it; the lines after the one in the evidence name the module that was at work: update it, or report them to its maker",
        source: "Linux kernel: Documentation/admin-guide/bug-hunting.rst",
        run: kernel_faults,
    },
    Check {
        id: "system.firewall",
        title: "no firewall stands between the hosts",
        needs: Needs::Idle,
        severity: Warn,
        expects: "no policy or last rule that drops or rejects incoming packets, on hosts with GPUs or RDMA devices; or the networks of its RDMA devices are let in as a whole, now and after a boot",
        why: "NCCL and MPI listen on ports that are not known beforehand: behind a firewall jobs hang for a minute and fail.",
        hint: "let the cluster's subnets in: `ufw allow from SUBNET` or `firewall-cmd --zone=trusted --add-source=SUBNET`",
        source: "nft(8); iptables(8); ufw(8); firewalld(1)",
        run: firewall,
    },
    Check {
        id: "system.own_name",
        title: "the host's own name does not resolve to a loopback address",
        needs: Needs::Idle,
        severity: Fail,
        expects: "`getent hosts NAME` gives no address of 127.0.0.0/8 or ::1; a warning on hosts that have neither GPUs nor RDMA devices",
        why: "MPI, NCCL, PyTorch and Slurm tell other hosts the address of this name: with 127.0.1.1 the others connect to themselves.",
        hint: "put the host's real address before its name in /etc/hosts, and remove the line with 127.0.1.1",
        source: "getent(1); hosts(5)",
        run: own_name,
    },
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

fn memlock(subject: &Subject<'_>) -> Checked {
    const FROM: &str = "ulimit -l";
    let declared = subject.expect_system().memlock;
    if declared.is_none() {
        subject.devices()?;
        if subject.is_container() {
            return Err(Verdict::Skip("in a container its engine sets the limit".to_owned()));
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
        return Err(Verdict::Skip("neither a task nor expect.system.nofile declares it".to_owned()));
    };
    let login = subject.login()?;
    match login.nofile.parse::<u64>() {
        Ok(seen) if seen < wanted => {
            Ok(Verdict::finding(format!("{seen}, expected {wanted}"), "ulimit -n", &login.nofile))
        }
        Ok(seen) => Ok(Verdict::Pass(seen.to_string())),
        Err(_) if login.nofile == "unlimited" => Ok(Verdict::Pass("unlimited".to_owned())),
        Err(_) => Ok(Verdict::unknown("the shell gave no number", "ulimit -n", &login.nofile)),
    }
}

fn number(subject: &Subject<'_>, path: &str) -> Result<u64, Verdict> {
    let number = subject.facts.pointer(path).and_then(Json::as_u64);
    number.ok_or_else(|| Verdict::unknown("the host gave no answer", "/proc/meminfo", "no answer"))
}

fn hugepages(subject: &Subject<'_>) -> Checked {
    let Some(wanted) = subject.expect_system().hugepages else {
        return Err(Verdict::Skip("neither a task nor expect.system.hugepages declares it".to_owned()));
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

/// Why a tool that was asked says nothing.
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
    if subject.is_container() && subject.host.expect.pointer("/system").is_none_or(Json::is_null) {
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

fn mce(subject: &Subject<'_>) -> Checked {
    of_kernel(subject, "system.mce")
}

fn memory_errors(subject: &Subject<'_>) -> Checked {
    // Those of a container are of the machine around it.
    subject.has_own_system()?;
    let files = subject.seen(Ok(&subject.system()?.files), None)?;
    if files.memory_errors.is_empty() {
        return Err(Verdict::Skip("no memory controller is watched, as in virtual machines".to_owned()));
    }
    let (mut fails, mut warns) = (Findings::default(), Findings::default());
    for (name, corrected, not) in &files.memory_errors {
        let from = format!("/sys/devices/system/edac/mc/{name}");
        if *not > 0 {
            fails.wrong(name, format!("{not} uncorrected errors"), from, format!("ue_count {not}"));
        } else if *corrected >= CORRECTED {
            warns.wrong(name, format!("{corrected} corrected errors"), from, format!("ce_count {corrected}"));
        }
    }
    if fails.is_well() {
        return Ok(warns.verdict("none that count").counted_as(Warn));
    }
    Ok(fails.verdict(""))
}

fn oom(subject: &Subject<'_>) -> Checked {
    of_kernel(subject, "system.oom")
}

fn blocked(subject: &Subject<'_>) -> Checked {
    of_kernel(subject, "system.blocked_tasks")
}

fn file_max(subject: &Subject<'_>) -> Checked {
    of_kernel(subject, "system.file_max")
}

fn kernel_faults(subject: &Subject<'_>) -> Checked {
    of_kernel(subject, "system.kernel_faults")
}

fn firewall(subject: &Subject<'_>) -> Checked {
    subject.is_of_cluster()?;
    let firewall = subject.firewall()?;
    let mut findings = Findings::default();
    // A `firewall` task lets the cluster's networks in as a whole: those of its RDMA devices, where they have addresses.
    let addresses = network::addresses(subject).unwrap_or_default();
    let own: Vec<Ipv4Addr> = addresses.iter().map(|(_, address, _)| *address).collect();
    let devices = subject.devices().unwrap_or_default();
    let gids = devices.iter().flat_map(|device| &device.ports).flat_map(|port| &port.gids);
    let of_jobs: Vec<Ipv4Addr> = gids.filter_map(Gid::ipv4).collect();
    // Of nftables and iptables it is not known whether what an operator wrote stays over a boot.
    let stays = |network: &&String| {
        matches!(firewall.backend, Backend::Nftables | Backend::Iptables)
            || firewall.at_boot.contains(network.as_str())
    };
    let is_own = |network: &&String| own.iter().chain(&of_jobs).any(|address| is_inside(*address, network));
    let (stay, go): (Vec<&String>, Vec<&String>) = firewall.now.iter().filter(is_own).partition(stays);
    // Bridges of containers are trusted for the containers.
    let trusted: Vec<&(String, Ipv4Addr, u32)> = addresses
        .iter()
        .filter(|(link, ..)| network::leads_out(subject, link) && firewall.trusts(link))
        .collect();
    let let_in = |address: &Ipv4Addr| {
        stay.iter().any(|network| is_inside(*address, network))
            || trusted.iter().any(|(_, own, _)| own == address)
    };
    if stay.len() + trusted.len() > 0 && go.is_empty() && of_jobs.iter().all(let_in) {
        let links: BTreeSet<&str> = trusted.iter().map(|(link, ..)| link.as_str()).collect();
        let what: Vec<&str> = stay.into_iter().map(String::as_str).chain(links).collect();
        return Ok(Verdict::Pass(format!("{} lets in {}", firewall.backend, what.join(", "))));
    }
    for network in go {
        findings.wrong(network, "let in until the next boot only", "firewall", firewall.backend);
    }
    if firewall.backend == Backend::Ufw {
        findings.wrong("ufw", "on: it drops what no rule allows", "/etc/ufw/ufw.conf", "ENABLED=yes");
    }
    if firewall.backend == Backend::Firewalld {
        let zone = firewall.zones.get("").map_or("not known", String::as_str);
        let how = "on: it rejects what the zones of the links do not allow";
        findings.wrong("firewalld", how, "firewall-cmd --get-default-zone", zone);
    }
    for (tool, answer) in &firewall.tools {
        match answer {
            // The rules of firewalld.
            Ok(_) if firewall.backend == Backend::Firewalld => {}
            Ok(policy) if policy.drops => {
                let how = "drops what its rules do not allow";
                findings.wrong(tool, how, tool.clone(), &policy.line);
            }
            Ok(_) => {}
            // Only root may ask, and a kernel without it says so.
            Err(gap) => findings.unknown(tool, gap.reason.clone(), gap.command.clone()),
        }
    }
    if firewall.tools.is_empty() && !matches!(firewall.backend, Backend::Ufw | Backend::Firewalld) {
        return Err(Verdict::Skip("neither nft nor iptables is installed".to_owned()));
    }
    let verdict = findings.verdict("nothing is dropped");
    if subject.is_container() && matches!(verdict, Verdict::Unknown { .. }) {
        return Err(Verdict::Skip("in a container the firewall rules cannot be read".to_owned()));
    }
    Ok(verdict)
}

/// Whether an address is in a network that a firewall names.
fn is_inside(address: Ipv4Addr, network: &str) -> bool {
    let Some((start, prefix)) = network.split_once('/') else { return false };
    match (start.parse::<Ipv4Addr>(), prefix.parse::<u32>()) {
        (Ok(start), Ok(prefix @ 1..=32)) => {
            start.to_bits() >> (32 - prefix) == address.to_bits() >> (32 - prefix)
        }
        _ => false,
    }
}

fn own_name(subject: &Subject<'_>) -> Checked {
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
        Some(address) => {
            let found = Verdict::finding(format!("{name} resolves to {address}"), &from, address);
            // On others only programs that call back meet it, as srun on a login host.
            Ok(if subject.is_of_cluster().is_ok() { found } else { found.counted_as(Warn) })
        }
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
    let seen = subject.fact("/kernel/release")?;
    if seen == wanted {
        return Ok(Verdict::Pass(seen.to_owned()));
    }
    Ok(Verdict::finding(format!("{seen}, expected {wanted}"), "/proc/sys/kernel/osrelease", seen))
}

fn reboot(subject: &Subject<'_>) -> Checked {
    subject.has_own_kernel()?;
    subject.has_own_system()?;
    let texts = |path: &str| -> Option<Vec<&str>> {
        Some(subject.facts.pointer(path)?.as_array()?.iter().filter_map(Json::as_str).collect())
    };
    let Some(reasons) = texts("/boot/reasons") else {
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
