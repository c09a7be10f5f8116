//! MUNGE: the credentials by which hosts of a cluster know an account (munged 0.5.11 to 0.5.18).

use super::super::cause::{Cause, Counts, Remedy, Role, Sure, TOOL, seen};

const QUICKSTART: Cause =
    Cause { sources: &[seen("https://github.com/dun/munge/blob/master/QUICKSTART", "2026-11-30")], ..TOOL };
const MUNGED: Cause =
    Cause { sources: &[seen("https://github.com/dun/munge (src/munged/munged.c)", "2026-11-30")], ..TOOL };
const KEY: Cause =
    Cause { sources: &[seen("https://github.com/dun/munge (src/munged/conf.c)", "2026-11-30")], ..TOOL };
const PATH: Cause =
    Cause { sources: &[seen("https://github.com/dun/munge (src/munged/path.c)", "2026-11-30")], ..TOOL };
const LOCK: Cause =
    Cause { sources: &[seen("https://github.com/dun/munge (src/munged/lock.c)", "2026-11-30")], ..TOOL };
const SLURM: Cause = Cause {
    sources: &[seen("https://github.com/SchedMD/slurm (src/plugins/auth/munge/auth_munge.c)", "2026-11-30")],
    ..TOOL
};

pub(in crate::causes) const ROWS: &[Cause] = &[
    Cause {
        id: "munge.clocks_differ",
        sign: r"\b(?<which>Expired|Rewound) credential\b",
        says: "the clocks of two hosts differ (munge: {which} credential)",
        means: "A credential is good for five minutes by the clock of the host that reads it. The clocks are apart, or the message was that long on its way.",
        act: "compare the clocks of both hosts (`provision verify` does it: `fleet.clock`; `chronyc tracking` on each) and set the wrong one; the playbook `chrony` keeps them. With clocks that agree, look why messages take minutes",
        remedy: Remedy::Settings,
        samples: &[
            "[2026-11-20T10:00:01.278] error: Munge decode failed: Expired credential",
            "unmunge: Error: Rewound credential",
        ],
        ..QUICKSTART
    },
    Cause {
        id: "munge.keys_differ",
        sign: r"\bInvalid credential( \(14\))?\s*$",
        says: "two hosts have different keys of munge (Invalid credential)",
        means: "The key with which munged reads the credential is not the one with which it was made. A munged that still runs with an older key does the same.",
        act: "compare `sha256sum /etc/munge/munge.key` on both hosts, copy the right key to the other one (owner munge, mode 0400) and restart munged there; with equal keys restart munged on both, as it reads the key only at its start. The playbook `slurm` keeps one key",
        remedy: Remedy::Settings,
        samples: &["error: Munge decode failed: Invalid credential", "unmunge: Error: Invalid credential"],
        ..QUICKSTART
    },
    Cause {
        id: "munge.credential_garbled",
        sign: r"\bInvalid credential (format|version)\b|Failed to match armor (prefix|suffix)",
        says: "what came to munge is no credential",
        means: "The text was cut or something was printed before it, such as a banner of a login; a credential of another version of munge does the same.",
        act: "look at what is piped to unmunge (`munge -n | ssh HOST unmunge`): a login script or a banner of HOST must not print to its standard output",
        remedy: Remedy::Settings,
        sure: Sure::Guess,
        sources: &[seen("https://github.com/dun/munge (src/munged/dec.c)", "2026-11-30")],
        samples: &[
            "unmunge: Error: Failed to match armor prefix",
            "unmunge: Error: Invalid credential format",
        ],
        ..TOOL
    },
    Cause {
        id: "munge.replayed",
        sign: r"\bReplayed credential\b|Credential signature check: Credential replayed",
        counts: Counts::Warn,
        says: "a credential of munge was shown twice",
        means: "munged takes each credential once. A message that was sent again does this now and then, and so do two daemons that hand the same message on.",
        act: "nothing for single ones; where there are many, look for a load balancer or a network that repeats messages, and for hosts that share one state of munge",
        sure: Sure::Guess,
        sources: &[seen("https://github.com/dun/munge (src/libmunge/strerror.c)", "2026-11-30")],
        samples: &["error: Munge decode failed: Replayed credential"],
        ..TOOL
    },
    Cause {
        id: "munge.unauthorized",
        sign: r"Unauthorized credential( for client UID=(?<uid>\d+)|\b)",
        says: "a credential of munge is for another account[ than uid {uid}]",
        means: "The credential was made for one account alone, and another one read it. Slurm makes such ones for SlurmUser, so that user has another number on this host.",
        act: "compare `id slurm` and SlurmUser of slurm.conf on both hosts; give the account one uid on all of them, then restart Slurm's daemons",
        remedy: Remedy::Settings,
        sources: &[seen("https://github.com/dun/munge (src/munged/dec.c)", "2026-11-30")],
        samples: &["error: Munge decode failed: Unauthorized credential for client UID=995 GID=995"],
        ..TOOL
    },
    Cause {
        id: "munge.socket_permission",
        sign: r#"(Failed|Unable) to (access|connect to) "(?<socket>[^"]*munge[^"]*)": Permission denied"#,
        says: "the socket {socket} of munge lets this account not through",
        means: "The directory of the socket, or the socket itself, has the wrong mode: the directory must be 0755 and the socket 0777.",
        act: "set the directory of {socket} to 0755 and owner munge, then restart munged, which makes the socket again; where it returns after a boot, look for a tmpfiles entry or a unit that makes the directory with another mode. In a container or under SELinux look at what is mounted and at `ausearch -m avc`",
        remedy: Remedy::Settings,
        sources: &[
            seen("https://github.com/dun/munge/blob/master/QUICKSTART", "2026-11-30"),
            seen("https://github.com/dun/munge/issues/131", "2023-02-01"),
        ],
        samples: &[r#"munge: Error: Failed to access "/run/munge/munge.socket.2": Permission denied"#],
        ..TOOL
    },
    Cause {
        id: "munge.not_running",
        sign: r#"(Failed|Unable) to (access|connect to) "(?<socket>[^"]*munge[^"]*)": (No such file or directory|Connection refused)"#,
        says: "munged does not run on this host (nobody answers at {socket})",
        means: "Nobody answers at its socket. Each program of Slurm needs munged on its own host.",
        act: "`systemctl status munge` and `journalctl -u munge` there, then start it; the playbook `slurm` does. In a container mount the directory of the socket",
        remedy: Remedy::Settings,
        sources: &[
            seen("https://github.com/dun/munge/blob/master/QUICKSTART", "2026-11-30"),
            seen("https://github.com/dun/munge (src/libmunge/m_msg_client.c)", "2026-11-30"),
        ],
        samples: &[
            r#"scontrol: error: Munge encode failed: Failed to access "/run/munge/munge.socket.2": No such file or directory (Did you start munged?)"#,
            r#"munge: Error: Failed to connect to "/run/munge/munge.socket.2": Connection refused"#,
        ],
        ..TOOL
    },
    Cause {
        id: "munge.overloaded",
        sign: r#"(Failed|Unable) to (access|connect to) "(?<socket>[^"]*munge[^"]*)": (Resource temporarily unavailable|Connection timed out)|Munge (en|de)code failed: .*(Socket communication error|Socket timeout|Timed-out|Connection reset by peer)"#,
        says: "munged does not answer fast enough",
        means: "More requests wait than munged has threads for. That happens on a controller with many nodes, or on a host without free memory or processors.",
        act: "look at the load of the host, then start munged with more threads (`--num-threads=10` in OPTIONS of its unit's environment file) and a longer `--listen-backlog`",
        remedy: Remedy::Settings,
        sources: &[
            seen("https://github.com/dun/munge (src/libmunge/m_msg_client.c)", "2026-11-30"),
            seen("https://github.com/SchedMD/slurm (src/plugins/auth/munge/auth_munge.c)", "2026-11-30"),
        ],
        samples: &[
            r#"error: Munge encode failed: Failed to connect to "/run/munge/munge.socket.2": Resource temporarily unavailable"#,
        ],
        ..TOOL
    },
    Cause {
        id: "munge.no_answer",
        sign: "If munged is up, restart with --num-threads=",
        role: Role::Effect,
        counts: Counts::Warn,
        says: "a program of Slurm got no answer from munged",
        means: "Slurm says this after several tries, whatever the reason is. The reason stands in the line that follows.",
        act: "`systemctl status munge` first: most often it does not run",
        samples: &["slurmctld: error: If munged is up, restart with --num-threads=10"],
        ..SLURM
    },
    Cause {
        id: "munge.clock_hint",
        sign: "Check for out of sync clocks",
        role: Role::Effect,
        follows: &["munge.clocks_differ", "munge.keys_differ", "munge.replayed", "munge.unauthorized"],
        counts: Counts::Warn,
        says: "Slurm asks to look at the clocks",
        means: "It stands behind a credential that munge refused; the words before say why.",
        act: "look at the line of munge before this one",
        samples: &["[2026-11-20T10:00:01.279] error: Check for out of sync clocks"],
        ..SLURM
    },
    Cause {
        id: "munge.key_missing",
        sign: r#"Failed to (find|check|open) keyfile "(?<file>[^"]+)": No such file"#,
        says: "munge has no key at {file}",
        means: "munged does not start without its key, which must be the same on all hosts of the cluster.",
        act: "copy munge.key of another host of the cluster to {file} (owner munge, mode 0400); on the first host of a cluster make one with `mungekey`. The playbook `slurm` gives all hosts one key",
        remedy: Remedy::Settings,
        sure: Sure::Confirmed,
        samples: &[
            r#"munged: Error: Failed to find keyfile "/etc/munge/munge.key": No such file or directory (Did you run mungekey?)"#,
            r#"munged: Error: Failed to check keyfile "/etc/munge/munge.key": No such file or directory"#,
        ],
        ..KEY
    },
    Cause {
        id: "munge.key_unreadable",
        sign: r#"Failed to (find|check|open|read) keyfile "(?<file>[^"]+)": Permission denied"#,
        says: "munged may not read its key {file}",
        means: "The key or a directory above it belongs to another account than the one munged runs as.",
        act: "`chown munge:munge {file}` and mode 0400, its directory likewise with mode 0700, then start munged again",
        remedy: Remedy::Settings,
        sure: Sure::Confirmed,
        samples: &[r#"munged: Error: Failed to open keyfile "/etc/munge/munge.key": Permission denied"#],
        ..KEY
    },
    Cause {
        id: "munge.key_short",
        sign: r"Keyfile must be at least (?<bytes>\d+) bytes",
        says: "the key of munge has less than {bytes} bytes",
        means: "The file is empty or was cut, most often by a copy or a secret that was not filled in.",
        act: "copy munge.key again from a host where munge works and compare `sha256sum`; then start munged",
        remedy: Remedy::Settings,
        sure: Sure::Confirmed,
        samples: &["munged: Error: Keyfile must be at least 32 bytes"],
        ..KEY
    },
    Cause {
        id: "munge.path_ownership",
        sign: r#"(?<what>[A-Za-z ]+) is insecure: (invalid ownership of|(?<mode>group|world)-writable permissions( without sticky bit)? set on) "(?<dir>[^"]+)""#,
        says: "munged does not trust the directory {dir}",
        means: "A directory above its key, log, socket or seed belongs to another account, or others may write in it. munged does not start then.",
        act: "give {dir} back to root (or to munge for its own directories) and take the right to write from group and others: `chown root:root {dir}`, `chmod go-w {dir}`; then start munged",
        remedy: Remedy::Settings,
        sure: Sure::Confirmed,
        samples: &[
            r#"munged: Error: Keyfile is insecure: group-writable permissions without sticky bit set on "/etc""#,
            r#"munged: Error: Logfile is insecure: invalid ownership of "/var/log" (uid=1000)"#,
        ],
        ..PATH
    },
    Cause {
        id: "munge.file_insecure",
        sign: r#"(?<what>Keyfile|Logfile) is insecure: "(?<file>[^"]+)" (?<why>(should|must) .*?)( \(perms=\d+\))?$"#,
        says: "munged refuses the file {file}: it {why}",
        means: "The file has another owner or mode than munged accepts, as when root made it by a copy.",
        act: "`chown munge:munge {file}`, and mode 0400 for the key or 0640 for the log, then start munged",
        remedy: Remedy::Settings,
        sure: Sure::Confirmed,
        sources: &[
            seen("https://github.com/dun/munge (src/munged/conf.c)", "2026-11-30"),
            seen("https://github.com/dun/munge (src/munged/munged.c)", "2026-11-30"),
        ],
        samples: &[
            r#"munged: Error: Keyfile is insecure: "/etc/munge/munge.key" should be owned by UID 998 instead of UID 0"#,
            r#"munged: Error: Logfile is insecure: "/var/log/munge/munged.log" should be owned by UID 64"#,
        ],
        ..TOOL
    },
    Cause {
        id: "munge.socket_dir_closed",
        sign: r#"(Socket|auth (server|client) dir) is inaccessible: execute permissions for all required on "(?<dir>[^"]+)""#,
        says: "the directory {dir} of munge's socket is closed to others",
        means: "Clients of all accounts must reach the socket, so its directory must let them through.",
        act: "`chmod 0755 {dir}`, owner munge, and start munged again",
        remedy: Remedy::Settings,
        sure: Sure::Confirmed,
        samples: &[
            r#"munged: Error: Socket is inaccessible: execute permissions for all required on "/run/munge""#,
        ],
        ..PATH
    },
    Cause {
        id: "munge.dir_missing",
        sign: r#"Failed to check (?<what>[A-Za-z ]+) dir "(?<dir>[^"]+)": cannot (canonicalize|stat) "[^"]+": (?<why>.*)"#,
        says: "munged has no directory {dir}: {why}",
        means: "The directory of its socket, process id, log or seed does not exist. Directories below /run are gone after each boot, unless the unit or tmpfiles makes them.",
        act: "make {dir} with owner munge; for /run/munge use the unit's `RuntimeDirectory=munge` or `systemd-tmpfiles --create`, so that it is there after a boot",
        remedy: Remedy::Settings,
        samples: &[
            r#"munged: Error: Failed to check pidfile dir "/var/run/munge": cannot canonicalize "/var/run/munge": No such file or directory"#,
        ],
        ..MUNGED
    },
    Cause {
        id: "munge.logfile",
        sign: r#"Failed to (open|check) logfile "(?<file>[^"]+)": (?<why>.*)"#,
        says: "munged cannot write its log {file}: {why}",
        means: "The directory of the log is missing or belongs to another account.",
        act: "make the directory of {file} with owner munge and mode 0700, and give an old log file to munge; then start munged",
        remedy: Remedy::Settings,
        samples: &[r#"munged: Error: Failed to open logfile "/var/log/munge/munged.log": Permission denied"#],
        ..MUNGED
    },
    Cause {
        id: "munge.runs_already",
        sign: r#"(Failed to lock "[^"]*munge[^"]*": pid|Found pid) (?<pid>\d+) bound to socket"#,
        says: "another munged (pid {pid}) has the socket",
        means: "A munged runs already, often one that was started by hand or by another unit.",
        act: "`ps -fp {pid}`: stop that one (`munged --stop`, or its unit), then start the unit",
        remedy: Remedy::Settings,
        samples: &[
            r#"munged: Error: Found pid 1432 bound to socket "/run/munge/munge.socket.2""#,
            r#"munged: Error: Failed to lock "/run/munge/munge.socket.2.lock": pid 1432 bound to socket "/run/munge/munge.socket.2""#,
        ],
        ..LOCK
    },
    Cause {
        id: "munge.lock_left",
        sign: r#"Failed to (create|lock|validate lockfile:[^"]*|remove)( socket)? "(?<file>[^"]*munge[^"]*)"(: | should|$)(?<why>.*)"#,
        says: "munged cannot take its lock {file}",
        means: "The lock or the socket of an earlier munged belongs to another account or stands in a directory that munge may not write.",
        act: "see that no munged runs (`pgrep -a munged`), remove {file}, give its directory to munge, and start the unit: not munged by hand as root",
        remedy: Remedy::Settings,
        samples: &[r#"munged: Error: Failed to create "/run/munge/munge.socket.2.lock": Permission denied"#],
        ..LOCK
    },
    Cause {
        id: "munge.bind",
        sign: r#"Failed to bind socket "(?<file>[^"]*munge[^"]*)": (?<why>.*)"#,
        says: "munged cannot make its socket {file}: {why}",
        means: "Its directory belongs to another account, or an old socket is in the way.",
        act: "give the directory of {file} to munge with mode 0755, remove an old socket there, and start munged",
        remedy: Remedy::Settings,
        samples: &[r#"munged: Error: Failed to bind socket "/run/munge/munge.socket.2": Permission denied"#],
        ..MUNGED
    },
    Cause {
        id: "munge.seed",
        sign: r#"(Failed to (open|create|read from|write to)|Ignoring) PRNG seed "(?<file>[^"]+)""#,
        counts: Counts::Warn,
        says: "munged does not use its seed {file}",
        means: "munged takes random bytes from the kernel instead and runs.",
        act: "give the directory of {file} to munge with mode 0711 or 0700",
        remedy: Remedy::Settings,
        sources: &[seen("https://github.com/dun/munge (src/munged/random.c)", "2026-11-30")],
        samples: &[
            r#"munged: Warning: Failed to create PRNG seed "/var/lib/munge/munged.seed": Permission denied"#,
        ],
        ..TOOL
    },
    Cause {
        id: "munge.own_name",
        sign: r#"munged.*(Unable to resolve host|Failed to resolve origin) "(?<host>[^"]+)""#,
        says: "munged cannot resolve the name of its own host ({host})",
        means: "munged writes the address of its host into each credential, and the name stands neither in /etc/hosts nor in DNS.",
        act: "add {host} with its address to /etc/hosts (or to DNS), then start munge; `getent hosts {host}` must answer",
        remedy: Remedy::Settings,
        sources: &[
            seen("https://github.com/dun/munge/issues/35", "2018-07-10"),
            seen("https://github.com/dun/munge (src/munged/conf.c)", "2026-11-30"),
        ],
        samples: &[r#"munged: Error: Unable to resolve host "gpu0""#],
        ..TOOL
    },
    Cause {
        id: "munge.no_account",
        sign: r"Failed at step USER spawning \S*munged",
        says: "this host has no account munge",
        means: "The unit starts munged as the account munge, which does not exist; a build from source makes none.",
        act: "make it as a system account (`useradd --system --no-create-home --shell /usr/sbin/nologin munge`), give it /etc/munge, /var/lib/munge, /var/log/munge and /run/munge, then start the unit; a package of the distribution does all of it",
        remedy: Remedy::Settings,
        sure: Sure::Confirmed,
        sources: &[seen("https://github.com/dun/munge/issues/92", "2020-12-15")],
        samples: &["systemd[28155]: Failed at step USER spawning /usr/local/sbin/munged: No such process"],
        ..TOOL
    },
    Cause {
        id: "munge.group_member_unknown",
        sign: r#"Failed to query (passwd file|password file entry) for "(?<user>[^"]*)""#,
        counts: Counts::Note,
        says: "a group has a member that this host does not know ({user})",
        means: "munged reads the groups and passes over that name.",
        sources: &[seen("https://github.com/dun/munge/issues/124", "2022-08-27")],
        samples: &[r#"munged[41544]: Failed to query password file entry for "alice""#],
        ..TOOL
    },
    Cause {
        id: "munge.no_command",
        sign: r"\b(munge|unmunge|remunge|mungekey|munged): (command )?not found",
        says: "munge is not installed, or not on this PATH",
        means: "The shell found no such program.",
        act: "install munge on this host (package `munge`; the playbook `slurm` does), or call it by its full path",
        remedy: Remedy::Settings,
        samples: &["bash: munge: command not found"],
        ..QUICKSTART
    },
    Cause {
        id: "munge.failed",
        sign: "Munge (?<what>en|de)code failed: (?<why>.*)",
        says: "munge failed: {why}",
        means: "A program of Slurm could not make or read a credential.",
        act: "try `munge -n | unmunge` on this host, then `munge -n | ssh HOST unmunge` to the other one: what fails there is the cause. `journalctl -u munge` has the words of munged",
        sure: Sure::Guess,
        samples: &["error: Munge encode failed: Internal error"],
        ..SLURM
    },
    Cause {
        id: "munge.stops",
        sign: r"^(.*\b)?munged(\[\d+\])?: Error: (?<why>.*)",
        says: "munged does not start: {why}",
        means: "munged ends with the first error at its start.",
        act: "mend what it says, then `systemctl start munge`; `sudo -u munge munged --foreground` shows the words at once",
        sure: Sure::Guess,
        samples: &[
            "munged: Error: Failed to lock pages into memory: Cannot allocate memory (RLIMIT_MEMLOCK=65536 / 64 KB)",
        ],
        ..MUNGED
    },
];
