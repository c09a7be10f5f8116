//! Mode, owner and group of files and directories.

use crate::facts::Object;
use crate::facts::file::Attributes;
use crate::resources::shared::value::{FileMode, Principal, ownership};
use crate::resources::{Attribute, Change, Detail};
use crate::transport::Script;

/// Lists what differs in mode, owner and group.
pub(in crate::resources) fn attribute_changes(
    found: &Attributes,
    mode: Option<FileMode>,
    owner: Option<&Principal>,
    group: Option<&Principal>,
) -> Vec<Attribute> {
    let mut changes = Vec::new();
    if let Some(mode) = mode.filter(|mode| mode.0 != found.mode) {
        let before = FileMode(found.mode).to_string();
        changes.push(Attribute::new("mode", Some(&before), Some(&mode.to_string())));
    }
    if let Some(owner) = owner.filter(|owner| !owner.is(&found.owner, found.uid)) {
        changes.push(Attribute::new("owner", Some(&named(&found.owner, found.uid)), Some(&owner.0)));
    }
    if let Some(group) = group.filter(|group| !group.is(&found.group, found.gid)) {
        changes.push(Attribute::new("group", Some(&named(&found.group, found.gid)), Some(&group.0)));
    }
    changes
}

/// `stat` says `UNKNOWN` where a number has no name.
fn named(name: &str, number: u32) -> String {
    if name == "UNKNOWN" { number.to_string() } else { name.to_owned() }
}

/// `mode 0600 -> 0644`.
pub(in crate::resources) fn describe(attribute: &Attribute) -> String {
    let text = |value: &Option<String>| value.clone().unwrap_or_else(|| "none".to_owned());
    format!("{} {} -> {}", attribute.name, text(&attribute.before), text(&attribute.after))
}

/// The change that only sets mode and owner, when one is due.
pub(in crate::resources) fn attributes_change(
    path: &str,
    found: &Attributes,
    mode: Option<FileMode>,
    owner: Option<&Principal>,
    group: Option<&Principal>,
) -> Option<Change> {
    let changes = attribute_changes(found, mode, owner, group);
    if changes.is_empty() {
        return None;
    }
    let owners = changes.iter().any(|change| change.name != "mode");
    // A change of owner drops setuid and setgid, so the mode is set again.
    let mode = mode.unwrap_or(FileMode(found.mode));
    Some(Change::new(
        Object::Path(path.to_owned()),
        format!("~ {path} ({})", changes.iter().map(describe).collect::<Vec<_>>().join(", ")),
        Detail::Attributes(changes),
        Script::new(crate::shell!("shell/reach.sh", "resources/shared/attributes.sh"))
            .named("path", path)
            .named("mode", mode.to_string())
            .named("ownership", if owners { ownership(owner, group) } else { String::new() })
            .named("owner", owner.map_or_else(|| found.uid.to_string(), |owner| owner.0.clone())),
    ))
}
