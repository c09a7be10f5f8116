//! Synchronisation of a host's clock, and its offset from the clock of this machine.
//!
//! Outputs: `chronyc tracking` (chronyc(1)), `ntpq -c rv` (ntpq(1)), `ntpctl -s status` (ntpctl(8)), what
//! phc2sys and ptp4l log (phc2sys(8), ptp4l(8)), `GET TIME_STATUS_NP` of pmc(8).

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::bounds;
use super::section::{Sections, pair};
use super::{Cost, Family, Gap, GapKind, Question, Seen, Touches};
use crate::transport::Script;

/// Programs that keep a clock, by the names of their processes.
pub const KEEPERS: &[&str] = &[
    "chronyd",
    "ntpd",
    "ntp-daemon",
    "systemd-timesyn",
    "phc2sys",
    "ts2phc",
    "timemaster",
    "ptpd",
    "ptpd2",
    "sfptpd",
];

/// Nanoseconds from its source within which a clock is kept by PTP.
const NEAR_NS: u64 = 1_000_000;
/// Seconds that a clock may be from the time that its own program knows.
const OFF_SECONDS: f64 = 1.0;
/// Seconds without a word of any server after which chrony's state is old: its longest usual pause is 1024.
const OLD_SECONDS: i64 = 24 * 3600;

/// Synchronisation of a clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kept {
    /// By a source.
    Well,
    /// By nothing but itself, on purpose: it serves its own time to others.
    Alone,
    /// It is not.
    Not,
}

/// Report of a tool on the clock.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Told {
    /// State of the synchronisation.
    pub kept: Kept,
    /// Description of the problem, where it is more than that the clock is not synchronised.
    pub trouble: Option<String>,
    /// The line that says so.
    pub line: String,
}

impl Told {
    fn new(kept: Kept, line: impl Into<String>) -> Self {
        Self { kept, trouble: None, line: line.into() }
    }

    fn off(trouble: String, line: String) -> Self {
        Self { kept: Kept::Not, trouble: Some(trouble), line }
    }
}

/// Report of each tool on the clock.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Clock {
    /// `chronyc tracking`.
    pub chrony: Seen<Told>,
    /// The files of systemd-timesyncd.
    pub timesyncd: Seen<Told>,
    /// `ntpctl`, of openntpd.
    pub openntpd: Seen<Told>,
    /// `ntpq`, of the other two that are called ntpd.
    pub ntpd: Seen<Told>,
    /// Log of phc2sys, or of ptp4l where that sets the clock of the system.
    pub ptp: Seen<Told>,
    /// Report of ptp4l on its master.
    pub master: Seen<Told>,
}

impl Clock {
    /// Returns the reports, the closest to the clock of the system first.
    pub fn told(&self) -> impl Iterator<Item = &Seen<Told>> {
        // What is logged of the clock itself is more than what is known of the master.
        let master = Some(&self.master).filter(|_| self.ptp.is_err());
        [&self.chrony, &self.timesyncd, &self.openntpd, &self.ntpd, &self.ptp].into_iter().chain(master)
    }
}

/// Reads what each tool says of the clock.
pub fn read(sections: &Sections<'_>) -> Clock {
    let list = sections.get("system").map(|section| section.stdout).unwrap_or_default();
    let field =
        |key: &str| list.lines().filter_map(pair).find(|(seen, _)| *seen == key).map(|(_, text)| text);
    let has =
        |name: &str| list.lines().filter_map(pair).any(|(key, value)| key == "process" && value == name);
    let now = field("now").and_then(|now| bounds::number(now, &bounds::TIME));
    // Without phc2sys it is ptp4l that may set the clock of the system; most often it sets that of its card.
    let by_ptp = has("phc2sys") || field("ptp_software").is_some();
    let ask =
        |words: &str, parse: &dyn Fn(&str) -> Result<Told, String>| match sections.starting(words).next() {
            Some((_, section)) => section.read(parse),
            None => Err(Gap::new(GapKind::Absent, words, "it does not keep the clock here")),
        };
    let of_ptp = |words: &str, parse: &dyn Fn(&str) -> Result<Told, String>| {
        if by_ptp {
            ask(words, parse)
        } else {
            Err(Gap::new(GapKind::Absent, words, "PTP does not set the clock"))
        }
    };
    Clock {
        chrony: ask("chronyc tracking", &|text| chronyc(text, now)),
        timesyncd: ask("ls /run/systemd/timesync", &|text| Ok(timesyncd(text))),
        openntpd: ask("ntpctl -s status", &openntpd),
        ntpd: ask("ntpq -c rv", &ntpq),
        ptp: of_ptp("journalctl -b", &|text| logged(text, has("phc2sys"))),
        master: of_ptp("pmc ", &pmc),
    }
}

/// The value behind a label of `chronyc tracking`.
fn value<'a>(text: &'a str, label: &str) -> Option<&'a str> {
    text.lines().find_map(|line| {
        let (key, value) = line.split_once(':')?;
        (key.trim() == label).then(|| value.trim())
    })
}

fn chronyc(text: &str, now: Option<i64>) -> Result<Told, String> {
    let leap = value(text, "Leap status").ok_or("it shows no leap status")?;
    let line = format!("Leap status : {leap}");
    if leap.contains("Not synchronised") {
        return Ok(Told::new(Kept::Not, line));
    }
    // `46800.000006523 seconds slow of NTP time`: it is on the way there, or has given up.
    if let Some(system) = value(text, "System time")
        && let Some(seconds) = system.split(' ').next().and_then(|number| number.parse::<f64>().ok())
        && !(0.0..=OFF_SECONDS).contains(&seconds.abs())
    {
        let trouble = format!("the clock is {system}, whatever its leap status says");
        return Ok(Told::off(trouble, format!("System time : {system}")));
    }
    // Its own clock (`local` in chrony.conf), as 127.127.1.1.
    if let Some(reference) = value(text, "Reference ID").filter(|id| id.starts_with("7F7F01")) {
        return Ok(Told::new(Kept::Alone, format!("Reference ID : {reference}")));
    }
    if let (Some(seen), Some(now)) = (value(text, "Ref time (UTC)"), now)
        && let Some(age) = reference_time(seen).map(|then| now.saturating_sub(then))
        && age > OLD_SECONDS
    {
        let trouble = format!("no server was heard for {}", duration(age.unsigned_abs()));
        return Ok(Told::off(trouble, format!("Ref time (UTC) : {seen}")));
    }
    Ok(Told::new(Kept::Well, line))
}

/// Seconds of `Fri Jan 27 09:49:17 2017`.
fn reference_time(text: &str) -> Option<i64> {
    let time = jiff::fmt::strtime::parse("%a %b %d %H:%M:%S %Y", text).ok()?.to_datetime().ok()?;
    Some(time.to_zoned(jiff::tz::TimeZone::UTC).ok()?.timestamp().as_second())
}

/// systemd-timesyncd makes that file when it has set the clock.
fn timesyncd(text: &str) -> Told {
    if text.lines().any(|line| line == "synchronized") {
        Told::new(Kept::Well, "systemd-timesyncd has set the clock")
    } else {
        Told::new(Kept::Not, "never set by systemd-timesyncd")
    }
}

/// `4/4 peers valid, clock synced, stratum 3`.
fn openntpd(text: &str) -> Result<Told, String> {
    let line =
        text.lines().find(|line| line.contains("clock ")).ok_or("it says nothing of the clock")?.trim();
    let kept = if line.contains("clock synced") { Kept::Well } else { Kept::Not };
    Ok(Told::new(kept, line))
}

/// `associd=0 status=0615 leap_none, sync_ntp, 1 event, clock_sync,`.
fn ntpq(text: &str) -> Result<Told, String> {
    let line = text.lines().find(|line| line.contains("leap_")).ok_or("it shows no leap status")?.trim();
    let lost = line.contains("leap_alarm") || line.contains("sync_unspec");
    let kept = match line {
        _ if lost => Kept::Not,
        // The undisciplined local clock, as LOCL.
        _ if line.contains("sync_local") => Kept::Alone,
        _ => Kept::Well,
    };
    Ok(Told::new(kept, line))
}

/// The last of the lines that phc2sys logs of the clock of the system, else ptp4l:
/// `CLOCK_REALTIME phc offset 23 s2 freq +5131 delay 1623`, `master offset -3 s2 freq +34 path delay 345`, and in
/// summaries (`summary_interval`, `-u`) `rms 14 max 33 freq +5121 +/- 30`, with phc2sys behind `CLOCK_REALTIME`.
fn logged(text: &str, by_phc2sys: bool) -> Result<Told, String> {
    let of = |line: &&str| {
        if by_phc2sys {
            line.contains("CLOCK_REALTIME") || line.contains("Waiting for ptp4l")
        } else {
            line.contains("master offset") || line.contains("] rms ")
        }
    };
    let line = text.lines().rfind(of).ok_or("it logs no offset")?.trim();
    let line = line.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut words = line.split(' ');
    let number = words.find(|word| matches!(*word, "offset" | "rms")).and_then(|_| words.next());
    let Some(offset) = number.and_then(|number| number.parse::<i64>().ok()) else {
        return Ok(Told::off("phc2sys waits for ptp4l".to_owned(), line));
    };
    // Of an unlocked servo the offset says nothing: s0; s1 is the step to the right time.
    let unlocked = words.next().is_some_and(|word| word == "s0");
    if unlocked || offset.unsigned_abs() > NEAR_NS {
        return Ok(Told::off(format!("{offset} ns from the PTP clock"), line));
    }
    Ok(Told::new(Kept::Well, line))
}

fn pmc(text: &str) -> Result<Told, String> {
    let field = |name: &str| {
        let words = text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
        words.filter(|words| words.first() == Some(&name)).find_map(|words| Some(words.get(1)?.to_string()))
    };
    let (Some(present), Some(offset)) = (field("gmPresent"), field("master_offset")) else {
        return Err("it shows no gmPresent and master_offset".to_owned());
    };
    let line = format!("gmPresent {present}, master_offset {offset}");
    let near = offset.parse::<i64>().is_ok_and(|offset| offset.unsigned_abs() <= NEAR_NS);
    if present == "true" && near {
        return Ok(Told::new(Kept::Well, line));
    }
    let trouble = if present == "true" {
        format!("{offset} ns from its master")
    } else {
        "ptp4l has no master".to_owned()
    };
    Ok(Told::off(trouble, line))
}

/// Seconds as people say them: `13 h 0 min`, `47 s`.
pub fn duration(seconds: u64) -> String {
    match seconds {
        0..120 => format!("{seconds} s"),
        120..7200 => format!("{} min", seconds / 60),
        7200..172_800 => format!("{} h {} min", seconds / 3600, seconds % 3600 / 60),
        _ => format!("{} days", seconds / 86_400),
    }
}

/// Milliseconds that the clock of a host is ahead of that of this machine. The engine answers it from when it
/// asked, when the answer came, and what the host said that the time was.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct OffsetQuery;

/// The bounds of that, in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Offset {
    /// At least so far ahead; below zero it is behind.
    pub least: i64,
    /// At most so far ahead.
    pub most: i64,
}

impl Offset {
    /// Computes the offset from the whole seconds that a host said between two times.
    pub fn new(seconds: i64, asked: Timestamp, answered: Timestamp) -> Self {
        let said = seconds.saturating_mul(1000);
        Self {
            least: said.saturating_sub(answered.as_millisecond()),
            most: said.saturating_add(1000).saturating_sub(asked.as_millisecond()),
        }
    }
}

impl Question for OffsetQuery {
    type Answer = Offset;
    const FAMILY: &'static Family = FAMILY;

    fn label(&self) -> String {
        "clock".to_owned()
    }

    fn touched_by(&self, _: &Touches) -> bool {
        // The engine knows itself when it asks again.
        false
    }
}

const FAMILY: &Family = &Family {
    cost: Cost::Apart,
    ..Family::new("clock", |_| Script::new(":"), |_, _, _| Vec::new(), |_| None)
};

#[cfg(test)]
mod tests {
    use super::*;

    fn of(list: &str, command: &str, text: &str) -> Told {
        let output =
            format!("\n\u{1e}ask system\n{list}\n\u{1e}end 0\n\n\u{1e}ask {command}\n{text}\n\u{1e}end 0\n");
        let clock = read(&Sections::split(&output));
        let told: Vec<&Told> = clock.told().flatten().collect();
        assert_eq!(told.len(), 1, "{command}: {clock:?}");
        told[0].clone()
    }

    /// Formats of chrony 3 to 4.7, `NTPsec` 1.2, `OpenNTPD` 6.2 and linuxptp 1.8 to 4.4.
    #[test]
    fn every_program_that_keeps_a_clock() {
        let tracking = |reference: &str, time: &str, off: &str, leap: &str| {
            format!(
                "Reference ID    : {reference}\nStratum         : 3\nRef time (UTC)  : {time}\nSystem time     : {off} of NTP time\nLast offset     : -0.000006747 seconds\nLeap status     : {leap}\n"
            )
        };
        let (server, when) = ("C0A80001 (10.0.0.1)", "Sun Nov 29 08:00:00 2026");
        let (near, noon) = ("0.000006523 seconds slow", "now=1795942800");
        let log = "journalctl -b -n 60 -o cat --no-pager -t phc2sys -t ptp4l";
        let rows = [
            (noon, "chronyc tracking", tracking(server, when, near, "Normal"), Kept::Well),
            (noon, "chronyc tracking", tracking(server, when, near, "Insert second"), Kept::Well),
            (noon, "chronyc tracking", tracking(server, when, near, "Not synchronised"), Kept::Not),
            (noon, "chronyc tracking", tracking(server, when, "46800.000006523 seconds fast", "Normal"), Kept::Not),
            (noon, "chronyc tracking", tracking(server, "Thu Nov 26 08:00:00 2026", near, "Normal"), Kept::Not),
            ("", "chronyc tracking", tracking(server, "Thu Nov 26 08:00:00 2026", near, "Normal"), Kept::Well),
            (noon, "chronyc tracking", tracking("7F7F0101 ()", when, near, "Normal"), Kept::Alone),
            (noon, "chronyc tracking", "Leap status     : Normal".to_owned(), Kept::Well),
            ("", "ls /run/systemd/timesync", "synchronized".to_owned(), Kept::Well),
            ("", "ls /run/systemd/timesync", String::new(), Kept::Not),
            ("process=ntpd", "ntpctl -s status", "4/4 peers valid, clock synced, stratum 3".to_owned(), Kept::Well),
            ("process=ntpd", "ntpctl -s status", "0/4 peers valid, clock unsynced, clock offset is 1.2ms".to_owned(), Kept::Not),
            ("process=ntpd", "ntpq -c rv", "associd=0 status=0615 leap_none, sync_ntp, 1 event, clock_sync,\nversion=\"ntpd ntpsec-1.2.2\", stratum=3,".to_owned(), Kept::Well),
            ("process=ntpd", "ntpq -c rv", "associd=0 status=c016 leap_alarm, sync_unspec, 1 event, restart,".to_owned(), Kept::Not),
            ("process=ntpd", "ntpq -c rv", "associd=0 status=0545 leap_none, sync_local, 4 events, freq_set,".to_owned(), Kept::Alone),
            ("process=phc2sys", log, "[12.1] CLOCK_REALTIME phc offset     99999999 s0 freq +0 delay 1\n[187.6] CLOCK_REALTIME phc offset        23 s2 freq   +5131 delay   1623\n[188.0] master offset -3 s2 freq +34 path delay 345".to_owned(), Kept::Well),
            ("process=phc2sys", log, "[187.6] [phc2sys.0.config] CLOCK_REALTIME phc offset       -41 s3 freq -5 delay 512".to_owned(), Kept::Well),
            ("process=phc2sys", log, "[187.6] CLOCK_REALTIME rms   14 max   33 freq  +5121 +/-  30 delay  1620 +/-   0".to_owned(), Kept::Well),
            ("process=phc2sys", log, "[187.6] CLOCK_REALTIME sys offset  37000000000 s2 freq +5131 delay 1623".to_owned(), Kept::Not),
            ("process=phc2sys", log, "[187.6] CLOCK_REALTIME phc offset       -41 s0 freq -5 delay 512".to_owned(), Kept::Not),
            ("process=phc2sys", log, "[187.6] Waiting for ptp4l...".to_owned(), Kept::Not),
            ("process=ptp4l\nptp_software=1", log, "[187.6] master offset         -3 s2 freq  +34 path delay       345".to_owned(), Kept::Well),
            // NTPsec 1.2.2, OpenNTPD 6.2 and linuxptp 3.1 and 4.4, as they were heard on 2026-11-29.
            ("process=ntpd", "ntpq -c rv", "associd=0 status=c016 leap_alarm, sync_unspec, 1 event, restart,\nleap=11, stratum=16, precision=-24, rootdelay=0.0, rootdisp=0.09, refid=INIT,\nreftime=00000000.00000000 2036-02-07T06:28:16.000Z, tc=0, peer=0, offset=0.0,\nfrequency=0.0, sys_jitter=0.0, clk_jitter=6e-05,\nsystem=\"Linux/6.1.0-37-amd64\", version=\"ntpd ntpsec-1.2.2\", clk_wander=0.0,\nmintc=0".to_owned(), Kept::Not),
            ("process=ntpd", "ntpctl -s status", "0/1 peers valid, clock unsynced".to_owned(), Kept::Not),
            ("process=ptp4l\nptp_software=1", log, "[2732.834] master offset        126 s0 freq    +110 path delay      1988".to_owned(), Kept::Not),
            ("process=ptp4l\nptp_software=1", log, "[3002.700] rms  189 max  273 freq     +0 +/-   0 delay  2017 +/-  11\n[3007.704] failed to adjust the clock: Operation not permitted".to_owned(), Kept::Well),
            ("process=ptp4l\nptp_software=1", log, "[3002.700] rms  8273000 max  9000000 freq     +0 +/-   0 delay  2017 +/-  11".to_owned(), Kept::Not),
            ("process=phc2sys", log, "[2685.539] Waiting for ptp4l...\n[2689.537] poll failed".to_owned(), Kept::Not),
            ("process=phc2sys", "pmc -u -b 0 GET TIME_STATUS_NP", "sending: GET TIME_STATUS_NP\n\tea165d.fffe.c99bac-0 seq 0 RESPONSE MANAGEMENT TIME_STATUS_NP \n\t\tmaster_offset              110\n\t\tingress_time               1795982430533226138\n\t\tcumulativeScaledRateOffset +0.000000000\n\t\tgmPresent                  true\n\t\tgmIdentity                 f6dd71.fffe.ff6a78".to_owned(), Kept::Well),
            ("process=phc2sys", "pmc -u -b 0 GET TIME_STATUS_NP", "sending: GET TIME_STATUS_NP\n\t\tmaster_offset              310\n\t\tgmPresent                  true\n".to_owned(), Kept::Well),
            ("process=phc2sys", "pmc -u -b 0 GET TIME_STATUS_NP", "\t\tmaster_offset              0\n\t\tgmPresent                  false\n".to_owned(), Kept::Not),
        ];
        for (list, command, text, kept) in rows {
            let told = of(list, command, &text);
            assert_eq!(told.kept, kept, "{text}: {told:?}");
        }
    }

    /// Tools that heard no answer end with 0: `ntpq` of ntpsec where it may not ask or nobody listens, `pmc` without a
    /// ptp4l.
    #[test]
    fn no_answer_is_no_verdict() {
        for (list, command, text) in [
            ("process=ntpd", "ntpq -c rv", "***Request timed out\n"),
            ("process=ntpd", "ntpq -c rv", "***Socket error; probably ntpd is not running\n"),
            ("process=phc2sys", "pmc -u -b 0 GET TIME_STATUS_NP", "sending: GET TIME_STATUS_NP\n"),
        ] {
            let output = format!(
                "\n\u{1e}ask system\n{list}\n\u{1e}end 0\n\n\u{1e}ask {command}\n{text}\n\u{1e}end 0\n"
            );
            let clock = read(&Sections::split(&output));
            assert_eq!(clock.told().flatten().count(), 0, "{text}: {clock:?}");
        }
    }

    #[test]
    fn an_offset_is_bounded_by_how_long_asking_took() {
        let time = |second: i64| Timestamp::from_second(second).unwrap();
        let offset = Offset::new(46_802, time(1), time(3));
        assert_eq!(offset, Offset { least: 46_799_000, most: 46_802_000 });
        assert_eq!([47, 300, 46_800, 400_000].map(duration), ["47 s", "5 min", "13 h 0 min", "4 days"]);
    }
}
