//! Messages of the kernel's log about cards, their cables and their slots.

use crate::causes::Said;
use crate::checks::shared::log::judge_those;
use crate::checks::shared::verdict::{Checked, Verdict};
use crate::checks::{Check, Needs, Subject};
use crate::events::CheckStatus::{Fail, Warn};
use crate::facts::rdma::Device;

pub(in crate::checks) const CHECKS: &[Check] = &[
    Check {
        id: "rdma.log",
        title: "no card reported a fault of its firmware or its cable",
        needs: Needs::Idle,
        severity: Fail,
        expects: "mlx5_core reported neither that it could not start a card, nor that a card's health is compromised or its firmware answers no commands, nor that a cable has an error; a cable that was pulled out, a hot card and a single command that timed out are a warning",
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

/// Judges the log's messages about mlx5 cards by the causes of a check. It leaves out cards in
/// `expect.rdma.ignore`, and a second port that never had a cable: such a port reports that whenever its
/// driver is loaded.
fn of_cards(subject: &Subject<'_>, check: &str, nothing: &str) -> Checked {
    let log = subject.log()?;
    let all = subject.seen(subject.rdma().map(|rdma| &rdma.devices), None)?;
    let ignored = subject.expect_rdma().ignore.unwrap_or_default();
    let said = log.said();
    let of_this: Vec<&Said<'_>> = said.iter().filter(|said| said.cause.check == check).collect();
    if of_this.is_empty() && !all.iter().any(Device::is_mlx5) {
        return Err(Verdict::Skip("no mlx5 device".to_owned()));
    }
    let left_out =
        |said: &Said<'_>| all.iter().any(|one| one.pci == said.device() && ignored.contains(&one.name));
    let had_cable = |address: &str| {
        let is_used = subject.devices().is_ok_and(|all| all.iter().any(|one| one.pci == address));
        is_used || said.iter().any(|said| said.cause.id == "mlx5.cable_plugged" && said.device() == address)
    };
    let counts = |said: &&&Said<'_>| {
        !left_out(said) && (said.cause.id != "mlx5.cable_unplugged" || had_cable(said.device()))
    };
    Ok(judge_those(log, &said, of_this.iter().filter(counts).copied(), nothing))
}

fn events(subject: &Subject<'_>) -> Checked {
    of_cards(subject, "rdma.log", "none")
}

fn slot_power(subject: &Subject<'_>) -> Checked {
    of_cards(subject, "rdma.slot_power", "enough, or not told")
}
