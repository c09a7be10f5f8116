//! The kernel's log since the boot: the lines that the catalogue of causes knows.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::probe::Probe;
use super::section::Sections;
use super::{Gap, GapKind, Seen};
use crate::causes::{self, Output, Said};
use crate::transport::Script;

/// Messages of the kernel.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Log {
    /// The command that showed it.
    pub command: String,
    /// The lines that matter, oldest first.
    pub lines: Vec<String>,
    /// Lines about GPUs that the journal has of the boot before, of the last day.
    pub before: Seen<Vec<String>>,
}

/// The kernel's log since the boot.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct LogQuery;

pub(crate) const FAMILY: &super::Family = <LogQuery as super::Question>::FAMILY;

impl Probe for LogQuery {
    type Shown = Seen<Log>;
    const NAME: &'static str = "log";
    const SCRIPT: &'static str = crate::shell!("facts/probe/ask.sh", "facts/log/log.sh");
    const DEADLINE: Option<Duration> = Some(Duration::from_secs(45));

    fn script() -> Script {
        let signs = |check: Option<&str>| {
            causes::sift(Output::Kernel, |cause| check.is_none_or(|check| cause.check == check))
        };
        Script::new(Self::SCRIPT)
            .named("signs", signs(None))
            .named("signs of the boot before", signs(Some(XIDS)))
    }

    fn read(sections: &Sections<'_>) -> Seen<Log> {
        parse(sections)
    }
}

/// The check whose causes are looked for in the boot before.
const XIDS: &str = "gpu.xid";
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
    /// Reads the causes in it: one for each line that is a sign of one.
    pub fn said(&self) -> Vec<Said<'_>> {
        causes::read(self.lines.iter().map(String::as_str))
    }

    /// The same of the boot before, of the last day.
    ///
    /// # Errors
    /// What keeps the journal from being read.
    pub fn said_before(&self) -> Result<Vec<Said<'_>>, &Gap> {
        self.before.as_ref().map(|lines| causes::read(lines.iter().map(String::as_str)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn log(lines: &[&str]) -> Log {
        Log {
            command: "dmesg".to_owned(),
            lines: lines.iter().map(|line| (*line).to_owned()).collect(),
            before: Ok(Vec::new()),
        }
    }

    fn xids<'a>(said: &[Said<'a>]) -> Vec<(&'a str, &'a str)> {
        let xid = |said: &Said<'a>| Some((said.device(), said.part("number")?));
        said.iter().filter(|said| said.cause.check == XIDS).filter_map(xid).collect()
    }

    /// Lines as the kernel and the NVIDIA driver print them.
    const LOG: &str = "\n\u{1e}ask dmesg\n\n\u{1e}end 1\ndmesg: read kernel buffer failed: Operation not permitted\n\n\u{1e}ask journalctl -k -b --no-pager -o short-iso\nNVRM: Xid (PCI:0000:34:00): 45, Ch 00000010\n2026-11-21T02:00:00 gpu0 kernel: nvidia-nvswitch: Probing device 0000:05:00.0\nNVRM: Xid (PCI:0000:8a:00): 79, pid=55182, name=python, GPU has fallen off the bus.\nNVRM: Xid (PCI:0000:01:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.\nNVRM: Xid (PCI:0000:10:1c): 63, pid=1896, Row Remapper: New row marked for remapping, reset gpu to activate.\nnvidia-nvswitch3: SXid (PCI:0000:c1:00.0): 28006, Non-fatal, Link 46 MC TS crumbstore MCTO (First)\nnvidia-nvswitch3: SXid (PCI:0000:c1:00.0): 28006, Severity 0 Engine instance 46\nNVRM: Xid (PCI:\n\u{1e}end 0\n";

    #[test]
    fn errors_since_the_reset() {
        let log = parse(&Sections::split(LOG)).unwrap();
        assert!(log.command.starts_with("journalctl"));
        let said = log.said();
        assert_eq!(xids(&said), [("0000:8a:00", "79"), ("0000:01:00", "79"), ("0000:10:1c", "63")]);
        // Lines that go on with data of an event are none.
        assert_eq!(said.iter().filter(|said| said.cause.id.starts_with("sxid.")).count(), 1);
    }

    /// Messages of drivers of three ages, shortened: `GPU at` of long ago, the three lines of a GPU that is gone
    /// when the module is loaded, and the line beside a Xid.
    #[test]
    fn gpus_that_fell_off_the_bus() {
        let fallen = |lines: &[&str]| {
            let log = log(lines);
            let said = log.said();
            let fell = said.iter().filter(|said| said.cause.id == "nvidia.off_the_bus");
            fell.map(|said| said.device().to_owned()).collect::<Vec<String>>()
        };
        assert_eq!(fallen(&["[ 49.2] NVRM: GPU at 0000:01:00.0 has fallen off the bus."]), ["0000:01:00.0"]);
        assert_eq!(fallen(&["NVRM: GPU 0000:41:00.0: GPU has fallen off the bus."]), ["0000:41:00.0"]);
        let lines = [
            "[ 18.3] NVRM: The NVIDIA GPU 0000:b3:00.0",
            "        NVRM: (PCI ID: 10de:26b5) installed in this system has",
            "        NVRM: fallen off the bus and is not responding to commands.",
        ];
        assert_eq!(fallen(&lines), ["0000:b3:00.0"]);
        assert_eq!(fallen(&["NVRM: GPU fallen off the bus."]), [""]);
        let xid = "NVRM: Xid (PCI:0000:01:00): 79, pid=1, GPU has fallen off the bus.";
        assert_eq!(fallen(&[xid]), Vec::<String>::new());
        let reset = "[ 19.1] nvidia-nvswitch: Probing device 0000:05:00.0";
        assert_eq!(fallen(&[lines[0], lines[2], reset]), Vec::<String>::new());
    }

    #[test]
    fn a_xid_of_long_ago_has_no_pci() {
        let log = log(&["[ 9.1] NVRM: Xid (0000:03:00): 14, Channel 00000001"]);
        assert_eq!(xids(&log.said()), [("0000:03:00", "14")]);
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
        assert_eq!(parse(&Sections::split(&cut)).unwrap().said().len(), 2);
        let short = section("dmesg", new, "0") + &section(journal, "", "0");
        assert_eq!(parse(&Sections::split(&short)).unwrap().command, "dmesg");
        // The boot before.
        let before = |said: &str, status: &str| {
            let text = section("dmesg", new, "0") + &section(earlier, said, status);
            let log = parse(&Sections::split(&text)).unwrap();
            assert_eq!(log.said().len(), 1, "a Xid of the boot before is none of this one");
            log.said_before().map(|said| said.len()).map_err(|gap| gap.kind)
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
