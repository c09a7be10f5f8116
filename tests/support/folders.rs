//! Where the cases of a thing are: in its folder of `src`.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// The entries of a folder, in order.
pub fn children(path: &Path) -> Vec<PathBuf> {
    let mut list: Vec<PathBuf> = fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()).collect();
    list.sort();
    list
}

/// All files below a folder with an ending, in order.
pub fn below(folder: &Path, ending: &str) -> Vec<PathBuf> {
    let entries = children(folder).into_iter();
    let files = entries.flat_map(|path| if path.is_dir() { below(&path, ending) } else { vec![path] });
    files.filter(|path| path.extension().is_some_and(|of_file| of_file == ending)).collect()
}

/// All shell files of `src` that go to hosts, in order: all but those that make the lab.
pub fn scripts() -> Vec<PathBuf> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    below(&source, "sh").into_iter().filter(|path| !path.starts_with(source.join("lab"))).collect()
}

/// The folders of all resources by their names, `src/resources/GROUP/NAME`.
pub fn resources() -> BTreeMap<String, PathBuf> {
    let groups = children(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src/resources"));
    let folders = groups.iter().filter(|group| group.is_dir()).flat_map(|group| children(group));
    let with_example = folders.filter(|folder| folder.join("example.yaml").exists());
    with_example.map(|folder| (folder.file_name().unwrap().to_str().unwrap().to_owned(), folder)).collect()
}

/// The cases of a resource: files `CASE.yaml`.
pub fn resource_cases(name: &str) -> Vec<PathBuf> {
    let folders = resources();
    let folder = folders.get(name).unwrap_or_else(|| panic!("no folder of src/resources is called {name}"));
    children(&folder.join("cases"))
}

/// The folders with the cases of questions, by where they are in `src`: `facts/base/os`, `resources/builds/git/question`.
/// A case is a folder.
pub fn question_cases() -> BTreeMap<String, PathBuf> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let facts = children(&source.join("facts")).into_iter().chain(children(&source.join("facts/base")));
    let own = resources().into_values().map(|resource| resource.join("question"));
    let asked = facts.chain(own).filter(|folder| folder.join("cases").is_dir());
    let name = |folder: &Path| folder.strip_prefix(&source).unwrap().to_str().unwrap().to_owned();
    asked.map(|folder| (name(&folder), folder.join("cases"))).collect()
}
