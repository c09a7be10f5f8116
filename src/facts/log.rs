//! The kernel's log since the boot: lines that tell of GPUs, links and memory.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::probe::Probe;
use super::section::Sections;
use super::{Gap, GapKind, Seen};

/// What the kernel said.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Log {
    /// The command that showed it.
    pub command: String,
    /// The lines that matter, oldest first.
    pub lines: Vec<String>,
}

/// An error that the driver reported.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Xid<'a> {
    /// PCI address of the GPU or switch.
    pub device: &'a str,
    /// Its number.
    pub number: u32,
    /// What follows.
    pub text: &'a str,
    /// The whole line.
    pub line: &'a str,
}

/// The kernel's log since the boot.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct LogQuery;

impl Probe for LogQuery {
    type Shown = Seen<Log>;
    const NAME: &'static str = "log";
    const SCRIPT: &'static str = crate::shell!("probes/ask.sh", "probes/log.sh");
    const DEADLINE: Option<Duration> = Some(Duration::from_secs(30));

    fn read(sections: &Sections<'_>) -> Seen<Log> {
        parse(sections)
    }
}

/// Reads the sections.
pub fn parse(sections: &Sections<'_>) -> Seen<Log> {
    let mut gap = None;
    for tool in ["dmesg", "journalctl"] {
        let Some((_, section)) = sections.starting(tool).next() else { continue };
        match section.trouble() {
            None => {
                let lines = section.stdout.lines().filter(|line| !line.is_empty()).map(str::to_owned);
                return Ok(Log { command: section.command.to_owned(), lines: lines.collect() });
            }
            Some(trouble) => gap = gap.or(Some(trouble)),
        }
    }
    Err(gap.unwrap_or_else(|| Gap::new(GapKind::Failed, "dmesg", "the kernel log was not read")))
}

impl Log {
    /// Errors since the GPUs were reset the last time.
    pub fn xids(&self) -> Vec<Xid<'_>> {
        let reset = self.lines.iter().rposition(|line| line.contains("nvidia-nvswitch: Probing device"));
        let since = reset.map_or(0, |index| index + 1);
        self.lines.iter().skip(since).filter_map(|line| event(line, "NVRM: Xid (PCI:", None)).collect()
    }

    /// Errors of `NVSwitch`es.
    pub fn sxids(&self) -> Vec<Xid<'_>> {
        self.lines.iter().filter_map(|line| event(line, "SXid (PCI:", Some(", "))).collect()
    }

    /// Lines that have one of these words.
    pub fn with(&self, words: &[&str]) -> Vec<&str> {
        let has = |line: &&str| words.iter().any(|word| line.contains(word));
        self.lines.iter().map(String::as_str).filter(has).collect()
    }
}

/// `NVRM: Xid (PCI:0000:8a:00): 79, pid=55182, ...`.
fn event<'a>(line: &'a str, begin: &str, needed: Option<&str>) -> Option<Xid<'a>> {
    let (_, rest) = line.split_once(begin)?;
    let (device, rest) = rest.split_once("): ")?;
    let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    let (number, text) = rest.split_at_checked(end)?;
    // Lines that go on with data of an event have no text of their own.
    if needed.is_some_and(|needed| !text.starts_with(needed)) {
        return None;
    }
    Some(Xid { device, number: number.parse().ok()?, text: text.trim_start_matches([',', ' ']), line })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lines as the kernel and the NVIDIA driver print them.
    const LOG: &str = "\n\u{1e}ask dmesg\n\n\u{1e}end 1\ndmesg: read kernel buffer failed: Operation not permitted\n\n\u{1e}ask journalctl -k -b --no-pager -o short-iso\nNVRM: Xid (PCI:0000:34:00): 45, Ch 00000010\n2026-11-21T02:00:00 gpu0 kernel: nvidia-nvswitch: Probing device 0000:05:00.0\nNVRM: Xid (PCI:0000:8a:00): 79, pid=55182, name=python, GPU has fallen off the bus.\nNVRM: Xid (PCI:0000:01:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.\nNVRM: Xid (PCI:0000:10:1c): 63, pid=1896, Row Remapper: New row marked for remapping, reset gpu to activate.\nnvidia-nvswitch3: SXid (PCI:0000:c1:00.0): 28006, Non-fatal, Link 46 MC TS crumbstore MCTO (First)\nnvidia-nvswitch3: SXid (PCI:0000:c1:00.0): 28006, Severity 0 Engine instance 46\nNVRM: Xid (PCI:\n\u{1e}end 0\n";

    #[test]
    fn errors_since_the_reset() {
        let log = parse(&Sections::split(LOG)).unwrap();
        assert!(log.command.starts_with("journalctl"));
        let xids: Vec<(&str, u32)> = log.xids().iter().map(|xid| (xid.device, xid.number)).collect();
        assert_eq!(xids, [("0000:8a:00", 79), ("0000:01:00", 79), ("0000:10:1c", 63)]);
        assert_eq!(
            log.xids()[2].text,
            "pid=1896, Row Remapper: New row marked for remapping, reset gpu to activate."
        );
        assert_eq!(log.sxids().len(), 2);
        assert_eq!(log.with(&["fallen off"]).len(), 2);
    }

    #[test]
    fn a_log_that_nobody_may_read_is_a_gap() {
        let denied = "\n\u{1e}ask dmesg\ndmesg: read kernel buffer failed: Operation not permitted\n\n\u{1e}end 1\n\n\u{1e}ask journalctl -k -b --no-pager -o short-iso\n\n\u{1e}end missing\n";
        assert_eq!(parse(&Sections::split(denied)).unwrap_err().kind, GapKind::Failed);
        assert!(parse(&Sections::split("")).is_err());
    }
}
