//! Cables, switches and managers of an InfiniBand fabric.
//!
//! ```text
//!   fabric.sh ── text of one host ──> read ──> Fabric ──┐
//!                                     Wanted ───────────┴──> judge ──> FabricFinding
//! ```
//!
//! One host of a fabric sees all of it, so [`SCRIPT`] runs as root on one host of each subnet. Adapters are known by
//! their GUID where [`Wanted::adapters`] has it, else by their node description, which each host says of itself: `gpu3
//! mlx5_0`. A host can claim another one's name there; a GUID is the card's.
//!
//! Without a plan of the cables most hosts are right: a device of a host goes where those of its neighbours go.

mod judge;
mod model;
mod names;
mod read;

pub use judge::{CableEnd, CableEnds, FabricFault, FabricFinding, PlannedCable, Severity, Wanted, judge};
pub use model::{
    Could, Counters, Fabric, Keys, LinkState, Manager, ManagerState, Node, NodeKind, Place, Port, Reading,
    Section, Speed, UnknownSpeed,
};
pub use read::read;

/// The shell text that prints the InfiniBand adapters of a host; it has no words.
pub const ADAPTERS: &str = crate::shell!("accept/fabric/adapters.sh");

/// Reads what [`ADAPTERS`] prints: names by node GUID.
pub fn adapters(text: &str) -> Vec<(u64, String)> {
    let adapter = |line: &str| {
        let (name, guid) = line.split_once(' ')?;
        let guid = u64::from_str_radix(&guid.replace(':', ""), 16).ok()?;
        (guid != 0).then(|| (guid, name.to_owned()))
    };
    text.lines().filter_map(adapter).collect()
}

/// The shell text that reads a fabric. Its words: seconds between the two readings of counters, seconds that each
/// program may take, and the device whose fabric it is, empty for the first one that is up.
pub const SCRIPT: &str = crate::shell!("accept/fabric/fabric.sh");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn adapters_are_known_by_their_guid() {
        let text = "mlx5_0 b83f:d203:00aa:0001\nmlx5_1 0000:0000:0000:0000\nmlx5_2\nmlx5_3 x\n";
        assert_eq!(adapters(text), [(0xb83f_d203_00aa_0001, "mlx5_0".to_owned())]);
    }
}
