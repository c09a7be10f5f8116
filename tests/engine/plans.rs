//! What a plan knows and what it cannot know, as a person reads it: `tests/snapshots/engine/`.

use std::sync::Mutex;

use super::*;
use provision::transport::Sent;

/// Compares with `tests/snapshots/engine/NAME.txt.snap`.
pub(super) fn snapshot(name: &str, text: &str) {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("../snapshots/engine");
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!(format!("{name}.txt"), text));
}

pub(super) fn plain(text: &str) -> String {
    anstream::adapter::strip_str(text).to_string()
}

/// A plan of these tasks as `plan` prints it. No host is sent a change.
async fn planned(tail: &str, tasks: &str, transport: &Scripted) -> String {
    let ran = run(&world(tail, &format!("name: p\ntasks:{tasks}")), transport, Mode::Plan, |_| {}).await;
    for host in ["gpu0", "gpu3"] {
        let parts = transport.parts(host);
        assert!(!parts.iter().any(|part| part == "task" || part == "lock"), "{parts:?}");
    }
    plain(&provision::report::plan::text(&ran.record, None))
}

/// Hosts on which nothing that tasks of these tests manage is there yet.
fn bare() -> Scripted {
    let transport = healthy();
    let file = "\
absent /opt/app
absent /opt/app/conf
absent /srv/none
absent /srv/none/conf
absent /etc/other
absent /etc/name
stat 0:0:41ed:9:1:1:1:/opt
stat 0:0:41ed:9:1:1:1:/etc
stat 0:0:41ed:9:1:1:1:/srv
";
    for (part, output) in [
        ("file", file),
        ("account", "end\n"),
        (
            "unit",
            "\nId=alpha.service\nNames=alpha.service\nLoadState=not-found\nActiveState=inactive\n\nend\n",
        ),
        (
            "package",
            "manager apt\nlists there\npolicy\ntool:\n  Installed: (none)\n  Candidate: 1.0\n  Version table:\n     1.0 500\n        500 http://x stable/main amd64 Packages\nend\n",
        ),
        ("base.hostname", "old\n"),
        ("base.virtualization", "none\n"),
    ] {
        transport.first(Reply::part(part).output(output));
    }
    transport
}

const DIRECTORY: &str = "
  - name: directory
    directory: { path: /opt/app }
";
const FILE_IN_IT: &str = "
  - name: file in it
    file: { path: /opt/app/conf, content: \"a\\n\" }
";
const ELSEWHERE: &str = "
  - name: file elsewhere
    file: { path: /etc/other, content: \"a\\n\" }
";
const IN_NOTHING: &str = "
  - name: file in nothing
    file: { path: /srv/none/conf, content: \"a\\n\" }
";
const INSTALL: &str = "
  - name: install
    command: { run: [install, it] }
";
const SERVICE: &str = "
  - name: service
    service: { name: alpha, state: started }
";

#[tokio::test(start_paused = true)]
async fn what_an_earlier_task_brings_is_known_after_it() {
    let levels = "
  - name: key
    authorized_key: { user: rider, key: \"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGRpZ2l0cyBvZiBhIGtleSB0aGF0IG5vYm9keSB1c2Vz k\" }
";
    let group = "
  - name: group
    group: { name: gpu }
";
    let user = "
  - name: user
    user: { name: rider, groups: [gpu] }
";
    let transport = bare();
    let tasks = [DIRECTORY, FILE_IN_IT, ELSEWHERE, IN_NOTHING, group, user, levels].concat();
    let text = planned("{}", &tasks, &transport).await;
    snapshot("known-after-object", &text);
    // The other way round nothing is on its way yet.
    let text = planned("{}", &[levels, user, FILE_IN_IT, group, DIRECTORY].concat(), &transport).await;
    snapshot("known-after-nothing", &text);
}

#[tokio::test(start_paused = true)]
async fn a_package_or_a_command_may_bring_anything() {
    let package = "
  - name: package
    package: { names: [tool] }
";
    let question = "
  - name: question
    command: { run: [tool, -v], changes: false }
    register: answer
";
    let transport = bare();
    transport.first(Reply::part("ask").status(0).output("\n").with("tool"));
    transport.first(Reply::part("ask").status(127));
    let before = SERVICE.replace("name: service", "name: service before");
    for (name, brings) in [("command", INSTALL), ("package", package)] {
        let text =
            planned("{}", &[&before, brings, SERVICE, IN_NOTHING, question].concat(), &transport).await;
        snapshot(&format!("known-after-{name}"), &text);
    }
}

#[tokio::test(start_paused = true)]
async fn a_command_in_a_loop_is_called_by_its_item() {
    let tasks = "
  - name: each
    loop: [alice, { name: bob, uid: 7 }, 3]
    command: { script: 'id \"$who\"', env: { who: \"{{ item }}\" } }
  - name: all of {{ item }}
    loop: [x]
    command: { run: [id, \"{{ item }}\"] }
";
    let text = planned("{}", tasks, &healthy()).await;
    for name in ["each (alice)  command", "each (bob)  command", "each (3)  command", "all of x  command"] {
        assert!(text.contains(name), "{name} is not in\n{text}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_file_among_units_may_be_the_unit() {
    let transport = healthy();
    let missing =
        "\nId=alpha.service\nNames=alpha.service\nLoadState=not-found\nActiveState=inactive\n\nend\n";
    transport.first(Reply::part("unit").output(missing));
    for place in ["/etc", "/usr/local/lib"] {
        let directory = format!("{place}/systemd/system");
        let unit = format!(
            "
  - name: unit
    file: {{ path: {directory}/alpha.service, content: \"[Service]\\n\" }}
"
        );
        let absent = format!("absent {directory}/alpha.service\nstat 0:0:41ed:9:1:1:1:{directory}\n");
        transport.first(Reply::part("file").output(&absent));
        let text = planned("{}", &[unit.as_str(), SERVICE].concat(), &transport).await;
        assert!(text.contains("known after task \"unit\""), "{text}");
    }
    // What is not there neither runs nor starts at boot.
    let gone = SERVICE.replace("state: started", "state: stopped, enabled: false");
    for (tasks, failed) in [(SERVICE, 4), (&gone, 0)] {
        let ran = run(&world("{}", &format!("name: p\ntasks:{tasks}")), &transport, Mode::Plan, |_| {}).await;
        assert_eq!(ran.report.stats.failed, failed, "{tasks}");
    }
}

#[tokio::test(start_paused = true)]
async fn what_reads_an_answer_or_a_fact_that_is_not_there_waits() {
    let ask = "
  - name: question
    command: { run: [question], changes: false }
    register: answer
";
    let reads_answer = "
  - name: reads the answer
    file: { path: /etc/name, content: \"{{ answer }}\\n\" }
";
    let reads_fact = "
  - name: reads a fact
    file: { path: /etc/other, content: \"{{ facts.os.id }}\\n\" }
";
    let when_fact = "
  - name: asks a fact
    when: facts.os.id == \"debian\"
    file: { path: /etc/other2, content: x }
";
    let transport = bare();
    transport.first(Reply::part("ask").output("0\nyes\n"));
    transport.first(Reply::part("base.os").status(127));
    let before = reads_fact.replace("reads a fact", "reads a fact before").replace("other", "before");
    let tasks = [before.as_str(), INSTALL, ask, reads_answer, reads_fact, when_fact].concat();
    snapshot("known-after-answer", &planned("{}", &tasks, &transport).await);
}

#[tokio::test(start_paused = true)]
async fn what_reads_the_answer_of_a_question_that_failed_names_it() {
    let tasks = "
  - name: other question
    command: { run: [other], changes: false, parse: status }
    register: other
  - name: question
    command: { run: [question, -a], changes: false }
    register: answer
  - name: by the answer
    when: answer == \"yes\"
    file: { path: /opt/app, content: \"{{ other }}\" }
  - name: with the answer
    file: { path: /etc/name, content: \"{{ answer }}\\n\" }
";
    let transport = bare();
    transport.first(Reply::part("ask").status(3).output("half an answer\n"));
    snapshot("question-fails", &planned("{}", tasks, &transport).await);
}

/// A task that writes what it reads of the facts into a file.
fn reads(fact: &str, path: &str) -> String {
    format!(
        "
  - name: reads {fact} for {path}
    file: {{ path: {path}, content: \"{{{{ facts.{fact} }}}}\\n\" }}
"
    )
}

/// Hosts that say what they are, and have no file of these facts.
fn named() -> Scripted {
    let transport = bare();
    let file = "absent /opt/hostname\nabsent /opt/arch\nabsent /opt/modules\nabsent /etc/hostname\nabsent /etc/other\nabsent /etc/name\nstat 0:0:41ed:9:1:1:1:/opt\nstat 0:0:41ed:9:1:1:1:/etc\n";
    transport.first(Reply::part("file").output(file));
    transport.first(Reply::part("base.arch").output("x86_64\n"));
    transport.first(Reply::part("base.modules").output("dummy 16384 0 - Live 0x0\nend\n"));
    transport
}

#[tokio::test(start_paused = true)]
async fn what_reads_a_fact_that_a_pending_task_may_change_is_known_after_it() {
    let hostname = "
  - name: its name
    file: { path: /etc/hostname, content: \"new\\n\" }
";
    let rename = "
  - name: rename
    command: { run: [hostnamectl, set-hostname, new] }
    notify: tell
";
    let asks = "
  - name: asks for its name
    when: facts.hostname == \"new\"
    file: { path: /etc/other, content: x }
";
    let ruled_out = asks.replace("asks for", "never asks for").replace("when:", "when: false and");
    let each = "
  - name: each of its names
    loop: [\"{{ facts.hostname }}\"]
    file: { path: \"/etc/other\", content: \"{{ item }}\" }
";
    let handlers = "handlers:
  - name: tell
    command: { run: [tell, \"{{ facts.hostname }}\"] }
";
    for (name, change) in [("path", hostname), ("command", rename)] {
        let before = reads("hostname", "/etc/name");
        let tasks = [
            before.as_str(),
            change,
            &reads("hostname", "/opt/hostname"),
            &reads("arch", "/opt/arch"),
            &reads("modules.loaded | length", "/opt/modules"),
            asks,
            &ruled_out,
            each,
            if name == "command" { handlers } else { "" },
        ];
        snapshot(&format!("known-after-fact-{name}"), &planned("{}", &tasks.concat(), &named()).await);
    }
}

#[tokio::test(start_paused = true)]
async fn what_a_command_that_always_runs_may_change_is_no_drift_while_it_is_as_it_should_be() {
    /// SHA-256 of `old` and the end of its line.
    const OLD: &str = "01d09d19c2139a46aebfb577780d123d7396e97201bc7ead210a2ebff8239dee";
    let holds = |digest: &str| {
        let transport = named();
        transport.first(Reply::part("file").output(format!(
            "stat 0:0:81a4:4:1:1:1:/opt/hostname\n{digest}  /opt/hostname\nabsent /etc/hostname\nstat 0:0:41ed:9:1:1:1:/opt\nstat 0:0:41ed:9:1:1:1:/etc\n"
        )));
        transport
    };
    let playbook = format!("name: p\ntasks:{INSTALL}{}", reads("hostname", "/opt/hostname"));
    for (digest, pending) in [(OLD, 0), (&OLD.replace('2', "3"), 4)] {
        let ran = run(&world("{}", &playbook), &holds(digest), Mode::Plan, |_| {}).await;
        assert_eq!(ran.report.stats.pending, pending, "{:?}", ran.record);
        let text = plain(&provision::report::plan::text(&ran.record, None));
        assert!(text.contains("? gpu[0-3]  known after task \"install\""), "{text}");
    }
    // A change that is due makes another of it, so both are drift on each of the four hosts.
    let change = "
  - name: its name
    file: { path: /etc/hostname, content: \"new\\n\" }
";
    let playbook = format!("name: p\ntasks:{change}{}", reads("hostname", "/opt/hostname"));
    let ran = run(&world("{}", &playbook), &holds(OLD), Mode::Plan, |_| {}).await;
    assert_eq!(ran.report.stats.pending, 8, "{:?}", ran.record);
}

#[tokio::test(start_paused = true)]
async fn what_reads_a_fact_after_a_task_that_failed_goes_by_what_is_there() {
    let transport = named();
    transport.first(Reply::part("task").output("ended 1\nno\n"));
    let playbook = "name: p
tasks:
  - name: rename
    on_failure: continue
    command: { run: [hostnamectl, set-hostname, new] }
  - name: asks for its name
    when: facts.hostname == \"new\"
    file: { path: /etc/other, content: x }
";
    let ran = apply(&world("{}", playbook), &transport).await;
    assert!(matches!(ran.outcome("gpu0", "rename"), Outcome::Failed(_)), "{:?}", ran.record);
    assert_eq!(ran.outcome("gpu0", "asks for its name"), &Outcome::Skipped("`when` is false".to_owned()));
}

#[tokio::test(start_paused = true)]
async fn handlers_stand_in_a_plan_with_their_reason() {
    let tasks = "
  - name: directory
    directory: { path: /opt/app }
    notify: [reload, write]
  - name: install
    command: { run: [install, it] }
    notify: reload
  - name: start
    service: { name: alpha, state: started }
    notify: follow
  - name: as it should be
    directory: { path: /opt }
    notify: quiet
handlers:
  - name: write
    file: { path: /opt/app/conf, content: x }
  - name: reload
    command: { run: [reload, it] }
  - name: follow
    command: { run: [follow, it] }
  - name: quiet
    command: { run: [nothing, to, say] }
  - name: left
    command: { run: [catch, up] }
";
    let transport = bare();
    transport.first(Reply::part("state").output("version\t1\nnotify\t./site.yaml/left\n"));
    snapshot("handlers", &planned("{}", tasks, &transport).await);
}

#[tokio::test(start_paused = true)]
async fn what_cannot_be_asked_is_no_change() {
    let kept = "
  - name: mode
    file: { path: /opt/kept, mode: \"0600\" }
";
    for (name, reply) in [
        ("deadline", Reply::part("file").hang()),
        ("no-tool", Reply::part("file").output("no stat\n")),
        ("cut", Reply::part("file").output("stat 0:0:41ed:9")),
        ("status", Reply::part("file").status(3)),
    ] {
        let transport = bare();
        transport.first(reply);
        let before = kept.replace("mode\n", "mode before\n");
        let text = planned("{}", &[&before, INSTALL, kept].concat(), &transport).await;
        snapshot(&format!("unknown-{name}"), &text);
    }
}

#[tokio::test(start_paused = true)]
async fn what_cannot_be_done_now_is_blocked_and_so_is_what_waits_for_it() {
    let sysctl = "
  - name: settings
    sysctl: { name: net, values: { net.core.rmem_max: 7 } }
  - name: mode
    file: { path: /etc/sysctl.d/99-zz-provision-net.conf, mode: \"0600\" }
  - name: data
    mount: { path: /data, source: /dev/sdb1, type: ext4 }
  - name: mode of data
    file: { path: /data, mode: \"0600\" }
  - name: boot
    reboot: {}
";
    let transport = bare();
    for (part, output) in [
        (
            "file",
            "absent /etc/sysctl.d/99-zz-provision-net.conf\nstat 0:0:41ed:9:1:1:1:/etc/sysctl.d\nabsent /data\nabsent /etc/fstab\nstat 0:0:41ed:9:1:1:1:/etc\n",
        ),
        (
            "setting",
            "ro /proc/sys/net/core/rmem_max\nread /proc/sys/net/core/rmem_max\nvalues\n/proc/sys/net/core/rmem_max:5\nend 0\n",
        ),
        ("base.boot", "id=one\nrunning=6.1\nnext=6.2\nmodules=true\nimage=true\n"),
        ("base.mounts", "/dev/sda1 / ext4 rw 0 0\nsizes\n"),
    ] {
        transport.first(Reply::part(part).output(output));
    }
    transport.first(Reply::part("base.virtualization").on("gpu3").output("none\n"));
    transport.first(Reply::part("base.virtualization").times(3).output("docker\n"));
    snapshot("blocked", &planned("{}\npolicy: { reboot: never }", sysctl, &transport).await);
}

#[tokio::test(start_paused = true)]
async fn a_change_of_another_thing_brings_nothing() {
    // Which groups there are is asked with the user, and the group is still not there.
    let tasks = "
  - name: another group
    group: { name: other }
  - name: user
    user: { name: rider, groups: [gpu] }
";
    snapshot("known-after-none-of-it", &planned("{}", tasks, &bare()).await);
}

/// The digests of the plans of all hosts.
async fn digests(playbook: &str, transport: &Scripted) -> BTreeMap<String, Vec<StageDigest>> {
    let ran = run(&world("{}", playbook), transport, Mode::Plan, |_| {}).await;
    let sessions = ran.report.sessions.iter();
    sessions.filter_map(|it| Some((it.name().to_owned(), it.plan_digests()?.to_vec()))).collect()
}

#[tokio::test(start_paused = true)]
async fn equal_plans_have_equal_digests_and_no_others() {
    let playbook = |tasks: &[&str]| format!("name: p\ntasks:{}", tasks.concat());
    let mut known = BTreeSet::new();
    for tasks in [
        &[DIRECTORY][..],
        &[FILE_IN_IT],
        &[DIRECTORY, FILE_IN_IT],
        &[INSTALL, FILE_IN_IT],
        &[INSTALL],
        &[ELSEWHERE],
        &[&ELSEWHERE.replace("a\\n", "b\\n")],
        &[&ELSEWHERE.replace('}', ", mode: \"0600\" }")],
        &[&ELSEWHERE.replace("elsewhere", "of another name")],
        &[&INSTALL.replace("  - name", "  - when: false\n    name")],
        &[&INSTALL.replace("it]", "it], creates: /opt")],
    ] {
        let digests = digests(&playbook(tasks), &bare()).await;
        assert_eq!(digests.len(), 4);
        assert!(digests.values().all(|it| it.len() == 1 && *it == digests["gpu0"]), "{digests:?}");
        assert!(known.insert(digests["gpu0"].clone()), "like another one: {tasks:?}");
    }
    // The same again, on other hosts that are alike.
    assert!(known.contains(&digests(&playbook(&[DIRECTORY]), &bare()).await["gpu0"]));
}

#[tokio::test(start_paused = true)]
async fn a_plan_file_is_carried_out_as_it_is_or_not_at_all() {
    let playbook = format!("name: p\ntasks:{INSTALL}{SERVICE}").replace("started", "stopped");
    let up = |active: &str| {
        let transport = bare();
        transport.first(Reply::part("unit").output(format!(
            "\nId=alpha.service\nNames=alpha.service\nLoadState=loaded\nActiveState={active}\n\nend\n"
        )));
        transport
    };
    let mut world = world("{}", &playbook);
    let mut expected = digests(&playbook, &up("inactive")).await;
    expected.remove("gpu2");
    world.expected = Some(expected);
    let transport = up("inactive");
    transport.first(
        Reply::part("unit")
            .on("gpu1")
            .output("\nId=alpha.service\nNames=alpha.service\nLoadState=loaded\nActiveState=active\n\nend\n"),
    );
    let ran = apply(&world, &transport).await;
    assert_eq!(ran.report.stats.ok, 2, "{:?}", ran.record);
    for (host, why) in [("gpu1", "no longer the one in the plan file"), ("gpu2", "not in the plan file")] {
        assert!(
            matches!(ran.status(host), HostStatus::NotStarted(reason) if reason.contains(why)),
            "{:?}",
            ran.status(host)
        );
        assert!(!transport.parts(host).iter().any(|part| part == "task"));
    }
}

/// Hosts with a file of this text, which was written at this time.
fn with_file(text: &str, written: u32) -> Scripted {
    let transport = bare();
    let sha256 = format!("{:0>64}", text.len());
    let size = text.len();
    let shown = text.lines().fold(String::new(), |shown, line| shown + "|" + line + "\n");
    transport.first(Reply::part("file").output(format!(
        "stat 0:0:81a4:{size}:1:{written}:{written}:/etc/other\nstat 0:0:41ed:9:1:1:1:/etc\n\
         {sha256}  /etc/other\ntext /etc/other\n{shown}.\ndiffers /etc/other\n"
    )));
    transport
}

#[tokio::test(start_paused = true)]
async fn a_plan_is_another_one_where_something_else_would_be_lost() {
    let playbook = |tasks: &str| format!("name: p\ntasks:{tasks}");
    let line = "
  - name: line
    line: { path: /etc/other, line: c }
";
    let absent = "
  - name: absent
    file: { path: /etc/other, state: absent }
";
    for (tasks, text, seen) in [
        (ELSEWHERE, "a line by hand\n", true),
        (ELSEWHERE, "old\n", false),
        (line, "a line by hand\n", true),
        (absent, "a line by hand\n", true),
        (absent, "odd\n", true),
        (absent, "old\n", true),
    ] {
        let before = digests(&playbook(tasks), &with_file("old\n", 1)).await;
        let again = digests(&playbook(tasks), &with_file("old\n", 1)).await;
        assert_eq!(before, again, "{tasks}");
        let after = digests(&playbook(tasks), &with_file(text, 2)).await;
        assert_eq!(before["gpu0"] != after["gpu0"], seen, "{tasks} {text}");
    }
    // What a stage before it may write is not compared.
    let stages = format!(
        "{line}{}",
        "
  - name: another
    when: hosts.gpu1.facts.hostname == \"old\"
    file: { path: /etc/other, state: absent }
"
    );
    let first = digests(&playbook(&stages), &with_file("old\n", 1)).await;
    let second = digests(&playbook(&stages), &with_file("older\n", 2)).await;
    assert_eq!(first["gpu0"].len(), 2, "{first:?}");
    assert_ne!(first["gpu0"][0], second["gpu0"][0]);
    assert_eq!(first["gpu0"][1], second["gpu0"][1]);
}

/// Hosts that get a new name by `rename`. One of them gets another mode of `/etc/kept` with it.
fn renamed(moved: &'static str) -> Scripted {
    let done: Mutex<BTreeSet<String>> = Mutex::default();
    healthy().answer(move |sent: &Sent| {
        let mut done = done.lock().unwrap();
        if sent.part == "task" && sent.text.contains("rename") {
            done.insert(sent.host.clone());
        }
        let is_done = done.contains(&sent.host);
        let mode = if is_done && sent.host == moved { "8180" } else { "81a4" };
        match sent.part.as_str() {
            "base.hostname" => Some(Reply::default().output(if is_done { "new\n" } else { "old\n" })),
            "file" => Some(Reply::default().output(format!("stat 0:0:{mode}:4:1:1:1:/etc/kept\n"))),
            _ => None,
        }
    })
}

#[tokio::test(start_paused = true)]
async fn what_a_plan_file_knows_only_after_a_change_is_carried_out_as_it_turns_out() {
    let tasks = "
name: p
tasks:
  - name: rename
    command: { run: [rename, it] }
    notify: reload
  - name: once
    run_once: true
    command: { run: [tool-once] }
  - name: not for new ones
    when: facts.hostname == \"old\"
    command: { run: [never] }
    notify: [follow, reload]
  - name: tells {{ item }}
    loop: [\"{{ facts.hostname }}\", all]
    command: { run: [tell, \"{{ item }}\"] }
  - name: kept
    file: { path: /etc/kept, mode: \"0644\" }
handlers:
  - name: follow
    command: { run: [follow, it] }
  - name: reload
    command: { run: [reload, it] }
";
    let mut world = world("{}", tasks);
    world.expected = Some(digests(tasks, &renamed("none")).await);
    let ran = apply(&world, &renamed("none")).await;
    assert_eq!(ran.report.stats.ok, 4, "{:?}", ran.record);
    for host in ["gpu0", "gpu3"] {
        assert!(matches!(ran.outcome(host, "tells new"), Outcome::Ran { .. }));
        assert!(matches!(ran.outcome(host, "not for new ones"), Outcome::Skipped(_)));
        assert!(matches!(ran.outcome(host, "reload"), Outcome::Ran { .. }));
        assert!(!ran.record.hosts[host].tasks.iter().any(|task| task.task.name == "follow"));
    }

    // What was known is still kept to.
    let ran = apply(&world, &renamed("gpu1")).await;
    assert_eq!(ran.report.stats.ok, 3, "{:?}", ran.record);
    assert!(
        matches!(ran.status("gpu1"), HostStatus::NotStarted(reason) if reason.contains("earlier stages were carried out")),
        "{:?}",
        ran.status("gpu1")
    );
    let carried_out = &ran.record.hosts["gpu1"].tasks;
    assert!(!carried_out.iter().any(|task| task.task.name == "tells new"), "{carried_out:?}");
}

#[tokio::test(start_paused = true)]
async fn a_plan_counts_what_it_holds() {
    let tasks = "
name: p
tasks:
  - name: directory
    directory: { path: /opt/app }
    notify: tell
  - name: file in it
    file: { path: /opt/app/conf, content: x }
  - name: there
    directory: { path: /opt }
  - name: not here
    when: false
    command: { run: [edit, it] }
  - name: boot
    reboot: {}
  - name: runs
    command: { run: [edit, it] }
handlers:
  - name: tell
    command: { run: [reload, it] }
  - name: left
    command: { run: [catch, up] }
";
    let transport = bare();
    transport.first(Reply::part("state").output("version\t1\nnotify\t./site.yaml/left\n"));
    transport
        .first(Reply::part("base.boot").output("id=one\nrunning=6.1\nnext=6.2\nmodules=true\nimage=true\n"));
    let ran = run(&world("{}\npolicy: { reboot: never }", tasks), &transport, Mode::Plan, |_| {}).await;
    let sums = ran.report.stats.tasks;
    assert_eq!((sums.unchanged, sums.skipped, sums.blocked, sums.failed), (4, 4, 4, 0), "{:?}", ran.record);
    // What is to be done: the directory, what is in it, and the handler that was left. One that is
    // notified comes with its task.
    assert_eq!(ran.report.stats.pending, 12);
    assert_eq!((sums.changed, sums.ran), (0, 0));
    assert!(ran.report.sessions.iter().all(engine::Session::has_drift));

    let there = "name: p\ntasks:\n  - name: there\n    directory: { path: /opt }\n";
    let ran = run(&world("{}", there), &bare(), Mode::Plan, |_| {}).await;
    assert!(!ran.report.sessions.iter().any(engine::Session::has_drift), "all is as it should be");
}

/// What `verify` can expect of each host: also of the tasks after one that failed, and of none that are skipped
/// or cannot be done there.
#[tokio::test(start_paused = true)]
async fn tasks_promise_what_is_to_come_and_not_what_cannot_be() {
    let tasks = "
  - name: pages
    sysctl: { name: net, values: { vm.nr_hugepages: 7 } }
  - name: broken
    when: host.name != \"gpu2\"
    file: { path: /srv/none/conf, content: \"a\\n\" }
  - name: once
    run_once: true
    file: { path: /etc/other, content: \"a\\n\" }
  - name: files of jobs
    limits: { name: jobs, values: { nofile: 4096 } }
  - name: not here
    when: host.name == \"gpu9\"
    time_sync: {}
";
    let transport = bare();
    let file = "\
absent /etc/sysctl.d/99-zz-provision-net.conf
absent /etc/security/limits.d/90-provision-jobs.conf
absent /etc/other
absent /srv/none
absent /srv/none/conf
stat 0:0:41ed:9:1:1:1:/etc/sysctl.d
stat 0:0:41ed:9:1:1:1:/etc/security/limits.d
stat 0:0:41ed:9:1:1:1:/etc
stat 0:0:41ed:9:1:1:1:/srv
";
    let setting = "ro /proc/sys/vm/nr_hugepages\nread /proc/sys/vm/nr_hugepages\nvalues\n/proc/sys/vm/nr_hugepages:5\nend 0\n";
    let written = setting.replacen("ro", "rw", 1);
    transport.first(Reply::part("file").output(file));
    transport.first(Reply::part("setting").output(setting));
    transport.first(Reply::part("setting").on("gpu3").output(&written));
    transport.first(Reply::part("base.virtualization").output("docker\n"));
    transport.first(Reply::part("base.virtualization").on("gpu3").output("none\n"));
    let ran = run(&world("{}", &format!("name: p\ntasks:{tasks}")), &transport, Mode::Plan, |_| {}).await;
    let promised = |host: &str, key: &str| {
        let session = ran.report.sessions.iter().find(|session| session.name() == host).unwrap();
        session.promises().of_host::<serde_json::Value>(key)
    };
    for host in ["gpu0", "gpu1", "gpu2", "gpu3"] {
        let failed = host != "gpu2";
        assert_eq!(matches!(ran.status(host), HostStatus::Failed), failed, "{host} {:?}", ran.status(host));
        assert_eq!(promised(host, "system.time_sync"), None);
        let whole = host == "gpu3";
        // The setting cannot be written in a container, nor are the limits of logins made there.
        assert_eq!(promised(host, "system.hugepages"), whole.then(|| 7.into()), "{host}");
        assert_eq!(promised(host, "system.nofile"), whole.then(|| 4096.into()), "{host}");
    }
}

#[tokio::test(start_paused = true)]
async fn what_runs_every_time_is_counted_where_a_plan_ends() {
    let world = world("{}", "name: p\ntasks:\n  - name: each\n    command: { run: [tool] }\n");
    let ran = run(&world, &healthy(), Mode::Plan, |_| {}).await;
    let sum = plain(&provision::report::plan::sum(&ran.record, None));
    assert_eq!(sum.trim(), "Planned  nothing to change, 4 tasks that run every time");
    // A handler runs because of a change, and is not counted with them.
    let playbook = "name: p\ntasks:\n  - name: made\n    command: { run: [make], creates: /made }\n    notify: tell\n\
                    handlers:\n  - name: tell\n    command: { run: [tool] }\n";
    let transport = healthy();
    transport.first(Reply::part("file").output("absent /made\n"));
    let ran = run(&super::world("{}", playbook), &transport, Mode::Plan, |_| {}).await;
    let sum = plain(&provision::report::plan::sum(&ran.record, None));
    assert!(sum.trim().ends_with(", 4 handlers to run"), "{sum}");
}

#[tokio::test(start_paused = true)]
async fn what_needs_a_task_that_failed_names_it() {
    let tasks = "
name: p
tasks:
  - name: install
    package: { names: [tool] }
    on_failure: continue
  - name: start
    service: { name: alpha, state: started }
";
    let transport = bare();
    transport.first(Reply::part("task").output("ended 1\nno\n"));
    let ran = apply(&world("{}", tasks), &transport).await;
    assert!(matches!(ran.outcome("gpu0", "install"), Outcome::Failed(_)), "{:?}", ran.record);
    let Outcome::Failed(failure) = ran.outcome("gpu0", "start") else { panic!("{:?}", ran.record) };
    assert!(failure.message.ends_with(", also after `install`"), "{failure:?}");
}
