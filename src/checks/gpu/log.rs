//! Messages of the kernel's log about GPUs and their switches.

use crate::causes::{Counts, Said};
use crate::checks::shared::log::{judge, judge_those};
use crate::checks::shared::verdict::{Checked, Verdict};
use crate::checks::{Check, Needs, Subject};
use crate::events::CheckStatus::{Fail, Warn};
use crate::facts::log::Log;

pub(in crate::checks) const CHECKS: &[Check] = &[
    Check {
        id: "gpu.xid",
        title: "the driver reported no serious error (Xid) since the last reset of the GPUs",
        needs: Needs::Idle,
        severity: Fail,
        expects: "no Xid that needs a reset, a reboot or a repair, and no GPU that fell off the bus without one; a Xid that an application causes is a warning",
        why: "A Xid is the driver's report of an error of a GPU: 79 means that it fell off the bus, 48 and 95 are memory, 74 is NVLink, 119 is its firmware.",
        hint: "the finding says what the number asks for: most want a reset of the GPUs (`nvidia-smi -r`), 79 a power cycle, 13 and 31 a look at the program; a GPU is replaced last",
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

/// The log of a host with GPUs, and of one that shows none any more and whose log tells of them. A container reads the
/// log of the machine around it.
fn log<'s>(subject: &Subject<'s>, check: &str) -> Result<&'s Log, Verdict> {
    match subject.log() {
        Ok(log) if log.said().iter().any(|said| said.cause.check == check) && !subject.is_container() => {
            Ok(log)
        }
        log => subject.has_gpus().and(log),
    }
}

/// Returns advice for a driver that does not answer, by the first failure that the kernel's log reports of
/// it.
pub(super) fn reason(subject: &Subject<'_>) -> Option<&'static str> {
    let said = subject.log().ok()?.said();
    let of_driver = said.iter().filter(|one| matches!(one.cause.check, "driver.log" | "gpu.xid"));
    let mut grave = of_driver.filter(|one| one.counts(&said) == Counts::Fail);
    grave.next().map(|one| one.act(&said))
}

fn xid(subject: &Subject<'_>) -> Checked {
    let log = log(subject, "gpu.xid")?;
    let all = log.said();
    // The line beside a Xid 79 says the same.
    let told = |said: &&Said<'_>| {
        said.cause.id != "nvidia.off_the_bus"
            || !all
                .iter()
                .any(|xid| xid.cause.id == "xid.off_the_bus" && said.device().starts_with(xid.device()))
    };
    let those = all.iter().filter(|said| said.cause.check == "gpu.xid").filter(told);
    Ok(judge_those(log, &all, those, "none"))
}

fn xid_before(subject: &Subject<'_>) -> Checked {
    subject.has_gpus()?;
    let log = subject.log()?;
    let all = match log.said_before() {
        Ok(said) => said,
        Err(gap) => {
            return Err(Verdict::Skip(format!(
                "the journal does not tell of the boot before: {}",
                gap.reason
            )));
        }
    };
    let before = Log { command: "journalctl -k -b -1".to_owned(), ..log.clone() };
    let grave = all.iter().filter(|said| said.counts(&all) == Counts::Fail);
    Ok(judge_those(&before, &all, grave, "none").counted_as(Warn))
}

fn sxid(subject: &Subject<'_>) -> Checked {
    let log = log(subject, "gpu.nvswitch_errors")?;
    Ok(judge("gpu.nvswitch_errors", log, &log.said(), "none"))
}
