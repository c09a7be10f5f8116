//! Placeholders for secrets in texts of this run, so that plans, diffs and journals never hold a secret.
//!
//! Each run has its own random mark, and no placeholder ever leaves the controller: the writer of a transport
//! puts the values in. So a text that came from a host is data, whatever it says: it cannot speak a
//! placeholder of this run.

use std::borrow::Cow;
use std::sync::LazyLock;

/// Beginning of every placeholder of this process.
static OPEN: LazyLock<String> =
    LazyLock::new(|| format!("{{{{provision-secret:{}:", uuid::Uuid::new_v4().simple()));
const CLOSE: &str = "}}";

/// The text that stands for the secret `name` everywhere but on the wire.
pub fn of(name: &str) -> String {
    format!("{}{name}{CLOSE}", *OPEN)
}

/// Whether a text holds a placeholder.
pub fn is_in(text: &str) -> bool {
    text.contains(OPEN.as_str())
}

/// The same of bytes.
pub(crate) fn is_in_bytes(bytes: &[u8]) -> bool {
    bytes.windows(OPEN.len()).any(|window| window == OPEN.as_bytes())
}

/// Every placeholder as people see it: `(secret NAME)`.
pub fn shown(text: &str) -> Cow<'_, str> {
    replace(text, |name| format!("(secret {name})"))
}

/// The text without what changes from run to run, for digests. No word of a shell holds NUL, so no
/// other one gives the same.
pub fn lasting(text: &str) -> Cow<'_, str> {
    replace(text, |name| format!("\0{name}\0"))
}

/// The names of the secrets that a text holds.
pub(crate) fn names(text: &str) -> Vec<String> {
    let mut names = Vec::new();
    replace(text, |name| {
        names.push(name.to_owned());
        String::new()
    });
    names
}

/// Puts something in the place of every placeholder; `with` is told its name.
pub(crate) fn replace(text: &str, mut with: impl FnMut(&str) -> String) -> Cow<'_, str> {
    if !is_in(text) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once(OPEN.as_str()) {
        out.push_str(before);
        // We wrote it, so it ends; what somebody cut is shown as it is, without the mark.
        let (name, after) = after.split_once(CLOSE).unwrap_or((after, ""));
        out.push_str(&with(name));
        rest = after;
    }
    out.push_str(rest);
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_this_run_speaks_them() {
        let text = format!("a {} b", of("sudo"));
        assert!(is_in(&text) && is_in_bytes(text.as_bytes()));
        assert_eq!(shown(&text), "a (secret sudo) b");
        for foreign in [
            "{{provision-secret:sudo}}",
            "{{provision-secret:0123456789abcdef0123456789abcdef:sudo}}",
            "provision-secret",
            "",
        ] {
            assert!(!is_in(foreign) && !is_in_bytes(foreign.as_bytes()), "{foreign}");
            assert_eq!(shown(foreign), foreign);
            assert_eq!(lasting(foreign), foreign);
        }
    }

    #[test]
    fn a_lasting_text_does_not_tell_the_mark() {
        let text = lasting(&of("sudo")).into_owned();
        assert!(text.contains("sudo") && !text.contains("provision-secret"), "{text}");
        assert_ne!(lasting(&of("a")), lasting(&of("b")));
    }

    #[test]
    fn a_cut_placeholder_does_not_tell_the_mark() {
        let text = of("sudo");
        assert_eq!(shown(&text[..text.len() - 3]), "(secret sud)");
    }
}
