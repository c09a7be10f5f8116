//! Large files of this machine on their way to a host: from where an earlier connection or run left off,
//! within the deadline of their task, and as one file on the host however often they are tried.

use sha2::{Digest as _, Sha256};

use super::cancel::Stop;
use super::connection::{CHANGE_LOSSES, Connection, Stuck};
use super::deadline::Deadline;
use super::{lock, state};
use crate::resources::{Change, Upload};
use crate::transport::{Part, TransportError};
use crate::words::{bytes, hex};

/// The large files that a host holds for some run.
#[derive(Debug, Default)]
pub(super) struct Uploads {
    /// Keys of files that earlier runs left and that this one did not ask for yet.
    left: Vec<String>,
}

/// Place of a file on the host.
#[derive(Debug, PartialEq, Eq)]
struct Place {
    /// Number of its bytes that are there.
    offset: u64,
    /// File that the rest is appended to; may be a link.
    path: String,
    /// The same file without a link, for messages.
    real: String,
}

/// Result of one try.
enum Step {
    /// All of it is there.
    SentTask(String),
    /// All of it was sent in pieces, and its digest is to be looked at.
    Unproven,
    /// The host has no place for it.
    Refused(String),
    /// It could not be read here or written there.
    Broken(String),
}

impl Uploads {
    /// With what was found on the host.
    pub(super) fn found(left: Vec<String>) -> Self {
        Self { left }
    }

    /// Sends the file of a change of `task`; its path on the host, or why it is not there.
    pub(super) async fn send(
        &mut self,
        connection: &mut Connection,
        task: &str,
        change: &Change,
        upload: &Upload,
        deadline: Deadline,
    ) -> Result<String, Stuck> {
        let target = change.object.to_string();
        let key = key(task, &target, &upload.sha256);
        self.left.retain(|left| *left != key);
        let cancel = connection.context().cancel.clone();
        let (mut arrived, mut losses) = (0, 0);
        loop {
            let before = arrived;
            let step = tokio::select! {
                biased;
                () = cancel.reached(Stop::End) => {
                    connection.revive("stopped").await?;
                    let text = "stopped by the second Ctrl-C; what has arrived is kept, and the next run goes on from there";
                    return Err(Stuck::Failed(text.to_owned()));
                }
                () = tokio::time::sleep_until(deadline.end()) => {
                    connection.revive("a file missed its deadline").await?;
                    return Err(Stuck::Failed(late(deadline, upload)));
                }
                step = step(connection, &key, &target, upload, deadline, &mut arrived) => step,
            };
            if arrived > before {
                losses = 0;
            }
            match step {
                Ok(Step::SentTask(path)) => return Ok(path),
                Ok(Step::Unproven) => {}
                Ok(Step::Refused(reason)) => return Err(Stuck::Failed(reason)),
                Ok(Step::Broken(reason)) => {
                    forget(connection, &[key]).await;
                    return Err(Stuck::Failed(format!("cannot send {}: {reason}", upload.local)));
                }
                Err(TransportError::Lost { message } | TransportError::Connect { message, .. }) => {
                    losses += 1;
                    connection.reconnect(&message).await?;
                    if losses >= CHANGE_LOSSES {
                        return Err(Stuck::Failed(format!(
                            "cannot send {}: the connection was lost again and again: {message}",
                            upload.local
                        )));
                    }
                }
                Err(TransportError::PartTimedOut { .. }) => {
                    connection.revive("a file missed its deadline").await?;
                    return Err(Stuck::Failed(late(deadline, upload)));
                }
                Err(TransportError::Protocol { message }) => {
                    return Err(Stuck::Failed(format!("cannot send {}: {message}", upload.local)));
                }
            }
        }
    }

    /// Takes away on the host what earlier runs left and nobody asked for.
    pub(super) async fn forget_left(&mut self, connection: &mut Connection) {
        let left = std::mem::take(&mut self.left);
        if !left.is_empty() {
            forget(connection, &left).await;
        }
    }
}

/// Asks where a file goes and sends what is missing of it.
async fn step(
    connection: &mut Connection,
    key: &str,
    target: &str,
    upload: &Upload,
    deadline: Deadline,
    arrived: &mut u64,
) -> Result<Step, TransportError> {
    let script = state::upload(key, &upload.sha256, upload.size, target);
    let part = Part { name: "upload".to_owned(), script, deadline: deadline.left(), limit: 4096 };
    let frame = lock::frame(connection, part, &[]);
    let (result, ends) = connection.run_frame(&frame).await;
    result?;
    let output = ends.first().map(|end| String::from_utf8_lossy(&end.output).into_owned());
    let place = match read(output.as_deref().unwrap_or_default()) {
        Ok(place) => place,
        Err(reason) => return Ok(Step::Refused(reason)),
    };
    *arrived = place.offset.max(*arrived);
    if place.offset == upload.size {
        return Ok(Step::SentTask(place.path));
    }
    match connection.send(upload, place.offset, &place.path).await {
        Ok(()) if place.offset == 0 => Ok(Step::SentTask(place.path)),
        Ok(()) => Ok(Step::Unproven),
        Err(TransportError::Protocol { message }) => {
            Ok(Step::Broken(message.replace(&place.path, &place.real)))
        }
        Err(error) => Err(error),
    }
}

/// Takes files away on the host, finished or not.
async fn forget(connection: &mut Connection, keys: &[String]) {
    let part = connection.short("upload-drop", state::upload_drop(keys));
    let frame = lock::frame(connection, part, &[]);
    if let (Err(error), _) = connection.run_frame(&frame).await {
        tracing::debug!(host = %connection.host().name, %error, "upload-drop");
    }
}

fn late(deadline: Deadline, upload: &Upload) -> String {
    format!(
        "{} ({}) was not sent within the deadline of {}; what has arrived is kept, and the next run goes on from there: run it again, or give the task a longer `timeout`",
        upload.local,
        bytes(upload.size),
        deadline.words()
    )
}

/// Returns the file name for a file of a task and its content. The first half is that of the same file with
/// another content, which nobody wants any more.
fn key(task: &str, target: &str, sha256: &str) -> String {
    let what: String = hex(&Sha256::digest(format!("{task}\0{target}"))).chars().take(16).collect();
    let content: String = sha256.chars().take(24).collect();
    format!("{what}.{content}")
}

/// Reads what `src/engine/shell/upload.sh` says.
fn read(output: &str) -> Result<Place, String> {
    let line = output.trim_end_matches('\n');
    let fields: Vec<&str> = line.split('\t').collect();
    match fields[..] {
        ["at", offset, path, real] => match offset.parse() {
            Ok(offset) => Ok(Place { offset, path: path.to_owned(), real: real.to_owned() }),
            Err(_) => Err(format!("the host does not say how much of a large file it has: {line}")),
        },
        ["refused", reason] => Err(lock::text(reason)),
        ["full" | "failed", reason] => Err(reason.to_owned()),
        _ => Err(format!("the host does not say where a large file goes: {line}")),
    }
}
