//! Changes that interrupt: reboots, hosts in use, the way in.

use std::sync::Mutex;

use super::*;
use provision::transport::Sent;

const ALLOW: &str = "{}\npolicy: { reboot: allow }";
const REBOOT: &str = "
name: r
tasks:
  - name: change
    command: { run: [edit, it] }
    notify: tell
  - name: boot
    reboot: {}
  - name: after
    command: { run: [tool-beta] }
handlers:
  - name: tell
    command: { run: [reload, it] }
";

/// A next boot that will go well.
const NEXT_BOOT: &str = include_str!("../cases/probes/next_boot/whole.txt");

pub(super) fn boot(id: &str, next: &str) -> String {
    format!("id={id}\nrunning=6.1\nnext={next}\nmodules=true\nimage=true\n")
}

/// Hosts with a newer kernel, until they were rebooted once; `special` answers first.
pub(super) fn kernels(special: impl Fn(&Sent) -> Option<Reply> + Send + Sync + 'static) -> Scripted {
    let rebooted: Mutex<BTreeSet<String>> = Mutex::default();
    healthy().answer(move |sent| {
        if let Some(reply) = special(sent) {
            return Some(reply);
        }
        let mut rebooted = rebooted.lock().unwrap();
        let done = rebooted.contains(&sent.host);
        match sent.part.as_str() {
            "base.virtualization" => Some(Reply::default().output("none\n")),
            "base.busy" => Some(Reply::default().output("end\n")),
            "next_boot" => Some(Reply::default().output(NEXT_BOOT)),
            "base.boot" if done => Some(Reply::default().output(boot("two", "6.1"))),
            "base.boot" => Some(Reply::default().output(boot("one", "6.2"))),
            "reboot" => {
                rebooted.insert(sent.host.clone());
                Some(Reply::default())
            }
            "booted" => {
                Some(Reply::default().output(if done { "two\nrunning\n" } else { "one\nstopping\n" }))
            }
            _ => None,
        }
    })
}

#[tokio::test(start_paused = true)]
async fn a_reboot_is_proven_by_its_boot_id_and_the_next_task_runs() {
    let transport = kernels(|_| None);
    // It takes its time.
    transport.first(Reply::open().on("gpu1").fail(ConnectKind::Refused).times(20));
    transport.first(Reply::open().on("gpu1").times(1));
    let ran = apply(&world(ALLOW, REBOOT), &transport).await;
    assert_eq!(ran.report.stats.ok, 4, "{:?}", ran.record.hosts["gpu0"]);
    for host in ["gpu0", "gpu1"] {
        let Outcome::Changed { changes, output, .. } = ran.outcome(host, "boot") else {
            panic!("{:?}", ran.record)
        };
        assert_eq!(changes[0].summary, "~ reboot (kernel 6.1 is running, but 6.2 is installed)");
        assert!(output.contains("boot id one -> two"), "{output}");
        assert!(matches!(ran.outcome(host, "after"), Outcome::Ran { .. }));
        // What was notified runs before, and once.
        let parts = transport.sent().into_iter().filter(|sent| sent.host == host);
        let order: Vec<String> = parts
            .filter_map(|sent| match sent.part.as_str() {
                "reboot" => Some("reboot".to_owned()),
                "task" if sent.text.contains("reload") => Some("handler".to_owned()),
                _ => None,
            })
            .collect();
        assert_eq!(order, ["handler", "reboot"]);
    }
}

#[tokio::test(start_paused = true)]
async fn a_boot_is_waited_for_until_systemd_has_started_all() {
    let asked: Mutex<BTreeMap<String, u32>> = Mutex::default();
    let transport = kernels(move |sent| {
        if sent.part != "booted" {
            return None;
        }
        let mut asked = asked.lock().unwrap();
        let times = asked.entry(sent.host.clone()).or_default();
        *times += 1;
        match (sent.host.as_str(), *times) {
            ("gpu0", 1..5) | ("gpu1", _) => Some(Reply::default().output("two\nstarting\n")),
            _ => Some(Reply::default().output("two\nrunning\n")),
        }
    });
    let ran = apply(&world(ALLOW, REBOOT), &transport).await;
    assert_eq!(ran.report.stats.ok, 4, "{:?}", ran.record);
    let sent = transport.sent();
    let asked = |host: &str| sent.iter().filter(|sent| sent.host == host && sent.part == "booted").count();
    assert_eq!((asked("gpu0"), asked("gpu2")), (5, 1));
    let warned = |host: &str| ran.record.hosts[host].warnings.join(" ");
    assert_eq!(warned("gpu0"), "");
    assert!(warned("gpu1").contains("systemd has not finished the boot after"), "{}", warned("gpu1"));
}

#[tokio::test(start_paused = true)]
async fn a_reboot_that_was_notified_comes_after_all_other_handlers() {
    let playbook = "
name: r
tasks:
  - name: change
    command: { run: [edit, it] }
    notify: [boot, tell]
handlers:
  - name: boot
    reboot: {}
  - name: tell
    command: { run: [reload, it] }
";
    // The notification alone is reason enough.
    for (next, reason) in [
        ("6.2", "`boot` was notified; kernel 6.1 is running, but 6.2 is installed"),
        ("6.1", "`boot` was notified"),
    ] {
        let rebooted: Mutex<BTreeSet<String>> = Mutex::default();
        let transport = kernels(move |sent| match sent.part.as_str() {
            "reboot" => {
                rebooted.lock().unwrap().insert(sent.host.clone());
                None
            }
            "base.boot" if !rebooted.lock().unwrap().contains(&sent.host) => {
                Some(Reply::default().output(boot("one", next)))
            }
            _ => None,
        });
        let ran = apply(&world(ALLOW, playbook), &transport).await;
        assert_eq!(ran.report.stats.ok, 4, "{:?}", ran.record);
        let sent: Vec<_> = transport.sent().into_iter().filter(|sent| sent.host == "gpu0").collect();
        let told = sent.iter().position(|sent| sent.part == "task" && sent.text.contains("reload"));
        let boots: Vec<_> = (0..sent.len()).filter(|at| sent[*at].part == "reboot").collect();
        assert_eq!(boots.len(), 1);
        assert!(told.is_some_and(|told| told < boots[0]), "{told:?} {boots:?}");
        let Outcome::Changed { changes, .. } = ran.outcome("gpu0", "boot") else {
            panic!("{:?}", ran.record)
        };
        assert_eq!(changes[0].summary, format!("~ reboot ({reason})"));
        assert!(ran.record.hosts["gpu0"].handlers.is_empty());
    }
}

#[tokio::test(start_paused = true)]
async fn a_host_that_does_not_reboot_or_come_back() {
    let transport = kernels(|sent| match (sent.host.as_str(), sent.part.as_str()) {
        ("gpu0", "booted") => Some(Reply::default().output("one\nrunning\n")),
        ("gpu2", "reboot") => Some(Reply::default().status(127)),
        _ => None,
    });
    transport.first(Reply::open().on("gpu1").fail(ConnectKind::NoRoute).output("No route to host"));
    transport.first(Reply::open().on("gpu1").times(1));
    let began = tokio::time::Instant::now();
    let ran = apply(&world(ALLOW, REBOOT), &transport).await;
    let Outcome::Failed(failure) = ran.outcome("gpu0", "boot") else { panic!() };
    assert!(failure.message.contains("did not reboot within 20m: its boot id is still one"), "{failure:?}");
    assert!(
        matches!(ran.status("gpu1"), HostStatus::Quarantined { reason } if reason.contains("not back within 20m after its reboot: No route to host")),
        "{:?}",
        ran.status("gpu1")
    );
    let Outcome::Failed(failure) = ran.outcome("gpu2", "boot") else { panic!() };
    assert!(failure.message.contains("does not reboot"), "{failure:?}");
    assert_eq!(ran.report.stats.ok, 1);
    assert!(began.elapsed() < Duration::from_mins(25), "{:?}", began.elapsed());
}

/// How a frame takes the lock.
fn lock_of(sent: &Sent) -> &str {
    sent.prelude.lines().find(|line| line.starts_with("provision_lock run")).unwrap_or_default()
}

#[tokio::test(start_paused = true)]
async fn a_reboot_that_is_lost_on_its_way_never_comes_late() {
    let lost = Mutex::new(BTreeSet::new());
    let transport = kernels(move |sent| match (sent.part.as_str(), sent.host.as_str()) {
        ("reboot", "gpu0" | "gpu1") if lost.lock().unwrap().insert(sent.host.clone()) => {
            Some(Reply::default().lose())
        }
        // Meanwhile another run had this host.
        ("reboot", "gpu1") => {
            Some(Reply::default().status(1).output("refused lost run9 you@there/2 4711 100 0 0\n"))
        }
        _ => None,
    });
    let ran = apply(&world(ALLOW, REBOOT), &transport).await;
    let told: Vec<String> = transport
        .sent()
        .iter()
        .filter(|sent| sent.host == "gpu0" && sent.part == "reboot")
        .map(|sent| lock_of(sent).to_owned())
        .collect();
    // The second one is for a newer shell, which ends the first one's.
    assert_eq!(told, ["provision_lock run1 me@here/1 0 0 again", "provision_lock run1 me@here/1 0 1 again"]);
    assert!(matches!(ran.outcome("gpu0", "boot"), Outcome::Changed { .. }), "{:?}", ran.record);
    let Outcome::Failed(failure) = ran.outcome("gpu1", "boot") else { panic!("{:?}", ran.record) };
    assert!(failure.message.contains("not rebooted: while it was out of reach, run run9"), "{failure:?}");
}

/// The state directory of root does not outlive a boot.
#[tokio::test(start_paused = true)]
async fn the_lock_of_the_boot_before_is_not_missed() {
    let transport = kernels(|_| None);
    let ran = apply(&world(ALLOW, REBOOT), &transport).await;
    assert_eq!(ran.report.stats.ok, 4, "{:?}", ran.record);
    let sent: Vec<_> = transport.sent().into_iter().filter(|sent| sent.host == "gpu0").collect();
    let boot = sent.iter().position(|sent| sent.part == "reboot").unwrap();
    let after = sent[boot + 1..].iter().find(|sent| !lock_of(sent).is_empty()).unwrap();
    assert_eq!((after.part.as_str(), lock_of(after)), ("lock", "provision_lock run1 me@here/1 0 1"));
}

#[tokio::test(start_paused = true)]
async fn without_leave_nothing_is_rebooted_and_the_end_says_so() {
    let transport = kernels(|_| None);
    let ran = apply(&world("{}", REBOOT), &transport).await;
    let Outcome::Blocked(reason) = ran.outcome("gpu0", "boot") else { panic!() };
    assert!(reason.contains("reboot pending (kernel 6.1 is running, but 6.2 is installed)"), "{reason}");
    assert!(matches!(ran.outcome("gpu0", "after"), Outcome::Ran { .. }), "others go on");
    assert!(!transport.parts("gpu0").contains(&"reboot".to_owned()));
    assert!(!ran.record.hosts["gpu3"].reboot.is_empty());
    assert!(ran.report.sessions.iter().all(engine::Session::needs_reboot));
}

#[tokio::test(start_paused = true)]
async fn what_is_blocked_and_is_no_reboot_asks_for_none() {
    let playbook =
        "name: p\ntasks:\n  - name: data\n    mount: { path: /data, source: /dev/sdb1, type: ext4 }\n";
    let transport = healthy();
    transport.first(Reply::part("base.mounts").output("/dev/sda1 / ext4 rw 0 0\nsizes\n"));
    transport
        .first(Reply::part("file").output("absent /etc/fstab\nabsent /data\nstat 0:0:41ed:9:1:1:1:/etc\n"));
    transport.first(Reply::part("base.virtualization").output("docker\n"));
    let ran = apply(&world(ALLOW, playbook), &transport).await;
    assert!(matches!(ran.outcome("gpu0", "data"), Outcome::Blocked(_)), "{:?}", ran.record);
    assert!(ran.record.hosts["gpu0"].reboot.is_empty(), "{:?}", ran.record);
    assert!(!ran.report.sessions.iter().any(engine::Session::needs_reboot));
}

#[tokio::test(start_paused = true)]
async fn a_busy_host_is_refused_with_what_runs_there() {
    let transport = kernels(|sent| match (sent.host.as_str(), sent.part.as_str()) {
        ("gpu0", "base.busy") => {
            Some(Reply::default().output("slurm\t812\t4711.batch\ngpu\t813\tpython3\nend\n"))
        }
        // It is not known: that is not idle.
        ("gpu1", "base.busy") => Some(Reply::default().hang()),
        _ => None,
    });
    let ran = apply(&world(ALLOW, REBOOT), &transport).await;
    let Outcome::Blocked(reason) = ran.outcome("gpu0", "boot") else { panic!() };
    assert!(reason.contains("Slurm job: 4711; on the GPUs: python3 (813)"), "{reason}");
    assert!(matches!(ran.outcome("gpu1", "boot"), Outcome::Blocked(_)));
    assert!(!transport.parts("gpu0").contains(&"reboot".to_owned()));
    assert!(matches!(ran.outcome("gpu2", "boot"), Outcome::Changed { .. }));
}

/// What makes systemd read its units again is not done beside a container that would lose its GPUs; who runs is asked
/// once, whatever the number of such tasks.
#[tokio::test(start_paused = true)]
async fn systemd_reads_no_units_again_beside_a_container_that_would_lose_its_gpus() {
    let units = "name: u\ntasks:\n  - name: alpha\n    service: { name: alpha, enabled: true }\n  - name: beta\n    service: { name: beta, enabled: true }\n  - name: other\n    command: { run: [tool] }\n";
    let enabled: Mutex<BTreeSet<(String, &str)>> = Mutex::default();
    let transport = healthy().answer(move |sent| {
        let name = if sent.text.contains("alpha.service") { "alpha" } else { "beta" };
        let key = (sent.host.clone(), name);
        let mut enabled = enabled.lock().unwrap();
        match (sent.host.as_str(), sent.part.as_str()) {
            ("gpu0", "base.busy") => Some(Reply::default().output(
                "gpu\t813\tpython3\ncontainer\t813\tpython3 in docker-0123456789abcdef\nend\n",
            )),
            // A job without a container loses nothing.
            ("gpu1", "base.busy") => Some(Reply::default().output("gpu\t813\tpython3\nend\n")),
            // Not known: no reason to leave a host half set up.
            ("gpu2", "base.busy") => Some(Reply::default().hang()),
            (_, "base.busy") => Some(Reply::default().output("end\n")),
            (_, "unit") => {
                let state = if enabled.contains(&key) { "enabled" } else { "disabled" };
                Some(Reply::default().output(format!(
                    "\nType=notify\nId={name}.service\nNames={name}.service\nLoadState=loaded\nActiveState=active\nSubState=running\nUnitFileState={state}\nNeedDaemonReload=no\nCanReload=yes\n\nend\n"
                )))
            }
            (_, "task") => {
                enabled.insert(key);
                None
            }
            _ => None,
        }
    });
    let ran = apply(&world("{}", units), &transport).await;
    for task in ["alpha", "beta"] {
        let Outcome::Blocked(reason) = ran.outcome("gpu0", task) else { panic!("{:?}", ran.record) };
        assert!(reason.contains("python3 in docker-0123456789abcdef (813); end them first"), "{reason}");
        for host in ["gpu1", "gpu2", "gpu3"] {
            assert!(matches!(ran.outcome(host, task), Outcome::Changed { .. }), "{host} {:?}", ran.record);
        }
    }
    for host in ["gpu0", "gpu1", "gpu2", "gpu3"] {
        assert!(matches!(ran.outcome(host, "other"), Outcome::Ran { .. }), "{host} {:?}", ran.record);
        let parts = transport.parts(host);
        assert_eq!(parts.iter().filter(|part| *part == "base.busy").count(), 1, "{host} {parts:?}");
    }
}

/// The next boot is asked about when all that comes before it was done, and once; a host that would not come up as it
/// should is not even locked for it.
#[tokio::test(start_paused = true)]
async fn a_host_that_would_not_come_back_is_not_rebooted() {
    let transport = kernels(|sent| match (sent.host.as_str(), sent.part.as_str()) {
        ("gpu0", "next_boot") => {
            Some(Reply::default().output(include_str!("../cases/probes/next_boot/driver_missing.txt")))
        }
        ("gpu1", "next_boot") => Some(Reply::default().hang()),
        _ => None,
    });
    let ran = apply(&world(ALLOW, REBOOT), &transport).await;
    let Outcome::Failed(failure) = ran.outcome("gpu0", "boot") else { panic!("{:?}", ran.record) };
    assert!(
        failure.message.starts_with(
            "not rebooted, because the host would not come up properly: mlx5_core: drives rdma0 and is not on disk for 6.1.0-50-amd64: install"
        ),
        "{failure:?}"
    );
    assert!(failure.message.ends_with("`unproven: true` of this task reboots all the same"), "{failure:?}");
    let Outcome::Changed { changes, .. } = ran.outcome("gpu1", "boot") else { panic!("{:?}", ran.record) };
    assert!(changes[0].summary.contains("not proven: the next boot: "), "{changes:?}");
    for (host, boots) in [("gpu0", 0), ("gpu1", 1), ("gpu2", 1)] {
        let parts = transport.parts(host);
        assert_eq!(parts.iter().filter(|part| *part == "reboot").count(), boots, "{host}");
        assert_eq!(parts.iter().filter(|part| *part == "next_boot").count(), 1, "{host} {parts:?}");
        let asked = parts.iter().position(|part| part == "next_boot").unwrap();
        assert!(parts[..asked].iter().any(|part| part == "task"), "{host} {parts:?}");
    }
}

/// A plan says so where nothing is due before the reboot, and asks nobody who has nothing to reboot for.
#[tokio::test(start_paused = true)]
async fn a_plan_refuses_a_reboot_that_would_not_go_well() {
    let alone = "name: r\ntasks:\n  - name: boot\n    reboot: {}\n";
    let transport = kernels(|sent| match (sent.host.as_str(), sent.part.as_str()) {
        ("gpu0", "next_boot") => {
            Some(Reply::default().output(include_str!("../cases/probes/next_boot/driver_missing.txt")))
        }
        ("gpu2", "base.boot") => Some(Reply::default().output(boot("one", "6.1"))),
        _ => None,
    });
    let ran = run(&world(ALLOW, alone), &transport, Mode::Plan, |_| {}).await;
    let Outcome::Failed(failure) = ran.outcome("gpu0", "boot") else { panic!("{:?}", ran.record) };
    assert!(failure.message.contains("mlx5_core: drives rdma0"), "{failure:?}");
    assert_eq!(ran.report.stats.pending, 2, "{:?}", ran.record);
    let asked = |host: &str| transport.parts(host).iter().filter(|part| *part == "next_boot").count();
    assert_eq!(["gpu0", "gpu1", "gpu2"].map(asked), [1, 1, 0]);
    // Where a plan ends it says how much of it interrupts.
    let sum = provision::report::plan::sum(&ran.record, None);
    assert!(sum.contains(", 2 interrupt: reboot"), "{sum}");
}

/// Before an image is made, or before a reboot by hand; what an earlier task may mend is known after it.
#[tokio::test(start_paused = true)]
async fn nothing_goes_on_before_a_boot_that_would_not_go_well() {
    let playbook = "name: r\ntasks:\n  - name: gate\n    next_boot: {}\n  - name: after\n    command: { run: [edit, it] }\n";
    let transport = kernels(|sent| match (sent.host.as_str(), sent.part.as_str()) {
        ("gpu0", "next_boot") => {
            Some(Reply::default().output(include_str!("../cases/probes/next_boot/unsigned.txt")))
        }
        (_, "file") => Some(Reply::default().output("absent /etc/other\nstat 0:0:41ed:9:1:1:1:/etc\n")),
        _ => None,
    });
    let ran = apply(&world("{}", playbook), &transport).await;
    let Outcome::Failed(failure) = ran.outcome("gpu0", "gate") else { panic!("{:?}", ran.record) };
    assert!(
        failure.message.starts_with("the next boot is not proven to go well: mlx5_ib: not signed"),
        "{failure:?}"
    );
    assert!(matches!(ran.outcome("gpu0", "after"), Outcome::Skipped(_)), "{:?}", ran.record);
    assert!(matches!(ran.outcome("gpu1", "after"), Outcome::Ran { .. }), "{:?}", ran.record);
    let late = "name: r\ntasks:\n  - name: before\n    file: { path: /etc/other, content: \"a\\n\" }\n  - name: gate\n    next_boot: {}\n";
    let ran = run(&world("{}", late), &transport, Mode::Plan, |_| {}).await;
    assert_eq!(ran.report.stats.tasks.failed, 0, "{:?}", ran.record);
}

#[tokio::test(start_paused = true)]
async fn one_question_is_asked_for_all_hosts() {
    for (answer, changed) in [(true, 4), (false, 0)] {
        let asked = Arc::new(Mutex::new(Vec::new()));
        let consent = engine::Consent::ask({
            let asked = asked.clone();
            move |what| {
                asked.lock().unwrap().push(what);
                async move {
                    tokio::time::sleep(Duration::from_mins(10)).await;
                    answer
                }
            }
        });
        let transport = kernels(|_| None);
        let ran =
            run_with(&world(ALLOW, REBOOT), &transport, Mode::Apply, (Secrets::default(), consent), |_| {})
                .await;
        assert_eq!(asked.lock().unwrap().len(), 1, "{asked:?}");
        assert_eq!((ran.report.stats.ok, ran.report.stats.tasks.changed), (4, changed));
    }
}

#[tokio::test(start_paused = true)]
async fn so_many_reboot_at_once() {
    let down = Arc::new(Mutex::new((BTreeSet::new(), 0)));
    let transport = kernels({
        let down = down.clone();
        move |sent| {
            let mut down = down.lock().unwrap();
            match sent.part.as_str() {
                "reboot" => {
                    down.0.insert(sent.host.clone());
                    down.1 = down.1.max(down.0.len());
                }
                // Its next task: it is back.
                "task" => {
                    down.0.remove(&sent.host);
                }
                _ => {}
            }
            None
        }
    });
    let policy = "{}\npolicy: { reboot: allow, reboot_parallel: 2 }";
    let ran = apply(&world(policy, REBOOT), &transport).await;
    assert_eq!(ran.report.stats.ok, 4);
    assert_eq!(down.lock().unwrap().1, 2);
}

pub(super) const SUDOERS: &str = "
name: s
tasks:
  - name: rule
    symlink: { path: /etc/sudoers.d/ops, target: /srv/ops }
  - name: after
    command: { run: [tool-beta] }
";

/// What the timer says of hosts whose logins carry small packets only.
const STUCK: &str = "undone\n\n";

/// What the timer says of hosts that let nobody in while the change is in force.
const CLOSED: &str = "confirmed\n\n";

/// Hosts without the rule, until it is written and not taken back; `confirm` is what the timer says.
pub(super) fn guarded(confirm: &'static str) -> Scripted {
    guarded_but(confirm, |_| None)
}

/// The same; `special` answers first.
fn guarded_but(
    confirm: &'static str,
    special: impl Fn(&Sent) -> Option<Reply> + Send + Sync + 'static,
) -> Scripted {
    let written: Mutex<BTreeSet<String>> = Mutex::default();
    healthy().answer(move |sent| {
        if let Some(reply) = special(sent) {
            return Some(reply);
        }
        let mut written = written.lock().unwrap();
        let has = |line: &str| sent.text.lines().any(|text| text == line);
        match sent.part.as_str() {
            "file" => {
                let rule = if written.contains(&sent.host) {
                    "stat 0:0:a1ff:5:8:1:1:/etc/sudoers.d/ops\ntarget /etc/sudoers.d/ops\n|/srv/ops\n."
                } else {
                    "absent /etc/sudoers.d/ops"
                };
                Some(Reply::default().output(format!("{rule}\nstat 0:0:41ed:4096:7:1:1:/etc/sudoers.d\n")))
            }
            "task" if sent.text.contains("/srv/ops") => {
                written.insert(sent.host.clone());
                Some(Reply::default().output("ended 0\n"))
            }
            "guard" if has("confirm") || has("undo") => {
                if confirm != "confirmed\n" || has("undo") {
                    written.remove(&sent.host);
                }
                Some(Reply::default().output(if has("undo") { "undone\n" } else { confirm }))
            }
            "guard" => Some(Reply::default().output("armed\n")),
            "open" if confirm == CLOSED && written.contains(&sent.host) => {
                Some(Reply::default().fail(ConnectKind::SudoRefused).output("sudo: no"))
            }
            "carry" if confirm == STUCK => Some(Reply::default().hang()),
            "carry" => Some(Reply::default().output("x".repeat(20_000))),
            _ => None,
        }
    })
}

#[tokio::test(start_paused = true)]
async fn a_change_of_the_way_in_is_confirmed_over_a_new_login() {
    let transport = guarded("confirmed\n");
    let ran = apply(&world("{}", SUDOERS), &transport).await;
    assert_eq!(ran.report.stats.ok, 4, "{:?}", ran.record.hosts["gpu0"]);
    let parts = transport.parts("gpu0");
    let known = ["open", "guard", "task", "close"];
    let order: Vec<&str> = parts.iter().map(String::as_str).filter(|part| known.contains(part)).collect();
    assert_eq!(order, ["open", "guard", "task", "open", "close", "guard", "task", "close"], "{parts:?}");
    assert_eq!(parts.iter().filter(|part| *part == "lock").count(), 2, "the new shell takes the lock");
}

/// What is stuck on a lost connection arms no timer, and takes nothing back, in a run that has a newer one.
#[tokio::test(start_paused = true)]
async fn what_guards_a_change_is_for_the_shell_that_has_the_lock() {
    let lost = Mutex::new(BTreeSet::new());
    let transport = guarded_but("confirmed\n", move |sent| match (sent.part.as_str(), sent.host.as_str()) {
        ("guard", "gpu0") if lost.lock().unwrap().insert(()) => Some(Reply::default().lose()),
        ("guard", "gpu1") => {
            Some(Reply::default().status(1).output("refused lost unlock you@there/2 0 0 0 0\n"))
        }
        _ => None,
    });
    let ran = apply(&world("{}", SUDOERS), &transport).await;
    let locks: Vec<String> = transport
        .sent()
        .iter()
        .filter(|sent| sent.host == "gpu0" && sent.part == "guard")
        .map(|sent| lock_of(sent).to_owned())
        .collect();
    let lock = |shell: u32| format!("provision_lock run1 me@here/1 0 {shell} again");
    assert_eq!(locks, [lock(0), lock(1), lock(2)], "armed twice, confirmed");
    let Outcome::Failed(failure) = ran.outcome("gpu1", "rule") else { panic!("{:?}", ran.record) };
    assert!(
        failure.message.starts_with("`provision unlock` of controller you@there/2 took its lock"),
        "{failure:?}"
    );
    assert!(!transport.parts("gpu1").contains(&"task".to_owned()), "{:?}", transport.parts("gpu1"));
}

#[tokio::test(start_paused = true)]
async fn what_was_not_taken_back_is_told() {
    for (said, told) in [
        ("failed: it was not taken back\n", "it was not taken back: failed: it was not taken back"),
        (
            "refused lost run9 you@there/2 1 1 0 0\n",
            "it is not known whether it was taken back: while it was out of reach, run run9",
        ),
    ] {
        let transport = guarded_but(CLOSED, move |sent| {
            (sent.part == "guard" && sent.text.lines().any(|line| line == "undo"))
                .then(|| Reply::default().status(1).output(said))
        });
        let ran = apply(&world("{}", SUDOERS), &transport).await;
        let Outcome::Failed(failure) = ran.outcome("gpu0", "rule") else { panic!("{:?}", ran.record) };
        assert!(failure.message.contains(told), "{failure:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_change_that_no_new_login_confirms_is_taken_back() {
    let transport = guarded("confirmed\n");
    transport.first(Reply::open().on("gpu0").fail(ConnectKind::SudoRefused).output("sudo: no").times(9));
    transport.first(Reply::open().on("gpu0").times(1));
    let ran = apply(&world("{}", SUDOERS), &transport).await;
    let Outcome::Failed(failure) = ran.outcome("gpu0", "rule") else { panic!("{:?}", ran.record) };
    assert!(failure.message.contains("no new login was possible after the change: sudo: no"), "{failure:?}");
    assert!(
        failure.message.contains("taken back") || failure.message.contains("took it back"),
        "{failure:?}"
    );
    assert_eq!(ran.report.stats.ok, 3);
}

#[tokio::test(start_paused = true)]
async fn what_is_still_open_takes_the_change_back_at_once() {
    let began = tokio::time::Instant::now();
    let ran = apply(&world("{}", SUDOERS), &guarded(CLOSED)).await;
    let Outcome::Failed(failure) = ran.outcome("gpu0", "rule") else { panic!("{:?}", ran.record) };
    let told = "no new login was possible after the change: sudo: no; it was taken back";
    assert_eq!(failure.message, told);
    assert!(began.elapsed() < Duration::from_secs(40), "{:?}", began.elapsed());
    // A login that works a little later confirms it all the same.
    let transport = guarded("confirmed\n");
    transport.first(Reply::open().on("gpu0").fail(ConnectKind::SudoRefused).output("sudo: no").times(3));
    transport.first(Reply::open().on("gpu0").times(1));
    let ran = apply(&world("{}", SUDOERS), &transport).await;
    assert_eq!(ran.report.stats.ok, 4, "{:?}", ran.record);
}

#[tokio::test(start_paused = true)]
async fn what_could_not_be_taken_back_is_not_changed() {
    for (reply, told) in [
        (Reply::part("guard").lose(), "not changed, because the host could not take the change back later"),
        (Reply::part("guard").hang(), "not changed, because the host could not take the change back later"),
        (
            Reply::part("guard").output("no timer\n"),
            "not changed, because the host could not take the change back later: no timer",
        ),
    ] {
        let lost = reply.lose;
        let transport = healthy();
        transport.first(
            Reply::part("file")
                .output("absent /etc/sudoers.d/ops\nstat 0:0:41ed:4096:7:1:1:/etc/sudoers.d\n"),
        );
        transport.first(reply);
        let ran = apply(&world("{}", SUDOERS), &transport).await;
        let Outcome::Failed(failure) = ran.outcome("gpu0", "rule") else { panic!("{:?}", ran.record) };
        assert!(failure.message.starts_with(told), "{failure:?}");
        let parts = transport.parts("gpu0");
        assert!(!parts.iter().any(|part| part == "task"), "{parts:?}");
        assert_eq!(parts.iter().filter(|part| *part == "guard").count(), if lost { 4 } else { 1 });
    }
}

#[tokio::test(start_paused = true)]
async fn a_change_that_cuts_the_connection_is_back_by_itself() {
    let transport = guarded("undone\n");
    transport.first(Reply::part("follow").on("gpu0").output("ended 0\n"));
    transport.first(Reply::open().on("gpu0").fail(ConnectKind::TimedOut).output("timed out").times(6));
    transport.first(Reply::open().on("gpu0").times(1));
    let ran = apply(&world("{}", SUDOERS), &transport).await;
    let Outcome::Failed(failure) = ran.outcome("gpu0", "rule") else { panic!("{:?}", ran.record) };
    assert!(failure.message.contains("the host took it back by itself"), "{failure:?}");
}

#[tokio::test(start_paused = true)]
async fn a_login_that_carries_no_large_packets_proves_nothing() {
    let ran = apply(&world("{}", SUDOERS), &guarded(STUCK)).await;
    let Outcome::Failed(failure) = ran.outcome("gpu0", "rule") else { panic!("{:?}", ran.record) };
    assert!(failure.message.contains("no new login was possible after the change"), "{failure:?}");
    assert!(failure.message.contains("the host took it back by itself"), "{failure:?}");
    assert_eq!(ran.report.stats.failed, 4);
}

#[tokio::test(start_paused = true)]
async fn what_an_earlier_run_left_armed_is_confirmed_and_what_was_undone_is_told() {
    let transport = healthy();
    transport.first(Reply::part("state").output("version\t1\narmed\tsudo\nundone\tnetwork\n"));
    let ran = apply(&world("{}", TWO), &transport).await;
    assert_eq!(ran.report.stats.ok, 4);
    let guards: Vec<String> = transport
        .sent()
        .into_iter()
        .filter(|sent| sent.host == "gpu0" && sent.part == "guard")
        .map(|sent| sent.text.lines().rev().take(2).collect::<Vec<_>>().join(" "))
        .collect();
    assert_eq!(guards, ["sudo confirm", "network forget"]);
    let lock = |sent: &Sent| (sent.part == "guard").then(|| lock_of(sent).to_owned());
    assert!(transport.sent().iter().filter_map(lock).all(|lock| lock.starts_with("provision_lock run1 ")));
    assert!(ran.record.hosts["gpu0"].warnings[0].contains("took back an earlier change of network"));
}

/// What is on a host.
#[derive(Default)]
struct Now {
    installed: bool,
    rebooted: bool,
    loaded: bool,
}

/// DOCA-OFED's modules are in force before nvidia-peermem is loaded, which stands on them. A host whose modules
/// are the installed ones is not rebooted.
#[tokio::test(start_paused = true)]
async fn doca_is_in_force_before_what_stands_on_it() {
    let playbook = "
name: rdma
tasks:
  - include: doca-ofed
    with: { version: \"3.2.1\", hold: false }
  - name: nvidia-peermem
    kernel_module: { name: nvidia-peermem }
";
    let hosts: Mutex<BTreeMap<String, Now>> = Mutex::default();
    let transport = healthy().answer(move |sent| {
        let mut hosts = hosts.lock().unwrap();
        let now = hosts.entry(sent.host.clone()).or_default();
        // gpu3 has it all and only lacks nvidia-peermem.
        now.installed |= sent.host == "gpu3";
        let stale = now.installed && !now.rebooted && sent.host != "gpu3";
        let text = match sent.part.as_str() {
            // Neither apt's repository nor dnf's: that is not what this is about.
            "base.os" => "ID=other\nVERSION_ID=1\nPRETTY_NAME=other\n".to_owned(),
            "base.virtualization" => "none\n".to_owned(),
            // Whose kind is in the name of Ubuntu's own package.
            "base.kernel" => "release=6.1\nversion=#1\ncmdline=ro\nlockdown=\nheaders=true\n".to_owned(),
            "base.busy" => "end\n".to_owned(),
            "next_boot" => NEXT_BOOT.to_owned(),
            "base.boot" => {
                let stale = if stale { "stale_module=ib_core\n" } else { "" };
                boot(if now.rebooted { "two" } else { "one" }, "6.1") + stale
            }
            "package" if now.installed => {
                "manager apt\n ii  doca-ofed 3.2.1 amd64\nlists there\nend\n".to_owned()
            }
            "package" => "manager apt\nlists there\npolicy\ndoca-ofed:\n  Installed: (none)\n  Candidate: 3.2.1\n  Version table:\n     3.2.1 900\n        900 https://x ./ Packages\nend\n".to_owned(),
            "module" => {
                let loaded = if now.loaded { "loaded nvidia_peermem\n" } else { "" };
                format!("kernel 6.1\n{loaded}directory /lib/modules/6.1\nmodules.dep\nupdates/dkms/nvidia-peermem.ko:\nmodules.builtin\nend\n")
            }
            "reboot" => {
                now.rebooted = true;
                String::new()
            }
            "booted" => format!("{}\nrunning\n", if now.rebooted { "two" } else { "one" }),
            "task" if sent.text.contains("doca-ofed") && !sent.text.contains("peermem") => {
                now.installed |= sent.text.contains("apt");
                "ended 0\n".to_owned()
            }
            "task" if sent.text.contains("peermem") && stale => {
                "ended 1\nmodprobe: ERROR: could not insert 'nvidia_peermem': Invalid argument\n".to_owned()
            }
            "task" if sent.text.contains("peermem") => {
                now.loaded = true;
                "ended 0\n".to_owned()
            }
            _ => return None,
        };
        Some(Reply::default().output(text))
    });
    let ran = apply(&world(ALLOW, playbook), &transport).await;
    assert_eq!(ran.report.stats.ok, 4, "{:#?}", ran.record.hosts["gpu0"].tasks);
    let boots = |host: &str| transport.parts(host).iter().filter(|part| *part == "reboot").count();
    assert_eq!(["gpu0", "gpu1", "gpu2", "gpu3"].map(boots), [1, 1, 1, 0]);
    let Outcome::Changed { changes, .. } =
        ran.outcome("gpu0", "the installed RDMA modules are the loaded ones")
    else {
        panic!("{:?}", ran.record.hosts["gpu0"])
    };
    assert_eq!(changes[0].summary, "~ reboot (other versions of modules are loaded than installed: ib_core)");
    assert!(matches!(ran.outcome("gpu0", "nvidia-peermem"), Outcome::Changed { .. }));
}
