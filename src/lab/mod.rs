//! Throw-away hosts: one container with systemd and sshd, or one virtual machine, per host of an
//! inventory.
//!
//! ```text
//!   LabSpec ── up ──> image (base.sh, image.sh; cached by the digest of its recipe)
//!                     network, client key
//!                     one container per host (node.sh) ── host keys ──> known_hosts
//!                     state.json, ssh_config  ── overlay ──> addresses, keys, become
//! ```
//!
//! Everything that a lab owns carries a hash of its inventory's canonical path: containers,
//! network and ports, so that two clones live side by side, and its folder under the state
//! directory. What runs is asked of the engine, never remembered. Virtual machines are in `vm`.

mod apt;
mod deploy;
mod engine;
pub mod fault;
mod files;
mod image;
pub mod matrix;
mod mirror;
mod node;
pub mod profile;
mod restart;
mod spec;
mod state;
mod vm;

/// Message about what this machine lacks for a lab, and how to get it.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct Lacking(String);

/// The kinds of lab, with what makes each possible on this machine; why it is not.
pub fn wants() -> [(&'static str, anyhow::Result<String>); 2] {
    let containers = engine::Engine::find().map(|engine| format!("{} answers", engine.program));
    [
        ("containers of a lab", containers),
        ("machines of a lab", vm::find().map(|()| "qemu is there".to_owned())),
    ]
}

pub use deploy::{break_host, break_hosts, down, overlay, status, up};
pub use restart::restart;
pub use spec::{
    Coreutils, LabFamily, LabHost, LabKind, LabRelease, LabSettings, LabSpec, LabUser, SudoKind, SudoProgram,
};
pub use state::{LabHostState, LabState, MirrorState};
