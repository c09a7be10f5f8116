//! `PCIe`: links, access control, address translation, errors (domain D6, L11, L23).

use super::verdict::{Checked, Findings, Verdict};
use super::{Check, Kind, Subject};
use crate::events::CheckStatus::{Fail, Warn};
use crate::probes::fabric::Link;
use crate::probes::rdma::Device;

const LSPCI: &str = "lspci -vvv";

pub(super) const CHECKS: &[Check] = &[
    Check {
        id: "rdma.pcie_width",
        title: "each card uses all its PCIe lanes",
        kind: Kind::Idle,
        severity: Fail,
        expects: "as many lanes as the card can use",
        why: "With half its lanes a card of 400 Gb/s sends at most half of that.",
        hint: "reseat the card or its riser, and look at the slot's bifurcation in the firmware setup",
        source: "domain D6, L23",
        run: width,
    },
    Check {
        id: "rdma.pcie_generation",
        title: "each card's PCIe link runs at its full generation",
        kind: Kind::Idle,
        severity: Warn,
        expects: "the highest speed of the card; a card that is newer than its slot is legitimate",
        why: "One generation less is half the bandwidth to the host.",
        hint: "`lspci -vv` of the card and of the port above it; the firmware setup may limit the slot",
        source: "domain D6",
        run: generation,
    },
    Check {
        id: "rdma.pcie_bandwidth",
        title: "no card was found starved by its slot",
        kind: Kind::Idle,
        severity: Warn,
        expects: "no `limited by` in the lines that mlx5_core prints when it starts",
        why: "The driver itself computed that the slot carries less than the card can send.",
        hint: "move the card to a slot with more lanes, or a newer one; the line names the bottleneck",
        source: "domain D6, L23",
        run: bandwidth,
    },
    Check {
        id: "pcie.acs",
        title: "no PCIe bridge redirects traffic between GPUs and cards",
        kind: Kind::Idle,
        severity: Fail,
        expects: "`SrcValid-` and `ReqRedir-` in ACSCtl of all bridges, on hosts with GPUs and RDMA devices; skipped in guests",
        why: "With access control on, GPUDirect traffic goes up to the processor and back: half the speed, or a hang.",
        hint: "switch ACS off in the firmware setup, or `setpci -s BDF ECAP_ACS+0x6.w=0000` for each bridge at each boot",
        source: "domain D6, L11",
        run: acs,
    },
    Check {
        id: "pcie.iommu",
        title: "the IOMMU does not translate for GPUs and cards",
        kind: Kind::Idle,
        severity: Warn,
        expects: "no IOMMU, or groups of type identity (`iommu=pt`)",
        why: "Translation makes traffic between GPUs and cards slow, or impossible.",
        hint: "`iommu=pt` on the kernel's command line, then a reboot",
        source: "domain D6, L11",
        run: iommu,
    },
    Check {
        id: "pcie.max_read_request",
        title: "ConnectX cards read in large pieces",
        kind: Kind::Idle,
        severity: Warn,
        expects: "MaxReadReq 4096 bytes",
        why: "With 512 bytes a fast card cannot keep enough reads under way to fill its link.",
        hint: "`setpci -s BDF CAP_EXP+8.w`, top digit 5; not kept over a reboot. Some firmware setups have it",
        source: "domain D6",
        run: max_read_request,
    },
    Check {
        id: "pcie.aer",
        title: "the PCIe bus reported no errors",
        kind: Kind::Idle,
        severity: Fail,
        expects: "no uncorrected error since the boot; corrected ones are a warning",
        why: "Corrected errors are retries, each of them time; uncorrected ones take devices off the bus.",
        hint: "the line names the device: reseat it or its riser; again: replace it",
        source: "domain G15",
        run: aer,
    },
];

/// Links of the cards behind RDMA devices.
fn links<'a>(subject: &Subject<'a>) -> Result<Vec<(&'a Device, &'a Link)>, Verdict> {
    let devices = subject.devices()?;
    let links = subject.seen(subject.fabric().map(|fabric| &fabric.links), None)?;
    let mut found: Vec<(&Device, &Link)> = Vec::new();
    for device in devices.into_iter().filter(|device| !device.pci.is_empty()) {
        if let Some(link) = links.get(&device.pci) {
            found.push((device, link));
        }
    }
    if found.is_empty() {
        return Err(Verdict::Skip("no RDMA device is on a PCIe bus".to_owned()));
    }
    Ok(found)
}

fn width(subject: &Subject<'_>) -> Checked {
    let links = links(subject)?;
    if links.iter().all(|(_, link)| link.width.is_none()) {
        return Err(Verdict::Skip("these devices tell no link width, as in a guest".to_owned()));
    }
    let mut findings = Findings::default();
    let mut pass = Vec::new();
    for (device, link) in links {
        let from = format!("/sys/bus/pci/devices/{}/current_link_width", device.pci);
        match link.width {
            Some((now, most)) if now < most => {
                findings.wrong(&device.name, format!("x{now} of x{most}"), from, now);
            }
            Some((now, _)) => pass.push(format!("x{now}")),
            None => findings.unknown(&device.name, "its link width cannot be read", from),
        }
    }
    pass.sort();
    pass.dedup();
    Ok(findings.verdict(pass.join(", ")))
}

fn generation(subject: &Subject<'_>) -> Checked {
    let links = links(subject)?;
    if links.iter().all(|(_, link)| link.speed.is_none()) {
        return Err(Verdict::Skip("these devices tell no link speed, as in a guest".to_owned()));
    }
    let mut findings = Findings::default();
    let mut pass = Vec::new();
    for (device, link) in links {
        let from = format!("/sys/bus/pci/devices/{}/current_link_speed", device.pci);
        match link.speed {
            Some((now, most)) if now < most => {
                findings.wrong(&device.name, format!("{now} of {most} GT/s"), from, format!("{now} GT/s"));
            }
            Some((now, _)) => pass.push(format!("{now} GT/s")),
            None => findings.unknown(&device.name, "its link speed cannot be read", from),
        }
    }
    pass.sort();
    pass.dedup();
    Ok(findings.verdict(pass.join(", ")))
}

fn bandwidth(subject: &Subject<'_>) -> Checked {
    if !subject.devices()?.iter().any(|device| device.name.starts_with("mlx5_")) {
        return Err(Verdict::Skip("no mlx5 device".to_owned()));
    }
    let log = subject.log()?;
    let mut findings = Findings::default();
    for line in log.with(&["limited by"]) {
        let Some((_, rest)) = line.split_once("mlx5_core ") else { continue };
        let address = rest.split(": ").next().unwrap_or("");
        let (_, by) = line.split_once("limited by ").unwrap_or(("", ""));
        let by = by.split(" (").next().unwrap_or(by);
        findings.wrong(address, format!("limited by {by}"), log.command.clone(), line);
    }
    Ok(findings.verdict("none"))
}

fn acs(subject: &Subject<'_>) -> Checked {
    subject.has_gpus()?;
    subject.devices()?;
    if subject.is_guest() {
        return Err(Verdict::Skip("in a guest: its bridges are not the machine's".to_owned()));
    }
    let lspci = subject.seen(subject.fabric().map(|fabric| &fabric.lspci), None)?;
    if lspci.denied > 0 && lspci.acs.is_empty() {
        let line = "Capabilities: <access denied>";
        return Err(Verdict::unknown("only root sees it", LSPCI, line));
    }
    let mut findings = Findings::default();
    for (address, flags) in &lspci.acs {
        let bad: Vec<&str> =
            ["SrcValid+", "ReqRedir+"].into_iter().filter(|flag| flags.contains(flag)).collect();
        if !bad.is_empty() {
            findings.wrong(address, bad.join(" "), LSPCI, format!("ACSCtl: {flags}"));
        }
    }
    Ok(findings.verdict(format!("off on {} bridges", lspci.acs.len())))
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
            findings.wrong(address, format!("translated ({kind})"), from, kind);
        }
    }
    Ok(findings.verdict("not translated"))
}

fn max_read_request(subject: &Subject<'_>) -> Checked {
    let devices = subject.devices()?;
    let cards: Vec<&Device> = devices
        .into_iter()
        .filter(|device| device.name.starts_with("mlx5_") && !device.pci.is_empty())
        .collect();
    if cards.is_empty() {
        return Err(Verdict::Skip("no ConnectX card".to_owned()));
    }
    let lspci = subject.seen(subject.fabric().map(|fabric| &fabric.lspci), None)?;
    let mut findings = Findings::default();
    for card in cards {
        match lspci.max_read.get(&card.pci) {
            Some(4096..) => {}
            Some(bytes) => {
                findings.wrong(
                    &card.name,
                    format!("{bytes} bytes"),
                    LSPCI,
                    format!("MaxReadReq {bytes} bytes"),
                );
            }
            None => findings.unknown(&card.name, "lspci does not tell its MaxReadReq", LSPCI),
        }
    }
    Ok(findings.verdict("4096 bytes"))
}

fn aer(subject: &Subject<'_>) -> Checked {
    if subject.has_gpus().is_err() {
        subject.devices()?;
    }
    let log = subject.log()?;
    let (mut fails, mut warns) = (Findings::default(), Findings::default());
    for line in log.with(&["AER:", "PCIe Bus Error"]) {
        let lower = line.to_ascii_lowercase();
        if lower.contains("uncorrected") || lower.contains("uncorrectable") {
            fails.wrong("the PCIe bus", "uncorrected errors", log.command.clone(), line);
        } else if lower.contains("corrected") {
            warns.wrong("the PCIe bus", "corrected errors", log.command.clone(), line);
        }
    }
    if fails.is_well() {
        return Ok(warns.verdict("none").counted_as(Warn));
    }
    Ok(fails.verdict(""))
}
