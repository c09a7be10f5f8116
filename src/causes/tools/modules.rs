//! Kernel modules as kmod, systemd and busybox tell of them, and Secure Boot.

use super::super::cause::{Apart, Cause, Counts, Remedy, Role, Sure, TOOL, seen};

const KMOD: Cause = Cause {
    remedy: Remedy::Install,
    sources: &[seen(
        "https://github.com/kmod-project/kmod (tools/modprobe.c, tools/insmod.c, libkmod)",
        "2026-11-30",
    )],
    ..TOOL
};
const KERNEL_SOURCE: Cause = Cause {
    remedy: Remedy::Install,
    sources: &[seen("Linux kernel: kernel/module/main.c", "2026-11-30")],
    ..TOOL
};

/// The kernel's words about why it refuses a module or finds no device for it.
const REFUSED: &[&str] = &[
    "nvidia.open_modules",
    "nvidia.legacy",
    "nvidia.nova",
    "nvidia.held",
    "nvidia.bar",
    "nvidia.probe_routine",
    "nvidia.off_the_bus",
    "nvidia.gsp",
    "nvidia.rm_init",
    "peermem.symbols",
    "module.symbols",
    "module.magic",
    "module.unsigned",
    "module.key_unknown",
    "beegfs.ofed_path",
];
const SECURE_BOOT: &str = "enrol the key that signed it (`mokutil --import FILE`, confirmed at the console of the next boot), or take modules that the distribution signs; the playbook `secure-boot` checks it, and `mokutil --sb-state` tells whether Secure Boot is on";
const PEERMEM: &str = "build the driver again behind DOCA-OFED or MLNX_OFED (`dkms install --force`; the playbooks `doca-ofed`, then `nvidia-driver` and `peermem`), or leave the module out where DMA-BUF does the same (check rdma.gdr_ready)";

pub(in crate::causes) const ROWS: &[Cause] = &[
    Cause {
        id: "modprobe.key",
        sign: "(?:could not insert(?: module)? '?(?<module>[^': ]+)'?|Failed to insert module '(?<systemd>[^']+)'|can't load module (?<busybox>[^ ]+).*): (?:Key was rejected by service|Required key not available|Key has been revoked|Key has expired)",
        says: "Secure Boot refused the module[ {module}][ {systemd}]",
        means: "The kernel takes only modules that are signed by a key that the firmware or the kernel knows, and this one is not.",
        act: SECURE_BOOT,
        remedy: Remedy::Reset,
        sure: Sure::Confirmed,
        samples: &[
            "modprobe: ERROR: could not insert 'nvidia': Key was rejected by service",
            "modprobe: ERROR: could not insert 'mlx5_core': Required key not available",
        ],
        ..KMOD
    },
    Cause {
        id: "module.key_unknown",
        sign: "PKCS#7 signature not signed with a trusted key|Loading of unsigned module is rejected|module verification failed: .*rejected",
        says: "the kernel refused a module for its signature",
        means: "The key that signed the module is not enrolled.",
        act: SECURE_BOOT,
        remedy: Remedy::Reset,
        counts: Counts::Warn,
        samples: &["[   11.2] PKCS#7 signature not signed with a trusted key"],
        ..KERNEL_SOURCE
    },
    Cause {
        id: "modprobe.peermem",
        sign: r"could not insert(?: module)? '?(?<module>nv(?:idia)?[_-]peer[_-]?mem)[^':]*'?: (?:Invalid argument|Invalid parameters|Unknown symbol in module[^\n]*)",
        follows: &["peermem.symbols", "module.symbols", "module.magic"],
        says: "{module} does not fit the loaded ib_core",
        means: "The driver was built without the symbols of peer memory: before DOCA-OFED or MLNX_OFED was there, or for another one. The kernel's own ib_core has none.",
        act: PEERMEM,
        sources: &[seen("https://github.com/NVIDIA/gpu-operator/issues/2868", "2026-09-08")],
        samples: &[
            "modprobe: ERROR: could not insert 'nvidia_peermem': Invalid argument",
            "modprobe: ERROR: could not insert 'nvidia_peermem': Unknown symbol in module, or unknown parameter (see dmesg)",
        ],
        ..KMOD
    },
    Cause {
        id: "modprobe.off",
        sign: "could not (?:find module by name=|insert )'off'",
        says: "a rule of /etc/modprobe.d switches the module off",
        means: "A line `alias nvidia off` is there: Ubuntu's prime-select writes it for the other GPU, and older switchers did.",
        act: "find it (`grep -rn 'off$' /etc/modprobe.d /lib/modprobe.d /usr/lib/modprobe.d`): take the line out (or `prime-select nvidia`), rebuild the initramfs and reboot",
        remedy: Remedy::Settings,
        sure: Sure::Confirmed,
        samples: &[
            "modprobe: ERROR: ../libkmod/libkmod-module.c:838 kmod_module_insert_module() could not find module by name='off'",
            "modprobe: ERROR: could not insert 'off': Unknown symbol in module, or unknown parameter (see dmesg)",
        ],
        ..KMOD
    },
    Cause {
        id: "modprobe.symbols",
        sign: "(?:could not insert(?: module)? '?(?<module>[^': ]+)'?|Failed to insert module '(?<systemd>[^']+)'|can't load module (?<busybox>[^ ]+).*): (?:Unknown symbol in module|[Uu]nknown symbol in module, or unknown parameter|Module has wrong symbol version)",
        follows: REFUSED,
        says: "the module[ {module}][ {systemd}] does not fit the other modules, or got a parameter that it does not know",
        means: "It was built for other modules than those that are loaded, or its options in /etc/modprobe.d name something that this version lacks; `dmesg` says which.",
        act: "see `dmesg` for `Unknown symbol`, `disagrees about version` or `unknown parameter`: build the module again for this kernel and these modules (`dkms install --force`), reboot where newer ones are installed, or take the option out",
        sure: Sure::Guess,
        samples: &[
            "modprobe: ERROR: could not insert 'mlx5_ib': Unknown symbol in module, or unknown parameter (see dmesg)",
            "insmod: ERROR: could not insert module mlx5_ib.ko: Unknown symbol in module",
        ],
        ..KMOD
    },
    Cause {
        id: "modprobe.other_kernel",
        sign: "(?:could not insert(?: module)? '?(?<module>[^': ]+)'?|Failed to insert module '(?<systemd>[^']+)'|can't load module (?<busybox>[^ ]+).*): (?:Exec format error|[Ii]nvalid module format)",
        follows: REFUSED,
        says: "the module[ {module}][ {systemd}][ {busybox}] was built for another kernel",
        means: "Its version magic or its layout is not that of the running kernel; a damaged file gives the same words.",
        act: "compare `modinfo -F vermagic MODULE` with `uname -r`: install its package for the running kernel (`dkms autoinstall`), or reboot into the kernel that it was built for",
        samples: &[
            "modprobe: ERROR: could not insert 'nvidia': Exec format error",
            "insmod: ERROR: could not insert module nvidia.ko: Invalid module format",
        ],
        ..KMOD
    },
    Cause {
        id: "modprobe.no_gpu",
        sign: "could not insert(?: module)? '?(?<module>nvidia[^': ]*)'?: No such device",
        follows: REFUSED,
        apart: &[
            Apart {
                beside: &["nvidia.open_modules"],
                act: "install the driver's open kernel modules in place of the proprietary ones (packages `...-open`; `flavour: open` of the playbook `nvidia-driver`), then reboot",
            },
            Apart {
                beside: &["nvidia.legacy"],
                act: "install the branch of the driver that the kernel's message names, the last one for this GPU",
            },
            Apart {
                beside: &["nvidia.held", "nvidia.nova"],
                act: "`lspci -k` says which driver holds the GPU (nouveau, nova_core, vfio-pci): blacklist it, rebuild the initramfs and reboot",
            },
            Apart {
                beside: &["nvidia.off_the_bus"],
                act: "power-cycle the host: the GPU fell off the bus (check gpu.xid)",
            },
        ],
        says: "{module} found no GPU that it drives",
        means: "There is none on the PCI bus, another driver holds it (nouveau, nova_core, vfio-pci), it needs the open modules or an older branch, or it does not start; the kernel's lines with NVRM say which.",
        act: "see `dmesg | grep NVRM` and `lspci -nnk -d 10de:` for the devices and who drives them; a virtual machine without a passed-through GPU has none",
        remedy: Remedy::Look,
        sure: Sure::Guess,
        samples: &["modprobe: ERROR: could not insert 'nvidia': No such device"],
        ..KMOD
    },
    Cause {
        id: "modprobe.no_device",
        sign: "(?:could not insert(?: module)? '?(?<module>[^': ]+)'?|Failed to insert module '(?<systemd>[^']+)'|can't load module (?<busybox>[^ ]+).*): No such device",
        follows: REFUSED,
        says: "the module[ {module}][ {systemd}] found no device that it drives",
        means: "The hardware is not there, is off in the firmware setup, or another driver holds it. On a host without such hardware nothing is wrong.",
        act: "`lspci -nnk` on the host shows devices and who drives them; where the host should have none, take the module out of /etc/modules-load.d",
        remedy: Remedy::Look,
        samples: &[
            "modprobe: ERROR: could not insert 'mlx5_core': No such device",
            "Failed to insert module 'ipmi_si': No such device",
        ],
        ..KMOD
    },
    Cause {
        id: "modprobe.not_permitted",
        sign: "(?:could not insert(?: module)? '?(?<module>[^': ]+)'?|Failed to insert module '(?<systemd>[^']+)'|could not remove '?(?<removed>[^': ]+)'?): Operation not permitted",
        says: "this account or container may not load the module[ {module}][ {systemd}]",
        means: "Only root may, and in a container only one with the right to (CAP_SYS_MODULE); the kernel's lockdown or `modules_disabled` forbids it to root as well.",
        act: "load it on the host and as root; in a container leave it to the host; `sysctl kernel.modules_disabled` and `dmesg | grep -i lockdown` tell the rest",
        remedy: Remedy::Settings,
        samples: &["modprobe: ERROR: could not insert 'nvidia_uvm': Operation not permitted"],
        ..KMOD
    },
    Cause {
        id: "modprobe.busy",
        sign: "(?:could not insert(?: module)? '?(?<module>[^': ]+)'?|Failed to insert module '(?<systemd>[^']+)'): Device or resource busy",
        follows: REFUSED,
        says: "the device of the module[ {module}][ {systemd}] is taken",
        means: "Another driver or another instance holds what the module wants.",
        act: "`lspci -nnk` and `dmesg` say who holds it; unload or blacklist that driver",
        remedy: Remedy::Settings,
        samples: &["modprobe: ERROR: could not insert 'vfio_pci': Device or resource busy"],
        ..KMOD
    },
    Cause {
        id: "modprobe.no_memory",
        sign: "(?:could not insert(?: module)? '?(?<module>[^': ]+)'?|Failed to insert module '(?<systemd>[^']+)'): Cannot allocate memory",
        follows: REFUSED,
        says: "the kernel had no memory for the module[ {module}][ {systemd}]",
        means: "A parameter of the module asks for too much, the crash kernel is too small for it, or the kernel's memory is used up or in pieces.",
        act: "see `dmesg` and `free -h`; take large parameters out of /etc/modprobe.d",
        remedy: Remedy::Settings,
        sure: Sure::Guess,
        samples: &["modprobe: ERROR: could not insert 'mlx4_core': Cannot allocate memory"],
        ..KMOD
    },
    Cause {
        id: "modprobe.invalid",
        sign: "(?:could not insert(?: module)? '?(?<module>[^': ]+)'?|Failed to insert module '(?<systemd>[^']+)'|can't load module (?<busybox>[^ ]+).*): [Ii]nvalid (?:argument|parameters?)",
        follows: REFUSED,
        says: "the kernel did not take the module[ {module}][ {systemd}] or one of its parameters",
        means: "It does not fit the loaded modules, or an option in /etc/modprobe.d or on the command line has a wrong value.",
        act: "see `dmesg` for what it says of the module; `modprobe -c | grep MODULE` shows its options; else build it again for this kernel (`dkms install --force`)",
        sure: Sure::Guess,
        samples: &["modprobe: ERROR: could not insert 'mlx5_ib': Invalid argument"],
        ..KMOD
    },
    Cause {
        id: "modprobe.exists",
        sign: "could not insert(?: module)? '?(?<module>[^': ]+)'?: (?:File exists|Module already in kernel)",
        says: "{module} is loaded already",
        means: "The module, or one with the same name, is in the kernel.",
        counts: Counts::Note,
        remedy: Remedy::Look,
        samples: &["insmod: ERROR: could not insert module nvidia.ko: File exists"],
        ..KMOD
    },
    Cause {
        id: "modprobe.no_modules_of_kernel",
        sign: r"could not open (?:moddep|builtin|modinfo)[a-z ]* ?file '/(?:usr/)?lib/modules/(?<kernel>[^/']+)/|can't change directory to '(?:/lib/modules/)?(?<busybox>[0-9]+\.[0-9][^']*)': No such file",
        says: "the modules of the running kernel[ {kernel}][ {busybox}] are not on this system",
        means: "An upgrade removed them while that kernel runs, or this is a container or an initramfs that has the modules of another kernel.",
        act: "on a host reboot into a kernel that is installed (`ls /lib/modules`, `uname -r`); in a container load modules on the host",
        remedy: Remedy::Reset,
        samples: &[
            "modprobe: ERROR: ../libkmod/libkmod.c:586 kmod_search_moddep() could not open moddep file '/lib/modules/6.8.0-40-generic/modules.dep.bin'",
        ],
        ..KMOD
    },
    Cause {
        id: "modinfo.not_found",
        sign: r"modinfo: ERROR: (?:Module (?<module>\S+) not found|could not get modinfo from .(?<other>[^\' ]+))",
        role: Role::Effect,
        says: "there is no module [{module}][{other}] for this kernel",
        means: "It was not built or installed for the running kernel, or lies elsewhere below /lib/modules (updates/dkms, extra).",
        act: "`dkms status` and `find /lib/modules/$(uname -r) -name 'NAME*.ko*'`: build it for this kernel (`dkms autoinstall`) or ask modinfo by the bare name",
        sure: Sure::Likely,
        samples: &[
            "modinfo: ERROR: Module /usr/lib/modules/5.14.21-239-tkg/kernel/drivers/video/nvidia.ko not found.",
        ],
        ..KMOD
    },
    Cause {
        id: "modprobe.not_loaded",
        sign: "Module (?<module>[A-Za-z0-9_-]+) is not currently loaded|Module (?<builtin>[A-Za-z0-9_-]+) is builtin|modprobe: WARNING: Module (?<gone>[^ ]+) not found",
        says: "the module[ {module}][ {builtin}][ {gone}] is not loaded, or a part of the kernel itself",
        means: "Unloading was asked for something that is not there; scripts do that by habit.",
        counts: Counts::Note,
        remedy: Remedy::Look,
        samples: &[
            "rmmod: ERROR: Module nv_peer_mem is not currently loaded",
            "modprobe: FATAL: Module nvme is builtin.",
        ],
        ..KMOD
    },
    Cause {
        id: "modprobe.not_found_nvidia",
        sign: r"[Mm]odule (?<module>nvidia[a-z_-]*) not found(?: in directory /(?:usr/)?lib/modules/(?<kernel>[^ ]+)|\.|$)",
        follows: &["modprobe.no_modules_of_kernel"],
        says: "the running kernel[ {kernel}] has no module {module}",
        means: "The driver was built or installed for other kernels only: the kernel was upgraded and DKMS had no headers for it or did not build.",
        act: "`dkms status` says for which kernels it is built: install the headers of this kernel and `dkms autoinstall -k $(uname -r)` (the playbooks `kernel-headers` and `nvidia-driver`), or reboot into the kernel that has it; the check driver.next_kernel finds it before a reboot",
        samples: &[
            "modprobe: FATAL: Module nvidia not found in directory /lib/modules/6.8.0-45-generic",
            "modprobe: FATAL: Module nvidia not found.",
        ],
        ..KMOD
    },
    Cause {
        id: "modprobe.not_found",
        sign: r"[Mm]odule (?<module>[A-Za-z0-9_-]+) not found in (?:directory /(?:usr/)?lib/modules/(?<kernel>[^ ]+)|modules\.dep)|modprobe: (?:FATAL|ERROR): Module (?<plain>[A-Za-z0-9_-]+) not found\.",
        follows: &["modprobe.no_modules_of_kernel"],
        says: "the running kernel[ {kernel}] has no module[ {module}][ {plain}]",
        means: "Its package is not installed for this kernel, the name is wrong, or the kernel was upgraded and not booted yet.",
        act: "compare `uname -r` with `ls /lib/modules`; install its package (on Ubuntu linux-modules-extra-$(uname -r), on the RHEL family kernel-modules-extra; `more` of the playbook `kernel`) and for DKMS the headers of this kernel, or reboot into the kernel that it was built for",
        samples: &[
            "modprobe: FATAL: Module ib_ipoib not found in directory /lib/modules/6.8.0-1021-aws",
            "modprobe: module rdma_rxe not found in modules.dep",
        ],
        ..KMOD
    },
    Cause {
        id: "modprobe.in_use",
        sign: r"(?:Module (?<module>[A-Za-z0-9_-]+) is in use(?: by: (?<by>.+)|\.?)$|could not remove '?(?<removed>[^': ]+)'?: Resource temporarily unavailable|could not remove '?(?<busy>[^': ]+)'?: Device or resource busy)",
        says: "the module[ {module}][ {removed}][ {busy}] is in use[ by {by}]",
        means: "A program, a service or another module holds it, so it cannot be unloaded.",
        act: "for nvidia stop what `fuser -v /dev/nvidia*` names (nvidia-persistenced, dcgm, the fabric manager, containers) and unload nvidia_uvm, nvidia_drm, nvidia_modeset and nvidia_peermem first; for RDMA modules unmount and stop what uses the network (Lustre, NFS, opensm), or drain the host and reboot",
        remedy: Remedy::Settings,
        samples: &[
            "modprobe: FATAL: Module nvidia is in use.",
            "rmmod: ERROR: Module mlx5_core is in use by: mlx5_ib",
        ],
        ..KMOD
    },
    Cause {
        id: "modprobe.blocked",
        sign: "Error running install command '(?<command>[^']*)' for module (?<module>[^:]+): retcode",
        says: "a rule of /etc/modprobe.d keeps {module} from being loaded",
        means: "A line `install {module} {command}` replaces the loading of the module, often to block it.",
        act: "find it (`grep -r 'install {module}' /etc/modprobe.d /lib/modprobe.d`) and take it out where the module is wanted, then rebuild the initramfs",
        remedy: Remedy::Settings,
        sure: Sure::Confirmed,
        samples: &[
            "modprobe: ERROR: ../libkmod/libkmod-module.c:1047 command_do() Error running install command '/bin/false' for module nvidia: retcode 1",
        ],
        ..KMOD
    },
    Cause {
        id: "modprobe.bad_line",
        sign: r"(?<file>/(?:etc|usr/lib|lib|run)/(?:modprobe|depmod)\.d/[^ :]+)(?: line |:)(?<line>[0-9]+):? ignoring bad line starting with '(?<word>[^']*)'",
        says: "line {line} of {file} is no rule (`{word}`)",
        means: "modprobe passes the line over, so its option or block does nothing.",
        act: "correct or remove the line, then rebuild the initramfs",
        remedy: Remedy::Settings,
        counts: Counts::Warn,
        sure: Sure::Confirmed,
        samples: &[
            "libkmod: ERROR ../libkmod/libkmod-config.c:656 kmod_config_parse: /etc/modprobe.d/nvidia.conf line 3: ignoring bad line starting with 'NVreg_EnableStreamMemOPs'",
        ],
        ..KMOD
    },
    Cause {
        id: "depmod.symbols",
        sign: r"depmod: WARNING: (?<file>[^ ]*/(?<module>[A-Za-z0-9_-]+)\.ko[^ ]*) (?:needs unknown symbol|disagrees about version of symbol) (?<symbol>[^ ]+)",
        says: "{module} does not fit the other modules on disk ({symbol})",
        means: "It was built for other modules than those that are installed, and will not load.",
        act: "build it again for this kernel and these modules (`dkms install --force`), or remove the file that is left of an older package",
        samples: &[
            "depmod: WARNING: /lib/modules/5.14.0-362.el9.x86_64/extra/nvidia-peermem.ko needs unknown symbol ib_register_peer_memory_client",
        ],
        ..KMOD
    },
    Cause {
        id: "depmod.cycle",
        sign: "depmod: ERROR: (?:Cycle detected: (?<cycle>.+)|Found [0-9]+ modules in dependency cycles)",
        says: "modules on disk need each other in a circle[: {cycle}]",
        means: "Files of two stacks or two versions lie below /lib/modules, such as in-box modules and those of OFED; depmod then writes no order for them.",
        act: "see where they come from (`dpkg -S`, `rpm -qf` of each file): remove what is left of the older stack, then `depmod -a`",
        samples: &["depmod: ERROR: Cycle detected: ib_core -> mlx_compat -> ib_core"],
        ..KMOD
    },
    Cause {
        id: "insmod.no_file",
        sign: "could not load module (?<file>[^ :]+): No such file or directory",
        says: "there is no file {file}",
        means: "The module was not built, or the path is another one; insmod does not look in /lib/modules.",
        act: "build it, or load it by its name (`modprobe NAME`)",
        remedy: Remedy::Settings,
        sure: Sure::Confirmed,
        samples: &["insmod: ERROR: could not load module gdrdrv.ko: No such file or directory"],
        ..KMOD
    },
    Cause {
        id: "module.layout",
        sign: r"\.gnu\.linkonce\.this_module section size must match|exports duplicate symbol (?<symbol>[A-Za-z0-9_]+) \(owned by (?<owner>[^)]+)\)|Invalid relocation target, existing value is nonzero",
        says: "a module does not fit the running kernel[: {owner} has {symbol} already]",
        means: "It was built against other headers than those of this kernel, or two stacks with the same symbols (in-box and OFED) meet.",
        act: "build it again against the headers of exactly this kernel; keep one stack (`modinfo -n MODULE` says which file is loaded), then `depmod -a`, rebuild the initramfs and reboot",
        samples: &[
            "[   12.3] nvidia_peermem: exports duplicate symbol ib_register_peer_memory_client (owned by ib_core)",
        ],
        ..KERNEL_SOURCE
    },
    Cause {
        id: "module.taint",
        sign: r"loading out-of-tree module taints kernel|module license '[^']+' taints kernel|module verification failed: signature and/or required key missing - tainting|Problem loading X\.509 certificate|Disabling lock debugging due to kernel taint|BTF mismatch|failed to validate module \[[^\]]+\] BTF",
        says: "the kernel notes a module from outside of it",
        means: "The mark changes nothing: the module is loaded.",
        counts: Counts::Note,
        remedy: Remedy::Look,
        sources: &[seen("https://github.com/staralt/dxgkrnl-dkms/issues/7", "2025-03-12")],
        samples: &[
            "[    2.846803] nvidia: module verification failed: signature and/or required key missing - tainting kernel",
            "[    2.829492] nvidia: loading out-of-tree module taints kernel.",
        ],
        ..KERNEL_SOURCE
    },
    Cause {
        id: "secure_boot.not_signed",
        sign: "Failed to sign (?:precompiled )?kernel module|cannot sign [^ ]+ without the `sign-file`",
        says: "a module could not be signed",
        means: "The key or the tool for signing is not there. Without Secure Boot that does no harm.",
        act: "see `mokutil --sb-state`: with Secure Boot make the key (Ubuntu `update-secureboot-policy --new-key`, else `dkms generate_mok`) and enrol it (`mokutil --import`; the playbook `secure-boot`)",
        remedy: Remedy::Settings,
        counts: Counts::Warn,
        sources: &[seen("https://github.com/NVIDIA/nvidia-installer (kernel.c)", "2026-11-30")],
        samples: &["ERROR: Failed to sign precompiled kernel module nvidia.ko!"],
        ..KMOD
    },
    Cause {
        id: "secure_boot.sign_notes",
        sign: r"(?:sign-file|kmodsign): [^ ]+: No such file|SSL error:[0-9A-Fa-f]+:system library:.*No such file or directory|Warning: modules_install: missing 'System\.map' file",
        says: "modules are installed without a signature",
        means: "The kernel's own signing key is not here; that is so on all hosts that did not build the kernel, and does no harm without Secure Boot.",
        counts: Counts::Note,
        remedy: Remedy::Look,
        samples: &[
            "sign-file: certs/signing_key.pem: No such file or directory",
            "- SSL error:02001002:system library:fopen:No such file or directory: bss_file.c:175",
        ],
        ..KERNEL_SOURCE
    },
    // Stacks of modules.
    Cause {
        id: "openibd.failed",
        sign: r"(Loading HCA driver and Access Layer|Unloading HCA driver): *\[FAILED\]|Unloading (?<module>[a-z0-9_]+) *\[FAILED\]|Please run /etc/init\.d/openibd|openibd: ERROR",
        role: Role::Effect,
        says: "openibd could not change the RDMA modules[: {module} stays]",
        means: "A module is in use (Lustre, NFS over RDMA, opensm, containers) or does not fit the kernel; the lines before say which.",
        act: "stop what uses the cards and run it again, or drain the host and reboot, which takes the new modules as well",
        remedy: Remedy::Reset,
        sources: &[seen("MLNX_OFED: mlnxofedinstall (install.pl)", "2026-11-30")],
        samples: &["Loading HCA driver and Access Layer:                       [FAILED]"],
        ..KMOD
    },
    // kmod in general.
    Cause {
        id: "modprobe.error",
        sign: "(?:could not insert(?: module)? '?(?<module>[^': ]+)'?|Failed to insert module '(?<systemd>[^']+)'): (?<why>.+)",
        role: Role::Effect,
        says: "the kernel did not take the module[ {module}][ {systemd}]: {why}",
        means: "modprobe says little; the kernel's log says why.",
        act: "see `dmesg | tail` for its own words about the module",
        remedy: Remedy::Look,
        sure: Sure::Guess,
        samples: &["modprobe: ERROR: could not insert 'nvidia_drm': Input/output error"],
        ..KMOD
    },
    Cause {
        id: "modprobe.fatal",
        sign: "(?:modprobe|insmod|rmmod): (?:FATAL|ERROR): (?<what>.+)",
        role: Role::Effect,
        says: "{what}",
        means: "modprobe stopped.",
        act: "see `dmesg | tail`, and `modprobe -v MODULE` for what it does",
        remedy: Remedy::Look,
        sure: Sure::Guess,
        samples: &["modprobe: ERROR: missing parameters. See -h."],
        ..KMOD
    },
];
