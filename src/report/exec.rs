//! The output of a command on all hosts, identical output folded as `clush -b` does.

use serde_json::{Map, Value as Json, json};

use super::fold::{by_value, fold};
use super::output;
use super::rows::hanging;
use super::style::{BAD, GOOD, HINT, paint, safe};
use super::unreachable::{Away, Group};
use crate::events::{HostRecord, HostStatus, Record};
use crate::put;
use crate::words::count;

/// The object of `--json`.
pub fn object(record: &Record) -> Json {
    let offline = record
        .offline
        .iter()
        .map(|(name, reason)| (name.clone(), json!({ "status": "offline", "reason": reason })));
    let hosts = record.hosts.iter().map(|(name, host)| (name.clone(), host_object(host)));
    let hosts: Map<String, Json> = hosts.chain(offline).collect();
    json!({ "version": 1, "command": record.command, "exit_code": record.exit_code, "hosts": hosts })
}

fn host_object(host: &HostRecord) -> Json {
    match (&host.command, &host.status) {
        (Some(end), _) => json!({ "status": "ok", "rc": end.status, "output": end.output }),
        (None, Some(HostStatus::Unreachable { reason, .. })) => {
            json!({ "status": "unreachable", "reason": reason })
        }
        (None, status) => {
            let reason = status.as_ref().and_then(super::unreachable::reason).unwrap_or("no result");
            json!({ "status": "quarantined", "reason": reason })
        }
    }
}

/// Returns the output of the hosts, then the hosts that did not end the command. `argv` is the command.
pub fn text(record: &Record, argv: &[String]) -> String {
    let ended = record.hosts.iter().filter_map(|(name, host)| {
        let end = host.command.as_ref()?;
        Some((name.clone(), (end.status, end.output.clone())))
    });
    // `sh` has a status of its own for a program that is not there.
    let is_script = matches!(argv, [word] if word.contains([' ', ';', '|', '&']));
    let mut text = String::new();
    for (hosts, (status, body)) in by_value(ended) {
        let (style, head) =
            if status == 0 { (GOOD, hosts) } else { (BAD, format!("{hosts}  (status {status})")) };
        put!(text, "{}\n{}", paint(style, &format!("--- {head} ---")), body_lines(&body));
        if is_script && status == 127 {
            let hint = "  hint: that is the name of one program; a line for a shell: -- sh -c 'LINE'";
            put!(text, "{}\n", paint(HINT, hint));
        }
    }
    let mut away = Away::default();
    for (host, reason) in &record.offline {
        away.add(host, &HostStatus::Offline(reason.clone()));
    }
    for (host, record) in &record.hosts {
        if let Some(status) = &record.status {
            away.add(host, status);
        }
    }
    for Group { hosts, word, reason, hint, .. } in away.groups() {
        let word = match word {
            "unreachable" => "unreached",
            "offline" => "offline",
            _ => "did not end",
        };
        put!(text, "{}\n{}", paint(BAD, &format!("--- {hosts}  ({word}) ---")), body_lines(&reason));
        if let Some(hint) = hint {
            let hint = format!("  {}", paint(HINT, &format!("hint: {}", safe(&hint))));
            put!(text, "{}\n", hanging(&hint, 8, output::stdout_width()));
        }
    }
    text
}

/// Sums up the results and names the hosts that did not end well: above it there may be pages of output of
/// the others.
pub fn sum(record: &Record) -> String {
    let names = |word: &str, is: fn(&HostStatus) -> bool| {
        let hosts = record.hosts.iter().filter(|(_, host)| host.status.as_ref().is_some_and(is));
        let names: Vec<&str> = hosts.map(|(name, _)| name.as_str()).collect();
        if names.is_empty() { String::new() } else { format!("; {word}: {}", fold(&names)) }
    };
    let well = record.hosts.values().filter(|host| host.status == Some(HostStatus::Ok)).count();
    let failed = names("failed", |status| *status == HostStatus::Failed);
    let unreached = names("unreached", |status| matches!(status, HostStatus::Unreachable { .. }));
    let stuck = names("did not end", |status| matches!(status, HostStatus::Quarantined { .. }));
    format!("{well} of {} ok{failed}{unreached}{stuck}", count(record.hosts.len() as u64, "host"))
}

/// Indents each line of a host's output, so that none of them can pass for the head of another host.
fn body_lines(body: &str) -> String {
    safe(body).lines().fold(String::new(), |mut text, line| {
        put!(text, "  {line}\n");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::events::CommandEnd;
    use crate::transport::ConnectKind;

    fn record(hosts: &[(usize, Option<i32>, HostStatus)]) -> Record {
        let mut record = Record::default();
        for (number, code, status) in hosts {
            let command = code.map(|status| CommandEnd { status, output: String::new() });
            let host = HostRecord { command, status: Some(status.clone()), ..HostRecord::default() };
            record.hosts.insert(format!("gpu{number}"), host);
        }
        record
    }

    #[test]
    fn the_last_line_names_who_did_not_end_well() {
        let (kind, reason) = (ConnectKind::Refused, "refused".to_owned());
        let all = [
            (0, Some(0), HostStatus::Ok),
            (1, Some(2), HostStatus::Failed),
            (2, Some(2), HostStatus::Failed),
            (3, None, HostStatus::Quarantined { reason: "stopped".to_owned() }),
            (4, None, HostStatus::Unreachable { kind, reason, hint: None }),
        ];
        let all_of = record(&all);
        assert_eq!(sum(&all_of), "1 of 5 hosts ok; failed: gpu[1-2]; unreached: gpu4; did not end: gpu3");
        assert_eq!(sum(&record(&all[1..2])), "0 of 1 host ok; failed: gpu1");
        let object = object(&all_of);
        let of = |host: &str| object["hosts"][host].to_string();
        assert_eq!(of("gpu1"), r#"{"status":"ok","rc":2,"output":""}"#);
        assert_eq!(of("gpu3"), r#"{"status":"quarantined","reason":"stopped"}"#);
        assert_eq!(of("gpu4"), r#"{"status":"unreachable","reason":"refused"}"#);
    }

    #[test]
    fn a_host_cannot_write_the_head_of_another() {
        let forged = "ok\n--- gpu7 ---\r--- gpu8 ---\u{2028}--- gpu9 ---\u{85}--- gpu10 ---\n\nlast";
        let lines = body_lines(forged);
        assert_eq!(lines.lines().count(), 4, "{lines}");
        assert!(lines.lines().all(|line| line.starts_with("  ")) && lines.ends_with("  last\n"), "{lines}");
        assert!(!lines.contains(['\r', '\u{2028}', '\u{85}']), "{lines}");
        assert_eq!(body_lines(""), "");
    }
}
