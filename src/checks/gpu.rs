//! GPUs (domain G9 to G13).

use super::models;
use super::verdict::{Checked, Findings, Verdict};
use super::{Check, Kind, Subject};
use crate::events::CheckStatus::{Fail, Warn};
use crate::probes::GapKind;
use crate::probes::nvidia::Gpu;

const SMI: &str = "nvidia-smi -q -x";

pub(super) const CHECKS: &[Check] = &[
    Check {
        id: "gpu.answers",
        title: "the driver answers questions about its GPUs",
        kind: Kind::Idle,
        severity: Fail,
        expects: "`nvidia-smi` ends well within 30 s on a host that has NVIDIA GPUs on its PCI bus",
        why: "A sick GPU blocks the driver: jobs hang at start, and every other check of GPUs has nothing to look at.",
        hint: "look for Xid in `dmesg`; when nvidia-smi hangs, drain the host and reboot it",
        source: "domain B12, G9",
        run: answers,
    },
    Check {
        id: "gpu.count",
        title: "every GPU of the PCI bus is known to the driver, and none is missing",
        kind: Kind::Idle,
        severity: Fail,
        expects: "as many GPUs as on the PCI bus; `expect.gpu.count` when it is declared",
        why: "A GPU that fell off the bus leaves jobs with fewer ranks than they were given, or none at all.",
        hint: "`dmesg | grep -i xid` (79: fallen off the bus), then power-cycle the host; missing again: replace the GPU",
        source: "domain B1, G9, K3",
        run: count,
    },
    Check {
        id: "gpu.model",
        title: "all GPUs are of the expected model",
        kind: Kind::Idle,
        severity: Fail,
        expects: "one model per host; `expect.gpu.model` when it is declared",
        why: "A collective runs at the speed of its slowest GPU, and memory sizes are planned per model.",
        hint: "compare `nvidia-smi -L` with what was ordered, and the inventory with both",
        source: "domain G11",
        run: model,
    },
    Check {
        id: "gpu.memory",
        title: "each GPU has the memory of its model",
        kind: Kind::Idle,
        severity: Fail,
        expects: "the model's memory within 1 %, from a table of models or, of another model, that of most GPUs of the host; `expect.gpu.memory_mib` when it is declared",
        why: "Less memory than the model has is a broken or reserved part of it; jobs fail with out of memory on this host only.",
        hint: "check MIG and vGPU settings, then the row remapper (`nvidia-smi -q -d ROW_REMAPPER`)",
        source: "domain G11",
        run: memory,
    },
    Check {
        id: "gpu.ecc",
        title: "error correction is on, and will be after the next reset",
        kind: Kind::Idle,
        severity: Fail,
        expects: "enabled on data-centre GPUs; `expect.gpu.ecc` when it is declared",
        why: "Without it a flipped bit is a wrong gradient that nobody sees.",
        hint: "`nvidia-smi -e 1`, then reset the GPUs or reboot",
        source: "domain G11, L22",
        run: ecc,
    },
    Check {
        id: "gpu.ecc_errors",
        title: "no uncorrectable memory error since the driver was loaded",
        kind: Kind::Idle,
        severity: Fail,
        expects: "none; up to 10 000 corrected SRAM and 20 000 000 corrected DRAM errors",
        why: "After an uncorrectable error the application that met it has wrong data or died; repeated ones mean a bad GPU.",
        hint: "drain the host, reset the GPU (`nvidia-smi -r`), run `dcgmi diag -r 3`; again: replace it",
        source: "domain G10, G11",
        run: ecc_errors,
    },
    Check {
        id: "gpu.row_remap",
        title: "no row of GPU memory waits to be remapped, none failed to be",
        kind: Kind::Idle,
        severity: Fail,
        expects: "nothing pending, no failure, at most 512 rows remapped for uncorrectable errors",
        why: "A pending row keeps giving errors until the GPU is reset; a failed one means that the spare rows are used up.",
        hint: "pending: drain the host and reset the GPU (`nvidia-smi -r`); failed: replace the GPU",
        source: "domain G11, K3",
        run: row_remap,
    },
    Check {
        id: "gpu.persistence",
        title: "persistence mode is on",
        kind: Kind::Idle,
        severity: Warn,
        expects: "enabled; `expect.gpu.persistence` when it is declared",
        why: "Without it the driver is set up anew for every job: slow starts, and settings are lost in between.",
        hint: "`systemctl enable --now nvidia-persistenced`",
        source: "domain B14",
        run: persistence,
    },
    Check {
        id: "gpu.pcie_width",
        title: "each GPU uses all its PCIe lanes",
        kind: Kind::Idle,
        severity: Fail,
        expects: "as many lanes as the GPU can use",
        why: "With half its lanes a GPU gets half the bandwidth to the host and to the network cards.",
        hint: "reseat the GPU or its riser, and look at the slot's bifurcation in the firmware setup",
        source: "domain D6, G9",
        run: pcie_width,
    },
    Check {
        id: "gpu.pcie_generation",
        title: "each GPU's PCIe link runs at its full generation",
        kind: Kind::Load,
        severity: Warn,
        expects: "the highest generation of the link; idle boards that are not SXM lower it to save power and are skipped",
        why: "One generation less is half the bandwidth to the host and to the network cards.",
        hint: "`lspci -vv` of the GPU and of the port above it: LnkSta says which side lowered it",
        source: "domain D6, G9",
        run: pcie_generation,
    },
    Check {
        id: "gpu.nvlink",
        title: "all NVLinks are up",
        kind: Kind::Idle,
        severity: Fail,
        expects: "every link up, and as many as the model has, from a table of models; `expect.gpu.nvlinks` when it is declared",
        why: "One link less lowers the bandwidth between GPUs for every job on the host, without any error.",
        hint: "`nvidia-smi nvlink -e` for errors, fabric manager's log, then power-cycle; again: replace the GPU or the board",
        source: "domain G11, G13",
        run: nvlink,
    },
    Check {
        id: "gpu.fabric",
        title: "the NVLink fabric is ready",
        kind: Kind::Idle,
        severity: Fail,
        expects: "state Completed, status Success, on GPUs behind NVSwitches that report it",
        why: "Until the fabric manager has set the switches up CUDA fails with error 802, though nvidia-smi looks well.",
        hint: "`systemctl status nvidia-fabricmanager`; its version must equal the driver's exactly",
        source: "domain B14, G10, L5",
        run: fabric,
    },
    Check {
        id: "gpu.recovery",
        title: "the driver asks for no reset",
        kind: Kind::Idle,
        severity: Fail,
        expects: "no recovery action, no reset required",
        why: "The driver saw an error that only a reset or reboot clears; jobs on this GPU fail until then.",
        hint: "do what it asks for after draining the host: `nvidia-smi -r`, or a reboot",
        source: "domain G9, G10",
        run: recovery,
    },
];

fn answers(subject: &Subject<'_>) -> Checked {
    subject.has_gpus()?;
    let seen = match subject.nvidia() {
        Ok(nvidia) => nvidia.smi.as_ref().map(|smi| smi.driver.clone()),
        Err(gap) => return Err(Verdict::finding(gap.reason, SMI, gap.output)),
    };
    match seen {
        Ok(driver) => Ok(Verdict::Pass(format!("driver {driver}"))),
        Err(gap) if matches!(gap.kind, GapKind::Missing | GapKind::Garbled) => Err(Verdict::gap(gap, None)),
        Err(gap) if gap.kind == GapKind::Absent => Err(Verdict::finding(
            "the nvidia module is not loaded",
            "/sys/module/nvidia",
            "no such directory",
        )
        .hint("`modprobe nvidia`; when that fails, see driver.module")),
        Err(gap) => {
            let line = if gap.output.is_empty() { &gap.reason } else { &gap.output };
            Err(Verdict::finding(gap.reason.clone(), SMI, line))
        }
    }
}

fn count(subject: &Subject<'_>) -> Checked {
    let smi = subject.smi()?;
    let mut findings = Findings::default();
    let pci = subject.pci_gpus().unwrap_or_default();
    for (address, _) in &pci {
        if !smi.gpus.iter().any(|gpu| gpu.bus == *address) {
            findings.wrong(
                address,
                "on the PCI bus, unknown to the driver",
                SMI,
                format!("no GPU at {address}"),
            );
        }
    }
    for gpu in &smi.gpus {
        if !pci.iter().any(|(address, _)| gpu.bus == *address) {
            let line = format!("the driver lists {}, /sys/bus/pci/devices does not", gpu.bus);
            findings.wrong(
                &gpu.bus,
                "listed by the driver, gone from the PCI bus",
                "/sys/bus/pci/devices",
                line,
            );
        }
    }
    let seen = smi.gpus.len();
    if let Some(wanted) = subject.expect_gpu().count
        && usize::try_from(wanted) != Ok(seen)
    {
        findings.wrong(
            "the driver",
            format!("{seen} of {wanted} GPUs"),
            SMI,
            format!("attached_gpus {seen}"),
        );
    }
    Ok(findings.verdict(format!("{seen} GPUs")))
}

fn model(subject: &Subject<'_>) -> Checked {
    let gpus = subject.gpus()?;
    let wanted =
        subject.expect_gpu().model.or_else(|| majority(gpus.iter().map(|(_, gpu)| gpu.name.clone())));
    let wanted = wanted.unwrap_or_default();
    let mut findings = Findings::default();
    for (name, gpu) in &gpus {
        if gpu.name != wanted {
            let how = format!("{}, expected {wanted}", gpu.name);
            findings.wrong(name, how, SMI, format!("product_name {}", gpu.name));
        }
    }
    Ok(findings.verdict(wanted))
}

/// The value that more than half of them have.
pub(super) fn majority<T: Ord + Clone>(values: impl Iterator<Item = T>) -> Option<T> {
    let mut counts = std::collections::BTreeMap::new();
    let mut all = 0_usize;
    for value in values {
        all += 1;
        *counts.entry(value).or_insert(0_usize) += 1;
    }
    counts.into_iter().find(|(_, count)| count * 2 > all).map(|(value, _)| value)
}

fn memory(subject: &Subject<'_>) -> Checked {
    let gpus = subject.gpus()?;
    let declared = subject.expect_gpu().memory_mib;
    let mut findings = Findings::default();
    let mut pass = String::new();
    for (name, gpu) in &gpus {
        // Of a model that is not in the table, the others of the host tell.
        let of_table = || models::find(&gpu.name).map(|model| model.memory_mib);
        let alike =
            || gpus.iter().filter(|(_, other)| other.name == gpu.name).filter_map(|(_, it)| it.memory_mib);
        let of_host = || majority(alike()).filter(|_| alike().count() > 2);
        let Some(wanted) = declared.or_else(of_table).or_else(of_host) else {
            return Err(Verdict::Skip(format!("the memory of {} is not in the table", gpu.name)));
        };
        match gpu.memory_mib {
            Some(seen) if seen.abs_diff(wanted) * 100 <= wanted => pass = format!("{seen} MiB"),
            Some(seen) => {
                let line = format!("fb_memory_usage/total {seen} MiB");
                findings.wrong(name, format!("{seen} MiB, expected {wanted}"), SMI, line);
            }
            None => findings.unknown(name, "nvidia-smi does not tell its memory", SMI),
        }
    }
    Ok(findings.verdict(pass))
}

/// Looks at a switch of each GPU; GPUs without it are not known, unless none of an unknown model has it.
fn switch(subject: &Subject<'_>, field: &str, wanted: bool, get: fn(&Gpu) -> Option<bool>) -> Checked {
    let gpus = subject.gpus()?;
    let word = |on: bool| if on { "enabled" } else { "disabled" };
    if gpus.iter().all(|(_, gpu)| get(gpu).is_none() && models::find(&gpu.name).is_none()) {
        return Err(Verdict::Skip(format!("these GPUs have no {field}")));
    }
    let mut findings = Findings::default();
    for (name, gpu) in &gpus {
        match get(gpu) {
            Some(on) if on == wanted => {}
            Some(on) => findings.wrong(name, word(on), SMI, format!("{field} {}", word(on))),
            None => findings.unknown(name, format!("nvidia-smi does not tell {field}"), SMI),
        }
    }
    Ok(findings.verdict(word(wanted)))
}

fn ecc(subject: &Subject<'_>) -> Checked {
    let wanted = subject.expect_gpu().ecc.unwrap_or(true);
    let now = switch(subject, "ecc_mode/current_ecc", wanted, |gpu| gpu.ecc)?;
    if !matches!(now, Verdict::Pass(_)) {
        return Ok(now);
    }
    // Changed and not yet in effect: the next reboot turns it.
    let pending = subject.gpus()?;
    let mut findings = Findings::default();
    for (name, gpu) in pending.iter().filter(|(_, gpu)| gpu.ecc_pending.is_some_and(|on| on != wanted)) {
        let line = format!("pending_ecc {:?}, current_ecc {:?}", gpu.ecc_pending, gpu.ecc);
        findings.wrong(name, "the next reset changes it", SMI, line);
    }
    Ok(findings.verdict(if wanted { "enabled" } else { "disabled" }))
}

fn ecc_errors(subject: &Subject<'_>) -> Checked {
    let gpus = subject.gpus()?;
    if gpus.iter().all(|(_, gpu)| gpu.ecc == Some(false)) {
        return Err(Verdict::Skip("error correction is off, nothing is counted".to_owned()));
    }
    let mut findings = Findings::default();
    for (name, gpu) in &gpus {
        match gpu.uncorrected {
            Some(0) => {}
            Some(count) => {
                let line = format!("ecc_errors/volatile: {count} uncorrectable");
                findings.wrong(name, format!("{count} uncorrectable errors"), SMI, line);
            }
            None => findings.unknown(name, "nvidia-smi does not count its memory errors", SMI),
        }
        for (kind, count, most) in
            [("SRAM", gpu.sram_corrected, 10_000), ("DRAM", gpu.dram_corrected, 20_000_000)]
        {
            if let Some(count) = count.filter(|count| *count > most) {
                let line = format!("ecc_errors/volatile: {count} corrected in {kind}");
                findings.wrong(name, format!("{count} corrected {kind} errors"), SMI, line);
            }
        }
    }
    Ok(findings.verdict("none"))
}

fn row_remap(subject: &Subject<'_>) -> Checked {
    let gpus = subject.gpus()?;
    let nobody = |(_, gpu): &(String, &Gpu)| gpu.remap_pending.is_none() && models::find(&gpu.name).is_none();
    if gpus.iter().all(nobody) {
        return Err(Verdict::Skip("these GPUs remap no rows".to_owned()));
    }
    let mut findings = Findings::default();
    for (name, gpu) in &gpus {
        if gpu.remap_failure == Some(true) {
            findings.wrong(name, "a row could not be remapped", SMI, "remapped_row_failure Yes");
        }
        match gpu.remap_pending {
            Some(false) => {}
            Some(true) => findings.wrong(name, "a row waits for a reset", SMI, "remapped_row_pending Yes"),
            None => findings.unknown(name, "nvidia-smi does not tell of remapped rows", SMI),
        }
        if let Some(rows) = gpu.remapped.filter(|rows| *rows > 512) {
            findings.wrong(name, format!("{rows} rows remapped"), SMI, format!("remapped_row_unc {rows}"));
        }
    }
    Ok(findings.verdict("none pending"))
}

fn persistence(subject: &Subject<'_>) -> Checked {
    let wanted = subject.expect_gpu().persistence.unwrap_or(true);
    switch(subject, "persistence_mode", wanted, |gpu| gpu.persistence)
}

fn pcie_width(subject: &Subject<'_>) -> Checked {
    let mut findings = Findings::default();
    let mut pass = String::new();
    for (name, gpu) in subject.gpus()? {
        match gpu.width {
            Some((now, most)) if now == most => pass = format!("x{now}"),
            Some((now, most)) => {
                let line = format!("current_link_width {now}x, max_link_width {most}x");
                findings.wrong(&name, format!("x{now} of x{most}"), SMI, line);
            }
            None => findings.unknown(&name, "nvidia-smi does not tell its link width", SMI),
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
            Some(_) if gpu.processes == 0 && !stays_up => idle += 1,
            Some((now, most)) => {
                let line = format!("current_link_gen {now}, max_link_gen {most}");
                findings.wrong(name, format!("generation {now} of {most}"), SMI, line);
            }
            None => findings.unknown(name, "nvidia-smi does not tell its link generation", SMI),
        }
    }
    if idle == gpus.len() {
        return Err(Verdict::Skip("the GPUs are idle and save power".to_owned()));
    }
    Ok(findings.verdict("full generation"))
}

fn nvlink(subject: &Subject<'_>) -> Checked {
    const FROM: &str = "nvidia-smi nvlink -s";
    let gpus = subject.gpus()?;
    let declared = subject.expect_gpu().nvlinks;
    let of = |gpu: &Gpu| declared.or_else(|| models::find(&gpu.name).and_then(|model| model.links));
    let links = match subject.nvidia().map(|nvidia| &nvidia.links) {
        // One GPU of a board in a guest: there is nobody at the other end, and nvidia-smi prints nothing.
        Ok(Err(gap)) if gap.output.is_empty() && declared.is_none() && subject.has_one_gpu() => {
            return Err(Verdict::Skip("one GPU by itself".to_owned()));
        }
        // Boards without any link say so with an error.
        Ok(Err(gap)) if gap.kind == GapKind::Failed && gpus.iter().all(|(_, gpu)| of(gpu).is_none()) => {
            return Err(Verdict::Skip("these GPUs report no NVLink".to_owned()));
        }
        seen => subject.seen(seen, Some("gpu.answers"))?,
    };
    if links.iter().all(Vec::is_empty) && gpus.iter().all(|(_, gpu)| of(gpu).is_none()) {
        return Err(Verdict::Skip("these GPUs report no NVLink".to_owned()));
    }
    let mut findings = Findings::default();
    for (index, (name, gpu)) in gpus.iter().enumerate() {
        // NVLink between instances is off on purpose.
        if gpu.mig == Some(true) {
            continue;
        }
        let Some(links) = links.get(index) else {
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
        return Err(Verdict::Skip("one GPU by itself".to_owned()));
    }
    let mut findings = Findings::default();
    for (name, gpu) in gpus.iter().filter(|(_, gpu)| switched(gpu)) {
        let state = gpu.fabric_state.as_deref();
        let status = gpu.fabric_status.as_deref();
        match (state, status) {
            (Some("Completed"), Some("Success") | None) => {}
            (None, _) => findings.unknown(name, "nvidia-smi does not tell the state of its fabric", SMI),
            (Some(state), status) => {
                let text = format!("{state}, {}", status.unwrap_or("no status"));
                findings.wrong(name, text.clone(), SMI, format!("fabric: {text}"));
            }
        }
    }
    Ok(findings.verdict("Completed, Success"))
}

fn recovery(subject: &Subject<'_>) -> Checked {
    let mut findings = Findings::default();
    for (name, gpu) in subject.gpus()? {
        if let Some(action) = &gpu.recovery {
            findings.wrong(&name, format!("wants: {action}"), SMI, format!("gpu_recovery_action {action}"));
        }
    }
    Ok(findings.verdict("none"))
}
