//! `provision inventory trust`: host keys are shown, and recorded only when a person says so.

use std::collections::BTreeSet;

use anyhow::Context as _;
use camino::Utf8Path;

use crate::exit::{self, Exit};
use crate::inventory::Host;
use crate::report::rows::hanging;
use crate::report::style::{BAD, CHANGE, GOOD, paint, safe_line};
use crate::report::{output, prompt};
use crate::secrets::Secrets;
use crate::settings::Settings;
use crate::transport::{CONNECT, quote};
use crate::trust::{self, Contact, Entry, HostKey, Judged, KeyState, append, judged};

/// Connects to hosts with whatever key they show.
///
/// # Errors
/// When `ssh` cannot be used here.
pub(super) async fn look(settings: &Settings, hosts: &[Host]) -> anyhow::Result<Vec<Contact>> {
    let longest = hosts.iter().map(|host| host.ssh.login_timeout.unwrap_or(CONNECT)).max().unwrap_or(CONNECT);
    let waiting = |names: &str| {
        let text = format!("waiting for {}, at most {} s", safe_line(names), longest.as_secs());
        output::say(&hanging(&text, 2, settings.width));
    };
    Ok(trust::look(settings, hosts, &Secrets::default(), &waiting).await?)
}

/// Shows a key, and those that were recorded before it.
fn show(judged: &Judged<'_>, word: &str, width: Option<usize>) {
    let jump = if judged.jump { " (jump host)" } else { "" };
    let line = format!("{word}  {}{jump}  {}", safe_line(judged.name()), judged.key.fingerprint());
    output::say(&hanging(&line, 11, width));
    for old in judged.others() {
        let marker = old.marker.as_deref().map(|marker| format!(" {marker}")).unwrap_or_default();
        let place = format!("{}:{}", old.file, old.line);
        let line = format!("           recorded before in {place}:{marker} {}", old.key.fingerprint());
        output::say(&hanging(&line, 13, width));
    }
}

/// Shows what was seen. The keys to record; those that are not to be, and whether they are revoked.
pub(super) async fn review(
    settings: &Settings,
    seen: &[Contact],
    replace: bool,
) -> anyhow::Result<(Vec<Entry>, Vec<(HostKey, bool)>)> {
    let (mut entries, mut refused) = (Vec::new(), Vec::new());
    for judged in judged(settings, seen).await? {
        match &judged.state {
            KeyState::Known => show(&judged, &format!("{}    ", paint(GOOD, "known")), settings.width),
            KeyState::New => {
                let entry = judged.entry();
                if !entries.contains(&entry) {
                    show(&judged, &format!("{}      ", paint(CHANGE, "new")), settings.width);
                    entries.push(entry);
                }
            }
            KeyState::Changed(_) => {
                show(&judged, &format!("{}  ", paint(BAD, "changed")), settings.width);
                if replace {
                    entries.push(judged.entry());
                } else {
                    refused.push((judged.key.clone(), false));
                }
            }
            KeyState::Revoked(_) => {
                show(&judged, &format!("{}  ", paint(BAD, "revoked")), settings.width);
                refused.push((judged.key.clone(), true));
            }
        }
    }
    Ok((entries, refused))
}

/// `provision inventory trust`; `again` is that command as it was typed.
///
/// # Errors
/// When a key was not recorded, or a file cannot be written.
pub(crate) async fn record(
    settings: &Settings,
    hosts: &[Host],
    inventory: &Utf8Path,
    again: &str,
    yes: bool,
    replace: bool,
) -> anyhow::Result<u8> {
    let over_ssh: Vec<Host> =
        hosts.iter().filter(|host| host.transport.is_ssh() && host.offline.is_none()).cloned().collect();
    let site = inventory.parent().unwrap_or(Utf8Path::new(""));
    let named: BTreeSet<&Utf8Path> =
        over_ssh.iter().filter_map(|host| host.ssh.known_hosts.as_deref()).collect();
    for file in named {
        trust::held(file, site)?;
    }
    let mut seen = look(settings, &over_ssh).await?;
    for seen in &mut seen {
        if let Ok(remote) = &mut seen.login {
            remote.close().await;
        }
    }
    let (new, refused) = review(settings, &seen, replace).await?;
    let mut unreached = false;
    for seen in seen.iter().filter(|seen| seen.key.is_none()) {
        unreached = true;
        let reason = seen.login.as_ref().err().map_or("showed no key".to_owned(), ToString::to_string);
        output::say(&format!("{}  {}  {}", paint(BAD, "unreached"), seen.host.name, safe_line(&reason)));
    }
    if !refused.is_empty() {
        let names: Vec<&str> = refused.iter().map(|(key, _)| key.name.as_str()).collect();
        let show = if names.len() == 1 { "shows" } else { "show" };
        let mut error =
            Exit::new(exit::CONFIG, format!("{} {show} another key than the recorded one", names.join(", ")));
        if refused.iter().any(|(_, revoked)| *revoked) {
            error = error.hint(
                "a line with `@revoked` says that a key is never to be taken again: give the host a new one, or take the line away",
            );
        } else {
            let shows = |seen: &&Contact| {
                seen.key
                    .iter()
                    .chain(&seen.jumps)
                    .any(|key| refused.iter().any(|(refused, _)| refused == key))
            };
            let hosts: Vec<&str> = seen.iter().filter(shows).map(|seen| seen.host.name.as_str()).collect();
            error = error.hint(format!(
                "if they were reinstalled: provision inventory trust {} --hosts {} --replace",
                quote(inventory.as_str()),
                hosts.join(",")
            ));
        }
        return Err(error.into());
    }
    if !new.is_empty() {
        confirm(settings, yes, &trust::names(&new), &format!("{again} --yes"))?;
        append(&new, site)?;
        // Who replaces keys was in the middle of something, with options of its own.
        let next = if replace {
            "run again what was refused".to_owned()
        } else {
            format!(
                "next: provision plan {} (with --ask-become-pass where sudo wants a password)",
                quote(inventory.as_str())
            )
        };
        output::say(&format!("{} recorded in {}; {next}", keys(new.len()), trust::names(&new)));
    }
    Ok(if unreached { exit::UNREACHABLE } else { exit::OK })
}

/// Phrase that tells where the fingerprint of a host's own key can be read, for hints.
const COMPARE: &str = "what `ssh-keygen -lf /etc/ssh/ssh_host_ed25519_key.pub` prints on its host (at its console, or as its provider shows it)";

/// Asks whether the shown keys are the right ones, and may be recorded in `file`.
///
/// # Errors
/// When the answer is no, or nobody can be asked.
pub(crate) fn confirm(settings: &Settings, yes: bool, file: &str, command: &str) -> anyhow::Result<()> {
    if yes {
        return Ok(());
    }
    if !settings.interactive {
        return Err(Exit::new(
            exit::USAGE,
            "these keys are not recorded: there is no terminal to ask whether they are right",
        )
        .hint(format!("compare each key with {COMPARE}, then: {command}"))
        .into());
    }
    output::say(&hanging(&format!("compare each key with {COMPARE}"), 2, settings.width));
    let question = format!("Record these in {} as the keys of your hosts?", safe_line(file));
    if prompt::confirm(&question).context("cannot read the answer")? {
        Ok(())
    } else {
        Err(Exit::new(exit::USAGE, "you did not agree: no key is recorded, and nothing was touched").into())
    }
}

fn keys(number: usize) -> String {
    crate::words::count(number as u64, "key")
}
