//! Facts of other hosts: whoever reads them gets what holds at the barrier.

use std::sync::Mutex;

use super::*;
use provision::transport::Sent;

/// What a task is told of all hosts.
const TELL: &str = "
  - name: tell
    command: { run: [tell, \"{% for name, h in hosts %}{{ h.facts.hostname }} {% endfor %}\"] }
";
const RENAME: &str = "
  - name: rename
    command: { run: [rename, it] }
";

/// Hosts whose name is another one once they ran `rename`.
fn renamed() -> Scripted {
    let done: Mutex<BTreeSet<String>> = Mutex::default();
    healthy().answer(move |sent: &Sent| {
        let mut done = done.lock().unwrap();
        if sent.part == "task" && sent.text.contains("rename") {
            done.insert(sent.host.clone());
        }
        let age = if done.contains(&sent.host) { "new" } else { "old" };
        (sent.part == "base.hostname").then(|| Reply::default().output(format!("{}-{age}\n", sent.host)))
    })
}

/// What each host that was told something was told.
fn told(transport: &Scripted) -> BTreeMap<String, String> {
    let tasks = transport.sent().into_iter().filter(|sent| sent.part == "task");
    let line =
        |text: &str| text.lines().find(|line| line.contains("gpu0-")).map(|line| line.trim().to_owned());
    tasks.filter_map(|sent| line(&sent.text).map(|text| (sent.host, text))).collect()
}

const ALL_NEW: &str = "gpu0-new gpu1-new gpu2-new gpu3-new";

#[tokio::test(start_paused = true)]
async fn others_facts_are_those_after_a_command() {
    for rollout in ["{}", "{ parallel: 1 }", "{ batch: 1 }"] {
        let transport = renamed();
        let ran = apply(&world(rollout, &format!("name: f\ntasks:{RENAME}{TELL}")), &transport).await;
        assert_eq!(ran.report.stats.ok, 4, "{rollout}: {:?}", ran.record);
        let told = told(&transport);
        assert!(told.len() == 4 && told.values().all(|text| text == ALL_NEW), "{rollout}: {told:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn others_facts_are_those_after_a_handler() {
    let playbook = format!(
        "name: f\ntasks:\n  - name: edit\n    command: {{ run: [edit, it] }}\n    notify: rename\n{TELL}handlers:{RENAME}"
    );
    let transport = renamed();
    let ran = apply(&world("{}", &playbook), &transport).await;
    assert_eq!(ran.report.stats.ok, 4, "{:?}", ran.record);
    let told = told(&transport);
    assert!(told.len() == 4 && told.values().all(|text| text == ALL_NEW), "{told:?}");
}

#[tokio::test(start_paused = true)]
async fn a_handler_reads_others_facts() {
    let playbook = format!(
        "name: f\ntasks:\n  - name: edit\n    command: {{ run: [edit, it] }}\n    notify: tell\nhandlers:{TELL}"
    );
    for rollout in ["{}", "{ parallel: 1 }"] {
        let transport = renamed();
        let ran = apply(&world(rollout, &playbook), &transport).await;
        assert_eq!(ran.report.stats.ok, 4, "{rollout}: {:?}", ran.record);
        let told = told(&transport);
        let all = "gpu0-old gpu1-old gpu2-old gpu3-old";
        assert!(told.len() == 4 && told.values().all(|text| text == all), "{rollout}: {told:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn others_facts_stay_known_to_later_batches() {
    let transport = renamed();
    let ran = apply(&world("{ batch: 1 }", &format!("name: f\ntasks:{TELL}{RENAME}")), &transport).await;
    assert_eq!(ran.report.stats.ok, 4, "{:?}", ran.record);
    let told = told(&transport);
    assert_eq!(told["gpu0"], "gpu0-old gpu1-old gpu2-old gpu3-old");
    assert_eq!(told["gpu3"], "gpu0-new gpu1-new gpu2-new gpu3-old");
}

#[tokio::test(start_paused = true)]
async fn of_a_host_that_is_lost_the_last_answers_count() {
    let transport = renamed();
    transport.first(Reply::open().on("gpu0").fail(ConnectKind::NoRoute).output("No route to host"));
    transport.first(Reply::open().on("gpu0").times(1));
    transport.first(Reply::part("task").on("gpu0").lose());
    let ran = apply(&world("{}", &format!("name: f\ntasks:{RENAME}{TELL}")), &transport).await;
    assert!(matches!(ran.status("gpu0"), HostStatus::Quarantined { .. }), "{:?}", ran.record);
    assert_eq!(ran.report.stats.ok, 3);
    assert_eq!(told(&transport)["gpu1"], "gpu0-old gpu1-new gpu2-new gpu3-new");
}

#[tokio::test(start_paused = true)]
async fn of_a_host_that_is_away_the_answers_of_an_earlier_run_count() {
    let mut world = world("{}", &format!("name: f\ntasks:{TELL}"));
    for (host, name, age) in [("gpu2", "gpu2-then", 60), ("gpu3", "gpu3-then", 7200), ("gone", "x", 9999)] {
        world.recorded.put(host, NOW - age, "base hostname", name.into());
    }
    let transport = renamed();
    transport.first(Reply::open().on("gpu3").fail(ConnectKind::NoRoute).output("No route to host"));
    let ran = apply(&world, &transport).await;
    assert_eq!((ran.report.stats.ok, ran.report.stats.unreachable), (3, 1), "{:?}", ran.record);
    // Of gpu2 this run knows more.
    assert_eq!(told(&transport)["gpu0"], "gpu0-old gpu1-old gpu2-old gpu3-then");
    let warned = format!("{:?}", ran.events);
    assert!(warned.contains("facts of gpu3 are those of an earlier run, up to 2h"), "{warned}");
}

#[tokio::test(start_paused = true)]
async fn a_task_reads_its_own_facts_after_a_change() {
    let own = "
  - name: tell
    command: { run: [tell, \"{{ facts.hostname }}\"] }
";
    let transport = renamed();
    let ran = apply(&world("{}", &format!("name: f\ntasks:{RENAME}{own}")), &transport).await;
    assert_eq!(ran.report.stats.ok, 4, "{:?}", ran.record);
    assert_eq!(told(&transport)["gpu0"], "gpu0-new");
}
