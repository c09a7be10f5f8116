//! Finds secrets in text, in whatever form a program printed them.

use std::collections::BTreeMap;
use std::ops::Range;

use aho_corasick::{AhoCorasick, MatchKind};
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};

use crate::put;

/// Shorter values and forms would be found everywhere.
const SHORTEST: usize = 4;
/// Forms of at least this length are found although lines were folded in them.
const FOLDED: usize = 8;

/// Finds the values of secrets, and says which secret it was.
#[derive(Default)]
pub(super) struct Redactor {
    straight: Search,
    /// Forms without white space, for text in which lines were folded.
    folded: Search,
    /// The forms of both, each with the name of its secret, to find what is left of one.
    straight_forms: Vec<(String, String)>,
    folded_forms: Vec<(String, String)>,
}

/// Forms, and the name of the secret that each is of.
#[derive(Default)]
struct Search {
    forms: Option<AhoCorasick>,
    names: Vec<String>,
}

impl Search {
    fn new(forms: &BTreeMap<String, &str>) -> Self {
        if forms.is_empty() {
            return Self::default();
        }
        Self {
            forms: AhoCorasick::builder().match_kind(MatchKind::LeftmostLongest).build(forms.keys()).ok(),
            names: forms.values().map(|name| format!("(secret {name})")).collect(),
        }
    }

    /// A search that could not be built finds nothing, so nothing may be shown.
    fn is_broken(&self) -> bool {
        self.forms.is_none() && !self.names.is_empty()
    }

    /// Ranges of the text, and what is shown in their place.
    fn find<'a>(&'a self, text: &'a str) -> impl Iterator<Item = (Range<usize>, &'a str)> {
        let found = self.forms.iter().flat_map(move |forms| forms.find_iter(text));
        found.filter_map(|found| Some((found.range(), self.names.get(found.pattern().as_usize())?.as_str())))
    }
}

impl Redactor {
    /// For secrets by name.
    pub(super) fn new<'a>(secrets: impl Iterator<Item = (&'a str, &'a str)>) -> Self {
        let mut straight = BTreeMap::new();
        let mut folded = BTreeMap::new();
        for (name, value) in secrets {
            for form in forms_of(value) {
                let flat: String = form.split_whitespace().collect();
                if flat.len() >= FOLDED {
                    folded.entry(flat).or_insert(name);
                }
                straight.entry(form).or_insert(name);
            }
        }
        let named = |forms: &BTreeMap<String, &str>| {
            forms.iter().map(|(form, name)| (form.clone(), format!("(secret {name})"))).collect()
        };
        Self {
            straight_forms: named(&straight),
            folded_forms: named(&folded),
            straight: Search::new(&straight),
            folded: Search::new(&folded),
        }
    }

    /// The same for a text of which something was left out at each `mark`: what is left there of a value that
    /// was cut goes, too.
    pub(super) fn redact_cut(&self, text: &str, mark: &str) -> String {
        let pieces: Vec<&str> = text.split(mark).collect();
        let last = pieces.len().saturating_sub(1);
        let redacted = pieces.into_iter().enumerate().map(|(at, piece)| {
            // Whole values first: one may end with what it begins with. Half a character is no text.
            let whole = self.redact(piece);
            let lossy = char::REPLACEMENT_CHARACTER;
            let (mut piece, mut before, mut behind) = (whole.as_str(), "", "");
            if at > 0 {
                piece = piece.trim_start_matches(lossy);
                if let Some((length, name)) = self.rest_of(piece, Cut::Before) {
                    (piece, before) = (piece.get(length..).unwrap_or_default(), name);
                }
            }
            if at < last {
                piece = piece.trim_end_matches(lossy);
                if let Some((length, name)) = self.rest_of(piece, Cut::Behind) {
                    (piece, behind) = (piece.get(..piece.len() - length).unwrap_or_default(), name);
                }
            }
            format!("{before}{piece}{behind}")
        });
        redacted.collect::<Vec<_>>().join(mark)
    }

    /// The longest part of a form that a cut has left of it in the text, in bytes, and the name of its secret.
    fn rest_of(&self, text: &str, cut: Cut) -> Option<(usize, &str)> {
        let straight = rest_of(&self.straight_forms, SHORTEST, text, cut);
        // The same in folded lines, which end with the text or begin with it.
        let (flat, places) = flat(text);
        let folded = rest_of(&self.folded_forms, FOLDED, &flat, cut).and_then(|(length, name)| {
            let range = match cut {
                Cut::Before => 0..places.get(length.checked_sub(1)?)? + 1,
                Cut::Behind => *places.get(flat.len().checked_sub(length)?)?..text.len(),
            };
            text.get(range.clone())?.contains('\n').then_some((range.len(), name))
        });
        straight.into_iter().chain(folded).max_by_key(|(length, _)| *length)
    }

    /// The text with `(secret NAME)` in the place of each.
    pub(super) fn redact(&self, text: &str) -> String {
        if self.straight.is_broken() || self.folded.is_broken() {
            return "(not shown)".to_owned();
        }
        let text = replace(text, self.straight.find(text));
        if !text.contains('\n') {
            return text;
        }
        let (flat, places) = flat(&text);
        let found = self.folded.find(&flat).filter_map(|(range, name)| {
            let range = *places.get(range.start)?..places.get(range.end.checked_sub(1)?)? + 1;
            // Without a line break in it somebody wrote these words.
            text.get(range.clone())?.contains('\n').then_some((range, name))
        });
        replace(&text, found)
    }
}

/// Side of a text on which some of it is missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Cut {
    /// Before its beginning.
    Before,
    /// Behind its end.
    Behind,
}

/// The longest end of a form with which the text begins, or beginning of one with which it ends: its bytes, and the
/// name of its secret.
fn rest_of<'a>(
    forms: &'a [(String, String)],
    shortest: usize,
    text: &str,
    cut: Cut,
) -> Option<(usize, &'a str)> {
    let rests = forms.iter().filter_map(|(form, name)| {
        let stands = |length: usize| match cut {
            Cut::Before => form.get(form.len() - length..).is_some_and(|part| text.starts_with(part)),
            Cut::Behind => form.get(..length).is_some_and(|part| text.ends_with(part)),
        };
        Some(((shortest..form.len()).rev().find(|length| stands(*length))?, name.as_str()))
    });
    rests.max_by_key(|(length, _)| *length)
}

/// The text without white space, and for each of its bytes the place in the text.
fn flat(text: &str) -> (String, Vec<usize>) {
    let kept = || text.char_indices().filter(|(_, c)| !c.is_whitespace());
    let places = kept().flat_map(|(place, c)| place..place + c.len_utf8()).collect();
    (kept().map(|(_, c)| c).collect(), places)
}

/// The text with names in the place of ranges.
fn replace<'a>(text: &str, found: impl Iterator<Item = (Range<usize>, &'a str)>) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = 0;
    for (range, name) in found {
        out.push_str(text.get(rest..range.start).unwrap_or_default());
        out.push_str(name);
        rest = range.end;
    }
    out.push_str(text.get(rest..).unwrap_or_default());
    out
}

/// A value as programs print it: as it is, line by line, and in the encodings that logs have.
fn forms_of(value: &str) -> Vec<String> {
    let mut forms = Vec::new();
    // A key of many lines may be printed, cut or indented line by line. Every key of its kind begins
    // and ends with the same line.
    let lines = value.lines().map(str::trim).filter(|line| value.contains('\n') && line.len() >= FOLDED);
    let lines = lines.filter(|line| !(line.starts_with("-----") && line.ends_with("-----")));
    for text in [value].into_iter().chain(lines).filter(|text| text.len() >= SHORTEST) {
        forms.push(text.to_owned());
        forms.extend(base64_forms(text.as_bytes()));
        let hex = crate::words::hex(text.as_bytes());
        // As od and hexdump write it, too.
        let spaced: Vec<_> = hex.as_bytes().chunks(2).map(String::from_utf8_lossy).collect();
        let spaced = spaced.join(" ");
        forms.extend([hex.to_ascii_uppercase(), hex, spaced.to_ascii_uppercase(), spaced]);
        forms.extend(escaped_forms(text));
    }
    forms.retain(|form| form.len() >= SHORTEST);
    forms
}

/// Returns the texts that base64 makes of the bytes wherever they stand in a longer text: at each of the
/// three places in a group, without the characters at both ends that the neighbours decide.
fn base64_forms(bytes: &[u8]) -> Vec<String> {
    let mut forms = Vec::new();
    for offset in 0..3 {
        let mut padded = vec![0; offset];
        padded.extend_from_slice(bytes);
        for text in [STANDARD_NO_PAD.encode(&padded), URL_SAFE_NO_PAD.encode(&padded)] {
            let own = (offset * 8).div_ceil(6)..padded.len() * 8 / 6;
            // One character less than the shortest value gives is no longer its own.
            forms.extend(text.get(own).filter(|form| form.len() > SHORTEST).map(str::to_owned));
        }
    }
    forms
}

/// A character as JSON has it where that is not the character itself.
fn json(c: char) -> Option<String> {
    match c {
        '"' => Some("\\\"".to_owned()),
        '\\' => Some("\\\\".to_owned()),
        '\n' => Some("\\n".to_owned()),
        '\r' => Some("\\r".to_owned()),
        '\t' => Some("\\t".to_owned()),
        c if c.is_control() => Some(format!("\\u{:04x}", u32::from(c))),
        _ => None,
    }
}

/// A character that is not ASCII, as JSON in ASCII has it.
fn ascii_json(c: char) -> Option<String> {
    let mut units = [0; 2];
    let mut escapes = String::new();
    for unit in c.encode_utf16(&mut units) {
        put!(escapes, "\\u{unit:04x}");
    }
    (!c.is_ascii()).then_some(escapes)
}

/// A character as a URL has it. Letters, digits and those of `kept` stay.
fn percent(c: char, kept: &str, plus: bool, upper: bool) -> Option<String> {
    if c.is_ascii_alphanumeric() || kept.contains(c) {
        return None;
    }
    if plus && c == ' ' {
        return Some("+".to_owned());
    }
    let mut bytes = [0; 4];
    let mut escapes = String::new();
    for byte in c.encode_utf8(&mut bytes).bytes() {
        put!(escapes, "%{}", if upper { format!("{byte:02X}") } else { format!("{byte:02x}") });
    }
    Some(escapes)
}

/// A character as HTML has it. Quotes are escaped where there is a word for the single one.
fn html(c: char, quote: &str) -> Option<String> {
    match c {
        '&' => Some("&amp;".to_owned()),
        '<' => Some("&lt;".to_owned()),
        '>' => Some("&gt;".to_owned()),
        '"' if !quote.is_empty() => Some("&quot;".to_owned()),
        '\'' if !quote.is_empty() => Some(quote.to_owned()),
        _ => None,
    }
}

/// Escapes of JSON, URLs, HTML and shells.
fn escaped_forms(text: &str) -> Vec<String> {
    let per_char = |escape: &dyn Fn(char) -> Option<String>| -> String {
        text.chars().map(|c| escape(c).unwrap_or_else(|| c.to_string())).collect()
    };
    let mut forms = vec![
        per_char(&json),
        per_char(&|c| json(c).or_else(|| ascii_json(c))),
        per_char(&|c| if c == '/' { Some("\\/".to_owned()) } else { json(c).or_else(|| ascii_json(c)) }),
        // JSON as Go and browsers write it for HTML.
        per_char(&|c| {
            if "<>&".contains(c) { Some(format!("\\u{:04x}", u32::from(c))) } else { json(c) }
        }),
        // `'...'` and `"..."` of shells, and `printf %q`.
        per_char(&|c| (c == '\'').then(|| "'\\''".to_owned())),
        per_char(&|c| (c == '\'').then(|| "'\"'\"'".to_owned())),
        per_char(&|c| "\"\\$`".contains(c).then(|| format!("\\{c}"))),
        per_char(&|c| {
            let plain = c.is_alphanumeric() || "%+,-./:=@_".contains(c);
            (!plain).then(|| format!("\\{c}"))
        }),
    ];
    for quote in ["", "&#39;", "&#x27;", "&apos;"] {
        forms.push(per_char(&|c| html(c, quote)));
    }
    // Of RFC 3986, of `encodeURIComponent`, of Python's `quote`, and of forms.
    for (kept, plus) in [("-._~", false), ("-._~!'()*", false), ("-._~/", false), ("-._*", true)] {
        for upper in [true, false] {
            forms.push(per_char(&|c| percent(c, kept, plus, upper)));
        }
    }
    forms
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn redactor(value: &str) -> Redactor {
        Redactor::new([("pw", value)].into_iter())
    }

    /// Checks the output of tools of this machine; each line was made by the tool that is named.
    #[test]
    fn forms_of_real_tools() {
        let value = "p01son-w1th-'quote & <tag>/\u{fc}";
        let redactor = redactor(value);
        for (tool, printed) in [
            ("base64", "cDAxc29uLXcxdGgtJ3F1b3RlICYgPHRhZz4vw7w="),
            ("printf 'user:%s' | base64", "dXNlcjpwMDFzb24tdzF0aC0ncXVvdGUgJiA8dGFnPi/DvA=="),
            ("base64 -w 20", "cDAxc29uLXcxdGgtJ3F1\nb3RlICYgPHRhZz4vw7w="),
            ("xxd -p", "703031736f6e2d773174682d2771756f74652026203c7461673e2fc3bc"),
            (
                "od -An -tx1",
                " 70 30 31 73 6f 6e 2d 77 31 74 68 2d 27 71 75 6f\n 74 65 20 26 20 3c 74 61 67 3e 2f c3 bc",
            ),
            ("jq -aR .", "\"p01son-w1th-'quote & <tag>/\\u00fc\""),
            ("jq -Rr @uri", "p01son-w1th-'quote%20%26%20%3Ctag%3E%2F%C3%BC"),
            ("jq -Rr @html", "p01son-w1th-&apos;quote &amp; &lt;tag&gt;/\u{fc}"),
            ("jq -Rr @sh", "'p01son-w1th-'\\''quote & <tag>/\u{fc}'"),
            ("python urllib.parse.quote_plus", "p01son-w1th-%27quote+%26+%3Ctag%3E%2F%C3%BC"),
            ("python urllib.parse.quote", "p01son-w1th-%27quote%20%26%20%3Ctag%3E/%C3%BC"),
            ("python html.escape", "p01son-w1th-&#x27;quote &amp; &lt;tag&gt;/\u{fc}"),
            ("bash -x", "+ x='p01son-w1th-'\\''quote & <tag>/\u{fc}'"),
            ("bash printf %q", "p01son-w1th-\\'quote\\ \\&\\ \\<tag\\>/\u{fc}"),
            ("fold -w 10", "p01son-w1t\nh-'quote &\n <tag>/\u{fc}"),
            ("fmt -w 19", "p01son-w1th-'quote\n& <tag>/\u{fc}"),
        ] {
            let shown = redactor.redact(&format!("before {printed} after\n"));
            assert!(shown.contains("(secret pw)"), "{tool}: {shown}");
            for part in ["p01son", "quote", "cDAxc", "MDFzb", "7030", "70 30", "tag"] {
                assert!(!shown.contains(part), "{tool}: {shown}");
            }
            assert!(shown.starts_with("before ") && shown.ends_with(" after\n"), "{tool}: {shown}");
        }
    }

    #[test]
    fn what_is_left_of_a_value_that_was_cut_goes() {
        let redactor = redactor("SuperSecretToken987654");
        let mark = "\n[... left out ...]\n";
        let value = "SuperSecretToken987654";
        for at in 4..=18 {
            let text = format!("a {}{mark}{} z", &value[..at], &value[at..]);
            assert_eq!(redactor.redact_cut(&text, mark), format!("a (secret pw){mark}(secret pw) z"), "{at}");
        }
        // Half a character, and a form that is none of the value itself.
        let text = format!("a Super\u{fffd}{mark}\u{fffd}54 {value}");
        assert_eq!(redactor.redact_cut(&text, mark), format!("a (secret pw){mark}54 (secret pw)"));
        let hex = crate::words::hex(value.as_bytes());
        let text = format!("{}{mark}{}", &hex[..20], &hex[20..]);
        assert_eq!(redactor.redact_cut(&text, mark), format!("(secret pw){mark}(secret pw)"));
        let twice = Redactor::new([("pw", "abcdabcd")].into_iter());
        let text = format!("abcdabcd{mark}abcdabcd");
        assert_eq!(twice.redact_cut(&text, mark), format!("(secret pw){mark}(secret pw)"));
        // In folded lines, wherever they are cut.
        let long = "a secret of many words that base64 folds into lines of its own.";
        let folding = Redactor::new([("pw", long)].into_iter());
        let printed = STANDARD_NO_PAD.encode(long);
        let lines: Vec<&str> = [&printed[..30], &printed[30..60], &printed[60..]].to_vec();
        let printed = lines.join("\n");
        for at in 9..printed.len() - 10 {
            let (before, behind) = printed.split_at(at);
            let shown = folding.redact_cut(&format!("a {before}{mark}{behind} z"), mark);
            assert_eq!(shown, format!("a (secret pw){mark}(secret pw) z"), "{at}");
        }
        // Nothing was left out.
        assert_eq!(redactor.redact_cut("ends in Super", mark), "ends in Super");
        assert_eq!(redactor.redact_cut(&format!("Token{mark}Super"), mark), format!("Token{mark}Super"));
    }

    #[test]
    fn what_is_no_secret_stays() {
        let redactor = redactor("hunter22");
        for text in ["", "hunter2", "hunter 22", "hunter\n2 rabbits", "aHVudGVy", "a\n  b\n\tc\r\nd"] {
            assert_eq!(redactor.redact(text), text);
        }
        // What is shorter than four letters is in too many words.
        assert_eq!(Redactor::new([("pin", "123")].into_iter()).redact("123 MTIz"), "123 MTIz");
    }

    #[test]
    fn what_every_key_of_its_kind_has_is_no_secret() {
        let value = "-----BEGIN CERTIFICATE-----\nMIIJQwIBADANBgkq\n-----END CERTIFICATE-----\n";
        let redactor = redactor(value);
        let other = "-----BEGIN CERTIFICATE-----\nhkiG9w0BAQEFAASC\n-----END CERTIFICATE-----\n";
        assert_eq!(redactor.redact(other), other);
        assert_eq!(redactor.redact(&format!("<{value}>")), "<(secret pw)>");
        assert_eq!(redactor.redact("  MIIJQwIBADANBgkq |"), "  (secret pw) |");
    }

    proptest! {
        #[test]
        fn found_in_base64_wherever_it_stands(
            before in "[ -~]{0,20}", value in "[ -~]{8,40}", after in "[ -~]{0,20}", width in 4_usize..80,
        ) {
            let whole = STANDARD_NO_PAD.encode(format!("{before}{value}{after}"));
            let folded: Vec<_> = whole.as_bytes().chunks(width).map(String::from_utf8_lossy).collect();
            let shown = redactor(&value).redact(&folded.join("\n"));
            prop_assert!(shown.contains("(secret pw)"), "{}", shown);
        }

        #[test]
        fn never_panics(value in "\\PC{4,12}", text in "(\\PC|\n|[ a-c]){0,60}") {
            let shown = redactor(&value).redact(&format!("{text}{value}{text}"));
            prop_assert!(!shown.contains(&value) || "(secret pw)".contains(&value), "{}", shown);
        }
    }
}
