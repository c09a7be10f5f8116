//! Whether network cards reach GPU memory (domain C12).

use super::verdict::{Checked, Findings, Verdict};
use super::{Check, Kind, Subject};
use crate::events::CheckStatus::{Fail, Warn};
use crate::probes::driver::Loaded;

const MODULE: &str = "/sys/module/nvidia_peermem";
const CLIENT: &str = "/sys/kernel/mm/memory_peers/nv_mem/version";

pub(super) const CHECKS: &[Check] = &[
    Check {
        id: "peermem.loaded",
        title: "nvidia_peermem is loaded where it is the only way to GPU memory",
        kind: Kind::Idle,
        severity: Fail,
        expects: "loaded and of the driver's version, on hosts with GPUs and mlx5 cards whose driver or kernel has no DMA-BUF; `expect.rdma.gdr: false` skips it",
        why: "Without it every message between GPUs goes through host memory, at a fraction of the bandwidth, and no tool says so.",
        hint: "`modprobe nvidia-peermem`; when that fails: headers, then OFED, then the driver must be built in this order",
        source: "domain C12, L2, L3",
        run: peermem,
    },
    Check {
        id: "peermem.legacy",
        title: "the old nv_peer_mem is gone",
        kind: Kind::Idle,
        severity: Fail,
        expects: "no /sys/module/nv_peer_mem",
        why: "It and nvidia_peermem are two clients of one name, and neither works then.",
        hint: "`rmmod nv_peer_mem`, and purge nvidia-peer-memory-dkms",
        source: "domain C12",
        run: legacy,
    },
    Check {
        id: "rdma.gdr_ready",
        title: "there is a way from the cards to GPU memory",
        kind: Kind::Idle,
        severity: Fail,
        expects: "DMA-BUF (kernel 5.12, open modules, a card that takes it), or nvidia_peermem with its client registered; proven for good by a transfer",
        why: "GPUDirect RDMA is what makes collectives between hosts fast.",
        hint: "install the open modules on a kernel from 5.12 on, or OFED and nvidia-peermem",
        source: "domain C12",
        run: ready,
    },
];

/// Kernel drivers of cards whose memory regions take DMA-BUF.
const DMABUF: [&str; 3] = ["mlx5_core", "efa", "irdma"];

/// Whether the kernel is at least this one.
fn kernel_from(release: &str, wanted: (u32, u32)) -> bool {
    let mut parts = release.split(|c: char| !c.is_ascii_digit()).map(str::parse::<u32>);
    match (parts.next(), parts.next()) {
        (Some(Ok(major)), Some(Ok(minor))) => (major, minor) >= wanted,
        _ => false,
    }
}

/// Whether the host should do it: declared, or GPUs beside mlx5 cards.
fn wanted(subject: &Subject<'_>) -> Result<bool, Verdict> {
    subject.has_gpus()?;
    let devices = subject.devices()?;
    match subject.expect_rdma().gdr {
        Some(false) => Err(Verdict::Skip("expect.rdma.gdr is false".to_owned())),
        Some(true) => Ok(true),
        None => {
            Ok(devices.iter().any(|device| device.driver == "mlx5_core" || device.name.starts_with("mlx5_")))
        }
    }
}

/// Whether DMA-BUF is possible, or what it lacks.
fn dmabuf(subject: &Subject<'_>, loaded: &Loaded) -> Result<(), String> {
    let release = subject.fact("/kernel/release").unwrap_or("").to_owned();
    if !kernel_from(&release, (5, 12)) {
        return Err(format!("kernel {release} has no DMA-BUF for RDMA"));
    }
    match loaded.is_open() {
        Some(true) => {}
        Some(false) => return Err("the kernel module is the proprietary one".to_owned()),
        None => return Err("the nvidia module is not loaded".to_owned()),
    }
    let devices = subject.devices().unwrap_or_default();
    let takes = devices.iter().any(|device| {
        DMABUF.contains(&device.driver.as_str())
            || ["mlx5_", "irdma", "efa"].iter().any(|stem| device.name.starts_with(stem))
    });
    if takes { Ok(()) } else { Err("no card takes DMA-BUF".to_owned()) }
}

fn peermem(subject: &Subject<'_>) -> Checked {
    let wanted = wanted(subject)?;
    let loaded = subject.loaded()?;
    if loaded.peermem {
        let seen = loaded.peermem_version.as_deref().or(loaded.client.as_deref());
        return Ok(match (seen, loaded.version.as_deref()) {
            (Some(seen), Some(driver)) if seen != driver => Verdict::finding(
                format!("{seen}, the driver is {driver}"),
                &format!("{MODULE}/version"),
                seen,
            ),
            (seen, _) => Verdict::Pass(seen.unwrap_or("loaded").to_owned()),
        });
    }
    if !wanted {
        return Err(Verdict::Skip("not loaded, and not expected for these cards".to_owned()));
    }
    match dmabuf(subject, loaded) {
        Ok(()) => Err(Verdict::Skip("not loaded; DMA-BUF takes its place".to_owned())),
        Err(lack) => Ok(Verdict::finding(format!("not loaded, and {lack}"), MODULE, "no such directory")),
    }
}

fn legacy(subject: &Subject<'_>) -> Checked {
    subject.has_gpus()?;
    if subject.loaded()?.nv_peer_mem {
        return Ok(Verdict::finding("nv_peer_mem is loaded", "/sys/module/nv_peer_mem", "is there"));
    }
    Ok(Verdict::Pass("not loaded".to_owned()))
}

fn ready(subject: &Subject<'_>) -> Checked {
    let wanted = wanted(subject)?;
    let loaded = subject.loaded()?;
    let way = dmabuf(subject, loaded);
    if way.is_ok() {
        return Ok(Verdict::Pass("DMA-BUF".to_owned()));
    }
    if loaded.nv_peer_mem && loaded.peermem {
        return Err(Verdict::Skip("two clients for peer memory: see peermem.legacy".to_owned()));
    }
    if !loaded.peermem {
        let text = if wanted {
            "not without nvidia_peermem: see peermem.loaded"
        } else {
            "not expected for these cards"
        };
        return Err(Verdict::Skip(text.to_owned()));
    }
    // Kernels with OFED show the client; others have another interface and do not.
    let mut findings = Findings::default();
    match loaded.client.as_deref() {
        Some(client) => return Ok(Verdict::Pass(format!("nvidia_peermem, client nv_mem {client}"))),
        None => findings.wrong(
            "nvidia_peermem",
            "loaded, but no client nv_mem is registered",
            CLIENT,
            "no such file",
        ),
    }
    // Kernels of distributions may carry the interface without showing it.
    Ok(findings.verdict("").counted_as(Warn))
}
