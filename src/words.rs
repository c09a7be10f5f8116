//! Numbers and bytes as words.

/// `1 host`, `2 hosts`.
pub fn count(number: u64, noun: &str) -> String {
    if number == 1 { format!("1 {noun}") } else { format!("{number} {noun}s") }
}

/// Lower-case hex of some bytes.
pub fn hex(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        crate::put!(text, "{byte:02x}");
    }
    text
}
