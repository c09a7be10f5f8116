//! Help texts of Open MPI, PRRTE and `PMIx` that speak of settings and of the surroundings of a job.

use super::super::cause::{Cause, Counts, Remedy, Role, Sure, TOOL, seen};

pub(in crate::causes) const ROWS: &[Cause] = &[
    Cause {
        id: "mpi.no_fast_network",
        sign: "high-performance Open MPI point-to-point messaging module|was unable to find any relevant network interfaces",
        says: "Open MPI finds no fast network on this host",
        means: "A component of it (openib, mtl, usnic) was there to be used and saw no card. Another way is taken, mostly TCP. The job runs.",
        counts: Counts::Warn,
        act: "where there is a card: `ibv_devinfo` as the user of the job, and /dev/infiniband in a container; take a build with UCX. On hosts without one `--mca btl_base_warn_component_unused 0` quiets it",
        remedy: Remedy::Settings,
        sure: Sure::Likely,
        sources: &[seen("https://github.com/open-mpi/ompi (help texts)", "2026-12-01")],
        samples: &["[[1234,1],0]: A high-performance Open MPI point-to-point messaging module"],
        ..TOOL
    },
    Cause {
        id: "mpi.srun_pmi_alone",
        sign: "No PMIx server was reachable, but a PMI1/2 was detected",
        says: "srun started the ranks by PMI, and Open MPI knows PMIx alone",
        means: "Each rank takes itself for a job of its own (a singleton).",
        act: "`srun --mpi=list`, then `srun --mpi=pmix`; where Slurm has no PMIx use mpirun within the allocation, or a Slurm that was built with it",
        remedy: Remedy::Settings,
        sure: Sure::Confirmed,
        sources: &[seen("https://github.com/open-mpi/ompi (help texts)", "2026-12-01")],
        samples: &["No PMIx server was reachable, but a PMI1/2 was detected."],
        ..TOOL
    },
    Cause {
        id: "mpi.strange_peer",
        sign: "accepted a TCP connection from what appears to be a|accepted a TCP connection but did not receive the expected",
        says: "something that is no rank of this job connected to its port",
        means: "Two interfaces with the same address (docker0, virbr0), another job, or a scan of ports.",
        counts: Counts::Warn,
        act: "leave out what is no network between the hosts: `--mca btl_tcp_if_exclude lo,docker0,virbr0`, or name the right network by `btl_tcp_if_include 10.0.0.0/16`",
        remedy: Remedy::Settings,
        sure: Sure::Likely,
        sources: &[
            seen("https://github.com/open-mpi/ompi (help texts)", "2026-12-01"),
            seen("https://github.com/openucx/ucx/issues/9383", "2023-09-25"),
        ],
        samples: &["WARNING: Open MPI accepted a TCP connection from what appears to be a"],
        ..TOOL
    },
    Cause {
        id: "mpi.parameter_value",
        sign: "An invalid value was supplied for an? (MCA|enum) variable|Two mutually-exclusive MCA variables were specified|can only take a single negation operator|An invalid value was given for (btl|pmix|oob|prte)_",
        says: "a parameter of Open MPI (MCA) has a wrong value",
        means: "It comes from the command line, from OMPI_MCA_, PMIX_MCA_ or PRTE_MCA_ in the environment, or from a file openmpi-mca-params.conf.",
        act: r#"the next lines name it: `env | grep -E "(OMPI|PMIX|PRTE)_MCA_"`, ~/.openmpi/mca-params.conf, and correct it there"#,
        remedy: Remedy::Settings,
        sure: Sure::Likely,
        sources: &[
            seen("https://github.com/open-mpi/ompi (help texts)", "2026-12-01"),
            seen("https://github.com/openpmix/openpmix (help texts)", "2026-12-01"),
        ],
        samples: &[
            "An invalid value was supplied for an MCA variable.",
            "MCA framework parameters can only take a single negation operator",
        ],
        ..TOOL
    },
    Cause {
        id: "mpi.twice",
        sign: r"attempted to initialize\s*$|(initialize|MPI_FINALIZE was invoked) .*(more than once|multiple times)|MPI_FINALIZE was invoked (multiple|before)",
        says: "the program calls MPI_Init or MPI_Finalize wrongly",
        means: "It starts MPI twice, or uses it before the start or after the end. A library that starts MPI by itself does so too.",
        act: "look in the program (and mpi4py, Horovod) for a second start; `MPI_Initialized` tells",
        remedy: Remedy::Settings,
        sure: Sure::Confirmed,
        sources: &[seen("https://github.com/open-mpi/ompi (help texts)", "2026-12-01")],
        samples: &["The function MPI_FINALIZE was invoked multiple times in a single process"],
        ..TOOL
    },
    Cause {
        id: "mpi.no_cuda_build",
        sign: "user requested CUDA support with the --mca mpi_cuda_support",
        says: "this Open MPI has no CUDA, or does not find it",
        means: "It was built without CUDA, or libcuda.so is not where it looks.",
        counts: Counts::Warn,
        act: "`ompi_info --parsable --all | grep mpi_built_with_cuda_support`; on hosts with GPUs look at `ldconfig -p | grep libcuda`; on hosts without GPUs `--mca opal_warn_on_missing_libcuda 0`",
        remedy: Remedy::Install,
        sure: Sure::Likely,
        sources: &[seen("https://github.com/open-mpi/ompi (help texts)", "2026-12-01")],
        samples: &["The user requested CUDA support with the --mca mpi_cuda_support 1 flag"],
        ..TOOL
    },
    Cause {
        id: "mpi.fork",
        sign: "has executed an operation involving a call to the",
        says: "Open MPI warns of fork() with RDMA",
        means: "Registered memory and fork() do not go together on old kernels. Kernels of today and rdma-core are safe.",
        counts: Counts::Note,
        act: "nothing on a kernel of 5.12 or newer; `--mca mpi_warn_on_fork 0` quiets it",
        sure: Sure::Likely,
        sources: &[seen("https://github.com/open-mpi/ompi (help texts)", "2026-12-01")],
        samples: &["A process has executed an operation involving a call to the"],
        ..TOOL
    },
    Cause {
        id: "mpi.omni_path",
        sign: "Initialization of PSM2 library failed|PSM2 was unable to open an endpoint|Error obtaining unique transport key from PMIX",
        says: "Open MPI cannot use Omni-Path (PSM2) here",
        means: "The link is down, a driver is missing, or the host has no such card while the library is installed.",
        act: "`opainfo` or `hfi1_control -i` for the link; on a host with another card `--mca mtl ^psm2 --mca pml ucx`",
        remedy: Remedy::Settings,
        sure: Sure::Likely,
        sources: &[seen("https://github.com/open-mpi/ompi (help texts)", "2026-12-01")],
        samples: &["PSM2 was unable to open an endpoint. Please make sure that the network link is"],
        ..TOOL
    },
    Cause {
        id: "pmix.no_space",
        sign: "PMIx was unable to create a shared memory backing file",
        says: "there is no room for the shared memory of PMIx",
        means: "It keeps data of a job in files below its session directory, mostly /tmp or $TMPDIR, which is full.",
        act: "`df -h` of /tmp and of the place named by the next lines; clean it, or set TMPDIR to another one; PMIX_MCA_gds=hash works without these files",
        remedy: Remedy::Settings,
        sure: Sure::Confirmed,
        sources: &[seen("https://github.com/openpmix/openpmix (help texts)", "2026-12-01")],
        samples: &["PMIx was unable to create a shared memory backing file due"],
        ..TOOL
    },
    Cause {
        id: "pmix.several_servers",
        sign: "found multiple possible servers to which it could",
        says: "several jobs of Open MPI left their contact files here",
        means: "A program was started outside of a job, or old session directories are left in /tmp.",
        act: "start it by mpirun or srun; remove directories of jobs that ended (/tmp/prte.*, /tmp/ompi.*)",
        remedy: Remedy::Settings,
        sure: Sure::Likely,
        sources: &[seen("https://github.com/openpmix/openpmix (help texts)", "2026-12-01")],
        samples: &["PMIx has found multiple possible servers to which it could"],
        ..TOOL
    },
    Cause {
        id: "pmix.no_interface",
        sign: "no (non-)?loopback interfaces? (was|were) found after|no interfaces were found after",
        says: "PMIx finds no network interface that it may use",
        means: "A list of what to take or to leave out names none of this host.",
        act: "look at PMIX_MCA_ptl_base_if_include and _exclude, PRTE_MCA_prte_if_include: name a network (10.0.0.0/16) and not an interface",
        remedy: Remedy::Settings,
        sure: Sure::Likely,
        sources: &[seen("https://github.com/openpmix/openpmix (help texts)", "2026-12-01")],
        samples: &[
            "You requested support for remote tool connections, but no non-loopback interfaces were found after",
        ],
        ..TOOL
    },
    Cause {
        id: "pmix.start_program",
        sign: "PMIx (tried to fork a new process|was unable to (set up the standard I/O|change to the requested working directory))",
        says: "a rank could not be started on its host",
        means: "The program or its folder is not there on that host, is not executable, or the host has no processes or files left.",
        act: "look at the program and the folder on the host that is named, as the user; `ulimit -u -n` there",
        remedy: Remedy::Settings,
        sure: Sure::Likely,
        sources: &[seen("https://github.com/openpmix/openpmix (help texts)", "2026-12-01")],
        samples: &["PMIx was unable to change to the requested working directory prior to"],
        ..TOOL
    },
    Cause {
        id: "prte.internal",
        sign: "An internal error has occurred in (PRTE|ORTE)",
        says: "the launcher of Open MPI met an error within itself",
        means: "A mix of releases of Open MPI, PRRTE and PMIx on the hosts brings it about most often.",
        role: Role::Effect,
        act: "`which -a mpirun prted orted` and `mpirun --version` on all hosts: one release everywhere, in PATH and LD_LIBRARY_PATH of a login without a terminal",
        remedy: Remedy::Install,
        sure: Sure::Guess,
        sources: &[seen("https://github.com/openpmix/prrte (help texts)", "2026-12-01")],
        samples: &["An internal error has occurred in PRTE:"],
        ..TOOL
    },
];
