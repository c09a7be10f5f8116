//! What the kernel's log tells (domain B12, G15, K3).

use super::verdict::{Checked, Findings};
use super::{Check, Kind, Subject};
use crate::events::CheckStatus::{Fail, Warn};

pub(super) const CHECKS: &[Check] = &[
    Check {
        id: "gpu.xid",
        title: "the driver reported no error since the GPUs were reset",
        kind: Kind::Idle,
        severity: Fail,
        expects: "no Xid that asks for a reset, a reboot or a repair; those of applications are a warning",
        why: "A Xid is the driver's report of what a GPU did wrong: 79 is fallen off the bus, 48 and 95 are memory, 74 is NVLink, 119 is its firmware.",
        hint: "drain the host and reset its GPUs (`nvidia-smi -r`) or reboot; the same again within a day: replace the GPU",
        source: "domain G15, K3",
        run: xid,
    },
    Check {
        id: "gpu.nvswitch_errors",
        title: "no NVSwitch reported a fatal error",
        kind: Kind::Idle,
        severity: Fail,
        expects: "no fatal SXid; others are a warning",
        why: "After a fatal error of a switch NVLink is gone for all GPUs of the board.",
        hint: "end all jobs, stop the fabric manager, `nvidia-smi -r`, start it again; again: replace the board",
        source: "domain B14, G15",
        run: sxid,
    },
    Check {
        id: "driver.log",
        title: "the driver came up without complaint",
        kind: Kind::Idle,
        severity: Fail,
        expects: "no RmInitAdapter failure, no API mismatch, no unknown symbols of peer memory, no blocked nvidia-smi",
        why: "The kernel's log has the reason before any tool shows the effect.",
        hint: "RmInitAdapter: reboot, then replace the GPU; API mismatch: see driver.coherence; symbols: build the driver anew after OFED",
        source: "domain B12, C12, G15",
        run: complaints,
    },
];

/// What a Xid counts as; `None` is a note.
fn severity(number: u32, text: &str) -> Option<crate::events::CheckStatus> {
    match number {
        37 | 38 | 43..=45 | 66 | 67 | 162..=165 => None,
        46 | 48 | 54 | 61 | 62 | 64 | 74 | 79 | 95 | 109 | 110 | 119 | 120 | 136 | 140 | 143 | 151 | 155
        | 156 | 158 | 167 => Some(Fail),
        // The recovery action changed; the text says to what.
        154 => {
            let asks = ["Reset", "Reboot", "Drain"].iter().any(|word| text.contains(word));
            asks.then_some(Fail)
        }
        _ => Some(Warn),
    }
}

fn xid(subject: &Subject<'_>) -> Checked {
    subject.has_gpus()?;
    let log = subject.log()?;
    let (mut fails, mut warns) = (Findings::default(), Findings::default());
    let xids = log.xids();
    for xid in &xids {
        let repeated =
            || xids.iter().filter(|other| (other.number, other.device) == (94, xid.device)).count() > 1;
        let counts = match severity(xid.number, xid.text) {
            Some(Warn) if xid.number == 94 && repeated() => Some(Fail),
            counts => counts,
        };
        let findings = match counts {
            None => continue,
            Some(Fail) => &mut fails,
            Some(_) => &mut warns,
        };
        findings.wrong(xid.device, format!("Xid {}", xid.number), log.command.clone(), xid.line);
    }
    if fails.is_well() {
        let notes = xids.len();
        let pass = if notes == 0 { "none".to_owned() } else { format!("{notes} notes of the driver") };
        return Ok(warns.verdict(pass).counted_as(Warn));
    }
    Ok(fails.verdict(""))
}

fn sxid(subject: &Subject<'_>) -> Checked {
    subject.has_gpus()?;
    let log = subject.log()?;
    let (mut fails, mut warns) = (Findings::default(), Findings::default());
    for sxid in log.sxids() {
        let what = format!("SXid {}", sxid.number);
        if sxid.text.starts_with("Fatal") {
            fails.wrong(sxid.device, what, log.command.clone(), sxid.line);
        } else if sxid.text.starts_with("Non-fatal") {
            warns.wrong(sxid.device, what, log.command.clone(), sxid.line);
        }
    }
    if fails.is_well() {
        return Ok(warns.verdict("none").counted_as(Warn));
    }
    Ok(fails.verdict(""))
}

fn complaints(subject: &Subject<'_>) -> Checked {
    const SIGNS: &[(&str, &str)] = &[
        ("RmInitAdapter failed", "a GPU could not be initialised"),
        ("API mismatch", "a program has libraries of another version"),
        ("The NVIDIA probe routine was not called", "another driver holds a GPU"),
        ("Unknown symbol ib_register_peer_memory_client", "nvidia_peermem does not fit this ib_core"),
        ("disagrees about version of symbol", "a module was built for other modules"),
        ("task nvidia-smi", "nvidia-smi was blocked"),
    ];
    subject.has_gpus()?;
    let log = subject.log()?;
    let mut findings = Findings::default();
    for (sign, how) in SIGNS {
        if let Some(line) = log.with(&[sign]).last() {
            findings.wrong("the driver", *how, log.command.clone(), line);
        }
    }
    Ok(findings.verdict("none"))
}
