//! Layout of a row of a run: verb, hosts, task and text in columns, and text that does not fit below its
//! task. Pure, apart from colour.
//!
//! ```text
//!    Changed  gpu[0-2],login0  group of the cluster        + group cluster
//!    Changed  gpu[0-2]         tools and providers
//!                                + rdma-core 44.0-2, + ibverbs-providers 44.0-2,
//!                                + ibverbs-utils 44.0-2
//! ```

use super::style::{VERB, cut, safe, safe_line, width_of};

/// Columns before the host list.
const INDENT: usize = VERB + 2;
/// Maximum width of the host column.
pub(super) const MOST_HOSTS: usize = 24;
/// Maximum width of the task column.
const MOST_TASK: usize = 44;
/// The least room for a text of several lines beside its task; with less it stands below.
const LEAST_BESIDE: usize = 56;
/// Pieces of a list (`+ a, + b`) that are shown at most.
const MOST_PIECES: usize = 8;
/// Beginning of a hint.
pub const HINT: &str = "hint: ";
/// Lines of a text that are shown at most.
const MOST_LINES: usize = 8;

/// The columns as they are now. They only grow, so that rows stay aligned.
#[derive(Debug, Clone)]
pub struct Columns {
    width: Option<usize>,
    hosts: usize,
    task: usize,
}

/// A row without its verb: the first line begins with the hosts, others are complete.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// Behind the verb.
    pub first: String,
    /// Whole lines below.
    pub below: Vec<String>,
}

impl Columns {
    /// Columns of a terminal this wide; `None` is no terminal and does not wrap.
    pub fn new(width: Option<usize>) -> Self {
        Self { width, hosts: 8, task: 16 }
    }

    /// Makes room for a host list.
    pub fn fit_hosts(&mut self, hosts: &str) {
        let most = self.width.map_or(MOST_HOSTS, |width| MOST_HOSTS.min(width / 4));
        let wide = width_of(hosts);
        if wide <= most {
            self.hosts = self.hosts.max(wide);
        }
    }

    /// Makes room for the name of a task.
    pub fn fit_task(&mut self, name: &str) {
        let room = self.width.map_or(usize::MAX, |width| width.saturating_sub(INDENT + self.hosts + 4));
        // The text behind is mostly a path: it gets a little more than half.
        let most = MOST_TASK.min((room / 20 * 9).max(16));
        let wide = width_of(name);
        if wide <= most {
            self.task = self.task.max(wide);
        }
    }

    /// Lays out a row. `list` is a text of pieces with commas between, of which only the first
    /// are shown when there are many.
    pub fn row(&self, hosts: &str, task: &str, text: &str, list: bool) -> Row {
        let mut below = Vec::new();
        let mut first = pad(hosts, self.hosts);
        if width_of(hosts) > MOST_HOSTS.max(self.hosts) {
            // A long list must not push the rest out of sight, and no host may be lost.
            first = pad(&format!("{} hosts", count_hosts(hosts)), self.hosts);
            let room = self.width.map_or(usize::MAX, |width| width.saturating_sub(INDENT).max(20));
            let lines = wrap_list(&hosts.replace(',', ", "), room);
            below.extend(lines.iter().map(|line| format!("{}{line}", " ".repeat(INDENT))));
        }
        let task = safe_line(task);
        let text = safe_line(text);
        let text = if list { first_pieces(&text) } else { text };
        let left = INDENT + width_of(&first) + 2;
        let column = left + self.task + 2;
        first.push_str("  ");
        first.push_str(&task);
        let free = self.width.map_or(usize::MAX, |width| width.saturating_sub(column));
        if text.is_empty() {
            return Self::task_only(self.width, first, below, left);
        }
        let fits = width_of(&task) <= self.task;
        if fits && width_of(&text) <= free {
            first.push_str(&" ".repeat(self.task - width_of(&task) + 2));
            first.push_str(&text);
        } else if !fits
            && self.width.is_none_or(|width| left + width_of(&task) + 2 + width_of(&text) <= width)
        {
            first.push_str("  ");
            first.push_str(&text);
        } else if fits && free >= LEAST_BESIDE {
            first.push_str(&" ".repeat(self.task - width_of(&task) + 2));
            let lines = self.wrapped(&text, column, list);
            if let Some((head, rest)) = lines.split_first() {
                first.push_str(head.trim_start());
                below.extend(rest.iter().cloned());
            }
        } else {
            let mut row = Self::task_only(self.width, first, below, left);
            // A path is not broken where a smaller indent keeps it whole.
            let longest = glued(&text).split(' ').map(width_of).max().unwrap_or(0);
            let indent = self.width.map_or(left + 2, |width| width.saturating_sub(longest).min(left + 2));
            row.below.extend(self.wrapped(&text, indent.max(INDENT), list));
            return row;
        }
        Row { first, below }
    }

    /// A row that is a task, or a sentence in its place, over as many lines as it needs.
    fn task_only(width: Option<usize>, first: String, mut below: Vec<String>, left: usize) -> Row {
        let Some(width) = width else { return Row { first, below } };
        let room = width.saturating_sub(INDENT);
        if width_of(&first) <= room {
            return Row { first, below };
        }
        let (head, rest) = first.split_at(byte_at(&first, left - INDENT));
        let lines = wrap(rest, room.saturating_sub(left - INDENT));
        let mut lines = lines.into_iter();
        let first = format!("{head}{}", lines.next().unwrap_or_default());
        below.splice(0..0, lines.map(|line| format!("{}{line}", " ".repeat(left))));
        Row { first, below }
    }

    /// Lines under a row, such as diffs, output and hints. A diff is cut, because its lines are lines; all else is
    /// read to its end.
    pub fn under(&self, text: &str) -> Vec<String> {
        let indent = " ".repeat(INDENT);
        let room = self.width.map(|width| width.saturating_sub(INDENT));
        safe(text)
            .lines()
            .flat_map(|line| match room {
                Some(room) if line.starts_with(['+', '-', '@', ' ']) => vec![cut(line, room)],
                Some(room) => {
                    let leads = [HINT, "ran: ", "was changing: ", "| "];
                    let lead = leads.into_iter().find(|lead| line.starts_with(lead)).map_or(0, str::len);
                    let (lead, rest) = line.split_at(lead);
                    let next = if lead == "| " { "|   ".to_owned() } else { " ".repeat(lead.len()) };
                    let rest = if lead == HINT { commands(rest) } else { rest.to_owned() };
                    let mut lines = wrap(&rest, room.saturating_sub(next.len()));
                    shorten(&mut lines);
                    if lines.is_empty() {
                        lines.push(String::new());
                    }
                    let lead = |at: usize| if at == 0 { lead } else { &next };
                    lines.iter().enumerate().map(|(at, line)| format!("{}{line}", lead(at))).collect()
                }
                None => vec![line.to_owned()],
            })
            .map(|line| format!("{indent}{line}"))
            .collect()
    }

    fn wrapped(&self, text: &str, indent: usize, list: bool) -> Vec<String> {
        let Some(width) = self.width else { return vec![format!("{}{text}", " ".repeat(indent))] };
        let room = width.saturating_sub(indent).max(20);
        let mut lines = if list { wrap_list(text, room) } else { wrap(text, room) };
        shorten(&mut lines);
        lines.into_iter().map(|line| cut(&format!("{}{line}", " ".repeat(indent)), width)).collect()
    }
}

/// Leaves the first lines of a text.
fn shorten(lines: &mut Vec<String>) {
    if lines.len() > MOST_LINES {
        lines.truncate(MOST_LINES);
        if let Some(last) = lines.last_mut() {
            last.push_str(" …");
        }
    }
}

/// Marks the places in which a word that is too long for a line may be broken; it takes no column.
const BREAK: &str = "\u{200b}";
/// Stands for a space that breaks no line.
const GLUE: &str = "\u{a0}";
/// The same in a command, which runs on over the edge of the terminal.
const KEPT: &str = "\u{2007}";
/// Beginnings of commands in hints.
const COMMANDS: [&str; 5] = ["provision ", "ssh ", "ssh-keygen ", "ssh-copy-id ", "echo "];

/// A line for a terminal this wide: what does not fit stands below it, so many columns in. A list of hosts that no
/// line has room for breaks behind its commas.
pub fn hanging(line: &str, indent: usize, width: Option<usize>) -> String {
    let Some(width) = width.filter(|width| width_of(line) > *width) else { return line.to_owned() };
    let width = width.max(indent + 20);
    let text = line.trim_start_matches(' ');
    let (first, next) = (" ".repeat(line.len() - text.len()), " ".repeat(indent));
    let text = commands(text);
    let words = text.split_inclusive(' ').map(|word| {
        let long = width_of(word.trim_end()) > width - indent && !word.contains(KEPT);
        if long { word.replace(',', &format!(",{BREAK}")) } else { word.to_owned() }
    });
    let text = broken(&words.collect::<String>(), width - indent);
    let options = options(width).initial_indent(&first).subsequent_indent(&next);
    whole(&textwrap::fill(&text, options))
}

/// Returns the options for filling lines: each takes the words that it has room for.
fn options<'a>(width: usize) -> textwrap::Options<'a> {
    textwrap::Options::new(width)
        .word_separator(textwrap::WordSeparator::Custom(words_and_pieces))
        .word_splitter(textwrap::WordSplitter::NoHyphenation)
        .wrap_algorithm(textwrap::WrapAlgorithm::FirstFit)
        .break_words(false)
}

/// A line without the signs that only say where it breaks.
fn whole(line: &str) -> String {
    line.replace(BREAK, "").replace(GLUE, " ").replace(KEPT, " ")
}

/// The text with each command in it made one word: half a command cannot be pasted.
fn commands(text: &str) -> String {
    let (mut glued, mut rest) = (String::new(), text);
    while let Some(at) = COMMANDS.iter().filter_map(|command| rest.find(command)).min() {
        let (before, from) = rest.split_at(at);
        glued.push_str(before);
        let command = glued.is_empty() || glued.ends_with(": ") || glued.ends_with('`');
        let end = if command { from.find(['`', ';']) } else { from.find(' ').map(|end| end + 1) };
        let (words, behind) = from.split_at(end.unwrap_or(from.len()));
        glued.push_str(&if command { words.replace(' ', KEPT) } else { words.to_owned() });
        rest = behind;
    }
    glued + rest
}

/// The text with words broken that no line has room for; a command runs on over the edge.
fn broken(text: &str, room: usize) -> String {
    let mut broken = String::new();
    for word in text.split_inclusive([' ', '\u{200b}']) {
        let mut rest = word;
        while width_of(rest.trim_end()) > room && !word.contains(KEPT) {
            let (piece, behind) = rest.split_at(byte_at(rest, room));
            broken.push_str(piece);
            broken.push_str(BREAK);
            rest = behind;
        }
        broken.push_str(rest);
    }
    broken
}

/// Splits a line into the pieces between which it may be broken; all spaces behind a word are its own.
fn words_and_pieces(line: &str) -> Box<dyn Iterator<Item = textwrap::core::Word<'_>> + '_> {
    let mut rest = line;
    Box::new(std::iter::from_fn(move || {
        let end = rest.find([' ', '\u{200b}']).unwrap_or(rest.len());
        let behind = rest.get(end..)?.trim_start_matches([' ', '\u{200b}']);
        let (word, next) = rest.split_at(rest.len() - behind.len());
        rest = next;
        (!word.is_empty()).then(|| textwrap::core::Word::from(word))
    }))
}

/// The first pieces of a list and how many more there are.
fn first_pieces(text: &str) -> String {
    let pieces: Vec<&str> = text.split(", ").collect();
    if pieces.len() <= MOST_PIECES + 1 {
        return text.to_owned();
    }
    let shown = pieces.get(..MOST_PIECES).unwrap_or_default().join(", ");
    format!("{shown}, and {} more", pieces.len() - MOST_PIECES)
}

/// Counts the hosts that a folded list names, as far as it can be told.
fn count_hosts(folded: &str) -> usize {
    crate::hostlist::expand(folded).map_or(0, |hosts| hosts.len())
}

/// Breaks a list into lines behind its commas; pieces that are too long at their spaces.
pub fn wrap_list(text: &str, room: usize) -> Vec<String> {
    let pieces = text.split_inclusive(", ").map(|piece| {
        let whole = piece.trim_end();
        let fits = width_of(whole) <= room.max(8);
        if fits { piece.replacen(whole, &whole.replace(' ', GLUE), 1) } else { piece.to_owned() }
    });
    wrap(&pieces.collect::<String>(), room)
}

/// Breaks a text into lines at its spaces, and words that are too long anywhere.
pub fn wrap(text: &str, room: usize) -> Vec<String> {
    let room = room.max(8);
    let text = broken(&glued(text), room);
    let lines = textwrap::wrap(&text, options(room)).into_iter();
    lines.map(|line| whole(line.trim_end())).filter(|line| !line.is_empty()).collect()
}

/// The text with each sign such as `+` stuck to its word.
fn glued(text: &str) -> String {
    let words = text.split_inclusive(' ');
    words.map(|word| if word.len() == 2 { word.replace(' ', GLUE) } else { word.to_owned() }).collect()
}

/// The byte behind as many columns as fit, at least one character.
fn byte_at(text: &str, columns: usize) -> usize {
    let mut used = 0;
    for (at, c) in text.char_indices() {
        used += width_of(c.encode_utf8(&mut [0; 4]));
        if used > columns && at > 0 {
            return at;
        }
    }
    text.len()
}

/// Text with spaces up to a width.
pub fn pad(text: &str, width: usize) -> String {
    format!("{text}{}", " ".repeat(width.saturating_sub(width_of(text))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_break_at_commas_then_at_spaces_then_anywhere() {
        assert_eq!(wrap_list("+ a 1.0, + bb 2.0, + ccc 3.0", 12), ["+ a 1.0,", "+ bb 2.0,", "+ ccc 3.0"]);
        assert_eq!(wrap_list("+ a 1.0, + bb 2.0, + ccc 3.0", 20), ["+ a 1.0, + bb 2.0,", "+ ccc 3.0"]);
        assert_eq!(wrap("modprobe: FATAL: not found", 16), ["modprobe: FATAL:", "not found"]);
        assert_eq!(wrap("+ /etc/a (+ /etc/b)", 10), ["+ /etc/a", "(+ /etc/b)"]);
        assert_eq!(wrap("/a/very/long/path", 8), ["/a/very/", "long/pat", "h"]);
    }

    #[test]
    fn a_line_hangs() {
        let line = "      fail  gpu.count  gpu[001,003,005,007]  7 GPUs, expected 8";
        assert_eq!(hanging(line, 12, Some(80)), line);
        assert_eq!(hanging(line, 12, None), line);
        assert_eq!(
            hanging(line, 12, Some(40)),
            "      fail  gpu.count\n            gpu[001,003,005,007]  7\n            GPUs, expected 8"
        );
        // What is to be copied is not torn apart, unless no line has room for it.
        assert_eq!(
            hanging("--hosts gpu[031,033,035,037,039,041,043] x", 2, Some(24)),
            "--hosts gpu[031,033,035,\n  037,039,041,043] x"
        );
        let command = "hint: record it: provision inventory trust site.yaml --hosts gpu3; if not, stop";
        assert_eq!(
            hanging(command, 2, Some(40)),
            "hint: record it:\n  provision inventory trust site.yaml --hosts gpu3;\n  if not, stop"
        );
        let painted = super::super::style::paint(super::super::style::BAD, "fail");
        assert_eq!(hanging(&format!("{painted} a b"), 2, Some(80)), format!("{painted} a b"));
        let lines = hanging(&format!("{painted} {}", "word ".repeat(20)), 2, Some(40));
        assert!(lines.lines().all(|line| width_of(line) <= 40), "{lines}");
    }

    /// Checks that the output of a tool is shown to its end, and that a diff keeps its lines.
    #[test]
    fn output_is_read_to_its_end() {
        let columns = Columns::new(Some(40));
        let lines = columns.under("ran: make -C /usr/src/nccl all\n| E: Unable to locate package nvidia-driver\n+ a line of a diff that is longer than the terminal");
        assert_eq!(
            lines,
            [
                "            ran: make -C /usr/src/nccl",
                "                 all",
                "            | E: Unable to locate",
                "            |   package nvidia-driver",
                "            + a line of a diff that is …"
            ]
        );
    }

    #[test]
    fn wide_characters_take_two_columns() {
        assert_eq!(pad("网络", 6), "网络  ");
        assert_eq!(wrap("网络网络网络", 8), ["网络网络", "网络"]);
    }

    #[test]
    fn a_long_host_list_stands_below() {
        let columns = Columns::new(Some(80));
        let hosts = "gpu[000,002,004,006,008,010,012,014,016]";
        let row = columns.row(hosts, "limits", "+ /etc/x", true);
        assert_eq!(row.first.trim_end(), "9 hosts   limits            + /etc/x");
        assert_eq!(row.below.concat().replace([' ', '\n'], ""), hosts);
    }

    #[test]
    fn no_host_of_a_long_list_is_lost() {
        let columns = Columns::new(Some(80));
        let names: Vec<String> = (0..400).map(|host| format!("gpu{:03}", host * 2)).collect();
        let hosts = super::super::fold::fold(&names);
        let row = columns.row(&hosts, "limits", "E: broken", false);
        assert_eq!(row.below.concat().replace([' ', '\n'], ""), hosts);
        assert!(row.below.iter().all(|line| width_of(line) <= 80));
    }

    #[test]
    fn no_line_is_wider_than_the_terminal() {
        for width in [40, 60, 80, 200] {
            let mut columns = Columns::new(Some(width));
            columns.fit_hosts("gpu[0-2],login0");
            columns.fit_task("the nodes' own servers instead of the distribution's");
            for text in ["", "+ /etc/x", &"+ package-name 1.2.3, ".repeat(20), &"x".repeat(500)] {
                let row = columns.row(
                    "gpu[0-2],login0",
                    "the nodes' own servers instead of the distribution's",
                    text,
                    true,
                );
                assert!(width_of(&row.first) + INDENT <= width, "{width}: {row:?}");
                assert!(row.below.iter().all(|line| width_of(line) <= width), "{width}: {row:?}");
            }
        }
    }
}
