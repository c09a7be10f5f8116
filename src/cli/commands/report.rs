//! `provision report`: recorded runs.

use anyhow::Context as _;
use camino::{Utf8Path, Utf8PathBuf};

use crate::accept::signature;
use crate::cli::args::{ReportCommand, Reports};
use crate::cli::load::cluster_of;
use crate::cli::results::{one_on_stdout, write_reports};
use crate::events::{Event, EventKind, Record};
use crate::exit::{self, Exit};
use crate::hostlist;
use crate::journal;
use crate::put;
use crate::report::Reporter as _;
use crate::report::rows::{hanging, pad};
use crate::report::screen::Verbosity;
use crate::report::style::{safe_line, seconds, width_of};
use crate::report::terminal::Terminal;
use crate::report::{output, show};
use crate::settings::Settings;
use crate::words::count;

/// Runs the command; its exit code.
///
/// # Errors
/// When there is no such run.
pub(crate) fn run(settings: &Settings, command: ReportCommand) -> anyhow::Result<u8> {
    match command {
        ReportCommand::List { inventory } => list(settings, &inventory),
        ReportCommand::Show { inventory, run, hosts, failed, output, reports } => {
            let cluster = settings.cluster_dir(&cluster_of(&inventory)?);
            let mut record = Record::of(&events(&cluster, &inventory, run)?);
            if record.exit_code.is_none() && journal::is_alive(&cluster, &record.run) {
                let since = record.at.map(|at| (crate::events::now() - at).total(jiff::Unit::Second));
                record.seconds = since.and_then(Result::ok).unwrap_or(record.seconds);
                record.running = true;
            }
            if let Some(hosts) = &hosts {
                only(&mut record, hosts)?;
            }
            if failed {
                show::keep_failed(&mut record);
            }
            let outputs = output || settings.verbosity == Verbosity::Verbose;
            show(&record, outputs, &reports)
        }
        ReportCommand::Signature { record, signers, by } => {
            let file = Utf8PathBuf::from(format!("{record}.sig"));
            let said = signature::check(&record, &file, &signers, &by)
                .map_err(|error| Exit::new(exit::DRIFT, safe_line(&error.to_string())))?;
            output::data(&format!("{}\n", safe_line(&said))).context("cannot write to stdout")?;
            Ok(exit::OK)
        }
        ReportCommand::Replay { inventory, run } => {
            let mut terminal = Terminal::new(crate::report::screen::TerminalSettings {
                progress: false,
                ..settings.terminal()
            });
            let cluster = settings.cluster_dir(&cluster_of(&inventory)?);
            for event in events(&cluster, &inventory, run)? {
                terminal.event(&event);
            }
            Ok(exit::OK)
        }
    }
}

/// Leaves these hosts in a record.
fn only(record: &mut Record, hosts: &str) -> anyhow::Result<()> {
    let usage = |message: String| Exit::new(exit::USAGE, format!("--hosts: {message}"));
    let wanted = hostlist::expand(hosts).map_err(|error| usage(error.message))?;
    if let Some(stranger) = wanted.iter().find(|name| !record.hosts.contains_key(*name)) {
        let all = hostlist::fold(record.hosts.keys().map(String::as_str));
        return Err(usage(format!("`{stranger}` was not part of that run"))
            .hint(format!("it had {all}"))
            .into());
    }
    record.hosts.retain(|name, _| wanted.contains(name));
    Ok(())
}

/// The events of a run, the last one unless it is named.
fn events(cluster: &Utf8Path, inventory: &Utf8Path, run: Option<String>) -> anyhow::Result<Vec<Event>> {
    let Some(run) = run.or_else(|| journal::last_run(cluster)) else {
        return Err(Exit::new(exit::USAGE, "no run of this cluster was recorded yet")
            .hint(format!("provision apply {inventory}"))
            .into());
    };
    let refused = |message: String| {
        Exit::new(exit::USAGE, message).hint(format!("provision report list {inventory}")).into()
    };
    if !journal::run_names(cluster).contains(&run) {
        return Err(refused(format!("there is no run {run} of this cluster")));
    }
    journal::read(cluster, &run).map_err(|error| refused(format!("{:#}", anyhow::Error::from(error))))
}

fn list(settings: &Settings, inventory: &Utf8Path) -> anyhow::Result<u8> {
    let cluster = settings.cluster_dir(&cluster_of(inventory)?);
    let mut rows: Vec<[String; 6]> = Vec::new();
    for info in journal::list(&cluster) {
        let (command, looks, verifies, of) = match info.first.map(|event| event.kind) {
            Some(EventKind::RunStarted { command, hosts, inventory: of, .. }) => {
                let text = format!("{command:8} {:>9}", count(hosts.len() as u64, "host"));
                (text, command != "apply", command == "verify", of)
            }
            _ => ("?".to_owned(), false, false, String::new()),
        };
        // Another inventory of the same cluster.
        let named = Utf8Path::new(&of).file_name();
        let of =
            if named.is_some() && named != inventory.file_name() { safe_line(&of) } else { String::new() };
        let [exit, what, time] = match info.last.map(|event| event.kind) {
            Some(EventKind::RunFinished { stats, exit_code, seconds: time }) => {
                let hosts = [(stats.unreachable, "unreachable"), (stats.not_started, "not finished")];
                let parts = [
                    (stats.tasks.changed, "changed"),
                    (if looks { stats.pending } else { 0 }, "to change"),
                    (stats.tasks.failed, "failed"),
                    (
                        stats.checks.fail,
                        if stats.checks.fail == 1 { "check failed" } else { "checks failed" },
                    ),
                ];
                let of = |(number, what): (u64, &str)| (number > 0).then(|| format!("{number} {what}"));
                let hosts = hosts.into_iter().filter(|(number, _)| *number > 0);
                let hosts = hosts.map(|(number, what)| format!("{} {what}", count(number, "host")));
                let what: Vec<String> = hosts.chain(parts.into_iter().filter_map(of)).collect();
                let nothing = if verifies && exit_code == exit::OK { "verified" } else { "nothing changed" };
                let what = if what.is_empty() { nothing.to_owned() } else { what.join(", ") };
                [format!("exit {exit_code}"), what, seconds(time)]
            }
            _ if journal::is_alive(&cluster, &info.run) => {
                ["running".to_owned(), String::new(), String::new()]
            }
            _ => {
                let why = "its end is not recorded: killed, or the machine went down or had no room";
                [why.to_owned(), String::new(), String::new()]
            }
        };
        rows.push([info.run, command, exit, what, time, of]);
    }
    let ended = |row: &&[String; 6]| row.get(4).is_some_and(|time| !time.is_empty());
    let column = |at: usize| {
        let cells = rows.iter().filter(ended).filter_map(|row| row.get(at));
        cells.map(|cell| width_of(cell)).max().unwrap_or_default()
    };
    let mut widths: Vec<usize> = (0..6).map(column).collect();
    let whole: usize = widths.iter().filter(|width| **width > 0).map(|width| width + 2).sum();
    // One long row does not break all others over two lines.
    if output::stdout_width().is_some_and(|room| whole > room + 2)
        && let Some(what) = widths.get_mut(3)
    {
        *what = 0;
    }
    let mut text = String::new();
    for row in &rows {
        // What has no end has a sentence in the place of these columns.
        let cells = row.iter().zip(&widths).filter(|(cell, _)| ended(&row) || !cell.is_empty());
        let cells: Vec<String> = cells.map(|(cell, width)| pad(cell, *width)).collect();
        put!(text, "{}\n", hanging(cells.join("  ").trim_end(), 4, output::stdout_width()));
    }
    output::data(&text).context("cannot write to stdout")?;
    Ok(exit::OK)
}

fn show(record: &Record, outputs: bool, reports: &Reports) -> anyhow::Result<u8> {
    if reports.any() {
        one_on_stdout(reports.to_stdout())?;
        write_reports(reports, record)?;
        for file in reports.files() {
            output::say(&format!("wrote {}", safe_line(file)));
        }
        return Ok(exit::OK);
    }
    output::data(&show::text(record, outputs, output::stdout_width())).context("cannot write to stdout")?;
    Ok(exit::OK)
}
