//! One command on all hosts, as it was typed: nothing is asked, planned or proven.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use futures::stream::{self, StreamExt as _};
use tokio::time::Instant;

use super::cancel::Stop;
use super::context::Context;
use super::hints;
use super::run::started;
use crate::events::{CommandEnd, EventKind, HostStatus, RunStats, TaskCounts};
use crate::inventory::Host;
use crate::secrets::Secrets;
use crate::transport::{ConnectKind, Frame, Part, PartEnd, Script, TransportError};

/// Bytes of output that are kept of a host.
const LIMIT: usize = 4 << 20;

/// Runs a command on the selected hosts of the project; a host that does not end it within `deadline` is given
/// up. A stop that asks to end tasks ends it on the hosts. The caller says `RunFinished`.
pub async fn exec(context: Arc<Context>, argv: &[String], deadline: Duration) -> RunStats {
    let project = context.project.clone();
    let offline: BTreeMap<String, String> =
        project.selected_offline().map(|(host, reason)| (host.name.clone(), reason.to_owned())).collect();
    let mut stats = RunStats { offline: offline.len() as u64, ..RunStats::default() };
    let hosts = project.online().map(|host| (host.index, host.name.clone())).collect();
    started(&context, "exec", hosts, offline, 1);
    let frame = Frame {
        parts: vec![Part {
            name: "exec".to_owned(),
            script: Script::new("\"$@\" 2>&1").args(argv.iter().map(String::as_str)),
            deadline,
            limit: LIMIT,
        }],
        secrets: context.secrets.clone(),
        last: true,
        ..Frame::default()
    };
    let all = project.online().map(|host| on_host(&context, host, &frame));
    let mut all = stream::iter(all).buffer_unordered(project.rollout.parallel.max(1));
    while let Some(status) = all.next().await {
        stats.count(&status);
    }
    drop(all);
    context.transport.close().await;
    stats
}

/// Runs the command on one host, and says how that ended.
#[tracing::instrument(name = "host", skip_all, fields(host = host.name))]
async fn on_host(context: &Context, host: &Host, frame: &Frame) -> HostStatus {
    let began = Instant::now();
    let status = match run(context, host, frame).await {
        Ok(command) => {
            let status = if command.status == 0 { HostStatus::Ok } else { HostStatus::Failed };
            context.emitter.emit(EventKind::CommandEnded { host: host.name.clone(), command });
            status
        }
        Err(status) => status,
    };
    context.emitter.emit(EventKind::HostFinished {
        host: host.name.clone(),
        status: status.clone(),
        tasks: TaskCounts::default(),
        seconds: began.elapsed().as_secs_f64(),
    });
    status
}

async fn run(context: &Context, host: &Host, frame: &Frame) -> Result<CommandEnd, HostStatus> {
    let stuck = |reason: String| HostStatus::Quarantined { reason };
    context.emitter.emit(EventKind::HostConnecting { host: host.name.clone() });
    let began = Instant::now();
    // It does not ride along with the login, which is tried again where ssh is killed: a command runs once.
    let opened = tokio::select! {
        biased;
        () = context.cancel.reached(Stop::End) => return Err(stuck("stopped before it began".to_owned())),
        opened = context.transport.open(host, context.deadlines.connect) => opened,
    };
    let mut remote = opened.map_err(|error| {
        let (kind, reason) = match error {
            TransportError::Connect { kind, message } => (kind, message),
            error @ (TransportError::Lost { .. }
            | TransportError::PartTimedOut { .. }
            | TransportError::Protocol { .. }) => (ConnectKind::Other, error.to_string()),
        };
        HostStatus::Unreachable { kind, reason, hint: hints::connect(kind, host, &context.project) }
    })?;
    let seconds = began.elapsed().as_secs_f64();
    context.emitter.emit(EventKind::HostConnected { host: host.name.clone(), seconds });
    let mut ended = None;
    let result = {
        let mut on_part = |end: PartEnd| {
            ended = Some(CommandEnd { status: end.status, output: shown(&end, &frame.secrets) });
        };
        tokio::select! {
            result = remote.run(frame, &mut on_part) => Some(result),
            () = context.cancel.reached(Stop::End) => None,
        }
    };
    let status = match result {
        Some(Ok(())) => ended.ok_or_else(|| stuck("no result".to_owned())),
        Some(Err(error)) => {
            if matches!(error, TransportError::PartTimedOut { .. })
                && let Err(error) = remote.revive().await
            {
                tracing::debug!(%error, "end the command");
            }
            Err(stuck(error.to_string()))
        }
        None => Err(stuck(match remote.revive().await {
            Ok(()) => "stopped, and ended on the host".to_owned(),
            Err(error) => format!("stopped; it may still run on the host: {error}"),
        })),
    };
    remote.close().await;
    status
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
