//! Words that a text must have for a pattern to fit: a line is asked for all of them at once, and only the patterns
//! whose words it has are tried.

use regex_syntax::ParserBuilder;
use regex_syntax::hir::{Hir, HirKind};

/// Shortest word that is worth a look, in bytes.
const SHORTEST: usize = 3;
/// Most words of one pattern.
const MOST: usize = 200;

/// The words of a pattern of which each text that it fits has one; `None` where no word is needed.
pub(super) fn needles(pattern: &str) -> Option<Vec<Vec<u8>>> {
    let hir = ParserBuilder::new().unicode(false).utf8(false).build().parse(pattern).ok()?;
    needed(&hir)
}

fn needed(hir: &Hir) -> Option<Vec<Vec<u8>>> {
    match hir.kind() {
        HirKind::Literal(word) => (word.0.len() >= SHORTEST).then(|| vec![word.0.to_vec()]),
        HirKind::Capture(part) => needed(&part.sub),
        HirKind::Repetition(part) if part.min > 0 => needed(&part.sub),
        HirKind::Concat(parts) => parts.iter().filter_map(needed).max_by_key(|words| worth(words)),
        HirKind::Alternation(parts) => {
            let words: Option<Vec<Vec<Vec<u8>>>> = parts.iter().map(needed).collect();
            words.map(|words| words.concat()).filter(|words| words.len() <= MOST)
        }
        HirKind::Empty | HirKind::Class(_) | HirKind::Look(_) | HirKind::Repetition(_) => None,
    }
}

/// Ranks words by how seldom a text has one of them: by the shortest.
fn worth(words: &[Vec<u8>]) -> (usize, std::cmp::Reverse<usize>) {
    (words.iter().map(Vec::len).min().unwrap_or(0), std::cmp::Reverse(words.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_needs_the_longest_word_that_each_text_has() {
        for (pattern, wanted) in [
            ("abc", Some(vec!["abc"])),
            (r"\d+ of (?<x>\w+) failed", Some(vec![" failed"])),
            ("(?:disk|card) (?:lost|gone away)", Some(vec![" lost", " gone away"])),
            ("(?:disk|card) (?:full)?", Some(vec!["disk", "card"])),
            ("(?i)abc", None),
            ("[Ff]ail", Some(vec!["ail"])),
            ("(?:abc)*", None),
            ("ab|abcd", None),
            ("^(?:NVRM: Xid|SXid)", Some(vec!["NVRM: Xid", "SXid"])),
        ] {
            let found = needles(pattern);
            let found = found
                .as_ref()
                .map(|words| words.iter().map(|word| str::from_utf8(word).unwrap()).collect::<Vec<_>>());
            let trimmed = |words: Option<Vec<&str>>| {
                words.map(|words| words.into_iter().map(|word| word.trim().to_owned()).collect::<Vec<_>>())
            };
            assert_eq!(trimmed(found), trimmed(wanted), "{pattern}");
        }
    }
}
