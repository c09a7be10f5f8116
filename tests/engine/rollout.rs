//! Canaries, batches, the budget of failures, and what a stop leaves.

use super::*;

/// Two stages and a barrier between them.
const STAGES: &str = "
name: s
tasks:
  - name: one
    command: { run: [tool-alpha] }
  - name: once
    run_once: true
    command: { run: [tool-once] }
  - name: two
    command: { run: [tool-beta] }
";

/// Hosts on which every task fails.
fn broken() -> Scripted {
    let transport = healthy();
    transport.first(Reply::part("task").after(Duration::from_secs(1)).output("ended 1\nno\n"));
    transport
}

impl Ran {
    /// Why a host was left.
    pub(super) fn left(&self, host: &str) -> &str {
        match self.status(host) {
            HostStatus::NotStarted(reason) => reason,
            other => panic!("{host}: {other:?}"),
        }
    }

    pub(super) fn batches(&self) -> Vec<String> {
        let name = |event: &Event| match &event.kind {
            EventKind::BatchStarted { name, hosts } => Some(format!("{name}: {}", hosts.join(" "))),
            _ => None,
        };
        self.events.iter().filter_map(name).collect()
    }

    pub(super) fn stops(&self) -> Vec<String> {
        let reason = |event: &Event| match &event.kind {
            EventKind::Stopping { reason } => Some(reason.clone()),
            _ => None,
        };
        self.events.iter().filter_map(reason).collect()
    }
}

fn sums(ran: &Ran) -> [u64; 4] {
    let stats = &ran.report.stats;
    [stats.ok, stats.failed, stats.unreachable, stats.not_started]
}

#[tokio::test(start_paused = true)]
async fn nothing_is_started_after_a_failed_canary() {
    for rollout in ["{ canary: 1 }", "{ canary: 1, batch: 1, max_failed: 3 }", "{ canary: 1, max_failed: 0 }"]
    {
        let transport = broken();
        let ran = apply(&world(rollout, TWO), &transport).await;
        assert_eq!(sums(&ran), [0, 1, 0, 3], "{rollout}");
        for host in ["gpu1", "gpu2", "gpu3"] {
            assert!(transport.parts(host).is_empty(), "{rollout}: {host} must not be touched");
            assert_eq!(ran.left(host), "the canary gpu0 failed");
        }
        assert_eq!(ran.batches(), ["canary: gpu0"], "{rollout}");
        assert_eq!(ran.stops(), ["the canary gpu0 failed: nothing else is started"]);
        assert!(ran.report.stopped);
    }
}

#[tokio::test(start_paused = true)]
async fn a_canary_that_cannot_be_reached_or_is_lost_stops_too() {
    let transport = healthy();
    transport.first(Reply::open().on("gpu0").fail(ConnectKind::Refused).output("Connection refused"));
    let ran = apply(&world("{ canary: 1 }", TWO), &transport).await;
    assert_eq!(sums(&ran), [0, 0, 1, 3]);
    assert_eq!(ran.left("gpu1"), "the canary gpu0 is unreachable");

    let transport = healthy();
    transport.first(Reply::open().on("gpu0").fail(ConnectKind::NoRoute).output("No route to host"));
    transport.first(Reply::open().on("gpu0").times(1));
    transport.first(Reply::part("task").on("gpu0").lose());
    let ran = apply(&world("{ canary: 1 }", TWO), &transport).await;
    assert_eq!(ran.report.stats.not_started, 3);
    assert!(transport.parts("gpu1").is_empty());
}

#[tokio::test(start_paused = true)]
async fn the_canary_is_alone_and_the_others_follow() {
    let transport = healthy();
    transport.first(Reply::part("task").after(Duration::from_secs(5)).output("ended 0\n"));
    let ran = apply(&world("{ canary: 1, batch: 2 }", TWO), &transport).await;
    assert_eq!(sums(&ran), [4, 0, 0, 0]);
    assert_eq!(ran.batches(), ["canary: gpu0", "batch 1: gpu1 gpu2", "batch 2: gpu3"]);
    assert_eq!(transport.most_open(), 2);
    let first = |name: &str| {
        let sent = transport.sent();
        sent.iter().position(|sent| sent.host == name).unwrap()
    };
    let last = transport.sent().iter().rposition(|sent| sent.host == "gpu0").unwrap();
    assert!(last < first("gpu1"), "the canary ended before the next host was opened");
}

#[tokio::test(start_paused = true)]
async fn canaries_are_the_first_hosts_that_have_tasks_whatever_their_group() {
    let world = world("{}", TWO);
    let text = "cluster: t\nrollout: { canary: 2 }\nplaybooks: [{ use: ./site.yaml, hosts: \"gpu, login\" }]\n\
        groups:\n  store: { hosts: \"store[0-1]\" }\n  gpu: { hosts: \"gpu[0-2]\" }\n  login: { hosts: \"login[0-1]\" }\n";
    std::fs::write(&world.inventory, text).unwrap();
    let transport = healthy();
    transport.first(Reply::part("task").on("gpu1").with("tool-beta").output("ended 1\nno\n"));
    let ran = apply(&world, &transport).await;
    assert_eq!(ran.batches(), ["canary: gpu0 gpu1"]);
    assert_eq!(sums(&ran), [1, 1, 0, 5]);
    assert!(transport.parts("login0").is_empty() && transport.parts("store0").is_empty());
}

#[tokio::test(start_paused = true)]
async fn the_budget_is_looked_at_before_each_host() {
    let transport = broken();
    let ran = apply(&world("{ parallel: 1, max_failed: 1 }", TWO), &transport).await;
    assert_eq!(sums(&ran), [0, 2, 0, 2]);
    assert_eq!(ran.left("gpu2"), "2 hosts failed, more than rollout.max_failed allows (1)");
    assert!(transport.parts("gpu2").is_empty() && transport.parts("gpu3").is_empty());

    // A number of a hundred is rounded down: 49 % of four hosts are one.
    let ran = apply(&world("{ parallel: 1, max_failed: \"49%\" }", TWO), &broken()).await;
    assert_eq!(sums(&ran), [0, 2, 0, 2]);
    let ran = apply(&world("{ parallel: 1, max_failed: \"100%\" }", TWO), &broken()).await;
    assert_eq!(sums(&ran), [0, 4, 0, 0]);
    assert!(ran.stops().is_empty() && !ran.report.stopped);
    let ran = apply(&world("{ parallel: 1 }", TWO), &broken()).await;
    assert_eq!(sums(&ran), [0, 4, 0, 0], "without a budget everybody has a turn");
}

#[tokio::test(start_paused = true)]
async fn hosts_that_are_not_reached_are_of_the_budget() {
    let transport = healthy();
    transport.first(Reply::open().on("gpu0").fail(ConnectKind::Refused).output("Connection refused"));
    transport.first(Reply::open().on("gpu1").fail(ConnectKind::Refused).output("Connection refused"));
    let ran = apply(&world("{ parallel: 1, max_failed: 1 }", TWO), &transport).await;
    assert_eq!(sums(&ran), [0, 0, 2, 2]);
}

#[tokio::test(start_paused = true)]
async fn a_good_canary_does_not_save_a_bad_batch() {
    let transport = broken();
    transport.first(Reply::part("task").on("gpu0").output("ended 0\n"));
    let ran = apply(&world("{ canary: 1, batch: 1, max_failed: 1 }", TWO), &transport).await;
    assert_eq!(sums(&ran), [1, 2, 0, 1]);
    assert_eq!(
        ran.batches(),
        ["canary: gpu0", "batch 1: gpu1", "batch 2: gpu2"],
        "no third one is announced"
    );
}

#[tokio::test(start_paused = true)]
async fn hosts_that_were_started_go_on_when_the_budget_is_spent() {
    let transport = healthy();
    transport.first(Reply::part("task").on("gpu0").output("ended 1\nno\n"));
    transport.first(Reply::part("task").on("gpu1").after(Duration::from_mins(5)).output("ended 0\n"));
    let ran = apply(&world("{ parallel: 2, max_failed: 0 }", TWO), &transport).await;
    assert_eq!(sums(&ran), [1, 1, 0, 2]);
    assert!(matches!(ran.outcome("gpu1", "two"), Outcome::Ran { .. }));
}

#[tokio::test(start_paused = true)]
async fn canaries_go_first_in_each_stage_and_a_later_failure_stops_too() {
    let transport = healthy();
    let ran = apply(&world("{ canary: 1 }", STAGES), &transport).await;
    assert_eq!(sums(&ran), [4, 0, 0, 0]);
    assert_eq!(ran.batches(), ["canary: gpu0", "canary: gpu0"], "run_once is not rolled out");

    let transport = healthy();
    transport.first(Reply::part("task").on("gpu0").with("tool-beta").output("ended 1\nno\n"));
    let ran = apply(&world("{ canary: 1 }", STAGES), &transport).await;
    assert_eq!(sums(&ran), [0, 1, 0, 3]);
    assert_eq!(ran.left("gpu1"), "the canary gpu0 failed");
    assert!(matches!(ran.outcome("gpu1", "one"), Outcome::Ran { .. }));
    let beta = transport.sent().into_iter().filter(|sent| sent.part == "task" && sent.text.contains("beta"));
    assert_eq!(beta.map(|sent| sent.host).collect::<Vec<_>>(), ["gpu0"]);
}

#[tokio::test(start_paused = true)]
async fn a_spent_budget_starts_no_further_stage() {
    let transport = healthy();
    transport.first(Reply::part("task").on("gpu3").with("tool-alpha").output("ended 1\nno\n"));
    let ran = apply(&world("{ max_failed: 0 }", STAGES), &transport).await;
    assert_eq!(sums(&ran), [0, 1, 0, 3]);
    assert_eq!(ran.left("gpu0"), "1 host failed, more than rollout.max_failed allows (0)");
    assert!(!transport.sent().iter().any(|sent| sent.text.contains("tool-once")));
}

#[tokio::test(start_paused = true)]
async fn who_has_nothing_left_to_do_is_well_when_the_rollout_stops() {
    let transport = healthy();
    transport.first(Reply::part("task").on("gpu0").with("tool-beta").output("ended 1\nno\n"));
    let stages = format!("{STAGES}    hosts: \"gpu[0-1]\"\n");
    let ran = apply(&world("{ canary: 1 }", &stages), &transport).await;
    assert_eq!(sums(&ran), [2, 1, 0, 1]);
    assert_eq!(ran.left("gpu1"), "the canary gpu0 failed");
}

#[tokio::test(start_paused = true)]
async fn a_host_that_ends_in_an_early_stage_ends_once() {
    let transport = healthy();
    transport.first(Reply::open().on("gpu1").fail(ConnectKind::Refused).output("Connection refused"));
    transport.first(Reply::part("task").on("gpu2").with("tool-alpha").output("ended 1\nno\n"));
    let ran = apply(&world("{}", STAGES), &transport).await;
    assert_eq!(sums(&ran), [2, 1, 1, 0]);
}

#[expect(clippy::disallowed_methods, reason = "the other side of what is tested")]
#[tokio::test(start_paused = true)]
async fn ctrl_c_leaves_what_waits_and_what_it_cut() {
    let transport = healthy();
    transport.first(Reply::part("task").after(Duration::from_mins(1)).output("ended 0\n"));
    let ran = run(&world("{ canary: 1, batch: 1 }", TWO), &transport, Mode::Apply, |stopper| {
        tokio::spawn(async move {
            tokio::time::sleep(Duration::from_secs(150)).await;
            stopper.ask(Stop::Finish);
        });
    })
    .await;
    // gpu0 was done, gpu1 was at its first task, the others had not begun.
    assert_eq!(sums(&ran), [1, 0, 0, 3]);
    assert_eq!(ran.left("gpu1"), "the run was stopped before `two`");
    assert_eq!(ran.left("gpu2"), "the run was stopped before it");
    assert_eq!(ran.batches(), ["canary: gpu0", "batch 1: gpu1"]);
}

#[tokio::test(start_paused = true)]
async fn a_plan_is_not_rolled_out() {
    let transport = healthy();
    transport.first(Reply::open().on("gpu0").fail(ConnectKind::Refused).output("Connection refused"));
    let ran = run(&world("{ canary: 1, max_failed: 0 }", TWO), &transport, Mode::Plan, |_| {}).await;
    assert_eq!(sums(&ran), [3, 0, 1, 0]);
    assert!(ran.batches().is_empty());
}

#[tokio::test(start_paused = true)]
async fn batches_one_after_another() {
    let transport = healthy();
    transport.first(Reply::part("task").after(Duration::from_secs(1)).output("ended 0\n"));
    let ran = apply(&world("{ batch: 2 }", TWO), &transport).await;
    assert_eq!(sums(&ran), [4, 0, 0, 0]);
    assert_eq!(ran.batches(), ["batch 1: gpu0 gpu1", "batch 2: gpu2 gpu3"]);
    assert_eq!(transport.most_open(), 2);
}

/// Two racks of two groups each, and a host that is in neither.
const RACKS: &str = "playbooks: [./site.yaml]\ngroups:\n  \
    a: { hosts: \"a[0-2]\", labels: { rack: r1 } }\n  \
    b: { hosts: \"b[0-2]\", labels: { rack: r2 } }\nhosts:\n  a2: { labels: { rack: r2 } }\n  c0:\n";

async fn racks(rollout: &str) -> Vec<String> {
    let world = world("{}", TWO);
    std::fs::write(&world.inventory, format!("cluster: t\nrollout: {rollout}\n{RACKS}")).unwrap();
    apply(&world, &healthy()).await.batches()
}

#[tokio::test(start_paused = true)]
async fn batches_are_of_one_rack_and_no_larger_than_said() {
    let wanted = ["batch 1 (rack r1): a0 a1", "batch 2 (rack r2): a2 b0", "batch 3 (rack r2): b1 b2"];
    let ran = racks("{ batch: { by: rack, at_most: 2 } }").await;
    assert_eq!(ran[..3], wanted);
    assert_eq!(ran[3..], ["batch 4 (no rack): c0"]);
    let ran = racks("{ canary: 1, batch: { by: rack } }").await;
    assert_eq!(
        ran,
        ["canary: a0", "batch 1 (rack r1): a1", "batch 2 (rack r2): a2 b0 b1 b2", "batch 3 (no rack): c0"]
    );
}

#[tokio::test(start_paused = true)]
async fn a_canary_per_group_is_the_first_of_each() {
    assert_eq!(racks("{ canary: per_group }").await, ["canary: a0 b0 c0"]);
}
