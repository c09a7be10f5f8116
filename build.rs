//! Compiles everything under `playbooks/` and `src/lab/profiles/` into the program, and lists the
//! resources, the questions and the basic facts.

#![expect(clippy::disallowed_methods, reason = "how a build script speaks with cargo")]

use std::collections::BTreeMap;
use std::error::Error;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=build.rs");
    table("playbooks", "playbooks.rs")?;
    table("src/lab/profiles", "profiles.rs")?;
    let resources = ("src/resources", "crate::resources::");
    modules(&[resources], "\nkind! {", "KIND", "kinds.rs")?;
    modules(&[("src/facts/base", "")], "\npub(super) const FACT:", "FACT", "facts.rs")?;
    modules(
        &[("src/facts", "crate::facts::"), resources],
        "\npub(crate) const FAMILY:",
        "FAMILY",
        "questions.rs",
    )
}

/// Writes a table of what the modules below some folders have by one name, ordered by the names of the modules. A
/// module has it when `mark` stands in its file; beside each folder stands the path to it.
fn modules(folders: &[(&str, &str)], mark: &str, name: &str, table: &str) -> Result<(), Box<dyn Error>> {
    let mut rows = BTreeMap::new();
    for (folder, path) in folders {
        let root = PathBuf::from(std::env::var("CARGO_MANIFEST_DIR")?).join(folder);
        let mut files = Vec::new();
        walk(&root, &mut files)?;
        for file in files.iter().filter(|file| file.extension().is_some_and(|extension| extension == "rs")) {
            // Not the whole folder, which has cases too. A new file changes the `mod` line of another.
            println!("cargo::rerun-if-changed={}", file.display());
            if !std::fs::read_to_string(file)?.contains(mark) {
                continue;
            }
            let inside = file.strip_prefix(&root)?.with_extension("");
            let module = inside.iter().map(|part| part.to_string_lossy().into_owned());
            let module: Vec<_> = module.filter(|part| part != "mod").collect();
            let key = (module.last().cloned().unwrap_or_default(), path.to_string() + &module.join("::"));
            rows.insert(key.clone(), format!("    {}::{name},\n", key.1));
        }
    }
    let text = format!("&[\n{}]\n", rows.into_values().collect::<String>());
    std::fs::write(PathBuf::from(std::env::var("OUT_DIR")?).join(table), text)?;
    Ok(())
}

/// Writes a table of names and bytes of all files below a folder.
fn table(folder: &str, name: &str) -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed={folder}");
    let root = PathBuf::from(std::env::var("CARGO_MANIFEST_DIR")?).join(folder);
    let mut files = Vec::new();
    if root.is_dir() {
        walk(&root, &mut files)?;
    }
    files.sort();
    let mut table = String::from("&[\n");
    for file in files {
        let file_name = file.strip_prefix(&root)?.to_string_lossy().into_owned();
        writeln!(table, "    ({file_name:?}, include_bytes!({:?})),", file.to_string_lossy())?;
    }
    table.push_str("]\n");
    std::fs::write(PathBuf::from(std::env::var("OUT_DIR")?).join(name), table)?;
    Ok(())
}

fn walk(directory: &Path, files: &mut Vec<PathBuf>) -> Result<(), Box<dyn Error>> {
    for entry in std::fs::read_dir(directory)? {
        let path = entry?.path();
        if path.is_dir() {
            walk(&path, files)?;
        } else {
            files.push(path);
        }
    }
    Ok(())
}
