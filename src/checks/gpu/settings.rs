//! Settings and state of GPUs that nvidia-smi shows besides their health.

use crate::checks::shared::models;
use crate::checks::shared::values::majority;
use crate::checks::shared::verdict::{Checked, Findings, Verdict};
use crate::checks::{Check, Needs, Subject};
use crate::events::CheckStatus::{Fail, Warn};
use crate::facts::nvidia::Gpu;

const SMI: &str = "nvidia-smi -q -x";
/// Degrees Celsius near which GPUs slow down.
const HOT: u32 = 85;

pub(in crate::checks) const CHECKS: &[Check] = &[
    Check {
        id: "gpu.persistence",
        title: "persistence mode is on",
        needs: Needs::Idle,
        severity: Warn,
        expects: "enabled; `expect.gpu.persistence` when it is declared",
        why: "Without it the driver is initialised again for every job: jobs start slowly, and settings are lost between them.",
        hint: "`systemctl enable --now nvidia-persistenced`",
        source: "nvidia-smi(1); nvidia-persistenced(1)",
        run: persistence,
    },
    Check {
        id: "gpu.throttle",
        title: "no GPU is held back by heat or power",
        needs: Needs::Load,
        severity: Fail,
        expects: "no hardware slowdown, thermal or power brake; software's thermal slowdown is a warning",
        why: "A collective runs at the speed of its slowest GPU.",
        hint: "look at fans, inlet temperature and power supplies, and at `nvidia-smi -q -d PERFORMANCE` under load",
        source: "nvidia-smi(1)",
        run: throttle,
    },
    Check {
        id: "gpu.temperature",
        title: "no GPU is hot",
        needs: Needs::Idle,
        severity: Warn,
        expects: "at most 85 degrees Celsius; `expect.gpu.temperature` when it is declared",
        why: "From 85 to 90 degrees on GPUs lower their clocks; hotter still, they shut down.",
        hint: "look at fans, dust and the inlet temperature of the rack",
        source: "nvidia-smi(1)",
        run: temperature,
    },
    Check {
        id: "gpu.power_limit",
        title: "each GPU may draw its full power",
        needs: Needs::Idle,
        severity: Warn,
        expects: "not below the default of the board; `expect.gpu.power_limit` when it is declared",
        why: "A lower limit that somebody forgot to reset slows this GPU and every collective that it takes part in.",
        hint: "set it with `nvidia-smi -pl WATTS`, and look for what sets the limit at boot",
        source: "nvidia-smi(1)",
        run: power_limit,
    },
    Check {
        id: "gpu.mig",
        title: "multi-instance mode is as declared",
        needs: Needs::Idle,
        severity: Warn,
        expects: "off; `expect.gpu.mig` when it is declared",
        why: "GPU instances have no NVLink between them, and jobs that want whole GPUs do not start.",
        hint: "`nvidia-smi -mig 0`, then a reset of the GPU",
        source: "NVIDIA Multi-Instance GPU User Guide",
        run: mig,
    },
    Check {
        id: "gpu.compute_mode",
        title: "all GPUs accept more than one process",
        needs: Needs::Idle,
        severity: Warn,
        expects: "compute mode Default",
        why: "In the other modes a GPU refuses a second process, or all of them.",
        hint: "`nvidia-smi -c DEFAULT`",
        source: "nvidia-smi(1)",
        run: compute_mode,
    },
    Check {
        id: "gpu.vbios",
        title: "all GPUs of the host have one VBIOS version",
        needs: Needs::Idle,
        severity: Warn,
        expects: "one version for all GPUs of a model",
        why: "A board with another VBIOS may have other clocks, limits and bugs than its neighbours.",
        hint: "ask the vendor for the VBIOS of the board; a replaced GPU often has another one",
        source: "nvidia-smi(1)",
        run: vbios,
    },
    Check {
        id: "gpu.nic_affinity",
        title: "each GPU has an RDMA device near it",
        needs: Needs::Idle,
        severity: Warn,
        expects: "on hosts with at least as many RDMA devices as GPUs: one at PIX or PXB for each GPU",
        why: "Without a card under the same PCIe switch, GPUDirect RDMA traffic crosses the processor and is slower.",
        hint: "compare `nvidia-smi topo -m` with another host: a card may be in the wrong slot, or disabled in the firmware setup",
        source: "nvidia-smi(1), topo; NCCL User Guide: Troubleshooting",
        run: nic_affinity,
    },
];

/// Looks at a switch of each GPU; GPUs without it are not known, unless none of an unknown model has it.
pub(super) fn switch(
    subject: &Subject<'_>,
    field: &str,
    wanted: bool,
    get: fn(&Gpu) -> Option<bool>,
) -> Checked {
    let gpus = subject.gpus()?;
    let word = |on: bool| if on { "enabled" } else { "disabled" };
    if gpus.iter().all(|(_, gpu)| get(gpu).is_none() && models::find(&gpu.name).is_none()) {
        return Err(Verdict::Skip(format!("these GPUs do not have {field}")));
    }
    let mut findings = Findings::default();
    for (name, gpu) in &gpus {
        match get(gpu) {
            Some(on) if on == wanted => {}
            Some(on) => findings.wrong(name, word(on), SMI, format!("{field} {}", word(on))),
            None => findings.unknown(name, format!("nvidia-smi does not show {field}"), SMI),
        }
    }
    Ok(findings.verdict(word(wanted)))
}

fn persistence(subject: &Subject<'_>) -> Checked {
    let wanted = subject.expect_gpu().persistence.unwrap_or(true);
    switch(subject, "persistence_mode", wanted, |gpu| gpu.persistence)
}

fn throttle(subject: &Subject<'_>) -> Checked {
    const BAD: [&str; 3] = ["hw_slowdown", "hw_thermal_slowdown", "hw_power_brake_slowdown"];
    let gpus = subject.gpus()?;
    if gpus.iter().all(|(_, gpu)| gpu.throttle.is_none() && models::find(&gpu.name).is_none()) {
        return Err(Verdict::Skip("these GPUs do not show what holds their clocks down".to_owned()));
    }
    let (mut fails, mut warns) = (Findings::default(), Findings::default());
    for (name, gpu) in &gpus {
        for reason in gpu.throttle.iter().flatten() {
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
    // A display or a daemon that holds it open gives it nothing to do.
    if warns.is_well() && gpus.iter().all(|(_, gpu)| gpu.processes == 0 || gpu.at_rest) {
        return Err(Verdict::Skip("the GPUs are idle".to_owned()));
    }
    for (name, _) in gpus.iter().filter(|(_, gpu)| gpu.throttle.is_none()) {
        warns.unknown(name, "nvidia-smi does not show what holds its clocks down", SMI);
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
            None => findings.unknown(&name, "nvidia-smi does not show its temperature", SMI),
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
            (None, _) => findings.unknown(name, "nvidia-smi does not show its power limit", SMI),
        }
    }
    Ok(findings.verdict(pass))
}

fn mig(subject: &Subject<'_>) -> Checked {
    let wanted = subject.expect_gpu().mig;
    let gpus = subject.gpus()?;
    if wanted.is_none() && gpus.iter().all(|(_, gpu)| gpu.mig.is_none()) {
        return Err(Verdict::Skip("these GPUs have no multi-instance mode".to_owned()));
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
            None => findings.unknown(name, "nvidia-smi does not show its multi-instance mode", SMI),
        }
    }
    let verdict = findings.verdict(word(wanted));
    Ok(if wanted {
        verdict.hint(
            "`nvidia-smi -mig 1`, then a reset of the GPU, then instances: `nvidia-smi mig -cgi PROFILE -C`",
        )
    } else {
        verdict
    })
}

fn compute_mode(subject: &Subject<'_>) -> Checked {
    let mut findings = Findings::default();
    for (name, gpu) in subject.gpus()? {
        match gpu.compute_mode.as_deref() {
            Some("Default") => {}
            Some(mode) => findings.wrong(&name, mode, SMI, format!("compute_mode {mode}")),
            None => findings.unknown(&name, "nvidia-smi does not show its compute mode", SMI),
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
            (None, _) => findings.unknown(name, "nvidia-smi does not show its VBIOS", SMI),
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
                    format!("{seen}; no value has a majority"),
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
    let is_near = |relation: &str| ["PIX", "PXB"].contains(&relation);
    let of_any = gpus.iter().filter_map(|(name, _)| topology.get(name)).flatten();
    let beside = of_any.filter(|(other, _)| devices.iter().any(|device| device.name == **other));
    let relations: Vec<&str> = beside.map(|(_, relation)| relation.as_str()).collect();
    // On GB200 the GPUs hang on the processor, and small machines have no such switch.
    if !relations.is_empty() && !relations.iter().any(|relation| is_near(relation)) {
        return Err(Verdict::Skip("no card shares a PCIe switch with a GPU on this machine".to_owned()));
    }
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
        } else if !near.iter().any(|(_, relation)| is_near(relation)) {
            let line: Vec<String> =
                near.iter().map(|(device, relation)| format!("{device} {relation}")).collect();
            findings.wrong(name, "no RDMA device under its PCIe switch", TOPO, line.join(", "));
        }
    }
    Ok(findings.verdict("PIX or PXB for each"))
}
