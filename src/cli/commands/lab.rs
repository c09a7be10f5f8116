//! `provision lab`: throw-away hosts for an inventory.

use anyhow::Context as _;
use camino::Utf8Path;
use serde_json::json;

use crate::cli::args::{JsonReport, LabCommand};
use crate::cli::load::{lab_is_down, lab_spec};
use crate::cli::results;
use crate::config::did_you_mean_text;
use crate::exit::{self, Exit};
use crate::lab::{self, LabHostState, LabKind, LabSettings, LabState};
use crate::put;
use crate::report::output;
use crate::report::style::{CALM, VERB, paint};
use crate::settings::Settings;
use crate::transport::quote;

/// Runs the command; its exit code.
///
/// # Errors
/// When the container engine or qemu does not do it.
pub(crate) async fn run(settings: &Settings, command: LabCommand) -> anyhow::Result<u8> {
    let settings = settings.clone();
    match command {
        LabCommand::Matrix(args) => super::matrix::run(&settings, args).await,
        LabCommand::Up { inventory, vm, profile, release, family, mirror, offline } => {
            let asked = LabSettings {
                kind: vm.then_some(LabKind::Vm),
                profile,
                release,
                family,
                mirror: mirror.then_some(true),
                offline: offline.then_some(true),
                ..LabSettings::default()
            };
            blocking(move || up(&settings, &inventory, asked)).await
        }
        LabCommand::Restart { inventory, hosts } => {
            blocking(move || {
                let spec = lab_spec(&settings, &inventory)?;
                let state =
                    lab::status(&settings.state, &inventory)?.ok_or_else(|| lab_is_down(&inventory))?;
                for host in &hosts {
                    host_of(&state, host)?;
                }
                print(&table(&lab::restart(&spec, &hosts, &mut say)?))
            })
            .await
        }
        LabCommand::Down { inventory } => {
            blocking(move || {
                let number = lab::down(&settings.state, &inventory, &mut say)?;
                output::say(&format!("{number} hosts removed"));
                Ok(exit::OK)
            })
            .await
        }
        LabCommand::Fault { inventory, host, name } => {
            blocking(move || {
                let fault = (name != "none").then_some(name.as_str());
                let state =
                    lab::status(&settings.state, &inventory)?.ok_or_else(|| lab_is_down(&inventory))?;
                can_break(&state, &host, fault)?;
                lab::break_host(&settings.state, &inventory, &host, fault)?;
                output::say(&format!("{host} has {}", fault.unwrap_or("no fault")));
                Ok(exit::OK)
            })
            .await
        }
        LabCommand::Profiles => print(&profiles()?),
        LabCommand::Status { inventory, reports } => {
            blocking(move || status(&settings, &inventory, &reports)).await
        }
    }
}

/// The engine's commands block.
async fn blocking(work: impl FnOnce() -> anyhow::Result<u8> + Send + 'static) -> anyhow::Result<u8> {
    tokio::task::spawn_blocking(work).await.context("the lab command was lost")?
}

fn print(text: &str) -> anyhow::Result<u8> {
    output::data(text).context("cannot write to stdout")?;
    Ok(exit::OK)
}

fn status(settings: &Settings, inventory: &Utf8Path, reports: &JsonReport) -> anyhow::Result<u8> {
    let Some(state) = lab::status(&settings.state, inventory)? else {
        return Err(lab_is_down(inventory));
    };
    if let Some(file) = &reports.json {
        results::write_json(file, &json!(state))?;
    } else {
        print(&table(&state))?;
    }
    let all = state.hosts.iter().all(|host| host.running);
    Ok(if all { exit::OK } else { exit::UNREACHABLE })
}

/// A host of a lab that is up.
fn host_of<'a>(state: &'a LabState, name: &str) -> anyhow::Result<&'a LabHostState> {
    let found = state.hosts.iter().find(|host| host.name == name);
    found.ok_or_else(|| {
        let error = Exit::new(exit::USAGE, format!("the lab has no host {name}"));
        let known = state.hosts.iter().map(|host| host.name.as_str());
        match did_you_mean_text(name, known) {
            Some(hint) => error.hint(hint).into(),
            None => error.into(),
        }
    })
}

/// Whether a host has hardware that the fault is one of.
fn can_break(state: &LabState, host: &str, fault: Option<&str>) -> anyhow::Result<()> {
    let Some(profile) = &host_of(state, host)?.profile else {
        return Err(Exit::new(exit::USAGE, format!("{host} has no hardware profile"))
            .hint("name one under `lab: { profile: ... }` of the inventory; `provision lab profiles` lists them")
            .into());
    };
    if let Some(name) = fault {
        lab::fault::fault(name, profile).map_err(|error| {
            Exit::new(exit::USAGE, error.to_string()).hint("`provision lab profiles` lists faults")
        })?;
    }
    Ok(())
}

fn say(text: &str) {
    output::say(&format!("{}{}  {text}", " ".repeat(VERB - 3), paint(CALM, "Lab")));
}

fn up(settings: &Settings, inventory: &Utf8Path, asked: LabSettings) -> anyhow::Result<u8> {
    let mut spec = lab_spec(settings, inventory)?;
    spec.settings = asked.or(&spec.settings);
    let state = lab::up(&spec, &mut say)?;
    print(&table(&state))?;
    // Without this word they are the machines that the inventory names.
    let word = if spec.only { "" } else { " --lab" };
    output::say(&format!("use them: provision apply {}{word}", quote(inventory.as_str())));
    output::say(&format!(
        "look around: ssh -F {} {}",
        state.ssh_config,
        spec.hosts.first().map_or("HOST", |host| host.name.as_str())
    ));
    Ok(exit::OK)
}

fn profiles() -> anyhow::Result<String> {
    let mut text = String::new();
    let faults = lab::fault::faults()?;
    for name in lab::profile::names() {
        let profile = lab::profile::Profile::find(name, 1)?;
        let sources: Vec<String> =
            profile.sources.iter().map(|(kind, count)| format!("{count} {kind}")).collect();
        put!(text, "{name:12} {}\n{:12} entries: {}\n", profile.doc, "", sources.join(", "));
        for fault in faults.iter().filter(|fault| fault.fits(name)) {
            put!(text, "{:12}   {:24} {} ({})\n", "", fault.name, fault.doc, fault.finds.join(", "));
        }
    }
    Ok(text)
}

fn table(state: &LabState) -> String {
    let mut text = String::new();
    for host in &state.hosts {
        let running = if host.running { "running" } else { "down" };
        put!(text, "{:12} {}@{}:{}  {running}\n", host.name, state.user, host.address, host.port);
    }
    text
}
