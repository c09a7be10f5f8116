//! A host's own words.

use std::borrow::Cow;

use super::lines_of;

/// Words that are this host's own, and differ on each.
#[derive(Debug, Default)]
pub(super) struct Own {
    words: Vec<(String, &'static str)>,
}

impl Own {
    pub(super) fn of(parts: &[(&str, Vec<&str>)]) -> Self {
        let mut words = Vec::new();
        let name = lines_of(parts, "sysctl")
            .into_iter()
            .find_map(|line| line.strip_prefix("/proc/sys/kernel/hostname:"))
            .unwrap_or_default();
        let short = name.split('.').next().unwrap_or_default();
        for name in [name, short] {
            if name.len() > 1 && !words.iter().any(|(word, _)| word == name) {
                words.push((name.to_owned(), "NAME"));
            }
        }
        for line in lines_of(parts, "routes") {
            let mut fields = line.split_whitespace();
            if fields.next() == Some("local") {
                let address = fields.next().unwrap_or_default();
                if !address.starts_with("127.") && !address.contains('/') && !address.is_empty() {
                    words.push((address.to_owned(), "ADDRESS"));
                }
            }
        }
        Self { words }
    }

    /// The text without them.
    pub(super) fn out_of<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let mut text = Cow::Borrowed(text);
        for (word, instead) in &self.words {
            if text.contains(word.as_str()) {
                text = Cow::Owned(replaced(&text, word, instead));
            }
        }
        text
    }
}

/// The text with a whole word replaced.
fn replaced(text: &str, word: &str, instead: &str) -> String {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    let mut before: Option<char> = None;
    while let Some(at) = rest.find(word) {
        let (head, tail) = rest.split_at(at);
        let tail = tail.strip_prefix(word).unwrap_or(tail);
        out.push_str(head);
        let is_whole = !head.chars().next_back().or(before).is_some_and(is_part)
            && !tail.chars().next().is_some_and(is_part);
        out.push_str(if is_whole { instead } else { word });
        before = word.chars().next_back();
        rest = tail;
    }
    out.push_str(rest);
    out
}
