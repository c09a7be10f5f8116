//! GPUDirect Storage: cuFile, gdsio and the kernel module nvidia-fs.

use super::super::cause::{Cause, Counts, Remedy, Role, Sure, TOOL, seen};

pub(in crate::causes) const ROWS: &[Cause] = &[
    Cause {
        id: "gds.module_missing",
        sign: r"nvidia-fs(\.ko)? driver (is )?not loaded",
        says: "nvidia-fs is not loaded, so GPUDirect Storage is off",
        means: "cuFile asks for its kernel module, and that is not there. In its compatible mode it reads through the memory of the host and works all the same, at less speed.",
        act: "`modprobe nvidia-fs`; where the module is missing install nvidia-fs for this driver and kernel; where less speed is enough leave `allow_compat_mode` true in cufile.json",
        remedy: Remedy::Install,
        sources: &[seen("https://github.com/NVIDIA/gds-nvidia-fs/issues/31", "2023-11-07")],
        samples: &[
            " 06-11-2023 20:12:02:865 [pid=1572 tid=1572] ERROR  cufio-drv:716 nvidia-fs.ko driver not loaded",
        ],
        ..TOOL
    },
    Cause {
        id: "gds.no_nvme_hooks",
        sign: "NVMe Driver not registered with nvidia-fs",
        says: "the NVMe driver of this kernel does not work with nvidia-fs",
        means: "nvidia-fs needs an NVMe driver that knows it: the one of OFED or DOCA with storage support, or PCI P2PDMA of newer kernels. Disk and GPU are sound.",
        act: "`gdscheck -p` shows which drivers are supported here: install the NVMe modules of OFED or DOCA for this kernel and load them in place of the own ones, or set `use_pci_p2pdma` in cufile.json where driver and kernel have it; until then leave `allow_compat_mode` true",
        remedy: Remedy::Install,
        sources: &[
            seen("https://github.com/NVIDIA/gds-nvidia-fs/issues/31", "2023-11-07"),
            seen("https://github.com/tinygrad/open-gpu-kernel-modules/issues/51", "2026-04-06"),
        ],
        samples: &[
            " 06-04-2026 14:59:16:997 [pid=4499 tid=4499] ERROR  cufio-fs:204 NVMe Driver not registered with nvidia-fs!!!",
        ],
        ..TOOL
    },
    Cause {
        id: "gds.block_device",
        sign: r"cufio-fs:\d+ (Unsupported block device: (?<disk>\S+)|error creating udev_device for block device|error getting volume attributes|mount options? not (specified|found))",
        says: "GPUDirect Storage does not know the device below the file system[ ({disk})]",
        means: "cuFile looks at the block device and its mount. Device mapper, many RAID sets and network file systems without support of their own are not for it.",
        act: "`gdscheck -p` lists what is supported: put the files on ext4 or XFS right on NVMe, or on a network file system of that list; else leave `allow_compat_mode` true in cufile.json",
        remedy: Remedy::Settings,
        sure: Sure::Likely,
        sources: &[seen("https://github.com/NVIDIA/gds-nvidia-fs/issues/62", "2025-06-27")],
        samples: &[
            " 27-06-2025 08:00:30:92 [pid=5763 tid=5763] ERROR  cufio-fs:268 Unsupported block device: /dev/dm-0",
            " 27-06-2025 07:45:35:135 [pid=4888 tid=4888] ERROR  cufio-fs:328 error creating udev_device for block device dev_no: 0:53",
        ],
        ..TOOL
    },
    Cause {
        id: "gds.unsupported_file",
        sign: "GPUDirect Storage not supported on current file|cuFileHandleRegister error",
        says: "cuFile cannot use GPUDirect Storage for this file",
        means: "The file system, its driver, or the way between disk and GPU is not supported, and the compatible mode is off.",
        role: Role::Effect,
        act: "`gdscheck -p` says what is supported here, and cufile.log the reason for this file; `allow_compat_mode: true` in cufile.json reads it through the memory of the host",
        remedy: Remedy::Settings,
        sure: Sure::Guess,
        sources: &[seen("https://github.com/NVIDIA/gds-nvidia-fs/issues/70", "2025-12-04")],
        samples: &[
            "file register error: GPUDirect Storage not supported on current file filename:/mnt/gds/gdsio.0",
            " 06-04-2026 14:59:16:997 [pid=4499 tid=4499] ERROR  cufio:297 cuFileHandleRegister error, file checks failed",
        ],
        ..TOOL
    },
    Cause {
        id: "gds.compatible",
        sign: r"cufio(-drv)?:\d+ .*(running in compatible mode|compat mode enabled)|WARNING - cuFile compat mode",
        says: "cuFile reads through the memory of the host (compatible mode)",
        means: "GPUDirect Storage is off or not supported for this file. Programs work, with less speed.",
        counts: Counts::Note,
        act: "look at the lines before it where that speed is wanted",
        sources: &[
            seen("https://github.com/rapidsai/kvikio/issues/283", "2023-09-20"),
            seen("https://github.com/NVIDIA/gds-nvidia-fs/issues/31", "2023-11-07"),
        ],
        samples: &[
            " 06-11-2023 18:40:43:90 [pid=5919 tid=5919] NOTICE  cufio-drv:720 running in compatible mode",
        ],
        ..TOOL
    },
    Cause {
        id: "gds.start",
        sign: r"cufio:\d+ (cuInit Failed|cuFile initialization failed)",
        says: "cuFile did not start",
        means: "cuFile starts CUDA first, and that failed.",
        role: Role::Effect,
        act: "mend CUDA on this host first (`nvidia-smi`, the words of its error); with CUDA_ERROR_NO_DEVICE the process sees no GPU",
        remedy: Remedy::Look,
        sure: Sure::Likely,
        sources: &[seen("https://github.com/NVIDIA/gds-nvidia-fs/issues/31", "2023-11-05")],
        samples: &[
            " 05-11-2023 15:01:56:615 [pid=3803 tid=3803] ERROR  cufio:583 cuFile initialization failed",
        ],
        ..TOOL
    },
    Cause {
        id: "gds.pin",
        sign: "nvidia-fs:.*(invoking nvidia_p2p_get_pages|[Uu]nable to pin (shadow buffer|end_fence) page)",
        says: "nvidia-fs could not pin memory of a GPU",
        means: "The driver gave it no pages: BAR1 is too small or full, the memory is of a kind that cannot be shared, or nvidia-fs was built for another driver.",
        act: "`nvidia-smi -q -d MEMORY` for BAR1, `dmesg | grep -i xid`; build nvidia-fs again for the running driver",
        remedy: Remedy::Look,
        sure: Sure::Guess,
        sources: &[seen(
            "https://github.com/NVIDIA/gds-nvidia-fs (src/nvfs-core.c, src/nvfs-mmap.c)",
            "2026-12-01",
        )],
        samples: &["[  938.5] nvidia-fs:nvfs_pin_gpu_pages:812 Error ret -22 invoking nvidia_p2p_get_pages"],
        ..TOOL
    },
    Cause {
        id: "gds.io",
        sign: "nvidia-fs:.*(IO failed|cannot handle (blk queue|gpu request|mixed segments)|dma mapping error|mgroup_(get_page|set_dma) error|validation failed)",
        says: "nvidia-fs could not carry out a transfer",
        means: "The kernel module met a request that it cannot map, or the disk or the network file system below it failed.",
        role: Role::Effect,
        act: "look at the kernel's lines before it about the disk or the network; take nvidia-fs of one release with driver and OFED; `allow_compat_mode: true` in cufile.json goes round it",
        remedy: Remedy::Install,
        sure: Sure::Guess,
        sources: &[seen(
            "https://github.com/NVIDIA/gds-nvidia-fs (src/nvfs-core.c, src/nvfs-dma.c)",
            "2026-12-01",
        )],
        samples: &[
            "[  938.5] nvidia-fs:nvfs_blk_rq_map_sg_internal:120 cannot handle mixed segments(cpu/gpu) in blkrq",
        ],
        ..TOOL
    },
];
