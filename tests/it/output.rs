//! What users read, as files in `tests/snapshots/`; how to review them: docs/contributing/testing.md.
//!
//! The streams in `tests/cases/report/*.jsonl` are journals of real runs on the lab of
//! `tests/cases/report/lab.yaml`:
//!
//! - `first`, `second`: `apply --yes` on fresh hosts, and again
//! - `failure`: `apply --yes --set broken=true` on fresh hosts
//! - `drift`: `verify` after a managed file of gpu1 was changed, gpu2 paused and login0 stopped
//! - `pending`: `apply --yes` without a lab, of a task that notifies a handler and one that fails
//! - `killed`, `attach`: `apply --yes` on fresh hosts, killed while the detached task ran; and again
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::expect_used, reason = "a test")]
#![allow(clippy::disallowed_methods, reason = "tests read the files that they compare")]

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use clap::CommandFactory as _;
use provision::cli::Cli;
use provision::events::{
    ChangeView, Emitter, Event, EventKind, Failure, HostStatus, Outcome, PlannedTask, PlannedVerdict, Record,
    RunStats, TaskCounts, TaskRef,
};
use provision::report::screen::{TerminalSettings, Verbosity};
use provision::report::terminal::Terminal;
use provision::report::{Reporter as _, html, json, junit, plan, prometheus};
use provision::transport::ConnectKind;

use crate::context::{Context, program};

const STREAMS: [&str; 7] = ["first", "second", "failure", "pending", "drift", "killed", "attach"];

/// Snapshots of a hundred hosts.
const HUNDRED: usize = 6;

/// Streams whose pages and metrics are kept.
const PAGES: [&str; 3] = ["first", "failure", "drift"];

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn events(name: &str) -> Vec<Event> {
    let path = root().join("tests/cases/report").join(format!("{name}.jsonl"));
    std::fs::read_to_string(path)
        .unwrap()
        .lines()
        .filter_map(|line| serde_json::from_str(line).ok())
        .collect()
}

fn record_of(name: &str) -> Record {
    Record::of(&events(name))
}

/// Compares with a file of `tests/snapshots/`.
fn snapshot(name: &str, text: &str) {
    let (folder, file) = name.rsplit_once('/').unwrap_or(("", name));
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path(root().join("tests/snapshots").join(folder));
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!(file, text));
}

fn plain(text: &str) -> String {
    anstream::adapter::strip_str(text).to_string()
}

/// Feeds a stream to the display, with the ticks that a run has.
fn display(events: &[Event], width: Option<usize>, verbosity: Verbosity) -> String {
    let mut terminal = Terminal::keeping(TerminalSettings { verbosity, width, progress: false });
    let mut shown = 0.0;
    for event in events {
        while shown + 0.25 < event.elapsed {
            terminal.tick();
            shown += 0.25;
        }
        terminal.event(event);
    }
    terminal.kept().to_owned()
}

#[test]
fn runs_as_they_are_watched() {
    for name in STREAMS {
        let events = events(name);
        for (suffix, width) in [("80", Some(80)), ("200", Some(200)), ("pipe", None)] {
            let text = plain(&display(&events, width, Verbosity::Normal));
            for line in text.lines() {
                let wide = provision::report::style::width_of(line);
                assert!(
                    width.is_none_or(|width| wide <= width),
                    "{name} at {suffix}: {wide} columns: {line}"
                );
            }
            snapshot(&format!("display/{name}-{suffix}.txt"), &text);
        }
        snapshot(&format!("display/{name}-verbose.txt"), &plain(&display(&events, None, Verbosity::Verbose)));
        snapshot(&format!("display/{name}-quiet.txt"), &plain(&display(&events, None, Verbosity::Quiet)));
    }
}

#[test]
fn the_last_line_names_all_hosts_that_are_left() {
    let left = |number: &str| HostStatus::NotStarted(format!("the canary {number} failed"));
    let away = HostStatus::Quarantined { reason: "lost".to_owned() };
    for (statuses, wanted) in [
        (vec![HostStatus::Failed, left("gpu0")], "--hosts '@failed,@not-finished'"),
        (
            vec![HostStatus::Failed, left("gpu0"), away.clone()],
            "--hosts '@failed,@unreachable,@not-finished'",
        ),
        (vec![away], "--hosts @unreachable"),
        (vec![HostStatus::Ok, left("gpu0")], "--hosts @not-finished"),
    ] {
        let (emitter, mut receiver) = Emitter::new("run1", None);
        for (number, status) in statuses.iter().enumerate() {
            let host = format!("gpu{number}");
            emitter.emit(EventKind::HostFinished {
                host,
                status: status.clone(),
                tasks: TaskCounts::default(),
                seconds: 1.0,
            });
        }
        emitter.emit(EventKind::RunFinished { stats: RunStats::default(), exit_code: 5, seconds: 1.0 });
        let events: Vec<Event> = std::iter::from_fn(|| receiver.try_recv().ok()).collect();
        let text = plain(&display(&events, None, Verbosity::Normal));
        assert!(text.ends_with(&format!(" {wanted}\n")), "{text}");
        // The names mean the same in the record, also where the run was killed after this.
        let again = Record::of(&events[..events.len() - 1]).again();
        let named = again.values().map(std::collections::BTreeSet::len).sum::<usize>();
        assert_eq!(named, statuses.iter().filter(|status| status.again().is_some()).count());
    }
    let killed = record_of("killed");
    let open: Vec<&String> =
        killed.hosts.iter().filter(|(_, host)| host.status.is_none()).map(|(name, _)| name).collect();
    assert!(!open.is_empty());
    assert_eq!(killed.again()["not-finished"].iter().collect::<Vec<_>>(), open);
}

/// What the display says at the end of a run of which one host failed.
fn continuation(command: &str, options: &[&str]) -> String {
    continuation_after(HostStatus::Failed, command, options)
}

/// The same where the host ended so.
fn continuation_after(status: HostStatus, command: &str, options: &[&str]) -> String {
    plain(&display(&one_host(status, command, options), None, Verbosity::Normal))
}

fn unreachable(kind: ConnectKind, reason: &str) -> HostStatus {
    HostStatus::Unreachable { kind, reason: reason.to_owned(), hint: None }
}

/// A run of one host that ended so.
fn one_host(status: HostStatus, command: &str, options: &[&str]) -> Vec<Event> {
    let (emitter, mut receiver) = Emitter::new("run1", None);
    emitter.emit(EventKind::RunStarted {
        command: command.into(),
        inventory: "my hosts.yaml".into(),
        options: options.iter().map(|&word| word.to_owned()).collect(),
        cluster: "t".into(),
        version: "0".into(),
        hosts: vec!["gpu0".to_owned()],
        offline: std::collections::BTreeMap::new(),
        playbooks: 1,
        tasks: 1,
        steps: indexmap::IndexMap::new(),
        stages: 1,
    });
    let tasks = TaskCounts::default();
    emitter.emit(EventKind::HostFinished { host: "gpu0".to_owned(), status, tasks, seconds: 1.0 });
    emitter.emit(EventKind::RunFinished { stats: RunStats::default(), exit_code: 5, seconds: 1.0 });
    std::iter::from_fn(|| receiver.try_recv().ok()).collect()
}

#[test]
fn the_last_line_is_the_same_run_for_the_hosts_that_are_left() {
    let text = continuation("apply", &["--lab", "--tags", "a,b", "--set", "motd=two words"]);
    let wanted =
        "provision apply 'my hosts.yaml' --lab --tags 'a,b' --set 'motd=two words' --hosts @failed\n";
    assert!(text.ends_with(wanted), "{text}");
}

/// The rest of a plan that was begun is not the one in its file, which is refused.
#[test]
fn after_a_plan_file_the_last_line_is_another_look() {
    let text = continuation("apply", &["--yes", "--plan", "my.plan", "--tags", "a"]);
    let wanted = "look again with: provision plan 'my hosts.yaml' --tags a --out my.plan --hosts @failed\n";
    assert!(text.ends_with(wanted), "{text}");
}

#[test]
fn the_last_line_asks_for_the_password_that_was_missing() {
    let status = unreachable(ConnectKind::SudoPassword, "sudo wants a password and none was given");
    let text = continuation_after(status, "apply", &["--yes"]);
    let wanted = "provision apply 'my hosts.yaml' --yes --ask-become-pass --hosts @unreachable\n";
    assert!(text.ends_with(wanted), "{text}");
}

#[test]
fn a_plan_that_reached_nobody_does_not_say_that_nothing_is_to_do() {
    let status = unreachable(ConnectKind::Refused, "Connection refused");
    let record = Record::of(&one_host(status, "plan", &[]));
    let text = plain(&plan::sum(&record, None));
    assert_eq!(
        text,
        " Unplanned  gpu0  unreachable: Connection refused\n Unplanned  1 host, which was not reached\n"
    );
}

/// One whose plan could not be made is not one that needs nothing.
#[test]
fn a_plan_that_failed_does_not_end_well() {
    let mut record = Record::of(&one_host(HostStatus::Failed, "plan", &[]));
    let task = TaskRef { id: "a/b".into(), item: None, name: "note".into(), resource: "file".into() };
    let message = "no such directory".to_owned();
    let failure = Failure::new(message);
    let host = record.hosts.get_mut("gpu0").unwrap();
    let verdict = PlannedVerdict::Failed(failure);
    let planned = PlannedTask { task, verdict, blocked: None, pending_since: None, notified_by: Vec::new() };
    host.plan.push(planned.into());
    let text = plain(&plan::sum(&record, None));
    assert_eq!(
        text,
        "    Failed  gpu0  note: no such directory\n Unplanned  1 host; nothing else to change\n"
    );
}

/// A handler that an earlier run notified and did not run is pending, and counted once.
#[test]
fn a_handler_that_was_left_is_no_change() {
    let mut record = Record::of(&one_host(HostStatus::Ok, "plan", &[]));
    record.stats.as_mut().unwrap().pending = 1;
    let task = TaskRef { id: "a/b".into(), item: None, name: "tell".into(), resource: "command".into() };
    let pending_since = Some("an earlier run notified it and ended before it ran".to_owned());
    let verdict = PlannedVerdict::Runs(Vec::new());
    let planned = PlannedTask { task, verdict, blocked: None, pending_since, notified_by: Vec::new() };
    record.hosts.get_mut("gpu0").unwrap().plan.push(planned.into());
    assert_eq!(plain(&plan::sum(&record, None)), "   Planned  nothing to change, 1 handler to run\n");
}

#[test]
fn a_run_that_is_not_recorded_has_no_hosts_that_are_left() {
    assert!(continuation("verify", &[]).contains("@failed"));
    for command in ["plan", "facts"] {
        let text = continuation(command, &[]);
        assert!(!text.contains("continue with"), "{text}");
    }
}

#[test]
fn only_what_looks_at_tasks_counts_them() {
    for (command, counted) in [("facts", false), ("plan", true)] {
        let mut events = one_host(HostStatus::Ok, command, &[]);
        for event in &mut events {
            if let EventKind::RunStarted { steps, .. } = &mut event.kind {
                steps.insert("a/b".to_owned(), 1);
            }
        }
        let text = display(&events, None, Verbosity::Normal);
        assert_eq!(text.contains("0 tasks to change"), counted, "{text}");
    }
}

#[test]
fn the_reason_of_a_blocked_task_is_shown_to_its_end() {
    let jobs: Vec<String> = (4700..4712).map(|job| job.to_string()).collect();
    let reason = format!("the host is in use: Slurm jobs: {}; the change interrupts: gpu", jobs.join(", "));
    let (emitter, mut receiver) = Emitter::new("run1", None);
    let task = TaskRef { id: "a/b".into(), item: None, name: "driver".into(), resource: "package".into() };
    emitter.emit(EventKind::TaskFinished {
        host: "gpu0".to_owned(),
        task,
        outcome: Outcome::Blocked(reason.clone()),
        seconds: 1.0,
        attached: false,
    });
    emitter.emit(EventKind::RunFinished { stats: RunStats::default(), exit_code: 7, seconds: 1.0 });
    let events: Vec<Event> = std::iter::from_fn(|| receiver.try_recv().ok()).collect();
    for width in [None, Some(80), Some(200)] {
        let text = plain(&display(&events, width, Verbosity::Normal));
        let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words(&text).contains(&reason), "{text}");
    }
}

/// An `apply` to 100 hosts one after another: 90 are well, 5 failed at two tasks, 5 are away for two reasons.
fn hundred() -> Vec<Event> {
    let names: Vec<String> = (0..100).map(|host| format!("gpu{host:03}")).collect();
    let task = |id: &str, name: &str| TaskRef {
        id: format!("train/{id}"),
        item: None,
        name: name.to_owned(),
        resource: "file".to_owned(),
    };
    let tasks = [
        task("nccl", "settings of NCCL"),
        task("driver", "the driver of the GPUs"),
        task("bench", "benchmark"),
    ];
    let mut kinds = vec![EventKind::RunStarted {
        command: "apply".into(),
        inventory: "site.yaml".into(),
        options: Vec::new(),
        cluster: "t".into(),
        version: "0".into(),
        hosts: names.clone(),
        offline: std::collections::BTreeMap::new(),
        playbooks: 1,
        tasks: 3,
        // In the order of the playbook, which is not that of the names.
        steps: tasks.iter().map(|task| (task.id.clone(), 100)).collect(),
        stages: 1,
    }];
    let mut stats = RunStats { hosts: 100, ok: 90, failed: 5, unreachable: 5, ..RunStats::default() };
    for (number, host) in names.into_iter().enumerate() {
        let away =
            |kind, reason: String, hint: String| HostStatus::Unreachable { kind, reason, hint: Some(hint) };
        let status = match number {
            13 | 57 | 58 => away(
                ConnectKind::Refused,
                format!("ssh: connect to host 10.0.0.{number} port 22: Connection refused"),
                format!("no sshd on that port: start it, or set ssh.port for {host} in site.yaml"),
            ),
            31 | 77 => away(
                ConnectKind::HostKeyChanged,
                format!("Host key for 10.0.0.{number} has changed and you have requested strict checking."),
                format!("record its new key: provision inventory trust site.yaml --hosts {host} --replace"),
            ),
            5 | 6 | 42 | 64 | 88 => HostStatus::Failed,
            _ => HostStatus::Ok,
        };
        kinds.push(EventKind::HostConnecting { host: host.clone() });
        if !matches!(status, HostStatus::Unreachable { .. }) {
            kinds.push(EventKind::HostConnected { host: host.clone(), seconds: 0.1 });
            let change = |task: &TaskRef| ChangeView {
                object: "x".to_owned(),
                summary: format!("+ /etc/{}", task.id),
                diff: String::new(),
                disruption: "none".to_owned(),
            };
            // Every other host has the first task already.
            let mine = &tasks[usize::from(number % 2 == 0)..];
            let planned = mine.iter().map(|task| PlannedTask {
                task: task.clone(),
                verdict: PlannedVerdict::Changes(vec![change(task)]),
                blocked: None,
                pending_since: None,
                notified_by: Vec::new(),
            });
            kinds.push(EventKind::HostPlanned { host: host.clone(), tasks: planned.collect() });
            stats.pending += mine.len() as u64;
            for task in mine {
                let failure = |message: &str, hint: Option<&str>| Failure {
                    command: Some("apt-get install".to_owned()),
                    hint: hint.map(str::to_owned),
                    ..Failure::new(message)
                };
                let failure = match (number, task.name.as_str()) {
                    (5 | 6 | 42, "the driver of the GPUs") => Some(failure(
                        "E: Unable to locate package nvidia-driver-570-server-open",
                        Some("the package is not in the repositories of this host"),
                    )),
                    (64 | 88, "benchmark") => Some(failure("CUDA out of memory", None)),
                    _ => None,
                };
                let failed = failure.is_some();
                let outcome = match failure {
                    Some(failure) => Outcome::Failed(failure),
                    None => {
                        Outcome::Changed { changes: vec![change(task)], output: String::new(), blocked: None }
                    }
                };
                stats.tasks.count(&outcome);
                let (host, task) = (host.clone(), task.clone());
                kinds.push(EventKind::TaskFinished { host, task, outcome, seconds: 1.0, attached: false });
                if failed {
                    break;
                }
            }
        }
        let tasks = TaskCounts::default();
        kinds.push(EventKind::HostFinished { host, status, tasks, seconds: 1.0 });
    }
    kinds.push(EventKind::RunFinished { stats, exit_code: 5, seconds: 200.0 });
    let event = |(number, kind): (usize, EventKind)| Event {
        run: "20261121-093000-1a2b".to_owned(),
        seq: number as u64,
        at: "2026-11-21T09:30:00Z".parse().unwrap(),
        elapsed: f64::from(u32::try_from(number).unwrap()),
        kind,
    };
    kinds.into_iter().enumerate().map(event).collect()
}

#[test]
fn the_last_screen_of_a_hundred_hosts_says_who_failed_where_and_why() {
    let events = hundred();
    for (suffix, width) in [("80", 80), ("200", 200)] {
        let text = plain(&display(&events, Some(width), Verbosity::Normal));
        let lines: Vec<&str> = text.lines().collect();
        let last = lines[lines.len() - 23..].join("\n") + "\n";
        snapshot(&format!("display/hundred-{suffix}.txt"), &last);
        for wanted in
            ["gpu[013,057-058]", "gpu[031,077]", "gpu[005-006,042]", "the driver of the GPUs", "gpu[064,088]"]
        {
            assert!(last.contains(wanted), "{wanted}: {last}");
        }
        assert!(lines.iter().all(|line| provision::report::style::width_of(line) <= width), "{text}");
    }
}

#[test]
fn what_is_still_on_the_screen_is_not_said_again() {
    let text = plain(&display(&events("failure"), None, Verbosity::Quiet));
    assert_eq!(text.matches("there is no unit").count(), 2, "{text}");
    assert!(!text.contains("details:"), "{text}");
}

/// What a command printed differs from host to host in times and numbers.
#[test]
fn hosts_that_failed_alike_are_one_line_with_the_output_of_one() {
    let mut events = hundred();
    for event in &mut events {
        event.elapsed = 1.0;
        let EventKind::TaskFinished { host, outcome, .. } = &mut event.kind else { continue };
        if let Outcome::Failed(failure) = outcome {
            failure.output = format!("Fetched 12 kB in 1s\npid of {host}");
        }
    }
    let text = plain(&display(&events, None, Verbosity::Normal));
    let failed: Vec<&str> = text.lines().filter(|line| line.trim_start().starts_with("Failed")).collect();
    assert!(failed[0].contains("gpu[005-006,042] "), "{failed:#?}");
    assert!(
        text.contains(
            "            gpu005 printed:\n            | Fetched 12 kB in 1s\n            | pid of gpu005\n"
        ),
        "{text}"
    );
    assert!(!text.contains("pid of gpu006"), "{text}");
    // Nor where they fail one after the other.
    let mut at = 0.0;
    for event in &mut events {
        at += 10.0;
        event.elapsed = at;
    }
    let text = plain(&display(&events, None, Verbosity::Normal));
    let same = text.matches("see gpu005 above, which failed with the same message\n").count();
    assert_eq!((same, text.matches("| pid of ").count()), (2, 2), "{text}");
}

/// The words of the end, of the list and of the page are those that were said before.
#[test]
fn how_a_host_was_left_has_one_word() {
    let lost = HostStatus::Quarantined { reason: "lost".to_owned() };
    let mut events = one_host(lost, "apply", &[]);
    let end = |stats: RunStats, exit_code: u8| EventKind::RunFinished { stats, exit_code, seconds: 1.0 };
    events.last_mut().unwrap().kind = end(RunStats { hosts: 1, unreachable: 1, ..RunStats::default() }, 4);
    let text = plain(&display(&events, None, Verbosity::Normal));
    assert!(text.contains("  Finished  0 hosts ok, 1 quarantined"), "{text}");
    // A stop that came after the last task left nothing out.
    let mut events = one_host(HostStatus::Ok, "apply", &[]);
    events.last_mut().unwrap().kind = end(RunStats { hosts: 1, ok: 1, ..RunStats::default() }, 130);
    let text = plain(&display(&events, None, Verbosity::Normal));
    assert!(text.contains("  Finished  1 host ok; all was done before the stop"), "{text}");
    let left = HostStatus::NotStarted("the run was stopped before `x`".to_owned());
    let mut record = Record::of(&one_host(left, "apply", &[]));
    let text = plain(&provision::report::show::text(&record, false, None));
    assert!(text.contains("\ngpu0  not finished: the run was stopped before `x`"), "{text}");
    record.running = true;
    record.hosts.values_mut().for_each(|host| host.status = None);
    let text = plain(&provision::report::show::text(&record, false, None));
    assert!(text.contains("\ngpu0  running\n"), "{text}");
}

#[test]
fn a_run_that_goes_on_is_not_called_dead() {
    let mut record = record_of("killed");
    record.running = true;
    let text = plain(&provision::report::show::text(&record, false, None));
    assert!(text.contains("\nstill running, for "), "{text}");
    assert!(!text.contains("its end is not recorded"), "{text}");
}

#[test]
fn a_hundred_hosts_that_failed_are_shown_without_the_others() {
    let mut record = Record::of(&hundred());
    let all = plain(&provision::report::show::text(&record, false, None));
    assert!(
        all.contains("gpu[013,057-058]  unreachable: ssh: connect to port 22: Connection refused\n"),
        "{all}"
    );
    let narrow = plain(&provision::report::show::text(&record, false, Some(80)));
    assert!(narrow.lines().all(|line| provision::report::style::width_of(line) <= 80), "{narrow}");
    snapshot("show/hundred-80.txt", &narrow);
    provision::report::show::keep_failed(&mut record);
    let failed = plain(&provision::report::show::text(&record, false, None));
    assert!(!failed.contains("gpu000") && !failed.contains("settings of NCCL"), "{failed}");
    snapshot("show/hundred-failed.txt", &failed);
    snapshot("show/hundred-failed-80.txt", &plain(&provision::report::show::text(&record, false, Some(80))));
    let mut well = record_of("second");
    provision::report::show::keep_failed(&mut well);
    let text = plain(&provision::report::show::text(&well, false, None));
    assert!(text.ends_with("\nno host failed\n"), "{text}");
    // What the hosts printed differs; they are one story.
    let mut alike = Record::of(&hundred());
    let mut number = 0;
    for task in alike.hosts.values_mut().flat_map(|host| &mut host.tasks) {
        if let Outcome::Failed(failure) = std::sync::Arc::make_mut(&mut task.outcome) {
            number += 1;
            failure.output = format!("pid {number}");
        }
    }
    provision::report::show::keep_failed(&mut alike);
    let alike = plain(&provision::report::show::text(&alike, false, None));
    let first = "      gpu005 printed:\n      | pid 1\n";
    assert!(alike.contains(first) && alike.contains("\ngpu[005-006,042]  failed\n"), "{alike}");
    assert!(!alike.contains("| pid 2"), "{alike}");
    // A verify after a file of gpu1 was changed.
    let mut drift = record_of("drift");
    provision::report::show::keep_failed(&mut drift);
    assert_eq!(drift.hosts.keys().map(String::as_str).collect::<Vec<_>>(), ["gpu1", "gpu2", "login0"]);
    // What is counted is what is shown.
    let check = serde_json::json!({"check": "gpu.count", "status": "pass", "message": "8 GPUs"});
    for (host, checks) in [("gpu1", 2), ("gpu2", 0)] {
        let check = || serde_json::from_value(check.clone()).unwrap();
        drift.hosts[host].checks = std::iter::repeat_with(check).take(checks).collect();
    }
    drift.stats.as_mut().unwrap().checks.pass = 25;
    let text = plain(&provision::report::show::text(&drift, false, None));
    assert!(text.contains("Checked  1 host: 2 pass"), "{text}");
}

#[test]
fn a_plan_is_in_the_order_of_the_playbook_and_ends_with_its_sum() {
    let record = Record::of(&hundred());
    let text = plain(&plan::text(&record, None)) + &plain(&plan::sum(&record, None));
    snapshot("plan/hundred.txt", &text);
    let place = |name: &str| text.find(name).unwrap_or_else(|| panic!("{name}: {text}"));
    // The first host does not have the first task in its plan.
    assert!(place("settings of NCCL") < place("the driver of the GPUs"), "{text}");
    assert!(place("the driver of the GPUs") < place("benchmark"), "{text}");
    assert!(text.lines().last().unwrap().contains("changes on 95 of 100 hosts"), "{text}");
}

#[test]
fn the_page_folds_hosts_that_are_away_for_one_reason() {
    let page = html::page(&Record::of(&hundred())).unwrap();
    for wanted in ["gpu[013,057-058]", "gpu[031,077]"] {
        assert!(page.contains(wanted), "{wanted}");
    }
}

#[test]
fn why_a_run_stops_stands_before_that_it_does() {
    let (emitter, mut receiver) = Emitter::new("run1", None);
    let task = TaskRef { id: "a/b".into(), item: None, name: "driver".into(), resource: "package".into() };
    let failure = Failure::new("E: broken");
    let outcome = Outcome::Failed(failure);
    let host = "gpu0".to_owned();
    emitter.emit(EventKind::TaskFinished { host, task, outcome, seconds: 1.0, attached: false });
    emitter.emit(EventKind::Stopping { reason: "the canary gpu0 failed".to_owned() });
    let events: Vec<Event> = std::iter::from_fn(|| receiver.try_recv().ok()).collect();
    let text = plain(&display(&events, None, Verbosity::Normal));
    assert!(text.find("E: broken").unwrap() < text.find("Stopping").unwrap(), "{text}");
}

/// A host that is late joins a line that began without it.
#[test]
fn lines_stand_in_the_order_in_which_things_happened() {
    let event = |seq: usize, elapsed: f64, kind| Event {
        run: "20261121-093000-1a2b".to_owned(),
        seq: seq as u64,
        at: "2026-11-21T09:30:00Z".parse().unwrap(),
        elapsed,
        kind,
    };
    let host = |name: &str| name.to_owned();
    let connect = |name: &str| EventKind::HostConnected { host: host(name), seconds: 0.1 };
    let does = |name: &str, task: &str, ran: bool| {
        let id = format!("p/{task}");
        let task = TaskRef { id, item: None, name: task.to_owned(), resource: "file".to_owned() };
        let (changes, output) = (Vec::new(), String::new());
        let outcome = if ran {
            Outcome::Ran { changes, output }
        } else {
            Outcome::Changed { changes, output, blocked: None }
        };
        EventKind::TaskFinished { host: host(name), task, outcome, seconds: 0.1, attached: false }
    };
    let begin = EventKind::RunStarted {
        command: "apply".into(),
        inventory: "site.yaml".into(),
        options: Vec::new(),
        cluster: "t".into(),
        version: "0".into(),
        hosts: ["w1", "w2", "ctl"].map(str::to_owned).to_vec(),
        offline: std::collections::BTreeMap::new(),
        playbooks: 1,
        tasks: 2,
        steps: ["p/chrony", "p/restart chrony"].into_iter().map(|id| (id.to_owned(), 3)).collect(),
        stages: 1,
    };
    let mut kinds = vec![(0.0, begin)];
    kinds.extend([(1.0, connect("w1")), (1.1, connect("w2"))]);
    for name in ["w1", "w2"] {
        kinds.extend([(2.0, does(name, "chrony", false)), (2.5, does(name, "restart chrony", true))]);
    }
    kinds.push((4.55, connect("ctl")));
    kinds.extend([(4.6, does("ctl", "chrony", false)), (4.8, does("ctl", "restart chrony", true))]);
    let events: Vec<Event> =
        kinds.into_iter().enumerate().map(|(seq, (elapsed, kind))| event(seq, elapsed, kind)).collect();
    let text = plain(&display(&events, None, Verbosity::Normal));
    let place = |needle: &str| text.find(needle).unwrap_or_else(|| panic!("{needle}: {text}"));
    assert!(place("Connect") < place("Changed"), "{text}");
    assert!(text.contains("2 of 3 hosts"), "{text}");
    let of = |host: &str, task: &str| {
        let line = |line: &&str| line.contains(host) && line.contains(task);
        text.lines().position(|it| line(&it)).unwrap_or_else(|| panic!("{host} {task}: {text}"))
    };
    assert!(of("ctl", "  chrony") < of("ctl", "restart chrony"), "{text}");
}

#[test]
fn a_reboot_during_the_run_is_a_line_of_its_host() {
    let (emitter, mut receiver) = Emitter::new("run1", None);
    let (before, after) = ("one 5".to_owned(), "two 7".to_owned());
    emitter.emit(EventKind::HostRebooted { host: "gpu0".to_owned(), before, after });
    emitter.emit(EventKind::Stopping { reason: "gpu0 is the canary".to_owned() });
    let events: Vec<Event> = std::iter::from_fn(|| receiver.try_recv().ok()).collect();
    let text = plain(&display(&events, None, Verbosity::Normal));
    let line = text.lines().find(|line| line.contains("Rebooted")).unwrap_or_else(|| panic!("{text}"));
    assert!(
        line.contains("gpu0") && line.contains("during the run") && line.contains("one 5 -> two 7"),
        "{text}"
    );
}

#[test]
fn colour_adds_nothing_but_colour() {
    let text = display(&events("failure"), Some(100), Verbosity::Normal);
    assert!(text.contains("\u{1b}["));
    snapshot("display/failure-colour.txt", &text.replace('\u{1b}', "^["));
}

#[test]
fn plans_reports_json_and_junit() {
    for name in STREAMS {
        let record = record_of(name);
        snapshot(
            &format!("json/{name}.json"),
            &(serde_json::to_string_pretty(&json::object(&record)).unwrap() + "\n"),
        );
        snapshot(&format!("junit/{name}.xml"), &(junit::xml(&record).unwrap() + "\n"));
        snapshot(&format!("show/{name}.txt"), &plain(&provision::report::show::text(&record, false, None)));
    }
    for name in ["first", "second", "drift"] {
        snapshot(&format!("plan/{name}.txt"), &plain(&plan::text(&record_of(name), None)));
    }
}

/// A journal is a file: somebody may have edited it, a disk may have damaged it.
#[test]
fn no_number_of_a_journal_panics() {
    let path = root().join("tests/cases/report");
    for name in STREAMS {
        let text = std::fs::read_to_string(path.join(format!("{name}.jsonl"))).unwrap();
        let mut read = 0;
        for number in
            ["0", "-1", "-1e300", "1e300", "18446744073709551615", "9223372036854775807", "2147483648"]
        {
            for key in [
                "",
                "seconds",
                "elapsed",
                "pid",
                "hosts",
                "unreachable",
                "unchanged",
                "changed",
                "pass",
                "pending",
            ] {
                let events: Vec<Event> = text
                    .lines()
                    .filter_map(|line| {
                        let mut parts = line.split("\":");
                        let mut line = parts.next().unwrap().to_owned();
                        for part in parts {
                            let named = line.ends_with(&format!("\"{key}")) || key.is_empty();
                            let rest =
                                part.trim_start_matches(|c: char| c.is_ascii_digit() || ".e-".contains(c));
                            let value = if named && rest.len() < part.len() {
                                format!("{number}{rest}")
                            } else {
                                part.to_owned()
                            };
                            line += "\":";
                            line += &value;
                        }
                        serde_json::from_str(&line).ok()
                    })
                    .collect();
                read += events.len();
                let record = Record::of(&events);
                json::object(&record);
                junit::xml(&record).unwrap();
                plan::text(&record, None);
                html::page(&record).unwrap();
                prometheus::text(&record);
                provision::report::show::text(&record, true, None);
                // Half a second of ticks is enough of a run that lasts for ages.
                let mut terminal = Terminal::keeping(TerminalSettings {
                    verbosity: Verbosity::Verbose,
                    width: Some(80),
                    progress: false,
                });
                for event in &events {
                    terminal.event(event);
                    terminal.tick();
                }
            }
        }
        assert!(read > 100, "{read} events are read");
    }
}

/// A page without what is the same on every page.
fn body(page: &str) -> String {
    let (head, rest) = page.split_once("<style>").unwrap();
    let (_, rest) = rest.split_once("</style>").unwrap();
    let (middle, rest) = rest.split_once("<script>").unwrap();
    let (_, end) = rest.split_once("</script>").unwrap();
    format!("{head}{middle}{end}").replace(env!("CARGO_PKG_VERSION"), "VERSION")
}

#[test]
fn pages_and_metrics() {
    for name in PAGES {
        let record = record_of(name);
        snapshot(&format!("html/{name}.html"), &body(&html::page(&record).unwrap()));
        let metrics = prometheus::text(&record).replace(env!("CARGO_PKG_VERSION"), "VERSION");
        snapshot(&format!("prometheus/{name}.prom"), &metrics);
    }
}

#[test]
fn help_of_each_command() {
    let mut root = Cli::command().term_width(80);
    root.build();
    let mut text = String::new();
    help(&mut text, &mut root, "");
    snapshot("help.txt", &text);
    for line in text.lines().filter(|line| !line.starts_with('=')) {
        assert!(line.chars().count() <= 80, "{line}");
    }
}

fn help(text: &mut String, command: &mut clap::Command, above: &str) {
    let path = format!("{above} {}", command.get_name()).trim().to_owned();
    let shown = command.render_help().to_string();
    let shown: Vec<&str> = shown.lines().map(str::trim_end).collect();
    writeln!(text, "===== {path} =====\n{}\n", shown.join("\n").trim_end()).unwrap();
    for sub in command.get_subcommands_mut().filter(|sub| sub.get_name() != "help" && !sub.is_hide_set()) {
        help(text, sub, &path);
    }
}

/// What an inventory is warned of is said by every command once.
#[test]
fn a_warning_is_told_once() {
    let site = Context::new();
    let inventory = "cluster: c\ngroups:\n  gpu: { hosts: gpu0 }\nhosts:\n  other:\nplaybooks: [./p.yaml]\n";
    site.write("inventory.yaml", inventory);
    site.write("p.yaml", "name: P\ntasks: []\n");
    for words in [["validate", "inventory.yaml"].as_slice(), &["inventory", "show", "inventory.yaml"]] {
        let done = site.run(words);
        let said = String::from_utf8(done.stderr).unwrap();
        assert_eq!(done.status.code(), Some(0), "{said}");
        assert_eq!(said.matches("no group has `other`").count(), 1, "{said}");
    }
}

/// Words of other tools have an answer, and the parser's own tip does not contradict it.
#[test]
fn words_of_other_tools_are_answered() {
    for (words, said) in [
        (vec!["apply", "--dry-run"], "hint: `provision plan` shows what would change"),
        (
            vec!["plan", "-i", "x.yaml"],
            "hint: the inventory is an argument of its own: provision plan inventory.yaml",
        ),
        (vec!["report", "list", "-i", "x"], ": provision report list inventory.yaml"),
        (vec!["plan", "--ask-pass"], "the password of sudo is asked for with --ask-become-pass"),
        (vec!["check"], "hint: here it is called `provision verify`"),
        (vec!["run", "site.yaml"], "hint: here it is called `provision apply`"),
    ] {
        let done = program(&words).output().unwrap();
        let text = String::from_utf8(done.stderr).unwrap();
        assert_eq!(done.status.code(), Some(2), "{text}");
        assert!(text.contains(said) && !text.contains("tip:"), "{text}");
    }
}

/// `lab up` is not the first to look.
#[test]
fn settings_of_a_lab_are_validated() {
    let site = tempfile::tempdir().unwrap();
    let file = site.path().join("inventory.yaml");
    let validate = |text: &str| {
        std::fs::write(&file, format!("cluster: c\n{text}")).unwrap();
        let done = program(&["validate", file.to_str().unwrap()]).output().unwrap();
        (done.status.code(), String::from_utf8(done.stderr).unwrap())
    };
    for (text, says) in [
        ("lab: { sudo: never }\nhosts: { a: {} }\n", "`nopasswd`, `password`"),
        ("lab: { release: jessie }\nhosts: { a: {} }\n", "`bookworm`, `trixie`, `sid`"),
        ("hosts: { 'a[0-9]': { lab: { release: 13 } } }\n", "`bookworm`, `trixie`, `sid`"),
        (
            "hosts: { 'a[0-9]': { lab: { offline: true } } }\n",
            "`offline` is said of a whole lab, not of a host",
        ),
        ("hosts: { 'a[0-9]': { lab: {} }, a1: { lab: {} } }\n", "`lab` of host `a1` is set twice"),
    ] {
        let (code, said) = validate(text);
        assert_eq!(code, Some(3), "{said}");
        assert!(said.contains(says) && said.contains("error: 1 mistake found"), "{said}");
    }
    let fine = "lab: { release: trixie }\nhosts: { a: { lab: { release: sid, without: [bash] } } }\n";
    assert_eq!(validate(fine), (Some(0), String::new()));
}

#[test]
fn every_snapshot_is_compared() {
    fn count(directory: &Path) -> usize {
        std::fs::read_dir(directory)
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .map(|path| match path.extension() {
                // Those are compared by `--test engine` and `--lib checks`.
                _ if path.ends_with("engine") || path.ends_with("verify") => 0,
                _ if path.is_dir() => count(&path),
                extension => usize::from(extension.is_some_and(|extension| extension == "snap")),
            })
            .sum()
    }
    let streams = STREAMS.len();
    let wanted = streams * 5 + 1 + streams * 3 + 3 + 1 + PAGES.len() * 2 + HUNDRED;
    assert_eq!(count(&root().join("tests/snapshots")), wanted, "files of tests/snapshots/");
}
