//! Text of hosts that may stand on the page.

use crate::accept::parts::noun;
use crate::accept::record::{By, HostRecord, Part, PartKind, Record};
use crate::report::fold::fold;
use crate::report::html::budget::shortened;

/// Bytes of a sentence.
pub(super) const SENTENCE: usize = 1000;
/// Bytes of a name, a serial or a place.
pub(super) const NAME: usize = 80;
/// Bytes of a unit.
pub(super) const UNIT: usize = 16;
/// Bytes of a list of hosts; the longest of a thousand that are in no order has about as many.
const HOSTS: usize = 8000;

/// A text as one line that is safe to show, cut where it is too long. The template escapes it.
pub(super) fn line(text: &str, most: usize) -> String {
    shortened(&text.replace('\n', " "), most)
}

/// The same for what is put together without the template: nothing in it is obeyed as HTML.
pub(super) fn escaped(text: &str, most: usize) -> String {
    let mut bytes = Vec::new();
    // A vector takes whatever it is given.
    drop(tera::escape_html(&line(text, most), &mut bytes));
    String::from_utf8(bytes).unwrap_or_default()
}

/// A folded list of hosts.
pub(super) fn hosts_text<S: AsRef<str>>(hosts: &[S]) -> String {
    line(&fold(hosts), HOSTS)
}

/// The hosts in the order in which people count them.
pub(super) fn in_order(record: &Record) -> Vec<(&str, &HostRecord)> {
    let mut hosts: Vec<_> = record.hosts.iter().map(|(name, host)| (name.as_str(), host)).collect();
    hosts.sort_by(|(one, _), (other, _)| crate::hostlist::order(one, other));
    hosts
}

/// The serial of a part: its key without the kind, which stands beside it.
pub(super) fn serial(part: &Part) -> &str {
    let rest = part.key.strip_prefix(noun(part.kind)).and_then(|rest| rest.strip_prefix(' '));
    rest.filter(|rest| !rest.is_empty()).unwrap_or(&part.key)
}

/// A part in one line: kind, serial and place.
pub(super) fn part_text(part: &Part) -> String {
    let place = if part.place.is_empty() { String::new() } else { format!(" at {}", part.place) };
    format!("{} {}{place}", kind_word(part.kind), serial(part))
}

/// The same for the key of a part, which the host may not list.
pub(super) fn part_of(host: &HostRecord, key: &str) -> String {
    let part = host.parts.iter().find(|part| part.key == key);
    line(&part.map_or_else(|| key.to_owned(), part_text), 2 * NAME)
}

/// The kind for people.
pub(super) fn kind_word(kind: PartKind) -> &'static str {
    match kind {
        PartKind::Board => "board",
        PartKind::Gpu => "GPU",
        PartKind::Nic => "network card",
        PartKind::Cable => "cable",
        PartKind::Memory => "memory module",
        PartKind::Disk => "disk",
    }
}

/// The one who sets a threshold, for people.
pub(super) fn by_word(by: By) -> &'static str {
    match by {
        By::Inventory => "inventory",
        By::Floor => "floor",
        By::Fleet => "fleet",
        By::History => "history",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_of_a_host_is_obeyed() {
        assert_eq!(escaped("<b>\"x\"&'\n\u{1b}", 80), "&lt;b&gt;&quot;x&quot;&amp;&#39; \u{fffd}");
        assert_eq!(escaped("<<<<", 2), "&lt;&lt; …");
    }

    #[test]
    fn a_serial_is_the_key_without_its_kind() {
        let part = |key: &str| Part {
            kind: PartKind::Gpu,
            key: key.to_owned(),
            model: String::new(),
            place: String::new(),
        };
        assert_eq!(serial(&part("gpu 165")), "165");
        assert_eq!(serial(&part("gpu ")), "gpu ");
        assert_eq!(serial(&part("gpus 1")), "gpus 1");
        assert_eq!(serial(&part("nic 1")), "nic 1");
    }
}
