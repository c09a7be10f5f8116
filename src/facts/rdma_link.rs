//! RDMA devices by name: whether they are there and which link their port hangs on.
//!
//! Formats: our own (`src/shell/facts/rdma_link.sh`), `node_type` of sysfs (`1: CA`, `4: RNIC`), and
//! rdma-link(8): `link NAME/PORT state ACTIVE physical_state LINK_UP netdev NETDEV`.

use serde::{Deserialize, Serialize};

use super::{Answer, Answers, Query, lines};
use crate::transport::Script;

/// The first port of an RDMA device.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct RdmaLink {
    /// The link that it hangs on; `None` on InfiniBand.
    pub netdev: Option<String>,
    /// `ACTIVE`, `DOWN`, `INIT` ...
    pub state: String,
    /// Whether it speaks iWARP, as siw does, and not InfiniBand or RoCE.
    pub iwarp: bool,
}

pub(super) fn script(queries: &[Query]) -> Script {
    let names = queries.iter().filter_map(|query| {
        let Query::RdmaLink(name) = query else { return None };
        Some(name.as_str())
    });
    Script::new(crate::shell!("facts/rdma_link.sh")).args(names)
}

/// What `rdma link` says of the first port of a device.
fn port(output: &str, name: &str) -> Option<RdmaLink> {
    lines(output).find_map(|line| {
        let mut words = line.split_whitespace();
        let found = words.next() == Some("link")
            && words.next().is_some_and(|word| word == name || word.split_once('/') == Some((name, "1")));
        if !found {
            return None;
        }
        let mut link = RdmaLink::default();
        while let (Some(key), Some(value)) = (words.next(), words.next()) {
            match key {
                "state" => value.clone_into(&mut link.state),
                "netdev" => link.netdev = Some(value.to_owned()),
                _ => {}
            }
        }
        Some(link)
    })
}

pub(super) fn parse(queries: &[Query], output: &[u8], _: i32) -> Answers {
    let output = String::from_utf8_lossy(output);
    if lines(&output).last() != Some("end") {
        return Vec::new();
    }
    let tool = !lines(&output).any(|line| line == "no rdma");
    let answer = |name: &str| -> Option<Answer> {
        if !tool {
            return Some(Answer::Unknown("no `rdma` on the host: its package is iproute2".to_owned()));
        }
        if lines(&output).any(|line| line.strip_prefix("absent ") == Some(name)) {
            return Some(Answer::RdmaLink(None));
        }
        let kind = lines(&output).find_map(|line| {
            let (found, kind) = line.strip_prefix("device ")?.split_once(' ')?;
            (found == name).then_some(kind)
        })?;
        let iwarp = kind.starts_with("4:");
        Some(match port(&output, name) {
            Some(link) => Answer::RdmaLink(Some(RdmaLink { iwarp, ..link })),
            None => Answer::Unknown(format!("`rdma link` does not tell about {name}")),
        })
    };
    queries
        .iter()
        .filter_map(|query| {
            let Query::RdmaLink(name) = query else { return None };
            Some((query.clone(), answer(name)?))
        })
        .collect()
}
