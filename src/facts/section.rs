//! Output of scripts that run several commands: sections, and the reason why one has nothing to tell.

use serde::{Deserialize, Serialize};

/// Longest text of a command that is kept when it was not understood, in bytes.
const KEPT: usize = 2048;

/// Kind of reason why a value is not known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GapKind {
    /// There is nothing to ask about: no such hardware, the module is not loaded.
    Absent,
    /// The tool is not installed.
    Missing,
    /// It gave no answer in time.
    Hung,
    /// It ended with an error.
    Failed,
    /// It printed something that is not understood.
    Garbled,
}

/// Something that is not known, with what was seen instead. Never a pass.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Gap {
    /// By kind.
    pub kind: GapKind,
    /// Command or file that was asked.
    pub command: String,
    /// Reason why there is no answer.
    pub reason: String,
    /// Printed text, bounded.
    pub output: String,
}

/// A value that was seen, or the gap in its place.
pub type Seen<T> = Result<T, Gap>;

impl Gap {
    /// A gap without output.
    pub fn new(kind: GapKind, command: &str, reason: impl Into<String>) -> Self {
        Self { kind, command: command.to_owned(), reason: reason.into(), output: String::new() }
    }
}

/// Output of one command, or one list of values that the shell read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Section<'a> {
    /// The command as it was typed, or the name of the list.
    pub command: &'a str,
    /// Standard output.
    pub stdout: &'a str,
    /// Standard error.
    pub stderr: &'a str,
    /// Exit status; `None` when the tool is not installed.
    pub status: Option<i32>,
}

/// All sections of one script.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sections<'a>(Vec<Section<'a>>);

impl<'a> Sections<'a> {
    /// Splits what a script printed; a section without an end was cut and is left out.
    pub fn split(output: &'a str) -> Self {
        let mut sections = Vec::new();
        let mut open: Option<(&str, &str)> = None;
        for piece in output.split("\n\u{1e}").skip(usize::from(!output.starts_with('\u{1e}'))) {
            let piece = piece.strip_prefix('\u{1e}').unwrap_or(piece);
            let (head, rest) = piece.split_once('\n').unwrap_or((piece, ""));
            if let Some(command) = head.strip_prefix("ask ") {
                open = Some((command, rest));
            } else if let (Some(status), Some((command, stdout))) = (head.strip_prefix("end "), open.take()) {
                let status = match status {
                    "missing" => None,
                    // Its end was cut.
                    number => match number.parse() {
                        Ok(number) => Some(number),
                        Err(_) => continue,
                    },
                };
                sections.push(Section { command, stdout, stderr: rest.trim_end(), status });
            }
        }
        Self(sections)
    }

    /// The section of a command or list.
    pub fn get(&self, command: &str) -> Option<Section<'a>> {
        self.0.iter().find(|section| section.command == command).copied()
    }

    /// The sections whose command begins with these words, with what follows them.
    pub fn starting<'s>(&'s self, words: &'s str) -> impl Iterator<Item = (&'a str, Section<'a>)> + 's {
        self.0.iter().filter_map(move |section| {
            let rest = section.command.strip_prefix(words)?;
            Some((rest.trim(), *section))
        })
    }

    /// Reads the output of a command; a command that was not asked is a gap with this reason.
    pub fn read<T>(
        &self,
        command: &str,
        not_asked: &str,
        parse: impl FnOnce(&'a str) -> Result<T, String>,
    ) -> Seen<T> {
        match self.get(command) {
            Some(section) => section.read(parse),
            None => Err(Gap::new(GapKind::Absent, command, not_asked)),
        }
    }
}

impl<'a> Section<'a> {
    fn gap(&self, kind: GapKind, reason: String) -> Gap {
        let mut output = format!("{}\n{}", self.stdout.trim_end(), self.stderr).trim().to_owned();
        if output.len() > KEPT {
            let end = (0..=KEPT).rev().find(|end| output.is_char_boundary(*end)).unwrap_or(0);
            output.truncate(end);
            output.push_str("\n...");
        }
        Gap { kind, command: self.command.to_owned(), reason, output }
    }

    /// Reports what keeps the output from being read: missing, hung, or ended with an error.
    pub fn trouble(&self) -> Option<Gap> {
        let tool = self.command.split(' ').next().unwrap_or_default();
        match self.status {
            Some(0) => None,
            // A wrapper of a tool that is not there says 127.
            None | Some(127) => Some(self.gap(GapKind::Missing, format!("{tool} is not installed"))),
            Some(124 | 137) => Some(self.gap(GapKind::Hung, format!("`{}` gave no answer", self.command))),
            Some(status) => {
                let mut said = self.stderr.lines().chain(self.stdout.lines()).map(str::trim);
                // Slurm's plugin for munge begins with what helps under load.
                let said =
                    said.find(|line| !line.is_empty() && !line.contains("If munged is up")).unwrap_or("");
                let said = said.chars().take(160).collect::<String>();
                let reason = format!("`{}` ended with {status}", self.command);
                Some(
                    self.gap(
                        GapKind::Failed,
                        if said.is_empty() { reason } else { format!("{reason}: {said}") },
                    ),
                )
            }
        }
    }

    /// Reads standard output of a command that ended well.
    ///
    /// # Errors
    /// A [`Gap`] that says what was seen instead.
    pub fn read<T>(&self, parse: impl FnOnce(&'a str) -> Result<T, String>) -> Seen<T> {
        if let Some(gap) = self.trouble() {
            return Err(gap);
        }
        parse(self.stdout).map_err(|reason| {
            self.gap(
                GapKind::Garbled,
                format!("the output of `{}` could not be read: {reason}", self.command),
            )
        })
    }
}

/// `key=value` of a line.
pub fn pair(line: &str) -> Option<(&str, &str)> {
    let (key, value) = line.split_once('=')?;
    Some((key, value.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sections_and_gaps() {
        let text = "\n\u{1e}ask a -b\nline\n\n\u{1e}end 0\n\n\n\u{1e}ask c\n\n\u{1e}end missing\n\n\u{1e}ask d\nx\n\u{1e}end 3\nerror: no\n\n\u{1e}ask e\nhangs\n\u{1e}ask f\n\u{1e}end ";
        let sections = Sections::split(text);
        let a = sections.get("a -b").unwrap();
        assert_eq!((a.stdout, a.status), ("line\n", Some(0)));
        assert_eq!(sections.get("c").unwrap().trouble().unwrap().kind, GapKind::Missing);
        let d = sections.get("d").unwrap().trouble().unwrap();
        assert_eq!(d.reason, "`d` ended with 3: error: no");
        assert_eq!(sections.get("e"), None);
        assert_eq!(sections.get("f"), None);
        assert_eq!(sections.read("e", "not asked", |_| Ok(())).unwrap_err().kind, GapKind::Absent);
    }

    /// Lines of sinfo 26.05 without munged.
    #[test]
    fn advice_is_not_the_reason() {
        let text = "\n\u{1e}ask sinfo\n\n\u{1e}end 1\nsinfo: error: If munged is up, restart with --num-threads=10\nsinfo: error: Munge encode failed: no socket\n";
        let sections = Sections::split(text);
        let gap = sections.get("sinfo").unwrap().trouble().unwrap();
        assert_eq!(gap.reason, "`sinfo` ended with 1: sinfo: error: Munge encode failed: no socket");
    }
}
