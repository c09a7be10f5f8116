//! `time_sync`: where a host takes the time from.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::config::{Diagnostic, Diagnostics, FromNode as _, Node, Sp};
use crate::facts::file::PathQuery;
use crate::facts::unit::{Unit, UnitQuery};
use crate::facts::{Facts, Object, Query, Touches, base};
use crate::inventory::Promise;
use crate::inventory::expect::ExpectSystem;
use crate::resources::services::service::{Service, ServiceState};
use crate::resources::shared::content::{RegularFile, edit, text_query};
use crate::resources::shared::known;
use crate::resources::shared::value::HostPath;
use crate::resources::{
    Attribute, Built, Change, Context, Detail, Disruption, Planned, Resource, Unplannable,
};
use crate::transport::Script;

crate::choice! {
    /// The service that sets the clock.
    TimeService {
        /// The one that is installed; chrony if both are.
        Auto = "auto",
        /// chrony.
        Chrony = "chrony",
        /// systemd-timesyncd.
        Timesyncd = "timesyncd",
    }
}

crate::record! {
    /// A clock that a time service keeps right, and the servers that it asks.
    ///
    /// chrony: a marked block in its configuration; other `pool`, `server` and `peer` lines are
    /// commented out. systemd-timesyncd: `/etc/systemd/timesyncd.conf.d/50-provision.conf`. Without
    /// `servers` the distribution's servers are kept. The service is enabled, started, and restarted
    /// when its servers change.
    TimeSync("a clock") {
        /// Names or addresses of time servers.
        def servers: Vec<Sp<String>> = Vec::new(),
        /// The service that sets the clock.
        def service: TimeService = TimeService::Auto,
    }
}

kind! { "time_sync", TimeSync, promises: &["system.time_sync"] }

/// Debian calls the unit and the file one way, the RHEL family the other.
const CHRONY_UNITS: [&str; 2] = ["chrony.service", "chronyd.service"];
const CHRONY_FILES: [&str; 2] = ["/etc/chrony/chrony.conf", "/etc/chrony.conf"];
const TIMESYNCD: &str = "systemd-timesyncd.service";
/// Others that may keep the clock.
const OTHERS: [&str; 3] = ["ntpsec.service", "ntp.service", "ntpd.service"];
const BEGIN: &str = "# BEGIN provision time_sync";
const END: &str = "# END provision time_sync";

pub(in crate::resources) fn read(node: &Node, _: &dyn Context, diagnostics: &mut Diagnostics) -> Built {
    let fields = TimeSync::from_node(node, diagnostics)?;
    let mut good = true;
    for server in &fields.servers {
        let fits = server.starts_with(|c: char| c.is_ascii_alphanumeric())
            && server.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | ':' | '_' | '%'));
        if !fits {
            good = false;
            diagnostics.push(
                Diagnostic::error(
                    server.span,
                    format!("`{}` is not the name or address of a server", **server),
                )
                .help("write only the name or address, without options"),
            );
        }
    }
    good.then(|| -> Arc<dyn Resource> { Arc::new(fields) })
}

/// chrony's configuration with our servers and no others.
fn chrony_text(text: &str, servers: &[Sp<String>]) -> String {
    let mut out = String::new();
    let mut ours = false;
    for line in text.lines() {
        let word = line.split_whitespace().next().unwrap_or("");
        match line.trim() {
            BEGIN => ours = true,
            END => ours = false,
            _ if ours => {}
            _ if matches!(word, "pool" | "server" | "peer") => out = format!("{out}# {line}\n"),
            _ => out = format!("{out}{line}\n"),
        }
    }
    let lines = servers.iter().map(|server| format!("server {server} iburst\n")).collect::<Vec<_>>().concat();
    format!("{out}{BEGIN}\n{lines}{END}\n")
}

fn unit<'a>(facts: &'a Facts, name: &str) -> Result<&'a Unit, Unplannable> {
    let object = Object::Unit(name.to_owned());
    let unit = known::answer(facts, &UnitQuery(name.to_owned()), &object)?;
    Ok(unit)
}

fn is_there(unit: &Unit) -> bool {
    !matches!(unit.load.as_str(), "not-found" | "masked" | "")
}

impl TimeSync {
    /// The servers as one line names them.
    fn list(&self) -> String {
        self.servers.iter().map(|server| server.as_str()).collect::<Vec<_>>().join(" ")
    }

    fn timesyncd_file(&self) -> RegularFile {
        RegularFile::drop_in(
            "/etc/systemd/timesyncd.conf.d/50-provision.conf".to_owned(),
            format!("[Time]\nNTP={}\n", self.list()),
        )
    }

    /// The unit that keeps or shall keep the clock; `None` when another one does and nothing is
    /// wanted of it.
    fn chosen(&self, facts: &Facts) -> Result<Option<&'static str>, Unplannable> {
        if self.service != TimeService::Timesyncd {
            for name in CHRONY_UNITS {
                if is_there(unit(facts, name)?) {
                    return Ok(Some(name));
                }
            }
        }
        if self.service == TimeService::Auto {
            for name in OTHERS {
                if unit(facts, name)?.active == "active" {
                    return if self.servers.is_empty() {
                        Ok(None)
                    } else {
                        Err(Unplannable::Failed(format!(
                            "{name} sets the clock here: remove its package, or leave out `servers` and set them in its own configuration"
                        )))
                    };
                }
            }
        }
        if self.service != TimeService::Chrony && is_there(unit(facts, TIMESYNCD)?) {
            return Ok(Some(TIMESYNCD));
        }
        let wanted = if self.service == TimeService::Timesyncd { "systemd-timesyncd" } else { "chrony" };
        let name = if self.service == TimeService::Timesyncd { TIMESYNCD } else { CHRONY_UNITS[0] };
        Err(Unplannable::Missing(
            Object::Unit(name.to_owned()),
            format!("no time service is installed: install the package {wanted} first"),
        ))
    }

    fn configured(&self, facts: &Facts, name: &str) -> Planned {
        if self.servers.is_empty() {
            return Ok(Vec::new());
        }
        if name == TIMESYNCD {
            return self.timesyncd_file().plan_with_directory(facts);
        }
        let [debian, other] = CHRONY_FILES;
        let path = if known::path(facts, debian)?.is_some() { debian } else { other };
        edit(&HostPath(path.to_owned()), facts, None, |text| chrony_text(text, &self.servers))
    }
}

impl Resource for TimeSync {
    fn queries(&self) -> Vec<Query> {
        let units = CHRONY_UNITS.iter().chain(&OTHERS).chain([&TIMESYNCD]);
        let mut queries: Vec<Query> = units.map(|name| UnitQuery((*name).to_owned()).into()).collect();
        queries.extend(base("virtualization"));
        if !self.servers.is_empty() {
            for path in CHRONY_FILES {
                let path = HostPath(path.to_owned());
                queries.extend([
                    PathQuery(path.0.clone()).into(),
                    PathQuery(path.parent().to_owned()).into(),
                    text_query(&path).into(),
                ]);
            }
            queries.extend(self.timesyncd_file().queries());
        }
        queries
    }

    fn plan(&self, facts: &Facts) -> Planned {
        let Some(name) = self.chosen(facts)? else { return Ok(Vec::new()) };
        let running = unit(facts, name)?.active == "active";
        if name == TIMESYNCD
            && !running
            && let Some(kind) = known::container(facts)
        {
            return Err(Unplannable::Blocked(format!(
                "{name} cannot start in a container ({kind}): set the clock on the machine that runs it"
            )));
        }
        let mut changes = self.configured(facts, name)?;
        let service = Service {
            unit: name.to_owned(),
            enabled: Some(true),
            state: Some(ServiceState::Started),
            masked: None,
        };
        let restart = !changes.is_empty() && running;
        changes.extend(service.plan(facts)?);
        if restart {
            changes.push(
                Change::new(
                    Object::Unit(name.to_owned()),
                    format!("~ {name} (restart)"),
                    Detail::Attributes(vec![Attribute::new("servers", None, Some(&self.list()))]),
                    Script::new(crate::shell!("resources/shared/unit.sh"))
                        .named("action", "restart")
                        .named("unit", name),
                )
                .disrupting(Disruption::Service),
            );
        }
        Ok(changes)
    }

    fn touches(&self) -> Touches {
        let mut objects: BTreeSet<Object> =
            CHRONY_UNITS.iter().chain([&TIMESYNCD]).map(|name| Object::Unit((*name).to_owned())).collect();
        objects.extend(CHRONY_FILES.iter().map(|path| Object::Path((*path).to_owned())));
        objects.insert(Object::Path(self.timesyncd_file().path.0));
        Touches::Objects(objects)
    }

    fn manages(&self) -> Vec<(Object, String)> {
        let clock = |what: &str| Object::Path(format!("/etc/adjtime ({what})"));
        let mut claims = vec![(clock("time service"), self.service.to_string())];
        if !self.servers.is_empty() {
            claims.push((clock("time servers"), self.list()));
        }
        claims
    }

    fn promises(&self, _: &Facts) -> Vec<Promise> {
        vec![Promise::new(ExpectSystem { time_sync: Some(true), ..ExpectSystem::default() })]
    }

    fn settle(&self) -> Option<std::time::Duration> {
        Some(std::time::Duration::from_secs(30))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Span;

    #[test]
    fn chrony_asks_our_servers_only() {
        let [one, two, other] = ["a", "10.0.0.1", "b"].map(|server| Sp::new(server.to_owned(), Span::NONE));
        let servers = [one, two];
        let before = "# pool x\npool 2.debian.pool.ntp.org iburst\n  server old\ndriftfile /x\n";
        let after = chrony_text(before, &servers);
        assert_eq!(
            after,
            "# pool x\n# pool 2.debian.pool.ntp.org iburst\n#   server old\ndriftfile /x\n# BEGIN provision time_sync\nserver a iburst\nserver 10.0.0.1 iburst\n# END provision time_sync\n"
        );
        assert_eq!(chrony_text(&after, &servers), after);
        assert!(!chrony_text(&after, &[other]).contains("server a"));
    }
}
