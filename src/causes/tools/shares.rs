//! Network storage: more of NFS and Lustre, `BeeGFS`, Ceph, SMB, iSCSI, `NVMe` over a network, Spectrum Scale.

use super::super::cause::{Cause, Counts, Remedy, Role, Sure, TOOL, seen};

const NFS: Cause = Cause {
    remedy: Remedy::Settings,
    sources: &[seen(
        "https://git.linux-nfs.org/?p=steved/nfs-utils.git (utils/mount, utils/mountd)",
        "2026-11-30",
    )],
    ..TOOL
};
const BEEGFS: Cause = Cause {
    remedy: Remedy::Settings,
    sources: &[seen("https://github.com/ThinkParQ/beegfs (client_module, common)", "2026-11-30")],
    ..TOOL
};
const LUSTRE: Cause = Cause {
    remedy: Remedy::Settings,
    sources: &[seen("https://doc.lustre.org/lustre_manual.xhtml", "2026-11-30")],
    ..TOOL
};
const CEPH: Cause = Cause {
    remedy: Remedy::Settings,
    sources: &[seen("https://docs.ceph.com/en/latest/cephfs/troubleshooting/", "2026-11-30")],
    ..TOOL
};
const FABRICS: Cause = Cause {
    remedy: Remedy::Settings,
    sources: &[seen("Linux kernel: drivers/nvme/host/fabrics.c, rdma.c", "2026-11-30")],
    ..TOOL
};

pub(in crate::causes) const ROWS: &[Cause] = &[
    // NFS.
    Cause {
        id: "nfs.server_refused",
        sign: r"refused (un)?mount request from (?<client>[^ ]+) for (?<path>[^ ]+) \([^)]*\): (?<why>unmatched host|not exported|illegal port [0-9]+|no export entry)",
        says: "the NFS server refuses {client} the export {path} ({why})",
        means: "`unmatched host` means that no line of /etc/exports fits the client's address or name; `not exported` that this path is no export; `illegal port` that the client came from a port above 1023 (through NAT or a container).",
        act: "`exportfs -v` on the server; add the client's network or path and `exportfs -ra`; for `illegal port` the option `insecure`; compare `getent hosts` of the client with the names in exports",
        sure: Sure::Confirmed,
        samples: &[
            "rpc.mountd[5647]: refused mount request from 192.0.2.215 for /mnt/nfs_shared (/mnt/nfs_shared): unmatched host",
            "mountd[30694]: refused mount request from 192.0.2.25 for /mnt/user/rA (/): not exported",
        ],
        ..NFS
    },
    Cause {
        id: "nfs.protocol_error",
        sign: r"mount\.nfs4?: Protocol error",
        says: "the NFS server and this client do not agree about the protocol",
        means: "The server answered in a way that the client did not expect: another version of NFS, or RDMA asked of a server that serves no RDMA on that port.",
        act: "`rpcinfo -p SERVER` and /proc/fs/nfsd/portlist on the server (`rdma 20049` has to be there for RDMA); try the mount without `rdma` and with `vers=4.2` or `vers=3` to see which part it is",
        sure: Sure::Guess,
        sources: &[seen("https://github.com/NVIDIA/deepops/issues/1189", "2022-07-06")],
        samples: &["mount.nfs: Protocol error"],
        ..NFS
    },
    Cause {
        id: "nfs.rdma_length",
        sign: r"rpcrdma: (Recv|Send|frwr_[a-z_]+|[A-Za-z]+): (?<why>local length error|transport retry counter exceeded|remote access error|WR flushed|memory window bind operation error)",
        says: "NFS over RDMA lost its connection ({why})",
        means: "A message did not fit or the other side was gone. The client connects anew by itself; with `local length error` on old kernels NFS 4 over RDMA failed where version 3 worked.",
        act: "look at the link of the card and at the server; when it comes back each time, try `vers=3` or mount by TCP, and update the kernel (or DOCA-OFED) of both",
        sure: Sure::Guess,
        sources: &[seen("https://github.com/openzfs/zfs/issues/6795", "2017-11-22")],
        samples: &["rpcrdma: Recv: local length error (1/0xd7)"],
        ..NFS
    },
    Cause {
        id: "nfs.no_module",
        sign: r"mount\.nfs4?: No such device",
        says: "the kernel has no NFS",
        means: "The module nfs is not installed for the running kernel, or cannot be loaded here (a minimal kernel, a container).",
        act: "`modprobe nfs` and its words; `ls /lib/modules/$(uname -r)`: reboot where the kernel was updated, else install linux-modules-extra or kernel-modules",
        remedy: Remedy::Install,
        samples: &["mount.nfs: No such device"],
        ..NFS
    },
    Cause {
        id: "nfs.no_path",
        sign: r"mount\.nfs4?: mount\(2\): No such file or directory|exportfs: (?<path>/[^ :]+): No such file or directory|exportfs: Failed to stat (?<other>[^ :]+): No such file",
        says: "the path of an export is not there[: {path}][: {other}]",
        means: "The folder is missing on the server, or with NFS 4 the path starts at the export with fsid=0.",
        act: "`ls -ld` of the path on the server and `exportfs -v`; with NFS 4 try the path without the prefix of the root export",
        samples: &[
            "exportfs: /data: No such file or directory",
            "mount.nfs: mount(2): No such file or directory",
        ],
        ..NFS
    },
    Cause {
        id: "nfs.rpcbind",
        sign: r"portmap query (failed|retrying): RPC: (?<why>.+)|svc: failed to register [a-z0-9]+ RPC service \(errno (?<errno>[0-9]+)\)|rpc\.(nfsd|mountd|statd).*(unable to set any sockets|Could not bind|Failed to (register|create))",
        says: "the port mapper (rpcbind) does not have the NFS service[: {why}]",
        means: "rpcbind does not run on the server, started after NFS, or port 111 is blocked.",
        act: "on the server `systemctl status rpcbind nfs-server` and `rpcinfo -p`; start rpcbind, then restart nfs-server; open 111 and 20048, or use NFS 4 only, which needs 2049 alone",
        samples: &[
            "mount.nfs: portmap query failed: RPC: Program not registered",
            "svc: failed to register nfsdv3 RPC service (errno 111).",
        ],
        ..NFS
    },
    Cause {
        id: "nfs.syntax",
        sign: r"mount\.nfs4?: (remote share not in 'host:dir' format|unparsable|Unsupported nfs mount option|invalid option|multiple hostnames not supported)",
        says: "the mount command or line is not understood",
        means: "A share is written `SERVER:/path`; an option is misspelt or of another version.",
        act: "mend the line (in /etc/fstab `findmnt --verify`)",
        sure: Sure::Confirmed,
        samples: &["mount.nfs: remote share not in 'host:dir' format"],
        ..NFS
    },
    Cause {
        id: "nfs.rdma_transport",
        sign: r"mount\.nfs4?: (Remote I/O error|mount system call failed( for [^ ]+)?$)|rpcrdma: connection to [^ ]+ (on [^ ]+ )?(rejected|closed|unrecognized|failed)[^(]*(\((?<code>-?[0-9]+)\))?|svcrdma: error",
        role: Role::Effect,
        says: "the mount failed between client and server",
        means: "Words of the kernel stand in its log: over RDMA the server does not listen on 20049, or one side has other modules (OFED) than the other.",
        act: "`dmesg | tail`; try `proto=tcp` first; for RDMA `modprobe rpcrdma` on both sides and `cat /proc/fs/nfsd/portlist` on the server (rdma 20049)",
        sure: Sure::Guess,
        samples: &["mount.nfs: mount system call failed", "mount.nfs: Remote I/O error"],
        ..NFS
    },
    // BeeGFS.
    Cause {
        id: "beegfs.ofed_path",
        sign: "You probably should not specify OFED_INCLUDE_PATH in (?<file>[^ ]+)",
        says: "the BeeGFS client was built against an OFED that does not fit the modules that run",
        means: "The module took its RDMA headers from OFED_INCLUDE_PATH, while the RDMA modules in the kernel are of another version or the distribution's own, as after an update of the kernel. BeeGFS prints it when its module cannot be loaded.",
        act: "`dmesg | tail` names the symbols; where MLNX_OFED is wanted, install it for the running kernel (`uname -r`, `ofed_info -s`); else take OFED_INCLUDE_PATH out of {file}; then build the client again (`/etc/init.d/beegfs-client rebuild`) and start it",
        remedy: Remedy::Install,
        sources: &[seen("https://github.com/ThinkParQ/beegfs/issues/84", "2025-10-26")],
        samples: &[
            "WARNING: You probably should not specify OFED_INCLUDE_PATH in /etc/beegfs/beegfs-client-autobuild.conf",
        ],
        ..BEEGFS
    },
    Cause {
        id: "beegfs.no_auth_file",
        sign: r"No connAuthFile configured",
        says: "BeeGFS has no file with its shared secret",
        means: "From 7.3 on each part (client, helperd, daemons, beegfs-ctl, beeond) wants connAuthFile or an explicit connDisableAuthentication. Tools read /etc/beegfs/beegfs-client.conf, which only root may read or which is missing.",
        act: "set connAuthFile in that part's .conf to the same file (mode 400, root) on all hosts; run beegfs-ctl as root or with `--cfgFile`; a file of settings that was passed by name must have it too",
        sources: &[
            seen("https://github.com/ThinkParQ/beegfs/issues/36", "2025-03-20"),
            seen("https://github.com/ThinkParQ/beegfs/issues/115", "2026-06-10"),
        ],
        samples: &[
            "Unrecoverable error: No connAuthFile configured. Using BeeGFS without connection authentication is considered insecure and is not recommended. If you really want or need to run BeeGFS without connection authentication, please set connDisableAuthentication to true.",
        ],
        ..BEEGFS
    },
    Cause {
        id: "beegfs.setting",
        sign: r"The config argument '?(?<name>[A-Za-z0-9]+)'? is invalid|beegfs: .*Configuration error: Initialization of common objects failed",
        says: "BeeGFS does not know a setting of its file[: {name}]",
        means: "The settings are of another release than the module that is loaded: the packages were updated and the module was not built anew, or the other way round.",
        act: "compare `modinfo -F version beegfs` with the packages; build the module anew (`/etc/init.d/beegfs-client rebuild`), or take the setting out that this release does not have",
        sources: &[seen("https://github.com/ThinkParQ/beegfs/issues/89", "2025-11-27")],
        samples: &[
            "[12964845.761251] beegfs: mount(1516568): The config argument 'connClientPort' is invalid",
        ],
        ..BEEGFS
    },
    Cause {
        id: "beegfs.several_mounts",
        sign: r"unable to auto-configure the management address: (?<why>.+)",
        says: "the beegfs tool does not know which management server is meant",
        means: "This host has several BeeGFS mounts with different servers, or none, so the tool cannot take the address from them.",
        act: "name it: `beegfs --mgmtd-addr HOST:GRPCPORT ...` (grpc-port of beegfs-mgmtd.toml, 8010 at first)",
        sources: &[seen("https://github.com/ThinkParQ/beegfs/issues/130", "2026-08-27")],
        samples: &[
            "Error: unable to auto-configure the management address: multiple client mount points with different sysMgmtdHost:connMgmtdGrpcPort configurations were found",
        ],
        ..BEEGFS
    },
    Cause {
        id: "beegfs.mount_cancelled",
        sign: r"mount: [^ ]*: mount\(2\) system call failed: Operation cancell?ed",
        near: &[r"(?<beegfs>beegfs)"],
        role: Role::Effect,
        says: "the client's module gave the mount up",
        means: "BeeGFS does so when it does not reach the management daemon in time, or when its settings (helperd, connAuthFile) do not fit. The kernel's log has its words.",
        act: "`dmesg | grep -i beegfs | tail` and /var/log/beegfs-client.log; `nc -vz MGMTD 8008`; the same connAuthFile on client and servers; `systemctl status beegfs-helperd`",
        sure: Sure::Guess,
        sources: &[seen("https://github.com/ThinkParQ/beegfs/issues/78", "2025-09-17")],
        samples: &[
            "beegfs-client[780929]: mount: /mnt/beegfs: mount(2) system call failed: Operation canceled.",
        ],
        ..BEEGFS
    },
    Cause {
        id: "beegfs.no_mgmtd",
        sign: r"Waiting for beegfs-mgmtd@(?<server>[^ ]+?)\.*$|Management node offline\? Will keep on trying|Waiting for beegfs-mgmtd canceled|Node registration not successful",
        role: Role::Effect,
        says: "BeeGFS does not reach its management daemon[ {server}]",
        means: "It does not run, sysMgmtdHost names another host, or port 8008 (TCP and UDP) is blocked.",
        act: "`systemctl status beegfs-mgmtd` on that host, sysMgmtdHost in the .conf, `nc -vz HOST 8008`, the firewall; a wrong interface in connInterfacesFile",
        samples: &["(1) May24 11:56:05 Main [App] >> Waiting for beegfs-mgmtd@mgmt1:8008..."],
        ..BEEGFS
    },
    // Lustre.
    Cause {
        id: "lustre.no_network",
        sign: r"IOC_LIBCFS_GET_NI error 100: Network is down|LNet configure error 100: Network is down|LNet not configured|lnetctl: .*(Network is down|LNET stack down)",
        says: "LNet has no network on this host",
        means: "LNet is not configured: /etc/lnet.conf or /etc/modprobe.d/lnet.conf names no interface or one that is not there, or lnet was not started.",
        act: "name the right interface (`options lnet networks=o2ib0(ib0)` or tcp), `lustre_rmmod`, `modprobe lnet`, `lctl network up` (or `systemctl restart lnet`); then `lctl list_nids` has to show it",
        sources: &[seen("https://doc.lustre.org/lustre_manual.xhtml#lnetmaint", "2026-11-30")],
        samples: &["IOC_LIBCFS_GET_NI error 100: Network is down"],
        ..LUSTRE
    },
    Cause {
        id: "lustre.rdma_timeout",
        sign: r"o2iblnd_cb\.c:[0-9]+:kiblnd_[a-z_]+\(\)\) (Timed out (tx|RDMA)|(RDMA|Deleting messages|Closing conn)[^:]*:? (to|with|for)) ?(for |with )?(?<peer>[0-9.]+@o2ib[0-9]*)?|ptlrpc_expire_one_request\(\)\) @@@ Request sent has (timed out|failed due to network error)",
        role: Role::Effect,
        says: "Lustre's messages to a server are not answered[ ({peer})]",
        means: "The server or the way to it does not answer: a server that failed or restarts, a port of InfiniBand that is down or slow, or LNet settings (peer credits, map_on_demand) that differ between the two.",
        act: "`lctl ping NID` from this client and from another one; where only this one fails look at its port (`ibstat`, link errors); where all fail look at the server; compare `lnetctl net show -v` of both",
        counts: Counts::Warn,
        sources: &[seen("https://github.com/jade-hpc-gpu/jade-hpc-gpu.github.io/issues/14", "2017-10-16")],
        samples: &[
            "[Mon Oct 16 09:54:43 2017] LNet: 2431:0:(o2iblnd_cb.c:3174:kiblnd_check_conns()) Timed out tx for 172.31.126.87@o2ib: 403055 seconds",
            "Lustre: 2449:0:(client.c:2141:ptlrpc_expire_one_request()) @@@ Request sent has failed due to network error: [sent 1508144508/real 1508144518]",
        ],
        ..LUSTRE
    },
    Cause {
        id: "lustre.target_taken",
        sign: r"mount\.lustre: mount .* failed: (?<why>Address already in use|Operation already in progress|File exists|Unknown error 524|Invalid argument.*)",
        says: "a Lustre target or client was not mounted ({why})",
        means: "`Address already in use` means that a target of this name is registered or mounted already (another server of the pair); `Operation already in progress` that another mount of it runs or the server still recovers.",
        act: "look on which server it is mounted (`mount -t lustre`, the cluster manager); never mount a target on two servers; for a new target that was formatted anew `--replace`, as the manual says",
        sure: Sure::Guess,
        samples: &["mount.lustre: mount /dev/sdb at /mnt/ost failed: Address already in use"],
        ..LUSTRE
    },
    // Spectrum Scale.
    Cause {
        id: "gpfs.no_module",
        sign: r"mmfslinux\.ko kernel extension does not exist|mmbuildgpl: Command failed",
        says: "Spectrum Scale has no module for the running kernel",
        means: "The kernel was updated and the portability layer was not built for it, or this release does not know the kernel.",
        act: "`mmbuildgpl` (with kernel-devel and gcc of this kernel), then `mmstartup`; where it does not build boot the kernel before, and hold it until a release supports the new one",
        remedy: Remedy::Install,
        sure: Sure::Confirmed,
        sources: &[seen(
            "https://www.ibm.com/docs/en/storage-scale/5.2.1?topic=linux-building-gpfs-portability-layer-nodes",
            "2026-11-30",
        )],
        samples: &[
            "mmremote: startSubsys: The /lib/modules/5.14.0-70/extra/mmfslinux.ko kernel extension does not exist.  Use mmbuildgpl command to create the needed kernel extension for your kernel",
        ],
        ..LUSTRE
    },
    // Ceph and SMB.
    Cause {
        id: "ceph.no_mds",
        sign: r"([Nn]o mds server is up or the cluster is laggy)",
        says: "CephFS has no active metadata server",
        means: "No MDS is up, or the cluster is not well enough to serve (placement groups that are down).",
        act: "`ceph -s` and `ceph fs status`; mend what they name first",
        samples: &["mount error: no mds server is up or the cluster is laggy"],
        ..CEPH
    },
    Cause {
        id: "ceph.monitor",
        sign: r"libceph: mon[0-9]+ .*(socket closed|connect error|session lost|socket error)|mount error:? 110 = Connection timed out|unable to get monitor info from DNS SRV|monclient\([^)]*\): .*(timed out|hunting)",
        role: Role::Effect,
        says: "no monitor of Ceph is reached",
        means: "Address or port (3300, 6789) is wrong or blocked, or the monitors are down.",
        act: "mon_host in /etc/ceph/ceph.conf, `nc -vz MON 6789`, `ceph -s` on a monitor",
        samples: &["libceph: mon0 (1)192.0.2.3:6789 socket closed (con state CONNECTING)"],
        ..CEPH
    },
    Cause {
        id: "ceph.config",
        sign: r"ObjectNotFound\('(\[errno 2\] )?RADOS object not found \(error calling conf_read_file\)'\)|auth: unable to find a keyring|RADOS permission (denied|error)|mount error:? 13 = Permission denied",
        says: "the client of Ceph has no settings or key",
        means: "/etc/ceph/ceph.conf or the keyring of this client is missing on this host, or the key has no rights to this file system.",
        act: "`ls /etc/ceph`; bring ceph.conf and the keyring of the client; `ceph auth get client.NAME` for its rights (caps)",
        samples: &[
            "Error initializing cluster client: ObjectNotFound('RADOS object not found (error calling conf_read_file)')",
        ],
        ..CEPH
    },
    Cause {
        id: "cifs.mount",
        sign: r"mount error\((?<code>[0-9]+)\): (?<why>.+)|CIFS: VFS: .*cifs_mount failed w/return code = (?<other>-[0-9]+)",
        says: "the SMB share was not mounted ([{why}][{other}])",
        means: "13 means account, password or domain, 2 that there is no such share, 112 and 115 that the server is not reached, 95 or 22 that the version or an option is not taken.",
        act: "`dmesg | tail` for STATUS_...; try `smbclient -L SERVER -U USER`; set `vers=3.0`, `sec=ntlmssp` and `domain=` where they fit",
        sure: Sure::Guess,
        sources: &[seen("https://man7.org/linux/man-pages/man8/mount.cifs.8.html", "2026-11-30")],
        samples: &["mount error(13): Permission denied"],
        ..CEPH
    },
    // Block storage over a network.
    Cause {
        id: "nvmf.no_module",
        sign: r"Failed to open /dev/nvme-fabrics: No such file or directory",
        says: "NVMe over a network is not loaded on this host",
        means: "The module nvme-fabrics with its transport (nvme-tcp, nvme-rdma) is missing or not loaded.",
        act: "`modprobe nvme-tcp` or `modprobe nvme-rdma` and a file in /etc/modules-load.d; linux-modules-extra or kernel-modules-extra has it; with OFED take its nvme modules (`--with-nvmf`)",
        sure: Sure::Confirmed,
        samples: &["Failed to open /dev/nvme-fabrics: No such file or directory"],
        ..FABRICS
    },
    Cause {
        id: "nvmf.connect",
        sign: r"[Ff]ailed to write to /dev/nvme-fabrics: (?<why>[A-Z][A-Za-z/ -]+)|nvme nvme[0-9]+: (rdma|rdma_connect|tcp) ?(connection establishment )?failed \((?<code>-[0-9]+)\)|Connect (Invalid (Data|SQE) Parameter|command failed[^\n]*?(bit: (?<status>[0-9]+))?$|rejected)",
        says: "the NVMe target was not connected[ ({why})][ ({code})][ (status {status})]",
        means: "`Connection refused` or -111: nothing listens at that address; -104: the target closed it (a host that is not allowed, other limits); `Invalid argument` or `Invalid Data Parameter`: no such subsystem NQN, or an option; `Input/output error`: the answer of the target is in the kernel's log; -12 and -22 with RDMA: the card has no room for so many queues, or an older kernel; `Operation already in progress`: it is connected; status 881: the host gave the connect up, as no answer came in time.",
        act: "`dmesg | tail`; `nvme discover` with the same address first; compare the NQN and allowed hosts (`/etc/nvme/hostnqn`) with the target; with -12 fewer queues (`-i 8`)",
        sure: Sure::Guess,
        samples: &[
            "Failed to write to /dev/nvme-fabrics: Connection reset by peer",
            "nvme nvme0: rdma connection establishment failed (-104)",
            "nvme nvme0: Connect command failed, error wo/DNR bit: 881",
        ],
        ..FABRICS
    },
    Cause {
        id: "iscsi.login",
        sign: r"iscsiadm: (Could not (login to|log into) .*|initiator reported error \((?<code>[0-9]+) - (?<why>[^)]+)\)|No portals found|cannot make connection to [^:]+: (?<net>.+))",
        role: Role::Effect,
        says: "an iSCSI target was not reached or did not let this host in[ ({why})][ ({net})]",
        means: "The portal does not answer, the initiator's name is not allowed on the target, or CHAP differs.",
        act: "`nc -vz PORTAL 3260`; the name in /etc/iscsi/initiatorname.iscsi against the target's list; `iscsiadm -m discovery -t st -p PORTAL`",
        sure: Sure::Guess,
        sources: &[seen("https://github.com/open-iscsi/open-iscsi (usr/iscsid.c, README)", "2026-11-30")],
        samples: &[
            "iscsiadm: Could not login to [iface: default, target: iqn.2003-01.org.example:x, portal: 192.0.2.3,3260].",
        ],
        ..FABRICS
    },
];
