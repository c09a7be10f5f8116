//! Messages of the kernel's log about processors, disks and network cards.

use super::shared::log::of_kernel;
use super::shared::verdict::Checked;
use super::{Check, Needs, Subject};
use crate::events::CheckStatus::{Fail, Warn};

pub(in crate::checks) const CHECKS: &[Check] = &[
    Check {
        id: "kernel.stalls",
        title: "no processor hung in the kernel",
        needs: Needs::Idle,
        severity: Warn,
        expects: "no soft or hard lockup, no stall of RCU and of work queues in the kernel's log since the boot; a hard lockup, or ten soft ones, count as a failure",
        why: "While a processor hangs, the job on it stands still, and all others wait for it.",
        hint: "the lines after it say what the processor was doing: update that driver",
        source: "Linux kernel: Documentation/admin-guide/lockup-watchdogs.rst; Documentation/RCU/stallwarn.rst",
        run: stalls,
    },
    Check {
        id: "kernel.processors",
        title: "the processors run as fast as they can",
        needs: Needs::Idle,
        severity: Warn,
        expects: "in the kernel's log since the boot no processor that is slowed down by heat, no clock that was given up, no microcode that was refused",
        why: "One slow host slows down every job that it takes part in.",
        hint: "look at fans, air flow and the inlet temperature; the management controller shows the sensors",
        source: "Linux kernel: drivers/thermal/intel/therm_throt.c; kernel/time/clocksource.c",
        run: processors,
    },
    Check {
        id: "kernel.network",
        title: "no network card reported a fault",
        needs: Needs::Idle,
        severity: Warn,
        expects: "in the kernel's log since the boot no driver that did not start, no card that sent nothing for long, no firmware that does not answer, no table of neighbours or connections that was full",
        why: "A card that stops now and then breaks jobs at random, and looks well in between.",
        hint: "look at the link and its partner; update driver and firmware of the card",
        source: "Linux kernel: net/sched/sch_generic.c; drivers/net/ethernet",
        run: network,
    },
    Check {
        id: "kernel.disks",
        title: "no disk and no file system reported an error",
        needs: Needs::Idle,
        severity: Fail,
        expects: "in the kernel's log since the boot no damaged file system and no disk that was given up; errors of reading and writing, a RAID without one of its disks and a file server (NFS, Lustre) that does not answer are a warning",
        why: "A file system that turns read-only fails every job of the host, and a disk that errs corrupts checkpoints.",
        hint: "`smartctl -a` or `nvme smart-log` of the disk; look at its cable or its backplane",
        source: "Linux kernel: block/blk-mq.c; drivers/nvme/host; fs/ext4; fs/xfs",
        run: disks,
    },
];

fn stalls(subject: &Subject<'_>) -> Checked {
    of_kernel(subject, "kernel.stalls")
}

fn processors(subject: &Subject<'_>) -> Checked {
    of_kernel(subject, "kernel.processors")
}

fn network(subject: &Subject<'_>) -> Checked {
    of_kernel(subject, "kernel.network")
}

fn disks(subject: &Subject<'_>) -> Checked {
    of_kernel(subject, "kernel.disks")
}
