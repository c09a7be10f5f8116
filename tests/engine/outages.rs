//! Connections that are lost in the middle of a change: what the host did meanwhile.

use std::sync::Mutex;

use super::hosts::names;
use super::*;
use provision::transport::Sent;

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
    // A container that is started anew has the boot of its machine, and another first process.
    let apart = TWO.replace("- name: one\n", "- name: one\n    detach: true\n");
    for (after, playbook) in [("two 7", TWO), ("one 7", TWO), ("two 7", &apart)] {
        rebooted_to(after, playbook).await;
    }
}

async fn rebooted_to(boot: &str, playbook: &str) {
    let transport = cut();
    transport.first(Reply::part("boot").on("gpu0").output(format!("{boot}\n")));
    let ran = apply(&world("{}", playbook), &transport).await;
    let HostStatus::Quarantined { reason } = ran.status("gpu0") else { panic!("{:?}", ran.status("gpu0")) };
    assert!(reason.contains("rebooted during the run"), "{reason}");
    let Outcome::Failed(failure) = ran.outcome("gpu0", "one") else { panic!() };
    assert!(failure.message.contains("its host rebooted before it was done"), "{failure:?}");
    assert_eq!(sent_to(&transport, "gpu0", "tool-alpha"), 1, "nobody knows what it did");
    assert_eq!(sent_to(&transport, "gpu0", "tool-beta"), 0);
    let told = ran.events.iter().find_map(|event| match &event.kind {
        EventKind::HostRebooted { host, before, after } => {
            Some((host.as_str(), before.as_str(), after.as_str()))
        }
        _ => None,
    });
    assert_eq!(told, Some(("gpu0", "one 5", boot)));
    let warnings = &ran.record.hosts["gpu0"].warnings;
    assert_eq!(warnings, &[format!("it rebooted during the run (boot one 5 -> {boot})")]);
    assert_eq!(ran.report.stats.ok, 3);
}

/// A change of the way in is confirmed over a new login, which may lead to another boot.
#[tokio::test(start_paused = true)]
async fn a_new_login_to_another_boot_is_no_proof() {
    for (boot, rebooted) in [("two 7\n", true), ("one 5\n", false)] {
        let transport = interrupts::guarded("confirmed\n");
        transport.first(Reply::part("state").output(OWNED));
        transport.first(Reply::part("boot").on("gpu0").output(boot));
        let ran = apply(&world("{}", interrupts::SUDOERS), &transport).await;
        let told = format!("{:?}", ran.record.hosts["gpu0"].status);
        assert_eq!(told.contains("rebooted during the run"), rebooted, "{told}");
        let guards = transport.parts("gpu0").into_iter().filter(|part| part == "guard").count();
        assert_eq!(guards, if rebooted { 1 } else { 2 }, "armed, and confirmed on the same boot only");
    }
    // One that is lost at once leaves the old session as it was, and another is tried.
    let transport = interrupts::guarded("confirmed\n");
    transport.first(Reply::part("state").output(OWNED));
    transport.first(Reply::part("boot").on("gpu0").output("one 5\n"));
    transport.first(Reply::part("boot").on("gpu0").times(1).lose());
    let ran = apply(&world("{}", interrupts::SUDOERS), &transport).await;
    assert_eq!(ran.report.stats.ok, 4, "{:?}", ran.record.hosts["gpu0"]);
    let parts = transport.parts("gpu0");
    let seen = parts.iter().filter(|part| ["open", "boot", "close", "guard"].contains(&part.as_str()));
    let seen: Vec<&str> = seen.map(String::as_str).collect();
    assert_eq!(seen, ["open", "guard", "open", "boot", "close", "open", "boot", "close", "guard", "close"]);
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

/// The parts that gpu0 was sent between two logins and after them, without questions.
fn frames(transport: &Scripted) -> Vec<(String, String)> {
    let sent = transport.sent().into_iter().filter(|sent| sent.host == "gpu0");
    let lock = |prelude: &str| {
        prelude.lines().find(|line| line.starts_with("provision_lock run")).unwrap_or_default().to_owned()
    };
    sent.filter(|sent| ["task", "lock", "state", "tidy"].contains(&sent.part.as_str()))
        .map(|sent| (sent.part, lock(&sent.prelude)))
        .collect()
}

#[tokio::test(start_paused = true)]
async fn the_shell_of_a_lost_connection_is_ended_before_anything_is_asked() {
    let transport = cut();
    apply(&world("{}", TWO), &transport).await;
    let frames = frames(&transport);
    let names: Vec<&str> = frames.iter().map(|(part, _)| part.as_str()).collect();
    assert_eq!(names, ["state", "lock", "task", "lock", "state", "task", "lock", "task", "tidy"]);
    // Each frame says which shell it is for: an older shell that gets one late refuses it.
    let locks: Vec<&str> = frames.iter().map(|(_, lock)| lock.as_str()).collect();
    let [first, again] = ["provision_lock run1 me@here/1 0 0", "provision_lock run1 me@here/1 0 1 again"];
    assert_eq!(locks[1..5], [first, "provision_lock run1 me@here/1 0 0 again", again, again]);
    assert!(locks[5..].iter().all(|lock| *lock == again), "{locks:?}");
}

#[tokio::test(start_paused = true)]
async fn a_lock_that_is_lost_while_it_is_taken_again_is_given_up() {
    for (lost, good) in [(3, true), (20, false)] {
        let transport = cut();
        transport.first(Reply::part("lock").on("gpu0").times(lost).lose());
        transport.first(Reply::part("lock").on("gpu0").times(1).output(LOCK));
        let ran = apply(&world("{}", TWO), &transport).await;
        let parts = names(&transport, "gpu0");
        assert_eq!(parts[..6], ["lock", "task", "lock", "lock", "lock", "lock"], "{parts:?}");
        assert_eq!(parts.get(6).is_some(), good, "{parts:?}");
        match ran.status("gpu0") {
            HostStatus::Quarantined { reason } if !good => {
                assert!(reason.starts_with("its lock could not be taken again: "), "{reason}");
            }
            status => assert!(good && *status == HostStatus::Ok, "{status:?}"),
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_missing_entry_is_not_taken_for_one_that_never_was() {
    for (said, told) in [
        ("lost run9 you@there/2 4711 100 0", "run run9 of controller you@there/2 worked on this host"),
        ("lost unlock you@there/2 0 0 0", "`provision unlock` of controller you@there/2 took its lock"),
        ("lost ", "its state directory went away"),
        ("busy run9 you@there/2 4711 100 0", "run run9 of controller you@there/2"),
    ] {
        let transport = cut();
        transport.first(Reply::part("lock").on("gpu0").output(format!("{said}\n/run/provision\n")));
        transport.first(Reply::part("lock").on("gpu0").times(1).output(LOCK));
        let ran = apply(&world("{}", TWO), &transport).await;
        let Outcome::Failed(failure) = ran.outcome("gpu0", "one") else { panic!("{said}: {:?}", ran.record) };
        assert!(failure.message.contains(told), "{said}: {failure:?}");
        assert_eq!(sent_to(&transport, "gpu0", "tool-alpha"), 1, "{said}");
        assert_eq!(ran.report.stats.ok, 3);
    }
}

#[tokio::test(start_paused = true)]
async fn what_a_refused_run_followed_is_left_where_it_is() {
    let transport = healthy();
    let left = "version\t1\nspool\tabc\tended\t0\trun0\t./site.yaml/one\n";
    transport.first(Reply::part("state").on("gpu0").output(left));
    transport.first(Reply::part("follow").output("ended 0\n"));
    transport
        .first(Reply::part("lock").on("gpu0").output("busy run0 you@there/2 4711 100\n/run/provision\n"));
    let ran = apply(&world("{}", TWO), &transport).await;
    assert!(ran.report.locked);
    assert!(tidied(&transport, "gpu0").is_empty(), "{:?}", tidied(&transport, "gpu0"));
}

const DETACHED: &str = "boot\ttwo 7\ninterrupted\tabc\trun0\t./site.yaml/one\n";

#[tokio::test(start_paused = true)]
async fn a_detached_task_that_went_down_with_its_host_is_told_and_planned() {
    for mode in [Mode::Plan, Mode::Apply] {
        let transport = healthy();
        transport.first(Reply::part("state").on("gpu0").output(DETACHED));
        let ran = run(&world("{}", TWO), &transport, mode, |_| {}).await;
        let [warning] = &ran.record.hosts["gpu0"].warnings[..] else { panic!("{:?}", ran.record) };
        assert!(warning.contains("`./site.yaml/one` was started, and the host went down"), "{warning}");
        assert_eq!(ran.report.stats.ok, 4);
        let forgotten = tidied(&transport, "gpu0")
            .iter()
            .any(|text| text.ends_with("\n--\nabc") || text.contains("\nabc\n"));
        assert_eq!(forgotten, mode == Mode::Apply, "a plan changes nothing");
    }
}

#[tokio::test(start_paused = true)]
async fn a_handler_that_reboots_is_served_by_a_boot_of_whoever() {
    let playbook = "name: n\ntasks:\n  - name: change\n    command: { run: [edit, it], creates: / }\n    notify: [boot, tell]\nhandlers:\n  - name: boot\n    reboot: {}\n  - name: tell\n    command: { run: [reload, it] }\n";
    for (when, waits) in [("now", true), ("before", false)] {
        let transport = healthy();
        transport.first(Reply::part("file").output("stat 0:0:41ed:9:1:1:1:/\n"));
        let left = format!(
            "boot\ttwo 7\nnotify\t./site.yaml/boot\tt\tnew\tk1\t{when}\nnotify\t./site.yaml/tell\tt\tnew\tk2\t{when}\n"
        );
        transport.first(Reply::part("state").output(left));
        let ran = run(&world("{}", playbook), &transport, Mode::Plan, |_| {}).await;
        let planned: Vec<&str> =
            ran.record.hosts["gpu0"].plan.iter().map(|task| task.task.name.as_str()).collect();
        assert!(planned.contains(&"tell"), "{when}: {planned:?}");
        assert_eq!(planned.contains(&"boot"), waits, "{when}: {planned:?}");
        let ran = apply(&world("{}", playbook), &transport).await;
        let forgotten = tidied(&transport, "gpu0").join("\n");
        assert_eq!(forgotten.contains("k1"), !waits, "{when}: {forgotten}");
        assert!(forgotten.contains("k2") && ran_on(&transport, "gpu0", "reload"), "{when}: {:?}", ran.record);
    }
}

#[tokio::test(start_paused = true)]
async fn a_question_that_is_answered_with_nothing_is_asked_once_more() {
    let transport = healthy();
    transport.first(Reply { part: Some("file".to_owned()), times: Some(8), ..hosts::stat("8180", 0) });
    transport.first(Reply::part("file").on("gpu0").times(1).output(""));
    let ran = apply(&world("{}", hosts::MODE), &transport).await;
    assert!(!ran.record.hosts["gpu0"].tasks.is_empty(), "{:?}", ran.record);
    assert!(!format!("{:?}", ran.outcome("gpu0", "mode")).contains("gave no answer"), "{:?}", ran.record);
}

#[tokio::test(start_paused = true)]
async fn a_stop_does_not_wait_for_a_host_that_does_not_come_back() {
    // A login that hangs, and a second session that does not come.
    let lost = Reply::part("task").on("gpu0").after(Duration::from_secs(1)).lose();
    for reply in [lost, Reply::part("task").on("gpu0").hang()] {
        let transport = healthy();
        transport.first(reply.clone());
        transport.first(Reply::part("revive").on("gpu0").hang());
        let hangs = Duration::from_mins(1);
        transport.first(Reply::open().on("gpu0").after(hangs).fail(ConnectKind::TimedOut));
        transport.first(Reply::open().on("gpu0").times(1));
        let began = tokio::time::Instant::now();
        let ran = run(&world("{}", TWO), &transport, Mode::Apply, |stopper| {
            tokio::spawn(async move {
                tokio::time::sleep(Duration::from_secs(10)).await;
                stopper.ask(Stop::Finish);
                stopper.ask(Stop::End);
            });
        })
        .await;
        assert!(began.elapsed() < Duration::from_secs(16), "{:?}", began.elapsed());
        let HostStatus::Quarantined { reason } = ran.status("gpu0") else {
            panic!("{:?}", ran.status("gpu0"))
        };
        assert!(reason.contains("stopped"), "{reason}");
    }
}

/// When an action was made, and what sshd of OpenSSH 9.8 has against the address by then: 5 seconds for each login
/// that it refused, less those that went by.
#[derive(Default)]
struct Penalty {
    seconds: f64,
    at: Option<tokio::time::Instant>,
    most: f64,
    logins: u32,
}

impl Penalty {
    fn refuse(&mut self) {
        let now = tokio::time::Instant::now();
        let passed = self.at.map_or(0.0, |at| (now - at).as_secs_f64());
        self.seconds = (self.seconds - passed).max(0.0) + 5.0;
        self.at = Some(now);
        self.most = self.most.max(self.seconds);
        self.logins += 1;
    }
}

#[tokio::test(start_paused = true)]
async fn logins_that_are_refused_shut_nobody_out() {
    let penalty = Arc::new(Mutex::new((false, Penalty::default())));
    let counted = penalty.clone();
    let transport = healthy().answer(move |sent: &Sent| {
        let mut seen = counted.lock().unwrap();
        match (sent.host.as_str(), sent.part.as_str()) {
            ("gpu0", "task") => {
                seen.0 = true;
                Some(Reply::default().lose())
            }
            ("gpu0", "open") if seen.0 => {
                seen.1.refuse();
                Some(Reply::default().fail(ConnectKind::KeyRefused).output("Permission denied (publickey)."))
            }
            _ => None,
        }
    });
    let ran = apply(&world("{}", TWO), &transport).await;
    assert!(matches!(ran.status("gpu0"), HostStatus::Quarantined { .. }), "{:?}", ran.status("gpu0"));
    let (_, penalty) = &*penalty.lock().unwrap();
    assert!(penalty.logins > 10, "it may come back: {} logins", penalty.logins);
    assert!(penalty.most < 15.0, "shut out from 15 on: {}", penalty.most);
}
