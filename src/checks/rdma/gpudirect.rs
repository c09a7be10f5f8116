//! Whether network cards reach GPU memory.

use crate::checks::shared::gpudirect::{dmabuf, open_module_offers_it, wanted};
use crate::checks::shared::verdict::{Checked, Findings, Verdict};
use crate::checks::{Check, Needs, Subject};
use crate::events::CheckStatus::{Fail, Warn};

const CLIENT: &str = "/sys/kernel/mm/memory_peers/nv_mem/version";

pub(in crate::checks) const CHECKS: &[Check] = &[Check {
    id: "rdma.gdr_ready",
    title: "there is a way from the cards to GPU memory",
    needs: Needs::Idle,
    severity: Fail,
    expects: "DMA-BUF (kernel 5.12, open modules, a card that takes it), or nvidia_peermem with its client registered; nvidia_peermem is a warning where the open module of the driver (from branch 560 on) offers DMA-BUF; only a transfer proves it",
    why: "GPUDirect RDMA is what makes collectives between hosts fast.",
    hint: "install the open modules on a kernel from 5.12 on, or OFED and nvidia-peermem",
    source: "GPUDirect RDMA (NVIDIA CUDA documentation); NCCL User Guide: Troubleshooting",
    run: ready,
}];

fn ready(subject: &Subject<'_>) -> Checked {
    let wanted = wanted(subject)?;
    subject.driver()?;
    let peermem = subject.peermem()?;
    let lack = match dmabuf(subject) {
        Ok(()) => return Ok(Verdict::Pass("DMA-BUF".to_owned())),
        Err(lack) => lack,
    };
    if peermem.legacy && peermem.loaded {
        return Err(Verdict::Skip(
            "nv_peer_mem and nvidia_peermem are both loaded: see peermem.legacy".to_owned(),
        ));
    }
    if !peermem.loaded {
        let text = if wanted {
            "it needs nvidia_peermem: see peermem.loaded"
        } else {
            "not expected for these cards"
        };
        return Err(Verdict::Skip(text.to_owned()));
    }
    // Kernels with OFED show the client; others have another interface and do not.
    let mut findings = Findings::default();
    match peermem.client.as_deref() {
        Some(client) if open_module_offers_it(subject) => {
            let text = "only through nvidia_peermem; the open kernel module of this driver offers DMA-BUF";
            let verdict = Verdict::finding(text, CLIENT, client).counted_as(Warn);
            return Ok(verdict.hint("install the open kernel module of this driver and reboot: DMA-BUF needs no further module, and no rebuild when OFED changes"));
        }
        Some(client) => {
            let text = format!("nvidia_peermem, client nv_mem {client}; no DMA-BUF, because {lack}");
            return Ok(Verdict::Pass(text));
        }
        None => findings.wrong(
            "nvidia_peermem",
            "loaded, but no client nv_mem is registered",
            CLIENT,
            "no such file",
        ),
    }
    // Kernels of distributions may carry the interface without showing it.
    let hint = "lsmod shows the module and NCCL goes without GPUDirect RDMA: build the driver's modules again behind the loaded OFED (`dkms install --force`) and load nvidia-peermem, or use the open modules on a kernel from 5.12 on (DMA-BUF), which need none";
    Ok(findings.verdict("").hint(hint).counted_as(Warn))
}
