//! Acceptance: each host under load, each part measured and judged, and a record of it.
//!
//! ```text
//!   verify ── sanity ──┐
//!   node ── lines ─────┼──> assembly ──> judge ──> record ──> page, signature
//!   links, fabric ─────┤       ▲  floors ──┘ ▲ past
//!   collectives ───────┘       │             │
//!                 parts ───────┴── ledger ───┘
//! ```

mod assembly;
pub mod bisect;
pub mod collectives;
pub mod fabric;
pub mod floors;
pub mod judge;
pub mod links;
pub mod node;
pub mod parts;
pub mod placed;
pub mod record;
pub mod rounds;
pub mod signature;

pub use assembly::Assembly;
