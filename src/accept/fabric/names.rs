//! Names in the order in which people count, and what switches and hosts are called.

use std::collections::BTreeMap;

/// A name as pieces of letters and numbers: `gpu2` comes before `gpu10`.
pub(super) type Counted = Vec<(String, Option<u64>)>;

/// Takes a name apart.
pub(super) fn counted(name: &str) -> Counted {
    let mut pieces = vec![(String::new(), None)];
    let mut rest = name;
    while !rest.is_empty() {
        let letters = rest.find(|letter: char| letter.is_ascii_digit()).unwrap_or(rest.len());
        let (text, after) = rest.split_at(letters);
        let digits = after.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(after.len());
        let (number, after) = after.split_at(digits);
        let number = if number.is_empty() { None } else { Some(number.parse().unwrap_or(u64::MAX)) };
        pieces.push((text.to_ascii_lowercase(), number));
        rest = after;
    }
    pieces
}

/// The name of a switch in its description: `leaf1` of `MF0;leaf1:MQM9700/U1`.
pub(super) fn switch(description: &str) -> &str {
    let inner = description.strip_prefix("MF0;").and_then(|rest| rest.split_once(':'));
    inner.map_or(description, |(name, _)| name)
}

/// The host and the device in the description of an adapter: `gpu3` and `mlx5_0` of `gpu3 mlx5_0`.
pub(super) fn adapter(description: &str) -> Option<(&str, &str)> {
    let (host, device) = description.trim().split_once(char::is_whitespace)?;
    let device = device.trim();
    (!device.is_empty()).then_some((host, device))
}

/// A number with what there are so many of: `1 host`, `2 hosts`.
pub(super) fn many(number: usize, one: &str, more: &str) -> String {
    if number == 1 { format!("1 {one}") } else { format!("{number} {more}") }
}

/// Hosts by their names. One name may have its domain behind it, and the other may not.
#[derive(Debug)]
pub(super) struct Hosts<'a> {
    whole: BTreeMap<String, &'a str>,
    /// Names that have a domain, without it.
    short: BTreeMap<String, &'a str>,
}

impl<'a> Hosts<'a> {
    pub(super) fn new(names: &'a [String]) -> Self {
        let mut hosts = Self { whole: BTreeMap::new(), short: BTreeMap::new() };
        for name in names {
            let lower = name.to_ascii_lowercase();
            if let Some((short, _)) = lower.split_once('.') {
                hosts.short.entry(short.to_owned()).or_insert(name);
            }
            hosts.whole.entry(lower).or_insert(name);
        }
        hosts
    }

    /// Finds the name of a host as it is wanted.
    pub(super) fn find(&self, name: &str) -> Option<&'a str> {
        let lower = name.to_ascii_lowercase();
        let found = self.whole.get(&lower).or_else(|| match lower.split_once('.') {
            Some((short, _)) => self.whole.get(short),
            None => self.short.get(&lower),
        });
        found.copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_in_the_order_of_their_numbers() {
        let mut names = ["gpu10", "gpu2", "GPU1", "gpu", "rack2-gpu1", "rack10-gpu1", ""];
        names.sort_by_key(|name| counted(name));
        assert_eq!(names, ["", "gpu", "GPU1", "gpu2", "gpu10", "rack2-gpu1", "rack10-gpu1"]);
        assert_eq!(
            counted("x99999999999999999999"),
            [(String::new(), None), ("x".to_owned(), Some(u64::MAX))]
        );
    }

    #[test]
    fn descriptions_have_names() {
        assert_eq!(switch("MF0;r-ufm-sw95:MQM8700/U1"), "r-ufm-sw95");
        assert_eq!(switch("leaf1"), "leaf1");
        assert_eq!(adapter("r-dcs96 HCA-1"), Some(("r-dcs96", "HCA-1")));
        assert_eq!(adapter("MT25408"), None);
        assert_eq!(adapter("gpu1 "), None);
    }

    #[test]
    fn a_host_may_have_its_domain_behind_its_name() {
        let names = ["gpu1".to_owned(), "gpu2.example.org".to_owned()];
        let hosts = Hosts::new(&names);
        assert_eq!(hosts.find("GPU1"), Some("gpu1"));
        assert_eq!(hosts.find("gpu1.example.org"), Some("gpu1"));
        assert_eq!(hosts.find("gpu2"), Some("gpu2.example.org"));
        assert_eq!(hosts.find("gpu2.example.com"), None);
        assert_eq!(hosts.find("gpu11"), None);
        assert_eq!(hosts.find(""), None);
    }
}
