//! The wire: frames as shell text, and the parser of what comes back. See `docs/design/0003-wire.md`.
//!
//! ```text
//!   {                                     <- one compound command: cut anywhere, nothing runs
//!   provision_main() {
//!   printf '\n%s begin 1\n' NONCE
//!   ... prelude ...
//!   part_0() (
//!   :
//!   ... text ...
//!   )
//!   part_0 'word' 'another word'
//!   printf '\n%s end 0 %s\n' NONCE "$?"
//!   }
//!   provision_main </dev/null             <- nothing else reads the script's standard input
//!   }
//! ```

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::bounded::Bounded;
use super::quote::quote;
use super::script::{Arg, Script};
use super::{Frame, TransportError};
use crate::secrets::Secrets;

/// Longest line after a nonce that is taken for one of ours.
const LINE_LIMIT: usize = 160;

impl Script {
    /// Shell text that defines the function `name`, a subshell, and calls it with its data.
    ///
    /// Placeholders of secrets are replaced, so the result goes to the wire and nowhere else.
    pub fn render(&self, secrets: &Secrets, name: &str) -> String {
        let mut out = String::with_capacity(self.text.len() + 64);
        self.render_into(&mut out, secrets, name);
        out
    }

    fn render_into(&self, out: &mut String, secrets: &Secrets, name: &str) {
        out.push_str(name);
        // A subshell without any command is a syntax error, hence the colon.
        out.push_str("() (\n:\n");
        out.push_str(&self.text);
        out.push_str("\n)\n");
        out.push_str(name);
        for arg in &self.args {
            out.push(' ');
            match arg {
                Arg::Word(word) => out.push_str(&quote(&secrets.reveal(word))),
                Arg::Text(text) => out.push_str(&encode(secrets.reveal(text).as_bytes())),
                Arg::Bytes(bytes) => out.push_str(&encode(bytes)),
                Arg::Script(script) => out.push_str(&encode(script.render(secrets, "script").as_bytes())),
            }
        }
        // A script that is run from a pipe or a file must not read its own text.
        out.push_str(" </dev/null\n");
    }

    fn holds_nul(&self) -> bool {
        self.text.contains('\0')
            || self.args.iter().any(|arg| match arg {
                Arg::Word(word) => word.contains('\0'),
                Arg::Text(_) | Arg::Bytes(_) => false,
                Arg::Script(script) => script.holds_nul(),
            })
    }
}

/// Base64 needs no quotes, but an empty word does.
fn encode(bytes: &[u8]) -> String {
    if bytes.is_empty() { "''".to_owned() } else { STANDARD.encode(bytes) }
}

/// A nonce for one connection. It only has to be what no output holds by accident.
pub(super) fn nonce() -> String {
    uuid::Uuid::now_v7().simple().to_string()
}

/// The text of a frame.
///
/// # Errors
/// When a word holds NUL, which no shell can be given.
pub(super) fn render(frame: &Frame, nonce: &str, sequence: u64) -> Result<String, TransportError> {
    let mut out = format!("{{\nprovision_main() {{\nprintf '\\n%s begin %s\\n' {nonce} {sequence}\n");
    out.push_str(&frame.prelude);
    out.push('\n');
    for (index, part) in frame.parts.iter().enumerate() {
        if part.script.holds_nul() {
            return Err(TransportError::Protocol {
                message: format!("`{}` holds a NUL character, which no shell word can hold", part.name),
            });
        }
        part.script.render_into(&mut out, &frame.secrets, &format!("part_{index}"));
        out.push_str(&format_end(nonce, index));
    }
    out.push_str("}\nprovision_main </dev/null\n}\n");
    Ok(out)
}

fn format_end(nonce: &str, index: usize) -> String {
    format!("printf '\\n%s end %s %s\\n' {nonce} {index} \"$?\"\n")
}

/// Shell text that makes the shell ours and lets it say who it is. Only built-ins: no fork.
pub(super) fn greeting(nonce: &str) -> String {
    GREETING.replace("NONCE", nonce)
}

const GREETING: &str = r#"{
provision_start() {
PATH=$PATH:/usr/sbin:/sbin:/usr/local/sbin LC_ALL=C
export PATH LC_ALL
unset CDPATH
provision_stat= provision_uid=
{ read -r provision_stat </proc/$$/stat; } 2>/dev/null
set -- ${provision_stat##*) }
{ while read -r provision_key provision_real provision_effective provision_rest; do
case $provision_key in Uid:) provision_uid=$provision_effective ;; esac
done </proc/$$/status; } 2>/dev/null
[ -n "$provision_uid" ] || provision_uid=$(id -u)
printf '\n%s ready %s %s %s %s\n' NONCE "$$" "${3:-0}" "${20:-0}" "$provision_uid"
}
provision_start </dev/null
}
"#;

/// Who the host shell is, as it says itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Identity {
    /// Its process.
    pub(super) pid: u64,
    /// Its process group; 0 when the host has no /proc.
    pub(super) group: u64,
    /// When it started, in clock ticks since boot: tells it from a later process of that number.
    pub(super) started: u64,
    /// Its effective user.
    pub(super) uid: u64,
}

/// A line of ours.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Line {
    /// The shell answers the greeting.
    Ready(Identity),
    /// A frame begins.
    Begin(u64),
    /// A part has ended with a status.
    End(usize, i32),
    /// What the bootstrap of sudo found out.
    Sudo(String),
}

impl Line {
    fn read(line: &[u8]) -> Option<Self> {
        let mut words = std::str::from_utf8(line).ok()?.split(' ');
        let word = words.next()?;
        let mut number = || words.next()?.parse::<u64>().ok();
        let line = match word {
            "ready" => {
                Self::Ready(Identity { pid: number()?, group: number()?, started: number()?, uid: number()? })
            }
            "begin" => Self::Begin(number()?),
            "end" => Self::End(usize::try_from(number()?).ok()?, i32::try_from(number()?).ok()?),
            "sudo" => Self::Sudo(words.next()?.to_owned()),
            _ => return None,
        };
        words.next().is_none().then_some(line)
    }
}

/// Splits what comes back into lines of ours and the output between them, whatever the chunks.
#[derive(Debug)]
pub(super) struct Parser {
    /// Line feed, nonce, space.
    mark: Vec<u8>,
    pending: Vec<u8>,
    /// Bytes of `pending` that are known to begin no mark.
    scanned: usize,
}

impl Parser {
    pub(super) fn new(nonce: &str) -> Self {
        Self { mark: format!("\n{nonce} ").into_bytes(), pending: Vec::new(), scanned: 0 }
    }

    /// Takes what was read.
    pub(super) fn push(&mut self, bytes: &[u8]) {
        self.pending.extend_from_slice(bytes);
    }

    /// The next line of ours, if it is there; what stands before it goes to `output`.
    pub(super) fn next_line(&mut self, output: &mut Bounded) -> Option<Line> {
        loop {
            let rest = self.pending.get(self.scanned..).unwrap_or_default();
            let Some(at) = rest.iter().position(|byte| *byte == b'\n') else {
                self.take(self.pending.len(), output);
                return None;
            };
            let start = self.scanned + at;
            let rest = self.pending.get(start..).unwrap_or_default();
            if rest.len() < self.mark.len() {
                if self.mark.starts_with(rest) {
                    self.take(start, output);
                    return None;
                }
            } else if let Some(rest) = rest.strip_prefix(self.mark.as_slice()) {
                match rest.iter().take(LINE_LIMIT).position(|byte| *byte == b'\n') {
                    None if rest.len() < LINE_LIMIT => {
                        self.take(start, output);
                        return None;
                    }
                    None => {}
                    Some(end) => {
                        if let Some(line) = rest.get(..end).and_then(Line::read) {
                            let consumed = start + self.mark.len() + end + 1;
                            self.take(start, output);
                            self.pending.drain(..consumed - start);
                            return Some(line);
                        }
                    }
                }
            }
            self.scanned = start + 1;
        }
    }

    fn take(&mut self, length: usize, output: &mut Bounded) {
        output.push(self.pending.get(..length).unwrap_or_default());
        self.pending.drain(..length);
        self.scanned = 0;
    }
}
