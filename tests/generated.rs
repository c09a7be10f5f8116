//! What is generated and checked in is what the code says now. `make docs` writes it.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::expect_used, reason = "a test")]
#![allow(clippy::disallowed_methods, reason = "tests read the files that they compare")]

use std::path::Path;

use clap::CommandFactory as _;

#[test]
fn reference_pages_and_schemas_are_those_of_the_code() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/reference");
    let pages = provision::reference::pages(provision::cli::Cli::command()).unwrap();
    let mut stale = Vec::new();
    for (name, text) in &pages {
        let path = directory.join(name);
        if std::fs::read_to_string(&path).unwrap_or_default() != *text {
            stale.push(*name);
        }
    }
    assert!(stale.is_empty(), "docs/reference/ is not what the code says: {stale:?}; run `make docs`");
    for entry in std::fs::read_dir(&directory).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        assert!(pages.iter().any(|(page, _)| *page == name), "docs/reference/{name} is written by nobody");
    }
}
