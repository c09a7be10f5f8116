//! Reads texts of any length, line by line, into findings: what the catalogue knows of them, grouped, each with its
//! first place; and ranks them, the first cause in front.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

use regex::Regex;

use super::cause::{Cause, Counts, Role, When};
use super::table::{fill, judge_line};

/// Lines before and behind a sign in which what belongs to it is looked for.
const NEAR: usize = 20;
/// Most findings that are told apart, and most speakers that one of them keeps.
const MOST: usize = 4096;

/// Returns a line as a terminal without UTF-8 prints it: compilers and pages of the web set quotes in pairs, and pages
/// have spaces that do not break. Signs know the plain ones only.
fn plain(line: &str) -> Cow<'_, str> {
    if memchr::memchr2(0xe2, 0xc2, line.as_bytes()).is_none() {
        return Cow::Borrowed(line);
    }
    let plain = |c: char| match c {
        '‘' | '’' => '\'',
        '“' | '”' => '"',
        '\u{a0}' => ' ',
        other => other,
    };
    Cow::Owned(line.chars().map(plain).collect())
}

/// A line of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// Number of the text, from 0.
    pub text: usize,
    /// Number of its line, from 1.
    pub line: u64,
}

/// All lines that say one thing.
#[derive(Debug, Clone)]
pub struct Finding {
    /// Row of the catalogue.
    pub cause: &'static Cause,
    /// Parts of the first line, and of those near it.
    pub parts: BTreeMap<String, String>,
    /// The first line, trimmed.
    pub line: String,
    /// Place of the first line.
    pub first: Place,
    /// Number of lines.
    pub times: usize,
    /// Speakers with the first place of each, where they are known: ranks, hosts.
    pub speakers: BTreeMap<String, Place>,
    /// Severity, by all that is said.
    pub counts: Counts,
    /// Place between first cause and last consequence, by all that is said.
    pub role: Role,
    /// Whether a later line took it back.
    ended: bool,
}

impl Finding {
    /// Returns what it says, in the words of the catalogue.
    pub fn says(&self) -> String {
        fill(self.cause.says, |name| self.parts.get(name).map(String::as_str))
    }

    fn device(&self) -> &str {
        self.parts.get("device").map_or("", String::as_str)
    }
}

/// Findings of the texts that were read.
#[derive(Debug, Default)]
pub struct Reading {
    findings: Vec<Finding>,
    index: BTreeMap<(&'static str, String), usize>,
    before: VecDeque<String>,
    /// Findings whose neighbours are looked for, and for how many lines more.
    open: Vec<(usize, usize)>,
    patterns: BTreeMap<&'static str, Option<Regex>>,
    /// The words before `Last error:`, where the line was the latest: the next line with them is a warning of NCCL.
    last_error: Option<String>,
}

impl Reading {
    /// Reads one text, whose speakers are not told apart.
    pub fn of(text: &str) -> Self {
        let mut reading = Self::default();
        for (number, line) in (1..).zip(text.lines()) {
            reading.line(line, Place { text: 0, line: number }, None);
        }
        reading
    }

    /// Reads a line, without its escapes for terminals. Returns the row that knows it.
    pub fn line(&mut self, line: &str, place: Place, speaker: Option<&str>) -> Option<&'static Cause> {
        let (printed, line) = (line, plain(line));
        let line = &*line;
        for at in self.open.iter().map(|(at, _)| *at).collect::<Vec<_>>() {
            self.add_parts(at, line);
        }
        for (_, left) in &mut self.open {
            *left -= 1;
        }
        self.open.retain(|(_, left)| *left > 0);
        let warning = self.warning(line);
        let said = judge_line(line);
        let is_open = said.as_ref().is_none_or(|said| said.cause.role == Role::Summary);
        let warned = warning.as_deref().filter(|_| is_open).and_then(judge_line);
        let said = warned.filter(|warned| warned.cause.id != "nccl.warning").or(said);
        let cause = said.as_ref().map(|said| said.cause);
        if let Some(said) = said {
            let key = (said.cause.id, format!("{} {}", said.device(), said.says()));
            let at = match self.index.get(&key) {
                Some(at) => Some(*at),
                None if self.findings.len() == MOST => None,
                None => {
                    let at = self.findings.len();
                    self.findings.push(Finding {
                        cause: said.cause,
                        parts: said.parts().map(|(name, part)| (name.to_owned(), part.to_owned())).collect(),
                        line: printed.trim().to_owned(),
                        first: place,
                        times: 0,
                        speakers: BTreeMap::new(),
                        counts: said.cause.counts,
                        role: said.cause.role,
                        ended: false,
                    });
                    self.index.insert(key, at);
                    self.begin(at);
                    Some(at)
                }
            };
            if let Some(at) = at {
                self.add(at, place, speaker);
            }
        }
        if self.before.len() == NEAR {
            self.before.pop_front();
        }
        self.before.push_back(line.to_owned());
        cause
    }

    /// Ends a text: the next line is near none of its lines.
    pub fn end_of_text(&mut self) {
        self.before.clear();
        self.open.clear();
        self.last_error = None;
    }

    /// Returns the warning of NCCL that a program repeats in this line, as NCCL itself prints it. `PyTorch` sets it behind
    /// `Last error:`, mostly in a line of its own; JAX behind `Last NCCL warning(error)`, in quotes.
    fn warning(&mut self, line: &str) -> Option<String> {
        let as_printed = |text: &str| Some(format!("NCCL WARN {}", text.trim().trim_matches('\'')));
        let begun = self.last_error.as_ref().and_then(|before| line.strip_prefix(before.as_str()));
        if let Some(text) = begun {
            self.last_error = None;
            return as_printed(text);
        }
        if let Some((_, text)) = line.split_once("Last NCCL warning(error)") {
            return text.split_once('\'').and_then(|(_, text)| as_printed(text));
        }
        let (before, text) = line.split_once("Last error:")?;
        if text.trim().is_empty() {
            self.last_error = Some(before.to_owned());
            return None;
        }
        as_printed(text)
    }

    /// Looks at the lines before a new finding for its parts.
    fn begin(&mut self, at: usize) {
        if self.findings.get(at).is_none_or(|finding| finding.cause.near.is_empty()) {
            return;
        }
        for line in self.before.iter().rev().cloned().collect::<Vec<_>>() {
            self.add_parts(at, &line);
        }
        self.open.push((at, NEAR));
    }

    fn add(&mut self, at: usize, place: Place, speaker: Option<&str>) {
        let Some(finding) = self.findings.get_mut(at) else { return };
        finding.times += 1;
        if let Some(speaker) = speaker.filter(|_| finding.speakers.len() < MOST) {
            finding.speakers.entry(speaker.to_owned()).or_insert(place);
        }
        let (id, device, all) =
            (finding.cause.id, finding.device().to_owned(), finding.parts.contains_key("all"));
        for earlier in self.findings.iter_mut().filter(|one| one.cause.ended_by.contains(&id)) {
            earlier.ended |= all || device.is_empty() || earlier.device() == device;
        }
        // A row that ends itself keeps only its latest line.
        if let Some(finding) = self.findings.get_mut(at) {
            finding.ended = false;
        }
    }

    fn add_parts(&mut self, at: usize, line: &str) {
        let Some(finding) = self.findings.get_mut(at) else { return };
        for near in finding.cause.near {
            let pattern = self.patterns.entry(near).or_insert_with(|| Regex::new(near).ok());
            let Some(pattern) = pattern else { continue };
            let Some(found) = pattern.captures(line) else { continue };
            for name in pattern.capture_names().flatten() {
                if let Some(part) = found.name(name) {
                    finding.parts.entry(name.to_owned()).or_insert_with(|| part.as_str().to_owned());
                }
            }
        }
    }

    /// Returns the findings, each with its severity and role by all that is said: causes before effects before
    /// summaries, grave ones first, then in the order of the texts; notes last.
    pub fn ranked(&self) -> Vec<Finding> {
        let mut left: Vec<Finding> = self.findings.iter().filter(|one| !one.ended).cloned().collect();
        let ids: BTreeSet<&str> = left.iter().map(|one| one.cause.id).collect();
        let times: Vec<(&str, String, usize)> =
            left.iter().map(|one| (one.cause.id, one.device().to_owned(), one.times)).collect();
        for finding in &mut left {
            let same = |(id, device, _): &&(&str, String, usize)| {
                *id == finding.cause.id && device == finding.device()
            };
            let holds = |when: When| match when {
                When::Beside(others) => others.iter().any(|id| ids.contains(id)),
                When::Times(least) => {
                    times.iter().filter(same).map(|(.., times)| times).sum::<usize>() >= least
                }
            };
            let worse =
                finding.cause.worse.iter().filter(|worse| holds(worse.when)).map(|worse| worse.counts);
            finding.counts = worse.max().unwrap_or(finding.counts).max(finding.counts);
            if finding.cause.follows.iter().any(|id| ids.contains(id)) {
                finding.role = finding.role.max(Role::Effect);
            }
        }
        left.sort_by_key(|one| {
            (one.counts == Counts::Note, one.role, std::cmp::Reverse(one.counts), one.first)
        });
        left
    }

    /// Returns the remedy of a finding, by what else is said.
    pub fn act(&self, finding: &Finding) -> String {
        let said =
            |ids: &[&str]| self.findings.iter().any(|other| !other.ended && ids.contains(&other.cause.id));
        let apart = finding.cause.apart.iter().find(|apart| said(apart.beside));
        let act = apart.map_or(finding.cause.act, |apart| apart.act);
        fill(act, |name| finding.parts.get(name).map(String::as_str))
    }
}
