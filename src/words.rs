//! Numbers, bytes and commands as words.

use std::sync::LazyLock;

use regex::Regex;

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

/// The first twelve hexadecimal digits of a digest.
pub fn short_hex(digest: &[u8]) -> String {
    hex(digest).chars().take(12).collect()
}

/// Lower-case hex of some bytes.
pub fn hex(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        crate::put!(text, "{byte:02x}");
    }
    text
}

/// Whether a character has no shape of its own: Unicode's format characters, its line and paragraph separators, what
/// is no character (XML has none of these), and what is not shown by default, letters that are blank among that. The two that choose between the forms of an emoji
/// stand behind what is shown.
pub fn is_deceptive(c: char) -> bool {
    static SET: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(r"^[\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\p{Noncharacter_Code_Point}&&[^\u{fe0e}\u{fe0f}]]$").ok()
    });
    let mut text = [0; 4];
    !c.is_ascii() && SET.as_ref().is_none_or(|set| set.is_match(c.encode_utf8(&mut text)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// General category Cf, Zl and Zp of Unicode 16.0, extracted/DerivedGeneralCategory.txt.
    const FORMAT: &[(u32, u32)] = &[
        (0xad, 0xad),
        (0x600, 0x605),
        (0x61c, 0x61c),
        (0x6dd, 0x6dd),
        (0x70f, 0x70f),
        (0x890, 0x891),
        (0x8e2, 0x8e2),
        (0x180e, 0x180e),
        (0x200b, 0x200f),
        (0x2028, 0x202e),
        (0x2060, 0x2064),
        (0x2066, 0x206f),
        (0xfeff, 0xfeff),
        (0xfff9, 0xfffb),
        (0x110bd, 0x110bd),
        (0x110cd, 0x110cd),
        (0x13430, 0x1343f),
        (0x1bca0, 0x1bca3),
        (0x1d173, 0x1d17a),
        (0xe0001, 0xe0001),
        (0xe0020, 0xe007f),
    ];
    /// `Default_Ignorable_Code_Point` of Unicode 16.0, DerivedCoreProperties.txt.
    const NOT_SHOWN: &[(u32, u32)] = &[
        (0xad, 0xad),
        (0x34f, 0x34f),
        (0x61c, 0x61c),
        (0x115f, 0x1160),
        (0x17b4, 0x17b5),
        (0x180b, 0x180f),
        (0x200b, 0x200f),
        (0x202a, 0x202e),
        (0x2060, 0x206f),
        (0x3164, 0x3164),
        (0xfe00, 0xfe0f),
        (0xfeff, 0xfeff),
        (0xffa0, 0xffa0),
        (0xfff0, 0xfff8),
        (0x1bca0, 0x1bca3),
        (0x1d173, 0x1d17a),
        (0xe0000, 0xe0fff),
    ];

    #[test]
    fn what_has_no_shape_is_known_and_nothing_else() {
        let listed = |c: char| {
            let within = |(first, last): &(u32, u32)| (*first..=*last).contains(&u32::from(c));
            let none = (0xfdd0..=0xfdef).contains(&u32::from(c)) || u32::from(c) & 0xfffe == 0xfffe;
            none || !matches!(c, '\u{fe0e}' | '\u{fe0f}') && FORMAT.iter().chain(NOT_SHOWN).any(within)
        };
        let wrong: Vec<char> = ('\0'..=char::MAX).filter(|c| is_deceptive(*c) != listed(*c)).collect();
        assert!(wrong.is_empty(), "{wrong:?}");
    }
}
