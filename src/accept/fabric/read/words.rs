//! Words that several programs print.

/// A GUID as `0xb8cef60300000100` or `b8cef60300000100`; none for 0.
pub(super) fn guid(word: &str) -> Option<u64> {
    let digits = word.trim().trim_start_matches("0x");
    u64::from_str_radix(digits, 16).ok().filter(|guid| *guid != 0)
}

/// The text between two marks, and that behind the second.
pub(super) fn between<'a>(text: &'a str, open: &str, close: &str) -> Option<(&'a str, &'a str)> {
    let (_, rest) = text.split_once(open)?;
    rest.split_once(close)
}
