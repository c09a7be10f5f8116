//! Grammar of conditions: Jinja's spelling, and nothing that could be taken for something else.
//!
//! ```text
//! or      = and { "or" and }                 and   = not { "and" not }
//! not     = "not" not | test
//! test    = value [ ( "==" | "!=" | "<" | "<=" | ">" | ">=" | "in" | "not in" ) value
//!                 | "is" ["not"] ( "defined" | "none" ) ]
//! value   = primary { "|" "length" }
//! primary = literal | "[" or, ... "]" | path | "(" or ")"
//! path    = name { "." name | "[" or "]" }
//! ```

use serde_json::{Value as Json, json};

use super::lexer::{self, TokenKind};
use super::shape::Segment;
use crate::config::TextError;
use crate::foreign::{self, Place};

/// Maximum depth of an expression.
const MAX_DEPTH: usize = 48;

/// Maximum number of its words and marks.
const MAX_WORDS: usize = 10_000;

/// An expression and its byte range in the text.
#[derive(Debug, Clone, PartialEq)]
pub struct Expr {
    /// Kind of expression.
    pub kind: ExprKind,
    /// First byte.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
}

/// The kinds of expressions.
#[derive(Debug, Clone, PartialEq)]
pub enum ExprKind {
    /// A string, a number, `true`, `false` or `none`.
    Literal(Json),
    /// `[a, b]`.
    List(Vec<Expr>),
    /// A variable and what is below it.
    Path(String, Vec<Step>),
    /// `not x`.
    Not(Box<Expr>),
    /// `x and y`: two or more.
    And(Vec<Expr>),
    /// `x or y`: two or more.
    Or(Vec<Expr>),
    /// `x == y` and its like.
    Compare(Op, Box<Expr>, Box<Expr>),
    /// `x in y`; negated for `not in`.
    In(Box<Expr>, Box<Expr>, bool),
    /// `x is defined` for a path; negated for `is not defined`.
    Defined(Box<Expr>, bool),
    /// `x is none`; negated for `is not none`.
    IsNone(Box<Expr>, bool),
    /// `x | length`.
    Length(Box<Expr>),
}

/// One step of a path.
#[derive(Debug, Clone, PartialEq)]
pub enum Step {
    /// `.name` or `["name"]`.
    Key(String),
    /// `[0]`.
    Index(usize),
    /// `[expression]`.
    Dynamic(Box<Expr>),
}

/// A comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Op {
    /// `==`
    Equal,
    /// `!=`
    NotEqual,
    /// `<`
    Less,
    /// `<=`
    LessEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterEqual,
}

impl Op {
    /// All of them.
    pub const ALL: [Self; 6] =
        [Self::Equal, Self::NotEqual, Self::Less, Self::LessEqual, Self::Greater, Self::GreaterEqual];

    /// As written.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Equal => "==",
            Self::NotEqual => "!=",
            Self::Less => "<",
            Self::LessEqual => "<=",
            Self::Greater => ">",
            Self::GreaterEqual => ">=",
        }
    }
}

#[derive(Debug, Clone, PartialEq)]
enum Token {
    Name(String),
    Literal(Json),
    Mark(&'static str),
    End,
}

const MARKS: [&str; 14] = ["==", "!=", "<=", ">=", "<", ">", "(", ")", "[", "]", ",", ".", "|", "&"];
const WORDS: [&str; 8] = ["and", "or", "not", "in", "is", "if", "else", "for"];

/// Steps as names of shapes know them: an unknown step is any.
pub(super) fn segments(steps: &[Step]) -> Vec<Segment> {
    steps
        .iter()
        .map(|step| match step {
            Step::Key(key) => Segment::Key(key.clone()),
            Step::Index(index) => Segment::Index(*index),
            Step::Dynamic(_) => Segment::Any,
        })
        .collect()
}

/// A mistake at the place of an expression.
pub(super) fn wrong(expr: &Expr, message: impl Into<String>) -> TextError {
    TextError::new(expr.start, expr.end, message)
}

/// Reads an expression.
///
/// # Errors
/// Where the text is not one.
pub fn parse(text: &str) -> Result<Expr, TextError> {
    let tokens = tokens(text)?;
    let mut parser = Parser { tokens, at: 0, depth: 0, len: text.len() };
    let expr = parser.or()?;
    if let Some((start, end)) = parser.place().filter(|_| *parser.peek() != Token::End) {
        return Err(unexpected(parser.peek(), parser.second(), start, end));
    }
    Ok(expr)
}

fn unexpected(token: &Token, next: &Token, start: usize, end: usize) -> TextError {
    match token {
        Token::End => TextError::new(start, end, "the expression ends too early"),
        Token::Mark("&") => {
            TextError::new(start, end, "`&` means nothing in a condition").help("write `and`")
        }
        Token::Mark("|") => {
            let error = TextError::new(start, end, "the only filter of conditions and loops is `length`");
            match next {
                Token::Mark("|") => {
                    TextError::new(start, end, "`||` means nothing in a condition").help("write `or`")
                }
                Token::Name(name) if ["count", "size", "len"].contains(&name.as_str()) => {
                    error.help("write `length`")
                }
                Token::Name(name) if let Some(help) = foreign::help(name, &[Place::Filter]) => {
                    error.help(help)
                }
                Token::Mark(_) | Token::Name(_) | Token::Literal(_) | Token::End => error,
            }
        }
        Token::Mark("(") => TextError::new(start, end, "conditions and loops call no functions")
            .help("a list is written out, as in `[0, 1, 2, 3]`, or is a variable"),
        Token::Mark(mark) => TextError::new(start, end, format!("`{mark}` is not expected here")),
        Token::Name(name) => TextError::new(start, end, format!("`{name}` is not expected here")),
        Token::Literal(value) => TextError::new(start, end, format!("`{value}` is not expected here")),
    }
}

fn tokens(text: &str) -> Result<Vec<(Token, usize, usize)>, TextError> {
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(lexer::Token { kind, text: word, start, end }) = lexer::token(text, at) {
        let rest = text.get(start..).unwrap_or("");
        at = end;
        let token = match kind {
            TokenKind::Text if !word.starts_with('`') => Token::Literal(Json::String(string(word, start)?)),
            TokenKind::Number | TokenKind::Mark if is_number(rest) => {
                let part = |c: char| c.is_ascii_alphanumeric() || c == '.' || c == '_';
                let after = rest.get(1..).unwrap_or("");
                let len = 1 + after.find(|c| !part(c)).unwrap_or(after.len());
                at = start + len;
                Token::Literal(literal_number(rest.get(..len).unwrap_or(""), start)?)
            }
            TokenKind::Name => match word {
                "true" | "True" => Token::Literal(json!(true)),
                "false" | "False" => Token::Literal(json!(false)),
                "none" | "None" | "null" => Token::Literal(Json::Null),
                name => Token::Name(name.to_owned()),
            },
            TokenKind::Text | TokenKind::Number | TokenKind::Mark => {
                let Some(mark) = MARKS.iter().find(|mark| **mark == word) else {
                    return Err(not_expected(rest, start));
                };
                Token::Mark(mark)
            }
        };
        tokens.push((token, start, at));
        if tokens.len() > MAX_WORDS {
            return Err(TextError::new(0, text.len(), format!("this has more than {MAX_WORDS} words")));
        }
    }
    tokens.push((Token::End, text.len(), text.len()));
    Ok(tokens)
}

fn not_expected(rest: &str, at: usize) -> TextError {
    let c = rest.chars().next().unwrap_or_default();
    let error =
        TextError::new(at, at + c.len_utf8(), format!("`{}` is not expected here", c.escape_default()));
    match c {
        '=' if rest.starts_with("=~") => {
            error.help("there are no patterns: `\"text\" in name` looks for a part")
        }
        '=' => error.help("write `==` to compare"),
        '{' | '}' => error.help("a condition is written without braces"),
        '!' => error.help("write `not`"),
        _ => error,
    }
}

fn is_number(text: &str) -> bool {
    text.strip_prefix('-').unwrap_or(text).starts_with(|c: char| c.is_ascii_digit())
}

fn literal_number(text: &str, start: usize) -> Result<Json, TextError> {
    let error = || TextError::new(start, start + text.len(), format!("`{text}` is not a number"));
    let digits = text.trim_start_matches('-');
    if digits.len() > 1 && digits.starts_with('0') && !digits.starts_with("0.") {
        return Err(error().help(format!("put it in quotes: '{text}'")));
    }
    if let Ok(number) = text.parse::<i64>() {
        return Ok(json!(number));
    }
    let plain = digits.bytes().all(|b| b.is_ascii_digit() || b == b'.') && !digits.ends_with('.');
    match text.parse::<f64>() {
        Ok(number) if plain && number.is_finite() => Ok(json!(number)),
        _ => Err(error().help(format!("put it in quotes: '{text}'"))),
    }
}

/// The value of a text in quotes.
fn string(word: &str, start: usize) -> Result<String, TextError> {
    let quote = word.chars().next().unwrap_or_default();
    let mut value = String::new();
    let mut chars = word.char_indices().skip(1);
    while let Some((i, c)) = chars.next() {
        if c == quote {
            return Ok(value);
        }
        if c != '\\' {
            value.push(c);
            continue;
        }
        match chars.next() {
            Some((_, 'n')) => value.push('\n'),
            Some((_, 't')) => value.push('\t'),
            Some((_, c @ ('\\' | '"' | '\''))) => value.push(c),
            Some((j, c)) => {
                let end = start + j + c.len_utf8();
                return Err(TextError::new(start + i, end, "this escape is not known"));
            }
            None => break,
        }
    }
    Err(TextError::new(start, start + word.len(), "this string is not closed"))
}

struct Parser {
    tokens: Vec<(Token, usize, usize)>,
    at: usize,
    depth: usize,
    len: usize,
}

type Parsed = Result<Expr, TextError>;

impl Parser {
    fn peek(&self) -> &Token {
        self.tokens.get(self.at).map_or(&Token::End, |(token, _, _)| token)
    }

    fn second(&self) -> &Token {
        self.tokens.get(self.at + 1).map_or(&Token::End, |(token, _, _)| token)
    }

    fn place(&self) -> Option<(usize, usize)> {
        self.tokens.get(self.at).map(|(_, start, end)| (*start, *end))
    }

    fn start(&self) -> usize {
        self.place().map_or(self.len, |(start, _)| start)
    }

    /// End of the token before this one.
    fn end(&self) -> usize {
        self.at.checked_sub(1).and_then(|i| self.tokens.get(i)).map_or(0, |(_, _, end)| *end)
    }

    fn word(&mut self, word: &str) -> bool {
        let found = matches!(self.peek(), Token::Name(name) if name == word);
        self.at += usize::from(found);
        found
    }

    fn mark(&mut self, mark: &str) -> bool {
        let found = matches!(self.peek(), Token::Mark(found) if *found == mark);
        self.at += usize::from(found);
        found
    }

    fn need(&mut self, mark: &'static str, opened: usize) -> Result<(), TextError> {
        if self.mark(mark) {
            return Ok(());
        }
        if *self.peek() == Token::End {
            return Err(TextError::new(opened, self.len, format!("`{mark}` is missing")));
        }
        Err(self.unexpected())
    }

    fn unexpected(&self) -> TextError {
        let (start, end) = self.place().unwrap_or((self.len, self.len));
        unexpected(self.peek(), self.second(), start, end)
    }

    fn or(&mut self) -> Parsed {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(TextError::new(self.start(), self.len, "this nests too deep"));
        }
        let start = self.start();
        let first = self.and()?;
        let mut more = Vec::new();
        while self.word("or") {
            more.push(self.and()?);
        }
        self.depth -= 1;
        Ok(self.joined(ExprKind::Or, first, more, start))
    }

    fn and(&mut self) -> Parsed {
        let start = self.start();
        let first = self.not()?;
        let mut more = Vec::new();
        while self.word("and") {
            more.push(self.not()?);
        }
        Ok(self.joined(ExprKind::And, first, more, start))
    }

    fn joined(&self, kind: fn(Vec<Expr>) -> ExprKind, first: Expr, more: Vec<Expr>, start: usize) -> Expr {
        if more.is_empty() {
            return first;
        }
        let all = std::iter::once(first).chain(more).collect();
        Expr { kind: kind(all), start, end: self.end() }
    }

    fn not(&mut self) -> Parsed {
        let start = self.start();
        let mut negations = 0_usize;
        while self.word("not") {
            negations += 1;
        }
        let mut expr = self.test()?;
        for _ in 0..negations.min(2 - negations % 2) {
            expr = Expr { kind: ExprKind::Not(Box::new(expr)), start, end: self.end() };
        }
        Ok(expr)
    }

    fn test(&mut self) -> Parsed {
        let start = self.start();
        let left = self.value()?;
        let op = Op::ALL.into_iter().find(|op| *self.peek() == Token::Mark(op.as_str()));
        let kind = if let Some(op) = op {
            self.at += 1;
            ExprKind::Compare(op, Box::new(left), Box::new(self.value()?))
        } else if self.word("in") {
            ExprKind::In(Box::new(left), Box::new(self.value()?), false)
        } else if *self.peek() == Token::Name("not".to_owned())
            && *self.second() == Token::Name("in".to_owned())
        {
            self.at += 2;
            ExprKind::In(Box::new(left), Box::new(self.value()?), true)
        } else if self.word("is") {
            let negated = self.word("not");
            if self.word("defined") {
                if !matches!(left.kind, ExprKind::Path(..)) {
                    return Err(TextError::new(left.start, left.end, "only a variable can be defined"));
                }
                ExprKind::Defined(Box::new(left), negated)
            } else if matches!(self.peek(), Token::Literal(Json::Null)) {
                self.at += 1;
                ExprKind::IsNone(Box::new(left), negated)
            } else {
                let Token::Name(name) = self.peek() else {
                    return Err(self
                        .unexpected()
                        .help("after `is` comes `defined`, `not defined` or `none`"));
                };
                let help = match name.as_str() {
                    "version" => {
                        "versions are compared like numbers, in quotes: `facts.os.version_id >= \"22.04\"`"
                    }
                    "undefined" => "write `is not defined`",
                    "changed" => "what is done after a change is a handler, which the task notifies",
                    "failed" | "succeeded" | "success" => {
                        "a `command` with `register` and `parse: status` gives the exit status, to compare with 0"
                    }
                    "empty" => "write `| length == 0` behind the name",
                    _ => "after `is` comes `defined`, `not defined` or `none`",
                };
                return Err(self.unexpected().help(help));
            }
        } else {
            return Ok(left);
        };
        Ok(Expr { kind, start, end: self.end() })
    }

    fn value(&mut self) -> Parsed {
        let start = self.start();
        let mut expr = self.primary()?;
        while *self.peek() == Token::Mark("|") && *self.second() == Token::Name("length".to_owned()) {
            if matches!(expr.kind, ExprKind::Length(_)) {
                return Err(TextError::new(start, self.end(), "a number has no length"));
            }
            self.at += 2;
            expr = Expr { kind: ExprKind::Length(Box::new(expr)), start, end: self.end() };
        }
        Ok(expr)
    }

    fn primary(&mut self) -> Parsed {
        let start = self.start();
        let kind = match self.peek().clone() {
            Token::Literal(value) => {
                self.at += 1;
                ExprKind::Literal(value)
            }
            Token::Mark("(") => {
                self.at += 1;
                let inner = self.or()?;
                self.need(")", start)?;
                return Ok(Expr { start, end: self.end(), ..inner });
            }
            Token::Mark("[") => {
                self.at += 1;
                let mut items = Vec::new();
                while !self.mark("]") {
                    if !items.is_empty() {
                        self.need(",", start)?;
                        if self.mark("]") {
                            break;
                        }
                    }
                    if *self.peek() == Token::End {
                        return Err(TextError::new(start, self.len, "`]` is missing"));
                    }
                    items.push(self.or()?);
                }
                ExprKind::List(items)
            }
            Token::Name(root) if !WORDS.contains(&root.as_str()) => {
                self.at += 1;
                ExprKind::Path(root, self.steps()?)
            }
            Token::Name(_) | Token::Mark(_) | Token::End => return Err(self.unexpected()),
        };
        Ok(Expr { kind, start, end: self.end() })
    }

    fn steps(&mut self) -> Result<Vec<Step>, TextError> {
        let mut steps = Vec::new();
        loop {
            let opened = self.start();
            if self.mark(".") {
                let Token::Name(name) = self.peek().clone() else {
                    return Err(self.unexpected());
                };
                self.at += 1;
                steps.push(Step::Key(name));
            } else if self.mark("[") {
                let inner = self.or()?;
                self.need("]", opened)?;
                steps.push(if let ExprKind::Literal(literal) = &inner.kind {
                    let index = || literal.as_u64().and_then(|n| usize::try_from(n).ok()).map(Step::Index);
                    let step = literal.as_str().map(|key| Step::Key(key.to_owned())).or_else(index);
                    step.ok_or_else(|| {
                        TextError::new(
                            inner.start,
                            inner.end,
                            "this is neither a key nor the index of a list",
                        )
                    })?
                } else {
                    Step::Dynamic(Box::new(inner))
                });
            } else {
                return Ok(steps);
            }
        }
    }
}
