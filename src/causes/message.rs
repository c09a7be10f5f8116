//! Lines of a log to the messages in them.
//!
//! `dmesg`, `journalctl -k`, syslog and `/dev/kmsg` put other things before a message, and a message of several lines
//! is printed in other ways. A later line of a message is written by whoever wrote the first: a program can have a
//! line break in its name or in that of its file, and the kernel prints both when it crashes.

use std::sync::LazyLock;

use regex::Regex;

/// Text in place of a line break within a message, in `/dev/kmsg` and in what our script sends.
const BREAK: &str = "\\x0a";

/// A message, or a later line of one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Message<'a> {
    /// The line of the log.
    pub line: &'a str,
    /// Message of the kernel, without time and host.
    pub text: &'a str,
    /// The first line of the same message, for a later one.
    pub head: Option<&'a str>,
}

/// Prefix of a message. A facility other than 0 is that of a program, which wrote to `/dev/kmsg`.
static PREFIX: LazyLock<Option<Regex>> = LazyLock::new(|| {
    const TIME: &str = r"\[ *\+?\d+\.\d+\](?: ?\[ *[TC]\d+\])? ?|\[[A-Z][a-z]{2} [A-Z][a-z]{2} +\d+ [0-9:]{8} \d{4}\] |\[[A-Z][a-z]{2}[ \d]\d \d\d:\d\d\] ";
    const ISO: &str = r"\d{4}-\d\d-\d\dT\S+ ";
    let forms = [
        // dmesg --raw, and what pstore keeps.
        format!(r"<(?<raw>\d+)>(?:{TIME})?"),
        // A record of /dev/kmsg.
        r"(?<record>\d+),\d+,\d+,[^;]*;".to_owned(),
        // dmesg --decode.
        format!(r"(?<facility>[a-z]+\d?) *:[a-z]+ *: (?:{TIME}|{ISO})"),
        // journalctl, and files of syslog, which keep the kernel's own time.
        format!(
            r"(?:{ISO}|[A-Z][a-z]{{2}} [ \d]\d [0-9:]{{8}} )\S+ kernel: (?:\[ *\d+\.\d{{6}}\] )?|kernel: (?:\[ *\d+\.\d+\] )?"
        ),
        // dmesg, and with --time-format iso.
        format!("{TIME}|{ISO}"),
    ];
    Regex::new(&format!("^(?:{})", forms.join("|"))).ok()
});

/// The message of a line; `None` where a program wrote it.
pub(super) fn message(line: &str) -> Option<&str> {
    let Some(found) = PREFIX.as_ref().and_then(|prefix| prefix.captures(line)) else { return Some(line) };
    let number = |name| found.name(name).map(|level| level.as_str().parse().unwrap_or(u32::MAX));
    let of_a_program = number("raw").or(number("record")).is_some_and(|level: u32| level >= 8)
        || found.name("facility").is_some_and(|facility| facility.as_str() != "kern");
    let end = found.get(0).map_or(0, |whole| whole.end());
    line.get(end..).filter(|_| !of_a_program)
}

/// The messages of the kernel in these lines, in their order.
pub fn messages<'a>(lines: impl IntoIterator<Item = &'a str>) -> Vec<Message<'a>> {
    let mut found = Vec::new();
    // The first line of a message, and the line of the log that it stands in.
    let (mut head, mut before) = (None, "");
    for line in lines {
        let mut parts = if line.starts_with([' ', '\t']) {
            line.trim_start().split(BREAK)
        } else {
            let text = message(line);
            let mut parts = text.unwrap_or("").split(BREAK);
            head = parts.next().filter(|_| text.is_some());
            // Our script repeats the first line in front of each later one.
            let whole = line.split(BREAK).next().unwrap_or(line);
            if whole == line || whole != before {
                found.extend(head.map(|text| Message { line, text, head: None }));
            }
            before = whole;
            parts
        };
        found.extend(parts.by_ref().filter_map(|text| Some(Message { line, text, head: Some(head?) })));
    }
    found
}
