//! Output of the tools about a link's quality of service: `mlnx_qos -i LINK` (Mellanox/mlnx-tools) and
//! dcb-pfc(8) `show`.

use std::collections::BTreeMap;

use super::bounds::{DSCPS, PRIORITIES, number};

/// Values that `mlnx_qos` shows; `None` where it shows none.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Classes {
    /// `pcp` or `dscp`.
    pub(super) trust: Option<String>,
    /// Priorities with flow control.
    pub(super) pfc: Option<Vec<u8>>,
    /// Priorities of DSCPs; told only while DSCP is trusted, and nothing where it is not.
    pub(super) dscp: Option<BTreeMap<u8, u8>>,
}

/// Reads what `mlnx_qos -i LINK` prints.
pub(super) fn mlnx_qos(text: &str) -> Classes {
    let mut classes = Classes::default();
    for line in text.lines().map(str::trim) {
        if let Some(trust) = line.strip_prefix("Priority trust state:") {
            classes.trust = Some(trust.trim().to_owned());
            classes.dscp.get_or_insert_default();
        } else if let Some(flags) = line.strip_prefix("enabled") {
            let flags: Vec<&str> = flags.split_whitespace().collect();
            let told = flags.len() == 8 && flags.iter().all(|flag| matches!(*flag, "0" | "1"));
            classes.pfc = told.then(|| on((0..).zip(flags), "1"));
        } else if let Some((priority, dscps)) =
            line.strip_prefix("prio:").and_then(|rest| rest.split_once(" dscp:"))
        {
            let Some(priority) = number(priority.trim(), &PRIORITIES) else { continue };
            let dscps = dscps.split(',').filter_map(|dscp| number(dscp.trim(), &DSCPS));
            classes.dscp.get_or_insert_default().extend(dscps.map(|dscp| (dscp, priority)));
        }
    }
    classes
}

/// The priorities with flow control in `prio-pfc 0:off 1:off 2:off 3:on ...`; `pg-pfc` of older ones.
pub(super) fn dcb_pfc(text: &str) -> Option<Vec<u8>> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let start = words.iter().position(|word| matches!(*word, "prio-pfc" | "pg-pfc"))?;
    let states: Vec<(u8, &str)> = words
        .iter()
        .skip(start + 1)
        .map_while(|word| {
            let (priority, state) = word.split_once(':')?;
            Some((number(priority, &PRIORITIES)?, state))
        })
        .collect();
    (states.len() == 8).then(|| on(states, "on"))
}

fn on<'a>(states: impl IntoIterator<Item = (u8, &'a str)>, word: &str) -> Vec<u8> {
    states.into_iter().filter(|(_, state)| *state == word).map(|(priority, _)| priority).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn priorities() {
        let text = "DCBX mode: OS controlled\nPriority trust state: pcp\ndefault priority: 0\nPFC configuration:\n\tpriority    0   1   2   3   4   5   6   7\n\tenabled     0   0   0   1   0   1   0   0   \n";
        let classes = mlnx_qos(text);
        assert_eq!((classes.trust.as_deref(), classes.pfc), (Some("pcp"), Some(vec![3, 5])));
        assert_eq!(classes.dscp, Some(BTreeMap::new()));
        assert_eq!(mlnx_qos("Netlink failed"), Classes::default());
        assert_eq!(mlnx_qos("\tenabled     0   0   0   1\n").pfc, None);
        let text =
            "pfc-cap 8 macsec-bypass off delay 0\nprio-pfc 0:off 1:off 2:off 3:on 4:off 5:off 6:off 7:off\n";
        assert_eq!(dcb_pfc(text), Some(vec![3]));
        assert_eq!(dcb_pfc("Attribute read: Operation not supported"), None);
    }
}
