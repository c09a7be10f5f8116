//! Steps of Slurm: daemons of steps, options of pyxis, tools that enroot calls; and settings of slurmdbd and tokens.

use super::super::cause::{Cause, Counts, Remedy, Role, Sure, TOOL, seen};

pub(in crate::causes) const ROWS: &[Cause] = &[
    Cause {
        id: "slurm.dbd_host",
        sign: r"This host not configured to run SlurmDBD \((?<here>\S+) != (?<there>[^ |)]+)",
        says: "slurmdbd runs on {here}, and DbdHost of slurmdbd.conf is {there}",
        means: "slurmdbd starts only on the host that its file names, by the short name of the host.",
        act: "set DbdHost (or DbdBackupHost) to what `hostname -s` prints there, or start slurmdbd on the other host",
        remedy: Remedy::Settings,
        sure: Sure::Confirmed,
        sources: &[
            seen("https://github.com/SchedMD/slurm (src/slurmdbd/slurmdbd.c)", "2026-12-01"),
            seen("https://github.com/elasticluster/elasticluster/pull/255", "2017-01-18"),
        ],
        samples: &[
            "[2017-01-18T16:05:30.000] fatal: This host not configured to run SlurmDBD (vm-1-74 != frontend001 | (backup) (null))",
        ],
        ..TOOL
    },
    Cause {
        id: "slurm.gres_lines",
        sign: r"Invalid GRES record for \S+,? (count does not match File value|invalid count)|Invalid GRES record name=",
        says: "a line of gres.conf does not fit itself",
        means: "Count is not the number of files of File, or flags of one node differ from line to line.",
        act: "leave Count out where File names devices, write one line for each type, or `AutoDetect=nvml` alone",
        remedy: Remedy::Settings,
        sure: Sure::Confirmed,
        sources: &[seen("https://github.com/SchedMD/slurm (src/interfaces/gres.c)", "2026-12-01")],
        samples: &["slurmd: fatal: Invalid GRES record for gpu, count does not match File value"],
        ..TOOL
    },
    Cause {
        id: "slurm.gres_count_changed",
        sign: r"gres/\S+: Count changed on node (?<node>\S+) \((?<before>\d+) != (?<now>\d+)\)",
        says: "the node {node} reports {now} devices where {before} were known",
        means: "GPUs were added or lost, or MIG was divided anew. With fewer than slurm.conf says the node is drained by its own line.",
        follows: &["slurm.gres_count"],
        counts: Counts::Warn,
        act: "`nvidia-smi -L` on the node: where a GPU is missing look at its Xid; where it was meant correct Gres= of the node, restart slurmctld and slurmd",
        remedy: Remedy::Settings,
        sure: Sure::Likely,
        sources: &[
            seen("https://github.com/SchedMD/slurm (src/interfaces/gres.c)", "2026-12-01"),
            seen("https://github.com/ComputeCanada/puppet-magic_castle/issues/361", "2024-05-23"),
        ],
        samples: &["slurmctld: _node_config_validate: gres/gpu: Count changed on node nodegpu1 (4 != 3)"],
        ..TOOL
    },
    Cause {
        id: "slurm.step_daemon_gone",
        sign: r"_?s?tepd?_?connect[^:]*: connect\(\) failed for \S+|stepd_connect to \S+ failed",
        says: "slurmd does not reach the daemon of a step",
        means: "The step ended, or its slurmstepd was killed, and its socket is left. slurmd cleans it up.",
        role: Role::Effect,
        counts: Counts::Warn,
        act: "nothing where the job is over; else look why slurmstepd died (`dmesg`, `coredumpctl`, memory of the node)",
        sure: Sure::Likely,
        sources: &[seen("https://github.com/SchedMD/slurm (src/common/stepd_api.c)", "2026-12-01")],
        samples: &[
            "slurmd: error: _step_connect: connect() failed for /var/spool/slurmd/gpu1_12.0: Connection refused",
        ],
        ..TOOL
    },
    Cause {
        id: "slurm.job_namespace",
        sign: r"setns failed for (?<path>\S+)",
        says: "the folders of a job (job_container/tmpfs, namespace/tmpfs) are not there",
        means: "slurmd was started again or the base path was cleaned while the job ran, and its mount namespace is gone.",
        act: "end the job and resume the node; keep BasePath of job_container.conf out of cleaning of /tmp, and do not restart slurmd with KillMode=control-group",
        remedy: Remedy::Settings,
        sure: Sure::Guess,
        sources: &[seen("https://github.com/SchedMD/slurm (src/plugins/namespace/tmpfs)", "2026-12-01")],
        samples: &[
            "slurmstepd: error: container_p_join: setns failed for /var/nvme/123/.ns: Invalid argument",
        ],
        ..TOOL
    },
    Cause {
        id: "slurm.token",
        sign: "(initial )?jwt_decode failure|JWT token expired|auth/jwt.*(expired|cannot decode)",
        says: "a token (JWT) is not valid for this Slurm",
        means: "It has expired, was made with another key, or the clocks differ.",
        act: "make a new one (`scontrol token lifespan=3600`), compare jwt_hs256.key on slurmctld and slurmdbd, and the clocks",
        remedy: Remedy::Settings,
        sure: Sure::Likely,
        sources: &[seen("https://github.com/SchedMD/slurm (src/plugins/auth/jwt)", "2026-12-01")],
        samples: &["slurmctld: error: auth_p_verify: jwt_decode failure: Invalid argument"],
        ..TOOL
    },
    Cause {
        id: "pyxis.option",
        sign: r#"pyxis: .*(argument required|invalid (format|value)|specified multiple times|were specified|unknown (namespace|configuration option)|must be (a |")|target is a directory|empty name)"#,
        says: "an option of srun for pyxis, or a setting of pyxis, is written wrongly",
        means: "The words name it. Nothing of the node is at fault.",
        act: "correct that option: `srun --help | grep -A2 container`; settings stand behind spank_pyxis.so in plugstack.conf",
        remedy: Remedy::Settings,
        sure: Sure::Confirmed,
        sources: &[seen("https://github.com/NVIDIA/pyxis (args.c, config.c)", "2026-12-01")],
        samples: &["slurmstepd: error: pyxis: --container-mounts: invalid format: /data"],
        ..TOOL
    },
    Cause {
        id: "pyxis.no_container",
        sign: r#"pyxis: error: (a container with name "(?<name>[^"]*)" does not exist|"exec" flag was passed|"create" flag was passed)"#,
        says: "the container that the step names is not as it says[: {name}]",
        means: "A named container lives on the node where it was made, in the data folder of enroot of that user, and in one job unless container_scope is global.",
        act: "give --container-image as well, or use the same nodes; `container_scope=global` of pyxis keeps it between jobs; `enroot list` on the node shows what is there",
        remedy: Remedy::Settings,
        sources: &[
            seen("https://github.com/NVIDIA/pyxis (pyxis_slurmstepd.c)", "2026-12-01"),
            seen("https://github.com/NVIDIA/enroot/issues/249", "2025-09-25"),
        ],
        samples: &[
            r#"slurmstepd: error: pyxis: error: a container with name "pyxis_nemo" does not exist, and --container-image is not set"#,
        ],
        ..TOOL
    },
    Cause {
        id: "pyxis.ignored",
        sign: "pyxis: ignoring --",
        says: "pyxis leaves an option out",
        means: "It has a meaning only with --container-image or --container-name.",
        counts: Counts::Note,
        act: "nothing, or give the image",
        sure: Sure::Confirmed,
        sources: &[seen("https://github.com/NVIDIA/pyxis (args.c)", "2026-12-01")],
        samples: &[
            "slurmstepd: error: pyxis: ignoring --container-mounts because neither --container-image nor --container-name is set",
        ],
        ..TOOL
    },
    Cause {
        id: "pyxis.namespace",
        sign: r"pyxis: (couldn't join \S+ namespace|unable to open \S+ namespace file|couldn't read (container environment|/proc/\d+/environ))",
        says: "pyxis could not enter the container that it had started",
        means: "The first process of the container ended in the meantime, or the kernel forbids it.",
        role: Role::Effect,
        act: "look at the lines of enroot before it and at the program of the image (`--container-entrypoint`); try `enroot start` of that image on the node",
        remedy: Remedy::Settings,
        sure: Sure::Guess,
        sources: &[seen("https://github.com/NVIDIA/pyxis (pyxis_slurmstepd.c)", "2026-12-01")],
        samples: &["slurmstepd: error: pyxis: couldn't join mount namespace: Operation not permitted"],
        ..TOOL
    },
    Cause {
        id: "pyxis.importer",
        sign: r"pyxis: importer \S+ (failed with exit code|terminated with)|pyxis: importer did not return",
        says: "the importer of images that pyxis calls failed",
        means: "A site has set its own importer, and its words stand before.",
        role: Role::Effect,
        act: "run that program by hand on the node as the user",
        remedy: Remedy::Settings,
        sure: Sure::Likely,
        sources: &[seen("https://github.com/NVIDIA/pyxis (importer.c)", "2026-12-01")],
        samples: &["slurmstepd: error: pyxis: importer /usr/local/bin/import failed with exit code 2"],
        ..TOOL
    },
    Cause {
        id: "enroot.no_caps",
        sign: "enroot-(aufs2ovlfs|mksquashovlfs): failed to set capabilities",
        says: "the tools of enroot have no capabilities",
        means: "They need CAP_SYS_ADMIN and others as file capabilities, which the package enroot+caps sets. A copy of the tools, or a mount with nosuid, has none; in a container the outer one has to give them.",
        act: "install enroot+caps of the same version, and look at `getcap $(command -v enroot-aufs2ovlfs)` and the options of its mount",
        remedy: Remedy::Install,
        sources: &[
            seen("https://github.com/NVIDIA/enroot/issues/141", "2022-11-18"),
            seen("https://github.com/NVIDIA/enroot/issues/260", "2026-01-22"),
        ],
        samples: &["enroot-aufs2ovlfs: failed to set capabilities: Operation not permitted"],
        ..TOOL
    },
    Cause {
        id: "enroot.command",
        sign: r"\[ERROR\] Command not found: (?<command>[a-lo-z]\S*)",
        says: "enroot calls {command}, which is not installed here",
        means: "enroot is made of scripts, which need jq, curl, parallel, squashfs-tools, zstd and more.",
        act: "install {command} on all nodes (the package of enroot names what it depends on)",
        remedy: Remedy::Install,
        sure: Sure::Confirmed,
        sources: &[seen("https://github.com/NVIDIA/enroot (src/common.sh)", "2026-12-01")],
        samples: &["[ERROR] Command not found: parallel"],
        ..TOOL
    },
    Cause {
        id: "enroot.registry_code",
        sign: r"\[ERROR\] URL (?<url>\S+) returned error code: (?<code>5\d\d|000)",
        says: "the registry answered enroot with {code}",
        means: "The registry or a proxy before it has trouble of its own.",
        act: "try again, and by `curl -sI` from the node",
        remedy: Remedy::Settings,
        sources: &[seen("https://github.com/NVIDIA/enroot (src/docker.sh)", "2026-12-01")],
        samples: &[
            "[ERROR] URL https://nvcr.io/v2/nvidia/pytorch/manifests/24.99-py3 returned error code: 503 Service Unavailable",
        ],
        ..TOOL
    },
    Cause {
        id: "enroot.argument",
        sign: r"\[ERROR\] (Invalid argument: |No such file or directory: |Unsupported architecture: )(?<what>\S+)",
        says: "enroot cannot use {what}",
        means: "The image, the configuration file or the folder is not there on this node, or the value has another form than enroot wants.",
        act: "look at that path on the node as the user; images are named `docker://registry#image:tag`",
        remedy: Remedy::Settings,
        sure: Sure::Likely,
        sources: &[seen("https://github.com/NVIDIA/enroot (src/runtime.sh, src/docker.sh)", "2026-12-01")],
        samples: &["[ERROR] No such file or directory: /shared/images/pytorch.sqsh"],
        ..TOOL
    },
];
