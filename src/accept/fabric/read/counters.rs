//! Counters from `ibqueryerrors`, which names the ports that have an error above zero.

use super::super::model::{Fabric, Place, Reading};
use super::words::{between, guid};

/// Reads them.
pub(super) fn read(lines: &[&str], fabric: &Fabric) -> Reading {
    let mut reading = Reading::default();
    for line in lines {
        if let Some(seconds) = line.strip_prefix("at ") {
            reading.at = seconds.trim().parse().ok().filter(|seconds: &f64| seconds.is_finite());
        } else if let Some(rest) = line.strip_prefix("##") {
            let rest = rest.trim();
            // It ends with 1 where it found errors, and with this line wherever it came to its end.
            reading.is_whole |= rest.starts_with("Summary:");
            if let Some((number, _)) = rest.split_once(" PMA query failures") {
                reading.unanswered = number.trim().parse().unwrap_or(u32::MAX);
            }
        } else if let Some((place, rest)) = port(line, fabric) {
            let counters = reading.ports.entry(place).or_default();
            let mut rest = rest;
            while let Some((counter, after)) = between(rest, "[", "]") {
                if let Some((name, value)) = counter.split_once(" == ") {
                    let digits = value.split_whitespace().next().unwrap_or("");
                    if let Ok(value) = digits.parse() {
                        counters.insert(name.to_owned(), value);
                    }
                }
                rest = after;
            }
        }
    }
    reading
}

/// A line such as `   GUID 0xb8cef60300000100 port 2: [SymbolErrorCounter == 120]`. That of all ports together, which
/// a switch has as well, says nothing more.
fn port<'a>(line: &'a str, fabric: &Fabric) -> Option<(Place, &'a str)> {
    let rest = line.trim_start().strip_prefix("GUID ")?;
    let (owner, rest) = rest.split_once(" port ")?;
    let (number, rest) = rest.split_once(':')?;
    let place = fabric.owners.get(&guid(owner)?)?;
    Some((Place { node: place.node, port: number.parse().ok()? }, rest))
}
