//! The local processes of logins, and what `ssh` and its helpers say.

use std::io::Read as _;
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use camino::Utf8PathBuf;
use regex::bytes::Regex;
use tokio::io::{AsyncRead, AsyncReadExt as _};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::task::JoinHandle;

use super::bounded::Bounded;
use crate::process;

/// A child with captured standard error. Dropping it kills it.
#[derive(Debug)]
pub(super) struct Process {
    child: Child,
    pub(super) stderr: Capture,
}

impl Process {
    /// Starts a program with pipes, out of reach of the terminal's Ctrl-C.
    pub(super) fn start(program: &str, args: &[String]) -> std::io::Result<(Self, ChildStdout, ChildStdin)> {
        let mut command = command(program);
        command.args(args).stdin(Stdio::piped()).process_group(0);
        Self::spawn(command)
    }

    /// Starts `ssh` so that it asks a program for the password, and no terminal: in a session of its own, which
    /// keeps Ctrl-C from it as well.
    pub(super) fn start_asking(
        args: &[String],
        environment: &[(&'static str, String)],
    ) -> std::io::Result<(Self, ChildStdout, ChildStdin)> {
        let start = |mut command: Command, args: &[String]| {
            command.args(args).envs(environment.iter().cloned()).stdin(Stdio::piped());
            Self::spawn(command)
        };
        let mut session = command("setsid");
        session.arg("ssh");
        match start(session, args) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                let mut ssh = command("ssh");
                ssh.process_group(0);
                start(ssh, args)
            }
            started => started,
        }
    }

    /// Starts `ssh` with nothing to read.
    pub(super) fn start_alone(arguments: &[String]) -> std::io::Result<Self> {
        let mut ssh = command("ssh");
        ssh.args(arguments).process_group(0);
        Self::spawn_deaf(ssh)
    }

    /// Starts `ssh` where it can ask on the terminal. It must be in the terminal's group for that,
    /// so Ctrl-C would reach it: it is started with that signal ignored.
    pub(super) fn start_on_terminal(arguments: &[String]) -> std::io::Result<Self> {
        let mut ssh = command("sh");
        ssh.args(["-c", "trap '' INT; exec ssh \"$@\"", "ssh"]).args(arguments);
        Self::spawn_deaf(ssh)
    }

    fn spawn_deaf(mut command: Command) -> std::io::Result<Self> {
        command.stderr(Stdio::piped()).kill_on_drop(true);
        let mut child = command.spawn()?;
        let stderr = child.stderr.take().ok_or_else(|| std::io::Error::other("a pipe is missing"))?;
        Ok(Self { child, stderr: Capture::new(stderr) })
    }

    /// Whether it still runs.
    pub(super) fn is_alive(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(None))
    }

    /// Ends it at once.
    pub(super) fn kill(&mut self) {
        drop(self.child.start_kill());
    }

    /// Asks it to end.
    pub(super) fn terminate(&self) {
        if let Some(process) = self.child.id().and_then(|id| rustix::process::Pid::from_raw(id.cast_signed()))
        {
            // It may have ended meanwhile.
            let _ended = rustix::process::kill_process(process, rustix::process::Signal::TERM);
        }
    }

    /// The signal that ended it, if one did or does within a moment.
    pub(super) async fn signal(&mut self) -> Option<i32> {
        tokio::time::timeout(MOMENT, self.child.wait()).await.ok()?.ok()?.signal()
    }

    /// Starts a program in a session of its own, so that it has no terminal.
    pub(super) fn start_session(args: &[String]) -> std::io::Result<(Self, ChildStdout, ChildStdin)> {
        // Not the one of PATH: that of a prolog may name directories of anybody.
        let setsid = ["/usr/bin/setsid", "/bin/setsid"].into_iter().find(|place| Path::new(place).exists());
        let mut session = command(setsid.unwrap_or("/usr/bin/setsid"));
        session.args(args).stdin(Stdio::piped());
        match Self::spawn(session) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => match args.split_first() {
                Some((program, args)) => Self::start(program, args),
                None => Err(error),
            },
            started => started,
        }
    }

    fn spawn(mut command: Command) -> std::io::Result<(Self, ChildStdout, ChildStdin)> {
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true).spawn()?;
        let missing = || std::io::Error::other("a pipe is missing");
        let stdin = child.stdin.take().ok_or_else(missing)?;
        let stdout = child.stdout.take().ok_or_else(missing)?;
        let stderr = Capture::new(child.stderr.take().ok_or_else(missing)?);
        Ok((Self { child, stderr }, stdout, stdin))
    }

    /// Waits for its end, at most `grace`, then kills it.
    pub(super) async fn end(&mut self, grace: Duration) -> Option<ExitStatus> {
        if let Ok(status) = tokio::time::timeout(grace, self.child.wait()).await {
            return status.ok();
        }
        drop(self.child.kill().await);
        None
    }
}

fn command(program: &str) -> Command {
    process::command(program).into()
}

/// Time limit until the end of a process is seen.
const MOMENT: Duration = Duration::from_millis(500);

/// Time limit for a question to a local program.
const DEADLINE: Duration = Duration::from_secs(10);

/// Returns the answer of `ssh -G`: what its files make of these arguments.
pub(super) async fn ask_ssh(arguments: &[String]) -> std::io::Result<String> {
    let mut ssh = process::heard("ssh");
    ssh.arg("-G").args(arguments);
    Ok(String::from_utf8_lossy(&process::run_aside(ssh, DEADLINE).await?.stdout).into_owned())
}

/// The home in which `ssh` looks for keys and configuration: that of the account, whatever `HOME` says
/// (`sudo -E` keeps another). `%d` of `ssh_config(5)`.
pub async fn ssh_home() -> Option<Utf8PathBuf> {
    let arguments = ["-F", "none", "-o", "ControlPath=%d", "localhost"].map(str::to_owned);
    let answer = ask_ssh(&arguments).await.ok()?;
    answer.lines().find_map(|line| line.strip_prefix("controlpath ")).map(Utf8PathBuf::from)
}

/// The standard error of a session, bounded.
#[derive(Debug)]
pub(super) struct Capture {
    text: Arc<Mutex<Bounded>>,
    task: JoinHandle<()>,
}

impl Capture {
    pub(super) fn new(mut stream: impl AsyncRead + Send + Unpin + 'static) -> Self {
        let text = Arc::new(Mutex::new(Bounded::new(16 * 1024)));
        let shared = Arc::clone(&text);
        #[expect(clippy::disallowed_methods, reason = "a full pipe would stop the process")]
        let task = tokio::spawn(async move {
            let mut chunk = vec![0; 4096];
            while let Ok(length @ 1..) = stream.read(&mut chunk).await {
                let bytes = chunk.get(..length).unwrap_or_default();
                shared.lock().unwrap_or_else(PoisonError::into_inner).push(bytes);
            }
        });
        Self { text, task }
    }

    /// Returns what was written so far.
    pub(super) fn text(&self) -> String {
        self.text.lock().unwrap_or_else(PoisonError::into_inner).text()
    }

    /// Returns what was written when the stream ended, or after a moment.
    pub(super) async fn last_words(&mut self) -> String {
        // A task that has ended cannot be awaited again.
        if !self.task.is_finished() {
            drop(tokio::time::timeout(MOMENT, &mut self.task).await);
        }
        self.text()
    }
}

impl Drop for Capture {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Lets a master exit with all its sessions; the library can only ask it to wait for their end.
pub(super) async fn exit_master(socket: &camino::Utf8Path) {
    // Most masters went with their run, and a process for each would cost more than the question.
    if tokio::net::UnixStream::connect(socket).await.is_ok() {
        let mut ssh = process::command("ssh");
        ssh.args(["-F", "/dev/null", "-S", socket.as_str(), "-O", "exit", "master"]);
        drop(process::run_aside(ssh, Duration::from_secs(5)).await);
    }
}

/// Ends the `ssh` that is the master of a socket, also one that does not answer.
///
/// On its way into the background it forks twice and writes its title over its arguments, so one look at the
/// processes may miss it: it is gone when nobody listens at its socket.
pub(super) fn kill_master(socket: &camino::Utf8Path) {
    const LOOKS: usize = 200;
    const PAUSE: Duration = Duration::from_millis(5);
    for _ in 0..LOOKS {
        for process in masters(socket) {
            // It may have ended meanwhile.
            let _ended = rustix::process::kill_process(process, rustix::process::Signal::KILL);
        }
        if std::os::unix::net::UnixStream::connect(socket).is_err() {
            return;
        }
        std::thread::sleep(PAUSE);
    }
}

/// The masters of a socket: one in the background calls itself `ssh: SOCKET [mux]`, and one that is on the way there
/// still has its arguments.
fn masters(socket: &camino::Utf8Path) -> Vec<rustix::process::Pid> {
    let title = format!("ssh: {socket} [mux]");
    let is_master = |line: &str| {
        let line = line.trim_end_matches('\0');
        let mut words = line.split('\0');
        line == title
            || words.next() == Some("ssh")
                && words.skip_while(|word| *word != "-S").nth(1) == Some(socket.as_str())
    };
    let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let masters = processes.filter_map(|process| {
        let number = process.file_name().to_str()?.parse().ok()?;
        let line = std::fs::read(process.path().join("cmdline")).ok()?;
        is_master(&String::from_utf8_lossy(&line)).then_some(())?;
        rustix::process::Pid::from_raw(number)
    });
    masters.collect()
}

/// Returns the entries of a file of host keys for a name, as `ssh-keygen -F` prints them: names may be
/// hashed, be patterns or stand in a list.
///
/// # Errors
/// When the file is there and cannot be read, or `ssh-keygen` cannot be used.
pub(crate) async fn recorded_keys(file: &camino::Utf8Path, name: &str) -> std::io::Result<String> {
    match std::fs::File::open(file) {
        Ok(_) => {}
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(String::new()),
        Err(error) => return Err(error),
    }
    let mut keygen = process::heard("ssh-keygen");
    keygen.args(["-F", name, "-f", file.as_str()]);
    let output = process::run_aside(keygen, DEADLINE).await?;
    match output.status.code() {
        Some(0) => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
        Some(1) => Ok(String::new()),
        _ => Err(std::io::Error::other(String::from_utf8_lossy(&output.stderr).trim().to_owned())),
    }
}

/// Bytes of a file that are looked at together.
const PIECE: u64 = 64 << 10;

/// Whether the local `ssh` knows the keys that OpenSSH 8.7 brought. Its program holds their names; to ask it
/// would be 5 ms of a run of 200.
///
/// # Errors
/// When there is no `ssh`.
#[expect(clippy::disallowed_methods, reason = "where the local `ssh` is")]
pub(super) fn ssh_has_session_type() -> std::io::Result<bool> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let program = std::env::split_paths(&path).map(|folder| folder.join("ssh")).find(|file| file.is_file());
    if program.is_some_and(|program| holds(&program, "forkafterauthentication").unwrap_or(false)) {
        return Ok(true);
    }
    ask_for_session_type()
}

/// Asks `ssh` itself: an old one, one that may not be read, or a script around it.
fn ask_for_session_type() -> std::io::Result<bool> {
    let mut ssh = process::command("ssh");
    ssh.args(["-G", "-F", "/dev/null", "-o", "SessionType=default", "host"]);
    Ok(process::run(&mut ssh, b"", DEADLINE)?.status.success())
}

/// Whether a file holds a word; in pieces, for fresh memory costs more than the search.
fn holds(file: &Path, word: &str) -> std::io::Result<bool> {
    let word = Regex::new(word).map_err(std::io::Error::other)?;
    let mut file = std::fs::File::open(file)?;
    let mut text = Vec::new();
    while (&mut file).take(PIECE).read_to_end(&mut text)? > 0 {
        if word.is_match(&text) {
            return Ok(true);
        }
        // The word may go on in the next piece.
        text.drain(..text.len().saturating_sub(word.as_str().len()));
    }
    Ok(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_found_wherever_it_stands() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("program");
        let size = usize::try_from(PIECE).expect("small");
        for at in [0, size - 4, size - 3, 2 * size - 1, 3 * size] {
            let mut text = vec![b'x'; at];
            text.extend(b"word");
            std::fs::write(&file, &text).expect("written");
            assert!(holds(&file, "word").expect("read"), "{at}");
            text.pop();
            std::fs::write(&file, &text).expect("written");
            assert!(!holds(&file, "word").expect("read"), "{at}");
        }
    }

    /// The answer that is read from the program is what the program says.
    #[test]
    fn ssh_knows_what_its_program_holds() {
        assert_eq!(
            ssh_has_session_type().expect("ssh is there"),
            ask_for_session_type().expect("ssh starts")
        );
    }
}
