//! Lines of the kernel that no check asks a host for: what one program or job met, and what stands in logs that people cut.

use super::super::cause::{Cause, Counts, Remedy, Role, Sure, TOOL, seen};

pub(in crate::causes) const ROWS: &[Cause] = &[
    Cause {
        id: "job.memory_limit",
        sign: r"(Memory cgroup out of memory: Kill(ed)? process (?<pid>\d+) \((?<name>[^)]*)\)|memory: usage \d+kB, limit \d{1,12}kB, failcnt [1-9])",
        says: "a job or container reached its own limit of memory[: {name} was killed]",
        means: "The limit is that of its control group (Slurm, a container, a unit of systemd); the host itself has memory left.",
        act: "give the job or container more memory (`--mem` of Slurm, the limit of the container), or let it use less",
        remedy: Remedy::Settings,
        sure: Sure::Confirmed,
        sources: &[
            seen("Linux kernel: mm/oom_kill.c, mm/memcontrol.c", "2026-11-30"),
            seen("https://github.com/ironcore-dev/dpservice/issues/74", "2022-06-29"),
        ],
        samples: &[
            "Memory cgroup out of memory: Killed process 4711 (python) total-vm:81234kB, anon-rss:71234kB, file-rss:0kB, shmem-rss:0kB",
            "Jun 29 07:24:44 gpu0 kernel: memory: usage 1048576kB, limit 1048576kB, failcnt 141",
        ],
        ..TOOL
    },
    Cause {
        id: "nvidia.heartbeat",
        sign: r"NVRM: .*(GSP RM heartbeat timed out|LibOS heartbeat timed out|_kgspIsHeartbeatTimedOut|PMU has halted|GSP-CrashCat)",
        says: "the firmware of the GPU (GSP) stopped",
        means: "The driver hears nothing of the firmware that runs on the GPU. Faults of driver and firmware do that under load; the card is seldom the cause.",
        act: "reset the GPU (`nvidia-smi -r`) or reboot, then take another version of the driver; where it returns on this GPU alone, run `dcgmi diag -r 3`",
        remedy: Remedy::Reset,
        sources: &[seen("https://github.com/NVIDIA/open-gpu-kernel-modules/issues/1200", "2026-11-30")],
        samples: &["NVRM: _kgspRpcRecvPoll: GSP RM heartbeat timed out"],
        ..TOOL
    },
    Cause {
        id: "xid.told_64",
        sign: r"\bX[Ii][Dd]:? ?64\b.*(?:[Uu]nable to retire|[Rr]ow [Rr]emap|Fatal error)",
        says: "Xid 64: the GPU could not retire a bad page or remap a row",
        means: "Its own means of repair have failed or are used up.",
        act: "drain the host; `nvidia-smi -q -d ROW_REMAPPER,PAGE_RETIREMENT`: where it says Remapping Failure Occurred, or the row of a bank are used up, have the GPU looked at under its warranty; a reset helps only for a time",
        remedy: Remedy::Reset,
        sources: &[seen("https://docs.nvidia.com/deploy/xid-errors/index.html", "2026-11-30")],
        samples: &["XID 64 Dynamic Page Retirement: Fatal error, unable to retire page (<address>)"],
        ..TOOL
    },
    Cause {
        id: "vm.guest",
        sign: "Hardware name: (?<what>VMware|QEMU|Xen|Bochs|OpenStack|Red Hat KVM|Microsoft Corporation Virtual|Nutanix|RHEV|oVirt)|Hypervisor detected: (?<name>KVM|VMware|Xen|Microsoft Hyper-V)|DMI: (?<dmi>VMware|QEMU|Xen|Nutanix|OpenStack|Red Hat KVM)",
        says: "this host is a virtual machine",
        means: "The kernel names the hypervisor.",
        counts: Counts::Note,
        sources: &[seen(
            "Linux kernel: arch/x86/kernel/cpu/hypervisor.c, kernel/printk (dump_stack_print_info)",
            "2026-12-01",
        )],
        samples: &[
            "Hardware name: VMware, Inc. VMware Virtual Platform/440BX Desktop Reference Platform, BIOS 6.00 11/12/2020",
        ],
        ..TOOL
    },
    Cause {
        id: "nvidia.mapping",
        sign: r"NVRM:? (?:RmInitAdapter: )?osInitNvMapping(?: failed, bailing out of RmInitAdapter|: \*\*\* Cannot attach gpu)",
        says: "the driver cannot reach the registers of a GPU",
        means: "The memory of the device (BAR0) does not answer: it is gone from the bus, is not on full power, or a virtual machine or its firmware did not map it.",
        act: "look at lines of pcieport and `fallen off the bus` beside it, and `lspci -vv -d 10de:` (`rev ff`): in a virtual machine give the guest a bigger window for PCI (64 bit MMIO) and one machine type with all GPUs; on a host power it off, look at its power and its slot, and start it again",
        remedy: Remedy::Reset,
        sure: Sure::Guess,
        sources: &[
            seen(
                "https://github.com/NVIDIA/open-gpu-kernel-modules (src/nvidia/arch/nvalloc/unix/src/osinit.c)",
                "2026-11-30",
            ),
            seen("https://github.com/canonical/tdx/issues/414", "2026-11-30"),
        ],
        samples: &[
            "[   38.268966] NVRM: RmInitAdapter: osInitNvMapping failed, bailing out of RmInitAdapter",
            "NVRM: osInitNvMapping: *** Cannot attach gpu",
        ],
        ..TOOL
    },
    Cause {
        id: "nvidia.rm_init_after",
        sign: r"NVRM: (?:GPU (?<gpu>[0-9a-fA-F:.]+): )?rm_init_adapter failed, device minor number|\[nvidia-drm\] \[GPU ID 0x[0-9a-f]+\] Failed to allocate NvKmsKapiDevice|nvidia-modeset: ERROR: GPU:\d+: Failed to query display engine",
        role: Role::Effect,
        says: "the driver gave a GPU up[ ({gpu})]",
        means: "This line ends the start of a GPU. The reason stands in the lines of NVRM before it.",
        act: "look at the lines of NVRM before it",
        sources: &[seen(
            "https://github.com/NVIDIA/open-gpu-kernel-modules (kernel-open/nvidia/nv.c)",
            "2026-11-30",
        )],
        samples: &["[   87.473112] NVRM: GPU 0000:01:00.0: rm_init_adapter failed, device minor number 0"],
        ..TOOL
    },
    Cause {
        id: "nvidia.vbios",
        sign: "NVRM:? (?:GPU (?<gpu>[0-9a-fA-F:.]+): )?[Ff]ailed to copy vbios to system memory",
        says: "the driver cannot read the BIOS of a GPU[ ({gpu})]",
        means: "The ROM of the card does not answer: in a virtual machine the hypervisor passes a wrong one or none, otherwise another driver or an earlier guest left the card in a bad state, or the card does not answer at all.",
        act: "in a virtual machine pass the ROM of the card (`romfile=`) or none, and give one machine type with UEFI; on a host power it off and on, look at Above 4G Decoding, and whether vfio-pci or nouveau held the card before",
        remedy: Remedy::Reset,
        sure: Sure::Guess,
        sources: &[seen(
            "https://github.com/NVIDIA/open-gpu-kernel-modules (src/nvidia/arch/nvalloc/unix/src/osinit.c)",
            "2026-11-30",
        )],
        samples: &["NVRM: GPU 0000:07:00.0: Failed to copy vbios to system memory."],
        ..TOOL
    },
    Cause {
        id: "nvidia.region_taken",
        sign: "NVRM: request_mem_region failed for",
        says: "the memory of a GPU is claimed by another driver",
        means: "A framebuffer of the firmware (efifb, simplefb, vesafb), vfio-pci or another module holds the region.",
        act: "see `grep -iE \"efifb|simplefb|vesafb|BOOTFB|nvidia|vfio\" /proc/iomem`: keep that driver from loading (`video=efifb:off` or `initcall_blacklist=sysfb_init` on the kernel's command line), then reboot",
        remedy: Remedy::Reset,
        sources: &[seen(
            "https://github.com/NVIDIA/open-gpu-kernel-modules (kernel-open/nvidia/nv-pci.c)",
            "2026-11-30",
        )],
        samples: &["NVRM: request_mem_region failed for 16M @ 0xfd000000. This can"],
        ..TOOL
    },
    Cause {
        id: "nvidia.none_initialized",
        sign: "NVRM: None of the NVIDIA (?:graphics adapters|devices) were initialized|NVRM: The system BIOS may have misconfigured your GPU",
        role: Role::Effect,
        says: "no GPU was started by the driver",
        means: "The lines of NVRM before it name the reason.",
        act: "look at the lines of NVRM before it",
        sources: &[seen(
            "https://github.com/NVIDIA/open-gpu-kernel-modules (kernel-open/nvidia/nv-pci.c)",
            "2026-11-30",
        )],
        samples: &["NVRM: None of the NVIDIA devices were initialized."],
        ..TOOL
    },
    Cause {
        id: "nvidia.nouveau_unknown",
        sign: r"nouveau(?: |: )[^ ]*:? ?(?:unknown chipset \((?<chip>[0-9a-f]+)\)|probe with driver nouveau failed with error -12)",
        says: "nouveau holds the place of the driver, and does not know this GPU[ ({chip})]",
        means: "The GPU is newer than the nouveau of this kernel. It is no fault of the card.",
        counts: Counts::Warn,
        act: "install the driver of NVIDIA and keep nouveau away (the playbook `nvidia-driver`; `blacklist nouveau` with a new initramfs), then reboot",
        remedy: Remedy::Install,
        sources: &[seen("Linux kernel: drivers/gpu/drm/nouveau/nvkm/engine/device/base.c", "2026-11-30")],
        samples: &["nouveau 0000:01:00.0: unknown chipset (0174000a1)"],
        ..TOOL
    },
    Cause {
        id: "vfio.bar_taken",
        sign: r"vfio-pci (?<gpu>[0-9a-f:.]+): BAR \d+: can't reserve \[mem",
        says: "vfio-pci cannot reserve a memory window of {gpu}",
        means: "A driver of the host still holds it, mostly the framebuffer that the firmware set up (efifb, simplefb).",
        act: "`grep -i -B2 -A2 BOOTFB /proc/iomem`: add `video=efifb:off` or `initcall_blacklist=sysfb_init` to the kernel's command line of the host and reboot, or take another card for its screen",
        remedy: Remedy::Reset,
        sources: &[seen("Linux kernel: drivers/pci/pci.c (pci_request_region)", "2026-11-30")],
        samples: &["vfio-pci 0000:0b:00.0: BAR 3: can't reserve [mem 0xc0000000-0xc1ffffff 64bit pref]"],
        ..TOOL
    },
    Cause {
        id: "nvidia.assertion",
        sign: r"NVRM:? (?:GPU\d+ )?(?:nvAssert(?:Ok)?Failed(?:NoLog)?|nvCheck(?:Ok)?Failed(?:NoLog)?|rpcRmApi(?:Control|Alloc)_GSP|_issueRpcAndWait|_kgspLogXid119|_kgspRpcRecvPoll|GSP message queue|kgspDumpGspLogs)",
        role: Role::Effect,
        says: "the driver notes that a step of it failed",
        means: "Lines of this kind come by the hundred behind another fault, and singly without any harm. They name a place in the source, not a cause.",
        counts: Counts::Warn,
        act: "look for Xid, RmInitAdapter and `fallen off the bus` of the same time; without them nothing is to be done",
        sure: Sure::Guess,
        sources: &[seen(
            "https://github.com/NVIDIA/open-gpu-kernel-modules (src/nvidia/inc/libraries/utils/nvassert.h)",
            "2026-11-30",
        )],
        samples: &[
            "NVRM: nvAssertFailedNoLog: Assertion failed: 0 @ g_kern_bus_nvoc.c:1234",
            "NVRM: nvCheckOkFailedNoLog: Check failed: Out of memory [NV_ERR_NO_MEMORY] (0x00000051) returned from rmStatus",
        ],
        ..TOOL
    },
    Cause {
        id: "nvidia.ucsi_noise",
        sign: "nvidia-gpu [0-9a-f:.]+: i2c timeout error|ucsi_ccg .*: (?:i2c_transfer failed|ucsi_ccg_init failed)",
        says: "the USB-C port of a GPU does not answer",
        means: "The card has no such port, or nothing is plugged in. CUDA does not use it.",
        counts: Counts::Note,
        sources: &[seen("Linux kernel: drivers/i2c/busses/i2c-nvidia-gpu.c", "2026-11-30")],
        samples: &["nvidia-gpu 0000:01:00.3: i2c timeout error e0000000"],
        ..TOOL
    },
    Cause {
        id: "nvidia.bad_register",
        sign: r"NVRM:? (?:GPU\d+ )?gpuHandleSanityCheckRegReadError_[A-Z0-9]+: Possible bad register read",
        role: Role::Effect,
        says: "the driver read a register that did not answer",
        means: "Some releases of the driver read such registers without need, mostly for dcgm or nvidia-smi, and nothing is wrong. Where programs find no GPU at the same time, a part of the GPU does not answer.",
        counts: Counts::Warn,
        act: "where CUDA works, a newer release of the driver silences it; where programs do not see the GPU, reboot the host and look for Xid before this line",
        remedy: Remedy::Reset,
        sure: Sure::Guess,
        sources: &[seen("https://github.com/NVIDIA/open-gpu-kernel-modules/issues/688", "2024-08-02")],
        samples: &[
            "NVRM: gpuHandleSanityCheckRegReadError_GM107: Possible bad register read: addr: 0x1404b8,  regvalue: 0xbadf5040,  error code: Unknown SYS_PRI_ERROR_CODE",
        ],
        ..TOOL
    },
    Cause {
        id: "nvidia.modeset_waits",
        sign: r"nvidia-modeset: (?:ERROR: GPU:?\d*: )?(?:Error while waiting for GPU progress|Idling display engine timed out)",
        role: Role::Effect,
        says: "a GPU does not go on with its work for the screen",
        means: "The GPU hangs or was lost; Xid or `fallen off the bus` of the same time say why.",
        act: "look for Xid of that GPU",
        sources: &[seen("https://github.com/NVIDIA/open-gpu-kernel-modules/issues/916", "2025-08-10")],
        samples: &[
            "nvidia-modeset: ERROR: GPU:0: Error while waiting for GPU progress: 0x0000c77d:0 2:0:4048:4044",
        ],
        ..TOOL
    },
    Cause {
        id: "nvidia.no_gpu",
        sign: "NVRM: No NVIDIA (?:graphics adapter|GPU|device)s? (?:found|probed)",
        follows: &["nvidia.not_probed", "nvidia.held"],
        says: "the driver was loaded where it finds no GPU of NVIDIA for it",
        means: "The host has none, it is hidden or passed through to a virtual machine, its slot is dead, or another driver holds it.",
        counts: Counts::Warn,
        act: "`lspci -nnk -d 10de:`: nothing there is a matter of the slot, the hypervisor or a card of another maker (then take the driver away); another `Kernel driver in use` (nouveau, vfio-pci) is one of settings",
        sure: Sure::Guess,
        sources: &[seen(
            "https://github.com/NVIDIA/open-gpu-kernel-modules (kernel-open/nvidia/nv.c)",
            "2026-11-30",
        )],
        samples: &["[  441.170986] NVRM: No NVIDIA graphics adapter found!"],
        ..TOOL
    },
    Cause {
        id: "nvidia.chipset_note",
        sign: r"NVRM:? objClInitPcieChipset: \*\*\* Chipset Setup Function Error",
        says: "the driver does not know the chipset of the board",
        means: "It then leaves some settings of PCIe alone. Nothing is wrong.",
        counts: Counts::Note,
        sources: &[seen("https://github.com/NVIDIA/open-gpu-kernel-modules/issues/421", "2022-12-05")],
        samples: &["[    1.924873] NVRM objClInitPcieChipset: *** Chipset Setup Function Error!"],
        ..TOOL
    },
    Cause {
        id: "firmware.missing",
        sign: r"Direct firmware load for (?<file>\S+) failed with error -2",
        role: Role::Effect,
        counts: Counts::Warn,
        says: "the firmware file {file} is not there",
        means: "The kernel looked for it below /lib/firmware. Some drivers try several names and go on without; others start in a reduced mode and say so.",
        act: "where the device does not work: install the firmware package of the distribution that has the file, rebuild the initramfs, and load the driver again",
        remedy: Remedy::Install,
        sources: &[seen("Linux kernel: drivers/base/firmware_loader/main.c", "2026-11-30")],
        samples: &["ice 0000:01:00.0: Direct firmware load for intel/ice/ddp/ice.pkg failed with error -2"],
        ..TOOL
    },
    Cause {
        id: "bnxt.memory",
        sign: r"(page_pool_create_percpu\(\) gave up with errno|bnxt_alloc_mem err: )",
        says: "bnxt_en does not open its interface: it gets no page pools",
        means: "With errno -22 (EINVAL) the kernel refuses what the driver asks for, which is a fault of that kernel or driver, not of the card; with -12 there is no memory.",
        act: "boot the kernel before (over the management controller where the network is gone), then take one in which the driver works",
        remedy: Remedy::Reset,
        sources: &[seen("https://github.com/TUM-DSE/doctor-cluster-config/pull/1794", "2026-08-30")],
        samples: &[
            "page_pool_create_percpu() gave up with errno -22",
            "bnxt_en 0000:5e:00.0 ens1f0np0: bnxt_alloc_mem err: ffffffea",
        ],
        ..TOOL
    },
    Cause {
        id: "ice.hmc",
        sign: r"(OICR event notification: oicr = |^HMC Error$|HMC Error \d|PE_CRITERR|irdma .*requesting.*reset)",
        says: "the card (ice) was reset, most often as irdma asked for it",
        means: "The RDMA driver irdma found an error of the card's memory for RDMA and asks for a reset each time.",
        act: "where RDMA is not used: `modprobe -r irdma` and keep it from loading; where it is: update driver and firmware (NVM) of the card together",
        remedy: Remedy::Settings,
        sources: &[seen("https://github.com/intel/ethernet-linux-ice/issues/12", "2024-11-08")],
        samples: &["ICE OICR event notification: oicr = 0x06000803", "HMC Error"],
        ..TOOL
    },
    Cause {
        id: "rdma.no_device_of_address",
        sign: r"(binding CM ID to (?<address>\S+) failed \(-19\)|rdma_bind_addr.* failed.*(-19|No such device))",
        says: "the interface with the address[ {address}] has no RDMA device",
        means: "The error is -19, no such device: the address belongs to a card without RDMA, or the card's RDMA driver is not loaded.",
        act: "`rdma link` lists RDMA devices and their interfaces: use an address of one, load the card's RDMA driver, or use TCP",
        remedy: Remedy::Settings,
        sources: &[seen("https://github.com/pkoutoupis/rapiddisk/issues/145", "2023-01-21")],
        samples: &["[ 3664.472868] nvmet_rdma: binding CM ID to 192.0.2.185:4420 failed (-19)"],
        ..TOOL
    },
    Cause {
        id: "mce.ras_corrected",
        sign: "Corrected error, no action required|mci Corrected_error|Corrected (?:read|write|patrol scrub) error",
        says: "rasdaemon has a corrected error of memory or a processor",
        means: "The hardware corrected it. Nothing was lost.",
        counts: Counts::Warn,
        act: "watch their number (`ras-mc-ctl --summary`, `ras-mc-ctl --error-count`): a module whose errors go on is a case for the next maintenance",
        sure: Sure::Confirmed,
        sources: &[seen("https://github.com/mchehab/rasdaemon/issues/121", "2023-10-27")],
        samples: &[
            "1 .. error: Corrected error, no action required., CPU 2, bank Unified Memory Controller (bank=21), mcg mcgstatus=0, mci Error_overflow CECC, memory_channel=0,csrow=2",
        ],
        ..TOOL
    },
    Cause {
        id: "memory.single_bit",
        sign: r"\[Hardware Error\]:\s+error_type: ?(?:2, single-bit ECC|(?:4, )?single-symbol chipkill)",
        near: &[r"fru_text: (?<dimm>\S.*)"],
        says: "the memory module[ {dimm}] had an error of one bit, which was corrected",
        means: "The firmware corrected it, and no data was lost. Now and then that happens to sound memory; many of one module precede errors that are not corrected.",
        counts: Counts::Warn,
        act: "nothing at once: count them per module (`ras-mc-ctl --errors`, `ipmitool sel elist`; `fru_text` and `node`, `card`, `module` name it); where one module goes on or has many, plan to have it changed at a maintenance",
        sure: Sure::Likely,
        sources: &[
            seen("Linux kernel: drivers/firmware/efi/cper.c", "2026-12-01"),
            seen("https://github.com/prometheus/node_exporter/pull/3511", "2025-12-29"),
        ],
        samples: &["kernel: {35}[Hardware Error]:    error_type: 2, single-bit ECC"],
        ..TOOL
    },
    Cause {
        id: "apparmor.userns",
        sign: r#"apparmor=\\?"DENIED\\?".*(?:profile=\\?"unprivileged_userns|operation=\\?"userns_create)"#,
        near: &[r#"apparmor=\\?"DENIED.*unprivileged_userns.*comm=\\?"(?<comm>[^"\\]+)"#],
        says: "AppArmor limits the user namespace of a program[ ({comm})]",
        means: "Ubuntu 24.04 and later put a program without a profile of its own into `unprivileged_userns` when it makes a user namespace; mounts and other rights are forbidden in it (kernel.apparmor_restrict_unprivileged_userns=1).",
        counts: Counts::Warn,
        act: "where that program is the one that fails: give it a profile with `userns,` in /etc/apparmor.d and load it (`apparmor_parser -r`), or install the package that brings one; else `sysctl kernel.apparmor_restrict_unprivileged_userns=0` in /etc/sysctl.d for the whole host; rights of files are not the matter",
        remedy: Remedy::Settings,
        sure: Sure::Likely,
        sources: &[
            seen(
                "https://ubuntu.com/blog/ubuntu-23-10-restricted-unprivileged-user-namespaces",
                "2026-12-01",
            ),
            seen("https://github.com/google/nsjail/issues/236", "2024-08-03"),
        ],
        samples: &[
            r#"audit: type=1400 audit(1722708589.057:470): apparmor="DENIED" operation="mount" class="mount" info="failed mntpnt match" error=-13 profile="unprivileged_userns" name="/" pid=2054704 comm="nsjail" flags="rw, rprivate""#,
        ],
        ..TOOL
    },
    Cause {
        id: "mcelog.uncorrected",
        sign: r"^(?:\S+ )?MCi status: Uncorrected error|^(?:mcelog: )?Uncorrected error$|mcelog: .*Uncorrected error",
        says: "mcelog has a machine check that was not corrected",
        means: "Data was lost in a processor, its memory or a link.",
        act: "drain the host; the line BANK, MCA and the log of the management controller say which part it was; run the vendor's memory test before anything is changed",
        sure: Sure::Confirmed,
        sources: &[seen("https://github.com/andikleen/mcelog (p4.c)", "2026-11-30")],
        samples: &["MCi status: Uncorrected error"],
        ..TOOL
    },
    Cause {
        id: "mcelog.event",
        sign: r"HARDWARE ERROR\. This is \*NOT\* a software problem|^(?:mcelog: )?Hardware event\. This is not a software error|^(?:mcelog: )?MCA: (?<what>.+)$",
        follows: &["mcelog.uncorrected"],
        says: "mcelog has a machine check[: {what}]",
        means: "The lines after it say which bank and whether it was corrected; a corrected one lost nothing.",
        counts: Counts::Warn,
        act: "read MCi status: `Corrected error` that comes now and then is for watching; many of one bank, or an uncorrected one, ask for BIOS and microcode updates first, then for a look at that processor or module by the vendor's test",
        remedy: Remedy::Look,
        sources: &[seen("https://trick77.com/tag/virtualization/", "2014-11-04")],
        samples: &["mcelog: HARDWARE ERROR. This is *NOT* a software problem!", "MCA: Internal parity error"],
        ..TOOL
    },
    Cause {
        id: "mce.firmware_corrected",
        sign: r"MC\d+_STATUS\[[^\]]*\|CE\|",
        counts: Counts::Warn,
        says: "the processor or the firmware reports an error that was corrected",
        means: "CE stands for a corrected error: no data was lost. Where the firmware handles errors first, its own log has the part.",
        act: "look at the log of the management controller (`ipmitool sel list`); a part is changed only where that log asks for it",
        sources: &[seen("https://github.com/oracle/oracle-linux/issues/166", "2024-12-22")],
        samples: &["[Hardware Error]: CPU:0 (17:31:0) MC255_STATUS[-|CE|-|-|AddrV|-|-|-]"],
        ..TOOL
    },
    Cause {
        id: "boot.root_missing_panic",
        sign: "VFS: (?:Unable to mount root fs on|Cannot open root device)",
        says: "the kernel found no root file system",
        means: "Mostly there is no initramfs for this kernel (its build failed, /boot was full), or the id of the disk or the module of its controller changed.",
        act: "boot the kernel before from the menu of grub; then see `ls -l /boot` for its initrd, `df -h /boot`, and build it again (`update-initramfs -u -k VERSION`, `dracut -f --kver VERSION`, `update-grub`)",
        remedy: Remedy::Settings,
        sources: &[seen("Linux kernel: init/do_mounts.c", "2026-11-30")],
        samples: &[r#"VFS: Cannot open root device "UUID=1234" or unknown-block(0,0): error -6"#],
        ..TOOL
    },
    Cause {
        id: "limit.pids_cgroup",
        sign: "cgroup: fork rejected by pids controller in (?<group>[^ ]+)",
        says: "the control group {group} may have no more processes",
        means: "pids.max of the group is reached: TasksMax of the unit or of the login, or the limit of a container.",
        counts: Counts::Fail,
        act: "`systemctl show -p TasksMax UNIT` and `cat /sys/fs/cgroup{group}/pids.max`: raise TasksMax (UserTasksMax of logind for logins, `--pids-limit` of a container), or start fewer processes and threads",
        remedy: Remedy::Settings,
        sure: Sure::Confirmed,
        sources: &[seen("Linux kernel: kernel/cgroup/pids.c", "2026-11-30")],
        samples: &["kernel: cgroup: fork rejected by pids controller in /user.slice/user-1000.slice"],
        ..TOOL
    },
    Cause {
        id: "kernel.speed_notes",
        sign: r"perf: interrupt took too long|hrtimer: interrupt took \d+ ns|x86/split lock detection: #AC:|request_sock_TCP: Possible SYN flooding",
        says: "the kernel notes something that stops nothing",
        means: "It lowered a rate, took a slow path once, or answered with cookies.",
        counts: Counts::Note,
        sources: &[seen("Linux kernel: kernel/events/core.c, kernel/time/hrtimer.c", "2026-11-30")],
        samples: &[
            "kernel: perf: interrupt took too long (2500 > 2500), lowering kernel.perf_event_max_sample_rate to 79750",
        ],
        ..TOOL
    },
    Cause {
        id: "disk.medium_error",
        sign: r"\[(?<disk>sd[a-z]+)\].*(?:Sense: Unrecovered read error|Sense Key : (?:Medium Error|Hardware Error))|critical (?:medium|target) error, dev (?<dev>sd[a-z]+)",
        says: "the disk[ {disk}][ {dev}] cannot read a sector",
        means: "A sector of the medium is lost. The data in it has to come from elsewhere.",
        act: "save what is on it, see `smartctl -a` (Current_Pending_Sector, Reallocated); in an array let it be replaced by the rules of the array; a single sector is written anew by a scrub",
        sources: &[seen("Linux kernel: drivers/scsi/constants.c, block/blk-core.c", "2026-11-30")],
        samples: &["kernel: sd 0:0:0:0: [sda] tag#0 Add. Sense: Unrecovered read error"],
        ..TOOL
    },
    Cause {
        id: "net.tx_hang",
        sign: "Detected (?:Tx Unit Hang|Hardware Unit Hang)",
        says: "a network card hung while it sent",
        means: "The driver resets it. With e1000e and igb it is mostly offloads or power saving of the link; else the card, its slot or its firmware.",
        counts: Counts::Warn,
        act: "`ethtool -K DEV tso off gso off` and `ethtool --set-eee DEV eee off` as a test; `pcie_aspm=off`; then firmware and driver of the card",
        remedy: Remedy::Settings,
        sure: Sure::Guess,
        sources: &[seen("Linux kernel: drivers/net/ethernet/intel", "2026-11-30")],
        samples: &["kernel: ixgbe 0000:01:00.0 eth0: Detected Tx Unit Hang"],
        ..TOOL
    },
    Cause {
        id: "nvme.power_saving",
        sign: r#"nvme nvme\d+: Does your device have a faulty power saving mode enabled|Try \"nvme_core\.default_ps_max_latency_us=0"#,
        says: "an NVMe disk went away, perhaps by its saving of power",
        means: "The kernel asks it for each disk that stops to answer. Power saving of the disk or of the link is the first thing to rule out; else the disk, its slot or its firmware.",
        act: "add `nvme_core.default_ps_max_latency_us=0 pcie_aspm=off` to the command line of the kernel and power the host off and on; then the firmware of the disk; where it goes again, another slot; `nvme smart-log` before anything is replaced",
        remedy: Remedy::Reset,
        sure: Sure::Guess,
        sources: &[seen("Linux kernel: drivers/nvme/host/pci.c (nvme_warn_reset)", "2026-11-30")],
        samples: &["[ 8753.723961] nvme nvme0: Does your device have a faulty power saving mode enabled?"],
        ..TOOL
    },
    Cause {
        id: "trace.text_poke",
        sign: r"\b(?:text_poke_(?:bp_batch|finish|queue)|smp_text_poke_batch_finish|arch_jump_label_transform\w*|do_sync_core|smp_call_function_many_cond)\+0x",
        says: "processors wait for each other while the kernel changes its own code",
        means: "One processor asks all others to stop for a moment, and one of them does not answer.",
        counts: Counts::Note,
        sure: Sure::Guess,
        sources: &[
            seen("Linux kernel: arch/x86/kernel/alternative.c, kernel/smp.c", "2026-12-01"),
            seen("https://github.com/coreos/fedora-coreos-tracker/issues/1600", "2023-10-24"),
        ],
        samples: &["kernel:  text_poke_bp_batch+0xbe/0x300"],
        ..TOOL
    },
    Cause {
        id: "trace.nfs",
        sign: r"(?:nfs_wait_bit_killable|rpc_wait_bit_killable|nfs4_discover_server_trunking|nfs_wait_client_init_complete|__rpc_execute|rpc_run_task|nfs4_run_state_manager)(?:\.\w+)*\+0x",
        says: "a process waits in the NFS client",
        means: "Its server does not answer, or answers slowly: it is down, overloaded, its export is gone, or the network between fails.",
        counts: Counts::Warn,
        act: "look at the server and the way to it (`nfsstat -m`, `rpcinfo -t SERVER nfs`, `mountpoint -q` with a timeout); the processes go on when it answers, and a reboot of this host is the last step",
        remedy: Remedy::Look,
        sure: Sure::Guess,
        sources: &[seen("Linux kernel: kernel/hung_task.c", "2026-11-30")],
        samples: &["[<ffffffffc0a66f60>] nfs_wait_bit_killable+0x24/0xa0 [nfs]"],
        ..TOOL
    },
    Cause {
        id: "trace.zfs",
        sign: r"(?:txg_wait_synced|txg_quiesce_thread|zil_commit|dnode_hold_impl|zfs_zget|spa_sync|dmu_tx_wait|zfs_vget)(?:_impl)?(?:\.\w+)*\+0x",
        says: "a process waits in ZFS",
        means: "A disk of the pool is slow or gone, the pool is suspended or nearly full, or this release has a deadlock.",
        counts: Counts::Warn,
        act: "`zpool status -v`, `zpool iostat -v 5`, `zpool list` (above 80 % it slows down), `dmesg` for the disks; then a newer release of OpenZFS",
        remedy: Remedy::Look,
        sure: Sure::Guess,
        sources: &[seen("Linux kernel: kernel/hung_task.c", "2026-11-30")],
        samples: &["[<ffffffffa031b704>] zil_commit+0x74/0x6a0 [zfs]"],
        ..TOOL
    },
    Cause {
        id: "trace.lustre",
        sign: r"(?:ptlrpc_set_wait|ptlrpc_queue_wait|ldlm_completion_ast|ll_file_io_generic|cl_sync_io_wait|osc_enter_cache|lov_io_\w+)(?:\.\w+)*\+0x",
        says: "a process waits in the Lustre client",
        means: "A server (OST, MDT) does not answer, or LNet loses messages.",
        counts: Counts::Warn,
        act: "`lfs check servers`, `lctl dl`, `lnetctl stats show` and `lctl ping` of the server; its own log",
        remedy: Remedy::Look,
        sure: Sure::Guess,
        sources: &[seen("Linux kernel: kernel/hung_task.c", "2026-11-30")],
        samples: &["[<ffffffffc0c1>] ptlrpc_set_wait+0x480/0x790 [ptlrpc]"],
        ..TOOL
    },
    Cause {
        id: "trace.disk",
        sign: r"(?:jbd2_log_wait_commit|jbd2_journal_commit_transaction|xlog_wait_on_iclog|xfs_buf_submit|xfs_log_force(?:_seq)?|md_flush_request|md_write_start|raid5_get_active_stripe|blk_mq_get_tag|wbt_wait)(?:\.\w+)*\+0x",
        says: "a process waits for a disk of this host",
        means: "The disk or array below is slow, lost or overloaded.",
        counts: Counts::Warn,
        act: "`iostat -x 5`, `dmesg` for nvme, sd and md, `cat /proc/mdstat`, `smartctl -a`; dirty pages of big memory can take minutes (vm.dirty_bytes)",
        remedy: Remedy::Look,
        sure: Sure::Guess,
        sources: &[seen("Linux kernel: kernel/hung_task.c", "2026-11-30")],
        samples: &["jbd2_log_wait_commit+0xd7/0x130"],
        ..TOOL
    },
    Cause {
        id: "trace.nvidia",
        sign: r"(?:os_acquire_mutex|os_acquire_rwlock_\w+|os_acquire_semaphore|_nv\d+rm|rm_(?:ioctl|init_adapter|shutdown_adapter)|nvidia_(?:ioctl|close|open)|nv_(?:open_device|close_device))(?:\.\w+)*\+0x",
        says: "a process waits in NVIDIA's driver",
        means: "The driver waits for a GPU or its firmware (GSP) that does not answer.",
        counts: Counts::Warn,
        act: "look for Xid (79, 119, 120, 154) and GSP of the same time in `dmesg`; a process in state D there is not ended by a signal: drain the host and reboot it",
        remedy: Remedy::Reset,
        sure: Sure::Guess,
        sources: &[seen("Linux kernel: kernel/hung_task.c", "2026-11-30")],
        samples: &["os_acquire_rwlock_write+0x35/0x40 [nvidia]"],
        ..TOOL
    },
    Cause {
        id: "stall.lines",
        sign: r"BUG: soft lockup - CPU#\S+ stuck for|rcu: INFO: rcu_\w+ (self-)?detected stall|rcu_sched kthread starved",
        follows: &["net.tx_timeout", "mlx5.compromised"],
        says: "a processor was stuck in the kernel",
        means: "Something in the kernel did not let go for many seconds: the lines after it (`RIP:`, `Call Trace:`) name the function and its module. Drivers and probes of monitoring tools (eBPF, kprobes) do that more often than hardware.",
        act: "read the call trace: update or unload the module that it names, then reboot; in a virtual machine look whether its host has too few processors",
        remedy: Remedy::Reset,
        sure: Sure::Guess,
        sources: &[
            seen("Linux kernel: Documentation/admin-guide/lockup-watchdogs.rst", "2026-11-30"),
            seen("https://github.com/falcosecurity/falco/issues/3637", "2025-08-13"),
        ],
        samples: &["watchdog: BUG: soft lockup - CPU#4 stuck for 27s!"],
        ..TOOL
    },
    Cause {
        id: "program.illegal_instruction",
        sign: r"traps: (?<name>\S+?)\[\d+\] trap invalid opcode|Illegal instruction( \(core dumped\))?$",
        says: "a program uses an instruction that this processor does not have[: {name}]",
        means: "It was built for a newer processor (`-march=native` on another host), or its memory is damaged.",
        act: "build it for the oldest processor of the cluster, or take a build of the distribution",
        remedy: Remedy::Install,
        sources: &[seen("Linux kernel: arch/x86/kernel/traps.c", "2026-11-30")],
        samples: &[
            "[ 912.1] traps: python3[4711] trap invalid opcode ip:7f00 sp:7ffd error:0 in libfoo.so[7f00+1000]",
        ],
        ..TOOL
    },
    Cause {
        id: "program.crashed",
        sign: r"(?<name>\S+?)\[\d+\]: segfault at [0-9a-f]+ ip|traps: (?<trapped>\S+?)\[\d+\] general protection",
        role: Role::Effect,
        counts: Counts::Warn,
        says: "a program crashed[: {name}][: {trapped}]",
        means: "It used memory that is not its own: a fault of the program or of a library, or of two that do not fit.",
        act: "the line names the library; look at the program's own log and core dump; only when many programs crash on this host alone, test its memory",
        sources: &[seen("Linux kernel: arch/x86/mm/fault.c", "2026-11-30")],
        samples: &[
            "[ 731.1] python3[4711]: segfault at 10 ip 00007f01 sp 00007ffd error 4 in libnccl.so.2[7f00+1000]",
        ],
        ..TOOL
    },
];
