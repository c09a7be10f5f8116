//! Reference pages from the tables in the code: for `explain` and `docs/reference/`.

mod pages;
mod topics;

pub use pages::{
    check, check_index, exit_code, exit_codes, fact, fact_index, pages, resource, resource_index,
};
pub use topics::{TOPICS, conditions, foreign_word, from_ansible, key, keys_index, templates, topics};
