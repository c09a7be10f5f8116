//! Sources of secrets, and the ways of asking for them.

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Stdio;
use std::time::Duration;

use camino::Utf8PathBuf;
use secrecy::SecretString;
use serde_json::{Value as Json, json};

use super::Secrets;
use crate::config::{Bases, Diagnostic, Diagnostics, FromNode, Node};
use crate::disk;
use crate::process;

/// Source of a secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SecretSource {
    /// Standard output of a command.
    Command(Vec<String>),
    /// A variable of the environment.
    Env(String),
    /// A file of this machine.
    File(Utf8PathBuf),
}

crate::record! {
    /// Source of a secret: exactly one of these. A trailing newline is dropped.
    SourceRecord("a secret") {
        /// A command whose standard output is the secret.
        opt command: Vec<String>,
        /// A variable of the environment.
        opt env: String,
        /// A file; relative to the inventory's file.
        opt file: String,
    }
}

/// Whether a shell takes it for the name of a variable.
fn is_variable(name: &str) -> bool {
    let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    name.chars().all(word) && name.starts_with(|c: char| !c.is_ascii_digit())
}

impl SecretSource {
    /// Its file, where every user of this machine can read that.
    pub fn lies_open(&self) -> Option<&Utf8PathBuf> {
        let Self::File(path) = self else { return None };
        let file = std::fs::metadata(path).ok()?;
        (file.is_file() && file.permissions().mode() & 0o004 != 0).then_some(path)
    }
}

impl FromNode for SecretSource {
    fn from_node(node: &Node, diagnostics: &mut Diagnostics) -> Option<Self> {
        if node.as_str().is_some() {
            diagnostics.push(
                Diagnostic::error(node.span, "this is no place for the secret itself")
                    .hidden()
                    .help("say where it comes from: `{ env: NAME }`, `{ file: PATH }` or `{ command: [pass, show, cluster/sudo] }`"),
            );
            return None;
        }
        let record = SourceRecord::from_node(node, diagnostics)?;
        match (record.command, record.env, record.file) {
            (Some(command), None, None) if !command.is_empty() => Some(Self::Command(command)),
            (None, Some(env), None) if is_variable(&env) => Some(Self::Env(env)),
            (None, Some(env), None) => {
                let error = Diagnostic::error(node.span, format!("`{env}` is not the name of a variable"));
                let name = env.trim_matches(['$', '{', '}']);
                diagnostics.push(if is_variable(name) {
                    error.help(format!("write the name alone: `env: {name}`"))
                } else {
                    error.help("a name has letters, digits and `_`, as in `env: SUDO_PASSWORD`")
                });
                None
            }
            (None, None, Some(file)) => Some(Self::File(file.into())),
            _ => {
                diagnostics.push(
                    Diagnostic::error(
                        node.span,
                        "a secret comes from exactly one of `command`, `env` and `file`",
                    )
                    .help("write for example `{ command: [pass, show, cluster/sudo] }`"),
                );
                None
            }
        }
    }

    fn schema() -> Json {
        let mut schema = SourceRecord::schema();
        if let Some(object) = schema.as_object_mut() {
            object.insert("minProperties".to_owned(), json!(1));
            object.insert("maxProperties".to_owned(), json!(1));
        }
        schema
    }
}

impl SecretSource {
    /// The same with paths made absolute.
    #[must_use]
    pub fn resolve(&self, bases: Bases<'_>) -> Self {
        match self {
            Self::File(path) => Self::File(bases.resolve(path.as_str())),
            Self::Command(_) | Self::Env(_) => self.clone(),
        }
    }
}

/// Time limit of a secret's command.
const DEADLINE: Duration = Duration::from_mins(1);
/// The longest secret, in bytes.
const LONGEST: usize = 64 << 10;

/// Asks where secrets come from. Never called by `validate`. A command sees the terminal for
/// its questions (a passphrase, a touch); only its standard output is taken.
///
/// # Errors
/// The first secret that cannot be read: its name and why, never its value.
pub fn resolve(sources: &BTreeMap<String, SecretSource>) -> Result<Secrets, SecretError> {
    let mut values = BTreeMap::new();
    for (name, source) in sources {
        let fail = |reason: String| SecretError { name: name.clone(), reason };
        let bytes = match source {
            SecretSource::Command(argv) => run(argv),
            SecretSource::Env(variable) => environment(variable),
            SecretSource::File(path) => disk::read(path, LONGEST as u64)
                .map_err(|error| format!("cannot read `{path}`: {}", disk::short(&error))),
        }
        .map_err(fail)?;
        values.insert(name.clone(), SecretString::from(text(bytes).map_err(fail)?));
    }
    Ok(Secrets::new(values))
}

/// Reason why a secret is not known.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the secret `{name}` cannot be had: {reason}")]
pub struct SecretError {
    /// Its name.
    pub name: String,
    /// Description of the failure.
    pub reason: String,
}

/// One trailing newline is the tool's, not the secret's.
fn text(bytes: Vec<u8>) -> Result<String, String> {
    if bytes.len() > LONGEST {
        return Err(format!("it has more than {LONGEST} bytes"));
    }
    let mut text = String::from_utf8(bytes).map_err(|_| "it is not UTF-8 text".to_owned())?;
    if text.ends_with('\n') {
        text.pop();
        if text.ends_with('\r') {
            text.pop();
        }
    }
    if text.is_empty() {
        return Err("it is empty".to_owned());
    }
    if text.contains('\0') {
        return Err("it holds a NUL byte".to_owned());
    }
    Ok(text)
}

#[expect(clippy::disallowed_methods, reason = "the name of the variable comes from the inventory")]
fn environment(variable: &str) -> Result<Vec<u8>, String> {
    std::env::var(variable).map(String::into_bytes).map_err(|_| format!("`${variable}` is not set"))
}

fn run(argv: &[String]) -> Result<Vec<u8>, String> {
    let Some((program, arguments)) = argv.split_first() else { return Err("no command".to_owned()) };
    let mut command = process::heard(program);
    command.args(arguments).stdin(Stdio::inherit()).stderr(Stdio::inherit());
    match process::run_bounded(&mut command, b"", DEADLINE, LONGEST) {
        // A command that says too much may have been cut off by us.
        Ok(done) if done.status.success() || done.stdout.len() > LONGEST => Ok(done.stdout),
        Ok(done) => Err(format!("`{program}` failed: {}", done.status)),
        Err(error) if error.kind() == ErrorKind::TimedOut => Err(format!("`{program}` gave {error}")),
        Err(error) => Err(format!("cannot run `{program}`: {}", disk::short(&error))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::placeholder;

    fn one(source: SecretSource) -> Result<String, String> {
        let secrets =
            resolve(&BTreeMap::from([("s".to_owned(), source)])).map_err(|error| error.to_string())?;
        Ok(secrets.reveal(&format!("<{}>", placeholder::of("s"))).into_owned())
    }

    fn command(words: &[&str]) -> SecretSource {
        SecretSource::Command(words.iter().map(|word| (*word).to_owned()).collect())
    }

    #[test]
    fn providers() {
        assert_eq!(one(command(&["printf", "a b\\n"])).unwrap(), "<a b>");
        assert!(one(SecretSource::Env("PATH".to_owned())).unwrap().contains("/bin"));
        let file = tempfile::NamedTempFile::new().unwrap();
        let open = SecretSource::File(file.path().to_str().unwrap().into());
        assert_eq!(open.lies_open(), None);
        std::fs::set_permissions(file.path(), std::fs::Permissions::from_mode(0o644)).unwrap();
        assert!(open.lies_open().is_some());
        std::fs::write(file.path(), "x\n\n").unwrap();
        let path = Utf8PathBuf::from_path_buf(file.path().to_owned()).unwrap();
        assert_eq!(one(SecretSource::File(path)).unwrap(), "<x\n>");
        for (source, message) in [
            (command(&["false"]), "`false` failed"),
            (command(&["/nope/nope"]), "cannot run `/nope/nope`"),
            (command(&["true"]), "it is empty"),
            (SecretSource::Env("NO_SUCH_VARIABLE_HERE".to_owned()), "is not set"),
            (SecretSource::File("/nope".into()), "cannot read `/nope`"),
            (SecretSource::File("/dev/zero".into()), "it is a device, not a file"),
            (command(&["head", "-c", "100000", "/dev/zero"]), "more than"),
        ] {
            let error = one(source).unwrap_err();
            assert!(error.contains(message) && error.contains("`s`"), "{error}");
        }
    }
}
