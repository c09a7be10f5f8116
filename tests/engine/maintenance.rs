//! A live cluster: hosts are drained, changed and given back.

use std::sync::Mutex;

use super::*;
use provision::events::MaintenancePhase::{self, Back, Changing, Draining, LeftDrained, Verifying, Waiting};
use provision::events::Outage;
use provision::journal::Outages;
use provision::transport::Sent;

/// Slurm on `login0`: states, reasons, and when the job of a node ends.
#[derive(Debug, Default)]
struct Slurm {
    nodes: BTreeMap<String, Node>,
    /// The fewest nodes that were in service at any time.
    least: usize,
    /// What `scontrol` was told, in order.
    told: Vec<String>,
    /// Hosts that were rebooted, in order.
    rebooted: Vec<String>,
}

#[derive(Debug, Clone, Default)]
struct Node {
    drained: bool,
    down: bool,
    reason: String,
    /// The job ends then.
    job: Option<tokio::time::Instant>,
    /// Its slurmd answers from then on.
    silent: Option<tokio::time::Instant>,
}

impl Node {
    fn has_job(&self) -> bool {
        self.job.is_some_and(|end| tokio::time::Instant::now() < end)
    }

    fn state(&self) -> &'static str {
        match (self.down, self.drained, self.has_job()) {
            (true, ..) => "down",
            (_, true, true) => "draining",
            (_, true, false) => "drained",
            (_, false, true) => "allocated",
            (..) if self.silent.is_some_and(|end| tokio::time::Instant::now() < end) => "idle*",
            (_, false, false) => "idle",
        }
    }
}

#[derive(Clone, Default)]
struct Cluster(Arc<Mutex<Slurm>>);

impl Cluster {
    fn new() -> Self {
        let nodes = (0..4).map(|n| (format!("gpu{n}"), Node::default())).collect();
        Self(Arc::new(Mutex::new(Slurm { nodes, least: 4, ..Slurm::default() })))
    }

    fn with(self, node: &str, change: impl FnOnce(&mut Node)) -> Self {
        change(self.0.lock().unwrap().nodes.get_mut(node).unwrap());
        self
    }

    fn job(self, node: &str, lasts: Duration) -> Self {
        self.with(node, |node| node.job = Some(tokio::time::Instant::now() + lasts))
    }

    fn node(&self, node: &str) -> Node {
        self.0.lock().unwrap().nodes[node].clone()
    }

    /// What `scontrol` was told.
    fn told(&self) -> Vec<String> {
        self.0.lock().unwrap().told.clone()
    }

    fn answer(&self, sent: &Sent) -> Option<Reply> {
        if sent.host != "login0" {
            return None;
        }
        let mut slurm = self.0.lock().unwrap();
        let args: Vec<&str> = sent.text.lines().skip(1).collect();
        let mut output = String::new();
        match sent.part.as_str() {
            "sinfo" => {
                for (name, node) in &slurm.nodes {
                    let reason = if node.reason.is_empty() { "none" } else { &node.reason };
                    provision::put!(output, "{name}|{}|(null)|comp|{reason}\n", node.state());
                }
            }
            "squeue" => {
                for (number, (name, node)) in slurm.nodes.iter().enumerate() {
                    if node.has_job() && args[0].split(',').any(|asked| asked == name) {
                        provision::put!(output, "{}|ann|RUNNING|{name}\n", 100 + number);
                    }
                }
            }
            part @ ("drain" | "resume") => {
                slurm.told.push(format!("{part} {}", args.join(" ")));
                for name in args[0].split(',') {
                    let node = slurm.nodes.get_mut(name).unwrap();
                    node.drained = part == "drain";
                    node.reason = args.get(1).unwrap_or(&"").to_string();
                    // slurmctld waits for an answer of the node that it resumes.
                    let soon = tokio::time::Instant::now() + Duration::from_secs(4);
                    node.silent = (part == "resume").then_some(soon);
                }
                let up = slurm.nodes.values().filter(|node| !node.drained && !node.down).count();
                slurm.least = slurm.least.min(up);
            }
            _ => return None,
        }
        Some(Reply::default().output(output))
    }
}

/// Reboots what has a newer kernel.
pub(super) const BOOT: &str = "name: b\ntasks:\n  - name: boot\n    reboot: {}\n";

pub(super) fn live(maintenance: &str, rollout: &str, playbook: &str) -> World {
    let world = world("{}", playbook);
    let text = format!(
        "cluster: t\npolicy: {{ reboot: allow, busy: drain }}\nrollout: {rollout}\nmaintenance: {maintenance}\n\
         playbooks: [{{ use: ./site.yaml, hosts: gpu }}]\n\
         groups:\n  gpu: {{ hosts: \"gpu[0-3]\" }}\n  login: {{ hosts: login0 }}\n"
    );
    std::fs::write(&world.inventory, text).unwrap();
    world
}

const SLURM: &str = "{ slurm: { controller: login0, partition: comp, wait: 2h } }";

/// Hosts with a newer kernel, on this cluster.
fn kernels(cluster: &Cluster, special: impl Fn(&Sent) -> Option<Reply> + Send + Sync + 'static) -> Scripted {
    let cluster = cluster.clone();
    interrupts::kernels(move |sent| special(sent).or_else(|| cluster.answer(sent)))
}

impl Ran {
    /// Where a host stood, one after another.
    pub(super) fn phases(&self, host: &str) -> Vec<MaintenancePhase> {
        let phase = |event: &Event| match &event.kind {
            EventKind::HostMaintenance { host: own, phase, .. } if own == host => Some(*phase),
            _ => None,
        };
        let mut phases: Vec<_> = self.events.iter().filter_map(phase).collect();
        phases.dedup();
        phases
    }

    /// What was said of a host at a phase.
    pub(super) fn why(&self, host: &str, wanted: MaintenancePhase) -> Vec<String> {
        let why = |event: &Event| match &event.kind {
            EventKind::HostMaintenance { host: own, phase, why, .. } if own == host && *phase == wanted => {
                Some(why.clone())
            }
            _ => None,
        };
        self.events.iter().filter_map(why).collect()
    }

    /// The run as a person watches it.
    pub(super) fn watched(&self) -> String {
        use provision::report::screen::{TerminalSettings, Verbosity};
        use provision::report::{Reporter as _, terminal};
        let mut display = terminal::Terminal::keeping(TerminalSettings {
            verbosity: Verbosity::Normal,
            width: None,
            progress: false,
        });
        for event in &self.events {
            display.event(event);
        }
        let stats = self.report.stats.clone();
        let kind = EventKind::RunFinished { stats, exit_code: 5, seconds: 1.0 };
        display.event(&Event { kind, ..self.events[0].clone() });
        plans::plain(display.kept())
    }
}

#[tokio::test(start_paused = true)]
async fn nothing_is_drained_where_nothing_interrupts() {
    let cluster = Cluster::new();
    let playbook = "name: n\ntasks:\n  - name: one\n    command: { run: [tool-alpha] }\n";
    let ran = apply(&live(SLURM, "{}", playbook), &kernels(&cluster, |_| None)).await;
    assert_eq!(ran.report.stats.ok, 5, "{:?}", ran.record);
    assert!(matches!(ran.outcome("gpu0", "one"), Outcome::Ran { .. }));
    assert_eq!(cluster.told(), Vec::<String>::new());
    assert_eq!(ran.phases("gpu0"), []);
}

#[tokio::test(start_paused = true)]
async fn a_job_is_waited_for_and_the_node_is_given_back() {
    let cluster = Cluster::new().job("gpu1", Duration::from_mins(30));
    let began = tokio::time::Instant::now();
    let transport = kernels(&cluster, {
        let cluster = cluster.clone();
        move |sent| {
            // Nothing of ours runs beside a job, and no node is changed that takes jobs.
            if sent.part == "reboot" {
                let node = cluster.node(&sent.host);
                assert!(node.drained && !node.has_job(), "{} {node:?}", sent.host);
            }
            None
        }
    });
    let ran = apply(&live(SLURM, "{}", BOOT), &transport).await;
    assert_eq!(ran.report.stats.ok, 5, "{:?}", ran.record);
    assert!(began.elapsed() >= Duration::from_mins(30) && began.elapsed() < Duration::from_mins(35));
    assert_eq!(ran.phases("gpu1"), [Draining, Changing, Verifying, Back]);
    assert_eq!(ran.why("gpu1", Draining), ["job 101 of ann"]);
    assert_eq!(cluster.told()[0], "drain gpu0,gpu1,gpu2,gpu3 provision: run1: is to be changed");
    for node in ["gpu0", "gpu1", "gpu2", "gpu3"] {
        assert!(!cluster.node(node).drained, "{node}");
        assert!(matches!(ran.outcome(node, "boot"), Outcome::Changed { .. }));
    }
    assert!(ran.record.left_drained.is_empty() && ran.report.left_drained == 0);
    assert_eq!(transport.parts("login0").last().unwrap(), "close", "who asked Slurm leaves at last");
}

#[tokio::test(start_paused = true)]
async fn what_an_operator_drained_is_left_alone_and_so_is_what_is_down() {
    let cluster = Cluster::new()
        .with("gpu0", |node| *node = Node { drained: true, reason: "bad fan".into(), ..Node::default() })
        .with("gpu2", |node| *node = Node { down: true, reason: "Not responding".into(), ..Node::default() });
    let transport = kernels(&cluster, |_| None);
    let ran = apply(&live(SLURM, "{ canary: 1 }", BOOT), &transport).await;
    assert_eq!(ran.left("gpu0"), "an operator has drained it (bad fan) and is left alone");
    assert_eq!(ran.left("gpu2"), "Slurm has the node as down: Not responding");
    assert!(cluster.node("gpu0").drained && cluster.node("gpu0").reason == "bad fan");
    assert!(!transport.parts("gpu0").contains(&"reboot".to_owned()));
    // The canary is a host that can be changed.
    assert_eq!(ran.batches()[0], "canary: gpu1");
    assert_eq!((ran.report.stats.ok, ran.report.stats.not_started), (3, 2));
    assert_eq!(
        cluster.told().iter().filter(|told| told.contains("gpu0") || told.contains("gpu2")).count(),
        0
    );
}

#[tokio::test(start_paused = true)]
async fn a_failure_stays_drained_with_its_reason_and_stops_the_rollout() {
    let cluster = Cluster::new();
    let transport = kernels(&cluster, |sent| {
        let fails = sent.part == "reboot" && sent.host == "gpu1";
        fails.then(|| Reply::default().after(Duration::from_secs(5)).status(1))
    });
    let ran = apply(&live(SLURM, "{ batch: 1, max_failed: 0 }", BOOT), &transport).await;
    assert_eq!(ran.phases("gpu0"), [Draining, Changing, Verifying, Back]);
    assert_eq!(ran.phases("gpu1"), [Draining, Changing, LeftDrained]);
    let node = cluster.node("gpu1");
    assert!(
        node.drained && node.reason.starts_with("provision: run1: `boot`: it does not reboot"),
        "{node:?}"
    );
    // The next one was drained ahead, and is given back as it was.
    assert_eq!(ran.phases("gpu2"), [Draining, Back]);
    assert!(!cluster.node("gpu2").drained && !transport.parts("gpu2").contains(&"reboot".to_owned()));
    assert_eq!(ran.phases("gpu3"), []);
    assert_eq!(ran.record.left_drained.keys().collect::<Vec<_>>(), ["gpu1"]);
    assert_eq!(ran.report.left_drained, 1);
    assert_eq!((ran.report.stats.failed, ran.report.stats.not_started), (1, 2));
    let wanted = [
        "  Draining  gpu0             no job runs there",
        "   Rollout  batch 1: gpu0",
        "  Changing  gpu0",
        "  Draining  gpu1             no job runs there",
        "   Changed  gpu0             boot              ~ reboot (kernel 6.1 is running, but 6.2 is installed)",
        " Verifying  gpu0",
        "      Back  gpu0",
        "   Rollout  batch 2: gpu1",
        "  Changing  gpu1",
    ];
    let watched = ran.watched();
    let lines: Vec<&str> = watched.lines().skip(1).collect();
    assert_eq!(lines[..wanted.len()], wanted, "{watched}");
    assert!(watched.contains("gpu1 stays drained: `boot`: it does not reboot"), "{watched}");
    let hint = "after the repair; by hand, when all is well: scontrol update NodeName=gpu1 State=RESUME";
    assert!(watched.contains(hint), "{watched}");
    let json = serde_json::to_value(provision::report::json::object(&ran.record)).unwrap();
    assert_eq!(json["hosts"]["gpu0"]["maintenance"]["phase"], "back");
    assert!(json["left_drained"]["gpu1"].as_str().unwrap().starts_with("`boot`: it does not reboot"));
    let shown = plans::plain(&provision::report::show::text(&ran.record, false, None));
    assert!(shown.contains("maintenance: left drained  `boot`: it does not reboot"), "{shown}");
}

#[tokio::test(start_paused = true)]
async fn a_host_past_its_deadline_is_given_back_as_it_was() {
    let cluster = Cluster::new().job("gpu3", Duration::from_hours(5));
    let transport = kernels(&cluster, |_| None);
    let ran = apply(&live(SLURM, "{}", BOOT), &transport).await;
    assert_eq!(ran.left("gpu3"), "not idle within 2h: job 103 of ann");
    assert_eq!(ran.phases("gpu3"), [Draining, Back]);
    assert!(!cluster.node("gpu3").drained && cluster.node("gpu3").has_job());
    assert!(!transport.parts("gpu3").contains(&"reboot".to_owned()));
    assert_eq!(ran.report.stats.ok, 4);
}

#[tokio::test(start_paused = true)]
async fn capacity_never_falls_under_what_is_to_stay_up() {
    let cluster = Cluster::new().job("gpu0", Duration::from_mins(10));
    let settings = "{ slurm: { controller: login0, partition: comp, wait: 2h }, keep_up: \"70%\" }";
    let ran = apply(&live(settings, "{}", BOOT), &kernels(&cluster, |_| None)).await;
    assert_eq!(ran.report.stats.ok, 5, "{:?}", ran.record);
    // 70 % of 4 nodes are 3.
    assert_eq!(cluster.0.lock().unwrap().least, 3);
    assert_eq!(ran.phases("gpu1"), [Waiting, Draining, Changing, Verifying, Back]);
    assert_eq!(ran.why("gpu1", Waiting)[0], "3 of 4 nodes are in service, and `keep_up` wants 3");

    let cluster = Cluster::new();
    let settings = "{ slurm: { controller: login0 }, keep_up: \"80%\" }";
    let ran = apply(&live(settings, "{}", BOOT), &kernels(&cluster, |_| None)).await;
    let Outcome::Blocked(why) = ran.outcome("gpu0", "boot") else { panic!("{:?}", ran.record) };
    assert!(why.contains("`keep_up` wants 4 of 4 nodes in service, so none can be drained"), "{why}");
    assert_eq!(cluster.told(), Vec::<String>::new());
}

#[tokio::test(start_paused = true)]
async fn a_node_that_was_resumed_a_moment_ago_is_waited_for() {
    let soon = tokio::time::Instant::now() + Duration::from_secs(20);
    let late = soon + Duration::from_mins(30);
    let cluster = Cluster::new()
        .with("gpu0", |node| node.silent = Some(soon))
        .with("gpu1", |node| node.silent = Some(late));
    let ran = apply(&live(SLURM, "{}", BOOT), &kernels(&cluster, |_| None)).await;
    assert_eq!(ran.phases("gpu0"), [Waiting, Draining, Changing, Verifying, Back]);
    assert_eq!(ran.left("gpu1"), "Slurm has the node as idle*");
    assert_eq!((ran.report.stats.ok, ran.report.stats.not_started), (4, 1));
}

/// As an earlier run left it that was killed, or on which a task failed.
/// What somebody does with a node.
type Change = fn(&mut Node);

/// It is drained ahead, and somebody does something with it before its batch begins.
#[tokio::test(start_paused = true)]
async fn what_becomes_of_a_node_that_waits_for_its_batch_is_seen() {
    let cases: [(Change, &str); 2] = [
        (
            |node| node.reason = "hands off".to_owned(),
            "an operator drained it meanwhile (hands off) and is left alone",
        ),
        (|node| node.drained = false, "somebody resumed it while it was waited for"),
    ];
    for (change, why) in cases {
        let cluster = Cluster::new();
        let own = cluster.clone();
        let transport = kernels(&cluster, move |sent| {
            let mut slurm = own.0.lock().unwrap();
            if sent.part == "sinfo" && slurm.nodes["gpu1"].drained && !slurm.nodes["gpu0"].drained {
                change(slurm.nodes.get_mut("gpu1").unwrap());
            }
            None
        });
        let ran = apply(&live(SLURM, "{ batch: 1 }", BOOT), &transport).await;
        assert_eq!(ran.left("gpu1"), why);
        assert!(!transport.parts("gpu1").contains(&"reboot".to_owned()), "{:?}", transport.parts("gpu1"));
    }
}

fn left(node: &mut Node) {
    *node = Node { drained: true, reason: "provision: run0: is to be changed".into(), ..Node::default() };
}

#[tokio::test(start_paused = true)]
async fn the_next_run_goes_on_from_what_a_killed_one_left() {
    // gpu1 is as it should be by now; gpu2 is no part of this run.
    let cluster = Cluster::new().with("gpu0", left).with("gpu1", left).with("gpu2", left);
    let transport = kernels(&cluster, |sent| match (sent.host.as_str(), sent.part.as_str()) {
        ("gpu1", "base.boot") => Some(Reply::default().output(interrupts::boot("two", "6.1"))),
        ("gpu2", "open") => Some(Reply::default().fail(ConnectKind::NoRoute)),
        _ => None,
    });
    let ran = apply(&live(SLURM, "{}", BOOT), &transport).await;
    assert_eq!(ran.phases("gpu0"), [Changing, Verifying, Back]);
    assert_eq!(ran.phases("gpu1"), [Changing, Verifying, Back]);
    assert!(!transport.parts("gpu1").contains(&"reboot".to_owned()));
    assert!(!cluster.node("gpu0").drained && !cluster.node("gpu1").drained);
    assert_eq!(ran.phases("gpu2"), [LeftDrained]);
    assert!(cluster.node("gpu2").drained);
    assert!(ran.record.left_drained["gpu2"].starts_with("a run drained it (run0: is to be changed)"));
    assert_eq!(ran.phases("gpu3"), [Draining, Changing, Verifying, Back]);
}

#[tokio::test(start_paused = true)]
async fn what_another_run_has_drained_that_goes_on_is_its_own() {
    let at_work = |node: &mut Node| {
        left(node);
        node.reason = "provision: alive1: is to be changed".into();
    };
    let cluster = Cluster::new().with("gpu0", at_work);
    let ran = apply(&live(SLURM, "{}", BOOT), &kernels(&cluster, |_| None)).await;
    assert_eq!(ran.left("gpu0"), "run alive1 has drained it and is still at work");
    assert_eq!(ran.phases("gpu0"), []);
    assert!(cluster.node("gpu0").drained && ran.record.left_drained.is_empty());
    assert_eq!((ran.report.stats.ok, ran.report.stats.not_started), (4, 1));
}

#[tokio::test(start_paused = true)]
async fn without_leave_nothing_is_drained() {
    let cluster = Cluster::new();
    let world = live(SLURM, "{}", BOOT);
    let none = (Secrets::default(), engine::Consent::refused());
    let ran = run_with(&world, &kernels(&cluster, |_| None), Mode::Apply, none, |_| {}).await;
    let Outcome::Blocked(why) = ran.outcome("gpu0", "boot") else { panic!("{:?}", ran.record) };
    assert!(why.ends_with("agree with --yes"), "{why}");
    assert_eq!(cluster.told(), Vec::<String>::new());
}

#[tokio::test(start_paused = true)]
async fn a_host_that_is_no_node_is_named_and_changed_without_a_drain() {
    let cluster = Cluster::new();
    cluster.0.lock().unwrap().nodes.remove("gpu3");
    let ran = apply(&live(SLURM, "{}", BOOT), &kernels(&cluster, |_| None)).await;
    let told = ran.events.iter().filter_map(|event| match &event.kind {
        EventKind::Warning { host: None, message } => Some(message.as_str()),
        _ => None,
    });
    let why = "Slurm has no node gpu3: what interrupts there is done without a drain, when the host is idle";
    assert_eq!(told.collect::<Vec<_>>(), [why]);
    assert!(ran.phases("gpu3").is_empty(), "{:?}", ran.phases("gpu3"));
    assert_eq!(ran.report.stats.ok, 5, "{:?}", ran.record);
}

#[tokio::test(start_paused = true)]
async fn without_an_answer_of_slurm_nothing_is_changed_that_interrupts() {
    let transport = kernels(&Cluster::new(), |sent| {
        (sent.part == "sinfo")
            .then(|| Reply::default().status(1).output("slurm_load_partitions: Unable to contact\n"))
    });
    let ran = apply(&live(SLURM, "{}", BOOT), &transport).await;
    let Outcome::Blocked(why) = ran.outcome("gpu0", "boot") else { panic!("{:?}", ran.record) };
    assert!(why.ends_with("login0: slurm_load_partitions: Unable to contact"), "{why}");
    assert!(!transport.parts("gpu0").contains(&"reboot".to_owned()));
}

/// Slurm does not answer for so long once it has drained the nodes.
async fn silent_for(time: Duration) -> (Ran, Cluster) {
    let cluster = Cluster::new().job("gpu1", Duration::from_mins(30));
    let since: Mutex<Option<tokio::time::Instant>> = Mutex::default();
    let transport = kernels(&cluster, {
        let cluster = cluster.clone();
        move |sent| {
            let drained = sent.part == "sinfo" && cluster.node("gpu1").drained;
            let silent = drained
                && since.lock().unwrap().get_or_insert_with(tokio::time::Instant::now).elapsed() < time;
            silent.then(|| Reply::default().status(1).output("slurm_load_partitions: Unable to contact\n"))
        }
    });
    (apply(&live(SLURM, "{}", BOOT), &transport).await, cluster)
}

#[tokio::test(start_paused = true)]
async fn nobody_waits_longer_for_slurm_than_for_a_host() {
    let told = "login0: slurm_load_partitions: Unable to contact";
    let (ran, _) = silent_for(Duration::from_mins(20)).await;
    assert_eq!(ran.report.stats.ok, 5, "{:?}", ran.record);
    assert_eq!(ran.phases("gpu1"), [Draining, Changing, Verifying, Back]);
    assert_eq!(ran.why("gpu1", Draining), ["job 101 of ann", told, "job 101 of ann"]);
    let (ran, cluster) = silent_for(Duration::from_hours(100)).await;
    for host in ["gpu0", "gpu1"] {
        assert_eq!(ran.left(host), told);
        assert!(cluster.node(host).drained);
        assert_eq!(ran.record.left_drained[host], format!("it was drained, and {told}"));
    }
    assert_eq!((ran.report.stats.ok, ran.report.left_drained), (1, 4));
}

#[tokio::test(start_paused = true)]
async fn where_busy_hosts_are_refused_only_idle_ones_are_drained() {
    let cluster = Cluster::new().job("gpu1", Duration::from_mins(30));
    let world = live(SLURM, "{}", BOOT);
    let text = std::fs::read_to_string(&world.inventory).unwrap().replace("busy: drain", "busy: refuse");
    std::fs::write(&world.inventory, text).unwrap();
    let ran = apply(&world, &kernels(&cluster, |_| None)).await;
    assert_eq!(ran.left("gpu1"), "job 101 of ann runs there, and `policy.busy` is refuse");
    assert_eq!((ran.report.stats.ok, ran.report.stats.not_started), (4, 1));
    assert_eq!(ran.phases("gpu1"), []);
}

#[expect(clippy::disallowed_methods, reason = "the other side of what is tested")]
/// The first Ctrl-C comes then.
pub(super) fn stop_after(time: Duration) -> impl FnOnce(engine::Stopper) {
    move |stopper| {
        tokio::spawn(async move {
            tokio::time::sleep(time).await;
            stopper.ask(Stop::Finish);
        });
    }
}

#[tokio::test(start_paused = true)]
async fn a_stop_gives_back_what_was_not_begun() {
    let cluster = Cluster::new().job("gpu1", Duration::from_hours(1));
    let transport = kernels(&cluster, |_| None);
    let ran =
        run(&live(SLURM, "{}", BOOT), &transport, Mode::Apply, stop_after(Duration::from_mins(10))).await;
    assert_eq!(ran.phases("gpu0"), [Draining, Changing, Verifying, Back]);
    assert_eq!(ran.phases("gpu1"), [Draining, Back]);
    assert_eq!(ran.left("gpu1"), "the run was stopped before it");
    assert!(!cluster.node("gpu1").drained);
}

/// A host that came back with fewer huge pages than it should have, where it is told so.
fn pages(sent: &Sent, bad: &str) -> Option<Reply> {
    let pages = if sent.host == bad { 4 } else { 8 };
    let text = format!("MemTotal: 2000\nHugePages_Total: {pages}\nHugepagesize: 2048\n");
    (sent.part == "base.memory").then(|| Reply::default().output(text))
}

#[tokio::test(start_paused = true)]
async fn a_host_that_fails_its_gate_stays_drained_with_the_finding_and_the_next_run_goes_on() {
    let gated = |rollout: &str| {
        let world = live(SLURM, rollout, BOOT);
        let expect = "expect: { system: { hugepages: 8 } }\n";
        let text = std::fs::read_to_string(&world.inventory).unwrap() + expect;
        std::fs::write(&world.inventory, text).unwrap();
        world
    };
    let cluster = Cluster::new();
    let world = gated("{ canary: 1, batch: 1, gate: verify, max_failed: 0 }");
    // gpu0 has its pages only some time after its boot.
    let asked: Mutex<u32> = Mutex::default();
    let transport = kernels(&cluster, move |sent| {
        if sent.host == "gpu0" && sent.part == "base.memory" {
            let mut asked = asked.lock().unwrap();
            *asked += 1;
            return pages(sent, if *asked == 1 { "gpu0" } else { "" });
        }
        pages(sent, "gpu1")
    });
    let ran = apply(&world, &transport).await;
    assert_eq!(ran.phases("gpu0"), [Draining, Changing, Verifying, Back], "{:?}", ran.record);
    assert_eq!(ran.phases("gpu1"), [Draining, Changing, Verifying, LeftDrained]);
    let outage = |host: &str| ran.record.hosts[host].outage.clone();
    assert!(outage("gpu0").is_some_and(|it| it.drained <= it.changing.unwrap() && it.changing < it.back));
    assert_eq!((outage("gpu1"), outage("gpu2")), (None, None));
    let reason = cluster.node("gpu1").reason;
    let wanted = "provision: run1: `verify after the change`: system.hugepages: 4, expected 8";
    assert_eq!(reason, wanted);
    assert_eq!(
        ran.stops(),
        ["1 host failed, more than rollout.max_failed allows (0): nothing else is started"]
    );
    assert!(!cluster.node("gpu2").drained && !transport.parts("gpu3").contains(&"reboot".to_owned()));
    assert_eq!((ran.report.stats.failed, ran.report.stats.not_started), (1, 2));

    // After the repair the same command finishes the rest and touches none that are done.
    let transport = kernels(&cluster, |sent| match (sent.host.as_str(), sent.part.as_str()) {
        ("gpu0" | "gpu1", "base.boot") => Some(Reply::default().output(interrupts::boot("two", "6.1"))),
        _ => pages(sent, ""),
    });
    let ran = apply(&world, &transport).await;
    assert_eq!(ran.report.stats.ok, 5, "{:?}", ran.record);
    assert_eq!(ran.phases("gpu0"), []);
    assert_eq!(ran.phases("gpu1"), [Changing, Verifying, Back]);
    assert_eq!(ran.phases("gpu3"), [Draining, Changing, Verifying, Back]);
    assert!(!transport.parts("gpu0").contains(&"reboot".to_owned()));
    assert!(cluster.0.lock().unwrap().nodes.values().all(|node| !node.drained));
    assert_eq!(ran.batches()[0], "canary: gpu1");
}

/// Somebody resumed the node while it was changed, and the change failed: nobody is told that it is drained.
#[tokio::test(start_paused = true)]
async fn a_node_that_was_resumed_meanwhile_is_not_told_to_be_drained() {
    let cluster = Cluster::new();
    let transport = kernels(&cluster, {
        let cluster = cluster.clone();
        move |sent| {
            let fails = sent.part == "reboot" && sent.host == "gpu1";
            fails.then(|| {
                cluster.clone().with("gpu1", |node| node.drained = false);
                Reply::default().after(Duration::from_secs(5)).status(1)
            })
        }
    });
    let ran = apply(&live(SLURM, "{ batch: 1, max_failed: 0 }", BOOT), &transport).await;
    assert_eq!(ran.phases("gpu1"), [Draining, Changing, Back]);
    let why = ran.why("gpu1", Back).join("");
    assert!(why.starts_with("somebody resumed it meanwhile, although: `boot`: it does not reboot"), "{why}");
    assert_eq!((ran.report.stats.failed, ran.report.left_drained), (1, 0));
    assert!(!cluster.told().iter().any(|told| told.contains("gpu1") && told.contains("it does not reboot")));
}

#[tokio::test(start_paused = true)]
async fn hosts_are_tested_with_each_other_where_the_gate_asks_for_it() {
    let tested = |transport: &Scripted| {
        let hosts = ["gpu0", "gpu1", "gpu2", "gpu3"].into_iter();
        hosts.filter(|host| transport.parts(host).contains(&"tools".to_owned())).collect::<Vec<_>>()
    };
    // The canary with a host that is drained before its turn. These hosts say nothing that proves a link.
    let cluster = Cluster::new();
    let world = live(SLURM, "{ canary: 1, batch: 1, gate: active, max_failed: 0 }", BOOT);
    let transport = kernels(&cluster, |_| None);
    let ran = apply(&world, &transport).await;
    assert_eq!(tested(&transport), ["gpu0", "gpu1"], "{:?}", ran.record);
    assert_eq!(ran.phases("gpu0"), [Draining, Changing, Verifying, LeftDrained]);
    assert_eq!(ran.phases("gpu1"), [Draining, Back]);
    let reason = cluster.node("gpu0").reason;
    assert!(reason.starts_with("provision: run1: `verify after the change`: active.rping: "), "{reason}");
    // Two that are changed together need nobody else.
    let transport = kernels(&Cluster::new(), |_| None);
    apply(&live(SLURM, "{ batch: 2, gate: active, max_failed: 0 }", BOOT), &transport).await;
    assert_eq!(tested(&transport), ["gpu0", "gpu1"]);
    // Nobody is drained yet who could be a partner: it is said.
    let transport = kernels(&Cluster::new(), |_| None);
    let text = std::fs::read_to_string(&world.inventory).unwrap();
    std::fs::write(&world.inventory, text.replace("hosts: gpu }", "hosts: gpu0 }")).unwrap();
    let ran = apply(&world, &transport).await;
    assert_eq!(tested(&transport), ["gpu0"]);
    assert_eq!(
        ran.record.hosts["gpu0"].warnings,
        ["the gate tests it alone: no host that is idle now could be its partner"]
    );
    // A gate that only looks sends nothing between hosts.
    let transport = kernels(&Cluster::new(), |_| None);
    apply(&live(SLURM, "{ canary: 1, gate: verify }", BOOT), &transport).await;
    assert_eq!(tested(&transport), [""; 0]);
}

#[tokio::test(start_paused = true)]
async fn a_plan_tells_who_is_drained_when_and_drains_nobody() {
    let cluster = Cluster::new();
    let transport = kernels(&cluster, |sent| {
        let done = sent.host == "gpu2" && sent.part == "base.boot";
        done.then(|| Reply::default().output(interrupts::boot("two", "6.1")))
    });
    let world = live(SLURM, "{ canary: 1, batch: 1, gate: verify }", BOOT);
    let ran = run(&world, &transport, Mode::Plan, |_| {}).await;
    let line = |lead: &str, what: &str, last: &str| {
        format!("{lead:>10}  {what} drained, changed [reboot], verified, given back{last}\n")
    };
    let schedule = |ran: &Ran, last: &Outages| {
        plans::plain(&provision::report::plan::schedule(&ran.record, ran.report.sessions[0].project(), last))
    };
    let wanted = line("Schedule", "canary: gpu0", "")
        + &line("", "batch 1: gpu1", "")
        + &line("", "batch 2: gpu3", "");
    assert_eq!(schedule(&ran, &Outages::default()), wanted);
    assert_eq!(cluster.told(), Vec::<String>::new());

    // How long it took last time is that of the run that did it, and of the same kind of change.
    let mut last = Outages::default();
    let drained = |host: &str, at: [f64; 3]| {
        let [drained, changing, back] = at;
        let mut record = ran.record.clone();
        record.hosts.retain(|name, _| name == host);
        record.hosts[host].outage = Some(Outage { drained, changing: Some(changing), back: Some(back) });
        record
    };
    last.note(&drained("gpu0", [1.0, 1.5, 300.6]));
    last.note(&drained("gpu3", [1.0, 7201.0, 7301.0]));
    let wanted = line("Schedule", "canary: gpu0", " (last time 4m 59s)")
        + &line("", "batch 1: gpu1", "")
        + &line("", "batch 2: gpu3", " (last time 100.0s, and 2h 00m until jobs had ended)");
    assert_eq!(schedule(&ran, &last), wanted);
    let one = live(SLURM, "{ batch: 4, gate: verify }", BOOT);
    let ran = run(&one, &transport, Mode::Plan, |_| {}).await;
    let most = " (last time at most 4m 59s for 2 of them, and 2h 00m until jobs had ended)";
    assert_eq!(schedule(&ran, &last), line("Schedule", "gpu[0-1,3]", most));
}

#[tokio::test(start_paused = true)]
async fn a_plan_tells_what_an_apply_would_find_at_the_scheduler() {
    let warnings = |ran: &Ran| {
        let warning = |event: &Event| match &event.kind {
            EventKind::Warning { host, message } => {
                Some(format!("{}: {message}", host.as_deref().unwrap_or("all")))
            }
            _ => None,
        };
        ran.events.iter().filter_map(warning).collect::<Vec<_>>()
    };
    let cluster = Cluster::new().with("gpu0", left).with("gpu1", |node| {
        *node = Node { drained: true, reason: "bad fan".into(), ..Node::default() };
    });
    let ran = run(&live(SLURM, "{}", BOOT), &kernels(&cluster, |_| None), Mode::Plan, |_| {}).await;
    let wanted = [
        "gpu1: an apply would do nothing that interrupts jobs: an operator has drained it (bad fan) and is left alone",
        "gpu0: it stayed drained (run0: is to be changed): an apply begins with it and gives it back",
    ];
    assert_eq!(warnings(&ran), wanted);
    let up = "{ slurm: { controller: login0 }, keep_up: 4 }";
    let ran = run(&live(up, "{}", BOOT), &kernels(&Cluster::new(), |_| None), Mode::Plan, |_| {}).await;
    let wanted = "all: an apply would do nothing that interrupts jobs: `keep_up` wants 4 of 4 nodes in service, so none \
                  can be drained";
    assert_eq!(warnings(&ran), [wanted]);
    let none = kernels(&Cluster::new(), |sent| {
        (sent.part == "sinfo").then(|| Reply::default().status(127).output("sh: 68: sinfo: not found\n"))
    });
    let ran = run(&live(SLURM, "{}", BOOT), &none, Mode::Plan, |_| {}).await;
    assert_eq!(
        warnings(&ran),
        ["all: an apply would do nothing that interrupts jobs: login0 has no `sinfo`"]
    );
}

/// Another run looks at the same moment, and both see that there is room.
#[tokio::test(start_paused = true)]
async fn two_runs_that_drain_at_the_same_moment_leave_what_is_to_stay_up() {
    let cluster = Cluster::new();
    let own = cluster.clone();
    let transport = kernels(&cluster, move |sent| {
        let mut slurm = own.0.lock().unwrap();
        // The other one is a moment faster, and has done its work some minutes later.
        if sent.part == "drain" && slurm.told.is_empty() {
            let soon = tokio::time::Instant::now() + Duration::from_mins(5);
            let theirs = Node {
                drained: true,
                reason: "provision: alive1: is to be changed".into(),
                silent: Some(soon),
                ..Node::default()
            };
            slurm.nodes.insert("gpu3".into(), theirs);
        }
        let done = slurm.nodes["gpu3"].silent.is_some_and(|end| tokio::time::Instant::now() >= end);
        if done && slurm.nodes["gpu3"].drained {
            slurm.nodes.insert("gpu3".into(), Node::default());
        }
        None
    });
    let settings = "{ slurm: { controller: login0, partition: comp, wait: 2h }, keep_up: 3 }";
    let world = live(settings, "{}", BOOT);
    let text = std::fs::read_to_string(&world.inventory).unwrap().replace("hosts: gpu }", "hosts: gpu0 }");
    std::fs::write(&world.inventory, text).unwrap();
    let ran = apply(&world, &transport).await;
    assert_eq!(ran.report.stats.ok, 5, "{:?}", ran.record);
    assert_eq!(ran.phases("gpu0"), [Draining, Back, Waiting, Draining, Changing, Verifying, Back]);
    let why = &ran.why("gpu0", Back)[0];
    assert_eq!(
        why,
        "given back unchanged: others have drained nodes meanwhile, and 2 of 4 nodes are in service, and `keep_up` \
         wants 3"
    );
}

/// The batch before takes longer than anybody waits, and takes all the room.
#[tokio::test(start_paused = true)]
async fn who_waits_for_the_room_that_this_run_takes_is_not_late() {
    let cluster = Cluster::new().job("gpu0", Duration::from_mins(100)).job("gpu1", Duration::from_mins(190));
    let settings = "{ slurm: { controller: login0, partition: comp, wait: 2h }, keep_up: 3 }";
    let ran = apply(&live(settings, "{}", BOOT), &kernels(&cluster, |_| None)).await;
    assert_eq!(ran.report.stats.ok, 5, "{:?}", ran.record);
    assert_eq!(ran.phases("gpu3"), [Waiting, Draining, Changing, Verifying, Back]);
}

/// Hosts whose gpu1 does not come back from its reboot; whether turning it off and on helps.
async fn stuck(helps: bool, policy: &str) -> (Ran, Scripted, Cluster) {
    let cluster = Cluster::new();
    let off: Mutex<bool> = Mutex::new(false);
    let transport = kernels(&cluster, move |sent| {
        let mut off = off.lock().unwrap();
        match (sent.host.as_str(), sent.part.as_str()) {
            ("gpu1", "reboot") => *off = true,
            ("this machine", "power-cycle") => *off = !helps,
            ("gpu1", "open") if *off => return Some(Reply::default().fail(ConnectKind::NoRoute)),
            _ => {}
        }
        None
    });
    let world = live(SLURM, "{}", BOOT);
    let text = std::fs::read_to_string(&world.inventory).unwrap();
    let text = text.replace("busy: drain", &format!("busy: drain, {policy}"));
    std::fs::write(&world.inventory, text).unwrap();
    (apply(&world, &transport).await, transport, cluster)
}

#[tokio::test(start_paused = true)]
async fn a_host_that_does_not_come_back_is_turned_off_and_on_once() {
    let cycle = "power_cycle: { run: [ipmitool, -H, \"{{ host.name }}-bmc\", chassis, power, cycle] }";
    let cycles = |transport: &Scripted| -> Vec<String> {
        let sent = transport.sent().into_iter().filter(|sent| sent.part == "power-cycle");
        sent.map(|sent| sent.text.lines().skip(1).collect::<Vec<_>>().join(" ")).collect()
    };
    let (ran, transport, _) = stuck(true, cycle).await;
    assert_eq!(cycles(&transport), ["ipmitool -H gpu1-bmc chassis power cycle"]);
    assert_eq!(ran.report.stats.ok, 5, "{:?}", ran.record.hosts["gpu1"]);
    assert!(ran.record.hosts["gpu1"].warnings.join(" ").contains("it is turned off and on, once"));

    let (ran, transport, cluster) = stuck(false, cycle).await;
    assert_eq!(cycles(&transport).len(), 1);
    assert_eq!(ran.phases("gpu1"), [Draining, Changing, LeftDrained]);
    assert!(cluster.node("gpu1").reason.contains("not back within 20m after its reboot"));

    let (ran, transport, _) = stuck(true, "reboot_parallel: 4").await;
    assert!(cycles(&transport).is_empty());
    assert_eq!(ran.report.stats.unreachable, 1);
}

/// Stages with what one host does for all between them.
const STAGES: &str = "name: s\ntasks:\n  - name: one\n    command: { run: [tool-alpha] }\n  - name: once\n    run_once: ONCE\n    command: { run: [tool-once] }\n  - name: boot\n    reboot: {}\n  - name: two\n    command: { run: [tool-beta] }\n";

#[tokio::test(start_paused = true)]
async fn a_batch_goes_through_all_stages_before_the_next_one() {
    for (once, leader) in [("true", "gpu0"), ("{ host: gpu2 }", "gpu2")] {
        let cluster = Cluster::new();
        let transport = kernels(&cluster, |_| None);
        let playbook = STAGES.replace("ONCE", once);
        let ran = apply(&live(SLURM, "{ canary: 1, batch: 2 }", &playbook), &transport).await;
        assert_eq!(ran.report.stats.ok, 5, "{:?}", ran.record);
        // Who does it for all goes first.
        assert_eq!(ran.batches()[0], format!("canary: {leader}"));
        let sent = transport.sent();
        let at = |host: &str, word: &str| {
            let tasks = |sent: &Sent| sent.host == host && sent.part == "task" && sent.text.contains(word);
            (0..sent.len()).find(|at| tasks(&sent[*at]))
        };
        let others = ["gpu0", "gpu1", "gpu2", "gpu3"].into_iter().filter(|host| *host != leader);
        for host in others {
            assert_eq!(at(host, "tool-once"), None, "{host}");
            assert!(at(leader, "tool-beta") < at(host, "tool-alpha"), "{host}");
            assert!(at(host, "tool-alpha") < at(host, "tool-beta"), "{host}");
        }
        assert!(at(leader, "tool-once").is_some());
        for host in ["gpu0", "gpu1", "gpu2", "gpu3"] {
            assert_eq!(ran.phases(host), [Draining, Changing, Verifying, Back], "{host}");
            assert_eq!(transport.parts(host).iter().filter(|part| *part == "reboot").count(), 1);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn the_first_batch_knows_the_facts_of_all() {
    let cluster = Cluster::new();
    let transport = kernels(&cluster, |sent| {
        (sent.part == "base.hostname").then(|| Reply::default().output(format!("name-of-{}\n", sent.host)))
    });
    let playbook = "name: f\ntasks:\n  - name: tell\n    command: { run: [tell, \"{% for name, h in hosts %}{{ h.facts.hostname }} {% endfor %}\"] }\n  - name: boot\n    reboot: {}\n";
    let ran = apply(&live(SLURM, "{ batch: 1 }", playbook), &transport).await;
    assert_eq!(ran.report.stats.ok, 5, "{:?}", ran.record);
    let told = transport.sent().into_iter().filter(|sent| sent.part == "task" && sent.text.contains("tell"));
    let told: Vec<Sent> = told.collect();
    assert_eq!(told.len(), 4);
    for sent in told {
        assert!(sent.text.contains("name-of-gpu0 name-of-gpu1 name-of-gpu2 name-of-gpu3"), "{sent:?}");
    }
    let warned = |event: &Event| match &event.kind {
        EventKind::Warning { host: None, message } => Some(message.clone()),
        _ => None,
    };
    let warned: Vec<String> = ran.events.iter().filter_map(warned).collect();
    assert!(warned.iter().all(|message| !message.contains("nothing is known")), "{warned:?}");
}

/// A kernel that boots next only when the first task has run.
async fn unforeseen(settings: &str) -> (Ran, Cluster) {
    unforeseen_with(settings, "reboot_parallel: 16").await
}

async fn unforeseen_with(settings: &str, policy: &str) -> (Ran, Cluster) {
    let playbook = "name: u\ntasks:\n  - name: edit\n    command: { run: [edit, it] }\n  - name: boot\n    reboot: {}\n  - name: after\n    command: { run: [tool-beta] }\n";
    let edited: Mutex<BTreeSet<String>> = Mutex::default();
    let cluster = Cluster::new().job("gpu1", Duration::from_mins(20));
    let watched = cluster.clone();
    let transport = kernels(&cluster, move |sent| {
        let mut edited = edited.lock().unwrap();
        match sent.part.as_str() {
            "task" if sent.text.contains("edit") => {
                assert!(!watched.node(&sent.host).drained, "that interrupts nothing");
                edited.insert(sent.host.clone());
            }
            "reboot" => {
                let node = watched.node(&sent.host);
                assert!(node.drained && !node.has_job(), "{} {node:?}", sent.host);
                watched.0.lock().unwrap().rebooted.push(sent.host.clone());
            }
            "base.boot" if !edited.contains(&sent.host) => {
                return Some(Reply::default().output(interrupts::boot("one", "6.1")));
            }
            _ => {}
        }
        None
    });
    let world = live(settings, "{}", playbook);
    let text = std::fs::read_to_string(&world.inventory).unwrap();
    std::fs::write(&world.inventory, text.replace("busy: drain", &format!("busy: drain, {policy}"))).unwrap();
    (apply(&world, &transport).await, cluster)
}

#[tokio::test(start_paused = true)]
async fn a_change_that_the_plan_did_not_show_drains_the_node_when_it_is_due() {
    let (ran, cluster) = unforeseen(SLURM).await;
    assert_eq!(ran.report.stats.ok, 5, "{:?}", ran.record);
    for host in ["gpu0", "gpu1", "gpu2", "gpu3"] {
        assert!(matches!(ran.outcome(host, "boot"), Outcome::Changed { .. }), "{host}");
        assert!(matches!(ran.outcome(host, "after"), Outcome::Ran { .. }), "{host}");
        assert_eq!(ran.phases(host), [Draining, Changing, Verifying, Back], "{host}");
        assert!(!cluster.node(host).drained);
    }
    // Where there is no room now, nobody waits for who waits for him.
    let (ran, cluster) = unforeseen("{ slurm: { controller: login0, wait: 2h }, keep_up: 3 }").await;
    assert_eq!(cluster.0.lock().unwrap().least, 3);
    let blocked = ["gpu0", "gpu1", "gpu2", "gpu3"].map(|host| match ran.outcome(host, "boot") {
        Outcome::Blocked(why) => {
            assert!(why.contains("`keep_up` wants 3; the next run drains it first"), "{why}");
            true
        }
        _ => false,
    });
    assert_eq!(blocked.into_iter().filter(|blocked| *blocked).count(), 3);
    assert!(cluster.0.lock().unwrap().nodes.values().all(|node| !node.drained));
}

#[tokio::test(start_paused = true)]
async fn no_host_is_given_back_to_jobs_on_which_a_check_fails() {
    // The health check before jobs has drained gpu1; nothing of this run is about what it found.
    let unhealthy = |node: &mut Node| {
        left(node);
        node.reason = "provision: health: system.hugepages: 4, expected 8".into();
    };
    let cluster = Cluster::new().with("gpu1", unhealthy);
    let world = live(SLURM, "{}", BOOT);
    let text = std::fs::read_to_string(&world.inventory).unwrap() + "expect: { system: { hugepages: 8 } }\n";
    std::fs::write(&world.inventory, text).unwrap();
    let hosts = |bad: &'static str| {
        kernels(&cluster, move |sent| match sent.part.as_str() {
            "base.boot" => Some(Reply::default().output(interrupts::boot("two", "6.1"))),
            _ => pages(sent, bad),
        })
    };
    let ran = apply(&world, &hosts("gpu1")).await;
    assert_eq!(ran.phases("gpu1"), [Changing, Verifying, LeftDrained], "{:?}", ran.record);
    assert!(cluster.node("gpu1").reason.ends_with("system.hugepages: 4, expected 8"));
    assert_eq!((ran.report.stats.ok, ran.report.stats.failed), (4, 1));
    // After the repair it is.
    let ran = apply(&world, &hosts("")).await;
    assert_eq!(ran.phases("gpu1"), [Changing, Verifying, Back]);
    assert!(!cluster.node("gpu1").drained);
}

#[tokio::test(start_paused = true)]
async fn what_a_run_of_another_controller_works_on_is_left_to_it() {
    let cluster = Cluster::new().with("gpu1", left);
    let transport = kernels(&cluster, |sent| {
        // It has done what this run would do.
        (sent.part == "base.boot").then(|| Reply::default().output(interrupts::boot("two", "6.1")))
    });
    transport
        .first(Reply::part("lock").on("gpu1").output("busy run0 you@there/2 4711 100\n/run/provision\n"));
    let ran = apply(&live(SLURM, "{}", BOOT), &transport).await;
    assert_eq!(ran.phases("gpu1"), [Changing, LeftDrained], "{:?}", ran.record);
    assert!(
        ran.left("gpu1").starts_with("another run works on this host: run run0 of controller you@there/2")
    );
    // Its reason stays.
    assert_eq!(cluster.node("gpu1").reason, "provision: run0: is to be changed");
}

#[tokio::test(start_paused = true)]
async fn who_waits_for_jobs_keeps_no_other_host_from_its_reboot() {
    let settings = "{ slurm: { controller: login0, wait: 2h } }";
    let (ran, cluster) = unforeseen_with(settings, "reboot_parallel: 1").await;
    assert_eq!(ran.report.stats.ok, 5, "{:?}", ran.record);
    // gpu1 has its job for twenty minutes.
    let rebooted = cluster.0.lock().unwrap().rebooted.clone();
    assert_eq!(rebooted.last().map(String::as_str), Some("gpu1"), "{rebooted:?}");
}

#[tokio::test(start_paused = true)]
async fn a_reboot_that_went_well_does_not_use_up_the_power_cycle() {
    // gpu1 reboots twice, and does not come back from the second one by itself.
    let reboots: Mutex<u32> = Mutex::default();
    let (off, edited): (Mutex<bool>, Mutex<bool>) = Default::default();
    let cluster = Cluster::new();
    let transport = kernels(&cluster, move |sent| {
        let (mut reboots, mut off) = (reboots.lock().unwrap(), off.lock().unwrap());
        match (sent.host.as_str(), sent.part.as_str()) {
            ("gpu1", "reboot") => {
                *reboots += 1;
                *off = *reboots == 2;
                return Some(Reply::default());
            }
            ("this machine", "power-cycle") => *off = false,
            ("gpu1", "open") if *off => return Some(Reply::default().fail(ConnectKind::NoRoute)),
            ("gpu1", "task") if sent.text.contains("edit") => *edited.lock().unwrap() = true,
            ("gpu1", "base.boot") => {
                let due = *reboots == 0 || *reboots == 1 && *edited.lock().unwrap();
                let next = if due { "6.2" } else { "6.1" };
                let id = ["one", "two", "three"][*reboots as usize];
                return Some(Reply::default().output(interrupts::boot(id, next)));
            }
            ("gpu1", "booted") => {
                let id = ["one", "two", "three"][*reboots as usize];
                return Some(Reply::default().output(format!("{id}\nrunning\n")));
            }
            _ => {}
        }
        None
    });
    let playbook = "name: b\ntasks:\n  - name: boot\n    reboot: {}\n  - name: edit\n    command: { run: [edit, it] }\n  - name: again\n    reboot: {}\n";
    let world = live(SLURM, "{}", playbook);
    let text = std::fs::read_to_string(&world.inventory).unwrap();
    let cycle = "busy: drain, power_cycle: { run: [cycle, \"{{ host.name }}\"] }";
    std::fs::write(&world.inventory, text.replace("busy: drain", cycle)).unwrap();
    let ran = apply(&world, &transport).await;
    assert_eq!(ran.report.stats.ok, 5, "{:?}", ran.record.hosts["gpu1"]);
    let cycles = transport.sent().into_iter().filter(|sent| sent.part == "power-cycle").count();
    assert_eq!(cycles, 1);
}

#[tokio::test(start_paused = true)]
async fn who_was_changed_before_a_stop_is_looked_at_and_given_back() {
    let cluster = Cluster::new();
    let transport = kernels(&cluster, |_| None);
    // The first Ctrl-C comes while gpu0 reboots.
    let ran =
        run(&live(SLURM, "{ batch: 1 }", BOOT), &transport, Mode::Apply, stop_after(Duration::from_secs(1)))
            .await;
    assert!(matches!(ran.outcome("gpu0", "boot"), Outcome::Changed { .. }));
    assert_eq!(ran.phases("gpu0"), [Draining, Changing, Verifying, Back], "{:?}", ran.record);
    assert!(!cluster.node("gpu0").drained && !cluster.node("gpu1").drained);
}
