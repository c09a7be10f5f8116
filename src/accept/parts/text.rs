//! Sections of what a host printed, and its words made safe: a host may say anything.

use std::collections::BTreeMap;

/// Most lines that are read of a host.
const LINES: usize = 100_000;
/// Most bytes of a line that are read.
const LINE: usize = 2_000;
/// Most characters of a word that is kept.
const WORD: usize = 80;
/// Most characters of a serial number.
const SERIAL: usize = 48;
/// Status of `timeout` when it ended a program.
const OVERDUE: &str = "124";

/// Serial numbers that are none: what makers and drivers write where they know nothing.
const PLACEHOLDERS: &[&str] = &[
    "0123456789",
    "123456789",
    "1234567890",
    "012345678",
    "12345678",
    "asset-1234567890",
    "base board serial number",
    "chassis serial number",
    "default",
    "default string",
    "empty",
    "err!",
    "invalid",
    "n/a",
    "na",
    "nil",
    "no dimm",
    "no module installed",
    "none",
    "not applicable",
    "not available",
    "not provided",
    "not set",
    "not specified",
    "not supported",
    "null",
    "o.e.m.",
    "oem",
    "serial number",
    "sernum0",
    "system serial number",
    "unavailable",
    "undefined",
    "unknown",
    "unknown error",
    "unspecified",
];

/// One section of a host's text.
#[derive(Debug, Default)]
pub(super) struct Section<'t> {
    /// Its lines without what stands before them.
    pub lines: Vec<&'t str>,
    /// The reason for which it is not whole.
    pub failed: Option<&'static str>,
}

/// Sections by name.
#[derive(Debug, Default)]
pub(super) struct Sections<'t>(BTreeMap<&'t str, Section<'t>>);

impl<'t> Sections<'t> {
    /// Takes the text of `parts.sh` apart.
    ///
    /// # Errors
    /// When its end is missing.
    pub(super) fn read(text: &'t str) -> Result<Self, String> {
        let mut sections = Self::default();
        let mut name = None;
        let mut is_whole = false;
        for line in text.lines().take(LINES) {
            let line = cut(line, LINE);
            if let Some(begun) = line.strip_prefix("=== ") {
                is_whole = begun == "end";
                // A name that comes again is somebody else's.
                name = (!sections.0.contains_key(begun)).then_some(begun);
                if let Some(begun) = name {
                    sections.0.insert(begun, Section::default());
                }
            } else if let (Some(name), Some(line)) = (name, line.strip_prefix('|')) {
                sections.0.entry(name).or_default().lines.push(line);
            }
        }
        if !is_whole {
            let last =
                text.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("it printed nothing");
            return Err(format!("it did not come to its end: {}", word(last)));
        }
        for section in sections.0.values_mut() {
            let Some(status) = section.lines.last().and_then(|line| line.strip_prefix('!')) else { continue };
            section.failed =
                Some(if status == OVERDUE { "it took too long" } else { "it cannot be read whole" });
            section.lines.pop();
        }
        Ok(sections)
    }

    /// Lines of a section; none where the host has no such section.
    pub(super) fn lines(&self, name: &str) -> &[&'t str] {
        self.0.get(name).map_or(&[], |section| &section.lines)
    }

    /// Whether a section is there and whole.
    pub(super) fn is_whole(&self, name: &str) -> bool {
        self.0.get(name).is_some_and(|section| section.failed.is_none())
    }

    /// Names of sections that are not whole, with the reason.
    pub(super) fn failed(&self) -> impl Iterator<Item = (&'t str, &'static str)> + '_ {
        self.0.iter().filter_map(|(name, section)| Some((*name, section.failed?)))
    }

    /// Lines of each device of a section: those below `@` and its name.
    pub(super) fn devices(&self, name: &str) -> Vec<(&'t str, Vec<&'t str>)> {
        let mut devices: Vec<(&str, Vec<&str>)> = Vec::new();
        for line in self.lines(name) {
            if let Some(device) = line.strip_prefix('@') {
                devices.push((device, Vec::new()));
            } else if let Some((_, lines)) = devices.last_mut() {
                lines.push(line);
            }
        }
        devices
    }

    /// Files below a directory: the name behind it, the path below that, and the value.
    pub(super) fn files(&self, name: &str, directory: &str) -> Vec<(&'t str, &'t str, &'t str)> {
        let split = |line: &&'t str| {
            let (path, value) = line.strip_prefix(directory)?.split_once(':')?;
            let (device, path) = path.split_once('/').unwrap_or(("", path));
            Some((device, path, value))
        };
        self.lines(name).iter().filter_map(split).collect()
    }
}

/// Cuts text to so many bytes at most, between two characters.
fn cut(text: &str, most: usize) -> &str {
    let end = (0..=most.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    text.get(..end).unwrap_or_default()
}

/// Returns text of a host as one line of printable ASCII, without colours, with single spaces, so many characters at most.
pub(super) fn words(text: &str, most: usize) -> String {
    let mut kept = String::new();
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        if kept.len() >= most {
            break;
        }
        if c == '\u{1b}' {
            // The rest of an escape sequence, up to its last character.
            if chars.next() == Some('[') {
                for c in chars.by_ref() {
                    if ('@'..='~').contains(&c) {
                        break;
                    }
                }
            }
        } else if c.is_ascii_graphic() {
            kept.push(c);
        } else if c.is_whitespace() && !kept.is_empty() && !kept.ends_with(' ') {
            kept.push(' ');
        }
    }
    kept.truncate(kept.trim_end().len());
    kept
}

/// The same with a usual length.
pub(super) fn word(text: &str) -> String {
    words(text, WORD)
}

/// Whether a name, model or number says nothing.
pub(super) fn is_placeholder(text: &str) -> bool {
    let text = text.trim().trim_matches(['[', ']']).to_ascii_lowercase();
    let mut chars = text.chars();
    let first = chars.next();
    first.is_none()
        || chars.all(|c| Some(c) == first)
        || PLACEHOLDERS.contains(&text.as_str())
        || ["to be filled", "requested functionality", "insufficient perm", "gpu requires", "xxxx"]
            .iter()
            .any(|start| text.starts_with(start))
}

/// Returns a serial number that tells a part from others.
pub(super) fn serial(text: &str) -> Option<String> {
    let text = words(text, SERIAL);
    let has_letters = text.chars().any(|c| c.is_ascii_alphanumeric());
    (has_letters && !is_placeholder(&text)).then_some(text)
}

/// Returns a model or another name, if there is one.
pub(super) fn named(text: &str) -> Option<String> {
    let text = word(text);
    (!is_placeholder(&text)).then_some(text)
}

/// Returns an address of PCI as the kernel writes it: `00000000:18:00.0` as `0000:18:00.0`.
pub fn address(text: &str) -> Option<String> {
    let text = text.trim();
    let (domain, rest) = text.split_once(':')?;
    let (bus, rest) = rest.split_once(':')?;
    let (device, function) = rest.split_once('.')?;
    let is_hex = |text: &str, most: usize| {
        !text.is_empty() && text.len() <= most && text.bytes().all(|byte| byte.is_ascii_hexdigit())
    };
    if !(is_hex(domain, 8) && is_hex(bus, 2) && is_hex(device, 2) && is_hex(function, 1)) {
        return None;
    }
    let domain = domain.trim_start_matches('0');
    Some(format!("{domain:0>4}:{bus}:{device}.{function}").to_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn serial_numbers_and_what_stands_in_their_place() {
        for none in [
            "",
            " ",
            "0",
            "00000000",
            "N/A",
            "[N/A]",
            "None",
            "Default string",
            "Not Specified",
            "To be filled by O.E.M.",
            "To Be Filled By O.E.M.",
            "123456789",
            "0123456789",
            "XXXXXXXXXXXX",
            "FFFFFFFF",
            "................",
            "Unknown",
            "Requested functionality has been deprecated",
            "[Unknown Error]",
            "System Serial Number",
            "-",
            "\u{1b}[31m\u{1b}[0m",
        ] {
            assert_eq!(serial(none), None, "{none:?}");
        }
        for (text, is) in [
            ("1650223014512", "1650223014512"),
            (" MT2304XZ02VD  ", "MT2304XZ02VD"),
            ("\u{1b}[31mMT2304\u{1b}[0m\u{7}XZ", "MT2304XZ"),
            ("/DY5VYM2/CN1296382D05E6/", "/DY5VYM2/CN1296382D05E6/"),
            ("C2604279049-2", "C2604279049-2"),
            ("12\u{202e}34\u{fffd}9", "12349"),
        ] {
            assert_eq!(serial(text).as_deref(), Some(is), "{text:?}");
        }
        assert_eq!(serial(&"A1".repeat(10_000)).unwrap().len(), SERIAL);
    }

    #[test]
    fn addresses() {
        for (text, is) in [
            ("00000000:18:00.0", Some("0000:18:00.0")),
            ("00010000:AF:1f.7", Some("10000:af:1f.7")),
            ("0000:18:00.0", Some("0000:18:00.0")),
            ("0008:01:00.0", Some("0008:01:00.0")),
            ("18:00.0", None),
            ("0000:18:00", None),
            ("0000:18:00.0; rm", None),
            ("", None),
        ] {
            assert_eq!(address(text).as_deref(), is, "{text}");
        }
    }

    #[test]
    fn a_text_without_its_end_is_none() {
        assert_eq!(Sections::read("").unwrap_err(), "it did not come to its end: it printed nothing");
        let error = Sections::read("=== gpus\n|GPU \u{1b}[2J\n").unwrap_err();
        assert_eq!(error, "it did not come to its end: |GPU");
        let sections = Sections::read("=== gpus\n|a\n|\n|!124\n=== gpus\n|b\n=== end\n").unwrap();
        assert_eq!(sections.lines("gpus"), ["a", ""]);
        assert_eq!(sections.failed().collect::<Vec<_>>(), [("gpus", "it took too long")]);
        assert!(!sections.is_whole("gpus") && !sections.is_whole("cards"));
    }
}
