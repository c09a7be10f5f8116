//! What the kernel's log tells of GPUs and their switches.

use crate::checks::shared::verdict::{Checked, Findings, Verdict};
use crate::checks::{Check, Needs, Subject};
use crate::events::CheckStatus::{Fail, Warn};
use crate::facts::log::{Log, Xid};

pub(in crate::checks) const CHECKS: &[Check] = &[
    Check {
        id: "gpu.xid",
        title: "the driver reported no serious error (Xid) since the last reset of the GPUs",
        needs: Needs::Idle,
        severity: Fail,
        expects: "no Xid that needs a reset, a reboot or a repair, and no GPU that fell off the bus without one; a Xid that an application causes is a warning",
        why: "A Xid is the driver's report of an error of a GPU: 79 means that it fell off the bus, 48 and 95 are memory, 74 is NVLink, 119 is its firmware.",
        hint: "drain the host and reset its GPUs (`nvidia-smi -r`) or reboot; if the same Xid returns within a day, replace the GPU",
        source: "Analyzing Xid Errors with the Xid Catalog (NVIDIA)",
        run: xid,
    },
    Check {
        id: "gpu.xid_before",
        title: "the driver reported no serious error (Xid) in the boot before",
        needs: Needs::Idle,
        severity: Warn,
        expects: "no Xid that needs a reset, a reboot or a repair in the last day of the boot before this one; skipped where the journal does not reach back to it",
        why: "A reboot clears the error and not its cause: a GPU that failed yesterday passes every check today, until the next job.",
        hint: "run `dcgmi diag -r 3` before the host gets jobs; if the same Xid returns within a day, replace the GPU",
        source: "Analyzing Xid Errors with the Xid Catalog (NVIDIA); journalctl(1)",
        run: xid_before,
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
        // Of NVLink 5, which says itself how serious it is: `NETIR_LINK_EVT Fatal XC0`, `RLW_RXPIPE Nonfatal`.
        144..=150 if text.split_whitespace().any(|word| word == "Fatal") => Some(Fail),
        // The recovery action changed; the text says to what.
        154 => {
            let asks = ["Reset", "Reboot", "Drain"].iter().any(|word| text.contains(word));
            asks.then_some(Fail)
        }
        _ => Some(Warn),
    }
}

/// The log of a host with GPUs, and of one that shows none any more and whose log tells of them. A container reads the
/// log of the machine around it.
fn log<'s>(subject: &Subject<'s>, tells: impl Fn(&Log) -> bool) -> Result<&'s Log, Verdict> {
    match subject.log() {
        Ok(log) if tells(log) && !subject.is_container() => Ok(log),
        log => subject.has_gpus().and(log),
    }
}

fn xid(subject: &Subject<'_>) -> Checked {
    let log = log(subject, |log| !log.xids().is_empty() || !log.fallen().is_empty())?;
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
    for (device, line) in log.fallen() {
        let told = |xid: &Xid<'_>| xid.number == 79 && device.starts_with(xid.device);
        if !xids.iter().any(told) {
            let device = if device.is_empty() { "a GPU" } else { device };
            fails.wrong(device, "fell off the bus", log.command.clone(), line);
        }
    }
    if fails.is_well() {
        let notes = xids.len();
        let pass =
            if notes == 0 { "none".to_owned() } else { format!("{notes} messages that need no action") };
        return Ok(warns.verdict(pass).counted_as(Warn));
    }
    Ok(fails.verdict(""))
}

fn xid_before(subject: &Subject<'_>) -> Checked {
    const FROM: &str = "journalctl -k -b -1";
    subject.has_gpus()?;
    let xids = match subject.log()?.xids_before() {
        Ok(xids) => xids,
        Err(gap) => {
            return Err(Verdict::Skip(format!(
                "the journal does not tell of the boot before: {}",
                gap.reason
            )));
        }
    };
    let mut findings = Findings::default();
    for xid in xids.iter().filter(|xid| severity(xid.number, xid.text) == Some(Fail)) {
        findings.wrong(xid.device, format!("Xid {}", xid.number), FROM, xid.line);
    }
    Ok(findings.verdict("none"))
}

fn sxid(subject: &Subject<'_>) -> Checked {
    let log = log(subject, |log| !log.sxids().is_empty())?;
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
