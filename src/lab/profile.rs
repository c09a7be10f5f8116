//! Hardware that a container cannot have, played from recorded output.
//!
//! A profile is one YAML file in `profiles/`: what the tools of the field print, what stands under
//! `/sys` and `/proc`, and network devices. Every entry says where it is from: *recorded* (a file in
//! `profiles/recorded/`, real output), *quoted* (a real sample that others published)
//! or *composed* (written by hand from a documented format). Faults are edits of a profile: `fault.rs`.
//!
//! What comes out is a folder that the container sees as `/lab-profile`; `profile.sh` lays it over
//! what is there. `bin/TOOL` is `shim.sh`, which plays `tools/TOOL/index` and refuses what was not
//! recorded.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::os::unix::fs::PermissionsExt as _;

use anyhow::{Context as _, Result, anyhow, bail};
use camino::{Utf8Path, Utf8PathBuf};
use serde::Deserialize;
use serde_json::Value;

use crate::config::{Sources, yaml};

/// Every file below `src/lab/profiles`, compiled in.
const FILES: &[(&str, &[u8])] = include!(concat!(env!("OUT_DIR"), "/profiles.rs"));
const SHIM: &str = include_str!("shim.sh");

/// Origins of an entry, as its text begins.
const KINDS: [&str; 3] = ["recorded", "quoted", "composed"];

/// A table whose rows an entry with `each` is repeated for.
type Table = Vec<BTreeMap<String, Value>>;

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct ProfileFile {
    #[serde(default)]
    doc: String,
    /// Files in `parts/` whose entries come first, with this profile's values and tables.
    #[serde(default)]
    parts: Vec<String>,
    /// Settings of such hosts in an inventory.
    #[serde(default)]
    inventory: Value,
    /// `{KEY}` in every entry; a row of a table is stronger. `{host}` is the host's number in its lab
    /// from 1, `{hh}` the same as two hexadecimal digits.
    #[serde(default)]
    values: BTreeMap<String, String>,
    #[serde(default)]
    tables: BTreeMap<String, Table>,
    #[serde(default)]
    files: Vec<FileEntry>,
    #[serde(default)]
    links: Vec<LinkEntry>,
    #[serde(default)]
    tools: Vec<ToolEntry>,
    /// Tools that are there as well: what was not recorded is asked of the real one.
    #[serde(default)]
    real: Vec<String>,
    #[serde(default)]
    netdevs: Vec<NetdevEntry>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct FileEntry {
    path: String,
    #[serde(flatten)]
    content: ContentEntry,
    source: String,
    each: Option<String>,
    #[serde(default)]
    executable: bool,
}

#[derive(Debug, Clone, Default, Deserialize)]
struct ContentEntry {
    text: Option<String>,
    file: Option<String>,
    /// Several one after the other, each for the rows of a table.
    join: Option<Vec<PartEntry>>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct PartEntry {
    text: Option<String>,
    file: Option<String>,
    each: Option<String>,
    /// Text between the rows.
    #[serde(default)]
    between: String,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct LinkEntry {
    path: String,
    to: String,
    source: String,
    each: Option<String>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct ToolEntry {
    /// Tool and arguments as they are typed; `--query-gpu=*` stands for any fields of a recorded table.
    run: String,
    #[serde(flatten)]
    content: ContentEntry,
    source: String,
    #[serde(default)]
    status: u8,
    each: Option<String>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct NetdevEntry {
    name: String,
    mtu: u32,
    source: String,
    each: Option<String>,
}

/// Reply of a tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Reply {
    pub(super) output: Vec<u8>,
    pub(super) status: u8,
    pub(super) hangs: bool,
}

/// A file or link of a profile.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Item {
    /// A file.
    File {
        /// Its content.
        bytes: Vec<u8>,
        /// Whether it can be run.
        executable: bool,
    },
    /// A symbolic link.
    Link(String),
}

/// A profile with its tables filled in, ready to be written.
#[derive(Debug, Clone)]
pub struct Profile {
    /// Its name.
    pub name: String,
    /// Description of the hardware.
    pub doc: String,
    /// Settings of such hosts in an inventory: `expect`, `nics` and the like.
    pub inventory: Value,
    pub(super) values: BTreeMap<String, String>,
    pub(super) tables: BTreeMap<String, Vec<BTreeMap<String, String>>>,
    pub(super) files: BTreeMap<Utf8PathBuf, Item>,
    pub(super) tools: BTreeMap<String, Reply>,
    real: Vec<String>,
    pub(super) netdevs: BTreeMap<String, u32>,
    /// Number of entries by origin: `recorded`, `quoted`, `composed`.
    pub sources: BTreeMap<&'static str, usize>,
    /// Origin of each path, answer and network device.
    pub(super) origins: BTreeMap<String, &'static str>,
}

fn bytes(name: &str) -> Result<&'static [u8]> {
    FILES
        .iter()
        .find_map(|(file, bytes)| (*file == name).then_some(*bytes))
        .ok_or_else(|| anyhow!("no file {name} in the profiles"))
}

pub(super) fn read<T: for<'a> Deserialize<'a>>(name: &str) -> Result<T> {
    let text = std::str::from_utf8(bytes(name)?).context("not UTF-8")?;
    let mut sources = Sources::default();
    let source = sources.add(name, text);
    let node = yaml::parse(&sources, source).map_err(|error| anyhow!(error.render(&sources, false)))?;
    serde_json::from_value(node.to_json()).with_context(|| format!("in {name}"))
}

/// Names of all profiles.
pub fn names() -> impl Iterator<Item = &'static str> {
    FILES.iter().filter_map(|(name, _)| {
        let name = name.strip_suffix(".yaml")?;
        (!name.contains('/') && !matches!(name, "faults" | "excuses")).then_some(name)
    })
}

/// Repeats an entry for the rows of its table, with `{KEY}` filled in.
fn rows(file: &ProfileFile, each: Option<&str>) -> Result<Vec<BTreeMap<String, String>>> {
    let Some(each) = each else { return Ok(vec![file.values.clone()]) };
    let table = file.tables.get(each).ok_or_else(|| anyhow!("no table `{each}`"))?;
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    Ok(table
        .iter()
        .map(|row| {
            let mut all = file.values.clone();
            all.extend(row.iter().map(|(key, value)| (key.clone(), text(value))));
            all
        })
        .collect())
}

/// Fills `{KEY}` in; a value may itself have one.
pub(super) fn fill(text: &str, row: &BTreeMap<String, String>) -> String {
    let once = |text: &str| {
        row.iter().fold(text.to_owned(), |text, (key, value)| {
            if text.contains('{') { text.replace(&format!("{{{key}}}"), value) } else { text }
        })
    };
    once(&once(text))
}

fn content(file: &ProfileFile, entry: &ContentEntry, row: &BTreeMap<String, String>) -> Result<Vec<u8>> {
    match (&entry.text, &entry.file, &entry.join) {
        (Some(text), None, None) => Ok(fill(text, row).into_bytes()),
        // A recording is played as it is.
        (None, Some(path), None) => Ok(bytes(&fill(path, row))?.to_vec()),
        (None, None, Some(parts)) => {
            let mut out = Vec::new();
            for part in parts {
                let text = match (&part.text, &part.file) {
                    (Some(text), None) => text.clone(),
                    (None, Some(path)) => String::from_utf8(bytes(path)?.to_vec()).context("not UTF-8")?,
                    _ => bail!("a part has either `text` or `file`"),
                };
                for (number, part_row) in rows(file, part.each.as_deref())?.iter().enumerate() {
                    if number > 0 {
                        out.extend(part.between.bytes());
                    }
                    out.extend(fill(&fill(&text, part_row), row).into_bytes());
                }
            }
            Ok(out)
        }
        _ => bail!("an entry has one of `text`, `file` and `join`"),
    }
}

impl Profile {
    /// A profile by name, for the host of this number (from 1): addresses and identifiers differ.
    ///
    /// # Errors
    /// When there is none of that name.
    pub fn find(name: &str, host: usize) -> Result<Self> {
        if !names().any(|known| known == name) {
            let all: Vec<&str> = names().collect();
            bail!("there is no hardware profile `{name}`; there are {}", all.join(", "));
        }
        let mut file: ProfileFile = read(&format!("{name}.yaml"))?;
        for part in file.parts.clone().iter().rev() {
            let part: ProfileFile = read(&format!("parts/{part}.yaml"))?;
            file.tools.splice(0..0, part.tools);
            file.files.splice(0..0, part.files);
            file.links.splice(0..0, part.links);
            file.netdevs.splice(0..0, part.netdevs);
            file.real.extend(part.real);
        }
        file.values.insert("host".to_owned(), host.to_string());
        file.values.insert("hh".to_owned(), format!("{host:02x}"));
        Self::expand(name, &file).with_context(|| format!("in profile {name}"))
    }

    fn expand(name: &str, file: &ProfileFile) -> Result<Self> {
        let mut profile = Self {
            name: name.to_owned(),
            doc: file.doc.clone(),
            inventory: file.inventory.clone(),
            values: file.values.clone(),
            tables: BTreeMap::new(),
            files: BTreeMap::new(),
            tools: BTreeMap::new(),
            real: file.real.clone(),
            netdevs: BTreeMap::new(),
            sources: BTreeMap::new(),
            origins: BTreeMap::new(),
        };
        for name in file.tables.keys() {
            profile.tables.insert(name.clone(), rows(file, Some(name))?);
        }
        for entry in &file.files {
            for row in rows(file, entry.each.as_deref())? {
                let bytes = content(file, &entry.content, &row)?;
                let item = Item::File { bytes, executable: entry.executable };
                let path = fill(&entry.path, &row);
                profile.count(&entry.source, &path)?;
                profile.files.insert(path.into(), item);
            }
        }
        for entry in &file.links {
            for row in rows(file, entry.each.as_deref())? {
                let path = fill(&entry.path, &row);
                profile.count(&entry.source, &path)?;
                profile.files.insert(path.into(), Item::Link(fill(&entry.to, &row)));
            }
        }
        for entry in &file.tools {
            for row in rows(file, entry.each.as_deref())? {
                let output = content(file, &entry.content, &row)?;
                let reply = Reply { output, status: entry.status, hangs: false };
                let run = fill(&entry.run, &row);
                profile.count(&entry.source, &run)?;
                profile.tools.insert(run, reply);
            }
        }
        for entry in &file.netdevs {
            for row in rows(file, entry.each.as_deref())? {
                let name = fill(&entry.name, &row);
                profile.count(&entry.source, &name)?;
                profile.netdevs.insert(name, entry.mtu);
            }
        }
        Ok(profile)
    }

    fn count(&mut self, source: &str, what: &str) -> Result<()> {
        let kind = KINDS.into_iter().find(|kind| source.starts_with(kind));
        let kind =
            kind.ok_or_else(|| anyhow!("`{source}` does not begin with recorded, quoted or composed"))?;
        *self.sources.entry(kind).or_default() += 1;
        self.origins.insert(what.to_owned(), kind);
        Ok(())
    }

    /// Writes what the container sees as `/lab-profile`, in place of what is there.
    ///
    /// # Errors
    /// When the folder cannot be written.
    pub fn write(&self, folder: &Utf8Path) -> Result<()> {
        // The folder itself stays: a container has it mounted.
        std::fs::create_dir_all(folder).with_context(|| format!("cannot make {folder}"))?;
        for entry in folder.read_dir_utf8()? {
            std::fs::remove_dir_all(entry?.path()).with_context(|| format!("cannot empty {folder}"))?;
        }
        for (path, item) in &self.files {
            let target = Utf8PathBuf::from(format!("{folder}/root{path}"));
            make_parent(&target)?;
            match item {
                Item::File { bytes, executable } => std::fs::write(&target, bytes).and_then(|()| {
                    let mode = if *executable { 0o755 } else { 0o644 };
                    std::fs::set_permissions(&target, std::fs::Permissions::from_mode(mode))
                }),
                Item::Link(to) => std::os::unix::fs::symlink(to, &target),
            }
            .with_context(|| format!("cannot write {target}"))?;
        }
        let mut indices: BTreeMap<&str, String> = BTreeMap::new();
        for (number, (run, reply)) in self.tools.iter().enumerate() {
            let (tool, arguments) = run.split_once(' ').unwrap_or((run, ""));
            let target = Utf8PathBuf::from(format!("{folder}/tools/{tool}/{number}"));
            make_parent(&target)?;
            std::fs::write(&target, &reply.output).with_context(|| format!("cannot write {target}"))?;
            let status = if reply.hangs { "hangs".to_owned() } else { reply.status.to_string() };
            writeln!(indices.entry(tool).or_default(), "{number} {status} {arguments}")?;
        }
        for (tool, index) in indices {
            std::fs::write(format!("{folder}/tools/{tool}/index"), index)?;
            let shim = Utf8PathBuf::from(format!("{folder}/bin/{tool}"));
            make_parent(&shim)?;
            if self.real.iter().any(|real| real == tool) {
                std::fs::write(format!("{folder}/tools/{tool}/real"), "")?;
            }
            std::fs::write(&shim, SHIM)?;
            std::fs::set_permissions(&shim, std::fs::Permissions::from_mode(0o755))?;
        }
        let mut netdevs = String::new();
        for (name, mtu) in &self.netdevs {
            writeln!(netdevs, "{name} {mtu}")?;
        }
        let target = Utf8PathBuf::from(format!("{folder}/net/devices"));
        make_parent(&target)?;
        std::fs::write(target, netdevs)?;
        Ok(())
    }
}

fn make_parent(path: &Utf8Path) -> Result<()> {
    let parent = path.parent().unwrap_or(path);
    std::fs::create_dir_all(parent).with_context(|| format!("cannot make {parent}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_profiles_are_whole() {
        assert!(names().count() > 0);
        for name in names() {
            let (one, two) = (Profile::find(name, 1).expect(name), Profile::find(name, 2).expect(name));
            assert!(!one.doc.is_empty(), "{name}");
            for text in one.files.keys().map(|path| path.as_str()).chain(one.tools.keys().map(String::as_str))
            {
                assert!(!text.contains('{') || text.contains("${"), "{name}: {text} is not filled in");
            }
            // What is recorded is the same on all hosts; what is composed is one host's own.
            assert_eq!(one.files.keys().collect::<Vec<_>>(), two.files.keys().collect::<Vec<_>>());
        }
    }

    #[test]
    fn what_is_written_is_what_the_shim_reads() {
        let folder = tempfile::tempdir().expect("folder");
        let folder = Utf8Path::from_path(folder.path()).expect("UTF-8");
        Profile::find("h200-x2", 1).expect("profile").write(folder).expect("written");
        let index = std::fs::read_to_string(folder.join("tools/nvidia-smi/index")).expect("index");
        assert!(index.lines().any(|line| line.ends_with(" 0 -q -x")), "{index}");
        assert!(folder.join("root/sys/module/nvidia/version").exists());
        assert!(folder.join("bin/nvidia-smi").exists());
    }

    #[test]
    fn wrong_names_are_told() {
        assert!(format!("{:#}", Profile::find("h300", 1).expect_err("none")).contains("h200-x2"));
    }
}
