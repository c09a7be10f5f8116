//! The path from network cards to GPU memory.

use super::models;
use super::subject::Subject;
use super::verdict::Verdict;
use crate::facts::driver::OPEN_SINCE;

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
pub(in crate::checks) fn wanted(subject: &Subject<'_>) -> Result<bool, Verdict> {
    subject.has_gpus()?;
    let devices = subject.devices()?;
    match subject.expect_rdma().gdr {
        Some(false) => Err(Verdict::Skip("expect.rdma.gdr is false".to_owned())),
        Some(true) => Ok(true),
        None => Ok(devices.iter().any(|device| device.is_mlx5())),
    }
}

/// Whether DMA-BUF is possible, or what it lacks.
pub(in crate::checks) fn dmabuf(subject: &Subject<'_>) -> Result<(), String> {
    let release = subject.kernel().unwrap_or("").to_owned();
    if !kernel_from(&release, (5, 12)) {
        return Err(format!("kernel {release} has no DMA-BUF for RDMA"));
    }
    match subject.loaded().ok().flatten().and_then(|loaded| loaded.open) {
        Some(true) => {}
        Some(false) => return Err("the kernel module is the proprietary one".to_owned()),
        None => return Err("the nvidia module is not loaded".to_owned()),
    }
    if cards_take_it(subject) { Ok(()) } else { Err("no card takes DMA-BUF".to_owned()) }
}

fn cards_take_it(subject: &Subject<'_>) -> bool {
    let devices = subject.devices().unwrap_or_default();
    devices.iter().any(|device| {
        DMABUF.contains(&device.driver.as_str())
            || ["mlx5_", "irdma", "efa"].iter().any(|stem| device.name.starts_with(stem))
    })
}

/// Whether only the module is in the way of DMA-BUF: the proprietary one of a branch that is delivered with the
/// open one, on GPUs that the open one drives.
pub(in crate::checks) fn open_module_offers_it(subject: &Subject<'_>) -> bool {
    let Ok(Some(loaded)) = subject.loaded() else { return false };
    let branch = loaded.version.split('.').next().and_then(|branch| branch.parse::<u32>().ok());
    let driven = |name: &str| models::find(name).is_some();
    loaded.open == Some(false)
        && branch.is_some_and(|branch| branch >= OPEN_SINCE)
        && kernel_from(subject.kernel().unwrap_or(""), (5, 12))
        && subject.gpus().is_ok_and(|gpus| gpus.iter().all(|(_, gpu)| driven(&gpu.name)))
        && cards_take_it(subject)
}
