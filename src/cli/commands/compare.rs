//! `provision compare`: what is different about the hosts that fail.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::time::Duration;

use anyhow::Context as _;
use camino::Utf8Path;

use crate::cli::args::{CompareArgs, Target};
use crate::cli::load::{load, reachable, some_online};
use crate::cli::on_hosts::last_line;
use crate::cli::results;
use crate::compare::{Answer, Fleet, look};
use crate::disk;
use crate::events;
use crate::exit::{self, Exit};
use crate::journal;
use crate::launch::{self, Executed};
use crate::project::Project;
use crate::report::{self, compare, output};
use crate::settings::Settings;

/// Longest time that a look at a host may take: what asks a driver that hangs has a limit of its own below it.
const DEADLINE: Duration = Duration::from_mins(3);

/// Hosts that are compared, by name.
#[derive(Debug, Default)]
struct Groups {
    bad: BTreeSet<String>,
    good: BTreeSet<String>,
    /// Hosts as they were: name, and until when.
    past: BTreeSet<(String, String)>,
}

/// Runs the command; its exit code.
///
/// # Errors
/// When a group is empty, a past look is not there, or hosts cannot be asked.
pub(crate) async fn run(settings: &Settings, args: CompareArgs) -> anyhow::Result<u8> {
    let groups = groups(settings, &args)?;
    let now: Vec<&str> = groups.bad.iter().chain(&groups.good).map(String::as_str).collect();
    let project = loaded(settings, &args, Some(now.join(",")))?;
    let cluster = settings.cluster_dir(&project.cluster);
    let past = past_looks(&cluster, &groups.past)?;
    let id = journal::new_run_id(events::now());
    // A digest of the past can be compared only with one of the same salt, so a cluster has one.
    let salt = salt(&cluster);
    let project = reachable(settings, &target(&args, None), project)?;
    some_online(&project, false)?;
    let argv = look(&salt);
    let exec = args.connect.exec(&argv, DEADLINE);
    let mut fleet = Fleet::new(salt);
    let mut left_out = BTreeMap::new();
    let mut take = |host: &str, status: i32, text: String| {
        let added = if status == 0 { fleet.add(host, &text) } else { Err(last_line(&text).to_owned()) };
        if let Err(reason) = added {
            left_out.insert(host.to_owned(), reason);
        }
    };
    let stopping = |reason: &str| output::say(&format!("stopping: {reason}"));
    let record = match launch::exec(settings, project, &exec, Some(&mut take), stopping).await? {
        Executed::Ended(record) => record,
        Executed::Left(code) => return Ok(code),
    };
    for (name, host) in &record.hosts {
        if let Some(reason) = host.status.as_ref().and_then(report::unreachable_reason) {
            left_out.insert(name.clone(), reason.to_owned());
        }
    }
    if keep(&cluster, &id, &fleet) {
        output::say(&format!("kept as {id}: compare a host with it by --good HOST@{id}"));
    }
    let mut good = groups.good.clone();
    for (name, until) in &groups.past {
        if let Some(known) = past.get(until) {
            let shown = format!("{name}@{until}");
            fleet.adopt(known, name, &shown)?;
            good.insert(shown);
        }
    }
    let mut answer =
        if groups.bad.is_empty() { fleet.clusters(&good) } else { fleet.compare(&groups.bad, &good) };
    answer.left_out = left_out;
    tell(settings, &args, &answer)?;
    refuse_empty(&groups, &answer)?;
    Ok(record.exit_code.unwrap_or(exit::BUG))
}

fn tell(settings: &Settings, args: &CompareArgs, answer: &Answer) -> anyhow::Result<()> {
    if let Some(file) = &args.reports.json {
        return results::write_json(file, answer);
    }
    output::data(&compare::text(answer, settings.page, args.all)).context("cannot write to stdout")
}

/// Whether a group has no host that could be looked at, and nothing was compared.
fn refuse_empty(groups: &Groups, answer: &Answer) -> Result<(), Exit> {
    let empty = |group| {
        Exit::new(exit::UNREACHABLE, format!("no {group} host could be looked at: nothing was compared"))
    };
    if !groups.bad.is_empty() && answer.bad.is_empty() {
        return Err(empty("bad"));
    }
    if answer.good.is_empty() { Err(empty("good")) } else { Ok(()) }
}

fn target(args: &CompareArgs, hosts: Option<String>) -> Target {
    let mut target = Target::of(args.inventory.clone(), Vec::new());
    (target.hosts, target.lab) = (hosts, args.lab);
    target
}

fn loaded(settings: &Settings, args: &CompareArgs, hosts: Option<String>) -> anyhow::Result<Project> {
    load(settings, &target(args, hosts))
}

fn names(project: &Project) -> BTreeSet<String> {
    project.online().map(|host| host.name.clone()).collect()
}

/// Finds the two groups.
fn groups(settings: &Settings, args: &CompareArgs) -> anyhow::Result<Groups> {
    let Some(bad) = &args.bad else {
        let all = loaded(settings, args, args.hosts.clone())?;
        return Ok(Groups { good: names(&all), ..Groups::default() });
    };
    let project = loaded(settings, args, Some(bad.clone()))?;
    let mut groups = Groups { bad: names(&project), ..Groups::default() };
    let Some(good) = &args.good else {
        let near: BTreeSet<&String> = project.online().flat_map(|host| &host.groups).collect();
        let others =
            project.hosts.iter().filter(|host| host.offline.is_none() && !groups.bad.contains(&host.name));
        let (alike, rest): (Vec<_>, Vec<_>) =
            others.partition(|host| host.groups.iter().any(|group| near.contains(group)));
        let picked = if alike.is_empty() { rest } else { alike };
        groups.good = picked.into_iter().map(|host| host.name.clone()).collect();
        if groups.good.is_empty() {
            let error = Exit::new(exit::USAGE, "there is no other host to compare with".to_owned());
            return Err(error
                .hint("name hosts that do not fail by --good, or a host as it was: --good gpu3@20261130")
                .into());
        }
        return Ok(groups);
    };
    let (past, now): (Vec<&str>, Vec<&str>) = pieces(good).into_iter().partition(|piece| is_past(piece));
    for piece in past {
        let (hosts, until) = piece.rsplit_once('@').unwrap_or((piece, ""));
        let project = loaded(settings, args, Some(hosts.to_owned()))?;
        groups.past.extend(project.chosen().map(|host| (host.name.clone(), until.to_owned())));
    }
    if !now.is_empty() {
        groups.good = names(&loaded(settings, args, Some(now.join(",")))?);
    }
    if let Some(both) = groups.good.intersection(&groups.bad).next() {
        return Err(Exit::new(exit::USAGE, format!("{both} is named by --bad and by --good")).into());
    }
    Ok(groups)
}

/// The pieces of an expression between commas that stand in no brackets.
fn pieces(text: &str) -> Vec<&str> {
    let mut depth = 0_u32;
    let split = text.split(|c: char| {
        match c {
            '[' | '(' => depth += 1,
            ']' | ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        c == ',' && depth == 0
    });
    split.map(str::trim).collect()
}

/// Whether a piece names hosts as they were.
fn is_past(piece: &str) -> bool {
    piece
        .rsplit_once('@')
        .is_some_and(|(hosts, until)| !hosts.is_empty() && until.starts_with(|c: char| c.is_ascii_digit()))
}

/// Reads the looks of which hosts are wanted, by the time until which they were taken.
fn past_looks(
    cluster: &Utf8Path,
    past: &BTreeSet<(String, String)>,
) -> anyhow::Result<BTreeMap<String, Fleet>> {
    let mut looks: BTreeMap<String, Fleet> = BTreeMap::new();
    for (name, until) in past {
        if looks.contains_key(until) {
            continue;
        }
        let Some(path) = journal::look_until(cluster, until) else {
            let error = Exit::new(exit::USAGE, format!("there is no look at {name} until {until}"));
            let first = journal::looks(cluster).into_iter().next();
            return Err(error
                .hint(first.map_or_else(
                    || "every `provision compare` keeps one: this is the first".to_owned(),
                    |first| format!("the oldest one that is kept is {first}"),
                ))
                .into());
        };
        let file = File::open(&path)
            .map_err(|error| Exit::new(exit::CONFIG, format!("{path}: {}", disk::short(&error))))?;
        let fleet = Fleet::read(file).map_err(|error| Exit::new(exit::CONFIG, format!("{path}: {error}")))?;
        looks.insert(until.clone(), fleet);
    }
    Ok(looks)
}

/// Keeps a look; what keeps it from being kept is told, and no reason to stop.
fn keep(cluster: &Utf8Path, id: &str, fleet: &Fleet) -> bool {
    let mut bytes = Vec::new();
    let kept = fleet
        .write(&mut bytes)
        .map_err(|error| error.to_string())
        .and_then(|()| journal::keep_look(cluster, id, &bytes).map_err(|error| error.to_string()));
    if let Err(reason) = &kept {
        output::say(&format!("this look is not kept: {reason}"));
    }
    kept.is_ok()
}

/// The salt of the newest look of a cluster, or a new one.
fn salt(cluster: &Utf8Path) -> String {
    let newest = journal::look_until(cluster, "9").and_then(|path| File::open(path).ok());
    let known = newest.and_then(|file| Fleet::read(file).ok()).map(|fleet| fleet.salt);
    known.filter(|salt| !salt.is_empty()).unwrap_or_else(|| uuid::Uuid::new_v4().simple().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commas_in_brackets_separate_nothing() {
        assert_eq!(pieces("gpu[0,2],gpu3@20261130, (a , b)"), ["gpu[0,2]", "gpu3@20261130", "(a , b)"]);
        let past: Vec<bool> = ["gpu3@20261130", "@failed", "gpu3", "a@b"].map(is_past).to_vec();
        assert_eq!(past, [true, false, false, false]);
    }
}
