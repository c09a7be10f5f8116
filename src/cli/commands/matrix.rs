//! `provision lab matrix`: what `verify` finds of the lab's faults, and what it misses.

use anyhow::Context as _;
use camino::{Utf8Path, Utf8PathBuf};
use serde_json::{Value as Json, json};

use super::verify::{self, Kept, Look};
use crate::cli::args::{Connect, MatrixArgs, Reports, STDOUT, Target, ThisMachine};
use crate::cli::load::lab_spec;
use crate::cli::results;
use crate::events::Record;
use crate::exit::{self, Exit};
use crate::lab;
use crate::lab::fault::{Fault, excuses, faults};
use crate::lab::matrix::{self, Row, Sums};
use crate::lab::profile::{self, Profile};
use crate::report::output;
use crate::report::screen::Verbosity;
use crate::report::style::{BAD, GOOD, paint};
use crate::settings::Settings;
use crate::words::count;

/// Hosts of a lab: the last one is always healthy, the others take a fault each.
const HOSTS: usize = 4;

/// Runs the command; exit code 6 when something is missed or said for nothing.
///
/// # Errors
/// When a lab does not come up.
pub(crate) async fn run(settings: &Settings, args: MatrixArgs) -> anyhow::Result<u8> {
    let to_stdout = [args.json.as_deref(), args.markdown.as_deref().map(Utf8Path::as_str)];
    results::one_on_stdout(to_stdout.iter().filter(|file| **file == Some(STDOUT)).count())?;
    let all = faults()?;
    let known: Vec<&str> = profile::names().collect();
    if let Some(unknown) = args.profiles.iter().find(|name| !known.contains(&name.as_str())) {
        let text = format!("there is no hardware profile `{unknown}`");
        return Err(Exit::new(exit::USAGE, text).hint("provision lab profiles").into());
    }
    if let Some(unknown) = args.faults.iter().find(|name| !all.iter().any(|fault| fault.name == **name)) {
        let text = format!("there is no fault `{unknown}`");
        return Err(Exit::new(exit::USAGE, text).hint("provision lab profiles").into());
    }
    let chosen: Vec<&str> = known
        .into_iter()
        .filter(|name| args.profiles.is_empty() || args.profiles.iter().any(|it| it == name))
        .collect();
    let mut rows = Vec::new();
    let mut profiles = Vec::new();
    for name in chosen {
        let wanted = |fault: &&Fault| {
            fault.fits(name) && (args.faults.is_empty() || args.faults.contains(&fault.name))
        };
        let these: Vec<Fault> = all.iter().filter(wanted).cloned().collect();
        let profile = Profile::find(name, 1)?;
        let began = std::time::Instant::now();
        let found = Trial::new(settings, &profile)?.rows(&these).await?;
        say(name, &found, began.elapsed().as_secs());
        rows.extend(found);
        profiles.push(profile);
    }
    let sums = Sums::of(&rows);
    if let Some(file) = &args.markdown {
        results::write_result(file, &matrix::page(&rows, &profiles, &all, &excuses()?))?;
    }
    if let Some(file) = &args.json {
        results::write_json(file, &matrix::object(&rows))?;
    }
    output::say(&format!(
        "{} of {} found, {} unrelated, {} of {} healthy hosts without a finding",
        sums.found,
        count(sums.faults as u64, "fault"),
        sums.unrelated,
        sums.healthy,
        sums.without
    ));
    Ok(if sums.is_right() { exit::OK } else { exit::DRIFT })
}

fn say(name: &str, rows: &[Row], seconds: u64) {
    let sums = Sums::of(rows);
    let style = if sums.is_right() { GOOD } else { BAD };
    output::say(&format!(
        "{} {} of {} faults found, {} unrelated, {seconds} s",
        paint(style, &format!("{name:>14}")),
        sums.found,
        sums.faults,
        sums.unrelated
    ));
    for row in rows.iter().filter(|row| !row.is_right()) {
        let fault = row.fault.as_deref().unwrap_or("healthy");
        output::say(&format!("{:>14} {fault} on {}", "", row.host));
        for (word, what) in
            [("missed", &row.missing), ("unrelated", &row.unrelated), ("without a hint", &row.no_hint)]
        {
            for text in what {
                output::say(&format!("{:>16} {word}: {text}", ""));
            }
        }
        if row.passed == 0 {
            output::say(&format!("{:>16} no check passed", ""));
        }
    }
}

/// The lab of one profile, gone when it is done.
struct Trial<'a> {
    settings: Settings,
    folder: Utf8PathBuf,
    inventory: Utf8PathBuf,
    profile: &'a Profile,
}

impl<'a> Trial<'a> {
    /// Writes an inventory of such hosts. Its state is its own: baselines of earlier trials would be
    /// those of other faults.
    fn new(settings: &Settings, profile: &'a Profile) -> anyhow::Result<Self> {
        let folder =
            settings.cache.join("lab-matrix").join(format!("{}-{}", profile.name, std::process::id()));
        std::fs::create_dir_all(&folder).with_context(|| format!("cannot make {folder}"))?;
        let folder = folder.canonicalize_utf8()?;
        let mut group = json!({ "hosts": format!("gpu[0-{}]", HOSTS - 1) });
        if let (Some(all), Some(own)) = (group.as_object_mut(), profile.inventory.as_object()) {
            all.extend(own.clone());
        }
        let inventory = json!({
            "cluster": format!("matrix-{}", profile.name),
            "lab": { "profile": profile.name },
            "playbooks": ["./nothing.yaml"],
            "groups": { "gpu": group },
        });
        let path = folder.join("inventory.yaml");
        write(&folder.join("nothing.yaml"), &json!({ "name": "nothing", "tasks": [] }))?;
        write(&path, &inventory)?;
        let settings = Settings {
            state: folder.join("state"),
            verbosity: Verbosity::Quiet,
            progress: false,
            ..settings.clone()
        };
        Ok(Self { settings, folder, inventory: path, profile })
    }

    /// Brings the lab up, tries everything, takes it down whatever happened.
    async fn rows(self, faults: &[Fault]) -> anyhow::Result<Vec<Row>> {
        let spec = lab_spec(&self.settings, &self.inventory)?;
        let up = blocking(move || lab::up(&spec, &mut |_| {}).map(drop)).await;
        let rows = match up {
            Ok(()) => self.tried(faults).await,
            Err(error) => Err(error),
        };
        let (state, inventory) = (self.settings.state.clone(), self.inventory.clone());
        let gone = blocking(move || lab::down(&state, &inventory, &mut |_| {}).map(drop)).await;
        let removed = std::fs::remove_dir_all(&self.folder);
        let rows = rows?;
        gone?;
        removed.with_context(|| format!("cannot remove {}", self.folder))?;
        Ok(rows)
    }

    async fn tried(&self, faults: &[Fault]) -> anyhow::Result<Vec<Row>> {
        // Counters are compared with the verify before: this one only looks.
        self.verify().await?;
        let mut rows = self.round(&[]).await?;
        for round in matrix::rounds(faults, HOSTS - 1) {
            rows.extend(self.round(&round).await?);
        }
        // Nothing of a fault may stay when it is mended.
        rows.extend(self.round(&[]).await?);
        Ok(rows)
    }

    /// Sets one fault on each of the first hosts, mends the others, and verifies.
    async fn round(&self, faults: &[&Fault]) -> anyhow::Result<Vec<Row>> {
        let on: Vec<(String, Option<String>)> = (0..HOSTS)
            .map(|host| (format!("gpu{host}"), faults.get(host).map(|fault| fault.name.clone())))
            .collect();
        let (state, inventory) = (self.settings.state.clone(), self.inventory.clone());
        blocking(move || {
            let on: Vec<(&str, Option<&str>)> =
                on.iter().map(|(host, name)| (host.as_str(), name.as_deref())).collect();
            lab::break_hosts(&state, &inventory, &on).map(drop)
        })
        .await?;
        let record = self.verify().await?;
        let mut rows = Vec::new();
        for (number, (host, entry)) in record.hosts.iter().enumerate() {
            let fault = faults.get(number).copied();
            let mut row = matrix::judge(&self.profile.name, host, fault, &entry.checks);
            if let Some(fault) = fault {
                row.kinds = fault.apply(&mut self.profile.clone())?;
            }
            rows.push(row);
        }
        Ok(rows)
    }

    async fn verify(&self) -> anyhow::Result<Record> {
        let target = Target::of(self.inventory.clone(), Vec::new());
        let here = ThisMachine::default();
        let connect = Connect { parallel: None, ask_become_pass: false, allow_unreachable: 0 };
        let (finished, _) = verify::once(
            &self.settings,
            (&target, &here),
            &connect,
            &Reports::default(),
            Look::NOTHING,
            Kept::Recorded,
        )
        .await?;
        Ok(finished.record)
    }
}

fn write(path: &Utf8Path, value: &Json) -> anyhow::Result<()> {
    // JSON is YAML.
    std::fs::write(path, serde_json::to_string_pretty(value)? + "\n")
        .with_context(|| format!("cannot write {path}"))
}

/// The container engine's commands block.
async fn blocking(work: impl FnOnce() -> anyhow::Result<()> + Send + 'static) -> anyhow::Result<()> {
    tokio::task::spawn_blocking(work).await.context("the lab command was lost")?
}
