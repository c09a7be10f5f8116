//! Slurm on a node.

use super::shared::verdict::{Checked, Verdict};
use super::{Check, Needs, Subject};
use crate::events::CheckStatus::{Fail, Warn};
use crate::facts::GapKind;

pub(in crate::checks) const CHECKS: &[Check] = &[
    Check {
        id: "slurm.gres",
        title: "Slurm gives out as many GPUs as there are",
        needs: Needs::Idle,
        severity: Fail,
        expects: "`gpu:N` of the node equal to the GPUs on its PCI bus, where Slurm has gpu among its resources",
        why: "With too few, GPUs stay idle; with too many, jobs get GPUs that do not exist.",
        hint: "`Gres=gpu:N` of the node in slurm.conf, gres.conf with AutoDetect=nvml or all device files; then restart slurmd",
        source: "sinfo(1); gres.conf(5)",
        run: gres,
    },
    Check {
        id: "slurm.memlock",
        title: "job steps of Slurm may lock all memory",
        needs: Needs::Idle,
        severity: Fail,
        expects: "slurmd runs without this limit on hosts with RDMA devices; job steps inherit it. No job is started for this",
        why: "With a limit jobs fail in ibv_reg_mr, although the same program works over SSH.",
        hint: "`LimitMEMLOCK=infinity` in a drop-in of slurmd.service, `PropagateResourceLimitsExcept=MEMLOCK` in slurm.conf",
        source: "slurm.conf(5); proc(5)",
        run: slurm_memlock,
    },
    Check {
        id: "slurm.node",
        title: "Slurm takes jobs for this host",
        needs: Needs::Idle,
        severity: Warn,
        expects: "the node is not down, drained, failing or unreachable",
        why: "A node that was drained for a repair and then forgotten runs no jobs.",
        hint: "`scontrol show node NAME` has the reason; `scontrol update nodename=NAME state=resume`",
        source: "sinfo(1)",
        run: slurm_node,
    },
];

/// This host as Slurm knows it.
///
/// # Errors
/// The verdict without Slurm.
fn node<'a>(subject: &Subject<'a>) -> Result<&'a crate::scheduler::slurm::Node, Verdict> {
    let system = subject.system()?;
    match &system.node {
        Err(gap) if gap.kind == GapKind::Absent => Err(Verdict::Skip("no Slurm".to_owned())),
        // A login host is no node.
        Err(gap) if gap.kind == GapKind::Garbled && subject.is_of_cluster().is_err() => {
            Err(Verdict::Skip("Slurm does not know this host".to_owned()))
        }
        seen => subject.seen(Ok(seen), None),
    }
}

fn gres(subject: &Subject<'_>) -> Checked {
    subject.has_gpus()?;
    let node = node(subject)?;
    let Some(gpus) = subject.pci_gpus().map(|gpus| gpus.len() as u64) else {
        return Err(Verdict::unknown(
            "the PCI bus could not be read",
            "/sys/bus/pci/devices",
            "no list of devices",
        ));
    };
    let from = "sinfo -N -h -o '%N %T %G'";
    match node.gpus() {
        seen if seen == gpus => Ok(Verdict::Pass(node.gres.clone())),
        seen => Ok(Verdict::finding(format!("{seen} in Slurm, {gpus} on the PCI bus"), from, &node.gres)),
    }
}

fn slurm_memlock(subject: &Subject<'_>) -> Checked {
    subject.devices()?;
    let files = subject.seen(Ok(&subject.system()?.files), None)?;
    if !files.processes.iter().any(|name| name == "slurmd") {
        return Err(Verdict::Skip("slurmd does not run".to_owned()));
    }
    let from = "/proc/PID of slurmd/limits";
    match files.slurmd_memlock.as_deref() {
        Some("unlimited") => Ok(Verdict::Pass("unlimited".to_owned())),
        Some(bytes) => Ok(Verdict::finding(format!("slurmd has {bytes} bytes"), from, bytes)),
        None => Ok(Verdict::unknown("the limits of slurmd cannot be read", from, "no answer")),
    }
}

fn slurm_node(subject: &Subject<'_>) -> Checked {
    let node = node(subject)?;
    if node.is_away() {
        return Ok(Verdict::finding(node.state.clone(), "sinfo -N -h -o '%N %T %G'", &node.state));
    }
    Ok(Verdict::Pass(node.state.clone()))
}
