//! File systems: NFS, Lustre, mounts, and the many meanings of "No space left on device".

use super::super::cause::{Cause, Counts, Remedy, Role, Sure, TOOL, seen};

const NFS: Cause = Cause {
    remedy: Remedy::Settings,
    sources: &[seen("https://manpages.debian.org/bookworm/nfs-common/nfs.5.en.html", "2026-11-30")],
    ..TOOL
};
const LUSTRE: Cause = Cause {
    remedy: Remedy::Settings,
    sources: &[seen("https://doc.lustre.org/lustre_manual.xhtml", "2026-11-30")],
    ..TOOL
};
const MOUNT: Cause = Cause {
    remedy: Remedy::Settings,
    sources: &[seen("https://github.com/util-linux/util-linux (sys-utils/mount.c, libmount)", "2026-11-30")],
    ..TOOL
};
const SPACE: Cause = Cause {
    remedy: Remedy::Settings,
    sources: &[seen("https://man7.org/linux/man-pages/man7/inotify.7.html", "2026-11-30")],
    ..TOOL
};

pub(in crate::causes) const ROWS: &[Cause] = &[
    // No space, and the disk is not full.
    Cause {
        id: "space.inotify_watches",
        sign: "(directory watch|inotify_add_watch|inotify watch|[Ff]ailed to (add|create) .*watch|file watch).*([Nn]o space left on device|ENOSPC)|ENOSPC: System limit for number of file watchers|inotify resources exhausted|upper limit on inotify watches",
        says: "the limit of inotify watches is used up",
        means: "The kernel tells it as \"No space left on device\"; no disk is full. A program that watches whole trees (an editor, kubelet, a log shipper) uses them up.",
        act: "`sysctl fs.inotify.max_user_watches fs.inotify.max_user_instances`, then raise them (1048576 and 8192; the playbook `sysctl` keeps it), or stop what watches so much; no file has to be deleted",
        sure: Sure::Confirmed,
        sources: &[
            seen("https://github.com/systemd/systemd/issues/6030", "2017-05-25"),
            seen("https://github.com/Duet3D/DuetSoftwareFramework/issues/33", "2019-07-22"),
        ],
        samples: &[
            "Failed to add /run/systemd/ask-password to directory watch: No space left on device",
            "Error: ENOSPC: System limit for number of file watchers reached, watch '/home/alice/src'",
        ],
        ..SPACE
    },
    Cause {
        id: "space.inotify_instances",
        sign: "(inotify|directory watch|fsnotify|file ?watcher).*[Tt]oo many open files|User limit of inotify instances reached",
        says: "the limit of inotify instances is used up",
        means: "fs.inotify.max_user_instances is 128 at first, which many containers or programs of one account reach. Raising `ulimit -n` does not help.",
        act: "`sysctl -w fs.inotify.max_user_instances=8192` and a file in /etc/sysctl.d (the playbook `sysctl` keeps it)",
        sure: Sure::Confirmed,
        samples: &[
            "Failed to allocate directory watch: Too many open files",
            "failed to create fsnotify watcher: too many open files",
        ],
        ..SPACE
    },
    Cause {
        id: "space.user_namespaces",
        sign: r"(Failed at step [A-Z_]+ spawning [^:]+|Failed to set up (special execution directory|mount namespacing|user namespacing)[^:]*|unshare failed|clone(3|\(\))?|Creating new namespace failed[^:]*|create user namespace[^:]*): [Nn]o space left on device|max_\*_namespaces exceeded \(ENOSPC\)",
        says: "a limit of namespaces is reached (told as no space)",
        means: "user.max_user_namespaces (or another of user.max_...) is 0 or used up, by a hardening package or by leftovers. The disk is not full.",
        act: "`sysctl -a | grep ^user.max_`: set user.max_user_namespaces above 0 (15000 is usual) and look in /etc/sysctl.d for who set it; no file has to be deleted",
        sure: Sure::Likely,
        sources: &[seen("https://github.com/systemd/systemd/issues/35311", "2024-11-22")],
        samples: &[
            "systemd-logind.service: Failed to set up special execution directory in /run: No space left on device",
            "systemd-logind.service: Failed at step RUNTIME_DIRECTORY spawning /usr/lib/systemd/systemd-logind: No space left on device",
        ],
        ..SPACE
    },
    Cause {
        id: "space.semaphores",
        sign: "(semget|shmget|msgget|semop|sem_open)[^:]*: ?.*No space left on device",
        says: "the limit of System V semaphores or segments is reached",
        means: "Leftovers of programs that died, or limits (kernel.sem, kernel.shmmni) too low for so many. The disk is not full.",
        act: "`ipcs -u` and `ipcs -s`; remove those of users without a process (`ipcrm`), raise kernel.sem or kernel.shmmni (playbook `sysctl`)",
        sure: Sure::Confirmed,
        sources: &[seen("https://man7.org/linux/man-pages/man2/semget.2.html", "2026-11-30")],
        samples: &["semget: No space left on device"],
        ..SPACE
    },
    Cause {
        id: "space.cgroup",
        sign: r"(/sys/fs/cgroup/|cgroup\.procs|cgroup)[^ ]*.{0,60}[Nn]o space left on device",
        says: "a cgroup takes no more (told as no space)",
        means: "Too many cgroups exist (leftovers that old kernels do not free), or the cpuset of the group has no CPUs or memory nodes. The disk is not full.",
        act: "`cat /proc/cgroups` and `find /sys/fs/cgroup -type d | wc -l`: with tens of thousands remove dead ones or reboot the drained host; else look at cpuset.cpus and cpuset.mems of the group",
        remedy: Remedy::Reset,
        sure: Sure::Guess,
        sources: &[seen("https://docs.kernel.org/admin-guide/cgroup-v1/cpusets.html", "2026-11-30")],
        samples: &["mkdir /sys/fs/cgroup/memory/docker/8c1f: no space left on device"],
        ..SPACE
    },
    Cause {
        id: "space.keys",
        sign: "(session key(ring)?|keyctl|add_key|key_?ring)[^:]*: ?.*[Dd]isk quota exceeded",
        says: "the limit of kernel keys is used up (told as quota)",
        means: "Each container takes a session keyring, and kernel.keys.maxkeys is 200 at first. No disk quota is meant.",
        act: "raise kernel.keys.maxkeys and kernel.keys.maxbytes (2000 and 25000) by sysctl; `cat /proc/key-users`",
        sure: Sure::Confirmed,
        sources: &[seen("https://man7.org/linux/man-pages/man7/keyrings.7.html", "2026-11-30")],
        samples: &[
            "runc create failed: unable to start container process: error during container init: unable to join session keyring: unable to create session key: disk quota exceeded: unknown",
        ],
        ..SPACE
    },
    Cause {
        id: "space.shared_memory",
        check: "system.shm",
        sign: "(/dev/shm[^ ]*|shm_open|shared memory (object|segment)[^:]*).*[Nn]o space left on device",
        says: "/dev/shm is full",
        means: "It is half of the memory on a host and 64 MB in a Docker container or pod; leftovers of killed jobs stay in it.",
        act: "in containers `--shm-size=16g` or `--ipc=host` (Kubernetes: an emptyDir of medium Memory at /dev/shm); on a host remove leftovers of dead jobs (`ls -l /dev/shm`)",
        sure: Sure::Confirmed,
        sources: &[seen("https://docs.docker.com/reference/cli/docker/container/run/", "2026-11-30")],
        samples: &[
            "RuntimeError: unable to write to file </dev/shm/torch_123_456_789>: No space left on device (28)",
        ],
        ..SPACE
    },
    Cause {
        id: "space.lvm",
        sign: "Insufficient free space: (?<need>[0-9]+) extents needed, but only (?<have>[0-9]+) available|Volume group .* has insufficient free space",
        says: "the volume group has no free room[: {need} extents are needed, {have} are left]",
        means: "The logical volume cannot be made or grown.",
        act: "`vgs` and `lvs`; add a disk (`vgextend`), take `-l 100%FREE`, or shrink another volume",
        sure: Sure::Confirmed,
        sources: &[seen("https://man7.org/linux/man-pages/man8/lvextend.8.html", "2026-11-30")],
        samples: &["  Insufficient free space: 256 extents needed, but only 12 available"],
        ..SPACE
    },
    // NFS.
    Cause {
        id: "nfs.protocols_missing",
        sign: r"mount\.nfs4?: Protocol not supported",
        says: "mount.nfs says that the protocol is not supported",
        means: "The usual reason is that /etc/protocols (package netbase) or /etc/netconfig (libtirpc-common) is missing in the image or initramfs that mounts, mostly with NFS 3. Else the server does not speak this version.",
        act: "`ls /etc/protocols /etc/netconfig` in the place where mount.nfs runs: install netbase and libtirpc-common there (for an initramfs where it is built, then build it again); where both are there, try `-o vers=4.2` and `vers=3` and look at `rpcinfo -p SERVER`",
        remedy: Remedy::Install,
        sources: &[
            seen("https://github.com/kubernetes-csi/csi-driver-nfs/issues/251", "2021-12-02"),
            seen("https://github.com/kubernetes-sigs/alibaba-cloud-csi-driver/issues/1294", "2025-01-06"),
            seen("https://github.com/kernelci/kernelci-core/issues/3216", "2026-09-16"),
        ],
        samples: &["mount.nfs: Protocol not supported"],
        ..NFS
    },
    Cause {
        id: "nfs.version",
        sign: r"mount\.nfs4?: requested NFS version or transport protocol is not supported",
        says: "the NFS server does not speak the version or transport that is asked for",
        means: "The server has this version off, or no nfsd runs; with `proto=rdma` it listens on no RDMA port.",
        act: "`rpcinfo -p SERVER | grep nfs` for versions, then `-o vers=` one of them; with RDMA `-o rdma,port=20049` and `rdma=y` in the server's nfs.conf",
        samples: &["mount.nfs: requested NFS version or transport protocol is not supported"],
        ..NFS
    },
    Cause {
        id: "nfs.access_denied",
        sign: r"mount\.nfs4?: access denied by server while mounting (?<share>.+)",
        says: "the NFS server does not export {share} to this host",
        means: "The export does not name this host's address or name, the path is not exported, or the client comes from a high port and the export is `secure`.",
        act: "`showmount -e SERVER`; on the server add the network to /etc/exports and `exportfs -ra`; look at the address this host uses (`ip route get SERVER`); behind NAT export with `insecure`",
        sure: Sure::Confirmed,
        samples: &["mount.nfs: access denied by server while mounting 192.0.2.10:/export/home"],
        ..NFS
    },
    Cause {
        id: "nfs.no_such_export",
        sign: r"mount\.nfs4?: mounting (?<share>[^ ]+) failed, reason given by server: (?<why>.+)",
        says: "the NFS server refuses {share}: {why}",
        means: "The path does not exist on the server, or with NFS 4 is counted from its pseudo root.",
        act: "`showmount -e SERVER` and the path with and without the root of fsid=0",
        samples: &[
            "mount.nfs: mounting 192.0.2.10:/export/hme failed, reason given by server: No such file or directory",
        ],
        ..NFS
    },
    Cause {
        id: "nfs.server_name",
        sign: r"mount\.nfs4?: Failed to resolve server (?<server>[^: ]+)(: (?<why>.*))?|mount\.nfs4?: (?<mount>[^: ]+): (Name or service not known|Temporary failure in name resolution)|mount error: could not resolve address for (?<cifs>[^: ]+)",
        says: "the name of the file server has no address here[: {server}][: {mount}][: {cifs}]",
        means: "This host cannot turn the name into an address. The server and the firewall were not asked at all.",
        act: "`getent hosts NAME` on this host: add it to DNS or to /etc/hosts, or mount by address; where it resolves by hand and not at boot, add `_netdev` in fstab",
        remedy: Remedy::Settings,
        sure: Sure::Confirmed,
        sources: &[
            seen("https://github.com/stackhpc/ansible-slurm-appliance/issues/469", "2024-11-07"),
            seen("https://git.linux-nfs.org/?p=steved/nfs-utils.git (utils/mount/network.c)", "2026-12-01"),
        ],
        samples: &[
            "Error mounting /home: mount.nfs: Failed to resolve server nfs0: Name or service not known",
            "mount error: could not resolve address for files0: Unknown error",
        ],
        ..NFS
    },
    Cause {
        id: "nfs.unreachable",
        sign: r"mount\.nfs4?: (?<why>Connection (timed out|refused)|No route to host|Network is unreachable)",
        role: Role::Effect,
        says: "the NFS server is not reached[ ({why})]",
        means: "The server is down, a firewall is between (2049, for NFS 3 also 111 and mountd's), or at boot the network was not up yet.",
        act: "`nc -vz SERVER 2049`; at boot add `_netdev` (and `nofail`) in fstab; look at the firewall of the server",
        passing: true,
        samples: &["mount.nfs: Connection timed out"],
        ..NFS
    },
    Cause {
        id: "nfs.statd",
        sign: r"rpc\.statd is not running but is required for remote locking",
        says: "rpc.statd does not run",
        means: "NFS 3 locks files through rpc.statd and rpcbind.",
        act: "`systemctl enable --now rpc-statd rpcbind`, or mount with `nolock` (a container) or NFS 4",
        sure: Sure::Confirmed,
        samples: &["mount.nfs: rpc.statd is not running but is required for remote locking."],
        ..NFS
    },
    Cause {
        id: "nfs.not_permitted",
        sign: r"mount\.nfs4?: (Operation not permitted|must be superuser|failed to apply fstab options)",
        says: "this process may not mount",
        means: "Without root or CAP_SYS_ADMIN (a container, a namespace) NFS cannot be mounted.",
        act: "mount on the host and hand the folder to the container, or run it with the right to mount; as a user give the mount point of fstab with `user`",
        sure: Sure::Likely,
        samples: &["mount.nfs: Operation not permitted"],
        ..NFS
    },
    Cause {
        id: "nfs.helper_missing",
        sign: r"you might need a /sbin/mount\.<type> helper program",
        near: &["mount.*-t (?<type>[a-z0-9]+)"],
        says: "the mount helper[ of {type}] is not installed",
        means: "mount knows no program for this type: mostly nfs-common (Debian, Ubuntu) or nfs-utils (RHEL) is missing, cifs-utils for SMB.",
        act: "install nfs-common or nfs-utils (for SMB cifs-utils), then mount again",
        remedy: Remedy::Install,
        samples: &[
            "mount: /mnt: bad option; for several filesystems (e.g. nfs, cifs) you might need a /sbin/mount.<type> helper program.",
        ],
        ..NFS
    },
    Cause {
        id: "nfs.option",
        sign: r"mount\.nfs4?: an incorrect mount option was specified",
        says: "mount.nfs or the kernel does not know an option",
        means: "An option of another version or of another system (nconnect, rdma, vers=4.2) is in the list, or the module of the transport is not loaded.",
        act: "take options away until it mounts; `dmesg | tail` may name the one; for `proto=rdma` load rpcrdma first",
        samples: &["mount.nfs: an incorrect mount option was specified"],
        ..NFS
    },
    Cause {
        id: "nfs.already",
        sign: r"mount\.nfs4?: (Device or resource busy|[^ ]+ is busy or already mounted|.*already mounted)|mount\.lustre: according to /etc/mtab .* is already mounted",
        says: "it is mounted there already",
        means: "The mount point has this or another file system.",
        counts: Counts::Warn,
        act: "`findmnt` of the folder",
        samples: &["mount.lustre: according to /etc/mtab 192.0.2.1@tcp:/fs is already mounted on /mnt/fs"],
        ..NFS
    },
    Cause {
        id: "nfs.kerberos",
        sign: r"(rpc\.)?gssd.*(No credentials found for connection to server|No key table entry found|Failed to find any keytab)|check lease failed on NFSv4 server [^ ]+ with error 13",
        says: "NFS with Kerberos has no credentials for the server",
        means: "The host has no keytab entry nfs/ or host/ for this server, the user has no ticket, or the clock is off.",
        act: "`klist -ke /etc/krb5.keytab`, `systemctl status rpc-gssd`, `klist` of the user, the clock; for jobs renew tickets (auks, k5start)",
        samples: &["rpc.gssd[700]: ERROR: No credentials found for connection to server nfs.example.com"],
        ..NFS
    },
    Cause {
        id: "nfs.idmap",
        sign: "does not map into domain '(?<domain>[^']*)'",
        says: "NFS 4 names of accounts belong to another domain than {domain}",
        means: "Server and client have different domains in idmapd.conf, so that files seem to belong to nobody.",
        act: "set the same `Domain =` in /etc/idmapd.conf on all, then `nfsidmap -c` and restart nfs-idmapd",
        counts: Counts::Warn,
        sure: Sure::Confirmed,
        samples: &["nss_getpwnam: name 'alice@example.com' does not map into domain 'localdomain'"],
        ..NFS
    },
    Cause {
        id: "nfs.export_refused",
        sign: "exportfs: (?<path>[^ ]+) (does not support NFS export|requires fsid= for NFS export)",
        says: "{path} cannot be exported as it is",
        means: "overlayfs, fuse and other file systems have no stable handles of their own.",
        act: "give the export a `fsid=` of its own, or export a disk's file system",
        sure: Sure::Confirmed,
        samples: &["exportfs: /srv/share does not support NFS export"],
        ..NFS
    },
    Cause {
        id: "nfs.fileid_changed",
        sign: "NFS: server (?<server>[^ ]+) error: fileid changed",
        says: "the NFS server {server} gives other file ids than before",
        means: "The server (or the file system behind it) was restarted or restored without stable ids, or a snapshot folder shows the same ids twice. Handles of the client are stale.",
        act: "mount again on the clients; on the server keep ids stable (`fsid=` in the export; nfs-ganesha with `-device-based-fsids=false`)",
        sources: &[seen("https://github.com/kubernetes/kubernetes/issues/75918", "2019-03-30")],
        samples: &["[184081.319496] NFS: server nfs.example.svc.cluster.local error: fileid changed"],
        ..NFS
    },
    Cause {
        id: "nfs.stale",
        sign: "[Ss]tale (NFS )?file handle|ESTALE",
        says: "file handles of a network file system are stale",
        means: "The server was restarted without stable ids, the export was replaced, or the folder was removed on the server. No disk is damaged.",
        act: "mount again (`umount -l` and `mount`, or restart the pods); when it returns, keep the file system ids on the server stable (`fsid=` in exports; nfs-ganesha: `-device-based-fsids=false`)",
        sources: &[
            seen("https://github.com/kubernetes/kubernetes/issues/75918", "2019-03-30"),
            seen(
                "https://github.com/kubernetes-sigs/nfs-ganesha-server-and-external-provisioner/issues/142",
                "2023-11-30",
            ),
        ],
        samples: &["ls: cannot access '/mnt/backups': Stale file handle"],
        ..NFS
    },
    Cause {
        id: "nfs.rpc",
        sign: "(clnt_create|rpcinfo|showmount)[^:]*: RPC: (?<why>[A-Z].*)",
        role: Role::Effect,
        says: "the RPC service of the server did not answer ({why})",
        means: "rpcbind or mountd does not run there, or a firewall drops port 111. A server with NFS 4 only has no mountd.",
        act: "`rpcinfo -p SERVER`; with NFS 4 only, mount without showmount",
        counts: Counts::Warn,
        samples: &["clnt_create: RPC: Program not registered"],
        ..NFS
    },
    // Lustre.
    Cause {
        id: "lustre.no_modules",
        sign: r"mount\.lustre: .* failed: No such device|Are the lustre modules loaded",
        says: "the Lustre modules are not loaded",
        means: "They are not built for the running kernel, mostly since the kernel was updated or not rebooted after the installation.",
        act: "`modprobe lustre` and its words, `modinfo lustre` against `uname -r`: boot the kernel that the modules are for, or install (build) the client for the running kernel; hold the kernel's packages (playbook `no-upgrades`)",
        remedy: Remedy::Install,
        sources: &[seen("https://github.com/whamcloud/Online-Help/issues/35", "2017-10-19")],
        samples: &[
            "mount.lustre: mount 192.0.2.12@tcp0:192.0.2.11@tcp0:/fs at /mnt/fs failed: No such device",
            "Are the lustre modules loaded?",
        ],
        ..LUSTRE
    },
    Cause {
        id: "lustre.interface",
        sign: r"couldn't query intf (?<interface>[^\x22 ]+)|Can't (query|find) interface (?<other>[^ ,]+)|ko2iblnd.*(Can't|Failed to) (query|find) .*(?<third>ib[0-9]+)",
        says: "LNet started before the interface [{interface}][{other}][{third}] was there or up",
        means: "At boot lnet.service reads its settings before the device has its name and address; or the name in lnet.conf is of another host.",
        act: "`systemctl restart lnet` now that the interface is up; for the next boot a drop-in of lnet.service with `After=network-online.target openibd.service` and `Wants=network-online.target`; compare the name with `ip -br link`",
        sources: &[seen("https://github.com/stackhpc/ansible-slurm-appliance/issues/561", "2025-02-05")],
        samples: &["Feb 05 14:12:46 gpu0 lnetctl[3065]: \tdescr: \"couldn't query intf ib0\""],
        ..LUSTRE
    },
    Cause {
        id: "lustre.lnd",
        sign: "Can't load LND (?<net>[a-z0-9]+), module (?<module>[a-z0-9]+)",
        role: Role::Effect,
        says: "LNet could not load {module} for the network {net}",
        means: "The module does not fit the loaded RDMA modules or the kernel, or is not installed.",
        act: "`modprobe {module}` and `dmesg | tail`: with `disagrees about version of symbol` build the client against the loaded OFED (`--with-o2ib=`), else install its package",
        remedy: Remedy::Install,
        sources: &[seen("https://github.com/Seagate/cortx-motr/issues/17", "2020-09-03")],
        samples: &[
            "Sep  2 13:26:27 gpu0 kernel: LNetError: 172781:0:(api-ni.c:2533:lnet_startup_lndnet()) Can't load LND o2ib, module ko2iblnd, rc=256",
        ],
        ..LUSTRE
    },
    Cause {
        id: "lustre.lnet_configure",
        sign: "LNET configure error (?<code>[0-9]+)(: (?<why>.+))?",
        role: Role::Effect,
        says: "LNet did not start[ ({why})]",
        means: "The kernel's log says which network failed.",
        act: "`dmesg | grep -i lnet` for the reason, `lnetctl net show`, the interface in /etc/lnet.conf or /etc/modprobe.d/lustre.conf",
        samples: &["LNET configure error 22: Invalid argument"],
        ..LUSTRE
    },
    Cause {
        id: "lustre.mgs",
        sign: r"mount\.lustre: .* failed: (?<why>Input/output error|Connection timed out|Cannot send after transport endpoint shutdown|No route to host)|Is the MGS running",
        role: Role::Effect,
        says: "the client does not reach the Lustre servers[ ({why})]",
        means: "The MGS is down, LNet has no way there (wrong network name tcp or o2ib, another interface), or a firewall drops port 988.",
        act: "`lctl ping MGS@NET` and `lnetctl net show` on the client; then the interface in lnet.conf, `ping` over that network, port 988",
        samples: &[
            "mount.lustre: mount 192.0.2.12@o2ib:/fs at /mnt/fs failed: Input/output error",
            "Is the MGS running?",
        ],
        ..LUSTRE
    },
    Cause {
        id: "lustre.name",
        sign: r"mount\.lustre: .* failed: (No such file or directory|Invalid argument)|Is the MGS specification correct|Is the filesystem name correct",
        says: "there is no Lustre file system of this name at that MGS, or an option is wrong",
        means: "The name behind the last colon, the MGS's address or an option of the mount is not right, or the client is of another version than the servers understand.",
        act: "ask on the MGS `lctl get_param mgs.MGS.live.*` for names; compare with the fstab line, and the client's version with that of the servers",
        samples: &["mount.lustre: mount 192.0.2.12@o2ib:/sf at /mnt/fs failed: No such file or directory"],
        ..LUSTRE
    },
    Cause {
        id: "lustre.no_matching_interface",
        sign: "LNetError: .*Refusing connection from (?<peer>[^ ]+) for (?<own>[^ :]+): No matching NI",
        says: "{peer} asks for the LNet address {own}, which this host does not have",
        means: "The address or network name (tcp, tcp1, o2ib) in the peer's settings is not one of this host.",
        act: "`lctl list_nids` here and the route or target in the peer's settings",
        sure: Sure::Confirmed,
        samples: &["LNetError: 120-3: Refusing connection from 192.0.2.7 for 192.0.2.10@tcp: No matching NI"],
        ..LUSTRE
    },
    Cause {
        id: "lustre.evicted_now",
        sign: "Cannot send after transport endpoint shutdown",
        role: Role::Effect,
        follows: &["lustre.evicted", "lustre.lost"],
        says: "a Lustre client was evicted, so writes failed",
        means: "A server gave the client up, after the network or the client was silent for too long.",
        act: "start the job again; look in `dmesg | grep -i lustre` for `evicted` and before it for lost connections of the network",
        samples: &["cp: error writing '/lustre/out.bin': Cannot send after transport endpoint shutdown"],
        ..LUSTRE
    },
    Cause {
        id: "lustre.server_error",
        sign: "LustreError: .*(?<log>failed processing log, type [0-9]+: rc = -?[0-9]+)|LustreError: (11-0|137-5|13a-8|15c-8|166-1)[^:]*: (?<what>.+)",
        role: Role::Effect,
        says: "Lustre says [{what}][{log}]",
        means: "A server is not reached or not ready: it is starting, failing over, or its network is away.",
        act: "`lfs check servers` and `lfs df` show which; look at that server and at `lctl ping` to it",
        counts: Counts::Warn,
        samples: &[
            "LustreError: 11-0: lustre-OST0003-osc-ffff8801: operation ost_connect to node 192.0.2.14@o2ib failed: rc = -19",
        ],
        ..LUSTRE
    },
    // Mounts.
    Cause {
        id: "mount.no_module",
        sign: "mount: .*unknown filesystem type '(?<type>[^']+)'",
        says: "the kernel knows no file system {type}",
        means: "Its module is not installed for the running kernel, or its client (Lustre, BeeGFS, WEKA, ZFS) is missing.",
        act: "`modprobe {type}` and its words; install the client or the module for `uname -r` (for the distribution's own ones linux-modules-extra), or boot the kernel that has it",
        remedy: Remedy::Install,
        samples: &["mount: /mnt/fs: unknown filesystem type 'lustre'."],
        ..MOUNT
    },
    Cause {
        id: "mount.no_source",
        sign: "(special device|mount: .*can't find( in /etc/fstab)?:?) ?(?<source>(UUID=|LABEL=|/dev/)[^ ]+)( does not exist)?",
        says: "there is no {source}",
        means: "The disk is not there yet or at all, or it was formatted anew and has another UUID.",
        act: "`lsblk -f` and `blkid` against /etc/fstab; correct the UUID; `nofail` keeps a boot from waiting for it",
        sure: Sure::Confirmed,
        samples: &["mount: /data: special device /dev/nvme1n1p1 does not exist."],
        ..MOUNT
    },
    Cause {
        id: "mount.no_point",
        sign: r"mount(\.[a-z0-9]+)?: (mount point )?(?<point>/[^ :]+):? (mount point )?does not exist",
        says: "the mount point {point} does not exist",
        means: "The folder is missing.",
        act: "`mkdir -p {point}`, then mount again",
        sure: Sure::Confirmed,
        samples: &[
            "mount: /data: mount point does not exist.",
            "mount.nfs: mount point /data does not exist",
        ],
        ..MOUNT
    },
    Cause {
        id: "mount.fstab",
        sign: "/etc/fstab: parse error at line (?<line>[0-9]+)",
        says: "line {line} of /etc/fstab is not understood",
        means: "A field is missing, or a path with a space is not written with \\040.",
        act: "mend the line, `findmnt --verify`, `systemctl daemon-reload`",
        sure: Sure::Confirmed,
        samples: &["mount: /etc/fstab: parse error at line 12 -- ignored"],
        ..MOUNT
    },
    Cause {
        id: "mount.wrong_type",
        sign: "wrong fs type, bad option, bad superblock on (?<source>[^,]+)",
        says: "{source} could not be mounted",
        means: "mount names all its reasons at once: another type, an option the kernel does not know, a damaged file system, or a helper (nfs-common) that is missing.",
        act: "`dmesg | tail` has the kernel's own reason; `blkid {source}` the type; for NFS install nfs-common or nfs-utils",
        sure: Sure::Guess,
        samples: &[
            "mount: /data: wrong fs type, bad option, bad superblock on /dev/sdb1, missing codepage or helper program, or other error.",
        ],
        ..MOUNT
    },
    Cause {
        id: "mount.busy",
        sign: "(umount: (?<point>[^:]+): target is busy|(?<source>[^ ]+) already mounted or (mount point|[^ ]+) busy|device is busy)",
        says: "[{point}][{source}] is in use",
        means: "A process has a file or its working folder there, or it is mounted already.",
        act: "`fuser -vm` or `lsof +f --` for the folder, end those, then again; `umount -l` takes it away when they end",
        counts: Counts::Warn,
        samples: &["umount: /data: target is busy."],
        ..MOUNT
    },
    Cause {
        id: "fsck.by_hand",
        sign: "UNEXPECTED INCONSISTENCY; RUN fsck MANUALLY|[Ss]tructure needs cleaning",
        says: "a file system is damaged and wants a repair by hand",
        means: "The automatic check found more than it may mend. The disk itself, a power cut or memory may be behind it.",
        act: "look at `dmesg` for disk errors first; unmount it and run `fsck -y` (ext4) or `xfs_repair` on it; with disk errors save the data before",
        samples: &["/dev/sda2: UNEXPECTED INCONSISTENCY; RUN fsck MANUALLY."],
        ..MOUNT
    },
    Cause {
        id: "fuse.gone",
        sign: r"(cannot [a-z]+|df: |ls: |cp: |cd: |stat[a-z]*|open|mkdir|failed to)[^|]*/[^|]*[Tt]ransport endpoint is not connected|\[Errno 107\] Transport endpoint is not connected: .?/",
        role: Role::Effect,
        says: "the program behind a FUSE mount has ended",
        means: "s3fs, sshfs, gcsfuse, JuiceFS or the like crashed or was killed, and the mount is left. Of sockets the same words mean a peer that is gone.",
        act: "`umount -l` the folder and mount again; the log of the program and `dmesg` (out of memory) tell why it ended",
        sure: Sure::Guess,
        samples: &["ls: cannot access '/mnt/bucket': Transport endpoint is not connected"],
        ..MOUNT
    },
    Cause {
        id: "fuse.not_there",
        sign: "fuse: device not found, try 'modprobe fuse' first|fusermount3?: (option allow_other only allowed if|fuse device not found)",
        says: "FUSE is not available to this account",
        means: "The module or /dev/fuse is missing (a container without the device), or `user_allow_other` is not set.",
        act: "`modprobe fuse`; of a container `--device /dev/fuse --cap-add SYS_ADMIN`; `user_allow_other` in /etc/fuse.conf for allow_other",
        samples: &["fuse: device not found, try 'modprobe fuse' first"],
        ..MOUNT
    },
    Cause {
        id: "quota.exceeded",
        sign: "[Dd]isk quota exceeded|EDQUOT",
        says: "the quota of the account, group or project is used up",
        means: "Bytes or the number of files count; in a home directory caches of pip, conda and Hugging Face are the usual ones.",
        act: "`quota -s`, `lfs quota -hu USER /mnt`, or the storage's own tool; remove caches or set HF_HOME, PIP_CACHE_DIR and the like to scratch",
        sure: Sure::Confirmed,
        samples: &["mkdir: cannot create directory '/home/alice/run7': Disk quota exceeded"],
        ..MOUNT
    },
    // What several causes have.
    Cause {
        id: "space.below_loop",
        sign: r"loop\d*: [Ww]rite error at byte offset \d+",
        says: "a write to the file behind a loop device failed",
        means: "Mostly the file system in which that file lies is full, as the file grows when it is written. ext4 in it then stops its journal and goes read-only. The disk need not be at fault.",
        act: "`losetup -l` names the file, `df -h` of its directory tells whether that is full: free space there, then `fsck` the image unmounted and mount it again; where there is room, look at the disk below in `dmesg`",
        sources: &[seen("Linux kernel: drivers/block/loop.c", "2026-11-30")],
        samples: &[
            "07:12:22 ERR kernel: [ 1009.228833] loop: Write error at byte offset 673349632, length 4096.",
        ],
        ..SPACE
    },
    Cause {
        id: "space.pip_tmp",
        sign: r"Could not install packages due to an (?:OSError|EnvironmentError): \[Errno 28\]",
        says: "pip has no space left",
        means: "pip unpacks and builds in TMPDIR, mostly /tmp, which is often a small tmpfs, and keeps a cache in the home. The place of the installation can be full as well.",
        act: "`df -h /tmp ~ $(python3 -c \"import site; print(site.getsitepackages()[0])\")` shows which one: set TMPDIR to a directory with room (`TMPDIR=/var/tmp pip install ...`), or `--no-cache-dir` and `pip cache purge` where it is the home",
        sources: &[seen("https://github.com/pypa/pip/issues/5816", "2018-09-24")],
        samples: &["ERROR: Could not install packages due to an OSError: [Errno 28] No space left on device"],
        ..SPACE
    },
    Cause {
        id: "space.left",
        check: "system.disk",
        sign: r"No space left on device|no space left on device|\bENOSPC\b|\[Errno 28\]",
        follows: &["space.inodes", "space.df_full"],
        says: "no space is left",
        means: "The file system of that path has no blocks or no inodes left, or a limit of the kernel (watches, namespaces, semaphores) is told in the same words.",
        act: "`df -h` and `df -i` of the path that is named; where both have room it is a limit: `sysctl fs.inotify user.max_user_namespaces`; deleted files that are still open: `lsof +L1`",
        sure: Sure::Guess,
        samples: &["OSError: [Errno 28] No space left on device: '/scratch/ckpt/step_1000.pt'"],
        ..SPACE
    },
    Cause {
        id: "fs.io_error",
        sign: r"[^ ]: Input/output error$|\[Errno 5\] Input/output error",
        role: Role::Effect,
        says: "reading or writing failed in the kernel",
        means: "The disk, the network storage or FUSE behind it failed. The kernel's log says which.",
        act: "`dmesg | tail -50`, `smartctl -a` or `nvme smart-log` of the disk; for network storage its client's log",
        sure: Sure::Guess,
        samples: &["cat: /data/shard-17.tar: Input/output error"],
        ..MOUNT
    },
    Cause {
        id: "fs.no_locks",
        sign: r"[Nn]o locks available|\[Errno 37\]|unable to lock file, errno = 37",
        says: "the file system gives no locks",
        means: "NFS 3 without rpc.statd, a mount with nolock, or Lustre without -o flock.",
        act: "start rpc-statd or use NFS 4; mount Lustre with `flock`; for HDF5 HDF5_USE_FILE_LOCKING=FALSE where nobody writes at the same time",
        samples: &["OSError: [Errno 37] No locks available"],
        ..NFS
    },
];
