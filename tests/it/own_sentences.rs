//! No code of `src` decides by the words of our own sentences: a sentence may be written anew at any time. A type or
//! a code says what the program has to know.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test")]
#![allow(clippy::disallowed_methods, reason = "tests read the files that they check")]

use std::collections::BTreeSet;
use std::path::Path;

use proc_macro2::{Delimiter, TokenStream, TokenTree};

/// Methods that look for a text in another one.
const METHODS: [&str; 11] = [
    "contains",
    "ends_with",
    "find",
    "rfind",
    "rsplit_once",
    "split_once",
    "starts_with",
    "strip_prefix",
    "strip_suffix",
    "trim_end_matches",
    "trim_start_matches",
];

/// Names of values that are sentences for people.
const SENTENCES: [&str; 7] = ["help", "hint", "message", "reason", "said", "summary", "why"];

/// Comparisons that are right, by the beginning of a path, a part of the comparison, and the reason. An empty part
/// stands for the whole file or folder.
const ALLOWED: &[(&str, &str, &str)] = &[
    ("active/", "", "output of perftest, rping, mpirun and NCCL"),
    ("facts/", "", "output of the tools of hosts, and of scripts that have no sentences"),
    ("lab/", "", "output of Docker, Podman and apt"),
    ("checks/", "version mismatch", "words of nvidia-smi"),
    ("checks/rdma/setup.rs", "RoCE v2", "a type of GID, as the kernel writes it"),
    ("checks/shared/models.rs", "", "names of GPUs"),
    ("cli/commands/self_check.rs", "said.contains", "words of ssh-keygen"),
    ("trust/key.rs", "# Host ", "words of ssh-keygen"),
    ("accept/parts/gpu.rs", "ECC Errors/", "sections of nvidia-smi"),
    ("accept/parts/read.rs", "NVRM: Xid (", "words of the kernel's log"),
    ("accept/parts/text.rs", "to be filled", "words of boards without a serial number"),
    ("cli/complete.rs", "", "names of commands"),
    ("cli/dispatch.rs", "provision exec ", "the usage line of clap, which has no code for it"),
    ("engine/connection.rs", "reason.trim_end_matches", "takes a full stop away"),
    ("engine/rollback.rs", "said.starts_with", "one word that a script of ours prints first"),
    ("engine/scheduler_host.rs", "said.strip_suffix", "words of shells"),
    ("engine/scheduler_host.rs", ": not found", "words of shells"),
    (
        "plan/planner.rs",
        "~ reboot ",
        "a change has its reasons only in its summary; without the sign it is shown anew",
    ),
    ("reference/pages.rs", "any value", "the kind of a value is a word there, in one file"),
    ("relay/nodes.rs", "reason.contains", "words of sbcast and srun"),
    (
        "report/wording.rs",
        "summary.ends_with",
        "compares values: one that the summary has is not shown twice",
    ),
    ("resources/accounts/authorized_key/mod.rs", "PRIVATE KEY", "the head of a PEM file"),
    ("resources/gpu/nccl_env/mod.rs", "RoCE v2", "a type of GID, as the kernel writes it"),
    ("scheduler/mod.rs", "reason.strip_prefix", "the mark of our drains, which the scheduler keeps for us"),
    ("template/text.rs", "", "words of tera, whose errors have no codes"),
    ("transport/askpass.rs", "new password", "prompts of login programs"),
    ("transport/classify.rs", "", "words of OpenSSH; KILLED is compared with itself"),
    ("words.rs", "set -", "a statement of the shell"),
];

/// A comparison with a text.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Comparison {
    /// The text, or the name of the sentence with the method.
    what: String,
    /// Whether a value that is called a sentence is looked into.
    of_sentence: bool,
}

/// The texts of a file and the comparisons in it, tests left out.
#[derive(Debug, Default)]
struct Reader {
    comparisons: Vec<Comparison>,
    texts: Vec<String>,
}

impl Reader {
    fn stream(&mut self, tokens: TokenStream) {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        let mut at = 0;
        while at < tokens.len() {
            if is_test(&tokens, at) {
                at = past_item(&tokens, at);
                continue;
            }
            match &tokens[at] {
                TokenTree::Literal(_) => self.literal(&tokens, at),
                TokenTree::Group(group) => self.group(&tokens, at, group),
                TokenTree::Ident(_) | TokenTree::Punct(_) => {}
            }
            at += 1;
        }
    }

    fn literal(&mut self, tokens: &[TokenTree], at: usize) {
        let Some(text) = text(&tokens[at]) else { return };
        let sign = |place: Option<usize>| place.and_then(|place| tokens.get(place)).map(TokenTree::to_string);
        let (before, first) = (sign(at.checked_sub(1)), sign(at.checked_sub(2)));
        let (behind, last) = (sign(Some(at + 1)), sign(Some(at + 2)));
        let is = |sign: &Option<String>, wanted: &[&str]| {
            sign.as_deref().is_some_and(|sign| wanted.contains(&sign))
        };
        let equal = is(&before, &["="]) && is(&first, &["=", "!"])
            || is(&behind, &["=", "!"]) && is(&last, &["=", ">"])
            // Alternatives of a pattern; a closure has no text in front of its sign.
            || is(&before, &["|"]) && first.is_some_and(|first| first.starts_with('"'))
            || is(&behind, &["|"]) && last.is_some_and(|last| last.starts_with('"'));
        self.take(text, equal);
    }

    fn group(&mut self, tokens: &[TokenTree], at: usize, group: &proc_macro2::Group) {
        let words: Vec<String> = tokens[..at].iter().rev().take(4).map(TokenTree::to_string).collect();
        let method = words.first().filter(|word| METHODS.contains(&word.as_str()));
        let is_call = words.get(1).is_some_and(|dot| dot == ".");
        let behind: Vec<String> = tokens[at + 1..].iter().take(5).map(TokenTree::to_string).collect();
        let behind = behind.concat();
        let is_list = group.delimiter() == Delimiter::Bracket
            && (behind.starts_with(".contains") || behind.starts_with(".iter().any"));
        if let Some(method) = method.filter(|_| is_call && group.delimiter() == Delimiter::Parenthesis) {
            // `message.contains(…)` and `report.message().contains(…)`
            let name =
                if words.get(2).is_some_and(|word| word == "()") { words.get(3) } else { words.get(2) };
            if let Some(name) = name.filter(|name| SENTENCES.contains(&name.as_str())) {
                self.comparisons.push(Comparison { what: format!("{name}.{method}"), of_sentence: true });
            }
            let mut inner: Vec<TokenTree> = group.stream().into_iter().collect();
            let first = inner.iter().position(|token| token.to_string() != "&");
            if let Some(text) = first.and_then(|first| text(&inner[first])) {
                self.take(text, true);
                inner.clear();
            }
            self.stream(inner.into_iter().collect());
        } else if is_list {
            for token in group.stream() {
                if let Some(text) = text(&token) {
                    self.take(text, true);
                }
            }
        } else {
            self.stream(group.stream());
        }
    }

    fn take(&mut self, text: String, is_compared: bool) {
        if is_compared {
            self.comparisons.push(Comparison { what: text, of_sentence: false });
        } else {
            self.texts.push(text);
        }
    }
}

/// The text of a string literal.
fn text(token: &TokenTree) -> Option<String> {
    let TokenTree::Literal(literal) = token else { return None };
    let written = literal.to_string();
    if written.starts_with('r') {
        return Some(written.trim_start_matches('r').trim_matches('#').trim_matches('"').to_owned());
    }
    let inner = written.strip_prefix('"')?.strip_suffix('"')?;
    let mut lines = inner.split("\\\n");
    let first = lines.next().unwrap_or_default().to_owned();
    let joined = lines.fold(first, |text, line| text + line.trim_start());
    Some(joined.replace("\\n", "\n").replace("\\\"", "\"").replace("\\\\", "\\"))
}

/// Whether `#[cfg(test)]` stands here.
fn is_test(tokens: &[TokenTree], at: usize) -> bool {
    let TokenTree::Punct(sign) = &tokens[at] else { return false };
    let Some(TokenTree::Group(group)) = tokens.get(at + 1) else { return false };
    sign.as_char() == '#' && group.stream().to_string().replace(' ', "") == "cfg(test)"
}

/// The place behind the item that follows: its last token is a body in braces or a semicolon.
fn past_item(tokens: &[TokenTree], at: usize) -> usize {
    let ends = |token: &TokenTree| match token {
        TokenTree::Group(group) => group.delimiter() == Delimiter::Brace,
        TokenTree::Punct(sign) => sign.as_char() == ';',
        TokenTree::Ident(_) | TokenTree::Literal(_) => false,
    };
    tokens[at..].iter().position(ends).map_or(tokens.len(), |place| at + place + 1)
}

/// Whether a text may be a part of a sentence: several words, or the sign of a summary.
fn is_sentence(text: &str) -> bool {
    let letters = text.chars().filter(|c| c.is_alphabetic()).count();
    letters >= 3 && text.trim().contains(' ')
}

/// Comparisons that decide by our own sentences, each with its file.
fn wrong(files: &[(String, TokenStream)]) -> BTreeSet<(String, String)> {
    let readers: Vec<(&String, Reader)> = files
        .iter()
        .map(|(path, tokens)| {
            let mut reader = Reader::default();
            reader.stream(tokens.clone());
            (path, reader)
        })
        .collect();
    let is_ours = |text: &str| {
        is_sentence(text)
            // The catalogue of causes holds words of others.
            && readers
                .iter()
                .filter(|(path, _)| !path.starts_with("causes/"))
                .any(|(_, reader)| reader.texts.iter().any(|all| all.contains(text)))
    };
    let is_sign = |text: &str| text.starts_with("+ ") || text.starts_with("~ ");
    let mut wrong = BTreeSet::new();
    for (path, reader) in &readers {
        for Comparison { what, of_sentence } in &reader.comparisons {
            if *of_sentence || is_sign(what) || is_ours(what) {
                wrong.insert(((*path).clone(), what.clone()));
            }
        }
    }
    wrong
}

/// The files of `src` that are no tests.
fn sources(folder: &Path, files: &mut Vec<(String, TokenStream)>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        if path.is_dir() {
            if name != "tests" {
                sources(&path, files);
            }
        } else if path.extension().is_some_and(|end| end == "rs")
            && !["tests.rs", "testing.rs", "cases.rs"].contains(&name)
        {
            let root = concat!(env!("CARGO_MANIFEST_DIR"), "/src/");
            let short = path.to_str().unwrap().strip_prefix(root).unwrap().to_owned();
            files.push((short, std::fs::read_to_string(&path).unwrap().parse().unwrap()));
        }
    }
}

#[test]
fn no_logic_reads_our_own_sentences() {
    let mut files = Vec::new();
    sources(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/src")), &mut files);
    assert!(files.len() > 300, "{}", files.len());
    let found = wrong(&files);
    let fits = |(path, part, _): &(&str, &str, &str), (file, what): &(String, String)| {
        file.starts_with(path) && what.contains(part)
    };
    let left: Vec<_> = found.iter().filter(|one| !ALLOWED.iter().any(|row| fits(row, one))).collect();
    assert!(left.is_empty(), "these read sentences of ours; a type or a code is needed: {left:#?}");
    let idle: Vec<_> = ALLOWED.iter().filter(|row| !found.iter().any(|one| fits(row, one))).collect();
    assert!(idle.is_empty(), "nothing needs these any more: {idle:#?}");
}

#[test]
fn each_kind_of_comparison_is_found() {
    let sentence = "fn say() -> &'static str { \"an operator drained it\" } ";
    let found = |code: &str| wrong(&[("a.rs".to_owned(), format!("{sentence}{code}").parse().unwrap())]);
    for code in [
        "fn a(text: &str) -> bool { text.contains(\"an operator\") }",
        "fn a(text: &str) -> bool { text == \"an operator drained it\" }",
        "fn a(text: &str) -> bool { \"an operator drained it\" != text }",
        "fn a(text: &str) -> bool { matches!(text, \"x\" | \"an operator drained it\") }",
        "fn a(text: &str) -> bool { match text { \"an operator drained it\" => true, _ => false } }",
        "fn a(text: &str) -> bool { [\"operator drained\"].iter().any(|part| text.contains(part)) }",
        "fn a(text: &str) -> bool { text.starts_with(\"~ ssh\") }",
        "fn a(summary: &str) -> bool { summary.starts_with('+') }",
        "fn a(known: &Entry, text: &str) -> bool { known.said.starts_with(text) }",
        "fn a(error: &Error) -> bool { error.message().contains(\"x\") }",
    ] {
        assert_eq!(found(code).len(), 1, "{code}: {:?}", found(code));
    }
    for code in [
        "fn a(text: &str) -> bool { text.contains(\"No space left\") }",
        "fn a(kind: &str) -> bool { kind == \"operator\" }",
        "#[cfg(test)] mod tests { fn a(text: &str) -> bool { text.contains(\"an operator\") } }",
    ] {
        assert_eq!(found(code).len(), 0, "{code}: {:?}", found(code));
    }
}
