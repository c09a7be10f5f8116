//! One file per command.

pub(super) mod accept;
pub(super) mod apply;
pub(super) mod bundle;
pub(super) mod compare;
pub(super) mod exec;
pub(super) mod explain;
pub(super) mod facts;
pub(super) mod generate;
pub(super) mod import;
pub(super) mod init;
pub(super) mod inventory;
pub(super) mod lab;
pub(super) mod logins;
pub(super) mod matrix;
pub(super) mod parts;
pub(super) mod plan;
pub(super) mod playbook;
pub(super) mod report;
pub(super) mod self_check;
pub(super) mod trust;
pub(super) mod unlock;
pub(super) mod validate;
pub(super) mod verify;
pub(super) mod watch;
pub(super) mod why;
