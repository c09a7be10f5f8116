//! Groups that grow, so that the first one that is slow is small.

use std::collections::BTreeMap;

use crate::accept::placed::{Placed, by_place};

/// Groups of 2, 4, 8, … and all hosts, each within the next.
///
/// They stay within one leaf as long as it has hosts, the largest leaf first, and then within as few as they can.
pub fn growing(hosts: &[Placed]) -> Vec<Vec<String>> {
    let mut leaves: BTreeMap<&str, Vec<&Placed>> = BTreeMap::new();
    for host in by_place(hosts).into_iter().filter_map(|index| hosts.get(index)) {
        let [leaf, ..] = host.place();
        leaves.entry(leaf).or_default().push(host);
    }
    let mut leaves: Vec<Vec<&Placed>> = leaves.into_values().collect();
    // Leaves of equal size keep their order.
    leaves.sort_by_key(|leaf| std::cmp::Reverse(leaf.len()));
    let order: Vec<String> = leaves.into_iter().flatten().map(|host| host.host.clone()).collect();
    let sizes = std::iter::successors(Some(2_usize), |size| size.checked_mul(2));
    let mut groups: Vec<Vec<String>> =
        sizes.map_while(|size| order.get(..size)).map(<[String]>::to_vec).collect();
    if order.len() > 1 && groups.last().is_none_or(|last| last.len() < order.len()) {
        groups.push(order);
    }
    groups
}
