//! Numbers and bytes as words.

/// `1 host`, `2 hosts`.
pub fn count(number: u64, noun: &str) -> String {
    if number == 1 { format!("1 {noun}") } else { format!("{number} {noun}s") }
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
