//! Shell text and its data, kept apart until the wire.

use std::borrow::Cow;

/// Data for a script: becomes a positional parameter, quoted by the writer of the transport.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Arg {
    /// A word, such as a path or a package name. May hold placeholders of secrets.
    Word(String),
    /// Text that may hold placeholders of secrets; arrives as base64 of the revealed text.
    Text(String),
    /// The same, packed: short of a process on the host where it is plain text. See [`Arg::Script`].
    Packed(String),
    /// Bytes; arrive as base64.
    Bytes(Vec<u8>),
    /// A whole script: its shell text with its own data quoted in. Printable text arrives as `=` and
    /// itself, other text as base64, which never begins with `=`.
    Script(Box<Script>),
    /// Scripts that run in order up to the first that fails, as one: a text that several of them have is
    /// sent and read once.
    Scripts(Vec<Script>),
    /// The same, each behind the word `task`: a function of whoever runs them, which says how each ended.
    Tasks(Vec<Script>),
}

impl From<&str> for Arg {
    fn from(word: &str) -> Self {
        Self::Word(word.to_owned())
    }
}

impl From<String> for Arg {
    fn from(word: String) -> Self {
        Self::Word(word)
    }
}

/// POSIX shell text that reads its data from `"$1"`, `"$2"` ...
///
/// The text is constant; nothing of a user or a host is ever pasted into it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Script {
    /// The shell text.
    pub text: Cow<'static, str>,
    /// Its positional parameters.
    pub args: Vec<Arg>,
    /// Names of them in the head of the text, for tests and readers: hosts do not get them. Empty for one
    /// without a name.
    pub names: Vec<&'static str>,
    /// Whether it runs in the host shell itself, short of a process: one that neither ends the shell nor leaves
    /// anything in it that others would miss.
    pub inline: bool,
}

impl Script {
    /// A script without data.
    pub fn new(text: impl Into<Cow<'static, str>>) -> Self {
        Self { text: text.into(), args: Vec::new(), names: Vec::new(), inline: false }
    }

    /// Runs in the host shell itself.
    #[must_use]
    pub fn inline(mut self) -> Self {
        self.inline = true;
        self
    }

    /// Adds one parameter.
    #[must_use]
    pub fn arg(self, arg: impl Into<Arg>) -> Self {
        self.named("", arg)
    }

    /// Adds parameters.
    #[must_use]
    pub fn args<A: Into<Arg>>(self, args: impl IntoIterator<Item = A>) -> Self {
        self.list("", args)
    }

    /// Adds the parameter that the head of the text calls so.
    #[must_use]
    pub fn named(self, name: &'static str, arg: impl Into<Arg>) -> Self {
        self.list(name, [arg])
    }

    /// Adds the parameters that the head of the text calls `NAME...`.
    #[must_use]
    pub fn list<A: Into<Arg>>(mut self, name: &'static str, args: impl IntoIterator<Item = A>) -> Self {
        self.args.extend(args.into_iter().map(Into::into));
        self.names.resize(self.args.len(), name);
        self
    }

    /// Goes on with the text and the parameters of another one; this one takes its own away.
    #[must_use]
    pub fn then(mut self, next: Self) -> Self {
        self.text = format!("{}{}", self.text, next.text).into();
        self.args.extend(next.args);
        self.names.extend(next.names);
        self
    }
}
