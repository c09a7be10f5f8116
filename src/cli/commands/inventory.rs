//! `provision inventory`: resolved hosts, variables with their origin, host keys.

use anyhow::Context as _;
use serde_json::{Map, Value as Json, json};

use crate::cli::args::{InventoryCommand, JsonReport, Target};
use crate::cli::load::{checked, load, reachable};
use crate::cli::results;
use crate::exit;
use crate::inventory::Host;
use crate::put;
use crate::report::output;
use crate::report::style::{DIM, GOOD, paint, safe_line};
use crate::settings::Settings;

/// Runs the command; its exit code.
///
/// # Errors
/// What is wrong with the inventory, or a host key that is not recorded.
pub(crate) async fn run(settings: &Settings, command: InventoryCommand) -> anyhow::Result<u8> {
    match command {
        InventoryCommand::List { target, reports } => list(settings, &target, &reports),
        InventoryCommand::Show { target, reports } => show(settings, &target, &reports),
        InventoryCommand::Import { ansible, output, cluster, force } => {
            super::import::run(&ansible, &output, &cluster, force)
        }
        InventoryCommand::Trust { target, yes, replace } => {
            // What is wrong with the project is told before its hosts are connected to.
            let project = reachable(settings, &target, checked(load(settings, &target)?)?)?;
            let hosts: Vec<Host> = project.chosen().cloned().collect();
            let hosts_option = target
                .hosts
                .as_deref()
                .map(|hosts| format!(" --hosts {}", shlex::try_quote(hosts).unwrap_or_default()));
            let again = format!(
                "provision inventory trust {}{}{}",
                project.path,
                hosts_option.unwrap_or_default(),
                if replace { " --replace" } else { "" }
            );
            super::trust::record(settings, &hosts, &project.path, &again, yes, replace).await
        }
    }
}

fn login(host: &Host) -> String {
    if host.transport.is_this_machine() {
        return "(this machine)".to_owned();
    }
    let user = host.ssh.user.as_deref().map(|user| format!("{user}@")).unwrap_or_default();
    let port = host.ssh.port.filter(|port| *port != 22).map(|port| format!(":{port}")).unwrap_or_default();
    format!("{user}{}{port}", host.address)
}

fn list(settings: &Settings, target: &Target, reports: &JsonReport) -> anyhow::Result<u8> {
    let project = load(settings, target)?;
    let hosts: Vec<&Host> = project.chosen().collect();
    if let Some(file) = &reports.json {
        let hosts: Map<String, Json> =
            hosts.iter().map(|host| (host.name.clone(), host_json(host, false))).collect();
        results::write_json(file, &json!({ "version": 1, "cluster": project.cluster, "hosts": hosts }))?;
        return Ok(exit::OK);
    }
    let mut table = comfy_table::Table::new();
    table.load_style(comfy_table::presets::NOTHING).set_header(["HOST", "LOGIN", "GROUPS", "LABELS", ""]);
    for host in hosts {
        let groups: Vec<&str> = host.groups.iter().map(String::as_str).collect();
        let labels: Vec<String> = host.labels.iter().map(|(key, value)| format!("{key}={value}")).collect();
        let offline = host.offline.as_ref().map(|reason| format!("offline: {reason}")).unwrap_or_default();
        table.add_row([host.name.clone(), login(host), groups.join(" "), labels.join(" "), offline]);
    }
    let mut text = String::new();
    for line in table.lines() {
        // The table pads every cell on both sides.
        put!(text, "{}\n", line.trim_end().trim_start_matches(' '));
    }
    output::data(&text).context("cannot write to stdout")?;
    Ok(exit::OK)
}

fn show(settings: &Settings, target: &Target, reports: &JsonReport) -> anyhow::Result<u8> {
    let project = load(settings, target)?;
    let hosts: Vec<&Host> = project.chosen().collect();
    if let Some(file) = &reports.json {
        let hosts: Map<String, Json> =
            hosts.iter().map(|host| (host.name.clone(), host_json(host, true))).collect();
        results::write_json(file, &json!({ "version": 1, "cluster": project.cluster, "hosts": hosts }))?;
        return Ok(exit::OK);
    }
    let mut text = String::new();
    for host in hosts {
        put!(text, "{}  {}\n", paint(GOOD, &host.name), login(host));
        if let Some(reason) = &host.offline {
            put!(text, "  offline: {}\n", safe_line(reason));
        }
        let groups: Vec<&str> = host.groups.iter().map(String::as_str).collect();
        if !groups.is_empty() {
            put!(text, "  groups: {}\n", groups.join(", "));
        }
        for (key, value) in &host.labels {
            put!(text, "  label {key}={value}\n");
        }
        if !host.ssh.jump.is_empty() {
            put!(text, "  jump: {}\n", host.ssh.jump.join(", "));
        }
        for (name, variable) in &*host.vars {
            let place = project.sources.place(variable.span);
            let from = paint(DIM, &format!("{} {place}", variable.origin));
            put!(text, "  {name} = {}  {from}\n", safe_line(&variable.value.to_string()));
        }
        text.push('\n');
    }
    output::data(&text).context("cannot write to stdout")?;
    Ok(exit::OK)
}

fn host_json(host: &Host, vars: bool) -> Json {
    let mut object = json!({
        "address": host.address,
        "transport": host.transport,
        "user": host.ssh.user,
        "port": host.ssh.port,
        "jump": host.ssh.jump,
        "groups": host.groups,
        "labels": host.labels,
        "offline": host.offline,
    });
    if vars && let Some(fields) = object.as_object_mut() {
        let vars: Map<String, Json> = host
            .vars
            .iter()
            .map(|(name, variable)| {
                (name.clone(), json!({ "value": variable.value, "origin": variable.origin }))
            })
            .collect();
        fields.insert("vars".to_owned(), Json::Object(vars));
    }
    object
}
