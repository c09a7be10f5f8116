//! Packages: apt and dpkg, dnf and rpm, zypper, pip and conda; and fetching, which all of them need.

use super::super::cause::{Cause, Counts, Remedy, Role, Sure, TOOL, seen};

const APT: Cause = Cause {
    remedy: Remedy::Settings,
    sources: &[seen("https://github.com/Debian/apt (apt-pkg, apt-private, methods)", "2026-11-30")],
    ..TOOL
};
const DPKG: Cause = Cause {
    remedy: Remedy::Settings,
    sources: &[seen("https://manpages.debian.org/bookworm/dpkg/dpkg.1.en.html", "2026-11-30")],
    ..TOOL
};
const DNF: Cause = Cause {
    remedy: Remedy::Settings,
    sources: &[seen("https://github.com/rpm-software-management/dnf (dnf/base.py, dnf/cli)", "2026-11-30")],
    ..TOOL
};
const RPM: Cause = Cause {
    remedy: Remedy::Settings,
    sources: &[seen("https://github.com/rpm-software-management/rpm (lib, rpmio)", "2026-11-30")],
    ..TOOL
};
const PIP: Cause = Cause {
    remedy: Remedy::Settings,
    sources: &[seen("https://github.com/pypa/pip (src/pip/_internal)", "2026-11-30")],
    ..TOOL
};
const FETCH: Cause = Cause {
    remedy: Remedy::Settings,
    sources: &[seen("https://curl.se/libcurl/c/libcurl-errors.html", "2026-11-30")],
    ..TOOL
};

/// Lines of apt that name the repository of a signature.
const REPOSITORY: &[&str] = &[
    "(?:GPG error: |verification failed: |The repository '|^Err:?[0-9]* )(?<repository>(?:https?|file|ftp)://[^' ]+)",
];
/// Causes that stop a fetch before the words of a package manager.
const NO_FETCH: &[&str] = &[
    "fetch.name_not_found",
    "fetch.not_connected",
    "fetch.no_network",
    "fetch.timed_out",
    "fetch.cut_off",
    "fetch.proxy_login",
    "fetch.proxy",
    "fetch.certificate_not_yet_valid",
    "fetch.certificate_expired",
    "fetch.certificate_unknown",
    "fetch.certificate_name",
    "fetch.no_certificates",
    "fetch.tls",
    "fetch.server_trouble",
    "fetch.forbidden",
    "apt.index_unlike_release",
    "apt.not_a_repository_answer",
    "dnf.end_of_life",
    "dnf.status",
    "fetch.not_there",
    "space.left",
];
/// Causes that keep a signature from counting.
const NO_SIGNATURE: &[&str] = &[
    "apt.key_sha1_nvidia",
    "apt.key_sha1",
    "apt.key_expired",
    "apt.key_expired_sqv",
    "apt.key_revoked",
    "apt.key_nvidia_missing",
    "apt.key_missing",
    "apt.signature_bad",
    "apt.key_unreadable",
    "apt.not_a_repository_answer",
];

pub(in crate::causes) const ROWS: &[Cause] = &[
    // Clocks and dates.
    Cause {
        id: "apt.clock_behind",
        sign: r"is not valid yet \(invalid for another (?<time>[^)]+)\)",
        says: "the clock of this host is behind by {time}",
        means: "apt takes the release file of a repository for one of the future.",
        act: "set the clock (`timedatectl set-ntp true`; the playbook `chrony` keeps it), then run apt again",
        sure: Sure::Confirmed,
        sources: &[seen(
            "https://github.com/hkjarral/AVA-AI-Voice-Agent-for-Asterisk/issues/122",
            "2026-01-08",
        )],
        samples: &[
            "E: Release file for http://deb.debian.org/debian/dists/bookworm-updates/InRelease is not valid yet (invalid for another 1d 18h 41min 35s)",
        ],
        ..APT
    },
    Cause {
        id: "apt.release_expired",
        sign: r"Release file for (?<repository>[^ ]+) is expired \(invalid since (?<time>[^)]+)\)",
        says: "the release file of {repository} has been expired for {time}",
        means: "A mirror that is renewed no more hands out an old release file, or the clock of this host is ahead.",
        act: "compare `date` with another host first; where the clock is right, have the mirror synchronised or take another one; a release at its end of life is in the archive (archive.debian.org, old-releases.ubuntu.com)",
        samples: &[
            "E: Release file for http://192.0.2.5/ubuntu/dists/jammy-updates/InRelease is expired (invalid since 3d 4h 12min 9s). Updates for this repository will not be applied.",
        ],
        ..APT
    },
    // Keys and signatures of apt.
    Cause {
        id: "apt.key_sha1_nvidia",
        sign: "(?:A4B469963BF863CC|compute/cuda/repos/).*not considered secure since (?<day>[0-9-]+)",
        says: "apt refuses the key of NVIDIA's CUDA repository, which is bound by SHA-1 (not secure since {day})",
        means: "apt 3 asks sqv, whose policy takes no key that is bound by SHA-1 any more; NVIDIA gives no newer key to a directory that it has published. Neither the network nor the fingerprint is wrong.",
        act: "take NVIDIA's directory of the host's own release, which has a newer key (playbook `cuda-repository` without `distribution`), or a mirror that your site signs; /usr/share/apt/default-sequoia.config on the host has the policy",
        sure: Sure::Confirmed,
        sources: &[seen("https://github.com/NVIDIA/cuda-repo-management/issues/39", "2026-02-02")],
        samples: &[
            "  Sub-process /usr/bin/sqv returned an error code (1), error message is: Signing key on EB693B3035CD5710E231E123A4B469963BF863CC is not bound:            No binding signature at time 2026-01-29T20:38:48Z   because: Policy rejected non-revocation signature (PositiveCertification) requiring second pre-image resistance   because: SHA1 is not considered secure since 2026-02-01T00:00:00Z",
        ],
        ..APT
    },
    Cause {
        id: "apt.key_sha1",
        sign: "(?:Signing key on (?<key>[0-9A-F]{8,40}).*)?not considered secure since (?<day>[0-9-]+)",
        near: REPOSITORY,
        says: "apt refuses a key that is bound by SHA-1 (not secure since {day})",
        means: "apt 3 asks sqv, whose policy takes no key that is bound by SHA-1 any more. Neither the network nor the fingerprint is wrong.",
        act: "take the newer key of the repository[ {repository}][ (the present one is {key})], or a mirror that your site signs; /usr/share/apt/default-sequoia.config on the host has the policy",
        sure: Sure::Confirmed,
        sources: &[seen("https://github.com/kismetwireless/kismet-packages/issues/18", "2026-02-02")],
        samples: &[
            "  Sub-process /usr/bin/sqv returned an error code (1), error message is: Signing key on AB12CD34 is not bound: No binding signature at time 2025-10-21T23:11:23Z   because: SHA1 is not considered secure since 2026-02-01T00:00:00Z",
        ],
        ..APT
    },
    Cause {
        id: "apt.key_expired",
        sign: r"(?:GPG error: (?<repository>[a-z]+://[^ ]+) .*)?\b(?:EXPKEYSIG|KEYEXPIRED) (?<key>[0-9A-F]+)",
        near: REPOSITORY,
        says: "the key {key} of a repository has expired",
        means: "The copy of the repository's key on this host has expired; its owner has mostly published the same key with a later end, or a new one.",
        act: "fetch the renewed key[ of {repository}] into the file that `signed-by` names (`key` of the `repository` task), then run `apt-get update` again; no `trusted=yes`",
        sure: Sure::Confirmed,
        sources: &[seen("https://github.com/openSUSE/snapper/issues/1047", "2025-08-12")],
        samples: &[
            "  The following signatures were invalid: EXPKEYSIG 248BF9082524EEFD filesystems:snapper OBS Project <filesystems:snapper@build.opensuse.org>",
            "W: GPG error: http://192.0.2.7/repo stable InRelease: The following signatures were invalid: KEYEXPIRED 1654500000",
        ],
        ..APT
    },
    Cause {
        id: "apt.key_expired_sqv",
        sign: "(?:Sub-process /usr/bin/sqv|sqv:|Signing key on (?<key>[0-9A-F]{8,40})).*(?:[Ee]xpired on|is expired|certificate is not live|key is not live)",
        near: REPOSITORY,
        says: "the key[ {key}] of a repository has expired",
        means: "sqv, which apt 3 asks, takes the repository's key on this host for expired.",
        act: "fetch the renewed key[ of {repository}] into the file that `signed-by` names (`key` of the `repository` task), then run `apt-get update` again; where only this host says so, look at its clock",
        samples: &[
            "  Sub-process /usr/bin/sqv returned an error code (1), error message is: Signing key on 15058500A0235D97F5D10063B188E2B695BD4743 is bad:            The primary key is not live   because: Expired on 2026-02-04T10:25:46Z",
        ],
        ..APT
    },
    Cause {
        id: "apt.key_revoked",
        sign: r"(?:GPG error: (?<repository>[a-z]+://[^ ]+) .*)?\bREVKEYSIG (?<key>[0-9A-F]+)",
        near: REPOSITORY,
        says: "the key {key} of a repository was revoked by its owner",
        means: "The owner withdrew the key, and apt takes nothing that it signed.",
        act: "read at the owner's page[ of {repository}] why, and take the new key from there",
        sure: Sure::Confirmed,
        samples: &[
            "W: GPG error: https://m.example stable InRelease: The following signatures were invalid: REVKEYSIG 42D5A192B819C5DA Vendor",
        ],
        ..APT
    },
    Cause {
        id: "apt.key_nvidia_missing",
        sign: "(?:NO_PUBKEY|Missing key) (?:EB693B3035CD5710E231E123)?A4B469963BF863CC",
        says: "the key of NVIDIA's CUDA repository (3bf863cc) is missing",
        means: "NVIDIA changed the key of its CUDA repositories in April 2022, and this host or image has only the former one.",
        act: "install NVIDIA's package cuda-keyring for the host's release (the playbook `cuda-repository` brings the key), and remove the old key (`apt-key del 7fa2af80`) and the entries without `signed-by`",
        sure: Sure::Confirmed,
        sources: &[seen(
            "https://developer.nvidia.com/blog/updating-the-cuda-linux-gpg-repository-key/",
            "2026-11-30",
        )],
        samples: &[
            "W: GPG error: https://developer.download.nvidia.com/compute/cuda/repos/ubuntu2004/x86_64  InRelease: The following signatures couldn't be verified because the public key is not available: NO_PUBKEY A4B469963BF863CC",
        ],
        ..APT
    },
    Cause {
        id: "apt.key_missing",
        sign: "(?:(?:GPG error: |verification failed: )(?<repository>[a-z]+://[^ ]+) .*)?(?:NO_PUBKEY |Missing key )(?<key>[0-9A-F]{4,40})",
        near: &[
            "(?:GPG error: |verification failed: |The repository '|^Err:?[0-9]* )(?<repository>(?:https?|file|ftp)://[^' ]+)",
            r"\[expired: (?<expired>[0-9-]+)\]",
        ],
        says: "apt has no usable key {key} for a repository[: the copy here expired on {expired}]",
        means: "The key is not in the keyring of this repository, or the copy there has expired, which apt tells in the same words.",
        act: "look with `gpg --show-keys FILE` at the file that `signed-by` names: fetch the repository's key into it where it is missing or expired[ ({repository})], and compare its fingerprint; it must be readable for all (`key` and the fingerprint of the `repository` task)",
        sources: &[seen("https://github.com/d1vanov/quentier/issues/392", "2022-06-08")],
        samples: &[
            "W: GPG error: https://m.example stable InRelease: The following signatures couldn't be verified because the public key is not available: NO_PUBKEY 871920D1991BC93C",
            "W: OpenPGP signature verification failed: https://m.example stable InRelease: Sub-process /usr/bin/sqv returned an error code (1), error message is: Missing key 3BF8, which is needed to verify signature.",
        ],
        ..APT
    },
    Cause {
        id: "apt.signature_bad",
        sign: r"(?:GPG error: (?<repository>[a-z]+://[^ ]+) .*)?(?:\bBADSIG (?<key>[0-9A-F]+)|error message is: .*Message has been manipulated)",
        near: REPOSITORY,
        says: "a release file does not fit its signature",
        means: "A mirror or a proxy handed out parts of two different states, or something changed the file on its way.",
        act: "run `apt-get update` again in some minutes; where it stays, remove /var/lib/apt/lists/* and go round the proxy or cache between[ this host and {repository}]",
        passing: true,
        samples: &[
            "W: GPG error: http://192.0.2.9 jammy-updates InRelease: The following signatures were invalid: BADSIG 871920D1991BC93C Ubuntu Archive Automatic Signing Key (2018) <ftpmaster@ubuntu.com>",
        ],
        ..APT
    },
    Cause {
        id: "apt.not_a_repository_answer",
        sign: r"Clearsigned file isn't valid, got '(?<got>[A-Z]+)' \(does the network require authentication\?\)",
        says: "something on the way answers in place of the repository",
        means: "In place of the release file came another text: the page of a proxy or a login page of the network, or an empty file.",
        act: "look at what comes (`curl -L URL/InRelease`): log in to the network, or name the proxy (`Acquire::http::Proxy` in /etc/apt/apt.conf.d)",
        samples: &[
            "E: Failed to fetch http://archive.ubuntu.com/ubuntu/dists/jammy/InRelease  Clearsigned file isn't valid, got 'NOSPLIT' (does the network require authentication?)",
        ],
        ..APT
    },
    Cause {
        id: "apt.key_unreadable",
        sign: r"The key\(s\) in the keyring (?<file>[^ ]+) are ignored as the file (?:is not readable|has an unsupported filetype|is unreadable)",
        says: "apt cannot use the keyring {file}",
        means: "The file is not readable for the account `_apt`, or is neither a binary keyring (.gpg) nor an armoured one (.asc).",
        act: "make it readable (`chmod 644`) and name it by its kind: .asc for text, .gpg for a binary file (`gpg --dearmor`)",
        sure: Sure::Confirmed,
        samples: &[
            "W: http://192.0.2.3/repo/dists/stable/InRelease: The key(s) in the keyring /etc/apt/keyrings/vendor.gpg are ignored as the file is not readable by user '_apt' executing apt-key.",
            "W: http://192.0.2.3/repo/dists/stable/InRelease: The key(s) in the keyring /etc/apt/trusted.gpg.d/vendor.gpg are ignored as the file has an unsupported filetype.",
        ],
        ..APT
    },
    Cause {
        id: "apt.signed_by_conflict",
        sign: "Conflicting values set for option (?<option>[A-Za-z-]+) regarding source (?<repository>[^ ]+)",
        says: "two entries name {repository} with different {option}",
        means: "Two files below /etc/apt/sources.list.d name the same repository, with other keys or one without. apt reads no source at all until then.",
        act: "find both (`grep -rl HOST /etc/apt/sources.list /etc/apt/sources.list.d`), remove the older one, then run `apt-get update` again",
        sure: Sure::Confirmed,
        sources: &[seen("https://github.com/NVIDIA/libnvidia-container/issues/194", "2022-10-25")],
        samples: &[
            "E: Conflicting values set for option Signed-By regarding source https://nvidia.github.io/libnvidia-container/stable/ubuntu18.04/amd64/ /: /usr/share/keyrings/nvidia-container-toolkit-keyring.gpg !=",
        ],
        ..APT
    },
    Cause {
        id: "apt.malformed_sources",
        sign: "(?:E: |E:|Error: |^)(?:Malformed (?:entry|line|stanza) (?<line>[0-9]+) in (?:list file|source list|sources file|sources? file|[a-z.0-9]+ file|file) (?<file>[^ ]+)|Type '(?<type>[^']*)' is not known on (?:line|stanza) [0-9]+ in source list (?<list>[^ ]+)|Unable to parse (?:package file|source file))",
        says: "apt cannot read a file of sources[: {file}, entry {line}][: {list} (type `{type}`)]",
        means: "An entry of a file of sources has an error. apt reads no source at all until it is mended; a saved HTML page in place of the list looks like this as well.",
        act: "mend or remove the file[ {file}][ {list}] on the host, then run `apt-get update`",
        sure: Sure::Confirmed,
        samples: &[
            "E: Malformed entry 1 in list file /etc/apt/sources.list.d/x.list (Component)",
            "E: Type '<!doctype' is not known on line 1 in source list /etc/apt/sources.list.d/nvidia-container-toolkit.list",
        ],
        ..APT
    },
    Cause {
        id: "apt.sources_unread",
        sign: r"The list of sources could not be read\.",
        role: Role::Summary,
        says: "apt could not read its sources",
        means: "apt only says that a file of sources is wrong; the reason stands before.",
        act: "look at the error before this line, which names the file",
        samples: &["E: The list of sources could not be read."],
        ..APT
    },
    Cause {
        id: "apt.no_release_file",
        sign: "The repository '(?<repository>[^']+)' (?:does not have|no longer has) a Release file",
        follows: NO_FETCH,
        says: "{repository} has no release file",
        means: "The address exists no more, never had this release (the codename in the entry), or the release has reached its end of life.",
        act: "open the address in a browser or with `curl -I`: correct the codename, remove the entry, or for an old release take the archive (archive.debian.org, old-releases.ubuntu.com)",
        samples: &[
            "E: The repository 'https://192.0.2.4/repo noble Release' does not have a Release file.",
            "E: The repository 'http://archive.ubuntu.com/ubuntu lunar Release' no longer has a Release file.",
        ],
        ..APT
    },
    Cause {
        id: "apt.not_signed",
        sign: "The repository '(?<repository>[^' ]+)[^']*' is (?:not|no longer) signed",
        role: Role::Effect,
        follows: NO_SIGNATURE,
        says: "{repository} counts as not signed",
        means: "apt found no signature that it trusts. The reason stands before: a key that is missing or has expired, or a file that could not be fetched.",
        act: "look at the line before that names the key; a local repository without any signature needs one, or `trusted=yes` in its own entry only",
        samples: &[
            "E: The repository 'http://192.0.2.8/repositories/filesystems:/snapper/xUbuntu_24.04  InRelease' is not signed.",
        ],
        ..APT
    },
    Cause {
        id: "apt.changed_value",
        sign: "Repository '(?<repository>[^']+)' changed its '(?<field>[^']+)' value from '(?<old>[^']*)' to '(?<new>[^']*)'",
        says: "{repository} changed its {field} from {old} to {new}",
        means: "apt wants a confirmation when a repository becomes another release or gets another name.",
        act: "confirm the change, if it is expected (a new stable release), with `apt-get update --allow-releaseinfo-change`; else name the codename in the entry in place of `stable`",
        sure: Sure::Confirmed,
        samples: &[
            "E: Repository 'http://deb.debian.org/debian buster InRelease' changed its 'Suite' value from 'stable' to 'oldstable'",
        ],
        ..APT
    },
    Cause {
        id: "apt.lists_damaged",
        sign: "Encountered a section with no Package: header|Problem with MergeList (?<file>[^ ]+)|package lists or status file could not be parsed or opened",
        says: "a list of packages on this host is damaged",
        means: "The download was cut off, or a page of a proxy was saved as a list.",
        act: "remove /var/lib/apt/lists/* and run `apt-get update`; where the file named is /var/lib/dpkg/status, see /var/backups in place of that[ ({file})]",
        samples: &[
            "E: Problem with MergeList /var/lib/apt/lists/192.0.2.5_ubuntu_dists_jammy_main_binary-amd64_Packages",
        ],
        ..APT
    },
    Cause {
        id: "apt.other_distribution",
        sign: r"Conflicting distribution: (?<repository>[^ ]+) .*\(expected (?<wanted>[^ ]+) but got (?<got>[^)]*)\)",
        says: "{repository} is of {got}, and the entry says {wanted}",
        means: "The codename in the entry is not the one that the repository has in its release file.",
        act: "write the codename of the repository into the entry, or leave it where the packages fit all releases",
        counts: Counts::Warn,
        samples: &[
            "W: Conflicting distribution: http://192.0.2.5/repo jammy InRelease (expected jammy but got focal)",
        ],
        ..APT
    },
    Cause {
        id: "apt.partial_file",
        sign: "416 +Requested [Rr]ange [Nn]ot [Ss]atisfiable",
        says: "apt has a part of a file that does not fit the mirror's",
        means: "An earlier download was cut off, and the file on the mirror is another one now.",
        act: "`apt-get clean` and run it again",
        passing: true,
        samples: &["  416  Requested Range Not Satisfiable [IP: 192.0.2.5 80]"],
        ..APT
    },
    Cause {
        id: "apt.no_method",
        sign: "The method driver (?<driver>[^ ]+) could not be found",
        says: "apt has no program for this kind of address ({driver})",
        means: "The word before `://` in an entry is wrong, or an old apt lacks its package (apt-transport-https).",
        act: "correct the entry, or install apt-transport-https (before Debian 10 and Ubuntu 18.04)",
        sure: Sure::Confirmed,
        samples: &["E: The method driver /usr/lib/apt/methods/https could not be found."],
        ..APT
    },
    Cause {
        id: "gpg.no_data",
        sign: "gpg: no valid OpenPGP data found|gpg: keyserver receive failed: (?<why>.+)",
        says: "no key came[: {why}]",
        means: "The download of the key gave nothing or another page (a proxy, a wrong address), or the key server is not reached from here.",
        act: "fetch it by hand (`curl -fL URL`) and look at its first line; where key servers are blocked take the key from the vendor's https address",
        passing: true,
        samples: &["gpg: no valid OpenPGP data found.", "gpg: keyserver receive failed: No data"],
        ..APT
    },
    Cause {
        id: "gpg.no_terminal",
        sign: "gpg: cannot open '/dev/tty'",
        says: "gpg wanted to ask something and has no terminal",
        means: "In a script it asks before it overwrites a file or for a passphrase.",
        act: "give it `--batch --yes`, as in `gpg --batch --yes --dearmor -o FILE`",
        sure: Sure::Confirmed,
        samples: &["gpg: cannot open '/dev/tty': No such device or address"],
        ..APT
    },
    // Harmless words of apt.
    Cause {
        id: "apt.legacy_keyring",
        sign: r"Key is stored in legacy trusted\.gpg keyring|apt-key is deprecated\. Manage keyring files|Policy will reject signature within a year|should be upgraded to deb822 \.sources|Missing Signed-By in the ",
        says: "a repository is set up in an older way",
        means: "apt only advises a newer way to keep the repository's key or entry; the update works.",
        counts: Counts::Note,
        remedy: Remedy::Look,
        sure: Sure::Confirmed,
        sources: &[seen("https://github.com/NVIDIA/libnvidia-container/issues/232", "2023-12-15")],
        samples: &[
            "W: https://nvidia.github.io/libnvidia-container/stable/ubuntu18.04/amd64/InRelease: Key is stored in legacy trusted.gpg keyring (/etc/apt/trusted.gpg), see the DEPRECATION section in apt-key(8) for details.",
            "Warning: apt-key is deprecated. Manage keyring files in trusted.gpg.d instead (see apt-key(8)).",
        ],
        ..APT
    },
    Cause {
        id: "apt.skipped_index",
        sign: r"Skipping acquire of configured file '|Target [^ ]+ \([^)]*\) is configured multiple times in |does not have a stable CLI interface|Download is performed unsandboxed as root|debconf: (?:delaying package configuration|unable to initialize frontend|falling back to frontend|\(Can't locate Term/ReadLine|\(TERM is not set)|debconf: \(Dialog frontend|invoke-rc\.d: (?:could not determine current runlevel|policy-rc\.d denied execution)|N: (?:Ignoring file|See apt-secure|Updating from such a repository)",
        says: "apt tells of something that it leaves out",
        means: "The line is advice or tells of an index that the repository does not have, such as one for i386. Installations in images and scripts print such lines.",
        counts: Counts::Note,
        remedy: Remedy::Look,
        samples: &[
            "N: Skipping acquire of configured file 'main/binary-i386/Packages' as repository 'https://192.0.2.4 noble InRelease' doesn't support architecture 'i386'",
            "WARNING: apt does not have a stable CLI interface. Use with caution in scripts.",
            "debconf: delaying package configuration, since apt-utils is not installed",
        ],
        ..APT
    },
    // What apt fetches.
    Cause {
        id: "apt.index_unlike_release",
        sign: r"(?:(?<place>https?://[^ ]+)  ?)?(?:File has unexpected size \([^)]*\)\. Mirror sync in progress\?|Hash Sum mismatch|Size mismatch$|Hashes of received file)",
        says: "a repository hands out files of two different states",
        means: "The mirror is being renewed at this moment, or a mirror, a proxy or a cache between keeps an old part. Nothing on the host is broken.",
        act: "wait some minutes and run `apt-get update` again; where it stays, have your own mirror synchronised or the proxy's cache emptied, and remove /var/lib/apt/lists/* last",
        passing: true,
        sources: &[
            seen("https://github.com/NVIDIA/cuda-repo-management/issues/24", "2025-06-30"),
            seen("https://github.com/NVIDIA/cuda-repo-management/issues/31", "2025-11-07"),
        ],
        samples: &[
            "  File has unexpected size (1797735 != 1778230). Mirror sync in progress? [IP: 192.0.2.32 443]",
            "E: Failed to fetch http://192.0.2.9/ubuntu/dists/jammy/main/binary-amd64/Packages.gz  Hash Sum mismatch",
        ],
        ..APT
    },
    Cause {
        id: "apt.package_gone",
        sign: r"Failed to fetch (?<file>[^ ]+\.u?deb) +404",
        says: "the mirror no longer has a file that the list of packages names",
        means: "The list of packages on this host or in this image is older than the mirror, which has replaced the package since; a wrong address in an entry gives the same answer.",
        act: "run `apt-get update` and try again at once; in an image build do both in one RUN, and build without the cached layer; where `update` itself meets the 404, correct the entry of that repository[ ({file})]",
        passing: true,
        sources: &[seen("https://github.com/p2pool-starter-stack/pithead/issues/929", "2026-08-13")],
        samples: &[
            "E: Failed to fetch http://deb.debian.org/debian/pool/main/l/linux/linux-cpupower_6.12.100-1_amd64.deb  404  Not Found [IP: 192.0.2.6 80]",
        ],
        ..APT
    },
    // Locks.
    Cause {
        id: "packages.locked",
        sign: r"(?:Could not get lock /[^ ]+|Waiting for cache lock|frontend lock was locked by |(?:status database|frontend lock|config\.dat) is locked by another process|can't create transaction lock on |Failed to obtain the transaction lock|Another app is currently holding the yum lock|Waiting for process with|System management is locked by the application)(?:.*?(?:process |pid |PID )?(?:process|pid|PID) (?<pid>[0-9]+)(?: \((?<program>[^)]+)\))?)?",
        says: "another program works on the packages of this host[: process {pid}][ ({program})]",
        means: "Only one program at a time may change packages. On a new machine it is mostly the first-boot setup or an automatic upgrade (unattended-upgrades, apt-daily, dnf-automatic, packagekit).",
        act: "wait until it is done and run this again; `apt-get -o DPkg::Lock::Timeout=300` waits by itself, the playbook `first-boot` waits for cloud-init, and `no-upgrades` keeps automatic upgrades from the driver; remove no lock file",
        sure: Sure::Confirmed,
        sources: &[seen("https://github.com/trailofbits/algo/issues/14335", "2021-10-27")],
        samples: &[
            "E: Could not get lock /var/lib/dpkg/lock-frontend. It is held by process 5043 (unattended-upgr)",
            "dpkg: error: dpkg frontend lock was locked by another process with pid 4711",
            "Waiting for cache lock: Could not get lock /var/lib/dpkg/lock-frontend. It is held by process 1203 (apt-get)...",
            "error: can't create transaction lock on /var/lib/rpm/.rpm.lock (Resource temporarily unavailable)",
            "System management is locked by the application with pid 1804 (zypper).",
        ],
        ..APT
    },
    Cause {
        id: "packages.not_root",
        sign: r"(?:Could not open lock file [^ ]+ - open \(13: Permission denied\)|Unable to acquire the dpkg frontend lock \([^)]*\), are you root\?|Unable to lock (?:the administration )?directory [^ ]+.*(?:13: Permission denied|are you root\?)|requested operation requires superuser privilege|This command has to be run with superuser privileges|This command has to be run under the root user|You need to be root to perform this command|Root privileges are required|are you root\?|dpkg: error: unable to (?:access|create).*Permission denied)",
        says: "this account may not change packages",
        means: "Only root may install packages.",
        act: "run it with sudo; in provision set `ssh.become: sudo` in the inventory",
        sure: Sure::Confirmed,
        samples: &[
            "E: Could not open lock file /var/lib/dpkg/lock-frontend - open (13: Permission denied)",
            "E: Unable to acquire the dpkg frontend lock (/var/lib/dpkg/lock-frontend), are you root?",
            "Error: This command has to be run with superuser privileges (under the root user on most systems).",
        ],
        ..APT
    },
    Cause {
        id: "packages.lock_not_got",
        sign: r"Unable to acquire the dpkg frontend lock \([^)]*\), is another process using it\?|Unable to lock (?:the administration )?directory|Could not get lock ",
        role: Role::Effect,
        follows: &["packages.locked", "packages.not_root"],
        says: "apt did not get its lock",
        means: "Another program works on the packages, or this account may not; the line before says which.",
        act: "wait until the other program is done (`ps -e | grep -E 'apt|dpkg|unattended'`) and run this again",
        samples: &[
            "E: Unable to acquire the dpkg frontend lock (/var/lib/dpkg/lock-frontend), is another process using it?",
        ],
        ..APT
    },
    Cause {
        id: "dpkg.interrupted",
        sign: "dpkg was interrupted, you must manually run",
        says: "a run of dpkg was cut off half way",
        means: "Packages wait for their configuration, and apt does nothing else until then.",
        act: "run `dpkg --configure -a`, then go on; delete nothing below /var/lib/dpkg",
        sure: Sure::Confirmed,
        sources: &[seen("https://github.com/openhab/openhabian/issues/952", "2020-10-17")],
        samples: &[
            "E: dpkg was interrupted, you must manually run 'sudo dpkg --configure -a' to correct the problem.",
        ],
        ..DPKG
    },
    Cause {
        id: "packages.space",
        sign: r"(?:You don't have enough free space in (?<place>[^ ]+?)\.?$|[Aa]t least (?<size>[0-9]+[KMG]?B?) more space needed on the (?<mount>[^ ]+) filesystem|needs (?<size2>[0-9]+[KMG]?i?B) more space on the (?<mount2>[^ ]+) filesystem|Couldn't determine free space in )",
        says: "there is no room for the packages[ in {place}][: {size} more are needed on {mount}][: {size2} more are needed on {mount2}]",
        means: "The file system for packages is too full.",
        act: "see `df -h`; `apt-get clean` or `dnf clean all` frees what is only kept, and old kernels take the most of /boot",
        sure: Sure::Confirmed,
        samples: &[
            "E: You don't have enough free space in /var/cache/apt/archives/.",
            "   At least 212MB more space needed on the / filesystem.",
            "  installing package linux-firmware-20240111-1.el9.noarch needs 51MB more space on the /boot filesystem",
        ],
        ..APT
    },
    // Files of two packages.
    Cause {
        id: "dpkg.overwrite_nvidia",
        sign: "trying to overwrite '(?<file>[^']+)', which is also in package (?<other>(?:lib)?(?:nvidia|cuda|xserver-xorg-video-nvidia)[^ ]*)(?: (?<version>[^ ]+))?",
        says: "{file} is in {other}[ {version}] as well: packages of two driver branches or two origins meet",
        means: "Packages of the driver from another branch, or from another repository (Ubuntu's archive and NVIDIA's), are still installed and bring the same file.",
        act: "see `dpkg -l | grep nvidia`: remove the packages of the former branch or origin, then `apt-get -f install`; keep one origin (pin the other away; `source` of the playbook `nvidia-driver`); use no `--force-overwrite`",
        remedy: Remedy::Install,
        sources: &[seen("https://github.com/lingfish/ollama-deb/issues/20", "2026-05-19")],
        samples: &[
            " trying to overwrite '/usr/lib/x86_64-linux-gnu/libnvidia-ml.so', which is also in package libnvidia-compute-535:amd64 535.183.01-0ubuntu1",
        ],
        ..DPKG
    },
    Cause {
        id: "dpkg.overwrite_rdma",
        sign: "trying to overwrite '(?<file>[^']+)', which is also in package (?<other>(?:rdma-core|ibverbs-providers|ibverbs-utils|libibverbs|librdmacm|rdmacm-utils|libibmad|libibumad|libibnetdisc|infiniband-diags|ibutils|mlnx|ofed|mft|ucx|libucx|openmpi|libopenmpi|srptools|opensm|perftest)[^ ]*)(?: (?<version>[^ ]+))?",
        says: "{file} is in {other}[ {version}] as well: two RDMA stacks meet",
        means: "Packages of the distribution (rdma-core) and of MLNX_OFED or DOCA-OFED bring the same file; a host can have only one stack.",
        act: "keep one stack: remove the other one's packages (`ofed_uninstall.sh`, or `apt-get remove` of {other}), then `apt-get -f install`; the playbooks `rdma-core` and `doca-ofed` take one each",
        remedy: Remedy::Install,
        sources: &[seen("MLNX_OFED: mlnxofedinstall (install.pl)", "2026-11-30")],
        samples: &[
            " trying to overwrite '/usr/lib/udev/rules.d/60-rdma-ndd.rules', which is also in package rdma-core 39.0-1",
        ],
        ..DPKG
    },
    Cause {
        id: "dpkg.overwrite",
        sign: "trying to overwrite '(?<file>[^']+)', which is also in package (?<other>[^ ]+)(?: (?<version>[^ ]+))?",
        near: &[r"error processing (?:archive|package) [^ ]*?(?<package>[a-z0-9][a-z0-9.+-]*)_[^ /]*\.deb"],
        says: "{file} is in the package {other}[ {version}] as well[ as in {package}]",
        means: "A file moved from one package to another, or packages of two origins are mixed; the packaging does not say which of them replaces the other.",
        act: "upgrade or remove {other} first, then `apt-get -f install`; tell the packager; use no `--force-overwrite` for libraries",
        remedy: Remedy::Install,
        sources: &[seen("https://github.com/lingfish/ollama-deb/issues/20", "2026-05-19")],
        samples: &[
            " trying to overwrite '/usr/lib/ollama/libggml-base.so.0.0.0', which is also in package libollama-nvidia (0.23.4)",
        ],
        ..DPKG
    },
    Cause {
        id: "dpkg.broken_pipe",
        sign: r"dpkg-deb: error: (?:paste subprocess|subprocess paste) was killed by signal \(Broken pipe\)",
        role: Role::Effect,
        says: "dpkg stopped unpacking",
        means: "dpkg closed the archive because of the error before this line; the disk is not meant.",
        act: "look at the error before this line",
        remedy: Remedy::Look,
        sources: &[seen("https://github.com/lingfish/ollama-deb/issues/20", "2026-05-19")],
        samples: &["dpkg-deb: error: paste subprocess was killed by signal (Broken pipe)"],
        ..DPKG
    },
    Cause {
        id: "dpkg.mounted_driver",
        sign: r"unable to (?:make backup link of|create new|remove newly-extracted version of|securely remove|move aside|delete old|install new version of) '?(?<file>\.?/?usr/[^']*(?:libcuda|libnvidia|nvidia)[^']*)'?.*: (?:Invalid cross-device link|Device or resource busy|Read-only file system)",
        says: "{file} is a mount of the host's driver, which dpkg cannot replace",
        means: "This is a container in which the NVIDIA runtime mounts the host's driver libraries; a package with the driver is to be installed inside it.",
        act: "install no driver in the container: take only the toolkit (`cuda-toolkit-12-4` in place of `cuda`, `--no-install-recommends`), or build the image without the NVIDIA runtime",
        sure: Sure::Confirmed,
        sources: &[seen("https://github.com/hpc-admin-sist/DockerMonitor/issues/15", "2026-11-30")],
        samples: &[
            " unable to make backup link of './usr/lib/x86_64-linux-gnu/libcuda.so.410.79' before installing new version: Invalid cross-device link",
        ],
        ..DPKG
    },
    Cause {
        id: "dpkg.archive_damaged",
        sign: r"(?:(?<file>[^ ']+\.deb)'? )?(?:is not a Debian format archive|corrupted filesystem tarfile|lzma error: (?:unexpected end of input|compressed data is corrupt)|unexpected end of file or stream|dpkg-deb .*unpack.*: (?:zstd|xz|gzip) error)",
        says: "the package file[ {file}] is damaged or cut off",
        means: "The download was not complete, or the file is no package.",
        act: "remove it (`apt-get clean`) and fetch it again; compare its checksum where it was fetched by hand; where it comes again, look at the disk (`dmesg`) and the mirror",
        samples: &[
            "dpkg-deb: error: '/var/cache/apt/archives/cuda-toolkit_12.4.1-1_amd64.deb' is not a Debian format archive",
            "dpkg-deb: error: <decompress> subprocess: lzma error: unexpected end of input",
        ],
        ..DPKG
    },
    Cause {
        id: "dpkg.zstd_unknown",
        sign: r"uses unknown compression for member 'control\.tar\.zst'",
        says: "this dpkg does not know the compression (zstd) of the package",
        means: "The package is for a newer distribution, such as Ubuntu 21.10 or later on Debian 11 or earlier.",
        act: "take the package for this host's own release",
        remedy: Remedy::Install,
        sure: Sure::Confirmed,
        samples: &[
            "dpkg-deb: error: archive 'cuda-keyring.deb' uses unknown compression for member 'control.tar.zst', giving up",
        ],
        ..DPKG
    },
    Cause {
        id: "dpkg.wrong_architecture",
        sign: r"package architecture \((?<package>[^)]+)\) does not match system \((?<system>[^)]+)\)",
        says: "the package is for {package} and this host is {system}",
        means: "The file was made for another kind of processor.",
        act: "take the package for {system} (NVIDIA's repositories: x86_64, or sbsa for Arm servers)",
        remedy: Remedy::Install,
        sure: Sure::Confirmed,
        samples: &[" package architecture (arm64) does not match system (amd64)"],
        ..DPKG
    },
    Cause {
        id: "dpkg.status_damaged",
        sign: "(?:parsing file '(?<file>/var/lib/dpkg/(?:status|available|updates/[0-9]+)[^']*)'|files list file for package '(?<package>[^']+)' (?:is missing final newline|contains empty filename)|unrecoverable fatal error, aborting)",
        says: "dpkg's own records are damaged[: {file}][: the list of {package}]",
        means: "The host went down or its disk was full while dpkg wrote them.",
        act: "save /var/lib/dpkg, then take the former state from /var/backups (dpkg.status.N.gz) or /var/lib/dpkg/status-old; a damaged list of a package comes back with `apt-get install --reinstall`",
        samples: &[
            "dpkg: error: parsing file '/var/lib/dpkg/updates/0014' near line 0:",
            "dpkg: unrecoverable fatal error, aborting:",
            " files list file for package 'linux-libc-dev:amd64' is missing final newline",
        ],
        ..DPKG
    },
    Cause {
        id: "dpkg.very_bad_state",
        sign: "[Pp]ackage is in a very bad inconsistent state|The package (?<package>[^ ]+) needs to be reinstalled, but I can't find an archive for it",
        says: "a package is half-installed[: {package}]",
        means: "An installation or removal of it was cut off, and dpkg wants it installed again first.",
        act: "install it again (`apt-get install --reinstall PACKAGE`); `dpkg --audit` names such packages (check software.half_done)",
        samples: &[
            " package is in a very bad inconsistent state; you should",
            "E: The package libnvidia-compute-535 needs to be reinstalled, but I can't find an archive for it.",
        ],
        ..DPKG
    },
    Cause {
        id: "dpkg.diverted",
        sign: "dpkg-divert: error: (?:rename involves overwriting|mismatch on (?:package|divert-to|file))|dpkg-divert: error: '(?<file>[^']+)'.*(?:clashes|diverted)",
        says: "a diversion of a file stands in the way",
        means: "A package wants to put a file aside that another package, mostly an old driver package or a .run installer, put aside or replaced.",
        act: "see `dpkg-divert --list '*nvidia*'`: remove what the old driver left (its packages with `apt-get purge`, a .run installation with `nvidia-uninstall`), then `apt-get -f install`",
        remedy: Remedy::Install,
        sure: Sure::Guess,
        samples: &[
            "dpkg-divert: error: rename involves overwriting '/usr/lib/x86_64-linux-gnu/libGL.so.1.distrib' with",
            "dpkg-divert: error: mismatch on package",
        ],
        ..DPKG
    },
    Cause {
        id: "dpkg.conflict",
        sign: "^dpkg: regarding (?<archive>[^ ]+) containing (?<package>[^ ,:]+)",
        says: "{package} does not go with a package that is installed",
        means: "The lines behind name the other one: one of them says that it conflicts with or breaks the other.",
        act: "install with apt in place of dpkg (`apt-get install ./FILE.deb`), which solves it, or remove the other package first",
        remedy: Remedy::Install,
        samples: &["dpkg: regarding ./mlnx-ofed-kernel-dkms_24.04.deb containing mlnx-ofed-kernel-dkms:"],
        ..DPKG
    },
    Cause {
        id: "dpkg.no_archive",
        sign: "dpkg(?:-deb)?: error: cannot access archive '?(?<file>[^':]+)'?: (?<why>.+)",
        says: "there is no file {file}: {why}",
        means: "The name is wrong, the download failed before, or a pattern such as *.deb matched nothing.",
        act: "see the download before and `ls`; then give the right name",
        sure: Sure::Confirmed,
        samples: &[
            "dpkg: error: cannot access archive 'cuda-keyring_1.1-1_all.deb': No such file or directory",
        ],
        ..DPKG
    },
    Cause {
        id: "dpkg.alternatives",
        sign: "update-alternatives: error: (?<what>.+)",
        says: "the links of alternatives are not right: {what}",
        means: "A link was replaced by hand, or a path that is named is not there, mostly after a .run installation of a driver or of CUDA.",
        act: "see `update-alternatives --display NAME`; remove the wrong link (`update-alternatives --remove-all NAME`), then `dpkg --configure -a`",
        sure: Sure::Guess,
        samples: &["update-alternatives: error: alternative path /usr/bin/gcc-12 doesn't exist"],
        ..DPKG
    },
    Cause {
        id: "dpkg.conffile_prompt",
        sign: "end of file on stdin at conffile prompt",
        says: "dpkg asked about a changed configuration file and nobody could answer",
        means: "The file was changed on the host and the package brings a new one; in a script there is no terminal for the answer.",
        act: "run `dpkg --configure -a --force-confold` (keeps the host's file), and in scripts give apt `-o Dpkg::Options::=--force-confold` with DEBIAN_FRONTEND=noninteractive",
        sure: Sure::Confirmed,
        samples: &[
            "dpkg: error processing package slurmd (--configure): end of file on stdin at conffile prompt",
        ],
        ..DPKG
    },
    Cause {
        id: "apt.unattended_conffile",
        sign: "Package (?<package>[^ ]+) has conffile prompt and needs to be upgraded manually",
        says: "unattended-upgrades leaves {package} out, as it would ask about a changed configuration file",
        means: "A file of its configuration was changed on this host and differs in the new package. What depends on it is kept back with it.",
        counts: Counts::Warn,
        act: "upgrade it by hand and answer (`apt-get install --only-upgrade {package}`); keep the own file with `-o Dpkg::Options::=--force-confold` where that is wanted; the packages kept back follow by themselves",
        sure: Sure::Confirmed,
        sources: &[seen("https://github.com/mvo5/unattended-upgrades (unattended-upgrade)", "2026-11-30")],
        samples: &["Package syslog-ng-core has conffile prompt and needs to be upgraded manually"],
        ..DPKG
    },
    Cause {
        id: "apt.kept_back",
        sign: "^Package (?<package>[^ ]+) is kept back because a related package is kept back or due to local apt_preferences",
        role: Role::Effect,
        says: "{package} is kept back",
        means: "A package that belongs to it is kept back, or a pin of this host holds it.",
        counts: Counts::Warn,
        act: "see `apt-cache policy {package}`, `apt-mark showhold` and the lines about other packages before",
        sources: &[seen("https://github.com/mvo5/unattended-upgrades (unattended-upgrade)", "2026-11-30")],
        samples: &[
            "Package base-files is kept back because a related package is kept back or due to local apt_preferences(5).",
        ],
        ..DPKG
    },
    Cause {
        id: "dpkg.build_dependencies",
        sign: "dpkg-checkbuilddeps: error: [Uu]nmet build dependencies: (?<needs>.+)|error: Failed build dependencies:",
        says: "packages to build with are missing[: {needs}]",
        means: "The source package names what it is built with, and that is not installed.",
        act: "install them: `mk-build-deps -i debian/control` or `apt-get build-dep .`, `dnf builddep FILE.spec`",
        remedy: Remedy::Install,
        sure: Sure::Confirmed,
        samples: &[
            "dpkg-checkbuilddeps: error: Unmet build dependencies: libmunge-dev libpmix-dev libjwt-dev",
            "error: Failed build dependencies:",
        ],
        ..DPKG
    },
    // What apt cannot put together.
    Cause {
        id: "apt.driver_of_two_origins",
        sign: r"(?<package>(?:lib)?nvidia[^ ]*|xserver-xorg-video-nvidia[^ ]*|cuda-drivers[^ ]*) : (?:Pre)?Depends: (?<needs>(?:lib)?nvidia[^ ]*|xserver-xorg-video-nvidia[^ ]*)(?: \((?<version>[^)]+)\))? but (?<have>[^ ]+) is (?:to be )?installed",
        says: "{package} wants {needs}[ {version}], and {have} would be installed: driver packages of two origins are mixed",
        means: "The same branch of the driver comes from two repositories (Ubuntu's archive and NVIDIA's), in other versions, and apt takes some packages from each.",
        act: "see `apt-cache policy {needs}`: take all packages of the driver from one origin and pin the other away, then `apt-get -f install`; the playbook `nvidia-driver` (its `source`) keeps to one; the check driver.packages finds the mixture",
        remedy: Remedy::Install,
        sources: &[seen(
            "https://github.com/aws-samples/aws-deep-learning-ami-ubuntu-dcv-desktop/issues/18",
            "2023-05-02",
        )],
        samples: &[
            "nvidia-dkms-530 : Depends: nvidia-kernel-common-530 (>= 530.41.03) but 530.30.02-0ubuntu1 is to be installed",
        ],
        ..APT
    },
    Cause {
        id: "apt.kernel_packages_gone",
        sign: r"(?<package>[a-z0-9][^ ]*) : (?:Pre)?Depends: (?<needs>linux-(?:modules|headers|image|modules-extra|modules-nvidia|objects-nvidia|signatures-nvidia)-[^ ]+)(?: \([^)]+\))? but it is not installable",
        says: "{package} wants {needs}, which no repository of this host or image has",
        means: "The archive drops the packages of a kernel with its successors, and a container sees only the repositories of its own image.",
        act: "on a host install a kernel that the archive has, with its headers (playbook `kernel`), and boot it; a driver container needs the version made for this kernel, and nothing on the host helps",
        remedy: Remedy::Install,
        sources: &[seen("https://github.com/Mellanox/network-operator/issues/1453", "2025-04-25")],
        samples: &[
            " mlnx-ofed-kernel-modules : Depends: linux-modules-extra-5.15.0-130-generic but it is not installable",
        ],
        ..APT
    },
    Cause {
        id: "apt.no_headers",
        sign: "(?:Unable to locate package|Couldn't find any package by (?:glob|regex)|Package '?|No match for argument: |No package |Unable to find a match: )[ ']*(?<package>(?:linux-headers|linux-image|linux-modules|linux-modules-extra|linux-tools|kernel-devel|kernel-headers|kernel-modules-extra|kernel-uek-devel|kernel-devel-matched)-[^ ']*)",
        says: "no repository of this host has {package}",
        means: "The mirror has no packages for this kernel any more: archives drop them with their successors.",
        act: "install a kernel that the mirror has, with its headers, and boot it (the playbook `kernel` does that; use it before what DKMS builds); older packages of kernels are in the distribution's archive or vault",
        remedy: Remedy::Install,
        samples: &[
            "E: Unable to locate package linux-headers-5.15.0-97-generic",
            "No match for argument: kernel-devel-5.14.0-362.8.1.el9_3.x86_64",
        ],
        ..APT
    },
    Cause {
        id: "apt.fabric_manager_name",
        sign: "(?:Unable to locate package |No match for argument: |Unable to find a match: |Package '?|for ')(?<package>nvidia-fabric-?manager[^ ']*)(?:'? has no installation candidate|' was not found|$|[ '])",
        says: "no repository of this host has {package}",
        means: "NVIDIA's repository has the fabric manager under its plain name, nvidia-fabricmanager, from branch 580 on; repositories of distributions have it with the branch in its name, and not for every version.",
        act: "take `source: repository` of the playbook `fabric-manager`, which knows the name; `source: archive` is for packages of the distribution, which must then offer the driver's exact version (`apt-cache madison {package}`)",
        remedy: Remedy::Install,
        sources: &[seen("https://github.com/NVIDIA/gpu-driver-container/issues/451", "2025-09-24")],
        samples: &[
            "E: Version '590.48.01-*' for 'nvidia-fabricmanager-590' was not found",
            "No match for argument: nvidia-fabric-manager-590.48.01",
        ],
        ..APT
    },
    Cause {
        id: "apt.no_such_version",
        sign: "Version '(?<version>[^']+)' for '(?<package>[^']+)' was not found",
        near: &[r"^ {1,2}(?<provider>[a-z0-9][a-z0-9.+-]+)(?: [0-9][^ ]*)?(?: \(.*\))?$"],
        says: "no repository of this host has {package} in version {version}",
        means: "The repositories do not offer that version, or no longer, or have the package only as another name of a second one.",
        act: "`apt-cache madison {package}` lists the versions that they offer[; where they have it only as another name of {provider}, ask for {provider}]; then take one of them, or add the repository that has it (playbook `cuda-repository` for CUDA and NCCL)",
        remedy: Remedy::Install,
        samples: &["E: Version '2.27.7-1+cuda12.9' for 'libnccl2' was not found"],
        ..APT
    },
    Cause {
        id: "apt.no_candidate",
        sign: "Package '?(?<package>[^ ']+)'? has no installation candidate",
        near: &[r"^ {1,2}(?<provider>[a-z0-9][a-z0-9.+-]+)(?: [0-9][^ ]*)?(?: \(.*\))?$"],
        says: "no repository of this host offers {package}",
        means: "Other packages name it, but no repository has it: it was dropped or renamed, or its component or repository is off.",
        act: "see `apt-cache policy {package}`[; in its place the repositories have {provider}: ask for {provider}]; switch its component on (`universe`, `non-free`), or correct the name",
        samples: &["E: Package 'libibverbs-utils' has no installation candidate"],
        ..APT
    },
    Cause {
        id: "packages.not_found",
        sign: "(?:Unable to locate package |Couldn't find any package by (?:glob|regex) |No match for argument: |No package matching |No provider of |No package (?<yum>[^ ]+) available)'?(?<package>[^ ',]*)",
        says: "no repository of this host has {package}[{yum}]",
        means: "The name is wrong, its repository is not set up or off, or the list of packages was never fetched here, as in a fresh container.",
        act: "run `apt-get update` or `dnf makecache` first; then look for the name (`apt-cache search`, `dnf search`) and for its repository (EPEL and CRB: playbook `epel`; CUDA: `cuda-repository`)",
        follows: NO_FETCH,
        sure: Sure::Guess,
        samples: &["E: Unable to locate package htop", "No match for argument: htop"],
        ..APT
    },
    Cause {
        id: "apt.driver_of_two_origins_more",
        sign: r"^ +(?:Pre)?Depends: (?<needs>(?:lib)?nvidia[^ ]*|xserver-xorg-video-nvidia[^ ]*|libcuda[^ ]*) \((?<version>[^)]+)\) but (?<have>[^ ]+) is (?:to be )?installed",
        says: "{needs}[ {version}] is wanted, and {have} would be installed: driver packages of two origins or branches are mixed",
        means: "The driver comes from two repositories in other versions (the release and its backports, the distribution and NVIDIA), and apt takes some packages from each.",
        act: "see `apt-cache policy {needs}`: take all packages of the driver from one origin (`-t NAME-backports` for all of them, or a pin), then `apt-get -f install`; the playbook `nvidia-driver` (its `source`) keeps to one; the check driver.packages finds the mixture",
        remedy: Remedy::Install,
        sources: &[seen("https://github.com/atgenomix/deepvariant-on-spark/pull/1", "2019-04-22")],
        samples: &[
            "                 Depends: nvidia-vdpau-driver (= 390.87-8~deb9u1) but 410.104-1~bpo9+1 is to be installed",
        ],
        ..APT
    },
    Cause {
        id: "apt.driver_does_not_fit",
        follows: &["apt.driver_of_two_origins", "apt.driver_of_two_origins_more"],
        sign: r"(?<package>(?:lib)?nvidia[^ ]*|xserver-xorg-video-nvidia[^ ]*|cuda[^ ]*) : (?:Pre)?Depends: (?<needs>[^ ]+)(?: \((?<version>[^)]+)\))? but it is not (?:going to be installed|installable)",
        says: "{package} wants {needs}[ {version}], which apt cannot install",
        means: "Packages of another branch or another repository are in the way (Ubuntu's nvidia-* beside NVIDIA's), one of them is held or pinned, or the version is not in the repository any more.",
        act: "try `apt-get install -s {needs}`, which names the next one that does not fit, then `apt-cache policy {needs}` and `apt-mark showhold`: remove the packages of the other branch or origin, and keep one origin (playbook `nvidia-driver`; the check driver.packages finds mixtures)",
        sure: Sure::Guess,
        remedy: Remedy::Install,
        samples: &[
            " cuda : Depends: cuda-12-4 (>= 12.4.1) but it is not going to be installed",
            " nvidia-driver-535 : Depends: libnvidia-gl-535 (= 535.183.01-0ubuntu0.22.04.1) but it is not installable",
        ],
        ..APT
    },
    Cause {
        id: "apt.unmet",
        sign: r"(?<package>[a-z0-9][^ ]*) : (?:Pre)?(?:Depends|Breaks|Conflicts): (?<needs>[^ ]+)(?: \((?<version>[^)]+)\))? (?:but (?<why>.+? (?:is (?:to be )?installed|is not (?:installable|installed|going to be installed)))|but it is a virtual package)",
        says: "{package} wants {needs}[ {version}][, but {why}]",
        means: "apt finds no set of packages that fits: versions of several repositories or releases are mixed, a package is held, or a repository is missing.",
        act: "see `apt-cache policy {needs}` and `apt-mark showhold`: take both from one repository, release the hold, or add the missing repository; then `apt-get -f install`",
        sure: Sure::Guess,
        remedy: Remedy::Install,
        samples: &[
            " libopenmpi-dev : Depends: libibverbs-dev (>= 28.0) but it is not going to be installed",
            " slurm-smd-slurmd : Depends: slurm-smd (= 24.05.2-1) but 23.11.4-1 is to be installed",
        ],
        ..APT
    },
    Cause {
        id: "apt.unmet_summary",
        sign: r"you have held broken packages|Unmet dependencies\. Try '|The following packages have unmet dependencies|^Unsatisfied dependencies:|Unable to correct dependencies|Unable to satisfy dependencies\. Reached two conflicting|pkgProblemResolver::Resolve generated breaks",
        role: Role::Summary,
        says: "apt finds no set of packages that fits",
        means: "The lines that begin with a package and `Depends:` say what is missing; apt's words about held packages are only one possibility.",
        act: "look at the first line with `Depends:` before or behind this one; `apt-cache policy` of what it names says which repository has it",
        samples: &[
            "E: Unable to correct problems, you have held broken packages.",
            "E: Unmet dependencies. Try 'apt --fix-broken install' with no packages (or specify a solution).",
        ],
        ..APT
    },
    Cause {
        id: "apt.held_or_downgrade",
        sign: "(?<what>Held packages were changed|Packages were downgraded|Essential packages were removed) and -y was used without (?<option>--allow-[a-z-]+)",
        says: "apt would not go on by itself: {what}",
        means: "The task changes packages that are held, goes to an older version or takes away what the system needs; apt asks a person for that.",
        act: "see first why (`apt-mark showhold`, `apt-get -s`); where it is meant, release the hold (`apt-mark unhold`) or give {option}; never for essential packages",
        sure: Sure::Confirmed,
        samples: &["E: Held packages were changed and -y was used without --allow-change-held-packages."],
        ..APT
    },
    // dnf and yum.
    Cause {
        id: "dnf.nvidia_plugin_filters",
        sign: "NVIDIA driver: some kernel packages have been filtered due to missing precompiled modules",
        says: "there are no precompiled NVIDIA modules for the newest kernel yet",
        means: "NVIDIA's plugin of dnf holds the new kernel back on purpose, so that the driver keeps working.",
        act: "wait for NVIDIA's packages, which follow within days, or change to the DKMS stream of the driver; do not force the kernel",
        counts: Counts::Warn,
        remedy: Remedy::Look,
        sure: Sure::Confirmed,
        sources: &[seen("https://github.com/NVIDIA/yum-packaging-precompiled-kmod/issues/53", "2024-08-09")],
        samples: &[
            "NVIDIA driver: some kernel packages have been filtered due to missing precompiled modules.",
        ],
        ..DNF
    },
    Cause {
        id: "dnf.modular_filtering",
        sign: "(?:package (?<package>[^ ]+) from (?<repository>[^ ]+) is filtered out by modular filtering|All matches were filtered out by modular filtering for argument: (?<argument>[^ ]+))",
        says: "dnf hides[ {package} of {repository}][ {argument}], as no stream of its module is enabled",
        means: "The package belongs to a module, such as nvidia-driver, and dnf shows only packages of a stream that is enabled.",
        act: "see `dnf module list nvidia-driver` and enable the wanted stream (such as `dnf module install nvidia-driver:open-dkms`); where another repository should give it, `module_hotfixes=1` in that repository's file",
        sources: &[
            seen("https://github.com/rocky-linux/rockylinux.org/issues/201", "2025-08-08"),
            seen("https://github.com/NVIDIA/yum-packaging-fabric-manager/issues/3", "2021-11-22"),
        ],
        samples: &[
            "  - package nvidia-settings-3:580.65.06-1.el10.x86_64 from cuda-rhel10-x86_64 is filtered out by modular filtering",
            "All matches were filtered out by modular filtering for argument: cuda-drivers",
        ],
        ..DNF
    },
    Cause {
        id: "dnf.exclude_filtering",
        sign: "(?:package (?<package>[^ ]+) from (?<repository>[^ ]+) is filtered out by exclude filtering|All matches were filtered out by exclude filtering for argument: (?<argument>[^ ]+))",
        says: "an exclude hides[ {package} of {repository}][ {argument}]",
        means: "`exclude=` or `excludepkgs=` in dnf.conf or in a file of a repository, or the versionlock plugin, takes the package away; that may be on purpose, as a hold of the kernel or the driver.",
        act: "see `grep -rE '^(exclude|excludepkgs)' /etc/dnf /etc/yum.repos.d` and `dnf versionlock list`; for one run `--disableexcludes=all` (of a lock: `--disableplugin=versionlock`)",
        sure: Sure::Confirmed,
        samples: &[
            "  - package kernel-core-5.14.0-427.13.1.el9_4.x86_64 from baseos is filtered out by exclude filtering",
            "All matches were filtered out by exclude filtering for argument: kernel-devel",
        ],
        ..DNF
    },
    Cause {
        id: "dnf.module_stream_switch",
        sign: "operation would result in switching of module '(?<module>[^']+)' stream '(?<old>[^']+)' to stream '(?<new>[^']+)'",
        says: "the module {module} is on stream {old}, and the task asks for {new}",
        means: "dnf does not change an enabled stream by itself.",
        act: "see the jobs off the host, then `dnf module reset {module}` and install `{module}:{new}`; for the NVIDIA driver that is another flavour or branch",
        remedy: Remedy::Install,
        sure: Sure::Confirmed,
        samples: &[
            "The operation would result in switching of module 'nvidia-driver' stream '535-dkms' to stream '550-dkms'",
        ],
        ..DNF
    },
    Cause {
        id: "dnf.no_modular_metadata",
        sign: "No available modular metadata for modular package '(?<package>[^']+)'",
        says: "{package} belongs to a module, and its repository has no modular metadata",
        means: "A copy of the repository was made by hand (`createrepo` alone) and lost the file modules.yaml.",
        act: "mirror the repository with `dnf reposync --download-metadata`, or add modules.yaml with `modifyrepo_c`; `module_hotfixes=1` in the repository's file goes round it",
        sure: Sure::Confirmed,
        samples: &[
            "No available modular metadata for modular package 'nvidia-driver-3:550.54.15-1.el8.x86_64', it cannot be installed on the system",
        ],
        ..DNF
    },
    Cause {
        id: "dnf.needs_epel",
        sign: "nothing provides (?<needs>dkms[^ ]*(?: [<>=]+ [^ ]+)?|libvdpau[^ ]*(?: [<>=]+ [^ ]+)?|opencl-filesystem|ocl-icd|egl-[a-z0-9]+[^ ]*(?: [<>=]+ [^ ]+)?) needed by (?<package>[^ ]+)",
        says: "{package} needs {needs}, which EPEL has",
        means: "The repository EPEL is not set up on this host, or not for its release.",
        act: "set up EPEL (playbook `epel`; by hand the package epel-release), then install again",
        sources: &[seen("https://docs.nvidia.com/datacenter/tesla/driver-installation-guide/", "2026-11-30")],
        samples: &[
            "  - nothing provides dkms needed by kmod-nvidia-open-dkms-3:580.65.06-1.el9.noarch from cuda-rhel9-x86_64",
        ],
        ..DNF
    },
    Cause {
        id: "dnf.needs_crb",
        sign: r"nothing provides (?<needs>perl\([^)]+\)|[^ ]+-devel(?:\([^)]*\))?(?: [<>=]+ [^ ]+)?|libopenblas[^ ]*|libmunge[^ ]*|libhwloc[^ ]*|libpmix[^ ]*|libjwt[^ ]*|lib[a-z0-9_+-]+\.so[^ ]*|python3(?:\.?[0-9]+)?-[^ ]+(?: [<>=]+ [^ ]+)?|pkgconfig\([^)]+\)(?: [<>=]+ [^ ]+)?) needed by (?<package>[^ ]*\.el(?<release>[0-9]+)[^ ]*)",
        says: "{package} needs {needs}, which no enabled repository has",
        means: "Packages of EPEL need the repository that is called CRB on release 9 and 10, PowerTools on release 8 and CodeReady Builder on RHEL, and it is off by default.",
        act: "enable it (`dnf config-manager --set-enabled crb`, on release 8 `powertools`, on RHEL `subscription-manager repos --enable codeready-builder-for-rhel-{release}-x86_64-rpms`; the playbook `epel` does it), then install again; `dnf repoquery --whatprovides '{needs}'` says who has it",
        sources: &[seen("https://github.com/clustervision/trinityX/issues/474", "2025-06-11")],
        samples: &[
            "  - nothing provides perl(Switch) needed by slurm-openlava-22.05.9-1.el9.x86_64 from epel",
            "  - nothing provides libmunge.so.2()(64bit) needed by slurm-23.11.10-1.el9.x86_64 from local",
        ],
        ..DNF
    },
    Cause {
        id: "dnf.kernel_not_provided",
        sign: r"nothing provides (?<needs>kernel[^ ]*(?:\([^)]*\))?(?: [<>=]+ [^ ]+)?|kmod\([^)]+\)[^ ]*|ksym\([^)]+\)(?: = [^ ]+)?) needed by (?<package>[^ ]+)",
        says: "{package} needs {needs}, which no enabled repository has",
        means: "The package was built for another kernel than those that the repositories offer (ksym and kmod are versions of the kernel's symbols).",
        act: "take the build of the package for this kernel (of OFED: `--add-kernel-support`, or DKMS), or install the kernel that it asks for (playbook `kernel`)",
        remedy: Remedy::Install,
        samples: &[
            "  - nothing provides kernel(ib_umem_get) = 0x12345678 needed by kmod-mlnx-ofa_kernel-24.04-OFED.24.04.0.6.6.1.rhel9u4.x86_64",
        ],
        ..DNF
    },
    Cause {
        id: "conda.no_gpu_seen",
        sign: r"nothing provides __cuda(?: (?<version>[^ ]+))? needed by (?<package>\S+)|(?<other>\S+) has constraint __cuda (?<wants>\S+) conflicting with __cuda-(?<have>[0-9.]+)",
        says: "conda sees no GPU here, or a driver that is too old[: {package}][: {other} wants CUDA {wants}, the driver offers {have}]",
        means: "`__cuda` is what the driver of this machine offers. On a login node or in a build there is none; with an older driver newer packages are shut out.",
        act: "on a machine without a GPU `CONDA_OVERRIDE_CUDA=12.4 conda ...`; where the driver is too old take packages for its CUDA (`cuda-version=12.2`), or renew the driver (the playbook `nvidia-driver`)",
        sure: Sure::Likely,
        sources: &[
            seen("https://github.com/mamba-org/mamba/issues/969", "2021-05-28"),
            seen(
                "https://docs.conda.io/projects/conda/en/latest/user-guide/tasks/manage-virtual.html",
                "2026-11-30",
            ),
        ],
        samples: &[
            "  - nothing provides __cuda needed by pytorch-1.11.0-cuda102py310hdf4a2db_202",
            "  - package cudatoolkit-11.0.3-h15472ef_6 has constraint __cuda >=11.0 conflicting with __cuda-10.2-0",
        ],
        ..PIP
    },
    Cause {
        id: "dnf.not_provided",
        sign: "nothing provides (?<needs>.+?) needed by (?:the to be installed )?(?<package>[^ ]+)",
        says: "{package} needs {needs}, which no enabled repository has",
        means: "A repository is missing or off (CRB, EPEL, the vendor's), or the package is for another release of the distribution.",
        act: "see `dnf repolist --all` and `dnf repoquery --whatprovides '{needs}'`; enable the repository that has it (playbook `epel` for EPEL and CRB), or take the package for this release",
        samples: &[
            "  - nothing provides module(platform:el8) needed by module perl:5.26:8010020190905:1234.x86_64",
            "Problem: nothing provides 'libcuda.so.1()(64bit)' needed by the to be installed nccl-tests-2.13-1.x86_64",
        ],
        ..DNF
    },
    Cause {
        id: "dnf.no_kmod",
        sign: "requires (?<needs>nvidia-kmod|kmod-nvidia[^ ]*)(?: = (?<version>[^, ]+))?, but none of the providers can be installed|nothing provides (?<nothing>nvidia-kmod|kmod-nvidia[^ ]*)(?: = (?<of>[^ ]+))? needed by",
        says: "there are no modules of the driver[ {version}][ {of}] that dnf can install for this host's kernel",
        means: "The precompiled stream has none for this kernel yet, or the stream with DKMS lacks `dkms` (EPEL) or kernel-devel.",
        act: "see `dnf module list nvidia-driver`: with a precompiled stream wait, or boot a kernel that it has; else enable EPEL (playbook `epel`) and take the DKMS stream (`open-dkms`, `latest-dkms`); no `--skip-broken`",
        remedy: Remedy::Install,
        sources: &[seen("https://github.com/NVIDIA/yum-packaging-precompiled-kmod/issues/50", "2024-06-19")],
        samples: &[
            "  - package nvidia-kmod-common-3:555.42.02-1.el8.noarch from cuda-rhel8-x86_64 requires nvidia-kmod = 3:555.42.02, but none of the providers can be installed",
        ],
        ..DNF
    },
    Cause {
        id: "dnf.no_akmods",
        sign: r"package (?<package>akmod-[^ ]+) from \S+ requires akmods, but none of the providers can be installed",
        says: "akmods cannot be installed, so {package} cannot",
        means: "akmods is in Fedora's own repositories (with EPEL for RHEL). They are off, out of date here, or akmods itself lacks something such as a fitting kernel-devel.",
        act: "`dnf install akmods` alone names what is in the way; look that the repositories fedora and updates are enabled, then `dnf --refresh upgrade` and reboot into the newest kernel; on RHEL EPEL is needed (playbook `epel`)",
        remedy: Remedy::Settings,
        sources: &[seen(
            "https://github.com/gridhead/nvidia-auto-installer-for-fedora-linux/issues/283",
            "2023-12-19",
        )],
        samples: &[
            "  - package akmod-nvidia-3:535.129.03-1.fc39.x86_64 from rpmfusion-nonfree requires akmods, but none of the providers can be installed",
        ],
        ..TOOL
    },
    Cause {
        id: "dnf.no_dkms",
        sign: "requires (?<needs>dkms|akmods)[^,]*, but none of the providers can be installed",
        says: "{needs} cannot be installed",
        means: "On Enterprise Linux dkms is in EPEL, on Fedora akmods is in the repository of updates; it is not enabled, excluded, or wants a newer release.",
        act: "enable EPEL (playbook `epel`), then `dnf install {needs}` alone, whose words name what is in the way",
        sources: &[seen(
            "https://github.com/gridhead/nvidia-auto-installer-for-fedora-linux/issues/283",
            "2023-12-19",
        )],
        samples: &[
            "  - package kmod-nvidia-latest-dkms-3:550.54.15-1.el9.x86_64 from cuda-rhel9-x86_64 requires dkms, but none of the providers can be installed",
        ],
        ..DNF
    },
    Cause {
        id: "dnf.cuda_of_other_fedora",
        sign: r"package (?<package>[^ ]+) from cuda-fedora(?<release>\d+)-\S+ requires (?<needs>[^,]+), but none of the providers can be installed",
        says: "{package} of NVIDIA's repository for Fedora {release} wants {needs}, which dnf cannot install",
        means: "That repository is for one release of Fedora, and its driver and that of RPM Fusion exclude each other.",
        act: "`rpm -E %fedora` against {release}: take the repository of this release, or the driver of RPM Fusion alone and from NVIDIA only the toolkit (`excludepkgs=nvidia*` in that file)",
        remedy: Remedy::Install,
        sure: Sure::Guess,
        sources: &[seen("https://github.com/ollama/ollama/issues/5062", "2024-06-15")],
        samples: &[
            "  - package cuda-drivers-545.23.06-1.x86_64 from cuda-fedora37-x86_64 requires nvidia-driver >= 3:545.23.06, but none of the providers can be installed",
        ],
        ..DNF
    },
    Cause {
        id: "dnf.none_installable_crb",
        sign: r"package (?<package>[^ ]+\.el(?<release>[0-9]+)[^ ]*)(?: from [^ ]+)? requires (?<needs>(?:lib[^ ]+\.so[^ ,]*|perl\([^)]+\)|pkgconfig\([^)]+\)|python[0-9.]*dist\([^)]+\)|[^ ]+-devel)[^,]*), but none of the providers can be installed",
        role: Role::Effect,
        says: "{package} requires {needs}, which is mostly in the repository CRB, off by default",
        means: "Libraries and development files that packages of EPEL need lie in CRB (release 9 and 10), PowerTools (8) or CodeReady Builder (RHEL). A line with `nothing provides`, `filtered out` or `conflicts` has the reason, if there is one.",
        act: "enable it (`crb enable`, `dnf config-manager --set-enabled crb`, on release 8 `powertools`; the playbook `epel` does it) and install again; use no `--skip-broken` or `--nobest`, which leaves the package out",
        sure: Sure::Likely,
        sources: &[seen("https://github.com/rstudio/r-system-requirements/issues/137", "2023-05-25")],
        samples: &[
            " Problem: package suitesparse-5.4.0-10.el9.x86_64 requires libopenblas.so.0()(64bit), but none of the providers can be installed",
        ],
        ..DNF
    },
    Cause {
        id: "dnf.none_installable",
        sign: "package (?<package>[^ ]+)(?: from [^ ]+)? requires (?<needs>.+?), but none of the providers can be installed",
        role: Role::Effect,
        says: "{package} requires {needs}, which dnf cannot install",
        means: "Something further down is missing or hidden. A line with `nothing provides`, `filtered out` or `conflicts` has the reason; without one, a repository that is off by default (CRB, PowerTools, CodeReady Builder) is the usual cause, above all with packages of EPEL.",
        act: "look at the innermost line first; then enable CRB (`crb enable`, or `dnf config-manager --set-enabled crb`; the playbook `epel` does it) and try again; use no `--skip-broken` or `--nobest`, which leaves it out",
        sure: Sure::Guess,
        sources: &[seen("https://github.com/rstudio/r-system-requirements/issues/137", "2023-05-25")],
        samples: &[
            " Problem: package nvidia-open-3:580.65.06-1.el10.noarch from cuda requires nvidia-settings = 3:580.65.06, but none of the providers can be installed",
        ],
        ..DNF
    },
    Cause {
        id: "dnf.best_candidate",
        sign: "cannot install the best (?:update )?candidate for |problem with installed package (?<package>[^ ]+)",
        role: Role::Effect,
        says: "dnf cannot renew a package[: {package}]",
        means: "Something that the newer version needs is missing, hidden or conflicts; the lines around say it.",
        act: "look at the innermost line that says `nothing provides`, `filtered out`, `conflicts` or `requires`",
        samples: &[
            "  - cannot install the best update candidate for package kernel-core-5.14.0-362.el9.x86_64",
        ],
        ..DNF
    },
    Cause {
        id: "rpm.file_conflict_nvidia",
        sign: "file (?<file>[^ ]+) (?:from install of|conflicts between attempted installs of) (?<one>[^ ]*(?:nvidia|cuda)[^ ]*) (?:conflicts with file from package|and) (?<two>[^ ]+)",
        says: "{one} and {two} both bring {file}",
        means: "Packages of the driver from two repositories (NVIDIA's CUDA repository, RPM Fusion, negativo17, EPEL) are mixed.",
        act: "keep one repository for the driver: turn the other off or exclude its driver packages, `dnf clean all`, install again; use no `--force` or `--replacefiles`",
        remedy: Remedy::Install,
        sure: Sure::Confirmed,
        sources: &[seen("https://github.com/negativo17/nvidia-driver/issues/162", "2024-09-12")],
        samples: &[
            "  file /etc/X11/xorg.conf.d/10-nvidia.conf conflicts between attempted installs of xorg-x11-nvidia-3:560.35.03-2.el9.x86_64 and nvidia-driver-3:560.35.03-1.el9.x86_64",
        ],
        ..RPM
    },
    Cause {
        id: "rpm.file_conflict",
        sign: "file (?<file>[^ ]+) (?:from install of|conflicts between attempted installs of) (?<one>[^ ]+) (?:conflicts with file from package|and) (?<two>[^ ]+)",
        says: "{one} and {two} both bring {file}",
        means: "Packages of two origins are mixed, such as rdma-core of the distribution and MLNX_OFED or DOCA-OFED, or two builds of Slurm.",
        act: "see `rpm -qi` of both: keep the packages of one origin, remove the others, install again; use no `--replacefiles`",
        remedy: Remedy::Install,
        samples: &[
            "  file /usr/lib64/libibverbs.so.1 from install of libibverbs-2404mlnx51-1.el9.x86_64 conflicts with file from package rdma-core-48.0-1.el9.x86_64",
        ],
        ..RPM
    },
    Cause {
        id: "dnf.cannot_install_both",
        sign: "cannot install both (?<one>[^ ]+)(?: from [^ ]+)? and (?<two>[^ ]+)",
        says: "{one} and {two} exclude each other",
        means: "Two versions or two flavours of the same thing are asked for, often because a lock or another package keeps the first one.",
        act: "see `dnf repoquery --whatrequires` of the one that is there, and `dnf versionlock list`; take one of the two, from one repository",
        remedy: Remedy::Install,
        sure: Sure::Guess,
        samples: &[
            "  - cannot install both kernel-core-5.14.0-427.el9.x86_64 from baseos and kernel-core-5.14.0-362.el9.x86_64 from @System",
        ],
        ..DNF
    },
    Cause {
        id: "yum.conflict",
        sign: r"--> Processing Conflict: (?<one>\S+) conflicts (?<other>.+)",
        says: "{one} conflicts with {other}",
        means: "Two branches, streams or repositories offer the same thing, and yum wants both.",
        act: "see `rpm -qa` and `yum list available` for both names: name the branch that is wanted and exclude the other (`exclude=` in the .repo file, or `yum swap OLD NEW`)",
        remedy: Remedy::Install,
        sources: &[seen("https://github.com/NVIDIA/yum-packaging-precompiled-kmod/issues/20", "2021-06-11")],
        samples: &[
            "--> Processing Conflict: 3:nvidia-driver-branch-440-440.118.02-1.el7.x86_64 conflicts nvidia-driver > 440.118.02",
        ],
        ..DNF
    },
    Cause {
        id: "dnf.kmod_or_dkms",
        sign: "package (?<installed>kmod-nvidia-[^ ]+) from @System conflicts with (?<wanted>kmod-nvidia-[a-z-]*dkms)",
        says: "the installed {installed} (precompiled modules) and {wanted} exclude each other",
        means: "A host takes the driver's modules either precompiled for its kernel or built by DKMS. The stream was changed and the old kind is still installed.",
        act: "stay with the kind that is installed, or change over in one go: `dnf module reset nvidia-driver`, then `dnf module switch-to nvidia-driver:STREAM --allowerasing` (without modularity `dnf swap {installed} {wanted}`), and reboot",
        remedy: Remedy::Install,
        sources: &[seen("https://github.com/NVIDIA/yum-packaging-precompiled-kmod/issues/50", "2024-06-19")],
        samples: &[
            " Problem: package kmod-nvidia-555.42.02-4.18.0-553.5.1-3:555.42.02-3.el8_10.x86_64 from @System conflicts with kmod-nvidia-latest-dkms provided by kmod-nvidia-latest-dkms-3:555.42.02-1.el8.x86_64 from cuda-rhel8-x86_64",
        ],
        ..TOOL
    },
    Cause {
        id: "dnf.conflicts",
        sign: "package (?<one>[^ ]+)(?: from [^ ]+)? (?<word>conflicts with|obsoletes) (?<needs>[^ ]+(?: [<>=]+ [^ ]+)?) provided by (?<two>[^ ]+)",
        says: "{one} {word} {needs} of {two}",
        means: "The two cannot be on one host; with driver or RDMA packages two repositories or two branches are mixed.",
        act: "remove {two}, or exclude it from its repository (`excludepkgs`), then install again",
        remedy: Remedy::Install,
        samples: &[
            "  - package nvidia-driver-cuda-3:560.35.03-1.el9.x86_64 from cuda conflicts with xorg-x11-drv-nvidia-cuda provided by xorg-x11-drv-nvidia-cuda-3:550.54.14-1.el9.x86_64",
        ],
        ..DNF
    },
    Cause {
        id: "rpm.failed_dependencies",
        sign: r"^\s+(?<needs>[^\t ]+(?: [<>=]+ [^ ]+)?) is needed by (?:\(installed\) )?(?<package>[^ ]+)$",
        says: "{package} needs {needs}",
        means: "rpm itself fetches nothing: it only says what is missing.",
        act: "install the file with `dnf install ./FILE.rpm`, which fetches what it needs, and enable the repository that has {needs}",
        samples: &["\tlibmunge.so.2()(64bit) is needed by slurm-23.11.10-1.el9.x86_64"],
        ..RPM
    },
    Cause {
        id: "rpm.conflicts",
        sign: r"^\s+(?<needs>[^ ]+(?: [<>=]+ [^ ]+)?) (?<word>conflicts with|is obsoleted by) (?:\(installed\) )?(?<package>[^ ]+)$",
        says: "{needs} {word} {package}",
        means: "The two cannot be on one host; with driver or RDMA packages two stacks or branches are mixed.",
        act: "remove the one that is not wanted, then install again; dnf names what else goes with it",
        remedy: Remedy::Install,
        samples: &[
            "\trdma-core conflicts with (installed) mlnx-ofa_kernel-24.04-OFED.24.04.0.6.6.1.rhel9u4.x86_64",
        ],
        ..RPM
    },
    Cause {
        id: "rpm.newer_installed",
        sign: r"package (?<package>[^ ]+) \(which is newer than (?<file>[^)]+)\) is already installed",
        says: "{package} is installed, and {file} is older",
        means: "rpm does not go back to an older version by itself.",
        act: "keep the newer one; where the older one is meant, `dnf downgrade` or `rpm -U --oldpackage`",
        counts: Counts::Warn,
        sure: Sure::Confirmed,
        samples: &[
            "\tpackage kernel-devel-5.14.0-427.el9.x86_64 (which is newer than kernel-devel-5.14.0-362.el9.x86_64) is already installed",
        ],
        ..RPM
    },
    Cause {
        id: "rpm.key_missing",
        sign: r"(?:Public key for (?<package>[^ ]+) is not installed|Import of key\(s\) didn't help, wrong key\(s\)\?|The GPG keys listed for the .(?<repository>[^ ]+?(?: [^ ]+)*?). repository are already installed but they are not correct for this package|Couldn't open file /etc/pki/rpm-gpg/(?<file>[^ .]+[^ ]*))",
        says: "dnf has no right key for a repository[: {repository}][: {package}]",
        means: "The key in `gpgkey=` is missing, is an old one, or is that of another release; vendors changed keys (NVIDIA's CUDA repository in 2022, AlmaLinux 8 in January 2024, Rocky, MySQL).",
        follows: &["rpm.sha1"],
        act: "import the vendor's present key (`rpm --import URL`, compared by its fingerprint; `key` of the `repository` task, playbook `cuda-repository`), then install again; not `gpgcheck=0`",
        samples: &[
            "Public key for nvidia-driver-550.54.15-1.el9.x86_64.rpm is not installed",
            "The GPG keys listed for the \"AlmaLinux 8 - BaseOS\" repository are already installed but they are not correct for this package.",
        ],
        ..RPM
    },
    Cause {
        id: "rpm.sha1",
        sign: r"Signature not supported\. Hash algorithm SHA1 not available|digest SHA1: (?:BAD|NOTFOUND|NOT ?OK)|Header SHA1 digest: (?:BAD|NOTFOUND)",
        says: "rpm refuses a signature or digest by SHA-1",
        means: "Release 9 and later (and FIPS mode) take no SHA-1, and the package or its key is older than that.",
        act: "take a newer build of the package or a newer key from its owner; not `--nogpgcheck`, and the policy (`update-crypto-policies --set DEFAULT:SHA1`) only as a stopgap",
        sources: &[seen(
            "https://github.com/sonatype-nexus-community/nexus-repository-installer/issues/27",
            "2022-12-07",
        )],
        samples: &["warning: Signature not supported. Hash algorithm SHA1 not available."],
        ..RPM
    },
    Cause {
        id: "rpm.signature_bad",
        sign: r"(?:skipping package (?<skipped>[^ ]+) with unverifiable signature|Signature verification failed for file .(?<zypper>[^' ]+)|Package (?<unsigned>[^ ]+) is not signed|package (?<package>[^ ]+) does not verify: (?<why>.+)|repomd\.xml GPG signature verification (?:failed|error): (?<bad>.+)|(?<file>[^ ]+): digests? SIGNATURES? NOT OK)",
        says: "rpm cannot verify a package or repository[: {unsigned} has no signature][: {package}: {why}][: {bad}]",
        means: "The file is damaged, is not signed, or was signed by a key that this host does not have or does not take (SHA-1 on release 9 and later).",
        follows: &["rpm.sha1", "rpm.key_expired"],
        act: "fetch it again (`dnf clean all`); then see `rpmkeys --checksig -v FILE` for which key and which digest; take a package with a newer signature in place of `--nogpgcheck`",
        samples: &[
            "package mft-4.22.0-96.x86_64 does not verify: Header V3 RSA/SHA1 Signature, key ID 1a2b3c4d: NOKEY",
            "Package slurm-23.11.10-1.el9.x86_64.rpm is not signed",
        ],
        ..RPM
    },
    Cause {
        id: "rpm.key_expired",
        sign: r"Key (?<key>[0-9a-fA-F]{8,40})(?: \([^)]*\))? (?:has )?expired on|Certifici?ate (?<certificate>[0-9A-F]{8,40}) invalid: certificate is not alive|The certificate is expired: The primary key is not live",
        says: "the key[ {key}][ {certificate}] of a repository has expired",
        means: "rpm takes no package that it signed.",
        act: "fetch the renewed key from the repository's owner and import it (`rpm --import`; the old one goes with `rpmkeys --delete`), then install again",
        samples: &[
            "error: Key 35a2f86e29b700a4 (openSUSE Project Signing Key <opensuse@opensuse.org>) expired on 2026-06-19 16:03:14",
            "  1. Certificate 471D5F4645ECF0AD invalid: certificate is not alive",
        ],
        sources: &[
            seen("https://github.com/AeonDesktop/Project/issues/69", "2026-07-12"),
            seen("https://github.com/NagiosEnterprises/ncpa/issues/1380", "2026-04-22"),
        ],
        ..RPM
    },
    Cause {
        id: "rpm.gpg_check_failed",
        sign: "GPG check FAILED",
        role: Role::Summary,
        follows: &["rpm.key_missing", "rpm.sha1", "rpm.signature_bad", "rpm.key_expired"],
        says: "dnf could not verify a package",
        means: "The reason stands before: a key that is missing, wrong or expired.",
        act: "look at the line before that names the key or the repository",
        samples: &["Error: GPG check FAILED"],
        ..DNF
    },
    Cause {
        id: "dnf.end_of_life",
        sign: r"(?:Could not re(?:trieve mirrorlist http://|solve host: )mirrorlist\.centos\.org|Cannot find a valid baseurl for repo: (?:base|updates|extras|centos-sclo[^ ]*)/|repo '(?:appstream|baseos)': Cannot prepare internal mirrorlist: No URLs in mirrorlist)",
        says: "the mirrors of this CentOS are gone",
        means: "CentOS Linux 8 ended in 2021 and CentOS 7 and Stream 8 in 2024; their mirror lists are switched off.",
        act: "move to a release that is alive; until then set `baseurl` to vault.centos.org in /etc/yum.repos.d and take `mirrorlist` out",
        sure: Sure::Confirmed,
        sources: &[seen("https://www.centos.org/centos-linux-eol/", "2026-11-30")],
        samples: &[
            "Could not retrieve mirrorlist http://mirrorlist.centos.org/?release=7&arch=x86_64&repo=os&infra=stock error was",
            "Error: Failed to download metadata for repo 'appstream': Cannot prepare internal mirrorlist: No URLs in mirrorlist",
        ],
        ..DNF
    },
    Cause {
        id: "dnf.no_repositories",
        sign: r"There are no enabled repositories in |There are no enabled repos\.",
        says: "this host has no repositories",
        means: "RHEL is not registered, or all files of repositories are off or missing.",
        act: "see `dnf repolist --all`; register RHEL (`subscription-manager register`), or enable the site's repositories",
        samples: &[
            "Error: There are no enabled repositories in \"/etc/yum.repos.d\", \"/etc/yum/repos.d\", \"/etc/distro.repos.d\".",
        ],
        ..DNF
    },
    Cause {
        id: "dnf.notes",
        sign: r"This system is not registered (?:with an entitlement server|to Red Hat)|Updating Subscription Management repositories|Unable to read consumer identity|Failed to set locale, defaulting to C|Last metadata expiration check|warning: [^ ]+: Header V[34] .* Signature, key ID [0-9a-f]+: NOKEY|Ignoring repositories: |warning: .* (?:created|saved) as .*\.rpm(?:new|save)",
        says: "dnf gives advice",
        means: "Such lines stand in transactions that succeed, in containers and on hosts without a subscription.",
        counts: Counts::Note,
        remedy: Remedy::Look,
        samples: &[
            "This system is not registered with an entitlement server. You can use subscription-manager to register.",
            "warning: /var/cache/dnf/epel-1234/packages/dkms-3.0.13-1.el9.noarch.rpm: Header V4 RSA/SHA256 Signature, key ID 3228467c: NOKEY",
        ],
        ..DNF
    },
    Cause {
        id: "dnf.list_of_another_moment",
        sign: r"Status code: 404 for (?<place>\S+/repodata/[0-9a-f]{32,}-\S+)",
        says: "the index of a repository names a list that the server does not have (any more)",
        means: "The address of the repository is right. Its index (repomd.xml) and its lists are of two moments: the server was renewed just now and a part of its caches is behind, or dnf or a proxy here keeps an old index.",
        act: "`dnf clean all && dnf makecache --refresh`, again in some minutes or an hour; where it stays: the proxy or your own mirror keeps an old repomd.xml (synchronise it as a whole)",
        sources: &[
            seen("https://github.com/opendatahub-io/notebooks/issues/1188", "2025-06-25"),
            seen("https://github.com/ROCm/rocm-install-on-linux/issues/678", "2026-01-24"),
        ],
        samples: &[
            "  - Status code: 404 for https://developer.download.nvidia.com/compute/cuda/repos/rhel9/x86_64/repodata/a9fccabd09b338387861a4358867ef4ab3df13e621967b7726e0c41b8a1f82c8-filelists.xml.gz (IP: 192.0.2.9)",
        ],
        ..DNF
    },
    Cause {
        id: "dnf.subscription_refused",
        sign: r"Status code: 40[13] for (?<place>https://cdn\.redhat\.com/\S+)",
        says: "Red Hat's server does not serve this host",
        means: "The host is not registered, its certificate has expired, or its subscription does not hold that repository. In a container the certificates of the host are used.",
        act: "`subscription-manager status` and `subscription-manager identity`; `subscription-manager refresh` or register again; in a build mount /etc/pki/entitlement and /etc/rhsm of a registered host",
        sure: Sure::Likely,
        sources: &[seen("https://github.com/opendatahub-io/notebooks/issues/2199", "2025-08-29")],
        samples: &[
            "  - Status code: 403 for https://cdn.redhat.com/content/dist/rhel9/9/x86_64/appstream/os/repodata/repomd.xml (IP: 192.0.2.9)",
        ],
        ..DNF
    },
    Cause {
        id: "dnf.status",
        sign: "Status code: (?<status>[0-9]+) for (?<place>[^ ]+)",
        says: "{place} answers {status}",
        means: "The server refuses the file (401, 403), does not have it (404), or is in trouble itself (5xx). A 404 comes of a wrong release in the address, of an old list of files, or of a mirror that is behind.",
        act: "`dnf clean all` and try again; then open the address by hand; for 403 and 401 look at the proxy, the subscription or the account, for 404 at `$releasever` and at the repository's file",
        sure: Sure::Guess,
        samples: &[
            "  - Status code: 404 for https://developer.download.nvidia.com/compute/cuda/repos/rhel9.4/x86_64/repodata/repomd.xml (IP: 192.0.2.44)",
        ],
        ..DNF
    },
    Cause {
        id: "dnf.size_differs",
        sign: r"Server reports Content-Length: (?<has>\d+) but expected size is: (?<want>\d+)",
        says: "a package on the server has another size ({has}) than the list says ({want})",
        means: "The package was put there anew and the list of the repository was not, or a mirror or proxy is behind.",
        act: "`dnf clean all` and try again later; where it stays, take another version of that package or mirror, and tell the owner of the repository",
        sources: &[seen("https://github.com/NVIDIA/cuda-repo-management/issues/2", "2021-11-11")],
        samples: &[
            "[MIRROR] cuda-compat-10-1-418.226.00-1.x86_64.rpm: Interrupted by header callback: Server reports Content-Length: 5713804 but expected size is: 5713800",
        ],
        ..DNF
    },
    Cause {
        id: "dnf.checksum",
        sign: r"(?:Downloading successful, but checksum doesn't match|repomd\.xml does not match metalink|Checksum check .* Mismatch|Payload SHA256 (?:ALT )?digest: BAD)",
        says: "a file of a repository does not fit its checksum",
        means: "The mirror is being renewed at this moment, or a proxy or mirror keeps an old part.",
        act: "`dnf clean all` and try again in some minutes; where it stays, have your own mirror synchronised or the proxy's cache emptied",
        passing: true,
        samples: &[
            "  - Downloading successful, but checksum doesn't match. Calculated: 3f4e(sha256)  Expected: 9a7b(sha256)",
        ],
        ..DNF
    },
    Cause {
        id: "dnf.metadata_failed",
        sign: r"(?:Failed to download metadata for repo|Errors during downloading metadata for repository|Cannot find a valid baseurl for repo|Failed to synchronize cache for repo|Error: Failed to download metadata|Cannot download repomd\.xml|Failure trying to update metadata|File '[^']+' not found on medium|repository '(?<zypper>[^']+)' is invalid)(?: '(?<repository>[^']+)')?",
        role: Role::Effect,
        follows: NO_FETCH,
        says: "dnf could not fetch the lists of a repository[: {repository}][: {zypper}]",
        means: "The reason stands in the lines around: a name that is not found, a certificate, a proxy, an answer such as 404.",
        act: "try the address by hand (`curl -I URL`), then look at DNS, proxy and the repository's file; `--disablerepo` leaves out one that is not needed",
        passing: true,
        sure: Sure::Guess,
        samples: &[
            "Error: Failed to download metadata for repo 'cuda-rhel9-x86_64': Cannot download repomd.xml: Cannot download repodata/repomd.xml: All mirrors were tried",
            "Errors during downloading metadata for repository 'epel':",
        ],
        ..DNF
    },
    Cause {
        id: "rpm.database",
        sign: r"(?:rpmdb: (?:BDB[0-9]+ )?(?:Thread/process|PANIC|damaged header)|cannot open Packages (?:index|database)|error: rpmdb|db5 error\([0-9-]+\) from|You probably have corrupted RPMDB|sqlite failure: .*(?:malformed|corrupt))",
        says: "rpm's database is damaged or still open",
        means: "rpm was killed while it wrote, or its disk was full.",
        act: "see that no dnf or rpm runs and that the disk has room; then `rpm --rebuilddb` (save /var/lib/rpm before)",
        samples: &[
            "error: rpmdb: BDB0113 Thread/process 12345/140123456789 failed: BDB1507 Thread died in Berkeley DB library",
            "error: cannot open Packages database in /var/lib/rpm",
        ],
        ..RPM
    },
    Cause {
        id: "rpm.unpack",
        sign: "unpacking of archive failed(?: on file (?<file>[^ :;]+)[^:]*)?: cpio: (?<why>.+)",
        says: "rpm could not write[ {file}]: {why}",
        means: "The file system refused it: a mount point or a directory in place of the file, a read-only or network file system, or a directory that was a link before.",
        act: "see `findmnt -T` and `ls -ld` of that path; unmount what lies there or free room, then install again",
        sure: Sure::Guess,
        samples: &[
            "error: unpacking of archive failed on file /sys: cpio: chown failed - Read-only file system",
        ],
        ..RPM
    },
    Cause {
        id: "rpm.scriptlet",
        sign: r"(?:%(?<script>[a-z]+)\((?<package>[^)]+)\) scriptlet failed, exit status (?<status>[0-9]+)|Error in (?<kind>[A-Z]+) scriptlet in rpm package (?<rpm>[^ ]+))",
        role: Role::Effect,
        says: "a script of the package[ {package}][ {rpm}] failed",
        means: "Its own words stand before this line.",
        act: "mend what the lines before say, then install the package again (`dnf reinstall`)",
        samples: &[
            "warning: %post(kmod-nvidia-open-dkms-3:580.65.06-1.el9.noarch) scriptlet failed, exit status 10",
            "Error in POSTIN scriptlet in rpm package kmod-nvidia-latest-dkms",
        ],
        ..RPM
    },
    Cause {
        id: "dnf.no_match_summary",
        sign: "Unable to find a match: (?<package>.+)|Unable to resolve argument (?<module>[^ ]+)|missing groups or modules: (?<group>.+)",
        role: Role::Effect,
        follows: &[
            "packages.not_found",
            "apt.no_headers",
            "apt.fabric_manager_name",
            "dnf.modular_filtering",
        ],
        says: "no enabled repository has[ {package}][ {module}][ {group}]",
        means: "The name is wrong, or its repository or module stream is not set up on this host.",
        act: "see `dnf repolist`, `dnf search` and `dnf module list`; EPEL and CRB come with the playbook `epel`, CUDA with `cuda-repository`",
        samples: &[
            "Error: Unable to find a match: cuda-drivers",
            "missing groups or modules: nvidia-driver:580-open",
        ],
        ..DNF
    },
    Cause {
        id: "dnf.transaction",
        sign: "Transaction test error:|Transaction failed$|Depsolve Error occurred|Could not run transaction|Error unpacking rpm package",
        role: Role::Summary,
        says: "dnf stopped its transaction",
        means: "The reason stands in the lines behind or before.",
        act: "look at the lines behind this one",
        samples: &["Error: Transaction test error:"],
        ..DNF
    },
    // Scripts of dpkg.
    Cause {
        id: "dpkg.not_configured",
        sign: "dependency problems prevent configuration of (?<package>[^ :]+)|dependency problems - leaving unconfigured|Package (?<other>[^ ]+) is not configured yet",
        role: Role::Effect,
        says: "a package[ {package}] waits for another one[ ({other})]",
        means: "The other one could not be configured; its own error stands before.",
        act: "mend the first package that failed, then `dpkg --configure -a`",
        samples: &[
            "dpkg: dependency problems prevent configuration of shim-signed:",
            "  Package grub-efi-amd64-signed is not configured yet.",
        ],
        ..DPKG
    },
    Cause {
        id: "dpkg.package_failed",
        sign: "^dpkg: error processing (?:package|archive) (?<package>[^ ]+)",
        role: Role::Effect,
        says: "dpkg could not finish {package}",
        means: "A script of a package failed, or its files could not be put there. The words of the script stand before this line.",
        act: "mend what the lines before say, then `dpkg --configure -a`",
        samples: &["dpkg: error processing package drbd-dkms (--configure):"],
        ..DPKG
    },
    Cause {
        id: "dpkg.script",
        sign: "subprocess (?:new |installed )?(?:pre|post)-(?:installation|removal) script|(?:installed|new|old) (?<package>[^ ]+) package (?<script>pre-installation|post-installation|pre-removal|post-removal) script subprocess (?:returned error exit status (?<status>[0-9]+)|was killed)",
        role: Role::Summary,
        says: "a script of a package failed[: {script} of {package}, exit status {status}]",
        means: "dpkg only tells its exit status; the reason stands before.",
        act: "look at the lines before this one",
        samples: &[
            " installed linux-firmware package post-installation script subprocess returned error exit status 1",
        ],
        ..DPKG
    },
    Cause {
        id: "dpkg.error_code",
        sign: "Sub-process /usr/bin/dpkg returned an error code|Errors were encountered while processing|needrestart is being skipped since dpkg has failed|No apport report written because",
        role: Role::Summary,
        says: "dpkg failed",
        means: "apt only says that dpkg failed; the reason stands before.",
        act: "look at the first error before this line",
        remedy: Remedy::Look,
        sources: &[seen("https://manpages.debian.org/bookworm/apt/apt-get.8.en.html", "2026-11-30")],
        samples: &["E: Sub-process /usr/bin/dpkg returned an error code (1)"],
        ..DPKG
    },
    // pip and conda.
    Cause {
        id: "pip.externally_managed",
        sign: "error: externally-managed-environment",
        says: "this Python belongs to the distribution, and pip may not change it",
        means: "Debian 12, Ubuntu 24.04 and later keep pip out of the system's Python.",
        act: "make a virtual environment (`python3 -m venv DIR`) and install there, or take the distribution's package; `--break-system-packages` only in a throw-away container",
        sure: Sure::Confirmed,
        sources: &[seen("https://peps.python.org/pep-0668/", "2026-11-30")],
        samples: &["error: externally-managed-environment"],
        ..PIP
    },
    Cause {
        id: "pip.build_needs_torch",
        sign: "ModuleNotFoundError: No module named '(?<module>torch|packaging|wheel|setuptools|numpy|psutil)'",
        near: &[
            r"(?<build>Getting requirements to build wheel|Preparing metadata \(|get_requires_for_build_wheel|build_meta\.py|setup\.py)",
        ],
        says: "Python finds no module {module}[ while a package is built ({build})]",
        means: "A package such as flash-attn or apex imports it in its setup, while pip builds in an empty environment; outside a build it is just not installed in this environment.",
        act: "install {module} first, then build with `pip install --no-build-isolation PACKAGE`; outside a build look at which Python runs (`python -c 'import sys; print(sys.prefix)'`)",
        samples: &["      ModuleNotFoundError: No module named 'torch'"],
        ..PIP
    },
    Cause {
        id: "pip.cuda_unlike_torch",
        sign: r"The detected CUDA version \((?<here>[^)]+)\) mismatches the version that was used to compile\s*(?:PyTorch)?(?: \((?<torch>[^)]+)\))?",
        says: "the CUDA toolkit here is {here}[, and PyTorch was built with {torch}]",
        means: "An extension is built with the toolkit of the host, whose major version must be the one that PyTorch was built with.",
        act: "take the PyTorch build for this CUDA (its index https://download.pytorch.org/whl/cuNNN), or point CUDA_HOME at a toolkit of PyTorch's version (playbook `cuda-toolkit`)",
        remedy: Remedy::Install,
        sure: Sure::Confirmed,
        sources: &[seen("https://github.com/pytorch/pytorch (torch/utils/cpp_extension.py)", "2026-11-30")],
        samples: &[
            "RuntimeError: The detected CUDA version (11.8) mismatches the version that was used to compile PyTorch (12.1). Please make sure to use the same CUDA versions.",
        ],
        ..PIP
    },
    Cause {
        id: "pip.no_cuda_home",
        sign: r"CUDA_HOME environment variable is not set|CUDA_HOME does not exist, unable to compile|but nvcc was not found|No such file or directory: '[^']*/bin/nvcc'",
        says: "the build finds no CUDA toolkit (CUDA_HOME)",
        means: "The driver alone has no compiler: the toolkit with nvcc is not installed here, or not where the build looks.",
        act: "install the CUDA toolkit (playbook `cuda-toolkit`), then `export CUDA_HOME=/usr/local/cuda`; in a container take a `-devel` image",
        sources: &[seen("https://github.com/pytorch/pytorch (torch/utils/cpp_extension.py)", "2026-11-30")],
        samples: &[
            "OSError: CUDA_HOME environment variable is not set. Please set it to your CUDA install root.",
        ],
        ..PIP
    },
    Cause {
        id: "pip.needs_other_python",
        sign: "(?:Package '?(?<package>[^ ']+)'? requires a different Python: (?<here>[^ ]+) not in '(?<range>[^']+)'|You require CPython (?<cpython>[0-9.]+) .*but we only found wheels|Ignored the following versions that require a different python version)",
        says: "no version of[ {package}] the package is for this Python[ ({here}; it wants {range})]",
        means: "The package has no release for the Python of this environment.",
        act: "make the environment with a Python in that range, or ask for an older release of the package",
        remedy: Remedy::Install,
        counts: Counts::Warn,
        samples: &["ERROR: Package 'vllm' requires a different Python: 3.8.10 not in '>=3.9'"],
        ..PIP
    },
    Cause {
        id: "pip.wheel_not_supported",
        sign: r"(?<wheel>[^ ]+\.whl) is not a supported wheel on this platform",
        says: "{wheel} is not for this Python or this machine",
        means: "The name of a wheel tells its Python (cp310), its C library (manylinux_2_28) and its processor (x86_64, aarch64); one of them does not fit.",
        act: "compare it with `pip debug --verbose`; take the wheel for this Python and processor",
        remedy: Remedy::Install,
        sure: Sure::Confirmed,
        samples: &[
            "ERROR: torch-2.3.0+cu121-cp310-cp310-linux_x86_64.whl is not a supported wheel on this platform.",
        ],
        ..PIP
    },
    Cause {
        id: "pip.hashes",
        sign: "THESE PACKAGES DO NOT MATCH THE HASHES FROM THE REQUIREMENTS FILE",
        says: "a download of pip does not fit its hash",
        means: "The download was cut off or a proxy changed it, the requirements name another file, or somebody replaced the package.",
        act: "try again with `--no-cache-dir`; where it stays, compare the hash with the index by hand before anything else",
        passing: true,
        sure: Sure::Guess,
        samples: &[
            "ERROR: THESE PACKAGES DO NOT MATCH THE HASHES FROM THE REQUIREMENTS FILE. If you have updated the package versions, please update the hashes.",
        ],
        ..PIP
    },
    Cause {
        id: "pip.conflict",
        sign: "Cannot install (?<what>.+) because these package versions have conflicting dependencies|ResolutionImpossible|No solution found when resolving dependencies",
        says: "the wanted versions exclude each other[: {what}]",
        means: "The requirements pin versions that no set of packages fulfils.",
        act: "see the lines behind that say who wants what; loosen one of the pins, or take the set that the project tested",
        samples: &[
            "ERROR: Cannot install torch==2.1.0 and vllm==0.6.0 because these package versions have conflicting dependencies.",
        ],
        ..PIP
    },
    Cause {
        id: "pip.other_versions_only",
        sign: r"Could not find a version that satisfies the requirement (?<package>torch|torchvision|torchaudio|tensorflow|tensorflow-gpu|jaxlib|vllm|numpy|scipy|xformers|triton|cupy-cuda\w+|nvidia-[a-z0-9-]+)(?<wanted>[=<>~!][^ ]+)(?: \(from [^)v][^)]*\))*,? \(from versions: (?<versions>\d[^)]*)\)",
        says: "this Python or processor has no {package}{wanted}; the index has {versions}",
        means: "The index was reached. pip lists only releases that fit this Python, processor and system: the one that is wanted has no wheel for them, is older or newer than any, or stands in another index (`+cu...` of PyTorch).",
        act: "`python3 --version` against the wheels of that release: take a Python that it has wheels for, or another release out of the list; a version with `+cu...` needs `--index-url https://download.pytorch.org/whl/cu...`",
        sources: &[seen(
            "https://github.com/pypa/pip (src/pip/_internal/resolution/resolvelib/factory.py)",
            "2026-11-30",
        )],
        samples: &[
            "ERROR: Could not find a version that satisfies the requirement torch==1.12.0 (from versions: 1.13.0, 1.13.1, 2.0.0, 2.0.1, 2.1.0)",
        ],
        ..PIP
    },
    Cause {
        id: "pip.not_found",
        sign: r"Could not find a version that satisfies the requirement (?<package>[^ ]+)(?: \(from [^)]*\))*(?: \(from versions: (?<versions>[^)]*)\))?",
        follows: NO_FETCH,
        says: "pip finds no usable release of {package}",
        means: "The index could not be reached, has no such release, or has none for this Python and processor; `(from versions: none)` is all three.",
        act: "look at the lines before for trouble with the network; then `python3 --version` and `pip index versions NAME`; packages of NVIDIA and PyTorch may need `--extra-index-url`",
        sure: Sure::Guess,
        samples: &[
            "ERROR: Could not find a version that satisfies the requirement torch==2.9.0+cu130 (from versions: none)",
        ],
        ..PIP
    },
    Cause {
        id: "pip.no_distribution",
        sign: "No matching distribution found for (?<package>[^ ]+)",
        role: Role::Summary,
        says: "pip finds nothing for {package}",
        means: "pip sums up; the reason stands before.",
        act: "look at the line before this one",
        samples: &["ERROR: No matching distribution found for torch==2.9.0+cu130"],
        ..PIP
    },
    Cause {
        id: "pip.cannot_uninstall",
        sign: "Cannot uninstall '?(?<package>[^ ',]+)'?[^,.]*[,.] (?:It is a distutils installed project|RECORD file not found)",
        says: "pip cannot replace {package}, which the distribution installed",
        means: "The distribution's package left no list of its files that pip could use.",
        act: "work in a virtual environment, or `pip install --ignore-installed {package}` in a container",
        sure: Sure::Confirmed,
        samples: &[
            "ERROR: Cannot uninstall 'PyYAML'. It is a distutils installed project and thus we cannot accurately determine which files belong to it which would lead to only a partial uninstall.",
        ],
        ..PIP
    },
    Cause {
        id: "pip.wheel_failed",
        sign: "(?:ERROR: )?(?:Failed building wheel for (?<package>[^ ]+)|Failed to build `(?<uv>[^`]+)`|Failed to build installable wheels for|Could not build wheels for|metadata-generation-failed|Failed to build '?(?<built>[^ ']+)'? when|subprocess-exited-with-error|legacy-install-failure)",
        role: Role::Summary,
        says: "pip could not build a package[: {package}][: {built}][: {uv}]",
        means: "No ready wheel fits this Python, so pip built it here, and that failed; the reason stands before.",
        act: "look at the first error of the compiler or of setup.py before this line; a Python for which the project has wheels needs no build",
        samples: &["  ERROR: Failed building wheel for flash-attn", "error: metadata-generation-failed"],
        ..PIP
    },
    Cause {
        id: "pip.incompatible",
        sign: "^(?<package>[A-Za-z0-9._-]+ [^ ]+) (?:requires|has requirement) (?<needs>[^ ,]+),? (?:but you have|but you'll have) (?<have>[^,]+?) (?:which is incompatible)",
        says: "{package} requires {needs}, and {have} is there",
        means: "pip installed what was asked for and tells that another package now has a version that it does not want.",
        act: "install both with one command, or give {package} an environment of its own",
        counts: Counts::Warn,
        samples: &["vllm 0.6.3 requires torch==2.4.0, but you have torch 2.5.1 which is incompatible."],
        ..PIP
    },
    Cause {
        id: "pip.notes",
        sign: "pip's dependency resolver does not currently take into account|Running pip as the 'root' user can result in|Defaulting to user installation because normal site-packages is not writeable|A new release of pip|You are using pip version|You should consider upgrading via|WARNING: The scripts? .* (?:is|are) installed in '[^']+' which is not on PATH|WARNING: Cache entry deserialization failed",
        says: "pip gives advice",
        means: "The line is advice; the installation goes on.",
        counts: Counts::Note,
        remedy: Remedy::Look,
        samples: &[
            "WARNING: Running pip as the 'root' user can result in broken permissions and conflicting behaviour with the system package manager.",
            "[notice] A new release of pip is available: 23.0.1 -> 24.2",
        ],
        ..PIP
    },
    Cause {
        id: "conda.terms",
        sign: "CondaToSNonInteractiveError|Terms of Service have not been accepted",
        says: "the channels of Anaconda want their terms accepted",
        means: "conda 25.5 and newer ask for it, and a build has nobody to answer.",
        act: "`conda tos accept --override-channels --channel URL` where the terms are yours to accept, or take conda-forge alone (`--override-channels -c conda-forge`; Miniforge)",
        sure: Sure::Confirmed,
        sources: &[seen("https://github.com/conda/conda (conda/exceptions.py)", "2026-11-30")],
        samples: &[
            "CondaToSNonInteractiveError: Terms of Service have not been accepted for the following channels. Please accept or remove them before proceeding:",
        ],
        ..PIP
    },
    Cause {
        id: "conda.not_writable",
        sign: "EnvironmentNotWritableError|NoWritablePkgsDirError|NoWritableEnvsDirError",
        says: "this account may not write to that environment of conda",
        means: "It belongs to root or somebody else, as a shared installation does.",
        act: "make one of your own (`conda create -p DIR`), with pkgs_dirs and envs_dirs in ~/.condarc on a disk with room; do not change the owner of a shared one",
        sure: Sure::Confirmed,
        sources: &[seen("https://github.com/conda/conda (conda/exceptions.py)", "2026-11-30")],
        samples: &[
            "EnvironmentNotWritableError: The current user does not have write permissions to the target environment.",
        ],
        ..PIP
    },
    Cause {
        id: "conda.no_shell",
        sign: "CommandNotFoundError: Your shell has not been properly configured to use 'conda activate'|CondaError: Run 'conda init' before 'conda activate'",
        says: "`conda activate` does not work in this shell",
        means: "The function of conda is not loaded: scripts of jobs and images are no login shells.",
        act: "`source $(conda info --base)/etc/profile.d/conda.sh` before it, or `conda run -n NAME PROGRAM`",
        sure: Sure::Confirmed,
        sources: &[seen("https://github.com/conda/conda (conda/exceptions.py)", "2026-11-30")],
        samples: &[
            "CommandNotFoundError: Your shell has not been properly configured to use 'conda activate'.",
        ],
        ..PIP
    },
    Cause {
        id: "conda.archive_damaged",
        sign: "InvalidArchiveError|CondaVerificationError: The package|SafetyError: The package|ChecksumMismatchError",
        says: "a package in the cache of conda is not whole",
        means: "A download was cut off, the disk was full, or two runs used the cache at once.",
        act: "`df -h` and the quota; `conda clean --packages --tarballs`, then again, one run at a time",
        sure: Sure::Likely,
        sources: &[seen("https://github.com/conda/conda (conda/exceptions.py)", "2026-11-30")],
        samples: &[
            "CondaVerificationError: The package for pytorch located at /opt/conda/pkgs/pytorch appears to be corrupted.",
        ],
        ..PIP
    },
    Cause {
        id: "conda.unsatisfiable",
        follows: &["conda.no_gpu_seen"],
        sign: "LibMambaUnsatisfiableError|Could not solve for environment specs|^Encountered problems while solving|UnsatisfiableError: The following specifications|PackagesNotFoundError: The following packages are not available|ResolvePackageNotFound",
        says: "conda finds no set of packages that fits",
        means: "The channels have no such package, or the pins exclude each other; `__cuda` in the lines behind is the driver that conda sees on this machine.",
        act: "see the lines behind; add the channel (conda-forge, nvidia), loosen the pins, and on a machine without a GPU set CONDA_OVERRIDE_CUDA",
        sources: &[seen("https://github.com/conda/conda (conda/exceptions.py)", "2026-11-30")],
        samples: &["LibMambaUnsatisfiableError: Encountered problems while solving:"],
        ..PIP
    },
    // Fetching, by any program.
    Cause {
        id: "fetch.proxy_login",
        sign: "407 +Proxy Authentication Required|HTTP code 407 from proxy|Proxy CONNECT aborted.*407|Status code: 407",
        says: "the proxy wants a login",
        means: "The proxy is reached and does not let this host through without a name and a password.",
        act: "give the proxy with its account (`http://NAME:PASSWORD@HOST:PORT`, special characters as %XX) in the settings of the program: Acquire::http::Proxy of apt, proxy= of dnf, https_proxy for others",
        sure: Sure::Confirmed,
        samples: &[
            "  407  Proxy Authentication Required [IP: 192.0.2.8 3128]",
            "curl: (56) Received HTTP code 407 from proxy after CONNECT",
        ],
        ..FETCH
    },
    Cause {
        id: "fetch.proxy",
        sign: r"(?:Received HTTP code (?<status>[0-9]+) from proxy after CONNECT|Invalid response from proxy|CONNECT tunnel failed, response (?<response>[0-9]+)|Could not resolve proxy: (?<name>[^ ;]+)|Cannot connect to proxy|ProxyError\(|Tunnel connection failed: (?<tunnel>[0-9]+))",
        says: "the proxy does not pass this on[: {status}][: {response}][: {tunnel}][: {name} has no address]",
        means: "A proxy is set for this program, and it is wrong or forbids this server (403), or cannot reach it (502, 503, 504).",
        act: "see `env | grep -i proxy`, /etc/apt/apt.conf.d and /etc/dnf/dnf.conf: correct the address, have the server allowed, or put servers of the site into no_proxy",
        samples: &[
            "curl: (56) Received HTTP code 403 from proxy after CONNECT",
            "curl: (5) Could not resolve proxy: proxy.example",
            "W: Failed to fetch https://192.0.2.4/InRelease  Invalid response from proxy: HTTP/1.1 403 Forbidden",
        ],
        ..FETCH
    },
    Cause {
        id: "fetch.certificate_not_yet_valid",
        sign: r"certificate is not yet valid|certificate chain uses not yet valid certificate|The certificate is NOT trusted\..*not yet (?:activated|valid)",
        says: "the certificate of a server counts as not yet valid",
        means: "The clock of this host is behind.",
        act: "set the clock (`timedatectl set-ntp true`; the playbook `chrony` keeps it), then try again",
        samples: &[
            "curl: (60) SSL certificate problem: certificate is not yet valid",
            "  Certificate verification failed: The certificate is NOT trusted. The certificate chain uses not yet valid certificate.  Could not handshake: Error in the certificate verification. [IP: 192.0.2.5 443]",
        ],
        ..FETCH
    },
    Cause {
        id: "fetch.certificate_expired",
        sign: "(?:^|[^9]: )certificate has expired(?:$|[^ ])|SSL certificate problem: certificate has expired|certificate chain uses expired certificate|certificate verify failed: certificate expired",
        says: "the certificate of a server has expired, by the clock of this host",
        means: "The server's certificate is too old, the clock of this host is ahead, or the host's own list of authorities is years old.",
        act: "compare `date` first; then upgrade the package ca-certificates; where other hosts see it as well, the owner of the server must renew it",
        sure: Sure::Guess,
        samples: &[
            "curl: (60) SSL certificate problem: certificate has expired",
            "  Certificate verification failed: The certificate is NOT trusted. The certificate chain uses expired certificate.  Could not handshake: Error in the certificate verification.",
        ],
        ..FETCH
    },
    Cause {
        id: "fetch.no_certificates",
        sign: r"No system certificates available\. Try installing ca-certificates|error setting certificate verify locations|error adding trust anchors from file|error setting certificate file: (?<file>[^ ]+)",
        says: "this host or image has no list of certificate authorities[: {file}]",
        means: "The package ca-certificates is missing, as in small images, or a variable (CURL_CA_BUNDLE, SSL_CERT_FILE, REQUESTS_CA_BUNDLE) names a file that is not there.",
        act: "install ca-certificates (from a mirror by http, or in the image before); take the variable away or correct it",
        sure: Sure::Confirmed,
        samples: &[
            "W: https://192.0.2.5/ubuntu/InRelease: No system certificates available. Try installing ca-certificates.",
            "curl: (77) error setting certificate verify locations:",
        ],
        ..FETCH
    },
    Cause {
        id: "fetch.certificate_name",
        sign: "certificate subject name .* does not match target host name|no alternative certificate subject name matches target host name|The name in the certificate does not match the expected|Hostname mismatch, certificate is not valid for '(?<host>[^']+)'|doesn't match either of",
        says: "the certificate of a server is for another name[ than {host}]",
        means: "Something else answers under this name: a proxy, a login page of the network, a wrong DNS entry, or the server was asked by another name or its address.",
        act: "see `openssl s_client -connect HOST:443 -servername HOST` for who answers; use the name in the certificate, or correct DNS or the proxy",
        samples: &[
            "curl: (60) SSL: no alternative certificate subject name matches target host name '192.0.2.5'",
        ],
        ..FETCH
    },
    Cause {
        id: "fetch.certificate_unknown",
        sign: "(?:host='(?<host>[^']+)'.*)?(?:unable to get (?:local )?issuer certificate|SSL certificate problem: self[- ]signed certificate|verify (?:failed|error)[^ ]*:? ?(?:num=1[89]:)?self[- ]signed certificate|self[- ]signed certificate in certificate chain|The certificate is NOT trusted|CERTIFICATE_VERIFY_FAILED|server certificate verification failed|Peer's [Cc]ertificate issuer is not recognized|SSL peer certificate or SSH remote key was not OK)",
        says: "the authority that signed the certificate[ of {host}] is not known here",
        means: "A proxy of the company opens TLS with its own authority, the server uses the site's own, or ca-certificates here is years old or missing.",
        act: "put the site's or proxy's CA certificate into the trust store (/usr/local/share/ca-certificates and `update-ca-certificates`; /etc/pki/ca-trust/source/anchors and `update-ca-trust`), for pip PIP_CERT and for requests REQUESTS_CA_BUNDLE; in a container do so inside the image; do not switch the check off for good",
        sources: &[seen("https://github.com/intel/gprofiler/issues/945", "2025-03-11")],
        samples: &[
            "curl: (60) SSL certificate problem: unable to get local issuer certificate",
            "Could not fetch URL https://pypi.org/simple/pip/: There was a problem confirming the ssl certificate: HTTPSConnectionPool(host='pypi.org', port=443): Max retries exceeded with url: /simple/pip/ (Caused by SSLError(SSLCertVerificationError(1, '[SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed: unable to get local issuer certificate (_ssl.c:1007)'))) - skipping",
        ],
        ..FETCH
    },
    Cause {
        id: "fetch.name_not_found",
        sign: r"(?:Temporary failure resolving '(?<host>[^']+)'|Could not resolve '(?<apt>[^']+)'|[Cc]ould(?: not|n't) resolve host(?:: | name for | )(?<curl>[^ ;)]+)?|unable to resolve host address .(?<wget>[A-Za-z0-9.-]+)|Something wicked happened resolving '(?<wicked>[^']+)'|Failed to resolve '(?<pip>[^']+)'|System error resolving '(?<system>[^']+)'|Curl error \(6\)|NameResolutionError|(?:urllib3|HTTPSConnection|urlopen error).*\[Errno -[235]\])",
        says: "this host cannot resolve names[: {host}][: {apt}][: {curl}][: {wget}][: {pip}]",
        means: "No name server answers here, or none knows that name.",
        act: "see `resolvectl status` or /etc/resolv.conf and `getent hosts NAME`; in a container look at its own /etc/resolv.conf; hosts without internet need a mirror or a proxy of the site",
        passing: true,
        samples: &[
            "  Temporary failure resolving 'archive.ubuntu.com'",
            "curl: (6) Could not resolve host: mirrors.rockylinux.org",
            "wget: unable to resolve host address 'developer.download.nvidia.com'",
        ],
        ..FETCH
    },
    Cause {
        id: "fetch.no_network",
        sign: r"(?:Cannot initiate the connection to (?<host>[^ ]+).*Network is unreachable|Failed to establish a new connection: \[Errno 101\]|Failed to connect to (?<curl>[^ ]+) port [0-9]+.*Network is unreachable)",
        says: "there is no way to {host} from this host",
        means: "The host has no route there. With an IPv6 address (with colons) it only means that IPv6 does not lead out, and IPv4 is tried as well.",
        act: "see `ip route` for a default route; where only IPv6 fails, `Acquire::ForceIPv4 \"true\"` for apt; hosts without internet need a mirror or a proxy of the site",
        role: Role::Effect,
        passing: true,
        samples: &[
            "  Cannot initiate the connection to archive.ubuntu.com:80 (2001:db8::1). - connect (101: Network is unreachable)",
        ],
        ..FETCH
    },
    Cause {
        id: "fetch.not_connected",
        sign: r"(?:Could not connect to (?<host>[^ ]+)(?: \([^)]*\))?|Failed to connect to (?<curl>[^ ]+) port (?<port>[0-9]+)|Curl error \(7\)|CondaHTTPError: HTTP 000 CONNECTION FAILED|ConnectTimeoutError\(.*'Connection to (?<timeout>[^ ']+) timed out|NewConnectionError\(.*\[Errno 11[013]\]|Unable to connect to (?<apt>[^ ]+:(?:https?|[0-9]+))|HTTPSConnectionPool\(host='(?<pip>[^']+)'.*(?:NewConnectionError|ConnectTimeoutError|\[Errno 11[013]\]))",
        says: "this host does not reach the server[ {host}][ {curl}][ {apt}][ {pip}][ {timeout}]",
        means: "Nothing answers there from this host: it has no way out, a firewall stands between, a proxy is needed and not set, or the server is down.",
        act: "try it by hand (`curl -v URL`), and from another host; set the proxy or a local mirror where hosts have no way out",
        passing: true,
        sure: Sure::Guess,
        samples: &[
            "  Could not connect to archive.ubuntu.com:80 (192.0.2.5), connection timed out",
            "curl: (7) Failed to connect to developer.download.nvidia.com port 443 after 10 ms: Connection refused",
        ],
        ..FETCH
    },
    Cause {
        id: "fetch.timed_out",
        sign: r"(?:Curl error \(28\)|curl: \(28\)|Operation too slow\. Less than|connect \(110: Connection timed out\)|ReadTimeoutError|Read timed out\. \(read timeout|Connection timed out \[IP|Connection timed out after [0-9]+ milliseconds|Connection failed \[IP)",
        says: "a download took too long",
        means: "The server or the network is slow, something between drops the packets, or there is no way out without a proxy.",
        act: "try again; where it stays, try by hand (`curl -v URL`), look at the MTU and the proxy, or take a nearer mirror",
        passing: true,
        role: Role::Effect,
        samples: &[
            "  - Curl error (28): Timeout was reached for https://mirrors.example/repodata/repomd.xml [Operation too slow. Less than 1000 bytes/sec transferred the last 30 seconds]",
            "pip._vendor.urllib3.exceptions.ReadTimeoutError: HTTPSConnectionPool(host='files.pythonhosted.org', port=443): Read timed out.",
        ],
        ..FETCH
    },
    Cause {
        id: "fetch.tls",
        sign: r"(?:Could not handshake: (?<why>[^\[]+)|Curl error \(35\)|curl: \(35\)|gnutls_handshake\(\) (?:failed|warning)|SSL_ERROR_SYSCALL|SSLEOFError|SSL.*wrong version number|wrong version number \(_ssl|OpenSSL/[0-9.]+: error:)",
        says: "TLS with a server does not come about[: {why}]",
        means: "Something on the way cuts or answers the connection that speaks no TLS (a proxy given as https://, a firewall), the clock is far off, or the two sides share no version of TLS.",
        act: "try `curl -v URL`; see that the proxy is given as http://, that `date` is right, and whether a firewall inspects TLS",
        passing: true,
        sure: Sure::Guess,
        samples: &[
            "curl: (35) OpenSSL SSL_connect: SSL_ERROR_SYSCALL in connection to developer.download.nvidia.com:443",
        ],
        ..FETCH
    },
    Cause {
        id: "fetch.cut_off",
        sign: r"(?:read \(104: Connection reset by peer\)|Connection reset by peer.*\[IP|Recv failure: Connection reset by peer|ConnectionResetError\(104|Read error \(Connection reset by peer\)|Curl error \((?:18|52|56|92)\)|curl: \((?:18|52|56|92)\)|transfer closed with [0-9]+ bytes remaining|Error reading from server|The HTTP server sent an invalid reply header|Undetermined Error \[IP|fetch-pack: unexpected disconnect|fatal: early EOF|RPC failed; |IncompleteRead\(|ChunkedEncodingError|Protocol error:.*ConnectionResetError|Data left in file: |Error reading from remote server)",
        says: "a download was cut off",
        means: "The connection ended before the file was whole: the server, a proxy or the network closed it.",
        act: "try again; where it stays, take another mirror, or look at the proxy between",
        passing: true,
        role: Role::Effect,
        samples: &[
            "  Error reading from server. Remote end closed connection [IP: 192.0.2.5 80]",
            "curl: (18) transfer closed with 1048576 bytes remaining to read",
            "fatal: early EOF",
        ],
        ..FETCH
    },
    Cause {
        id: "fetch.server_trouble",
        sign: "(?:^ *(?:E: |W: |ERROR )?(?:429 +Too Many Requests|50[0234] +(?:Internal Server Error|Bad Gateway|Service Unavailable|Gateway Time-?out|Service Temporarily Unavailable))|Failed to fetch [^ ]+ +(?:429|50[0234]) |The requested URL returned error: (?:429|50[0234])|ERROR (?:429|50[0234]):|HTTP Error 429|too many 50[0-9] error responses)",
        says: "the server is in trouble, or has too many requests",
        means: "The answer comes from the server or the proxy itself: it cannot answer at this moment, or counts too many requests of this address.",
        act: "wait and try again; a fleet behind one address needs a mirror or a cache of its own",
        passing: true,
        samples: &[
            "  503  Service Unavailable [IP: 192.0.2.5 80]",
            "curl: (22) The requested URL returned error: 502",
        ],
        ..FETCH
    },
    Cause {
        id: "fetch.forbidden",
        sign: "(?:^ *(?:E: |W: )?(?:401 +Unauthorized|403 +(?:Forbidden|URLBlocked|Filtered))|Failed to fetch [^ ]+ +(?:401|403) |The requested URL returned error: (?:401|403)|ERROR (?:401|403): )",
        says: "the server does not give this file to this host",
        means: "A login or a token is missing or has ended, a proxy blocks the address, or the server forbids the country or the path.",
        act: "open the address by hand with and without the proxy; renew the account of the repository (/etc/apt/auth.conf.d, the subscription), or have the address allowed",
        sure: Sure::Guess,
        samples: &[
            "  403  Forbidden [IP: 192.0.2.5 80]",
            "curl: (22) The requested URL returned error: 403 Forbidden",
        ],
        ..FETCH
    },
    Cause {
        id: "fetch.not_there",
        sign: r"(?:The requested URL returned error: 404|ERROR 404: Not Found|HTTP error 404|HTTP Error 404|curl: \(22\)|Failed to fetch [^ ]+ +404)",
        says: "the server does not have this file",
        means: "The address is wrong, or the file was moved or removed.",
        act: "open the address in a browser and correct the version, the distribution or the architecture in it",
        samples: &["curl: (22) The requested URL returned error: 404", "wget: ERROR 404: Not Found."],
        ..FETCH
    },
    Cause {
        id: "fetch.answer_404",
        sign: "^ *(?:E: |W: )?404 +Not Found",
        role: Role::Effect,
        says: "a server answered that it does not have a file",
        means: "The line with `Failed to fetch` or `Release file` behind it names the file.",
        act: "look at the file that is named: for a package run `apt-get update` first, for a release file correct the entry of the repository",
        passing: true,
        samples: &["  404  Not Found [IP: 192.0.2.6 80]"],
        ..FETCH
    },
    Cause {
        id: "git.dubious_ownership",
        sign: "detected dubious ownership in repository at '(?<path>[^']+)'",
        says: "git refuses {path}, which belongs to another account",
        means: "git takes no repository of somebody else unless it is told so; containers with a mounted tree show this.",
        act: "`git config --global --add safe.directory {path}`, or run it as the owner",
        sure: Sure::Confirmed,
        sources: &[seen("https://git-scm.com/docs/git-config (safe.directory)", "2026-11-30")],
        samples: &["fatal: detected dubious ownership in repository at '/src/nccl'"],
        ..FETCH
    },
    Cause {
        id: "fetch.checksum_by_hand",
        sign: "sha(?:1|256|512)sum: WARNING: [0-9]+ computed checksums? did NOT match|md5sum: WARNING: [0-9]+ computed checksums? did NOT match|Error in (?:MD5|SHA256) checksums: ",
        says: "a downloaded file does not fit its checksum",
        means: "The download was cut off, is the page of a proxy, or is another version than the checksum.",
        act: "remove it and fetch it again; look at its size and at its first bytes (`file NAME`); then compare the checksum with the one of this version",
        samples: &[
            "sha256sum: WARNING: 1 computed checksum did NOT match",
            "Error in MD5 checksums: 0f343b0931126a20f133d67c2b018a3b is different from 4e2a9f9e",
        ],
        ..FETCH
    },
    Cause {
        id: "fetch.failed",
        sign: r"(?:Failed to fetch (?<place>[a-z]+://[^ ]+)|Unable to fetch some archives, maybe run apt|Some index files failed to download|All mirrors were (?:already )?tried|Error downloading packages|Max retries exceeded with url|Retrying \(Retry\(total=|Could not fetch URL (?<pip>[^ ]+?):? )",
        role: Role::Summary,
        says: "a file could not be fetched",
        means: "The reason stands on the same line or in the lines around: DNS, proxy, certificate, an answer such as 404, or a mirror that is renewed.",
        act: "look at the lines around for the reason; then try it by hand (`curl -v URL`)",
        passing: true,
        samples: &[
            "E: Unable to fetch some archives, maybe run apt-get update or try with --fix-missing?",
            "W: Some index files failed to download. They have been ignored, or old ones used instead.",
            "E: Failed to fetch http://192.0.2.5/ubuntu/pool/main/x.deb  Something else",
        ],
        ..FETCH
    },
];
