//! `provision init`: from a list of hosts to a commented inventory that works.
//!
//! Look, ask, record, look again, write.

use std::collections::BTreeSet;

use anyhow::Context as _;
use camino::Utf8PathBuf;
use indexmap::IndexMap;

use super::trust;
use crate::cli::args::InitArgs;
use crate::cli::inventory_file;
use crate::exit::{self, Exit};
use crate::hostlist::fold;
use crate::init::{FirstLogin, Found, Problem, Root, explore, hosts, inventory, kinds_of};
use crate::inventory::{Host, Ssh};
use crate::report::output;
use crate::report::rows::hanging;
use crate::report::style::{BAD, paint, safe_line};
use crate::settings::Settings;
use crate::transport::quote;
use crate::trust::{append, names as names_of};

/// Runs the command; its exit code.
///
/// # Errors
/// When a host is written wrongly, a key is not accepted or nothing was found.
pub(crate) async fn run(settings: &Settings, args: InitArgs) -> anyhow::Result<u8> {
    inventory_file::check(&args.output, args.force)?;
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
    let identity_file = match &args.identity_file {
        Some(path) => Some(camino::absolute_utf8(path).with_context(|| format!("cannot use {path}"))?),
        None => None,
    };
    let login = Ssh {
        user: args.user.clone(),
        port: args.port,
        identity_file,
        known_hosts: Some(known_hosts.clone()),
        ..Ssh::default()
    };
    let (hosts, shown): (Vec<Host>, Vec<String>) =
        hosts(&args.hosts, &login)?.into_iter().map(|typed| (typed.host, typed.shown)).unzip();
    let first = if args.ask_pass {
        let first =
            FirstLogin::new(&args.cluster, args.account.as_deref(), args.identity_file.as_deref()).await?;
        output::say(&format!("each host gets this public key: {}", first.key_file()));
        Some(first)
    } else {
        None
    };
    let mut seen = trust::look(settings, &hosts).await?;
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
        trust::confirm(settings, args.trust, &names_of(&new), &format!("{} --trust", again(&args)))?;
        append(&new, &directory)?;
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
    inventory_file::write(&args.output, &text)?;
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
