//! `service`: a systemd unit.

use std::sync::Arc;
use std::time::Duration;

use crate::config::{Diagnostic, Diagnostics, FromNode as _, Node, Sp};
use crate::facts::unit::{Unit, UnitQuery};
use crate::facts::{Facts, Object, Query, Touches};
use crate::resources::shared::known;
use crate::resources::shared::login::reload_sshd;
use crate::resources::shared::value::claims;
use crate::resources::{
    Attribute, Built, Change, Context, Detail, Disruption, Planned, Resource, Unplannable,
};
use crate::transport::Script;

crate::choice! {
    /// The wanted state of a service.
    ServiceState {
        /// It runs.
        Started = "started",
        /// It does not run.
        Stopped = "stopped",
        /// It reads its configuration again, on every run of the task; for handlers.
        Reloaded = "reloaded",
        /// It is restarted, on every run of the task; for handlers.
        Restarted = "restarted",
    }
}

crate::record! {
    /// A systemd unit.
    ///
    /// A service that ends right after its start or restart is a failure, with the last lines of its log. One that
    /// is not there neither runs nor starts at boot: `state: stopped` and `enabled: false` hold then.
    ServiceFields("a service") {
        /// Name of the unit. `.service` may be left out.
        req name: Sp<String>,
        /// Whether it starts at boot. Left out: unchanged.
        opt enabled: bool,
        /// Whether it runs. Left out: unchanged. `reloaded` and `restarted` are for handlers.
        opt state: ServiceState,
        /// Whether it is masked, so that nothing can start it. Left out: unchanged.
        opt masked: bool,
    }
}

kind! { "service", ServiceFields }

/// The suffixes of systemd.unit(5).
const SUFFIXES: &[&str] = &[
    ".service",
    ".socket",
    ".device",
    ".mount",
    ".automount",
    ".swap",
    ".target",
    ".path",
    ".timer",
    ".slice",
    ".scope",
];

/// Units whose restart takes the network of the host away.
const NETWORK: &[&str] = &[
    "NetworkManager.service",
    "systemd-networkd.service",
    "networking.service",
    "network.service",
    "openibd.service",
    "rdma-ndd.service",
];

/// Units that the GPUs' users stand on.
const GPU: &[&str] = &[
    "nvidia-fabricmanager.service",
    "nvidia-persistenced.service",
    "nvidia-imex.service",
    "nvidia-dcgm.service",
];

#[derive(Debug)]
pub(in crate::resources) struct Service {
    /// With its suffix.
    pub(in crate::resources) unit: String,
    pub(in crate::resources) enabled: Option<bool>,
    pub(in crate::resources) state: Option<ServiceState>,
    pub(in crate::resources) masked: Option<bool>,
}

/// A unit with its suffix; refuses what is no name of one.
pub(in crate::resources) fn unit_name(name: &Sp<String>, diagnostics: &mut Diagnostics) -> Option<String> {
    let good = name.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || ":-_.\\@".contains(c));
    if !good {
        diagnostics.error(name.span, format!("`{}` is not the name of a unit", **name));
        return None;
    }
    let suffixed = SUFFIXES.iter().any(|suffix| name.ends_with(suffix));
    Some(if suffixed { name.value.clone() } else { format!("{}.service", **name) })
}

pub(in crate::resources) fn read(node: &Node, _: &dyn Context, diagnostics: &mut Diagnostics) -> Built {
    let fields = ServiceFields::from_node(node, diagnostics)?;
    let unit = unit_name(&fields.name, diagnostics)?;
    if fields.enabled.is_none() && fields.state.is_none() && fields.masked.is_none() {
        diagnostics.push(
            Diagnostic::error(node.span, "this task sets nothing")
                .help("add `state: started`, `enabled: true` or `masked: true`"),
        );
        return None;
    }
    let runs = !matches!(fields.state, None | Some(ServiceState::Stopped));
    if fields.masked == Some(true) && (runs || fields.enabled == Some(true)) {
        diagnostics.error(node.span, "a masked unit can neither be started nor enabled");
        return None;
    }
    Some(Arc::new(Service { unit, enabled: fields.enabled, state: fields.state, masked: fields.masked }))
}

impl Service {
    fn object(&self) -> Object {
        Object::Unit(self.unit.clone())
    }

    fn disruption(&self) -> Disruption {
        if NETWORK.contains(&self.unit.as_str()) {
            Disruption::Network
        } else if GPU.contains(&self.unit.as_str()) {
            Disruption::Gpu
        } else {
            Disruption::Service
        }
    }

    fn change(&self, action: &'static str, attribute: Attribute, disruption: Disruption) -> Change {
        let before = attribute.before.as_deref().unwrap_or("-").to_owned();
        let after = attribute.after.as_deref().unwrap_or("-").to_owned();
        let script = match (action, self.unit.as_str()) {
            // It waits until sshd has read its files: systemd does not.
            ("reload", "ssh.service" | "sshd.service") => reload_sshd(),
            _ => Script::new(crate::shell!("resources/shared/unit.sh"))
                .named("action", action)
                .named("unit", self.unit.as_str()),
        };
        Change::new(
            self.object(),
            format!("~ {} ({before} -> {after})", self.unit),
            Detail::Attributes(vec![attribute]),
            script,
        )
        .disrupting(disruption)
    }

    fn masking(&self, unit: &Unit) -> Option<Change> {
        let masked = unit.load == "masked" || unit.file == "masked";
        let change = |action, before, after| {
            self.change(action, Attribute::new("masked", Some(before), Some(after)), Disruption::Reload)
        };
        match (self.masked?, masked) {
            (true, false) => Some(change("mask", "not masked", "masked")),
            (false, true) => Some(change("unmask", "masked", "not masked")),
            (true, true) | (false, false) => None,
        }
    }

    fn enabling(&self, unit: &Unit) -> Result<Option<Change>, Unplannable> {
        let Some(wanted) = self.enabled else { return Ok(None) };
        let file = if unit.file.is_empty() { "no unit file" } else { unit.file.as_str() };
        // A link alone (`linked`) starts nothing at boot.
        let is = matches!(file, "enabled" | "alias" | "generated");
        let change = |action, after| {
            self.change(action, Attribute::new("enabled", Some(file), Some(after)), Disruption::Reload)
        };
        match (wanted, is) {
            (true, false) if file == "static" => Err(Unplannable::Failed(format!(
                "{} cannot be enabled: it has no [Install] section, so another unit starts it",
                self.unit
            ))),
            (true, false) if file == "transient" || unit.file.is_empty() => {
                Err(Unplannable::Failed(format!("{} cannot be enabled: it has {file}", self.unit)))
            }
            (true, false) => Ok(Some(change("enable", "enabled"))),
            (false, _) if matches!(file, "enabled" | "enabled-runtime" | "linked" | "linked-runtime") => {
                Ok(Some(change("disable", "disabled")))
            }
            (true, true) | (false, _) => Ok(None),
        }
    }

    fn running(&self, unit: &Unit) -> Option<Change> {
        // `activating` may be `auto-restart`: a service that fails again and again. It is waited for.
        let runs = matches!(unit.active.as_str(), "active" | "reloading" | "refreshing");
        let change = |action, after| {
            let before = if unit.active.is_empty() { "inactive" } else { unit.active.as_str() };
            self.change(action, Attribute::new("state", Some(before), Some(after)), self.disruption())
        };
        match self.state? {
            // A job that ends by itself was started when it ended well.
            ServiceState::Started if runs || unit.done => None,
            ServiceState::Started => {
                Some(Change { disruption: Disruption::None, ..change("start", "started") })
            }
            ServiceState::Stopped if matches!(unit.active.as_str(), "inactive" | "failed" | "") => None,
            ServiceState::Stopped => Some(change("stop", "stopped")),
            ServiceState::Restarted => Some(change("restart", "restarted")),
            ServiceState::Reloaded if runs && unit.can_reload => {
                Some(Change { disruption: Disruption::None, ..change("reload", "reloaded") })
            }
            ServiceState::Reloaded => Some(change("restart", "restarted: it cannot be reloaded")),
        }
    }
}

impl Resource for Service {
    fn queries(&self) -> Vec<Query> {
        vec![UnitQuery(self.unit.clone()).into()]
    }

    fn plan(&self, facts: &Facts) -> Planned {
        let unit = known::answer(facts, &UnitQuery(self.unit.clone()), &self.object())?;
        let masking = self.masking(unit);
        let wants_more = self.enabled.is_some() || self.state.is_some();
        // Only a mask can be put on a unit that is not there yet.
        let needs_it =
            self.enabled == Some(true) || !matches!(self.state, None | Some(ServiceState::Stopped));
        if unit.load == "not-found" && self.masked != Some(true) && (wants_more || self.masked == Some(false))
        {
            if !needs_it {
                return Err(Unplannable::Unneeded(self.object()));
            }
            return Err(Unplannable::Missing(self.object(), format!("there is no unit {}", self.unit)));
        }
        let masked = unit.load == "masked" || unit.file == "masked";
        if masked && self.masked.is_none() && needs_it {
            return Err(Unplannable::Failed(format!(
                "{} is masked: add `masked: false` to let it run",
                self.unit
            )));
        }
        let mut changes = Vec::new();
        if unit.need_daemon_reload {
            let attribute = Attribute::new("unit file", Some("changed on disk"), Some("loaded"));
            changes.push(self.change("daemon-reload", attribute, Disruption::Reload));
        }
        if self.masked == Some(true) {
            // A masked unit has no way left to stop or disable it by its file.
            if !masked {
                changes.extend(self.running(unit));
                if unit.load != "not-found" {
                    changes.extend(self.enabling(unit)?);
                }
            } else if self.state.is_some() {
                changes.extend(self.running(unit));
            }
            changes.extend(masking);
            return Ok(changes);
        }
        changes.extend(masking);
        if masked {
            // What it is without the mask is only seen when that is off.
            let plain = Unit { file: "disabled".to_owned(), ..unit.clone() };
            changes.extend(self.enabling(&plain)?);
        } else {
            changes.extend(self.enabling(unit)?);
        }
        changes.extend(self.running(unit));
        Ok(changes)
    }

    fn touches(&self) -> Touches {
        Touches::one(self.object())
    }

    fn manages(&self) -> Vec<(Object, String)> {
        let state = match self.state {
            // An act, not a state: a handler that restarts is not at odds with a task that starts.
            None | Some(ServiceState::Reloaded | ServiceState::Restarted) => None,
            Some(state @ (ServiceState::Started | ServiceState::Stopped)) => Some(state.to_string()),
        };
        let attributes = [
            ("enabled", self.enabled.map(|enabled| enabled.to_string())),
            ("masked", self.masked.map(|masked| masked.to_string())),
            ("state", state),
        ];
        claims(Object::Unit, &self.unit, "a unit", attributes)
    }

    fn settle(&self) -> Option<Duration> {
        (self.state == Some(ServiceState::Started)).then(|| Duration::from_secs(30))
    }

    fn hopeless(&self, facts: &Facts) -> Option<String> {
        let unit = known::answer(facts, &UnitQuery(self.unit.clone()), &self.object()).ok()?;
        let skipped = self.state == Some(ServiceState::Started) && unit.active == "inactive" && unit.unmet;
        skipped.then(|| {
            format!(
                "systemd skipped the start: a condition of {0} does not hold (`systemctl status {0}` on the host names it)",
                self.unit
            )
        })
    }

    fn provable(&self) -> bool {
        !matches!(self.state, Some(ServiceState::Reloaded | ServiceState::Restarted))
    }
}
