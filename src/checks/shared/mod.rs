//! Building blocks of checks.

pub(super) mod acknowledged;
pub(super) mod baseline;
pub(super) mod clock;
pub(super) mod compare;
pub(super) mod comparison;
pub(super) mod evaluate;
pub(super) mod gpudirect;
pub(super) mod log;
pub(super) mod models;
pub(super) mod subject;
pub(super) mod values;
pub(super) mod verdict;
