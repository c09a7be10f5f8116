//! Disks, file systems and file servers.

use super::super::cause::{Cause, Counts, ROW, Remedy, seen};

const MEGARAID: &str = "Linux kernel: megasas_transition_to_ready() in drivers/scsi/megaraid/megaraid_sas_base.c, megasas_wait_for_outstanding_fusion() and megasas_reset_fusion() in megaraid_sas_fusion.c, of 4.18 and 6.18";
const DISK: Cause = Cause { check: "kernel.disks", counts: Counts::Warn, ..ROW };

pub(in crate::causes) const ROWS: &[Cause] = &[
    Cause {
        id: "nvme.timeout",
        sign: r"nvme (?<device>nvme[0-9]+): I/O (tag )?[0-9]+ (\([0-9a-f]+\) opcode 0x[0-9a-f]+ \([^)]*\) |\([A-Za-z/ ]+\) )?QID [0-9]+ timeout, ",
        says: "did not answer in time",
        means: "A disk did not answer for half a minute.",
        act: "`nvme smart-log` and `nvme error-log` of the disk; update its firmware; when it returns, try default_ps_max_latency_us=0 of nvme_core and another slot before the disk is replaced",
        sources: &[seen(
            "Linux kernel: nvme_timeout() in drivers/nvme/host/pci.c of 4.18 and 6.18",
            "2026-11-29",
        )],
        samples: &[
            "[ 3061.1] nvme nvme0: I/O tag 489 (d1e9) opcode 0x1 (I/O Cmd) QID 3 timeout, aborting req_op:WRITE(1) size:524288",
            "[ 3061.1] nvme nvme0: I/O 12 QID 3 timeout, aborting",
        ],
        ..DISK
    },
    Cause {
        id: "nvme.down",
        sign: r"nvme (?<device>nvme[0-9]+): controller is down; will reset: CSTS=",
        says: "stopped and was reset",
        means: "The controller of a disk stopped; with CSTS=0xffffffff it did not answer on the PCIe bus.",
        act: "look at pcie.aer; update the disk's firmware; where it happens on an idle host, boot with `pcie_aspm=off` and default_ps_max_latency_us=0 of nvme_core",
        remedy: Remedy::Install,
        sources: &[seen("Linux kernel: nvme_warn_reset() in drivers/nvme/host/pci.c", "2026-11-29")],
        samples: &[
            "[  603.860958] nvme nvme0: controller is down; will reset: CSTS=0xffffffff, PCI_STATUS=0xffff",
        ],
        ..DISK
    },
    Cause {
        id: "nvme.gone",
        follows: &["nvme.power_saving"],
        sign: r"nvme (?<device>nvme[0-9]+): (Removing after probe failure|Disabling device after reset failure|Device not ready; aborting (reset|initialisation))",
        says: "was given up",
        means: "The kernel does not use a disk any more, because it does not answer.",
        counts: Counts::Fail,
        act: "drain the host; look at the lines before it and at lspci; power-cycle the host, where it comes back read `nvme smart-log` and update its firmware, and try default_ps_max_latency_us=0 of nvme_core; where it does not, try another slot before the disk is replaced",
        remedy: Remedy::Reset,
        sources: &[seen("Linux kernel: drivers/nvme/host/pci.c and core.c", "2026-11-29")],
        samples: &[
            "[  603.9] nvme nvme0: Removing after probe failure status: -19",
            "nvme nvme0: Device not ready; aborting reset, CSTS=0x1",
        ],
        ..DISK
    },
    Cause {
        id: "nvme.no_path",
        sign: r"block (?<device>nvme[0-9]+n[0-9]+): no (available|usable) path - (failing|requeuing) I/O",
        says: "cannot be reached",
        means: "The kernel has no way to a disk: it is gone, or the network to it is.",
        act: "look at the lines of the driver nvme before it: whether the disk was lost, its server does not answer, or somebody disconnected it",
        sources: &[seen(
            "Linux kernel: nvme_ns_head_submit_bio() in drivers/nvme/host/multipath.c",
            "2026-11-29",
        )],
        samples: &["[ 3816.209654] block nvme0n1: no available path - failing I/O"],
        ..DISK
    },
    Cause {
        id: "nvme.error",
        sign: r"(?<device>nvme[0-9]+(c[0-9]+)?n[0-9]+): [A-Z][A-Za-z/ ]*\(0x[0-9a-f]+\) @ LBA [0-9]+, [0-9]+ blocks, (?<what>[^(]*[^( ]) \(sct ",
        says: "{what}",
        means: "A disk reports that it could not read or write.",
        act: "`nvme smart-log` of the disk (media_errors, percentage_used); replace it when they grow",
        sources: &[seen("Linux kernel: nvme_log_error() in drivers/nvme/host/core.c", "2026-11-29")],
        samples: &[
            "[ 7011.1] nvme0n1: Read(0x2) @ LBA 1234, 8 blocks, Unrecovered Read Error (sct 0x2 / sc 0x81) DNR",
            "[ 7011.1] nvme3n1: I/O Cmd(0x2) @ LBA 1234, 8 blocks, I/O Error (sct 0x2 / sc 0x81) MORE DNR",
        ],
        ..DISK
    },
    Cause {
        id: "disk.discard",
        sign: r"((blk_update_request|print_req_error): )?(I/O|critical target) error, dev (?<device>{disk}), sector [0-9]+ op 0x3:\(DISCARD\)",
        says: "does not take a discard",
        means: "A disk refused to be told which blocks are free; nothing is lost.",
        counts: Counts::Note,
        sources: &[seen("Linux kernel: blk_print_req_error() in block/blk-mq.c", "2026-11-29")],
        samples: &[
            "[ 1514.8] blk_update_request: I/O error, dev sdb, sector 32493568 op 0x3:(DISCARD) flags 0x800 phys_seg 1 prio class 0",
        ],
        ..DISK
    },
    Cause {
        id: "disk.error",
        sign: r"((blk_update_request|print_req_error): )?(I/O|critical (medium|target|nexus|space allocation)|protection|timeout|recoverable transport) error, dev (?<device>{disk}), sector [0-9]+",
        says: "errors of reading or writing",
        means: "A disk could not read or write.",
        act: "`smartctl -a` or `nvme smart-log` of the disk; look at its cable or its backplane; replace it when errors go on",
        sources: &[seen(
            "Linux kernel: blk_print_req_error() in block/blk-mq.c of 4.18 and 6.18",
            "2026-11-29",
        )],
        samples: &[
            "[ 1522.838525] print_req_error: I/O error, dev sda, sector 7709175810 flags 1001",
            "[ 1522.8] blk_update_request: critical medium error, dev sdb, sector 1234 op 0x0:(READ) flags 0x0 phys_seg 1 prio class 0",
            "[ 1522.8] I/O error, dev nvme0n1, sector 1234 op 0x1:(WRITE) flags 0x800 phys_seg 1 prio class 2",
        ],
        ..DISK
    },
    Cause {
        id: "disk.buffer",
        sign: r"Buffer I/O error on (dev|device) (?<device>{disk}), (logical block|lost)",
        says: "errors of reading or writing",
        means: "A disk could not read or write.",
        act: "`smartctl -a` or `nvme smart-log` of the disk; look at its cable or its backplane; replace it when errors go on",
        sources: &[seen("Linux kernel: fs/buffer.c", "2026-11-29")],
        samples: &["[ 1522.9] Buffer I/O error on dev dm-0, logical block 1234, lost async page write"],
        ..DISK
    },
    Cause {
        id: "disk.sense",
        sign: r"sd [0-9:]+: \[(?<device>sd[a-z]+)\] (tag#[0-9]+ )?Sense Key : (?<what>Medium Error|Hardware Error)",
        says: "{what}",
        means: "A disk reports that it is damaged.",
        act: "`smartctl -a` of the disk (pending and reallocated sectors, a long self-test); in an array a scrub writes a single sector anew; replace the disk where SMART calls it failing or errors come again",
        remedy: Remedy::Replace,
        sources: &[seen("Linux kernel: drivers/scsi/scsi_logging.c", "2026-11-29")],
        samples: &["[ 1522.8] sd 2:0:0:0: [sdb] tag#30 Sense Key : Medium Error [current]"],
        ..DISK
    },
    Cause {
        id: "disk.offline",
        sign: r"(sd (?<device>[0-9:]+): (\[sd[a-z]+\] )?(Device offlined - not ready after error recovery|rejecting I/O to offline device)|(?<ata>ata[0-9]+\.[0-9]+): (disabled|disable device))",
        says: "was given up",
        means: "The kernel does not use a disk any more, because it does not answer.",
        counts: Counts::Fail,
        act: "look at its cable or its backplane and power-cycle the drained host; `smartctl -a` before the disk is replaced",
        remedy: Remedy::Reset,
        sources: &[seen(
            "Linux kernel: drivers/scsi/scsi_error.c and scsi_lib.c; drivers/ata/libata-core.c",
            "2026-11-29",
        )],
        samples: &[
            "[ 1522.8] sd 2:0:0:0: Device offlined - not ready after error recovery",
            "[ 1522.8] ata1.00: disable device",
        ],
        ..DISK
    },
    Cause {
        id: "ata.error",
        sign: r"(?<device>ata[0-9]+(\.[0-9]+)?): (exception Emask 0x[0-9a-f]+ SAct|failed command: |COMRESET failed)",
        says: "errors of its link or its disk",
        means: "A command to a disk failed, or its link had to be started again.",
        act: "look at the cable and `smartctl -a` of the disk",
        sources: &[seen("Linux kernel: drivers/ata/libata-eh.c", "2026-11-29")],
        samples: &[
            "[ 1522.8] ata1.00: exception Emask 0x0 SAct 0x0 SErr 0x0 action 0x6 frozen",
            "[ 1522.8] ata1.00: failed command: READ FPDMA QUEUED",
            "[ 1522.8] ata1: COMRESET failed (errno=-16)",
        ],
        ..DISK
    },
    Cause {
        id: "disk.adapter",
        sign: r"(megaraid_sas (?<device>{pci}): (Found )?FW in FAULT state|(?<adapter>mpt[23]sas_cm[0-9]+): ((fault|coredump)_state\(|SAS host is non-operational))",
        says: "its firmware stopped",
        means: "The adapter of disks met a fault.",
        counts: Counts::Fail,
        act: "power-cycle the host and update the adapter's firmware",
        remedy: Remedy::Reset,
        ended_by: &["disk.adapter_reset"],
        sources: &[
            seen(MEGARAID, "2026-11-29"),
            seen(
                "Linux kernel: mpt3sas_base_fault_info() and _base_fault_reset_work() in drivers/scsi/mpt3sas/mpt3sas_base.c of 4.18 and 6.18",
                "2026-11-29",
            ),
        ],
        samples: &[
            "[ 1522.8] mpt3sas_cm0: fault_state(0x2100)!",
            "[ 1522.8] mpt3sas_cm0: SAS host is non-operational !!!!",
            "[ 1522.8] megaraid_sas 0000:3b:00.0: Found FW in FAULT state, will reset adapter scsi0.",
            "[ 1522.8] megaraid_sas 0000:3b:00.0: FW in FAULT state Fault code:0x10000 subcode:0x0 func:megasas_transition_to_ready",
        ],
        ..DISK
    },
    Cause {
        id: "disk.adapter_reset",
        sign: r"megaraid_sas (?<device>{pci}): Reset successful for scsi[0-9]+",
        says: "its firmware stopped and was started again",
        means: "The adapter of disks met a fault, and its driver brought it back.",
        act: "update the adapter's firmware and driver; when it returns, look at its temperature and ask its vendor",
        remedy: Remedy::Install,
        sources: &[seen(MEGARAID, "2026-11-29")],
        samples: &["[ 1540.2] megaraid_sas 0000:3b:00.0: Reset successful for scsi0."],
        ..DISK
    },
    Cause {
        id: "disk.adapter_event",
        sign: r"megaraid_sas (?<device>{pci}): [0-9]+ \((boot \+ )?[0-9]+s/0x[0-9a-f]+/(CRIT|CRITICAL|FATAL|DEAD)\) - (?<what>[^\\]+)",
        says: "{what}",
        means: "The adapter of disks reports something that it takes for critical: a disk, a volume, its cache or its battery.",
        act: "look at the adapter's own log (`storcli64 /c0 show events`) and at its disks and volumes (`storcli64 /c0 show`)",
        sources: &[seen(
            "Linux kernel: megasas_decode_evt() in drivers/scsi/megaraid/megaraid_sas_base.c of 4.18 and 6.18",
            "2026-11-29",
        )],
        samples: &[
            "[ 1540.5] megaraid_sas 0000:3b:00.0: 5472 (592373413s/0x0020/CRIT) - Controller encountered a fatal error and was reset",
            "[   40.5] megaraid_sas 0000:3b:00.0: 9249 (boot + 4s/0x0002/FATAL) - Unrecoverable medium error during recovery on PD 06(e0x20/s6) at 255d319",
        ],
        ..DISK
    },
    Cause {
        id: "fs.ext4",
        sign: r"(EXT[234]-fs error \(device (?<device>{disk})\)|EXT[234]-fs \((?<disk>{disk})\): (Remounting filesystem read-only|warning: mounting fs with errors)|Aborting journal on device (?<journal>{disk})|JBD2: (Detected IO errors|I/O error when updating journal))",
        says: "the file system is damaged",
        means: "The file system found itself damaged, and may be read-only now.",
        counts: Counts::Fail,
        act: "look at the disk first (`smartctl -a`, `nvme smart-log`), then unmount it and run `e2fsck -f`",
        sources: &[seen("Linux kernel: fs/ext4/super.c; fs/jbd2/journal.c", "2026-11-29")],
        samples: &[
            "[ 1523.1] EXT4-fs error (device sda1): ext4_find_entry:1455: inode #2: comm python: reading directory lblock 0",
            "[ 1523.1] EXT4-fs (dm-0): Remounting filesystem read-only",
            "[ 1523.1] Aborting journal on device sda1-8.",
        ],
        ..DISK
    },
    Cause {
        id: "fs.ext4_before",
        sign: r"EXT[234]-fs \((?<device>{disk})\): error count since last fsck: [1-9]",
        says: "the file system has errors that no check has mended",
        means: "The file system found itself damaged, in this boot or an earlier one, and was not checked since.",
        act: "unmount it and run `e2fsck -f`; for the root file system have it checked at the next boot",
        sources: &[seen("Linux kernel: print_daily_error_info() in fs/ext4/super.c", "2026-11-29")],
        samples: &["[  312.313321] EXT4-fs (sda1): error count since last fsck: 7"],
        ..DISK
    },
    Cause {
        id: "fs.xfs",
        sign: r"XFS \((?<device>{disk})\): (Metadata (corruption|CRC error) detected|Corruption (of in-memory data|detected|warning)|metadata I/O error|log I/O error|Filesystem has been shut down|xfs_do_force_shutdown|Unmount and run xfs_repair|I/O Error Detected|empty log check failed|log mount/recovery failed|log mount failed)",
        says: "the file system is damaged",
        means: "The file system found itself damaged, or its disk does not answer; it may be shut down.",
        counts: Counts::Fail,
        act: "look at the disk first (`smartctl -a`, `nvme smart-log`), then unmount it and run `xfs_repair -n`, which says what is broken",
        sources: &[seen(
            "Linux kernel: fs/xfs/xfs_fsops.c, xfs_buf.c and xfs_error.c of 4.18 and 6.18",
            "2026-11-29",
        )],
        samples: &[
            "[ 2547.389019] XFS (dm-0): metadata I/O error in \"xfs_imap_to_bp+0x64/0x98 [xfs]\" at daddr 0x2bc2c0 len 32 error 5",
            "[ 2547.4] XFS (nvme0n1p2): Filesystem has been shut down due to log error (0x2).",
        ],
        ..DISK
    },
    Cause {
        id: "fs.btrfs",
        sign: r"BTRFS:? (critical|error|warning|info) ?\(device (?<device>{disk})([^)]*)\)?:? ?(.*forced readonly|.*errno=-5 IO failure|.*csum failed|.*corrupt (leaf|node)|.*parent transid verify failed|.*Transaction aborted|.*lost page write)",
        says: "the file system is damaged",
        means: "The file system found itself damaged, and may be read-only now.",
        counts: Counts::Fail,
        act: "look at the disk first (`smartctl -a`, `nvme smart-log`), then `btrfs device stats` and `btrfs scrub`",
        sources: &[seen("Linux kernel: fs/btrfs/messages.c, disk-io.c and inode.c", "2026-11-29")],
        samples: &[
            "[  101.5] BTRFS warning (device sda2): csum failed root 5 ino 257 off 4096 csum 0x1 expected csum 0x2 mirror 1",
        ],
        ..DISK
    },
    Cause {
        id: "md.failed",
        sign: r"md/(raid0|linear|raid[0-9]*:)(?<device>md[A-Za-z0-9_]+): (Disk failure on [a-z0-9-]+ detected, failing array|Cannot continue operation)",
        says: "is lost",
        means: "A RAID has too few disks left: what was on it cannot be read.",
        counts: Counts::Fail,
        act: "`cat /proc/mdstat` says which disks it lacks; look by `lsblk -o NAME,STATE` whether they only fell off before anything is made anew",
        sources: &[seen(
            "Linux kernel: raid0_error() in drivers/md/raid0.c, linear_error() in md-linear.c, raid5_error() in raid5.c",
            "2026-11-29",
        )],
        samples: &[
            "md/raid0md0: Disk failure on nvme0n1p1 detected, failing array.",
            "[14882.4] md/raid:md2: Cannot continue operation (2/4 failed).",
        ],
        ..DISK
    },
    Cause {
        id: "md.degraded",
        sign: r"md/raid[0-9]*:(?<device>md[A-Za-z0-9_]+): Disk failure on (?<disk>[a-z0-9]+), disabling device",
        says: "lost its disk {disk}",
        means: "A RAID runs without one of its disks.",
        act: "`cat /proc/mdstat`, then `smartctl -a` and the kernel's log of the disk: add it again (`mdadm --re-add`) where only its cable or power failed, else a new one (`mdadm --add`)",
        remedy: Remedy::Replace,
        ended_by: &["md.recovered"],
        sources: &[seen("Linux kernel: drivers/md/raid1.c, raid5.c, raid10.c", "2026-11-29")],
        samples: &[
            "[ 8753.390042] md/raid1:md0: Disk failure on sdb1, disabling device.\\x0amd/raid1:md0: Operation continuing on 1 devices.",
            "[14882.394226] md/raid:md2: Disk failure on sdc5, disabling device.",
        ],
        ..DISK
    },
    Cause {
        id: "md.started_short",
        sign: r"md/raid[0-9]*:(?<device>md[A-Za-z0-9_]+): (raid level [0-9]+ )?active with (0 out of [1-9]|1 out of [2-9]|2 out of [3-9]|3 out of [4-9]|4 out of [5-9]|5 out of [6-9]|6 out of [78]|7 out of 8|[0-9] out of [1-9][0-9]) (mirrors|devices)",
        says: "started without all of its disks",
        means: "A RAID runs without one of its disks since the host was booted.",
        act: "`cat /proc/mdstat`; look whether the disk only fell off, and add it or a new one (`mdadm --add`)",
        remedy: Remedy::Settings,
        ended_by: &["md.recovered"],
        sources: &[seen(
            "Linux kernel: drivers/md/raid1.c, raid5.c, raid10.c of 4.18 and 6.18",
            "2026-11-29",
        )],
        samples: &[
            "[    2.113302] md/raid1:md1: active with 1 out of 2 mirrors",
            "[    2.1] md/raid:md0: raid level 5 active with 2 out of 3 devices, algorithm 2",
            "[    2.1] md/raid10:md3: active with 3 out of 4 devices",
        ],
        ..DISK
    },
    Cause {
        id: "md.recovered",
        sign: r"md: (?<device>md[A-Za-z0-9_]+): recovery done\.",
        says: "has all of its disks again",
        means: "A disk of a RAID was filled again.",
        counts: Counts::Note,
        sources: &[seen("Linux kernel: md_do_sync() in drivers/md/md.c", "2026-11-29")],
        samples: &["[ 9011.1] md: md1: recovery done."],
        ..DISK
    },
    Cause {
        id: "md.read_error",
        sign: r"md/raid[0-9]*:(?<device>md[A-Za-z0-9_]+): (read error not correctable|too many read errors)",
        says: "a disk of it cannot be read",
        means: "A disk of a RAID has a place that cannot be read.",
        act: "`smartctl -a` of the disk that the line names and a long self-test; replace it where SMART calls it failing or errors come again",
        remedy: Remedy::Replace,
        sources: &[seen("Linux kernel: drivers/md/raid5.c", "2026-11-29")],
        samples: &["[  368.433692] md/raid:md0: read error not correctable (sector 555480 on sdc1)."],
        ..DISK
    },
    Cause {
        id: "dm.path",
        sign: r"device-mapper: multipath: ([0-9:]+: )?Failing path (?<device>[0-9:]+)",
        says: "a way to a disk failed",
        means: "A way to a disk is gone.",
        act: "`multipath -ll` says which disk; look at the cable, the switch and the storage at its other end",
        ended_by: &["dm.path_back"],
        sources: &[seen("Linux kernel: fail_path() in drivers/md/dm-mpath.c of 4.18 and 6.18", "2026-11-29")],
        samples: &[
            "[ 1522.8] device-mapper: multipath: 253:3: Failing path 8:64.",
            "[ 1522.8] device-mapper: multipath: Failing path 8:64.",
        ],
        ..DISK
    },
    Cause {
        id: "dm.path_back",
        sign: r"device-mapper: multipath: ([0-9:]+: )?Reinstating path (?<device>[0-9:]+)",
        says: "a way to a disk is back",
        means: "A way to a disk works again.",
        counts: Counts::Note,
        sources: &[seen("Linux kernel: reinstate_path() in drivers/md/dm-mpath.c", "2026-11-29")],
        samples: &["[ 1582.8] device-mapper: multipath: 253:3: Reinstating path 8:64."],
        ..DISK
    },
    Cause {
        id: "dm.thin",
        sign: r"device-mapper: thin: (?<device>[0-9:]+): switching pool to (?<mode>out-of-data-space( \((queue|error) IO\))?|read-only|fail) mode",
        says: "the pool of thin volumes went to {mode}",
        means: "A pool of thin volumes is full or broken: what writes to it waits or fails.",
        counts: Counts::Fail,
        act: "`lvs -a` says which pool and what of it is full, data or metadata: extend that (lvextend); a pool in the mode of failure is mended by `lvconvert --repair`",
        remedy: Remedy::Settings,
        ended_by: &["dm.thin_well"],
        sources: &[seen(
            "Linux kernel: notify_of_pool_mode_change() in drivers/md/dm-thin.c of 4.18 and 6.18",
            "2026-11-29",
        )],
        samples: &[
            "[1324104.1] device-mapper: thin: 252:9: switching pool to out-of-data-space (queue IO) mode",
            "[1324104.1] device-mapper: thin: 252:9: switching pool to read-only mode",
        ],
        ..DISK
    },
    Cause {
        id: "dm.thin_well",
        sign: r"device-mapper: thin: (?<device>[0-9:]+): switching pool to write mode",
        says: "the pool of thin volumes can be written to",
        means: "A pool of thin volumes has room again.",
        counts: Counts::Note,
        sources: &[seen("Linux kernel: notify_of_pool_mode_change() in drivers/md/dm-thin.c", "2026-11-29")],
        samples: &["[1324107.817671] device-mapper: thin: 252:9: switching pool to write mode"],
        ..DISK
    },
    Cause {
        id: "nfs.silent",
        sign: r"(nfs|NFS): server (?<device>[^ ]+) not responding, (still trying|timed out)",
        says: "the NFS server does not answer",
        means: "A file server does not answer, and programs wait for it.",
        act: "look at the server and the way to it: `ping SERVER`, `rpcinfo -t SERVER nfs`, for a mount with RDMA the card and its link; programs go on when it answers",
        ended_by: &["nfs.answers", "nfs.silent"],
        sources: &[seen("Linux kernel: net/sunrpc/clnt.c", "2026-11-29")],
        samples: &["[ 9011.1] nfs: server 10.0.9.5 not responding, still trying"],
        ..DISK
    },
    Cause {
        id: "nfs.answers",
        sign: r"(nfs|NFS): server (?<device>[^ ]+) OK",
        says: "the NFS server answers again",
        means: "A file server answers again.",
        counts: Counts::Note,
        sources: &[seen("Linux kernel: net/sunrpc/clnt.c", "2026-11-29")],
        samples: &["[ 9021.1] nfs: server 10.0.9.5 OK"],
        ..DISK
    },
    Cause {
        id: "nfs.locks",
        sign: r"(NFS: )?nfs4_reclaim_open_state: Lock reclaim failed",
        says: "locks on files of an NFS server were lost",
        means: "A file server was away for so long that it gave the locks of this host to others.",
        act: "look at the jobs that had files open on it: they may have written over each other",
        sources: &[seen("Linux kernel: nfs4_reclaim_open_state() in fs/nfs/nfs4state.c", "2026-11-29")],
        samples: &["[ 9031.1] NFS: nfs4_reclaim_open_state: Lock reclaim failed!"],
        ..DISK
    },
    Cause {
        id: "lustre.lost",
        sign: r"Lustre(Error: [0-9]+-[0-9]+)?: (?<device>[^ :]+): Connection to [^ ]+ \(at [^)]*\) was lost; in progress operations",
        says: "the Lustre server does not answer",
        means: "A server of the Lustre file system does not answer, and programs wait for it.",
        act: "look at the server and the way to it (`lctl ping NID`, with the NID of the line)",
        ended_by: &["lustre.back", "lustre.lost"],
        sources: &[seen("Lustre: ptlrpc_set_import_discon() in lustre/ptlrpc/import.c", "2026-11-29")],
        samples: &[
            "[9011.1] Lustre: scratch-OST0001-osc-ffff9a3c5c0f8800: Connection to scratch-OST0001 (at 10.0.9.7@o2ib) was lost; in progress operations using this service will wait for recovery to complete",
            "[9011.1] LustreError: 166-1: MGC10.0.9.7@o2ib: Connection to MGS (at 10.0.9.7@o2ib) was lost; in progress operations using this service will fail",
        ],
        ..DISK
    },
    Cause {
        id: "lustre.back",
        sign: r"Lustre: (?<device>[^ :]+): Connection restored to ",
        says: "the Lustre server answers again",
        means: "A server of the Lustre file system answers again.",
        counts: Counts::Note,
        sources: &[seen(
            "Lustre: ptlrpc_import_recovery_state_machine() in lustre/ptlrpc/import.c",
            "2026-11-29",
        )],
        samples: &[
            "[9021.1] Lustre: scratch-OST0001-osc-ffff9a3c5c0f8800: Connection restored to 10.0.9.7@o2ib (at 10.0.9.7@o2ib)",
        ],
        ..DISK
    },
    Cause {
        id: "lustre.evicted",
        sign: r"LustreError: [0-9]+-[0-9]+: (?<device>[^ :]+): This client was evicted by ",
        says: "the Lustre server threw this host out",
        means: "A server of the Lustre file system gave this host up, so that what programs had open there failed.",
        act: "look at jobs of that time: what they wrote may be lost; look at the network between the host and the server",
        sources: &[seen("Lustre: ptlrpc_invalidate_import_thread() in lustre/ptlrpc/import.c", "2026-11-29")],
        samples: &[
            "[9041.1] LustreError: 167-0: scratch-OST0001-osc-ffff9a3c5c0f8800: This client was evicted by scratch-OST0001; in progress operations using this service will fail.",
        ],
        ..DISK
    },
];
