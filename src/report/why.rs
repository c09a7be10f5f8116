//! The answer of `provision why`: the first cause in front, then what follows from it, what is harmless, and what is
//! not known.

use super::rows::hanging;
use super::style::{BAD, CALM, DIM, GOOD, HINT, paint, safe_line};
use crate::causes::Sure;
use crate::put;
use crate::why::{Answer, Job, Told, Unknown, sure_word};
use crate::words::count;

/// Other causes, consequences and unknown lines that are shown without `--all`.
const SHOWN: usize = 3;
/// Indent of what belongs to a heading.
const INDENT: usize = 2;
/// Indent of what does not fit on its line.
const HANGING: usize = 4;

/// The answer as a page for a terminal this wide; all of it, or the first of each part.
pub fn text(answer: &Answer, width: Option<usize>, all: bool) -> String {
    let most = if all { usize::MAX } else { SHOWN };
    let mut page = Page { text: String::new(), width };
    match &answer.first {
        Some(first) => page.first(first, answer.is_cause),
        None => page.nothing(answer),
    }
    if let Some(job) = &answer.job {
        page.job(job);
    }
    page.part("Also said, and a cause as well:", &answer.others, most, Page::short);
    page.part("Consequences, or trouble without a cause of its own:", &answer.follows, most, Page::line);
    page.part("These lines look like errors and need no action:", &answer.harmless, most, Page::line);
    page.part("Errors that the catalogue does not know:", &answer.unknown, most, Page::unknown);
    for text in answer.texts.iter().filter(|text| text.cut.is_some()) {
        let why = text.cut.as_deref().unwrap_or("");
        page.put(
            0,
            &paint(
                BAD,
                &safe_line(&format!(
                    "{}: not read{}: {why}",
                    text.name,
                    if text.lines > 0 { " to its end" } else { "" }
                )),
            ),
        );
    }
    page.text
}

struct Page {
    text: String,
    width: Option<usize>,
}

impl Page {
    fn put(&mut self, indent: usize, line: &str) {
        let line = " ".repeat(indent) + line;
        put!(self.text, "{}\n", hanging(&line, indent.max(INDENT) + INDENT, self.width));
    }

    fn gap(&mut self) {
        if !self.text.is_empty() {
            self.text.push('\n');
        }
    }

    fn nothing(&mut self, answer: &Answer) {
        let lines: u64 = answer.texts.iter().map(|text| text.lines).sum();
        let text = format!("The catalogue knows no cause in {}.", count(lines, "line"));
        self.put(0, &paint(GOOD, &text));
    }

    fn first(&mut self, told: &Told, is_cause: bool) {
        let head = if is_cause { "First cause" } else { "No line names a cause; the first trouble is" };
        let sure =
            if told.sure == Sure::Confirmed { String::new() } else { format!(" ({})", sure_word(told.sure)) };
        self.put(0, &format!("{} {}{sure}", paint(BAD, &format!("{head}:")), safe_line(&told.says)));
        self.body(told);
        self.put(INDENT, &paint(DIM, &format!("{}; {}", told.id, told.sources.join("; "))));
    }

    fn body(&mut self, told: &Told) {
        self.put(INDENT, &format!("{}  {}", paint(CALM, &safe_line(&told.place)), safe_line(&told.line)));
        if told.times > 1 || !told.by.is_empty() {
            let by = if told.by.is_empty() { String::new() } else { format!(" of {}", told.by) };
            self.put(INDENT, &safe_line(&format!("{} like it{by}", count(told.times as u64, "line"))));
        }
        self.put(INDENT, &safe_line(told.means));
        if !told.act.is_empty() {
            self.put(INDENT, &paint(HINT, &format!("do: {}", safe_line(&told.act))));
        }
        if !told.check.is_empty() {
            self.put(INDENT, &format!("`provision verify` asks for it: {}", told.check));
        }
    }

    fn job(&mut self, job: &Job) {
        self.gap();
        let broke = match job.broke.as_slice() {
            [] => String::new(),
            [one] => one.clone(),
            several if several.len() <= SHOWN => several.join(", "),
            several => format!(
                "{} and {} others",
                several.iter().take(SHOWN).cloned().collect::<Vec<_>>().join(", "),
                several.len() - SHOWN
            ),
        };
        let waited = job.size.saturating_sub(job.broke.len() as u64);
        self.put(
            0,
            &format!(
                "{} of {}; the other {waited} only waited for it.",
                paint(BAD, &safe_line(&format!("Broke: {broke}"))),
                count(job.size, "rank")
            ),
        );
        if let Some(says) = &job.says {
            self.put(INDENT, &safe_line(says));
        }
        if let Some(act) = job.act {
            self.put(INDENT, &paint(HINT, &format!("do: {act}")));
        }
    }

    fn part<T>(&mut self, head: &str, items: &[T], most: usize, each: fn(&mut Self, &T)) {
        if items.is_empty() {
            return;
        }
        self.gap();
        self.put(0, head);
        for item in items.iter().take(most) {
            each(self, item);
        }
        if let Some(more) = items.len().checked_sub(most).filter(|more| *more > 0) {
            self.put(INDENT, &paint(DIM, &format!("and {more} more: --all")));
        }
    }

    fn short(&mut self, told: &Told) {
        self.put(INDENT, &format!("{} ({}, {})", safe_line(&told.says), sure_word(told.sure), told.id));
        self.put(HANGING, &format!("{}  {}", paint(CALM, &safe_line(&told.place)), safe_line(&told.line)));
        if !told.act.is_empty() {
            self.put(HANGING, &paint(HINT, &format!("do: {}", safe_line(&told.act))));
        }
    }

    fn line(&mut self, told: &Told) {
        let times =
            if told.times > 1 { format!(", {}", count(told.times as u64, "line")) } else { String::new() };
        self.put(INDENT, &safe_line(&format!("{} ({}{times})", told.says, told.place)));
    }

    fn unknown(&mut self, unknown: &Unknown) {
        let times = if unknown.times > 1 { format!(" ({} times)", unknown.times) } else { String::new() };
        self.put(
            INDENT,
            &format!("{}  {}{times}", paint(CALM, &safe_line(&unknown.place)), safe_line(&unknown.line)),
        );
    }
}
