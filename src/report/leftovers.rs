//! Things that a run leaves to be done: reboots, handlers that wait, nodes that stay drained.

use std::collections::BTreeMap;

use super::fold::fold;
use super::line::Tone;
use super::screen::Screen;
use super::style::safe;

/// Needs of hosts that a run could not meet, for the lines at its end.
#[derive(Debug, Default)]
pub(super) struct Leftovers {
    /// Hosts that still need a reboot, by the reasons.
    pub(super) reboots: BTreeMap<String, Vec<String>>,
    /// Hosts by a handler that still waits.
    pub(super) handlers: BTreeMap<String, Vec<String>>,
    /// Nodes that stay drained, with the reason.
    pub(super) drained: BTreeMap<String, (String, Option<String>)>,
}

impl Leftovers {
    /// Shows all of it, once.
    pub(super) fn show(&mut self, screen: &mut Screen) {
        for (reasons, hosts) in std::mem::take(&mut self.reboots) {
            screen.phase(
                "Pending",
                Tone::Change,
                &format!("reboot pending: {} ({reasons})", fold(&hosts)),
                None,
            );
        }
        for (handler, hosts) in std::mem::take(&mut self.handlers) {
            screen.phase(
                "Pending",
                Tone::Change,
                &format!("handler \"{}\" on {} waits for the next run", safe(&handler), fold(&hosts)),
                None,
            );
        }
        self.show_drained(screen);
    }

    /// Names every node that stays drained, and how it is given back.
    fn show_drained(&mut self, screen: &mut Screen) {
        let mut reasons: BTreeMap<String, (Vec<String>, Option<String>)> = BTreeMap::new();
        for (host, (why, by_hand)) in std::mem::take(&mut self.drained) {
            let (hosts, first) = reasons.entry(why).or_default();
            hosts.push(host);
            *first = first.take().or(by_hand);
        }
        for (why, (names, by_hand)) in reasons {
            let hosts = fold(&names);
            // The whole text is with the task.
            let first = why.lines().next().unwrap_or_default();
            screen.phase("Drained", Tone::Bad, &format!("{hosts} stays drained: {}", safe(first)), None);
            if let Some(by_hand) = by_hand {
                let more = if names.len() > 1 { ", for each of them" } else { "" };
                let lead = format!(
                    "the same apply goes on from there after the repair; by hand, when all is well{more}: "
                );
                screen.whole(&lead, &safe(&by_hand));
            }
        }
    }
}
