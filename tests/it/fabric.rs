//! The stage `fabric` on real tools: fabrics that ibsim simulates, that opensm manages, and that `fabric.sh` reads with
//! ibnetdiscover, iblinkinfo, ibqueryerrors, saquery, sminfo and smpquery.
//!
//! Every fault is planted below the reader, in the simulator or in a manager; no output of a tool is changed. None of it
//! needs root. Each fabric has a socket of its own name, so that other tests may simulate at the same time.

#![allow(clippy::disallowed_methods, reason = "tests start the simulator")]
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test")]
#![allow(clippy::print_stdout, reason = "a test says how long it took, and what it could not try")]

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};

use provision::accept::fabric::{
    FabricFault, FabricFinding, LinkState, PlannedCable, SCRIPT, Severity, Wanted, judge, read,
};

const TOOLS: [&str; 6] = ["ibnetdiscover", "iblinkinfo", "ibqueryerrors", "sminfo", "saquery", "smpquery"];

/// Finds a program, also one of root.
fn program(name: &str) -> Option<PathBuf> {
    let path = format!("{}:/usr/sbin:/sbin", std::env::var("PATH").unwrap_or_default());
    path.split(':').map(|folder| Path::new(folder).join(name)).find(|path| path.is_file())
}

/// Finds what makes programs talk to the simulator instead of to cards.
fn library() -> Option<PathBuf> {
    let below = |folder: &str| fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut found = below("/usr/lib").chain(below("/usr")).map(|path| path.join("umad2sim/libumad2sim.so"));
    found.find(|path| path.is_file())
}

/// Whether all is there: ibsim-utils, libumad2sim0, opensm and infiniband-diags of Debian.
fn is_there() -> bool {
    let there =
        TOOLS.iter().chain(&["ibsim", "opensm"]).all(|name| program(name).is_some()) && library().is_some();
    if !there {
        println!("ibsim, libumad2sim, opensm or infiniband-diags is not installed: no fabric is simulated");
    }
    there
}

/// A cable with the nodes of the simulator at its ends, and options of both ports: `w=16` for two lanes, `e=2` for EDR. The
/// simulator takes what the manager last set of either end, so that one end is not enough.
#[derive(Debug, Clone)]
struct Cable {
    near: (String, usize),
    far: (String, usize),
    options: &'static str,
}

/// A fabric with hosts `gpu1` …, devices `mlx5_0` …: device N of `per_leaf` hosts goes to one switch.
#[derive(Debug, Clone)]
struct Layout {
    hosts: usize,
    rails: usize,
    leaves: usize,
    spines: usize,
    /// Cables of hosts by host and rail, each counted from 0.
    cables: BTreeMap<(usize, usize), Cable>,
    trunks: Vec<Cable>,
}

const HOST: u64 = 0xa088_c203_0000_0000;

fn node_guid(host: usize, rail: usize) -> u64 {
    HOST + ((host as u64 + 1) << 16) + ((rail as u64) << 8)
}

/// Both names of an adapter: in the simulator, and in findings.
fn adapter(host: usize, rail: usize) -> String {
    format!("gpu{}-{rail}", host + 1)
}

impl Layout {
    fn new(hosts: usize, rails: usize, per_leaf: usize, spines: usize) -> Self {
        let leaves = hosts.div_ceil(per_leaf) * rails;
        let mut cables = BTreeMap::new();
        for host in 0..hosts {
            for rail in 0..rails {
                let near = (adapter(host, rail), 1);
                let far = (format!("leaf{}", host / per_leaf * rails + rail + 1), host % per_leaf + 1);
                cables.insert((host, rail), Cable { near, far, options: "" });
            }
        }
        let trunk = |leaf: usize, spine: usize| Cable {
            near: (format!("leaf{}", leaf + 1), per_leaf + spine + 1),
            far: (format!("spine{}", spine + 1), leaf + 1),
            options: "",
        };
        let trunks = (0..leaves).flat_map(|leaf| (0..spines).map(move |spine| trunk(leaf, spine))).collect();
        Self { hosts, rails, leaves, spines, cables, trunks }
    }

    /// The text that ibsim reads. Lanes and speeds are such that 4xHDR is the best that two ports have in common.
    fn text(&self) -> String {
        let mut text = "width=18\nspeed=7\nextspeed=7\n".to_owned();
        let all: Vec<&Cable> = self.cables.values().chain(&self.trunks).collect();
        let mut node = |ids: String, header: String, name: &str| {
            writeln!(text, "{ids}\n{header}").unwrap();
            for cable in &all {
                let (near, far) = (&cable.near, &cable.far);
                if near.0 == name {
                    writeln!(text, "[{}]\t\"{}\"[{}]\t{}", near.1, far.0, far.1, cable.options).unwrap();
                }
                if far.0 == name {
                    writeln!(text, "[{}]\t\"{}\"[{}]\t{}", far.1, near.0, near.1, cable.options).unwrap();
                }
            }
            text.push('\n');
        };
        let switches = (1..=self.leaves).map(|number| ("leaf", number, 0xb8ce_f603_0010_0000_u64));
        let switches =
            switches.chain((1..=self.spines).map(|number| ("spine", number, 0xb8ce_f603_0020_0000)));
        for (kind, number, base) in switches {
            let guid = base + ((number as u64) << 8);
            let name = format!("{kind}{number}");
            let description = format!("MF0;{name}:MQM8700/U1");
            node(
                format!("vendid=0x2c9\ndevid=0xd2f0\nswitchguid={guid:#x}"),
                format!("Switch\t40 \"{name}\"\t\t# \"{description}\" enhanced port 0 lid 0 lmc 0"),
                &name,
            );
        }
        for host in 0..self.hosts {
            for rail in 0..self.rails {
                let name = adapter(host, rail);
                node(
                    format!("vendid=0x2c9\ndevid=0x101b\ncaguid={:#x}", node_guid(host, rail)),
                    format!("Hca\t1 \"{name}\"\t\t# \"gpu{} mlx5_{rail}\"", host + 1),
                    &name,
                );
            }
        }
        text
    }

    /// A cable as findings name it.
    fn named(&self, host: usize, rail: usize) -> String {
        let far = &self.cables[&(host, rail)].far;
        format!("gpu{} mlx5_{rail} port 1 - {} port {}", host + 1, far.0, far.1)
    }

    fn wanted(&self) -> Wanted {
        Wanted { hosts: (1..=self.hosts).map(|number| format!("gpu{number}")).collect(), ..Wanted::default() }
    }

    /// The plan of these cables.
    fn plan(&self) -> Vec<PlannedCable> {
        let planned = |((host, rail), cable): (&(usize, usize), &Cable)| PlannedCable {
            host: format!("gpu{}", host + 1),
            device: format!("mlx5_{rail}"),
            device_port: 1,
            switch: cable.far.0.clone(),
            switch_port: u32::try_from(cable.far.1).unwrap(),
            speed: None,
            width: None,
        };
        self.cables.iter().map(planned).collect()
    }

    fn far(&mut self, host: usize, rail: usize) -> &mut (String, usize) {
        &mut self.cables.get_mut(&(host, rail)).unwrap().far
    }
}

/// Waits until a file has a text, as a program says that it is ready.
fn await_text(path: &Path, texts: &[&str]) {
    let end = Instant::now() + Duration::from_mins(4);
    loop {
        let text = fs::read_to_string(path).unwrap_or_default();
        if texts.iter().any(|wanted| text.contains(wanted)) {
            return;
        }
        assert!(Instant::now() < end, "{} has none of {texts:?}: {text}", path.display());
        sleep(Duration::from_millis(20));
    }
}

/// A simulated fabric. Its programs end with it.
struct Simulation {
    folder: tempfile::TempDir,
    socket: String,
    simulator: Child,
    console: ChildStdin,
    managers: Vec<Child>,
}

impl Drop for Simulation {
    fn drop(&mut self) {
        for child in self.managers.iter_mut().chain([&mut self.simulator]) {
            drop(child.kill());
            drop(child.wait());
        }
    }
}

impl Simulation {
    fn new(layout: &Layout) -> Self {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let folder = tempfile::tempdir().unwrap();
        let socket = format!("provision-{}-{}", std::process::id(), NUMBER.fetch_add(1, Ordering::Relaxed));
        fs::write(folder.path().join("net"), layout.text()).unwrap();
        let log = fs::File::create(folder.path().join("ibsim.log")).unwrap();
        let mut simulator = Command::new(program("ibsim").unwrap())
            .args(["-s", "net"])
            .current_dir(folder.path())
            .env("IBSIM_SOCKNAME", &socket)
            .stdin(Stdio::piped())
            .stdout(log.try_clone().unwrap())
            .stderr(log)
            .spawn()
            .unwrap();
        await_text(&folder.path().join("ibsim.log"), &["Network simulator ready"]);
        let console = simulator.stdin.take().unwrap();
        let bin = folder.path().join("bin");
        fs::create_dir(&bin).unwrap();
        for tool in TOOLS {
            let (library, tool_path) = (library().unwrap(), program(tool).unwrap());
            let text = format!(
                "#!/bin/sh\nexport LD_PRELOAD={}\nexec {} \"$@\"\n",
                library.display(),
                tool_path.display()
            );
            fs::write(bin.join(tool), text).unwrap();
            fs::set_permissions(bin.join(tool), fs::Permissions::from_mode(0o755)).unwrap();
        }
        Self { folder, socket, simulator, console, managers: Vec::new() }
    }

    /// Starts a manager on a host's first adapter, and waits until it is master or stands by. `settings` are lines of
    /// opensm.conf; a manager that raises speeds again would undo the faults of this file.
    fn manager(&mut self, host: usize, settings: &str, partitions: &str) {
        let folder = self.folder.path().join(format!("manager{host}"));
        fs::create_dir(&folder).unwrap();
        let fixed = "force_log_flush TRUE\nforce_link_speed 0\nforce_link_speed_ext 0\nforce_link_width 0\n";
        fs::write(folder.join("conf"), format!("{fixed}{settings}")).unwrap();
        fs::write(folder.join("partitions"), format!("Default=0x7fff, ipoib : ALL=full;\n{partitions}"))
            .unwrap();
        let out = fs::File::create(folder.join("out")).unwrap();
        let priority = if host == 0 { "14" } else { "12" };
        let child = Command::new(program("opensm").unwrap())
            .args(["-F", "conf", "-P", "partitions", "-f", "log", "-p", priority])
            .current_dir(&folder)
            .env("IBSIM_SOCKNAME", &self.socket)
            .env("SIM_HOST", adapter(host, 0))
            .env("OSM_TMP_DIR", ".")
            .env("OSM_CACHE_DIR", ".")
            .env("LD_PRELOAD", library().unwrap())
            .stdin(Stdio::null())
            .stdout(out.try_clone().unwrap())
            .stderr(out)
            .spawn()
            .unwrap();
        self.managers.push(child);
        await_text(&folder.join("log"), &["SUBNET UP", "Entering STANDBY"]);
    }

    /// A master and one that stands by.
    fn managed(layout: &Layout, partitions: &str) -> Self {
        let mut simulation = Self::new(layout);
        simulation.manager(0, "", partitions);
        simulation.manager(1, "", partitions);
        simulation
    }

    /// Says a line to the simulator.
    fn say(&mut self, line: &str) {
        writeln!(self.console, "{line}").unwrap();
        self.console.flush().unwrap();
    }

    /// Reads the fabric as a host would. Between the two readings of counters `between` is said to the simulator.
    fn text(&mut self, layout: &Layout, shell: &[&str], between: &str) -> String {
        let path = format!("{}:{}", self.folder.path().join("bin").display(), std::env::var("PATH").unwrap());
        // Of two hosts the second one has the faults.
        let asker =
            if layout.hosts == 2 { adapter(0, 0) } else { adapter(layout.hosts - 1, layout.rails - 1) };
        let mut child = Command::new(shell[0])
            .args(&shell[1..])
            .args(["-c", SCRIPT, "sh", "1", "300", ""])
            .current_dir(self.folder.path())
            .env("LC_ALL", "C")
            .env("PATH", path)
            .env("IBSIM_SOCKNAME", &self.socket)
            .env("SIM_HOST", asker)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut text = String::new();
        let mut is_said = between.is_empty();
        for line in BufReader::new(child.stdout.take().unwrap()).lines() {
            let line = line.unwrap();
            if !is_said && line.starts_with("|## Summary") {
                is_said = true;
                between.lines().for_each(|line| self.say(line));
            }
            text.push_str(&line);
            text.push('\n');
        }
        assert!(child.wait().unwrap().success());
        text
    }
}

/// Says a finding with its cables, of which its text has each as well.
fn said(finding: &FabricFinding) -> String {
    let cables: Vec<String> = finding.cables.iter().map(ToString::to_string).collect();
    for cable in cables.iter().take(4) {
        assert!(finding.text.contains(cable.as_str()), "{}", finding.text);
    }
    format!("{:?} {:?} {}", finding.severity, finding.fault, cables.join(", "))
}

/// Reads and judges, and says how long reading took.
fn findings(
    simulation: &mut Simulation,
    layout: &Layout,
    wanted: &Wanted,
    what: &str,
    between: &str,
) -> Vec<String> {
    let began = Instant::now();
    let text = simulation.text(layout, &["sh"], between);
    let seconds = began.elapsed().as_secs_f64();
    let began = Instant::now();
    let fabric = read(&text);
    assert!(fabric.unread.is_empty(), "{what}: {:?}", fabric.unread);
    let findings = judge(&fabric, wanted);
    let judged = began.elapsed().as_secs_f64() * 1000.0;
    println!(
        "{} hosts, {} rails, {what}: read in {seconds:.1} s, judged in {judged:.1} ms",
        layout.hosts, layout.rails
    );
    for finding in &findings {
        println!("  {:?} {}", finding.severity, finding.text);
    }
    findings.iter().map(said).collect()
}

/// The partition of all ports but one, as lines of a manager's file, which has short lines.
fn partition(layout: &Layout, without: (usize, usize)) -> String {
    let members = (0..layout.hosts).flat_map(|host| (0..layout.rails).map(move |rail| (host, rail)));
    let members: Vec<(usize, usize)> = members.filter(|member| *member != without).collect();
    let mut text = String::new();
    for some in members.chunks(16) {
        let guids: Vec<String> =
            some.iter().map(|(host, rail)| format!("{:#x}=full", node_guid(*host, *rail) + 1)).collect();
        writeln!(text, "Training=0x8001 : {};", guids.join(", ")).unwrap();
    }
    text
}

/// The line that sets a counter of the switch's port that a host's cable is in.
fn symbol_errors(layout: &Layout, (host, rail): (usize, usize), errors: u32) -> String {
    let (leaf, port) = &layout.cables[&(host, rail)].far;
    format!("PerformanceSet \"{leaf}\"[{port}] PortCounters.SymbolErrorCounter={errors}")
}

/// Two cables of a host that are in each other's place.
fn swap(layout: &mut Layout, host: usize, one: usize, other: usize) {
    let (first, second) = (layout.far(host, one).clone(), layout.far(host, other).clone());
    *layout.far(host, one) = second;
    *layout.far(host, other) = first;
}

/// A good fabric of this form is silent, also with errors that were counted before; then its managers go.
fn good_then_unmanaged(layout: &Layout) {
    let (wanted, nothing) = (layout.wanted(), Vec::<String>::new());
    let victim = (layout.hosts / 2, layout.rails - 1);
    let mut simulation = Simulation::managed(layout, "");
    simulation.say(&symbol_errors(layout, victim, 40));
    sleep(Duration::from_millis(100));
    assert_eq!(findings(&mut simulation, layout, &wanted, "healthy", ""), nothing);
    let planned = Wanted { plan: layout.plan(), speed: "HDR".parse().ok(), width: Some(4), ..wanted.clone() };
    assert_eq!(findings(&mut simulation, layout, &planned, "healthy by its plan", ""), nothing);
    let rising =
        findings(&mut simulation, layout, &wanted, "symbol errors", &symbol_errors(layout, victim, 90));
    assert_eq!(rising, [format!("Fail Errors {}", layout.named(victim.0, victim.1))]);
    for mut manager in simulation.managers.drain(..) {
        manager.kill().unwrap();
        manager.wait().unwrap();
    }
    assert_eq!(findings(&mut simulation, layout, &wanted, "managers are gone", ""), ["Fail NoManager "]);
}

/// Two managers that do not know of each other, and one that is alone.
fn managers(layout: &Layout) {
    let wanted = layout.wanted();
    let mut simulation = Simulation::new(layout);
    simulation.manager(0, "ignore_other_sm TRUE\n", "");
    simulation.manager(1, "ignore_other_sm TRUE\n", "");
    let found = findings(&mut simulation, layout, &wanted, "two masters", "");
    assert_eq!(found.len(), 1);
    assert!(found[0].starts_with("Fail ManyManagers "), "{found:?}");
    assert!(found[0].contains(&layout.named(0, 0)) && found[0].contains(&layout.named(1, 0)), "{found:?}");
    drop(simulation);

    let mut simulation = Simulation::new(layout);
    simulation.manager(0, "", "");
    let found = findings(&mut simulation, layout, &wanted, "one manager", "");
    assert_eq!(found, [format!("Warn NoStandby {}", layout.named(0, 0))]);
}

/// Each fault of a cable in a fabric of its own.
fn each_fault(layout: &Layout) {
    let began = Instant::now();
    let wanted = layout.wanted();
    let planned = Wanted { plan: layout.plan(), ..wanted.clone() };
    let (host, rail) = (layout.hosts / 2, layout.rails - 1);
    good_then_unmanaged(layout);
    managers(layout);

    let mut wrong = layout.clone();
    let mut expected = Vec::new();
    if rail > 0 {
        swap(&mut wrong, host, 0, rail);
        expected.push(format!("Fail WrongCable {}", wrong.named(host, 0)));
    } else {
        // On the right switch, in another port: only a plan knows.
        wrong.far(host, rail).1 = 30;
    }
    expected.push(format!("Fail WrongCable {}", wrong.named(host, rail)));
    let mut simulation = Simulation::managed(&wrong, "");
    let of = if rail > 0 { &wanted } else { &planned };
    assert_eq!(findings(&mut simulation, &wrong, of, "wrong cable", ""), expected);
    drop(simulation);

    for (what, options, fault) in [("half width", "w=16", "Narrow"), ("half speed", "e=2", "Slow")] {
        let mut bad = layout.clone();
        bad.cables.get_mut(&(host, rail)).unwrap().options = options;
        let mut simulation = Simulation::managed(&bad, "");
        let found = findings(&mut simulation, &bad, &wanted, what, "");
        assert_eq!(found, [format!("Fail {fault} {}", layout.named(host, rail))]);
    }

    let mut without = layout.clone();
    without.cables.remove(&(host, rail));
    // A host with one card is not there at all without it, and the plan says what should be. Of two hosts the one that
    // is gone cannot have a manager.
    let (mut simulation, mut expected) = if layout.hosts == 2 {
        let mut simulation = Simulation::new(&without);
        simulation.manager(0, "", "");
        (simulation, vec![format!("Warn NoStandby {}", layout.named(0, 0))])
    } else {
        (Simulation::managed(&without, ""), Vec::new())
    };
    let fault = if rail > 0 { "AdapterAbsent" } else { "HostAbsent" };
    expected.insert(0, format!("Fail {fault} {}", layout.named(host, rail)));
    assert_eq!(findings(&mut simulation, &without, &planned, "cable is out", ""), expected);
    drop(simulation);

    let mut simulation = Simulation::managed(layout, &partition(layout, (host, rail)));
    let found = findings(&mut simulation, layout, &wanted, "two partitions", "");
    let mut expected = vec![format!("Fail Keys {}", layout.named(host, rail))];
    if layout.hosts * layout.rails == 2 {
        // Of two ports nobody is right.
        expected.insert(0, format!("Fail Keys {}", layout.named(0, 0)));
    }
    assert_eq!(found, expected);
    let keyed = Wanted { key: Some(0x8001), ..wanted };
    let found = findings(&mut simulation, layout, &keyed, "a partition that is wanted", "");
    assert_eq!(found, [format!("Fail Keys {}", layout.named(host, rail))]);
    println!("{} hosts, {} rails: {:.1} s in all", layout.hosts, layout.rails, began.elapsed().as_secs_f64());
}

/// All faults of cables in one fabric, each on a host of its own: none hides another one.
fn all_faults(layout: &Layout) {
    let began = Instant::now();
    good_then_unmanaged(layout);
    managers(layout);
    let at = |part: usize| layout.hosts * part / 8;
    let rail = layout.rails - 1;
    let mut bad = layout.clone();
    swap(&mut bad, at(2), 0, rail);
    bad.cables.get_mut(&(at(3), 0)).unwrap().options = "w=16";
    bad.cables.get_mut(&(at(4), rail)).unwrap().options = "e=2";
    bad.cables.remove(&(at(6), 0));
    let mut simulation = Simulation::managed(&bad, &partition(layout, (at(5), rail)));
    let errors = symbol_errors(layout, (at(7), 0), 25);
    let found = findings(&mut simulation, &bad, &layout.wanted(), "all faults of cables", &errors);
    let named = |(fault, host, rail): (&str, usize, usize)| format!("Fail {fault} {}", bad.named(host, rail));
    let mut expected = vec![format!("Fail AdapterAbsent {}", layout.named(at(6), 0))];
    let others = [
        ("WrongCable", at(2), 0),
        ("WrongCable", at(2), rail),
        ("Narrow", at(3), 0),
        ("Slow", at(4), rail),
        ("Keys", at(5), rail),
        ("Errors", at(7), 0),
    ];
    expected.extend(others.into_iter().map(named));
    assert_eq!(found, expected);
    println!("{} hosts, {} rails: {:.1} s in all", layout.hosts, layout.rails, began.elapsed().as_secs_f64());
}

#[test]
fn each_fault_of_two_hosts_is_named() {
    if is_there() {
        each_fault(&Layout::new(2, 1, 2, 0));
    }
}

#[test]
fn each_fault_of_sixteen_hosts_is_named() {
    if is_there() {
        each_fault(&Layout::new(16, 2, 16, 2));
    }
}

#[test]
#[ignore = "minutes of two processors: make test-years"]
fn all_faults_of_sixteen_hosts_with_eight_rails_are_named() {
    if is_there() {
        all_faults(&Layout::new(16, 8, 16, 2));
    }
}

#[test]
#[ignore = "minutes of two processors: make test-years"]
fn all_faults_of_128_hosts_are_named() {
    if is_there() {
        all_faults(&Layout::new(128, 2, 32, 4));
    }
}

#[test]
fn a_host_with_one_cable_in_another_rack_is_named() {
    if !is_there() {
        return;
    }
    let mut layout = Layout::new(128, 1, 32, 4);
    let mut simulation = Simulation::managed(&layout, "");
    let wanted = layout.wanted();
    assert_eq!(findings(&mut simulation, &layout, &wanted, "healthy", ""), Vec::<String>::new());
    drop(simulation);
    *layout.far(40, 0) = ("leaf4".to_owned(), 38);
    let mut simulation = Simulation::managed(&layout, "");
    let found = findings(&mut simulation, &layout, &wanted, "wrong cable", "");
    assert_eq!(found, ["Warn WrongCable gpu41 mlx5_0 port 1 - leaf4 port 38"]);
}

#[test]
fn a_fabric_that_nobody_ever_managed_says_so_alone() {
    if !is_there() {
        return;
    }
    let layout = Layout::new(4, 2, 4, 2);
    let mut simulation = Simulation::new(&layout);
    let text = simulation.text(&layout, &["sh"], "");
    let fabric = read(&text);
    assert!(fabric.ports.values().any(|port| port.state == LinkState::Initialize));
    let found = judge(&fabric, &layout.wanted());
    let fails: Vec<FabricFault> = found
        .iter()
        .filter(|finding| finding.severity == Severity::Fail)
        .map(|finding| finding.fault)
        .collect();
    assert_eq!(fails, [FabricFault::NoManager], "{found:?}");
}

#[test]
fn every_shell_reads_the_same() {
    if !is_there() {
        return;
    }
    let layout = Layout::new(4, 2, 4, 2);
    let mut simulation = Simulation::managed(&layout, "");
    // The last one runs with the programs of busybox as well.
    let applets = simulation.folder.path().join("bin");
    let mut before = None;
    for shell in [&["dash"][..], &["bash"], &["busybox", "sh"]] {
        let Some(path) = program(shell[0]) else {
            println!("{} is not installed", shell[0]);
            continue;
        };
        if shell[0] == "busybox" {
            for applet in ["timeout", "sed", "sort", "tail", "sleep"] {
                std::os::unix::fs::symlink(&path, applets.join(applet)).unwrap();
            }
        }
        let mut fabric = read(&simulation.text(&layout, shell, ""));
        assert!(fabric.unread.is_empty(), "{shell:?}: {:?}", fabric.unread);
        // What changes from one reading to the next.
        fabric.first.at = None;
        fabric.later.at = None;
        assert_eq!(*before.get_or_insert_with(|| fabric.clone()), fabric, "{shell:?}");
    }
}
