//! What several hosts have as one: who writes it, and who gives it to whom.

use std::sync::Mutex;

use super::hosts::names;
use super::*;
use provision::transport::Sent;
use tokio::time::Instant;

const HOSTS: [&str; 4] = ["gpu0", "gpu1", "gpu2", "gpu3"];

const MODE: &str = "
name: p
tasks:
  - name: mode
    file: { path: /shared/kept, mode: \"0644\" }
";

/// Hosts with a directory on one export, or each on its own disk. Whether a host sees the new mode is what
/// `sees` says of its name, of the last writer, and of the time since that one began.
fn export(shared: bool, sees: impl Fn(&str, &str, Duration) -> bool + Send + Sync + 'static) -> Scripted {
    let written: Mutex<Option<(String, Instant)>> = Mutex::default();
    let transport = healthy().answer(move |sent: &Sent| {
        let mut written = written.lock().unwrap();
        if sent.part == "task" {
            *written = Some((sent.host.clone(), Instant::now()));
        }
        let seen =
            written.as_ref().is_some_and(|(writer, at)| shared && sees(&sent.host, writer, at.elapsed()));
        let mode = if seen { "81a4" } else { "8180" };
        let disk = if shared { "nfs4 10.0.0.9:/export" } else { "ext4 /dev/vdb" };
        let output = match sent.part.as_str() {
            "file" => format!("stat 0:0:{mode}:9:1:1:1:/shared/kept\nstat 0:0:41ed:9:1:1:1:/shared\n"),
            "filesystem" => format!(
                "boot {}\n20 1 8:1 / / rw - ext4 /dev/vda rw\n40 20 0:50 / /shared rw - {disk} rw\nend\n",
                sent.host
            ),
            _ => return None,
        };
        // gpu0 comes first, and all of them have asked before its task ends.
        let late = Duration::from_secs(if sent.host == "gpu0" { 1 } else { 2 });
        Some(Reply::default().output(output).after(late))
    });
    transport.first(Reply::part("task").after(Duration::from_secs(5)).output("ended 0\n"));
    transport
}

/// Hosts that were told to change something.
fn writers(transport: &Scripted) -> Vec<&'static str> {
    HOSTS.into_iter().filter(|host| names(transport, host).contains(&"task".to_owned())).collect()
}

fn failure(ran: &Ran, host: &str, name: &str) -> String {
    match ran.outcome(host, name) {
        Outcome::Failed(failure) => failure.message.clone(),
        other => panic!("{other:?}"),
    }
}

#[tokio::test(start_paused = true)]
async fn what_all_hosts_see_is_written_by_one_of_them() {
    let transport = export(false, |_, _, _| true);
    apply(&world("{}", MODE), &transport).await;
    assert_eq!(writers(&transport), HOSTS);
    // A file system may show it a minute late.
    for late in [Duration::ZERO, Duration::from_mins(1)] {
        let transport = export(true, move |host, writer, since| host == writer || since >= late);
        let ran = apply(&world("{}", MODE), &transport).await;
        assert_eq!(writers(&transport), ["gpu0"], "{:?}", ran.record);
        let sums = ran.report.stats.tasks;
        assert_eq!((sums.changed, sums.unchanged, ran.report.stats.ok), (1, 3, 4), "{:?}", ran.record);
    }
}

#[tokio::test(start_paused = true)]
async fn what_a_host_never_sees_of_a_shared_file_is_a_failure() {
    let transport = export(true, |host, _, _| host != "gpu3");
    let began = Instant::now();
    let ran = apply(&world("{}", MODE), &transport).await;
    let told = "gpu0 wrote it to the file system that both share, but after 90s this host still needs: \
        ~ /shared/kept (mode 0600 -> 0644)";
    assert_eq!(failure(&ran, "gpu3", "mode"), told);
    assert_eq!((ran.report.stats.ok, ran.report.stats.failed), (3, 1));
    assert!(began.elapsed() < Duration::from_mins(2), "{:?}", began.elapsed());
    assert_eq!(writers(&transport), ["gpu0"]);
}

#[tokio::test(start_paused = true)]
async fn hosts_that_wait_for_a_writer_learn_how_it_ended() {
    // It failed.
    let transport = export(true, |_, _, _| false);
    transport.first(Reply::part("task").on("gpu0").after(Duration::from_secs(5)).output("ended 1\nE: no\n"));
    let ran = apply(&world("{}", MODE), &transport).await;
    assert_eq!(failure(&ran, "gpu0", "mode"), "E: no");
    let told = "gpu0, which writes it on the file system that both share, failed: E: no";
    assert_eq!(failure(&ran, "gpu3", "mode"), told);
    assert_eq!((ran.report.stats.failed, writers(&transport)), (4, vec!["gpu0"]));
    // Its host is lost: the next one writes.
    let transport = export(true, |_, writer, _| writer != "gpu0");
    transport.first(Reply::open().on("gpu0").fail(ConnectKind::NoRoute).output("No route to host"));
    transport.first(Reply::open().on("gpu0").times(1));
    transport.first(Reply::part("task").on("gpu0").lose());
    let ran = apply(&world("{}", MODE), &transport).await;
    assert!(matches!(ran.status("gpu0"), HostStatus::Quarantined { .. }), "{:?}", ran.record);
    let wrote = writers(&transport);
    assert_eq!((ran.report.stats.ok, wrote.len(), wrote[0]), (3, 2, "gpu0"), "{:?}", ran.record);
    // The run is stopped meanwhile.
    let transport = export(true, |_, _, _| true);
    transport.first(Reply::part("task").after(Duration::from_mins(2)).output("ended 0\n"));
    let ran = run(&world("{}", MODE), &transport, Mode::Apply, |stopper| {
        tokio::spawn(async move {
            tokio::time::sleep(Duration::from_mins(1)).await;
            stopper.ask(Stop::Finish);
        });
    })
    .await;
    assert_eq!(failure(&ran, "gpu3", "mode"), "not started: the run was stopped while gpu0 wrote it");
    assert!(matches!(ran.outcome("gpu0", "mode"), Outcome::Changed { .. }), "{:?}", ran.record);
}

const GIVE: &str = "
name: d
tasks:
  - name: give
    distribute: { src: thing, path: /opt/x, mode: \"0644\" }
";

/// Of what `small` writes.
const DIGEST: &str = "4c47b3e816fbe7d40cef9f665ba8f0be1ae68b5e8e7ed70f5b6bab7f70528e8f";

fn giving() -> World {
    let world = world("{}", GIVE);
    std::fs::write(world.directory.path().join("thing"), "small\n").unwrap();
    world
}

/// Hosts of which some have the thing, with this mode; the others have it when their task ended.
fn holding(hosts: &'static [&'static str], mode: &'static str) -> Scripted {
    let done: Mutex<BTreeSet<String>> = Mutex::default();
    let transport = healthy().answer(move |sent: &Sent| {
        let mut done = done.lock().unwrap();
        if sent.part == "task" {
            done.insert(sent.host.clone());
        }
        let mode = if done.contains(&sent.host) { "81a4" } else { mode };
        let has = done.contains(&sent.host) || hosts.contains(&sent.host.as_str());
        let thing = if has {
            format!("stat 0:0:{mode}:6:1:1:1:/opt/x\n{DIGEST}  /opt/x\n")
        } else {
            "absent /opt/x\n".to_owned()
        };
        let reply = Reply::default().output(format!("stat 0:0:41ed:9:1:1:1:/opt\n{thing}"));
        // All of them have answered before the first one is given something.
        (sent.part == "file").then(|| reply.after(Duration::from_secs(1)))
    });
    transport.first(Reply::part("task").after(Duration::from_secs(5)).output("ended 0\n"));
    transport
}

/// Who got it from whom, in this order; an empty name is the controller.
fn given(transport: &Scripted) -> Vec<(String, String)> {
    let tasks = transport.sent().into_iter().filter(|sent| sent.part == "task");
    tasks
        .map(|sent| {
            let pulled = sent.text.contains("no whole copy from %s");
            let from = sent.text.lines().rev().find(|line| !line.is_empty()).unwrap_or_default();
            (sent.host, if pulled { from.to_owned() } else { String::new() })
        })
        .collect()
}

#[tokio::test(start_paused = true)]
async fn who_has_it_gives_it_to_one_host_at_a_time() {
    let transport = holding(&["gpu0"], "81a4");
    let began = Instant::now();
    let ran = apply(&giving(), &transport).await;
    assert_eq!(ran.report.stats.ok, 4, "{:?}", ran.record);
    let given = given(&transport);
    let (first, from) = &given[0];
    assert_eq!(from, "gpu0");
    let Outcome::Changed { changes, .. } = ran.outcome(first, "give") else { panic!("{:?}", ran.record) };
    assert_eq!(changes[0].summary, "+ /opt/x (from gpu0)");
    // Then both of them give it, and it takes two rounds and not three.
    let from: BTreeSet<&str> = given[1..].iter().map(|(_, from)| from.as_str()).collect();
    assert_eq!((given.len(), from), (3, BTreeSet::from(["gpu0", first.as_str()])));
    assert!(began.elapsed() < Duration::from_secs(19), "{:?}", began.elapsed());
}

#[tokio::test(start_paused = true)]
async fn the_controller_sends_it_only_while_nobody_has_it() {
    let transport = holding(&[], "81a4");
    let ran = apply(&giving(), &transport).await;
    assert_eq!(ran.report.stats.ok, 4, "{:?}", ran.record);
    let given = given(&transport);
    let sent = given.iter().filter(|(_, from)| from.is_empty()).count();
    assert_eq!((given[0].1.as_str(), sent, given.len()), ("", 1, 4), "{given:?}");
}

#[tokio::test(start_paused = true)]
async fn a_host_that_gives_nothing_is_not_asked_again() {
    let transport = holding(&["gpu0", "gpu1"], "81a4");
    transport.first(
        Reply::part("task")
            .with("\ngpu0")
            .after(Duration::from_secs(5))
            .output("ended 1\nno copy from gpu0\n"),
    );
    let ran = apply(&giving(), &transport).await;
    let given = given(&transport);
    assert_eq!(given.iter().filter(|(_, from)| from == "gpu0").count(), 1, "{given:?}");
    let warned = ["gpu2", "gpu3"].map(|host| ran.record.hosts[host].warnings.join("\n")).concat();
    assert!(warned.contains("`give`: no copy from gpu0, another host is tried: "), "{warned}");
    assert_eq!(ran.report.stats.ok, 4, "{:?}", ran.record);
}

#[tokio::test(start_paused = true)]
async fn after_three_hosts_that_gave_nothing_the_task_fails() {
    let transport = holding(&["gpu0", "gpu1", "gpu2"], "81a4");
    transport.first(Reply::part("task").on("gpu3").output("ended 1\nno copy\n"));
    let ran = apply(&giving(), &transport).await;
    let from: Vec<String> = given(&transport).into_iter().map(|(_, from)| from).collect();
    assert_eq!(from, ["gpu0", "gpu1", "gpu2"]);
    assert_eq!(failure(&ran, "gpu3", "give"), "no copy");
    let warned =
        ["gpu0", "gpu1"].map(|from| format!("`give`: no copy from {from}, another host is tried: no copy"));
    assert_eq!(ran.record.hosts["gpu3"].warnings, warned);
}

#[tokio::test(start_paused = true)]
async fn a_host_that_has_it_with_another_mode_is_given_nothing() {
    let transport = holding(&HOSTS, "8180");
    let ran = apply(&giving(), &transport).await;
    assert_eq!((ran.report.stats.ok, ran.report.stats.tasks.changed), (4, 4), "{:?}", ran.record);
    assert!(given(&transport).iter().all(|(_, from)| from.is_empty()));
    assert!(transport.sent().iter().all(|sent| sent.part != "task" || !sent.text.contains("small")));
}
