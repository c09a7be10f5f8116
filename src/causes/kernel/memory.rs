//! Processors and memory: machine checks, corrected and lost memory, heat.

use super::super::cause::{Cause, Counts, ROW, Remedy, When, Worse, seen};

const RAS: &str = "Linux kernel: Documentation/admin-guide/RAS/main.rst";
const MODULE: &str = "`ras-mc-ctl --errors` or the management controller says which module it was: reseat it, and replace it when errors go on";

const FAULT: Cause =
    Cause { remedy: Remedy::Reset, check: "system.mce", counts: Counts::Fail, act: MODULE, ..ROW };
const SPEED: Cause = Cause { check: "kernel.processors", counts: Counts::Warn, ..ROW };

pub(in crate::causes) const ROWS: &[Cause] = &[
    Cause {
        id: "mce.uncorrected",
        sign: r"(mce: )?\[Hardware Error\]: (CPU [0-9]+: Machine Check( Exception)?: [0-9a-f]+ Bank [0-9]+: [2367abef][0-9a-f]{15}|Machine check: (Processor context corrupt|Data load in unrecoverable area of kernel|Instruction fetch error in kernel|Action required)|Uncorrected, )",
        says: "an uncorrected machine check",
        means: "A processor or its memory lost data.",
        act: "drain the host; the bank and the address of the line, `ras-mc-ctl --errors` or the management controller say which part it was",
        sources: &[seen(
            "Linux kernel: arch/x86/kernel/cpu/mce/core.c (bit 61 of the status is UC) and severity.c",
            "2026-11-29",
        )],
        samples: &[
            "[  512.000002] mce: [Hardware Error]: CPU 12: Machine Check Exception: 5 Bank 7: be00000000800400",
            "[  512.000002] [Hardware Error]: Uncorrected, software restartable error.",
            "[  512.000003] mce: [Hardware Error]: Machine check: Data load in unrecoverable area of kernel",
        ],
        ..FAULT
    },
    Cause {
        id: "mce.corrected",
        sign: r"(mce: )?\[Hardware Error\]: (CPU [0-9]+: Machine Check( Exception)?: [0-9a-f]+ Bank [0-9]+: [0-9a-f]{16}|Corrected error, no action required|Deferred error)",
        says: "a corrected machine check",
        means: "A processor or its memory mended an error by itself.",
        counts: Counts::Warn,
        act: "when it returns, `ras-mc-ctl --errors` or the management controller says which part it is",
        sources: &[seen(
            "Linux kernel: drivers/edac/mce_amd.c; arch/x86/kernel/cpu/mce/core.c",
            "2026-11-29",
        )],
        samples: &[
            "[  512.000002] mce: [Hardware Error]: CPU 3: Machine Check: 0 Bank 7: cc00008000010090",
            "[  512.000002] [Hardware Error]: Corrected error, no action required.",
        ],
        ..FAULT
    },
    Cause {
        id: "mce.logged",
        sign: r"(mce: )?(\[Hardware Error\]: )?Machine check events logged",
        follows: &[
            "edac.corrected",
            "edac.uncorrected",
            "mce.uncorrected",
            "mce.corrected",
            "mce.ras_corrected",
        ],
        remedy: Remedy::Look,
        says: "a machine check",
        means: "A machine check was logged; lines beside it, or the logs of rasdaemon and of the management controller, say whether it was corrected.",
        counts: Counts::Warn,
        act: "`ras-mc-ctl --errors`, `journalctl -u rasdaemon` or the management controller says what it was and whether it was corrected",
        sources: &[seen(RAS, "2026-11-29")],
        samples: &["[  512.000001] mce: [Hardware Error]: Machine check events logged"],
        ..FAULT
    },
    Cause {
        id: "mce.memory",
        sign: r"(mce: Uncorrected hardware memory error|MCE: Killing {comm}:[0-9]+ due to hardware memory corruption|Kernel panic - not syncing: (Fatal|Timeout: Not all CPUs entered broadcast exception handler|Uncorrected) )",
        says: "lost memory",
        means: "A program or the kernel read memory whose contents are lost.",
        sources: &[seen("Linux kernel: arch/x86/kernel/cpu/mce/core.c", "2026-11-29")],
        samples: &[
            "[34775.674296] mce: Uncorrected hardware memory error in user-access at 3710b3400",
            "[  100.1] Kernel panic - not syncing: Fatal machine check",
        ],
        ..FAULT
    },
    Cause {
        id: "ghes.corrected",
        sign: r"([{][0-9]+[}])?\[Hardware Error\]: event severity: (corrected|info)",
        says: "an error that the firmware corrected",
        means: "The firmware reports an error that was mended.",
        counts: Counts::Note,
        worse: &[Worse { when: When::Times(10), counts: Counts::Warn }],
        act: "the lines after it name the part (memory, PCIe, processor); when it goes on, look at that part",
        sources: &[seen("Linux kernel: drivers/firmware/efi/cper.c; drivers/acpi/apei/ghes.c", "2026-11-29")],
        samples: &["[  375.938418] {2}[Hardware Error]: event severity: corrected"],
        ..FAULT
    },
    Cause {
        id: "ghes.uncorrected",
        sign: r"[{][0-9]+[}]\[Hardware Error\]: event severity: (recoverable|fatal|uncorrected)",
        says: "an error that the firmware could not correct",
        means: "The firmware reports an error that cost data.",
        act: "drain the host; the lines after it name the part (memory, PCIe, processor), and the management controller's log the slot",
        sources: &[seen("Linux kernel: drivers/firmware/efi/cper.c; drivers/acpi/apei/ghes.c", "2026-11-29")],
        samples: &["[  387.748837] {1}[Hardware Error]: event severity: recoverable"],
        ..FAULT
    },
    Cause {
        id: "bert.uncorrected",
        sign: r"\[Hardware Error\]: event severity: (recoverable|fatal)",
        says: "the boot before ended by a hardware error",
        means: "The firmware kept the error that ended the boot before.",
        counts: Counts::Warn,
        act: "the lines after it name the part (memory, PCIe, processor), and the management controller's log the slot; some boards say so at each boot for nothing",
        sources: &[seen("Linux kernel: drivers/acpi/apei/bert.c", "2026-11-29")],
        samples: &["[    2.1] [Hardware Error]: event severity: fatal"],
        ..FAULT
    },
    Cause {
        id: "edac.uncorrected",
        sign: r"EDAC (?<device>[A-Za-z]+#?[0-9]+): ([0-9]+ )?UE ([^\[]* )?on ",
        says: "memory lost data",
        means: "The memory controller could not correct an error.",
        sources: &[seen(RAS, "2026-11-29")],
        samples: &[
            "[   10.029515] EDAC MC0: 1 UE memory read error on CPU_SrcID#0_MC#0_Chan#1_DIMM#0 (channel:1 slot:0 page:0x0)",
        ],
        ..FAULT
    },
    Cause {
        id: "edac.flood",
        sign: r"EDAC (?<device>[A-Za-z]+#?[0-9]+): (?<count>[0-9]{3,}) CE ([^\[]* )?on ",
        says: "a flood of corrected memory errors",
        means: "A memory module has so many errors that it soon has one that cannot be corrected, and it is slow.",
        counts: Counts::Warn,
        act: "replace the module that the line names at the next maintenance; `ras-mc-ctl --errors` has its slot",
        remedy: Remedy::Replace,
        sources: &[seen("Linux kernel: drivers/edac/edac_mc.c", "2026-11-29")],
        samples: &[
            "Nov  3 17:40:22 gpu0 kernel: EDAC MC0: 29589 CE memory read error on CPU_SrcID#0_Ha#0_Chan#0_DIMM#1 (channel:0 slot:1 page:0x17374e offset:0x0 grain:32 syndrome:0x0 -  OVERFLOW area:DRAM)",
        ],
        ..FAULT
    },
    Cause {
        id: "edac.corrected",
        sign: r"EDAC (?<device>[A-Za-z]+#?[0-9]+): ([0-9]+ )?CE ([^\[]* )?on ",
        says: "corrected memory errors",
        means: "The memory controller corrected an error.",
        counts: Counts::Warn,
        act: "watch it: a module whose errors go on is replaced at the next maintenance; `ras-mc-ctl --errors` has its slot",
        sources: &[seen("Linux kernel: drivers/edac/edac_mc.c", "2026-11-29")],
        samples: &[
            "[22716.616173] EDAC MC3: 1 CE memory read error on CPU_SrcID#0_Channel#0_DIMM#0 (channel:0 slot:0 page:0x12345 offset:0x0 grain:32 syndrome:0x0)",
            "[  412.1] EDAC MC1: 1 CE on mc#1csrow#2channel#1 (csrow:2 channel:1 page:0x12345 offset:0xfc0 grain:64 syndrome:0x4020)",
        ],
        ..FAULT
    },
    Cause {
        id: "mce.storm",
        sign: r"((mce: )?CMCI storm detected: |CPU[0-9]+ BANK[0-9]+ CMCI storm detected)",
        says: "so many corrected errors that they are no longer counted one by one",
        means: "A processor or its memory corrects so many errors that the kernel only looks now and then.",
        counts: Counts::Warn,
        act: "`ras-mc-ctl --errors` or the management controller says which part it is; plan a look at it at the next maintenance",
        remedy: Remedy::Replace,
        sources: &[seen(
            "Linux kernel: arch/x86/kernel/cpu/mce/intel.c of 4.18; threshold.c of 6.9 and later",
            "2026-11-29",
        )],
        samples: &[
            "[ 6011.1] mce: CMCI storm detected: switching to poll mode",
            "[ 6011.1] CPU3 BANK7 CMCI storm detected",
        ],
        ..FAULT
    },
    Cause {
        id: "memory.offline",
        sign: r"(Memory failure: 0x[0-9a-f]+: (recovery action for |Killing |Sending SIGBUS to |already hardware poisoned)|soft.offline: 0x[0-9a-f]+: |(RAS: )?Soft.offlining (pfn|page)[: ])",
        says: "a page of memory was taken out of use",
        means: "Memory lost data or is about to; the kernel does not use that page any more.",
        counts: Counts::Warn,
        worse: &[Worse {
            when: When::Beside(&["mce.uncorrected", "mce.memory", "ghes.uncorrected", "edac.uncorrected"]),
            counts: Counts::Fail,
        }],
        sources: &[seen("Linux kernel: mm/memory-failure.c", "2026-11-29")],
        samples: &[
            "[34775.675413] Memory failure: 0x3710b3: recovery action for dirty LRU page: Recovered",
            "[34776.1] RAS: Soft-offlining pfn: 0x17c08ac",
        ],
        ..FAULT
    },
    Cause {
        id: "nmi.unknown",
        sign: r"(NMI: (PCI system error|IOCK error)|Uhhuh\. NMI received for unknown reason )",
        says: "an NMI for which the kernel has no reason",
        means: "The hardware reported an error that the kernel cannot name: PCIe, memory or a watchdog of the board.",
        counts: Counts::Warn,
        act: "the management controller's log has the error",
        sources: &[seen("Linux kernel: arch/x86/kernel/nmi.c", "2026-11-29")],
        samples: &[
            "[ 8123.1] Uhhuh. NMI received for unknown reason 3c on CPU 0.",
            "[ 9.1] NMI: PCI system error (SERR) for reason a1 on CPU 0.",
        ],
        ..FAULT
    },
    Cause {
        id: "cpu.throttled",
        sign: r"(mce: )?(?<device>CPU[0-9]+): (Core|Package) temperature above threshold, cpu clock throttled",
        says: "slowed down by heat",
        means: "A processor got too hot and was slowed down.",
        act: "look at fans, air flow and the inlet temperature; the management controller shows the sensors",
        ended_by: &["cpu.cooled"],
        sources: &[seen(
            "Linux kernel: arch/x86/kernel/cpu/mce/therm_throt.c, now drivers/thermal/intel/therm_throt.c",
            "2026-11-29",
        )],
        samples: &[
            "[77852.398974] mce: CPU7: Package temperature above threshold, cpu clock throttled (total events = 144933)",
            "[77852.398974] CPU7: Core temperature above threshold, cpu clock throttled (total events = 1)",
        ],
        ..SPEED
    },
    Cause {
        id: "cpu.cooled",
        sign: r"(mce: )?(?<device>CPU[0-9]+): (Core|Package) temperature/speed normal",
        says: "is cool again",
        means: "A processor runs at its speed again.",
        counts: Counts::Note,
        sources: &[seen("Linux kernel: drivers/thermal/intel/therm_throt.c", "2026-11-29")],
        samples: &["[77853.398974] mce: CPU7: Package temperature/speed normal"],
        ..SPEED
    },
    Cause {
        id: "thermal.critical",
        sign: r"thermal (?<device>thermal_zone[0-9]+): .*critical temperature reached",
        says: "critical temperature",
        means: "A sensor reached the temperature at which the host switches itself off.",
        counts: Counts::Fail,
        act: "look at fans, air flow and the inlet temperature before the host gets jobs again",
        sources: &[seen("Linux kernel: drivers/thermal/thermal_core.c", "2026-11-29")],
        samples: &["[ 4713.1] thermal thermal_zone0: acpitz: critical temperature reached, shutting down"],
        ..SPEED
    },
    Cause {
        id: "cpu.microcode",
        sign: r"microcode: ((?<device>CPU[0-9]+):? update (to revision 0x[0-9a-f]+ )?failed|Error reloading microcode on CPU )",
        says: "microcode was not updated",
        means: "A processor refused its microcode.",
        act: "install the distribution's microcode package (intel-microcode, amd64-microcode) or newer firmware, and reboot",
        remedy: Remedy::Install,
        sources: &[seen(
            "Linux kernel: apply_microcode_intel() and apply_microcode_amd() in arch/x86/kernel/cpu/microcode/intel.c and amd.c, reload_store() in core.c, of 4.18 and 6.18",
            "2026-11-29",
        )],
        samples: &[
            "[ 61.2] microcode: CPU0 update to revision 0x2b000111 failed",
            "[    1.3] microcode: CPU0: update failed for patch_level=0x0a001137",
        ],
        ..SPEED
    },
    Cause {
        id: "cpu.clocksource",
        sign: r"clocksource: timekeeping watchdog on CPU[0-9]+: (Marking clocksource 'tsc' as unstable|wd-tsc-wd (excessive )?read-back delay .*marking (tsc )?unstable|tsc read-back delay of .*, marking unstable)",
        says: "the clock of the processors is not used",
        means: "The kernel found that the processors' clock (TSC) is not steady, and took a slow one: each look at the time costs a microsecond.",
        act: "update the firmware; where it is known to be steady, boot with `tsc=reliable`",
        remedy: Remedy::Install,
        sources: &[seen(
            "Linux kernel: cs_watchdog_read() in kernel/time/clocksource.c of 5.13, 5.18 and 6.18",
            "2026-11-29",
        )],
        samples: &[
            "[ 1021.1] clocksource: timekeeping watchdog on CPU3: Marking clocksource 'tsc' as unstable because the skew is too large:",
            "[   12.1] clocksource: timekeeping watchdog on CPU13: wd-tsc-wd excessive read-back delay of 1000614ns vs. limit of 125000ns, wd-wd read-back delay only 27ns, attempt 3, marking tsc unstable",
            "[   12.1] clocksource: timekeeping watchdog on CPU13: wd-tsc-wd read-back delay 1000614ns, attempt 3, marking unstable",
        ],
        ..SPEED
    },
];
