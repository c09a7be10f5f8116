//! Lengths of time as people write them.

use std::fmt::{self, Display, Formatter};
use std::str::FromStr;
use std::time::Duration;

use serde_json::{Value as Json, json};

use super::{Diagnostic, Diagnostics, FromNode, Node, Yaml};

/// A length of time: `90s`, `10m`, `2h`, `1h30m`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Period(pub Duration);

impl FromNode for Period {
    fn from_node(node: &Node, diagnostics: &mut Diagnostics) -> Option<Self> {
        if let Some(period) = node.as_str().and_then(period) {
            return Some(Self(period));
        }
        let diagnostic = Diagnostic::error(node.span, "this is not a length of time");
        diagnostics.push(if let Yaml::Int(number) = node.value {
            diagnostic.help(format!("say the unit, as in `{number}s` or `{number}m`"))
        } else {
            diagnostic.help("write for example `90s`, `10m` or `2h`; it is more than zero and at most 7d")
        });
        None
    }

    fn schema() -> Json {
        json!({ "type": "string", "pattern": "^([0-9]+[smhd])+$" })
    }
}

impl FromStr for Period {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        period(text).map(Self).ok_or("this is not a length of time: write for example `90s`, `10m` or `2h`")
    }
}

impl Display for Period {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let seconds = self.0.as_secs();
        match [(86400, "d"), (3600, "h"), (60, "m")]
            .into_iter()
            .find(|(unit, _)| seconds.is_multiple_of(*unit))
        {
            Some((unit, letter)) => write!(f, "{}{letter}", seconds / unit),
            None => write!(f, "{seconds}s"),
        }
    }
}

fn period(text: &str) -> Option<Duration> {
    let mut seconds = 0_u64;
    let mut digits = String::new();
    for c in text.chars() {
        let unit = match c {
            '0'..='9' if digits.len() < 9 => {
                digits.push(c);
                continue;
            }
            's' => 1,
            'm' => 60,
            'h' => 3600,
            'd' => 86400,
            _ => return None,
        };
        seconds = seconds.checked_add(digits.parse::<u64>().ok()?.checked_mul(unit)?)?;
        digits.clear();
    }
    let whole = digits.is_empty() && (1..=7 * 86400).contains(&seconds);
    whole.then(|| Duration::from_secs(seconds))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn periods() {
        for (text, seconds) in [("90s", 90), ("10m", 600), ("1h30m", 5400), ("7d", 604_800)] {
            assert_eq!(period(text), Some(Duration::from_secs(seconds)), "{text}");
            let period: Period = text.parse().unwrap();
            assert_eq!(period.to_string().parse(), Ok(period), "{text}");
        }
        for text in ["", "10", "m", "8d", "0s", "1x", "99999999999999999999s", "-1s"] {
            assert_eq!(period(text), None, "{text}");
        }
    }
}
