//! Registered answers: what a question was told, to the tasks after it.

use std::sync::Mutex;

use super::*;
use provision::transport::Sent;

const ASK: &str = "
  - name: ask
    command: { run: [question], changes: false }
    register: answer
";
const CHANGE: &str = "
  - name: change
    command: { run: [edit, it] }
";
const TELL: &str = "
  - name: tell
    command: { run: [tell, \"told<{{ answer }}>\"] }
";
const TELL_IF_OLD: &str = "
  - name: tell
    when: answer == \"old\"
    command: { run: [tell, \"it is old\"] }
";
const CHANGE_MORE: &str = "
  - name: change more
    command: { run: [edit, more] }
";

fn playbook(tasks: &[&str]) -> String {
    format!("name: q\ntasks:{}", tasks.concat())
}

/// Hosts that answer the question in one way, and in another once something was edited.
fn asked(before: Reply, after: Reply) -> Scripted {
    let edited: Mutex<BTreeSet<String>> = Mutex::default();
    healthy().answer(move |sent: &Sent| {
        let mut edited = edited.lock().unwrap();
        if sent.part == "task" && sent.text.contains("edit") {
            edited.insert(sent.host.clone());
        }
        let reply = if edited.contains(&sent.host) { &after } else { &before };
        (sent.part == "ask" && sent.text.contains("question")).then(|| reply.clone())
    })
}

fn says(text: &str) -> Reply {
    Reply::default().output(text)
}

/// What a host was told, between the brackets.
fn told(transport: &Scripted, host: &str) -> Vec<String> {
    let sent = transport.sent().into_iter().filter(|sent| sent.host == host && sent.part == "task");
    sent.filter_map(|sent| Some(sent.text.split_once("told<")?.1.split_once('>')?.0.to_owned())).collect()
}

fn failure(ran: &Ran, name: &str) -> String {
    match ran.outcome("gpu0", name) {
        Outcome::Failed(failure) => failure.message.clone(),
        other => panic!("{other:?}"),
    }
}

/// What a plan says of the tasks of a host that are not as they should be.
async fn planned(tasks: &[&str], transport: &Scripted) -> Vec<(String, PlannedVerdict)> {
    let ran = run(&world("{}", &playbook(tasks)), transport, Mode::Plan, |_| {}).await;
    ran.record.hosts["gpu0"].plan.iter().map(|task| (task.task.name.clone(), task.verdict.clone())).collect()
}

fn known_after(name: &str, task: &str) -> (String, PlannedVerdict) {
    (name.to_owned(), PlannedVerdict::KnownAfter(task.to_owned()))
}

#[tokio::test(start_paused = true)]
async fn later_tasks_read_an_answer() {
    let transport = asked(says("old\n\n"), says("old\n\n"));
    let ran = apply(
        &world("{}", &playbook(&[ASK, TELL_IF_OLD, &TELL.replace("tell\n", "tell too\n")])),
        &transport,
    )
    .await;
    assert_eq!(ran.report.stats.ok, 4, "{:?}", ran.record);
    assert!(matches!(ran.outcome("gpu0", "tell"), Outcome::Ran { .. }));
    assert_eq!(told(&transport, "gpu0"), ["old"]);
    // It is a question of the first exec, and of no other.
    assert_eq!(transport.parts("gpu0").iter().filter(|part| *part == "ask").count(), 1);
}

#[tokio::test(start_paused = true)]
async fn what_an_answer_is() {
    for (parse, output, read, want) in [
        ("text", "a b\nc\n", "answer", "a b\nc"),
        // Text of a host is no template.
        ("text", "{{ host.name }}\n", "answer", "{{ host.name }}"),
        ("lines", "a b\nc\n", "answer | length", "2"),
        ("json", "{\"nics\": [{\"name\": \"eth0\"}]}", "answer.nics[0].name", "eth0"),
        ("json", "[1, 2]\n", "answer[1]", "2"),
        ("status", "", "answer + 1", "1"),
    ] {
        let transport = asked(says(output), says(output));
        let ask = ASK.replace("changes: false", &format!("changes: false, parse: {parse}"));
        let ran = apply(&world("{}", &playbook(&[&ask, &TELL.replace("answer", read)])), &transport).await;
        assert_eq!(ran.report.stats.ok, 4, "{parse}: {:?}", ran.record);
        assert_eq!(told(&transport, "gpu0"), [want], "{parse}");
    }
    // An exit status is an answer, too.
    let ask = ASK.replace("changes: false", "changes: false, parse: status");
    let transport = asked(says("").status(3), says("").status(3));
    let ran = apply(&world("{}", &playbook(&[&ask, TELL])), &transport).await;
    assert_eq!((ran.report.stats.ok, told(&transport, "gpu0")), (4, vec!["3".to_owned()]));
}

#[tokio::test(start_paused = true)]
async fn a_loop_goes_over_lines() {
    let ask = ASK.replace("changes: false", "changes: false, parse: lines");
    let tell = "  - name: tell {{ item }}\n    loop: \"{{ answer }}\"\n    command: { run: [tell, \"told<{{ item }}>\"] }\n";
    let transport = asked(says("a\nb\n"), says("a\nb\n"));
    let ran = apply(&world("{}", &playbook(&[&ask, tell])), &transport).await;
    assert_eq!(ran.report.stats.tasks.ran, 8, "{:?}", ran.record);
    assert_eq!(told(&transport, "gpu0"), ["a", "b"]);
}

#[tokio::test(start_paused = true)]
async fn a_plan_says_after_which_change_it_is_known() {
    let transport = asked(says("old\n"), says("new\n"));
    for tell in [TELL, TELL_IF_OLD] {
        let plan = planned(&[CHANGE, ASK, CHANGE_MORE, tell], &transport).await;
        assert_eq!(plan.len(), 3, "{plan:?}");
        assert_eq!(plan[2], known_after("tell", "change"), "{plan:?}");
    }
    // A question that fails now may be about what the change brings.
    let transport = asked(says("").status(127), says("new\n"));
    let plan = planned(&[CHANGE, ASK, TELL], &transport).await;
    assert_eq!(plan[1..], [known_after("ask", "change"), known_after("tell", "change")], "{plan:?}");
    // Without a change before the question, the answer is the one that counts.
    let transport = asked(says("old\n"), says("new\n"));
    let plan = planned(&[ASK, CHANGE, TELL_IF_OLD], &transport).await;
    assert!(matches!(plan[1].1, PlannedVerdict::Runs(_)), "{plan:?}");
    let plan = planned(&[ASK, CHANGE, &TELL_IF_OLD.replace("old", "new")], &transport).await;
    assert_eq!(plan.len(), 1, "{plan:?}");
}

#[tokio::test(start_paused = true)]
async fn a_plan_remembers_that_over_stages() {
    let once = CHANGE_MORE.replace("more\n", "more\n    run_once: true\n");
    let handled = TELL.replace("  - name: tell\n", "  - name: tell\n    notify: hear\n")
        + "handlers:\n  - name: hear\n    command: { run: [hear, \"{{ answer }}\"] }\n";
    let transport = asked(says("old\n"), says("new\n"));
    let plan = planned(&[CHANGE, ASK, &once, &handled], &transport).await;
    assert_eq!(plan[2..], [known_after("tell", "change"), known_after("hear", "change")], "{plan:?}");
}

#[tokio::test(start_paused = true)]
async fn an_answer_is_the_one_at_its_place() {
    for (tasks, want) in [([CHANGE, ASK, TELL], "new"), ([ASK, CHANGE, TELL], "old")] {
        let transport = asked(says("old\n"), says("new\n"));
        let ran = apply(&world("{}", &playbook(&tasks)), &transport).await;
        assert_eq!(ran.report.stats.ok, 4, "{:?}", ran.record);
        assert_eq!(told(&transport, "gpu0"), [want]);
    }
    // What the change brings is asked about.
    let transport = asked(says("").status(127), says("new\n"));
    let ran = apply(&world("{}", &playbook(&[CHANGE, ASK, TELL])), &transport).await;
    assert_eq!(ran.report.stats.ok, 4, "{:?}", ran.record);
    assert_eq!(told(&transport, "gpu0"), ["new"]);
}

#[tokio::test(start_paused = true)]
async fn later_stages_and_handlers_read_it() {
    let once = CHANGE_MORE.replace("more\n", "more\n    run_once: true\n    notify: hear\n");
    let tell = format!(
        "{TELL}handlers:\n  - name: hear\n    command: {{ run: [hear, \"told<{{{{ answer }}}}>\"] }}\n"
    );
    let transport = asked(says("old\n"), says("new\n"));
    let ran = apply(&world("{}", &playbook(&[ASK, &once, &tell])), &transport).await;
    assert_eq!(ran.report.stats.ok, 4, "{:?}", ran.record);
    assert_eq!(told(&transport, "gpu0"), ["old", "old"]);
    assert_eq!(told(&transport, "gpu1"), ["old"]);
}

#[tokio::test(start_paused = true)]
async fn a_question_without_an_answer_is_a_failure() {
    let json = ASK.replace("changes: false", "changes: false, parse: json");
    for (ask, reply, message) in [
        (ASK, says("no\n").status(3), "`question` ended with status 3"),
        (ASK, says("").hang(), "gave no answer within 20s"),
        (json.as_str(), says("{\"a\": "), "the output of `question` is not JSON: EOF while parsing"),
    ] {
        let transport = asked(reply.clone(), reply);
        let ran = apply(&world("{}", &playbook(&[ask, TELL])), &transport).await;
        assert_eq!(ran.report.stats.failed, 4);
        assert!(failure(&ran, "ask").contains(message), "{:?}", ran.outcome("gpu0", "ask"));
        assert!(matches!(ran.outcome("gpu0", "tell"), Outcome::Skipped(_)));
        // Where the host goes on, whoever reads it fails for that reason.
        let ask = ask.replace("    register", "    on_failure: continue\n    register");
        let ran = apply(&world("{}", &playbook(&[&ask, TELL])), &transport).await;
        assert!(failure(&ran, "tell").contains("`answer` has no value: `ask` failed"), "{:?}", ran.record);
    }
}

#[tokio::test(start_paused = true)]
async fn a_skipped_question_has_no_answer() {
    let skipped = ASK.replace("ask\n", "ask\n    when: host.name != \"gpu0\"\n");
    let narrow = ASK.replace("ask\n", "ask\n    hosts: gpu & !gpu0\n");
    for ask in [&skipped, &narrow] {
        let guarded = TELL.replace("tell\n", "tell\n    when: answer is defined\n");
        let transport = asked(says("old\n"), says("new\n"));
        let ran = apply(&world("{}", &playbook(&[ask, &guarded])), &transport).await;
        assert_eq!(ran.report.stats.ok, 4, "{:?}", ran.record);
        assert!(matches!(ran.outcome("gpu0", "tell"), Outcome::Skipped(_)));
        assert_eq!(told(&transport, "gpu1"), ["old"]);
    }
    let transport = asked(says("old\n"), says("new\n"));
    let ran = apply(&world("{}", &playbook(&[&skipped, TELL])), &transport).await;
    assert_eq!((ran.report.stats.ok, ran.report.stats.failed), (3, 1));
    assert!(failure(&ran, "tell").contains("`answer` has no value: `ask` was skipped"), "{:?}", ran.record);
    // Two that exclude each other give one answer.
    let other = ASK
        .replace("ask\n", "ask otherwise\n    when: host.name == \"gpu0\"\n")
        .replace("[question]", "[question, two]");
    for tasks in [[skipped.as_str(), &other, TELL], [&other, &skipped, TELL]] {
        let transport = asked(says("old\n"), says("new\n"));
        let ran = apply(&world("{}", &playbook(&tasks)), &transport).await;
        assert_eq!(ran.report.stats.ok, 4, "{:?}", ran.record);
    }
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_holds_a_secret_is_not_registered() {
    for (output, reads) in [
        ("token=hunter22\n", "told<{{ answer }}>"),
        ("{\"a\": [\"hunter22\"]}", "told<{{ answer.a }}>"),
        // What a program makes of it.
        ("dG9rZW49aHVudGVyMjIK\n", "told<{{ answer }}>"),
    ] {
        let parse = if output.starts_with("{\"") { "json" } else { "text" };
        let ask = ASK.replace("changes: false", &format!("changes: false, parse: {parse}"));
        let transport = asked(says(output), says(output));
        let secret = secrecy::SecretString::from("hunter22".to_owned());
        let secrets = Secrets::default().with("token", secret);
        let world = world("{}", &playbook(&[&ask, &TELL.replace("told<{{ answer }}>", reads)]));
        for mode in [Mode::Plan, Mode::Apply] {
            let ran =
                run_with(&world, &transport, mode, (secrets.clone(), engine::Consent::given()), |_| {}).await;
            assert!(!format!("{:?}", ran.events).contains("hunter22"), "{mode:?}: {:?}", ran.events);
            if mode == Mode::Apply {
                let message = failure(&ran, "tell");
                assert!(message.contains("the answer of `ask` holds a secret"), "{message}");
            }
        }
        assert!(told(&transport, "gpu0").is_empty());
    }
}
