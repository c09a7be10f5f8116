//! Errors that processors, memory and the kernel reported of themselves.

use crate::checks::shared::log::of_kernel;
use crate::checks::shared::verdict::{Checked, Findings, Verdict};
use crate::checks::{Check, Needs, Subject};
use crate::events::CheckStatus::{Fail, Warn};

/// Corrected errors of memory from which on a module is told.
const CORRECTED: u64 = 1000;

pub(in crate::checks) const CHECKS: &[Check] = &[
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
];

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
