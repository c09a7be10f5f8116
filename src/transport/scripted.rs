//! Hosts that answer from a script: for tests of everything above the wire.
//!
//! Nothing is started and nothing is waited for but the clock of tokio, so tests may pause it.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use tokio::io::{AsyncRead, AsyncReadExt as _};

use super::bounded::Bounded;
use super::{Arg, ConnectKind, Frame, OnPart, Part, PartEnd, Remote, Script, Transport, TransportError};
use crate::inventory::Host;

/// Answer of a host to a part. In a file: a list of these.
#[derive(Debug, Clone, Default, serde::Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Reply {
    /// Only on this host.
    pub host: Option<String>,
    /// Only to the part of this name.
    pub part: Option<String>,
    /// Only where the text of the script or its data (unencoded, secrets unrevealed) holds this.
    pub contains: Option<String>,
    /// Number of times that it answers; then the next reply that fits counts. Always, when it is not set.
    pub times: Option<u32>,
    /// Milliseconds until the answer.
    pub after_ms: u64,
    /// Exit status; another than 0 of a `stream`: the host says that it cannot write, in the output.
    pub status: i32,
    /// Standard output.
    pub output: String,
    /// No answer at all, until the part's deadline.
    pub hang: bool,
    /// The connection is lost instead.
    pub lose: bool,
    /// For `open`, `revive` and `stream`: fails like this.
    pub fail: Option<ConnectKind>,
}

impl Reply {
    /// To the parts of this name.
    pub fn part(name: &str) -> Self {
        Self { part: Some(name.to_owned()), ..Self::default() }
    }

    /// To everything that holds this text.
    pub fn contains(text: &str) -> Self {
        Self { contains: Some(text.to_owned()), ..Self::default() }
    }

    /// To the opening of a host.
    pub fn open() -> Self {
        Self::part("open")
    }

    /// Only on this host.
    #[must_use]
    pub fn on(mut self, host: &str) -> Self {
        self.host = Some(host.to_owned());
        self
    }

    /// Only where text or data hold this.
    #[must_use]
    pub fn with(mut self, text: &str) -> Self {
        self.contains = Some(text.to_owned());
        self
    }

    /// Only so often.
    #[must_use]
    pub fn times(mut self, times: u32) -> Self {
        self.times = Some(times);
        self
    }

    /// Answers this late.
    #[must_use]
    pub fn after(mut self, delay: Duration) -> Self {
        self.after_ms = u64::try_from(delay.as_millis()).unwrap_or(u64::MAX);
        self
    }

    /// Answers with this output.
    #[must_use]
    pub fn output(mut self, output: impl Into<String>) -> Self {
        self.output = output.into();
        self
    }

    /// Answers with this status.
    #[must_use]
    pub fn status(mut self, status: i32) -> Self {
        self.status = status;
        self
    }

    /// Does not answer.
    #[must_use]
    pub fn hang(mut self) -> Self {
        self.hang = true;
        self
    }

    /// Loses the connection.
    #[must_use]
    pub fn lose(mut self) -> Self {
        self.lose = true;
        self
    }

    /// Cannot be reached.
    #[must_use]
    pub fn fail(mut self, kind: ConnectKind) -> Self {
        self.fail = Some(kind);
        self
    }

    fn fits(&self, host: &str, part: &str, text: &str) -> bool {
        self.times != Some(0)
            && self.host.as_deref().is_none_or(|wanted| wanted == host)
            && self.part.as_deref().is_none_or(|wanted| wanted == part)
            && self.contains.as_deref().is_none_or(|wanted| text.contains(wanted))
    }
}

/// One thing that a host was asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sent {
    /// The host.
    pub host: String,
    /// Name of the part; `open`, `revive`, `stream`, `close` and `leave` for those.
    pub part: String,
    /// The script's text and its data, one per line, unencoded and with secrets unrevealed; of `open`, whether
    /// the login stays.
    pub text: String,
    /// Prelude of its frame, which runs before the parts.
    pub prelude: String,
}

type Answer = dyn Fn(&Sent) -> Option<Reply> + Send + Sync;

#[derive(Default)]
struct Book {
    replies: Vec<Reply>,
    sent: Vec<Sent>,
    files: BTreeMap<(String, String), Vec<u8>>,
    open: usize,
    most_open: usize,
}

/// Plays hosts from replies: the first that fits answers. What nothing fits succeeds without output.
#[derive(Clone, Default)]
pub struct Scripted {
    book: Arc<Mutex<Book>>,
    answer: Option<Arc<Answer>>,
}

impl std::fmt::Debug for Scripted {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Scripted").finish_non_exhaustive()
    }
}

impl Scripted {
    /// Answers from a list.
    pub fn new(replies: impl IntoIterator<Item = Reply>) -> Self {
        let book = Book { replies: replies.into_iter().collect(), ..Book::default() };
        Self { book: Arc::new(Mutex::new(book)), answer: None }
    }

    /// Answers from a JSON file that holds a list of replies.
    ///
    /// # Errors
    /// When it cannot be read or understood.
    pub fn load(path: &Path) -> std::io::Result<Self> {
        let replies: Vec<Reply> = serde_json::from_slice(&std::fs::read(path)?)?;
        Ok(Self::new(replies))
    }

    /// Asks a function first; where it has no answer the list counts.
    #[must_use]
    pub fn answer(mut self, answer: impl Fn(&Sent) -> Option<Reply> + Send + Sync + 'static) -> Self {
        self.answer = Some(Arc::new(answer));
        self
    }

    /// Adds a reply in front of the others.
    pub fn first(&self, reply: Reply) {
        self.book().replies.insert(0, reply);
    }

    /// Everything that was sent so far, to all hosts.
    pub fn sent(&self) -> Vec<Sent> {
        self.book().sent.clone()
    }

    /// Names of the parts that a host was sent, in order.
    pub fn parts(&self, host: &str) -> Vec<String> {
        self.book().sent.iter().filter(|sent| sent.host == host).map(|sent| sent.part.clone()).collect()
    }

    /// Returns what was streamed to a path of a host, all of it.
    pub fn file(&self, host: &str, path: &str) -> Option<Vec<u8>> {
        self.book().files.get(&(host.to_owned(), path.to_owned())).cloned()
    }

    /// Returns the largest number of hosts that were open at once.
    pub fn most_open(&self) -> usize {
        self.book().most_open
    }

    fn book(&self) -> std::sync::MutexGuard<'_, Book> {
        self.book.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn ask(&self, host: &str, part: &str, text: String, prelude: &str) -> Reply {
        let (host_name, part_name, prelude) = (host.to_owned(), part.to_owned(), prelude.to_owned());
        let sent = Sent { host: host_name, part: part_name, text, prelude };
        let own = self.answer.as_ref().and_then(|answer| answer(&sent));
        let mut book = self.book();
        let listed = match own {
            Some(reply) => Some(reply),
            None => book.replies.iter_mut().find(|reply| reply.fits(host, part, &sent.text)).map(|reply| {
                reply.times = reply.times.map(|times| times - 1);
                reply.clone()
            }),
        };
        book.sent.push(sent);
        listed.unwrap_or_default()
    }

    /// For what is no part: waits and fails as told.
    async fn act(&self, host: &str, what: &str, text: String, limit: Duration) -> Result<(), TransportError> {
        let reply = self.ask(host, what, text, "");
        if reply.hang {
            tokio::time::sleep(limit).await;
            let message = format!("no answer within {limit:?}");
            return Err(TransportError::Connect { kind: ConnectKind::TimedOut, message });
        }
        tokio::time::sleep(Duration::from_millis(reply.after_ms)).await;
        match reply.fail {
            Some(kind) => Err(TransportError::Connect { kind, message: reply.output }),
            None if reply.lose => Err(TransportError::Lost { message: "as scripted".to_owned() }),
            None if reply.status != 0 => Err(TransportError::Protocol { message: reply.output }),
            None => Ok(()),
        }
    }
}

/// A script as a person would read it: the text, then its data.
fn readable(script: &Script) -> String {
    let mut out = script.text.clone().into_owned();
    for arg in &script.args {
        out.push('\n');
        match arg {
            Arg::Word(text) | Arg::Text(text) | Arg::Packed(text) => out.push_str(text),
            Arg::Bytes(bytes) => out.push_str(&String::from_utf8_lossy(bytes)),
            Arg::Script(script) => out.push_str(&readable(script)),
            Arg::Scripts(scripts) | Arg::Tasks(scripts) => {
                for script in scripts {
                    out.push_str(&readable(script));
                }
            }
        }
    }
    out
}

#[async_trait]
impl Transport for Scripted {
    async fn open(&self, host: &Host, deadline: Duration) -> Result<Box<dyn Remote>, TransportError> {
        let stays = if host.ssh.persist.is_some() { "it stays" } else { "" };
        self.act(&host.name, "open", stays.to_owned(), deadline).await?;
        let mut book = self.book();
        book.open += 1;
        book.most_open = book.most_open.max(book.open);
        drop(book);
        Ok(Box::new(ScriptedRemote {
            scripted: self.clone(),
            host: host.name.clone(),
            state: State::Idle,
            open: true,
        }))
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Idle,
    Stuck,
    Lost,
}

#[derive(Debug)]
struct ScriptedRemote {
    scripted: Scripted,
    host: String,
    state: State,
    open: bool,
}

impl ScriptedRemote {
    fn close_session(&mut self) {
        if std::mem::take(&mut self.open) {
            self.scripted.book().open -= 1;
        }
    }

    fn end(&mut self, how: &str) {
        if self.open {
            self.scripted.ask(&self.host, how, String::new(), "");
        }
        self.close_session();
        self.state = State::Lost;
    }

    async fn part(&mut self, index: usize, part: &Part, prelude: &str) -> Result<PartEnd, TransportError> {
        let reply = self.scripted.ask(&self.host, &part.name, readable(&part.script), prelude);
        let delay =
            if reply.hang { part.deadline } else { Duration::from_millis(reply.after_ms).min(part.deadline) };
        self.state = State::Stuck;
        tokio::time::sleep(delay).await;
        if reply.hang || Duration::from_millis(reply.after_ms) > part.deadline {
            return Err(TransportError::PartTimedOut {
                index,
                part: part.name.clone(),
                deadline: part.deadline,
            });
        }
        if reply.lose {
            self.state = State::Lost;
            return Err(TransportError::Lost { message: "as scripted".to_owned() });
        }
        self.state = State::Idle;
        let mut output = Bounded::new(part.limit);
        output.push(reply.output.as_bytes());
        let (output, gap) = output.finish();
        Ok(PartEnd { index, status: reply.status, output, gap })
    }
}

#[async_trait]
impl Remote for ScriptedRemote {
    async fn run(&mut self, frame: &Frame, on_part: OnPart<'_>) -> Result<(), TransportError> {
        match self.state {
            State::Idle => {}
            State::Stuck => {
                let message = "the host shell is still busy with an earlier frame".to_owned();
                return Err(TransportError::Protocol { message });
            }
            State::Lost => return Err(TransportError::Lost { message: "as scripted".to_owned() }),
        }
        for (index, part) in frame.parts.iter().enumerate() {
            on_part(self.part(index, part, &frame.prelude).await?);
        }
        if frame.last {
            self.state = State::Lost;
        }
        Ok(())
    }

    async fn revive(&mut self) -> Result<(), TransportError> {
        if self.state == State::Lost {
            return Err(TransportError::Lost { message: "as scripted".to_owned() });
        }
        self.scripted.act(&self.host, "revive", String::new(), Duration::from_secs(20)).await?;
        self.state = State::Idle;
        Ok(())
    }

    async fn stream(
        &mut self,
        path: &str,
        content: &mut (dyn AsyncRead + Send + Unpin),
    ) -> Result<(), TransportError> {
        super::stream::check_path(path)?;
        let mut bytes = Vec::new();
        content.read_to_end(&mut bytes).await.map_err(|error| TransportError::Protocol {
            message: format!("cannot read what goes to {path}: {error}"),
        })?;
        self.scripted.act(&self.host, "stream", path.to_owned(), super::stream::STALL).await?;
        let key = (self.host.clone(), path.to_owned());
        self.scripted.book().files.entry(key).or_default().extend(bytes);
        Ok(())
    }

    async fn close(&mut self) {
        self.end("close");
    }

    async fn leave(&mut self) {
        self.end("leave");
    }
}

impl Drop for ScriptedRemote {
    fn drop(&mut self) {
        self.close_session();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transport::testing::host;

    fn frame(names: &[&str]) -> Frame {
        let part = |name: &&str| Part {
            name: (*name).to_owned(),
            script: Script::new("cat").arg(format!("data of {name}")),
            deadline: Duration::from_secs(10),
            limit: 100,
        };
        Frame { parts: names.iter().map(part).collect(), ..Frame::default() }
    }

    const DEADLINE: Duration = crate::transport::CONNECT;

    async fn run(
        remote: &mut dyn Remote,
        names: &[&str],
    ) -> (Vec<(i32, String)>, Result<(), TransportError>) {
        let mut ends = Vec::new();
        let text = |end: PartEnd| (end.status, String::from_utf8(end.output).unwrap());
        let result = remote.run(&frame(names), &mut |end| ends.push(text(end))).await;
        (ends, result)
    }

    #[tokio::test(start_paused = true)]
    async fn replies_fit_by_part_text_and_times() {
        let scripted = Scripted::new([
            Reply::part("a").times(1).output("first").after(Duration::from_secs(5)),
            Reply::contains("data of a").output("then"),
            Reply::part("b").on("other").output("never"),
            Reply::part("b").status(7),
        ]);
        let mut remote = scripted.open(&host("gpu0"), DEADLINE).await.unwrap();
        let (ends, result) = run(&mut *remote, &["a", "a", "b", "c"]).await;
        result.unwrap();
        let expected = [(0, "first"), (0, "then"), (7, ""), (0, "")];
        assert_eq!(ends, expected.map(|(status, output)| (status, output.to_owned())));
        remote.close().await;
        assert_eq!(scripted.parts("gpu0"), ["open", "a", "a", "b", "c", "close"]);
        assert_eq!(scripted.sent()[1].text, "cat\ndata of a");
        assert_eq!(scripted.most_open(), 1);
    }

    #[tokio::test(start_paused = true)]
    async fn hangs_losses_and_refusals() {
        let scripted = Scripted::new([
            Reply::open().on("far").fail(ConnectKind::NoRoute).output("no route"),
            Reply::open().on("slow").hang(),
            Reply::part("late").after(Duration::from_secs(11)),
            Reply::part("hang").hang(),
            Reply::part("lose").lose(),
        ]);
        let kind = |error: Option<TransportError>| match error.unwrap() {
            TransportError::Connect { kind, .. } => kind,
            TransportError::Lost { .. }
            | TransportError::PartTimedOut { .. }
            | TransportError::Protocol { .. } => panic!("no connect error"),
        };
        assert_eq!(kind(scripted.open(&host("far"), DEADLINE).await.err()), ConnectKind::NoRoute);
        assert_eq!(kind(scripted.open(&host("slow"), DEADLINE).await.err()), ConnectKind::TimedOut);
        let mut remote = scripted.open(&host("gpu0"), DEADLINE).await.unwrap();
        for part in ["late", "hang"] {
            let (ends, error) = run(&mut *remote, &["x", part, "y"]).await;
            assert_eq!(ends.len(), 1);
            assert!(matches!(error, Err(TransportError::PartTimedOut { index: 1, .. })), "{error:?}");
            assert!(matches!(run(&mut *remote, &["x"]).await.1, Err(TransportError::Protocol { .. })));
            remote.revive().await.unwrap();
        }
        assert!(matches!(run(&mut *remote, &["lose"]).await.1, Err(TransportError::Lost { .. })));
        assert!(remote.revive().await.is_err());
    }

    #[tokio::test]
    async fn files_and_functions() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), r#"[{"part": "a", "output": "from file"}, {"part": "b", "hang": true}]"#)
            .unwrap();
        let scripted = Scripted::load(file.path())
            .unwrap()
            .answer(|sent| (sent.part == "b").then(|| Reply::default().output(sent.host.clone())));
        let mut remote = scripted.open(&host("gpu0"), DEADLINE).await.unwrap();
        let (ends, _) = run(&mut *remote, &["a", "b"]).await;
        assert_eq!(ends, [(0, "from file".to_owned()), (0, "gpu0".to_owned())]);
        remote.stream("/tmp/x", &mut &b"bytes"[..]).await.unwrap();
        assert_eq!(scripted.file("gpu0", "/tmp/x").unwrap(), b"bytes");
    }
}
