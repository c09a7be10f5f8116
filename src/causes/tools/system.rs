//! The system: systemd and its journal, names (DNS, resolved), networks (netplan, networkd, NetworkManager, firewalls),
//! cloud-init, time, limits.

use super::super::cause::{Cause, Counts, Remedy, Role, Sure, TOOL, seen};

const UNIT: Cause = Cause {
    remedy: Remedy::Settings,
    sources: &[seen(
        "https://www.freedesktop.org/software/systemd/man/latest/systemd.exec.html",
        "2026-11-30",
    )],
    ..TOOL
};
const NOISE: Cause = Cause { counts: Counts::Note, remedy: Remedy::Look, ..UNIT };
const DNS: Cause = Cause {
    remedy: Remedy::Settings,
    sources: &[seen(
        "https://www.freedesktop.org/software/systemd/man/latest/systemd-resolved.service.html",
        "2026-11-30",
    )],
    ..TOOL
};
const NETPLAN: Cause = Cause {
    remedy: Remedy::Settings,
    sources: &[seen(
        "https://github.com/canonical/netplan (src/parse.c, src/error.c, 2026-07-20)",
        "2026-11-30",
    )],
    ..TOOL
};
const NET: Cause = Cause {
    remedy: Remedy::Settings,
    sources: &[seen("https://man7.org/linux/man-pages/man8/ip-route.8.html", "2026-11-30")],
    ..TOOL
};
const WALL: Cause = Cause {
    remedy: Remedy::Settings,
    sources: &[seen("https://firewalld.org/documentation/", "2026-11-30")],
    ..TOOL
};
const CLOUD: Cause = Cause {
    remedy: Remedy::Settings,
    sources: &[seen("https://github.com/canonical/cloud-init (cloudinit)", "2026-11-30")],
    ..TOOL
};
const TIME: Cause = Cause {
    remedy: Remedy::Settings,
    sources: &[seen("https://chrony-project.org/documentation.html", "2026-11-30")],
    ..TOOL
};
const LIMIT: Cause = Cause {
    remedy: Remedy::Settings,
    sources: &[seen("https://man7.org/linux/man-pages/man2/getrlimit.2.html", "2026-11-30")],
    ..TOOL
};

pub(in crate::causes) const ROWS: &[Cause] = &[
    // Known units.
    Cause {
        id: "systemd.fwupd_refresh",
        sign: r"fwupd-refresh\.service.*(loaded failed failed|failed|Failed)|Failed to start (fwupd-refresh\.service|Refresh fwupd metadata)",
        says: "fwupd could not fetch its list of firmware",
        means: "The host has no way to the Internet, or had none when the timer ran. Nothing else failed.",
        counts: Counts::Warn,
        act: "nothing is broken: `systemctl reset-failed fwupd-refresh.service`; on hosts without Internet `systemctl disable --now fwupd-refresh.timer`",
        sources: &[
            seen("https://github.com/fwupd/fwupd/issues/8144", "2024-11-24"),
            seen("https://github.com/fwupd/fwupd/issues/1942", "2020-04-01"),
        ],
        samples: &["● fwupd-refresh.service loaded failed failed Refresh fwupd metadata and update motd"],
        ..UNIT
    },
    Cause {
        id: "logrotate.postrotate",
        sign: "error running (non-)?shared postrotate script for (?<log>[^ ]+)",
        says: "a script of logrotate failed behind the rotation of {log}",
        means: "The logs were rotated. The service that should open them again did not run or did not answer, such as fail2ban right after the boot.",
        counts: Counts::Warn,
        act: "start that service, then `systemctl start logrotate.service` (or `systemctl reset-failed`); it is no matter of a full disk",
        sources: &[
            seen("https://github.com/fail2ban/fail2ban/issues/4122", "2025-12-22"),
            seen("https://github.com/NethServer/dev/issues/6614", "2021-12-23"),
        ],
        samples: &[
            "error: error running non-shared postrotate script for /var/log/fail2ban.log of '/var/log/fail2ban.log '",
        ],
        ..UNIT
    },
    Cause {
        id: "fail2ban.socket",
        sign: "fail2ban.*Failed to access socket path: (?<socket>[^ ]+)",
        role: Role::Effect,
        says: "fail2ban does not run (yet)",
        means: "The client was called and found no socket of the server.",
        counts: Counts::Warn,
        act: "`systemctl status fail2ban`; right after a boot it comes by itself",
        passing: true,
        sources: &[seen("https://github.com/fail2ban/fail2ban/issues/4122", "2025-12-22")],
        samples: &["fail2ban [788]: ERROR Failed to access socket path: /var/run/fail2ban/fail2ban.sock"],
        ..UNIT
    },
    Cause {
        id: "systemd.wait_online",
        sign: r"(Failed to start (?<unit>(systemd-networkd|NetworkManager)-wait-online\.service|Wait for Network to be Configured|Network Manager Wait Online)|Job (?<job>(systemd-networkd|NetworkManager)-wait-on[^ …]*)[^ ]*( s)?tart running \(|start job is running for (Wait for Network to be Configured|Network Manager Wait Online)|(systemd-networkd|NetworkManager)-wait-online\.service(: Failed with result| loaded failed failed)|[Tt]imeout occurred while waiting for network connectivity|systemd-networkd-wait-online(\[[0-9]+\])?: Event loop failed: Connection timed out)",
        says: "the boot waits for a network that does not come online",
        means: "The wait service waits for every interface its manager has: one without a cable, or none at all where networkd and NetworkManager are both enabled and the other one manages the interfaces. The host itself is well.",
        act: "`networkctl` and `nmcli device` show who manages what: mark unused ports `optional: true` in netplan (RequiredForOnline=no in networkd); where both wait services are enabled, disable the one of the manager that is not used (`systemctl disable systemd-networkd.service` where netplan has NetworkManager)",
        sources: &[
            seen("https://github.com/systemd/systemd/issues/30345", "2023-12-06"),
            seen("https://github.com/canonical/autoinstall-desktop/issues/18", "2024-07-24"),
        ],
        samples: &[
            "[  *** ] Job systemd-networkd-wait-online.se…tart running (1min 54s / no limit)",
            "[FAILED] Failed to start systemd-networkd-wait-online.service - Wait for Network to be Configured.",
        ],
        ..UNIT
    },
    Cause {
        id: "systemd.modules_load",
        sign: "systemd-modules-load.*Failed to (find|insert) module '(?<module>[^']+)'(: (?<why>.+))?",
        says: "the module {module} could not be loaded at boot[ ({why})]",
        means: "A file in /etc/modules-load.d names it, and the running kernel has no such module or refuses it.",
        counts: Counts::Warn,
        act: "`modprobe {module}` and its words; install it for `uname -r` (DKMS), or take the file out of /etc/modules-load.d",
        remedy: Remedy::Install,
        samples: &["systemd-modules-load[410]: Failed to find module 'nvidia_peermem'"],
        ..UNIT
    },
    Cause {
        id: "systemd.oomd",
        sign: r"(?<unit>[^ ]+\.(?:service|scope|slice)): systemd-oomd killed|systemd-oomd\[\d+\]: (?:Considered|Marked|Killed) .*(?:memory pressure|memory used|swap)",
        says: "systemd-oomd ended[ {unit}] for pressure on memory or swap",
        means: "systemd-oomd kills a control group before the kernel would, by the pressure on memory or the swap in use. The memory is not broken.",
        act: "`oomctl` and `journalctl -u systemd-oomd` say by which limit: find what takes the memory, give the unit `ManagedOOMSwap=auto` and `ManagedOOMMemoryPressure=auto`, or turn systemd-oomd off on compute nodes (`systemctl disable --now systemd-oomd`); keep one kind of swap",
        sure: Sure::Confirmed,
        sources: &[seen(
            "https://www.freedesktop.org/software/systemd/man/latest/systemd-oomd.service.html",
            "2026-11-30",
        )],
        samples: &[
            "Nov 29 00:52:43 host systemd[1]: copr-dist-git.service: systemd-oomd killed 1 process(es) in this unit.",
        ],
        ..UNIT
    },
    Cause {
        id: "systemd.out_of_memory",
        sign: r"(?<unit>[^ ]+\.(service|scope)): (Failed with result 'oom-kill'|A process of this unit has been killed by the OOM killer)",
        says: "{unit} was ended for memory",
        means: "The kernel killed a process of the unit: the host or the limit of the unit was out of memory.",
        act: "`journalctl -k | grep -i 'out of memory'`; raise MemoryMax of the unit, or find what used the memory",
        sure: Sure::Confirmed,
        samples: &["train.service: Failed with result 'oom-kill'."],
        ..UNIT
    },
    // Why a unit does not start.
    Cause {
        id: "systemd.exec_missing",
        sign: r"(?<unit>[^ ]+): Failed (at step EXEC spawning|to (execute|locate executable|exec)) (?<program>[^:]+): (?<why>No such file or directory|Permission denied|Exec format error)|\(?code=exited, status=203/EXEC",
        says: "a unit cannot start its program[ {program} ({why})]",
        means: "The path in ExecStart does not exist, is not executable, is on a file system that is not mounted yet or noexec, has a first line with a wrong interpreter, or SELinux forbids it.",
        act: "`ls -lZ` of the path, its first line, `findmnt -T` of it; correct ExecStart, `systemctl daemon-reload`, start it",
        samples: &[
            "train.service: Failed at step EXEC spawning /opt/train/run.sh: No such file or directory",
            "  Process: 3065 ExecStart=/opt/train/run.sh (code=exited, status=203/EXEC)",
        ],
        ..UNIT
    },
    Cause {
        id: "systemd.no_user",
        sign: "Failed to determine (user|group|supplementary groups?)( credentials)?: (No such process|Unknown (user|group))|status=21[67]/(USER|GROUP)|Failed at step (USER|GROUP) spawning",
        says: "the account or group of a unit does not exist",
        means: "User= or Group= names one that is not in passwd (yet): it was not created, or comes from LDAP that is not up.",
        act: "`getent passwd NAME`; create it with `useradd --system`, or order the unit after nss-user-lookup.target",
        sure: Sure::Confirmed,
        samples: &["slurmctld.service: Failed to determine user credentials: No such process"],
        ..UNIT
    },
    Cause {
        id: "systemd.working_directory",
        sign: "Changing to the requested working directory failed: (?<why>.+)|status=200/CHDIR|Failed at step CHDIR spawning",
        says: "the working folder of a unit is missing[ ({why})]",
        means: "WorkingDirectory= does not exist or may not be entered.",
        act: "create it, or correct WorkingDirectory=; order the unit after the mount it lies on (RequiresMountsFor=)",
        sure: Sure::Confirmed,
        samples: &[
            "train.service: Changing to the requested working directory failed: No such file or directory",
        ],
        ..UNIT
    },
    Cause {
        id: "systemd.namespace",
        sign: "Failed to set up mount namespacing: (?<path>[^:]+): (?<why>.+)|status=226/NAMESPACE|Failed at step NAMESPACE spawning",
        says: "the sandbox of a unit could not be set up[: {path} ({why})]",
        means: "A path in ReadWritePaths=, BindPaths= or PrivateTmp= does not exist, or the unit runs in a container that may not mount.",
        act: "create the path (or write it with a leading `-`); in a container take the sandbox options out by a drop-in",
        samples: &[
            "slurmrestd.service: Failed to set up mount namespacing: /var/lib/slurm: No such file or directory",
        ],
        ..UNIT
    },
    Cause {
        id: "systemd.environment_file",
        sign: "Failed to load environment files: (?<why>.+)",
        says: "the file of settings of a unit is missing ({why})",
        means: "EnvironmentFile= names a file that is not there. A leading `-` makes it optional.",
        act: "create the file, or write `EnvironmentFile=-/path`",
        sure: Sure::Confirmed,
        samples: &["munge.service: Failed to load environment files: No such file or directory"],
        ..UNIT
    },
    Cause {
        id: "systemd.bad_unit",
        sign: r"(?<unit>[^ ]+\.[a-z]+): (Service has no ExecStart=|Service has more than one ExecStart=|Executable path is not absolute|Neither a valid executable name nor an absolute path)|Unit (?<other>[^ ]+) has a bad unit file setting|(?<fatal>[^ ]+\.[a-z]+): Unit configuration has fatal error|(?<file>/[^ :]+):(?<line>[0-9]+): (Missing '='|Assignment outside of section|Invalid section header|Executable .* not found in path|Executable path is not absolute|Neither a valid executable)",
        says: "the file of a unit is wrong[: {unit}][: {other}][: {fatal}][: {file} line {line}]",
        means: "systemd does not load the unit.",
        act: "`systemd-analyze verify UNIT` says what is wrong; in a drop-in empty ExecStart= first, then set it; `systemctl daemon-reload`",
        sure: Sure::Confirmed,
        samples: &["Failed to start train.service: Unit train.service has a bad unit file setting."],
        ..UNIT
    },
    Cause {
        id: "systemd.pid_file_owner",
        sign: r"New main PID \d+ does not belong to service, and PID file is not owned by root",
        says: "systemd does not trust the PID file of a unit",
        means: "The file belongs to the account of the service and names a process that is not of the unit, so that anybody could have systemd kill another one.",
        act: "use Type=simple or Type=notify without PIDFile= (slurmd `-D`, munged `--foreground`), or have root write the file",
        sure: Sure::Confirmed,
        samples: &[
            "systemd[1]: foo.service: New main PID 1234 does not belong to service, and PID file is not owned by root. Refusing.",
        ],
        ..UNIT
    },
    Cause {
        id: "systemd.ordering_cycle",
        sign: "Found ordering cycle on (?<unit>[^ ]+)|(?<target>[^ ]+): Job (?<deleted>[^ ]+) deleted to break ordering cycle",
        says: "units wait for each other in a circle[: {unit}][: {deleted} was left out]",
        means: "After= and Requires= of several units form a circle. systemd leaves one out, so that it does not start at this boot.",
        act: "`systemd-analyze verify default.target` shows the circle; take the After= out of the unit or drop-in that was added last (a network mount without `_netdev`, a unit of your own with After=multi-user.target)",
        sure: Sure::Confirmed,
        samples: &[
            "systemd[1]: sysinit.target: Job foo.service/start deleted to break ordering cycle starting with sysinit.target/start",
        ],
        ..UNIT
    },
    Cause {
        id: "tmpfiles.unknown_account",
        sign: r"systemd-tmpfiles\[\d+\]: (?<file>/[^:]+):\d+: Failed to resolve (?<kind>user|group) '(?<name>[^']+)'",
        says: "a directory is not made at boot, as {kind} {name} does not exist",
        means: "Accounts of LDAP are not there that early, and one of a package may have been removed.",
        counts: Counts::Warn,
        act: "make {name} a local account (systemd-sysusers), or correct {file}",
        samples: &[
            "systemd-tmpfiles[512]: /usr/lib/tmpfiles.d/x.conf:1: Failed to resolve user 'foo': Unknown user",
        ],
        ..UNIT
    },
    Cause {
        id: "systemd.masked",
        sign: r"Unit (?<unit>[^ ]+\.[a-z]+) is masked",
        says: "{unit} is masked",
        means: "Somebody (an admin, a package, `no-upgrades`) forbade its start.",
        act: "`systemctl unmask {unit}` where it should run",
        sure: Sure::Confirmed,
        samples: &[
            "Failed to start nvidia-fabricmanager.service: Unit nvidia-fabricmanager.service is masked.",
        ],
        ..UNIT
    },
    Cause {
        id: "systemd.not_found",
        sign: r"Unit (file )?(?<unit>[A-Za-z0-9@_.:-]+\.[a-z]+) (could not be found|not found|does not exist)",
        says: "there is no unit {unit}",
        means: "Its package is not installed, or it has another name on this distribution (ssh and sshd, dcgm and nvidia-dcgm).",
        act: "`systemctl list-unit-files | grep NAME`; install the package; after copying a file `systemctl daemon-reload`",
        samples: &["Failed to start nvidia-dcgm.service: Unit nvidia-dcgm.service not found."],
        ..UNIT
    },
    Cause {
        id: "systemd.device_timeout",
        sign: r"Timed out waiting for device (?<device>[^ ]+)|dev-(?<unit>[^ ]+)\.device: Job [^ ]+ timed out",
        says: "the boot waited in vain for the device [{device}][{unit}]",
        means: "fstab or crypttab names a disk that is not there: another UUID since it was formatted, a disk that was taken out or failed.",
        act: "`lsblk -f` against /etc/fstab; correct or remove the line (`nofail` for what may be away), `systemctl daemon-reload`; look at `dmesg` where the disk should be there",
        samples: &[
            "systemd[1]: Timed out waiting for device dev-disk-by\\x2duuid-0a1b.device - /dev/disk/by-uuid/0a1b.",
        ],
        ..UNIT
    },
    Cause {
        id: "udev.rename",
        sign: "Failed to rename network interface [0-9]+ from '(?<old>[^']+)' to '(?<new>[^']+)': (?<why>.+)",
        says: "udev could not rename {old} to {new} ({why})",
        means: "Another device has the name, or the device was up already: two rules or .link files give one name.",
        counts: Counts::Warn,
        act: "`ip -br link` and `grep -r {new} /etc/systemd/network /etc/udev/rules.d /etc/netplan`; leave one rule per card, by MAC address, with names that the kernel does not give itself",
        samples: &[
            "systemd-udevd[400]: eno1: Failed to rename network interface 2 from 'eth0' to 'eno1': Device or resource busy",
        ],
        ..UNIT
    },
    Cause {
        id: "systemd.not_pid_one",
        sign: "System has not been booted with systemd as init system",
        says: "systemd does not run here",
        means: "This is a container, a chroot or WSL without systemd: there is nothing that systemctl could talk to.",
        act: "start the program itself, or use an image or setting with systemd (WSL: `systemd=true` in /etc/wsl.conf)",
        sure: Sure::Confirmed,
        samples: &["System has not been booted with systemd as init system (PID 1). Can't operate."],
        ..UNIT
    },
    Cause {
        id: "systemd.no_user_bus",
        sign: r"Failed to connect to (user scope )?bus( via local transport)?: (\$DBUS_SESSION_BUS_ADDRESS and \$XDG_RUNTIME_DIR not defined|No medium found|Operation not permitted|No such file or directory)",
        says: "this account has no systemd session of its own",
        means: "After su or sudo there is no XDG_RUNTIME_DIR, and without linger no user manager.",
        act: "log in as the account by ssh, or `loginctl enable-linger USER` and `export XDG_RUNTIME_DIR=/run/user/$(id -u USER)`; `systemctl --user -M USER@` as root",
        samples: &[
            "Failed to connect to bus: $DBUS_SESSION_BUS_ADDRESS and $XDG_RUNTIME_DIR not defined (consider using --machine=<user>@.host --user to connect to bus of other user)",
        ],
        ..UNIT
    },
    Cause {
        id: "systemd.frozen",
        sign: r"systemd\[1\]: (Freezing execution|Caught <[A-Z]+>, dumped core|Caught <(SEGV|ABRT|BUS|FPE|ILL)>)",
        says: "systemd itself crashed",
        means: "PID 1 stands still: nothing can be started or stopped any more, logins hang.",
        act: "read the line before it, save the journal, then reboot by sysrq or the BMC; memory errors and half-done updates of libc or systemd are usual causes",
        remedy: Remedy::Reset,
        sure: Sure::Confirmed,
        samples: &["systemd[1]: Freezing execution."],
        ..UNIT
    },
    Cause {
        id: "systemd.interactive",
        sign: r"(Failed to [a-z]+ [^ ]+: |Access denied.*)?Interactive authentication required\.",
        says: "this needs root",
        means: "systemctl, hostnamectl and the like ask polkit, which has nobody to ask.",
        act: "run it with sudo",
        sure: Sure::Confirmed,
        samples: &["Failed to restart nvidia-persistenced.service: Interactive authentication required."],
        ..UNIT
    },
    Cause {
        id: "locale.missing",
        sign: "cannot change locale|Setting locale failed|Cannot set LC_[A-Z]+ to default locale|Falling back to (a fallback|the standard) locale|[Pp]lease check that your locale settings|Failed to set locale, defaulting to|unsupported locale setting",
        says: "a locale is not installed",
        means: "The client or the environment names a locale that this host or image does not have. Programs go on in C.",
        act: "nothing, or install the language pack, or leave `AcceptEnv LANG LC_*` out of sshd_config",
        sources: &[
            seen("https://github.com/RPi-Distro/pi-gen/issues/605", "2022-03-14"),
            seen("https://github.com/minishift/minishift-centos-iso/issues/8", "2016-10-10"),
        ],
        samples: &[
            "-bash: warning: setlocale: LC_ALL: cannot change locale (en_US.UTF-8)",
            "perl: warning: Setting locale failed.",
        ],
        ..NOISE
    },
    Cause {
        id: "systemd.noise",
        sign: r"corrupted or uncleanly shut down, renaming and replacing|Suppressed [0-9]+ messages from|references a? ?path below legacy directory|Unit uses KillMode=none|Unknown (key( name)?|lvalue) '[^']+' in section|changed on disk\. Run 'systemctl daemon-reload'|Can't open PID file .* \(yet\?\)|Supervising process [0-9]+ which is not our child|systemd-sysctl.*Couldn't write .*ignoring|Configuration file .* is marked (executable|world-writable)|Failed to get initial list of names: No such|Unit .* is bound to inactive unit|left-over process .* in control group|PID file .* not readable \(yet\?\) after start|Journal file corrupted, rotating|Detected unsafe path transition",
        says: "systemd notes something that stops nothing",
        means: "These lines are notes, such as of a journal behind a power cut or of a setting of another version.",
        samples: &[
            "systemd-journald[512]: File /var/log/journal/0a1b/system.journal corrupted or uncleanly shut down, renaming and replacing.",
            "/etc/systemd/system/train.service:12: Unknown key name 'MemoryLimits' in section 'Service', ignoring.",
        ],
        ..NOISE
    },
    // Names.
    Cause {
        id: "dns.server_failed",
        sign: "server can't find (?<name>[^ :]+): (?<answer>SERVFAIL|REFUSED)|status: (?<status>SERVFAIL|REFUSED), id:",
        near: &[r"Address:\s+(?<server>[0-9a-f.:]+)#53", "SERVER: (?<server>[^ #]+)#53"],
        says: "the DNS server[ {server}] has no answer[ for {name}] ([{answer}][{status}])",
        means: "The server works and gets no answer itself. Behind 127.0.0.53 is systemd-resolved: right after its package is installed it takes over /etc/resolv.conf and knows no server unless one is set.",
        act: "`resolvectl status` for the servers of each link: where there is none set `DNS=` in /etc/systemd/resolved.conf (or in netplan) and restart systemd-resolved, or put the old resolv.conf back; where there is one, ask it (`dig @SERVER NAME`)",
        sources: &[seen("https://github.com/nextcloud/nextcloudpi/issues/1907", "2024-05-01")],
        samples: &["** server can't find google.com: SERVFAIL"],
        ..DNS
    },
    Cause {
        id: "dns.no_such_name",
        sign: "server can't find (?<name>[^ :]+): NXDOMAIN",
        says: "there is no name {name} in DNS",
        means: "The server answers and does not know the name: it is misspelt, lacks its domain, or belongs to another (internal) server.",
        act: "ask with the whole name, `resolvectl domain` for search domains; for names inside a company or VPN set that server for its domain",
        counts: Counts::Warn,
        samples: &["** server can't find gpu9.example.com: NXDOMAIN"],
        ..DNS
    },
    Cause {
        id: "dns.dnssec",
        sign: "(?<name>[^ ]+): resolve call failed: DNSSEC validation failed: (?<why>[a-z-]+)|DNSSEC validation failed for question (?<question>[^ ]+) .*: (?<reason>[a-z-]+)",
        says: "resolved does not take the answer[ for {name}][ for {question}][ ({why})][ ({reason})]",
        means: "The DNS server breaks DNSSEC, the clock of this host is wrong (signature-expired), or resolved itself got stuck.",
        act: "look at the clock first; then `systemctl restart systemd-resolved`; when it stays, `DNSSEC=allow-downgrade` or `no` in resolved.conf, or another server",
        sources: &[
            seen(
                "https://www.freedesktop.org/software/systemd/man/latest/systemd-resolved.service.html",
                "2026-11-30",
            ),
            seen("https://github.com/systemd/systemd/issues/38401", "2025-07-29"),
        ],
        samples: &[
            "www.nikon.com: resolve call failed: DNSSEC validation failed: no-signature",
            "systemd-resolved[700]: DNSSEC validation failed for question example.com IN A: no-signature",
        ],
        ..DNS
    },
    Cause {
        id: "dns.port_taken",
        sign: r"(failed to create listening socket for (port 53|[^ ]+)|Failed to listen on (UDP|TCP) socket 127\.0\.0\.53:53|listen (udp|tcp) [^ ]*:53: bind): Address already in use|:53: bind: address already in use",
        says: "two programs want port 53",
        means: "systemd-resolved, dnsmasq (libvirt, NetworkManager), named or a container listen on it.",
        act: "`ss -lunp 'sport = :53'`; `DNSStubListener=no` in resolved.conf, or let the other one listen on its own address (`bind-interfaces`)",
        sure: Sure::Confirmed,
        samples: &["dnsmasq: failed to create listening socket for port 53: Address already in use"],
        ..DNS
    },
    Cause {
        id: "dns.silent",
        sign: "connection timed out; no servers could be reached|communications error to (?<server>[^ #]+)#53: (timed out|connection refused|host unreachable|network unreachable)|no servers could be reached",
        role: Role::Effect,
        says: "no DNS server answers[ ({server})]",
        means: "The server is down, its address is wrong, or port 53 is blocked.",
        act: "`cat /etc/resolv.conf`, `resolvectl status`; `ping` and `dig @SERVER` of each; 127.0.0.53 refused means that systemd-resolved does not run",
        samples: &[";; communications error to 192.0.2.53#53: timed out"],
        ..DNS
    },
    Cause {
        id: "dns.temporary",
        sign: "Temporary failure (in name resolution|resolving)|EAI_AGAIN",
        role: Role::Effect,
        says: "names are not resolved (no DNS server answers)",
        means: "The resolver reached no server: no network yet, an empty resolv.conf, or a server that is down.",
        act: "`getent hosts NAME`, `cat /etc/resolv.conf`, `resolvectl status`, `ip route`; in a container look at the host's resolv.conf",
        samples: &["ping: archive.example.com: Temporary failure in name resolution"],
        ..DNS
    },
    Cause {
        id: "dns.unknown_name",
        sign: r"(ping: |getaddrinfo|gaierror|[Ff]ailed to|connect|lookup|rsync|nc: |telnet|git)[^|]*: Name or service not known|\[Errno -2\] Name or service not known|Could not resolve host: (?<host>[^ ]+)|unable to resolve host address .(?<other>[^'’ ]+)|: no such host$",
        role: Role::Effect,
        says: "a name is not known[: {host}][: {other}]",
        means: "It is misspelt or has no entry in DNS and /etc/hosts; without any DNS server curl says the same.",
        act: "`getent hosts NAME`; `resolvectl query NAME` tells whether a server answered",
        samples: &["ping: gpu7: Name or service not known"],
        ..DNS
    },
    Cause {
        id: "resolved.noise",
        sign: "Using degraded feature set|mitigating potential DNS violation DVE-2018-0001|Server returned error NXDOMAIN, mitigating",
        says: "resolved goes on with a simpler way",
        means: "The server does not speak a newer feature of DNS.",
        counts: Counts::Note,
        samples: &[
            "systemd-resolved[700]: Using degraded feature set UDP instead of UDP+EDNS0 for DNS server 192.0.2.53.",
        ],
        ..DNS
    },
    // netplan and networks.
    Cause {
        id: "netplan.renderer",
        sign: "(?<file>/[^ :]+):(?<line>[0-9]+):[0-9]+: Error in network definition: unknown renderer '(?<name>[^']*)'",
        says: "{file} line {line} has an unknown renderer '{name}'",
        means: "`renderer:` must be networkd or NetworkManager. A line about permissions of the file beside it is a warning only.",
        act: "write `renderer: networkd` (or NetworkManager), or take the line out, then `netplan generate`",
        sure: Sure::Confirmed,
        sources: &[seen("https://github.com/mrlesmithjr/ansible-netplan/pull/40", "2023-08-27")],
        samples: &[
            "/etc/netplan/armbian-default.yaml:3:12: Error in network definition: unknown renderer ''",
        ],
        ..NETPLAN
    },
    Cause {
        id: "netplan.definition",
        sign: "(?<file>/[^ :]+):(?<line>[0-9]+):[0-9]+: (?<kind>Error in network definition|Invalid YAML|Validation error): (?<why>.+)",
        says: "netplan does not take {file} line {line}: {why}",
        means: "The file has a mistake (indentation, a key, a name that is not defined), so no network settings are written.",
        act: "mend that line; `netplan generate` says whether it is right, `netplan try` goes back by itself when the login is lost",
        sure: Sure::Confirmed,
        samples: &[
            "/etc/netplan/50-cloud-init.yaml:7:13: Invalid YAML: tabs are not allowed for indent:",
            "/etc/netplan/01-ib.yaml:9:7: Error in network definition: bond0: interface 'ibp12s0' is not defined",
        ],
        ..NETPLAN
    },
    Cause {
        id: "netplan.noise",
        sign: r"Permissions for /[^ ]+ are too open|`?gateway4`? has been deprecated|Cannot call Open vSwitch: ovsdb-server\.service is not running|systemd-networkd is not running, output (will|might) be incomplete|Problem encountered while validating default route consistency",
        says: "netplan warns of something that stops nothing",
        means: "These are warnings: the settings are written all the same.",
        act: "`chmod 600 /etc/netplan/*.yaml`, and `routes:` with `to: default` in place of gateway4",
        counts: Counts::Note,
        samples: &[
            "** (generate:2668): WARNING **: 01:58:23.846: Permissions for /etc/netplan/armbian-default.yaml are too open. Netplan configuration should NOT be accessible by others.",
        ],
        ..NETPLAN
    },
    Cause {
        id: "nm.no_address",
        sign: r"IP configuration could not be reserved|reason 'ip-config-unavailable'|dhcp4 \((?<interface>[^)]+)\): (request timed out|state changed [a-z]+ -> (fail|timeout))|No DHCPOFFERS received|DHCPv4 (connection|client).*timed? ?out",
        role: Role::Effect,
        says: "no DHCP server gave an address[ on {interface}]",
        means: "There is no DHCP on that network, the port is in the wrong VLAN, the link is down, or the server has no free lease.",
        act: "`ip -br link` for the link, `tcpdump -ni IF port 67` for answers, the VLAN of the switch port; a fixed address where no DHCP is meant",
        samples: &[
            "Error: Connection activation failed: IP configuration could not be reserved (no available address, timeout, etc.)",
        ],
        ..NET
    },
    Cause {
        id: "nm.no_device",
        sign: "Connection activation failed: No suitable device found for this connection|Error: Device '(?<device>[^']+)' not found",
        says: "NetworkManager has no device for this connection[: {device}]",
        means: "The profile is bound to a name or MAC address that is not there, or the device is unmanaged (netplan, ifcfg, another manager).",
        act: "`nmcli device` for names and states; correct `connection.interface-name` and `802-3-ethernet.mac-address` in the profile; `nmcli device set DEV managed yes`",
        samples: &[
            "Error: Connection activation failed: No suitable device found for this connection (device eth0 not available because profile is not compatible with device).",
        ],
        ..NET
    },
    Cause {
        id: "nm.not_running",
        sign: "Error: NetworkManager is not running|Could not create NMClient object",
        says: "NetworkManager does not run",
        means: "Another manager (networkd) may have the network.",
        act: "`networkctl` first; `systemctl enable --now NetworkManager` where it should manage it",
        counts: Counts::Warn,
        samples: &["Error: NetworkManager is not running."],
        ..NET
    },
    Cause {
        id: "ip.no_device",
        sign: r"Cannot find device \x22(?<device>[^\x22]+)\x22|Device \x22(?<other>[^\x22]+)\x22 does not exist",
        says: "there is no network device [{device}][{other}]",
        means: "It has another name on this host, its driver is not loaded, or the module for IPoIB (ib_ipoib) is missing for ib0.",
        act: "`ip -br link` and `lspci -k`; for ib0 `modprobe ib_ipoib`; names changed by a new kernel or firmware are kept by a .link file",
        samples: &["Cannot find device \"ib0\""],
        ..NET
    },
    Cause {
        id: "ip.mtu",
        sign: "mtu greater than device maximum|mtu less than device minimum",
        says: "the device does not take this MTU",
        means: "The card, a virtual function (whose PF must have it first) or a bridge allows less; IPoIB in datagram mode takes 4092 at most.",
        act: "`ip -d link show DEV` has maxmtu; set the MTU on the PF or the bond first; the playbook `network` sets it",
        sure: Sure::Confirmed,
        samples: &["Error: mtu greater than device maximum."],
        ..NET
    },
    Cause {
        id: "ip.gateway",
        sign: "Nexthop has invalid gateway|RTNETLINK answers: (?<why>Network is unreachable|No route to host)",
        says: "the gateway of the route is in no network of this host",
        means: "The interface has no address in the gateway's network (yet).",
        act: "`ip -br addr`; set the address first, or add `onlink`",
        samples: &["Error: Nexthop has invalid gateway."],
        ..NET
    },
    Cause {
        id: "ip.exists",
        sign: "RTNETLINK answers: File exists|Error: ipv4: Address already assigned|Error: argument .* exists",
        says: "the address or route is there already",
        means: "The command was run twice, or another manager did it.",
        counts: Counts::Note,
        samples: &["RTNETLINK answers: File exists"],
        ..NET
    },
    Cause {
        id: "ip.not_permitted",
        sign: "RTNETLINK answers: Operation not permitted",
        says: "this process may not change the network",
        means: "It is not root, or the container has no NET_ADMIN.",
        act: "run it with sudo; of a container `--cap-add NET_ADMIN`",
        sure: Sure::Confirmed,
        samples: &["RTNETLINK answers: Operation not permitted"],
        ..NET
    },
    // Firewalls.
    Cause {
        id: "firewall.ufw_cluster",
        sign: r"\[UFW BLOCK\].*DPT=(?<slurm>681[789]|6820) |\[UFW BLOCK\].*SRC=(?<from>(10|192\.168|172\.(1[6-9]|2[0-9]|3[01])|192\.0\.2)\.[0-9.]+) .*DPT=(?<port>111|389|636|2049|20048|988|681[789]|6820|29500|5000[0-9]|8006|2379|2380|6443|10250) ",
        says: "ufw drops port [{port}][{slurm}][ from {from}]",
        means: "A host of an internal network asks for a service of a cluster (NFS, LDAP, Slurm, Lustre, Kubernetes) and ufw has no rule that lets it in.",
        act: "`ufw allow from NETWORK to any port PORT` with the cluster's network, or the playbook `firewall`; compute networks are mostly left open as a whole",
        counts: Counts::Warn,
        sources: &[seen("https://help.ubuntu.com/community/UFW", "2026-11-30")],
        samples: &[
            "[UFW BLOCK] IN=eno1 OUT= MAC=0a:1b SRC=192.0.2.21 DST=192.0.2.10 LEN=60 TOS=0x00 PREC=0x00 TTL=64 ID=1 DF PROTO=TCP SPT=51022 DPT=6817 WINDOW=64240 RES=0x00 SYN URGP=0",
        ],
        ..WALL
    },
    Cause {
        id: "firewall.ufw",
        sign: r"\[UFW (BLOCK|AUDIT|LIMIT BLOCK)\]",
        says: "ufw drops packets that no rule lets in",
        means: "A firewall does this all day.",
        counts: Counts::Note,
        sources: &[seen("https://help.ubuntu.com/community/UFW", "2026-11-30")],
        samples: &[
            "[UFW BLOCK] IN=eno1 OUT= MAC=0a:1b SRC=203.0.113.9 DST=192.0.2.10 LEN=40 PROTO=TCP SPT=4022 DPT=23 ",
        ],
        ..WALL
    },
    Cause {
        id: "firewall.docker_probe",
        sign: r"WARNING: COMMAND_FAILED: '[^']*iptables [^']*-(D|C|F|X|n)\b",
        says: "firewalld tells of rules of Docker that were not there",
        means: "Docker takes its rules away and asks for them before it writes them; firewalld logs each that did not exist. It is harmless while containers reach each other.",
        counts: Counts::Note,
        act: "nothing; where containers do not reach each other restart Docker after firewalld",
        sources: &[
            seen("https://github.com/moby/moby/issues/16137", "2017-02-08"),
            seen("https://github.com/bitnami/bitnami-docker-suitecrm/issues/74", "2018-01-11"),
        ],
        samples: &[
            "firewalld[2285]: WARNING: COMMAND_FAILED: '/usr/sbin/iptables -w2 -D FORWARD -i br-c62056a3457c -o br-c62056a3457c -j DROP' failed: iptables: Bad rule (does a matching rule exist in that chain?).",
        ],
        ..WALL
    },
    Cause {
        id: "firewall.firewalld",
        sign: "COMMAND_FAILED: (?<why>.+)|ERROR: (INVALID_(ZONE|PORT|SERVICE)|ZONE_CONFLICT|NAME_CONFLICT)[^a-z]*(?<what>.*)",
        says: "firewalld could not carry out its rules[: {why}][: {what}]",
        means: "The kernel lacks a module of nftables (a new kernel without a reboot), or a file of settings is wrong.",
        act: "`firewall-cmd --check-config`; where the kernel was updated, reboot; then `systemctl restart firewalld`",
        sure: Sure::Guess,
        samples: &[
            "ERROR: COMMAND_FAILED: 'python-nftables' failed: internal:0:0-0: Error: Could not process rule: No such file or directory",
        ],
        ..WALL
    },
    Cause {
        id: "firewall.already",
        sign: "(Warning|WARNING): (ALREADY_ENABLED|NOT_ENABLED|ALREADY_SET)",
        says: "firewalld has this rule already",
        means: "The command changed nothing.",
        counts: Counts::Note,
        samples: &["Warning: ALREADY_ENABLED: 6817:tcp"],
        ..WALL
    },
    Cause {
        id: "firewall.iptables_modules",
        sign: "(iptables|ip6tables|nft)[^:]*: (.*)?(Failed to initialize nft: Protocol not supported|can't initialize ip6?tables table .[a-z]+.: (Table does not exist|Permission denied|iptables who))|modprobe: FATAL: Module ip_tables not found",
        says: "the kernel has no modules for the firewall",
        means: "The running kernel's modules were removed by an update, or the container may not use them.",
        act: "`uname -r` against `ls /lib/modules`: reboot when the folder of the running kernel is gone; in a container use NET_ADMIN or leave the firewall to the host",
        remedy: Remedy::Reset,
        sure: Sure::Guess,
        samples: &["iptables v1.8.7 (nf_tables): Failed to initialize nft: Protocol not supported"],
        ..WALL
    },
    Cause {
        id: "firewall.no_route",
        sign: "(Ncat|nc|telnet|curl|ssh|rsync|connect|dial|Connection)[^|]*: ?(connect: )?[Nn]o route to host",
        role: Role::Effect,
        says: "the connection is prohibited or has no way (\"No route to host\")",
        means: "A host that answers to ping refuses the port by its firewall: firewalld rejects with ICMP prohibited, which clients show as no route. Else the host is down or in another network.",
        act: "`ping` it; where it answers, `firewall-cmd --list-all` on it and open the port or put the interface in the zone trusted (playbook `firewall`); else `ip route get ADDRESS` and its power",
        sources: &[seen("https://github.com/firewalld/firewalld/issues/1452", "2025-02-06")],
        samples: &["Ncat: No route to host."],
        ..WALL
    },
    // cloud-init.
    Cause {
        id: "cloud_init.no_user_data",
        sign: "File None needs to begin with .#cloud-config",
        says: "cloud-init tells absent user-data as an error of the schema",
        means: "The instance was started without user-data, which cloud-init before 23.4 told as an error. The instance is well.",
        counts: Counts::Warn,
        act: "nothing; a newer cloud-init drops the warning",
        sure: Sure::Confirmed,
        sources: &[seen("https://github.com/canonical/cloud-init/issues/5803", "2024-10-08")],
        samples: &[
            "Cloud config schema errors: format-l1.c1: File None needs to begin with \"#cloud-config\"",
        ],
        ..CLOUD
    },
    Cause {
        id: "cloud_init.schema",
        sign: "Invalid cloud-config provided|Cloud config schema errors: (?<why>.+)|cloud-config failed schema validation",
        role: Role::Effect,
        follows: &["cloud_init.no_user_data"],
        says: "a part of the cloud-config does not fit cloud-init's schema[: {why}]",
        means: "A key is misspelt or has another type. cloud-init goes on and may leave that part out.",
        counts: Counts::Warn,
        act: "`cloud-init schema --system` names the keys; correct the user-data",
        samples: &[
            "2024-10-07 05:53:06,468 - schema.py[WARNING]: Invalid cloud-config provided: Please run 'sudo cloud-init schema --system' to see the schema errors.",
        ],
        ..CLOUD
    },
    Cause {
        id: "cloud_init.not_cloud_config",
        sign: r"Unhandled non-multipart \(text/x-not-multipart\) userdata",
        says: "cloud-init did not take the user-data: its first line is wrong",
        means: "User-data must begin with #cloud-config, #! or another known line; a blank line or a space before it is enough.",
        act: "write `#cloud-config` as the first line; then `cloud-init clean --reboot` on this instance or a new one",
        sure: Sure::Confirmed,
        samples: &[
            "__init__.py[WARNING]: Unhandled non-multipart (text/x-not-multipart) userdata: 'b'packages:'...'",
        ],
        ..CLOUD
    },
    Cause {
        id: "cloud_init.yaml",
        sign: r"Failed loading yaml blob\. (?<why>.+)|Failed at merging in cloud config part",
        says: "the user-data is no valid YAML[: {why}]",
        means: "cloud-init goes on without it.",
        act: "`cloud-init schema -c FILE` on the user-data before it is used",
        sure: Sure::Confirmed,
        samples: &[
            "util.py[WARNING]: Failed loading yaml blob. Invalid format at line 7 column 3: \"mapping values are not allowed here\"",
        ],
        ..CLOUD
    },
    Cause {
        id: "cloud_init.network_not_rendered",
        sign: "Unable to render networking|Unable to find a system nic for|Not all expected physical devices present",
        says: "cloud-init cannot set the network up as its data says",
        means: "The data names a card by an address (MAC) or name that this machine does not have: an image or settings of another machine, or a card that was changed.",
        act: "compare `ip -br link` with the network-config (`cloud-init query ds`, /var/lib/cloud/instance/network-config.json); correct the MAC there; `cloud-init clean --logs` before an image is copied",
        samples: &[
            "cloud-init[1]: stages.py[ERROR]: Unable to render networking. Network config is likely broken",
        ],
        ..CLOUD
    },
    Cause {
        id: "cloud_init.packages",
        sign: r"(?:util|cc_package_update_upgrade_install)\.py\[(?:WARNING|ERROR)\]: (?:Failed to install packages|Package upgrade failed|\d+ failed with exceptions|Failure when attempting to install packages)",
        role: Role::Effect,
        says: "cloud-init could not install packages",
        means: "The name of a package is wrong for this release, or there was no network, no lock, or no time yet. apt or dnf say it in the lines before.",
        act: "see /var/log/cloud-init-output.log around it",
        samples: &["cloud-init[1]: 2024-01-01 util.py[WARNING]: Failed to install packages: ['foo']"],
        ..CLOUD
    },
    Cause {
        id: "cloud_init.user",
        sign: r"Failed to create (?:user|group) (?<name>\S+)|Failed to (?:lock password|set password|set shell|unlock).* for user (?<other>\S+)",
        says: "cloud-init could not make the account[ {name}][ {other}]",
        means: "useradd refused it: a shell or group that is not there, a name or number that is taken, or a system that is not written to yet.",
        act: "see the words of useradd in /var/log/cloud-init.log at that place; correct `users:` of the user-data",
        samples: &["2021-12-15 17:44:09,321 - util.py[WARNING]: Failed to create user kc2user"],
        ..CLOUD
    },
    Cause {
        id: "cloud_init.runcmd",
        sign: "Failed to shellify (?<what>.{0,80})|Unable to shellify type",
        says: "cloud-init cannot make a script of runcmd",
        means: "An entry is neither text nor a list of words: an empty `-`, or a line that YAML reads as a mapping as it has a `: `. None of the commands is run.",
        act: "put such a line into quotes, take the empty entry out, and check with `cloud-init schema --config-file FILE`",
        sure: Sure::Confirmed,
        sources: &[seen("https://github.com/canonical/cloud-init/issues/3498", "2019-11-19")],
        samples: &[
            "util.py[WARNING]: Failed to shellify [['echo begin'], None] into file /var/lib/cloud/instance/scripts/runcmd",
        ],
        ..CLOUD
    },
    Cause {
        id: "cloud_init.module_failed",
        sign: r"Failed to run module (?<module>[a-z_-]+)|Running module (?<other>[a-z_-]+) \(.*\) failed|Failed to run (?<number>[0-9]+) user scripts|finish: (?<stage>[a-z-]+): FAIL: |ProcessExecutionError: Unexpected error while running command|\('scripts[_-]user', ",
        role: Role::Effect,
        says: "a step of cloud-init failed[: {module}][: {other}][: {stage}]",
        means: "A command of the user-data, packages or a script ended with an error.",
        act: "/var/log/cloud-init-output.log has its words; `cloud-init status --long`",
        samples: &[
            "cc_scripts_user.py[WARNING]: Failed to run module scripts-user (scripts in /var/lib/cloud/instance/scripts)",
        ],
        ..CLOUD
    },
    Cause {
        id: "cloud_init.no_datasource",
        sign: r"No instance datasource found! Likely bad things to come|Used fallback datasource|url_helper\.py\[WARNING\]: Calling '(?<url>[^']+)' failed|Giving up on (md|OpenStack md|waiting for the metadata)",
        role: Role::Effect,
        says: "cloud-init found no metadata[ at {url}]",
        means: "The network was not up, the metadata service is not reached or does not exist here, or the datasource list names another cloud.",
        act: "`curl http://169.254.169.254/` on the host, `cat /run/cloud-init/ds-identify.log`; on hosts without a cloud `touch /etc/cloud/cloud-init.disabled`",
        counts: Counts::Warn,
        samples: &["stages.py[WARNING]: Used fallback datasource"],
        ..CLOUD
    },
    // Time.
    Cause {
        id: "chrony.may_not_set",
        sign: r"(?:adjtimex|clock_adjtime|settimeofday|clock_settime|ntp_adjtime)\([^)]*\) failed ?: Operation not permitted",
        says: "this program may not set the clock",
        means: "A container shares the clock of its host, and there is no namespace for it. On a host the right CAP_SYS_TIME is missing.",
        act: "keep the time on the host and leave chronyd out of the container (or start it with `-x`, which does not touch the clock); do not make the container privileged for it",
        sure: Sure::Confirmed,
        sources: &[seen("https://github.com/mlichvar/chrony (sys_timex.c, sys_linux.c)", "2026-11-30")],
        samples: &["2020-12-27T09:09:51Z Fatal error : adjtimex(0x8001) failed : Operation not permitted"],
        ..TIME
    },
    Cause {
        id: "chrony.no_rights",
        sign: r"chronyd\[\d+\]: (?:Could not change ownership of|Wrong (?:owner|permissions) (?:of|on)|Could not open configuration file) (?<path>[^ ]+)|^501 Not authorised",
        says: "chrony may not use its files or its socket[: {path}]",
        means: "A directory of chrony has another owner or mode than it wants, its settings are missing (/etc/chrony.conf or /etc/chrony/chrony.conf), or chronyc was not started by root.",
        act: "`ls -ld` of the path: /run/chrony belongs to the account of chronyd with mode 0750; call chronyc with root",
        samples: &[
            "chronyd[512]: Could not open configuration file /etc/chrony.conf : No such file or directory",
        ],
        ..TIME
    },
    Cause {
        id: "ntp.no_server",
        sign: r"no server suitable for synchronization found|Server has too large root distance|kernel reports TIME_ERROR: 0x\d+: Clock Unsynchronized",
        says: "no time server gives a usable time",
        means: "It is not reached on UDP 123, or is itself not synchronised (yet). `kernel reports TIME_ERROR` at the start of ntpd is no fault for some minutes.",
        counts: Counts::Warn,
        act: "`chronyc sources -v` or `ntpq -p`; `nc -vzu SERVER 123`; name a server inside the network (the playbook `chrony`)",
        sure: Sure::Guess,
        samples: &["ntpdate[1]: no server suitable for synchronization found"],
        ..TIME
    },
    Cause {
        id: "chrony.wait_too_short",
        sign: r"chrony-wait\.service: (?:[Ss]tart operation timed out|Failed with result '(?:timeout|exit-code)')",
        says: "chrony had no source of time within the wait of the boot",
        means: "chrony-wait.service gives up after three minutes. When chronyd selects a source a little later, the clock is right and only the unit stays failed.",
        counts: Counts::Warn,
        act: "`chronyc tracking` and `chronyc sources -v`: with a source selected, `systemctl reset-failed chrony-wait` and mark the server `iburst` without `offline` in chrony.conf; with none, look at the way to the server (UDP 123) and at DNS",
        sources: &[seen("https://github.com/okd-project/okd/issues/2341", "2026-07-07")],
        samples: &["systemd[1]: chrony-wait.service: start operation timed out. Terminating."],
        ..TIME
    },
    Cause {
        id: "chrony.no_source",
        sign: "Can't synchronise: no (selectable|reachable) sources|No suitable source for synchronisation|no majority",
        role: Role::Effect,
        says: "chrony has no source of time that it trusts",
        means: "The servers are not reached (UDP 123 blocked, DNS), or do not agree.",
        counts: Counts::Warn,
        act: "`chronyc sources -v` and `chronyc activity`; name a server inside the site in chrony.conf (playbook `chrony`)",
        samples: &["chronyd[812]: Can't synchronise: no selectable sources"],
        ..TIME
    },
    Cause {
        id: "chrony.wrong",
        sign: r"System clock wrong by (?<seconds>-?[0-9]{2,}\.[0-9]+) seconds|(Forward|Backward) time jump detected",
        says: "the clock of the host was wrong[ by {seconds} seconds]",
        means: "chrony found a large difference, and steps only at its start unless it is told so. Behind a suspend of a virtual machine it is usual.",
        counts: Counts::Warn,
        act: "`chronyc makestep`; `makestep 1 3` in chrony.conf; set the hardware clock (`hwclock --systohc`) where each boot brings it",
        samples: &["chronyd[812]: System clock wrong by 3602.401112 seconds"],
        ..TIME
    },
    Cause {
        id: "chrony.twice",
        sign: "Another chronyd may already be running|Could not open (IPv4|IPv6)? ?NTP socket.*Address already in use|bind.*:123: Address already in use",
        says: "two programs want to keep the clock",
        means: "chronyd runs already, or ntpd or timesyncd has port 123.",
        act: "leave one: `systemctl disable --now ntp systemd-timesyncd`, then `systemctl restart chrony`",
        remedy: Remedy::Settings,
        sure: Sure::Confirmed,
        samples: &[
            "Fatal error : Another chronyd may already be running (pid=812), check /run/chrony/chronyd.pid",
        ],
        ..TIME
    },
    Cause {
        id: "chrony.not_running",
        sign: "506 Cannot talk to daemon",
        says: "chronyd does not run",
        means: "chronyc reached no daemon.",
        act: "`systemctl enable --now chrony` (chronyd on RHEL), playbook `chrony`",
        sure: Sure::Confirmed,
        samples: &["506 Cannot talk to daemon"],
        ..TIME
    },
    Cause {
        id: "time.ntp_unsupported",
        sign: "Failed to set ntp: NTP not supported",
        says: "no program that keeps the clock is installed",
        means: "timedatectl knows neither chrony nor timesyncd here.",
        act: "install chrony (playbook `chrony`)",
        remedy: Remedy::Install,
        sure: Sure::Confirmed,
        samples: &["Failed to set ntp: NTP not supported."],
        ..TIME
    },
    Cause {
        id: "time.ntp_no",
        sign: r"^\s*(?:NTP synchronized|System clock synchronized): no",
        says: "the clock of this host is not kept by a time service",
        means: "No service runs, or it reaches no server (yet).",
        counts: Counts::Warn,
        act: "`timedatectl timesync-status` or `chronyc sources`: start chrony (the playbook `chrony`) and give it a server that is reached",
        sure: Sure::Guess,
        samples: &["NTP synchronized: no"],
        ..TIME
    },
    Cause {
        id: "time.not_synchronised",
        check: "system.time_sync",
        sign: "System clock synchronized: no|Leap status *: Not synchronised|Timed out waiting for reply from (?<server>[^ ]+)",
        role: Role::Effect,
        says: "the clock is not synchronised[: {server} does not answer]",
        means: "No server of time answered yet, or UDP 123 is blocked.",
        counts: Counts::Warn,
        act: "`timedatectl timesync-status` or `chronyc sources -v`; a server inside the site (playbook `chrony`)",
        samples: &[
            "systemd-timesyncd[700]: Timed out waiting for reply from 192.0.2.123:123 (ntp.example.com).",
        ],
        ..TIME
    },
    // Limits.
    Cause {
        id: "limit.map_count",
        sign: r"max virtual memory areas vm\.max_map_count \[(?<have>[0-9]+)\] (is )?(likely )?too low",
        says: "vm.max_map_count is too low ({have})",
        means: "The program maps more areas than the kernel allows.",
        act: "`sysctl -w vm.max_map_count=1048576` and a file in /etc/sysctl.d (playbook `sysctl`)",
        sure: Sure::Confirmed,
        samples: &[
            "max virtual memory areas vm.max_map_count [65530] is too low, increase to at least [262144]",
        ],
        ..LIMIT
    },
    Cause {
        id: "limit.processes",
        sign: "(fork|clone|pthread_create|fork/exec|retry)[^|]*: ?(retry: )?(Resource temporarily unavailable|resource temporarily unavailable)|can't start new thread|[Uu]nable to create( new)? (native )?thread|failed to create new OS thread|Cannot fork",
        says: "no more processes or threads can be started",
        means: "A limit is reached: `ulimit -u` of the account, TasksMax of the unit, pids.max of the container, or kernel.pid_max and threads-max.",
        act: "`ulimit -u`, `systemctl show -p TasksMax UNIT`, `cat /sys/fs/cgroup/.../pids.max`; raise the one that is reached (playbook `limits`, `--pids-limit`), or start fewer threads (OMP_NUM_THREADS, data loader workers)",
        samples: &[
            "-bash: fork: retry: Resource temporarily unavailable",
            "OpenBLAS blas_thread_init: pthread_create failed for thread 63 of 64: Resource temporarily unavailable",
            "RuntimeError: can't start new thread",
        ],
        ..LIMIT
    },
    Cause {
        id: "limit.open_files",
        sign: r"[Tt]oo many open files|\[Errno 24\]|EMFILE",
        says: "the limit of open files is reached",
        means: "RLIMIT_NOFILE of the process (1024 at first for logins and many services) is used up; with `in system` it is that of the whole host.",
        act: "`ulimit -n` in the job, `cat /proc/PID/limits`: raise it for logins (playbook `limits`), for services LimitNOFILE=1048576, for Slurm jobs in slurmd's unit, for containers `--ulimit nofile`",
        samples: &["OSError: [Errno 24] Too many open files"],
        ..LIMIT
    },
    Cause {
        id: "limit.not_raised",
        sign: "ulimit: (?<what>[a-z ]+): cannot modify limit: (Operation not permitted|Invalid argument)",
        says: "the limit of {what} cannot be raised here",
        means: "The hard limit of this session is lower.",
        act: "raise the hard limit: limits.d for logins (playbook `limits`; log in anew), Limit... of the unit for services and Slurm",
        counts: Counts::Warn,
        sure: Sure::Confirmed,
        samples: &["-bash: ulimit: open files: cannot modify limit: Operation not permitted"],
        ..LIMIT
    },
    Cause {
        id: "limit.arguments",
        sign: "Argument list too long",
        says: "the arguments of a command are too long",
        means: "Arguments and environment together may have about 2 MB, a single one 128 KB.",
        act: "use `find ... -exec ... +`, `xargs` or a file with the list; look for a huge variable in `env`",
        sure: Sure::Confirmed,
        samples: &["-bash: /usr/bin/rm: Argument list too long"],
        ..LIMIT
    },
    Cause {
        id: "sysctl.unknown",
        sign: r"sysctl: cannot stat /proc/sys/(?<key>[^ :]+): No such file or directory|sysctl: setting key \x22(?<other>[^\x22]+)\x22: (?<why>.+)",
        says: "the kernel did not take a setting[: {key}][: {other} ({why})]",
        means: "Its module is not loaded (net.bridge, nf_conntrack), the kernel does not have it, or a container may not set it.",
        counts: Counts::Warn,
        act: "load the module first (`br_netfilter`, `nf_conntrack` in /etc/modules-load.d); take settings out that this kernel does not have",
        sources: &[seen("https://man7.org/linux/man-pages/man8/sysctl.8.html", "2026-11-30")],
        samples: &[
            "sysctl: cannot stat /proc/sys/net/bridge/bridge-nf-call-iptables: No such file or directory",
        ],
        ..LIMIT
    },
    Cause {
        id: "memory.left",
        sign: r"[Cc]annot allocate memory|\[Errno 12\]|std::bad_alloc",
        role: Role::Effect,
        says: "no memory was given",
        means: "The host or the cgroup is out of memory, or a limit is reached: locked memory (RDMA), the number of maps, address space, overcommit.",
        act: "`free -g`, memory.max of the job, `ulimit -l -v`, `dmesg | grep -i oom`; for RDMA look at memlock (playbook `limits`)",
        sure: Sure::Guess,
        samples: &["fork: Cannot allocate memory"],
        ..LIMIT
    },
    // What units say at the end.
    Cause {
        id: "systemd.dependency",
        sign: "Dependency failed for (?<what>.+)|Job (?<unit>[^ ]+)/start failed with result 'dependency'",
        role: Role::Effect,
        says: "[{what}][{unit}] was not started, as something it needs failed",
        means: "The unit that failed stands before it.",
        act: "`systemctl list-dependencies --failed` and `systemctl --failed`; mend that unit first",
        samples: &["[DEPEND] Dependency failed for Local File Systems."],
        ..UNIT
    },
    Cause {
        id: "systemd.timeout",
        sign: "(?<unit>[^ ]+): (start operation timed out|State '[a-z-]+' timed out|Failed with result 'timeout'|Start-pre operation timed out)|[Aa] start job is running for (?<job>[^(]+)",
        role: Role::Effect,
        says: "a unit did not start in time[: {unit}][: {job}]",
        means: "It waits for something (network, disk, a peer) or does not tell systemd that it is ready.",
        act: "`journalctl -u UNIT` for its last words; raise TimeoutStartSec= only where it is truly slow",
        samples: &["nvidia-persistenced.service: start operation timed out. Terminating."],
        ..UNIT
    },
    Cause {
        id: "systemd.watchdog",
        sign: "(?<unit>[^ ]+): (Watchdog timeout|Failed with result 'watchdog')",
        role: Role::Effect,
        says: "{unit} did not answer its watchdog and was ended",
        means: "The service hung: disk, memory or processor of the host were not free, or it has a fault.",
        act: "look at the load of that minute (`sar`, `journalctl -k`)",
        samples: &["systemd-logind.service: Watchdog timeout (limit 3min)!"],
        ..UNIT
    },
    Cause {
        id: "systemd.core_dump",
        sign: "(?<unit>[^ ]+): Failed with result 'core-dump'|code=dumped, status=(?<signal>[0-9]+/[A-Z]+)",
        role: Role::Effect,
        says: "a service crashed[: {unit}][ ({signal})]",
        means: "A fault in the program or its libraries.",
        act: "`coredumpctl info` has the trace; update it, or look for libraries of two versions",
        samples: &["nvidia-dcgm.service: Failed with result 'core-dump'."],
        ..UNIT
    },
    Cause {
        id: "systemd.too_often",
        sign: r"[Ss]tart request repeated too quickly|Failed with result 'start-limit-hit'|(?<unit>[^ ]+\.service): Start request repeated",
        role: Role::Summary,
        says: "systemd gave a unit up, as it ended again and again",
        means: "The reason is in the lines of its first starts.",
        act: "`journalctl -u UNIT` for its own words, mend that, `systemctl reset-failed UNIT`, start it",
        samples: &["slurmd.service: Start request repeated too quickly."],
        ..UNIT
    },
    Cause {
        id: "systemd.unit_failed",
        sign: r"Failed to start (?<what>[A-Z][^:]*|[a-z0-9@_.-]+\.service( - .*)?)\.?$|(?<unit>[A-Za-z0-9@_.\\-]+\.(service|mount|socket|timer)): (Failed with result '(exit-code|signal|protocol|resources)'|Control process exited, code=exited|Main process exited, code=exited, status=[1-9])|● (?<listed>[A-Za-z0-9@_.\\-]+) +loaded +failed +failed|Job for (?<job>[^ ]+) failed(?: because|\.$)|Active: failed \(Result: [a-z-]+\)|Unit (?<old>[A-Za-z0-9@_.\\-]+) entered failed state",
        role: Role::Summary,
        says: "a unit failed[: {what}][: {unit}][: {listed}][: {job}][: {old}]",
        means: "systemd only says that it ended with an error. Its own words are in the journal.",
        act: "`journalctl -b -u UNIT` and read its first error",
        samples: &[
            "systemd[1]: lnet.service: Main process exited, code=exited, status=255/n/a",
            "Job for slurmd.service failed because the control process exited with error code.",
        ],
        ..UNIT
    },
    Cause {
        id: "systemd.mount_failed",
        sign: r"Failed to mount (?<point>/[^ ]*[^ .])|(?<unit>[^ ]+\.mount): Mount process exited, code=exited",
        role: Role::Summary,
        says: "a file system was not mounted[: {point}][: {unit}]",
        means: "The words of mount stand before it in the journal.",
        act: "`journalctl -b -u UNIT.mount` or `mount -v` of it by hand",
        samples: &["[FAILED] Failed to mount /data."],
        ..UNIT
    },
    Cause {
        id: "boot.emergency",
        sign: "You are in (emergency|rescue) mode|Cannot open access to console, the root account is locked",
        role: Role::Summary,
        says: "the boot stopped in emergency mode",
        means: "A mount of fstab or the check of a file system failed; that stands before. With a locked root nobody can log in there.",
        act: "`systemctl --failed` and `journalctl -xb -p err` there; put `nofail` to what may be away; with a locked root boot with `init=/bin/bash` or a rescue system",
        samples: &["You are in emergency mode. After logging in, type \"journalctl -xb\" to view"],
        ..UNIT
    },
    Cause {
        id: "systemd.degraded",
        sign: "State: degraded",
        role: Role::Summary,
        says: "some unit of the host failed (degraded)",
        means: "One failed unit is enough. `systemctl --failed` names it.",
        counts: Counts::Warn,
        act: "`systemctl --failed`, then that unit; `systemctl reset-failed` clears what is done with",
        samples: &["    State: degraded"],
        ..UNIT
    },
];
