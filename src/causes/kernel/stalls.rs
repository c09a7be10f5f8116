//! Processors and programs that hang in the kernel.

use super::super::cause::{Apart, Cause, Counts, ROW, Remedy, When, Worse, seen};

const STALL: Cause = Cause {
    remedy: Remedy::Install,
    check: "kernel.stalls",
    counts: Counts::Warn,
    act: "the lines around it (`RIP:`, `Call Trace:`) say what the processor was doing: a name in brackets at the end is a module, whose driver is to be updated; where it began with an update of the kernel or the image, boot the one before; in a virtual machine look whether its host has too few processors for it",
    apart: &[
        Apart {
            beside: &["trace.text_poke"],
            act: "one processor did not answer the others; where it began with an update, boot the kernel or image before (the boot menu, `rpm-ostree rollback`) or take one with the mended kernel; else look at the trace of the processor that hung, and in a virtual machine whether its host has too few processors; no part is suspected",
        },
        Apart {
            beside: &["cpu.throttled", "thermal.critical"],
            act: "look at the heat first: see kernel.processors",
        },
        Apart {
            beside: &["xid.off_the_bus", "nvidia.off_the_bus", "xid.gsp"],
            act: "look at the GPU first: see gpu.xid",
        },
    ],
    ..ROW
};

pub(in crate::causes) const ROWS: &[Cause] = &[
    Cause {
        id: "stall.hard",
        sign: r"((NMI )?watchdog: )?(CPU ?[0-9]+: )?Watchdog detected hard LOCKUP on cpu ?(?<cpu>[0-9]+)",
        says: "a processor hung with interrupts off",
        means: "A processor did not answer at all for ten seconds.",
        counts: Counts::Fail,
        act: "drain the host and reboot it; the lines after it name the module that was at work; when it returns on this host alone, look at the management controller's log",
        remedy: Remedy::Reset,
        sources: &[seen("Linux kernel: kernel/watchdog.c and watchdog_hld.c of 4.18 and 6.18", "2026-11-29")],
        samples: &[
            "[ 8123.1] NMI watchdog: Watchdog detected hard LOCKUP on cpu 17",
            "[ 8123.1] watchdog: CPU17: Watchdog detected hard LOCKUP on cpu 17",
        ],
        ..STALL
    },
    Cause {
        id: "stall.soft",
        sign: r"((NMI )?watchdog: )?BUG: soft lockup - CPU#(?<cpu>[0-9]+) stuck for (?<seconds>[0-9]+)s! \[",
        says: "a processor was busy in the kernel for long[, in the module {module}]",
        near: &[
            r"RIP: [0-9a-f]{4}:[^ +]+\+0x[0-9a-f/x]+ \[(?<module>[a-z0-9_]+)\]",
            r"^.*[ ?]([A-Za-z_][A-Za-z0-9_.]*)\+0x[0-9a-f]+/0x[0-9a-f]+ \[(?<module>[a-z0-9_]+)\]",
        ],
        means: "A processor ran in the kernel for more than twenty seconds without a pause.",
        worse: &[Worse { when: When::Times(10), counts: Counts::Fail }],
        sources: &[seen(
            "Linux kernel: kernel/watchdog.c; Documentation/admin-guide/lockup-watchdogs.rst",
            "2026-11-29",
        )],
        samples: &["[ 8123.1] watchdog: BUG: soft lockup - CPU#29 stuck for 22s! [python:14352]"],
        ..STALL
    },
    Cause {
        id: "stall.rcu",
        sign: r"(rcu: )?INFO: rcu_[a-z_]+ (self-)?detected (expedited )?stalls? on (CPU|tasks)",
        says: "RCU waited for a processor for long",
        means: "A processor or a program kept the kernel from tidying up.",
        sources: &[seen(
            "Linux kernel: Documentation/RCU/stallwarn.rst; kernel/rcu/tree_stall.h",
            "2026-11-29",
        )],
        samples: &[
            "[   88.408578] rcu: INFO: rcu_sched detected stalls on CPUs/tasks:",
            "[  850.962530] INFO: rcu_sched self-detected stall on CPU",
            "[  850.9] rcu: INFO: rcu_preempt detected expedited stalls on CPUs/tasks: { 3-... }",
            "[  850.9] INFO: rcu_tasks detected stalls on tasks:",
        ],
        ..STALL
    },
    Cause {
        id: "stall.rcu_starved",
        sign: r"rcu: rcu_[a-z_]+ kthread (starved for|timer wakeup didn't happen for) [0-9]+ jiffies!",
        says: "RCU got no time to run",
        means: "The kernel's own work got no processor.",
        sources: &[seen("Linux kernel: kernel/rcu/tree_stall.h", "2026-11-29")],
        samples: &[
            "[   88.4] rcu: rcu_sched kthread starved for 2602 jiffies! g2529 f0x0 RCU_GP_WAIT_FQS(5) ->state=0x402 ->cpu=1",
        ],
        ..STALL
    },
    Cause {
        id: "stall.workqueue",
        sign: r"BUG: workqueue lockup - pool .*stuck for (?<seconds>[0-9]+)s!",
        says: "work of the kernel waited for long",
        means: "Work that drivers put off was not done for half a minute or more.",
        sources: &[seen("Linux kernel: kernel/workqueue.c", "2026-11-29")],
        samples: &[
            "[  609.691437] BUG: workqueue lockup - pool cpus=10 node=1 flags=0x0 nice=-20 stuck for 35s!",
        ],
        ..STALL
    },
    Cause {
        id: "task.blocked",
        follows: &["trace.nfs", "trace.zfs", "trace.lustre", "trace.disk", "trace.nvidia"],
        check: "system.blocked_tasks",
        sign: r"INFO: task (?<name>{comm}):(?<pid>[0-9]+) blocked (in I/O wait )?for more than (?<seconds>[0-9]+) seconds\.",
        says: "processes were blocked",
        means: "A process waits in the kernel and cannot be ended.",
        act: "the line in the evidence names the process, and the stack behind it what it waits for (nfs, a disk, a GPU): mend that first; unless it goes away, only a reboot ends the process",
        remedy: Remedy::Reset,
        apart: &[
            Apart {
                beside: &["nfs.silent"],
                act: "look at the NFS server that does not answer: see kernel.disks",
            },
            Apart {
                beside: &[
                    "nvme.timeout",
                    "nvme.down",
                    "nvme.gone",
                    "disk.error",
                    "ata.error",
                    "disk.offline",
                ],
                act: "look at the disk first: see kernel.disks; unless it answers again, only a reboot ends the process",
            },
            Apart {
                beside: &["xid.off_the_bus", "nvidia.off_the_bus", "xid.gsp", "xid.grave"],
                act: "look at the GPU first: see gpu.xid; unless it answers again, only a reboot ends the process",
            },
        ],
        sources: &[seen(
            "Linux kernel: kernel/hung_task.c; Documentation/admin-guide/sysctl/kernel.rst",
            "2026-11-29",
        )],
        samples: &["[ 5512.000001] INFO: task python:55182 blocked for more than 120 seconds."],
        ..STALL
    },
];
