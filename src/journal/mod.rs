//! Runs on disk: `$XDG_STATE_HOME/provision/<cluster>/<run>/events.jsonl`, one event a line, and the
//! locks that keep two runs off the same hosts.

mod fleet;
mod inventories;
mod kept;
mod lock;
mod log;
mod outages;
mod store;

pub use fleet::{Entry, FleetRecord};
pub use inventories::Inventories;
pub use kept::{JournalError, read_state, write_state};
pub use lock::{LockError, RunLock, is_alive, is_alive_anywhere, running};
pub use log::RunLog;
pub use outages::{LastOutage, Outages};
pub use store::{Journal, RunInfo, cache_home, last_run, list, new_run_id, read, run_names, state_home};
