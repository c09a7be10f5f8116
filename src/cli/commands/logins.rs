//! `provision logins`: the logins that stay after a run, and their end.

use std::collections::BTreeSet;
use std::time::Duration;

use anyhow::Context as _;
use jiff::Timestamp;
use serde_json::{Value as Json, json};

use crate::cli::args::LoginsArgs;
use crate::cli::results;
use crate::events;
use crate::exit::{self, Exit};
use crate::hostlist;
use crate::put;
use crate::report::output;
use crate::report::style::{safe_line, seconds};
use crate::settings::Settings;
use crate::transport::WarmLogin;
use crate::words::count;

/// Runs the command; its exit code.
///
/// # Errors
/// When the option is no host list, or the directory of the logins cannot be found.
pub(crate) async fn run(settings: &Settings, args: LoginsArgs) -> anyhow::Result<u8> {
    let hosts = args.hosts.as_deref().map(hostlist::expand).transpose();
    let hosts = hosts.map_err(|error| Exit::new(exit::USAGE, format!("--hosts: {}", error.message)))?;
    let hosts: Option<BTreeSet<String>> = hosts.map(|hosts| hosts.into_iter().collect());
    let mut logins = WarmLogin::all(settings.runtime_dir.as_deref()).await?;
    logins.retain(|login| hosts.as_ref().is_none_or(|hosts| hosts.contains(&login.host)));
    if args.end {
        futures::future::join_all(logins.iter().map(WarmLogin::end)).await;
    }
    let now = events::now();
    if let Some(file) = &args.reports.json {
        let logins: Vec<Json> = logins.iter().map(|login| object(login, now)).collect();
        results::write_json(file, &json!({ "version": 1, "ended": args.end, "logins": logins }))?;
        return Ok(exit::OK);
    }
    if args.end {
        output::say(&format!("{} ended", count(logins.len() as u64, "login")));
    } else {
        output::data(&table(&logins, now)).context("cannot write to stdout")?;
    }
    Ok(exit::OK)
}

fn since(login: &WarmLogin) -> Option<Timestamp> {
    Timestamp::try_from(login.since).ok()
}

/// Returns the time that is left until it ends; `None` while a run uses it.
fn left(login: &WarmLogin, now: Timestamp) -> Option<Duration> {
    let used = Timestamp::try_from(login.used).ok().filter(|_| !login.busy)?;
    let idle = Duration::try_from(now.duration_since(used)).unwrap_or_default();
    Some(login.persist.saturating_sub(idle))
}

fn object(login: &WarmLogin, now: Timestamp) -> Json {
    json!({
        "host": login.host,
        "address": login.address,
        "cluster": login.cluster,
        "since": since(login).map(|since| since.to_string()),
        "ends_in_seconds": left(login, now).map(|left| left.as_secs()),
    })
}

fn table(logins: &[WarmLogin], now: Timestamp) -> String {
    let mut table = comfy_table::Table::new();
    table
        .load_style(comfy_table::presets::NOTHING)
        .set_header(["HOST", "ADDRESS", "CLUSTER", "SINCE", "ENDS IN"]);
    for login in logins {
        let since = since(login).map(|since| since.strftime("%Y-%m-%d %H:%M:%S UTC").to_string());
        let left = left(login, now);
        table.add_row([
            safe_line(&login.host),
            safe_line(&login.address),
            safe_line(&login.cluster),
            since.unwrap_or_default(),
            left.map_or_else(|| "a run uses it".to_owned(), |left| seconds(left.as_secs_f64())),
        ]);
    }
    let mut text = String::new();
    for line in table.lines() {
        // The table pads every cell on both sides.
        put!(text, "{}\n", line.trim_end().trim_start_matches(' '));
    }
    text
}
