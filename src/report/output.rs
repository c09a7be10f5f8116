//! The two streams: stdout for data, stderr for everything else.

use std::io::Write as _;
use std::sync::{Mutex, PoisonError};

use indicatif::{MultiProgress, ProgressDrawTarget};

/// Whether colour is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Color {
    /// When the stream is a terminal and `NO_COLOR` is not set.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

impl Color {
    /// Makes this choice hold for both streams.
    pub fn set(self) {
        match self {
            Self::Auto => anstream::ColorChoice::Auto,
            Self::Always => anstream::ColorChoice::Always,
            Self::Never => anstream::ColorChoice::Never,
        }
        .write_global();
    }
}

/// Writes data to stdout. A closed pipe is no error: the reader has what it wanted.
///
/// # Errors
/// When the stream cannot be written for another reason (a full disk).
pub fn data(text: &str) -> std::io::Result<()> {
    match anstream::stdout().lock().write_all(text.as_bytes()) {
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
        other => other,
    }
}

/// Columns of stdout where it is a terminal.
pub fn stdout_width() -> Option<usize> {
    console::Term::stdout().size_checked().map(|(_, columns)| usize::from(columns)).filter(|width| *width > 0)
}

/// Bars that are drawn at the bottom of the terminal now.
static BARS: Mutex<Option<MultiProgress>> = Mutex::new(None);

/// Has lines stand above these bars from now on, or above none.
pub(super) fn draws(bars: Option<MultiProgress>) {
    *BARS.lock().unwrap_or_else(PoisonError::into_inner) = bars;
}

/// Takes the bars off the screen, for who leaves at once.
pub fn undraw() {
    if let Some(bars) = BARS.lock().unwrap_or_else(PoisonError::into_inner).take() {
        drop(bars.clear());
        // Who still draws, and who writes above them, would bring them back.
        bars.set_draw_target(ProgressDrawTarget::hidden());
    }
}

/// Writes a line to stderr, above the bars.
pub fn say(line: &str) {
    // There is nobody left to tell when stderr is gone.
    let write = || drop(writeln!(anstream::stderr().lock(), "{line}"));
    match &*BARS.lock().unwrap_or_else(PoisonError::into_inner) {
        Some(bars) => bars.suspend(write),
        None => write(),
    }
}

/// Writes a question to stderr; its answer stands behind it.
pub fn ask(question: &str) {
    let mut stderr = anstream::stderr().lock();
    let _written = write!(stderr, "{question}").and_then(|()| stderr.flush());
}

/// Whether diagnostics on stderr are coloured.
pub fn stderr_color() -> bool {
    anstream::AutoStream::choice(&std::io::stderr()) != anstream::ColorChoice::Never
}
