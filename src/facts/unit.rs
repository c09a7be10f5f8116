//! systemd: one `systemctl show` for all units of a host, and one for properties of the manager.
//!
//! Format: systemctl(1) `show`: `Property=value` lines, a blank line between two units.

use serde::{Deserialize, Serialize};

use super::{Answer, Answers, Query, lines};
use crate::transport::Script;

/// A unit as systemd sees it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Unit {
    /// `loaded`, `not-found`, `masked`, `bad-setting`, `error`.
    pub load: String,
    /// `active`, `inactive`, `failed`, `activating`, `deactivating`, `reloading`.
    pub active: String,
    /// `running`, `exited`, `dead` ...
    pub sub: String,
    /// `enabled`, `disabled`, `static`, `masked`, `indirect`, `generated` ...; empty without a file.
    pub file: String,
    /// Whether its file changed after systemd read it.
    pub need_daemon_reload: bool,
    /// Whether it can be reloaded without a restart.
    pub can_reload: bool,
    /// Whether it is a job that ran to its end with success and is not meant to stay.
    pub done: bool,
}

pub(super) fn script(queries: &[Query]) -> Script {
    let mut script = Script::new(crate::shell!("facts/unit.sh"));
    for query in queries {
        if let Query::Unit(name) = query {
            script = script.arg(name.as_str());
        } else if let Query::Manager(property) = query {
            script = script.arg(format!("={property}"));
        }
    }
    script
}

fn read(output: &str) -> Vec<(Vec<&str>, Unit)> {
    let mut units: Vec<(Vec<&str>, Unit)> = Vec::new();
    let mut open = false;
    let (mut oneshot, mut remains, mut success, mut exited) = (false, false, false, false);
    for line in lines(output) {
        let Some((property, value)) = line.split_once('=') else {
            open = open && !line.is_empty();
            continue;
        };
        if !open {
            open = true;
            (oneshot, remains, success, exited) = (false, false, false, false);
            units.push((Vec::new(), Unit::default()));
        }
        let Some((names, unit)) = units.last_mut() else { continue };
        match property {
            "Id" => names.push(value),
            "Names" => names.extend(value.split(' ')),
            "LoadState" => value.clone_into(&mut unit.load),
            "ActiveState" => value.clone_into(&mut unit.active),
            "SubState" => value.clone_into(&mut unit.sub),
            "UnitFileState" => value.clone_into(&mut unit.file),
            "NeedDaemonReload" => unit.need_daemon_reload = value == "yes",
            "CanReload" => unit.can_reload = value == "yes",
            "Type" => oneshot = value == "oneshot",
            "RemainAfterExit" => remains = value == "yes",
            "Result" => success = value == "success",
            "ExecMainExitTimestampMonotonic" => exited = !matches!(value, "" | "0"),
            _ => {}
        }
        unit.done = oneshot && !remains && success && exited;
    }
    units
}

pub(super) fn parse(queries: &[Query], output: &[u8], _: i32) -> Answers {
    let output = String::from_utf8_lossy(output);
    let reason = match output.trim_end() {
        "no systemctl" => Some("no systemctl on the host"),
        "not booted" => Some("systemd does not run on the host"),
        _ => None,
    };
    let (units, manager) = output.split_once("\nmanager\n").unwrap_or((&output, ""));
    let units = if reason.is_some() { Vec::new() } else { read(units) };
    queries
        .iter()
        .filter_map(|query| {
            let answer = if let Some(reason) = reason {
                Answer::Unknown(reason.to_owned())
            } else if let Query::Unit(name) = query {
                let (_, unit) = units.iter().find(|(names, _)| names.contains(&name.as_str()))?;
                Answer::Unit(unit.clone())
            } else if let Query::Manager(name) = query {
                let value = lines(manager).find_map(|line| line.strip_prefix(name)?.strip_prefix('='))?;
                Answer::Manager(value.to_owned())
            } else {
                return None;
            };
            Some((query.clone(), answer))
        })
        .collect()
}
