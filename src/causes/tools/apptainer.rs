//! Apptainer and Singularity.

use super::super::cause::{Cause, Counts, Remedy, Role, Sure, TOOL, seen};

const APPTAINER: Cause = Cause {
    remedy: Remedy::Settings,
    sources: &[
        seen("https://apptainer.org/docs/admin/main/user_namespace.html", "2026-11-30"),
        seen("https://github.com/apptainer/apptainer (cmd/starter, internal/pkg)", "2026-11-30"),
    ],
    ..TOOL
};

pub(in crate::causes) const ROWS: &[Cause] = &[
    Cause {
        id: "apptainer.user_namespace",
        sign: r"ERROR *: (Failed to create (user|mount|container) namespaces?|Failed invoking the NEWUSER namespace runtime|User namespace not supported|Failed to unshare|Could not virtualize (PID|mount) namespace|Could not write info to setgroups|Failed to create container (process|namespaces))|Failed to create container process: (No space left on device|Operation not permitted|Invalid argument)",
        says: "Apptainer may not make a user namespace",
        means: "This installation has no setuid helper and needs user namespaces, which the kernel or a security module of this host forbids: `user.max_user_namespaces` is 0 (told as `No space left on device` or `Invalid argument`), AppArmor of Ubuntu 23.10 and newer, an old kernel, or another container around it.",
        act: "`sysctl user.max_user_namespaces kernel.unprivileged_userns_clone kernel.apparmor_restrict_unprivileged_userns`: let them be made (15000, 1, and the package's AppArmor profile), or install apptainer-suid; no disk is full",
        sources: &[
            seen("https://github.com/apptainer/singularity/issues/5240", "2020-04-23"),
            seen("https://github.com/apptainer/apptainer/issues/2455", "2024-08-22"),
        ],
        samples: &[
            "ERROR  : Failed to create user namespace: user namespace disabled",
            "ERROR  : Failed to create user namespace: Invalid argument",
            "ERROR  : Failed to create container process: No space left on device",
            "ERROR : Failed invoking the NEWUSER namespace runtime: Invalid argument",
        ],
        ..APPTAINER
    },
    Cause {
        id: "apptainer.nvccli_setuid",
        sign: "nvidia-container-cli not allowed in setuid mode",
        says: "`--nvccli` does not work in the setuid mode of Apptainer",
        means: "nvidia-container-cli is only run in a user namespace.",
        act: "use `--nv` in place of `--nvccli`, or add `--userns` where user namespaces are allowed",
        sure: Sure::Confirmed,
        sources: &[seen("https://github.com/apptainer/apptainer/issues/686", "2022-09-06")],
        samples: &["FATAL:   nvidia-container-cli not allowed in setuid mode"],
        ..APPTAINER
    },
    Cause {
        id: "apptainer.no_nv_files",
        sign: r"WARNING: +Could not find any nv (files|libraries) on this host",
        says: "`--nv` found no driver of NVIDIA on this host",
        means: "The host has no GPU or no driver (a login node), or ldconfig does not know its libraries. The container runs without GPUs.",
        counts: Counts::Warn,
        act: "`nvidia-smi` and `ldconfig -p | grep libcuda` on the same host: on a node without GPUs it is harmless, else start the job on a GPU node or mend the driver",
        sure: Sure::Likely,
        samples: &["WARNING: Could not find any nv files on this host!"],
        ..APPTAINER
    },
    Cause {
        id: "apptainer.no_nv_note",
        sign: r"INFO: +Could not find any nv (files|libraries) on this host|nv files may not be bound with --writable|underlay of [^ ]+ required more than [0-9]+|Environment variable SINGULARITY[A-Z_]* is set, but APPTAINER|DEPRECATED USAGE: |Skipping mount [^ ]+ \[(binds|files|tmp|kernel)\]: |'nodev' mount option set on |The --fix-perms option modifies|User not listed in /etc/subuid, trying root-mapped namespace",
        says: "Apptainer tells of something that it goes on without",
        means: "These lines are notes.",
        counts: Counts::Note,
        samples: &[
            "INFO:    Could not find any nv files on this host!",
            "WARNING: 'nodev' mount option set on /tmp, it could be a source of failure during build process",
        ],
        ..APPTAINER
    },
    Cause {
        id: "apptainer.no_subuid",
        sign: r"could not use fakeroot: (no mapping entry found in (?<file>[^ ]+)|.*)|mapping entries for user [^ ]+ found in [^ ]+ but all with a range count different",
        says: "the account has no subordinate IDs for `--fakeroot`",
        means: "`--fakeroot` maps 65536 IDs, which /etc/subuid and /etc/subgid must give to the account.",
        act: "`apptainer config fakeroot --add USER` as root (or usermod --add-subuids and --add-subgids), or build the image elsewhere; newer Apptainer builds without them by the program fakeroot",
        sources: &[seen(
            "https://github.com/apptainer/apptainer (internal/pkg/fakeroot/fakeroot.go)",
            "2026-11-30",
        )],
        samples: &["FATAL:   could not use fakeroot: no mapping entry found in /etc/subuid for alice"],
        ..APPTAINER
    },
    Cause {
        id: "apptainer.no_loop",
        sign: r"(failed to find loop device|could not attach image file to loop device|[Ff]ailed to attach loop device).*",
        says: "Apptainer got no loop device for the image",
        means: "All loop devices are in use or their files in /dev are missing, many containers start at once on this host, or the module loop is not loaded. In a container without rights there are none.",
        act: "`losetup -a | wc -l`, `modprobe loop`, `max loop devices` and `shared loop devices = yes` in apptainer.conf; start it again, or use a newer Apptainer (without setuid it mounts by FUSE)",
        passing: true,
        sources: &[
            seen("https://github.com/apptainer/apptainer/issues/344", "2022-03-22"),
            seen("https://github.com/apptainer/apptainer/issues/321", "2022-03-14"),
        ],
        samples: &[
            "FATAL:   container creation failed: mount /proc/self/fd/3->/var/lib/singularity/mnt/session/rootfs error: while mounting image /proc/self/fd/3: failed to find loop device: could not attach image file to loop device: no loop devices available",
        ],
        ..APPTAINER
    },
    Cause {
        id: "apptainer.ext3_not_extracted",
        sign: "while extracting (?<image>[^:]+): not a squashfs root filesystem",
        says: "{image} holds an ext3 file system, which cannot be unpacked here",
        means: "Without its setuid part (or fuse2fs) Apptainer unpacks an image before it runs it, and it can do that with squashfs only. Images of Singularity 2 are ext3.",
        act: "build a SIF out of it on a host where it runs (`apptainer build NEW.sif {image}`), or install fuse2fs or the setuid package (apptainer-suid) on this host",
        remedy: Remedy::Install,
        sources: &[seen("https://github.com/apptainer/singularity/issues/5385", "2020-06-17")],
        samples: &["FATAL:   while extracting prod_dl_larcv2.img: not a squashfs root filesystem"],
        ..APPTAINER
    },
    Cause {
        id: "apptainer.devices_not_made",
        sign: r"while creating \S+/dev/\S+: operation not permitted",
        says: "this account cannot make device files, which the build wants",
        means: "A build without root needs the program fakeroot, or entries of the account in /etc/subuid and /etc/subgid.",
        act: "install the package fakeroot, or add the account with `apptainer config fakeroot --add USER`; a definition that bootstraps from docker needs no device files",
        remedy: Remedy::Install,
        sources: &[seen("https://github.com/apptainer/apptainer/issues/2190", "2024-04-26")],
        samples: &[
            "FATAL:   While performing build: conveyor failed to get: while copying pseudo devices: while creating /tmp/build-temp-535427745/rootfs/dev/null: operation not permitted",
        ],
        ..APPTAINER
    },
    Cause {
        id: "apptainer.needs_userns",
        sign: "requires unprivileged user namespaces|requires user namespaces",
        says: "Apptainer needs user namespaces here, and this account may not make one",
        means: "The kernel or AppArmor forbids them, or their number is limited to none. Apptainer 1.2.0 and 1.2.1 said so for each build by a definition.",
        act: "`sysctl user.max_user_namespaces kernel.unprivileged_userns_clone kernel.apparmor_restrict_unprivileged_userns`: let them be made; with 1.2.0 or 1.2.1 update Apptainer, or build with `--fakeroot`",
        remedy: Remedy::Settings,
        sources: &[seen("https://github.com/apptainer/apptainer/issues/1582", "2023-07-25")],
        samples: &["FATAL:   Building with encryption unprivileged requires unprivileged user namespaces"],
        ..APPTAINER
    },
    Cause {
        id: "apptainer.build_folder_gone",
        sign: r"(?:mkdir|creating|open|stat) (?<dir>/\S*(?:build-temp|sbuild|bundle-temp)-\d+\S*): no such file or directory",
        says: "the folder of the build is not there: {dir}",
        means: "TMPDIR lies on a network file system that this step does not see (root or a user namespace sees others), or something cleaned it up.",
        act: "give a local folder with room: `APPTAINER_TMPDIR=/var/tmp/$USER apptainer build ...` (make it first)",
        remedy: Remedy::Settings,
        sure: Sure::Guess,
        sources: &[seen("https://github.com/apptainer/apptainer/issues/1800", "2023-11-13")],
        samples: &[
            "FATAL:   While performing build: packer failed to pack: while unpacking tmpfs: error unpacking rootfs: mkdir rootfs: mkdir /staff/user/apptainer-tmp/build-temp-1437880609/rootfs: no such file or directory",
        ],
        ..APPTAINER
    },
    Cause {
        id: "apptainer.bad_image",
        sign: r"Something went wrong trying to read the squashfs image|kernel reported a bad superblock for squashfs image partition|[Ss]quashfs image uses [a-z0-9]+ compression, this version supports only|squashfs filesystem seems not enabled|(image format not recognized|unknown image format|not a (valid )?SIF|no SIF magic|invalid SIF)",
        says: "the image cannot be read here",
        means: "The file is cut short or damaged (a download or a copy that ended early, a full disk), it is no SIF, or this kernel or squashfuse does not know its compression.",
        act: "compare its size and sum with the original (`sha256sum`), `apptainer inspect IMAGE`; pull it again with enough room; for its compression a newer squashfuse or an image made with gzip",
        sure: Sure::Guess,
        sources: &[seen("https://github.com/apptainer/apptainer/issues/2121", "2024-03-14")],
        samples: &[
            "FATAL:   container creation failed: mount hook function failure: mount /proc/self/fd/3->/var/apptainer/mnt/session/rootfs error: while mounting image /proc/self/fd/3: kernel reported a bad superblock for squashfs image partition, possible causes are that your kernel doesn't support the compression algorithm or the image is corrupted",
            "while mounting image /proc/self/fd/3: squashfuse_ll exited with status 255: Squashfs image uses lz4 compression, this version supports only zlib.",
        ],
        ..APPTAINER
    },
    Cause {
        id: "apptainer.fuse_slow",
        sign: r"(?<program>squashfuse(?:_ll)?|fuse2fs|gocryptfs|fuse-overlayfs) failed to mount \S+ in (?<time>\d+)s",
        says: "{program} was not ready within {time} seconds",
        means: "The image lies on a slow or cold file system (CVMFS, NFS, Lustre), and older releases of Apptainer wait for two seconds only.",
        act: "try it again, as the second time is faster; a newer Apptainer waits longer; copy large images to a local disk",
        passing: true,
        sources: &[seen("https://github.com/apptainer/apptainer/issues/949", "2022-12-20")],
        samples: &[
            "while mounting image /proc/self/fd/3: squashfuse_ll failed to mount /var/apptainer/mnt/session/rootfs in 2s",
        ],
        ..APPTAINER
    },
    Cause {
        id: "apptainer.nvccli_overlay",
        sign: r"not writable in container|Consider using a different overlay upper layer filesystem type|nvidia-container-cli: mount error: file creation failed: \S*(?:apptainer|singularity)/mnt/session/final",
        says: "nvidia-container-cli cannot write into the container's overlay",
        means: "With `--nvccli` files are made inside of the image, and the file system of the upper layer (XFS, NFS, an old tmpfs) does not allow it there.",
        act: "take `--nv` in place of `--nvccli`, or an overlay on ext4 or tmpfs (`--overlay DIR`); GPU and driver are sound",
        sources: &[seen("https://github.com/apptainer/apptainer/issues/1208", "2023-03-16")],
        samples: &[
            "INFO:    Consider using a different overlay upper layer filesystem type",
            "INFO:    /usr/bin not writable in container",
        ],
        ..APPTAINER
    },
    Cause {
        id: "apptainer.host_file_missing",
        sign: r"container creation failed: (?:open|stat|while getting \S+:?) (?<file>/etc/(?:resolv\.conf|hosts|passwd|group|localtime|nsswitch\.conf)): no such file",
        says: "this host has no {file}, which Apptainer gives to the container",
        means: "The file is missing, or is a link whose target does not exist.",
        act: "`ls -lL {file}`; mend the link (resolv.conf: to /run/systemd/resolve/stub-resolv.conf where systemd-resolved runs), or switch it off (`config resolv_conf = no` in apptainer.conf)",
        sources: &[seen("https://github.com/apptainer/apptainer/issues/999", "2023-01-11")],
        samples: &["FATAL:   container creation failed: open /etc/resolv.conf: no such file or directory"],
        ..APPTAINER
    },
    Cause {
        id: "apptainer.stage1",
        sign: "Failed to spawn stage 1|starter-suid doesn.t have setuid bit|Failed to create user namespace.*stage",
        says: "Apptainer's starter could not begin",
        means: "User namespaces are not allowed for this account, a limit of processes is reached, or an outer container forbids them.",
        act: "`unshare -Ur true`, `sysctl user.max_user_namespaces kernel.apparmor_restrict_unprivileged_userns`, `ulimit -u`; run it with `-d` for the reason",
        sure: Sure::Guess,
        sources: &[seen("https://github.com/apptainer/apptainer/issues/3053", "2025-07-11")],
        samples: &["extract command failed: ERROR  : Failed to spawn stage 1"],
        ..APPTAINER
    },
    Cause {
        id: "apptainer.mount_invalid",
        sign: r"container creation failed: (?:mount hook function failure: )?mount (?<what>\S+?)(?:->\S+)?(?: failed| error)[^:]*: (?:.*: )?invalid argument",
        says: "the kernel did not take the mount of {what}",
        means: "Inside of another container or on a network file system some kinds of mounts and options are not possible; an overlay on NFS or Lustre is told in the same words.",
        act: "leave that mount out (`--no-mount tmp`, `--contain`), or run it outside of the other container; give an overlay or TMPDIR a local file system (ext4, xfs, tmpfs)",
        sure: Sure::Guess,
        sources: &[seen("https://github.com/apptainer/singularity/issues/4017", "2019-07-11")],
        samples: &["container creation failed: mount /tmp failed: invalid argument"],
        ..APPTAINER
    },
    Cause {
        id: "apptainer.fuse",
        sign: r"(squashfuse(_ll)?|fuse2fs|fuse-overlayfs|image driver).*(exited|failed to mount|mount failed|fuse: device not found|Operation not permitted)",
        says: "Apptainer could not mount the image by FUSE",
        means: "/dev/fuse is missing or not allowed here (a container, an old kernel), or the image lies on slow storage and was not mounted in time.",
        act: "`ls -l /dev/fuse`, `modprobe fuse`; of a container around it hand it /dev/fuse; try it again for an image on network storage, or `--unsquash`, or an installation with setuid",
        sure: Sure::Guess,
        sources: &[
            seen("https://github.com/apptainer/apptainer/issues/2324", "2024-07-02"),
            seen("https://github.com/apptainer/apptainer/issues/949", "2022-12-20"),
        ],
        samples: &[
            "FATAL:   container creation failed: image driver mount failure: image driver squashfuse_ll instance exited with error: squashfuse_ll exited: fusermount3: mount failed: Operation not permitted",
        ],
        ..APPTAINER
    },
    Cause {
        id: "apptainer.mount_source",
        sign: r"(while mounting (?<path>[^ ]+): )?mount source (?<source>[^ ]+) doesn't exist|mount [^ ]+->[^ ]+ error: while mounting (?<bind>/[^ ]+): destination (?<target>[^ ]+) doesn't exist in container",
        says: "a folder that Apptainer should bind is not there[: {source}][: {target}]",
        means: "The source is missing on this host, or the target is missing in the image and Apptainer may not make it.",
        act: "look for the source on the node where the job runs (a `bind path` of apptainer.conf, APPTAINER_BIND, `--bind`); for the target make the folder in the image or allow `enable underlay` or overlay",
        samples: &[
            "FATAL:   container creation failed: mount /.singularity.d/libs/faked->/usr/local/var/apptainer/mnt/session/libs/faked error: while mounting /.singularity.d/libs/faked: mount source /.singularity.d/libs/faked doesn't exist",
        ],
        ..APPTAINER
    },
    Cause {
        id: "apptainer.root_to_build",
        sign: "You must be the root user, however you can use --remote or --fakeroot",
        says: "building this image wants root or `--fakeroot`",
        means: "A definition file with scripts is run as root inside the image.",
        act: "`apptainer build --fakeroot` (the account needs lines in /etc/subuid and /etc/subgid), or build it elsewhere and copy the image",
        sure: Sure::Confirmed,
        samples: &[
            "FATAL:   You must be the root user, however you can use --remote or --fakeroot to build from a Singularity recipe file",
        ],
        ..APPTAINER
    },
    Cause {
        id: "apptainer.no_image",
        sign: r"FATAL: +(could not open image (?<image>[^ ]+): .*(no such file or directory|failed to retrieve path)|[Uu]nable to open image|Unable to handle [^ ]+ uri: .*not found)",
        says: "there is no image {image}",
        means: "The path is wrong on this node, or the file system with it is not mounted.",
        act: "`ls -l` of the image on the node where the job runs; look at the mount of that file system",
        samples: &[
            "FATAL:   could not open image /scratch/train.sif: failed to retrieve path for /scratch/train.sif: lstat /scratch/train.sif: no such file or directory",
        ],
        ..APPTAINER
    },
    Cause {
        id: "apptainer.command",
        sign: r"FATAL: +.?\x22(?<command>[^\x22]+)\x22: (executable file not found in \$PATH|no such file or directory|permission denied)|FATAL: +stat (?<path>[^ ]+): no such file or directory",
        says: "the image has no program [{command}][{path}]",
        means: "The command is misspelt or is not in this image (an image of today may have python3 and no python).",
        act: "look in the image: `apptainer exec IMAGE which NAME`; options of Apptainer stand before the image's name",
        samples: &["FATAL:   \"python\": executable file not found in $PATH"],
        ..APPTAINER
    },
    Cause {
        id: "apptainer.no_squashfuse",
        sign: r"squashfuse(_ll)? not found",
        says: "squashfuse is not installed, and Apptainer cannot mount the image without it",
        means: "Without its setuid part Apptainer mounts SIF images by squashfuse. A copy of Apptainer that was moved or unpacked by hand lacks the one that its package brings.",
        act: "install squashfuse, or Apptainer from its package; until then `apptainer build --sandbox DIR IMAGE.sif` and run the folder",
        remedy: Remedy::Install,
        sources: &[seen("https://github.com/biocorecrg/MOP2/issues/49", "2023-07-18")],
        samples: &[
            "INFO:    squashfuse not found, will not be able to mount SIF",
            "FATAL:   container creation failed: mount hook function failure: mount /proc/self/fd/3->/var/apptainer/mnt/session/rootfs error: while mounting image /proc/self/fd/3: squashfuse not found",
        ],
        ..APPTAINER
    },
    Cause {
        id: "apptainer.no_shell",
        sign: r"FATAL: +exec /\.singularity\.d/(actions/[a-z]+|runscript) failed: (?<why>no such file or directory|permission denied|exec format error)",
        says: "Apptainer cannot start its script in the container ({why})",
        means: "`no such file`: the image has no /bin/sh, or its folder was not mounted whole (Singularity 3.0.0 with --nv did so). `exec format error`: it is for another architecture.",
        act: "`apptainer --version`: take a current one; `apptainer inspect IMAGE.sif`; for an image without a shell name the program (`apptainer exec IMAGE.sif /path/of/program`); otherwise build the image for this architecture",
        sure: Sure::Guess,
        sources: &[seen("https://github.com/apptainer/singularity/issues/2244", "2018-10-16")],
        samples: &["FATAL:   exec /.singularity.d/actions/shell failed: no such file or directory"],
        ..APPTAINER
    },
    Cause {
        id: "apptainer.failed",
        sign: r"^FATAL: +(container creation failed|[Ww]hile (performing build|making image|running engine)): ?(?<what>.+)",
        role: Role::Effect,
        says: "Apptainer failed: {what}",
        means: "The end of the line has the reason.",
        act: "read the end of the line; run it again with `apptainer -d` for more",
        remedy: Remedy::Look,
        sure: Sure::Guess,
        samples: &[
            "FATAL:   While performing build: conveyor failed to get: no descriptor found for reference",
        ],
        ..APPTAINER
    },
];
