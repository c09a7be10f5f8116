//! RDMA devices by name: whether they are there and which link their port hangs on.
//!
//! Formats: our own (`src/resources/rdma/rdma_link/question/rdma_link.sh`), `node_type` of sysfs (`1: CA`, `4: RNIC`), and
//! rdma-link(8): `link NAME/PORT state ACTIVE physical_state LINK_UP netdev NETDEV`.

use serde::{Deserialize, Serialize};

use crate::facts::{Answers, Family, Object, Query, Question, Touches, after, answers, lines, of_type};
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

/// An RDMA device; `None` when there is none of that name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct RdmaLinkQuery(pub String);

impl Question for RdmaLinkQuery {
    type Answer = Option<RdmaLink>;
    const FAMILY: &'static Family = FAMILY;

    fn label(&self) -> String {
        format!("rdma_link {}", self.0)
    }

    fn touched_by(&self, touches: &Touches) -> bool {
        touches.meets(&Object::Path(format!("/sys/class/infiniband/{}", self.0)))
            || touches.modules()
            || touches.units()
            || touches.packages()
    }
}

pub(crate) const FAMILY: &Family = &Family {
    tools: "`rdma`",
    chunk: 256,
    output: 4 << 10,
    ..Family::new("rdma_link", script, parse, |label| {
        Some(RdmaLinkQuery(after("rdma_link", label)?.to_owned()).into())
    })
};

fn script(queries: &[Query]) -> Script {
    let names = of_type(queries).map(|RdmaLinkQuery(name)| name.as_str());
    Script::new(crate::shell!("resources/rdma/rdma_link/question/rdma_link.sh")).args(names)
}

/// Reads the line of `rdma link` for the first port of a device.
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

fn parse(queries: &[Query], output: &str, _: i32) -> Answers {
    if lines(output).last() != Some("end") {
        return Vec::new();
    }
    let tool = !lines(output).any(|line| line == "no rdma");
    answers(queries, |RdmaLinkQuery(name)| {
        if !tool {
            return Some(Err("`rdma` is not installed: install the package iproute2".to_owned()));
        }
        if lines(output).any(|line| line.strip_prefix("absent ") == Some(name)) {
            return Some(Ok(None));
        }
        let kind = lines(output).find_map(|line| {
            let (found, kind) = line.strip_prefix("device ")?.split_once(' ')?;
            (found == name).then_some(kind)
        })?;
        let iwarp = kind.starts_with("4:");
        let link = port(output, name).map(|link| Some(RdmaLink { iwarp, ..link }));
        Some(link.ok_or_else(|| format!("`rdma link` does not show {name}")))
    })
}
