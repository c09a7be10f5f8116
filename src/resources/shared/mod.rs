//! Parts that several resources share.

pub(in crate::resources) mod attributes;
pub mod check;
pub(in crate::resources) mod content;
pub(in crate::resources) mod known;
pub mod login;
pub(in crate::resources) mod next_boot;
pub mod roster;
pub mod value;
