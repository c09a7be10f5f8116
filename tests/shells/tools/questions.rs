//! Our questions with each tool that they call missing, or failing: none is answered falsely.

use provision::facts::account::{AuthorizedKeysQuery, GroupQuery, UserQuery};
use provision::facts::ask::Command as Asking;
use provision::facts::block::BlockQuery;
use provision::facts::build::BuildQuery;
use provision::facts::card_settings::CardSettingsQuery;
use provision::facts::containers::ContainersQuery;
use provision::facts::driver::DriverQuery;
use provision::facts::driver_upkeep::UpkeepQuery;
use provision::facts::file::{ContentQuery, PathQuery, SecretQuery};
use provision::facts::filesystem::FilesystemsQuery;
use provision::facts::firewall::FirewallQuery;
use provision::facts::log::LogQuery;
use provision::facts::login::LoginQuery;
use provision::facts::module::ModuleQuery;
use provision::facts::netdev::NetdevQuery;
use provision::facts::next_boot::NextBootQuery;
use provision::facts::package::PackageQuery;
use provision::facts::probe::Probe as _;
use provision::facts::rdma::RdmaQuery;
use provision::facts::roce::RoceQuery;
use provision::facts::section::Sections;
use provision::facts::setting::SettingQuery;
use provision::facts::software::SoftwareQuery;
use provision::facts::ssh_user::{SshFilesQuery, SshKeyQuery};
use provision::facts::sshd::SshdQuery;
use provision::facts::system::SystemQuery;
use provision::facts::unit::{ManagerQuery, UnitQuery};
use provision::facts::view::ViewQuery;
use provision::facts::{Answer, BaseQuery, Facts, Query, base, batch};
use provision::inventory::NicMatch;
use provision::resources::builds::git::question::CheckoutQuery;
use provision::resources::builds::library_path::question::LoaderQuery;
use provision::resources::files::fetch::question::FetchQuery;
use provision::resources::gpu::nvidia_driver::question::OfferedQuery;
use provision::resources::kernel::kernel_cmdline::question::CmdlineQuery;
use provision::resources::kernel::pcie::question::PcieQuery;
use provision::resources::packages::package::question::InstalledQuery;
use provision::resources::packages::repository::question::EntriesQuery;
use provision::resources::rdma::rdma_link::question::RdmaLinkQuery;
use provision::transport::PartEnd;
use serde_json::Value as Json;

use super::*;

/// What questions call of what systems have; it changes nothing.
pub(crate) const READERS: &str = "df getconf getent hostname ip ldconfig modinfo nvidia-smi od pgrep ps systemd-detect-virt timeout uniq wc xargs";

/// Stands for all fields.
const BASIC: &str = "all";

/// Answers that are still wrong without a tool, and why that is left so.
const EXCEPTED: &[(&str, &str)] = &[
    // It says so too where firewalld does not run; then the rules themselves are asked.
    ("firewall", "firewall-cmd"),
    // The lists are taken for old, and are fetched once more than needed.
    ("package other", "find"),
    // That of musl knows no such name.
    ("build", "getconf"),
    // It is told that not all is seen.
    ("base busy", "id"),
    // The file is told to be unreadable, and why.
    ("fetch", "base64"),
    // Links are known without it, and addresses are not.
    ("base network", "ip"),
    // That it is missing is told. Who is not root cannot read what it looks through.
    ("rdma", "grep"),
];

/// One question in an empty directory.
pub(crate) struct Asked {
    /// What is asked, of the directory.
    pub(crate) query: fn(&str) -> Query,
    pub(crate) row: Row,
    /// What the answer has in it where all tools work.
    known: &'static str,
    /// Fields that are null where nothing is known.
    open: &'static str,
    /// Tools that not every system has, so that the answer without them is another one.
    optional: &'static str,
}

fn asked(query: fn(&str) -> Query, known: &'static str, row: Row) -> Asked {
    Asked { query, row, known, open: "", optional: "" }
}

fn questions() -> Vec<Asked> {
    let people = Row {
        paths: "/etc/",
        made_up: "getent useradd usermod userdel groupadd groupmod groupdel",
        before: "mkdir -p etc home/.ssh; echo \"me:x:0:0::$S/home:/bin/sh\" >etc/passwd; echo 'staff:x:50:me' >etc/group; >etc/nsswitch.conf; echo 'extra:x:1234:1234::/home/extra:/bin/sh' >says.getent; seq 1 600 >home/.ssh/authorized_keys; echo short >home/.ssh/config",
        ..ROW
    };
    let apt = Row {
        made_up: "dpkg-query apt-cache",
        paths: "/var/lib/dpkg /var/lib/apt",
        before: "mkdir -p var/lib/dpkg var/lib/apt/lists; >var/lib/apt/lists/x_Packages; printf 'Package: tool\\nStatus: install ok installed\\nPriority: optional\\nArchitecture: amd64\\nVersion: 1.2-3\\n\\n' >var/lib/dpkg/status; echo ' ii  tool 1.2-3 amd64' >says.dpkg-query; printf 'other:\\n  Installed: (none)\\n  Candidate: 4.5\\n  Version table:\\n     4.5 500\\n        500 http://x y/z amd64 Packages\\n' >says.apt-cache",
        ..ROW
    };
    vec![
        asked(|_| UserQuery("me".to_owned()).into(), "staff", Row { ..people }),
        Asked {
            optional: "getent",
            ..asked(|_| UserQuery("extra".to_owned()).into(), "1234", Row { ..people })
        },
        asked(|_| GroupQuery("staff".to_owned()).into(), "50", Row { ..people }),
        asked(|_| AuthorizedKeysQuery("me".to_owned()).into(), "599", Row { ..people }),
        asked(
            |_| SshFilesQuery { user: "me".to_owned(), mesh: "m".to_owned() }.into(),
            "short",
            Row { ..people },
        ),
        asked(
            |_| SshKeyQuery { user: "me".to_owned(), name: "id".to_owned() }.into(),
            "ssh-ed25519",
            Row {
                before: "mkdir -p etc home/.ssh; echo \"me:x:0:0::$S/home:/bin/sh\" >etc/passwd; ssh-keygen -q -t ed25519 -N '' -f home/.ssh/id",
                made_up: "",
                ..people
            },
        ),
        asked(
            |at| PathQuery(format!("{at}/file")).into(),
            "416",
            Row { before: "echo x >file; chmod 640 file", ..ROW },
        ),
        Asked {
            open: ".text",
            ..asked(
                |at| {
                    ContentQuery { path: format!("{at}/file"), wanted: None, text: true, stamp: false }.into()
                },
                "599",
                Row { before: "seq 1 600 >file", ..ROW },
            )
        },
        asked(
            |at| {
                ContentQuery {
                    path: format!("{at}/file"),
                    wanted: Some("ab".to_owned()),
                    text: true,
                    stamp: false,
                }
                .into()
            },
            "short",
            Row { before: "echo short >file", ..ROW },
        ),
        asked(
            |at| SecretQuery { path: format!("{at}/file"), text: "s3cr\u{fc}t".to_owned() }.into(),
            "true",
            Row { before: "printf 's3cr\\303\\274t' >file", ..ROW },
        ),
        Asked {
            optional: "ldconfig",
            ..asked(
                |at| LoaderQuery(format!("{at}/lib")).into(),
                "libx.so.1",
                Row {
                    made_up: "ldconfig",
                    before: "mkdir lib; >lib/libx.so.1; printf '\\tlibx.so.1 (libc6,x86-64) => %s/lib/libx.so.1\\n' \"$S\" >says.ldconfig",
                    ..ROW
                },
            )
        },
        asked(|at| SettingQuery(format!("{at}/value")).into(), "42", Row { before: "echo 42 >value", ..ROW }),
        asked(
            |_| ModuleQuery("mlx5_core".to_owned()).into(),
            "",
            Row {
                made_up: "modprobe",
                paths: "/lib/modules /proc/sys/kernel/osrelease /sys/module",
                before: "mkdir -p lib/modules/6.1 proc/sys/kernel; echo 6.1 >proc/sys/kernel/osrelease; echo 'kernel/mlx5-core.ko: ' >lib/modules/6.1/modules.dep; >lib/modules/6.1/modules.builtin",
                ..ROW
            },
        ),
        Asked {
            optional: "nft iptables",
            ..asked(
                |_| FirewallQuery.into(),
                "10.0.0.0/8",
                Row {
                    made_up: "nft iptables",
                    paths: "/etc/",
                    before: "mkdir etc; echo 'insert rule inet f input ip saddr 10.0.0.0/8 accept comment \"provision\"' >etc/nftables.conf; printf 'table inet f {\\n\\tchain input {\\n\\t\\ttype filter hook input priority filter; policy drop;\\n\\t\\tip saddr 10.0.0.0/8 accept comment \"provision\"\\n\\t}\\n}\\n' >says.nft; echo '-P INPUT ACCEPT' >says.iptables",
                    ..ROW
                },
            )
        },
        Asked {
            optional: "firewall-cmd",
            ..asked(
                |_| FirewallQuery.into(),
                "10.0.0.0/8",
                Row {
                    made_up: "firewall-cmd",
                    paths: "/etc/",
                    before: "echo 10.0.0.0/8 >says.firewall-cmd",
                    ..ROW
                },
            )
        },
        asked(
            |_| FirewallQuery.into(),
            "10.0.0.0/8",
            Row {
                made_up: "ufw",
                paths: "/etc/",
                before: "mkdir -p etc/ufw; echo ENABLED=yes >etc/ufw/ufw.conf; echo 'ufw allow from 10.0.0.0/8' >says.ufw",
                ..ROW
            },
        ),
        asked(
            |_| PackageQuery { name: "tool".to_owned(), version: None, latest: false }.into(),
            "1.2-3",
            Row { ..apt },
        ),
        asked(
            |_| PackageQuery { name: "tool:amd64".to_owned(), version: None, latest: false }.into(),
            "1.2-3",
            Row { ..apt },
        ),
        asked(
            |_| PackageQuery { name: "other".to_owned(), version: None, latest: false }.into(),
            "4.5",
            Row { ..apt },
        ),
        asked(
            |_| PackageQuery { name: "tool".to_owned(), version: None, latest: false }.into(),
            "1.2-3",
            Row { made_up: "rpm dnf", before: "echo ' ii  tool 1.2-3 x86_64' >says.rpm", ..ROW },
        ),
        asked(
            |_| InstalledQuery("tool*".to_owned()).into(),
            "1.2-3",
            Row { made_up: "dpkg-query", before: "echo 'ii  tool 1.2-3' >says.dpkg-query", ..ROW },
        ),
        asked(
            |_| InstalledQuery("tool*".to_owned()).into(),
            "1.2-3",
            Row { made_up: "rpm", before: "echo 'ii  tool 1.2-3' >says.rpm", ..ROW },
        ),
        Asked {
            optional: "gpg",
            ..asked(
                |_| EntriesQuery("https://x/y".to_owned()).into(),
                "cuda.list",
                Row {
                    made_up: "apt-get gpg",
                    paths: "/etc/apt",
                    before: "mkdir -p etc/apt/sources.list.d; echo 'deb [signed-by=/dev/null] https://x/y/ /' >etc/apt/sources.list.d/cuda.list; printf 'pub:\nfpr:::::::::ABAB:\n' >says.gpg",
                    ..ROW
                },
            )
        },
        asked(
            |_| OfferedQuery("nvidia-utils-535-server".to_owned()).into(),
            "nvidia-utils-580-server",
            Row {
                made_up: "apt-cache dpkg-query",
                before: "printf 'Version: 535.309.01-0ubuntu0.24.04.2\\nDepends: nvidia-utils-580-server\\nDescription-en: Transitional package for nvidia-utils-580-server\\n' >says.apt-cache",
                ..ROW
            },
        ),
        Asked {
            open: "",
            ..asked(
                |_| DriverQuery { whole: true }.into(),
                "550.1",
                Row {
                    made_up: "modinfo dpkg-query mokutil",
                    paths: "/sys/ /lib/modules /boot/ /proc/driver /proc/sys /usr/bin/nvidia",
                    before: "mkdir -p sys/bus/pci/devices/0 sys/module/nvidia lib/modules/6.1/build proc/sys/kernel; echo 6.1 >proc/sys/kernel/osrelease; echo 550.1 >sys/module/nvidia/version; >lib/modules/6.1/nvidia.ko; echo 0x10de >sys/bus/pci/devices/0/vendor; echo 0x030000 >sys/bus/pci/devices/0/class; printf 'filename: /x\\nversion: 550.1\\nlicense: NVIDIA\\n' >says.modinfo; echo 'ii  nvidia-driver 550.1' >says.dpkg-query",
                    ..ROW
                },
            )
        },
        Asked {
            optional: "grubby",
            open: ".loader .next",
            ..asked(
                |_| CmdlineQuery.into(),
                "iommu",
                Row { made_up: "grubby", before: "echo 'args=\"ro iommu=pt\"' >says.grubby", ..ROW },
            )
        },
        asked(
            |_| PcieQuery.into(),
            "29",
            Row {
                made_up: "setpci",
                paths: "/sys/bus",
                before: "mkdir -p sys/bus/pci/devices/0000:00:01.0; echo 0x060400 >sys/bus/pci/devices/0000:00:01.0/class; echo 001d >says.setpci",
                ..ROW
            },
        ),
        asked(
            |at| CheckoutQuery { path: format!("{at}/tree"), user: None }.into(),
            "0123456789",
            Row {
                made_up: "git",
                before: "mkdir -p tree/.git; echo >tree/.git/HEAD; echo 'case \"$*\" in *HEAD*verify*|*verify*HEAD*) echo 0123456789012345678901234567890123456789 ;; *for-each-ref*) echo ref refs/tags/v1 ;; *status*) echo \" M x\" ;; *remote.origin.url*) echo https://x/y ;; *--list*) printf \"file:.git/config\\\\000core.bare\\\\nfalse\\\\000\" ;; esac' >does.git",
                ..ROW
            },
        ),
        asked(
            |_| UnitQuery("x.service".to_owned()).into(),
            "active",
            Row {
                made_up: "systemctl",
                paths: "/run/systemd /etc/systemd",
                before: "mkdir -p run/systemd/system etc/systemd/system; >etc/systemd/system/x.service; printf 'Id=x.service\\nNames=x.service\\nLoadState=loaded\\nActiveState=active\\nSubState=running\\nUnitFileState=enabled\\nNeedDaemonReload=no\\nCanReload=no\\nType=simple\\nRemainAfterExit=no\\nResult=success\\nExecMainExitTimestampMonotonic=0\\n' >says.systemctl",
                ..ROW
            },
        ),
        asked(
            |_| ManagerQuery("DefaultLimitMEMLOCK".to_owned()).into(),
            "infinity",
            Row {
                made_up: "systemctl",
                paths: "/run/systemd /etc/systemd",
                before: "mkdir -p run/systemd/system; echo 'DefaultLimitMEMLOCK=infinity' >says.systemctl",
                ..ROW
            },
        ),
        asked(
            |_| NetdevQuery(NicMatch { netdev: Some("e0".to_owned()), ..NicMatch::default() }).into(),
            "10.0.0.1/8",
            Row {
                made_up: "ip systemctl networkctl",
                paths: "/sys/class /etc/ /run/systemd /proc/net",
                before: "mkdir -p sys/class/net/e0 etc/systemd/network run/systemd/system; echo 0x1003 >sys/class/net/e0/flags; echo 'case \"$*\" in *link*) echo \"2: e0: <UP> mtu 1500 qdisc mq state UP mode DEFAULT group default qlen 1000\\\\    link/ether 00:00:00:00:00:01 brd ff:ff:ff:ff:ff:ff promiscuity 0 minmtu 68 maxmtu 9978 numtxqueues 1\" ;; *) echo \"2: e0    inet 10.0.0.1/8 brd 10.255.255.255 scope global e0\\\\       valid_lft forever preferred_lft forever\" ;; esac' >does.ip; printf '[Match]\\nName=e0\\n' >etc/systemd/network/10.network; echo 'case \"$*\" in *is-active*networkd*) exit 0 ;; *) exit 3 ;; esac' >does.systemctl; printf '     Network File: %s/etc/systemd/network/10.network\\n' \"$S\" >says.networkctl",
                ..ROW
            },
        ),
        asked(
            |_| RdmaLinkQuery("x0".to_owned()).into(),
            "e0",
            Row {
                made_up: "rdma",
                paths: "/sys/class",
                before: "mkdir -p sys/class/infiniband/x0; echo '1: CA' >sys/class/infiniband/x0/node_type; echo 'link x0/1 state ACTIVE physical_state LINK_UP netdev e0 ' >says.rdma",
                ..ROW
            },
        ),
        Asked {
            open: ".dscp .pfc",
            ..asked(
                |_| RoceQuery("e0".to_owned()).into(),
                "0,0,0,1",
                Row {
                    made_up: "dcb",
                    paths: "/sys/",
                    before: "mkdir -p sys/class/net/e0; echo 'case \"$*\" in *pfc*) echo \"pfc-cap 8 macsec-bypass off delay 0\"; echo \"prio-pfc 0:off 1:off 2:off 3:on 4:off 5:off 6:off 7:off \" ;; *) echo \"dscp-prio 26:3 \" ;; esac' >does.dcb",
                    ..ROW
                },
            )
        },
        Asked {
            optional: "gcc getconf",
            open: ".free_kib .prefix_free_kib",
            ..asked(
                |at| {
                    BuildQuery {
                        prefix: format!("{at}/prefix"),
                        name: "it".to_owned(),
                        directory: format!("{at}/build"),
                        source: format!("{at}/source"),
                        compiler: "gcc".to_owned(),
                        cuda: String::new(),
                        user: None,
                    }
                    .into()
                },
                "from",
                Row {
                    made_up: "gcc",
                    before: "mkdir -p source prefix/.provision; echo x >source/x; echo x >prefix/x; printf 'from x\\nresult 1\\n' >prefix/.provision/stamp; echo '2 ./x' >prefix/.provision/sizes; echo 13 >says.gcc",
                    ..ROW
                },
            )
        },
        asked(
            |at| BuildQuery { prefix: format!("{at}/prefix"), ..BuildQuery::default() }.into(),
            "foreign",
            Row { before: "mkdir prefix; >prefix/x", ..ROW },
        ),
        asked(
            |at| CheckoutQuery { path: format!("{at}/tree"), user: None }.into(),
            "other",
            Row { made_up: "git", before: "mkdir tree; >tree/x", ..ROW },
        ),
        asked(|_| FilesystemsQuery.into(), "boot", ROW),
        asked(
            |_| {
                let command = Asking::Script("echo said; exit 3".to_owned());
                CommandQuery { command, env: Vec::new(), chdir: None, user: None, limit: None }.into()
            },
            "said",
            // Who has none has no shell that asks.
            Row { excepted: "sh", ..ROW },
        ),
        asked(
            |at| FetchQuery(format!("{at}/file")).into(),
            "MQoyCjMK",
            Row { before: "seq 1 600 >file", ..ROW },
        ),
        asked(
            |at| BlockQuery(format!("{at}/disk")).into(),
            "S/place",
            Row {
                made_up: "blkid cmp dd",
                paths: "/sys/class /proc/swaps /proc/self/mountinfo",
                before: "mknod disk b 7 200; b=sys/class/block/disk; mkdir -p $b/holders/md0 $b/disk1 proc/self; echo 4096 >$b/size; echo 7:200 >$b/dev; >$b/disk1/partition; echo \"$S/disk partition 1 0 -2\" >proc/swaps; echo \"36 35 7:200 / $S/place rw - xfs $S/disk rw\" >proc/self/mountinfo; echo TYPE=xfs >says.blkid; echo 'case \"$*\" in *skip*) printf 1 ;; *) printf XFSB ;; esac' >does.dd",
                ..ROW
            },
        ),
        asked(
            |_| LogQuery.into(),
            "Xid",
            Row {
                made_up: "dmesg journalctl",
                before: "printf '[ 0.0] Linux version 6.1\\n[ 1.0] NVRM: Xid (PCI:0000:01:00): 79, pid=1\\n' >says.dmesg; echo 'NVRM: Xid (PCI:0000:01:00): 48, pid=1' >says.journalctl",
                // The journal is asked then.
                excepted: "dmesg",
                ..ROW
            },
        ),
        asked(|_| LoginQuery.into(), "\"user\":\"", ROW),
        asked(
            |_| RdmaQuery.into(),
            "\"manages_switch\":true",
            Row {
                paths: "/sys/",
                before: "mkdir -p sys/pci/01/net/e0 sys/drivers/mlx5_core sys/class/infiniband/m0/ports/1/gids sys/module/nvidia sys/class/net/e0/statistics; ln -s ../../drivers/mlx5_core sys/pci/01/driver; ln -s ../../../pci/01 sys/class/infiniband/m0/device; cd sys/class/infiniband/m0; echo SW_MNG >device/vpd; echo InfiniBand >ports/1/link_layer; echo '4: ACTIVE' >ports/1/state",
                ..ROW
            },
        ),
        asked(
            |_| CardSettingsQuery.into(),
            "force_relax",
            Row {
                made_up: "mlxconfig",
                paths: "/sys/",
                before: "mkdir -p sys/bus/pci/drivers/mlx5_core/0000:18:00.0 sys/bus/pci/drivers/mlx5_core/0000:18:00.1; printf 'Configurations:      Default      Current      Next Boot\n*    PCI_WR_ORDERING    per_mkey(0)    per_mkey(0)    force_relax(1)\n' >says.mlxconfig",
                ..ROW
            },
        ),
        asked(
            |_| NextBootQuery.into(),
            "nvidia",
            Row {
                made_up: "modprobe modinfo depmod lsinitramfs mokutil systemctl",
                paths: "/sys/ /proc/ /lib/modules /boot/ /etc/ /run/",
                before: "mkdir -p lib/modules/6.1/updates lib/modules/6.1/build boot proc/net proc/sys/kernel sys/class/net/e0 sys/module/nvidia sys/firmware/efi/efivars etc/network; echo 6.1 >proc/sys/kernel/osrelease; >boot/vmlinuz-6.1; echo x >boot/initrd.img-6.1; touch -d 2020-01-01 boot/initrd.img-6.1; echo x >lib/modules/6.1/updates/nvidia.ko; >lib/modules/6.1/build/Module.symvers; >sys/module/nvidia/initstate; printf '\\6\\0\\0\\0\\1' >sys/firmware/efi/efivars/SecureBoot-x; printf 'Iface\ne0 00000000 01000000 3 0 0 0 00000000 0 0 0\n' >proc/net/route; printf 'auto e0\niface e0 inet dhcp\n' >etc/network/interfaces; >proc/keys; echo \"insmod $S/lib/modules/6.1/updates/nvidia.ko\" >says.modprobe; printf 'filename: %s/lib/modules/6.1/updates/nvidia.ko\nname: nvidia\nvermagic: 6.1 SMP\nsigner: me\nsig_key: 01:02\n' \"$S\" >says.modinfo; echo usr/lib/modules/6.1/updates/nvidia.ko >says.lsinitramfs; echo 'SecureBoot enabled' >says.mokutil; echo enabled >says.systemctl",
                ..ROW
            },
        ),
        asked(
            |_| SystemQuery.into(),
            "slurmd",
            Row {
                made_up: "getent df date chronyc ntpq ntpctl pmc journalctl systemctl sinfo",
                paths: "/sys/devices /proc/ /etc/ssh/ /etc/systemd/ /run/systemd/",
                before: "mkdir -p sys/devices/system/cpu/cpu0/cpufreq sys/devices/system/cpu/cpu1/cpufreq proc/7 proc/8 proc/9 proc/sys/kernel etc/ssh etc/systemd/system run/systemd/system; echo ntpd >proc/8/comm; for pid in 7 8 9; do echo Uid: 0 0 0 0 >proc/$pid/status; done; echo ptp4l >proc/9/comm; printf 'ptp4l\\0-i\\0e0\\0-f\\0%s\\0' \"$S/ptp.conf\" >proc/9/cmdline; echo 'time_stamping software' >ptp.conf; >etc/systemd/system/mine.service; echo 'associd=0 status=0615 leap_none, sync_ntp,' >says.ntpq; echo '4/4 peers valid, clock synced, stratum 3' >says.ntpctl; echo 'gmPresent true' >says.pmc; echo 'master offset 3 s2' >says.journalctl; echo 1795942800 >says.date; echo powersave | tee sys/devices/system/cpu/cpu0/cpufreq/scaling_governor >sys/devices/system/cpu/cpu1/cpufreq/scaling_governor; echo slurmd >proc/7/comm; echo 'Max locked memory 65536 65536 bytes' >proc/7/limits; echo n0.x >proc/sys/kernel/hostname; echo 'n0 idle gpu:8' >says.sinfo; echo '10.0.0.1 n0.x' >says.getent; printf 'Filesystem 1024-blocks Used Available Capacity Mounted on\n/dev/vda 1000 900 100 90%% /\n' >says.df; echo 'Leap status     : Normal' >says.chronyc; echo 'bad.service loaded failed failed Bad' >says.systemctl",
                ..ROW
            },
        ),
        asked(
            |_| SoftwareQuery.into(),
            "2.30.7",
            Row {
                made_up: "ib_write_bw ldd",
                paths: "/opt/ /usr/include/ /usr/local/ /usr/lib/ /usr/lib64/ /usr/mpi/ /usr/bin/mpirun /usr/bin/all_reduce_perf",
                before: "mkdir -p opt/nccl/include opt/nccl/lib opt/tests/build opt/tests/.provision opt/mpi/bin; printf '#define NCCL_MAJOR 2\n#define NCCL_MINOR 30\n#define NCCL_PATCH 7\n' >opt/nccl/include/nccl.h; >opt/nccl/lib/libnccl.so.2.30.7; ln -s libnccl.so.2.30.7 opt/nccl/lib/libnccl.so.2; printf '#!/bin/sh\n' >opt/tests/build/all_reduce_perf; printf '#!/bin/sh\necho mpirun 5.0\n' >opt/mpi/bin/mpirun; chmod +x opt/*/*/*; echo \"make NCCL_HOME=$S/opt/nccl\" >opt/tests/.provision/stamp; echo \"libnccl.so.2 => $S/opt/nccl/lib/libnccl.so.2 (0x0)\" >says.ldd; echo --use_cuda >says.ib_write_bw",
                ..ROW
            },
        ),
        asked(
            |_| UpkeepQuery.into(),
            "unattended-upgrades",
            Row {
                made_up: "nv-fabricmanager systemctl dkms",
                paths: "/sys/ /usr/bin/unattended-upgrade /etc/ /usr/local/ /var/lib/dkms",
                before: "mkdir -p sys/bus/pci/devices/0 sys/module/nvidia etc/apt/apt.conf.d etc/systemd/system/timers.target.wants usr/bin usr/local/cuda/bin var/lib/dkms etc/dnf; echo 0x10de >sys/bus/pci/devices/0/vendor; echo 0x068000 >sys/bus/pci/devices/0/class; >usr/bin/unattended-upgrade; chmod +x usr/bin/unattended-upgrade; echo 'APT::Periodic::Unattended-Upgrade \"1\";' >etc/apt/apt.conf.d/20auto; ln -s /dev/null etc/systemd/system/unattended-upgrades.service; >etc/systemd/system/timers.target.wants/dnf-automatic.timer; echo 'apply_updates = yes' >etc/dnf/automatic.conf; echo 'Fabric Manager version is : 550.1' >says.nv-fabricmanager; echo active >says.systemctl; echo 'nvidia/550.1, 6.1, x86_64: installed' >says.dkms; printf '#!/bin/sh\necho Cuda compilation tools, release 13.0, V13.0.1\n' >usr/local/cuda/bin/nvcc; chmod +x usr/local/cuda/bin/nvcc",
                ..ROW
            },
        ),
        asked(
            |_| ContainersQuery.into(),
            "580.95.05",
            Row {
                made_up: "nvidia-ctk runc dockerd",
                paths: "/run/ /etc/ /sys/ /usr/share/ /usr/libexec/ /proc/sys/ /dev/nvidia",
                before: "mkdir -p run/systemd/system run/cdi etc/docker etc/cdi etc/apparmor.d etc/nvidia-container-runtime sys/fs/cgroup proc/sys/kernel; >sys/fs/cgroup/cgroup.controllers; echo '{ \"exec-opts\": [\"native.cgroupdriver=systemd\"] }' >etc/docker/daemon.json; echo 'mode = \"cdi\"' >etc/nvidia-container-runtime/config.toml; printf 'kind: nvidia.com/gpu\\n- path: /dev/nvidia0\\n- hostPath: /usr/lib/libcuda.so.580.95.05\\n' >run/cdi/nvidia.yaml; >etc/apparmor.d/apptainer; echo 1 >proc/sys/kernel/apparmor_restrict_unprivileged_userns; echo 'NVIDIA Container Toolkit CLI version 1.17.8' >says.nvidia-ctk; echo 'runc version 1.1.5+ds1' >says.runc",
                ..ROW
            },
        ),
        Asked {
            optional: "ldconfig",
            ..asked(
                |_| ViewQuery.into(),
                "NCCL_DEBUG",
                Row {
                    made_up: "ldconfig mpirun",
                    paths: "/sys/ /dev/nvidia /dev/infiniband /etc/nccl.conf /proc/uptime /proc/self/net /proc/self/cgroup",
                    before: "mkdir -p sys/bus/pci/devices dev/infiniband etc lib proc/self/net; >dev/infiniband/rdma_cm; echo NCCL_DEBUG=INFO >etc/nccl.conf; >lib/libnccl.so.2.1; ln -s libnccl.so.2.1 lib/libnccl.so.2; printf '1 libs\n\tlibnccl.so.2 (libc6,x86-64) => %s/lib/libnccl.so.2\n' \"$S\" >says.ldconfig; echo '100.0 1.0' >proc/uptime; echo ' lo: 0' >proc/self/net/dev; echo '0::/jobs' >proc/self/cgroup",
                    ..ROW
                },
            )
        },
        asked(
            |_| SshdQuery.into(),
            "permitrootlogin",
            Row {
                paths: "/usr/sbin/sshd /etc/ssh/sshd_config",
                before: "mkdir -p usr/sbin etc/ssh; echo 'Include /etc/ssh/sshd_config.d/*.conf' >etc/ssh/sshd_config; printf '#!/bin/sh\necho permitrootlogin no\n' >usr/sbin/sshd; chmod +x usr/sbin/sshd",
                ..ROW
            },
        ),
    ]
}

/// The answer of a run, with the directory as `S`; `None` where there is none.
pub(crate) fn answer(sandbox: &Sandbox, shell: &[&str], asked: &Asked) -> Option<Json> {
    let at = sandbox.path().display().to_string();
    assert!(sandbox.ok(asked.row.before) || asked.row.before.is_empty(), "{}", asked.row.before);
    let query = (asked.query)(&at);
    if query.is::<LoginQuery>() {
        // It is asked in a login of its own, beside all others.
        let script = Script::new(sandbox.moved(LoginQuery::SCRIPT, asked.row.paths));
        let output = sandbox.main(shell, "", &render(&script));
        let read = LoginQuery::read(&Sections::split(&String::from_utf8(output.stdout).unwrap()));
        return Some(serde_json::to_value(read).unwrap());
    }
    let parts = batch(&BTreeSet::from([query.clone()]), Duration::from_secs(20));
    let mut facts = Facts::default();
    for part in &parts {
        let mut script = part.part.script.clone();
        script.text = sandbox.moved(&script.text, asked.row.paths).into();
        let output = sandbox.main(shell, "", &render(&script));
        let status = output.status.code().unwrap();
        facts.absorb(part, &PartEnd { index: 0, status, output: output.stdout, gap: None });
    }
    match facts.find(&query) {
        Some(Answer::Known(value)) => {
            let mut value = value.json();
            if query.is::<ViewQuery>() || query.is::<BaseQuery>() || query.is::<BuildQuery>() {
                still(&mut value);
            }
            Some(serde_json::from_str(&value.to_string().replace(&at, "S")).unwrap())
        }
        _ => None,
    }
}

/// Numbers of this machine move by themselves.
fn still(value: &mut Json) {
    match value {
        Json::Object(map) => map.values_mut().for_each(still),
        Json::Array(list) => list.iter_mut().for_each(still),
        Json::Number(_) => *value = Json::from(0),
        Json::Null | Json::Bool(_) | Json::String(_) => {}
    }
}

/// Whether an answer says what of it is not known, and why.
fn tells_gap(answer: &Json) -> bool {
    answer.as_object().is_some_and(|map| {
        let gap = |key: &String, value: &Json| (key == "Err" || key.ends_with("_gap")) && !value.is_null();
        map.iter().any(|(key, value)| gap(key, value) || tells_gap(value))
    })
}

/// Where two answers differ. What is null in a basic fact, or in one of these fields, is not known.
pub(crate) fn differences(at: &str, open: &str, whole: &Json, got: &Json, found: &mut Vec<String>) {
    match (whole, got) {
        (Json::Array(whole), Json::Array(got)) if whole.len() == got.len() => {
            for (whole, got) in whole.iter().zip(got) {
                differences(&format!("{at}[]"), open, whole, got, found);
            }
        }
        (Json::Object(whole), Json::Object(got)) => {
            for key in whole.keys().chain(got.keys()).collect::<BTreeSet<_>>() {
                let value = |map: &serde_json::Map<String, Json>| map.get(key).cloned().unwrap_or(Json::Null);
                differences(&format!("{at}.{key}"), open, &value(whole), &value(got), found);
            }
        }
        (_, Json::Null) if open == BASIC || open.split(' ').any(|field| field == at) => {}
        _ if whole == got => {}
        _ => found.push(format!("{at}: {whole} -> {got}")),
    }
}

/// Those, and all basic facts.
pub(crate) fn all_questions() -> Vec<Asked> {
    let mut all = questions();
    for fact in base::TABLE {
        // Only functions without an environment are rows.
        let query: fn(&str) -> Query = match fact.name {
            "arch" => |_| BaseQuery("arch").into(),
            "boot" => |_| BaseQuery("boot").into(),
            "busy" => |_| BaseQuery("busy").into(),
            "cpu" => |_| BaseQuery("cpu").into(),
            "hostname" => |_| BaseQuery("hostname").into(),
            "ids" => |_| BaseQuery("ids").into(),
            "init" => |_| BaseQuery("init").into(),
            "kernel" => |_| BaseQuery("kernel").into(),
            "memory" => |_| BaseQuery("memory").into(),
            "mig" => |_| BaseQuery("mig").into(),
            "modules" => |_| BaseQuery("modules").into(),
            "mounts" => |_| BaseQuery("mounts").into(),
            "network" => |_| BaseQuery("network").into(),
            "numa" => |_| BaseQuery("numa").into(),
            "nvlinks" => |_| BaseQuery("nvlinks").into(),
            "os" => |_| BaseQuery("os").into(),
            "pci" => |_| BaseQuery("pci").into(),
            "selinux" => |_| BaseQuery("selinux").into(),
            "ssh" => |_| BaseQuery("ssh").into(),
            "users" => |_| BaseQuery("users").into(),
            "virtualization" => |_| BaseQuery("virtualization").into(),
            other => panic!("{other} is not tried"),
        };
        // What comes and goes on this machine is made up.
        let row = match fact.name {
            "network" => Row {
                made_up: "ip",
                paths: "/sys/class /proc/net",
                before: "mkdir -p sys/class/net/e0; echo 1500 >sys/class/net/e0/mtu; echo '2: e0    inet 10.0.0.1/8 scope global e0' >says.ip",
                ..ROW
            },
            "mounts" => Row {
                paths: "/proc/self/mounts",
                before: "mkdir -p proc/self; echo '/dev/vda / ext4 rw 0 0' >proc/self/mounts",
                ..ROW
            },
            "modules" => Row {
                paths: "/proc/modules",
                before: "mkdir proc; echo 'dummy 16384 0 - Live 0x0000000000000000' >proc/modules",
                ..ROW
            },
            // Two of them hold a GPU, one in a container, and one is of a job.
            "busy" => Row {
                made_up: "systemctl",
                paths: "/proc/ /run/systemd/",
                before: "mkdir -p run/systemd/system proc/42/fd proc/43/fd proc/44/task/44; ln -s /dev/nvidia-uvm proc/42/fd/3; ln -s /dev/nvidia-uvm proc/43/fd/3; echo python | tee proc/42/comm >proc/43/comm; echo '0::/user.slice/session-3.scope/docker-0123456789abcdef.scope/x/cri-containerd-1.scope' >proc/43/cgroup; echo slurmstepd >proc/44/comm; echo Uid: 0 0 0 0 >proc/44/status; printf 'slurmstepd: [4711.0]\\0' >proc/44/cmdline; echo DevicePolicy=strict >says.systemctl",
                ..ROW
            },
            _ => ROW,
        };
        let known = if fact.name == "busy" { "python in docker-0123456789abcdef" } else { "" };
        all.push(Asked { open: BASIC, ..asked(query, known, row) });
    }
    all
}

/// The texts that are sent for them.
pub(crate) fn texts() -> Vec<String> {
    let login = LoginQuery::SCRIPT.to_owned();
    let queries = all_questions().into_iter().map(|asked| (asked.query)("S"));
    let parts = queries.flat_map(|query| batch(&BTreeSet::from([query]), Duration::from_secs(20)));
    parts.map(|part| part.part.script.text.clone().into_owned()).chain([login]).collect()
}

#[test]
fn no_question_is_answered_falsely() {
    let all: &'static [Asked] = Box::leak(all_questions().into_boxed_slice());
    let (mut tried, mut wrong) = (0, Vec::new());
    std::thread::scope(|scope| {
        let tries: Vec<_> = all
            .chunks(all.len().div_ceil(8))
            .map(|some| scope.spawn(move || some.iter().map(ask_without_tools).collect::<Vec<_>>()))
            .collect();
        for found in tries.into_iter().flat_map(|tries| tries.join().unwrap()) {
            tried += found.0;
            wrong.extend(found.1);
        }
    });
    assert!(wrong.is_empty(), "{} of {tried}:\n{}", wrong.len(), wrong.join("\n"));
    assert!(tried > 150, "{tried} runs");
}

/// How many runs there were, and which of them were answered falsely.
fn ask_without_tools(asked: &Asked) -> (usize, Vec<String>) {
    let (mut tried, mut wrong) = (0, Vec::new());
    let tools = format!("{TOOLS} {READERS}");
    let query = (asked.query)("S");
    let sandbox = Sandbox::with(&tools, asked.row.made_up, None);
    let Some(whole) = answer(&sandbox, SHELLS[0], asked) else {
        return (1, vec![format!("{query:?} with all tools: no answer")]);
    };
    if !whole.to_string().contains(asked.known) {
        wrong.push(format!("{query:?} with all tools: {whole}"));
    }
    let calls = fs::read_to_string(sandbox.path().join("calls")).unwrap_or_default();
    let called: BTreeSet<&str> = calls
        .lines()
        .filter(|tool| !asked.row.excepted.split(' ').any(|excepted| excepted == *tool))
        .collect();
    for (index, tool) in called.into_iter().enumerate() {
        for (number, how) in [Tool::Missing, Tool::Failing, Tool::Breaking].into_iter().enumerate() {
            if EXCEPTED.iter().any(|(label, excepted)| query.label().starts_with(label) && *excepted == tool)
            {
                continue;
            }
            if how == Tool::Missing && asked.optional.split(' ').any(|optional| optional == tool) {
                continue;
            }
            let shell = SHELLS[(index + number) % SHELLS.len()];
            tried += 1;
            let sandbox = Sandbox::with(&tools, asked.row.made_up, Some((tool, how)));
            let Some(got) = answer(&sandbox, shell, asked) else { continue };
            // Why a part of the answer is missing is in it.
            if tells_gap(&got) {
                continue;
            }
            let mut found = Vec::new();
            differences("", asked.open, &whole, &got, &mut found);
            if !found.is_empty() {
                wrong.push(format!("{shell:?} {query:?} with `{tool}` {how:?}: {}", found.join("; ")));
            }
        }
    }
    (tried, wrong)
}
