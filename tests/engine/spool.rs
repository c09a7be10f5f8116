//! Every change goes through the spool of its host: what was cut is found there again.

use std::sync::Mutex;

use super::hosts::{MODE, acts, message, names, says, stat};
use super::*;
use provision::transport::Sent;

#[tokio::test(start_paused = true)]
async fn every_change_goes_through_the_spool_and_is_forgotten_when_its_end_was_seen() {
    let transport = healthy();
    let playbook = TWO
        .replace("- name: one\n", "- name: one\n    become_user: rider\n")
        .replace("- name: two\n", "- name: two\n    detach: true\n    notify: tell\n")
        + "handlers:\n  - name: tell\n    command: { run: [reload, it] }\n";
    let ran = apply(&world("{}", &playbook), &transport).await;
    assert_eq!(ran.report.stats.ok, 4, "{:?}", ran.record);
    let sent = acts(&transport, "gpu0");
    let tasks: Vec<_> = sent.iter().filter(|sent| sent.part == "task").collect();
    let mut keys = Vec::new();
    for (task, (name, how, user, word)) in tasks.iter().zip([
        ("./site.yaml/one", "here", "rider", "tool-alpha"),
        ("./site.yaml/two", "detach", "", "tool-beta"),
        ("./site.yaml/tell", "here", "", "reload"),
    ]) {
        assert!(task.text.contains("mkfifo \"$s/pipe\""), "the spool: {}", task.text);
        let lines: Vec<&str> = task.text.lines().collect();
        // Data of the spool: its key, the task, the run, how, as whom, for which cluster.
        let at = lines.iter().rposition(|line| *line == name).unwrap();
        assert_eq!(lines[at..at + 5], [name, "run1", how, user, "t"]);
        assert!(lines[at + 5..].join("\n").contains(word));
        keys.push(lines[at - 1].to_owned());
    }
    assert_eq!(keys.iter().collect::<BTreeSet<_>>().len(), 3, "{keys:?}");
    assert!(keys.iter().all(|key| key.len() == 16), "{keys:?}");
    // Only what notifies says whom.
    let tell = engine::state::notify_key("t", "./site.yaml/tell");
    let said: Vec<bool> = tasks.iter().map(|task| task.text.contains(&tell)).collect();
    assert_eq!(said, [false, true, false]);
    assert!(tasks[1].text.ends_with(&format!("{tell}\n./site.yaml/tell")), "{}", tasks[1].text);
    let tidied: Vec<_> = sent.iter().filter(|sent| sent.part == "tidy").map(|sent| &sent.text).collect();
    let seen = format!("\n{tell}\n--\n{}", keys.join("\n"));
    assert_eq!(tidied.len(), 1);
    assert!(tidied[0].ends_with(&seen), "{tidied:?}");
}

#[tokio::test(start_paused = true)]
async fn what_the_spool_reports() {
    for (said, told) in [
        ("ended 7\nsome\nE: last words\n", "E: last words"),
        ("ended 7\n", "ended with status 7"),
        ("lost 0\npart of it\n", "its process is gone without a status: it was killed"),
        (
            "refused busy run9 you@there/2 1 2\n",
            "another run works on this host: run run9 of controller you@there/2",
        ),
        (
            "unwritable /run/provision/spool/x: mkfifo: Operation not supported\n",
            "cannot write the state directory of the host: /run/provision/spool/x: mkfifo: Operation not supported",
        ),
        ("failed no systemd\n", "it could not be started: no systemd"),
        ("ended many\n", "no status in \"ended many\""),
    ] {
        let transport = healthy();
        transport.first(Reply::part("task").with("tool-alpha").output(said));
        let ran = apply(&world("{}", TWO), &transport).await;
        assert!(message(&ran, "one").starts_with(told), "{said}: {:?}", ran.outcome("gpu0", "one"));
        assert!(!names(&transport, "gpu0").contains(&"follow".to_owned()));
        assert_eq!(ran.report.stats.failed, 4);
    }
}

/// Hosts of which gpu0 has work of an earlier run in its spool.
fn inherits(spool: &str, follow: Reply) -> Scripted {
    let transport = healthy();
    transport.first(Reply::part("state").on("gpu0").output(format!("version\t1\n{spool}\n")));
    transport.first(Reply { part: Some("follow".to_owned()), ..follow });
    transport
}

#[tokio::test(start_paused = true)]
async fn a_connection_that_is_lost_again_and_again_is_given_up() {
    let running = "spool\tabc\trunning\t\trun0\t./site.yaml/one";
    let transport = inherits(running, Reply::default().lose());
    let ran = apply(&world("{}", TWO), &transport).await;
    let told = "`./site.yaml/one` of an earlier run could not be followed";
    assert!(
        matches!(ran.status("gpu0"), HostStatus::Quarantined { reason } if reason.contains(told)),
        "{:?}",
        ran.status("gpu0")
    );
    assert_eq!(names(&transport, "gpu0"), ["follow"; 6]);
    // A change that never arrives is sent six times.
    let transport = healthy();
    transport.first(Reply::part("task").on("gpu0").lose());
    let ran = apply(&world("{}", TWO), &transport).await;
    assert!(message(&ran, "one").starts_with("the connection was lost again and again"), "{:?}", ran.record);
    assert_eq!(names(&transport, "gpu0").iter().filter(|part| *part == "task").count(), 6);
    assert_eq!(ran.report.stats.ok, 3);
}

#[tokio::test(start_paused = true)]
async fn notifications_are_cleared_when_the_host_has_time_for_it() {
    let playbook = TWO.replace("- name: two\n", "- name: two\n    notify: tell\n")
        + "handlers:\n  - name: tell\n    command: { run: [reload, it] }\n";
    let busy = "refused busy run9 you@there/2 1 2\n";
    let why = "another run works on this host: run run9 of controller you@there/2; if that one is cut off, \
               `provision unlock` takes its lock";
    let late = "refused late\n";
    let newer = "a newer connection of this run works on this host";
    // A host that is busy is asked again for three seconds, and one that refuses for another reason is not.
    for (said, times, asked, told) in
        [(busy, 2, 3, None), (busy, 20, 11, Some(why)), (late, 20, 1, Some(newer))]
    {
        let transport = healthy();
        transport.first(Reply::part("tidy").on("gpu0").output(said).times(times));
        let ran = apply(&world("{}", &playbook), &transport).await;
        assert_eq!(ran.report.stats.ok, 4, "{:?}", ran.record);
        assert_eq!(names(&transport, "gpu0").iter().filter(|part| *part == "tidy").count(), asked, "{said}");
        assert_eq!(names(&transport, "gpu1").iter().filter(|part| *part == "tidy").count(), 1);
        let warned = ran.events.iter().find_map(|event| match &event.kind {
            EventKind::Warning { message, .. } => Some(message.as_str()),
            _ => None,
        });
        let wanted = told.map(|why| {
            format!("its notifications could not be cleared, so the next run repeats these handlers: {why}")
        });
        assert_eq!(warned, wanted.as_deref(), "{said}");
    }
}

#[tokio::test(start_paused = true)]
async fn what_an_earlier_run_ended_counts_for_its_task_and_for_no_handler() {
    let attached = |ran: &Ran| {
        let events = ran.events.iter();
        events
            .filter(|event| matches!(&event.kind, EventKind::Attached { host, .. } if host == "gpu0"))
            .count()
    };
    // What runs still is waited for, and that is told.
    let transport = inherits("spool\tabc\trunning\t\trun0\t./site.yaml/one", says("ended 0\nlong\n"));
    let ran = apply(&world("{}", TWO), &transport).await;
    assert_eq!((attached(&ran), ran.report.stats.ok), (1, 4), "{:?}", ran.record);
    // It failed: told, and tried again.
    let transport = inherits("spool\tabc\tended\t3\trun0\t./site.yaml/one", says("ended 3\nE: no\n"));
    let ran = apply(&world("{}", TWO), &transport).await;
    let warned = ran.record.hosts["gpu0"].warnings.join("\n");
    assert_eq!(warned, "an earlier attempt of `one` ended with status 3: E: no");
    assert!(ran_on(&transport, "gpu0", "tool-alpha"));
    assert_eq!(attached(&ran), 0);
    // A handler that ran for an earlier notification has not run for this one.
    let transport = inherits("spool\tabc\tended\t0\trun0\t./site.yaml/tell", says("ended 0\nold\n"));
    let ran = apply(&world("{}", NOTIFYING), &transport).await;
    assert!(ran_on(&transport, "gpu0", "reload"));
    assert_eq!(ran.report.stats.ok, 4);
    // Its change shows already: it is this task's, and is forgotten on the host.
    let transport = inherits("spool\tabc\tended\t0\trun0\t./site.yaml/mode", says("ended 0\nby then\n"));
    transport.first(Reply { part: Some("file".to_owned()), ..stat("81a4", 0) });
    let ran = apply(&world("{}", MODE), &transport).await;
    assert!(
        matches!(ran.outcome("gpu0", "mode"), Outcome::Changed { output, .. } if output == "by then\n"),
        "{:?}",
        ran.record
    );
    assert_eq!(names(&transport, "gpu0"), ["follow", "tidy"]);
    assert!(tidied(&transport, "gpu0")[0].ends_with("\n--\nabc"));
    // What it left holds the lock a moment longer: the entry is not kept, or it would count again.
    let transport = inherits("spool\tabc\tended\t0\trun0\t./site.yaml/mode", says("ended 0\nby then\n"));
    transport.first(Reply { part: Some("file".to_owned()), ..stat("81a4", 0) });
    transport.first(Reply {
        times: Some(2),
        ..Reply::part("tidy").on("gpu0").output("refused busy run0 me 7 1 0 0\n")
    });
    apply(&world("{}", MODE), &transport).await;
    assert_eq!(names(&transport, "gpu0"), ["follow", "tidy", "tidy", "tidy"]);
    assert!(tidied(&transport, "gpu0")[2].ends_with("\n--\nabc"));
    // It ended well and does not show any more: done again, and nothing is said of a failure.
    let transport = inherits("spool\tabc\tended\t0\trun0\t./site.yaml/mode", says("ended 0\nby then\n"));
    transport.first(Reply { part: Some("file".to_owned()), ..stat("81a4", 0) });
    transport.first(Reply { part: Some("file".to_owned()), times: Some(8), ..stat("8180", 0) });
    let ran = apply(&world("{}", MODE), &transport).await;
    assert!(ran_on(&transport, "gpu0", "/opt/kept"), "{:?}", ran.record);
    let warned = ran.record.hosts["gpu0"].warnings.join("\n");
    assert!(!warned.contains("earlier attempt"), "{warned}");
    // A lookalike that failed is none.
    let transport = inherits("spool\tabc\tended\t3\trun0\t./site.yaml/mode", says("ended 3\nno\n"));
    transport.first(Reply { part: Some("file".to_owned()), ..stat("81a4", 0) });
    let ran = apply(&world("{}", MODE), &transport).await;
    assert_eq!((ran.report.stats.ok, ran.report.stats.tasks.unchanged), (4, 4), "{:?}", ran.record);
}

/// Hosts of which gpu0 loses the connection in its first change, which is in the spool by then.
fn cut(follow: Reply) -> Scripted {
    let key: Mutex<Option<String>> = Mutex::default();
    healthy().answer(move |sent: &Sent| {
        let mut key = key.lock().unwrap();
        match (sent.host.as_str(), sent.part.as_str()) {
            ("gpu0", "task") if key.is_none() => {
                let is_key = |line: &&str| line.len() == 16 && line.chars().all(|c| c.is_ascii_hexdigit());
                *key = sent.text.lines().find(is_key).map(str::to_owned);
                Some(Reply::default().lose())
            }
            ("gpu0", "state") => key
                .as_ref()
                .map(|key| says(&format!("version\t1\nspool\t{key}\trunning\t\trun1\t./site.yaml/one\n"))),
            ("gpu0", "follow") => Some(follow.clone()),
            _ => None,
        }
    })
}

#[tokio::test(start_paused = true)]
async fn what_goes_on_after_a_cut_has_the_rest_of_its_time() {
    let transport = cut(says("ended 0\nlate\n").after(Duration::from_mins(8)));
    let ran = apply(&world("{}", TWO), &transport).await;
    assert!(
        matches!(ran.outcome("gpu0", "one"), Outcome::Ran { output, .. } if output == "late\n"),
        "{:?}",
        ran.record
    );
    let attached =
        |event: &Event| matches!(&event.kind, EventKind::Attached { task, .. } if task == "./site.yaml/one");
    assert!(ran.events.iter().any(attached), "it is told by its name: {:?}", ran.events);
    // And no more than that.
    let transport = cut(says("ended 0\nlate\n").after(Duration::from_mins(11)));
    let ran = apply(&world("{}", TWO), &transport).await;
    assert!(message(&ran, "one").contains("not finished within its deadline of 10m"), "{:?}", ran.record);
    assert!(names(&transport, "gpu0").contains(&"end-task".to_owned()));
    // A connection that does not hold is given up.
    let transport = cut(Reply::default().lose());
    let ran = apply(&world("{}", TWO), &transport).await;
    assert!(message(&ran, "one").starts_with("the connection was lost again and again"), "{:?}", ran.record);
    assert_eq!(names(&transport, "gpu0").iter().filter(|part| *part == "follow").count(), 5);
    assert_eq!(ran.report.stats.ok, 3);
}

#[tokio::test(start_paused = true)]
async fn a_task_past_its_deadline_goes_on_where_that_was_said() {
    for (said, left) in [("leave", true), ("kill", false)] {
        let transport = healthy();
        transport.first(Reply::part("task").on("gpu0").with("tool-alpha").hang());
        let playbook = TWO.replace("- name: one\n", &format!("- name: one\n    on_deadline: {said}\n"));
        let ran = apply(&world("{}", &playbook), &transport).await;
        assert!(message(&ran, "one").starts_with(if left {
            "still running after 10m"
        } else {
            "not finished within"
        }));
        let acts = names(&transport, "gpu0");
        assert_eq!(acts.contains(&"end-task".to_owned()), !left, "{acts:?}");
        // The next run finds what was left.
        assert_eq!(acts.contains(&"tidy".to_owned()), !left, "{acts:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn what_a_deadline_left_running_is_told() {
    for (said, told) in [
        ("", "its processes on the host were ended"),
        ("unit yes\n", "its processes on the host were ended"),
        ("unit no\n", "its processes on the host were ended; a daemon that left their session may still run"),
        (
            "unit no\nleft 12 dd\nleft 13 my tool\n",
            "still running on the host, SIGKILL has not ended it: 12 (dd), 13 (my tool)",
        ),
    ] {
        let transport = healthy();
        transport.first(Reply::part("task").on("gpu0").hang());
        transport.first(Reply::part("end-task").output(said));
        let playbook = "name: p\ntasks:\n  - name: slow\n    timeout: 5s\n    command: { run: [tool] }\n";
        let ran = apply(&world("{}", playbook), &transport).await;
        assert_eq!(message(&ran, "slow"), format!("not finished within its deadline of 5s; {told}"));
    }
}
