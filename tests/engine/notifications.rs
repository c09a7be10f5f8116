//! A notification waits on its host until its handler succeeded.

use super::hosts::{acts, names, unit};
use super::*;

const HANDLED: &str = "
name: p
tasks:
  - name: change
    command: { run: [edit, it] }
    notify: [tell, start]
handlers:
  - name: tell
    command: { run: [reload, it] }
  - name: start
    service: { name: alpha, state: started }
";

#[tokio::test(start_paused = true)]
async fn a_notification_is_kept_until_its_handler_succeeded() {
    let keys = |names: &[&str]| -> Vec<String> {
        names.iter().map(|name| engine::state::notify_key("t", &format!("./site.yaml/{name}"))).collect()
    };
    let cleared = |transport: &Scripted| {
        let both = keys(&["start", "tell"]);
        let tidied = acts(transport, "gpu0").into_iter().filter(|sent| sent.part == "tidy");
        let text: String = tidied.map(|sent| sent.text).collect();
        both.into_iter().filter(|key| text.contains(key)).collect::<Vec<_>>()
    };
    // Both succeed; `start` finds its service up.
    let transport = healthy();
    transport.first(Reply { part: Some("unit".to_owned()), ..unit("active") });
    let ran = apply(&world("{}", HANDLED), &transport).await;
    assert_eq!((ran.report.stats.ok, cleared(&transport)), (4, keys(&["start", "tell"])), "{:?}", ran.record);
    assert!(ran.record.hosts["gpu0"].handlers.is_empty());
    // One of them fails: it waits on the host for the next run, and the end says so.
    let transport = healthy();
    transport.first(Reply { part: Some("unit".to_owned()), ..unit("active") });
    transport.first(Reply::part("task").with("reload").output("ended 1\nno\n"));
    let ran = apply(&world("{}", HANDLED), &transport).await;
    assert_eq!((ran.report.stats.failed, cleared(&transport)), (4, keys(&["start"])), "{:?}", ran.record);
    assert_eq!(ran.record.hosts["gpu0"].handlers, ["tell"]);
    // A task that changed nothing notifies nobody.
    let quiet = HANDLED.replace("run: [edit, it]", "run: [edit, it], creates: /");
    let transport = healthy();
    transport.first(Reply::part("file").output("stat 0:0:41ed:9:1:1:1:/\n"));
    let ran = apply(&world("{}", &quiet), &transport).await;
    assert_eq!(ran.report.stats.ok, 4);
    assert!(names(&transport, "gpu0").is_empty(), "{:?}", names(&transport, "gpu0"));
}

#[tokio::test(start_paused = true)]
async fn a_notification_is_cleared_by_the_name_that_the_host_has_for_it() {
    let transport = healthy();
    let left = "version\t1\nnotify\t./site.yaml/tell\tt\tnew\tk9\nnotify\t./site.yaml/tell\tt\tnew\t\n";
    transport.first(Reply::part("state").output(left));
    let ran = apply(&world("{}", NOTIFYING), &transport).await;
    assert_eq!(ran.report.stats.ok, 4);
    let own = engine::state::notify_key("t", "./site.yaml/tell");
    assert!(own.len() == 16 && own.chars().all(|c| c.is_ascii_hexdigit()), "{own}");
    assert_ne!(own, engine::state::notify_key("u", "./site.yaml/tell"));
    assert_ne!(own, engine::state::notify_key("t", "./site.yaml/other"));
    let text = &tidied(&transport, "gpu0")[0];
    let mut keys: Vec<&str> = text.lines().rev().skip_while(|line| *line != "--").skip(1).take(2).collect();
    keys.sort_unstable();
    assert_eq!(
        keys,
        [own.as_str(), "k9"].into_iter().collect::<BTreeSet<_>>().into_iter().collect::<Vec<_>>()
    );
    assert!(!text.contains("\n\n--"), "{text}");
}

#[tokio::test(start_paused = true)]
async fn what_waits_for_its_handlers_when_the_run_is_stopped() {
    let stopped = |playbook: &'static str| async move {
        let transport = healthy();
        transport.first(Reply::part("task").after(Duration::from_mins(1)).output("ended 0\n"));
        run(&world("{}", playbook), &transport, Mode::Apply, |stopper| {
            tokio::spawn(async move {
                tokio::time::sleep(Duration::from_secs(30)).await;
                stopper.ask(Stop::Finish);
            });
        })
        .await
    };
    let ran = stopped(NOTIFYING).await;
    assert!(
        matches!(ran.status("gpu0"), HostStatus::NotStarted(reason) if reason == "the run was stopped before its handlers"),
        "{:?}",
        ran.status("gpu0")
    );
    assert_eq!(ran.record.hosts["gpu0"].handlers, ["tell"]);
    // Nothing waits: the host is done.
    let ran = stopped("name: n\ntasks:\n  - name: change\n    command: { run: [edit, it] }\n").await;
    assert_eq!(*ran.status("gpu0"), HostStatus::Ok);
    assert!(ran.record.hosts["gpu0"].handlers.is_empty());
    // A boot that no task asked for by name is a handler like any other.
    let broken = "name: n\ntasks:\n  - name: change\n    command: { run: [edit, it] }\n    notify: [boot, tell]\n  - name: breaks\n    command: { run: [break, it] }\nhandlers:\n  - name: boot\n    reboot: {}\n  - name: tell\n    command: { run: [reload, it] }\n";
    let transport = healthy();
    transport.first(Reply::part("task").with("break").output("ended 1\nno\n"));
    let ran = apply(&world("{}", broken), &transport).await;
    assert_eq!(ran.record.hosts["gpu0"].handlers, ["boot", "tell"]);
}

/// A handler that failed because a later stage had not done its part yet must not keep that stage from
/// being reached in the next run.
#[tokio::test(start_paused = true)]
async fn what_an_earlier_run_left_waits_for_the_tasks_that_may_mend_it() {
    let playbook = "
name: p
tasks:
  - name: first
    command: { run: [work-1, it] }
  - name: everybody
    command: { run: [work-2, it] }
    run_once: true
  - name: mend
    command: { run: [work-3, it] }
    notify: tell
handlers:
  - name: tell
    command: { run: [work-4, it] }
";
    let left = "version\t1\nnotify\t./site.yaml/tell\tt\tnew\tk9\n";
    let transport = healthy();
    transport.first(Reply::part("state").output(left));
    let ran = apply(&world("{}", playbook), &transport).await;
    assert_eq!(ran.report.stats.ok, 4, "{:?}", ran.record);
    let order: Vec<&str> = acts(&transport, "gpu0")
        .iter()
        .filter(|sent| sent.part == "task")
        .filter_map(|sent| {
            ["work-1", "work-2", "work-3", "work-4"].into_iter().find(|it| sent.text.contains(it))
        })
        .collect();
    assert_eq!(order, ["work-1", "work-2", "work-3", "work-4"]);
    // No task to come has to do with it: it runs at the end of the first stage, and a plan says so once.
    let other = playbook.replace("    notify: tell\n", "");
    for (playbook, stage) in [(playbook, 2), (other.as_str(), 0)] {
        let transport = healthy();
        transport.first(Reply::part("state").output(left));
        let ran = run(&world("{}", playbook), &transport, Mode::Plan, |_| {}).await;
        let planned: Vec<bool> = ran
            .events
            .iter()
            .filter_map(|event| match &event.kind {
                EventKind::HostPlanned { host, tasks } if host == "gpu0" => {
                    Some(tasks.iter().any(|task| task.task.name == "tell"))
                }
                _ => None,
            })
            .collect();
        assert_eq!(planned.iter().position(|told| *told), Some(stage), "{planned:?}");
        assert_eq!(planned.iter().filter(|told| **told).count(), 1, "{planned:?}");
    }
}
