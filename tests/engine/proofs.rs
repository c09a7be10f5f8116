//! A change is proven by asking again.

use std::sync::Mutex;

use super::hosts::{MODE, SERVICE, acts, message, moving, names, says, stat, unit};
use super::plans::{plain, snapshot};
use super::*;
use provision::report::Reporter as _;
use provision::report::screen::{TerminalSettings, Verbosity};
use provision::report::terminal::Terminal;
use provision::transport::Sent;

/// How the tasks of a host went, as the terminal shows it.
fn watched(ran: &Ran) -> String {
    let settings = TerminalSettings { verbosity: Verbosity::Normal, width: Some(100), progress: false };
    let mut terminal = Terminal::keeping(settings);
    for event in &ran.events {
        if matches!(&event.kind, EventKind::TaskFinished { host, .. } if host == "gpu0") {
            terminal.event(&Event { elapsed: 0.0, ..event.clone() });
        }
    }
    // It waits a moment for more hosts with the same end.
    (0..10).for_each(|_| terminal.tick());
    plain(terminal.kept())
}

#[tokio::test(start_paused = true)]
async fn a_change_is_proven_by_asking_again() {
    let transport = moving("file", [stat("8180", 0), stat("81a4", 0), stat("8180", 0)]);
    let ran = apply(&world("{}", MODE), &transport).await;
    assert_eq!((ran.report.stats.ok, ran.report.stats.tasks.changed), (4, 4), "{:?}", ran.record);
    let parts = transport.parts("gpu0");
    let task = parts.iter().position(|part| part == "task").unwrap();
    // In one exec with the change, and not once more.
    assert_eq!(parts[task + 1..].iter().filter(|part| *part == "file").count(), 1, "{parts:?}");
}

#[tokio::test(start_paused = true)]
async fn a_change_that_does_not_converge_is_a_failure_that_names_the_field() {
    for (name, answers) in [
        // Nothing came of it.
        ("same", [stat("8180", 0), stat("8180", 0), stat("8180", 0)]),
        // The mode is right now, and the owner is not.
        ("other-field", [stat("8180", 0), stat("81a4", 7), stat("81a4", 7)]),
        ("unknown", [stat("8180", 0), Reply::default().hang(), Reply::default().hang()]),
        ("gone", [stat("8180", 0), Reply::default().output("absent /opt/kept\n"), Reply::default()]),
    ] {
        let transport = moving("file", answers);
        let ran = apply(&world("{}", MODE), &transport).await;
        assert_eq!((ran.report.stats.failed, ran.report.stats.tasks.changed), (4, 0), "{:?}", ran.record);
        snapshot(&format!("not-converged-{name}"), &watched(&ran));
    }
}

#[tokio::test(start_paused = true)]
async fn what_the_proof_of_a_command_says() {
    let playbook = "name: p\ntasks:\n  - name: build\n    command: { run: [make, it], check: [made, it] }\n";
    let asked = |status: i32| Reply::default().output(format!("{status}\n"));
    let transport = moving("ask", [asked(1).status(1), asked(1).status(1), asked(1).status(1)]);
    let ran = apply(&world("{}", playbook), &transport).await;
    snapshot("not-converged-command", &watched(&ran));
    assert!(message(&ran, "build").starts_with("it ended well, and `check` still does not hold"));
    let transport = moving("ask", [asked(1).status(1), asked(0), asked(0)]);
    let ran = apply(&world("{}", playbook), &transport).await;
    assert!(matches!(ran.outcome("gpu0", "build"), Outcome::Changed { .. }), "{:?}", ran.record);
    // Without anything that says so it is never called a change that was proven.
    let bare = playbook.replace(", check: [made, it]", "");
    let ran = apply(&world("{}", &bare), &healthy()).await;
    assert!(matches!(ran.outcome("gpu0", "build"), Outcome::Ran { .. }), "{:?}", ran.record);
    assert_eq!((ran.report.stats.tasks.ran, ran.report.stats.tasks.changed), (4, 0));
}

#[tokio::test(start_paused = true)]
async fn what_takes_time_to_show_is_asked_for_a_while() {
    // The service is up ten seconds after it was started.
    let up: Mutex<BTreeMap<String, tokio::time::Instant>> = Mutex::default();
    let transport = healthy().answer(move |sent: &Sent| {
        let mut up = up.lock().unwrap();
        let now = tokio::time::Instant::now();
        if sent.part == "task" {
            up.insert(sent.host.clone(), now + Duration::from_secs(10));
        }
        let active = up.get(&sent.host).is_some_and(|at| now >= *at);
        (sent.part == "unit").then(|| unit(if active { "active" } else { "inactive" }))
    });
    let began = tokio::time::Instant::now();
    let ran = apply(&world("{}", SERVICE), &transport).await;
    assert_eq!((ran.report.stats.ok, ran.report.stats.tasks.changed), (4, 4), "{:?}", ran.record);
    let took = began.elapsed();
    assert!(Duration::from_secs(10) <= took && took < Duration::from_secs(13), "{took:?}");
    let asked = transport.parts("gpu0").iter().filter(|part| *part == "unit").count();
    assert!((6..14).contains(&asked), "{asked} times");
    // And one that never is.
    let transport = moving("unit", [unit("inactive"), unit("inactive"), unit("inactive")]);
    let began = tokio::time::Instant::now();
    let ran = apply(&world("{}", SERVICE), &transport).await;
    let took = began.elapsed();
    assert!(Duration::from_secs(30) <= took && took < Duration::from_secs(34), "{took:?}");
    snapshot("not-converged-service", &watched(&ran));
}

/// A server that came up is started anew by somebody just when the proof is asked for.
#[tokio::test(start_paused = true)]
async fn what_was_waited_for_may_be_away_for_a_moment() {
    let waits = |within: &str| {
        let task = format!("wait_for: {{ port: 6817, host: login0, within: {within} }}");
        world("{}", &format!("name: p\ntasks:\n  - name: server\n    {task}\n"))
    };
    let asked = |status: i32| Reply::default().output(format!("{status}\n")).status(status);
    let away: Mutex<BTreeMap<String, usize>> = Mutex::default();
    let transport = healthy().answer(move |sent: &Sent| {
        let mut away = away.lock().unwrap();
        let times = away.entry(sent.host.clone()).or_default();
        let is_there = *times > 2;
        *times += usize::from(sent.part == "ask");
        (sent.part == "ask").then(|| asked(i32::from(!is_there)))
    });
    let ran = apply(&waits("5m"), &transport).await;
    assert!(matches!(ran.outcome("gpu0", "server"), Outcome::Changed { .. }), "{:?}", ran.record);
    // And one that stays away.
    let transport = moving("ask", [asked(1), asked(1), asked(1)]);
    let began = tokio::time::Instant::now();
    let ran = apply(&waits("20s"), &transport).await;
    let took = began.elapsed();
    assert!(Duration::from_secs(20) <= took && took < Duration::from_secs(24), "{took:?}");
    assert!(message(&ran, "server").starts_with("did not converge"));
}

/// systemd skips a start whose condition does not hold, and calls that no failure.
#[tokio::test(start_paused = true)]
async fn a_start_that_systemd_skipped_is_not_waited_for() {
    let skipped = |at: u32| {
        let text = format!(
            "\nConditionResult=no\nConditionTimestampMonotonic={at}\nType=notify\nId=alpha.service\nNames=alpha.service\nLoadState=loaded\nActiveState=inactive\nSubState=dead\nUnitFileState=enabled\nNeedDaemonReload=no\nCanReload=yes\n\nend\n"
        );
        Reply::default().output(text)
    };
    // Skipped at boot already: the condition may hold by now, so it is started.
    let transport = moving("unit", [skipped(7), skipped(9), skipped(9)]);
    let began = tokio::time::Instant::now();
    let ran = apply(&world("{}", SERVICE), &transport).await;
    assert!(began.elapsed() < Duration::from_secs(3), "{:?}", began.elapsed());
    assert!(transport.parts("gpu0").iter().any(|part| part == "task"));
    assert!(message(&ran, "start").starts_with("systemd skipped the start: a condition of alpha.service"));
    snapshot("skipped-service", &watched(&ran));
}

/// Hosts in containers that want a setting with its file: after the change the value is another one, which
/// cannot be set there. Whether the file is written then.
fn contained(written: bool) -> Scripted {
    let changed: Mutex<BTreeSet<String>> = Mutex::default();
    healthy().answer(move |sent: &Sent| {
        let mut changed = changed.lock().unwrap();
        if sent.part == "task" {
            changed.insert(sent.host.clone());
        }
        let done = changed.contains(&sent.host);
        let (path, key) = ("/etc/sysctl.d/99-zz-provision-net.conf", "/proc/sys/net/core/rmem_max");
        let directory = "stat 0:0:41ed:9:1:1:1:/etc/sysctl.d\n";
        let digest = "746cf068b6080818b28b5971275215c09c8973d61afe4705ee47a4504718b762";
        let output = match sent.part.as_str() {
            "base.virtualization" => "docker\n".to_owned(),
            "setting" => format!("ro {key}\nread {key}\nvalues\n{key}:{}\nend 0\n", if done { 5 } else { 7 }),
            "file" if done && written => {
                format!("{directory}stat 0:0:81a4:22:1:1:1:{path}\n{digest}  {path}\n")
            }
            "file" => format!("{directory}absent {path}\n"),
            _ => return None,
        };
        Some(Reply::default().output(output))
    })
}

const SETTINGS: &str = "
name: p
tasks:
  - name: settings
    sysctl: { name: net, values: { net.core.rmem_max: 7 } }
";

#[tokio::test(start_paused = true)]
async fn what_cannot_be_done_yet_after_a_change_is_told() {
    // All that can be done in a container is done: the file is written.
    let ran = apply(&world("{}", SETTINGS), &contained(true)).await;
    let tasks = &ran.report.stats.tasks;
    assert_eq!((ran.report.stats.ok, tasks.changed, tasks.blocked), (4, 4, 4), "{:?}", ran.record);
    snapshot("changed-in-part", &watched(&ran));
}

#[tokio::test(start_paused = true)]
async fn what_is_blocked_after_a_change_proves_nothing_of_the_rest() {
    let ran = apply(&world("{}", SETTINGS), &contained(false)).await;
    assert_eq!((ran.report.stats.failed, ran.report.stats.tasks.changed), (4, 0), "{:?}", ran.record);
    snapshot("not-converged-blocked", &watched(&ran));
    // What does not tell its rest proves nothing at all.
    let playbook =
        "name: p\ntasks:\n  - name: data\n    mount: { path: /data, source: /dev/sdb1, type: ext4 }\n";
    let mounted = Reply::default().output("/dev/sdb1 /data ext4 rw 0 0\nsizes\n");
    let gone = Reply::default().output("/dev/sda1 / ext4 rw 0 0\nsizes\n");
    let transport = moving("base.mounts", [mounted, gone.clone(), gone]);
    transport.first(Reply::part("file").times(8).output("absent /etc/fstab\nstat 0:0:41ed:9:1:1:1:/etc\n"));
    transport.first(Reply::part("base.virtualization").times(8).output("docker\n"));
    let ran = apply(&world("{}", playbook), &transport).await;
    assert_eq!((ran.report.stats.failed, ran.report.stats.tasks.changed), (4, 0), "{:?}", ran.record);
    snapshot("not-converged-unprovable", &watched(&ran));
}

#[tokio::test(start_paused = true)]
async fn another_try_is_planned_on_what_the_first_one_left() {
    let retried = MODE.replace("owner: root }", "owner: root }\n    retries: { attempts: 3, delay: 5s }");
    // The first try sets the mode and loses the owner, the second one has only that left.
    let transport = moving("file", [stat("8180", 0), stat("81a4", 7), stat("81a4", 0)]);
    let ran = apply(&world("{}", &retried), &transport).await;
    assert_eq!((ran.report.stats.ok, ran.report.stats.tasks.changed), (4, 4), "{:?}", ran.record);
    let tasks: Vec<_> = acts(&transport, "gpu0").into_iter().filter(|sent| sent.part == "task").collect();
    assert_eq!(tasks.len(), 2);
    assert_ne!(tasks[0].text, tasks[1].text);
    let warned = ran.record.hosts["gpu0"].warnings.join("\n");
    assert!(warned.contains("trying again, 2 of 3"), "{warned}");
    // One that failed and is as it should be when it is asked is not tried again.
    let transport = moving("file", [stat("8180", 0), stat("81a4", 0), stat("8180", 0)]);
    transport.first(Reply::part("task").output("ended 1\nno\n"));
    let ran = apply(&world("{}", &retried), &transport).await;
    assert_eq!(ran.report.stats.ok, 4, "{:?}", ran.record);
    assert_eq!(names(&transport, "gpu0").iter().filter(|part| *part == "task").count(), 1);
    // And so many tries are enough.
    let transport = moving("file", [stat("8180", 0), stat("8180", 0), stat("8180", 0)]);
    let began = tokio::time::Instant::now();
    let ran = apply(&world("{}", &retried), &transport).await;
    assert_eq!(ran.report.stats.failed, 4, "{:?}", ran.record);
    assert_eq!(names(&transport, "gpu0").iter().filter(|part| *part == "task").count(), 3);
    assert!(began.elapsed() >= Duration::from_secs(10), "{:?}", began.elapsed());
}

#[tokio::test(start_paused = true)]
async fn what_waits_for_a_task_that_failed_says_so() {
    let playbook = "
name: p
tasks:
  - name: directory
    on_failure: continue
    directory: { path: /opt/app }
  - name: something else
    command: { run: [edit, it], check: [edited, it] }
  - name: file in it
    file: { path: /opt/app/conf, content: x }
";
    let transport = moving("ask", [says("1\n").status(1), says("1\n").status(1), says("0\n")]);
    transport.first(
        Reply::part("file").output("absent /opt/app\nabsent /opt/app/conf\nstat 0:0:41ed:9:1:1:1:/opt\n"),
    );
    let ran = apply(&world("{}", playbook), &transport).await;
    assert!(message(&ran, "directory").starts_with("did not converge"), "{:?}", ran.record);
    assert_eq!(
        message(&ran, "file in it"),
        "/opt/app: the directory /opt/app does not exist, also after `directory`"
    );
    assert_eq!(names(&transport, "gpu0").iter().filter(|part| *part == "task").count(), 2);
}

#[tokio::test(start_paused = true)]
async fn what_was_carried_out_is_not_waited_for() {
    let playbook = "
name: p
tasks:
  - name: edit
    file: { path: /opt/kept, mode: \"0644\" }
  - name: install
    command: { run: [install, it] }
  - name: start
    service: { name: alpha, state: started }
";
    // The command may have brought the unit, and did not.
    let transport = moving("file", [stat("8180", 0), stat("81a4", 0), stat("81a4", 0)]);
    transport.first(Reply::part("unit").output(
        "\nId=alpha.service\nNames=alpha.service\nLoadState=not-found\nActiveState=inactive\n\nend\n",
    ));
    let ran = apply(&world("{}", playbook), &transport).await;
    assert!(matches!(ran.outcome("gpu0", "install"), Outcome::Ran { .. }), "{:?}", ran.record);
    assert_eq!(message(&ran, "start"), "there is no unit alpha.service");
    assert!(matches!(ran.outcome("gpu0", "edit"), Outcome::Changed { .. }), "{:?}", ran.record);
}

#[tokio::test(start_paused = true)]
async fn what_stays_as_it_is_and_what_it_cost_is_told() {
    let quiet = |ran: &Ran| -> Vec<Vec<String>> {
        let names = |event: &Event| match &event.kind {
            EventKind::TasksUnchanged { host, tasks } if host == "gpu0" => {
                Some(tasks.iter().map(|task| task.name.clone()).collect())
            }
            _ => None,
        };
        ran.events.iter().filter_map(names).collect()
    };
    let execs = |ran: &Ran| -> Vec<u64> {
        let execs = |event: &Event| match &event.kind {
            EventKind::HostGathered { execs, .. } => Some(*execs),
            _ => None,
        };
        ran.events.iter().filter_map(execs).collect()
    };
    let ran = apply(&world("{}", TWO), &healthy()).await;
    assert!(quiet(&ran).is_empty());
    assert_eq!(execs(&ran), [1; 4]);
    let transport = healthy();
    transport.first(Reply { part: Some("file".to_owned()), ..stat("81a4", 0) });
    let ran = apply(&world("{}", MODE), &transport).await;
    assert_eq!(quiet(&ran), [["mode"]]);
    assert_eq!((ran.report.stats.tasks.unchanged, ran.report.stats.pending), (4, 0));
    // Nothing is locked, written or tidied for that.
    assert!(names(&transport, "gpu0").is_empty());
}

#[tokio::test(start_paused = true)]
async fn changes_of_one_task_are_one_script_and_all_see_the_proxy() {
    let both = SERVICE.replace("state: started", "state: started, enabled: true");
    let off = unit("inactive").output.replace("=enabled", "=disabled");
    let proxy = "{}\nsources: { proxy: \"http://proxy.example.org:3128\" }";
    for (tail, playbook, wrapped, changes) in
        [("{}", SERVICE, false, 1), ("{}", &both, true, 2), (proxy, SERVICE, true, 1)]
    {
        let transport = moving("unit", [says(&off), unit("active"), unit("active")]);
        let ran = apply(&world(tail, playbook), &transport).await;
        assert_eq!(ran.report.stats.ok, 4, "{:?}", ran.record);
        let tasks: Vec<_> = acts(&transport, "gpu0").into_iter().filter(|it| it.part == "task").collect();
        assert_eq!(tasks.len(), 1);
        let text = &tasks[0].text;
        assert_eq!(text.contains("Runs the scripts of a task"), wrapped, "{text}");
        assert!(text.contains("systemctl"));
        assert_eq!(text.contains("proxy.example.org"), tail == proxy);
        let Outcome::Changed { changes: made, .. } = ran.outcome("gpu0", "start") else { panic!() };
        assert_eq!(made.len(), changes);
    }
}

#[tokio::test(start_paused = true)]
async fn what_a_session_gets_is_got_by_a_new_one() {
    // Membership of a group is seen by the next login, and only what may do anything needs that.
    let playbook = |after: &str| {
        format!(
            "name: p\ntasks:\n  - name: group\n    group: {{ name: gpu }}\n  - name: quiet\n    directory: {{ path: /opt }}\n  - name: after\n    {after}\n"
        )
    };
    for (after, answers, opened) in [
        ("command: { run: [tool-beta] }", ["end\n", "group\ngpu:x:7:\nend\n"], 2),
        ("directory: { path: /srv }", ["end\n", "group\ngpu:x:7:\nend\n"], 1),
        // Nothing was changed.
        ("command: { run: [tool-beta] }", ["group\ngpu:x:7:\nend\n"; 2], 1),
    ] {
        let transport = moving("account", [says(answers[0]), says(answers[1]), says(answers[1])]);
        transport
            .first(Reply::part("file").output("stat 0:0:41ed:9:1:1:1:/opt\nstat 0:0:41ed:9:1:1:1:/srv\n"));
        let ran = apply(&world("{}", &playbook(after)), &transport).await;
        assert_eq!(ran.report.stats.ok, 4, "{after}: {:?}", ran.record);
        assert_eq!(transport.parts("gpu0").iter().filter(|part| *part == "open").count(), opened, "{after}");
    }
}
