//! The command: look, ask, record, look again, write.

use std::collections::BTreeSet;
use std::time::Duration;

use anyhow::Context as _;
use camino::Utf8PathBuf;
use indexmap::IndexMap;
use serde_json::Value as Json;

use super::first::First;
use super::text::{inventory, kinds_of};
use super::words::hosts;
use crate::cli::args::InitArgs;
use crate::cli::commands::key_files;
use crate::cli::commands::made;
use crate::cli::commands::trust::{self, Contact};
use crate::cli::dispatch::Exit;
use crate::cli::settings::Settings;
use crate::engine::put_key;
use crate::exit;
use crate::facts::{self, Facts};
use crate::hostlist::{dashed, fold};
use crate::inventory::Host;
use crate::report::output;
use crate::report::rows::hanging;
use crate::report::style::{BAD, paint, safe_line};
use crate::secrets::Secrets;
use crate::transport::{ConnectKind, Frame, Part, Remote, Script, quote};

/// A host that was looked at, with the facts found there.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) host: Host,
    pub(super) facts: Json,
    /// Whether the login is root, has sudo without a password, or with one.
    pub(super) root: Root,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Root {
    Login,
    Sudo,
    SudoWithPassword,
    Nothing,
}

/// A host that could not be looked at, and why.
#[derive(Debug)]
pub(super) struct Problem {
    pub(super) host: Host,
    /// Text that was typed for it.
    pub(super) shown: String,
    pub(super) text: String,
    pub(super) hint: Option<String>,
}

/// Runs the command; its exit code.
///
/// # Errors
/// When a host is written wrongly, a key is not accepted or nothing was found.
pub(crate) async fn run(settings: &Settings, args: InitArgs) -> anyhow::Result<u8> {
    made::check(&args.output, args.force)?;
    if let Some(file) = args.identity_file.as_ref().filter(|file| !file.is_file()) {
        let error = Exit::new(exit::USAGE, format!("there is no file {file}"));
        return Err(error.hint("`-i` names the private key that logs in").into());
    }
    let directory = match args.output.parent() {
        Some(parent) if !parent.as_str().is_empty() => parent.to_owned(),
        _ => Utf8PathBuf::from("."),
    };
    let known_hosts =
        camino::absolute_utf8(directory.join("known_hosts")).context("cannot use the output's directory")?;
    let (hosts, shown): (Vec<Host>, Vec<String>) =
        hosts(&args, &known_hosts)?.into_iter().map(|typed| (typed.host, typed.shown)).unzip();
    let first = if args.ask_pass { Some(First::new(&args).await?) } else { None };
    let mut seen = trust::look(settings, &hosts, &Secrets::default()).await?;
    for contact in &mut seen {
        if let Some(shown) = shown.get(contact.host.index) {
            contact.shown.clone_from(shown);
        }
    }
    let (new, refused) = trust::review(settings, &seen, false).await?;
    if !refused.is_empty() {
        let names: BTreeSet<String> = refused.iter().map(|(key, _)| quote(&key.name).into_owned()).collect();
        let names = names.into_iter().collect::<Vec<_>>().join(" ");
        let file = quote(known_hosts.as_str());
        return Err(Exit::new(
            exit::CONFIG,
            format!("{known_hosts} has other keys for these hosts than they show"),
        )
        .hint(format!(
            "if they were reinstalled, remove the old keys: echo {names} | xargs -n 1 ssh-keygen -f {file} -R"
        ))
        .into());
    }
    if !new.is_empty() {
        trust::confirm(settings, args.trust, &key_files::names(&new), &format!("{} --trust", again(&args)))?;
        key_files::append(&new, &directory)?;
    }
    let told = match &first {
        Some(first) => first.log_in(settings, &mut seen).await?,
        None => BTreeSet::new(),
    };
    let (mut found, mut problems) = explore(seen, args.ask_pass).await;
    if let Some(account) = &args.account {
        let no_root = found.extract_if(.., |found| found.root != Root::Sudo);
        problems.extend(no_root.map(|Found { host, .. }| Problem {
            shown: shown.get(host.index).cloned().unwrap_or_default(),
            text: format!("{account} logs in, and sudo there wants a password for it or is refused"),
            hint: Some(format!(
                "look whether /etc/sudoers includes /etc/sudoers.d, and for a rule after that of provision-{account}"
            )),
            host,
        }));
    }
    // Hosts with one reason are one line.
    let mut reasons: IndexMap<(&str, Option<&str>), Vec<&str>> = IndexMap::new();
    for Problem { shown, text, hint, .. } in problems.iter().filter(|it| !told.contains(&it.host.name)) {
        // ssh says to whom itself.
        let text = text.strip_prefix(&format!("{shown}: ")).unwrap_or(text);
        reasons.entry((text, hint.as_deref())).or_default().push(shown);
    }
    for ((text, hint), hosts) in reasons {
        let line = format!("{}  {}  {}", paint(BAD, "no login"), safe_line(&fold(hosts)), safe_line(text));
        output::say(&hanging(&line, 10, settings.width));
        if let Some(hint) = hint {
            output::say(&hanging(&format!("          hint: {hint}"), 16, settings.width));
        }
    }
    if found.is_empty() {
        let recorded = if new.is_empty() {
            String::new()
        } else {
            format!("; the keys of the hosts are recorded in {known_hosts}")
        };
        let message = format!("no host could be looked at: {} was not written{recorded}", args.output);
        return Err(Exit::new(exit::UNREACHABLE, message).into());
    }
    let text = inventory(&args.cluster, &found, &problems);
    made::write(&args.output, &text)?;
    let ask = if found.iter().any(|found| found.root == Root::SudoWithPassword) {
        " --ask-become-pass"
    } else {
        ""
    };
    output::say(&format!("{} written: {} of {} hosts found", args.output, found.len(), hosts.len()));
    for line in kinds_of(&found) {
        output::say(&hanging(&format!("  {line}"), 4, settings.width));
    }
    if !problems.is_empty() {
        let others = crate::words::count(problems.len() as u64, "host");
        let command = again(&InitArgs { force: true, ..args.clone() });
        // The command is to be copied: it is not broken.
        output::say(&format!("{others} could not be looked at, which is told above. When that is mended:"));
        output::say(&format!("  {command}"));
    }
    let written = quote(args.output.as_str());
    output::say(&format!("next: provision apply {written}{ask}"));
    output::say(&format!("      (or look first: provision plan {written}{ask})"));
    output::say(&format!("then: provision verify {written}{ask}"));
    Ok(if problems.is_empty() { exit::OK } else { exit::UNREACHABLE })
}

/// The same command.
fn again(args: &InitArgs) -> String {
    let mut words = vec!["provision init".to_owned()];
    words.extend(args.hosts.iter().map(|host| quote(host).into_owned()));
    if args.output != "inventory.yaml" {
        words.push(format!("--output {}", quote(args.output.as_str())));
    }
    if args.cluster != "cluster" {
        words.push(format!("--cluster {}", quote(&args.cluster)));
    }
    words.extend(args.user.iter().map(|user| format!("--user {}", quote(user))));
    words.extend(args.port.iter().map(|port| format!("--port {port}")));
    words.extend(args.identity_file.iter().map(|path| format!("--identity-file {}", quote(path.as_str()))));
    words.extend(args.ask_pass.then(|| "--ask-pass".to_owned()));
    words.extend(args.account.iter().map(|account| format!("--account {}", quote(account))));
    if args.force {
        words.push("--force".to_owned());
    }
    words.join(" ")
}

async fn explore(seen: Vec<Contact>, asked: bool) -> (Vec<Found>, Vec<Problem>) {
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
                let hint = if kind == ConnectKind::KeyRefused && asked {
                    // Hosts that did not get the key are told of before.
                    Some("your key is on the host and was not taken: if it has a passphrase, unlock it by ssh-add in a shell with an ssh-agent, and repeat the command".to_owned())
                } else if kind == ConnectKind::KeyRefused {
                    let more = "or let `provision init` put it there, on all hosts: add --ask-pass";
                    Some(format!("{}; {more}", put_key(&seen.host)))
                } else {
                    let range = dashed(&seen.host.address).filter(|_| kind == ConnectKind::NameUnknown);
                    range.map(|range| format!("a range has brackets: `{range}`")).or_else(|| mend(kind))
                };
                problems.push(Problem { host: seen.host, shown: seen.shown, text, hint });
            }
        }
    }
    (found, problems)
}

/// Returns the advice for a host that was not reached.
fn mend(kind: ConnectKind) -> Option<String> {
    let far = matches!(kind, ConnectKind::NoRoute | ConnectKind::TimedOut | ConnectKind::Closed);
    let text = if kind == ConnectKind::Refused {
        "no sshd on that port: start it, or type the port, as in `gpu0=10.0.0.1:2222`"
    } else if kind == ConnectKind::NameUnknown {
        "type its address, as in `gpu0=10.0.0.1`"
    } else if far {
        "look at its address, and whether it is up: `ssh -v` to it says more"
    } else {
        return None;
    };
    Some(text.to_owned())
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
