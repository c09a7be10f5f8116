//! Reference pages from the tables in the code: for `explain`, `man` and `docs/reference/`.

mod man;
mod pages;
mod symptoms;
mod topics;
mod versions;

pub use man::man_pages;
pub use pages::{
    WIDTH, check, check_index, exit_code, exit_codes, fact, fact_index, resource, resource_index,
};
use serde_json::Value as Json;
pub use symptoms::symptom;
pub use topics::{
    TOPICS, conditions, foreign_word, from_ansible, host_expressions, key, keys_index, outcome, outcomes,
    templates, topics,
};
pub use versions::outdated;

/// All pages and schemas by file name. `command` is the whole command line.
///
/// # Errors
/// When a schema cannot be written as JSON.
pub fn pages(command: clap::Command) -> Result<Vec<(&'static str, String)>, serde_json::Error> {
    let pretty = |schema: &Json| Ok(serde_json::to_string_pretty(schema)? + "\n");
    Ok(vec![
        ("checks.md", pages::check_page()),
        ("cli.md", pages::cli(command)),
        ("exit-codes.md", format!("{}{}", pages::GENERATED, exit_codes())),
        ("facts.md", pages::fact_page()),
        ("from-ansible.md", format!("{}{}", pages::GENERATED, from_ansible())),
        ("host-expressions.md", format!("{}{}", pages::GENERATED, host_expressions())),
        ("inventory.md", pages::inventory()),
        ("playbook.md", pages::playbook()),
        ("resources.md", pages::resources()),
        ("symptoms.md", symptoms::page(pages::GENERATED)),
        ("templates.md", format!("{}{}\n{}", pages::GENERATED, templates(), conditions())),
        ("versions.md", versions::page(pages::GENERATED)),
        ("inventory.schema.json", pretty(&crate::schema::inventory())?),
        ("playbook.schema.json", pretty(&crate::schema::playbook())?),
    ])
}
