//! `provision parts`: where each part of the hosts is and was, by its serial number.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Context as _;
use camino::Utf8PathBuf;

use crate::accept::parts::{self, Content, HostParts, Ledger, Request};
use crate::accept::record::Record;
use crate::cli::args::{Connect, PartsArgs, PartsCommand, RmaArgs, Target};
use crate::cli::load::{load, some_online};
use crate::cli::on_hosts::{DEADLINE, OnHosts, Stopped};
use crate::cli::parts::{ledger, parts_of, remember};
use crate::cli::results;
use crate::disk;
use crate::events;
use crate::exit::{self, Exit};
use crate::hostlist::fold;
use crate::journal;
use crate::report::style::safe_line;
use crate::report::{self, output};
use crate::settings::Settings;

/// Runs the command; its exit code.
///
/// # Errors
/// When hosts cannot be asked, or files cannot be written.
pub(crate) async fn run(settings: &Settings, args: PartsArgs) -> anyhow::Result<u8> {
    match (args.command, args.target) {
        (Some(PartsCommand::Rma(rma)), _) => bundle(settings, rma).await,
        (None, Some(target)) => show(settings, &target, &args.connect, args.json.as_deref()).await,
        (None, None) => Err(Exit::new(exit::USAGE, "an inventory is missing".to_owned()).into()),
    }
}

/// Asks the hosts, tells what changed since they were asked last, and remembers it.
async fn show(
    settings: &Settings,
    target: &Target,
    connect: &Connect,
    json: Option<&str>,
) -> anyhow::Result<u8> {
    let project = load(settings, target)?;
    some_online(&project, false)?;
    let cluster = settings.cluster_dir(&project.cluster);
    let hosts: BTreeSet<String> = project.online().map(|host| host.name.clone()).collect();
    drop(project);
    let mut ledger = ledger(&cluster)?;
    let before = ledger.hosts();
    let (now, silent) = match parts_of(OnHosts { settings, target, connect }, &hosts).await? {
        Ok(found) => found,
        Err(Stopped(code)) => return Ok(code),
    };
    let seen: Vec<HostParts> = now.values().cloned().collect();
    let changes = parts::changes(&before, &seen, &ledger);
    let known = before.iter().filter(|host| now.contains_key(&host.host)).count();
    remember(&cluster, &ledger, "", &now, |_| &[])?;
    for host in &seen {
        ledger.add(&parts::entry(&ledger, "", host, &[]));
    }
    if let Some(file) = json {
        results::write_json(file, &report::parts::object(&seen, &changes, &ledger))?;
    }
    if json != Some("-") {
        let text = report::parts::text(&seen, (&changes, known), &ledger, settings.page);
        output::data(&text).context("cannot write to stdout")?;
    }
    for (host, reason) in &silent {
        output::say(&safe_line(&format!("{host} was not asked: {reason}")));
    }
    Ok(if silent.is_empty() { exit::OK } else { exit::UNREACHABLE })
}

/// Tells what changed of the parts of hosts since a record; the exit code.
///
/// # Errors
/// When the record cannot be read, or hosts cannot be asked.
pub(super) async fn against(
    settings: &Settings,
    target: &Target,
    connect: &Connect,
    file: &Utf8PathBuf,
) -> anyhow::Result<Result<u8, Stopped>> {
    let bytes = std::fs::read(file)
        .map_err(|error| Exit::new(exit::CONFIG, format!("{file}: {}", disk::short(&error))))?;
    let record: Record = serde_json::from_slice(&bytes).map_err(|error| {
        Exit::new(exit::CONFIG, format!("{file} is no record of `provision accept`: {error}"))
    })?;
    let project = load(settings, target)?;
    let cluster = settings.cluster_dir(&project.cluster);
    let hosts: BTreeSet<String> = project.online().map(|host| host.name.clone()).collect();
    drop(project);
    let ledger = ledger(&cluster)?;
    let (asked, others): (BTreeSet<String>, BTreeSet<String>) =
        hosts.into_iter().partition(|host| record.hosts.contains_key(host));
    if asked.is_empty() {
        return Err(Exit::new(exit::USAGE, format!("{file} has none of these hosts")).into());
    }
    let (now, silent) = match parts_of(OnHosts { settings, target, connect }, &asked).await? {
        Ok(found) => found,
        Err(stopped) => return Ok(Err(stopped)),
    };
    for (host, reason) in &silent {
        output::say(&safe_line(&format!("the parts of {host} are not known: {reason}")));
    }
    let before = parts::of_record(&record);
    let seen: Vec<HostParts> = now.into_values().collect();
    let changes = parts::changes(&before, &seen, &ledger);
    let others: Vec<&str> = others.iter().map(String::as_str).collect();
    if !others.is_empty() {
        output::say(&safe_line(&format!("{} is not in {file}", fold(others.into_iter()))));
    }
    // Another result may have the whole of stdout.
    if !seen.is_empty() {
        output::say(report::parts::since(&changes, &record.id, settings.page).trim_end());
    }
    Ok(Ok(match (changes.is_empty(), silent.is_empty()) {
        (false, _) => exit::DRIFT,
        (true, false) => exit::UNREACHABLE,
        (true, true) => exit::OK,
    }))
}

/// Makes the directory that a vendor asks for.
async fn bundle(settings: &Settings, args: RmaArgs) -> anyhow::Result<u8> {
    let mut target = Target::of(args.inventory.clone(), Vec::new());
    (target.hosts, target.lab) = (Some(args.host.clone()), args.lab);
    let project = load(settings, &target)?;
    some_online(&project, false)?;
    let names: Vec<String> = project.online().map(|host| host.name.clone()).collect();
    let [name] = names.as_slice() else {
        return Err(Exit::new(exit::USAGE, format!("{} is more than one host", args.host)).into());
    };
    let cluster = settings.cluster_dir(&project.cluster);
    let cluster_name = project.cluster.clone();
    drop(project);
    let on = OnHosts { settings, target: &target, connect: &args.connect };
    let hosts = BTreeSet::from([name.clone()]);
    let (now, silent) = match parts_of(on, &hosts).await? {
        Ok(found) => found,
        Err(Stopped(code)) => return Ok(code),
    };
    let Some(host) = now.get(name) else {
        let reason = silent.get(name).map_or("it does not say why", String::as_str);
        return Err(Exit::new(exit::UNREACHABLE, format!("{name} was not asked: {reason}")).into());
    };
    let mut ledger: Ledger = ledger(&cluster)?;
    remember(&cluster, &ledger, "", &now, |_| &[])?;
    ledger.add(&parts::entry(&ledger, "", host, &[]));
    let at = events::now();
    let findings = journal::last_acceptance::<Record>(&cluster)
        .and_then(|record| record.hosts.get(name).map(|host| host.findings.clone()))
        .unwrap_or_default();
    let request = Request {
        cluster: &cluster_name,
        at,
        host,
        ledger: &ledger,
        findings: &findings,
        part: args.part.as_deref(),
    };
    let out =
        args.out.unwrap_or_else(|| Utf8PathBuf::from(format!("rma-{name}-{}", at.strftime("%Y%m%d-%H%M%S"))));
    disk::private_directory(&out).with_context(|| format!("cannot make {out}"))?;
    let mut left_out = BTreeMap::new();
    for item in parts::plan(&request) {
        let text = match item.content {
            Content::Text(text) => text,
            Content::Output { command, limit, keep } => {
                let mut said = None;
                let limited: Vec<String> =
                    ["timeout".to_owned(), limit.to_string()].into_iter().chain(command).collect();
                match on
                    .run(&hosts, &limited, DEADLINE, |_, status, text| said = Some((status, text)))
                    .await?
                {
                    Ok(_) => {}
                    Err(Stopped(code)) => return Ok(code),
                }
                match said {
                    Some((0, text)) => parts::kept(&text, &keep),
                    Some((status, text)) => {
                        let last = text.lines().last().unwrap_or("it printed nothing").to_owned();
                        left_out.insert(item.name, format!("status {status}: {last}"));
                        continue;
                    }
                    None => {
                        left_out.insert(item.name, "the host did not answer".to_owned());
                        continue;
                    }
                }
            }
        };
        let path = out.join(&item.name);
        disk::replace(&path, text.as_bytes()).with_context(|| format!("cannot write {path}"))?;
    }
    for (name, reason) in &left_out {
        output::say(&safe_line(&format!("{name} is left out: {reason}")));
    }
    output::say(&format!("written: {out}, which begins with README.txt"));
    Ok(exit::OK)
}
