//! A run that Slurm carries, on a scripted host with Slurm.

use super::*;
use provision::events::{RunStats, TaskCounts};
use provision::relay::{self, Job, Lines};

/// What `sinfo` says.
const NODES: &str = "gpu0|idle|gpu:2|comp|none\ngpu1|idle|gpu:2|comp|none\ngpu2|idle|gpu:2|comp|none\n";

/// The lines of a node: some events, then its end with an exit code unless it is cut.
fn lines(node: &str, about: &str, exit_code: Option<u8>) -> String {
    let mut kinds =
        vec![EventKind::Warning { host: Some(about.to_owned()), message: format!("from {node}") }];
    if let Some(exit_code) = exit_code {
        let tasks = TaskCounts { changed: 2, ..TaskCounts::default() };
        let stats = RunStats { hosts: 1, ok: 1, tasks, ..RunStats::default() };
        let host = about.to_owned();
        kinds.push(EventKind::HostFinished { host, status: HostStatus::Ok, tasks, seconds: 1.0 });
        kinds.push(EventKind::RunFinished { stats, exit_code, seconds: 1.0 });
    }
    let mut out = Vec::new();
    for (seq, kind) in (0..).zip(kinds) {
        let at = "2026-01-01T00:00:00Z".parse().unwrap();
        Lines::new(&mut out, node)
            .write(&Event { run: "n".to_owned(), seq, at, elapsed: 0.0, kind })
            .unwrap();
    }
    String::from_utf8(out).unwrap()
}

/// What `poll.sh` prints.
fn poll(head: &str, output: &str) -> Reply {
    Reply::part("poll").output(format!("{head}\n\n{output}")).times(1)
}

async fn carried(transport: &Scripted) -> (Ran, Vec<u8>) {
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
        secrets: BTreeMap::new(),
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
    let (one, two) = (lines("gpu0", "gpu0", Some(0)), lines("gpu2", "gpu2", Some(7)));
    let (begin, end) = two.split_at(40);
    transport.first(poll("ended=0\njob=9", ""));
    transport.first(poll("ended=0\njob=9", end));
    transport.first(poll("ended=\njob=9", &format!("{one}{begin}")));
    transport.first(poll("ended=\njob=", ""));
    let (ran, codes) = carried(&transport).await;
    assert_eq!((ran.report.stats.hosts, ran.report.stats.ok, ran.report.stats.unreachable), (4, 2, 2));
    assert_eq!((ran.report.stats.tasks.changed, codes), (4, vec![0, 7]));
    assert_eq!(ran.record.hosts["gpu2"].warnings, ["from gpu2"]);
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
    let said = lines("gpu0", "gpu0", Some(0)) + &lines("gpu1", "gpu1", None);
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
    let all = lines("gpu0", "gpu0", Some(0)) + &lines("gpu1", "gpu1", Some(0));
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

/// Another job took a node between the look at the nodes and the job; Slurm names none.
#[tokio::test(start_paused = true)]
async fn a_node_that_is_taken_meanwhile_does_not_keep_the_others() {
    let transport = slurm(&NODES.replace("gpu1|idle", "gpu1|mixed+"));
    transport.first(Reply::part("sinfo").output(NODES).times(1));
    transport.first(poll("ended=0\njob=10", ""));
    let all = lines("gpu0", "gpu0", Some(0)) + &lines("gpu2", "gpu2", Some(0));
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
    let two = lines("gpu0", "gpu0", Some(0)) + &lines("gpu1", "gpu1", Some(0));
    transport.first(poll("ended=0\njob=10", &two));
    transport.first(poll("ended=0\njob=9", ""));
    transport.first(poll("ended=0\njob=9", &lines("gpu2", "gpu2", Some(0))));
    let (ran, _) = carried(&transport).await;
    let start = starts(&transport);
    assert_eq!(start.len(), 2, "{:?}", ran.record);
    let parts = |at: usize| (start[at].text.contains("gpu2"), start[at].text.contains("big"));
    assert_eq!((parts(0), parts(1)), ((true, true), (false, false)), "{start:?}");
}

#[tokio::test(start_paused = true)]
async fn a_node_speaks_for_itself_alone() {
    let transport = slurm(NODES);
    transport.first(poll("ended=0\njob=9", ""));
    let said = lines("gpu0", "gpu1", Some(0)) + "provision-said gpu2 error: the bundle is damaged\n";
    transport.first(poll("ended=0\njob=9", &said));
    let (ran, _) = carried(&transport).await;
    assert!(ran.record.hosts["gpu1"].warnings.is_empty(), "{:?}", ran.record);
    assert!(matches!(ran.status("gpu1"), HostStatus::Unreachable { .. }));
    // It ended without a word of its own about how.
    assert!(matches!(ran.status("gpu0"), HostStatus::Quarantined { .. }));
    assert!(
        matches!(ran.status("gpu2"), HostStatus::Quarantined { reason } if reason == "error: the bundle is damaged")
    );
}

#[tokio::test(start_paused = true)]
async fn a_node_that_slurm_lost_does_not_hold_the_run() {
    let transport = slurm(&NODES.replace("gpu2|idle", "gpu2|down*"));
    transport.first(poll("ended=137\njob=9", ""));
    // The job goes on for the others until it is ended.
    transport.first(Reply::part("poll").output("ended=\njob=9\n\n").times(170));
    let said =
        lines("gpu0", "gpu0", Some(0)) + &lines("gpu1", "gpu1", Some(0)) + &lines("gpu2", "gpu2", None);
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
