//! A change is proven by asking again; the lock, the spool and the notifications around it.

use std::sync::Mutex;

use super::plans::{plain, snapshot};
use super::*;
use provision::report::Reporter as _;
use provision::report::terminal::{Terminal, TerminalSettings, Verbosity};
use provision::transport::Sent;

const MODE: &str = "
name: p
tasks:
  - name: mode
    file: { path: /opt/kept, mode: \"0644\", owner: root }
";

/// What `stat` says of the file, by its mode and owner.
fn stat(mode: &str, owner: u32) -> Reply {
    let names = "user 0 root\nuser 7 rider\ngroup 0 root\n";
    Reply::default()
        .output(format!("stat {owner}:0:{mode}:9:1:1:1:/opt/kept\nstat 0:0:41ed:9:1:1:1:/opt\n{names}"))
}

/// Hosts that answer the questions of a part in one way, in another once a change was made, and in a third
/// one after the second change.
fn moving(part: &'static str, answers: [Reply; 3]) -> Scripted {
    let changes: Mutex<BTreeMap<String, usize>> = Mutex::default();
    healthy().answer(move |sent: &Sent| {
        let mut changes = changes.lock().unwrap();
        let made = changes.entry(sent.host.clone()).or_default();
        if sent.part == "task" {
            *made += 1;
        }
        (sent.part == part).then(|| answers[(*made).min(2)].clone())
    })
}

/// What is sent to a host, without the questions of facts.
fn acts(transport: &Scripted, host: &str) -> Vec<Sent> {
    let acts = ["lock", "task", "tidy", "follow", "end-task", "take-over", "revive"];
    transport.sent().into_iter().filter(|it| it.host == host && acts.contains(&it.part.as_str())).collect()
}

pub(super) fn names(transport: &Scripted, host: &str) -> Vec<String> {
    acts(transport, host).into_iter().map(|sent| sent.part).collect()
}

pub(super) fn message(ran: &Ran, name: &str) -> String {
    match ran.outcome("gpu0", name) {
        Outcome::Failed(failure) => failure.message.clone(),
        other => panic!("{other:?}"),
    }
}

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
    assert!(message(&ran, "build").starts_with("did not converge: after the change the plan is still\n"));
    let transport = moving("ask", [asked(1).status(1), asked(0), asked(0)]);
    let ran = apply(&world("{}", playbook), &transport).await;
    assert!(matches!(ran.outcome("gpu0", "build"), Outcome::Changed { .. }), "{:?}", ran.record);
    // Without anything that says so it is never called a change that was proven.
    let bare = playbook.replace(", check: [made, it]", "");
    let ran = apply(&world("{}", &bare), &healthy()).await;
    assert!(matches!(ran.outcome("gpu0", "build"), Outcome::Ran { .. }), "{:?}", ran.record);
    assert_eq!((ran.report.stats.tasks.ran, ran.report.stats.tasks.changed), (4, 0));
}

const SERVICE: &str = "
name: p
tasks:
  - name: start
    service: { name: alpha, state: started }
";

fn unit(active: &str) -> Reply {
    let sub = if active == "active" { "running" } else { "dead" };
    Reply::default().output(format!(
        "\nType=notify\nId=alpha.service\nNames=alpha.service\nLoadState=loaded\nActiveState={active}\nSubState={sub}\nUnitFileState=enabled\nNeedDaemonReload=no\nCanReload=yes\n\nend\n"
    ))
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
        let (path, key) = ("/etc/sysctl.d/90-provision-net.conf", "/proc/sys/net/core/rmem_max");
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
    assert_eq!((ran.report.stats.ok, ran.report.stats.tasks.changed), (4, 4), "{:?}", ran.record);
    let warned = ran.record.hosts["gpu0"].warnings.join("\n");
    assert!(
        warned.contains("`settings` is not complete: net.core.rmem_max cannot be set in a container"),
        "{warned}"
    );
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
    assert_eq!(message(&ran, "file in it"), "what it needs is still missing after `directory`");
    assert_eq!(names(&transport, "gpu0").iter().filter(|part| *part == "task").count(), 2);
}

#[tokio::test(start_paused = true)]
async fn nothing_is_changed_without_the_lock() {
    let transport = healthy();
    let ran = apply(&world("{}", TWO), &transport).await;
    assert_eq!(ran.report.stats.ok, 4);
    // Once for the host, before the first change; all frames with a change are of this run.
    assert_eq!(names(&transport, "gpu0"), ["lock", "task", "task", "tidy"]);
    for sent in acts(&transport, "gpu0").iter().take(3) {
        assert!(sent.prelude.ends_with("\nprovision_lock run1 me@here/1\n"), "{}", sent.prelude);
        assert!(sent.prelude.contains("flock -n 9"), "{}", sent.prelude);
    }
    // What reads only takes none.
    let asked = transport.sent().into_iter().filter(|sent| sent.part == "state");
    assert!(asked.into_iter().all(|sent| !sent.prelude.contains("provision_lock run1")));
    for (said, told) in [
        (
            "busy run9 you@there/2 4711 100",
            "another run works on this host: run run9 of controller you@there/2",
        ),
        ("busy", "another run works on this host"),
        ("unwritable /run/provision", "cannot write the state directory /run/provision"),
        ("", "its lock could not be taken"),
    ] {
        let transport = healthy();
        transport.first(Reply::part("lock").output(format!("{said}\n/run/provision\n")));
        let ran = apply(&world("{}", TWO), &transport).await;
        assert!(message(&ran, "one").starts_with(told), "{said}: {:?}", ran.record);
        assert_eq!(names(&transport, "gpu0"), ["lock"], "{said}");
        assert_eq!(ran.report.locked, said.starts_with("busy"), "{said}");
        // A dead run of another controller is not ours to end.
        assert_eq!(ran.report.stats.failed, 4);
    }
}

#[tokio::test(start_paused = true)]
async fn a_lock_that_cannot_be_had_as_usual() {
    // No flock on the host: told, and the run goes on.
    let transport = healthy();
    transport.first(Reply::part("lock").output("none\n/run/provision\n"));
    let ran = apply(&world("{}", TWO), &transport).await;
    assert_eq!(ran.report.stats.ok, 4);
    assert!(ran.record.hosts["gpu0"].warnings.join("\n").contains("there is no `flock` on this host"));
    // The connection is lost in between: asked again.
    let transport = healthy();
    transport.first(Reply::part("lock").on("gpu0").times(1).lose());
    let ran = apply(&world("{}", TWO), &transport).await;
    assert_eq!(ran.report.stats.ok, 4, "{:?}", ran.record);
    assert_eq!(names(&transport, "gpu0"), ["lock", "lock", "task", "task", "tidy"]);
    // The host does not answer.
    let transport = healthy();
    transport.first(Reply::part("lock").on("gpu0").hang());
    let ran = apply(&world("{}", TWO), &transport).await;
    assert!(
        matches!(ran.status("gpu0"), HostStatus::Quarantined { reason } if reason.contains("its lock could not be taken")),
        "{:?}",
        ran.status("gpu0")
    );
    // A new session has no lock until it takes it.
    let transport = healthy();
    transport.first(Reply::part("task").on("gpu0").with("tool-alpha").hang());
    let playbook = TWO.replace("- name: one\n", "- name: one\n    on_failure: continue\n");
    apply(&world("{}", &playbook), &transport).await;
    assert_eq!(names(&transport, "gpu0"), ["lock", "task", "revive", "end-task", "lock", "task", "tidy"]);
    // A lock that stays with a run whose controller is dead is taken over once, not for ever.
    let transport = healthy();
    transport.first(Reply::part("lock").on("gpu0").output("busy run9 me@here/1 4711 100\n/run/provision\n"));
    let ran = apply(&world("{}", TWO), &transport).await;
    assert!(message(&ran, "one").contains("run run9 of controller me@here/1"), "{:?}", ran.record);
    assert_eq!(names(&transport, "gpu0"), ["lock", "take-over", "lock"]);
    let sent = acts(&transport, "gpu0");
    assert!(sent[1].text.ends_with("\n4711\n100"), "{}", sent[1].text);
    // The other hosts are not of that run.
    assert_eq!(ran.report.stats.ok, 3);
}

#[tokio::test(start_paused = true)]
async fn a_host_that_changed_since_the_plan_is_left_as_it_is() {
    let asked = Mutex::new(BTreeMap::<String, u32>::new());
    // The second answer stands in one frame with the lock.
    let transport = healthy().answer(move |sent: &Sent| {
        if sent.part != "file" {
            return None;
        }
        let mut asked = asked.lock().unwrap();
        let number = asked.entry(sent.host.clone()).or_default();
        *number += 1;
        Some(match (sent.host.as_str(), *number) {
            ("gpu0", 2) => stat("81ff", 0),
            (_, 1 | 2) => stat("8180", 0),
            _ => stat("81a4", 0),
        })
    });
    let ran = apply(&world("{}", MODE), &transport).await;
    assert!(message(&ran, "mode").starts_with("the host changed between plan and apply"), "{:?}", ran.record);
    assert_eq!(names(&transport, "gpu0"), ["lock"]);
    assert_eq!(ran.report.stats.ok, 3);
    assert!(!ran.report.locked);
}

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
        ("unwritable /run/provision/spool/x: No space\n", "cannot write the state directory of the host"),
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

fn says(text: &str) -> Reply {
    Reply::default().output(text)
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
        (
            "modprobe: FATAL: Module x not found in directory /lib/modules/6",
            Some("the module is not installed"),
        ),
        ("E: Could not get lock /var/lib/dpkg/lock", Some("another package manager runs")),
        ("Waiting for cache lock", Some("another package manager runs")),
        ("E: Unable to locate package linux-headers-6.1", Some("no headers for this kernel")),
        ("No match for argument: kernel-devel-5.14", Some("no headers for this kernel")),
        ("E: Unable to locate package x", Some("not in the repositories")),
        ("No match for argument: x", Some("not in the repositories")),
        ("x has no installation candidate", Some("not in the repositories")),
        ("Temporary failure resolving 'x'", Some("cannot resolve names")),
        ("Could not resolve host: x", Some("cannot resolve names")),
        ("Could not connect to x", Some("does not reach its package mirror")),
        ("Connection timed out", Some("does not reach its package mirror")),
        ("cp: No space left on device", Some("is full")),
        ("cp: Read-only file system", Some("mounted read-only")),
        ("cp: Permission denied", Some("the login may not do this")),
        ("Operation not permitted", Some("the login may not do this")),
        ("are you root?", Some("the login may not do this")),
        ("sh: x: command not found", Some("a tool is missing")),
        ("sh: 1: x: not found", Some("a tool is missing")),
        ("something else", None),
        ("Module x is old", None),
        ("linux-headers-6.1 is old", None),
    ] {
        let transport = healthy();
        transport.first(Reply::part("task").output(format!("ended 1\n{said}\n")));
        let ran = apply(&world("{}", TWO), &transport).await;
        let Outcome::Failed(failure) = ran.outcome("gpu0", "one") else { panic!("{said}") };
        assert_eq!(failure.message, said);
        let told = failure.hint.as_deref();
        assert!(
            hint.map_or(told.is_none(), |hint| told.is_some_and(|told| told.contains(hint))),
            "{said}: {told:?}"
        );
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
async fn the_controller_is_waited_for_a_minute() {
    // Runs of other clusters write there, too; each is short.
    let playbook = "name: p\ntasks:\n  - name: page\n    render: { path: page, content: x }\n";
    for (busy, locks, failed) in [(20, 21, 0), (1000, 61, 1)] {
        let transport = healthy();
        transport.first(
            Reply::part("lock").times(busy).output("busy run9 you@there/2 4711 100\n/run/provision\n"),
        );
        let world = world("{}", playbook);
        let directory = world.directory.path().display();
        transport.first(
            Reply::part("file")
                .output(format!("absent {directory}/page\nstat 0:0:41ed:9:1:1:1:{directory}\n")),
        );
        let ran = apply(&world, &transport).await;
        let sent = transport.sent();
        assert_eq!(sent.iter().filter(|sent| sent.part == "lock").count(), locks, "{:?}", ran.record);
        assert_eq!(ran.report.locked, failed == 1, "{:?}", ran.record);
    }
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
