//! `provision report`: recorded runs.

use anyhow::Context as _;
use camino::Utf8Path;

use super::load::cluster_of;
use crate::cli::args::{ReportCommand, Reports};
use crate::cli::dispatch::Exit;
use crate::cli::launch::{cluster_dir, write_reports};
use crate::cli::settings::Settings;
use crate::events::{Event, EventKind, Record};
use crate::exit;
use crate::journal;
use crate::put;
use crate::report::Reporter as _;
use crate::report::style::seconds;
use crate::report::terminal::Terminal;
use crate::report::{output, show};
use crate::words::count;

/// Runs the command; its exit code.
///
/// # Errors
/// When there is no such run.
pub(crate) fn run(settings: &Settings, command: ReportCommand) -> anyhow::Result<u8> {
    match command {
        ReportCommand::List { inventory } => list(settings, &inventory),
        ReportCommand::Show { inventory, run, host, failed, output, reports } => {
            let mut record = Record::of(&events(settings, &inventory, run)?);
            if let Some(host) = &host {
                record.hosts.retain(|name, _| name == host);
                if record.hosts.is_empty() {
                    return Err(
                        Exit::new(exit::USAGE, format!("host `{host}` was not part of that run")).into()
                    );
                }
            }
            if failed {
                show::keep_failed(&mut record);
            }
            show(&record, output, &reports)
        }
        ReportCommand::Replay { inventory, run } => {
            let mut terminal = Terminal::new(crate::report::terminal::TerminalSettings {
                progress: false,
                ..settings.terminal()
            });
            for event in events(settings, &inventory, run)? {
                terminal.event(&event);
            }
            Ok(exit::OK)
        }
    }
}

fn events(settings: &Settings, inventory: &Utf8Path, run: Option<String>) -> anyhow::Result<Vec<Event>> {
    let cluster = cluster_dir(settings, &cluster_of(inventory)?);
    let Some(run) = run.or_else(|| journal::last_run(&cluster)) else {
        return Err(Exit::new(exit::USAGE, "no run of this cluster was recorded yet")
            .hint(format!("provision apply {inventory}"))
            .into());
    };
    journal::read(&cluster, &run).map_err(|error| {
        let error = anyhow::Error::from(error);
        Exit::new(exit::USAGE, format!("{error:#}")).hint(format!("provision report list {inventory}")).into()
    })
}

fn list(settings: &Settings, inventory: &Utf8Path) -> anyhow::Result<u8> {
    let cluster = cluster_dir(settings, &cluster_of(inventory)?);
    let mut text = String::new();
    for info in journal::list(&cluster) {
        let command = match info.first.map(|event| event.kind) {
            Some(EventKind::RunStarted { command, hosts, .. }) => {
                format!("{command:8} {:>10}", count(hosts.len() as u64, "host"))
            }
            _ => "?".to_owned(),
        };
        let end = match info.last.map(|event| event.kind) {
            Some(EventKind::RunFinished { stats, exit_code, seconds: time }) => format!(
                "exit {exit_code}  {} changed, {} failed  {}",
                stats.tasks.changed,
                stats.tasks.failed,
                seconds(time)
            ),
            _ if journal::is_alive(&cluster, &info.run) => "running".to_owned(),
            _ => "its end is not recorded: killed, or the machine went down or had no room".to_owned(),
        };
        put!(text, "{}  {command}  {end}\n", info.run);
    }
    output::data(&text).context("cannot write to stdout")?;
    Ok(exit::OK)
}

fn show(record: &Record, outputs: bool, reports: &Reports) -> anyhow::Result<u8> {
    if reports.any() {
        write_reports(reports, record)?;
        return Ok(exit::OK);
    }
    output::data(&show::text(record, outputs, output::stdout_width())).context("cannot write to stdout")?;
    Ok(exit::OK)
}
