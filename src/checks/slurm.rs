//! Slurm on a node.

use super::shared::verdict::{Checked, Verdict};
use super::{Check, Needs, Subject};
use crate::events::CheckStatus::{Fail, Warn};
use crate::facts::GapKind;
use crate::scheduler::slurm::Known;
use crate::words::count;

pub(in crate::checks) const CHECKS: &[Check] = &[
    Check {
        id: "slurm.gres",
        title: "Slurm gives out as many GPUs as there are",
        needs: Needs::Idle,
        severity: Fail,
        expects: "`gpu:N` of the node equal to the GPUs on its PCI bus, where a GPU in multi-instance mode counts as its instances",
        why: "With too few, GPUs stay idle; with too many, jobs get GPUs that do not exist, and Slurm drains the node.",
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
        id: NODE,
        title: "Slurm takes jobs for this host",
        needs: Needs::Idle,
        severity: Warn,
        expects: "the node is not down, drained, failing or unreachable",
        why: "A node that was drained for a repair and then forgotten runs no jobs.",
        hint: "mend what the reason says (`sinfo -R` has who set it and when), then `scontrol update nodename=NAME state=resume`",
        source: "sinfo(1)",
        run: slurm_node,
    },
];

/// Id of the check of whether Slurm gives jobs to a host.
pub const NODE: &str = "slurm.node";
const SINFO: &str = "sinfo -N -h -o '%N %T %G %E'";

/// This host as Slurm knows it.
///
/// # Errors
/// The verdict without Slurm.
fn node<'a>(subject: &Subject<'a>) -> Result<&'a Known, Verdict> {
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

/// GPUs on the PCI bus, a word for what they are, and whether Slurm may cut them to more.
fn present(subject: &Subject<'_>) -> Result<(u64, String), Verdict> {
    let Some(bus) = subject.pci_gpus() else {
        return Err(Verdict::unknown(
            "the PCI bus could not be read",
            "/sys/bus/pci/devices",
            "no list of devices",
        ));
    };
    let whole = (bus.len() as u64, "on the PCI bus".to_owned());
    if bus.is_empty() {
        return Ok(whole);
    }
    let smi = subject.smi()?;
    let cut: Vec<u64> = smi.gpus.iter().filter_map(|gpu| gpu.instances).collect();
    if cut.is_empty() {
        return Ok(whole);
    }
    let instances = cut.iter().copied().fold(0, u64::saturating_add);
    let rest = (bus.len() as u64).saturating_sub(cut.len() as u64);
    let text = match rest {
        0 => format!("instances of {}", count(cut.len() as u64, "GPU")),
        _ => format!("on the host: {} and {}", count(rest, "whole GPU"), count(instances, "instance")),
    };
    Ok((rest.saturating_add(instances), text))
}

fn gres(subject: &Subject<'_>) -> Checked {
    let node = node(subject)?;
    let given = node.node.gpus();
    if given == 0 {
        subject.has_gpus()?;
    }
    let line = format!("{} {}", node.node.state, node.node.gres);
    let found =
        |seen: u64, text: &str| Verdict::finding(format!("{given} in Slurm, {seen} {text}"), SINFO, &line);
    let bus = subject.pci_gpus().map(|gpus| gpus.len() as u64);
    let (seen, text) = match present(subject) {
        Ok(present) => present,
        // Too many can be instances, which only the driver knows; too few are too few.
        Err(unknown) => match bus {
            Some(bus) if given == bus => (bus, String::new()),
            Some(bus) if given < bus => return Ok(found(bus, "on the PCI bus")),
            _ => return Err(unknown),
        },
    };
    if seen == given {
        return Ok(Verdict::Pass(node.node.gres.clone()));
    }
    if seen == 0 && subject.has_other_accelerators() {
        return Err(Verdict::Skip("its GPUs are not of NVIDIA".to_owned()));
    }
    let hint = if seen == 0 {
        "no GPU is on the PCI bus: it fell off, or was never there. `dmesg | grep -iE 'xid|fallen'`, power-cycle the host; if it stays away, replace it or take `Gres=` from the node in slurm.conf"
    } else if text.contains("nstance") {
        "instances were made or removed and slurm.conf was not changed: `nvidia-smi -L` lists them; set `Gres=gpu:N` of the node or AutoDetect=nvml, restart slurmd, then `scontrol update nodename=NAME state=resume`"
    } else {
        return Ok(found(seen, &text));
    };
    Ok(found(seen, &text).hint(hint))
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
    let known = node(subject)?;
    let state = &known.node.state;
    if !known.node.is_away() {
        return Ok(Verdict::Pass(state.clone()));
    }
    if known.reason.is_empty() {
        return Ok(Verdict::finding(state.clone(), SINFO, state));
    }
    let line = format!("{state} {}", known.reason);
    Ok(Verdict::finding(format!("{state}: {}", known.reason), SINFO, line))
}
