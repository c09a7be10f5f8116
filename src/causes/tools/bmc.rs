//! The event log of a BMC: kinds of events that name no part by themselves.

use super::super::cause::{Cause, Counts, Remedy, Role, Sure, TOOL, seen};

pub(in crate::causes) const ROWS: &[Cause] = &[
    Cause {
        id: "sel.memory_configuration",
        sign: r"(Memory[^|]*\| ?(Configuration Error|Memory Device Disabled|Parity|Memory Scrub Failed)|System Firmware Error[^|]*\| ?(No usable system memory|No system memory installed))[^|]*(\| ?Asserted|$)",
        says: "the firmware could not use memory modules",
        means: "It found them in the wrong places, of kinds that do not go together, not seated, or broken. The host has less memory, or does not start.",
        act: "compare the modules with the table of the board (places, kinds); reseat the named one, then try it in another place; change it only when the fault goes with it",
        remedy: Remedy::Settings,
        sure: Sure::Likely,
        sources: &[seen("https://github.com/ipmitool/ipmitool (include/ipmitool/ipmi_sel.h)", "2026-12-01")],
        samples: &[
            " 1 | 03/20/2021 | 00:58:40 | System Firmware Error #0x11 | No usable system memory | Asserted",
            "  2e | 12/14/22 | 23:09:44 CET | Memory #0x88 | Configuration Error | Asserted",
        ],
        ..TOOL
    },
    Cause {
        id: "sel.firmware_error",
        sign: r"System Firmware Error[^|]*\| ?(Unrecoverable [^|]*|BIOS corruption detected|CPU (voltage|speed) mismatch[^|]*|Unknown Error)[^|]*(\| ?Asserted|$)",
        says: "the firmware stopped at the start of the host",
        means: "The words name what it stopped at. A card, a disk or a setting is the cause as often as the board.",
        act: "look at the screen of the BMC at the start; take out what was added last, load the defaults of the firmware setup, update BIOS and BMC; then support",
        remedy: Remedy::Settings,
        sure: Sure::Guess,
        sources: &[seen("https://github.com/ipmitool/ipmitool (include/ipmitool/ipmi_sel.h)", "2026-12-01")],
        samples: &[
            "  3a | 12/14/22 | 23:09:44 CET | System Firmware Error #0x88 | Unrecoverable system-board failure | Asserted",
        ],
        ..TOOL
    },
    Cause {
        id: "sel.pcie_corrected",
        sign: r"Critical Interrupt[^|]*\| ?(Bus Correctable error|Bus Degraded)[^|]*(\| ?Asserted|$)",
        says: "PCIe errors were corrected, or a link runs slower",
        means: "Single ones harm nothing. Many of one device come from a seat, a riser, a cable or power management of the link, and precede worse ones.",
        counts: Counts::Warn,
        act: "`journalctl -k | grep -i aer` names the device; when a device drops out at the same time, drain the host and reseat it and its riser; else watch it",
        sure: Sure::Likely,
        sources: &[
            seen("https://github.com/ipmitool/ipmitool (include/ipmitool/ipmi_sel.h)", "2026-12-01"),
            seen("https://github.com/illinois-scicomp/machine-shop-maintenance/issues/76", "2024-04-14"),
        ],
        samples: &[
            "  6a | 04/12/2024 | 03:27:29 PM CDT | Critical Interrupt | Bus Correctable error () | Asserted",
        ],
        ..TOOL
    },
    Cause {
        id: "sel.power_unit",
        sign: r"Power Unit[^|]*\| ?(Failure detected|Predictive failure|Soft-power control failure|240VA power down|Interlock power down)[^|]*(\| ?Asserted|$)",
        says: "the power of the host failed or was switched off for safety",
        means: "A supply, the board that spreads its power, or a load that took too much.",
        act: r#"`ipmitool sdr type "Power Supply"` and the inputs first; then what was changed last (cards, cables, a chassis that is open); support when it comes again"#,
        sure: Sure::Guess,
        sources: &[seen("https://github.com/ipmitool/ipmitool (include/ipmitool/ipmi_sel.h)", "2026-12-01")],
        samples: &["  3a | 12/14/22 | 23:09:44 CET | Power Unit #0x88 | Failure detected | Asserted"],
        ..TOOL
    },
    Cause {
        id: "sel.power_limit",
        sign: r"(Module / Board|Power Unit|Current|Other Units-based Sensor|Power Meter)[^|]*\| ?Upper (Non-critical|Critical|Non-recoverable) going high[^|]*(\| ?Asserted|$)",
        says: "a reading of the board rose above its limit",
        means: "Mostly power or current of a board under full load. The words before name the sensor.",
        counts: Counts::Warn,
        act: "`ipmitool sensor get NAME` for the reading and its limits; look at power caps, at the inputs (all supplies on), and at the air; no part is named by this",
        sure: Sure::Guess,
        sources: &[seen("https://sanecz.net/blog/post-3", "2024-12-03")],
        samples: &[
            "575 | 12/03/2024 | 11:27:10 | Module / Board PWR_GB1_TOT_HSC | Upper Critical going high | Asserted",
        ],
        ..TOOL
    },
    Cause {
        id: "sel.threshold_low",
        sign: r"(Temperature|Fan|Voltage)[^|]*\| ?(Lower Non-critical going low|Upper Non-critical going high|Predictive Failure Asserted)[^|]*(\| ?Asserted|$)",
        says: "a reading is near its limit",
        means: "It is no fault yet: a warm room, a fan that slows, a voltage at the edge.",
        counts: Counts::Warn,
        act: "look at `ipmitool sdr` now and at like hosts; a fan or voltage that goes on is to be changed at a maintenance",
        sure: Sure::Likely,
        sources: &[seen("https://github.com/ipmitool/ipmitool (include/ipmitool/ipmi_sel.h)", "2026-12-01")],
        samples: &[
            "  3a | 12/14/22 | 23:09:44 CET | Temperature #0x88 | Upper Non-critical going high | Asserted",
        ],
        ..TOOL
    },
    Cause {
        id: "sel.voltage",
        sign: r"Voltage[^|]*\| ?(Lower (Critical|Non-recoverable) going low|Upper (Critical|Non-recoverable) going high|Limit Exceeded)[^|]*(\| ?Asserted|$)",
        says: "a voltage of the board left its limits",
        means: "A supply, a regulator of the board, or a battery (VBAT) is weak.",
        act: "`ipmitool sdr type Voltage`: for VBAT change the battery of the board; for a rail of a supply look at the supplies; else support",
        sure: Sure::Guess,
        sources: &[seen("https://github.com/ipmitool/ipmitool (include/ipmitool/ipmi_sel.h)", "2026-12-01")],
        samples: &["  3a | 12/14/22 | 23:09:44 CET | Voltage #0x88 | Lower Critical going low | Asserted"],
        ..TOOL
    },
    Cause {
        id: "sel.battery",
        sign: r"\| ?Battery[^|]*\| ?(Low|Failed)[^|]*(\| ?Asserted|$)",
        says: "the battery of the board or of a controller is weak",
        means: "The board loses its clock and settings without power; a RAID controller stops to hold writes back.",
        counts: Counts::Warn,
        act: "`ipmitool sdr type Battery` names it; plan its change",
        remedy: Remedy::Replace,
        sure: Sure::Likely,
        sources: &[seen("https://github.com/ipmitool/ipmitool (include/ipmitool/ipmi_sel.h)", "2026-12-01")],
        samples: &["  3a | 12/14/22 | 23:09:44 CET | Battery #0x88 | Low | Asserted"],
        ..TOOL
    },
    Cause {
        id: "sel.watchdog",
        sign: r"Watchdog ?[12]?[^|]*\| ?(Hard reset|Power down|Power cycle|Timer expired|OS (Reset|Power Cycle|Power Down|Expired)|BIOS Reset)[^|]*(\| ?Asserted|$)",
        says: "the watchdog of the BMC ended or restarted the host",
        means: "The system did not answer it in time: a hang, a crash, or a start that took longer than the watchdog waits.",
        role: Role::Effect,
        act: "look for the reason before it: `journalctl -b -1 -e`, /var/crash, other events of this log; `ipmitool mc watchdog get` shows who set it",
        sure: Sure::Likely,
        sources: &[seen("https://github.com/ipmitool/ipmitool (include/ipmitool/ipmi_sel.h)", "2026-12-01")],
        samples: &["  3a | 12/14/22 | 23:09:44 CET | Watchdog2 #0x88 | Hard reset | Asserted"],
        ..TOOL
    },
    Cause {
        id: "sel.boot_error",
        sign: r"Boot Error[^|]*\| ?(No bootable media|Non-bootable disk[^|]*|PXE server not found|Invalid boot sector)[^|]*(\| ?Asserted|$)",
        says: "the firmware found nothing to boot",
        means: "The order of boot devices, a disk that is not seen, or a PXE server that does not answer.",
        act: "look at the boot order in the firmware setup, whether the disk is listed there, and at DHCP and TFTP for PXE",
        remedy: Remedy::Settings,
        sure: Sure::Likely,
        sources: &[seen("https://github.com/ipmitool/ipmitool (include/ipmitool/ipmi_sel.h)", "2026-12-01")],
        samples: &["  3a | 12/14/22 | 23:09:44 CET | Boot Error #0x88 | No bootable media | Asserted"],
        ..TOOL
    },
    Cause {
        id: "sel.os_stop",
        sign: r"OS Stop/Shutdown[^|]*\| ?(Run-time critical stop|Error during system startup)[^|]*(\| ?Asserted|$)",
        says: "the operating system told the BMC that it crashed",
        means: "A panic of the kernel mostly.",
        role: Role::Effect,
        act: "`journalctl -b -1 -e`, /var/crash and pstore have the reason",
        sure: Sure::Likely,
        sources: &[seen("https://github.com/ipmitool/ipmitool (include/ipmitool/ipmi_sel.h)", "2026-12-01")],
        samples: &[
            "  3a | 12/14/22 | 23:09:44 CET | OS Stop/Shutdown #0x88 | Run-time critical stop | Asserted",
        ],
        ..TOOL
    },
    Cause {
        id: "sel.cable",
        sign: r"(Cable ?/ ?Interconnect|Slot / Connector)[^|]*\| ?(Config Error|Fault Status|Slot Power is Off)[^|]*(\| ?Asserted|$)",
        says: "a cable or a slot reports a fault",
        means: "It is not plugged, plugged in the wrong place, or its slot is switched off.",
        act: "look at the named cable or slot and seat it again with the host off",
        remedy: Remedy::Settings,
        sure: Sure::Guess,
        sources: &[seen("https://github.com/ipmitool/ipmitool (include/ipmitool/ipmi_sel.h)", "2026-12-01")],
        samples: &["  3a | 12/14/22 | 23:09:44 CET | Cable / Interconnect #0x88 | Config Error | Asserted"],
        ..TOOL
    },
    Cause {
        id: "sel.bmc_itself",
        sign: r"Management Subsystem Health[^|]*\| ?(Sensor (access|failure)[^|]*|Controller [^|]*|Management controller [^|]*|FRU failure)[^|]*(\| ?Asserted|$)",
        says: "the BMC does not reach a part of its own",
        means: "Readings are missing. The host may be well.",
        counts: Counts::Warn,
        act: "`ipmitool mc reset cold` restarts the BMC alone, without the host; then update its firmware",
        remedy: Remedy::Reset,
        sure: Sure::Guess,
        sources: &[seen("https://github.com/ipmitool/ipmitool (include/ipmitool/ipmi_sel.h)", "2026-12-01")],
        samples: &[
            "  3a | 12/14/22 | 23:09:44 CET | Management Subsystem Health #0x88 | Sensor failure | Asserted",
        ],
        ..TOOL
    },
    Cause {
        id: "sel.processor_corrected",
        sign: r"Processor[^|]*\| ?(Correctable machine check error|Throttled)[^|]*(\| ?Asserted|$)",
        says: "a processor corrected an error, or ran slower",
        means: "Slower means heat or a limit of power. A corrected error is harmless alone.",
        counts: Counts::Warn,
        act: "look at temperatures and power caps; count corrected errors by `ras-mc-ctl --errors`, and plan a visit of support when they grow",
        sure: Sure::Likely,
        sources: &[seen("https://github.com/ipmitool/ipmitool (include/ipmitool/ipmi_sel.h)", "2026-12-01")],
        samples: &["  3a | 12/14/22 | 23:09:44 CET | Processor #0x88 | Throttled | Asserted"],
        ..TOOL
    },
    Cause {
        id: "sel.version",
        sign: r"Version Change[^|]*\| ?(Hardware incompatibility|Firmware or software incompatibility|Invalid or unsupported (hardware|firmware))[^|]*[^|]*(\| ?Asserted|$)",
        says: "firmware of two parts does not go together",
        means: "One of BIOS, BMC, CPLD or a board was updated without the others.",
        act: "bring all of them to one release of the vendor",
        remedy: Remedy::Install,
        sure: Sure::Likely,
        sources: &[seen("https://github.com/ipmitool/ipmitool (include/ipmitool/ipmi_sel.h)", "2026-12-01")],
        samples: &[
            "  3a | 12/14/22 | 23:09:44 CET | Version Change #0x88 | Firmware or software incompatibility detected | Asserted",
        ],
        ..TOOL
    },
    Cause {
        id: "sel.progress",
        sign: r"(\| ?System Firmware Error[^|]*\| ?(Memory initialization|PCI resource configuration|Option ROM initialization|Video initialization|Motherboard initialization|System boot initiated|Primary CPU initialization|Secondary CPU Initialization|[A-Z][A-Za-z -]* initialization)|\| ?Version Change[^|]*\| ?(Hardware change|Firmware or software change) (detected|success)|\| ?System Event[^|]*\| ?(Timestamp Clock Sync|OEM System boot event|System Reconfigured|PEF Action)|\| ?(Entity Presence|FRU State)[^|]*\| ?(Present|Active|Activation [A-Za-z ]+)|\| ?OS Stop/Shutdown[^|]*\| ?OS graceful)",
        says: "the event log has lines of a normal start or stop",
        means: "Such lines tell what the firmware came to.",
        counts: Counts::Note,
        act: "nothing",
        sure: Sure::Confirmed,
        sources: &[seen("https://github.com/ipmitool/ipmitool (include/ipmitool/ipmi_sel.h)", "2026-12-01")],
        samples: &[
            "  3a | 12/14/22 | 23:09:44 CET | System Firmware Error #0x88 | PCI resource configuration | Asserted",
        ],
        ..TOOL
    },
    Cause {
        id: "sel.pmic",
        sign: r"Sensor: PMIC_ERR[^,]*, Event Data: \(\w+\) DIMM (?<dimm>\w+) (?<what>[A-Za-z0-9 ]+?) Assertion",
        says: "the power part of the memory module {dimm} warns: {what}",
        means: "Modules of DDR5 make their own voltages, and tell the BMC of heat and of limits.",
        counts: Counts::Warn,
        act: "look at the air over the modules first; when one place tells it again and again, change that module at a maintenance",
        sure: Sure::Guess,
        sources: &[seen("https://github.com/facebook/OpenBIC/pull/631", "2026-12-01")],
        samples: &[
            "1    slot1    2018-03-10 02:48:02    ipmid            SEL Entry: FRU: 1, Record: Standard (0x02), Time: 2018-03-10 02:48:02, Sensor: PMIC_ERR (0xB4), Event Data: (000C00) DIMM A0 High temp warning Assertion",
        ],
        ..TOOL
    },
];
