//! Programs of this machine: the only place that starts any.

use std::io::{Error, ErrorKind, Read, Result, Write as _};
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use camino::Utf8PathBuf;

use crate::backoff::Backoff;

/// The most that is read of each stream of a program, unless a caller says less.
const MOST: usize = 64 << 20;

/// The file of this program, for others to start.
///
/// # Errors
/// When the system does not say where it is.
pub fn this_program() -> Result<Utf8PathBuf> {
    Utf8PathBuf::from_path_buf(std::env::current_exe()?)
        .map_err(|path| Error::other(format!("{} is not UTF-8", path.display())))
}

/// A program without anything to read, whose output nobody sees.
#[expect(clippy::disallowed_methods, reason = "the one place that starts local processes")]
pub fn command(program: &str) -> Command {
    let mut command = Command::new(program);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command
}

/// The same, with its two outputs kept.
pub fn heard(program: &str) -> Command {
    let mut command = command(program);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// Runs a program with `input` and gives what it wrote to its pipes, whatever its status.
///
/// # Errors
/// When it cannot be started, and when it does not end within `limit`: it is killed then.
pub fn run(command: &mut Command, input: &[u8], limit: Duration) -> Result<Output> {
    run_bounded(command, input, limit, MOST)
}

/// The same for a program that may write `most` bytes: who writes more finds its pipe closed, and one
/// byte more than that is given.
///
/// # Errors
/// Those of [`run`].
pub fn run_bounded(command: &mut Command, input: &[u8], limit: Duration, most: usize) -> Result<Output> {
    let start = Instant::now();
    if !input.is_empty() {
        command.stdin(Stdio::piped());
    }
    let mut child = command.spawn()?;
    if let Some(mut pipe) = child.stdin.take() {
        let input = input.to_vec();
        // A program that ends without reading its input has its reasons in its status.
        std::thread::spawn(move || drop(pipe.write_all(&input)));
    }
    let (stdout, stderr) = (drain(child.stdout.take(), most), drain(child.stderr.take(), most));
    let status = wait(&mut child, start, limit)?;
    // Whoever it has started may hold the pipes open.
    let left = limit.saturating_sub(start.elapsed()).max(Duration::from_secs(1));
    let read = |pipe: Receiver<Vec<u8>>| pipe.recv_timeout(left).map_err(|_| late(limit));
    Ok(Output { status, stdout: read(stdout)?, stderr: read(stderr)? })
}

/// The same beside other work.
///
/// # Errors
/// Those of [`run`].
pub async fn run_aside(mut command: Command, limit: Duration) -> Result<Output> {
    tokio::task::spawn_blocking(move || run(&mut command, b"", limit)).await?
}

fn late(limit: Duration) -> Error {
    Error::new(ErrorKind::TimedOut, format!("no answer within {} s", limit.as_secs()))
}

/// Reads a pipe to its end, so that a full one does not keep the program from its own.
fn drain(pipe: Option<impl Read + Send + 'static>, most: usize) -> Receiver<Vec<u8>> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(pipe) = pipe {
            // What came before an error is still worth showing.
            drop(pipe.take(most as u64 + 1).read_to_end(&mut bytes));
        }
        drop(sender.send(bytes));
    });
    receiver
}

fn wait(child: &mut Child, start: Instant, limit: Duration) -> Result<ExitStatus> {
    let mut backoff = Backoff::new(Duration::from_millis(1), Duration::from_millis(25));
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        if start.elapsed() > limit {
            drop(child.kill());
            drop(child.wait());
            return Err(late(limit));
        }
        std::thread::sleep(backoff.pause());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_hangs_is_ended() {
        let error = run(heard("sleep").arg("20"), b"", Duration::from_millis(50)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::TimedOut);
        // Its own end is not enough where a program that it started holds its output.
        let mut sh = heard("sh");
        sh.args(["-c", "sleep 20 &"]);
        assert_eq!(run(&mut sh, b"", Duration::from_millis(50)).unwrap_err().kind(), ErrorKind::TimedOut);
    }

    #[test]
    fn input_and_output_are_pumped_at_once() {
        let big = vec![b'x'; 1 << 20];
        let done = run(&mut heard("cat"), &big, Duration::from_mins(1)).unwrap();
        assert_eq!(done.stdout.len(), big.len());
    }

    #[test]
    fn output_without_end_is_cut() {
        let done = run_bounded(&mut heard("yes"), b"", Duration::from_mins(1), 1000).unwrap();
        assert_eq!(done.stdout.len(), 1001);
        assert!(!done.status.success());
    }
}
