//! RDMA without NCCL: libibverbs and its tools, perftest, rping, the tools of InfiniBand and its subnet manager.

use super::super::cause::{Apart, Cause, Counts, Remedy, Role, Source, Sure, TOOL, seen};

const CORE: &[Source] =
    &[seen("https://github.com/linux-rdma/rdma-core (libibverbs, librdmacm)", "2026-11-30")];
const DIAGS: &[Source] = &[
    seen("https://github.com/linux-rdma/rdma-core (libibumad, libibmad, infiniband-diags)", "2026-11-30"),
    seen("https://github.com/MrBr-github/lshca/issues/68", "2022-08-15"),
];
const PERFTEST: &[Source] = &[seen("https://github.com/linux-rdma/perftest (src)", "2026-11-30")];
const MR: &[Source] = &[
    seen("https://github.com/linux-rdma/perftest/issues/126", "2024-01-09"),
    seen("https://github.com/linux-rdma/perftest/issues/280", "2024-08-24"),
];
const CM: &[Source] = &[
    seen("https://github.com/linux-rdma/rdma-core (librdmacm/examples/rping.c)", "2026-11-30"),
    seen("https://man7.org/linux/man-pages/man3/rdma_get_cm_event.3.html", "2026-11-30"),
];
const OPENSM: &[Source] = &[
    seen("https://github.com/linux-rdma/opensm (opensm, libvendor)", "2026-11-30"),
    seen("https://github.com/linux-rdma/opensm/issues/37", "2024-11-07"),
];

const VERBS: Cause = Cause { sources: CORE, remedy: Remedy::Settings, ..TOOL };
const PERF: Cause = Cause { sources: PERFTEST, remedy: Remedy::Settings, ..TOOL };
const EFFECT: Cause = Cause { role: Role::Effect, sure: Sure::Guess, remedy: Remedy::Look, ..VERBS };

const DEVICES: &str = "look on the host at `ls /sys/class/infiniband /dev/infiniband` and `lsmod` for ib_uverbs and the card's own module (mlx5_ib, bnxt_re, irdma, efa): load it (the playbook `rdma-core`); in a container pass `--device=/dev/infiniband` (Kubernetes: the resource of the RDMA device plugin) and install `ibverbs-providers`; where the host sees the card and an image of an old release does not, take a newer image or rdma-core";
const MEMLOCK: &str = "`ulimit -l` in the same place has to say unlimited: the playbook `limits`, LimitMEMLOCK=infinity of slurmd or the container's daemon, `--ulimit memlock=-1` for Docker; job.memlock shows what a job has";
const GID: &str = "compare `show_gids` of both sides and take the index of the RoCE v2 GID with the routed address, mostly 3 (`-x 3` of perftest, `-g 3` of ibv_rc_pingpong); in a pod give it a network of the card (macvlan, SR-IOV), so that there is an address";
const NEIGHBOUR: &str = "`ping` that address over the card's interface first, then `ib_write_bw` with the right GID index; on RoCE look at addresses, MTU and the switch, on InfiniBand at `ibstat` and the subnet manager";

/// Reasons for no device.
const WHY_NONE: &[&str] = &["verbs.abi", "verbs.no_uverbs", "verbs.provider_missing", "verbs.no_providers"];

pub(in crate::causes) const ROWS: &[Cause] = &[
    // Libraries and devices.
    Cause {
        id: "verbs.abi",
        sign: r"Driver (?<driver>[a-z0-9_]+) does not support the kernel ABI of (?<kernel>[0-9]+) \(supports (?<from>[0-9]+) to (?<to>[0-9]+)\)( for device (?<card>[^ ]+))?",
        says: "the library of {driver} does not fit the host's driver: the kernel has ABI {kernel}, the library knows {from} to {to}",
        means: "The image or host has the distribution's library, and the kernel the vendor's own driver (or the other way round), so the card is not seen.",
        act: "install the vendor's library of the host driver's release in the image, before the distribution's one on the loader's path; the card and the driver of the host are well",
        sources: &[
            seen("https://github.com/k8snetworkplumbingwg/sriov-cni/issues/348", "2025-06-17"),
            seen("https://github.com/linux-rdma/rdma-core (libibverbs/init.c)", "2026-11-30"),
        ],
        samples: &[
            "libibverbs: Warning: Driver bnxt_re does not support the kernel ABI of 6 (supports 1 to 1) for device /sys/class/infiniband/bnxt_re2",
        ],
        ..VERBS
    },
    Cause {
        id: "verbs.no_uverbs",
        sign: "libibverbs: (Fatal: couldn't read uverbs ABI version|Warning: no userspace device-specific driver found for (?<card>[^ ]+))|libibverbs: Fatal: kernel ABI version",
        says: "no library belongs to the RDMA card[ {card}]",
        means: "Either ib_uverbs is not loaded, or the provider of this card is not installed here.",
        act: DEVICES,
        sure: Sure::Guess,
        samples: &[
            "libibverbs: Warning: no userspace device-specific driver found for /sys/class/infiniband_verbs/uverbs0",
            "libibverbs: Fatal: couldn't read uverbs ABI version.",
        ],
        ..VERBS
    },
    Cause {
        id: "verbs.provider_of_others",
        sign: "libibverbs: Warning: couldn't load driver '[^']*(ipathverbs|vmw_pvrdma|i40iw|rxe|siw|nes|cxgb[34]|hns|qedr|ocrdma|mthca|hfi1verbs|bnxt_re|erdma|efa)[^']*'",
        counts: Counts::Note,
        says: "a provider of libibverbs is missing",
        means: "A file in /etc/libibverbs.d names a provider that is not installed. It matters only on hosts that have a card of its kind.",
        samples: &[
            "libibverbs: Warning: couldn't load driver 'libipathverbs-rdmav25.so': libipathverbs-rdmav25.so: cannot open shared object file: No such file or directory",
        ],
        ..VERBS
    },
    Cause {
        id: "verbs.provider_missing",
        sign: "libibverbs: Warning: couldn't load driver '(?<driver>[^']+)': (?<why>.*)",
        counts: Counts::Warn,
        says: "the library {driver} cannot be loaded: {why}",
        means: "A provider that is named in /etc/libibverbs.d is not installed or does not fit this libibverbs. It matters only where it is the one of a card of this host.",
        act: "install `ibverbs-providers` (Debian, Ubuntu) or `libibverbs` (RHEL) of the same release as libibverbs, or remove the file in /etc/libibverbs.d of a card that nobody has",
        samples: &[
            "libibverbs: Warning: couldn't load driver 'libmlx5-rdmav34.so': libmlx5-rdmav34.so: cannot open shared object file: No such file or directory",
        ],
        ..VERBS
    },
    Cause {
        id: "verbs.no_providers",
        sign: "libibverbs: Warning: couldn't open config directory",
        counts: Counts::Warn,
        says: "no provider of libibverbs is installed",
        means: "libibverbs is here without the libraries of cards (mlx5, bnxt_re, efa), so it finds no device.",
        act: "install `ibverbs-providers` (Debian, Ubuntu) or `libibverbs` and `rdma-core` (RHEL) in the image",
        sure: Sure::Confirmed,
        sources: &[seen("https://github.com/dsx-ai-factory/infra-controller/pull/5251", "2026-08-21")],
        samples: &["libibverbs: Warning: couldn't open config directory '/etc/libibverbs.d'."],
        ..VERBS
    },
    Cause {
        id: "verbs.device_attributes",
        sign: "^ ?Couldn't get device attributes?",
        says: "the card's driver does not answer the questions of this library",
        means: "Mostly perftest and rdma-core of the image are older or newer than the kernel's RDMA drivers; in a pod the device may be shown and not handed over.",
        act: "`ibv_devinfo -v` in the same place; take an image with a current rdma-core and perftest; add IPC_LOCK and the resource of the RDMA device plugin to the pod",
        sure: Sure::Guess,
        follows: WHY_NONE,
        sources: &[
            seen("https://github.com/ofiwg/libfabric/issues/5149", "2019-07-17"),
            seen("https://github.com/Mellanox/k8s-rdma-shared-dev-plugin/issues/105", "2024-04-25"),
        ],
        samples: &["Couldn't get device attributes"],
        ..VERBS
    },
    Cause {
        id: "verbs.undefined_symbol",
        sign: r"undefined symbol: (?<symbol>(ibv|mlx5dv|efadv|rdma|umad|_ibv|verbs)_[a-z0-9_]+)(, version (?<version>[A-Z0-9_.]+))?",
        says: "the RDMA libraries are of different ages: {symbol} is missing",
        means: "A program or plugin was built for a newer rdma-core than the one that the loader finds, or two of them are mixed.",
        act: "`ldd` of the program says which libibverbs and libmlx5 are found; install rdma-core in one version (of the distribution or of the vendor's OFED, not both), and take the other out of LD_LIBRARY_PATH",
        remedy: Remedy::Install,
        samples: &[
            "ib_write_bw: symbol lookup error: ib_write_bw: undefined symbol: mlx5dv_reg_dmabuf_mr, version MLX5_1.25",
        ],
        ..VERBS
    },
    Cause {
        id: "verbs.memlock_warning",
        sign: "RLIMIT_MEMLOCK is (?<bytes>[0-9]+) bytes",
        says: "this process may lock {bytes} bytes only",
        means: "RDMA locks its buffers; with this limit registrations fail.",
        act: MEMLOCK,
        sure: Sure::Confirmed,
        samples: &["libibverbs: Warning: RLIMIT_MEMLOCK is 65536 bytes."],
        ..VERBS
    },
    Cause {
        id: "verbs.fork",
        sign: r"fork\(\)-safety requested but init failed",
        counts: Counts::Note,
        says: "libibverbs could not prepare for fork()",
        means: "It matters only for programs that fork after they use RDMA, on kernels before 5.12.",
        samples: &["libibverbs: Warning: fork()-safety requested but init failed"],
        ..VERBS
    },
    Cause {
        id: "verbs.register_memory",
        sign: r"(ibv_reg_mr|reg_mr|register_from_pd|[Rr]egister(ing)? (memory|MR)|ibv_create_(cq|qp)|ibv_alloc_pd).*(Cannot allocate memory|code: 12|errno:? ?12|error:? ?12\b|ENOMEM)|^, err info:Os \{ code: 12",
        says: "RDMA may lock too little memory",
        means: "A registration was refused for want of memory that may be locked, mostly the limit memlock of an ordinary account.",
        act: MEMLOCK,
        sources: &[
            seen("https://github.com/datenlord/async-rdma/issues/107", "2023-07-20"),
            seen("https://man7.org/linux/man-pages/man3/ibv_reg_mr.3.html", "2026-11-30"),
        ],
        samples: &[
            "RawMemoryRegion::register_from_pd failed Os { code: 12, kind: OutOfMemory, message: \"Cannot allocate memory\" }",
            "ibv_reg_mr failed: Cannot allocate memory",
        ],
        ..VERBS
    },
    Cause {
        id: "fabric.memlock",
        sign: r"fi_(enable|mr_reg[a-z]*|endpoint|domain|cq_open)\(\).*(ret=|error:? ?)-?12 ?\(?(Cannot allocate memory)?",
        says: "libfabric may lock too little memory",
        means: "RDMA and EFA lock their buffers, and the limit of locked memory of this account or container is too low.",
        act: MEMLOCK,
        sources: &[seen("https://github.com/aws/aws-cdi-sdk/issues/48", "2021-06-16")],
        samples: &["fi_enable(): libfabric/util/pingpong.c:1495, ret=-12 (Cannot allocate memory)"],
        ..VERBS
    },
    Cause {
        id: "verbs.register_gpu_memory",
        sign: "(ibv_reg_mr|ibv_reg_dmabuf_mr|reg_mr|Couldn't allocate MR with error=(14|22|93|95)).*(Bad address|Invalid argument|Operation not supported|Protocol not supported)|Couldn't allocate MR with error=(?<error>14|22|93|95)|DMA-BUF is not supported on this GPU|OFED stack does not support DMA-BUF",
        says: "the card cannot register GPU memory[ (error {error})]",
        means: "GPUDirect RDMA does not work here: nvidia_peermem is not loaded or does not fit the RDMA stack, or DMA-BUF is wanted (`--use_cuda_dmabuf`) and not offered, or the other way round.",
        act: "look at rdma.gdr_ready: load `nvidia_peermem` (the playbook `peermem`), or use DMA-BUF with the open kernel modules (`--use_cuda_dmabuf` after `--use_cuda`); GeForce GPUs have none",
        sources: MR,
        samples: &["Couldn't allocate MR with error=14", "ibv_reg_mr failed: Bad address"],
        ..VERBS
    },
    Cause {
        id: "verbs.allocate_mr",
        sign: r"^ ?(Couldn't allocate MR|[Ff]ailed to create [Mm][Rr]|Couldn't register MR)\b",
        near: &["allocated (?<gpu>GPU) buffer"],
        says: "memory could not be registered for RDMA[, of the {gpu}]",
        means: "With `--use_cuda`: nvidia_peermem is not loaded. Without: the limit of locked memory, or a soft device that lacks a feature.",
        act: "with `--use_cuda` load `nvidia_peermem` (the playbook `peermem`; rdma.gdr_ready) or add `--use_cuda_dmabuf`; without it set `ulimit -l unlimited` (the playbook `limits`)",
        sure: Sure::Guess,
        follows: &["verbs.register_gpu_memory", "verbs.memlock_warning"],
        sources: MR,
        samples: &["Couldn't allocate MR", "failed to create mr"],
        ..VERBS
    },
    Cause {
        id: "verbs.no_cuda_build",
        sign: "ib_[a-z_]+: unrecognized option '--use_(?<kind>cuda|cuda_dmabuf|rocm)|CUDA (DMA-BUF|MEM TYPE) cannot be used without CUDA",
        says: "this perftest was built without GPUs",
        means: "The distribution's package does not know this option.",
        act: "build perftest with `./configure CUDA_H_PATH=/usr/local/cuda/include/cuda.h`, or take the one of the vendor's OFED with CUDA; `--use_cuda_dmabuf` stands behind `--use_cuda`",
        remedy: Remedy::Install,
        samples: &["ib_write_bw: unrecognized option '--use_cuda=0'"],
        ..PERF
    },
    Cause {
        id: "verbs.tool_missing",
        sign: "(?<tool>ibstat|ibstatus|ibv_devinfo|ibv_devices|ibnetdiscover|iblinkinfo|ibhosts|ibdiagnet|ib_(?:write|read|send|atomic)_(?:bw|lat)|ibv_rc_pingpong|rping|show_gids|ibdev2netdev|opensm|perfquery|sminfo|mst|mlxconfig|mlxlink|mlnx_qos|fi_info): (command )?not found",
        says: "{tool} is not installed",
        means: "The tool's package is missing here, or its directory is not on the path.",
        act: "install infiniband-diags (ibstat, perfquery), ibverbs-utils or libibverbs-utils (ibv_devinfo), perftest (ib_write_bw), rdmacm-utils or librdmacm-utils (rping), opensm; show_gids, ibdev2netdev and mlnx_qos come with the vendor's OFED or DOCA, mst and mlxconfig with MFT, fi_info with libfabric (/opt/amazon/efa/bin on EFA)",
        remedy: Remedy::Install,
        sure: Sure::Confirmed,
        samples: &["bash: ib_write_bw: command not found", "sh: 1: ibstat: not found"],
        ..VERBS
    },
    Cause {
        id: "verbs.device_not_found",
        sign: "IB device '?(?<card>[A-Za-z0-9_.-]+)'? (wasn't |not )found|'(?<other>[A-Za-z0-9_.-]+)' IB device can't be found",
        says: "there is no RDMA device[ {card}][ {other}] here",
        means: "The name is another one on this host or in this container, or the card is not there.",
        act: "`ibv_devices` lists the names here; then look for renaming rules and at `lspci` for the card",
        follows: WHY_NONE,
        sure: Sure::Guess,
        samples: &["IB device mlx5_9 not found", "IB device 'mlx5_9' wasn't found"],
        ..VERBS
    },
    Cause {
        id: "verbs.no_devices",
        sign: "^ ?(No IB devices found|Did not detect devices|Failed to get IB devices list|Unable to find the Infiniband/RoCE device)|no RDMA devices? (were |was )?found|[Nn]o (ibv|ib|rdma|RDMA|IB|verbs) devices? (found|available)",
        says: "no RDMA device is found",
        means: "The card's module is not loaded, its library is missing, the container was given no device, or the RDMA libraries of an old image are too old for the kernel of the host.",
        act: DEVICES,
        sure: Sure::Guess,
        follows: WHY_NONE,
        apart: &[Apart {
            beside: &["verbs.abi"],
            act: "install the vendor's library of the host driver's release in the image: the device is there, and the library does not fit it",
        }],
        sources: PERFTEST,
        samples: &["No IB devices found", " Did not detect devices "],
        ..VERBS
    },
    Cause {
        id: "verbs.open_device",
        sign: "^ ?(Failed to open device$|Couldn't get context for (the device|(?<card>[a-z0-9_]+)))|(ibv_open_device|failed to open ([a-z]+ )?device).*(Permission denied|Operation not permitted|No such file)",
        says: "the RDMA device[ {card}] cannot be opened",
        means: "Its file /dev/infiniband/uverbs* is missing here or may not be opened.",
        act: "`ls -l /dev/infiniband` in the same place: crw-rw-rw- for uverbs; hand the files to the container, and its cgroup",
        sure: Sure::Guess,
        samples: &["Couldn't get context for mlx5_0", "Failed to open device"],
        ..VERBS
    },
    Cause {
        id: "verbs.node_guid_zero",
        sign: r"node_guid:\s+0000:0000:0000:0000",
        says: "the device has no node GUID",
        means: "librdmacm leaves out devices whose node GUID is zero, mostly virtual functions that got none; older rdma-core crashes there.",
        act: "give the virtual function a GUID on the host (`ip link set PF vf N node_guid GUID` and `port_guid GUID`), bind it again, and take an rdma-core of 2025 or newer",
        sources: &[seen("https://github.com/linux-rdma/rdma-core/issues/1547", "2025-01-18")],
        samples: &["        node_guid:                      0000:0000:0000:0000"],
        ..VERBS
    },
    // Connections.
    Cause {
        id: "verbs.gid_zero",
        sign: r"^ ?GID: 00(:00){15}\s*$|local GID ::, remote GID|GID index [0-9]+.*GID ::\s*$",
        says: "the chosen GID is empty",
        means: "On RoCE the card has no address at this index: the interface has no address, or the pod has no interface of the card.",
        act: GID,
        sources: &[seen("https://github.com/Mellanox/k8s-rdma-shared-dev-plugin/issues/72", "2023-04-20")],
        samples: &[" GID: 00:00:00:00:00:00:00:00:00:00:00:00:00:00:00:00"],
        ..PERF
    },
    Cause {
        id: "verbs.gid_index",
        sign: "can't read sgid of index (?<index>-?[0-9]+)|Could not get local gid for gid index|Failed to query gid to port|Unable to query GID|Failed to get GID|ibv_query_gid.*failed",
        says: "the card has no GID at the index[ {index}]",
        means: "The index does not exist on this card.",
        act: GID,
        samples: &["can't read sgid of index 7", "Could not get local gid for gid index 7"],
        ..VERBS
    },
    Cause {
        id: "verbs.ibstat_rate",
        sign: r"ibpanic: \[[0-9]+\] main: stat of IB device '(?<card>[^']+)' failed: Invalid argument",
        says: "ibstat cannot read the rate of a port of {card}",
        means: "The kernel has no rate for a port without a module or cable, and an old ibstat stops there.",
        act: "`cat /sys/class/infiniband/{card}/ports/*/rate` shows which; take rdma-core 16 or newer, or read `ibv_devinfo`; a port that should be in use wants its cable",
        counts: Counts::Warn,
        sources: &[seen("https://github.com/linux-rdma/rdma-core/pull/239", "2017-10-31")],
        samples: &["ibpanic: [7851] main: stat of IB device 'mlx5_1' failed: Invalid argument"],
        ..VERBS
    },
    Cause {
        id: "verbs.to_rtr",
        sign: r"Failed to modify (?:(?:recv|send) )?QP(?:\[[0-9]+\])?(?: [0-9]+)? to RTR|ibv_modify_qp.*(to RTR|RTR).*fail",
        near: &[
            "GID index +: (?<gid>[0-9]+)",
            "Device +: (?<card>[a-z0-9_]+)",
            "Link type +: (?<link>[A-Za-z]+)",
        ],
        says: "no path to the peer[ from {card}][ with GID index {gid}]",
        means: "The address of the other side was refused or not resolved: mostly the GID index, addresses in different networks, or different kinds of links.",
        act: "`ibv_devinfo` of both sides: on InfiniBand both ports have to be PORT_ACTIVE in one subnet; where the port asks for a global header (another subnet, a router, grh_required) call perftest with `-x 0`, or take a newer one. On Ethernet compare `show_gids` and take the index of the RoCE v2 GID with the routed address, mostly 3 (`-x 3`, `-g 3` of ibv_rc_pingpong); in a pod give it a network of the card",
        sure: Sure::Guess,
        follows: &["verbs.gid_zero", "verbs.gid_index"],
        sources: &[
            seen("https://github.com/linux-rdma/perftest (src)", "2026-11-30"),
            seen("https://github.com/linux-rdma/perftest/issues/393", "2026-06-11"),
        ],
        samples: &["Failed to modify QP 59 to RTR", "Failed to modify QP to RTR"],
        ..PERF
    },
    Cause {
        id: "verbs.mixed_ofed",
        sign: r"ibv_exp_(query_device|[a-z_]+)(\([^)]*\))?[: ].*(returned|invalid comp_mask|Inappropriate ioctl|Invalid argument|Function not implemented)|ibv_exp_query_device: invalid comp_mask",
        says: "RDMA libraries of MLNX_OFED run on another kernel driver",
        means: "The libraries of old MLNX_OFED (ibv_exp_...) want its own kernel modules, and those of the distribution (or of another release) are loaded, mostly since the kernel was updated.",
        act: "compare `modinfo -F filename mlx5_ib` and `ofed_info -s`: install one set of both (DOCA-OFED for this kernel, or the distribution's rdma-core), then reload the modules or reboot",
        remedy: Remedy::Install,
        sources: &[
            seen("https://github.com/openucx/ucx/issues/5469", "2020-07-24"),
            seen("https://github.com/open-mpi/ompi/issues/5964", "2018-10-24"),
        ],
        samples: &[
            "[1595598109.293924] [cn007:58829:0]       ib_verbs.h:84   UCX  ERROR ibv_exp_query_device(mlx5_0) returned 38: Inappropriate ioctl for device",
            "ibv_exp_query_device: invalid comp_mask !!! (comp_mask = 0xffffffffffffffff valid_mask = 0x1)",
        ],
        ..VERBS
    },
    Cause {
        id: "ucx.bridge_address",
        sign: r"UCX +ERROR +(connect\(fd=[0-9]+, dest_addr=|.*dest_addr=?)(?<address>172\.(1[7-9]|2[0-9]|3[01])\.[0-9]+\.1|192\.168\.122\.1|127\.[0-9.]+)[:) ].*(refused|unreachable|timed out|No route)",
        says: "UCX tries an address that each host has for itself ({address})",
        means: "The address belongs to a bridge of containers or virtual machines (docker0, virbr0), which is the same on every host.",
        act: "name the devices: `UCX_NET_DEVICES=mlx5_0:1,eno1` (or UCX_TLS without tcp); with Open MPI btl_tcp_if_include and oob_tcp_if_include too",
        sources: &[seen("https://openucx.readthedocs.io/en/master/faq.html", "2026-11-30")],
        samples: &[
            "[1716594409.541480] [gpu1:1581047:0] sock.c:323 UCX ERROR connect(fd=87, dest_addr=172.17.0.1:47133) failed: Connection refused",
        ],
        ..VERBS
    },
    Cause {
        id: "ucx.uar",
        sign: r"(ibv_open_device\((?<device>mlx5_[^)]+)\) failed: Cannot allocate memory|mlx5dv_devx_alloc_uar\(.*\) failed|UAR allocation types +are not supported)",
        says: "the card gives no more doorbell pages (UAR)[: {device}]",
        means: "Each rank takes pages of the card's register window, and with many ranks on a host, or in a virtual function, they run out; the kernel's log then has ALLOC_UAR with `limits exceeded`. `Operation not supported` is another matter: this kernel or machine has no such kind of page.",
        act: "`dmesg | grep ALLOC_UAR`; with `limits exceeded` run fewer ranks on the host, or raise PF_LOG_BAR_SIZE of the card (`mlxconfig -d DEV set PF_LOG_BAR_SIZE=...`, then a cold boot, as UCX itself advises); otherwise take a newer UCX or `UCX_IB_MLX5_DEVX=no`",
        sure: Sure::Guess,
        sources: &[
            seen("https://github.com/openucx/ucx/pull/9986", "2024-08-11"),
            seen("https://github.com/openucx/ucx/issues/6049", "2021-01-15"),
            seen("https://github.com/openucx/ucx/issues/10180", "2024-09-24"),
        ],
        samples: &[
            "[1608298882.555115] [b2294:54275:0]          ib_md.c:1678 UCX  ERROR ibv_open_device(mlx5_0) failed: Cannot allocate memory",
            "[1611787738.347966] [pacu02:233164:0]        ib_mlx5.c:395  UCX  ERROR mlx5dv_devx_alloc_uar() failed: Operation not supported",
            "[1741378519.572699] [bf2-dpu:3871684:0]         ib_mlx5.c:610  UCX  ERROR mlx5_0: both WC and NC_DEDICATED UAR allocation types  are not supported",
        ],
        ..VERBS
    },
    Cause {
        id: "verbs.to_init",
        sign: r"Failed to modify (?:(?:recv|send) )?QP(?:\[[0-9]+\])? to INIT|Unable to validata PKey Index|no pkeys found for",
        says: "the card takes no connection",
        means: "The port or the partition key is not valid, or the port is down.",
        act: "look at `ibstat` (State: Active) and the port number; on InfiniBand at the partitions of the subnet manager",
        sure: Sure::Guess,
        samples: &["Failed to modify QP to INIT, ret=22"],
        ..PERF
    },
    Cause {
        id: "verbs.modify_qp",
        sign: r"([Ff]ailed to modify QP|ibv_modify_qp:?( failed)?).*(Invalid argument|\(EINVAL\)|errno:? ?22|Connection timed out|Network is unreachable|No such device|\(libibverbs\))",
        says: "a queue pair could not be made ready for the peer",
        means: "The values of the peer or of the path were refused: a GID that is empty or not routed (RoCE wants a global header and the right GID index), another MTU, a port that is not active, or the peer has ended.",
        act: GID,
        sure: Sure::Guess,
        follows: &["verbs.gid_zero", "verbs.gid_index", "verbs.no_lid"],
        sources: &[
            seen("https://github.com/cc-hpc-itwm/GPI-2/issues/47", "2018-10-25"),
            seen("https://github.com/madsys-dev/smart/issues/2", "2024-04-23"),
            seen("https://man7.org/linux/man-pages/man3/ibv_modify_qp.3.html", "2026-11-30"),
        ],
        samples: &[
            "[Rank    0]: Error 22 (Invalid argument) at GPI2_IB.c:813):Failed to modify QP (libibverbs)",
            "smart/smart/resource_manager.cpp:623: enable_queue_pair(): ibv_modify_qp: Invalid argument,",
        ],
        ..VERBS
    },
    Cause {
        id: "verbs.port_state",
        sign: "Port number (?<port>[0-9]+) state is (?<state>[A-Za-z]+)",
        says: "port {port} is {state}",
        means: "The port has no link, or on InfiniBand no subnet manager has set it up (Initialize).",
        act: "for Down look at the cable, at `ip link` and at the switch port; for Initialize start a subnet manager (opensm) on one host, or on the switch",
        sure: Sure::Confirmed,
        remedy: Remedy::Look,
        sources: PERFTEST,
        samples: &[" Port number 1 state is Down"],
        ..PERF
    },
    Cause {
        id: "verbs.no_subnet_manager",
        sign: r"^\s*State: (?<state>Initializing)|state:\s+PORT_INIT \(2\)|state (?<rdma>INIT|ARMED) physical_state LINK_UP",
        says: "the port is up and no subnet manager has set it up",
        means: "InfiniBand needs a subnet manager. None runs, or it does not reach this port.",
        act: "start opensm on one host, or the subnet manager of the switch; `sminfo` from a host that works shows where it runs",
        sources: DIAGS,
        samples: &["\t\tState: Initializing"],
        ..VERBS
    },
    Cause {
        id: "verbs.port_down",
        sign: r"^\s*Physical state: (?<state>Disabled|Polling|LinkErrorRecovery|Link_?Error_?Recovery)|phys_state:\s+(?<phys>DISABLED|POLLING|LINK_ERROR_RECOVERY) ",
        counts: Counts::Warn,
        says: "a port has no link[: {state}][: {phys}]",
        means: "Polling: nothing answers at the other end. Disabled: the port was switched off. A port that nobody uses looks the same.",
        act: "where the port is to be used: look at cable, transceiver and switch port; switch it on with `ibportstate` or `ip link set`",
        sources: DIAGS,
        samples: &["\t\tPhysical state: Polling"],
        ..EFFECT
    },
    Cause {
        id: "verbs.retry",
        sign: r"(Failed status|status|[Ww]ork completion error|completion failed)[^0-9]*transport retry counter exceeded|Failed status (?<perf>12): wr_id|cq completion failed status 12|transport retry counter exceeded \(12\)",
        says: "the peer does not answer over RDMA",
        means: "Packets were sent again and again without an acknowledgement: a GID that is not routed, a path or firewall that is closed, another MTU, lost packets, or the other side ended.",
        act: NEIGHBOUR,
        sure: Sure::Guess,
        follows: &["verbs.gid_zero", "verbs.port_state", "mlx5.cable_unplugged"],
        samples: &[
            "Failed status transport retry counter exceeded (12) for wr_id 2",
            " Failed status 12: wr_id 0 syndrom 0x81",
        ],
        ..VERBS
    },
    Cause {
        id: "verbs.rnr",
        sign: "RNR retry counter exceeded|Failed status 13: wr_id|cq completion failed status 13",
        says: "the peer was not ready to receive",
        means: "The other side posted no receive in time: it hangs or ended.",
        act: "look at the program on the other side",
        samples: &["Failed status RNR retry counter exceeded (13) for wr_id 2"],
        ..EFFECT
    },
    Cause {
        id: "verbs.local_operation",
        sign: r"(status: \(2\): |Failed status )local QP operation error|Async QP event: invalid request local work queue error|Failed status 2: wr_id",
        says: "the card refused a request of the program",
        means: "The request is not valid for this card: on Broadcom's bnxt_re it is known of send-with-invalidate (SPDK), else a size or key that is wrong.",
        act: "take a release of the program that does without it on this card (for SPDK a newer one, or the kernel's target); link, card and switch are well",
        sure: Sure::Guess,
        remedy: Remedy::Settings,
        sources: &[seen("https://github.com/spdk/spdk/issues/3926", "2026-08-19")],
        samples: &["status: (2): local QP operation error"],
        ..VERBS
    },
    Cause {
        id: "verbs.protection",
        sign: r"Failed status (local protection error|4: wr_id)|Failed status (?<remote>remote (access|invalid request|operation) error|(9|10|11): wr_id)|cq completion failed status (4|9|10|11)\b",
        says: "a card could not reach memory",
        means: "With GPU memory: access control of PCIe (ACS) or an IOMMU, or GPUDirect RDMA does not work. Without: the two programs differ.",
        act: "try without `--use_cuda`; where that works look at pcie.acs and rdma.gdr_ready; else use the same version on both sides",
        remedy: Remedy::Look,
        sure: Sure::Guess,
        samples: &[
            " Failed status 10: wr_id 0 syndrom 0x88",
            "Failed status local protection error (4) for wr_id 1",
        ],
        ..PERF
    },
    Cause {
        id: "verbs.create_qp",
        sign: r"^ ?(Couldn't create (QP|CQ|SRQ)|Unable to create QP|Failed to create (QP|CQs?))\b|rdma_create_qp.*(Cannot allocate memory|Invalid argument)|ibv_create_(qp|cq).*fail",
        says: "the card gave no queue",
        means: "Mostly the limit of locked memory, or no IPC_LOCK in the pod; else sizes that the card does not have, or its limit of queues.",
        act: "`ulimit -l` has to say unlimited (the playbook `limits`; `--ulimit memlock=-1`; IPC_LOCK); then smaller depths (`-t`, `-r`), and `rdma resource` for what is in use",
        sure: Sure::Guess,
        follows: &[
            "verbs.memlock_warning",
            "verbs.device_attributes",
            "verbs.register_memory",
            "verbs.allocate_mr",
            "verbs.register_gpu_memory",
        ],
        sources: &[seen("https://github.com/Mellanox/k8s-rdma-sriov-dev-plugin/issues/29", "2020-03-19")],
        samples: &["Unable to create QP.", "Couldn't create CQ"],
        ..VERBS
    },
    Cause {
        id: "verbs.flushed",
        sign: r"Work Request Flushed Error|Failed status 5: wr_id|cq completion failed status 5\b",
        says: "a request was flushed after its connection had failed",
        means: "The first failure stands before, or on the other side.",
        act: "look for the first failed status on both sides",
        samples: &["Failed status Work Request Flushed Error (5) for wr_id 1"],
        ..EFFECT
    },
    // perftest.
    Cause {
        id: "perftest.connect",
        sign: "Couldn't connect to (?<host>[^: ]+):(?<port>[0-9]+)",
        says: "nothing answers on {host}, port {port} (TCP)",
        means: "The two sides first meet over TCP: the server is not started, has ended, or a firewall is between.",
        act: "start the server side first, then test `nc -vz {host} {port}`; open the port (the playbook `firewall`); give each pair its own with `-p`",
        sure: Sure::Guess,
        samples: &["Couldn't connect to 192.0.2.7:18515"],
        ..PERF
    },
    Cause {
        id: "perftest.listen",
        sign: "Couldn't listen to port (?<port>[0-9]+)|^Failed to bind socket$",
        says: "the port[ {port}] is in use already",
        means: "Another server of perftest runs on this host.",
        act: "`ss -ltnp` says who; take another port with `-p`",
        samples: &["Couldn't listen to port 18515"],
        ..PERF
    },
    Cause {
        id: "perftest.old_version",
        sign: "Current implementation is not compatible with versions older than (?<version>[0-9.]+)",
        says: "the two sides have different versions of perftest, and this one does not talk to versions before {version}",
        means: "perftest of the other side is too old for this one.",
        act: "install the same perftest on both sides",
        remedy: Remedy::Install,
        sure: Sure::Confirmed,
        samples: &["Current implementation is not compatible with versions older than 5.70"],
        ..PERF
    },
    Cause {
        id: "perftest.addr_error",
        sign: r"Received [0-9]+ times ADDR_ERROR|rdma_resolve_addr failed|[Uu]nexpected CM event (bl blka )?1\b",
        says: "the address leads over no RDMA device",
        means: "With `-R` the address has to be one of the card's own network.",
        act: "`rdma link` shows which interfaces belong to cards: give the server's address on that one, and see that `ip route get ADDRESS` goes over it",
        samples: &["Received 10 times ADDR_ERROR - aborting"],
        ..PERF
    },
    Cause {
        id: "perftest.below_limit",
        sign: "Error: (BW result is below bw limit|Msg rate +is below msg_rate limit)",
        says: "the link is slower than was asked for",
        means: "perftest measured less than the limit that it was given.",
        act: "look at the PCIe width of both cards (`lspci -vv`), at lost packets and pauses of both ports, and at the CPU's governor",
        remedy: Remedy::Look,
        sure: Sure::Guess,
        samples: &["Error: BW result is below bw limit"],
        ..PERF
    },
    Cause {
        id: "perftest.cpu_frequency",
        sign: "Conflicting CPU frequency values detected|CPU Frequency is not max",
        counts: Counts::Note,
        says: "the cores run at different speeds",
        means: "perftest only remarks it; latencies may be less exact.",
        samples: &[
            "Conflicting CPU frequency values detected: 800.000000 != 3400.000000. CPU Frequency is not max.",
        ],
        ..PERF
    },
    Cause {
        id: "perftest.effect",
        sign: "Unable to Connect the HCA's through the link|Completion with error at (client|server)|Failed to exchange data between server and clients|Couldn't create IB resources|Unable to (init|set up|open file descriptor for) (the )?socket connection|(ethernet_read_keys: )?Couldn't read remote address|Failed to complete run_iter_bw|Couldn't set the link layer|Parser function exited with Error|Failed to close connection between server and client|Unable to (perform|create) (rdma_|RDMA_CM|the resources)",
        role: Role::Summary,
        says: "a test of RDMA failed",
        means: "It only ends what failed before; where nothing stands before, the other side has ended.",
        act: "look at the line before and at the other side",
        remedy: Remedy::Look,
        sure: Sure::Guess,
        samples: &[" Unable to Connect the HCA's through the link", " Completion with error at client"],
        ..PERF
    },
    // The connection manager.
    Cause {
        id: "verbs.no_rdma_cm",
        sign: "rdma_create_(event_channel|id):? (failed|(?<error>No such (file or directory|device)|Permission denied))|librdmacm: (Fatal|Warning): (unable to open /dev/infiniband/rdma_cm|couldn't read ABI version|no RDMA devices found|unable to get RDMA device list)|CMA: unable to (open RDMA device|get RDMA device list)|/dev/infiniband/rdma_cm: No such file",
        says: "the connection manager of RDMA is not there[: {error}]",
        means: "/dev/infiniband/rdma_cm is missing: the module rdma_ucm is not loaded, or the container was not given it.",
        act: "`modprobe rdma_ucm` (the playbook `rdma-core` keeps it); hand /dev/infiniband/rdma_cm to the container",
        samples: &[
            "rdma_create_event_channel: No such device",
            "librdmacm: Warning: couldn't read ABI version.",
        ],
        ..VERBS
    },
    Cause {
        id: "verbs.cm_address",
        sign: "RDMA_CM_EVENT_ADDR_ERROR(, error (?<error>-?[0-9]+))?|rdma_(resolve_addr|bind_addr|create_ep|getaddrinfo): (?<why>No such device|Cannot assign requested address|Network is unreachable|Invalid argument)",
        says: "the address leads over no RDMA device[: {why}][ (error {error})]",
        means: "-19: the interface with that address has no RDMA device. -110: the neighbour did not answer ARP. -101, -113: no route.",
        act: "`rdma link` and `ip route get ADDRESS` show whether the way goes over a card with RDMA; `ping` the address; for an Ethernet card without RDMA use TCP",
        sources: CM,
        samples: &["cma event RDMA_CM_EVENT_ADDR_ERROR, error -19", "rdma_bind_addr: No such device"],
        ..VERBS
    },
    Cause {
        id: "verbs.cm_in_use",
        sign: "rdma_(bind_addr|listen): Address already in use",
        says: "the port is in use already",
        means: "Another server listens there.",
        act: "end the older server, or take another port",
        sources: CM,
        samples: &["rdma_bind_addr: Address already in use"],
        ..VERBS
    },
    Cause {
        id: "verbs.cm_route",
        sign: "RDMA_CM_EVENT_ROUTE_ERROR(, error (?<error>-?[0-9]+))?|rdma_resolve_route( failed|: )",
        says: "no path to the peer[ (error {error})]",
        means: "On InfiniBand the subnet manager gave no path; on RoCE the neighbour's address could not be resolved.",
        act: NEIGHBOUR,
        sources: CM,
        samples: &["cma event RDMA_CM_EVENT_ROUTE_ERROR, error -22"],
        ..VERBS
    },
    Cause {
        id: "verbs.cm_unreachable",
        sign: r"RDMA_CM_EVENT_UNREACHABLE(, error (?<error>-?[0-9]+))?|[Uu]nexpected CM event (bl blka )?[67]\b",
        says: "the peer does not answer the request for a connection",
        means: "The host is there and its RDMA side is silent: UDP 4791 is blocked, the GIDs are of different kinds, or the other card is down.",
        act: NEIGHBOUR,
        sure: Sure::Guess,
        sources: CM,
        samples: &["cma event RDMA_CM_EVENT_UNREACHABLE, error -110"],
        ..VERBS
    },
    Cause {
        id: "verbs.cm_rejected",
        sign: r"RDMA_CM_EVENT_REJECTED(, error (?<error>-?[0-9]+))?|[Uu]nexpected CM event (bl blka )?8\b",
        says: "the peer refused the connection[ (error {error})]",
        means: "8: nothing listens on this port there. 28: the program there refused it, mostly settings that do not fit.",
        act: "start the server first, on the same address and port; then look at its own log",
        sure: Sure::Guess,
        sources: CM,
        samples: &["cma event RDMA_CM_EVENT_REJECTED, error 8"],
        ..VERBS
    },
    Cause {
        id: "verbs.cm_removed",
        sign: "cma detected device removal|RDMA_CM_EVENT_DEVICE_REMOVAL",
        says: "the RDMA device went away while it was used",
        means: "Its driver was unloaded or reset.",
        act: "look at the kernel's log of this host",
        remedy: Remedy::Look,
        sources: CM,
        samples: &["cma detected device removal!!!!"],
        ..VERBS
    },
    Cause {
        id: "verbs.cm_effect",
        sign: "waiting for addr/route resolution state|wait for (CONNECTED|CONNECT_REQUEST|RDMA_(READ|WRITE)_(ADV|COMPLETE)) state|^connect error -?[0-9]+|rping (client|server) failed|cma event RDMA_CM_EVENT|cq completion failed status",
        says: "rping ended",
        means: "The event before says why, or the other side ended.",
        act: "look at the event before and at the other side",
        sources: CM,
        samples: &["waiting for addr/route resolution state 1", "connect error -1"],
        ..EFFECT
    },
    // InfiniBand's tools.
    Cause {
        id: "verbs.no_sm_on_port",
        sign: r"No SM/SA found on port|mad_rpc_open_port: client_register for mgmt [0-9]+ failed",
        says: "no subnet manager answers on this port",
        means: "The port is down (no cable, or switched off), is no InfiniBand, or no subnet manager runs in its fabric. Ports that are not meant to be used tell the same.",
        act: "`ibstat` of that card and port: where it is Down and meant to be so, leave it out of the query; where it is Initializing, start the subnet manager; where it is Active, `sminfo`; for RoCE use `rdma link`",
        sure: Sure::Guess,
        sources: DIAGS,
        samples: &[
            "ibwarn: [1685604] sa_get_handle: No SM/SA found on port :1",
            "ibwarn: [1685596] mad_rpc_open_port: client_register for mgmt 1 failed",
        ],
        ..VERBS
    },
    Cause {
        id: "verbs.no_lid",
        sign: r"^\s*Base lid:\s+65535\s*$",
        says: "the port has no address of the subnet manager (LID 65535)",
        means: "The subnet manager has not set this port up. For a virtual function with a link (LinkUp, Down) it does not serve virtual ports, or the function has no valid GUID; for a real port the link is down or no subnet manager runs.",
        act: "where the physical state is LinkUp: of a virtual function give it node and port GUIDs (`ip link set PF vf N node_guid GUID` and port_guid) and run a subnet manager with virtualization on (`virt_enabled 2` of NVIDIA's opensm, UFM); else look at the link first. Cable and card are not suspected while the link is up",
        follows: &["verbs.port_down"],
        sources: &[
            seen("https://github.com/linux-rdma/opensm (opensm, libvendor)", "2026-11-30"),
            seen("https://docs.nvidia.com/networking/display/mlnxofedv590560/sriov", "2026-11-30"),
        ],
        samples: &["        Base lid: 65535"],
        ..VERBS
    },
    Cause {
        id: "verbs.no_umad",
        sign: r"is ib_umad module loaded\?|can't open UMAD port|(?:ibpanic|ibwarn|iberror).*(can't init UMAD library|[Ff]ailed to open '.*' port)|can't list IB device names",
        says: "the tools of InfiniBand cannot open a port",
        means: "ib_umad is not loaded, the account may not open /dev/infiniband/umad*, or no port is InfiniBand (RoCE ports have no management packets).",
        act: "run it as root, `modprobe ib_umad`, name the port (`-C mlx5_0 -P 1`); for RoCE use `rdma link` and `ethtool` in place of these tools",
        sure: Sure::Guess,
        sources: DIAGS,
        samples: &["ibwarn: [4311] mad_rpc_open_port: can't open UMAD port ((null):0)"],
        ..VERBS
    },
    Cause {
        id: "verbs.mad_timeout",
        sign: r"ibwarn: .*(_do_madrpc: (recv|send) failed|_do_madrpc failed; dport \((?<target>[^)]*)\))|Query SA failed: (?<error>.*)|umad \([^)]*\) bad status [0-9]+|ibpanic: .*Failed to bind to the SA",
        says: "a device of the fabric does not answer[: {target}][: {error}]",
        means: "A switch or card on the way does not answer management packets, or the port of this host is not active.",
        act: "look at `ibstat` of this host first (Active), then at `ibnetdiscover` and `iblinkinfo` for the device; at the subnet manager where all queries fail",
        sure: Sure::Guess,
        follows: &["verbs.no_subnet_manager"],
        sources: DIAGS,
        samples: &["ibwarn: [4311] mad_rpc: _do_madrpc failed; dport (Lid 5)"],
        ..VERBS
    },
    Cause {
        id: "opensm.bind",
        sign: "osm_[a-z_]+: ERR 54(24|25|26): |No local ports detected|osm_sm_mad_ctrl_bind: ERR|osm_[a-z_]+: ERR .*[Bb]ind failed",
        says: "opensm cannot use its port",
        means: "ib_umad is not loaded, another subnet manager runs on this port, the port is no InfiniBand one, or a kernel with a fault of its own (6.11 before its cure).",
        act: "`modprobe ib_umad`; `ps -e` for a second opensm or sharp_am; `ibstat` for the port and its GUID (`opensm -g GUID`); on a virtual function no subnet manager runs",
        sure: Sure::Guess,
        sources: OPENSM,
        samples: &[
            "  165028 [F0D43740] 0x01 -> osm_vendor_bind: ERR 5426: Unable to register class 129 version 1",
            "No local ports detected!",
        ],
        ..VERBS
    },
    Cause {
        id: "opensm.port_down",
        sign: "-> SM port is down|-> .*SM port (is )?DOWN",
        says: "the port of the subnet manager is down",
        means: "opensm runs on a port without a link, so it manages nothing.",
        act: "connect it, or bind opensm to a port that is up (`-g GUID`, or guid in opensm.conf)",
        sources: OPENSM,
        samples: &["Nov 30 10:00:00 123456 [F0D43740] 0x80 -> SM port is down"],
        ..VERBS
    },
    Cause {
        id: "opensm.duplicate_guid",
        sign: "(duplicated|Found duplicated) (node|port)? ?guids?|ERR 0D0[12]: .*[Dd]uplicate",
        says: "two devices have the same GUID",
        means: "A card was cloned by its firmware image, or a port is looped to itself.",
        act: "compare the GUIDs of the two devices that opensm names, and burn the right one into one of them (`mstflint ... sg`)",
        sources: OPENSM,
        samples: &[
            "Nov 30 10:00:00 123456 [F0D43740] 0x01 -> __osm_ni_rcv_set_links: ERR 0D01: Found duplicated node GUID.",
        ],
        ..VERBS
    },
    Cause {
        id: "opensm.no_answer",
        sign: "-> (sm_mad_ctrl_send_err_cb|umad_receiver|log_send_error): ERR [0-9A-F]{4}: ",
        counts: Counts::Warn,
        says: "a device of the fabric does not answer the subnet manager",
        means: "A card or switch that is off, restarting or hung does not answer. The line names the path to it.",
        act: "follow the path with `ibtracert` or `iblinkinfo`; look at that host or switch; reseat or shut that link where it comes again",
        sources: OPENSM,
        samples: &[
            "Nov 30 10:00:00 123456 [F0D43740] 0x01 -> log_send_error: ERR 5411: DR SMP Send completed with error (IB_TIMEOUT) -- dropping",
        ],
        ..EFFECT
    },
    Cause {
        id: "verbs.sharp_bind",
        sign: r"Local Port validation failed\. error: FabricProvider must bind to port with master SM",
        says: "sharp_am runs on another port than the subnet manager",
        means: "The aggregation manager has to be on the host and port of the master subnet manager.",
        act: "run sharp_am beside the master subnet manager (`sminfo` shows its LID), or make this one master",
        sure: Sure::Confirmed,
        sources: &[seen("https://github.com/NVIDIA/nccl/issues/1425", "2024-09-04")],
        samples: &[
            "Sep 04 11:42:31 snail01 sharp_am[720665]: Local Port validation failed. error: FabricProvider must bind to port with master SM (SM LID:35 local LID:2. Exiting.",
        ],
        ..VERBS
    },
    Cause {
        id: "verbs.mlx5_completion",
        sign: "mlx5: .*: got completion with error",
        says: "a request over RDMA failed",
        means: "The library prints the failed completion as numbers. The program's own words say which status it was.",
        act: "look at the next words of the program and at the other side",
        samples: &["mlx5: gpu0: got completion with error:"],
        ..EFFECT
    },
];
