//! One file per command.

pub mod apply;
pub mod exec;
pub mod explain;
pub mod facts;
pub mod generate;
pub mod init;
pub mod inventory;
pub mod lab;
pub mod load;
pub mod plan;
pub mod playbook;
pub mod report;
pub mod trust;
pub mod validate;
pub mod verify;
