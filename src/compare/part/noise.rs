//! Things that differ on each host, or from one moment to the next.

use super::super::kind::Kind;

/// Whether a thing differs on each host, or from one moment to the next, and says nothing.
pub(super) fn is_noise(kind: Kind, key: &str) -> bool {
    let begins = |words: &str| words.split(' ').any(|word| key.starts_with(word));
    let ends = |words: &str| words.split(' ').any(|word| key.ends_with(word));
    match kind {
        Kind::Sysctl => {
            begins(
                "kernel.random. kernel.hostname kernel.domainname fs.dentry-state fs.inode- fs.file-nr \
                fs.aio-nr kernel.ns_last_pid net.netfilter.nf_conntrack_count kernel.pty.nr fs.quota. \
                kernel.cad_pid kernel.seccomp.actions_avail dev.cdrom. fs.nfs.nlm net.ipv4.conf.veth \
                net.ipv4.neigh.veth net.ipv6.conf.veth net.ipv6.neigh.veth net.ipv4.conf.br- \
                net.ipv4.neigh.br- net.ipv6.conf.br- net.ipv6.neigh.br- kernel.sched_domain user.max_ \
                net.ipv6.conf.all.stable_secret net.ipv4.tcp_fastopen_key fs.mqueue. kernel.threads-max \
                fs.epoll.max_user_watches",
            ) || ends(".stable_secret")
        }
        Kind::File => {
            begins("/etc/ssh/ssh_host_ /etc/machine-id /etc/hostname /etc/ld.so.cache /etc/adjtime")
                || ends("- .dpkg-old .dpkg-bak .lock /etc/mtab /etc/.updated /etc/.pwd.lock")
        }
        Kind::Environment => {
            begins("SSH_ SUDO_ XDG_SESSION XDG_RUNTIME DBUS_ INVOCATION_ID JOURNAL_STREAM")
                || ["_", "PWD", "OLDPWD", "SHLVL", "MAIL", "PPID"].contains(&key)
        }
        Kind::Unit => {
            begins("session- user@ user-runtime-dir@ run-user- run-credentials sshd@ ssh@")
                || key.contains("docker-overlay2")
                || key.contains("docker-netns")
        }
        Kind::Disk => ends("size") && key.starts_with("sr"),
        Kind::Memory => key.contains("ksm/pages_"),
        Kind::Link => ends("carrier_changes"),
        Kind::CommandLine => begins("BOOT_IMAGE initrd"),
        Kind::Account
        | Kind::Counter
        | Kind::Dkms
        | Kind::Ethtool
        | Kind::Firewall
        | Kind::Gpu
        | Kind::KernelLog
        | Kind::Library
        | Kind::Limit
        | Kind::Local
        | Kind::Module
        | Kind::Mount
        | Kind::Package
        | Kind::Parameter
        | Kind::Pci
        | Kind::Process
        | Kind::Processor
        | Kind::Python
        | Kind::Queue
        | Kind::Rdma
        | Kind::Route
        | Kind::Space
        | Kind::System => false,
    }
}
