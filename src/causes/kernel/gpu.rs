//! The NVIDIA driver and its modules: why a GPU cannot be used.

use super::super::cause::{Apart, Cause, Counts, ROW, Remedy, Role, seen};

const DRIVER: Cause = Cause { check: "driver.log", counts: Counts::Fail, ..ROW };

const FLAVOUR: &str = "install the driver's open kernel modules in place of the proprietary ones (packages `...-open`; `flavour: open` of the resource `nvidia_driver`) and reboot; the GPU is sound";
const LEGACY: &str = "install the branch of the driver that the message names, the last one for this GPU";
const BARS: &str = "switch Above 4G Decoding and Resizable BAR on in the firmware setup and update it; in a virtual machine boot by UEFI with a large 64-bit window; then try the kernel parameter `pci=realloc`";
const NO_FIRMWARE: &str = "install the GSP firmware of exactly the driver's version (below /lib/firmware/nvidia), then load the module again";
const GSP: &str = "look at the lines of NVRM before it, which name the step that failed, and whether driver, modules and firmware are of one version; take another release of the driver (with proprietary modules `NVreg_EnableGpuFirmware=0` goes round the firmware); where this driver started the GPU before, switch the drained host off and on again (a warm reboot does not reset the GPU's firmware)";
const GSP_ENGINE: &str = "install the proprietary modules of the same version, or a newer release of the open ones; the GPU is sound";
const NOVA: &str =
    "blacklist nova_core, nova_drm and nova in /etc/modprobe.d, rebuild the initramfs and reboot";
const GUEST: &str = "this is a virtual machine: pass the whole GPU through with UEFI and a large 64-bit window for PCI (VMware: pciPassthru.use64bitMMIO and 64bitMMIOSizeGB; QEMU: machine type q35), look whether the hypervisor or an earlier guest reset it, and whether its driver is of a kind that this guest may use (vGPU wants the guest's driver); then another release of the driver";
const CABLE: &str = "switch the host off and connect the power cables of the GPU";
const HELD: &str = "`lspci -k` says which driver holds the GPU (nouveau, nova_core, vfio-pci): blacklist it, rebuild the initramfs and reboot";
const LOST: &str = "power-cycle the host: the GPU fell off the bus; see gpu.xid";
/// Reasons why a GPU cannot be initialised, told by what is said beside it.
const REASONS: &[Apart] = &[
    Apart { beside: &["nvidia.open_modules"], act: FLAVOUR },
    Apart { beside: &["nvidia.legacy"], act: LEGACY },
    Apart { beside: &["nvidia.nova"], act: NOVA },
    Apart { beside: &["nvidia.no_firmware"], act: NO_FIRMWARE },
    Apart { beside: &["nvidia.gsp_engine"], act: GSP_ENGINE },
    Apart { beside: &["nvidia.power_cable", "xid.power_cable"], act: CABLE },
    Apart { beside: &["nvidia.off_the_bus", "xid.off_the_bus"], act: LOST },
    Apart { beside: &["nvidia.bar"], act: BARS },
    Apart { beside: &["nvidia.gsp", "xid.gsp"], act: GSP },
    Apart { beside: &["pci.bar"], act: BARS },
    Apart { beside: &["vm.guest"], act: GUEST },
];

/// Causes for which the driver gives a GPU up.
const NOT_STARTED: &[&str] = &[
    "nvidia.open_modules",
    "nvidia.legacy",
    "nvidia.held",
    "nvidia.nova",
    "nvidia.bar",
    "nvidia.off_the_bus",
    "nvidia.gsp_engine",
    "nvidia.rm_init",
];

pub(in crate::causes) const ROWS: &[Cause] = &[
    Cause {
        id: "nvidia.open_modules",
        sign: r"NVRM: (The NVIDIA GPU (?<device>{pci}).* )?(installed in this system )?requires use of (the )?NVIDIA open kernel modules",
        says: "needs the open kernel modules",
        means: "The GPU is of a generation that the proprietary modules do not know.",
        act: FLAVOUR,
        remedy: Remedy::Install,
        sources: &[seen("https://github.com/NVIDIA/open-gpu-kernel-modules/issues/862", "2025-07-26")],
        samples: &[
            "[    5.559842] NVRM: The NVIDIA GPU 0000:03:00.0 (PCI ID: 10de:2c58)\\x0aNVRM: installed in this system requires use of the NVIDIA open kernel modules.",
        ],
        ..DRIVER
    },
    Cause {
        id: "nvidia.legacy",
        sign: r"NVRM: installed in this system is (not supported by|supported through)",
        says: "is not supported by this driver",
        means: "The driver is newer than the GPU, or the GPU newer than the driver.",
        act: LEGACY,
        remedy: Remedy::Install,
        sources: &[seen(
            "https://github.com/NVIDIA/open-gpu-kernel-modules (kernel-open/nvidia/nv.c)",
            "2026-11-29",
        )],
        samples: &[
            "[    9.1] NVRM: The NVIDIA GPU 0000:01:00.0 (PCI ID: 10de:1004)\\x0aNVRM: installed in this system is not supported by the 580.105.08 NVIDIA driver release.",
        ],
        ..DRIVER
    },
    Cause {
        id: "nvidia.named",
        sign: r"NVRM: The NVIDIA GPU (?<device>{pci})( |\\|$)",
        says: "is named",
        begins: true,
        means: "The first line of a message about a GPU.",
        counts: Counts::Note,
        sources: &[seen("https://github.com/NVIDIA/open-gpu-kernel-modules/issues/862", "2025-07-26")],
        samples: &["Jul 01 22:55:07 gpu kernel: NVRM: The NVIDIA GPU 0000:01:00.0 (PCI ID: 10de:2b85)"],
        ..DRIVER
    },
    Cause {
        id: "nvidia.bar",
        sign: r"NVRM: (This PCI I/O region assigned to your NVIDIA device is invalid|BAR[0-9] is 0M @ 0x0 \(PCI:(?<device>{bus})\))",
        says: "got no room for its memory on the PCIe bus",
        begins: true,
        means: "The firmware or the hypervisor gave the GPU no address range.",
        act: BARS,
        remedy: Remedy::Settings,
        sources: &[seen(
            "https://github.com/NVIDIA/open-gpu-kernel-modules (kernel-open/nvidia/nv-pci.c)",
            "2026-11-29",
        )],
        samples: &[
            "[  8.1] NVRM: This PCI I/O region assigned to your NVIDIA device is invalid:\\x0aNVRM: BAR1 is 0M @ 0x0 (PCI:0000:13:00.0)",
        ],
        ..DRIVER
    },
    Cause {
        id: "pci.bar",
        sign: r"(pci|nvidia|pcieport) (?<device>{pci}): BAR [0-5]( \[mem size 0x[0-9a-f]{9,}[^]]*\])?: (can't assign; no space|(no space for|failed to assign) \[mem size 0x[0-9a-f]{9,})",
        says: "got no room for its memory",
        means: "The kernel found no room for an address range of 4 GiB or more of a device.",
        counts: Counts::Note,
        sources: &[seen("Linux kernel: drivers/pci/setup-res.c", "2026-11-29")],
        samples: &[
            "pci 0000:13:00.0: BAR 1 [mem size 0x800000000 64bit pref]: can't assign; no space",
            "[    1.2] pci 0000:13:00.0: BAR 1: no space for [mem size 0x800000000 64bit pref]",
        ],
        ..DRIVER
    },
    Cause {
        id: "nvidia.no_firmware",
        sign: r"(NVRM: (GPU[0-9]+ )?RmFetchGspRmImages: No firmware image found|nvidia (?<device>{pci}): (Direct firmware load for|loading /[^ ]*) ?[^ ]*gsp_[^ ]* failed)",
        says: "found no GSP firmware",
        follows: &["nvidia.mismatch"],
        means: "The file of the GPU's firmware is missing, or is of another version.",
        act: NO_FIRMWARE,
        remedy: Remedy::Install,
        sources: &[seen(
            "https://github.com/NVIDIA/open-gpu-kernel-modules (src/nvidia/arch/nvalloc/unix/src/osinit.c)",
            "2026-11-29",
        )],
        samples: &[
            "NVRM: RmFetchGspRmImages: No firmware image found",
            "nvidia 0000:82:00.0: Direct firmware load for nvidia/580.105.08/gsp_ga10x.bin failed with error -2",
        ],
        ..DRIVER
    },
    Cause {
        id: "nvidia.gsp_engine",
        sign: r"NVRM:? (GPU[0-9]+ )?kgspInitRm_IMPL: (missing [A-Z0-9]+ engine, cannot initialize GSP-RM|unsupported chip)",
        says: "the open modules of this release cannot start this kind of GPU",
        means: "The GPU lacks an engine that this release of the open modules wants for its firmware (GSP).",
        act: GSP_ENGINE,
        remedy: Remedy::Install,
        sources: &[seen("https://github.com/NVIDIA/open-gpu-kernel-modules/issues/116", "2022-05-12")],
        samples: &["[    3.596579] NVRM kgspInitRm_IMPL: missing NVDEC0 engine, cannot initialize GSP-RM"],
        ..DRIVER
    },
    Cause {
        id: "nvidia.gsp",
        sign: r"NVRM:? (GPU[0-9]+ )?(RmInitAdapter: Cannot initialize GSP firmware RM|s_executeBooterUcode_[A-Z0-9]+: Booter failed|kgspInitRm_IMPL: cannot bootstrap|kgspExecuteBooter[A-Za-z]*_[A-Z0-9]+: failed to execute Booter|gpuWaitForGfwBootComplete_[A-Z0-9]+: |kgspWaitForGfwBootOk_[A-Z0-9]+: |_kgspBootGspRm: unexpected WPR2 already up|ksec2PrepareBootCommands_[A-Z0-9]+: .*timed out)",
        follows: &["nvidia.gsp_engine", "nvidia.open_modules", "nvidia.no_firmware"],
        says: "did not start the GPU's firmware (GSP)",
        means: "The firmware on the GPU did not start, or still has the state of an earlier start.",
        act: GSP,
        remedy: Remedy::Reset,
        sources: &[
            seen("https://github.com/NVIDIA/open-gpu-kernel-modules/issues/789", "2025-02-20"),
            seen("https://github.com/NVIDIA/open-gpu-kernel-modules/issues/673", "2024-07-10"),
        ],
        samples: &[
            "NVRM s_executeBooterUcode_TU102: Booter failed with non-zero error code: 0xa",
            "[  903.609564] NVRM: RmInitAdapter: Cannot initialize GSP firmware RM",
            "[ 2052.745833] NVRM: gpuWaitForGfwBootComplete_TU102: failed to wait for GFW_BOOT: (progress 0x3)",
            "NVRM: GPU7 _kgspBootGspRm: unexpected WPR2 already up, cannot proceed with booting GSP",
        ],
        ..DRIVER
    },
    Cause {
        id: "nvidia.power_cable",
        sign: r"NVRM: GPU (?<device>{pci}): GPU does not have the necessary power cables connected",
        says: "has no power cable",
        means: "The GPU gets no power from its cable.",
        act: CABLE,
        remedy: Remedy::Look,
        sources: &[seen(
            "https://github.com/NVIDIA/open-gpu-kernel-modules (src/nvidia/arch/nvalloc/unix/src/osinit.c)",
            "2026-11-29",
        )],
        samples: &["NVRM: GPU 0000:13:00.0: GPU does not have the necessary power cables connected."],
        ..DRIVER
    },
    Cause {
        id: "nvidia.rm_init",
        sign: r"NVRM: (GPU (?<device>{pci}): )?RmInitAdapter failed! \((?<code>[^)]*)\)",
        says: "could not be initialised",
        follows: &[
            "nvidia.mismatch",
            "nvidia.open_modules",
            "nvidia.legacy",
            "nvidia.no_firmware",
            "nvidia.gsp_engine",
            "nvidia.gsp",
            "nvidia.bar",
            "nvidia.power_cable",
            "nvidia.off_the_bus",
            "xid.off_the_bus",
        ],
        means: "The driver could not start a GPU: wrong modules, no room on the PCIe bus, its firmware, its power, or the GPU itself.",
        act: "look at the lines of NVRM before it: they name the cause; where there is none, take another release of the driver and look at Above 4G Decoding in the firmware setup; then switch the drained host off and on again and reseat the GPU; one that fails in another host too is a case for its vendor",
        apart: REASONS,
        sources: &[
            seen("https://github.com/NVIDIA/open-gpu-kernel-modules/issues/862", "2025-07-26"),
            seen("https://github.com/NVIDIA/open-gpu-kernel-modules/issues/789", "2025-02-20"),
        ],
        samples: &[
            "[    5.559858] NVRM: GPU 0000:03:00.0: RmInitAdapter failed! (0x22:0x56:884)",
            "NVRM: RmInitAdapter failed! (0x62:0xffffffff:1089)",
        ],
        ..DRIVER
    },
    Cause {
        id: "nvidia.nova",
        sign: r"NVRM: GPU (?<device>{pci}) is already bound to (NovaCore|nova_core|nova)",
        says: "is held by nova_core",
        means: "The kernel's own new driver for NVIDIA GPUs took the GPU before this one.",
        act: NOVA,
        remedy: Remedy::Settings,
        sources: &[seen("https://github.com/beclab/Olares/issues/3963", "2026-08-17")],
        samples: &["[  201.910514] NVRM: GPU 0000:01:00.0 is already bound to NovaCore."],
        ..DRIVER
    },
    Cause {
        id: "nvidia.held",
        sign: r"NVRM: GPU (?<device>{pci}) is already bound to (?<driver>another driver|[A-Za-z0-9_-]+)",
        says: "is held by {driver}",
        means: "Another driver took the GPU before this one.",
        act: HELD,
        remedy: Remedy::Settings,
        sources: &[seen(
            "https://github.com/NVIDIA/open-gpu-kernel-modules (kernel-open/nvidia/nv-pci.c)",
            "2026-11-29",
        )],
        samples: &["[  201.910514] NVRM: GPU 0000:01:00.0 is already bound to nouveau."],
        ..DRIVER
    },
    Cause {
        id: "nvidia.not_probed",
        sign: r"NVRM: The NVIDIA probe routine was not called for (?<count>[0-9]+) device",
        says: "another driver holds a GPU",
        means: "Another driver took a GPU before this one.",
        act: HELD,
        apart: &[Apart { beside: &["nvidia.nova"], act: NOVA }],
        sources: &[seen(
            "https://github.com/NVIDIA/open-gpu-kernel-modules (kernel-open/nvidia/nv.c)",
            "2026-11-29",
        )],
        samples: &["[  530.504692] NVRM: The NVIDIA probe routine was not called for 1 device(s)."],
        ..DRIVER
    },
    Cause {
        id: "nvidia.probe_routine",
        sign: r"NVRM: The NVIDIA probe routine failed for (?<count>[0-9]+) device",
        says: "could not start a GPU",
        follows: NOT_STARTED,
        means: "The driver gave a GPU up when it was loaded.",
        act: "look at the lines of NVRM before it: they name the cause",
        apart: REASONS,
        sources: &[seen(
            "https://github.com/NVIDIA/open-gpu-kernel-modules (kernel-open/nvidia/nv.c of 595.45.04)",
            "2026-11-29",
        )],
        samples: &["[  530.504692] NVRM: The NVIDIA probe routine failed for 1 device(s)."],
        ..DRIVER
    },
    Cause {
        id: "nvidia.reset_required",
        sign: r"NVRM: (GPU[0-9]+ )?nvAssert[A-Za-z]+: Assertion failed: Reset required \[NV_ERR_RESET_REQUIRED\]",
        says: "a GPU takes no work until it is reset",
        means: "The driver refuses a GPU that met an error before and was not reset since.",
        act: "drain the host and reset the GPU (`nvidia-smi -r`); gpu.xid or the lines before it say which one and why",
        remedy: Remedy::Reset,
        ended_by: &["nvswitch.probing"],
        sources: &[seen("https://github.com/scitix/sichek/issues/51", "2026-01-11")],
        samples: &[
            "[ 4711.2] NVRM: nvAssertOkFailedNoLog: Assertion failed: Reset required [NV_ERR_RESET_REQUIRED] (0x00000062) returned from status @ kernel_channel.c:2874",
        ],
        ..DRIVER
    },
    Cause {
        id: "nvswitch.mismatch",
        sign: r"nvidia-nvswitch: Version mismatch, kernel version (?<kernel>[^ ]+) user version (?<user>[^ ]+)",
        says: "the fabric manager has version {user}, the driver {kernel}",
        means: "The fabric manager and the driver have different versions, so that it cannot set the switches up.",
        act: "install the fabric manager of exactly the driver's version and restart nvidia-fabricmanager",
        remedy: Remedy::Install,
        ended_by: &["nvswitch.probing"],
        sources: &[seen(
            "https://github.com/NVIDIA/open-gpu-kernel-modules (kernel-open/nvidia/linux_nvswitch.c of 595.45.04)",
            "2026-11-29",
        )],
        samples: &[
            "[  112.1] nvidia-nvswitch: Version mismatch, kernel version 580.95.05 user version 580.82.07",
        ],
        ..DRIVER
    },
    Cause {
        id: "nvidia.probe_failed",
        sign: r"nvidia(: probe of| )(?<colon> ?)(?<device>{pci})(: probe with driver nvidia)? failed with error",
        says: "was not taken by the driver",
        follows: NOT_STARTED,
        means: "The driver gave a GPU up when it was loaded.",
        act: "look at the lines of NVRM before it: they name the cause",
        apart: REASONS,
        sources: &[seen("Linux kernel: really_probe() in drivers/base/dd.c", "2026-11-29")],
        samples: &[
            "[  194.072275] nvidia: probe of 0000:02:00.0 failed with error -1",
            "[    7.1] nvidia 0000:02:00.0: probe with driver nvidia failed with error -1",
        ],
        ..DRIVER
    },
    Cause {
        id: "nvidia.mismatch",
        sign: r"NVRM: API mismatch: ",
        says: "a program uses libraries of another driver version",
        means: "The libraries were upgraded and the loaded module was not, or a container has libraries of its own.",
        act: "see which side is the odd one: `cat /proc/driver/nvidia/version` (loaded), `modinfo -F version nvidia` (on disk), and the version of the client in this line; where disk and client agree, reboot, or unload and load the modules when no program uses them; where the client is in a container, give it the libraries of the host's version; driver.coherence says which versions there are, and the log of apt or dnf who upgraded them",
        remedy: Remedy::Reset,
        sources: &[seen(
            "https://github.com/NVIDIA/open-gpu-kernel-modules (kernel-open/nvidia/nv.c)",
            "2026-11-29",
        )],
        samples: &[
            "[ 4123.1] NVRM: API mismatch: the client has the version 580.95.05, but\\x0aNVRM: this kernel module has the version 580.82.07.  Please",
        ],
        ..DRIVER
    },
    Cause {
        id: "peermem.symbols",
        sign: r"nv(idia)?_peer_?mem: (disagrees about version of symbol|Unknown symbol) (?<symbol>ib_[a-z_]+)",
        says: "nvidia_peermem does not fit the loaded ib_core",
        means: "OFED was installed or updated after the driver's modules were built.",
        act: "build the driver's modules again (`dkms install --force`) and load nvidia-peermem, or use DMA-BUF instead of it",
        remedy: Remedy::Install,
        sources: &[seen("https://github.com/NVIDIA/gpu-operator/issues/2868", "2026-09-08")],
        samples: &[
            "[Tue Sep  8 17:16:02 2026] nvidia_peermem: disagrees about version of symbol ib_register_peer_memory_client",
            "[   41.000001] nvidia_peermem: Unknown symbol ib_register_peer_memory_client (err -22)",
        ],
        ..DRIVER
    },
    Cause {
        id: "module.symbols",
        sign: r"(?<module>[A-Za-z0-9_-]+): (disagrees about version of symbol|Unknown symbol) (?<symbol>[A-Za-z0-9_.]+)",
        says: "{module} was built against other versions of modules",
        means: "A module does not fit those that it stands on.",
        act: "build it again for these modules (`dkms install --force`), or install the one of the distribution",
        remedy: Remedy::Install,
        sources: &[seen("Linux kernel: kernel/module/main.c and version.c", "2026-11-29")],
        samples: &["[   11.000001] mlx5_ib: disagrees about version of symbol ib_umem_release"],
        ..DRIVER
    },
    Cause {
        id: "module.magic",
        sign: r"(?<module>(nvidia|mlx5|ib|rdma|gdrdrv|nv_peer)[A-Za-z0-9_-]*): version magic '[^']*' should be '(?<magic>[^ ']*)",
        says: "{module} was built for another kernel",
        means: "A module is of another kernel than the one that runs.",
        act: "build it for the running kernel (`dkms autoinstall -k KERNEL`, with its headers), or boot the kernel that it is for",
        remedy: Remedy::Install,
        sources: &[seen("Linux kernel: kernel/module/main.c", "2026-11-29")],
        samples: &[
            "[   12.0] nvidia: version magic '6.8.0-85-generic SMP preempt mod_unload modversions ' should be '6.8.0-87-generic SMP preempt mod_unload modversions '",
        ],
        ..DRIVER
    },
    Cause {
        id: "module.unsigned",
        sign: r"(Lockdown: {comm}: unsigned module loading is restricted|Loading of (unsigned module|module with unavailable key|module with unsupported crypto) is rejected)",
        says: "a module was refused for its signature",
        means: "Secure Boot is on and the module is not signed by a key that the firmware knows.",
        counts: Counts::Warn,
        act: "sign the module and enrol its key (`mokutil --import`), or use the signed modules of the distribution",
        remedy: Remedy::Settings,
        sources: &[seen("Linux kernel: kernel/module/signing.c; security/lockdown/lockdown.c", "2026-11-29")],
        samples: &[
            "[    7.0] Lockdown: modprobe: unsigned module loading is restricted; see man kernel_lockdown.7",
            "[    7.0] Loading of module with unavailable key is rejected",
        ],
        ..DRIVER
    },
    Cause {
        id: "peermem.client",
        check: "peermem.errors",
        sign: r"nvidia-peermem nv_mem_client_init:[0-9]+ ERROR ",
        says: "nvidia_peermem did not register with ib_core",
        means: "The module is loaded and no card can use it: lsmod shows it, and NCCL goes without GPUDirect RDMA.",
        counts: Counts::Warn,
        act: "build the driver's modules again behind the loaded OFED (`dkms install --force`) and load nvidia-peermem, or use DMA-BUF instead of it",
        remedy: Remedy::Install,
        sources: &[
            seen(
                "https://github.com/NVIDIA/open-gpu-kernel-modules (kernel-open/nvidia-peermem/nvidia-peermem.c of 595.45.04)",
                "2026-11-29",
            ),
            seen("https://github.com/NVIDIA/nccl/issues/1939", "2025-12-12"),
        ],
        samples: &[
            "[   41.1] nvidia-peermem nv_mem_client_init:573 ERROR nv_mem_client_init -- error while registering traditional client",
        ],
        ..ROW
    },
    Cause {
        id: "peermem.error",
        check: "peermem.errors",
        sign: r"nvidia-peermem (?<function>[a-z0-9_]+):[0-9]+ ERROR (?<what>[^,]+)",
        says: "{what}",
        role: Role::Effect,
        means: "A program freed GPU memory that a card still used: the transfer is lost.",
        counts: Counts::Warn,
        act: "look for a Xid or a killed job at the same time; if it returns, update the driver, or use DMA-BUF instead of nvidia-peermem",
        remedy: Remedy::Install,
        sources: &[seen(
            "https://github.com/NVIDIA/open-gpu-kernel-modules (kernel-open/nvidia-peermem/nvidia-peermem.c)",
            "2026-11-29",
        )],
        samples: &[
            "6,3973,227996636,-;nvidia-peermem nv_get_p2p_free_callback:127 ERROR detected invalid context, skipping further processing",
        ],
        ..ROW
    },
];
