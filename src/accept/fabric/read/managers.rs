//! Managers from `sminfo`, and partition keys from `smpquery`.

use std::collections::{BTreeMap, BTreeSet};

use super::super::model::{Fabric, Keys, Manager, ManagerState, NodeKind, Place};
use super::words::guid;

/// Puts managers into the fabric. Between `named` and `others` stands the one that the asking host's port names.
pub(super) fn read(lines: &[&str], fabric: &mut Fabric) {
    let mut is_named = false;
    for line in lines {
        is_named = *line == "named" || is_named && *line != "others";
        let Some(found) = manager(line, is_named) else { continue };
        match fabric.managers.iter_mut().find(|known| known.guid == found.guid) {
            // What it is now: a manager may change while it is asked.
            Some(known) => known.state = found.state,
            None => fabric.managers.push(found),
        }
    }
}

/// A line such as `sminfo: sm lid 1 sm guid 0xb8cef60300001001, activity count 85 priority 0 state 3 SMINFO_MASTER`.
fn manager(line: &str, is_named: bool) -> Option<Manager> {
    let words: Vec<&str> =
        line.strip_prefix("sminfo: ")?.split([' ', ',']).filter(|word| !word.is_empty()).collect();
    let behind = |name: &str| {
        let at = words.iter().position(|word| *word == name)?;
        words.get(at + 1).copied()
    };
    let state = match behind("state")? {
        "0" => ManagerState::Inactive,
        "1" => ManagerState::Discovering,
        "2" => ManagerState::Standby,
        "3" => ManagerState::Master,
        _ => return None,
    };
    Some(Manager {
        lid: behind("lid")?.parse().ok()?,
        guid: guid(behind("guid")?)?,
        priority: behind("priority")?.parse().ok()?,
        state,
        is_named,
    })
}

/// Puts keys into the fabric: lines such as `3 0xffff 0x8001 0x0000`, or `3 !1` for a port that did not answer.
pub(super) fn read_keys(lines: &[&str], fabric: &mut Fabric) {
    let adapter = |place: &Place| fabric.is(place.node, NodeKind::Adapter);
    let places: BTreeMap<u32, Place> = fabric
        .ports
        .iter()
        .filter(|(place, port)| port.lid != 0 && adapter(place))
        .map(|(place, port)| (port.lid, *place))
        .collect();
    let mut found: BTreeMap<Place, Keys> = BTreeMap::new();
    for line in lines {
        let Some((lid, rest)) = line.split_once(' ') else { continue };
        let Some(place) = lid.parse().ok().and_then(|lid: u32| places.get(&lid)) else { continue };
        if rest.starts_with('!') {
            found.insert(*place, Keys::Unread);
            continue;
        }
        let hexadecimal = |word: &str| u16::from_str_radix(word.strip_prefix("0x")?, 16).ok();
        let new = rest.split_whitespace().filter_map(hexadecimal).filter(|key| *key != 0);
        match found.entry(*place).or_insert_with(|| Keys::Read(BTreeSet::new())) {
            Keys::Read(keys) => keys.extend(new),
            Keys::Unread => {}
        }
    }
    fabric.keys.extend(found);
}
