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

pub mod config;
pub mod facts;
pub mod inventory;
pub mod playbook;
pub mod project;
pub mod resources;
pub mod schema;
pub mod secrets;
pub mod template;
pub mod transport;
