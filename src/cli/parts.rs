//! Parts of hosts: asked for, and remembered in the ledger of their cluster.

use std::collections::{BTreeMap, BTreeSet};

use camino::Utf8Path;

use super::on_hosts::{DEADLINE, OnHosts, Stopped, last_line};
use crate::accept::parts::{self, HostParts, Ledger};
use crate::accept::record::Figure;
use crate::events;
use crate::exit::Exit;
use crate::journal;
use crate::report::output;

/// Reads what is known of the parts of a cluster; a line that is none is told.
pub(super) fn ledger(cluster: &Utf8Path) -> anyhow::Result<Ledger> {
    let bytes = journal::ledger(cluster).map_err(Exit::of)?;
    let ledger = Ledger::read(&bytes, None);
    for skipped in &ledger.skipped {
        output::say(&format!("line {} of the ledger of parts is left out: {}", skipped.line, skipped.why));
    }
    Ok(ledger)
}

/// Adds what is known now of the parts of hosts to the ledger. That it cannot be written is told, and no reason to stop.
pub(super) fn remember<'f>(
    cluster: &Utf8Path,
    ledger: &Ledger,
    run: &str,
    hosts: &BTreeMap<String, HostParts>,
    figures: impl Fn(&str) -> &'f [Figure],
) -> anyhow::Result<()> {
    let line = |(name, host): (&String, &HostParts)| {
        serde_json::to_string(&parts::entry(ledger, run, host, figures(name)))
    };
    let lines: Vec<String> = hosts.iter().map(line).collect::<Result<_, _>>()?;
    if let Err(error) = journal::add_to_ledger(cluster, &lines) {
        output::say(&format!("the parts are not remembered: {error}"));
    }
    Ok(())
}

/// Asks hosts for their parts; those that do not tell are named with the reason.
///
/// # Errors
/// When hosts cannot be asked.
pub(super) async fn parts_of(
    on: OnHosts<'_>,
    hosts: &BTreeSet<String>,
) -> anyhow::Result<Result<(BTreeMap<String, HostParts>, BTreeMap<String, String>), Stopped>> {
    let words = ["sh", "-c", parts::PARTS, "sh"].map(str::to_owned);
    let at = events::now();
    let mut found = BTreeMap::new();
    let mut silent = BTreeMap::new();
    let asked = on
        .run(hosts, &words, DEADLINE, |host, status, text| {
            let read =
                if status == 0 { parts::read(host, at, &text) } else { Err(last_line(&text).to_owned()) };
            match read {
                Ok(parts) => drop(found.insert(host.to_owned(), parts)),
                Err(reason) => drop(silent.insert(host.to_owned(), reason)),
            }
        })
        .await?;
    Ok(asked.map(|away| {
        silent.extend(away);
        (found, silent)
    }))
}
