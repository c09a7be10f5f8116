//! What the kernel's log tells of cards, their cables and their slots.

use std::collections::{BTreeMap, BTreeSet};

use crate::checks::shared::verdict::{Checked, Findings, Verdict};
use crate::checks::{Check, Needs, Subject};
use crate::events::CheckStatus::{Fail, Warn};
use crate::facts::log::Log;
use crate::facts::rdma::Device;

pub(in crate::checks) const CHECKS: &[Check] = &[
    Check {
        id: "rdma.log",
        title: "no card reported a fault of its firmware or its cable",
        needs: Needs::Idle,
        severity: Fail,
        expects: "mlx5_core reported neither that a card's health is compromised nor that a cable has an error; a cable that was pulled out and a hot card are a warning",
        why: "A card whose firmware stopped answering is lost to jobs until it is reset, and a module that is too hot is switched off under load.",
        hint: "health: reset the card or power-cycle the host, then update its firmware; cable: look at `mlxlink -d DEV -m`, then reseat or replace the cable; heat: look at the airflow",
        source: "Linux kernel: drivers/net/ethernet/mellanox/mlx5/core/health.c and events.c",
        run: events,
    },
    Check {
        id: "rdma.slot_power",
        title: "the slot of each card gives enough power",
        needs: Needs::Idle,
        severity: Warn,
        expects: "the last that mlx5_core said of a slot is not `Detected insufficient power`",
        why: "A card with too little power slows down or switches off its ports. Some machines only fail to say what their slot gives, and work well.",
        hint: "look at the slot's power limit in the firmware setup and at the power cable of the riser; where `active.ib_write_bw` passes all the same, ignore it (`expect.ignore`)",
        source: "Linux kernel: mlx5_pcie_event() in drivers/net/ethernet/mellanox/mlx5/core/events.c",
        run: slot_power,
    },
];

/// Lines of mlx5 cards with one of these words: the address of the card, what follows it, the line. Cards that
/// `expect.rdma.ignore` leaves out are left out.
fn lines<'a>(
    subject: &Subject<'_>,
    log: &'a Log,
    words: &[&str],
) -> Result<Vec<(&'a str, &'a str, &'a str)>, Verdict> {
    let all = subject.seen(subject.rdma().map(|rdma| &rdma.devices), None)?;
    let ignored = subject.expect_rdma().ignore.unwrap_or_default();
    let split = |line: &'a str| {
        let (address, said) = line.split_once("mlx5_core ")?.1.split_once(": ")?;
        Some((address, said, line))
    };
    let left_out = |address: &str| all.iter().any(|one| one.pci == address && ignored.contains(&one.name));
    let lines: Vec<_> = log.with(words).into_iter().filter_map(split).collect();
    if lines.is_empty() && !all.iter().any(Device::is_mlx5) {
        return Err(Verdict::Skip("no mlx5 device".to_owned()));
    }
    Ok(lines.into_iter().filter(|(address, ..)| !left_out(address)).collect())
}

/// What an event of a cable says; `None` where nothing is wrong with it.
fn cable(said: &str) -> Option<&str> {
    // `Port module event: module 0, Cable unplugged`, `Port module event[error]: module 0, Cable error, ...`.
    let what = said.split_once("Port module event")?.1.split_once(", ")?.1;
    (what != "Cable plugged").then_some(what)
}

fn events(subject: &Subject<'_>) -> Checked {
    let log = subject.log()?;
    let words = ["health compromised", "Port module event", "High temperature"];
    let (mut fails, mut warns) = (Findings::default(), Findings::default());
    // What was said last of a cable is how it is now.
    let mut cables: BTreeMap<&str, (&str, &str)> = BTreeMap::new();
    let mut plugged = BTreeSet::new();
    for (address, said, line) in lines(subject, log, &words)? {
        if said.contains("health compromised") {
            fails.wrong(address, "its health is compromised", log.command.clone(), line);
        } else if said.contains("High temperature") {
            warns.wrong(address, "it is hot", log.command.clone(), line);
        } else if let Some(what) = cable(said) {
            cables.insert(address, (what, line));
        } else {
            cables.remove(address);
            plugged.insert(address);
        }
    }
    for (address, (what, line)) in cables {
        let is_used = || subject.devices().is_ok_and(|all| all.iter().any(|one| one.pci == address));
        match what {
            // A second port that never had a cable says so whenever its driver is loaded.
            "Cable unplugged" if !plugged.contains(address) && !is_used() => {}
            "Cable unplugged" => warns.wrong(address, what, log.command.clone(), line),
            _ => fails.wrong(address, what, log.command.clone(), line),
        }
    }
    if fails.is_well() {
        return Ok(warns.verdict("none").counted_as(Warn));
    }
    Ok(fails.verdict(""))
}

fn slot_power(subject: &Subject<'_>) -> Checked {
    let log = subject.log()?;
    let mut last: BTreeMap<&str, (&str, &str)> = BTreeMap::new();
    for (address, said, line) in lines(subject, log, &["sufficient power"])? {
        last.insert(address, (said, line));
    }
    let mut findings = Findings::default();
    for (address, (said, line)) in last {
        if said.contains("insufficient power") {
            findings.wrong(address, "its slot gives too little power", log.command.clone(), line);
        }
    }
    Ok(findings.verdict("enough, or not told"))
}
