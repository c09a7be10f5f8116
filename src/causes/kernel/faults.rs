//! Faults of the kernel itself, and what it ran out of.

use super::super::cause::{Cause, Counts, ROW, Remedy, seen};

const FAULT: Cause = Cause {
    remedy: Remedy::Reset,
    check: "system.kernel_faults",
    says: "faults of the kernel itself[, in the module {module}]",
    near: &[
        r"RIP: [0-9a-f]{4}:[^ +]+\+0x[0-9a-f/x]+ \[(?<module>[a-z0-9_]+)\]",
        r"^.*[ ?]([A-Za-z_][A-Za-z0-9_.]*)\+0x[0-9a-f]+/0x[0-9a-f]+ \[(?<module>[a-z0-9_]+)\]",
    ],
    counts: Counts::Fail,
    act: "drain the host and reboot it; the lines after the one in the evidence name the module that was at work: update it, or report them to its maker",
    ..ROW
};

pub(in crate::causes) const ROWS: &[Cause] = &[
    Cause {
        id: "kernel.bad_address",
        sign: r"(BUG: unable to handle (kernel|page fault)|BUG: [Kk]ernel NULL pointer dereference|Unable to handle kernel (NULL pointer|paging request|access|execut|read|write|unknown|mm)|BUG: Unable to handle kernel|Kernel attempted to (read|write|execute) )",
        means: "The kernel reached for memory that is not there.",
        sources: &[seen(
            "Linux kernel: arch/x86/mm/fault.c of 4.18, 5.2 and 6.18; arch/arm64/mm/fault.c; arch/powerpc/mm/fault.c",
            "2026-11-29",
        )],
        samples: &[
            "[ 6512.000001] BUG: unable to handle page fault for address: ffffb2c04d3ff000",
            "<1>[  201.654822] BUG: unable to handle kernel NULL pointer dereference at           (null)",
            "[   71.1] BUG: kernel NULL pointer dereference, address: 0000000000000008",
            "[   71.1] Unable to handle kernel NULL pointer dereference at virtual address 0000000000000010",
        ],
        ..FAULT
    },
    Cause {
        id: "kernel.bug",
        sign: r"kernel BUG at [^ ]+:[0-9]+!",
        means: "The kernel found that something is so that must never be.",
        sources: &[seen("Linux kernel: lib/bug.c", "2026-11-29")],
        samples: &["[  912.4] kernel BUG at lib/list_debug.c:23!"],
        ..FAULT
    },
    Cause {
        id: "kernel.oops",
        sign: r"(Oops: ([A-Za-z0-9 ,-]+: )?[0-9a-f]{4} \[#[0-9]+\]|(general protection fault|invalid opcode|divide error|stack segment|segment not present|double fault|alignment check|control protection fault|int3|bounds)(, [a-z -]+ 0x[0-9a-f]+)?: [0-9a-f]{4} \[#[0-9]+\]|Internal error: [A-Za-z0-9 -]+(: [0-9a-f]+)? \[#[0-9]+\]|Oops: [A-Za-z -]+, sig: [0-9]+ \[#[0-9]+\])( (PREEMPT|SMP|DEBUG_PAGEALLOC|KASAN|PTI|NOPTI|LE|BE)|$)",
        means: "The kernel ended a program because of an error of its own, and went on.",
        sources: &[seen(
            "Linux kernel: arch/x86/kernel/dumpstack.c and traps.c of 4.18 and 6.18; arch/arm64/kernel/traps.c; arch/powerpc/kernel/traps.c",
            "2026-11-29",
        )],
        samples: &[
            "<4>[  201.670809] Oops: 0002 [#1] SMP",
            "[ 6512.000002] Oops: Oops: 0002 [#1] PREEMPT SMP NOPTI",
            "[ 5483.833251] Oops: general protection fault, probably for non-canonical address 0x134a05bd4da73752: 0000 [#1] SMP NOPTI",
            "[   77.1] general protection fault, probably for non-canonical address 0xdead000000000108: 0000 [#1] SMP NOPTI",
            "[   77.1] invalid opcode: 0000 [#1] SMP PTI",
            "[   77.1] Internal error: Oops: 96000004 [#1] SMP",
        ],
        ..FAULT
    },
    Cause {
        id: "kernel.panic",
        sign: r"Kernel panic - not syncing: ",
        follows: &["stall.hard", "stall.soft", "task.blocked"],
        says: "the kernel gave up",
        means: "The kernel stopped; the line says why.",
        sources: &[seen("Linux kernel: kernel/panic.c", "2026-11-29")],
        samples: &["[  100.1] Kernel panic - not syncing: Attempted to kill init! exitcode=0x0000000b"],
        ..FAULT
    },
    Cause {
        id: "kernel.bad_page",
        sign: r"BUG: (Bad page (state|map|cache) in process {comm}  ?(pfn|pte|pmd)|Bad rss-counter state|(KASAN|KFENCE): [a-z-]+ (read |write |in |out)|stack guard page was hit|(TASK|IRQ|NMI|#DF) stack guard page was hit|scheduling while atomic: {comm}/[0-9]+/0x)",
        means: "The kernel found its own memory or state damaged.",
        act: "drain the host and reboot it; when it returns, test its memory (`memtester 1G`, the firmware's own test), and update the module that the lines after it name",
        remedy: Remedy::Reset,
        sources: &[seen(
            "Linux kernel: mm/page_alloc.c, mm/memory.c, mm/kfence/report.c, kernel/sched/core.c",
            "2026-11-29",
        )],
        samples: &[
            "[  912.4] BUG: Bad page state in process python  pfn:17374e",
            "[  912.4] BUG: KFENCE: use-after-free read in free_object+0x1/0x2",
        ],
        ..FAULT
    },
    Cause {
        id: "kernel.serror",
        sign: r"SError Interrupt on CPU[0-9]+, code 0x[0-9a-f]+ -- SError",
        says: "an error of the hardware that belongs to no instruction (SError)",
        means: "An Arm processor was told of an error on its buses or in its memory.",
        act: "drain the host; the management controller's log and the lines of GHES beside it name the part",
        sources: &[seen("Linux kernel: arm64_serror_panic() in arch/arm64/kernel/traps.c", "2026-11-29")],
        samples: &["[  901.2] SError Interrupt on CPU4, code 0x00000000be000411 -- SError"],
        ..FAULT
    },
    Cause {
        id: "kernel.recursive",
        sign: r"Fixing recursive fault but reboot is needed!",
        means: "The kernel met a second fault while it dealt with the first.",
        sources: &[seen("Linux kernel: kernel/exit.c", "2026-11-29")],
        samples: &["[  912.9] Fixing recursive fault but reboot is needed!"],
        ..FAULT
    },
    Cause {
        id: "oom.host",
        check: "system.oom",
        sign: r"Out of memory: Kill(ed)? process (?<pid>[0-9]+)",
        says: "processes were killed for lack of memory",
        means: "The host had no memory left, and the kernel killed a process.",
        act: "look which process was killed; give jobs a memory limit in Slurm or in their container",
        sources: &[seen("Linux kernel: mm/oom_kill.c", "2026-11-29")],
        samples: &[
            "[ 4512.000001] Out of memory: Killed process 55182 (python) total-vm:912345678kB",
            "[ 4512.000001] Out of memory: Kill process 456 (python) score 50 or sacrifice child",
        ],
        ..ROW
    },
    Cause {
        id: "oom.none_left",
        check: "system.oom",
        sign: r"(Out of memory and no killable processes|System is deadlocked on memory)",
        says: "there was no process left to kill for memory",
        means: "The host had no memory left and nothing to end.",
        counts: Counts::Fail,
        act: "reboot the host; look what holds the memory (huge pages, tmpfs, a driver)",
        remedy: Remedy::Reset,
        sources: &[seen("Linux kernel: mm/oom_kill.c", "2026-11-29")],
        samples: &["[ 4512.1] Out of memory and no killable processes..."],
        ..ROW
    },
    Cause {
        id: "oom.group",
        check: "system.oom",
        sign: r"Memory cgroup out of memory: Kill(ed)? process (?<pid>[0-9]+)",
        says: "a process reached the memory limit of its job",
        means: "A job or a container reached its own limit; the host has memory.",
        counts: Counts::Note,
        act: "give the job more memory, or let it use less",
        remedy: Remedy::Settings,
        sources: &[seen("Linux kernel: mm/oom_kill.c", "2026-11-29")],
        samples: &[
            "[ 4512.000001] Memory cgroup out of memory: Killed process 123 (httpd) total-vm:1kB, anon-rss:1kB",
        ],
        ..ROW
    },
    Cause {
        id: "files.limit",
        check: "system.file_max",
        sign: r"VFS: file-max limit (?<limit>[0-9]+) reached",
        says: "files that could not be opened",
        means: "All programs together opened as many files as the kernel allows.",
        act: "`cat /proc/sys/fs/file-nr` says how many are open; mend the program that does not close them, or raise the limit by the resource `sysctl`",
        remedy: Remedy::Settings,
        sources: &[seen("Linux kernel: fs/file_table.c", "2026-11-29")],
        samples: &["[ 6512.000001] VFS: file-max limit 1000000 reached"],
        ..ROW
    },
];
