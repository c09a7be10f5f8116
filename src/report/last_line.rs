//! The last line that a task printed so far, as a row of the terminal shows it.

use super::style::safe_line;
use crate::secrets::Secrets;

/// Stands where output was cut; no output holds it.
const CUT: &str = "\u{0}";

/// The last line of some output that was cut at both ends, without values of secrets and without what a terminal
/// obeys. A program that draws a bar of its own begins its line anew with a carriage return.
pub fn last_said(said: &[u8], secrets: &Secrets) -> String {
    // A value of several lines has line feeds.
    let text = String::from_utf8_lossy(said).replace(CUT, "").replace('\r', "\n");
    let text = secrets.redact_cut(&format!("{CUT}{text}{CUT}"), CUT).replace(CUT, "");
    let text = console::strip_ansi_codes(&text);
    let line = text.lines().rev().map(str::trim).find(|line| !line.is_empty());
    safe_line(line.unwrap_or_default()).replace('\t', " ")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn the_last_line_is_clean() {
        let none = Secrets::default();
        for (said, line) in [
            ("CC a.c\rCC b.c\r", "CC b.c"),
            ("  3%\r 40%\r\u{1b}[2K\r", "40%"),
            ("\u{1b}[1;32mBuilding\u{1b}[0m\tmodule\u{7}", "Building module\u{fffd}"),
            ("\u{1b}]0;title\u{7}Unpacking x", "Unpacking x"),
            ("\r\r", ""),
        ] {
            assert_eq!(last_said(said.as_bytes(), &none), line, "{said:?}");
        }
        // Cut within a character.
        assert_eq!(last_said(b"\xbcber", &none), "ber");
    }

    #[test]
    fn no_value_of_a_secret_is_shown_not_even_a_part() {
        let secrets = Secrets::new(BTreeMap::from([("pw".to_owned(), "SuperSecretToken".to_owned().into())]));
        for said in ["login SuperSecretToken", "login SuperSecr", "etToken ok", "a\rSuperSecretToken"] {
            let line = last_said(said.as_bytes(), &secrets);
            assert!(
                line.contains("(secret pw)") && !line.contains("Secr") && !line.contains("Token"),
                "{said}: {line}"
            );
        }
    }
}
