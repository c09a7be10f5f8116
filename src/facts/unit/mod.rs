//! systemd: one `systemctl show` for all units of a host, and one for properties of the manager.
//!
//! Format: systemctl(1) `show`: `Property=value` lines, a blank line between two units.

use serde::{Deserialize, Serialize};

use super::{Answers, Family, Object, Query, Question, Told, Touches, after, answers, lines, of_type};
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
    /// `enabled`, `disabled`, `static`, `masked`, `indirect`, `generated` ...; empty without a file. Of a script in
    /// /etc/init.d whether it is started at boot.
    pub file: String,
    /// Whether its file changed after systemd read it.
    pub need_daemon_reload: bool,
    /// Whether it can be reloaded without a restart.
    pub can_reload: bool,
    /// Whether it is a job that ran to its end with success and is not meant to stay.
    pub done: bool,
    /// Whether its last start was skipped: a condition of its file did not hold, which is no failure for
    /// systemd (`ConditionResult` in org.freedesktop.systemd1(5)).
    pub unmet: bool,
}

/// A systemd unit, with its suffix.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct UnitQuery(pub String);

impl Question for UnitQuery {
    type Answer = Unit;
    const FAMILY: &'static Family = FAMILY;

    fn label(&self) -> String {
        format!("unit {}", self.0)
    }

    fn touched_by(&self, touches: &Touches) -> bool {
        touches.meets(&Object::Unit(self.0.clone())) || touches.unit_files()
    }
}

/// A property of systemd itself: `DefaultLimitMEMLOCK`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct ManagerQuery(pub String);

impl Question for ManagerQuery {
    type Answer = String;
    const FAMILY: &'static Family = FAMILY;

    fn label(&self) -> String {
        format!("manager {}", self.0)
    }

    fn touched_by(&self, touches: &Touches) -> bool {
        touches.units() || touches.unit_files()
    }
}

pub(crate) const FAMILY: &Family = &Family {
    chunk: 512,
    output: 16 << 10,
    tools: "`systemctl`",
    ..Family::new("unit", script, parse, read_label)
};

fn read_label(label: &str) -> Option<Query> {
    let unit = after("unit", label).map(|name| UnitQuery(name.to_owned()).into());
    unit.or_else(|| Some(ManagerQuery(after("manager", label)?.to_owned()).into()))
}

fn script(queries: &[Query]) -> Script {
    let units = of_type(queries).map(|UnitQuery(name)| name.clone());
    let properties = of_type(queries).map(|ManagerQuery(property)| format!("={property}"));
    Script::new(crate::shell!("facts/unit/unit.sh")).args(units.chain(properties))
}

fn read(output: &str) -> Vec<(Vec<&str>, Unit)> {
    let mut units: Vec<(Vec<&str>, Unit)> = Vec::new();
    let mut open = false;
    let (mut oneshot, mut remains, mut success, mut exited) = (false, false, false, false);
    let (mut holds, mut checked) = (true, false);
    let mut scripts: Vec<(&str, &str)> = Vec::new();
    for line in lines(output) {
        let Some((property, value)) = line.split_once('=') else {
            scripts.extend(line.strip_prefix("sysv ").and_then(|line| line.split_once(' ')));
            open = open && !line.is_empty();
            continue;
        };
        if !open {
            open = true;
            (oneshot, remains, success, exited) = (false, false, false, false);
            (holds, checked) = (true, false);
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
            // It is `no` as well where no start was tried yet.
            "ConditionResult" => holds = value != "no",
            "ConditionTimestampMonotonic" => checked = !matches!(value, "" | "0"),
            _ => {}
        }
        unit.unmet = checked && !holds;
        unit.done = oneshot && !remains && success && exited;
    }
    for (names, unit) in units.iter_mut().filter(|(_, unit)| unit.file == "generated") {
        if let Some((_, state)) = scripts.iter().find(|(script, _)| names.contains(script)) {
            (*state).clone_into(&mut unit.file);
        }
    }
    units
}

fn parse(queries: &[Query], output: &str, _: i32) -> Answers {
    let asked: Told<()> = match output.trim_end() {
        "no systemctl" => Err("systemctl is not installed".to_owned()),
        "not booted" => Err("systemd is not running on the host".to_owned()),
        _ => Ok(()),
    };
    let (units, manager) = output.split_once("\nmanager\n").unwrap_or((output, ""));
    let units = if asked.is_ok() { read(units) } else { Vec::new() };
    let mut all = answers(queries, |UnitQuery(name)| {
        let found = units.iter().find(|(names, _)| names.contains(&name.as_str()));
        told(&asked, found.map(|(_, unit)| unit.clone()))
    });
    all.extend(answers(queries, |ManagerQuery(name)| {
        let value = lines(manager).find_map(|line| line.strip_prefix(name)?.strip_prefix('='));
        told(&asked, value.map(str::to_owned))
    }));
    all
}

/// Returns what was found, or the reason why systemd could not be asked.
fn told<T>(asked: &Told<()>, found: Option<T>) -> Option<Told<T>> {
    match asked {
        Ok(()) => found.map(Ok),
        Err(reason) => Some(Err(reason.clone())),
    }
}
