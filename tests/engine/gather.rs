//! What is asked of hosts, and what is known of those that do not answer.

use super::*;
use provision::facts::clock::OffsetQuery;
use provision::facts::login::LoginQuery;
use provision::facts::rdma::RdmaQuery;
use provision::facts::system::SystemQuery;

fn section(command: &str, output: &str) -> String {
    format!("\n\u{1e}ask {command}\n{output}\n\u{1e}end 0\n")
}

fn session<'r>(ran: &'r Ran, host: &str) -> &'r engine::Session {
    ran.report.sessions.iter().find(|session| session.name() == host).unwrap()
}

#[tokio::test(start_paused = true)]
async fn a_new_login_is_asked_where_a_check_looks_at_it() {
    let mut world = world(
        "{}\nhosts: { gpu1: { expect: { system: { memlock: unlimited } }, ssh: { persist: 10m } } }",
        TWO,
    );
    world.queries = BTreeSet::from([LoginQuery.into(), RdmaQuery.into()]);
    let transport = healthy();
    let card = "device=mlx5_0\npci=0000:01:00.0\nport=1\nstate=4: ACTIVE";
    transport.first(Reply::part("rdma").output(section("sysfs", "")));
    transport.first(Reply::part("rdma").on("gpu0").output(section("sysfs", card)));
    let limits = section("login", "memlock=unlimited\nnofile=1024\nuser=rider");
    transport.first(Reply::part("login").output(limits));
    let ran = run(&world, &transport, Mode::Gather, |_| {}).await;
    for (host, logins) in [("gpu0", 1), ("gpu1", 1), ("gpu2", 0)] {
        let parts = transport.parts(host);
        assert_eq!(parts.iter().filter(|part| *part == "login").count(), logins, "{host}: {parts:?}");
        assert_eq!(parts.iter().filter(|part| *part == "open").count(), 1 + logins, "{host}: {parts:?}");
        let known = session(&ran, host).facts().get(&LoginQuery).answer();
        let known = known.and_then(|login| login.as_ref().ok()).map(|login| login.user.as_str());
        assert_eq!(known, (logins == 1).then_some("rider"), "{host}");
    }
    // One that has stayed would show what held when it was made.
    let opened = transport.sent().into_iter().filter(|sent| sent.host == "gpu1" && sent.part == "open");
    assert_eq!(opened.map(|sent| sent.text).collect::<Vec<_>>(), ["it stays", ""]);
    // It cannot be had: that is no reason to lose the host.
    transport.first(Reply::part("login").on("gpu0").lose());
    let ran = run(&world, &transport, Mode::Gather, |_| {}).await;
    assert_eq!(ran.report.stats.ok, 4);
    let why = session(&ran, "gpu0").facts().get(&LoginQuery);
    assert!(format!("{why:?}").contains("no new login: "), "{why:?}");
}

#[tokio::test(start_paused = true)]
async fn how_far_a_clock_is_off_is_known_at_the_end() {
    let mut world = world("{}", TWO);
    world.queries = BTreeSet::from([SystemQuery.into()]);
    let transport = healthy();
    transport.first(Reply::part("system").output(section("system", "now=60")));
    transport.first(Reply::part("system").on("gpu0").output(section("system", "now=")));
    let ran = run(&world, &transport, Mode::Gather, |_| {}).await;
    let offset = |host: &str| session(&ran, host).facts().get(&OffsetQuery).answer().copied();
    assert!(offset("gpu1").is_some_and(|offset| offset.most < 0), "{:?}", offset("gpu1"));
    assert_eq!(offset("gpu0"), None);
}

#[tokio::test(start_paused = true)]
async fn who_was_gathered_and_is_still_there() {
    let transport = healthy();
    transport.first(Reply::open().on("gpu1").fail(ConnectKind::Refused).output("Connection refused"));
    transport.first(Reply::open().on("gpu2").fail(ConnectKind::NoRoute).output("No route to host"));
    transport.first(Reply::open().on("gpu2").times(1));
    transport.first(Reply::part("task").on("gpu2").lose());
    let ran = apply(&world("{}", TWO), &transport).await;
    let gathered = ["gpu0", "gpu1", "gpu2", "gpu3"].map(|host| session(&ran, host).was_gathered());
    assert_eq!(gathered, [true, false, false, true]);
}

#[tokio::test(start_paused = true)]
async fn a_loaded_host_is_asked_once_more() {
    let playbook = "name: a\ntasks:\n  - name: one\n    command: { run: [tool, \"{{ facts.arch }}\"] }\n";
    let transport = healthy();
    transport.first(Reply::part("base.arch").output("x86_64\n"));
    transport.first(Reply::part("base.arch").on("gpu0").times(1).hang());
    transport.first(Reply::part("base.arch").on("gpu1").hang());
    let ran = apply(&world("{}", playbook), &transport).await;
    assert!(matches!(ran.outcome("gpu0", "one"), Outcome::Ran { .. }), "{:?}", ran.record);
    assert!(matches!(ran.outcome("gpu1", "one"), Outcome::Failed(_)), "{:?}", ran.record);
    let unknown = |name: &str| {
        ran.events.iter().find_map(|event| match &event.kind {
            EventKind::HostGathered { host, unknown, .. } if host == name => Some(*unknown),
            _ => None,
        })
    };
    let [loaded, hangs, well] = ["gpu0", "gpu1", "gpu2"].map(|host| unknown(host).unwrap());
    assert_eq!((loaded, hangs), (well, well + 1));
    for (host, asked) in [("gpu0", 2), ("gpu1", 2), ("gpu2", 1)] {
        let parts = transport.parts(host);
        assert_eq!(parts.iter().filter(|part| *part == "base.arch").count(), asked, "{host}: {parts:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_host_that_is_lost_at_each_question_is_given_up() {
    let transport = healthy();
    transport.first(Reply::part("state").on("gpu0").lose());
    let ran = apply(&world("{}", TWO), &transport).await;
    let HostStatus::Quarantined { reason } = ran.status("gpu0") else { panic!("{:?}", ran.status("gpu0")) };
    assert!(reason.starts_with("lost again and again: "), "{reason}");
    let logins = transport.parts("gpu0").into_iter().filter(|part| part == "open").count();
    assert_eq!(logins, 4, "{:?}", transport.parts("gpu0"));
    assert_eq!(ran.report.stats.ok, 3);
}
