//! Host keys: seen over our own connections, judged, and recorded in files of host keys.
//!
//! ```text
//!   judged      keys that were seen, and what to say of each
//!   contact     hosts as they are seen with whatever key they show
//!   key_files   files that keys are recorded in
//!   key         one key, and how it is judged
//! ```

mod contact;
mod judged;
mod key;
mod key_files;

pub use contact::{Contact, look};
pub use judged::{Judged, judged};
pub use key::{HostKey, KeyState, Recorded};
pub use key_files::{Entry, append, held, names};
