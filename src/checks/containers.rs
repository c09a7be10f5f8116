//! Containers: their engine, how it gives GPUs to them, and who may start them.

use super::shared::verdict::{Checked, Findings, Verdict};
use super::{Check, Needs, Subject};
use crate::events::CheckStatus::{Fail, Warn};
use crate::facts::containers::{Files, Socket};
use crate::inventory::expect::Engine;

pub(in crate::checks) const CHECKS: &[Check] = &[
    Check {
        id: "containers.engine",
        title: "the declared engine of containers is there, with NVIDIA's container toolkit",
        needs: Needs::Idle,
        severity: Fail,
        expects: "`expect.containers.engine`; skipped when it is not declared. The toolkit is looked for on hosts with GPUs",
        why: "Without the toolkit an engine starts containers that see no GPU.",
        hint: "apply the playbook `gpu-containers` with this engine",
        source: "NVIDIA Container Toolkit, installation guide",
        run: engine,
    },
    Check {
        id: "containers.gpus_kept",
        title: "containers keep their GPUs when systemd reads its units again",
        needs: Needs::Idle,
        severity: Warn,
        expects: "where systemd holds the rules of containers (its cgroup driver), it knows of their GPUs: by CDI, and by links below /dev/char. Skipped without GPUs, without NVIDIA's toolkit, and without an engine",
        why: "A `systemctl daemon-reload`, which every installation of a package may do, writes the rules anew: a GPU that a hook added behind systemd's back is gone, and running jobs fail with \"Failed to initialize NVML: Unknown Error\".",
        hint: "the playbook `gpu-containers` sets NVIDIA's runtime to CDI and makes the links; containers that run now have to be started again",
        source: "NVIDIA Container Toolkit, troubleshooting: containers losing access to GPUs; NVIDIA/nvidia-container-toolkit 48",
        run: gpus_kept,
    },
    Check {
        id: "containers.cdi",
        title: "the specification of CDI is that of the driver and has every GPU",
        needs: Needs::Idle,
        severity: Fail,
        expects: "each specification with GPUs of NVIDIA below /etc/cdi and /run/cdi names libraries of the driver that is loaded and as many GPUs as there are; where `expect.containers.engine` is declared on a host with GPUs, there is one",
        why: "It names libraries by their version. After an upgrade of the driver no container with GPUs starts, or it starts with libraries that do not fit the module.",
        hint: "`nvidia-ctk cdi generate --output=/run/cdi/nvidia.yaml`; the playbook `gpu-containers` has it made anew at each boot and after each change of the driver. A file in /etc/cdi that nobody renews is better removed",
        source: "NVIDIA Container Toolkit, support for CDI; CDI specification, container-device-interface",
        run: cdi,
    },
    Check {
        id: "containers.access",
        title: "nobody but root and the declared accounts can start containers as root",
        needs: Needs::Idle,
        severity: Fail,
        expects: "sockets of Docker, containerd, CRI-O and Podman are open to root and a group; the accounts in that group are those of `expect.containers.members`, where it is declared; only root can change specifications of CDI, hooks and settings of engines",
        why: "Who can start a container as root, or put a hook or a device in its way, is root of the host.",
        hint: "`gpasswd -d ACCOUNT GROUP`, or name the account under `expect.containers.members`; `chmod go-w` and `chown root:root` what is open to others",
        source: "Docker, Docker Engine security: daemon attack surface; oci-hooks(5)",
        run: access,
    },
    Check {
        id: "containers.user_namespaces",
        title: "containers of accounts without rights can start, where they should",
        needs: Needs::Idle,
        severity: Warn,
        expects: "`expect.containers.user_namespaces`; where it is not declared and enroot or apptainer is installed, that accounts may make user namespaces. A profile of AppArmor of the tool is enough",
        why: "enroot, apptainer and rootless Podman begin with a user namespace. Ubuntu 24.04 and later forbid it by AppArmor, and each start fails.",
        hint: "the playbook `gpu-containers` with `user_namespaces: profile` gives apptainer a profile of AppArmor; `user_namespaces: open` lifts the ban for all, which enroot needs",
        source: "Apptainer, INSTALL.md: AppArmor profile; Ubuntu 24.04 release notes: unprivileged user namespace restrictions",
        run: user_namespaces,
    },
];

const DAEMON_JSON: &str = "/etc/docker/daemon.json";
const TOOLKIT: &str = "/etc/nvidia-container-runtime/config.toml";

/// Engines that are there, in the order of their names.
fn engines(files: &Files) -> Vec<Engine> {
    let all = [Engine::Docker, Engine::Containerd, Engine::Crio, Engine::Podman];
    let there = all.into_iter().filter(|engine| files.has(engine.program()));
    // Docker brings containerd and does not use its settings.
    there
        .filter(|engine| {
            *engine != Engine::Containerd
                || !files.has("dockerd")
                || files.settings.contains_key("containerd")
        })
        .collect()
}

fn has_gpus(subject: &Subject<'_>) -> bool {
    subject.has_gpus().is_ok()
}

fn engine(subject: &Subject<'_>) -> Checked {
    let Some(wanted) = subject.expect_containers().engine else {
        return Err(Verdict::Skip("expect.containers.engine is not declared".to_owned()));
    };
    let files = subject.container_files()?;
    let mut findings = Findings::default();
    if !files.has(wanted.program()) {
        findings.wrong(wanted.as_str(), "it is not installed", "command -v", wanted.program());
    }
    if has_gpus(subject) && !files.has_toolkit() {
        findings.wrong("NVIDIA's container toolkit", "it is not installed", "command -v", "no nvidia-ctk");
    }
    let toolkit = subject.containers().ok().and_then(|seen| seen.toolkit.as_ref().ok());
    let toolkit = toolkit.map(|version| format!(" with toolkit {version}")).unwrap_or_default();
    Ok(findings.verdict(format!("{}{toolkit}", wanted.as_str())))
}

/// Whether systemd holds the rules of an engine's containers, and the line that says so.
fn by_systemd(engine: Engine, files: &Files) -> (bool, &'static str, String) {
    let of = |key: &'static str, name: &str| files.setting(name, key).map(|value| (value, key));
    let (said, from) = match engine {
        Engine::Docker => (of("native.cgroupdriver", "docker"), DAEMON_JSON),
        Engine::Containerd => (of("SystemdCgroup", "containerd"), "/etc/containerd/config.toml"),
        Engine::Crio => (of("cgroup_manager", "crio"), "/etc/crio/crio.conf"),
        Engine::Podman => (of("cgroup_manager", "podman"), "/etc/containers/containers.conf"),
    };
    if let Some((value, key)) = said {
        return (matches!(value, "systemd" | "true"), from, format!("{key}={value}"));
    }
    // Where nothing is said: dockerd(8), containerd's docs/cri/config.md, crio.conf(5), containers.conf(5).
    let default = match engine {
        Engine::Docker => files.systemd && files.cgroup2,
        Engine::Containerd => false,
        Engine::Crio => true,
        Engine::Podman => files.systemd,
    };
    (default, from, "no cgroup driver is set".to_owned())
}

/// Whether NVIDIA's runtime puts GPUs into the specification of a container, where systemd learns of them, rather than
/// adding them behind it; `None` where that is not known.
fn by_cdi(files: &Files, toolkit: Option<&str>) -> Option<bool> {
    match files.setting("toolkit", "mode").unwrap_or("auto") {
        "cdi" | "jit-cdi" => Some(true),
        "auto" => {
            // From 1.18 on `auto` is CDI.
            let mut numbers = toolkit?.split('.').map_while(|part| part.parse::<u32>().ok());
            Some((numbers.next()?, numbers.next()?) >= (1, 18))
        }
        _ => Some(false),
    }
}

fn gpus_kept(subject: &Subject<'_>) -> Checked {
    subject.has_gpus()?;
    let files = subject.container_files()?;
    let engines = engines(files);
    if engines.is_empty() || !files.has_toolkit() {
        return Err(Verdict::Skip("no engine of containers with NVIDIA's toolkit".to_owned()));
    }
    if !files.systemd {
        return Err(Verdict::Skip("systemd does not run here".to_owned()));
    }
    let seen = subject.containers().map_err(|gap| Verdict::gap(&gap, None))?;
    let cdi = by_cdi(files, seen.toolkit.as_ref().ok().map(String::as_str));
    let (mut findings, mut held) = (Findings::default(), false);
    for engine in engines {
        let (by_systemd, from, line) = by_systemd(engine, files);
        held |= by_systemd;
        // Podman takes GPUs by CDI alone, unless somebody put NVIDIA's hook there.
        if !by_systemd || engine == Engine::Podman {
            continue;
        }
        match cdi {
            Some(true) => {}
            Some(false) => {
                let text = "a hook adds the GPUs behind systemd, which takes them away when it reads its units again";
                let mode = files.setting("toolkit", "mode").unwrap_or("auto");
                findings.wrong(engine.as_str(), text, TOOLKIT, format!("mode = \"{mode}\"; {from}: {line}"));
            }
            None => findings.unknown(
                engine.as_str(),
                "whether NVIDIA's runtime uses CDI is not known without the toolkit's version",
                "nvidia-ctk --version",
            ),
        }
    }
    if held && cdi == Some(true) {
        for (device, _) in files.devices.iter().filter(|(_, linked)| !**linked) {
            findings.wrong(device, "systemd does not find it below /dev/char", "/dev/char", "no such link");
        }
    }
    let text = if held { "by CDI" } else { "systemd does not hold their rules" };
    Ok(findings.verdict(text))
}

fn cdi(subject: &Subject<'_>) -> Checked {
    subject.has_gpus()?;
    let files = subject.container_files()?;
    if files.specifications.is_empty() {
        if subject.expect_containers().engine.is_some() && files.has_toolkit() {
            return Ok(Verdict::finding(
                "there is none with GPUs",
                "/run/cdi, /etc/cdi",
                "none of NVIDIA's kind",
            ));
        }
        return Err(Verdict::Skip("no specification of CDI with GPUs".to_owned()));
    }
    let Some(loaded) = subject.driver()?.loaded.as_ref().map(|loaded| loaded.version.as_str()) else {
        return Err(Verdict::Skip("no driver is loaded that it could be held against".to_owned()));
    };
    let count = subject.smi().map(|smi| smi.gpus.len()).ok();
    let mut findings = Findings::default();
    for (file, specification) in &files.specifications {
        if !specification.drivers.contains(loaded) {
            let drivers: Vec<&str> = specification.drivers.iter().map(String::as_str).collect();
            let of = if drivers.is_empty() { "no driver".to_owned() } else { drivers.join(", ") };
            let text = format!("it is of {of}, and {loaded} is loaded");
            findings.wrong(file, text, file, format!("libcuda.so.{of}"));
        }
        if let Some(count) = count.filter(|count| *count > specification.devices.len()) {
            let named = specification.devices.len();
            let text = format!("it has {named} of {count} GPUs");
            let devices: Vec<&str> = specification.devices.iter().map(String::as_str).collect();
            findings.wrong(file, text, file, devices.join(" "));
        }
    }
    Ok(findings.verdict(files.specifications.keys().cloned().collect::<Vec<_>>().join(", ")))
}

/// Whether accounts without rights reach a socket: by its mode and that of its directory.
fn is_open(socket: &Socket) -> bool {
    socket.mode & 0o002 != 0 && socket.way & 0o001 != 0
}

fn access(subject: &Subject<'_>) -> Checked {
    let files = subject.container_files()?;
    let wanted = subject.expect_containers().members;
    if files.sockets.is_empty() && files.open.is_empty() && engines(files).is_empty() {
        return Err(Verdict::Skip("no engine of containers".to_owned()));
    }
    let mut findings = Findings::default();
    let mut members: Vec<&str> = Vec::new();
    for socket in &files.sockets {
        let line = format!("{:o} {}:{}", socket.mode, socket.owner, socket.group);
        if is_open(socket) {
            findings.wrong(&socket.path, "everybody is root through it", &socket.path, &line);
        }
        if socket.owner != 0 {
            let text = format!("it belongs to account {}, who is root through it", socket.owner);
            findings.wrong(&socket.path, text, &socket.path, &line);
        }
        if socket.group == 0 || socket.mode & 0o020 == 0 {
            continue;
        }
        let Some((name, of)) = files.groups.get(&socket.group) else { continue };
        for member in of {
            if wanted.as_ref().is_some_and(|wanted| !wanted.contains(member)) {
                let text = format!("{member} is root by the group {name}, and nobody declared that");
                findings.wrong(&socket.path, text, "getent group", format!("{name}: {}", of.join(",")));
            }
        }
        members.extend(of.iter().map(String::as_str));
    }
    for line in &files.open {
        let (place, why) = line.split_once(": ").unwrap_or((line, "others can change it"));
        findings.wrong(place, format!("who can change it is root: {why}"), place, why);
    }
    members.sort_unstable();
    members.dedup();
    let who =
        if members.is_empty() { "root alone".to_owned() } else { format!("root, {}", members.join(", ")) };
    Ok(findings.verdict(who))
}

fn user_namespaces(subject: &Subject<'_>) -> Checked {
    let files = subject.container_files()?;
    let declared = subject.expect_containers().user_namespaces;
    let tools: Vec<&str> =
        ["apptainer", "singularity", "enroot"].into_iter().filter(|tool| files.has(tool)).collect();
    if declared.is_none() && tools.is_empty() {
        return Err(Verdict::Skip("neither apptainer nor enroot is installed".to_owned()));
    }
    let banned = [
        ("kernel.unprivileged_userns_clone", &files.userns_clone, "0"),
        ("user.max_user_namespaces", &files.userns_most, "0"),
    ];
    let ban = banned.iter().find(|(_, value, no)| value.as_deref() == Some(no));
    let by_apparmor = files.userns_apparmor.as_deref() == Some("1");
    if declared == Some(false) {
        // AppArmor lets none but the programs of its profiles make one.
        return Ok(match ban {
            Some((key, ..)) => Verdict::Pass(format!("{key} is 0")),
            None if by_apparmor => Verdict::Pass("AppArmor forbids them".to_owned()),
            None => Verdict::finding("every account can make them", "sysctl", "nothing forbids them"),
        });
    }
    if let Some((key, ..)) = ban {
        return Ok(Verdict::finding(format!("{key} forbids them"), "sysctl", format!("{key} = 0")));
    }
    let mut findings = Findings::default();
    if by_apparmor {
        let line = "kernel.apparmor_restrict_unprivileged_userns = 1";
        for tool in &tools {
            if !files.profiles.iter().any(|profile| profile.starts_with(tool)) {
                let text = "AppArmor forbids them, and it has no profile that allows them";
                findings.wrong(tool, text, "sysctl", line);
            }
        }
        if tools.is_empty() {
            return Ok(Verdict::finding("AppArmor forbids them", "sysctl", line));
        }
    }
    Ok(findings.verdict("allowed"))
}
