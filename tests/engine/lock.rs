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
