//! Limits of logins, and memory that is set aside.

use crate::checks::shared::verdict::{Checked, Verdict};
use crate::checks::{Check, Needs, Subject};
use crate::events::CheckStatus::{Fail, Warn};
use crate::facts::base::memory::Memory;

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

fn memory<'a>(subject: &Subject<'a>) -> Result<&'a Memory, Verdict> {
    subject.base().ok_or_else(|| Verdict::unknown("the host gave no answer", "/proc/meminfo", "no answer"))
}

fn hugepages(subject: &Subject<'_>) -> Checked {
    let Some(wanted) = subject.expect_system().hugepages else {
        return Err(Verdict::Skip("neither a task nor expect.system.hugepages declares it".to_owned()));
    };
    let seen = memory(subject)?.hugepages.total;
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
    let seen = memory(subject)?.swap_mib;
    if (seen > 0) == wanted {
        return Ok(Verdict::Pass(format!("{seen} MiB")));
    }
    let how = if wanted { "no swap, expected some".to_owned() } else { format!("{seen} MiB, expected none") };
    Ok(Verdict::finding(how, "/proc/meminfo", format!("SwapTotal: {seen} MiB")))
}
