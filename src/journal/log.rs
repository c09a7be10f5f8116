//! The log of one run beside its journal: how its end came about, in lines.

use std::fs::File;
use std::io::{Seek as _, Write as _};

use camino::{Utf8Path, Utf8PathBuf};

use crate::disk;

/// The longest log. The first and the last quarter of a longer one are kept.
const LONGEST: usize = 4 << 20;

/// A log that is never longer than four MiB and never fails its run.
#[derive(Debug)]
pub struct RunLog {
    file: File,
    path: Utf8PathBuf,
    longest: usize,
    length: usize,
    /// Bytes before the gap, once there is one, and lines that are missing there.
    gap: Option<(usize, usize)>,
}

impl RunLog {
    /// Starts the log of a run in the run's directory. `None` where that cannot be: a run does not
    /// need it.
    pub fn create(directory: &Utf8Path) -> Option<Self> {
        let path = directory.join("log");
        let file = disk::create(&path).ok()?;
        Some(Self { file, path, longest: LONGEST, length: 0, gap: None })
    }

    /// Returns the path of the log.
    pub fn path(&self) -> &Utf8Path {
        &self.path
    }

    /// Adds a line. A full disk loses it, and nothing else.
    pub fn add(&mut self, line: &str) {
        if self.length + line.len() >= self.longest {
            drop(self.cut());
        }
        if writeln!(self.file, "{line}").is_ok() {
            self.length += line.len() + 1;
        }
    }

    /// Leaves out the middle.
    fn cut(&mut self) -> std::io::Result<()> {
        let text = std::fs::read(&self.path)?;
        let quarter = self.longest / 4;
        let end_of_line = |from: &[u8]| from.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        let (head, before) = self
            .gap
            .unwrap_or_else(|| (end_of_line(text.get(..quarter.min(text.len())).unwrap_or_default()), 0));
        let tail = end_of_line(text.get(..text.len().saturating_sub(quarter)).unwrap_or_default()).max(head);
        let middle = text.get(head..tail).unwrap_or_default();
        // The line that tells of an earlier gap is not counted.
        let lines = middle.split(|byte| *byte == b'\n').count() - 1;
        let missing = before + lines - usize::from(before > 0 && lines > 0);
        let mut kept = text.get(..head).unwrap_or_default().to_vec();
        kept.extend(format!("... {missing} lines are left out here ...\n").bytes());
        kept.extend(text.get(tail..).unwrap_or_default());
        self.file.set_len(0)?;
        self.file.rewind()?;
        self.length = kept.len();
        self.gap = Some((head, missing));
        self.file.write_all(&kept)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_log_keeps_its_beginning_and_its_end() {
        let directory = tempfile::tempdir().unwrap();
        let directory = Utf8Path::from_path(directory.path()).unwrap();
        let mut log = RunLog::create(directory).unwrap();
        log.longest = 1000;
        for number in 0..500 {
            log.add(&format!("line {number}"));
        }
        let text = std::fs::read_to_string(log.path()).unwrap();
        assert!(text.len() <= 1000, "{}", text.len());
        assert!(text.starts_with("line 0\nline 1\n") && text.ends_with("line 498\nline 499\n"), "{text}");
        let gaps: Vec<_> = text.lines().filter(|line| line.starts_with("...")).collect();
        let missing = 500 - (text.lines().count() - 1);
        assert_eq!(gaps, [format!("... {missing} lines are left out here ...")]);
    }

    #[test]
    fn a_full_disk_fails_nothing() {
        let file = File::options().write(true).open("/dev/full").unwrap();
        let mut log = RunLog { file, path: "/dev/null".into(), longest: 10, length: 0, gap: None };
        log.add("a line that is too long");
        log.add("another");
        // And where none can be made there is none.
        assert!(RunLog::create(Utf8Path::new("/proc/nothing")).is_none());
    }
}
