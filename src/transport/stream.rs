//! Streams of bytes to a file on a host.

use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};

use super::{Arg, Frame, Part, Remote, Script, TransportError, classify};

/// Time for which a stream may stand still.
pub(super) const STALL: Duration = Duration::from_mins(1);
const CHUNK: usize = 256 * 1024;

/// Reason why a stream did not arrive.
#[derive(Debug)]
pub(super) enum CopyError {
    /// The content could not be read here.
    Source(std::io::Error),
    /// It was not taken there.
    Sink,
}

/// Copies everything; never waits longer than [`STALL`] for the other side.
pub(super) async fn copy(
    content: &mut (dyn AsyncRead + Send + Unpin),
    writer: &mut (dyn AsyncWrite + Send + Unpin),
) -> Result<u64, CopyError> {
    let mut chunk = vec![0; CHUNK];
    let mut total = 0;
    loop {
        let length = content.read(&mut chunk).await.map_err(CopyError::Source)?;
        if length == 0 {
            return Ok(total);
        }
        let bytes = chunk.get(..length).unwrap_or_default();
        match tokio::time::timeout(STALL, writer.write_all(bytes)).await {
            Ok(Ok(())) => total += length as u64,
            Ok(Err(_)) | Err(_) => return Err(CopyError::Sink),
        }
    }
}

/// Returns the result of a stream: `success` is the status of the `cat` on the host.
pub(super) fn streamed(
    path: &str,
    copied: Result<u64, CopyError>,
    success: Option<bool>,
    stderr: &str,
) -> Result<(), TransportError> {
    let said = || classify::last_line(stderr, |_| true).unwrap_or_default();
    match (copied, success) {
        (Err(CopyError::Source(error)), _) => {
            Err(TransportError::Protocol { message: format!("cannot read what goes to {path}: {error}") })
        }
        (_, Some(false)) => {
            Err(TransportError::Protocol { message: format!("cannot write {path}: {}", said()) })
        }
        (Ok(_), Some(true)) => Ok(()),
        (_, None) | (Err(CopyError::Sink), Some(true)) => Err(TransportError::Lost {
            message: format!("while sending {path} {}", said()).trim().to_owned(),
        }),
    }
}

/// Refuses a path that is not absolute, or that no file of ours has.
pub(super) fn check_path(path: &str) -> Result<(), TransportError> {
    if path.starts_with('/') && !path.contains(char::is_control) {
        return Ok(());
    }
    let message = format!("`{}` cannot be streamed to: it is no absolute path", path.escape_debug());
    Err(TransportError::Protocol { message })
}

/// A file in pieces through the host shell, for servers that allow one session only.
pub(super) async fn stream_in_frames(
    remote: &mut dyn Remote,
    path: &str,
    content: &mut (dyn AsyncRead + Send + Unpin),
) -> Result<(), TransportError> {
    let mut chunk = vec![0; CHUNK];
    loop {
        let mut length = 0;
        while let Some(room) = chunk.get_mut(length..).filter(|room| !room.is_empty()) {
            match content.read(room).await {
                Ok(0) => break,
                Ok(read) => length += read,
                Err(error) => return streamed(path, Err(CopyError::Source(error)), None, ""),
            }
        }
        let bytes = chunk.get(..length).unwrap_or_default().to_vec();
        let script = Script::new(APPEND).arg(path).arg(Arg::Bytes(bytes));
        let part = Part { name: "stream".to_owned(), script, deadline: STALL, limit: 1024 };
        let frame = Frame { parts: vec![part], ..Frame::default() };
        let mut end = None;
        remote.run(&frame, &mut |part| end = Some(part)).await?;
        let end = end.filter(|end| end.status != 0);
        if let Some(end) = end {
            return streamed(path, Ok(0), Some(false), &String::from_utf8_lossy(&end.output));
        }
        if length < CHUNK {
            return Ok(());
        }
    }
}

/// Script that appends to a file. The decoder does not say why it cannot write; `cat` does.
const APPEND: &str = concat!(
    include_str!("../shell/base64.sh"),
    r#"exec 2>&1
umask 077
say "$2" | decode >>"$1" && exit
printf 'x' | cat >>"$1"
exit 1
"#
);
