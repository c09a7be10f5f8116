//! Users, groups, keys that may log in, limits.

pub mod authorized_key;
pub mod group;
pub mod limits;
pub mod user;
