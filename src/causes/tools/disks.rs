//! Disks of a host as their tools tell of them: mdadm, SMART, ZFS, LVM, programs for file systems and quotas.

use super::super::cause::{Cause, Counts, Remedy, Role, Sure, TOOL, seen};

const MD: Cause =
    Cause { sources: &[seen("https://man7.org/linux/man-pages/man8/mdadm.8.html", "2026-11-30")], ..TOOL };
const SMART: Cause =
    Cause { sources: &[seen("https://www.smartmontools.org/wiki/FAQ", "2026-11-30")], ..TOOL };
const ZFS: Cause = Cause {
    remedy: Remedy::Settings,
    sources: &[seen("https://openzfs.github.io/openzfs-docs/msg/index.html", "2026-11-30")],
    ..TOOL
};
const TOOLS: Cause = Cause {
    remedy: Remedy::Settings,
    sources: &[seen("https://github.com/util-linux/util-linux (sys-utils, misc-utils)", "2026-11-30")],
    ..TOOL
};

pub(in crate::causes) const ROWS: &[Cause] = &[
    Cause {
        id: "md.not_enough",
        sign: r"mdadm: (?<array>/dev/[^ ]+) assembled from (?<have>[0-9]+) drives?.* - not enough to start the array",
        says: "the array {array} has too few disks to start ({have})",
        means: "Disks are missing, or their records say that they left the array earlier than others.",
        act: "`lsblk` and `mdadm --examine /dev/sd*` for events and states: bring back a disk that is only not connected; do not create the array anew and do not force it before the data is copied or the records are understood",
        samples: &["mdadm: /dev/md0 assembled from 2 drives - not enough to start the array."],
        ..MD
    },
    Cause {
        id: "md.event",
        sign: r"A (?<event>DegradedArray|Fail|FailSpare|DeviceDisappeared|SparesMissing|DegradedArray) event (had been|has been|was) detected on md device (?<array>[^ .]+)|(DegradedArray|Fail) event (had been|on) detected.*(?<other>/dev/md[0-9a-z/_]+)",
        says: "mdadm reports {event} for {array}",
        means: "The array lost a disk and goes on without it, where its level allows that.",
        act: "`cat /proc/mdstat` and `mdadm --detail {array}` name the disk; look at it by `smartctl -a` and the kernel's log; replace it when it has errors, then `mdadm --manage {array} --add`",
        remedy: Remedy::Replace,
        samples: &["A DegradedArray event had been detected on md device /dev/md0."],
        ..MD
    },
    Cause {
        id: "md.faulty_member",
        sign: r"^\s*(?:\d+|-)\s+\d+\s+\d+\s+(?:\d+|-)\s+faulty[a-z ]*\s(?<disk>/dev/\S+)|^(?<array>md[0-9a-z_]+) : active .*?\b(?<member>[a-z0-9]+)\[\d+\]\(F\)",
        says: "the array[ {array}] has dropped[ {disk}][ {member}]",
        means: "The kernel had an error with it and goes on without it. Other partitions of the same disk may still be in use.",
        counts: Counts::Warn,
        act: "`smartctl -a` of that disk and the kernel's log of the time tell whether the disk or its cable failed; then `mdadm ARRAY --remove` and `--re-add` it, or put a new one in where SMART calls it failing; have a backup first, as the array has no spare now",
        sure: Sure::Confirmed,
        samples: &["       0       8        3        -      faulty   /dev/sda3"],
        ..MD
    },
    Cause {
        id: "md.mdstat",
        follows: &["md.faulty_member"],
        sign: r"^\s*[0-9]+ blocks .*\[[0-9]+/[0-9]+\] \[(U*_+[U_]*)\]|^(?<array>md[0-9a-z_]+) : active .*\[[0-9]+\]\(F\)|^\s*State : .*(degraded|FAILED)",
        says: "an array runs without all of its disks[: {array}]",
        means: "An underscore in `[U_]` stands for a disk that is missing, `(F)` for one that failed.",
        act: "`mdadm --detail` names it; look at the disk by `smartctl -a` and the kernel's log before it is added again or replaced",
        counts: Counts::Warn,
        samples: &["      1953382464 blocks super 1.2 [2/1] [U_]"],
        ..MD
    },
    Cause {
        id: "md.busy",
        sign: r"mdadm: ([Cc]annot open|failed to open|super[^ ]* cannot open) (device )?(?<disk>/dev/[^ :]+): Device or resource busy",
        says: "{disk} is in use, so mdadm does not take it",
        means: "It is part of a running array (often one that was assembled as md127), is mounted, or belongs to LVM or multipath.",
        act: "`cat /proc/mdstat`, `lsblk {disk}`, `dmsetup ls`: stop the array that took it (`mdadm --stop /dev/md127`) when it is the wrong one",
        remedy: Remedy::Settings,
        samples: &["mdadm: Cannot open /dev/sdb: Device or resource busy"],
        ..MD
    },
    Cause {
        id: "smart.failing",
        sign: r"(SMART overall-health self-assessment test result: FAILED|FAILED SMART self-check\. BACK UP DATA NOW|SMART Health Status: [^\[]*(FAILURE PREDICTION|[Ii]mpending [Ff]ailure|IMPENDING FAILURE|[Ff]ailure prediction threshold)[^\n]*|SMART Failure:)",
        says: "the disk says of itself that it fails",
        means: "Its own limits are passed. It may work for a while.",
        act: "save what is not mirrored, then replace the disk",
        remedy: Remedy::Replace,
        sure: Sure::Confirmed,
        samples: &[
            "SMART overall-health self-assessment test result: FAILED!",
            "SMART Health Status: Data channel impending failure data error rate too high [asc=5d, ascq=32]",
        ],
        ..SMART
    },
    Cause {
        id: "smart.pending",
        sign: r"smartd.*Device: (?<disk>[^ ,]+).*, (?<count>[0-9]+) (?<what>Currently unreadable \(pending\) sectors|Offline uncorrectable sectors)",
        says: "{disk} has {count} sectors that it cannot read",
        means: "Data of these sectors is lost or was never read back. A few that do not grow may come from a power cut; a growing number is a failing disk.",
        counts: Counts::Warn,
        act: "`smartctl -a {disk}` now and in some days; a long self-test (`smartctl -t long`); with a mirror rewrite them by a check of the array; replace the disk when the number grows",
        samples: &["smartd[1586]: Device: /dev/sdb [SAT], 16 Currently unreadable (pending) sectors"],
        ..SMART
    },
    Cause {
        id: "nvme.critical",
        sign: r"critical_warning\s*: 0x(?<bits>0*[1-9a-f][0-9a-f]*)|Critical Warning:\s+0x(?<other>0*[1-9a-f][0-9a-f]*)",
        says: "an NVMe disk has a critical warning[ (0x{bits})][ (0x{other})]",
        means: "Bit 0: its spare blocks run out, bit 1: too hot, bit 2: not reliable any more, bit 3: read-only, bit 4: its backup of the cache failed.",
        act: "`nvme smart-log -H DEV` says it in words: for heat look at the airflow; with bits 0, 2, 3 or 4 save the data and replace the disk",
        remedy: Remedy::Replace,
        sources: &[seen("https://nvmexpress.org/specifications/ (SMART / Health Information)", "2026-11-30")],
        samples: &["critical_warning                        : 0x4"],
        ..SMART
    },
    Cause {
        id: "zfs.no_modules",
        sign: r"The ZFS modules (are not loaded|cannot be auto-loaded)|/dev/zfs and /proc/self/mounts are required",
        says: "the ZFS modules are not loaded",
        means: "They are not built for the running kernel, mostly after an update of the kernel.",
        act: "`modprobe zfs` and its words; `dkms status`: build it for `uname -r` (headers), or boot the kernel that it was built for",
        remedy: Remedy::Install,
        samples: &["The ZFS modules are not loaded."],
        ..ZFS
    },
    Cause {
        id: "zfs.other_system",
        sign: r"cannot import '(?<pool>[^']+)': pool was previously in use from another system|pool is (formatted|imported) .*on another system|pool may be in use from other system",
        says: "the pool {pool} was last used by another host id",
        means: "It was not exported there: disks were moved, the host was installed anew, or its hostid changed.",
        act: "make sure that no other host has it imported now; only then `zpool import -f {pool}`; keep /etc/hostid the same in the initramfs",
        samples: &["cannot import 'tank': pool was previously in use from another system."],
        ..ZFS
    },
    Cause {
        id: "zfs.state",
        sign: r"^\s*state: (?<state>DEGRADED|FAULTED|SUSPENDED|UNAVAIL)|[Pp]ool '?(?<pool>[^' ]+)'? has encountered an uncorrectable I/O failure and has been suspended|pool I/O is currently suspended",
        says: "a pool of ZFS is not well[: {state}]",
        means: "A disk of it is missing or has errors; a suspended pool waits until its disks are back.",
        act: "`zpool status -v` names the disk and what to do; look at its cable and the kernel's log before it is replaced; `zpool clear` after the disks are back",
        sure: Sure::Likely,
        samples: &[" state: DEGRADED"],
        ..ZFS
    },
    Cause {
        id: "zfs.no_pool",
        sign: r"cannot import '(?<pool>[^']+)': no such pool( available)?|cannot open '(?<other>[^']+)': (no such pool|dataset does not exist)",
        says: "there is no such pool or dataset[: {pool}][: {other}]",
        means: "Its disks are not there (yet), it has another name, or it is imported already.",
        act: "`zpool import` without a name lists what is found, `zpool list` what is imported; at boot order it after the disks (zfs-import-scan)",
        samples: &["cannot import 'tank': no such pool available"],
        ..ZFS
    },
    Cause {
        id: "lvm.missing_device",
        sign: r"Couldn't find (device|all devices) (with uuid|for LV)|VG (?<group>[^ ]+) is missing PV|Volume group .?(?<other>[^ \x22]+).? not found",
        says: "a disk of a volume group is missing[: {group}][: {other}]",
        means: "The disk is gone or not there yet, or LVM's filter or devices file leaves it out.",
        act: "`pvs -a`, `lsblk`, `vgs`; `lvmdevices` and /etc/lvm/devices/system.devices after disks were moved; do not reduce the group before the disk is known to be lost",
        remedy: Remedy::Settings,
        samples: &["  WARNING: Couldn't find device with uuid 3fL0Yq-x."],
        ..TOOLS
    },
    Cause {
        id: "disk.in_use",
        sign: r"Can't open (?<disk>/dev/[^ ]+) exclusively|Cannot use (?<lvm>/dev/[^ :]+): device is (partitioned|an md component|a multipath component)|probing initialization failed: Device or resource busy|(?<mkfs>/dev/[^ ]+) is (mounted; will not make a filesystem here|apparently in use by the system)|contains a mounted filesystem|we have been unable to inform the kernel of the change",
        says: "the disk is in use[: {disk}][: {lvm}][: {mkfs}]",
        means: "It is mounted, part of an array, a volume group or multipath, or has partitions that are open.",
        act: "`lsblk -f` and `lsblk -s` show what uses it: make sure that it is the right disk before anything is taken off it",
        remedy: Remedy::Look,
        samples: &[
            "  Can't open /dev/sdb exclusively.  Mounted filesystem?",
            "/dev/sdb1 is mounted; will not make a filesystem here!",
        ],
        ..TOOLS
    },
    Cause {
        id: "disk.has_data",
        sign: r"(?<disk>/dev/[^ ]+) (appears to contain an existing (filesystem|partition table) \((?<type>[^)]+)\)|contains an? (?<other>[a-z0-9_]+) (file system|signature))|WARNING: (?<signature>[a-z0-9_]+) signature detected on (?<lvm>[^ ]+)",
        says: "the disk has data on it[: {disk}][: {lvm}][ ({type})][ ({other})][ ({signature})]",
        means: "The program found an older file system or table and does not overwrite it by itself.",
        counts: Counts::Warn,
        act: "look by `blkid` and `lsblk -f` whether it is the right disk and its data may go; only then `wipefs -a` or the option that forces it",
        remedy: Remedy::Look,
        samples: &["mkfs.xfs: /dev/sdb1 appears to contain an existing filesystem (ext4)."],
        ..TOOLS
    },
    Cause {
        id: "fsck.superblock",
        sign: r"Bad magic number in super-block while trying to open (?<disk>/dev/[^ ]+)|can't read superblock on (?<other>/dev/[^ ]+?)\.|Superblock has bad magic",
        says: "there is no readable file system of this kind[ on {disk}][ on {other}]",
        means: "It is the whole disk in place of a partition, another kind of file system (XFS, LVM, a RAID member), not formatted, or damaged.",
        act: "`lsblk -f` and `blkid -p` for its kind first; then `dmesg | tail` for errors of the disk; a backup superblock (`dumpe2fs`, `e2fsck -b`) only for a file system that is known to be ext4",
        remedy: Remedy::Look,
        sure: Sure::Guess,
        samples: &["fsck.ext4: Bad magic number in super-block while trying to open /dev/sdb"],
        ..TOOLS
    },
    Cause {
        id: "mount.needs_root",
        sign: r"mount: (only root can (do that|use)|.*: permission denied\.$)",
        says: "this account or container may not mount",
        means: "Only root mounts what /etc/fstab does not give to users; a container needs SYS_ADMIN and often no AppArmor profile.",
        act: "run it with sudo, or mount on the host and hand the folder over (`-v`)",
        samples: &["mount: only root can do that"],
        ..TOOLS
    },
    Cause {
        id: "space.inodes",
        sign: r"^(overlay|/dev/(sd|nvme|vd|xvd|mapper/|md|dm-)\S*) +[0-9.]{4,}[KMGT]? +[0-9.]+[KMGT]? +[0-9.]+[KMGT]? +(100|99)% +(?<mount>/\S*)$",
        near: &[r"(?<inodes>IUsed) +IFree"],
        says: "the file system at {mount} is full[ ({inodes}: its inodes are used up, not its bytes)]",
        means: "With `IUsed` in the head of the table the number of files is at its limit: very many small files, layers of container builds, mails or sessions. Otherwise its blocks are.",
        act: "`du --inodes -x / | sort -n | tail` (or `du -x`) finds the folder; remove what nobody needs (`docker system prune`, old sessions); a larger disk alone does not give more inodes to an ext4 that exists",
        sure: Sure::Likely,
        samples: &["/dev/mapper/vg-root 30736384 30484641  251743  100% /"],
        ..TOOLS
    },
    Cause {
        id: "space.df_full",
        sign: r"^\s*(?:\|\s*)?(?<device>overlay|tmpfs|/dev/(?:sd|nvme|vd|xvd|mapper/|md|dm-|root|mmcblk)\S*|[a-z0-9_.-]+/[a-z0-9_/.-]+|[A-Za-z0-9_.-]+:/\S*)\s+[0-9.]+[KMGTP]?\s+[0-9.]+[KMGTP]?\s+(?:0|[0-9.]+[KMG]?)\s+100%\s+(?<mount>/\S*)$",
        says: "the file system at {mount} is full ({device})",
        means: "Nothing can be written there. Layers and logs of containers, caches, old kernels and logs are the usual content.",
        act: "`du -xhd1 {mount} | sort -h | tail` finds the folder; for containers `docker system df`, then `docker system prune` of what nobody needs, or their data on a larger disk; `journalctl --vacuum-size=1G`; files that are deleted and still open: `lsof +L1`",
        remedy: Remedy::Settings,
        sure: Sure::Likely,
        sources: &[
            seen("https://www.gnu.org/software/coreutils/manual/html_node/df-invocation.html", "2026-12-01"),
            seen("https://github.com/nodejs/build/issues/4375", "2026-06-19"),
        ],
        samples: &["/dev/xvda2       98G   94G     0 100% /"],
        ..TOOLS
    },
    Cause {
        id: "quota.off",
        sign: r"(setquota|quotaon|quotacheck|repquota|quota|edquota): .*(Cannot open quotafile|Cannot find (filesystem|mountpoint)|not mounted with quota option|No filesystem with quota detected|Mountpoint \(or device\) .* not found|Cannot remount filesystem)|xfs_quota: cannot .*: Function not implemented|project quota.*not (enabled|running)",
        says: "quotas are not switched on for this file system",
        means: "It was mounted without usrquota, grpquota or prjquota (for the root file system by rootflags), or has no quota files.",
        act: "add the option in /etc/fstab and mount it anew (XFS: unmount and mount; root: `rootflags=uquota,pquota`); for ext4 `quotacheck -cum` and `quotaon`",
        samples: &[
            "repquota: Cannot find filesystem to check or filesystem not mounted with quota option.",
            "setquota: Cannot open quotafile /home/aquota.user: No such file or directory",
        ],
        ..TOOLS
    },
    Cause {
        id: "quota.block_limit",
        sign: r"write failed, (?<kind>user|group|project) (block|file) (limit reached|quota exceeded[^.]*)",
        says: "the quota of the {kind} is used up",
        means: "The kernel prints it on the terminal when a hard limit or the grace time is passed.",
        act: "`quota -s` (projects: `xfs_quota -x -c report`); remove files or raise the limit",
        sure: Sure::Confirmed,
        samples: &["sda1: write failed, user block limit reached."],
        ..TOOLS
    },
    Cause {
        id: "file.too_large",
        sign: r"(: |\[Errno 27\] )File too large",
        role: Role::Effect,
        says: "a file would become larger than it may",
        means: "A limit of the process (`ulimit -f`), or of the file system (FAT: 4 GiB).",
        act: "`ulimit -f` in the same place, `findmnt -T PATH` for the kind of file system",
        sure: Sure::Guess,
        samples: &["dd: error writing 'x': File too large"],
        ..TOOLS
    },
];
