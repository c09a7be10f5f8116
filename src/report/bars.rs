//! The bar and the rows of running hosts at the bottom of a terminal.

use std::time::Duration;

use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::output;

/// Running hosts that are shown.
pub(super) const ROWS: usize = 8;

/// Columns of the bar.
const BAR: usize = 16;
/// Columns beside the text of the bar: the time, the bar and what is between them.
pub(super) const BESIDE: usize = 10 + 2 + BAR + 2 + 1;

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
        let multi = MultiProgress::with_draw_target(ProgressDrawTarget::stderr_with_hz(4));
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
