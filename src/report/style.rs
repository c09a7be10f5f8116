//! The palette, the verb column, and text that is safe to show.

use anstyle::{AnsiColor, Style};

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
/// What may be overlooked.
pub const DIM: Style = Style::new().dimmed();

/// Text of a host or a file without anything that a terminal would obey; tabs and line ends stay.
pub fn safe(text: &str) -> String {
    text.chars()
        .map(|c| match c {
            '\n' | '\t' => c,
            c if c.is_control()
                || ('\u{200b}'..='\u{200f}').contains(&c)
                || ('\u{202a}'..='\u{202e}').contains(&c) =>
            {
                '\u{fffd}'
            }
            c => c,
        })
        .collect()
}

/// Wraps text in a style.
pub fn paint(style: Style, text: &str) -> String {
    format!("{style}{text}{style:#}")
}

/// Seconds as people read them: `0.2s`, `18.2s`, `3m 05s`, `1h 02m`.
pub fn seconds(seconds: f64) -> String {
    if seconds < 120.0 {
        return format!("{seconds:.1}s");
    }
    let whole = std::time::Duration::from_secs_f64(seconds).as_secs();
    if whole < 7200 {
        return format!("{}m {:02}s", whole / 60, whole % 60);
    }
    format!("{}h {:02}m", whole / 3600, whole / 60 % 60)
}

/// `1 host`, `2 hosts`.
pub fn count(number: u64, noun: &str) -> String {
    if number == 1 { format!("1 {noun}") } else { format!("{number} {noun}s") }
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
        assert_eq!(safe("line\n\tgpu0 é"), "line\n\tgpu0 é");
    }

    #[test]
    fn times() {
        assert_eq!(seconds(0.21), "0.2s");
        assert_eq!(seconds(185.0), "3m 05s");
        assert_eq!(seconds(7320.0), "2h 02m");
    }
}
