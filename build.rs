//! Compiles everything under `playbooks/` and `src/lab/profiles/` into the program, and lists the
//! resources and the basic facts.

#![expect(clippy::disallowed_methods, reason = "how a build script speaks with cargo")]

use std::collections::BTreeMap;
use std::error::Error;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=build.rs");
    table("playbooks", "playbooks.rs")?;
    table("src/lab/profiles", "profiles.rs")?;
    modules("src/resources", "\nkind! {", "crate::resources::", "KIND", "kinds.rs")?;
    modules("src/facts/base", "\npub(super) const FACT:", "", "FACT", "facts.rs")
}

/// Writes a table of what the files below a folder have by one name, ordered by the names of the files. A
/// file has it when `mark` stands in it; `path` leads to the folder.
fn modules(folder: &str, mark: &str, path: &str, what: &str, name: &str) -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed={folder}");
    let root = PathBuf::from(std::env::var("CARGO_MANIFEST_DIR")?).join(folder);
    let mut files = Vec::new();
    walk(&root, &mut files)?;
    let mut rows = BTreeMap::new();
    for file in files {
        let inside = file.strip_prefix(&root)?.with_extension("");
        let is_rust = file.extension().is_some_and(|extension| extension == "rs");
        if !is_rust || !std::fs::read_to_string(&file)?.contains(mark) {
            continue;
        }
        let module: Vec<_> = inside.iter().map(|part| part.to_string_lossy().into_owned()).collect();
        let key = module.last().cloned().unwrap_or_default();
        rows.insert(key, format!("    {path}{}::{what},\n", module.join("::")));
    }
    let table = format!("&[\n{}]\n", rows.into_values().collect::<String>());
    std::fs::write(PathBuf::from(std::env::var("OUT_DIR")?).join(name), table)?;
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
