//! Hosts against each other: values that the hosts of the same groups share, and values that no two do.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::comparison::{Comparison, near, who};
use super::subject::Subject;
use super::verdict::{Checked, Verdict, evidence};
use crate::checks::Check;
use crate::words::count;

/// Reads from a host the values that are compared.
pub(in crate::checks) type Read = fn(&Subject<'_>) -> Vec<(String, String)>;

/// Method of comparing hosts.
#[derive(Debug, Clone, Copy)]
pub(in crate::checks) enum How {
    /// The hosts of the same groups should have the same value.
    Alike {
        /// Whether all hosts are compared, whatever their groups.
        everywhere: bool,
        /// The check of the host by itself: what that finds is told once, and compared no more.
        after: Option<&'static str>,
    },
    /// No two hosts may have the same value.
    Unique,
    /// Its function looks at all hosts itself.
    Whole,
}

/// A property in which hosts are compared.
pub(in crate::checks) struct Property {
    /// The id of its check.
    pub(in crate::checks) id: &'static str,
    pub(in crate::checks) how: How,
    /// Pairs of what the value is of and the value; most have one, without a name.
    pub(in crate::checks) read: Read,
}

/// A check that compares hosts.
pub(in crate::checks) struct Compared {
    pub(in crate::checks) check: Check,
    pub(in crate::checks) property: Property,
}

impl Property {
    /// The check of the host by itself.
    fn after(&self) -> Option<&'static str> {
        match self.how {
            How::Alike { after, .. } => after,
            How::Unique | How::Whole => None,
        }
    }

    /// Hosts are compared with those that are in the same groups, or with all.
    fn peers(&self, subject: &Subject<'_>) -> String {
        match self.how {
            How::Alike { everywhere: false, .. } => {
                subject.host.groups.iter().map(String::as_str).collect::<Vec<_>>().join(",")
            }
            How::Alike { .. } | How::Unique | How::Whole => String::new(),
        }
    }

    /// The values of a host; none where the host by itself is not as it should be.
    fn of(&self, subject: &Subject<'_>) -> Vec<(String, String)> {
        let alone = self.after().and_then(crate::checks::find).map(|check| (check.run)(subject));
        if matches!(alone, Some(Ok(Verdict::Finding { .. }) | Err(Verdict::Finding { .. }))) {
            return Vec::new();
        }
        (self.read)(subject)
    }
}

impl Comparison {
    /// Looks at all hosts.
    pub(in crate::checks) fn new(compared: &[Compared], subjects: &[Subject<'_>]) -> Arc<Self> {
        let mut fleet = Self::default();
        for (subject, one) in
            subjects.iter().flat_map(|subject| compared.iter().map(move |one| (subject, &one.property)))
        {
            let (id, name) = (one.id, &subject.host.name);
            match one.how {
                How::Alike { .. } => {
                    let peers = one.peers(subject);
                    for (of, value) in one.of(subject) {
                        let values = fleet.same.entry((id, peers.clone(), of)).or_default();
                        values.total += 1;
                        values.hosts.entry(value).or_default().push(name.clone());
                    }
                }
                How::Whole => {}
                How::Unique => {
                    let values: BTreeSet<String> =
                        (one.read)(subject).into_iter().map(|(_, value)| value).collect();
                    *fleet.holders.entry(id).or_default() += usize::from(!values.is_empty());
                    for value in values {
                        fleet.unique.entry((id, value)).or_default().push(name.clone());
                    }
                }
            }
        }
        for ((id, _, _), values) in &mut fleet.same {
            if *id == "fleet.memory" {
                *values = near(std::mem::take(values));
            }
        }
        for subject in subjects {
            let groups = subject.host.groups.iter().map(String::as_str).collect::<Vec<_>>().join(",");
            for device in subject.devices().unwrap_or_default() {
                let up = device.ports.iter().filter(|port| port.state == "ACTIVE");
                fleet.ports.extend(up.map(|port| (groups.clone(), device.name.clone(), port.number)));
            }
            fleet.clocks.extend(subject.clock_offset().map(|offset| (subject.host.name.clone(), offset)));
        }
        Arc::new(fleet)
    }
}

impl Subject<'_> {
    /// Whether another host in the same groups has this port up.
    pub(in crate::checks) fn is_up_elsewhere(&self, device: &str, port: u32) -> bool {
        let groups = self.host.groups.iter().map(String::as_str).collect::<Vec<_>>().join(",");
        let key = (groups, device.to_owned(), port);
        self.fleet.as_deref().is_some_and(|fleet| fleet.ports.contains(&key))
    }
}

pub(in crate::checks) fn same(subject: &Subject<'_>, property: &Property) -> Checked {
    let Some(fleet) = subject.fleet.as_deref() else {
        return Err(Verdict::Skip("there is no other host to compare with".to_owned()));
    };
    let own = property.of(subject);
    if own.is_empty() {
        // What keeps it from being known is the finding of another check.
        let told = property.after().filter(|_| !(property.read)(subject).is_empty());
        let text =
            told.map_or_else(|| "this host has no value to compare".to_owned(), |id| format!("see {id}"));
        return Err(Verdict::Skip(text));
    }
    let peers = property.peers(subject);
    let (mut messages, mut lines, mut pass, mut compared) = (Vec::new(), Vec::new(), Vec::new(), false);
    for (of, value) in own {
        let Some(values) = fleet.same.get(&(property.id, peers.clone(), of.clone())) else { continue };
        if values.total < 2 {
            continue;
        }
        compared = true;
        let name = &subject.host.name;
        // Sizes were brought together, so their text is another one.
        let known = values
            .hosts
            .get_key_value(&value)
            .or_else(|| values.hosts.iter().find(|(_, hosts)| hosts.contains(name)));
        let mine = known.map_or("", |(value, _)| value.as_str());
        let prefix = if of.is_empty() { String::new() } else { format!("{of}: ") };
        let usual = values.hosts.iter().find(|(_, hosts)| hosts.len() * 2 > values.total);
        match usual {
            Some((value, _)) if value == mine => pass.push(format!("{prefix}{mine}")),
            Some((value, hosts)) => {
                messages.push(format!(
                    "{prefix}{mine}; {} of {} hosts have {value}",
                    hosts.len(),
                    values.total
                ));
                lines.push(evidence(who(hosts), value));
            }
            // Nobody can say who is right.
            None => {
                let mut all: Vec<String> = values
                    .hosts
                    .iter()
                    .take(4)
                    .map(|(value, hosts)| format!("{} {value}", who(hosts)))
                    .collect();
                if let Some(more) = values.hosts.len().checked_sub(4).filter(|more| *more > 0) {
                    all.push(format!("and {}", count(more as u64, "other value")));
                }
                messages.push(format!("{prefix}no majority: {}", all.join("; ")));
                lines.extend(values.hosts.iter().map(|(value, hosts)| evidence(who(hosts), value)));
            }
        }
    }
    if !messages.is_empty() {
        lines.truncate(8);
        return Ok(Verdict::Finding {
            message: messages.join("; "),
            evidence: lines,
            hint: None,
            severity: None,
        });
    }
    if !compared {
        return Err(Verdict::Skip("no other host in the same groups has this value".to_owned()));
    }
    Ok(Verdict::Pass(pass.join("; ")))
}

pub(in crate::checks) fn alone(subject: &Subject<'_>, property: &Property) -> Checked {
    let Some(fleet) = subject.fleet.as_deref() else {
        return Err(Verdict::Skip("there is no other host to compare with".to_owned()));
    };
    let own: BTreeSet<String> = (property.read)(subject).into_iter().map(|(_, value)| value).collect();
    if own.is_empty() {
        return Err(Verdict::Skip("this host has no value to compare".to_owned()));
    }
    if fleet.holders.get(property.id).is_none_or(|hosts| *hosts < 2) {
        return Err(Verdict::Skip("no other host has this value".to_owned()));
    }
    let (mut messages, mut lines) = (Vec::new(), Vec::new());
    for value in &own {
        let Some(hosts) = fleet.unique.get(&(property.id, value.clone())).filter(|hosts| hosts.len() > 1)
        else {
            continue;
        };
        messages.push(format!("{} have the same: {value}", who(hosts)));
        lines.push(evidence(who(hosts), value));
    }
    if messages.is_empty() {
        return Ok(Verdict::Pass("no other host has this value".to_owned()));
    }
    lines.truncate(8);
    Ok(Verdict::Finding { message: messages.join("; "), evidence: lines, hint: None, severity: None })
}
