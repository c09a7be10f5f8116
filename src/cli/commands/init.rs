//! `provision init`: from a list of hosts to a commented inventory that works.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use anyhow::Context as _;
use camino::Utf8PathBuf;
use serde_json::Value as Json;

use super::trust::{self, Contact};
use crate::cli::args::InitArgs;
use crate::cli::dispatch::Exit;
use crate::cli::settings::Settings;
use crate::exit;
use crate::facts::{self, Facts};
use crate::hostlist;
use crate::inventory::{Host, Ssh, TransportKind};
use crate::put;
use crate::report::fold::fold;
use crate::report::output;
use crate::report::style::{BAD, paint, safe_line};
use crate::secrets::Secrets;
use crate::transport::{ConnectKind, Frame, Part, Remote, Script, quote};

/// What was found on a host.
#[derive(Debug)]
struct Found {
    host: Host,
    facts: Json,
    /// Whether the login is root, has sudo without a password, or with one.
    root: Root,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Root {
    Login,
    Sudo,
    SudoWithPassword,
    Nothing,
}

/// Runs the command; its exit code.
///
/// # Errors
/// When a host is written wrongly, a key is not accepted or nothing was found.
pub(crate) async fn run(settings: &Settings, args: InitArgs) -> anyhow::Result<u8> {
    if args.output.exists() && !args.force {
        return Err(Exit::new(exit::USAGE, format!("{} is already there", args.output))
            .hint("`--force` writes over it, `--output FILE` writes elsewhere")
            .into());
    }
    let directory = match args.output.parent() {
        Some(parent) if !parent.as_str().is_empty() => parent.to_owned(),
        _ => Utf8PathBuf::from("."),
    };
    let known_hosts =
        camino::absolute_utf8(directory.join("known_hosts")).context("cannot use the output's directory")?;
    let hosts = hosts(&args, &known_hosts)?;
    let seen = trust::look(settings, &hosts, &Secrets::default()).await?;
    let (new, refused) = trust::review(settings, &seen, false).await?;
    if let Some(key) = refused.first() {
        return Err(Exit::new(
            exit::CONFIG,
            format!("{known_hosts} has other keys for these hosts than they show"),
        )
        .hint(format!(
            "if they were reinstalled, remove the old keys: ssh-keygen -R {} -f {known_hosts}",
            quote(&key.name)
        ))
        .into());
    }
    if !new.is_empty() {
        trust::confirm(settings, args.trust, &again(&args))?;
        trust::append(&new)?;
    }
    let (found, problems) = explore(seen).await;
    for (name, text, hint) in &problems {
        output::say(&format!("{}  {name}  {}", paint(BAD, "no login"), safe_line(text)));
        if let Some(hint) = hint {
            output::say(&format!("          hint: {hint}"));
        }
    }
    if found.is_empty() {
        return Err(Exit::new(exit::UNREACHABLE, "no host accepted the login; nothing was written").into());
    }
    let text = inventory(&args, &found, &problems.iter().map(|(name, ..)| name.clone()).collect::<Vec<_>>());
    std::fs::write(&args.output, text).with_context(|| format!("cannot write {}", args.output))?;
    let ask = if found.iter().any(|found| found.root == Root::SudoWithPassword) {
        " --ask-become-pass"
    } else {
        ""
    };
    output::say(&format!("{} written: {} of {} hosts found", args.output, found.len(), hosts.len()));
    output::say(&format!("next: provision apply {}{ask}", args.output));
    output::say(&format!("      (or look first: provision plan {}{ask})", args.output));
    Ok(if problems.is_empty() { exit::OK } else { exit::UNREACHABLE })
}

/// The same command with the keys accepted.
fn again(args: &InitArgs) -> String {
    let mut words = vec!["provision init".to_owned()];
    words.extend(
        args.hosts
            .iter()
            .map(|host| if host.contains(['[', '&', ' ']) { format!("'{host}'") } else { host.clone() }),
    );
    if args.output != "inventory.yaml" {
        words.push(format!("--output {}", args.output));
    }
    if args.cluster != "cluster" {
        words.push(format!("--cluster {}", args.cluster));
    }
    words.extend(args.user.iter().map(|user| format!("--user {user}")));
    words.extend(args.port.iter().map(|port| format!("--port {port}")));
    words.extend(args.identity_file.iter().map(|path| format!("--identity-file {path}")));
    if args.force {
        words.push("--force".to_owned());
    }
    words.push("--trust".to_owned());
    words.join(" ")
}

/// `gpu[0-7]`, `ubuntu@10.0.0.1`, `10.0.0.1:2222` as hosts.
fn hosts(args: &InitArgs, known_hosts: &camino::Utf8Path) -> anyhow::Result<Vec<Host>> {
    let mut hosts: Vec<Host> = Vec::new();
    let mut names = BTreeSet::new();
    for word in &args.hosts {
        let usage = |why: String| Exit::new(exit::USAGE, format!("`{word}` is not a host: {why}"));
        let (user, rest) = match word.split_once('@') {
            Some((user, rest)) => (Some(user.to_owned()), rest),
            None => (args.user.clone(), word.as_str()),
        };
        let (rest, port) = match rest.rsplit_once(':') {
            Some((rest, port)) if !rest.contains(':') => {
                (rest, Some(port.parse().map_err(|_| usage(format!("`{port}` is not a port")))?))
            }
            _ => (rest, args.port),
        };
        let expanded = hostlist::expand(rest).map_err(|error| usage(error.message.clone()))?;
        for address in expanded {
            // Two ports of one address are two hosts.
            let mut name = plain_name(&address, hosts.len());
            if names.contains(&name) {
                name = format!("{name}-{}", hosts.len());
            }
            names.insert(name.clone());
            let identity_file = match &args.identity_file {
                Some(path) => {
                    Some(camino::absolute_utf8(path).with_context(|| format!("cannot use {path}"))?)
                }
                None => None,
            };
            hosts.push(Host {
                number: hostlist::number_of(&name),
                name,
                index: hosts.len(),
                groups: BTreeSet::new(),
                labels: BTreeMap::new(),
                offline: None,
                address,
                transport: TransportKind::Ssh,
                ssh: Ssh {
                    user: user.clone(),
                    port,
                    identity_file,
                    known_hosts: Some(known_hosts.to_owned()),
                    ..Ssh::default()
                },
                vars: BTreeMap::new(),
                nics: Json::Null,
                expect: Json::Null,
                mesh_user: None,
                span: crate::config::Span::NONE,
            });
        }
    }
    Ok(hosts)
}

/// A name for the inventory: an address becomes `node0`, a domain name its first label.
fn plain_name(address: &str, index: usize) -> String {
    let is_address = address.contains(':') || address.chars().all(|c| c.is_ascii_digit() || c == '.');
    match address.split('.').next() {
        Some(first) if !is_address && hostlist::is_name(first) => first.to_owned(),
        _ => format!("node{index}"),
    }
}

async fn explore(seen: Vec<Contact>) -> (Vec<Found>, Vec<(String, String, Option<String>)>) {
    let mut found = Vec::new();
    let mut problems = Vec::new();
    for seen in seen {
        match seen.login {
            Ok(mut remote) => {
                let (facts, root) = ask(remote.as_mut()).await;
                remote.close().await;
                found.push(Found { host: seen.host, facts, root });
            }
            Err(error) => {
                let (kind, text) = trust::login_problem(&error);
                let port = seen.host.ssh.port.map(|port| format!("-p {port} ")).unwrap_or_default();
                let user = seen.host.ssh.user.as_deref().map(|user| format!("{user}@")).unwrap_or_default();
                let hint = (kind == ConnectKind::KeyRefused).then(|| {
                    format!("put your key on the host: ssh-copy-id {port}{user}{}", seen.host.address)
                });
                problems.push((seen.host.name, text, hint));
            }
        }
    }
    (found, problems)
}

/// Facts and the way to root, as the login itself sees them.
async fn ask(remote: &mut dyn Remote) -> (Json, Root) {
    let deadline = Duration::from_secs(20);
    let queries =
        ["os", "hostname", "pci", "network", "arch"].iter().filter_map(|name| facts::base(name)).collect();
    let parts = facts::batch(&queries, deadline);
    let text = "if [ \"$(id -u)\" = 0 ]; then echo login; elif ! command -v sudo >/dev/null 2>&1; then echo nothing; \
                elif sudo -n true 2>/dev/null; then echo sudo; else echo password; fi";
    let mut frame = Frame { parts: parts.iter().map(|part| part.part.clone()).collect(), ..Frame::default() };
    frame.parts.push(Part { name: "sudo".to_owned(), script: Script::new(text), deadline, limit: 4096 });
    let mut facts = Facts::default();
    let mut root = Root::Nothing;
    let result = remote
        .run(&frame, &mut |end| match parts.get(end.index) {
            Some(part) => facts.absorb(part, &end),
            None => {
                root = match String::from_utf8_lossy(&end.output).trim() {
                    "login" => Root::Login,
                    "sudo" => Root::Sudo,
                    "password" => Root::SudoWithPassword,
                    _ => Root::Nothing,
                };
            }
        })
        .await;
    if let Err(error) = result {
        tracing::debug!(%error, "ask");
    }
    (facts.view(), root)
}

/// The model of the GPUs and RDMA-capable NICs of a host, for the comments.
fn hardware(facts: &Json) -> (u64, String, u64) {
    let empty = Vec::new();
    let list = |path: &str| facts.pointer(path).and_then(Json::as_array).unwrap_or(&empty).clone();
    let gpus = list("/pci/gpus");
    let nics = list("/pci/nics");
    let model = gpus
        .first()
        .and_then(|gpu| gpu.get("model").or_else(|| gpu.get("device")))
        .map_or_else(String::new, |model| model.as_str().unwrap_or("").to_owned());
    (gpus.len() as u64, model, nics.len() as u64)
}

/// The inventory as text: commented, and what `apply` takes.
fn inventory(args: &InitArgs, found: &[Found], problems: &[String]) -> String {
    let become_root = if found.iter().any(|found| matches!(found.root, Root::Sudo | Root::SudoWithPassword)) {
        "sudo"
    } else {
        "none"
    };
    let mut text = String::new();
    put!(
        text,
        "# yaml-language-server: $schema=./inventory.schema.json\n# Editors check this file with: provision generate schema inventory > inventory.schema.json\n# Written by `provision init`. `provision explain` and docs/ tell what can be added.\ncluster: {}\n\nssh:\n",
        args.cluster
    );
    let users: BTreeSet<_> = found.iter().filter_map(|found| found.host.ssh.user.clone()).collect();
    if let (1, Some(user)) = (users.len(), users.iter().next()) {
        put!(text, "  user: {user}\n");
    }
    if let Some(path) = found.iter().find_map(|found| found.host.ssh.identity_file.clone()) {
        put!(text, "  identity_file: {path}\n");
    }
    text.push_str(
        "  known_hosts: ./known_hosts    # strict; recorded by init, later by `provision inventory trust`\n",
    );
    let note = if found.iter().any(|found| found.root == Root::SudoWithPassword) {
        "    # wants a password: --ask-become-pass, or { method: sudo, password: { secret: NAME } }"
    } else {
        ""
    };
    put!(text, "  become: {become_root}{note}\n\n");
    text.push_str("# What is done, in this order; `provision playbook list` shows what is built in.\nplaybooks:\n  - base\n\n");
    let mut groups: BTreeMap<(u64, String), Vec<&Found>> = BTreeMap::new();
    for found in found {
        let (count, model, _) = hardware(&found.facts);
        groups.entry((count, model)).or_default().push(found);
    }
    text.push_str("groups:\n");
    let several = groups.keys().filter(|(count, _)| *count > 0).count() > 1;
    for (number, ((count, model), members)) in groups.iter().enumerate() {
        let name = match (*count > 0, several) {
            (true, false) => "gpu".to_owned(),
            (true, true) => format!("gpu{number}"),
            (false, _) => "nodes".to_owned(),
        };
        let names: Vec<&str> = members.iter().map(|found| found.host.name.as_str()).collect();
        let (_, _, nics) = members.first().map_or((0, String::new(), 0), |found| hardware(&found.facts));
        let os = members.first().map(|found| {
            let word =
                |path: &str| found.facts.pointer(path).and_then(Json::as_str).unwrap_or("?").to_owned();
            safe_line(&format!("{} {}", word("/os/id"), word("/os/version")))
        });
        put!(
            text,
            "  {name}:    # {}; GPUs: {count}{}; RDMA-capable NICs: {nics}\n    hosts: \"{}\"\n",
            os.unwrap_or_default(),
            if model.is_empty() { String::new() } else { format!(" ({})", safe_line(model)) },
            fold(&names)
        );
    }
    text.push_str("\nhosts:\n");
    for found in found {
        let host = &found.host;
        let mut ssh = Vec::new();
        if let Some(port) = host.ssh.port {
            ssh.push(format!("port: {port}"));
        }
        if users.len() > 1
            && let Some(user) = &host.ssh.user
        {
            ssh.push(format!("user: {user}"));
        }
        let ssh = if ssh.is_empty() { String::new() } else { format!(", ssh: {{ {} }}", ssh.join(", ")) };
        put!(text, "  {}: {{ address: \"{}\"{ssh} }}\n", host.name, host.address);
    }
    for name in problems {
        put!(text, "  # {name}: it did not accept the login; run init again when it does\n");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_writes_nothing_into_the_inventory() {
        let args = InitArgs {
            hosts: vec!["gpu0".to_owned()],
            output: "inventory.yaml".into(),
            cluster: "c".to_owned(),
            user: None,
            port: None,
            identity_file: None,
            trust: true,
            force: false,
        };
        let host = hosts(&args, "known_hosts".into()).unwrap().remove(0);
        let forged = "x\nvars: { evil: 1 }\u{2028}vars: {}\u{85}y";
        let facts = serde_json::json!({
            "os": { "id": forged, "version": forged },
            "pci": { "gpus": [{ "model": forged }] },
        });
        let text = inventory(&args, &[Found { host, facts, root: Root::Login }], &[]);
        let forged = text.lines().filter(|line| line.contains("evil"));
        assert!(forged.map(str::trim_start).all(|line| line.starts_with("gpu:    # x vars")), "{text}");
        assert!(!text.contains(['\u{2028}', '\u{85}']), "{text}");
    }
}
