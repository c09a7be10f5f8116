//! Limits on the text that the page has room for.

use crate::report::style::safe;

/// Bytes of one line of evidence or diff.
pub(super) const LINE: usize = 2000;
/// Rows of a table outside of the matrix.
pub(in crate::report) const ROWS: usize = 200;
/// Bytes of a reason that is shown without a budget.
const SHORT: usize = 300;

/// Number of bytes of text that may still be written.
#[derive(Debug)]
pub(in crate::report) struct Budget(pub(in crate::report) usize);

/// Stands for a text that would not fit.
pub(super) const LEFT_OUT: &str = "(left out, see --json)";

impl Budget {
    /// A text that is safe to show, cut where it is too long; `None` when it would not fit.
    pub(in crate::report) fn try_take(&mut self, text: &str, most: usize) -> Option<String> {
        let kept = shortened(text, most);
        // What has a meaning in HTML is written as six bytes.
        let cost = kept.len() + 5 * kept.matches(['<', '>', '&', '"', '\'', '\\', '\n']).count();
        self.0 = self.0.checked_sub(cost)?;
        Some(kept)
    }

    /// A text that must not be missing: its beginning where all of it would not fit.
    pub(super) fn keep(&mut self, text: &str, most: usize) -> String {
        self.try_take(text, most).unwrap_or_else(|| shortened(text, SHORT))
    }

    /// The same with a remark for what would not fit.
    pub(super) fn take(&mut self, text: &str, most: usize) -> String {
        self.try_take(text, most).unwrap_or_else(|| LEFT_OUT.to_owned())
    }
}

/// A text that is safe to show, cut where it is too long.
pub(in crate::report) fn shortened(text: &str, most: usize) -> String {
    let clean = safe(text);
    let mut end = clean.len().min(most);
    while !clean.is_char_boundary(end) {
        end -= 1;
    }
    let kept = clean.get(..end).unwrap_or_default();
    if end < clean.len() { format!("{kept} …") } else { clean }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_is_kept() {
        let mut budget = Budget(14);
        assert_eq!(budget.take("abc", 5), "abc");
        assert_eq!(budget.take("äöüx", 3), "ä …");
        assert_eq!(budget.take("<", 100), LEFT_OUT);
        assert_eq!(budget.keep("<<", 100), "<<");
        assert_eq!(budget.take("12345", 100), "12345");
    }
}
