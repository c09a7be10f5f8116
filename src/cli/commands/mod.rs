//! One file per command.

pub(super) mod apply;
pub(super) mod bundle;
pub(super) mod carried;
pub(super) mod exec;
pub(super) mod explain;
pub(super) mod facts;
pub(super) mod generate;
pub(super) mod here;
pub(super) mod import;
pub(super) mod init;
pub(super) mod inventory;
pub(super) mod key_files;
pub(super) mod lab;
pub(super) mod load;
pub(super) mod logins;
mod made;
pub(super) mod matrix;
pub(super) mod plan;
pub(super) mod playbook;
pub(super) mod report;
pub(super) mod self_check;
pub(super) mod through;
pub(super) mod trust;
pub(super) mod unlock;
pub(super) mod validate;
pub(super) mod verify;
pub(super) mod watch;
