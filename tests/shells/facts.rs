//! Basic facts and file queries of this very machine, under every shell.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test")]
#![allow(clippy::disallowed_methods, reason = "tests start shells")]

use std::collections::BTreeSet;
use std::process::Command;

use crate::support::{SHELLS, gather, run};
use provision::checks;
use provision::facts::log::LogQuery;
use provision::facts::login::LoginQuery;
use provision::facts::next_boot::{Aspect, NextBoot, NextBootQuery};
use provision::facts::rdma::RdmaQuery;
use provision::facts::setting::SettingQuery;
use provision::facts::{Answer, BaseQuery, Query, Seen, base, specimens};
use provision::resources::gpu::nvidia_driver::question::OfferedQuery;
use provision::resources::packages::package::question::InstalledQuery;
use provision::resources::packages::repository::question::{EntriesQuery, Entry};
use provision::transport::Script;

/// Paths of all values, with list items folded.
fn shape(prefix: &str, value: &serde_json::Value, into: &mut BTreeSet<String>) {
    match value {
        serde_json::Value::Object(map) => {
            for (key, value) in map {
                shape(&format!("{prefix}.{key}"), value, into);
            }
        }
        serde_json::Value::Array(list) => {
            for item in list {
                shape(&format!("{prefix}[]"), item, into);
            }
        }
        serde_json::Value::Null => panic!("{prefix} is null"),
        serde_json::Value::Bool(_) => drop(into.insert(format!("{prefix}: bool"))),
        serde_json::Value::Number(_) => drop(into.insert(format!("{prefix}: number"))),
        serde_json::Value::String(_) => drop(into.insert(format!("{prefix}: string"))),
    }
}

#[test]
fn specimens_are_whole() {
    let specimens = specimens();
    assert_eq!(specimens.len(), 4);
    let shapes: Vec<BTreeSet<String>> = specimens
        .iter()
        .map(|(_, facts)| {
            let mut into = BTreeSet::new();
            shape("facts", facts, &mut into);
            into
        })
        .collect();
    for other in &shapes[1..] {
        assert_eq!(&shapes[0], other);
    }
    for (_, facts) in &specimens {
        for name in facts.as_object().unwrap().keys() {
            assert!(base(name).is_some(), "{name}");
        }
        for fact in base::TABLE {
            assert!(facts.get(fact.name).is_some(), "{}", fact.name);
        }
    }
}

#[test]
fn this_machine_under_every_shell() {
    let mut known = BTreeSet::new();
    shape("facts", &specimens()[0].1, &mut known);
    let mut first = None;
    for shell in SHELLS {
        let queries: Vec<Query> = base::TABLE.iter().map(|f| BaseQuery(f.name).into()).collect();
        let facts = gather(shell, queries.clone());
        for query in queries {
            assert!(
                matches!(facts.find(&query), Some(Answer::Known(_))),
                "{shell:?} {query:?} {:?}",
                facts.find(&query)
            );
        }
        let mut seen = BTreeSet::new();
        let mut view = facts.view();
        shape("facts", &view, &mut seen);
        let strange: Vec<_> = seen.difference(&known).collect();
        assert!(strange.is_empty(), "fields that no specimen has: {strange:?}");
        // Numbers that move by themselves, and jobs, links of containers and accounts of other tests, which come and go.
        view["busy"] = serde_json::Value::Null;
        view["mounts"] = serde_json::Value::Null;
        view["memory"] = serde_json::Value::Null;
        if let Some(links) = view["network"]["links"].as_array_mut() {
            let name = |link: &serde_json::Value| link["name"].as_str().unwrap_or_default().to_owned();
            links.retain(|link| !["veth", "br-"].iter().any(|stem| name(link).starts_with(stem)));
        }
        if let Some(users) = view["users"]["list"].as_array_mut() {
            users.retain(|user| !user["name"].as_str().unwrap_or_default().starts_with("pv"));
        }
        let first = first.get_or_insert_with(|| view.clone());
        assert_eq!(first, &view, "{shell:?}");
    }
    println!("{:#}", first.unwrap());
}

/// Of some lists of processors the kernel gives nothing to a shell that reads byte by byte.
#[test]
fn processors_under_every_shell() {
    let read = |path: &str| std::fs::read_to_string(path).ok().map(|text| text.trim().to_owned());
    let siblings = read("/sys/devices/system/cpu/cpu0/topology/thread_siblings_list");
    let cpus = read("/sys/devices/system/node/node0/cpulist");
    for shell in SHELLS {
        let cpu = Script::new(include_str!("../../src/facts/base/cpu/cpu.sh"));
        let (_, output, _) = run(shell, &cpu, None);
        let output = String::from_utf8(output).unwrap();
        assert_eq!(
            output.lines().find_map(|line| line.strip_prefix("siblings=")),
            siblings.as_deref(),
            "{shell:?}"
        );
        let numa = gather(shell, [base("numa").unwrap()]).view()["numa"].clone();
        assert_eq!(numa[0]["cpus"].as_str(), cpus.as_deref(), "{shell:?} {numa}");
    }
}

/// Small files of the kernel: with tabs, without an end, and numbers, of which the shells that read
/// byte by byte get one digit.
#[test]
fn settings_under_every_shell() {
    let directory = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| {
        let path = directory.path().join(name).to_str().unwrap().to_owned();
        std::fs::write(&path, text).unwrap();
        path
    };
    let plain = file("plain", "1\n");
    let tabs = file("tabs", "4096\t131072\t6291456");
    let lines = file("it's \\n", "a\nb\n");
    let empty = file("empty", "");
    let pid_max = std::fs::read_to_string("/proc/sys/kernel/pid_max").unwrap();
    let paths =
        [&plain, &tabs, &lines, &empty, "/proc/sys/kernel/pid_max", "/proc/sys/none"].map(str::to_owned);
    for shell in SHELLS {
        let facts = gather(shell, paths.iter().map(|path| SettingQuery(path.clone()).into()));
        let values = paths.each_ref().map(|path| match facts.get(&SettingQuery(path.clone())).answer() {
            Some(setting) => setting.clone().map(|setting| setting.value.unwrap()),
            None => panic!("{shell:?} {path}: {facts:?}"),
        });
        assert_eq!(
            values.each_ref().map(Option::as_deref),
            [Some("1"), Some("4096 131072 6291456"), Some("a b"), Some(""), Some(pid_max.trim()), None],
            "{shell:?}"
        );
    }
}

/// Every probe comes to an end on this machine, whatever it lacks, and leaves nothing behind.
#[test]
fn probes_under_every_shell() {
    let mut first = None;
    for shell in SHELLS {
        let queries: Vec<Query> =
            checks::queries().into_iter().filter(|query| !query.is::<LoginQuery>()).collect();
        let facts = gather(shell, queries.clone());
        let sections: Vec<String> = queries
            .iter()
            .map(|query| match facts.find(query) {
                Some(Answer::Known(_)) => query.label(),
                other => panic!("{shell:?} {query:?} {other:?}"),
            })
            .collect();
        assert_eq!(first.get_or_insert_with(|| sections.clone()), &sections, "{shell:?}");
    }
}

/// What is installed here, whichever package manager it has.
#[test]
fn installed_packages_under_every_shell() {
    for shell in SHELLS {
        let queries = ["bash*", "no-such-package*"].map(|pattern| InstalledQuery(pattern.to_owned()));
        let facts = gather(shell, queries.clone().map(Query::from));
        let names = queries.each_ref().map(|query| {
            let found = facts.get(query).answer();
            let packages = found.unwrap_or_else(|| panic!("{shell:?} {query:?}: {:?}", facts.get(query)));
            packages.iter().map(|package| package.name.clone()).collect()
        });
        let [bash, none]: [Vec<String>; 2] = names;
        assert!(bash.contains(&"bash".to_owned()) && none.is_empty(), "{shell:?} {bash:?} {none:?}");
    }
}

/// The offer of apt by a name that is installed, and by one that no archive has.
#[test]
fn offered_packages_under_every_shell() {
    for shell in SHELLS {
        let queries = ["dash", "no-such-package"].map(|name| OfferedQuery(name.to_owned()));
        let facts = gather(shell, queries.clone().map(Query::from));
        let [dash, none] = queries.each_ref().map(|query| {
            facts.get(query).answer().unwrap_or_else(|| panic!("{shell:?} {query:?}: {:?}", facts.get(query)))
        });
        assert!(dash.installed && !none.installed && none.version.is_empty(), "{shell:?} {dash:?} {none:?}");
    }
}

/// Both styles of apt's sources, with what is off left out, and the keys behind `Signed-By`.
#[test]
fn entries_of_apt_under_every_shell() {
    if !std::path::Path::new("/usr/bin/apt-get").exists() {
        return println!("apt is not here");
    }
    let list = "# deb https://x/off /\ndeb [arch=amd64 signed-by=/run/ring] https://x/cuda/ / # NVIDIA\n";
    let sources = "Types: deb\nURIs: https://x/other/\n https://x/two\nSuites: ./\n# words\nSigned-By: /run/ring ABABABABABABABABABABABABABABABABABABABAB\n\n\
                   Types: deb\nEnabled: no\nURIs: https://x/off\nSuites: ./\n\nTypes: deb\nURIs: https://x/text\nSuites: a b\nComponents: main\nSigned-By:\n -----BEGIN PGP PUBLIC KEY BLOCK-----\n .\n AB\n";
    let make = format!(
        "mount -t tmpfs none /etc/apt/sources.list.d; mount -t tmpfs none /run; >/run/ring; printf '%b' '{list}' >/etc/apt/sources.list.d/cuda.list; \
         printf '%b' '{sources}' >/etc/apt/sources.list.d/b.sources; printf '#!/bin/sh\\necho pub:; echo fpr:::::::::CDCD:; echo sub:; echo fpr:::::::::EFEF:\\n' >\"$bin/gpg\"; chmod +x \"$bin/gpg\""
    );
    let urls = ["cuda", "two", "off", "text"].map(|name| EntriesQuery(format!("https://x/{name}")));
    let facts = gather(&["unshare", "-m", "sh", "-c", &made_up(&make)], urls.clone().map(Query::from));
    let [cuda, two, off, text] = urls.each_ref().map(|query| {
        facts.get(query).answer().unwrap_or_else(|| panic!("{query:?}: {:?}", facts.get(query))).clone()
    });
    let entry = |name: &str, suites: &[&str], signed: &str, keys: &[&str]| Entry {
        file: format!("/etc/apt/sources.list.d/{name}"),
        suites: suites.iter().map(|suite| (*suite).to_owned()).collect(),
        signed: signed.to_owned(),
        keys: keys.iter().map(|key| (*key).to_owned()).collect(),
    };
    assert_eq!(cuda, [entry("cuda.list", &["/"], "/run/ring", &["CDCD"])]);
    // Of the keys in a file those count that are named.
    let named = "ABABABABABABABABABABABABABABABABABABABAB";
    assert_eq!(two, [entry("b.sources", &["./"], &format!("/run/ring {named}"), &[named])]);
    assert_eq!(off, []);
    assert_eq!((text.len(), &text[0].suites, &text[0].keys), (1, &vec!["a".into(), "b".into()], &vec![]));
}

/// Runs what stands between `make` and a shell in namespaces of its own, with this directory first in the path.
fn made_up(make: &str) -> String {
    format!("set -e; bin=$(mktemp -d); mount -t tmpfs none \"$bin\"; {make}; PATH=$bin:$PATH exec dash")
}

/// A kernel whose log lost its beginning, and one that still has it; both with a boot before.
#[test]
fn the_journal_is_asked_for_what_the_kernel_forgot() {
    let log = |first: &str| -> Option<Seen<provision::facts::log::Log>> {
        let make = format!(
            "printf '#!/bin/sh\\necho \"{first}\"; echo \"NVRM: Xid (PCI:0000:41:00): 13, pid=8\"\\n' >\"$bin/dmesg\"; \
             printf '#!/bin/sh\\ncase \"$*\" in *\"-b -1 \"*) echo \"NVRM: Xid (PCI:0000:41:00): 79, pid=7\" ;; \
             *) echo \"NVRM: Xid (PCI:0000:41:00): 48, pid=7\"; echo \"NVRM: Xid (PCI:0000:41:00): 13, pid=8\"; echo other ;; esac\\n' \
             >\"$bin/journalctl\"; chmod +x \"$bin/dmesg\" \"$bin/journalctl\""
        );
        let facts = gather(&["unshare", "-m", "sh", "-c", &made_up(&make)], [LogQuery.into()]);
        facts.get(&LogQuery).answer().cloned()
    };
    let Some(whole) = log("Linux version 6.8.0-87-generic") else {
        return println!("namespaces cannot be made here");
    };
    let (whole, cut) = (whole.unwrap(), log("eth0: link up").unwrap().unwrap());
    let numbers = |said: &[provision::causes::Said<'_>]| -> Vec<String> {
        said.iter().filter_map(|said| said.part("number")).map(str::to_owned).collect()
    };
    assert_eq!((whole.command.as_str(), numbers(&whole.said())), ("dmesg", vec!["13".to_owned()]));
    assert_eq!(cut.command, "journalctl -k -b --no-pager -o short-iso");
    assert_eq!(numbers(&cut.said()), ["48", "13"]);
    assert_eq!(numbers(&whole.said_before().unwrap()), ["79"]);
}

/// A program whose name and file are what the kernel would say, with line breaks in them, as util-linux (which indents
/// later lines) and busybox (which gives each the same time) print its crash. The messages are those of a real kernel.
#[test]
fn a_program_that_crashes_forges_nothing() {
    let log = |version: &str, lines: &str| -> Option<Seen<provision::facts::log::Log>> {
        let make = format!(
            "printf '#!/bin/sh\\ncase \"$1\" in -V) echo \"{version}\" ;; *) cat \"%s/log\" ;; esac\\n' \"$bin\" >\"$bin/dmesg\"; \
             printf '#!/bin/sh\\n' >\"$bin/journalctl\"; printf '%s\\n' '{lines}' >\"$bin/log\"; chmod +x \"$bin/dmesg\" \"$bin/journalctl\""
        );
        let facts = gather(&["unshare", "-m", "sh", "-c", &made_up(&make)], [LogQuery.into()]);
        facts.get(&LogQuery).answer().cloned()
    };
    let xid = "NVRM: Xid (PCI:0000:07:00): 79, pid=1, name=x, GPU has fallen off the bus.";
    let crash = |before: &str| {
        format!(
            "[    0.000000] Linux version 6.18.0\n[  884.340083] NVRM: x[8251]: segfault at 0 ip 0000562a2a61c170 sp 00007ffc5c2a6400 error 6 in x\n\
             {before}NVRM: x\n{before}{xid}[1170,562a2a61c000+1000] likely on CPU 1 (core 1, socket 0)\n\
             [  884.341396] Oops: 0000 [#1][8253]: segfault at 0 ip 0000563df1efb170 sp 00007ffe4c985100 error 6 in {xid}[1170,563df1efb000+1000]\n"
        )
    };
    let sound = |before: &str| {
        format!(
            "[    0.000000] Linux version 6.18.0\n[    5.559842] NVRM: The NVIDIA GPU 0000:02:00.0 (PCI ID: 10de:2c58)\n\
             {before}NVRM: installed in this system requires use of the NVIDIA open kernel modules.\n[    5.6] {xid}\n"
        )
    };
    let ids = |version: &str, lines: &str| {
        let found = log(version, lines)?.unwrap();
        assert_eq!(found.command, "dmesg");
        Some(found.said().iter().map(|said| said.cause.id).collect::<Vec<_>>())
    };
    let (util_linux, indented) = ("dmesg from util-linux 2.38.1", "               ");
    let Some(forged) = ids(util_linux, &crash(indented)) else {
        return println!("namespaces cannot be made here");
    };
    assert!(forged.is_empty(), "{forged:?}");
    let forged = ids("busybox", &crash("[  884.340083] ")).unwrap();
    assert!(forged.is_empty(), "{forged:?}");
    let all = ["nvidia.named", "nvidia.open_modules", "xid.off_the_bus"];
    assert_eq!(ids(util_linux, &sound(indented)).unwrap(), all);
    assert_eq!(ids("busybox", &sound("[    5.559842] ")).unwrap(), all);
    assert_eq!(ids("busybox", &sound(indented)).unwrap(), all);
}

/// Two cards on a `/sys` that is made up, of which one has the mark of a card that reaches switches of NVLink.
#[test]
fn cards_that_stand_on_a_gpu_board() {
    let make = "mount -t tmpfs none /sys; mkdir -p /sys/module/nvidia /sys/bus/mlx5_core; \
        for n in 0 1; do \
            mkdir -p /sys/class/infiniband/mlx5_$n/ports/1 /sys/devices/$n; \
            ln -s /sys/devices/$n /sys/class/infiniband/mlx5_$n/device; \
            ln -s /sys/bus/mlx5_core /sys/devices/$n/driver; \
            echo InfiniBand >/sys/class/infiniband/mlx5_$n/ports/1/link_layer; \
            echo '4: ACTIVE' >/sys/class/infiniband/mlx5_$n/ports/1/state; \
        done; \
        printf 'PN\\000SMDL=SW_MNG\\000' >/sys/devices/1/vpd; printf 'PN\\000MCX75310AAS\\000' >/sys/devices/0/vpd";
    let facts = gather(&["unshare", "-m", "sh", "-c", &made_up(make)], [RdmaQuery.into()]);
    let Some(rdma) = facts.get(&RdmaQuery).answer() else {
        return println!("namespaces cannot be made here");
    };
    let found: Vec<(&str, &str, bool)> = rdma
        .devices
        .as_ref()
        .unwrap()
        .iter()
        .map(|one| (one.name.as_str(), one.driver.as_str(), one.manages_switch))
        .collect();
    assert_eq!(found, [("mlx5_0", "mlx5_core", false), ("mlx5_1", "mlx5_core", true)]);
}

/// RDMA modules that are loaded though others are installed, on a `/sys/module` that is made up.
#[test]
fn modules_that_wait_for_a_boot() {
    let stale = |sysfs: &str, modinfo: &str| -> Option<serde_json::Value> {
        let make = format!(
            "set -e; bin=$(mktemp -d); mount -t tmpfs none \"$bin\"; mount -t tmpfs none /sys/module; cd /sys/module; {sysfs}; \
             printf '#!/bin/sh\\ncase $1 in ib_core) printf \"{modinfo}\" ;; *) exit 1 ;; esac\\n' >\"$bin/modinfo\"; \
             chmod +x \"$bin/modinfo\"; PATH=$bin:$PATH exec dash"
        );
        let facts = gather(&["unshare", "-m", "sh", "-c", &make], [BaseQuery("boot").into()]);
        Some(facts.view()["boot"].get("stale_modules")?.clone())
    };
    let core = "mkdir ib_core; echo live >ib_core/initstate";
    let with = |srcversion: &str| format!("{core}; echo {srcversion} >ib_core/srcversion");
    let Some(same) = stale(&with("AA"), "srcversion:     AA\\\\n") else {
        return println!("namespaces cannot be made here");
    };
    let none = serde_json::json!([]);
    let some = serde_json::json!(["ib_core"]);
    assert_eq!(same, none);
    assert_eq!(stale(&with("AA"), "depends:        \\\\nsrcversion:     BB\\\\n"), Some(some.clone()));
    // Debian's modules have no srcversion; DOCA's stand on mlx_compat.
    let doca = "depends:        mlx_compat,ib_uverbs\\\\nsrcversion:     BB\\\\n";
    assert_eq!(stale(core, doca), Some(some));
    assert_eq!(stale(&format!("{core}; mkdir mlx_compat"), doca), Some(none.clone()));
    assert_eq!(stale(core, "depends:        \\\\n"), Some(none.clone()));
    // Part of the kernel, or not loaded at all.
    assert_eq!(stale("mkdir ib_core", doca), Some(none.clone()));
    assert_eq!(stale(":", doca), Some(none));
}

/// The kernel behind the default entry of a grub.cfg that grub-mkconfig wrote, however that entry is chosen.
#[test]
fn the_kernel_that_grub_boots_next() {
    const NEW: &str = "6.1.0-50-amd64";
    const OLD: &str = "6.1.0-47-amd64";
    let cfg = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cases/probes/next_boot/grub.cfg");
    let next = |shell: &[&str], default: &str, env: &str| -> Option<serde_json::Value> {
        let make = format!(
            "set -e; mount -t tmpfs none /boot; mkdir /boot/grub; cd /boot; >vmlinuz-6.1.0-47-amd64; >vmlinuz-6.1.0-50-amd64; \
             sed 's#${{saved_entry}}\"$#{default}\"#' {cfg} >grub/grub.cfg; \
             printf '# GRUB Environment Block\\n{env}####' >grub/grubenv; cd /; exec {}",
            shell.join(" ")
        );
        let facts = gather(&["unshare", "-m", "sh", "-c", &make], [BaseQuery("boot").into()]);
        Some(facts.view()["boot"].get("next_kernel")?.clone())
    };
    if next(&["dash"], "0", "").is_none() {
        return println!("namespaces cannot be made here");
    }
    let id = "0a1b2c3d-1111-2222-3333-444455556666";
    let chosen = format!("gnulinux-advanced-{id}>gnulinux-6.1.0-47-amd64-advanced-{id}");
    for shell in SHELLS {
        for (default, env, kernel) in [
            ("0", "", NEW),
            ("1>2", "", OLD),
            ("1>0", "", NEW),
            (&chosen, "", OLD),
            ("Advanced options for Debian GNU/Linux>Debian GNU/Linux, with Linux 6.1.0-47-amd64", "", OLD),
            ("${saved_entry}", "", NEW),
            ("${saved_entry}", "saved_entry=1>2\\n", OLD),
            ("${saved_entry}", &format!("saved_entry={chosen}\\n"), OLD),
            // Once, whatever the default is.
            ("0", "saved_entry=0\\nnext_entry=1>2\\n", OLD),
            ("1>2", "next_entry=\\n", OLD),
            // No such entry, or a kernel that lies in a submenu and is named without it: grub boots the first one.
            ("Debian GNU/Linux, with Linux 6.1.0-47-amd64", "", NEW),
            ("7", "", NEW),
            ("1>9", "", NEW),
        ] {
            assert_eq!(next(shell, default, env).unwrap(), kernel, "{shell:?} {default} {env}");
        }
    }
}

/// The question about the next boot, on a made-up host under every shell: what it takes as the modules that are wanted,
/// what it hands to which tool, and the way in.
#[test]
fn the_next_boot_of_a_made_up_host() {
    let cases = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cases/probes/next_boot");
    let tree = "/lib/modules/6.1.0-50-amd64";
    let seen = |shell: &[&str], edit: &str| -> Option<NextBoot> {
        let make = format!(
            "set -e; t=$(mktemp -d); mount -t tmpfs none $t; mkdir $t/bin
             for d in /boot /sys /run /lib/modules /etc/default /etc/modules-load.d /etc/netplan /etc/network; do
                 mkdir -p $d 2>/dev/null || :; [ ! -d $d ] || mount -t tmpfs none $d; done
             mkdir -p /boot/grub {tree}/updates/dkms {tree}/build
             cp {cases}/grub.cfg /boot/grub/grub.cfg
             >/boot/vmlinuz-6.1.0-50-amd64; echo x >/boot/initrd.img-6.1.0-50-amd64; echo x >{tree}/updates/dkms/mlx5_ib.ko; >{tree}/build/Module.symvers
             touch -d 2020-01-01 {tree}/updates/dkms/mlx5_ib.ko
             printf 'GRUB_CMDLINE_LINUX=\"iommu=pt\"\\n' >/etc/default/grub
             mkdir -p /sys/class/net/rdma0 /sys/module/mlx5_core /sys/module/mlx5_ib /sys/d /sys/drv
             echo live >/sys/module/mlx5_ib/initstate; ln -s /sys/module/mlx5_core /sys/drv/module; ln -s /sys/drv /sys/d/driver; ln -s /sys/d /sys/class/net/rdma0/device; echo 2 >/sys/class/net/rdma0/ifindex
             mkdir -p /run/systemd/netif/links /run/systemd/network
             printf 'ADMIN_STATE=configured\\nNETWORK_FILE=/run/systemd/network/10-netplan-rdma0.network\\n' >/run/systemd/netif/links/2
             >/run/systemd/network/10-netplan-rdma0.network
             printf 'network:\\n  ethernets:\\n    rdma0:\\n      dhcp4: true\\n' >/etc/netplan/50.yaml
             mkdir -p /sys/firmware/efi/efivars; printf '\\006\\000\\000\\000\\001' >/sys/firmware/efi/efivars/SecureBoot-x
             part() {{ awk -v name=\"ask $1\" 'index($0, name) {{ on = 1; next }} /end [0-9]+$/ {{ on = 0 }} on' {cases}/whole.txt; }}
             tool() {{ printf '#!/bin/sh\\n%s\\n' \"$2\" >$t/bin/$1; chmod +x $t/bin/$1; }}
             part 'modprobe -S 6.1.0-50' >$t/modprobe; part modinfo >$t/modinfo
             sed -n 's/^filename: *//p' $t/modinfo | while read -r file; do
                 mkdir -p ${{file%/*}}; [ -e $file ] || echo x >$file; done
             part 'mokutil --list-enrolled' >$t/mokutil
             tool modprobe \"cat $t/modprobe\"
             tool modinfo \"cat $t/modinfo\"
             tool depmod 'case \"$*\" in \"-n -e -E {tree}/build/Module.symvers 6.1.0-50-amd64 /lib/\"*) ;; *) exit 1 ;; esac'
             tool lsinitramfs 'printf \"usr/lib/modules/6.1.0-50-amd64/updates/dkms/mlx5_ib.ko\\nusr/bin/sh\\n\"'
             tool mokutil \"cat $t/mokutil\"; tool netplan 'cat /etc/netplan/50.yaml'; tool systemctl 'echo enabled'
             tool ip 'echo \"2: rdma0    inet 10.0.1.10/24 brd 10.0.1.255 scope global rdma0\"'
             {edit}
             PATH=$t/bin:$PATH SSH_CONNECTION='10.0.1.1 50000 10.0.1.10 22' exec {}",
            shell.join(" ")
        );
        let facts = gather(&["unshare", "-m", "sh", "-c", &make], [NextBootQuery.into()]);
        facts.get(&NextBootQuery).answer().cloned()
    };
    // busybox has a modprobe of its own, which it takes whatever the path says.
    for shell in SHELLS.iter().filter(|shell| shell[0] != "busybox") {
        let Some(next) = seen(shell, "") else { return println!("namespaces cannot be made here") };
        assert_eq!(next.kernel.as_deref(), Some("6.1.0-50-amd64"), "{shell:?}");
        let told: Vec<&str> =
            [&next.modules, &next.symbols, &next.signatures, &next.initramfs, &next.network, &next.loader]
                .into_iter()
                .map(|aspect| match aspect {
                    Ok(aspect) if aspect.wrong.is_empty() => aspect.seen.as_str(),
                    other => panic!("{shell:?} {other:?}"),
                })
                .collect();
        assert_eq!(
            told,
            [
                "11 modules for 6.1.0-50-amd64",
                "the versions of all symbols agree",
                "1 module of others than the kernel, all signed by known keys",
                "1 module the same as on disk",
                "rdma0 (10.0.1.10) by netplan",
                "6.1.0-50-amd64 root=/dev/sda1 ro iommu=pt quiet",
            ],
            "{shell:?}"
        );
        let wrong = |edit: &str, of: fn(&NextBoot) -> &Seen<Aspect>| -> Vec<String> {
            match of(&seen(shell, edit).unwrap()) {
                Ok(aspect) => {
                    aspect.wrong.iter().map(|problem| format!("{}: {}", problem.of, problem.how)).collect()
                }
                Err(gap) => vec![gap.reason.clone()],
            }
        };
        assert_eq!(
            wrong(
                "touch -d 2020-01-01 /boot/initrd.img-*; touch -d 2021-01-01 /lib/modules/*/updates/dkms/*",
                |next| &next.initramfs
            ),
            ["mlx5_ib: the initramfs has an older copy than the one on disk"]
        );
        assert_eq!(
            wrong(": >/boot/initrd.img-6.1.0-50-amd64", |next| &next.initramfs),
            ["initramfs: that of 6.1.0-50-amd64 is empty"]
        );
        assert_eq!(
            wrong("cd /boot; mv initrd.img-6.1.0-50-amd64 initrd.img-6.1.0-47-amd64; cd /", |next| &next
                .initramfs),
            ["initramfs: 6.1.0-50-amd64 has none, and other kernels have one"]
        );
        assert_eq!(
            wrong("rm $t/bin/mokutil", |next| &next.signatures),
            [
                "mlx5_ib: signed by `DKMS module signing key`, and nobody tells whether that key is enrolled: mokutil is not installed"
            ]
        );
        assert_eq!(
            wrong(
                "tool netplan 'echo \"/etc/netplan/50.yaml:3:5: Invalid YAML: tabs are not allowed\" >&2; exit 1'",
                |next| &next.network
            ),
            ["rdma0: netplan cannot read its files, so that nothing configures it"]
        );
        // As netplan 0.106 prints them.
        for bare in ["rdma0:\\n      dhcp4: false\\n      mtu: 9000", "rdma0: {}"] {
            let edit = format!(
                "printf 'network:\\n  version: 2\\n  ethernets:\\n    {bare}\\n    rdma1:\\n      dhcp4: true\\n' >/etc/netplan/50.yaml"
            );
            assert_eq!(
                wrong(&edit, |next| &next.network),
                ["rdma0: netplan gives `rdma0` no address any more"],
                "{shell:?} {bare}"
            );
        }
        let given = "printf 'network:\\n  version: 2\\n  ethernets:\\n    rdma0:\\n      addresses:\\n      - \"10.0.1.10/24\"\\n' >/etc/netplan/50.yaml";
        assert_eq!(wrong(given, |next| &next.network), Vec::<String>::new(), "{shell:?}");
        assert_eq!(wrong("rm $t/bin/depmod", |next| &next.symbols), ["depmod is not installed"]);
        assert_eq!(
            wrong(
                "echo 'GRUB_CMDLINE_LINUX=\"$GRUB_CMDLINE_LINUX pci=realloc\"' >>/etc/default/grub",
                |next| &next.loader
            ),
            ["pci=realloc: not in the entry that grub boots"]
        );
    }
}

/// `provision why --hosts`: logs of this day, no file that a link leads to.
#[test]
fn the_logs_of_a_host_are_printed_and_no_others() {
    let words = provision::why::logs(60);
    for shell in SHELLS {
        let make = "mount -t tmpfs x /var/log && mkdir /var/log/apt && echo 'E: broken' >/var/log/apt/term.log \
                    && echo old >/var/log/dpkg.log && touch -d '2 days ago' /var/log/dpkg.log \
                    && ln -s /etc/shadow /var/log/dnf.log && exec \"$0\" \"$@\"";
        let output =
            Command::new("unshare").args(["-m", "sh", "-c", make]).args(*shell).args(&words[1..]).output();
        let output = output.unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        if String::from_utf8_lossy(&output.stderr).contains("unshare") {
            return println!("skipped: no mounts may be made here");
        }
        assert!(output.status.success(), "{shell:?}: {output:?}");
        assert!(text.contains("==> /var/log/apt/term.log <==\nE: broken\n"), "{shell:?}: {text}");
        assert!(!text.contains("dpkg.log") && !text.contains("root:"), "{shell:?}: {text}");
    }
}

/// `provision compare`: in each shell the same parts, no content of a file that not everybody may read, nothing written.
#[test]
fn a_look_changes_nothing_and_shows_no_secret() {
    let words = provision::compare::look("salt");
    let parts = |text: &str| -> Vec<String> {
        text.lines().filter(|line| line.starts_with("=== ")).map(str::to_owned).collect()
    };
    let mut first: Option<Vec<String>> = None;
    for shell in SHELLS {
        let make = "mount -t tmpfs x /mnt && cp -a /etc /mnt/etc && mount --bind /mnt/etc /etc && \
                    mkdir -p /etc/ssh && echo hidden-in-a-file >/etc/ssh/key && chmod 600 /etc/ssh/key && \
                    ln -s /etc/shadow /etc/ssh/link && find /etc/ssh -type f -exec touch -d '1 hour ago' {} + && \
                    echo 'export SOME_TOKEN=hidden-in-a-name' >/etc/profile.d/token.sh && \"$0\" \"$@\" && find /etc/ssh -newermt '30 minutes ago' -type f";
        let output =
            Command::new("unshare").args(["-m", "sh", "-c", make]).args(*shell).args(&words[1..]).output();
        let output = output.unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        if String::from_utf8_lossy(&output.stderr).contains("unshare") {
            return println!("skipped: no mounts may be made here");
        }
        assert!(output.status.success(), "{shell:?}: {output:?}");
        assert!(text.ends_with("=== end\n"), "{shell:?}: a file was written: {text}");
        assert!(text.contains("|salted ") && text.contains(" /etc/ssh/key\n"), "{shell:?}");
        assert!(!text.contains("hidden-in-a-file") && !text.contains("|sha link"), "{shell:?}");
        let parts = parts(&text);
        assert!(parts.len() > 20, "{shell:?}: {parts:?}");
        assert_eq!(first.get_or_insert_with(|| parts.clone()), &parts, "{shell:?}");
        let mut fleet = provision::compare::Fleet::new("salt".to_owned());
        fleet.add("here", &text).unwrap();
        let mut kept = Vec::new();
        fleet.write(&mut kept).unwrap();
        let json = serde_json::to_string(&provision::compare::Fleet::read(&kept[..]).unwrap()).unwrap();
        assert!(json.contains("SOME_TOKEN") && !json.contains("hidden-in-a-name"), "{shell:?}");
    }
}
