//! `provision lab`: throw-away hosts for an inventory.

use anyhow::Context as _;
use camino::Utf8Path;
use serde_json::json;

use super::load::lab_spec;
use crate::cli::args::LabCommand;
use crate::cli::dispatch::Exit;
use crate::cli::launch;
use crate::cli::settings::Settings;
use crate::exit;
use crate::lab::{self, LabKind, LabSettings, LabState};
use crate::put;
use crate::report::output;
use crate::report::style::{CALM, VERB, paint};

/// Runs the command; its exit code.
///
/// # Errors
/// When the container engine or qemu does not do it.
pub(crate) async fn run(settings: &Settings, command: LabCommand) -> anyhow::Result<u8> {
    if let LabCommand::Matrix(args) = command {
        return super::matrix::run(settings, args).await;
    }
    let settings = settings.clone();
    // The engine's commands block.
    tokio::task::spawn_blocking(move || match command {
        LabCommand::Up { inventory, vm, profile, mirror, offline } => {
            let asked = LabSettings {
                kind: vm.then_some(LabKind::Vm),
                profile,
                mirror: mirror.then_some(true),
                offline: offline.then_some(true),
                ..LabSettings::default()
            };
            up(&settings, &inventory, asked)
        }
        LabCommand::Restart { inventory, hosts } => {
            let spec = lab_spec(&settings, &inventory)?;
            let state = lab::restart(&spec, &hosts, &mut say)?;
            output::data(&table(&state)).context("cannot write to stdout")?;
            Ok(exit::OK)
        }
        LabCommand::Down { inventory } => {
            let number = lab::down(&settings.state, &inventory, &mut say)?;
            output::say(&format!("{number} hosts removed"));
            Ok(exit::OK)
        }
        LabCommand::Fault { inventory, host, name } => {
            let fault = (name != "none").then_some(name.as_str());
            lab::break_host(&settings.state, &inventory, &host, fault)?;
            output::say(&format!("{host} has {}", fault.unwrap_or("no fault")));
            Ok(exit::OK)
        }
        // Went its own way above.
        LabCommand::Matrix(_) => Ok(exit::BUG),
        LabCommand::Profiles => {
            output::data(&profiles()?).context("cannot write to stdout")?;
            Ok(exit::OK)
        }
        LabCommand::Status { inventory, reports } => {
            let Some(state) = lab::status(&settings.state, &inventory)? else {
                return Err(down(&inventory));
            };
            if let Some(file) = &reports.json {
                launch::write_json(file, &json!(state))?;
            } else {
                output::data(&table(&state)).context("cannot write to stdout")?;
            }
            let all = state.hosts.iter().all(|host| host.running);
            Ok(if all { exit::OK } else { exit::UNREACHABLE })
        }
    })
    .await
    .context("the lab command was lost")?
}

/// The error when a lab is asked for that is not up.
pub(crate) fn down(inventory: &Utf8Path) -> anyhow::Error {
    Exit::new(exit::USAGE, format!("the lab of {inventory} is not up"))
        .hint(format!("provision lab up {inventory}"))
        .into()
}

fn say(text: &str) {
    output::say(&format!("{}{}  {text}", " ".repeat(VERB - 3), paint(CALM, "Lab")));
}

fn up(settings: &Settings, inventory: &Utf8Path, asked: LabSettings) -> anyhow::Result<u8> {
    let mut spec = lab_spec(settings, inventory)?;
    spec.settings = asked.or(&spec.settings);
    let state = lab::up(&spec, &mut say)?;
    output::data(&table(&state)).context("cannot write to stdout")?;
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
