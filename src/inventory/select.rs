//! Host expressions: `gpu[0-15] & !gpu7, rack=r3`.
//!
//! ```text
//! union        = intersection { "," intersection }
//! intersection = term { "&" term }
//! term         = "!" term | "(" union ")" | atom
//! atom         = name | host list | group | label "=" value | "all"
//!              | "@failed" | "@unreachable" | "@not-finished"
//! ```

use std::collections::{BTreeMap, BTreeSet};

use crate::config::{TextError, did_you_mean_text};
use crate::hostlist;

/// Hosts, groups and labels that host expressions are about.
#[derive(Debug, Clone, Default)]
pub struct Directory {
    /// Index of each host.
    pub hosts: BTreeMap<String, usize>,
    /// Members of each group.
    pub groups: BTreeMap<String, BTreeSet<usize>>,
    /// Hosts by label and value.
    pub labels: BTreeMap<String, BTreeMap<String, BTreeSet<usize>>>,
    /// Hosts of the last run by outcome, see [`RECORDED`]. Empty when there was none.
    pub recorded: BTreeMap<String, BTreeSet<String>>,
}

/// Names for hosts of the last run: `@failed` and so on.
pub const RECORDED: [&str; 3] = ["failed", "unreachable", "not-finished"];

/// Depth to which parentheses and complements may nest.
const MAX_DEPTH: usize = 64;

/// The hosts that an expression names; may be none.
///
/// # Errors
/// Where the text is not a host expression or names what is not there.
pub fn select(text: &str, directory: &Directory) -> Result<BTreeSet<usize>, TextError> {
    let mut parser = Parser { text, at: 0, depth: 0, directory };
    let hosts = parser.union()?;
    parser.space();
    if parser.at < text.len() {
        let message = if parser.peek() == Some(')') {
            "this parenthesis was not opened"
        } else {
            "expected `,`, `&` or the end"
        };
        return Err(TextError::new(parser.at, text.len(), message));
    }
    Ok(hosts)
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
    directory: &'a Directory,
}

impl Parser<'_> {
    fn rest(&self) -> &str {
        self.text.get(self.at..).unwrap_or("")
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn space(&mut self) {
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start().len();
    }

    fn take(&mut self, wanted: char) -> bool {
        self.space();
        let found = self.peek() == Some(wanted);
        if found {
            self.at += wanted.len_utf8();
        }
        found
    }

    fn union(&mut self) -> Result<BTreeSet<usize>, TextError> {
        let start = self.at;
        let mut hosts = self.intersection()?;
        while self.take(',') {
            let before = self.text.get(start..self.at).unwrap_or("").trim_end_matches(',').trim();
            self.space();
            // Elsewhere this takes hosts away.
            if self.peek() == Some('!') {
                let message = "behind `,` this adds every host but those that it names";
                let all = if before.contains(',') { format!("({before})") } else { before.to_owned() };
                let help = format!("to leave them out, write `{all} & {}`", self.rest());
                return Err(TextError::new(self.at, self.text.len(), message).help(&help));
            }
            hosts.append(&mut self.intersection()?);
        }
        Ok(hosts)
    }

    fn intersection(&mut self) -> Result<BTreeSet<usize>, TextError> {
        let mut hosts = self.term()?;
        while self.take('&') {
            let other = self.term()?;
            hosts.retain(|host| other.contains(host));
        }
        Ok(hosts)
    }

    fn term(&mut self) -> Result<BTreeSet<usize>, TextError> {
        self.space();
        let start = self.at;
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(TextError::new(start, self.text.len(), "this nests too deep"));
        }
        let hosts = if self.take('!') {
            let without = self.term()?;
            (0..self.directory.hosts.len()).filter(|host| !without.contains(host)).collect()
        } else if self.take('(') {
            let hosts = self.union()?;
            if !self.take(')') {
                return Err(TextError::new(start, self.text.len(), "this parenthesis is not closed"));
            }
            hosts
        } else {
            self.atom()?
        };
        self.depth -= 1;
        Ok(hosts)
    }

    fn atom(&mut self) -> Result<BTreeSet<usize>, TextError> {
        let start = self.at;
        let mut bracket = false;
        let len = self
            .rest()
            .find(|c: char| {
                match c {
                    '[' => bracket = true,
                    ']' => bracket = false,
                    _ => {}
                }
                !bracket && (c.is_whitespace() || matches!(c, ',' | '&' | '!' | '(' | ')'))
            })
            .unwrap_or(self.rest().len());
        let word = self.rest().get(..len).unwrap_or("").to_owned();
        self.at += len;
        if word.is_empty() {
            return Err(TextError::new(start, start, "a host, a group or a label is missing here"));
        }
        let end = self.at;
        if let Some(name) = word.strip_prefix('@') {
            return self.recorded(name, start, end);
        }
        if let Some((label, value)) = word.split_once('=') {
            return self.labelled(label, value, start, end);
        }
        if let Some(members) = self.directory.groups.get(&word) {
            return Ok(members.clone());
        }
        if word == "all" {
            return Ok((0..self.directory.hosts.len()).collect());
        }
        let names = hostlist::expand(&word).map_err(|error| {
            let error = error.shift(start);
            // Patterns of shells, as other tools take them.
            if word.contains(['*', '?', ':', '~']) {
                return error.help("hosts are `all`, names, ranges (`gpu[0-7]`), groups and labels (`rack=r3`); `,` adds, `&` narrows, `gpu & !gpu1` leaves one out");
            }
            error
        })?;
        let mut hosts = BTreeSet::new();
        for name in names {
            let Some(index) = self.directory.hosts.get(&name) else {
                let known = self.directory.groups.keys().chain(self.directory.hosts.keys());
                let error = TextError::new(start, end, format!("no host or group is named `{name}`"));
                // A number that no host has: a whole group is not what was meant.
                let alike = self.numbered_like(&name);
                let range = hostlist::dashed(&name).filter(|range| {
                    self.directory.hosts.contains_key(&format!("{}{}", range.stem, range.first))
                });
                let help = if let Some(range) = range {
                    Some(format!("did you mean `{range}`?"))
                } else if alike.is_empty() {
                    did_you_mean_text(&name, known.map(String::as_str))
                } else {
                    Some(format!("there is `{}`", hostlist::fold(alike)))
                };
                return Err(TextError { help, ..error });
            };
            hosts.insert(*index);
        }
        Ok(hosts)
    }

    /// Hosts that are called as a name is, but for their number.
    fn numbered_like(&self, name: &str) -> Vec<&str> {
        let own = hostlist::stem(name);
        if own == name {
            return Vec::new();
        }
        self.directory
            .hosts
            .keys()
            .map(String::as_str)
            .filter(|host| *host != own && hostlist::stem(host) == own)
            .collect()
    }

    fn recorded(&self, name: &str, start: usize, end: usize) -> Result<BTreeSet<usize>, TextError> {
        if !RECORDED.contains(&name) {
            let error = TextError::new(start, end, format!("`@{name}` is not known"));
            let known = RECORDED.map(|name| format!("@{name}"));
            let is_plain =
                self.directory.groups.contains_key(name) || self.directory.hosts.contains_key(name);
            let plain = is_plain.then(|| format!("write `{name}`: `@` is for hosts of the last run"));
            let near = || did_you_mean_text(&format!("@{name}"), known.iter().map(String::as_str));
            return Err(TextError { help: plain.or_else(near), ..error });
        }
        let Some(names) = self.directory.recorded.get(name) else {
            return Err(TextError::new(start, end, format!("there is no earlier run for `@{name}`")));
        };
        Ok(names.iter().filter_map(|name| self.directory.hosts.get(name).copied()).collect())
    }

    fn labelled(
        &self,
        label: &str,
        value: &str,
        start: usize,
        end: usize,
    ) -> Result<BTreeSet<usize>, TextError> {
        if let Some(value) = value.strip_prefix('=') {
            let error = TextError::new(start, end, "a label and its value stand around one `=`");
            return Err(error.help(format!("write `{label}={value}`")));
        }
        let Some(values) = self.directory.labels.get(label) else {
            let error = TextError::new(start, end, format!("no host has the label `{label}`"));
            let known = self.directory.labels.keys().map(String::as_str);
            return Err(TextError { help: did_you_mean_text(label, known), ..error });
        };
        let wanted = if value.contains('[') {
            hostlist::expand(value).map_err(|error| error.shift(start + label.len() + 1))?
        } else {
            vec![value.to_owned()]
        };
        let mut hosts = BTreeSet::new();
        for value in wanted {
            let Some(found) = values.get(&value) else {
                let error = TextError::new(start, end, format!("no host has the label `{label}={value}`"));
                let known = values.keys().map(String::as_str);
                return Err(TextError { help: did_you_mean_text(&value, known), ..error });
            };
            hosts.extend(found);
        }
        Ok(hosts)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn directory() -> Directory {
        let mut directory = Directory::default();
        for index in 0..8 {
            directory.hosts.insert(format!("gpu{index}"), index);
        }
        directory.hosts.insert("login0".to_owned(), 8);
        directory.groups.insert("gpu".to_owned(), (0..8).collect());
        directory.groups.insert("a100".to_owned(), (0..4).collect());
        let racks = directory.labels.entry("rack".to_owned()).or_default();
        racks.insert("r1".to_owned(), BTreeSet::from([0, 1]));
        racks.insert("r2".to_owned(), BTreeSet::from([2, 3]));
        directory
            .recorded
            .insert("failed".to_owned(), BTreeSet::from(["gpu3".to_owned(), "gone".to_owned()]));
        directory
            .recorded
            .insert("not-finished".to_owned(), BTreeSet::from(["gpu5".to_owned(), "gpu6".to_owned()]));
        directory
    }

    #[test]
    fn expressions() {
        for (text, want) in [
            ("gpu0", "0"),
            ("gpu & !gpu[1-7]", "0"),
            ("gpu[0-3] & !gpu1, login0", "0 2 3 8"),
            ("!(gpu)", "8"),
            ("!gpu", "8"),
            ("rack=r1", "0 1"),
            ("rack=r[1-2] & !rack=r1", "2 3"),
            ("a100 & (gpu0, gpu7)", "0"),
            ("@failed", "3"),
            ("@not-finished", "5 6"),
            ("@failed,@not-finished", "3 5 6"),
            ("@not-finished & !gpu5", "6"),
            ("all & !gpu", "8"),
            ("gpu & login0", ""),
        ] {
            let hosts = select(text, &directory()).unwrap();
            let got: Vec<String> = hosts.iter().map(ToString::to_string).collect();
            assert_eq!(got.join(" "), want, "{text}");
        }
    }

    #[test]
    fn mistakes() {
        for (text, start, message) in [
            ("gpu9", 0, "no host or group is named `gpu9`"),
            ("a10", 0, "no host or group"),
            ("gpu0 gpu1", 5, "expected"),
            ("(gpu0", 0, "not closed"),
            ("gpu0)", 4, "not opened"),
            ("gpu0,", 5, "missing"),
            ("rack=r9", 0, "rack=r9"),
            ("rak=r1", 0, "label `rak`"),
            ("@unreachable", 0, "no earlier run"),
            ("@fail", 0, "`@fail`"),
            ("gpu, !gpu1", 5, "adds every host but those"),
            ("@not_started", 0, "`@not_started`"),
            ("gpu[0-", 3, "not closed"),
        ] {
            let error = select(text, &directory()).unwrap_err();
            assert_eq!(error.start, start, "{text}: {error:?}");
            assert!(error.message.contains(message), "{text}: {error:?}");
        }
        assert_eq!(select("a10", &directory()).unwrap_err().help.unwrap(), "did you mean `a100`?");
        let help = |text: &str| select(text, &directory()).unwrap_err().help.unwrap();
        assert_eq!(help("@faild"), "did you mean `@failed`?");
        assert_eq!(help("gpu,!gpu1"), "to leave them out, write `gpu & !gpu1`");
        assert_eq!(help("gpu, login0,!gpu1"), "to leave them out, write `(gpu, login0) & !gpu1`");
        // Not the group `gpu`: that would be all of them.
        assert_eq!(select("gpu0-3", &directory()).unwrap_err().help.unwrap(), "did you mean `gpu[0-3]`?");
        assert_eq!(select("gpu99", &directory()).unwrap_err().help.unwrap(), "there is `gpu[0-7]`");
    }

    proptest! {
        #[test]
        fn no_text_panics(text in "[gpu0-9\\[\\],&!()=@ -]{0,24}|\\PC{0,16}") {
            drop(select(&text, &directory()));
        }
    }
}
