//! Large files on their way to a host: lost, late, stopped, without room, and left by earlier runs.

use std::sync::Mutex;

use provision::transport::Sent;
use sha2::Digest as _;

use super::*;

const SIZE: usize = 2 << 20;
const PATH: &str = "/run/provision/upload/k";

fn content() -> Vec<u8> {
    (0..=250).cycle().take(SIZE).collect()
}

/// A world whose only task copies a file of 2 MiB.
fn copying() -> World {
    let world = world(
        "{}",
        "name: c\ntasks:\n  - name: large\n    timeout: 40s\n    copy: { src: ./large, path: /opt/large }\n",
    );
    std::fs::write(world.directory.path().join("large"), content()).unwrap();
    world
}

/// What the host says of the file: so much is there.
fn at(offset: usize) -> Reply {
    Reply::part("upload").output(format!("at\t{offset}\t{PATH}\t{PATH}\n"))
}

/// Hosts that have the file once the task ran.
fn hosts() -> Scripted {
    let done: Mutex<BTreeSet<String>> = Mutex::default();
    let digest = provision::words::hex(&sha2::Sha256::digest(content()));
    let transport = healthy().answer(move |sent: &Sent| {
        let mut done = done.lock().unwrap();
        if sent.part == "task" {
            done.insert(sent.host.clone());
        }
        let opt = "stat 0:0:41ed:9:1:1:1:/opt\n";
        (sent.part == "file").then(|| {
            Reply::default().output(if done.contains(&sent.host) {
                format!("{opt}stat 0:0:81a4:{SIZE}:1:1:1:/opt/large\n{digest}  /opt/large\n")
            } else {
                format!("absent /opt/large\n{opt}")
            })
        })
    });
    transport.first(at(0));
    transport
}

fn failure(ran: &Ran) -> String {
    match ran.outcome("gpu0", "large") {
        Outcome::Failed(failure) => failure.message.clone(),
        other => panic!("{other:?}"),
    }
}

fn sent(transport: &Scripted, part: &str) -> usize {
    transport.parts("gpu0").iter().filter(|it| *it == part).count()
}

#[tokio::test(start_paused = true)]
async fn a_lost_upload_goes_on_where_it_was_cut() {
    let transport = hosts();
    transport.first(at(SIZE).on("gpu0"));
    transport.first(at(1_000_000).on("gpu0").times(1));
    transport.first(at(0).on("gpu0").times(1));
    transport.first(Reply::part("stream").on("gpu0").times(1).lose());
    let ran = apply(&copying(), &transport).await;
    assert_eq!((ran.report.stats.ok, ran.report.stats.tasks.changed), (4, 4), "{:?}", ran.record);
    assert!(transport.file("gpu0", PATH).unwrap() == content()[1_000_000..]);
    assert!(transport.file("gpu1", PATH).unwrap() == content());
    // What came in pieces is asked for once more: the host looks at its digest.
    assert_eq!((sent(&transport, "stream"), sent(&transport, "upload")), (2, 3));
    assert_eq!(transport.parts("gpu1").iter().filter(|it| *it == "upload").count(), 1);
    // Every try is for the same file.
    let asked: BTreeSet<String> =
        transport.sent().into_iter().filter(|it| it.part == "upload").map(|it| it.text).collect();
    assert_eq!(asked.len(), 1);
}

#[tokio::test(start_paused = true)]
async fn what_is_lost_again_and_again_without_progress_is_given_up() {
    let transport = hosts();
    transport.first(Reply::part("stream").on("gpu0").lose());
    let ran = apply(&copying(), &transport).await;
    assert!(failure(&ran).contains("lost again and again"), "{}", failure(&ran));
    assert_eq!((ran.report.stats.ok, sent(&transport, "stream"), sent(&transport, "task")), (3, 6, 0));

    // Little by little it arrives.
    let transport = hosts();
    transport.first(at(SIZE).on("gpu0"));
    for offset in (1..10).rev() {
        transport.first(at(offset).on("gpu0").times(1));
        transport.first(Reply::part("stream").on("gpu0").times(1).lose());
    }
    assert_eq!(apply(&copying(), &transport).await.report.stats.ok, 4);
}

#[tokio::test(start_paused = true)]
async fn an_upload_ends_at_the_deadline_of_its_task() {
    let transport = hosts();
    transport.first(Reply::part("stream").on("gpu0").hang());
    let began = tokio::time::Instant::now();
    let ran = apply(&copying(), &transport).await;
    assert!(failure(&ran).contains("2048 KiB) was not sent within the deadline of 40s"), "{}", failure(&ran));
    assert_eq!(began.elapsed().as_secs(), 40);
    assert_eq!(sent(&transport, "task"), 0);
    // What is there is kept for the next run.
    assert_eq!(sent(&transport, "upload-drop"), 0);
}

#[tokio::test(start_paused = true)]
async fn the_first_ctrl_c_lets_an_upload_end_and_the_second_stops_it() {
    for stop in [Stop::Finish, Stop::End] {
        let transport = hosts();
        transport.first(Reply::part("stream").after(Duration::from_secs(30)));
        let began = tokio::time::Instant::now();
        let ran = run(&copying(), &transport, Mode::Apply, |stopper| {
            tokio::spawn(async move {
                tokio::time::sleep(Duration::from_secs(5)).await;
                stopper.ask(stop);
            });
        })
        .await;
        if stop == Stop::Finish {
            assert!(matches!(ran.outcome("gpu0", "large"), Outcome::Changed { .. }), "{:?}", ran.record);
        } else {
            assert!(failure(&ran).contains("stopped by the second Ctrl-C"), "{}", failure(&ran));
            assert_eq!((began.elapsed().as_secs(), sent(&transport, "task")), (5, 0));
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_host_without_room_says_so() {
    let transport = hosts();
    let words = "No space left on device: /opt/large needs 3 MiB, and /opt has 1 MiB";
    transport.first(Reply::part("upload").on("gpu0").output(format!("full\t{words}\n")));
    let ran = apply(&copying(), &transport).await;
    assert_eq!(failure(&ran), words);
    assert_eq!((sent(&transport, "stream"), sent(&transport, "task")), (0, 0));
}

/// Its room goes while the file is sent: what has arrived is no use, and takes room.
#[tokio::test(start_paused = true)]
async fn a_host_whose_room_goes_in_between_says_so() {
    let transport = hosts();
    let place = "/var/tmp/provision-upload-0/k";
    transport.first(
        Reply::part("upload").on("gpu0").output(format!("at\t0\t{place}\t/opt/.provision.upload.k\n")),
    );
    let words = format!("cannot write {place}: No space left on device");
    transport.first(Reply::part("stream").on("gpu0").status(1).output(words));
    let ran = apply(&copying(), &transport).await;
    let said = failure(&ran);
    assert!(said.starts_with("cannot send "), "{said}");
    assert!(said.ends_with("cannot write /opt/.provision.upload.k: No space left on device"), "{said}");
    assert_eq!((sent(&transport, "upload-drop"), sent(&transport, "task")), (1, 0));
    assert_eq!(ran.report.stats.ok, 3);
}

#[tokio::test(start_paused = true)]
async fn a_host_that_another_run_has_gets_no_file() {
    let transport = hosts();
    transport.first(Reply::part("upload").on("gpu0").output("refused\tbusy run9 you@there/2 1 2 0 0\n"));
    let ran = apply(&copying(), &transport).await;
    assert!(failure(&ran).contains("run run9 of controller you@there/2"), "{}", failure(&ran));
    assert_eq!((sent(&transport, "stream"), sent(&transport, "task")), (0, 0));
}

#[tokio::test(start_paused = true)]
async fn what_nobody_asked_for_is_taken_away_where_all_went_well() {
    let transport = hosts();
    transport.first(Reply::part("state").output("upload\t0123456789abcdef.00\n"));
    transport.first(Reply::part("task").on("gpu1").output("ended 1\nE: broken\n"));
    let ran = apply(&copying(), &transport).await;
    assert_eq!((ran.report.stats.ok, ran.report.stats.failed), (3, 1));
    let dropped: Vec<Sent> = transport.sent().into_iter().filter(|sent| sent.part == "upload-drop").collect();
    assert_eq!(
        dropped.iter().map(|it| it.host.as_str()).collect::<BTreeSet<_>>(),
        ["gpu0", "gpu2", "gpu3"].into()
    );
    // Under the lock: another run may be sending it.
    assert!(
        dropped.iter().all(
            |it| it.text.ends_with("\n0123456789abcdef.00") && it.prelude.contains("provision_lock run1")
        )
    );
    // Nor does a plan.
    let planned = hosts();
    planned.first(Reply::part("state").output("upload\t0123456789abcdef.00\n"));
    run(&copying(), &planned, Mode::Plan, |_| {}).await;
    assert_eq!(sent(&planned, "upload-drop"), 0);
}

/// Hosts that get a tree of three files of 530 KiB, each a task of its own.
fn tree() -> (World, Scripted) {
    tree_of(["a", "b", "c"].map(str::to_owned).into(), 530 << 10, 1)
}

/// Hosts that get a tree of files of this size, so many with each task.
fn tree_of(names: Vec<String>, size: usize, together: usize) -> (World, Scripted) {
    let world = world(
        "{}",
        "name: c\ntasks:\n  - name: tree\n    timeout: 40s\n    copy: { src: ./tree, path: /opt/tree }\n    on_failure: continue\n  - name: behind\n    command: { run: [x], creates: /opt/tree/a }\n",
    );
    let folder = world.directory.path().join("tree");
    std::fs::create_dir(&folder).unwrap();
    let content = content()[..size].to_vec();
    let digest = provision::words::hex(&sha2::Sha256::digest(&content));
    for name in &names {
        std::fs::write(folder.join(name), &content).unwrap();
    }
    let done: Mutex<BTreeMap<String, usize>> = Mutex::default();
    let transport = healthy().answer(move |sent: &Sent| {
        let mut done = done.lock().unwrap();
        let ran = done.entry(sent.host.clone()).or_default();
        if sent.part == "task" {
            *ran += 1;
        }
        let of = |(number, name): (usize, &String)| {
            if number < *ran * together {
                format!("stat 0:0:81a4:{size}:1:1:1:/opt/tree/{name}\n{digest}  /opt/tree/{name}")
            } else {
                format!("absent /opt/tree/{name}")
            }
        };
        let files: Vec<String> = names.iter().enumerate().map(of).collect();
        let tree = if *ran > 0 { "stat 0:0:41ed:9:1:1:1:" } else { "absent " };
        let text = format!("stat 0:0:41ed:9:1:1:1:/opt\n{tree}/opt/tree\n{}\n", files.join("\n"));
        (sent.part == "file").then(|| Reply::default().output(text))
    });
    (world, transport)
}

#[tokio::test(start_paused = true)]
async fn a_large_tree_goes_part_by_part() {
    let (world, transport) = tree();
    let ran = apply(&world, &transport).await;
    assert_eq!((ran.report.stats.ok, ran.report.stats.tasks.changed), (4, 4), "{:?}", ran.record);
    let Outcome::Changed { changes, .. } = ran.outcome("gpu0", "tree") else { panic!() };
    assert_eq!(changes.len(), 4);
    let all = transport.sent();
    let of = |part| all.iter().filter(move |it| it.host == "gpu0" && it.part == part);
    let tasks: Vec<_> = of("task").collect();
    assert_eq!(tasks.len(), 3);
    // At first, under the lock, and behind the last part.
    assert_eq!(of("file").filter(|it| it.text.contains("/opt/tree/a")).count(), 3);
}

#[tokio::test(start_paused = true)]
async fn a_tree_of_small_files_is_one_exec() {
    let (world, transport) = tree_of((0..200).map(|number| "a".repeat(number + 1)).collect(), 100, 200);
    let ran = apply(&world, &transport).await;
    assert_eq!((ran.report.stats.ok, ran.report.stats.tasks.changed), (4, 4), "{:?}", ran.record);
    let Outcome::Changed { changes, .. } = ran.outcome("gpu0", "tree") else { panic!() };
    assert_eq!((changes.len(), sent(&transport, "task")), (201, 1));
}

#[tokio::test(start_paused = true)]
async fn a_part_of_a_tree_that_is_lost_is_sent_again_alone() {
    let (world, transport) = tree();
    transport.first(Reply::part("task").on("gpu0").with("/opt/tree/c").lose().times(1));
    let ran = apply(&world, &transport).await;
    assert_eq!(ran.report.stats.ok, 4, "{:?}", ran.record);
    assert_eq!(sent(&transport, "task"), 4);
    // One that fails ends it, and the deadline is that of the whole task.
    let failed = Reply::part("task").on("gpu0").with("/opt/tree/b").output("ended 1\nno room\n");
    let late =
        Reply::part("task").on("gpu0").with("/opt/tree/a").after(Duration::from_secs(39)).output("ended 0\n");
    let later =
        Reply::part("task").on("gpu0").with("/opt/tree/b").after(Duration::from_secs(4)).output("ended 0\n");
    for (replies, tasks, said) in
        [(vec![failed], 2, "no room"), (vec![late, later], 2, "not finished within its deadline of 40s")]
    {
        let (world, transport) = tree();
        for reply in replies {
            transport.first(reply);
        }
        let ran = apply(&world, &transport).await;
        let Outcome::Failed(failure) = ran.outcome("gpu0", "tree") else { panic!("{:?}", ran.record) };
        assert_eq!(failure.message, said);
        assert_eq!(sent(&transport, "task"), tasks);
        assert_eq!(ran.report.stats.ok, 3);
    }
}
