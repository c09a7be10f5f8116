//! The bar and the rows of running hosts at the bottom of a terminal.

use std::io;
use std::time::Duration;

use console::Term;
use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle, TermLike};

use super::output;

/// Running hosts that are shown.
pub(super) const ROWS: usize = 8;

/// Columns of the bar.
const BAR: usize = 16;
/// Columns beside the text of the bar: the time, the bar and what is between them.
pub(super) const BESIDE: usize = 10 + 2 + BAR + 2 + 1;

/// The terminal, with the cursor left at the start of the last line. Its end, where indicatif leaves it, is the end
/// of a full row: there the `^C` that a terminal writes begins a line of its own, and a dead row stays above.
#[derive(Debug)]
struct FromStart(Term);

impl TermLike for FromStart {
    fn width(&self) -> u16 {
        TermLike::width(&self.0)
    }

    fn height(&self) -> u16 {
        TermLike::height(&self.0)
    }

    fn move_cursor_up(&self, n: usize) -> io::Result<()> {
        self.0.move_cursor_up(n)
    }

    fn move_cursor_down(&self, n: usize) -> io::Result<()> {
        self.0.move_cursor_down(n)
    }

    fn move_cursor_right(&self, n: usize) -> io::Result<()> {
        self.0.move_cursor_right(n)
    }

    fn move_cursor_left(&self, n: usize) -> io::Result<()> {
        self.0.move_cursor_left(n)
    }

    fn write_line(&self, text: &str) -> io::Result<()> {
        self.0.write_line(text)
    }

    fn write_str(&self, text: &str) -> io::Result<()> {
        self.0.write_str(text)
    }

    fn clear_line(&self) -> io::Result<()> {
        self.0.clear_line()
    }

    fn flush(&self) -> io::Result<()> {
        self.0.write_str("\r")?;
        self.0.flush()
    }
}

/// One bar, and above it one row for each running host that is shown.
#[derive(Debug)]
pub(super) struct Bars {
    multi: MultiProgress,
    total: ProgressBar,
    rows: Vec<ProgressBar>,
}

impl Bars {
    /// Draws a bar without rows; `elapsed` is what the run took so far.
    pub(super) fn new(elapsed: Duration) -> Self {
        let terminal = Box::new(FromStart(Term::buffered_stderr()));
        let multi = MultiProgress::with_draw_target(ProgressDrawTarget::term_like_with_hz(terminal, 4));
        let total = multi.add(ProgressBar::new(1).with_elapsed(elapsed));
        if let Ok(style) = ProgressStyle::with_template(&format!("{{elapsed:>10}}  [{{bar:{BAR}}}] {{msg}}"))
        {
            total.set_style(style.progress_chars("=> "));
        }
        total.enable_steady_tick(Duration::from_millis(500));
        output::draws(Some(multi.clone()));
        Self { multi, total, rows: Vec::new() }
    }

    /// Shows how far the run is and what goes on now.
    pub(super) fn show(&mut self, done: u64, all: u64, message: String, rows: Vec<String>) {
        self.total.set_length(all.max(1));
        self.total.set_position(done.min(all));
        self.total.set_message(message);
        // Only as many rows as are needed: empty ones would stay on the screen as blank lines.
        while self.rows.len() > rows.len() {
            if let Some(row) = self.rows.pop() {
                row.finish_and_clear();
                self.multi.remove(&row);
            }
        }
        while self.rows.len() < rows.len().min(ROWS) {
            let row = self.multi.insert_before(&self.total, ProgressBar::new_spinner());
            if let Ok(style) = ProgressStyle::with_template("            {msg}") {
                row.set_style(style);
            }
            self.rows.push(row);
        }
        for (row, text) in self.rows.iter().zip(rows) {
            row.set_message(text);
        }
    }
}

impl Drop for Bars {
    fn drop(&mut self) {
        output::draws(None);
        for row in &self.rows {
            row.finish_and_clear();
        }
        self.total.finish_and_clear();
    }
}
