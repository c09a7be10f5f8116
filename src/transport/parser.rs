//! The parser of what comes back over the wire: lines of ours, and the output between them.

use super::bounded::Bounded;

/// Longest line after a nonce that is taken for one of ours.
const LINE_LIMIT: usize = 640;

/// Identity of the host shell, as it says itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Identity {
    /// Its process.
    pub(super) pid: u64,
    /// Its process group; 0 when the host has no /proc.
    pub(super) group: u64,
    /// When it started, in clock ticks since boot: tells it from a later process of that number.
    pub(super) started: u64,
    /// Its effective user.
    pub(super) uid: u64,
}

/// A line of ours.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Line {
    /// The shell answers the greeting.
    Ready(Identity),
    /// A frame begins.
    Begin(u64),
    /// A part has ended with a status.
    End(usize, i32),
    /// The shell is not who it should be; its user and group.
    Stranger(String, String),
    /// Result of the bootstrap of sudo.
    Sudo(String),
    /// The last of what a task printed so far.
    Said(Vec<u8>),
}

impl Line {
    fn read(line: &[u8]) -> Option<Self> {
        // It may be cut anywhere, within a character too.
        if let Some(said) = line.strip_prefix(b"said ") {
            return Some(Self::Said(said.to_vec()));
        }
        let mut words = std::str::from_utf8(line).ok()?.split(' ');
        let word = words.next()?;
        let mut number = || words.next()?.parse::<u64>().ok();
        let line = match word {
            "ready" => {
                Self::Ready(Identity { pid: number()?, group: number()?, started: number()?, uid: number()? })
            }
            "begin" => Self::Begin(number()?),
            "end" => Self::End(usize::try_from(number()?).ok()?, i32::try_from(number()?).ok()?),
            "stranger" => Self::Stranger(words.next()?.to_owned(), words.next()?.to_owned()),
            "sudo" => Self::Sudo(words.next()?.to_owned()),
            _ => return None,
        };
        words.next().is_none().then_some(line)
    }
}

/// Splits what comes back into lines of ours and the output between them, whatever the chunks.
#[derive(Debug)]
pub(super) struct Parser {
    /// Line feed, nonce, space.
    mark: Vec<u8>,
    pending: Vec<u8>,
    /// Bytes of `pending` that are known to begin no mark.
    scanned: usize,
}

impl Parser {
    pub(super) fn new(nonce: &str) -> Self {
        Self { mark: format!("\n{nonce} ").into_bytes(), pending: Vec::new(), scanned: 0 }
    }

    /// Takes what was read.
    pub(super) fn push(&mut self, bytes: &[u8]) {
        self.pending.extend_from_slice(bytes);
    }

    /// The next line of ours, if it is there; what stands before it goes to `output`.
    pub(super) fn next_line(&mut self, output: &mut Bounded) -> Option<Line> {
        loop {
            let rest = self.pending.get(self.scanned..).unwrap_or_default();
            let Some(at) = rest.iter().position(|byte| *byte == b'\n') else {
                self.take(self.pending.len(), output);
                return None;
            };
            let start = self.scanned + at;
            let rest = self.pending.get(start..).unwrap_or_default();
            if let Some(rest) = rest.strip_prefix(self.mark.as_slice()) {
                match rest.iter().take(LINE_LIMIT).position(|byte| *byte == b'\n') {
                    None if rest.len() < LINE_LIMIT => {
                        self.take(start, output);
                        return None;
                    }
                    None => {}
                    Some(end) => {
                        if let Some(line) = rest.get(..end).and_then(Line::read) {
                            let consumed = start + self.mark.len() + end + 1;
                            self.take(start, output);
                            self.pending.drain(..consumed - start);
                            return Some(line);
                        }
                    }
                }
            } else if self.mark.starts_with(rest) {
                self.take(start, output);
                return None;
            }
            self.scanned = start + 1;
        }
    }

    fn take(&mut self, length: usize, output: &mut Bounded) {
        output.push(self.pending.get(..length).unwrap_or_default());
        self.pending.drain(..length);
        self.scanned = 0;
    }
}

/// Splits the answers of a host shell, read in pieces of this size: each line of ours with the output before
/// it, then the output after the last. For `make fuzz` alone.
#[doc(hidden)]
pub fn split(bytes: &[u8], nonce: &str, piece: usize) -> Vec<(Vec<u8>, String)> {
    let limit = 2 * bytes.len();
    let mut parser = Parser::new(nonce);
    let (mut output, mut lines) = (Bounded::new(limit), Vec::new());
    for piece in bytes.chunks(piece) {
        parser.push(piece);
        while let Some(line) = parser.next_line(&mut output) {
            let before = std::mem::replace(&mut output, Bounded::new(limit));
            lines.push((before.finish().0, format!("{line:?}")));
        }
    }
    lines.push((output.finish().0, String::new()));
    lines
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const NONCE: &str = "0123456789abcdef0123456789abcdef";

    fn parse(chunks: &[&[u8]]) -> (Vec<(Vec<u8>, Line)>, Vec<u8>) {
        let mut parser = Parser::new(NONCE);
        let mut seen = Vec::new();
        let mut output = Bounded::new(1 << 20);
        for chunk in chunks {
            parser.push(chunk);
            while let Some(line) = parser.next_line(&mut output) {
                seen.push((std::mem::replace(&mut output, Bounded::new(1 << 20)).finish().0, line));
            }
        }
        (seen, output.finish().0)
    }

    #[test]
    fn lookalikes_are_output() {
        for lookalike in [
            format!("{NONCE} end 0 0\n"),
            format!("\n{NONCE}"),
            format!("\n{NONCE} end 0\n"),
            format!("\n{NONCE} end 0 0 0\n"),
            format!("\n{NONCE} end 0 x\n"),
            format!("\n{NONCE} {}\n", "x".repeat(200)),
            format!("\n{} end 0 0\n", &NONCE[..31]),
        ] {
            let text = format!("{lookalike}more\n{NONCE} end 0 7\n");
            let (seen, rest) = parse(&[text.as_bytes()]);
            assert_eq!(seen, [(format!("{lookalike}more").into_bytes(), Line::End(0, 7))], "{lookalike:?}");
            assert!(rest.is_empty());
        }
    }

    #[test]
    fn every_line_of_ours_is_known() {
        for (text, line) in [
            ("ready 4 3 2 1", Line::Ready(Identity { pid: 4, group: 3, started: 2, uid: 1 })),
            ("begin 9", Line::Begin(9)),
            ("end 2 141", Line::End(2, 141)),
            ("stranger 1000 unknown", Line::Stranger("1000".to_owned(), "unknown".to_owned())),
            ("sudo password", Line::Sudo("password".to_owned())),
        ] {
            assert_eq!(Line::read(text.as_bytes()), Some(line));
            assert_eq!(Line::read(format!("{text} more").as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn what_a_task_says_may_be_cut_anywhere() {
        let text = format!("a\n{NONCE} said CC  a.c\rCC b.\u{fc}\n\n{NONCE} said x y\nb\n{NONCE} end 0 0\n");
        let cut = text.replace('\u{fc}', "?").into_bytes();
        let cut: Vec<u8> = cut.into_iter().map(|byte| if byte == b'?' { 0xc3 } else { byte }).collect();
        let (seen, rest) = parse(&[&cut]);
        let said = |text: &[u8]| Line::Said(text.to_vec());
        let lines = [
            (b"a".to_vec(), said(b"CC  a.c\rCC b.\xc3")),
            (Vec::new(), said(b"x y")),
            (b"b".to_vec(), Line::End(0, 0)),
        ];
        assert_eq!(seen, lines);
        assert!(rest.is_empty());
    }

    /// Text that may still become a line of ours is kept back, and nothing else.
    #[test]
    fn a_line_that_is_too_long_is_output_at_once() {
        let after = |length: usize| format!("out\n{NONCE} {}", "x".repeat(length));
        for (length, kept) in [(LINE_LIMIT - 1, true), (LINE_LIMIT, false)] {
            let text = after(length);
            let (seen, rest) = parse(&[text.as_bytes()]);
            assert!(seen.is_empty());
            let want = if kept { "out" } else { text.as_str() };
            assert_eq!(String::from_utf8(rest).unwrap(), want);
        }
        // The mark alone, and any part of it.
        for length in 0..NONCE.len() + 2 {
            let (_, rest) = parse(&[&after(0).as_bytes()[..4 + length]]);
            assert_eq!(rest, b"out", "{length}");
        }
    }

    proptest! {
        #[test]
        fn lines_are_found_whatever_the_chunks(
            outputs in prop::collection::vec(prop::collection::vec(prop_oneof![Just(b'\n'), Just(b'0'), any::<u8>()], 0..60), 1..5),
            cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..12),
        ) {
            let mut all = Vec::new();
            for (index, output) in outputs.iter().enumerate() {
                all.extend_from_slice(output);
                all.extend_from_slice(format!("\n{NONCE} end {index} 0\n").as_bytes());
            }
            let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(all.len())).collect();
            cuts.extend([0, all.len()]);
            cuts.sort_unstable();
            let chunks: Vec<&[u8]> = cuts.windows(2).map(|pair| &all[pair[0]..pair[1]]).collect();
            let (seen, rest) = parse(&chunks);
            prop_assert!(rest.is_empty());
            let expected: Vec<_> =
                outputs.into_iter().enumerate().map(|(index, output)| (output, Line::End(index, 0))).collect();
            prop_assert_eq!(seen, expected);
        }
    }
}
