//! GPUs: are they there, are they what they should be, is their memory well.

use super::log;
use super::settings::switch;
use crate::checks::driver::holders;
use crate::checks::shared::models;
use crate::checks::shared::values::majority;
use crate::checks::shared::verdict::{Checked, Findings, Verdict};
use crate::checks::{Check, Needs, Subject};
use crate::events::CheckStatus::{Fail, Warn};
use crate::facts::GapKind;
use crate::facts::nvidia::Gpu;

const SMI: &str = "nvidia-smi -q -x";

pub(in crate::checks) const CHECKS: &[Check] = &[
    Check {
        id: "gpu.answers",
        title: "the driver answers questions about its GPUs",
        needs: Needs::Idle,
        severity: Fail,
        expects: "`nvidia-smi` succeeds within 30 s on a host with NVIDIA GPUs on its PCI bus, and says of none that it is lost",
        why: "A broken GPU can block the driver: jobs hang when they start, and no other check can look at the GPUs.",
        hint: "`dmesg` and the findings driver.log, gpu.xid and driver.coherence say why; when nvidia-smi hangs, drain the host and reboot it",
        source: "nvidia-smi(1)",
        run: answers,
    },
    Check {
        id: "gpu.count",
        title: "every GPU of the PCI bus is known to the driver, and none is missing",
        needs: Needs::Idle,
        severity: Fail,
        expects: "as many GPUs as on the PCI bus; `expect.gpu.count` when it is declared",
        why: "A GPU that fell off the bus leaves jobs with fewer ranks than they were given, or none at all.",
        hint: "`dmesg | grep -i xid` (79: fallen off the bus), then power-cycle the host; if it is missing again, replace the GPU",
        source: "nvidia-smi(1); Linux kernel: Documentation/PCI/sysfs-pci.rst",
        run: count,
    },
    Check {
        id: "gpu.model",
        title: "all GPUs are the expected model",
        needs: Needs::Idle,
        severity: Fail,
        expects: "one model per host; `expect.gpu.model` when it is declared",
        why: "A collective runs at the speed of its slowest GPU, and memory sizes are planned per model.",
        hint: "compare `nvidia-smi -L` with what was ordered, then correct the inventory or the hardware",
        source: "nvidia-smi(1)",
        run: model,
    },
    Check {
        id: "gpu.memory",
        title: "each GPU has the memory of its model",
        needs: Needs::Idle,
        severity: Fail,
        expects: "`expect.gpu.memory_mib` when it is declared; else within 1 % the known memory of the model, or for an unknown model what most GPUs of the host have",
        why: "If some is missing, a part is broken or reserved; jobs then run out of memory on this host only.",
        hint: "check MIG and vGPU settings, then the row remapper (`nvidia-smi -q -d ROW_REMAPPER`)",
        source: "nvidia-smi(1)",
        run: memory,
    },
    Check {
        id: "gpu.ecc",
        title: "error correction is on, and will be after the next reset",
        needs: Needs::Idle,
        severity: Fail,
        expects: "enabled on data-centre GPUs; workstation boards, where it is off by default, are only compared with each other; `expect.gpu.ecc` when it is declared",
        why: "Without it a flipped bit is a wrong gradient that nobody sees.",
        hint: "`nvidia-smi -e 1`, then reset the GPUs or reboot",
        source: "nvidia-smi(1)",
        run: ecc,
    },
    Check {
        id: "gpu.ecc_errors",
        title: "no uncorrectable memory error since the driver was loaded",
        needs: Needs::Idle,
        severity: Fail,
        expects: "none; up to 10 000 corrected SRAM and 20 000 000 corrected DRAM errors; the GPU does not report that its limit of SRAM errors is exceeded",
        why: "After an uncorrectable error the application that met it has wrong data or died; repeated errors mean a bad GPU.",
        hint: "drain the host, reset the GPU (`nvidia-smi -r`), run `dcgmi diag -r 3`; if errors return, replace it",
        source: "nvidia-smi(1); thresholds of Azure/azurehpc-health-checks",
        run: ecc_errors,
    },
    Check {
        id: "gpu.row_remap",
        title: "no row or page of GPU memory waits to be replaced, and no remap failed",
        needs: Needs::Idle,
        severity: Fail,
        expects: "nothing pending, no failure, at most 512 rows remapped for uncorrectable errors",
        why: "A pending row keeps giving errors until the GPU is reset; a failed one means that the spare rows are used up.",
        hint: "pending: drain the host and reset the GPU (`nvidia-smi -r`); failed: replace the GPU",
        source: "NVIDIA GPU Memory Error Management",
        run: row_remap,
    },
    Check {
        id: "gpu.repair",
        title: "no part of a GPU waits for a repair",
        needs: Needs::Idle,
        severity: Warn,
        expects: "channel_repair_pending, tpc_repair_pending and unrepairable_memory are not Yes, where the driver shows them",
        why: "The GPU found a bad part and works with it until a reset puts another in its place; memory that cannot be repaired stays bad.",
        hint: "drain the host and reset the GPU (`nvidia-smi -r`) or reboot; if it is asked for again, replace the GPU",
        source: "nvidia-smi(1)",
        run: repair,
    },
    Check {
        id: "gpu.recovery",
        title: "the driver does not ask for a GPU reset",
        needs: Needs::Idle,
        severity: Fail,
        expects: "no recovery action, no reset required",
        why: "The driver saw an error that only a reset or reboot clears; until then jobs on this GPU fail.",
        hint: "drain the host, then do what the driver asks for: `nvidia-smi -r`, or a reboot",
        source: "nvidia-smi(1); Analyzing Xid Errors with the Xid Catalog (NVIDIA)",
        run: recovery,
    },
];

fn answers(subject: &Subject<'_>) -> Checked {
    subject.has_gpus()?;
    let seen = match subject.nvidia() {
        Ok(nvidia) => nvidia.smi.as_ref(),
        Err(gap) => return Err(Verdict::finding(gap.reason, SMI, gap.output)),
    };
    match seen {
        Ok(smi) => {
            let mut findings = Findings::default();
            for (index, _) in smi.gpus.iter().enumerate().filter(|(_, gpu)| gpu.lost) {
                findings.wrong(&format!("GPU{index}"), "the driver lost it", SMI, "GPU is lost");
            }
            Ok(findings.verdict(format!("driver {}", smi.driver)))
        }
        Err(gap) if matches!(gap.kind, GapKind::Missing | GapKind::Garbled) => Err(Verdict::gap(gap, None)),
        Err(gap) if gap.kind == GapKind::Absent => {
            let what = "the nvidia module is not loaded";
            let verdict = Verdict::finding(what, "/sys/module/nvidia", "no such directory");
            let held = holders(subject);
            Err(if !held.is_empty() {
                verdict.hint(format!(
                    "{} holds the GPUs: see driver.nouveau; `modprobe nvidia` cannot work before that is mended",
                    held.join(", ")
                ))
            } else if let Some(act) = log::reason(subject) {
                verdict.hint(act)
            } else {
                verdict.hint("`modprobe nvidia`; when that fails, `dmesg` says why")
            })
        }
        Err(gap) => {
            let line = if gap.output.is_empty() { &gap.reason } else { &gap.output };
            let verdict = Verdict::finding(gap.reason.clone(), SMI, line);
            // driver.coherence has the versions; no GPU is to blame.
            Err(if gap.output.contains("version mismatch") {
                verdict.hint("the libraries have another version than the loaded module, as after an upgrade: see driver.coherence; reboot, or stop all programs that use the GPUs and reload the modules. /var/log/apt/history.log says who upgraded")
            } else {
                match log::reason(subject) {
                    Some(act) => verdict.hint(act),
                    None => verdict,
                }
            })
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
            return Err(Verdict::Skip(format!("how much memory a {} has is not known", gpu.name)));
        };
        match gpu.memory_mib {
            Some(seen) if seen.abs_diff(wanted) * 100 <= wanted => pass = format!("{seen} MiB"),
            Some(seen) => {
                let line = format!("fb_memory_usage/total {seen} MiB");
                findings.wrong(name, format!("{seen} MiB, expected {wanted}"), SMI, line);
            }
            None => findings.unknown(name, "nvidia-smi does not show its memory", SMI),
        }
    }
    Ok(findings.verdict(pass))
}

fn ecc(subject: &Subject<'_>) -> Checked {
    let declared = subject.expect_gpu().ecc;
    let gpus = subject.gpus()?;
    let by_default = |(_, gpu): &(String, &Gpu)| models::is_workstation(&gpu.name) && gpu.ecc == Some(false);
    if declared.is_none() && gpus.iter().all(by_default) {
        return Err(Verdict::Skip("off, as it is by default on workstation boards".to_owned()));
    }
    let wanted = declared.unwrap_or(true);
    let now = switch(subject, "ecc_mode/current_ecc", wanted, |gpu| gpu.ecc)?;
    if !matches!(now, Verdict::Pass(_)) {
        return Ok(now);
    }
    // Changed and not yet in effect: the next reboot turns it.
    let mut findings = Findings::default();
    for (name, gpu) in gpus.iter().filter(|(_, gpu)| gpu.ecc_pending.is_some_and(|on| on != wanted)) {
        let line = format!("pending_ecc {:?}, current_ecc {:?}", gpu.ecc_pending, gpu.ecc);
        findings.wrong(name, "the next reset will change it", SMI, line);
    }
    Ok(findings.verdict(if wanted { "enabled" } else { "disabled" }))
}

fn ecc_errors(subject: &Subject<'_>) -> Checked {
    let gpus = subject.gpus()?;
    // A board of a known model that says that it has none is a finding of gpu.ecc.
    let absent = |gpu: &Gpu| gpu.ecc_absent && gpu.uncorrected.is_none() && models::find(&gpu.name).is_none();
    let uncounted = |gpu: &Gpu| gpu.ecc == Some(false) || absent(gpu);
    if gpus.iter().all(|(_, gpu)| uncounted(gpu)) {
        let text = if gpus.iter().all(|(_, gpu)| absent(gpu)) {
            "these GPUs have no error correction"
        } else {
            "error correction is off, so errors are not counted"
        };
        return Err(Verdict::Skip(text.to_owned()));
    }
    let mut findings = Findings::default();
    for (name, gpu) in &gpus {
        match gpu.uncorrected {
            Some(0) => {}
            Some(count) => {
                let line = format!("ecc_errors/volatile: {count} uncorrectable");
                findings.wrong(name, format!("{count} uncorrectable errors"), SMI, line);
            }
            None if absent(gpu) => {}
            None => findings.unknown(name, "nvidia-smi does not count its memory errors", SMI),
        }
        if gpu.sram_exceeded {
            let how = "more errors of SRAM over its life than its maker allows: replace it";
            findings.wrong(name, how, SMI, "sram_threshold_exceeded Yes");
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
    let nobody = |gpu: &Gpu| gpu.remap_pending.is_none() && models::find(&gpu.name).is_none();
    // A GPU in instances does not show its rows.
    let untold = |gpu: &Gpu| gpu.remap_pending.is_none() && gpu.mig == Some(true);
    if gpus.iter().all(|(_, gpu)| (nobody(gpu) || untold(gpu)) && gpu.page_pending.is_none()) {
        let split = gpus.iter().all(|(_, gpu)| untold(gpu));
        let text = if split {
            "GPUs in multi-instance mode do not show their rows"
        } else {
            "these GPUs remap no rows"
        };
        return Err(Verdict::Skip(text.to_owned()));
    }
    let mut findings = Findings::default();
    for (name, gpu) in &gpus {
        if gpu.remap_failure == Some(true) {
            findings.wrong(name, "a row could not be remapped", SMI, "remapped_row_failure Yes");
        }
        match gpu.remap_pending {
            Some(false) => {}
            Some(true) => findings.wrong(name, "a row waits for a reset", SMI, "remapped_row_pending Yes"),
            None if untold(gpu) || (nobody(gpu) && gpu.page_pending.is_some()) => {}
            None => findings.unknown(name, "nvidia-smi does not show remapped rows", SMI),
        }
        if gpu.page_pending == Some(true) {
            findings.wrong(name, "a page waits for a reset", SMI, "pending_retirement Yes");
        }
        if let Some(rows) = gpu.remapped.filter(|rows| *rows > 512) {
            findings.wrong(name, format!("{rows} rows remapped"), SMI, format!("remapped_row_unc {rows}"));
        }
    }
    Ok(findings.verdict("none pending"))
}

fn repair(subject: &Subject<'_>) -> Checked {
    let gpus = subject.gpus()?;
    if gpus.iter().all(|(_, gpu)| gpu.repairs.is_none()) {
        return Err(Verdict::Skip("these GPUs do not report repairs".to_owned()));
    }
    let mut findings = Findings::default();
    for (name, gpu) in &gpus {
        for what in gpu.repairs.iter().flatten() {
            findings.wrong(name, what.clone(), SMI, format!("{what} Yes"));
        }
    }
    Ok(findings.verdict("none"))
}

fn recovery(subject: &Subject<'_>) -> Checked {
    let mut findings = Findings::default();
    for (name, gpu) in subject.gpus()? {
        if let Some(action) = &gpu.recovery {
            findings.wrong(
                &name,
                format!("the driver asks for: {action}"),
                SMI,
                format!("gpu_recovery_action {action}"),
            );
        }
    }
    Ok(findings.verdict("none"))
}
