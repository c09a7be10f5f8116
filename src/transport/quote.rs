//! The only quoting in the program: one word of a POSIX shell command line.
//!
//! Local command lines are argument vectors and need none. Remote command lines are constants.
//! What is left are the words that a frame hands to its parts.

use std::borrow::Cow;

/// `word` as it must stand in shell text to arrive unchanged.
///
/// No shell word can hold NUL; it arrives as U+FFFD. [`super::wire`] refuses such frames before.
pub(crate) fn quote(word: &str) -> Cow<'_, str> {
    shlex::try_quote(word).unwrap_or_else(|_| {
        Cow::Owned(format!("'{}'", word.replace('\0', "\u{fffd}").replace('\'', "'\\''")))
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::quote;
    use crate::transport::testing::{SHELLS, feed, runs};

    fn round_trip(shell: &[&str], words: &[String]) -> Vec<u8> {
        let line: Vec<_> = words.iter().map(|word| quote(word)).collect();
        feed(shell, format!("printf '%s\\0' x {}\n", line.join(" ")).as_bytes()).stdout
    }

    fn expected(words: &[String]) -> Vec<u8> {
        let mut expected = b"x\0".to_vec();
        for word in words {
            expected.extend_from_slice(word.as_bytes());
            expected.push(0);
        }
        expected
    }

    #[test]
    fn awkward_words_survive_every_shell() {
        let words: Vec<String> = [
            "",
            " ",
            "\n",
            "a\nb\n",
            "'",
            "\"",
            "'\"'",
            "!",
            "a!b",
            "!!",
            "^a^b",
            "\\",
            "\\'",
            "$HOME",
            "`id`",
            "$(id)",
            "-n",
            "--",
            "-e",
            "ü",
            "日本語",
            "\u{7f}",
            "\r\n",
            "\t",
            "{a,b}",
            "~",
            "~root",
            "*",
            "?",
            "[a]",
            "#",
            "a#b",
            "a=b",
            "=ls",
            "%s",
            "%n",
            ";",
            "&",
            "|",
            "<",
            ">",
            "(",
            ")",
            "\u{1b}[0m",
            "\u{fffd}",
        ]
        .map(str::to_owned)
        .to_vec();
        for shell in SHELLS.iter().filter(|shell| runs(shell)) {
            assert_eq!(round_trip(shell, &words), expected(&words), "{shell:?}");
        }
    }

    #[test]
    fn a_word_cannot_hold_nul() {
        assert_eq!(quote("a\0'b"), "'a\u{fffd}'\\''b'");
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

        #[test]
        fn any_words_survive_every_shell(
            words in prop::collection::vec("([^\\x00]|['\"!\\\\\n$`^{}~*#=-]){0,12}", 0..8),
        ) {
            for shell in SHELLS.iter().filter(|shell| runs(shell)) {
                prop_assert_eq!(round_trip(shell, &words), expected(&words), "{:?}", shell);
            }
        }
    }
}
