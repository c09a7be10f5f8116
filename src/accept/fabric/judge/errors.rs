//! Errors that are counted while somebody looks. What was counted before says when nothing.

use std::collections::BTreeMap;

use super::super::model::{Counters, Place, Section};
use super::finding::{FabricFault, FabricFinding, Severity};
use super::view::View;

/// Counters of errors, with what a rise means. `PortXmitWait` and `PortRcvSwitchRelayErrors` rise in good fabrics, and
/// `VL15Dropped` rises as somebody asks as many questions as this does.
const ERRORS: &[(&str, Severity)] = &[
    ("SymbolErrorCounter", Severity::Fail),
    ("LinkErrorRecoveryCounter", Severity::Fail),
    ("LinkDownedCounter", Severity::Fail),
    ("PortRcvErrors", Severity::Fail),
    ("LocalLinkIntegrityErrors", Severity::Fail),
    ("ExcessiveBufferOverrunErrors", Severity::Fail),
    // A switch on the way found the packet to be bad before: the cable at fault is another one.
    ("PortRcvRemotePhysicalErrors", Severity::Warn),
    ("PortXmitDiscards", Severity::Warn),
    ("PortXmitConstraintErrors", Severity::Warn),
    ("PortRcvConstraintErrors", Severity::Warn),
];

/// Counters of old switches that stay at their limit; a rise beyond it is not seen.
const LIMITS: &[(&str, u64)] =
    &[("SymbolErrorCounter", 0xffff), ("PortRcvErrors", 0xffff), ("LinkErrorRecoveryCounter", 0xff)];

/// Judges them.
pub(super) fn judge(view: &View<'_>, findings: &mut Vec<FabricFinding>) {
    let Some(seconds) = view.fabric.window() else {
        if !view.fabric.unread.contains_key(&Section::Counters) {
            let text = "counters of errors have no time between them, so that no rate is known";
            push_unread(text.to_owned(), findings);
        }
        return;
    };
    let unanswered = view.fabric.first.unanswered.max(view.fabric.later.unanswered);
    if unanswered > 0 {
        push_unread(format!("{unanswered} questions for counters of errors had no answer"), findings);
    }
    // Both ends of a cable may count.
    let mut cables: BTreeMap<(Place, Place), Vec<Place>> = BTreeMap::new();
    for place in view.fabric.later.ports.keys() {
        let peer = view.fabric.peer(*place).unwrap_or(*place);
        cables.entry((*place.min(&peer), *place.max(&peer))).or_default().push(*place);
    }
    for places in cables.values() {
        cable(view, places, seconds, findings);
    }
}

fn push_unread(text: String, findings: &mut Vec<FabricFinding>) {
    findings.push(FabricFinding {
        severity: Severity::Warn,
        fault: FabricFault::Unread,
        hosts: Vec::new(),
        cables: Vec::new(),
        text,
        action: "run `ibqueryerrors` again; look at nodes that do not answer with `perfquery`".to_owned(),
    });
}

/// Judges the ends of a cable.
fn cable(view: &View<'_>, places: &[Place], seconds: f64, findings: &mut Vec<FabricFinding>) {
    let Some(place) = places.first() else { return };
    let mut texts = Vec::new();
    let mut severity = Severity::Warn;
    let mut full = Vec::new();
    for place in places {
        let before = view.fabric.first.ports.get(place);
        let Some(after) = view.fabric.later.ports.get(place) else { continue };
        let mut counted = Vec::new();
        for (name, weight) in ERRORS {
            let risen = rise(before, after, name);
            if risen > 0 {
                severity = severity.min(*weight);
                counted.push(format!("{name} rose by {risen}, {}", rate(risen, seconds)));
            }
        }
        if !counted.is_empty() {
            texts.push(format!("{} counts errors: {}", view.end(*place), counted.join(", ")));
        }
        full.extend(
            LIMITS.iter().filter(|(name, limit)| after.get(*name) == Some(limit)).map(|(name, _)| *name),
        );
    }
    let text = if !texts.is_empty() {
        texts.join("; ")
    } else if full.is_empty() {
        return;
    } else {
        full.dedup();
        format!("{} stands at its limit, so that a rise is not seen", full.join(" and "))
    };
    let action = if texts.is_empty() {
        "clear it with `ibqueryerrors --clear-errors`, and look again"
    } else if severity == Severity::Fail {
        "reseat both ends of the cable and clean them, replace the cable, then try another port of the switch"
    } else {
        "look at what is sent meanwhile: packets are dropped that other ports found bad, that are too many, or that are of \
         another partition"
    };
    let ends = view.cable(*place);
    findings.push(FabricFinding {
        severity,
        fault: FabricFault::Errors,
        hosts: view.hosts_at(*place),
        text: format!("{ends}: {text}"),
        action: action.to_owned(),
        cables: vec![ends],
    });
}

/// The rise of a counter. One that is less than before was cleared between.
fn rise(before: Option<&Counters>, after: &Counters, name: &str) -> u64 {
    let before = before.and_then(|counters| counters.get(name)).copied().unwrap_or(0);
    let after = after.get(name).copied().unwrap_or(0);
    after.checked_sub(before).unwrap_or(after)
}

/// Errors of each second.
fn rate(risen: u64, seconds: f64) -> String {
    #[expect(clippy::cast_precision_loss, reason = "a rate is no exact number")]
    let rate = risen as f64 / seconds;
    format!("{rate:.2} per second over {seconds:.1} s")
}
