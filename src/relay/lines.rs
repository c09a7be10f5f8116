//! Events of a run on a node as lines that `srun` carries.
//!
//! `srun` mixes the output of all nodes. What it does not mix are lines of less than 1024 bytes (`MAX_MSG_LEN` in
//! `slurmstepd/io.c`), so an event is cut into such lines, each with its node, the number of the event and its own:
//!
//! ```text
//!   provision-event gpu0 12 0 + {"run":"...          more of it follows
//!   provision-event gpu0 12 1 . ..."}                its end
//!   provision-said gpu0 error: ...                   what the program said besides, when it has ended
//! ```

use std::collections::BTreeMap;
use std::io::{self, Write};

use crate::events::Event;

/// The first word of each line.
const MARK: &str = "provision-event";
/// The first word of what a program said besides.
const SAID: &str = "provision-said ";
/// Bytes of a line at most, with its end.
const LONGEST: usize = 1000;
/// Bytes of one event at most. A plan of thousands of changes has a few megabytes.
const MOST: usize = 64 << 20;

/// Writes events of one node.
#[derive(Debug)]
pub struct Lines<W> {
    out: W,
    node: String,
}

impl<W: Write> Lines<W> {
    /// Lines of the node that is called so.
    pub fn new(out: W, node: &str) -> Self {
        Self { out, node: node.to_owned() }
    }

    /// Writes one event.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write(&mut self, event: &Event) -> io::Result<()> {
        let text = serde_json::to_string(event)?;
        let head = format!("{MARK} {} {} ", self.node, event.seq);
        let room = LONGEST.saturating_sub(head.len() + "99999 + \n".len()).max(4);
        let mut rest = text.as_str();
        for number in 0_u64.. {
            let (piece, after) = rest.split_at(rest.floor_char_boundary(room));
            let mark = if after.is_empty() { '.' } else { '+' };
            writeln!(self.out, "{head}{number} {mark} {piece}")?;
            if after.is_empty() {
                break;
            }
            rest = after;
        }
        self.out.flush()
    }
}

/// What a line was.
#[derive(Debug)]
pub enum Line {
    /// A part of an event, with more to come.
    Part,
    /// The end of an event of a node.
    Event(String, Box<Event>),
    /// An event of a node that cannot be read: something is missing.
    Broken(String, String),
    /// What the program on a node said besides.
    Node(String, String),
    /// Something else.
    Said(String),
}

/// Puts events of all nodes together again.
#[derive(Debug, Default)]
pub struct Assembly {
    /// What has not ended with a line yet.
    open: Vec<u8>,
    /// By node: what there is of its next event.
    parts: BTreeMap<String, String>,
    /// By node: the number of the next event, and of its next line.
    next: BTreeMap<String, (u64, u64)>,
}

impl Assembly {
    /// Takes a piece of the output, cut anywhere.
    pub fn take(&mut self, bytes: &[u8]) -> Vec<Line> {
        let mut lines = Vec::new();
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            self.open.extend_from_slice(piece);
            if self.open.last() == Some(&b'\n') {
                let line = String::from_utf8_lossy(&std::mem::take(&mut self.open)).into_owned();
                lines.push(self.line(line.trim_end_matches('\n')));
            } else if self.open.len() > MOST {
                self.open.clear();
            }
        }
        lines
    }

    fn line(&mut self, line: &str) -> Line {
        if let Some((node, text)) = line.strip_prefix(SAID).and_then(|rest| rest.split_once(' ')) {
            return Line::Node(node.to_owned(), text.trim().to_owned());
        }
        let Some((node, at, last, piece)) = parts(line) else { return Line::Said(line.to_owned()) };
        let next = self.next.entry(node.to_owned()).or_default();
        let text = self.parts.entry(node.to_owned()).or_default();
        if at != *next || text.len() + piece.len() > MOST {
            return Line::Broken(node.to_owned(), format!("line {} of event {} is missing", next.1, next.0));
        }
        text.push_str(piece);
        if !last {
            next.1 += 1;
            return Line::Part;
        }
        *next = (at.0 + 1, 0);
        match serde_json::from_str(&std::mem::take(text)) {
            Ok(event) => Line::Event(node.to_owned(), Box::new(event)),
            Err(error) => Line::Broken(node.to_owned(), format!("event {} cannot be read: {error}", at.0)),
        }
    }
}

/// Node, number of the event and of its line, whether it ends here, and the text.
fn parts(line: &str) -> Option<(&str, (u64, u64), bool, &str)> {
    let mut words = line.strip_prefix(MARK)?.strip_prefix(' ')?.splitn(5, ' ');
    let (node, event, number) = (words.next()?, words.next()?.parse().ok()?, words.next()?.parse().ok()?);
    let last = match words.next()? {
        "." => true,
        "+" => false,
        _ => return None,
    };
    Some((node, (event, number), last, words.next()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::events::EventKind;

    fn event(seq: u64, message: &str) -> Event {
        let kind = EventKind::Warning { host: None, message: message.to_owned() };
        Event { run: "r".to_owned(), seq, at: jiff::Timestamp::UNIX_EPOCH, elapsed: 0.0, kind }
    }

    fn lines(node: &str, messages: &[&str]) -> Vec<String> {
        let mut out = Vec::new();
        for (seq, message) in messages.iter().enumerate() {
            Lines::new(&mut out, node).write(&event(seq as u64, message)).unwrap();
        }
        String::from_utf8(out).unwrap().split_inclusive('\n').map(str::to_owned).collect()
    }

    /// `gpu0 text`, `broken gpu0`, `said text`.
    fn read(lines: impl IntoIterator<Item = String>) -> Vec<String> {
        let mut assembly = Assembly::default();
        let taken = lines.into_iter().flat_map(|line| assembly.take(line.as_bytes())).collect::<Vec<_>>();
        let word = |line: Line| match line {
            Line::Part => None,
            Line::Event(node, event) => {
                let EventKind::Warning { message, .. } = event.kind else { panic!("{event:?}") };
                Some(format!("{node} {message}"))
            }
            Line::Broken(node, _) => Some(format!("broken {node}")),
            Line::Node(node, text) => Some(format!("{node} said {text}")),
            Line::Said(text) => Some(format!("said {text}")),
        };
        taken.into_iter().filter_map(word).collect()
    }

    #[test]
    fn lines_are_short_and_those_of_several_nodes_may_be_mixed() {
        let long = "ü€ \"quoted\" \\ ".repeat(400);
        let (one, two) = (lines("gpu0", &[&long, "end"]), lines("gpu1", &["hello", &long]));
        assert!(one.len() > 5 && one.iter().chain(&two).all(|line| line.len() < 1024), "{}", one.len());
        let mut mixed = Vec::new();
        for index in 0..one.len().max(two.len()) {
            mixed.extend(one.get(index).cloned());
            mixed.push("srun: job 7 has been allocated resources\n".to_owned());
            mixed.extend(two.get(index).cloned());
        }
        let mut seen = read(mixed);
        seen.retain(|line| !line.starts_with("said srun: job 7"));
        seen.sort();
        let all =
            [format!("gpu0 {long}"), "gpu0 end".to_owned(), format!("gpu1 {long}"), "gpu1 hello".to_owned()];
        assert_eq!(seen, {
            let mut all = all.to_vec();
            all.sort();
            all
        });
    }

    #[test]
    fn what_is_lost_is_told() {
        let long = "x".repeat(3000);
        let mut cut = lines("gpu0", &[&long, "end"]);
        cut.remove(1);
        assert_eq!(read(cut)[0], "broken gpu0");
        let mut cut = lines("gpu0", &["one", "two"]);
        cut.remove(0);
        assert_eq!(read(cut), ["broken gpu0"]);
        assert_eq!(
            read(["provision-event gpu0 x 0 . {}\n".to_owned()]),
            ["said provision-event gpu0 x 0 . {}"]
        );
        assert_eq!(read(["provision-event gpu0 0 0 . {}\n".to_owned()]), ["broken gpu0"]);
        assert_eq!(read(["provision-said gpu0 error: no\n".to_owned()]), ["gpu0 said error: no"]);
    }
}
