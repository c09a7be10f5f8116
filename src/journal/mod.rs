//! Runs on disk: `$XDG_STATE_HOME/provision/<cluster>/<run>/events.jsonl`, one event a line, and the
//! locks that keep two runs off the same hosts.

mod acceptances;
mod fleet;
mod inventories;
mod lock;
mod log;
mod looks;
mod outages;
mod saved_state;
mod store;

pub use acceptances::{add_to_ledger, keep_acceptance, last_acceptance, ledger};
pub use fleet::{Entry, FleetRecord};
pub use inventories::Inventories;
pub use lock::{LockError, RunLock, is_alive, is_alive_anywhere, running};
pub use log::RunLog;
pub use looks::{keep_look, look_until, looks};
pub use outages::{LastOutage, Outages};
pub use saved_state::{JournalError, read_state, write_state};
pub use store::{Journal, RunInfo, cache_home, last_run, list, new_run_id, read, run_names, state_home};
