//! Questions on the terminal. Nothing else is drawn or written while one stands there.

use std::fs::OpenOptions;
use std::io::{self, BufRead as _, IsTerminal as _, Write as _};

use rustix::process::{Signal, getpid, kill_process};
use rustix::termios::{
    LocalModes, OptionalActions, QueueSelector, SpecialCodeIndex, Termios, tcflush, tcgetattr, tcsetattr,
};
use tokio::sync::{Mutex, oneshot};

use super::output;
use super::terminal::Terminal;

/// Byte that a terminal sends for Ctrl-C.
const CTRL_C: u8 = 3;

/// Asks something that is answered with yes or no; all but yes is no.
///
/// # Errors
/// When the answer cannot be read.
pub fn confirm(question: &str) -> io::Result<bool> {
    forget_typed();
    output::ask(&format!("{question} [y/N] "));
    let mut answer = String::new();
    if io::stdin().read_line(&mut answer)? == 0 {
        // Nobody ended the line of the question.
        output::say("");
    }
    Ok(is_yes(&answer))
}

/// The same while a run is shown: its display gives way until the answer is there, and nobody waits
/// for an answer any more when the run is `stopped`. The question may name what the display has seen.
pub async fn confirm_during(
    terminal: &Mutex<Terminal>,
    question: impl FnOnce(&Terminal) -> String + Send,
    stopped: impl Future<Output = ()>,
) -> bool {
    // Whoever has the display keeps events waiting.
    let mut terminal = terminal.lock().await;
    terminal.pause();
    let question = question(&terminal);
    forget_typed();
    output::ask(&format!("\n{question} [y/N] "));
    let (sender, answer) = oneshot::channel();
    // A thread that nobody joins: what waits for a line of a terminal cannot be ended.
    std::thread::spawn(move || {
        let mut answer = String::new();
        let read = io::stdin().read_line(&mut answer);
        sender.send(read.is_ok_and(|bytes| bytes > 0).then_some(answer))
    });
    let answer = tokio::select! {
        biased;
        () = stopped => None,
        answer = answer => answer.ok().flatten(),
    };
    if answer.is_none() {
        // Nobody ended the line of the question.
        output::say("");
    }
    terminal.resume();
    answer.is_some_and(|answer| is_yes(&answer))
}

/// Drops the keys that were typed before a question was seen: they are no answer to it.
fn forget_typed() {
    // Without a terminal there is nobody who sees it, and nothing to forget.
    let _flushed = tcflush(io::stdin(), QueueSelector::IFlush);
}

fn is_yes(answer: &str) -> bool {
    matches!(answer.trim(), "y" | "Y" | "yes")
}

/// Asks for what nobody may see. After Ctrl-C the terminal is as it was before, and then the program
/// is interrupted as it would have been.
///
/// # Errors
/// When standard input is no terminal or cannot be read.
pub fn password(question: &str) -> io::Result<String> {
    let line = {
        let _quiet = Quiet::new()?;
        on_the_terminal(question);
        let line = line_or_ctrl_c();
        on_the_terminal("\n");
        line?
    };
    if line.last() == Some(&CTRL_C) {
        kill_process(getpid(), Signal::INT)?;
        return Err(io::ErrorKind::Interrupted.into());
    }
    let line = String::from_utf8(line).map_err(|_| io::Error::from(io::ErrorKind::InvalidData))?;
    Ok(line.trim_end_matches(['\n', '\r']).to_owned())
}

/// Shows a question to the person at the keyboard, though stderr goes elsewhere.
fn on_the_terminal(text: &str) {
    let open = || OpenOptions::new().write(true).open("/dev/tty").ok();
    let terminal = if io::stderr().is_terminal() { None } else { open() };
    match terminal {
        Some(mut terminal) => drop(terminal.write_all(text.as_bytes())),
        None => output::ask(text),
    }
}

/// A terminal that does not show what is typed, until this is dropped.
struct Quiet(Termios);

impl Quiet {
    fn new() -> io::Result<Self> {
        let before = tcgetattr(io::stdin())?;
        let mut quiet = before.clone();
        quiet.local_modes.remove(LocalModes::ECHO);
        // A signal would end the program before the terminal is as it was: Ctrl-C ends the line, and
        // it is read as its last byte.
        quiet.special_codes[SpecialCodeIndex::VINTR] = 0;
        quiet.special_codes[SpecialCodeIndex::VQUIT] = 0;
        quiet.special_codes[SpecialCodeIndex::VEOL] = CTRL_C;
        tcsetattr(io::stdin(), OptionalActions::Flush, &quiet)?;
        Ok(Self(before))
    }
}

impl Drop for Quiet {
    fn drop(&mut self) {
        if let Err(error) = tcsetattr(io::stdin(), OptionalActions::Flush, &self.0) {
            tracing::debug!(%error, "the terminal as it was");
        }
    }
}

/// Reads the bytes up to the end of the line or Ctrl-C.
fn line_or_ctrl_c() -> io::Result<Vec<u8>> {
    let mut input = io::stdin().lock();
    let mut line = Vec::new();
    loop {
        let bytes = input.fill_buf()?;
        let end = bytes.iter().position(|byte| matches!(*byte, b'\n' | CTRL_C));
        let taken = end.map_or(bytes.len(), |end| end + 1);
        line.extend(bytes.iter().take(taken));
        input.consume(taken);
        if end.is_some() || taken == 0 {
            return Ok(line);
        }
    }
}
