//! `PCIe`: access control, address translation, errors.

use super::shared::log::judge;
use super::shared::verdict::{Checked, Findings, Verdict};
use super::{Check, Needs, Subject};
use crate::events::CheckStatus::{Fail, Warn};
use crate::facts::rdma::Device;

const LSPCI: &str = "lspci -vvv";

pub(in crate::checks) const CHECKS: &[Check] = &[
    Check {
        id: "pcie.acs",
        title: "no PCIe bridge redirects traffic between GPUs and cards",
        needs: Needs::Idle,
        severity: Fail,
        expects: "`SrcValid-` and `ReqRedir-` in ACSCtl of all bridges, on hosts with GPUs and RDMA devices or with two GPUs; skipped in virtual machines. A warning where NVLink joins the GPUs and there is no RDMA device",
        why: "With access control (ACS) on, traffic between GPUs and cards goes up to the processor and back: it is half as fast, or hangs.",
        hint: "switch ACS off in the firmware setup, or `setpci -s BDF ECAP_ACS+0x6.w=0000` for each bridge at each boot",
        source: "NCCL User Guide: Troubleshooting; lspci(8); setpci(8)",
        run: acs,
    },
    Check {
        id: "pcie.iommu",
        title: "the IOMMU does not translate for GPUs and cards",
        needs: Needs::Idle,
        severity: Warn,
        expects: "no IOMMU, or IOMMU groups of type identity (`iommu=pt`)",
        why: "Address translation makes traffic between GPUs and cards slow or impossible.",
        hint: "put `iommu=pt` on the kernel's command line, then reboot",
        source: "Linux kernel: Documentation/ABI/testing/sysfs-kernel-iommu_groups; NCCL User Guide: Troubleshooting",
        run: iommu,
    },
    Check {
        id: "pcie.max_read_request",
        title: "ConnectX cards read in large pieces",
        needs: Needs::Idle,
        severity: Warn,
        expects: "at least MaxReadReq 4096 bytes; `expect.rdma.max_read_request` when it is declared",
        why: "With 512 bytes a fast card cannot have enough reads under way to fill its link.",
        hint: "`setpci -s BDF CAP_EXP+8.w`, set its top digit to 5; a reboot undoes it, and some firmware setups can set it for good",
        source: "lspci(8); setpci(8)",
        run: max_read_request,
    },
    Check {
        id: "pcie.aer",
        title: "the PCIe bus reported no errors",
        needs: Needs::Idle,
        severity: Fail,
        expects: "no uncorrected error, no port that cut its device off and no device that did not come back since the boot; corrected errors, a slot whose link went down and faults of the IOMMU are a warning",
        why: "Each corrected error is a retry, which takes time; uncorrected errors take devices off the bus.",
        hint: "the line in the evidence names the device: reseat it or its riser; if errors return, replace it",
        source: "Linux kernel: Documentation/PCI/pcieaer-howto.rst",
        run: aer,
    },
];

fn acs(subject: &Subject<'_>) -> Checked {
    subject.has_gpus()?;
    let alone = match subject.devices() {
        Ok(_) => false,
        Err(Verdict::Skip(_)) => true,
        Err(unknown) => return Err(unknown),
    };
    if alone && subject.pci_gpus().is_none_or(|gpus| gpus.len() < 2) {
        return Err(Verdict::Skip("one GPU and no RDMA device".to_owned()));
    }
    if subject.is_guest() {
        return Err(Verdict::Skip(
            "in a virtual machine the PCIe bridges are not those of the hardware".to_owned(),
        ));
    }
    // Between GPUs that NVLink joins little goes over PCIe.
    let nvlink = subject.seen(subject.nvidia().map(|nvidia| &nvidia.links), Some("gpu.answers"));
    let joined = nvlink.as_ref().is_ok_and(|links| links.values().flatten().any(Option::is_some));
    let lspci = match subject.seen(subject.fabric().map(|fabric| &fabric.lspci), None) {
        Err(_) if alone && joined => {
            return Err(Verdict::Skip("NVLink joins the GPUs, and the bridges are not known".to_owned()));
        }
        // Without an answer about NVLink nobody can say whether the bridges matter.
        Err(unknown) if alone => return Err(nvlink.err().unwrap_or(unknown)),
        seen => seen?,
    };
    if lspci.denied > 0 && lspci.acs.is_empty() {
        let line = "Capabilities: <access denied>";
        return Err(Verdict::unknown("only root can read it", LSPCI, line));
    }
    let mut findings = Findings::default();
    for (address, flags) in &lspci.acs {
        let bad: Vec<&str> =
            ["SrcValid+", "ReqRedir+"].into_iter().filter(|flag| flags.contains(flag)).collect();
        if !bad.is_empty() {
            findings.wrong(address, bad.join(" "), LSPCI, format!("ACSCtl: {flags}"));
        }
    }
    let verdict = findings.verdict(format!("off on {} bridges", lspci.acs.len()));
    Ok(if alone && joined { verdict.counted_as(Warn) } else { verdict })
}

fn iommu(subject: &Subject<'_>) -> Checked {
    if subject.has_gpus().is_err() {
        subject.devices()?;
    }
    let links = subject.seen(subject.fabric().map(|fabric| &fabric.links), None)?;
    let gpus: Vec<String> =
        subject.pci_gpus().unwrap_or_default().into_iter().map(|(address, _)| address).collect();
    let cards: Vec<String> =
        subject.devices().unwrap_or_default().iter().map(|device| device.pci.clone()).collect();
    let mut findings = Findings::default();
    for address in gpus.iter().chain(&cards) {
        let Some(kind) = links.get(address).and_then(|link| link.iommu.as_deref()) else { continue };
        if kind.starts_with("DMA") {
            let from = format!("/sys/bus/pci/devices/{address}/iommu_group/type");
            findings.wrong(address, format!("the IOMMU translates ({kind})"), from, kind);
        }
    }
    Ok(findings.verdict("not translated"))
}

fn max_read_request(subject: &Subject<'_>) -> Checked {
    let devices = subject.devices()?;
    let cards: Vec<&Device> =
        devices.into_iter().filter(|device| device.is_mlx5() && !device.pci.is_empty()).collect();
    if cards.is_empty() {
        return Err(Verdict::Skip("no ConnectX card".to_owned()));
    }
    let lspci = subject.seen(subject.fabric().map(|fabric| &fabric.lspci), None)?;
    let wanted = subject.expect_rdma().max_read_request.unwrap_or(4096);
    let mut findings = Findings::default();
    for card in cards {
        match lspci.max_read.get(&card.pci) {
            Some(bytes) if *bytes >= wanted => {}
            Some(bytes) => {
                findings.wrong(
                    &card.name,
                    format!("{bytes} bytes"),
                    LSPCI,
                    format!("MaxReadReq {bytes} bytes"),
                );
            }
            None => findings.unknown(&card.name, "lspci does not show its MaxReadReq", LSPCI),
        }
    }
    Ok(findings.verdict(format!("at least {wanted} bytes")))
}

fn aer(subject: &Subject<'_>) -> Checked {
    if subject.has_gpus().is_err() {
        subject.devices()?;
    }
    let log = subject.log()?;
    Ok(judge("pcie.aer", log, &log.said(), "none"))
}
