//! What is built from source, and how it reaches every host.

pub mod build;
pub mod build_once;
pub mod distribute;
pub mod git;
pub mod hostfile;
pub mod library_path;
