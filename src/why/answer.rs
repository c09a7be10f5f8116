//! The answer: the first cause, what else is said, who broke and who waited, and what is not known.

use std::io::Read;
use std::sync::LazyLock;

use aho_corasick::AhoCorasick;
use indexmap::IndexMap;
use serde::Serialize;

use super::ranks::{Ranks, Verdict};
use super::text::{Limits, Text, TextError, Texts};
use crate::causes::{Counts, Finding, Place, Reading, Remedy, Role, Sure};

/// Longest line that is shown, in characters.
const SHOWN: usize = 300;
/// Most kinds of lines that are not known.
const UNKNOWN: usize = 1000;

/// A finding, with all that is said of it.
#[derive(Debug, Clone, Serialize)]
pub struct Told {
    /// Its row of the catalogue.
    pub id: &'static str,
    /// In a few words.
    pub says: String,
    /// Its meaning.
    pub means: &'static str,
    /// Remedy; empty for what is harmless.
    pub act: String,
    /// The heaviest thing that the remedy asks for.
    #[serde(serialize_with = "remedy")]
    pub remedy: Remedy,
    /// Certainty.
    #[serde(serialize_with = "sure")]
    pub sure: Sure,
    /// The check of `provision verify` that asks for it.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub check: &'static str,
    /// Sources: a page and its day.
    pub sources: Vec<String>,
    /// The text and the number of the first line.
    pub place: String,
    /// The first line.
    pub line: String,
    /// Number of such lines.
    pub times: usize,
    /// Ranks or hosts that say it, folded; empty where they are not told apart.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub by: String,
}

/// Returns the word of a remedy.
pub(super) fn remedy_word(remedy: Remedy) -> &'static str {
    match remedy {
        Remedy::Look => "look",
        Remedy::Settings => "settings",
        Remedy::Install => "install",
        Remedy::Reset => "reset",
        Remedy::Replace => "replace",
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde gives a reference")]
fn remedy<S: serde::Serializer>(remedy: &Remedy, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(remedy_word(*remedy))
}

/// Returns the word of a certainty.
pub fn sure_word(sure: Sure) -> &'static str {
    match sure {
        Sure::Guess => "guess",
        Sure::Likely => "likely",
        Sure::Confirmed => "confirmed",
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde gives a reference")]
fn sure<S: serde::Serializer>(sure: &Sure, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(sure_word(*sure))
}

/// Lines that speak of an error and that the catalogue does not have.
#[derive(Debug, Clone, Serialize)]
pub struct Unknown {
    /// The text and the number of the first line.
    pub place: String,
    /// The first line.
    pub line: String,
    /// Number of lines that differ in numbers only.
    pub times: usize,
}

/// Ranks of a job.
#[derive(Debug, Clone, Serialize)]
pub struct Job {
    /// Number of ranks.
    pub size: u64,
    /// Those that broke.
    pub broke: Vec<String>,
    /// The reason, where the catalogue has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub says: Option<String>,
    /// Remedy in that case.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub act: Option<&'static str>,
}

/// The answer to some texts.
#[derive(Debug, Clone, Serialize)]
pub struct Answer {
    /// The texts that were read.
    pub texts: Vec<Text>,
    /// The first cause, or where no line names one the first effect.
    pub first: Option<Told>,
    /// Whether the first one is a cause.
    pub is_cause: bool,
    /// Other causes.
    pub others: Vec<Told>,
    /// Consequences.
    pub follows: Vec<Told>,
    /// Lines that look like errors and need no action.
    pub harmless: Vec<Told>,
    /// Lines that speak of an error and are not known.
    pub unknown: Vec<Unknown>,
    /// The job, where several of its ranks speak.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub job: Option<Job>,
}

/// Reads texts to an answer.
#[derive(Debug, Default)]
pub struct Why {
    texts: Texts,
    reading: Reading,
    ranks: Ranks,
    unknown: IndexMap<String, (Place, String, usize)>,
    /// Whether authors are told apart by the names of their texts.
    several: bool,
}

impl Why {
    /// A reader of several texts, or of one.
    pub fn new(several: bool, limits: Limits) -> Self {
        Self { texts: Texts::within(limits), several, ..Self::default() }
    }

    /// Reads a text, whether or not it is compressed.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn read(&mut self, name: &str, from: &mut dyn Read) -> Result<(), TextError> {
        let (reading, ranks, unknown) = (&mut self.reading, &mut self.ranks, &mut self.unknown);
        let several = self.several;
        let mut last = usize::MAX;
        self.texts.read(name, from, &mut |texts, number, line| {
            let text = texts.len().saturating_sub(1);
            if text != last {
                reading.end_of_text();
                last = text;
            }
            let name =
                texts.last().map(|text| text.name.as_str()).filter(|name| several || name.contains(':'));
            let speaker = ranks.line(line, name);
            let place = Place { text, line: number };
            if reading.line(line, place, speaker.as_deref()).is_none() && is_error(line) {
                if let Some(speaker) = &speaker {
                    ranks.error(speaker, line);
                }
                let key = numberless(line);
                if let Some((_, _, times)) = unknown.get_mut(&key) {
                    *times += 1;
                } else if unknown.len() < UNKNOWN {
                    unknown.insert(key, (place, line.trim().to_owned(), 1));
                }
            }
        })
    }

    /// Takes note of a text that cannot be read.
    pub fn unread(&mut self, error: &TextError) {
        self.texts.unread(&error.name, &error.reason);
    }

    /// Returns the answer.
    pub fn answer(self) -> Answer {
        let ranked = self.reading.ranked();
        let told = |finding: &Finding| self.told(finding);
        let (harmless, grave): (Vec<_>, Vec<_>) = ranked.iter().partition(|one| one.counts == Counts::Note);
        let (causes, follows): (Vec<&Finding>, Vec<&Finding>) =
            grave.into_iter().partition(|one| one.role == Role::Cause);
        let job = self.job(&causes);
        let is_cause = !causes.is_empty();
        let mut causes = causes.into_iter().map(told);
        let mut follows = follows.into_iter().map(told);
        let first = if is_cause { causes.next() } else { follows.next() };
        Answer {
            first,
            is_cause,
            others: causes.collect(),
            follows: follows.collect(),
            harmless: harmless.into_iter().map(told).collect(),
            unknown: self
                .unknown
                .values()
                .map(|(place, line, times)| Unknown {
                    place: self.place(*place),
                    line: shown(line),
                    times: *times,
                })
                .collect(),
            job,
            texts: self.texts.all,
        }
    }

    /// Returns who broke: those whose lines name the first cause, where the others say nothing of it, else who is set
    /// apart by what the lines of all tell.
    fn job(&self, causes: &[&Finding]) -> Option<Job> {
        if self.ranks.count() < 2 {
            return None;
        }
        let size = self.ranks.size();
        let few =
            |finding: &&&Finding| !finding.speakers.is_empty() && (finding.speakers.len() as u64) * 2 <= size;
        if let Some(first) = causes.first().filter(few) {
            let broke = first.speakers.keys().map(|key| self.ranks.name(key)).collect();
            return Some(Job { size, broke, says: None, act: None });
        }
        let odd = if causes.is_empty() { self.ranks.odd() } else { None };
        let Verdict { who, says, act } = self.ranks.other_network().or(odd)?;
        Some(Job { size, broke: who, says: Some(says), act: Some(act) })
    }

    fn told(&self, finding: &Finding) -> Told {
        let cause = finding.cause;
        let device = finding.parts.get("device").filter(|device| !device.is_empty());
        let says = finding.says();
        let says = match device {
            Some(device) if !says.contains(device) => format!("{device}: {says}"),
            _ => says,
        };
        Told {
            id: cause.id,
            says,
            means: cause.means,
            act: self.reading.act(finding),
            remedy: cause.remedy,
            sure: cause.sure,
            check: cause.check,
            sources: cause
                .sources
                .iter()
                .map(|source| format!("{} ({})", source.place, source.day))
                .collect(),
            place: self.place(finding.first),
            line: shown(&finding.line),
            times: finding.times,
            by: self.by(finding),
        }
    }

    /// Returns who says it; nothing where that is only the text whose place is shown.
    fn by(&self, finding: &Finding) -> String {
        let text = self.texts.all.get(finding.first.text).map_or("", |text| text.name.as_str());
        match finding.speakers.keys().next() {
            Some(only) if finding.speakers.len() == 1 && only == text => String::new(),
            _ => self.ranks.folded(finding.speakers.keys().map(String::as_str)),
        }
    }

    fn place(&self, place: Place) -> String {
        let name = self.texts.all.get(place.text).map_or("", |text| text.name.as_str());
        format!("{name}:{}", place.line)
    }
}

fn shown(line: &str) -> String {
    let mut text: String = line.chars().take(SHOWN).collect();
    if text.len() < line.len() {
        text.push_str(" ...");
    }
    text
}

static ERRORS: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| {
    const WORDS: &[&str] = &[
        "error",
        "fatal",
        "failed",
        "failure",
        "panic",
        "traceback",
        "exception",
        "denied",
        "refused",
        "cannot ",
        "can't ",
        "could not",
        "no such ",
        "not found",
        "unable to",
        "timed out",
        "timeout",
        "aborted",
        "segmentation fault",
        "core dumped",
        "killed",
        "corrupt",
    ];
    AhoCorasick::builder().ascii_case_insensitive(true).build(WORDS).ok()
});

/// Whether a line speaks of an error. A level below a warning says that it does not, nor does a part of a name.
fn is_error(line: &str) -> bool {
    const CALM: &[&str] = &["NCCL INFO", "level=info", "[INFO]", " INFO ", "debug:", "DEBUG", "ommand line:"];
    let Some(words) = ERRORS.as_ref() else { return false };
    let is_name = |byte: Option<&u8>| byte.is_some_and(|byte| byte.is_ascii_digit() || b"-_.".contains(byte));
    let bytes = line.as_bytes();
    let alone = |found: aho_corasick::Match| {
        !is_name(found.start().checked_sub(1).and_then(|at| bytes.get(at)))
            && !is_name(bytes.get(found.end()))
    };
    words.find_iter(line).any(alone)
        && !CALM.iter().any(|word| line.contains(word))
        && !is_field(line)
        && !is_information(line)
}

/// Whether a program of Kubernetes or of NVIDIA's toolkit says that a line is for information: `I0418 18:12:58.648518`.
fn is_information(line: &str) -> bool {
    let digits = |from: usize, to: usize| {
        line.as_bytes().get(from..to).is_some_and(|bytes| bytes.iter().all(u8::is_ascii_digit))
    };
    line.starts_with('I') && digits(1, 5) && digits(6, 8) && line.as_bytes().get(8) == Some(&b':')
}

/// Whether a line is a heading, or a field that counts no error: `Correctable Error    : 0`.
fn is_field(line: &str) -> bool {
    const NONE: &[&str] = &["0", "N/A", "None", "No", "Not Active", "Disabled"];
    let line = line.trim();
    if let Some((name, value)) = line.rsplit_once(" : ") {
        return NONE.contains(&value.trim()) && !name.contains(':');
    }
    let is_title = |word: &str| {
        word.starts_with(|c: char| c.is_ascii_uppercase())
            && word.bytes().all(|byte| byte.is_ascii_alphanumeric())
    };
    line.split(' ').count() < 4 && line.split(' ').all(is_title)
}

/// Returns a line with `#` in place of what numbers it.
fn numberless(line: &str) -> String {
    let mut text = String::new();
    for part in line.trim().split_inclusive(|c: char| !c.is_ascii_alphanumeric()) {
        let word = part.trim_end_matches(|c: char| !c.is_ascii_alphanumeric());
        let is_number = word.bytes().any(|byte| byte.is_ascii_digit());
        text.push_str(if is_number { "#" } else { word });
        text.push_str(part.get(word.len()..).unwrap_or(""));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_without_errors_are_none() {
        for (line, wanted) in [
            ("ECC Errors", false),
            ("        Correctable Error                              : 0", false),
            ("            Xid Error                                  : N/A", false),
            ("        Correctable Error                              : 12", true),
            ("Connection timed out", true),
            ("Segmentation fault", true),
            ("E: something failed", true),
            ("I0418 18:12:58.648518 217303 nvc.c:395] dxcore initialization failed, continuing", false),
            ("E0418 18:12:58.648518       1 main.go:1] dxcore initialization failed", true),
            ("I0418 failed", true),
        ] {
            assert_eq!(is_error(line), wanted, "{line}");
        }
    }
}
