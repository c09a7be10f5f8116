//! The palette, the verb column, and text that is safe to show.

use anstyle::{AnsiColor, Style};

use crate::put;
use crate::words::is_deceptive;

/// Width of the verb column.
pub const VERB: usize = 10;

/// Good news.
pub const GOOD: Style = AnsiColor::Green.on_default().bold();
/// Changes.
pub const CHANGE: Style = AnsiColor::Yellow.on_default().bold();
/// Bad news.
pub const BAD: Style = AnsiColor::Red.on_default().bold();
/// Progress.
pub const CALM: Style = AnsiColor::Cyan.on_default().bold();
/// Hints and literals.
pub const HINT: Style = AnsiColor::Cyan.on_default();
/// Text that may be overlooked.
pub const DIM: Style = Style::new().dimmed();

/// Text of a host or a file without anything that a terminal would obey and without characters that
/// nobody sees or that turn around what stands beside them; tabs and line ends stay.
pub fn safe(text: &str) -> String {
    text.chars()
        .map(|c| match c {
            '\n' | '\t' => c,
            c if c.is_control() || is_deceptive(c) => '\u{fffd}',
            c => c,
        })
        .collect()
}

/// The same where it is to be one line: no second one can be taken for ours.
pub fn safe_line(text: &str) -> String {
    safe(text).replace('\n', " ")
}

/// JSON in which each character that a terminal obeys or that nobody sees is written as `\uXXXX`: it means the same to
/// every reader. Outside of texts JSON has none of them.
pub fn safe_json(json: &str) -> String {
    let mut text = String::with_capacity(json.len());
    for c in json.chars() {
        if c == '\n' || !(c.is_control() || is_deceptive(c)) {
            text.push(c);
            continue;
        }
        for unit in c.encode_utf16(&mut [0; 2]) {
            put!(text, "\\u{unit:04x}");
        }
    }
    text
}

/// Wraps text in a style.
pub fn paint(style: Style, text: &str) -> String {
    format!("{style}{text}{style:#}")
}

/// Seconds as a duration; what is none, such as a negative number of a damaged journal, is no time.
pub fn duration(seconds: f64) -> std::time::Duration {
    std::time::Duration::try_from_secs_f64(seconds).unwrap_or_default()
}

/// Seconds as people read them: `0.2s`, `18.2s`, `3m 05s`, `1h 02m`.
pub fn seconds(seconds: f64) -> String {
    if seconds < 120.0 {
        return format!("{seconds:.1}s");
    }
    let whole = duration(seconds).as_secs();
    if whole < 7200 {
        return format!("{}m {:02}s", whole / 60, whole % 60);
    }
    format!("{}h {:02}m", whole / 3600, whole / 60 % 60)
}

/// Columns that a text takes on a terminal.
pub fn width_of(text: &str) -> usize {
    console::measure_text_width(text)
}

/// Cuts text to a width in columns, with an ellipsis.
pub fn cut(text: &str, width: usize) -> String {
    console::truncate_str(text, width, "…").into_owned()
}

/// Colours one line of a diff.
pub fn style_diff(line: &str) -> String {
    if line.starts_with("+++") || line.starts_with("---") || line.starts_with("@@") {
        return paint(DIM, line);
    }
    match line.chars().next() {
        Some('+') => paint(AnsiColor::Green.on_default(), line),
        Some('-') => paint(AnsiColor::Red.on_default(), line),
        _ => line.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_obeys_nothing_of_a_host() {
        assert_eq!(safe("a\u{1b}[31mb\rc\u{7}\u{202e}"), "a\u{fffd}[31mb\u{fffd}c\u{fffd}\u{fffd}");
        assert_eq!(safe("line\n\tgpu0 é ⚠\u{fe0f} 日本"), "line\n\tgpu0 é ⚠\u{fe0f} 日本");
        assert_eq!(safe_line("a\nb\r\nc"), "a b\u{fffd} c");
    }

    #[test]
    fn nothing_is_turned_around_or_hidden() {
        let ranges = [0x202a..=0x202e, 0x2066..=0x2069, 0x200b..=0x200f, 0x2028..=0x2029, 0xe0020..=0xe007f];
        let more = [0xad, 0x61c, 0x180e, 0x2060, 0x3164, 0xfeff, 0xfff9, 0x85, 0x9b];
        for code in ranges.into_iter().flatten().chain(more) {
            let text = format!("gpu0{}gpu1", char::from_u32(code).unwrap());
            assert_eq!(safe(&text), "gpu0\u{fffd}gpu1", "U+{code:04X}");
        }
    }

    #[test]
    fn json_says_the_same_and_a_terminal_obeys_nothing_of_it() {
        let evil: String =
            (0..0x800).chain(0x2000..0x2100).chain(0xe0000..0xe0080).filter_map(char::from_u32).collect();
        for pretty in [serde_json::to_string_pretty, serde_json::to_string] {
            let value = serde_json::json!({ "key \u{9b}2J": [evil], "日本 é": "⚠\u{fe0f}" });
            let text = safe_json(&pretty(&value).unwrap());
            assert_eq!(text.chars().find(|c| *c != '\n' && (c.is_control() || is_deceptive(*c))), None);
            assert_eq!(serde_json::from_str::<serde_json::Value>(&text).unwrap(), value);
            assert!(text.contains("日本 é"), "{text}");
        }
        assert_eq!(safe_json("\"\u{7f}\u{202e}\u{e0041}\""), "\"\\u007f\\u202e\\udb40\\udc41\"");
    }

    #[test]
    fn times() {
        assert_eq!(seconds(0.21), "0.2s");
        assert_eq!(seconds(185.0), "3m 05s");
        assert_eq!(seconds(7320.0), "2h 02m");
    }
}
