//! `provision watch` without hosts: what it tells and to whom, against a server of this machine.
//!
//! `tests/cases/watch/NAME.case` is what rounds find; what is told of it stands in `NAME.told`.
//! `make accept` writes that; then read the difference.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "a test")]
#![allow(clippy::disallowed_methods, reason = "tests run the program and read its files")]
#![allow(dead_code, reason = "not every helper is used by every test")]

use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::accept::accepts;
use crate::context::Context;
use crate::hook::Hook;
use jiff::{SignedDuration, Timestamp};
use provision::events::{
    Acknowledged, ChangeView, CheckResult, CheckStatus, HostRecord, HostStatus, PlannedTask, PlannedVerdict,
    Record, TaskRef,
};
use provision::inventory::{Watch, WebhookKind};
use provision::transport::ConnectKind;
use provision::watch::{Delivery, Memory, Message, Outbox, Reply, Round, Unit, delivery, request, unit};
use serde_json::json;

fn at(minutes: i64) -> Timestamp {
    "2026-01-01T00:00:00Z".parse::<Timestamp>().unwrap() + SignedDuration::from_mins(minutes)
}

fn status(word: &str) -> CheckStatus {
    match word {
        "fail" => CheckStatus::Fail,
        "warn" => CheckStatus::Warn,
        "unknown" => CheckStatus::Unknown,
        "pass" => CheckStatus::Pass,
        other => panic!("no status: {other}"),
    }
}

/// A line of a case: `gpu[0-3] fail rdma.port_active: port 1 is down`, `gpu0 unreachable: no route`,
/// `gpu0 well`, `gpu0 drift sysctl: 1 -> 2`, `gpu0 hidden gpu.ecc: gpu.answers` (unknown because of another),
/// `gpu0 known gpu.ecc: 3 rows` (acknowledged).
fn line(record: &mut Record, line: &str) {
    let (head, message) = line.split_once(": ").unwrap_or((line, ""));
    let words: Vec<&str> = head.split_whitespace().collect();
    for name in provision::hostlist::expand(words[0]).unwrap() {
        let host = record.hosts.entry(name).or_insert_with(|| HostRecord {
            status: Some(HostStatus::Ok),
            checks: vec![check("host.login", CheckStatus::Pass, "")],
            ..HostRecord::default()
        });
        match words[1..] {
            ["well"] => {}
            ["unreachable"] => {
                let reason = message.to_owned();
                *host = HostRecord {
                    status: Some(HostStatus::Unreachable { kind: ConnectKind::NoRoute, reason, hint: None }),
                    ..HostRecord::default()
                };
            }
            ["stopped"] => {
                *host = HostRecord {
                    status: Some(HostStatus::NotStarted("stopped".to_owned())),
                    ..HostRecord::default()
                };
            }
            ["drift", task] => host.plan.push(Arc::new(PlannedTask {
                task: TaskRef {
                    id: "t".to_owned(),
                    item: None,
                    name: task.to_owned(),
                    resource: "file".to_owned(),
                },
                verdict: PlannedVerdict::Changes(vec![ChangeView {
                    object: String::new(),
                    summary: message.to_owned(),
                    diff: String::new(),
                    disruption: String::new(),
                }]),
                blocked: None,
                pending_since: None,
                notified_by: Vec::new(),
            })),
            ["hidden", id] => host.checks.push(CheckResult {
                because: Some(message.to_owned()),
                ..check(id, CheckStatus::Unknown, "not known")
            }),
            ["known", id] => host.checks.push(CheckResult {
                acknowledged: Some(Acknowledged {
                    status: CheckStatus::Fail,
                    message: message.to_owned(),
                    until: "2026-12-31".to_owned(),
                    because: "RMA".to_owned(),
                    by: "jo".to_owned(),
                }),
                ..check(id, CheckStatus::Skip, "acknowledged")
            }),
            [word, id] => host.checks.push(check(id, status(word), message)),
            _ => panic!("not understood: {line}"),
        }
    }
}

fn check(id: &str, status: CheckStatus, message: &str) -> CheckResult {
    let (message, hint) =
        message.split_once(" | ").map_or((message, None), |(text, hint)| (text, Some(hint)));
    CheckResult {
        check: id.to_owned(),
        status,
        message: message.to_owned(),
        evidence: Vec::new(),
        hint: hint.map(str::to_owned),
        because: None,
        acknowledged: None,
    }
}

/// What is told of a case. Each block is a round: `@ MINUTES`, then a line for each host and finding.
fn told(case: &str) -> String {
    let mut watch = Watch::default();
    let mut memory = Memory::default().understood();
    let mut text = String::new();
    for block in case.split("\n\n") {
        let mut lines = block.lines().filter(|line| !line.trim().is_empty() && !line.starts_with('#'));
        let Some(head) = lines.next() else { continue };
        match head.split_whitespace().collect::<Vec<_>>()[..] {
            ["watch", confirm, recover, gap] => {
                watch.confirm = confirm.parse().unwrap();
                watch.recover = recover.parse().unwrap();
                watch.gap = Duration::from_mins(gap.parse().unwrap());
            }
            ["@", minutes] => {
                let now = at(minutes.parse().unwrap());
                let lines: Vec<&str> = lines.collect();
                let round = match lines[..] {
                    [broken] if broken.starts_with("broken: ") => Round::broken(&broken[8..]),
                    _ => {
                        let mut record = Record::default();
                        for text in lines {
                            line(&mut record, text);
                        }
                        Round::of(&record)
                    }
                };
                memory.learn(&round, now);
                // As after a restart.
                memory = serde_json::from_slice(&serde_json::to_vec(&memory).unwrap()).unwrap();
                memory = memory.understood();
                text += "@ ";
                text += minutes;
                text += "\n";
                let changes = memory.changes(&watch);
                if changes.is_empty() {
                    continue;
                }
                if memory.free_at(&watch).is_some_and(|free| free > now) {
                    text += "(held back)\n";
                    continue;
                }
                text += &Message::of("c", "/i.yaml", &changes, now).text(100_000);
                text += "\n";
                memory.tell(&changes, now);
            }
            _ => panic!("not understood: {head}"),
        }
    }
    text
}

#[test]
fn what_is_told_of_rounds() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/watch");
    let mut cases: Vec<PathBuf> = folder
        .read_dir()
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().unwrap() == "case")
        .collect();
    cases.sort();
    assert!(cases.len() >= 8);
    for path in cases {
        let found = told(&std::fs::read_to_string(&path).unwrap());
        let expected = path.with_extension("told");
        if accepts() {
            std::fs::write(&expected, &found).unwrap();
        }
        assert_eq!(found, std::fs::read_to_string(&expected).unwrap_or_default(), "{}", path.display());
    }
}

fn message(text: &str) -> Message {
    let mut record = Record::default();
    line(&mut record, &format!("gpu[0-3] fail rdma.port_active: {text}"));
    let mut memory = Memory::default().understood();
    memory.learn(&Round::of(&record), at(0));
    Message::of("c", "/i.yaml", &memory.changes(&Watch::default()), at(0))
}

/// The values are what the examples in Python give that Feishu ("Custom bot usage guide") and DingTalk ("Security
/// settings of custom robots") print, for the time and the secret of their pages.
#[test]
fn signatures_are_those_of_the_vendors_examples() {
    let now = Timestamp::from_second(1_599_360_473).unwrap();
    let secret = Some("this is secret");
    let sent = request(WebhookKind::Feishu, "https://h/1", secret, &message("down"), now);
    let body: serde_json::Value = serde_json::from_str(&sent.body).unwrap();
    assert_eq!((sent.url.as_str(), sent.headers.len()), ("https://h/1", 0));
    assert_eq!(body["timestamp"], "1599360473");
    assert_eq!(body["sign"], "/eYKrXQBzTjUZJ3s6NX16VxGbTwmK7AEs8/FnvC1CSw=");
    let sent = request(WebhookKind::Dingtalk, "https://h/send?access_token=t", secret, &message("down"), now);
    assert_eq!(
        sent.url,
        "https://h/send?access_token=t&timestamp=1599360473000&sign=hXZTWifRGHclNuZSKxoXc%2F%2Fsh51SWfVfRIhcdeKs63I%3D"
    );
    let now = Timestamp::from_second(1_599_360_479).unwrap();
    let sent = request(WebhookKind::Dingtalk, "https://h/send", secret, &message("down"), now);
    assert_eq!(
        sent.url,
        "https://h/send?timestamp=1599360479000&sign=ji5hYJ8LM2T%2FGfvIm2DRM5sT%2BeJ7%2BSwomWUmOC50KJ4%3D"
    );
    // Without a secret nothing is signed.
    let sent = request(WebhookKind::Feishu, "https://h/1", None, &message("down"), now);
    assert!(!sent.body.contains("sign"), "{}", sent.body);
}

#[test]
fn each_service_gets_its_own_body() {
    let evil = message("<at user_id=\"all\"></at> <!channel> <@all> & \u{1b}[31m \"x\"");
    let body = |kind| -> serde_json::Value {
        serde_json::from_str(&request(kind, "https://h", None, &evil, at(0)).body).unwrap()
    };
    let feishu = body(WebhookKind::Feishu);
    assert_eq!(feishu["msg_type"], "post");
    let post = &feishu["content"]["post"]["zh_cn"];
    assert_eq!(post["title"], "provision c: 1 new");
    assert_eq!(post["content"][0][0]["tag"], "text");
    let text = post["content"][0][0]["text"].as_str().unwrap();
    assert!(text.starts_with("[new fail] rdma.port_active on gpu[0-3]: <at user_id"), "{text}");
    assert!(!text.contains('\u{1b}'), "{text}");
    let ding = body(WebhookKind::Dingtalk);
    assert_eq!(ding["msgtype"], "text");
    assert!(
        ding["text"]["content"].as_str().unwrap().starts_with("provision c: 1 new\n[new fail]"),
        "{ding}"
    );
    let wecom = body(WebhookKind::Wecom);
    assert!(wecom["text"]["content"].as_str().unwrap().contains("< @all>"), "{wecom}");
    let slack = body(WebhookKind::Slack);
    assert!(slack["text"].as_str().unwrap().contains("&lt;!channel&gt; &lt;@all&gt; &amp;"), "{slack}");
    let plain = body(WebhookKind::Json);
    assert_eq!(plain["changes"][0]["hosts"], "gpu[0-3]");
    assert_eq!(plain["changes"][0]["change"], "new");
    assert_eq!(plain["changes"][0]["number"], 4);
}

#[test]
fn a_message_fits_the_service_and_says_what_is_left_out() {
    let mut record = Record::default();
    for number in 0..400 {
        line(&mut record, &format!("gpu0 fail check.n{number}: {}", "long ".repeat(20)));
    }
    let mut memory = Memory::default().understood();
    memory.learn(&Round::of(&record), at(0));
    let message = Message::of("c", "/i.yaml", &memory.changes(&Watch::default()), at(0));
    let wecom = request(WebhookKind::Wecom, "https://h", None, &message, at(0));
    let wecom: serde_json::Value = serde_json::from_str(&wecom.body).unwrap();
    let text = wecom["text"]["content"].as_str().unwrap();
    assert!(text.len() <= 2048, "{}", text.len());
    assert!(
        text.contains("provision c: 400 new") && text.contains("... and 18") && text.contains("200 more; "),
        "{text}"
    );
    let feishu = request(WebhookKind::Feishu, "https://h", None, &message, at(0));
    assert!(feishu.body.len() < 20_000, "{}", feishu.body.len());
}

/// Answers that the services' pages and their users show.
#[test]
fn an_error_is_one_whatever_its_status() {
    use WebhookKind::{Dingtalk, Feishu, Json, Slack, Wecom};
    let delivered = [
        (Feishu, 200, r#"{"StatusCode":0,"StatusMessage":"success","code":0,"data":{},"msg":"success"}"#),
        (Feishu, 200, r#"{"Extra":null,"StatusCode":0,"StatusMessage":"success"}"#),
        (Dingtalk, 200, r#"{"errcode":0,"errmsg":"ok"}"#),
        (Wecom, 200, r#"{"errcode":0,"errmsg":"ok"}"#),
        (Slack, 200, "ok"),
        (Json, 204, ""),
    ];
    for (kind, status, body) in delivered {
        assert_eq!(delivery(kind, status, None, body), Delivery::Delivered, "{body}");
    }
    let later = [
        (
            Feishu,
            200,
            r#"{"code":19021,"data":{},"msg":"sign match fail or timestamp is not within one hour from current time"}"#,
            0,
        ),
        (Feishu, 200, r#"{"code":11232,"msg":"frequency limited"}"#, 0),
        (Feishu, 200, "<html>", 0),
        (Dingtalk, 200, r#"{"errcode":310000,"errmsg":"sign not match"}"#, 0),
        (
            Dingtalk,
            200,
            r#"{"status":1111,"wait":5,"source":"x5","punish":"deny","errcode": 130101,"errmsg": "send too fast, exceed 20 times per minute"}"#,
            600,
        ),
        (Wecom, 200, r#"{"errcode":45009,"errmsg":"api freq out of limit"}"#, 0),
        (Slack, 404, "no_service", 0),
        (Slack, 410, "channel_is_archived", 0),
        (Slack, 500, "rollup_error", 0),
        (Json, 302, "", 0),
    ];
    for (kind, status, body, seconds) in later {
        let found = delivery(kind, status, None, body);
        let Delivery::Later { reason, after } = &found else { panic!("{body}: {found:?}") };
        assert_eq!(after.as_secs(), seconds, "{reason}");
        assert!(reason.contains(&status.to_string()), "{reason}");
    }
    let after = delivery(Slack, 429, Some(30), "rate_limited");
    assert!(matches!(&after, Delivery::Later { after, .. } if after.as_secs() == 30), "{after:?}");
    for (kind, status, body) in [
        (Feishu, 200, r#"{"code":9499,"msg":"Bad Request","data":{}}"#),
        (Wecom, 200, r#"{"errcode":40058,"errmsg":"markdown.content exceed max length 4096."}"#),
        (Slack, 400, "invalid_payload"),
    ] {
        assert!(matches!(delivery(kind, status, None, body), Delivery::Never(_)), "{body}");
    }
}

#[test]
fn messages_wait_in_order_within_bounds() {
    let mut outbox = Outbox::default();
    let letters: Vec<Message> = (0..150).map(|number| message(&format!("text {number}"))).collect();
    outbox.add("a", letters[0].clone());
    outbox.add("b", letters[0].clone());
    outbox.add("a", letters[1].clone());
    let mut now = at(0);
    // Pauses get longer, and the second one does not overtake.
    let mut pauses = Vec::new();
    for _ in 0..9 {
        assert_eq!(outbox.due("a", now).unwrap().id, letters[0].id);
        let said = outbox.take("a", &letters[0].id, Reply::Silence("no connection".to_owned()), now);
        assert!(said.unwrap().starts_with("no connection; tried again in "));
        assert_eq!(outbox.due("a", now), None);
        outbox.take("b", &letters[0].id, Reply::Answer(Delivery::Delivered), now);
        let next = outbox.next().unwrap();
        pauses.push(next.duration_since(now).as_secs());
        now = next;
    }
    assert_eq!(pauses, [5, 10, 20, 40, 80, 160, 320, 600, 600]);
    assert_eq!(outbox.take("a", &letters[0].id, Reply::Answer(Delivery::Delivered), now), None);
    now += SignedDuration::from_secs(4);
    assert_eq!(outbox.due("a", now).unwrap().id, letters[1].id);
    assert_eq!(outbox.waiting(), 1);
    // The oldest go, and that is said.
    letters.iter().skip(2).for_each(|letter| outbox.add("a", letter.clone()));
    assert_eq!(outbox.waiting(), 100);
    let first = outbox.due("a", now).unwrap();
    assert_eq!(first.id, letters[50].id);
    assert!(first.footer.starts_with("49 older messages were lost; "), "{}", first.footer);
    // Who refuses a message for days does not keep back the others for ever.
    let refusal =
        || Reply::Answer(Delivery::Later { reason: "it answers 403".to_owned(), after: Duration::ZERO });
    outbox.take("a", &first.id, refusal(), now);
    now += SignedDuration::from_hours(73);
    let said = outbox.take("a", &first.id, refusal(), now).unwrap();
    assert!(said.contains("dropped"), "{said}");
    assert_eq!(outbox.due("a", now).unwrap().id, letters[51].id);
    // A webhook that is no longer there.
    assert_eq!(outbox.keep(&["b"]), [("a".to_owned(), 99)]);
    assert_eq!(outbox.waiting(), 0);
}

/// An inventory in a folder of its own whose one host does not answer, and the program on it.
struct Site(Context);

impl Deref for Site {
    type Target = Context;

    fn deref(&self) -> &Context {
        &self.0
    }
}

const SECRET: &str = "s3cret-of-the-webhook";

impl Site {
    fn new(kind: &str, url: &str, more: &str) -> Self {
        let site = Self(Context::new());
        site.write("url", format!("{url}\n"));
        site.write("sign", SECRET);
        site.write("play.yaml", "name: nothing\ntasks: []\n");
        site.write(
            "inventory.yaml",
            format!(
                "cluster: c\nsecrets: {{ url: {{ file: url }}, sign: {{ file: sign }} }}\nplaybooks: [./play.yaml]\n\
                 ssh: {{ user: nobody, port: 1, identity_file: ./id, known_hosts: ./known }}\n\
                 watch: {{ gap: 1s, recover: 1, webhooks: {{ ops: {{ kind: {kind}, url: {{ secret: url }}{more} }} }} }}\n\
                 hosts:\n  gpu0: {{ address: 127.0.0.1 }}\n"
            ),
        );
        site
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = self.0.command(&[&["watch", "inventory.yaml"], words].concat());
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    fn run(&self, words: &[&str]) -> Output {
        self.command(words).output().unwrap()
    }

    /// Its words; panics unless it ends with this code.
    #[track_caller]
    fn once(&self, code: i32) -> String {
        let output = self.run(&["--once", "-vvv"]);
        let said =
            String::from_utf8_lossy(&output.stderr).into_owned() + &String::from_utf8_lossy(&output.stdout);
        assert_eq!(output.status.code(), Some(code), "{said}");
        assert!(!said.contains("token-") && !said.contains(SECRET), "{said}");
        said
    }

    /// Nothing that is kept holds a secret.
    #[track_caller]
    fn keeps_no_secret(&self) {
        let mut open = vec![self.path("state")];
        let mut files = 0;
        while let Some(path) = open.pop() {
            if path.is_dir() {
                open.extend(path.read_dir().unwrap().map(|entry| entry.unwrap().path()));
                continue;
            }
            let text = String::from_utf8_lossy(&std::fs::read(&path).unwrap()).into_owned();
            files += 1;
            assert!(!text.contains("token-") && !text.contains(SECRET), "{}: {text}", path.display());
        }
        assert!(files > 0);
    }
}

/// A watch that runs, killed at the end.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

#[test]
fn a_finding_is_told_once_and_its_end_once() {
    let hook = Hook::at(0);
    let site = Site::new("json", &hook.url(), ", sign: { secret: sign }");
    site.once(0);
    let got = hook.got();
    assert_eq!(got.len(), 1);
    assert_eq!(got[0].path, format!("/hook/token-{}", hook.port));
    assert_eq!(got[0].header("content-type"), "application/json; charset=utf-8");
    let body = got[0].json();
    assert_eq!(body["title"], "provision c: 1 new");
    assert_eq!(
        (&body["changes"][0]["what"], &body["changes"][0]["hosts"]),
        (&json!("host.reachable"), &json!("gpu0"))
    );
    let signed = format!("{}.{}", got[0].header("x-provision-timestamp"), got[0].text);
    let expected = Command::new("openssl")
        .args(["dgst", "-sha256", "-hmac", SECRET])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn();
    let mut openssl = expected.unwrap();
    std::io::Write::write_all(&mut openssl.stdin.take().unwrap(), signed.as_bytes()).unwrap();
    let expected = String::from_utf8(openssl.wait_with_output().unwrap().stdout).unwrap();
    let found = got[0].header("x-provision-signature").trim_start_matches("sha256=");
    assert!(expected.trim().ends_with(found) && found.len() == 64, "{expected} {found}");
    for _ in 0..2 {
        site.once(0);
    }
    assert_eq!(hook.got().len(), 1);
    // A round that cannot be made is a finding as well, and says nothing of hosts.
    site.write("play.yaml", "tasks: 7\n");
    std::thread::sleep(Duration::from_secs(1));
    site.run(&["--once"]);
    site.keeps_no_secret();
}

#[test]
fn a_round_that_cannot_be_made_is_told() {
    let hook = Hook::at(0);
    let site = Site::new("json", &hook.url(), "");
    let mut child = Running(site.command(&["--every", "1s"]).spawn().unwrap());
    hook.wait_for(1);
    site.write("play.yaml", "name: x\ntasks: [{ nme: x }]\n");
    let got = hook.wait_for(2);
    assert_eq!(got[1].json()["changes"][0]["what"], "watch.round");
    site.write("play.yaml", "name: nothing\ntasks: []\n");
    let got = hook.wait_for(3);
    let body = got[2].json();
    assert_eq!(
        (&body["changes"][0]["what"], &body["changes"][0]["change"]),
        (&json!("watch.round"), &json!("recovered"))
    );
    assert_eq!(body["changes"].as_array().unwrap().len(), 1, "{body:#}");
    // SIGTERM ends it, at once and with its own code.
    let pid = child.0.id().to_string();
    assert!(Command::new("kill").args(["-TERM", &pid]).status().unwrap().success());
    let until = Instant::now() + Duration::from_secs(20);
    let code = loop {
        if let Some(status) = child.0.try_wait().unwrap() {
            break status.code();
        }
        assert!(Instant::now() < until, "it did not end");
        std::thread::sleep(Duration::from_millis(20));
    };
    assert_eq!(code, Some(143));
}

#[test]
fn what_is_not_delivered_is_kept_and_delivered_later_in_order() {
    let hook = Hook::at(0);
    let site = Site::new("slack", &hook.url(), "");
    let port = hook.stop();
    // Three things happen while nobody listens, and the watch is killed after each.
    let said = site.once(0);
    assert!(said.contains("Not told  ops: ") && said.contains("1 message for later"), "{said}");
    let mut child = Running(site.command(&["--every", "1s"]).spawn().unwrap());
    let kept = site.path("state/provision/c/watch.json");
    let until = |is_so: &dyn Fn(&serde_json::Value) -> bool| {
        let until = Instant::now() + Duration::from_mins(1);
        loop {
            let state: serde_json::Value = serde_json::from_slice(&std::fs::read(&kept).unwrap()).unwrap();
            if is_so(&state) {
                return;
            }
            assert!(Instant::now() < until, "{state:#}");
            std::thread::sleep(Duration::from_millis(50));
        }
    };
    // What is wrong with an inventory from the start is said at once, so the mistake comes later.
    until(&|state| state["findings"]["gpu0"]["host.reachable"]["seen"].as_u64() > Some(1));
    let waits = |number| {
        move |state: &serde_json::Value| {
            state["outbox"]["ops"]["letters"].as_array().map(Vec::len) == Some(number)
        }
    };
    site.write("play.yaml", "tasks: 7\n");
    until(&waits(2));
    site.write("play.yaml", "name: nothing\ntasks: []\n");
    until(&waits(3));
    child.0.kill().unwrap();
    child.0.wait().unwrap();
    let hook = Hook::at(port);
    let child = Running(site.command(&["--every", "1s"]).spawn().unwrap());
    let got = hook.wait_for(3);
    let firsts: Vec<String> = got
        .iter()
        .map(|got| {
            got.json()["text"].as_str().unwrap().lines().nth(1).unwrap().split(':').next().unwrap().to_owned()
        })
        .collect();
    assert_eq!(
        firsts,
        ["[new fail] host.reachable on gpu0", "[new fail] watch.round", "[recovered] watch.round"]
    );
    // Killed and started again: nothing is told twice. What was killed before it had noted a delivery would be.
    until(&|state| state["outbox"]["ops"]["letters"].as_array().is_none_or(Vec::is_empty));
    drop(child);
    site.once(0);
    assert_eq!(hook.got().len(), 3);
    site.keeps_no_secret();
}

#[test]
fn a_run_of_this_controller_is_not_disturbed() {
    let hook = Hook::at(0);
    let site = Site::new("json", &hook.url(), "");
    let cluster = camino::Utf8PathBuf::from_path_buf(site.path("state/provision/c")).unwrap();
    let hosts = ["gpu0".to_owned()].into();
    let lock = provision::journal::RunLock::take(&cluster, "r1", &hosts).unwrap();
    let said = site.once(0);
    assert!(said.contains("Skipped  this round: run r1 works on the cluster"), "{said}");
    assert!(hook.got().is_empty());
    drop(lock);
    site.once(0);
    assert_eq!(hook.got().len(), 1);
    // No record of it pushes out those of people.
    assert_eq!(provision::journal::last_run(&cluster), None);
}

#[test]
fn only_one_watch_tells() {
    let hook = Hook::at(0);
    let site = Site::new("json", &hook.url(), "");
    let _running = Running(site.command(&["--every", "1h"]).spawn().unwrap());
    hook.wait_for(1);
    let said = site.once(8);
    assert!(said.contains("another watch of this cluster runs already"), "{said}");
}

#[test]
fn a_test_message_says_whether_messages_arrive() {
    let hook = Hook::at(0);
    let site = Site::new("feishu", &hook.url(), ", sign: { secret: sign }");
    hook.answer(200, r#"{"code":19021,"msg":"sign match fail"}"#);
    let output = site.run(&["--test"]);
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(3), "{said}");
    assert!(said.contains("Not told  ops: it answers 200: {\"code\":19021"), "{said}");
    hook.answer(200, r#"{"code":0,"msg":"success"}"#);
    let output = site.run(&["--test"]);
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(String::from_utf8(output.stderr).unwrap(), "      Told  ops\n");
    site.write("url", "ftp://nothing");
    let output = site.run(&["--test"]);
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("the secret `url` is no URL of a webhook") && !said.contains("ftp"), "{said}");
}

/// A service cannot pass a message on, which may hold what only it should read.
#[test]
fn a_message_follows_no_redirect() {
    let other = Hook::at(0);
    for status in [301, 302, 303, 307, 308] {
        let hook = Hook::at(0);
        hook.redirect(status, &other.url());
        let site = Site::new("json", &hook.url(), ", sign: { secret: sign }");
        let output = site.run(&["--test"]);
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(3), "{status}: {said}");
        assert!(said.contains(&status.to_string()) && !said.contains("token-"), "{said}");
        assert_eq!((hook.got().len(), other.got().len()), (1, 0), "{status}");
    }
}

/// TLS is real: who is not trusted by this machine gets nothing.
#[test]
fn only_a_trusted_service_gets_a_message() {
    use std::io::{Read as _, Write as _};

    use rustls::pki_types::pem::PemObject as _;
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let made = Command::new("openssl")
        .args([
            "req",
            "-x509",
            "-newkey",
            "ec",
            "-pkeyopt",
            "ec_paramgen_curve:P-256",
            "-nodes",
            "-days",
            "2",
        ])
        .args(["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"])
        .args(["-addext", "basicConstraints=critical,CA:FALSE", "-keyout"])
        .arg(path("key"))
        .arg("-out")
        .arg(path("cert"))
        .output()
        .unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let certificate = rustls::pki_types::CertificateDer::from_pem_file(path("cert")).unwrap();
    let key = rustls::pki_types::PrivateKeyDer::from_pem_file(path("key")).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate], key)
        .unwrap();
    let config = Arc::new(config);
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().map_while(Result::ok) {
            let mut session = rustls::ServerConnection::new(config.clone()).unwrap();
            let mut tls = rustls::Stream::new(&mut session, &mut stream);
            let mut text = Vec::new();
            let mut chunk = [0; 4096];
            while !text.ends_with(b"}") {
                match tls.read(&mut chunk) {
                    Ok(length @ 1..) => text.extend_from_slice(&chunk[..length]),
                    _ => break,
                }
            }
            if text.ends_with(b"}") {
                drop(tls.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok"));
            }
        }
    });
    let site = Site::new("slack", &format!("https://localhost:{port}/token-1"), "");
    let output = site.run(&["--test"]);
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(3), "{said}");
    assert!(said.contains("its certificate is not trusted: ") && !said.contains("token-1"), "{said}");
    let output = site.command(&["--test"]).env("SSL_CERT_FILE", path("cert")).output().unwrap();
    assert_eq!(String::from_utf8(output.stderr).unwrap(), "      Told  ops\n");
}

#[test]
fn systemd_takes_the_unit() {
    let hook = Hook::at(0);
    let site = Site::new("json", &hook.url(), "");
    let output = site
        .command(&["--systemd", "--every", "15m", "--set", "x=a b%c$d"])
        .env("USER", "root")
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(2), "{text}");
    let output = site.command(&["--systemd", "--every", "15m"]).env("USER", "root").output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let inventory = site.path("inventory.yaml").canonicalize().unwrap();
    let start =
        format!("ExecStart={} watch {} --every 15m\n", env!("CARGO_BIN_EXE_provision"), inventory.display());
    assert!(text.contains(&start), "{text}");
    assert!(!text.contains("token-"), "{text}");
    site.write("provision-watch-c.service", text);
    let verify =
        Command::new("systemd-analyze").arg("verify").arg(site.path("provision-watch-c.service")).output();
    // Not every machine that builds has systemd.
    let Ok(verify) = verify else { return };
    let said = String::from_utf8_lossy(&verify.stderr).into_owned();
    assert!(verify.status.success() && !said.contains("provision-watch-c"), "{said}");
}

/// A timer and `su` set no `USER`. The name stands in the lock of each host, for a second operator to read.
#[test]
fn who_runs_it_has_a_name_without_one_in_the_environment() {
    let hook = Hook::at(0);
    let site = Site::new("json", &hook.url(), "");
    let mut command = site.command(&["--systemd", "--every", "15m"]);
    let output = command.env_remove("USER").env_remove("LOGNAME").output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let number = std::os::unix::fs::MetadataExt::uid(&std::fs::metadata("/proc/self").unwrap()).to_string();
    let accounts = std::fs::read_to_string("/etc/passwd").unwrap();
    let mut accounts = accounts.lines().map(|line| line.split(':').collect::<Vec<_>>());
    let name = accounts
        .find(|fields| fields.get(2) == Some(&&*number))
        .map_or(number.clone(), |of| of[0].to_owned());
    assert!(text.contains(&format!("\nUser={name}\n")), "{text}");
}

#[test]
fn words_of_the_unit_are_quoted() {
    let text = unit(&Unit {
        cluster: "c",
        program: "/opt/my tools/provision".into(),
        inventory: "/a\"b/100%/$x.yaml".into(),
        arguments: &["--set".to_owned(), "x=a b".to_owned()],
        user: "ops",
        state: "/home/o p/.local/state/provision".into(),
        local: true,
    });
    assert!(
        text.contains(r#"ExecStart="/opt/my tools/provision" watch "/a\"b/100%%/$$x.yaml" --set "x=a b""#),
        "{text}"
    );
    assert!(text.contains("ReadWritePaths=\"/home/o p/.local/state/provision\"\n"), "{text}");
    assert!(text.contains("Environment=\"XDG_STATE_HOME=/home/o p/.local/state\"\n"), "{text}");
    // sudo on this machine needs what the other units have not.
    assert!(!text.contains("NoNewPrivileges") && text.contains("User=ops\n"), "{text}");
}
