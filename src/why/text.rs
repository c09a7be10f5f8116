//! Files and archives to lines, within bounds.

use std::io::{self, BufRead, BufReader, Read};

use flate2::read::MultiGzDecoder;

use crate::words::bytes;

/// Bounds of what is read.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Longest line in bytes; the rest of a longer one is left out.
    pub line: usize,
    /// Most bytes that come out of all compressed files and archives.
    pub unpacked: u64,
    /// Most files of one archive.
    pub members: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { line: 64 << 10, unpacked: 8 << 30, members: 10_000 }
    }
}

/// A text that was read.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize)]
pub struct Text {
    /// Its file; of an archive with the name within, `bundle.tar.gz:logs/rank3.log`.
    pub name: String,
    /// Number of its lines.
    pub lines: u64,
    /// The reason why the rest of it was not read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cut: Option<String>,
}

/// A text that cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("cannot read {name}: {reason}")]
pub struct TextError {
    /// Its file.
    pub name: String,
    /// What the system says.
    pub reason: String,
}

/// Takes a line: the texts so far, its number and its words.
type Each<'e> = &'e mut dyn FnMut(&[Text], u64, &str);

/// Reader of texts, one after another.
#[derive(Debug, Default)]
pub(super) struct Texts {
    limits: Limits,
    /// Bytes that came out of compressed files.
    unpacked: u64,
    /// The texts so far.
    pub(super) all: Vec<Text>,
}

const GZIP: &[u8] = &[0x1f, 0x8b];
/// Files that are not read here, by their first bytes.
const OTHERS: &[(&[u8], &str, &str)] = &[
    (&[0xfd, b'7', b'z', b'X', b'Z'], "xz", "xz -dc"),
    (&[0x28, 0xb5, 0x2f, 0xfd], "zstd", "zstd -dc"),
    (b"BZh", "bzip2", "bzip2 -dc"),
    (b"PK\x03\x04", "zip", "unzip -p"),
    (&[0xff, 0xfe], "UTF-16", "iconv -f UTF-16 -t UTF-8"),
    (&[0xfe, 0xff], "UTF-16", "iconv -f UTF-16 -t UTF-8"),
];
/// The reason why an archive in an archive is not read.
const NESTED: &str = "it is packed more than once: unpack it first";
/// Place of the word `ustar` in a tar archive.
const USTAR: std::ops::Range<usize> = 257..262;

impl Texts {
    /// Reads texts within other bounds.
    pub(super) fn within(limits: Limits) -> Self {
        Self { limits, ..Self::default() }
    }

    /// Reads a file, compressed or an archive or neither, and gives each line with the number of its text and its own
    /// number, from 1.
    ///
    /// # Errors
    /// When the file cannot be read, or is packed in a way that is not known here.
    pub(super) fn read(&mut self, name: &str, from: &mut dyn Read, each: Each<'_>) -> Result<(), TextError> {
        let error = |reason: String| TextError { name: name.to_owned(), reason };
        let mut from = BufReader::with_capacity(1 << 16, from);
        let begin = from.fill_buf().map_err(|problem| error(problem.to_string()))?;
        if let Some((_, kind, tool)) = OTHERS.iter().find(|(magic, ..)| begin.starts_with(magic)) {
            return Err(error(format!("it is {kind}: `{tool} FILE | provision why`")));
        }
        if begin.starts_with(GZIP) {
            return self.compressed(name, &mut from, true, each);
        }
        if is_archive(begin) {
            return self.archive(name, &mut from, each);
        }
        self.text(name, &mut from, each)
    }

    /// Reads what is compressed by gzip; an archive only where it is none of another one.
    fn compressed(
        &mut self,
        name: &str,
        from: &mut dyn Read,
        archives: bool,
        each: Each<'_>,
    ) -> Result<(), TextError> {
        let room = self.limits.unpacked.saturating_sub(self.unpacked);
        let mut inner = BufReader::with_capacity(1 << 16, MultiGzDecoder::new(from).take(room));
        let begin = inner
            .fill_buf()
            .map_err(|problem| TextError { name: name.to_owned(), reason: problem.to_string() })?;
        let is_tar = archives && is_archive(begin);
        let is_packed = begin.starts_with(GZIP) || is_archive(begin) && !archives;
        if is_packed {
            self.unread(name, NESTED);
        } else if is_tar {
            self.archive(name, &mut inner, each)?;
        } else {
            self.text(name, &mut inner, each)?;
        }
        let left = inner.get_ref().limit();
        self.unpacked += room - left;
        if left == 0
            && let Some(text) = self.all.last_mut()
        {
            text.cut =
                Some(format!("more than {} come out of compressed files", bytes(self.limits.unpacked)));
        }
        Ok(())
    }

    /// Takes note of a file that is not read.
    pub(super) fn unread(&mut self, name: &str, reason: &str) {
        self.all.push(Text { name: name.to_owned(), lines: 0, cut: Some(reason.to_owned()) });
    }

    fn archive(&mut self, name: &str, from: &mut dyn Read, each: Each<'_>) -> Result<(), TextError> {
        let error = |problem: io::Error| TextError { name: name.to_owned(), reason: problem.to_string() };
        let mut archive = tar::Archive::new(from);
        for (number, entry) in archive.entries().map_err(error)?.enumerate() {
            let cut = match entry {
                _ if number >= self.limits.members => Some(format!("it has more than {number} files")),
                Err(problem) => Some(problem.to_string()),
                Ok(entry) if entry.header().entry_type().is_file() => {
                    let inside = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
                    let full = format!("{name}:{inside}");
                    let mut entry = BufReader::with_capacity(1 << 16, entry);
                    let begin = entry.fill_buf().map_err(error)?;
                    if begin.starts_with(GZIP) {
                        self.compressed(&full, &mut entry, false, each)?;
                    } else if is_archive(begin) {
                        self.unread(&full, NESTED);
                    } else if !OTHERS.iter().any(|(magic, ..)| begin.starts_with(magic)) {
                        self.text(&full, &mut entry, each)?;
                    }
                    None
                }
                Ok(_) => None,
            };
            if cut.is_some() {
                self.all.push(Text { name: name.to_owned(), lines: 0, cut });
                break;
            }
        }
        Ok(())
    }

    fn text(&mut self, name: &str, from: &mut dyn BufRead, each: Each<'_>) -> Result<(), TextError> {
        self.all.push(Text { name: name.to_owned(), lines: 0, cut: None });
        let (mut bytes, mut number) = (Vec::new(), 0);
        loop {
            match line(from, &mut bytes, self.limits.line) {
                Ok(true) => {}
                Ok(false) => break,
                Err(problem) if number == 0 => {
                    return Err(TextError { name: name.to_owned(), reason: problem.to_string() });
                }
                Err(problem) => {
                    if let Some(text) = self.all.last_mut() {
                        text.cut = Some(problem.to_string());
                    }
                    break;
                }
            }
            number += 1;
            if is_binary(&bytes) {
                continue;
            }
            let mark = if number == 1 && bytes.starts_with(&[0xef, 0xbb, 0xbf]) { 3 } else { 0 };
            let line = String::from_utf8_lossy(bytes.get(mark..).unwrap_or_default());
            // A bar of progress writes over its own line.
            for part in line.split('\r').filter(|part| !part.is_empty()) {
                if part.contains('\x1b') {
                    each(&self.all, number, &console::strip_ansi_codes(part));
                } else {
                    each(&self.all, number, part);
                }
            }
        }
        if let Some(text) = self.all.last_mut() {
            text.lines = number;
        }
        Ok(())
    }
}

fn is_archive(begin: &[u8]) -> bool {
    begin.get(USTAR) == Some(b"ustar")
}

/// Whether a line is no text: a tenth of it are bytes that no log has.
fn is_binary(line: &[u8]) -> bool {
    let odd = line.iter().filter(|byte| matches!(byte, 0..=8 | 14..=26 | 28..=31 | 127)).count();
    odd * 10 > line.len()
}

/// Reads a line without its end, at most `most` bytes of it. False at the end.
fn line(from: &mut dyn BufRead, bytes: &mut Vec<u8>, most: usize) -> io::Result<bool> {
    bytes.clear();
    let mut read = false;
    loop {
        let buffer = match from.fill_buf() {
            Err(problem) if problem.kind() == io::ErrorKind::Interrupted => continue,
            other => other?,
        };
        if buffer.is_empty() {
            return Ok(read);
        }
        read = true;
        let (length, ends) = memchr::memchr(b'\n', buffer).map_or((buffer.len(), false), |at| (at + 1, true));
        let text = buffer.get(..length - usize::from(ends)).unwrap_or_default();
        let room = most.saturating_sub(bytes.len());
        bytes.extend_from_slice(text.get(..room).unwrap_or(text));
        from.consume(length);
        if ends {
            return Ok(true);
        }
    }
}
