//! `provision exec`: a command on many hosts, identical output folded as `clush -b` does.

use std::pin::pin;
use std::time::Duration;

use anyhow::Context as _;
use futures::stream::{self, StreamExt as _};
use serde_json::json;

use super::load::{load, reachable, some_online};
use crate::cli::args::ExecArgs;
use crate::cli::launch::{self, Signals};
use crate::cli::settings::Settings;
use crate::engine::{self, Cancel, Stop, what_mends};
use crate::events::HostStatus;
use crate::exit;
use crate::inventory::Host;
use crate::put;
use crate::report::away::{Away, Group};
use crate::report::fold::{by_value, fold};
use crate::report::output;
use crate::report::rows::hanging;
use crate::report::style::{BAD, GOOD, HINT, paint, safe};
use crate::secrets::Secrets;
use crate::transport::{CONNECT, ConnectKind, Frame, Part, PartEnd, Script, Transport, TransportError};
use crate::words::count;

/// Bytes of output that are kept of a host.
const LIMIT: usize = 4 << 20;

#[derive(Debug)]
enum Said {
    Ended(i32, String),
    Unreached(ConnectKind, String),
    Stuck(String),
}

/// Runs the command; its exit code.
///
/// # Errors
/// What keeps the run from starting.
pub(crate) async fn run(settings: &Settings, args: ExecArgs) -> anyhow::Result<u8> {
    let mut project = reachable(settings, &args.target, load(settings, &args.target)?)?;
    some_online(&project, false)?;
    let parallel = args.connect.parallel.unwrap_or(project.rollout.parallel).max(1);
    let secrets = launch::secrets(&mut project, args.connect.ask_become_pass, false, settings)?;
    let hosts: Vec<Host> = project.online().cloned().collect();
    let transport = launch::open_transport(settings, &project.cluster, &hosts, &secrets, parallel).await?;
    let frame = Frame {
        parts: vec![Part {
            name: "exec".to_owned(),
            script: Script::new("\"$@\" 2>&1").args(args.argv.iter().map(String::as_str)),
            deadline: Duration::from_secs(args.timeout),
            limit: LIMIT,
        }],
        secrets,
        last: true,
        ..Frame::default()
    };
    let (stopper, cancel) = engine::channel();
    let asked = hosts.iter().map(|host| {
        let said = on_host(transport.as_ref(), host, &frame, &cancel);
        async move { (host.index, host.name.clone(), said.await) }
    });
    let mut signals = Signals::new().context("cannot take signals")?;
    let mut stopped = None;
    let mut results: Vec<_> = {
        let mut all = pin!(stream::iter(asked).buffer_unordered(parallel.max(1)).collect());
        loop {
            tokio::select! {
                results = &mut all => break results,
                code = signals.any() => {
                    if let Some(code) = stopped {
                        output::say("left at once: the command may still run on hosts");
                        return Ok(code);
                    }
                    output::say("stopping: the command is ended on the hosts; a second Ctrl-C leaves at once");
                    stopped = Some(code);
                    stopper.ask(Stop::End);
                }
            }
        }
    };
    transport.close().await;
    results.sort_by_key(|(index, _, _)| *index);
    let mut codes = Vec::new();
    for (_, _, said) in &results {
        match said {
            Said::Ended(0, _) => {}
            Said::Ended(..) => codes.push(exit::FAILED),
            Said::Unreached(..) | Said::Stuck(_) => codes.push(exit::UNREACHABLE),
        }
    }
    let code = stopped.unwrap_or_else(|| exit::choose(&codes));
    if let Some(file) = &args.reports.json {
        let offline = project
            .selected_offline()
            .map(|(host, reason)| (host.name.clone(), json!({ "status": "offline", "reason": reason })));
        let hosts: serde_json::Map<_, _> =
            results.iter().map(|(_, host, said)| (host.clone(), object(said))).chain(offline).collect();
        launch::write_json(
            file,
            &json!({ "version": 1, "command": "exec", "exit_code": code, "hosts": hosts }),
        )?;
        return Ok(code);
    }
    let mut away = Away::default();
    for (host, reason) in project.selected_offline() {
        away.add(&host.name, &HostStatus::Offline(reason.to_owned()));
    }
    for ((_, name, said), host) in results.iter().zip(&hosts) {
        match said {
            Said::Unreached(kind, why) => {
                let (kind, reason, hint) = (*kind, why.clone(), what_mends(*kind, host, &project));
                away.add(name, &HostStatus::Unreachable { kind, reason, hint });
            }
            Said::Stuck(why) => away.add(name, &HostStatus::Quarantined { reason: why.clone() }),
            Said::Ended(..) => {}
        }
    }
    let sum = sum(&results);
    let ended = results.into_iter().filter_map(|(_, host, said)| match said {
        Said::Ended(status, body) => Some((host, (status, body))),
        Said::Unreached(..) | Said::Stuck(_) => None,
    });
    // `sh` has a status of its own for a program that is not there.
    let is_script = matches!(args.argv.as_slice(), [word] if word.contains([' ', ';', '|', '&']));
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
    output::data(&text).context("cannot write to stdout")?;
    if code != exit::OK {
        output::say(&paint(BAD, &sum));
    }
    Ok(code)
}

/// Sums up the results and names the hosts that did not end well: above it there may be pages of output of
/// the others.
fn sum(results: &[(usize, String, Said)]) -> String {
    let names = |word: &str, is: fn(&Said) -> bool| {
        let names: Vec<&str> =
            results.iter().filter(|(_, _, said)| is(said)).map(|(_, name, _)| name.as_str()).collect();
        if names.is_empty() { String::new() } else { format!("; {word}: {}", fold(&names)) }
    };
    let well = results.iter().filter(|(_, _, said)| matches!(said, Said::Ended(0, _))).count();
    let failed = names("failed", |said| matches!(said, Said::Ended(status, _) if *status != 0));
    let unreached = names("unreached", |said| matches!(said, Said::Unreached(..)));
    let stuck = names("did not end", |said| matches!(said, Said::Stuck(_)));
    format!("{well} of {} ok{failed}{unreached}{stuck}", count(results.len() as u64, "host"))
}

/// Indents each line of a host's output, so that none of them can pass for the head of another host.
fn body_lines(body: &str) -> String {
    safe(body).lines().fold(String::new(), |mut text, line| {
        put!(text, "  {line}\n");
        text
    })
}

#[tracing::instrument(name = "host", skip_all, fields(host = host.name))]
async fn on_host(transport: &dyn Transport, host: &Host, frame: &Frame, cancel: &Cancel) -> Said {
    // It does not ride along with the login, which is tried again where ssh is killed: a command runs once.
    let opened = tokio::select! {
        biased;
        () = cancel.reached(Stop::End) => return Said::Stuck("stopped before it began".to_owned()),
        opened = transport.open(host, CONNECT) => opened,
    };
    let mut remote = match opened {
        Ok(remote) => remote,
        Err(TransportError::Connect { kind, message }) => return Said::Unreached(kind, message),
        Err(error) => return Said::Unreached(ConnectKind::Other, error.to_string()),
    };
    let mut said = Said::Stuck("no result".to_owned());
    let result = {
        let mut on_part = |end: PartEnd| said = Said::Ended(end.status, shown(&end, &frame.secrets));
        tokio::select! {
            result = remote.run(frame, &mut on_part) => Some(result),
            () = cancel.reached(Stop::End) => None,
        }
    };
    let Some(result) = result else {
        let said = match remote.revive().await {
            Ok(()) => "stopped, and ended on the host".to_owned(),
            Err(error) => format!("stopped; it may still run on the host: {error}"),
        };
        remote.close().await;
        return Said::Stuck(said);
    };
    if let Err(error) = result {
        said = Said::Stuck(error.to_string());
        if matches!(error, TransportError::PartTimedOut { .. })
            && let Err(error) = remote.revive().await
        {
            tracing::debug!(%error, "end the command");
        }
    }
    remote.close().await;
    said
}

/// Formats the output of a command; where it is more than the limit, its middle is left out.
fn shown(end: &PartEnd, secrets: &Secrets) -> String {
    let Some((gap, (head, tail))) = end.gap.and_then(|gap| Some((gap, end.output.split_at_checked(gap.at)?)))
    else {
        return secrets.redact(&String::from_utf8_lossy(&end.output));
    };
    let mark = format!("\n[{} bytes left out]\n", gap.bytes);
    let text = format!("{}{mark}{}", String::from_utf8_lossy(head), String::from_utf8_lossy(tail));
    secrets.redact_cut(&text, &mark)
}

fn object(said: &Said) -> serde_json::Value {
    match said {
        Said::Ended(status, output) => json!({ "status": "ok", "rc": status, "output": output }),
        Said::Unreached(_, reason) => json!({ "status": "unreachable", "reason": reason }),
        Said::Stuck(reason) => json!({ "status": "quarantined", "reason": reason }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_line_names_who_did_not_end_well() {
        let said = |number, said| (number, format!("gpu{number}"), said);
        let ended = |number, status| said(number, Said::Ended(status, String::new()));
        let unreached = said(4, Said::Unreached(ConnectKind::Refused, "refused".to_owned()));
        let all =
            [ended(0, 0), ended(1, 2), ended(2, 2), said(3, Said::Stuck("stopped".to_owned())), unreached];
        assert_eq!(sum(&all), "1 of 5 hosts ok; failed: gpu[1-2]; unreached: gpu4; did not end: gpu3");
        assert_eq!(sum(&all[1..2]), "0 of 1 host ok; failed: gpu1");
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
