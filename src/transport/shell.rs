//! The host shell: frames one after another over a pair of streams, whatever carries them.

use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::time::Instant;

use super::bounded::Bounded;
use super::parser::{Identity, Line, Parser};
use super::stream::{self, CopyError};
use super::wire::{self, Expected};
use super::{Frame, OnPart, PartEnd, TransportError, classify};

/// Writer to the host shell.
pub(super) type Writer = Box<dyn AsyncWrite + Send + Unpin>;
/// Reader of the host shell.
pub(super) type Reader = Box<dyn AsyncRead + Send + Unpin>;

const CHUNK: usize = 64 * 1024;
/// A century: longer deadlines overflow the clock.
const FOREVER: Duration = Duration::from_hours(100 * 365 * 24);

/// Reason why a host shell gave no (further) answer.
#[derive(Debug, Clone)]
pub(super) enum ShellError {
    /// Its output ended.
    Ended,
    /// Anything that needs no word from the login.
    Other(TransportError),
}

impl ShellError {
    fn protocol(message: impl Into<String>) -> Self {
        Self::Other(TransportError::Protocol { message: message.into() })
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Nothing was answered yet.
    Fresh,
    /// It waits for a frame.
    Idle,
    /// A frame was sent and its last part was not seen: nobody knows what it does.
    Busy,
    /// It closed its output: whoever asks again is told so again.
    Ended,
}

/// A POSIX shell that reads frames.
pub(super) struct HostShell {
    reader: Reader,
    writer: Writer,
    parser: Parser,
    nonce: String,
    sequence: u64,
    state: State,
    /// Bytes of the frame that was sent behind the greeting.
    ahead: Option<usize>,
    unsent: Unsent,
    identity: Identity,
    /// The shell that became a launcher, where one did.
    launcher: Option<Identity>,
    /// Output before the first answer.
    noise: Bounded,
    chunk: Vec<u8>,
}

impl std::fmt::Debug for HostShell {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("HostShell")
            .field("state", &self.state)
            .field("sequence", &self.sequence)
            .field("identity", &self.identity)
            .finish_non_exhaustive()
    }
}

impl HostShell {
    pub(super) fn new(
        reader: impl AsyncRead + Send + Unpin + 'static,
        writer: impl AsyncWrite + Send + Unpin + 'static,
    ) -> Self {
        let nonce = wire::nonce();
        Self {
            reader: Box::new(reader),
            writer: Box::new(writer),
            parser: Parser::new(&nonce),
            nonce,
            sequence: 0,
            state: State::Fresh,
            ahead: None,
            unsent: Unsent::default(),
            identity: Identity::default(),
            launcher: None,
            noise: Bounded::new(4096),
            chunk: vec![0; CHUNK],
        }
    }

    /// Returns the identity of the shell that answered the greeting.
    pub(super) fn identity(&self) -> Identity {
        self.identity
    }

    /// The process of it on the host that was logged in to: behind a launcher the shell itself may be elsewhere.
    pub(super) fn process(&self) -> Identity {
        self.launcher.unwrap_or(self.identity)
    }

    /// Returns the output before the first answer: greetings of login scripts, the last words of nologin.
    pub(super) fn noise(&self) -> String {
        self.noise.text()
    }

    /// Greets the shell and waits for its answer; a frame may ride along and save a round trip. Where
    /// the shell is not who is expected, nothing of the frame runs.
    /// Unbounded in time: callers set the deadline.
    pub(super) async fn start(
        &mut self,
        expected: Expected,
        ahead: Option<&Frame>,
    ) -> Result<Identity, ShellError> {
        let mut text = wire::greeting(&self.nonce, expected);
        if let Some(frame) = ahead {
            let frame = wire::render(frame, &self.nonce, self.sequence + 1).map_err(ShellError::Other)?;
            text.push_str(&frame);
            self.sequence += 1;
            self.ahead = Some(frame.len());
        }
        match self.answer(&text).await? {
            Line::Ready(identity) => {
                self.identity = identity;
                self.state = State::Idle;
                Ok(identity)
            }
            Line::Stranger(uid, gid) => Err(ShellError::Other(classify::stranger(expected, &uid, &gid))),
            line @ (Line::Begin(_) | Line::End(..) | Line::Sudo(_) | Line::Said(_)) => {
                Err(ShellError::protocol(format!("the host shell answered {line:?} to the greeting")))
            }
        }
    }

    /// Has the shell become a launcher and greets the shell that this starts. Nothing is sent before the
    /// first one says that it has read all it will read: what came sooner, it would keep for itself.
    /// Unbounded in time: callers set the deadline.
    pub(super) async fn launch(&mut self, words: &[String]) -> Result<Identity, ShellError> {
        let text = wire::launch(&self.nonce, words).map_err(ShellError::Other)?;
        match self.answer(&text).await? {
            Line::Begin(0) => {}
            line @ (Line::Ready(_)
            | Line::Stranger(..)
            | Line::Begin(_)
            | Line::End(..)
            | Line::Sudo(_)
            | Line::Said(_)) => {
                return Err(ShellError::protocol(format!(
                    "the host shell answered {line:?} to the launcher"
                )));
            }
        }
        self.launcher = Some(self.identity);
        self.noise = Bounded::new(4096);
        self.state = State::Fresh;
        self.start(Expected::Anyone, None).await
    }

    /// Has the shell append `content` to a file and end. Nothing is sent before the shell says that it
    /// writes: whoever else read it would take it for commands. The second result is whether all was
    /// written; `None` when nobody knows.
    pub(super) async fn stream(
        &mut self,
        path: &str,
        content: &mut (dyn AsyncRead + Send + Unpin),
    ) -> (Result<u64, CopyError>, Option<bool>) {
        let text = wire::stream(&self.nonce, path);
        let begun = tokio::time::timeout(stream::STALL, self.answer(&text)).await;
        match begun {
            Ok(Ok(Line::Begin(0))) => {}
            Ok(Ok(Line::End(0, status))) => return (Ok(0), Some(status == 0)),
            _ => return (Ok(0), None),
        }
        let rest = async {
            while !self.unsent.is_empty() {
                self.unsent.write(&mut self.writer).await;
            }
        };
        if tokio::time::timeout(stream::STALL, rest).await.is_err() {
            return (Ok(0), None);
        }
        let copied = stream::copy(content, &mut self.writer).await;
        self.end().await;
        match tokio::time::timeout(stream::STALL, self.answer("")).await {
            Ok(Ok(Line::End(0, status))) => (copied, Some(status == 0)),
            _ => (copied, None),
        }
    }

    /// Sends the bootstrap of sudo (before any greeting) and waits for its verdict, which comes
    /// with sudo's own words.
    pub(super) async fn bootstrap(&mut self, text: &str) -> Result<(String, String), ShellError> {
        match self.answer(text).await? {
            Line::Sudo(verdict) => {
                let words = std::mem::replace(&mut self.noise, Bounded::new(4096)).text();
                Ok((verdict, words))
            }
            line @ (Line::Ready(_) | Line::Stranger(..) | Line::Begin(_) | Line::End(..) | Line::Said(_)) => {
                Err(ShellError::protocol(format!("the bootstrap answered {line:?}")))
            }
        }
    }

    /// The nonce of this connection.
    pub(super) fn nonce(&self) -> &str {
        &self.nonce
    }

    /// Writes `text` and waits for the first line of ours; what precedes it is noise.
    async fn answer(&mut self, text: &str) -> Result<Line, ShellError> {
        let Self { reader, writer, parser, noise, chunk, unsent, .. } = self;
        unsent.add(text);
        loop {
            if let Some(line) = parser.next_line(noise) {
                return Ok(line);
            }
            tokio::select! {
                () = unsent.write(writer), if !unsent.is_empty() => {}
                read = reader.read(chunk) => match read {
                    Ok(0) | Err(_) => return Err(ShellError::Ended),
                    Ok(length) => parser.push(chunk.get(..length).unwrap_or_default()),
                },
            }
        }
    }

    /// Runs a frame. If it was sent behind the greeting, only its answer is awaited.
    pub(super) async fn run(&mut self, frame: &Frame, on_part: OnPart<'_>) -> Result<(), ShellError> {
        match self.state {
            State::Idle => {}
            State::Ended => return Err(ShellError::Ended),
            State::Fresh | State::Busy => {
                return Err(ShellError::protocol("the host shell is still busy with an earlier frame"));
            }
        }
        if frame.parts.is_empty() {
            return Ok(());
        }
        let result = self.send(frame, on_part).await;
        if matches!(result, Err(ShellError::Ended)) {
            self.state = State::Ended;
        }
        result
    }

    async fn send(&mut self, frame: &Frame, on_part: OnPart<'_>) -> Result<(), ShellError> {
        let ahead = self.ahead.take();
        let text = if ahead.is_some() {
            String::new()
        } else {
            let text = wire::render(frame, &self.nonce, self.sequence + 1).map_err(ShellError::Other)?;
            self.sequence += 1;
            text
        };
        let (exec, mut received) = (tracing::Span::current(), 0);
        exec.record("sent", ahead.unwrap_or(text.len()));
        self.state = State::Busy;
        let Self { reader, writer, parser, sequence, chunk, unsent, .. } = self;
        unsent.add(&text);
        let mut open = true;
        let mut begun = false;
        let mut between = Bounded::new(0);
        for (index, part) in frame.parts.iter().enumerate() {
            let deadline = Instant::now() + part.deadline.min(FOREVER);
            let mut output = Bounded::new(part.limit);
            let mut late = false;
            let status = loop {
                let sink = if begun { &mut output } else { &mut between };
                match parser.next_line(sink) {
                    Some(Line::Begin(begin)) if !begun && begin == *sequence => begun = true,
                    Some(Line::End(end, status)) if begun && end == index => break status,
                    Some(Line::Said(said)) if begun => {
                        if let Some(watch) = &frame.watch {
                            watch.said(said);
                        }
                    }
                    Some(line) => {
                        return Err(ShellError::protocol(format!(
                            "the host shell answered {line:?} in `{}`, part {index} of frame {sequence}",
                            part.name
                        )));
                    }
                    None => tokio::select! {
                        // First, because a part that never stops writing is always readable.
                        biased;
                        () = tokio::time::sleep_until(deadline) => {
                            // What has arrived in time counts, however late this task gets its turn.
                            if let (false, Ok(Ok(length @ 1..))) =
                                (late, tokio::time::timeout(Duration::ZERO, reader.read(chunk)).await)
                            {
                                late = true;
                                parser.push(chunk.get(..length).unwrap_or_default());
                                continue;
                            }
                            return Err(ShellError::Other(TransportError::PartTimedOut {
                                index,
                                part: part.name.clone(),
                                deadline: part.deadline,
                            }));
                        }
                        () = async {
                            if !unsent.is_empty() {
                                return unsent.write(writer).await;
                            }
                            close(writer).await;
                            open = false;
                        }, if !unsent.is_empty() || frame.last && open => {}
                        read = reader.read(chunk) => match read {
                            Ok(0) | Err(_) => return Err(ShellError::Ended),
                            Ok(length) => {
                                received += length;
                                parser.push(chunk.get(..length).unwrap_or_default());
                            }
                        },
                    },
                }
            };
            let (output, gap) = output.finish();
            exec.record("received", received);
            tracing::trace!(part = part.name, status, bytes = output.len(), ?gap, "part");
            on_part(PartEnd { index, status, output, gap });
        }
        self.state = State::Idle;
        Ok(())
    }

    /// Ends the standard input of the shell.
    pub(super) async fn end(&mut self) {
        close(&mut self.writer).await;
    }
}

/// Bytes that a shell is still to be sent: more than a pipe holds goes bit by bit, while its answers are
/// read.
#[derive(Debug, Default)]
struct Unsent {
    bytes: Vec<u8>,
    /// Number of them that are written.
    at: usize,
}

impl Unsent {
    fn add(&mut self, text: &str) {
        self.bytes.extend_from_slice(text.as_bytes());
    }

    fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Writes some of it; nothing is lost when this is dropped before its end.
    async fn write(&mut self, writer: &mut Writer) {
        match writer.write(self.bytes.get(self.at..).unwrap_or_default()).await {
            Ok(length @ 1..) => self.at += length,
            // A failed write is seen as the end of the output.
            Ok(0) | Err(_) => self.at = self.bytes.len(),
        }
        if self.at == self.bytes.len() {
            *self = Self::default();
        }
    }
}

/// A pipe is closed when it is dropped, and not before.
async fn close(writer: &mut Writer) {
    drop(writer.shutdown().await);
    *writer = Box::new(tokio::io::sink());
}

#[cfg(test)]
mod tests {
    use tokio::io::DuplexStream;
    use tokio::time::sleep;

    use super::*;
    use crate::transport::{Part, Script};

    fn frame(deadlines: &[u64]) -> Frame {
        let part = |seconds: &u64| Part {
            name: format!("p{seconds}"),
            script: Script::new(":"),
            deadline: Duration::from_secs(*seconds),
            limit: 100,
        };
        Frame { parts: deadlines.iter().map(part).collect(), ..Frame::default() }
    }

    /// A shell whose other end the test plays; it has answered the greeting.
    async fn started() -> (HostShell, DuplexStream, String) {
        let (ours, mut theirs) = tokio::io::duplex(1 << 20);
        let (reader, writer) = tokio::io::split(ours);
        let mut shell = HostShell::new(reader, writer);
        let nonce = shell.nonce().to_owned();
        theirs.write_all(format!("noise\n{nonce} ready 2 3 4 5\n").as_bytes()).await.unwrap();
        let identity = shell.start(Expected::Anyone, None).await.unwrap();
        assert_eq!(identity, Identity { pid: 2, group: 3, started: 4, uid: 5 });
        assert_eq!(shell.noise(), "noise");
        (shell, theirs, nonce)
    }

    #[expect(clippy::disallowed_methods, reason = "the other side of what is tested")]
    #[tokio::test(start_paused = true)]
    async fn every_part_has_its_own_deadline() {
        let (mut shell, mut theirs, nonce) = started().await;
        tokio::spawn(async move {
            let line = |text: &str| format!("\n{nonce} {text}\n");
            theirs.write_all(line("begin 1").as_bytes()).await.unwrap();
            sleep(Duration::from_secs(9)).await;
            theirs.write_all(format!("one{}", line("end 0 0")).as_bytes()).await.unwrap();
            sleep(Duration::from_secs(9)).await;
            theirs.write_all(format!("two{}", line("end 1 255")).as_bytes()).await.unwrap();
            sleep(Duration::from_hours(1)).await;
        });
        let mut seen = Vec::new();
        let error =
            shell.run(&frame(&[10, 10, 5]), &mut |end| seen.push((end.index, end.status, end.output))).await;
        assert_eq!(seen, [(0, 0, b"one".to_vec()), (1, 255, b"two".to_vec())]);
        let Err(ShellError::Other(TransportError::PartTimedOut { index: 2, part, .. })) = error else {
            panic!("{error:?}")
        };
        assert_eq!(part, "p5");
        let again = shell.run(&frame(&[1]), &mut |_| {}).await;
        assert!(matches!(again, Err(ShellError::Other(TransportError::Protocol { .. }))));
    }

    #[tokio::test]
    async fn a_missing_trailer_is_the_end() {
        let (mut shell, mut theirs, nonce) = started().await;
        theirs.write_all(format!("\n{nonce} begin 1\nhalf an outp").as_bytes()).await.unwrap();
        drop(theirs);
        let ended = shell.run(&frame(&[10]), &mut |_| panic!("it did not end")).await;
        assert!(matches!(ended, Err(ShellError::Ended)), "{ended:?}");
    }

    /// The greeting is answered before all of the frame behind it has gone into the pipe.
    #[tokio::test]
    async fn a_frame_that_rides_along_arrives_whole() {
        let (ours, theirs) = tokio::io::duplex(4096);
        let (reader, writer) = tokio::io::split(ours);
        let mut shell = HostShell::new(reader, writer);
        let nonce = shell.nonce().to_owned();
        let long = format!(": {}", "x".repeat(100_000));
        let mut large = frame(&[10]);
        large.parts[0].script = Script::new(long.clone());
        large.last = true;
        let host = async {
            let (mut read, mut write) = tokio::io::split(theirs);
            write.write_all(format!("\n{nonce} ready 2 3 4 5\n").as_bytes()).await.unwrap();
            sleep(Duration::from_millis(10)).await;
            let mut sent = String::new();
            read.read_to_string(&mut sent).await.unwrap();
            write.write_all(format!("\n{nonce} begin 1\n\n{nonce} end 0 0\n").as_bytes()).await.unwrap();
            sent
        };
        let run = async {
            shell.start(Expected::Anyone, Some(&large)).await.unwrap();
            shell.run(&large, &mut |_| {}).await.unwrap();
        };
        let (sent, ()) = tokio::join!(host, run);
        assert!(sent.contains(&long), "{} bytes", sent.len());
    }

    #[tokio::test]
    async fn behind_the_last_frame_the_input_ends() {
        let (mut shell, mut theirs, nonce) = started().await;
        theirs.write_all(format!("\n{nonce} begin 1\n\n{nonce} end 0 0\n").as_bytes()).await.unwrap();
        let last = Frame { last: true, ..frame(&[10]) };
        shell.run(&last, &mut |_| {}).await.unwrap();
        let mut sent = String::new();
        theirs.read_to_string(&mut sent).await.unwrap();
        assert!(sent.contains(&nonce), "{sent}");
    }

    #[tokio::test]
    async fn what_a_background_process_writes_between_frames_is_dropped() {
        let (mut shell, mut theirs, nonce) = started().await;
        let text = format!("stray\n{nonce} begin 1\nmine\n{nonce} end 0 0\n");
        theirs.write_all(text.as_bytes()).await.unwrap();
        let mut output = Vec::new();
        shell.run(&frame(&[10]), &mut |end| output = end.output).await.unwrap();
        assert_eq!(output, b"mine");
    }

    #[tokio::test]
    async fn a_wrong_part_is_a_protocol_error() {
        let (mut shell, mut theirs, nonce) = started().await;
        theirs.write_all(format!("\n{nonce} begin 1\n\n{nonce} end 1 0\n").as_bytes()).await.unwrap();
        let error = shell.run(&frame(&[10, 10]), &mut |_| {}).await;
        assert!(matches!(error, Err(ShellError::Other(TransportError::Protocol { .. }))), "{error:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn an_endless_deadline_does_not_overflow() {
        let (mut shell, mut theirs, nonce) = started().await;
        theirs.write_all(format!("\n{nonce} begin 1\n\n{nonce} end 0 0\n").as_bytes()).await.unwrap();
        let mut frame = frame(&[1]);
        frame.parts[0].deadline = Duration::MAX;
        shell.run(&frame, &mut |_| {}).await.unwrap();
    }
}
