//! Disks, file systems and file servers.

use super::super::cause::{Cause, Counts, ROW, seen};

const DISK: Cause = Cause { check: "kernel.disks", counts: Counts::Warn, ..ROW };

pub(in crate::causes) const ROWS: &[Cause] = &[
    Cause {
        id: "nvme.timeout",
        sign: r"nvme (?<device>nvme[0-9]+): I/O (tag )?[0-9]+ (\([0-9a-f]+\) opcode 0x[0-9a-f]+ \([^)]*\) )?QID [0-9]+ timeout, ",
        says: "did not answer in time",
        means: "A disk did not answer for half a minute.",
        act: "`nvme smart-log` and `nvme error-log` of the disk; update its firmware; when it returns, replace it",
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
        sources: &[seen("Linux kernel: nvme_warn_reset() in drivers/nvme/host/pci.c", "2026-11-29")],
        samples: &[
            "[  603.860958] nvme nvme0: controller is down; will reset: CSTS=0xffffffff, PCI_STATUS=0xffff",
        ],
        ..DISK
    },
    Cause {
        id: "nvme.gone",
        sign: r"nvme (?<device>nvme[0-9]+): (Removing after probe failure|Disabling device after reset failure|Device not ready; aborting (reset|initialisation))",
        says: "was given up",
        means: "The kernel does not use a disk any more, because it does not answer.",
        counts: Counts::Fail,
        act: "power-cycle the host; when the disk does not come back, reseat it, then replace it",
        sources: &[seen("Linux kernel: drivers/nvme/host/pci.c and core.c", "2026-11-29")],
        samples: &[
            "[  603.9] nvme nvme0: Removing after probe failure status: -19",
            "nvme nvme0: Device not ready; aborting reset, CSTS=0x1",
        ],
        ..DISK
    },
    Cause {
        id: "nvme.error",
        sign: r"(?<device>nvme[0-9]+(c[0-9]+)?n[0-9]+): [A-Z][A-Za-z ]*\(0x[0-9a-f]+\) @ LBA [0-9]+, [0-9]+ blocks, (?<what>[^(]*[^( ]) \(sct ",
        says: "{what}",
        means: "A disk reports that it could not read or write.",
        act: "`nvme smart-log` of the disk (media_errors, percentage_used); replace it when they grow",
        sources: &[seen("Linux kernel: nvme_log_error() in drivers/nvme/host/core.c", "2026-11-29")],
        samples: &[
            "[ 7011.1] nvme0n1: Read(0x2) @ LBA 1234, 8 blocks, Unrecovered Read Error (sct 0x2 / sc 0x81) DNR",
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
        act: "`smartctl -a` of the disk; replace it",
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
        act: "look at its cable or its backplane, power-cycle the host, then replace the disk",
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
        sign: r"(megaraid_sas (?<device>{pci}): .*FW in FAULT state|(?<adapter>mpt[23]sas_cm[0-9]+): fault_state\()",
        says: "its firmware stopped",
        means: "The adapter of disks met a fault.",
        counts: Counts::Fail,
        act: "power-cycle the host and update the adapter's firmware",
        sources: &[seen(
            "Linux kernel: drivers/scsi/megaraid/megaraid_sas_base.c; drivers/scsi/mpt3sas/mpt3sas_base.c",
            "2026-11-29",
        )],
        samples: &[
            "[ 1522.8] mpt3sas_cm0: fault_state(0x2100)!",
            "[ 1522.8] megaraid_sas 0000:3b:00.0: FW in FAULT state Fault code:0x10000 subcode:0x0 func:megasas_transition_to_ready",
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
        id: "fs.xfs",
        sign: r"XFS \((?<device>{disk})\): (Metadata (corruption|CRC error) detected|Corruption (of in-memory data|detected|warning)|metadata I/O error|log I/O error|Filesystem has been shut down|xfs_do_force_shutdown|Unmount and run xfs_repair|I/O Error Detected)",
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
        sign: r"BTRFS (critical|error|warning|info) ?\(device (?<device>{disk})([^)]*)\)?:? ?(.*forced readonly|.*csum failed|.*corrupt (leaf|node)|.*parent transid verify failed|.*Transaction aborted|.*lost page write)",
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
        id: "md.degraded",
        sign: r"md/raid[0-9]*:(?<device>md[A-Za-z0-9_]+): Disk failure on (?<disk>[a-z0-9]+), disabling device",
        says: "lost its disk {disk}",
        means: "A RAID runs without one of its disks.",
        act: "`cat /proc/mdstat`; replace the disk and add the new one (`mdadm --add`)",
        sources: &[seen("Linux kernel: drivers/md/raid1.c, raid5.c, raid10.c", "2026-11-29")],
        samples: &[
            "[ 8753.390042] md/raid1:md0: Disk failure on sdb1, disabling device.\\x0amd/raid1:md0: Operation continuing on 1 devices.",
            "[14882.394226] md/raid:md2: Disk failure on sdc5, disabling device.",
        ],
        ..DISK
    },
    Cause {
        id: "md.read_error",
        sign: r"md/raid[0-9]*:(?<device>md[A-Za-z0-9_]+): (read error not correctable|too many read errors)",
        says: "a disk of it cannot be read",
        means: "A disk of a RAID has a place that cannot be read.",
        act: "`smartctl -a` of the disk that the line names; replace it",
        sources: &[seen("Linux kernel: drivers/md/raid5.c", "2026-11-29")],
        samples: &["[  368.433692] md/raid:md0: read error not correctable (sector 555480 on sdc1)."],
        ..DISK
    },
    Cause {
        id: "dm.path",
        sign: r"device-mapper: (multipath: .*Failing path (?<device>[0-9:]+)|thin: .*switching pool to (?<mode>[a-z-]+) mode)",
        says: "a path or a pool of disks failed",
        means: "A way to a disk is gone, or a pool of thin volumes is full.",
        act: "`multipath -ll` or `lvs -a` says which one",
        sources: &[seen("Linux kernel: drivers/md/dm-mpath.c and dm-thin.c", "2026-11-29")],
        samples: &["[ 1522.8] device-mapper: multipath: 253:3: Failing path 8:64."],
        ..DISK
    },
    Cause {
        id: "nfs.silent",
        sign: r"(nfs|NFS): server (?<device>[^ ]+) not responding, (still trying|timed out)",
        says: "the NFS server does not answer",
        means: "A file server does not answer, and programs wait for it.",
        act: "look at the server and the way to it",
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
];
