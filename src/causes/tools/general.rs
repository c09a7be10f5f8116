//! Words of any program: an error of the system, a program that is missing. The last rows of the table.

use super::super::cause::{Cause, Remedy, Role, Sure, TOOL, seen};

const ANY: Cause = Cause {
    role: Role::Effect,
    remedy: Remedy::Settings,
    sure: Sure::Guess,
    sources: &[seen("https://man7.org/linux/man-pages/man3/errno.3.html", "2026-11-30")],
    ..TOOL
};
const PROVISION: Cause = Cause {
    role: Role::Effect,
    remedy: Remedy::Settings,
    sources: &[seen(
        "https://www.freedesktop.org/software/systemd/man/latest/systemd.exec.html",
        "2026-11-30",
    )],
    ..TOOL
};

pub(in crate::causes) const ROWS: &[Cause] = &[
    // Words of provision itself about a task.
    Cause {
        id: "unit.not_executed",
        sign: "(?<unit>[^ ]+) ended right after its start.*status 203",
        says: "systemd could not run the program of {unit} (203/EXEC)",
        means: "The file behind ExecStart= is not there, may not be run, or its interpreter is missing.",
        act: "look at the path behind ExecStart= (`systemctl cat {unit}`), at its mode and at its first line",
        role: Role::Cause,
        sure: Sure::Confirmed,
        samples: &["slurmd.service ended right after its start (exit-code, status 203)"],
        ..PROVISION
    },
    Cause {
        id: "unit.ended",
        sign: "(?<unit>[^ ]+) ended right after its start",
        says: "{unit} ended right after its start",
        means: "Its program stopped by itself.",
        act: "look at the log of the unit on the host: `journalctl -u {unit} -n 50`",
        remedy: Remedy::Look,
        samples: &["slurmd.service ended right after its start (exit-code, status 1)"],
        ..PROVISION
    },
    Cause {
        id: "unit.skipped",
        sign: "systemd skipped the start",
        says: "a condition of the unit does not hold",
        means: "systemd leaves out a unit whose Condition...= is not true.",
        act: "make the condition of the unit hold in an earlier task (`systemctl status UNIT` names it), or leave the service out on this host with `when`",
        role: Role::Cause,
        samples: &["nvidia-fabricmanager.service: systemd skipped the start"],
        ..PROVISION
    },
    Cause {
        id: "task.no_answer",
        sign: "gave no answer within ",
        says: "a program hangs on the host",
        means: "A dead network file system or a stuck driver does that.",
        act: "look at `dmesg` there, and at `ps -eo pid,stat,wchan:30,args` for processes in the state D",
        remedy: Remedy::Look,
        samples: &["nvidia-smi gave no answer within 60 s"],
        ..PROVISION
    },
    Cause {
        id: "task.not_converged",
        sign: "did not converge: after the change",
        says: "the host does not keep what the task asks for",
        means: "Something restores the old state, or the host cannot keep the new one.",
        act: "look for what else manages it: cloud-init, NetworkManager, tuned, a timer, another configuration tool",
        remedy: Remedy::Look,
        samples: &["did not converge: after the change the plan is still"],
        ..PROVISION
    },
    // Errors of the system.
    Cause {
        id: "disk.read_only",
        sign: "Read-only file system",
        says: "a file system is mounted read-only",
        means: "The kernel did so after an error of the disk, or the mount or the image is meant to be read-only (ostree, a container, an NFS export).",
        act: "see `dmesg` there for the reason and `findmnt -T PATH`; do not remount it writable before the disk is looked at",
        role: Role::Cause,
        samples: &["touch: cannot touch '/usr/x': Read-only file system"],
        ..ANY
    },
    Cause {
        id: "library.version",
        sign: r"(?<library>[^ :=]+\.so[^ :]*): version [`'](?<version>[A-Za-z0-9_.]+)' not found(?: \(required by (?<by>[^)]+)\))?",
        says: "{library} is too old: it has no {version}[, which {by} wants]",
        means: "The program was built on a newer system, or another copy of the library stands before the right one in the search path.",
        act: "see `ldd PROGRAM` and LD_LIBRARY_PATH for which copy is loaded; take a build for this release (GLIBC), or put the newer library first (GLIBCXX of conda, of the compiler)",
        role: Role::Cause,
        sure: Sure::Likely,
        remedy: Remedy::Install,
        samples: &[
            "python: /usr/lib/x86_64-linux-gnu/libstdc++.so.6: version `GLIBCXX_3.4.30' not found (required by /opt/x/lib/libtorch.so)",
        ],
        ..ANY
    },
    Cause {
        id: "program.wrong_machine",
        sign: "cannot execute(?: binary file)?: Exec format error|[Ee]xec format error|wrong ELF class",
        says: "a program or library is for another processor, or is no program",
        means: "It was built for x86_64 and this host is aarch64, or the other way round, or a script has no first line with `#!`.",
        act: "compare `file PROGRAM` with `uname -m`; take the build or the image for this processor",
        role: Role::Cause,
        sure: Sure::Likely,
        remedy: Remedy::Install,
        samples: &["-bash: ./nvbandwidth: cannot execute binary file: Exec format error"],
        ..ANY
    },
    Cause {
        id: "program.bad_interpreter",
        sign: r"bad interpreter: (?<why>.+)|env: .?(?<program>[^ '’:]+)\\r.?: No such file",
        says: "the first line of a script names a program that is not there[: {program}]",
        means: "The interpreter is not installed, lies elsewhere, or the script has line ends of Windows (`\\r`).",
        act: "look at its first line (`head -1 FILE | cat -A`): install that interpreter, or `sed -i 's/\\r$//' FILE`",
        role: Role::Cause,
        sure: Sure::Likely,
        samples: &["-bash: ./run.sh: /bin/bash^M: bad interpreter: No such file or directory"],
        ..ANY
    },
    Cause {
        id: "account.missing",
        sign: r"invalid (?:user|group): ['‘](?<account>[^'’]+)['’]|(?:chown|install|chgrp): .*unknown (?:user|group)|getpwnam\([^)]*\) failed|user '?(?<user>[a-z_][a-z0-9_-]*)'? does not exist",
        says: "an account or group is missing[: {account}][: {user}]",
        means: "The script or unit names it before anything made it, or the directory service (LDAP, SSSD) does not answer.",
        act: "see `getent passwd NAME` and `getent group NAME`; make it in an earlier task with the same number on all hosts (check fleet.users)",
        role: Role::Cause,
        samples: &["chown: invalid user: 'munge:munge'"],
        ..ANY
    },
    Cause {
        id: "account.number_taken",
        sign: "(?:useradd|groupadd|adduser|usermod): (?:UID|GID) '?(?<number>[0-9]+)'? (?:is not unique|already exists)",
        says: "the number {number} of an account or group is taken",
        means: "Another account of this host has it.",
        act: "see `getent passwd {number}` and `getent group {number}`; choose one number for it on all hosts (check fleet.users)",
        role: Role::Cause,
        sure: Sure::Confirmed,
        samples: &["useradd: UID 64030 is not unique", "groupadd: GID '64030' already exists"],
        ..ANY
    },
    Cause {
        id: "access.denied",
        sign: r"[Pp]ermission denied|[Oo]peration not permitted|[Mm]ust be (?:root|superuser)|must be run as root|are you root\?",
        says: "an access was refused",
        means: "The account may not do this, a container may not (capabilities, seccomp), or SELinux or AppArmor forbids it. The words alone do not say which.",
        act: "see who runs it (`id`) and `ls -l` of the path; set `ssh.become: sudo` in the inventory where root is needed; in a container look at its rights; `ausearch -m avc -ts recent` and `dmesg | grep -i apparmor` tell the rest",
        samples: &[
            "cat: /etc/munge/munge.key: Permission denied",
            "mount: /mnt: must be superuser to use mount. Operation not permitted",
        ],
        ..ANY
    },
    Cause {
        id: "program.missing",
        sign: r#"(?:^|[ :])(?<program>[A-Za-z0-9_./+-]+): (?:command )?not found(?:\.\.\.)?$|[Cc]ommand '(?<ubuntu>[^']+)' not found|(?:OCI runtime|starting container process|docker: Error).*exec: \\?"(?<exec>[^"\\]+)\\?": .*(?:not found|no such file)"#,
        says: "a program is missing[: {program}][: {ubuntu}][: {exec}]",
        means: "It is not installed on this host or in this image, or it is not in the PATH of this login (sudo and ssh commands have a shorter one).",
        act: "see `command -v NAME` in an ordinary login: install its package in an earlier task, or give its whole path",
        role: Role::Effect,
        samples: &["sh: 1: numactl: not found"],
        ..ANY
    },
    Cause {
        id: "image.step_failed",
        sign: r"did not complete successfully: exit code: (?<status>[0-9]+)|The command '[^']+' returned a non-zero code: (?<code>[0-9]+)|Bad exit status from /var/tmp/rpm-tmp|dpkg-buildpackage: error: .* exit status|returned non-zero exit status [0-9]+\.?$",
        role: Role::Summary,
        says: "a step of a build failed",
        means: "The line only tells its exit status; the reason stands before.",
        act: "look at the first error before this line",
        remedy: Remedy::Look,
        samples: &[
            "ERROR: failed to solve: process \"/bin/sh -c apt-get update\" did not complete successfully: exit code: 100",
        ],
        ..ANY
    },
    Cause {
        id: "connection.reset",
        sign: r"^ *(?:[a-z]+: )?(?:connect(?: to [^ ]+(?: port [0-9]+)?)?: )?[Cc]onnection (?:timed out|reset by peer)\.?$",
        says: "a connection was lost or did not come about",
        means: "The other side or something between closed it or gave no answer; the reason stands there.",
        act: "look at the other side's log; then at the network between (`ping`, `nc -vz HOST PORT`), names (`getent hosts NAME`) and firewalls",
        passing: true,
        remedy: Remedy::Look,
        samples: &["read: Connection reset by peer"],
        ..ANY
    },
    // Harmless words.
    // What names itself an error and nothing else knows.
    Cause {
        id: "apt.error",
        sign: "^E: (?<what>.+)",
        role: Role::Summary,
        says: "apt: {what}",
        means: "The catalogue does not know this error of apt.",
        act: "look at this line and at those before it",
        remedy: Remedy::Look,
        samples: &["E: Internal error, Ordering didn't finish"],
        ..ANY
    },
];
