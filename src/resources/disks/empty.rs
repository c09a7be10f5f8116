//! Conditions that must hold before anything is written to a disk.

use crate::facts::block::{Block, BlockQuery};
use crate::facts::{Facts, Object};
use crate::resources::Unplannable;
use crate::resources::shared::known;

/// Returns what is known of a device.
pub(super) fn device<'a>(facts: &'a Facts, path: &str) -> Result<&'a Block, Unplannable> {
    let object = Object::Path(path.to_owned());
    let found = known::answer(facts, &BlockQuery(path.to_owned()), &object)?;
    found.as_ref().ok_or_else(|| Unplannable::Missing(object, format!("there is no block device {path}")))
}

/// Refuses a device that is not empty: nothing here ever overwrites.
pub(super) fn refuse_full(path: &str, block: &Block) -> Result<(), Unplannable> {
    let Some(content) = block.content() else { return Ok(()) };
    let used = block.swap || !block.mounts.is_empty() || !block.holders.is_empty();
    let empty = if used { String::new() } else { empty_by_hand(path) };
    Err(Unplannable::Failed(format!("{path} {content}, and what may hold data is not overwritten{empty}")))
}

/// Advises how to empty a disk that nobody needs.
pub(super) fn empty_by_hand(path: &str) -> String {
    format!("; where nobody needs it, empty it by hand: `wipefs --all {path} && blkdiscard --zeroout {path}`")
}

/// Refuses a host without a tool.
pub(super) fn need(block: &Block, tool: &str, package: &str) -> Result<(), Unplannable> {
    if block.tools.contains(tool) {
        return Ok(());
    }
    let text = format!("{tool} is missing: install {package}");
    Err(Unplannable::Missing(Object::Path(format!("/usr/sbin/{tool}")), text))
}

/// A size as disks are sold: `3.84 TB`.
pub(super) fn size(bytes: u64) -> String {
    let units = [("TB", 1_000_000_000_000_u64), ("GB", 1_000_000_000), ("MB", 1_000_000)];
    let (unit, one) = units.into_iter().find(|(_, one)| bytes >= *one).unwrap_or(("kB", 1000));
    let hundredths = bytes / (one / 100).max(1);
    format!("{}.{:02} {unit}", hundredths / 100, hundredths % 100)
}
