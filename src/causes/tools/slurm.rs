//! Slurm: slurmctld, slurmd, slurmdbd, srun and sbatch, GRES, cgroups, pyxis and enroot (20.11 to 26.05).

use super::super::cause::{Cause, Counts, Remedy, Role, Sure, TOOL, When, Worse, seen};

const CONF: Cause = Cause {
    sources: &[seen("https://github.com/SchedMD/slurm (src/common/read_config.c)", "2026-11-30")],
    ..TOOL
};
const PARSE: Cause = Cause {
    sources: &[seen("https://github.com/SchedMD/slurm (src/common/parse_config.c)", "2026-11-30")],
    ..TOOL
};
const CTLD: Cause = Cause {
    sources: &[seen("https://github.com/SchedMD/slurm (src/slurmctld/controller.c)", "2026-11-30")],
    ..TOOL
};
const SLURMD: Cause = Cause {
    sources: &[seen("https://github.com/SchedMD/slurm (src/slurmd/slurmd/slurmd.c)", "2026-11-30")],
    ..TOOL
};
const REQ: Cause = Cause {
    sources: &[seen("https://github.com/SchedMD/slurm (src/slurmd/slurmd/req.c)", "2026-11-30")],
    ..TOOL
};
const STEPD: Cause = Cause {
    sources: &[seen("https://github.com/SchedMD/slurm (src/slurmd/slurmstepd/mgr.c)", "2026-11-30")],
    ..TOOL
};
const NODES: Cause = Cause {
    sources: &[seen("https://github.com/SchedMD/slurm (src/slurmctld/node_mgr.c)", "2026-11-30")],
    ..TOOL
};
const GRES: Cause = Cause {
    sources: &[seen("https://github.com/SchedMD/slurm (src/interfaces/gres.c)", "2026-11-30")],
    ..TOOL
};
const GPU: Cause = Cause {
    sources: &[seen("https://github.com/SchedMD/slurm (src/plugins/gpu/nvml/gpu_nvml.c)", "2026-11-30")],
    ..TOOL
};
const CGROUP: Cause = Cause {
    sources: &[seen("https://github.com/SchedMD/slurm (src/plugins/cgroup/v2)", "2026-11-30")],
    ..TOOL
};
const CGROUPS: Cause = Cause {
    sources: &[seen("https://github.com/SchedMD/slurm (src/interfaces/cgroup.c)", "2026-11-30")],
    ..TOOL
};
const FETCH: Cause = Cause {
    sources: &[seen("https://github.com/SchedMD/slurm (src/common/fetch_config.c)", "2026-11-30")],
    ..TOOL
};
const ERRNO: Cause = Cause {
    sources: &[seen("https://github.com/SchedMD/slurm (src/common/slurm_errno.c)", "2026-11-30")],
    ..TOOL
};
const PLUGIN: Cause = Cause {
    sources: &[seen("https://github.com/SchedMD/slurm (src/common/plugin.c)", "2026-11-30")],
    ..TOOL
};
const MYSQL: Cause = Cause {
    sources: &[seen("https://github.com/SchedMD/slurm (src/database/mysql_common.c)", "2026-11-30")],
    ..TOOL
};
const DBD: Cause = Cause {
    sources: &[seen(
        "https://github.com/SchedMD/slurm (src/plugins/accounting_storage/slurmdbd/slurmdbd_agent.c)",
        "2026-11-30",
    )],
    ..TOOL
};
const SRUN: Cause =
    Cause { sources: &[seen("https://github.com/SchedMD/slurm (src/srun)", "2026-11-30")], ..TOOL };
const SBATCH: Cause =
    Cause { sources: &[seen("https://github.com/SchedMD/slurm (src/sbatch)", "2026-11-30")], ..TOOL };
const PMIX: Cause = Cause {
    sources: &[seen("https://github.com/SchedMD/slurm (src/plugins/mpi/pmix/mpi_pmix.c)", "2026-11-30")],
    ..TOOL
};
const PYXIS: Cause = Cause { sources: &[seen("https://github.com/NVIDIA/pyxis", "2026-11-30")], ..TOOL };
const ENROOT: Cause = Cause { sources: &[seen("https://github.com/NVIDIA/enroot", "2026-11-30")], ..TOOL };

pub(in crate::causes) const ROWS: &[Cause] = &[
    Cause {
        id: "slurm.mailprog",
        sign: "Configured MailProg is invalid",
        counts: Counts::Note,
        says: "slurmctld finds no program for mails",
        means: "MailProg (/bin/mail if nothing is set) does not exist on the controller. Only mails of jobs need it.",
        sure: Sure::Confirmed,
        sources: &[
            seen("https://github.com/SchedMD/slurm (src/slurmctld/controller.c)", "2026-11-30"),
            seen("https://github.com/BiBiServ/bibigrid/issues/491", "2024-04-16"),
        ],
        samples: &["slurmctld: error: Configured MailProg is invalid"],
        ..TOOL
    },
    Cause {
        id: "slurm.bookkeeping",
        sign: r"High latency for \d+ calls to gettimeofday|Registered (?:Job|JobId=)\S+ without a job record|Orphan JobId=|agent waited too long for nodes to respond|Unable to unlink domain socket|CPU frequency setting not configured for this node|has invalid account$|Unexpected missing socket error",
        says: "Slurm cleans up behind nodes and jobs that were away",
        means: "slurmctld was started again or a node did not answer for a while, and both compare what they know.",
        counts: Counts::Note,
        samples: &[
            "slurmctld: error: Orphan JobId=12 reported on node gpu01",
            "slurmd: CPU frequency setting not configured for this node",
        ],
        ..CTLD
    },
    Cause {
        id: "slurm.settings_of_old",
        sign: r"is defunct, please remove it from slurm\.conf|Ignoring obsolete \S+ option|option is obsolete, please remove it|cgroup/v1 plugin is deprecated|If using PrologFlags=Contain for pam_slurm_adopt|has been replaced with \S+ and will be removed|has been renamed to \S+\. Please update your configuration|Ignoring (ControlMachine|ControlAddr|BackupController|BackupAddr) since SlurmctldHost is set",
        counts: Counts::Note,
        says: "Slurm passes over a setting of an older version",
        means: "Slurm runs all the same. The line can be taken out of its configuration.",
        sure: Sure::Confirmed,
        samples: &[
            r#"slurmctld: error: The CommunicationParameters option "NoAddrCache" is defunct, please remove it from slurm.conf."#,
            "slurmctld: error: If using PrologFlags=Contain for pam_slurm_adopt, proctrack/cgroup is required.  If not using pam_slurm_adopt, please ignore error.",
        ],
        ..CONF
    },
    Cause {
        id: "slurm.innodb_settings",
        sign: "Database settings not recommended values:",
        counts: Counts::Note,
        says: "the database has smaller buffers than SchedMD recommends",
        means: "slurmdbd runs. Large purges and conversions may take long or time out.",
        sure: Sure::Confirmed,
        sources: &[seen("https://slurm.schedmd.com/accounting.html", "2026-11-30")],
        samples: &[
            "slurmdbd: error: Database settings not recommended values: innodb_buffer_pool_size innodb_lock_wait_timeout",
        ],
        ..TOOL
    },
    Cause {
        id: "slurm.pid_directory",
        sign: "Unable to open pidfile [`'](?<file>[^']+)'",
        says: "a daemon of Slurm cannot write its pid file {file}",
        means: "Its directory below /run is missing after a boot, or does not belong to SlurmUser. The daemon runs on without it, but a unit of Type=forking fails.",
        counts: Counts::Warn,
        act: "make the directory at each boot (RuntimeDirectory=slurm in the unit, or a line in /etc/tmpfiles.d), owned by SlurmUser; or Type=simple with `-D`",
        remedy: Remedy::Settings,
        samples: &["error: Unable to open pidfile `/run/slurm/slurmd.pid': No such file or directory"],
        ..CTLD
    },
    Cause {
        id: "slurm.pid_file_late",
        sign: r"slurm\w*\.service: Can't open PID file (?<file>\S+) \(yet\?\) after start|PID file (?<path>/\S*slurm\w*\.pid) not readable \(yet\?\) after start",
        counts: Counts::Note,
        worse: &[Worse { when: When::Beside(&["slurm.start_timeout"]), counts: Counts::Fail }],
        says: "systemd did not find the process id of a daemon of Slurm at once",
        means: "The line alone is harmless. If the start then times out, PIDFile of the unit is not the file that slurm.conf or slurmdbd.conf names.",
        act: "make PIDFile= of the unit and SlurmctldPidFile, SlurmdPidFile or PidFile the same path, in a directory that SlurmUser may write (/run/slurm); then `systemctl daemon-reload`",
        sources: &[seen(
            "https://www.freedesktop.org/software/systemd/man/latest/systemd.service.html",
            "2026-11-30",
        )],
        samples: &[
            "Apr 12 10:01:33 ctl systemd[1]: slurmctld.service: Can't open PID file /run/slurmctld.pid (yet?) after start: Operation not permitted",
        ],
        ..TOOL
    },
    Cause {
        id: "slurm.pmix_permissions",
        sign: "PMIX ERROR: PMIX_ERR_NO_PERMISSIONS",
        counts: Counts::Note,
        says: "PMIx may not remove files of another step",
        means: "It stands in runs that pass as well.",
        sources: &[seen("https://github.com/MFlowCode/MFC/issues/1750", "2026-08-23")],
        samples: &["PMIX ERROR: PMIX_ERR_NO_PERMISSIONS in file dstore_base.c at line 237"],
        ..TOOL
    },
    Cause {
        id: "slurm.first_start",
        sign: r"Could not open \w+ state file \S+: No such file|error: Incomplete \S+ (data |state )?(checkpoint|save) file\s*$|NOTE: Trying backup (\w+ )?state save file|No \w+ state file \(\S+\) to recover",
        counts: Counts::Note,
        says: "slurmctld found no saved state",
        means: "A controller that starts for the first time has none. On one that had jobs StateSaveLocation is another directory than before.",
        samples: &[
            "slurmctld: error: Could not open node state file /var/spool/slurmctld/node_state: No such file or directory",
        ],
        ..NODES
    },
    Cause {
        id: "slurm.chdir_log",
        sign: r"error: chdir\(/var/log\S*\): Permission denied",
        counts: Counts::Note,
        says: "slurmctld does not start in the directory of its log",
        means: "SlurmUser may not enter or write there; the daemon takes another directory for its core files.",
        sure: Sure::Confirmed,
        samples: &["[2019-11-04T21:49:51.595] error: chdir(/var/log): Permission denied"],
        ..CTLD
    },
    Cause {
        id: "slurm.no_reverse_name",
        sign: r"_get_host: Lookup failed( for (?<address>\S+))?",
        counts: Counts::Note,
        says: "an address of the cluster has no name",
        means: "Slurm only wants it for its log.",
        sources: &[seen(
            "https://github.com/SchedMD/slurm (src/plugins/auth/munge/auth_munge.c)",
            "2026-11-30",
        )],
        samples: &["slurmctld: error: auth_p_get_host: Lookup failed for 192.0.2.30"],
        ..TOOL
    },
    Cause {
        id: "slurm.client_no_conf",
        sign: r"\b(?<program>srun|sbatch|salloc|sinfo|squeue|scontrol|scancel|sacct|sacctmgr|sattach|sbcast|sprio|sshare|sdiag|sstat|strigger|sview): (?:error|fatal): (?:resolve_ctls_from_dns_srv: res_nsearch|fetch_config: DNS SRV lookup failed|_establish_config_source: failed to fetch|Could not establish a configuration source)",
        says: "{program} finds no slurm.conf on this machine",
        means: "The file is missing where this program looks (/etc/slurm/slurm.conf, or SLURM_CONF), so it asks DNS for a controller as the last way. DNS is not broken.",
        act: "`ls -l /etc/slurm/slurm.conf; echo $SLURM_CONF`: bring slurm.conf back, as the controller has it (copy it, or restart the agent or sackd that writes it); no slurmd belongs on a login or head node",
        remedy: Remedy::Settings,
        sources: &[
            seen("https://github.com/awslabs/awsome-distributed-ai/issues/205", "2024-03-09"),
            seen("https://github.com/SchedMD/slurm (src/common/fetch_config.c)", "2026-12-01"),
        ],
        samples: &[
            "srun: error: resolve_ctls_from_dns_srv: res_nsearch error: Unknown host",
            "sinfo: error: fetch_config: DNS SRV lookup failed",
        ],
        ..TOOL
    },
    Cause {
        id: "slurm.configless_no_srv",
        sign: "(DNS SRV lookup failed|resolve_ctls_from_dns_srv: res_nsearch error)",
        says: "this host has no slurm.conf and finds no controller by DNS",
        means: "Without a local slurm.conf a program of Slurm asks DNS for a record _slurmctld._tcp, and there is none.",
        act: "give slurmd the controller (`slurmd --conf-server HOST`, or SLURMD_OPTIONS of its unit), or copy slurm.conf to /etc/slurm, or make the SRV record. On a login host run sackd or slurmd, or copy the file. The playbook `slurm` sets nodes up",
        remedy: Remedy::Settings,
        sources: &[
            seen("https://github.com/SchedMD/slurm (src/common/fetch_config.c)", "2026-11-30"),
            seen("https://slurm.schedmd.com/configless_slurm.html", "2026-11-30"),
        ],
        samples: &[
            "slurmd: error: fetch_config: DNS SRV lookup failed",
            "error: resolve_ctls_from_dns_srv: res_nsearch error: Unknown host",
        ],
        ..TOOL
    },
    Cause {
        id: "slurm.configless_disabled",
        sign: "Rejected request as configless is disabled|ConfigLess mode is disabled in slurm configuration",
        says: "the controller gives out no configuration",
        means: "slurmd asks for its configuration, and slurm.conf of the controller does not allow that.",
        act: "set SlurmctldParameters=enable_configless in slurm.conf of the controller and restart slurmctld, or copy slurm.conf to the node",
        remedy: Remedy::Settings,
        sure: Sure::Confirmed,
        sources: &[
            seen("https://github.com/SchedMD/slurm (src/common/slurm_errno.c)", "2026-11-30"),
            seen("https://slurm.schedmd.com/configless_slurm.html", "2026-11-30"),
        ],
        samples: &["slurmctld: error: _slurm_rpc_config_request: Rejected request as configless is disabled"],
        ..TOOL
    },
    Cause {
        id: "slurm.configless_not_ready",
        sign: "failed to fetch remote configs: (?<why>Unexpected message received|Unspecified error|Slurm backup controller in standby mode|Zero Bytes were transmitted or received|Message receive failure)",
        says: "slurmd asked for its configuration and the controller was not ready ({why})",
        means: "The most usual cause is a slurmctld that was just starting or restarting. An authentication that fails on either side does the same.",
        act: "wait until `scontrol ping` says UP, then restart slurmd; where it fails again, look into slurmctld's log of that second: munge (`munge -n | ssh HOST unmunge`), the versions of both sides, enable_configless",
        remedy: Remedy::Settings,
        passing: true,
        sure: Sure::Guess,
        sources: &[
            seen("https://github.com/SchedMD/slurm (src/common/fetch_config.c)", "2026-11-30"),
            seen("https://github.com/stackhpc/ansible-slurm-appliance/issues/443", "2024-09-25"),
        ],
        samples: &[
            "slurmd: error: _fetch_child: failed to fetch remote configs: Unexpected message received",
        ],
        ..TOOL
    },
    Cause {
        id: "slurm.configless_no_contact",
        sign: "failed to fetch remote configs( via IPv4, retrying with IPv6)?: (?<why>.*)",
        role: Role::Effect,
        says: "slurmd got no configuration from the controller: {why}",
        means: "The controller was not reached, or the two did not understand each other.",
        act: "`scontrol ping` on a host that works; on this one `nc -zv CONTROLLER 6817`: with a refusal slurmctld does not run, with a timeout a firewall or a route is between them. Then compare munge and the versions (`slurmd -V`)",
        remedy: Remedy::Settings,
        sure: Sure::Guess,
        samples: &[
            "slurmd: error: _fetch_child: failed to fetch remote configs: Unable to contact slurm controller (connect failure)",
        ],
        ..FETCH
    },
    Cause {
        id: "slurm.no_configuration",
        sign: "Could not establish a configuration source|_establish_configuration: failed to load configs|load_slurm_configs: failed to load configs|_establish_config_source: failed to fetch config",
        role: Role::Effect,
        says: "no configuration of Slurm was found",
        means: "There is no slurm.conf on this host, and no controller gave one. The reason stands before this line where it is another one.",
        act: "put slurm.conf into /etc/slurm (or set SLURM_CONF), or run sackd or slurmd here with `--conf-server CONTROLLER`",
        remedy: Remedy::Settings,
        sources: &[
            seen("https://github.com/SchedMD/slurm (src/common/read_config.c)", "2026-11-30"),
            seen("https://github.com/SchedMD/slurm (src/slurmd/slurmd/slurmd.c)", "2026-11-30"),
        ],
        samples: &[
            "slurmd: fatal: Could not establish a configuration source",
            "slurmd: error: _establish_configuration: failed to load configs",
        ],
        ..TOOL
    },
    Cause {
        id: "slurm.slurmd_init",
        sign: "slurmd initialization failed",
        role: Role::Summary,
        says: "slurmd does not start",
        means: "It only sums up; the reason stands before.",
        act: "look at the first error before this line",
        samples: &["slurmd: error: slurmd initialization failed"],
        ..SLURMD
    },
    Cause {
        id: "slurm.unkillable_timeout",
        sign: r"UnkillableStepTimeout must be at least (?<times>\d+) times greater than MessageTimeout",
        says: "UnkillableStepTimeout is less than {times} times MessageTimeout",
        means: "Slurm asks for that distance. Nothing has failed; a node may go down with `KillTaskFailed` sooner than it should.",
        counts: Counts::Warn,
        act: "raise UnkillableStepTimeout in slurm.conf to {times} times MessageTimeout or more (`scontrol show config | grep -i timeout`) and restart slurmd when it suits; drain nothing for it",
        remedy: Remedy::Settings,
        sure: Sure::Confirmed,
        sources: &[seen("https://github.com/SchedMD/slurm (src/common/read_config.c)", "2026-11-30")],
        samples: &[
            r#"Jul 19 16:06:24 gpu0 slurmd[4569]: slurmd: error: UnkillableStepTimeout must be at least 5 times greater than MessageTimeout, otherwise nodes may go down with the reason "KillTaskFailed""#,
        ],
        ..CONF
    },
    Cause {
        id: "slurm.given_twice",
        sign: r"(?<key>[A-Za-z]+(?: [0-9]+)?) specified more than once, latest value used",
        says: "Slurm's configuration gives {key} twice",
        means: "The later value counts. It stops nothing by itself.",
        role: Role::Effect,
        counts: Counts::Warn,
        act: "`grep -rn {key} /etc/slurm/*.conf`: keep one; for another failure read the next errors of the same log",
        sure: Sure::Confirmed,
        sources: &[
            seen("https://github.com/SchedMD/slurm (src/common/parse_config.c)", "2026-12-01"),
            seen("https://github.com/clustervision/trinity/issues/765", "2016-05-25"),
        ],
        samples: &["sinfo: error: StateSaveLocation specified more than once, latest value used"],
        ..TOOL
    },
    Cause {
        id: "slurm.unknown_key",
        sign: "[Pp]arsing error at unrecognized key: (?<key>[^ ]+)",
        near: &[r"Parse error in file (?<file>\S+) line (?<line>\d+)"],
        says: "Slurm does not know the key {key}[ (line {line} of {file})]",
        means: "The word is mistyped, belongs into another file, or is of another version of Slurm. The daemon refuses the whole file.",
        act: "take {key} out of[ {file}] the configuration, or correct it by the manual page of that file in the installed version (`slurmctld -V`); then start the daemon again",
        remedy: Remedy::Settings,
        sure: Sure::Confirmed,
        sources: &[
            seen("https://github.com/SchedMD/slurm (src/common/parse_config.c)", "2026-11-30"),
            seen("https://github.com/galaxyproject/ansible-slurm/issues/49", "2023-08-03"),
        ],
        samples: &["slurmdbd: error: _parse_next_key: Parsing error at unrecognized key: SlurmctldPidFile"],
        ..TOOL
    },
    Cause {
        id: "slurm.include_missing",
        sign: r#"s_p_parse_file: (cannot stat|unable to status|unable to read) (file )?"?(?<file>/[^":\s]+)"?:?(?<why>.*)"#,
        says: "a configuration that Slurm includes is missing: {file}",
        means: "An Include line, plugstack.conf or SLURM_CONF names it.",
        act: "put the file there for all to read, or take the line that includes it out (the next line has file and number)",
        remedy: Remedy::Settings,
        sources: &[
            seen("https://github.com/SchedMD/slurm (src/common/parse_config.c)", "2026-11-30"),
            seen("https://github.com/awslabs/awsome-distributed-ai/pull/452", "2024-10-12"),
        ],
        samples: &[
            "slurmctld: error: s_p_parse_file: cannot stat file /opt/slurm/etc/pyxis.conf: No such file or directory, retrying in 1sec up to 60sec",
        ],
        ..TOOL
    },
    Cause {
        id: "slurm.include_failed",
        sign: r#""Include" failed in file (?<file>\S+) line (?<line>\d+)"#,
        role: Role::Effect,
        says: "line {line} of {file} includes a file that is not there",
        means: "The line before names the missing file.",
        act: "put that file there, or take line {line} of {file} out",
        remedy: Remedy::Settings,
        samples: &[r#"slurmctld: error: "Include" failed in file /opt/slurm/etc/plugstack.conf line 2"#],
        ..PARSE
    },
    Cause {
        id: "slurm.parse_error",
        sign: r#"Parse error in file (?<file>\S+) line (?<line>\d+): "?(?<text>[^"]*)"#,
        follows: &["slurm.unknown_key"],
        says: "line {line} of {file} is not understood",
        means: "A line of Slurm's configuration has a fault; the line is printed behind it.",
        act: "correct line {line} of {file} by its manual page, then start the daemon again",
        remedy: Remedy::Settings,
        samples: &[
            r#"slurmctld: error: Parse error in file /etc/slurm/slurm.conf line 88: "NodeName=gpu[0-3 CPUs=64""#,
        ],
        ..PARSE
    },
    Cause {
        id: "slurm.conf_unreadable",
        sign: r"Could not open/read/parse (?<file>\S+) file|Unable to process (slurm\.conf|configuration) file",
        role: Role::Effect,
        says: "a configuration of Slurm could not be read",
        means: "The file is missing, has another owner or mode than Slurm accepts, or a line of it is wrong: the lines before say which.",
        act: "look at the line before; slurmdbd.conf must belong to SlurmUser with mode 0600, the other files must be readable for all",
        remedy: Remedy::Settings,
        sources: &[
            seen("https://github.com/SchedMD/slurm (src/common/parse_config.c)", "2026-11-30"),
            seen("https://github.com/SchedMD/slurm (src/common/read_config.c)", "2026-11-30"),
        ],
        samples: &["slurmdbd: fatal: Could not open/read/parse slurmdbd.conf file /etc/slurm/slurmdbd.conf"],
        ..TOOL
    },
    Cause {
        id: "slurm.dbd_conf_mode",
        sign: r"slurmdbd\.conf (file (?<file>\S+) should be 600|owned by \d+ not SlurmUser|not owned by SlurmUser)",
        says: "slurmdbd refuses its configuration for its owner or mode",
        means: "The file holds the password of the database, so it must be readable for SlurmUser alone.",
        act: "`chown slurm:slurm` and `chmod 600` on slurmdbd.conf (with the account that SlurmUser names), then start slurmdbd",
        remedy: Remedy::Settings,
        sure: Sure::Confirmed,
        sources: &[seen("https://github.com/SchedMD/slurm (src/slurmdbd/read_config.c)", "2026-11-30")],
        samples: &[
            "slurmdbd: fatal: slurmdbd.conf file /etc/slurm/slurmdbd.conf should be 600 is 644 accessible for group or others",
        ],
        ..TOOL
    },
    Cause {
        id: "slurm.option_removed",
        sign: r"fatal: (The (?<option>\S+) option has been removed|(?<name>\S+) has been removed\. Please|Support for (?<what>.*) has been removed)",
        says: "slurm.conf has a setting that this version no longer knows[: {option}][: {name}][: {what}]",
        means: "An upgrade of Slurm took the setting away; the daemons do not start with it.",
        act: "take it out, or put what the message names in its place, on all hosts that have the file",
        remedy: Remedy::Settings,
        sure: Sure::Confirmed,
        samples: &[
            "slurmctld: fatal: The FastSchedule option has been removed. Please update your configuration.",
        ],
        ..CONF
    },
    Cause {
        id: "slurm.node_twice",
        sign: r"Duplicated Node(Host)?[Nn]ame (?<node>\S+) in (the )?config",
        says: "slurm.conf defines the node {node} twice",
        means: "Each node may stand in one NodeName line alone; slurmctld stops otherwise. A timeout of slurmd is only what follows.",
        act: "keep one NodeName line for {node} and name it in the Nodes= of each partition; then start slurmctld, then slurmd",
        remedy: Remedy::Settings,
        sure: Sure::Confirmed,
        sources: &[
            seen("https://github.com/SchedMD/slurm (src/common/read_config.c)", "2026-11-30"),
            seen("https://github.com/stackhpc/ansible-role-openhpc/issues/95", "2021-02-24"),
        ],
        samples: &[
            "slurmctld: fatal: Duplicated NodeHostName hpc-0 in config",
            "slurmctld: error: Duplicated NodeHostName express-0 in the config file",
        ],
        ..TOOL
    },
    Cause {
        id: "slurm.node_unknown",
        sign: r"Unable to determine this slurmd's NodeName|Unable to find node record for (?<node>\S+)|_node_config_validate.*could not find node",
        says: "this host stands in no NodeName of slurm.conf[ ({node})]",
        means: "slurmd looks for its host name (`hostname -s`) among NodeName and NodeHostname, and it is not there.",
        act: "add the node to slurm.conf with the name that `hostname -s` prints (or NodeHostname=), or start slurmd with `-N NAME`; on a host that is no node run no slurmd",
        remedy: Remedy::Settings,
        sure: Sure::Confirmed,
        sources: &[
            seen("https://github.com/SchedMD/slurm (src/slurmd/slurmd/slurmd.c)", "2026-11-30"),
            seen("https://github.com/stackhpc/ansible-role-openhpc/issues/13", "2019-07-08"),
        ],
        samples: &["slurmd[21031]: fatal: Unable to determine this slurmd's NodeName"],
        ..TOOL
    },
    Cause {
        id: "slurm.not_the_controller",
        sign: r"This host \((?<host>[^)]*)\) not a valid controller",
        says: "SlurmctldHost of slurm.conf is not this host ({host})",
        means: "slurmctld starts only on a host whose name stands in SlurmctldHost.",
        act: "set SlurmctldHost to the name that `hostname -s` prints (with its address in parentheses where the name does not resolve), on all hosts; or run slurmctld on the host that is named",
        remedy: Remedy::Settings,
        sure: Sure::Confirmed,
        sources: &[
            seen("https://github.com/SchedMD/slurm (src/slurmctld/controller.c)", "2026-11-30"),
            seen("https://github.com/NISP-GmbH/SLURM/issues/4", "2024-10-16"),
        ],
        samples: &["slurmctld: error: This host (node1/node1) not a valid controller"],
        ..TOOL
    },
    Cause {
        id: "slurm.not_the_dbd_host",
        sign: r"This host not configured to run SlurmDBD \(\((?<host>\S+) or (?<long>\S+)\) != (?<wanted>[^|)]+)",
        says: "DbdHost of slurmdbd.conf is {wanted}and not this host ({host})",
        means: "slurmdbd starts only on the host that DbdHost or DbdBackupHost names.",
        act: "set DbdHost in slurmdbd.conf to the name that `hostname -s` prints, then start slurmdbd",
        remedy: Remedy::Settings,
        sure: Sure::Confirmed,
        sources: &[seen("https://github.com/SchedMD/slurm (src/slurmdbd/slurmdbd.c)", "2026-11-30")],
        samples: &[
            "slurmdbd: fatal: This host not configured to run SlurmDBD ((ctl or ctl.example.org) != localhost | (backup) (null))",
        ],
        ..TOOL
    },
    Cause {
        id: "slurm.daemon_user",
        sign: r"You are running slurmd as something other than user (?<user>\S+)\(|Running user ID does not match the SlurmUser|Can not set uid to SlurmUser|slurm_user_id.*does not match|You are not running slurmctld as SlurmUser",
        says: "a daemon of Slurm runs as another account than slurm.conf names",
        means: "slurmctld runs as SlurmUser, slurmd as SlurmdUser (root).",
        act: "start it by its unit and not by hand as another account; make User= of the unit and SlurmUser of slurm.conf agree",
        remedy: Remedy::Settings,
        sources: &[
            seen("https://github.com/SchedMD/slurm (src/slurmctld/controller.c)", "2026-11-30"),
            seen("https://github.com/SchedMD/slurm (src/slurmd/slurmd/slurmd.c)", "2026-11-30"),
        ],
        samples: &[
            "slurmctld: fatal: Running user ID does not match the SlurmUser. Check that SlurmUser in slurm.conf and User in the slurmctld unit file match.",
            "slurmd: fatal: You are running slurmd as something other than user root(0).  If you want to run as this user add SlurmdUser=alice to the slurm.conf file.",
        ],
        ..TOOL
    },
    Cause {
        id: "slurm.slurm_user_differs",
        sign: r"Security violation, (?<rpc>\S+) RPC from uid[ =](?<uid>\d+)|Do you have SlurmUser configured as uid (?<user>\d+)|Unexpected uid \((?<other>\d+)\) != Slurm uid \((?<own>\d+)\)",
        says: "the account slurm has other numbers on another host[ (uid {uid})][ ({other} and not {own})]",
        means: "A daemon takes orders of SlurmUser and root alone, by the number of the account. One host gave it another number. A command of an ordinary account that may not do what it asks is refused by the same words: then that uid is a person's.",
        act: "compare `id slurm` on controller and nodes (`provision verify`: `fleet.users`); give the account and its group the same numbers everywhere, `chown` its files (/var/spool/slurm*, /var/log/slurm, the key of munge is munge's), then restart the daemons",
        remedy: Remedy::Settings,
        sure: Sure::Confirmed,
        sources: &[
            seen("https://github.com/SchedMD/slurm (src/slurmd/slurmd/req.c)", "2026-11-30"),
            seen("https://github.com/fgci-org/ansible-role-slurm/issues/11", "2016-02-11"),
        ],
        samples: &[
            "pe4 slurmd[22276]: error: Security violation, acct_gather_update RPC from uid 994",
            "pe4 slurmd[22276]: error: Do you have SlurmUser configured as uid 994?",
        ],
        ..TOOL
    },
    Cause {
        id: "slurm.cluster_name",
        sign: "CLUSTER (?<what>NAME|ID) MISMATCH",
        says: "the saved state of slurmctld is of another cluster ({what})",
        means: "StateSaveLocation belongs to a cluster of another name or id. Two clusters with one directory corrupt each other.",
        act: "set ClusterName (or ClusterID, the database) back to what it was. Only where the cluster was truly renamed: remove the file `clustername` in StateSaveLocation, and start slurmctld once",
        remedy: Remedy::Settings,
        samples: &["slurmctld: fatal: CLUSTER NAME MISMATCH."],
        ..CTLD
    },
    Cause {
        id: "slurm.state_open_to_all",
        sign: "StateSaveLocation DIRECTORY IS WORLD WRITABLE",
        counts: Counts::Warn,
        says: "everybody may write in StateSaveLocation",
        means: "Any account can change jobs of others there. A directory such as /tmp also loses its files at a boot.",
        act: "set StateSaveLocation to a directory of SlurmUser with mode 0755 (/var/spool/slurmctld), move the files there while slurmctld is stopped, and start it",
        remedy: Remedy::Settings,
        sure: Sure::Confirmed,
        sources: &[seen("https://github.com/aws/aws-parallelcluster/issues/1413", "2019-11-04")],
        samples: &["slurmctld: error: ### StateSaveLocation DIRECTORY IS WORLD WRITABLE ###"],
        ..TOOL
    },
    Cause {
        id: "slurm.state_version",
        sign: "Can not recover (?<what>.+?) state, (data version incompatible|incompatible version)",
        says: "slurmctld cannot read its saved {what} state: it is of another version of Slurm",
        means: "Slurm reads the state of the last few releases alone, and never that of a newer one. It was upgraded over too many releases at once, or set back.",
        act: "install a release between the two that reads the old state (or the newer one again), start it once, then go on. With `-i` all jobs and reservations that are saved are lost: only on a cluster without jobs",
        remedy: Remedy::Install,
        samples: &[
            "slurmctld: fatal: Can not recover last_tres state, incompatible version, got 9728 need >= 9984 <= 10752, start with '-i' to ignore this. Warning: using -i will lose the data that can't be recovered.",
        ],
        ..NODES
    },
    Cause {
        id: "slurm.state_cut",
        follows: &["slurm.first_start"],
        sign: r"fatal: Incomplete (?<what>\S+) (data |state )?(checkpoint|save) file|fatal: Incomplete \S+ state (save )?file|Incomplete (?<other>\S+) (data |state )?(checkpoint|save) file, start with",
        says: "a file of slurmctld's saved state is cut[ ({what})]",
        means: "The file system of StateSaveLocation was full, or the host stopped while it was written.",
        act: "free space there first; then put the `.old` file of the same name in its place (a copy kept). With `-i` what cannot be read is lost",
        remedy: Remedy::Settings,
        samples: &[
            "slurmctld: fatal: Incomplete node data checkpoint file, start with '-i' to ignore this. Warning: using -i will lose the data that can't be recovered.",
        ],
        ..NODES
    },
    Cause {
        id: "slurm.spool_dir",
        sign: r"mkdir\((?<dir>/[^)]*)\): (?<why>Permission denied|No such file or directory|Read-only file system)|(Incorrect permissions on|Unable to stat) state save loc: (?<loc>[^ :]+)|SlurmdSpoolDir (stat|open) error (?<spool>[^:]+):",
        says: "a directory of Slurm is missing or belongs to another account[: {dir}][: {loc}][: {spool}]",
        means: "StateSaveLocation must belong to SlurmUser, SlurmdSpoolDir to root.",
        act: "make it with that owner and mode 0755 (`install -d -o slurm -g slurm /var/spool/slurmctld`), and see that slurm.conf names the same path; then start the daemon",
        remedy: Remedy::Settings,
        sources: &[
            seen("https://github.com/SchedMD/slurm (src/slurmctld/controller.c)", "2026-11-30"),
            seen("https://github.com/SchedMD/slurm (src/slurmd/slurmd/slurmd.c)", "2026-11-30"),
        ],
        samples: &[
            "slurmctld: fatal: mkdir(/var/spool/slurmctld): Permission denied",
            "slurmctld: fatal: Incorrect permissions on state save loc: /var/spool/slurmctld",
        ],
        ..TOOL
    },
    Cause {
        id: "slurm.no_job_state",
        sign: r"Can(?: ?not|'t) open job state file (?<file>[^ ,:]+)|Recovery failed, job lost|No job state file \((?<none>[^)]*)\) to recover",
        says: "slurmctld has no saved state of jobs[ in {file}][ in {none}]",
        means: "At the very first start that is right. Otherwise StateSaveLocation is another one than before or is not mounted, and slurmctld stops or forgets jobs.",
        counts: Counts::Warn,
        act: "see StateSaveLocation of slurm.conf and `findmnt -T` of it: mount it, then start slurmctld; start without the state (`-c`) only where losing jobs is right",
        remedy: Remedy::Settings,
        sure: Sure::Guess,
        samples: &[
            "fatal: Can not open job state file /var/spool/slurmctld/job_state: No such file or directory",
        ],
        ..CTLD
    },
    Cause {
        id: "slurm.state_unwritable",
        sign: r"Can't save state, (create|error creating|error writing) file (?<path>[^\s,:]+)( error|[,:])? ?(?<reason>.*)",
        says: "slurmctld cannot write its state: {path} ({reason})",
        means: "Jobs go on, but they are lost at a restart while this lasts.",
        act: "free space in StateSaveLocation, or give it back to SlurmUser (`ls -ld`, `df -h` there)",
        remedy: Remedy::Settings,
        sources: &[seen("https://github.com/SchedMD/slurm (src/common/state_save.c)", "2026-11-30")],
        samples: &[
            "slurmctld: error: Can't save state, create file /var/spool/slurmctld/job_state.new error No space left on device",
        ],
        ..TOOL
    },
    Cause {
        id: "slurm.port_taken",
        sign: r"Unable to bind listen port \((?<port>\d+)\): Address already in use|slurm_init_msg_engine_port(_range)? error Address already in use|Existing slurmctld process likely already is listening",
        says: "another process has the port of this daemon[ ({port})]",
        means: "Most often the same daemon runs already, started by hand or in a container.",
        act: "`ss -ltnp` shows who listens on 6817 (slurmctld), 6818 (slurmd) or 6819 (slurmdbd); stop that one, then start the unit",
        remedy: Remedy::Settings,
        sources: &[
            seen("https://github.com/SchedMD/slurm (src/slurmd/slurmd/slurmd.c)", "2026-11-30"),
            seen("https://github.com/SchedMD/slurm (src/slurmctld/controller.c)", "2026-11-30"),
        ],
        samples: &["slurmd: fatal: Unable to bind listen port (6818): Address already in use"],
        ..TOOL
    },
    Cause {
        id: "slurm.ports_equal",
        sign: r"slurmctld is talking with itself\. SlurmctldPort == SlurmdPort|SlurmctldPid == SlurmdPid",
        says: "slurm.conf gives slurmctld and slurmd the same port or the same file",
        means: "The two daemons need different ports and process id files.",
        act: "set SlurmctldPort=6817 and SlurmdPort=6818 (or leave both out), on all hosts",
        remedy: Remedy::Settings,
        sure: Sure::Confirmed,
        samples: &["slurmctld: error: slurmctld is talking with itself. SlurmctldPort == SlurmdPort"],
        ..CTLD
    },
    Cause {
        id: "slurm.conf_differs",
        sign: r"Node (?<node>\S+) appears to have a different slurm\.conf than the slurmctld",
        counts: Counts::Warn,
        says: "{node} has another slurm.conf than the controller",
        means: "Slurm compares a sum of the file. Settings of the two sides may not fit each other.",
        act: "copy slurm.conf of the controller to {node} and `scontrol reconfigure`, or let nodes fetch it (configless, as the playbook `slurm` does)",
        remedy: Remedy::Settings,
        sources: &[seen("https://github.com/SchedMD/slurm (src/slurmctld/proc_req.c)", "2026-11-30")],
        samples: &[
            "slurmctld: error: Node gpu0 appears to have a different slurm.conf than the slurmctld.  This could cause issues with communication and functionality.",
        ],
        ..TOOL
    },
    Cause {
        id: "slurm.conf_local",
        sign: "Running with local config file despite slurmctld having been setup for configless",
        counts: Counts::Warn,
        says: "this slurmd reads a slurm.conf of its own, although the controller gives one out",
        means: "The local file in /etc/slurm goes before that of the controller and grows old.",
        act: "remove slurm.conf from this node and restart slurmd, where it should follow the controller",
        remedy: Remedy::Settings,
        sure: Sure::Confirmed,
        samples: &[
            "slurmd: warning: Running with local config file despite slurmctld having been setup for configless operation",
        ],
        ..SLURMD
    },
    Cause {
        id: "slurm.rest_key",
        sign: "rest_auth/jwt: (?:Unable to load|.*[Ff]ailed).*|slurmrestd: fatal: .*unable to bind.*",
        says: "slurmrestd does not start: its key or its address",
        means: "The key of JWT is missing or unreadable for its account, or the address is taken. It must not run as SlurmUser or root.",
        act: "`ls -l` of jwt_key in AuthAltParameters, `ss -ltnp` for the port; run it under an account of its own",
        remedy: Remedy::Settings,
        sure: Sure::Guess,
        samples: &["slurmrestd: error: rest_auth/jwt: Unable to load JWT key"],
        ..CTLD
    },
    Cause {
        id: "slurm.jwt_key",
        sign: r"(?<plugin>auth/(jwt|slurm)): (cannot stat '(?<file>[^']+)'|Could not load keys? file \((?<path>[^)]+)\)|key file is insecure: '(?<open>[^']+)' mode=(?<mode>\d+))|No jwt_key set",
        says: "the key[ of {plugin}][ {file}][ {path}] is missing or cannot be read[: {open} has mode {mode}]",
        means: "slurm.conf or slurmdbd.conf uses this authentication, and its key is not there, or is open to others. The daemon does not start.",
        act: "put the key where the setting points (jwt_key= of AuthAltParameters; /etc/slurm/slurm.key for auth/slurm), owner SlurmUser, mode 0600, the same on the hosts that need it; or take the setting out",
        remedy: Remedy::Settings,
        sure: Sure::Confirmed,
        sources: &[
            seen("https://github.com/SchedMD/slurm (src/plugins/auth)", "2026-11-30"),
            seen("https://github.com/BiBiServ/bibigrid/issues/470", "2024-02-08"),
        ],
        samples: &[
            "slurmctld: fatal: auth/jwt: cannot stat '/etc/slurm/jwt-secret.key': No such file or directory",
        ],
        ..TOOL
    },
    Cause {
        id: "slurm.name_unresolved",
        sign: r#"slurm_set_addr: Unable to resolve "(?<host>[^"]+)"|xgetaddrinfo: getaddrinfo\((?<name>[^:)]+)[^)]*\) failed|[Cc]an't find (an )?address for host (?<node>[^, ]+),? check slurm\.conf"#,
        says: "the name[ {host}][ {name}][ {node}] of slurm.conf does not resolve here",
        means: "DNS and /etc/hosts of this host do not know it.",
        act: "`getent hosts NAME` on this host; add the name to DNS or to /etc/hosts, or set NodeAddr= (or SlurmctldHost=NAME(ADDRESS)) in slurm.conf",
        remedy: Remedy::Settings,
        sources: &[seen(
            "https://github.com/SchedMD/slurm (src/common/slurm_protocol_socket.c)",
            "2026-11-30",
        )],
        samples: &[
            r#"error: slurm_set_addr: Unable to resolve "gpu3""#,
            "slurmctld: error: _wif_status: can't find address for host gpu3, check slurm.conf",
        ],
        ..TOOL
    },
    Cause {
        id: "slurm.wrong_node_answers",
        sign: r"Node registration response identity mismatch: expected (?<node>[^,]+), got (?<other>\S+)",
        says: "at the address of {node} the node {other} answers",
        means: "Two names lead to one address: by DNS, /etc/hosts, a cloned host, or one address that is on two hosts.",
        act: "compare `getent hosts {node}` on the controller with `ip addr` on {node}; `provision verify` finds doubles (`fleet.address`, `fleet.hostname`)",
        remedy: Remedy::Settings,
        sources: &[seen("https://github.com/SchedMD/slurm (src/slurmctld/agent.c)", "2026-11-30")],
        samples: &[
            "slurmctld: error: _thread_per_group_rpc: Node registration response identity mismatch: expected gpu1, got gpu2 (possible IP conflict)",
        ],
        ..TOOL
    },
    Cause {
        id: "slurm.firewall",
        sign: r"\[UFW BLOCK\] (\.|PROTO).*DPT=(?<port>681[789])\b|(REJECT|DROP|FINAL_REJECT)\S*:? .*PROTO=TCP.* DPT=(?<other>681[789])\b",
        says: "a firewall of this host drops packets for Slurm (port [{port}][{other}])",
        means: "Controller and nodes connect to each other in both directions: 6817 to slurmctld, 6818 to slurmd, 6819 to slurmdbd, and srun listens on ports of its own.",
        act: "let the cluster's hosts in on these ports, or let all of their network in (the playbook `firewall`); then `scontrol update nodename=NAME state=resume`",
        remedy: Remedy::Settings,
        sources: &[seen("https://github.com/nebari-dev/nebari-slurm/issues/116", "2022-03-22")],
        samples: &[
            "hpc-worker-02 kernel: [43351.006693] [UFW BLOCK] ... PROTO=TCP SPT=55926 DPT=6818 WINDOW=64240 RES=0x00 SYN URGP=0",
        ],
        ..TOOL
    },
    Cause {
        id: "slurm.versions_differ",
        sign: r"Incompatible versions of client and server code|Invalid Protocol Version (?<version>\d+)|protocol_version (?<protocol>\d+) not supported|unpack_header: .*version.*not supported|Incompatible versions of Slurm",
        says: "the two sides have versions of Slurm that do not know each other",
        means: "Each release speaks with the two or three before it. slurmdbd must be the newest, then slurmctld, then slurmd and the commands.",
        act: "compare `slurmctld -V`, `slurmd -V`, `sinfo -V` on both hosts, and bring the older one (or a command of another installation on the PATH) to the cluster's release",
        remedy: Remedy::Install,
        sources: &[
            seen("https://github.com/SchedMD/slurm (src/common/slurm_errno.c)", "2026-11-30"),
            seen("https://slurm.schedmd.com/upgrades.html", "2026-11-30"),
        ],
        samples: &[
            "slurm_load_partitions: Incompatible versions of client and server code",
            "error: slurm_unpack_received_msg: [[gpu0]:41234] Invalid Protocol Version 9472 from uid=0: No error",
        ],
        ..TOOL
    },
    Cause {
        id: "slurm.credential_layout",
        sign: "Credential signature check: Credential data mismatch",
        says: "slurmd cannot read the job credential of the controller",
        means: "Controller and node have different releases of Slurm, whose credentials have another layout. MUNGE itself works.",
        act: "compare `slurmctld -V` and `slurmd -V`, and bring slurmd and the commands to the controller's release; leave munge alone",
        remedy: Remedy::Install,
        sources: &[seen("https://github.com/dun/munge/issues/126", "2022-09-11")],
        samples: &["[2022-09-10T17:40:58.753] error: Credential signature check: Credential data mismatch"],
        ..TOOL
    },
    Cause {
        id: "slurm.plugin_of_other_version",
        sign: r"[Ii]ncompatible (Slurm )?plugin version|Incompatible Slurm plugin (?<path>\S+) version",
        says: "a plugin is of another version of Slurm than this program[: {path}]",
        means: "A plugin loads only into the exact release that it was built for. A package was upgraded without the others, or a plugin such as pyxis was built for the release before.",
        act: "install all packages of Slurm in one release on this host, and build plugins of your own (pyxis) again for it",
        remedy: Remedy::Install,
        sure: Sure::Confirmed,
        samples: &[
            "slurmd: error: spank: /usr/lib/x86_64-linux-gnu/slurm/spank_pyxis.so: Incompatible plugin version",
        ],
        ..PLUGIN
    },
    Cause {
        id: "slurm.insane_length",
        sign: "Insane message length|Header lengths are longer than data received",
        role: Role::Effect,
        says: "a daemon got a message that it cannot read",
        means: "Either the other side has another release of Slurm, or something that is not Slurm connects to its port, such as a scanner or a health probe.",
        act: "look which address sent it; of a host of the cluster compare the versions, of another one keep it away with the firewall",
        sure: Sure::Guess,
        samples: &["error: slurm_receive_msg [192.0.2.7:53422]: Insane message length"],
        ..ERRNO
    },
    Cause {
        id: "slurm.no_mysql_plugin",
        sign: r"(Couldn't find the specified plugin name for|cannot find \S+ plugin for|cannot create \S+ context for) accounting_storage/mysql",
        says: "this slurmdbd has no plugin for MySQL and MariaDB",
        means: "It was built where configure did not find MySQL (or a library that it needs, such as libssl), or the package of the plugin is not installed. The database itself was not asked yet.",
        act: "install slurmdbd's package of the distribution (on Debian `slurm-wlm-mysql-plugin`); for a build of your own install the headers (`libmariadb-dev libssl-dev`, `mariadb-devel`), run configure until it says yes for MySQL, and build again",
        remedy: Remedy::Install,
        sources: &[
            seen("https://github.com/nateGeorge/slurm_gpu_ubuntu/issues/2", "2019-12-11"),
            seen("https://github.com/SchedMD/slurm (src/common/plugin.c)", "2026-11-30"),
        ],
        samples: &[
            "slurmdbd: error: Couldn't find the specified plugin name for accounting_storage/mysql looking at all files",
            "slurmdbd: error: cannot find accounting_storage plugin for accounting_storage/mysql",
        ],
        ..TOOL
    },
    Cause {
        id: "slurm.no_cgroup_plugin",
        sign: "(Couldn't find the specified plugin name for|cannot find cgroup plugin for) cgroup/v2",
        says: "this Slurm was built without the plugin cgroup/v2",
        means: "Its build had no dbus headers, or it is older than 22.05, and the host has no other cgroups.",
        act: "take a build with it (`libdbus-1-dev` and `libbpf-dev`, or `dbus-devel`, present for configure), or `cgroups: false` of the playbook `slurm`",
        remedy: Remedy::Install,
        sources: &[
            seen("https://github.com/SchedMD/slurm (src/common/plugin.c)", "2026-11-30"),
            seen("https://slurm.schedmd.com/cgroup_v2.html", "2026-11-30"),
        ],
        samples: &["[2025-04-21T10:57:14.247] error: cannot find cgroup plugin for cgroup/v2"],
        ..TOOL
    },
    Cause {
        id: "slurm.no_auth_plugin",
        sign: r"(Couldn't find the specified plugin name for|cannot find \S+ plugin for|cannot create \S+ context for) (auth|cred|crypto)/munge",
        says: "this Slurm has no plugin for munge",
        means: "It was built without the headers of munge, or the plugin's package is not installed.",
        act: "install the package of Slurm that has it (libmunge2 and munge with it); for a build of your own install `libmunge-dev` or `munge-devel` and build again",
        remedy: Remedy::Install,
        samples: &[
            "slurmctld: error: Couldn't find the specified plugin name for auth/munge looking at all files",
        ],
        ..PLUGIN
    },
    Cause {
        id: "slurm.pmix_library",
        sign: "pmi/pmix: can not load PMIx library",
        says: "slurmd cannot open the PMIx library that it was built with",
        means: "libpmix.so.2 is not on this node, or not where slurmd was built to look. All else of slurmd works; srun --mpi=pmix does not.",
        act: "`ldconfig -p | grep pmix` on the node: install that PMIx there (or put its folder into /etc/ld.so.conf.d and run `ldconfig`), then restart slurmd; `srun --mpi=list` shows what loads",
        remedy: Remedy::Install,
        sure: Sure::Guess,
        sources: &[
            seen("https://github.com/SchedMD/slurm (src/plugins/mpi/pmix/mpi_pmix.c)", "2026-11-30"),
            seen("https://github.com/SergioMEV/slurm-for-dummies/issues/15", "2024-08-18"),
        ],
        samples: &[
            "slurmd: error:  mpi/pmix_v4: init: (null) [0]: mpi_pmix.c:193: pmi/pmix: can not load PMIx library",
        ],
        ..TOOL
    },
    Cause {
        id: "slurm.pmix_version",
        sign: r"pmi/pmix: incorrect PMIx library version loaded (?<has>\d+) was loaded, required (?<wants>\d+) version",
        says: "slurmd loaded PMIx {has} and was built for PMIx {wants}",
        means: "The loader finds another libpmix.so.2 first.",
        act: "install PMIx {wants} on the node or put it first for the loader, or use the plugin of the installed one (`srun --mpi=list`); then restart slurmd",
        remedy: Remedy::Install,
        sure: Sure::Confirmed,
        samples: &[
            "slurmd: error: mpi/pmix: pmi/pmix: incorrect PMIx library version loaded 3 was loaded, required 4 version",
        ],
        ..PMIX
    },
    Cause {
        id: "slurm.no_pmix_plugin",
        sign: r"(Couldn't find the specified plugin name for|cannot find mpi plugin for) mpi/(?<type>\S+)|[Ii]nvalid MPI type '(?<name>[^']+)', --mpi=list|invalid MPI type, --mpi=list",
        says: "this Slurm has no MPI plugin [{type}][{name}]",
        means: "It was built without PMIx, or the plugin has another name there.",
        act: "`srun --mpi=list` shows what there is: take one of those, or install the package with the plugin (a build with `--with-pmix`) on submit hosts and nodes",
        remedy: Remedy::Install,
        sources: &[seen("https://github.com/SchedMD/slurm (src/interfaces/mpi.c)", "2026-11-30")],
        samples: &[
            "srun: error: Couldn't find the specified plugin name for mpi/pmix looking at all files",
            "srun: error: Invalid MPI type 'pmix', --mpi=list for acceptable types",
        ],
        ..TOOL
    },
    Cause {
        id: "slurm.mpi_plugin_failed",
        sign: "MPI: (Cannot create context for|Unable to load any plugin)|Couldn't load specified plugin name for mpi/|[Ii]nvalid MPI plugin name|MPI plugin's pre-launch setup failed",
        role: Role::Effect,
        follows: &["slurm.pmix_library", "slurm.pmix_version", "slurm.no_pmix_plugin"],
        says: "an MPI plugin of Slurm did not load",
        means: "The line before says which library or setting it is.",
        act: "look at the line before; `srun --mpi=list` shows what loads on this host",
        remedy: Remedy::Settings,
        sources: &[seen("https://github.com/SchedMD/slurm (src/interfaces/mpi.c)", "2026-11-30")],
        samples: &["slurmd: error: MPI: Cannot create context for mpi/pmix"],
        ..TOOL
    },
    Cause {
        id: "slurm.plugin_library",
        sign: r"plugin_load_from_file: dlopen\((?<file>[^)]+)\): (?<why>.*)",
        says: "the plugin {file} does not load: {why}",
        means: "A library that it needs is not on this host, or is of another version.",
        act: "`ldd {file}` shows what is not found: install the package that has it, or the plugin's package of the same release as Slurm",
        remedy: Remedy::Install,
        samples: &[
            "slurmd: error: plugin_load_from_file: dlopen(/usr/lib64/slurm/gpu_nvml.so): libnvidia-ml.so.1: cannot open shared object file: No such file or directory",
        ],
        ..PLUGIN
    },
    Cause {
        id: "slurm.cons_res",
        sign: r"(plugin name for|select plugin for|find plugin for) select/cons_res\b",
        says: "this Slurm no longer has select/cons_res",
        means: "Slurm 23.11 took it away; select/cons_tres does the same and knows GPUs.",
        act: "set SelectType=select/cons_tres in slurm.conf on all hosts, then restart slurmctld and slurmd",
        remedy: Remedy::Settings,
        sure: Sure::Confirmed,
        sources: &[seen("https://github.com/SchedMD/slurm (src/plugins/select, 23.11)", "2026-11-30")],
        samples: &[
            "slurmctld: error: Couldn't find the specified plugin name for select/cons_res looking at all files",
        ],
        ..TOOL
    },
    Cause {
        id: "slurm.no_plugin",
        sign: r"Couldn't find the specified plugin name for (?<plugin>\S+)|cannot find (\S+) plugin for (?<name>\S+)",
        says: "this Slurm has no plugin [{plugin}][{name}]",
        means: "slurm.conf names it, and it is not in PluginDir: it was not built, its package is missing, or the name is of another release.",
        act: "look for it with `ls` in PluginDir (`scontrol show config | grep PluginDir`); install the package that has it, or name another one in slurm.conf",
        remedy: Remedy::Install,
        samples: &[
            "slurmctld: error: Couldn't find the specified plugin name for topology/block looking at all files",
        ],
        ..PLUGIN
    },
    Cause {
        id: "slurm.plugin_init",
        sign: r"Couldn't load specified plugin name for (?<plugin>\S+):|cannot create (?<kind>\S+) context for (?<name>\S+)",
        role: Role::Effect,
        says: "the plugin [{plugin}][{name}] did not start",
        means: "Slurm found it, and its own start failed; the line before has the reason.",
        act: "look at the first error before this line",
        samples: &["slurmd: error: cannot create proctrack context for proctrack/cgroup"],
        ..PLUGIN
    },
    Cause {
        id: "slurm.plugin_fatal",
        sign: r"Unable to initialize \S+ accounting storage plugin|failed to initialize \S+ plugins?$|Unable to initialize cgroup plugin|Failed to initialize MPI plugins",
        role: Role::Effect,
        says: "a daemon of Slurm stops for a plugin",
        means: "It only sums up; the reason stands before.",
        act: "look at the first error before this line",
        samples: &[
            "slurmdbd: fatal: Unable to initialize accounting_storage/mysql accounting storage plugin",
        ],
        ..SLURMD
    },
    Cause {
        id: "slurm.spank_missing",
        sign: r"spank: (?<file>\S+\.so): (?<why>Plugin file not found|Dlopen of plugin file failed|Plugin name not found.*)|spank: Failed to open (?<conf>\S+): (?<reason>.*)",
        says: "a plugin of plugstack.conf is not there or does not load[: {file}, {why}][: {conf}, {reason}]",
        means: "srun, sbatch and slurmd all read plugstack.conf; with the word `required` each of them fails.",
        act: "install the plugin on this host at that path, or take its line out of plugstack.conf (and plugstack.conf.d)",
        remedy: Remedy::Settings,
        samples: &["srun: error: spank: /usr/local/lib/slurm/spank_pyxis.so: Plugin file not found"],
        ..PLUGIN
    },
    Cause {
        id: "slurm.cgroup_v1_missing",
        sign: r"cgroup namespace '(?<controller>\w+)' not mounted\. aborting",
        says: "this Slurm wants cgroups of version 1, and the host has none ({controller})",
        means: "The host has cgroups of version 2 alone (Ubuntu 22.04, Debian 11, RHEL 9 and newer). Slurm knows them since 22.05.",
        act: "install Slurm 22.05 or newer with CgroupPlugin=autodetect, or `cgroups: false` of the playbook `slurm`; on a kernel that still can, boot with `systemd.unified_cgroup_hierarchy=0`",
        remedy: Remedy::Install,
        sources: &[
            seen("https://github.com/SchedMD/slurm (src/plugins/cgroup/v1)", "2026-11-30"),
            seen("https://slurm.schedmd.com/cgroup_v2.html", "2026-11-30"),
        ],
        samples: &["slurmd: error: cgroup namespace 'freezer' not mounted. aborting"],
        ..TOOL
    },
    Cause {
        id: "slurm.cgroup_hybrid",
        sign: r"Hybrid mode is not supported\. Mounted cgroups are",
        says: "the host mounts cgroups of both versions",
        means: "The plugin cgroup/v2 takes a host with version 2 alone.",
        act: "boot with `systemd.unified_cgroup_hierarchy=1` (and without `systemd.legacy_systemd_cgroup_controller`), or set CgroupPlugin=cgroup/v1 in cgroup.conf; in a container see what the host mounts",
        remedy: Remedy::Settings,
        sure: Sure::Confirmed,
        samples: &[
            "slurmd: fatal: Hybrid mode is not supported. Mounted cgroups are: 1:cpu:/ 0::/init.scope",
        ],
        ..CGROUP
    },
    Cause {
        id: "slurm.cgroup_controller",
        sign: r"Controller (?<controller>\w+) is not enabled!|(?<name>\w+) cgroup controller is not available|issue initializing memory or cpu controller",
        says: "the cgroup controller [{controller}][{name}] is not open to slurmd",
        means: "systemd does not hand it on to slurmd's unit, the kernel has it switched off, or slurmd runs in a container without it.",
        act: "`cat /sys/fs/cgroup/cgroup.controllers` and cgroup.subtree_control: where it is missing in the first, boot without `cgroup_disable=`; where only in the second, set `Delegate=yes` in slurmd.service, start slurmd by its unit and set EnableControllers=yes in cgroup.conf. Real-time processes in the root keep `cpu` from being given",
        remedy: Remedy::Settings,
        sources: &[
            seen("https://github.com/SchedMD/slurm (src/plugins/cgroup/v2)", "2026-11-30"),
            seen("https://slurm.schedmd.com/cgroup_v2.html", "2026-11-30"),
        ],
        samples: &[
            "slurmd: error: Controller cpuset is not enabled!",
            "slurmd: error: cpu cgroup controller is not available.",
        ],
        ..TOOL
    },
    Cause {
        id: "slurm.cgroup_dbus",
        sign: "cannot connect to dbus system daemon",
        says: "slurmd does not reach dbus",
        means: "With cgroups of version 2 slurmd asks systemd by dbus for a scope for its jobs. The host, most often a container, has no dbus.",
        act: "install and start dbus; in a container without systemd set IgnoreSystemd=yes in cgroup.conf, or CgroupPlugin=disabled (24.05 and newer) with proctrack/linuxproc",
        remedy: Remedy::Settings,
        samples: &[
            "slurmd: error: cgroup_dbus_attach_to_scope: cannot connect to dbus system daemon: Failed to connect to socket /run/dbus/system_bus_socket: No such file or directory",
        ],
        ..CGROUP
    },
    Cause {
        id: "slurm.cgroup_scope_left",
        sign: "cannot initialize cgroup directory for stepds: if the scope|Scope init timed out, systemd might need cleanup|The unit may already exist or we got an error:",
        follows: &["slurm.cgroup_dbus"],
        says: "a scope of an earlier slurmd is left in systemd",
        means: "slurmd makes the scope slurmstepd.scope for its jobs, and systemd still has one that failed.",
        act: "`systemctl status '*slurmstepd.scope'`, then `systemctl reset-failed` (and stop that scope while no job runs), and start slurmd again",
        remedy: Remedy::Settings,
        samples: &[
            "slurmd: error: cannot initialize cgroup directory for stepds: if the scope /sys/fs/cgroup/system.slice/slurmstepd.scope already exists it means the associated cgroup directories disappeared",
        ],
        ..CGROUP
    },
    Cause {
        id: "slurm.cgroup_disabled",
        sign: "Trying to initialize cgroups but CgroupPlugin=disabled",
        says: "cgroup.conf switches cgroups off, and slurm.conf uses them",
        means: "A plugin such as proctrack/cgroup, task/cgroup or jobacct_gather/cgroup is set beside CgroupPlugin=disabled.",
        act: "set ProctrackType=proctrack/linuxproc, TaskPlugin without task/cgroup and JobAcctGatherType=jobacct_gather/linux, or take CgroupPlugin=disabled out",
        remedy: Remedy::Settings,
        sure: Sure::Confirmed,
        samples: &[
            "slurmd: fatal: cgroup_g_initialize: Trying to initialize cgroups but CgroupPlugin=disabled is set in cgroup.conf. Please, unset any configuration that is using cgroups.",
        ],
        ..CGROUPS
    },
    Cause {
        id: "slurm.cgroup_unmounted",
        sign: r"cgroup filesystem not mounted in /sys/fs/cgroup|is not a valid cgroup2 mountpoint|The cgroup mountpoint \S+ is not mounted|No filesystem mounted on /sys/fs/cgroup|Unknown filesystem type mounted on /sys/fs/cgroup",
        says: "slurmd finds no cgroups below /sys/fs/cgroup",
        means: "The host, most often a container or a chroot, does not mount them.",
        act: "mount /sys/fs/cgroup of the host into the container with the right to write, or set CgroupPlugin=disabled in cgroup.conf (24.05 and newer; `cgroup_settings` of the playbook `slurm`)",
        remedy: Remedy::Settings,
        sources: &[
            seen("https://github.com/SchedMD/slurm (src/interfaces/cgroup.c)", "2026-11-30"),
            seen("https://github.com/SchedMD/slurm (src/plugins/cgroup/v2)", "2026-11-30"),
        ],
        samples: &["slurmd: error: cgroup filesystem not mounted in /sys/fs/cgroup/"],
        ..TOOL
    },
    Cause {
        id: "slurm.cgroup_bpf",
        sign: r"BPF load error \((?<why>.*)\)\. Please check your system limits \(MEMLOCK\)|BPF attach: \d+: (?<reason>.*)",
        says: "slurmd cannot keep jobs to their devices (BPF[: {why}][: {reason}])",
        means: "With cgroups of version 2 devices are limited by a BPF program, and the kernel did not take it: for want of locked memory, or as a container may not load one.",
        act: "set `LimitMEMLOCK=infinity` in a drop-in of slurmd.service (the playbook `slurm` does; check `slurm.memlock`); in a container give the right CAP_BPF, or set ConstrainDevices=no",
        remedy: Remedy::Settings,
        samples: &[
            "slurmstepd: error: load_ebpf_prog: BPF load error (Operation not permitted). Please check your system limits (MEMLOCK).",
        ],
        ..CGROUP
    },
    Cause {
        id: "slurm.memory_limited_twice",
        sign: "Jobs memory is being constrained by both TaskPlugin cgroup and JobAcctGather",
        says: "slurm.conf limits memory of jobs in two ways",
        means: "task/cgroup does it already, and OverMemoryKill of JobAcctGatherParams kills jobs as well.",
        act: "take OverMemoryKill out of JobAcctGatherParams, or ConstrainRAMSpace out of cgroup.conf",
        remedy: Remedy::Settings,
        sure: Sure::Confirmed,
        samples: &[
            "slurmd: fatal: Jobs memory is being constrained by both TaskPlugin cgroup and JobAcctGather plugin. This enables two incompatible memory enforcement mechanisms, one of them must be disabled.",
        ],
        ..SLURMD
    },
    Cause {
        id: "slurm.cgroup_ids",
        sign: r"unable to add task\[pid=\d+\] to memory cg '\(null\)'",
        says: "a job runs outside of its cgroup of memory",
        means: "Kernels before 4.4 (CentOS 7) run out of numbers for cgroups of memory after very many short jobs. The job itself runs on.",
        counts: Counts::Warn,
        act: "reboot the drained node when it suits; a newer kernel does away with it",
        remedy: Remedy::Reset,
        sources: &[seen("https://github.com/galaxyproject/galaxy/pull/6293", "2018-06-06")],
        samples: &["slurmstepd: error: unable to add task[pid=65732] to memory cg '(null)'"],
        ..CGROUPS
    },
    Cause {
        id: "slurm.cgroups_used_up",
        sign: "unable to create cgroup [`'](?<path>[^`']+)['`] ?: (?:Cannot allocate memory|No space left on device)",
        says: "the kernel makes no more cgroups ({path})",
        means: "Not the memory of the host is meant: the ids of memory cgroups are used up, by cgroups of ended jobs that the kernel still holds (a fault of the kernels of EL 7 with limits of kernel memory) or that nobody removed.",
        act: "`cat /proc/cgroups` (num_cgroups of memory near 65535); set ConstrainKmemSpace=no in cgroup.conf, update the kernel, and drain and reboot the node",
        remedy: Remedy::Reset,
        sources: &[seen("https://github.com/galaxyproject/galaxy/pull/7766", "2019-04-18")],
        samples: &[
            "slurmstepd: error: xcgroup_instantiate: unable to create cgroup '/sys/fs/cgroup/memory/slurm/uid_819800' : Cannot allocate memory",
        ],
        ..CGROUP
    },
    Cause {
        id: "slurm.cgroup_failed",
        sign: r"(error|fatal): .*(unable to (create|instantiate) \S+( \S+)? cgroup|(systemd scope|scope and/or cgroup directory) for slurmstepd could not be set|slurmstepd scope could not be set|Could not (create scope directory|enable controllers for cgroup path)|unable to create \w+ cgroup namespace|Unable to move pid \d+ to \w+ cgroup)",
        role: Role::Effect,
        says: "slurmd could not set its cgroups up",
        means: "The line before has the reason of the kernel or of systemd.",
        act: "look at the first error before this line; start slurmd by its unit (not from a shell or a container without `Delegate=yes`)",
        sure: Sure::Guess,
        samples: &["slurmd: fatal: systemd scope for slurmstepd could not be set."],
        ..CGROUP
    },
    Cause {
        id: "slurm.gres_device_missing",
        sign: r"can't stat gres\.conf file (?<file>/dev/[^: ]+)",
        says: "gres.conf names {file}, which is not there",
        means: "slurmd looked before the driver made its devices, or there is no such GPU.",
        act: "`nvidia-smi` on the host tells: with all GPUs there, order slurmd behind the driver (a drop-in with `After=nvidia-persistenced.service`) and start it again; with fewer, see `gpu.count`, or correct gres.conf",
        remedy: Remedy::Settings,
        samples: &[
            "w1 slurmd[129]: slurmd: fatal: can't stat gres.conf file /dev/nvidia0: No such file or directory",
        ],
        ..GRES
    },
    Cause {
        id: "slurm.gres_device_waits",
        sign: r"Waiting for gres\.conf file (?<file>\S+)",
        role: Role::Effect,
        counts: Counts::Warn,
        says: "slurmd waits for {file}",
        means: "The driver did not make its devices yet. slurmd ends after some tries.",
        act: "`nvidia-smi` on the host; order slurmd behind the driver (`After=nvidia-persistenced.service`)",
        samples: &["slurmd: error: Waiting for gres.conf file /dev/nvidia0"],
        ..GRES
    },
    Cause {
        id: "slurm.gres_twice",
        sign: r"gres\.conf duplicate records for (?<name>\S+)|(?<gres>\S+) duplicate device file name \((?<file>[^)]+)\)",
        says: "gres.conf gives a device twice[ ({name})][ ({file})]",
        means: "Two lines have the same device, most often AutoDetect=nvml beside a line Name=gpu for each GPU.",
        act: "keep either AutoDetect=nvml alone, or the lines with File= alone; then start slurmd",
        remedy: Remedy::Settings,
        sure: Sure::Confirmed,
        sources: &[
            seen("https://github.com/SchedMD/slurm (src/interfaces/gres.c)", "2026-11-30"),
            seen("https://github.com/ComputeCanada/puppet-magic_castle/issues/27", "2020-02-26"),
        ],
        samples: &["slurmd[57977]: fatal: gres.conf duplicate records for gpu"],
        ..TOOL
    },
    Cause {
        id: "slurm.gres_mixed",
        sign: r#"gres\.conf for (?<name>[^,]+), some records have "(?<what>File|Type=)" specification while others do not|Some (?<gres>\S+) GRES in slurm\.conf have a type while others do not"#,
        says: "only some of the lines[ for {name}][ for {gres}] have a type or a file",
        means: "All lines of one GRES need it, or none.",
        act: "give File= and Type= to all lines of the GRES in gres.conf, or to none, and write Gres= of the node in slurm.conf alike; then start slurmd",
        remedy: Remedy::Settings,
        sure: Sure::Confirmed,
        samples: &[
            r#"slurmd: fatal: gres.conf for gpu, some records have "Type=" specification while others do not"#,
        ],
        ..GRES
    },
    Cause {
        id: "slurm.gres_count",
        check: "slurm.gres",
        sign: r"gres/(?<gres>\S+) count (reported lower than configured( \((?<has>\d+) < (?<wants>\d+)\))?|too low( \((?<few>\d+) < (?<many>\d+)\))?|changed and jobs are using them|repor?t?\S*\s.*\d{4}-\d\d-\d\dT)",
        says: "a node has fewer {gres} than slurm.conf says[ ({has} of {wants})][ ({few} of {many})]",
        means: "slurmd found fewer GPUs than Gres= of the node. A GPU fell off the bus or its driver is not loaded, or the two files do not agree.",
        act: "on the node `nvidia-smi -L` and `slurmd -G`: where nvidia-smi misses GPUs, go by `gpu.count` and `gpu.xid` of `provision verify`; where it has all, correct gres.conf (AutoDetect=nvml or all device files) or Gres= and restart slurmd; then `scontrol update nodename=NAME state=resume`",
        remedy: Remedy::Settings,
        samples: &[
            "slurmctld: error: Setting node gpu0 state to INVAL with reason:gres/gpu count reported lower than configured (7 < 8)",
            "gres/gpu count repor slurm     2025-03-02T10:14:21 gpu0",
        ],
        ..GRES
    },
    Cause {
        id: "slurm.gres_autodetect",
        sign: r"If using AutoDetect the amount of GPUs configured in slurm\.conf does not match|The following autodetected GPUs are being ignored|has mismatching Cores or Links from the device found|Discarding the following config-only GPU due to lack of File|Ignoring file-less GPU",
        counts: Counts::Warn,
        says: "GPUs that slurmd found are not those of gres.conf or slurm.conf",
        means: "Type, number, cores or links do not agree, so that some GPUs are not given out.",
        act: "`slurmd -G` on the node prints what it finds: write that into Gres= (with the type as printed, or without a type), and take Cores= and Links= out of gres.conf where AutoDetect=nvml is set",
        remedy: Remedy::Settings,
        sources: &[seen("https://github.com/SchedMD/slurm (src/plugins/gres/gpu/gres_gpu.c)", "2026-11-30")],
        samples: &["slurmd: warning: The following autodetected GPUs are being ignored:"],
        ..TOOL
    },
    Cause {
        id: "slurm.no_nvml",
        sign: "We were configured (to autodetect nvml functionality, but we weren't able to find that lib|with nvml functionality, but that lib wasn't found)",
        says: "gres.conf has AutoDetect=nvml, and this slurmd has no NVML",
        means: "The first form says that Slurm was built where NVML was not found; the second that the driver's libnvidia-ml.so.1 is not on this host.",
        act: "`ldconfig -p | grep nvidia-ml`: without it install the driver's library; with it take a Slurm that was built with NVML, or AutoDetect=nvidia (24.11 and newer), or name the devices by File= in gres.conf",
        remedy: Remedy::Install,
        sources: &[seen("https://github.com/SchedMD/slurm (src/interfaces/gpu.c)", "2026-11-30")],
        samples: &[
            "slurmd: We were configured to autodetect nvml functionality, but we weren't able to find that lib when Slurm was configured.",
        ],
        ..TOOL
    },
    Cause {
        id: "slurm.nvml_init",
        sign: r"(slurm\w*: )?error: Failed to initialize NVML: (?<why>.*)",
        says: "slurmd cannot ask the driver for its GPUs: {why}",
        means: "NVML did not start, so nvidia-smi on this node fails alike.",
        act: "`nvidia-smi` on the node and its message; `provision verify` tells more (`driver.coherence`, `gpu.answers`). Then restart slurmd",
        remedy: Remedy::Settings,
        samples: &["slurmd: error: Failed to initialize NVML: Unknown Error"],
        ..GPU
    },
    Cause {
        id: "slurm.mig_empty",
        sign: "MIG mode is enabled, but no MIG devices were found",
        says: "a GPU is in MIG mode and has no instances",
        means: "AutoDetect=nvml gives out instances where the mode is on, and there are none: they are gone after each reboot.",
        act: "make the instances before slurmd starts (`nvidia-smi mig -cgi ... -C`, or nvidia-mig-manager), or switch the mode off (`nvidia-smi -mig 0`)",
        remedy: Remedy::Settings,
        sure: Sure::Confirmed,
        samples: &[
            "slurmd: error: MIG mode is enabled, but no MIG devices were found. Please either create MIG instances, disable MIG mode, remove AutoDetect=nvml, or remove GPUs from the configuration completely.",
        ],
        ..GPU
    },
    Cause {
        id: "slurm.gres_types",
        sign: r"Invalid GRES (data, no type name|configured on node (?<node>\S+): (?<gres>\S+))|Ignoring gres\.conf record, invalid name|No plugin configured to (process GRES data|unpack data type)|no plugin configured to unpack data type",
        says: "a GRES is not named in GresTypes[ ({gres} of {node})]",
        means: "slurm.conf must have GresTypes=gpu for the GPUs of nodes, on all hosts alike.",
        act: "set GresTypes=gpu in slurm.conf on controller, nodes and submit hosts, restart slurmctld, then slurmd",
        remedy: Remedy::Settings,
        samples: &["slurmctld: error: Invalid GRES configured on node gpu0: gpu:8"],
        ..GRES
    },
    Cause {
        id: "slurm.gres_cores",
        sign: r"invalid GRES core specification \((?<cores>[^)]*)\) on node (?<node>\S+)|This CPU affinity bitmask \(\S+\) does not fit within the CPUs configured|only (?<has>\d+) CPUs are available",
        says: "Cores= of gres.conf does not fit the processors of the node[ {node}]",
        means: "slurm.conf gives the node fewer or other cores than gres.conf or the driver names.",
        act: "write the node's line as `slurmd -C` prints it (Sockets, CoresPerSocket, ThreadsPerCore), and take Cores= out of gres.conf where AutoDetect=nvml is set",
        remedy: Remedy::Settings,
        samples: &[
            "slurmctld: error: _node_config_validate: gres/gpu: invalid GRES core specification (64-127) on node gpu0",
        ],
        ..GRES
    },
    Cause {
        id: "slurm.spool_full",
        sign: r"SlurmdSpoolDir is full|TmpFS is full|slurmd.*(?:/var/spool/|spool)\S*.*No space left on device|Low TmpDisk",
        says: "a local file system of the node is full, so Slurm drained it",
        means: "SlurmdSpoolDir (mostly /var/spool/slurmd) or the disk for TmpDisk has no space. Slurm writes each job there.",
        act: "on the node `df -h /var/spool/slurmd /tmp /` and `du -xh -d1 / | sort -h | tail`: remove logs, cores, images and files of ended jobs; then `scontrol update nodename=NAME state=resume`. For TmpDisk alone compare TmpDisk= of slurm.conf with `slurmd -C`",
        remedy: Remedy::Settings,
        sources: &[
            seen(
                "https://github.com/SchedMD/slurm (src/slurmd/slurmstepd/mgr.c, cred_context.c)",
                "2026-12-01",
            ),
            seen("https://github.com/marbits-icm/marbits-public/issues/166", "2025-10-16"),
        ],
        samples: &[
            "hpc            gpu0   up    drain   40     0.00     256000   126771   40:1:1  SlurmdSpoolDir is full",
        ],
        ..NODES
    },
    Cause {
        id: "slurm.low_memory",
        sign: r"Reason=Low Memory\b|Low RealMemory( \(reported:(?<has>\d+) < \S+% of configured:(?<wants>\d+)\))?|has low real_memory size \((?<few>\d+) [</] (?<many>\d+)\)",
        says: "the node has less memory than slurm.conf says[ ({has} of {wants} MB)][ ({few} of {many} MB)]",
        means: "RealMemory is what the firmware sold, and not what the kernel has; or memory is missing.",
        act: "`slurmd -C` on the node prints what it has: set RealMemory a little below that and restart slurmctld. If it lacks a module's worth, compare with its neighbours (`fleet.memory`) and look into the event log of the BMC for a DIMM that was switched off",
        remedy: Remedy::Settings,
        samples: &[
            "Low RealMemory (reported:515634 < 100.00% of configured:515900) [slurm@2025-01-01T00:00:00]",
            "Low RealMemory       slurm     2021-05-06T10:11:12 gpu0",
        ],
        ..NODES
    },
    Cause {
        id: "slurm.low_cpus",
        sign: r"Low socket\*core\*thre|(^|Reason=)\s*Low CPUs\b|has low (socket\*core\*thread|cpu) count",
        says: "the node has fewer processors than slurm.conf says",
        means: "CPUs, Sockets, CoresPerSocket or ThreadsPerCore of its line are not those of the host: by a mistake, or as hyper-threading was switched in its firmware.",
        act: "write the node's line as `slurmd -C` prints it, restart slurmctld and slurmd, then resume the node; to have threads back, set hyper-threading in the firmware",
        remedy: Remedy::Settings,
        samples: &["Low socket*core*thre slurm     2021-05-06T10:11:12 gpu0"],
        ..NODES
    },
    Cause {
        id: "slurm.hardware_differs",
        sign: "Node configuration differs from hardware: (?<what>.*)",
        counts: Counts::Warn,
        says: "slurm.conf describes this node otherwise than it is: {what}",
        means: "In each pair the second number, with (hw), is what slurmd found.",
        act: "write the node's line as `slurmd -C` prints it, and restart slurmctld and slurmd",
        remedy: Remedy::Settings,
        sources: &[seen("https://github.com/SchedMD/slurm (src/slurmd/slurmd/slurmd.c)", "2026-11-30")],
        samples: &[
            "slurmd: error: Node configuration differs from hardware: CPUs=64:128(hw) Boards=1:1(hw) SocketsPerBoard=2:2(hw) CoresPerSocket=32:32(hw) ThreadsPerCore=1:2(hw)",
        ],
        ..TOOL
    },
    Cause {
        id: "slurm.node_rebooted",
        sign: r"Node unexpectedly re(booted)?\b|Node \S+ unexpectedly rebooted",
        role: Role::Effect,
        counts: Counts::Warn,
        says: "a node started anew without Slurm knowing",
        means: "It lost power, panicked or was rebooted by hand. Slurm keeps it down until somebody says that it is well.",
        act: "look why it started (`last -x reboot`, `journalctl -b -1 -e`, the event log of the BMC); then `scontrol update nodename=NAME state=resume`. ReturnToService=2 would take such nodes back by itself",
        remedy: Remedy::Settings,
        samples: &["Node unexpectedly re slurm     2025-01-01T00:00:00 gpu0"],
        ..NODES
    },
    Cause {
        id: "slurm.node_silent",
        sign: r"Nodes? (?<node>\S+) not responding|Not responding +(\S+ +\d{4}-\d\d|\[)",
        role: Role::Effect,
        says: "the controller does not reach a node[: {node}]",
        means: "slurmd is not running there, the node is down, or a firewall, a wrong address or munge is between them.",
        act: "cheapest first: `ping`, then `systemctl status slurmd` on the node, `nc -zv NODE 6818` from the controller, `munge -n | ssh NODE unmunge`; then `scontrol update nodename=NODE state=resume`",
        remedy: Remedy::Settings,
        sure: Sure::Guess,
        samples: &[
            "slurmctld: error: Nodes gpu0 not responding, setting DOWN",
            "Not responding       slurm     2025-01-01T00:00:00 gpu0",
        ],
        ..NODES
    },
    Cause {
        id: "slurm.kill_failed",
        sign: r"Kill task failed\b|STEPD TERMINATED ON \S+ AT \S+ DUE TO JOB NOT ENDING WITH SIGNALS",
        role: Role::Effect,
        says: "processes of a job did not end, and Slurm drained the node",
        means: "A process hung in the kernel (storage, a GPU, a network file system), or an epilog or a plugin that should end it failed.",
        act: "on the node look for processes in state D (`ps -eo state,pid,wchan:30,cmd | grep ^D`), the kernel's log and the epilog in slurmd's log; mend that, then `scontrol update nodename=NAME state=resume`. Raise UnkillableStepTimeout where jobs only need longer to write",
        remedy: Remedy::Settings,
        sources: &[seen("https://github.com/SchedMD/slurm (src/common/slurm_errno.c)", "2026-11-30")],
        samples: &[
            "Kill task failed     root      2024-01-25T15:12:23 gpu0",
            "slurmstepd: error: *** JOB 123 STEPD TERMINATED ON gpu0 AT 2024-01-25T15:12:22 DUE TO JOB NOT ENDING WITH SIGNALS ***",
        ],
        ..TOOL
    },
    Cause {
        id: "slurm.task_prolog_missing",
        sign: r"Could not run slurm task_(prolog|epilog) \[(?<file>[^\]]*)\]: (?<why>.*)|run_command: slurm task_(prolog|epilog) can not be executed \((?<path>[^)]+)\)",
        counts: Counts::Warn,
        says: "the task prolog is not where the task looks for it[: {file}][: {path}]",
        means: "TaskProlog of slurm.conf runs within the task, so within the container of pyxis too, where the path does not exist.",
        act: "mount the script into the container (`--container-mounts`, or a fstab of enroot for all), or see that the path exists on the node",
        remedy: Remedy::Settings,
        sources: &[
            seen("https://github.com/NVIDIA/pyxis/issues/84", "2022-07-19"),
            seen("https://github.com/NVIDIA/pyxis/issues/135", "2024-03-08"),
        ],
        samples: &[
            "slurmstepd: error: run_command: slurm task_prolog can not be executed (/opt/slurm/task_prolog.sh) No such file or directory",
        ],
        ..TOOL
    },
    Cause {
        id: "slurm.prolog_missing",
        sign: r"^(.*: )?/\S*(prolog|epilog)\S*: (No such file or directory|Permission denied)|(?<which>Prolog|Epilog|prolog|epilog|HealthCheckProgram)\S*[: ].*(?<file>/\S*(prolog|epilog|health)\S*)'?:? (No such file or directory|Permission denied|Exec format error)|Unable to create list of paths \[(?<path>[^\]]+)\]",
        says: "the prolog or epilog that slurm.conf names is missing or cannot be run",
        means: "slurmd finds no such file on the node, or may not run it. Each job fails there, and the node is drained.",
        act: "put the script on every node at the path of Prolog= or Epilog= (mode 0755, with a `#!` line), or take the setting out and `scontrol reconfigure`; then `scontrol update nodename=NAME state=resume`",
        remedy: Remedy::Settings,
        sources: &[
            seen("https://github.com/mknoxnv/ubuntu-slurm/issues/4", "2018-05-17"),
            seen("https://slurm.schedmd.com/prolog_epilog.html", "2026-11-30"),
        ],
        samples: &["/etc/slurm/prolog.d: No such file or directory"],
        ..TOOL
    },
    Cause {
        id: "slurm.sudo_finds_no_shell",
        sign: r"^\s*sudo: (?<shell>(ba)?sh): command not found",
        says: "sudo finds no {shell} on its PATH",
        means: "The script (such as a prolog of Slurm) calls sudo with a PATH or a secure_path that lacks /usr/bin and /bin.",
        act: "write the shell with its whole path (`/bin/{shell} -c`) in the script, or set secure_path of sudo right (`sudo visudo`); then resume the nodes that were drained",
        remedy: Remedy::Settings,
        sources: &[seen("https://github.com/NVIDIA/deepops/issues/919", "2021-03-23")],
        samples: &["sudo: sh: command not found"],
        ..TOOL
    },
    Cause {
        id: "slurm.health_check",
        sign: r"(^\s*|Reason=|offline: +)NHC: (?<why>.+?)( {1,}\S+ +\d{4}-\d\d-\d\dT.*)?$|health_check failed: rc:(?<rc>\d+) output:(?<output>.*)|\bnhc(\[\d+\])?:\s+Health check failed:\s*(?<nhc>.*)",
        says: "the health check of the node failed[: {why}][: {output}][: {nhc}]",
        means: "A program that the site runs on its nodes found it and drained the node. Its own words say what.",
        act: "run the check by hand on the node (`nhc -d`, or HealthCheckProgram), mend what it names, then `scontrol update nodename=NAME state=resume` where it does not do that itself",
        remedy: Remedy::Settings,
        sources: &[
            seen("https://github.com/NVIDIA/deepops/pull/660", "2020-09-23"),
            seen("https://github.com/mej/nhc/issues/161", "2025-06-12"),
            seen("https://github.com/SchedMD/slurm (src/slurmd/slurmd/slurmd.c)", "2026-11-30"),
        ],
        samples: &[
            "ERROR:  nhc:  Health check failed:  Check check_nv_gpu_count 2 returned 1",
            "NHC: Check check_nv_ root      2020-09-24T18:00:00 gpu0",
        ],
        ..TOOL
    },
    Cause {
        id: "slurm.prolog_failed_salloc",
        sign: "(?:salloc|srun|sbatch): Prolog failure on node (?<node>[^ ]+)",
        says: "the prolog failed on {node}",
        means: "The prolog of that node ended with an error, Slurm gave the allocation back and drains the node.",
        act: "slurmd's log on {node} names the script and its exit code; mend that, then `scontrol update nodename={node} state=resume`",
        remedy: Remedy::Settings,
        sources: &[seen("https://github.com/AMDResearch/hpcfund/issues/69", "2025-10-13")],
        samples: &["salloc: Prolog failure on node k003-006"],
        ..CTLD
    },
    Cause {
        id: "slurm.prolog_failed",
        sign: r"Prolog error\b|error: .*[Pp]rolog (failed|didn't run|killed)|(Job )?[Pp]rolog failed( status=(?<status>\S+)|:|\s*$)|prolog_slurmctld JobId=\d+ prolog exit status|Prolog/Epilog failure|Prolog or job env setup failure",
        role: Role::Effect,
        says: "the prolog of a job failed[ (status {status})]",
        means: "Slurm drains the node then. The script's own words stand in slurmd's log of the node.",
        act: "look into slurmd's log on the node before this line and run the script there by hand; then `scontrol update nodename=NAME state=resume`",
        remedy: Remedy::Settings,
        samples: &[
            "srun: error: Task launch for 23.0 failed on node hpc: Job prolog failed",
            "Prolog error         slurm     2018-05-17T01:05:47 hpc",
        ],
        ..REQ
    },
    Cause {
        id: "slurm.epilog_failed",
        sign: r"Epilog error\b|(Job )?[Ee]pilog failed( status=(?<status>\S+)|:|\s*$)|Epilog failure on host|epilog error JobId=",
        role: Role::Effect,
        says: "the epilog of a job failed[ (status {status})]",
        means: "Slurm drains the node then. The script's own words stand in slurmd's log of the node.",
        act: "look into slurmd's log on the node before this line and run the script there by hand; then `scontrol update nodename=NAME state=resume`",
        remedy: Remedy::Settings,
        samples: &["error: [job 1537] epilog failed status=126:0"],
        ..REQ
    },
    Cause {
        id: "slurm.job_start_failed",
        sign: r"batch job complete f(ailure)?\b|Could not confirm batch launch for",
        role: Role::Effect,
        says: "a batch job could not be started on a node",
        means: "slurmstepd failed before the script ran: spool directory, home directory, account or memory of that node.",
        act: "look into slurmd's log on the node at that time (`grep error /var/log/slurm/slurmd.log`), mend it, then resume the node",
        remedy: Remedy::Settings,
        sources: &[seen("https://github.com/SchedMD/slurm (src/slurmctld/proc_req.c)", "2026-11-30")],
        samples: &["batch job complete f root      2025-01-01T00:00:00 gpu0"],
        ..TOOL
    },
    Cause {
        id: "slurm.duplicate_job",
        sign: r"Duplicate jobid\b|already running, do not launch second copy",
        role: Role::Effect,
        counts: Counts::Warn,
        says: "a node still has a job that Slurm gives it again",
        means: "A job of the same number did not end there, as after a lost connection or a state that was set back.",
        act: "on the node look for slurmstepd of that job, end it, then `scontrol update nodename=NAME state=resume`",
        remedy: Remedy::Settings,
        sources: &[seen("https://github.com/SchedMD/slurm (src/slurmctld/agent.c)", "2026-11-30")],
        samples: &["Duplicate jobid      slurm     2025-01-01T00:00:00 gpu0"],
        ..TOOL
    },
    Cause {
        id: "slurm.resume_timeout",
        sign: r"ResumeTimeout reache(d)?\b|reboot timed out\b",
        role: Role::Effect,
        says: "a node did not come back in the time that Slurm gives it",
        means: "It was started or rebooted by Slurm, and slurmd did not report in ResumeTimeout seconds.",
        act: "look at the node's console or cloud instance: its first boot, cloud-init, its name and its way to the controller; raise ResumeTimeout where it only takes longer",
        remedy: Remedy::Settings,
        sources: &[seen("https://github.com/SchedMD/slurm (src/slurmctld/power_save.c)", "2026-11-30")],
        samples: &["ResumeTimeout reache slurm     2025-01-01T00:00:00 gpu0"],
        ..TOOL
    },
    Cause {
        id: "slurm.registration_refused",
        sign: r"_slurm_rpc_node_registration node=(?<node>\S+): (?<why>.*)|(validate_node_specs|_slurm_rpc_node_registration).*(?<reason>Invalid argument)",
        role: Role::Effect,
        says: "the controller does not take the node [{node}: {why}]",
        means: "The report of slurmd does not fit slurm.conf: memory, processors or GPUs. The reason is in `sinfo -R`.",
        act: "`scontrol show node NAME` has the reason; compare `slurmd -C` and `slurmd -G` with its line in slurm.conf",
        remedy: Remedy::Settings,
        sources: &[seen("https://github.com/SchedMD/slurm (src/slurmctld/proc_req.c)", "2026-11-30")],
        samples: &["slurmctld: error: _slurm_rpc_node_registration node=gpu0: Invalid argument"],
        ..TOOL
    },
    Cause {
        id: "slurm.cluster_without_port",
        sign: r"trying to register a cluster \((?<cluster>[^)]*)\) with no remote port",
        says: "slurmdbd has the cluster {cluster} without a controller that answers",
        means: "The cluster was added by sacctmgr, and its slurmctld has not registered: it was not started again since accounting was set, does not reach slurmdbd, or is refused by it.",
        act: "see AccountingStorageType and AccountingStorageHost in slurm.conf, restart slurmctld, then `sacctmgr show cluster` must show its ControlHost and ControlPort; its log says why it does not register",
        remedy: Remedy::Settings,
        sure: Sure::Likely,
        sources: &[seen("https://github.com/aws/aws-parallelcluster/issues/3397", "2021-10-26")],
        samples: &[
            "[2021-10-26T18:45:15.686] error: _add_registered_cluster: trying to register a cluster (parallelcluster) with no remote port",
        ],
        ..DBD
    },
    Cause {
        id: "slurm.cluster_not_added",
        sign: "You need to add this cluster to accounting|This cluster hasn't been added to accounting",
        says: "the cluster is not in the accounting database",
        means: "slurmdbd does not know the ClusterName of slurm.conf.",
        act: "`sacctmgr add cluster NAME` with the ClusterName of slurm.conf (then accounts and users), and restart slurmctld",
        remedy: Remedy::Settings,
        sure: Sure::Confirmed,
        samples: &[
            "slurmctld: fatal: You need to add this cluster to accounting if you want to enforce associations, or no jobs will ever run.",
        ],
        ..DBD
    },
    Cause {
        id: "slurm.accounting_off",
        sign: "Slurm accounting storage is disabled|You are not running a supported accounting_storage plugin",
        counts: Counts::Warn,
        says: "this cluster records no jobs",
        means: "AccountingStorageType is accounting_storage/none, so sacct and sacctmgr have nothing to show.",
        act: "set AccountingStorageType=accounting_storage/slurmdbd and AccountingStorageHost, with slurmdbd and MariaDB (the playbook `slurm` does), where you want accounting",
        remedy: Remedy::Settings,
        sure: Sure::Confirmed,
        sources: &[seen("https://github.com/SchedMD/slurm (src/sacct)", "2026-11-30")],
        samples: &["Slurm accounting storage is disabled"],
        ..TOOL
    },
    Cause {
        id: "slurm.cluster_tables",
        sign: r"Table '\w+\.(?<cluster>[\w-]+?)_(job|assoc|event|step|suspend|last_ran|usage_\w+)_table' doesn't exist",
        says: "the database has no tables of the cluster {cluster}",
        means: "slurmdbd makes them when the cluster is added, and nobody did, or ClusterName of slurm.conf was changed.",
        act: "`sacctmgr add cluster {cluster}`, then restart slurmctld",
        remedy: Remedy::Settings,
        sources: &[seen("https://github.com/giovtorres/slurm-docker-cluster/issues/9", "2019-10-21")],
        samples: &[
            "slurmdbd: error: We should have gotten a new id: Table 'slurm_acct_db.linux_job_table' doesn't exist",
        ],
        ..TOOL
    },
    Cause {
        id: "slurm.database_denied",
        sign: r"mysql_real_connect failed: (?<code>1045|1698|1044) (?<why>Access denied for user (?<user>\S+).*)",
        says: "the database refuses the account {user} of slurmdbd",
        means: "StorageUser or StoragePass of slurmdbd.conf is wrong, the account may not come from this host, or has no rights on the database.",
        act: "try it by hand: `mysql -u USER -p -h HOST slurm_acct_db`; then set the password in slurmdbd.conf or `grant all on slurm_acct_db.* to 'slurm'@'HOST'`, and restart slurmdbd",
        remedy: Remedy::Settings,
        samples: &[
            "slurmdbd: error: mysql_real_connect failed: 1045 Access denied for user 'slurm'@'localhost' (using password: YES)",
        ],
        ..MYSQL
    },
    Cause {
        id: "slurm.database_down",
        sign: "mysql_real_connect failed: (?<code>200[2-6]|2013) (?<why>.*)",
        says: "slurmdbd does not reach its database: {why}",
        means: "MariaDB or MySQL does not run, or listens at another socket or address than StorageHost names.",
        act: "`systemctl status mariadb` (or mysql) there and `ss -ltn | grep 3306`; start it, or set StorageHost and StoragePort right; then restart slurmdbd",
        remedy: Remedy::Settings,
        samples: &[
            "slurmdbd: error: mysql_real_connect failed: 2002 Can't connect to local MySQL server through socket '/var/run/mysqld/mysqld.sock' (2)",
        ],
        ..MYSQL
    },
    Cause {
        id: "slurm.database_full",
        sign: "mysql_query failed: (?<code>1114|1021|28|3|1030|1026) (?<why>.*)",
        says: "the database of slurmdbd cannot write: {why}",
        means: "Its disk or a table is full, most often.",
        act: "`df -h` at the database's data directory; free space, then look that slurmdbd goes on",
        remedy: Remedy::Settings,
        samples: &["slurmdbd: error: mysql_query failed: 1114 The table 'cluster_job_table' is full"],
        ..MYSQL
    },
    Cause {
        id: "slurm.database_locks",
        sign: "mysql gave ER_LOCK_WAIT_TIMEOUT|mysql_query failed: 1205 |unable to resolve deadlock with attempts|a concurrent transaction modified a row read by this transaction|innodb_snapshot_isolation is enabled|snapshot_isolation=OFF",
        says: "statements of slurmdbd wait too long for each other in the database",
        means: "innodb_lock_wait_timeout and the buffer are at the small defaults, or MariaDB 11.6.2 and newer has innodb_snapshot_isolation on, which Slurm does not take.",
        act: "set innodb_lock_wait_timeout=900, innodb_buffer_pool_size to some GiB, and innodb_snapshot_isolation=OFF where the message names it; restart MariaDB, then slurmdbd",
        remedy: Remedy::Settings,
        sources: &[
            seen("https://github.com/SchedMD/slurm (src/database/mysql_common.c)", "2026-11-30"),
            seen("https://slurm.schedmd.com/accounting.html", "2026-11-30"),
        ],
        samples: &[
            "slurmdbd: fatal: mysql gave ER_LOCK_WAIT_TIMEOUT as an error. The only way to fix this is restart the calling program",
        ],
        ..TOOL
    },
    Cause {
        id: "slurm.sacctmgr_refused",
        sign: r"Problem adding (?:clusters|accounts?|users?|QOS\w*): (?<why>.+)|slurmdbd: Getting response to message type (?<type>\d+)",
        role: Role::Effect,
        follows: &["slurm.database_query"],
        says: "slurmdbd did not do what sacctmgr asked[: {why}][: message {type}]",
        means: "Its log has the database's words.",
        act: "read slurmdbd.log at that second (rights of its account in the database, a lock by another sacctmgr, a conversion that runs), then give the command again",
        remedy: Remedy::Look,
        sure: Sure::Likely,
        sources: &[seen("https://github.com/clustervision/trinityX/issues/168", "2017-01-02")],
        samples: &[
            " Problem adding clusters: Unspecified error",
            "sacctmgr: error: slurmdbd: Getting response to message type 1405",
        ],
        ..DBD
    },
    Cause {
        id: "slurm.database_query",
        sign: r"mysql_query failed: (?<code>\d+) (?<why>.*)",
        says: "the database refused a statement of slurmdbd: {why}",
        means: "A half-done conversion, a database of another release of Slurm, or rights that are missing give such errors.",
        act: "keep a dump of the database first; look at the number ({code}) and whether slurmdbd was upgraded or set back just before: a newer database is not read by an older slurmdbd",
        sure: Sure::Guess,
        samples: &["slurmdbd: error: mysql_query failed: 1054 Unknown column 'deleted' in 'field list'"],
        ..MYSQL
    },
    Cause {
        id: "slurm.database_waits",
        sign: "The database must be up when starting the MYSQL plugin|It looks like the storage has gone away",
        role: Role::Effect,
        says: "slurmdbd waits for its database",
        means: "It tries again every few seconds.",
        act: "`systemctl status mariadb` (or mysql); the line before has the reason",
        remedy: Remedy::Settings,
        sources: &[seen(
            "https://github.com/SchedMD/slurm (src/plugins/accounting_storage/mysql)",
            "2026-11-30",
        )],
        samples: &[
            "slurmdbd: error: The database must be up when starting the MYSQL plugin. Trying again in 5 seconds.",
        ],
        ..TOOL
    },
    Cause {
        id: "slurm.dbd_queue",
        sign: r"agent queue (is full|filling) ?\((?<count>\d+)\)",
        says: "{count} records of slurmctld wait for slurmdbd",
        means: "slurmdbd does not run or is far too slow; with a full queue records of jobs are lost.",
        act: "`sacctmgr show stats` and slurmdbd's log: start slurmdbd and its database again, then purge old jobs (PurgeJobAfter) where the database is slow",
        remedy: Remedy::Settings,
        samples: &["slurmctld: error: agent queue filling (20140), MaxDBDMsgs=25000, RESTART SLURMDBD NOW"],
        ..DBD
    },
    Cause {
        id: "slurm.dbd_init_message",
        sign: r"persistent connection init message to (?<where>[^:]+:\d+): (?<why>.*)",
        says: "slurmdbd at {where} does not take the greeting of this daemon: {why}",
        means: "Versions that do not fit (slurmdbd has to be the newest), keys of munge or clocks that differ, or another service on that port.",
        act: "compare `slurmdbd -V` with `slurmctld -V` (slurmdbd is updated first), then `munge -n | ssh HOST unmunge`, and the log of slurmdbd",
        remedy: Remedy::Look,
        sure: Sure::Guess,
        samples: &[
            "slurmctld: error: slurm_persist_conn_open: Something happened with the receiving/processing of the persistent connection init message to localhost:6819: Failed to unpack SLURM_PERSIST_INIT message",
        ],
        ..DBD
    },
    Cause {
        id: "slurm.dbd_must_run",
        sign: r#"You need to have slurmdbd running|slurmdbd must be up at slurmctld start time|Slurmctld has been started with \"AccountingStorageEnforce"#,
        says: "slurmctld needs slurmdbd at its first start",
        means: "It has no saved copy of accounts yet (or AccountingStorageEnforce wants them), and slurmdbd does not answer.",
        act: "start MariaDB, then slurmdbd (`systemctl status slurmdbd`, its log), then slurmctld; the order in units: After=slurmdbd.service",
        remedy: Remedy::Settings,
        sure: Sure::Confirmed,
        samples: &["slurmctld: fatal: slurmdbd must be up at slurmctld start time"],
        ..DBD
    },
    Cause {
        id: "slurm.pmix_peer_lost",
        sign: r"mpi/pmix: ERROR: (?:Error handler invoked|Dumping collective state|Connection to|Cannot (?:connect|send))|pmixp_coll[a-z_.]*:[0-9]+.*(?:timeout|COLL_FENCE_[A-Z]+ state)",
        role: Role::Effect,
        says: "PMIx of a job step waits for another node that does not answer",
        means: "A task or a node of the step is gone, or its slurmstepd is not reached. The first error of that node says why.",
        act: "look for the node in `my peerid` and the ones that are missing in the dump: their slurmd's log of that second, and whether a task ended there; where it comes and goes without one, test the ports between nodes (SrunPortRange and all ports of the job)",
        remedy: Remedy::Look,
        sure: Sure::Guess,
        sources: &[seen("https://github.com/openpmix/openpmix/issues/2031", "2021-01-22")],
        samples: &[
            "[142913.0] error: b1275 [0] pmixp_client_v2.c:210 [_errhandler] mpi/pmix: ERROR: Error handler invoked: status = -25: Success (0)",
        ],
        ..TOOL
    },
    Cause {
        id: "slurm.dbd_down",
        sign: r"failed to open persistent connection to (?:host:)?(?<host>[^:\s]+):(?<port>\d+): (?<why>.*)|Sending PersistInit msg: (?<reason>.*)|Problem talking to the database: (?<what>.*)|slurmdbd must be up at slurmctld start time|running with a database but for some reason we have (no|less) TRES|Association database appears down",
        role: Role::Effect,
        says: "slurmdbd does not answer[ at {host}:{port}][: {why}][: {reason}][: {what}]",
        means: "slurmdbd does not run, or AccountingStorageHost of slurm.conf names another host. A slurmctld with state of its own goes on without it.",
        act: "`systemctl status slurmdbd` on that host and its log (most often its database); `ss -ltn | grep 6819` there",
        remedy: Remedy::Settings,
        sources: &[seen("https://github.com/SchedMD/slurm (src/common/persist_conn.c)", "2026-11-30")],
        samples: &[
            "error: slurm_persist_conn_open_without_init: failed to open persistent connection to host:localhost:6819: Connection refused",
            "sacctmgr: error: Problem talking to the database: Connection refused",
        ],
        ..TOOL
    },
    Cause {
        id: "slurm.memory_exceeded",
        sign: r"Step (?<step>[0-9.+]+) exceeded (?:job )?memory limit \((?<used>\d+) > (?<limit>\d+)\)|exceeded (?:virtual )?memory limit.*being killed",
        says: "a step used more memory than it may[ ({step}: {used} of {limit} KiB)]",
        means: "The gathering of accounts watches memory (JobAcctGatherParams=OverMemoryKill) and ended the step.",
        act: "ask for more memory (`--mem=`), or use less; `sacct -j JOB -o MaxRSS,ReqMem` shows what it took",
        remedy: Remedy::Settings,
        sure: Sure::Confirmed,
        samples: &["slurmstepd: error: Step 1.0 exceeded memory limit (5000000 > 4000000), being killed"],
        ..STEPD
    },
    Cause {
        id: "slurm.modules_not_on_node",
        sign: r"environment: line [0-9]+: (?<path>\S*(?:lmod|modulecmd|modules)\S*): No such file or directory|BASH_FUNC_(?:module|ml)\S*.*No such file or directory",
        says: "the node does not have the modules of the login host: {path}",
        means: "The job took the function `module` along from the shell that sent it, and Lmod or Environment Modules is not installed on the node. Programs that a module brings (mpirun) are missing then, too.",
        act: "install the same Lmod or modules on the node, or mount the directory where the login host has it; a job that needs none can be sent with `sbatch --export=NONE`",
        remedy: Remedy::Install,
        sources: &[seen("https://github.com/access-ci-org/Jetstream_Cluster/issues/18", "2024-02-15")],
        samples: &["environment: line 17: /usr/share/lmod/lmod/libexec/lmod: No such file or directory"],
        ..TOOL
    },
    Cause {
        id: "slurm.out_of_memory",
        sign: r"Detected (?<times>\d+) oom[-_ ]kill( event|\(s\)| event\(s\))?.* in (?<step>StepId=\S+|step \S+)|Exceeded (job|step) memory limit|Some of (your processes|the step tasks) (may have been killed by the cgroup out-of-memory|have been OOM Killed)|task \S+: Out Of Memory|\bOUT_OF_ME(?:MORY\b|\+)",
        says: "the job used more memory than it asked for[ ({step})]",
        means: "Slurm limits each job by a cgroup, and the kernel ended processes in it. The node itself is well.",
        act: "ask for more memory (`--mem=`, `--mem-per-gpu=`), or use less: fewer workers that load data, smaller batches. `sacct -j JOB -o MaxRSS,ReqMem` shows what it took",
        remedy: Remedy::Settings,
        sure: Sure::Confirmed,
        sources: &[seen("https://github.com/SchedMD/slurm (src/slurmd/slurmstepd)", "2026-11-30")],
        samples: &[
            "slurmstepd: error: Detected 1 oom-kill event(s) in StepId=123.batch. Some of your processes may have been killed by the cgroup out-of-memory handler.",
            "slurmstepd: error: Detected 1 oom_kill event in StepId=123.0. Some of the step tasks have been OOM Killed.",
        ],
        ..TOOL
    },
    Cause {
        id: "slurm.time_limit",
        sign: r"CANCELLED AT \S+ DUE TO TIME LIMIT|Job killed due hitting max wall clock limit",
        says: "the job reached its time limit",
        means: "Slurm ended it; nothing is broken.",
        act: "ask for more time (`--time=`), up to MaxTime of the partition, or write checkpoints (`--signal=B:USR1@300`)",
        remedy: Remedy::Settings,
        sure: Sure::Confirmed,
        samples: &[
            "slurmstepd: error: *** JOB 123 ON gpu0 CANCELLED AT 2025-01-01T00:00:00 DUE TO TIME LIMIT ***",
        ],
        ..STEPD
    },
    Cause {
        id: "slurm.preempted",
        sign: r"CANCELLED AT \S+ DUE TO (?<why>PREEMPTION|JOB REQUEUE)",
        says: "the job was ended for another one ({why})",
        means: "A job of higher priority took its place, or somebody put it back into the queue.",
        act: "send it with `--requeue` and checkpoints, or to a partition or QOS that is not preempted",
        remedy: Remedy::Settings,
        sure: Sure::Confirmed,
        samples: &[
            "slurmstepd: error: *** JOB 123 ON gpu0 CANCELLED AT 2025-01-01T00:00:00 DUE TO PREEMPTION ***",
        ],
        ..STEPD
    },
    Cause {
        id: "slurm.node_failed",
        sign: r"CANCELLED AT \S+ DUE TO NODE|srun: error: Node failure on (?<node>\S+)|Job killed due node failure",
        role: Role::Effect,
        says: "a node of the job failed[: {node}]",
        means: "The controller lost it, or it was set down, while the job ran.",
        act: "`sinfo -R` and the kernel's log of that node say why (`provision verify` on it); send the job again without it (`--exclude=NODE`)",
        samples: &["srun: error: Node failure on gpu0"],
        ..STEPD
    },
    Cause {
        id: "slurm.variable_in_directive",
        sign: r"^#SBATCH\s+(-\w ?|--[a-z-]+[= ])?(?<value>\S*\$\{?[A-Za-z_]\w*\}?\S*)\s*$",
        counts: Counts::Warn,
        says: "{value} of an #SBATCH line is not replaced",
        means: "Slurm reads #SBATCH lines as they are, without a shell: a variable stays a word with a dollar sign.",
        act: r#"write the value out, or give it on the command line (`sbatch --account="$proj" job.sh`), where the shell fills it in"#,
        remedy: Remedy::Settings,
        sure: Sure::Confirmed,
        sources: &[
            seen("https://github.com/ComputationalRadiationPhysics/picongpu/issues/2931", "2019-03-28"),
            seen("https://slurm.schedmd.com/sbatch.html", "2026-11-30"),
        ],
        samples: &["#SBATCH --account=$proj"],
        ..TOOL
    },
    Cause {
        id: "slurm.account",
        sign: "Invalid account or account/partition combination specified",
        follows: &["slurm.variable_in_directive"],
        says: "Slurm knows no such account for this user and partition",
        means: "The name is mistyped, the user is not in that account, or has no account at all.",
        act: "`sacctmgr show assoc user=$USER format=account,partition,qos` lists what may be used (`--account=`); a manager adds one with `sacctmgr add user NAME account=ACCOUNT`",
        remedy: Remedy::Settings,
        samples: &[
            "sbatch: error: Batch job submission failed: Invalid account or account/partition combination specified",
        ],
        ..ERRNO
    },
    Cause {
        id: "slurm.step_gres",
        sign: r"Unable to create step for job (?<job>\d+): (Invalid generic resource|Insufficient GRES|Invalid GRES)",
        says: "the step asks for GPUs that job {job} does not have",
        means: "An srun within a job takes the SLURM_* variables of that job, or asks for more or another type than the job got. One that was meant as a new job does the same.",
        act: "look at `--gpus` and `--gres` of the inner srun against the job's; to send a new job from within one, unset those that begin with SLURM_ or send it from a login host",
        remedy: Remedy::Settings,
        sure: Sure::Guess,
        sources: &[seen("https://github.com/mehta-lab/waveorder/issues/201", "2024-09-24")],
        samples: &[
            "srun: error: Unable to create step for job 16413634: Invalid generic resource (gres) specification",
        ],
        ..TOOL
    },
    Cause {
        id: "slurm.cpus_differ",
        sign: "cpus-per-task set by two different environment variables|SLURM_TRES_PER_TASK=cpu=|--cpus-per-task and --tres-per-task",
        says: "cpus-per-task is set twice with different numbers",
        means: "srun inside an allocation takes the variables of the outer job; a script or salloc around it set another number (22.05 and newer pass SLURM_CPUS_PER_TASK on).",
        act: "give `srun --cpus-per-task=N` itself, or `unset SLURM_CPUS_PER_TASK SLURM_TRES_PER_TASK` before it",
        remedy: Remedy::Settings,
        sure: Sure::Likely,
        samples: &[
            "srun: fatal: cpus-per-task set by two different environment variables SLURM_CPUS_PER_TASK=4 != SLURM_TRES_PER_TASK=cpu=8",
        ],
        ..SRUN
    },
    Cause {
        id: "slurm.memory_options",
        sign: "SLURM_MEM_PER_CPU, SLURM_MEM_PER_GPU, and SLURM_MEM_PER_NODE are mutually exclusive|--mem, --mem-per-cpu, and --mem-per-gpu are mutually exclusive",
        says: "memory is asked for in two ways at once",
        means: "Only one of --mem, --mem-per-cpu and --mem-per-gpu may be given. Within a job the variables of that job count as well.",
        act: "give one of them; within a job `unset SLURM_MEM_PER_CPU SLURM_MEM_PER_GPU SLURM_MEM_PER_NODE` before the inner srun or sbatch",
        remedy: Remedy::Settings,
        samples: &[
            "srun: fatal: SLURM_MEM_PER_CPU, SLURM_MEM_PER_GPU, and SLURM_MEM_PER_NODE are mutually exclusive.",
        ],
        ..SRUN
    },
    Cause {
        id: "slurm.job_held",
        sign: r"\bReason=JobHeld(?<by>Admin|User)\b|\(JobHeld(?<who>Admin|User)\)",
        says: "the job is held[ (by {by})][ (by {who})]",
        means: "JobHeldUser: by its owner. JobHeldAdmin: by an administrator, or by slurmctld after a fault: a batch job whose launch failed is held with it.",
        act: "`scontrol show job ID` and `grep JOBID` in slurmctld.log say why; mend that (an account unknown on the nodes, the prolog), then `scontrol release ID`",
        remedy: Remedy::Settings,
        sources: &[
            seen("https://github.com/SlinkyProject/slurm-operator/issues/129", "2026-02-19"),
            seen("https://slurm.schedmd.com/job_reason_codes.html", "2026-11-30"),
        ],
        samples: &["JobState=PENDING Reason=JobHeldAdmin Dependency=(null)"],
        ..REQ
    },
    Cause {
        id: "slurm.request_impossible",
        sign: ": Requested node configuration is not available|: (CPU count per node|Memory specification) can not be satisfied",
        says: "no node of the partition can give what the job asks for",
        means: "The number of tasks, cores, memory or GPUs for one node is more than any node offers. Cores that are kept for the system (CoreSpecCount) count as taken.",
        act: r#"compare the request with `scontrol show node NAME` (CPUEfctv, RealMemory, Gres) and `sinfo -o "%P %c %m %G"`, and ask for less on one node or for another type of GPU; where RealMemory is 1 it was never set in slurm.conf"#,
        remedy: Remedy::Settings,
        sources: &[
            seen("https://github.com/SchedMD/slurm (src/common/slurm_errno.c)", "2026-11-30"),
            seen("https://github.com/ArjunaCluster/ArjunaUsers/issues/112", "2022-01-20"),
        ],
        samples: &[
            "sbatch: error: Batch job submission failed: Requested node configuration is not available",
        ],
        ..TOOL
    },
    Cause {
        id: "slurm.gres_request",
        sign: r": Invalid generic resource \(gres\) specification|Invalid GRES specification \(with and without type|: Duplicate generic resource \(gres\)|error: Invalid --gres specification|: Invalid Trackable RESource \(TRES\) specification",
        says: "Slurm does not know the GPUs that are asked for",
        means: "The type or the name of `--gres` or `--gpus` is not in slurm.conf, GresTypes lacks gpu, or both a typed and an untyped form were given.",
        act: r#"`sinfo -o "%N %G"` lists names and types: ask for one of those (`--gres=gpu:8`, `--gres=gpu:h100:8`); where the list is empty, GresTypes and Gres= are missing in slurm.conf"#,
        remedy: Remedy::Settings,
        samples: &[
            "sbatch: error: Batch job submission failed: Invalid generic resource (gres) specification",
        ],
        ..ERRNO
    },
    Cause {
        id: "slurm.partition_unknown",
        sign: r": Invalid partition name specified|: No partition specified or system default partition|invalid partition specified: (?<name>\S+)",
        says: "there is no such partition[ ({name})]",
        means: "The name is mistyped or of another cluster, or none is given and no partition is the default.",
        act: "`sinfo -s` lists the partitions: give one with `--partition=`",
        remedy: Remedy::Settings,
        sure: Sure::Confirmed,
        samples: &[
            "sbatch: error: Batch job submission failed: Invalid partition name specified",
            "sbatch: error: invalid partition specified: gpu",
        ],
        ..ERRNO
    },
    Cause {
        id: "slurm.partition_closed",
        sign: r": User's group not permitted to use this partition|: Required partition not available \(inactive or drain\)|: Partition in DOWN state|: Requested partition configuration not available now|: Requested nodes not in this partition",
        says: "the partition does not take this job",
        means: "It is closed, not for this group or account, or lacks the nodes or limits that the job asks for.",
        act: "`scontrol show partition NAME` has State, AllowGroups, AllowAccounts, MaxNodes, MaxTime and Nodes; choose another one or ask its managers",
        remedy: Remedy::Settings,
        samples: &[
            "sbatch: error: Batch job submission failed: User's group not permitted to use this partition",
        ],
        ..ERRNO
    },
    Cause {
        id: "slurm.policy",
        sign: "Job violates accounting/QOS policy|: (Invalid qos specification|Requested time limit is invalid|Access/permission denied|More processors requested than permitted|Node count specification invalid|Invalid feature specification|Memory required by task is not available|Task count specification invalid|CPU count specification invalid|Access denied to requested reservation|Requested reservation is invalid|System submissions disabled|MaxJobCount limit reached|Invalid node name specified|Task distribution specification invalid)",
        near: &[r"error: (?<limit>(QOS|Assoc|AssocGrp|QOSMax|MaxTRES|MaxWall)\w+)"],
        says: "Slurm refuses the job by a limit or an option of it[: {limit}]",
        means: "The words name the option: time, nodes, processors, QOS, feature, memory or reservation.",
        act: "`scontrol show partition NAME` and `sacctmgr show assoc user=$USER format=account,qos,maxjobs,maxsubmit,grptres,maxwall` have the limits: ask for less, or for another QOS",
        remedy: Remedy::Settings,
        samples: &[
            "sbatch: error: Batch job submission failed: Job violates accounting/QOS policy (job submit limit, user's size and/or time limits)",
            "srun: error: Unable to allocate resources: Requested time limit is invalid (missing or exceeds some limit)",
        ],
        ..ERRNO
    },
    Cause {
        id: "slurm.user_unknown",
        sign: r": Invalid user id\b|: User not found on host|rejecting \S+ credential for invalid user nobody|: Unable to resolve user ID to user name|fetch_identity\(\) failed|_fill_cred_gids: getpwuid failed for uid=(?<uid>\d+)|uid (?<id>\d+) not found on (system|host)",
        says: "a host does not know the account of the job[ ({uid})][ ({id})]",
        means: "Controller and nodes look accounts up themselves, by LDAP, SSSD or /etc/passwd. One of them has no such user, or another number.",
        act: "`id NAME` on the controller and on the node; make the directory service work there (`fleet.users` of `provision verify` compares), then send the job again",
        remedy: Remedy::Settings,
        samples: &["sbatch: error: Batch job submission failed: Invalid user id"],
        ..ERRNO
    },
    Cause {
        id: "slurm.node_wanted_is_away",
        sign: r": Required node not available \(down, drained or reserved\)|\(Nodes required for job are DOWN, DRAINED|: Requested nodes are busy|: Immediate execution impossible|: Job can not start (immediately|due to maintenance)|ReqNodeNotAvail",
        role: Role::Effect,
        says: "the nodes that the job wants are taken, down or drained",
        means: "The job may wait for them. `sinfo -R` has the reasons of nodes that are not given out.",
        act: "`sinfo -R` and `squeue --start`; leave `--nodelist` out, or wait",
        samples: &[
            "srun: error: Unable to allocate resources: Required node not available (down, drained or reserved)",
        ],
        ..ERRNO
    },
    Cause {
        id: "slurm.step_waits",
        sign: r"[Jj]ob (\S+ )?step creation (temporarily|still) disabled, retrying",
        role: Role::Effect,
        counts: Counts::Warn,
        says: "a step waits for resources that another step of the job holds",
        means: "Since Slurm 20.11 each srun takes its CPUs, memory and GPUs for itself; an interactive shell that srun started holds them too.",
        act: "give the inner srun `--overlap`, or give each step its part (`--exact`, `-c`, `--mem`, `--gpus`)",
        remedy: Remedy::Settings,
        samples: &["srun: Job 123 step creation temporarily disabled, retrying (Requested nodes are busy)"],
        ..SRUN
    },
    Cause {
        id: "slurm.job_over",
        sign: r"Unable to confirm allocation for job (?<job>\d+): |srun: error: .*Invalid job id specified|srun: error: Expired or invalid job (?<id>\d+)",
        says: "the allocation of this shell is over[ ({job})][ ({id})]",
        means: "SLURM_JOB_ID of the environment names a job that ended.",
        act: "leave the shell of the old allocation (or `unset SLURM_JOB_ID SLURM_JOBID`) and make a new one with salloc",
        remedy: Remedy::Settings,
        samples: &["srun: error: Unable to confirm allocation for job 123: Invalid job id specified"],
        ..SRUN
    },
    Cause {
        id: "slurm.cpu_binding",
        sign: "CPU binding outside of job step allocation|Unable to satisfy cpu bind request|Unable to satisfy cpu bind",
        says: "a step is bound to CPUs that the job does not have",
        means: "A `--cpu-bind` list or mask, or a variable of the outer job (SLURM_CPU_BIND), names other CPUs.",
        act: "leave `--cpu-bind` out or set `--cpu-bind=none`; within a job `unset SLURM_CPU_BIND SLURM_CPU_BIND_LIST SLURM_CPU_BIND_TYPE`",
        remedy: Remedy::Settings,
        samples: &[
            "slurmstepd: error: task/affinity: CPU binding outside of job step allocation, allocated CPUs are: 0x000000FF.",
        ],
        ..ERRNO
    },
    Cause {
        id: "slurm.script_format",
        sign: "This does not look like a batch script|Batch script contains DOS line breaks|Invalid directive found in batch script: (?<what>.*)",
        says: "sbatch does not take this script[: {what}]",
        means: "A batch script begins with `#!` and a path, has Unix line ends, and options that sbatch knows.",
        act: r"begin it with `#!/bin/bash`, turn DOS line ends into Unix ones (`sed -i 's/\r$//' job.sh`), correct the #SBATCH line; for a command without a script use `--wrap`",
        remedy: Remedy::Settings,
        sure: Sure::Confirmed,
        samples: &[
            "sbatch: error: This does not look like a batch script.  The first",
            r"sbatch: error: Batch script contains DOS line breaks (\r\n)",
        ],
        ..SBATCH
    },
    Cause {
        id: "slurm.output_file",
        sign: "Could not open std(?<which>in|out|err) file (?<file>/[^:]+): (?<why>.*)",
        says: "the job's file {file} cannot be opened: {why}",
        means: "Slurm makes no directories for `--output` and `--error` (before 25.11), and the node must see them.",
        act: "make the directory before the job is sent, on a file system that the node mounts and the user may write",
        remedy: Remedy::Settings,
        samples: &[
            "slurmstepd: error: Could not open stdout file /home/alice/logs/train-1.out: No such file or directory",
        ],
        ..STEPD
    },
    Cause {
        id: "slurm.workdir",
        sign: "couldn't chdir to [`'](?<dir>[^']+)': (?<why>.*): going to /tmp instead",
        counts: Counts::Warn,
        says: "the node does not have the job's directory {dir}: {why}",
        means: "The job runs in /tmp instead. The file system is not mounted there, or the user may not enter it.",
        act: "on the node `ls -ld {dir}` as the user and `findmnt`; mount it there (`fleet.mounts` compares), or send the job from a shared directory (`--chdir=`)",
        remedy: Remedy::Settings,
        samples: &[
            "slurmstepd: error: couldn't chdir to `/home/alice/run': No such file or directory: going to /tmp instead",
        ],
        ..STEPD
    },
    Cause {
        id: "slurm.spool_hidden",
        sign: r"execve\(\): (?<path>/tmp/\S*slurm_script): No such file or directory",
        says: "the job's script in {path} is gone",
        means: "SlurmdSpoolDir lies in /tmp, which something cleans, or which each job gets anew (job_container/tmpfs, PrivateTmp).",
        act: "set SlurmdSpoolDir to a directory outside /tmp (/var/spool/slurmd), then restart slurmd",
        remedy: Remedy::Settings,
        sources: &[seen("https://github.com/ArjunaCluster/ArjunaUsers/issues/46", "2021-09-10")],
        samples: &[
            "slurmstepd: error: execve(): /tmp/slurmd/job00089/slurm_script: No such file or directory",
        ],
        ..TOOL
    },
    Cause {
        id: "slurm.script_interpreter",
        sign: r"execve\(\): (?<path>\S*/slurm_script): (?<why>No such file or directory|Exec format error|Permission denied)",
        says: "the node cannot start the batch script: {why}",
        means: "The program of its `#!` line is not on the node, or the line ends with a DOS line end; a spool directory that is mounted noexec gives Permission denied.",
        act: "look at the first line (`head -1 job.sh | od -c`): use `#!/bin/bash`; on the node `findmnt -T /var/spool/slurmd`",
        remedy: Remedy::Settings,
        sources: &[seen("https://github.com/SchedMD/slurm (src/slurmd/slurmstepd/task.c)", "2026-11-30")],
        samples: &[
            "slurmstepd: error: execve(): /var/spool/slurmd/job00089/slurm_script: No such file or directory",
        ],
        ..TOOL
    },
    Cause {
        id: "slurm.program_missing",
        sign: r"error: execve\(\): (?<program>[^:]+): (?<why>.*)",
        says: "the node cannot start {program}: {why}",
        means: "The program is not there on the node, may not be run, or is of another architecture.",
        act: "on the node `ls -l` and `file` of {program}: use a path on a shared file system, load its module in the job, `chmod +x` it",
        remedy: Remedy::Settings,
        sources: &[seen("https://github.com/SchedMD/slurm (src/slurmd/slurmstepd/task.c)", "2026-11-30")],
        samples: &["slurmstepd: error: execve(): ./train: No such file or directory"],
        ..TOOL
    },
    Cause {
        id: "slurm.rlimit",
        sign: r"Can't propagate (?<limit>RLIMIT_\w+) of (?<value>.+?) from submit host",
        counts: Counts::Warn,
        says: "the limit {limit} of the submit host cannot be set on the node",
        means: "Slurm carries the limits of the shell that sent the job, and slurmd's own limit is lower.",
        act: "set PropagateResourceLimitsExcept=MEMLOCK (or PropagateResourceLimits=NONE) in slurm.conf, and LimitMEMLOCK=infinity and LimitNOFILE in a drop-in of slurmd.service; the playbook `slurm` does",
        remedy: Remedy::Settings,
        sources: &[seen("https://github.com/SchedMD/slurm (src/slurmd/slurmstepd/ulimits.c)", "2026-11-30")],
        samples: &[
            "slurmstepd: error: Can't propagate RLIMIT_MEMLOCK of 'unlimited' from submit host: Operation not permitted",
        ],
        ..TOOL
    },
    Cause {
        id: "slurm.x11",
        sign: r"Cannot forward to local display|X11 forwarding not (available|built in)|Could not retrieve magic cookie\. Cannot use X11",
        counts: Counts::Warn,
        says: "srun cannot forward X11",
        means: "The login has no display that can be forwarded, or slurm.conf has no PrologFlags=X11.",
        act: "log in with `ssh -X` and xauth installed; set PrologFlags=X11 in slurm.conf",
        remedy: Remedy::Settings,
        samples: &[
            "srun: error: Cannot forward to local display. Can only use X11 forwarding with network displays.",
        ],
        ..SRUN
    },
    Cause {
        id: "slurm.enroot_directory",
        sign: r"(pyxis|enroot)\b.*mkdir: cannot create directory ['‘](?<dir>[^'’]+)['’]: (?<why>.*)|pyxis: couldn't (mkdir|chown) (?<path>\S+): (?<reason>.*)",
        says: "enroot cannot make its directory [{dir}: {why}][{path}: {reason}]",
        means: "enroot runs without root's rights, and a path of enroot.conf does not exist on this node, or belongs to another account.",
        act: "have each path of enroot.conf (ENROOT_RUNTIME_PATH, ENROOT_CACHE_PATH, ENROOT_DATA_PATH, ENROOT_TEMP_PATH) made with the right owner, at boot (tmpfiles) or in the prolog, with mode 1777 or one folder for each user; then restart slurmd and resume the node. Never open / or /run themselves",
        remedy: Remedy::Settings,
        sources: &[
            seen("https://github.com/NVIDIA/pyxis/issues/138", "2024-05-07"),
            seen("https://github.com/awslabs/awsome-distributed-ai/issues/185", "2024-03-09"),
        ],
        samples: &[" error: pyxis:     mkdir: cannot create directory '/raid': Permission denied"],
        ..TOOL
    },
    Cause {
        id: "slurm.enroot_no_hash",
        sign: r"\[ERROR\] URL https://(?:registry-1|auth|index)\.docker\.io/v2/(?<registry>[a-z0-9-]+(?:\.[a-z0-9-]+)+(?::[0-9]+)?)/(?<path>\S+)/(?:manifests|blobs)/\S+ returned error code: 4[0-9][0-9]\b|\[ERROR\] URL https://auth\.docker\.io/token\?\S*repository:(?<token>[a-z0-9-]+(?:\.[a-z0-9-]+)+)/\S* returned error code: 4[0-9][0-9]\b",
        says: "the image is looked for on docker.io, as its registry[ {registry}][ {token}] is not parted by #",
        means: "enroot and pyxis write a registry as `registry#path:tag`. With a slash in place of # the whole name is taken for a path on Docker Hub, which refuses it. The password is not the matter.",
        act: "write `--container-image=[{registry}][{token}]#[{path}]:TAG`; where it then says 401, put the login of that registry into ~/.config/enroot/.credentials",
        remedy: Remedy::Settings,
        sure: Sure::Confirmed,
        sources: &[
            seen("https://github.com/NVIDIA/pyxis/issues/168", "2025-06-26"),
            seen("https://github.com/NVIDIA/pyxis/issues/70", "2022-01-25"),
        ],
        samples: &[
            "slurmstepd: error: pyxis:     [ERROR] URL https://registry-1.docker.io/v2/reg.example.com/team/nvidia/manifests/train returned error code: 401 Unauthorized",
        ],
        ..TOOL
    },
    Cause {
        id: "slurm.enroot_denied",
        sign: r"\[ERROR\] URL (?<url>\S+) returned error code: 40[13]\b",
        says: "the registry refuses the image: {url} (401 or 403)",
        means: "The image is private, or the credentials are wrong or missing on this node.",
        act: "write the machine, login and password of the registry into ~/.config/enroot/.credentials (for nvcr.io the login is $oauthtoken), with mode 0600; see that the name is `registry#name:tag`",
        remedy: Remedy::Settings,
        sources: &[seen("https://github.com/NVIDIA/enroot (doc/cmd/import.md)", "2026-11-30")],
        samples: &[
            "slurmstepd: error: pyxis:     [ERROR] URL https://auth.docker.io/token?scope=repository:x/y:pull returned error code: 401 Unauthorized",
        ],
        ..TOOL
    },
    Cause {
        id: "slurm.enroot_rate",
        sign: r"\[ERROR\] URL (?<url>\S+) returned error code: 429\b",
        says: "the registry refuses more pulls for now (429)",
        means: "Many nodes pulled without an account from one address.",
        act: "pull once (`enroot import`) to a shared file and start jobs from that .sqsh, or use an account or a mirror; wait some hours otherwise",
        remedy: Remedy::Settings,
        passing: true,
        sources: &[seen("https://docs.docker.com/docker-hub/usage/", "2026-11-30")],
        samples: &[
            "pyxis:     [ERROR] URL https://registry-1.docker.io/v2/library/ubuntu/manifests/latest returned error code: 429 Too Many Requests",
        ],
        ..TOOL
    },
    Cause {
        id: "slurm.enroot_no_image",
        sign: r"\[ERROR\] URL (?<url>\S+) returned error code: 404\b|\[ERROR\] Invalid image (reference|format): (?<image>.*)|\[ERROR\] No such file or directory: (?<file>\S+\.sqsh)",
        says: "there is no such image[: {url}][: {image}][: {file}]",
        means: "The name, the tag or the registry is mistyped. pyxis divides the registry by `#`: nvcr.io#nvidia/pytorch:TAG.",
        act: "write `--container-image=registry#name:tag`, or the path of a .sqsh that the node sees (./x.sqsh for a relative one)",
        remedy: Remedy::Settings,
        sources: &[
            seen("https://github.com/NVIDIA/enroot", "2026-11-30"),
            seen("https://github.com/NVIDIA/pyxis", "2026-11-30"),
        ],
        samples: &[
            "pyxis:     [ERROR] URL https://registry-1.docker.io/v2/team/train/manifests/25.01-py3 returned error code: 404 Not Found",
        ],
        ..TOOL
    },
    Cause {
        id: "slurm.enroot_no_hook",
        sign: r"\[ERROR\] Command not found: (?<command>mksquashfs|unsquashfs|squashfuse|fuse-overlayfs|jq|curl|parallel|zstd|pigz|gawk|awk|flock|getfattr|setfattr|enroot-\S+)",
        says: "enroot misses {command} on this node",
        means: "enroot or one of its hooks calls a program that is not installed.",
        act: "install it: mksquashfs is in the package squashfs-tools; jq, curl, parallel and zstd have packages of their own names",
        remedy: Remedy::Install,
        sure: Sure::Confirmed,
        samples: &["pyxis:     [ERROR] Command not found: mksquashfs"],
        ..ENROOT
    },
    Cause {
        id: "slurm.enroot_space",
        sign: r"(pyxis|enroot|mksquashfs|unsquashfs|\[ERROR\])\b?.*(No space left on device|Not enough space left in (?<dir>\S+))|Write failed because No space left on device",
        says: "enroot has no room for the image[ in {dir}]",
        means: "ENROOT_DATA_PATH, ENROOT_CACHE_PATH or ENROOT_TEMP_PATH is full; in a tmpfs such as /run or /tmp the image takes memory of the job as well.",
        act: "`df -h` at these paths of enroot.conf; put them on the node's NVMe and remove old containers (`enroot list`, `enroot remove`)",
        remedy: Remedy::Settings,
        samples: &["pyxis:     [ERROR] Not enough space left in /run/enroot (1048576 KB needed)"],
        ..ENROOT
    },
    Cause {
        id: "slurm.enroot_mount",
        sign: r"enroot-mount: failed to mount: (?<what>.+?) at (?<at>\S+): (?<why>.*)|pyxis: --container-mounts: source path does not exist: (?<source>.*)",
        says: "a mount of the container fails[: {what} at {at}: {why}][: {source} is not there]",
        means: "The source does not exist on the node, the user may not read it, or a folder of the target cannot be made.",
        act: "look at the path on the node as the user; correct `--container-mounts=SOURCE:TARGET`",
        remedy: Remedy::Settings,
        sources: &[seen("https://github.com/NVIDIA/enroot (bin/enroot-mount.c)", "2026-11-30")],
        samples: &[
            "enroot-mount: failed to mount: /scratch at /run/enroot/overlay/scratch: No such file or directory",
        ],
        ..TOOL
    },
    Cause {
        id: "slurm.no_pyxis",
        sign: "unrecognized option '?--container-(image|mounts|name|workdir|mount-home|env)",
        says: "this srun knows no --container options",
        means: "The plugin pyxis is not loaded on this submit host: it is not in plugstack.conf, or was built for another release of Slurm.",
        act: "install spank_pyxis.so and its line in plugstack.conf.d on submit hosts and nodes, restart slurmd; `srun --help | grep container` shows whether it loads",
        remedy: Remedy::Install,
        samples: &["srun: unrecognized option '--container-image=nvcr.io#nvidia/pytorch:25.01-py3'"],
        ..PYXIS
    },
    Cause {
        id: "slurm.enroot_error",
        sign: r"pyxis:\s+\[ERROR\] (?<why>[^/].*)|^\[ERROR\] (?<other>(Could not (process JSON|acquire rootfs|parse authentication|retrieve digest)|Checksum validation|Unsupported authentication|Failed to mount).*)",
        role: Role::Effect,
        says: "enroot failed: [{why}][{other}]",
        means: "These are the words of enroot itself; a registry that answers otherwise than expected, or a proxy between, gives `Could not parse`.",
        act: "run `enroot import docker://IMAGE` by hand on the node as the user: its messages come at once there",
        sure: Sure::Guess,
        samples: &["slurmstepd: error: pyxis:     [ERROR] Unsupported authentication method Digest"],
        ..ENROOT
    },
    Cause {
        id: "slurm.pyxis_relative_image",
        sign: r"pyxis: importing docker image: (?<image>[^/\s][^\s]*\.sqsh)\s*$",
        says: "pyxis takes {image} for a name in a registry",
        means: "Only a path that begins with / or ./ is a file for pyxis; all else is fetched from Docker Hub.",
        act: "write `--container-image=./{image}`, or its full path, which each node must see",
        remedy: Remedy::Settings,
        sure: Sure::Confirmed,
        sources: &[seen("https://github.com/NVIDIA/pyxis/issues/127", "2023-10-12")],
        samples: &["pyxis: importing docker image: hello-world.sqsh"],
        ..TOOL
    },
    Cause {
        id: "slurm.spank_option",
        sign: r#"SPANK plugin "(?<plugin>[^"]+)" option "(?<option>[^"]+)" not found"#,
        says: "the node does not know the option {option} of the plugin {plugin}",
        means: "The plugin is loaded on the submit host and not on the node, or slurmd there was not restarted since.",
        act: "install the plugin and its line in plugstack.conf.d on the node, and restart slurmd",
        remedy: Remedy::Settings,
        sources: &[seen("https://github.com/NVIDIA/pyxis/issues/84", "2022-07-19")],
        samples: &[r#"error: Warning: SPANK plugin "pyxis" option "container-image" not found"#],
        ..TOOL
    },
    Cause {
        id: "slurm.enroot_execute",
        sign: "enroot-switchroot: failed to execute: (?<program>[^:]+): (?<why>.*)",
        says: "the container cannot start {program}: {why}",
        means: "The image has no such program, is of another architecture, or its root filesystem was not unpacked whole.",
        act: r#"look at the image by hand (`enroot start IMAGE /bin/sh`): for an image without a shell give `--no-container-entrypoint`; with "Exec format error" take the image for this architecture; otherwise remove it from the cache and import it again"#,
        sure: Sure::Guess,
        sources: &[seen("https://github.com/NVIDIA/pyxis/issues/61", "2021-09-13")],
        samples: &[
            "slurmstepd: error: pyxis:     enroot-switchroot: failed to execute: /bin/bash: No such file or directory",
        ],
        ..TOOL
    },
    Cause {
        id: "slurm.pyxis_failed",
        sign: r"pyxis: (child \d+ failed with error code|child \d+ terminated|couldn't (execute enroot|start container|get list of|cleanup|get container)|failed to (import docker image|create container filesystem|start container|remove container)|container (start|exited|was not)|a previous task terminated|epilog: |printing (enroot|\S+) log file|if the image has an unusual)",
        role: Role::Effect,
        says: "pyxis could not make the container",
        means: "The words of enroot stand behind `printing enroot log file` and have the reason.",
        act: "look at the lines of enroot's log near this one",
        samples: &[
            "slurmstepd: error: pyxis: container start failed with error code: 1",
            "error: pyxis: couldn't execute enroot command",
        ],
        ..PYXIS
    },
    Cause {
        id: "slurm.spank_failed",
        sign: r"spank: (required )?plugin (?<plugin>\S+): (?<what>\w+)\(\) failed with rc=|spank/(pro|epi)log returned status|Failed to invoke spank plugin stack|Plugin stack initialization failed",
        role: Role::Summary,
        says: "the plugin of a job failed[: {plugin} in {what}]",
        means: "It only sums up; the plugin's own words stand before.",
        act: "look at the lines before",
        sources: &[seen("https://github.com/SchedMD/slurm (src/common/plugstack.c)", "2026-11-30")],
        samples: &["error: spank: required plugin spank_pyxis.so: job_epilog() failed with rc=-1"],
        ..TOOL
    },
    Cause {
        id: "slurm.start_timeout",
        sign: r"slurm\w+\.service: (start operation timed out|[Ss]tart-?p?r?e? ?operation timed out|Failed with result 'timeout')|Job for slurm\w+\.service failed because a timeout|Unable to start service slurm\w+: .*timeout",
        role: Role::Effect,
        says: "systemd gave up waiting for a daemon of Slurm",
        means: "slurmd waits for its controller, slurmctld for slurmdbd; or PIDFile of the unit is another file than the daemon writes.",
        act: "look into the log of the daemon that it waits for first (`journalctl -u slurmctld` on the controller); then compare PIDFile of the unit with slurm.conf",
        remedy: Remedy::Settings,
        sources: &[seen("https://github.com/stackhpc/ansible-role-openhpc/issues/95", "2021-02-24")],
        samples: &[
            "Unable to start service slurmd: Job for slurmd.service failed because a timeout was exceeded.",
        ],
        ..TOOL
    },
    Cause {
        id: "slurm.auth_failed",
        sign: "Protocol authentication error|Invalid authentication credential|has authentication error: (?<why>.*)|auth_g_(verify|unpack): .*authentication",
        role: Role::Effect,
        says: "two programs of Slurm do not trust each other",
        means: "MUNGE refused a credential, or does not run on one side: keys, clocks or versions.",
        act: "on both hosts `munge -n | unmunge`, then `munge -n | ssh OTHER unmunge` in both directions; the words of munge say which it is",
        remedy: Remedy::Settings,
        samples: &["slurm_load_ctl_conf error: Protocol authentication error"],
        ..ERRNO
    },
    Cause {
        id: "slurm.credential_refused",
        sign: "Invalid job credential|Job credential (expired|revoked|replayed)",
        role: Role::Effect,
        says: "a node refused the credential of a job",
        means: "Its clock is off, its munge has another key, its account slurm another number, or its Slurm another release. A prolog that takes minutes lets it expire.",
        act: "compare clocks, `sha256sum` of munge.key, `id slurm` and `slurmd -V` with the controller; the line before has the reason",
        remedy: Remedy::Settings,
        samples: &["error: Invalid job credential from 20004@192.0.2.30: Invalid job credential"],
        ..ERRNO
    },
    Cause {
        id: "slurm.no_controller",
        sign: r"Unable to contact slurm controller|update cluster: .* to \S+ at \S+\(681\d\)|Unable to register: (?<why>.*)|Slurmctld\S* at \S+ is DOWN",
        role: Role::Effect,
        says: "the controller does not answer",
        means: "slurmctld does not run, or a name, a route or a firewall is between.",
        act: "`systemctl status slurmctld` on the controller and its log; from here `nc -zv CONTROLLER 6817`: a refusal says that it does not run, a timeout that packets are dropped",
        remedy: Remedy::Settings,
        samples: &[
            "slurm_load_partitions: Unable to contact slurm controller (connect failure)",
            "slurmd: error: Unable to register: Zero Bytes were transmitted or received",
        ],
        ..ERRNO
    },
    Cause {
        id: "slurm.no_answer",
        sign: "Socket timed out on send/recv operation|Zero Bytes were transmitted or received|Communication connection failure|Message (receive|send) failure",
        role: Role::Effect,
        says: "a program of Slurm got no answer from another",
        means: "The other side is busy, ended, or refused the message: its own log says which.",
        act: "look into the log of the other side at that second (slurmctld's for commands, slurmd's for steps); with many of them see `sdiag` and the load of the controller",
        remedy: Remedy::Settings,
        sure: Sure::Guess,
        samples: &["squeue: error: slurm_receive_msg: Socket timed out on send/recv operation"],
        ..ERRNO
    },
    Cause {
        id: "slurm.stepd_died",
        sign: "_forkexec_slurmstepd: slurmstepd failed to send return code|Unable to init slurmstepd|exec of slurmstepd failed",
        role: Role::Effect,
        says: "slurmstepd ended at its start",
        means: "A library or plugin of it does not load, its cgroup was refused, or the node has no memory.",
        act: "on the node `ldd $(which slurmstepd)` (or /usr/sbin/slurmstepd), `slurmd -D -vvv`, and the kernel's log for OOM",
        sure: Sure::Guess,
        samples: &[
            "slurmd: error: _forkexec_slurmstepd: slurmstepd failed to send return code got 0: No error",
        ],
        ..REQ
    },
    Cause {
        id: "slurm.private_tmp",
        sign: r"(container|namespace)_(p|g)_(join|create)\w*(: open)? failed",
        role: Role::Effect,
        says: "the node has no private /tmp for the job",
        means: "job_container/tmpfs did not make it: BasePath is missing there or not writable, or the job's first step was lost with a restart.",
        act: "on the node `ls -ld` of BasePath (job_container.conf, namespace.yaml), AutoBasePath=true makes it; send the job again",
        remedy: Remedy::Settings,
        sure: Sure::Guess,
        sources: &[seen("https://github.com/ArjunaCluster/ArjunaUsers/issues/123", "2022-05-09")],
        samples: &[
            "slurmstepd: error: container_p_join: open failed /scratch/119383/.active: No such file or directory",
        ],
        ..TOOL
    },
    Cause {
        id: "slurm.launch_plugin",
        sign: "launch failed: (?:Plugin initialization failed|Slurmd could not set up environment for batch job|Slurmd could not connect IO|Can not find (?:the )?plugin)",
        says: "slurmd on the node could not set a job up",
        means: "A plugin of slurmd failed there, mostly task/cgroup or proctrack/cgroup: Slurm older than 22.05 (that of Ubuntu 22.04) knows no cgroups of version 2. Otherwise a spank plugin or a prolog.",
        act: "slurmd's log on that node at that time names it; `stat -fc %T /sys/fs/cgroup` (cgroup2fs is version 2) against `slurmd -V`: take Slurm 22.05 or newer built with cgroup/v2, or proctrack/linuxproc and task/affinity for as long",
        remedy: Remedy::Look,
        sure: Sure::Guess,
        sources: &[seen("https://github.com/SergioMEV/slurm-for-dummies/issues/12", "2024-02-29")],
        samples: &["srun: error: task 0 launch failed: Plugin initialization failed"],
        ..SRUN
    },
    Cause {
        id: "slurm.affinity",
        sign: r"task_g_set_affinity: (?<why>.+)|sched_setaffinity\(.*\) failed: (?<other>.+)",
        says: "a task could not be bound to its processors[: {why}]",
        means: "The processors of the job are not those that the cgroup or the kernel allows: a cpuset of a container or of another manager, offline processors, or a slurm.conf that does not fit the hardware.",
        counts: Counts::Warn,
        act: "compare `slurmd -C` with slurm.conf, `cat /sys/fs/cgroup/cpuset.cpus.effective` on the node; `srun --cpu-bind=none` as a test",
        remedy: Remedy::Look,
        sure: Sure::Guess,
        samples: &["slurmstepd: error: task_g_set_affinity: Invalid argument"],
        ..STEPD
    },
    Cause {
        id: "slurm.job_manager",
        sign: "job_manager: exiting abnormally: (?<why>.+)|unable to add pids to '(?<path>[^']+)'|_exec_wait_child_wait_for_parent: failed",
        role: Role::Effect,
        says: "slurmstepd could not start the job[: {why}]",
        means: "The reason stands in the lines before.",
        act: "look at the lines before it in slurmd's log",
        samples: &["slurmstepd: error: job_manager: exiting abnormally: Slurmd could not execve job"],
        ..STEPD
    },
    Cause {
        id: "slurm.task_plugin_failed",
        sign: "Failed to invoke task plugins: (?<which>.*)returned error",
        role: Role::Effect,
        says: "a plugin for tasks failed on the node ({which})",
        means: "Mostly task/cgroup; the lines before it name the reason.",
        act: "look at the lines before it in slurmd's log",
        samples: &[
            "slurmstepd: error: Failed to invoke task plugins: one of task_p_pre_setuid functions returned error",
        ],
        ..STEPD
    },
    Cause {
        id: "slurm.task_launch",
        sign: r"task (?<task>\S+) launch failed: (?<why>.*)",
        role: Role::Effect,
        says: "task {task} could not start: {why}",
        means: "slurmstepd on the node failed before the program ran: a plugin, cgroups, or the account. Its log has the reason.",
        act: "look into slurmd's log on that node at that time",
        samples: &["srun: error: task 0 launch failed: Unspecified error"],
        ..SRUN
    },
    Cause {
        id: "slurm.pending_by_limit",
        sign: r"\((?<why>(QOS(Max|Grp|Min|Usage|Job|Resource|Time)|Assoc(Max|Grp|Resource|Time|JobLimit))\w*)\)\s*$",
        counts: Counts::Warn,
        says: "a job waits for a limit of its account or QOS ({why})",
        means: "The job starts when others of the same account or QOS end.",
        act: "`sacctmgr show qos format=name,grptres,maxtrespu,maxjobspu` and `sacctmgr show assoc user=$USER` have the limits",
        remedy: Remedy::Settings,
        sources: &[seen("https://slurm.schedmd.com/job_reason_codes.html", "2026-11-30")],
        samples: &["  123  gpu  train  alice PD  0:00  4 (QOSMaxGRESPerUser)"],
        ..TOOL
    },
    Cause {
        id: "slurm.held_after_launch",
        sign: r"\((launch fail\w*( limit exceeded)?|user env retrieval failed) requeued held\)",
        role: Role::Effect,
        says: "a job is held, as its start failed on a node",
        means: "Slurm put it back into the queue; the node's log has the reason, and the node is drained most often.",
        act: "`sinfo -R` and slurmd's log of the node; mend it, then `scontrol release JOBID`",
        remedy: Remedy::Settings,
        sources: &[seen("https://slurm.schedmd.com/job_reason_codes.html", "2026-11-30")],
        samples: &["  123  gpu  train  alice PD  0:00  4 (launch failed requeued held)"],
        ..TOOL
    },
    Cause {
        id: "slurm.script_missing",
        sign: "(sbatch|salloc|srun): error: Unable to open file (?<file>.+)",
        says: "there is no script {file}",
        means: "sbatch looks for it from the current directory.",
        act: "give its path",
        remedy: Remedy::Settings,
        sure: Sure::Confirmed,
        samples: &["sbatch: error: Unable to open file job.sh"],
        ..SBATCH
    },
    Cause {
        id: "slurm.job_submit_lua",
        sign: "error: (?<plugin>(job_submit|cli_filter)/lua): (?<why>.*)",
        says: "the site's own rule for jobs says: {why}",
        means: "A Lua script of the site refused the job, or has a fault itself.",
        act: "read its words; where they are of Lua (attempt to index, no such file), mend job_submit.lua on the controller",
        sure: Sure::Guess,
        sources: &[seen("https://slurm.schedmd.com/job_submit_plugins.html", "2026-11-30")],
        samples: &[
            r#"slurmctld: error: job_submit/lua: /etc/slurm/job_submit.lua: [string "slurm.user_msg (string)"]:1: attempt to index a nil value"#,
        ],
        ..TOOL
    },
    Cause {
        id: "slurm.prolog_not_told",
        sign: r"REQUEST_LAUNCH_PROLOG notification failed|Could not launch job (?<job>\d+) and not able to requeue it|Prolog launch failure, JobId=|launch failure, JobId=",
        role: Role::Effect,
        says: "slurmd could not start a job[ {job}] as its prolog did not begin or end",
        means: "slurmctld did not reach slurmd, or slurmd was too busy: many jobs at once, a prolog that hangs, a name that leads elsewhere.",
        act: "see the log of slurmd and of the prolog on that node at this time; `scontrol show config | grep -iE \"Prolog|MessageTimeout\"`",
        remedy: Remedy::Look,
        samples: &[
            "slurmd: error: Waiting for JobId=1 REQUEST_LAUNCH_PROLOG notification failed, giving up after 20 sec",
        ],
        ..CTLD
    },
    Cause {
        id: "slurm.launch_failed",
        sign: r"Task launch for (?<step>\S+) failed on node (?<node>\S+): (?<why>.*)",
        role: Role::Effect,
        says: "a step could not start on {node}: {why}",
        means: "slurmd of that node refused it; its log has the reason.",
        act: "look into slurmd's log on {node} at that time",
        samples: &["srun: error: Task launch for StepId=12.0 failed on node gpu0: Unspecified error"],
        ..SRUN
    },
    Cause {
        id: "slurm.task_ended",
        sign: r"srun: error: (?<node>\S+): tasks? (?<task>[^:]+): (?<why>Exited with exit code \d+|Killed|Segmentation fault.*|Aborted.*|Terminated|Bus error.*|Illegal instruction.*|Floating point exception.*)",
        role: Role::Effect,
        says: "task {task} on {node} ended: {why}",
        means: "srun says how the program ended; its own output says why.",
        act: "look for the first error in the program's output",
        samples: &["srun: error: gpu0: task 3: Exited with exit code 1"],
        ..SRUN
    },
    Cause {
        id: "slurm.job_cancelled",
        sign: r"\*\*\* (JOB|STEP) \S+ ON \S+ CANCELLED AT \S+ \*\*\*",
        role: Role::Effect,
        counts: Counts::Warn,
        says: "the job was cancelled",
        means: "Somebody used scancel, or srun ended the others after one task failed.",
        act: "look for the first task that failed before this line; `sacct -j JOB -o State,ExitCode` has who ended it",
        samples: &["slurmstepd: error: *** STEP 12.0 ON gpu0 CANCELLED AT 2025-01-01T00:00:00 ***"],
        ..STEPD
    },
    Cause {
        id: "slurm.allocation_revoked",
        sign: r"Job allocation (?<job>\d+) has been revoked",
        role: Role::Summary,
        says: "the allocation {job} was taken back",
        means: "Its time ended, it was cancelled, or a node or its prolog failed.",
        act: "look at the lines before it and `sacct -j {job}`",
        remedy: Remedy::Look,
        samples: &["salloc: Job allocation 235454 has been revoked."],
        ..SRUN
    },
    Cause {
        id: "slurm.step_aborted",
        sign: r"StepId=\S+ aborted before step completely launched",
        role: Role::Summary,
        says: "srun gave a step up that had not begun everywhere",
        means: "The reason stands in other lines, or in the log of slurmd.",
        act: "look at the lines beside it",
        remedy: Remedy::Look,
        samples: &["srun: StepId=9155831.0 aborted before step completely launched."],
        ..SRUN
    },
    Cause {
        id: "slurm.launch_summary",
        sign: r"Application launch failed: |Job step aborted|srun: Terminating (StepId|job step)|First task exited \d+s ago",
        role: Role::Summary,
        says: "srun ended the step",
        means: "It only sums up; the reason stands before.",
        act: "look at the first error before this line",
        samples: &[
            "srun: error: Application launch failed: Unspecified error",
            "srun: Job step aborted: Waiting up to 32 seconds for job step to finish.",
        ],
        ..SRUN
    },
    Cause {
        id: "slurm.refused",
        sign: r"(Batch job submission failed|Unable to allocate resources|Unable to create step for job \d+|Job submit/allocate failed|salloc: error: .*allocation failure): (?<why>.*)",
        role: Role::Effect,
        says: "Slurm refused the job: {why}",
        means: "The words are those of the controller.",
        act: "compare the options of the job with `scontrol show partition` and `scontrol show node`; slurmctld's log has more of it",
        sure: Sure::Guess,
        samples: &[
            "sbatch: error: Batch job submission failed: I/O error writing script/environment to file",
        ],
        ..SBATCH
    },
    Cause {
        id: "slurm.load_failed",
        sign: r"slurm_load_\w+( error)?: (?<why>.*)",
        role: Role::Effect,
        says: "a command of Slurm got nothing from the controller: {why}",
        means: "The words say why; the controller's log has more.",
        act: "`scontrol ping`, then slurmctld's log",
        samples: &["slurm_load_node error: Unspecified error"],
        ..SRUN
    },
    Cause {
        id: "slurm.no_command",
        sign: r"\b(?<command>srun|sbatch|salloc|sinfo|squeue|scontrol|sacctmgr|sacct|slurmd|slurmctld|slurmdbd): (command )?not found",
        says: "{command} is not installed, or not on this PATH",
        means: "The shell found no such program.",
        act: "install Slurm's client on this host (package `slurm-client` or `slurm`; the playbook `slurm` does for its hosts), or load its module",
        remedy: Remedy::Settings,
        sources: &[seen("https://slurm.schedmd.com/quickstart_admin.html", "2026-11-30")],
        samples: &["bash: sinfo: command not found"],
        ..TOOL
    },
    Cause {
        id: "slurm.pmix_job_set",
        sign: r"pmixp_libpmix_job_set\(\) failed|pmixp_server\.c.*job_set.*failed",
        says: "Slurm's plugin could not give PMIx the layout of the job",
        means: "Slurm writes node and process maps in a form that this release of PMIx does not take (5.0.8 to 5.0.10 compress them), mostly for big jobs.",
        act: "PMIX_MCA_preg=raw as a test; take PMIx 5.0.7, or a Slurm with the correction; then `srun --mpi=pmix -N2 hostname`",
        remedy: Remedy::Install,
        sure: Sure::Guess,
        sources: &[seen("https://github.com/openpmix/openpmix/issues/3872", "2026-06-15")],
        samples: &["slurmstepd: error: mpi/pmix_v5: pmixp_server.c: pmixp_libpmix_job_set() failed"],
        ..PMIX
    },
    Cause {
        id: "slurm.pmix_send",
        sign: r"mpi/pmix\w*: .*(?:send failed, rc=(?<code>\d+), exceeded the retry limit|Cannot send message to \S+, size = \d+)",
        role: Role::Effect,
        says: "the slurmstepds of a job do not reach each other for PMIx",
        means: "A node of the job failed or left, slurmd there is overloaded, or its name or port is not reached from the others.",
        act: "look first whether a node went down (`sinfo -R`, its slurmd log and `dmesg`); then names and ports between nodes (SlurmdPort, `scontrol ping`); SLURM_PMIX_TIMEOUT and a bigger MessageTimeout for very big jobs",
        remedy: Remedy::Look,
        sure: Sure::Guess,
        sources: &[seen("https://github.com/openpmix/openpmix/issues/3559", "2025-03-06")],
        samples: &[
            "slurmstepd: error:  mpi/pmix_v5: pmixp_p2p_send: gpu0 [4]: pmixp_utils.c:469: send failed, rc=1001, exceeded the retry limit",
        ],
        ..PMIX
    },
    Cause {
        id: "slurm.pmix_ranks",
        sign: r"pmixp_dmdx\.c.*Bad request from (?<host>\S+): nspace \S+ has only \d+ ranks, asked for -1",
        says: "the program's PMIx asks Slurm's plugin for what it does not give",
        means: "PMIx of the MPI library and that of Slurm are of other releases, and the keys that the one looks for are not there.",
        act: "build the MPI library with the PMIx that Slurm was built with (`srun --mpi=list`, `ldd /usr/lib*/slurm/mpi_pmix*.so`), or start by `srun --mpi=pmi2`",
        remedy: Remedy::Install,
        sure: Sure::Guess,
        sources: &[
            seen("https://github.com/openpmix/openpmix/issues/3320", "2024-03-15"),
            seen("https://github.com/openpmix/openpmix/issues/1484", "2019-10-16"),
        ],
        samples: &[
            r#"slurmstepd: error: mpi/pmix_v5: _dmdx_req: owl1 [0]: pmixp_dmdx.c:319: Bad request from owl2: nspace "slurm.pmix.5257.0" has only 2 ranks, asked for -1"#,
        ],
        ..PMIX
    },
    Cause {
        id: "slurm.pmix_plugin",
        sign: r"error: +mpi/pmix\w*: .*pmixp_\w+\.c:\d+: (?<why>.*)",
        role: Role::Effect,
        says: "the PMIx plugin of Slurm reports: {why}",
        means: "Steps of several nodes that start one after another, nodes with different PMIx, or a network between the slurmstepds that is closed give such lines.",
        act: "compare `srun --mpi=list` and libpmix on the nodes, let the nodes' hosts reach each other on all ports, then try `srun --mpi=pmix hostname` on two nodes",
        sure: Sure::Guess,
        samples: &[
            "[2026-09-10T10:08:16.841] error:  mpi/pmix_v4: _process_server_request: gpu0 [1]: pmixp_server.c:923: Unable to pmixp_state_coll_get()",
        ],
        ..PMIX
    },
    Cause {
        id: "slurm.fatal",
        sign: r"(?<who>slurmctld|slurmd|slurmdbd|slurmstepd|sackd|slurmrestd)(\[\d+\])?: fatal: (?<why>.*)|^\[\d{4}-\d\d-\d\dT[0-9:.]+\] fatal: (?<what>.*)",
        role: Role::Effect,
        says: "a daemon of Slurm[ ({who})] ends: [{why}][{what}]",
        means: "A daemon of Slurm ends with such a line; the errors before it often say more.",
        act: "look at the errors before this line, and start the daemon in the foreground (`slurmctld -D -vvv`, `slurmd -D -vvv`) where they do not tell",
        sure: Sure::Guess,
        samples: &["w1 slurmctld[9]: slurmctld: fatal: Can not open the gate"],
        ..CTLD
    },
];
