//! The disk that all machines of a lab start from: built once, found again by the digest of its
//! recipe.

use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use camino::{Utf8Path, Utf8PathBuf};
use sha2::{Digest as _, Sha256};

use super::qemu::{missing, refuse};
use crate::lab::apt::Apt;
use crate::lab::engine;
use crate::lab::files;
use crate::lab::image::check;
use crate::lab::spec::{LabRelease, LabSettings};
use crate::process::heard;
use crate::words::short_hex;

/// Makes the disk.
const BUILD: &str = include_str!("image.sh");
/// Longest that it may take.
const LIMIT: Duration = Duration::from_mins(30);
/// Longest that the emulated machine may take to put its boot loader on the disk, in seconds.
const GRUB_SECONDS: &str = "600";
/// Files of every machine: path, text, mode.
const TREE: [(&str, &str, u32); 12] = [
    ("usr/local/sbin/lab-grub", include_str!("grub.sh"), 0o755),
    ("usr/local/sbin/lab-seed", include_str!("seed.sh"), 0o755),
    ("etc/systemd/system/lab-seed.service", include_str!("seed.service"), 0o644),
    // One name on each chipset.
    (
        "etc/systemd/network/10-management.link",
        "[Match]\nPath=pci-0000:00:03.0\n\n[Link]\nName=ens3\n",
        0o644,
    ),
    ("etc/systemd/network/10-lan.link", "[Match]\nPath=pci-0000:00:04.0\n\n[Link]\nName=ens4\n", 0o644),
    ("etc/systemd/network/10-management.network", "[Match]\nName=ens3\n\n[Network]\nDHCP=ipv4\n", 0o644),
    (
        "etc/ssh/sshd_config.d/10-lab.conf",
        "HostKey /etc/ssh/ssh_host_ed25519_key\nHostKey /etc/ssh/ssh_host_ecdsa_key\nPasswordAuthentication no\n",
        0o644,
    ),
    // No check at boot: the journal is replayed when it is mounted.
    ("etc/fstab", "LABEL=provision / ext4 errors=remount-ro 0 0\n", 0o644),
    // A small initramfs: unpacking is what an emulated processor is slowest at.
    ("etc/initramfs-tools/conf.d/lab", "MODULES=list\n", 0o644),
    ("etc/initramfs-tools/modules", "virtio_pci\nvirtio_blk\next4\n", 0o644),
    ("etc/default/grub", include_str!("grub.default"), 0o644),
    ("etc/systemd/system/ssh.service.d/10-lab.conf", "[Unit]\nAfter=systemd-user-sessions.service\n", 0o644),
];
/// Packages that every machine has. The tools of RDMA are there because links between real kernels are what
/// these machines are for.
const PACKAGES: [&str; 16] = [
    "linux-image-amd64",
    "grub-pc-bin",
    "grub2-common",
    "grub-efi-amd64-signed",
    "shim-signed",
    "mokutil",
    "initramfs-tools",
    "udev",
    "pciutils",
    "ethtool",
    "rdma-core",
    "ibverbs-providers",
    "ibverbs-utils",
    "rdmacm-utils",
    "infiniband-diags",
    "perftest",
];

/// Gives the folder with disk, kernel and initramfs, and makes them when they are not there.
pub(super) fn ensure(
    cache: &Utf8Path,
    settings: &LabSettings,
    progress: &mut dyn FnMut(&str),
) -> Result<Utf8PathBuf> {
    check(settings)?;
    let dump = engine::output(heard("apt-config").arg("dump"), b"", engine::USUAL)
        .map(|done| String::from_utf8_lossy(&done.stdout).into_owned())
        .unwrap_or_default();
    let apt = Apt::read(Utf8Path::new("/"), settings.release.map(LabRelease::as_str), &dump);
    let mut packages: Vec<&str> = crate::lab::image::PACKAGES.into_iter().chain(PACKAGES).collect();
    packages.extend(settings.packages.iter().flatten().map(String::as_str));
    let tree = tree(&apt)?;

    let mut hash = Sha256::new();
    let fixed = [BUILD, &apt.suite, &apt.mirror, &packages.join(",")].map(str::to_owned);
    for text in fixed.iter().chain(tree.iter().flat_map(|(path, text, _)| [path, text])) {
        hash.update(text.len().to_le_bytes());
        hash.update(text);
    }
    let folder = cache.join("lab-vm");
    files::private_folder(&folder)?;
    let image = folder.join(short_hex(&hash.finalize()));
    let _lock = files::lock(&folder.join("lock"), "another lab makes the disk of its machines", progress)?;
    if !image.exists() {
        build(&image, &apt, &packages.join(","), &tree, progress)
            .with_context(|| format!("cannot make {image}"))?;
    }
    Ok(image)
}

/// [`TREE`], and what apt needs here to reach its mirror.
fn tree(apt: &Apt) -> Result<Vec<(String, String, u32)>> {
    let mut tree: Vec<_> =
        TREE.iter().map(|(path, text, mode)| ((*path).to_owned(), (*text).to_owned(), *mode)).collect();
    tree.push(("etc/apt/sources.list".to_owned(), apt.sources.clone(), 0o644));
    tree.push(("etc/apt/apt.conf.d/90lab".to_owned(), apt.conf.clone(), 0o644));
    for path in &apt.certificates {
        let text = std::fs::read_to_string(path).with_context(|| format!("cannot read {path}"))?;
        let name = path.file_name().unwrap_or("certificate.crt");
        tree.push((format!("usr/local/share/ca-certificates/{name}"), text, 0o644));
    }
    Ok(tree)
}

fn build(
    image: &Utf8Path,
    apt: &Apt,
    packages: &str,
    tree: &[(String, String, u32)],
    progress: &mut dyn FnMut(&str),
) -> Result<()> {
    let root = std::fs::metadata("/proc/self").is_ok_and(|process| process.uid() == 0);
    if !root {
        bail!(
            "the disk of the lab's virtual machines is made by debootstrap, which needs root: run this once as root"
        );
    }
    refuse(&missing(&[
        ("debootstrap", "debootstrap"),
        ("mkfs.ext4", "e2fsprogs"),
        ("sfdisk", "fdisk"),
        ("mkfs.vfat", "dosfstools"),
        ("mcopy", "mtools"),
        ("timeout", "coreutils"),
    ]))?;
    progress("making the disk of the machines (once, some minutes; cached by its recipe)");
    let files = image.with_extension("files");
    let written = tree.iter().try_for_each(|(path, text, mode)| {
        let path = files.join(path);
        std::fs::create_dir_all(path.parent().unwrap_or(&files))?;
        std::fs::write(&path, text)?;
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(*mode))
    });
    let built = written.with_context(|| format!("cannot write {files}")).and_then(|()| {
        let keyring = apt.keyring.as_deref().unwrap_or_default();
        let mut build = heard("sh");
        build.args(["-c", BUILD, "image.sh", image.as_str(), &apt.suite, &apt.mirror, keyring, packages]);
        build.args([files.as_str(), GRUB_SECONDS]);
        if let Some(proxy) = crate::lab::image::http_proxy(&apt.conf) {
            build.env("http_proxy", proxy);
        }
        engine::text(&mut build, b"", LIMIT)
    });
    drop(std::fs::remove_dir_all(&files));
    built.map(drop)
}
