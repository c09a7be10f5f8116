//! A systemd unit of ours that runs a command at each boot: for state that no file of the system
//! keeps.

use crate::facts::unit::{Unit, UnitQuery};
use crate::facts::{Facts, Object, Query};
use crate::resources::services::service::Service;
use crate::resources::shared::content::RegularFile;
use crate::resources::shared::known;
use crate::resources::shared::value::Presence;
use crate::resources::{Attribute, Change, Detail, Disruption, Planned, Resource as _};
use crate::transport::Script;

/// The unit with its file in `/etc/systemd/system`.
#[derive(Debug)]
pub(in crate::resources) struct BootUnit {
    pub(in crate::resources) name: String,
    file: RegularFile,
}

impl BootUnit {
    /// One that runs a command at boot, and again each time that the link comes, as it does when its
    /// driver is reloaded. A link that is not there holds up no boot: the command must bear that.
    /// `command` is one line for `sh` without single quotes; it is made of checked names only.
    pub(in crate::resources) fn new(name: String, what: &str, netdev: &str, command: &str) -> Self {
        let device = format!("sys-subsystem-net-devices-{}.device", escape(netdev));
        // In a unit's command `%` and `$` have meanings of their own.
        let command = command.replace('%', "%%").replace('$', "$$");
        let text = format!(
            "# Written by provision.\n[Unit]\nDescription={what}\nAfter={device} systemd-modules-load.service network-pre.target\n\n[Service]\nType=oneshot\nExecStart=/bin/sh -c '{command}'\n\n[Install]\nWantedBy=multi-user.target {device}\n"
        );
        let file = RegularFile::drop_in(format!("/etc/systemd/system/{name}"), text);
        Self { name, file }
    }

    pub(in crate::resources) fn objects(&self) -> [Object; 2] {
        [Object::Path(self.file.path.0.clone()), Object::Unit(self.name.clone())]
    }

    pub(in crate::resources) fn queries(&self) -> Vec<Query> {
        let mut queries = self.file.queries();
        queries.push(UnitQuery(self.name.clone()).into());
        queries
    }

    pub(in crate::resources) fn manages(&self, state: Presence) -> Vec<(Object, String)> {
        self.file.manages_state(state)
    }

    /// Plans what is due for it to be written and enabled, or gone. It is not started.
    pub(in crate::resources) fn plan(&self, state: Presence, facts: &Facts) -> Planned {
        let mut changes = self.file.plan_state(state, facts)?;
        let object = Object::Unit(self.name.clone());
        let query = UnitQuery(self.name.clone());
        let unit = known::answer(facts, &query, &object)?;
        if state == Presence::Absent {
            if !changes.is_empty() && unit.file == "enabled" {
                changes.insert(
                    0,
                    Change::new(
                        object,
                        format!("~ {} (enabled -> disabled)", self.name),
                        Detail::Attributes(vec![Attribute::new(
                            "enabled",
                            Some("enabled"),
                            Some("disabled"),
                        )]),
                        Script::new(crate::shell!("resources/shared/unit.sh"))
                            .named("action", "disable")
                            .named("unit", self.name.as_str()),
                    )
                    .disrupting(Disruption::Reload),
                );
            }
            return Ok(changes);
        }
        let service = Service { unit: self.name.clone(), enabled: Some(true), state: None, masked: None };
        if changes.is_empty() || unit.load == "masked" {
            changes.extend(service.plan(facts)?);
        } else {
            // It is as its file makes it, which systemd has read by then.
            let file = if unit.file.is_empty() { "disabled" } else { unit.file.as_str() };
            let unit = Unit {
                load: "loaded".to_owned(),
                file: file.to_owned(),
                need_daemon_reload: false,
                ..unit.clone()
            };
            let mut facts = facts.clone();
            facts.put(query, unit);
            changes.extend(service.plan(&facts)?);
        }
        Ok(changes)
    }
}

/// A name as systemd has it in names of units.
fn escape(name: &str) -> String {
    name.bytes()
        .enumerate()
        .map(|(at, byte)| match byte {
            b'.' if at > 0 => ".".to_owned(),
            b'_' | b':' => char::from(byte).to_string(),
            _ if byte.is_ascii_alphanumeric() => char::from(byte).to_string(),
            _ => format!("\\x{byte:02x}"),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::escape;

    #[test]
    fn names_of_devices() {
        for (name, escaped) in [("ens4", "ens4"), ("eth0.100", "eth0.100"), ("br-a", "br\\x2da")] {
            assert_eq!(escape(name), escaped);
        }
    }
}
