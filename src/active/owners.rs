//! The owner of an address that a host says its card has: tests lead other hosts there.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

/// Addresses that one host says are its own, by its device.
pub(super) struct Claims<'a> {
    pub(super) host: &'a str,
    pub(super) addresses: Vec<(&'a str, IpAddr)>,
}

/// The reason not to go to a host, by its place: it says that it has an address which the inventory gives to another, or
/// which another says to have as well. What the inventory gives it is its own, whoever claims that.
pub(super) fn contested(
    claims: &[Claims<'_>],
    inventory: &BTreeMap<IpAddr, BTreeSet<&str>>,
) -> BTreeMap<usize, String> {
    let mut all: BTreeMap<IpAddr, BTreeSet<&str>> = inventory.clone();
    for Claims { host, addresses } in claims {
        for (_, address) in addresses {
            all.entry(*address).or_default().insert(host);
        }
    }
    let why = |Claims { host, addresses }: &Claims<'_>| {
        addresses.iter().find_map(|(device, address)| {
            if inventory.get(address).is_some_and(|owners| owners.contains(host)) {
                return None;
            }
            let others: Vec<&str> = all.get(address)?.iter().copied().filter(|other| other != host).collect();
            let others = crate::hostlist::fold(others);
            (!others.is_empty()).then(|| {
                format!("its {device} says that it has {address}, which is of {others}: no test goes there")
            })
        })
    };
    claims.iter().enumerate().filter_map(|(place, claims)| Some((place, why(claims)?))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_test_goes_where_two_hosts_say_to_be() {
        let address = |text: &str| text.parse::<IpAddr>().unwrap();
        let claims = |host, own: &[&str]| Claims {
            host,
            addresses: own.iter().map(|text| ("mlx5_0", address(text))).collect(),
        };
        let all = [
            claims("gpu0", &["10.1.0.1"]),
            claims("gpu1", &["10.1.0.2"]),
            claims("liar", &["10.1.0.2", "10.1.0.9"]),
            claims("thief", &["10.0.0.7"]),
            claims("gpu7", &["10.0.0.7"]),
        ];
        let inventory = BTreeMap::from([(address("10.0.0.7"), BTreeSet::from(["gpu7"]))]);
        let found = contested(&all, &inventory);
        assert_eq!(found.keys().copied().collect::<Vec<_>>(), [1, 2, 3]);
        assert!(found[&3].contains("10.0.0.7, which is of gpu7"), "{}", found[&3]);
        assert!(found[&1].contains("which is of liar"), "{}", found[&1]);
    }
}
