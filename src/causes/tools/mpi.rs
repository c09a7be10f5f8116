//! MPI: Open MPI 3.1 to 5.0 with ORTE and PRRTE, `PMIx`, UCX, the openib BTL, HCOLL; Intel MPI and MPICH's Hydra.

use super::super::cause::{Apart, Cause, Counts, Remedy, Role, Sure, TOOL, seen};

const PLM: Cause = Cause {
    sources: &[seen("https://github.com/open-mpi/ompi (orte/mca/plm, v4.1.x)", "2026-11-30")],
    ..TOOL
};
const ERRMGR: Cause = Cause {
    sources: &[seen(
        "https://github.com/open-mpi/ompi (orte/mca/errmgr/base/help-errmgr-base.txt, v4.1.x)",
        "2026-11-30",
    )],
    ..TOOL
};
const RMAPS: Cause = Cause {
    sources: &[seen(
        "https://github.com/open-mpi/ompi (orte/mca/rmaps/base/help-orte-rmaps-base.txt, v4.1.x)",
        "2026-11-30",
    )],
    ..TOOL
};
const RUN: Cause = Cause {
    sources: &[seen(
        "https://github.com/open-mpi/ompi (orte/tools/orterun/help-orterun.txt, v4.1.x)",
        "2026-11-30",
    )],
    ..TOOL
};
const HOSTFILE: Cause =
    Cause { sources: &[seen("https://github.com/open-mpi/ompi (orte/util, v4.1.x)", "2026-11-30")], ..TOOL };
const OPENIB: Cause = Cause {
    sources: &[seen(
        "https://github.com/open-mpi/ompi (opal/mca/btl/openib/help-mpi-btl-openib.txt, v4.1.x)",
        "2026-11-30",
    )],
    ..TOOL
};
const TCP: Cause = Cause {
    sources: &[seen(
        "https://github.com/open-mpi/ompi (opal/mca/btl/tcp/help-mpi-btl-tcp.txt, v4.1.x)",
        "2026-11-30",
    )],
    ..TOOL
};
const OOB: Cause = Cause {
    sources: &[seen("https://github.com/open-mpi/ompi (orte/mca/oob, v4.1.x)", "2026-11-30")],
    ..TOOL
};
const VADER: Cause = Cause {
    sources: &[seen("https://github.com/open-mpi/ompi (opal/mca/btl/vader, v4.1.x)", "2026-11-30")],
    ..TOOL
};
const SHMEM: Cause = Cause {
    sources: &[seen(
        "https://github.com/open-mpi/ompi (opal/mca/shmem/mmap/help-opal-shmem-mmap.txt, v4.1.x)",
        "2026-11-30",
    )],
    ..TOOL
};
const RUNTIME: Cause = Cause {
    sources: &[seen(
        "https://github.com/open-mpi/ompi (ompi/runtime/help-mpi-runtime.txt, v5.0.x)",
        "2026-11-30",
    )],
    ..TOOL
};
const MCA: Cause = Cause {
    sources: &[seen("https://github.com/open-mpi/ompi (opal/mca/base, v4.1.x)", "2026-11-30")],
    ..TOOL
};
const CUDA: Cause = Cause {
    sources: &[seen(
        "https://github.com/open-mpi/ompi (opal/mca/common/cuda/help-mpi-common-cuda.txt, v4.1.x)",
        "2026-11-30",
    )],
    ..TOOL
};
const PMIX: Cause = Cause { sources: &[seen("https://github.com/openpmix/openpmix", "2026-11-30")], ..TOOL };
const IB: Cause =
    Cause { sources: &[seen("https://github.com/openucx/ucx (src/uct/ib)", "2026-11-30")], ..TOOL };
const SM: Cause =
    Cause { sources: &[seen("https://github.com/openucx/ucx (src/uct/sm)", "2026-11-30")], ..TOOL };
const UCP: Cause =
    Cause { sources: &[seen("https://github.com/openucx/ucx (src/ucp/core)", "2026-11-30")], ..TOOL };
const UCS: Cause =
    Cause { sources: &[seen("https://github.com/openucx/ucx (src/ucs)", "2026-11-30")], ..TOOL };
const PML: Cause = Cause {
    sources: &[seen("https://github.com/open-mpi/ompi (ompi/mca/pml/ucx/pml_ucx.c)", "2026-11-30")],
    ..TOOL
};
const HYDRA: Cause =
    Cause { sources: &[seen("https://github.com/pmodels/mpich (src/pm/hydra)", "2026-11-30")], ..TOOL };
const INTEL: Cause = Cause {
    sources: &[seen(
        "https://www.intel.com/content/www/us/en/docs/mpi-library/developer-guide-linux/2021-16/additional-supported-features.html",
        "2026-11-30",
    )],
    ..TOOL
};

pub(in crate::causes) const ROWS: &[Cause] = &[
    Cause {
        id: "mpi.openib_noise",
        sign: r"WARNING: There was an error initializing an OpenFabrics device|infiniband ports on a device\b|No OpenFabrics connection schemes reported that they were able|No preset parameters were found for the device that Open MPI",
        counts: Counts::Note,
        says: "the old openib BTL of Open MPI does not use this card",
        means: "Open MPI 4 carries InfiniBand and RoCE by UCX; the old transport only looks at the card and complains. The job works.",
        sources: &[
            seen("https://github.com/open-mpi/ompi/issues/8403", "2021-02-03"),
            seen(
                "https://github.com/open-mpi/ompi (opal/mca/btl/openib/help-mpi-btl-openib.txt, v4.1.x)",
                "2026-11-30",
            ),
        ],
        samples: &[
            "WARNING: There was an error initializing an OpenFabrics device.",
            "By default, for Open MPI 4.0 and later, infiniband ports on a device",
        ],
        ..TOOL
    },
    Cause {
        id: "mpi.aggregated",
        sign: r#"more process(es)? (has|have) sent help message|Set MCA parameter "orte_base_help_aggregate" to 0"#,
        counts: Counts::Note,
        says: "more ranks said the same",
        means: "mpirun prints a message once and counts the others.",
        sure: Sure::Confirmed,
        samples: &[
            "[gpu0:18438] 415 more processes have sent help message help-mpi-btl-openib.txt / error in device init",
        ],
        ..ERRMGR
    },
    Cause {
        id: "mpi.option_old",
        sign: "A deprecated command line option was used|All multi-character command line options must be prefixed with double|have been deprecated and replaced as follows",
        counts: Counts::Note,
        says: "an option of mpirun has another name now",
        means: "mpirun changes it by itself and goes on.",
        sure: Sure::Confirmed,
        sources: &[seen(
            "https://github.com/openpmix/prrte (src/mca/schizo/base/help-schizo-base.txt)",
            "2026-11-30",
        )],
        samples: &["WARNING: A deprecated command line option was used."],
        ..TOOL
    },
    Cause {
        id: "mpi.compression",
        sign: "PMIx was unable to find a usable compression library",
        counts: Counts::Note,
        says: "PMIx found no library to compress with",
        means: "Messages at the start are a little larger; nothing else changes.",
        sure: Sure::Confirmed,
        samples: &["PMIx was unable to find a usable compression library"],
        ..PMIX
    },
    Cause {
        id: "mpi.no_libcuda",
        sign: r"The library attempted to open the following supporting CUDA libraries|but each of them failed\.\s+CUDA-aware support is disabled",
        counts: Counts::Note,
        says: "Open MPI found no libcuda on this host",
        means: "Only programs that hand GPU memory to MPI need it. A login host without GPUs says this in each run.",
        samples: &["The library attempted to open the following supporting CUDA libraries,"],
        ..CUDA
    },
    Cause {
        id: "mpi.cuda_not_ready",
        sign: r"The call to cuCtxGetCurrent\(\) failed while attempting to register",
        counts: Counts::Note,
        says: "MPI started before CUDA in this program",
        means: "Transfers of GPU memory may be slower; the program goes on.",
        samples: &["WARNING: The call to cuCtxGetCurrent() failed while attempting to register"],
        ..CUDA
    },
    Cause {
        id: "mpi.memory_binding",
        sign: "least one node does NOT support binding memory|support binding memory to the process location",
        counts: Counts::Note,
        says: "Open MPI cannot bind memory on a node",
        means: "hwloc was built without NUMA there; processes are bound all the same.",
        samples: &["least one node does NOT support binding memory to the process"],
        ..RMAPS
    },
    Cause {
        id: "mpi.no_display",
        sign: "^(Authorization required, but no authorization protocol specified|No protocol specified|Invalid MIT-MAGIC-COOKIE-1 key)",
        counts: Counts::Note,
        says: "a library asked the display and got no answer",
        means: "hwloc looks for GPUs by the display of DISPLAY, which the job may not use. Nothing of the job needs it.",
        sources: &[
            seen("https://github.com/open-mpi/ompi/issues/7701", "2021-09-30"),
            seen("https://github.com/open-mpi/ompi/issues/11553", "2023-04-03"),
        ],
        samples: &["Authorization required, but no authorization protocol specified"],
        ..TOOL
    },
    Cause {
        id: "mpi.equidistant",
        sign: "OFI driver detected multiple equidistant NICs",
        counts: Counts::Note,
        says: "Open MPI cannot tell which of several equal cards a rank should take",
        means: "Ranks may share a card; nothing fails.",
        sources: &[seen(
            "https://github.com/open-mpi/ompi (opal/mca/common/ofi/help-common-ofi.txt, v4.1.x)",
            "2026-11-30",
        )],
        samples: &["Open MPI's OFI driver detected multiple equidistant NICs from the current process,"],
        ..TOOL
    },
    Cause {
        id: "mpi.intel_pmi_ignored",
        sign: "I_MPI_PMI_LIBRARY will be ignored since the hydra process manager was found",
        counts: Counts::Note,
        says: "Intel MPI does not need I_MPI_PMI_LIBRARY under mpirun",
        means: "The variable is for a start by srun.",
        sure: Sure::Confirmed,
        samples: &[
            "MPI startup(): Warning: I_MPI_PMI_LIBRARY will be ignored since the hydra process manager was found",
        ],
        ..INTEL
    },
    Cause {
        id: "ucx.unused_variable",
        sign: "unused (env|environment) variables?:",
        counts: Counts::Note,
        says: "UCX does not know a variable that begins with UCX_",
        means: "It is mistyped or of another version, and has no effect.",
        samples: &[
            "[1688710000.495329] [gpu0:2019617:0] parser.c:2033 UCX  WARN  unused environment variable: UCX_RDMA_CM (maybe: UCX_RNDV_THRESH?)",
        ],
        ..UCS
    },
    Cause {
        id: "ucx.objects_left",
        sign: r"object 0x[0-9a-f]+ .*was not returned to mpool|object \S+ was not returned to mpool",
        counts: Counts::Note,
        says: "a program ended with UCX requests that were not finished",
        means: "It stands at the end of many runs and changes nothing there.",
        samples: &["UCX  WARN  object 0x55d9a1c0 was not returned to mpool ucp_requests"],
        ..UCS
    },
    Cause {
        id: "mpi.slots",
        sign: r"not enough slots available in the system to satisfy the (?<count>\d+)",
        says: "mpirun has fewer slots than the {count} processes that are asked for",
        means: "Open MPI counts cores, not hardware threads, or the slots of the hostfile or of the job. Nothing is broken.",
        act: "ask for fewer processes, give `slots=N` in the hostfile or `--host NAME:N`; in a job of Slurm ask for tasks (`--ntasks`); `--use-hwthread-cpus` counts threads, `--oversubscribe` (`--map-by :OVERSUBSCRIBE` with Open MPI 5) takes more than there are",
        remedy: Remedy::Settings,
        sure: Sure::Confirmed,
        sources: &[
            seen(
                "https://github.com/open-mpi/ompi (orte/mca/rmaps/base/help-orte-rmaps-base.txt, v4.1.x)",
                "2026-11-30",
            ),
            seen("https://github.com/open-mpi/ompi/issues/6020", "2018-11-02"),
        ],
        samples: &["There are not enough slots available in the system to satisfy the 15"],
        ..TOOL
    },
    Cause {
        id: "mpi.nodes_full",
        sign: "All nodes which are allocated for this job are already filled|are no available nodes allocated to this job|No nodes are available for this job, either due to a failure",
        says: "mpirun has no node left for a process",
        means: "Slots of the hostfile or of the job are all taken, or `-nolocal` leaves none.",
        act: "give more slots in the hostfile, or start fewer processes; in a job of Slurm compare `--ntasks` with `-np`",
        remedy: Remedy::Settings,
        samples: &["All nodes which are allocated for this job are already filled."],
        ..RMAPS
    },
    Cause {
        id: "mpi.daemon_not_found",
        sign: r"\b(?<daemon>orted|prted|hydra_pmi_proxy|hydra_bstrap_proxy): ((command )?not found|No such file or directory)|exec(ve|vp)?.*\b(?<other>orted|prted).*No such file",
        says: "{daemon} is not on the PATH of another node",
        means: "mpirun starts it there by ssh, in a shell that is not a login shell. Open MPI is not installed there, or lies in another directory.",
        act: "`ssh NODE 'which orted prted; echo $PATH'`: install the same MPI in the same directory on each node (the playbook `openmpi` does), or call mpirun by its full path or with `--prefix DIRECTORY`",
        remedy: Remedy::Settings,
        sources: &[
            seen("https://github.com/open-mpi/ompi/issues/599", "2015-05-23"),
            seen("https://github.com/open-mpi/ompi (orte/mca/plm, v4.1.x)", "2026-11-30"),
        ],
        samples: &[
            "bash: orted: command not found",
            "bash: line 1: /opt/openmpi/bin/prted: No such file or directory",
        ],
        ..TOOL
    },
    Cause {
        id: "mpi.no_local_daemon",
        sign: r#"(component|application) was not able to find the executable "orted" in|Unable to locate prted|was unable to find the executable "prted""#,
        says: "mpirun does not find its own orted",
        means: "The installation was moved, or only part of it is there.",
        act: "set OPAL_PREFIX to the directory of the installation (and PATH, LD_LIBRARY_PATH), or install Open MPI again there",
        remedy: Remedy::Settings,
        samples: &[r#"The singleton application was not able to find the executable "orted" in"#],
        ..PLM
    },
    Cause {
        id: "mpi.daemon_libraries",
        sign: r"(?<program>(\S*/)?(orted|prted|mpirun|prterun|mpiexec)): error while loading shared libraries: (?<library>\S+): (?<why>.*)",
        says: "{program} does not find {library}",
        means: "The library is not on that node, or not on the loader's path of a shell that is not a login shell.",
        act: "on that node `ldd $(which orted)`: install the missing package, or put the directory into /etc/ld.so.conf.d and run `ldconfig` (the playbook `openmpi` does), or call mpirun with `--prefix`",
        remedy: Remedy::Settings,
        samples: &[
            "orted: error while loading shared libraries: libimf.so: cannot open shared object file: No such file or directory",
        ],
        ..PLM
    },
    Cause {
        id: "mpi.libmpi_dev",
        sign: r#"(^|[\s'"(])libmpi\.so: cannot open shared object file"#,
        says: "the plain name libmpi.so is missing",
        means: "A program opens libmpi.so without a number, and only the development package has that name. libmpi.so.40 alone may be there.",
        act: "`ldconfig -p | grep libmpi`: where only libmpi.so.40 is there, `apt install libopenmpi-dev` (`dnf install openmpi-devel` and its module); otherwise install Open MPI",
        remedy: Remedy::Install,
        sources: &[seen("https://github.com/eddelbuettel/r2u/issues/132", "2026-05-06")],
        samples: &["libmpi.so: cannot open shared object file: No such file or directory"],
        ..TOOL
    },
    Cause {
        id: "mpi.library_missing",
        sign: r"(?<library>lib(mpi\w*|open-pal|open-rte|prrte|pmix|ucp|ucs|uct|hcoll|mpifort|mpi_\w+)\.so\.[0-9.]+): cannot open shared object file(: No such file or directory)?( \(ignored\))?",
        says: "{library} is not on the loader's path",
        means: "The MPI that the program was built with is not there, or of another release: Open MPI 2 to 5 have libmpi.so.40 with other neighbours; MPICH and Intel have libmpi.so.12.",
        act: r#"`ldd PROGRAM | grep "not found"` and `which mpirun`: load the module of that MPI, or put its lib directory into /etc/ld.so.conf.d and run `ldconfig`, on every node; otherwise build the program again"#,
        remedy: Remedy::Settings,
        sources: &[seen(
            "https://github.com/open-mpi/ompi (docs/launching-apps/prerequisites.rst, v5.0.x)",
            "2026-11-30",
        )],
        samples: &[
            "./hello: error while loading shared libraries: libmpi.so.40: cannot open shared object file: No such file or directory",
        ],
        ..TOOL
    },
    Cause {
        id: "mpi.component_library",
        sign: r"(mca_base_)?component_repository_open: unable to open (?<component>\S+): (?<why>.*) \(ignored\)",
        counts: Counts::Warn,
        says: "Open MPI leaves out {component}: {why}",
        means: "A library of this component is not on the host. It matters only where the job needs the component.",
        act: "install the package with that library where this transport is wanted; otherwise nothing",
        remedy: Remedy::Settings,
        samples: &[
            "[gpu0:1234] mca_base_component_repository_open: unable to open mca_op_avx: undefined symbol: ompi_op_avx_functions_avx (ignored)",
        ],
        ..MCA
    },
    Cause {
        id: "mpi.psec",
        sign: r"^\s*Framework: +psec\b|pmix_psec_base_open failed",
        says: "PMIx of the program lacks a way to authenticate that Slurm's PMIx names (psec)",
        means: "Slurm gives PMIX_MCA_psec of its own PMIx on (mostly munge), and the PMIx of the program or container was built without it.",
        act: "PMIX_MCA_psec=native in the environment of the job (or ENROOT settings of the container), or start by the older interface (`srun --mpi=pmix_v3`, `pmi2`); for good build the PMIx of the program with munge",
        remedy: Remedy::Settings,
        sure: Sure::Likely,
        sources: &[seen("https://github.com/NVIDIA/pyxis/issues/88", "2026-11-30")],
        samples: &["  pmix_psec_base_open failed"],
        ..MCA
    },
    Cause {
        id: "mpi.component_missing",
        follows: &["mpi.psec"],
        sign: "A requested component was not found, or was unable to be opened",
        near: &[r"Framework: +(?<framework>\S+)", r"Component: +(?<component>\S+)", r"Host: +(?<host>\S+)"],
        says: "Open MPI[ on {host}] has no component {framework}/{component}",
        means: "An option `--mca`, a variable OMPI_MCA_* or a file of parameters names it, and it was not built, or a library of it is missing.",
        act: "`ompi_info | grep MCA` lists what there is: take a name of those, or leave the option out (also in OMPI_MCA_* and openmpi-mca-params.conf); where it should be there, `ldd` of its mca_*.so shows the missing library",
        remedy: Remedy::Settings,
        samples: &["A requested component was not found, or was unable to be opened.  This"],
        ..MCA
    },
    Cause {
        id: "mpi.no_slurm_pmi",
        sign: r#"direct launched using "srun"|but OMPI was not built with SLURM's? PMI support"#,
        says: "this Open MPI cannot be started by srun as it was built",
        means: "srun offers another interface (PMI or PMIx) than Open MPI was built with, or none.",
        act: "`srun --mpi=list`: start with `srun --mpi=pmix` where both have it, or use mpirun within the allocation; otherwise build Open MPI with `--with-pmix` and `--with-slurm`",
        remedy: Remedy::Install,
        sources: &[seen(
            "https://github.com/open-mpi/ompi (orte/mca/ess/pmi/help-ess-pmi.txt, v4.1.x)",
            "2026-11-30",
        )],
        samples: &[r#"The application appears to have been direct launched using "srun","#],
        ..TOOL
    },
    Cause {
        id: "mpi.no_pmix_server",
        sign: r"Open MPI requires access to a local PMIx server|PMI2_Init failed to intialize|PMI server not found\. Please set I_MPI_PMI_LIBRARY",
        says: "this MPI found nobody who started it",
        means: "The program was started by srun without the interface that it needs, or by itself.",
        act: "start it with mpirun, or `srun --mpi=pmix` (Open MPI 5 and 4) or `srun --mpi=pmi2` with I_MPI_PMI_LIBRARY set to Slurm's libpmi2.so (Intel MPI); `srun --mpi=list` shows what there is",
        remedy: Remedy::Settings,
        samples: &[
            "Open MPI requires access to a local PMIx server to execute. Please ensure",
            "MPI startup(): PMI server not found. Please set I_MPI_PMI_LIBRARY variable if it is not a singleton case.",
        ],
        ..RUNTIME
    },
    Cause {
        id: "mpi.old_srun_option",
        sign: "srun: unrecognized option '--cpu_bind",
        says: "this Open MPI calls srun with an option that is gone",
        means: "Old releases of Open MPI give `--cpu_bind=none`, which Slurm 19.05 and newer do not take.",
        act: "install Open MPI 3.1.5, 4.0.2 or newer, or start with `srun --mpi=pmix`; until then `mpirun --mca plm rsh`",
        remedy: Remedy::Install,
        sources: &[seen(
            "https://github.com/open-mpi/ompi (orte/mca/plm/slurm/plm_slurm_module.c, v4.1.x)",
            "2026-11-30",
        )],
        samples: &["srun: unrecognized option '--cpu_bind=none'"],
        ..TOOL
    },
    Cause {
        id: "mpi.no_srun",
        sign: r#"usable "srun" command in its path|expects to find the following environment variables"#,
        says: "mpirun is in a job of Slurm and misses a part of it",
        means: "srun is not on the PATH, or SLURM_* variables are only partly there, as in a container.",
        act: "put Slurm's client into the image or on the PATH, or `unset` all SLURM_* variables and give a hostfile (`--mca plm rsh`)",
        remedy: Remedy::Settings,
        samples: &[r#"usable "srun" command in its path. Please check your path"#],
        ..PLM
    },
    Cause {
        id: "mpi.as_root",
        sign: "has detected an attempt to run as root",
        says: "mpirun does not start as root",
        means: "Open MPI refuses root unless it is told so, as it is in containers.",
        act: "start it as an ordinary account; in a container add `--allow-run-as-root`, or set OMPI_ALLOW_RUN_AS_ROOT=1 and OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1",
        remedy: Remedy::Settings,
        sure: Sure::Confirmed,
        sources: &[seen(
            "https://github.com/open-mpi/ompi (orte/orted/orted_submit.c, v4.1.x)",
            "2026-11-30",
        )],
        samples: &["mpirun has detected an attempt to run as root."],
        ..TOOL
    },
    Cause {
        id: "mpi.program_missing",
        sign: "was unable to find the specified executable file|unable to launch the specified application as it could not access|or execute an executable:",
        near: &[r"Node: +(?<node>\S+)", r"Executable: +(?<program>\S+)"],
        says: "mpirun cannot start [{program}][ on {node}]",
        means: "The program is not at that path on the node, may not be run, or a mistyped option was taken for it.",
        act: "look at the path on that node (`ssh NODE ls -l PROGRAM`), give it as a full path on a shared file system; check the options before it",
        remedy: Remedy::Settings,
        samples: &["mpirun was unable to find the specified executable file, and therefore"],
        ..RUN
    },
    Cause {
        id: "mpi.workdir",
        sign: "change to the specified working directory",
        near: &[r"Working directory: +(?<dir>\S+)", r"Node: +(?<node>\S+)"],
        says: "a node has no directory {dir}[: {node}]",
        means: "The directory of mpirun is not on the other node, or the user may not enter it.",
        act: "start it from a shared directory, or with `--wdir DIRECTORY` of one that each node has",
        remedy: Remedy::Settings,
        samples: &["change to the specified working directory:"],
        ..RUN
    },
    Cause {
        id: "mpi.execve",
        sign: r#"Open MPI tried to fork a new process via the "execve" system call but"#,
        near: &["Error: +(?<why>.*)", r"Application name: +(?<program>\S+)", r"Local host: +(?<node>\S+)"],
        says: "a process could not be started[: {program}][ on {node}][: {why}]",
        means: "The program is a directory, a script without a `#!` line, of another architecture, or may not be run.",
        act: "`file` and `ls -l` of it on that node; `chmod +x`, or build it for that host",
        remedy: Remedy::Settings,
        sources: &[seen(
            "https://github.com/open-mpi/ompi (orte/mca/odls/default/help-orte-odls-default.txt, v4.1.x)",
            "2026-11-30",
        )],
        samples: &[r#"Open MPI tried to fork a new process via the "execve" system call but"#],
        ..TOOL
    },
    Cause {
        id: "mpi.hostfile",
        sign: "(Open RTE|PRTE|PRRTE) was unable to open the hostfile|(Open RTE|PRTE|PRRTE) detected a (parse error|bad parameter) in the hostfile",
        says: "mpirun cannot read its hostfile",
        means: "The file is not there, or a line is not `NAME slots=N`.",
        act: "look at the file that the next line names",
        remedy: Remedy::Settings,
        samples: &["Open RTE was unable to open the hostfile:"],
        ..HOSTFILE
    },
    Cause {
        id: "mpi.host_not_allocated",
        sign: "requested hosts (is|are) not included in the current allocation|contains at least one node not$|A hostfile was provided that contains at least one node",
        near: &[r"(Missing requested host: +|node: +)(?<node>\S+)"],
        says: "mpirun is asked for a host that the job does not have[: {node}]",
        means: "Within a job of Slurm only its nodes may be named, by the names that Slurm has for them.",
        act: "`scontrol show hostnames` within the job lists them: leave `--host` and `--hostfile` out there, or write the names so",
        remedy: Remedy::Settings,
        samples: &["At least one of the requested hosts is not included in the current allocation."],
        ..HOSTFILE
    },
    Cause {
        id: "mpi.node_names",
        sign: "^A daemon has no recorded node",
        near: &[r"Reported from nodename: +(?<node>\S+)"],
        says: "a node calls itself otherwise than mpirun does[: {node}]",
        means: "The name of the allocation or the hostfile is not what the node's own hostname is.",
        act: "use the names that `hostname` prints there, or set the host's name right",
        remedy: Remedy::Settings,
        samples: &["A daemon has no recorded node:"],
        ..PLM
    },
    Cause {
        id: "mpi.binding",
        sign: r"A request was made to bind to that would result in binding more|Your job has requested more cpus per process\(rank\) than there|we found no available cpus on|This is more processes than we can launch under the following",
        says: "mpirun cannot bind its processes as it is asked to",
        means: "The mapping needs more cores than the node, or the job's cgroup, has.",
        act: "ask Slurm for the cores (`--cpus-per-task`), map fewer (`--map-by ppr:N:node:PE=M`), or go without (`--bind-to none`)",
        remedy: Remedy::Settings,
        samples: &["A request was made to bind to that would result in binding more"],
        ..RMAPS
    },
    Cause {
        id: "mpi.bind_error",
        sign: "Open MPI tried to bind a new process, but (something went wrong|process binding is not)",
        near: &["Error message: +(?<why>.*)"],
        says: "mpirun could not bind a process[: {why}]",
        means: "The cores are not in the cgroup or the container of the job.",
        act: "start with `--bind-to none`; look at Cpus_allowed_list in /proc/self/status of the job",
        remedy: Remedy::Settings,
        sources: &[seen(
            "https://github.com/open-mpi/ompi (orte/mca/odls/default/help-orte-odls-default.txt, v4.1.x)",
            "2026-11-30",
        )],
        samples: &["Open MPI tried to bind a new process, but something went wrong.  The"],
        ..TOOL
    },
    Cause {
        id: "mpi.limits",
        sign: r"system limit exceeded on number of (?<what>pipes|network connections|processes) that can be|accept\(3\) system call failed on a TCP socket",
        says: "a host has no more of what mpirun opens[: {what}]",
        means: "A limit of the account is too low: open files or processes.",
        act: "`ulimit -n -u` on that host in the same shell: raise nofile and nproc (the playbook `limits`; `system.nofile`), for jobs of Slurm in slurmd's unit",
        remedy: Remedy::Settings,
        samples: &["Error: system limit exceeded on number of pipes that can be open"],
        ..RUN
    },
    Cause {
        id: "mpi.session_dir",
        sign: "A call to mkdir was unable to create the desired directory",
        near: &[r"Directory: +(?<dir>\S+)", "Error: +(?<why>.*)"],
        says: "mpirun cannot make its directory[ {dir}][: {why}]",
        means: "/tmp (or TMPDIR) is full, not writable, or has a directory of that name of another account.",
        act: "`df -h` and `ls -ld` there; remove what is left of old jobs, or set TMPDIR to a local directory of the user",
        remedy: Remedy::Settings,
        sources: &[seen(
            "https://github.com/open-mpi/ompi (opal/util/help-opal-util.txt, v4.1.x)",
            "2026-11-30",
        )],
        samples: &["A call to mkdir was unable to create the desired directory:"],
        ..TOOL
    },
    Cause {
        id: "mpi.shared_memory_full",
        sign: r"not enough space for (?<file>\S+) \(the shared-memory backing",
        near: &[r"Space Requested: +(?<wants>\d+)", r"Space Available: +(?<has>\d+)"],
        says: "there is no room for the shared memory of the ranks[ ({has} of {wants} bytes)]",
        means: "The file lies in /tmp or /dev/shm, which is full or small, as in a container.",
        act: "`df -h /dev/shm /tmp`; in a container give more (`--shm-size=8g`, `--ipc=host`), elsewhere remove old files or set TMPDIR",
        remedy: Remedy::Settings,
        samples: &[
            "It appears as if there is not enough space for /tmp/ompi.gpu0.1000/jf.0/1/shared_mem (the shared-memory backing",
        ],
        ..SHMEM
    },
    Cause {
        id: "mpi.shared_memory_call",
        sign: "A system call failed during shared memory initialization|A system call failed during vader shared memory BTL",
        near: &["System call: +(?<call>.*)", "Error: +(?<why>.*)"],
        role: Role::Effect,
        says: "shared memory of the ranks failed[: {call}][: {why}]",
        means: "/tmp or /dev/shm is full, a rank of the same node is gone, or ranks are in different containers.",
        act: "`df -h /dev/shm /tmp` first; then the end of the other ranks",
        sure: Sure::Guess,
        samples: &["A system call failed during shared memory initialization that should"],
        ..SHMEM
    },
    Cause {
        id: "mpi.shared_memory_nfs",
        sign: "directory that appears to be mounted on a network filesystem|resides on a shared file system:",
        counts: Counts::Warn,
        says: "shared memory of the ranks lies on a network file system",
        means: "TMPDIR points to NFS or Lustre, which is slow for this.",
        act: "set TMPDIR to a local directory (/tmp, the job's NVMe) in the job",
        remedy: Remedy::Settings,
        sources: &[
            seen(
                "https://github.com/open-mpi/ompi (opal/mca/shmem/mmap/help-opal-shmem-mmap.txt, v4.1.x)",
                "2026-11-30",
            ),
            seen("https://github.com/openpmix/prrte", "2026-11-30"),
        ],
        samples: &["directory that appears to be mounted on a network filesystem."],
        ..TOOL
    },
    Cause {
        id: "mpi.versions_differ",
        sign: "(Open MPI|PRTE|PRRTE) detected a mismatch in versions between two processes",
        near: &[r"Local host: +(?<host>\S+)", r"Peer host: +(?<peer>\S+)"],
        says: "two nodes have different versions of Open MPI[: {host} and {peer}]",
        means: "All processes of a job need the same release.",
        act: "`mpirun --version` over ssh on both: install the same release in the same directory (the playbook `openmpi`), or call mpirun by its full path",
        remedy: Remedy::Install,
        sure: Sure::Confirmed,
        samples: &["Open MPI detected a mismatch in versions between two processes.  This"],
        ..OOB
    },
    Cause {
        id: "mpi.pmix_version",
        sign: "An unexpected version of PMIx was loaded|A version of PMIx was detected that is too old",
        near: &[r"(Detected|Version): +(?<has>\S+)", r"(Expected|Min version): +(?<wants>\S+)"],
        says: "Open MPI loaded another PMIx than it was built with[: {has} for {wants}]",
        means: "The loader finds another libpmix first.",
        act: "`ldd $(which mpirun) | grep pmix`: put the right one first (LD_LIBRARY_PATH, ld.so.conf.d), or build Open MPI against the PMIx of the host",
        remedy: Remedy::Install,
        sources: &[seen(
            "https://github.com/open-mpi/ompi (opal/mca/pmix/base/help-pmix-base.txt, v4.1.x)",
            "2026-11-30",
        )],
        samples: &["An unexpected version of PMIx was loaded:"],
        ..TOOL
    },
    Cause {
        id: "mpi.endianness",
        sign: "does not currently support multi-endian operations|This installation of Open MPI was configured without support for",
        says: "the nodes have different architectures",
        means: "This Open MPI runs on one architecture at a time.",
        act: "start the job on nodes of one architecture",
        remedy: Remedy::Settings,
        sure: Sure::Confirmed,
        samples: &["This installation of Open MPI was configured without support for"],
        ..RUNTIME
    },
    Cause {
        id: "mpi.interface_list",
        sign: r"An invalid value was given for (?<what>\w+_tcp_if_\w+)|None of the TCP networks specified to be included|specified list of networks to be excluded for TCP",
        near: &[r"Value( given)?: +(?<value>\S+)", "Message: +(?<why>.*)"],
        says: "a host has no such network as {what} names[: {value}][: {why}]",
        means: "Interface names differ from host to host; a value that is not known is passed over.",
        act: "give the network in place of a name (`--mca btl_tcp_if_include 192.0.2.0/24 --mca oob_tcp_if_include 192.0.2.0/24`; with Open MPI 5 `--prtemca prte_if_include`)",
        remedy: Remedy::Settings,
        sources: &[
            seen(
                "https://github.com/open-mpi/ompi (opal/mca/btl/tcp/help-mpi-btl-tcp.txt, v4.1.x)",
                "2026-11-30",
            ),
            seen("https://github.com/open-mpi/ompi (orte/mca/oob, v4.1.x)", "2026-11-30"),
        ],
        samples: &["WARNING: An invalid value was given for btl_tcp_if_include.  This"],
        ..TOOL
    },
    Cause {
        id: "mpi.no_interface",
        sign: "No network interfaces were found for out-of-band communications|No usable network interfaces were found on this host|No sockets were able to be opened on the available protocols",
        says: "mpirun found no network on this host",
        means: "A list of interfaces leaves none, or all are down, as in a container without a network.",
        act: "`ip -br addr`; take `oob_tcp_if_*` or `prte_if_*` out of the options, of OMPI_MCA_* and of openmpi-mca-params.conf; in a container give it a network",
        remedy: Remedy::Settings,
        samples: &["No network interfaces were found for out-of-band communications. We require"],
        ..OOB
    },
    Cause {
        id: "mpi.local_bridge",
        sign: r"path from \S+ to (?<to>\S+): IPV4 PRIVATE DIFFERENT NETWORK|connect\(\) to (?<address>172\.1[789]\.0\.\d+|192\.168\.122\.\d+):\d+ failed",
        says: "Open MPI connects to an address that only its own host has[: {to}][: {address}]",
        means: "docker0 (172.17.0.1) and virbr0 (192.168.122.1) are bridges within one host. The TCP transport tries them like any other network.",
        act: "name the right network: `--mca btl_tcp_if_include 192.0.2.0/24` (and oob_tcp_if_include), or `--mca btl_tcp_if_exclude lo,docker0,virbr0`; put it into openmpi-mca-params.conf to keep it",
        remedy: Remedy::Settings,
        sources: &[
            seen("https://github.com/open-mpi/ompi/issues/6377", "2019-02-11"),
            seen("https://github.com/open-mpi/ompi/issues/4963", "2018-08-13"),
        ],
        samples: &[
            "[node1:40348] btl:tcp: path from 172.17.0.1 to 192.168.122.1: IPV4 PRIVATE DIFFERENT NETWORK",
            "  Message:    connect() to 192.168.122.1:1040 failed",
        ],
        ..TOOL
    },
    Cause {
        id: "mpi.unexpected_process",
        sign: r"received unexpected process identifier \[\[",
        says: "a rank reached another process than the one it called",
        means: "Open MPI took an address that each host has for itself, mostly the bridge of Docker or libvirt (172.17.0.1), so the call ended on the own host.",
        act: "leave the bridges out: `--mca btl_tcp_if_exclude lo,docker0,virbr0` and `--mca oob_tcp_if_exclude lo,docker0,virbr0`, or name the cluster's network by `btl_tcp_if_include`; put it into openmpi-mca-params.conf to keep it",
        sources: &[
            seen("https://github.com/aws/aws-parallelcluster/issues/2538", "2021-03-18"),
            seen("https://github.com/open-mpi/ompi (opal/mca/btl/tcp/btl_tcp_endpoint.c)", "2026-12-01"),
        ],
        samples: &[
            "[gpu0][[11331,1],3][btl_tcp_endpoint.c:626:mca_btl_tcp_endpoint_recv_connect_ack] received unexpected process identifier [[11331,1],1]",
        ],
        ..TCP
    },
    Cause {
        id: "mpi.unexpected_address",
        sign: "Open MPI detected an inbound MPI TCP connection request from a peer|but it is from an IP address that is$",
        near: &[r"Source IP of socket: (?<source>\S+)"],
        says: "a rank connects from an address that the others do not know of it",
        means: "Hosts have several addresses on one card or several cards in one network, and the kernel takes another one as the source.",
        counts: Counts::Warn,
        act: "name one network for all: `--mca btl_tcp_if_include 10.0.0.0/24` (and `--prtemca prte_if_include` of Open MPI 5), with one address of it on each host; on a fabric use UCX or OFI in place of TCP",
        sources: &[seen("https://github.com/open-mpi/ompi/issues/12232", "2024-01-18")],
        samples: &["Open MPI detected an inbound MPI TCP connection request from a peer"],
        ..TCP
    },
    Cause {
        id: "mpi.tcp_connect",
        sign: "Open MPI failed to (TCP connect to|handshake with) a (connecting )?peer MPI|A process or daemon was unable to complete a TCP connection",
        near: &[
            "Message: +(?<what>.*)",
            "Error: +(?<why>.*)",
            r"Local host:\s+(?<here>[^ ]+)$",
            r"Remote host:\s+(?<there>[^ ]+)$",
        ],
        role: Role::Effect,
        says: "one host does not reach another by TCP[ ({here} to {there})][: {what}][: {why}]",
        means: "The address cannot be reached (another network, a bridge, a firewall), or the other rank ended.",
        act: r#"look at the address: is it of a network that both hosts have? Name that network with `--mca btl_tcp_if_include`; with "Connection refused" look for the other rank's end; with "No route to host" or a timeout for a firewall"#,
        remedy: Remedy::Settings,
        apart: &[Apart {
            beside: &["mpi.container_hosts"],
            act: "the hosts are containers: run them with the host's network (`--network=host`) or in one network that all of them see (an overlay between hosts), and try with `nc` that each reaches the other in both directions; a firewall of the host looks the same",
        }],
        sure: Sure::Guess,
        samples: &["WARNING: Open MPI failed to TCP connect to a peer MPI process.  This"],
        ..TCP
    },
    Cause {
        id: "mpi.unreachable",
        sign: "At least one pair of MPI processes are unable to reach each other|MPI_INIT has failed because at least one MPI process is unreachable",
        near: &["BTLs attempted: +(?<btls>.*)"],
        role: Role::Effect,
        says: "two ranks have no transport in common[ (tried: {btls})]",
        means: "The list of transports is too short, or a transport did not start on one node.",
        act: r#"take `--mca btl` and `--mca pml` out first; then compare `ompi_info | grep -E "btl|pml|mtl"` and `ibv_devinfo` on both nodes"#,
        remedy: Remedy::Settings,
        sure: Sure::Guess,
        sources: &[seen(
            "https://github.com/open-mpi/ompi (ompi/mca/bml/r2/help-mca-bml-r2.txt, v4.1.x)",
            "2026-11-30",
        )],
        samples: &["At least one pair of MPI processes are unable to reach each other for"],
        ..TOOL
    },
    Cause {
        id: "mpi.pml_missing",
        sign: r"PML (?<pml>\w+) cannot be selected|No components were able to be opened in the (?<framework>\w+) framework",
        says: "Open MPI cannot use [{pml}][any {framework}] on this host",
        means: "`--mca pml` names it, and it was not built, or finds no device (no InfiniBand, no UCX library).",
        act: r#"`ompi_info | grep "MCA pml"` and `ucx_info -d` on that host; take `--mca pml` out (also OMPI_MCA_pml), or install UCX and make the card's port active there"#,
        remedy: Remedy::Settings,
        sources: &[seen(
            "https://github.com/open-mpi/ompi (ompi/mca/pml/base/pml_base_select.c)",
            "2026-11-30",
        )],
        samples: &["PML ucx cannot be selected"],
        ..TOOL
    },
    Cause {
        id: "mpi.memlock",
        sign: r"allocate some locked memory\.\s+This typically can indicate that the|Please set max locked memory \(ulimit -l\) to 'unlimited'|Memlock limit: +\d+",
        says: "the job may lock too little memory for RDMA",
        means: "The limit memlock of the account or of slurmd is low; cards need locked memory.",
        act: "`ulimit -l` in the job must say unlimited: the playbook `limits` for logins; `LimitMEMLOCK=infinity` in a drop-in of slurmd.service and PropagateResourceLimitsExcept=MEMLOCK for Slurm (`slurm.memlock`, `system.memlock`); `--ulimit memlock=-1` for containers",
        remedy: Remedy::Settings,
        sure: Sure::Confirmed,
        sources: &[
            seen(
                "https://github.com/open-mpi/ompi (opal/mca/btl/openib/help-mpi-btl-openib.txt, v4.1.x)",
                "2026-11-30",
            ),
            seen("https://github.com/openucx/ucx (src/uct/ib)", "2026-11-30"),
        ],
        samples: &["allocate some locked memory.  This typically can indicate that the"],
        ..TOOL
    },
    Cause {
        id: "mpi.registered_limit",
        sign: "your OpenFabrics subsystem is configured to only",
        counts: Counts::Warn,
        says: "the card may register only a part of the memory",
        means: "Parameters of an old driver (mlx4: log_num_mtt) are too small for the host.",
        act: "raise log_num_mtt or log_mtts_per_seg of mlx4_core in /etc/modprobe.d; for mlx5 look at memlock (`ulimit -l`)",
        remedy: Remedy::Settings,
        samples: &["WARNING: It appears that your OpenFabrics subsystem is configured to only"],
        ..OPENIB
    },
    Cause {
        id: "mpi.no_active_port",
        sign: "at least (one )?non-excluded one OpenFabrics device found",
        counts: Counts::Warn,
        says: "no port of the card is active",
        means: "A port is down, or the old openib BTL does not take it. UCX goes on its own ways.",
        act: "`ibv_devinfo` on the host: with PORT_DOWN look at the cable, the switch or the subnet manager (`rdma.port_active`); with PORT_ACTIVE nothing",
        remedy: Remedy::Settings,
        samples: &["WARNING: There is at least one non-excluded one OpenFabrics device found,"],
        ..OPENIB
    },
    Cause {
        id: "mpi.no_such_device",
        sign: "One or more nonexistent OpenFabrics devices/ports were",
        near: &["Nonexistent entities: +(?<device>.*)", r"Host: +(?<host>\S+)"],
        counts: Counts::Warn,
        says: "a list of cards names one that is not there[: {device}][ on {host}]",
        means: "`btl_openib_if_include` or another list has a name that this host does not have.",
        act: "`ibv_devices` on that host: correct the list, or leave it out",
        remedy: Remedy::Settings,
        samples: &["WARNING: One or more nonexistent OpenFabrics devices/ports were"],
        ..OPENIB
    },
    Cause {
        id: "mpi.retry_exceeded",
        sign: r#"The InfiniBand retry count between two MPI processes has been|"receiver not ready" retry count on a"#,
        near: &[r"Local host: +(?<host>\S+)", r"Local device: +(?<device>\S+)", r"Peer host: +(?<peer>\S+)"],
        role: Role::Effect,
        says: "the card got no answer from another[: {host} to {peer}]",
        means: "The other rank ended, a link flaps, or the network drops packets (RoCE without flow control).",
        act: "look for a rank on the other host that ended first; then `rdma.port_active`, `rdma.flaps` and `rdma.errors` of both hosts, and `active.ib_write_bw`",
        remedy: Remedy::Settings,
        sure: Sure::Guess,
        samples: &["The InfiniBand retry count between two MPI processes has been"],
        ..OPENIB
    },
    Cause {
        id: "mpi.cma_ptrace",
        sign: r"not available due to restrictive ptrace settings|Read -1, expected \d+, errno = 1\b",
        counts: Counts::Warn,
        says: "ranks of a host may not read each other's memory",
        means: "kernel.yama.ptrace_scope, or the seccomp profile of a container, forbids process_vm_readv.",
        act: "in a container add `--cap-add=SYS_PTRACE`; on a host for computing `sysctl kernel.yama.ptrace_scope=0` (the playbook `sysctl` keeps it); or go without: `--mca btl_vader_single_copy_mechanism none` (`btl_sm_...` with Open MPI 5)",
        remedy: Remedy::Settings,
        samples: &[
            "not available due to restrictive ptrace settings.",
            "[gpu0:00123] Read -1, expected 5120, errno = 1",
        ],
        ..VADER
    },
    Cause {
        id: "mpi.cma_namespaces",
        sign: "not available due to different user namespaces",
        counts: Counts::Warn,
        says: "ranks of a host are in different user namespaces",
        means: "Each runs in a container of its own (apptainer, rootless podman), and may not read the others' memory.",
        act: "start the ranks in one container, or set `--mca btl_vader_single_copy_mechanism none` (`btl_sm_...` with Open MPI 5)",
        remedy: Remedy::Settings,
        samples: &["not available due to different user namespaces."],
        ..VADER
    },
    Cause {
        id: "mpi.knem",
        sign: "failed to open the /dev/knem device due to|knem kernel module, but it discovered a different version",
        counts: Counts::Warn,
        says: "Open MPI cannot use the module knem",
        means: "Its device is closed to the account, or of another version. Copies within a host are slower.",
        act: "set the mode of /dev/knem to 0666, install the module of the same MLNX_OFED, or set `--mca btl_vader_single_copy_mechanism cma`",
        remedy: Remedy::Settings,
        samples: &["WARING: Open MPI failed to open the /dev/knem device due to a"],
        ..VADER
    },
    Cause {
        id: "mpi.ofi_call",
        sign: r"Open MPI failed an OFI Libfabric library call \((?<call>[^)]*)\)",
        near: &["Error: +(?<why>.*)"],
        role: Role::Effect,
        says: "libfabric refused {call}[: {why}]",
        means: "The provider has no device here, or a limit of the host is reached.",
        act: "`fi_info` on that host shows the providers; look at memlock and at the rights of /dev/infiniband",
        sure: Sure::Guess,
        sources: &[seen(
            "https://github.com/open-mpi/ompi (ompi/mca/mtl/ofi/help-mtl-ofi.txt, v4.1.x)",
            "2026-11-30",
        )],
        samples: &["Open MPI failed an OFI Libfabric library call (fi_endpoint).  This is highly"],
        ..TOOL
    },
    Cause {
        id: "mpi.psm2",
        sign: "PSM2 can't open hfi unit|hfi_userinit: .* failed|assign_context command failed|map_hfi_mem: mmap of .* failed",
        says: "Omni-Path gives this job no context",
        means: "More ranks than contexts of the card run on the node, or the device is closed to the account.",
        act: "`ls -l /dev/hfi1*` and other jobs on the node; on a host without Omni-Path `--mca mtl ^psm2`",
        sure: Sure::Guess,
        sources: &[seen("https://github.com/cornelisnetworks/opa-psm2", "2026-11-30")],
        samples: &["gpu0.123PSM2 can't open hfi unit: -1 (err=23)"],
        ..TOOL
    },
    Cause {
        id: "mpi.hcoll",
        follows: &["ucx.connect", "ucx.bridge_address", "ucx.retry_ib", "ucx.retry_roce"],
        sign: r"Hcol library init failed|component \S+ is not available but requested in hierarchy",
        counts: Counts::Warn,
        says: "HCOLL does not start, and Open MPI goes on without it",
        means: "The library of NVIDIA's collectives finds no device or another version of its parts. Collectives use Open MPI's own code.",
        act: "nothing where speed is right; silence it with `--mca coll_hcoll_enable 0`, or set HCOLL_MAIN_IB to the right port",
        remedy: Remedy::Settings,
        sources: &[seen("https://github.com/open-mpi/ompi (ompi/mca/coll/hcoll)", "2026-11-30")],
        samples: &[
            "[gpu0:1234] Error: coll_hcoll_module.c:310 - mca_coll_hcoll_comm_query() Hcol library init failed",
        ],
        ..TOOL
    },
    Cause {
        id: "mpi.cuda_ipc",
        sign: r"The call to (?<call>cuIpc\w+|cuMemHostRegister\S*|cuMemcpyAsync|cuEvent\w+|cuStream\w+) failed|The call to (?<register>cuMemHostRegister)\(",
        near: &[r"return value: +(?<code>\d+)"],
        role: Role::Effect,
        says: "CUDA refused a call of Open MPI[: {call}][ ({code})]",
        means: "The number is an error of CUDA: too little GPU memory, a GPU that failed, or GPUs that may not see each other.",
        act: "look the number up in cuda.h (2 is out of memory), and the kernel's log for Xid (`gpu.xid`)",
        sure: Sure::Guess,
        samples: &["The call to cuIpcOpenMemHandle failed. This is an unrecoverable error"],
        ..CUDA
    },
    Cause {
        id: "ucx.posix_namespace",
        sign: r"open\(file_name=/proc/\d+/fd/\d+ flags=\S+\) failed: (?<why>Permission denied|No such file or directory)",
        says: "UCX may not open the shared memory of another rank ({why})",
        means: "The ranks of one host are in different user or process namespaces (apptainer, containers), and UCX goes by /proc/PID/fd.",
        act: "set UCX_POSIX_USE_PROC_LINK=n, or leave posix out (UCX_TLS=^posix), or start the ranks of a host in one container; a newer UCX does it by itself",
        remedy: Remedy::Settings,
        sure: Sure::Confirmed,
        sources: &[
            seen("https://github.com/openucx/ucx/issues/4511", "2023-07-07"),
            seen("https://github.com/apptainer/apptainer/issues/769", "2022-10-14"),
        ],
        samples: &[
            "[c7:2019617:0]       mm_posix.c:195  UCX  ERROR open(file_name=/proc/2019618/fd/20 flags=0x0) failed: Permission denied",
        ],
        ..TOOL
    },
    Cause {
        id: "ucx.cma_denied",
        sign: r"process_vm_(readv|writev)\b.*(Operation not permitted|error message Operation not permitted)",
        says: "ranks of a host may not read each other's memory",
        means: "kernel.yama.ptrace_scope=1 or a container's seccomp profile forbids process_vm_readv. UCX before 1.6 did not notice.",
        act: "take UCX 1.6 or newer; in a container add `--cap-add=SYS_PTRACE`; until then UCX_TLS=^cma, or `sysctl kernel.yama.ptrace_scope=0` on hosts for computing (the playbook `sysctl`)",
        remedy: Remedy::Settings,
        sources: &[seen("https://github.com/openucx/ucx/issues/3545", "2019-05-01")],
        samples: &["process_vm_readv delivered 0 instead of 480960, error message Operation not permitted"],
        ..TOOL
    },
    Cause {
        id: "ucx.ofed_generations",
        sign: r"mlx5dv_devx_create_event_channel\([^)]*\) failed: Protocol not supported",
        says: "the mlx5 libraries are newer than the kernel's driver",
        means: "User space of MLNX_OFED 5 (or a new rdma-core) runs on kernel modules of MLNX_OFED 4, as with a new container on an old host.",
        act: "bring both to one generation: the host's driver to 5, or an image with the older one; UCX_TLS=^rc_x,dc_x goes round it for now",
        remedy: Remedy::Install,
        sources: &[seen("https://github.com/openucx/ucx/issues/6906", "2021-06-05")],
        samples: &["mlx5dv_devx_create_event_channel() failed: Protocol not supported"],
        ..TOOL
    },
    Cause {
        id: "ucx.devx",
        sign: r"mlx5dv_devx_create_event_channel\([^)]*\) failed: (?<why>Operation not permitted|Permission denied|Invalid argument|Remote I/O error|No such device)",
        counts: Counts::Warn,
        says: "UCX cannot use DEVX of the card: {why}",
        means: "The kernel's driver or a virtual function has no DEVX, or the account lacks the right.",
        act: "where transports are missing afterwards set UCX_IB_MLX5_DEVX=n; otherwise nothing",
        remedy: Remedy::Settings,
        samples: &["mlx5dv_devx_create_event_channel() failed: Operation not permitted"],
        ..IB
    },
    Cause {
        id: "ucx.retry_roce",
        sign: r"Transport retry count exceeded on (?<device>\S+)/RoCE",
        role: Role::Effect,
        says: "{device} got no answer over RoCE",
        means: "The network dropped packets: neither flow control nor the settings for lossy RoCE are made. A rank on the other side that ended first gives the same line.",
        act: "look for a rank that ended first; then set the fabric up for RoCE: PFC and ECN on card and switch (`network.pfc`, `network.ecn`, `network.trust` of `provision verify`), or the lossy settings of the card; a UCX variable alone does not mend it",
        remedy: Remedy::Settings,
        sources: &[
            seen("https://github.com/openucx/ucx/issues/6000", "2020-12-17"),
            seen("https://github.com/openucx/ucx/issues/2346", "2018-03-07"),
        ],
        samples: &[
            "[mgmt:24113:0:24113] ib_mlx5_log.c:143  Transport retry count exceeded on mlx5_0:1/RoCE (synd 0x15 vend 0x81 hw_synd 0/0)",
        ],
        ..TOOL
    },
    Cause {
        id: "ucx.retry_ib",
        sign: r"(Transport|Receive-no-ready) retry count exceeded on (?<device>\S+)|Error on (?<card>[a-z0-9_]+:[0-9]+) QP \S+ .*(Transport|Receive-no-ready) retry count exceeded|UCX +ERROR .*(?:on qp (?<qp>0x[0-9a-f]+): )(?:transport|rnr|receive-no-ready) retry counter exceeded",
        role: Role::Effect,
        says: "a port got no answer[: {device}][: {card}][ on the queue pair {qp}]",
        means: "A rank on the other side ended, a link flaps, or a path of the fabric is lost.",
        act: "look for a rank that ended first; then the links of both hosts (`rdma.port_active`, `rdma.flaps`, `rdma.errors`) and the subnet manager",
        remedy: Remedy::Settings,
        sure: Sure::Guess,
        samples: &[
            "ib_mlx5_log.c:177  Transport retry count exceeded on mlx5_1:1/IB (synd 0x15 vend 0x81 hw_synd 0/0)",
        ],
        ..IB
    },
    Cause {
        id: "ucx.completion_error",
        sign: r"(?<what>Local (protection|length|QP operation|access) error|Remote (access|operation|invalid request)( error)?|Memory (window bind|management operation) error) on (?<device>mlx5\S+)",
        role: Role::Effect,
        says: "{device} reports: {what}",
        means: "Memory that was given to the card was freed or unmapped, or the two sides run different versions.",
        act: "compare UCX on both hosts (`ucx_info -v`); with GPU memory look at nvidia_peermem or DMA-BUF (`rdma.gdr_ready`); try UCX_RCACHE_ENABLE=n to tell",
        sure: Sure::Guess,
        samples: &[
            "ib_mlx5_log.c:143  Local protection error on mlx5_0:1/IB (synd 0x4 vend 0x51 hw_synd 0/0)",
        ],
        ..IB
    },
    Cause {
        id: "ucx.device_missing",
        sign: "network device '(?<device>[^']+)' is not available",
        says: "UCX_NET_DEVICES names {device}, which this host does not have or whose port is down",
        means: "Names of cards differ from host to host, or the port is not active.",
        act: "`ibv_devinfo` and `ucx_info -d | grep Device` on that host: correct UCX_NET_DEVICES (NAME:PORT), or bring the port up",
        remedy: Remedy::Settings,
        samples: &[
            "UCX  WARN  network device 'mlx5_9:1' is not available, please use one or more of: 'mlx5_0:1'(IB), 'eth0'(tcp)",
        ],
        ..UCP
    },
    Cause {
        id: "ucx.built_with_cuda",
        sign: r"# Configured with: .*--prefix=/usr .*--with-cuda",
        says: "this UCX is of a package whose CUDA transports come apart",
        means: "It lies in /usr and was built with CUDA, but cuda_copy, cuda_ipc and gdr_copy are in packages of their own (ucx-cuda, ucx-gdrcopy). An own UCX further behind on the path is not used.",
        act: "where `ucx_info -d | grep -i cuda` is empty, install ucx-cuda and ucx-gdrcopy of the same release, or put the directories of the own UCX first in PATH and LD_LIBRARY_PATH",
        counts: Counts::Note,
        sources: &[
            seen("https://github.com/openucx/ucx/issues/9950", "2024-06-12"),
            seen("https://github.com/openucx/ucx (ucx.spec.in)", "2026-12-01"),
        ],
        samples: &[
            "# Configured with: --build=x86_64-redhat-linux-gnu --prefix=/usr --exec-prefix=/usr --enable-mt --with-cuda --with-gdrcopy --with-verbs",
        ],
        ..UCP
    },
    Cause {
        id: "ucx.transport_missing",
        sign: "transports? '(?<transport>[^']+)' (is|are) not available",
        says: "UCX_TLS names {transport}, which is not there",
        means: "The plugin was not built (CUDA, gdr_copy, verbs), or its library or device is missing.",
        act: "`ucx_info -d | grep Transport` lists what there is; install the package (ucx-cuda, ucx-gdrcopy, ucx-ib), or correct UCX_TLS",
        remedy: Remedy::Settings,
        samples: &[
            "UCX  WARN  transport 'rc_x' is not available, please use one or more of: cma, posix, self, sysv, tcp",
        ],
        ..UCP
    },
    Cause {
        id: "ucx.no_transport",
        sign: r"no usable transports/devices|no (?<kind>[a-z ]+) transport to \S+.*?: (?<why>.*)",
        says: "UCX has no way to another rank[ ({kind}: {why})]",
        means: "UCX_TLS or UCX_NET_DEVICES leaves out what is needed, or the two hosts have no network in common.",
        act: "take UCX_TLS and UCX_NET_DEVICES out of the environment first; then compare `ucx_info -d` of both hosts",
        remedy: Remedy::Settings,
        samples: &[
            "UCX  ERROR no active messages transport to <no debug data>: self/memory - Destination is unreachable",
        ],
        ..UCP
    },
    Cause {
        id: "ucx.version",
        sign: "UC[PX] (API )?version is incompatible,?:? required:? ?(>= )?(?<wants>[0-9.]+), actual:? (?<has>[0-9.]+)",
        says: "UCX {has} was loaded where {wants} was asked for",
        means: "The loader finds another UCX than the one that MPI was built with.",
        act: "`ldd` of MPI's mca_pml_ucx.so, `ucx_info -v`: put the right UCX first, or rebuild; old ones in /usr/lib and in MLNX_OFED's directory are the usual two",
        remedy: Remedy::Install,
        samples: &[
            "UCX  WARN  UCP version is incompatible, required: 1.15, actual: 1.10 (release 0 /lib/libucp.so.0)",
        ],
        ..UCP
    },
    Cause {
        id: "ucx.shm_full",
        sign: r"Not enough memory to write total of (?<bytes>\d+) bytes|Please check that /dev/shm or the directory you specified has|please check shared memory limits by 'ipcs -l'",
        says: "UCX has no room for shared memory[ ({bytes} bytes)]",
        means: "/dev/shm is full or small, as in a container with its 64 MB.",
        act: "`df -h /dev/shm`; in a container `--shm-size=8g` or `--ipc=host`, in Kubernetes an emptyDir with medium Memory at /dev/shm; on a host remove what dead jobs left there",
        remedy: Remedy::Settings,
        samples: &[
            "mm_posix.c:233  UCX  ERROR Not enough memory to write total of 8447392 bytes. Please check that /dev/shm or the directory you specified has more available memory.",
        ],
        ..SM
    },
    Cause {
        id: "ucx.gdrcopy_version",
        sign: r"could not open gdr copy, built for v(?<built>\S+) but loaded v(?<loaded>\S+)",
        counts: Counts::Warn,
        says: "UCX was built for gdrcopy {built} and finds {loaded}",
        means: "Small transfers of GPU memory take another way.",
        act: "install the gdrcopy library and module of one version",
        remedy: Remedy::Install,
        sources: &[seen("https://github.com/openucx/ucx (src/uct/cuda/gdr_copy)", "2026-11-30")],
        samples: &["UCX  WARN  could not open gdr copy, built for v2.4 but loaded v2.1"],
        ..TOOL
    },
    Cause {
        id: "ucx.thread_multiple",
        sign: "UCP worker does not support MPI_THREAD_MULTIPLE",
        says: "this UCX was built without threads",
        means: "The program asks for MPI_THREAD_MULTIPLE, and UCX needs `--enable-mt` for it.",
        act: "install a UCX that was built with `--enable-mt` (`ucx_info -b | grep MT`; the one of HPC-X's mt directory), or run with `--mca pml ob1`",
        remedy: Remedy::Install,
        sure: Sure::Confirmed,
        sources: &[seen("https://github.com/open-mpi/ompi/issues/7768", "2020-05-27")],
        samples: &["[a1:14245] pml_ucx.c:285  Error: UCP worker does not support MPI_THREAD_MULTIPLE"],
        ..TOOL
    },
    Cause {
        id: "ucx.fork",
        sign: r"ibv_fork_init\(\) was disabled or failed, yet a fork\(\) has been issued",
        counts: Counts::Warn,
        says: "a program with RDMA memory started another process",
        means: "Memory of the card may be wrong in the parent afterwards on kernels before 5.12.",
        act: "set UCX_IB_FORK_INIT=y, or start other programs before MPI_Init",
        remedy: Remedy::Settings,
        samples: &["UCX  WARN  IB: ibv_fork_init() was disabled or failed, yet a fork() has been issued."],
        ..IB
    },
    Cause {
        id: "ucx.crash",
        sign: r"Caught signal (?<signal>\d+) \((?<what>[^:)]*)",
        role: Role::Effect,
        says: "a rank crashed: signal {signal} ({what})",
        means: "UCX only prints it; the fault is in the program or in a library of the backtrace.",
        act: "read the backtrace below from the top: the first frame that is not UCX or libc names the library",
        samples: &["[gpu0:12345:0:12345] Caught signal 8 (Floating point exception: integer divide by zero)"],
        ..UCS
    },
    Cause {
        id: "ucx.cuda_call",
        sign: r"UCX +ERROR +cu(?:MemGetAddressRange|IpcOpenMemHandle|IpcGetMemHandle|CtxGetDevice|DeviceGet|PointerGetAttribute)[A-Za-z_0-9]*\(?.*(?:error|failed)",
        says: "UCX could not use memory of a GPU",
        means: "The context of CUDA was not made or not current in this thread, the memory is of a kind that cannot be shared (a pool, a virtual mapping), or processes see different GPUs or namespaces.",
        act: "set the device before MPI_Init (`cudaSetDevice` by the local rank); `UCX_TLS=^cuda_ipc` as a test, and `UCX_MEMTYPE_CACHE=n` for older UCX; in containers share the PID namespace",
        remedy: Remedy::Settings,
        sure: Sure::Guess,
        samples: &[
            "[1234.5678] [gpu01:1234 :0] cuda_copy_md.c:341 UCX  ERROR cuMemGetAddressRange(0x7f) error: invalid device context",
        ],
        ..UCS
    },
    Cause {
        id: "ucx.connect",
        sign: r"UCX +ERROR +(?:\S+ )*connect\(.*dest_addr=(?<address>[^)]+)\) failed: (?<why>.+)|UCX +ERROR +.*dest_addr=(?<other>[^)]+)\) failed: (?<reason>Connection timed out|No route to host|Network is unreachable)",
        says: "UCX could not connect over TCP to {address}: {why}",
        means: "The address is one that this host does not reach: of another network (of a bridge, of management, of IPoIB without a way), behind a firewall, or its host has too short a queue for many ranks at once.",
        act: "see of which device it is (`ip -br a` on that host): name the right ones in UCX_NET_DEVICES (`mlx5_0:1`, or one Ethernet device with `UCX_TLS=tcp,self,sm`); then `nc -vz ADDRESS PORT`, firewalls, and net.core.somaxconn where only big jobs fail",
        remedy: Remedy::Settings,
        sure: Sure::Guess,
        sources: &[
            seen("https://github.com/openucx/ucx/issues/8448", "2022-08-12"),
            seen("https://github.com/open-mpi/ompi/issues/8003", "2020-08-14"),
        ],
        samples: &[
            "[1660340564.784335] [n097:127549:0]            sock.c:327  UCX  ERROR   connect(fd=45, dest_addr=192.0.2.98:41748) failed: Connection timed out",
        ],
        ..UCS
    },
    Cause {
        id: "ucx.gid",
        sign: r"UCX +(?:ERROR|WARN|DIAG) +.*[Ii]nvalid gid\[(?<index>\d+)\] on (?<device>[^ ]+)|UCX +ERROR +.*failed to (?:query|find) (?:a )?(?:suitable )?gid",
        says: "a port has no GID of that index[: {index} on {device}]",
        means: "UCX looks at all ports that are up; this one has no address of the chosen index (no IPv4 address, RoCE v1 only, a device of another network or another container).",
        act: "name the ports that belong to the fabric (`UCX_NET_DEVICES=mlx5_0:1`), which may differ between hosts, and the index that `show_gids` has for RoCE v2 with an address (UCX_IB_GID_INDEX)",
        remedy: Remedy::Settings,
        sources: &[seen("https://github.com/openucx/ucx/issues/4966", "2020-04-03")],
        samples: &[
            "[1585882859.110274] [gpu0:63427:0]      ib_device.c:918  UCX  ERROR Invalid gid[0] on mlx5_6:1",
        ],
        ..UCS
    },
    Cause {
        id: "ucx.endpoint_more",
        sign: r"Failed to resolve UCX endpoint for rank \d+|UCX +ERROR +failed to allocate address list",
        role: Role::Effect,
        says: "UCX could not connect to another rank",
        means: "The reason stands in the lines of UCX before.",
        act: "look at the first line with `UCX  ERROR` before this one",
        samples: &["[gpu1:1581048] pml_ucx.c:472 Error: Failed to resolve UCX endpoint for rank 9"],
        ..UCS
    },
    Cause {
        id: "ucx.endpoint",
        sign: r"mm ep failed to connect to remote FIFO|ucp_ep_create\(proc=\S+\) failed: (?<why>.*)|Failed to create UCP worker|UCX ep .*(Connection reset by remote peer|Endpoint timeout)|PML add procs failed",
        role: Role::Effect,
        says: "UCX could not connect to another rank[: {why}]",
        means: "The reason stands in the lines of UCX before.",
        act: "look at the first line with `UCX  ERROR` before this one",
        samples: &["pml_ucx.c:424  Error: ucp_ep_create(proc=1) failed: Shared memory error"],
        ..PML
    },
    Cause {
        id: "mpi.hydra_launch",
        sign: r"unable to run bstrap_proxy on (?<host>\S+)|HYD\w*_(bstrap|launch)\S*.*(unable to|failed)|Couldn't execute.*hydra_bstrap_proxy",
        says: "mpiexec cannot start its proxy[ on {host}]",
        means: "ssh to that host asks for something or fails, the MPI is not at the same path there, or within Slurm srun fails.",
        act: "`ssh HOST true` must work without a question; see that the MPI is at the same path there; in a job of Slurm try `I_MPI_HYDRA_BOOTSTRAP=slurm` (or ssh)",
        remedy: Remedy::Settings,
        sure: Sure::Guess,
        samples: &[
            "[mpiexec@gpu0] check_exit_codes (../../../../../src/pm/i_hydra/libhydra/demux/hydra_demux_poll.c:117): unable to run bstrap_proxy on gpu1 (pid 4242, exit code 65280)",
        ],
        ..HYDRA
    },
    Cause {
        id: "mpi.hydra_connect",
        sign: r#"unable to connect from "(?<from>[^"]+)" to "(?<to>[^"]+)" \((?<why>[^)]+)\)"#,
        role: Role::Effect,
        says: "the proxy on {from} does not reach mpiexec on {to}: {why}",
        means: "A name leads to a loopback address, or a firewall is between.",
        act: "`getent hosts {to}` on {from}: not 127.0.1.1 (`system.own_name`); open the hosts to each other, or set `-iface` or I_MPI_HYDRA_IFACE to the right network",
        remedy: Remedy::Settings,
        samples: &[
            r#"[proxy:0:1@gpu1] HYDU_sock_connect (utils/sock/sock.c:146): unable to connect from "gpu1" to "gpu0" (Connection refused)"#,
        ],
        ..HYDRA
    },
    Cause {
        id: "mpi.intel_fabric",
        sign: r"(?<fabric>dapl|tmi|ofa|ofi|tcp) fabric is not available and fallback fabric is not enabled|OFI addrinfo\(\) failed|OFI fi_getinfo\(\) failed|no tag-matching transport",
        says: "Intel MPI finds no provider of libfabric that it may use[ ({fabric})]",
        means: "FI_PROVIDER or I_MPI_OFI_PROVIDER names one that is not there, an old name of a fabric is set, or the card's libraries are missing.",
        act: "unset I_MPI_FABRICS, FI_PROVIDER and I_MPI_OFI_PROVIDER; `fi_info` lists the providers; take mlx (UCX), verbs or tcp by FI_PROVIDER",
        remedy: Remedy::Settings,
        sources: &[seen(
            "https://www.intel.com/content/www/us/en/docs/mpi-library/developer-guide-linux/2021-15/error-message-fatal-error.html",
            "2025-03-31",
        )],
        samples: &[
            "MPI startup(): dapl fabric is not available and fallback fabric is not enabled",
            "MPIDI_OFI_mpi_init_hook(1500): OFI addrinfo() failed (ofi_init.c:1500:MPIDI_OFI_mpi_init_hook:No data available)",
        ],
        ..TOOL
    },
    Cause {
        id: "mpi.intel_interface",
        sign: r"OFI tagged inject failed .*Transport endpoint is not connected|OFI \w+( \w+)* failed .*(Transport endpoint is not connected|No route to host)",
        says: "libfabric took a network that the other hosts do not reach",
        means: "The provider for TCP or verbs chose an interface by itself.",
        act: "set FI_TCP_IFACE (tcp), FI_VERBS_IFACE (verbs) or FI_SOCKETS_IFACE (sockets) to the interface that all hosts share",
        remedy: Remedy::Settings,
        sources: &[seen(
            "https://www.intel.com/content/www/us/en/docs/mpi-library/developer-guide-linux/2021-15/error-message-fatal-error.html",
            "2025-03-31",
        )],
        samples: &[
            "MPIDI_OFI_send_handler(704)............: OFI tagged inject failed (ofi_impl.h:704:MPIDI_OFI_send_handler:Transport endpoint is not connected)",
        ],
        ..TOOL
    },
    Cause {
        id: "mpi.bad_termination",
        sign: r"KILLED BY SIGNAL: (?<signal>\d+) \((?<what>[^)]*)\)|EXIT STRING: (?<text>.*)",
        role: Role::Effect,
        says: "a rank ended[ by signal {signal} ({what})][: {text}]",
        means: "With 9 (Killed) the kernel's or the job's memory limit is usual; with 11 a fault of the program.",
        act: "look for the first error of that rank, and for OOM in the kernel's log",
        samples: &["=   KILLED BY SIGNAL: 9 (Killed)"],
        ..INTEL
    },
    Cause {
        id: "mpi.bad_termination_head",
        sign: "BAD TERMINATION OF ONE OF YOUR APPLICATION PROCESSES|YOUR APPLICATION TERMINATED WITH",
        role: Role::Summary,
        says: "mpiexec says that a rank ended badly",
        means: "It only sums up.",
        act: "look at the first error before",
        samples: &["=   BAD TERMINATION OF ONE OF YOUR APPLICATION PROCESSES"],
        ..INTEL
    },
    Cause {
        id: "mpi.truncate",
        sign: r"MPI_ERR_TRUNCATE: message truncated|Message truncated; \d+ bytes received but buffer size is",
        says: "a rank sent more than the other one receives",
        means: "Counts or types of the two calls do not agree: a fault of the program or of its input.",
        act: "compare the sizes of the send and the receive in the program; with collectives see that each rank gives the same count",
        remedy: Remedy::Settings,
        sources: &[seen("https://github.com/open-mpi/ompi (ompi/errhandler)", "2026-11-30")],
        samples: &["[gpu0:1234] *** MPI_ERR_TRUNCATE: message truncated"],
        ..TOOL
    },
    Cause {
        id: "mpi.daemon_status",
        sign: r"A daemon( \(pid \S+\))? died unexpectedly (with status|on signal) (?<status>\d+)",
        role: Role::Effect,
        says: "mpirun's daemon on another node ended with status {status}",
        means: "127 is a command that was not found there, 255 is ssh itself; another one most often a missing library.",
        act: "`ssh NODE orted --version` (or prted) must work without a question; then PATH and LD_LIBRARY_PATH of a shell that is not a login shell, or `--prefix`",
        remedy: Remedy::Settings,
        sure: Sure::Guess,
        samples: &["A daemon (pid 4242) died unexpectedly with status 127 while attempting"],
        ..PLM
    },
    Cause {
        id: "mpi.daemon_failed",
        sign: "(An? )?(ORTE|PRTE|PRRTE) daemon has unexpectedly failed after launch|(ORTE|PRTE|PRRTE|mpirun|prterun|prte) was unable to reliably start one or more daemons|Open MPI daemon has unexpectedly failed",
        role: Role::Effect,
        says: "mpirun could not start its daemons on other nodes",
        means: "ssh or srun failed, Open MPI is not at the same place there, the daemon does not reach mpirun, or this Open MPI was built without Slurm and the cluster lets no ssh in. The list that Open MPI prints is general.",
        act: "cheapest first: in a job of Slurm `srun ./program`: where that works this mpirun lacks Slurm (`ompi_info | grep -i slurm`), so use srun or a build `--with-slurm`. Elsewhere `ssh NODE orted --version`; then name the network (`--mca oob_tcp_if_include 192.0.2.0/24`) and look at the firewall",
        remedy: Remedy::Settings,
        sure: Sure::Guess,
        sources: &[
            seen(
                "https://github.com/open-mpi/ompi (orte/mca/errmgr/base/help-errmgr-base.txt, v4.1.x)",
                "2026-11-30",
            ),
            seen("https://github.com/NVIDIA/deepops/issues/409", "2020-01-15"),
        ],
        samples: &[
            "ORTE was unable to reliably start one or more daemons.",
            "An ORTE daemon has unexpectedly failed after launch and before",
        ],
        ..TOOL
    },
    Cause {
        id: "mpi.daemon_lost",
        sign: "(ORTE|PRTE|PRRTE) has lost communication with a remote daemon|(ORTE|PRTE|PRRTE) (does not know how to route a message|is unable to establish a communication connection) to the|An MPI communication peer process has unexpectedly disconnected|required daemon terminated during execution",
        near: &[r"Remote daemon: \S+ on node (?<node>\S+)", r"(target node|Peer host): +(?<peer>\S+)"],
        role: Role::Effect,
        says: "mpirun lost another node[: {node}][: {peer}]",
        means: "The node went down, its network broke, or a rank there crashed.",
        act: "look at that node: `uptime`, its kernel's log (OOM, Xid, link down), and the first rank that ended",
        sure: Sure::Guess,
        samples: &["ORTE has lost communication with a remote daemon."],
        ..ERRMGR
    },
    Cause {
        id: "mpi.rank_signal",
        sign: r"noticed that process rank (?<rank>\d+) with PID \d+ on node (?<node>\S+) exited on signal (?<signal>\d+)( \((?<what>[^)]*)\))?",
        role: Role::Effect,
        says: "rank {rank} on {node} ended by signal {signal}[ ({what})]",
        means: "With 9 (Killed) a memory limit is usual, with 11 or 6 a fault of the program, with 7 (Bus error) a full /dev/shm.",
        act: "look for the first error of that rank; with 9 for OOM in the kernel's log and the job's limit; with 7 at `df -h /dev/shm`",
        samples: &[
            "mpirun noticed that process rank 3 with PID 4242 on node gpu1 exited on signal 9 (Killed).",
        ],
        ..RUN
    },
    Cause {
        id: "mpi.crash",
        sign: r"\] Signal: (?<what>[A-Z][A-Za-z ]+) \((?<signal>\d+)\)",
        role: Role::Effect,
        says: "a rank crashed: {what}",
        means: "Open MPI only prints it; the fault is in the program or in a library of the backtrace.",
        act: "read the backtrace below from the top: the first frame that is not libc names the library; with 7 (Bus error) look at `df -h /dev/shm`",
        sources: &[seen("https://github.com/open-mpi/ompi (opal/util/stacktrace.c)", "2026-11-30")],
        samples: &["[gpu01:193313] Signal: Segmentation fault (11)"],
        ..TOOL
    },
    Cause {
        id: "mpi.abort",
        sign: r"MPI_ABORT was invoked on rank (?<rank>\d+)|application called MPI_Abort\((?<code>[^)]*)\)",
        role: Role::Effect,
        says: "the program ended itself[ on rank {rank}][ ({code})]",
        means: "It called MPI_Abort, and says why before.",
        act: "look for the program's own error before this line",
        sources: &[seen("https://github.com/open-mpi/ompi (ompi/mpi/help-mpi-api.txt)", "2026-11-30")],
        samples: &["MPI_ABORT was invoked on rank 0 in communicator MPI_COMM_WORLD"],
        ..TOOL
    },
    Cause {
        id: "mpi.error",
        sign: r"\*\*\* (?<error>MPI_ERR_\w+): (?<why>.*)|Fatal error in P?MPI_(?<call>\w+): (?<what>.*)",
        role: Role::Effect,
        says: "MPI gave up[: {error}, {why}][: {what} in {call}]",
        means: "The program or a transport below gave MPI an error; lines before say which.",
        act: "look at the first error before this line",
        sources: &[seen(
            "https://github.com/open-mpi/ompi (ompi/errhandler/help-mpi-errors.txt)",
            "2026-11-30",
        )],
        samples: &["[gpu0:1234] *** MPI_ERR_INTERN: internal error"],
        ..TOOL
    },
    Cause {
        id: "mpi.init_failed",
        sign: r#"It looks like (\S+ failed for some reason|MPI_INIT failed|orte_init failed|opal_init failed|"?prte_init)|An error occurred in MPI_Init|Error: Cannot start MPI_Init"#,
        role: Role::Effect,
        says: "MPI did not start",
        means: "The reason stands before this line, or in the words behind it.",
        act: "look at the first error before this line",
        samples: &["It looks like MPI_INIT failed for some reason; your parallel process is"],
        ..RUNTIME
    },
    Cause {
        id: "mpi.gds_lock",
        sign: r"PMIX ERROR: ERROR in file \S*gds_ds(12|21)_lock_pthread\.c",
        counts: Counts::Note,
        says: "PMIx of this release reports a lock of its shared memory",
        means: "It is a fault of PMIx in Open MPI 4.0.3 and near it; programs run. PMIX_MCA_gds=hash silences it.",
        sources: &[seen("https://github.com/open-mpi/ompi/issues/7516", "2020-03-26")],
        samples: &["[gpu0:36606] PMIX ERROR: ERROR in file gds_ds12_lock_pthread.c at line 206"],
        ..TOOL
    },
    Cause {
        id: "mpi.unreadable_message",
        sign: "(ORTE_ERROR_LOG|PRTE ERROR|PMIX ERROR|OPAL ERROR): .*(Data unpack|Pack data mismatch|[Uu]npack|UNPACK|PACK-MISMATCH|PACK_MISMATCH)",
        role: Role::Effect,
        says: "mpirun, a daemon or a rank got a message that it cannot read",
        means: "Most often two releases of Open MPI, PRRTE or PMIx are mixed, on one host or between hosts. Some releases of 4.0 had such a fault of their own.",
        act: r#"compare `which mpirun`, `mpirun --version` and `ldd PROGRAM | grep -E "libmpi|libpmix"` on each host, also over ssh: use one installation everywhere (the playbook `openmpi`); where they are equal, take a newer release"#,
        sure: Sure::Guess,
        sources: &[
            seen("https://github.com/openpmix/openpmix", "2026-11-30"),
            seen("https://github.com/open-mpi/ompi/issues/7015", "2019-09-26"),
        ],
        samples: &[
            "[gpu0:1234] [[43015,0],0] ORTE_ERROR_LOG: Data unpack would read past end of buffer in file util/show_help.c at line 501",
            "[gpu0:1234] PMIX ERROR: UNPACK-PAST-END in file unpack.c at line 213",
        ],
        ..TOOL
    },
    Cause {
        id: "mpi.init_codes",
        sign: r#"^ *--> Returned "(?<why>[^"]+)" \((?<code>-\d+)\) instead of "Success"|^likely to abort\."#,
        role: Role::Summary,
        says: "MPI_Init failed[: {why}]",
        means: "Open MPI counts up the layer that gave up. The reason stands in the lines before.",
        act: "look at the lines before it",
        samples: &[r#"  --> Returned "Not found" (-13) instead of "Success" (0)"#],
        ..RUNTIME
    },
    Cause {
        id: "mpi.pmix_server_unreached",
        sign: r"PMIX ERROR: PMIX TEMPORARILY UNAVAILABLE in file (?<file>ptl_\S+)",
        says: "a rank does not reach the PMIx server that started it ({file})",
        means: "The library in the rank and the server of mpirun or slurmstepd do not meet: another PMIx or Open MPI in the container than on the host, or the server's session directory is not visible inside. With very many ranks on one host it may be too slow to answer.",
        act: "compare `ompi_info --version` (and the PMIx line of `ompi_info`) inside of the container and on the host: take an image with the host's release; bind the session directory (TMPDIR, mostly /tmp) into the container; then try with fewer ranks",
        remedy: Remedy::Install,
        sure: Sure::Guess,
        sources: &[
            seen("https://github.com/apptainer/singularity/issues/3678", "2019-06-14"),
            seen("https://github.com/apptainer/singularity/issues/5203", "2020-04-09"),
        ],
        samples: &["[gpu0] PMIX ERROR: PMIX TEMPORARILY UNAVAILABLE in file ptl_tcp.c at line 688"],
        ..PMIX
    },
    Cause {
        id: "mpi.pml_differs",
        sign: r"selected pml (?<mine>\w+), but peer \S+(?: on (?<peer>\S+))? selected pml (?<theirs>\w+)",
        says: "ranks took different ways to talk: {mine} here, {theirs} at a peer[ on {peer}]",
        means: "Each rank chooses by the devices it finds. Some did not find the RDMA card at that moment, or the hosts have different cards or plugins.",
        act: "name one for all: `--mca pml ucx` (or `--mca pml ob1 --mca btl self,vader,tcp` without RDMA); Open MPI 4.1.2 and newer find the devices more reliably; where a host stays the odd one, compare `ucx_info -d` of both",
        remedy: Remedy::Settings,
        sources: &[
            seen("https://github.com/open-mpi/ompi/issues/9617", "2021-12-27"),
            seen("https://github.com/openucx/ucx/issues/4224", "2022-02-17"),
        ],
        samples: &[
            "[gpu1:25388] [[64574,1],8] selected pml cm, but peer [[64574,1],0] on gpu1 selected pml ucx",
        ],
        ..PMIX
    },
    Cause {
        id: "mpi.error_log",
        sign: r"(ORTE_ERROR_LOG|PRTE ERROR|PMIX ERROR|OPAL ERROR): (?<why>.+?) in file (?<file>\S+)",
        role: Role::Effect,
        says: "Open MPI or PMIx reports: {why} ({file})",
        means: "It is one step of a failure; a line before or behind has words for people.",
        act: "look at the text between lines of dashes near this one",
        sure: Sure::Guess,
        samples: &["[gpu0:1234] ORTE_ERROR_LOG: Not found in file ess_hnp_module.c at line 320"],
        ..PMIX
    },
    Cause {
        id: "mpi.fatal_summary",
        sign: r"MPI_ERRORS_ARE_FATAL \(|Primary job\s+terminated normally, but|^a non-zero exit code|detected that one or more processes exited with non-zero status|Per user-direction, the job has been aborted|has exited due to process rank (?<rank>\d+)",
        role: Role::Summary,
        says: "mpirun ended the job",
        means: "It only sums up; a rank ended before.",
        act: "look for the first rank that ended and its error",
        samples: &[
            "mpirun detected that one or more processes exited with non-zero status, thus causing",
            "[gpu0:1234] *** MPI_ERRORS_ARE_FATAL (processes in this communicator will now abort,",
        ],
        ..ERRMGR
    },
    Cause {
        id: "mpi.no_command",
        sign: r"\b(?<command>mpirun|mpiexec|mpicc|mpicxx|mpifort|prterun|ompi_info|ucx_info): (command )?not found",
        says: "{command} is not installed, or not on this PATH",
        means: "On the RHEL family an installed Open MPI must be loaded first (`module load mpi/openmpi-x86_64`).",
        act: "load its module or add its bin directory to PATH, or install it (the playbook `openmpi`)",
        remedy: Remedy::Settings,
        sources: &[seen(
            "https://github.com/open-mpi/ompi (docs/launching-apps/prerequisites.rst, v5.0.x)",
            "2026-11-30",
        )],
        samples: &["bash: mpirun: command not found"],
        ..TOOL
    },
];
