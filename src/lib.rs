//! `provision`: N Linux machines with GPUs and RDMA NICs become a working training cluster.
//!
//! ```text
//!   inventory + playbooks (YAML) ─> typed model ─> facts ─> plan ─> execution ─> events ─> reporters
//!    config, inventory, playbook,   project        facts    plan,   engine,      events    report,
//!    template                                               resources transport            journal
//!                                                     └── `plan` and `verify` stop here
//! ```
//!
//! Left of execution everything is synchronous and pure; right of it everything only reads events.

pub mod accept;
pub mod active;
pub mod backoff;
pub mod bundle;
pub mod causes;
pub mod checks;
pub mod cli;
pub mod compare;
pub mod config;
pub mod disk;
pub mod engine;
pub mod events;
pub mod exit;
pub mod facts;
pub mod foreign;
pub mod hostlist;
pub mod init;
pub mod inventory;
pub mod journal;
pub mod lab;
pub mod launch;
pub mod placeholder;
pub mod plan;
pub mod playbook;
pub mod process;
pub mod project;
pub mod reference;
pub mod relay;
pub mod report;
pub mod resources;
pub mod scheduler;
pub mod schema;
pub mod secrets;
pub mod settings;
pub mod shell;
pub mod sources;
pub mod template;
pub mod through;
pub mod transport;
pub mod trust;
pub mod watch;
pub mod why;
pub mod words;

/// Appends formatted text to a `String`, which cannot fail.
#[macro_export]
macro_rules! put {
    ($text:expr, $($arg:tt)*) => {{
        use std::fmt::Write as _;
        let _ = write!($text, $($arg)*);
    }};
}
