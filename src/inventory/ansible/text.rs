//! Values as texts of YAML.

use crate::config::yaml::{in_quotes, scalar};

fn is_plain(value: &str) -> bool {
    value.chars().all(|c| c.is_ascii_alphanumeric() || "/._~-".contains(c))
        && !value.is_empty()
        && (!value.starts_with(['-', '~', '.']) || value.starts_with("~/"))
}

/// A text, which YAML must not take for a number or a word of its own.
pub(super) fn quoted(text: &str) -> String {
    if is_plain(text) { scalar(text) } else { in_quotes(text) }
}
