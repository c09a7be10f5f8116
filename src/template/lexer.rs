//! Words and marks of expressions: those of conditions, and those between the braces of text templates.

/// Kind of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TokenKind {
    /// A name or a keyword.
    Name,
    /// A text with its quotes; one that is not closed goes to the end.
    Text,
    /// Digits.
    Number,
    /// Anything else, such as `==`.
    Mark,
}

/// A word or a mark with its byte range in the text.
#[derive(Debug, Clone, Copy)]
pub(super) struct Token<'a> {
    pub(super) kind: TokenKind,
    pub(super) text: &'a str,
    pub(super) start: usize,
    pub(super) end: usize,
}

/// Marks of two characters.
const TWO: [&str; 8] = ["?.", "?[", "==", "!=", ">=", "<=", "//", "**"];

/// The token at a place of a text, behind white space; `None` at its end.
pub(super) fn token(text: &str, at: usize) -> Option<Token<'_>> {
    let rest = text.get(at..)?.trim_start();
    let c = rest.chars().next()?;
    let (kind, len) = if matches!(c, '"' | '\'' | '`') {
        (TokenKind::Text, quoted(rest, c))
    } else if c.is_ascii_digit() {
        (TokenKind::Number, run(rest, |c| c.is_ascii_digit()))
    } else if c.is_ascii_alphabetic() || c == '_' {
        (TokenKind::Name, run(rest, |c| c.is_ascii_alphanumeric() || c == '_'))
    } else if TWO.iter().any(|mark| rest.starts_with(mark)) {
        (TokenKind::Mark, 2)
    } else {
        (TokenKind::Mark, c.len_utf8())
    };
    let start = text.len() - rest.len();
    Some(Token { kind, text: rest.get(..len)?, start, end: start + len })
}

fn run(text: &str, part: impl Fn(char) -> bool) -> usize {
    text.find(|c| !part(c)).unwrap_or(text.len())
}

fn quoted(text: &str, quote: char) -> usize {
    let mut escaped = false;
    for (i, c) in text.char_indices().skip(1) {
        if escaped {
            escaped = false;
        } else if c == '\\' {
            escaped = true;
        } else if c == quote {
            return i + 1;
        }
    }
    text.len()
}
