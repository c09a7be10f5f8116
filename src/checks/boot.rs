//! The next boot: what the kernel that boots next will find, looked at before it happens.

use super::shared::verdict::{Checked, Findings, Verdict};
use super::{Check, Needs, Subject};
use crate::events::CheckStatus::Fail;
use crate::facts::next_boot::{Aspect, NextBoot};
use crate::facts::{GapKind, Seen};

pub(in crate::checks) const CHECKS: &[Check] = &[
    Check {
        id: "boot.modules",
        title: "the kernel that boots next has the modules of this host",
        needs: Needs::Idle,
        severity: Fail,
        expects: "the next kernel has a module with the right vermagic for each network card and disk controller, and each module of RDMA, of NVIDIA and of /etc/modules-load.d that the running kernel has",
        why: "A card without a driver is found after the reboot, when nobody can log in to install one.",
        hint: "install the modules for that kernel: its package, or its headers and `dkms autoinstall -k KERNEL`",
        source: "modprobe(8) --show-depends; modinfo(8); Linux kernel: kernel/module/version.c, same_magic",
        run: |subject| aspect(subject, |next| &next.modules),
    },
    Check {
        id: "boot.symbols",
        title: "the modules on disk for the next kernel fit each other",
        needs: Needs::Idle,
        severity: Fail,
        expects: "each symbol that a wanted module imports has the version that the modules on disk export; that of the kernel itself too, where its headers are installed",
        why: "One module that was rebuilt without those that stand on it (mlx5 and mlx_compat, ib_core and nvidia_peermem) makes them fail with \"disagrees about version of symbol\".",
        hint: "build the modules that stand on others anew: `dkms install --force NAME/VERSION -k KERNEL`",
        source: "depmod(8) -e -E; Linux kernel: Documentation/kbuild/modules.rst, Module Versioning",
        run: |subject| aspect(subject, |next| &next.symbols),
    },
    Check {
        id: "boot.signatures",
        title: "with Secure Boot, the next kernel knows who signed its modules",
        needs: Needs::Idle,
        severity: Fail,
        expects: "where Secure Boot is on, or the kernel is told to enforce signatures: each module that is not the kernel's own (NVIDIA, DOCA-OFED, any of DKMS) is signed by a key of the kernel or one that is enrolled",
        why: "The kernel rejects the others: after the reboot the GPUs or the network are gone.",
        hint: "enrol the key that signs them at the console (`mokutil --import`), or install modules that the distribution signed",
        source: "mokutil(1); Linux kernel: Documentation/admin-guide/module-signing.rst; keyrings(7)",
        run: |subject| aspect(subject, |next| &next.signatures),
    },
    Check {
        id: "boot.initramfs",
        title: "the initramfs of the next kernel has no other copy of a module",
        needs: Needs::Idle,
        severity: Fail,
        expects: "modules of DKMS and of other packages that are in the initramfs are the ones on disk",
        why: "What the initramfs loads stays loaded: the host runs the old driver, and modules that stand on the new one fail.",
        hint: "`update-initramfs -u -k KERNEL`, or `dracut -f`",
        source: "lsinitramfs(8); lsinitrd(1)",
        run: |subject| aspect(subject, |next| &next.initramfs),
    },
    Check {
        id: "boot.network",
        title: "the next boot brings up the link of the way in",
        needs: Needs::Idle,
        severity: Fail,
        expects: "the link of this login, or of the default route, is configured by files that outlive a boot: netplan, networkd, NetworkManager or ifupdown, whose unit is enabled",
        why: "An address that was set by hand works until the reboot, and then the host is out of reach.",
        hint: "write the link's configuration where its manager keeps it (/etc/netplan, /etc/systemd/network, nmcli), and enable that manager",
        source: "netplan-get(8); systemd-networkd(8); nmcli(1); interfaces(5)",
        run: |subject| aspect(subject, |next| &next.network),
    },
    Check {
        id: "boot.loader",
        title: "grub boots the entry and the parameters that are declared",
        needs: Needs::Idle,
        severity: Fail,
        expects: "the default entry is one that grub has, and it has what GRUB_CMDLINE_LINUX says",
        why: "Another kernel than the one that was prepared comes up, or one without iommu=pt.",
        hint: "`update-grub`, then look at GRUB_DEFAULT and `grub-editenv list`",
        source: "grub manual: Simple configuration handling, The GRUB environment block; grubby(8)",
        run: |subject| aspect(subject, |next| &next.loader),
    },
];

fn aspect(subject: &Subject<'_>, of: impl Fn(&NextBoot) -> &Seen<Aspect>) -> Checked {
    subject.has_own_kernel()?;
    let aspect = match of(subject.next_boot()?) {
        Ok(aspect) => aspect,
        Err(gap) if gap.kind == GapKind::Absent => return Err(Verdict::Skip(gap.reason.clone())),
        Err(gap) => return Err(Verdict::gap(gap, None)),
    };
    let mut findings = Findings::default();
    for problem in &aspect.wrong {
        findings.wrong(&problem.of, &problem.how, &problem.from, &problem.line);
    }
    let verdict = findings.verdict(aspect.seen.clone());
    Ok(match aspect.wrong.first() {
        Some(problem) => verdict.hint(&problem.todo),
        None => verdict,
    })
}
