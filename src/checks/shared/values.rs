//! Values of several devices or versions held against each other.

/// The value that more than half of them have.
pub(in crate::checks) fn majority<T: Ord + Clone>(values: impl Iterator<Item = T>) -> Option<T> {
    let mut counts = std::collections::BTreeMap::new();
    let mut all = 0_usize;
    for value in values {
        all += 1;
        *counts.entry(value).or_insert(0_usize) += 1;
    }
    counts.into_iter().find(|(_, count)| count * 2 > all).map(|(value, _)| value)
}

/// Whether a version is the wanted one: whole, or its first parts.
pub(in crate::checks) fn fits(seen: &str, wanted: &str) -> bool {
    let rest = seen.strip_prefix(wanted);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}
