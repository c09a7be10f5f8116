//! Connections that are lost in the middle of a change: what the host did meanwhile.

use super::*;

/// What a host says of its state directory while `run1` has its lock.
const OWNED: &str = "boot\tone 5\nversion\t1\n";

/// Whose first change on gpu0 is cut, once.
fn cut() -> Scripted {
    let transport = healthy();
    transport.first(Reply::part("state").output(OWNED));
    transport.first(Reply::part("task").on("gpu0").with("tool-alpha").times(1).lose());
    transport
}

/// How often a host was sent the change that holds a word.
fn sent_to(transport: &Scripted, host: &str, word: &str) -> usize {
    let sent = transport.sent().into_iter();
    sent.filter(|sent| sent.host == host && sent.part == "task" && sent.text.contains(word)).count()
}

#[tokio::test(start_paused = true)]
async fn a_host_that_rebooted_during_the_run_is_told_and_left_alone() {
    let transport = cut();
    transport.first(Reply::part("boot").on("gpu0").output("two 7\n"));
    let ran = apply(&world("{}", TWO), &transport).await;
    let HostStatus::Quarantined { reason } = ran.status("gpu0") else { panic!("{:?}", ran.status("gpu0")) };
    assert!(reason.contains("rebooted during the run"), "{reason}");
    let Outcome::Failed(failure) = ran.outcome("gpu0", "one") else { panic!() };
    assert!(failure.message.contains("its host rebooted while it ran"), "{failure:?}");
    assert_eq!(sent_to(&transport, "gpu0", "tool-alpha"), 1, "nobody knows what it did");
    assert_eq!(sent_to(&transport, "gpu0", "tool-beta"), 0);
    let told = ran.events.iter().find_map(|event| match &event.kind {
        EventKind::HostRebooted { host, before, after } => {
            Some((host.as_str(), before.as_str(), after.as_str()))
        }
        _ => None,
    });
    assert_eq!(told, Some(("gpu0", "one 5", "two 7")));
    assert_eq!(ran.record.hosts["gpu0"].warnings, ["it rebooted during the run (boot one 5 -> two 7)"]);
    assert_eq!(ran.report.stats.ok, 3);
}

#[tokio::test(start_paused = true)]
async fn a_host_that_is_still_the_same_boot_goes_on() {
    // Asking which boot it is may be cut as well.
    for lost in [0, 2] {
        let transport = cut();
        transport.first(Reply::part("boot").output("one 5\n"));
        transport.first(Reply::part("boot").times(lost).lose());
        let ran = apply(&world("{}", TWO), &transport).await;
        assert_eq!(ran.report.stats.ok, 4, "{:?}", ran.record);
        assert_eq!(sent_to(&transport, "gpu0", "tool-alpha"), 2, "a cut frame runs nothing");
    }
}
