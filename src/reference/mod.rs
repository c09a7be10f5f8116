//! Reference pages from the tables in the code: for `explain`, `man` and `docs/reference/`.

mod man;
mod pages;
mod topics;

pub use man::man_pages;
pub use pages::{
    check, check_index, exit_code, exit_codes, fact, fact_index, pages, resource, resource_index,
};
pub use topics::{
    TOPICS, WIDTH, conditions, foreign_word, from_ansible, host_expressions, key, keys_index, outcome,
    outcomes, templates, topics,
};
