//! Firmware: the event log of the BMC, ipmitool, Redfish, and NVIDIA's tools for the firmware of cards.

use super::super::cause::{Cause, Counts, Remedy, Role, Sure, TOOL, seen};

const SEL: Cause = Cause {
    sources: &[seen("https://github.com/ipmitool/ipmitool (include/ipmitool/ipmi_sel.h)", "2026-11-30")],
    ..TOOL
};
const IPMI: Cause = Cause {
    remedy: Remedy::Settings,
    sources: &[seen("https://github.com/ipmitool/ipmitool (src/plugins)", "2026-11-30")],
    ..TOOL
};
const MFT: Cause = Cause {
    sources: &[
        seen("https://github.com/Mellanox/mstflint (flint, mlxfwops, mlxconfig, 2026-05-13)", "2026-11-30"),
        seen("https://docs.nvidia.com/networking/display/mftv4320", "2026-11-30"),
    ],
    ..TOOL
};

pub(in crate::causes) const ROWS: &[Cause] = &[
    // The event log.
    Cause {
        id: "sel.dimm",
        sign: r"Uncorrectable ECC.*@ ?(?<dimm>[A-Z0-9-]*DIMM[A-Z0-9]*)|DIMM Failure - Uncorrectable Memory Error \((?<place>[^)]*)\)|Uncorrectable Memory Error.*\((?<where>[^)]*DIMM[^)]*)\)|([Mm]ulti-bit|[Uu]ncorrectable) memory errors?.* (?<slot>DIMM[_ ]?[A-Z0-9]+)",
        says: "the DIMM [{dimm}][{place}][{where}][{slot}] has uncorrectable errors",
        means: "The memory module is broken. The machine stops or reboots when that memory is touched; firmware may leave it out, so that the host runs with less memory.",
        act: "drain the host, take out or replace the named DIMM, then clear the log and run a memory test; until then lower the memory that the scheduler expects",
        remedy: Remedy::Replace,
        sure: Sure::Confirmed,
        sources: &[
            seen("https://github.com/openstreetmap/operations/issues/1364", "2026-05-16"),
            seen("https://github.com/openstreetmap/operations/issues/1182", "2024-11-15"),
        ],
        samples: &[
            "Uncorrectable ECC / other uncorrectable memory error @P2-DIMMH2(CPU2) - Assertion",
            "DIMM Failure - Uncorrectable Memory Error (Processor 2, DIMM 3)",
        ],
        ..SEL
    },
    Cause {
        id: "sel.dimm_repaired",
        sign: "Memory Error, Post Package Repair success|Post Package Repair.*(?:success|completed|passed)",
        says: "the firmware repaired a memory module (Post Package Repair)",
        means: "It took spare rows of the module in place of the bad ones at the last start.",
        counts: Counts::Warn,
        act: "keep the host and watch the log; a module is changed only when errors of it come again after the repair",
        sure: Sure::Likely,
        sources: &[seen("https://www.supermicro.com (BIOS OEM Memory Event in the SEL)", "2025-06-26")],
        samples: &[
            "2025-06-26 22:04:05 | BIOS OEM Memory Event | [BIOS-0066] Memory Error, Post Package Repair success. - Assertion | Sensor-specific",
        ],
        ..TOOL
    },
    Cause {
        id: "sel.dimm_corrected",
        sign: r"Memory Error, Failing DIMM: DIMM location \(Correctable memory component found\)\. \((?<dimm>[^)]+)\)",
        says: "the memory module {dimm} has errors that were corrected",
        means: "The firmware found memory cells that give wrong bits, and corrected them.",
        counts: Counts::Warn,
        act: "keep the host and watch the log; where Post Package Repair is told beside it, the firmware repaired the module; one whose errors come again after it is to be changed at a maintenance",
        sure: Sure::Likely,
        sources: &[seen("https://www.supermicro.com (BIOS OEM Memory Event in the SEL)", "2025-06-26")],
        samples: &[
            "2025-06-26 22:04:05 | BIOS OEM Memory Event | [BIOS-0057] Memory Error, Failing DIMM: DIMM location (Correctable memory component found). (P1-DIMMG1) - Assertion | Sensor-specific",
        ],
        ..TOOL
    },
    Cause {
        id: "sel.memory_uncorrectable",
        sign: r"\| ?Memory[^|]*\|[^|]*Uncorrectable ECC[^|]*(\| ?Asserted|$)|Memory.*Uncorrectable ECC.*Assert",
        near: &[r"Uncorrectable ECC \((?<dimm>[A-Z0-9_-]+)\)", "(?<dimm>(P[0-9]-)?DIMM[_ ]?[A-Z0-9]+)"],
        says: "the BMC logged an uncorrectable memory error[ ({dimm})]",
        means: "A DIMM gave data that could not be corrected.",
        act: "drain the host; `ipmitool sel elist` and the BMC's page name the DIMM; replace it when it comes again or the vendor's limit is reached",
        remedy: Remedy::Replace,
        samples: &["   4 | 05/16/2026 | 10:10:10 | Memory #0x53 | Uncorrectable ECC | Asserted"],
        ..SEL
    },
    Cause {
        id: "sel.memory_limit",
        sign: r"Correctable ECC logging limit reached[^|]*(\| ?Asserted|$)|(Corrected|Correctable) Memory Error threshold exceeded|[Cc]orrectable memory error rate exceeded for (?<slot>DIMM[_ ]?[A-Z0-9]+)",
        near: &["(?<dimm>(P[0-9]-)?DIMM[_ ]?[A-Z0-9]+)"],
        says: "a DIMM corrects many errors[ ({slot})][ ({dimm})]",
        means: "Errors are corrected still, and often precede uncorrectable ones.",
        counts: Counts::Warn,
        act: "plan a drain of the host, reseat the DIMM and let the firmware's memory test run; replace it when it comes again",
        samples: &[
            "   7 | 05/16/2026 | 11:02:00 | Memory #0x87 | Correctable ECC logging limit reached | Asserted",
        ],
        ..SEL
    },
    Cause {
        id: "sel.memory_correctable",
        sign: r"\| ?Memory[^|]*\| ?Correctable ECC( \((?<dimm>[^)]*)\))?[^|]*\| ?Asserted",
        says: "a memory error was corrected[ ({dimm})]",
        means: "A single corrected error harms nothing. Many of one DIMM precede worse ones.",
        counts: Counts::Note,
        act: "count them by DIMM: `ipmitool sel elist | grep -c 'Correctable ECC'`; plan a change of a DIMM with hundreds",
        sources: &[seen("https://github.com/ipmitool/ipmitool/issues/385", "2022-12-16")],
        samples: &["  3a | 12/14/22 | 23:09:44 CET | Memory #0x88 | Correctable ECC (CPU0_G1) | Asserted"],
        ..SEL
    },
    Cause {
        id: "sel.power_supply",
        sign: r"Power Supply[^|]*\|[^|]*(Failure detected|Predictive failure|Config Error[^|]*)[^|]*(\| ?Asserted|$)",
        says: "a power supply has failed or is about to",
        means: "The supply itself tells the BMC of a fault.",
        act: "`ipmitool sdr type \"Power Supply\"` names it; look at its light and cable, swap it with a good one's place, and replace it when the fault goes with it",
        remedy: Remedy::Replace,
        samples: &["   9 | 05/16/2026 | 11:30:00 | Power Supply #0xc8 | Failure detected | Asserted"],
        ..SEL
    },
    Cause {
        id: "sel.power_input",
        sign: r"Power Supply[^|]*\|[^|]*(Power Supply AC lost|AC lost or out-of-range|AC out-of-range)[^|]*(\| ?Asserted|$)|The power input for power supply [0-9]+ is lost|Power Unit[^|]*\| ?AC lost[^|]*(\| ?Asserted|$)",
        says: "a power supply lost its input",
        means: "The cable, the PDU's outlet or the feed is off. The supply may be well.",
        act: "look at cable, outlet and breaker of this feed; other hosts on the same PDU tell whether it is the feed",
        samples: &["   a | 05/16/2026 | 11:31:00 | Power Supply #0xc9 | Power Supply AC lost | Asserted"],
        ..SEL
    },
    Cause {
        id: "sel.redundancy",
        sign: r"\| ?(Non-Redundant: [A-Za-z ]+|Redundancy (Lost|Degraded))[^|]*(\| ?Asserted|$)",
        role: Role::Effect,
        says: "power supplies or fans are not redundant any more",
        means: "One of them failed, lost its input or was taken out. Its own line says which.",
        counts: Counts::Warn,
        act: "`ipmitool sel elist` around this time for the one that failed",
        samples: &["   b | 05/16/2026 | 11:31:02 | Power Unit #0xd0 | Redundancy Lost | Asserted"],
        ..SEL
    },
    Cause {
        id: "sel.fan",
        sign: r"\| ?Fan[^|]*\| ?(Lower (Critical|Non-recoverable) going low|Transition to (Critical|Non-recoverable)[^|]*|Device Absent|Failure detected)[^|]*(\| ?Asserted|$)",
        says: "a fan stands still or turns too slowly",
        means: "The BMC measured a speed below its limit.",
        act: "`ipmitool sdr type Fan` names it; look for what blocks it, reseat it, replace it when it stays",
        samples: &["   c | 05/16/2026 | 12:00:00 | Fan #0x41 | Lower Critical going low  | Asserted"],
        ..SEL
    },
    Cause {
        id: "sel.temperature",
        sign: r"\| ?Temperature[^|]*\| ?Upper (Critical|Non-recoverable) going high[^|]*(\| ?Asserted|$)|\| ?(Processor|Temperature)[^|]*\| ?Thermal Trip[^|]*(\| ?Asserted|$)|Critical Overtemperature[^|]*(\| ?Asserted|$)",
        says: "a part of the host was too hot",
        means: "A temperature went over its upper limit; at a thermal trip the host switches itself off.",
        act: "`ipmitool sdr type Temperature`; compare with neighbours of the rack: with all of them it is the room, with one it is fans, dust, a blank that is missing, or the cooling plate",
        samples: &["   d | 05/16/2026 | 12:10:00 | Temperature #0x30 | Upper Critical going high | Asserted"],
        ..SEL
    },
    Cause {
        id: "sel.processor",
        sign: r"\| ?Processor[^|]*\| ?(IERR|FRB[123]/[^|]*|Configuration Error|SM BIOS Uncorrectable CPU-complex Error|Uncorrectable machine check exception)[^|]*(\| ?Asserted|$)|CPU [0-9]+ (has an internal error|machine check error)",
        says: "the BMC logged an error of a processor",
        means: "IERR and CATERR tell that the processor stopped. Memory, a PCIe card or the firmware is the cause as often as the processor.",
        act: "drain the host; read the lines of the log before it (memory, PCIe) and `rasdaemon` or `journalctl -k -b -1 | grep -i mce`, which name the bank; update BIOS and BMC; switch a host that stands still off and on; swap parts only when it comes again and points to one",
        remedy: Remedy::Reset,
        sure: Sure::Guess,
        samples: &["   e | 05/16/2026 | 12:30:00 | Processor #0x92 | IERR | Asserted"],
        ..SEL
    },
    Cause {
        id: "sel.pcie",
        sign: r"\| ?Critical Interrupt[^|]*\| ?(PCI PERR|PCI SERR|Bus Uncorrectable error|Bus Fatal Error|Fatal NMI|I/O Channel check NMI)[^|]*(\| ?Asserted|$)|(A fatal error was detected on a component at|Bus Fatal Error.*bus) (bus )?(?<bus>[^ .]+)",
        near: &["(?<slot>(bus|Bus) [0-9a-f]+ (device|dev) ?[0-9a-f]+ (function|func) ?[0-9a-f]+)"],
        says: "the BMC logged a fatal PCIe error[ ({slot})][ ({bus})]",
        means: "A link or card made an error that could not be corrected: a GPU or card that fell off, its seating, a riser, or firmware.",
        act: "find the device (`lspci`, the kernel's AER lines and Xid 79 of that time); power-cycle the host, reseat the card, update its firmware; replace it when it fails in another slot too",
        remedy: Remedy::Reset,
        sure: Sure::Guess,
        samples: &["   f | 05/16/2026 | 12:40:00 | Critical Interrupt #0x77 | Bus Fatal Error | Asserted"],
        ..SEL
    },
    Cause {
        id: "sel.drive",
        sign: r"\| ?(Drive Slot|Drive Slot / Bay|Drive)[^|]*\| ?(Drive Fault|In Failed Array|In Critical Array|Rebuild Aborted)[^|]*(\| ?Asserted|$)",
        says: "the BMC logged a fault of a drive",
        means: "The controller reports a drive or array as failed.",
        act: "find it by the controller's tool (`storcli`, `perccli`, `ssacli`) or `smartctl`, which say whether it was pulled, lost power or failed; save what is not mirrored; replace the drive that its controller calls failed",
        remedy: Remedy::Replace,
        samples: &["  10 | 05/16/2026 | 13:00:00 | Drive Slot / Bay #0xa1 | Drive Fault | Asserted"],
        ..SEL
    },
    Cause {
        id: "sel.drive_predicted",
        sign: r"\| ?(Drive Slot|Drive Slot / Bay|Drive)[^|]*\| ?Predictive Failure[^|]*(\| ?Asserted|$)",
        says: "a drive is about to fail",
        means: "SMART of the drive predicts it.",
        counts: Counts::Warn,
        act: "save its data and replace it when it suits",
        remedy: Remedy::Replace,
        samples: &["  11 | 05/16/2026 | 13:00:00 | Drive Slot / Bay #0xa2 | Predictive Failure | Asserted"],
        ..SEL
    },
    Cause {
        id: "sel.full",
        sign: r"(Event Logging Disabled[^|]*\| ?Log (almost )?full[^|]*(\| ?Asserted|$)|SEL (buffer )?(used at 100%|is full)|Percent Used *: *100 ?%|^SEL.*SEL full)",
        says: "the event log of the BMC is full",
        means: "New events are not written any more, so that a later fault leaves no trace.",
        counts: Counts::Warn,
        act: "`ipmitool sel elist > sel.txt`, then `ipmitool sel clear`",
        remedy: Remedy::Settings,
        sure: Sure::Confirmed,
        samples: &[
            "  12 | 05/16/2026 | 13:10:00 | Event Logging Disabled #0x07 | Log full | Asserted",
            "Percent Used     : 100%",
        ],
        ..SEL
    },
    Cause {
        id: "sel.boot",
        sign: r"\| ?System Boot Initiated[^|]*\||\| ?OS Boot[^|]*\||\| ?Event Logging Disabled[^|]*\| ?Log area reset/cleared|\| ?System ACPI Power State[^|]*\||\| ?Physical Security[^|]*\||\| ?(Slot / Connector|Drive Slot / Bay|Drive Slot|Processor|Power Supply)[^|]*\| ?(Presence [Dd]etected|Drive Present|Device Present)",
        says: "the BMC logged a start or that a part is there",
        means: "Such events are written at each boot.",
        counts: Counts::Note,
        samples: &[
            "   1 | 05/16/2026 | 09:00:00 | System Boot Initiated #0xe0 | Initiated by power up | Asserted",
        ],
        ..SEL
    },
    // ipmitool.
    Cause {
        id: "ipmi.no_device",
        sign: "Could not open device at /dev/ipmi0 or /dev/ipmi/0 or /dev/ipmidev/0",
        says: "there is no IPMI device on this host",
        means: "The modules ipmi_si and ipmi_devintf are not loaded, the machine has no BMC (a virtual machine), or the account is not root.",
        act: "as root `modprobe ipmi_devintf ipmi_si`, then again; a BMC of another host is asked by `-I lanplus -H`",
        sure: Sure::Likely,
        samples: &[
            "Could not open device at /dev/ipmi0 or /dev/ipmi/0 or /dev/ipmidev/0: No such file or directory",
        ],
        ..IPMI
    },
    Cause {
        id: "ipmi.no_session",
        sign: r"Unable to establish (IPMI v2 / RMCP\+|LAN|IPMI v1\.5 / RMCP) session",
        role: Role::Effect,
        says: "the BMC gave no session",
        means: "The address or network of the BMC, IPMI over LAN that is off, a wrong account, or a cipher suite that one side does not have.",
        act: "`ping` the BMC, then `-I lanplus -C 17` (or `-C 3`); look in the BMC whether IPMI over LAN is on and the account may use it; a BMC that hangs is restarted by `ipmitool mc reset cold` on its host",
        sure: Sure::Guess,
        samples: &["Error: Unable to establish IPMI v2 / RMCP+ session"],
        ..IPMI
    },
    Cause {
        id: "ipmi.password",
        sign: r"RAKP 2 (HMAC is invalid|message indicates an error : (?<why>[a-z ]+))|RAKP 4 message .*indicates an error|invalid authcode|Activate Session error: (\tInvalid|.*Insufficient privilege)",
        says: "the BMC does not take this account or password[ ({why})]",
        means: "Name, password or the privilege level that is asked for is wrong.",
        act: "give the right account; `-L operator` or `-L user` for accounts with fewer rights; set the password on the host by `ipmitool user set password ID`",
        samples: &["RAKP 2 HMAC is invalid", "RAKP 2 message indicates an error : unauthorized name"],
        ..IPMI
    },
    Cause {
        id: "ipmi.command",
        sign: "(Get Device ID|Get SEL Info|Get SDR [0-9a-f]+|Get Session Challenge|Get Chassis Power Status|Chassis Power Control|Get SDR Repository Info)( command)? (command )?failed(: (?<why>.+))?$",
        role: Role::Effect,
        says: "the BMC did not answer a command[ ({why})]",
        means: "The BMC is busy, restarting or hangs.",
        counts: Counts::Warn,
        act: "wait two minutes and try again; `ipmitool mc reset cold` restarts the BMC without touching the host",
        passing: true,
        samples: &["Get Device ID command failed"],
        ..IPMI
    },
    // Firmware of cards.
    Cause {
        id: "mft.psid",
        sign: "PSID mismatch|-E- PSID|The (device|given) PSID",
        says: "the firmware image is for another card (another PSID)",
        means: "Cards of Dell, HPE, Lenovo and clouds have a PSID and firmware of their own.",
        act: "`mstflint -d DEVICE query | grep PSID`, take the image with this PSID from the card's vendor; do not force another one on it",
        remedy: Remedy::Install,
        sure: Sure::Confirmed,
        samples: &[
            "-E- PSID mismatch. The PSID on flash (DEL0000000015) differs from the PSID in the given image (MT_0000000008).",
        ],
        ..MFT
    },
    Cause {
        id: "mft.unsupported",
        sign: r"-E- .*(MFE_(CR_ERROR|UNSUPPORTED_DEVICE|NOT_SUPPORTED[A-Z_]*|BAD_PARAMS)|Unsupported [Dd]evice|Operation not supported|is not supported by this tool)|-E- Device type [^ ]+ not supported",
        says: "this firmware tool cannot talk to this card",
        means: "The card is older or newer than the tool, its firmware is in a state that allows no access, or Secure Boot (lockdown) forbids the way that it takes.",
        act: "take the mstflint or MFT of the card's time (old releases for InfiniHost and ConnectX-2, the newest for a new card); try the other way to the device (`mst start` and /dev/mst/..., or the PCI address)",
        remedy: Remedy::Install,
        sure: Sure::Guess,
        sources: &[seen("https://github.com/Mellanox/mstflint/issues/921", "2024-03-11")],
        samples: &["-E- Cannot open Device: 07:00.0. Operation not supported. MFE_CR_ERROR"],
        ..MFT
    },
    Cause {
        id: "mft.wrong_image",
        sign: r"-E- .*(image is not compatible|Vend[eo]r HW ID is not compatible|[Dd]evice type mismatch|FW is for device|Bad FW image|No valid ITOC|INI section not found|Corrupted|[Ii]mage hw.?id|[Dd]evice hw.?id|[Nn]ot a valid (image|binary)|[Ii]mage (file )?(is corrupted|size|type)|CRC (error|mismatch)|No matching image found)|Status: +(No matching image found|Failed to open device)",
        says: "the firmware image is not for this card, or is damaged",
        means: "The image is of another model or generation, was not unpacked (zip), or was downloaded only in part; for mlxfwmanager no image in the folder has the PSID of the card.",
        act: "`mstflint -d DEVICE query` for PSID and type; take the image with that PSID from NVIDIA or the maker of the card (Dell, HPE, Lenovo have their own), unpack it and compare its sum; force nothing",
        remedy: Remedy::Install,
        samples: &["Status:             No matching image found"],
        ..MFT
    },
    Cause {
        id: "mft.reset_refused",
        sign: r"-E- .*(reset level|Reset.*not supported|[Ss]ynchronization|reset.*(fail|refus|not allow))|-E- .*mlxfwreset|-E- Failed to start driver",
        says: "the card could not be reset by mlxfwreset",
        means: "The firmware, a virtual machine, a second host or a driver that is in use does not allow it.",
        act: "stop what uses the card (and drivers of its other ports) and try once more; else power-cycle the drained host: a warm reboot does not always load new firmware",
        remedy: Remedy::Reset,
        sure: Sure::Guess,
        samples: &["-E- Failed to start driver! Please start driver manually to load FW: mlxfwreset"],
        ..MFT
    },
    Cause {
        id: "ofed.package_failed",
        sign: r"^Error: (?<package>[a-z0-9][a-z0-9._+-]*) installation failed!|Failed to install (?<ofed>MLNX_OFED_LINUX[^ ]*|DOCA[^ ]*)|Failed to install (?<doca>doca-[a-z-]+)",
        says: "a package of MLNX_OFED was not installed[: {package}]",
        means: "Mostly its modules do not build for this kernel, or headers or a package that it needs are missing. The log that the next line names has the reason.",
        act: "read that log for the first `error`; a newer OFED or DOCA-OFED whose release notes name this kernel (playbook `doca-ofed`), the headers of `uname -r`, or an older kernel",
        remedy: Remedy::Install,
        sources: &[seen("https://github.com/microsoft/pai/issues/2470", "2019-04-11")],
        samples: &["Error: mlnx-ofed-kernel-modules installation failed!"],
        ..MFT
    },
    Cause {
        id: "openibd.module_failed",
        sign: "Failed loading kernel module (?<module>[a-z0-9_]+)",
        says: "openibd could not load {module}",
        means: "The kernel refused it: most often a module of the distribution (mlx5_vdpa, ib_core, rdma_*) is loaded already or was built against other symbols.",
        act: "`dmesg | grep -E \"disagrees|Unknown symbol|{module}\"` names it: unload or rebuild the modules of the distribution that hold on to mlx5_core (`modprobe -r`, with `lsmod | grep mlx5`), then `/etc/init.d/openibd restart`; a reboot of the drained host does both",
        remedy: Remedy::Reset,
        sure: Sure::Guess,
        sources: &[
            seen("https://github.com/Mellanox/doca-driver-build/issues/52", "2025-03-21"),
            seen("https://github.com/Mellanox/doca-driver-build/pull/51", "2025-03-20"),
        ],
        samples: &["Failed loading kernel module mlx5_ib:[FAILED[]"],
        ..TOOL
    },
    Cause {
        id: "openibd.no_modules",
        sign: r"Module (?<module>(mlx|ib_|rdma|mlxfw|mlxdevm)[a-z0-9_]*) (does not exist, skipping|belong to a kernel which is not a part of MLNX)",
        says: "openibd finds no modules of OFED for the running kernel ({module})",
        means: "Another kernel was booted than the one that OFED was installed for.",
        act: "boot the kernel that it was built for, or build it for this one (`mlnxofedinstall --add-kernel-support`, dkms; playbook `doca-ofed`); hold the kernel's packages (playbook `no-upgrades`). FORCE=1 of openibd only skips the question, where modules by weak-updates do work",
        remedy: Remedy::Install,
        sources: &[
            seen("https://github.com/BarrinXu/FaaSMem/issues/1", "2024-04-24"),
            seen("https://github.com/Azure/azhpc-images/pull/119", "2022-01-11"),
        ],
        samples: &[
            "Module mlx5_core does not exist, skipping...               [FAILED]",
            "Module mlx5_ib belong to a kernel which is not a part of MLNX_OFED, skipping...",
        ],
        ..MFT
    },
    Cause {
        id: "mft.semaphore",
        sign: r"-E- .*((flash|ICMD|icmd|FW|vsec|VSEC)[^:]*semaphore|[Ss]emaphore .*(locked|timeout|taken)|MFE_(SEM_LOCKED|ICMD_SEM_TO|CMDIF_BUSY)|-clear_semaphore)",
        says: "the card's flash or command interface is held by another tool",
        means: "A flint, mlxconfig or monitoring agent works on the card at the same time, or one was ended in the middle. The firmware may hang too.",
        act: "`ps -e | grep -E 'flint|mlx|mst'` and end what works on the card; then again. `-clear_semaphore` only when surely nothing else burns; where it stays, power-cycle the drained host",
        sure: Sure::Guess,
        samples: &["-E- Failed to send Register MFRL: Timed out trying to take the ICMD semaphore (520)"],
        ..MFT
    },
    Cause {
        id: "mft.secure",
        sign: r"-E- .*(under (Secure|controlled) FW|Changing PSID is not supported|not signed|[Ss]ecure [Ff][Ww]|[Ss]igned.*(verif|required)|Authentication fail|[Bb]ad signature|not allowed.*encrypted|encryptedimage|encrypted ?device)",
        says: "the card takes only signed firmware, and not this change",
        means: "Its firmware is secure (controlled): images must be signed for it, and the PSID or single sections cannot be changed.",
        act: "take the signed image of the card's own PSID from its maker and burn it whole, without other options",
        remedy: Remedy::Install,
        samples: &["-E- Changing PSID is not supported under controlled FW."],
        ..MFT
    },
    Cause {
        id: "mft.burn_failed",
        sign: r"-E- .*(Burning .*image failed|Non failsafe burn failed|Verify FW burn on the device failed|[Ff]lash ?(/Image)? ?(read|write|erase) failed|Burn (ROM )?failed|Failed to (burn|update|write)): ?(?<why>.*)",
        says: "the firmware was not burnt: {why}",
        means: "The reason stands behind it. With an image that was already updated and waits for a reset, nothing is wrong. The old firmware is kept, as burning is failsafe.",
        act: "do not power the host off now; read the reason, try once more with nothing else using the card and the newest mstflint; with `pending reset` drain the host and run mlxfwreset or power-cycle it",
        remedy: Remedy::Install,
        sure: Sure::Guess,
        samples: &[
            "-E- Burning FS4 image failed: The firmware image was already updated on flash, pending reset.",
        ],
        ..MFT
    },
    Cause {
        id: "mft.no_devices",
        sign: "-E- (No devices found or specified|No devices found|No supported devices were found|Failed to open device|Can ?not open [Dd]evice|Can't find device id)|MFE_CR_ERROR|FATAL - Can't find device id|No MST devices were found|MST modules:.*not loaded",
        says: "the firmware tool finds or opens no card",
        means: "mst is not started, the account is not root, Secure Boot (lockdown) forbids the direct way, or the card is not on the bus.",
        act: "as root `mst start` (or use mstflint with the PCI address), `lspci -d 15b3:`; with Secure Boot use the address of the PCI device in place of /dev/mst/..., and the in-box driver must be loaded",
        remedy: Remedy::Settings,
        sure: Sure::Guess,
        samples: &[
            "-E- No devices found or specified, mst might be stopped, run 'mst start' to load MST modules",
        ],
        ..MFT
    },
    Cause {
        id: "mft.livefish",
        sign: "(Device in Livefish mode is not supported|[Ff]lash [Rr]ecovery [Mm]ode|is in (livefish|recovery) mode)",
        says: "the card runs in recovery mode (livefish)",
        means: "The card found no valid firmware on its flash and started its recovery code.",
        act: "burn the card's own image again (`mstflint -d DEVICE -i IMAGE -nofs --use_image_ps burn` where the vendor says so), then power-cycle the host; when it comes again, ask the vendor",
        remedy: Remedy::Install,
        samples: &["-E- Device in Livefish mode is not supported"],
        ..MFT
    },
    Cause {
        id: "mft.not_supported",
        sign: "The Device doesn't support (?<parameter>[A-Z0-9_]+) parameter|Unknown Parameter:? (?<other>[A-Za-z0-9_]+)|-E- .*(?<third>[A-Z0-9_]+) parameter is not supported",
        says: "the card does not know the setting [{parameter}][{other}][{third}]",
        means: "The firmware is too old for it, or it belongs to another generation of cards.",
        act: "`mlxconfig -d DEVICE show_confs` lists what this firmware has; update the firmware of the card first",
        remedy: Remedy::Install,
        samples: &["-E- The Device doesn't support SRIOV_EN parameter"],
        ..MFT
    },
    Cause {
        id: "mft.host_restricted",
        sign: "(HW access is disabled on the device|Run .flint -d .* hw_access enable|Cannot access NV register|The host is restricted|TLVs from other hosts cannot be modified)",
        says: "the card does not let this host change it",
        means: "Hardware access is locked by a key, or the host is restricted (a BlueField in zero-trust mode, a provider's card).",
        act: "on a BlueField change it from the DPU's own system, or lift the restriction there (`mlxprivhost -d DEVICE p`); where a provider owns the card, ask them",
        remedy: Remedy::Settings,
        samples: &["-E- HW access is disabled on the device."],
        ..MFT
    },
    Cause {
        id: "mft.needs_reset",
        sign: "Please reboot machine to load new configurations|To load new FW run mlxfwreset or reboot machine|Restart needed for updates to take effect|In order to .*load new (FW|firmware).*(reboot|mlxfwreset)|Please perform a cold reboot|cold reboot.*(required|needed)",
        says: "new firmware or settings of a card wait for a restart",
        means: "They were written, and the card takes them at its next reset.",
        counts: Counts::Warn,
        act: "drain the host, then `mlxfwreset -d DEVICE -y reset`, or reboot; some settings want a power cycle",
        remedy: Remedy::Reset,
        sure: Sure::Confirmed,
        samples: &[
            "-I- Please reboot machine to load new configurations.",
            "-I- To load new FW run mlxfwreset or reboot machine.",
        ],
        ..MFT
    },
    Cause {
        id: "mft.older",
        sign: "([Tt]he (firmware|FW) image.*older than|The update is not required|current FW version .* is newer than)",
        says: "the image is not newer than the firmware of the card",
        means: "The tool does not go back by itself.",
        counts: Counts::Note,
        samples: &[
            "-I- The firmware image was already updated on flash, pending reset. The update is not required",
        ],
        ..MFT
    },
    Cause {
        id: "mft.not_opened",
        sign: "-E- Failed to (open the device|identify the device)",
        says: "the tool cannot reach the card",
        means: "It runs without root, the address is another card's, the card is in use by another tool, or kernel lockdown (Secure Boot) forbids access to its registers.",
        act: "run it as root with the address of `lspci -d 15b3:`; `cat /sys/kernel/security/lockdown`: under lockdown try another release of mstflint (4.32 worked where 4.33 did not) or the vendor's MFT",
        sure: Sure::Guess,
        sources: &[seen("https://github.com/Mellanox/mstflint/issues/1371", "2025-09-02")],
        samples: &["-E- Failed to open the device", "-E- Failed to identify the device"],
        ..MFT
    },
    Cause {
        id: "mft.config_unread",
        sign: "-E- Failed to query (?:device )?(?:current|default|next boot)[a-z ]*configuration",
        says: "the tool cannot read this card's configuration",
        means: "Its firmware keeps none that this release of the tool knows, or the kept one is damaged. ConnectX-3 cards with some firmware show it with every release.",
        act: "try the newest mstflint, and for ConnectX-3 the MFT of its time; there ports and virtual functions can be set without it, by options of mlx4_core (`port_type_array`, `num_vfs`); the card itself works on",
        sure: Sure::Guess,
        sources: &[
            seen("https://github.com/Mellanox/mstflint/issues/33", "2019-02-05"),
            seen("https://github.com/Mellanox/mstflint/issues/590", "2022-05-28"),
        ],
        samples: &["-E- Failed to query device current configuration"],
        ..MFT
    },
    Cause {
        id: "mft.failed",
        sign: "-E- (?<what>[A-Z].+)",
        role: Role::Effect,
        says: "a tool for cards or fabrics reports: {what}",
        means: "flint, mlxconfig, mlxfwmanager and ibdiagnet print errors so.",
        act: "read its words; for a burn try once more as root with the host idle, then the newest mstflint, and never power off while it runs",
        sure: Sure::Guess,
        samples: &["-E- Failed to query the device"],
        ..MFT
    },
];
