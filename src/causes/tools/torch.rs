//! `PyTorch` over several processes: torch.distributed, torchrun, its launchers, and data loaders.

use super::super::cause::{Apart, Cause, Counts, Remedy, Role, Source, Sure, TOOL, seen};
use super::nccl::DEATHS;

const C10D: &[Source] = &[
    seen(
        "https://github.com/pytorch/pytorch (torch/csrc/distributed/c10d/socket.cpp, TCPStore.cpp)",
        "2026-11-30",
    ),
    seen("https://docs.pytorch.org/docs/stable/elastic/run.html", "2026-11-30"),
];
const WATCHDOG: &[Source] = &[
    seen(
        "https://github.com/pytorch/pytorch (torch/csrc/distributed/c10d/ProcessGroupNCCL.cpp)",
        "2026-11-30",
    ),
    seen("https://github.com/alan-turing-institute/autocast/issues/381", "2026-05-26"),
    seen("https://github.com/hiyouga/LlamaFactory/issues/2902", "2024-03-20"),
];
const ELASTIC: &[Source] = &[
    seen("https://github.com/pytorch/pytorch (torch/distributed/elastic)", "2026-11-30"),
    seen("https://docs.pytorch.org/docs/stable/elastic/errors.html", "2026-11-30"),
];
const LOADER: &[Source] = &[
    seen("https://github.com/pytorch/pytorch (torch/utils/data/_utils/signal_handling.py)", "2026-11-30"),
    seen("https://docs.pytorch.org/docs/stable/multiprocessing.html", "2026-11-30"),
];
const LAUNCHERS: &[Source] = &[
    seen("https://github.com/deepspeedai/DeepSpeed (deepspeed/launcher)", "2026-11-30"),
    seen("https://github.com/Lightning-AI/pytorch-lightning (src/lightning/fabric)", "2026-11-30"),
];

const TORCH: Cause = Cause { sources: ELASTIC, remedy: Remedy::Settings, ..TOOL };
const EFFECT: Cause = Cause { role: Role::Effect, sure: Sure::Guess, remedy: Remedy::Look, ..TORCH };
const SUMMARY: Cause = Cause { role: Role::Summary, ..EFFECT };
const NOTE: Cause = Cause { counts: Counts::Note, remedy: Remedy::Look, ..TORCH };

/// Causes for which a job stops itself.
const STOPPED_BY: &[&str] = &[
    "torch.rank_exception",
    "torch.killed",
    "torch.segfault",
    "torch.bus_error",
    "torch.dataloader_shm",
    "torch.store_port_taken",
    "cuda.out_of_memory",
    "cuda.illegal_address",
    "cuda.assert",
    "cuda.ecc",
    "cuda.nvlink",
    "cuda.launch_failed",
    "nccl.shm_full",
    "nccl.port_down",
    "nccl.retry_exceeded",
    "torch.watchdog",
    "torch.watchdog_start",
];

const FIRST_RANK: &str = "look for the rank that failed first (Root Cause of torchrun's table, the earliest time) and its own log or traceback; give each rank a log of its own (`torchrun --log-dir DIR --redirects 3 --tee 3`)";
const MORE_SHM: &str = "give the container more /dev/shm: Docker `--shm-size=8g` or `--ipc=host`, Kubernetes an emptyDir with `medium: Memory` on /dev/shm; or fewer workers of the data loader";
const KILLED: &str = "look at the kernel's log of that host at this time for an OOM killer (`dmesg -T`), at memory.events of the job's cgroup, then at the scheduler (time limit, preemption, eviction): it was no mistake of the program that raised the signal";
const MASTER: &str = "look first whether the process of rank 0 runs and which address it listens on (`ss -ltn`); then `nc -vz HOST PORT` from this host: a refusal means that nothing listens there yet or any more, silence means a firewall or a wrong address (the playbook `firewall`); MASTER_ADDR or --rdzv-endpoint has to be an address that all hosts reach";

pub(in crate::causes) const ROWS: &[Cause] = &[
    // The store and the meeting of ranks.
    Cause {
        id: "torch.store_port_taken",
        sign: r"(server socket has failed to (listen on any local network address|bind to .*)|DistNetworkError|RuntimeError|EADDRINUSE|torch).*((?:\[::\]|0\.0\.0\.0):(?<port>[0-9]+) \(errno: 98|port: (?<other>[0-9]+), useIpv6.*EADDRINUSE|EADDRINUSE|errno: 98 - Address already in use)|^(\[rank[0-9]+\]: ?)?(RuntimeError|torch\.distributed\.DistNetworkError): Address already in use",
        says: "the port[ {port}][ {other}] of the store is in use already",
        means: "Another job on this host, or a process left over from an earlier one, listens on the port. torchrun takes 29500 where none is named.",
        act: "`ss -ltnp` says who has the port: end it where it is left over; give each job on a host its own (`--rdzv-endpoint localhost:0` or `--standalone` on one host, `--master-port` otherwise)",
        sure: Sure::Confirmed,
        sources: &[
            seen("https://github.com/meta-pytorch/torchtune/issues/392", "2024-02-20"),
            seen("https://github.com/pytorch/pytorch (torch/csrc/distributed/c10d/socket.cpp)", "2026-11-30"),
        ],
        samples: &[
            "torch.distributed.DistNetworkError: The server socket has failed to listen on any local network address. The server socket has failed to bind to [::]:29500 (errno: 98 - Address already in use).",
            "torch.distributed.DistNetworkError: The server socket has failed to listen on any local network address. port: 29500, useIpv6: false, code: -98, name: EADDRINUSE, message: address already in use",
        ],
        ..TORCH
    },
    Cause {
        id: "torch.store_address",
        sign: "server socket has failed to (listen|bind).*(errno: 99 - Cannot assign|EADDRNOTAVAIL|errno: 13 - Permission denied|EACCES)",
        says: "this host cannot listen on the address or port of the store",
        means: "The address is not of this host, or the port is below 1024.",
        act: "start rank 0 on the host that MASTER_ADDR or --rdzv-endpoint names, and take a port above 1024",
        sure: Sure::Confirmed,
        sources: C10D,
        samples: &["The server socket has failed to bind to [::]:80 (errno: 13 - Permission denied)."],
        ..TORCH
    },
    Cause {
        id: "torch.socket_note",
        sign: r"The (client|server) socket (cannot be initialized|has failed to (connect|bind)) .*\(errno: (97 - Address family not supported|99 - Cannot assign requested address)|The hostname of the client socket cannot be retrieved|The IPv6 network addresses of .* cannot be retrieved \(gai error: -(5|9|10) |No socket on .* is listening yet, will retry|is not yet listening .*, will retry",
        says: "a first try of the store's socket failed",
        means: "The store tries IPv6 and IPv4 and goes on with the one that works. It is an error only where the process ends.",
        sources: C10D,
        samples: &[
            "[W socket.cpp:601] [c10d] The client socket cannot be initialized to connect to [localhost]:29500 (errno: 97 - Address family not supported by protocol).",
            "[W socket.cpp:436] [c10d] The IPv6 network addresses of (gpu0, 29500) cannot be retrieved (gai error: -9 - Address family for hostname not supported).",
        ],
        ..NOTE
    },
    Cause {
        id: "torch.master_name",
        sign: r"The (?:IPv4 )?network addresses of \((?<host>[^,]+), (?<port>[0-9]+)\) cannot be retrieved \(gai error: -?[0-9]+ - (?<error>[^)]+)\)",
        says: "the name {host} does not resolve: {error}",
        means: "MASTER_ADDR or --rdzv-endpoint is a name that this host does not know.",
        act: "`getent hosts {host}` on each host; add it to DNS or /etc/hosts, or use the address (the playbook `base`)",
        sources: C10D,
        samples: &[
            "[W socket.cpp:436] [c10d] The network addresses of (gpu0, 29500) cannot be retrieved (gai error: -2 - Name or service not known).",
        ],
        ..TORCH
    },
    Cause {
        id: "torch.master_name_v6",
        sign: r"The IPv6 network addresses of \((?<host>[^,]+), (?<port>[0-9]+)\) cannot be retrieved \(gai error: -?[0-9]+ - (?<error>[^)]+)\)",
        counts: Counts::Warn,
        says: "the name {host} does not resolve, for IPv6 at least: {error}",
        means: "The store asks for IPv6 first and then for IPv4. Where the job does not start, this host does not know the name at all.",
        act: "`getent hosts {host}` on each host; add it to DNS or /etc/hosts, or use the address in MASTER_ADDR or --rdzv-endpoint",
        sure: Sure::Guess,
        sources: C10D,
        samples: &[
            "[W socket.cpp:436] [c10d] The IPv6 network addresses of (gpu0, 29500) cannot be retrieved (gai error: -2 - Name or service not known).",
        ],
        ..TORCH
    },
    Cause {
        id: "torch.store_route",
        sign: r"client socket has failed to connect to (any network address of )?[\[(]*(?<address>[0-9A-Za-z.:-]+?)[\]), ].*\(errno: (110|113|101) - (?<error>[^)]+)\)|The server socket on (?<host>[^ ]+) has timed out, will retry",
        says: "rank 0's store[ at {address}] cannot be reached[: {error}]",
        means: "The host of rank 0 is down, a firewall rejects or drops its port, or the address leads elsewhere.",
        act: MASTER,
        follows: &["torch.master_name", "torch.store_port_taken"],
        sources: C10D,
        samples: &[
            "[W socket.cpp:558] [c10d] The client socket has failed to connect to [192.0.2.7]:29500 (errno: 113 - No route to host).",
            "[W socket.cpp:558] [c10d] The client socket has failed to connect to [192.0.2.7]:29500 (errno: 110 - Connection timed out).",
        ],
        ..TORCH
    },
    Cause {
        id: "torch.store_refused",
        sign: r"client socket has failed to connect to \[?(?<host>[0-9A-Za-z.:-]+?)\]?:(?<port>[0-9]+) \(errno: 111",
        counts: Counts::Warn,
        says: "nothing listened yet on {host} port {port}",
        means: "A first try. The store tries again until its time is over.",
        act: MASTER,
        follows: DEATHS,
        sources: C10D,
        samples: &[
            "[W socket.cpp:601] [c10d] The client socket has failed to connect to [gpu0]:29500 (errno: 111 - Connection refused).",
        ],
        ..EFFECT
    },
    Cause {
        id: "torch.c10d_store",
        sign: "RendezvousConnectionError: The connection to the C10d store has failed",
        follows: DEATHS,
        says: "a host does not reach the store of the rendezvous",
        means: "The host of the endpoint opens the store, and it knows itself by name: where the endpoint is an address that none of its names leads to, no host opens it and all wait. Otherwise it is not started yet, or a firewall stands between.",
        act: "give `--rdzv-endpoint` as the host name of the first node that every node resolves (`getent hosts NAME`), or `--local-addr`, or `--rdzv-conf is_host=true` on that node alone; then see `ss -ltn` there and `nc -vz HOST PORT` from the others",
        sure: Sure::Guess,
        sources: &[seen(
            "https://github.com/pytorch/pytorch (torch/distributed/elastic/rendezvous/c10d_rendezvous_backend.py)",
            "2026-11-30",
        )],
        samples: &[
            "torch.distributed.elastic.rendezvous.api.RendezvousConnectionError: The connection to the C10d store has failed. See inner exception for details.",
        ],
        ..TORCH
    },
    Cause {
        id: "torch.store_localhost",
        sign: r"client socket has timed out after [0-9]+m?s while trying to connect to \(?(?<host>localhost|127\.0\.[01]\.1|\[?::1\]?)[,:] ?(?<port>[0-9]+)",
        says: "a rank looks for rank 0's store on its own host ({host} port {port})",
        means: "MASTER_ADDR or the endpoint is the host itself. On one host rank 0 did not start or ended; on several it has to be the name of the first host.",
        act: "with several hosts set MASTER_ADDR (or `--rdzv-endpoint`, `--master-addr`) to the first host's name or address on all; with one host look for the error of rank 0, which holds the store, and for HTTP proxies or a firewall on lo",
        follows: DEATHS,
        sources: &[
            seen("https://github.com/pytorch/pytorch (torch/csrc/distributed/c10d/socket.cpp)", "2026-12-01"),
            seen("https://pytorch.org/docs/stable/distributed.html", "2026-12-01"),
        ],
        samples: &[
            "[E socket.cpp:957] [c10d] The client socket has timed out after 600s while trying to connect to (localhost, 29500).",
        ],
        ..TORCH
    },
    Cause {
        id: "torch.store_timeout",
        sign: r"client socket has timed out after (?<time>[0-9]+m?s) while trying to connect to \(?(?<host>[^,): ]+)[,:] ?(?<port>[0-9]+)|connect\(\) timed out\. Original timeout was",
        says: "rank 0's store does not answer[ at {host} port {port}]",
        means: "Nothing listens at that address yet or any more, or the way to it is closed: rank 0 did not start or ended, a firewall, or a wrong MASTER_ADDR.",
        act: MASTER,
        sure: Sure::Guess,
        follows: &[
            "torch.master_name",
            "torch.master_name_v6",
            "torch.store_port_taken",
            "torch.store_route",
            "torch.dns",
        ],
        apart: &[Apart {
            beside: DEATHS,
            act: "mend the first error of the other ranks: rank 0, which holds the store, did not live to answer",
        }],
        sources: C10D,
        samples: &[
            "[E socket.cpp:860] [c10d] The client socket has timed out after 60s while trying to connect to (192.0.2.1, 29500).",
            "RuntimeError: connect() timed out. Original timeout was 60000 ms.",
        ],
        ..TORCH
    },
    Cause {
        id: "torch.not_all_joined",
        sign: r"Timed out after [0-9]+ seconds waiting for (clients|workers)\. (?<joined>[0-9]+)/(?<wanted>[0-9]+) (clients|workers) joined|store based barrier on rank: [0-9]+.*\(world_size=(?<world>[0-9]+), worker_count=(?<count>[0-9]+)",
        says: "not all processes came to the start[: {joined} of {wanted}][: {count} of {world}]",
        means: "Rank 0 waited for the others, and some never came: they were not started, ended, or cannot reach it.",
        act: "count the processes on each host (--nnodes, --nproc-per-node, --node-rank have to fit on all); look at the log of the hosts that are missing; then test `nc -vz` to rank 0's port from there",
        sure: Sure::Guess,
        follows: DEATHS,
        sources: C10D,
        samples: &[
            "torch.distributed.DistStoreError: Timed out after 901 seconds waiting for clients. 8/16 clients joined.",
        ],
        ..TORCH
    },
    Cause {
        id: "torch.store_get_id",
        sign: r"is setting up NCCL communicator and retrieving ncclUniqueId from \[0\] via c10d key-value store.*error: (?<error>[^.]*)",
        says: "rank 0 gave the others no id of NCCL[: {error}]",
        means: "Rank 0 had ended, or it never came to its first collective.",
        act: FIRST_RANK,
        follows: DEATHS,
        sources: WATCHDOG,
        samples: &[
            "RuntimeError: [1] is setting up NCCL communicator and retrieving ncclUniqueId from [0] via c10d key-value store by key '0', but store->get('0') got error: Connection reset by peer",
        ],
        ..EFFECT
    },
    Cause {
        id: "torch.store_poll",
        sign: r"waitForInput: (?:poll for socket|socket) SocketImpl\(.*remote=\[?(?<host>[^\]:]+)\]?:(?<port>\d+)\) (?:returned 0, likely a timeout|timed out after (?<time>\d+ms))",
        says: "a rank waited in vain for an answer of the store at {host} port {port}",
        means: "The store itself is reached. Another rank did not write what this one waits for: it hangs, ended, or does not come through its own connection (of NCCL or Gloo) to the others.",
        act: "look for the rank that does not report this, or has an error of its own; where all wait right at the start, NCCL or Gloo use an address that is not reached (NCCL_SOCKET_IFNAME, GLOO_SOCKET_IFNAME, and with IPv6 NCCL_SOCKET_FAMILY)",
        sources: &[
            seen("https://github.com/pytorch/pytorch (torch/csrc/distributed/c10d/socket.cpp)", "2026-11-30"),
            seen("https://github.com/sgl-project/sglang/issues/7478", "2025-06-23"),
        ],
        samples: &[
            "[rank1]:[W623 15:37:01.824135523 socket.cpp:485] [c10d] waitForInput: socket SocketImpl(fd=100, addr=[node-0.example.com]:43590, remote=[node-0.example.com]:20000) timed out after 1800000ms",
        ],
        ..EFFECT
    },
    Cause {
        id: "torch.store_wait",
        sign: "(DistStoreError|RuntimeError|store).*(Socket Timeout|wait timeout after [0-9]+ms|Store timeout)|wait timeout after [0-9]+ms, keys: (?<keys>.*)",
        says: "a rank waited in vain for another one at the store[ ({keys})]",
        means: "Another rank did not come to the same point: it ended, or it is still busy.",
        act: "look for the rank whose number is missing, and what it does (`py-spy dump --pid PID`); a longer timeout of init_process_group only where one rank prepares data for longer",
        follows: DEATHS,
        sources: C10D,
        samples: &[
            "torch.distributed.DistStoreError: wait timeout after 300000ms, keys: /default_pg/0//cuda//0",
        ],
        ..EFFECT
    },
    Cause {
        id: "torch.store_lost",
        sign: r"(recvValue|sendBytes|recvBytes|recvVector|doWait|TCPStore|Broken pipe.*TCPStore).*(failed to recv, got 0 bytes|Connection reset by peer|Broken pipe|Connection was likely closed)|[Ff]ailed to recv, got 0 bytes|^(\[rank[0-9]+\]: ?)?RuntimeError: (Connection reset by peer|Broken pipe)|failed to check the .should dump. flag on TCPStore|TCPStore server has shut down too early|Stop_waiting response is expected|\[c10d\] (recv|send)[A-Za-z]* failed on",
        says: "the store of rank 0 is gone",
        means: "The process of rank 0, which holds the store, has ended. Its own log says why.",
        act: "look at the log of rank 0 (the host of MASTER_ADDR) for its own error, or whether it had simply finished before the others",
        follows: DEATHS,
        sources: C10D,
        samples: &[
            "[W TCPStore.cpp:122] [c10d] recvValue failed on SocketImpl(fd=67, addr=[gpu1]:40112, remote=[gpu0]:29500): failed to recv, got 0 bytes",
        ],
        ..EFFECT
    },
    Cause {
        id: "torch.rendezvous_end",
        sign: "has failed to (shutdown the rendezvous|send a keep-alive heartbeat to the rendezvous)",
        counts: Counts::Warn,
        says: "an agent of torchrun found the rendezvous gone",
        means: "The agent that holds the rendezvous ended before this one. At the end of a job that succeeded this is nothing.",
        act: "look whether the job had finished; otherwise at the log of the host that --rdzv-endpoint names",
        follows: DEATHS,
        samples: &[
            "The node 'gpu1_1234_0' has failed to shutdown the rendezvous 'none' due to an error of type RendezvousConnectionError.",
        ],
        ..EFFECT
    },
    Cause {
        id: "torch.rendezvous_lost",
        sign: "RendezvousConnectionError|RendezvousTimeoutError|RendezvousClosedError|RendezvousStateError|RendezvousGracefulExitError",
        says: "the agents of torchrun lost each other",
        means: "The agent that holds the rendezvous did not start, ended before the others, or cannot be reached.",
        act: "look at the inner exception and at the log of the host that --rdzv-endpoint names: where that agent ended first, its own error counts; otherwise test its port with `nc -vz` from the others",
        follows: DEATHS,
        sources: &[
            seen("https://github.com/pytorch/pytorch/issues/107021", "2023-08-11"),
            seen("https://github.com/pytorch/pytorch (torch/distributed/elastic/rendezvous)", "2026-11-30"),
        ],
        samples: &["torch.distributed.elastic.rendezvous.api.RendezvousTimeoutError"],
        ..EFFECT
    },
    Cause {
        id: "torch.dns",
        sign: r"(socket\.gaierror|getaddrinfo).*(Temporary failure in name resolution|Name or service not known).*|ValueError: host not found: (?<host>[^ ]+)",
        says: "a name of a host does not resolve[: {host}]",
        means: "A program asked for the address of a name that DNS and /etc/hosts do not have.",
        act: "`getent hosts NAME` in the same place; look at /etc/resolv.conf of the container or host",
        sources: C10D,
        samples: &["ValueError: host not found: Name or service not known"],
        ..TORCH
    },
    Cause {
        id: "torch.env_missing",
        sign: "environment variable (?<name>RANK|WORLD_SIZE|MASTER_ADDR|MASTER_PORT|LOCAL_RANK) expected, but not set|KeyError: '(?<key>LOCAL_RANK|RANK|WORLD_SIZE|MASTER_ADDR|MASTER_PORT)'|Default process group has not been initialized",
        says: "the program was started without torchrun's variables[: {name}][: {key}]",
        means: "It wants RANK, WORLD_SIZE, LOCAL_RANK, MASTER_ADDR and MASTER_PORT, which a launcher sets.",
        act: "start it by `torchrun`, or set the variables from the scheduler's (SLURM_PROCID, SLURM_NTASKS, SLURM_LOCALID)",
        sure: Sure::Confirmed,
        sources: C10D,
        samples: &[
            "ValueError: Error initializing torch.distributed using env:// rendezvous: environment variable RANK expected, but not set",
            "KeyError: 'LOCAL_RANK'",
        ],
        ..TORCH
    },
    Cause {
        id: "torch.no_gpus",
        sign: r"ProcessGroupNCCL is only supported with GPUs, no GPUs found|Torch not compiled with CUDA enabled|Distributed package doesn't have NCCL built in|NCCL is not available|No supported gpu backend found|Attempting to deserialize object on a CUDA device but torch\.cuda\.is_available\(\) is False",
        says: "PyTorch has no CUDA here, or sees no GPU",
        means: "A build for CPUs is installed, or the job or container was given no GPU.",
        act: "`python -c 'import torch; print(torch.version.cuda, torch.cuda.device_count())'` tells: None means another build of PyTorch; 0 means that `nvidia-smi -L` and CUDA_VISIBLE_DEVICES in the same place are to be looked at",
        sure: Sure::Guess,
        sources: WATCHDOG,
        samples: &[
            "RuntimeError: ProcessGroupNCCL is only supported with GPUs, no GPUs found!",
            "AssertionError: Torch not compiled with CUDA enabled",
        ],
        ..TORCH
    },
    Cause {
        id: "torch.devices_requested",
        sign: r"You requested gpu: \[(?<wanted>[^]]*)\]|But your machine only has: \[(?<have>[^]]*)\]|Unable to proceed, no GPU resources available|No slot '[0-9]+' specified on host",
        says: "more GPUs are asked for than the host gives",
        means: "The launcher counts the GPUs of the host or job, and there are fewer.",
        act: "compare devices, --num_gpus or --nproc-per-node with `nvidia-smi -L` inside of the job",
        sources: LAUNCHERS,
        samples: &[
            "lightning.fabric.utilities.exceptions.MisconfigurationException: You requested gpu: [0, 1, 2, 3]",
        ],
        ..TORCH
    },
    // Ranks that do not fit.
    Cause {
        id: "torch.collective_mismatch",
        sign: "Detected mismatch between collectives on ranks",
        says: "the ranks call different collectives",
        means: "The debugging mode compared them: the program takes different ways on different ranks.",
        act: "compare the two calls in the line, and find the condition that depends on the rank",
        sure: Sure::Confirmed,
        remedy: Remedy::Look,
        samples: &[
            "RuntimeError: Detected mismatch between collectives on ranks. Rank 0 is running collective: CollectiveFingerPrint(SequenceNumber=9, OpType=ALLREDUCE), but Rank 1 is running collective: CollectiveFingerPrint(SequenceNumber=9, OpType=BROADCAST).",
        ],
        ..TORCH
    },
    Cause {
        id: "torch.unused_parameters",
        sign: "Expected to have finished reduction in the prior iteration|Expected to mark a variable ready only once",
        says: "some parameters got no gradient on a rank",
        means: "DDP waits for the gradients of all parameters, and some were not used. It is in the program.",
        act: "use all parameters in the loss, or `find_unused_parameters=True`; with checkpointing `static_graph=True`",
        remedy: Remedy::Look,
        sources: &[seen(
            "https://docs.pytorch.org/docs/stable/generated/torch.nn.parallel.DistributedDataParallel.html",
            "2026-11-30",
        )],
        samples: &[
            "RuntimeError: Expected to have finished reduction in the prior iteration before starting a new one.",
        ],
        ..TORCH
    },
    Cause {
        id: "torch.parameters_differ",
        sign: "DDP expects same model across all ranks|in this process with sizes .* appears not to match sizes|Params? .* (has|have) inconsistent",
        says: "the ranks have different models",
        means: "The number or shape of parameters differs between ranks: another code, checkpoint or setting on a host.",
        act: "compare code, configuration and checkpoint over the hosts",
        samples: &[
            "RuntimeError: DDP expects same model across all ranks, but Rank 0 has 199 params, while rank 1 has inconsistent 0 params.",
        ],
        ..TORCH
    },
    Cause {
        id: "torch.nan",
        sign: "NaN check failed|NaN found in (input|output)|Loss is (nan|NaN)|Current loss scale already at minimum",
        says: "values became NaN",
        means: "The training diverged, or a rank calculates wrong.",
        act: "start again from the last good checkpoint; where it is the same rank or host each time, run `dcgmi diag -r 3` there",
        sure: Sure::Guess,
        remedy: Remedy::Look,
        sources: LAUNCHERS,
        samples: &[
            "Exception: Current loss scale already at minimum - cannot decrease scale anymore. Exiting run.",
        ],
        ..TORCH
    },
    // Data loaders and memory that is shared.
    Cause {
        id: "torch.dataloader_shm",
        sign: r"DataLoader worker \(pid\(?s?\)? ?[0-9, ]+\) is killed by signal: Bus error|[Ii]t is possible that dataloader's workers are out of shared memory|insufficient shared memory \(shm\)",
        says: "/dev/shm is too small for the data loader",
        means: "Workers hand batches over in /dev/shm, and that is full. Containers have 64 MB of it by default.",
        act: MORE_SHM,
        sources: LOADER,
        samples: &[
            "RuntimeError: DataLoader worker (pid 2187) is killed by signal: Bus error. It is possible that dataloader's workers are out of shared memory. Please try to raise your shared memory limit.",
            "ERROR: Unexpected bus error encountered in worker. This might be caused by insufficient shared memory (shm).",
        ],
        ..TORCH
    },
    Cause {
        id: "torch.shm_full",
        sign: r"unable to (open|resize|write to|mmap|allocate).*(</torch_|shared memory).*(No space left on device|Cannot allocate memory)|unable to write to file </torch_|OSError: \[Errno 28\] No space left on device: '/(dev/shm|psm_)|_multiprocessing.*No space left on device",
        says: "/dev/shm is full",
        means: "Tensors that processes share lie in /dev/shm.",
        act: MORE_SHM,
        sources: LOADER,
        samples: &[
            "RuntimeError: unable to write to file </torch_2187_1234567>",
            "RuntimeError: unable to mmap 4194304 bytes from file </torch_2187_123_4>: Cannot allocate memory (12)",
        ],
        ..TORCH
    },
    Cause {
        id: "torch.open_files",
        sign: r"received [0-9]+ items of ancdata|unable to open shared memory object </torch_[^>]*>.*Too many open files|Too many open files\. Communication with the workers is no longer possible",
        says: "a process may open too few files",
        means: "Each tensor that is shared takes a file, and the limit (nofile) is reached.",
        act: "raise `ulimit -n` for the job (the playbook `limits`; LimitNOFILE of slurmd or the container's daemon), or `torch.multiprocessing.set_sharing_strategy('file_system')`",
        sure: Sure::Confirmed,
        sources: LOADER,
        samples: &[
            "RuntimeError: received 0 items of ancdata",
            "RuntimeError: unable to open shared memory object </torch_2187_123_4> in read-write mode: Too many open files (24)",
        ],
        ..TORCH
    },
    Cause {
        id: "torch.dataloader_killed",
        sign: r"DataLoader worker \(pid\(?s?\)? ?[0-9, ]+\) is killed by signal: (?<signal>Killed|Segmentation fault|Aborted)",
        says: "a worker of the data loader was ended: {signal}",
        means: "Killed: mostly the memory of the host or of the job's cgroup was used up. A segmentation fault comes from a library for images or files.",
        act: "look at the kernel's log for the OOM killer; give the job more memory or fewer workers; with num_workers=0 the error of a library shows itself",
        sure: Sure::Guess,
        follows: &["oom.host", "oom.group", "oom.none_left"],
        sources: LOADER,
        samples: &["RuntimeError: DataLoader worker (pid 2187) is killed by signal: Killed."],
        ..TORCH
    },
    Cause {
        id: "torch.dataloader_exited",
        sign: r"DataLoader worker \(pid\(?s?\)? ?[0-9, ]+\) (exited unexpectedly|is killed by signal)|Pin memory thread exited unexpectedly|DataLoader timed out after",
        says: "a worker of the data loader ended",
        means: "The worker's own error stands before, or it was ended with the job.",
        act: "look at the first error of this rank; run with num_workers=0 to see it",
        follows: DEATHS,
        sources: LOADER,
        samples: &["RuntimeError: DataLoader worker (pid(s) 2187, 2188) exited unexpectedly"],
        ..EFFECT
    },
    // How a process ended.
    Cause {
        id: "torch.killed",
        sign: r"exitcode *: -9\b|\(exitcode: -9\)|Signal 9 \(SIGKILL\) received by PID|died with <Signals\.SIGKILL: 9>|exits with return code = -9|terminated with signal SIGKILL|was terminated by signal 9",
        says: "a process was killed (signal 9)",
        means: "Something outside of the program ended it: mostly the OOM killer of the host or the cgroup's limit of memory, else the scheduler.",
        act: KILLED,
        sure: Sure::Guess,
        apart: &[Apart {
            beside: &["torch.exit_one"],
            act: "see Root Cause of torchrun's table first: a rank that ended with exit code 1 before has an exception of its own, and torchrun kills the ranks that are left after half a minute; where the killed rank is the first one, look at `dmesg -T` of that host for an OOM killer",
        }],
        follows: &["oom.host", "oom.group", "oom.none_left", "torch.stopped", "cuda.out_of_memory"],
        sources: ELASTIC,
        samples: &["  exitcode  : -9 (pid: 41234)", "  traceback : Signal 9 (SIGKILL) received by PID 41234"],
        ..TORCH
    },
    Cause {
        id: "torch.bus_error",
        sign: r"exitcode *: -7\b|exits with return code = -7\b|\(exitcode: -7\)|Signal 7 \(SIGBUS\) received by PID|died with <Signals\.SIGBUS|Bus error \(core dumped\)|terminated with signal SIGBUS|\*\*\* SIGBUS ",
        says: "a process ended by a bus error (signal 7)",
        means: "Mostly /dev/shm is full: in containers it has 64 MB by default. A file that was cut short or a full disk behind a mapped file shows the same.",
        act: "`df -h /dev/shm` inside; give the container more (`--shm-size=8g`, `--ipc=host`, an emptyDir with medium Memory); then look at the disks and the kernel's log",
        sure: Sure::Guess,
        follows: &[
            "torch.dataloader_shm",
            "torch.shm_full",
            "nccl.shm_full",
            "mce.memory",
            "mce.uncorrected",
        ],
        sources: ELASTIC,
        samples: &["  traceback : Signal 7 (SIGBUS) received by PID 41234"],
        ..TORCH
    },
    Cause {
        id: "torch.segfault",
        sign: r"exitcode *: -11\b|\(exitcode: -11\)|Signal 11 \(SIGSEGV\) received by PID|died with <Signals\.SIGSEGV|exits with return code = -11|Fatal Python error: Segmentation fault|Segmentation fault \(core dumped\)|terminated with signal SIGSEGV|\*\*\* SIGSEGV |SIGSEGV\(11\), PID",
        says: "a process crashed (segmentation fault)",
        means: "A library or extension reached for memory that is not there: mixed versions of libraries, an extension for another PyTorch, or a plugin of NCCL.",
        act: "run it with `python -X faulthandler` to see where; compare with a clean environment or image; take plugins and LD_LIBRARY_PATH out one by one",
        sure: Sure::Guess,
        remedy: Remedy::Look,
        sources: ELASTIC,
        samples: &[
            "  traceback : Signal 11 (SIGSEGV) received by PID 41234",
            "Fatal Python error: Segmentation fault",
        ],
        ..TORCH
    },
    Cause {
        id: "torch.stopped",
        sign: r"got signal: (?<signal>15|1|2)\b|Received (?<number>15|1|2|Signals\.SIG(TERM|HUP|INT)) death signal, shutting down workers|Received Signals\.SIG(?<name>TERM|HUP|INT) death signal",
        follows: STOPPED_BY,
        says: "torchrun was stopped from outside by a signal",
        means: "1 (HUP): the terminal or SSH connection ended. 2 (INT): somebody stopped it. 15 (TERM): the scheduler or container was stopped (time limit, preemption, eviction, another task of the job failed).",
        act: "for HUP start it in tmux, by nohup or by the scheduler; for TERM look at the scheduler (`sacct -j`, `kubectl describe pod`) and at the other tasks of the job",
        sure: Sure::Guess,
        remedy: Remedy::Look,
        sources: ELASTIC,
        samples: &[
            "torch.distributed.elastic.multiprocessing.api.SignalException: Process 41234 got signal: 1",
            "W1130 10:00:00.000000 41234 torch/distributed/elastic/agent/server/api.py:704] Received Signals.SIGTERM death signal, shutting down workers",
        ],
        ..TORCH
    },
    Cause {
        id: "torch.signal_exit",
        sign: r"exitcode *: -(?<signal>4|8|5|31)\b|\(exitcode: -(?<other>4|8|5|31)\)|Signal (4 \(SIGILL\)|8 \(SIGFPE\)|31 \(SIGSYS\)) received by PID",
        says: "a process ended by a signal[ ({signal})][ ({other})]",
        means: "4: an instruction that this CPU does not have; 8: a division by zero; 31: a system call that is forbidden (seccomp).",
        act: "for 4 take a build for this CPU, for 31 look at the container's seccomp profile",
        remedy: Remedy::Look,
        sure: Sure::Guess,
        samples: &["  traceback : Signal 4 (SIGILL) received by PID 41234"],
        ..TORCH
    },
    // The watchdog.
    Cause {
        id: "torch.fit_ended",
        sign: r"Trainer\.fit.? stopped: ",
        says: "the training had come to its end",
        means: "Lightning tells that all steps are done.",
        samples: &["`Trainer.fit` stopped: `max_epochs=10` reached."],
        ..NOTE
    },
    Cause {
        id: "torch.watchdog_start",
        sign: r"Watchdog caught collective operation timeout: WorkNCCL\(SeqNum=(?<seq>[0-9]), OpType=(?<type>[A-Z_0-9]+)",
        says: "a rank waited in vain for the others in one of the first collectives[: {type}][, number {seq}]",
        means: "The watchdog ended it. At the start a rank is mostly still busy with what only it does (tokenizing or downloading data, loading a model), or one never started, or the network between hosts does not carry data.",
        act: "look first whether one rank is busy on the CPU (`top`, `py-spy dump`) or has an error of its own: prepare data before the distributed part, or take a longer timeout (`ddp_timeout`, timeout of init_process_group); where all wait, run `all_reduce_perf` over the same hosts and look at NCCL WARN; no host is broken for this line alone",
        follows: DEATHS,
        sources: WATCHDOG,
        samples: &[
            "NCCL watchdog thread terminated with exception: [Rank 4] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=2, OpType=ALLREDUCE, NumelIn=1, NumelOut=1, Timeout(ms)=1800000) ran for 1800041",
        ],
        ..EFFECT
    },
    Cause {
        id: "torch.watchdog",
        sign: r"Watchdog caught collective operation timeout(: WorkNCCL\((SeqNum=(?<seq>[0-9]+), )?OpType=(?<type>[A-Z_0-9]+))?|Timeout at NCCL work: [0-9]+, last enqueued",
        says: "a rank waited in vain for the others in a collective[: {type}][, number {seq}]",
        means: "The watchdog ended it. Some rank did not come to this collective: it ended, is busy with something that only it does (loading or preparing data, saving a checkpoint), took another way in the program, or the network hangs. The rank that tells it is rarely the one at fault.",
        act: "look for the rank that reports no timeout, another number or another operation, or ended earlier: its own log has the cause; where all report the same one, look at NCCL WARN and the links; `py-spy dump` on the hanging ranks shows the place; with TORCH_NCCL_TRACE_BUFFER_SIZE=2000 the flight recorder names it; a longer timeout only where one rank has long work of its own; let all ranks call the saving of checkpoints; no host is broken for this line alone",
        follows: DEATHS,
        apart: &[Apart {
            beside: &["torch.fit_ended"],
            act: "the training had ended, so look at the end of the program: every rank has to call the saving of checkpoints and the last barrier, not rank 0 alone; the results are whole, and GPUs, network and host are not at fault",
        }],
        sources: WATCHDOG,
        samples: &[
            "[Rank 0] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=7753, OpType=ALLREDUCE, NumelIn=1, NumelOut=1, Timeout(ms)=1800000) ran for 1800090 milliseconds before timing out.",
            "[rank3]:[E909 09:55:46.996672294 ProcessGroupNCCL.cpp:1709] [PG 0 (default_pg) Rank 3] Timeout at NCCL work: 2070, last enqueued NCCL work: 2082, last completed NCCL work: 2069.",
        ],
        ..EFFECT
    },
    Cause {
        id: "torch.heartbeat",
        sign: "ProcessGroupNCCL's watchdog got stuck for|Heartbeat monitor timed out|watchdog got stuck for [0-9]+ ?(seconds|ms)",
        says: "the watchdog itself hangs",
        means: "A call of CUDA or Python does not return: the GPU hangs, a lock of Python is held, or a file system does not answer.",
        act: "look at gpu.xid of this host, and at `py-spy dump --pid PID`; TORCH_NCCL_ENABLE_MONITORING=0 only hides it",
        follows: DEATHS,
        sources: WATCHDOG,
        samples: &[
            "[rank0]:[F1130 ProcessGroupNCCL.cpp:1306] [PG 0 Rank 0] Heartbeat monitor timed out! Process will be terminated after dumping debug info. workMetaList_.size()=4",
        ],
        ..EFFECT
    },
    Cause {
        id: "torch.remote_abort",
        sign: "Found key in store: NCCLABORTEDCOMM|Observed flight recorder dump signal from another rank|Received a (dump|timeout) signal (due to a collective timeout )?from|has aborted its NCCL communicators|NCCL communicator was aborted on rank|NCCL communicator .*aborted|current process .* is aborting|Could not (receive|get) .* from rank",
        says: "another rank gave up",
        means: "This rank ends since another one told so.",
        act: "look at the rank that the line names, and for the earliest error of all ranks",
        follows: DEATHS,
        sources: WATCHDOG,
        samples: &[
            "[rank1]:[E1130 ProcessGroupNCCL.cpp:1375] [PG 0 Rank 1] Observed flight recorder dump signal from another rank via TCPStore.",
            "torch.distributed.DistBackendError: NCCL communicator was aborted on rank 1.",
        ],
        ..EFFECT
    },
    Cause {
        id: "torch.gloo",
        sign: r"[Gg]loo.*(connectFullMesh failed|Connection (closed|reset) by peer|[Tt]imed out waiting|Read error|Application timeout caused pair closure)|Connection closed by peer \[[0-9a-f.:]+\]|Timed out waiting [0-9]+ms for (recv|send) operation to complete",
        says: "another rank did not answer over Gloo",
        means: "The other process ended, or the interface that Gloo took does not lead there.",
        act: "look for the rank that ended first; at the very start set GLOO_SOCKET_IFNAME to the interface between the hosts",
        follows: DEATHS,
        sources: &[seen("https://github.com/pytorch/gloo (gloo/transport/tcp)", "2026-11-30")],
        samples: &[
            "RuntimeError: [../third_party/gloo/gloo/transport/tcp/pair.cc:534] Connection closed by peer [192.0.2.7]:50123",
            "RuntimeError: Gloo connectFullMesh failed with [../third_party/gloo/gloo/transport/tcp/pair.cc:144] no error",
        ],
        ..EFFECT
    },
    Cause {
        id: "torch.gloo_interface",
        sign: r"ifa != nullptr\. Unable to find (address|interface) for: (?<interface>[^ ]+)|Unable to find address for: (?<other>[^ ]+)|Unable to resolve hostname to a \(local\) address",
        says: "Gloo finds no address[ on {interface}][ on {other}]",
        means: "GLOO_SOCKET_IFNAME names an interface that is not there or has no address, or the name of this host does not resolve to one of its own.",
        act: "compare GLOO_SOCKET_IFNAME with `ip -br addr`; `getent hosts $(hostname)` has to give an address of this host",
        sources: &[seen("https://github.com/pytorch/gloo (gloo/transport/tcp/device.cc)", "2026-11-30")],
        samples: &[
            "RuntimeError: [enforce fail at ../third_party/gloo/gloo/transport/tcp/device.cc:83] ifa != nullptr. Unable to find address for: eth9",
        ],
        ..TORCH
    },
    // Launchers.
    Cause {
        id: "torch.pdsh",
        sign: "launcher 'pdsh' not installed|pdsh: (command )?not found|(?<host>[A-Za-z0-9.-]+): (rcmd: socket: Permission denied|ssh exited with exit code 255|connect: Connection refused)|Command 'ssh [^']*' returned non-zero exit status 255|host=(?<name>[^ ]+) was not reachable via ssh",
        says: "the launcher does not reach a host[: {host}][: {name}]",
        means: "DeepSpeed starts the hosts by pdsh over SSH: it is not installed, or the login without a password fails.",
        act: "install pdsh, set PDSH_RCMD_TYPE=ssh, and let `ssh HOST true` work without a question (the playbook `ssh-mesh`)",
        follows: &["ssh.host_key_failed", "ssh.host_key_changed", "ssh.denied"],
        sources: LAUNCHERS,
        samples: &["RuntimeError: launcher 'pdsh' not installed.", "gpu1: ssh exited with exit code 255"],
        ..TORCH
    },
    Cause {
        id: "torch.no_own_address",
        sign: r"Using IP address of +for node (?<host>\S+)",
        says: "the launcher found no address for the first host[: {host}]",
        means: "DeepSpeed takes the first word of `hostname -I`; it printed nothing, so that --master_addr stays empty.",
        act: "give `--master_addr ADDRESS` to deepspeed (an address that the other hosts reach), and look at `hostname -I` on {host}",
        sources: &[seen("https://github.com/deepspeedai/DeepSpeed/issues/2612", "2022-12-15")],
        samples: &[
            "[2022-12-15 21:00:19,543] [INFO] [runner.py:417:main] Using IP address of  for node ddp-0.example.org",
        ],
        ..TORCH
    },
    Cause {
        id: "torch.hostfile",
        sign: "Hostfile (contains a bad entry|is not formatted correctly|contains multiple entries|is empty)|Unable to parse hostfile",
        says: "the hostfile of the launcher is wrong",
        means: "DeepSpeed wants one host in each line, with its number of GPUs.",
        act: "write each line as `gpu0 slots=8`, each host once",
        sure: Sure::Confirmed,
        sources: LAUNCHERS,
        samples: &[
            "ValueError: Hostfile contains a bad entry: gpu0 lots=8, unable to proceed with launching",
        ],
        ..TORCH
    },
    Cause {
        id: "torch.slurm_ntasks",
        sign: "You set `(?<option>--ntasks=[0-9]+)` in your SLURM bash script|You set `devices=(?<devices>[0-9]+)` in Lightning, but the number of tasks per node configured in SLURM",
        says: "Slurm's tasks do not fit to what Lightning wants",
        means: "Lightning wants one task for each GPU, asked for by --ntasks-per-node.",
        act: "write `--ntasks-per-node` equal to `devices`, and `--nodes` equal to `num_nodes`, and start by srun",
        sure: Sure::Confirmed,
        sources: LAUNCHERS,
        samples: &[
            "RuntimeError: You set `--ntasks=8` in your SLURM bash script, but this variable is not supported. HINT: Use `--ntasks-per-node=8` instead.",
        ],
        ..TORCH
    },
    Cause {
        id: "vllm.memory_in_use",
        sign: r"Free memory on device.*\((?<free>[0-9.]+)/(?<total>[0-9.]+) GiB\) on startup is less than desired GPU memory utilization",
        says: "other processes use the GPU: {free} of {total} GiB are free",
        means: "vLLM takes a share of the GPU's memory at its start, and less than that is free.",
        act: "`nvidia-smi` says who has it: end left-over processes, or lower `--gpu-memory-utilization`",
        sources: &[seen("https://github.com/vllm-project/vllm (vllm/v1/worker)", "2026-11-30")],
        samples: &[
            "ValueError: Free memory on device (5.23/79.1 GiB) on startup is less than desired GPU memory utilization (0.9, 71.19 GiB).",
        ],
        ..TORCH
    },
    Cause {
        id: "vllm.cache",
        sign: "No available memory for the cache blocks|is larger than the (available|maximum number of tokens that can be stored in) KV cache|(needed|is needed), which is larger than the available KV cache memory",
        says: "the model leaves no room for its cache on the GPU",
        means: "The weights and the length of a sequence need more memory than the GPU has.",
        act: "lower `--max-model-len`, raise `--gpu-memory-utilization`, or take more GPUs (`--tensor-parallel-size`)",
        sources: &[seen(
            "https://github.com/vllm-project/vllm (vllm/v1/core/kv_cache_utils.py)",
            "2026-11-30",
        )],
        samples: &[
            "ValueError: No available memory for the cache blocks. Try increasing `gpu_memory_utilization` when initializing the engine.",
        ],
        ..TORCH
    },
    Cause {
        id: "ray.memory",
        sign: r"running low on memory|was killed due to the node running low|ray\.exceptions\.OutOfMemoryError",
        says: "Ray ended a worker as the host has too little memory",
        means: "Ray's own monitor ends workers before the kernel does.",
        act: "give the host or pod more memory, or start fewer workers on it; RAY_memory_usage_threshold sets the limit",
        sources: &[seen(
            "https://docs.ray.io/en/latest/ray-core/scheduling/ray-oom-prevention.html",
            "2026-11-30",
        )],
        samples: &["ray.exceptions.OutOfMemoryError: Task was killed due to the node running low on memory."],
        ..TORCH
    },
    Cause {
        id: "ray.no_node",
        sign: "No node info found matching attributes|Failed to connect to Ray cluster at (?<address>[^ ]+)",
        says: "a program finds no node of Ray at this host's address",
        means: "Ray looks for a raylet on the host or in the container in which the program runs, by its address: Ray was started in another container, under another address of the host, or not at all.",
        act: "start the program in the container in which `ray start` ran; give each `ray start` and the program the same address (`--node-ip-address`, VLLM_HOST_IP); `ray status` and `ray list nodes` show what is there",
        sources: &[seen("https://github.com/gpustack/gpustack/issues/5469", "2026-11-30")],
        samples: &["Exception: No node info found matching attributes: {'node_ip_address': '192.0.2.10'}"],
        ..TORCH
    },
    Cause {
        id: "ray.actor_died",
        sign: "RayActorError|ActorDiedError|The actor died (unexpectedly )?|marked dead because the detector|WorkerCrashedError|Worker exit type: SYSTEM_ERROR",
        says: "a worker of Ray ended",
        means: "Its own log, in /tmp/ray/session_latest/logs of its host, has the cause.",
        act: "look at the worker's log there, and at the kernel's log of that host",
        follows: DEATHS,
        sources: &[seen("https://docs.ray.io/en/latest/ray-core/fault_tolerance/actors.html", "2026-11-30")],
        samples: &["ray.exceptions.RayActorError: The actor died unexpectedly before finishing this task."],
        ..EFFECT
    },
    Cause {
        id: "torch.checkpoint_write",
        sign: r"PytorchStreamWriter failed writing file|unexpected pos [0-9]+ vs [0-9]+",
        says: "a checkpoint could not be written",
        means: "Mostly the disk or the quota is full, else the file system of the network gave up.",
        act: "`df -h` and `df -i` of the directory, then the quota of the account; look at the kernel's log where it is NFS or Lustre",
        sure: Sure::Guess,
        samples: &[
            "RuntimeError: [enforce fail at inline_container.cc:588] . PytorchStreamWriter failed writing file data/12: file write failed",
        ],
        ..TORCH
    },
    Cause {
        id: "torch.rank_exception",
        sign: r"\[rank(?<rank>[0-9]+)\]: ?(?<type>(Value|Type|Key|Index|Attribute|Assertion|FileNotFound|Import|Name|ZeroDivision|Permission|UnicodeDecode|Syntax|NotImplemented|NotADirectory|JSONDecode|EOF|Lookup|Memory)Error)\b:? ?(?<what>.*)",
        says: "rank {rank} ended by an exception of the program: {type}[: {what}]",
        means: "An exception of Python ended a rank; the others lose it then.",
        act: "read the traceback of rank {rank}",
        remedy: Remedy::Look,
        sure: Sure::Guess,
        samples: &["[rank3]: FileNotFoundError: [Errno 2] No such file or directory: '/data/train.bin'"],
        ..TORCH
    },
    Cause {
        id: "torch.tool_missing",
        sign: "(?<tool>torchrun|deepspeed|accelerate|pdsh|ninja): (command )?not found",
        says: "{tool} is not on the path",
        means: "The environment with the program is not active in this shell; logins without a terminal read other files than those with one.",
        act: "activate the environment in the script of the job, or name the program with its whole path",
        samples: &["bash: line 1: torchrun: command not found"],
        ..TORCH
    },
    // What is no trouble.
    Cause {
        id: "torch.note",
        sign: r"Setting OMP_NUM_THREADS environment variable for each process|destroy_process_group\(\) was not called before program exit|process group has NOT been destroyed before we destruct ProcessGroupNCCL|using GPU [0-9]+ (to perform barrier )?as (the )?device(s)? used by this process (is|are) currently unknown|Guessing device ID based on global rank|NCCL_[A-Z_]+ is deprecated; use|torch\.distributed\.launch is deprecated|Redirects are currently not supported|master_addr is only used for static rdzv_backend|Stack trace of the failed collective not found|async_io requires the dev libaio|Unable to find hostfile, will proceed with training with local resources only|Found key in store: first_timeout|SLURM auto-requeueing enabled|no device id is provided via `init_process_group`",
        says: "PyTorch tells of a habit or a default",
        means: "A remark, not the trouble.",
        samples: &[
            "Setting OMP_NUM_THREADS environment variable for each process to be 1 in default, to avoid your system being overloaded",
            "[rank0]:[W1130 ProcessGroupNCCL.cpp:1496] Warning: WARNING: destroy_process_group() was not called before program exit, which can leak resources.",
        ],
        ..NOTE
    },
    Cause {
        id: "jax.versions",
        sign: "CUDA backend failed to initialize: (?<why>.+)|a CUDA-enabled jaxlib is not installed|jaxlib version [0-9.]+ is (?:newer|older)|Unable to initialize backend '(?:cuda|gpu)': (?<other>.+)",
        says: "JAX has no CUDA here[: {why}][: {other}]",
        means: "The CUDA plugin is not installed, is of another version than jax and jaxlib, finds another CUDA or cuDNN (LD_LIBRARY_PATH) than it was built with, or sees no GPU and driver.",
        act: "`nvidia-smi` first; then `pip list | grep -iE \"jax|nvidia\"` and install one set (jax with its extra cuda12 or cuda13) with LD_LIBRARY_PATH unset; within Slurm `--gres=gpu:N` in place of `--gpus-per-task`, which hides the GPUs of other tasks",
        remedy: Remedy::Install,
        sources: &[seen("https://github.com/jax-ml/jax (jax/_src/xla_bridge.py)", "2026-11-30")],
        samples: &[
            "WARNING:jax._src.xla_bridge:CUDA backend failed to initialize: Found CUDA version 12010, but JAX was built against version 12020",
        ],
        ..TORCH
    },
    Cause {
        id: "jax.memory",
        sign: "RESOURCE_EXHAUSTED: (?:Out of memory|Failed to allocate)|XlaRuntimeError: RESOURCE_EXHAUSTED",
        says: "the memory of the GPU is full (XLA)",
        means: "JAX takes three quarters of a GPU at its start: two processes on one GPU do that, or the program itself is too big.",
        act: "`nvidia-smi` shows who else is on it: one process for each GPU; XLA_PYTHON_CLIENT_PREALLOCATE=false or XLA_PYTHON_CLIENT_MEM_FRACTION as a test; else smaller batches",
        sources: &[seen("https://docs.jax.dev/en/latest/gpu_memory_allocation.html", "2026-11-30")],
        samples: &[
            "jaxlib.xla_extension.XlaRuntimeError: RESOURCE_EXHAUSTED: Out of memory while trying to allocate 17179869184 bytes.",
        ],
        ..TORCH
    },
    Cause {
        id: "jax.process_restarted",
        sign: "(?:unexpectedly )?tried to connect with a different incarnation",
        role: Role::Effect,
        says: "a process of JAX was started again while the others went on",
        means: "The coordinator knows the process of before: one process ended and was started anew alone. JAX cannot take it back; all have to start together.",
        act: "look for the end of that process before this (its own log, OOM, Xid), mend it, and restart all processes of the job with a new coordinator",
        sources: &[seen("https://github.com/marin-community/marin/issues/7650", "2026-08-17")],
        samples: &[
            "ABORTED: /job:jax_worker/replica:0/task:3 unexpectedly tried to connect with a different incarnation. It has likely restarted.",
        ],
        ..TORCH
    },
    Cause {
        id: "jax.rendezvous_waits",
        sign: r"waiting for `initialize clique for rank (?<rank>\d+)|Expected (?<want>\d+) threads to join the rendezvous",
        role: Role::Effect,
        says: "the processes of JAX wait for each other in NCCL[: rank {rank}]",
        means: "Not all take part in the same step: another process runs other code (a collective that only one of them calls), it ended, or its NCCL does not reach this host.",
        act: "let every process run the same program over all global devices; look at the log of the others first, then `NCCL_DEBUG=INFO` on both",
        sure: Sure::Guess,
        sources: &[seen("https://github.com/jax-ml/jax/issues/22740", "2024-07-29")],
        samples: &[
            "This thread has been waiting for `initialize clique for rank 6; clique=devices=[0,1,2,3]; stream=0; run_id=724296073` for 10 seconds and may be stuck. Expected 8 threads to join the rendezvous, but not all of them arrived on time.",
        ],
        ..TORCH
    },
    Cause {
        id: "jax.proxy",
        sign: "JAX detected proxy variable",
        says: "JAX warns of variables of a proxy",
        means: "gRPC sends the connection to the coordinator to the proxy as well, where it hangs.",
        counts: Counts::Warn,
        act: "set NO_PROXY and no_proxy to the address of the coordinator, or unset http_proxy, https_proxy and their like for the job",
        sources: &[seen("https://github.com/jax-ml/jax/issues/22995", "2024-08-12")],
        samples: &[
            "JAX detected proxy variable(s) in the environment as distributed setup: no_proxy https_proxy. On some systems, this may cause a hang of distributed.initialize",
        ],
        ..TORCH
    },
    Cause {
        id: "jax.not_all_joined",
        sign: "DEADLINE_EXCEEDED: (?:Barrier timed out|.*PjRT_Client_Connect)|UNAVAILABLE: failed to connect to all addresses|UNAVAILABLE: .*(?:coordination|Connection refused)|CoordinationService.*(?:unhealthy|heartbeat timeout)|Terminating process because the (?:JAX distributed|coordinat)",
        role: Role::Effect,
        says: "a process of JAX does not reach the others",
        means: "One of them did not start or ended, or coordinator_address is not reached: a name, a firewall, the wrong count of processes.",
        act: "look which process is missing and at its own error; `nc -vz HOST PORT` of coordinator_address from each host; num_processes and process_id have to fit the launcher",
        sure: Sure::Guess,
        sources: &[seen(
            "https://github.com/openxla/xla (xla/tsl/distributed_runtime/coordination)",
            "2026-11-30",
        )],
        samples: &[
            "jaxlib.xla_extension.XlaRuntimeError: DEADLINE_EXCEEDED: Barrier timed out. Id: PjRT_Client_Connect",
        ],
        ..TORCH
    },
    Cause {
        id: "jax.dnn",
        sign: r"DNN library initialization failed|Could not create cudnn handle: (?<why>\w+)|Loaded runtime CuDNN library: (?<have>[0-9.]+) but source was compiled with: (?<want>[0-9.]+)",
        says: "cuDNN could not be started[: {why}][: {have} is loaded, {want} is wanted]",
        means: "The memory of the GPU is taken by another process, or another cuDNN is found first (LD_LIBRARY_PATH).",
        act: "`nvidia-smi` for other processes; unset LD_LIBRARY_PATH, and `pip list | grep cudnn` against what is loaded",
        sure: Sure::Guess,
        sources: &[seen(
            "https://github.com/openxla/xla (xla/stream_executor/cuda/cuda_dnn.cc)",
            "2026-11-30",
        )],
        samples: &[
            "FAILED_PRECONDITION: DNN library initialization failed. Look at the errors above for more details.",
        ],
        ..TORCH
    },
    Cause {
        id: "jax.note",
        sign: "CUDA version is [0-9.]+ which is older than the ptxas CUDA version|Unable to register cu(?:DNN|BLAS|FFT) factory|TF-TRT Warning: Could not find TensorRT|could not open file to read NUMA node|This TensorFlow binary is optimized",
        says: "TensorFlow or XLA tells of a default",
        means: "These lines stop nothing.",
        sources: &[seen("https://github.com/openxla/xla", "2026-11-30")],
        samples: &[
            "E0000 00:00:1 cuda_dnn.cc:8310] Unable to register cuDNN factory: Attempting to register factory for plugin cuDNN when one has already been registered",
        ],
        ..NOTE
    },
    Cause {
        id: "torch.no_compiler",
        sign: r"Failed to find C compiler\. Please specify via CC|InvalidCxxCompiler: |Ninja is required to load C\+\+ extensions",
        says: "there is no compiler for what is built at run time",
        means: "Triton, torch.compile and extensions build code when they run, and want gcc, the headers of Python and ninja on every host.",
        act: "install gcc, g++, python3-dev and ninja in the image or on every host, or give CC",
        remedy: Remedy::Install,
        sure: Sure::Confirmed,
        sources: &[seen(
            "https://github.com/triton-lang/triton (python/triton/runtime/build.py)",
            "2026-11-30",
        )],
        samples: &["RuntimeError: Failed to find C compiler. Please specify via CC environment variable."],
        ..TORCH
    },
    Cause {
        id: "torch.compiler_of_hpc_sdk",
        sign: r"\bnvc(?:\+\+)?-Error-Unknown switch: (?<switch>\S+)",
        says: "the build took the compilers of the HPC SDK, which do not know {switch}",
        means: "CC and CXX, or PATH, name nvc and nvc++ (module nvhpc). Extensions of Python and PyTorch are built by gcc with nvcc.",
        act: "`module unload nvhpc` or `CC=gcc CXX=g++ CUDA_HOME=/usr/local/cuda pip install --no-build-isolation ...`; nvcc comes from the CUDA toolkit (module cuda)",
        remedy: Remedy::Settings,
        sure: Sure::Confirmed,
        sources: &[seen("https://github.com/Dao-AILab/flash-attention/issues/1422", "2025-06-02")],
        samples: &["nvc++-Error-Unknown switch: -fwrapv"],
        ..TORCH
    },
    Cause {
        id: "torch.extension_of_other_torch",
        sign: r"\blib(?:torch_cuda_cu|torch_cuda_cpp|torch_cuda|torch_cpu|torch_python|torch|c10_cuda|c10|caffe2\w*)\.so(?:[.\d]*): cannot open shared object file|(?:\.so|\.so[.\d]+): undefined symbol: (?<symbol>_ZNK?(?:R?K?)?(?:3c10|2at|5torch)\w+)",
        says: "an extension was built for another PyTorch[ ({symbol})]",
        means: "It wants libraries or functions that this PyTorch does not have: the wheel is for another release of PyTorch, or it was imported without `import torch` before.",
        act: "build it again against the PyTorch that is installed (`pip install --no-build-isolation --no-cache-dir --force-reinstall --no-deps PACKAGE`), or take the wheel that names this torch and CUDA",
        remedy: Remedy::Install,
        sure: Sure::Likely,
        sources: &[
            seen("https://github.com/semchan/NLUT/issues/15", "2023-11-20"),
            seen("https://github.com/pytorch/pytorch/issues/14973", "2018-12-10"),
        ],
        samples: &[
            "ImportError: libtorch_cuda_cu.so: cannot open shared object file: No such file or directory",
            "ImportError: /env/flash_attn_2_cuda.cpython-310-x86_64-linux-gnu.so: undefined symbol: _ZN3c104cuda9SetDeviceEi",
        ],
        ..TORCH
    },
    Cause {
        id: "torch.no_ninja",
        sign: "Attempted to use ninja as the BuildExtension backend but we could not find ninja",
        says: "an extension is built without ninja, one file after the other",
        means: "It takes hours instead of minutes; it is not the cause of an error.",
        counts: Counts::Note,
        act: "`pip install ninja` and start the build again",
        remedy: Remedy::Install,
        sources: &[seen("https://github.com/Dao-AILab/flash-attention/issues/298", "2023-07-05")],
        samples: &[
            "UserWarning: Attempted to use ninja as the BuildExtension backend but we could not find ninja.. Falling back to using the slow distutils backend.",
        ],
        ..TORCH
    },
    Cause {
        id: "torch.extension_build",
        sign: "Error building extension '(?<name>[^']+)'|CUDAMismatchException|Installed CUDA version (?<here>[0-9.]+) does not match the version torch was compiled with (?<torch>[0-9.]+)",
        says: "an extension of PyTorch was not built[: {name}][: CUDA {here} is here, PyTorch was built with {torch}]",
        means: "The toolkit of the host has another major version than PyTorch, or the compiler stopped; its lines stand before.",
        act: "CUDA_HOME to a toolkit of the version that `python -c \"import torch; print(torch.version.cuda)\"` prints; look at the first `error:` before; DS_SKIP_CUDA_CHECK=1 only for the same major version",
        remedy: Remedy::Install,
        sure: Sure::Guess,
        sources: &[seen("https://github.com/deepspeedai/DeepSpeed (op_builder/builder.py)", "2026-11-30")],
        samples: &[
            "RuntimeError: Error building extension 'fused_adam'",
            "deepspeed.ops.op_builder.builder.CUDAMismatchException: >- DeepSpeed Op Builder: Installed CUDA version 12.2 does not match the version torch was compiled with 12.1, unable to compile cuda/cpp extensions without a matching cuda version.",
        ],
        ..TORCH
    },
    Cause {
        id: "torch.gpu_too_old",
        sign: "Bfloat16 is only supported on GPUs with compute capability of at least (?<needs>[0-9.]+)|FlashAttention only supports Ampere GPUs or newer|FlashAttention only supports (?<what>[A-Za-z ]+) GPUs",
        says: "this GPU is too old for what the program wants",
        means: "The type or the kernel needs a newer generation.",
        act: "use float16 (`--dtype half`) or another attention on this GPU, or run it on a newer one",
        sure: Sure::Confirmed,
        sources: &[seen("https://github.com/vllm-project/vllm (vllm/platforms/cuda.py)", "2026-11-30")],
        samples: &[
            "ValueError: Bfloat16 is only supported on GPUs with compute capability of at least 8.0. Your Tesla V100 GPU has compute capability 7.0.",
        ],
        ..TORCH
    },
    Cause {
        id: "vllm.heads",
        sign: r"attention heads \((?<heads>\d+)\) must be divisible by tensor parallel size \((?<size>\d+)\)|Ray does not allocate any GPUs on the driver node|number of required GPUs exceeds the total number of available GPUs|World size \((?<world>\d+)\) is larger than the number of available GPUs",
        says: "vLLM cannot spread the model over these GPUs",
        means: "The number of GPUs does not divide the heads of the model, or fewer GPUs are there than were asked for (also in the nodes of Ray).",
        act: "choose --tensor-parallel-size so that it divides the heads and is not more than `nvidia-smi -L` shows; for Ray `ray status` shows the GPUs that it has",
        sure: Sure::Likely,
        sources: &[seen("https://github.com/vllm-project/vllm (vllm/config)", "2026-11-30")],
        samples: &[
            "ValueError: Total number of attention heads (40) must be divisible by tensor parallel size (3).",
        ],
        ..TORCH
    },
    Cause {
        id: "vllm.placement_waits",
        sign: "Waiting for creating a placement group of specs",
        role: Role::Effect,
        says: "vLLM waits for GPUs of Ray",
        means: "The cluster of Ray has fewer free GPUs than are asked for, or a node of it is away.",
        counts: Counts::Warn,
        act: "`ray status` shows what is there and what is waited for: start `ray start` on the missing hosts",
        sources: &[seen("https://github.com/vllm-project/vllm (vllm/executor/ray_utils.py)", "2026-11-30")],
        samples: &[
            "INFO: Waiting for creating a placement group of specs for 10 seconds. specs=[{'GPU': 1.0}]",
        ],
        ..TORCH
    },
    Cause {
        id: "hub.no_way",
        sign: r"We couldn't connect to 'https?://huggingface\.co'|LocalEntryNotFoundError|host='huggingface\.co', port=443\): Max retries exceeded|OfflineModeIsEnabled",
        says: "this host does not reach Hugging Face",
        means: "Compute nodes often have no way to the internet, or need a proxy. The files are not in the cache either.",
        act: "fetch the model on a host that has one (`hf download`) into a shared HF_HOME and set HF_HUB_OFFLINE=1, or set https_proxy",
        sources: &[seen(
            "https://github.com/huggingface/huggingface_hub (src/huggingface_hub/errors.py)",
            "2026-11-30",
        )],
        samples: &[
            "OSError: We couldn't connect to 'https://huggingface.co' to load this file, couldn't find it in the cached files",
        ],
        ..TORCH
    },
    Cause {
        id: "hub.gated",
        sign: "GatedRepoError|You are trying to access a gated repo|RepositoryNotFoundError: 401",
        says: "the model wants an account that was let in",
        means: "The repository is gated or private: its terms are not accepted by this account, or no token is given.",
        act: "accept its terms on its page, and give the token (`hf auth login`, HF_TOKEN) to all ranks",
        sure: Sure::Confirmed,
        sources: &[seen(
            "https://github.com/huggingface/huggingface_hub (src/huggingface_hub/errors.py)",
            "2026-11-30",
        )],
        samples: &["huggingface_hub.errors.GatedRepoError: 401 Client Error."],
        ..TORCH
    },
    Cause {
        id: "torch.file_damaged",
        sign: "PytorchStreamReader failed (?:reading|finding|locating)|SafetensorError: Error while deserializing header|failed finding central directory|HeaderTooLarge|MetadataIncompleteBuffer|EOFError: Ran out of input",
        says: "a file of weights or a checkpoint is not whole",
        means: "It was cut off: the disk or quota was full, a download or a job was ended, or several ranks wrote or fetched it at once; a file of Git LFS can be a pointer of 130 bytes.",
        act: "`ls -l` of it against its source: fetch it again on one host only, or go back to the checkpoint before; then see `df -h` and the quota",
        sure: Sure::Likely,
        sources: &[seen(
            "https://github.com/pytorch/pytorch (caffe2/serialize/inline_container.cc)",
            "2026-11-30",
        )],
        samples: &[
            "safetensors_rust.SafetensorError: Error while deserializing header: MetadataIncompleteBuffer",
            "RuntimeError: PytorchStreamReader failed reading zip archive: failed finding central directory",
        ],
        ..TORCH
    },
    Cause {
        id: "torch.weights_only",
        sign: "Weights only load failed",
        says: "torch.load does not take the objects of this file",
        means: "PyTorch 2.6 and newer load only tensors by default (weights_only=True). The file has other objects of Python; it is not damaged.",
        act: "of a file that you trust: `torch.load(..., weights_only=False)` or `torch.serialization.add_safe_globals`; or a newer release of the program",
        sure: Sure::Confirmed,
        sources: &[seen("https://docs.pytorch.org/docs/stable/generated/torch.load.html", "2026-11-30")],
        samples: &["_pickle.UnpicklingError: Weights only load failed."],
        ..TORCH
    },
    Cause {
        id: "numpy.two",
        sign: r"A module that was compiled using NumPy 1\.x cannot be run in|Numpy is not available|numpy\.dtype size changed, may indicate binary incompatibility",
        says: "NumPy here is newer or older than a module was built for",
        means: "Modules built for NumPy 1 do not run with NumPy 2.",
        act: "`pip install \"numpy<2\"`, or newer releases of these modules",
        remedy: Remedy::Install,
        sure: Sure::Confirmed,
        sources: &[seen("https://numpy.org/doc/stable/dev/depending_on_numpy.html", "2026-11-30")],
        samples: &[
            "A module that was compiled using NumPy 1.x cannot be run in NumPy 2.0.0 as it may crash.",
        ],
        ..TORCH
    },
    Cause {
        id: "python.module_missing",
        sign: r"^(?:\[rank\d+\]:? ?|\([^()]*\) ?|(?:ERROR|INFO|E)\S* [0-9-]+ [0-9:.]+ \[[^\]]*\] ?|\d+: ?|\[[0-9,]+\](?:<stderr>)?:? ?)*ModuleNotFoundError: No module named '(?<module>[^'.]+)",
        says: "Python has no module {module}",
        means: "It is not installed in the environment that runs: another python than the one of the login (a batch job, sudo, a container), or a name that was forgotten.",
        act: "`which python` and `python -m pip show {module}` in the same place; activate the environment in the job script, or install it there",
        remedy: Remedy::Install,
        sure: Sure::Likely,
        sources: &[seen(
            "https://docs.python.org/3/library/exceptions.html#ModuleNotFoundError",
            "2026-11-30",
        )],
        samples: &["ModuleNotFoundError: No module named 'flash_attn'"],
        ..TORCH
    },
    Cause {
        id: "python.devices_mixed",
        sign: "Expected all tensors to be on the same device",
        says: "the program mixes tensors of two devices",
        means: "It is a mistake of the program, or of device_map.",
        act: "correct the program: `.to(device)` of inputs, or device_map and accelerate in other versions; no host is at fault",
        remedy: Remedy::Look,
        sure: Sure::Confirmed,
        sources: &[seen("https://github.com/pytorch/pytorch (aten/src/ATen)", "2026-11-30")],
        samples: &[
            "RuntimeError: Expected all tensors to be on the same device, but found at least two devices",
        ],
        ..TORCH
    },
    Cause {
        id: "process.heap",
        sign: r"^(?:.*: )?(?:free\(\): invalid (?:pointer|size|next size)|double free or corruption|malloc\(\): |corrupted size vs\. prev_size|munmap_chunk\(\): invalid pointer|\*\*\* stack smashing detected)",
        role: Role::Effect,
        says: "a program damaged its own memory",
        means: "Two versions of a library in one process, or a mistake in native code. It is not the memory of the host.",
        act: "see which libraries are loaded twice (`ldd`, LD_PRELOAD, LD_LIBRARY_PATH), take one set of them; a core dump or `gdb -ex bt` names the place",
        sure: Sure::Guess,
        sources: &[seen("https://sourceware.org/git/?p=glibc.git (malloc/malloc.c)", "2026-11-30")],
        samples: &["free(): invalid pointer"],
        ..TORCH
    },
    Cause {
        id: "port.taken",
        sign: r"\[Errno 98\] Address already in use|bind\(\) failed: Address already in use",
        says: "a port is taken",
        means: "A process of before still has it, or two jobs of one host chose the same one.",
        act: "`ss -ltnp` shows who has it: end that one, or choose another port",
        sure: Sure::Likely,
        sources: &[seen("https://man7.org/linux/man-pages/man2/bind.2.html", "2026-11-30")],
        samples: &["OSError: [Errno 98] Address already in use"],
        ..TORCH
    },
    Cause {
        id: "port.no_address",
        sign: r"\[Errno 99\] Cannot assign requested address|bind.*: Cannot assign requested address",
        says: "an address that is to be used is not one of this host",
        means: "The name of the host leads to an address that it does not have (/etc/hosts, NAT of a cloud, another container), or no port is left.",
        act: "`hostname -I` against `getent hosts $(hostname)`: give an address that the host has",
        sure: Sure::Guess,
        sources: &[seen("https://man7.org/linux/man-pages/man2/bind.2.html", "2026-11-30")],
        samples: &["OSError: [Errno 99] Cannot assign requested address"],
        ..TORCH
    },
    Cause {
        id: "numpy.memory",
        sign: "(?:_ArrayMemoryError|MemoryError): Unable to allocate (?<size>[0-9.]+ [KMGT]iB)",
        says: "the host (or the job) gave no {size} of memory",
        means: "The limit of the job or `vm.overcommit_memory` stands in the way, or the program asks for too much.",
        act: "`ulimit -v`, the memory of the job (`--mem`), `free -g`; read the data in parts",
        sure: Sure::Likely,
        sources: &[seen("https://numpy.org/doc/stable/reference/", "2026-11-30")],
        samples: &["numpy.core._exceptions._ArrayMemoryError: Unable to allocate 12.3 GiB for an array"],
        ..TORCH
    },
    Cause {
        id: "slurm.environment_partial",
        sign: "KeyError: '(?<name>SLURM_[A-Z_]+)'",
        says: "a program finds no {name}, which a task of Slurm has",
        means: "It takes this for a job of Slurm, and it was not started by srun: by ssh into the node of a job, by sbatch alone, or in a container without these variables.",
        act: "start it with `srun` (or within `srun --overlap --jobid=JOB --pty bash`), or take the other SLURM_ variables away (`env | grep SLURM`) and give ranks and addresses by hand",
        sources: &[seen("https://github.com/jax-ml/jax/issues/30073", "2025-07-08")],
        samples: &["KeyError: 'SLURM_NTASKS'"],
        ..TORCH
    },
    Cause {
        id: "process.killed",
        sign: r"^(?:\S+: line \d+: +\d+ )?Killed(?: {2,}(?<program>\S.*))?$",
        says: "a program was killed from outside[: {program}]",
        means: "The shell says so of signal 9: mostly the OOM killer of the host or the limit of the job or container, else somebody or the scheduler.",
        act: "`dmesg -T | grep -iE \"out of memory|oom\"` of that host at this time, and `memory.events` of the cgroup (Slurm: `sacct -j JOB -o State,MaxRSS,ReqMem`)",
        apart: &[Apart {
            beside: &["make.error"],
            act: "so many compilers at once took more memory than the host or the job has: build with fewer (`MAX_JOBS=4 NVCC_THREADS=1 pip install ...`, `make -j4`), or in a job with more memory",
        }],
        sources: &[seen("https://github.com/ArjunaCluster/ArjunaUsers/issues/52", "2021-09-12")],
        samples: &[
            "/var/spool/slurmd/job00191/slurm_script: line 28:  8156 Killed                  python3 main.py",
        ],
        ..EFFECT
    },
    Cause {
        id: "torch.exception",
        sign: r"^(?:\[rank\d+\]:? ?|\([^()]*\) ?|(?:ERROR|INFO|E)\S* [0-9-]+ [0-9:.]+ \[[^\]]*\] ?|\d+: ?|\[[0-9,]+\](?:<stderr>)?:? ?)*(?<type>(?:Value|Type|Key|Index|Attribute|Assertion|FileNotFound|FileExists|Import|ModuleNotFound|Name|ZeroDivision|Permission|UnicodeDecode|Syntax|NotImplemented|NotADirectory|EOF|Memory|Lookup|Recursion)Error)(?:: (?<what>.*))?$",
        says: "a program of Python ended by {type}[: {what}]",
        means: "The traceback before it names the place.",
        act: "read the traceback before this line",
        follows: DEATHS,
        samples: &["ValueError: Unrecognized model in /models/x."],
        ..EFFECT
    },
    Cause {
        id: "torch.store_listen",
        sign: r"The server socket has failed to listen on any local network address",
        says: "rank 0 could not listen for the others",
        means: "Mostly the port is in use already; the words behind it or the lines before say why.",
        act: "`ss -ltnp` says who has the port of the store (29500 where none is named); take another one",
        samples: &[
            "[E socket.cpp:500] [c10d] The server socket has failed to listen on any local network address.",
        ],
        ..EFFECT
    },
    // What counts up.
    Cause {
        id: "torch.watchdog_ends",
        sign: r"Some NCCL operations have failed or timed out|To avoid data inconsistency, we are taking the entire process down|watchdog thread terminated with exception|Exception \(either an error or timeout\) detected by watchdog|Process group watchdog thread terminated",
        says: "the watchdog ended a rank",
        means: "It repeats an error of NCCL or CUDA, or a timeout, and takes the process down.",
        act: "look at the words behind it and at the earliest error of all ranks",
        sources: WATCHDOG,
        samples: &[
            "[E ProcessGroupNCCL.cpp:828] To avoid data inconsistency, we are taking the entire process down.",
            "[rank0]:[E1206 18:44:12.715588844 ProcessGroupNCCL.cpp:1664] [PG 1 Rank 0] Exception (either an error or timeout) detected by watchdog at work: 7753, last enqueued NCCL work: 7755, last completed NCCL work: 7752.",
        ],
        ..SUMMARY
    },
    Cause {
        id: "torch.aborted",
        sign: r"exitcode *: -6\b|\(exitcode: -6\)|Signal 6 \(SIGABRT\) received by PID|died with <Signals\.SIGABRT|exits with return code = -6\b|terminated with signal SIGABRT|terminate called after throwing an instance of 'c10::",
        says: "a process aborted itself (signal 6)",
        means: "The watchdog, an assertion or an exception in a thread ended it. Its words stand before.",
        act: FIRST_RANK,
        samples: &[
            "  traceback : Signal 6 (SIGABRT) received by PID 41234",
            "terminate called after throwing an instance of 'c10::DistBackendError'",
        ],
        ..SUMMARY
    },
    Cause {
        id: "torch.exit_one",
        sign: r"^\s*exitcode *: 1 \(pid: (?<pid>\d+)\)",
        says: "a process of the job ended with an exception of Python (exit code 1)",
        means: "Exit code 1 is that of an uncaught exception. Its traceback stands in the log of that rank.",
        act: "look for the traceback of the rank under Root Cause; its time is the earliest",
        sources: &[seen(
            "https://github.com/pytorch/pytorch (torch/distributed/elastic/multiprocessing/errors)",
            "2026-11-30",
        )],
        samples: &["  exitcode  : 1 (pid: 14690)"],
        ..EFFECT
    },
    Cause {
        id: "torch.child_failed",
        sign: r"ChildFailedError|failed \(exitcode: (?<code>-?[0-9]+)\) local_rank: (?<rank>[0-9]+)|exitcode *: (?<exit>[1-9][0-9]*)\b|Sending process [0-9]+ closing signal SIG|To enable traceback see: https://(docs\.)?pytorch|exits with return code = [1-9]|Killing subprocess [0-9]+|Child process with PID [0-9]+ terminated with code|CalledProcessError: Command|Root Cause \(first observed failure\)|ProcessExitedException: process [0-9]+ terminated|ProcessRaisedException|WorkerGroupFailureException|Engine core initialization failed|Engine process failed to start|WorkerProc (initialization failed|failed to start)",
        says: "a process of the job failed",
        means: "The launcher counts up that a process ended. Its own traceback or the kernel's log has the cause.",
        act: FIRST_RANK,
        samples: &[
            "torch.distributed.elastic.multiprocessing.errors.ChildFailedError: ",
            "E1130 10:00:00.000000 41234 torch/distributed/elastic/multiprocessing/api.py:869] failed (exitcode: 1) local_rank: 0 (pid: 41240) of binary: /usr/bin/python3",
        ],
        ..SUMMARY
    },
    Cause {
        id: "torch.backend_error",
        sign: r"DistBackendError|DistNetworkError|DistStoreError|torch\.distributed\.DistError",
        says: "a call of torch.distributed failed",
        means: "It repeats what NCCL, the store or the network said before.",
        act: FIRST_RANK,
        samples: &["torch.distributed.DistBackendError: Backend nccl does not support this"],
        ..SUMMARY
    },
];
