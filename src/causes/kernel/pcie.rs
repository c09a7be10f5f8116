//! The `PCIe` bus, in the words of all kernels since 4.18.

use super::super::cause::{Cause, Counts, ROW, Remedy, seen};

const BUS: Cause = Cause { check: "pcie.aer", counts: Counts::Warn, ..ROW };
const AER: &str = "Linux kernel: drivers/pci/pcie/aer.c of 4.18, 6.8 and 6.18 (Corrected became Correctable, `error received:` became `error message received from`)";

pub(in crate::causes) const ROWS: &[Cause] = &[
    Cause {
        id: "pcie.corrected",
        sign: r"[A-Za-z0-9_-]+ (?<port>{pci}): AER: (Multiple )?Correct(ed|able) error (received:|message received from) (id=)?(?<device>{pci})",
        says: "corrected errors",
        means: "A transfer on the bus had to be repeated.",
        act: "when there are many, reseat the device or its riser and look at `lspci -vv` of both ends; update the firmware",
        sources: &[seen(AER, "2026-11-29")],
        samples: &[
            "[  431.000012] pcieport 0000:80:01.0: AER: Corrected error received: 0000:98:00.0",
            "[ 1850.963088] pcieport 0000:00:02.0: AER: Multiple Correctable error message received from 0000:00:02.0",
        ],
        ..BUS
    },
    Cause {
        id: "pcie.corrected_of",
        sign: r"[A-Za-z0-9_-]+ (?<device>{pci}): (AER: )?(PCIe|CXL) Bus Error: severity=Correct(ed|able)",
        says: "corrected errors",
        means: "A transfer on the bus had to be repeated.",
        act: "when there are many, reseat the device or its riser and look at `lspci -vv` of both ends; update the firmware",
        sources: &[seen(AER, "2026-11-29")],
        samples: &[
            "[  749.360186] pcieport 0001:01:00.0: PCIe Bus Error: severity=Correctable, type=Data Link Layer, (Transmitter ID)",
            "[  749.360186] nvidia 0000:8a:00.0: PCIe Bus Error: severity=Corrected, type=Physical Layer, (Receiver ID)",
        ],
        ..BUS
    },
    Cause {
        id: "pcie.uncorrected",
        sign: r"[A-Za-z0-9_-]+ (?<port>{pci}): AER: (Multiple )?Uncorrect(ed|able) \((?<kind>[A-Za-z-]+)\) error (received:|message received from) (id=)?(?<device>{pci})",
        says: "uncorrected errors",
        means: "A transfer on the bus was lost.",
        counts: Counts::Fail,
        act: "drain the host; look whether the device still answers, reseat it or its riser, update the firmware; power-cycle the host when it does not come back",
        remedy: Remedy::Reset,
        sources: &[seen(AER, "2026-11-29")],
        samples: &[
            "[  431.000012] pcieport 0000:80:01.0: AER: Uncorrected (Fatal) error received: 0000:8a:00.0",
            "pcieport 0000:00:1c.0: AER: Multiple Uncorrectable (Non-Fatal) error message received from 0000:73:00.1",
        ],
        ..BUS
    },
    Cause {
        id: "pcie.uncorrected_of",
        sign: r"[A-Za-z0-9_-]+ (?<device>{pci}): (AER: )?(PCIe|CXL) Bus Error: severity=Uncorrect(ed|able)",
        says: "uncorrected errors",
        means: "A transfer on the bus was lost.",
        counts: Counts::Fail,
        act: "drain the host; look whether the device still answers, reseat it or its riser, update the firmware; power-cycle the host when it does not come back",
        remedy: Remedy::Reset,
        sources: &[seen(AER, "2026-11-29")],
        samples: &[
            "bnxt_en 0000:04:00.0: AER: PCIe Bus Error: severity=Uncorrectable (Fatal), type=Inaccessible, (Unregistered Agent ID)",
            "[  178.309147] pcieport 0000:00:03.2: PCIe Bus Error: severity=Uncorrected (Non-Fatal), type=Transaction Layer, (Requester ID)",
        ],
        ..BUS
    },
    Cause {
        id: "pcie.not_recovered",
        sign: r"[A-Za-z0-9_-]+ (?<device>{pci}): ((AER: |DPC: )?([Dd]evice recovery failed|can't recover \(no error_detected callback\))|not ready [0-9]+ms after [A-Za-z ]+; giving up)",
        says: "did not recover from an error",
        means: "The kernel could not bring a device back after an error on the bus.",
        counts: Counts::Fail,
        act: "drain the host; `lspci -t` shows which device stands below that port and `lspci -s` whether it answers (`rev ff` means no); power-cycle the host; where it comes again, look at the device's seating, riser and power before any part is changed",
        remedy: Remedy::Reset,
        sources: &[
            seen("Linux kernel: drivers/pci/pcie/err.c", "2026-11-29"),
            seen("Linux kernel: pci_dev_wait() in drivers/pci/pci.c of 4.18 and 6.18", "2026-11-29"),
        ],
        samples: &[
            "pcieport 0000:00:1c.0: AER: device recovery failed",
            "brcmfmac 0000:73:00.0: AER: can't recover (no error_detected callback)",
            "nvidia 0000:5e:00.0: not ready 65535ms after FLR; giving up",
        ],
        ..BUS
    },
    Cause {
        id: "pcie.contained",
        sign: r"(pcieport|pci|dpc) (?<device>{pci})(:pcie[0-9a-f]+)?: DPC:? containment event",
        says: "cut its device off after an error",
        means: "A port of the bus switched its link off, so that an error does not spread (DPC).",
        counts: Counts::Fail,
        act: "look which device stands below the port (`lspci -t`) and whether it came back; reseat it or its riser",
        sources: &[seen("Linux kernel: drivers/pci/pcie/dpc.c of 4.18 and 6.18", "2026-11-29")],
        samples: &[
            "pcieport 0000:30:03.0: DPC: containment event, status:0x0005 source:0x3400",
            "[  178.309130] dpc 0000:00:03.2:pcie008: DPC containment event, status:0x1f01 source:0x0000",
        ],
        ..BUS
    },
    Cause {
        id: "pcie.slot_down",
        sign: r"(pcieport|pciehp) (?<device>{pci})(:pcie[0-9a-f]+)?: (pciehp: )?Slot\((?<slot>[^)]*)\): (Link Down|Card not present)",
        says: "the link of its slot went down",
        means: "A device in a slot that can be changed while the host runs was lost or taken out.",
        act: "look whether somebody took the device out; otherwise reseat it",
        ended_by: &["pcie.slot_up"],
        sources: &[seen("Linux kernel: drivers/pci/hotplug/pciehp_ctrl.c of 4.18 and 6.18", "2026-11-29")],
        samples: &[
            "[ 4711.1] pcieport 0000:00:03.0: pciehp: Slot(2): Link Down",
            "[ 4711.1] pciehp 0000:00:03.0:pcie004: Slot(2): Link Down",
            "[ 4711.1] pcieport 0000:16:01.0: pciehp: Slot(5): Card not present",
        ],
        ..BUS
    },
    Cause {
        id: "pcie.slot_up",
        sign: r"(pcieport|pciehp) (?<device>{pci})(:pcie[0-9a-f]+)?: (pciehp: )?Slot\((?<slot>[^)]*)\): Link Up",
        says: "the link of its slot came up",
        means: "A device in a slot is there again.",
        counts: Counts::Note,
        sources: &[seen("Linux kernel: drivers/pci/hotplug/pciehp_ctrl.c", "2026-11-29")],
        samples: &["[ 4712.1] pcieport 0000:00:03.0: pciehp: Slot(2): Link Up"],
        ..BUS
    },
    Cause {
        id: "pcie.retrained",
        sign: r"(pcieport|pci) (?<device>{pci}): (broken device, retraining non-functional downstream link|retraining failed)",
        says: "its link works at the lowest speed only",
        means: "The link to a device did not come up at its speed.",
        act: "reseat the device or its riser; `lspci -vv` shows the speed of both ends",
        sources: &[seen("Linux kernel: pcie_failed_link_retrain() in drivers/pci/quirks.c", "2026-11-29")],
        samples: &[
            "[    1.9] pcieport 0000:10:01.1: broken device, retraining non-functional downstream link at 2.5GT/s",
        ],
        ..BUS
    },
    Cause {
        id: "pcie.inaccessible",
        sign: r"[A-Za-z0-9_-]+ (?<device>{pci}): ((Unable to change|can't change) power state from D3(cold|hot) to D0|Refused to change power state, currently in D3)",
        says: "does not answer",
        means: "A device does not wake up, or is not there any more.",
        act: "look at `lspci -s` with its address: `rev ff` means that it is gone until the host is power-cycled",
        sources: &[seen(
            "Linux kernel: pci_raw_set_power_state() of 4.18 and pci_power_up() of 6.18 in drivers/pci/pci.c",
            "2026-11-29",
        )],
        samples: &[
            "nvme 0000:3b:00.0: Unable to change power state from D3cold to D0, device inaccessible",
            "[65060.797874] nvme 0000:3b:00.0: Refused to change power state, currently in D3",
        ],
        ..BUS
    },
    Cause {
        id: "iommu.fault",
        sign: r"(DMAR: \[[^]]*\] Request device \[?(?<device>[0-9a-f:.]+)\]?.* fault (addr|index)|[A-Za-z0-9_-]+ {pci}: AMD-Vi: Event logged \[(IO_PAGE_FAULT|ILLEGAL_DEV_TABLE_ENTRY|PAGE_TAB_HARDWARE_ERROR)|AMD-Vi: Event logged \[(IO_PAGE_FAULT|ILLEGAL_DEV_TABLE_ENTRY|PAGE_TAB_HARDWARE_ERROR))",
        says: "reached for memory that it may not use",
        means: "The IOMMU stopped a device: its driver or firmware is wrong, or traffic between devices is sent through the IOMMU.",
        act: "update driver and firmware of the device; on hosts for GPUs boot with `iommu=pt`",
        remedy: Remedy::Install,
        sources: &[seen("Linux kernel: drivers/iommu/intel/dmar.c; drivers/iommu/amd/iommu.c", "2026-11-29")],
        samples: &[
            "[   21.1] DMAR: [DMA Read NO_PASID] Request device [3b:00.0] fault addr 0xf0000000 [fault reason 0x06] PTE Read access is not set",
            "[   21.1] nvidia 0000:41:00.0: AMD-Vi: Event logged [IO_PAGE_FAULT domain=0x0021 address=0xf0000000 flags=0x0000]",
        ],
        ..BUS
    },
    Cause {
        id: "iommu.smmu",
        sign: r"arm-smmu-v3 (?<device>[^ :]+): event(: [A-Z_]+ client: | 0x[0-9a-f]+ received:)",
        says: "stopped a device that reached for memory that it may not use",
        means: "The IOMMU of an Arm host stopped a device: its driver or firmware is wrong.",
        act: "the lines after it have the stream of the device; update its driver and firmware",
        remedy: Remedy::Install,
        sources: &[seen(
            "Linux kernel: arm_smmu_evtq_thread() in drivers/iommu/arm/arm-smmu-v3/arm-smmu-v3.c of 4.18 to 6.14; arm_smmu_dump_event() of 6.15 on",
            "2026-11-29",
        )],
        samples: &[
            "[  196.747107] arm-smmu-v3 arm-smmu-v3.4.auto: event 0x10 received:",
            "[  197.1] arm-smmu-v3 arm-smmu-v3.0.auto: event: F_TRANSLATION client: 0000:01:00.0 sid: 0x100 ssid: 0x0 iova: 0xffc00000 ipa: 0x0",
        ],
        ..BUS
    },
    Cause {
        id: "iommu.stuck",
        sign: r"AMD-Vi: (IOMMU {pci}: )?Completion-Wait loop timed out",
        says: "the IOMMU does not answer",
        means: "The IOMMU did not carry out a command, most often because a device behind it is gone.",
        act: "look at the lines before it for the device that was lost; on hosts for GPUs boot with `iommu=pt`; update the firmware of the board",
        sources: &[seen("Linux kernel: wait_on_sem() in drivers/iommu/amd/iommu.c", "2026-11-29")],
        samples: &["[ 4711.5] AMD-Vi: Completion-Wait loop timed out"],
        ..BUS
    },
    Cause {
        id: "card.bandwidth",
        check: "rdma.pcie_bandwidth",
        sign: r"(mlx5_core|mlx4_core|bnxt_en|ice) (?<device>{pci})( [^ :]+)?: [0-9.]+ Gb/s available PCIe bandwidth, limited by (?<by>[^(]*[^( ])",
        says: "limited by {by}",
        means: "The driver has found that the slot carries less than the card can send.",
        act: "move the card to a slot with more lanes, or a newer one; the line names the bottleneck",
        sources: &[seen("Linux kernel: pcie_print_link_status() in drivers/pci/pci.c", "2026-11-29")],
        samples: &[
            "[   18.617069] mlx5_core 0000:9c:00.0: 252.056 Gb/s available PCIe bandwidth, limited by 32.0 GT/s PCIe x8 link at 0000:97:01.0 (capable of 504.112 Gb/s with 32.0 GT/s PCIe x16 link)",
        ],
        ..BUS
    },
];
