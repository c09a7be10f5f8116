//! What the kernel's log tells of GPUs and their switches.

use crate::checks::shared::verdict::{Checked, Findings};
use crate::checks::{Check, Needs, Subject};
use crate::events::CheckStatus::{Fail, Warn};

pub(in crate::checks) const CHECKS: &[Check] = &[
    Check {
        id: "gpu.xid",
        title: "the driver reported no serious error (Xid) since the last reset of the GPUs",
        needs: Needs::Idle,
        severity: Fail,
        expects: "no Xid that needs a reset, a reboot or a repair; a Xid that an application causes is a warning",
        why: "A Xid is the driver's report of an error of a GPU: 79 means that it fell off the bus, 48 and 95 are memory, 74 is NVLink, 119 is its firmware.",
        hint: "drain the host and reset its GPUs (`nvidia-smi -r`) or reboot; if the same Xid returns within a day, replace the GPU",
        source: "Analyzing Xid Errors with the Xid Catalog (NVIDIA)",
        run: xid,
    },
    Check {
        id: "gpu.nvswitch_errors",
        title: "no NVSwitch reported a fatal error",
        needs: Needs::Idle,
        severity: Fail,
        expects: "no fatal SXid; others are a warning",
        why: "After a fatal error of a switch no GPU of the board has NVLink.",
        hint: "end all jobs, stop the fabric manager, run `nvidia-smi -r` and start the manager again; if the error returns, replace the board",
        source: "Fabric Manager for NVIDIA NVSwitch Systems (user guide)",
        run: sxid,
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
        let pass =
            if notes == 0 { "none".to_owned() } else { format!("{notes} messages that need no action") };
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
