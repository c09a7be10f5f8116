//! Builds: DKMS, the compilers, NVIDIA's installer, configure and cmake, the initramfs, grub and EFI.

use super::super::cause::{Apart, Cause, Counts, Remedy, Role, Sure, TOOL, seen};

const DKMS: Cause = Cause {
    remedy: Remedy::Install,
    sources: &[seen("https://github.com/dkms-project/dkms (dkms.in)", "2026-11-30")],
    ..TOOL
};
const GCC: Cause = Cause {
    remedy: Remedy::Install,
    sources: &[seen("https://gcc.gnu.org/onlinedocs/gcc/Warnings-and-Errors.html", "2026-11-30")],
    ..TOOL
};
const MODPOST: Cause = Cause {
    remedy: Remedy::Install,
    sources: &[seen("Linux kernel: scripts/mod/modpost.c", "2026-11-30")],
    ..TOOL
};
const KBUILD: Cause = Cause {
    remedy: Remedy::Install,
    sources: &[seen("Linux kernel: Makefile, scripts/Makefile.build", "2026-11-30")],
    ..TOOL
};
const NVCC: Cause = Cause {
    remedy: Remedy::Install,
    sources: &[seen("https://docs.nvidia.com/cuda/cuda-compiler-driver-nvcc/", "2026-11-30")],
    ..TOOL
};
const RUNFILE: Cause = Cause {
    remedy: Remedy::Install,
    sources: &[seen(
        "https://github.com/NVIDIA/nvidia-installer (kernel.c, misc.c, install-from-cwd.c)",
        "2026-11-30",
    )],
    ..TOOL
};
const CMAKE: Cause = Cause {
    remedy: Remedy::Install,
    sources: &[seen("https://github.com/Kitware/CMake (Source, Modules)", "2026-11-30")],
    ..TOOL
};
const CONFIGURE: Cause = Cause {
    remedy: Remedy::Install,
    sources: &[seen("https://www.gnu.org/software/autoconf/manual/", "2026-11-30")],
    ..TOOL
};
const INITRAMFS: Cause = Cause {
    remedy: Remedy::Settings,
    sources: &[seen(
        "https://manpages.debian.org/bookworm/initramfs-tools/update-initramfs.8.en.html",
        "2026-11-30",
    )],
    ..TOOL
};
const GRUB: Cause = Cause {
    remedy: Remedy::Settings,
    sources: &[seen("https://www.gnu.org/software/grub/manual/grub/grub.html", "2026-11-30")],
    ..TOOL
};

/// Causes of a module that does not build.
const NO_BUILD: &[&str] = &[
    "dkms.headers_name_for_kernel",
    "dkms.source_gone",
    "peermem.no_driver",
    "peermem.no_ofed",
    "dkms.no_headers",
    "dkms.no_build_dependency",
    "dkms.patch",
    "modpost.gpl_nvidia",
    "modpost.gpl",
    "modpost.peer_memory",
    "modpost.undefined",
    "nvidia.old_for_kernel",
    "kernel_api.changed",
    "kernel_api.changed_by_words",
    "beegfs.module_source",
    "kbuild.compiler_missing",
    "kbuild.compiler_option",
    "kbuild.headers_of_newer_release",
    "kbuild.no_libelf",
    "kbuild.no_bison_flex",
    "kbuild.headers_incomplete",
    "gcc.header_missing",
    "gcc.header_cuda",
    "gcc.header_rdma",
    "gcc.header_mpi",
    "gcc.killed",
    "nvidia_installer.compiler_differs",
    "nvidia_installer.no_kernel_source",
    "nvidia_installer.no_tool",
    "build.no_compiler",
    "space.left",
];
/// Causes that keep a built module of NVIDIA from being loaded, by the kernel's words and those of the installer.
const NOT_LOADED: &[&str] = &[
    "nvidia.open_modules",
    "nvidia.legacy",
    "nvidia.nova",
    "nvidia.held",
    "nvidia.not_probed",
    "nvidia.bar",
    "nvidia.probe_routine",
    "module.unsigned",
    "module.magic",
    "module.symbols",
    "nvidia_installer.nouveau",
    "nvidia_installer.key",
    "nvidia_installer.loaded",
];
const OPEN_MODULES: &str = "install the driver's open kernel modules in place of the proprietary ones (`flavour: open` of the playbook `nvidia-driver`)";

pub(in crate::causes) const ROWS: &[Cause] = &[
    // DKMS.
    Cause {
        id: "dkms.headers_name_for_kernel",
        sign: "kernel headers for kernel (?<kernel>(?:linux-headers|kernel-devel|kernel-headers)-[^ ]+) cannot be found",
        says: "dkms was called with the name of a headers package ({kernel}) in place of a kernel",
        means: "The kernel is named by its release, as `uname -r` prints it. There is no kernel of this name, and no package for it.",
        act: "call it with the release alone (`dkms install MODULE/VERSION -k RELEASE`); look into hooks and scripts that pass the name on; then see whether the headers of that release are there (`ls /lib/modules/RELEASE/build`)",
        remedy: Remedy::Settings,
        sources: &[seen("https://github.com/dkms-project/dkms (dkms.in)", "2026-11-30")],
        samples: &[
            "Error! Your kernel headers for kernel linux-headers-6.19.6-tkg-bore cannot be found at /lib/modules/linux-headers-6.19.6-tkg-bore/build or /lib/modules/linux-headers-6.19.6-tkg-bore/source.",
        ],
        ..DKMS
    },
    Cause {
        id: "dkms.no_headers",
        sign: "Your kernel headers for kernel (?<kernel>[^ ]+) cannot be found|Linux headers are missing, which may explain the above failures",
        says: "the headers of a kernel that DKMS builds for are missing[: {kernel}]",
        means: "DKMS builds a module against the headers of the kernel that it is for, and they are not installed.",
        act: "install the headers of exactly that kernel (linux-headers-KERNEL, kernel-devel-KERNEL; the playbook `kernel-headers`), then `dkms autoinstall -k KERNEL`; where the mirror has them no more, install a newer kernel with its headers (playbook `kernel`)",
        sure: Sure::Confirmed,
        samples: &[
            "Error! Your kernel headers for kernel 6.1.0-37-amd64 cannot be found at /lib/modules/6.1.0-37-amd64/build or /lib/modules/6.1.0-37-amd64/source.",
            "dkms: WARNING: Linux headers are missing, which may explain the above failures.",
        ],
        ..DKMS
    },
    Cause {
        id: "dkms.no_build_dependency",
        sign: "Aborting build of module (?<module>[^ ]+) for kernel (?<kernel>[^ ]+) .*due to missing BUILD_DEPENDS:(?<needs>.*)",
        says: "{module} needs these modules of DKMS first:{needs}",
        means: "A module that it is built on is not built for this kernel.",
        act: "see `dkms status`; build those first (`dkms install`), then this one",
        sure: Sure::Confirmed,
        samples: &[
            "Error! Aborting build of module zfs/2.1.5 for kernel 6.8.0-40-generic (x86_64) due to missing BUILD_DEPENDS: spl",
        ],
        ..DKMS
    },
    Cause {
        id: "dkms.patch",
        sign: "Application of patch (?<patch>[^ ]+) failed",
        says: "a patch of a DKMS module does not apply: {patch}",
        means: "The patch is for another version of the module.",
        act: "take the package of the module that fits this kernel, without patches of an older one",
        sure: Sure::Confirmed,
        samples: &["Error! Application of patch kernel-6.6.patch failed."],
        ..DKMS
    },
    Cause {
        id: "dkms.module_failed_void",
        sign: r"(?:Building )?DKMS module '(?<module>[a-z0-9_.-]+?)-(?<version>[0-9][^' ]*)' (?:for kernel-(?<kernel>\S+?)\.\.\. FAILED|failed to build)",
        says: "the DKMS module {module} {version} does not build[ for kernel {kernel}]",
        means: "Most often the module is older than the kernel.",
        act: "look at the first `error` in /var/lib/dkms/{module}/{version}/build/make.log; take a release of it that knows the kernel, or boot the kernel before",
        sources: &[seen("https://github.com/voidlinux/void-packages/issues/4651", "2016-08-21")],
        samples: &[
            "Building DKMS module 'nvidia-367.35' for kernel-4.7.2_1... FAILED!",
            "DKMS module 'nvidia-367.35' failed to build, please check /var/lib/dkms",
        ],
        ..DKMS
    },
    Cause {
        id: "dkms.module_does_not_build",
        sign: "(?:Error! )?Bad return status for module build on kernel: (?<kernel>[^ ]+)",
        near: &[
            r"(?<log>/var/lib/dkms/(?<module>[^/ ]+)/(?<version>[^/ ]+)/[^ ]*make\.log)",
            r"M=/var/lib/dkms/(?<module>[^/ ]+)/(?<version>[^/ ]+)/build",
        ],
        follows: NO_BUILD,
        says: "the DKMS module[ {module} {version}] does not build for kernel {kernel}[: see {log} there]",
        means: "Its package stays half-configured, and every transaction of apt or dnf ends with it.",
        act: "[look at the first `error` in {log}; ]take a version of the module that builds for {kernel}, or boot the kernel before and hold its packages; where nobody needs the module, remove its package",
        sources: &[seen("https://github.com/LINBIT/drbd/issues/123", "2025-08-18")],
        samples: &["Error! Bad return status for module build on kernel: 6.14.0-28-generic (x86_64)"],
        ..DKMS
    },
    Cause {
        id: "dkms.built_nothing",
        sign: r"Build of (?<module>[^ ]+\.ko[^ ]*) failed for: (?<kernel>[^ ]+)",
        follows: NO_BUILD,
        says: "the build of {module} for kernel {kernel} left no module",
        means: "The build ended without an error of its own and without its result, or an error stands in its log.",
        act: "look at make.log below /var/lib/dkms/MODULE/VERSION/build",
        samples: &["Error! Build of nvidia.ko failed for: 6.8.0-40-generic (x86_64)"],
        ..DKMS
    },
    Cause {
        id: "dkms.autoinstall_failed",
        sign: "dkms autoinstall on (?<kernel>[^ ]+) failed for (?<modules>.+)|dkms:? autoinstall for kernel:? (?<other>[^ ]+) failed|One or more modules failed to install during autoinstall|dkms kernel_(?:preinst|prerm|postinst) for kernel (?<hook>[^ ]+).* failed for module",
        role: Role::Effect,
        says: "DKMS could not build[ {modules}] for kernel[ {kernel}][ {other}]",
        means: "A module did not build; which one and why stands before. The kernel's package stays half-configured.",
        act: "look at the lines before, then at /var/lib/dkms/MODULE/VERSION/build/make.log; `dkms status` says what is built",
        samples: &[
            "dkms autoinstall on 6.8.0-40-generic/x86_64 failed for nvidia(10)",
            "Error! One or more modules failed to install during autoinstall.",
        ],
        ..DKMS
    },
    Cause {
        id: "akmods.failed",
        sign: "Building rpms failed; see ?(?<log>[^ ]*)",
        follows: NO_BUILD,
        says: "akmods could not build a kernel module[: see {log}]",
        means: "RPM Fusion's way of building modules: the source does not fit this kernel, or kernel-devel of it is missing.",
        act: "look at the first `error` in that log; install kernel-devel of exactly this kernel, or take a newer release of the module; then `akmods --force`",
        sources: &[seen("https://rpmfusion.org/Howto/NVIDIA", "2026-11-30")],
        samples: &[
            "Building rpms failed; see /var/cache/akmods/nvidia/520.56.06-1-for-6.3.5-100.fc37.x86_64.failed.log for details",
        ],
        ..DKMS
    },
    Cause {
        id: "dkms.not_newer",
        sign: "Module version (?<version>[^ ]*) for (?<module>[^ ]+)|is not newer than what is already found in kernel (?<kernel>[^ ]+)",
        says: "DKMS left the module[ {module}] out, as the kernel has one that is not older",
        means: "The kernel or another package brings the same module in the same or a newer version, and DKMS keeps that one.",
        act: "use `dkms install --force` if the one of DKMS is wanted; else remove the DKMS package",
        counts: Counts::Warn,
        remedy: Remedy::Settings,
        samples: &[
            "Error! Module version 5.6.0.12 for gve.ko",
            "is not newer than what is already found in kernel 6.8.0-1015-gcp (1.0.0).",
        ],
        ..DKMS
    },
    Cause {
        id: "dkms.source_gone",
        sign: "The directory (?<dir>/var/lib/dkms/[^ ]+|/usr/src/[^ ]+) does not appear to have module source located within it",
        says: "DKMS has no source at {dir}",
        means: "The link in /var/lib/dkms leads to a directory of /usr/src that is gone: a package that was removed half, or another version.",
        act: "`ls -l {dir}`; `dkms remove MODULE/VERSION --all` for what is gone, then install its package again",
        sure: Sure::Confirmed,
        sources: &[seen("https://github.com/dkms-project/dkms (dkms.in)", "2026-11-30")],
        samples: &[
            "Error! The directory /var/lib/dkms/nv_peer_mem/1.1/source/ does not appear to have module source located within it. Build halted.",
        ],
        ..DKMS
    },
    Cause {
        id: "dkms.tree",
        sign: r"(?:Could not locate dkms\.conf file|Could not find module source directory|Directory: (?<directory>/usr/src/[^ ]+) does not exist|(?<broken>[^ !]+) is broken!|Bad conf file)",
        says: "DKMS still has a module whose source is gone[: {directory}][: {broken}]",
        means: "A package or a person removed the source below /usr/src and left the entry below /var/lib/dkms.",
        act: "see `dkms status`: `dkms remove MODULE/VERSION --all`; where that fails as well, remove its directory below /var/lib/dkms; then install the package again",
        remedy: Remedy::Settings,
        samples: &[
            "Error! Could not locate dkms.conf file.",
            "Directory: /usr/src/nvidia-535.54.03 does not exist.",
        ],
        ..DKMS
    },
    Cause {
        id: "dkms.twice",
        sign: "DKMS tree already contains: (?<module>[^ ]+)|This module/version combo is already installed for kernel",
        says: "DKMS has[ {module}] already",
        means: "The same version was added before; by itself this is no trouble.",
        act: "`dkms status`; to build it again `dkms install --force`, or `dkms remove` it first",
        counts: Counts::Warn,
        role: Role::Effect,
        remedy: Remedy::Settings,
        samples: &["Error! DKMS tree already contains: nvidia/550.54.15"],
        ..DKMS
    },
    Cause {
        id: "dkms.not_for_this_kernel",
        sign: r"(?:dkms\.conf for this module includes a BUILD_EXCLUSIVE directive|includes BUILD_EXCLUSIVE directives|Deprecated feature: (?:REMAKE_INITRD|CLEAN|MODULES_CONF)|Binary .*sign-file not found, modules won't be signed|Public certificate \(MOK\):|Module was signed with a key)",
        says: "DKMS leaves a module out, or gives advice",
        means: "The module says itself that it is not for this kernel or processor, or DKMS tells how it signs.",
        counts: Counts::Note,
        remedy: Remedy::Look,
        samples: &[
            "Error! The dkms.conf for this module includes a BUILD_EXCLUSIVE directive which does not match this kernel/arch.",
            "Deprecated feature: REMAKE_INITRD (/usr/src/nvidia-535.54.03/dkms.conf)",
        ],
        ..DKMS
    },
    // modpost.
    Cause {
        id: "modpost.gpl_nvidia",
        sign: r"GPL-incompatible module (?<module>nvidia[a-z_-]*)(?:\.ko)? uses (?:exported )?GPL-only symbol '?(?<symbol>[A-Za-z0-9_]+)",
        says: "this kernel gives {symbol} to GPL modules only, and the proprietary {module} uses it",
        means: "The kernel is newer than this driver; newer releases of the branch and the open modules do without. Words about another compiler and missing descriptions do no harm.",
        act: "take a newer release of the driver, or the open kernel modules (`flavour: open` of the playbook `nvidia-driver`), or boot the kernel before and hold its packages",
        sure: Sure::Confirmed,
        sources: &[
            seen("https://github.com/mesosphere/konvoy-image-builder/pull/1200", "2024-10-09"),
            seen("https://github.com/zabbly/linux/issues/43", "2025-06-29"),
        ],
        samples: &[
            "ERROR: modpost: GPL-incompatible module nvidia.ko uses GPL-only symbol 'rcu_read_unlock_strict'",
            "FATAL: modpost: GPL-incompatible module nvidia.ko uses GPL-only symbol 'mutex_destroy'",
        ],
        ..MODPOST
    },
    Cause {
        id: "modpost.gpl",
        sign: r"GPL-incompatible module (?<module>[A-Za-z0-9_.-]+?)(?:\.ko)? uses (?:exported )?GPL-only symbol '?(?<symbol>[A-Za-z0-9_]+)",
        says: "this kernel gives {symbol} to GPL modules only, and {module} uses it",
        means: "The kernel is newer than this release of the module.",
        act: "take a newer release of {module} (gdrdrv: of gdrcopy), or boot the kernel before; the GPU's driver is not touched by it",
        sure: Sure::Confirmed,
        sources: &[seen("https://github.com/NVIDIA/gdrcopy/issues/254", "2023-05-08")],
        samples: &["ERROR: modpost: GPL-incompatible module gdrdrv.ko uses GPL-only symbol 'cc_mkdec'"],
        ..MODPOST
    },
    Cause {
        id: "modpost.peer_memory",
        sign: r#"modpost: "(?<symbol>ib_(?:un)?register_peer_memory_client)" \[(?<module>[^\]]+)\] undefined"#,
        says: "the kernel's RDMA modules have no peer memory ({symbol})",
        means: "Only MLNX_OFED and DOCA-OFED have these symbols; without them the driver leaves peer memory out, or the build found the wrong Module.symvers.",
        act: "install DOCA-OFED first, if nvidia-peermem is needed (playbook `doca-ofed`), and build the driver again behind it (playbook `peermem`); kernel 5.12 and later with the open modules use DMA-BUF without it",
        counts: Counts::Warn,
        samples: &[
            "WARNING: modpost: \"ib_register_peer_memory_client\" [/var/lib/dkms/nvidia/550.54.15/build/nvidia-peermem.ko] undefined!",
        ],
        ..MODPOST
    },
    Cause {
        id: "peermem.no_driver",
        sign: "-E- Cannot locate nvidia modules!|CUDA driver must be installed before installing this package",
        says: "nv_peer_mem finds no modules of NVIDIA for that kernel",
        means: "It is built against the symbols of the driver, which is not installed for that kernel (DKMS builds for several kernels).",
        act: "see `dkms status` for nvidia and that kernel: build the driver for it first, or leave that kernel out; better load the driver's own nvidia-peermem in place of nv_peer_mem (the playbook `peermem`; driver 470 and newer have it), built behind the OFED that is installed; or leave both out where DMA-BUF does the same (check rdma.gdr_ready)",
        sources: &[seen("https://github.com/Mellanox/nv_peer_memory/issues/85", "2021-03-09")],
        samples: &["-E- Cannot locate nvidia modules!"],
        ..KBUILD
    },
    Cause {
        id: "peermem.no_ofed",
        sign: r"cp: cannot stat ['`]?/Module\.symvers|fatal error: '?rdma/peer_mem\.h'?:? (?:No such file|file not found)|nv_peer_mem\.c:\d+:(?:\d+:)? error: (?:variable .nv_mem_client_ex. has initializer|unknown field .client.)",
        says: "nv_peer_mem finds no OFED of NVIDIA, or one that is too old",
        means: "Its interface (peer_mem.h) is in MLNX_OFED and DOCA-OFED only, not in the distribution's rdma-core, and OFED has to be built for that kernel before it.",
        act: "see `ofed_info -s` and `dkms status`: build mlnx-ofed-kernel for that kernel first; without OFED use DMA-BUF; better load the driver's own nvidia-peermem in place of nv_peer_mem (the playbook `peermem`; driver 470 and newer have it), built behind the OFED that is installed; or leave both out where DMA-BUF does the same (check rdma.gdr_ready)",
        sources: &[
            seen("https://github.com/Mellanox/nv_peer_memory/issues/10", "2016-11-22"),
            seen("https://github.com/Mellanox/nv_peer_memory/issues/86", "2021-06-13"),
        ],
        samples: &[
            "/usr/src/redhat/BUILD/nvidia_peer_memory-1.1/nv_peer_mem.c:46:10: fatal error: rdma/peer_mem.h: No such file or directory",
            "cp: cannot stat '/Module.symvers': No such file or directory",
        ],
        ..KBUILD
    },
    Cause {
        id: "modpost.undefined",
        sign: r#"ERROR: (?:modpost: )?"(?<symbol>[A-Za-z0-9_]+)" \[(?<module>[^\]]+)\] undefined"#,
        says: "the kernel has no {symbol}, which {module} uses",
        means: "The module is made for another kernel, or is built against a Module.symvers that lacks the modules that it stands on (OFED's, Lustre's).",
        act: "take a release of the module for this kernel; where it stands on OFED, build it against OFED's tree (/usr/src/ofa_kernel, KBUILD_EXTRA_SYMBOLS) of the version that is installed",
        samples: &["ERROR: modpost: \"ib_umem_get_peer\" [/tmp/build/ko2iblnd.ko] undefined!"],
        ..MODPOST
    },
    Cause {
        id: "modpost.notes",
        sign: r"ERROR \(dkms apport\): (?:binary|kernel) package for |modpost: missing MODULE_DESCRIPTION\(\)|the compiler differs from the one used to build the kernel|Skipping BTF generation for|modpost: .*section mismatch|\.o: warning: objtool: |no symbol version for module_layout|Symbol info of vmlinux is missing|Symbol version dump .* is missing",
        says: "the build of a module gives advice",
        means: "Such lines stand in builds that succeed.",
        counts: Counts::Note,
        remedy: Remedy::Look,
        sources: &[seen("https://github.com/zabbly/linux/issues/43", "2025-06-29")],
        samples: &[
            "WARNING: modpost: missing MODULE_DESCRIPTION() in nvidia-uvm.o",
            "warning: the compiler differs from the one used to build the kernel",
            "Skipping BTF generation for /var/lib/dkms/nvidia/550.54.15/build/nvidia.ko due to unavailability of vmlinux",
        ],
        ..MODPOST
    },
    // A kernel that is newer than the module's source.
    Cause {
        id: "nvidia.old_for_kernel",
        sign: r"nv_drm_driver\.dumb_destroy|(?:/var/lib/dkms/nvidia[^/ ]*/|NVIDIA-Linux-[^ ]*/|/usr/src/nvidia[^ ]*/|nvidia(?:-drm|-uvm|-modeset|-peermem)?/)(?<file>[A-Za-z0-9_./-]+\.[ch]):(?<line>[0-9]+):(?:[0-9]+:)? ?(?:error|erreur|Fehler|错误|錯誤|エラー|ошибка|errore|erro|chyba|błąd) ?[:：] ?(?<error>.+)",
        near: &[
            "/var/lib/dkms/nvidia[^/ ]*/(?<version>[0-9.]+)/",
            "NVIDIA-Linux-[a-z0-9_]+-(?<version>[0-9.]+[0-9])",
            "for kernel:? (?<kernel>[0-9][^ ]+)",
            r"/(?:lib/modules|usr/src)/(?:linux-headers-)?(?<kernel>[0-9]+\.[0-9]+[^/ ']*)",
        ],
        says: "the NVIDIA driver[ {version}] does not build for this kernel[ {kernel}][: {error}]",
        means: "The kernel (or the compiler) is newer than this release of the driver, which uses functions or structures that have changed since.",
        act: "take a newer release of the driver, which knows this kernel, or boot the kernel before and hold its packages (playbook `kernel`)",
        sources: &[seen("https://github.com/NVIDIA/open-gpu-kernel-modules/issues/501", "2023-05-09")],
        samples: &[
            " 1439 |     nv_drm_driver.dumb_destroy     = nv_drm_dumb_destroy;",
            "/var/lib/dkms/nvidia/470.223.02/build/nvidia-drm/nvidia-drm-drv.c:748:6: error: 'struct drm_driver' has no member named 'date'",
            "nvidia-uvm/uvm_pmm_gpu.c:2631:5: 错误：隐式声明函数‘hmm_range_fault_begin’ [-Wimplicit-function-declaration]",
        ],
        ..KBUILD
    },
    Cause {
        id: "kbuild.compiler_missing",
        sign: r"(?:unable to execute '(?<setup>[a-z0-9_+-]*(?:gcc|g\+\+|cc|nvcc))'|error: command '(?<python>[^']*(?:gcc|g\+\+|cc|nvcc))' failed): No such file|(?:/bin/sh: (?:line )?[0-9]+: |make(?:\[[0-9]+\])?: )(?<compiler>(?:x86_64-linux-gnu-|aarch64-linux-gnu-)?(?:gcc|g\+\+|cc|c\+\+|clang)(?:-[0-9.]+)?): (?:[Cc]ommand )?not found|make(?:\[[0-9]+\])?: (?<other>(?:x86_64-linux-gnu-|aarch64-linux-gnu-)?(?:gcc|cc|clang)(?:-[0-9.]+)?): No such file or directory",
        says: "the compiler[ {compiler}][ {other}][ {setup}][ {python}] is missing",
        means: "The build calls it and it is not installed; a module wants the compiler that built the kernel, such as gcc-12 for the newer kernels of Ubuntu 22.04.",
        act: "install that compiler (build-essential, gcc, gcc-c++; gcc-12), then build again; `cat /proc/version` says which compiler built the kernel",
        sure: Sure::Confirmed,
        samples: &["/bin/sh: 1: gcc-12: not found", "make: gcc: No such file or directory"],
        ..KBUILD
    },
    Cause {
        id: "kbuild.compiler_option",
        sign: r"(?:gcc|cc1|cc|g\+\+)(?:-[0-9]+)?: error: unrecognized command[- ]line option .(?<option>-[A-Za-z0-9=,_+-]+)|unrecognized command[- ]line option .(?<kernel_option>-f(?:trivial-auto-var-init|min-function-alignment|zero-call-used-regs|strict-flex-arrays|stack-clash-protection|cf-protection|patchable-function-entry)[^ ']*)",
        says: "the compiler is too old for[ {option}][ {kernel_option}]",
        means: "The flags come from the kernel's or the project's settings and are those of a newer compiler; on Ubuntu 22.04 the newer kernels were built with gcc-12.",
        act: "install the compiler that built the kernel (`cat /proc/version`; gcc-12) and make it the default, or name it (`CC=gcc-12`), then build again",
        sources: &[seen("Linux kernel: Makefile, scripts/Makefile.compiler", "2026-11-30")],
        samples: &["gcc: error: unrecognized command-line option '-ftrivial-auto-var-init=zero'"],
        ..KBUILD
    },
    Cause {
        id: "kbuild.headers_of_newer_release",
        sign: "/(?:fixdep|objtool|modpost|gendwarfksyms|resolve_btfids)[^:]*: .*version `(?<version>GLIBC_[0-9.]+)' not found",
        says: "the kernel's headers were built for a newer release ({version})",
        means: "The tools within the headers need a newer C library: kernel or headers come from a newer distribution than this host or image.",
        act: "take the kernel and headers of this release (playbook `kernel`), or build in an image of the kernel's release",
        sure: Sure::Confirmed,
        samples: &[
            "/usr/src/linux-headers-6.8.0-40/scripts/basic/fixdep: /lib/x86_64-linux-gnu/libc.so.6: version `GLIBC_2.38' not found (required by scripts/basic/fixdep)",
        ],
        ..KBUILD
    },
    Cause {
        id: "kbuild.no_libelf",
        sign: r"please install libelf-dev, libelf-devel or elfutils-libelf-devel|Cannot (?:use|generate) (?:ORC|CONFIG_STACK_VALIDATION|objtool)[^ ]* .*libelf|fatal error: (?:gelf|libelf)\.h: No such file",
        says: "the development files of libelf are missing",
        means: "The kernel's tools for modules are built with them.",
        act: "install libelf-dev (Debian, Ubuntu) or elfutils-libelf-devel, then build again",
        sure: Sure::Confirmed,
        samples: &[
            "Makefile:1103: *** \"Cannot generate ORC metadata for CONFIG_UNWINDER_ORC=y, please install libelf-dev, libelf-devel or elfutils-libelf-devel\".  Stop.",
        ],
        ..KBUILD
    },
    Cause {
        id: "kbuild.no_bison_flex",
        sign: r"(?:/bin/sh: (?:line )?[0-9]+: |make(?:\[[0-9]+\])?: )(?<tool>bison|flex|bc|yacc|lex|m4|autoreconf|autoconf|automake|aclocal|libtoolize|pkg-config|cmake|ninja|swig|pahole|patch|python3?|perl|rsync|ar|ld|strip): (?:[Cc]ommand )?(?:not found|No such file or directory)|'(?<missing>aclocal|automake|autoconf|autoheader|makeinfo|bison|flex)[^']*' is missing on your system",
        says: "the tool[ {tool}][ {missing}] is missing",
        means: "The build calls it.",
        act: "install it (build-essential, bison, flex, bc, autoconf, automake, libtool, as named), then build again",
        sure: Sure::Confirmed,
        samples: &["/bin/sh: 1: bison: not found", "WARNING: 'aclocal-1.16' is missing on your system."],
        ..KBUILD
    },
    Cause {
        id: "kbuild.headers_incomplete",
        sign: r"(?:\*\*\* )?/lib/modules/(?<kernel>[^/ ]+)/build: No such file or directory|make(?:\[[0-9]+\])?: \*\*\* (?<path>/(?:usr/src|lib/modules)/[^ :]+): No such file or directory|Kernel configuration is invalid|include/generated/autoconf\.h or include/config/auto\.conf are missing|No rule to make target '?[^ ']*(?:generic-y|auto\.conf|debian/canonical-certs\.pem)",
        says: "the headers of the kernel[ {kernel}] are missing or not whole[: {path}]",
        means: "The link `build` below /lib/modules leads to no headers, or to a source tree that was never configured.",
        act: "install the headers of exactly the kernel that the module is for (`uname -r`; the playbook `kernel-headers`); a tree of one's own needs `make olddefconfig modules_prepare`",
        samples: &[
            "make[1]: *** /lib/modules/5.15.0-97-generic/build: No such file or directory.  Stop.",
            "  ERROR: Kernel configuration is invalid.",
        ],
        ..KBUILD
    },
    // Headers and libraries of programs.
    Cause {
        id: "gcc.header_cuda",
        sign: r"fatal error: '?(?<header>cuda[A-Za-z0-9_/.]*\.h|cublas[A-Za-z0-9_]*\.h|cudnn[A-Za-z0-9_]*\.h|nvml\.h|curand[A-Za-z0-9_]*\.h|cusparse\.h|nvToolsExt\.h|nvtx3/[^ :']+|thrust/[^ :']+|cub/[^ :']+)'?:? (?:No such file or directory|file not found)|cannot open source file .(?<other>(?:cuda|cublas|cudnn)[A-Za-z0-9_/.]*\.h)",
        says: "the CUDA header[ {header}][ {other}] is not found",
        means: "The CUDA toolkit is not installed, lies elsewhere than the build looks, or the image is one without development files; cudnn comes separately, and nvToolsExt.h is gone from CUDA 13.",
        act: "install the toolkit (playbook `cuda-toolkit`), or give its directory (CUDA_HOME=/usr/local/cuda); in a container take a `-devel` image",
        samples: &["src/include/core.h:10:10: fatal error: cuda_runtime.h: No such file or directory"],
        ..GCC
    },
    Cause {
        id: "gcc.header_ucx",
        sign: r#"(?:fatal error: '?|cannot open source file ")(?<header>(?:uct|ucp|ucs|ucm)/[^ :'"]+)"#,
        says: "the header {header} of UCX is not found",
        means: "UCX is not installed with its headers (-dev, -devel), lies elsewhere than was given, or headers of two releases are mixed.",
        act: "see `ucx_info -v` and `ls DIR/include/ucs`: give the directory of one whole installation (`--with-ucx=DIR`), and take older copies out of CPATH and /usr/local",
        sources: &[seen("https://github.com/open-mpi/ompi/issues/6581", "2019-04-09")],
        samples: &[
            "/src/xccl_tls.h:9:10: fatal error: ucs/config/types.h: No such file or directory",
            r#"/opt/ucx/include/ucm/api/ucm.h(11): catastrophic error: cannot open source file "ucs/sys/compiler.h""#,
        ],
        ..GCC
    },
    Cause {
        id: "gcc.header_rdma",
        sign: r"fatal error: '?(?<header>infiniband/[^ :']+|rdma/[a-z_]+\.h|verbs\.h|mlx5dv\.h|uct/[^ :']+|ucp/[^ :']+|ucs/[^ :']+|rdma_cma\.h|gdrapi\.h|pci/pci\.h)'?:? (?:No such file or directory|file not found)",
        says: "the header {header} is not found",
        means: "The development files of the RDMA libraries (of UCX, gdrcopy, libpci) are not installed where the build looks.",
        act: "install libibverbs-dev and librdmacm-dev (rdma-core-devel; the playbook `rdma-core`), for gdrapi.h gdrcopy, for ucp UCX, for pci.h libpci-dev or pciutils-devel; then build again",
        samples: &["a.c:3:10: fatal error: infiniband/verbs.h: No such file or directory"],
        ..GCC
    },
    Cause {
        id: "gcc.header_mpi",
        sign: r"fatal error: '?(?<header>mpi\.h|nccl\.h|pmix\.h|hwloc\.h|event\.h|numa\.h)'?:? (?:No such file or directory|file not found)",
        says: "the header {header} is not found",
        means: "The library's development files are not installed, or lie elsewhere than the build looks.",
        act: "give the build their directory (nccl-tests: `make MPI=1 MPI_HOME=/opt/openmpi NCCL_HOME=/usr/local/nccl`), or install them (libopenmpi-dev, libnccl-dev, libhwloc-dev, libevent-dev, libnuma-dev; the playbooks `openmpi` and `nccl`)",
        samples: &["all_reduce.cu:12:10: fatal error: mpi.h: No such file or directory"],
        ..GCC
    },
    Cause {
        id: "gcc.header_python",
        sign: r"fatal error: '?Python\.h'?:? (?:No such file or directory|file not found)",
        says: "the development files of Python are missing",
        means: "Extensions are built with Python.h, which has a package of its own.",
        act: "install python3-dev (python3-devel; of the very version, such as python3.11-dev), then build again",
        sure: Sure::Confirmed,
        samples: &["src/module.c:1:10: fatal error: Python.h: No such file or directory"],
        ..GCC
    },
    Cause {
        id: "gcc.header_missing",
        sign: r#"(?:catastrophic error: cannot open source file "(?<icc>[^"]+)"|fatal error: '?(?<header>[^ :']+\.(?:h|hpp|hh|cuh))'?:? (?:No such file or directory|file not found))"#,
        says: "the header[ {header}][ {icc}] is not found",
        means: "The package with it is not installed, or its directory is not given to the compiler; for a kernel module (linux/, asm/) the kernel is newer or older than the source.",
        act: "look for its package (`apt-file search NAME`, `dnf provides '*/NAME'`) and install it, or give its directory with CPPFLAGS; for headers of the kernel take a release of the module for this kernel",
        samples: &["a.c:3:10: fatal error: jansson.h: No such file or directory"],
        ..GCC
    },
    Cause {
        id: "gcc.killed",
        sign: r"(?:fatal error|internal compiler error): Killed(?: signal terminated program (?<program>[a-z0-9]+)| \(program (?<old>[a-z0-9]+)\))?|virtual memory exhausted: Cannot allocate memory|(?:cc1plus|cicc|ptxas|cudafe\+\+|nvcc).*(?:Killed|died due to signal 9)|out of memory allocating [0-9]+ bytes|LLVM ERROR: out of memory|collect2: fatal error: ld terminated with signal 9",
        says: "the compiler was killed[: {program}][: {old}]",
        means: "The machine or the container ran out of memory: too many compilers at once (CUDA files take several GiB each).",
        act: "build with fewer jobs (`make -j4`, MAX_JOBS=4, NVCC_THREADS=1) and for fewer GPU architectures, or give the container more memory; `dmesg` says who was killed",
        remedy: Remedy::Settings,
        samples: &[
            "c++: fatal error: Killed signal terminated program cc1plus",
            "g++: internal compiler error: Killed (program cc1plus)",
            "nvcc error   : 'cicc' died due to signal 9 (Kill signal)",
        ],
        ..GCC
    },
    Cause {
        id: "gcc.internal_error",
        sign: r"internal compiler error: (?<what>.+)|(?:cicc|ptxas|cudafe\+\+)' died due to signal (?<signal>[0-9]+)",
        says: "the compiler itself failed[: {what}][: signal {signal}]",
        means: "A fault of the compiler, or of memory where it falls at another place each time.",
        act: "build again with one job: where it fails at the same place take another version of the compiler; where the place changes, test the memory of the host",
        sure: Sure::Guess,
        samples: &["a.cc:10:1: internal compiler error: in expand_expr_real_1, at expr.c:10292"],
        ..GCC
    },
    Cause {
        id: "nvcc.gcc_too_new",
        sign: r"unsupported GNU version! gcc versions later than (?<gcc>[0-9.]+) are not supported|unsupported (?:clang|Microsoft Visual Studio) version!|parameter packs not expanded with '\.\.\.'|error: identifier .__builtin_[a-z0-9_]+. is undefined|exception specification is incompatible with that of previous function .(?:cospi|sinpi|rsqrt)",
        says: "the host's compiler is too new for this CUDA toolkit[ (at most gcc {gcc})]",
        means: "Each CUDA release knows compilers up to one version.",
        act: "take an older compiler for it (`nvcc -ccbin g++-12`, `CC=gcc-12 CXX=g++-12`, CUDAHOSTCXX), or a newer CUDA toolkit (playbook `cuda-toolkit`)",
        sure: Sure::Confirmed,
        samples: &[
            "/usr/local/cuda/include/crt/host_config.h:132:2: error: #error -- unsupported GNU version! gcc versions later than 12 are not supported! The nvcc flag '-allow-unsupported-compiler' can be used to override this version check",
            "/usr/include/c++/11/bits/std_function.h:435:145: error: parameter packs not expanded with '...':",
        ],
        ..NVCC
    },
    Cause {
        id: "nvcc.unknown_gpu",
        sign: "(?:nvcc|ptxas) fatal +: +(?:Unsupported gpu architecture '(?<gpu>[a-z0-9_]+)'|Value '(?<value>(?:sm|compute)_[0-9a-z]+)' is not defined for option)",
        says: "this CUDA toolkit does not know[ {gpu}][ {value}]",
        means: "The GPU is newer than the toolkit (sm_90 wants CUDA 11.8, sm_100 and sm_120 want 12.8), or so old that the toolkit dropped it (CUDA 13 begins with sm_75).",
        act: "`nvcc --list-gpu-arch` says what it knows: take a toolkit for this GPU (playbook `cuda-toolkit`), or name only your GPUs (`gencode` of the playbook `nccl`, NVCC_GENCODE, CMAKE_CUDA_ARCHITECTURES, TORCH_CUDA_ARCH_LIST)",
        sure: Sure::Confirmed,
        samples: &[
            "nvcc fatal   : Unsupported gpu architecture 'compute_120'",
            "nvcc fatal   : Value 'sm_100' is not defined for option 'gpu-architecture'",
        ],
        ..NVCC
    },
    Cause {
        id: "nvcc.missing",
        sign: r"(?:nvcc: (?:[Cc]ommand )?not found|make(?:\[[0-9]+\])?: [^ ]*/?nvcc: (?:Command not found|No such file or directory)|/bin/nvcc: (?:not found|No such file or directory)|exec: .?nvcc.?: not found)",
        says: "nvcc is not found",
        means: "The CUDA toolkit is not installed, or lies elsewhere than the build looks; the driver alone has no compiler.",
        act: "install the toolkit (playbook `cuda-toolkit`), or give its directory: `CUDA_HOME=/usr/local/cuda` and `PATH=$CUDA_HOME/bin:$PATH`; in a container take a `-devel` image",
        sure: Sure::Confirmed,
        samples: &["/bin/sh: 1: /usr/local/cuda/bin/nvcc: not found", "make[1]: nvcc: Command not found"],
        ..NVCC
    },
    Cause {
        id: "nvcc.ptxas",
        sign: "ptxas (?:fatal|error) +: (?<why>.+)",
        says: "ptxas stops: {why}",
        means: "The assembler of CUDA does not take the code: of another version of CUDA or another architecture, or a function of the device is not linked (`-rdc=true`).",
        act: "build in a clean tree with one toolkit (`which nvcc ptxas`), with -arch of the GPU; for `Unresolved extern function` add `-rdc=true` and link by nvcc",
        sure: Sure::Guess,
        samples: &["ptxas fatal   : Unresolved extern function '_Z3fooi'"],
        ..NVCC
    },
    Cause {
        id: "nvcc.fatal",
        sign: "nvcc fatal +: +(?<what>.+)",
        says: "nvcc: {what}",
        means: "nvcc does not take its arguments, or finds a part of the toolkit no more.",
        act: "compare the options with `nvcc --help` of this version (`nvcc --version`); mixed parts of two toolkits cause it as well",
        sure: Sure::Guess,
        samples: &["nvcc fatal   : Unknown option '-std=c++20'"],
        ..NVCC
    },
    Cause {
        id: "ld.library_missing",
        sign: r"(?:ld|collect2|ld\.lld|ld\.gold)[^ ]*: (?:error: )?(?:cannot find|unable to find library) -l(?<library>[A-Za-z0-9_+.-]+)",
        says: "the linker does not find lib{library}",
        means: "The library's development package is not installed, or its directory is not given to the linker. libcuda comes from the driver: without a driver the toolkit's directory lib64/stubs has one to link with.",
        act: "install the package with lib{library}.so (the -dev or -devel one), or give its directory with `-L` or LIBRARY_PATH; for -lcuda `-L/usr/local/cuda/lib64/stubs`",
        samples: &[
            "/usr/bin/ld: cannot find -lcuda: No such file or directory",
            "/usr/bin/ld: cannot find -libverbs",
        ],
        ..GCC
    },
    Cause {
        id: "ld.ucx_of_two_versions",
        sign: r"undefined reference to [`'‘](?<symbol>uc[pst]_\w+)",
        says: "headers and library of UCX are of two versions ({symbol})",
        means: "Compiled against the headers of one UCX, linked with the library of an older one: a UCX of the distribution or of DOCA in /usr beside a newer one.",
        act: "`nm -D PATH/lib/libucp.so | grep {symbol}` for each UCX (`ldconfig -p | grep libucp`); give `--with-ucx=PREFIX`, and set LD_LIBRARY_PATH or `-Wl,-rpath` to the lib of that same prefix; then `make clean` and build again",
        sources: &[
            seen("https://github.com/open-mpi/ompi/issues/11366", "2023-01-31"),
            seen("https://github.com/openucx/ucx/issues/4020", "2019-08-06"),
        ],
        samples: &[
            "/usr/bin/ld: ../../ompi/.libs/libmpi.so: undefined reference to `ucp_tag_recv_nbx'",
            "/usr/bin/ld: libucp.so: undefined reference to `ucs_config_doc_nop'",
        ],
        ..GCC
    },
    Cause {
        id: "ld.undefined",
        sign: r"undefined reference to [`'‘](?<symbol>[^'’]+)|ld\.lld: error: undefined symbol: (?<lld>.+)",
        follows: &["ld.ucx_of_two_versions"],
        says: "the linker finds no[ {symbol}][ {lld}]",
        means: "A library is missing in the link, is of another version than the headers, or was built by another compiler (`__cxx11`).",
        act: "see which library has it (`nm -D --defined-only`), and that headers and library come from one installation; old copies in /usr/local are the usual cause",
        sure: Sure::Guess,
        samples: &["main.cu:(.text+0x2f): undefined reference to `cublasCreate_v2'"],
        ..GCC
    },
    Cause {
        id: "ld.not_pic",
        sign: "relocation (?<relocation>R_[A-Z0-9_]+) against .*recompile with -fPI[CE]",
        says: "a static library was built without -fPIC",
        means: "It is to become a part of a shared library or of a position-independent program.",
        act: "build that library again with `CFLAGS=-fPIC`, or link its shared one",
        sure: Sure::Confirmed,
        samples: &[
            "/usr/bin/ld: libz.a(crc32.o): relocation R_X86_64_32 against `.rodata' can not be used when making a shared object; recompile with -fPIC",
        ],
        ..GCC
    },
    Cause {
        id: "build.no_compiler",
        sign: r"configure: error: no acceptable C(?:\+\+)? compiler found|C(?:\+\+)? compiler cannot create executables|cannot run C compiled programs|No CMAKE_(?:C|CXX|Fortran)_COMPILER could be found|CMAKE_(?:C|CXX)_COMPILER not set|The C(?:XX)? compiler identification is unknown|Unable to find the development tool `(?:cc|gcc)`",
        says: "there is no compiler that works",
        means: "No compiler is installed, or it cannot build and run a small program (a missing C library, wrong CFLAGS, a full /tmp or one mounted noexec).",
        act: "install build-essential (gcc, gcc-c++ and make); else look at the end of config.log or CMakeError.log",
        samples: &["configure: error: no acceptable C compiler found in $PATH"],
        ..CONFIGURE
    },
    // NVIDIA's installer, the .run file.
    Cause {
        id: "nvidia_installer.nouveau",
        sign: "The Nouveau kernel driver is currently in use by your system|Nouveau kernel driver.*in use|Nouveau detected in initramfs",
        says: "nouveau holds the GPU",
        means: "The kernel's own driver is loaded, and NVIDIA's cannot take the GPU meanwhile.",
        act: "blacklist nouveau in /etc/modprobe.d (the playbook `nvidia-driver` does it), rebuild the initramfs, reboot, then install again",
        remedy: Remedy::Reset,
        sure: Sure::Confirmed,
        samples: &[
            "ERROR: The Nouveau kernel driver is currently in use by your system.  This driver is incompatible with the NVIDIA driver, and must be disabled before proceeding.",
        ],
        ..RUNFILE
    },
    Cause {
        id: "nvidia_installer.loaded",
        sign: "An NVIDIA kernel module '(?<module>[^']+)' appears to (?:already )?be (?:already )?loaded",
        says: "the module {module} is loaded and in use",
        means: "A program, a service (nvidia-persistenced, dcgm, Xorg, the fabric manager) or a container uses the GPU, so the installer cannot take the old driver out.",
        act: "drain the host; stop what `fuser -v /dev/nvidia*` and `lsmod | grep nvidia` name, unload the modules (`modprobe -r nvidia_uvm nvidia_drm nvidia_modeset nvidia`), or reboot, then install",
        remedy: Remedy::Settings,
        sure: Sure::Confirmed,
        samples: &[
            "ERROR: An NVIDIA kernel module 'nvidia-uvm' appears to already be loaded in your kernel.  This may be because it is in use (for example, by an X server, a CUDA program, or the NVIDIA Persistence Daemon),",
        ],
        ..RUNFILE
    },
    Cause {
        id: "nvidia_installer.x_server",
        sign: "You appear to be running an X server",
        says: "an X server runs on this host",
        means: "It uses the driver that is to be replaced.",
        act: "stop it (`systemctl isolate multi-user.target`), then install again",
        remedy: Remedy::Settings,
        samples: &["ERROR: You appear to be running an X server; please exit X before installing."],
        ..RUNFILE
    },
    Cause {
        id: "nvidia_installer.no_kernel_source",
        sign: "Unable to find the kernel source tree for the|The kernel header file '(?<header>[^']+)' does not|The kernel source path '(?<path>[^']+)' is (?:incorrect|invalid)|The kernel output path '(?<output>[^']+)' does not exist",
        says: "the installer finds no headers of the running kernel[: {header}][: {path}][: {output}]",
        means: "The package with the headers of exactly this kernel is not installed.",
        act: "install linux-headers-$(uname -r) or kernel-devel-$(uname -r) (playbook `kernel-headers`), then install again; where the mirror has them no more, install a newer kernel (playbook `kernel`)",
        sure: Sure::Confirmed,
        samples: &[
            "ERROR: Unable to find the kernel source tree for the currently running kernel.  Please make sure you have installed the kernel source files for your kernel and that they are properly configured;",
        ],
        ..RUNFILE
    },
    Cause {
        id: "nvidia_installer.no_tool",
        sign: "Unable to find the (?:development tool|module utility|system utility) `(?<tool>[^`']+)[`']|You do not appear to have libc header files|Failed to find dkms on the system",
        says: "the installer misses a tool[: {tool}]",
        means: "It needs a compiler, make, the C library's headers and kmod.",
        act: "install build-essential (gcc, make, glibc-devel), kmod and dkms, then install again",
        sure: Sure::Confirmed,
        samples: &[
            "ERROR: Unable to find the development tool `make` in your path; please make sure that you have the",
        ],
        ..RUNFILE
    },
    Cause {
        id: "nvidia_installer.compiler_differs",
        sign: r"The string .{0,8}gcc.{0,3} was not found in the /proc/version string|unsupported compiler version: |Failed to verify gcc version|Failed CC version check|The CC version check failed|Compiler version check failed|Failed CC sanity check|The CC sanity check failed|compiler used to compile the kernel .*does not (?:exactly )?match",
        says: "the compiler here is another one than the one that built the kernel",
        means: "The driver's check before its build ends with it, mostly because of another major version of gcc.",
        act: "install the compiler that `cat /proc/version` names and give it (`CC=gcc-12 sh NVIDIA-Linux-...run`), then install again",
        samples: &["ERROR: Failed CC version check. Bailing out!", "Compiler version check failed:"],
        ..RUNFILE
    },
    Cause {
        id: "nvidia_installer.key",
        sign: "kernel module failed to load.*because it|was not signed by a key that is trusted by the|because it was not signed by a key",
        says: "Secure Boot refused the driver's module",
        means: "The module has no signature, or one of a key that the firmware does not know.",
        act: "sign with a key that is enrolled (`mokutil --import`, confirmed at the console of the next boot; the playbook `secure-boot` checks it), take signed modules of the distribution, or switch Secure Boot off",
        remedy: Remedy::Reset,
        sure: Sure::Confirmed,
        samples: &[
            "ERROR: The kernel module failed to load, because it was not signed by a key that is trusted by the kernel. Please try installing the driver again, and sign the kernel module when prompted to do so.",
        ],
        ..RUNFILE
    },
    Cause {
        id: "nvidia_installer.alternate",
        sign: "Existing package manager installation of the driver found|Alternate installation|[Aa]lternate driver installation|appears to have been installed previously using a different installer|The NVIDIA driver provided by .*package.*is already installed",
        says: "a driver from packages is on this host already",
        means: "The .run file would overwrite files of packages, and the next upgrade would break both.",
        act: "keep one way: remove the packages of the driver first (`apt-get purge`, `dnf remove`), or upgrade by packages (playbook `nvidia-driver`)",
        samples: &[
            "WARNING: The NVIDIA driver appears to have been installed previously using a different installer.",
        ],
        counts: Counts::Warn,
        ..RUNFILE
    },
    Cause {
        id: "nvidia_installer.unpack",
        sign: r"Extraction failed\.?$|Ensure there is enough space in /tmp and that the installation package is not corrupt",
        says: "the .run file could not be unpacked",
        means: "/tmp is full, small or mounted noexec, or the download is not whole.",
        act: "see `df -h /tmp` and `findmnt -T /tmp`; unpack elsewhere (`--tmpdir=DIR`), and compare the checksum of the file",
        remedy: Remedy::Settings,
        samples: &[
            "Extraction failed.",
            "Ensure there is enough space in /tmp and that the installation package is not corrupt",
        ],
        ..RUNFILE
    },
    Cause {
        id: "nvidia_installer.no_dkms_conf",
        sign: r"Unable to open 'kernel/dkms\.conf' for copying",
        says: "NVIDIA's installer does not finish: its package of prepared modules has no dkms.conf",
        means: "The driver container installs modules that were made for this kernel, and stops at a file that they lack. Beside a loaded nouveau it was seen too.",
        act: "`lsmod | grep nouveau`: blacklist nouveau, rebuild the initramfs and reboot the node; else take another release of the driver container",
        sure: Sure::Guess,
        sources: &[seen("https://github.com/NVIDIA/gpu-operator/issues/8", "2019-11-03")],
        samples: &["ERROR: Unable to open 'kernel/dkms.conf' for copying (No such file or directory)"],
        ..KBUILD
    },
    Cause {
        id: "nvidia_installer.not_loaded",
        sign: "Unable to load the kernel module '(?<module>[^']+)'|Unable to load the '(?<other>[^']+)' kernel module|Kernel module load error: (?<why>No such device|Operation not permitted|Key was rejected.*|Required key.*|Invalid argument|Exec format error|Unknown symbol.*)",
        follows: NOT_LOADED,
        apart: &[
            Apart { beside: &["nvidia.open_modules"], act: OPEN_MODULES },
            Apart {
                beside: &["nvidia.held", "nvidia.nova", "nvidia_installer.nouveau"],
                act: "`lspci -k` says which driver holds the GPU (nouveau, nova_core, vfio-pci): blacklist it, rebuild the initramfs and reboot",
            },
            Apart {
                beside: &["nvidia.legacy"],
                act: "install the branch of the driver that the kernel's message names, the last one for this GPU",
            },
        ],
        says: "the kernel did not take the module[ {module}][ {other}][: {why}]",
        means: "The installer lists its usual causes; the kernel's own words are at the end of /var/log/nvidia-installer.log and in `dmesg`.",
        act: "look for lines with NVRM and nvidia in `dmesg`: another driver holds the GPU (`lspci -k`), the GPU needs the open modules, Secure Boot refused it, or the module is for another kernel",
        sure: Sure::Guess,
        samples: &[
            "ERROR: Unable to load the kernel module 'nvidia.ko'.  This happens most frequently when this kernel module was built against the wrong or improperly configured kernel sources,",
            "-> Kernel module load error: No such device",
        ],
        ..RUNFILE
    },
    Cause {
        id: "nvidia_installer.not_built",
        sign: r#"An error occurred while performing the step: "(?<step>[^"]+)"|The (?<module>nvidia[a-z-]*) kernel module was not created|Failed to install the kernel module through DKMS|Failed to run `[^`]*dkms [^`]*`"#,
        role: Role::Effect,
        follows: NO_BUILD,
        says: "the installer could not build the module[: {step}][: {module}]",
        means: "The first error of the compiler stands in /var/log/nvidia-installer.log or in make.log of DKMS.",
        act: "look there for the first `error`; a driver that is older than the kernel is the usual cause: take a newer release (playbook `nvidia-driver`)",
        sure: Sure::Guess,
        samples: &[
            "ERROR: An error occurred while performing the step: \"Building kernel modules\". See /var/log/nvidia-installer.log for details.",
            "ERROR: The nvidia kernel module was not created.",
        ],
        ..RUNFILE
    },
    Cause {
        id: "ofed.other_distribution",
        sign: "Error: The current MLNX_OFED_LINUX is intended for (?:a )?(?<wanted>[^ ]+)|Current operation system i[sn] not supported",
        says: "this MLNX_OFED is for another system[: {wanted}]",
        means: "The archive was packed for one release of one distribution and one processor.",
        act: "take the archive of this host's release, or DOCA-OFED from its repository (playbook `doca-ofed`); for the next minor release `--distro {wanted} --add-kernel-support` often works, `--skip-distro-check` only by one's own test",
        sure: Sure::Confirmed,
        sources: &[seen("MLNX_OFED: mlnxofedinstall (install.pl)", "2026-11-30")],
        samples: &["Error: The current MLNX_OFED_LINUX is intended for debian12.1"],
        ..RUNFILE
    },
    Cause {
        id: "ofed.others_depend",
        sign: "Error: One or more packages depends on MLNX_OFED",
        says: "other packages stand on MLNX_OFED, so its installer stops",
        means: "Packages such as Lustre, GPFS or a site's MPI need the libraries that are to be replaced; the lines behind name them.",
        act: "look at that list: remove those packages first and build them again behind the new version, or give `--force` where they can go",
        sure: Sure::Confirmed,
        sources: &[seen("MLNX_OFED: mlnxofedinstall (install.pl)", "2026-11-30")],
        samples: &["Error: One or more packages depends on MLNX_OFED."],
        ..RUNFILE
    },
    Cause {
        id: "ofed.not_built",
        sign: r#"Failed to build MLNX_OFED_LINUX for (?<kernel>[^ ]+)|ERROR: Failed executing "MLNX_OFED_SRC|Failed to (?:build|install) (?<package>(?:mlnx-ofa_kernel|mlnx-ofed-kernel|mlnx-ofed|ofed|knem|xpmem|iser|srp|isert|kernel-mft)[a-z_-]*)"#,
        follows: NO_BUILD,
        says: "the modules of OFED do not build[ for kernel {kernel}][: {package}]",
        means: "The kernel is newer than this OFED knows, or its headers or a tool are missing; the log that is named has the first error.",
        act: "look for the first `error` in that log; take a newer OFED or DOCA-OFED whose release notes name this kernel (playbook `doca-ofed`), or a kernel that they name (playbook `kernel`)",
        sources: &[seen("https://github.com/uclasystem/hermit/issues/8", "2023-12-27")],
        samples: &[
            "Failed to build MLNX_OFED_LINUX for 5.14.0-rc5",
            "Failed to install mlnx-ofed-kernel-dkms DEB",
        ],
        ..RUNFILE
    },
    Cause {
        id: "nvidia_installer.failed",
        sign: r"Installation has failed\.  ?Please see the file|\[ERROR\]: Install of driver component failed|Installation failed\. See log at",
        role: Role::Summary,
        says: "the installation of the driver failed",
        means: "The installer sums up; the reason stands before, or in /var/log/nvidia-installer.log (of the CUDA installer: /var/log/cuda-installer.log).",
        act: "look at the first ERROR in that file",
        remedy: Remedy::Look,
        samples: &[
            "ERROR: Installation has failed.  Please see the file '/var/log/nvidia-installer.log' for details.",
            "[ERROR]: Install of driver component failed. Consult the driver log at /var/log/nvidia-installer.log for more details.",
        ],
        ..RUNFILE
    },
    Cause {
        id: "nvidia_installer.notes",
        sign: r"Unable to open .kernel/dkms\.conf. for copying|nvidia-installer was forced to guess the X library|Unable to find a suitable destination to install|Unable to determine the path to install the libglvnd|The distribution-provided pre-install script|This NVIDIA driver package includes Vulkan components|Skipping (?:the )?(?:runlevel|BTF) check",
        says: "NVIDIA's installer gives advice",
        means: "Such lines stand in installations that succeed, above all on servers without a desktop.",
        counts: Counts::Note,
        remedy: Remedy::Look,
        samples: &[
            "WARNING: nvidia-installer was forced to guess the X library path '/usr/lib64' and X module path '/usr/lib64/xorg/modules';",
        ],
        ..RUNFILE
    },
    // configure and cmake.
    Cause {
        id: "configure.clock",
        sign: r"newly created file is older than distributed files|[Cc]lock skew detected\.? +Your build may be incomplete|has modification time [0-9.e+]+ s in the future",
        says: "files of the build are from the future",
        means: "The clock of this host is behind, or that of the file server differs.",
        act: "set the clock (`timedatectl set-ntp true`; the playbook `chrony`; the check fleet.clock compares hosts), `touch` the sources, then build again",
        counts: Counts::Warn,
        remedy: Remedy::Settings,
        samples: &[
            "configure: error: newly created file is older than distributed files!",
            "make: warning:  Clock skew detected.  Your build may be incomplete.",
        ],
        ..CONFIGURE
    },
    Cause {
        id: "configure.old_machine_list",
        sign: r"cannot guess build type; you must specify one|machine `[^']+' not recognized|config\.sub: .*not recognized",
        says: "configure does not know this processor",
        means: "Its lists (config.guess, config.sub) are older than the kind of machine, such as aarch64.",
        act: "give `--build=aarch64-unknown-linux-gnu`, or run `autoreconf -fi` for newer lists",
        samples: &["configure: error: cannot guess build type; you must specify one"],
        ..CONFIGURE
    },
    Cause {
        id: "configure.cuda",
        sign: "configure: error: .*(?:CUDA|cuda|nvcc|gdrcopy|GDR)(?<what>.*)",
        says: "configure does not find CUDA or gdrcopy",
        means: "It was asked for (`--with-cuda`, `--with-gdrcopy`) and does not lie where configure looked.",
        act: "give the directory (`--with-cuda=/usr/local/cuda`), install the toolkit (playbook `cuda-toolkit`), and look in config.log for the test that failed",
        samples: &["configure: error: CUDA support is requested but cuda packages cannot be found"],
        ..CONFIGURE
    },
    Cause {
        id: "configure.library_missing",
        sign: r"configure: error: (?<what>UCX|PMIx|pmix|libevent|hwloc|CUDA|libfabric|OFI|verbs|munge|MUNGE|json-c|libjwt|http-parser|MySQL|mysql|dbus|NVML|hwloc)[^.]*(?:requested but not found|not found|[Cc]ould not find a compatible|unable to locate|required)|configure: error: Could not find a compatible version of (?<lib>\w+)|configure: error: unable to locate (?<slurm>[a-z-]+)|configure: error: (?:external )?(?<ext>\w+) (?:support )?requested but not found",
        says: "configure does not find what was asked for[: {what}][: {lib}][: {slurm}][: {ext}]",
        means: "Its headers are not installed (`-dev` or `-devel`), lie in another directory than was given, or are older than it takes. config.log has the test that failed.",
        act: "see the end of config.log; install the -dev or -devel package, or give the directory above include and lib (`--with-ucx=/opt/ucx`, `--with-pmix=DIR`, PKG_CONFIG_PATH)",
        remedy: Remedy::Install,
        samples: &["configure: error: UCX support requested but not found.  Aborting"],
        ..CONFIGURE
    },
    Cause {
        id: "configure.sizeof",
        sign: "configure: error: cannot (?:compute sizeof|run C compiled programs)",
        says: "programs that configure builds do not run",
        means: "A compiler flag or a library path is wrong: a library of LD_LIBRARY_PATH or LDFLAGS is missing at run time, or it builds for another machine.",
        act: "see config.log at that place; clear LDFLAGS, LIBS and LD_LIBRARY_PATH of other toolkits, `ldconfig`; `--host=` only for real cross builds",
        sure: Sure::Guess,
        samples: &["configure: error: cannot compute sizeof (long)"],
        ..CONFIGURE
    },
    Cause {
        id: "libtool.path",
        sign: "libtool: +error: require no space between|is not a valid libtool object",
        says: "libtool cannot link what configure gave it",
        means: "A directory for a library is empty (`-L` without a path) or another libtool made the objects: configure found a part of the library only.",
        act: "give the whole directory of that library to configure (`--with-ucx=DIR`), in a clean tree (`make distclean`), with one libtool",
        sure: Sure::Guess,
        sources: &[seen("https://github.com/open-mpi/ompi/issues/4345", "2017-10-16")],
        samples: &["libtool:   error: require no space between '-L' and '-lrt'"],
        ..CONFIGURE
    },
    Cause {
        id: "autotools.macro",
        sign: r"error: possibly undefined macro: (?<macro>\w+)|libtool: Version mismatch error|syntax error near unexpected token .(?:PKG_CHECK_MODULES|AM_|AC_|LT_)?",
        says: "the build scripts were made by other autotools, or some of them are missing here[: {macro}]",
        means: "libtool, pkg-config or autoconf-archive is not installed, or in another version than made ./configure.",
        act: "install `autoconf automake libtool pkg-config`, then `autoreconf -fi` (or ./autogen.sh, ./autogen.pl); or take the tarball of the release, which needs none of them",
        remedy: Remedy::Install,
        sure: Sure::Guess,
        samples: &["error: possibly undefined macro: AC_PROG_LIBTOOL"],
        ..CONFIGURE
    },
    Cause {
        id: "configure.error",
        sign: "configure: error: (?<what>.+)",
        near: &["configure: (?:WARNING|warning): (?<warning>.*(?:not found|cannot|missing).*)"],
        says: "configure stops: {what}",
        means: "Something that was asked for or is needed was not found; config.log has the test that failed and the words of the compiler.",
        act: "install the development package of what it names, or give its directory with the `--with-...` option; what nobody needs can be left out with `--without-...`",
        samples: &["configure: error: cannot find required auxiliary files: config.guess config.sub"],
        ..CONFIGURE
    },
    Cause {
        id: "cmake.no_cuda",
        sign: r"No CMAKE_CUDA_COMPILER could be found|Failed to detect a default CUDA architecture|The CUDA compiler identification is unknown|^\s+Could NOT find CUDA(?:Toolkit)?\b|Failed to find nvcc|CMAKE_CUDA_COMPILER not set|CMAKE_CUDA_ARCHITECTURES must be non-empty",
        says: "cmake finds no CUDA toolkit that works",
        means: "nvcc is not on the PATH, or it does not run with this compiler (too new a gcc) or for these GPUs.",
        act: "give `-DCMAKE_CUDA_COMPILER=/usr/local/cuda/bin/nvcc` and `-DCMAKE_CUDA_ARCHITECTURES=90`; look in CMakeError.log or CMakeConfigureLog.yaml for nvcc's words; the playbook `cuda-toolkit` installs one",
        samples: &[
            "  No CMAKE_CUDA_COMPILER could be found.",
            "CMake Error at /usr/share/cmake-3.22/Modules/CMakeDetermineCUDACompiler.cmake:633 (message): Failed to detect a default CUDA architecture.",
        ],
        ..CMAKE
    },
    Cause {
        id: "cmake.too_old",
        sign: r"CMake (?<wanted>[0-9.]+) or higher is required\.(?: +You are running version (?<here>[0-9.]+))?",
        says: "cmake is too old: {wanted} is wanted[, {here} is here]",
        means: "The project needs a newer cmake than the distribution has.",
        act: "take a newer one (`pip install cmake`, Kitware's repository, a newer release)",
        sure: Sure::Confirmed,
        samples: &["  CMake 3.25 or higher is required.  You are running version 3.22.1"],
        ..CMAKE
    },
    Cause {
        id: "cmake.too_new",
        sign: r"Compatibility with CMake < 3\.5 has been removed",
        says: "cmake 4 does not build projects this old",
        means: "The project asks for rules of cmake before 3.5, which cmake 4 dropped.",
        act: "give `-DCMAKE_POLICY_VERSION_MINIMUM=3.5`, take a newer release of the project, or cmake 3",
        sure: Sure::Confirmed,
        samples: &["  Compatibility with CMake < 3.5 has been removed from CMake."],
        ..CMAKE
    },
    Cause {
        id: "cmake.not_found",
        sign: r#"^\s+Could NOT find (?<what>[A-Za-z0-9_]+) \((?:missing|Required is|Found unsuitable)|Could not find a package configuration file provided by "(?<package>[^"]+)"|By not providing "Find(?<find>[^"]+)\.cmake""#,
        says: "cmake does not find[ {what}][ {package}][ {find}]",
        means: "The library's development files are not installed, or lie where cmake does not look.",
        act: "install its development package, or give its directory (`-DCMAKE_PREFIX_PATH=DIR`)",
        samples: &[
            "  Could NOT find MPI_CXX (missing: MPI_CXX_LIB_NAMES MPI_CXX_HEADER_DIR",
            "  Could not find a package configuration file provided by \"NCCL\" with any",
        ],
        ..CMAKE
    },
    Cause {
        id: "cmake.other_directory",
        sign: r"The current CMakeCache\.txt directory .* is different than the directory|does not match the source .* used to generate cache",
        says: "the build directory is that of another source tree",
        means: "The tree was moved or copied together with its build directory.",
        act: "remove the build directory (CMakeCache.txt and CMakeFiles) and run cmake again",
        remedy: Remedy::Settings,
        sure: Sure::Confirmed,
        samples: &[
            "CMake Error: The current CMakeCache.txt directory /work/b/CMakeCache.txt is different than the directory /src/b where CMakeCache.txt was created.",
        ],
        ..CMAKE
    },
    Cause {
        id: "cmake.could_not_find",
        sign: r"^(?:CMake Warning.*|-- )?Could NOT find (?<name>\w+)(?: \(missing: (?<missing>[^)]*)\))?\s*$|Failed to find nvToolsExt|ninja: error: loading 'build\.ninja'",
        role: Role::Effect,
        says: "CMake does not find[ {name}][ ({missing})]",
        means: "It may be optional; where CMake stops, the line `CMake Error` after it counts.",
        counts: Counts::Warn,
        act: "look for `CMake Error` after it; install its -dev package or give its directory (`-DNAME_ROOT=`, CMAKE_PREFIX_PATH)",
        remedy: Remedy::Install,
        sure: Sure::Guess,
        samples: &["Could NOT find CUDA (missing: CUDA_TOOLKIT_ROOT_DIR CUDA_NVCC_EXECUTABLE)"],
        ..CMAKE
    },
    Cause {
        id: "cmake.incomplete",
        sign: "-- Configuring incomplete, errors occurred|CMake Error at (?<file>[^ ]+) ",
        role: Role::Summary,
        says: "cmake stopped[ in {file}]",
        means: "The reason stands in the lines behind `CMake Error`.",
        act: "look at the lines behind the first `CMake Error`",
        remedy: Remedy::Look,
        samples: &["-- Configuring incomplete, errors occurred!"],
        ..CMAKE
    },
    // The compiler in general, and make.
    Cause {
        id: "kbuild.no_build_folder",
        sign: "No rule to make target [`'](?:/usr)?/lib/modules/(?<kernel>[^/']+)/build'?",
        says: "the headers of kernel {kernel} are not installed",
        means: "The link /lib/modules/{kernel}/build leads nowhere.",
        act: "install the headers of exactly that kernel (`kernel-devel-{kernel}`, `linux-headers-{kernel}`; the playbook `kernel-headers`); where the repository has only newer ones, update the kernel, reboot and build again",
        sure: Sure::Confirmed,
        sources: &[seen("https://github.com/linux-thinkpad/tp_smapi/issues/62", "2024-04-02")],
        samples: &[
            "make: *** No rule to make target '/lib/modules/6.7.10-200.fc39.x86_64/build', needed by 'modules'.  Stop.",
        ],
        ..KBUILD
    },
    Cause {
        id: "kbuild.clang_for_gcc",
        sign: "error: unknown warning option '(?<option>-W[^']+)'|unknown argument: '(?<argument>-[fm][^']+)'",
        says: "the module is built by clang, and the kernel by gcc ([{option}][{argument}])",
        means: "The name `cc` leads to clang on this host, which does not know options of the kernel's compiler.",
        act: "make gcc the `cc` (`update-alternatives --config cc`, `xbps-alternatives`), or build with `CC=gcc`; a kernel that clang built wants `LLVM=1`",
        sources: &[seen("https://github.com/void-linux/void-packages/issues/15882", "2019-10-30")],
        samples: &[
            "error: unknown warning option '-Wno-unused-but-set-variable'; did you mean '-Wno-unused-const-variable'? [-Werror,-Wunknown-warning-option]",
        ],
        ..KBUILD
    },
    Cause {
        id: "kbuild.lto_object",
        sign: r"\.o: file not recognized: file format not recognized",
        says: "the linker does not know the objects of the compiler",
        means: "A kernel that was built by clang with LTO wants its modules linked by ld.lld, and the build took the one of binutils.",
        act: "build with the kernel's tools (`LLVM=1`, or `CC=clang LD=ld.lld`), install clang, lld and llvm of the kernel's release, or take a release of the module's package that knows this kernel",
        sure: Sure::Guess,
        sources: &[seen("https://github.com/Frogging-Family/nvidia-all/issues/323", "2025-12-21")],
        samples: &["nvidia/nv-platform.o: file not recognized: file format not recognized"],
        ..KBUILD
    },
    Cause {
        id: "kernel_api.changed",
        sign: r"(?:/var/lib/dkms/(?<module>[^/ ]+)/(?<version>[^/ ]+)/build/|/usr/src/(?<source>[a-z][a-z0-9_+-]*-[0-9][^/ ]*)/)(?<file>[^ :]+\.[ch]):[0-9]+:(?:[0-9]+:)? ?(?:fatal )?(?:error|erreur|Fehler|错误|錯誤|エラー|ошибка|errore|erro|chyba|błąd) ?[:：] ?(?<error>.+)",
        near: &["for kernel:? (?<kernel>[0-9][^ ]+)", "/lib/modules/(?<kernel>[0-9][^/ ]+)/build"],
        says: "the module[ {module} {version}][ {source}] does not build for this kernel[ {kernel}]: {error}",
        means: "The kernel changed functions or structures that this release of the module uses.",
        act: "take a release of the module that knows this kernel, or boot the kernel before and hold its packages (playbook `kernel`)",
        samples: &[
            "/var/lib/dkms/drbd/9.2.14-1/build/src/drbd/drbd_main.c:3021:2: error: too few arguments to function 'blk_alloc_disk'",
        ],
        ..KBUILD
    },
    Cause {
        id: "beegfs.module_source",
        sign: r"(?<file>(?:[^ ]*/)?(?:Fhgfs[A-Za-z_]+|filesystem/[A-Za-z_]+|common/toolkit/[A-Za-z_]+|net/[A-Za-z_]+/[A-Za-z_]+|os/Os[A-Za-z]+)\.[ch]):\d+:(?:\d+:)? (?:fatal )?error: (?<error>.+)",
        near: &["/(?:linux-headers-|kernels/|lib/modules/)(?<kernel>[0-9][^/ ]+)"],
        says: "the BeeGFS client does not build for this kernel[ {kernel}]: {error}",
        means: "The kernel changed functions or structures that this release of the client uses. Compiler and headers are sound.",
        act: "take a BeeGFS client that names this kernel in its release notes, or boot the kernel before and hold its packages (playbook `kernel`)",
        remedy: Remedy::Install,
        sure: Sure::Likely,
        sources: &[seen("https://github.com/ThinkParQ/beegfs/issues/73", "2025-08-22")],
        samples: &[
            "filesystem/FhgfsOpsDir.c:25:22: error: initialization of 'int (*)(struct inode *, const struct qstr *, struct dentry *, unsigned int)' from incompatible pointer type 'int (*)(struct dentry *, unsigned int)' [-Wincompatible-pointer-types]",
        ],
        ..KBUILD
    },
    Cause {
        id: "kernel_api.changed_by_words",
        sign: r"(?<file>[A-Za-z0-9_+./-]+\.[ch]):\d+:(?:\d+:)? (?:fatal )?error: (?<error>.*(?:struct (?:inode|dentry|qstr|mnt_idmap|file_operations|super_block|address_space|folio|page|vm_area_struct|net_device|pci_dev|device_driver|bus_type|block_device|request_queue|gendisk|bio|timer_list|proc_ops|shrinker|ib_device|ib_qp|sk_buff|drm_device|drm_driver|drm_framebuffer|kiocb|iov_iter|ctl_table|platform_driver|class|cdev|ethtool_ops|crypto_[a-z]+|mm_struct|task_struct|timespec)\b|(?:function|declaration of function) '(?:from_timer|del_timer(?:_sync)?|get_user_pages\w*|pin_user_pages\w*|class_create|vm_flags\w*|acpi_bus_get_device|pci_\w+|dma_\w+|drm_\w+|ib_\w+|blk_\w+|kmap\w*|ktime_\w+|proc_create\w*|hrtimer_\w+|timer_\w+|access_ok|ioremap\w*|__vmalloc|copy_(?:from|to)_user|iommu_\w+|bin_attribute\w*|register_sysctl\w*|no_llseek|generic_\w+|kernel_\w+|netif_\w+|dev_\w+)'|'MODULE_IMPORT_NS'|'no_llseek').*)",
        near: &[
            "/(?:linux-headers-|kernels/|lib/modules/)(?<kernel>[0-9][^/ ]+)",
            "for kernel:? (?<kernel>[0-9][^ ]+)",
        ],
        says: "the source of a kernel module does not fit this kernel[ {kernel}]: {file}: {error}",
        means: "The kernel changed functions or structures that this release of the module uses, or it is older than the module wants. Compiler and headers are sound.",
        act: "take a release of the module that names this kernel, or boot the kernel before and hold its packages (playbook `kernel`)",
        sure: Sure::Likely,
        sources: &[
            seen("https://github.com/dell/thunderbolt-dkms/issues/4", "2017-05-17"),
            seen("https://github.com/paroj/xpad/issues/331", "2025-08-04"),
            seen("Linux kernel: include/linux", "2026-12-01"),
        ],
        samples: &[
            "icm_nhi/net.c:478:14: error: implicit declaration of function 'dma_map_page_attrs' [-Werror=implicit-function-declaration]",
            "src/nv-mmap.c:12:3: error: 'struct vm_area_struct' has no member named 'vm_rb'",
        ],
        ..KBUILD
    },
    Cause {
        id: "gcc.nccl_too_old",
        sign: r#"error: (?:identifier "|.)(?<name>nccl[A-Z][A-Za-z]+|NCCL_[A-Z_]+)(?:"|.) (?:is undefined|was not declared in this scope|undeclared)"#,
        says: "NCCL's header here has no {name}",
        means: "The program wants a newer NCCL than the nccl.h that the compiler found; several copies of NCCL may lie on this host.",
        act: "give the build the newer one (`NCCL_HOME=DIR`), or install it (playbook `nccl`); `grep NCCL_VERSION_CODE` in the nccl.h says which one it is; the check software.nccl_copies finds several",
        sources: &[seen("https://github.com/NVIDIA/nccl-tests/issues/47", "2020-06-18")],
        samples: &["alltoall.cu(69): error: identifier \"ncclSend\" is undefined"],
        ..GCC
    },
    Cause {
        id: "ompi.btl_uct",
        sign: r"\bbtl_uct_\w+\.(?:c|h|lo|o)\b.*(?:rror|failed)",
        says: "this Open MPI does not compile against so new a UCX (btl/uct)",
        means: "The component btl/uct calls functions of UCX that are not fixed between its releases; Open MPI 4.0.x before 4.0.4 does not know the newer ones.",
        act: "configure with `--enable-mca-no-build=btl-uct` (pml/ucx does the work and does not need it), or take a newer Open MPI",
        sure: Sure::Confirmed,
        sources: &[
            seen("https://github.com/open-mpi/ompi/issues/7093", "2019-10-16"),
            seen("https://github.com/openucx/ucx/issues/4156", "2019-09-04"),
        ],
        samples: &[
            "make[2]: *** [btl_uct_amo.lo] Error 1",
            "btl_uct_amo.c:44:12: error: too few arguments to function 'uct_ep_create_connected'",
        ],
        ..GCC
    },
    Cause {
        id: "gcc.error",
        sign: r"(?<file>[A-Za-z0-9_+./-]+\.(?:c|cc|cpp|cxx|cu|cuh|h|hpp|f90|F90|S)):(?<line>[0-9]+):(?:[0-9]+:)? (?:fatal )?error: (?<error>.+)|(?<cuda>[A-Za-z0-9_+./-]+\.(?:cu|cuh|h|hpp))\((?<at>[0-9]+)\): (?:catastrophic )?error(?: #[0-9-]+-?D?)?: (?<nvcc>.+)",
        says: "the source does not compile: {file}:{line}: {error}",
        means: "The source and the compiler or the headers are of versions that do not fit, or the source has a fault.",
        act: "look at this first error only, the later ones follow from it: compare the versions of what it includes with those that the project wants",
        follows: &[
            "dkms.module_does_not_build",
            "nvidia.old_for_kernel",
            "kernel_api.changed",
            "kernel_api.changed_by_words",
            "beegfs.module_source",
            "akmods.failed",
        ],
        sure: Sure::Guess,
        samples: &[
            "src/init.cc:120:5: error: 'struct foo' has no member named 'bar'",
            "src/all_reduce.cu:44:3: error: expected ';' before '}' token",
        ],
        ..GCC
    },
    Cause {
        id: "make.no_rule",
        sign: r"\*\*\* No rule to make target [`'](?<target>[^']+)'(?:, needed by [`'](?<by>[^']+)')?",
        says: "make finds neither {target} nor a way to make it[ (for {by})]",
        means: "A file is missing: the source was not unpacked whole (a submodule), was not configured, or make runs in another directory.",
        act: "see that the file should be there (`git submodule update --init --recursive`), run configure or cmake first, and start in a clean tree",
        sure: Sure::Guess,
        samples: &["make: *** No rule to make target 'install'.  Stop."],
        ..GCC
    },
    Cause {
        id: "make.no_makefile",
        sign: "No targets specified and no makefile found",
        says: "there is no Makefile here",
        means: "configure or cmake did not run or failed before, or this is another directory.",
        act: "look at the error of configure before; run make where the Makefile is",
        role: Role::Effect,
        samples: &["make: *** No targets specified and no makefile found.  Stop."],
        ..GCC
    },
    Cause {
        id: "dkms.directory_error",
        sign: r"\*\*\* \[[^\]]*/var/lib/dkms/(?<module>[a-z0-9][a-z0-9_.+-]*)/(?<version>[0-9a-z][^/ \]]*)(?:/build)?[^\]]*\] \S+ \d+",
        role: Role::Effect,
        follows: NO_BUILD,
        says: "the module {module} {version} does not build",
        means: "make names the directory of a module of DKMS. The first error of the compiler stands before, or in make.log.",
        act: "look for the first `error` in /var/lib/dkms/{module}/{version}/build/make.log; most often the module is older than the kernel: take a newer release of it, or boot the kernel before and hold its packages",
        sure: Sure::Guess,
        sources: &[seen("https://github.com/dkms-project/dkms (dkms.in)", "2026-11-30")],
        samples: &[
            "make[2]: *** [/usr/src/kernel-headers-6.12.7_1/Makefile:1937: /var/lib/dkms/nvidia/470.239.06/build] Chyba 2",
        ],
        ..DKMS
    },
    Cause {
        id: "make.error",
        sign: r"make(?:\[[0-9]+\])?: \*\*\* \[(?<target>[^\]]+)\] (?:Error [0-9]+|Killed|Segmentation fault)|\*\*\* Waiting for unfinished jobs|ninja: build stopped|collect2: error: ld returned [0-9]+ exit status|compilation terminated\.$|Failed to execute command .*nvcc|FAILED: [^ ]+\.o|ERROR: Unable to build the NVIDIA kernel module|\(bad exit status: [0-9]+\)|recipe for target .* failed|cc1(?:plus)?: (?:some|all) warnings being treated as errors|error: command .* failed with exit (?:code|status) [0-9]+|errors? detected in the compilation of ",
        role: Role::Summary,
        says: "the build stopped",
        means: "make only counts up what failed; the first error stands before, with many jobs far before.",
        act: "look for the first line with `error` before this one; `make -j1` puts it last",
        remedy: Remedy::Look,
        samples: &[
            "make[2]: *** [scripts/Makefile.build:252: a.o] Error 1",
            "ninja: build stopped: subcommand failed.",
        ],
        ..GCC
    },
    // The initramfs.
    Cause {
        id: "initramfs.boot_full",
        sign: r"Error 24 : Write error : cannot write compressed block|zstd: error 70 : Write error|zstd: error [0-9]+ : .*No space left on device|(?:gzip|lz4|xz|lzma|cpio|dracut|dracut\[F\]|pigz|bzip2|cat|cp|mv)[^:]*: (?:stdout|write error|.*/boot/[^:]*): ?(?:write error: )?No space left on device|cpio: write error",
        says: "there is no room for the new initramfs",
        means: "/boot is full, mostly of old kernels, or the file system of /tmp or /var/tmp is, where it is packed. The text of the compressor does not say so.",
        act: "see `df -h /boot /tmp /var/tmp`; purge old kernels but not the running one (`uname -r`; `apt-get autoremove --purge`, `dnf remove --oldinstallonly`), then `dpkg --configure -a` and `update-initramfs -u` before any reboot",
        sources: &[
            seen("https://github.com/nodejs/build/issues/3296", "2023-04-10"),
            seen("https://github.com/lavabit/robox/issues/294", "2024-01-26"),
        ],
        samples: &[
            "Error 24 : Write error : cannot write compressed block",
            "zstd: error 70 : Write error : cannot write block : No space left on device",
            "gzip: stdout: No space left on device",
        ],
        ..INITRAMFS
    },
    Cause {
        id: "initramfs.kernel_gone",
        sign: "(?:depmod: (?:ERROR|FATAL): could not open directory |W: missing )(?<path>/(?:var/tmp/[^ ]+/|usr/)?lib/modules/(?<kernel>[^/: ]+))|Cannot find module directory (?<dracut>/lib/modules/[^ ]+)",
        says: "the modules of a kernel are not there[: {kernel}][: {dracut}]",
        means: "An initramfs or the list of modules was asked for a kernel whose package is gone or is no part of this image (chroots and containers see another kernel).",
        act: "name a kernel that is installed (`ls /lib/modules`; `update-initramfs -u -k KERNEL`, `dracut --kver KERNEL`); left files of removed kernels in /var/lib/initramfs-tools cause it as well",
        counts: Counts::Warn,
        samples: &[
            "depmod: ERROR: could not open directory /lib/modules/5.15.0-1023-aws: No such file or directory",
            "W: missing /lib/modules/5.4.0-146-generic",
        ],
        ..INITRAMFS
    },
    Cause {
        id: "dracut.no_root",
        sign: "dracut: FATAL: No or empty root= argument|dracut: Refusing to continue",
        says: "dracut has no root= on the kernel's command line",
        means: "The entry of the boot loader lacks it, or it was lost with an update of grub.",
        act: "`cat /proc/cmdline` in the shell; boot with `root=UUID=...` by hand, then mend GRUB_CMDLINE_LINUX or the entry (`grubby --info=ALL`)",
        sources: &[seen("https://github.com/dracutdevs/dracut (modules.d/99base/init.sh)", "2026-11-30")],
        samples: &["dracut: FATAL: No or empty root= argument"],
        ..INITRAMFS
    },
    Cause {
        id: "initramfs.raid_not_made",
        sign: r"mdadm: (?:Fail to create (?<md>md\S+)|unexpected failure opening (?<path>/dev/md\S+)|No arrays found in config file or automatically|no devices listed in conf file were found)",
        says: "the initramfs could not put an array together[: {md}][: {path}]",
        means: "The modules of md or mdadm.conf are not in this initramfs, or its disks are not seen (yet).",
        act: "in the shell `modprobe md_mod raid1; mdadm --assemble --scan; cat /proc/mdstat`; where that works, `update-initramfs -u` (or `dracut -f --add mdraid`) with a right mdadm.conf, or rootdelay=10",
        sure: Sure::Guess,
        sources: &[seen("https://github.com/dracut-ng/dracut/issues/1443", "2025-07-12")],
        samples: &["mdadm: unexpected failure opening /dev/md0"],
        ..INITRAMFS
    },
    Cause {
        id: "initramfs.lost_root",
        follows: &["initramfs.raid_not_made"],
        sign: r"ALERT! +(?<root>[^ ]+) does not exist\. +Dropping to a shell|Gave up waiting for root (?:file system )?device|dracut-initqueue.*(?:timeout, still waiting|Warning: (?:Could not boot|/dev/[^ ]+ does not exist))|Warning: (?<dracut>/dev/[^ ]+) does not exist",
        says: "the initramfs finds no root file system[: {root}][: {dracut}]",
        means: "The disk's id changed, the module of its controller is not in the initramfs, or the disk is not seen at all.",
        act: "in the emergency shell see `blkid` and `cat /proc/cmdline`: correct root= (grub, fstab), or boot the kernel before and rebuild the initramfs with the module; only where the disk is not there at all look at the hardware",
        sure: Sure::Guess,
        samples: &[
            "ALERT!  /dev/disk/by-uuid/1b2c3d4e does not exist.  Dropping to a shell!",
            "Gave up waiting for root file system device.  Common problems:",
        ],
        ..INITRAMFS
    },
    Cause {
        id: "initramfs.no_init",
        sign: r"Target filesystem doesn't have requested /sbin/init|dracut: Cannot find init!|No init found\. Try passing init= bootarg|Failed to switch root: |run-init: .*No such file or directory",
        role: Role::Effect,
        says: "the initramfs has no root file system to go on with",
        means: "The root file system was not mounted, or another one was; the reason stands before. That does not mean that it is damaged.",
        act: "look at the lines before for the mount that failed; with a root on NFS the initramfs needs /etc/protocols and /etc/netconfig (packages netbase and libtirpc-common where it is built)",
        sources: &[seen("https://github.com/kernelci/kernelci-core/issues/3216", "2026-09-16")],
        samples: &["No init found. Try passing init= bootarg."],
        ..INITRAMFS
    },
    Cause {
        id: "initramfs.unknown_machine",
        sign: r"^Unsupported platform\.$|flash-kernel: .*[Uu]nsupported platform",
        says: "flash-kernel does not know this machine",
        means: "The package writes kernels for small Arm boards; in virtual machines, containers and on servers it only stops the installation of kernels.",
        act: "remove it (`apt-get purge flash-kernel`), or give it FK_MACHINE=none in a container, then `dpkg --configure -a`",
        sources: &[seen("https://github.com/scaleway/kernel-tools/issues/379", "2026-11-30")],
        samples: &["Unsupported platform."],
        ..INITRAMFS
    },
    Cause {
        id: "kernel.hook_failed",
        sign: "run-parts: (?<hook>/etc/(?:kernel|initramfs)[^ ]*) exited with return code (?<status>[0-9]+)",
        role: Role::Effect,
        says: "the hook {hook} of a kernel's installation failed ({status})",
        means: "Its own words stand before: DKMS could not build a module, an initramfs found no room, or a boot loader is not whole.",
        act: "mend what the lines before say, then `dpkg --configure -a`; do not reboot before",
        samples: &["run-parts: /etc/kernel/postinst.d/dkms exited with return code 11"],
        ..INITRAMFS
    },
    Cause {
        id: "initramfs.command_gone",
        sign: "update-initramfs: (?:command )?not found",
        says: "the program update-initramfs is gone",
        means: "A package or script moved it aside (a diversion) and did not put it back, or initramfs-tools is only half there.",
        act: "`dpkg-divert --list '*update-initramfs*'` and `ls /usr/sbin/update-initramfs*`: put it back, or install `initramfs-tools-core` and `initramfs-tools` again, then `dpkg --configure -a` before any reboot",
        remedy: Remedy::Install,
        sources: &[seen("https://github.com/cawilliamson/ansible-gpdpocket/issues/102", "2017-08-23")],
        samples: &["/var/lib/dpkg/info/initramfs-tools.postinst: 16: update-initramfs: not found"],
        ..INITRAMFS
    },
    Cause {
        id: "initramfs.module_missing",
        sign: r"==> ERROR: module not found: [`'](?<module>[^']+)'|dracut-install: Failed to find module '(?<needed>nvidia[^']*|nvme|megaraid_sas|mpt3sas|mlx5_core|raid1|md_mod|dm_mod|dm-mod|virtio_blk|ahci)'|[Dd]racut: ?Failed to install module (?<dracut>\S+)",
        says: "a module that the initramfs is to hold is not there for that kernel[: {module}][: {needed}][: {dracut}]",
        means: "It was not built or installed for the kernel whose initramfs is made: mostly a build of DKMS failed just before, or the headers of that kernel are missing.",
        act: "read the lines of dkms before it, and `dkms status`: build the module for that kernel (headers, or a release of the driver that knows the kernel), then make the initramfs again before any reboot; keep the older kernel as the default until it is there",
        sources: &[
            seen("https://github.com/omacom/omarchy/issues/5706", "2026-05-09"),
            seen("https://github.com/Frogging-Family/linux-tkg/issues/1036", "2024-11-22"),
        ],
        samples: &["==> ERROR: module not found: 'nvidia'", "dracut-install: Failed to find module 'nvidia'"],
        ..INITRAMFS
    },
    Cause {
        id: "initramfs.failed",
        sign: r"mkinitramfs failure|update-initramfs: failed for (?<image>[^ ]+)|dracut(?:\[F\])?: (?:FAILED|Creation of .* failed|creation of .* failed|Cannot write)|dracut-install: ERROR: installing '(?<file>[^']+)'|run-parts: .*initramfs-tools exited with return code|==> WARNING: errors were encountered during the build\. The image may not be complete|mkinitcpio failed for kernel",
        role: Role::Effect,
        says: "an initramfs could not be built[: {image}][: {file}]",
        means: "The reason stands before; a full /boot is the most usual one. The host may not boot that kernel.",
        act: "see `df -h /boot`, mend what the lines before say, and build it again (`update-initramfs -u -k all`, `dracut --force`) before any reboot",
        samples: &[
            "E: mkinitramfs failure cpio 141 lz4 -9 -l 24",
            "update-initramfs: failed for /boot/initrd.img-5.4.0-146-generic with 1.",
        ],
        ..INITRAMFS
    },
    Cause {
        id: "initramfs.notes",
        sign: r"W: Possible missing firmware |depmod: WARNING: could not open modules\.|dracut(?:\[[A-Z]\])?: (?:dracut )?module '[^']+' (?:will not be installed|depends on)|update-initramfs: deferring update|I: The initramfs will attempt to resume|os-prober will not be executed|dracut-install: Failed to find module '|dracut-install: ERROR: installing '[^']*(?:consolefonts|keymaps)|dracut\[E\]: FAILED: .*(?:consolefonts|keymaps)",
        says: "the build of the initramfs gives advice",
        means: "Such lines stand in builds that succeed: firmware of hardware that is not there, parts that nobody asked for.",
        counts: Counts::Note,
        remedy: Remedy::Look,
        samples: &[
            "W: Possible missing firmware /lib/firmware/ast_dp501_fw.bin for module ast",
            "update-initramfs: deferring update (trigger activated)",
        ],
        ..INITRAMFS
    },
    // grub and EFI.
    Cause {
        id: "grub.esp_device_gone",
        sign: "mount: /var/lib/grub/esp: special device (?<disk>[^ ]+) does not exist|/dev/disk/by-id/(?<id>[^ ]+) does not exist, so cannot grub-install to it|You must correct your GRUB install devices",
        says: "the boot loader's package remembers a disk that is gone[: {disk}][: {id}]",
        means: "The disk with the EFI partition was replaced, or the image was made on another machine; the packages of grub keep its id.",
        act: "choose the present partition with `dpkg-reconfigure grub-efi-amd64` (or `grub-pc`, `grub-efi-amd64-signed`), then `dpkg --configure -a`; do it before the next reboot",
        sources: &[seen("https://github.com/freedomofpress/securedrop/issues/7488", "2025-03-31")],
        samples: &[
            "mount: /var/lib/grub/esp: special device /dev/disk/by-id/mmc-S0J58X_0x158869a0-part1 does not exist.",
        ],
        ..GRUB
    },
    Cause {
        id: "grub.no_esp",
        sign: r"grub-install(?:\.real)?: error: (?:cannot find EFI directory|(?<path>[^ ]+) doesn't look like an EFI partition|failed to get canonical path of [`'](?<canonical>[^']+)')|cannot find a device for (?<device_of>[^ ]+) \(is /dev mounted\?\)",
        says: "grub does not find the partition that it installs to[: {path}][: {canonical}]",
        means: "The EFI partition is not mounted at /boot/efi, is not FAT, or this is a chroot or container without /dev.",
        act: "mount it (`findmnt /boot/efi`, fstab), in a chroot mount /dev, /proc and /sys as well, then `grub-install` again",
        samples: &[
            "grub-install: error: cannot find EFI directory.",
            "grub-install: error: /boot/efi doesn't look like an EFI partition.",
        ],
        ..GRUB
    },
    Cause {
        id: "efi.variables_full",
        sign: r"Could not create MokList[A-Z]*: (?:Volume Full|Out of Resources)|import_mok_state\(\) failed|(?:Could not prepare Boot variable|Could not set variable [^:]+|efibootmgr: .*|failed to register the EFI boot entry): No space left on device",
        says: "the firmware's memory for EFI variables is full",
        means: "Crash dumps of the kernel (dump-type0-*) or many boot entries fill it; the disk is not meant.",
        act: "look at `ls /sys/firmware/efi/efivars/dump-*`: remove those dumps (through /sys/fs/pstore) and unused entries (`efibootmgr -b NUMBER -B`), then `grub-install` again",
        sure: Sure::Confirmed,
        samples: &["Could not prepare Boot variable: No space left on device"],
        ..GRUB
    },
    Cause {
        id: "efi.variables_read_only",
        sign: "EFI variables are not supported on this system|(?:Could not prepare Boot variable|failed to register the EFI boot entry): (?<why>.+)",
        says: "the EFI boot entry could not be written[: {why}]",
        means: "The host was booted in BIOS mode, this is a chroot or container without efivars, or they are mounted read-only.",
        act: "see `ls /sys/firmware/efi`: where it is missing the host was booted by BIOS; else `mount -t efivarfs efivarfs /sys/firmware/efi/efivars`, or `grub-install --no-nvram`",
        samples: &[
            "EFI variables are not supported on this system.",
            "Could not prepare Boot variable: Read-only file system",
        ],
        ..GRUB
    },
    Cause {
        id: "grub.bios_partition",
        sign: "this GPT partition label contains no BIOS Boot Partition|embedding is not possible, but this is required|will not proceed with blocklists",
        says: "grub for BIOS has no room on this disk",
        means: "A disk with a GPT needs a small partition of the type BIOS boot, or the host should boot by UEFI.",
        act: "make a partition of 1 MiB with the flag bios_grub, or install grub for EFI (`grub-install --target=x86_64-efi`) where the host boots so",
        samples: &[
            "grub-install: warning: this GPT partition label contains no BIOS Boot Partition; embedding won't be possible.",
        ],
        ..GRUB
    },
    Cause {
        id: "grub.secure_boot",
        sign: r"error: (?:bad shim signature|shim_lock protocol not found|prohibited by secure boot policy)|error: [^ ]+ has invalid signature|Verification failed: \(0x1A\) Security Violation|SBAT self-check failed: Security Policy Violation|Something has gone seriously wrong: SBAT",
        says: "Secure Boot refused the boot loader or the kernel",
        means: "The kernel or grub is not signed by a key that the firmware or shim knows, or shim is too old for the firmware's list of revoked ones (SBAT).",
        act: "boot a signed kernel, and upgrade shim and grub together; a kernel of one's own needs an enrolled key (`mokutil --import`); for SBAT upgrade shim with Secure Boot off for a moment",
        remedy: Remedy::Install,
        samples: &["error: bad shim signature.", "Verification failed: (0x1A) Security Violation"],
        ..GRUB
    },
    Cause {
        id: "grub.halves_differ",
        sign: "error: symbol [`'](?<symbol>grub_[a-z_0-9]+)' not found",
        says: "grub's core and its modules are of two versions ({symbol})",
        means: "The package was upgraded, and the boot sector or EFI partition still has the former grub.",
        act: "boot from a rescue medium (or by another disk), then `grub-install` to the disk or EFI partition that the firmware boots, on every disk of a mirror",
        samples: &["error: symbol `grub_calloc' not found."],
        ..GRUB
    },
    Cause {
        id: "grub.file_missing",
        sign: r"^error: file [`'](?<file>/[^']+)' not found|^error: no such device: (?<uuid>[0-9a-f-]{8,})|error: you need to load the kernel first|Entering rescue mode\.\.\.|error: unknown filesystem\.$|error: disk [`'][^']+' not found",
        says: "grub does not find what it is to boot[: {file}][: {uuid}]",
        means: "The kernel was removed without a new grub.cfg, the disk's id changed, or /boot is on a disk that the firmware does not show.",
        act: "choose another entry or boot a rescue medium, see that the file is there, then `update-grub` (or `grub2-mkconfig`) and `grub-install`",
        sure: Sure::Guess,
        samples: &[
            "error: file `/boot/vmlinuz-5.15.0-97-generic' not found.",
            "error: no such device: 1b2c3d4e-5f60.",
        ],
        ..GRUB
    },
    Cause {
        id: "grub.settings",
        sign: r"/etc/default/grub(?:\.d/[^ :]+)?: (?:line )?(?<line>[0-9]+): (?<what>.+)|Syntax errors? (?:is|are) detected in generated GRUB config file",
        says: "the settings of grub have an error[ in line {line}: {what}]",
        means: "/etc/default/grub is a shell file; a missing quotation mark or a space stops update-grub.",
        act: "mend that line (`sh -n /etc/default/grub`), then `update-grub` (or `grub2-mkconfig`)",
        sure: Sure::Confirmed,
        samples: &[
            "/usr/sbin/grub-mkconfig: 12: /etc/default/grub: 11: Syntax error: Unterminated quoted string",
            "Syntax errors are detected in generated GRUB config file.",
        ],
        ..GRUB
    },
    Cause {
        id: "grub.install_failed",
        sign: r"grub-install(?:\.real)?: error: (?<what>.+)|GRUB failed to install to the following devices",
        role: Role::Effect,
        says: "grub was not installed[: {what}]",
        means: "The host may not boot after this; the reason stands in these words or before.",
        act: "do not reboot before `grub-install` ends without an error; see `lsblk -f`, `findmnt /boot/efi` and `efibootmgr -v`",
        samples: &[
            "grub-install: error: unable to identify a filesystem in hostdisk//dev/sda; safety check can't be performed.",
        ],
        ..GRUB
    },
    Cause {
        id: "gdrcopy.p2p_dummy",
        sign: r"depends:\s+nv-p2p-dummy",
        says: "gdrdrv was built against a stand-in for NVIDIA's driver",
        means: "The module nv-p2p-dummy only lets gdrdrv be packaged where no driver is installed; with it no GPU memory can be pinned.",
        act: "build gdrdrv on a host with the driver's sources (`dkms install gdrdrv/VERSION --force`, or the package gdrcopy-kmod built there) so that `modinfo -F depends gdrdrv` says nvidia; then load it again",
        remedy: Remedy::Install,
        sources: &[seen("https://github.com/NVIDIA/gdrcopy/issues/334", "2025-12-05")],
        samples: &["depends:        nv-p2p-dummy"],
        ..TOOL
    },
    Cause {
        id: "gdrcopy.version",
        sign: "Error getting the gdrdrv driver version with ioctl error|gdrdrv might be too old",
        says: "what answers at /dev/gdrdrv is not a fitting gdrdrv",
        means: "The module is older than the library, or another driver has taken the device number of /dev/gdrdrv, so that the file leads to that one.",
        act: "`grep gdrdrv /proc/devices` against `ls -l /dev/gdrdrv`: where the numbers differ, `modprobe -r gdrdrv`, remove the file and load it again (`systemctl restart gdrcopy`); else install module and library of one release",
        remedy: Remedy::Settings,
        sources: &[seen("https://github.com/NVIDIA/gdrcopy/issues/115", "2020-03-05")],
        samples: &[
            "ERR:  Error getting the gdrdrv driver version with ioctl error (errno=22). gdrdrv might be too old.",
        ],
        ..TOOL
    },
    Cause {
        id: "gdrcopy.two_processes",
        sign: r#"Assertion "(?:\(?read\(read_fd|sendfd\(|recvfd\(|\(?recvfd|.*child_data).*failed at sanity\.cpp"#,
        says: "the tests of gdrcopy that use two processes fail",
        means: "Their second process could not use the GPU. With the compute mode Exclusive_Process a GPU takes one process only, and gdrcopy and the GPU are sound.",
        act: "`nvidia-smi -q -d COMPUTE`: with Exclusive_Process set Default for the test (`nvidia-smi -c 0`) and run it again; with Default look at the first line with `CUDA error`",
        remedy: Remedy::Settings,
        sure: Sure::Likely,
        sources: &[seen("https://github.com/NVIDIA/gdrcopy/issues/276", "2023-09-07")],
        samples: &[
            r#"Assertion "(read(read_fd, &child_data, sizeof(int))) == (sizeof(int))" failed at sanity.cpp:1074"#,
        ],
        ..TOOL
    },
];
