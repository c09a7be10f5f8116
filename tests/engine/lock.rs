//! Nothing is changed without the lock of its host.

use std::sync::Mutex;

use super::hosts::{MODE, acts, message, names, stat};
use super::*;
use provision::transport::Sent;

/// The next run finds the host free: who had the lock waits for the end of its shell, and nobody else does.
#[tokio::test(start_paused = true)]
async fn only_a_shell_with_the_lock_is_waited_for() {
    let last = |transport: &Scripted| transport.parts("gpu0").last().cloned();
    let transport = healthy();
    assert_eq!(apply(&world("{}", TWO), &transport).await.report.stats.ok, 4);
    assert_eq!(last(&transport).as_deref(), Some("close"));
    let transport = healthy();
    run(&world("{}", TWO), &transport, Mode::Plan, |_| {}).await;
    assert_eq!(last(&transport).as_deref(), Some("leave"));
}

#[tokio::test(start_paused = true)]
async fn nothing_is_changed_without_the_lock() {
    let transport = healthy();
    let ran = apply(&world("{}", TWO), &transport).await;
    assert_eq!(ran.report.stats.ok, 4);
    // Once for the host, before the first change; all frames with a change are of this run.
    assert_eq!(names(&transport, "gpu0"), ["lock", "task", "task", "tidy"]);
    for sent in acts(&transport, "gpu0").iter().take(3) {
        assert!(sent.prelude.contains("\nprovision_lock run1 me@here/1 0 0"), "{}", sent.prelude);
        assert!(sent.prelude.contains("flock -n 9"), "{}", sent.prelude);
    }
    // What reads only takes none.
    let asked = transport.sent().into_iter().filter(|sent| sent.part == "state");
    assert!(asked.into_iter().all(|sent| !sent.prelude.contains("provision_lock run1")));
    for (said, told) in [
        (
            "busy run9 you@there/2 4711 100",
            "another run works on this host: run run9 of controller you@there/2",
        ),
        ("busy", "another run works on this host"),
        (
            "unwritable /run/provision: mkdir: Permission denied",
            "cannot write the state directory /run/provision: mkdir: Permission denied",
        ),
        ("", "its lock could not be taken"),
    ] {
        let transport = healthy();
        transport.first(Reply::part("lock").output(format!("{said}\n/run/provision\n")));
        let ran = apply(&world("{}", TWO), &transport).await;
        assert!(message(&ran, "one").starts_with(told), "{said}: {:?}", ran.record);
        assert_eq!(names(&transport, "gpu0"), ["lock"], "{said}");
        assert_eq!(ran.report.locked, said.starts_with("busy"), "{said}");
        // A dead run of another controller is not ours to end.
        assert_eq!(ran.report.stats.failed, 4);
    }
}

#[tokio::test(start_paused = true)]
async fn a_lock_that_cannot_be_had_as_usual() {
    // No flock on the host: told, and the run goes on.
    let transport = healthy();
    transport.first(Reply::part("lock").output("none\n/run/provision\n"));
    let ran = apply(&world("{}", TWO), &transport).await;
    assert_eq!(ran.report.stats.ok, 4);
    assert!(ran.record.hosts["gpu0"].warnings.join("\n").contains("there is no `flock` on this host"));
    // The connection is lost in between: asked again.
    let transport = healthy();
    transport.first(Reply::part("lock").on("gpu0").times(1).lose());
    let ran = apply(&world("{}", TWO), &transport).await;
    assert_eq!(ran.report.stats.ok, 4, "{:?}", ran.record);
    assert_eq!(names(&transport, "gpu0"), ["lock", "lock", "task", "task", "tidy"]);
    // It is lost each time.
    let transport = healthy();
    transport.first(Reply::part("lock").on("gpu0").lose());
    let ran = apply(&world("{}", TWO), &transport).await;
    assert_eq!(ran.report.stats.ok, 3, "{:?}", ran.record);
    assert_eq!(names(&transport, "gpu0"), ["lock"; 4]);
    // The host does not answer.
    let transport = healthy();
    transport.first(Reply::part("lock").on("gpu0").hang());
    let ran = apply(&world("{}", TWO), &transport).await;
    assert!(
        matches!(ran.status("gpu0"), HostStatus::Quarantined { reason } if reason.contains("its lock could not be taken")),
        "{:?}",
        ran.status("gpu0")
    );
    // A new session has no lock until it takes it.
    let transport = healthy();
    transport.first(Reply::part("task").on("gpu0").with("tool-alpha").hang());
    let playbook = TWO.replace("- name: one\n", "- name: one\n    on_failure: continue\n");
    apply(&world("{}", &playbook), &transport).await;
    assert_eq!(names(&transport, "gpu0"), ["lock", "task", "revive", "end-task", "lock", "task", "tidy"]);
    // A lock that stays with a run whose controller is dead is taken over once, not for ever.
    let transport = healthy();
    transport.first(Reply::part("lock").on("gpu0").output("busy run9 me@here/1 4711 100\n/run/provision\n"));
    let ran = apply(&world("{}", TWO), &transport).await;
    assert!(message(&ran, "one").contains("run run9 of controller me@here/1"), "{:?}", ran.record);
    assert_eq!(names(&transport, "gpu0"), ["lock", "take-over", "lock"]);
    let sent = acts(&transport, "gpu0");
    assert!(sent[1].text.ends_with("\n4711\n100"), "{}", sent[1].text);
    // The other hosts are not of that run.
    assert_eq!(ran.report.stats.ok, 3);
}

/// A host where a task of a run goes on under the lock of that run.
fn worked_on_by(run: &str, controller: &str) -> Scripted {
    let transport = healthy();
    let state = format!(
        "version\t1\nspool\tabc\trunning\t\t{run}\t./site.yaml/one\nholder\t{run} {controller} 4711 100 0 1 2026-11-29T12:04Z\n"
    );
    transport.first(Reply::part("state").on("gpu0").output(state));
    transport.first(Reply::part("follow").output("ended 0\n"));
    transport
}

#[tokio::test(start_paused = true)]
async fn a_task_of_another_run_is_not_followed() {
    let told = |owner: &str| {
        format!(
            "another run works on this host: {owner}, since 2026-11-29T12:04Z; if that one is cut off, `provision unlock` takes its lock"
        )
    };
    // Somebody else, or another inventory of our own whose run is alive.
    for (run, controller) in [("run9", "anna@there/2"), ("alive1", "me@here/1")] {
        let transport = worked_on_by(run, controller);
        let ran = apply(&world("{}", TWO), &transport).await;
        let HostStatus::NotStarted(reason) = ran.status("gpu0") else { panic!("{:?}", ran.status("gpu0")) };
        assert_eq!(*reason, told(&format!("run {run} of controller {controller}")));
        assert!(names(&transport, "gpu0").is_empty(), "{:?}", names(&transport, "gpu0"));
        assert!(ran.report.locked);
        assert_eq!(ran.report.stats.ok, 3, "the others are free");
        // Its canary was not changed, so nothing is known to be good.
        let transport = worked_on_by(run, controller);
        let ran = apply(&world("{ canary: 1 }", TWO), &transport).await;
        let HostStatus::NotStarted(reason) = ran.status("gpu1") else { panic!("{:?}", ran.status("gpu1")) };
        assert_eq!(reason, "the canary gpu0 was not changed: another run works there");
    }
    // A dead run of ours, and this run itself.
    for (run, controller) in [("run9", "me@here/1"), ("run1", "me@here/1")] {
        let transport = worked_on_by(run, controller);
        let ran = apply(&world("{}", TWO), &transport).await;
        assert_eq!(ran.report.stats.ok, 4, "{:?}", ran.record);
        assert_eq!(names(&transport, "gpu0")[0], "follow");
    }
    // A plan changes nothing, whoever works there.
    let ran = run(&world("{}", TWO), &worked_on_by("run9", "anna@there/2"), Mode::Plan, |_| {}).await;
    assert!(!ran.report.locked);
    assert_eq!(*ran.status("gpu0"), HostStatus::Ok);
}

#[tokio::test(start_paused = true)]
async fn a_host_that_changed_since_the_plan_is_left_as_it_is() {
    let asked = Mutex::new(BTreeMap::<String, u32>::new());
    // The second answer stands in one frame with the lock.
    let transport = healthy().answer(move |sent: &Sent| {
        if sent.part != "file" {
            return None;
        }
        let mut asked = asked.lock().unwrap();
        let number = asked.entry(sent.host.clone()).or_default();
        *number += 1;
        Some(match (sent.host.as_str(), *number) {
            ("gpu0", 2) => stat("81ff", 0),
            (_, 1 | 2) => stat("8180", 0),
            _ => stat("81a4", 0),
        })
    });
    let ran = apply(&world("{}", MODE), &transport).await;
    assert!(message(&ran, "mode").starts_with("the host changed between plan and apply"), "{:?}", ran.record);
    assert_eq!(names(&transport, "gpu0"), ["lock"]);
    assert_eq!(ran.report.stats.ok, 3);
    assert!(!ran.report.locked);
}

#[tokio::test(start_paused = true)]
async fn the_controller_is_waited_for_a_minute() {
    // Runs of other clusters write there, too; each is short.
    let playbook = "name: p\ntasks:\n  - name: page\n    render: { path: page, content: x }\n";
    for (busy, locks, failed) in [(20, 21, 0), (1000, 61, 1)] {
        let transport = healthy();
        transport.first(
            Reply::part("lock").times(busy).output("busy run9 you@there/2 4711 100\n/run/provision\n"),
        );
        let world = world("{}", playbook);
        let directory = world.directory.path().display();
        transport.first(
            Reply::part("file")
                .output(format!("absent {directory}/page\nstat 0:0:41ed:9:1:1:1:{directory}\n")),
        );
        let ran = apply(&world, &transport).await;
        let sent = transport.sent();
        assert_eq!(sent.iter().filter(|sent| sent.part == "lock").count(), locks, "{:?}", ran.record);
        assert_eq!(ran.report.locked, failed == 1, "{:?}", ran.record);
        assert!(transport.parts("gpu0").is_empty(), "what is for the controller touches no host");
    }
}
