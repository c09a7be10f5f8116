//! The pages of the documentation and the blocks in them.
#![allow(dead_code, unreachable_pub, reason = "shared by test binaries")]
#![allow(clippy::unwrap_used, reason = "a test")]

use std::path::{Path, PathBuf};

pub fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// All pages, by path below the repository.
pub fn pages() -> Vec<(PathBuf, String)> {
    fn collect(directory: &Path, found: &mut Vec<PathBuf>) {
        for entry in std::fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                collect(&path, found);
            } else if path.extension().is_some_and(|extension| extension == "md") {
                found.push(path);
            }
        }
    }
    let mut paths = ["README.md", "SECURITY.md", "CHANGELOG.md", "CONTRIBUTING.md", "playbooks/README.md"]
        .map(|page| root().join(page))
        .to_vec();
    collect(&root().join("docs"), &mut paths);
    paths.sort();
    paths
        .into_iter()
        .map(|path| {
            let text = std::fs::read_to_string(&path).unwrap();
            (path.strip_prefix(root()).unwrap().to_owned(), text)
        })
        .collect()
}

/// A fenced block: its language, the last line of text before it, its first line, its text.
pub struct Block {
    pub language: String,
    pub before: String,
    pub line: usize,
    pub text: String,
}

impl Block {
    /// What it is checked as, and the options of the lab that it is tried in.
    pub fn check(&self) -> Option<(&str, Vec<&str>)> {
        let check = self.before.strip_prefix("<!-- check: ")?.strip_suffix(" -->")?;
        let (kind, options) = check.split_once(", lab: ").unwrap_or((check, ""));
        Some((kind, options.split_whitespace().collect()))
    }
}

pub fn blocks(page: &str) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    let mut open = false;
    let mut before = String::new();
    for (number, line) in page.lines().enumerate() {
        match line.trim_start().strip_prefix("```") {
            Some(language) if !open => {
                open = true;
                let language = language.to_owned();
                let before = std::mem::take(&mut before);
                blocks.push(Block { language, before, line: number + 2, text: String::new() });
            }
            Some(_) => open = false,
            None if open => {
                let block = blocks.last_mut().unwrap();
                block.text.push_str(line);
                block.text.push('\n');
            }
            None => line.trim().clone_into(&mut before),
        }
    }
    blocks
}
