//! `PCIe` links of the cards behind RDMA devices.

use crate::checks::shared::log::judge;
use crate::checks::shared::verdict::{Checked, Findings, Verdict};
use crate::checks::{Check, Needs, Subject};
use crate::events::CheckStatus::{Fail, Warn};
use crate::facts::fabric::Link;
use crate::facts::rdma::Device;

pub(in crate::checks) const CHECKS: &[Check] = &[
    Check {
        id: "rdma.pcie_width",
        title: "each card uses all its PCIe lanes",
        needs: Needs::Idle,
        severity: Fail,
        expects: "as many lanes as the card can use",
        why: "With half its lanes a card of 400 Gb/s can send at most half of that.",
        hint: "reseat the card or its riser, and look at the slot's bifurcation in the firmware setup",
        source: "lspci(8)",
        run: width,
    },
    Check {
        id: "rdma.pcie_generation",
        title: "each card's PCIe link runs at its full generation",
        needs: Needs::Idle,
        severity: Warn,
        expects: "the highest speed of the card; ignore it for a card that is newer than its slot (`expect.ignore`)",
        why: "Each lower generation halves the bandwidth to the host.",
        hint: "`lspci -vv` of the card and of the port above it; the firmware setup may limit the slot",
        source: "lspci(8)",
        run: generation,
    },
    Check {
        id: "rdma.pcie_bandwidth",
        title: "no card is limited by its slot",
        needs: Needs::Idle,
        severity: Warn,
        expects: "no `limited by` in the lines that mlx5_core, bnxt_en and ice print when they start",
        why: "The driver has found that the slot carries less than the card can send.",
        hint: "move the card to a slot with more lanes, or a newer one; the line names the bottleneck",
        source: "Linux kernel: pcie_print_link_status() in drivers/pci/pci.c",
        run: bandwidth,
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
        return Err(Verdict::Skip("these devices show no link width, as in a virtual machine".to_owned()));
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
        return Err(Verdict::Skip("these devices show no link speed, as in a virtual machine".to_owned()));
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
    const ID: &str = "rdma.pcie_bandwidth";
    let devices = subject.devices()?;
    let log = subject.log()?;
    let said = log.said();
    if !devices.iter().any(|device| device.is_mlx5()) && !said.iter().any(|said| said.cause.check == ID) {
        return Err(Verdict::Skip("no card whose driver says so".to_owned()));
    }
    Ok(judge(ID, log, &said, "none"))
}
