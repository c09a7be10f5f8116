//! Containers, their GPUs and who starts them.

use super::*;

fn told(check: &str, site: &Site) -> (CheckStatus, String) {
    site.results(None).remove(check).unwrap()
}

/// The defaults of an engine whose files say nothing, and the meaning of `auto` of NVIDIA's runtime is.
#[test]
fn a_daemon_reload_takes_gpus_only_where_systemd_holds_the_rules() {
    let kept = |site: &Site| told("containers.gpus_kept", site);
    let auto = healthy().with("containers", "mode = \"cdi", "mode = \"auto");
    assert_eq!(kept(&auto).0, Pass, "from 1.18 on it is CDI");
    let old = auto.clone().with("containers", "CLI version 1.19.1", "CLI version 1.17.8");
    let (status, message) = kept(&old);
    assert_eq!(status, Warn);
    assert!(message.starts_with("docker: a hook adds the GPUs behind systemd"), "{message}");
    let dark = auto.with("containers", "CLI version 1.19.1", "no words");
    assert_eq!(kept(&dark).0, Unknown);
    // With cgroupfs the rules are the engine's own, and so they are where cgroups are not unified.
    for (from, to) in [("docker=", "docker=native.cgroupdriver=cgroupfs\ndocker="), ("cgroup=2\n", "")] {
        assert_eq!(kept(&old.clone().with("containers", from, to)).0, Pass, "{to}");
    }
    // Docker brings containerd; only one with settings of its own is an engine.
    let both = old.clone().with("containers", "program=runc", "program=runc\nprogram=containerd");
    assert!(!kept(&both).1.contains("containerd"), "{:?}", kept(&both));
    let own = both.with("containers", "toolkit=", "containerd=  SystemdCgroup = true\ntoolkit=");
    assert!(kept(&own).1.starts_with("containerd,docker: "), "{:?}", kept(&own));
    // Podman takes GPUs by CDI alone.
    let podman = old.with("containers", "program=dockerd", "program=podman");
    assert_eq!(kept(&podman).0, Pass);
    for (from, to) in [("program=dockerd\n", ""), ("program=nvidia-ctk\n", "")] {
        assert_eq!(kept(&healthy().with("containers", from, to)).0, Skip, "{from}");
    }
}

#[test]
fn a_socket_is_open_where_its_mode_and_its_directory_let_everybody_in() {
    let access = |mode: &str| told("containers.access", &healthy().with("containers", "755 660 0 999", mode));
    assert_eq!(access("755 660 0 999"), (Pass, "root, ann".to_owned()));
    assert_eq!(access("755 660 0 0"), (Pass, "root alone".to_owned()));
    assert_eq!(access("700 666 0 0").0, Pass, "nobody gets to it");
    assert_eq!(access("711 666 0 0"), (Fail, "/run/docker.sock: everybody is root through it".to_owned()));
    assert!(access("755 660 1000 0").1.contains("belongs to account 1000"));
    let declared = healthy().expect(json!({ "containers": { "members": ["ann"] } }));
    assert_eq!(told("containers.access", &declared).0, Pass);
}

#[test]
fn a_profile_of_apparmor_is_enough_for_its_tool() {
    let may = |site: &Site| told("containers.user_namespaces", site);
    let banned = healthy().with("containers", "userns_most", "userns_apparmor=1\nuserns_most");
    assert_eq!(may(&banned).0, Warn);
    let profile = banned.clone().with("containers", "userns_most", "profile=apptainer\nuserns_most");
    assert_eq!(may(&profile).0, Pass);
    let wanted = |yes: bool| expect(json!({ "containers": { "user_namespaces": yes } }));
    let forbid = |site: Site| Site { expect: wanted(false), ..site };
    assert_eq!(may(&forbid(banned)).0, Pass);
    assert_eq!(may(&forbid(healthy())).0, Warn);
    let nobody = healthy().with("containers", "program=apptainer\n", "");
    assert_eq!(may(&nobody).0, Skip);
    assert_eq!(may(&Site { expect: wanted(true), ..nobody }).0, Pass);
}

/// Without a specification the engine's own way is used; one is missed only where an engine is declared.
#[test]
fn a_specification_is_missed_where_an_engine_is_declared() {
    let none = |site: Site| {
        let text = site.probes["containers"].lines().filter(|line| !line.starts_with("cdi"));
        let text = text.fold(String::new(), |all, line| all + line + "\n");
        let mut site = site;
        site.probes.insert("containers", text);
        told("containers.cdi", &site).0
    };
    assert_eq!(none(healthy()), Skip);
    assert_eq!(none(healthy().expect(json!({ "containers": { "engine": "docker" } }))), Fail);
}
