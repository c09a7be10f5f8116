//! Faults: named edits of a healthy profile that break one thing, and what `verify` must say then.
//!
//! A fault names what must find it (`finds`), what else speaks as a consequence (`because`), and where
//! the failure is known from. `{nic.hca}`, `{gpu.pci}` and the like are filled in from a row of the
//! profile's tables, so that one fault fits every profile that has such a row.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context as _, Result, anyhow, bail};
use camino::Utf8PathBuf;
use serde::Deserialize;

use super::profile::{Item, Profile, Reply, fill, read};
use crate::config::did_you_mean_text;

/// A named edit of a profile.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fault {
    /// Its name: `port-down`.
    pub name: String,
    /// Description of what is broken, as a person says it.
    pub doc: String,
    /// The profiles that it fits.
    pub profiles: Vec<String>,
    /// The checks of `verify` that must find it. `unknown CHECK` where nothing can be told then.
    pub finds: Vec<String>,
    /// Checks that speak too, because it follows.
    #[serde(default)]
    pub because: Vec<String>,
    /// The row of each table that is meant; 1 unless it is said.
    #[serde(default)]
    rows: BTreeMap<String, usize>,
    edits: Vec<Edit>,
}

/// One edit: of a file (`path`), of what a tool prints (`run`) or of a network device (`netdev`).
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Edit {
    path: Option<String>,
    run: Option<String>,
    netdev: Option<String>,
    /// The whole text; a file or answer that is not there appears.
    text: Option<String>,
    /// Stands behind what is there.
    add: Option<String>,
    #[serde(default)]
    replace: Vec<(String, String)>,
    /// Only between the first of these two texts and the next of the second is replaced.
    within: Option<(String, String)>,
    /// Everything from the first of these two texts to the end of the second goes.
    cut: Option<(String, String)>,
    #[serde(default)]
    remove: bool,
    #[serde(default)]
    hang: bool,
    #[serde(default)]
    executable: bool,
    status: Option<u8>,
    mtu: Option<u32>,
    /// Profiles that lack it go without.
    #[serde(default)]
    optional: bool,
}

/// A failure in the field that no fault plays.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Excuse {
    /// The failure that it is about.
    pub what: String,
    /// Reason why no fault plays it.
    pub why: String,
}

/// All faults.
///
/// # Errors
/// When the table is broken, which a test looks for.
pub fn faults() -> Result<Vec<Fault>> {
    read("faults.yaml")
}

/// Returns the failures that no fault plays.
///
/// # Errors
/// When the table is broken, which a test looks for.
pub fn excuses() -> Result<Vec<Excuse>> {
    read("excuses.yaml")
}

/// The fault of this name, for a profile that it fits.
///
/// # Errors
/// When there is none; the text names what is near.
pub fn fault(name: &str, profile: &str) -> Result<Fault> {
    let all = faults()?;
    let Some(fault) = all.iter().find(|fault| fault.name == name) else {
        let near = did_you_mean_text(name, all.iter().map(|fault| fault.name.as_str()));
        bail!("there is no fault `{name}`{}", near.map(|near| format!(": {near}")).unwrap_or_default());
    };
    if !fault.fits(profile) {
        bail!("`{name}` is a fault of {}, not of {profile}", fault.profiles.join(", "));
    }
    Ok(fault.clone())
}

impl Fault {
    /// Whether the profile has what it breaks.
    pub fn fits(&self, profile: &str) -> bool {
        self.profiles.iter().any(|fits| fits == profile)
    }

    /// Whether a tool never answers then, which takes its deadline.
    pub fn hangs(&self) -> bool {
        self.edits.iter().any(|edit| edit.hang)
    }

    /// Breaks one thing of a profile. Gives where the records are from that it changed.
    ///
    /// # Errors
    /// When it edits what the profile does not have: it would break nothing.
    pub fn apply(&self, profile: &mut Profile) -> Result<BTreeSet<&'static str>> {
        let mut values = profile.values.clone();
        for (table, rows) in &profile.tables {
            let wanted = self.rows.get(table).copied().unwrap_or(1);
            let Some(row) = rows.get(wanted % rows.len().max(1)) else { continue };
            values.extend(row.iter().map(|(key, value)| (format!("{table}.{key}"), value.clone())));
        }
        let mut kinds = BTreeSet::new();
        for edit in &self.edits {
            let edit = edit.filled(&values);
            match edit.apply(profile) {
                Ok(()) => kinds.extend(edit.kinds(profile)),
                Err(_) if edit.optional => {}
                Err(error) => {
                    return Err(error.context(format!("fault {}, profile {}", self.name, profile.name)));
                }
            }
        }
        if kinds.is_empty() {
            bail!("fault {} edits nothing of profile {}", self.name, profile.name);
        }
        Ok(kinds)
    }
}

impl Edit {
    fn filled(&self, values: &BTreeMap<String, String>) -> Self {
        let one = |text: &Option<String>| text.as_ref().map(|text| fill(text, values));
        let two = |(from, to): &(String, String)| (fill(from, values), fill(to, values));
        Self {
            path: one(&self.path),
            run: one(&self.run),
            netdev: one(&self.netdev),
            text: one(&self.text),
            add: one(&self.add),
            replace: self.replace.iter().map(two).collect(),
            within: self.within.as_ref().map(two),
            cut: self.cut.as_ref().map(two),
            ..self.clone()
        }
    }

    /// Returns the origins of what it changes; what it adds is composed.
    fn kinds(&self, profile: &Profile) -> BTreeSet<&'static str> {
        let name = self.path.as_ref().or(self.run.as_ref()).or(self.netdev.as_ref());
        let name = name.map_or("", String::as_str);
        let below = |key: &str| {
            key.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with(['/', ' ']))
        };
        let mut kinds: BTreeSet<&'static str> =
            profile.origins.iter().filter(|(key, _)| below(key)).map(|(_, kind)| *kind).collect();
        if kinds.is_empty() {
            kinds.insert("composed");
        }
        kinds
    }

    fn apply(&self, profile: &mut Profile) -> Result<()> {
        match (&self.netdev, &self.path, &self.run) {
            (Some(name), None, None) => self.netdev(profile, name),
            (None, Some(path), None) => self.file(profile, path),
            (None, None, Some(run)) => self.tool(profile, run),
            _ => bail!("an edit names one of `path`, `run` and `netdev`"),
        }
    }

    fn netdev(&self, profile: &mut Profile, name: &str) -> Result<()> {
        if self.remove {
            return profile.netdevs.remove(name).map(drop).ok_or_else(|| anyhow!("no network device {name}"));
        }
        let mtu = profile.netdevs.get_mut(name).ok_or_else(|| anyhow!("no network device {name}"))?;
        *mtu = self.mtu.ok_or_else(|| anyhow!("an edit of a network device needs `mtu`"))?;
        Ok(())
    }

    fn file(&self, profile: &mut Profile, path: &str) -> Result<()> {
        let key = Utf8PathBuf::from(path);
        if self.remove {
            let before = profile.files.len();
            profile.files.retain(|file, _| !file.starts_with(&key));
            return if profile.files.len() < before { Ok(()) } else { Err(anyhow!("nothing at {path}")) };
        }
        if let Some(text) = &self.text {
            let item = Item::File { bytes: text.clone().into_bytes(), executable: self.executable };
            profile.files.insert(key, item);
            return Ok(());
        }
        let Some(Item::File { bytes, .. }) = profile.files.get_mut(&key) else { bail!("no file {path}") };
        self.change(bytes).with_context(|| path.to_owned())
    }

    /// One answer of a tool, or all of them when only the tool is named.
    fn tool(&self, profile: &mut Profile, run: &str) -> Result<()> {
        let meant = |key: &str| key == run || key.split(' ').next() == Some(run);
        if self.remove {
            let before = profile.tools.len();
            profile.tools.retain(|key, _| !meant(key));
            return if profile.tools.len() < before { Ok(()) } else { Err(anyhow!("no tool {run}")) };
        }
        let mut found = false;
        for (_, reply) in profile.tools.iter_mut().filter(|(key, _)| meant(key)) {
            found = true;
            reply.hangs |= self.hang;
            reply.status = self.status.unwrap_or(reply.status);
            if let Some(text) = &self.text {
                reply.output = text.clone().into_bytes();
            }
            self.change(&mut reply.output).with_context(|| run.to_owned())?;
        }
        if found {
            return Ok(());
        }
        let text = self.text.as_ref().ok_or_else(|| anyhow!("no tool {run}"))?;
        let reply =
            Reply { output: text.clone().into_bytes(), status: self.status.unwrap_or(0), hangs: self.hang };
        profile.tools.insert(run.to_owned(), reply);
        Ok(())
    }

    fn change(&self, bytes: &mut Vec<u8>) -> Result<()> {
        if self.replace.is_empty() && self.cut.is_none() && self.add.is_none() {
            return Ok(());
        }
        let mut text = String::from_utf8(bytes.clone()).context("not UTF-8")?;
        if let Some((from, to)) = &self.cut {
            let (start, end) = span(&text, from, to)?;
            text.replace_range(start..end, "");
        }
        let (start, end) = match &self.within {
            Some((from, to)) => span(&text, from, to)?,
            None => (0, text.len()),
        };
        let mut part = text.get(start..end).unwrap_or_default().to_owned();
        for (from, to) in &self.replace {
            if !part.contains(from.as_str()) {
                bail!("{from:?} is not in it");
            }
            part = part.replace(from.as_str(), to);
        }
        text.replace_range(start..end, &part);
        text.push_str(self.add.as_deref().unwrap_or_default());
        *bytes = text.into_bytes();
        Ok(())
    }
}

/// From the beginning of one text to the end of the next other.
fn span(text: &str, from: &str, to: &str) -> Result<(usize, usize)> {
    let start = text.find(from).ok_or_else(|| anyhow!("{from:?} is not in it"))?;
    let behind = start + from.len();
    let rest = text.get(behind..).unwrap_or_default();
    let end = rest.find(to).ok_or_else(|| anyhow!("{to:?} is not behind {from:?}"))?;
    Ok((start, behind + end + to.len()))
}

#[cfg(test)]
mod tests {
    use super::super::profile::names;
    use super::*;

    #[test]
    fn every_fault_breaks_each_profile_that_it_fits() {
        let faults = faults().expect("faults");
        let whole: BTreeMap<&str, Profile> =
            names().map(|name| (name, Profile::find(name, 1).expect(name))).collect();
        let mut seen = BTreeSet::new();
        for fault in &faults {
            assert!(seen.insert(fault.name.as_str()), "{} is there twice", fault.name);
            assert!(!fault.finds.is_empty() && !fault.profiles.is_empty(), "{}", fault.name);
            for entry in fault.finds.iter().chain(&fault.because) {
                let id = entry.strip_prefix("unknown ").unwrap_or(entry);
                assert!(crate::checks::find(id).is_some(), "{}: no check {id}", fault.name);
            }
            for name in &fault.profiles {
                let healthy = whole.get(name.as_str()).expect(name);
                let mut profile = healthy.clone();
                fault.apply(&mut profile).unwrap_or_else(|error| panic!("{error:#}"));
                let is_same = profile.files == healthy.files
                    && profile.tools == healthy.tools
                    && profile.netdevs == healthy.netdevs;
                assert!(!is_same, "{} breaks nothing of {name}", fault.name);
            }
        }
        for name in names() {
            assert!(faults.iter().any(|fault| fault.fits(name)), "{name} has no fault");
        }
    }

    #[test]
    fn edits_stay_where_they_are_meant() {
        let edit = Edit {
            replace: vec![("x".to_owned(), "y".to_owned())],
            within: Some(("<b>".to_owned(), "</b>".to_owned())),
            ..serde_json::from_str("{}").expect("an edit")
        };
        let mut bytes = b"<a>x</a><b>x</b><c>x</c>".to_vec();
        edit.change(&mut bytes).expect("changed");
        assert_eq!(bytes, b"<a>x</a><b>y</b><c>x</c>");
        let cut = Edit { cut: edit.within.clone(), replace: Vec::new(), within: None, ..edit };
        cut.change(&mut bytes).expect("cut");
        assert_eq!(bytes, b"<a>x</a><c>x</c>");
    }

    #[test]
    fn wrong_names_are_told() {
        assert!(format!("{:#}", fault("no-such", "h200-x2").expect_err("none")).contains("no fault"));
    }
}
