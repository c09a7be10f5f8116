//! What is said of a failure, what is tried again, and how the run ends.

use super::hosts::{message, names};
use super::*;

#[tokio::test(start_paused = true)]
async fn a_mirror_that_stumbles_is_asked_again() {
    let package = "name: p\ntasks:\n  - name: get\n    package: { names: [tool] }\n";
    let missing = "manager apt\nlists there\npolicy\ntool:\n  Installed: (none)\n  Candidate: 1.0\n  Version table:\n     1.0 500\n        500 http://x stable/main amd64 Packages\nend\n";
    for (playbook, said, tries) in [
        (package, "E: Failed to fetch http://x", 3),
        (package, "E: Unable to locate package tool", 1),
        (TWO, "E: Failed to fetch http://x", 1),
    ] {
        let transport = healthy();
        transport.first(Reply::part("package").output(missing));
        transport.first(Reply::part("task").output(format!("ended 100\n{said}\n")));
        let ran = apply(&world("{}", playbook), &transport).await;
        assert_eq!(ran.report.stats.failed, 4, "{:?}", ran.record);
        let tried = names(&transport, "gpu0").iter().filter(|part| *part == "task").count();
        assert_eq!(tried, tries, "{said}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_failure_comes_with_what_it_usually_means() {
    for (said, hint) in [
        ("modprobe: FATAL: Module x not found in directory /lib/modules/6", Some("has no module x")),
        ("E: Could not get lock /var/lib/dpkg/lock", Some("another program works on the packages")),
        ("Waiting for cache lock", Some("another program works on the packages")),
        ("E: Unable to locate package linux-headers-6.1", Some("the playbook `kernel` does that")),
        ("No match for argument: kernel-devel-5.14", Some("the playbook `kernel` does that")),
        ("E: Unable to locate package x", Some("no repository of this host has x")),
        ("No match for argument: x", Some("no repository of this host has x")),
        ("E: Package 'x' has no installation candidate", Some("x")),
        ("Temporary failure resolving 'x'", Some("cannot resolve names")),
        ("Could not resolve host: x", Some("cannot resolve names")),
        ("Could not connect to x", Some("does not reach the server")),
        ("Connection timed out", Some("a connection was lost")),
        ("cp: No space left on device", Some("no space is left")),
        ("cp: Read-only file system", Some("mounted read-only")),
        ("cp: Permission denied", Some("`ssh.become: sudo`")),
        ("Operation not permitted", Some("`ssh.become: sudo`")),
        ("are you root?", Some("`ssh.become: sudo`")),
        ("sh: x: command not found", Some("a program is missing: x")),
        ("sh: 1: x: not found", Some("a program is missing: x")),
        ("something else", None),
        ("Module x is old", None),
        ("linux-headers-6.1 is old", None),
    ] {
        let transport = healthy();
        transport.first(Reply::part("task").output(format!("ended 1\n{said}\n")));
        let ran = apply(&world("{}", TWO), &transport).await;
        let Outcome::Failed(failure) = ran.outcome("gpu0", "one") else { panic!("{said}") };
        assert_eq!(failure.message, format!("{said} (status 1)"));
        let told = failure.hint.as_deref();
        assert!(
            hint.map_or(told.is_none(), |hint| told.is_some_and(|told| told.contains(hint))),
            "{said}: {told:?}"
        );
    }
}

/// What is done in any case is done, what is left of the block is not, and behind it the host goes on or does not.
#[tokio::test(start_paused = true)]
async fn a_block_is_given_up_as_a_whole() {
    let playbook = "name: b
tasks:
  - block:
      - { name: one, command: { run: [tool-alpha] } }
      - { name: two, command: { run: [tool-beta] } }
    always:
      - { name: clean, command: { run: [tool-gamma] } }
  - { name: behind, command: { run: [tool-delta] } }
";
    for (playbook, behind) in [
        (playbook.to_owned(), false),
        (playbook.replace("    always", "    on_failure: continue\n    always"), true),
    ] {
        let transport = healthy();
        transport.first(Reply::part("task").with("tool-alpha").output("ended 1\nno\n"));
        let ran = apply(&world("{}", &playbook), &transport).await;
        assert_eq!(ran.report.stats.failed, 4);
        assert!(matches!(ran.outcome("gpu0", "one"), Outcome::Failed(_)));
        let Outcome::Skipped(reason) = ran.outcome("gpu0", "two") else { panic!("{:?}", ran.record) };
        assert_eq!(reason, "not reached: `one` failed");
        assert!(matches!(ran.outcome("gpu0", "clean"), Outcome::Ran { .. }));
        assert_eq!(matches!(ran.outcome("gpu0", "behind"), Outcome::Ran { .. }), behind, "{:?}", ran.record);
    }
}

#[test]
fn sums_and_exit_codes() {
    use provision::events::RunStats;
    let stats = |failed, unreachable, not_started| RunStats {
        failed,
        unreachable,
        not_started,
        ..RunStats::default()
    };
    for (stats, allowed, locked, codes) in [
        (stats(0, 0, 0), 0, false, 0),
        (stats(1, 0, 0), 0, false, 1),
        (stats(0, 1, 0), 0, false, 1),
        (stats(0, 1, 0), 1, false, 0),
        (stats(0, 2, 0), 1, false, 1),
        (stats(0, 0, 1), 1, false, 1),
        (stats(1, 1, 0), 0, true, 3),
    ] {
        assert_eq!(engine::exit_code(&stats, allowed, locked).len(), codes, "{stats:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_host_that_is_offline_is_counted_and_not_asked() {
    let transport = healthy();
    let away = world("{}\nhosts: { gpu2: { offline: its board is away } }", TWO);
    let ran = apply(&away, &transport).await;
    let stats = &ran.report.stats;
    assert_eq!((stats.hosts, stats.ok, stats.offline, stats.unreachable), (3, 3, 1, 0));
    assert!(transport.parts("gpu2").is_empty());
}

#[tokio::test(start_paused = true)]
async fn nothing_is_tried_again_when_the_run_was_stopped() {
    let retried = TWO.replace("- name: one\n", "- name: one\n    retries: { attempts: 3, delay: 5s }\n");
    for (stops, tries) in [(true, 1), (false, 3)] {
        let transport = healthy();
        transport.first(
            Reply::part("task").with("tool-alpha").after(Duration::from_mins(1)).output("ended 1\nno\n"),
        );
        run(&world("{}", &retried), &transport, Mode::Apply, |stopper| {
            tokio::spawn(async move {
                tokio::time::sleep(Duration::from_secs(30)).await;
                if stops {
                    stopper.ask(Stop::Finish);
                } else {
                    // Nobody asks: the channel stays open until the end.
                    tokio::time::sleep(Duration::from_hours(1)).await;
                }
            });
        })
        .await;
        assert_eq!(names(&transport, "gpu0").iter().filter(|part| *part == "task").count(), tries);
    }
}

#[tokio::test(start_paused = true)]
async fn a_stop_does_not_wait_for_hosts_that_were_not_reached_yet() {
    let transport = healthy();
    transport.first(Reply::open().on("gpu1").after(Duration::from_secs(14)).fail(ConnectKind::TimedOut));
    let began = tokio::time::Instant::now();
    let ran = run(&world("{}", TWO), &transport, Mode::Apply, |stopper| {
        tokio::spawn(async move {
            tokio::time::sleep(Duration::from_secs(2)).await;
            stopper.ask(Stop::Finish);
        });
    })
    .await;
    assert!(began.elapsed() < Duration::from_secs(3), "{:?}", began.elapsed());
    let status = ran.report.sessions.iter().find(|session| session.name() == "gpu1").unwrap().result().0;
    assert!(
        matches!(&status, HostStatus::NotStarted(reason) if reason == "the run was stopped before it was reached"),
        "{status:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn a_condition_that_hangs_costs_the_deadline_of_its_task() {
    let plain = |number| format!("  - name: t{number}\n    command: {{ run: [tool{number}] }}\n");
    let plain: String = (1..9).map(plain).collect();
    let stuck = "  - name: stuck\n    timeout: 5s\n    command: { run: [make], unless: [made, now] }\n";
    // Changes come before it: it is asked at the start, and once more when its task is next.
    for (tasks, asked, seconds) in [(format!("{plain}{stuck}"), 2, 12), (format!("{stuck}{plain}"), 1, 7)] {
        let transport = healthy();
        transport.first(Reply::part("ask").on("gpu0").with("made").hang());
        let began = tokio::time::Instant::now();
        let ran = apply(&world("{}", &format!("name: p\ntasks:\n{tasks}")), &transport).await;
        let took = began.elapsed();
        assert_eq!((ran.report.stats.ok, ran.report.stats.failed), (3, 1), "{:?}", ran.record);
        let parts = transport.parts("gpu0");
        assert_eq!(parts.iter().filter(|part| *part == "ask").count(), asked, "{parts:?}");
        assert!(took < Duration::from_secs(seconds), "{took:?}");
        let said = message(&ran, "stuck");
        assert_eq!(said, "its `unless` does not answer: `made now` gave no answer within 5s");
    }
    // Where `creates` alone says that it is due, it is asked again with the lock and behind the change.
    for (before, looks) in [("", 2), (plain.as_str(), 2)] {
        let transport = healthy();
        transport.first(Reply::part("file").output("stat 0:0:41ed:9:1:1:1:/made\n"));
        transport.first(Reply::part("file").on("gpu0").times(looks).output("absent /made\n"));
        transport.first(Reply::part("ask").on("gpu0").with("made").hang());
        let stuck = stuck
            .replace("unless:", "creates: /made, unless:")
            .replace("stuck\n", "stuck\n    on_failure: continue\n");
        let tasks = format!("{before}{stuck}  - name: last\n    command: {{ run: [last] }}\n");
        let ran = apply(&world("{}", &format!("name: p\ntasks:\n{tasks}")), &transport).await;
        assert_eq!((ran.report.stats.ok, ran.report.stats.failed), (3, 1), "{:?}", ran.record);
        let said = message(&ran, "stuck");
        assert!(
            said.ends_with("its `unless` does not answer: `made now` gave no answer within 5s"),
            "{said}"
        );
        assert_eq!(ran.record.hosts["gpu0"].warnings, ["`made now` gave no answer within 5s"]);
        let tasks = &ran.record.hosts["gpu0"].tasks;
        assert!(tasks.iter().any(|task| task.task.name == "last"), "{tasks:?}");
    }
    // Nine of them: one deadline each, and what is said names them.
    let nine = |timeout: &str| -> String {
        let task = |number| {
            format!(
                "  - name: t{number}\n    timeout: {timeout}\n    on_failure: continue\n    \
                 command: {{ run: [make], unless: [made, \"{number}\"] }}\n"
            )
        };
        format!("name: p\ntasks:\n{}", (1..10).map(task).collect::<String>())
    };
    let transport = healthy();
    transport.first(Reply::part("ask").on("gpu0").hang());
    let began = tokio::time::Instant::now();
    let ran = apply(&world("{}", &nine("5s")), &transport).await;
    assert!(began.elapsed() < Duration::from_secs(47), "{:?}", began.elapsed());
    for number in 1..10 {
        let said = message(&ran, &format!("t{number}"));
        let reason = format!("`made {number}` gave no answer within 5s");
        assert_eq!(said, format!("its `unless` does not answer: {reason}"));
    }
    // All hosts wait until the facts are there: longer than a minute is too long.
    let ran = apply(&world("{}", &nine("10m")), &transport).await;
    let HostStatus::Quarantined { reason } = ran.status("gpu0") else { panic!("{:?}", ran.record) };
    assert_eq!(
        reason,
        "its facts were not gathered within 60s; no answer from `made 1`, `made 2`, `made 3`, `made 4`"
    );
}

#[tokio::test(start_paused = true)]
async fn a_host_without_a_tool_that_changes_need_is_left_alone() {
    let transport = healthy();
    transport.first(Reply::part("state").on("gpu0").output("missing\tdd\nmissing\ttr\n"));
    let two = world("{}", TWO);
    let ran = run(&two, &transport, Mode::Plan, |_| {}).await;
    assert_eq!(
        ran.record.hosts["gpu0"].warnings,
        ["it lacks dd and tr: `apply` makes no change there before it has"]
    );
    let ran = apply(&two, &transport).await;
    assert_eq!(
        message(&ran, "one"),
        "it lacks dd and tr, and no change is safe without: install what is missing"
    );
    assert_eq!(names(&transport, "gpu0"), Vec::<String>::new());
    assert_eq!((ran.report.stats.ok, ran.report.stats.failed), (3, 1));
    // Where nothing is to be done it is a warning.
    let nothing = "name: p\ntasks:\n  - name: one\n    when: \"false\"\n    command: { run: [x] }\n";
    assert_eq!(apply(&world("{}", nothing), &transport).await.report.stats.ok, 4);
}
