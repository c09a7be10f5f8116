//! Our scripts with each tool that they call missing, or failing: none ends well with its work not done.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test")]
#![allow(clippy::disallowed_methods, reason = "tests start shells and programs")]

mod makers;
mod questions;

use std::collections::BTreeSet;
use std::fs;
use std::io::Write as _;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use crate::support::folders::scripts;
use crate::support::render;
use makers::Maker;
use provision::engine::state;
use provision::facts::ask::{Command as Asked, CommandQuery};
use provision::transport::Script;
use tempfile::TempDir;

/// busybox is not among them: it has most tools in itself and finds those whatever `PATH` says.
const SHELLS: &[&[&str]] = &[&["/bin/dash"], &["/bin/bash"]];

/// What stands for output that was lost.
const LEFT_OUT: &str = "[... output left out ...]";

/// What our scripts call of what every system has.
const TOOLS: &str = "awk base64 cat chmod chown cmp cp cut date dd df env find flock grep gzip head id ln ls make mkdir mkfifo mktemp \
     mv nproc readlink rm rmdir sed setsid sh sha256sum sleep sort ssh-keygen stat su tail tar timeout touch tr umount uname wc";

/// A text without those of its lines that lead out of the sandbox.
fn inside(text: &str) -> String {
    let lines = [
        "case $PATH in */dev/null) ;; *) PATH=$PATH:/usr/sbin:/sbin:/usr/bin:/bin ;; esac\n",
        "case ${PATH-} in */dev/null) ;; *) PATH=${PATH:+$PATH:}/usr/sbin:/usr/bin:/sbin:/bin ;; esac\n",
        "PATH=$PATH:/usr/local/sbin:/usr/local/bin\n",
        "PATH=$PATH:/usr/sbin:/sbin ",
    ];
    let text = lines.iter().fold(text.to_owned(), |text, line| text.replace(line, ""));
    let leads = text.lines().find(|line| line.contains("PATH:/") || line.contains("PATH:}/"));
    assert_eq!(leads, None, "it would run programs of this machine");
    text
}

/// One run of a script in an empty directory, `$S`, which is also where it begins.
struct Row {
    /// Files below `src`.
    files: &'static str,
    /// Parameters; `S` at their start stands for the directory, `<FILE` for what a file there has, and `<=FILE` for
    /// the text of one below `src`, as `unpack` takes it.
    words: &'static [&'static str],
    /// Programs that are made up: each writes its name and its words into `$S/log`, does what stands in
    /// `$S/does.NAME`, and prints what stands in `$S/says.NAME`.
    made_up: &'static str,
    /// Directories and files of the system that are below `$S` in this run.
    paths: &'static str,
    /// Shell text that comes before.
    before: &'static str,
    /// Shell text that ends with 0 when the work is done.
    done: &'static str,
    /// The first line of what it prints when it went well, where the status does not say so.
    well: &'static str,
    /// What stands in what it prints when it went well, unless it says that something was left out.
    says: &'static str,
    /// First words with which it says that nothing was done.
    denies: &'static str,
    /// Tools whose failure something else notices.
    excepted: &'static str,
}

const ROW: Row = Row {
    files: "",
    words: &[],
    made_up: "",
    paths: "",
    before: "",
    done: "",
    well: "",
    says: "",
    denies: "",
    excepted: "",
};

const WRITE: &str = "shell/common.sh shell/base64.sh shell/reach.sh resources/shared/after.sh resources/shared/put.sh resources/shared/write.sh";

/// `umlaut: ü`, which does not travel as it is.
const TEXT: &str = "dW1sYXV0OiDDvA==";

/// `echo ran >"$S/ran" # ü`
const SCRIPT: &str = "ZWNobyByYW4gPiIkUy9yYW4iICMgw7wK";

/// The same, and it prints `said`.
const TELLING: &str = "ZWNobyByYW4gPiIkUy9yYW4iCmVjaG8gc2FpZCAjIMO8Cg==";

/// The same behind 536 KiB, of which the end is kept apart.
const LONG: &str = "ZWNobyByYW4gPiIkUy9yYW4iCmk9MAp3aGlsZSBbICRpIC1sdCA5MDAwIF07IGRvCiAgICBlY2hvIDAxMjM0NTY3ODkwMTIzNDU2Nzg5MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDEyMzQ1Njc4OQogICAgaT0kKChpICsgMSkpCmRvbmUKZWNobyBzYWlkCg==";

/// The same with more output than the spool keeps.
const LOUD: &str = "ZWNobyByYW4gPiIkUy9yYW4iICMgw7wKZGQgaWY9L2Rldi96ZXJvIGJzPTEwMDAgY291bnQ9NzAwIDI+L2Rldi9udWxsIHwgdHIgIlwwMDAiIHgK";

/// The same, and it leaves a process behind that keeps what it writes to.
const LEAVING: &str = "c2xlZXAgMyAmCmVjaG8gcmFuID4iJFMvcmFuIgo=";

const STATE: &str = "shell/base64.sh shell/state_directory.sh engine/shell/state_functions.sh";

/// Somebody who has the lock, with a child that has it too, and with a task that runs.
const HOLDER: &str = "mkdir -p state/spool/k; echo install >state/spool/k/name
setsid sh -c 'exec 9>state/lock; flock 9; sleep 20 & read -r stat </proc/$$/stat; set -- ${stat##*) }; echo \"$$ ${20}\" >state/spool/k/pid; wait' </dev/null >/dev/null 2>&1 &
until [ -s state/spool/k/pid ]; do sleep 0.02; done
read -r pid start <state/spool/k/pid; echo $pid >pid; echo $start >start; echo \"run0 me@here $pid $start h 1\" >state/owner";

/// Whether neither the process of task `k` nor its child runs any more.
const ENDED: &str = "for pid in $(cat child) $(cut -d ' ' -f 1 state/spool/k/pid); do case $(cut -d ' ' -f 3 /proc/$pid/stat) in [!ZX]) exit 1 ;; esac; done";

/// Whether `engine/shell/upload.sh` named a place, with so much there as it says, or said why there is none.
const PLACED: &str = "IFS=$(printf '\\t') read -r word offset path place <told; case $word in full | failed | refused) ;; at) [ -f \"$place\" ] && [ \"$(readlink -f \"$path\")\" = \"$place\" ] && [ \"$(stat -c %s \"$place\")\" = \"$offset\" ] ;; *) exit 1 ;; esac";

/// A device of 2 MiB that holds nothing, for a made-up `blkid`.
const DISK: &str = "mknod disk b 7 200 && mkdir -p sys/class/block/disk && echo 4096 >sys/class/block/disk/size && echo 'exit 2' >does.blkid";

fn rows() -> Vec<Row> {
    let after = "shell/reach.sh resources/shared/after.sh";
    let with =
        |files: &str| -> &'static str { Box::leak(format!("shell/common.sh {files}").into_boxed_str()) };
    let engine = |files: &str| -> &'static str { Box::leak(format!("{STATE} {files}").into_boxed_str()) };
    // A frame that does not take the lock.
    let free = |files: &str| -> &'static str {
        Box::leak(
            format!("shell/state_directory.sh engine/shell/state_functions.sh {files}").into_boxed_str(),
        )
    };
    vec![
        Row {
            files: WRITE,
            words: &["S/file", "0640", "", "", TEXT],
            done: "[ \"$(cat file)\" = 'umlaut: ü' ]",
            ..ROW
        },
        Row {
            files: WRITE,
            words: &["S/file", "0640", "0:0", "", "=plain"],
            done: "[ \"$(cat file)\" = plain ]",
            ..ROW
        },
        Row {
            files: WRITE,
            words: &[
                "S/file",
                "0640",
                "",
                "3a6eb0790f39ac87c94f3856b2dd2c5d110e6811602261a9a923d3bb23adc8b7",
                "S/copy",
            ],
            before: "printf data >copy",
            done: "[ \"$(cat file)\" = data ]",
            ..ROW
        },
        Row {
            files: with(&format!("{after} resources/files/directory/directory.sh")),
            words: &["S/a/b", "0750", "0:0"],
            done: "[ -d a/b ]",
            ..ROW
        },
        Row {
            files: with("shell/reach.sh resources/files/directory/directory_remove.sh"),
            words: &["S/a"],
            before: "mkdir -p a/b; >a/b/c",
            done: "[ ! -e a ]",
            ..ROW
        },
        Row {
            files: with(&format!("{after} resources/shared/remove.sh")),
            words: &["S/a"],
            before: ">a",
            done: "[ ! -e a ]",
            ..ROW
        },
        Row {
            files: with(&format!("{after} resources/files/symlink/symlink.sh")),
            words: &["S/a", "/x"],
            done: "[ -L a ]",
            ..ROW
        },
        Row {
            files: with("shell/reach.sh resources/shared/attributes.sh"),
            words: &["S/a", "0751", "1:1", "1"],
            before: ">a",
            done: "[ \"$(stat -c %a:%u a)\" = 751:1 ]",
            ..ROW
        },
        Row {
            files: with(
                "shell/base64.sh shell/reach.sh resources/shared/after.sh resources/shared/put.sh resources/network/hosts_file/hosts_file.sh",
            ),
            words: &["S/hosts", TEXT],
            done: "[ -s hosts ]",
            ..ROW
        },
        Row { files: with("shell/base64.sh shell/each.sh"), words: &[SCRIPT], done: "[ -s ran ]", ..ROW },
        Row {
            files: with("shell/base64.sh resources/commands/wait_for/wait.sh"),
            words: &["0", "it", SCRIPT],
            done: "[ -s ran ]",
            ..ROW
        },
        Row {
            files: with("shell/base64.sh facts/ask/ask.sh"),
            words: &["", "1", "A=b", "script", "", SCRIPT],
            done: "[ -s ran ]",
            ..ROW
        },
        Row {
            files: with("shell/base64.sh facts/ask/ask.sh"),
            words: &["", "0", "script", "/bin/sh", SCRIPT],
            done: "[ -s ran ]",
            ..ROW
        },
        Row {
            files: with("shell/base64.sh facts/ask/ask.sh"),
            words: &["", "0", "argv", "touch", "S/ran"],
            done: "[ -e ran ]",
            ..ROW
        },
        Row {
            files: with("shell/base64.sh facts/as_user.sh"),
            words: &["root", SCRIPT],
            done: "[ -s ran ]",
            // Behind it stands `asked`.
            well: "\nasked",
            ..ROW
        },
        Row {
            files: with("resources/shared/get.sh resources/shared/fetch.sh shell/reach.sh resources/files/archive/archive.sh"),
            words: &["S/tree", "DIGEST", "file://S/tree.tgz", "0", "stamp", "S/tree/.stamp"],
            before: "mkdir t; echo x >t/x; tar -czf tree.tgz -C t .",
            done: "[ -s tree/x ] && [ -s tree/.stamp ]",
            ..ROW
        },
        Row {
            files: with(
                "shell/base64.sh shell/build_directory.sh shell/reach.sh resources/builds/prefix.sh shell/rooted.sh shell/rooted_below.sh resources/builds/build/build.sh",
            ),
            words: &[
                "it", "S/source", "S/prefix", "S/build", "make", "1", "1", "DESTDIR", TEXT, "0", "0", "0",
                "1", "install", "0",
            ],
            before: "mkdir source && printf 'all:\\n\\techo x >x\\ninstall:\\n\\tmkdir -p $(DESTDIR)%s/prefix && cp x $(DESTDIR)%s/prefix && ln -s x $(DESTDIR)%s/prefix/y\\n' \"$S\" \"$S\" \"$S\" >source/Makefile",
            done: "[ -s prefix/x ] && [ -s prefix/.provision/sha256 ] && [ -s prefix/.provision/links ] && [ -s prefix/.provision/sizes ] && grep -q 'üresult .*[0-9a-f]' prefix/.provision/stamp && grep -q '^from' prefix/.provision/stamp",
            ..ROW
        },
        Row { files: with("resources/kernel/sysctl/sysctl.sh"), words: &["S/value", "1"], done: "[ -s value ]", ..ROW },
        // Programs of the system, which are made up.
        Row {
            files: with("shell/package_holder.sh resources/shared/apt.sh"),
            words: &["install", "Package: x", "tool"],
            made_up: "apt-get",
            done: "grep -q 'apt-get.*install.*tool' log",
            ..ROW
        },
        Row {
            files: with("shell/package_holder.sh resources/shared/apt.sh"),
            words: &["update", ""],
            made_up: "apt-get",
            done: "grep -q update log",
            ..ROW
        },
        Row {
            files: with("shell/package_holder.sh resources/shared/apt.sh"),
            words: &["source", "", "S/source", "S/list"],
            made_up: "apt-get",
            before: ": >source",
            done: "[ -e source ] && grep -q indextargets log && grep -q 'update .*sourcelist=' log",
            ..ROW
        },
        Row {
            files: with("resources/shared/dnf.sh"),
            words: &["dnf", "latest", "", "x"],
            made_up: "dnf",
            done: "grep -q upgrade log",
            ..ROW
        },
        Row {
            files: with("resources/accounts/account.sh"),
            words: &["useradd", "x"],
            made_up: "useradd",
            done: "[ -s log ]",
            ..ROW
        },
        Row {
            files: with("resources/gpu/nvidia_driver/driver_hold.sh"),
            words: &["550"],
            made_up: "apt-mark dpkg-query",
            before: "printf 'nvidia-driver 550.1' >says.dpkg-query",
            done: "grep -q 'hold.*nvidia-driver' log",
            ..ROW
        },
        Row {
            files: with("resources/network/firewall/firewall.sh"),
            words: &["nftables", "10.0.0.0/8", "missing", "missing", "inet", "f", "input", "S/nft"],
            made_up: "nft",
            before: "printf '# comment' >nft",
            done: "grep -q '^insert' nft && grep -q '^nft insert' log",
            ..ROW
        },
        Row {
            files: with("resources/network/firewall/firewall.sh"),
            words: &["firewalld", "10.0.0.0/8", "missing", "missing"],
            made_up: "firewall-cmd",
            done: "[ \"$(wc -l <log)\" = 2 ]",
            ..ROW
        },
        Row {
            files: with("resources/network/firewall/firewall_restore.sh"),
            words: &["nftables"],
            made_up: "nft",
            before: "echo x >ruleset",
            done: "[ -s log ] && [ -s restore.nft ]",
            ..ROW
        },
        Row {
            files: with("resources/kernel/kernel_cmdline/cmdline.sh"),
            words: &["add", "x"],
            made_up: "grubby",
            done: "[ -s log ]",
            ..ROW
        },
        Row {
            files: with("resources/kernel/kernel_cmdline/cmdline.sh"),
            words: &["without", "x=1 y"],
            made_up: "update-grub",
            paths: "/etc/default",
            before: "mkdir -p etc/default/grub.d; echo 'GRUB_CMDLINE_LINUX=\"quiet yy y\"' >etc/default/grub",
            done: "grep -q update-grub log",
            ..ROW
        },
        Row {
            files: with("resources/kernel/module.sh"),
            words: &["reload", "x"],
            made_up: "modprobe",
            done: "[ \"$(wc -l <log)\" = 2 ]",
            ..ROW
        },
        Row {
            files: with("resources/network/netdev/netdev.sh"),
            words: &["none", "e0", "9000", "", "", "10.0.0.1/8"],
            made_up: "ip",
            done: "grep -q 'addr add' log && grep -q 'mtu 9000' log",
            ..ROW
        },
        Row {
            files: with("resources/network/netdev/netdev_restore.sh"),
            words: &["networkd", "e0", "1500", "", "", ""],
            made_up: "ip networkctl",
            done: "grep -q reload log && grep -q 'mtu 1500' log",
            ..ROW
        },
        Row {
            files: with("resources/network/netdev/netdev_routes.sh"),
            words: &["none", "e0", "", "101", "from=10.0.0.1", "to=10.0.0.0/8"],
            made_up: "ip",
            done: "grep -q 'rule add from 10.0.0.1 table 101' log && grep -q 'route replace 10.0.0.0/8 dev e0 table 101' log",
            ..ROW
        },
        Row {
            files: with("resources/network/netdev/netdev_routes.sh"),
            words: &["networkmanager", "e0", "u", "101", "from=10.0.0.1", "via=10.0.0.2"],
            made_up: "ip nmcli",
            before: "echo '101: from 10.0.0.1 lookup 101' >says.ip; echo 'default via 10.0.0.2 ' >>says.ip",
            done: "grep -q '+ipv4.routing-rules priority 101 from 10.0.0.1 table 101' log && grep -q '+ipv4.routes 0.0.0.0/0 10.0.0.2 table=101' log && grep -q 'device reapply' log",
            ..ROW
        },
        Row {
            files: with("resources/network/netdev/netdev_routes_restore.sh"),
            words: &["networkmanager", "e0", "u", "101", "from=10.0.0.1", "to=10.0.0.0/8"],
            made_up: "ip nmcli",
            done: "grep -q -- '-ipv4.routing-rules priority 101' log && grep -q 'rule del from 10.0.0.1 table 101' log && grep -q 'route del 10.0.0.0/8' log && grep -q 'device reapply' log",
            ..ROW
        },
        Row {
            files: with("resources/kernel/pcie/pcie.sh"),
            words: &["0000:00:00.0=512"],
            made_up: "setpci",
            done: "grep -q CAP_EXP+8.w=2 log",
            ..ROW
        },
        Row {
            files: with("resources/rdma/rdma_link/rdma_link.sh"),
            words: &["add", "x0", "rxe", "e0", "rdma_rxe", ""],
            made_up: "rdma modprobe",
            done: "grep -q 'link add' log",
            ..ROW
        },
        Row {
            files: with("resources/shared/unit.sh"),
            words: &["start", "x"],
            made_up: "systemctl",
            done: "grep -q 'start.*x' log",
            ..ROW
        },
        Row {
            files: with("resources/shared/unit_restore.sh"),
            words: &["restart", "x"],
            made_up: "systemctl",
            done: "grep -q restart log",
            ..ROW
        },
        Row {
            files: with("shell/rooted.sh shell/rooted_below.sh resources/builds/library_path/library_path.sh"),
            words: &["S/lib", "/x"],
            before: "mkdir lib",
            made_up: "ldconfig",
            done: "[ -s log ]",
            ..ROW
        },
        Row {
            files: with("shell/rooted.sh shell/rooted_below.sh shell/reach.sh resources/packages/pip/pip.sh"),
            words: &["S/venv", "python", "", "install", "x"],
            made_up: "python",
            before: "mkdir -p venv/bin; printf '#!/bin/sh\\necho pip >>\"$S/log\"\\n' >venv/bin/python; chmod +x venv/bin/python",
            done: "grep -q pip log",
            ..ROW
        },
        Row {
            files: with("shell/rooted.sh shell/rooted_below.sh resources/builds/git/git_rooted.sh shell/reach.sh resources/builds/git/git.sh"),
            words: &["S/checkout", "S/origin", "branch", "main", "", ""],
            made_up: "git",
            before: "mkdir -p checkout/.git; echo 'case \"$*\" in *--list*) printf \"file:.git/config\\\\000core.bare\\\\nfalse\\\\000\" ;; *ls-tree*) ;; *) echo 0123 ;; esac' >does.git",
            done: "grep -q 'checkout -q' log",
            ..ROW
        },
        Row {
            files: with("shell/base64.sh shell/reach.sh resources/shared/after.sh resources/shared/put.sh resources/ssh/sshd/sshd.sh"),
            words: &["S/sshd.conf", "present", TEXT],
            made_up: "sshd",
            done: "[ -s sshd.conf ]",
            ..ROW
        },
        Row {
            files: with("shell/base64.sh shell/reach.sh resources/shared/after.sh resources/shared/put.sh resources/ssh/sshd/sshd.sh"),
            words: &["S/sshd.conf", "absent", ""],
            made_up: "sshd",
            before: "echo x >sshd.conf",
            done: "[ ! -e sshd.conf ]",
            ..ROW
        },
        // Keys, files and mounts.
        Row {
            files: with(
                "shell/base64.sh shell/reach.sh resources/shared/put.sh resources/shared/ssh_directory.sh resources/shared/ssh_file.sh",
            ),
            words: &["S/home/.ssh", "0", "0", "config", TEXT],
            before: "mkdir home",
            done: "[ \"$(cat home/.ssh/config)\" = 'umlaut: ü' ]",
            ..ROW
        },
        Row {
            files: with("shell/reach.sh resources/shared/ssh_directory.sh resources/ssh/ssh_key/ssh_key.sh"),
            words: &["S/home/.ssh", "0", "0", "id", "ed25519", "me"],
            before: "mkdir home",
            done: "ssh-keygen -y -P '' -f home/.ssh/id && grep -q me home/.ssh/id.pub",
            ..ROW
        },
        Row {
            files: with("shell/reach.sh resources/shared/ssh_directory.sh resources/ssh/ssh_key/ssh_key.sh"),
            words: &["S/home/.ssh", "0", "0", "id", "ed25519", "me"],
            before: "mkdir -p home/.ssh && ssh-keygen -q -t ed25519 -N '' -f home/.ssh/id && rm home/.ssh/id.pub",
            done: "[ \"$(cut -d ' ' -f 1-2 home/.ssh/id.pub)\" = \"$(ssh-keygen -y -P '' -f home/.ssh/id | cut -d ' ' -f 1-2)\" ]",
            ..ROW
        },
        Row {
            files: with("resources/shared/get.sh shell/reach.sh resources/shared/after.sh resources/packages/repository/key.sh"),
            words: &["S/keys/x.gpg", "file://S/key", "ABCD"],
            made_up: "gpg apt-get",
            before: "echo key >key; printf 'pub:-:\\nfpr:::::::::ABCD:\\n' >says.gpg",
            done: "[ -s keys/x.gpg ]",
            ..ROW
        },
        Row {
            files: with("resources/shared/get.sh shell/reach.sh resources/shared/after.sh resources/packages/repository/key.sh"),
            words: &["S/keys/x.gpg", "file://S/key", "ABCD"],
            made_up: "gpg",
            before: "echo key >key; printf 'pub:-:\\nfpr:::::::::ABCD:\\n' >says.gpg",
            done: "[ -s keys/x.gpg ] && [ -s log ]",
            ..ROW
        },
        Row {
            files: with("shell/reach.sh resources/files/mount/mount.sh"),
            words: &["mount", "S/a/b"],
            made_up: "mount systemctl",
            done: "[ -d a/b ] && grep -q '^mount .*a/b$' log",
            ..ROW
        },
        Row {
            files: with("shell/reach.sh resources/files/mount/mount.sh"),
            words: &["umount", "S/a"],
            made_up: "umount",
            done: "grep -q '^umount .*a$' log",
            ..ROW
        },
        Row {
            files: with("resources/network/hostname/hostname.sh"),
            words: &["n1"],
            made_up: "hostname hostnamectl",
            paths: "/etc/hostname /proc/sys/kernel/hostname /run/systemd",
            before: "mkdir -p etc proc/sys/kernel run/systemd/system; echo n0 >proc/sys/kernel/hostname; echo 'echo \"$1\" >proc/sys/kernel/hostname' >does.hostname",
            done: "[ \"$(sort -u etc/hostname proc/sys/kernel/hostname)\" = n1 ]",
            ..ROW
        },
        // The initramfs, the loader, the boot.
        Row {
            files: with("resources/shared/initramfs.sh"),
            words: &["S/options"],
            made_up: "update-initramfs",
            paths: "/boot /proc/sys/kernel/osrelease",
            before: "mkdir -p boot proc/sys/kernel; echo 6.1 >proc/sys/kernel/osrelease; >boot/initrd.img-6.1",
            done: "grep -q 'update-initramfs -u -k 6.1' log",
            ..ROW
        },
        Row {
            files: with("resources/shared/initramfs.sh"),
            words: &["S/options"],
            made_up: "dracut",
            paths: "/boot /proc/sys/kernel/osrelease",
            before: "mkdir -p boot proc/sys/kernel; echo 6.1 >proc/sys/kernel/osrelease; >boot/initramfs-6.1.img",
            done: "grep -q 'dracut -f .* 6.1' log",
            ..ROW
        },
        Row {
            files: with("resources/shared/initramfs_module.sh resources/shared/initramfs.sh"),
            words: &["mlx5_core", "S/options"],
            made_up: "lsinitramfs update-initramfs",
            paths: "/boot /proc/sys/kernel/osrelease",
            before: "mkdir -p boot proc/sys/kernel; echo 6.1 >proc/sys/kernel/osrelease; >boot/initrd.img-6.1; printf 'x/a.ko\\nx/mlx5-core.ko.xz\\n' >says.lsinitramfs",
            done: "grep -q 'update-initramfs -u -k 6.1' log",
            ..ROW
        },
        Row {
            files: with("resources/kernel/reboot/initramfs_of.sh"),
            words: &["6.1"],
            made_up: "update-initramfs",
            paths: "/boot",
            before: "mkdir boot; >boot/initrd.img-6.1",
            done: "grep -q 'update-initramfs -u -k 6.1' log",
            ..ROW
        },
        Row {
            files: with("resources/kernel/reboot/initramfs_of.sh"),
            words: &["6.1"],
            made_up: "dracut",
            paths: "/boot",
            before: "mkdir boot; >boot/initramfs-6.1.img",
            done: "grep -q 'dracut -f .* 6.1' log",
            ..ROW
        },
        Row {
            files: with("shell/rooted.sh shell/rooted_below.sh resources/builds/library_path/library_path.sh"),
            words: &["", "S/lib"],
            made_up: "ldconfig",
            paths: "/etc/ld.so.conf",
            before: "mkdir -p etc/ld.so.conf.d; echo \"$S/lib\" >etc/ld.so.conf.d/x.conf",
            done: "grep -q 'is named by' told",
            ..ROW
        },
        Row {
            files: with("resources/kernel/reboot/reboot.sh"),
            made_up: "sync systemctl shutdown",
            paths: "/run/systemd",
            before: "mkdir -p run/systemd/system",
            // Whether systemd then does it the boot id tells.
            done: "sleep 2; grep -q '^systemctl reboot' log",
            excepted: "systemctl",
            ..ROW
        },
        // From host to host.
        Row {
            files: with(
                "shell/base64.sh shell/reach.sh resources/shared/after.sh resources/shared/put.sh resources/builds/over_mesh.sh resources/builds/distribute/distribute.sh",
            ),
            words: &[
                "S/file",
                "0640",
                "",
                "3a6eb0790f39ac87c94f3856b2dd2c5d110e6811602261a9a923d3bb23adc8b7",
                "4",
                "root",
                "n1",
            ],
            made_up: "ssh",
            before: "printf data >says.ssh",
            done: "[ \"$(cat file)\" = data ]",
            ..ROW
        },
        Row {
            files: with(
                "shell/base64.sh shell/reach.sh resources/builds/prefix.sh resources/builds/over_mesh.sh resources/builds/build_once/build_fetch.sh",
            ),
            words: &["it", "S/prefix", "=from x", "9", "root", "n1"],
            made_up: "ssh",
            before: "mkdir -p t/.provision; echo x >t/x; ln -s x t/y; printf 'from x\\nresult 1\\n' >t/.provision/stamp; cd t; sha256sum ./x >.provision/sha256; echo './y -> x' >.provision/links; tar -cf ../says.ssh .",
            done: "[ -s prefix/x ] && [ -L prefix/y ] && [ -s prefix/.provision/stamp ]",
            ..ROW
        },
        Row {
            files: with(
                "shell/base64.sh resources/shared/get.sh resources/shared/fetch.sh shell/reach.sh resources/shared/after.sh resources/shared/put.sh resources/shared/download.sh",
            ),
            words: &["S/file", "0640", "", "DIGEST", "http://mirror/tree"],
            made_up: "curl",
            before: "echo data >tree.tgz; echo 'while [ \"$1\" != -o ]; do shift; done; cp tree.tgz \"$2\"' >does.curl",
            done: "[ \"$(cat file)\" = data ]",
            ..ROW
        },
        Row {
            files: with(
                "shell/base64.sh resources/shared/get.sh resources/shared/fetch.sh shell/reach.sh resources/shared/after.sh resources/shared/put.sh resources/shared/download.sh",
            ),
            words: &["S/file", "0640", "", "DIGEST", "http://mirror/tree"],
            made_up: "wget",
            before: "echo data >tree.tgz; echo 'while [ \"$1\" != -O ]; do shift; done; cp tree.tgz \"$2\"' >does.wget",
            done: "[ \"$(cat file)\" = data ]",
            ..ROW
        },
        // The driver.
        Row {
            files: with("resources/gpu/nvidia_driver/driver_units.sh resources/gpu/nvidia_driver/driver_load.sh"),
            words: &["load"],
            made_up: "modprobe",
            paths: "/run/systemd /sys/module",
            done: "grep -q '^modprobe nvidia$' log",
            ..ROW
        },
        Row {
            files: with("resources/gpu/nvidia_driver/driver_units.sh resources/gpu/nvidia_driver/driver_load.sh"),
            words: &["reload"],
            made_up: "modprobe systemctl",
            paths: "/run/systemd /sys/module",
            before: "mkdir -p run/systemd/system sys/module/nvidia sys/module/nvidia_uvm",
            done: "[ \"$(grep -c '^modprobe -r' log)\" = 2 ] && grep -q '^modprobe nvidia$' log && { ! grep -q '^systemctl stop' log || grep -q '^systemctl start' log; }",
            ..ROW
        },
        Row {
            files: with("facts/driver/nvidia_module.sh resources/gpu/nvidia_driver/driver_modules.sh"),
            words: &["550", "6.1"],
            made_up: "modinfo dkms",
            paths: "/var/lib/dkms /lib/modules",
            before: "echo 'version:        535.1' >says.modinfo; echo \"echo 'version:   550.1' >says.modinfo\" >does.dkms",
            done: "grep -q 'dkms autoinstall' log && grep -q 550 says.modinfo",
            ..ROW
        },
        Row {
            files: with(
                "resources/shared/get.sh resources/shared/fetch.sh resources/gpu/nvidia_driver/driver_units.sh resources/gpu/nvidia_driver/driver_runfile.sh",
            ),
            words: &["file://S/tree.tgz", "DIGEST", "--x"],
            made_up: "dkms",
            paths: "/run/systemd /sys/module /var/log",
            before: "echo 'echo \"$*\" >ran' >tree.tgz",
            done: "grep -q silent ran",
            ..ROW
        },
        Row {
            files: with("resources/gpu/nvidia_driver/driver_stream.sh"),
            words: &["dnf", "nvidia-driver:550"],
            made_up: "dnf",
            done: "grep -q 'module enable nvidia-driver:550' log",
            ..ROW
        },
        Row {
            files: with("resources/gpu/nvidia_driver/driver_units.sh resources/gpu/nvidia_driver/driver_uninstall.sh"),
            words: &["uninstall"],
            made_up: "uninstall modprobe systemctl",
            paths: "/run/systemd /sys/module /var/log",
            before: "mkdir -p run/systemd/system sys/module/nvidia",
            done: "grep -q '^uninstall --silent' log",
            ..ROW
        },
        // Links and the firewall.
        Row {
            files: with("resources/network/netdev/netdev.sh"),
            words: &["networkmanager", "e0", "9000", "u", "infiniband.mtu", "10.0.0.1/8"],
            made_up: "ip nmcli",
            done: "grep -q 'modify uuid u infiniband.mtu 9000' log && grep -q 'nmcli connection modify uuid u +ipv4.addresses 10.0.0.1/8' log && grep -q 'nmcli device reapply e0' log && grep -q 'mtu 9000' log",
            ..ROW
        },
        Row {
            files: with("resources/network/netdev/netdev.sh"),
            words: &["netplan", "e0", "9000", "", "802-3-ethernet.mtu", ""],
            made_up: "ip netplan",
            before: "echo '1: e0 mtu 9000   ' >says.ip",
            done: "grep -q 'netplan apply' log && grep -q 'set dev e0 mtu 9000' log",
            ..ROW
        },
        Row {
            files: with("resources/network/netdev/netdev_restore.sh"),
            words: &["networkmanager", "e0", "1500", "u", "802-3-ethernet.mtu", "1500", "10.0.0.1/8"],
            made_up: "ip nmcli",
            done: "grep -q -- '-ipv4.addresses 10.0.0.1/8' log && grep -q 'device reapply' log && grep -q 'mtu 1500' log",
            ..ROW
        },
        Row {
            files: with(
                "shell/base64.sh shell/reach.sh resources/shared/after.sh resources/shared/put.sh resources/network/netdev/netdev_write.sh",
            ),
            words: &["S/a/file", "0640", "", "", TEXT, "source x"],
            paths: "/etc/network",
            before: "mkdir -p etc/network",
            done: "[ -s a/file ] && grep -q 'source x' etc/network/interfaces",
            ..ROW
        },
        Row {
            files: with("resources/kernel/pcie/pcie.sh"),
            words: &["acs=off"],
            made_up: "setpci",
            paths: "/sys/bus",
            before: "mkdir -p sys/bus/pci/devices/0000:00:01.0; echo 0x060400 >sys/bus/pci/devices/0000:00:01.0/class; echo 001d >says.setpci",
            done: "grep -q 'ECAP_ACS+0x6.w=0000' log",
            ..ROW
        },
        Row {
            files: with("resources/network/firewall/firewall.sh"),
            words: &["ufw", "10.0.0.0/8", "missing", "missing"],
            made_up: "ufw",
            done: "[ -s log ]",
            ..ROW
        },
        Row {
            files: with("resources/network/firewall/firewall_restore.sh"),
            words: &["ufw"],
            made_up: "ufw",
            done: "[ -s log ]",
            ..ROW
        },
        Row {
            files: with("resources/shared/sshd_reload.sh"),
            made_up: "sshd systemctl",
            paths: "/run/sshd /run/systemd",
            before: "mkdir -p run/systemd/system run/sshd",
            done: "grep -q 'systemctl reload' log",
            ..ROW
        },
        Row {
            files: "shell/roce_device.sh shell/rooted.sh resources/rdma/roce/roce.sh",
            words: &["e0", "dscp", "0,0,0,1,0,0,0,0", "3", "26:3", "-", "-", "48", "6"],
            made_up: "mlnx_qos",
            paths: "/sys",
            before: "mkdir -p sys/class/net/e0/ecn/roce_np/enable sys/class/net/e0/ecn/roce_rp/enable; echo 0 >sys/class/net/e0/ecn/roce_np/enable/3; echo 0 >sys/class/net/e0/ecn/roce_rp/enable/3; cd sys/class/net/e0/ecn/roce_np && echo 0 >cnp_dscp && echo 0 >cnp_802p_prio",
            done: "grep -q 48 sys/class/net/e0/ecn/roce_np/cnp_dscp && grep -q 6 sys/class/net/e0/ecn/roce_np/cnp_802p_prio && grep -q 'trust dscp' log && grep -q 'pfc 0,0,0,1' log && grep -q 'set,26,3' log && grep -q 1 sys/class/net/e0/ecn/roce_np/enable/3 && grep -q 1 sys/class/net/e0/ecn/roce_rp/enable/3",
            ..ROW
        },
        Row {
            files: "shell/roce_device.sh shell/rooted.sh resources/rdma/roce/roce.sh",
            words: &["e0", "dscp", "0,0,0,1,0,0,0,0", "-", "26:3", "-", "-", "-", "-"],
            made_up: "dcb",
            paths: "/sys",
            before: "mkdir -p sys/class/net/e0",
            done: "grep -q 'pfc set dev e0 prio-pfc all:off 3:on' log && grep -q 'dscp-prio 26:3' log",
            ..ROW
        },
        Row {
            files: "shell/roce_device.sh shell/rooted.sh resources/rdma/roce/roce.sh",
            words: &["e0", "-", "-", "-", "-", "106", "96", "-", "-"],
            made_up: "modprobe",
            paths: "/sys",
            before: "d=sys/class/infiniband/x0; mkdir -p sys/class/net/e0 $d/ports/1/gid_attrs/ndevs $d/tc/1 sys/kernel/config/rdma_cm/x0/ports/1; echo e0 >$d/ports/1/gid_attrs/ndevs/0; >$d/tc/1/traffic_class",
            done: "grep -q 106 sys/kernel/config/rdma_cm/x0/ports/1/default_roce_tos && grep -q 96 sys/class/infiniband/x0/tc/1/traffic_class",
            ..ROW
        },
        Row {
            files: with("shell/base64.sh engine/shell/proxy.sh shell/each.sh"),
            words: &["http://proxy", "x", SCRIPT],
            done: "[ -s ran ]",
            ..ROW
        },
        // What the engine runs.
        Row {
            files: engine("engine/shell/spool.sh"),
            words: &["k", "task", "run1", "here", "", "c", TELLING, "h", "handler"],
            done: "[ -s ran ] && [ -s state/notify/h ] && [ -s state/spool/k/status ]",
            well: "ended 0",
            says: "said",
            denies: "failed unwritable",
            ..ROW
        },
        Row {
            files: engine("engine/shell/spool.sh"),
            words: &["k", "task", "run1", "here", "", "c", LONG],
            done: "[ -s ran ] && [ -s state/spool/k/status ]",
            well: "ended 0",
            says: "said",
            denies: "failed unwritable",
            // Where they break the command waits for its deadline, since nobody reads what it prints.
            excepted: "dd tail",
            ..ROW
        },
        // As a unit, which begins a moment later.
        Row {
            files: engine("engine/shell/spool.sh"),
            words: &["k", "task", "run1", "detach", "", "c", TELLING],
            made_up: "systemd-run",
            paths: "/run/systemd",
            before: "mkdir -p run/systemd/system; cat >does.systemd-run <<'END'
while [ \"$1\" != /bin/sh ]; do shift; done
{ /bin/sleep 0.5; exec \"$@\"; } >/dev/null 2>&1 &
END",
            done: "[ -s ran ] && [ -s state/detached/k ]",
            well: "ended 0",
            says: "said",
            ..ROW
        },
        Row {
            files: engine("engine/shell/undo_keep.sh"),
            words: &["x", "0", SCRIPT, SCRIPT, "S/kept"],
            before: "echo x >kept",
            done: "[ -s ran ] && [ -s state/undo/x/kept/0.old ] && [ -s state/undo/x/kept/0.path ] && [ -s state/undo/x/restore/0 ]",
            well: "kept",
            ..ROW
        },
        Row {
            files: engine("engine/shell/undo_keep.sh"),
            words: &["x", "1", "", "", "S/kept"],
            before: "echo x >kept",
            done: "[ -s state/undo/x/deadline ] && [ -s state/undo/x/timer ] && sleep 2 && [ -e state/undo/x/done ]",
            well: "armed",
            ..ROW
        },
        Row {
            files: engine("engine/shell/undo_end.sh"),
            words: &["confirm", "x"],
            before: "mkdir -p state/undo/x/armed",
            done: "[ ! -e state/undo/x/armed ]",
            well: "confirmed",
            ..ROW
        },
        Row {
            files: engine("engine/shell/undo_end.sh"),
            words: &["undo", "x"],
            before: "mkdir -p state/undo/x/armed state/undo/x/kept; echo \"$S/kept\" >state/undo/x/kept/0.path; echo old >state/undo/x/kept/0.old; echo new >kept; mkdir state/undo/x/restore; echo 'echo ran >\"$S/ran\"' >state/undo/x/restore/0; sed -n \"/^timer='/,/^'/p\" \"$SRC/engine/shell/undo_keep.sh\" | sed '1d;$d' >state/undo/x/timer",
            done: "[ \"$(cat kept)\" = old ] && [ -s ran ]",
            well: "undone",
            ..ROW
        },
        Row {
            files: engine("engine/shell/fence.sh engine/shell/tidy.sh"),
            words: &["h", "--", "k"],
            before: "mkdir -p state/notify state/spool/k; >state/notify/h",
            done: "[ ! -e state/notify/h ] && [ ! -e state/spool/k ]",
            denies: "refused",
            ..ROW
        },
        // The lock, tasks and large files.
        Row {
            files: free("engine/shell/unlock.sh"),
            words: &["<state/owner", "<pid", "<start", "me@there"],
            before: HOLDER,
            done: "flock -n state/lock true && grep -q '^unlock me@there ' state/owner",
            ..ROW
        },
        Row {
            files: free("engine/shell/take_over.sh"),
            words: &["<pid", "<start"],
            before: HOLDER,
            done: "flock -n state/lock true",
            ..ROW
        },
        Row {
            files: free("engine/shell/lock_owner.sh"),
            before: HOLDER,
            // Where there is no flock nobody has the lock.
            done: "[ ! -e bin/flock ] || { grep -q '^owner.run0 me@here' told && grep -q '^task.install' told; }",
            ..ROW
        },
        // What has a session of its own, and is of the task still.
        Row {
            files: free("engine/shell/end_task.sh"),
            words: &["k"],
            before: "mkdir -p state/spool/k
setsid sh -c 'read -r stat </proc/$$/stat; set -- ${stat##*) }; setsid sleep 20 & echo $! >child; echo \"$$ ${20}\" >state/spool/k/pid; wait' </dev/null >/dev/null 2>&1 &
until [ -s state/spool/k/pid ]; do sleep 0.02; done",
            done: ENDED,
            says: "unit no",
            ..ROW
        },
        // What is no child of it any more has its mark.
        Row {
            files: free("engine/shell/end_task.sh"),
            words: &["k"],
            before: "mkdir -p state/spool/k
setsid sh -c 'read -r stat </proc/$$/stat; set -- ${stat##*) }; export PROVISION_TASK=k.$$.${20}; setsid sh -c \"sleep 20 & echo \\$! >child\"; echo \"$$ ${20}\" >state/spool/k/pid; sleep 20' </dev/null >/dev/null 2>&1 &
until [ -s state/spool/k/pid ]; do sleep 0.02; done",
            done: ENDED,
            says: "unit no",
            // `unit no` says that such a one may be left.
            excepted: "grep",
            ..ROW
        },
        Row {
            files: engine("engine/shell/follow.sh"),
            words: &["k"],
            before: "mkdir -p state/spool/k; : >state/spool/k/cmd
{ sleep 0.3; read -r stat </proc/self/stat; set -- ${stat##*) }; echo \"$1\" >state/spool/k/ran; echo out >state/spool/k/out; printf said >state/spool/k/tail; echo 0 >state/spool/k/status; } </dev/null >/dev/null 2>&1 &",
            done: "[ -s state/spool/k/ran ]",
            well: "ended 0",
            says: "said",
            ..ROW
        },
        Row {
            files: engine("shell/common.sh shell/reach.sh engine/shell/upload.sh"),
            words: &["k.1", "", "9", "S/a/file"],
            paths: "/var/tmp",
            before: "mkdir -p a var/tmp && chmod 1777 var/tmp",
            done: PLACED,
            ..ROW
        },
        // Some of it is there.
        Row {
            files: engine("shell/common.sh shell/reach.sh engine/shell/upload.sh"),
            words: &["k.1", "", "9", "S/a/file"],
            paths: "/var/tmp",
            before: "mkdir -p a var/tmp state/upload && chmod 1777 var/tmp && printf abc >state/upload/k.1 && printf old >state/upload/k.0",
            done: PLACED,
            ..ROW
        },
        // All of it is there, beside its target.
        Row {
            files: engine("shell/common.sh shell/reach.sh engine/shell/upload.sh"),
            words: &[
                "k.1",
                "3a6eb0790f39ac87c94f3856b2dd2c5d110e6811602261a9a923d3bb23adc8b7",
                "4",
                "S/a/file",
            ],
            paths: "/var/tmp",
            before: "mkdir -p a var/tmp/provision-upload-0 && chmod 1777 var/tmp && chmod 700 var/tmp/* && printf data >a/.provision.upload.k.1 && ln -s \"$S/a/.provision.upload.k.1\" var/tmp/provision-upload-0/k.1",
            done: PLACED,
            ..ROW
        },
        Row {
            files: engine("engine/shell/upload_drop.sh"),
            words: &["k", "l"],
            paths: "/var/tmp",
            before: "mkdir -p state/upload var/tmp/provision-upload-0 && chmod 700 var/tmp/* && >state/upload/k && >.provision.upload.l && ln -s \"$S/.provision.upload.l\" var/tmp/provision-upload-0/l",
            done: "[ ! -e state/upload/k ] && [ ! -e .provision.upload.l ] && [ ! -L var/tmp/provision-upload-0/l ]",
            // The next run looks for the directory again.
            excepted: "stat",
            ..ROW
        },
        Row {
            files: engine("engine/shell/booted.sh"),
            made_up: "systemctl",
            paths: "/run/systemd",
            before: "mkdir -p run/systemd/system; echo running >says.systemctl",
            done: "[ \"$(head -n 1 told | cut -d ' ' -f 1)\" = \"$(cat /proc/sys/kernel/random/boot_id)\" ]",
            ..ROW
        },
        // Disks. The device is one that nothing is behind.
        Row {
            files: with("shell/zeros.sh resources/disks/empty_device.sh resources/disks/filesystem/filesystem.sh"),
            words: &["ext4", "S/disk", "label", "-b", "4096"],
            made_up: "blkid cmp mkfs.ext4 udevadm",
            paths: "/sys/class",
            before: DISK,
            done: "grep -q '^blkid ' log && [ \"$(grep -c '^cmp ' log)\" = 2 ] && grep -q '^mkfs.ext4 -q -L label -b 4096 ' log",
            ..ROW
        },
        Row {
            files: with("shell/zeros.sh resources/disks/empty_device.sh resources/disks/raid/raid.sh"),
            words: &["create", "md", "raid1", "S/disk"],
            made_up: "blkid cmp mdadm",
            paths: "/sys/class",
            before: DISK,
            done: "grep -q '^blkid ' log && [ \"$(grep -c '^cmp ' log)\" = 2 ] && grep -q '^mdadm --create ' log",
            ..ROW
        },
        Row {
            files: with("shell/zeros.sh resources/disks/empty_device.sh resources/disks/raid/raid.sh"),
            words: &["assemble", "md", "raid1", "S/disk"],
            made_up: "mdadm udevadm",
            done: "grep -q '^mdadm --assemble ' log",
            ..ROW
        },
        // What stands before the text of a file.
        Row {
            files: with(&format!("resources/shared/validate.sh {WRITE}")),
            words: &["fail", "check\n-c\n%s", "S/file", "0640", "", "", TEXT],
            made_up: "check",
            done: "[ \"$(cat file)\" = 'umlaut: ü' ] && grep -q '^check -c /.*[.]file$' log",
            ..ROW
        },
        Row {
            files: with(&format!("resources/files/render/below.sh {WRITE}")),
            words: &["S/base", "S/base/a/file", "0640", "", "", TEXT],
            before: "mkdir -p base/a",
            done: "[ \"$(cat base/a/file)\" = 'umlaut: ü' ]",
            ..ROW
        },
        Row {
            files: with("resources/gpu/nvidia_driver/driver_lock.sh"),
            words: &["dnf", "550.*", "nvidia-driver"],
            made_up: "dnf",
            before: "echo 'case \"$*\" in *repoquery*) echo nvidia-driver 3:550.1-1 ;; esac' >does.dnf",
            done: "grep -q 'versionlock add nvidia-driver-3:550.1-1' log && grep -q 'versionlock delete' log",
            ..ROW
        },
        Row {
            files: with("resources/gpu/nvidia_driver/driver_lock.sh"),
            words: &["dnf", "", "nvidia-driver"],
            made_up: "dnf",
            done: "grep -q 'versionlock delete nvidia-driver-' log",
            ..ROW
        },
        // Waiting: it is there only where that was asked.
        Row {
            files: with("shell/base64.sh facts/ask/ask.sh"),
            words: &["", "3", "WANT=unit", "WHAT=x", "WHERE=", "script", "", "<=resources/commands/wait_for/wait_for.sh"],
            made_up: "systemctl",
            done: "grep -q '^systemctl is-active .*x$' log",
            ..ROW
        },
        Row {
            files: with("shell/base64.sh facts/ask/ask.sh"),
            words: &["", "3", "WANT=port", "WHAT=22", "WHERE=n1", "script", "", "<=resources/commands/wait_for/wait_for.sh"],
            made_up: "bash timeout nc",
            done: "grep -q -e '^timeout 3 bash .*n1 22$' -e '^nc .*n1 22$' log",
            ..ROW
        },
        Row {
            files: with("shell/base64.sh facts/ask/ask.sh"),
            words: &["", "3", "WANT=port", "WHAT=22", "WHERE=", "script", "", "<=resources/commands/wait_for/wait_for.sh"],
            paths: "/proc/net",
            before: "mkdir -p proc/net; echo ' 0: 00000000:0016 00000000:0000 0A' >proc/net/tcp",
            done: ":",
            ..ROW
        },
        Row {
            files: with("shell/base64.sh facts/ask/ask.sh"),
            words: &["", "2", "VENV=venv", "PYTHON=sh", "script", "", "<=resources/packages/pip/pip_list.sh"],
            before: "mkdir -p venv/lib/python3.12/site-packages/tool-1.2.dist-info",
            done: "grep -qx 'dist=tool-1.2.dist-info' told && ! grep -q nopython told",
            says: "end",
            ..ROW
        },
        // What earlier runs left.
        Row {
            files: free("facts/state/state.sh"),
            before: "mkdir -p state/notify state/detached state/spool/k state/upload; >state/upload/u; printf 'h\nt\n\n' >state/notify/n; printf 'boot\nrun0\n\n' >state/detached/b; echo run0 >state/spool/k/run; echo 0 >state/spool/k/status
. \"$SRC/shell/state_directory.sh\"; provision_identity; echo \"$current\" >state/identity",
            done: "[ \"$(grep -e '^upload.u$' -e '^notify.h.t.new.n.now$' -e '^interrupted.b.run0.boot$' -e '^spool.k.ended.0.run0.$' told | sort -u | wc -l)\" = 4 ]",
            ..ROW
        },
        // A run that Slurm carries.
        Row {
            files: with("relay/directory.sh"),
            paths: "/var/tmp",
            before: "mkdir -p var/tmp/provision.0123456789 var/tmp/provision.abcdefghij; echo 0 >var/tmp/provision.0123456789/ended; touch -d '3 hours ago' var/tmp/provision.0123456789/ended",
            done: "[ -d \"$(cat told)\" ] && [ -d var/tmp/provision.abcdefghij ]",
            ..ROW
        },
        Row {
            files: with("relay/start.sh"),
            words: &["S/.", "1", "n1", "n1", "s3cret", "S/t.1", "no", "0", "", "1000", "apply"],
            made_up: "salloc sbcast srun",
            paths: "/var/tmp",
            // The end of an earlier one must not be taken for that of this one.
            before: "mkdir -p var/tmp; echo 0 >ended; >bundle; printf '#!/bin/sh\\n[ \"$1\" != carried-output ] || exec /bin/cat\\n/bin/sleep 0.3\\ncat >ran\\n' >program; chmod +x program
echo 'export SLURM_JOB_ID=7 SLURMD_NODENAME=n1; until [ \"${1##*/}\" = sh ]; do shift; done; exec \"$@\"' >does.salloc
# As srun of 24.11.
{ echo 'case $* in *arbitrary*--nodes=* | *--nodes=*arbitrary*) >refused ;; esac'; cat does.salloc; } >does.srun; echo 'exec /bin/cp \"$1\" \"$2\"' >does.sbcast",
            done: "[ ! -e refused ] || exit 1; n=0; until [ -s ended ] || [ $n = 40 ]; do sleep 0.1; n=$((n + 1)); done; case $(cat ended) in 0) [ \"$(cat ran)\" = s3cret ] && [ \"$(cat job)\" = 7 ] ;; '') exit 1 ;; esac",
            ..ROW
        },
        Row {
            files: with("relay/poll.sh"),
            words: &["S/.", "2", "1000"],
            before: "echo 0 >ended; echo 17 >job; printf 'why\\nelse\\n' >error; echo 'a long output' >out",
            done: "[ \"$(cat told)\" = \"$(printf 'ended=0\\njob=17\\nerror=why\\nerror=else\\n\\nlong output')\" ]",
            ..ROW
        },
        // Schedulers.
        Row {
            files: with("scheduler/marks_directory.sh scheduler/begin.sh"),
            words: &["n1", "why", "drain", "n1"],
            made_up: "drain",
            done: "[ \"$(cat state/maintenance/n1)\" = why ] && grep -q '^drain n1' log",
            ..ROW
        },
        Row {
            files: with("scheduler/marks_directory.sh scheduler/end.sh"),
            words: &["n1", "resume", "n1"],
            made_up: "resume",
            before: "mkdir -p state/maintenance; echo why >state/maintenance/n1",
            done: "[ ! -e state/maintenance/n1 ] && grep -q '^resume n1' log",
            ..ROW
        },
        Row {
            files: with("scheduler/marks_directory.sh scheduler/marks.sh"),
            before: "mkdir -p state/maintenance; echo why >state/maintenance/n1",
            done: ":",
            says: "n1|why",
            ..ROW
        },
        // What says that the host is not idle is no lie.
        Row {
            files: with("scheduler/idle.sh"),
            words: &["empty", "jobs", "n1"],
            made_up: "jobs",
            before: "echo job17 >says.jobs",
            done: "[ -s told ]",
            ..ROW
        },
        Row {
            files: with("scheduler/idle.sh"),
            words: &["0", "idle", "n1"],
            made_up: "idle",
            done: "[ -s told ] || grep -q '^idle n1' log",
            ..ROW
        },
        Row {
            files: with("scheduler/kubectl.sh scheduler/kubectl_patch.sh"),
            words: &["S/config", "{}", "n1", "n2"],
            made_up: "kubectl",
            done: "grep -q '^kubectl patch node n1 -p {}' log && grep -q '^kubectl patch node n2 -p {}' log",
            ..ROW
        },
        Row {
            files: with("scheduler/kubectl.sh scheduler/kubectl_pods.sh"),
            words: &["", "columns", "n1", "n2"],
            made_up: "kubectl",
            before: "echo 'case \"$*\" in *=n1*) echo pod1 ;; *) echo pod2 ;; esac' >does.kubectl",
            done: "grep -q pod2 told",
            says: "pod1",
            ..ROW
        },
        Row {
            files: with("scheduler/kubectl.sh scheduler/kubectl_nodes.sh"),
            words: &["", "columns", "gpu=yes"],
            made_up: "kubectl",
            before: "echo 'case \"$*\" in *-l*) echo node/n1 ;; *) echo n1 true ;; esac' >does.kubectl",
            done: "grep -q '^n1 true' told",
            says: "node/n1",
            ..ROW
        },
        // It says of which node something is left.
        Row {
            files: with("scheduler/kubectl.sh scheduler/kubectl_drain.sh"),
            words: &["", "n1", "n2"],
            made_up: "kubectl",
            before: "echo 'case \"$*\" in *n2*) echo error: a budget; exit 1 ;; esac' >does.kubectl",
            done: "{ grep -q '^kubectl drain n1' log || grep -q '^n1|' told; } && grep -q '^n2|' told",
            ..ROW
        },
        // Tests between hosts.
        Row {
            files: with("shell/rooted.sh active/as_user.sh"),
            words: &["5", "", "touch", "S/ran"],
            done: "[ -e ran ]",
            ..ROW
        },
        Row {
            files: with("shell/rooted.sh active/as_user.sh"),
            words: &["5", "root", "touch", "S/ran"],
            done: "[ -e ran ]",
            ..ROW
        },
        Row {
            files: "active/mesh.sh",
            words: &["n1", "n2"],
            made_up: "ssh",
            before: "echo 'case \"$*\" in *n2*) echo warning; echo refused; exit 255 ;; *) echo node1 ;; esac' >does.ssh",
            // `n1 0` alone would say that it was reached.
            done: "! grep '^n1 0 ' told | grep -v ' node1$' && grep -q '^n2 [1-9]' told",
            ..ROW
        },
        Row {
            files: "active/allreduce.sh",
            words: &["mpicc", "int main"],
            made_up: "mpicc",
            before: "echo 'while [ \"$1\" != -o ]; do shift; done; echo made >\"$2\"' >does.mpicc",
            done: "grep -q '^built ' told && [ -s \"$(sed -n 's/^built //p' told)\" ]",
            says: "built",
            ..ROW
        },
        Row {
            files: with("active/tools.sh"),
            words: &["ssh", "ib_write_bw"],
            made_up: "ssh ib_write_bw",
            before: "echo --use_cuda_dmabuf >says.ib_write_bw",
            // Without it the controller takes its own name of the host.
            done: "! grep '^hostname=' told | grep -vx \"hostname=$(uname -n)\" && grep -q '^tool=ssh$' told",
            says: "tool=",
            ..ROW
        },
        Row {
            files: with("active/rping_server.sh"),
            words: &["10.0.0.1", "8"],
            made_up: "rping",
            done: "grep -q '^rping -s -a 10.0.0.1 -C 8' log",
            ..ROW
        },
        Row {
            files: with("active/rping_client.sh"),
            words: &["10.0.0.1", "8"],
            made_up: "rping",
            before: "echo pong >says.rping",
            done: "grep -q '^rping -c -a 10.0.0.1 -C 8' log",
            says: "pong",
            ..ROW
        },
        Row {
            files: with("active/perftest.sh"),
            words: &["5", "x0", "1", "3", "both", "4"],
            made_up: "ib_write_bw taskset",
            paths: "/sys/",
            before: "mkdir -p sys/class/infiniband/x0/device; echo 0-3 >sys/class/infiniband/x0/device/local_cpulist; echo 'shift 2; [ \"$1\" = true ] || exec \"$@\"' >does.taskset",
            done: "grep -q '^ib_write_bw .*-q 4 .*-D 5 -b -d x0 -i 1 -x 3 ' log",
            ..ROW
        },
        Row {
            files: with("active/perftest.sh"),
            words: &["5", "x0", "1", "", "0", "4", "10.0.0.1"],
            made_up: "ib_write_bw",
            paths: "/sys/",
            before: "echo 390 >says.ib_write_bw",
            done: "grep -q '^ib_write_bw .*--use_cuda=0 .*-d x0 -i 1 .*10.0.0.1' log",
            says: "390",
            ..ROW
        },
        Row {
            files: with("active/perftest.sh"),
            words: &["5", "x0", "1", "3", "latency", "6", "fd00::1"],
            made_up: "ib_read_lat",
            paths: "/sys/",
            before: "echo 24.78 >says.ib_read_lat",
            done: "grep -q '^ib_read_lat -n 1000 --ipv6-addr -d x0 -i 1 -x 3 -F fd00::1' log",
            says: "24.78",
            ..ROW
        },
    ]
}

/// What a tool of the sandbox is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Tool {
    Missing,
    Failing,
    /// Does its work, tells the first byte of it, and says that it failed.
    Breaking,
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

/// A shell that is started while a program is written has it open for writing until it runs, and until then the
/// kernel starts that program for nobody ("Text file busy").
static STARTS: Mutex<()> = Mutex::new(());

fn program(path: &Path, text: &str) {
    let _alone = STARTS.lock().unwrap_or_else(PoisonError::into_inner);
    fs::write(path, format!("#!/bin/sh\n{text}\n")).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

fn found(tool: &str) -> Option<PathBuf> {
    ["/usr/bin", "/bin", "/usr/sbin", "/sbin"]
        .map(|at| Path::new(at).join(tool))
        .into_iter()
        .find(|path| path.exists())
}

/// Where all sandboxes are, removed with the last of them, and what stands in for tools of the system in them: ext4 takes
/// its time for new files where many were just removed, so they link to the same few, which stay to the end.
struct Place(TempDir);

impl Place {
    /// That of all sandboxes that there are.
    fn shared() -> Arc<Self> {
        static PLACE: Mutex<Weak<Place>> = Mutex::new(Weak::new());
        let mut place = PLACE.lock().unwrap_or_else(PoisonError::into_inner);
        place.upgrade().unwrap_or_else(|| {
            let new = Arc::new(Self(tempfile::tempdir().unwrap()));
            fs::create_dir(new.0.path().join("tools")).unwrap();
            *place = Arc::downgrade(&new);
            new
        })
    }

    /// Leads from a directory to what stands in for a tool, if the system has that, and writes its name into `$S/calls`.
    fn link(&self, maker: Maker, tool: &str, bin: &Path) {
        static ALONE: Mutex<()> = Mutex::new(());
        let Some(real) = maker.command(tool) else { return };
        let path = self.0.path().join("tools").join(format!("{maker:?}-{tool}"));
        let alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
        if !path.exists() {
            program(&path, &format!("echo {tool} >>\"$S/calls\"\nexec {real} \"$@\""));
        }
        drop(alone);
        fs::hard_link(path, bin.join(tool)).unwrap();
    }
}

/// A directory with programs of ours in `PATH`, and nothing else there.
struct Sandbox {
    directory: PathBuf,
    _place: Arc<Place>,
}

impl Sandbox {
    fn new(made_up: &str, wrong: Option<(&str, Tool)>) -> Self {
        Self::with(TOOLS, made_up, wrong)
    }

    fn with(tools: &str, made_up: &str, wrong: Option<(&str, Tool)>) -> Self {
        Self::of(Maker::System, tools, made_up, wrong)
    }

    fn of(maker: Maker, tools: &str, made_up: &str, wrong: Option<(&str, Tool)>) -> Self {
        let place = Place::shared();
        let directory = tempfile::tempdir_in(place.0.path()).unwrap().keep();
        let bin = directory.join("bin");
        fs::create_dir(&bin).unwrap();
        let made_up: BTreeSet<&str> = made_up.split_whitespace().collect();
        let tools: BTreeSet<&str> = tools.split_whitespace().collect();
        for tool in tools.difference(&made_up) {
            place.link(maker, tool, &bin);
        }
        let sandbox = Self { directory, _place: place };
        for tool in made_up {
            let does = format!("[ ! -e \"$S/does.{tool}\" ] || . \"$S/does.{tool}\"");
            let says = format!("[ ! -e \"$S/says.{tool}\" ] || exec /bin/cat \"$S/says.{tool}\"");
            program(
                &bin.join(tool),
                &format!("echo {tool} >>\"$S/calls\"\necho \"{tool} $*\" >>\"$S/log\"\n{does}\n{says}"),
            );
        }
        let Some((tool, how)) = wrong else { return sandbox };
        let path = bin.join(tool);
        let link = bin.join(format!(".{tool}"));
        fs::rename(&path, &link).unwrap();
        // With 1 some say that there is no such thing; 125 is of `timeout` itself.
        let failed = match tool {
            "grep" | "cmp" | "dpkg-query" => 2,
            "timeout" => 125,
            _ => 1,
        };
        match how {
            Tool::Missing => {}
            Tool::Failing => program(&path, &format!("exit {failed}")),
            Tool::Breaking => {
                program(&path, &format!("{} \"$@\" | /usr/bin/head -c 1\nexit {failed}", link.display()));
            }
        }
        sandbox
    }

    fn path(&self) -> &Path {
        &self.directory
    }

    fn run(&self, shell: &[&str], path: &str, text: &str) -> Output {
        let at = self.path();
        let mut command = Command::new(shell[0]);
        command.args(&shell[1..]).current_dir(at).env_clear();
        command
            .env("PATH", path)
            .env("S", at)
            .env("HOME", at)
            .env("TMPDIR", at)
            .env("XDG_CACHE_HOME", at)
            .env("SRC", root());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = {
            let _alone = STARTS.lock().unwrap_or_else(PoisonError::into_inner);
            command.spawn().unwrap()
        };
        child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
        child.wait_with_output().unwrap()
    }

    /// Whether shell text of the test ends with 0, with all tools.
    fn ok(&self, text: &str) -> bool {
        self.run(&["/bin/sh"], "/usr/bin:/bin", text).status.success()
    }

    fn script(&self, shell: &[&str], row: &Row) -> Output {
        assert!(self.ok(row.before) || row.before.is_empty(), "{}", row.before);
        let at = self.path().display().to_string();
        let own = row.files.strip_prefix(STATE);
        let functions = own.map(|_| self.functions(row.paths)).unwrap_or_default();
        let part = self.texts(own.unwrap_or(row.files), row.paths);
        let digest = || {
            let sum = self.run(&["/bin/sh"], "/usr/bin:/bin", "sha256sum tree.tgz");
            String::from_utf8(sum.stdout).unwrap().split(' ').next().unwrap().to_owned()
        };
        let words = row.words.iter().map(|word| match *word {
            "DIGEST" => digest(),
            word if word.starts_with("<=") => {
                format!("={}", self.texts(&format!("shell/common.sh {}", &word[2..]), row.paths))
            }
            word if word.starts_with('<') => {
                fs::read_to_string(self.path().join(&word[1..])).unwrap().trim_end().to_owned()
            }
            word => word.replace("S/", &format!("{at}/")),
        });
        let script = render(&Script::new(part).args(words));
        let output = self.main(shell, &functions, &script);
        fs::write(self.path().join("told"), &output.stdout).unwrap();
        output
    }

    /// Shell files of `src`, that stay in here.
    fn texts(&self, files: &str, paths: &str) -> String {
        let read = |file| self.moved(&fs::read_to_string(root().join(file)).unwrap(), paths);
        files.split_whitespace().map(read).collect()
    }

    /// What every frame of the engine begins with.
    fn functions(&self, paths: &str) -> String {
        self.texts(STATE, paths) + "provision_lock run1 me@here/1\n"
    }

    /// A script of ours that stays in here, with these paths below the directory.
    fn moved(&self, text: &str, paths: &str) -> String {
        let at = self.path().display().to_string();
        let mut text = inside(text);
        text = text.replace("/run/provision", &format!("{at}/state"));
        text = text.replace("/var/lib/provision", &format!("{at}/state"));
        text = text.replace("/var/cache", &format!("{at}/none"));
        for path in paths.split_whitespace() {
            text = text.replace(path, &format!("{at}{path}"));
        }
        text
    }

    /// Runs functions and a script as a frame does.
    fn main(&self, shell: &[&str], functions: &str, script: &str) -> Output {
        let path = self.path().join("bin").display().to_string();
        self.run(shell, &path, &format!("main() {{\n{functions}\n{script}\n}}; main; exit $?\n"))
    }
}

/// Whether the script said that it did its work.
fn well(row: &Row, output: &Output) -> bool {
    let text = String::from_utf8_lossy(&output.stdout);
    output.status.success()
        && (row.well.is_empty() || text.starts_with(row.well) && text[row.well.len()..].starts_with('\n'))
}

#[test]
fn no_script_ends_well_with_its_work_not_done() {
    let rows = rows();
    let whole = at_once(&rows, with_all_tools);
    let mut tries = Vec::new();
    let mut wrong: Vec<String> = Vec::new();
    for (row, (called, lacking)) in rows.iter().zip(whole) {
        wrong.extend(lacking);
        for (index, tool) in called.into_iter().enumerate() {
            for (number, how) in [Tool::Missing, Tool::Failing, Tool::Breaking].into_iter().enumerate() {
                // It prints nothing.
                if tool == "sleep" && how == Tool::Breaking {
                    continue;
                }
                // Each in one of the shells: what they differ in is not the tools.
                tries.push((row, tool.clone(), how, SHELLS[(index + number) % SHELLS.len()]));
            }
        }
    }
    wrong.extend(
        at_once(&tries, |(row, tool, how, shell)| {
            let sandbox = Sandbox::new(row.made_up, Some((tool, *how)));
            let output = sandbox.script(shell, row);
            let text = String::from_utf8_lossy(&output.stdout);
            let done = sandbox.ok(row.done);
            let silent = !text.contains(row.says) && !text.contains(LEFT_OUT);
            let denied = row.denies.split_whitespace().any(|word| text.starts_with(word));
            let lies = well(row, &output) && (!done || silent) || denied && done;
            lies.then(|| format!("{shell:?} {} with `{tool}` {how:?}: {output:?}", row.files))
        })
        .into_iter()
        .flatten(),
    );
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), tries.len(), wrong.join("\n"));
    assert!(tries.len() > 250, "{} runs", tries.len());
}

/// They ask by `ask` and `sift` alone.
const SECTIONS: &str = "each command has a section that says how it ended; facts/driver/driver.sh and facts/log/log.sh are tried with such";

/// Scripts that are tried in another way, or not, and why.
const OTHERS: &[(&str, &str)] = &[
    ("engine/shell/batch.sh", "a_batch_says_what_was_done_whatever_a_tool_does"),
    ("facts/fabric/fabric.sh", SECTIONS),
    ("transport/root_path.sh", "without its tools only the directories of the system are looked into"),
    ("facts/nvidia/nvidia.sh", SECTIONS),
    ("accept/fabric/adapters.sh", "an adapter that is not told is known by its description alone"),
    ("accept/fabric/fabric.sh", "a section that failed says so, and nothing is concluded from it"),
    ("accept/node/start.sh", "it starts nothing unless its questions were answered"),
    ("accept/node/tests.sh", "a test that says nothing has no figure, and who has none did not pass"),
    ("accept/node/follow.sh", "tests that cannot be seen go on, until their time is over"),
    ("accept/node/stop.sh", "it says that it stopped only when nothing of it runs"),
    (
        "accept/parts/parts.sh",
        "what cannot be read is marked, and a part that was not seen is not said to be gone",
    ),
    ("compare/look.sh", "what cannot be read is marked, and no look without its end counts"),
    ("why/logs.sh", "it decides nothing: a log that a tool does not give is not read, and the others are"),
];

#[test]
fn every_script_has_a_row_or_a_reason() {
    let rows = rows();
    let words = rows.iter().flat_map(|row| row.words).filter_map(|word| word.strip_prefix("<="));
    let of_rows: BTreeSet<&str> =
        rows.iter().flat_map(|row| row.files.split_whitespace()).chain(words).collect();
    let asked = questions::texts();
    let others: BTreeSet<&str> = OTHERS.iter().map(|(file, _)| *file).collect();
    let (mut lacking, mut known) = (Vec::new(), Vec::new());
    for path in scripts() {
        let text = fs::read_to_string(&path).unwrap();
        let file = path.strip_prefix(root()).unwrap().to_str().unwrap().to_owned();
        let tried = of_rows.contains(file.as_str()) || asked.iter().any(|asked| asked.contains(&text));
        match (tried, others.contains(file.as_str())) {
            (true, true) => known.push(file),
            (false, false) => lacking.push(file),
            _ => {}
        }
    }
    assert!(lacking.is_empty(), "a row, a question, or a reason in OTHERS is needed for: {lacking:?}");
    assert!(known.is_empty(), "these are tried, and need no reason in OTHERS: {known:?}");
    let gone: Vec<_> = others.iter().filter(|file| !root().join(file).exists()).collect();
    assert!(gone.is_empty(), "there is no such script: {gone:?}");
}

/// All scripts below a directory, by their names there.
/// What two changes of a batch print, and what stands behind their ends.
fn batch(sandbox: &Sandbox, shell: &[&str]) -> Vec<String> {
    let notify = ["base/reload sshd".to_owned()];
    let scripts = ["1", "2"].map(|number| {
        Script::new(format!("echo ran >\"$S/ran{number}\"\necho said {number}\n").leak() as &'static str)
    });
    let start = state::batch(state::Together {
        entries: vec![("k1", "base/one", &notify[..]), ("k2", "base/two", &[])],
        scripts: scripts.to_vec(),
        run: "run1",
        cluster: "t",
        directories: Vec::new(),
        ways: Vec::new(),
    });
    let parts = [start, state::batch_next("k1"), state::batch_next("k2")];
    let parts = parts.map(|script| sandbox.moved(&render(&script), "")).join("\nprintf '<end>'\n");
    let output = sandbox.main(shell, &(sandbox.functions("") + "provision_pipe\n"), &parts);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.split("<end>").skip(1).map(str::to_owned).collect()
}

#[test]
fn a_batch_says_what_was_done_whatever_a_tool_does() {
    for shell in SHELLS {
        let sandbox = Sandbox::new("", None);
        assert_eq!(batch(&sandbox, shell), ["ended 0\nsaid 1\n", "ended 0\nsaid 2\n"], "{shell:?}");
        assert!(sandbox.ok("ls state/notify/* && [ -s ran1 ] && [ -s ran2 ]"), "{shell:?}");
    }
    let tools: Vec<&str> = TOOLS.split_whitespace().collect();
    let tries: Vec<_> = tools
        .iter()
        .flat_map(|tool| [Tool::Missing, Tool::Failing, Tool::Breaking].map(|how| (*tool, how)))
        .flat_map(|(tool, how)| SHELLS.iter().map(move |shell| (tool, how, *shell)))
        .collect();
    let wrong: Vec<String> = at_once(&tries, |(tool, how, shell)| {
        let sandbox = Sandbox::new("", Some((tool, *how)));
        let said = batch(&sandbox, shell);
        let lies = (1..=2).zip(&said).any(|(number, said)| {
            let ran = sandbox.ok(&format!("[ -s ran{number} ]"));
            let whole = said.contains(&format!("said {number}")) || said.contains(LEFT_OUT);
            said.starts_with("ended 0") && !(ran && whole) || said.starts_with("unstarted") && ran
        });
        let noted =
            said.first().is_none_or(|said| !said.starts_with("ended 0")) || sandbox.ok("ls state/notify/*");
        (lies || !noted).then(|| format!("{shell:?} with `{tool}` {how:?}: {said:?}"))
    })
    .into_iter()
    .flatten()
    .collect();
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), tries.len(), wrong.join("\n"));
}

/// The same done with each, many at once and in their order: most of them wait for something that does not come.
fn at_once<T: Sync, R: Send>(all: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let take = || {
        let number = next.fetch_add(1, Ordering::Relaxed);
        all.get(number).map(|one| (number, work(one)))
    };
    let mut done: Vec<(usize, R)> = std::thread::scope(|scope| {
        let threads: Vec<_> =
            (0..6).map(|_| scope.spawn(|| std::iter::from_fn(take).collect::<Vec<_>>())).collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    done.sort_by_key(|(number, _)| *number);
    done.into_iter().map(|(_, result)| result).collect()
}

/// The tools that a script calls, and in which shell it does not do its work with them.
fn with_all_tools(row: &Row) -> (BTreeSet<String>, Vec<String>) {
    let (mut called, mut wrong) = (BTreeSet::new(), Vec::new());
    for shell in SHELLS {
        let sandbox = Sandbox::new(row.made_up, None);
        let output = sandbox.script(shell, row);
        let silent = !String::from_utf8_lossy(&output.stdout).contains(row.says);
        if !well(row, &output) || !sandbox.ok(row.done) || silent {
            wrong.push(format!("{shell:?} {} with all tools: {output:?}", row.files));
        }
        let calls = fs::read_to_string(sandbox.path().join("calls")).unwrap_or_default();
        called.extend(calls.lines().map(str::to_owned));
    }
    called.retain(|tool| !row.excepted.split(' ').any(|excepted| excepted == tool));
    (called, wrong)
}

/// How a task whose command ended well goes with a tool that is broken. It must end.
fn ends(command: &'static str, tool: &'static str, how: Tool) {
    let row = Row {
        files: Box::leak(format!("{STATE} engine/shell/spool.sh").into_boxed_str()),
        words: Box::leak(Box::new(["k", "task", "run1", "here", "", "c", command])),
        ..ROW
    };
    let (done, waited) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        for shell in SHELLS {
            let sandbox = Sandbox::new(row.made_up, Some((tool, how)));
            sandbox.script(shell, &row);
            let ended =
                sandbox.ok("read -r status <state/spool/k/status && [ -s ran ] && [ \"$status\" = 0 ]");
            done.send((shell, ended)).unwrap();
        }
    });
    for _ in SHELLS {
        let (shell, ended) =
            waited.recv_timeout(Duration::from_mins(1)).unwrap_or_else(|_| panic!("a task that hangs"));
        assert!(ended, "{shell:?}");
    }
}

/// The pipes of an entry are still there then, and who writes to one waits for its reader.
#[test]
fn a_task_with_much_output_ends_where_nothing_can_be_removed() {
    ends(LOUD, "rm", Tool::Failing);
}

/// Ending the relay leaves what it started, which reads on.
#[test]
fn a_task_ends_where_another_reads_its_output() {
    ends(LEAVING, "dd", Tool::Breaking);
}

#[test]
fn a_service_that_is_not_started_again_is_told() {
    let row = Row {
        files: "shell/common.sh resources/gpu/nvidia_driver/driver_units.sh resources/gpu/nvidia_driver/driver_load.sh",
        words: &["reload"],
        made_up: "modprobe systemctl",
        paths: "/run/systemd /sys/module",
        before: "mkdir -p run/systemd/system sys/module/nvidia; echo '[ \"$1 $2\" != \"start nvidia-dcgm\" ] || exit 1' >does.systemctl",
        ..ROW
    };
    for shell in SHELLS {
        let sandbox = Sandbox::new(row.made_up, None);
        let output = sandbox.script(shell, &row);
        assert_eq!(output.status.code(), Some(1), "{shell:?} {output:?}");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(
            said.contains("stopped for the change, and not started again: nvidia-dcgm\n"),
            "{shell:?} {said}"
        );
        assert!(sandbox.ok("grep -q 'start nvidia-fabricmanager' log"), "{shell:?}");
    }
}

/// Nothing said of a node would mean that no pod is there.
#[test]
fn a_node_that_could_not_be_asked_is_not_taken_for_empty() {
    let row = Row {
        files: "shell/common.sh scheduler/kubectl.sh scheduler/kubectl_pods.sh",
        words: &["", "columns", "n1"],
        made_up: "kubectl mktemp",
        before: "echo \"$S/none\" >says.mktemp",
        ..ROW
    };
    for shell in SHELLS {
        let sandbox = Sandbox::new(row.made_up, None);
        let output = sandbox.script(shell, &row);
        assert!(!output.status.success(), "{shell:?} {output:?}");
    }
}

#[test]
fn text_travels_where_there_is_no_base64() {
    let command = Asked::Script("echo 'grün'".to_owned());
    let script = CommandQuery { command, env: Vec::new(), chdir: None, user: None, limit: None }.script();
    let text = render(&script);
    for shell in SHELLS {
        for tool in ["openssl", "python3", "perl", "busybox"] {
            let Some(real) = found(tool) else { continue };
            let sandbox = Sandbox::new("", Some(("base64", Tool::Missing)));
            symlink(real, sandbox.path().join("bin").join(tool)).unwrap();
            let text = inside(&text);
            let output = sandbox.run(shell, &sandbox.path().join("bin").display().to_string(), &text);
            assert_eq!(String::from_utf8_lossy(&output.stdout), "grün\n", "{shell:?} {tool}: {output:?}");
            // Both ways, and more than a pipe holds.
            let both = format!(
                "{}\nhead -c 300000 /dev/urandom >a && encode <a >b && decode <<END >c\n$(cat b | tr -d '\\n')\nEND\ncmp a c && echo same",
                fs::read_to_string(root().join("shell/base64.sh")).unwrap()
            );
            let output = sandbox.run(shell, &sandbox.path().join("bin").display().to_string(), &both);
            assert_eq!(String::from_utf8_lossy(&output.stdout), "same\n", "{shell:?} {tool}: {output:?}");
        }
        let sandbox = Sandbox::new("", Some(("base64", Tool::Missing)));
        let text = inside(&text);
        let output = sandbox.run(shell, &sandbox.path().join("bin").display().to_string(), &text);
        assert_eq!(output.status.code(), Some(126), "{shell:?}");
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(said.contains("base64, openssl, python3, perl or busybox is needed"), "{shell:?} {said}");
        // It is said before anything is done.
        let state = format!(
            "main() {{\n{}\n{}\n}}; main\n",
            state::FUNCTIONS,
            include_str!("../../../src/facts/state/state.sh")
        );
        let output = sandbox.run(shell, &sandbox.path().join("bin").display().to_string(), &state);
        let state = state::HostState::parse(&String::from_utf8_lossy(&output.stdout)).unwrap();
        assert_eq!(state.missing, ["base64 (or openssl, python3, perl or busybox)"], "{shell:?}");
    }
}
