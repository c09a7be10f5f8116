//! The lab's own hosts: real containers with systemd and sshd. Needs Docker or Podman.
#![expect(clippy::expect_used, reason = "a test that cannot go on says why and ends")]

use std::process::{Command, Output};

use camino::Utf8Path;
use provision::inventory::Become;
use provision::lab::{
    self, Coreutils, LabHost, LabRelease, LabSettings, LabSpec, LabState, SudoKind, SudoProgram,
};

/// A lab of its own that is gone when the test ends, whatever its result.
struct Lab {
    folder: tempfile::TempDir,
    spec: LabSpec,
}

impl Lab {
    fn new(hosts: &[(&str, LabSettings)]) -> Self {
        let folder = tempfile::tempdir().expect("folder");
        let path = Utf8Path::from_path(folder.path()).expect("UTF-8").to_owned();
        let inventory = path.join("lab.yaml");
        std::fs::write(&inventory, "cluster: test\n").expect("inventory");
        let hosts = hosts
            .iter()
            .map(|(name, settings)| LabHost {
                name: (*name).to_owned(),
                groups: vec!["gpu".to_owned()],
                settings: settings.clone(),
            })
            .collect();
        let spec = LabSpec {
            state_root: path.join("state"),
            cache_root: path.join("cache"),
            inventory,
            only: true,
            cluster: "test".to_owned(),
            settings: LabSettings::default(),
            hosts,
        };
        Self { folder, spec }
    }

    fn up(&self) -> LabState {
        lab::up(&self.spec, &mut |_| {}).expect("the lab comes up")
    }

    fn down(&self) -> usize {
        lab::down(&self.spec.state_root, &self.spec.inventory, &mut |_| {}).expect("the lab goes down")
    }

    fn status(&self) -> Option<LabState> {
        lab::status(&self.spec.state_root, &self.spec.inventory).expect("status")
    }
}

impl Drop for Lab {
    fn drop(&mut self) {
        drop(lab::down(&self.spec.state_root, &self.spec.inventory, &mut |_| {}));
        assert!(self.folder.path().exists());
    }
}

#[expect(clippy::disallowed_methods, reason = "a test looks at the lab from outside")]
fn run(program: &str, args: &[&str]) -> Output {
    Command::new(program).args(args).output().expect("starts")
}

fn ssh(state: &LabState, host: &str, command: &str) -> String {
    let done = run("ssh", &["-F", state.ssh_config.as_str(), "-oBatchMode=yes", host, command]);
    let text = String::from_utf8_lossy(&done.stdout).trim().to_owned();
    assert!(done.status.success(), "{host}: {command}: {text} {}", String::from_utf8_lossy(&done.stderr));
    text
}

#[test]
fn hosts_come_up_stay_and_go() {
    let asks = LabSettings {
        sudo: Some(SudoKind::Password),
        shell: Some("/bin/sh".to_owned()),
        ..LabSettings::default()
    };
    let lab = Lab::new(&[("gpu0", LabSettings::default()), ("gpu1", asks)]);
    assert_eq!(lab.status(), None);
    let state = lab.up();

    // systemd, names between hosts, become with and without a password.
    assert_eq!(ssh(&state, "gpu0", "systemctl is-system-running"), "running");
    assert_eq!(ssh(&state, "gpu0", "hostname; getent hosts gpu1 | wc -l; sudo -n id -u"), "gpu0\n1\n0");
    assert_eq!(ssh(&state, "gpu1", "echo $0; sudo -n true 2>/dev/null || echo asks"), "sh\nasks");
    let password = std::fs::read_to_string(state.sudo_password.as_ref().expect("a password")).expect("file");
    let sudo = format!("echo '{}' | sudo -S -p '' id -u", password.trim());
    assert_eq!(ssh(&state, "gpu1", &sudo), "0");

    // Every host has its own keys, and what is recorded is what it has.
    let keys: Vec<_> =
        ["gpu0", "gpu1"].map(|host| ssh(&state, host, "cat /etc/ssh/ssh_host_ed25519_key.pub")).into();
    assert_ne!(keys[0], keys[1]);
    let known = std::fs::read_to_string(&state.known_hosts).expect("known_hosts");
    assert!(keys.iter().all(|key| known.contains(key.split(' ').nth(1).expect("a key"))));

    // What a run is told.
    let overlay = lab::overlay(&lab.spec.state_root, &lab.spec.inventory).expect("overlay").expect("a lab");
    assert!(overlay.hosts.iter().all(|host| host.running && host.address == "127.0.0.1"));
    let plain = overlay.ssh(overlay.host("gpu0").expect("gpu0"));
    assert_eq!(plain.become_method, Become::Sudo { password: None });
    let asking = overlay.ssh(overlay.host("gpu1").expect("gpu1"));
    assert_eq!(asking.become_method, Become::Sudo { password: Some(LabState::SUDO_SECRET.to_owned()) });

    // Up again changes nothing; a stopped host is started with the keys it had.
    assert_eq!(lab.up(), state);
    let container = state.hosts[1].container.as_str();
    assert!(run(&state.engine, &["stop", "-t", "10", container]).status.success());
    assert!(!lab.status().expect("a lab").hosts[1].running);
    let overlay = lab::overlay(&lab.spec.state_root, &lab.spec.inventory).expect("overlay").expect("a lab");
    assert!(!overlay.hosts[1].running && overlay.hosts[0].running);
    assert_eq!(lab.up(), state);
    assert_eq!(ssh(&state, "gpu1", "cat /etc/ssh/ssh_host_ed25519_key.pub"), keys[1]);

    // A host that the inventory no longer names goes; one that differs is made anew.
    let mut fewer = lab.spec.clone();
    fewer.hosts.truncate(1);
    let state = lab::up(&fewer, &mut |_| {}).expect("up");
    assert_eq!(state.hosts.len(), 1);
    assert_eq!(lab.down(), 1);
    assert_eq!(lab.status(), None);
    assert!(!state.known_hosts.exists());
    assert_eq!(lab.down(), 0);
}

/// A host of that release with all that differs from Debian's usual programs.
fn unusual(release: LabRelease) -> LabSettings {
    LabSettings {
        release: Some(release),
        sudo_program: Some(SudoProgram::SudoRs),
        coreutils: Some(Coreutils::Uutils),
        without: Some(vec!["bash".to_owned()]),
        ..LabSettings::default()
    }
}

fn is_unusual(state: &LabState, host: &str, version: &str) {
    assert_eq!(ssh(state, host, "systemctl is-system-running"), "running");
    assert_eq!(ssh(state, host, ". /etc/os-release; echo $VERSION_CODENAME"), version);
    assert_eq!(ssh(state, host, "command -v bash || echo $0"), "sh");
    assert!(ssh(state, host, "sudo --version 2>&1").starts_with("sudo-rs "));
    assert!(ssh(state, host, "gnustat --version | head -n 1").starts_with("stat (GNU "));
    // Each tool of GNU that uutils has is replaced.
    let others = "for path in /usr/lib/cargo/bin/coreutils/*; do name=${path##*/}; \
                  [ ! -e /usr/bin/gnu$name ] || [ /usr/bin/$name -ef $path ] || echo $name; done";
    assert_eq!(ssh(state, host, others), "");
    assert_eq!(
        ssh(state, host, "sudo -n sh -c 'id -u; apt-get -qq -s install chrony >/dev/null; echo $?'"),
        "0\n0"
    );
}

#[test]
fn a_host_of_another_year_with_other_programs() {
    let plain = LabSettings { release: Some(LabRelease::Bookworm), ..LabSettings::default() };
    let lab = Lab::new(&[("old0", plain), ("new0", unusual(LabRelease::Trixie))]);
    let state = lab.up();
    is_unusual(&state, "new0", "trixie");
    assert_eq!(
        ssh(&state, "old0", ". /etc/os-release; echo $VERSION_CODENAME; command -v bash"),
        "bookworm\n/usr/bin/bash"
    );
    // It starts again where it was.
    let state = lab::restart(&lab.spec, &["new0".to_owned()], &mut |_| {}).expect("restart");
    is_unusual(&state, "new0", "trixie");
}

#[test]
#[ignore = "what becomes a release is another one each day: make test-years"]
fn a_host_of_what_becomes_a_release() {
    let lab = Lab::new(&[("new0", unusual(LabRelease::Sid))]);
    is_unusual(&lab.up(), "new0", "forky");
}

#[test]
fn two_inventories_are_two_labs() {
    let one = Lab::new(&[("gpu0", LabSettings::default())]);
    let two = Lab::new(&[("gpu0", LabSettings::default())]);
    let (first, second) = (one.up(), two.up());
    assert_ne!(first.hosts[0].port, second.hosts[0].port);
    assert_ne!(first.network, second.network);
    one.down();
    assert_eq!(ssh(&second, "gpu0", "hostname"), "gpu0");
}

#[test]
fn what_cannot_be_is_said_before_anything_starts() {
    let lab = Lab::new(&[("gpu0", LabSettings::default()), ("gpu0", LabSettings::default())]);
    let error = lab::up(&lab.spec, &mut |_| {}).expect_err("a host twice");
    assert!(error.to_string().contains("gpu0 is named twice"), "{error:#}");
    let fish = LabSettings { shell: Some("/bin/nosuchshell".to_owned()), ..LabSettings::default() };
    let lab = Lab::new(&[("gpu0", fish)]);
    let error = lab::up(&lab.spec, &mut |_| {}).expect_err("no such shell");
    assert!(format!("{error:#}").contains("the image has no /bin/nosuchshell"), "{error:#}");
}

#[test]
fn a_restart_is_of_its_host_alone() {
    let settings = LabSettings { profile: Some("h200-x2".to_owned()), ..LabSettings::default() };
    let lab = Lab::new(&[("gpu0", settings.clone()), ("gpu1", settings)]);
    let state = lab.up();
    let (root, inventory) = (&lab.spec.state_root, &lab.spec.inventory);
    let faults = [("gpu0", Some("driver-mismatch")), ("gpu1", Some("driver-mismatch"))];
    lab::break_hosts(root, inventory, &faults).expect("broken");
    let booted = |host: &str| ssh(&state, host, "cut -d' ' -f22 /proc/1/stat");
    let before = ["gpu0", "gpu1"].map(booted);
    ssh(&state, "gpu0", "echo kept | sudo tee /etc/kept >/dev/null; sync");
    std::thread::sleep(std::time::Duration::from_secs(2));
    let again = lab::restart(&lab.spec, &["gpu0".to_owned()], &mut |_| {}).expect("restarted");
    assert_ne!(booted("gpu0"), before[0]);
    assert_eq!(booted("gpu1"), before[1]);
    assert_eq!(ssh(&state, "gpu0", "cat /etc/kept"), "kept");
    for host in ["gpu0", "gpu1"] {
        let shown = ssh(&state, host, "nvidia-smi; true");
        assert!(shown.contains("Driver/library version mismatch"), "{host}: {shown}");
        assert_eq!(again.host(host).expect("a host").fault.as_deref(), Some("driver-mismatch"), "{host}");
    }
    assert_eq!(lab.status().expect("up"), again);
    let error = lab::restart(&lab.spec, &["gpu9".to_owned()], &mut |_| {}).expect_err("no such host");
    assert!(error.to_string().contains("the lab has no host gpu9"), "{error:#}");
}

#[test]
fn hardware_is_played_and_can_be_broken() {
    let settings = LabSettings { profile: Some("h200-x2".to_owned()), ..LabSettings::default() };
    let lab = Lab::new(&[("gpu0", settings)]);
    let state = lab.up();
    let says = |command: &str| ssh(&state, "gpu0", command);
    assert_eq!(
        says("nvidia-smi --query-gpu=index,name,memory.total --format=csv,noheader"),
        "0, NVIDIA H200, 143771 MiB\n1, NVIDIA H200, 143771 MiB"
    );
    assert_eq!(says("cat /sys/module/nvidia/version /sys/class/net/lo/mtu"), "580.159.04\n65536");
    assert_eq!(says("nvidia-smi --gpu-reset 2>&1; echo $?").lines().last(), Some("97"));
    let (root, inventory) = (&lab.spec.state_root, &lab.spec.inventory);
    lab::break_host(root, inventory, "gpu0", Some("driver-mismatch")).expect("broken");
    assert!(says("nvidia-smi; echo $?").contains("Driver/library version mismatch"));
    assert_eq!(lab.status().expect("up").hosts[0].fault.as_deref(), Some("driver-mismatch"));
    lab::break_host(root, inventory, "gpu0", None).expect("mended");
    assert!(says("nvidia-smi").contains("NVIDIA H200"));
    // What a fault brings goes with it, and what it covered comes back.
    let brought = "cat /etc/apt/apt.conf.d/20auto-upgrades /usr/bin/unattended-upgrade 2>&1 | wc -l";
    lab::break_host(root, inventory, "gpu0", Some("upgrades-armed")).expect("broken");
    assert!(
        says(brought).ends_with('3') && says("cat /etc/apt/apt.conf.d/20auto-upgrades").contains("\"1\"")
    );
    lab::break_host(root, inventory, "gpu0", None).expect("mended");
    assert_eq!(
        says("ls /etc/apt/apt.conf.d/20auto-upgrades /usr/bin/unattended-upgrade 2>/dev/null; true"),
        ""
    );
    let refused =
        lab::break_host(root, inventory, "gpu0", Some("driver-mismach")).expect_err("no such fault");
    assert!(format!("{refused:#}").contains("driver-mismatch"));
}

/// Who has no lab is told how to get one: that is no bug (exit code 1) of provision.
#[test]
#[expect(clippy::disallowed_methods, reason = "a test starts the program")]
fn a_lab_that_is_not_up_is_no_bug() {
    let folder = tempfile::tempdir().expect("folder");
    std::fs::write(folder.path().join("i.yaml"), "cluster: c\nplaybooks: [base]\nhosts: { n0: }\n")
        .expect("inventory");
    for words in ["fault i.yaml n0 gpu.lost", "fault i.yaml n0 none", "restart i.yaml", "status i.yaml"] {
        let output = Command::new(env!("CARGO_BIN_EXE_provision"))
            .arg("lab")
            .args(words.split(' '))
            .current_dir(folder.path())
            .env("XDG_STATE_HOME", folder.path())
            .output()
            .expect("it runs");
        let told = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{words}: {told}");
        assert!(told.contains("the lab of i.yaml is not up") && told.contains("lab up i.yaml"), "{told}");
    }
}
