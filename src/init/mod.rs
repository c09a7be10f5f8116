//! `provision init`: from a list of hosts to a commented inventory that works.
//!
//! ```text
//!   first_login   a login by password, which leaves the key of this controller
//!   words         hosts as they are typed
//!   inventory     the inventory as text
//!   explore       hosts as their logins see them
//! ```

mod explore;
mod first_login;
mod inventory;
mod words;

pub use explore::{Found, Problem, Root, explore};
pub use first_login::FirstLogin;
pub use inventory::{inventory, kinds_of};
pub use words::{Typed, hosts};
