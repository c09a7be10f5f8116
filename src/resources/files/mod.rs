//! Files, directories and what is mounted.

pub mod archive;
pub mod copy;
pub mod directory;
pub mod download;
pub mod fetch;
pub mod file;
pub mod line;
pub mod mount;
pub mod render;
pub mod symlink;
pub mod template;
