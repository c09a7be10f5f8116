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
    /// Xids that the journal has of the boot before, of the last day.
    pub before: Seen<Vec<String>>,
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
    const DEADLINE: Option<Duration> = Some(Duration::from_secs(45));

    fn read(sections: &Sections<'_>) -> Seen<Log> {
        parse(sections)
    }
}

const JOURNAL: &str = "journalctl -k -b --no-pager";
const JOURNAL_BEFORE: &str = "journalctl -k -b -1 ";

/// Reads the sections.
pub fn parse(sections: &Sections<'_>) -> Seen<Log> {
    let (mut gap, mut found): (_, Option<(&str, Vec<String>)>) = (None, None);
    for tool in ["dmesg", JOURNAL] {
        let Some((_, section)) = sections.starting(tool).next() else { continue };
        match section.trouble() {
            None => {
                let lines = section.stdout.lines().filter(|line| !line.is_empty());
                let lines: Vec<String> = lines.map(str::to_owned).collect();
                // Both were asked where the kernel no longer has its first lines.
                if found.as_ref().is_none_or(|(_, fewer)| fewer.len() < lines.len()) {
                    found = Some((section.command, lines));
                }
            }
            Some(trouble) => gap = gap.or(Some(trouble)),
        }
    }
    match found {
        Some((command, lines)) => Ok(Log { command: command.to_owned(), lines, before: before(sections) }),
        None => Err(gap.unwrap_or_else(|| Gap::new(GapKind::Failed, "dmesg", "the kernel log was not read"))),
    }
}

fn before(sections: &Sections<'_>) -> Seen<Vec<String>> {
    let Some((_, section)) = sections.starting(JOURNAL_BEFORE).next() else {
        return Err(Gap::new(GapKind::Absent, JOURNAL_BEFORE.trim(), "the journal was not asked"));
    };
    section.read(|text| {
        if text.contains("not seeing messages") {
            return Err("it may not be read".to_owned());
        }
        Ok(text.lines().filter(|line| !line.is_empty()).map(str::to_owned).collect())
    })
}

impl Log {
    /// The lines since the GPUs were reset the last time.
    fn since_reset(&self) -> impl Iterator<Item = &str> {
        let reset = self.lines.iter().rposition(|line| line.contains("nvidia-nvswitch: Probing device"));
        self.lines.iter().skip(reset.map_or(0, |index| index + 1)).map(String::as_str)
    }

    /// Errors since the GPUs were reset the last time.
    pub fn xids(&self) -> Vec<Xid<'_>> {
        self.since_reset().filter_map(xid).collect()
    }

    /// Errors of the boot before, of the last day.
    ///
    /// # Errors
    /// What keeps the journal from being read.
    pub fn xids_before(&self) -> Result<Vec<Xid<'_>>, &Gap> {
        self.before.as_ref().map(|lines| lines.iter().filter_map(|line| xid(line)).collect())
    }

    /// GPUs that fell off the bus since the last reset, where the driver says so without a Xid: PCI address,
    /// empty where it is not told, and the line.
    pub fn fallen(&self) -> Vec<(&str, &str)> {
        let (mut fallen, mut named) = (Vec::new(), "");
        for line in self.since_reset().filter(|line| xid(line).is_none()) {
            // A message of three lines has the address in the first.
            let here = gpu(line);
            if line.contains("fallen off the bus") {
                fallen.push((here.unwrap_or(named), line));
            }
            named = here.unwrap_or(named);
        }
        fallen
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

/// A Xid; drivers of long ago wrote its address without `PCI:`.
fn xid(line: &str) -> Option<Xid<'_>> {
    event(line, "NVRM: Xid (PCI:", None).or_else(|| event(line, "NVRM: Xid (", None))
}

/// The GPU that a line of the driver is about: `NVRM: GPU at 0000:01:00.0 has ...`.
fn gpu(line: &str) -> Option<&str> {
    let begins = ["NVRM: The NVIDIA GPU ", "NVRM: GPU at ", "NVRM: GPU "];
    let rest = begins.iter().find_map(|begin| Some(line.split_once(begin)?.1))?;
    let rest = rest.strip_prefix("PCI:").unwrap_or(rest);
    let end = rest.find(|c: char| !(c.is_ascii_hexdigit() || c == ':' || c == '.')).unwrap_or(rest.len());
    rest.get(..end).map(|address| address.trim_end_matches(':')).filter(|address| address.contains(':'))
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

    /// Messages of drivers of three ages, shortened: `GPU at` of long ago, the three lines of a GPU that is gone
    /// when the module is loaded, and the line beside a Xid.
    #[test]
    fn gpus_that_fell_off_the_bus() {
        let said = |lines: &[&str]| {
            let log = Log {
                command: "dmesg".to_owned(),
                lines: lines.iter().map(|line| (*line).to_owned()).collect(),
                before: Ok(Vec::new()),
            };
            let told: Vec<String> = log.fallen().iter().map(|(device, _)| (*device).to_owned()).collect();
            told
        };
        assert_eq!(said(&["[ 49.2] NVRM: GPU at 0000:01:00.0 has fallen off the bus."]), ["0000:01:00.0"]);
        assert_eq!(said(&["NVRM: GPU 0000:41:00.0: GPU has fallen off the bus."]), ["0000:41:00.0"]);
        let lines = [
            "[ 18.3] NVRM: The NVIDIA GPU 0000:b3:00.0",
            "        NVRM: (PCI ID: 10de:26b5) installed in this system has",
            "        NVRM: fallen off the bus and is not responding to commands.",
        ];
        assert_eq!(said(&lines), ["0000:b3:00.0"]);
        assert_eq!(said(&["NVRM: GPU fallen off the bus."]), [""]);
        let xid = "NVRM: Xid (PCI:0000:01:00): 79, pid=1, GPU has fallen off the bus.";
        assert_eq!(said(&[xid]), Vec::<String>::new());
        assert_eq!(said(&[lines[0], lines[2], "nvidia-nvswitch: Probing device 0000:05:00.0"]).len(), 0);
    }

    #[test]
    fn a_xid_of_long_ago_has_no_pci() {
        let line = "[ 9.1] NVRM: Xid (0000:03:00): 14, Channel 00000001".to_owned();
        let log = Log { command: "dmesg".to_owned(), lines: vec![line], before: Ok(Vec::new()) };
        let xids: Vec<(&str, u32)> = log.xids().iter().map(|xid| (xid.device, xid.number)).collect();
        assert_eq!(xids, [("0000:03:00", 14)]);
    }

    #[test]
    fn the_journal_has_more() {
        let section = |command: &str, said: &str, status: &str| {
            format!("\n\u{1e}ask {command}\n{said}\n\u{1e}end {status}\n")
        };
        let old = "2026-11-20T01:00:00 gpu0 kernel: NVRM: Xid (PCI:0000:41:00): 48, pid=7, DBE\n";
        let new = "[9.1] NVRM: Xid (PCI:0000:41:00): 13, pid=8\n";
        let journal = "journalctl -k -b --no-pager -o short-iso";
        let earlier = "journalctl -k -b -1 --since=-1d --no-pager -o short-iso";
        // The kernel no longer has the beginning of its log.
        let cut = section("dmesg", new, "0") + &section(journal, &format!("{old}{new}"), "0");
        assert_eq!(parse(&Sections::split(&cut)).unwrap().xids().len(), 2);
        let short = section("dmesg", new, "0") + &section(journal, "", "0");
        assert_eq!(parse(&Sections::split(&short)).unwrap().command, "dmesg");
        // The boot before.
        let before = |said: &str, status: &str| {
            let text = section("dmesg", new, "0") + &section(earlier, said, status);
            let log = parse(&Sections::split(&text)).unwrap();
            assert_eq!(log.xids().len(), 1, "a Xid of the boot before is none of this one");
            log.xids_before().map(|xids| xids.len()).map_err(|gap| gap.kind)
        };
        assert_eq!(before(old, "0"), Ok(1));
        assert_eq!(before("", "0"), Ok(0));
        assert_eq!(before("Data from the specified boot (-1) is not available", "1"), Err(GapKind::Failed));
        let hint = "Hint: You are currently not seeing messages from other users and the system.";
        assert_eq!(before(hint, "0"), Err(GapKind::Garbled));
    }

    #[test]
    fn a_log_that_nobody_may_read_is_a_gap() {
        let denied = "\n\u{1e}ask dmesg\ndmesg: read kernel buffer failed: Operation not permitted\n\n\u{1e}end 1\n\n\u{1e}ask journalctl -k -b --no-pager -o short-iso\n\n\u{1e}end missing\n";
        assert_eq!(parse(&Sections::split(denied)).unwrap_err().kind, GapKind::Failed);
        assert!(parse(&Sections::split("")).is_err());
    }
}
