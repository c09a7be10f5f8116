//! NCCL: its warnings, its networks and the plugins of these.

use super::super::cause::{Apart, Cause, Counts, Remedy, Role, Source, Sure, TOOL, seen};

/// Causes that end a process: where one of these is said, that others lost it is no cause.
pub(super) const DEATHS: &[&str] = &[
    "cuda.out_of_memory",
    "cuda.out_of_memory_shared",
    "cuda.out_of_memory_fragments",
    "cuda.illegal_address",
    "cuda.misaligned",
    "cuda.illegal_instruction",
    "cuda.assert",
    "cuda.launch_failed",
    "cuda.launch_timeout",
    "cuda.ecc",
    "cuda.nvlink",
    "cuda.contained",
    "cuda.no_kernel_image",
    "cuda.no_device",
    "cuda.not_initialized",
    "cuda.driver_mismatch",
    "cuda.forward_compatibility",
    "cuda.driver_too_old",
    "cuda.ordinal",
    "cuda.busy",
    "nccl.shm_full",
    "nccl.shm_open_files",
    "nccl.open_files",
    "nccl.threads",
    "nccl.duplicate_gpu",
    "nccl.version_mismatch",
    "nccl.collective_mismatch",
    "nccl.memlock",
    "nccl.register_gpu_memory",
    "nccl.modify_qp_timeout",
    "nccl.modify_qp_invalid",
    "nccl.modify_qp_unreachable",
    "nccl.modify_qp_no_device",
    "nccl.nvls",
    "nccl.nvls_state",
    "nccl.nvls_other",
    "nccl.imex",
    "nccl.port_down",
    "nccl.interface_missing",
    "nccl.bridge_address",
    "nccl.wrong_magic",
    "nccl.ofi_insert_address",
    "nccl.ofi_unresponsive",
    "torch.killed",
    "torch.segfault",
    "torch.bus_error",
    "torch.stopped",
    "torch.dataloader_shm",
    "torch.dataloader_killed",
    "torch.signal_exit",
    "torch.collective_mismatch",
    "torch.shm_full",
    "torch.open_files",
    "torch.unused_parameters",
    "torch.parameters_differ",
    "torch.store_port_taken",
    "torch.no_gpus",
    "torch.nan",
    "torch.rank_exception",
    "vllm.memory_in_use",
    "vllm.cache",
    "ray.memory",
    "oom.host",
    "oom.group",
    "oom.none_left",
    "xid.off_the_bus",
    "xid.grave",
    "xid.memory",
    "xid.contained",
    "xid.gsp",
    "xid.nvlink",
    "xid.nvlink5",
    "xid.nvlink5_fatal",
    "xid.program",
    "xid.follows",
    "xid.follows_grave",
    "xid.repair_failed",
    "sxid.fatal",
];

/// Causes that cut off a path of InfiniBand or RoCE.
const LINKS: &[&str] = &[
    "nccl.port_down",
    "mlx5.cable_unplugged",
    "mlx5.cable_error",
    "mlx5.hot",
    "mlx5.health",
    "mlx5.health_grave",
    "mlx5.health_hot",
    "mlx5.health_pcie",
    "mlx5.compromised",
    "net.tx_timeout",
];

/// Consequences of a failure: where one is said, what NCCL goes on without is not in front.
const ENDED: &[&str] = &[
    "nccl.peer_closed",
    "nccl.proxy",
    "nccl.refused",
    "nccl.cuda",
    "nccl.flushed",
    "nccl.receiver_not_ready",
    "nccl.completion",
    "nccl.event",
    "nccl.verbs_call",
    "torch.watchdog",
    "torch.watchdog_start",
    "torch.heartbeat",
    "torch.remote_abort",
    "torch.store_lost",
    "torch.store_wait",
    "torch.store_get_id",
    "torch.rendezvous_lost",
    "torch.gloo",
    "torch.exception",
];

/// Causes that keep SHARP from starting, and graver ones.
const SHARP_WHY: &[&str] = &[
    "nccl.sharp_no_manager",
    "nccl.sharp_no_resource",
    "nccl.sharp_port_used",
    "nccl.peer_closed",
    "nccl.proxy",
    "nccl.refused",
    "nccl.cuda",
    "torch.watchdog",
    "torch.store_lost",
];

const SOURCE: &[Source] = &[seen("https://github.com/NVIDIA/nccl (src)", "2026-11-30")];
const VERBS: &[Source] = &[
    seen("https://github.com/NVIDIA/nccl (src/misc/ibvwrap.cc)", "2026-11-30"),
    seen("https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/troubleshooting.html", "2026-11-30"),
];
const IB: &[Source] = &[
    seen("https://github.com/NVIDIA/nccl (src/transport/net_ib)", "2026-11-30"),
    seen("https://github.com/linux-rdma/rdma-core (libibverbs/verbs.h)", "2026-11-30"),
];
const SOCKET: &[Source] = &[seen("https://github.com/NVIDIA/nccl (src/misc/socket.cc)", "2026-11-30")];
const SHM: &[Source] = &[
    seen("https://github.com/NVIDIA/nccl (src/misc/shmutils.cc)", "2026-11-30"),
    seen("https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/troubleshooting.html", "2026-11-30"),
];
const OFI: &[Source] = &[seen("https://github.com/aws/aws-ofi-nccl (src)", "2026-11-30")];

const NCCL: Cause = Cause { sources: SOURCE, remedy: Remedy::Settings, ..TOOL };
const EFFECT: Cause = Cause { role: Role::Effect, sure: Sure::Guess, remedy: Remedy::Look, ..NCCL };
const NOTE: Cause = Cause { counts: Counts::Note, remedy: Remedy::Look, ..NCCL };

const FIRST_RANK: &str = "find the rank that ended first, and its own error (a traceback, a segmentation fault, out of memory, a kill, a Xid in the kernel's log): it stands on another host or earlier in the log; nothing is wrong with the network for this line alone";
const MORE_SHM: &str = "give the container more /dev/shm: Docker `--shm-size=8g` or `--ipc=host`; Kubernetes an emptyDir with `medium: Memory` on /dev/shm; on a host `df -h /dev/shm` and remove files of ended jobs";
const RIGHT_GID: &str = "compare `show_gids` of both hosts: RoCE needs the index of the RoCE v2 GID of the routed address, mostly 3, the same on each (`NCCL_IB_GID_INDEX`, or leave it out with NCCL 2.21 and newer); then test that index with `ib_write_bw -x`, and `NCCL_CROSS_NIC=0` where rails are networks of their own";
const SAME_EVERYWHERE: &str = "compare the version of NCCL and all NCCL_ variables over the ranks, and whether all of them call the same collective with the same size and type; it is no fault of the network";
const FABRIC: &str = "look at driver.fabric_manager and `nvidia-smi -q` (Fabric: State has to be Completed, Status Success); after the fabric manager was restarted or updated, stop the jobs and reset all GPUs of the host together (`nvidia-smi -r`), or reboot; NCCL_NVLS_ENABLE=0 goes round it until then";

pub(in crate::causes) const ROWS: &[Cause] = &[
    // Shared memory.
    Cause {
        id: "nccl.shm_full",
        sign: "NCCL WARN (Error: failed to extend /dev/shm/|Error: Could not map /dev/shm/|Error while (creating|attaching to) shared memory segment |Call to (posix_)?fallocate failed).*No space left on device",
        says: "/dev/shm is too small for NCCL",
        means: "NCCL keeps its buffers between the GPUs of a host in /dev/shm, and that is full. Containers have 64 MB of it by default.",
        act: MORE_SHM,
        sure: Sure::Confirmed,
        sources: SHM,
        samples: &[
            "[0] misc/shmutils.cc:88 NCCL WARN Error: failed to extend /dev/shm/nccl-WU88OE to 9637892 bytes, error: No space left on device (28)",
            "gpu0:31:98 [1] include/shm.h:28 NCCL WARN Call to posix_fallocate failed : No space left on device",
        ],
        ..NCCL
    },
    Cause {
        id: "nccl.shm_handle",
        sign: "NCCL WARN Error while attaching to shared memory segment /dev/shm/nccl- ",
        says: "ranks of this host do not agree how they share memory",
        means: "One rank shares host memory by handles of CUDA (cuMem), the other one takes the handle for a file in /dev/shm. Its size is not the matter.",
        act: "set `NCCL_CUMEM_HOST_ENABLE=0` for all ranks, then look why NUMA nodes of the container or host differ (`numactl --hardware` inside)",
        sources: &[
            seen("https://github.com/NVIDIA/nccl/issues/2190", "2026-09-03"),
            seen("https://github.com/vllm-project/vllm/issues/18831", "2025-05-28"),
        ],
        samples: &[
            "NCCL WARN Error while attaching to shared memory segment /dev/shm/nccl- (size 192814336), error: No such file or directory (2)",
        ],
        ..NCCL
    },
    Cause {
        id: "nccl.shm_open_files",
        sign: "NCCL WARN (Error|Call to).*(shared memory|shm).*Too many open files",
        says: "a process of NCCL may open too few files",
        means: "The limit of open files (nofile) of the job is too low for its shared memory and sockets.",
        act: "raise nofile for the job: the playbook `limits`, `--ulimit nofile=1048576` for Docker, LimitNOFILE of slurmd for Slurm; job.nofile shows what a job has",
        sure: Sure::Confirmed,
        samples: &[
            "gpu0:31:98 [1] misc/shmutils.cc:73 NCCL WARN Error: failed to create shared memory file /dev/shm/nccl-aBcDeF, error Too many open files (24)",
        ],
        ..NCCL
    },
    Cause {
        id: "nccl.shm_permission",
        sign: "NCCL WARN (Error|Call to).*(/dev/shm|shm_open|shared memory).*(Permission denied|Read-only file system|Operation not permitted)",
        says: "NCCL may not use /dev/shm",
        means: "The process cannot make or open its file in /dev/shm.",
        act: "`ls -ld /dev/shm` has to say drwxrwxrwt for the job's account: mount a writable tmpfs there (mode 1777); files of another account with the same name are left from an older job and can be removed",
        sources: SHM,
        samples: &[
            "gpu0:31:98 [1] misc/shmutils.cc:73 NCCL WARN Error: failed to create shared memory file /dev/shm/nccl-aBcDeF, error Permission denied (13)",
        ],
        ..NCCL
    },
    Cause {
        id: "nccl.shm_not_shared",
        sign: "NCCL WARN Error while attaching to shared memory segment (?<file>/dev/shm/nccl-[^ ]+|nccl-[^ ]+).*No such file or directory",
        says: "ranks of one host do not see the same /dev/shm",
        means: "NCCL takes two ranks for neighbours, but the file of the one is not there for the other: they are in containers without a common IPC namespace, or the first rank ended before.",
        act: "look first whether the other rank ended earlier; otherwise run both with `--ipc=host` (or one container for all GPUs), or set another NCCL_HOSTID in each container",
        sure: Sure::Guess,
        follows: DEATHS,
        sources: SHM,
        samples: &[
            "gpu0:77:201 [3] misc/shmutils.cc:132 NCCL WARN Error while attaching to shared memory segment /dev/shm/nccl-Qw3rTy (size 9637888), error: No such file or directory (2)",
        ],
        ..NCCL
    },
    Cause {
        id: "nccl.shm",
        sign: "NCCL WARN (Error: failed to (extend|create shared memory file) /dev/shm/|Error: Could not map|Error while (creating|attaching to) shared memory segment )",
        says: "NCCL could not make or open shared memory",
        means: "This version does not say why. Mostly /dev/shm is too small, in containers 64 MB.",
        act: MORE_SHM,
        sure: Sure::Guess,
        follows: &["nccl.shm_full", "nccl.shm_open_files", "nccl.shm_permission", "nccl.shm_handle"],
        sources: SHM,
        samples: &[
            "gpu0:31:98 [1] include/shm.h:48 NCCL WARN Error while creating shared memory segment nccl-shm-send-84f1-0-1-0 (size 9637888)",
            "gpu0:31:98 [1] misc/shmutils.cc:72 NCCL WARN Error: failed to extend /dev/shm/nccl-aBcDeF to 33030532 bytes",
        ],
        ..NCCL
    },
    Cause {
        id: "nccl.cumem_host",
        sign: r"transport/shm\.cc:[0-9]+ NCCL WARN Cuda failure (217|.*'peer access is not supported)",
        says: "sharing host memory by cuMem fails on this host",
        means: "NCCL 2.24 and newer share host memory through CUDA, which some drivers refuse for GPUs that do not reach each other. It is no fault of the GPUs.",
        act: "set `NCCL_CUMEM_HOST_ENABLE=0` until a newer NCCL or driver is in use",
        sources: &[seen("https://github.com/NVIDIA/nccl/issues/1838", "2025-09-10")],
        samples: &[
            "pod-0:774:854 [0] transport/shm.cc:590 NCCL WARN Cuda failure 217 'peer access is not supported between these two devices'",
        ],
        ..NCCL
    },
    // NVLink multicast and fabrics.
    Cause {
        id: "nccl.nvls_memory",
        sign: r"(transport/nvls\.cc:[0-9]+ NCCL WARN Cuda failure|Failed to bind NVLink SHARP \(NVLS\) Multicast memory).*'out of memory'",
        says: "NVLS found no memory for its buffers",
        means: "The GPU, or the multicast memory of the NVSwitches, is used up: many communicators of one job, or another job on the same GPUs.",
        act: "`nvidia-smi` says what uses the GPU; leave the job more GPU memory or fewer communicators, or set NCCL_NVLS_ENABLE=0",
        samples: &["node23:12:45 [2] transport/nvls.cc:244 NCCL WARN Cuda failure 2 'out of memory'"],
        ..NCCL
    },
    Cause {
        id: "nccl.nvls_state",
        sign: r"(transport/nvls\.cc:[0-9]+ NCCL WARN Cuda failure|Failed to bind NVLink SHARP \(NVLS\) Multicast memory).*(401|'the operation cannot be performed in the present state'|'system not yet initialized')",
        says: "NVLink multicast (NVLS) is not set up on this host",
        means: "The fabric manager does not run, has not finished, or is not of the driver's version, so the NVSwitches know no multicast.",
        act: "look at driver.fabric_manager and `systemctl status nvidia-fabricmanager`: start it (the playbook `fabric-manager`); `nvidia-smi -q` has to say Fabric State Completed; where it was restarted under running GPUs, reset all GPUs together or reboot; NCCL_NVLS_ENABLE=0 goes round it until then",
        sources: &[
            seen("https://github.com/pytorch/ci-infra/pull/541", "2026-05-07"),
            seen("https://github.com/NVIDIA/nccl (src/transport/nvls.cc)", "2026-11-30"),
        ],
        samples: &[
            "node23:12098:12141 [2] transport/nvls.cc:158 NCCL WARN Failed to bind NVLink SHARP (NVLS) Multicast memory of size 2097152 : CUDA error 401 'the operation cannot be performed in the present state'.",
        ],
        ..NCCL
    },
    Cause {
        id: "nccl.nvls",
        sign: r"(transport/nvls\.cc:[0-9]+ NCCL WARN Cuda failure|Failed to bind NVLink SHARP \(NVLS\) Multicast memory).*('invalid argument'|'invalid device ordinal')",
        says: "NVLink multicast (NVLS) does not work",
        means: "The NVSwitches are not set up for multicast any more: mostly the fabric manager was restarted or updated without a reset of the GPUs.",
        act: FABRIC,
        remedy: Remedy::Reset,
        sources: &[
            seen("https://github.com/NVIDIA/nccl/issues/1488", "2024-10-21"),
            seen("https://github.com/NVIDIA/nccl/issues/976", "2023-08-29"),
        ],
        samples: &[
            "node23:12098:12141 [2] transport/nvls.cc:244 NCCL WARN Cuda failure 1 'invalid argument'",
        ],
        ..NCCL
    },
    Cause {
        id: "nccl.nvls_other",
        sign: r"transport/nvls\.cc:[0-9]+ NCCL WARN Cuda failure|Failed to bind NVLink SHARP \(NVLS\) Multicast memory",
        says: "NVLink multicast (NVLS) cannot be used",
        means: "The fabric manager did not set it up, or this place cannot have it: a virtual machine, MIG, a container with a part of the GPUs only.",
        act: "look at driver.fabric_manager and the Fabric lines of `nvidia-smi -q`; NCCL_NVLS_ENABLE=0 goes round it",
        sure: Sure::Guess,
        samples: &[
            "node23:12098:12141 [2] transport/nvls.cc:158 NCCL WARN Cuda failure 801 'operation not supported'",
        ],
        ..NCCL
    },
    Cause {
        id: "nccl.imex",
        sign: r"NCCL WARN MNNVL \(cliqueSize [0-9]+\) is available but not working",
        says: "the NVLink of several hosts (MNNVL) does not work for want of IMEX",
        means: "The GPUs share one NVLink fabric, but memory cannot be handed between hosts: no IMEX channel, or the IMEX daemon is not ready on each host.",
        act: "`nvidia-imex-ctl -N` has to say READY for all hosts; `/dev/nvidia-caps-imex-channels/channel0` has to be there for the job's account, in containers too; NCCL_MNNVL_ENABLE=0 goes round it, over the network",
        sure: Sure::Confirmed,
        sources: &[seen("https://github.com/NVIDIA/nccl (src/mnnvl.cc)", "2026-11-30")],
        samples: &[
            "NCCL WARN MNNVL (cliqueSize 8) is available but not working on this system. Check the IMEX channel configuration (/dev/nvidia-caps-imex-channels). Set NCCL_MNNVL_ENABLE=0 to ignore this issue.",
        ],
        ..NCCL
    },
    Cause {
        id: "nccl.imex_permission",
        sign: "NCCL WARN Cuda failure (800 )?'operation not permitted'",
        says: "CUDA may not share memory",
        means: "On hosts with NVSwitch or several hosts with one NVLink the IMEX channel is missing or may not be read; in other containers a syscall is forbidden.",
        act: "look at `ls -l /dev/nvidia-caps-imex-channels` inside of the job: channel0 has to be there and readable; without such a fabric set `NCCL_CUMEM_ENABLE=0`",
        sure: Sure::Guess,
        sources: &[
            seen("https://github.com/microsoft/mscclpp/issues/467", "2025-02-24"),
            seen(
                "https://docs.nvidia.com/multi-node-nvlink-systems/imex-guide/imexchannels.html",
                "2026-11-30",
            ),
        ],
        samples: &[
            "gpu0:31:98 [1] transport/p2p.cc:275 NCCL WARN Cuda failure 800 'operation not permitted'",
        ],
        ..NCCL
    },
    Cause {
        id: "nccl.p2p_disabled",
        sign: "NCCL WARN P2P is disabled between NVLINK connected GPUs (?<one>[0-9]+) and (?<other>[0-9]+)",
        says: "GPUs {one} and {other} have an NVLink and may not use it",
        means: "The driver says that peer access is off although there is an NVLink: a link is down, the fabric is not set up, or a container shows only a part.",
        act: "`nvidia-smi nvlink -s` and `nvidia-smi topo -p2p r` on the host say which; then look at the fabric manager and at the Xids of the kernel's log; NCCL_IGNORE_DISABLED_P2P=1 only goes on without it",
        remedy: Remedy::Look,
        sure: Sure::Guess,
        samples: &[
            "gpu0:31:98 [1] graph/paths.cc:322 NCCL WARN P2P is disabled between NVLINK connected GPUs 1 and 0. This should not be the case given their connectivity, and is probably due to a hardware issue.",
        ],
        ..NCCL
    },
    Cause {
        id: "nccl.p2p_mapping",
        sign: "NCCL WARN (failed to peer with device (?<device>[0-9]+).*|Cuda failure.*')(peer mapping resources exhausted|mapping of buffer object failed|invalid resource handle|invalid device context)",
        says: "a GPU could not map the memory of another one",
        means: "Peer memory over PCIe or NVLink could not be opened: the container sees only some of the GPUs, the IPC namespaces differ, or another process ended.",
        act: "look first whether another rank ended earlier; run all GPUs of a host in one container with `--ipc=host`; compare with `NCCL_P2P_DISABLE=1` to know that it is this",
        sure: Sure::Guess,
        follows: DEATHS,
        samples: &[
            "gpu0:31:98 [1] transport/p2p.cc:240 NCCL WARN failed to peer with device 3(=8a000): 711 peer mapping resources exhausted",
            "gpu0:31:98 [1] transport/p2p.cc:275 NCCL WARN Cuda failure 'mapping of buffer object failed'",
        ],
        ..NCCL
    },
    Cause {
        id: "nccl.no_transport",
        sign: r"NCCL WARN (No transport found for rank|Rank [0-9]+ has no transport for|\[[0-9]+\] Error no transport for)",
        says: "two ranks have no way to each other",
        means: "Neither NVLink, PCIe, shared memory nor a network is left for them: mostly several NCCL_..._DISABLE at once, or a missing network.",
        act: "look for NCCL_P2P_DISABLE, NCCL_SHM_DISABLE, NCCL_IB_DISABLE and NCCL_NET in the environment and in /etc/nccl.conf, then at the lines of NET before",
        samples: &[
            "gpu0:31:98 [0] transport.cc:68 NCCL WARN No transport found for rank 0[8a000] -> rank 1[8b000]",
        ],
        ..NCCL
    },
    // Ranks that do not fit.
    Cause {
        id: "nccl.duplicate_gpu",
        sign: "Duplicate GPU detected : rank (?<one>[0-9]+) and rank (?<other>[0-9]+) both on CUDA device (?<device>[0-9a-f]+)",
        says: "ranks {one} and {other} use the same GPU",
        means: "Two processes chose one GPU. NCCL wants one for each rank.",
        act: "set the device by the local rank (`torch.cuda.set_device(int(os.environ.get('LOCAL_RANK')))`), start no more processes than GPUs on a host, and look at CUDA_VISIBLE_DEVICES; ranks of two hosts get there when both have the same host id (NCCL_HOSTID, cloned hosts)",
        sure: Sure::Confirmed,
        samples: &[
            "gpu0:31:98 [0] init.cc:795 NCCL WARN Duplicate GPU detected : rank 1 and rank 0 both on CUDA device 8a000",
        ],
        ..NCCL
    },
    Cause {
        id: "nccl.rank_on_same_partition",
        sign: "NCCL WARN Multiple Ranks are using the same GPU/Partition",
        says: "several ranks use the same GPU",
        means: "Two processes chose one GPU or one part of it. NCCL wants one for each rank.",
        act: "set the device by the local rank, and start no more processes than GPUs on a host",
        sure: Sure::Confirmed,
        samples: &[
            "gpu0:31:98 [0] init.cc:1233 NCCL WARN Multiple Ranks are using the same GPU/Partition. Set NCCL_MULTI_RANK_GPU_ENABLE=1 to enable this configuration.",
        ],
        ..NCCL
    },
    Cause {
        id: "nccl.version_mismatch",
        sign: "NCCL WARN (Mismatched NCCL version detected : rank (?<one>[0-9]+) version (?<version>[0-9]+) rank (?<other>[0-9]+) version (?<different>[0-9]+)|NCCL version mismatch)",
        says: "ranks use different versions of NCCL[: {version} on rank {one}, {different} on rank {other}]",
        means: "All ranks of a job need the same NCCL.",
        act: "use one image or one environment on all hosts; LD_LIBRARY_PATH, LD_PRELOAD or the pip package nvidia-nccl may bring another one in on a host",
        remedy: Remedy::Install,
        sure: Sure::Confirmed,
        samples: &[
            "gpu0:31:98 [0] init.cc:1011 NCCL WARN Mismatched NCCL version detected : rank 1 version 22005 rank 0 version 21805",
        ],
        ..NCCL
    },
    Cause {
        id: "nccl.collective_mismatch",
        sign: "NCCL WARN NET/[A-Za-z]+ ?: .*(collective mismatch error|message truncated : receiving|posted incorrect receive info)",
        says: "ranks exchange messages of different sizes",
        means: "One rank sends another collective, size or protocol than the other one expects: a program or environment that differs between ranks.",
        act: SAME_EVERYWHERE,
        sources: &[
            seen("https://github.com/NVIDIA/nccl/issues/969", "2023-08-21"),
            seen("https://github.com/NVIDIA/nccl (src/transport)", "2026-11-30"),
        ],
        samples: &[
            "host-10:1307:1586 [0] transport/net_ib.cc:1038 NCCL WARN NET/IB : req 0/1 tag 0 peer 192.0.2.6<58683> collective mismatch error, local size 496640 remote size 65536",
            "gpu0:1:2 [0] transport/net_socket.cc:493 NCCL WARN NET/Socket : peer 192.0.2.6<58683> message truncated : receiving 1048576 bytes instead of 65536. If you believe your socket network is in healthy state, there may be a mismatch in collective sizes or environment settings (e.g. NCCL_PROTO, NCCL_ALGO) between ranks",
        ],
        ..NCCL
    },
    Cause {
        id: "nccl.empty_address",
        sign: r"(Net ?: |ncclSocketInit: )?connecting to address +with family [0-9]+ is neither",
        near: &["NCCL_SOCKET_IFNAME set (by environment )?to (?<interface>[^ ]+)"],
        says: "a rank gave no address for the start of NCCL[ (NCCL_SOCKET_IFNAME={interface})]",
        means: "The address is empty: NCCL_SOCKET_IFNAME names an interface that this or another host does not have, or what rank 0 sent did not arrive whole (another version of NCCL, a process of an older job).",
        act: "`ip -br addr` on every host for the interface that NCCL_SOCKET_IFNAME names: correct or unset it; where it is right everywhere compare the versions of NCCL and end processes of older jobs",
        sources: &[seen("https://github.com/NVIDIA/nccl (src/misc/socket.cc)", "2026-11-30")],
        samples: &[
            "h100-4:7:9 [1] misc/socket.cc:397 NCCL WARN Net : connecting to address  with family 33621 is neither AF_INET(2) nor AF_INET6(10)",
            "ncclSocketInit: connecting to address  with family 59936 is neither AF_INET(2) nor AF_INET6(10)",
        ],
        ..NCCL
    },
    Cause {
        id: "nccl.bootstrap_mismatch",
        sign: "NCCL WARN (Message truncated : received [0-9,]+ bytes instead of|Bootstrap Root : mismatch in|Bootstrap Root : rank [0-9]+ of [0-9]+ ranks has already checked in|Bootstrap Root : localId|(Net : |ncclSocketInit: )connecting to address [^ ]+ with family [0-9]+ is neither|Net : Socket creation failed : Address family not supported)",
        says: "ranks that do not belong together met at the start",
        means: "Ranks have another number of ranks, another version of NCCL or the same rank twice: often processes of an older job that still run, two jobs with one NCCL_COMM_ID or port, or an id of NCCL that did not come over from rank 0.",
        act: "end processes of earlier jobs on all hosts, give each job its own port and id, and compare NCCL and the number of ranks over the hosts",
        samples: &[
            "gpu0:31:98 [0] bootstrap.cc:73 NCCL WARN Message truncated : received 1024 bytes instead of 256",
            "gpu0:31:98 [0] bootstrap.cc:131 NCCL WARN Bootstrap Root : rank 1 of 16 ranks has already checked in",
        ],
        ..NCCL
    },
    Cause {
        id: "nccl.nic_counts_differ",
        sign: r"NCCL WARN (Detected mixed local (Net|CollNet) device counts across ranks \(min (?<min>[0-9]+), max (?<max>[0-9]+)\)|Rank [0-9]+ requires NIC [0-9]+ but that NIC is not available)",
        says: "hosts have different network cards for NCCL[: {min} and {max}]",
        means: "A card is missing or down on a host, or NCCL_IB_HCA differs between hosts.",
        act: "compare the line `NET/IB : Using` of all hosts, then `ibstat` on the host with fewer: a port that is down, a card that is gone, or another NCCL_IB_HCA",
        sure: Sure::Confirmed,
        samples: &[
            "gpu0:31:98 [0] init.cc:1400 NCCL WARN Detected mixed local Net device counts across ranks (min 7, max 8). Set NCCL_IGNORE_NET_MISMATCH=1 to continue.",
        ],
        ..NCCL
    },
    Cause {
        id: "nccl.link_layers",
        sign: "NCCL WARN NET/IB : (Attempted to (connect|merge) incompatible devices|Can't merge net devices with different link_layer|Remote [A-Z]+[a-z]* device is incompatible)",
        says: "NCCL mixes InfiniBand and Ethernet cards",
        means: "A card of the one kind cannot reach one of the other kind. Without NCCL_IB_HCA all cards with RDMA are taken.",
        act: "name the cards of one kind in NCCL_IB_HCA, the same on all hosts",
        sure: Sure::Confirmed,
        sources: IB,
        samples: &[
            "gpu0:31:98 [0] transport/net_ib.cc:1211 NCCL WARN NET/IB : Attempted to connect incompatible devices: [1]mlx5_1:1/IB and [0]mlx5_0:1/RoCE. Try selecting NICs of only one link type using NCCL_IB_HCA",
        ],
        ..NCCL
    },
    // Calls of libibverbs.
    Cause {
        id: "nccl.memlock",
        sign: "Call to ibv_(reg_mr|reg_mr_iova2|reg_dmabuf_mr|create_cq|create_qp|alloc_pd) failed( with error)?( :)? ?Cannot allocate memory",
        says: "the job may lock too little memory for RDMA",
        means: "RDMA locks its buffers, and the limit of locked memory (memlock) of the job is too low.",
        act: "`ulimit -l` inside of the job has to say unlimited: the playbook `limits`, LimitMEMLOCK=infinity of slurmd or the container's daemon, `--ulimit memlock=-1` for Docker; job.memlock shows what a job has",
        sources: VERBS,
        samples: &[
            "gpu0:31:98 [1] misc/ibvwrap.cc:250 NCCL WARN Call to ibv_reg_mr failed with error Cannot allocate memory",
            "gpu0:31:98 [1] misc/ibvwrap.cc:190 NCCL WARN Call to ibv_create_cq failed with error Cannot allocate memory",
        ],
        ..NCCL
    },
    Cause {
        id: "nccl.gdr_disabled",
        sign: "NET/(IB|gIB|IBext[_v0-9]*) ?: GPU Direct RDMA Disabled for HCA [0-9]+ '(?<card>[^']+)'",
        counts: Counts::Warn,
        says: "NCCL copies through the host's memory, as GPUDirect RDMA is off for {card}",
        means: "The card cannot reach GPU memory: nvidia_peermem is not loaded or does not fit the RDMA stack, and DMA-BUF is not offered. Jobs run, and more slowly.",
        act: "look at rdma.gdr_ready: load `nvidia_peermem` (the playbook `peermem`) or use the open kernel modules for DMA-BUF; in containers /sys and the same driver have to be visible",
        follows: ENDED,
        sources: &[
            seen("https://github.com/NVIDIA/nccl/issues/1537", "2024-12-09"),
            seen("https://github.com/NVIDIA/nccl/issues/1939", "2025-12-18"),
        ],
        samples: &[
            "hostname1:25668:27396 [0] NCCL INFO NET/IB : GPU Direct RDMA Disabled for HCA 0 'mlx5_0'",
        ],
        ..NCCL
    },
    Cause {
        id: "nccl.memlock_old",
        sign: "NCCL WARN Call to ibv_(?<call>create_cq|create_qp|alloc_pd|reg_mr) failed *$",
        says: "ibv_{call} failed",
        means: "This version does not say why. Mostly the limit of locked memory (memlock) of the job is too low; for reg_mr it can be GPU memory without nvidia_peermem.",
        act: "`ulimit -l` inside of the job has to say unlimited (the playbook `limits`, LimitMEMLOCK=infinity of slurmd or the container's daemon, `--ulimit memlock=-1`, IPC_LOCK in the pod); then look at rdma.gdr_ready",
        sure: Sure::Guess,
        follows: &["nccl.memlock"],
        sources: &[
            seen("https://github.com/NVIDIA/nccl/issues/562", "2021-09-01"),
            seen("https://github.com/Mellanox/k8s-rdma-sriov-dev-plugin/issues/29", "2020-03-19"),
        ],
        samples: &["hai-a100-3:3778851:3779883 [4] ibvwrap.c:130 NCCL WARN Call to ibv_create_qp failed"],
        ..NCCL
    },
    Cause {
        id: "nccl.register_gpu_memory",
        sign: "NCCL WARN Call to ibv_(reg_mr|reg_mr_iova2|reg_dmabuf_mr|reg_mr_iova) failed with error (?<error>Bad address|Invalid argument|Operation not supported|Operation not permitted|Unknown error)",
        says: "the network card cannot register GPU memory: {error}",
        means: "GPUDirect RDMA does not work here: nvidia_peermem is not loaded or does not fit the RDMA stack, or DMA-BUF is not supported by the driver, kernel or card.",
        act: "look at rdma.gdr_ready: load `nvidia_peermem` (the playbook `peermem`) or use a driver with open modules for DMA-BUF; NCCL_NET_GDR_LEVEL=0 shows whether it is this, and is slower",
        sources: VERBS,
        samples: &[
            "gpu0:31:98 [1] misc/ibvwrap.cc:262 NCCL WARN Call to ibv_reg_mr_iova2 failed with error Bad address errno 14",
        ],
        ..NCCL
    },
    Cause {
        id: "nccl.modify_qp_timeout",
        sign: "Call to ibv_modify_qp failed with (error )?(110 )?Connection timed out(, on dev (?<card>[^ ,]+))?(.*local GID index (?<gid>-?[0-9]+))?",
        says: "no path to the peer over RDMA[ from {card}][ with GID index {gid}]",
        means: "The address of the other card was not answered when the connection was made: a GID that is not routed (link-local), cards of different rails that do not reach each other, or a switch between.",
        act: RIGHT_GID,
        sources: &[
            seen("https://github.com/NVIDIA/nccl/issues/769", "2023-01-06"),
            seen("https://github.com/NVIDIA/nccl (src/misc/ibvwrap.cc)", "2026-11-30"),
        ],
        samples: &[
            "ibvwrap.cc: NCCL WARN Call to ibv_modify_qp failed with error Connection timed out",
            "gpu0:1:2 [0] misc/ibvwrap.cc:376 NCCL WARN Call to ibv_modify_qp failed with 110 Connection timed out, on dev mlx5_0:1, curr state INIT, next state RTR, local GID index 3, local GID ::ffff:192.0.2.6, remote GID ::ffff:192.0.2.7",
        ],
        ..NCCL
    },
    Cause {
        id: "nccl.modify_qp_no_device",
        sign: "Call to ibv_modify_qp failed with (error )?([0-9]+ )?No such device(, on dev (?<card>[^ ,]+))?(.*local GID index (?<gid>-?[0-9]+))?",
        says: "the chosen GID[ {gid}][ of {card}] belongs to no interface of this place",
        means: "A container sees the RDMA card, but the network interface that its GID comes from lies outside of the container's network namespace. Bare metal and `--net=host` work with the same card.",
        act: "inside of the container `show_gids` (or `cat /sys/class/infiniband/*/ports/1/gids/*`): start it with the host's network once to see that it is this, then give the pod a network of this card (SR-IOV or macvlan over the card's own interface, exclusive RDMA namespaces for SR-IOV) and the index of the GID with the pod's address",
        sources: &[
            seen("https://github.com/NVIDIA/nccl/issues/925", "2023-09-17"),
            seen("https://github.com/NVIDIA/nccl/issues/551", "2021-08-11"),
        ],
        samples: &[
            "gpu0:1:2 [0] misc/ibvwrap.cu:284 NCCL WARN Call to ibv_modify_qp failed with error No such device",
        ],
        ..NCCL
    },
    Cause {
        id: "nccl.modify_qp_unreachable",
        sign: "Call to ibv_modify_qp failed with (error )?([0-9]+ )?(?<error>Network is unreachable|No route to host|No data available|Connection refused)(, on dev (?<card>[^ ,]+))?(.*local GID index (?<gid>-?[0-9]+))?",
        says: "the peer cannot be reached over RDMA[ from {card}][ with GID index {gid}]: {error}",
        means: "This host has no route from the address of the chosen GID to the one of the peer, or that GID is empty.",
        act: RIGHT_GID,
        sources: VERBS,
        samples: &[
            "gpu0:1:2 [0] misc/ibvwrap.cc:160 NCCL WARN Call to ibv_modify_qp failed with error No data available",
            "gpu0:1:2 [0] misc/ibvwrap.cc:376 NCCL WARN Call to ibv_modify_qp failed with 101 Network is unreachable, on dev mlx5_2:1, curr state INIT, next state RTR, local GID index 3, local GID ::ffff:192.0.2.6, remote GID ::ffff:198.51.100.7",
        ],
        ..NCCL
    },
    Cause {
        id: "nccl.modify_qp_invalid",
        sign: "Call to ibv_modify_qp failed with (error )?(22 )?Invalid argument(, on dev (?<card>[^ ,]+))?(.*local GID index (?<gid>-?[0-9]+))?",
        says: "the card refuses the connection's settings[ on {card}][, GID index {gid}]",
        means: "Mostly NCCL_IB_GID_INDEX names a GID that is empty on one of the hosts, or the two GIDs are of different kinds (RoCE v1 and v2, IPv4 and IPv6).",
        act: "compare `show_gids` of both hosts, set the index that is RoCE v2 with a routed address on each, or leave NCCL_IB_GID_INDEX out with NCCL 2.21 and newer; NCCL_IB_TC and NCCL_IB_SL can be out of range, too",
        sources: VERBS,
        samples: &[
            "gpu0:1:2 [0] misc/ibvwrap.cc:160 NCCL WARN Call to ibv_modify_qp failed with error Invalid argument",
        ],
        ..NCCL
    },
    Cause {
        id: "nccl.open_device",
        sign: "NCCL WARN (NET/(IB|gIB|IBext[_v0-9]*) ?: Unable to (open|query) device (?<card>[^ ]+)|Call to ibv_open_device failed)",
        says: "NCCL may not open the RDMA card[ {card}]",
        means: "The card is listed, but its file in /dev/infiniband is missing or may not be opened, mostly in a container.",
        act: "hand all of /dev/infiniband to the container (`--device=/dev/infiniband`, or the RDMA device plugin in Kubernetes); on the host `ls -l /dev/infiniband` has to say crw-rw-rw- for uverbs; job.devices shows what a job may open",
        sources: IB,
        samples: &["gpu0:1:2 [0] transport/net_ib.cc:193 NCCL WARN NET/IB : Unable to open device mlx5_0"],
        ..NCCL
    },
    Cause {
        id: "nccl.verbs_call",
        sign: r"NCCL WARN (Call to )?ibv_(?<call>[a-z_0-9]+)(\(\))? (failed|returned)( with error (?<error>.+))?",
        says: "ibv_{call} failed[: {error}]",
        means: "The RDMA library refused a call: a card or port that went away, too many objects, or a library that does not fit the kernel's driver.",
        act: "look at the kernel's log of the card and at `ibv_devinfo`; test the same card with `ib_write_bw`; where that fails too, the trouble is below NCCL",
        remedy: Remedy::Look,
        sure: Sure::Guess,
        role: Role::Effect,
        sources: VERBS,
        samples: &[
            "gpu0:1:2 [0] misc/ibvwrap.cc:113 NCCL WARN Call to ibv_query_port failed with error No such device",
            "gpu0:1:2 [0] include/ibvwrap.h:86 NCCL WARN ibv_post_send() failed with error Cannot allocate memory",
        ],
        ..NCCL
    },
    // Completions.
    Cause {
        id: "nccl.flushed",
        sign: r"Got completion (from peer ((?<peer>[^ ]+) )?)?with (error |status=)([A-Za-z_ ]+\()?5\)?,? ",
        says: "a request was flushed after its connection had failed",
        means: "Status 5: the connection was in error already. The first failure stands before, or on the other side.",
        act: "look for the first completion with another status (12, 4, 10, 13) on all ranks, and for a rank that ended",
        sources: IB,
        samples: &[
            "gpu0:1:2 [0] transport/net_ib.cc:1295 NCCL WARN NET/IB : Got completion from peer 192.0.2.6<43210> with status=5 opcode=0 len=0 vendor err 249 (Recv) hca mlx5_0",
        ],
        ..EFFECT
    },
    Cause {
        id: "nccl.retry_exceeded",
        sign: r"Got completion (from peer ((?<peer>[^ <]+)(<[0-9]+>)? )?)?with (error |status=)([A-Za-z_ ]+\()?12\)?,? (.* hca (?<card>[^ ]+))?",
        near: &["NCCL_IB_GID_INDEX set (by environment )?to (?<gid>-?[0-9]+)"],
        says: "the peer[ {peer}] does not answer over RDMA (status 12)[ from {card}][, GID index {gid}]",
        means: "The card sent again and again and got no acknowledgement. At the first collective that is mostly a GID that is not routed or a path that is closed; in the middle of a job a port that went down, a peer that ended, or lost packets on RoCE. The vendor's code 129 says no more.",
        act: "at the first collective: take the routed RoCE v2 GID on all hosts (`show_gids`, `NCCL_IB_GID_INDEX`, mostly 3) and test both cards with `ib_write_bw`; later: look for the rank that ended first, then at link-downed and symbol errors of both ports and the switch, and at flow control for RoCE; a longer NCCL_IB_TIMEOUT helps against short interruptions only",
        remedy: Remedy::Settings,
        sure: Sure::Guess,
        follows: DEATHS,
        apart: &[Apart {
            beside: LINKS,
            act: "mend the port that went down: the kernel's log and the lines about ports say which; then start the job again",
        }],
        sources: &[
            seen("https://github.com/pytorch/pytorch/issues/81628", "2023-03-10"),
            seen("https://github.com/NVIDIA/nccl/issues/426", "2020-12-01"),
            seen("https://github.com/NVIDIA/nccl (src/transport/net_ib)", "2026-11-30"),
        ],
        samples: &[
            "NCCL WARN NET/IB : Got completion from peer 192.0.2.147<38560> with error 12, opcode 0, len 0, vendor err 129",
            "gpu0:1:2 [0] transport/net_ib/p2p.cc:688 NCCL WARN NET/IB: Got completion from peer 192.0.2.7<38560> with status=IBV_WC_RETRY_EXC_ERR(12) opcode=IBV_WC_SEND(0) vendor_err=129 Send hca mlx5_0",
        ],
        ..NCCL
    },
    Cause {
        id: "nccl.receiver_not_ready",
        sign: r"Got completion (from peer ((?<peer>[^ <]+)(<[0-9]+>)? )?)?with (error |status=)([A-Za-z_ ]+\()?13\)?,? ",
        says: "the peer[ {peer}] was not ready to receive (status 13)",
        means: "The other rank posted no receive in time: it hangs, ended, or is at another collective.",
        act: "look at what that rank did at this time",
        follows: DEATHS,
        sources: IB,
        samples: &[
            "gpu0:1:2 [0] transport/net_ib.cc:1295 NCCL WARN NET/IB : Got completion from peer 192.0.2.7<38560> with status=13 opcode=0 len=0 vendor err 135 (Send)",
        ],
        ..EFFECT
    },
    Cause {
        id: "nccl.local_protection",
        sign: r"Got completion (from peer ((?<peer>[^ <]+)(<[0-9]+>)? )?)?with (error |status=)([A-Za-z_ ]+\()?4\)?,? ",
        says: "the card could not reach the GPU's memory (status 4)",
        means: "A local protection error. NCCL's own hint: access control of PCIe (ACS) or an IOMMU breaks GPUDirect RDMA.",
        act: "look at pcie.acs and rdma.gdr_ready; `NCCL_NET_GDR_LEVEL=0` shows whether GPUDirect RDMA is the matter; then switch ACS off on the bridges (or use ATS in virtual machines)",
        follows: DEATHS,
        sources: IB,
        samples: &[
            "gpu0:1:2 [0] transport/net_ib.cc:1295 NCCL WARN NET/IB : Got completion from peer 192.0.2.7<38560> with status=4 opcode=0 len=32600 vendor err 81 (Send) hca mlx5_3",
        ],
        ..NCCL
    },
    Cause {
        id: "nccl.local_length",
        sign: r"Got completion (from peer ((?<peer>[^ <]+)(<[0-9]+>)? )?)?with (error |status=)([A-Za-z_ ]+\()?1\)?,? ",
        says: "the peer[ {peer}] sent more than was expected (status 1)",
        means: "The two ranks are at different collectives or sizes.",
        act: SAME_EVERYWHERE,
        follows: DEATHS,
        sources: IB,
        samples: &[
            "gpu0:1:2 [0] transport/net_ib.cc:1295 NCCL WARN NET/IB : Got completion from peer 192.0.2.7<38560> with status=1 opcode=129 len=0 vendor err 105 (Recv)",
        ],
        ..NCCL
    },
    Cause {
        id: "nccl.remote_access",
        sign: r"Got completion (from peer ((?<peer>[^ <]+)(<[0-9]+>)? )?)?with (error |status=)([A-Za-z_ ]+\()?(?<status>9|10|11)\)?,? ",
        says: "the peer[ {peer}] refused a request (status {status})",
        means: "The other card could not write into its memory: its rank ended or freed the memory, GPUDirect RDMA does not work there, or the two ranks differ.",
        act: "look at the log of that rank first; then at pcie.acs and rdma.gdr_ready of its host, and whether all ranks have the same NCCL and variables",
        remedy: Remedy::Look,
        sure: Sure::Guess,
        follows: DEATHS,
        sources: IB,
        samples: &[
            "gpu0:1:2 [0] transport/net_ib.cc:1295 NCCL WARN NET/IB : Got completion from peer 192.0.2.7<38560> with status=10 opcode=0 len=0 vendor err 136 (Send)",
            "gpu0:1:2 [0] NCCL WARN NET/IB : Got completion with error 11, opcode 1, len 0, vendor err 137",
        ],
        ..NCCL
    },
    Cause {
        id: "nccl.completion",
        sign: r"NCCL WARN .*Got completion (from peer ((?<peer>[^ <]+)(<[0-9]+>)? )?)?with (error |status=)([A-Z_]+\()?(?<status>[0-9]+)",
        says: "a request over RDMA failed with status {status}",
        means: "A card reported a failed request. The status is that of ibv_wc_status.",
        act: "look at the first such line of all ranks, and at the kernel's log of the card",
        sources: IB,
        samples: &[
            "gpu0:1:2 [0] transport/net_ib.cc:1295 NCCL WARN NET/IB : Got completion from peer 192.0.2.7<38560> with status=2 opcode=0 len=0 vendor err 117 (Send)",
        ],
        ..EFFECT
    },
    // Events of a card.
    Cause {
        id: "nccl.port_down",
        sign: "NET/(IB|gIB|IBext[_v0-9]*) ?: ((?<card>[^ :]+):(?<port>[0-9]+) )?Got (non-fatal )?async event ?: port error",
        says: "the port[ {port} of {card}] went down",
        means: "The card lost its link while the job ran: cable, transceiver, switch, or the switch port was shut.",
        act: "the kernel's log of this host says when the link was lost and came back; look at `ibstat` or `ethtool` and the counter link_downed of both ends, and at the switch (one that was restarted takes many ports down at once); where this port alone comes back down, reseat its cable, and replace that last",
        remedy: Remedy::Look,
        sure: Sure::Confirmed,
        sources: IB,
        samples: &[
            "gpu0:1:2 [0] transport/net_ib.cc:95 NCCL WARN NET/IB : Got async event : port error",
            "gpu0:1:2 [0] transport/net_ib/init.cc:120 NCCL WARN NET/IB : mlx5_3:1 Got non-fatal async event: port error(10)",
        ],
        ..NCCL
    },
    Cause {
        id: "nccl.card_failed",
        sign: "NET/(IB|gIB|IBext[_v0-9]*) ?: ((?<card>[^ :]+):[0-9]+ )?(Got async event ?|async fatal event): local catastrophic error",
        says: "the card[ {card}] failed",
        means: "The driver took the card down: its firmware stopped or was reset.",
        act: "look at the kernel's log of this host: the lines of the card's driver name the reason; reboot where the driver did not bring the card back by itself",
        remedy: Remedy::Look,
        sure: Sure::Confirmed,
        follows: &[
            "mlx5.health_grave",
            "mlx5.health_hot",
            "mlx5.health_pcie",
            "mlx5.health",
            "pcie.uncorrected",
            "pcie.uncorrected_of",
            "pcie.contained",
        ],
        sources: IB,
        samples: &["gpu0:1:2 [0] NCCL WARN NET/IB : mlx5_3:1 async fatal event: local catastrophic error"],
        ..NCCL
    },
    Cause {
        id: "nccl.event_note",
        sign: "NET/(IB|gIB|IBext[_v0-9]*) ?: ((?<card>[^ :]+):[0-9]+ )?(Got (non-fatal )?async event ?: ?(client reregistration|SM change|LID change|port active|P_Key table change|GID table change|path migration|communication established)|GID table changed)",
        says: "the subnet manager or an address changed",
        means: "The card tells that its subnet manager, its addresses or its port changed. Jobs go on.",
        sources: IB,
        samples: &[
            "gpu0:1:2 [0] transport/net_ib.cc:95 NCCL WARN NET/IB : mlx5_0:1 Got async event : client reregistration",
            "gpu0:1:2 [0] NCCL WARN NET/IB : mlx5_0:1 GID table changed",
        ],
        ..NOTE
    },
    Cause {
        id: "nccl.event",
        sign: "NET/(IB|gIB|IBext[_v0-9]*) ?: ((?<card>[^ :]+):[0-9]+ )?(Got (non-fatal )?async event ?|async fatal event[^:]*): ?(?<event>.*)",
        says: "the card[ {card}] tells: {event}",
        means: "An event of the card that ends a connection. A failed completion or the other rank's log says why.",
        act: "look at the first failed completion of all ranks",
        sources: IB,
        samples: &[
            "gpu0:1:2 [0] NCCL WARN NET/IB : mlx5_0:1 Got async event : local access violation work queue error",
        ],
        ..EFFECT
    },
    // Networks and their plugins.
    Cause {
        id: "nccl.library_old",
        sign: r"NCCL WARN (NCCL library is (too old|not backwards compatible)|The application was compiled with too old version of NCCL|Compile and runtime version mismatch)",
        says: "the program was built for another NCCL than the one that is loaded",
        means: "Two copies of NCCL are on the search path (of pip, of the system, of conda, of HPC-X), and the loader took the one that does not fit.",
        act: "`ldd PROGRAM | grep nccl` and LD_LIBRARY_PATH, LD_PRELOAD, `pip list | grep nccl`: let the one that the program was built with come first",
        remedy: Remedy::Install,
        sources: &[seen("https://github.com/NVIDIA/nccl (src/dev_runtime.cc, 2026-06-11)", "2026-11-30")],
        samples: &[
            "gpu0:31:98 [0] dev_runtime.cc:12 NCCL WARN NCCL library is too old. This application was compiled with NCCL version 2.29.2, but is running with NCCL library version 2.27.5.",
        ],
        ..NCCL
    },
    Cause {
        id: "nccl.gin",
        sign: r"NCCL WARN (GIN (is disabled|not supported|(strong|VA) signals are required|plugin does not support|Error detected)|No GIN-capable devices found|User requested GIN|Unable to use GIN|Window registration of addresses .* with GIN)",
        says: "NCCL cannot let GPUs start transfers over the network (GIN)",
        means: "The program asks for it, and the card, its driver, DMA-BUF or nvidia_peermem, or the plugin of a rank does not offer it.",
        act: "look at rdma.gdr_ready, at NCCL_GIN_TYPE and NCCL_GIN_ENABLE, and whether all hosts have the same cards and plugin; without it the program has to use another way (NCCL_GIN_ENABLE=0 where it has one)",
        sure: Sure::Guess,
        sources: &[seen(
            "https://github.com/NVIDIA/nccl (src/gin, src/dev_runtime.cc, 2026-06-11)",
            "2026-11-30",
        )],
        samples: &[
            "gpu0:31:98 [0] gin/gin_host.cc:12 NCCL WARN User requested GIN but not all ranks in the communicator support GIN",
        ],
        ..NCCL
    },
    Cause {
        id: "nccl.topology",
        sign: r"NCCL WARN (Could not find (node of type|NET with id|net id|gpu rank|id |rev link|NIC for rank|any local path|intermediate GPU)|Failed to find reverse path|No path computed to go|Error : (could not find CPU close to GPU|too many Topo links)|Add (NVLink|PCI Link|C2c) (error )?: ?(error : )?could not find|GetXmlFromCpu|Internal error : tree already has|ncclTopo[A-Za-z]+ ?:? ?(could not|too many|system node)|localHostHash|Unknown netDevs policy)",
        says: "NCCL could not make out how GPUs and cards of this host are connected",
        means: "A virtual machine or container shows only parts of /sys and of the PCI tree, a GPU or card is missing there that NVML or RDMA still lists, or ranks see different ones. Sometimes it is a fault of this NCCL for a new kind of machine.",
        act: "compare `nvidia-smi topo -m`, `lspci -tv` and `ls /sys/class/infiniband` on the host and inside; mount /sys into the container; in a virtual machine take the provider's file for NCCL_TOPO_FILE; then a newer NCCL",
        sure: Sure::Guess,
        sources: &[seen("https://github.com/NVIDIA/nccl (src/graph, 2026-06-11)", "2026-11-30")],
        samples: &["gpu0:31:98 [0] graph/topo.cc:12 NCCL WARN Could not find NET with id 3"],
        ..NCCL
    },
    Cause {
        id: "nccl.gdrcopy",
        sign: r"NCCL WARN (gdr_(pin_buffer|pin_buffer_v2|map|get_info|open|unpin_buffer|unmap)\(.*failed: (?<error>-?[0-9]+)|GDRCOPY failure|gdr_pin_buffer_v2 not available)",
        says: "GDRCopy failed[ ({error})]",
        means: "The module gdrdrv is not loaded, is older than the library, or is not handed to the container.",
        act: "`lsmod | grep gdrdrv`, `ls -l /dev/gdrdrv` in the same place, `gdrcopy_sanity`; install library and module of one version; NCCL_GDRCOPY_ENABLE=0 goes without it",
        sources: &[seen("https://github.com/NVIDIA/nccl (src/misc/gdrwrap.cc, 2026-06-11)", "2026-11-30")],
        samples: &[
            "gpu0:31:98 [0] misc/gdrwrap.cc:12 NCCL WARN gdr_pin_buffer(addr 7f12, size 65536) failed: 22",
        ],
        ..NCCL
    },
    Cause {
        id: "nccl.ib_devices_failed",
        sign: r"NCCL WARN NET/IB: (Fatal error\. Detected (?<failed>[0-9]+) failed devices out of (?<all>[0-9]+)|The error is fatal|Could not find a replacement QP|Cannot replace QP|Got CQE with error)",
        role: Role::Effect,
        says: "NCCL has no card left that works[ ({failed} of {all} failed)]",
        means: "Connections over InfiniBand or RoCE failed and could not be moved to another card. The first failed completion or port event says why.",
        act: "look at the first `Got completion` and `async event` of all ranks, and at the links of the cards at that time",
        sure: Sure::Guess,
        sources: &[seen("https://github.com/NVIDIA/nccl (src/transport/net_ib, 2026-06-11)", "2026-11-30")],
        samples: &[
            "gpu0:31:98 [0] transport/net_ib/p2p.cc:12 NCCL WARN NET/IB: Fatal error. Detected 2 failed devices out of 2 devices on the send communicator",
        ],
        ..NCCL
    },
    Cause {
        id: "nccl.rings_differ",
        sign: r"NCCL WARN (Error ?: )?(ring [0-9]+ does not (loop back to start|contain rank)|Rank [0-9]+ not found in ring)",
        says: "ranks have built different rings",
        means: "They do not agree about the hosts or the order of ranks: NCCL_HOSTID that is the same or different where it should not be, topology files or NCCL_ variables that differ, or ranks of two versions.",
        act: "take NCCL_HOSTID, NCCL_TOPO_FILE and NCCL_GRAPH_FILE away and compare NCCL_ variables and versions over the ranks",
        sources: &[seen("https://github.com/NVIDIA/nccl/issues/879", "2023-06-07")],
        samples: &[
            "gpu0:22789:28201 [0] graph/rings.cc:38 NCCL WARN Error : ring 0 does not loop back to start (14 != 0)",
        ],
        ..NCCL
    },
    Cause {
        id: "nccl.p2p_refused",
        sign: r"(transport|transport/p2p)\.cc:[0-9]+ NCCL WARN Cuda failure (1 )?'invalid argument'",
        says: "GPUs of this host could not be joined",
        means: "CUDA refused to open the memory of another GPU: containers that see one GPU each (Kubernetes, `--gpus device=`), an IOMMU or ACS between them, or a driver that is not well. Programs without NCCL fail the same way then.",
        act: "run `nvbandwidth` (or p2pBandwidthLatencyTest) in the same place: where it fails too, look at ACS, the IOMMU and the driver; where it works, unset NCCL_ variables; put all GPUs of a job on a host into one container",
        sure: Sure::Guess,
        sources: &[seen("https://github.com/NVIDIA/nccl/issues/846", "2023-05-18")],
        samples: &["gpu0:31:98 [0] transport.cc:154 NCCL WARN Cuda failure 'invalid argument'"],
        ..NCCL
    },
    Cause {
        id: "nccl.max_shared_memory",
        sign: r"ncclMaxSharedMem [0-9]+ exceeds device/fn maxSharedMem [0-9]+",
        says: "this NCCL asks for more shared memory on the GPU than it has",
        means: "NCCL 2.25 does so on GPUs with little of it for each block (compute capability 12.0). It is a fault of that release; the GPU is well and P2P has no part in it.",
        act: "take NCCL 2.26 or newer (`pip install -U nvidia-nccl-cu12`, or a newer PyTorch)",
        remedy: Remedy::Install,
        sources: &[seen("https://github.com/NVIDIA/nccl (src/init.cc, src/include/device.h)", "2026-11-30")],
        samples: &[
            "gpu0:4766:4780 [0] NCCL INFO ncclMaxSharedMem 82240 exceeds device/fn maxSharedMem 79856",
        ],
        ..NCCL
    },
    Cause {
        id: "nccl.gid_holes",
        sign: r"read failed in ncclIbRoceGetVersionNum: (?<why>.+)",
        says: "NCCL cannot read a GID of the card ({why})",
        means: "In a pod or container the table of GIDs has entries that belong to other namespaces, and older NCCL gives up at the first of these. The card is well.",
        act: "take a newer NCCL, which passes over them; until then set NCCL_IB_GID_INDEX to the RoCE v2 entry that `show_gids` lists inside of this pod (it differs from pod to pod)",
        remedy: Remedy::Install,
        sources: &[seen("https://github.com/NVIDIA/nccl (src/transport/net_ib.cc)", "2026-11-30")],
        samples: &["NCCL WARN NET/IB: read failed in ncclIbRoceGetVersionNum: Invalid argument"],
        ..NCCL
    },
    Cause {
        id: "nccl.no_libibverbs",
        sign: r"Failed to open libibverbs\.so\[\.1\]",
        counts: Counts::Warn,
        role: Role::Effect,
        follows: ENDED,
        says: "libibverbs is missing, so NCCL uses sockets",
        means: "The image or host has no libibverbs. Without RDMA cards that is nothing; with them NCCL is many times slower.",
        act: "install `libibverbs1` and `ibverbs-providers` (Debian, Ubuntu) or `libibverbs` (RHEL) in the image",
        sure: Sure::Guess,
        sources: &[
            seen("https://github.com/sgl-project/sglang/pull/1427", "2024-09-15"),
            seen("https://github.com/NVIDIA/nccl (src/misc/ibvsymbols.cc)", "2026-11-30"),
        ],
        samples: &["NCCL INFO Failed to open libibverbs.so[.1]"],
        ..NCCL
    },
    Cause {
        id: "nccl.dlopen_note",
        sign: r"NCCL INFO ncclOsDl(open|sym)\((libibverbs|libmlx5|libgdrapi|libcuda|libdoca|libnccl-|lib[a-z]*nvml|ibv_|mlx5dv_|nvml|gdr_)",
        says: "NCCL looked for a library and goes on without it",
        means: "An information of NCCL, not an error.",
        samples: &[
            "gpu0:1:2 [0] NCCL INFO ncclOsDlopen(libmlx5.so.1) failed: libmlx5.so.1: cannot open shared object file: No such file or directory",
        ],
        ..NOTE
    },
    Cause {
        id: "nccl.plugin_two_verbs",
        sign: r"(?<file>[^ :]*libibverbs\.so[.0-9]*|[^ :]*libmlx5\.so[.0-9]*|[^ :]*libefa\.so[.0-9]*): version .(?<version>(IBVERBS|MLX5|EFA)_[A-Z0-9_.]+)' not found",
        says: "two sets of RDMA libraries are mixed: {file} lacks {version}",
        means: "The loader finds an older or other libibverbs first (such as the one of HPC-X below /opt/rdma-core) and the provider was built for the other one. The plugin cannot be loaded and NCCL takes sockets.",
        act: "take the foreign directory out of LD_LIBRARY_PATH and /etc/ld.so.conf.d, so that libibverbs and its providers are of one package; `ldd` of the plugin says which are found",
        sources: &[seen("https://github.com/NVIDIA-NeMo/Megatron-Bridge/issues/2824", "2026-03-16")],
        samples: &[
            "NCCL INFO NET/Plugin: libnccl-net-ofi.so: /opt/rdma-core/build/lib/libibverbs.so.1: version `IBVERBS_PRIVATE_34' not found (required by",
        ],
        ..NCCL
    },
    Cause {
        id: "nccl.plugin_old_libfabric",
        sign: r"(?<file>[^ :=]*libfabric\.so[.0-9]*): version .(?<version>FABRIC_[0-9.]+)' not found",
        says: "libfabric is too old for the plugin: {file} lacks {version}",
        means: "The plugin aws-ofi-nccl was built for a newer libfabric, so it is not loaded, and NCCL takes sockets, which is many times slower.",
        act: "install the libfabric and the plugin of one EFA installer in the image or on the host, or a plugin for the older libfabric; look for a second one from conda or pip with `ldd`",
        remedy: Remedy::Install,
        sure: Sure::Confirmed,
        sources: &[seen("https://github.com/awslabs/awsome-distributed-ai/issues/292", "2024-05-01")],
        samples: &[
            "[0] NCCL INFO NET/Plugin : dlerror=/opt/amazon/efa/lib/libfabric.so.1: version `FABRIC_1.7' not found (required by /opt/env/lib/libnccl-net.so) No plugin found (libnccl-net.so), using internal implementation",
        ],
        ..NCCL
    },
    Cause {
        id: "nccl.plugin_library_version",
        sign: r"NCCL .*(/Plugin|Plugin load).*(?<file>lib[^ :]+\.so[.0-9]*): version .(?<version>[A-Z][A-Za-z_0-9.]+)' not found",
        says: "a plugin of NCCL does not fit this system: {file} lacks {version}",
        means: "The plugin was built for a newer system than this one, so NCCL goes on without it.",
        act: "take a plugin that was built for this distribution, or an image of a newer one",
        remedy: Remedy::Install,
        sure: Sure::Confirmed,
        samples: &[
            "gpu0:1:2 [0] NCCL INFO NET/Plugin : dlerror=/lib/x86_64-linux-gnu/libc.so.6: version `GLIBC_2.34' not found (required by /opt/nccl/libnccl-net.so) No plugin found (libnccl-net.so), using internal implementation",
        ],
        ..NCCL
    },
    Cause {
        id: "nccl.no_plugin",
        sign: r"(?-i:lib(nccl|rccl)-(net|tuner|profiler|env|gin|rma)\.so[.0-9]*): cannot open shared object file: No such file|/Plugin ?: (No plugin found|Could not find: lib(nccl|rccl)-(net|tuner|profiler|env|gin|rma)\.so|Failed to find nccl[A-Za-z]+Plugin|Plugin load \([^)]*\) returned [0-9]+ : .*No plugin found|Plugin load returned [0-9]+ : libnccl)",
        says: "no plugin of NCCL is installed",
        means: "NCCL looks for plugins and goes on with its own code where there is none. On AWS with EFA the plugin aws-ofi-nccl is needed; elsewhere this is nothing.",
        sure: Sure::Confirmed,
        sources: &[seen("https://github.com/NVIDIA/nccl/issues/259", "2019-10-14")],
        samples: &[
            "hostname-0:29:29 [0] NCCL INFO NET/Plugin : dlerror=libnccl-net.so: cannot open shared object file: No such file or directory No plugin found (libnccl-net.so), using internal implementation",
            "gpu0:1:2 [0] NCCL INFO TUNER/Plugin: Failed to find ncclTunerPlugin_v2 symbol, using internal tuner instead.",
        ],
        ..NOTE
    },
    Cause {
        id: "nccl.plugin_library",
        sign: r"NCCL .*(/Plugin|Plugin load).*[ =](?<library>lib[^ :=/]+\.so[.0-9]*): cannot open shared object file",
        says: "a plugin of NCCL lacks {library}",
        means: "The plugin is there, but a library that it needs is not installed, so NCCL goes on without the plugin, over sockets where it was the network.",
        act: "install the package of {library} in the image (`apt-file search {library}` or `dnf provides '*/{library}'`), or set LD_LIBRARY_PATH to its directory",
        sure: Sure::Confirmed,
        samples: &[
            "gpu0:1:2 [0] NCCL INFO NET/Plugin: libnccl-net-ofi.so: libhwloc.so.15: cannot open shared object file: No such file or directory",
            "gpu0:1:2 [0] NCCL INFO NET/Plugin : dlerror=libcudart.so.12: cannot open shared object file: No such file or directory No plugin found (libnccl-net.so), using internal implementation",
        ],
        ..NCCL
    },
    Cause {
        id: "nccl.library_of_network",
        sign: r"(?<library>lib(ibverbs|hwloc|fabric|efa|ucp|ucs|sharp|sharp_coll|nccl-net-ofi|rdmacm|mlx5)\.so\.[0-9.]+): cannot open shared object file",
        says: "{library} is missing",
        means: "A program or plugin needs this library and the loader does not find it.",
        act: "install its package in the image (libhwloc15 for libhwloc.so.15, librdmacm1 for librdmacm.so.1), or add its directory to LD_LIBRARY_PATH or /etc/ld.so.conf.d",
        sure: Sure::Confirmed,
        sources: &[seen("https://github.com/PrimeIntellect-ai/prime-rl/pull/3452", "2026-08-31")],
        samples: &["libhwloc.so.15: cannot open shared object file"],
        ..NCCL
    },
    Cause {
        id: "nccl.plugin_asked_for",
        sign: "(?<kind>NET|TUNER|PROFILER)/Plugin: Could not find: *(?<plugin>[A-Za-z0-9_.-]+)",
        counts: Counts::Warn,
        says: "the plugin {plugin} that was asked for was not found",
        means: "NCCL_NET_PLUGIN or its like names a plugin that cannot be loaded. The line before says which library was missing, if any.",
        act: "put the directory of the plugin into LD_LIBRARY_PATH (on EFA images /opt/amazon/ofi-nccl/lib or /opt/amazon/aws-ofi-nccl/lib), or leave the variable out",
        follows: &[
            "nccl.plugin_two_verbs",
            "nccl.plugin_old_libfabric",
            "nccl.plugin_library",
            "nccl.plugin_library_version",
        ],
        samples: &["NCCL INFO NET/Plugin: Could not find: ofi"],
        ..NCCL
    },
    Cause {
        id: "nccl.network_not_found",
        sign: "NCCL WARN Error: network (?<network>.*) not found",
        says: "the network {network} that NCCL_NET asks for is not there",
        means: "The plugin with this network was not loaded, or it found no device.",
        act: "look at the lines of NET/Plugin and NET/OFI before: they say why; AWS Libfabric needs the plugin aws-ofi-nccl and EFA devices, gIB the libraries below /usr/local/gib, IB a port that is active",
        sources: &[seen("https://github.com/NVIDIA/nccl (src/net.cc of 2.18)", "2026-11-30")],
        follows: &[
            "nccl.plugin_two_verbs",
            "nccl.plugin_old_libfabric",
            "nccl.plugin_library",
            "nccl.plugin_library_version",
            "nccl.ofi_no_device",
        ],
        samples: &["gpu0:1:2 [0] net.cc:285 NCCL WARN Error: network AWS Libfabric not found."],
        ..NCCL
    },
    Cause {
        id: "nccl.no_network",
        sign: "NCCL WARN Failed to initialize any NET plugin",
        says: "NCCL has no network",
        means: "Neither a plugin nor its own networks could be started.",
        act: "look at the lines of NET before: an interface that NCCL_SOCKET_IFNAME names and that is not there, NCCL_NET that asks for a missing one, or in a container no cards (`ls /dev/infiniband`; hand them over by `--device=/dev/infiniband`)",
        samples: &["gpu0:1:2 [0] plugin/net.cc:349 NCCL WARN Failed to initialize any NET plugin"],
        ..EFFECT
    },
    Cause {
        id: "nccl.plugin_device_version",
        sign: "NCCL WARN NCCL_DEVICE_UNPACK plugin has incompatible version",
        says: "the plugin was built for another NCCL",
        means: "NCCL does not use a plugin whose device code has another version.",
        act: "take the plugin of the release that belongs to this NCCL",
        remedy: Remedy::Install,
        sure: Sure::Confirmed,
        samples: &[
            "gpu0:1:2 [0] net.cc:153 NCCL WARN NCCL_DEVICE_UNPACK plugin has incompatible version 6, this NCCL build is compatible with 7, not using it",
        ],
        ..NCCL
    },
    Cause {
        id: "nccl.plugin_crash",
        sign: r"#[0-9]+ .* in nccl_p2p_ib_init \(num_devs=",
        says: "the RDMA plugin crashed while it counted its devices",
        means: "The plugin has room for a fixed number of devices (16 in older ones), and the host has more.",
        act: "name the cards in NCCL_IB_HCA so that there are 16 at most, or take a newer plugin",
        sure: Sure::Guess,
        sources: &[seen("https://github.com/NVIDIA/nccl/issues/1091", "2023-11-27")],
        samples: &[
            "#1  0x00007fefc64b890f in nccl_p2p_ib_init (num_devs=0x7fefc64cca38 <ncclNIbDevs>, ncclIbDevs=<optimized out>) at p2p_plugin.c:315",
        ],
        ..NCCL
    },
    // EFA.
    Cause {
        id: "nccl.ofi_no_device",
        sign: r"Error: EFA libfabric provider not detected|NET/OFI.*(fi_getinfo\(?\)?.*(No data available|failed)|[Nn]o eligible providers were found|Unable to find a? ?(list|provider)|Failed to find .*provider)|Couldn't find any optimal provider|fi_getinfo(\(\))?: -61",
        says: "libfabric finds no EFA device",
        means: "The plugin runs, but there is no device for it: the files below /dev/infiniband are not in the container, the instance has no EFA, or the module efa is not loaded.",
        act: "`fi_info -p efa` has to list devices in the container too: pass `--device=/dev/infiniband/uverbs0` and all others (Kubernetes: vpc.amazonaws.com/efa in the limits); on the host `lsmod` has to name efa and the instance needs EFA interfaces",
        sources: &[
            seen("https://github.com/aws/aws-ofi-nccl/issues/1020", "2025-10-17"),
            seen("https://github.com/aws/aws-ofi-nccl (src)", "2026-11-30"),
        ],
        samples: &[
            "ip-192-0-2-90:1929:1937 [0] nccl_net_ofi_rdma_init:7978 NCCL WARN NET/OFI OFI fi_getinfo() call failed: No data available",
        ],
        ..NCCL
    },
    Cause {
        id: "nccl.ofi_not_efa",
        sign: r"NET/OFI Selected [Pp]rovider is (?<provider>(tcp|sockets|udp|shm|verbs)[a-z_;]*)",
        counts: Counts::Warn,
        says: "the plugin of EFA uses {provider}",
        means: "libfabric offered no EFA device, so the plugin took another way, which is slower.",
        act: "`fi_info -p efa` has to list devices in the same place; hand /dev/infiniband to the container; set FI_PROVIDER=efa to see the error",
        sources: OFI,
        samples: &["ip-192-0-2-9:1:2 [0] NCCL INFO NET/OFI Selected Provider is tcp;ofi_rxm"],
        ..NCCL
    },
    Cause {
        id: "nccl.ofi_insert_address",
        sign: "(NET/OFI|CM:?).*Unable to insert remote address into address vector",
        says: "EFA does not reach the peer",
        means: "The address of the other instance was refused. Mostly the security group lets no EFA traffic through: it needs a rule to itself in both directions, and 0.0.0.0/0 does not count for EFA.",
        act: "allow all traffic from and to the security group itself, inbound and outbound; both instances have to be in one subnet; then run again",
        sources: &[seen("https://github.com/aws/aws-ofi-nccl/issues/663", "2024-10-16")],
        samples: &["NET/OFI Unable to insert remote address into address vector for device 1"],
        ..NCCL
    },
    Cause {
        id: "nccl.ofi_peer_ended",
        sign: r"Unresponsive (receiver \(connection previously established|remote \(was previously responsive)|Connection was reset by remote peer|Bad queue pair \(QP\) number|No valid address handle at remote side",
        says: "the peer stopped to answer over EFA",
        means: "The connection had worked before: the other process ended, or its instance failed.",
        act: FIRST_RANK,
        follows: DEATHS,
        sources: &[seen(
            "https://github.com/ofiwg/libfabric (prov/efa/src/efa_errno.h, efa_strerror.c)",
            "2026-11-30",
        )],
        samples: &[
            "ip-192-0-2-90:1:2 [0] NCCL WARN NET/OFI Request 0x7f3c completed with error. RC: 5. Error: 13 (Unresponsive remote (was previously responsive)). Completed length: 0",
        ],
        ..EFFECT
    },
    Cause {
        id: "nccl.ofi_bad_peer",
        sign: r"efa:cq:[a-z_]*handle_error\(\).*message: (?<what>Invalid address|Unexpected status received from remote|Invalid address handle on remote|Destination endpoint .* unreachable)",
        says: "EFA refused a transfer between two instances: {what}",
        means: "The memory or the address of the peer that the transfer names is not valid there any more, mostly as the process on the other instance ended or let its memory go.",
        act: "look for the rank that ended first on the instance behind `Peer host id`, and its own error; when none ended, update libfabric and aws-ofi-nccl together and give the line with both host ids to the cloud's support",
        remedy: Remedy::Look,
        sure: Sure::Guess,
        follows: ENDED,
        sources: &[
            seen("https://github.com/aws/aws-ofi-nccl/issues/346", "2024-02-21"),
            seen("https://github.com/ofiwg/libfabric/issues/9694", "2024-01-03"),
        ],
        samples: &[
            "libfabric:451707:1708520807::efa:cq:efa_rdm_txe_handle_error():737<warn> err: 5, message: Invalid address My EFA addr: fi_addr_efa://[fe80::13:c2ff:fe6f:f03d]:0:1072483550 My host id: i-0db7083f3fcbebb65 Peer EFA addr: fi_addr_efa://[fe80::b8:aff:fe44:425]:0:947699476 Peer host id: i-0ce6d3d57139f053c (7)",
        ],
        ..NCCL
    },
    Cause {
        id: "nccl.ofi_create_ah",
        sign: r"ibv_create_ah failed with EINVAL\. Local GID|efa RDM endpoint cannot create ah|EFA RDM endpoint cannot create ah",
        says: "EFA takes no address of the peer",
        means: "libfabric names the usual reasons: the peer is in another availability zone, or its address is not of this network.",
        act: "put all instances of the job into one availability zone and subnet, and look at the security group; then update libfabric and the driver efa",
        sure: Sure::Guess,
        sources: &[seen("https://github.com/ofiwg/libfabric/pull/12136", "2026-04-13")],
        samples: &[
            "libfabric:679175:1776112406::efa:av:efa_ah_alloc():147<warn> ibv_create_ah failed with EINVAL. Local GID: fe80::8e0:5fff:fe34:b7b3, remote GID: fe80::8e0:5fff:fe34:b7b3. Possible causes: 1) Remote GID is in a different availability zone (cross-AZ communication is not enabled). 2) Remote GID is invalid. 3) Protection domain 0x650e9d688f20 is invalid.",
        ],
        ..NCCL
    },
    Cause {
        id: "nccl.ofi_event_queue",
        sign: r"Unable to write to EQ: Missing or unavailable event queue\. err: (?<error>[^(]+) \([0-9]+\) prov_errno: (?<own>.*?) \(-?[0-9]+\)",
        says: "libfabric ended the program over an error of EFA: {error} ({own})",
        means: "The program has no queue for such errors, so libfabric stops it. The error in the line is what counts.",
        act: "read the error of the line: -12 means that memory could not be registered (`ulimit -l` has to say unlimited); otherwise look for a peer that ended first; `FI_LOG_LEVEL=warn` shows more",
        remedy: Remedy::Look,
        sure: Sure::Guess,
        follows: ENDED,
        sources: &[seen("https://github.com/ofiwg/libfabric/issues/6249", "2020-09-14")],
        samples: &[
            "Unable to write to EQ: Missing or unavailable event queue. err: Input/output error (5) prov_errno: Unknown error -12 (-12) prov/efa/src/rxr/rxr.h:1343",
        ],
        ..NCCL
    },
    Cause {
        id: "nccl.ofi_unresponsive",
        sign: r"Unresponsive receiver( \((reachable|connection never)|\.|$)|Unreachable remote",
        says: "the peer does not answer over EFA",
        means: "libfabric names the usual reasons: the other process ended, the security group does not let all traffic through in both directions, or the instances are in different subnets.",
        act: "look first for a rank that ended on the other instance; at the very start check the rules of the security group (all traffic from and to itself) and the subnet",
        sure: Sure::Guess,
        sources: &[
            seen("https://github.com/ofiwg/libfabric/pull/8889", "2023-05-02"),
            seen("https://github.com/ofiwg/libfabric/pull/10410", "2024-09-24"),
        ],
        samples: &[
            "ip-192-0-2-90:1:2 [0] NCCL WARN NET/OFI Request 0x7f3c completed with error. RC: 107. Error: 4126 (Unresponsive receiver (reachable by EFA device but handshake failed)). Completed length: 0",
        ],
        ..NCCL
    },
    Cause {
        id: "nccl.ofi_fork",
        sign: "As a result, the Libfabric EFA provider is operating in",
        says: "the program forked while EFA was in use",
        means: "Memory that EFA uses may not be copied by fork(), and libfabric stops the process.",
        act: "set `FI_EFA_FORK_SAFE=1` (libfabric before 1.13 `RDMAV_FORK_SAFE=1`), or use a kernel of 5.13 and newer with current rdma-core; start data loaders by spawn",
        sources: &[seen(
            "https://github.com/ofiwg/libfabric (prov/efa/src/efa_fork_support.c)",
            "2026-11-30",
        )],
        samples: &["As a result, the Libfabric EFA provider is operating in"],
        ..NCCL
    },
    Cause {
        id: "nccl.ofi_memlock",
        sign: r"EFA internal error: \(4112\)|Libfabric error: \(-12\) Cannot allocate memory|libfabric:.*(Unable to register MR|cannot allocate memory for EFA's).*Cannot allocate memory|NET/OFI Couldn't enable endpoint\. RC: -12",
        says: "EFA may lock too little memory",
        means: "The limit of locked memory (memlock) of the job is too low, or the card's own limit of registered pages is reached.",
        act: "`ulimit -l` inside of the job has to say unlimited (the playbook `limits`, LimitMEMLOCK of slurmd or the container's daemon, `--ulimit memlock=-1`); where it is, use huge pages or fewer workers that register memory",
        sources: &[
            seen("https://github.com/awslabs/awsome-distributed-ai/issues/647", "2025-04-19"),
            seen("https://github.com/ofiwg/libfabric/issues/9739", "2024-01-21"),
        ],
        samples: &[
            "EFA internal error: (4112) Failure to post internal receive buffers",
            "libfabric:718892:1658904526::efa:mr:efa_mr_regattr():632<warn> Unable to register MR: Cannot allocate memory",
        ],
        ..NCCL
    },
    Cause {
        id: "nccl.ofi_register",
        sign: "NET/OFI.*(Couldn't register memory|Unable to register memory|Could not register memory|fi_mr_regattr).*(Cannot allocate memory|Bad address|Invalid argument|RC: -1[24])",
        says: "EFA could not register memory",
        means: "Locked memory is limited, or GPU memory cannot be registered (no GPUDirect on this instance, efa module without it).",
        act: "`ulimit -l` inside of the job has to say unlimited (`--ulimit memlock=-1` for Docker); `modinfo efa` and `/sys/class/infiniband/*/device/p2p` say whether GPUDirect is there",
        sure: Sure::Guess,
        sources: OFI,
        samples: &[
            "ip-192-0-2-9:1:2 [0] NCCL WARN NET/OFI Couldn't register memory region with regattr. RC: -12, ERROR: Cannot allocate memory",
        ],
        ..NCCL
    },
    Cause {
        id: "nccl.ofi_old_libfabric",
        sign: "NET/OFI.*(requires at least libfabric version (?<version>[0-9.]+)|GIN requires GDRCopy|libfabric version .* is too old)",
        says: "libfabric is too old for this plugin[: it wants {version}]",
        means: "The plugin aws-ofi-nccl and libfabric come from different EFA installers.",
        act: "install libfabric and the plugin of one EFA installer",
        remedy: Remedy::Install,
        sure: Sure::Confirmed,
        sources: OFI,
        samples: &[
            "ip-192-0-2-9:1:2 [0] NCCL WARN NET/OFI EFA provider requires at least libfabric version 1.22.0.",
        ],
        ..NCCL
    },
    Cause {
        id: "nccl.ofi_request",
        sign: "NET/OFI (Request .*completed with error|.*fi_cq_readerr|.*Unable to retrieve completion queue entries)",
        says: "a request over EFA failed",
        means: "The other side ended or the path to it was lost. The words behind the error number tell more.",
        act: FIRST_RANK,
        follows: DEATHS,
        sources: OFI,
        samples: &[
            "algo-1:462:462 [0] ofi_process_cq:1033 NCCL WARN NET/OFI Request 0x7f22 completed with error. RC: 21. Error: unknown error. Completed length: 0, Request: { buffer_index: 1 }",
        ],
        ..EFFECT
    },
    Cause {
        id: "nccl.ofi_note",
        sign: "SHM transfer will be disabled because of ptrace protection|FI_HMEM capability requires RDMA, which this device does not support|NET/OFI (Only EFA provider is supported|Setting .* environment variable|Could not disable CUDA API usage|Failed to find shared library info)",
        says: "the plugin tells of its settings",
        means: "On instances without EFA the plugin steps back, and NCCL takes its own network.",
        sources: OFI,
        samples: &["ip-192-0-2-9:1:2 [0] NCCL INFO NET/OFI Only EFA provider is supported"],
        ..NOTE
    },
    Cause {
        id: "nccl.ofi_no_gdr",
        sign: "NET/OFI GDR disabled on GDR-supported instance type (?<type>[^ ]+)|NET/OFI GDR support reported to NCCL but then couldn't be configured",
        says: "GPUDirect RDMA does not work on this instance[ ({type})]",
        means: "The instance can write into GPU memory, but libfabric, the module efa or the NVIDIA driver of this image do not offer it.",
        act: "install the current EFA installer (module efa, libfabric and plugin together) and a driver with open modules or nvidia_peermem; `/sys/class/infiniband/*/device/p2p` names the provider",
        remedy: Remedy::Install,
        sources: OFI,
        samples: &[
            "ip-192-0-2-9:1:2 [0] NCCL WARN NET/OFI GDR disabled on GDR-supported instance type p4d.24xlarge",
        ],
        ..NCCL
    },
    Cause {
        id: "nccl.ofi_cudart",
        sign: "NET/OFI.*Failed to (find CUDA Runtime library|load CUDA runtime symbol|resolve CUDA function)",
        says: "the EFA plugin finds no CUDA runtime that fits",
        means: "The plugin opens libcudart itself, and it is not on the loader's path or of another release.",
        act: "add the directory of libcudart.so (of the CUDA release of the plugin) to LD_LIBRARY_PATH in the image",
        sources: OFI,
        samples: &[
            "NCCL WARN NET/OFI Failed to find CUDA Runtime library: libcudart.so: cannot open shared object file: No such file or directory",
        ],
        ..NCCL
    },
    Cause {
        id: "nccl.ofi_runtime_older",
        sign: r"NET/OFI Couldn't set (?<option>FI_OPT_EFA_[A-Z0-9_]+)\. RC: -92",
        says: "the plugin was built for a newer libfabric than it finds ({option})",
        means: "aws-ofi-nccl asks for an option that this libfabric does not have yet: another libfabric is found first, or the host's and the image's installers differ.",
        act: "`ldd` of libnccl-net.so says which libfabric is found: put the one of the plugin's own EFA installer first (/opt/amazon/efa/lib), or take a plugin of that installer's release",
        remedy: Remedy::Install,
        sources: &[seen("https://github.com/aws/aws-ofi-nccl/issues/241", "2023-08-16")],
        samples: &[
            "configure_sendrecv_inorder:213 NCCL WARN NET/OFI Couldn't set FI_OPT_EFA_SENDRECV_IN_ORDER_ALIGNED_128_BYTES. RC: -92, ERROR: Protocol not available",
        ],
        ..NCCL
    },
    Cause {
        id: "nccl.ofi_failed",
        sign: "NET/OFI (aws-ofi-nccl initialization failed|Failed to initialize|Caught exception in plugin|Creating new endpoint for domain .* failed)|NCCL WARN NET/OFI ",
        says: "the EFA plugin failed",
        means: "The first line of NET/OFI or libfabric says why; NCCL stops, or goes on over sockets where it was starting.",
        act: "look at the lines of NET/OFI and libfabric before; `FI_LOG_LEVEL=warn` shows more; `fi_info -p efa` shows whether there are devices",
        sources: OFI,
        samples: &["ip-192-0-2-9:1:2 [0] NCCL WARN NET/OFI aws-ofi-nccl initialization failed"],
        ..EFFECT
    },
    // SHARP.
    Cause {
        id: "nccl.sharp_port_used",
        sign: r"ERROR collect_ports_data: device (?<card>[^ ]+) port (?<port>[0-9]+) is not valid \(port is used by SM\)",
        says: "SHARP cannot use port {port} of {card}, as the subnet manager runs on it",
        means: "SHARP does not take a port that the subnet manager of this host uses.",
        act: "run opensm (with sharp_am) on another port or host, or leave {card} out of NCCL_IB_HCA",
        sources: &[seen("https://github.com/NVIDIA/nccl/issues/1219", "2024-03-12")],
        samples: &[
            "[node1:1:28576 unique id 1201360626793454896] ERROR collect_ports_data: device mlx5_0 port 1 is not valid (port is used by SM)",
        ],
        ..NCCL
    },
    Cause {
        id: "nccl.sharp_no_manager",
        sign: r"No Aggregation Manager \(sharp_am\) detected|no AM service record found|unable to connect to AM",
        counts: Counts::Warn,
        says: "no aggregation manager of SHARP runs on this fabric",
        means: "SHARP needs sharp_am beside the subnet manager. NCCL goes on without it.",
        act: "start sharp_am with the master subnet manager (UFM, or opensm with its AM key), or ask the provider; otherwise leave NCCL_COLLNET_ENABLE and NCCL_ALGO=CollNet out",
        follows: ENDED,
        sure: Sure::Confirmed,
        sources: &[seen(
            "https://docs.nvidia.com/networking/display/sharpv300/running-nvidia-sharp-am-daemon",
            "2026-11-30",
        )],
        samples: &["ERROR No Aggregation Manager (sharp_am) detected in sharp_create_job."],
        ..NCCL
    },
    Cause {
        id: "nccl.sharp_no_resource",
        sign: "SHArP Job init error: No resource|Begin job id: [0-9]+ failed with status: No resource",
        counts: Counts::Warn,
        says: "SHARP has no free resources for this job",
        means: "Other jobs use the trees of the switches, or the job's ports are not in the trees. NCCL goes on without it.",
        act: "end other jobs with SHARP, or leave NCCL_COLLNET_ENABLE out; whoever runs the fabric sees the jobs in sharp_am",
        follows: ENDED,
        sources: &[seen("https://github.com/NVIDIA/nccl-tests/issues/311", "2025-05-26")],
        samples: &[
            "[gpu34:0:34088 - context.c:705][2025-05-26 15:39:24] ERROR SHArP Job init error: No resource",
        ],
        ..NCCL
    },
    Cause {
        id: "nccl.sharp_job",
        sign: r"SHARP coll init error: (?<error>[^(]*\(-?[0-9]+\)|.*)",
        counts: Counts::Warn,
        follows: SHARP_WHY,
        says: "SHARP did not start: {error}",
        means: "The aggregation manager gave no job: it does not run, it has no free trees, or the provider of the fabric does not offer SHARP. NCCL goes on without it.",
        act: "ask whoever runs the fabric whether SHARP is offered; where it is, look at sharp_am beside the subnet manager; otherwise leave NCCL_COLLNET_ENABLE and NCCL_ALGO=CollNet out",
        sources: &[
            seen("https://github.com/NVIDIA/nccl/issues/1050", "2023-11-09"),
            seen("https://github.com/Mellanox/nccl-rdma-sharp-plugins (src/sharp_plugin.c)", "2026-11-30"),
        ],
        samples: &[
            "ib-vm-52:1047884:1048148 [7] sharp_plugin.c:320 NCCL WARN NET/IB : SHARP coll init error: Cannot create SHARP job(-11)",
        ],
        ..NCCL
    },
    Cause {
        id: "nccl.sharp_group",
        sign: "SHARP group create|SHARP: Unable to|Failed to lock SAT tree",
        counts: Counts::Warn,
        follows: ENDED,
        says: "SHARP has no free tree for this job",
        means: "The switches aggregate for another job, or do not support streaming (SAT).",
        act: "end other jobs with SHARP or leave NCCL_COLLNET_ENABLE out; the job goes on without it",
        sure: Sure::Guess,
        sources: &[seen("https://github.com/Mellanox/nccl-rdma-sharp-plugins/issues/151", "2024-03-19")],
        samples: &[
            "C25L19:19373:19491 [3] sharp_plugin.c:302 NCCL WARN SHARP group create: Streaming Tree lock failed (-18)",
        ],
        ..NCCL
    },
    Cause {
        id: "nccl.sharp_effect",
        sign: "ERROR (collect_ports_data: failed to find valid ports|sharp_[a-z_]+)|SHARPD_OP_CREATE_JOB failed|Cannot initialize CollNet, using point-to-point network instead|Error : no algorithm/protocol available",
        counts: Counts::Warn,
        says: "SHARP (CollNet) is not used",
        means: "NCCL could not start SHARP and takes its point-to-point network; with NCCL_ALGO=CollNet alone nothing is left.",
        act: "look at the first line of SHARP; leave NCCL_ALGO and NCCL_COLLNET_ENABLE out where SHARP is not needed",
        samples: &[
            "ib-vm-41:1056918:1057186 [0] transport.cc:323 NCCL WARN Cannot initialize CollNet, using point-to-point network instead",
            "201: :41367:41367 [1] enqueue.cc:422 NCCL WARN Error : no algorithm/protocol available",
        ],
        ..EFFECT
    },
    // Sockets and the start.
    Cause {
        id: "nccl.interface_missing",
        sign: "NCCL WARN (Boot[Ss]trap : no socket interface found|NET/Socket : (no interface found|No usable listening interface found)|NET/IB : No IP interface found|no device found (matching|after excluding) (?<name>[^,]+), verify)",
        near: &[r"NCCL_SOCKET_IFNAME(?:=| set (?:by environment )?to )(?<interface>[^ ]+)"],
        says: "NCCL finds no interface for its connections[: NCCL_SOCKET_IFNAME is {interface}]",
        means: "NCCL_SOCKET_IFNAME names an interface that this host or container does not have, or none but lo and docker0 has an address.",
        act: "compare NCCL_SOCKET_IFNAME with `ip -br addr` on each host and in the container; name a prefix that all have (`eth`, `bond`, `=eth0` for exactly one), or leave it out",
        sources: &[seen("https://github.com/NVIDIA/nccl (src/bootstrap.cc)", "2026-11-30")],
        samples: &[
            "gpu0:1:2 [0] bootstrap.cc:45 NCCL WARN Bootstrap : no socket interface found",
            "gpu0:1:2 [0] bootstrap.cc:120 NCCL WARN no device found matching exactly eth9, verify NCCL_OOB_NET_IFNAME",
        ],
        ..NCCL
    },
    Cause {
        id: "nccl.subnet",
        sign: "NCCL WARN Net : No interface found in the same subnet as remote address (?<address>[^ <]+)",
        says: "this host has no interface in the subnet of {address}",
        means: "NCCL_COMM_ID names an address that is in none of this host's networks.",
        act: "set NCCL_SOCKET_IFNAME to the interface that reaches it, or NCCL_COMM_ID to an address of a common network",
        sources: SOCKET,
        samples: &[
            "gpu0:1:2 [0] misc/socket.cc:237 NCCL WARN Net : No interface found in the same subnet as remote address 192.0.2.7<5000>",
        ],
        ..NCCL
    },
    Cause {
        id: "nccl.comm_id",
        sign: r"NCCL WARN (Invalid NCCL_COMM_ID|Net : (No valid (<IPv4_or_hostname>|\[IPv6\]):(<port>|port) pair found|error encountered when getting address info : (?<error>.*)))",
        says: "NCCL_COMM_ID is wrong[: {error}]",
        means: "The address of rank 0 in NCCL_COMM_ID cannot be read or its name cannot be resolved.",
        act: "write it as address and port, such as 192.0.2.7:5000, or make the name resolve on each host",
        sure: Sure::Confirmed,
        sources: SOCKET,
        samples: &[
            "gpu0:1:2 [0] misc/socket.cc:266 NCCL WARN Net : error encountered when getting address info : Name or service not known",
        ],
        ..NCCL
    },
    Cause {
        id: "nccl.bridge_address",
        sign: r"(NCCL|Net|socket[A-Za-z]*).*[Cc]onnect to (?<address>172\.1[7-9]\.0\.[0-9]+|192\.168\.122\.[0-9]+|127\.[0-9.]+|169\.254\.[0-9.]+|fe80:[^ <]*)(<[0-9]+>)? (failed|returned)",
        says: "a rank told the others its address {address}, which only its own host has",
        means: "Bridges of containers (docker0, virbr0), lo and link-local addresses cannot be reached from other hosts.",
        act: "set NCCL_SOCKET_IFNAME to the interface between the hosts (or `^docker0,lo,virbr0`) on all hosts, and see that the host's name does not resolve to 127.0.1.1",
        sources: &[
            seen(
                "https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html#nccl-socket-ifname",
                "2026-11-30",
            ),
            seen("https://github.com/NVIDIA/nccl (src/misc/socket.cc)", "2026-11-30"),
        ],
        samples: &[
            "gpu0:1:2 [0] misc/socket.cc:483 NCCL WARN socketStartConnect: Connect to 172.17.0.1<41111> failed : No route to host",
            "gpu0:1:2 [0] include/socket.h:403 NCCL WARN Net : Connect to 127.0.1.1<41111> failed : Connection refused",
        ],
        ..NCCL
    },
    Cause {
        id: "nccl.connect_unanswered",
        sign: r"socketPollConnect poll\(\) (returned [0-9]+, no POLLOUT|failed, ret [0-9-]+, error Connection timed out)|socket(Poll|Start)Connect: connect returned Connection timed out, retrying|socket(Poll|Start)Connect: [Cc]onnect to \S+ returned Connection timed out, (retrying|exceeded)",
        near: &[r"[Cc]onnect to (?<address>[0-9A-Fa-f.:]*[0-9A-Fa-f])[:<][0-9]+"],
        says: "a TCP connection of NCCL's start is not answered[: {address}]",
        means: "The other host dropped the packets that open a connection: its listen queue or connection table is full, or a firewall drops them. A host that is down looks the same. RDMA and GPUs have no part in it.",
        act: "on the host of that address: `nstat -az TcpExtListenDrops TcpExtListenOverflows`, `dmesg | grep -iE 'nf_conntrack|SYN flooding'`, its firewall; with many ranks raise `net.core.somaxconn` and `net.ipv4.tcp_max_syn_backlog` there",
        follows: DEATHS,
        sources: &[
            seen("https://github.com/NVIDIA/nccl/issues/1618", "2025-02-26"),
            seen("https://github.com/NVIDIA/nccl (src/misc/socket.cc)", "2026-12-01"),
        ],
        samples: &[
            "[misc/socket.cc:586] [gpu0:pid=3942408] NCCL WARN socketPollConnect poll() returned 1, no POLLOUT events",
            "[misc/socket.cc:602] [gpu0:pid=3987720] NCCL WARN socketPollConnect poll() failed, ret 1, error Connection timed out, revents 8, connect to 192.0.2.229:39953",
        ],
        ..NCCL
    },
    Cause {
        id: "nccl.blocked",
        sign: r"(NCCL|Net|socket[A-Za-z]*).*[Cc]onnect to (?<address>[0-9A-Fa-f:.]+|[a-z][A-Za-z0-9.-]*)(<[0-9]+>)? (failed : |returned ([0-9]+\()?)(?<error>No route to host|Network is unreachable|Connection timed out|No such device or address)",
        says: "{address} cannot be reached: {error}",
        means: "A firewall between the hosts rejects or drops NCCL's ports, which are chosen at random, or NCCL took an interface that does not lead there.",
        act: "test `nc -vz {address} PORT` both ways; open all ports between the hosts of a job (the playbook `firewall`), then set NCCL_SOCKET_IFNAME to the interface between them; look also whether that host is up",
        follows: DEATHS,
        sources: SOCKET,
        samples: &[
            "gpu0:1:2 [0] misc/socket.cc:483 NCCL WARN socketStartConnect: Connect to 192.0.2.7<41111> failed : No route to host",
            "gpu0:1:2 [0] misc/socket.cc:592 NCCL WARN socketPollConnect: Connect to 192.0.2.7<41111> returned 113(No route to host) errno 115(Operation now in progress)",
        ],
        ..NCCL
    },
    Cause {
        id: "nccl.connect_retry",
        sign: "NCCL INFO .*([Cc]onnect to (?<address>[^ <]+)(<[0-9]+>)? returned [A-Z].*, retrying|Call to (connect|accept) returned .*, retrying)",
        says: "NCCL tries again to reach a rank",
        means: "A rank was not listening yet. Only when the tries end it is an error.",
        sources: SOCKET,
        samples: &[
            "gpu0:1:2 [0] NCCL INFO socketPollConnect: connect to 192.0.2.7<41111> returned Connection refused, retrying (2/34) after sleep for 200 msec",
            "gpu0:1:2 [0] NCCL INFO Call to connect returned Connection refused, retrying",
        ],
        ..NOTE
    },
    Cause {
        id: "nccl.refused",
        sign: r"(NCCL WARN|Net|socket(Start|Poll)Connect).*([Cc]onnect to (?<address>[^ <]+)(<[0-9]+>)? (failed : |returned )([0-9]+\()?Connection refused|[Cc]onnect: exceeded (retries|timeouts)|exceeded error retry count)",
        says: "a rank[ at {address}] does not listen any more",
        means: "The process that should answer has ended or never got there.",
        act: FIRST_RANK,
        follows: DEATHS,
        sources: SOCKET,
        samples: &[
            "gpu0:1:2 [0] misc/socket.cc:592 NCCL WARN socketPollConnect: connect to 192.0.2.7<41111> returned Connection refused, exceeded error retry count after 35 attempts",
            "gpu0:1:2 [0] misc/socket.cc:466 NCCL WARN socketStartConnect: exceeded retries (20000)",
        ],
        ..EFFECT
    },
    Cause {
        id: "nccl.connect",
        sign: "(Net ?: |socket(Start|Poll)Connect: )[Cc]onnect to (?<address>[^ <]+)(<[0-9]+>)? (failed : |returned )(?<error>.*)",
        says: "a rank could not reach {address}: {error}",
        means: "The process at the other end ended, or the interface does not lead there.",
        act: "look for a rank that ended first; at the very start set NCCL_SOCKET_IFNAME to the interface between the hosts (and NCCL_SOCKET_FAMILY=AF_INET)",
        follows: DEATHS,
        sources: SOCKET,
        samples: &[
            "socketStartConnect: Connect to 192.0.2.2<45123> failed : Software caused connection abort",
        ],
        ..EFFECT
    },
    Cause {
        id: "nccl.wrong_magic",
        sign: "NCCL WARN socketFinalizeAccept.*(: wrong magic|: wrong type)",
        says: "something that is no rank of this job connected to NCCL's port",
        means: "A port scan, a health check or a process of another job opened the port.",
        act: "keep scanners off the network of jobs and end left-over processes; NCCL 2.27.3 and newer put such connections aside",
        sources: &[
            seen("https://github.com/NVIDIA/nccl/issues/1612", "2025-08-22"),
            seen("https://github.com/NVIDIA/nccl (src/misc/socket.cc)", "2026-11-30"),
        ],
        samples: &[
            "gpu0:1:2 [0] misc/socket.cc:431 NCCL WARN socketFinalizeAccept: wrong magic 2f20544547 != 34f5a6d1c9a1b2c3",
        ],
        ..NCCL
    },
    Cause {
        id: "nccl.discarded",
        sign: "NCCL INFO .*socketFinalizeAccept.*(discarding|didn't receive a valid magic)",
        says: "NCCL put a foreign connection aside",
        means: "Something that is no rank, such as a port scan, connected. The job goes on.",
        sources: SOCKET,
        samples: &[
            "gpu0:1:2 [0] NCCL INFO socketFinalizeAccept: peer 192.0.2.3<36138> closed before magic handshake, discarding",
        ],
        ..NOTE
    },
    Cause {
        id: "nccl.open_files",
        sign: "NCCL.*Too many open files",
        says: "a process of NCCL may open too few files",
        means: "The limit of open files (nofile) of the job is too low for its sockets, of which a large job needs many.",
        act: "raise nofile for the job: the playbook `limits`, `--ulimit nofile=1048576` for Docker, LimitNOFILE of slurmd for Slurm; job.nofile shows what a job has",
        sure: Sure::Confirmed,
        samples: &[
            "gpu0:1:2 [0] misc/socket.cc:414 NCCL WARN socketTryAccept: Accept failed: Too many open files",
            "gpu0:1:2 [0] NCCL WARN Call to socket failed : Too many open files",
        ],
        ..NCCL
    },
    Cause {
        id: "nccl.threads",
        sign: "NCCL WARN .*pthread_create.*Resource temporarily unavailable",
        says: "the job may start too few threads",
        means: "The limit of processes (nproc) or of the cgroup (pids) is reached.",
        act: "raise `ulimit -u` for the job and pids.max of its cgroup (`--pids-limit=-1` for Docker, TasksMax of the unit)",
        samples: &["gpu0:1:2 [0] NCCL WARN Call to pthread_create failed : Resource temporarily unavailable"],
        ..NCCL
    },
    Cause {
        id: "nccl.no_memory",
        sign: "NCCL WARN (Failed to malloc [0-9]+ bytes|Call to mmap failed : Cannot allocate memory|Call to posix_memalign failed)",
        says: "the host gave NCCL no memory",
        means: "Memory of the host or of the job's cgroup is used up.",
        act: "give the job more memory (`--mem` of Slurm, limits of the pod); `free -g` and the kernel's log show who has it",
        samples: &["gpu0:1:2 [0] include/alloc.h:47 NCCL WARN Failed to malloc 1048576 bytes"],
        ..NCCL
    },
    Cause {
        id: "nccl.in_bootstrap",
        sign: r"NCCL INFO bootstrap\.cc:[0-9]+ -> [0-9]",
        says: "NCCL failed while ranks met",
        means: "A line of NCCL's trace.",
        samples: &["[0] NCCL INFO bootstrap.cc:701 -> 6"],
        ..NOTE
    },
    Cause {
        id: "nccl.peer_closed",
        sign: "((Net ?: |socketProgress: )?Connection closed by remote peer( (?<peer>[^ <]+))?|Call to (recv|recv from|send|send to|recvmsg)( from)? ?(?<host>[^ <]*)(<[0-9]+>)? failed : (Connection reset by peer|Broken pipe|Connection timed out|Connection refused|Success))",
        says: "another rank closed its connection[: {peer}]",
        means: "The process at the other end ended. These lines are of those that were left over.",
        act: FIRST_RANK,
        follows: DEATHS,
        apart: &[Apart {
            beside: &["nccl.in_bootstrap"],
            act: "find the rank that ended first, and its own error; where none ended, or the address is of no host of this job, a port scan or health check opened NCCL's port: keep it off the network of jobs, or use NCCL 2.27.3 or newer, which puts such connections aside; the host of the address is not broken for this line",
        }],
        sources: &[
            seen("https://github.com/NVIDIA/nccl/issues/795", "2023-03-02"),
            seen("https://github.com/NVIDIA/nccl/issues/1612", "2025-08-22"),
        ],
        samples: &[
            "[0] misc/socket.cc:71 NCCL WARN socketProgress: Connection closed by remote peer 192.0.2.3<36138>",
            "host-22:183006:183220 [1] misc/socket.cc:518 NCCL WARN Net : Call to recv from 192.0.2.247<58355> failed : Broken pipe",
        ],
        ..EFFECT
    },
    Cause {
        id: "nccl.proxy",
        sign: r"NCCL WARN (\[Proxy Service [0-9]+\] Failed to execute operation|\[Service thread\]|\[Proxy Service\] (Too many connections|Poll failed)|Proxy Call to rank|Socket recv failed|ncclProxy[A-Za-z]+ call to|NET/Socket : socket progress error|UDS: |Couldn't find opId|Proxy response for opId|Resource temporarily)",
        says: "a helper thread of NCCL failed",
        means: "The proxy of a rank could not go on. The first warning of the ranks says why.",
        act: "look at the first warning before this line, on all ranks",
        follows: DEATHS,
        samples: &[
            "host-22:183006:183220 [1] proxy.cc:1119 NCCL WARN [Proxy Service 9] Failed to execute operation Connect from rank 9, retcode 6",
            "gpu0:1:2 [2] proxy.cc:1326 NCCL WARN Socket recv failed",
        ],
        ..EFFECT
    },
    // Driver, topology, settings.
    Cause {
        id: "nccl.nvml",
        sign: r"NCCL WARN nvml[A-Za-z_0-9]+\([^)]*\) failed: (?<error>.*)",
        says: "the driver's library refuses NCCL: {error}",
        means: "NVML does not answer: the library and the module have different versions, a GPU is lost, or the container shows a part of the GPUs only.",
        act: "run `nvidia-smi` in the same place: it says the same with more words; on a version mismatch reboot or load the modules again; driver.coherence shows the versions",
        remedy: Remedy::Settings,
        sure: Sure::Guess,
        samples: &[
            "gpu0:1:2 [0] misc/nvmlwrap.cc:187 NCCL WARN nvmlInit_v2() failed: Driver/library version mismatch",
            "gpu0:1:2 [0] misc/nvmlwrap.cc:221 NCCL WARN nvmlDeviceGetHandleByPciBusId() failed: Not Found ",
        ],
        ..NCCL
    },
    Cause {
        id: "nccl.driver_old",
        sign: "NCCL WARN (CUDA Driver version found is|NCCL cannot be captured in a graph|The installed CUDA driver is older)",
        counts: Counts::Warn,
        follows: ENDED,
        says: "the driver is too old for a part of NCCL",
        means: "NCCL leaves out what the driver cannot do.",
        act: "take a newer driver, or an NCCL of the driver's time",
        remedy: Remedy::Install,
        samples: &["gpu0:1:2 [0] NCCL WARN CUDA Driver version found is 11040. Minimum requirement is 12000"],
        ..NCCL
    },
    Cause {
        id: "nccl.topology_aws",
        sign: "NCCL WARN Attribute (?<what>arch|vendor|familyid|modelid|affinity) of node cpu not found",
        near: &["NCCL_TOPO_FILE set (by environment )?to (?<file>[^ ]+)"],
        says: "the topology file does not describe all CPUs as this NCCL wants[: {file}]",
        means: "A file of the topology names a CPU without its attributes. It shows where only a part of the GPUs is used, on AWS P5 with the file that aws-ofi-nccl brought before 1.11.",
        act: "take aws-ofi-nccl 1.11 or later, which makes the topology itself, and leave NCCL_TOPO_FILE out; with an NCCL before 2.8 take a newer one",
        remedy: Remedy::Install,
        sources: &[
            seen("https://github.com/aws/aws-ofi-nccl/issues/785", "2025-02-21"),
            seen("https://github.com/NVIDIA/nccl/issues/379", "2020-10-07"),
        ],
        samples: &[
            "2a8874e7d1e6:2196:2275 [1] graph/xml.h:101 NCCL WARN Attribute arch of node cpu not found",
        ],
        ..NCCL
    },
    Cause {
        id: "nccl.topology_file",
        sign: "NCCL WARN (XML (Parse|Topology|Graph|Mismatch|Import)|Error : (XML parser is limited|too many XML|ran out of room|tried to create too many nodes)|Could not open XML graph file|Attribute [a-z]+ of node)",
        near: &["(NCCL_TOPO_FILE|NCCL_GRAPH_FILE) set (by environment )?to (?<file>[^ ]+)"],
        says: "the topology that NCCL reads is wrong[: {file}]",
        means: "NCCL_TOPO_FILE or NCCL_GRAPH_FILE leads to a file for another machine or version, or the machine has more devices than this NCCL knows.",
        act: "leave NCCL_TOPO_FILE and NCCL_GRAPH_FILE out where the provider does not ask for them, or take the file for this machine type; otherwise a newer NCCL",
        sure: Sure::Guess,
        samples: &["gpu0:1:2 [0] graph/xml.cc:39 NCCL WARN XML Parse : Unexpected EOF"],
        ..NCCL
    },
    Cause {
        id: "nccl.merge_nics",
        sign: "NCCL WARN (TOPO/NET : |Fusing NET devices from different NUMA|Specified fused NIC)",
        says: "network cards cannot be merged as NCCL_NET_FORCE_MERGE asks",
        means: "The setting names cards that are not there or too many.",
        act: "leave NCCL_NET_FORCE_MERGE out, or name the cards of `NET/IB : Using`",
        samples: &[
            "gpu0:1:2 [0] NCCL WARN TOPO/NET : Could not force merge NICs mlx5_9. Please specify a valid NCCL_NET_FORCE_MERGE string.",
        ],
        ..NCCL
    },
    Cause {
        id: "nccl.speed_note",
        sign: "NCCL INFO .*(Could not get speed (for interface|from)|NET/IB : No device found|Could not open XML topology file|No NVML device handle|RAS failed to establish a client listening socket|dlvsym failed on|Failed to open mlx5dv symbols|Accept failed Resource temporarily unavailable|P2P is not supported|Could not enable P2P between|NCCL_[A-Z_]+ set by environment|unlink shared memory .* failed)",
        says: "NCCL tells of something that it goes on without",
        means: "An information of NCCL, not an error.",
        samples: &[
            "gpu0:1:2 [0] NCCL INFO Could not get speed from /sys/class/net/eth0/speed. Defaulting to 10 Gbps.",
            "gpu0:1:2 [0] NCCL INFO NET/IB : No device found.",
        ],
        ..NOTE
    },
    Cause {
        id: "nccl.warn_note",
        sign: r"NCCL WARN .*(\[Service thread\] Accept failed|Could not find a path for pattern|Could not find real path of|Ignoring SHM locality|is being ignored because it is not a power of 2|is larger than (#channels upper limit|maxCTAs)|NCCL_CGA_CLUSTER_SIZE value|splitShare [0-9-]+ is not a valid value|CollNet currently only supports|fails to share parent comms|is greater than the maximum allowed|NCCL_NET_MERGE_POLICY: unknown|Resiliency is enabled on|graphStreamOrdering=0|NCCL_CTA_POLICY|PCI relaxed order memory access requested|SHARP int8,uint8,bfloat16|Encountered a stale CQE|remote FLID configured as zero)",
        says: "NCCL corrects a setting and goes on",
        means: "A remark of NCCL at the level WARN, after which it goes on.",
        samples: &[
            "gpu0:1:1 [0] proxy.cc:1485 NCCL WARN [Service thread] Accept failed Resource temporarily unavailable",
            "gpu0:1:1 [0] graph/search.cc:1097 NCCL WARN Could not find a path for pattern 4, falling back to simple order",
        ],
        ..NOTE
    },
    Cause {
        id: "nccl.invalid_call",
        sign: "NCCL WARN ((AllReduce|Broadcast|Reduce|AllGather|ReduceScatter|Send|Recv|CommInitRank|[A-Za-z]+) : .*(argument is NULL|is not a valid pointer|invalid root|invalid type|mismatchs with NCCL device)|Invalid rank requested|Invalid device count requested|rank [0-9]+ exceeds ndev|Error: corrupted comm object|Comm [^ ]+ is in abort state|Attempt to use communicator before|ncclConfig_t argument not initialized|Inval(id|ig) config [a-zA-Z/ ]+ attribute value|improper usage of|[Ii]nvalid device count|Invalid device [0-9]+ |nccl[A-Z][A-Za-z]+: (pass NULL|total ranks|existing ranks|new rank|invalid|count must|not in a group)|ncclRedOpDestroy|[a-zA-Z]+ : (invalid reduction operation|reduction operation [0-9]+ unknown)|Streams given to a communicator|Blocking and nonblocking communicators|Either none or all communicators|Trying to (send|recv) to self without|comm [^ ]+ has already been destroyed|Data type supplied to user-created|[^ ]+: communicator was revoked)",
        says: "the program calls NCCL in a wrong way",
        means: "A pointer, rank or communicator of the call is not valid. It is in the program.",
        act: "set the device by the local rank before the communicator is made, and use tensors of that device only",
        sure: Sure::Guess,
        follows: DEATHS,
        samples: &[
            "gpu0:1:2 [1] misc/argcheck.cc:39 NCCL WARN Broadcast : invalid root 1 (root should be in the 0..1 range)",
            "gpu0:1:2 [1] misc/argcheck.cc:22 NCCL WARN AllReduce : sendbuff allocated on device 0 mismatchs with NCCL device 1",
        ],
        ..NCCL
    },
    Cause {
        id: "rccl.iommu",
        sign: r#"NCCL WARN Missing "?iommu=pt"? from kernel command line|WARN NUMA auto balancing enabled which can lead to variability"#,
        counts: Counts::Warn,
        follows: ENDED,
        says: "the kernel is not set up for GPUs that share memory",
        means: "The library asks for iommu=pt on the kernel's command line, and for no automatic balancing of NUMA.",
        act: "add iommu=pt to the kernel's command line, and `sysctl kernel.numa_balancing=0`",
        sources: &[seen("https://github.com/ROCm/rccl (src/init.cc)", "2026-11-30")],
        samples: &[
            "gpu0:1:2 [0] NCCL WARN Missing \"iommu=pt\" from kernel command line which can lead to system instablity or hang!",
        ],
        ..NCCL
    },
    Cause {
        id: "nccl.wrong_values",
        sign: "# Out of bounds values : [1-9][0-9]* FAILED",
        says: "nccl-tests counted wrong values",
        means: "Data arrived changed: mostly peer access over PCIe through an IOMMU or access control (ACS), else a driver's fault or broken hardware.",
        act: "run again with NCCL_P2P_DISABLE=1, then with NCCL_NET_GDR_LEVEL=0: where it is right then, look at pcie.acs and the IOMMU (`iommu=pt`); where it is one GPU or host only, run `dcgmi diag -r 3` there",
        remedy: Remedy::Look,
        sure: Sure::Guess,
        sources: &[
            seen("https://github.com/NVIDIA/nccl-tests (src/common.cu)", "2026-11-30"),
            seen(
                "https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/troubleshooting.html",
                "2026-11-30",
            ),
        ],
        samples: &["# Out of bounds values : 48 FAILED"],
        ..NCCL
    },
    // NVSHMEM.
    Cause {
        id: "nvshmem.peer_mapping",
        sign: "GPU cannot map UAR of device (?<card>[a-z0-9_]+)|cudaHostRegister with IoMemory failed with error=800",
        counts: Counts::Warn,
        says: "GPUs may not reach the doorbell of the RDMA card[ {card}] (IBGDA)",
        means: "The driver was loaded without the options that IBGDA needs.",
        act: "write `options nvidia NVreg_EnableStreamMemOPs=1 NVreg_RegistryDwords=\"PeerMappingOverride=1;\"` into a file in /etc/modprobe.d, build the initramfs again and reboot; `cat /proc/driver/nvidia/params` shows them",
        sources: &[
            seen("https://github.com/deepseek-ai/DeepEP/issues/163", "2025-05-20"),
            seen("https://github.com/deepseek-ai/DeepEP (third-party/README.md)", "2026-11-30"),
        ],
        samples: &[
            "WARN: GPU cannot map UAR of device mlx5_1. Skipping...",
            "WARN: cudaHostRegister with IoMemory failed with error=800. We may need to use a fallback path.",
        ],
        ..NCCL
    },
    Cause {
        id: "nvshmem.no_peermem",
        sign: "neither nv_peer_mem, or nvidia_peermem detected",
        says: "nvidia_peermem is not loaded, so NVSHMEM leaves the RDMA card out",
        means: "NVSHMEM's transport wants the module that lets cards reach GPU memory.",
        act: "load `nvidia_peermem` (the playbook `peermem`); rdma.gdr_ready tells whether it is there",
        sure: Sure::Confirmed,
        sources: &[seen("https://github.com/deepseek-ai/DeepEP/issues/55", "2025-04-02")],
        samples: &[
            "/home/nvshmem_src/src/modules/transport/ibrc/ibrc.cpp:nvshmemt_init:1851: neither nv_peer_mem, or nvidia_peermem detected. Skipping transport.",
        ],
        ..NCCL
    },
    Cause {
        id: "nvshmem.address_handle",
        sign: r"ibgda\.cpp:[0-9]+: NULL value Unable to create ah",
        says: "NVSHMEM has no path to the peer over RDMA",
        means: "The card made no address for the peer: the GID, or a card that is of another network.",
        act: "test the cards with `ib_write_bw`; set NVSHMEM_IB_GID_INDEX to the routed RoCE v2 GID and NVSHMEM_HCA_LIST to the cards of one network",
        sure: Sure::Guess,
        sources: &[seen("https://github.com/NVIDIA/nvshmem/issues/33", "2025-12-31")],
        samples: &[
            "/dvs/p4/build/main_nvshmem/src/modules/transport/ibgda/ibgda.cpp:2234: NULL value Unable to create ah.",
        ],
        ..NCCL
    },
    Cause {
        id: "nvshmem.modify_qp",
        sign: r"non-zero status: (?<status>[0-9]+) (\S+: non-zero status: [0-9]+ )*ibv_modify_qp failed|Error in mlx5dv_devx_obj_modify for INIT2RTR_QP",
        says: "NVSHMEM cannot connect two cards over RDMA[ (status {status})]",
        means: "The cards got no path to each other. 110: no answer from the peer. 101, 113: no route. 22: a value does not fit, mostly the GID or the port. With RoCE an old NVSHMEM takes a GID that is not routed, or a card of another network.",
        act: "test each pair with `ib_write_bw` and the same GID; set NVSHMEM_IB_GID_INDEX to the routed RoCE v2 GID (`show_gids`, mostly 3) and NVSHMEM_HCA_LIST to the cards of one network, without management or storage cards; take NVSHMEM 3.2.5 or later for RoCE",
        remedy: Remedy::Settings,
        sure: Sure::Guess,
        sources: &[
            seen("https://github.com/deepseek-ai/DeepEP/issues/38", "2025-03-11"),
            seen("https://github.com/deepseek-ai/DeepEP/issues/17", "2026-11-30"),
        ],
        samples: &[
            "/work/nvshmem_src/src/modules/transport/ibrc/ibrc.cpp:418: non-zero status: 110 ibv_modify_qp failed",
            "/root/nvshmem_src/src/modules/transport/ibgda/ibgda.cpp:1345: non-zero status: 121 Error in mlx5dv_devx_obj_modify for INIT2RTR_QP with syndrome 29e0df",
        ],
        ..NCCL
    },
    Cause {
        id: "nvshmem.devx",
        sign: r"NULL value cannot allocate mlx5dv_devx_uar|device (?<card>[^ ]+) cannot allocate buffer on the specified memory type",
        says: "NVSHMEM may not map the card's registers into the GPU (IBGDA)",
        means: "IBGDA lets the GPU ring the card's doorbell. It needs rights of DEVX in the container, and either the options of the NVIDIA module or NVSHMEM from 3.4.5 on.",
        act: "run the container once with `--privileged` to see whether it is a right; otherwise take NVSHMEM 3.4.5 or later, or set `options nvidia NVreg_EnableStreamMemOPs=1 NVreg_RegistryDwords=\"PeerMappingOverride=1;\"` in /etc/modprobe.d and load the driver anew (a reboot)",
        remedy: Remedy::Settings,
        sure: Sure::Guess,
        sources: &[
            seen("https://github.com/sgl-project/sglang/issues/12533", "2025-11-03"),
            seen("https://github.com/NVIDIA/nvshmem/issues/23", "2025-12-18"),
        ],
        samples: &[
            "/opt/nvshmem/nvshmem/src/modules/transport/ibgda/ibgda.cpp:1889: NULL value cannot allocate mlx5dv_devx_uar",
            "WARN: device mlx5_0 cannot allocate buffer on the specified memory type. Skipping...",
        ],
        ..NCCL
    },
    Cause {
        id: "nvshmem.not_mlx5",
        sign: r"WARN: device (?<card>[^ ]+) is not enumerated as an mlx5 device",
        says: "NVSHMEM's IBGDA takes only cards of mlx5, and {card} is another one",
        means: "IBGDA of this release speaks to ConnectX cards only; other cards are left out.",
        act: "use ConnectX cards for IBGDA, or a transport without it (NVSHMEM_REMOTE_TRANSPORT=ibrc, or libfabric for EFA); where ConnectX cards are there too, it is a note",
        counts: Counts::Warn,
        remedy: Remedy::Settings,
        sources: &[seen("https://github.com/deepseek-ai/DeepEP/issues/202", "2026-11-30")],
        samples: &["WARN: device erdma_0 is not enumerated as an mlx5 device. Skipping..."],
        ..NCCL
    },
    Cause {
        id: "nvshmem.built_without_ibgda",
        sign: r"Undefined reference to '?(?<symbol>nvshmemi_ibgda_[a-z_]+)",
        says: "the NVSHMEM that is linked was built without IBGDA",
        means: "DeepEP's low-latency kernels want the symbols of IBGDA.",
        act: "build NVSHMEM with NVSHMEM_IBGDA_SUPPORT=1, or install NVIDIA's package of it, and build again with NVSHMEM_DIR set to that one",
        remedy: Remedy::Install,
        sources: &[seen("https://github.com/deepseek-ai/DeepEP/issues/55", "2025-05-09")],
        samples: &[
            "nvlink error   : Undefined reference to 'nvshmemi_ibgda_device_state_d' in '/usr/src/DeepEP/build/temp.linux-x86_64-cpython-312/csrc/kernels/internode_ll.o'",
        ],
        ..NCCL
    },
    Cause {
        id: "nvshmem.bootstrap",
        sign: r"nvshmemx?_api\.h:[0-9]+: non-zero status: [0-9]+: (?<why>Connection timed out|Connection refused|No route to host)|non-zero status: [0-9]+ bootstrap_init failed",
        says: "the processes of NVSHMEM do not find each other at the start[: {why}]",
        means: "Their first TCP connections fail. NVSHMEM takes an interface by itself, and it may be one that does not lead to the other host.",
        act: "set NVSHMEM_BOOTSTRAP_UID_SOCK_IFNAME to the interface between the hosts on all of them (NCCL_SOCKET_IFNAME does not count here); then look at the firewall, and whether the other process ended",
        sure: Sure::Guess,
        sources: &[
            seen("https://github.com/deepseek-ai/DeepEP/issues/150", "2025-06-10"),
            seen("https://docs.nvidia.com/nvshmem/api/gen/env.html", "2026-12-01"),
        ],
        samples: &[
            "/sgl-workspace/nvshmem/install/include/host/nvshmemx_api.h:63: non-zero status: 7: Connection timed out, exiting...",
        ],
        ..NCCL
    },
    Cause {
        id: "nvshmem.heap_memory",
        sign: r"non-zero status: 2 cuMemCreate failed",
        says: "NVSHMEM gets no GPU memory for its heap (2, out of memory)",
        means: "The GPU has too little free memory: another process holds it, two ranks share it, or the heap is set too large.",
        act: "`nvidia-smi` on that host for other processes; one GPU for each rank; a smaller NVSHMEM_SYMMETRIC_SIZE or fewer buffers",
        sources: &[
            seen("https://github.com/deepseek-ai/DeepEP/issues/157", "2025-05-13"),
            seen("https://docs.nvidia.com/cuda/cuda-driver-api/group__CUDA__TYPES.html", "2026-12-01"),
        ],
        samples: &["/nvshmem/src/host/mem/mem_heap.cpp:1509: non-zero status: 2 cuMemCreate failed"],
        ..NCCL
    },
    Cause {
        id: "nvshmem.deepep_timeout",
        sign: r"DeepEP (?:dispatch|combine|internode|notify)[A-Za-z ]* timeout|DeepEP timeout check failed|DeepEP error: (?:CPU recv )?timeout",
        says: "a rank of DeepEP waits for others that send nothing",
        means: "Another rank ended or is late, or its messages over RDMA do not arrive. The first error of all ranks says which.",
        act: "look for a rank that ended first and for lines of NVSHMEM before; then test each pair of cards with `ib_write_bw` and the GID that NVSHMEM uses; name the cards of one network in NVSHMEM_HCA_LIST",
        follows: DEATHS,
        sources: &[seen("https://github.com/deepseek-ai/DeepEP/issues/13", "2025-02-25")],
        samples: &[
            "DeepEP dispatch NVL receiver timeout, channel: 3, RDMA: 1, nvl: 0, src NVL: 2, head: 44, tail: 44",
            "DeepEP timeout check failed: 0",
        ],
        ..EFFECT
    },
    Cause {
        id: "nvshmem.gid_note",
        sign: r"WARN: IB: read failed in ib_roce_get_version_num",
        says: "NVSHMEM passes over an empty GID",
        means: "It looks at all GIDs of the card, and some indexes are empty.",
        sources: &[seen("https://github.com/deepseek-ai/DeepEP/issues/274", "2025-10-22")],
        samples: &["WARN: IB: read failed in ib_roce_get_version_num: Invalid argument"],
        ..NOTE
    },
    Cause {
        id: "nvshmem.effect",
        sign: "init failed for (remote )?transport: |Unable to initialize any transports|nvshmem (detect topo|setup connections|initialization) failed|NVSHMEM API called before NVSHMEM initialization has completed|create DCT share err|connect EPS failed|allocate_physical_memory_to_heap failed",
        says: "NVSHMEM did not start",
        means: "No transport could be set up. The first words of NVSHMEM say why.",
        act: "look at the first line of NVSHMEM; `NVSHMEM_DEBUG=INFO` shows more; test the cards with `ib_write_bw`",
        sources: &[seen("https://github.com/deepseek-ai/DeepEP/issues/55", "2025-03-07")],
        samples: &[
            "/workspace/nvshmem_src/src/host/transport/transport.cpp:nvshmemi_transport_init:275: init failed for transport: IBGDA",
        ],
        ..EFFECT
    },
    // What programs make of it.
    Cause {
        id: "nccl.result",
        sign: "(ncclSystemError|ncclUnhandledCudaError|ncclInternalError|ncclRemoteError|ncclInvalidUsage|ncclInvalidArgument): |unhandled (system|cuda) error|NCCL [Ee]rror:? (in|at|code)|Test NCCL failure|NCCL [Ee]rror [0-9]+|remote process exited or there was a network error|Failed to initialize NCCL communicator|HINT: In many cases this error occurs",
        role: Role::Summary,
        says: "a call of NCCL failed",
        means: "The program only repeats NCCL's result. The warnings of NCCL before it, on all ranks, say why; ncclRemoteError means that another rank ended.",
        act: "run again with `NCCL_DEBUG=WARN` and look at the first NCCL WARN of all ranks; for ncclRemoteError look for the rank that ended first",
        remedy: Remedy::Look,
        sure: Sure::Guess,
        samples: &[
            "ncclRemoteError: A call failed possibly due to a network error or a remote process exiting prematurely.",
            "gpu0: Test NCCL failure common.cu:958 'unhandled system error / '",
        ],
        ..NCCL
    },
    Cause {
        id: "nccl.cuda",
        sign: "NCCL WARN Cuda failure|NCCL WARN Failed to (CUDA|cuda) (malloc|calloc|host)|NCCL WARN Failed to (create|set) CUDA (context|device)",
        says: "a call of CUDA failed inside of NCCL",
        means: "The GPU was in error before, or CUDA refused the call. Errors of kernels before it are told only here.",
        act: "look for an earlier error of this rank, at the Xids of the kernel's log of this host, and at the free memory of the GPU",
        follows: DEATHS,
        samples: &["gpu0:1:2 [0] enqueue.cc:957 NCCL WARN Cuda failure 'invalid argument'"],
        ..EFFECT
    },
    Cause {
        id: "nccl.warning",
        sign: r"NCCL WARN [A-Za-z\[]",
        says: "NCCL warns",
        means: "A warning that this catalogue does not know.",
        act: "look at the first NCCL WARN of all ranks",
        counts: Counts::Warn,
        samples: &["gpu0:1:2 [0] NCCL WARN P2p schedule creation has bugs."],
        ..EFFECT
    },
];
