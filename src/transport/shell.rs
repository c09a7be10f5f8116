//! The host shell: frames one after another over a pair of streams, whatever carries them.

use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::time::Instant;

use super::bounded::Bounded;
use super::wire::{self, Identity, Line, Parser};
use super::{Frame, OnPart, PartEnd, TransportError};

/// What the host shell is written to.
pub(super) type Writer = Box<dyn AsyncWrite + Send + Unpin>;
/// What the host shell is read from.
pub(super) type Reader = Box<dyn AsyncRead + Send + Unpin>;

const CHUNK: usize = 64 * 1024;
/// A century: longer deadlines overflow the clock.
const FOREVER: Duration = Duration::from_hours(100 * 365 * 24);

/// Why a host shell gave no (further) answer.
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
}

/// A POSIX shell that reads frames.
pub(super) struct HostShell {
    reader: Reader,
    writer: Writer,
    parser: Parser,
    nonce: String,
    sequence: u64,
    state: State,
    /// The frame that was sent behind the greeting.
    ahead: bool,
    identity: Identity,
    /// What came before the first answer.
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
            ahead: false,
            identity: Identity::default(),
            noise: Bounded::new(4096),
            chunk: vec![0; CHUNK],
        }
    }

    /// Who answered the greeting.
    pub(super) fn identity(&self) -> Identity {
        self.identity
    }

    /// What came before the first answer: greetings of login scripts, the last words of nologin.
    pub(super) fn noise(&self) -> String {
        self.noise.text()
    }

    /// The streams back, for what is not a shell any more.
    pub(super) fn into_streams(self) -> (Reader, Writer) {
        (self.reader, self.writer)
    }

    /// Greets the shell and waits for its answer; a frame may ride along and save a round trip.
    /// Unbounded in time: callers set the deadline.
    pub(super) async fn start(&mut self, ahead: Option<&Frame>) -> Result<Identity, ShellError> {
        let mut text = wire::greeting(&self.nonce);
        if let Some(frame) = ahead {
            text.push_str(&wire::render(frame, &self.nonce, self.sequence + 1).map_err(ShellError::Other)?);
            self.sequence += 1;
            self.ahead = true;
        }
        match self.answer(&text).await? {
            Line::Ready(identity) => {
                self.identity = identity;
                self.state = State::Idle;
                Ok(identity)
            }
            line @ (Line::Begin(_) | Line::End(..) | Line::Sudo(_)) => {
                Err(ShellError::protocol(format!("the host shell answered {line:?} to the greeting")))
            }
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
            line @ (Line::Ready(_) | Line::Begin(_) | Line::End(..)) => {
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
        let Self { reader, writer, parser, noise, chunk, .. } = self;
        let write = async {
            // A failed write is seen as the end of the output.
            drop(writer.write_all(text.as_bytes()).await);
            drop(writer.flush().await);
        };
        tokio::pin!(write);
        let mut written = false;
        loop {
            if let Some(line) = parser.next_line(noise) {
                return Ok(line);
            }
            tokio::select! {
                () = &mut write, if !written => written = true,
                read = reader.read(chunk) => match read {
                    Ok(0) | Err(_) => return Err(ShellError::Ended),
                    Ok(length) => parser.push(chunk.get(..length).unwrap_or_default()),
                },
            }
        }
    }

    /// Runs a frame. If it was sent behind the greeting, only its answer is awaited.
    pub(super) async fn run(&mut self, frame: &Frame, on_part: OnPart<'_>) -> Result<(), ShellError> {
        if self.state != State::Idle {
            return Err(ShellError::protocol("the host shell is still busy with an earlier frame"));
        }
        if frame.parts.is_empty() {
            return Ok(());
        }
        let text = if std::mem::take(&mut self.ahead) {
            String::new()
        } else {
            let text = wire::render(frame, &self.nonce, self.sequence + 1).map_err(ShellError::Other)?;
            self.sequence += 1;
            text
        };
        self.state = State::Busy;
        let Self { reader, writer, parser, sequence, chunk, .. } = self;
        let write = async {
            drop(writer.write_all(text.as_bytes()).await);
            drop(writer.flush().await);
        };
        tokio::pin!(write);
        let mut written = text.is_empty();
        let mut begun = false;
        let mut between = Bounded::new(0);
        for (index, part) in frame.parts.iter().enumerate() {
            let deadline = Instant::now() + part.deadline.min(FOREVER);
            let mut output = Bounded::new(part.limit);
            let status = loop {
                let sink = if begun { &mut output } else { &mut between };
                match parser.next_line(sink) {
                    Some(Line::Begin(begin)) if !begun && begin == *sequence => begun = true,
                    Some(Line::End(end, status)) if begun && end == index => break status,
                    Some(line) => {
                        return Err(ShellError::protocol(format!(
                            "the host shell answered {line:?} in `{}`, part {index} of frame {sequence}",
                            part.name
                        )));
                    }
                    None => tokio::select! {
                        () = &mut write, if !written => written = true,
                        read = tokio::time::timeout_at(deadline, reader.read(chunk)) => match read {
                            Ok(Ok(0) | Err(_)) => return Err(ShellError::Ended),
                            Ok(Ok(length)) => parser.push(chunk.get(..length).unwrap_or_default()),
                            Err(_) => return Err(ShellError::Other(TransportError::PartTimedOut {
                                index,
                                part: part.name.clone(),
                                deadline: part.deadline,
                            })),
                        },
                    },
                }
            };
            let (output, dropped) = output.finish();
            on_part(PartEnd { index, status, output, dropped });
        }
        self.state = State::Idle;
        Ok(())
    }

    /// Ends the standard input of the shell.
    pub(super) async fn end(&mut self) {
        drop(self.writer.shutdown().await);
        self.writer = Box::new(tokio::io::sink());
    }
}
