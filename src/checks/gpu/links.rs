//! Links of GPUs: `PCIe`, NVLink and the fabric behind it.

use crate::checks::shared::baseline::{Growths, growth};
use crate::checks::shared::models;
use crate::checks::shared::verdict::{Checked, Findings, Verdict};
use crate::checks::{Check, Needs, Subject};
use crate::events::CheckStatus::{Fail, Warn};
use crate::facts::GapKind;
use crate::facts::nvidia::Gpu;

const SMI: &str = "nvidia-smi -q -x";

pub(in crate::checks) const CHECKS: &[Check] = &[
    Check {
        id: "gpu.pcie_width",
        title: "each GPU uses all its PCIe lanes",
        needs: Needs::Idle,
        severity: Fail,
        expects: "as many lanes as the GPU can use, and 8 on an A10G, T4 or L40S of a virtual machine; `expect.gpu.pcie_width` when it is declared",
        why: "With half its lanes a GPU gets half the bandwidth to the host and to the network cards.",
        hint: "reseat the GPU or its riser, and look at the slot's bifurcation in the firmware setup",
        source: "nvidia-smi(1)",
        run: pcie_width,
    },
    Check {
        id: "gpu.pcie_generation",
        title: "each GPU's PCIe link runs at its full generation",
        needs: Needs::Load,
        severity: Warn,
        expects: "the highest generation of the link. Boards that are not SXM slow the link down while nothing runs on them, even if a display or a daemon holds them open: idle ones are skipped",
        why: "Each lower generation halves the bandwidth to the host and to the network cards.",
        hint: "`lspci -vv` of the GPU and of the port above it: LnkSta says which side lowered it",
        source: "nvidia-smi(1)",
        run: pcie_generation,
    },
    Check {
        id: "gpu.pcie_replays",
        title: "no GPU repeated a PCIe packet since the last verify",
        needs: Needs::Delta,
        severity: Warn,
        expects: "replay_counter has not grown",
        why: "Each replay is a packet that arrived damaged; the usual cause is a bad contact, which gets worse.",
        hint: "reseat the GPU or its riser",
        source: "nvidia-smi(1)",
        run: replays,
    },
    Check {
        id: "gpu.nvlink",
        title: "all NVLinks are up",
        needs: Needs::Idle,
        severity: Fail,
        expects: "every link is up, and there are as many as `expect.gpu.nvlinks`, else as the model is known to have, else at least one on an SXM board or behind NVSwitches",
        why: "With one link down the bandwidth between GPUs is lower for every job on the host, and nothing reports an error.",
        hint: "look at `nvidia-smi nvlink -e` and at the fabric manager's log, then power-cycle the host; if it returns, replace the GPU or the board",
        source: "nvidia-smi(1), nvlink",
        run: nvlink,
    },
    Check {
        id: "gpu.fabric",
        title: "the NVLink fabric is ready",
        needs: Needs::Idle,
        severity: Fail,
        expects: "state Completed, status Success, on GPUs behind NVSwitches that report it",
        why: "Until the fabric manager has set up the switches, CUDA fails with error 802, although nvidia-smi reports no problem.",
        hint: "`systemctl status nvidia-fabricmanager`; its version must equal the driver's exactly; boards of NVLink 5 (B200, B300) need nvlsm and the module ib_umad besides, which Ubuntu's cloud kernels have in linux-modules-extra-$(uname -r)",
        source: "Fabric Manager for NVIDIA NVSwitch Systems (user guide); nvidia-smi(1)",
        run: fabric,
    },
    Check {
        id: "gpu.fabric_health",
        title: "the NVLink fabric is healthy",
        needs: Needs::Idle,
        severity: Fail,
        expects: "summary Healthy, full bandwidth, no route that is unhealthy or being recovered, on GPUs that report it",
        why: "A fabric that is set up can still lose routes or bandwidth: jobs then get slow or end with an error, although its state is Completed.",
        hint: "look at Fabric in `nvidia-smi -q` and at the fabric manager's log; when no recovery is in progress, drain the host and power-cycle it",
        source: "nvidia-smi(1); NVML API Reference Guide (NVIDIA), health of nvmlGpuFabricInfo",
        run: fabric_health,
    },
];

fn pcie_width(subject: &Subject<'_>) -> Checked {
    let declared = subject.expect_gpu().pcie_width;
    let mut findings = Findings::default();
    let mut pass = String::new();
    for (name, gpu) in subject.gpus()? {
        let halved = |now: u32, most: u32| {
            let given = gpu.passed_through && models::has_half_a_slot(&gpu.name);
            declared.is_none() && given && now * 2 == most
        };
        match gpu.width.map(|(now, most)| (now, declared.unwrap_or(most))) {
            Some((now, wanted)) if now == wanted => pass = format!("x{now}"),
            Some((now, wanted)) if halved(now, wanted) => {
                pass = format!("x{now} of x{wanted}, as clouds give this model");
            }
            Some((now, wanted)) => {
                let most = gpu.width.map_or(wanted, |(_, most)| most);
                let line = format!("current_link_width {now}x, max_link_width {most}x");
                findings.wrong(&name, format!("x{now} of x{wanted}"), SMI, line);
            }
            None => findings.unknown(&name, "nvidia-smi does not show its link width", SMI),
        }
    }
    Ok(findings.verdict(pass))
}

fn pcie_generation(subject: &Subject<'_>) -> Checked {
    let mut findings = Findings::default();
    let mut idle = 0;
    let gpus = subject.gpus()?;
    for (name, gpu) in &gpus {
        let stays_up = models::find(&gpu.name).is_some_and(|model| model.sxm);
        match gpu.generation {
            Some((now, most)) if now >= most => {}
            // A display or a daemon that holds it open gives it nothing to do.
            Some(_) if (gpu.processes == 0 || gpu.at_rest) && !stays_up => idle += 1,
            Some((now, most)) => {
                let line = format!("current_link_gen {now}, max_link_gen {most}");
                findings.wrong(name, format!("generation {now} of {most}"), SMI, line);
            }
            None => findings.unknown(name, "nvidia-smi does not show its link generation", SMI),
        }
    }
    if idle == gpus.len() {
        return Err(Verdict::Skip("the GPUs are idle and save power".to_owned()));
    }
    Ok(findings.verdict("full generation"))
}

fn replays(subject: &Subject<'_>) -> Checked {
    subject.smi()?;
    let Growths { grown, at, .. } = growth(subject, "gpu", |counter| counter == "replays")?;
    let mut findings = Findings::default();
    for one in grown {
        let line = format!("replay_counter +{} since {at}", one.by);
        findings.wrong(&one.device, format!("+{}", one.by), "nvidia-smi -q -x", line);
    }
    Ok(findings.verdict(format!("none since {at}")))
}

fn nvlink(subject: &Subject<'_>) -> Checked {
    const FROM: &str = "nvidia-smi nvlink -s";
    let gpus = subject.gpus()?;
    if gpus.iter().all(|(_, gpu)| gpu.mig == Some(true)) {
        return Err(Verdict::Skip("GPUs in multi-instance mode do not use NVLink".to_owned()));
    }
    let declared = subject.expect_gpu().nvlinks;
    let of = |gpu: &Gpu| declared.or_else(|| models::find(&gpu.name).and_then(|model| model.links));
    let is_of_board = |gpu: &Gpu| gpu.fabric_state.is_some() || gpu.name.contains("SXM");
    let links = match subject.nvidia().map(|nvidia| &nvidia.links) {
        // One GPU of a board in a guest: there is nobody at the other end, and nvidia-smi prints nothing.
        Ok(Err(gap)) if gap.output.is_empty() && declared.is_none() && subject.has_one_gpu() => {
            return Err(Verdict::Skip("a single GPU has no NVLink to another".to_owned()));
        }
        // Boards without any link: nothing at all is printed. Those of a board with links have some.
        Ok(Err(gap))
            if gap.kind == GapKind::Garbled
                && gap.output.is_empty()
                && gpus.iter().all(|(_, gpu)| of(gpu).is_none() && !is_of_board(gpu)) =>
        {
            return Err(Verdict::Skip("these GPUs report no NVLink".to_owned()));
        }
        // Others say so with an error.
        Ok(Err(gap)) if gap.kind == GapKind::Failed && gpus.iter().all(|(_, gpu)| of(gpu).is_none()) => {
            return Err(Verdict::Skip("these GPUs report no NVLink".to_owned()));
        }
        seen => subject.seen(seen, Some("gpu.answers"))?,
    };
    // How many an unknown model has nobody knows; on a board with links none at all are too few.
    let has_some = |gpu: &Gpu| of(gpu).is_none() && is_of_board(gpu) && !subject.has_one_gpu();
    if links.values().all(Vec::is_empty) && gpus.iter().all(|(_, gpu)| of(gpu).is_none() && !has_some(gpu)) {
        return Err(Verdict::Skip("these GPUs report no NVLink".to_owned()));
    }
    let mut findings = Findings::default();
    for (index, (name, gpu)) in gpus.iter().enumerate() {
        // NVLink between instances is off on purpose.
        if gpu.mig == Some(true) {
            continue;
        }
        let Some(links) = links.get(&index) else {
            findings.unknown(name, "nvidia-smi nvlink -s does not list it", FROM);
            continue;
        };
        let up = links.iter().flatten().count();
        let wanted = of(gpu).and_then(|wanted| usize::try_from(wanted).ok()).unwrap_or(links.len());
        if up < wanted || up < links.len() {
            let down: Vec<String> = (0..links.len().max(wanted))
                .filter(|link| links.get(*link).copied().flatten().is_none())
                .map(|link| link.to_string())
                .collect();
            let line = format!("Link {}: not up", down.join(", "));
            findings.wrong(name, format!("{up} of {} links up", links.len().max(wanted)), FROM, line);
        } else if up == 0 && has_some(gpu) {
            findings.wrong(name, "no link is up", FROM, "all links are inactive");
        }
    }
    Ok(findings.verdict("all links up"))
}

fn fabric(subject: &Subject<'_>) -> Checked {
    let gpus = subject.gpus()?;
    let switched =
        |gpu: &Gpu| gpu.fabric_state.is_some() || models::find(&gpu.name).is_some_and(|m| m.fabric);
    if !gpus.iter().any(|(_, gpu)| switched(gpu)) {
        return Err(Verdict::Skip("these GPUs report no fabric".to_owned()));
    }
    if subject.has_one_gpu() && gpus.iter().all(|(_, gpu)| gpu.fabric_state.is_none()) {
        return Err(Verdict::Skip("a single GPU needs no fabric".to_owned()));
    }
    let mut findings = Findings::default();
    for (name, gpu) in gpus.iter().filter(|(_, gpu)| switched(gpu)) {
        let state = gpu.fabric_state.as_deref();
        let status = gpu.fabric_status.as_deref();
        match (state, status) {
            (Some("Completed"), Some("Success") | None) => {}
            (None, _) => findings.unknown(name, "nvidia-smi does not show the state of its fabric", SMI),
            (Some(state), status) => {
                let text = format!("{state}, {}", status.unwrap_or("no status"));
                findings.wrong(name, text.clone(), SMI, format!("fabric: {text}"));
            }
        }
    }
    Ok(findings.verdict("Completed, Success"))
}

fn fabric_health(subject: &Subject<'_>) -> Checked {
    let mut findings = Findings::default();
    let mut told = false;
    for (name, gpu) in subject.gpus()? {
        let Some(troubles) = &gpu.fabric_troubles else { continue };
        told = true;
        if !troubles.is_empty() {
            let text = troubles.join(", ");
            findings.wrong(&name, text.clone(), SMI, format!("fabric/health: {text}"));
        }
    }
    if !told {
        return Err(Verdict::Skip("these GPUs do not report the health of a fabric".to_owned()));
    }
    Ok(findings.verdict("Healthy"))
}
