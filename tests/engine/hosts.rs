//! Hosts that answer as a test needs them, and what they were sent.

use std::sync::Mutex;

use super::*;
use provision::transport::Sent;

pub(super) const MODE: &str = "
name: p
tasks:
  - name: mode
    file: { path: /opt/kept, mode: \"0644\", owner: root }
";

/// What `stat` says of the file, by its mode and owner.
pub(super) fn stat(mode: &str, owner: u32) -> Reply {
    let names = "user 0 root\nuser 7 rider\ngroup 0 root\n";
    Reply::default()
        .output(format!("stat {owner}:0:{mode}:9:1:1:1:/opt/kept\nstat 0:0:41ed:9:1:1:1:/opt\n{names}"))
}

/// Hosts that answer the questions of a part in one way, in another once a change was made, and in a third
/// one after the second change.
pub(super) fn moving(part: &'static str, answers: [Reply; 3]) -> Scripted {
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
pub(super) fn acts(transport: &Scripted, host: &str) -> Vec<Sent> {
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

pub(super) const SERVICE: &str = "
name: p
tasks:
  - name: start
    service: { name: alpha, state: started }
";

pub(super) fn unit(active: &str) -> Reply {
    let sub = if active == "active" { "running" } else { "dead" };
    Reply::default().output(format!(
        "\nType=notify\nId=alpha.service\nNames=alpha.service\nLoadState=loaded\nActiveState={active}\nSubState={sub}\nUnitFileState=enabled\nNeedDaemonReload=no\nCanReload=yes\n\nend\n"
    ))
}

pub(super) fn says(text: &str) -> Reply {
    Reply::default().output(text)
}
