//! Sentences of findings and notes.

use super::fleet::Fleet;
use super::history::Own;
use super::measured::{Better, Measured};
use crate::accept::record::{By, Threshold};

/// A number with as many digits as are worth reading.
pub(super) fn number(value: f64) -> String {
    with_digits(value, 0)
}

/// The same with more digits.
fn with_digits(value: f64, more: usize) -> String {
    let digits = match value.abs() {
        large if large >= 100.0 => 0,
        middle if middle >= 10.0 => 1,
        small if small >= 1.0 => 2,
        _ => 3,
    };
    let text = format!("{value:.*}", digits + more);
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

/// Two numbers that are not equal, with as many digits as it takes to see that.
fn unlike(value: f64, bound: f64) -> (String, String) {
    let texts = |more| (with_digits(value, more), with_digits(bound, more));
    let seen = (0..4).map(texts).find(|(value, bound)| value != bound);
    seen.unwrap_or_else(|| texts(4))
}

/// A share as a percentage.
pub(super) fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}

/// Several of what a key names: `64 GPUs`.
pub(super) fn several(count: usize, key: &str) -> String {
    let kind = match key.split(' ').next().unwrap_or_default() {
        "" => "hosts",
        "gpu" => "GPUs",
        "nic" => "network cards",
        "cable" => "cables",
        "memory" => "modules of memory",
        "disk" => "disks",
        _ => "parts",
    };
    format!("{count} {kind}")
}

/// The part that a figure is of: `GPU 3 (gpu 1650223014512, 0000:18:00.0)`.
fn who(measured: &Measured) -> String {
    let details: Vec<&str> =
        [measured.part.as_str(), &measured.place].into_iter().filter(|text| !text.is_empty()).collect();
    let label = if measured.label.is_empty() { &measured.host } else { &measured.label };
    if details.is_empty() { label.clone() } else { format!("{label} ({})", details.join(", ")) }
}

/// The threshold of a fleet, for the record.
pub(super) fn of_fleet(measured: &Measured, fleet: &Fleet) -> Option<Threshold> {
    let Fleet::One { all, share, bound } = fleet else { return None };
    let all = format!("median {} of {}", number(all.median), several(all.count(), &measured.part));
    let source = format!("{all}, {} behind it", percent(*share));
    Some(Threshold { by: By::Fleet, least: *bound, source })
}

/// The threshold of a past, for the record.
pub(super) fn of_past(own: &Own) -> Threshold {
    let earlier = format!("median {} of {} earlier values", number(own.earlier.median), own.earlier.count());
    let source = format!("{earlier}, {} behind it", percent(own.share));
    Threshold { by: By::History, least: own.bound, source }
}

/// A figure that does not keep to its thresholds; `broken` are those.
pub(super) fn finding(measured: &Measured, broken: &[Threshold], fleet: &Fleet, own: Option<&Own>) -> String {
    let (verb, most) = match measured.better {
        Better::Higher => ("reached", "least"),
        Better::Lower => ("came to", "most"),
    };
    let mut value = number(measured.value);
    let mut reasons = Vec::new();
    for threshold in broken {
        let (shown, bound) = unlike(measured.value, threshold.least);
        if shown.len() > value.len() {
            value = shown;
        }
        let reason = match (threshold.by, fleet, own) {
            (By::Inventory, _, _) => format!("{bound} is the {most} that the inventory allows"),
            (By::Floor, _, _) => {
                format!("{bound} is the {most} for {} ({})", measured.model, threshold.source)
            }
            (By::Fleet, Fleet::One { all, .. }, _) => {
                let median = number(all.median);
                format!("the median of {} is {median}, and {bound} is the {most} that fits it", all.count())
            }
            (By::History, _, Some(own)) => format!(
                "the median of its {} earlier values is {}, and {bound} is the {most} that fits it",
                own.earlier.count(),
                number(own.earlier.median)
            ),
            (By::Fleet | By::History, _, _) => format!("{bound} is the {most} ({})", threshold.source),
        };
        reasons.push(reason);
    }
    let unit = &measured.unit;
    format!("{} {verb} {value} {unit} in {}: {}", who(measured), measured.name, reasons.join("; "))
}

/// A figure that is no number.
pub(super) fn nothing(measured: &Measured) -> String {
    format!("{} gave no number in {}", who(measured), measured.name)
}

/// The next thing to do about a finding.
pub(super) fn action(measured: &Measured) -> String {
    if measured.part.starts_with("gpu ") {
        "measure it again by itself; where it stays so, compare its clocks, power and temperature with those of its \
         neighbours before it is moved or replaced"
            .to_owned()
    } else {
        "measure it again by itself".to_owned()
    }
}

/// A fleet that is of two kinds.
pub(super) fn two_groups(of: &Measured, fleet: &Fleet) -> Option<String> {
    let Fleet::TwoGroups { worse, better } = fleet else { return None };
    let (unit, name, model) = (&of.unit, &of.name, &of.model);
    let count = several(worse.count() + better.count(), &of.part);
    Some(format!(
        "{count} of {model} are two groups in {name}: {} around {} {unit} and {} around {}; none is held against the \
         others, so look for what one group has in common: rack, cooling, power limit, firmware, driver",
        better.count(),
        number(better.median),
        worse.count(),
        number(worse.median)
    ))
}

/// A fleet that is behind its own past as a whole.
pub(super) fn all_behind(of: &Measured, behind: usize, with_past: usize, share: f64) -> String {
    let (name, model) = (&of.name, &of.model);
    format!(
        "{behind} of {} of {model} with a past are behind it in {name}, half of these by {} or more: look for what \
         changed for all, such as driver, firmware, power limit or cooling, for no part is blamed for it",
        several(with_past, &of.part),
        percent(share)
    )
}
