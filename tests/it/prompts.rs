//! Questions on a real terminal, which `script` makes.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::print_stdout, reason = "a test")]
#![allow(clippy::disallowed_methods, reason = "tests start the program that they look at")]

use std::io::{Read as _, Write as _};
use std::process::{Command, Stdio};
use std::time::Duration;

use provision::events::{Emitter, EventKind, Outcome, TaskRef};
use provision::report::Reporter as _;
use provision::report::prompt;
use provision::report::screen::{TerminalSettings, Verbosity};
use provision::report::terminal::Terminal;

/// What a terminal shows while `line` of a shell runs there; `answer` is typed when it asks.
fn on_a_terminal(line: &str, question: &str, answer: &str) -> Option<String> {
    let mut command = Command::new("script");
    command.args(["-q", "-e", "-c", line, "/dev/null"]).env("SHELL", "/bin/sh").env("TERM", "xterm");
    command.env_remove("CI").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let Ok(mut child) = command.spawn() else {
        println!("skipped: no `script` here");
        return None;
    };
    let mut stdin = child.stdin.take().unwrap();
    let mut stdout = child.stdout.take().unwrap();
    let (mut seen, mut asked, mut chunk) = (String::new(), false, [0; 1024]);
    while let Ok(length @ 1..) = stdout.read(&mut chunk) {
        seen.push_str(&String::from_utf8_lossy(&chunk[..length]));
        if !asked && seen.contains(question) {
            asked = true;
            // Whatever wants to draw does so now.
            std::thread::sleep(Duration::from_millis(700));
            stdin.write_all(answer.as_bytes()).unwrap();
        }
    }
    child.wait().unwrap();
    assert!(asked, "{seen}");
    Some(seen)
}

/// A plan of a host that is not there, with the password asked for; then how the terminal is.
fn with_password(answer: &str) -> Option<String> {
    with_password_and(answer, "")
}

/// The same with something behind the command.
fn with_password_and(answer: &str, behind: &str) -> Option<String> {
    let directory = tempfile::tempdir().unwrap();
    let file = |name: &str| directory.path().join(name).display().to_string();
    std::fs::write(
        file("i.yaml"),
        "cluster: t\nplaybooks: [./p.yaml]\nhosts:\n  h: { address: 127.0.0.1, ssh: { port: 1 } }\n",
    )
    .unwrap();
    std::fs::write(file("p.yaml"), "name: p\ntasks:\n  - name: x\n    command: { run: [tool] }\n").unwrap();
    let program = assert_cmd::cargo::cargo_bin!("provision").display().to_string();
    // The shell lives on, as the one of a person does.
    let line = format!(
        "trap : INT; XDG_STATE_HOME={} {program} plan {} --ask-become-pass {behind}; echo code=$?; stty -a",
        file("state"),
        file("i.yaml")
    );
    on_a_terminal(&line, "sudo password: ", answer)
}

#[test]
fn a_password_is_not_shown_and_the_terminal_is_as_before() {
    let Some(seen) = with_password("s3cret\n") else { return };
    assert!(seen.contains("code=4") && !seen.contains("s3cret"), "{seen}");
    assert!(seen.contains(" echo ") && seen.contains("intr = ^C"), "{seen}");
}

/// Where messages go into a file, the question is on the terminal all the same.
#[test]
fn a_password_is_not_shown_where_messages_go_elsewhere() {
    for behind in ["2>/dev/null", "2>&1 | cat >/dev/null"] {
        let Some(seen) = with_password_and("s3cret\n", behind) else { return };
        assert!(seen.contains("code=") && !seen.contains("s3cret"), "{behind}: {seen}");
        assert!(seen.contains(" echo ") && seen.contains("intr = ^C"), "{behind}: {seen}");
    }
}

#[test]
fn an_empty_password_is_sent_to_nobody() {
    let Some(seen) = with_password("\n") else { return };
    assert!(
        seen.contains("code=3") && seen.contains("the sudo password is empty; nothing was sent"),
        "{seen}"
    );
    assert!(!seen.contains("unreachable"), "{seen}");
}

#[test]
fn ctrl_c_at_the_password_leaves_a_terminal_that_shows_what_is_typed() {
    let Some(seen) = with_password("s3c\u{3}") else { return };
    assert!(seen.contains("code=130") && !seen.contains("s3c"), "{seen}");
    assert!(seen.contains(" echo ") && seen.contains("intr = ^C"), "{seen}");
}

#[test]
fn nothing_is_drawn_over_a_question() {
    let exe = std::env::current_exe().unwrap();
    let line = format!("{} --exact prompts::asks --ignored --nocapture", exe.display());
    let Some(seen) = on_a_terminal(&line, "[y/N] ", "y\n") else { return };
    assert!(seen.contains("] 0/1 hosts"), "the bar is drawn otherwise: {seen}");
    let (before, after) = seen.split_once("[y/N] ").unwrap();
    assert!(before.ends_with("\r\nReally? "), "{seen:?}");
    assert!(after.starts_with("y\r\n"), "only the answer stands behind the question: {seen:?}");
    assert!(after.contains("slow work"), "what happened meanwhile is told after it: {seen:?}");
    assert!(seen.contains("answered: true"), "{seen}");

    let line = line.replace("prompts::asks", "prompts::asks_in_vain");
    let Some(seen) = on_a_terminal(&line, "[y/N] ", "") else { return };
    assert!(seen.contains("[y/N] \r\n"), "the line ends when the run is stopped: {seen:?}");
    assert!(seen.contains("answered: false"), "{seen}");
}

#[test]
fn what_was_typed_before_a_question_is_no_answer() {
    let exe = std::env::current_exe().unwrap();
    let line = format!("{} --exact prompts::asks_late --ignored --nocapture", exe.display());
    let Some(seen) = on_a_terminal(&line, "] 0/1 hosts", "y\n") else { return };
    assert!(seen.contains("Really? [y/N] ") && seen.contains("answered: false"), "{seen}");
}

/// A run with a host that ends a task while somebody is asked.
async fn asking(after: Duration, stopped: impl Future<Output = ()>) {
    let settings = TerminalSettings { verbosity: Verbosity::Normal, width: Some(80), progress: true };
    let terminal = tokio::sync::Mutex::new(Terminal::new(settings));
    let (emitter, mut events) = Emitter::new("run1", None);
    let task = TaskRef { id: "a/b".into(), item: None, name: "slow work".into(), resource: "command".into() };
    let host = || "gpu0".to_owned();
    emitter.emit(EventKind::RunStarted {
        command: "apply".into(),
        inventory: "i.yaml".into(),
        options: Vec::new(),
        cluster: "t".into(),
        version: "0".into(),
        hosts: vec![host()],
        offline: std::collections::BTreeMap::new(),
        playbooks: 1,
        tasks: 1,
        steps: indexmap::IndexMap::from([("a/b".to_owned(), 1)]),
        stages: 1,
    });
    emitter.emit(EventKind::TaskStarted { host: host(), task: task.clone(), changes: Vec::new() });
    let report = async {
        let mut tick = tokio::time::interval(Duration::from_millis(50));
        loop {
            tokio::select! {
                biased;
                event = events.recv() => terminal.lock().await.event(&event.unwrap()),
                _ = tick.tick() => terminal.lock().await.tick(),
            }
        }
    };
    let ask = async {
        tokio::time::sleep(after).await;
        let answer = prompt::confirm_during(&terminal, |_| "Really?".to_owned(), stopped).await;
        tokio::time::sleep(Duration::from_millis(700)).await;
        answer
    };
    let work = async {
        tokio::time::sleep(Duration::from_secs(1)).await;
        let outcome = Outcome::Ran { changes: Vec::new(), output: String::new() };
        emitter.emit(EventKind::TaskFinished { host: host(), task, outcome, seconds: 1.0, attached: false });
        std::future::pending::<()>().await;
    };
    let answer = tokio::select! {
        answer = ask => answer,
        () = report => false,
        () = work => false,
    };
    println!("answered: {answer}");
}

#[tokio::test]
#[ignore = "runs on the terminal of `nothing_is_drawn_over_a_question`"]
async fn asks() {
    asking(Duration::from_millis(700), std::future::pending()).await;
}

#[tokio::test]
#[ignore = "runs on the terminal of `nothing_is_drawn_over_a_question`"]
async fn asks_in_vain() {
    asking(Duration::from_millis(700), tokio::time::sleep(Duration::from_millis(1500))).await;
}

#[tokio::test]
#[ignore = "runs on the terminal of `what_was_typed_before_a_question_is_no_answer`"]
async fn asks_late() {
    asking(Duration::from_millis(2500), tokio::time::sleep(Duration::from_secs(4))).await;
}
