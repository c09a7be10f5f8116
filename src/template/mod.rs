//! Text templates and conditions.
//!
//! A text is tera ([`text`]), a condition is an expression of our own ([`condition`]): tera takes
//! unknown names in conditions for false, and a run must not depend on a typo. Both name every
//! path they read ([`paths`], [`condition::Condition::paths`]), which is checked against the
//! names and types a task sees ([`shape::Names`]) before anything is rendered.

pub mod condition;
mod evaluate;
pub mod expression;
pub mod filters;
mod lexer;
pub mod lookup;
pub mod package_names;
pub mod paths;
pub mod shape;
pub mod text;
mod type_check;
pub mod why;

pub use condition::Condition;
pub use lookup::{Awaited, Lookup, Missing, Unresolved};
pub use paths::PathUse;
pub use shape::{Names, Segment, Shape};
pub(crate) use text::MOST_TEXT;
pub use text::Text;
pub use why::{Refuted, refuted};
