//! `provision acknowledge`: findings that somebody knows of stay quiet until a day.

use std::collections::BTreeMap;
use std::fs::File;

use anyhow::Context as _;
use camino::Utf8Path;
use jiff::civil::Date;
use serde_json::{Value as Json, json};

use crate::checks::{self, Acknowledgement, Acknowledgements, Needs};
use crate::cli::args::AcknowledgeArgs;
use crate::cli::load::cluster_of;
use crate::cli::results;
use crate::disk;
use crate::events::{self, CheckResult, CheckStatus, EventKind, Record};
use crate::exit::{self, Exit};
use crate::hostlist;
use crate::journal;
use crate::report::output;
use crate::report::rows::hanging;
use crate::report::style::{CALM, CHANGE, DIM, paint, safe_line};
use crate::settings::Settings;
use crate::words::count;

/// Name of the file, in the directory of a cluster.
pub(super) const FILE: &str = "acknowledged.json";
/// Most days until the last one: for ever is `expect.ignore`.
const LONGEST_DAYS: i64 = 366;

/// Runs the command; its exit code.
///
/// # Errors
/// When hosts or the check are not known, they have no such finding, or the file cannot be read or written.
pub(crate) fn run(settings: &Settings, args: AcknowledgeArgs) -> anyhow::Result<u8> {
    let cluster = settings.cluster_dir(&cluster_of(&args.inventory)?);
    let file = cluster.join(FILE);
    // Two writers at once would each lose what the other wrote.
    let _turn = if args.hosts.is_some() { Some(turn(&cluster)?) } else { None };
    let mut all = read(&file)?;
    let check = args.check.as_deref().map(known_check).transpose()?;
    let shown = match (args.hosts.as_deref(), check, args.until.zip(args.because)) {
        (Some(hosts), check, None) if args.end => {
            let hosts = names(hosts)?;
            let is_meant = |known: &Acknowledgement| {
                hosts.contains(&known.host) && check.is_none_or(|check| known.check == check)
            };
            let (ended, kept): (Vec<_>, Vec<_>) = all.acknowledged.into_iter().partition(is_meant);
            let is_ended = |host: &&String| ended.iter().any(|known| known.host == **host);
            if let Some(host) = hosts.iter().find(|host| !is_ended(host)) {
                let message = format!("nothing of the kind is acknowledged of {}", safe_line(host));
                let list = format!("provision acknowledge {}", args.inventory);
                return Err(Exit::new(exit::USAGE, message).hint(list).into());
            }
            write(&cluster, &Acknowledgements { acknowledged: kept })?;
            ended
        }
        (Some(hosts), Some(check), Some((until, because))) => {
            let because = because.trim().to_owned();
            if because.is_empty() {
                return Err(Exit::new(exit::USAGE, "--because is empty: who reads a report asks why").into());
            }
            in_time(until, settings.today)?;
            let mut taken = Vec::new();
            for (host, (status, message)) in found(&cluster, &args.inventory, &names(hosts)?, check)? {
                let known = Acknowledgement {
                    host,
                    check: check.to_owned(),
                    status,
                    message,
                    any_text: args.any_text,
                    until,
                    because: because.clone(),
                    by: settings.user.clone(),
                    at: events::now(),
                };
                all.put(known.clone());
                taken.push(known);
            }
            write(&cluster, &all)?;
            taken
        }
        (None, None, None) if !args.end => all.acknowledged,
        (Some(_), None, Some(_)) => return Err(usage("the check is missing: `gpu3 gpu.ecc`")),
        (Some(_), _, None) => {
            return Err(usage("say until when, and why: --until 2026-12-31 --because TEXT; or --end"));
        }
        (None, ..) => return Err(usage("the hosts are missing")),
    };
    if let Some(file) = &args.reports.json {
        let shown: Vec<Json> = shown.iter().map(|known| object(known, settings.today)).collect();
        let object = json!({ "version": 1, "ended": args.end, "acknowledged": shown });
        results::write_json(file, &object)?;
        return Ok(exit::OK);
    }
    if args.end {
        output::say(&format!("{} told again", count(shown.len() as u64, "finding")));
        return Ok(exit::OK);
    }
    let mut text = String::new();
    for known in &shown {
        text.push_str(&line(known, settings));
    }
    if shown.is_empty() {
        text.push_str("nothing is acknowledged\n");
    }
    output::data(&text).context("cannot write to stdout")?;
    Ok(exit::OK)
}

fn usage(message: &str) -> anyhow::Error {
    Exit::new(exit::USAGE, message).hint("provision help acknowledge").into()
}

fn config(message: &str) -> anyhow::Error {
    Exit::new(exit::CONFIG, message).into()
}

/// Reads the acknowledgements so far. A file that is not understood is not written over.
fn read(file: &Utf8Path) -> anyhow::Result<Acknowledgements> {
    let bytes = match std::fs::read(file) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Acknowledgements::default()),
        Err(error) => return Err(config(&format!("cannot read {file}: {error}"))),
    };
    serde_json::from_slice(&bytes)
        .map_err(|error| config(&format!("{file} is not understood ({error}): move it away")))
}

/// Waits for whoever writes; it is over when the file is closed.
fn turn(cluster: &Utf8Path) -> anyhow::Result<File> {
    disk::private_directory(cluster).with_context(|| format!("cannot make {cluster}"))?;
    let path = cluster.join("acknowledged.lock");
    let file = disk::open_lock(&path).with_context(|| format!("cannot use {path}"))?;
    file.lock().with_context(|| format!("cannot lock {path}"))?;
    Ok(file)
}

fn write(cluster: &Utf8Path, all: &Acknowledgements) -> anyhow::Result<()> {
    Ok(journal::write_state(&cluster.join(FILE), all)?)
}

fn names(hosts: &str) -> anyhow::Result<Vec<String>> {
    hostlist::expand(hosts)
        .map_err(|error| Exit::new(exit::USAGE, format!("hosts: {}", error.message)).into())
}

fn known_check(id: &str) -> anyhow::Result<&'static str> {
    let unknown = || {
        let message = format!("there is no check `{}`", safe_line(id));
        Exit::new(exit::USAGE, message).hint("provision explain checks")
    };
    Ok(checks::find(id).ok_or_else(unknown)?.id)
}

/// Refuses a last day that is over, or that nobody will remember.
fn in_time(until: Date, today: Date) -> Result<(), Exit> {
    let days = (until - today).get_days();
    if days < 0 {
        return Err(Exit::new(exit::USAGE, format!("{until} is over: today is {today}")));
    }
    if i64::from(days) > LONGEST_DAYS {
        let hint = "leave the check out for the host where it is to be quiet for ever: `expect: { ignore: [CHECK] }`";
        return Err(Exit::new(exit::USAGE, format!("{until} is more than a year away")).hint(hint));
    }
    Ok(())
}

/// Severity and text of a finding.
type Found = (CheckStatus, String);

/// The finding of each host, as the last verify that looked at the host had it.
fn found(
    cluster: &Utf8Path,
    inventory: &Utf8Path,
    hosts: &[String],
    check: &str,
) -> anyhow::Result<BTreeMap<String, Found>> {
    let mut found = BTreeMap::new();
    let needs = checks::find(check).map(|check| check.needs);
    let is_asked_for = matches!(needs, Some(Needs::Active | Needs::Job));
    for run in journal::run_names(cluster).iter().rev() {
        if found.len() == hosts.len() {
            break;
        }
        let events = journal::read(cluster, run)?;
        // A fault that was planted in a lab is none of the host's.
        let is_verify = events.first().is_some_and(|event| {
            matches!(&event.kind, EventKind::RunStarted { command, options, .. }
                if command == "verify" && !options.iter().any(|option| option == "--lab"))
        });
        if !is_verify {
            continue;
        }
        let record = Record::of(&events);
        for host in hosts.iter().filter(|host| !found.contains_key(*host)).cloned().collect::<Vec<_>>() {
            let Some(seen) = record.hosts.get(&host).filter(|seen| !seen.checks.is_empty()) else { continue };
            let result = seen.checks.iter().find(|result| result.check == check);
            match result.and_then(finding) {
                Some(seen) => drop(found.insert(host, seen)),
                // It was not asked for then, and is not well for that.
                None if is_asked_for && result.is_none_or(|result| result.status == CheckStatus::Skip) => {}
                None => return Err(no_finding(&host, check, result, &record, inventory)),
            }
        }
    }
    match hosts.iter().find(|host| !found.contains_key(*host)) {
        None => Ok(found),
        Some(host) => {
            let host = safe_line(host);
            let (message, option) = match needs {
                Some(Needs::Active) => (format!("no recorded verify made {check} on {host}"), " --active"),
                Some(Needs::Job) => {
                    (format!("no recorded verify made {check} on {host}"), " --through LAUNCHER")
                }
                Some(Needs::Idle | Needs::Load | Needs::Delta | Needs::Fleet) | None => {
                    (format!("no recorded verify has looked at {host}"), "")
                }
            };
            Err(Exit::new(exit::USAGE, message).hint(format!("provision verify {inventory}{option}")).into())
        }
    }
}

/// A finding, whether it is told or quiet.
fn finding(result: &CheckResult) -> Option<Found> {
    match &result.acknowledged {
        Some(known) => Some((known.status, known.message.clone())),
        None => result.status.is_finding().then(|| (result.status, result.message.clone())),
    }
}

fn no_finding(
    host: &str,
    check: &str,
    result: Option<&CheckResult>,
    record: &Record,
    inventory: &Utf8Path,
) -> anyhow::Error {
    let said = result.map_or_else(
        || "it was not made there".to_owned(),
        |result| format!("{}: {}", result.status.word(), safe_line(&result.message)),
    );
    let at = record.at.map_or_else(String::new, |at| format!(" of {}", at.strftime("%Y-%m-%d %H:%M UTC")));
    let message = format!("{host} has no finding of {check} in the verify{at} ({said})");
    Exit::new(exit::USAGE, message).hint(format!("provision verify {inventory}")).into()
}

fn object(known: &Acknowledgement, today: Date) -> Json {
    json!({
        "host": known.host,
        "check": known.check,
        "status": known.status.word(),
        "message": known.message,
        "any_text": known.any_text,
        "until": known.until.to_string(),
        "expired": known.until < today,
        "because": known.because,
        "by": known.by,
        "at": known.at.to_string(),
    })
}

fn line(known: &Acknowledgement, settings: &Settings) -> String {
    let (style, word) = if known.until < settings.today { (CHANGE, "expired") } else { (CALM, "known") };
    let whatever = if known.any_text { ", whatever it says" } else { "" };
    let line = format!(
        "{}  {}  {}  {}: {}, until {}{whatever}: {} ({})",
        paint(style, &format!("{word:>10}")),
        safe_line(&known.check),
        paint(DIM, &safe_line(&known.host)),
        known.status.word(),
        safe_line(&known.message),
        known.until,
        safe_line(&known.because),
        safe_line(&known.by),
    );
    format!("{}\n", hanging(&line, 12, output::stdout_width()))
}
