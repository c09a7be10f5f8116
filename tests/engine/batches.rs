//! Short changes of several tasks in one exec.

use std::sync::Mutex;

use super::*;
use provision::transport::Sent;

/// A host: what is to become of each path, what was done, what runs.
#[derive(Default)]
struct Machine {
    /// Numbers of the paths that are as they should be.
    done: BTreeSet<usize>,
    /// Keys of the tasks, in the order in which they came.
    keys: Vec<String>,
    /// The keys of each batch.
    sent: Vec<Vec<String>>,
    failed: bool,
    /// Whether its spool has what was sent.
    remembers: bool,
    /// How long it takes to say what came of the first change.
    late: Duration,
}

/// Hosts that make paths (or take them away) as they are told. `odd` says what another task of a number does
/// than to end well: it is asked once.
fn machines(
    paths: &'static [(&'static str, bool)],
    odd: &[(usize, Reply)],
) -> (Scripted, Arc<Mutex<Machine>>) {
    let machine: Arc<Mutex<Machine>> = Arc::default();
    let (seen, odd) = (machine.clone(), Mutex::new(odd.to_vec()));
    let answer = move |sent: &Sent| {
        if sent.host != "gpu0" {
            return None;
        }
        let mut machine = seen.lock().unwrap();
        let lines: Vec<&str> = sent.text.lines().collect();
        match sent.part.as_str() {
            "file" => {
                let line = |(number, (path, wanted)): (usize, &(&str, bool))| {
                    let there = machine.done.contains(&number) == *wanted;
                    let kind = if *wanted { "41ed" } else { "81a4" };
                    match there {
                        _ if !lines.contains(path) => String::new(),
                        true => format!("stat 0:0:{kind}:9:1:1:1:{path}\n"),
                        false => format!("absent {path}\n"),
                    }
                };
                let told: String = paths.iter().enumerate().map(line).collect();
                let late =
                    if machine.done.is_empty() { Duration::ZERO } else { std::mem::take(&mut machine.late) };
                Some(Reply::default().after(late).output(format!("{told}stat 0:0:41ed:9:1:1:1:/opt\n")))
            }
            "batch" => {
                let keys = lines.iter().find(|line| line.split(' ').all(is_key)).unwrap();
                let keys: Vec<String> = keys.split(' ').map(str::to_owned).collect();
                for key in &keys {
                    if !machine.keys.contains(key) {
                        machine.keys.push(key.clone());
                    }
                }
                machine.sent.push(keys);
                machine.failed = false;
                Some(Reply::default())
            }
            "task" if machine.failed => Some(Reply::default().output("unstarted\n")),
            "task" => {
                let known = machine.keys.iter().position(|key| lines.contains(&key.as_str()));
                // One that is sent alone says what it does.
                let number = known.or_else(|| paths.iter().position(|(path, _)| lines.contains(path)))?;
                let mut odd = odd.lock().unwrap();
                let Some(at) = odd.iter().position(|(it, _)| *it == number) else {
                    machine.done.insert(number);
                    return Some(Reply::default().output("ended 0\n"));
                };
                let (_, reply) = odd.remove(at);
                machine.failed = !reply.lose && !reply.output.starts_with("ended 0");
                Some(reply)
            }
            "state" if machine.remembers => {
                let entry = |key: &String| format!("spool\t{key}\trunning\t\trun1\tx\n");
                let entries: String = machine.keys.iter().map(entry).collect();
                Some(Reply::default().output(format!("version\t1\n{entries}")))
            }
            _ => None,
        }
    };
    (healthy().answer(answer), machine)
}

fn is_key(word: &str) -> bool {
    word.len() == 16 && word.chars().all(|char| char.is_ascii_hexdigit())
}

/// A playbook that makes directories and removes files.
fn playbook(paths: &[(&str, bool)], more: &str) -> String {
    let task = |(path, wanted): &(&str, bool)| {
        let what = if *wanted { "directory" } else { "file" };
        let state = if *wanted { "present" } else { "absent" };
        format!("  - name: {path}\n    {what}: {{ path: {path}, state: {state} }}\n{more}")
    };
    format!("name: b\ntasks:\n{}", paths.iter().map(task).collect::<String>())
}

/// What is sent to the first host, without the first questions.
fn acts(transport: &Scripted) -> Vec<String> {
    let acts = ["lock", "batch", "task", "end-task", "revive", "tidy"];
    transport.parts("gpu0").into_iter().filter(|part| acts.contains(&part.as_str())).collect()
}

fn message(ran: &Ran, name: &str) -> String {
    match ran.outcome("gpu0", name) {
        Outcome::Failed(failure) => failure.message.clone(),
        other => panic!("{other:?}"),
    }
}

fn changed(ran: &Ran, name: &str) -> bool {
    matches!(ran.outcome("gpu0", name), Outcome::Changed { .. })
}

const THREE: &[(&str, bool)] = &[("/opt/a", true), ("/opt/b", true), ("/opt/c", true)];

#[tokio::test(start_paused = true)]
async fn changes_that_do_not_depend_on_each_other_are_one_exec() {
    let (transport, machine) = machines(THREE, &[]);
    let ran = apply(&world("{}", &playbook(THREE, "")), &transport).await;
    assert_eq!(acts(&transport), ["lock", "batch", "task", "task", "task", "tidy"]);
    assert_eq!(machine.lock().unwrap().sent.iter().map(Vec::len).collect::<Vec<_>>(), [3]);
    assert!(THREE.iter().all(|(path, _)| changed(&ran, path)), "{:?}", ran.record);
    // They are asked about together, behind the last one.
    let parts = transport.parts("gpu0");
    let batch = parts.iter().position(|part| part == "batch").unwrap();
    assert_eq!(parts[batch..batch + 5], ["batch", "task", "task", "task", "file"]);
    // Under the lock, which the frame asks for: it may be late.
    let sent = transport.sent().into_iter().find(|sent| sent.part == "batch").unwrap();
    assert!(sent.prelude.contains("\nprovision_lock run1 me@here/1 0 "), "{}", sent.prelude);
    // Each starts when the one before it ended.
    let story: Vec<String> = ran
        .events
        .iter()
        .filter_map(|event| match &event.kind {
            EventKind::TaskStarted { host, task, .. } if host == "gpu0" => Some(format!("+{}", task.name)),
            EventKind::TaskFinished { host, task, .. } if host == "gpu0" => Some(format!("-{}", task.name)),
            _ => None,
        })
        .collect();
    assert_eq!(story, ["+/opt/a", "+/opt/b", "+/opt/c", "-/opt/a", "-/opt/b", "-/opt/c"]);
}

#[tokio::test(start_paused = true)]
async fn a_new_directory_and_what_is_in_it_are_one_exec() {
    const NESTED: &[(&str, bool)] = &[("/opt/a", true), ("/opt/a/b", true), ("/opt/a/b/c", true)];
    let (transport, machine) = machines(NESTED, &[]);
    let ran = apply(&world("{}", &playbook(NESTED, "")), &transport).await;
    assert_eq!(machine.lock().unwrap().sent.len(), 1);
    assert!(NESTED.iter().all(|(path, _)| changed(&ran, path)), "{:?}", ran.record);
}

#[tokio::test(start_paused = true)]
async fn files_of_one_directory_are_one_exec() {
    let file = |name: &str| format!("  - name: {name}\n    file: {{ path: /opt/{name}, content: x }}\n");
    let copy = "  - name: c\n    copy: { src: ./x, path: /opt/c }\n";
    // What a program of the host looks at first is sent alone: nobody knows how long that takes.
    let looked_at = "  - name: c\n    copy: { src: ./x, path: /opt/c, validate: [tool, \"%s\"] }\n";
    for (last, together) in [(file("c").as_str(), 3), (copy, 3), (looked_at, 2)] {
        let text = format!("name: b\ntasks:\n{}{}{last}", file("a"), file("b"));
        let (transport, machine) = machines(THREE, &[]);
        let world = world("{}", &text);
        std::fs::write(world.directory.path().join("x"), "x").unwrap();
        // Whatever becomes of them: these are asked for together.
        apply(&world, &transport).await;
        assert_eq!(machine.lock().unwrap().sent[0].len(), together, "{last}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_change_that_depends_on_another_one_is_planned_after_it() {
    const OTHER: &[(&str, bool)] = &[("/opt/a", false), ("/opt/a/b", true)];
    let (transport, _) = machines(OTHER, &[]);
    let ran = apply(&world("{}", &playbook(OTHER, "")), &transport).await;
    assert_eq!(acts(&transport), ["lock", "batch", "task", "batch", "task", "tidy"]);
    assert!(OTHER.iter().all(|(path, _)| changed(&ran, path)), "{:?}", ran.record);
    // What is tried again, or is a unit of its own, is sent alone.
    for more in ["    detach: true\n", "    retries: { attempts: 2, delay: 1s }\n"] {
        let (transport, machine) = machines(THREE, &[]);
        let ran = apply(&world("{}", &playbook(&THREE[..1], more)), &transport).await;
        assert!(machine.lock().unwrap().sent.is_empty(), "{more}");
        assert!(changed(&ran, "/opt/a"), "{more}{:?}", ran.record);
    }
}

#[tokio::test(start_paused = true)]
async fn what_stands_behind_a_failed_one_did_not_run() {
    let failed = Reply::default().output("ended 1\nE: no\n");
    let (transport, _) = machines(THREE, &[(1, failed.clone())]);
    let ran = apply(&world("{}", &playbook(THREE, "")), &transport).await;
    assert!(changed(&ran, "/opt/a"));
    assert_eq!(message(&ran, "/opt/b"), "E: no");
    assert!(matches!(ran.outcome("gpu0", "/opt/c"), Outcome::Skipped(why) if why.contains("not reached")));
    assert_eq!(acts(&transport), ["lock", "batch", "task", "task", "task", "tidy"]);
    // Where the run goes on it is planned again, and sent again.
    let (transport, machine) = machines(THREE, &[(1, failed)]);
    let ran = apply(&world("{}", &playbook(THREE, "    on_failure: continue\n")), &transport).await;
    assert_eq!(message(&ran, "/opt/b"), "E: no");
    let sent = machine.lock().unwrap().sent.clone();
    assert_eq!(sent.len(), 2, "{sent:?}");
    assert_eq!(sent[1], sent[0][2..], "{:?}", ran.record);
}

/// It failed, or what it made is gone again: among others what is left in the spool would be taken for its end.
#[tokio::test(start_paused = true)]
async fn a_task_that_an_earlier_run_ended_is_done_anew_and_alone() {
    for status in ["0", "1"] {
        let (transport, machine) = machines(THREE, &[]);
        let left = format!("version\t1\nspool\tabc\tended\t{status}\trun0\t./site.yaml//opt/a\n");
        transport.first(Reply::part("state").on("gpu0").output(left));
        transport.first(Reply::part("follow").on("gpu0").output(format!("ended {status}\n")));
        let ran = apply(&world("{}", &playbook(THREE, "")), &transport).await;
        assert_eq!(acts(&transport), ["lock", "task", "batch", "task", "task", "tidy"]);
        assert_eq!(machine.lock().unwrap().sent.iter().map(Vec::len).collect::<Vec<_>>(), [2]);
        assert!(changed(&ran, "/opt/a"), "{:?}", ran.record);
    }
}

#[tokio::test(start_paused = true)]
async fn a_batch_whose_connection_is_lost_is_followed_and_nothing_runs_twice() {
    let (transport, machine) = machines(THREE, &[(1, Reply::default().lose())]);
    machine.lock().unwrap().remembers = true;
    let ran = apply(&world("{}", &playbook(THREE, "")), &transport).await;
    assert!(THREE.iter().all(|(path, _)| changed(&ran, path)), "{:?}", ran.record);
    assert_eq!(machine.lock().unwrap().sent.len(), 1);
    let attached = ran.events.iter().find_map(|event| match &event.kind {
        EventKind::Attached { task, .. } => Some(task.clone()),
        _ => None,
    });
    assert_eq!(attached.unwrap(), "./site.yaml//opt/b");
    // The host knows nothing of those that are left: they were not started, and are planned again.
    let (transport, machine) = machines(THREE, &[(0, Reply::default().lose())]);
    let ran = apply(&world("{}", &playbook(THREE, "")), &transport).await;
    assert!(THREE.iter().all(|(path, _)| changed(&ran, path)), "{:?}", ran.record);
    assert_eq!(machine.lock().unwrap().done.len(), 3);
}

#[tokio::test(start_paused = true)]
async fn each_change_of_a_batch_has_its_own_deadline() {
    let (transport, machine) = machines(THREE, &[(1, Reply::default().hang())]);
    let began = tokio::time::Instant::now();
    let more = "    timeout: 40s\n    on_failure: continue\n";
    let ran = apply(&world("{}", &playbook(THREE, more)), &transport).await;
    assert!(message(&ran, "/opt/b").contains("deadline of 40s"), "{:?}", ran.record);
    assert!(began.elapsed() >= Duration::from_secs(40) && began.elapsed() < Duration::from_mins(1));
    assert!(changed(&ran, "/opt/a") && changed(&ran, "/opt/c"), "{:?}", ran.record);
    // The runner of all of them is ended before anything else is sent.
    let acts = acts(&transport);
    assert_eq!(acts[..8], ["lock", "batch", "task", "task", "revive", "end-task", "lock", "batch"]);
    let last = machine.lock().unwrap().sent[0][2].clone();
    let ended = transport.sent().into_iter().find(|sent| sent.part == "end-task").unwrap();
    assert!(ended.text.ends_with(&last), "{}", ended.text);
}

#[tokio::test(start_paused = true)]
async fn a_short_deadline_is_as_short_in_a_batch_as_alone() {
    for tasks in [&THREE[..2], &THREE[..1]] {
        let (transport, _) = machines(tasks, &[(0, Reply::default().hang())]);
        let began = tokio::time::Instant::now();
        let ran = apply(&world("{}", &playbook(tasks, "    timeout: 2s\n")), &transport).await;
        assert!(message(&ran, tasks[0].0).contains("deadline of 2s"), "{:?}", ran.record);
        assert!(began.elapsed() < Duration::from_secs(3), "{:?}", began.elapsed());
    }
}

#[tokio::test(start_paused = true)]
async fn what_was_made_behind_one_that_is_not_proven_is_told() {
    // It says that it ended well, and nothing came of it.
    let slow = Reply::default().output("ended 0\n").after(Duration::from_secs(3));
    let (transport, _) = machines(THREE, &[(1, slow)]);
    let ran = apply(&world("{}", &playbook(THREE, "")), &transport).await;
    assert!(message(&ran, "/opt/b").starts_with("did not converge"), "{:?}", ran.record);
    let tasks = &ran.record.hosts["gpu0"].tasks;
    let took: Vec<String> = tasks.iter().map(|task| format!("{:.0}", task.seconds)).collect();
    assert_eq!(took, ["0", "3", "0"], "each has its own time");
    assert!(changed(&ran, "/opt/a") && changed(&ran, "/opt/c"), "{:?}", ran.record);
    assert!(ran.report.stats.failed >= 1);
}

#[tokio::test(start_paused = true)]
async fn changes_of_a_batch_notify_handlers() {
    let handler = "handlers:\n  - name: tell\n    command: { run: [reload, it] }\n";
    let text = playbook(THREE, "    notify: tell\n") + handler;
    let (transport, machine) = machines(THREE, &[]);
    let ran = apply(&world("{}", &text), &transport).await;
    assert_eq!(machine.lock().unwrap().sent.len(), 1, "{:?}", ran.record);
    let sent: Vec<Sent> = transport.sent().into_iter().filter(|sent| sent.host == "gpu0").collect();
    let batch = sent.iter().find(|sent| sent.part == "batch").unwrap();
    // The host notes it before the change.
    let note = format!("{} ./site.yaml/tell", engine::state::notify_key("t", "./site.yaml/tell"));
    assert_eq!(batch.text.matches(&note).count(), 3, "{}", batch.text);
    assert!(sent.iter().any(|sent| sent.part == "task" && sent.text.contains("reload")));
}

const FOUR: &[(&str, bool)] = &[("/opt/a", true), ("/opt/b", true), ("/opt/c", false), ("/opt/c/d", true)];

#[expect(clippy::disallowed_methods, reason = "the other side of what is tested")]
#[tokio::test(start_paused = true)]
async fn a_first_ctrl_c_lets_a_batch_end_and_a_second_one_ends_it() {
    let slow = |stop: Stop| {
        move |stopper: engine::Stopper| {
            tokio::spawn(async move {
                tokio::time::sleep(Duration::from_secs(5)).await;
                stopper.ask(stop);
            });
        }
    };
    let late = Reply::default().after(Duration::from_secs(10)).output("ended 0\n");
    let (transport, _) = machines(FOUR, &[(0, late.clone())]);
    let ran = run(&world("{}", &playbook(FOUR, "")), &transport, Mode::Apply, slow(Stop::Finish)).await;
    assert!(changed(&ran, "/opt/b") && changed(&ran, "/opt/c"), "{:?}", ran.record);
    assert!(matches!(ran.outcome("gpu0", "/opt/c/d"), Outcome::Skipped(_)), "{:?}", ran.record);
    let (transport, _) = machines(FOUR, &[(0, late)]);
    let ran = run(&world("{}", &playbook(FOUR, "")), &transport, Mode::Apply, slow(Stop::End)).await;
    assert!(message(&ran, "/opt/a").contains("Ctrl-C"), "{:?}", ran.record);
    assert!(matches!(ran.outcome("gpu0", "/opt/b"), Outcome::Skipped(_)), "{:?}", ran.record);
    assert!(acts(&transport).contains(&"end-task".to_owned()));
    // All had ended, and only what came of them was not said yet: that is asked again.
    // So it is with one that is sent alone, as one that says what its deadline means.
    for (paths, more) in [(THREE, ""), (&THREE[..1], "    on_deadline: kill\n")] {
        let (transport, machine) = machines(paths, &[]);
        machine.lock().unwrap().late = Duration::from_secs(10);
        let ran = run(&world("{}", &playbook(paths, more)), &transport, Mode::Apply, slow(Stop::End)).await;
        assert!(paths.iter().all(|(path, _)| changed(&ran, path)), "{:?}", ran.record);
    }
}

/// Each of these makes systemd read its units again.
const UNITS: &[(&str, bool)] = &[
    ("/etc/systemd/system/a.service", false),
    ("/etc/systemd/system/b.service", false),
    ("/etc/systemd/system/c.service", false),
    ("/etc/systemd/system/d.service", false),
];

#[tokio::test(start_paused = true)]
async fn units_are_one_exec_once_no_container_can_lose_its_gpus() {
    let (transport, machine) = machines(UNITS, &[]);
    transport.first(Reply::part("base.busy").output("end\n"));
    let ran = apply(&world("{}", &playbook(UNITS, "")), &transport).await;
    assert!(UNITS.iter().all(|(path, _)| changed(&ran, path)), "{:?}", ran.record);
    let sent: Vec<usize> = machine.lock().unwrap().sent.iter().map(Vec::len).collect();
    assert_eq!(sent, [4]);
    assert_eq!(transport.parts("gpu0").iter().filter(|part| *part == "base.busy").count(), 1);

    let (transport, machine) = machines(UNITS, &[]);
    transport.first(Reply::part("base.busy").output("container\t4711\tpython in docker-0123.scope\nend\n"));
    let ran = apply(&world("{}", &playbook(UNITS, "")), &transport).await;
    for (path, _) in UNITS {
        let Outcome::Blocked(why) = ran.outcome("gpu0", path) else { panic!("{:?}", ran.record) };
        assert!(
            why.contains("takes the GPUs away from running containers: python in docker-0123.scope"),
            "{why}"
        );
    }
    assert!(machine.lock().unwrap().sent.is_empty());
    assert!(!transport.parts("gpu0").contains(&"task".to_owned()));
}
