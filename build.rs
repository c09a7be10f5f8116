//! Compiles everything under `playbooks/` and `src/lab/profiles/` into the program.

#![expect(clippy::disallowed_methods, reason = "how a build script speaks with cargo")]

use std::error::Error;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=build.rs");
    table("playbooks", "playbooks.rs")?;
    table("src/lab/profiles", "profiles.rs")
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
