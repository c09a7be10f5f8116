//! Scripts of the built-in playbooks, in the shells that hosts have, with stand-ins for what they ask.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test")]
#![allow(clippy::disallowed_methods, reason = "tests start shells and programs")]

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::SHELLS;

/// A text of a playbook behind a key, as `sh` gets it.
fn text_of(playbook: &str, task: &str, key: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("playbooks/{playbook}.yaml"));
    let playbook = fs::read_to_string(path).unwrap();
    let (_, task) = playbook.split_once(&format!("- name: {task}\n")).unwrap_or_else(|| panic!("{task}"));
    let (_, text) = task.split_once(&format!("{key}: |\n")).unwrap();
    let indent = text.len() - text.trim_start_matches(' ').len();
    let lines = text
        .lines()
        .take_while(|line| line.is_empty() || line.len() - line.trim_start_matches(' ').len() >= indent);
    lines.fold(String::new(), |text, line| text + line.get(indent..).unwrap_or("") + "\n")
}

/// A folder that stands for a host: its files, and stand-ins for its programs.
struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Self {
        let place = Self(tempfile::tempdir().unwrap());
        fs::create_dir(place.path("bin")).unwrap();
        place
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name.trim_start_matches('/'))
    }

    fn write(&self, name: &str, text: &str) {
        fs::create_dir_all(self.path(name).parent().unwrap()).unwrap();
        fs::write(self.path(name), text).unwrap();
    }

    fn program(&self, name: &str, text: &str) {
        self.write(&format!("bin/{name}"), &format!("#!/bin/sh\n{text}\n"));
        fs::set_permissions(self.path(&format!("bin/{name}")), fs::Permissions::from_mode(0o755)).unwrap();
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_default()
    }

    /// Status, stdout and stderr of a script whose absolute paths below these directories are in this folder.
    fn run(
        &self,
        shell: &[&str],
        script: &str,
        roots: &[&str],
        env: &[(&str, &str)],
    ) -> (i32, String, String) {
        let here = self.0.path().display().to_string();
        let script =
            roots.iter().fold(script.to_owned(), |text, root| text.replace(root, &format!("{here}{root}")));
        let path = format!("{here}/bin:/usr/sbin:/usr/bin:/sbin:/bin");
        let output = Command::new(shell[0])
            .args(&shell[1..])
            .args(["-c", &script])
            .env("PATH", path)
            .env("HERE", &here)
            .envs(env.iter().copied())
            .output()
            .unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        (output.status.code().unwrap_or(-1), text(output.stdout), text(output.stderr))
    }
}

#[test]
fn a_slurm_that_is_too_old_for_the_cgroups_of_a_node_is_refused_before_anything_is_done() {
    let script = text_of("slurm", "its Slurm knows the cgroups of this node", "script");
    let policy =
        |version: &str| format!("printf 'slurmd:\\n  Installed: (none)\\n  Candidate: {version}\\n'");
    for shell in SHELLS {
        let place = Place::new();
        place.write("/sys/fs/cgroup/cgroup.controllers", "cpuset cpu\n");
        let asked = || place.run(shell, &script, &["/sys/"], &[("package", "slurmd")]);
        // Nothing is known where there is neither.
        place.program("apt-cache", "exit 1");
        place.program("slurmd", "exit 127");
        assert_eq!(asked().0, 0, "{shell:?}");
        for (candidate, taken) in [
            ("21.08.5-2ubuntu1", false),
            ("22.05.8-4+deb12u2", true),
            ("23.11.4-1.2ubuntu5", true),
            ("20.11.4-2", false),
            ("(none)", true),
            ("1:24.11.5-4", true),
        ] {
            place.program("apt-cache", &policy(candidate));
            let (status, _, said) = asked();
            assert_eq!(status == 0, taken, "{shell:?} {candidate}: {said}");
            assert_eq!(said.contains("cgroups: false"), !taken, "{said}");
        }
        // What is installed counts, not what could be.
        for (installed, taken) in
            [("slurm-wlm 21.08.5", false), ("slurm 25.05.3", true), ("slurm 22.05.0", true)]
        {
            place.program("slurmd", &format!("echo '{installed}'"));
            assert_eq!(asked().0 == 0, taken, "{shell:?} {installed}");
        }
        // With version 1 of cgroups it is fine.
        place.program("slurmd", "echo 'slurm-wlm 21.08.5'");
        fs::remove_file(place.path("/sys/fs/cgroup/cgroup.controllers")).unwrap();
        assert_eq!(asked().0, 0, "{shell:?}");
    }
}

#[test]
fn a_new_machine_is_left_alone_until_cloud_init_has_ended() {
    let script = text_of("first-boot", "cloud-init has ended", "script");
    // Each call tells the next line; the last one stays.
    let says = "read -r line <$HERE/says; [ \"$(wc -l <$HERE/says)\" -lt 2 ] || sed -i 1d $HERE/says; echo \"$line\"; echo asked >>$HERE/asked; \
                case $line in *error*) exit 1 ;; esac";
    for shell in SHELLS {
        let place = Place::new();
        place.program("cloud-init", says);
        place.program("systemctl", "cat $HERE/jobs");
        place.write("jobs", "");
        let waits = |says: &str| {
            place.write("says", says);
            place.write("asked", "");
            let (status, out, err) = place.run(shell, &script, &[], &[("pause", "0"), ("most", "4")]);
            (status, place.read("asked").lines().count(), out + &err)
        };
        assert_eq!(waits("status: done\n"), (0, 1, "status: done\n".to_owned()), "{shell:?}");
        assert_eq!(waits("status: running\nstatus: running\nstatus: done\n").1, 3);
        // Errors and hosts where it is switched off do not stop the run.
        assert_eq!((waits("status: error\n").0, waits("status: disabled\n").0), (0, 0));
        // One that never comes is not waited for; one that is queued is.
        assert_eq!(waits("status: not started\n").1, 1);
        place.write("jobs", "123 cloud-final.service start waiting\n");
        assert_eq!(waits("status: not run\nstatus: running\nstatus: done\n").1, 3);
        let (status, _, said) = waits("status: running\n");
        assert!(status == 1 && said.contains("within ten minutes"), "{said}");
        fs::remove_file(place.path("bin/cloud-init")).unwrap();
        let (status, _, said) = waits("status: running\n");
        assert!(status == 0 && (said.is_empty() || said.contains("status:")), "{said}");
    }
}

#[test]
fn governor_idle_states_and_huge_pages_are_set_and_looked_at() {
    let script = include_str!("../../playbooks/files/host-profile.sh");
    for shell in SHELLS {
        let place = Place::new();
        let cpu = "/sys/devices/system/cpu";
        for number in 0..2 {
            place.write(&format!("{cpu}/cpu{number}/cpufreq/scaling_governor"), "powersave\n");
            for (state, latency) in [(0, 0), (1, 1), (2, 10), (3, 170)] {
                place.write(
                    &format!("{cpu}/cpu{number}/cpuidle/state{state}/latency"),
                    &format!("{latency}\n"),
                );
                place.write(&format!("{cpu}/cpu{number}/cpuidle/state{state}/disable"), "0\n");
            }
        }
        let pages = "/sys/kernel/mm/transparent_hugepage/enabled";
        place.write(pages, "always [madvise] never\n");
        let words = ["check", "performance", "3", "always"];
        let run = |words: &[&str]| {
            let script = format!("set -- {}\n{script}", words.join(" "));
            place.run(shell, &script, &["/sys/"], &[])
        };
        let (status, said, _) = run(&words);
        assert!(
            status == 1 && said.contains("scaling_governor is powersave, not performance"),
            "{shell:?} {said}"
        );
        assert_eq!(said.lines().count(), 1, "{said}");
        let (status, _, wrong) = run(&["apply", "performance", "3", "always"]);
        assert_eq!((status, wrong.as_str()), (0, ""), "{shell:?}");
        assert_eq!(place.read(&format!("{cpu}/cpu1/cpufreq/scaling_governor")), "performance\n");
        let off = |state: u32| place.read(&format!("{cpu}/cpu1/cpuidle/state{state}/disable"));
        assert_eq!([off(0), off(1), off(2), off(3)], ["0\n", "0\n", "1\n", "1\n"]);
        // The kernel puts the brackets round what was written.
        assert_eq!(place.read(pages), "always\n");
        place.write(pages, "[always] madvise never\n");
        assert_eq!(run(&words).0, 0, "{shell:?}");
        // States that are allowed again are on again; what is kept is not looked at.
        assert_eq!(run(&["apply", "keep", "200", "keep"]).0, 0);
        assert_eq!(off(3), "0\n");
        assert_eq!(run(&["check", "keep", "keep", "never"]).0, 1);
        assert_eq!(run(&["check", "keep", "keep", "keep"]).0, 0);
        // A virtual machine has none of these files.
        fs::remove_dir_all(place.path("sys")).unwrap();
        assert_eq!(run(&words).0, 0, "{shell:?}");
    }
}

#[test]
fn the_newest_kernel_comes_by_the_packages_that_the_host_has_for_it() {
    let script = text_of("kernel", "packages that bring the newest kernel of this kind", "script");
    for shell in SHELLS {
        let place = Place::new();
        let brings = |installed: &str, usual: &str| {
            place.write("installed", installed);
            place.program("dpkg-query", "cat $HERE/installed");
            let (status, out, _) = place.run(shell, &script, &[], &[("usual", usual)]);
            assert_eq!(status, 0, "{shell:?}");
            out
        };
        let hwe = "ii  linux-image-6.8.0-60-generic\nii  linux-image-generic-hwe-22.04\nun  linux-image-generic\n\
                   ii  linux-image-unsigned-6.8.0-50-generic\nrc  linux-image-5.15.0-113-generic\n";
        assert_eq!(brings(hwe, "generic"), "linux-image-generic-hwe-22.04\n");
        let cloud =
            "hi  linux-image-6.1.0-37-cloud-amd64\nhi  linux-image-cloud-amd64\nii  linux-image-amd64-dbg\n";
        assert_eq!(brings(cloud, "amd64"), "linux-image-cloud-amd64\n");
        assert_eq!(brings("ii  linux-image-6.8.0-60-generic\n", "generic"), "linux-image-generic\n");
        place.program("dpkg-query", "exit 1");
        assert_eq!(place.run(shell, &script, &[], &[("usual", "arm64")]).1, "linux-image-arm64\n");
    }
}

#[test]
fn links_of_erdma_devices_are_found_and_get_addresses() {
    let links = text_of("erdma-network", "links of the eRDMA devices", "script");
    // The shell of busybox has these of its own.
    let dhcp = "ip() { \"$HERE/bin/ip\" \"$@\"; }\nifup() { \"$HERE/bin/ifup\" \"$@\"; }\n".to_owned()
        + &text_of("erdma-network", "an address by DHCP for {{ item }}", "script");
    for shell in SHELLS {
        let place = Place::new();
        let found = || place.run(shell, &links, &["/sys/"], &[]);
        assert_eq!((found().0, found().1.as_str()), (0, ""), "{shell:?}: no device");
        place.write("/sys/class/infiniband/erdma_0/ports/1/gid_attrs/ndevs/0", "eth0\n");
        place.write("/sys/class/infiniband/mlx5_0/ports/1/gid_attrs/ndevs/0", "ib0\n");
        fs::create_dir_all(place.path("/sys/class/infiniband/erdma_1/ports/1/gid_attrs/ndevs")).unwrap();
        place.program("rdma", "echo 'link erdma_1/1 state ACTIVE physical_state LINK_UP netdev eth1 '");
        assert_eq!(found().1, "eth0\neth1\n", "{shell:?}");
        place.program("rdma", "exit 1");
        let (status, _, said) = found();
        assert!(status == 1 && said.contains("the link of erdma_1 is not known"), "{said}");

        let given = |env: &[(&str, &str)]| {
            let all = [&[("link", "eth1"), ("metric", "200"), ("pause", "0"), ("most", "3")], env].concat();
            place.run(shell, &dhcp, &["/etc/"], &all)
        };
        for tool in ["netplan", "networkctl", "nmcli"] {
            place.program(tool, &format!("echo {tool} \"$@\" >>$HERE/asked"));
        }
        place.program("ip", "echo '3: eth1    inet 10.0.0.21/24 scope global eth1'");
        place.program("systemctl", "exit 0");
        fs::create_dir_all(place.path("/etc/netplan")).unwrap();
        let (status, _, said) = given(&[]);
        assert_eq!(status, 0, "{shell:?}: {said}");
        let file = place.read("/etc/netplan/60-provision-eth1.yaml");
        let parsed: serde_json::Value = serde_yaml::from_str(&file).unwrap();
        assert_eq!(parsed["network"]["ethernets"]["eth1"]["dhcp4"], true, "{file}");
        assert_eq!(parsed["network"]["ethernets"]["eth1"]["dhcp4-overrides"]["route-metric"], 200, "{file}");
        assert_eq!(place.read("asked"), "netplan generate\nnetworkctl reload\nnetworkctl reconfigure eth1\n");
        // NetworkManager, then networkd alone, then neither.
        fs::remove_dir_all(place.path("/etc/netplan")).unwrap();
        place.write("asked", "");
        assert_eq!(given(&[]).0, 0);
        let asked = place.read("asked");
        assert!(
            asked.contains("nmcli connection add type ethernet con-name provision-eth1 ifname eth1"),
            "{asked}"
        );
        place.program("systemctl", "case \"$*\" in *networkd) exit 0 ;; esac; exit 3");
        fs::create_dir_all(place.path("/etc/systemd/network")).unwrap();
        assert_eq!(given(&[]).0, 0);
        let file = place.read("/etc/systemd/network/60-provision-eth1.network");
        assert!(file.contains("[Match]\nName=eth1\n") && file.contains("RouteMetric=200\n"), "{file}");
        place.program("ip", "exit 0");
        assert!(given(&[]).2.contains("no address by DHCP"), "{shell:?}");
        place.program("systemctl", "exit 3");
        place.program("ifup", "echo ifup \"$@\" >>$HERE/asked");
        fs::create_dir_all(place.path("/etc/network/interfaces.d")).unwrap();
        assert!(given(&[]).2.contains("no address by DHCP"), "{shell:?}");
        let file = place.read("/etc/network/interfaces.d/60-provision-eth1");
        assert!(file.contains("auto eth1\niface eth1 inet dhcp\n    metric 200\n"), "{file}");
        assert!(place.read("asked").ends_with("ifup eth1\n"));
        fs::remove_dir_all(place.path("/etc/network")).unwrap();
        assert!(given(&[]).2.contains("by hand"), "{shell:?}");
    }
}

#[test]
fn the_firmware_of_an_e810_stops_answering_lldp_where_pfc_is_the_hosts() {
    let task = "the firmware of E810 leaves PFC to the host";
    let check = text_of("roce-qos", task, "check");
    for shell in SHELLS {
        let place = Place::new();
        let done = || place.run(shell, &check, &["/sys/"], &[("link", "ens1")]).0 == 0;
        place.program(
            "ethtool",
            "printf 'Private flags for ens1:\\nlink-down-on-close : off\\nfw-lldp-agent      : on\\n'",
        );
        assert!(done(), "{shell:?}: no such link");
        let folder = place.path("/sys/class/net/ens1/device");
        fs::create_dir_all(&folder).unwrap();
        std::os::unix::fs::symlink("/drivers/mlx5_core", folder.join("driver")).unwrap();
        assert!(done(), "{shell:?}: another card");
        fs::remove_file(folder.join("driver")).unwrap();
        std::os::unix::fs::symlink("/drivers/ice", folder.join("driver")).unwrap();
        assert!(!done(), "{shell:?}");
        place.program("ethtool", "printf 'fw-lldp-agent      : off\\n'");
        assert!(done(), "{shell:?}");
    }
}

#[test]
fn gpudirect_takes_the_way_that_the_host_has() {
    const OPEN: &str = "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.105.08";
    const PROPRIETARY: &str = "NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.261.03";
    const DMABUF: &str = "alias symbol:ib_umem_dmabuf_get ib_uverbs";
    const PEERMEM: &str = "alias symbol:ib_register_peer_memory_client ib_core";
    // The driver, the symbols of modules, those of the kernel that runs, and the answer.
    for (driver, symbols, kernel, says) in [
        (OPEN, DMABUF, "", r#""route": "dmabuf""#),
        (OPEN, "", "ffffffffc0a1 T ib_umem_dmabuf_get\t[ib_uverbs]", r#""route": "dmabuf""#),
        (
            PROPRIETARY,
            &format!("{DMABUF}\n{PEERMEM}"),
            "",
            r#""route": "peermem", "why": "the open modules of NVIDIA are not there""#,
        ),
        (OPEN, PEERMEM, "", r#""route": "peermem", "why": "RDMA of this kernel has no DMA-BUF""#),
        (PROPRIETARY, DMABUF, "", "there is no way for GPUDirect: the open modules of NVIDIA are not there"),
        // A longer name is another symbol.
        (OPEN, "alias symbol:ib_umem_dmabuf_get_pinned ib_uverbs", "", "RDMA of this kernel has no DMA-BUF"),
    ] {
        let host = Place::new();
        let release = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap();
        host.write("proc/driver/nvidia/version", &format!("{driver}\n"));
        host.write("proc/kallsyms", &format!("{kernel}\n"));
        host.write(&format!("lib/modules/{}/modules.symbols", release.trim()), &format!("{symbols}\n"));
        let task = "what the kernel and the driver have for GPUDirect";
        let script = text_of("peermem", task, "script");
        for shell in SHELLS {
            let (status, out, err) = host.run(shell, &script, &["/proc/", "/lib/modules"], &[]);
            let said = out + &err;
            assert!(said.contains(says), "{shell:?} {driver} {symbols}: {said}");
            assert_eq!(status == 0, said.starts_with('{'), "{said}");
        }
    }
}

/// rpm installs the package of modules that DKMS could not build, and the host then boots the kernel's own.
#[test]
fn modules_of_doca_are_there_for_each_kernel_that_can_boot() {
    let script = text_of("doca-ofed", "DKMS has built the modules for each kernel that can boot", "script");
    for shell in SHELLS {
        let place = Place::new();
        let looked = |status: &str| {
            place.write("status", status);
            place.program("dkms", "cat $HERE/status");
            place.run(
                shell,
                &script,
                &["/boot/", "/lib/modules", "/var/lib/dkms"],
                &[("needed", "6.8.0-60-generic 6.8.0-71-generic")],
            )
        };
        for kernel in ["6.8.0-60-generic", "6.8.0-71-generic", "6.8.0-11-generic"] {
            place.write(&format!("/boot/vmlinuz-{kernel}"), "");
            place.write(&format!("/lib/modules/{kernel}/modules.dep"), "");
        }
        // A rescue image of RHEL has no modules of its own.
        place.write("/boot/vmlinuz-0-rescue-abcd", "");
        place.write("/lib/modules/6.8.0-60-generic/build/Makefile", "");
        let (new, old) = ("mlnx-ofed-kernel/25.10.OFED.25.10", "mlnx-ofa_kernel, 24.10");
        let both = |module: &str| {
            format!(
                "{module}, 6.8.0-60-generic, x86_64: installed\n{module}, 6.8.0-71-generic, x86_64: installed\nnvidia/580.1, 6.8.0-60-generic, x86_64: installed\n"
            )
        };
        for module in [new, old] {
            let (status, _, said) = looked(&both(module));
            assert_eq!((status, said.as_str()), (0, ""), "{shell:?} {module}");
        }
        // The old kernel has no headers and does not boot by itself; with headers it is one that DKMS builds for.
        place.write(
            "/var/lib/dkms/mlnx-ofed-kernel/25.10.OFED.25.10/build/make.log",
            "first\nerror: no member dpll\n",
        );
        place.write("/lib/modules/6.8.0-11-generic/build/Makefile", "");
        let (status, _, said) = looked(&both(new));
        assert!(status == 1 && said.contains("for kernel 6.8.0-11-generic"), "{shell:?} {said}");
        assert!(said.contains("error: no member dpll") && !said.contains("no headers"), "{said}");
        fs::remove_dir_all(place.path("/lib/modules/6.8.0-11-generic")).unwrap();
        let (status, _, said) =
            looked(&format!("{new}, 6.8.0-60-generic, x86_64: installed\n{new}: added\n"));
        assert!(
            status == 1 && said.contains("6.8.0-71-generic") && said.contains("it has no headers"),
            "{said}"
        );
        // Nothing of DOCA is built here.
        assert_eq!(looked("nvidia/580.1, 6.8.0-60-generic, x86_64: installed\n").0, 0);
    }
}

#[test]
fn a_cuda_that_does_not_know_the_gpus_is_told_before_the_build() {
    let script = text_of("nccl", "CUDA builds for these GPUs", "script");
    for shell in SHELLS {
        let place = Place::new();
        let cuda = place.path("").display().to_string();
        let asked = |gencode: &str| {
            let (status, _, said) = place.run(shell, &script, &[], &[("cuda", &cuda), ("gencode", gencode)]);
            (status, said)
        };
        let hopper = "-gencode=arch=compute_90,code=sm_90 -gencode=arch=compute_90,code=compute_90";
        assert_eq!(asked(hopper).0, 0, "{shell:?}: there is no nvcc, which the build says");
        place.program("nvcc", "[ \"$1\" = --list-gpu-code ] && printf 'sm_80\\nsm_90\\nsm_90a\\n'");
        assert_eq!(asked(hopper), (0, String::new()), "{shell:?}");
        let (status, said) = asked(&format!("{hopper} -gencode=arch=compute_100,code=sm_100"));
        assert!(status == 1 && said.contains("does not build for sm_100"), "{shell:?} {said}");
    }
}

#[test]
fn headers_of_a_kernel_with_other_pages_are_refused() {
    let script = text_of("kernel-headers", "no headers of a kernel with another page size", "script");
    for shell in SHELLS {
        let place = Place::new();
        let asked = |running: &str| {
            let (status, _, said) = place.run(shell, &script, &["/lib/modules"], &[("running", running)]);
            (status, said)
        };
        let (own, foreign) = ("6.8.0-1030-nvidia-64k", "6.8.0-71-generic");
        assert_eq!(asked(own).0, 0, "{shell:?}: no headers at all");
        place.write(&format!("/lib/modules/{own}/build/Makefile"), "");
        place.write(&format!("/lib/modules/{foreign}/modules.dep"), "");
        assert_eq!(asked(own).0, 0, "{shell:?}: without headers nothing is built for it");
        place.write(&format!("/lib/modules/{foreign}/build/Makefile"), "");
        let (status, said) = asked(own);
        assert!(status == 1 && said.contains(&format!("linux-headers-{foreign}")), "{shell:?} {said}");
        assert_eq!(asked("5.14.0-570.el9.aarch64").0, 1, "{shell:?}");
        fs::remove_dir_all(place.path(&format!("/lib/modules/{own}"))).unwrap();
        assert_eq!(asked(foreign).0, 0, "{shell:?}");
    }
}
