//! Events of a run on a node as text that `srun` carries.
//!
//! `srun --label` puts the number of its task before each line, cuts long lines and ends each piece with a line
//! (`write_labelled_message.c` of Slurm 22.05). So an event is one JSON text between two marks that no JSON text holds,
//! and the ends of lines in it mean nothing. Whose it is says the number alone, never the text behind it.
//!
//! ```text
//!   0: ^^{"run":"...                 an event of gpu0
//!   1: sh: mktemp: not found         the program on gpu1 said something besides
//!   0: ..."}^_
//! ```

use std::io::{self, Write};

use crate::events::Event;

/// Before an event.
const BEGIN: u8 = 0x1e;
/// Behind it.
const END: u8 = 0x1f;
/// Bytes of one event at most. A plan of a thousand changes has about one megabyte.
const EVENT: usize = 4 << 20;
/// Bytes of a node in one run at most. The first apply of 31 tasks has 70 kB.
pub(super) const NODE: u64 = 16 << 20;
/// Bytes of all events that have begun and not ended.
const ALL: usize = 256 << 20;
/// Bytes of a line at most; what srun writes has about a thousand.
const LINE: usize = 64 << 10;
/// Bytes of what a program said besides.
const SAID: usize = 500;

/// Writes events of one node.
#[derive(Debug)]
pub struct Lines<W> {
    out: W,
}

impl<W: Write> Lines<W> {
    /// Events to there.
    pub fn new(out: W) -> Self {
        Self { out }
    }

    /// Writes one event.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write(&mut self, event: &Event) -> io::Result<()> {
        let mut text = vec![BEGIN];
        serde_json::to_writer(&mut text, event)?;
        text.extend([END, b'\n']);
        self.out.write_all(&text)?;
        self.out.flush()
    }
}

/// A parsed line. A node is named by its place.
#[derive(Debug)]
pub enum Line {
    /// An event of a node.
    Event(usize, Box<Event>),
    /// Nothing more is taken of a node: why.
    Broken(usize, String),
    /// Other output of the program on a node.
    Node(usize, String),
    /// Something else.
    Said(String),
}

/// State of a node's output.
#[derive(Debug, Default)]
struct Stream {
    /// Its event that has begun.
    open: Option<Vec<u8>>,
    /// The number of its next event.
    next: u64,
    /// Bytes that it said.
    total: u64,
    /// Whether nothing more is taken of it.
    broken: bool,
}

/// Puts events of all nodes together again.
#[derive(Debug)]
pub struct Assembly {
    /// The beginning of a line that has not ended yet.
    line: Vec<u8>,
    nodes: Vec<Stream>,
    /// Bytes of events that have begun.
    held: usize,
}

impl Assembly {
    /// For so many nodes: the number of a task is the place of its node.
    pub fn new(nodes: usize) -> Self {
        Self {
            line: Vec::new(),
            nodes: std::iter::repeat_with(Stream::default).take(nodes).collect(),
            held: 0,
        }
    }

    /// Takes a piece of the output, cut anywhere.
    pub fn take(&mut self, bytes: &[u8]) -> Vec<Line> {
        let mut lines = Vec::new();
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            self.line.extend_from_slice(piece);
            if self.line.last() == Some(&b'\n') || self.line.len() > LINE {
                let line = std::mem::take(&mut self.line);
                self.line(line.strip_suffix(b"\n").unwrap_or(&line), &mut lines);
            }
        }
        lines
    }

    fn line(&mut self, line: &[u8], lines: &mut Vec<Line>) {
        let Some((task, text)) = labelled(line) else {
            lines.push(Line::Said(shortened(line)));
            return;
        };
        // Of a task that the job does not have nothing is kept.
        let Some(node) = self.nodes.get_mut(task).filter(|node| !node.broken) else { return };
        node.total += text.len() as u64 + 1;
        let before = node.open.as_ref().map_or(0, Vec::len);
        let taken = node.take(text, task, lines);
        let mut ended = taken.err();
        if ended.is_none() && node.total > NODE {
            ended = Some(format!("it said more than {} MiB", NODE >> 20));
        }
        self.held = (self.held + node.open.as_ref().map_or(0, Vec::len)).saturating_sub(before);
        if let Some(reason) = ended {
            self.end(task, reason, lines);
        }
        while self.held > ALL {
            let longest = |(_, node): &(usize, &Stream)| node.open.as_ref().map_or(0, Vec::len);
            let Some((task, _)) = self.nodes.iter().enumerate().max_by_key(longest) else { break };
            self.end(task, "it began a long event and did not end it".to_owned(), lines);
        }
    }

    /// Takes nothing more of a node.
    fn end(&mut self, task: usize, reason: String, lines: &mut Vec<Line>) {
        if let Some(node) = self.nodes.get_mut(task) {
            self.held = self.held.saturating_sub(node.open.take().map_or(0, |open| open.len()));
            node.broken = true;
            lines.push(Line::Broken(task, reason));
        }
    }
}

impl Stream {
    fn take(&mut self, text: &[u8], task: usize, lines: &mut Vec<Line>) -> Result<(), String> {
        let mut rest = text;
        while !rest.is_empty() {
            let Some(open) = &mut self.open else {
                let begin = rest.iter().position(|byte| *byte == BEGIN);
                let (besides, more) = rest.split_at(begin.unwrap_or(rest.len()));
                let said = shortened(besides);
                if !said.is_empty() {
                    lines.push(Line::Node(task, said));
                }
                rest = more.get(1..).unwrap_or_default();
                self.open = begin.map(|_| Vec::new());
                continue;
            };
            let end = rest.iter().position(|byte| *byte == END);
            let (piece, more) = rest.split_at(end.unwrap_or(rest.len()));
            if open.len() + piece.len() > EVENT {
                return Err(format!("an event of it has more than {} MiB", EVENT >> 20));
            }
            open.extend_from_slice(piece);
            rest = more.get(1..).unwrap_or_default();
            if end.is_some() {
                let event: Event = serde_json::from_slice(&self.open.take().unwrap_or_default())
                    .map_err(|error| format!("event {} cannot be read: {error}", self.next))?;
                if event.seq != self.next {
                    return Err(format!("event {} is missing", self.next));
                }
                self.next += 1;
                lines.push(Line::Event(task, Box::new(event)));
            }
        }
        Ok(())
    }
}

/// The number of its task that srun puts before a line, with spaces before it, and the rest.
pub(super) fn labelled(line: &[u8]) -> Option<(usize, &[u8])> {
    let begin = line.iter().position(|byte| *byte != b' ')?;
    let digits = line.get(begin..)?;
    let end = digits.iter().position(|byte| !byte.is_ascii_digit())?;
    let (number, rest) = digits.split_at_checked(end)?;
    let number = std::str::from_utf8(number).ok()?.parse().ok()?;
    Some((number, rest.strip_prefix(b": ")?))
}

/// A text of which little is shown.
fn shortened(text: &[u8]) -> String {
    let text = String::from_utf8_lossy(text.get(..SAID).unwrap_or(text));
    text.trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::events::EventKind;

    fn event(seq: u64, message: &str) -> Event {
        let kind = EventKind::Warning { host: None, message: message.to_owned() };
        Event { run: "r".to_owned(), seq, at: jiff::Timestamp::UNIX_EPOCH, elapsed: 0.0, kind }
    }

    fn written(messages: &[&str]) -> Vec<u8> {
        let mut out = Vec::new();
        for (seq, message) in messages.iter().enumerate() {
            Lines::new(&mut out).write(&event(seq as u64, message)).unwrap();
        }
        out
    }

    /// Splits bytes as srun does: into pieces of at most 1024 bytes, each a line with the label of the task.
    fn labelled_lines(task: &str, bytes: &[u8]) -> Vec<Vec<u8>> {
        let lines = bytes.split_inclusive(|byte| *byte == b'\n').flat_map(|line| line.chunks(1024));
        let end = |piece: &[u8]| if piece.ends_with(b"\n") { &b""[..] } else { b"\n" };
        lines.map(|piece| [task.as_bytes(), b": ", piece, end(piece)].concat()).collect()
    }

    /// `0 text`, `broken 0 why`, `0 said text`, `said text`.
    fn words(lines: Vec<Line>) -> Vec<String> {
        let word = |line| match line {
            Line::Event(node, event) => {
                let EventKind::Warning { message, .. } = event.kind else { panic!("{event:?}") };
                format!("{node} {message}")
            }
            Line::Broken(node, why) => format!("broken {node} {why}"),
            Line::Node(node, text) => format!("{node} said {text}"),
            Line::Said(text) => format!("said {text}"),
        };
        lines.into_iter().map(word).collect()
    }

    fn read(nodes: usize, bytes: &[u8]) -> Vec<String> {
        words(Assembly::new(nodes).take(bytes))
    }

    #[test]
    fn long_events_of_several_nodes_may_be_mixed() {
        let long = "ü€ \"quoted\" \\ \n ".repeat(400);
        let one = labelled_lines(" 0", &written(&[&long, "end"]));
        let two = labelled_lines(" 1", &written(&["hello", &long]));
        assert!(one.len() > 5, "{}", one.len());
        let mut mixed = Vec::new();
        for index in 0..one.len().max(two.len()) {
            mixed.extend(one.get(index).cloned().unwrap_or_default());
            mixed.extend(b"srun: job 7 has been allocated resources\n");
            mixed.extend(two.get(index).cloned().unwrap_or_default());
        }
        let mut seen = read(2, &mixed);
        seen.retain(|line| !line.starts_with("said srun: job 7"));
        seen.sort();
        let mut all =
            [format!("0 {long}"), "0 end".to_owned(), "1 hello".to_owned(), format!("1 {long}")].to_vec();
        all.sort();
        assert_eq!(seen, all);
        // Cut anywhere on the way.
        let mut assembly = Assembly::new(2);
        let taken = mixed.chunks(7).flat_map(|piece| assembly.take(piece)).collect();
        let mut again = words(taken);
        again.retain(|line| !line.starts_with("said srun: job 7"));
        again.sort();
        assert_eq!(again, all);
    }

    #[test]
    fn what_is_lost_is_told() {
        let long = "x".repeat(3000);
        let mut cut = labelled_lines("0", &written(&[&long, "end"]));
        cut.remove(1);
        // A gap that leaves a text is one of fewer bytes, and the next event has the right number.
        cut.truncate(1);
        cut.extend(labelled_lines("0", &written(&["a", "b"])).into_iter().skip(1));
        assert!(read(1, &cut.concat())[0].starts_with("broken 0 event 0 cannot be read"), "{cut:?}");
        let second = labelled_lines("0", &written(&["one", "two"])).remove(1);
        assert_eq!(read(1, &second), ["broken 0 event 0 is missing"]);
        // Once is enough, whatever else it says.
        assert_eq!(read(1, &second.repeat(3)), ["broken 0 event 0 is missing"]);
        assert_eq!(read(1, b"0: \x1e{}\x1f\n")[0].split(':').next(), Some("broken 0 event 0 cannot be read"));
        assert_eq!(read(1, b"0: error: no\n"), ["0 said error: no"]);
    }

    #[test]
    fn a_node_is_known_by_its_label_alone() {
        // A line that a node begins as one of another node.
        let forged = [b"0: 1: ", written(&["I am the other"]).as_slice()].concat();
        assert_eq!(read(2, &forged), ["0 said 1:", "0 I am the other"]);
        // Ends of lines of its own inside of an event.
        let event = written(&["first"]);
        let (begin, end) = event.split_at(20);
        let own = [b"0: ", begin, b"\n1: ", &written(&["other"]), b"0: ", end].concat();
        assert_eq!(read(2, &own), ["1 other", "0 first"]);
        // A task that the job does not have, and numbers that none has.
        for label in ["2", "4294967295", "18446744073709551616", "-1", "0x1", ""] {
            let line = [label.as_bytes(), b": ", &event].concat();
            assert!(!read(2, &line).iter().any(|line| line.ends_with("first") && !line.starts_with("said")));
        }
    }

    /// Checks the limits on the memory that a lying node makes the controller hold.
    #[test]
    fn what_nodes_say_is_bounded() {
        let piece = [b"0: ", "x".repeat(1000).as_bytes(), b"\n"].concat();
        let mut assembly = Assembly::new(3);
        assembly.take(b"0: \x1e\n");
        let mut told = Vec::new();
        for _ in 0..20_000 {
            told.extend(assembly.take(&piece));
            assert!(assembly.held <= EVENT, "{}", assembly.held);
        }
        assert_eq!(words(told), ["broken 0 an event of it has more than 4 MiB"]);
        // Many short events, each of them right.
        let message = "y".repeat(1 << 20);
        let mut told = Vec::new();
        for seq in 0..40 {
            let mut out = Vec::new();
            Lines::new(&mut out).write(&event(seq, &message)).unwrap();
            told.extend(assembly.take(&labelled_lines("1", &out).concat()));
        }
        let told = words(told);
        assert_eq!(told.last().map(String::as_str), Some("broken 1 it said more than 16 MiB"));
        assert!(told.len() < 18, "{}", told.len());
        // The third is taken as before.
        assert_eq!(words(assembly.take(&labelled_lines("2", &written(&["z"])).concat())), ["2 z"]);
        // Without an end of a line.
        for _ in 0..200 {
            assembly.take(&[b'z'; 1000]);
        }
        assert!(assembly.line.capacity() < 4 * LINE, "{}", assembly.line.capacity());
    }

    #[test]
    fn events_of_many_nodes_that_do_not_end_are_bounded_together() {
        let mut assembly = Assembly::new(100);
        let piece = "x".repeat(60 << 10);
        let mut broken = 0;
        for task in 0..100 {
            assembly.take(format!("{task}: \x1e\n").as_bytes());
            for _ in 0..(EVENT >> 16) {
                broken += assembly.take(format!("{task}: {piece}\n").as_bytes()).len();
            }
            assert!(assembly.held <= ALL, "{}", assembly.held);
        }
        assert!((20..50).contains(&broken), "{broken}");
    }
}
