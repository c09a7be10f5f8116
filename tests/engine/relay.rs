//! A run that Slurm carries, on a scripted host with Slurm.

use super::*;
use provision::events::{RunStats, TaskCounts};
use provision::relay::{self, Job, Lines};

/// What `sinfo` says.
const NODES: &str = "gpu0|idle|gpu:2|comp|none\ngpu1|idle|gpu:2|comp|none\ngpu2|idle|gpu:2|comp|none\n";

/// What a node tells that has done its part, until its end with an exit code unless that is cut.
fn events(about: &str, exit_code: Option<u8>) -> Vec<EventKind> {
    let mut kinds =
        vec![EventKind::Warning { host: Some(about.to_owned()), message: format!("about {about}") }];
    if let Some(exit_code) = exit_code {
        let tasks = TaskCounts { changed: 2, ..TaskCounts::default() };
        kinds.push(finished(about, HostStatus::Ok, tasks));
        kinds.push(ended(tasks, exit_code));
    }
    kinds
}

fn finished(host: &str, status: HostStatus, tasks: TaskCounts) -> EventKind {
    EventKind::HostFinished { host: host.to_owned(), status, tasks, seconds: 1.0 }
}

fn ended(tasks: TaskCounts, exit_code: u8) -> EventKind {
    let stats = RunStats { hosts: 1, ok: 1, tasks, ..RunStats::default() };
    EventKind::RunFinished { stats, exit_code, seconds: 1.0 }
}

/// These events with the label that srun puts before the lines of a task.
fn told(task: usize, kinds: Vec<EventKind>) -> String {
    let mut out = Vec::new();
    for (seq, kind) in (0..).zip(kinds) {
        let at = "2026-01-01T00:00:00Z".parse().unwrap();
        Lines::new(&mut out).write(&Event { run: "n".to_owned(), seq, at, elapsed: 0.0, kind }).unwrap();
    }
    labelled(task, &String::from_utf8(out).unwrap())
}

/// Lines as `srun --label` gives them.
fn labelled(task: usize, text: &str) -> String {
    text.lines().fold(String::new(), |all, line| all + &format!("{task}: {line}\n"))
}

fn lines(task: usize, about: &str, exit_code: Option<u8>) -> String {
    told(task, events(about, exit_code))
}

/// What `poll.sh` prints.
fn poll(head: &str, output: &str) -> Reply {
    Reply::part("poll").output(format!("{head}\n\n{output}")).times(1)
}

async fn carried(transport: &Scripted) -> (Ran, Vec<u8>) {
    carried_with(transport, &[], &[]).await
}

/// With these values of secrets, and which host needs which.
async fn carried_with(
    transport: &Scripted,
    values: &[(&str, &str)],
    needs: &[(&str, &str)],
) -> (Ran, Vec<u8>) {
    let world = world("{}", TWO);
    std::fs::write(world.directory.path().join("file"), "x").unwrap();
    let (_stopper, cancel) = engine::channel();
    let given = (Secrets::default(), engine::Consent::given());
    let (context, receiver) = context(&world, transport, Mode::Apply, given, cancel);
    let file = Utf8PathBuf::from_path_buf(world.directory.path().join("file")).unwrap();
    let job = Job {
        at: context.project.hosts[3].clone(),
        words: vec!["apply".to_owned()],
        program: file.clone(),
        bundle: file,
        secrets: values
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned().into()))
            .collect(),
        needs: needs
            .iter()
            .map(|(host, name)| ((*host).to_owned(), [(*name).to_owned()].into_iter().collect()))
            .collect(),
        exclusive: true,
    };
    let (report, codes) = relay::run(context, "apply", &job).await;
    (Ran::new(report, receiver), codes)
}

/// The jobs that were started.
fn starts(transport: &Scripted) -> Vec<provision::transport::Sent> {
    transport.sent().into_iter().filter(|sent| sent.part == "start").collect()
}

fn slurm(nodes: &str) -> Scripted {
    Scripted::new([
        Reply::part("sinfo").output(nodes),
        Reply::part("directory").output("/var/tmp/provision.x\n"),
        Reply::part("program"),
        Reply::part("start"),
        Reply::part("clean"),
    ])
}

#[tokio::test(start_paused = true)]
async fn nodes_tell_what_they_did_and_the_others_why_not() {
    let transport = slurm(&NODES.replace("gpu1|idle|gpu:2|comp|none", "gpu1|drained|gpu:2|comp|cable"));
    // The second task is on the second node of the job.
    let (one, two) = (lines(0, "gpu0", Some(0)), lines(1, "gpu2", Some(7)));
    let (begin, end) = two.split_at(40);
    transport.first(poll("ended=0\njob=9", ""));
    transport.first(poll("ended=0\njob=9", end));
    transport.first(poll("ended=\njob=9", &format!("{one}{begin}")));
    transport.first(poll("ended=\njob=", ""));
    let (ran, codes) = carried(&transport).await;
    assert_eq!((ran.report.stats.hosts, ran.report.stats.ok, ran.report.stats.unreachable), (4, 2, 2));
    assert_eq!((ran.report.stats.tasks.changed, codes), (4, vec![7]));
    assert_eq!(ran.record.hosts["gpu2"].warnings, ["about gpu2"]);
    let reason = |host: &str| match ran.status(host) {
        HostStatus::Unreachable { reason, .. } => reason.clone(),
        other => panic!("{other:?}"),
    };
    assert_eq!(reason("gpu1"), "Slurm has the node as drained: cable");
    assert_eq!(reason("gpu3"), "Slurm has no node of this name");
    let HostStatus::Unreachable { hint: Some(hint), .. } = ran.status("gpu3") else { panic!() };
    assert_eq!(hint, "leave it out with `--hosts`, and reach it over ssh");
    let start = starts(&transport);
    assert_eq!(start.len(), 1);
    assert!(start[0].text.contains("gpu[0,2]"), "{}", start[0].text);
}

#[tokio::test(start_paused = true)]
async fn a_job_that_is_killed_leaves_no_host_without_a_word() {
    let transport = slurm(NODES);
    transport.first(poll("ended=137\njob=9\nerror=srun: error: eio_message_socket_accept", ""));
    let said = lines(0, "gpu0", Some(0)) + &lines(1, "gpu1", None);
    transport.first(poll("ended=\njob=9", &said));
    let (ran, _) = carried(&transport).await;
    assert_eq!(*ran.status("gpu0"), HostStatus::Ok);
    let HostStatus::Quarantined { reason } = ran.status("gpu1") else { panic!("{:?}", ran.record) };
    assert_eq!(reason, "the job of Slurm ended with 137: srun: error: eio_message_socket_accept");
    assert!(matches!(ran.status("gpu2"), HostStatus::Unreachable { .. }));
    assert_eq!((ran.report.stats.ok, ran.report.stats.unreachable), (1, 3));
}

#[tokio::test(start_paused = true)]
async fn a_node_that_cannot_be_given_the_files_does_not_keep_the_others() {
    let transport = slurm(NODES);
    transport.first(poll("ended=0\njob=10", ""));
    let all = lines(0, "gpu0", Some(0)) + &lines(1, "gpu1", Some(0));
    transport.first(poll("ended=0\njob=10", &all));
    let lost = "sbcast: error: REQUEST_FILE_BCAST(gpu2): Communication connection failure";
    transport.first(poll(&format!("ended=1\njob=9\nerror={lost}\nerror=salloc: revoked"), ""));
    let (ran, _) = carried(&transport).await;
    assert_eq!((ran.report.stats.ok, ran.report.stats.unreachable), (2, 2));
    assert!(
        matches!(ran.status("gpu2"), HostStatus::Unreachable { reason, .. } if reason == lost),
        "{:?}",
        ran.status("gpu2")
    );
    let start = starts(&transport);
    assert_eq!(start.len(), 2);
    assert!(start[1].text.contains("gpu[0-1]"), "{}", start[1].text);
}

#[tokio::test(start_paused = true)]
async fn a_slurmd_that_is_older_than_the_commands_is_told() {
    let transport = slurm(NODES);
    let said =
        "sbcast: error: slurm_receive_msgs: [gpu2:6818] failed: Zero Bytes were transmitted or received";
    transport.first(poll("ended=0\njob=10", ""));
    transport.first(poll("ended=0\njob=10", &(lines(0, "gpu0", Some(0)) + &lines(1, "gpu1", Some(0)))));
    transport.first(poll(&format!("ended=1\njob=9\nerror={said}"), ""));
    let (ran, _) = carried(&transport).await;
    let HostStatus::Unreachable { hint: Some(hint), .. } = ran.status("gpu2") else {
        panic!("{:?}", ran.record)
    };
    assert!(hint.contains("older release") && hint.contains("--engine-at"), "{hint}");
}

/// Another job took a node between the look at the nodes and the job; Slurm names none.
#[tokio::test(start_paused = true)]
async fn a_node_that_is_taken_meanwhile_does_not_keep_the_others() {
    let transport = slurm(&NODES.replace("gpu1|idle", "gpu1|mixed+"));
    transport.first(Reply::part("sinfo").output(NODES).times(1));
    transport.first(poll("ended=0\njob=10", ""));
    let all = lines(0, "gpu0", Some(0)) + &lines(1, "gpu2", Some(0));
    transport.first(poll("ended=0\njob=10", &all));
    let busy = "salloc: error: Unable to allocate resources: Requested nodes are busy";
    transport.first(poll(&format!("ended=1\njob=\nerror={busy}"), ""));
    let (ran, _) = carried(&transport).await;
    assert_eq!((ran.report.stats.ok, ran.report.stats.unreachable), (2, 2));
    let HostStatus::Unreachable { reason, .. } = ran.status("gpu1") else { panic!("{:?}", ran.record) };
    assert_eq!(reason, "Slurm has the node as mixed+: jobs run on it");
    let start = starts(&transport);
    assert_eq!(start.len(), 2);
    assert!(start[1].text.contains("gpu[0,2]"), "{}", start[1].text);
}

/// One partition holds a job; which, is said where it is not the default one.
#[tokio::test(start_paused = true)]
async fn nodes_of_two_partitions_are_two_jobs() {
    let transport = slurm(
        "gpu0|idle|gpu:2|comp*|none\ngpu1|idle|gpu:2|comp*|none\ngpu1|idle|gpu:2|all|none\ngpu2|idle|gpu:2|big|none\n",
    );
    transport.first(poll("ended=0\njob=10", ""));
    let two = lines(0, "gpu0", Some(0)) + &lines(1, "gpu1", Some(0));
    transport.first(poll("ended=0\njob=10", &two));
    transport.first(poll("ended=0\njob=9", ""));
    transport.first(poll("ended=0\njob=9", &lines(0, "gpu2", Some(0))));
    let (ran, _) = carried(&transport).await;
    let start = starts(&transport);
    assert_eq!(start.len(), 2, "{:?}", ran.record);
    let parts = |at: usize| (start[at].text.contains("gpu2"), start[at].text.contains("big"));
    assert_eq!((parts(0), parts(1)), ((true, true), (false, false)), "{start:?}");
}

/// What comes of three nodes when the first says this and the others did their part: exit codes, and how the first
/// ended.
async fn beside(lie: &str) -> (Ran, Vec<u8>, HostStatus) {
    let transport = slurm(NODES);
    transport.first(poll("ended=0\njob=9", ""));
    let others = lines(1, "gpu1", Some(0)) + &lines(2, "gpu2", Some(0));
    transport.first(poll("ended=0\njob=9", &format!("{lie}{others}")));
    let (ran, mut codes) = carried(&transport).await;
    for name in ["gpu1", "gpu2"] {
        assert_eq!(*ran.status(name), HostStatus::Ok, "{lie}\n{:?}", ran.record);
        assert_eq!(ran.record.hosts[name].warnings, [format!("about {name}")], "{lie}");
    }
    codes.extend(engine::exit_code(&ran.report.stats, 1, false));
    let status = ran.status("gpu0").clone();
    (ran, codes, status)
}

#[tokio::test(start_paused = true)]
async fn a_node_speaks_for_itself_alone() {
    // Nothing of the others is said by their own nodes here.
    let transport = slurm(NODES);
    transport.first(poll("ended=0\njob=9", ""));
    let said = lines(0, "gpu1", Some(0)) + "2: error: the bundle is damaged\n";
    transport.first(poll("ended=0\njob=9", &said));
    let (ran, _) = carried(&transport).await;
    assert!(ran.record.hosts["gpu1"].warnings.is_empty(), "{:?}", ran.record);
    assert!(matches!(ran.status("gpu1"), HostStatus::Unreachable { .. }));
    let HostStatus::Quarantined { reason } = ran.status("gpu0") else { panic!("{:?}", ran.record) };
    assert_eq!(reason, "what it says cannot be: it speaks for another host");
    assert!(
        matches!(ran.status("gpu2"), HostStatus::Quarantined { reason } if reason == "error: the bundle is damaged")
    );
}

/// Each ends the node that says it, and nobody else.
#[tokio::test(start_paused = true)]
async fn a_lie_is_the_liars_own() {
    let tasks = TaskCounts::default();
    let many = TaskCounts { failed: u64::MAX, changed: u64::MAX, ..TaskCounts::default() };
    let ok = || finished("gpu0", HostStatus::Ok, tasks);
    let away = || HostStatus::Quarantined { reason: "so".to_owned() };
    let by_hand = EventKind::HostMaintenance {
        host: "gpu0".to_owned(),
        phase: provision::events::MaintenancePhase::LeftDrained,
        why: "x".to_owned(),
        by_hand: Some("rm -rf /".to_owned()),
    };
    let long = EventKind::HostConnected { host: "gpu0".to_owned(), seconds: -1e300 };
    let batch = lines(0, "gpu0", Some(0));
    let lies = [
        ("ended well for another", told(0, events("gpu2", Some(0)))),
        ("failed for another, by the line", labelled(0, &lines(1, "gpu1", Some(5)))),
        ("another's event is missing", "0: provision-event gpu1 9999 0 . {}\n".to_owned()),
        ("away, and its run ended well", told(0, vec![finished("gpu0", away(), tasks), ended(tasks, 0)])),
        (
            "failed, and its run ended well",
            told(0, vec![finished("gpu0", HostStatus::Failed, tasks), ended(tasks, 0)]),
        ),
        ("well, and its run was none", told(0, vec![ok(), ended(tasks, 1)])),
        ("well, and its lock was held", told(0, vec![ok(), ended(tasks, 8)])),
        ("well twice", told(0, vec![ok(), ok(), ended(tasks, 0)])),
        (
            "well, then failed",
            told(0, vec![ok(), finished("gpu0", HostStatus::Failed, tasks), ended(tasks, 5)]),
        ),
        ("more tasks than there are", told(0, vec![finished("gpu0", HostStatus::Ok, many), ended(tasks, 0)])),
        ("sums of more than there are", told(0, vec![ok(), ended(many, 0)])),
        (
            "offline",
            told(0, vec![finished("gpu0", HostStatus::Offline("x".to_owned()), tasks), ended(tasks, 0)]),
        ),
        ("a command for a person", told(0, vec![by_hand, ok(), ended(tasks, 0)])),
        ("time that was not", told(0, vec![long, ok(), ended(tasks, 0)])),
        ("a gap", batch.replace("\"seq\":1", "\"seq\":9999")),
        ("numbers that are none", batch.replace("\"seq\":0", "\"seq\":18446744073709551615")),
        ("no JSON", "0: \u{1e}{\u{1f}\n".to_owned()),
    ];
    for (name, lie) in lies {
        let (ran, codes, status) = beside(&lie).await;
        assert!(matches!(status, HostStatus::Quarantined { .. }), "{name}: {status:?}");
        let stats = &ran.report.stats;
        assert_eq!((stats.hosts, stats.ok, stats.unreachable), (4, 2, 2), "{name}");
        assert_eq!((stats.tasks.changed, stats.tasks.failed), (4, 0), "{name}");
        assert_eq!(codes, [4], "{name}: the exit code");
        assert!(ran.record.left_drained.is_empty(), "{name}");
    }
}

/// It tells what another host's task does, and who reads the report sees nothing of it.
#[tokio::test(start_paused = true)]
async fn a_flood_ends_the_one_who_makes_it() {
    let warning = |number: u64| EventKind::Warning { host: None, message: format!("{number}") };
    let (ran, codes, status) = beside(&told(0, (0..5000).map(warning).collect())).await;
    assert!(matches!(status, HostStatus::Quarantined { reason } if reason.contains("1000 warnings")));
    assert_eq!((ran.record.hosts["gpu0"].warnings.len(), codes), (1000, vec![4]));
}

/// Of secrets a node is given those that its own tasks need.
#[tokio::test(start_paused = true)]
async fn nodes_with_other_secrets_are_another_job() {
    let transport = slurm(NODES);
    for (number, last) in [(2, vec![(0, "gpu0"), (1, "gpu1")]), (1, vec![(0, "gpu2")])] {
        transport.first(poll(&format!("ended=0\njob={number}"), ""));
        let all: String = last.into_iter().map(|(task, name)| lines(task, name, Some(0))).collect();
        transport.first(poll(&format!("ended=0\njob={number}"), &all));
    }
    let values = [("a", "first-value"), ("b", "second-value")];
    let needs = [("gpu0", "a"), ("gpu1", "a"), ("gpu2", "b")];
    let (ran, _) = carried_with(&transport, &values, &needs).await;
    assert_eq!(ran.report.stats.ok, 3, "{:?}", ran.record);
    let jobs: Vec<bool> = starts(&transport).iter().map(|start| start.text.contains("gpu2")).collect();
    assert_eq!(jobs, [true, false]);
}

#[tokio::test(start_paused = true)]
async fn a_node_that_slurm_lost_does_not_hold_the_run() {
    let transport = slurm(&NODES.replace("gpu2|idle", "gpu2|down*"));
    transport.first(poll("ended=137\njob=9", ""));
    // The job goes on for the others until it is ended.
    transport.first(Reply::part("poll").output("ended=\njob=9\n\n").times(170));
    let said = lines(0, "gpu0", Some(0)) + &lines(1, "gpu1", Some(0)) + &lines(2, "gpu2", None);
    transport.first(poll("ended=\njob=9", &said));
    transport.first(Reply::part("sinfo").output(NODES).times(1));
    transport.first(Reply::part("signal"));
    let (ran, _) = carried(&transport).await;
    let HostStatus::Quarantined { reason } = ran.status("gpu2") else { panic!("{:?}", ran.record) };
    assert_eq!(reason, "Slurm has the node as down*: its part of the job is lost");
    assert_eq!((ran.report.stats.ok, ran.report.stats.unreachable), (2, 2));
    let signal = transport.sent().into_iter().rfind(|sent| sent.part == "signal").unwrap();
    assert!(signal.text.contains("KILL"));
}

/// It says something and then nothing more, and Slurm sees that its task goes on.
#[tokio::test(start_paused = true)]
async fn a_node_that_falls_silent_does_not_hold_the_run_for_ever() {
    let transport = slurm(&NODES.replace("gpu2|idle", "gpu2|allocated"));
    transport.first(poll("ended=137\njob=9\nerror=srun: error: gpu2: task 2: Killed", ""));
    transport.first(Reply::part("poll").output("ended=\njob=9\n\n").times(20_000));
    let said = lines(0, "gpu0", Some(0)) + &lines(1, "gpu1", Some(0)) + &lines(2, "gpu2", None);
    transport.first(poll("ended=\njob=9", &said));
    transport.first(Reply::part("sinfo").output(NODES).times(1));
    transport.first(Reply::part("signal"));
    let (ran, _) = carried(&transport).await;
    assert!(transport.sent().into_iter().any(|sent| sent.part == "signal" && sent.text.contains("KILL")));
    assert!(matches!(ran.status("gpu2"), HostStatus::Quarantined { .. }), "{:?}", ran.record);
    assert_eq!((ran.report.stats.ok, ran.report.stats.unreachable), (2, 2));
}
