//! The engine on scripted hosts with paused time: deadlines, lost connections, budgets, handlers.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::wildcard_enum_match_arm,
    clippy::disallowed_methods,
    reason = "a test stops at the first thing that is not as it should be"
)]

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use camino::Utf8PathBuf;
use provision::engine::{self, Context, Deadlines, Mode, SharedFacts, Stop};
use provision::events::{Emitter, Event, EventKind, HostStatus, Outcome, PlannedVerdict, Record};
use provision::facts::Query;
use provision::journal::FleetRecord;
use provision::plan::StageDigest;
use provision::project::{self, LoadOptions};
use provision::secrets::Secrets;
use provision::transport::{ConnectKind, Reply, Scripted};
use tokio::sync::mpsc::UnboundedReceiver;

mod batches;
mod failures;
mod fleet;
mod gather;
mod hosts;
mod interrupts;
mod lock;
mod maintenance;
mod notifications;
mod outages;
mod plans;
mod proofs;
mod registers;
mod relay;
mod rollout;
mod schedulers;
mod shared;
mod spool;
mod uploads;

const LOCK: &str = "held\n/run/provision\n";

struct World {
    directory: tempfile::TempDir,
    inventory: Utf8PathBuf,
    /// The digests of a plan file.
    expected: Option<BTreeMap<String, Vec<StageDigest>>>,
    /// What is asked beside what the tasks ask.
    queries: BTreeSet<Query>,
    /// What earlier runs recorded.
    recorded: FleetRecord,
}

/// When a run begins.
const NOW: i64 = 1_700_000_000;

/// Four hosts and a playbook of these tasks.
fn world(rollout: &str, playbook: &str) -> World {
    let directory = tempfile::tempdir().unwrap();
    let inventory = Utf8PathBuf::from_path_buf(directory.path().join("inventory.yaml")).unwrap();
    let text = format!(
        "cluster: t\nrollout: {rollout}\nplaybooks: [./site.yaml]\ngroups:\n  gpu: {{ hosts: \"gpu[0-3]\" }}\n"
    );
    std::fs::write(&inventory, text).unwrap();
    std::fs::write(directory.path().join("site.yaml"), playbook).unwrap();
    World { directory, inventory, expected: None, queries: BTreeSet::new(), recorded: FleetRecord::default() }
}

struct Ran {
    report: engine::Report,
    record: Record,
    events: Vec<Event>,
}

impl Ran {
    fn new(report: engine::Report, mut receiver: UnboundedReceiver<Event>) -> Self {
        let mut events = Vec::new();
        while let Ok(event) = receiver.try_recv() {
            events.push(event);
        }
        let ran = Self { report, record: Record::of(&events), events };
        ran.check();
        ran
    }

    fn status(&self, host: &str) -> &HostStatus {
        self.record.hosts[host].status.as_ref().unwrap()
    }

    fn outcome(&self, host: &str, name: &str) -> &Outcome {
        let tasks = &self.record.hosts[host].tasks;
        &tasks.iter().find(|task| task.task.name == name).unwrap_or_else(|| panic!("{tasks:?}")).outcome
    }

    /// The guarantees of the stream of events.
    fn check(&self) {
        let mut started: BTreeSet<(String, String)> = BTreeSet::new();
        let mut ended = BTreeSet::new();
        for (number, event) in self.events.iter().enumerate() {
            assert_eq!(event.seq, number as u64);
            match &event.kind {
                EventKind::TaskStarted { host, task, .. } => {
                    assert!(started.insert((host.clone(), task.name.clone())), "started twice: {task:?}");
                }
                EventKind::TaskFinished { host, task, .. } => {
                    assert!(ended.insert((host.clone(), task.name.clone())), "ended twice: {task:?}");
                }
                _ => {}
            }
        }
        for host in self.record.hosts.keys() {
            let ends = self.events.iter().filter(
                |event| matches!(&event.kind, EventKind::HostFinished { host: ended, .. } if ended == host),
            );
            assert_eq!(ends.count(), 1, "{host} ends once");
        }
        assert!(started.is_subset(&ended), "never ended: {:?}", started.difference(&ended));
    }
}

async fn apply(world: &World, transport: &Scripted) -> Ran {
    run(world, transport, Mode::Apply, |_| {}).await
}

async fn run(world: &World, transport: &Scripted, mode: Mode, during: impl FnOnce(engine::Stopper)) -> Ran {
    run_with(world, transport, mode, (Secrets::default(), engine::Consent::given()), during).await
}

async fn run_with(
    world: &World,
    transport: &Scripted,
    mode: Mode,
    (secrets, consent): (Secrets, engine::Consent),
    during: impl FnOnce(engine::Stopper),
) -> Ran {
    let (stopper, cancel) = engine::channel();
    during(stopper);
    let (context, receiver) = context(world, transport, mode, (secrets, consent), cancel);
    let report = engine::run(context, "apply").await;
    let ran = Ran::new(report, receiver);
    assert!(world.directory.path().exists());
    ran
}

/// What a run has to do with.
fn context(
    world: &World,
    transport: &Scripted,
    mode: Mode,
    (secrets, consent): (Secrets, engine::Consent),
    cancel: engine::Cancel,
) -> (Arc<Context>, UnboundedReceiver<Event>) {
    let project =
        project::load(&world.inventory, &LoadOptions::default()).unwrap_or_else(|error| panic!("{error}"));
    let (emitter, receiver) = Emitter::new("run1", None);
    let index = |name: &str| project.hosts.iter().find(|host| host.name == name).map(|host| host.index);
    let fleet = SharedFacts::recorded(&world.recorded, NOW, index);
    let context = Arc::new(Context {
        reboots: tokio::sync::Semaphore::new(project.policy.reboots()),
        project: Arc::new(project),
        transport: Arc::new(transport.clone()),
        emitter: Arc::new(emitter),
        mode,
        deadlines: Deadlines::default(),
        cancel,
        secrets,
        controller: "me@here/1".to_owned(),
        alive: Box::new(|run| run == "alive1"),
        queries: world.queries.clone(),
        expected: world.expected.clone(),
        consent,
        fleet: Arc::new(fleet),
        watch: None,
    });
    (context, receiver)
}

/// Hosts on which every task succeeds.
fn healthy() -> Scripted {
    Scripted::new([Reply::part("lock").output(LOCK), Reply::part("task").output("ended 0\ndone\n")])
}

const TWO: &str = "name: two\ntasks:\n  - name: one\n    command: { run: [tool-alpha] }\n  - name: two\n    command: { run: [tool-beta] }\n";

#[tokio::test(start_paused = true)]
async fn all_hosts_run_all_tasks() {
    let ran = apply(&world("{}", TWO), &healthy()).await;
    assert_eq!(ran.report.stats.ok, 4);
    assert_eq!(ran.report.stats.tasks.ran, 8);
    assert!(matches!(ran.outcome("gpu0", "one"), Outcome::Ran { output, .. } if output == "done\n"));
}

#[tokio::test(start_paused = true)]
async fn the_same_question_for_two_users_is_asked_twice() {
    let playbook = "name: u\ntasks:\n  - name: root\n    command: { run: [tool-alpha], unless: [look-alpha] }\n  - name: rider\n    become_user: rider\n    command: { run: [tool-alpha], unless: [look-alpha] }\n";
    let transport = healthy();
    transport.first(Reply::part("ask").with("rider").output("\nasked\n"));
    transport.first(Reply::part("ask").on("gpu0").with("rider").output("no user\n"));
    let ran = apply(&world("{}", playbook), &transport).await;
    assert_eq!((ran.report.stats.ok, ran.report.stats.failed), (3, 1));
    assert!(matches!(ran.outcome("gpu1", "rider"), Outcome::Unchanged));
    assert!(matches!(ran.outcome("gpu0", "root"), Outcome::Unchanged));
    let Outcome::Failed(failure) = ran.outcome("gpu0", "rider") else { panic!("{:?}", ran.record) };
    assert!(failure.message.contains("there is no such user on the host"), "{failure:?}");
    let asked = transport.sent().into_iter().filter(|sent| sent.host == "gpu0" && sent.part == "ask");
    assert_eq!(asked.filter(|sent| sent.text.contains("look-alpha")).count(), 2);
    assert!(!transport.parts("gpu0").contains(&"task".to_owned()), "nothing is changed on a guess");
}

#[tokio::test(start_paused = true)]
async fn an_unreachable_host_leaves_the_others_alone() {
    let transport = healthy();
    transport.first(Reply::open().on("gpu1").fail(ConnectKind::Refused).output("Connection refused"));
    transport.first(Reply::open().on("gpu2").hang());
    let ran = apply(&world("{}", TWO), &transport).await;
    assert_eq!((ran.report.stats.ok, ran.report.stats.unreachable), (2, 2));
    assert!(matches!(
        ran.status("gpu1"),
        HostStatus::Unreachable { kind: ConnectKind::Refused, hint: Some(_), .. }
    ));
}

#[tokio::test(start_paused = true)]
async fn a_failed_task_stops_its_host_only() {
    let transport = healthy();
    transport.first(Reply::part("task").on("gpu3").with("tool-alpha").output("ended 7\nE: broken\n"));
    let ran = apply(&world("{}", TWO), &transport).await;
    assert_eq!((ran.report.stats.ok, ran.report.stats.failed), (3, 1));
    let Outcome::Failed(failure) = ran.outcome("gpu3", "one") else { panic!() };
    assert_eq!(failure.message, "E: broken (status 7)");
    assert!(matches!(ran.outcome("gpu3", "two"), Outcome::Skipped(reason) if reason.contains("not reached")));
}

#[tokio::test(start_paused = true)]
async fn a_task_past_its_deadline_is_ended_and_named() {
    let transport = healthy();
    transport.first(Reply::part("task").on("gpu0").with("tool-beta").hang());
    let ran = apply(&world("{}", TWO), &transport).await;
    let Outcome::Failed(failure) = ran.outcome("gpu0", "two") else {
        panic!("{:?}", ran.record.hosts["gpu0"])
    };
    assert!(failure.message.contains("deadline of 10m"), "{failure:?}");
    assert!(transport.parts("gpu0").contains(&"revive".to_owned()));
    assert!(transport.parts("gpu0").contains(&"end-task".to_owned()));
    assert_eq!(ran.report.stats.ok, 3);
}

#[tokio::test(start_paused = true)]
async fn a_lost_connection_is_followed_in_the_spool() {
    let transport = Scripted::new([
        Reply::part("lock").output(LOCK),
        Reply::part("task").on("gpu0").with("tool-alpha").times(1).lose(),
        Reply::part("follow").output("ended 0\nall of it\n"),
        Reply::part("task").output("ended 0\ndone\n"),
    ])
    .answer({
        let asked = std::sync::Mutex::new(BTreeMap::new());
        move |sent| {
            // The second look at gpu0's state directory finds the task there.
            if sent.part != "state" || sent.host != "gpu0" {
                return None;
            }
            let mut asked = asked.lock().unwrap();
            let number: &mut u32 = asked.entry(sent.host.clone()).or_insert(0);
            *number += 1;
            if *number == 1 { Some(Reply::default()) } else { None }
        }
    });
    // Whatever the key is, the spool has it: the reply is built from what was sent.
    let keys = transport.clone();
    let transport = transport.answer(move |sent| {
        if sent.part != "state" || sent.host != "gpu0" {
            return None;
        }
        let sent_task = keys.sent().into_iter().find(|sent| sent.part == "task" && sent.host == "gpu0")?;
        let key = sent_task
            .text
            .lines()
            .find(|line| line.len() == 16 && line.chars().all(|c| c.is_ascii_hexdigit()))?
            .to_owned();
        Some(Reply::default().output(format!("version\t1\nspool\t{key}\trunning\t\trun1\t./site.yaml/one\n")))
    });
    let ran = apply(&world("{}", TWO), &transport).await;
    assert_eq!(ran.report.stats.ok, 4, "{:?}", ran.record);
    assert!(matches!(ran.outcome("gpu0", "one"), Outcome::Ran { output, .. } if output == "all of it\n"));
    let tasks = transport.sent().into_iter().filter(|sent| sent.host == "gpu0" && sent.part == "task");
    assert_eq!(tasks.filter(|sent| sent.text.contains("tool-alpha")).count(), 1, "it must not be run again");
    assert!(
        ran.events
            .iter()
            .any(|event| matches!(&event.kind, EventKind::HostLost { host, .. } if host == "gpu0"))
    );
}

#[tokio::test(start_paused = true)]
async fn a_change_that_never_arrived_is_sent_again() {
    let transport = healthy();
    transport.first(Reply::part("task").on("gpu0").with("tool-alpha").times(1).lose());
    let ran = apply(&world("{}", TWO), &transport).await;
    assert_eq!(ran.report.stats.ok, 4);
    let sent = transport.sent().into_iter().filter(|sent| sent.host == "gpu0" && sent.part == "task");
    assert_eq!(sent.filter(|sent| sent.text.contains("tool-alpha")).count(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_host_that_never_comes_back_is_quarantined_within_the_budget() {
    let transport = healthy();
    transport.first(Reply::open().on("gpu0").fail(ConnectKind::NoRoute).output("No route to host"));
    transport.first(Reply::open().on("gpu0").times(1));
    transport.first(Reply::part("task").on("gpu0").lose());
    let began = tokio::time::Instant::now();
    let ran = apply(&world("{}", TWO), &transport).await;
    assert!(
        matches!(ran.status("gpu0"), HostStatus::Quarantined { reason } if reason.contains("not back within 2m"))
    );
    assert!(began.elapsed() < Duration::from_secs(121), "{:?}", began.elapsed());
    assert_eq!(ran.report.stats.ok, 3);
}

#[expect(clippy::disallowed_methods, reason = "the other side of what is tested")]
#[tokio::test(start_paused = true)]
async fn first_ctrl_c_lets_tasks_end_and_starts_nothing() {
    let transport = healthy();
    transport.first(Reply::part("task").with("tool-alpha").after(Duration::from_mins(1)).output("ended 0\n"));
    let ran = run(&world("{}", TWO), &transport, Mode::Apply, |stopper| {
        tokio::spawn(async move {
            tokio::time::sleep(Duration::from_secs(30)).await;
            stopper.ask(Stop::Finish);
        });
    })
    .await;
    assert!(ran.report.stopped);
    assert!(matches!(ran.outcome("gpu0", "one"), Outcome::Ran { .. }));
    assert!(matches!(ran.outcome("gpu0", "two"), Outcome::Skipped(_)));
}

#[expect(clippy::disallowed_methods, reason = "the other side of what is tested")]
#[tokio::test(start_paused = true)]
async fn second_ctrl_c_ends_tasks() {
    let transport = healthy();
    transport.first(Reply::part("task").with("tool-alpha").hang());
    let ran = run(&world("{}", TWO), &transport, Mode::Apply, |stopper| {
        tokio::spawn(async move {
            tokio::time::sleep(Duration::from_secs(30)).await;
            stopper.ask(Stop::End);
        });
    })
    .await;
    let Outcome::Failed(failure) = ran.outcome("gpu0", "one") else { panic!() };
    assert!(failure.message.contains("Ctrl-C"));
    assert!(transport.parts("gpu0").contains(&"end-task".to_owned()));
}

#[tokio::test(start_paused = true)]
async fn a_host_locked_by_another_run_is_left_alone() {
    let transport = healthy();
    transport
        .first(Reply::part("lock").on("gpu0").output("busy run9 you@there/2 4711 100\n/run/provision\n"));
    let ran = apply(&world("{}", TWO), &transport).await;
    let Outcome::Failed(failure) = ran.outcome("gpu0", "one") else { panic!() };
    assert!(failure.message.contains("run run9 of controller you@there/2"), "{failure:?}");
    assert!(ran.report.locked);
    assert_eq!(ran.report.stats.ok, 3);
}

#[tokio::test(start_paused = true)]
async fn the_lock_of_a_dead_controller_is_taken_over() {
    let transport = healthy();
    transport.first(
        Reply::part("lock").on("gpu0").times(1).output("busy run9 me@here/1 4711 100\n/run/provision\n"),
    );
    let ran = apply(&world("{}", TWO), &transport).await;
    assert_eq!(ran.report.stats.ok, 4);
    assert!(transport.parts("gpu0").contains(&"take-over".to_owned()));
}

/// A file task, and what a container is asked for it: the texts of its `file` parts.
async fn asked_for(task: &str) -> Vec<String> {
    let playbook = format!("name: g\ntasks:\n  - name: guessed\n    file: {{ {task}, content: x }}\n");
    let transport = healthy();
    transport.first(Reply::part("base.virtualization").output("docker\n"));
    let paths = "absent /etc/container\nabsent /etc/machine\nstat 0:0:41ed:9:1:1:1:/etc\n";
    transport.first(Reply::part("file").output(paths));
    let ran = run(&world("{}", &playbook), &transport, Mode::Plan, |_| {}).await;
    let planned = &ran.record.hosts["gpu0"].plan;
    assert!(matches!(planned[0].verdict, PlannedVerdict::Changes(_)), "{planned:?}");
    let sent = transport.sent().into_iter();
    sent.filter(|sent| sent.host == "gpu0" && sent.part == "file").map(|sent| sent.text).collect()
}

#[tokio::test(start_paused = true)]
async fn what_waits_for_facts_is_guessed_in_the_first_exec() {
    // A specimen is a machine; here the facts do not change what is asked.
    let right =
        asked_for("path: /etc/machine, mode: \"{{ '0600' if facts.virtualization.container else '0644' }}\"")
            .await;
    assert_eq!(right.len(), 1, "{right:?}");
    let wrong =
        asked_for("path: \"/etc/{{ 'container' if facts.virtualization.container else 'machine' }}\"").await;
    assert_eq!(wrong.len(), 2, "{wrong:?}");
    assert!(wrong[0].contains("/etc/machine") && wrong[1].contains("/etc/container"), "{wrong:?}");
}

const NOTIFYING: &str = "name: n\ntasks:\n  - name: change\n    command: { run: [edit, it] }\n    notify: tell\nhandlers:\n  - name: tell\n    command: { run: [reload, it] }\n";

#[tokio::test(start_paused = true)]
async fn a_handler_runs_once_and_its_notification_is_cleared() {
    let transport = healthy();
    let ran = apply(&world("{}", NOTIFYING), &transport).await;
    assert_eq!(ran.report.stats.tasks.ran, 8);
    assert_eq!(transport.parts("gpu0").iter().filter(|part| *part == "tidy").count(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_notification_of_a_killed_run_is_planned_and_run() {
    let playbook = NOTIFYING;
    let id = "version\t1\nnotify\t./site.yaml/tell\n";
    let state = Reply::part("state").output(id);
    let transport = healthy();
    transport.first(state);
    let ran = run(&world("{}", playbook), &transport, Mode::Plan, |_| {}).await;
    let planned = &ran.record.hosts["gpu0"].plan;
    assert!(
        planned.iter().any(|task| task.task.name == "tell" && task.pending_since.is_some()),
        "{planned:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn work_of_an_earlier_run_is_followed_and_not_repeated() {
    let transport = healthy();
    let spool = "version\t1\nspool\tabc\trunning\t\trun0\t./site.yaml/one\n";
    transport.first(Reply::part("state").on("gpu0").output(spool));
    transport.first(Reply::part("follow").after(Duration::from_mins(1)).output("ended 0\nlong work\n"));
    let ran = apply(&world("{}", TWO), &transport).await;
    assert!(matches!(ran.outcome("gpu0", "one"), Outcome::Ran { output, .. } if output == "long work\n"));
    let again = transport
        .sent()
        .into_iter()
        .any(|s| s.host == "gpu0" && s.part == "task" && s.text.contains("tool-alpha"));
    assert!(!again);
}

#[tokio::test(start_paused = true)]
async fn a_newer_state_directory_is_refused() {
    let transport = healthy();
    transport.first(Reply::part("state").on("gpu0").output("version\t99\n"));
    let ran = apply(&world("{}", TWO), &transport).await;
    assert!(matches!(ran.status("gpu0"), HostStatus::Quarantined { reason } if reason.contains("newer")));
    assert_eq!(ran.report.stats.ok, 3);
}

const STOPPED: &str = "name: n\ntasks:\n  - name: change\n    command: { run: [edit, it] }\n    notify: tell\n  - name: breaks\n    command: { run: [break, it] }\nhandlers:\n  - name: tell\n    command: { run: [reload, it] }\n";

/// Whether a host was told to run this.
fn ran_on(transport: &Scripted, host: &str, word: &str) -> bool {
    let sent = transport.sent().into_iter();
    sent.filter(|sent| sent.host == host && ["task", "batch"].contains(&sent.part.as_str()))
        .any(|sent| sent.text.contains(word))
}

/// What `tidy` was told to forget on a host.
fn tidied(transport: &Scripted, host: &str) -> Vec<String> {
    let sent = transport.sent().into_iter().filter(|sent| sent.host == host && sent.part == "tidy");
    sent.map(|sent| sent.text).collect()
}

#[tokio::test(start_paused = true)]
async fn a_run_that_stops_tells_which_handlers_wait_and_the_next_one_runs_them() {
    let transport = healthy().answer(|sent| {
        let fails = sent.part == "task" && sent.host == "gpu1" && sent.text.contains("break");
        fails.then(|| Reply::default().output("ended 1\nno\n"))
    });
    let ran = apply(&world("{}", STOPPED), &transport).await;
    assert_eq!(ran.record.hosts["gpu1"].handlers, ["tell"]);
    assert!(ran.record.hosts["gpu0"].handlers.is_empty(), "it ran there");
    assert!(!ran_on(&transport, "gpu1", "reload"));
    // The host has it as the run wrote it.
    let note = ran_note(&transport, "gpu1");
    let transport = healthy();
    let left = format!("version\t1\nnotify\t./site.yaml/tell\tt\tnew\t{note}\n");
    transport.first(Reply::part("state").on("gpu1").output(left));
    // Nothing notifies it anew.
    let playbook = STOPPED.replace("run: [edit, it]", "run: [edit, it], creates: /");
    transport.first(Reply::part("file").output("stat 0:0:41ed:9:1:1:1:/\n"));
    let ran = apply(&world("{}", &playbook), &transport).await;
    assert_eq!(ran.report.stats.ok, 4);
    assert!(ran_on(&transport, "gpu1", "reload") && !ran_on(&transport, "gpu0", "reload"));
    assert!(tidied(&transport, "gpu1")[0].contains(&note));
    assert!(ran.record.hosts["gpu1"].handlers.is_empty());
}

/// Name of the file in which a run noted its notification.
fn ran_note(transport: &Scripted, host: &str) -> String {
    let key = engine::state::notify_key("t", "./site.yaml/tell");
    let sent = transport.sent().into_iter().find(|sent| sent.host == host && sent.text.contains("edit"));
    let text = sent.unwrap().text;
    assert!(text.contains(&key), "{text}");
    key
}

#[tokio::test(start_paused = true)]
async fn the_run_of_another_inventory_keeps_what_waits() {
    let transport = healthy();
    // The same id, of another cluster; one of this cluster that only another inventory has; one that is old.
    let left = "version\t1\nnotify\t./site.yaml/tell\tother\tnew\tk1\nnotify\tdoca/boot\tt\tnew\tk2\nnotify\tgone/x\tt\told\tk3\n";
    transport.first(Reply::part("state").on("gpu1").output(left));
    let ran = apply(&world("{}", NOTIFYING), &transport).await;
    assert_eq!(ran.report.stats.ok, 4);
    let told = &ran.record.hosts["gpu1"];
    assert_eq!(told.handlers, ["doca/boot"]);
    let warned = told.warnings.join("\n");
    assert!(
        warned.contains("`./site.yaml/tell` was notified by a run of cluster other and waits"),
        "{warned}"
    );
    assert!(
        warned.contains("`gone/x`, a handler that no playbook here has; the notification is dropped"),
        "{warned}"
    );
    let forgotten = tidied(&transport, "gpu1").join("\n");
    assert!(forgotten.contains("k3"), "{forgotten}");
    assert!(!forgotten.contains("k1") && !forgotten.contains("k2"), "{forgotten}");
    // The own handler of that id ran because this run notified it, and that is what was cleared.
    assert!(forgotten.contains(&engine::state::notify_key("t", "./site.yaml/tell")), "{forgotten}");
}
