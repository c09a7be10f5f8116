//! Numbers, bytes and commands as words.

/// `1 host`, `2 hosts`.
pub fn count(number: u64, noun: &str) -> String {
    if number == 1 { format!("1 {noun}") } else { format!("{number} {noun}s") }
}

/// A command in one line: of a script the first one that says what it does. Comments and the usual first line
/// of a script say nothing about it.
pub fn command_line(text: &str) -> String {
    let says = |line: &&str| !line.is_empty() && !line.starts_with('#') && !line.starts_with("set -");
    let mut lines = text.lines().map(str::trim).filter(says);
    let first = lines.next().unwrap_or_default();
    if lines.next().is_some() { format!("{first} ...") } else { first.to_owned() }
}

/// `700 B`, `12 KiB`, `300 MiB`: rounded up.
pub fn bytes(number: u64) -> String {
    match number {
        0..10_000 => format!("{number} B"),
        10_000..10_000_000 => format!("{} KiB", number.div_ceil(1 << 10)),
        _ => format!("{} MiB", number.div_ceil(1 << 20)),
    }
}

/// Lower-case hex of some bytes.
pub fn hex(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        crate::put!(text, "{byte:02x}");
    }
    text
}

/// Whether a character has no shape of its own: Unicode's format characters, its line and
/// paragraph separators, and letters that are blank.
pub fn is_deceptive(c: char) -> bool {
    matches!(
        c,
        '\u{ad}'
            | '\u{34f}'
            | '\u{600}'..='\u{605}'
            | '\u{61c}'
            | '\u{6dd}'
            | '\u{70f}'
            | '\u{115f}' | '\u{1160}'
            | '\u{17b4}' | '\u{17b5}'
            | '\u{180e}'
            | '\u{200b}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{3164}'
            | '\u{feff}'
            | '\u{ffa0}'
            | '\u{fff9}'..='\u{fffb}'
            | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e007f}'
    )
}
