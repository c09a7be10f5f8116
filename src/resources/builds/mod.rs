//! Software that is built from source, and its way to every host.

pub mod build;
pub mod build_once;
pub mod distribute;
pub mod git;
pub mod hostfile;
pub mod library_path;
