//! The module through which network cards reach GPU memory without DMA-BUF.

use super::shared::gpudirect::{dmabuf, wanted};
use super::shared::log::judge;
use super::shared::verdict::{Checked, Verdict};
use super::{Check, Needs, Subject};
use crate::events::CheckStatus::{Fail, Warn};

const MODULE: &str = "/sys/module/nvidia_peermem";

pub(in crate::checks) const CHECKS: &[Check] = &[
    Check {
        id: "peermem.loaded",
        title: "the module nvidia_peermem is loaded where it is the only way to GPU memory",
        needs: Needs::Idle,
        severity: Fail,
        expects: "loaded and of the driver's version, on hosts with GPUs and mlx5 cards whose driver or kernel has no DMA-BUF; `expect.rdma.gdr: false` skips it",
        why: "Without it messages between GPUs go through host memory at a fraction of the bandwidth, and no tool reports it.",
        hint: "`modprobe nvidia-peermem`; when that fails, install the kernel headers, then OFED, then build the driver, in this order",
        source: "GPUDirect RDMA (NVIDIA CUDA documentation)",
        run: peermem,
    },
    Check {
        id: "peermem.legacy",
        title: "the old nv_peer_mem is gone",
        needs: Needs::Idle,
        severity: Fail,
        expects: "no /sys/module/nv_peer_mem",
        why: "It registers under the same name as nvidia_peermem, and with both loaded neither works.",
        hint: "`rmmod nv_peer_mem`, and purge nvidia-peer-memory-dkms",
        source: "Mellanox/nv_peer_memory, README.md",
        run: legacy,
    },
    Check {
        id: "peermem.errors",
        title: "nvidia_peermem reported no error",
        needs: Needs::Idle,
        severity: Warn,
        expects: "no `ERROR` of nvidia-peermem in the kernel's log, such as `detected invalid context`",
        why: "A program freed GPU memory that a card still used: the transfer is lost, and the program most often hangs or dies.",
        hint: "look for a Xid or a killed job at the same time in `dmesg`; if it returns, update the driver, or use DMA-BUF instead of nvidia-peermem",
        source: "NVIDIA/open-gpu-kernel-modules: kernel-open/nvidia-peermem/nvidia-peermem.c",
        run: errors,
    },
];

fn peermem(subject: &Subject<'_>) -> Checked {
    let wanted = wanted(subject)?;
    let driver = subject.loaded()?.map(|loaded| loaded.version.as_str());
    let peermem = subject.peermem()?;
    if peermem.loaded {
        let seen = peermem.version.as_deref().or(peermem.client.as_deref());
        return Ok(match (seen, driver) {
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
    match dmabuf(subject) {
        Ok(()) => Err(Verdict::Skip("not loaded; DMA-BUF is used instead".to_owned())),
        Err(lack) => Ok(Verdict::finding(format!("not loaded, and {lack}"), MODULE, "no such directory")),
    }
}

fn legacy(subject: &Subject<'_>) -> Checked {
    subject.has_gpus()?;
    if subject.peermem()?.legacy {
        return Ok(Verdict::finding("nv_peer_mem is loaded", "/sys/module/nv_peer_mem", "is there"));
    }
    Ok(Verdict::Pass("not loaded".to_owned()))
}

fn errors(subject: &Subject<'_>) -> Checked {
    subject.has_gpus()?;
    let log = subject.log()?;
    Ok(judge("peermem.errors", log, &log.said(), "none"))
}
