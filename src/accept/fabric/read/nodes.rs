//! Nodes and cables from `ibnetdiscover`.

use super::super::model::{Fabric, Node, NodeKind, Place, Port, Speed};
use super::words::{between, guid};

/// Puts them into the fabric.
pub(super) fn read(lines: &[&str], fabric: &mut Fabric) {
    // The line before a switch has the GUID of its port 0: `switchguid=0x…(…)`.
    let mut port_guid = None;
    let mut node = None;
    for line in lines {
        if line.is_empty() {
            node = None;
        } else if let Some(rest) = line.strip_prefix("switchguid=") {
            port_guid = between(rest, "(", ")").and_then(|(inner, _)| guid(inner));
        } else if line.starts_with('[') {
            if let Some(node) = node {
                cable(line, node, fabric);
            }
        } else if let Some((found, mut read)) = header(line) {
            node = Some(found);
            let place = Place { node: found, port: 0 };
            if read.kind == NodeKind::Switch {
                fabric.owners.insert(port_guid.take().unwrap_or(found), place);
                fabric.ports.entry(place).or_default().lid = lid(&mut read.description);
            }
            fabric.nodes.insert(found, read);
        }
    }
}

/// A line such as `Switch 40 "S-b8cef60300000100"  # "leaf1" enhanced port 0 lid 2 lmc 0`.
fn header(line: &str) -> Option<(u64, Node)> {
    let (word, rest) = line.split_once(char::is_whitespace)?;
    let kind = match word {
        "Switch" => NodeKind::Switch,
        "Ca" => NodeKind::Adapter,
        "Rt" => NodeKind::Router,
        _ => return None,
    };
    let ports = rest.split_whitespace().next()?.parse().ok()?;
    let (name, rest) = between(rest, "\"", "\"")?;
    let (_, comment) = rest.split_once("# \"")?;
    // What stands behind the description of a switch is taken off by `lid`.
    let description = match kind {
        NodeKind::Switch => comment,
        NodeKind::Adapter | NodeKind::Router => comment.rsplit_once('"').map_or(comment, |(text, _)| text),
    };
    let node = Node { kind, description: description.trim().to_owned(), ports };
    Some((guid(name.split_once('-')?.1)?, node))
}

/// Takes `" enhanced port 0 lid 2 lmc 0` off a switch's description and returns the number.
fn lid(description: &mut String) -> u32 {
    let Some(at) = description.rfind('"') else { return 0 };
    let rest = description.split_off(at);
    *description = description.trim_end().to_owned();
    let number = rest.split_once(" lid ").and_then(|(_, rest)| rest.split_whitespace().next());
    number.and_then(|number| number.parse().ok()).unwrap_or(0)
}

/// A line of a switch or of an adapter:
/// `[1] "H-b8cef60300001000"[1](b8cef60300001001)   # "gpu1 mlx5_0" lid 1 4xHDR`,
/// `[1](b8cef60300001001)  "S-b8cef60300000100"[1]  # lid 1 lmc 0 "leaf1" lid 2 4xHDR`.
fn cable(line: &str, node: u64, fabric: &mut Fabric) -> Option<()> {
    let (number, rest) = between(line, "[", "]")?;
    let place = Place { node, port: number.parse().ok()? };
    let (own, rest) = rest.split_once('"')?;
    let (name, rest) = rest.split_once('"')?;
    let (far, comment) = rest.split_once('#')?;
    let (number, _) = between(far, "[", "]")?;
    let peer = Place { node: guid(name.split_once('-')?.1)?, port: number.parse().ok()? };
    let port = fabric.ports.entry(place).or_default();
    port.peer = Some(peer);
    rate(comment, port);
    if let Some(owner) = between(own, "(", ")").and_then(|(inner, _)| guid(inner)) {
        fabric.owners.insert(owner, place);
        let number =
            comment.trim_start().strip_prefix("lid ").and_then(|rest| rest.split_whitespace().next());
        port.lid = number.and_then(|number| number.parse().ok()).unwrap_or(0);
    }
    Some(())
}

/// Width and speed behind the last ` lid N`: `4xHDR`.
fn rate(comment: &str, port: &mut Port) {
    let Some((_, rest)) = comment.rsplit_once(" lid ") else { return };
    let Some((width, speed)) = rest.split_whitespace().nth(1).and_then(|word| word.split_once('x')) else {
        return;
    };
    port.width = width.parse().ok();
    port.speed = speed.parse::<Speed>().ok();
}
