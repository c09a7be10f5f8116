//! Settings and state of GPUs that nvidia-smi shows besides their health (domain G9 to G11, L20).

use super::gpu::majority;
use super::verdict::{Checked, Findings, Verdict};
use super::{Check, Kind, Subject};
use crate::events::CheckStatus::{Fail, Warn};

const SMI: &str = "nvidia-smi -q -x";
/// Degrees Celsius near which GPUs slow down (domain G11).
const HOT: u32 = 85;

pub(super) const CHECKS: &[Check] = &[
    Check {
        id: "gpu.throttle",
        title: "no GPU is held back by heat or power",
        kind: Kind::Load,
        severity: Fail,
        expects: "no hardware slowdown, thermal or power brake; software's thermal slowdown is a warning",
        why: "A collective runs at the speed of its slowest GPU.",
        hint: "look at fans, inlet temperature and power supplies; `nvidia-smi -q -d PERFORMANCE` under load",
        source: "domain G9, L20",
        run: throttle,
    },
    Check {
        id: "gpu.temperature",
        title: "no GPU is hot",
        kind: Kind::Idle,
        severity: Warn,
        expects: "at most 85 degrees Celsius; `expect.gpu.temperature` when it is declared",
        why: "Near 85 to 90 degrees GPUs lower their clocks, and later shut down.",
        hint: "look at fans, dust and the inlet temperature of the rack",
        source: "domain G11",
        run: temperature,
    },
    Check {
        id: "gpu.power_limit",
        title: "each GPU may draw its full power",
        kind: Kind::Idle,
        severity: Warn,
        expects: "not below the default of the board; `expect.gpu.power_limit` when it is declared",
        why: "A limit that was left behind makes this GPU, and every collective with it, slower.",
        hint: "`nvidia-smi -pl WATTS`, and whatever sets it at boot",
        source: "domain G9, G11",
        run: power_limit,
    },
    Check {
        id: "gpu.mig",
        title: "multi-instance mode is as declared",
        kind: Kind::Idle,
        severity: Warn,
        expects: "off; `expect.gpu.mig` when it is declared",
        why: "Instances have no NVLink between them, and a job for whole GPUs does not start.",
        hint: "`nvidia-smi -mig 0`, then a reset of the GPU",
        source: "domain B14",
        run: mig,
    },
    Check {
        id: "gpu.compute_mode",
        title: "all GPUs take processes",
        kind: Kind::Idle,
        severity: Warn,
        expects: "compute mode Default",
        why: "In another mode the second process on a GPU, or every one, is refused.",
        hint: "`nvidia-smi -c DEFAULT`",
        source: "domain G9, G11",
        run: compute_mode,
    },
    Check {
        id: "gpu.vbios",
        title: "all GPUs of the host have one VBIOS version",
        kind: Kind::Idle,
        severity: Warn,
        expects: "one version for all GPUs of a model",
        why: "A board with another VBIOS has other clocks, limits and faults than its neighbours.",
        hint: "ask the vendor for the VBIOS of the board; a replaced GPU often has another one",
        source: "domain G9, M8",
        run: vbios,
    },
    Check {
        id: "gpu.nic_affinity",
        title: "each GPU has an RDMA device near it",
        kind: Kind::Idle,
        severity: Warn,
        expects: "on hosts with as many devices as GPUs: one at PIX or PXB for each GPU",
        why: "Without a card under the same PCIe switch GPUDirect RDMA crosses the processor, at a part of the bandwidth.",
        hint: "`nvidia-smi topo -m`: compare with another host; a card in the wrong slot, or switched off in the firmware",
        source: "domain G12, L16",
        run: nic_affinity,
    },
];

fn throttle(subject: &Subject<'_>) -> Checked {
    const BAD: [&str; 3] = ["hw_slowdown", "hw_thermal_slowdown", "hw_power_brake_slowdown"];
    let gpus = subject.gpus()?;
    let (mut fails, mut warns) = (Findings::default(), Findings::default());
    for (name, gpu) in &gpus {
        for reason in &gpu.throttle {
            let line = format!("{reason}: Active");
            if BAD.contains(&reason.as_str()) {
                fails.wrong(name, reason.clone(), SMI, line);
            } else if reason == "sw_thermal_slowdown" {
                warns.wrong(name, reason.clone(), SMI, line);
            }
        }
    }
    if !fails.is_well() {
        return Ok(fails.verdict(""));
    }
    if warns.is_well() && gpus.iter().all(|(_, gpu)| gpu.processes == 0) {
        return Err(Verdict::Skip("the GPUs are idle".to_owned()));
    }
    Ok(warns.verdict("none under load").counted_as(Warn))
}

fn temperature(subject: &Subject<'_>) -> Checked {
    let limit = i64::from(subject.expect_gpu().temperature.unwrap_or(HOT));
    let mut findings = Findings::default();
    let mut hottest = i64::MIN;
    for (name, gpu) in subject.gpus()? {
        match gpu.temperature {
            Some(seen) if seen > limit => {
                findings.wrong(&name, format!("{seen} degrees"), SMI, format!("gpu_temp {seen} C"));
            }
            Some(seen) => hottest = hottest.max(seen),
            None => findings.unknown(&name, "nvidia-smi does not tell its temperature", SMI),
        }
    }
    Ok(findings.verdict(format!("at most {hottest} degrees")))
}

fn power_limit(subject: &Subject<'_>) -> Checked {
    let declared = subject.expect_gpu().power_limit.map(f64::from);
    let gpus = subject.gpus()?;
    if gpus.iter().all(|(_, gpu)| gpu.power_limit.is_none()) && declared.is_none() {
        return Err(Verdict::Skip("these GPUs have no power limit".to_owned()));
    }
    let mut findings = Findings::default();
    let mut pass = String::new();
    for (name, gpu) in &gpus {
        match (gpu.power_limit, declared) {
            (Some((now, _)), Some(wanted)) if (now - wanted).abs() > 0.5 => {
                let line = format!("current_power_limit {now} W");
                findings.wrong(name, format!("{now} W, expected {wanted} W"), SMI, line);
            }
            (Some((now, usual)), None) if now + 0.5 < usual => {
                let line = format!("current_power_limit {now} W, default_power_limit {usual} W");
                findings.wrong(name, format!("{now} W of {usual} W"), SMI, line);
            }
            (Some((now, _)), _) => pass = format!("{now} W"),
            (None, _) => findings.unknown(name, "nvidia-smi does not tell its power limit", SMI),
        }
    }
    Ok(findings.verdict(pass))
}

fn mig(subject: &Subject<'_>) -> Checked {
    let wanted = subject.expect_gpu().mig;
    let gpus = subject.gpus()?;
    if wanted.is_none() && gpus.iter().all(|(_, gpu)| gpu.mig.is_none()) {
        return Err(Verdict::Skip("these GPUs have no instances".to_owned()));
    }
    let word = |on: bool| if on { "on" } else { "off" };
    let wanted = wanted.unwrap_or(false);
    let mut findings = Findings::default();
    for (name, gpu) in &gpus {
        match gpu.mig {
            Some(on) if on != wanted => {
                findings.wrong(
                    name,
                    format!("{}, expected {}", word(on), word(wanted)),
                    SMI,
                    format!("current_mig {}", word(on)),
                );
            }
            Some(_) => {}
            None => findings.unknown(name, "nvidia-smi does not tell its multi-instance mode", SMI),
        }
    }
    Ok(findings.verdict(word(wanted)))
}

fn compute_mode(subject: &Subject<'_>) -> Checked {
    let mut findings = Findings::default();
    for (name, gpu) in subject.gpus()? {
        match gpu.compute_mode.as_deref() {
            Some("Default") => {}
            Some(mode) => findings.wrong(&name, mode, SMI, format!("compute_mode {mode}")),
            None => findings.unknown(&name, "nvidia-smi does not tell its compute mode", SMI),
        }
    }
    Ok(findings.verdict("Default"))
}

fn vbios(subject: &Subject<'_>) -> Checked {
    let gpus = subject.gpus()?;
    let mut findings = Findings::default();
    let mut pass = Vec::new();
    for (name, gpu) in &gpus {
        let of_model = gpus.iter().filter(|(_, other)| other.name == gpu.name);
        let usual = majority(of_model.filter_map(|(_, other)| other.vbios.clone()));
        match (&gpu.vbios, usual) {
            (None, _) => findings.unknown(name, "nvidia-smi does not tell its VBIOS", SMI),
            (Some(seen), Some(usual)) if *seen != usual => {
                findings.wrong(
                    name,
                    format!("{seen}, the others have {usual}"),
                    SMI,
                    format!("vbios_version {seen}"),
                );
            }
            (Some(seen), None) => {
                findings.wrong(
                    name,
                    format!("{seen}, and no two agree"),
                    SMI,
                    format!("vbios_version {seen}"),
                );
            }
            (Some(seen), Some(_)) => pass.push(seen.clone()),
        }
    }
    pass.dedup();
    Ok(findings.verdict(pass.join(", ")))
}

fn nic_affinity(subject: &Subject<'_>) -> Checked {
    const TOPO: &str = "nvidia-smi topo -m";
    let gpus = subject.gpus()?;
    let devices = subject.devices()?;
    if devices.len() < gpus.len() || gpus.len() < 2 {
        return Err(Verdict::Skip("fewer RDMA devices than GPUs".to_owned()));
    }
    let topology = subject.seen(subject.nvidia().map(|nvidia| &nvidia.topology), Some("gpu.answers"))?;
    let mut findings = Findings::default();
    for (name, _) in &gpus {
        let Some(row) = topology.get(name) else {
            findings.unknown(name, "nvidia-smi topo -m does not list it", TOPO);
            continue;
        };
        let near: Vec<(&str, &str)> = devices
            .iter()
            .filter_map(|device| Some((device.name.as_str(), row.get(&device.name)?.as_str())))
            .collect();
        if near.is_empty() {
            findings.unknown(name, "nvidia-smi topo -m lists no RDMA device", TOPO);
        } else if !near.iter().any(|(_, relation)| ["PIX", "PXB"].contains(relation)) {
            let line: Vec<String> =
                near.iter().map(|(device, relation)| format!("{device} {relation}")).collect();
            findings.wrong(name, "no RDMA device under its PCIe switch", TOPO, line.join(", "));
        }
    }
    Ok(findings.verdict("PIX or PXB for each"))
}
